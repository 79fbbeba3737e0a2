"""Rows of a released table as arrays, equal neighbours once, and how often each is there.

Nothing here has the length of the table, which may be larger than memory. Uses `numpy`; models and
the checks of methods use it.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from shoal.data.tables import Column, Table
from shoal.errors import FileError

__all__ = ["Ints", "column_of", "frequencies", "integers", "ranks", "row_codes", "totals"]

Ints = npt.NDArray[np.int64]


def frequencies(released: Table) -> Ints:
    """How often each row is there: rows that follow each other and are equal may be one."""
    _, count = released.runs([])
    return count


def column_of(released: Table, name: str) -> Column:
    """A column of these rows."""
    [column], _ = released.runs([name])
    return column


def integers(released: Table, name: str) -> Ints:
    """The whole numbers of a column, row by row."""
    column = column_of(released, name)
    if not all(isinstance(key, int) for key in column.keys):
        raise FileError(f"column {name!r} has a value that is not a whole number")
    numbers = np.array(column.keys, dtype=np.int64)
    return numbers[column.codes]


def row_codes(released: Table, names: Iterable[str], start: Ints | None = None) -> Ints:
    """One code per row, the same for rows that have the same values of some columns.

    start: codes that tell rows apart already
    """
    rows = np.zeros_like(frequencies(released)) if start is None else start
    for name in names:
        column = column_of(released, name)
        rows = ranks(rows * len(column.keys) + column.codes)
    return rows


def ranks(numbers: Ints) -> Ints:
    """The places of numbers that are not negative among the different ones, in their order.

    >>> ranks(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    most = int(numbers.max(initial=0))
    # Sorting takes longer than a place for each number up to the highest.
    if most > 2 * len(numbers):
        _, places = np.unique(numbers, return_inverse=True)
        return places
    occurs = np.bincount(numbers, minlength=1) > 0
    return (np.cumsum(occurs) - 1)[numbers]


def totals(codes: Ints, numbers: Ints, codes_in_all: int = 0) -> Ints:
    """What the numbers of all rows with each code add up to, exactly."""
    added = np.zeros(max(int(codes.max(initial=-1)) + 1, codes_in_all), dtype=np.int64)
    np.add.at(added, codes, numbers)
    return added
