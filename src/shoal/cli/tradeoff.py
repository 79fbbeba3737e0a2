"""`shoal tradeoff`: what utility costs in risk, or limits in utility, owner only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    figures,
    listing,
    percent,
    print_json,
    rows_of,
    show,
    title,
    working,
)
from shoal.errors import ParameterError, plural
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.tables import Table
    from shoal.methods.method import Progress
    from shoal.studies.curves import AnonymityComparison, Curve, Staircase, Study
    from shoal.studies.limit_curves import LimitCurve, LimitPoint

    Weighed = tuple[Study, Iterator[RenderableType]]

__all__ = ["tradeoff"]


def _several(help: str, default: str) -> Any:
    """An option that takes a list."""
    return typer.Option(metavar="A,B,…", help=help, show_default=default)


@dataclass(frozen=True)
class RiskOptions:
    """What is asked about personal generalisation."""

    person: Annotated[
        int | None,
        typer.Option(
            metavar="ROW",
            min=1,
            help="For one row of the table only; the first is 1.",
            show_default=False,
        ),
    ] = None
    floors: Annotated[
        list[str], _several("Shares of utility to keep, as 0.3 or 30%.", "steps of 5 %")
    ] = field(default_factory=list)
    against_k: Annotated[
        list[str],
        typer.Option(
            metavar="K,K,…",
            help="Compare with k-anonymous tables of equal utility.",
            show_default=False,
        ),
    ] = field(default_factory=list)

    def weighed(self, method: Any, table: "Table", report: "Progress") -> "Weighed":
        """The risk of a table, of one person, or beside k-anonymity."""
        from shoal.studies import tradeoffs as studies

        shares = self._shares()
        if self.against_k:
            ks = [_size(text) for text in options.names(self.against_k)]
            comparison = studies.compared(table, method, ks, progress=report)
            return comparison, _comparison(comparison)
        if self.person is not None:
            _require_row(self.person, table.rows)
            stairs = studies.tradeoff_of(table, method, self.person - 1)
            return stairs, _staircase(stairs, shares, self.person)
        curve = studies.tradeoff(table, method, shares, progress=report)
        return curve, _curve(curve)

    def require(self) -> None:
        """ParameterError where the options do not fit each other, before anything is read."""
        if self.against_k and (self.person is not None or self.floors):
            raise ParameterError(
                "`against_k` is a question of its own", "leave out `person` and `floors`"
            )
        self._shares()
        for text in options.names(self.against_k):
            _size(text)

    def _shares(self) -> Sequence[Fraction]:
        from shoal.studies.tradeoffs import FLOORS

        return [options.share(text, "floors") for text in options.names(self.floors)] or FLOORS


@dataclass(frozen=True)
class LimitOptions:
    """What is asked about buckets."""

    thetas: Annotated[list[str], _several("Factors of the limits of buckets.", "2,4,8,16,32")] = (
        field(default_factory=list)
    )
    solvers: Annotated[list[str], _several("How bucket sizes are found.", "optimal,multi,two")] = (
        field(default_factory=list)
    )
    queries: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many count queries buckets are asked.")
    ] = 0

    def weighed(self, method: Any, table: "Table", report: "Progress") -> "Weighed":
        """The loss of buckets, and the errors of queries, against their limits."""
        from shoal.studies import limit_curves as studies

        curve = studies.weigh_limits(
            table,
            method,
            options.names(self.thetas) or studies.THETAS,
            options.names(self.solvers) or studies.SOLVERS,
            queries=self.queries,
            progress=report,
        )
        return curve, _limits(curve)


@bundled
def tradeoff(
    risk: RiskOptions,
    limits: LimitOptions,
    recipe: options.RecipeFile,
    chart: options.Chart = None,
    json: options.Json = False,
    force: options.Force = False,
    *,
    counting: options.Following,
) -> None:
    """What does privacy cost in utility, under a recipe for personal generalisation or buckets?

    Personal generalisation: risk against utility, for the table, for one person, or beside
    k-anonymity. Buckets: loss and errors of count queries against limits.

    The report reveals information about the input and is owner only: FILE cannot be beside a
    release.
    """
    from shoal.studies.tradeoffs import require_traded

    risk.require()
    options.require_chart(chart, force)
    chosen = counting.load(recipe)
    method = chosen.method()
    asked: dict[str, RiskOptions | LimitOptions] = {"risk": risk, "limits": limits}
    asking = asked.pop(require_traded(method.name))
    for other in asked.values():
        _require_none(other, method.name)
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        table = chosen.table()
    with working("weighing") as report:
        study, pages = asking.weighed(method, table, report)
    if json:
        print_json(study.to_dict())
    else:
        show(NOTICE, *pages, "", NOTICE)
    options.write_chart(chart, study)


def _require_none(other: "RiskOptions | LimitOptions", method: str) -> None:
    """ParameterError where options are given that are about another method."""
    given = [name for name, value in vars(other).items() if value]
    if given:
        raise ParameterError(
            "is not about this method", f"leave it out for {method!r}", option=given[0]
        )


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(
            "is not a size of groups",
            "give whole numbers above 0, as in 2,5,10",
            option="against_k",
            given=repr(text),
        )
    return int(text)


def _require_row(person: int, rows: int) -> None:
    if person > rows:
        raise ParameterError(
            "is not in the table",
            f"the table has {rows:,} rows, the first being 1",
            option="person",
            given=str(person),
        )


def _curve(curve: "Curve") -> "Iterator[RenderableType]":
    """A table's risks at every floor."""
    before = curve.as_it_is
    yield title(f"Risk where every record keeps a share of its utility, solver {curve.solver}")
    rows = [
        [
            percent(float(point.floor)),
            percent(point.utility),
            _risk(point.risk),
            percent(point.risk / before.risk) if before.risk else "",
            _risk(point.highest),
        ]
        for point in curve.points
    ]
    head = ["at least", "mean utility", "mean risk", "vs unchanged", "highest risk"]
    yield listing(head, *rows)
    yield ""
    half = "at no floor" if curve.half is None else f"utility = {_down(curve.half.floor)}"
    yield figures(
        ("unchanged", f"mean risk {_risk(before.risk)}, highest {_risk(before.highest)}"),
        ("half the mean risk, at most", half),
    )
    if curve.solver != "exact":
        yield f"These are the risks that {curve.solver} found; lower ones may be possible."


def _staircase(
    stairs: "Staircase", shares: Sequence[Fraction], row: int
) -> "Iterator[RenderableType]":
    """What can be shown of one person."""
    steps = stairs.at_each(shares)
    yield title(f"Row {row:,}: the lowest risk for a share of its utility")
    rows = []
    for step in steps:
        levels = " ".join(map(str, step.levels.values()))
        rows.append(
            [percent(float(step.utility)), _risk(step.risk), f"{step.people:,}", levels],
        )
    yield listing(["utility", "risk", "people", "levels"], *rows)
    yield f"Levels are those of {', '.join(stairs.as_it_is.levels)}."
    rest = len(stairs.steps) - len(steps)
    if rest:
        verb = "is" if rest == 1 else "are"
        yield f"There {verb} {plural(rest, 'more step')} between these; --json lists them all."
    columns = {
        "unchanged": stairs.as_it_is,
        f"keeping {percent(float(stairs.floor))}": stairs.at(stairs.floor),
    }
    if stairs.half is not None:
        columns["half the risk"] = stairs.half
    shown = columns.values()
    yield title("What is shown")
    yield rows_of(
        ["", *columns],
        *([name, *(step.shown[name] for step in shown)] for name in stairs.as_it_is.shown),
        ["risk", *(_risk(step.risk) for step in shown)],
        ["people it fits", *(f"{step.people:,}" for step in shown)],
        ["utility", *(percent(float(step.utility)) for step in shown)],
    )
    if stairs.half is None:
        yield "Nothing that can be shown has half the risk."


def _comparison(comparison: "AnonymityComparison") -> "Iterator[RenderableType]":
    """Personal generalisation at the utility of k-anonymous tables."""
    yield title("Mean risk at equal utility: k-anonymous tables, and personal generalisation")
    rows = []
    for row in comparison.rows:
        tables = "optimal" if row.optimal else f"{row.tables} arbitrary"
        risks = map(_risk, (row.k_anonymous, row.exact, row.genetic))
        rows.append([f"{row.k}", tables, percent(float(row.utility)), *risks])
    yield listing(["k", "tables", "utility", "k-anonymous", "exact", "genetic"], *rows)


def _limits(curve: "LimitCurve") -> "Iterator[RenderableType]":
    """Loss and query errors at every θ."""
    yield title(f"Buckets of {curve.column} against the factor θ of their limits")
    rows = []
    for point in curve.points:
        start = [f"{float(point.theta):g}", point.solver]
        if point.refused:
            rows.append([*start, "none", "", ""])
            continue
        gap = "" if point.gap is None else percent(point.gap)
        rows.append([*start, f"{point.buckets:,}", f"{point.mean_squared_error:,.4g}", gap])
    yield listing(["θ", "solver", "buckets", "mean squared error", "gap"], *rows)
    for reason in dict.fromkeys(point.refused for point in curve.points if point.refused):
        yield f"None: {reason}."
    asked = [point for point in curve.points if point.queries is not None]
    if asked:
        yield from _errors(asked)


def _errors(points: "Sequence[LimitPoint]") -> "Iterator[RenderableType]":
    """The mean relative errors of count queries, by estimate."""
    from shoal.studies.apart import ESTIMATES

    yield title("Mean relative error of count queries")
    rows = []
    for point in points:
        errors = [percent(getattr(point.queries, name).mean) for name in ESTIMATES]
        rows.append([f"{float(point.theta):g}", point.solver, *errors])
    yield listing(["θ", "solver", *ESTIMATES.values()], *rows)


def _risk(risk: float) -> str:
    return f"{risk:.3g}"


def _down(share: Fraction) -> str:
    """A share that is not above the one given, short enough to be written into a recipe."""
    return f"{floor(share * 10_000) / 10_000:.4g}"
