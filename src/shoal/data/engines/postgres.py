"""Rows in a PostgreSQL database, by its Arrow driver (ADBC).

What is needed to connect, such as a password, comes from the environment as it does for every
client of PostgreSQL. Uses `sql`; `databases` uses it.
"""

import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

import polars as pl

from shoal.data.engines.sql import arrow_parts, arrow_types, grouped, ordered, quoted, rows_of
from shoal.errors import ColumnError, ParameterError, listed

__all__ = ["PostgresRows", "Snapshot"]

_READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_URL = re.compile(r"\w+://(?:([^@/]*)@)?([^/?]*)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)
"""User, hosts, database and parameters, as the library of PostgreSQL takes a URL apart."""
_SECRETS = {
    "password",
    "sslpassword",
    "oauth_client_secret",
    "scram_client_key",
    "scram_server_key",
}

_NUMBERS = ("numeric", "money")
# Collations, and types such as `char`, may hold different texts for equal; JSON has no equality.
_TEXTS = ("text", "varchar", "bpchar", "citext", "name", "uuid", "json", "jsonb")


class Snapshot:
    """One connection, and in it one transaction that can only read.

    All questions see the rows as they were at the first one. Whatever a query may have done is
    rolled back when the snapshot is no longer used.
    """

    def __init__(self, url: str) -> None:
        import adbc_driver_postgresql.dbapi as driver

        user, hosts, database, parameters = _parts(url)
        given = {name.lower() for name, _ in parse_qsl(parameters, keep_blank_values=True)}
        # An "@" further on belongs to a password that has one, or a slash.
        if ":" in user or "@" in hosts + database or given & _SECRETS:
            raise ParameterError(
                "a URL with a password would be in recipes and histories of commands",
                "leave it out, and set PGPASSWORD or PGPASSFILE in the environment",
            )
        self.name = f"postgresql://{hosts}/{database}"
        self._connection = driver.connect(url)
        self._asking: Any = None
        weakref.finalize(self, _closed, self._connection)
        with self._connection.cursor() as cursor:
            cursor.execute(_READ_ONLY)

    @contextmanager
    def answer(self, query: str) -> Iterator[Any]:
        """What the server answers, as a reader of Arrow batches."""
        if self._asking is not None:
            # Nobody read the last answer to its end.
            _closed(self._asking)
        cursor = self._asking = self._connection.cursor()
        try:
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                yield reader
        finally:
            _closed(cursor)

    def cancel(self) -> None:
        self._connection.adbc_cancel()


@dataclass(frozen=True, eq=False, repr=False)
class PostgresRows:
    """A table or a query of a PostgreSQL database."""

    snapshot: Snapshot
    query: str

    @property
    def name(self) -> str:
        """The host and the database."""
        return self.snapshot.name

    def cancel(self) -> None:
        self.snapshot.cancel()

    def only(self, names: Sequence[str]) -> "PostgresRows":
        wanted = ", ".join(map(quoted, names))
        return replace(self, query=f"SELECT {wanted} FROM {rows_of(self.query)}")

    @cached_property
    def types(self) -> pl.DataFrame:
        exact = [self._exact(name) for name in self._own]
        query = f"SELECT {', '.join(exact)} FROM {rows_of(self.query)} LIMIT 0"
        with self.snapshot.answer(query) as reader:
            fields = [field.with_name(str(place)) for place, field in enumerate(reader.schema)]
            types = arrow_types(fields).values()
        return pl.DataFrame(schema=dict(zip(self._own, types, strict=True)))

    @cached_property
    def decimals(self) -> frozenset[str]:
        return frozenset(name for name, kind in self._own.items() if kind in _NUMBERS)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        exact = [self._exact(name) for name in names]
        with self.snapshot.answer(grouped(exact, rows_of(self.query))) as reader:
            yield from arrow_parts(reader, names)

    def orders(self) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        first = quoted(names[0])
        if self.types.schema[names[0]] == pl.String:
            # By their bytes in an encoding that has the order of code points.
            first = f"convert_to(CAST({first} AS text), 'UTF8')"
        exact = [self._exact(name) for name in names]
        with self.snapshot.answer(ordered(exact, rows_of(self.query), first)) as reader:
            yield from arrow_parts(reader, names)

    def rows(self) -> int:
        return self._number_of(rows_of(self.query))

    def distinct(self, name: str) -> int:
        values = grouped([self._exact(name)], rows_of(self.query))
        return self._number_of(f"({values}) AS counted")

    def head(self, rows: int) -> pl.DataFrame:
        exact = [f"{self._exact(name)} AS {quoted(name)}" for name in self._own]
        query = f"SELECT {', '.join(exact)} FROM {rows_of(self.query)} LIMIT {rows}"
        with self.snapshot.answer(query) as reader:
            return pl.concat([self.types, *arrow_parts(reader)])

    def _number_of(self, rows: str) -> int:
        with self.snapshot.answer(f"SELECT COUNT(*) FROM {rows}") as reader:
            return int(reader.read_all().column(0)[0].as_py())

    @cached_property
    def _own(self) -> dict[str, str]:
        """The columns, and what the database calls their types."""
        with self.snapshot.answer(f"SELECT * FROM {rows_of(self.query)} LIMIT 0") as reader:
            fields = list(reader.schema)
        names = [field.name for field in fields]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ColumnError(f"two columns are called {listed(twice)}", "rename one")
        return {
            field.name: (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
            for field in fields
        }

    def _exact(self, name: str) -> str:
        """A column by which rows are equal only if their values are."""
        column = quoted(name)
        kind = self._own[name]
        if kind in _NUMBERS:
            return f"CAST(CAST({column} AS numeric) AS double precision)"
        if kind in _TEXTS:
            return f'CAST({column} AS text) COLLATE "C"'
        if kind == "oid":
            # The driver takes the larger ones for negative.
            return f"CAST({column} AS bigint)"
        if kind == "interval":
            # Polars cannot take it, and nobody asks for bytes.
            return "CAST(NULL AS bytea)"
        return column


def _parts(url: str) -> list[str]:
    taken = _URL.fullmatch(url)
    assert taken is not None  # every text with a scheme fits
    return [part or "" for part in taken.groups()]


def _closed(thing: Any) -> None:
    """Close a connection or a cursor; one that was lost cannot be."""
    with suppress(Exception):
        thing.close()
