"""Rows that Polars reads in streams: lazy frames, and files larger than memory.

Uses Polars' streaming engine, `packing` and `failures`; `distant` and `files` use it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from shoal.data.engines.failures import rows_changed
from shoal.data.engines.packing import GUESSED_FROM, Packing

__all__ = ["Streamed"]

_SAMPLED = 1 << 17
"""Values by which rows are parted into ranges: they decide about time, and about nothing else."""
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
        some = rows.head(GUESSED_FROM).collect(engine="streaming")
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
            raise rows_changed(self.name)

    def orders(self) -> bool:
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
        # Without a value, nothing can be put in order.
        parts = -(-rows // at_once) if len(some) else 1
        places = [len(some) * part // parts for part in range(1, parts)]
        above = pl.lit(True)
        for cut in some.gather(places).unique(maintain_order=True):
            yield above & (column <= cut)
            above = column > cut
        yield above | column.is_null()

    def _some(self, column: pl.Expr) -> tuple[pl.Series, int]:
        """Some values of a column in order, evenly from its rows, and the number of rows."""
        # Under another name, since series read theirs as patterns, too.
        lazy = self.lazy.select(column.alias("0"))
        parts = [lazy.head(0).collect().to_series()]
        rows = 0
        every = 1
        for batch in lazy.collect_batches(engine="streaming", maintain_order=False):
            rows += batch.height
            parts.append(batch.to_series().gather_every(every))
            if sum(map(len, parts)) > _SAMPLED:
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

    def all_rows(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns of all rows, in their order."""
        chosen = self.lazy.select(self._column(name) for name in names)
        return chosen.collect(engine="streaming")

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
