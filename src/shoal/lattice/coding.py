"""`Coding`: the columns of a roll-up as axes, and the codes of their values at every level.

An *axis* is a column here. Axes are taken in the order of their cardinality, largest first, and
only values that occur have a code. Codes keep the order of the tree, so a coarser code never
decreases along a finer one. Several codes are written as one mixed-radix number: a *pack* has those
of neighbouring axes, at most `PACK` values each, and a *key* those of all axes. Uses `counts`;
`cells`, `tables` and `sorting` use it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from shoal.counts import PACK, packs_of

__all__ = [
    "Coding",
    "Floats",
    "Index",
    "Kind",
    "Levels",
    "Memo",
    "Packs",
    "Sizes",
    "Unsigned",
    "middle",
    "raised",
    "sums_along_each",
    "sums_at",
]

Floats = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.floating] | npt.NDArray[np.integer]
"""Numbers of records, exact integers."""

Index = npt.NDArray[np.intp]
Unsigned = npt.NDArray[np.unsignedinteger]
Kind = type[np.unsignedinteger]
"""The type of number that keys are written in."""

Packs = tuple[tuple[range, Unsigned], ...]
"""Runs of axes, and for every row the codes of such a run as one mixed-radix number."""

Levels = tuple[int, ...]
"""A level for every axis."""

MEMO = 32 << 20
"""Bytes of look-up tables that are kept, and of sums of weights."""

HALF = 1 << 15
"""Cells that a table of summed weights may have, in a node of any size."""


class Memo:
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
class _Axis:
    """One column: what its codes stand for, and how often its values occur."""

    leaves: Index
    """The leaves that occur, in ascending order."""

    records: Floats
    """How many records have each of these leaves."""

    real: list[Index]
    """For every level the real code of every code used here."""

    up: list[Index]
    """For every level the code of every leaf that occurs."""

    @classmethod
    def of(cls, often: Floats, maps: Sequence[Unsigned] | None) -> "_Axis":
        """From how many records have each leaf; a column without maps has level 0 only."""
        leaves = np.flatnonzero(often)
        levels: list[npt.NDArray[np.integer]] = [leaves]
        if maps is not None:
            levels = [np.asarray(level_map)[leaves] for level_map in maps]

        real = []
        up = []
        for level in levels:
            distinct, inverse = np.unique(level, return_inverse=True)
            real.append(distinct.astype(np.intp))
            up.append(inverse.astype(np.intp))
        return cls(leaves, often[leaves].astype(np.float64), real, up)

    def codes(self, column: Unsigned) -> Unsigned:
        """The code of every row at level 0."""
        number = len(self.leaves)
        kind = _pack_type(number)
        highest = int(self.leaves.max(initial=0))
        if number > highest:
            # All leaves occur up to the highest one.
            return column.astype(kind, copy=False)
        rank = np.zeros(highest + 1, dtype=kind)
        rank[self.leaves] = np.arange(number)
        return rank.take(column, mode="clip")


class Coding:
    """Axes over columns of leaf codes.

    `maps[j][l]` gives the level-l code of every leaf of column j. Columns beyond the maps are
    carried: they come after all others, in their order, and have level 0 only.
    """

    def __init__(
        self,
        columns: Sequence[Unsigned],
        sizes: Floats,
        maps: Sequence[Sequence[Unsigned]],
    ) -> None:
        carried = [None] * (len(columns) - len(maps))
        described = zip(_marginals(columns, sizes), (*maps, *carried), strict=True)
        by_column = [_Axis.of(often, levels) for often, levels in described]

        def largest_first(column: int) -> tuple[int, int]:
            return -len(by_column[column].leaves), column

        self.axes = sorted(range(len(maps)), key=largest_first)
        """The column of every axis that is not carried."""

        order = [*self.axes, *range(len(maps), len(columns))]
        self._axes = [by_column[column] for column in order]
        self.real: list[list[Index]] = [axis.real for axis in self._axes]
        """For every axis and level the real code of every code used here."""

        self.cards = [[len(real) for real in levels] for levels in self.real]
        """For every axis and level how many values there are."""

        self.bottom: Levels = (0,) * len(order)
        ranked = [self._axes[at].codes(columns[column]) for at, column in enumerate(order)]
        self.base = self.pack(self.bottom, ranked)
        """The rows, at the finest levels."""

        self._looked_up = Memo()
        self._summed = Memo()
        self._between: dict[tuple[int, int, int], Index] = {}

    # Levels

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
        return [cards[level] for cards, level in zip(self.cards, levels, strict=True)]

    def marginal(self, axis: int, level: int) -> Floats:
        """How many records have each code of an axis at a level."""
        column = self._axes[axis]
        return sums_at(column.up[level], column.records, self.cards[axis][level])

    def between(self, axis: int, fine: int, coarse: int) -> Index:
        """The coarse level's code of every code of the fine level."""
        codes = self._between.get((axis, fine, coarse))
        if codes is None:
            # All leaves of a fine code have the same coarse one: any of them may write it.
            up = self._axes[axis].up
            codes = np.empty(self.cards[axis][fine], dtype=np.intp)
            codes[up[fine]] = up[coarse]
            self._between[axis, fine, coarse] = codes
        return codes

    # Packs

    def pack(
        self,
        levels: Levels,
        columns: Sequence[npt.NDArray[np.integer]],
        runs: Sequence[range] | None = None,
    ) -> Packs:
        """Packs of the codes of every axis."""
        cards = self.cards_at(levels)
        if runs is None:
            runs = packs_of(cards, PACK)
        return tuple((axes, _packed(columns, cards, axes)) for axes in runs)

    def unpack(self, levels: Levels, keys: Index) -> Packs:
        """Packs of the codes that keys are made of."""
        cards = self.cards_at(levels)
        packs: list[tuple[range, Unsigned]] = []
        # The last axes are the lowest digits of a key.
        for axes in reversed(packs_of(cards, PACK)):
            size = prod(cards[axis] for axis in axes)
            packed = keys
            if axes.start:
                rest = keys // size
                packed = keys - rest * size
                keys = rest
            packs.append((axes, packed.astype(_pack_type(size))))
        return tuple(reversed(packs))

    def look_up(
        self,
        axes: range,
        fine: Levels,
        coarse: Levels,
        kind: type[np.integer] = np.intp,
        left_out: int | None = None,
    ) -> tuple[npt.NDArray[Any], int]:
        """For every value of a pack at the fine levels, its number at the coarse ones.

        The second result is how many numbers there are.

        One axis may be left out.
        """
        run = slice(axes.start, axes.stop)
        asked = (axes.start, fine[run], coarse[run], kind, left_out)
        known = self._looked_up.get(asked)
        if known is not None:
            return known[1], cast(int, known[0])

        numbers = np.zeros(1, dtype=np.intp)
        values = 1
        for axis in reversed(axes):
            if axis == left_out:
                # Its codes do not change the number.
                numbers = np.tile(numbers, self.cards[axis][fine[axis]])
            else:
                codes = self.between(axis, fine[axis], coarse[axis])
                numbers = (codes[:, None] * values + numbers).ravel()
                values *= self.cards[axis][coarse[axis]]
        return self._looked_up.put(asked, values, numbers.astype(kind)), values

    def along(self, axes: range, axis: int, fine: Levels, coarse: Levels) -> Index:
        """For every value of a pack at the fine levels the code of one axis at the coarse ones."""
        asked = (axes.start, fine[axes.start : axes.stop], axis, coarse[axis])
        known = self._looked_up.get(asked)
        if known is not None:
            return known[1]

        cards = self.cards_at(fine)
        inner = prod(cards[axis + 1 : axes.stop])
        outer = prod(cards[axes.start : axis])
        codes = np.repeat(self.between(axis, fine[axis], coarse[axis]), inner)
        return self._looked_up.put(asked, None, np.tile(codes, outer))

    # Weights

    def combined(self, weights: Sequence[Floats]) -> Floats:
        """The sum of weights for every combination of values, made once for the same weights."""
        same = tuple(map(id, weights))
        known = self._summed.get(same)
        if known is not None:
            return known[1]

        total = np.zeros(1)
        for weight in weights:
            total = (total[:, None] + weight).ravel()
        return self._summed.put(same, weights, total)

    def weigh_keys(self, keys: Index, weights: Sequence[Floats], cards: Sequence[int]) -> Floats:
        """The sum of the weights of every key's codes.

        Where `weights` are of the first axes only, so are the keys.
        """
        cards = cards[: len(weights)]
        split = middle(tuple(cards))
        # At 0 there is nothing to halve: all axes but one have a single value.
        if split and len(cards) > 2 and prod(cards) > HALF * HALF:
            # The halves would be large themselves: halve them again.
            left, right = np.divmod(keys, prod(cards[split:]))
            first = self.weigh_keys(left, weights[:split], cards[:split])
            return first + self.weigh_keys(right, weights[split:], cards[split:])

        high = self.combined(weights[:split])
        low = self.combined(weights[split:])
        left = keys // len(low)
        weight = high.take(left)
        weight += low.take(keys - left * len(low))
        return weight


def raised(levels: Levels, axis: int, by: int = 1) -> Levels:
    """The levels with that of one axis some higher, or lower."""
    changed = list(levels)
    changed[axis] += by
    return tuple(changed)


def _marginals(columns: Sequence[Unsigned], sizes: Floats) -> list[Floats]:
    """How many records have each leaf of every column, up to the highest that occurs."""
    cards = [int(column.max(initial=0)) + 1 for column in columns]
    marginals: list[Floats] = []
    # Columns are counted together: counting takes less time if neighbours are not alike.
    for axes in packs_of(cards, PACK):
        shape = cards[axes.start : axes.stop]
        records = sums_at(_packed(columns, cards, axes), sizes, prod(shape))
        marginals += sums_along_each(records, shape)
    return marginals


def _packed(
    columns: Sequence[npt.NDArray[np.integer]], cards: Sequence[int], axes: range
) -> Unsigned:
    """The codes of a run of axes as one mixed-radix number."""
    kind = _pack_type(prod(cards[axis] for axis in axes))
    packed = columns[axes.start].astype(kind)
    for axis in axes[1:]:
        packed *= kind(max(cards[axis], 1))
        packed += columns[axis].astype(kind, copy=False)
    return packed


def sums_along_each(values: Floats, cards: Sequence[int]) -> Iterator[Floats]:
    """The sums of an array's values along every axis but one, for each."""
    for axis, card in enumerate(cards):
        # An array has fewer dimensions than there may be axes.
        array = values.reshape(prod(cards[:axis]), card, prod(cards[axis + 1 :]))
        yield array.sum(axis=(0, 2), dtype=np.float64)


def sums_at(places: npt.NDArray[np.integer], sizes: Floats, cells: int) -> Floats:
    """The sum of sizes at every place."""
    sums: Floats = np.bincount(places, sizes, cells).astype(np.float64, copy=False)
    return sums


@lru_cache(maxsize=4096)
def middle(cards: tuple[int, ...]) -> int:
    """Where to split the axes so that both parts together have the fewest cells."""
    best = inf
    place = 0
    left = 1
    right = prod(cards)
    for axis, card in enumerate((*cards, 1)):
        if left + right < best:
            best = left + right
            place = axis
        left *= card
        right //= max(card, 1)
    return place


def _pack_type(size: int) -> Kind:
    return np.uint16 if size <= 1 << 16 else np.uint32
