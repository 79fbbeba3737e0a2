"""Who may share a group, by quasi-identifying values alone: an order of people in which neighbours are alike.

Works on the distinct rows and how many people have each. People with equal values are alike, so a cut may part them: who of
them goes where is drawn by the method. Two orders: along a *curve* that visits the cells of ever finer grids one after the
other, or by balanced *splits* of what is widest, which also say how far each part reaches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts
from shoal.hierarchy.tree import Codes, smallest

__all__ = ["Order", "Runs", "ordered"]

Ints = npt.NDArray[np.int64]
Order = Literal["splits", "curve"]
ORDERS: tuple[Order, ...] = ("splits", "curve")

_BITS = 62  # of a place on the curve


@dataclass(frozen=True, eq=False)
class Runs:
    """An order of people: `rows` are distinct rows, some several times, and `counts` how many people of each come next.

    Where the order comes from splits, `part` is the part that each run is in, and `low` and `high` have for every column and part
    how far it reaches.
    """

    rows: Ints
    counts: Ints
    part: Ints | None = None
    low: Codes | None = None
    high: Codes | None = None


def ordered(rows: Counts, sizes: Sequence[int], group: int, order: Order) -> Runs:
    """The people of some rows (their places in every column, of so many) in an order that keeps like together in groups."""
    places = np.array([codes.astype(np.int64) for codes in rows.codes])
    if order == "curve":
        along = np.argsort(_curve(places, sizes), kind="stable")
        return Runs(along, rows.count[along])
    return _split(places, np.array(sizes), rows.count, group)


def _curve(places: Ints, sizes: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The place of every row on a curve: the bits of all columns, most significant ones first, each as a share of its column."""
    key = np.zeros(places.shape[1], dtype=np.uint64)
    several = [(place, size) for place, size in zip(places, sizes, strict=True) if size > 1]
    bits = min(_BITS // max(len(several), 1), 20)
    for number, (place, size) in enumerate(several):
        share = (np.arange(size) << bits) // size
        apart = np.zeros(size, dtype=np.uint64)  # the bits of every place, with those of the other columns in between
        for bit in range(bits):
            apart |= (((share >> bit) & 1) << (bit * len(several) + len(several) - 1 - number)).astype(np.uint64)
        key |= apart[place]
    return key


def _split(places: Ints, sizes: Ints, count: Ints, group: int) -> Runs:
    """Halve parts along the column in which they are widest, at a multiple of the group size, until they are alike or a group."""
    small = places.astype(smallest(int(sizes.max(initial=1))))
    row = np.flatnonzero(count)
    runs, depth = count[row], _BITS
    starts, part = np.zeros(min(len(row), 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    low: Codes = np.zeros_like(small[:, :1])  # how far every part reaches
    high: Codes = (sizes - 1)[:, None].astype(small.dtype)
    done: list[tuple[Ints, Ints, Ints]] = []  # where parts come in the order, their rows, people of each
    reach: list[tuple[Ints, Codes, Codes]] = []  # and how far each reaches
    while len(row):
        lengths, total = np.diff(starts, append=len(row)), np.add.reduceat(runs, starts)
        there = small[:, row]
        spans = np.maximum.reduceat(there, starts, axis=1) - np.minimum.reduceat(
            there, starts, axis=1
        )  # of unsigned ones, never below 0
        open_ = (total >= 2 * group) & spans.any(axis=0)
        still = np.repeat(open_, lengths)
        closed = ~open_
        done.append((np.repeat(part[closed] << depth, lengths[closed]), row[~still], runs[~still]))
        reach.append((part[closed] << depth, low[:, closed], high[:, closed]))
        if not open_.any():
            break
        depth -= 1
        axis = (spans[:, open_] / np.maximum(sizes - 1, 1)[:, None]).argmax(axis=0)
        low, high, total, part, lengths = low[:, open_], high[:, open_], total[open_], part[open_], lengths[open_]
        row, runs, own = row[still], runs[still], np.repeat(np.arange(len(total)), lengths)
        starts = np.cumsum(lengths) - lengths
        order, along = _sorted(own, there[:, still][axis[own], np.arange(len(row))])
        row, runs = row[order], runs[order]
        before = np.cumsum(runs) - runs
        before -= np.repeat(before[starts], lengths)
        left = np.clip(np.repeat((total // group + 1) // 2 * group, lengths) - before, 0, runs)
        # Up to the last place of the left half, and from the next one on; or from the same one, if it is cut in two.
        lefts, rights = np.add.reduceat(left > 0, starts), np.add.reduceat(left < runs, starts)
        last, first, number = along[starts + lefts - 1], along[starts + lengths - rights], np.arange(len(total))
        lower, upper = high.copy(), low.copy()
        lower[axis, number], upper[axis, number] = last, np.minimum(first, last + 1)
        low, high = (np.stack(halves, axis=2).reshape(len(sizes), -1) for halves in ([low, upper], [lower, high]))
        # Both halves of a part follow each other; a run that is cut is there twice.
        cut = (left > 0) & (left < runs)
        index = np.repeat(np.arange(len(row)), 1 + cut)
        second = np.flatnonzero(index[1:] == index[:-1]) + 1
        row, whole, rest = row[index], runs[index], (runs - left)[cut]
        whole[second - 1], whole[second] = left[cut], rest
        lengths, part = np.stack([lefts, rights], axis=1).ravel(), np.stack([2 * part, 2 * part + 1], axis=1).ravel()
        runs, starts = whole, np.cumsum(lengths) - lengths
    if not done:
        return Runs(row, runs, row, low[:, :0], high[:, :0])
    where, row, runs = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(where, kind="stable")
    parts = np.concatenate([which for which, _, _ in reach])
    low, high = (np.concatenate(ends, axis=1) for ends in ([one for _, one, _ in reach], [one for _, _, one in reach]))
    by_place = np.argsort(parts)
    return Runs(row[order], runs[order], np.searchsorted(parts[by_place], where[order]), low[:, by_place], high[:, by_place])


def _sorted(part: Ints, along: npt.NDArray[np.unsignedinteger]) -> tuple[Ints, Ints]:
    """The order of rows by part and then by place, and their places in it."""
    bits, wide = len(part).bit_length(), int(along.max(initial=0)).bit_length()
    if 2 * bits + wide > _BITS:
        order = np.lexsort((along, part))
        return order, along[order].astype(np.int64)
    key = ((part << wide) + along) << bits  # with the row's own number: sorting numbers is several times faster than their order
    key += np.arange(len(part))
    key.sort()
    return key & ((1 << bits) - 1), (key >> bits) & ((1 << wide) - 1)
