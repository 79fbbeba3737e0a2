"""Rows that Polars reads in streams: lazy frames, and files larger than memory.

Uses Polars' streaming engine and `packing`; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from shoal.data.engines.engine import changed
from shoal.data.engines.packing import LOOKED_AT, Packing

__all__ = ["Streamed"]

_COUNT = "count"


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
        rows = self._by_place(names)
        # A column alone may name people, and a table of their names would be no smaller.
        if len(names) == 1:
            yield from _grouped(rows)
            return
        # As long as these rows are held, so are the tables of texts that all queries share.
        some = rows.head(LOOKED_AT).collect(engine="streaming")
        packing = Packing.guessed(some)
        if packing.keys:
            yield from self._packed(rows, packing)
        else:
            yield from _grouped(rows)

    def _packed(self, rows: pl.LazyFrame, packing: Packing) -> Iterator[pl.DataFrame]:
        """The distinct rows by their keys, and then those that have none."""
        without_key = 0
        for part in _grouped(packing.packed(rows)):
            has_key = part.to_series(0).is_not_null()
            without_key += int(part.filter(~has_key)[_COUNT].sum())
            yield packing.read(part.filter(has_key))
        if not without_key:
            return
        for part in _grouped(rows.filter(~packing.fits())):
            without_key -= int(part[_COUNT].sum())
            yield part
        if without_key:
            raise changed(self.name)

    def rows(self) -> int:
        return int(self.lazy.select(pl.len()).collect(engine="streaming").item())

    def distinct(self, name: str) -> int:
        values = self.lazy.select(self._column(name).n_unique())
        return int(values.collect(engine="streaming").item())

    def head(self, rows: int) -> pl.DataFrame:
        return self.lazy.head(rows).collect(engine="streaming")

    def _by_place(self, names: Sequence[str]) -> pl.LazyFrame:
        """Some columns, called by their places."""
        columns = []
        for place, name in enumerate(names):
            column = self._column(name)
            if self.types.schema[name] == pl.String and len(names) > 1:
                # Numbers are grouped in less memory than texts.
                column = column.cast(pl.Categorical(pl.Categories.random()))
            columns.append(column.alias(str(place)))
        return self.lazy.select(columns)

    def _column(self, name: str) -> pl.Expr:
        # By its place, since a name such as "^a$" would be read as a pattern.
        return pl.nth(self.types.columns.index(name))


def _grouped(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The distinct rows and their numbers, in parts."""
    counted = rows.group_by(pl.all()).agg(pl.len().alias(_COUNT))
    yield from counted.collect_batches(engine="streaming", maintain_order=False)
