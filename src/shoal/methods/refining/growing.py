"""Growing the tree: which box every distinct row ends in, after which number of steps.

Uses `privacy.refining` and `chance`; `tree` uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts, ranks
from shoal.data.hierarchy.tree import Hierarchy
from shoal.methods.refining.order import Refinable, RefiningStep
from shoal.privacy.refining import RefiningParameters

__all__ = ["Boxes", "chain", "exceed", "grow"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_AHEAD = 1 << 12
"""How many draws of noise are made at once."""

_DENSE = 4
"""Possible parts per row up to which an array of all of them costs less than sorting the rows."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """A partition of distinct rows into boxes of the domain, each refined by some of the steps.

    `box[i]` is the box of distinct row i, and `depth[b]` the number of steps that box b is refined
    by; `levels[d]` are the levels of all columns after d steps. Boxes are nested or disjoint. A
    record lies in the smallest one around it.
    """

    box: Ints
    depth: Ints
    levels: Ints

    def sizes(self, rows: Counts) -> Ints:
        """How many records each box has."""
        return np.bincount(self.box, rows.count, len(self.depth)).astype(np.int64)

    def row_levels(self, column: int) -> Ints:
        """The level of every distinct row in a column."""
        by_box = self.levels[self.depth, column]
        return np.asarray(by_box[self.box])


def chain(columns: Refinable, steps: Sequence[RefiningStep]) -> Ints:
    """The levels of all columns after 0, 1, 2, … steps, from the ceilings to the floors."""
    nodes = [columns.tops]
    for step in steps:
        node = list(nodes[-1])
        node[step.column] = step.level
        nodes.append(node)
    return np.array(nodes, dtype=np.int64).reshape(len(nodes), len(columns.trees))


class Laplaces(Protocol):
    """What discrete Laplace noise can be had from."""

    def discrete_laplaces(self, scale: Fraction, size: int) -> Ints:
        """Independent noise of a scale."""
        ...


class _Ahead:
    """Noise drawn ahead: one large draw costs less than many small ones."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.drawn = np.zeros(0, dtype=np.int64)

    def discrete_laplaces(self, scale: Fraction, size: int) -> Ints:
        """Noise that nobody has seen yet, always of the same scale."""
        if len(self.drawn) < size:
            more = self.chance.discrete_laplaces(scale, max(size, _AHEAD))
            self.drawn = np.concatenate([self.drawn, more])
        taken, self.drawn = self.drawn[:size], self.drawn[size:]
        return taken


@dataclass(eq=False)
class _Growing:
    """The boxes so far.

    box: the box of every distinct row
    depth: by how many steps each box is refined
    active: the rows of boxes that are still refined
    place: which of these boxes each active row is in
    passed: how many tests the path to each of them has passed
    """

    box: Ints
    depth: list[Ints]
    active: Ints
    place: Ints
    passed: Ints

    @property
    def number(self) -> int:
        """How many boxes there are so far."""
        return sum(map(len, self.depth))


def grow(
    rows: Counts,
    columns: Refinable,
    steps: Sequence[RefiningStep],
    parameters: RefiningParameters,
    threshold: int,
    chance: Chance,
) -> Boxes:
    """Refine boxes step by step; what fails a test stays behind in the box it came from.

    `rows` has the leaves of the columns. The first boxes are the cells of the domain at the
    ceilings. Each step refines one column. Parts without records are not tested:
    nothing would be released of them.
    """
    tops = list(zip(columns.trees, columns.tops, rows.codes, strict=True))
    cells = [tree.maps[level][codes] for tree, level, codes in tops]
    first = ranks(cells, [tree.cardinality(level) for tree, level, _ in tops]).astype(np.int64)
    boxes = int(first.max(initial=-1)) + 1
    state = _Growing(
        box=first,
        depth=[np.zeros(boxes, dtype=np.int64)],
        active=np.arange(rows.distinct),
        place=first.copy(),
        passed=np.zeros(boxes, dtype=np.int64),
    )
    noise = _Ahead(chance)
    for done, step in enumerate(steps, 1):
        _refine(state, rows, columns.trees[step.column], step, parameters, threshold, noise)
        state.depth.append(np.full(len(state.passed), done, dtype=np.int64))
    # Only the boxes that rows have ended in are of interest.
    depth = np.concatenate(state.depth)
    left, box = _numbered(state.box, len(depth))
    return Boxes(box, depth[left], chain(columns, steps))


def _refine(
    state: _Growing,
    rows: Counts,
    tree: Hierarchy,
    step: RefiningStep,
    parameters: RefiningParameters,
    threshold: int,
    noise: Laplaces,
) -> None:
    """Test the parts of all boxes that are still refined; those that pass become such boxes.

    The others of a box stay in it, and it is not refined any more.
    """
    values = tree.cardinality(step.level)
    leaves = rows.codes[step.column][state.active]
    # A part is a box and one of the finer values of the column.
    key = state.place * values + tree.maps[step.level][leaves]
    parts, part = _numbered(key, len(state.passed) * values)
    size = np.bincount(part, rows.count[state.active], len(parts)).astype(np.int64)
    passed = state.passed[parts // values]

    # A value with one finer value is refined without a test: everybody knows what comes out.
    alone = _alone(tree, step)[parts % values]
    tested = np.flatnonzero(~alone)
    biased = size[tested] - passed[tested] * parameters.bias
    score = np.maximum(biased, threshold - parameters.cut)
    passes = alone.copy()
    passes[tested] = exceed(score - threshold, parameters, noise)

    fresh = np.cumsum(passes) - 1
    moved = passes[part]
    place = fresh[part[moved]]
    active = state.active[moved]
    state.box[active] = state.number + place
    state.active, state.place = active, place
    state.passed = (passed + ~alone)[passes]


def _numbered(key: Ints, cells: int) -> tuple[Ints, Ints]:
    """The distinct keys in their order, and the number of every key among them."""
    if cells > _DENSE * len(key):
        return np.unique(key, return_inverse=True)
    present = np.zeros(cells, dtype=np.bool_)
    present[key] = True
    number = np.cumsum(present) - 1
    return np.flatnonzero(present), number[key]


def exceed(above: Ints, parameters: RefiningParameters, chance: Laplaces) -> Bools:
    """Whether scores, each with noise of its own, exceed the threshold that they are told by."""
    noise = chance.discrete_laplaces(parameters.scale, len(above))
    return np.asarray(above + noise > 0, dtype=np.bool_)


def _alone(tree: Hierarchy, step: RefiningStep) -> Bools:
    """Of every value, whether it is the only finer one of its value at the level above."""
    coarser = np.zeros(tree.cardinality(step.level), dtype=np.int64)
    coarser[tree.maps[step.level]] = tree.maps[step.above]
    finer = np.bincount(coarser, minlength=tree.cardinality(step.above))
    return np.asarray(finer[coarser] == 1)
