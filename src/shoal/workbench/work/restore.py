"""Looking for views in addition, with which nobody is exposed any more.

Uses `views`; `working` calls it. Nothing is shown to anybody: what was found stays with the owner.
"""

from typing import Any

from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.views import Candidate, Gathered, Plan, Restored, View, plan, restore
from shoal.workbench.projects import Project
from shoal.workbench.work.together import gathered, told

__all__ = ["run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """What would have to be shown more, or what a plan would reach.

    adversary: "unaware", "aware", or "plan" for the plan alone, which looks at no table
    """
    found = gathered(project, arguments, progress)
    progress(0, 0, "looking for views to add")
    names = bool(arguments.get("names"))
    options = {"conditions": arguments["conditions"], "free": arguments["free"]}
    candidates = found.candidates(**options)
    if arguments["adversary"] == "plan":
        planned = plan(found.views, candidates, additions=arguments["additions"])
        return {"candidates": len(candidates), "plan": _planned(planned, names)}
    table = found.truth(Recipe.load(project.recipe).table())
    restored = restore(
        found.views,
        table,
        candidates,
        adversary=arguments["adversary"],
        additions=arguments["additions"],
    )
    return _restored(found, candidates, restored, names)


def _restored(
    found: Gathered, candidates: list[Candidate], restored: Restored, names: bool
) -> dict[str, Any]:
    return {
        "candidates": len(candidates),
        "plan": None if restored.plan is None else _planned(restored.plan, names),
        "before": told(restored.before),
        "after": told(restored.after),
        "added": [_view(view) for view in restored.added],
        "unrestored": len({one.exposed.person for one in restored.unrestored}),
        # They name people, and their values.
        "reasons": list(restored.reasons) if names else [],
        "toml": found.toml(restored.added) if restored.added else "",
        "column": found.column,
    }


def _planned(planned: Plan, names: bool) -> dict[str, Any]:
    return {
        "views": [candidate.name for candidate in planned.candidates],
        "low": float(planned.low),
        "high": float(planned.high),
        "bound": float(planned.bound),
        "worst": float(planned.worst),
        "safe": planned.before.private is True,
        "reasons": list(planned.reasons) if names else [],
    }


def _view(view: View) -> dict[str, Any]:
    values = sorted(view.bag.items(), key=str)
    return {
        "name": view.name,
        "people": len(view.people),
        "values": [["" if value is None else str(value), often] for value, often in values],
    }
