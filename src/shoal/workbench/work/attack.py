"""Attacking a release of a project as someone who knows the algorithm. Uses `attack`.

`working` calls it; what it finds is owner only, and stays in the folder of the job.
"""

from dataclasses import asdict
from typing import Any

from shoal.attack import Effort, expose, helped, recognise, require_attackable
from shoal.errors import FileError
from shoal.exact.numbers import percent
from shoal.methods.catalogue import entry_of
from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.releases.release import Release
from shoal.workbench.projects import Project
from shoal.workbench.work.release import recipe_behind

__all__ = ["run"]

_MOST = 5
"""People that are described, if that was asked for."""


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Attack `release` in a `way`; figures as lines of words and numbers.

    way: "values", "people" or "help"
    """
    release = Release.read(project.release(arguments["release"]))
    about = {"release": arguments["release"], "way": arguments["way"]}
    if arguments["way"] == "help":
        return {**about, "lines": _helped(release), "exposed": []}
    known = recipe_behind(project, release.certificate)
    if known is None:
        raise FileError(
            "the recipe that the release was made by is not known here",
            "attack one that was made in this project",
        )
    recipe, _ = known
    require_attackable(recipe.method())
    progress(0, 0, "reading the table")
    if entry_of(recipe.method().name).attack == "people":
        return {**about, "lines": _people(recipe, release, progress), "exposed": []}
    return {**about, **_values(recipe, release, arguments, progress)}


def _helped(release: Release) -> list[tuple[str, str]]:
    """How sure attackers with some help become of a value in buckets."""
    found = helped(release)
    return [
        ("who knows nobody is at most this sure of a value", percent(found.knows_nobody)),
        ("who knows one of the bucket", percent(found.knows_one)),
        ("who knows all others of it", percent(found.knows_all_others)),
        ("who rules out what does not go together", percent(found.rules_out)),
    ]


def _people(recipe: Recipe, release: Release, progress: Progress) -> list[tuple[str, str]]:
    """Whom somebody recognises who runs the method for everybody."""
    method: Any = recipe.method()
    people = recipe.people([method.choice] if method.choice else [])
    seen = recognise(method, people, release.table, progress=progress)
    return [
        ("the right person is named, as counted", percent(seen.named_as_counted)),
        ("the right person is named, if the algorithm is known", percent(seen.named)),
        ("records with one person left, as counted", percent(seen.alone_as_counted)),
        ("records with one person left, if the algorithm is known", percent(seen.alone)),
    ]


def _values(
    recipe: Recipe, release: Release, arguments: dict[str, Any], progress: Progress
) -> dict[str, Any]:
    """What is learnt of a sensitive value by trying all inputs that lead to the release."""
    name = arguments["column"]
    people = recipe.people()
    result = expose(
        recipe.method(),
        people,
        release.table,
        name,
        effort=Effort(tries=int(arguments["tries"])),
        kind=recipe.content.source.types.get(name),
        hierarchy=recipe.hierarchies.get(name),
        progress=progress,
    )
    of_all = [
        ("for whom more is learnt than their group shows", result.changed),
        ("for whom a value is more certain than the group shows", result.surer),
        ("for whom a model no longer holds", result.broken),
        ("whose value is certain", result.certain),
    ]
    lines = [("people", f"{result.people:,}")]
    lines += [(text, _share(number, result.people)) for text, number in of_all]
    lines.append(("largest gain in probability", percent(float(result.gain))))
    if result.unknown:
        lines.append(("about whom nothing can be said", _share(result.unknown, result.people)))
    shown = result.exposed_records(people, _MOST) if arguments["people"] else []
    return {
        "lines": lines,
        "sampled": result.sampled,
        "column": name,
        "exposed": [asdict(person) for person in shown],
    }


def _share(number: int, of: int) -> str:
    return f"{number:,} ({percent(number / max(of, 1))})"
