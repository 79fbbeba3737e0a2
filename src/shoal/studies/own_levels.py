"""Releases whose records have levels of their own: what they lose, and whom each record fits.

Uses `lattice`; `judging` uses it, and the demo of the command line.

Such a release has values of several levels side by side in a column: everybody chose their own, or
regions with many records were refined further than others. What is shown is a text, so a record
counts at the lowest level with what the text stands for. Records of one group may fit people of
another, so the sizes of groups say too little about risks: who fits is counted here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts, ranks
from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.lattice import Lattice, Node
from shoal.zones import owner_only

__all__ = ["FittingRisk", "OwnLevels", "places"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@owner_only
@dataclass(frozen=True)
class FittingRisk:
    """How likely the right person is named among those of the input whom a released record fits.

    mean, highest: of the released records
    alone: the share of them that fit one record of the input
    """

    mean: float
    highest: float
    alone: float


@dataclass(frozen=True, eq=False)
class OwnLevels:
    """The distinct released rows by level and code.

    `levels[row, column]` and `codes[row, column]` say what a row shows in a column of the lattice,
    and `counts[row]` how many records do; `lost` records of the input are not among them.
    """

    lattice: Lattice
    levels: Ints
    codes: Ints
    counts: Ints
    lost: int

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        table: Table,
        shown: Table,
        known: Mapping[str, Sequence[int]] | None = None,
    ) -> "OwnLevels | None":
        """The rows of a release; None if some text is not that of a level.

        `known` has the levels that texts may be of, for columns of which that is known.
        """
        rows = shown.count(list(lattice.names), {})
        levels = np.zeros((rows.distinct, len(lattice.names)), dtype=np.int64)
        codes = np.zeros_like(levels)
        for column, (name, tree) in enumerate(zip(lattice.names, lattice.hierarchies, strict=True)):
            place_of = places(tree, table.kind(name), (known or {}).get(name))
            found = [place_of.get(text) for text in shown.labels(name)]
            present = np.unique(rows.codes[column])
            if any(found[code] is None for code in present.tolist()):
                return None
            pairs = np.array([(0, 0) if place is None else place for place in found])
            levels[:, column], codes[:, column] = pairs.reshape(-1, 2)[rows.codes[column]].T
        return cls(lattice, levels, codes, rows.count, table.rows - shown.rows)

    @property
    def records(self) -> int:
        """How many records the input has."""
        return int(self.counts.sum()) + self.lost

    @cached_property
    def _input(self) -> Counts:
        return self.lattice.counts.over(self.lattice.names)

    def intensity(self) -> float:
        """The level of a cell as a share of its hierarchy's height, summed; a lost one counts 1."""
        heights = np.array([max(tree.height, 1) for tree in self.lattice.hierarchies])
        shares = (self.levels / heights).sum(axis=1)
        return float(shares @ self.counts) + self.lost * len(heights)

    def entropy(self) -> float:
        """The bits needed to recover each cell's value from the one shown, summed over cells."""
        bits = 0.0
        for column, tree in enumerate(self.lattice.hierarchies):
            leaves = np.bincount(
                self._input.codes[column], self._input.count, len(tree.maps[0])
            ).astype(np.float64)
            bits -= float(leaves @ np.log2(np.maximum(leaves, 1)))
            for level, codes in enumerate(tree.maps):
                often = np.bincount(codes, leaves, tree.cardinality(level))
                here = self.levels[:, column] == level
                own = np.log2(np.maximum(often, 1))[self.codes[here, column]]
                bits += float(own @ self.counts[here])
        everywhere = np.log2(max(self.records, 1)) * len(self.lattice.hierarchies)
        return bits + self.lost * float(everywhere)

    def divergence(self) -> float:
        """Kullback–Leibler divergence, in bits, of the input from its reconstruction.

        That spreads every record evenly over the combinations of leaves that it may have, and lost
        ones over all.
        """
        share = self._input.count / max(self.records, 1)
        estimate = self._joined[1] / max(self.records, 1)
        if self.lost:
            whole = sum(np.log2(len(tree.maps[0])) for tree in self.lattice.hierarchies)
            estimate = estimate + self.lost / self.records * 2.0**-whole
        if not estimate.all():
            return float("inf")
        return max(float(share @ (np.log2(share) - np.log2(estimate))), 0.0)

    @property
    def possible(self) -> bool:
        """Whether the input has, of every row, as many records that it fits as are released."""
        fitting, _ = self._joined
        return bool((self.counts <= fitting).all())

    def kept(self) -> "OwnLevels":
        """The same, with every row as often as the input has records for it.

        That is what is left of the input where counts are noisy. A record is taken to be shown by
        the tightest row that fits it: where regions are refined, it would be in no looser one.
        """
        counts = np.minimum(self.counts, self._tightest)
        return replace(self, counts=counts, lost=self.records - int(counts.sum()))

    def risk(self) -> FittingRisk | None:
        """How likely the right person is named; None if some record fits nobody."""
        fitting, _ = self._joined
        if not len(fitting) or not fitting.all():
            return None
        released = self.counts.sum()
        return FittingRisk(
            mean=float((self.counts / fitting).sum() / released),
            highest=float(1 / fitting.min()),
            alone=float(self.counts[fitting == 1].sum() / released),
        )

    @cached_property
    def _joined(self) -> tuple[Ints, Floats]:
        """How many of the input each released row fits.

        And of how many records each row of the input is taken to be in the reconstruction.
        """
        everyone = self._input
        fitting = np.zeros(len(self.counts), dtype=np.int64)
        estimate = np.zeros(everyone.distinct)
        spread = self.counts / self._combinations()
        for node, mine in self._nodes():
            inside, outside, cells = self._cells(node, mine)
            sizes = np.bincount(inside, everyone.count, cells).astype(np.int64)
            fitting[mine] = sizes[outside]
            estimate += np.bincount(outside, spread[mine], cells)[inside]
        return fitting, estimate

    @cached_property
    def _tightest(self) -> Ints:
        """Of how many records of the input each released row is the tightest that fits them."""
        everyone = self._input
        records = np.zeros(len(self.counts), dtype=np.int64)
        free = np.ones(everyone.distinct, dtype=np.bool_)
        # A row within another is nowhere of a higher level, and somewhere of a lower one.
        for node, mine in sorted(self._nodes(), key=lambda part: sum(part[0])):
            inside, outside, cells = self._cells(node, mine)
            row_of = np.full(cells, -1, dtype=np.int64)
            row_of[outside] = mine
            shown = np.flatnonzero(free & (row_of[inside] >= 0))
            np.add.at(records, row_of[inside[shown]], everyone.count[shown])
            free[shown] = False
        return records

    def _cells(self, node: Node, mine: Ints) -> tuple[Ints, Ints, int]:
        """The cells of the input's rows at a node, those of some released rows, and how many."""
        everyone = self._input
        both = []
        cards = []
        for column, (tree, level) in enumerate(zip(self.lattice.hierarchies, node, strict=True)):
            theirs = tree.maps[level][everyone.codes[column]].astype(np.int64)
            both.append(np.concatenate((theirs, self.codes[mine, column])))
            cards.append(tree.cardinality(level))
        cell = ranks(both, cards).astype(np.int64)
        cells = int(cell.max(initial=-1)) + 1
        return cell[: everyone.distinct], cell[everyone.distinct :], cells

    def _nodes(self) -> Iterator[tuple[Node, Ints]]:
        """Every combination of levels, with its rows."""
        nodes, node_of = np.unique(self.levels, axis=0, return_inverse=True)
        order = np.argsort(node_of.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(node_of.ravel(), minlength=len(nodes)))
        for number, mine in enumerate(np.split(order, ends[:-1]) if len(nodes) else ()):
            yield tuple(nodes[number].tolist()), mine

    def _combinations(self) -> Floats:
        """How many combinations of leaves each released row may have."""
        number = np.ones(len(self.counts))
        for column, tree in enumerate(self.lattice.hierarchies):
            for level, codes in enumerate(tree.maps):
                covered = np.bincount(codes, minlength=tree.cardinality(level))
                here = self.levels[:, column] == level
                number[here] *= covered[self.codes[here, column]]
        return number


def places(
    tree: Hierarchy, kind: Kind, levels: Sequence[int] | None = None
) -> Mapping[str, tuple[int, int]]:
    """Every text that is one value of a hierarchy: the lowest level of that, and its code there.

    A text that several levels have stands for all that it covers at any of them, or at any of
    `levels` if it is known to be of these.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for level in range(tree.height + 1) if levels is None else sorted(levels):
        for code, label in enumerate(tree.labels[level]):
            found.setdefault(label, []).append((level, code))
    place_of = {}
    for label, values in found.items():
        if len(values) == 1:
            place_of[label] = values[0]
            continue
        covered = [tree.maps[level] == code for level, code in values]
        everything = np.logical_or.reduce(covered)
        for place, own in zip(values, covered, strict=True):
            if (own == everything).all():
                place_of[label] = place
                break
    for label, place in tuple(place_of.items()):
        place_of.setdefault(_canonical(label, kind), place)
    place_of.setdefault(ANY, (tree.height, 0))
    return place_of


def _canonical(text: str, kind: Kind) -> str:
    """A text as its type writes it."""
    try:
        return kind.text(kind.key(text))
    except (ValueError, TypeError, OverflowError):
        return text
