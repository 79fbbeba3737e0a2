"""Rows in DuckDB: a relation of the caller's, or a table or query of a database file.

Uses `sql` and DuckDB; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from shoal.data.engines.sql import arrow_parts, arrow_types, quoted, rows_of

__all__ = ["Duck"]

_BATCH = 1 << 18
"""Rows that are handed over at a time."""


@dataclass(frozen=True, eq=False)
class Duck:
    """The rows of a DuckDB relation, which is run anew for every question."""

    relation: Any
    name: str = "the DuckDB relation"
    decimals: frozenset[str] = frozenset()

    @classmethod
    def file(cls, path: str, query: str) -> "Duck":
        """A table or a query of a database file, which is opened for reading only."""
        import duckdb

        connection = duckdb.connect(path, read_only=True)
        return cls(connection.sql(f"SELECT * FROM {rows_of(query)}"), path)

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
        yield from arrow_parts(counted.to_arrow_reader(_BATCH))

    def orders(self, name: str) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        first = quoted(names[0])
        if self.types.schema[names[0]] == pl.String:
            first = f'CAST({first} AS VARCHAR) COLLATE "C"'
        exact = ", ".join(self._exact(name) for name in names)
        yield from arrow_parts(self.relation.order(first).project(exact).to_arrow_reader(_BATCH))

    def rows(self) -> int:
        return int(self.relation.aggregate("COUNT(*)").fetchone()[0])

    def distinct(self, name: str) -> int:
        values = self.relation.project(self._exact(name)).distinct()
        return int(values.aggregate("COUNT(*)").fetchone()[0])

    def head(self, rows: int) -> pl.DataFrame:
        return pl.DataFrame(self.relation.limit(rows).to_arrow_table())

    def _exact(self, name: str) -> str:
        """A column by which rows are equal only if their values are."""
        column = quoted(name)
        match str(self._kinds[name]):
            case "VARCHAR":
                return f'{column} COLLATE "C"'
            # Sums of integers are of this type, which Arrow and Polars lack.
            case "HUGEINT" | "UHUGEINT":
                return f"CAST({column} AS BIGINT)"
        return column

    @cached_property
    def _kinds(self) -> dict[str, object]:
        return dict(zip(self.relation.columns, self.relation.types, strict=True))
