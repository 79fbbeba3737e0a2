"""Rows in an SQLite file, by the standard library.

A column of SQLite may hold values of any type, whatever it was declared as; drivers that hand over
Arrow decide by the first rows. Here all rows are looked at. Uses `sql`; `distant` uses it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import polars as pl

from shoal.data.engines.sql import grouped, ordered, quoted, rows_of
from shoal.data.kinds import Kind

__all__ = ["SqliteRows"]

_BATCH = 1 << 16
"""Rows that are handed over at a time."""


@dataclass(frozen=True, eq=False)
class SqliteRows:
    """A table or a query of an SQLite file, which is opened for reading only."""

    path: Path
    query: str
    decimals: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return str(self.path)

    @cached_property
    def types(self) -> pl.DataFrame:
        rows = rows_of(self.query)
        with closing(self._connected()) as connection:
            described = connection.execute(f"SELECT * FROM {rows} LIMIT 0").description
            names = [column[0] for column in described]
            kinds = ("blob", "text", "real", "integer")
            seen = [f"MAX(TYPEOF({quoted(name)}) = '{kind}')" for name in names for kind in kinds]
            found = connection.execute(f"SELECT {', '.join(seen)} FROM {rows}").fetchone()
        types = {}
        for place, name in enumerate(names):
            types[name] = _type(*found[4 * place : 4 * place + 4])
        return pl.DataFrame(schema=types)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        exact = [f"{quoted(name)} COLLATE binary" for name in names]
        types = [self.types.schema[name] for name in names]
        yield from self._parts(grouped(exact, rows_of(self.query)), [*types, pl.Int64()])

    def orders(self, name: str) -> bool:
        # Texts are ordered by their bytes, which have the order of code points in UTF-8 alone.
        with closing(self._connected()) as connection:
            return bool(connection.execute("PRAGMA encoding").fetchone() == ("UTF-8",))

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        exact = [f"{quoted(name)} COLLATE binary" for name in names]
        types = [self.types.schema[name] for name in names]
        yield from self._parts(ordered(exact, rows_of(self.query), exact[0]), types)

    def rows(self) -> int:
        return self._number_of(rows_of(self.query))

    def distinct(self, name: str) -> int:
        exact = [f"{quoted(name)} COLLATE binary"]
        return self._number_of(f"({grouped(exact, rows_of(self.query))})")

    def head(self, rows: int) -> pl.DataFrame:
        some = f"SELECT * FROM {rows_of(self.query)} LIMIT {rows}"
        parts = self._parts(some, self.types.dtypes)
        named = [
            part.rename(dict(zip(part.columns, self.types.columns, strict=True))) for part in parts
        ]
        return pl.concat([self.types, *named])

    def _number_of(self, rows: str) -> int:
        with closing(self._connected()) as connection:
            return int(connection.execute(f"SELECT COUNT(*) FROM {rows}").fetchone()[0])

    def _parts(self, query: str, types: Sequence[pl.DataType]) -> Iterator[pl.DataFrame]:
        with closing(self._connected()) as connection:
            cursor = connection.execute(query)
            while rows := cursor.fetchmany(_BATCH):
                columns = zip(*rows, strict=True)
                yield pl.DataFrame(
                    [
                        pl.Series(str(place), _values(column, dtype), dtype)
                        for place, (column, dtype) in enumerate(zip(columns, types, strict=True))
                    ]
                )

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{quote(str(self.path.absolute()))}?mode=ro", uri=True)


def _type(blob: int | None, text: int | None, real: int | None, integer: int | None) -> pl.DataType:
    """The type of a column that holds values of some types."""
    if blob:
        return pl.Binary()
    if text:
        return pl.String()
    if real:
        return pl.Float64()
    return pl.Int64() if integer else pl.String()


def _values(column: Sequence[object], dtype: pl.DataType) -> Sequence[object]:
    if dtype != pl.String:
        return column
    # Numbers among texts become texts, as they do in a dataframe of mixed values.
    return [value if isinstance(value, str) else Kind.TEXT.key(value) for value in column]
