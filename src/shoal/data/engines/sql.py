"""Counting in SQL, as all databases understand it, and the answers as Polars dataframes.

Uses pyarrow where a database hands over Arrow; `duck`, `postgres` and `sqlite` use it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

__all__ = ["arrow_parts", "arrow_types", "grouped", "ordered", "quoted", "rows_of"]

_QUERY = re.compile(r"\s*(select|with|values|from|table)\s", re.IGNORECASE)


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
    ('"clinic"."visits"', '(SELECT age FROM visits) AS shoal_rows')
    """
    text = query.strip().rstrip(";").rstrip()
    if _QUERY.match(text):
        return f"({text}) AS shoal_rows"
    if '"' in text:
        return text
    return ".".join(map(quoted, text.split(".")))


def grouped(columns: Iterable[str], rows: str) -> str:
    """The query for the distinct rows of some columns, given in SQL, and their numbers."""
    exact = list(columns)
    selected = [f"{column} AS {quoted(str(place))}" for place, column in enumerate(exact)]
    places = ", ".join(str(place) for place in range(1, len(exact) + 1))
    return f"SELECT {', '.join(selected)}, COUNT(*) AS amount FROM {rows} GROUP BY {places}"


def ordered(columns: Iterable[str], rows: str, by: str) -> str:
    """The query for all rows of some columns, given in SQL, and ordered by something."""
    selected = [f"{column} AS {quoted(str(place))}" for place, column in enumerate(columns)]
    return f"SELECT {', '.join(selected)} FROM {rows} ORDER BY {by}"


def arrow_types(schema: Any) -> dict[str, pl.DataType]:
    """The types of the columns of an Arrow schema; those that Polars lacks are bytes."""
    import pyarrow as pa

    types: dict[str, pl.DataType] = {}
    for field in schema:
        # Polars panics at an interval.
        if pa.types.is_interval(field.type):
            types[field.name] = pl.Binary()
            continue
        none = pl.DataFrame(pa.schema([field]).empty_table())
        types[field.name] = none.to_series().dtype
    return types


def arrow_parts(reader: Any) -> Iterator[pl.DataFrame]:
    """The parts of an Arrow stream as dataframes."""
    import pyarrow as pa

    for batch in reader:
        if batch.num_rows:
            yield pl.DataFrame(pa.Table.from_batches([batch]))
