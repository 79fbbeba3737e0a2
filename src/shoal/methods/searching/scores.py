"""How good a node is for a release, as integers that one record can move only a little.

A group of c sampled records is released if c ≥ k, so its worth jumps from 0 to c at k: one record
could move a score by k. Here it counts φ(c) = max(0, min(c, 2c − k)) instead, a ramp from k/2 to k,
which one record moves by 2 at most. All scores are exact, integers, or integers over the number of
sampled records. How far a record can move each, and why that is enough for a selection:
docs/proofs/safepub.md. Uses `counts` and `lattice`; the search uses it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, log, log2, prod
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arguments import described
from shoal.chance import Chance
from shoal.counts import Codes, Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import ParameterError, TooLargeError, listed
from shoal.lattice import Node
from shoal.lattice.optimum import Optimum, SmallGroups
from shoal.lattice.rollup import Cells, Floats, Levels, Rollup, Sizes

__all__ = [
    "SCORES",
    "Candidates",
    "NodeByNode",
    "Score",
    "Scores",
    "candidates",
    "ramp",
    "require_score",
    "score_of",
]

Gains = npt.NDArray[np.int64]
"""What codes are worth, in units of 1/GRID."""

GRID = 1 << 16
"""Shares of a domain are rounded down to multiples of 1/GRID, and these are scored."""

FINENESS = 1 << 8
"""The importance of a column is one of this many steps."""

FINEST = 1 << 29
"""What no record's information is above as a whole number: the larger, the finer it is rounded."""

EXACT = 1 << 53
"""Integers up to this are exact as floats."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a search: what is public about them.

    names: the released columns, in the order of the counts
    hierarchies: those of the columns that may be generalised; the others are released unchanged
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
        bounds = zip(self.low, self.high, strict=True)
        return prod(high - low + 1 for low, high in bounds)

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

    @property
    def ranges(self) -> dict[str, range]:
        """The levels of every column that may be generalised."""
        bounds = zip(self.names, self.low, self.high, strict=True)
        return {
            name: range(low, high + 1) for name, low, high in bounds if name in self.hierarchies
        }

    def finer(self, node: Node) -> list[Node]:
        """The nodes one level lower in one column."""
        return [
            (*node[:j], level - 1, *node[j + 1 :])
            for j, level in enumerate(node)
            if level > self.low[j]
        ]

    def rollup(self, sample: Counts, *, last: Sequence[str] = ()) -> Rollup:
        """Group tables over a sample's rows; `last` are columns released unchanged."""
        maps: list[Sequence[Codes]] = []
        for name, card in zip(self.names, sample.cards, strict=True):
            if name in self.hierarchies:
                maps.append(self.hierarchies[name].maps)
            else:
                maps.append((np.arange(max(card, 1), dtype=np.uint32),))
        first = [j for j, name in enumerate(self.names) if name not in last]
        codes = [sample.codes[j] for j in first]
        carried = [sample.column(name) for name in last]
        return Rollup(codes, sample.count, [maps[j] for j in first], carried)


def candidates(
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    floor: Mapping[str, int],
    ceiling: Mapping[str, int],
    importance: Mapping[str, Fraction],
    classes: Sequence[str],
) -> Candidates:
    """The candidates, by bounds on the levels of columns; those to be predicted stay unchanged."""
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
        """The node that permute-and-flip selects of all; the rate is for scores of 1.

        `progress` may stop it.
        """
        ...


class Score(Protocol):
    """A way to score nodes."""

    name: ClassVar[str]

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        """How much more an added record can add to one node's score than to another's."""
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
            "the sample has so many records that scores would not be exact", "use another score"
        )


# Sums over records and columns: a node is bounded without any grouping, so few need to be scored


@dataclass(frozen=True, eq=False)
class _Columnwise:
    """Scores Σ φ(size) · Σ gain of the group's values; gains do not grow as values get coarser."""

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
        by_axis = []
        for axis, j in enumerate(rollup.axes):
            levels = range(len(rollup.real[axis]))
            by_axis.append([gains(j, level) for level in levels])
        low, high = rollup.levels_of(nodes.low), rollup.levels_of(nodes.high)
        scores = cls(unit, rollup, low, high, k, by_axis)
        _require_exact(sum(scores.most) * rollup.total)
        return scores

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
        by_axis = zip(self.gains, most, strict=True)
        # What is lost: all scores are less by the same number.
        lost = [[worth - gain for gain in levels] for levels, worth in by_axis]

        def penalty(sizes: Sizes) -> Sizes:
            """c − φ(c)."""
            return np.maximum(np.minimum(sizes, k - sizes), 0)

        optimum = Optimum(
            self.rollup,
            lost,
            most,
            SmallGroups(k, penalty),
            between=(self.low, self.high),
            tie=0,
            progress=progress,
        )
        optimum.run()
        # What a node says about others is of no more use.
        nobody = np.zeros(0, dtype=np.intp)
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
        by_column = self._gains(nodes).values()
        most = sum(int(max(map(max, gains), default=0)) for gains in by_column)
        # Where no value is worth anything, no record moves a score: any spread will do.
        return Fraction(max(2 * most, 1))

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        gains, rollup = self._gains(nodes), nodes.rollup(sample)

        def occurring(j: int, level: int) -> Floats:
            return _occurring(rollup, j, level, gains.get(nodes.names[j]))

        return _Columnwise.on(nodes, rollup, k, Fraction(1), occurring)

    def _gains(self, nodes: Candidates) -> dict[str, list[Gains]]:
        """What every code is worth, for every column that may be generalised and every level."""
        gains = {}
        for name, tree in nodes.hierarchies.items():
            levels = range(tree.height + 1)
            shares = [self._shares(tree, level) for level in levels]
            gains[name] = [share * nodes.importance[name] for share in shares]
        return gains

    def _shares(self, tree: Hierarchy, level: int) -> Gains:
        """What every code at a level is worth, in units of 1/GRID."""
        uncovered: Gains = tree.leaves - np.asarray(tree.cover(level), dtype=np.int64)
        return uncovered * GRID // tree.leaves


@dataclass(frozen=True)
class IntensityScore(GranularityScore):
    """Σ over records and columns of how far a value is below its root, as a share of the height."""

    name: ClassVar[str] = "intensity"

    def _shares(self, tree: Hierarchy, level: int) -> Gains:
        below = (tree.height - level) * GRID // max(tree.height, 1)
        return np.full(tree.cardinality(level), below)


@dataclass(frozen=True)
class EntropyScore:
    """Σ over records and columns of the information of a value: what its being there tells.

    Of n sampled records F have the value. Its information is 1/F + 1/(F + 1) + … + 1/(n − 1), which
    is close to ln(n/F), and at most that of one of as many equally frequent values as the column
    can have.
    """

    name: ClassVar[str] = "entropy"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        one, most = self._most(nodes)
        moved = [
            nodes.importance[name] * 2 * (information + one)
            for name, information in most.items()
            if information
        ]
        # Where no value is worth anything, no record moves a score: any spread will do.
        return Fraction(max(sum(moved), 1))

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        one, most = self._most(nodes)
        rollup = nodes.rollup(sample)
        records = int(rollup.total)
        _require_exact(records * FINEST)
        steps = one // np.arange(1, max(records, 1), dtype=np.int64)
        # For F from 1 on, the sum of the steps before it.
        summed = np.concatenate(([0, 0], np.cumsum(steps)))

        def information(j: int, level: int) -> Floats:
            name = nodes.names[j]
            frequency = rollup.marginal(rollup.axes.index(j), level).astype(np.int64)
            told = np.minimum(summed[records] - summed[frequency], most.get(name, 0))
            worth: Gains = told * nodes.importance.get(name, 0)
            return worth.astype(np.float64)

        return _Columnwise.on(nodes, rollup, k, Fraction(1), information)

    def _most(self, nodes: Candidates) -> tuple[int, dict[str, int]]:
        """The number that stands for 1, and the most that a value of each column may tell."""
        logarithms = {name: log(tree.leaves) for name, tree in nodes.hierarchies.items()}
        together = sum(nodes.importance[name] * each for name, each in logarithms.items())
        one = 1 << int(log2(FINEST / max(together, 1)))
        return one, {name: int(one * each) for name, each in logarithms.items()}


def _occurring(rollup: Rollup, j: int, level: int, gains: Sequence[Gains] | None) -> Floats:
    """The gains of those codes that occur."""
    codes = rollup.real[rollup.axes.index(j)][level]
    if gains is None:
        return np.zeros(len(codes))
    return gains[level][codes].astype(np.float64)


# All others: every node is scored


@dataclass(frozen=True, eq=False)
class NodeByNode:
    """Scores that are computed from the groups of each node."""

    nodes: Candidates
    unit: Fraction
    rollup: Rollup
    score: Callable[[Cells], float]

    def of(self, node: Node) -> int:
        return int(self.score(self.rollup.cells(self._levels(node))))

    def permute_and_flip(
        self, chance: Chance, rate: Fraction, progress: Callable[[int, int], None] | None = None
    ) -> Node:
        walked: list[Levels] = []
        scores: list[int] = []
        low, high = self._levels(self.nodes.low), self._levels(self.nodes.high)
        for cells in self.rollup.walk(low, high):
            if progress is not None and len(walked) % 64 == 0:
                progress(len(walked), self.nodes.size)
            walked.append(cells.levels)
            scores.append(int(self.score(cells)))
        chosen = chance.permute_and_flip(np.array(scores, dtype=np.int64), rate * self.unit)
        node = list(self.nodes.low)
        for j, level in zip(self._columns(), walked[chosen], strict=False):
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
    """Σ φ(size) · (1 − size / n): from how many of n sampled records a kept one is told apart."""

    name: ClassVar[str] = "discernibility"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(3)

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        rollup = nodes.rollup(sample)
        _require_exact(rollup.total**2)

        def score(cells: Cells) -> float:
            kept = ramp(cells.sizes, k)
            alike = float((kept * cells.sizes).sum())
            return rollup.total * float(kept.sum()) - alike

        return NodeByNode(nodes, Fraction(1, max(int(rollup.total), 1)), rollup, score)


@dataclass(frozen=True)
class GroupCountScore:
    """The number of groups, those on the ramp in part: Σ min(k, max(0, 2·size − k)), by 1/k."""

    name: ClassVar[str] = "groups"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(2)

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        def score(cells: Cells) -> float:
            sizes = cells.sizes.astype(np.float64)
            return float(np.clip(2 * sizes - k, 0, k).sum())

        return NodeByNode(nodes, Fraction(1), nodes.rollup(sample), score)


@dataclass(frozen=True)
class ClassificationScore:
    """How many records have their feature group's most frequent class: Σ max φ.

    It is added up over the columns to be predicted.
    """

    name: ClassVar[str] = "classification"

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return Fraction(2 * len(nodes.classes))

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        rollup = nodes.rollup(sample, last=nodes.classes)
        features = len(rollup.axes)
        cards = [len(real[0]) for real in rollup.real[features:]]

        def score(cells: Cells) -> float:
            kept = _by_class(cells, features, cards, k)
            classes = range(1, len(cards) + 1)
            right = 0.0
            for predicted in classes:
                others = tuple(other for other in classes if other != predicted)
                by_value = kept.sum(axis=others)
                right += float(by_value.max(axis=1, initial=0).sum())
            return right

        return NodeByNode(nodes, Fraction(1), rollup, score)


def _by_class(cells: Cells, features: int, cards: Sequence[int], k: int) -> Floats:
    """φ of every group of features (the first axis) and combination of classes.

    The last axis is of groups of other features, where the cells have such.
    """
    sizes = ramp(cells.sizes, k)
    if cells.keys is None and cells.wide is None:
        # An array of all cells, with the classes behind the features.
        outer = 1 if cells.outer is None else len(cells.outer.keys)
        return sizes.reshape(-1, *cards, outer)
    group = cells.group_of(features)
    groups = int(group[-1]) + 1 if len(group) else 0
    kept = np.zeros((groups, *cards, 1))
    classes = [cells.codes(features + each) for each in range(len(cards))]
    place: Any = (group, *classes, 0)
    kept[place] = sizes
    return kept


def score_of(score: Score | str) -> Score:
    """The score that a method goes by: one of these by its name, or the owner's own."""
    return SCORES[score] if isinstance(score, str) else score


def require_score(score: Score | str, classes: Sequence[str]) -> None:
    """ParameterError if there is no such score, or if it does not go with the classes."""
    if not isinstance(score, str):
        if score.name in SCORES or not re.fullmatch(r"[a-z][a-z0-9-]{0,59}", score.name):
            raise ParameterError(
                f"is {described(score)}, whose name a certificate cannot have",
                "a score of your own takes a name of its own, of small letters, digits and hyphens",
                option="score",
            )
        return
    if score not in SCORES:
        raise ParameterError(f"is {score!r}", f"known are {listed(SCORES)}", option="score")
    if (score == "classification") != bool(classes):
        raise ParameterError(
            "names the columns to be predicted, and goes with the score 'classification' only",
            option="classes",
        )


SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        GranularityScore(),
        IntensityScore(),
        DiscernibilityScore(),
        EntropyScore(),
        GroupCountScore(),
        ClassificationScore(),
    )
}
"""Every score by its name."""
