"""Exact arithmetic on the histograms of groups, whose entries are in the order of their groups.

Integers stay in int64 where all of them fit, and become Python's own where they do not. Uses
`lattice`; `models` uses it.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.lattice import Histogram

__all__ = [
    "Bools",
    "Floats",
    "Integers",
    "Ints",
    "all_of",
    "carried",
    "compare",
    "descending",
    "distinct",
    "diverse",
    "even",
    "fitting",
    "highest",
    "least",
    "most",
    "ordered",
    "rolled",
    "self_information",
    "starts_of",
    "sums",
    "surplus",
]

Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[Any]
"""int64 where all values fit, else Python integers."""

_LARGEST_POWER = 1 << 22
"""Bits of the largest integer worth computing to decide one borderline group; beyond, it fails."""


# Integers that may be large


def fitting(values: Integers, factor: int) -> type[np.int64] | type[object]:
    """int64 if all values times the factor fit, else Python's integers."""
    largest = int(np.abs(values).max(initial=1))
    return np.int64 if largest * factor < 1 << 63 else object


def compare(left: Integers, by: int, right: Integers, times: int) -> Ints:
    """The sign of left · by − right · times, exactly."""
    both_fit = fitting(left, by) is np.int64 and fitting(right, times) is np.int64
    kind = np.int64 if both_fit else object
    first = left.astype(kind) * by
    second = right.astype(kind) * times
    return (first > second).astype(np.int64) - (first < second).astype(np.int64)


# From entries to groups


def starts_of(histogram: Histogram) -> Ints:
    """The first entry of every group; every group has one, because it has records."""
    return np.flatnonzero(np.diff(histogram.group, prepend=-1))


def sums(values: Integers, starts: Ints) -> Integers:
    """The sum of every group's entries."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def highest(values: Floats, starts: Ints) -> Floats:
    """The largest of every group's entries."""
    return np.maximum.reduceat(values, starts) if len(starts) else values[:0]


def all_of(values: Bools, starts: Ints) -> Bools:
    """Whether all of a group's entries are true."""
    return np.logical_and.reduceat(values, starts) if len(starts) else values[:0]


def least(values: npt.NDArray[Any], kept: Bools | None) -> Any:
    """The smallest value of the groups that are kept; 0 where there is none."""
    values = values if kept is None else values[kept]
    return values.min() if len(values) else 0


def most(values: npt.NDArray[Any], kept: Bools | None) -> Any:
    """The largest value of the groups that are kept; 0 where there is none."""
    values = values if kept is None else values[kept]
    return values.max() if len(values) else 0


# What a group's values are like


def distinct(histogram: Histogram) -> Ints:
    """The number of values in every group."""
    return np.bincount(histogram.group, minlength=histogram.groups)


def even(histogram: Histogram) -> Bools:
    """Which groups have all their values equally often."""
    starts = starts_of(histogram)
    return all_of(histogram.count == histogram.count[starts[histogram.group]], starts)


def descending(histogram: Histogram) -> Ints:
    """The counts of every group, the largest first."""
    return histogram.count[np.lexsort((-histogram.count, histogram.group))]


def self_information(histogram: Histogram) -> Floats:
    """Σ nᵢ ln nᵢ of every group."""
    weights = histogram.count * np.log(histogram.count)
    return np.bincount(histogram.group, weights, histogram.groups).astype(np.float64)


@lru_cache(maxsize=1 << 12)
def diverse(counts: tuple[int, ...], l: Fraction) -> bool:  # noqa: E741
    """Whether the entropy of these counts is at least log l, exactly.

    False where integers would grow too large.
    """
    shared = math.gcd(*counts)  # dividing all counts does not change the entropy
    counts = tuple(count // shared for count in counts)
    size = sum(counts)
    if size * (size.bit_length() + l.numerator.bit_length()) > _LARGEST_POWER:
        return False
    left: int = math.prod(count**count for count in counts) * l.numerator**size
    right: int = (size * l.denominator) ** size
    return left <= right


# How far the values of a group are from those of the whole table


def surplus(histogram: Histogram, sizes: Ints, total: Ints) -> Integers:
    """Σ max(0, qᵢ − pᵢ) = ½ Σ |qᵢ − pᵢ| of every group, scaled to integers.

    The factor is the group's size times the number of records of the table.
    """
    records = int(total.sum())
    kind = fitting(sizes, 2 * records)
    expected = sizes.astype(kind)[histogram.group] * total[histogram.value]
    excess = histogram.count.astype(kind) * records - expected
    return sums(np.maximum(excess, 0), starts_of(histogram))


def carried(histogram: Histogram, sizes: Ints, total: Ints) -> Integers:
    """Σᵢ |Σ_{j≤i} qⱼ − pⱼ| of every group, times its size and the records of the table.

    Between two neighbouring values of a group the sum of its shares stays the same while that of
    the table grows, so the differences of such a stretch change their sign at most once: where is
    found by bisection, and both parts are summed from running totals. The work grows with the
    entries, not with groups × values.
    """
    starts = starts_of(histogram)
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    records = int(total.sum())
    kind = fitting(sizes, 4 * records * (histogram.values + 1))
    size = sizes.astype(kind)[histogram.group]
    # Records of the table up to each value; area[i] is the sum of below[:i].
    below = np.cumsum(total)
    area = np.concatenate(([0], np.cumsum(below.astype(kind))))
    # Records of the group up to each of its values.
    running = np.cumsum(histogram.count)
    running = running - (running[starts] - histogram.count[starts])[histogram.group]
    level = running.astype(kind) * records
    # Each entry begins a stretch of values, which ends at the group's next one.
    start, stop = histogram.value, np.append(histogram.value[1:], histogram.values)
    stop[starts[1:] - 1] = histogram.values
    turn = np.searchsorted(below, (level // size).astype(np.int64), side="right")
    turn = np.clip(turn, start, stop)
    ahead = level * (turn - start) - size * (area[turn] - area[start])
    behind = size * (area[stop] - area[turn]) - level * (stop - turn)
    before_first = sizes.astype(kind) * area[start[starts]]
    distance: Integers = sums(ahead + behind, starts) + before_first
    return distance


# Histograms of other values


def rolled(histogram: Histogram, codes: Ints, values: int) -> Histogram:
    """The histogram after every value became its code."""
    key = histogram.group * values + codes[histogram.value]
    # As a rule the entries are in tree order already, and then sorting costs one pass.
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return Histogram(
        key[first] // values,
        key[first] % values,
        sums(histogram.count[order], first),
        histogram.groups,
        values,
    )


def ordered(histogram: Histogram, places: Ints) -> Histogram:
    """The histogram over the places of the values that occur."""
    return rolled(histogram, places, int(places.max(initial=0)) + 1)
