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

__all__ = ["Order", "Runs", "ordered"]

Ints = npt.NDArray[np.int64]
Order = Literal["splits", "curve"]
ORDERS: tuple[Order, ...] = ("splits", "curve")

_BITS = 62  # of a place on the curve


@dataclass(frozen=True, eq=False)
class Runs:
    """An order of people: `rows` are distinct rows, some several times, and `counts` how many people of each come next.

    Where the order comes from splits, `low` and `high` have for every column and run how far the part reaches that it is in.
    """

    rows: Ints
    counts: Ints
    low: Ints | None = None
    high: Ints | None = None


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
    row = np.flatnonzero(count)
    runs, part, depth = count[row], np.zeros(len(row), dtype=np.int64), _BITS
    low, high = np.zeros((len(sizes), 1), dtype=np.int64), (sizes - 1)[:, None]  # of every part
    done: list[
        tuple[Ints, ...]
    ] = []  # where parts come in the order, their rows, how many people of each, and how far they reach
    while len(row):
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        lengths, total = np.diff(starts, append=len(part)), np.add.reduceat(runs, starts)
        own = np.repeat(np.arange(len(starts)), lengths)
        there = places[:, row]
        spans = np.maximum.reduceat(there, starts, axis=1) - np.minimum.reduceat(there, starts, axis=1)
        open_ = (total >= 2 * group) & spans.any(axis=0)
        still = open_[own]
        ended = own[~still]
        done.append((part[~still] << depth, row[~still], runs[~still], *low[:, ended], *high[:, ended]))
        if not open_.any():
            break
        depth -= 1
        axis = (spans / np.maximum(sizes - 1, 1)[:, None]).argmax(axis=0)[open_]
        low, high, total = low[:, open_], high[:, open_], total[open_]
        row, runs, part, own = row[still], runs[still], part[still], (np.cumsum(open_) - 1)[own[still]]
        order = np.lexsort((places[axis[own], row], own))
        row, runs, part, own = row[order], runs[order], part[order], own[order]
        before = np.cumsum(runs) - runs
        before -= before[np.flatnonzero(np.diff(own, prepend=-1))][own]
        left = np.clip((total // group + 1)[own] // 2 * group - before, 0, runs)
        # Up to the last place of the left half, and from the next one on; or from the same one, if it is cut in two.
        along, number = places[axis[own], row], np.arange(len(total))
        last = np.zeros(len(total), dtype=np.int64)
        np.maximum.at(last, own[left > 0], along[left > 0])
        first = np.full(len(total), sizes.max(initial=0), dtype=np.int64)
        np.minimum.at(first, own[left < runs], along[left < runs])
        lower, upper = high.copy(), low.copy()
        lower[axis, number], upper[axis, number] = last, np.minimum(first, last + 1)
        low, high = (
            np.stack([low, upper], axis=2).reshape(len(sizes), -1),
            np.stack([lower, high], axis=2).reshape(len(sizes), -1),
        )
        row, part, runs = np.tile(row, 2), np.concatenate((2 * part, 2 * part + 1)), np.concatenate((left, runs - left))
        order = np.argsort(part, kind="stable")
        order = order[runs[order] > 0]
        row, runs, part = row[order], runs[order], part[order]
    if not done:
        return Runs(row, runs, low[:, :0], high[:, :0])
    where, row, runs, *reach = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(where, kind="stable")
    low, high = np.array(reach[: len(sizes)]), np.array(reach[len(sizes) :])
    return Runs(row[order], runs[order], low[:, order], high[:, order])
