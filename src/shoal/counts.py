"""`Counts`: the distinct coded rows of a table and how often each occurs.

Everything after reading works on these. Uses numpy alone; sources make them, and the lattice,
models and methods use them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.zones import OWNER_ONLY

__all__ = [
    "PACK",
    "Codes",
    "Counts",
    "group",
    "last_of_runs",
    "packs_of",
    "ranks",
    "row_keys",
    "smallest",
]

Codes = npt.NDArray[np.unsignedinteger]
Keys = npt.NDArray[np.integer]


def smallest(values: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer type with at least `values` values."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if values <= np.iinfo(kind).max + 1:
            return kind
    return np.uint64


PACK = 4096
"""Values of a look-up table: 8-byte numbers for them stay in the first-level cache."""

_LARGEST_KEY = 1 << 62
"""Keys of rows stay below it, so that a sum of two of them does not overflow."""

_SHORT_KEYS = 1 << 32
"""Combinations up to which keys fit four bytes."""

_BLOCK = 1 << 18
"""Keys that are taken apart together, so that what is needed on the way stays small."""

_DENSE = 2
"""Combinations per row up to which an array of all of them costs less than sorting the rows."""


@dataclass(frozen=True, eq=False)
class Counts:
    """The distinct rows of a table, and how often each occurs.

    `codes[j][i]` is the code of column j in distinct row i, which occurs `count[i]` times.

    Rows are in the order of their codes, so equal tables give equal counts whatever the order of
    their rows. `cards[j]` bounds the codes of column j: the size of its declared domain, or of what
    was seen.
    """

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    cards: tuple[int, ...]
    count: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        size = f"{self.total:,} records in {self.distinct:,} distinct rows"
        return f"<{OWNER_ONLY}shoal.Counts of {', '.join(self.names)}: {size}>"

    @property
    def total(self) -> int:
        return int(self.count.sum())

    @property
    def distinct(self) -> int:
        return len(self.count)

    def column(self, name: str) -> Codes:
        """The codes of a column, one for each distinct row."""
        return self.codes[self.names.index(name)]

    def where(self, kept: npt.NDArray[np.bool_]) -> "Counts":
        """The counts of some of the distinct rows."""
        rows = np.flatnonzero(kept)
        codes = tuple(column[rows] for column in self.codes)
        return replace(self, codes=codes, count=self.count[rows])

    def over(self, names: Sequence[str]) -> "Counts":
        """The counts of some of the columns, the others summed over."""
        places = [self.names.index(name) for name in names]
        codes = [self.codes[j] for j in places]
        cards = [self.cards[j] for j in places]
        return group(names, codes, cards, self.count)


def group(
    names: Sequence[str],
    codes: Iterable[Codes],
    cards: Sequence[int],
    count: npt.NDArray[np.integer] | None = None,
) -> Counts:
    """Counts of coded columns by one sort, or in an array of all combinations where these are few.

    `count` weighs the rows where they are already the distinct rows of something finer. `codes` may
    be made one after the other.
    """
    if not cards:
        total = 0 if count is None else int(count.sum())
        return Counts((), (), (), np.array([total] if total else [], dtype=np.int64))
    cells = prod(max(card, 1) for card in cards)
    if cells > _LARGEST_KEY:
        columns, sizes = _group_wide([*codes], cards, count)
    else:
        key = _keys(codes, cards, cells)
        del codes  # and the key below: they are as long as the table, and memory is highest here
        if cells <= _DENSE * len(key):
            distinct, sizes = _dense(key, count, cells)
        elif count is None:
            distinct, sizes = _sorted(key)
        else:
            distinct, sizes = _summed(key, count, cells)
        del key
        columns = _codes(distinct, cards)
    return Counts(tuple(names), tuple(columns), tuple(cards), sizes.astype(np.int64, copy=False))


def _dense(
    key: Keys, count: npt.NDArray[np.integer] | None, cells: int
) -> tuple[Keys, npt.NDArray[Any]]:
    """The distinct keys and how often each occurs, by an array of all that there could be."""
    # In parts, since numpy makes eight bytes of every key and of every count.
    size = max(_BLOCK, cells)
    every = np.zeros(cells, dtype=np.float64)  # floats are exact up to 2^53 records
    for start in range(0, len(key), size):
        part = slice(start, start + size)
        every += np.bincount(key[part], None if count is None else count[part], cells)
    distinct = np.flatnonzero(every)
    return distinct, every[distinct]


def _sorted(key: Keys) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The distinct keys and how often each occurs, by one sort."""
    key.sort()
    last = last_of_runs(key)
    sizes = np.empty_like(last)
    sizes[:1] = last[:1] + 1
    np.subtract(last[1:], last[:-1], out=sizes[1:])
    return key[last], sizes


def _summed(
    key: Keys, count: npt.NDArray[np.integer], cells: int
) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The distinct keys and the sums of their counts, by one sort."""
    bits = int(count.max(initial=0)).bit_length()
    if count.min(initial=0) < 0 or cells << bits > _LARGEST_KEY:
        order = np.argsort(key, kind="stable")
        key = key[order]
        sizes = count[order].astype(np.int64, copy=False)
    else:
        # Both in one number: numbers are sorted where they are, and faster than their order.
        key = key.astype(np.int64, copy=False)
        key <<= bits
        np.add(key, count, out=key, dtype=np.int64, casting="unsafe")
        key.sort()
        sizes = key & ((1 << bits) - 1)
        key >>= bits
    last = last_of_runs(key)
    if len(last) == len(key):
        return key, sizes
    np.cumsum(sizes, out=sizes)
    return key[last], np.diff(sizes[last], prepend=0)


def last_of_runs(
    values: npt.NDArray[np.integer], ends: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.intp]:
    """The last place of every run of equal values; `ends` is an array to work in."""
    if ends is None:
        ends = np.empty(len(values), dtype=np.bool_)
    ends[-1:] = True
    np.not_equal(values[1:], values[:-1], out=ends[:-1])
    return np.flatnonzero(ends)


def packs_of(cards: Sequence[int], most: int = PACK) -> list[range]:
    """Runs of neighbouring columns with at most `most` combinations of codes each.

    A column with more is a run alone.
    """
    packs, start, size = [], 0, 1
    for column, card in enumerate(cards):
        if size * card > most and column > start:
            packs.append(range(start, column))
            start, size = column, 1
        size *= card
    return [*packs, range(start, len(cards))]


def ranks(columns: Sequence[npt.NDArray[np.integer]], cards: Sequence[int]) -> npt.NDArray[np.intp]:
    """For every row, the rank of its codes among the distinct ones.

    The number of combinations does not matter.
    """
    return np.unique(row_keys(columns, cards), return_inverse=True)[1]


def row_keys(
    columns: Sequence[npt.NDArray[np.integer]], cards: Sequence[int]
) -> npt.NDArray[np.int64]:
    """One integer per row that orders rows by their codes.

    Where combinations of codes do not fit an integer, keys are replaced by their ranks on the way.
    """
    key, distinct = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64), 1
    for column, card in zip(columns, cards, strict=True):
        size = max(card, 1)
        if distinct * size > _LARGEST_KEY:
            seen, key = np.unique(key, return_inverse=True)
            distinct = len(seen)
        key = key * size + column.astype(np.int64, copy=False)
        distinct *= size
    return key


def _keys(codes: Iterable[Codes], cards: Sequence[int], cells: int) -> Keys:
    """One integer per row that orders rows by their codes, of four bytes where these do.

    They are sorted in half the time.
    """
    kind = np.dtype(np.uint32 if cells <= _SHORT_KEYS else np.int64)
    columns = iter(codes)
    key: npt.NDArray[Any] = next(columns).astype(kind)
    for column, card in zip(columns, cards[1:], strict=True):
        key *= max(card, 1)
        # "unsafe" is for codes of eight bytes; they are below the card, so they fit.
        np.add(key, column, out=key, dtype=kind, casting="unsafe")
    return key


def _codes(key: Keys, cards: Sequence[int]) -> list[Codes]:
    """The codes of every column from the keys: a few divisions, then look-ups in small tables."""
    codes: list[Codes] = [np.empty(len(key), dtype=smallest(card)) for card in cards]
    packs = packs_of(cards)
    look_ups = [_look_ups(cards, columns) for columns in packs]
    for start in range(0, len(key), _BLOCK):
        block = slice(start, start + _BLOCK)
        rest = key[block]
        for columns, tables in zip(reversed(packs), reversed(look_ups), strict=True):
            size = prod(max(cards[j], 1) for j in columns)
            above = rest // size
            place = rest - above * size
            rest = above
            if not tables:
                codes[columns[0]][block] = place
            for j, table in zip(columns, tables, strict=False):
                codes[j][block] = table.take(place)
    return codes


def _look_ups(cards: Sequence[int], columns: range) -> list[Codes]:
    """For every place in a pack, the code of each of its columns; nothing for a large one."""
    size = prod(max(cards[j], 1) for j in columns)
    if size > PACK:  # only a column that stands alone has that many values
        return []
    within = np.arange(size)
    tables: list[Codes] = []
    for j in reversed(columns):
        card = max(cards[j], 1)
        tables.append((within % card).astype(smallest(cards[j])))
        within //= card
    return tables[::-1]


def _group_wide(
    codes: Sequence[Codes], cards: Sequence[int], count: npt.NDArray[np.integer] | None
) -> tuple[list[Codes], npt.NDArray[np.int64]]:
    """The codes of distinct rows, and how often each occurs, where they do not fit one integer."""
    key = row_keys(codes, cards)
    _, index, inverse = np.unique(key, return_index=True, return_inverse=True)
    sizes = np.bincount(inverse, count, len(index)).astype(np.int64)
    columns = [
        column[index].astype(smallest(card)) for column, card in zip(codes, cards, strict=True)
    ]
    return columns, sizes
