"""`shoal count`: what those who get a release of buckets can read off it; `shoal limits`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    figures,
    percent,
    print_json,
    remark,
    rows_of,
    show,
    title,
    working,
)
from shoal.errors import ParameterError, listed, plural
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.studies.limit_curves import LimitReport, ValueLimit

__all__ = ["count", "limits"]

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="RELEASE", help="The directory of a release of buckets.", show_default=False
    ),
]


def count(
    release: Folder,
    where: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=VALUES",
            help="Values, or a range: sex=female, age=30..39,45.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer wants a list, and nobody changes it
    unbiased: Annotated[
        bool,
        typer.Option(
            "--unbiased", help="By least squares: right on average, however values are related."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """How many people have these values, as far as a release of buckets shows?

    Gives an estimate and its standard error; unless the sensitive column is asked for, the number
    is exact.
    """
    from shoal.measure.buckets import BucketReading
    from shoal.releases.release import Release

    asked = _conditions(where)
    reading = BucketReading(Release.read(release))
    estimate = reading.count(asked, unbiased=unbiased)
    for name, absent in reading.absent(asked).items():
        values = listed(map(_written, absent))
        remark(f"note: nobody in the release has {values} as {name!r}; check the spelling")
    if json:
        print_json({"count": estimate.count, "error": estimate.error})
        return
    show(
        figures(("people", f"{estimate.count:,.1f}"), ("standard error", f"{estimate.error:,.1f}"))
    )
    if estimate.error and not unbiased:
        remark(
            "note: where values go with other columns, this is too close to independence;"
            " compare --unbiased"
        )


def _conditions(where: Iterable[str]) -> dict[str, list[str | range]]:
    """The values that are asked for, by column; an empty text is the missing value."""
    asked: dict[str, list[str | range]] = {}
    for given in where:
        name, separator, texts = given.partition("=")
        if not separator:
            raise ParameterError(
                "has no column and values",
                "give both, as in sex=female",
                option="where",
                given=repr(given),
            )
        values = options.names([texts]) or [""]
        asked.setdefault(name, []).extend(map(_range, values))
    return asked


def _range(text: str) -> str | range:
    """The whole numbers of a range such as 30..39, or the text itself."""
    first, separator, last = text.partition("..")
    if not separator:
        return text
    try:
        numbers = range(int(first), int(last) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers:
        raise ParameterError(
            "is not a range",
            "a range goes from one whole number up to another, as in 30..39",
            option="where",
            given=repr(text),
        )
    return numbers


def _written(value: object) -> str:
    """A value as it was typed."""
    if isinstance(value, range):
        return f"{value.start}..{value.stop - 1}"
    return str(value)


@bundled
def limits(
    recipe: options.RecipeFile, json: options.Json = False, *, counting: options.Following
) -> None:
    """Can buckets keep the limits of a recipe, and which values prevent it?

    Every sensitive value with its share of the table and its limit, those that prevent buckets
    first.

    The report names values of the table and is owner only.
    """
    from shoal.studies.limit_curves import limits_of

    chosen = counting.load(recipe)
    method = chosen.method()
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        table = chosen.table()
    report = limits_of(table, method)
    if json:
        print_json(report.to_dict())
        return
    rows = [
        [value.value or "missing", percent(value.share), percent(value.limit), _note(value)]
        for value in report.values
    ]
    show(
        NOTICE,
        title(f"Limits of {report.column}"),
        rows_of(["value", "share", "limit", ""], *rows),
        *_blocks(report),
        "",
        _verdict(report),
        *report.concerns,
        "",
        NOTICE,
    )


def _blocks(report: "LimitReport") -> "Iterator[RenderableType]":
    """The values that prevent buckets of people who agree in some columns."""
    if not report.blocked:
        return
    yield title("Too frequent among people who agree")
    rows = []
    for block in report.blocked:
        agree = ", ".join(f"{name} {value}" for name, value in block.agree.items())
        rows.append([agree, block.value or "missing", percent(block.share), percent(block.limit)])
    yield rows_of(["people", "value", "share", "limit"], *rows)


def _note(value: "ValueLimit") -> str:
    """What to mind about a value."""
    if value.prevents:
        return "share above limit"
    if value.limit == 1:
        return "may be certain"
    return ""


def _verdict(report: "LimitReport") -> str:
    preventing = sum(value.prevents for value in report.values)
    if preventing:
        return (
            f"No buckets can keep these limits: {plural(preventing, 'value')} with a larger share "
            "of the table than its limit."
        )
    if report.blocked:
        return "No buckets of people who agree can keep these limits."
    return (
        "Buckets of some size can keep these limits. If the recipe's solver or `largest` does not "
        "allow that size, a release is still refused."
    )
