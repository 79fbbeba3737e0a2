"""Which rows are kept where every person may have only some: a uniform choice of each.

Those of one person are drawn independently of all others, in an order that the values alone decide,
so that the same chance keeps the same rows wherever they are. Why that makes promises about people:
docs/proofs/people.md. Uses `counts` and `chance`; the sources use it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Codes, last_of_runs, row_keys

__all__ = ["DRAWN_TOGETHER", "ROWS_TOGETHER", "blocks", "bounded_rows", "chosen_rows"]

Ints = npt.NDArray[np.int64]

DRAWN_TOGETHER = 1 << 16
"""People whose rows are drawn together: other numbers would make other draws of the same chance."""
ROWS_TOGETHER = 1 << 18
"""Rows that are drawn together, unless one person has more."""


def bounded_rows(
    people: Codes, columns: Sequence[Codes], count: Ints, rows: int, chance: Chance
) -> Ints:
    """How often each row is kept if every person keeps at most `rows` of theirs.

    Row i is one of `people[i]`, has the code `column[i]` in each of the columns, and occurs
    `count[i]` times. Rows are drawn in the order of these codes, so that the same chance draws the
    same rows whatever their order and wherever they are.
    """
    coded = [people, *columns]
    cards = [int(codes.max(initial=0)) + 1 for codes in coded]
    order = np.argsort(row_keys(coded, cards), kind="stable")
    each = np.repeat(order, count[order])
    kept = chosen_rows(people[each], rows, chance)
    return np.bincount(each[kept], minlength=len(people))


def chosen_rows(people: Codes, rows: int, chance: Chance) -> npt.NDArray[np.bool_]:
    """Which rows are kept, at most `rows` of each person, where those of one are neighbours.

    The choice is uniform, and independent between people. Who has no more than that many keeps
    them, and no chance is used.
    """
    sizes = np.diff(last_of_runs(people), prepend=-1)
    draws = sizes > rows
    chosen = np.ones(len(people), dtype=np.bool_)
    parts = [chance.choices(sizes[draws][block], rows) for block in blocks(sizes[draws])]
    if parts:
        chosen[np.repeat(draws, sizes)] = np.concatenate(parts)
    return chosen


def blocks(sizes: Ints) -> list[slice]:
    """Which people draw together, given how many rows each of those who draw has.

    A block is filled before the next one begins. So where it ends depends on the people up to the
    one behind it, and a source whose rows come in parts can draw alike.
    """
    ends = np.cumsum(sizes)
    made = []
    start = 0
    while start < len(sizes):
        before = ends[start] - sizes[start]
        fitting = int(np.searchsorted(ends, before + ROWS_TOGETHER, side="right"))
        stop = max(start + 1, min(fitting, start + DRAWN_TOGETHER))
        made.append(slice(start, stop))
        start = stop
    return made
