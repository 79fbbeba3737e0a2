"""Group tables of lattice nodes, each rolled up from the cheapest finer one already there.

A *table* holds the distinct cells of a node as a few packs (mixed-radix numbers of neighbouring
axes, at most `PACK` values each) and their sizes. A coarser node's cells come from it by one
look-up per pack, a sum, and one `bincount`; where the cells are many more than the rows, by one
sort instead. Rows are never read again. An *axis* is a column here: they are taken in the order of
their cardinality, largest first, and only values that occur have a code. Codes keep the order of
the tree, so a coarser code never decreases along a finer one. Uses `counts`; `lattice` and
`optimum` use it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from math import exp, expm1, inf, prod
from threading import Lock, local
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from shoal.counts import PACK, last_of_runs, packs_of, ranks

__all__ = ["Ask", "Cells", "Floats", "Index", "Levels", "Rollup", "Sizes"]

Floats = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.floating] | npt.NDArray[np.integer]
"""Numbers of records, exact integers."""
Index = npt.NDArray[np.intp]
Unsigned = npt.NDArray[np.unsignedinteger]
Packs = tuple[tuple[range, Unsigned], ...]
"""Runs of axes, and for every row the codes of such a run as one mixed-radix number."""
Levels = tuple[int, ...]
"""A level for every axis."""
Ask = tuple[Levels, int | None]
"""A node whose small groups are wanted, and perhaps an axis along which those of the next finer
node are wanted too.
"""

# How to roll up, all of it measured.
SPARSE = 2
"""With more cells than this times the rows, sorting beats counting into an array."""

BATCH = 1 << 18
"""Rows times nodes that are sorted at once: they stay in the cache, and calls cost little."""

LONGER = 2
"""Rows may become this many times as many where each is to be one record."""

BLOCK = 12
"""An array may have this many times as many places as it has groups."""

# Which intermediate tables to make, all of it measured.
SMALL = 1 << 14
"""Tables up to this size are not worth an intermediate one."""

STEP = 8
"""An intermediate table is estimated at this part of the nearest one."""

WANTED = 2
"""Making one by sorting costs about as much as evaluating this many nodes from the finer table."""

LARGE = 1 << 18
"""Rows from which a table that several intermediate ones can be made from is worth making."""

SHARED = 0.8
"""The part of the rows that such a table may be estimated at."""

# Limits
MEMO = 32 << 20
"""Bytes of look-up tables that are kept, and of sums of weights."""

HALF = 1 << 15
"""Cells that a table of summed weights may have, in a node of any size."""

DENSE = 1 << 22
"""Cells up to which rows find their group in an array of all cells."""

DIMENSIONS = 60
"""Of an array; numpy has at most 64."""

WIDEST = 1 << 62
"""Nodes with more cells have no key that fits an integer."""


class _Memo:
    """Arrays that are asked for again, forgotten all at once when they become too many.

    Keys may contain ids, so the things that have them are kept alive too.
    """

    def __init__(self) -> None:
        self._known: dict[object, tuple[object, npt.NDArray[Any]]] = {}
        self._spare = MEMO
        self.get = self._known.get

    def put(self, asked: object, alive: object, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Keep an array, with the things whose ids are in the key, and give it back."""
        self._spare -= array.nbytes
        if self._spare < 0:
            self._known.clear()
            self._spare = MEMO
        self._known[asked] = (alive, array)
        return array


@dataclass(frozen=True, eq=False)
class _Table:
    """The distinct cells of one node: packs of codes, and sizes."""

    levels: Levels
    packs: Packs
    sizes: Floats
    _clipped: dict[tuple[int, type], Unsigned] = field(default_factory=dict)
    _single: dict[int, "_Table | None"] = field(default_factory=dict)

    def single(self, k: int) -> "_Table | None":
        """The table with a row for every record, k for larger cells; None if that would be many
        more rows.
        """
        if k not in self._single:
            single = None
            sizes = np.minimum(self.sizes, k).astype(np.intp)
            if sizes.sum() <= LONGER * len(sizes):
                packs = tuple((axes, codes.repeat(sizes)) for axes, codes in self.packs)
                single = _Table(self.levels, packs, np.ones(len(packs[0][1])))
            self._single[k] = single
        return self._single[k]

    def clipped(self, k: int, kind: type[np.unsignedinteger]) -> Unsigned:
        """The sizes, those above k as k."""
        if (k, kind) not in self._clipped:
            self._clipped[k, kind] = np.minimum(self.sizes, k).astype(kind)
        return self._clipped[k, kind]


class _Some(NamedTuple):
    """The cells of several nodes, one node's after the other's, up to its stop; keys may have an
    axis last.
    """

    nodes: Sequence[Levels]
    cells: Index
    sizes: Index
    stops: Index
    last_axis: int | None


class _Batch(NamedTuple):
    """Nodes whose groups can be found by sorting together: from one table, at the same level on an
    axis, by one kind of key.
    """

    table: _Table
    nodes: Sequence[Levels]
    axis: int | None
    kind: type[np.unsignedinteger]


class _Last(NamedTuple):
    """How the codes of one axis are written last in a key: the number of each, how many bits to
    shift out, how many numbers.
    """

    codes: Index
    bits: int
    values: int
    kind: type[np.unsignedinteger] = np.uint64


class _Kept(NamedTuple):
    """The tables kept to roll up from, with their levels and numbers of rows side by side."""

    tables: list[_Table]
    levels: npt.NDArray[np.int16]
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Outer:
    """The groups that the first axes make by themselves, ascending: what a block of nodes has in
    common.
    """

    axes: int
    keys: Index
    _weights: _Memo = field(default_factory=_Memo)

    def weigh(self, rollup: "Rollup", weights: Sequence[Floats], cards: Sequence[int]) -> Floats:
        """The weight of every group, made once for the same weights."""
        same = tuple(map(id, weights))
        known = self._weights.get(same)
        if known is not None:
            return known[1]
        return self._weights.put(same, weights, rollup.weigh_keys(self.keys, weights, cards))


@dataclass(frozen=True, eq=False)
class Cells:
    """A node's groups, and their sizes.

    A cell is known by its key (all codes in one mixed-radix number), and `keys` are ascending; it
    is None where `sizes` has a place for every key, so that some may be 0. In a block, `sizes` has
    a line for every combination of the inner axes and in it a place for every group of the `outer`
    ones. Where keys would not fit an integer, `wide` has packs of codes instead, as a table has.
    Keys may have an axis last instead of in its place; such cells have no order to rely on.
    """

    rollup: "Rollup"
    levels: Levels
    sizes: Sizes
    keys: Index | None = None
    wide: Packs | None = None
    outer: _Outer | None = None
    last_axis: int | None = None

    @cached_property
    def compact(self) -> "Cells":
        """The groups that have records, in the order of their keys."""
        if self.keys is not None or self.wide is not None:
            return self
        if self.outer is None:
            # `!= 0` makes this several times faster than of the numbers themselves.
            keys = np.flatnonzero(self.sizes != 0)
            return Cells(self.rollup, self.levels, self.sizes.take(keys), keys)
        sizes = self.sizes.reshape(-1, len(self.outer.keys)).T
        group, inner = np.nonzero(sizes)
        keys = self.outer.keys.take(group) * sizes.shape[1] + inner
        return Cells(self.rollup, self.levels, sizes[group, inner], keys)

    def codes(self, axis: int) -> Index:
        """Every group's code on an axis, of compact cells."""
        cards = self.rollup.cards_at(self.levels)
        for axes, packed in self.wide or ():
            if axis in axes:
                return packed.astype(np.intp) // prod(cards[axis + 1 : axes.stop]) % cards[axis]
        order: Sequence[int] = range(len(cards))
        if self.last_axis is not None:
            order = _moved(order, self.last_axis)
        after = prod(cards[other] for other in order[order.index(axis) + 1 :])
        return self._known // after % cards[axis]

    @property
    def _known(self) -> Index:
        assert self.keys is not None, "these cells are not compact"
        return self.keys

    def weigh(self, weights: Sequence[Floats], kept: Sizes) -> float:
        """The sum over the kept records of the weights of their values; `weights[axis]` is over the
        axis's codes.
        """
        if self.wide is not None:
            weight = np.zeros(len(kept))
            for axes, packed in self.wide:
                weight += self.rollup.outer(weights[axes.start : axes.stop]).take(packed)
            return float((weight * kept).sum())
        cards = self.rollup.cards_at(self.levels)
        if self.last_axis is not None:
            weights, cards = (_moved(each, self.last_axis) for each in (weights, cards))
        if self.keys is not None:
            weight = self.rollup.weigh_keys(self.keys, weights, cards)
            weight *= kept
            return float(weight.sum())
        if self.outer is not None:
            split = self.outer.axes
            lines = self.rollup.outer(weights[split:])
            places = self.outer.weigh(self.rollup, weights[:split], cards)
        else:
            split = _middle(tuple(cards))
            lines, places = self.rollup.outer(weights[:split]), self.rollup.outer(weights[split:])
        block = kept.reshape(len(lines), len(places))
        return float((lines * block.sum(axis=1)).sum() + (places * block.sum(axis=0)).sum())

    def marginals(self, kept: Floats) -> list[Floats]:
        """How many of the kept records have each code, for every axis."""
        cards = self.rollup.cards_at(self.levels)
        if self.outer is not None:
            split, block = self.outer.axes, kept.reshape(-1, len(self.outer.keys))
            groups = block.sum(axis=0)
            outer = Cells(self.rollup, self.levels, groups, self.outer.keys * prod(cards[split:]))
            first = [_sums(outer.codes(axis), groups, cards[axis]) for axis in range(split)]
            return [*first, *_along_each(block.sum(axis=1), cards[split:])]
        split = _middle(tuple(cards))
        low = prod(cards[split:])
        if self.keys is None and self.wide is None:
            block = kept.reshape(-1, low)
            return [
                *_along_each(block.sum(axis=1), cards[:split]),
                *_along_each(block.sum(axis=0), cards[split:]),
            ]
        if self.keys is None or self.last_axis is not None or max(prod(cards[:split]), low) > DENSE:
            return [_sums(self.codes(axis), kept, card) for axis, card in enumerate(cards)]
        high = self.keys // low
        upper = _sums(high, kept, prod(cards[:split]))
        lower = _sums(self.keys - high * low, kept, low)
        return [*_along_each(upper, cards[:split]), *_along_each(lower, cards[split:])]

    def find(self, codes: Sequence[Unsigned]) -> Index:
        """The group of each row, given the rows' real codes by column; of compact cells."""
        places = []
        for axis, column in enumerate(self.rollup.axes):
            real = self.rollup.real[axis][self.levels[axis]]
            rank = np.zeros(int(real.max(initial=0)) + 1, dtype=np.intp)
            rank[real] = np.arange(len(real))
            places.append(rank[codes[column]])
        cards = self.rollup.cards_at(self.levels)
        if self.wide is not None:
            runs = [axes for axes, _ in self.wide]
            theirs = self.rollup.pack(self.levels, places, runs)
            pairs = zip(self.wide, theirs, strict=True)
            both = [np.concatenate((ours, packed)) for (_, ours), (_, packed) in pairs]
            rank = ranks(both, [prod(cards[axis] for axis in axes) for axes in runs])
            where = np.empty(len(rank), dtype=np.intp)
            where[rank[: len(self.sizes)]] = np.arange(len(self.sizes))
            return where[rank[len(self.sizes) :]]
        key = np.zeros(len(places[0]) if places else 0, dtype=np.intp)
        for place, card in zip(places, cards, strict=True):
            key *= card
            key += place
        if prod(cards) > DENSE:
            return np.searchsorted(self._known, key)
        group = np.zeros(prod(cards), dtype=np.intp)
        group[self._known] = np.arange(len(self._known))
        return group.take(key)

    def group_of(self, axes: int) -> Index:
        """For every one of compact cells the number of its group when only the first `axes` axes
        tell groups apart.
        """
        if self.wide is not None:
            cards = self.rollup.cards_at(self.levels)
            separating = [
                packed // prod(cards[max(axes, run.start) : run.stop])
                for run, packed in self.wide
                if run.start < axes
            ]
            changed = np.any([packed[1:] != packed[:-1] for packed in separating], axis=0)
        else:
            group = self._known // prod(self.rollup.cards_at(self.levels)[axes:])
            changed = group[1:] != group[:-1]
        first = np.zeros(min(len(self.sizes), 1), dtype=np.intp)
        return np.concatenate((first, np.cumsum(changed)))


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
        *,
        keep_bytes: int = 256 << 20,
    ) -> None:
        if len(count) and not count.min():
            rows = np.flatnonzero(count)
            codes = [column[rows] for column in codes]
            carried = [column[rows] for column in carried]
            count = count[rows]
        sizes = count.astype(np.float64)
        often = [np.bincount(column, sizes) for column in (*codes, *carried)]
        seen = [np.flatnonzero(number) for number in often]
        self.axes = sorted(range(len(codes)), key=lambda j: (-len(seen[j]), j))
        """The column of every axis that is not carried."""
        self.real: list[list[Index]] = []
        """For every axis and level the real code of every code used here."""
        # For every axis and level the code of every leaf that occurs.
        self._up: list[list[Index]] = []
        base: list[Unsigned] = []
        order = [*self.axes, *range(len(codes), len(seen))]
        for j in order:
            leaves, column = seen[j], (*codes, *carried)[j]
            levels: list[npt.NDArray[np.integer]] = [leaves]
            if j < len(codes):
                levels = [np.asarray(level_map)[leaves] for level_map in maps[j]]
            distinct = [np.unique(level, return_inverse=True) for level in levels]
            self.real.append([real.astype(np.intp) for real, _ in distinct])
            self._up.append([inverse.astype(np.intp) for _, inverse in distinct])
            rank = np.zeros(int(leaves.max(initial=0)) + 1, dtype=_pack_type(len(leaves)))
            rank[leaves] = np.arange(len(leaves))
            base.append(rank.take(column, mode="clip"))
        self._cards = [[len(real) for real in axis] for axis in self.real]
        self._looked_up = _Memo()
        self._between: dict[tuple[int, int, int], Index] = {}
        self.total = float(count.sum())
        bottom = (0,) * len(self.real)
        self._base = _Table(bottom, self.pack(bottom, base), sizes)
        levels_kept = np.zeros((1, len(bottom)), dtype=np.int16)
        self._kept = _Kept([self._base], levels_kept, np.array([len(count)]))
        self._keeping = Lock()
        self._own = local()
        self._spare = keep_bytes
        self._wanted: dict[Levels, int] = {}
        self._steps: dict[Levels, list[Levels]] = {}
        self._tried: set[Levels] = set()
        self._sums = _Memo()
        self._correction: dict[int, float] = {}
        self._leaf = [often[j][seen[j]].astype(np.float64) for j in order]
        self._log_card = [self._log_cardinality(axis) for axis in range(len(base))]

    @property
    def rows(self) -> int:
        """How many distinct rows everything starts from."""
        return len(self._base.sizes)

    def levels_of(self, node: Sequence[int]) -> Levels:
        """The levels of the axes, from those of the columns."""
        return tuple(node[column] for column in self.axes)

    def columns_of(self, levels: Levels) -> Levels:
        """The levels of the columns, from those of the axes."""
        node = [0] * len(self.axes)
        for level, column in zip(levels, self.axes, strict=False):
            node[column] = level
        return tuple(node)

    def cards_at(self, levels: Levels) -> list[int]:
        """How many values each axis has at these levels."""
        return [cards[level] for cards, level in zip(self._cards, levels, strict=True)]

    def marginal(self, axis: int, level: int) -> Floats:
        """How many records have each code of an axis at a level."""
        return _sums(self._up[axis][level], self._leaf[axis], self._cards[axis][level])

    def spread(self, axis: int, fine: int, coarse: int) -> float:
        """How much an axis merges between two levels: for planning only."""
        return self._log_card[axis][fine] - self._log_card[axis][coarse]

    def weigh_keys(self, keys: Index, weights: Sequence[Floats], cards: Sequence[int]) -> Floats:
        """The sum of the weights of every key's codes; `weights` may be of the first axes only, and
        then so are the keys.
        """
        cards = cards[: len(weights)]
        split = _middle(tuple(cards))
        if len(cards) > 2 and prod(cards) > HALF * HALF:
            # The halves would be large themselves: halve them again.
            left, right = np.divmod(keys, prod(cards[split:]))
            first = self.weigh_keys(left, weights[:split], cards[:split])
            return first + self.weigh_keys(right, weights[split:], cards[split:])
        high, low = self.outer(weights[:split]), self.outer(weights[split:])
        left = keys // len(low)
        weight = high.take(left)
        weight += low.take(keys - left * len(low))
        return weight

    def outer(self, weights: Sequence[Floats]) -> Floats:
        """The sum of weights for every combination of values, made once for the same weights."""
        same = tuple(map(id, weights))
        known = self._sums.get(same)
        if known is not None:
            return known[1]
        total = np.zeros(1)
        for weight in weights:
            total = (total[:, None] + weight).ravel()
        return self._sums.put(same, weights, total)

    def cells(self, levels: Levels) -> Cells:
        """The groups at a node, rolled up from the smallest table that is at least as fine."""
        return self._roll(self._nearest(levels), levels)

    def below(self, asks: Iterable[Ask], k: int) -> Iterator[Cells]:
        """The groups with fewer than k records, and no others, of every node asked for: what a
        limit of k costs.

        Where an axis is asked for along with a node, the node one level finer on it comes too, for
        little more than the price of one. Nodes come in no order to rely on.
        """
        for some in self._alike(asks, k):
            if isinstance(some, Cells):
                yield self._below(some.compact, k)
            else:
                for groups in self._sorted(some.table, some.nodes, some.axis, k, some.kind):
                    yield from self._smallest(*groups, k)

    def masses(
        self, asks: Iterable[Ask], k: int, penalty: Callable[[Sizes], Sizes]
    ) -> Iterator[tuple[Levels, float]]:
        """For every node that `below` would give, a sum over its groups that depends on their sizes
        only.

        `penalty` gives what groups of these sizes add; from k on it is 0, whatever the size.
        """
        worth = np.concatenate(([0, 0], penalty(np.arange(1, k + 2))))
        bends = np.diff(worth, n=2)  # not 0 at few sizes only, whatever k
        for some in self._alike(asks, k):
            if isinstance(some, Cells):
                yield some.levels, float(penalty(some.sizes).sum())
                continue
            table, nodes, axis, kind = some
            single = table.single(k)
            last = None if single is None else self._last(axis, nodes)
            if single is not None and last is not None:
                yield from self._tallied(single, nodes, axis, last, bends)
                continue
            for groups in self._sorted(table, nodes, axis, k, kind):
                starts = np.concatenate(([0], groups.stops[:-1]))
                sums = np.add.reduceat(penalty(groups.sizes), starts)
                yield from zip(groups.nodes, sums.tolist(), strict=True)

    def _alike(self, asks: Iterable[Ask], k: int) -> Iterator[Cells | _Batch]:
        """The groups of nodes that have few, and the others in batches that can be sorted
        together.
        """
        alike: dict[
            tuple[int, type[np.unsignedinteger], int | None, int], tuple[_Table, list[Levels]]
        ] = {}
        for node, axis in asks:
            levels = node if axis is None else _finer(node, axis)
            table = self._nearest(levels)
            cells = prod(self.cards_at(levels))
            if cells <= len(table.sizes) or cells << k.bit_length() > WIDEST:
                for each in dict.fromkeys((node, levels)):
                    yield self._roll(self._nearest(each), each)
                continue
            kind = np.uint32 if cells << k.bit_length() <= 1 << 32 else np.uint64
            place = (id(table), kind, axis, -1 if axis is None else levels[axis])
            alike.setdefault(place, (table, []))[1].append(levels)
        for (_, kind, axis, _), (table, nodes) in alike.items():
            at_once = max(BATCH // len(table.sizes), 1)
            for start in range(0, len(nodes), at_once):
                yield _Batch(table, nodes[start : start + at_once], axis, kind)

    def _last(self, axis: int | None, nodes: Sequence[Levels]) -> _Last | None:
        """How to write the codes of an axis last in the keys of nodes, so that a shift leaves those
        one level coarser.

        None if such keys would not fit an integer.
        """
        if axis is None:
            last = _Last(np.zeros(1, dtype=np.intp), 0, 1)
        else:
            up = self._to(axis, nodes[0][axis], nodes[0][axis] + 1)
            rank = np.arange(len(up)) - np.searchsorted(up, up)
            bits = int(rank.max()).bit_length()
            last = _Last((up << bits) + rank, bits, (int(up[-1]) + 1) << bits)
        widest = max(prod(_without(self.cards_at(levels), axis)) for levels in nodes) * last.values
        if widest > WIDEST:
            return None
        return last._replace(kind=np.uint32 if widest <= 1 << 32 else np.uint64)

    def _tallied(
        self,
        table: _Table,
        nodes: Sequence[Levels],
        axis: int | None,
        last: _Last,
        bends: npt.NDArray[Any],
    ) -> Iterator[tuple[Levels, float]]:
        """A sum over the groups of some nodes that are at the same level on an axis, and of those
        one level coarser on it.

        The table has a row for every record. Among sorted keys, a group of c has c − d pairs of
        equal keys at distance d, if c > d; so sums of such pairs, weighed by how a function of c
        bends, are sums of that function.
        """
        keys = self._keys(table, nodes, axis, last)
        keys.sort(axis=1)
        same = self._scratch("same", keys.size, np.bool_)
        yield from zip(nodes, self._pairs(keys, same, bends), strict=True)
        if axis is not None:
            keys >>= keys.dtype.type(last.bits)
            coarser = [(*levels[:axis], levels[axis] + 1, *levels[axis + 1 :]) for levels in nodes]
            yield from zip(coarser, self._pairs(keys, same, bends), strict=True)

    def _pairs(
        self, keys: Unsigned, same: npt.NDArray[np.bool_], bends: npt.NDArray[Any]
    ) -> list[float]:
        nodes, rows = keys.shape
        sums = [float(rows * bends[0])] * nodes
        for distance in np.flatnonzero(bends).tolist():
            if 0 < distance < rows:
                equal = same[: nodes * (rows - distance)].reshape(nodes, -1)
                np.equal(keys[:, distance:], keys[:, :-distance], out=equal)
                bend = float(bends[distance])
                sums = [
                    total + bend * np.count_nonzero(line)
                    for total, line in zip(sums, equal, strict=True)
                ]
        return sums

    def _below(self, whole: Cells, k: int) -> Cells:
        small = np.flatnonzero(whole.sizes < k)
        sizes = whole.sizes.take(small)
        if whole.wide is not None:
            wide = tuple((axes, packed.take(small)) for axes, packed in whole.wide)
            return Cells(self, whole.levels, sizes, wide=wide)
        keys = None if whole.keys is None else whole.keys.take(small)
        return Cells(self, whole.levels, sizes, keys)

    def _sorted(
        self,
        table: _Table,
        nodes: Sequence[Levels],
        axis: int | None,
        k: int,
        kind: type[np.unsignedinteger],
    ) -> Iterator[_Some]:
        """The groups of some nodes that are at the same level on an axis, and of those one level
        coarser on it.

        Sizes from k on are all alike here, so a row's key and its size fit into one 32-bit number
        for most nodes, and sorting those is the cheapest way to find the small groups. With an axis
        last in the key, groups that merge on it are neighbours.
        """
        rows, bits = len(table.sizes), k.bit_length()
        card = 1 if axis is None else self._cards[axis][nodes[0][axis]]
        written = _Last(np.arange(card) << bits, bits, card << bits, kind)
        keys = self._keys(table, nodes, axis, written)
        keys += table.clipped(k, kind)
        keys.sort(axis=1)
        cell = self._scratch("cell", keys.size, kind).reshape(keys.shape)
        np.right_shift(keys, kind(bits), out=cell)
        keys &= kind((1 << bits) - 1)
        ends = self._scratch("ends", keys.size, np.bool_).reshape(keys.shape)
        np.not_equal(cell[:, 1:], cell[:, :-1], out=ends[:, :-1])
        ends[:, -1] = True
        last = np.flatnonzero(ends)
        size = np.cumsum(keys, out=self._scratch("sums", keys.size, np.intp)).take(last)
        size[1:] -= size[:-1].copy()
        cells = cell.reshape(-1).take(last).astype(np.intp)
        stops = np.searchsorted(last, np.arange(1, len(nodes) + 1) * rows)
        for levels, groups in zip(nodes, np.diff(stops, prepend=0).tolist(), strict=True):
            self._learn(levels, groups)
        yield _Some(nodes, cells, size, stops, axis)
        if axis is None:
            return
        coarser = [(*levels[:axis], levels[axis] + 1, *levels[axis + 1 :]) for levels in nodes]
        up = self._to(axis, nodes[0][axis], coarser[0][axis])
        rest = cells // len(up)
        merged = rest * self._cards[axis][coarser[0][axis]]
        merged += up.take(cells - rest * len(up))
        ends = np.concatenate((merged[1:] != merged[:-1], [True]))
        ends[stops - 1] = True
        last = np.flatnonzero(ends)
        whole = np.cumsum(size).take(last)
        whole[1:] -= whole[:-1].copy()
        yield _Some(coarser, merged.take(last), whole, np.searchsorted(last, stops), axis)

    def _keys(
        self, table: _Table, nodes: Sequence[Levels], axis: int | None, last: _Last
    ) -> Unsigned:
        """The rows' keys at some nodes that are at the same level on an axis, whose codes come
        last.
        """
        kind = last.kind
        keys = self._scratch("keys", len(nodes) * len(table.sizes), kind).reshape(len(nodes), -1)
        other = self._scratch("other", keys.size, kind).reshape(keys.shape)
        strides, empty = [last.values] * len(nodes), True
        for axes, codes in reversed(table.packs):
            own = axis if axis in axes else None
            values_of_pack = prod(self._cards[each][table.levels[each]] for each in axes)
            added = np.empty((len(nodes), values_of_pack), dtype=kind)
            separates = own is not None
            for node, levels in enumerate(nodes):
                look_up, values = self._look_up(axes, table.levels, levels, kind, own)
                np.multiply(look_up, kind(strides[node]), out=added[node])
                strides[node] *= values
                separates |= values > 1
            if own is not None:
                along = self._along(axes, own, table.levels, nodes[0])
                added += last.codes.take(along).astype(kind)
            if separates:
                added.take(codes, axis=1, out=keys if empty else other, mode="clip")
                if not empty:
                    keys += other
                empty = False
        if empty:
            keys[:] = 0
        return keys

    def _smallest(
        self,
        nodes: Sequence[Levels],
        cells: Index,
        sizes: Index,
        stops: Index,
        axis: int | None,
        k: int,
    ) -> Iterator[Cells]:
        """Of the cells of some nodes, one node's after the other's, those with fewer than k
        records.
        """
        small = np.flatnonzero(sizes < k)
        cells, few = cells.take(small), sizes.take(small).astype(np.float64)
        start = 0
        for levels, stop in zip(nodes, np.searchsorted(small, stops).tolist(), strict=True):
            yield Cells(self, levels, few[start:stop], cells[start:stop], last_axis=axis)
            start = stop

    def _scratch(self, name: str, size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
        """An array of this thread's to write to: new ones of this size would have the system hand
        out memory each time.
        """
        held: dict[str, npt.NDArray[Any]] = self._own.__dict__
        name = f"{name} {kind.__name__}"
        if name not in held or len(held[name]) < size:
            held[name] = np.empty(size, dtype=kind)
        return held[name][:size]

    def walk(self, low: Levels, high: Levels) -> Iterator[Cells]:
        """The groups of every node between two, each rolled up from those of a node one level finer
        on one axis.

        Depth first over the axes, and as soon as the rest of them fits an array not much larger
        than the table, all nodes of that rest at once by adding slices of the array.
        """
        yield from self._walk(self._roll(self._nearest(low), low).compact, 0, high)

    def _walk(self, cells: Cells, axis: int, high: Levels) -> Iterator[Cells]:
        """All nodes at the levels of the cells before an axis, and at their levels or higher from
        that axis on.
        """
        if axis == len(self.axes):
            yield cells
            return
        block = self._block(cells, axis)
        if block is not None:
            yield from self._walk_block(*block, cells.levels, high)
            return
        yield from self._walk(cells, axis + 1, high)
        for level in range(cells.levels[axis] + 1, high[axis] + 1):
            coarser = (*cells.levels[:axis], level, *cells.levels[axis + 1 :])
            cells = self._roll(self._table(cells), coarser).compact
            yield from self._walk(cells, axis + 1, high)

    def _block(self, cells: Cells, axis: int) -> tuple[Sizes, _Outer] | None:
        """The sizes as an array over the axes from one on and the groups of those before, unless it
        would be mostly empty.
        """
        cards = self.cards_at(cells.levels)
        inner = prod(cards[axis:])
        if (
            cells.keys is None
            or not len(cells.sizes)
            or len(cards) - axis >= DIMENSIONS
            or inner > max(BLOCK * len(cells.sizes), PACK)
        ):
            return None
        group = cells.keys // inner
        last = last_of_runs(group)
        if inner * len(last) > max(BLOCK * len(cells.sizes), PACK):
            return None
        place = np.zeros(len(group), dtype=np.intp)
        place[last[:-1] + 1] = 1
        # Integers up to 2^24 are exact in 32 bits, and so is any sum of sizes that is no larger:
        # half the memory to pass.
        kind = np.float32 if self.total < 1 << 24 else np.float64
        array: npt.NDArray[Any] = np.zeros(inner * len(last), dtype=kind)
        array[(cells.keys - group * inner) * len(last) + np.cumsum(place)] = cells.sizes
        return array.reshape(*cards[axis:], len(last)), _Outer(axis, group.take(last))

    def _walk_block(
        self, array: Sizes, outer: _Outer, levels: Levels, high: Levels
    ) -> Iterator[Cells]:
        """All nodes of a block, the last axis changing fastest; `arrays[p]` has its first p axes at
        the node's levels.
        """
        first, inner = outer.axes, len(self.axes) - outer.axes
        arrays = [array] * (inner + 1)
        ranges = [range(levels[axis], high[axis] + 1) for axis in range(first, first + inner)]
        for node in product(*ranges):
            risen = max((p for p in range(inner) if node[p] > levels[first + p]), default=None)
            if risen is not None:
                added = self._add(arrays[risen + 1], risen, first + risen, node[risen])
                arrays[risen + 1 :] = [added] * (inner - risen)
            here = (*levels[:first], *node, *levels[first + inner :])
            yield Cells(self, here, arrays[inner].reshape(-1), outer=outer)

    def _add(self, array: Sizes, dimension: int, axis: int, level: int) -> Sizes:
        """The array with one axis a level higher: values are in tree order, so those that merge are
        slices.
        """
        step = self._to(axis, level - 1, level)
        codes = self._cards[axis][level]
        if len(step) == codes:
            return array
        before = (slice(None),) * dimension
        if codes == 1:
            top: Sizes = array.sum(axis=dimension, keepdims=True)
            return top
        stops = np.searchsorted(step, np.arange(codes), side="right").tolist()
        rolled: Sizes = np.empty(
            (*array.shape[:dimension], codes, *array.shape[dimension + 1 :]), dtype=array.dtype
        )
        for code, (start, stop) in enumerate(zip([0, *stops], stops, strict=False)):
            place: Any = (*before, code)
            array[(*before, slice(start, stop))].sum(axis=dimension, out=rolled[place])
        return rolled

    # One step of rolling up

    def _roll(self, table: _Table, levels: Levels) -> Cells:
        cards = self.cards_at(levels)
        cells = prod(cards)
        if not len(table.sizes):
            return Cells(self, levels, np.zeros(0), np.zeros(0, dtype=np.intp))
        if cells > WIDEST:
            return self._roll_wide(table, levels, cards)
        separating = [pack for pack in table.packs if prod(cards[axis] for axis in pack[0]) > 1]
        if not separating:
            return Cells(self, levels, np.array([table.sizes.sum()]))
        key = self._scratch("key", len(table.sizes), np.intp)
        other = self._scratch("other", len(table.sizes), np.intp)
        for place, (axes, codes) in enumerate(separating):
            look_up, _ = self._look_up(axes, table.levels, levels)
            scaled = look_up * prod(cards[axes.stop :])
            scaled.take(codes, out=other if place else key, mode="clip")
            if place:
                key += other
        if cells <= max(SPARSE * len(table.sizes), PACK):
            return Cells(self, levels, _sums(key, table.sizes, cells))
        return Cells(self, levels, *_sums_by_key(key, table.sizes, cells))

    def _roll_wide(self, table: _Table, levels: Levels, cards: Sequence[int]) -> Cells:
        packs = [
            (axes, self._look_up(axes, table.levels, levels, np.uint32)[0].take(packed))
            for axes, packed in table.packs
        ]
        values = [prod(cards[axis] for axis in axes) for axes, _ in packs]
        rank = ranks([packed for _, packed in packs], values)
        sizes = _sums(rank, table.sizes, int(rank.max()) + 1)
        row = np.empty(len(sizes), dtype=np.intp)  # one of every group
        row[rank] = np.arange(len(rank))
        wide = tuple((axes, packed.take(row)) for axes, packed in packs)
        return Cells(self, levels, sizes, wide=wide)

    def _look_up(
        self,
        axes: range,
        fine: Levels,
        coarse: Levels,
        kind: type[np.integer] = np.intp,
        left_out: int | None = None,
    ) -> tuple[npt.NDArray[Any], int]:
        """For every value of a pack at the fine levels its number at the coarse ones, and how many
        numbers there are.

        One axis may be left out.
        """
        asked = (
            axes.start,
            fine[axes.start : axes.stop],
            coarse[axes.start : axes.stop],
            kind,
            left_out,
        )
        known = self._looked_up.get(asked)
        if known is not None:
            return known[1], cast(int, known[0])
        numbers, values = np.zeros(1, dtype=np.intp), 1
        for axis in reversed(axes):
            if axis == left_out:
                numbers = np.tile(numbers, self._cards[axis][fine[axis]])
            else:
                codes = self._to(axis, fine[axis], coarse[axis])
                numbers = (codes[:, None] * values + numbers).ravel()
                values *= self._cards[axis][coarse[axis]]
        return self._looked_up.put(asked, values, numbers.astype(kind)), values

    def _along(self, axes: range, axis: int, fine: Levels, coarse: Levels) -> Index:
        """For every value of a pack at the fine levels the code of one axis at the coarse ones."""
        asked = (axes.start, fine[axes.start : axes.stop], axis, coarse[axis])
        known = self._looked_up.get(asked)
        if known is not None:
            return known[1]
        inner = prod(self._cards[each][fine[each]] for each in range(axis + 1, axes.stop))
        outer = prod(self._cards[each][fine[each]] for each in range(axes.start, axis))
        codes = np.repeat(self._to(axis, fine[axis], coarse[axis]), inner)
        return self._looked_up.put(asked, None, np.tile(codes, outer))

    def _to(self, axis: int, fine: int, coarse: int) -> Index:
        """The coarse level's code of every code of the fine level."""
        codes = self._between.get((axis, fine, coarse))
        if codes is None:
            codes = np.empty(self._cards[axis][fine], dtype=np.intp)
            codes[self._up[axis][fine]] = self._up[axis][coarse]
            self._between[axis, fine, coarse] = codes
        return codes

    # Tables, and which are kept

    def _table(self, cells: Cells) -> _Table:
        """A table to roll up from."""
        cells = cells.compact
        sizes = cells.sizes.astype(np.float64, copy=False)
        if cells.wide is not None:
            columns = [cells.codes(axis) for axis in range(len(self.real))]
            return _Table(cells.levels, self.pack(cells.levels, columns), sizes)
        keys, cards = cells.keys, self.cards_at(cells.levels)
        assert keys is not None
        packs: list[tuple[range, Unsigned]] = []
        for axes in reversed(packs_of(cards, PACK)):
            size = prod(cards[axis] for axis in axes)
            packed = keys
            if axes.start:
                rest = keys // size
                packed, keys = keys - rest * size, rest
            packs.append((axes, packed.astype(_pack_type(size))))
        return _Table(cells.levels, tuple(reversed(packs)), sizes)

    def pack(
        self,
        levels: Levels,
        columns: Sequence[npt.NDArray[np.integer]],
        runs: Sequence[range] | None = None,
    ) -> Packs:
        """Packs of the codes of every axis."""
        cards = self.cards_at(levels)
        packs: list[tuple[range, Unsigned]] = []
        for axes in packs_of(cards, PACK) if runs is None else runs:
            kind = _pack_type(prod(cards[axis] for axis in axes))
            packed = np.zeros(len(columns[axes.start]), dtype=kind)
            for axis in axes:
                packed *= packed.dtype.type(max(cards[axis], 1) if axis > axes.start else 1)
                packed += columns[axis].astype(packed.dtype)
            packs.append((axes, packed))
        return tuple(packs)

    def _nearest(self, levels: Levels) -> _Table:
        """The smallest table at least as fine as a node; an intermediate one is made once it would
        have paid.
        """
        kept = self._kept
        table = self._base
        if len(kept.tables) > 1:
            fine = np.flatnonzero((kept.levels <= np.array(levels, dtype=np.int16)).all(axis=1))
            table = kept.tables[int(fine[kept.rows[fine].argmin()])]
        rows = len(table.sizes)
        step = self._intermediate(table.levels, levels, rows / STEP) if rows > SMALL else None
        if step is None:
            return table
        self._wanted[step] = self._wanted.get(step, 0) + 1
        if self._wanted[step] < (WANTED if prod(self.cards_at(step)) > rows else 1):
            return table
        self._wanted[step] = -1 << 30  # never again
        table = self._shared(table, step)
        smaller = self._table(self._roll(table, step))
        if len(smaller.sizes) * 2 >= rows:
            return table
        self._keep(smaller)
        return smaller

    def _shared(self, table: _Table, step: Levels) -> _Table:
        """A table to make an intermediate one from: where a large one is asked for several, what
        two of them have in common.
        """
        rows = len(table.sizes)
        if rows < LARGE:
            return table
        steps = self._steps.setdefault(table.levels, [])
        between = {tuple(map(min, step, other)) for other in steps} - self._tried
        steps.append(step)
        estimates = [(self._estimate(self._log_cells(levels)), levels) for levels in between]
        worthwhile = [pair for pair in estimates if pair[0] <= SHARED * rows]
        if not worthwhile:
            return table
        _, common = max(worthwhile)  # the finest, which most can be made from
        self._tried.add(common)
        shared = self._table(self._roll(table, common))
        if len(shared.sizes) > SHARED * rows:
            return table
        self._keep(shared)
        return shared

    def _keep(self, table: _Table) -> None:
        size = table.sizes.nbytes + sum(codes.nbytes for _, codes in table.packs)
        with self._keeping:  # readers see the tables before or after, never in between
            if size <= self._spare:
                self._spare -= size
                kept = self._kept
                levels = np.vstack([kept.levels, np.array(table.levels, dtype=np.int16)])
                rows = np.append(kept.rows, len(table.sizes))
                self._kept = _Kept([*kept.tables, table], levels, rows)

    def _intermediate(self, fine: Levels, coarse: Levels, rows: float) -> Levels | None:
        """The node between two estimated at no more than `rows` groups, by the steps that merge
        most; None if there is none.
        """
        if self._estimate(self._log_cells(coarse)) > rows:
            return None
        levels = list(fine)
        cells = self._log_cells(fine)
        while self._estimate(cells) > rows:
            best, axis = 0.0, -1
            for a, level in enumerate(levels):
                if level < coarse[a] and self.spread(a, level, level + 1) > best:
                    best, axis = self.spread(a, level, level + 1), a
            if axis < 0:
                return None
            levels[axis] += 1
            cells -= best
        return tuple(levels)

    # About how many groups a node has: for planning only. A guess from how much each axis splits,
    # corrected by what nodes with about as many cells really had.

    def _log_cells(self, levels: Levels) -> float:
        return sum(logs[level] for logs, level in zip(self._log_card, levels, strict=True))

    def _guess(self, log_cells: float) -> float:
        rows = max(self.rows, 1)
        return -rows * expm1(-exp(min(log_cells, 700.0)) / rows)

    def _estimate(self, log_cells: float) -> float:
        return min(self._guess(log_cells) * self._correction.get(int(log_cells), 1.0), self.rows)

    def _learn(self, levels: Levels, groups: int) -> None:
        log_cells = self._log_cells(levels)
        place = int(log_cells)
        seen = groups / max(self._guess(log_cells), 1.0)
        if place in self._correction:
            seen = (3 * self._correction[place] + seen) / 4
        self._correction[place] = seen

    def _log_cardinality(self, axis: int) -> list[float]:
        """Between the logarithm of the number of values and their entropy, for every level: how
        much the axis splits.
        """
        logs = []
        for level, cards in enumerate(self._cards[axis]):
            share = self.marginal(axis, level) / max(self.total, 1)
            share = share[share > 0]
            logs.append(float(np.log(max(cards, 1)) - (share * np.log(share)).sum()) / 2)
        return logs


def _along_each(values: Floats, cards: Sequence[int]) -> Iterator[Floats]:
    """The sums of an array's values along every axis but one, for each."""
    array = values.reshape(cards)
    for axis in range(len(cards)):
        others = tuple(other for other in range(len(cards)) if other != axis)
        yield array.sum(axis=others, dtype=np.float64)


def _finer(levels: Levels, axis: int) -> Levels:
    return (*levels[:axis], levels[axis] - 1, *levels[axis + 1 :])


def _without(values: Sequence[Any], axis: int | None) -> list[Any]:
    """The values without that of one axis."""
    return [value for place, value in enumerate(values) if place != axis]


def _moved(values: Sequence[Any], axis: int) -> list[Any]:
    """The values with that of one axis last."""
    return [*values[:axis], *values[axis + 1 :], values[axis]]


def _pack_type(size: int) -> type[np.unsignedinteger]:
    return np.uint16 if size <= 1 << 16 else np.uint32


def _sums(places: npt.NDArray[np.integer], sizes: Floats, cells: int) -> Floats:
    """The sum of sizes at every place."""
    sums: Floats = np.bincount(places, sizes, cells).astype(np.float64, copy=False)
    return sums


def _sums_by_key(keys: Index, sizes: Floats, cells: int) -> tuple[Floats, Index]:
    """The sums of sizes for every key that occurs, and those keys, ascending."""
    bits = int(sizes.max(initial=0)).bit_length()
    if cells << bits <= WIDEST:
        # Key and size in one number: sorting numbers is several times faster than their order.
        keys <<= bits
        keys += sizes.astype(np.intp)
        keys.sort()
        sums = np.cumsum(keys & ((1 << bits) - 1))
        keys >>= bits
        last = last_of_runs(keys)
        sums = sums.take(last)
    else:
        order = np.argsort(keys)
        keys = keys[order]
        last = last_of_runs(keys)
        sums = np.cumsum(sizes[order]).take(last)
    sums[1:] -= sums[:-1].copy()
    return sums.astype(np.float64), keys.take(last)


@lru_cache(maxsize=4096)
def _middle(cards: tuple[int, ...]) -> int:
    """Where to split the axes so that both parts together have the fewest cells."""
    left, right, best, place = 1, prod(cards), inf, 0
    for axis, card in enumerate((*cards, 1)):
        if left + right < best:
            best, place = left + right, axis
        left, right = left * card, right // max(card, 1)
    return place
