"""Which column is refined next: an order of steps from the top of the lattice to its bottom.

A step is worth what it adds to the granularity of a value, and costs what it adds to the entropy
of its column, which is by how much it makes boxes smaller. Both need the shares of the leaves:
equal ones where only the hierarchies are known, or noisy ones that were bought.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.exact.epsilon import Epsilon
from shoal.privacy.noise import noise_scale

__all__ = ["RefiningStep", "bought_order", "marginals", "public_order"]

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-9
"""Entropy below which a step costs nothing."""


@dataclass(frozen=True)
class RefiningStep:
    """Refine a column from the next level to this one."""

    column: int
    level: int


def public_order(
    trees: Sequence[Hierarchy],
    low: Sequence[int],
    high: Sequence[int],
    importance: Sequence[float] | None = None,
) -> tuple[RefiningStep, ...]:
    """The order by what is public: all leaves of a column count as equally frequent."""
    shares = [np.full(tree.leaves, 1 / tree.leaves) for tree in trees]
    return _order(trees, shares, low, high, importance)


def bought_order(
    trees: Sequence[Hierarchy],
    bought: Sequence[Floats],
    low: Sequence[int],
    high: Sequence[int],
    importance: Sequence[float] | None = None,
) -> tuple[RefiningStep, ...]:
    """The order by shares that were bought: `bought[j]` are noisy numbers of records by leaf."""
    shares = []
    for tree, numbers in zip(trees, bought, strict=True):
        positive = np.maximum(numbers, 0.0)
        total = positive.sum()
        equal = np.full(tree.leaves, 1 / tree.leaves)
        shares.append(positive / total if total > 0 else equal)
    return _order(trees, shares, low, high, importance)


def marginals(
    rows: Counts, trees: Sequence[Hierarchy], epsilon: Epsilon, chance: Chance
) -> list[Floats]:
    """Noisy numbers of records by leaf, for every column: together they spend ε."""
    scale = noise_scale(epsilon * Fraction(1, max(len(trees), 1)))
    noisy = []
    for codes, tree in zip(rows.codes, trees, strict=True):
        true = np.bincount(codes, rows.count, tree.leaves).astype(np.int64)
        noisy.append((true + chance.discrete_laplaces(scale, tree.leaves)).astype(np.float64))
    return noisy


def _order(
    trees: Sequence[Hierarchy],
    shares: Sequence[Floats],
    low: Sequence[int],
    high: Sequence[int],
    importance: Sequence[float] | None,
) -> tuple[RefiningStep, ...]:
    """The step of the best worth per cost first, among those that are next in their columns."""
    weight = [1.0] * len(trees) if importance is None else list(importance)
    worth: Mapping[tuple[int, int], float] = {
        (j, level): weight[j] * _worth(tree, shares[j], level)
        for j, tree in enumerate(trees)
        for level in range(low[j], high[j])
    }
    levels = list(high)
    steps: list[RefiningStep] = []
    while True:
        open_ones = [j for j in range(len(trees)) if levels[j] > low[j]]
        if not open_ones:
            return tuple(steps)
        # Ties are decided by the order of columns, which is public.
        best = max(open_ones, key=lambda j: (worth[j, levels[j] - 1], -j))
        levels[best] -= 1
        steps.append(RefiningStep(best, levels[best]))


def _worth(tree: Hierarchy, shares: Floats, level: int) -> float:
    """What a refinement to a level adds to granularity, over what it adds to entropy."""
    coarse, fine = (_at(tree, shares, each) for each in (level + 1, level))
    covered = [tree.cover(each) / tree.leaves for each in (level + 1, level)]
    gain = float((coarse * covered[0]).sum() - (fine * covered[1]).sum())
    return gain / max(_entropy(fine) - _entropy(coarse), _NOTHING)


def _at(tree: Hierarchy, shares: Floats, level: int) -> Floats:
    return np.bincount(tree.maps[level], shares, tree.cardinality(level)).astype(np.float64)


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())
