"""`shoal count`: what those who get a release of buckets can read off it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, print_json, show
from shoal.errors import ParameterError, listed

__all__ = ["count"]

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
            "--unbiased", help="By least squares: right in the mean whatever goes with what."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """How many people have these values, as far as a release of buckets shows it?

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
        complain(f"note: nobody in the release has {values} as {name!r}; check the spelling")
    if json:
        print_json({"count": estimate.count, "error": estimate.error})
        return
    show(
        figures(("people", f"{estimate.count:,.1f}"), ("standard error", f"{estimate.error:,.1f}"))
    )
    if estimate.error and not unbiased:
        complain(
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
