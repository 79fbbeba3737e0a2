"""`Problem`: how often values occur under limits, and the sizes of buckets that can be filled.

A bucket of S records may hold at most ⌊f′·S⌋ of a value with the limit f′. Everything here is an
integer or a fraction. Uses `errors`; the searches in `settings` and `program` use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.errors import InfeasibleError, TooLargeError, plural

__all__ = ["CELLS", "LARGEST", "Ints", "Least", "Problem", "fitting", "strictest"]

Ints: TypeAlias = npt.NDArray[np.int64]

LARGEST = 1 << 62
"""Records, times the size of a bucket, that are computed with at most."""

CELLS = 1 << 25
"""Cells of values times sizes that are held at most."""


def fitting(limits: Sequence[Fraction], sizes: Sequence[int] | Ints) -> Ints:
    """⌊f′·S⌋ for every limit and size: how many records with a value a bucket may hold.

    >>> fitting([Fraction("0.29")], [100])[0, 0], int(0.29 * 100)
    (np.int64(29), 28)
    """
    top = [limit.numerator for limit in limits]
    bottom = [limit.denominator for limit in limits]
    largest = max([*top, 1]) * int(max([*sizes, 1]))
    fits = max([largest, *bottom]) < LARGEST
    kind: Any = np.int64 if fits else object
    columns = np.array([int(size) for size in sizes], dtype=kind)
    tops = np.array(top, dtype=kind)[:, None]
    bottoms = np.array(bottom, dtype=kind)[:, None]
    return np.asarray(tops * columns // bottoms, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Problem:
    """Counts, and the sizes of buckets that can be filled from them.

    `fit[i, j]` is ⌊f′_i·sizes[j]⌋, and at most `most[j]` buckets of that size can be filled.
    """

    counts: Ints
    limits: tuple[Fraction, ...]
    strict: Ints
    """The values with the strictest limits first."""

    bound: int
    sizes: Ints
    fit: Ints
    most: Ints
    fakes: int = 0

    @classmethod
    def of(cls, counts: Ints, limits: Sequence[Fraction], bound: int, fakes: int = 0) -> "Problem":
        bound = min(bound, int(counts.sum()))
        if len(counts) * bound > CELLS or int(counts.sum()) * bound >= LARGEST:
            raise TooLargeError(
                f"{plural(len(counts), 'value')} in buckets of up to {plural(bound, 'record')} are "
                "too many",
                "give a smaller `largest`",
            )
        sizes = np.arange(1, bound + 1)
        strict = np.array(sorted(range(len(limits)), key=limits.__getitem__), dtype=np.int64)
        fit = fitting(limits, sizes)
        whole = cls(counts, tuple(limits), strict, bound, sizes, fit, sizes, fakes)
        return whole.only(_hideable(fit[counts > 0], sizes, fakes)).part(counts)

    def part(self, counts: Ints) -> "Problem":
        """The same for other counts under the same limits."""
        most = _fillable(counts, self.sizes, self.fit)
        return replace(self, counts=counts, most=most).only(most > 0)

    def only(self, kept: npt.NDArray[np.bool_] | slice) -> "Problem":
        """The same with some of the sizes."""
        return replace(self, sizes=self.sizes[kept], fit=self.fit[:, kept], most=self.most[kept])

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    def why_not(self, sizes: str) -> InfeasibleError:
        """What prevents a setting with these sizes, for anyone to read."""
        most = plural(self.bound, "record")
        if self.fakes and not len(self.sizes):
            return InfeasibleError(
                f"with buckets of at most {most}, none leaves {plural(self.fakes, 'value')} that "
                "it does not hold and could show as a fake",
                "take fewer fakes, or raise limits",
            )
        if strictest(self.counts, self.limits) > self.bound:
            reason = f"some value's limit is below 1/{self.bound}, so it fits into no bucket"
        elif not len(self.sizes):
            reason = "no bucket can be filled without some value exceeding its limit"
        else:
            reason = f"no numbers of buckets of {sizes} hold all records within the limits"
        return InfeasibleError(
            f"with buckets of at most {most}, {reason}", "allow larger buckets, or raise limits"
        )


@dataclass(frozen=True)
class Least:
    """What records lose at least.

    One whose limit asks for buckets of S loses (S − 1)²/S, its part of the loss of one. From this
    follows how large a bucket of a setting that loses less than another can be.
    """

    parts: tuple[tuple[Fraction, int], ...]
    """What a record loses, largest first, and how many lose that."""

    @classmethod
    def of(cls, counts: Ints, limits: Sequence[Fraction]) -> "Least":
        smallest = [-(-limit.denominator // limit.numerator) for limit in limits]
        found = [
            (Fraction((size - 1) ** 2, size), count)
            for size, count in zip(smallest, counts.tolist(), strict=True)
        ]
        return cls(tuple(sorted(found, reverse=True)))

    def with_a_bucket_of(self, size: int) -> Fraction:
        """What any setting loses that has a bucket of at least that size.

        At best it takes those who lose most anyway. It grows with the size, as a larger bucket adds
        2·size − 1 and spares at most what a record of the strictest limit loses.
        """
        loss = Fraction((size - 1) ** 2)
        left = size
        for part, count in self.parts:
            inside = min(count, left)
            loss = loss + part * (count - inside)
            left = left - inside
        return loss

    def reach(self, loss: int) -> int:
        """The largest size of a bucket in a setting that loses less."""
        low = 0
        high = sum(count for _, count in self.parts)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if self.with_a_bucket_of(middle) < loss else (low, middle - 1)
            )
        return low


def strictest(counts: Ints, limits: Sequence[Fraction]) -> int:
    """The smallest bucket that may hold a record of any value."""
    strictest = min(
        (limit for count, limit in zip(counts, limits, strict=True) if count), default=Fraction(1)
    )
    return -(-strictest.denominator // strictest.numerator)


def _hideable(fit: Ints, sizes: Ints, fakes: int) -> npt.NDArray[np.bool_]:
    """Which sizes leave a bucket that many values as fakes, which it may hold and does not.

    It holds its records in as few different values as limits allow: those that may be there most
    often.
    """
    able = (fit > 0).sum(axis=0)
    none = np.zeros((1, len(sizes)), dtype=np.int64)
    most_first = -np.sort(-fit, axis=0)
    held = np.cumsum(np.concatenate((none, most_first)), axis=0)
    places = held[np.maximum(able - fakes, 0), np.arange(len(sizes))]
    return np.asarray(places >= sizes, dtype=np.bool_)


def _fillable(counts: Ints, sizes: Ints, fit: Ints) -> Ints:
    """The most buckets of every size that can be filled.

    That is the largest number b with Σ_i min(⌊f′_i·S⌋·b, o_i) ≥ S·b. It holds for 0 and all numbers
    up to the largest, as the difference of both sides is concave.
    """
    low = np.zeros_like(sizes)
    high = counts.sum() // sizes
    while (low < high).any():
        middle = (low + high + 1) // 2
        holds = np.minimum(fit * middle, counts[:, None]).sum(axis=0) >= sizes * middle
        low = np.where(holds, middle, low)
        high = np.where(holds, high, middle - 1)
    return low
