"""`Sorting`: the small groups of many nodes, found by sorting the keys of a table's rows.

A limit of k on the size of groups needs the groups below it and no others. Where a node has more
cells than there are rows, sorting finds them fastest, and nodes that are rolled up from one table
are sorted together: calls cost little, and the numbers stay in the cache. With the codes of one
axis last in the keys, the groups that merge on it are neighbours, so that the node one level
coarser comes for little more. Uses `tables`; `rollup` uses it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.lattice.cells import Cells
from shoal.lattice.coding import Index, Kind, Levels, Sizes, Unsigned, raised
from shoal.lattice.tables import WIDEST, GroupTable, GroupTables, Scratch, differences, key_type

__all__ = ["Ask", "Sorting"]

Ask = tuple[Levels, int | None]
"""A node whose small groups are wanted, and perhaps an axis along which those of the next finer
node are wanted too.
"""

BATCH = 1 << 18
"""Rows times nodes that are sorted at once: they stay in the cache, and calls cost little."""


class _Batch(NamedTuple):
    """Nodes whose groups can be found by sorting together.

    They come from one table, are at the same level on an axis, and have one kind of key.
    """

    table: GroupTable
    nodes: list[Levels]
    axis: int | None
    kind: Kind

    @property
    def level(self) -> int:
        """The level of all nodes on the axis; -1 without one."""
        return -1 if self.axis is None else self.nodes[0][self.axis]

    def coarser(self) -> list[Levels]:
        """The nodes one level coarser on the axis."""
        assert self.axis is not None
        return [raised(levels, self.axis) for levels in self.nodes]


class _Written(NamedTuple):
    """How the codes of one axis are written last in a key."""

    codes: Index
    """The number of each code."""

    bits: int
    """How many bits to shift out."""

    values: int
    """How many numbers there are."""

    kind: Kind


class _Groups(NamedTuple):
    """The groups of several nodes, one node's after the other's, up to its stop."""

    nodes: Sequence[Levels]
    cells: Index
    sizes: Index
    stops: Index

    def below(self, k: int) -> "_Groups":
        """Those with fewer than k records."""
        small = np.flatnonzero(self.sizes < k)
        stops = np.searchsorted(small, self.stops)
        return _Groups(self.nodes, self.cells.take(small), self.sizes.take(small), stops)


class Sorting:
    """The small groups of nodes, rolled up from some tables."""

    def __init__(self, tables: GroupTables) -> None:
        self._tables = tables
        self._coding = tables.coding

    def below(self, asks: Iterable[Ask], k: int) -> Iterator[Cells]:
        """The groups with fewer than k records of every node asked for; see `Rollup.below`."""
        for batch in self._batches(asks, k):
            if isinstance(batch, Cells):
                yield batch.compact.below(k)
                continue
            for groups in self._sorted(batch, k):
                yield from self._cells(groups.below(k), batch.axis)

    def _cells(self, groups: _Groups, last_axis: int | None) -> Iterator[Cells]:
        """The groups of each node."""
        sizes = groups.sizes.astype(np.float64)
        start = 0
        for levels, stop in zip(groups.nodes, groups.stops.tolist(), strict=True):
            keys = groups.cells[start:stop]
            yield Cells(self._coding, levels, sizes[start:stop], keys, last_axis=last_axis)
            start = stop

    def masses(
        self, asks: Iterable[Ask], k: int, penalty: Callable[[Sizes], Sizes]
    ) -> Iterator[tuple[Levels, float]]:
        """What the groups of every node asked for add up to; see `Rollup.masses`."""
        worth = np.concatenate(([0, 0], penalty(np.arange(1, k + 2))))
        bends = np.diff(worth, n=2)  # not 0 at few sizes only, whatever k
        for batch in self._batches(asks, k):
            if isinstance(batch, Cells):
                yield batch.levels, float(penalty(batch.sizes).sum())
                continue

            single = batch.table.single(k)
            written = None
            if single is not None:
                written = self._shifted(batch)
            if single is not None and written is not None:
                yield from self._tallied(batch._replace(table=single), written, bends)
                continue

            for groups in self._sorted(batch, k):
                starts = np.concatenate(([0], groups.stops[:-1]))
                sums = np.add.reduceat(penalty(groups.sizes), starts)
                yield from zip(groups.nodes, sums.tolist(), strict=True)

    def _batches(self, asks: Iterable[Ask], k: int) -> Iterator[Cells | _Batch]:
        """The groups of nodes that have few, and the other nodes in batches.

        The nodes of a batch can be sorted together.
        """
        tables = self._tables
        alike: dict[tuple[int, Kind, int | None, int], _Batch] = {}
        for node, axis in asks:
            # The finer node first: the other one comes from it.
            levels = node if axis is None else raised(node, axis, -1)
            table = tables.nearest(levels)
            cells = prod(self._coding.cards_at(levels))
            numbers = cells << k.bit_length()
            if cells <= table.rows or numbers > WIDEST:
                # Few enough cells to count into an array, or too many for a key.
                for each in dict.fromkeys((node, levels)):
                    yield tables.cells(each)
                continue

            batch = _Batch(table, [levels], axis, key_type(numbers))
            place = (id(table), batch.kind, axis, batch.level)
            if place in alike:
                alike[place].nodes.append(levels)
            else:
                alike[place] = batch

        for batch in alike.values():
            at_once = max(BATCH // batch.table.rows, 1)
            for start in range(0, len(batch.nodes), at_once):
                yield batch._replace(nodes=batch.nodes[start : start + at_once])

    # Groups with their sizes

    def _sorted(self, batch: _Batch, k: int) -> Iterator[_Groups]:
        """The groups of the nodes of a batch, and of those one level coarser on its axis.

        Sizes of k or more are all alike here, so for most nodes a row's key and its size fit one
        32-bit number, and sorting those is the cheapest way to find the small groups.
        """
        with self._tables.scratches.lent() as scratch:
            groups = self._groups(batch, k, scratch)
        numbers = np.diff(groups.stops, prepend=0).tolist()
        for levels, number in zip(batch.nodes, numbers, strict=True):
            self._tables.estimates.learn(levels, number)
        yield groups
        if batch.axis is not None:
            yield self._merged(groups, batch, batch.axis)

    def _groups(self, batch: _Batch, k: int, scratch: Scratch) -> _Groups:
        table, nodes, axis, kind = batch
        bits = k.bit_length()
        card = 1 if axis is None else self._coding.cards[axis][batch.level]
        written = _Written(np.arange(card) << bits, bits, card << bits, kind)
        keys = self._keys(batch, written, scratch)
        keys += table.clipped(k, kind)
        keys.sort(axis=1)

        # From here on, `cell` has the cell of every row, and `keys` its size.
        cell = scratch.array("other", keys.size, kind).reshape(keys.shape)
        np.right_shift(keys, kind(bits), out=cell)
        keys &= kind((1 << bits) - 1)
        ends = scratch.array("same", keys.size, np.bool_).reshape(keys.shape)
        np.not_equal(cell[:, 1:], cell[:, :-1], out=ends[:, :-1])
        ends[:, -1] = True
        last = np.flatnonzero(ends)
        # Sums over several nodes may run over, but none over a group: it is a number that keys
        # could be, with more cells than rows.
        sums = keys.reshape(-1)
        np.cumsum(sums, dtype=kind, out=sums)
        stops = np.searchsorted(last, np.arange(1, len(nodes) + 1) * table.rows)
        sizes = differences(sums.take(last), np.intp)
        cells = cell.reshape(-1).take(last).astype(np.intp)
        return _Groups(nodes, cells, sizes, stops)

    def _merged(self, groups: _Groups, batch: _Batch, axis: int) -> _Groups:
        """The groups one level coarser on the axis, which comes last in the keys."""
        up = self._coding.between(axis, batch.level, batch.level + 1)
        rest = groups.cells // len(up)
        merged = rest * self._coding.cards[axis][batch.level + 1]
        merged += up.take(groups.cells - rest * len(up))

        # A group ends where the cell changes, and at the end of its node.
        ends = np.append(merged[1:] != merged[:-1], True)
        ends[groups.stops - 1] = True
        last = np.flatnonzero(ends)
        sizes = differences(np.cumsum(groups.sizes).take(last), np.intp)
        stops = np.searchsorted(last, groups.stops)
        return _Groups(batch.coarser(), merged.take(last), sizes, stops)

    # Sums over groups, without their sizes

    def _shifted(self, batch: _Batch) -> _Written | None:
        """How to write the codes of the axis so that a shift leaves those one level coarser.

        None if such keys would not fit an integer.
        """
        axis = batch.axis
        codes = np.zeros(1, dtype=np.intp)
        bits = 0
        values = 1
        if axis is not None:
            # A code is its coarser code, and then its rank among those that merge with it.
            up = self._coding.between(axis, batch.level, batch.level + 1)
            rank = np.arange(len(up)) - np.searchsorted(up, up)
            bits = int(rank.max()).bit_length()
            codes = (up << bits) + rank
            values = (int(up[-1]) + 1) << bits

        others = max(self._cells_without(axis, levels) for levels in batch.nodes)
        numbers = others * values
        if numbers > WIDEST:
            return None
        return _Written(codes, bits, values, key_type(numbers))

    def _cells_without(self, axis: int | None, levels: Levels) -> int:
        """How many cells a node has when one axis is left out."""
        cards = self._coding.cards_at(levels)
        if axis is not None:
            del cards[axis]
        return prod(cards)

    def _tallied(
        self, batch: _Batch, written: _Written, bends: npt.NDArray[Any]
    ) -> Iterator[tuple[Levels, float]]:
        """A sum over the groups of a batch's nodes, and of those one level coarser on its axis.

        The table has a row for every record. Among sorted keys, a group of c has c − d pairs of
        equal keys at distance d, if c > d; so sums of such pairs, weighed by how a function of c
        bends, are sums of that function.
        """
        nodes = [*batch.nodes]
        with self._tables.scratches.lent() as scratch:
            keys = self._keys(batch, written, scratch)
            keys.sort(axis=1)
            same = scratch.array("same", keys.size, np.bool_)
            sums = _pairs(keys, same, bends)
            if batch.axis is not None:
                keys >>= keys.dtype.type(written.bits)
                nodes += batch.coarser()
                sums += _pairs(keys, same, bends)
        yield from zip(nodes, sums, strict=True)

    # Keys

    def _keys(self, batch: _Batch, written: _Written, scratch: Scratch) -> Unsigned:
        """The rows' keys at the nodes of a batch, one line per node.

        The codes of the batch's axis come last.
        """
        coding = self._coding
        table = batch.table
        nodes = batch.nodes
        kind = written.kind
        shape = (len(nodes), table.rows)
        keys = scratch.array("keys", prod(shape), kind).reshape(shape)
        other = scratch.array("other", prod(shape), kind).reshape(shape)
        cards = coding.cards_at(table.levels)
        strides = [written.values] * len(nodes)
        empty = True
        for axes, codes in reversed(table.packs):
            last = batch.axis if batch.axis in axes else None
            separates = last is not None
            added = np.empty((len(nodes), prod(cards[axis] for axis in axes)), dtype=kind)
            for node, levels in enumerate(nodes):
                look_up, values = coding.look_up(axes, table.levels, levels, kind, last)
                np.multiply(look_up, kind(strides[node]), out=added[node])
                strides[node] *= values
                separates |= values > 1
            if last is not None:
                along = coding.along(axes, last, table.levels, nodes[0])
                added += written.codes.take(along).astype(kind)

            if not separates:
                # All rows have the same number here: it is 0.
                continue
            if empty:
                added.take(codes, axis=1, out=keys, mode="clip")
                empty = False
            else:
                added.take(codes, axis=1, out=other, mode="clip")
                keys += other
        if empty:
            keys[:] = 0
        return keys


def _pairs(keys: Unsigned, same: npt.NDArray[np.bool_], bends: npt.NDArray[Any]) -> list[float]:
    """For every line of sorted keys, the pairs of equal ones.

    Pairs are weighed by the bend at their distance.

    `same` is scratch space.
    """
    nodes, rows = keys.shape
    sums = [float(rows * bends[0])] * nodes
    for distance in np.flatnonzero(bends).tolist():
        if not 0 < distance < rows:
            continue
        bend = float(bends[distance])
        equal = same[: nodes * (rows - distance)].reshape(nodes, -1)
        np.equal(keys[:, distance:], keys[:, :-distance], out=equal)
        for node, line in enumerate(equal):
            sums[node] += bend * np.count_nonzero(line)
    return sums
