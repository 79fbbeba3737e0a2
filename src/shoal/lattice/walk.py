"""The groups of every node of a lattice, each rolled up from those of a node one level finer.

Depth first over the axes, and as soon as the rest of them fits an array not much larger than the
table, all nodes of that rest at once by adding slices of the array: a *block*. Uses `tables`;
`rollup` uses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.counts import PACK, last_of_runs
from shoal.lattice.cells import Cells, Outer
from shoal.lattice.coding import Coding, Levels, Sizes, raised
from shoal.lattice.tables import GroupTable, GroupTables

__all__ = ["walk"]

BLOCK = 12
"""An array may have this many times as many places as it has groups."""

DIMENSIONS = 60
"""Of an array; numpy has at most 64."""


def walk(tables: GroupTables, low: Levels, high: Levels) -> Iterator[Cells]:
    """The groups of every node between two."""
    return _walk(tables, tables.cells(low).compact, 0, high)


def _walk(tables: GroupTables, cells: Cells, axis: int, high: Levels) -> Iterator[Cells]:
    """All nodes between the levels of some cells and the highest, with the first axes fixed.

    Axes before `axis` stay at the level of the cells; the others are at that level or higher.
    """
    if axis == len(tables.coding.axes):
        yield cells
        return
    block = _Block.of(tables, cells, axis)
    if block is not None:
        yield from block.walk(cells.levels, high)
        return

    yield from _walk(tables, cells, axis + 1, high)
    while cells.levels[axis] < high[axis]:
        coarser = raised(cells.levels, axis)
        cells = tables.roll(GroupTable.of(cells), coarser).compact
        yield from _walk(tables, cells, axis + 1, high)


@dataclass(frozen=True, eq=False)
class _Block:
    """The sizes of groups as an array over the inner axes.

    Its last dimension is over the groups of the outer axes.
    """

    coding: Coding
    sizes: Sizes
    outer: Outer

    @classmethod
    def of(cls, tables: GroupTables, cells: Cells, axis: int) -> "_Block | None":
        """The array over an axis and all after it, unless it would be mostly empty."""
        most = max(BLOCK * len(cells.sizes), PACK)
        inner = prod(cells.cards[axis:])
        if cells.keys is None or not len(cells.sizes):
            return None
        if len(cells.cards) - axis >= DIMENSIONS or inner > most:
            return None
        group = cells.keys // inner
        last = last_of_runs(group)
        groups = len(last)
        if inner * groups > most:
            return None

        begins = np.zeros(len(group), dtype=np.intp)
        begins[last[:-1] + 1] = 1
        place = (cells.keys - group * inner) * groups + np.cumsum(begins)
        # Integers up to 2^24 are exact in 32 bits, and so is any sum of sizes that is no larger:
        # half the memory to pass.
        kind = np.float32 if tables.total < 1 << 24 else np.float64
        array: npt.NDArray[Any] = np.zeros(inner * groups, dtype=kind)
        array[place] = cells.sizes
        outer = Outer(axis, group.take(last))
        return cls(tables.coding, array.reshape(*cells.cards[axis:], groups), outer)

    def walk(self, levels: Levels, high: Levels) -> Iterator[Cells]:
        """All nodes of the block, the last axis changing fastest."""
        first = self.outer.axes
        stop = len(self.coding.axes)
        inner = stop - first
        # `arrays[p]` has its first p axes at the node's levels.
        arrays = [self.sizes] * (inner + 1)
        ranges = [range(levels[axis], high[axis] + 1) for axis in range(first, stop)]
        for node in product(*ranges):
            # The last axis that is above its lowest level was raised by one just now.
            risen = [place for place in range(inner) if node[place] > levels[first + place]]
            if risen:
                place = risen[-1]
                added = self._raised(arrays[place + 1], place, node[place])
                arrays[place + 1 :] = [added] * (inner - place)
            here = (*levels[:first], *node, *levels[stop:])
            yield Cells(self.coding, here, arrays[inner].reshape(-1), outer=self.outer)

    def _raised(self, array: Sizes, dimension: int, level: int) -> Sizes:
        """The array with one axis raised to a level.

        Values are in tree order, so those that merge are slices.
        """
        axis = self.outer.axes + dimension
        step = self.coding.between(axis, level - 1, level)
        codes = self.coding.cards[axis][level]
        if len(step) == codes:
            return array
        if codes == 1:
            top: Sizes = array.sum(axis=dimension, keepdims=True)
            return top

        shape = (*array.shape[:dimension], codes, *array.shape[dimension + 1 :])
        raised: Sizes = np.empty(shape, dtype=array.dtype)
        before = (slice(None),) * dimension
        stops = np.searchsorted(step, np.arange(codes), side="right").tolist()
        start = 0
        for code, stop in enumerate(stops):
            place: Any = (*before, code)
            array[(*before, slice(start, stop))].sum(axis=dimension, out=raised[place])
            start = stop
        return raised
