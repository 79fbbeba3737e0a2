"""`shoal views restore`: views in addition, with which nobody is exposed any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, figures, listing, print_json, remark, show, title, working
from shoal.cli.views import (
    LONG,
    VERDICTS,
    Listed,
    Scope,
    share_text,
    surest,
    tables_text,
    value_text,
)
from shoal.errors import ParameterError, plural
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from shoal.views import BeforeAfter, Candidate, Plan, Restored, Unrestored, View

__all__ = ["restore"]


@dataclass(frozen=True)
class Additions:
    """What may be added."""

    number: Annotated[
        int, typer.Option("--views", metavar="K", min=1, help="How many views may be added.")
    ] = 2
    free: Annotated[
        bool,
        typer.Option("--free", help="Also consider views that are not part of an earlier one."),
    ] = False
    conditions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Public columns that a new view may select by.")
    ] = 1


@dataclass(frozen=True)
class SearchOptions:
    """What the attacker knows, how long to search, and what a plan must reach."""

    adversary: Annotated[
        Literal["unaware", "aware"], typer.Option(help="Whether the attacker knows of restoring.")
    ] = "unaware"
    effort: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="How many sets of views to count.", show_default=False
        ),
    ] = None
    least: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="`aware`: of possible tables it must restore; else any.",
            show_default=False,
        ),
    ] = None
    ceiling: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="`aware`: how sure one may ever become; else 1.",
            show_default=False,
        ),
    ] = None

    @property
    def least_share(self) -> Fraction:
        return options.share("0" if self.least is None else self.least, "--least")

    @property
    def highest(self) -> Fraction:
        return options.share("1" if self.ceiling is None else self.ceiling, "--ceiling")


@dataclass(frozen=True)
class WrittenFiles:
    """Which files are written."""

    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the new views as TOML.", show_default=False),
    ] = None
    chart: Annotated[Path | None, options.drawing("before and after")] = None
    force: options.Force = False

    def require_writable(self, *read: Path | None) -> None:
        """An error if a file cannot be written; before the work is done, not after."""
        options.require_free(self.to, "to", self.force, *read)
        options.require_chart(self.chart, self.force, *read)


@bundled
def restore(
    scope: Scope,
    additions: Additions,
    search: SearchOptions,
    output: WrittenFiles,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The table itself, which `unaware` reads.", show_default=False
        ),
    ] = None,
    listed: Listed = 20,
    json: options.Json = False,
) -> None:
    """Which additional views would protect everybody again?

    Against someone who does not know of restoring, views are chosen by the table. Against someone
    who does, they are chosen by what is public, and may fail: the plan says beforehand how often.
    Without --data there is only the plan. Exit code 1: somebody stays exposed. The answer names
    people and is owner only.
    """
    import shoal
    from shoal.views import plan as plan_views
    from shoal.views import restore as restore_views

    _require_sense(scope, search, output, data)
    output.require_writable(scope.views, data, scope.ledger, scope.recipe)
    with working(f"reading {scope.views.name}"):
        gathered = scope.gathered()
        table = None
        if data is not None:
            table = gathered.truth(shoal.read(data), scope.sensitive)
    with working("searching"):
        candidates = gathered.candidates(conditions=additions.conditions, free=additions.free)
        restored, plan = None, None
        if table is None:
            effort = {} if search.effort is None else {"effort": search.effort}
            plan = plan_views(
                gathered.views,
                candidates,
                additions=additions.number,
                ceiling=search.highest,
                **effort,
            )
        else:
            restored = restore_views(
                gathered.views,
                table,
                candidates,
                adversary=search.adversary,
                additions=additions.number,
                effort=search.effort,
                least=search.least_share,
                ceiling=search.highest,
            )
            plan = restored.plan
    result = _Result(search.adversary, candidates, plan, restored)
    if json:
        print_json(result.json())
    else:
        result.show(listed)
    if restored is not None:
        _write(output, restored, gathered.toml(restored.added))
    if plan is not None and plan.candidates and not plan.followed(search.least_share):
        remark(f"this plan is not followed, as --least is {search.least_share}")
    if not result.successful(search.least_share):
        raise typer.Exit(1)


def _require_sense(
    scope: Scope, search: SearchOptions, output: WrittenFiles, data: Path | None
) -> None:
    """ParameterError for options that would have no effect, or lack another."""
    if data is None and (search.adversary == "unaware" or output.to or output.chart):
        raise ParameterError(
            "the table itself is missing",
            "give it by --data; without it there is only a plan, by --adversary aware",
        )
    planning = {"least": search.least, "ceiling": search.ceiling}
    for option, given in planning.items():
        if search.adversary == "unaware" and given is not None:
            raise ParameterError("is about a plan", "use it with --adversary aware", option=option)
    if data is None and scope.ledger is None and scope.sensitive is not None:
        raise ParameterError("belongs to --data or --with", "leave it out", option="sensitive")


def _write(output: WrittenFiles, restored: "Restored", sections: str) -> None:
    """Write the files that are wanted, if there is something to write."""
    from shoal.data.disk import replacing

    if output.to is not None and restored.added:
        with replacing(output.to) as file:
            file.write(sections.encode())
        remark(f"wrote {output.to}")
    elif output.to is not None:
        remark(f"{output.to} was not written, as no view was added")
    if output.chart is not None and restored.rows:
        restored.save(output.chart)
        remark(f"wrote {output.chart}")
    elif output.chart is not None:
        remark(f"{output.chart} was not written: nobody was exposed, so there is nothing to draw")


@dataclass(frozen=True, eq=False)
class _Result:
    """What a search found: a plan alone, or what came of it, or of looking at the table."""

    adversary: str
    candidates: "Sequence[Candidate]"
    plan: "Plan | None"
    restored: "Restored | None"

    def successful(self, least: Fraction) -> bool:
        """Whether every limit holds, or will in as many tables as are wanted."""
        if self.restored is not None:
            return self.restored.private is True
        return self.plan is not None and self.plan.low > 0 and self.plan.low >= least

    def json(self) -> dict[str, Any]:

        content: dict[str, Any] = {
            **NOT_FOR_RELEASE,
            "adversary": self.adversary,
            "candidates": len(self.candidates),
        }
        if self.plan is not None:
            content["plan"] = _plan_json(self.plan)
        if self.restored is not None:
            content |= _restored_json(self.restored)
        return content

    def show(self, listed: int) -> None:

        show(NOTICE)
        if self.plan is not None:
            _show_plan(self.plan)
        if self.restored is not None:
            _show_restored(self.restored, len(self.candidates), listed)
        show("", NOTICE)


# As JSON


def _plan_json(plan: "Plan") -> dict[str, Any]:
    drawn = plan.confidence is not None
    return {
        "views": [candidate.name for candidate in plan.candidates],
        "share": float(plan.low) if drawn else str(plan.low),
        "share_high": float(plan.high) if drawn else str(plan.high),
        "confidence": None if plan.confidence is None else float(plan.confidence),
        "bound": share_text(plan.bound, LONG),
        "worst": share_text(plan.worst, LONG),
        "reasons": [outlook.reason for outlook in plan.outlooks if outlook.reason],
    }


def _restored_json(restored: "Restored") -> dict[str, Any]:
    names = restored.before.views.people
    return {
        "private": restored.private,
        "tables_before": restored.before.tables_text,
        "tables_after": restored.after.tables_text,
        "tried": restored.tried,
        "views": [
            {"name": view.name, "people": _people(names, view), "values": _values(view)}
            for view in restored.added
        ],
        "people": [_row_json(row) for row in restored.rows],
        "unrestored": [_unrestored_json(one) for one in restored.unrestored],
    }


def _row_json(row: "BeforeAfter") -> dict[str, Any]:
    return {
        "person": row.person,
        "value": value_text(row.value),
        "limit": str(row.limit),
        "before": share_text(row.before, LONG),
        "after": share_text(row.after, LONG),
    }


def _unrestored_json(one: "Unrestored") -> dict[str, Any]:
    return {
        "person": one.exposed.name,
        "value": value_text(one.exposed.value),
        "probability": share_text(one.exposed.probability, LONG),
        "reason": one.reason,
        "proven": one.proven,
    }


def _people(names: Sequence[str], view: "View") -> list[str]:
    return [names[person] for person in sorted(view.people)]


def _values(view: "View") -> dict[str, int]:
    """How often each value occurs, by its text; the missing one has none."""
    counts = sorted(view.bag.items(), key=str)
    return {value_text(value) or "": often for value, often in counts}


# As tables


def _show_restored(restored: "Restored", candidates: int, listed: int) -> None:
    before, after = restored.before, restored.after
    verdict = VERDICTS[restored.private]
    if before.private is True:
        verdict = "every limit holds already; nothing needs to be restored"
    elif restored.private is False:
        verdict = "somebody stays exposed"
    show(
        "",
        figures(
            ("verdict", verdict),
            ("views added", f"{len(restored.added)} of {plural(candidates, 'candidate')}"),
            ("possible tables", f"{tables_text(before)} before, {tables_text(after)} after"),
            ("highest probability", f"{surest(before)} before, {surest(after)} after"),
        ),
    )
    if restored.added:
        rows = [_view_row(before.views.people, view) for view in restored.added]
        show(title("Added"), listing(("view", "people", "values"), *rows))
    if restored.rows:
        bounds = "" if before.how == after.how == "exact" else ", at most"
        header = ("person", "value", "before", "after", "allowed")
        show(
            title(f"Before and after{bounds}"),
            listing(header, *map(_before_after, restored.rows[:listed])),
        )
    if len(restored.rows) > listed:
        show(f"and {len(restored.rows) - listed:,} more; --json has all")
    for reason in restored.reasons:
        complain(f"not restored: {reason}")


def _show_plan(plan: "Plan") -> None:
    share = share_text(plan.low)
    if plan.confidence is not None:
        share = f"{float(plan.low):.3f} to {float(plan.high):.3f}"
    if plan.candidates:
        rows = [
            ("views", ", ".join(candidate.name for candidate in plan.candidates)),
            ("restored in", f"{share} of the possible tables"),
            ("no procedure in more than", share_text(plan.bound)),
            ("highest probability after", share_text(plan.worst)),
        ]
    elif plan.before.private:
        rows = [("views", "none: every limit holds already; nothing needs to be restored")]
    else:
        rows = [
            ("views", "none: there is no plan"),
            ("no procedure in more than", share_text(plan.bound)),
            ("highest probability now", surest(plan.before)),
        ]
    show(title("Plan, by what is public"), figures(*rows))
    for reason in plan.reasons:
        complain(f"not planned: {reason}")


def _view_row(names: Sequence[str], view: "View") -> tuple[str, str, str]:
    values = ", ".join(f"{value or 'missing'} {often}" for value, often in _values(view).items())
    return view.name, ", ".join(_people(names, view)), values


def _before_after(row: "BeforeAfter") -> tuple[str, ...]:
    shares = (share_text(share) for share in (row.before, row.after, row.limit))
    return row.person, value_text(row.value) or "missing", *shares
