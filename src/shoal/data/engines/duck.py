"""Rows in DuckDB: a relation of the caller's, or a table or query of a database file.

Uses `sql` and DuckDB; `distant` and `databases` use it.
"""

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.engines.sql import arrow_parts, arrow_types, quoted, rows_of
from shoal.errors import ColumnError, ParameterError, listed

__all__ = ["Duck", "DuckFile"]

_BATCH = 1 << 18
"""Rows that are handed over at a time."""
# Sums of integers are of these types, which Arrow and Polars lack.
_HUGE = ("HUGEINT", "UHUGEINT")
# Types that have no order or text, and of which some have no form in Arrow either.
_ODD = ("UNION", "VARIANT", "INTERVAL", "BIGNUM", "BIT")
# What databases and schemas of DuckDB's own are called.
_TAKEN = ("main", "memory", "system", "temp")


class DuckFile:
    """A database file, open for reading: nobody can write to it meanwhile.

    What does not fit into memory is set aside in a folder that only the owner can read, and that
    is removed afterwards. By itself DuckDB would do that beside the file.
    """

    def __init__(self, path: str) -> None:
        import duckdb

        self.path = path
        self.folder = tempfile.mkdtemp(prefix="shoal-")
        # A DuckDB of its own, since all connections of a program to one file share their settings.
        self.connection = duckdb.connect(config={"temp_directory": self.folder})
        weakref.finalize(self, _closed, self.connection, self.folder)
        # Moments would otherwise be shown in the time zone of the machine.
        self.connection.execute("SET TimeZone = 'UTC'")
        stem = Path(path).stem
        name = quoted(f"{stem}_file" if stem.lower() in _TAKEN else stem)
        literal = path.replace("'", "''")
        self.connection.execute(f"ATTACH '{literal}' AS {name} (READ_ONLY); USE {name}.main")

    def rows(self, query: str) -> "Duck":
        """A table or a query. More than one statement is refused, since each would be run."""
        import duckdb

        selected = f"SELECT * FROM {rows_of(query)}"
        statements = self.connection.extract_statements(selected)
        if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
            raise ParameterError("is not one query that only reads", option="query")
        return Duck(self.connection.sql(selected), self.path, opened=self)


def _closed(connection: Any, folder: str) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


# No repr, since that of a frame may have rows.
@dataclass(frozen=True, eq=False, repr=False)
class Duck:
    """The rows of a DuckDB relation, which is run anew for every question."""

    relation: Any
    name: str = "the DuckDB relation"
    decimals: frozenset[str] = frozenset()
    opened: DuckFile | None = None
    """What has to stay open meanwhile."""

    def cancel(self) -> None:
        if self.opened is not None:
            self.opened.connection.interrupt()

    def only(self, names: Sequence[str]) -> "Duck":
        return replace(self, relation=self.relation.project(", ".join(map(quoted, names))))

    @cached_property
    def types(self) -> pl.DataFrame:
        names = self.relation.columns
        # By their places, since a name may be anything.
        exact = ", ".join(self._exact(name) for name in names)
        schema = self.relation.limit(0).project(exact).to_arrow_table().schema
        types = arrow_types(schema).values()
        return pl.DataFrame(schema=dict(zip(names, types, strict=True)))

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        exact = ", ".join(self._exact(name) for name in names)
        counted = self.relation.aggregate(f"{exact}, COUNT(*)", exact)
        with self._converting(names):
            yield from arrow_parts(counted.to_arrow_reader(_BATCH), names)

    def orders(self) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        first = quoted(names[0])
        if self.types.schema[names[0]] == pl.String:
            first = f'CAST({first} AS VARCHAR) COLLATE "C"'
        exact = ", ".join(self._exact(name) for name in names)
        rows = self.relation.order(first).project(exact)
        with self._converting(names):
            yield from arrow_parts(rows.to_arrow_reader(_BATCH), names)

    def rows(self) -> int:
        return int(self.relation.aggregate("COUNT(*)").fetchone()[0])

    def distinct(self, name: str) -> int:
        values = self.relation.project(self._exact(name)).distinct()
        with self._converting([name]):
            return int(values.aggregate("COUNT(*)").fetchone()[0])

    def head(self, rows: int) -> pl.DataFrame:
        shown = []
        for name in self.relation.columns:
            exact = self._exact(name)
            if str(self._kinds[name]) in _HUGE:
                exact = f"TRY_{exact}"  # a null where it is too large
            shown.append(f"{exact} AS {quoted(name)}")
        some = self.relation.limit(rows).project(", ".join(shown))
        return pl.DataFrame(some.to_arrow_table())

    def _exact(self, name: str) -> str:
        """A column by which rows are equal only if their values are."""
        column = quoted(name)
        kind = str(self._kinds[name])
        if kind == "VARCHAR":
            return f'{column} COLLATE "C"'
        if kind in _HUGE:
            return f"CAST({column} AS BIGINT)"
        if kind.startswith(_ODD):
            return "CAST(NULL AS BLOB)"  # nobody asks for bytes
        return column

    @contextmanager
    def _converting(self, names: Sequence[str]) -> Iterator[None]:
        """The error for an integer that is too large names the columns that it may be in."""
        import duckdb

        huge = [name for name in names if str(self._kinds[name]) in _HUGE]
        try:
            yield
        except duckdb.ConversionException:
            if not huge:
                raise
            raise ColumnError(
                f"column {listed(huge)} has integers of more than 64 bits", "convert it to text"
            ) from None

    @cached_property
    def _kinds(self) -> dict[str, object]:
        return dict(zip(self.relation.columns, self.relation.types, strict=True))
