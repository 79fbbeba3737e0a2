"""`shoal tradeoff`: what utility costs in risk, owner only."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    percent,
    print_json,
    rows_of,
    show,
    title,
    working,
)
from shoal.errors import FileError, ParameterError, plural
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.studies.curves import AnonymityComparison, Curve, Staircase

__all__ = ["tradeoff"]


def tradeoff(
    recipe: options.RecipeFile,
    person: Annotated[
        int | None,
        typer.Option(
            metavar="ROW",
            min=1,
            help="For one row of the table only; the first is 1.",
            show_default=False,
        ),
    ] = None,
    floors: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,…",
            help="Shares of utility to keep, as 0.3 or 30%.",
            show_default="steps of 5 %",
        ),
    ] = [],  # noqa: B006  typer wants a list, and nobody changes it
    against_k: Annotated[
        list[str],
        typer.Option(
            metavar="K,K,…",
            help="Compare with k-anonymous tables of equal utility.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also draw it, as .html, .png or .svg.", show_default=False
        ),
    ] = None,
    json: options.Json = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
) -> None:
    """What does utility cost in risk, under a recipe for personal generalisation?

    For the table, for one person, or beside k-anonymity at equal utility; and the utility that is
    left at half the risk.

    The report reveals information about the input and is owner only: FILE cannot be beside a
    release.
    """
    import shoal
    from shoal.studies import tradeoffs as studies

    if against_k and (person is not None or floors):
        raise ParameterError(
            "`against_k` is a question of its own", "leave out `person` and `floors`"
        )
    shares: Sequence[Fraction] = [
        options.share(text, "floors") for text in options.names(floors)
    ] or studies.FLOORS
    ks = [_size(text) for text in options.names(against_k)]
    if chart is not None:
        _require_free(chart, force)  # before the work is done, not after
    chosen = shoal.Recipe.load(recipe)
    method = studies.require_personal(chosen.method())
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
    study: Curve | Staircase | AnonymityComparison
    with working("weighing") as report:
        if ks:
            study = studies.compared(table, method, ks, progress=report)
            pages = _comparison(study)
        elif person is not None:
            _require_row(person, table.rows)
            study = studies.tradeoff_of(table, method, person - 1)
            pages = _staircase(study, shares, person)
        else:
            study = studies.tradeoff(table, method, shares, progress=report)
            pages = _curve(study)
    if json:
        print_json(study.to_dict())
    else:
        show(NOTICE, *pages, "", NOTICE)
    if chart is not None:
        study.save(chart)
        complain(f"wrote {chart}, which is not for release")


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(
            "is not a size of groups",
            "give whole numbers above 0, as in 2,5,10",
            option="against_k",
            given=repr(text),
        )
    return int(text)


def _require_free(chart: Path, force: bool) -> None:
    from shoal.studies import charts

    charts.require(chart)
    if chart.exists() and not force:
        raise FileError(
            f"{chart} already exists", "give `chart` another name, or `force` to overwrite it"
        )


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


def _risk(risk: float) -> str:
    return f"{risk:.3g}"


def _down(share: Fraction) -> str:
    """A share that is not above the one given, short enough to be written into a recipe."""
    return f"{floor(share * 10_000) / 10_000:.4g}"
