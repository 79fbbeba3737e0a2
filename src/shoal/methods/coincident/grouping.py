"""Who may share a group, by quasi-identifying values alone: an order of people in which neighbours are alike.

Works on the distinct rows and how many people have each. People with equal values are alike, so a cut may part them: who of
them goes where is drawn by the method. Two orders: along a *curve* that visits the cells of ever finer grids one after the
other, or by balanced *splits* of what is widest.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts

__all__ = ["Order", "Runs", "ordered"]

Ints = npt.NDArray[np.int64]
Order = Literal["splits", "curve"]
ORDERS = ("splits", "curve")

_BITS = 62  # of a place on the curve


class Runs:
    """An order of people: `rows` are distinct rows, some several times, and `counts` how many people of each come next."""

    def __init__(self, rows: Ints, counts: Ints) -> None:
        self.rows, self.counts = rows, counts


def ordered(rows: Counts, sizes: Sequence[int], group: int, order: Order) -> Runs:
    """The people of some rows (their places in every column, of so many) in an order that keeps like together in groups."""
    places = [codes.astype(np.int64) for codes in rows.codes]
    if order == "curve":
        along = np.argsort(_curve(places, sizes), kind="stable")
        return Runs(along, rows.count[along])
    return _split(places, sizes, rows.count, group)


def _curve(places: Sequence[Ints], sizes: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The place of every row on a curve: the bits of all columns, most significant ones first, each as a share of its column."""
    key = np.zeros(len(places[0]) if places else 0, dtype=np.uint64)
    several = [(place, size) for place, size in zip(places, sizes, strict=True) if size > 1]
    bits = min(_BITS // max(len(several), 1), 20)
    for number, (place, size) in enumerate(several):
        share = (np.arange(size) << bits) // size
        apart = np.zeros(size, dtype=np.uint64)  # the bits of every place, with those of the other columns in between
        for bit in range(bits):
            apart |= (((share >> bit) & 1) << (bit * len(several) + len(several) - 1 - number)).astype(np.uint64)
        key |= apart[place]
    return key


def _split(places: Sequence[Ints], sizes: Sequence[int], count: Ints, group: int) -> Runs:
    """Halve parts along the column in which they are widest, at a multiple of the group size, until they are alike or a group."""
    row = np.flatnonzero(count)
    runs, part, depth = count[row], np.zeros(len(row), dtype=np.int64), _BITS
    done: list[tuple[Ints, Ints, Ints]] = []  # where parts come in the order, their rows, and how many people of each
    while len(row):
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        lengths, total = np.diff(starts, append=len(part)), np.add.reduceat(runs, starts)
        spans = np.array(
            [
                (np.maximum.reduceat(place[row], starts) - np.minimum.reduceat(place[row], starts)) / max(size - 1, 1)
                for place, size in zip(places, sizes, strict=True)
            ]
        )
        open_ = (total >= 2 * group) & (spans.max(axis=0, initial=0) > 0)
        still = np.repeat(open_, lengths)
        done.append((part[~still] << depth, row[~still], runs[~still]))
        if not open_.any():
            break
        depth -= 1
        own = np.repeat(np.cumsum(open_) - 1, lengths)[still]
        row, runs, part, axis, total = row[still], runs[still], part[still], spans.argmax(axis=0)[open_], total[open_]
        along = np.array([place[row] for place in places])[axis[own], np.arange(len(row))]
        order = np.lexsort((along, own))
        row, runs, part, own = row[order], runs[order], part[order], own[order]
        before = np.cumsum(runs) - runs
        before -= before[np.flatnonzero(np.diff(own, prepend=-1))][own]
        left = np.clip((total // group + 1)[own] // 2 * group - before, 0, runs)
        row, part, runs = np.tile(row, 2), np.concatenate((2 * part, 2 * part + 1)), np.concatenate((left, runs - left))
        order = np.argsort(part, kind="stable")
        order = order[runs[order] > 0]
        row, runs, part = row[order], runs[order], part[order]
    if not done:
        return Runs(row, runs)
    where, row, runs = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(where, kind="stable")
    return Runs(row[order], runs[order])
