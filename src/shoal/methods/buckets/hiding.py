"""How fakes are weighed, so that a shown value reveals little of whether it is real: `Hiding`.

Uses `settings`; `filling` and `Buckets` use it. Everything follows from how often values occur. Why
this hides as much as can be hidden, and where it cannot: docs/proofs/buckets.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import InfeasibleError, plural
from shoal.methods.buckets.problem import Ints
from shoal.methods.buckets.settings import Setting

__all__ = ["Hiding", "elementary", "exactly"]

Floats = npt.NDArray[np.float64]

_LEFT = 1 / 16
"""Of the buckets that do not hold a value, the share that do not show it as a fake either, if it is
a very frequent one.
"""

_TURNS, _PATIENT, _CLOSE = 600, 150, 1e-5
"""How often weights are improved at most, after which turn odds give way too where nothing else
helps, and how near expected numbers must come to those that there are."""

_DIGITS = 4
"""Significant digits of the smallest weight: the same numbers on every machine, whatever its
rounding.
"""

_WIDE = 1 << 62


@dataclass(frozen=True, eq=False)
class Hiding:
    """That many fakes in every bucket, and the law of what buckets hold and show.

    A bucket has real values and fakes with a probability in proportion to ∏ λ^c/c! over the values
    that it holds c times, and to ∏ `weights` of its fakes, which are θ·λ. So, given what it shows,
    a set of values that are there once is the set of its fakes with a probability in proportion to
    the product of their `odds`, θ.
    """

    number: int
    weights: tuple[int, ...]
    """Of every value.

    0 if it is never fake: it does not occur, or every bucket that may hold it does.
    """

    odds: tuple[Fraction, ...]
    """θ of every value: 1 where fakes can hide it entirely, less for those that are in too many
    buckets.
    """

    @classmethod
    def of(cls, setting: Setting, most: Ints, number: int) -> "Hiding":
        """That of a setting's buckets; those of size j may hold a value i `most[i, j]` times.

        >>> from shoal.methods.buckets.settings import find_setting, fitting
        >>> setting = find_setting([90, 60, 50], [Fraction(1, 2)] * 3, "two")
        >>> most = fitting([Fraction(1, 2)] * 3, setting.sizes)
        >>> [str(odds) for odds in Hiding.of(setting, most, 1).odds]
        ['1/5', '4/5', '1']
        """
        counts = setting.holds.sum(axis=1)
        buckets = np.array(setting.buckets, dtype=np.int64)
        free = open_values(counts, most, buckets)
        taken = most[(counts > 0) & ~free].sum(axis=0)
        sizes = np.array(setting.sizes, dtype=np.int64) - taken
        often = counts[free].astype(np.float64)
        able, odds = _fitted(often, buckets, sizes.tolist(), most[free], number)
        exact = [Fraction(f"{theta:.3g}") for theta in odds]
        largest = max(exact, default=Fraction(1))
        weights = _rounded([float(theta) * real for theta, real in zip(exact, able, strict=True)])
        every_weight = [0] * len(counts)
        every_odds = [Fraction(0)] * len(counts)
        for place, weight, theta in zip(np.flatnonzero(free).tolist(), weights, exact, strict=True):
            every_weight[place] = weight
            every_odds[place] = theta / largest
        return cls(number, tuple(every_weight), tuple(every_odds))

    def within(self, most: Ints) -> list[int]:
        """The weights of the values that a bucket may hold as often as `most` says; 0 elsewhere."""
        return [
            weight if times else 0
            for weight, times in zip(self.weights, most.tolist(), strict=True)
        ]


def open_values(counts: Ints, most: Ints, buckets: Ints) -> npt.NDArray[np.bool_]:
    """The values that may be fake: they occur, and not as often as there are places for them."""
    places = (most * buckets).sum(axis=1)
    return np.asarray((counts > 0) & (counts < places), dtype=np.bool_)


def exactly(largest: int) -> Any:
    """The type of integers up to that size."""
    return np.int64 if largest < _WIDE else object


def elementary(weights: Sequence[int], number: int) -> list[int]:
    """The elementary symmetric polynomials e₀ … e_number.

    These are sums, over all sets of that many, of the products of their weights.

    >>> elementary([1, 2, 3], 2)
    [1, 6, 11]
    """
    sums = [1] + [0] * number
    for weight in weights:
        for k in range(number, 0, -1):
            sums[k] += weight * sums[k - 1]
    return sums


def _fitted(
    counts: Floats, buckets: Ints, sizes: list[int], most: Ints, number: int
) -> tuple[Floats, Floats]:
    """λ and θ of every value with which each can be expected as often as it occurs.

    θ is 1 unless a value is in so many buckets that it would then be shown by nearly all. λ is
    improved in proportion (Chen, Dempster and Liu 1994), θ at the same time. Only products,
    quotients and sums in one order are used.
    """
    able = np.maximum(counts, 1.0)
    odds = np.ones(len(counts))
    once = (most <= 1).all(axis=1)
    absent = (np.minimum(most, 1) * buckets).sum(axis=1) - counts  # buckets without it, if `once`
    able_sizes = [int((own > 0).sum()) for own in most.T]
    forced = once.all() and able_sizes == [size + number for size in sizes]
    shown = 1.0 if forced else 1 - _LEFT
    for turn in range(_TURNS):
        real = np.zeros(len(counts))
        fake = np.zeros(len(counts))
        for own, size, times in zip(most.T, sizes, buckets.tolist(), strict=True):
            one, other = _expected(able, odds * able, own, size, number)
            real = real + times * one
            fake = fake + times * other
        if not len(counts) or float(abs(real / counts - 1).max()) < _CLOSE:
            break
        less = np.minimum(1, odds * shown * absent / np.maximum(fake, 1e-300))
        odds = np.where(once, less, odds)
        if turn > _PATIENT:
            odds = odds * np.minimum(1, real / counts)
        odds = odds / odds.max()
        able = able * counts / np.maximum(real, 1e-300)
        able = able / able.max()
    return able, odds


def _expected(
    able: Floats, fake: Floats, most: Ints, size: int, number: int
) -> tuple[Floats, Floats]:
    """How often a bucket of a size can be expected to hold each value, and to show it as a fake."""
    many = len(able)
    top = int(most.max(initial=0))
    times = np.zeros((many, top + 1))
    times[:, 0] = 1
    for c in range(1, top + 1):
        times[:, c] = np.where(c <= most, times[:, c - 1] * able / c, 0)
    fake = np.where(most > 0, fake, 0)
    before, after = (
        _through(times[order], fake[order], most[order], size, number)
        for order in (np.arange(many), np.arange(many)[::-1])
    )
    before = before[:many]
    after = after[:many][::-1, ::-1, ::-1]
    held = []
    for c in range(min(top, size) + 1):
        around = before[:, : size + 1 - c] * after[:, c:]
        held.append(times[:, c] * around.sum(axis=(1, 2)))
    around = before[:, :, :-1] * after[:, :, 1:]
    faked = fake * around.sum(axis=(1, 2))
    total = sum(held, faked)
    often: Floats = np.zeros(many)
    for c, one in enumerate(held):
        often = often + c * one
    return often / total, faked / total


def _through(times: Floats, fake: Floats, most: Ints, size: int, number: int) -> Floats:
    """The weight of the first values together, by the places they fill and how many are fake."""
    found = np.zeros((len(times) + 1, size + 1, number + 1))
    found[0, 0, 0] = 1
    for x in range(len(times)):
        last = found[x]
        new = times[x, 0] * last
        for c in range(1, min(int(most[x]), size) + 1):
            new[c:] += times[x, c] * last[: size + 1 - c]
        new[:, 1:] += fake[x] * last[:, :-1]
        found[x + 1] = new / new.max()
    if not found[-1, size, number] > 0:
        raise InfeasibleError(
            f"no bucket of {plural(size, 'record')} leaves {plural(number, 'value')} that it does "
            "not hold and that could be fake",
            "take fewer fakes",
        )
    return found


def _rounded(weights: Sequence[float]) -> list[int]:
    """Whole numbers in the same proportions.

    They have a few digits, which do not depend on how a machine rounds.
    """
    least = min(weights, default=1.0)
    whole = [int(Fraction(f"{10**_DIGITS * one / least:.{_DIGITS}e}")) for one in weights]
    return [one // gcd(*whole) for one in whole]
