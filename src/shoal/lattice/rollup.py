"""`Rollup`: the groups at lattice nodes, each rolled up from the cheapest finer table there is.

It is the one door to what lies below: `coding` writes columns as axes, `cells` are the groups of a
node, `tables` holds what nodes are rolled up from, `sorting` finds small groups, and `walk` visits
every node. `lattice` and `optimum` use it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from shoal.lattice.cells import Cells
from shoal.lattice.coding import Coding, Floats, Index, Levels, Sizes, Unsigned
from shoal.lattice.sorting import Ask, Sorting
from shoal.lattice.tables import GroupTables
from shoal.lattice.walk import walk

__all__ = ["Ask", "Cells", "Floats", "Index", "Levels", "Rollup", "Sizes"]

KEEP_BYTES = 256 << 20
"""Memory for intermediate tables."""


class Rollup:
    """Group tables over columns of leaf codes.

    `maps[j][l]` gives the level-l code of every leaf of column j. `carried` columns come after all
    others, in their order, and have level 0 only.
    """

    def __init__(
        self,
        codes: Sequence[Unsigned],
        count: npt.NDArray[np.int64],
        maps: Sequence[Sequence[Unsigned]],
        carried: Sequence[Unsigned] = (),
    ) -> None:
        columns = [*codes, *carried]
        if len(count) and not count.min():
            rows = np.flatnonzero(count)
            columns = [column[rows] for column in columns]
            count = count[rows]
        sizes = count.astype(np.float64)
        self._coding = Coding(columns, sizes, maps)
        self._tables = GroupTables(self._coding, sizes, KEEP_BYTES)
        self._sorting = Sorting(self._tables)
        self.axes: list[int] = self._coding.axes
        """The column of every axis that is not carried."""

        self.real: list[list[Index]] = self._coding.real
        """For every axis and level the real code of every code used here."""

        self.total = self._tables.total
        """How many records there are."""

    @property
    def rows(self) -> int:
        """How many distinct rows everything starts from."""
        return self._tables.base.rows

    def levels_of(self, node: Sequence[int]) -> Levels:
        """The levels of the axes, from those of the columns."""
        return self._coding.levels_of(node)

    def columns_of(self, levels: Levels) -> Levels:
        """The levels of the columns, from those of the axes."""
        return self._coding.columns_of(levels)

    def marginal(self, axis: int, level: int) -> Floats:
        """How many records have each code of an axis at a level."""
        return self._coding.marginal(axis, level)

    def spread(self, axis: int, fine: int, coarse: int) -> float:
        """How much an axis merges between two levels: for planning only."""
        return self._tables.estimates.spread(axis, fine, coarse)

    def cells(self, levels: Levels) -> Cells:
        """The groups at a node."""
        return self._tables.cells(levels)

    def walk(self, low: Levels, high: Levels) -> Iterator[Cells]:
        """The groups of every node between two, in no order to rely on."""
        return walk(self._tables, low, high)

    def below(self, asks: Iterable[Ask], k: int) -> Iterator[Cells]:
        """The groups with fewer than k records, and no others, of every node asked for.

        They show what a limit of k costs.

        Where an axis is asked for along with a node, the node one level finer on it comes too, for
        little more than the price of one. Nodes come in no order to rely on.
        """
        return self._sorting.below(asks, k)

    def masses(
        self, asks: Iterable[Ask], k: int, penalty: Callable[[Sizes], Sizes]
    ) -> Iterator[tuple[Levels, float]]:
        """For every node that `below` would give, a sum over its groups by their sizes.

        `penalty` gives what groups of these sizes add; for sizes of k or more it is 0.
        """
        return self._sorting.masses(asks, k, penalty)
