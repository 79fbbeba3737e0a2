"""Rows in an SQLite file, by the standard library.

A column of SQLite may hold values of any type, whatever it was declared as; drivers that hand over
Arrow decide by the first rows. Here all rows are looked at. Uses `sql` and `kinds`; `databases`
uses it.
"""

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import polars as pl

from shoal.data.engines.sql import grouped, ordered, quoted, rows_of
from shoal.data.kinds import Kind

__all__ = ["SqliteFile", "SqliteRows"]

_BATCH = 1 << 16
"""Rows that are handed over at a time."""


class SqliteFile:
    """A file, and one transaction of a connection that only reads.

    All questions see the rows as they were at the first one: whoever writes waits, or, if the file
    has a write-ahead log, is not seen.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=ro",
            uri=True,
            isolation_level=None,
            # One question at a time, but not always by the same thread.
            check_same_thread=False,
        )
        weakref.finalize(self, self.connection.close)
        self.connection.create_function("shoal_text", 1, _text, deterministic=True)
        self.connection.execute("BEGIN")

    def ask(self, query: str) -> sqlite3.Cursor:
        return self.connection.execute(query)


@dataclass(frozen=True, eq=False)
class SqliteRows:
    """A table or a query of an SQLite file."""

    file: SqliteFile
    query: str
    decimals: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.file.name

    def cancel(self) -> None:
        self.file.connection.interrupt()

    def only(self, names: Sequence[str]) -> "SqliteRows":
        wanted = ", ".join(map(quoted, names))
        return replace(self, query=f"SELECT {wanted} FROM {rows_of(self.query)}")

    @cached_property
    def types(self) -> pl.DataFrame:
        return pl.DataFrame(schema={name: _type(kinds) for name, kinds in self._kinds.items()})

    @cached_property
    def _kinds(self) -> dict[str, frozenset[str]]:
        """The columns, and the types of the values in them."""
        rows = rows_of(self.query)
        described = self.file.ask(f"SELECT * FROM {rows} LIMIT 0").description
        names = [column[0] for column in described]
        found: dict[str, set[str]] = {name: set() for name in names}
        types = [f"TYPEOF({quoted(name)})" for name in names]
        different = f"SELECT DISTINCT {', '.join(types)} FROM {rows}"
        for row in self.file.ask(different):
            for name, kind in zip(names, row, strict=True):
                found[name].add(kind)
        return {name: frozenset(kinds - {"null"}) for name, kinds in found.items()}

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        exact = [self._exact(name) for name in names]
        types = [self.types.schema[name] for name in names]
        yield from self._parts(grouped(exact, rows_of(self.query)), [*types, pl.Int64()])

    def orders(self) -> bool:
        # Texts are ordered by their bytes, which have the order of code points in UTF-8 alone.
        return bool(self.file.ask("PRAGMA encoding").fetchone() == ("UTF-8",))

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        exact = [self._exact(name) for name in names]
        types = [self.types.schema[name] for name in names]
        yield from self._parts(ordered(exact, rows_of(self.query), exact[0]), types)

    def rows(self) -> int:
        return self._number_of(rows_of(self.query))

    def distinct(self, name: str) -> int:
        return self._number_of(f"({grouped([self._exact(name)], rows_of(self.query))})")

    def head(self, rows: int) -> pl.DataFrame:
        exact = [self._exact(name) for name in self.types.columns]
        some = f"SELECT {', '.join(exact)} FROM {rows_of(self.query)} LIMIT {rows}"
        parts = self._parts(some, self.types.dtypes)
        named = [
            part.rename(dict(zip(part.columns, self.types.columns, strict=True))) for part in parts
        ]
        return pl.concat([self.types, *named])

    def _number_of(self, rows: str) -> int:
        return int(self.file.ask(f"SELECT COUNT(*) FROM {rows}").fetchone()[0])

    def _exact(self, name: str) -> str:
        """A column by which rows are equal only if their values are."""
        column = quoted(name)
        kinds = self._kinds[name]
        if "blob" in kinds:
            return "NULL"  # nobody asks for bytes
        if "text" in kinds and len(kinds) > 1:
            # Numbers among texts become texts, as they do in a dataframe of mixed values.
            column = (
                f"CASE TYPEOF({column}) WHEN 'text' THEN {column} ELSE shoal_text({column}) END"
            )
        elif kinds == {"real", "integer"}:
            column = f"CAST({column} AS REAL)"
        return f"{column} COLLATE binary"

    def _parts(self, query: str, types: Sequence[pl.DataType]) -> Iterator[pl.DataFrame]:
        with closing(self.file.ask(query)) as cursor:
            while rows := cursor.fetchmany(_BATCH):
                columns = zip(*rows, strict=True)
                yield pl.DataFrame(
                    [
                        pl.Series(str(place), column, dtype)
                        for place, (column, dtype) in enumerate(zip(columns, types, strict=True))
                    ]
                )


def _type(kinds: frozenset[str]) -> pl.DataType:
    """The type of a column that holds values of some types."""
    if "blob" in kinds:
        return pl.Binary()
    if "text" in kinds:
        return pl.String()
    if "real" in kinds:
        return pl.Float64()
    return pl.Int64() if kinds else pl.String()


def _text(value: object) -> str | None:
    """A number as the text that it is in a dataframe of mixed values."""
    return Kind.TEXT.text(Kind.TEXT.key(value)) or None
