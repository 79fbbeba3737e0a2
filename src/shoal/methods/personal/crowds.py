"""How many people each record could be about at a node, and what it risks and is worth there.

A record's generalisation at a node is its group there, so one pass over the distinct rows answers
for all records at once. `Crowds` counts; `Best` keeps for every record the best node it has been
offered so far: each solver is a way to choose which nodes to offer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, Counts, group, last_of_runs, packs_of, ranks
from shoal.data import free_memory
from shoal.data.hierarchy.tree import Hierarchy
from shoal.lattice import Node
from shoal.methods.personal.models import Ints, Sum

__all__ = ["EXACT", "Best", "Chosen", "Crowds", "Wanted", "comparable"]

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

DENSE = 8
"""Cells up to that many times the rows are counted in an array, else by sorting."""

WIDEST = 1 << 62
"""Nodes with more cells have no key that fits an integer."""

MEMO = 1 << 14
"""Look-up tables that are kept."""

EXACT = 1 << 51
"""Sensitivities times people stay below this, so that quotients in floats compare as the rationals
they stand for.
"""


class Crowds:
    """The distinct rows of a table, and how many people of a register each may be about at a node.

    Columns are those of `hierarchies`, in that order, as leaf codes. The register is other counts
    over the same columns, by default the table; where it has fewer people with the values of a row
    than the table, it is taken to have missed some.
    """

    def __init__(
        self, rows: Counts, hierarchies: Mapping[str, Hierarchy], register: Counts | None = None
    ) -> None:
        self.rows = rows
        self.hierarchies = tuple(hierarchies.values())
        self.heights: Node = tuple(hierarchy.height for hierarchy in self.hierarchies)
        names = tuple(hierarchies)
        cards = [len(hierarchy.maps[0]) for hierarchy in self.hierarchies]
        everyone = rows.over(names)
        if register is not None:
            everyone = _completed(register.over(names), everyone)
        self.everyone = everyone
        """The distinct rows of the register, with all rows of the table, and how many people have
        each.
        """
        self.people = everyone.total
        free_memory.require(
            everyone.distinct * (60 + 4 * len(names)),
            f"counting {everyone.distinct:,} rows",
            "use fewer columns",
        )
        self._weights = everyone.count.astype(np.float64)
        self._cards = [
            [hierarchy.cardinality(level) for level in range(hierarchy.height + 1)]
            for hierarchy in self.hierarchies
        ]
        self._packs: list[tuple[range, npt.NDArray[np.intp]]] = []
        for axes in packs_of(cards):
            packed = np.zeros(everyone.distinct, dtype=np.intp)
            for axis in axes:
                packed *= cards[axis]
                packed += everyone.codes[axis]
            self._packs.append((axes, packed))
        self._known: dict[object, tuple[npt.NDArray[np.intp], int]] = {}
        # With the sum itself, so that its id stays in use.
        self._sums: dict[object, tuple[int, Ints | None, Sum]] = {}

    def sizes(self, node: Node) -> Ints:
        """For everyone's row how many people its generalisation at a node fits."""
        key, cells = self._keys(node)
        if cells <= max(DENSE * len(key), 1 << 12):
            return np.bincount(key, self._weights, cells).astype(np.int64).take(key)
        bits = len(key).bit_length()
        if cells << bits > WIDEST:
            found, key = np.unique(key, return_inverse=True)
            return np.bincount(key, self._weights, len(found)).astype(np.int64).take(key)
        # Key and place in one number: sorting numbers is several times faster than their order.
        key <<= bits
        key += np.arange(len(key))
        key.sort()
        order = key & ((1 << bits) - 1)
        key >>= bits
        last = last_of_runs(key)
        sums = np.diff(np.cumsum(self.everyone.count[order])[last], prepend=0)
        sizes = np.empty(len(order), dtype=np.int64)
        sizes[order] = np.repeat(sums, np.diff(last, prepend=-1))
        return sizes

    def find(self, codes: Sequence[Codes]) -> Index:
        """The place among everyone's rows of each of some rows, given their leaves in every column.

        All must be there.
        """
        both = [np.concatenate(pair) for pair in zip(self.everyone.codes, codes, strict=True)]
        rank = ranks(both, [len(hierarchy.maps[0]) for hierarchy in self.hierarchies])
        # Counts are in the order of their codes, so that a row's rank is its place.
        return rank[self.everyone.distinct :]

    def members(self, node: Node, rows: Index) -> tuple[Index, Index, Index]:
        """The people of the groups of some rows at a node, group by group.

        Where each group starts, and the group of each row.
        """
        key, _ = self._keys(node)
        groups, mine = np.unique(key[rows], return_inverse=True)
        place = np.searchsorted(groups, key)
        people = np.flatnonzero(groups.take(place, mode="clip") == key)
        people = people[np.argsort(place[people], kind="stable")]
        return people, np.searchsorted(place[people], np.arange(len(groups))), mine

    def _keys(self, node: Node) -> tuple[npt.NDArray[np.intp], int]:
        """A number for every row by its group at a node, and how many numbers there may be."""
        key: npt.NDArray[np.intp] | None = None
        cells = 1
        for axes, packed in self._packs:
            look_up, values = self._look_up(axes, node[axes.start : axes.stop])
            if values == 1:
                continue
            if cells * values > WIDEST:
                assert key is not None
                found, key = np.unique(key, return_inverse=True)
                cells = len(found)
            taken = look_up.take(packed)
            if key is None:
                key = taken
            else:
                key *= values
                key += taken
            cells *= values
        return (np.zeros(len(self._weights), dtype=np.intp) if key is None else key), cells

    def _look_up(self, axes: range, levels: Node) -> tuple[npt.NDArray[np.intp], int]:
        """For every value of a pack of leaves its number at these levels, and their number."""
        asked = axes.start, levels
        if asked not in self._known:
            if len(self._known) > MEMO:
                self._known.clear()
            found = np.zeros(1, dtype=np.intp)
            values = 1
            for axis, level in zip(reversed(axes), reversed(levels), strict=True):
                codes = self.hierarchies[axis].maps[level].astype(np.intp)
                found = (codes[:, None] * values + found).ravel()
                values *= self._cards[axis][level]
            self._known[asked] = found, values
        return self._known[asked]

    def sum_of(self, total: Sum, rows: Index, levels: npt.NDArray[np.uint8]) -> Ints:
        """A sum over columns for some rows, each at levels of its own."""
        found = np.zeros(len(rows), dtype=np.int64)
        for column, (hierarchy, parts) in enumerate(
            zip(self.hierarchies, total.parts, strict=True)
        ):
            leaves = self.everyone.codes[column][rows]
            for level, (codes, part) in enumerate(zip(hierarchy.maps, parts, strict=True)):
                here = levels[:, column] == level
                found[here] += part[codes[leaves[here]]]
        return found

    def sum_at(self, total: Sum, node: Node) -> int | Ints:
        """A sum over columns at a node for everyone's row; one number if it is the same for all."""
        constant, found = 0, None
        for axes, packed in self._packs:
            same, look_up = self._sum(total, axes, node[axes.start : axes.stop])
            constant += same
            if look_up is not None:
                taken = look_up.take(packed)
                found = taken if found is None else np.add(found, taken, out=found)
        return constant if found is None else np.add(found, constant, out=found)

    def _sum(self, total: Sum, axes: range, levels: Node) -> tuple[int, Ints | None]:
        """What a pack of columns adds at these levels: a number for all, and what values add to it.

        None where no value adds more.
        """
        asked = id(total), axes.start, levels
        if asked not in self._sums:
            if len(self._sums) > MEMO:
                self._sums.clear()
            constant = 0
            varied = False
            found = np.zeros(1, dtype=np.int64)
            for axis, level in zip(axes, levels, strict=True):
                part = total.parts[axis][level][self.hierarchies[axis].maps[level]]
                least = int(part.min(initial=part.max(initial=0)))
                constant = constant + least
                varied = varied or bool((part > least).any())
                found = (found[:, None] + (part - least)).ravel()
            self._sums[asked] = constant, found if varied else None, total
        return self._sums[asked][:2]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the people of some rows want: their sensitivity, and the utility to keep, in units.

    `rows` are places among everyone's.
    """

    sensitivity: Sum
    floor: int
    rows: Index

    @classmethod
    def of(cls, sensitivity: Sum, utility: Sum, share: Fraction, rows: Index) -> "Wanted":
        """A floor that is a share of the utility of an unchanged record."""
        return cls(sensitivity, ceil(share * utility.most), rows)


@dataclass(eq=False)
class Chosen:
    """For every row of a `Wanted` the node chosen: its levels, its risk, its utility in units."""

    levels: npt.NDArray[np.uint8]
    risk: Floats
    worth: Ints


class Best:
    """For every row the best node among those offered.

    That of the lowest risk, then the highest utility, then the first offered. Only nodes that keep
    the utility a row must keep count; the unchanged record always does.
    """

    def __init__(self, crowds: Crowds, utility: Sum, wanted: Sequence[Wanted]) -> None:
        self.crowds, self.utility = crowds, utility
        self.wanted = [comparable(want, crowds) for want in wanted]
        self.risk: list[Floats] = [np.full(len(want.rows), np.inf) for want in wanted]
        self.worth: list[Ints] = [np.full(len(want.rows), -1, dtype=np.int64) for want in wanted]
        self.place: list[npt.NDArray[np.int32]] = [
            np.full(len(want.rows), -1, dtype=np.int32) for want in wanted
        ]
        self.nodes: list[Node] = []
        """The nodes that some row took at some time."""
        self.offered: set[Node] = set()
        self.offer((0,) * len(crowds.heights))

    def reachable(self, node: Node) -> bool:
        """Whether some row could keep its utility at a node."""
        columns = zip(self.utility.parts, node, strict=True)
        most = sum(int(by[level].max(initial=0)) for by, level in columns)
        return any(most >= want.floor for want in self.wanted)

    def offer(self, node: Node, among: Sequence[Index] | None = None) -> int:
        """Let every row, or those of each `Wanted` at some places, take a node if it is better.

        Gives how many did.
        """
        if node in self.offered:
            return 0
        self.offered.add(node)
        if not self.reachable(node):
            return 0
        sizes = self.crowds.sizes(node)
        worth = self.crowds.sum_at(self.utility, node)
        taken = 0
        for number, want in enumerate(self.wanted):
            some = slice(None) if among is None else among[number]
            rows = want.rows[some]
            if not len(rows):
                continue
            risk = _at(self.crowds.sum_at(want.sensitivity, node), rows) / sizes[rows]
            worths = _at(worth, rows)
            best = self.risk[number][some]
            kept = self.worth[number][some]
            better = np.flatnonzero(
                self.better(number, risk, worths, best, kept) & (worths >= want.floor)
            )
            if len(better):
                where = better if among is None else among[number][better]
                self.risk[number][where] = risk[better]
                self.place[number][where] = len(self.nodes)
                self.worth[number][where] = worths if isinstance(worths, int) else worths[better]
                taken += len(better)
        if taken:
            self.nodes.append(node)
        return taken

    def better(
        self, number: int, risk: Floats, worth: int | Ints, best: Floats, kept: Ints
    ) -> npt.NDArray[np.bool_]:
        """Whether rows of a `Wanted` are better off with this risk and worth than with the best."""
        found: npt.NDArray[np.bool_] = (risk < best) | ((risk == best) & (worth > kept))
        return found

    def chosen(self) -> list[Chosen]:
        """What every row has now."""
        shape = len(self.nodes), len(self.crowds.heights)
        levels = np.array(self.nodes, dtype=np.uint8).reshape(shape)
        every = zip(self.wanted, self.place, self.risk, self.worth, strict=True)
        return [
            Chosen(levels[place], risk / float(want.sensitivity.unit), worth)
            for want, place, risk, worth in every
        ]


def comparable(want: Wanted, crowds: Crowds) -> Wanted:
    """With sensitivities so small that quotients in floats compare as the rationals they stand for.

    Different fractions p/q < p'/q' are 1/(q q') apart at least, which is more than the rounding of
    either.
    """
    return replace(want, sensitivity=want.sensitivity.within(EXACT // max(crowds.people, 1)))


def _at(values: int | Ints, rows: Index) -> int | Ints:
    return values if isinstance(values, int) else values[rows]


def _completed(register: Counts, rows: Counts) -> Counts:
    """The register, with at least as many people of every kind as there are rows."""
    codes = [np.concatenate(pair) for pair in zip(register.codes, rows.codes, strict=True)]
    either = np.array([0, 1], dtype=np.uint8)
    ours = np.repeat(either, [register.distinct, rows.distinct])
    both = group(
        (*rows.names, ""),
        [*codes, ours],
        [*rows.cards, 2],
        np.concatenate((register.count, rows.count)),
    )
    alone = group(rows.names, both.codes[:-1], rows.cards)
    if not alone.distinct:
        return alone
    first = np.cumsum(alone.count) - alone.count
    return replace(alone, count=np.maximum.reduceat(both.count, first))
