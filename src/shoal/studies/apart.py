"""Judging releases that keep sensitive values apart, in buckets: their sizes and query errors.

Uses `measure` and `charts`; `judging` uses it, and the command line shows what it gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.data.tables import Table
from shoal.measure.bucket_errors import BucketErrors, BucketQueries, bucket_errors
from shoal.measure.buckets import BucketReading
from shoal.releases.release import Release
from shoal.zones import owner_only

if TYPE_CHECKING:
    from altair import VConcatChart

__all__ = ["ESTIMATES", "BucketFigures", "bucket_figures"]

ESTIMATES = {
    "paper": "paper's estimate",
    "unbiased": "least squares",
    "single": "one single bucket",
}
"""The estimates of count queries as people are shown them."""


@owner_only
@dataclass(frozen=True)
class BucketFigures:
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

    def chart(self) -> "VConcatChart":
        """The sizes of buckets, and the errors of queries where any were asked."""
        from shoal.studies import charts

        alt = charts.library()
        sizes: list[dict[str, Any]] = [
            {"size": size, "people": size * number} for size, number in self.sizes.items()
        ]
        drawn = [
            alt.Chart(alt.Data(values=sizes))
            .mark_bar()
            .encode(
                alt.X("size:O", title="size of the bucket"), alt.Y("people:Q", title="people in it")
            )
        ]
        if self.queries is not None:
            errors = [
                {"estimate": text, "error": getattr(self.queries, name).mean}
                for name, text in ESTIMATES.items()
            ]
            drawn.append(
                alt.Chart(alt.Data(values=errors))
                .mark_bar()
                .encode(
                    alt.X("error:Q", title="mean relative error", axis=alt.Axis(format="%")),
                    alt.Y("estimate:N", title="", sort=None),
                )
            )
        return charts.stacked("A release of buckets", drawn)


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
