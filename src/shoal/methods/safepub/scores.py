"""How good a node is for a release by SafePub, as integers that one record can move only a little. Uses `counts`.

A group of c sampled records is released if c ≥ k, so its worth jumps from 0 to c at k: one record could move a score by k.
Here it counts φ(c) = max(0, min(c, 2c − k)) instead, a ramp from k/2 to k, which one record moves by 2 at most. All scores are
exact: integers, or integers over the number of sampled records. How far a record can move each, and why that is
enough for a selection: docs/proofs/safepub.md. The search uses this.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, prod
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import ParameterError, TooLargeError
from shoal.lattice import Node
from shoal.lattice.optimum import Optimum, SmallGroups
from shoal.lattice.rollup import Cells, Floats, Levels, Rollup, Sizes

__all__ = ["SCORES", "Score", "Scores", "candidates", "ramp"]

GRID = (
    1 << 16
)  # a share of a domain is rounded down to a multiple of 1/GRID: the score is that of the rounded shares
FINENESS = 1 << 8  # the importance of a column is one of so many steps
EXACT = 1 << 53  # integers up to this are exact as floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a search: what is public about them.

    names: the released columns, in the order of the counts
    hierarchies: those of the columns that may be generalised; the others are released as they are
    low, high: the lowest and highest level of every column
    classes: the columns to be predicted
    """

    names: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy]
    low: Node
    high: Node
    importance: Mapping[str, int]
    classes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    def node(self, number: int) -> Node:
        """The node with a number, in lexicographic order."""
        levels = []
        for low, high in zip(reversed(self.low), reversed(self.high), strict=True):
            number, step = divmod(number, high - low + 1)
            levels.append(low + step)
        return tuple(reversed(levels))

    def levels(self, node: Node) -> dict[str, int]:
        """The level of every column that may be generalised."""
        by_column = zip(self.names, node, strict=True)
        return {name: level for name, level in by_column if name in self.hierarchies}

    def finer(self, node: Node) -> list[Node]:
        """The nodes one level lower in one column."""
        return [
            (*node[:j], level - 1, *node[j + 1 :])
            for j, level in enumerate(node)
            if level > self.low[j]
        ]

    def rollup(self, sample: Counts, *, last: Sequence[str] = ()) -> Rollup:
        """Group tables over a sample's rows; some columns, which are released as they are, stand last."""
        maps = [
            self.hierarchies[name].maps
            if name in self.hierarchies
            else (np.arange(max(card, 1), dtype=np.uint32),)
            for name, card in zip(self.names, sample.cards, strict=True)
        ]
        first = [j for j, name in enumerate(self.names) if name not in last]
        carried = [sample.codes[self.names.index(name)] for name in last]
        return Rollup(
            [sample.codes[j] for j in first], sample.count, [maps[j] for j in first], carried
        )


def candidates(
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    floor: Mapping[str, int],
    ceiling: Mapping[str, int],
    importance: Mapping[str, Fraction],
    classes: Sequence[str],
) -> Candidates:
    """The candidates, given bounds on the levels of some columns; columns to be predicted stay as they are."""
    for option, given, known in (
        ("floor", floor, hierarchies),
        ("ceiling", ceiling, hierarchies),
        ("importance", importance, hierarchies),
        ("classes", dict.fromkeys(classes), dict.fromkeys(names)),
    ):
        for name in given:
            if name not in known:
                raise ParameterError(
                    f"names {name!r}, which is not one of {', '.join(known)}", option=option
                )
    low, high = [], []
    for name in names:
        height = hierarchies[name].height if name in hierarchies and name not in classes else 0
        least, most = floor.get(name, 0), ceiling.get(name, height)
        if not 0 <= least <= most <= height:
            raise ParameterError(
                f"column {name!r} can have levels 0 to {height}; `floor` and `ceiling` ask for "
                f"{least} to {most}"
            )
        low.append(least)
        high.append(most)
    return Candidates(
        tuple(names),
        hierarchies,
        tuple(low),
        tuple(high),
        _steps(hierarchies, importance),
        tuple(classes),
    )


def _steps(
    hierarchies: Mapping[str, Hierarchy], importance: Mapping[str, Fraction]
) -> dict[str, int]:
    """The importance of columns as small integers in about the same proportion."""
    given = {name: importance.get(name, Fraction(1)) for name in hierarchies}
    most = max(given.values(), default=Fraction(1))
    if min(given.values(), default=most) < 0 or not most:
        raise ParameterError("takes numbers of at least 0, and one above 0", option="importance")
    steps = {name: round(FINENESS * weight / most) for name, weight in given.items()}
    common = reduce(gcd, steps.values(), 0) or 1
    return {name: step // common for name, step in steps.items()}


class Scores(Protocol):
    """The scores of all nodes on one sample: integers, each worth `unit`."""

    @property
    def unit(self) -> Fraction: ...

    def of(self, node: Node) -> int:
        """One node's score."""
        ...

    def permute_and_flip(
        self, chance: Chance, rate: Fraction, progress: Callable[[int, int], None] | None = None
    ) -> Node:
        """The node that permute-and-flip selects of all nodes, where the rate is for scores of 1; `progress` may stop it."""
        ...


class Score(Protocol):
    """A way to score nodes."""

    name: ClassVar[str]

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        """How much more one record, added to a sample, can add to the score of one node than to that of another."""
        ...

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        """The scores on a sample of which groups from k on would be released."""
        ...


def ramp(sizes: Sizes, k: int) -> Floats:
    """φ of every size: 0 up to k/2, the size itself from k on."""
    exact = sizes.astype(np.float64)
    return np.minimum(exact, np.maximum(2 * exact - k, 0))


def _require_exact(largest: float) -> None:
    """Refuse scores of which the largest could not be told from its neighbours as a float."""
    if largest >= EXACT:
        raise TooLargeError(
            "the sample has so many records that scores would not be exact; use another score"
        )


# Sums over records and columns: a node is bounded without grouping anything, so few need to be scored


@dataclass(frozen=True, eq=False)
class _Columnwise:
    """Scores Σ φ(size) · Σ gain of the group's values, where gains do not grow as values get coarser."""

    unit: Fraction
    rollup: Rollup
    low: Levels
    high: Levels
    k: int
    gains: Sequence[Sequence[Floats]]
    """What every code that occurs is worth, for every axis and level."""

    @classmethod
    def on(
        cls,
        nodes: Candidates,
        rollup: Rollup,
        k: int,
        unit: Fraction,
        gains: Callable[[int, int], Floats],
    ) -> "_Columnwise":
        """`gains` gives for a column and a level what every code that occurs is worth."""
        gained = [
            [gains(j, level) for level in range(len(rollup.real[axis]))]
            for axis, j in enumerate(rollup.axes)
        ]
        made = cls(
            unit, rollup, rollup.levels_of(nodes.low), rollup.levels_of(nodes.high), k, gained
        )
        _require_exact(sum(made.most) * rollup.total)
        return made

    @property
    def most(self) -> list[float]:
        """What a value is worth at most, for every axis."""
        return [
            max(float(levels[low].max(initial=0)), 0.0)
            for levels, low in zip(self.gains, self.low, strict=True)
        ]

    def of(self, node: Node) -> int:
        cells = self.rollup.cells(self.rollup.levels_of(node))
        weights = [levels[level] for levels, level in zip(self.gains, cells.levels, strict=True)]
        return int(cells.weigh(weights, ramp(cells.sizes, self.k)))

    def permute_and_flip(
        self, chance: Chance, rate: Fraction, progress: Callable[[int, int], None] | None = None
    ) -> Node:
        k, most = self.k, self.most
        optimum = Optimum(  # of what is lost: all scores are less by the same number
            self.rollup,
            [
                [worth - gain for gain in levels]
                for levels, worth in zip(self.gains, most, strict=True)
            ],
            most,
            # The penalty is c − φ(c).
            SmallGroups(k, lambda sizes: np.maximum(np.minimum(sizes, k - sizes), 0)),
            between=(self.low, self.high),
            tie=0,
            progress=progress,
        )
        optimum.run()
        nobody = np.zeros(0, dtype=np.intp)  # what a node tells about others is of no more use
        chosen = chance.permute_and_flip_lazily(
            -(optimum.plain + optimum.excess).astype(np.int64),
            -int(optimum.best),
            lambda place: -int(optimum.evaluate(optimum.node(place), nobody)),
            rate * self.unit,
        )
        return self.rollup.columns_of(optimum.node(chosen))


@dataclass(frozen=True)
class GranularityScore:
    """Σ over records and columns of the share of the domain that a value does not cover."""

    name: ClassVar[str] = "granularity"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        most = sum(
            int(max(map(max, weights), default=0)) for weights in self._gains(nodes).values()
        )
        return Fraction(
            max(2 * most, 1)
        )  # where no value is worth anything, no record moves a score: any spread will do

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        gains, rollup = self._gains(nodes), nodes.rollup(sample)
        return _Columnwise.on(
            nodes,
            rollup,
            k,
            Fraction(1),
            lambda j, level: _seen(rollup, j, level, gains.get(nodes.names[j])),
        )

    def _gains(self, nodes: Candidates) -> dict[str, list[npt.NDArray[np.int64]]]:
        return {
            name: [
                (tree.leaves - np.asarray(tree.cover(level), dtype=np.int64))
                * GRID
                // tree.leaves
                * nodes.importance[name]
                for level in range(tree.height + 1)
            ]
            for name, tree in nodes.hierarchies.items()
        }


@dataclass(frozen=True)
class IntensityScore(GranularityScore):
    """Σ over records and columns of the share of its hierarchy's height that a value is below the root."""

    name: ClassVar[str] = "intensity"

    def _gains(self, nodes: Candidates) -> dict[str, list[npt.NDArray[np.int64]]]:
        return {
            name: [
                np.full(
                    tree.cardinality(level),
                    (tree.height - level) * GRID // max(tree.height, 1) * nodes.importance[name],
                )
                for level in range(tree.height + 1)
            ]
            for name, tree in nodes.hierarchies.items()
        }


def _seen(
    rollup: Rollup, j: int, level: int, gains: Sequence[npt.NDArray[np.int64]] | None
) -> Floats:
    """The gains of those codes that occur."""
    codes = rollup.real[rollup.axes.index(j)][level]
    return np.zeros(len(codes)) if gains is None else gains[level][codes].astype(np.float64)


# All others: every node is scored


@dataclass(frozen=True, eq=False)
class _NodeByNode:
    nodes: Candidates
    unit: Fraction
    rollup: Rollup
    score: Callable[[Cells], float]

    def of(self, node: Node) -> int:
        return int(self.score(self.rollup.cells(self._levels(node))))

    def permute_and_flip(
        self, chance: Chance, rate: Fraction, progress: Callable[[int, int], None] | None = None
    ) -> Node:
        nodes: list[Levels] = []
        scores: list[int] = []
        for cells in self.rollup.walk(self._levels(self.nodes.low), self._levels(self.nodes.high)):
            if progress is not None and len(nodes) % 64 == 0:
                progress(len(nodes), self.nodes.size)
            nodes.append(cells.levels)
            scores.append(int(self.score(cells)))
        chosen = nodes[chance.permute_and_flip(np.array(scores, dtype=np.int64), rate * self.unit)]
        node = list(self.nodes.low)
        for j, level in zip(self._columns(), chosen, strict=False):
            node[j] = level
        return tuple(node)

    def _columns(self) -> Iterator[int]:
        """The column of every axis; those to be predicted, which are carried, have none."""
        columns = [j for j, name in enumerate(self.nodes.names) if name not in self.nodes.classes]
        return (columns[place] for place in self.rollup.axes)

    def _levels(self, node: Node) -> Levels:
        carried = len(self.rollup.real) - len(self.rollup.axes)
        return (*(node[j] for j in self._columns()), *(0,) * carried)


@dataclass(frozen=True)
class DiscernibilityScore:
    """Σ φ(size) · (1 − size / n): for how many of the n sampled records a kept record is told apart from them."""

    name: ClassVar[str] = "discernibility"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(3)

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        rollup = nodes.rollup(sample)
        _require_exact(rollup.total**2)

        def score(cells: Cells) -> float:
            kept = ramp(cells.sizes, k)
            return rollup.total * float(kept.sum()) - float((kept * cells.sizes).sum())

        return _NodeByNode(nodes, Fraction(1, max(int(rollup.total), 1)), rollup, score)


@dataclass(frozen=True)
class EntropyScore:
    """How varied columns are: Σ over columns and values of Φ · (1 − Φ / n), with Φ = Σ φ(size) over the value's groups."""

    name: ClassVar[str] = "entropy"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(4 * sum(nodes.importance.values()))

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        rollup = nodes.rollup(sample)
        importance = [nodes.importance.get(nodes.names[j], 0) for j in rollup.axes]
        _require_exact(rollup.total**2 * sum(importance))

        def score(cells: Cells) -> float:
            kept = cells.marginals(ramp(cells.sizes, k))
            return sum(
                weight * float((values * (rollup.total - values)).sum())
                for weight, values in zip(importance, kept, strict=True)
            )

        return _NodeByNode(nodes, Fraction(1, max(int(rollup.total), 1)), rollup, score)


@dataclass(frozen=True)
class GroupCount:
    """The number of groups, those on the ramp in part: Σ min(k, max(0, 2·size − k)), in units of 1/k."""

    name: ClassVar[str] = "groups"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(2)

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        return _NodeByNode(
            nodes,
            Fraction(1),
            nodes.rollup(sample),
            lambda cells: float(np.clip(2 * cells.sizes.astype(np.float64) - k, 0, k).sum()),
        )


@dataclass(frozen=True)
class Classification:
    """How many records have their feature group's most frequent class, Σ max φ; added up over the columns to be predicted."""

    name: ClassVar[str] = "classification"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(2 * len(nodes.classes))

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        rollup = nodes.rollup(sample, last=nodes.classes)
        features = len(rollup.axes)
        cards = [len(real[0]) for real in rollup.real[features:]]

        def score(cells: Cells) -> float:
            if cells.keys is not None or cells.wide is not None:
                group, sizes = cells.group_of(features), ramp(cells.sizes, k)
                kept = np.zeros((int(group[-1]) + 1 if len(group) else 0, *cards, 1))
                place: Any = (
                    group,
                    *(cells.codes(features + each) for each in range(len(cards))),
                    0,
                )
                kept[place] = sizes
            else:  # an array of all cells, with the classes behind the features, and perhaps groups of other features behind all
                kept = ramp(cells.sizes, k).reshape(
                    -1, *cards, 1 if cells.outer is None else len(cells.outer.keys)
                )
            found = 0.0
            for its in range(1, len(cards) + 1):
                others = tuple(other for other in range(1, len(cards) + 1) if other != its)
                found += float(kept.sum(axis=others).max(axis=1, initial=0).sum())
            return found

        return _NodeByNode(nodes, Fraction(1), rollup, score)


SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        GranularityScore(),
        IntensityScore(),
        DiscernibilityScore(),
        EntropyScore(),
        GroupCount(),
        Classification(),
    )
}
"""Every score by its name."""
