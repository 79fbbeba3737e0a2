"""`Counts`: the distinct coded rows of a table and how often each occurs. Everything after reading works on these."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.hierarchy.tree import Codes, smallest

__all__ = ["Counts", "group"]

_LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct rows: `codes[j][i]` is the code of column j in distinct row i, which occurs `count[i]` times.

    Rows are in the order of their codes, so equal tables give equal counts whatever the order of their rows.
    `cards[j]` bounds the codes of column j: the size of its declared domain, or of what was seen.
    """

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    cards: tuple[int, ...]
    count: npt.NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.count.sum())

    @property
    def distinct(self) -> int:
        return len(self.count)

    def over(self, names: Sequence[str]) -> "Counts":
        """The counts of some of the columns, the others summed over."""
        picked = [self.names.index(name) for name in names]
        return group(names, [self.codes[j] for j in picked], [self.cards[j] for j in picked], self.count)


def group(
    names: Sequence[str], codes: Sequence[Codes], cards: Sequence[int], count: npt.NDArray[np.int64] | None = None
) -> Counts:
    """Counts of coded columns by one sort; `count` weighs the rows where they are already distinct of something finer."""
    rows = len(codes[0]) if codes else (0 if count is None else len(count))
    if not codes:
        total = rows if count is None else int(count.sum())
        return Counts((), (), (), np.array([total] if total else [], dtype=np.int64))
    key, radices = _keys(codes, cards)
    if count is None:
        distinct, sizes = np.unique(key, return_counts=True)
        first = None
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if rows else np.zeros(0, dtype=np.int64)
        distinct, sizes = key[first], (np.add.reduceat(count[order], first) if rows else np.zeros(0, dtype=np.int64))
    if radices is None:  # keys were compacted on the way: look the codes up in one row of each group
        if first is None:
            _, index = np.unique(_keys(codes, cards)[0], return_index=True)
        else:
            index = order[first]
        columns = [column[index] for column in codes]
    else:
        columns = []
        for card in reversed(cards):
            distinct, code = np.divmod(distinct, card)
            columns.append(code)
        columns.reverse()
    return Counts(
        tuple(names),
        tuple(column.astype(smallest(card)) for column, card in zip(columns, cards, strict=True)),
        tuple(cards),
        sizes.astype(np.int64),
    )


def _keys(codes: Sequence[Codes], cards: Sequence[int]) -> tuple[npt.NDArray[np.int64], tuple[int, ...] | None]:
    """One integer a row that orders rows by their codes; radices are None where the product did not fit."""
    key = codes[0].astype(np.int64)
    size, whole = max(cards[0], 1), True
    for column, card in zip(codes[1:], cards[1:], strict=True):
        if size * max(card, 1) > _LARGEST_KEY:
            _, key = np.unique(key, return_inverse=True)
            key, size, whole = key.astype(np.int64), len(key), False
        key *= max(card, 1)
        key += column
        size *= max(card, 1)
    return key, tuple(cards) if whole else None
