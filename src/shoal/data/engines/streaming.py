"""Rows that Polars reads in streams: lazy frames, and files larger than memory.

Uses Polars' streaming engine; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

__all__ = ["Streamed"]


@dataclass(frozen=True, eq=False)
class Streamed:
    """The rows of a Polars LazyFrame, which is run anew for every question."""

    lazy: pl.LazyFrame
    name: str = "the LazyFrame"
    decimals: frozenset[str] = frozenset()

    @cached_property
    def types(self) -> pl.DataFrame:
        return self.lazy.collect_schema().to_frame()

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        columns = []
        for place, name in enumerate(names):
            column = self._column(name)
            if self.types.schema[name] == pl.String and len(names) > 1:
                # Numbers are grouped in less memory than texts. A column alone may name people, and
                # a table of their names would be no smaller.
                column = column.cast(pl.Categorical(pl.Categories.random()))
            columns.append(column.alias(str(place)))
        grouped = self.lazy.select(columns).group_by(pl.all()).agg(pl.len().alias("count"))
        yield from grouped.collect_batches(engine="streaming", maintain_order=False)

    def rows(self) -> int:
        return int(self.lazy.select(pl.len()).collect(engine="streaming").item())

    def distinct(self, name: str) -> int:
        values = self.lazy.select(self._column(name).n_unique())
        return int(values.collect(engine="streaming").item())

    def head(self, rows: int) -> pl.DataFrame:
        return self.lazy.head(rows).collect(engine="streaming")

    def all_rows(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns of all rows, in their order."""
        chosen = self.lazy.select(self._column(name) for name in names)
        return chosen.collect(engine="streaming")

    def _column(self, name: str) -> pl.Expr:
        # By its place, since a name such as "^a$" would be read as a pattern.
        return pl.nth(self.types.columns.index(name))
