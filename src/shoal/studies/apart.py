"""Judging releases that keep sensitive values apart, in buckets: their sizes and query errors.

Uses `measure` and `look`; `judging` uses it, and the command line shows what it gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.data.tables import Table
from shoal.exact.numbers import percent
from shoal.look.charts import ChartAxis, bars, histogram
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.measure.bucket_errors import BucketErrors, BucketQueries, bucket_errors
from shoal.measure.buckets import BucketReading
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["ESTIMATES", "BucketFigures", "bucket_figures"]

ESTIMATES = {
    "paper": "the paper's estimate",
    "unbiased": "least squares",
    "single": "one single bucket",
}
"""The estimates of count queries as people are shown them."""


@owner_only
@dataclass(frozen=True)
class BucketFigures(Pictured):
    """How large buckets are, what that loses, and how far count queries are off.

    `sizes` has the number of buckets of every size, by people. `loss` is Σ (size − 1)².
    """

    column: str
    fakes: int
    buckets: int
    sizes: Mapping[int, int]
    loss: int
    mean_squared_error: float
    queries: BucketErrors | None

    def pictures(self) -> tuple[Picture, ...]:
        """The sizes of buckets, and the errors of queries where any were asked."""
        most = max(self.sizes, default=0)
        bins = [(f"{size:,}", {"": float(size * n)}) for size, n in self.sizes.items()]
        rows = [[f"{size:,}", f"{n:,}", f"{size * n:,}"] for size, n in self.sizes.items()]
        sizes = Picture(
            title=f"The {self.buckets:,} buckets of {self.column} have at most {most:,} people",
            sentence=(
                "How many people are in buckets of each size. The values of a bucket are known, "
                "and not who of its people has which."
            ),
            head=["people of a bucket", "buckets", "people in them"],
            rows=rows,
            draw=partial(histogram, bins, "people of the bucket", ChartAxis("people in them")),
            zone=Zone.OWNER,
        )
        return (sizes,) if self.queries is None else (sizes, self._errors(self.queries))

    def _errors(self, queries: BucketErrors) -> Picture:
        errors = {text: getattr(queries, name) for name, text in ESTIMATES.items()}
        means = [(text, {"": error.mean}) for text, error in errors.items()]
        best = min(errors, key=lambda text: errors[text].mean)
        return Picture(
            title=f"Count queries are off by {percent(errors[best].mean)} on average, by {best}",
            sentence=(
                f"The mean relative error of {queries.count:,} count queries by each estimate; one "
                "single bucket is what one would answer without knowing what goes with what."
            ),
            head=["estimate", "mean", "median"],
            rows=[
                [text, percent(error.mean), percent(error.median)] for text, error in errors.items()
            ],
            draw=partial(bars, means, ChartAxis("mean relative error", shares=True)),
            zone=Zone.OWNER,
        )


def bucket_figures(table: Table, release: Release, queries: int, seed: int) -> BucketFigures:
    """The figures of a release of buckets, with some count queries if any are asked for."""
    reading = BucketReading(release)
    sizes, numbers = np.unique(reading.sizes, return_counts=True)
    by_size = dict(zip(sizes.tolist(), numbers.tolist(), strict=True))
    loss = sum(number * (size - 1) ** 2 for size, number in by_size.items())
    errors = None
    if queries and reading.people.rows == table.rows:
        errors = bucket_errors(table, release, BucketQueries(queries), seed=seed)
    return BucketFigures(
        column=reading.column,
        fakes=reading.fakes,
        buckets=len(reading.buckets),
        sizes=by_size,
        loss=loss,
        mean_squared_error=loss / max(reading.people.rows - 1, 1),
        queries=errors,
    )
