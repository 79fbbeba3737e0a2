"""Which column is refined next: an order of steps from the ceilings of columns to their floors.

A step is worth what it adds to the granularity of a value, and costs what it adds to the entropy
of its column, which is by how much it makes boxes smaller. Both need the shares of the leaves:
equal ones where only the hierarchies are known, or noisy ones that were bought. Uses `chance`;
`tree` uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.exact.epsilon import Epsilon
from shoal.privacy.noise import noise_scale

__all__ = ["Refinable", "RefiningOrder", "RefiningStep", "bought_order", "public_order"]

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-9
"""Entropy below which a step costs nothing."""

_ENOUGH = 2
"""How many crowds a part should have, and how many biases more, to become a box (measured)."""

_LOWEST = -4
"""The lowest threshold, in biases (measured)."""


@dataclass(frozen=True)
class RefiningStep:
    """Refine a column from the level above to this one."""

    column: int
    above: int
    level: int


@dataclass(frozen=True, eq=False)
class Refinable:
    """The columns that are refined.

    levels: of every column, the levels that it goes through, from its ceiling to its floor
    importance: how much each column counts
    """

    trees: Sequence[Hierarchy]
    levels: Sequence[Sequence[int]]
    importance: Sequence[float]

    @classmethod
    def wholly(cls, trees: Sequence[Hierarchy]) -> "Refinable":
        """From the roots to the leaves through every level, all columns alike."""
        levels = [range(tree.height, -1, -1) for tree in trees]
        return cls(trees, levels, [1.0] * len(trees))

    @property
    def tops(self) -> list[int]:
        """The level of every column before the first step."""
        return [levels[0] for levels in self.levels]

    @property
    def steps(self) -> int:
        """How many steps lead from the ceilings to the floors."""
        return sum(len(levels) - 1 for levels in self.levels)


@dataclass(frozen=True, eq=False)
class RefiningOrder:
    """The steps, and what is known about the numbers of records that they leave together.

    Of records in a table of independent columns, the logarithm of how many share a record's box
    falls by `fall[i]` on average with the first i + 1 steps.
    """

    steps: tuple[RefiningStep, ...]
    fall: tuple[float, ...]
    records: int
    """About how many records there are."""

    def threshold(self, crowd: Fraction | int, bias: int) -> int:
        """The threshold with which boxes are refined as long as enough records share them.

        The bias of a test grows with every step. So the threshold lies below what is wanted by as
        many biases as steps leave enough records to most; but not far below 0, where boxes of few
        records would pass the first tests, be refined, and be lost.
        """
        wanted = _ENOUGH * crowd
        few = log(max(self.records, 1)) - log(max(wanted, 1))
        steps = sum(_NOTHING < fall < few for fall in self.fall)
        return max(floor(wanted) + (_ENOUGH - steps) * bias, _LOWEST * bias)


def public_order(columns: Refinable, records: int = 1) -> RefiningOrder:
    """The order by what is public: all leaves of a column count as equally frequent."""
    shares = [np.full(len(tree.maps[0]), 1 / len(tree.maps[0])) for tree in columns.trees]
    return _order(columns, shares, records)


def bought_order(
    rows: Counts, columns: Refinable, epsilon: Epsilon, chance: Chance
) -> RefiningOrder:
    """The order by noisy numbers of records by leaf, for every column: together they spend ε.

    `rows` has the leaves of these columns.
    """
    scale = noise_scale(epsilon * Fraction(1, max(len(columns.trees), 1)))
    sizes = [len(tree.maps[0]) for tree in columns.trees]
    noise = np.split(chance.discrete_laplaces(scale, sum(sizes)), np.cumsum(sizes)[:-1])
    shares, totals = [], []
    for codes, leaves, own in zip(rows.codes, sizes, noise, strict=True):
        noisy = np.bincount(codes, rows.count, leaves).astype(np.int64) + own
        positive = np.maximum(noisy, 0).astype(np.float64)
        total = positive.sum()
        shares.append(positive / total if total else np.full(leaves, 1 / leaves))
        totals.append(int(noisy.sum()))
    about = sum(totals) // max(len(totals), 1)
    return _order(columns, shares, max(about, 1))


def _order(columns: Refinable, shares: Sequence[Floats], records: int) -> RefiningOrder:
    """The step of the best worth per cost first, among those that are next in their columns."""
    trees = columns.trees
    waiting = [list(pairwise(levels))[::-1] for levels in columns.levels]
    entropies = [
        _entropy(_at(tree, share, top))
        for tree, share, top in zip(trees, shares, columns.tops, strict=True)
    ]

    def worth(j: int) -> tuple[float, int]:
        """Of the next step of a column. Ties are decided by the order of columns, it is public."""
        return columns.importance[j] * _worth(trees[j], shares[j], *waiting[j][-1]), -j

    steps: list[RefiningStep] = []
    fall = []
    for _ in range(columns.steps):
        best = max((j for j in range(len(trees)) if waiting[j]), key=worth)
        above, level = waiting[best].pop()
        steps.append(RefiningStep(best, above, level))
        entropies[best] = _entropy(_at(trees[best], shares[best], level))
        fall.append(sum(entropies))
    return RefiningOrder(tuple(steps), tuple(fall), records)


def _worth(tree: Hierarchy, shares: Floats, above: int, level: int) -> float:
    """What a refinement to a level adds to granularity, over what it adds to entropy."""
    coarse, fine = (_at(tree, shares, each) for each in (above, level))
    covered = [tree.cover(each) / tree.leaves for each in (above, level)]
    gain = float((coarse * covered[0]).sum() - (fine * covered[1]).sum())
    return gain / max(_entropy(fine) - _entropy(coarse), _NOTHING)


def _at(tree: Hierarchy, shares: Floats, level: int) -> Floats:
    return np.bincount(tree.maps[level], shares, tree.cardinality(level)).astype(np.float64)


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())
