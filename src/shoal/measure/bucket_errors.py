"""How far count queries from a release of buckets are from the truth, for the owner.

A query asks for values of the sensitive column and of some others, after Xiao and Tao's Anatomy and
the buckets paper. Uses `buckets` for the answers; judging, trade-offs and experiments use it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, typed
from shoal.data.kinds import Key
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError
from shoal.exact.numbers import Exact, fraction, whole
from shoal.measure.buckets import BucketReading, BucketRelease
from shoal.zones import owner_only

__all__ = ["BucketErrors", "BucketQueries", "RelativeError", "bucket_errors"]

Bools = npt.NDArray[np.bool_]


@typed
@dataclass(frozen=True, init=False)
class BucketQueries:
    """Random count queries that ask for the sensitive column and for one or more others.

    Each column is asked for as many random values as make the expected answer a share `selectivity`
    of the records.
    """

    count: int
    selectivity: Fraction

    def __init__(self, count: int = 1000, selectivity: Exact = Fraction(1, 100)) -> None:
        keep(
            self,
            count=whole(count, "count"),
            selectivity=fraction(selectivity, "selectivity", 0, 1, above=True),
        )


@owner_only
@dataclass(frozen=True)
class RelativeError:
    """The mean and the median of |estimate − answer| / answer; infinite where that is."""

    mean: float
    median: float


@owner_only
@dataclass(frozen=True)
class BucketErrors:
    """The errors of count queries whose answer is not 0.

    `paper` is by the paper's estimate, `unbiased` by least squares, and `single` is what one single
    bucket with everybody would give: all columns as if they were independent.
    """

    count: int
    paper: RelativeError
    unbiased: RelativeError
    single: RelativeError


@typed
def bucket_errors(
    original: Table,
    release: BucketRelease,
    queries: BucketQueries | None = None,
    *,
    seed: int = 0,
) -> BucketErrors:
    """Ask a release of buckets random count queries, and compare with the table it was made from.

    `seed` decides which queries are asked, and nothing else.
    """
    asked = queries or BucketQueries()
    reading = BucketReading(release)
    beside = [
        name
        for name in reading.people.names
        if name in original.names and original.roles.get(name) is not Role.IDENTIFYING
    ]
    if not beside or reading.column not in original.names:
        raise ColumnError(
            "the release has no column that the input has",
            "judge the release by the table it was made from",
        )
    truth = _Truth(original, [*beside, reading.column])
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(asked.count):
        number = int(draw.integers(1, len(beside) + 1))
        names = draw.choice(len(beside), number, replace=False).tolist()
        chosen = [*(beside[place] for place in names), reading.column]
        # Every column selects the same share, and all of them together the selectivity.
        share = float(asked.selectivity) ** (1 / len(chosen))
        wanted = {name: truth.some(name, share, draw) for name in chosen}
        answer = truth.count(wanted)
        if answer:
            where = {name: truth.keys(name, codes) for name, codes in wanted.items()}
            rows.append(_errors(reading, where, answer, truth.independent(wanted, reading.column)))
    return BucketErrors(len(rows), *map(_summary, zip(*rows, strict=True)) if rows else [_NONE] * 3)


_NONE = RelativeError(0.0, 0.0)


def _errors(
    reading: BucketReading, where: dict[str, Any], answer: int, single: float
) -> tuple[float, float, float]:
    estimates = (
        reading.count(where).count,
        reading.count(where, unbiased=True).count,
        single,
    )
    paper, unbiased, independent = (abs(estimate - answer) / answer for estimate in estimates)
    return paper, unbiased, independent


def _summary(errors: Iterable[float]) -> RelativeError:
    every = np.array(list(errors))
    return RelativeError(float(every.mean()), float(np.median(every)))


class _Truth:
    """The distinct rows of the input, to be counted."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        counts = table.count(names, {})
        self.rows = counts.total
        self._count = counts.count
        self._codes = dict(zip(names, counts.codes, strict=True))
        self._keys = {name: table.keys(name) for name in names}

    def some(self, name: str, share: float, draw: np.random.Generator) -> list[int]:
        """Random values of a column, by code: as many as are a share of all."""
        values = len(self._keys[name])
        chosen: list[int] = draw.choice(values, ceil(share * values), replace=False).tolist()
        return chosen

    def keys(self, name: str, codes: Iterable[int]) -> list[Key | str]:
        """Values as a query asks for them."""
        keys = [self._keys[name][code] for code in codes]
        return ["" if key is None else key for key in keys]

    def _having(self, name: str, codes: Sequence[int]) -> Bools:
        wanted = np.zeros(len(self._keys[name]), dtype=np.bool_)
        wanted[list(codes)] = True
        return np.asarray(wanted[self._codes[name]], dtype=np.bool_)

    def count(self, wanted: dict[str, list[int]]) -> int:
        """How many records satisfy a query."""
        having = [self._having(name, codes) for name, codes in wanted.items()]
        return int(self._count[np.logical_and.reduce(having)].sum())

    def independent(self, wanted: dict[str, list[int]], sensitive: str) -> float:
        """How many would, if the sensitive column had nothing to do with the others."""
        others = {name: codes for name, codes in wanted.items() if name != sensitive}
        values = {sensitive: wanted[sensitive]}
        return self.count(others) * self.count(values) / max(self.rows, 1)
