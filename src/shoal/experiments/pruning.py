"""The search for two bucket sizes with less pruning, to be measured beside the one that is shipped.

The paper compares its search with one that tests every pair of numbers, and with one that leaves
out those that lose more than the best so far. Both find what `solver="two"` finds. Only the
experiments of Wang use this.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Literal, TypeAlias

import numpy as np

from shoal.methods.buckets.problem import Ints, fitting

__all__ = ["Pruning", "Searched", "two_sizes"]

Pruning: TypeAlias = Literal["none", "loss"]

_CHUNK = 4096
"""Pairs of numbers that are tested at a time."""


@dataclass(frozen=True)
class Searched:
    """The least loss with two sizes, if any, and how many pairs of numbers were tested."""

    loss: int | None
    tested: int


def two_sizes(
    counts: Ints, limits: list[Fraction], largest: int, pruning: Pruning = "none"
) -> Searched:
    """The least loss of two different sizes up to `largest`, by testing one pair after another.

    Without pruning, all pairs are tested; with "loss", those that lose less than the best so far,
    up to the first that is valid.
    """
    sizes = np.arange(1, largest + 1)
    fit = fitting(limits, sizes)
    used = sizes[(fit > 0).any(axis=0)].tolist()
    best: int | None = None
    tested = 0
    for small, large in combinations(used, 2):
        fits = fit[:, [small - 1]], fit[:, [large - 1]]
        for numbers, losses in _chunks(int(counts.sum()), small, large):
            if pruning == "loss" and best is not None:
                kept = losses < best
                numbers, losses = numbers[:, kept], losses[kept]
            tested += len(losses)
            valid = _valid(counts, fits, (small, large), numbers)
            if valid.any():
                first = int(losses[valid][0])  # losses grow along the list
                best = first if best is None else min(best, first)
            if pruning == "loss" and (valid.any() or len(losses) < _CHUNK):
                break
    return Searched(best, tested)


def _chunks(records: int, small: int, large: int) -> Iterator[tuple[Ints, Ints]]:
    """All numbers of buckets of two sizes with that many records, in the order of their loss."""
    divisor = gcd(small, large)
    if records % divisor:
        return
    up, down = small // divisor, large // divisor
    second = records // divisor * pow(down, -1, up) % up
    first = (records - large * second) // small
    if first < 0:
        return
    steps = first // down + 1
    for start in range(0, steps, _CHUNK):
        k = np.arange(start, min(start + _CHUNK, steps))
        numbers = np.stack((first - k * down, second + k * up))
        yield numbers, numbers[0] * (small - 1) ** 2 + numbers[1] * (large - 1) ** 2


def _valid(
    counts: Ints, fits: tuple[Ints, Ints], sizes: tuple[int, int], numbers: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Theorem 3 of the paper: every value finds its places, and buckets of both sizes are full."""
    allowed = [fit * number for fit, number in zip(fits, numbers, strict=True)]
    valid = (allowed[0] + allowed[1] >= counts[:, None]).all(axis=0)
    for places, size, number in zip(allowed, sizes, numbers, strict=True):
        valid &= np.minimum(places, counts[:, None]).sum(axis=0) >= size * number
    return np.asarray(valid)
