"""Records one by one: which to look at, and how many people each could be about. Uses `crowds`.

A set of people is a string of bits, one per distinct row. Whoever shows the same as a record in a
column at a level is such a set, and whom the record could be about at a node is what the sets of
all columns have in common: one record at one node costs some hundred times less than all records
there. `genetic` and `relaxed` choose by that what they offer to all.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.lattice import Node
from shoal.methods.personal import People
from shoal.methods.personal.crowds import Best, Floats
from shoal.methods.personal.models import Ints, Sum

__all__ = ["Alone"]

Bits = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

KEPT = 1 << 28
"""Bytes of sets that are kept, and of the levels at which people meet."""

FINE = 1 << 32
"""Weights of draws are whole numbers up to this."""


class Alone:
    """The rows of all that `best` is for, numbered through, one by one."""

    def __init__(self, people: People, best: Best) -> None:
        self.best, self.crowds = best, best.crowds
        self.heights = np.array(best.crowds.heights, dtype=np.intp)
        self._ends = np.cumsum([len(want.rows) for want in best.wanted])
        self._often = np.zeros(int(self._ends[-1]))
        starts = np.concatenate(([0], self._ends))
        np.add.at(self._often, starts[people.want] + people.place, people.rows.count)
        self._worths = self._tables(best.utility)
        self._shown = [self._tables(want.sensitivity) for want in best.wanted]
        count = best.crowds.everyone.count
        digits = int(count.max(initial=0)).bit_length()
        self._everyone = _packed(np.ones(len(count), dtype=np.bool_))
        self._digits = [_packed(count >> digit & 1 == 1) for digit in range(digits)]
        self._known: dict[tuple[int, int, int], Bits] = {}
        self._met: dict[tuple[int, int], Bytes] = {}
        self._seen: dict[int, int] = {}

    def draw(self, chance: Chance, size: int) -> list[int]:
        """Some rows, none twice: the likelier the more risk their people have together.

        None where there is no risk.
        """
        units = [float(want.sensitivity.unit) for want in self.best.wanted]
        risks = [risk / unit for risk, unit in zip(self.best.risk, units, strict=True)]
        risk = self._often * np.concatenate(risks)
        highest = risk.max(initial=0)
        if highest == 0:
            return []
        ends = np.cumsum(np.ceil(risk / highest * FINE).astype(np.int64))
        drawn = chance.belows(int(ends[-1]), size).astype(np.int64)
        rows = np.searchsorted(ends, drawn, side="right")
        return list(dict.fromkeys(rows.tolist()))

    def place(self, row: int) -> tuple[int, int]:
        """Which `Wanted` a row is of, and which row of it it is."""
        number = int(np.searchsorted(self._ends, row, side="right"))
        return number, row - int(self._ends[number - 1] if number else 0)

    def node(self, row: int) -> Node:
        """The best node that was offered to a row."""
        number, place = self.place(row)
        return self.best.nodes[int(self.best.place[number][place])]

    def risk(self, row: int) -> float:
        """The lowest risk that was offered to a row, in units."""
        number, place = self.place(row)
        return float(self.best.risk[number][place])

    def floor(self, row: int) -> int:
        """The utility a row must keep, in units."""
        return self.best.wanted[self.place(row)[0]].floor

    def worths(self, row: int) -> Ints:
        """What each column (by row) adds to the utility of a row at each level (by column)."""
        return self._levels(self._worths, row)

    def sensitivities(self, row: int) -> Ints:
        """What each column adds to the sensitivity of a row at each level."""
        return self._levels(self._shown[self.place(row)[0]], row)

    def _tables(self, total: Sum) -> list[Ints]:
        """For every column what it adds by leaf and level, as wide as the highest needs."""
        found = []
        for hierarchy, parts in zip(self.crowds.hierarchies, total.parts, strict=True):
            shape = len(hierarchy.maps[0]), int(self.heights.max()) + 1
            table = np.zeros(shape, dtype=np.int64)
            for level, (codes, part) in enumerate(zip(hierarchy.maps, parts, strict=True)):
                table[:, level] = part[codes]
            found.append(table)
        return found

    def _levels(self, tables: Sequence[Ints], row: int) -> Ints:
        columns = zip(tables, self._leaves(row), strict=True)
        return np.stack([table[leaf] for table, leaf in columns])

    def _leaves(self, row: int) -> list[int]:
        number, place = self.place(row)
        one = self.best.wanted[number].rows[place]
        return [int(codes[one]) for codes in self.crowds.everyone.codes]

    def meeting(self, row: int) -> list[Bytes]:
        """For every column the lowest level at which everybody shows the same as a row."""
        return [self._meeting(column, leaf) for column, leaf in enumerate(self._leaves(row))]

    def _meeting(self, column: int, leaf: int) -> Bytes:
        """The lowest level of a column at which everybody shows the same as someone with a leaf."""
        asked = column, leaf
        if asked not in self._met:
            if len(self._met) * self.crowds.everyone.distinct > KEPT:
                self._met.clear()
            maps = self.crowds.hierarchies[column].maps
            # Who differs at a level differs at all below it.
            of_leaf = np.zeros(len(maps[0]), dtype=np.uint8)
            for at_level in maps:
                of_leaf += at_level != at_level[leaf]
            self._met[asked] = of_leaf[self.crowds.everyone.codes[column]]
        return self._met[asked]

    def settled(self, row: int) -> bool:
        """Whether a row was seen here before with the node that it has now; now it was."""
        number, place = self.place(row)
        node = int(self.best.place[number][place])
        before = self._seen.get(row)
        self._seen[row] = node
        return before == node

    def risks(self, row: int, nodes: Sequence[Node]) -> Floats:
        """The risk of a row at some nodes, in units."""
        columns = np.arange(len(self.heights))
        levels = np.array(nodes, dtype=np.intp).reshape(len(nodes), -1)
        shown = self.sensitivities(row)[columns, levels].sum(axis=1)
        risks: Floats = shown / self.sizes(row, nodes)
        return risks

    def sizes(self, row: int, nodes: Sequence[Node]) -> Ints:
        """How many people a row could be about at some nodes."""
        alike = []
        columns = zip(self.crowds.heights, self._leaves(row), strict=True)
        for column, (height, leaf) in enumerate(columns):
            alike.append([self._alike(column, level, leaf) for level in range(height)])
        common = np.tile(self._everyone, (len(nodes), 1))
        for mine, node in zip(common, nodes, strict=True):
            for by, level in zip(alike, node, strict=True):
                if level < len(by):
                    mine &= by[level]
        found = np.zeros(len(nodes), dtype=np.int64)
        for place, digit in enumerate(self._digits):
            found += np.bitwise_count(common & digit).sum(axis=1, dtype=np.int64) << place
        return found

    def _alike(self, column: int, level: int, leaf: int) -> Bits:
        """Who shows the same in a column at a level as someone with a leaf."""
        codes = self.crowds.hierarchies[column].maps[level]
        asked = column, level, int(codes[leaf])
        if asked not in self._known:
            if len(self._known) * self._everyone.nbytes > KEPT:
                self._known.clear()
            self._known[asked] = _packed((codes == codes[leaf])[self.crowds.everyone.codes[column]])
        return self._known[asked]


def _packed(some: npt.NDArray[np.bool_]) -> Bits:
    packed = np.packbits(some)
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
