"""Counting in SQL, as all databases understand it, and the answers as Polars dataframes.

Uses `interruptible`, and pyarrow where Arrow is handed over; `databases` and all engines but
`streaming` use it.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, cast

import polars as pl

from shoal.data.engines.interruptible import Cancellable
from shoal.errors import ColumnError

__all__ = ["DatabaseRows", "arrow_parts", "arrow_types", "grouped", "ordered", "quoted", "rows_of"]

_QUERY = re.compile(
    r"""(?: \s | \( | --.*\n | /\*(?s:.*?)\*/ )*  # before it, parentheses and comments
    (?: select|with|values|from|table ) [\s(*"']""",
    re.IGNORECASE | re.VERBOSE,
)
_DAYS = range(dt.date.min.toordinal(), dt.date.max.toordinal() + 1)
"""The days that a date of Python can be."""
_EPOCH = dt.date(1970, 1, 1).toordinal()
_IN_A_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


class DatabaseRows(Cancellable, Protocol):
    """An engine that is a database. All of its questions see the same rows, whoever writes."""

    def only(self, names: Sequence[str]) -> Self:
        """The same rows as they were, with some of their columns."""
        ...


def quoted(name: str) -> str:
    """A name of a column or a table as SQL takes it, whatever it contains.

    >>> quoted('the "best" age')
    '"the ""best"" age"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def rows_of(query: str) -> str:
    """What to put after FROM for a query, or for the name of a table or view.

    >>> rows_of("clinic.visits"), rows_of("SELECT age FROM visits;")
    ('"clinic"."visits"', '(SELECT age FROM visits\\n) AS shoal_rows')
    """
    text = query.strip().rstrip(";").rstrip()
    if _QUERY.match(text):
        # A line of its own, since a query may end with a comment.
        return f"({text}\n) AS shoal_rows"
    if '"' in text:
        return text
    return ".".join(map(quoted, text.split(".")))


def grouped(columns: Iterable[str], rows: str) -> str:
    """The query for the distinct rows of some columns, given in SQL, and their numbers."""
    exact = list(columns)
    places = ", ".join(str(place) for place in range(1, len(exact) + 1))
    return f"SELECT {_by_place(exact)}, COUNT(*) AS amount FROM {rows} GROUP BY {places}"


def ordered(columns: Iterable[str], rows: str, by: str) -> str:
    """The query for all rows of some columns, given in SQL, and ordered by something."""
    return f"SELECT {_by_place(columns)} FROM {rows} ORDER BY {by}"


def _by_place(columns: Iterable[str]) -> str:
    """Some columns, given in SQL and called by their places: any other name may have a meaning."""
    return ", ".join(f"{column} AS {quoted(str(at))}" for at, column in enumerate(columns))


def arrow_types(schema: Any) -> dict[str, pl.DataType]:
    """The types of the columns of an Arrow schema; those that Polars lacks are bytes."""
    import pyarrow as pa

    types: dict[str, pl.DataType] = {}
    for field in schema:
        # Polars panics at them.
        if pa.types.is_interval(field.type) or pa.types.is_union(field.type):
            types[field.name] = pl.Binary()
            continue
        none = pl.DataFrame(pa.schema([field]).empty_table())
        types[field.name] = none.to_series().dtype
    return types


def arrow_parts(reader: Any, names: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
    """The parts of an Arrow stream as dataframes.

    names: what the columns are called, for an error about dates that cannot be read
    """
    import pyarrow as pa

    for batch in reader:
        if batch.num_rows:
            part = pl.DataFrame(pa.Table.from_batches([batch]))
            for name, column in zip(names, part.get_columns(), strict=False):
                _require_days(name, column)
            yield part


def _require_days(name: str, column: pl.Series) -> None:
    """ColumnError if a column has dates that Python lacks: infinite ones, or years before 1."""
    if isinstance(column.dtype, pl.Date):
        in_a_day = 1
    elif isinstance(column.dtype, pl.Datetime):
        in_a_day = _IN_A_DAY[column.dtype.time_unit]
    else:
        return
    since_1970 = column.to_physical()
    for end in (since_1970.min(), since_1970.max()):
        if end is not None and int(cast(int, end)) // in_a_day + _EPOCH not in _DAYS:
            raise ColumnError(
                f"column {name!r} has dates that are infinite, or not in the years 1 to 9999",
                "leave these rows out, or convert the column to text",
            )
