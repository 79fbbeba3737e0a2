"""`Cells`: the groups of records at one node, and their sizes.

They are kept in the form in which they were rolled up, since that is the cheapest to add up:
an array with a place for every cell, an array over some axes only, or the keys of the groups. Uses
`coding`; whatever rolls up makes them, and `lattice` and `optimum` read them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from shoal.counts import ranks
from shoal.lattice.coding import (
    Coding,
    Floats,
    Index,
    Levels,
    Memo,
    Packs,
    Sizes,
    Unsigned,
    middle,
    sums_along_each,
    sums_at,
)

__all__ = ["Cells", "Outer"]

DENSE = 1 << 22
"""Cells up to which rows find their group in an array of all cells."""


@dataclass(frozen=True, eq=False)
class Outer:
    """The groups that the first axes form alone, in ascending order.

    A block of nodes has them in common.
    """

    axes: int
    keys: Index
    _weights: Memo = field(default_factory=Memo)

    def weigh(self, coding: Coding, weights: Sequence[Floats], cards: Sequence[int]) -> Floats:
        """The weight of every group, made once for the same weights."""
        same = tuple(map(id, weights))
        known = self._weights.get(same)
        if known is not None:
            return known[1]
        return self._weights.put(same, weights, coding.weigh_keys(self.keys, weights, cards))


@dataclass(frozen=True, eq=False)
class Cells:
    """A node's groups, and their sizes.

    A cell is known by its key (all codes in one mixed-radix number), and `keys` are ascending; it
    is None where `sizes` has a place for every key, so that some may be 0. In a block, `sizes` has
    a line for every combination of the inner axes and in it a place for every group of the `outer`
    ones. Where keys would not fit an integer, `wide` has packs of codes instead, as a table has.
    Keys may have an axis last instead of in its place; such cells have no order to rely on.
    """

    coding: Coding
    levels: Levels
    sizes: Sizes
    keys: Index | None = None
    wide: Packs | None = None
    outer: Outer | None = None
    last_axis: int | None = None

    @cached_property
    def cards(self) -> list[int]:
        """How many values each axis has."""
        return self.coding.cards_at(self.levels)

    @cached_property
    def compact(self) -> "Cells":
        """The groups that have records, in the order of their keys."""
        if self.keys is not None or self.wide is not None:
            return self
        if self.outer is None:
            # `!= 0` makes this several times faster than of the numbers themselves.
            keys = np.flatnonzero(self.sizes != 0)
            return Cells(self.coding, self.levels, self.sizes.take(keys), keys)

        sizes = self.sizes.reshape(-1, len(self.outer.keys)).T
        group, inner = np.nonzero(sizes)
        keys = self.outer.keys.take(group) * sizes.shape[1] + inner
        return Cells(self.coding, self.levels, sizes[group, inner], keys)

    @property
    def _known(self) -> Index:
        assert self.keys is not None, "these cells are not compact"
        return self.keys

    def below(self, k: int) -> "Cells":
        """Those of compact cells that have fewer than k records."""
        small = np.flatnonzero(self.sizes < k)
        sizes = self.sizes.take(small)
        if self.wide is not None:
            wide = tuple((axes, packed.take(small)) for axes, packed in self.wide)
            return Cells(self.coding, self.levels, sizes, wide=wide)
        return Cells(self.coding, self.levels, sizes, self._known.take(small))

    def blocks(self, size: int) -> Iterator["Cells"]:
        """The cells, in blocks of that many where they have keys."""
        if self.keys is None or len(self.keys) <= size:
            yield self
            return
        for start in range(0, len(self.keys), size):
            block = slice(start, start + size)
            yield replace(self, sizes=self.sizes[block], keys=self.keys[block])

    def packs(self) -> Packs:
        """The codes of compact cells, as a table has them."""
        if self.wide is None:
            return self.coding.unpack(self.levels, self._known)
        columns = [self.codes(axis) for axis in range(len(self.levels))]
        return self.coding.pack(self.levels, columns)

    def codes(self, axis: int) -> Index:
        """Every group's code on an axis, of compact cells."""
        cards = self.cards
        for axes, packed in self.wide or ():
            if axis in axes:
                after = prod(cards[axis + 1 : axes.stop])
                return packed.astype(np.intp) // after % cards[axis]

        order: Sequence[int] = range(len(cards))
        if self.last_axis is not None:
            order = _moved(order, self.last_axis)
        after = prod(cards[other] for other in order[order.index(axis) + 1 :])
        return self._known // after % cards[axis]

    # Sums over records

    def weigh(self, weights: Sequence[Floats], kept: Sizes) -> float:
        """The sum of the weights of the kept records' values.

        `weights[axis]` has one weight for every code of the axis.
        """
        coding = self.coding
        if self.wide is not None:
            weight = np.zeros(len(kept))
            for axes, packed in self.wide:
                weight += coding.combined(weights[axes.start : axes.stop]).take(packed)
            return float((weight * kept).sum())

        cards = self.cards
        if self.last_axis is not None:
            weights = _moved(weights, self.last_axis)
            cards = _moved(cards, self.last_axis)
        if self.keys is not None:
            weight = coding.weigh_keys(self.keys, weights, cards)
            weight *= kept
            return float(weight.sum())

        # A place for every cell: the weight of a cell is that of its line plus that of its place.
        if self.outer is not None:
            split = self.outer.axes
            lines = coding.combined(weights[split:])
            places = self.outer.weigh(coding, weights[:split], cards)
        else:
            split = middle(tuple(cards))
            lines = coding.combined(weights[:split])
            places = coding.combined(weights[split:])
        block = kept.reshape(len(lines), len(places))
        by_line = (lines * block.sum(axis=1)).sum()
        by_place = (places * block.sum(axis=0)).sum()
        return float(by_line + by_place)

    def marginals(self, kept: Floats) -> list[Floats]:
        """How many of the kept records have each code, for every axis."""
        cards = self.cards
        if self.outer is not None:
            return self._marginals_of_block(kept, self.outer)

        # Sums over two halves of the axes first: the marginals of both are small.
        split = middle(tuple(cards))
        high = prod(cards[:split])
        low = prod(cards[split:])
        if self.keys is None and self.wide is None:
            block = kept.reshape(-1, low)
            upper = block.sum(axis=1)
            lower = block.sum(axis=0)
        elif self.keys is None or self.last_axis is not None or max(high, low) > DENSE:
            return [sums_at(self.codes(axis), kept, card) for axis, card in enumerate(cards)]
        else:
            first = self.keys // low
            upper = sums_at(first, kept, high)
            lower = sums_at(self.keys - first * low, kept, low)
        return [*sums_along_each(upper, cards[:split]), *sums_along_each(lower, cards[split:])]

    def _marginals_of_block(self, kept: Floats, outer: Outer) -> list[Floats]:
        # The outer axes from the sums of the groups, the inner ones from those of the lines.
        split = outer.axes
        block = kept.reshape(-1, len(outer.keys))
        groups = block.sum(axis=0)
        keys = outer.keys * prod(self.cards[split:])
        groups_of_outer = Cells(self.coding, self.levels, groups, keys)
        first = [
            sums_at(groups_of_outer.codes(axis), groups, self.cards[axis]) for axis in range(split)
        ]
        return [*first, *sums_along_each(block.sum(axis=1), self.cards[split:])]

    # Rows and their groups

    def find(self, codes: Sequence[Unsigned]) -> Index:
        """The group of each row, given the rows' real codes by column; of compact cells."""
        # Codes used here are the ranks of real codes among those that occur.
        places = []
        for axis, column in enumerate(self.coding.axes):
            real = self.coding.real[axis][self.levels[axis]]
            rank = np.zeros(int(real.max(initial=0)) + 1, dtype=np.intp)
            rank[real] = np.arange(len(real))
            places.append(rank[codes[column]])
        if self.wide is not None:
            return self._find_wide(places, self.wide)

        cells = prod(self.cards)
        key = np.zeros(len(places[0]) if places else 0, dtype=np.intp)
        for place, card in zip(places, self.cards, strict=True):
            key *= card
            key += place
        if cells > DENSE:
            return np.searchsorted(self._known, key)
        group = np.zeros(cells, dtype=np.intp)
        group[self._known] = np.arange(len(self._known))
        return group.take(key)

    def _find_wide(self, places: Sequence[Index], wide: Packs) -> Index:
        """Rank the groups and the rows together: equal ones get equal ranks."""
        groups = len(self.sizes)
        runs = [axes for axes, _ in wide]
        rows = self.coding.pack(self.levels, places, runs)
        both = []
        for (_, packed), (_, packed_rows) in zip(wide, rows, strict=True):
            both.append(np.concatenate((packed, packed_rows)))
        rank = ranks(both, [prod(self.cards[axis] for axis in axes) for axes in runs])
        group_of_rank = np.empty(len(rank), dtype=np.intp)
        group_of_rank[rank[:groups]] = np.arange(groups)
        return group_of_rank[rank[groups:]]

    def group_of(self, axes: int) -> Index:
        """Every compact cell's group number when only the first `axes` axes separate groups."""
        if self.wide is not None:
            separating = []
            for run, packed in self.wide:
                if run.start < axes:
                    after = prod(self.cards[max(axes, run.start) : run.stop])
                    separating.append(packed // after)
            changed = np.any([packed[1:] != packed[:-1] for packed in separating], axis=0)
        else:
            # Keys are ascending, so that cells of one group follow each other.
            group = self._known // prod(self.cards[axes:])
            changed = group[1:] != group[:-1]
        first = np.zeros(min(len(self.sizes), 1), dtype=np.intp)
        return np.concatenate((first, np.cumsum(changed)))


def _moved(values: Sequence[Any], axis: int) -> list[Any]:
    """The values with that of one axis last."""
    return [*values[:axis], *values[axis + 1 :], values[axis]]
