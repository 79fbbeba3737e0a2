"""`Lattice`: all level vectors over some counts, and the groups at each. `Groups`: one node's group table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.counts.counts import Counts
from shoal.errors import ParameterError
from shoal.hierarchy.tree import Codes, Hierarchy

__all__ = ["Groups", "Histogram", "Lattice", "Node"]

Node = tuple[int, ...]
"""A level for every quasi-identifying column."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of a carried column occurs in each group: entry i says `count[i]` times `value[i]` in `group[i]`.

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

    The columns of `counts` that have a hierarchy in `hierarchies` are quasi-identifying; the others are carried along
    for histograms. `floor` and `ceiling` bound the levels a column may take.
    """

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
        for bound in (floor, ceiling):
            for name, level in (bound or {}).items():
                if name not in self.names:
                    raise ParameterError(f"a level bound names {name!r}, which is no quasi-identifying column")
                if not 0 <= level <= hierarchies[name].height:
                    raise ParameterError(f"column {name!r} has levels 0 to {hierarchies[name].height}, not {level}")
        self.bottom: Node = tuple((floor or {}).get(name, 0) for name in self.names)
        self.top: Node = tuple((ceiling or {}).get(name, h.height) for name, h in zip(self.names, self.hierarchies, strict=True))
        if any(low > high for low, high in zip(self.bottom, self.top, strict=True)):
            raise ParameterError("a column's lowest level is above its highest; swap floor and ceiling")

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
        return product(*(range(low, high + 1) for low, high in zip(self.bottom, self.top, strict=True)))

    def finer(self, node: Node) -> list[Node]:
        """The nodes one level lower in one column."""
        return [(*node[:j], level - 1, *node[j + 1 :]) for j, level in enumerate(node) if level > self.bottom[j]]

    def coarser(self, node: Node) -> list[Node]:
        """The nodes one level higher in one column."""
        return [(*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node) if level < self.top[j]]

    def groups(self, node: Node) -> "Groups":
        """The groups at a node."""
        return Groups(self, node)


class Groups:
    """The groups of records at one node: their sizes, codes, and histograms of carried columns."""

    def __init__(self, lattice: Lattice, node: Node) -> None:
        self.lattice = lattice
        self.node = node

    @cached_property
    def _grouped(self) -> tuple[Ints, Ints, Ints]:
        """Distinct keys, sizes, and each counts row's group."""
        key = np.zeros(self.lattice.counts.distinct, dtype=np.int64)
        for j, (hierarchy, level) in enumerate(zip(self.lattice.hierarchies, self.node, strict=True)):
            codes = self.lattice.counts.codes[self.lattice.counts.names.index(self.lattice.names[j])]
            key = key * hierarchy.cardinality(level) + hierarchy.maps[level][codes]
        keys, inverse = np.unique(key, return_inverse=True)
        sizes = np.bincount(inverse, self.lattice.counts.count, len(keys)).astype(np.int64)
        return keys, sizes, inverse

    @property
    def sizes(self) -> Ints:
        """The number of records of every group."""
        return self._grouped[1]

    @property
    def rows(self) -> Ints:
        """The group of every row of the lattice's counts."""
        return self._grouped[2]

    def codes(self, column: int) -> Codes:
        """Every group's code in a column, at the node's level."""
        keys = self._grouped[0]
        after = prod(
            h.cardinality(level) for h, level in zip(self.lattice.hierarchies[column + 1 :], self.node[column + 1 :], strict=True)
        )
        return (keys // after % self.lattice.hierarchies[column].cardinality(self.node[column])).astype(np.uint32)

    def marginal(self, column: int, kept: Ints | None = None) -> Ints:
        """How many records have each value of a column at the node's level; `kept` replaces the sizes (0 drops a group)."""
        weights = self.sizes if kept is None else kept
        cardinality = self.lattice.hierarchies[column].cardinality(self.node[column])
        return np.bincount(self.codes(column), weights, cardinality).astype(np.int64)

    def weigh(self, weights: Sequence[Floats], kept: Ints | None = None) -> float:
        """The sum over records of the weights of their values: `weights[j][c]` weighs code c of column j."""
        return float(sum(w @ self.marginal(j, kept) for j, w in enumerate(weights)))

    def histogram(self, name: str) -> Histogram:
        """How often each value of a carried column occurs in each group."""
        counts = self.lattice.counts
        values = counts.cards[counts.names.index(name)]
        key = self.rows * values + counts.codes[counts.names.index(name)]
        keys, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, counts.count, len(keys)).astype(np.int64)
        return Histogram(keys // values, keys % values, count, len(self.sizes), values)
