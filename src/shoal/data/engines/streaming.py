"""Rows that Polars reads in streams: lazy frames, and files larger than memory.

Uses Polars' streaming engine; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

__all__ = ["Streamed"]

_LOOKED_AT = 1 << 17
"""Values by which rows are parted into ranges: they decide about time, and about nothing else."""


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

    def orders(self, name: str) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        """One pass for the range of values of the first column that each part has."""
        first = self._column(names[0])
        columns = [first.alias("0")]
        for place, name in enumerate(names[1:], start=1):
            column = self._column(name)
            if self.types.schema[name] == pl.String:
                column = column.cast(pl.Categorical(pl.Categories.random()))
            columns.append(column.alias(str(place)))
        for within in self._ranges(first, at_once):
            part = self.lazy.filter(within).select(columns).sort("0")
            yield part.collect(engine="streaming")

    def _ranges(self, column: pl.Expr, at_once: int) -> Iterator[pl.Expr]:
        """Conditions of which every row fulfils one, and about as many rows each.

        They come in the order of the values.
        """
        some, rows = self._some(column)
        parts = -(-rows // at_once)
        places = [len(some) * part // parts for part in range(1, parts)]
        above = pl.lit(True)
        for cut in some.gather(places).unique(maintain_order=True):
            yield above & (column <= cut)
            above = column > cut
        yield above | column.is_null()

    def _some(self, column: pl.Expr) -> tuple[pl.Series, int]:
        """Some values of a column in order, evenly from its rows, and the number of rows."""
        parts = [self.lazy.select(column).head(0).collect().to_series()]
        rows = 0
        every = 1
        values = self.lazy.select(column).collect_batches(engine="streaming", maintain_order=False)
        for batch in values:
            rows += batch.height
            parts.append(batch.to_series().gather_every(every))
            if sum(map(len, parts)) > _LOOKED_AT:
                every *= 2
                parts = [pl.concat(parts).gather_every(2)]
        return pl.concat(parts).drop_nulls().sort(), rows

    def rows(self) -> int:
        return int(self.lazy.select(pl.len()).collect(engine="streaming").item())

    def distinct(self, name: str) -> int:
        values = self.lazy.select(self._column(name).n_unique())
        return int(values.collect(engine="streaming").item())

    def head(self, rows: int) -> pl.DataFrame:
        return self.lazy.head(rows).collect(engine="streaming")

    def _column(self, name: str) -> pl.Expr:
        # By its place, since a name such as "^a$" would be read as a pattern.
        return pl.nth(self.types.columns.index(name))
