"""Rows in a PostgreSQL database, by its Arrow driver (ADBC).

What is needed to connect, such as a password, comes from the environment as it does for every
client of PostgreSQL. Uses `sql`; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import polars as pl

from shoal.data.engines.sql import arrow_parts, arrow_types, grouped, ordered, quoted, rows_of
from shoal.errors import ParameterError

__all__ = ["PostgresRows"]

_READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_NUMBERS = ("numeric", "money")


@dataclass(frozen=True, eq=False, repr=False)
class PostgresRows:
    """A table or a query of a PostgreSQL database, in transactions that can only read."""

    url: str
    query: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.password is not None or "password" in dict(parse_qsl(parts.query)):
            raise ParameterError(
                "a URL with a password would be in recipes and histories of commands",
                "leave it out, and set PGPASSWORD or PGPASSFILE in the environment",
            )

    @property
    def name(self) -> str:
        """The URL without its user."""
        parts = urlsplit(self.url)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    @cached_property
    def types(self) -> pl.DataFrame:
        exact = [self._exact(name) for name in self._own]
        query = f"SELECT {', '.join(exact)} FROM {rows_of(self.query)} LIMIT 0"
        with self._answer(query) as reader:
            fields = [field.with_name(str(place)) for place, field in enumerate(reader.schema)]
            types = arrow_types(fields).values()
        return pl.DataFrame(schema=dict(zip(self._own, types, strict=True)))

    @cached_property
    def decimals(self) -> frozenset[str]:
        return frozenset(name for name, kind in self._own.items() if kind in _NUMBERS)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        exact = [self._exact(name) for name in names]
        with self._answer(grouped(exact, rows_of(self.query))) as reader:
            yield from arrow_parts(reader)

    def orders(self, name: str) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        first = quoted(names[0])
        if self.types.schema[names[0]] == pl.String:
            # By their bytes in an encoding that has the order of code points.
            first = f"convert_to(CAST({first} AS text), 'UTF8')"
        exact = [self._exact(name) for name in names]
        with self._answer(ordered(exact, rows_of(self.query), first)) as reader:
            yield from arrow_parts(reader)

    def rows(self) -> int:
        return self._number_of(rows_of(self.query))

    def distinct(self, name: str) -> int:
        values = grouped([self._exact(name)], rows_of(self.query))
        return self._number_of(f"({values}) AS counted")

    def head(self, rows: int) -> pl.DataFrame:
        exact = [f"{self._exact(name)} AS {quoted(name)}" for name in self._own]
        query = f"SELECT {', '.join(exact)} FROM {rows_of(self.query)} LIMIT {rows}"
        with self._answer(query) as reader:
            return pl.concat([self.types, *arrow_parts(reader)])

    def _number_of(self, rows: str) -> int:
        with self._answer(f"SELECT COUNT(*) FROM {rows}") as reader:
            return int(reader.read_all().column(0)[0].as_py())

    @cached_property
    def _own(self) -> dict[str, str]:
        """The columns, and what the database calls their types."""
        with self._answer(f"SELECT * FROM {rows_of(self.query)} LIMIT 0") as reader:
            return {
                field.name: (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
                for field in reader.schema
            }

    def _exact(self, name: str) -> str:
        """A column by which rows are equal only if their values are."""
        column = quoted(name)
        kind = self._own[name]
        if kind in _NUMBERS:
            return f"CAST(CAST({column} AS numeric) AS double precision)"
        if kind in ("text", "varchar", "bpchar", "citext", "name", "uuid"):
            # Collations, and types such as `char`, may hold different texts for equal.
            return f'CAST({column} AS text) COLLATE "C"'
        return column

    @contextmanager
    def _answer(self, query: str) -> Iterator[Any]:
        import adbc_driver_postgresql.dbapi as driver

        with closing(driver.connect(self.url)) as connection, connection.cursor() as cursor:
            cursor.execute(_READ_ONLY)
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                yield reader
