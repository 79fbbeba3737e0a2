"""Rows of a released table as arrays, equal neighbours once, and how often each is there.

Nothing here has the length of the table, which may be larger than memory. Uses `numpy`; models and
the checks of methods use it.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from shoal.data.tables import Column, Table
from shoal.errors import FileError

__all__ = ["Ints", "column_of", "frequencies", "integers", "row_codes", "totals"]

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
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
    return rows


def totals(codes: Ints, numbers: Ints, codes_in_all: int = 0) -> Ints:
    """What the numbers of all rows with each code add up to, exactly."""
    added = np.zeros(max(int(codes.max(initial=-1)) + 1, codes_in_all), dtype=np.int64)
    np.add.at(added, codes, numbers)
    return added
