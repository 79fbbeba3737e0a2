"""Who may share a group, by quasi-identifying values alone: neighbours in an order are alike.

Works on the distinct rows and how many people have each. People with equal values are alike, so a
cut may part them: who of them goes where is drawn by the method. Two orders: along a *curve* that
visits the values of hierarchies one after the other, the widest first, or by balanced *splits* of
what is widest, which also say how far each part reaches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, Counts, smallest
from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["ORDERS", "Order", "Runs", "by_curve", "by_splits", "in_order"]

Ints = npt.NDArray[np.int64]
Order = Literal["splits", "curve"]
ORDERS: tuple[Order, ...] = ("splits", "curve")

_FAR = 1 << 40
"""Further than any place of a column."""

_BITS = 62
"""Of a place on the curve, and of where a part comes in the order."""


@dataclass(frozen=True, eq=False)
class Runs:
    """An order of people.

    `rows` are distinct rows, some several times, and `counts` how many people of each come next.
    Where the order comes from splits, `part` is the part that each run is in, and `low` and `high`
    have for every column and part how far it reaches.
    """

    rows: Ints
    counts: Ints
    part: Ints | None = None
    low: Codes | None = None
    high: Codes | None = None


def by_curve(rows: Counts, trees: Sequence[Hierarchy]) -> Runs:
    """People along a curve that leaves a value of a hierarchy after all of it.

    `rows` has their leaves in every column. The bits that tell leaves apart are taken by how much
    of its column each still has to tell apart, and read as a Gray code, in which neighbours differ
    by one bit.
    """
    bits = []
    for column, tree in enumerate(trees):
        bits += [(share, column, bit) for share, bit in _bits(tree)]
    # The sort is stable, so bits of one column stay in their order.
    bits.sort(key=lambda one: (-one[0], one[1]))
    # What each leaf of a column adds to the key of a row: its bits, at the places they got.
    keys_of_leaves = [np.zeros(len(tree.maps[0]), dtype=np.int64) for tree in trees]
    for place, (_, column, bit) in enumerate(bits[:_BITS]):
        keys_of_leaves[column] |= bit << (_BITS - 1 - place)
    key = np.zeros(rows.distinct, dtype=np.int64)
    for key_of_leaf, leaves in zip(keys_of_leaves, rows.codes, strict=True):
        key |= key_of_leaf.take(leaves)
    # From a Gray code to its place: each bit becomes the parity of itself and all above it.
    for shift in (1, 2, 4, 8, 16, 32):
        key ^= key >> shift
    along = np.argsort(key, kind="stable")
    return Runs(along, rows.count.take(along))


def _bits(tree: Hierarchy) -> Iterator[tuple[Fraction, Ints]]:
    """For every bit of a leaf the mean share of leaves that it tells apart, and the bit.

    Those of the widest values come first.
    """
    least = Fraction(1)
    for wide, fine in zip(tree.maps[:0:-1], tree.maps[-2::-1], strict=True):
        fine = fine.astype(np.int64)
        # Leaves are in tree order, so the first leaf of a value is in its first child.
        first_child = fine[np.searchsorted(wide, wide)]
        child = fine - first_child
        covered = np.bincount(wide)
        share = Fraction(int((covered**2).sum()), len(wide) ** 2)
        for place in range(int(child.max()).bit_length() - 1, -1, -1):
            least = min(least, share)
            yield least, (child >> place) & 1
            share /= 2


def in_order(values: npt.NDArray[np.integer]) -> Ints:
    """The places of values, smallest value first, and of equal ones the first.

    As argsort gives it, several times faster.
    """
    bits = len(values).bit_length()
    wide = int(values.max(initial=0)).bit_length()
    if bits + wide > 63:
        return np.argsort(values, kind="stable")
    # Sorting numbers is faster than sorting places by them.
    key = (values.astype(np.int64) << bits) | np.arange(len(values))
    key.sort()
    return key & ((1 << bits) - 1)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Parts, one after the other: their rows start at `starts`.

    With the places of these and how many people of each. Of every part, `number` says by its bits
    which half was taken in every round, so it says where the part comes in the order, and `low`
    and `high` have for every column how far it reaches.
    """

    row: Ints
    runs: Ints
    places: Codes
    starts: Ints
    number: Ints
    low: Codes
    high: Codes

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts, append=len(self.row))

    def people(self) -> Ints:
        """How many people every part has."""
        # `reduceat` does not take an empty list of starts.
        return np.add.reduceat(self.runs, self.starts) if len(self.starts) else self.starts

    def spans(self) -> Codes:
        """How far apart the people of every part are, in every column."""
        if not len(self.starts):
            return self.places[:, :0]
        highest = np.maximum.reduceat(self.places, self.starts, axis=1)
        return highest - np.minimum.reduceat(self.places, self.starts, axis=1)

    def some(self, which: Ints) -> "_Pieces":
        """Some of the parts."""
        lengths = self.lengths[which]
        starts = np.cumsum(lengths) - lengths
        moved = np.repeat(self.starts[which] - starts, lengths)
        index = moved + np.arange(len(moved))
        rows = self.row.take(index), self.runs.take(index), self.places.take(index, axis=1)
        return _Pieces(*rows, starts, self.number[which], self.low[:, which], self.high[:, which])

    @staticmethod
    def joined(several: "Sequence[_Pieces]") -> "_Pieces":
        lengths = np.concatenate([parts.lengths for parts in several])
        names = ("row", "runs", "places", "number", "low", "high")
        row, runs, places, *own = (
            np.concatenate([getattr(parts, name) for parts in several], axis=-1) for name in names
        )
        return _Pieces(row, runs, places, np.cumsum(lengths) - lengths, *own)


def by_splits(rows: Counts, group: int, ends: Sequence[Sequence[Ints]] | None = None) -> Runs:
    """The people of some rows (their places in every column), in parts that are alike or a group.

    Parts are halved along the column in which they are widest, at a multiple of the group size.
    `ends` decides where between two people they part: it has, for every column, the places at which
    values of its hierarchy end, level by level.
    """
    sizes = np.array(rows.cards)
    row = np.flatnonzero(rows.count)
    narrow = smallest(max(rows.cards, default=1))
    places = np.array([codes.astype(narrow) for codes in rows.codes])
    one = np.zeros(min(len(row), 1), dtype=np.int64)
    high = np.repeat((sizes - 1)[:, None], len(one), axis=1).astype(places.dtype)
    low = np.zeros_like(high)
    people = rows.count.take(row)
    parts = _Pieces(row, people, places.take(row, axis=1), one, one, low, high)
    done = []
    for bit in range(_BITS, -1, -1):
        closed, parts = _halved(parts, sizes, group, bit, ends or [()] * len(sizes))
        done.append(closed)
        if not len(parts.starts):
            break
    joined = _Pieces.joined(done)
    joined = joined.some(np.argsort(joined.number))
    part = np.repeat(np.arange(len(joined.starts)), joined.lengths)
    return Runs(joined.row, joined.runs, part, joined.low, joined.high)


def _halved(
    parts: _Pieces, sizes: Ints, group: int, bit: int, ends: Sequence[Sequence[Ints]]
) -> tuple[_Pieces, _Pieces]:
    """The parts that are done, without places, and the halves of all others, in turn."""
    total, spans = parts.people(), parts.spans()
    # A part is done if it has too few people for two groups, or if they are all alike.
    open_ = (total >= 2 * group) & spans.any(axis=0)
    closed = replace(parts, places=parts.places[:0]).some(np.flatnonzero(~open_))
    if not open_.all():
        parts = parts.some(np.flatnonzero(open_))
        total = total[open_]
        spans = spans[:, open_]
    if not len(total):
        return closed, parts
    starts = parts.starts
    lengths = parts.lengths
    # The column in which a part is widest, as a share of the column's domain.
    axis = (spans / np.maximum(sizes - 1, 1)[:, None]).argmax(axis=0)
    # The place of every row in that column: columns follow each other in the flat array.
    here = np.arange(len(parts.row))
    along = parts.places.ravel().take(np.repeat(axis * len(here), lengths) + here)
    order = _in_order_within(along, starts, lengths)
    runs = parts.runs.take(order)
    along = along.take(order)
    # The last row of every left half, whose people may go to both: then it is there twice.
    upto = np.cumsum(runs)
    people_before = np.cumsum(total) - total
    people_left = (total // group + 1) // 2 * group  # whole groups, half of them rounded up
    goal = people_before + people_left
    last = np.searchsorted(upto, goal)
    over = upto[last] - goal
    cut = over > 0
    again = last[cut]
    runs[again] -= over[cut]
    runs = np.insert(runs, again + 1, over[cut])
    order = np.insert(order, again + 1, order[again])
    lefts = last + 1 - starts
    lengths = np.stack([lefts, lengths - lefts + cut], axis=1).ravel()
    before = along[last].astype(np.int64)
    after = along[last + 1 - cut].astype(np.int64)
    low, high = _reach_of_halves(parts, axis, before, after, ends)
    halves = np.stack([parts.number, parts.number | (1 << bit)], axis=1).ravel()
    rows = parts.row.take(order), runs, parts.places.take(order, axis=1)
    return closed, _Pieces(*rows, np.cumsum(lengths) - lengths, halves, low, high)


def _reach_of_halves(
    parts: _Pieces, axis: Ints, before: Ints, after: Ints, ends: Sequence[Sequence[Ints]]
) -> tuple[Codes, Codes]:
    """How far both halves of every part reach in every column, left and right halves in turn.

    axis: the column in which a part is halved
    before, after: the last place there of its left half, and the first of its right one
    """
    left_high = parts.high.copy()
    right_low = parts.low.copy()
    for column, ends_of_values in enumerate(ends):
        halved = np.flatnonzero(axis == column)
        end = _end_between(before[halved], after[halved], ends_of_values)
        left_high[column, halved] = end
        # The same place, if it is cut in two.
        right_low[column, halved] = np.minimum(after[halved], end + 1)
    low = np.stack([parts.low, right_low], axis=2)
    high = np.stack([left_high, parts.high], axis=2)
    return low.reshape(len(ends), -1), high.reshape(len(ends), -1)


def _end_between(before: Ints, after: Ints, ends: Sequence[Ints]) -> Ints:
    """The places at which left halves end: after their last person, before the first on the right.

    It is where a value of the highest level ends that does so there, nearest to the middle; so that
    it reveals no more of either person than that it lies between them.
    """
    middle: Ints = np.maximum((before + after - 1) // 2, before)
    found = middle
    for places in ends:
        padded = np.concatenate([[-_FAR], places, [_FAR]])
        at = np.searchsorted(padded, middle)
        lower = padded[at - 1]
        upper = padded[at]
        near = np.where(upper - middle <= middle - lower, upper, lower)
        found = np.where((before <= near) & (near < after), near, found)
    return found


def _in_order_within(values: Codes, starts: Ints, lengths: Ints) -> Ints:
    """The places of values, smallest value first, within runs that begin at `starts`."""
    offset = np.repeat(starts, lengths)
    within = int(lengths.max()).bit_length()
    wide = int(values.max()).bit_length()
    bits = len(starts).bit_length() + wide + within
    if bits > 63:
        return np.lexsort((values, offset))
    narrow = np.uint32 if bits <= 32 else np.int64
    run: npt.NDArray[np.integer] = np.arange(len(starts)).astype(narrow)
    key = (np.repeat(run << wide, lengths) + values) << within
    key += (np.arange(len(values)) - offset).astype(key.dtype)
    key.sort()
    return (key & ((1 << within) - 1)) + offset
