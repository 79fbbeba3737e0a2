"""`shoal judge`: how good a release is, for its owner's eyes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import figures, listing, percent, print_json, remark, show, title, working
from shoal.errors import plural
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.studies.apart import BucketFigures
    from shoal.studies.judging import ColumnCounts, Judgement

__all__ = ["judge"]


@dataclass(frozen=True)
class Files:
    """Where a report goes besides the terminal."""

    chart: Annotated[Path | None, options.drawing("losses and columns before and after")] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Also write the report there, as JSON.",
            show_default=False,
        ),
    ] = None
    force: options.Force = False

    def require(self) -> None:
        """An error where a file cannot be written: before the work is done, not after."""
        from shoal.studies.judging import refuse_beside_a_release

        if self.out is not None:
            refuse_beside_a_release(self.out)
        options.require_free(self.out, "out", self.force)
        options.require_chart(self.chart, self.force)

    def write(self, judgement: "Judgement") -> None:
        if self.out is not None:
            judgement.write(self.out)
            remark(f"wrote {self.out}, which is not for release")
        options.write_chart(self.chart, judgement)


@bundled
def judge(
    files: Files,
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
    *,
    counting: options.Following,
) -> None:
    """How good is a release, compared with its input?

    Records kept, loss by every model, accuracy of classifiers, counts before and after.

    The report reveals information about the input: FILE cannot be beside a release.
    """
    import shoal

    files.require()
    chosen = counting.load(recipe)
    published = shoal.Release.read(release)
    if published.certificate.recipe not in (None, chosen.digest):
        remark("note: the release was made by another recipe, or this one has changed since")
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        table = chosen.table()
    with working("judging"):
        judgement = shoal.judge(table, published, classes=options.names(classes), queries=queries)
    if json:
        print_json(judgement.to_dict())
    else:
        show(NOTICE, "", *_pages(judgement, values), "", NOTICE)
    files.write(judgement)


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
    if judgement.buckets is not None:
        yield from _buckets(judgement.buckets)
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


def _buckets(buckets: "BucketFigures") -> "Iterator[RenderableType]":
    """The sizes of buckets, and the errors of count queries."""
    from shoal.studies.apart import ESTIMATES

    yield title(f"Buckets of {buckets.column}, by size")
    rows = [[f"{size:,}", f"{number:,}"] for size, number in buckets.sizes.items()]
    yield listing(["people", "buckets"], *rows)
    yield figures(("mean squared error", f"{buckets.mean_squared_error:,.4g}"))
    if buckets.queries is not None:
        count = buckets.queries.count
        yield title(f"Relative error of count queries, {count:,} with an answer above 0")
        errors = [(text, getattr(buckets.queries, name)) for name, text in ESTIMATES.items()]
        rows = [[text, percent(error.mean), percent(error.median)] for text, error in errors]
        yield listing(["", "mean", "median"], *rows)


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
