"""Columns of tables as tests compare them."""

import numpy as np
import numpy.typing as npt

import shoal


def leaves(table: shoal.Table, name: str) -> npt.NDArray[np.integer]:
    """Every row's leaf in the hierarchy of a column."""
    [column] = table.records([name])
    return table.leaf_of(name)[column.codes]


def texts(table: shoal.Table) -> dict[str, list[str | None]]:
    """The table's columns as texts."""
    columns = {}
    for column in table.records(table.names):
        columns[column.name] = [column.labels[code] or None for code in column.codes]
    return columns
