"""`Lattice`: all level vectors over some counts, and the groups at each. `Groups`: one node's.

Groups are rolled up (see `rollup`) from the counts, never from the rows. Methods and measures use
them; a search that must not pay for whole groups uses `Lattice.rollup` itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.counts import Codes, Counts, smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import ColumnError, ParameterError, plural
from shoal.lattice.coding import raised
from shoal.lattice.rollup import Cells, Floats, Rollup, Sizes
from shoal.zones import OWNER_ONLY, owner_only

__all__ = ["Groups", "Histogram", "Lattice", "Node"]

Node = tuple[int, ...]
"""A level for every quasi-identifying column."""

Ints = npt.NDArray[np.int64]


@owner_only
@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of a carried column occurs in each group.

    Entry i says that `value[i]` occurs `count[i]` times in `group[i]`.

    Entries are in the order of group, then value; only counts above 0 have one.
    """

    group: Ints
    value: Ints
    count: Ints
    groups: int
    values: int

    def dense(self, start: int = 0, stop: int | None = None) -> Ints:
        """Groups start to stop as rows, values as columns."""
        stop = self.groups if stop is None else stop
        first, last = np.searchsorted(self.group, [start, stop])
        counts = np.zeros((stop - start, self.values), dtype=np.int64)
        counts[self.group[first:last] - start, self.value[first:last]] = self.count[first:last]
        return counts

    def total(self) -> Ints:
        """How often each value occurs in all groups together."""
        return np.bincount(self.value, self.count, self.values).astype(np.int64)


class Lattice:
    """All ways to choose a level for every quasi-identifying column of some counts.

    The columns of `counts` that have a hierarchy in `hierarchies` are quasi-identifying; the others
    are carried along for histograms. `floor` and `ceiling` bound the levels a column may take.
    """

    @typed
    def __init__(
        self,
        counts: Counts,
        hierarchies: Mapping[str, Hierarchy],
        *,
        floor: Mapping[str, int] | None = None,
        ceiling: Mapping[str, int] | None = None,
    ) -> None:
        self.counts = counts
        self.names = tuple(name for name in counts.names if name in hierarchies)
        self.carried = tuple(name for name in counts.names if name not in hierarchies)
        self.hierarchies = tuple(hierarchies[name] for name in self.names)
        self._carrying: dict[str, Rollup] = {}
        self._seen: tuple[object, Sequence[Sequence[Floats]]] | None = None

        lowest = floor or {}
        highest = {name: hierarchies[name].height for name in self.names}
        self._check_bound(lowest)
        if ceiling:
            self._check_bound(ceiling)
            highest.update(ceiling)
        self.bottom: Node = tuple(lowest.get(name, 0) for name in self.names)
        self.top: Node = tuple(highest[name] for name in self.names)
        if any(low > high for low, high in zip(self.bottom, self.top, strict=True)):
            raise ParameterError(
                "a column's lowest level is above its highest", "swap `floor` and `ceiling`"
            )

    def __repr__(self) -> str:
        nodes = plural(self.size, "node")
        return f"<{OWNER_ONLY}shoal.Lattice of {plural(len(self.names), 'column')}, {nodes}>"

    def _check_bound(self, levels: Mapping[str, int]) -> None:
        for name, level in levels.items():
            if name not in self.names:
                raise ParameterError(
                    f"a level bound names {name!r}, which is not a quasi-identifying column"
                )
            height = self.hierarchies[self.names.index(name)].height
            if not 0 <= level <= height:
                raise ParameterError(f"column {name!r} has levels 0 to {height}, not {level}")

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @property
    def total(self) -> int:
        """How many records there are."""
        return self.counts.total

    def nodes(self) -> Iterator[Node]:
        """All nodes, in lexicographic order."""
        levels = zip(self.bottom, self.top, strict=True)
        return product(*(range(low, high + 1) for low, high in levels))

    def height(self, node: Node) -> int:
        """How many steps a node is above the finest one."""
        return sum(node) - sum(self.bottom)

    def finer(self, node: Node) -> list[Node]:
        """The nodes one level lower in one column."""
        lower = [j for j in range(len(node)) if node[j] > self.bottom[j]]
        return [raised(node, j, -1) for j in lower]

    def coarser(self, node: Node) -> list[Node]:
        """The nodes one level higher in one column."""
        higher = [j for j in range(len(node)) if node[j] < self.top[j]]
        return [raised(node, j) for j in higher]

    @typed
    def groups(self, node: Node) -> "Groups":
        """The groups at a node."""
        self._check_node(node)
        levels = self.rollup.levels_of(node)
        return Groups(self, self.rollup.cells(levels))

    def walk(self) -> Iterator["Groups"]:
        """The groups of every node, each rolled up from those of a node one level finer.

        The order of the nodes is not defined.
        """
        low = self.rollup.levels_of(self.bottom)
        high = self.rollup.levels_of(self.top)
        for cells in self.rollup.walk(low, high):
            yield Groups(self, cells)

    @cached_property
    def rollup(self) -> Rollup:
        """Group tables over the quasi-identifying columns."""
        return self._rollup(())

    def seen(self, weights: Sequence[Sequence[Floats]]) -> Sequence[Sequence[Floats]]:
        """Weights by column, level and code as weights by axis, level and occurring code.

        They are made once for the same weights.
        """
        if self._seen is not None and self._seen[0] is weights:
            return self._seen[1]
        by_axis = []
        for axis, column in enumerate(self.rollup.axes):
            occurring = zip(weights[column], self.rollup.real[axis], strict=True)
            by_axis.append([by_code[real] for by_code, real in occurring])
        self._seen = (weights, by_axis)
        return by_axis

    def rollup_with(self, name: str) -> Rollup:
        """Group tables that also separate the values of a carried column."""
        if name not in self.carried:
            raise ColumnError(
                f"column {name!r} was not counted along with the quasi-identifying ones",
                "count it with them",
            )
        if name not in self._carrying:
            self._carrying[name] = self._rollup((name,))
        return self._carrying[name]

    def _rollup(self, carried: tuple[str, ...]) -> Rollup:
        counts = self.counts
        if self.carried != carried:
            counts = counts.over((*self.names, *carried))
        return Rollup(
            [counts.column(name) for name in self.names],
            counts.count,
            [hierarchy.maps for hierarchy in self.hierarchies],
            [counts.column(name) for name in carried],
        )

    def _check_node(self, node: Node) -> None:
        heights = tuple(hierarchy.height for hierarchy in self.hierarchies)
        fits = len(node) == len(heights)
        if fits:
            fits = all(0 <= level <= height for level, height in zip(node, heights, strict=True))
        if not fits:
            raise ParameterError(
                f"a node has one level for each of {', '.join(self.names)}, at most {heights}"
            )


class Groups:
    """The groups of records at one node: their sizes, codes, and histograms of carried columns."""

    def __init__(self, lattice: Lattice, cells: Cells) -> None:
        if not isinstance(lattice, Lattice) or not isinstance(cells, Cells):
            raise ParameterError(
                "groups are made by their lattice", "call Lattice.groups with a node"
            )
        self.lattice = lattice
        self.node: Node = lattice.rollup.columns_of(cells.levels)
        self._raw = cells
        self._histograms: dict[str, Histogram] = {}

    def __repr__(self) -> str:
        return f"<{OWNER_ONLY}shoal.Groups at levels {self.node}>"

    @property
    def cells(self) -> Sizes:
        """The sizes as rolled up, including empty cells.

        Cheaper than `sizes` where only sums are wanted.
        """
        return self._raw.sizes

    def weigh_cells(self, weights: Sequence[Sequence[Floats]], kept: Sizes) -> float:
        """`weigh`, but with `kept` for `cells`.

        `weights[j][l][c]` weighs code c of column j at level l.
        """
        by_axis = zip(self.lattice.seen(weights), self._raw.levels, strict=True)
        return self._raw.weigh([by_level[level] for by_level, level in by_axis], kept)

    @property
    def _cells(self) -> Cells:
        return self._raw.compact

    @cached_property
    def sizes(self) -> Ints:
        """The number of records of every group."""
        return self._cells.sizes.astype(np.int64)

    def surviving(self, k: int) -> npt.NDArray[np.bool_]:
        """Which groups have at least k records."""
        return self.sizes >= k

    @property
    def row_sizes(self) -> Ints:
        """For every row of the lattice's counts the number of records of its group."""
        return self.sizes[self.rows]

    @cached_property
    def rows(self) -> Ints:
        """The group of every row of the lattice's counts."""
        lattice = self.lattice
        codes = []
        for name, tree, level in zip(lattice.names, lattice.hierarchies, self.node, strict=True):
            leaves = lattice.counts.column(name)
            codes.append(tree.maps[level][leaves])
        return self.find(codes)

    def find(self, codes: Sequence[Codes]) -> Ints:
        """The group of each of some rows, given their codes in every column at the node's level.

        Every row must be in a group.
        """
        return self._cells.find(codes)

    def codes(self, column: int) -> Codes:
        """Every group's code in a column, at the node's level."""
        axis = self.lattice.rollup.axes.index(column)
        level = self.node[column]
        real = self.lattice.rollup.real[axis][level]
        kind = smallest(self.lattice.hierarchies[column].cardinality(level))
        return real[self._cells.codes(axis)].astype(kind)

    def marginal(self, column: int, kept: Ints | None = None) -> Ints:
        """How many records have each value of a column at the node's level.

        `kept` replaces the sizes (0 drops a group).
        """
        weights = self._cells.sizes if kept is None else kept
        cardinality = self.lattice.hierarchies[column].cardinality(self.node[column])
        return np.bincount(self.codes(column), weights, cardinality).astype(np.int64)

    def weigh(self, weights: Sequence[Floats], kept: Ints | None = None) -> float:
        """The sum over records of the weights of their values.

        `weights[j][c]` weighs code c of column j.
        """
        rollup = self.lattice.rollup
        by_axis = []
        for axis, column in enumerate(rollup.axes):
            real = rollup.real[axis][self.node[column]]
            by_axis.append(weights[column][real])
        sizes = self._cells.sizes
        if kept is not None:
            sizes = kept.astype(np.float64)
        return self._cells.weigh(by_axis, sizes)

    def histogram(self, name: str) -> Histogram:
        """How often each value of a carried column occurs in each group.

        It is made once, since several models may ask.
        """
        if name not in self._histograms:
            self._histograms[name] = self._histogram(name)
        return self._histograms[name]

    def _histogram(self, name: str) -> Histogram:
        rollup = self.lattice.rollup_with(name)
        counts = self.lattice.counts
        levels = (*rollup.levels_of(self.node), 0)
        cells = rollup.cells(levels).compact
        last = len(rollup.axes)
        # Groups are in the same order here, every one with at least one value, and values of a
        # group follow each other.
        return Histogram(
            group=cells.group_of(last),
            value=rollup.real[last][0][cells.codes(last)],
            count=cells.sizes.astype(np.int64),
            groups=len(self.sizes),
            values=counts.cards[counts.names.index(name)],
        )
