"""Rows of a released table as arrays. Uses `numpy`; models and the checks of methods use it."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from shoal.data.tables import Table
from shoal.errors import FileError

__all__ = ["Ints", "integers", "row_codes"]

Ints = npt.NDArray[np.int64]


def integers(released: Table, name: str) -> Ints:
    """The whole numbers of a column, row by row."""
    [column] = released.records([name])
    if not all(isinstance(key, int) for key in column.keys):
        raise FileError(f"column {name!r} has a value that is not a whole number")
    numbers = np.array(column.keys, dtype=np.int64)
    return numbers[column.codes]


def row_codes(released: Table, names: Iterable[str], start: Ints | None = None) -> Ints:
    """One code per row, the same for rows that have the same values of some columns.

    start: codes that tell rows apart already
    """
    rows = np.zeros(released.rows, dtype=np.int64) if start is None else start
    for name in names:
        [column] = released.records([name])
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
    return rows
