"""`Tallied`: a source of rows of which only the distinct ones and their numbers are held.

To every question about some columns, their distinct rows with the number of times each occurs are
as good as the rows themselves. Uses `sources` and `free_memory`; `distant` and `tables` use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.chance import Chance
from shoal.counts import Counts, group
from shoal.data import free_memory
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Key, Kind
from shoal.data.sources import (
    Column,
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Suppressed,
    bounded_rows,
    kinds_of,
    known_values,
    rewritten_rows,
)
from shoal.errors import InternalError
from shoal.zones import OWNER_ONLY

__all__ = ["Tallied"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tallied:
    """The distinct rows of some columns, and how often each occurs."""

    distinct_rows: Memory
    count_of_each: Ints
    types: Memory
    """A dataframe without rows: all columns that the rows had where they came from."""

    def __repr__(self) -> str:
        distinct = f"{self.distinct_rows.rows:,} distinct rows of {self.rows:,}"
        return f"<{OWNER_ONLY}{distinct} × {len(self.distinct_rows.names)} columns>"

    @classmethod
    def gather(
        cls, types: Memory, names: Sequence[str], batches: Iterable[pl.DataFrame]
    ) -> "Tallied":
        """The tally that comes in parts: the columns by `names`, then how often each row occurs."""
        own = types.frame.to_native().schema
        held = {name: _held(own[name]) for name in names}
        parts: list[pl.DataFrame] = []
        counts = [np.zeros(0, dtype=np.int64)]
        for batch in batches:
            # While it is gathered, a part is there twice, and once more as codes.
            free_memory.require(
                3 * int(batch.estimated_size()),
                "what is left of the distinct rows",
                "release fewer columns, or columns with fewer values, or use a larger machine",
            )
            *columns, count = batch.get_columns()
            if not parts:
                held = {
                    name: _held(own[name], column.dtype)
                    for name, column in zip(names, columns, strict=True)
                }
            cast = [
                column.cast(held[name]).alias(name)
                for name, column in zip(names, columns, strict=True)
            ]
            parts.append(pl.DataFrame(cast))
            counts.append(count.cast(pl.Int64).to_numpy())
        frame = pl.concat([pl.DataFrame(schema=held), *parts], rechunk=True)
        return cls(Memory.of(frame), np.concatenate(counts), types)

    @classmethod
    def of_rows(cls, rows: RowsWithCounts) -> "Tallied":
        """The source of rows that are there with counts, in their order; some may be equal."""
        given = Memory.of(rows.frame)
        return cls(given, rows.count, Memory(given.frame.head(0)))

    @property
    def names(self) -> tuple[str, ...]:
        return self.types.names

    @property
    def rows(self) -> int:
        return int(self.count_of_each.sum())

    def has(self, names: Iterable[str]) -> bool:
        """Whether it can be asked about some columns together."""
        return set(names) <= set(self.distinct_rows.names)

    def together(self, names: Sequence[str]) -> "Tallied":
        return self

    def describe(self) -> str:
        return self.distinct_rows.describe()

    def is_headless(self) -> bool:
        return False

    def kind(self, name: str) -> Kind:
        return self._holding([name]).kind(name)

    def guessed(self, name: str) -> bool:
        return self._holding([name]).guessed(name)

    def decimal(self, name: str) -> bool:
        return self.types.decimal(name)

    def distinct(self, name: str) -> int | None:
        return self._holding([name]).distinct(name)

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        return self._holding([column.name for column in columns]).values(columns)

    def runs(self, columns: Sequence[Reading]) -> tuple[list[Column], Ints]:
        """Coded columns of the rows as they are held, and how often each row is there."""
        held = self._holding([column.name for column in columns])
        return held.columns(columns), self.count_of_each

    def known(self, column: Reading) -> tuple[int, int]:
        return known_values(self, column)

    def count(self, columns: Sequence[Recoded]) -> Counts:
        names = [recoded.column.name for recoded in columns]
        cards = [recoded.card for recoded in columns]
        codes = self._holding(names).recoded(columns)
        return group(names, codes, cards, self.count_of_each)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> "Tallied":
        asked = [unit, *columns]
        held = self._holding([column.name for column in asked])
        people, *others = (column.codes for column in held.columns(asked))
        kept = bounded_rows(people, others, self.count_of_each, rows, chance)
        left = np.flatnonzero(kept)
        frame = held.frame.select(*(column.name for column in columns))
        return replace(self, distinct_rows=Memory(frame[left]), count_of_each=kept[left])

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> RowsWithCounts:
        held = self._holding([written.column.column.name for written in columns])
        codes = held.recoded([written.column for written in columns])
        laid, count = rewritten_rows(columns, codes, keep, suppressed, self.count_of_each)
        return RowsWithCounts(self.make(laid, kinds_of(columns)), count)

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        return self.types.make(columns, kinds)

    def _holding(self, names: Sequence[str]) -> Memory:
        if not self.has(names):
            raise InternalError("a tally was asked about a column that it was made without")
        return self.distinct_rows


def _held(own: pl.DataType, comes_as: pl.DataType | None = None) -> pl.DataType:
    """The type that a column of distinct rows is held in: a text takes four bytes."""
    if own != pl.String:
        return own
    if isinstance(comes_as, pl.Categorical):
        return comes_as
    # Its table of texts lasts as long as the column, and is shared by all parts.
    return pl.Categorical(pl.Categories.random())
