"""Growing the tree: which box every distinct row ends in, at which levels.

Uses `privacy.refining` and `chance`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.methods.refining.order import RefiningStep
from shoal.privacy.refining import RefiningParameters

__all__ = ["Boxes", "exceed", "grow"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Boxes:
    """A partition of distinct rows into boxes of the domain, each with its levels.

    `box[i]` is the box of distinct row i, and `levels[b, j]` the level of column j in box b. Boxes
    are nested or disjoint. A record lies in the smallest one around it.
    """

    box: Ints
    levels: Ints

    def sizes(self, rows: Counts) -> Ints:
        """How many records each box has."""
        return np.bincount(self.box, rows.count, len(self.levels)).astype(np.int64)


@dataclass(eq=False)
class _Growing:
    """The boxes so far, and which of them every row is in.

    Of every box: its levels, how many tests its path has passed, and whether it is still refined.
    """

    box: Ints
    levels: Ints
    passed: Ints
    is_open: Bools


def grow(
    rows: Counts,
    trees: Sequence[Hierarchy],
    steps: Sequence[RefiningStep],
    parameters: RefiningParameters,
    threshold: int,
    chance: Chance,
) -> Boxes:
    """Refine boxes step by step; what fails a test stays behind in the box it came from.

    `rows` has the leaves of the columns of `trees`. Each step refines one column by one level, from
    the top. Parts without records are not tested: nothing would be released of them.
    """
    top = [[step.level + 1 for step in steps if step.column == j][:1] for j in range(len(trees))]
    levels = [first[0] if first else 0 for first in top]
    state = _Growing(
        box=np.zeros(rows.distinct, dtype=np.int64),
        levels=np.array([levels], dtype=np.int64),
        passed=np.zeros(1, dtype=np.int64),
        is_open=np.ones(1, dtype=np.bool_),
    )
    for step in steps:
        _refine(state, rows, trees[step.column], step, parameters, threshold, chance)
    return _compact(state)


def _refine(
    state: _Growing,
    rows: Counts,
    tree: Hierarchy,
    step: RefiningStep,
    parameters: RefiningParameters,
    threshold: int,
    chance: Chance,
) -> None:
    """Test the parts of all open boxes; those that pass become boxes of their own."""
    active = np.flatnonzero(state.is_open[state.box])
    leaves = rows.codes[step.column][active]
    value = tree.maps[step.level][leaves].astype(np.int64)
    # A part is a box and one of the finer values of the column.
    key = state.box[active] * tree.cardinality(step.level) + value
    parts, first, part = np.unique(key, return_index=True, return_inverse=True)
    size = np.bincount(part, rows.count[active], len(parts)).astype(np.int64)
    box = state.box[active[first]]

    # A value with one finer value is refined without a test: everybody knows what comes out.
    alone = _alone(tree, step.level)[tree.maps[step.level + 1][leaves[first]]]
    tested = np.flatnonzero(~alone)
    biased = size[tested] - state.passed[box[tested]] * parameters.bias
    score = np.maximum(biased, threshold - parameters.cut)
    passes = alone.copy()
    passes[tested] = exceed(score - threshold, parameters, chance)

    # The others of a box stay in it, and are not refined any more.
    failed = np.unique(box[~passes])
    state.is_open[failed] = False
    fresh = np.flatnonzero(passes)
    number = np.full(len(parts), -1, dtype=np.int64)
    number[fresh] = len(state.levels) + np.arange(len(fresh))
    moved = number[part] >= 0
    state.box[active[moved]] = number[part[moved]]

    levels = state.levels[box[fresh]]
    levels[:, step.column] = step.level
    state.levels = np.concatenate([state.levels, levels])
    passed = state.passed[box[fresh]] + ~alone[fresh]
    state.passed = np.concatenate([state.passed, passed])
    state.is_open = np.concatenate([state.is_open, np.ones(len(fresh), dtype=np.bool_)])


def exceed(above: Ints, parameters: RefiningParameters, chance: Chance) -> Bools:
    """Whether scores, each with noise of its own, exceed the threshold that they are told by."""
    noise = chance.discrete_laplaces(parameters.scale, len(above))
    return np.asarray(above + noise > 0, dtype=np.bool_)


def _alone(tree: Hierarchy, level: int) -> Bools:
    """Of every value of the next level, whether it has a single finer value."""
    pairs = np.unique(np.stack([tree.maps[level + 1], tree.maps[level]]), axis=1)
    finer = np.bincount(pairs[0], minlength=tree.cardinality(level + 1))
    return np.asarray(finer == 1)


def _compact(state: _Growing) -> Boxes:
    """Only the boxes that rows have ended in."""
    left, box = np.unique(state.box, return_inverse=True)
    return Boxes(box.astype(np.int64), state.levels[left])
