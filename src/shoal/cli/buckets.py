"""`shoal count`: what those who get a release of buckets can read off it."""

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

    Gives an estimate and its standard error; where the sensitive column is not asked for, the number is exact.
    """
    from shoal.measure.buckets import BucketReading
    from shoal.releases.release import Release

    asked: dict[str, list[str | range]] = {}
    for given in where:
        name, separator, values = given.partition("=")
        if not separator:
            raise ParameterError(f"--where {given!r}: give a column and values, as in sex=female")
        asked.setdefault(name, []).extend(_range(one) for one in options.names([values]) or [""])
    read = BucketReading(Release.read(release))
    found = read.count(asked, unbiased=unbiased)
    for name, absent in read.absent(asked).items():
        values = listed(
            [
                f"{one.start}..{one.stop - 1}" if isinstance(one, range) else str(one)
                for one in absent
            ]
        )
        complain(
            f"note: nobody in the release has {values} as {name!r}; look for a slip of the pen"
        )
    if json:
        print_json({"count": found.count, "error": found.error})
        return
    show(figures(("people", f"{found.count:,.1f}"), ("standard error", f"{found.error:,.1f}")))
    if found.error and not unbiased:
        complain(
            "note: where values go with other columns, this is too close to independence; compare --unbiased"
        )


def _range(text: str) -> str | range:
    """The whole numbers of a range such as 30..39, or the text itself."""
    first, separator, last = text.partition("..")
    if not separator:
        return text
    try:
        found = range(int(first), int(last) + 1)
    except ValueError:
        found = range(0)
    if not found:
        raise ParameterError(
            f"--where {text!r}: a range goes from one whole number up to another, as in 30..39"
        )
    return found
