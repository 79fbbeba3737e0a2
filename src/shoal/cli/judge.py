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
    published = shoal.Release.read(release)
    if published.certificate.recipe not in (None, chosen.digest):
        complain("note: the release was made by another recipe, or this one has changed since")
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
    with working("judging"):
        judgement = shoal.judge(table, published, classes=options.names(classes), queries=queries)
    if json:
        print_json(judgement.to_dict())
    else:
        show(NOTICE, "", *_pages(judgement, values), "", NOTICE)
    if out is not None:
        judgement.write(out)
        complain(f"wrote {out}, which is not for release")


def _pages(judgement: "Judgement", values: int) -> "Iterator[RenderableType]":
    """The judgement as tables."""
    groups = plural(judgement.groups, "group")
    kept = f"{judgement.kept:,} ({percent(judgement.share)}), in {groups}"
    lines = [
        ("release", f"{judgement.release}, by {judgement.method}"),
        ("records", f"{judgement.records:,}"),
        ("kept", kept),
    ]
    if judgement.rate is not None:
        lines.append(("chance of being drawn", f"{judgement.rate:.6g}"))
    yield figures(*lines)
    if judgement.risk is not None:
        yield title("Risk of a record, by the people of the input whom it fits")
        yield figures(
            ("mean", percent(judgement.risk.mean)),
            ("highest", percent(judgement.risk.highest)),
            ("records that fit one person", percent(judgement.risk.alone)),
        )
    if judgement.losses:
        yield title("Loss, from 0 % for the input to 100 % for nothing left")
        yield listing(
            ["", "loss", "raw"],
            *(
                [name.replace("_", " "), percent(lost.normalised), f"{lost.raw:,.6g}"]
                for name, lost in judgement.losses.items()
            ),
        )
    if judgement.accuracies:
        yield title("Records predicted right, by classifiers trained on")
        rows = []
        for accuracy in judgement.accuracies:
            shares = (accuracy.majority, accuracy.original, accuracy.released)
            relative = "none" if accuracy.relative is None else percent(accuracy.relative)
            rows.append([accuracy.column, accuracy.classifier, *map(percent, shares), relative])
        yield listing(["", "", "nothing", "the input", "the release", "relative"], *rows)
    if judgement.queries:
        yield title(f"Relative error of count queries, {judgement.queries.count:,} asked")
        yield figures(
            ("mean", percent(judgement.queries.mean)), ("median", percent(judgement.queries.median))
        )
    if judgement.unknown:
        yield title("Not measured")
        yield figures(*judgement.unknown.items())
    for column in judgement.columns:
        yield from _counts(column, values, judgement.rate is not None)


def _counts(column: "ColumnCounts", most: int, sampled: bool) -> "Iterator[RenderableType]":
    """How many records have the most frequent values, before and after."""
    where = "by its leaves" if column.level is None else f"at level {column.level}"
    yield title(f"{column.column}, {where}: records with each value")
    shown = sorted(column.values, key=lambda value: -value.before)[:most]
    head = ["", "before", "after"]
    if sampled:
        head.append("scaled up")
    rows = []
    for value in shown:
        row = [value.value or "missing", f"{value.before:,}", f"{value.after:,.0f}"]
        if value.scaled is not None:
            row.append(f"{value.scaled:,.0f}")
        rows.append(row)
    yield listing(head, *rows)
    rest = len(column.values) - len(shown)
    if rest:
        yield f"and {plural(rest, 'value')} more; --json lists them all"
