"""`shoal judge`: how good a release is, for its owner's eyes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title, working
from shoal.errors import FileError, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.studies.judging import ColumnCounts, Judgement

__all__ = ["judge"]


def judge(
    recipe: options.RecipeFile,
    release: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Where the release and its certificate are.", show_default=False
        ),
    ],
    classes: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,…",
            help="Columns for classifiers to predict; takes seconds.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer wants a list, and nobody changes it
    queries: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many count queries are asked.")
    ] = 0,
    values: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many values of each column are shown.")
    ] = 5,
    json: options.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Also write the report there, as JSON.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE.")] = False,
) -> None:
    """How good is a release, judged by its input?

    Records kept, loss by every model, accuracy of classifiers, counts before and after.

    The report reveals information about the input: FILE cannot be beside a release.
    """
    import shoal
    from shoal.studies.judging import NOTICE, refuse_beside_a_release

    if out is not None:  # before the work is done, not after
        refuse_beside_a_release(out)
        if out.exists() and not force:
            raise FileError(
                f"{out} is there already",
                "give --out another name, or --force to write over it",
            )
    chosen = shoal.Recipe.load(recipe)
    made = shoal.Release.read(release)
    if made.certificate.recipe not in (None, chosen.digest):
        complain("note: the release was made by another recipe, or this one has changed since")
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
    with working("judging"):
        found = shoal.judge(table, made, classes=options.names(classes), queries=queries)
    if json:
        print_json(found.to_dict())
    else:
        show(NOTICE, "", *_pages(found, values), "", NOTICE)
    if out is not None:
        found.write(out)
        complain(f"wrote {out}, which is not for release")


def _pages(found: "Judgement", values: int) -> "Iterator[RenderableType]":
    """The judgement as tables."""
    yield figures(
        ("release", f"{found.release}, by {found.method}"),
        ("records", f"{found.records:,}"),
        ("kept", f"{found.kept:,} ({percent(found.share)}), in {plural(found.groups, 'group')}"),
        *([("chance of being drawn", f"{found.rate:.6g}")] if found.rate is not None else []),
    )
    if found.losses:
        yield title("Loss, from 0 % for the input to 100 % for nothing left")
        yield listing(
            ["", "loss", "raw"],
            *(
                [name.replace("_", " "), percent(lost.normalised), f"{lost.raw:,.6g}"]
                for name, lost in found.losses.items()
            ),
        )
    if found.accuracies:
        yield title("Records predicted right, by classifiers trained on")
        yield listing(
            ["", "", "nothing", "the input", "the release", "relative"],
            *(
                [one.column, one.classifier]
                + [percent(share) for share in (one.majority, one.original, one.released)]
                + ["none" if one.relative is None else percent(one.relative)]
                for one in found.accuracies
            ),
        )
    if found.queries:
        yield title(f"Relative error of count queries, {found.queries.count:,} asked")
        yield figures(
            ("mean", percent(found.queries.mean)), ("median", percent(found.queries.median))
        )
    if found.unknown:
        yield title("Not measured")
        yield figures(*found.unknown.items())
    for column in found.columns:
        yield from _counts(column, values, found.rate is not None)


def _counts(column: "ColumnCounts", most: int, sampled: bool) -> "Iterator[RenderableType]":
    """How many records have the most frequent values, before and after."""
    where = "by its leaves" if column.level is None else f"at level {column.level}"
    yield title(f"{column.column}, {where}: records with each value")
    shown = sorted(column.values, key=lambda one: -one.before)[:most]
    yield listing(
        ["", "before", "after", *(["scaled up"] if sampled else [])],
        *(
            [one.value or "missing", f"{one.before:,}", f"{one.after:,.0f}"]
            + ([f"{one.scaled:,.0f}"] if one.scaled is not None else [])
            for one in shown
        ),
    )
    if rest := len(column.values) - len(shown):
        yield f"and {plural(rest, 'value')} more; --json lists them all"
