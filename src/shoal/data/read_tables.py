"""What readers of formats give: rows, and which types were read off them. Readers use it."""

from typing import NamedTuple

import polars as pl

from shoal.data.kinds import Kind

__all__ = ["ReadTable", "plain", "times_as_text", "whole"]

# Whole floats below it are exact, and print as integers in all of Shoal.
_EXACT = 1e15


class ReadTable(NamedTuple):
    """What a file holds.

    guessed: the columns whose type is read off their values
    """

    frame: pl.DataFrame
    guessed: frozenset[str]


def whole(column: pl.Series) -> pl.Series:
    """Floats that are all whole as the integers they are.

    >>> whole(pl.Series([1.0, None, 2.0])).to_list()
    [1, None, 2]
    """
    known = column.drop_nulls()
    is_whole = known.is_finite() & (known == known.round(0)) & (known.abs() < _EXACT)
    return column.cast(pl.Int64) if is_whole.all() else column


def plain(column: pl.Series) -> pl.Series:
    """A column of one of the types that columns are compared by."""
    if column.dtype in (pl.Null, pl.Int128, pl.UInt128):
        return column.cast(pl.String)
    return column


def times_as_text(column: pl.Series) -> pl.Series:
    """Days, times and both as Shoal shows them, and nothing of a time that is midnight.

    >>> import datetime as dt
    >>> times = pl.Series([dt.datetime(2020, 2, 29, 7, 30), dt.datetime(2020, 3, 1)])
    >>> times_as_text(times).to_list()
    ['2020-02-29T07:30:00', '2020-03-01']
    """
    values = column.unique().drop_nulls()
    texts = pl.Series([Kind.TEXT.text(Kind.TEXT.key(value)) for value in values], dtype=pl.String)
    return column.replace_strict(values, texts, default=None, return_dtype=pl.String)
