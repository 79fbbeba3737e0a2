"""`shoal tradeoff`: what utility costs in risk, for its owner's eyes."""

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

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.studies.tradeoffs import Comparison, Curve, Staircase

__all__ = ["tradeoff"]


def tradeoff(
    recipe: options.RecipeFile,
    person: Annotated[
        int | None,
        typer.Option(
            metavar="ROW",
            min=1,
            help="Of one row of the table alone; the first is 1.",
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
    force: Annotated[bool, typer.Option("--force", help="Write over FILE.")] = False,
) -> None:
    """What does utility cost in risk, under a recipe for personal generalisation?

    For the table, for one person, or beside k-anonymity at equal utility; and the utility that is left at half the risk.

    The report tells about the input and is not for release: FILE cannot be beside one.
    """
    import shoal
    from shoal.measure.judging import NOTICE
    from shoal.methods.personal import Personal
    from shoal.studies import charts
    from shoal.studies import tradeoffs as curves

    if against_k and (person is not None or floors):
        raise ParameterError(
            "--against-k is a question of its own; leave out --person and --floors"
        )
    shares: Sequence[Fraction] = [
        options.share(text, "floors") for text in options.names(floors)
    ] or curves.FLOORS
    ks = [_size(text) for text in options.names(against_k)]
    if chart is not None:  # before the work is done, not after
        charts.require(chart)
        if chart.exists() and not force:
            raise FileError(
                f"{chart} is there already; give --chart another name, or --force to write over it"
            )
    chosen = shoal.Recipe.load(recipe)
    method = chosen.method()
    if not isinstance(method, Personal):
        raise ParameterError(
            f"the recipe's method is {method.name!r}; only 'personal' trades utility for risk by record"
        )
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
    if person is not None and person > table.rows:
        raise ParameterError(
            f"--person {person}: the table has {table.rows:,} rows, the first being 1"
        )
    found: Curve | Staircase | Comparison
    with working("weighing") as report:
        if ks:
            found = curves.compared(table, method, ks, progress=report)
            pages = _beside(found)
        elif person is not None:
            found = curves.tradeoff_of(table, method, person - 1)
            pages = _steps(found, shares, person)
        else:
            found = curves.tradeoff(table, method, shares, progress=report)
            pages = _curve(found)
    if json:
        print_json(found.to_dict())
    else:
        show(NOTICE, *pages, "", NOTICE)
    if chart is not None:
        found.save(chart)
        complain(f"wrote {chart}, which is not for release")


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"--against-k {text!r}: give whole numbers above 0, as in 2,5,10")
    return int(text)


def _curve(found: "Curve") -> "Iterator[RenderableType]":
    """A table's risks at every floor."""
    before = found.as_it_is
    yield title(f"Risk where every record keeps a share of its utility, solver {found.solver}")
    yield listing(
        ["at least", "mean utility", "mean risk", "of that as it is", "highest risk"],
        *(
            [
                percent(float(point.floor)),
                percent(point.utility),
                _risk(point.risk),
                percent(point.risk / before.risk) if before.risk else "",
                _risk(point.highest),
            ]
            for point in found.points
        ),
    )
    yield ""
    left = "at no floor" if found.half is None else f"utility = {_down(found.half.floor)}"
    yield figures(
        ("as it is", f"mean risk {_risk(before.risk)}, highest {_risk(before.highest)}"),
        ("half the mean risk, at most", left),
    )
    if found.solver != "exact":
        yield f"Risks are those that {found.solver} found; lower ones may be possible."


def _steps(found: "Staircase", shares: Sequence[Fraction], row: int) -> "Iterator[RenderableType]":
    """What can be shown of one person."""
    steps = list({id(step): step for step in map(found.at, sorted(shares))}.values())
    yield title(f"Row {row:,}: the lowest risk for a share of its utility")
    yield listing(
        ["utility", "risk", "people", "levels"],
        *(
            [
                percent(float(one.utility)),
                _risk(one.risk),
                f"{one.people:,}",
                " ".join(map(str, one.levels.values())),
            ]
            for one in steps
        ),
    )
    yield f"Levels are those of {', '.join(found.as_it_is.levels)}."
    if rest := len(found.steps) - len(steps):
        yield f"There {'is' if rest == 1 else 'are'} {plural(rest, 'step')} more between these; --json lists them all."
    at, half = found.at(found.floor), found.half
    shown = {"as it is": found.as_it_is, f"keeping {percent(float(found.floor))}": at} | (
        {"half the risk": half} if half else {}
    )
    yield title("What is shown")
    yield rows_of(
        ["", *shown],
        *([name, *(step.shown[name] for step in shown.values())] for name in found.as_it_is.shown),
        ["risk", *(_risk(step.risk) for step in shown.values())],
        ["people it fits", *(f"{step.people:,}" for step in shown.values())],
        ["utility", *(percent(float(step.utility)) for step in shown.values())],
    )
    if half is None:
        yield "Nothing that can be shown has half the risk."


def _beside(found: "Comparison") -> "Iterator[RenderableType]":
    """Personal generalisation at the utility of k-anonymous tables."""
    yield title("Mean risk at equal utility: k-anonymous tables, and personal generalisation")
    yield listing(
        ["k", "tables", "utility", "k-anonymous", "exact", "genetic"],
        *(
            [
                f"{one.k}",
                "optimal" if one.optimal else f"{one.tables} arbitrary",
                percent(float(one.utility)),
                *map(_risk, (one.k_anonymous, one.exact, one.genetic)),
            ]
            for one in found.rows
        ),
    )


def _risk(risk: float) -> str:
    return f"{risk:.3g}"


def _down(share: Fraction) -> str:
    """A share that is not above the one given, short enough to be written into a recipe."""
    return f"{floor(share * 10_000) / 10_000:.4g}"
