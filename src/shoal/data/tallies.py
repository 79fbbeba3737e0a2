"""`Tallied`: a source of rows of which only the distinct ones and their numbers are held.

To every question about some columns, their distinct rows with the number of times each occurs are
as good as the rows themselves. They are held as codes, of a byte or two where values are few, and
are coded part by part as they come. Uses `sources`, `bounding`, `categories` and `free_memory`;
`distant`, `in_turn` and `tables` use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, smallest
from shoal.data import free_memory
from shoal.data.bounding import bounded_rows
from shoal.data.categories import at_places
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Key, Kind
from shoal.data.sources import (
    LOOKED_AT,
    Column,
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Suppressed,
    kinds_of,
    known_values,
    rewritten_rows,
)
from shoal.errors import InternalError
from shoal.zones import OWNER_ONLY, owner_only

__all__ = ["Tallied", "TalliedColumn"]

Ints = npt.NDArray[np.int64]

_BLOCK = 1 << 20
"""Rows that are looked at together."""

_DISTINCT_ROWS = "what is left of the distinct rows"
_FEWER = "release fewer columns, or columns with fewer values, or use a larger machine"


@owner_only
@dataclass(frozen=True, eq=False)
class TalliedColumn:
    """One column of the distinct rows: row i has the value `codes[i]` of `values`.

    `values` has a row for every different value, or more, and nothing but this column. Each occurs.
    """

    values: Memory
    codes: Codes

    @classmethod
    def of(cls, values: pl.Series, codes: Codes) -> "TalliedColumn":
        """The column, without the values that do not occur."""
        occurring = _occurring(codes, len(values))
        if len(occurring) < len(values):
            kind = smallest(max(len(occurring), 1))
            place = np.zeros(len(values), dtype=kind)
            place[occurring] = np.arange(len(occurring), dtype=kind)
            codes = place.take(codes)
        return cls(Memory.of(values[occurring].to_frame()), codes)

    def at(self, rows: npt.NDArray[np.intp]) -> "TalliedColumn":
        """The column of some of the rows."""
        return self.of(self.values.frame.to_native().to_series(), self.codes[rows])


@dataclass(frozen=True, eq=False)
class Tallied:
    """The distinct rows of some columns, and how often each occurs."""

    columns: Mapping[str, TalliedColumn]
    count_of_each: npt.NDArray[np.integer]
    types: Memory
    """A dataframe without rows: all columns that the rows had where they came from."""

    def __repr__(self) -> str:
        distinct = f"{len(self.count_of_each):,} distinct rows of {self.rows:,}"
        return f"<{OWNER_ONLY}{distinct} × {len(self.columns)} columns>"

    @classmethod
    def gather(
        cls, types: Memory, names: Sequence[str], batches: Iterable[pl.DataFrame]
    ) -> "Tallied":
        """The tally that comes in parts: the columns by `names`, then how often each row occurs."""
        own = types.frame.to_native().schema
        gathered = [_GatheredColumn(name, own[name]) for name in names]
        counts: list[Codes] = [np.zeros(0, dtype=np.uint8)]
        for batch in batches:
            free_memory.require(2 * int(batch.estimated_size()), _DISTINCT_ROWS, _FEWER)
            *columns, count = batch.get_columns()
            for column, part in zip(gathered, columns, strict=True):
                column.add(part)
            counts.append(_narrow(count.to_numpy()))
        of_names = {column.name: column.gathered() for column in gathered}
        return cls(of_names, _joined(counts), types)

    @classmethod
    def of_rows(cls, rows: RowsWithCounts) -> "Tallied":
        """The source of rows that are there with counts, in their order; some may be equal."""
        given = Memory.of(rows.frame)
        # Each row has a value of its own: it is only coded when a column is asked for.
        place = np.arange(given.rows, dtype=smallest(max(given.rows, 1)))
        columns = {
            name: TalliedColumn(Memory(given.frame.select(name)), place) for name in given.names
        }
        return cls(columns, rows.count, Memory(given.frame.head(0)))

    @property
    def names(self) -> tuple[str, ...]:
        return self.types.names

    @property
    def rows(self) -> int:
        return int(self.count_of_each.sum())

    def has(self, names: Iterable[str]) -> bool:
        """Whether it can be asked about some columns together."""
        return set(names) <= set(self.columns)

    def together(self, names: Sequence[str]) -> "Tallied":
        return self

    def describe(self) -> str:
        first = []
        for column in self.columns.values():
            places = column.codes[:LOOKED_AT]
            first.append(column.values.frame[places.tolist()])
        return Memory(nw.concat(first, how="horizontal")).describe()

    def is_headless(self) -> bool:
        return False

    def kind(self, name: str) -> Kind:
        return self._column(name).values.kind(name)

    def guessed(self, name: str) -> bool:
        return self._column(name).values.guessed(name)

    def decimal(self, name: str) -> bool:
        return self.types.decimal(name)

    def rounded(self, name: str) -> bool:
        return False

    def distinct(self, name: str) -> int | None:
        return self._column(name).values.distinct(name)

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        return [self._column(reading.name).values.values([reading])[0] for reading in columns]

    def runs(self, columns: Sequence[Reading]) -> tuple[list[Column], Ints]:
        """Coded columns of the rows as they are held, and how often each row is there."""
        coded = []
        for reading in columns:
            [keys] = self.values([reading])
            codes = self._recoded(Recoded(reading, None, len(keys)))
            coded.append(Column(reading.name, reading.kind, keys, codes))
        return coded, self.count_of_each.astype(np.int64, copy=False)

    def known(self, column: Reading) -> tuple[int, int]:
        return known_values(self, column)

    def count(self, columns: Sequence[Recoded]) -> Counts:
        names = [recoded.column.name for recoded in columns]
        cards = [recoded.card for recoded in columns]
        # One after the other, since each is as long as there are rows.
        codes = (self._recoded(recoded) for recoded in columns)
        return group(names, codes, cards, self.count_of_each)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> "Tallied":
        people, *others = (self._recoded(Recoded(reading, None, 0)) for reading in (unit, *columns))
        count = self.count_of_each.astype(np.int64)
        kept = bounded_rows(people, others, count, rows, chance)
        left = np.flatnonzero(kept)
        held = {reading.name: self.columns[reading.name].at(left) for reading in columns}
        return replace(self, columns=held, count_of_each=kept[left])

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> RowsWithCounts:
        codes = [self._recoded(written.column) for written in columns]
        count = self.count_of_each.astype(np.int64)
        laid, count = rewritten_rows(columns, codes, keep, suppressed, count)
        return RowsWithCounts(self.make(laid, kinds_of(columns)), count)

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        return self.types.make(columns, kinds)

    def _recoded(self, recoded: Recoded) -> Codes:
        """The codes of a recoded column, one for each distinct row."""
        held = self._column(recoded.column.name)
        [column] = held.values.columns([recoded.column])
        codes = column.codes if recoded.codes is None else recoded.codes[column.codes]
        return codes.take(held.codes)

    def _column(self, name: str) -> TalliedColumn:
        if name not in self.columns:
            raise InternalError("a tally was asked about a column that it was made without")
        return self.columns[name]


class _GatheredColumn:
    """A column of distinct rows that come in parts, each of which is coded when it comes."""

    def __init__(self, name: str, own: pl.DataType) -> None:
        self.name = name
        self._own = own
        self._held = pl.Categorical(pl.Categories.random()) if own == pl.String else own
        self._codes: list[Codes] = [np.zeros(0, dtype=np.uint8)]
        # Without a name, since one such as "^a$" would be read as a pattern.
        self._values = [pl.Series(dtype=own)]
        self._code_of: dict[object, int] = {}
        self._last = self._values[0]

    def add(self, part: pl.Series) -> None:
        """Take the next rows."""
        if self._own == pl.String and isinstance(part.dtype, pl.Categorical):
            # An engine that had texts as categories has the same ones for all parts.
            self._held = part.dtype
        column = part.alias("").cast(self._held)
        codes = self._places(column) if self._has_categories else self._coded(column)
        self._codes.append(_narrow(codes.to_numpy()))
        # The table of categories, which all parts share, lasts as long as a column that has it.
        self._last = column.clear()

    def gathered(self) -> TalliedColumn:
        """The whole column."""
        codes = _joined(self._codes)
        self._codes.clear()
        if not self._has_categories:
            values = pl.concat(self._values)
            return TalliedColumn.of(values.alias(self.name), codes)
        missing = pl.Series([None], dtype=pl.UInt32)
        places = missing.extend(pl.Series(np.arange(codes.max(initial=0), dtype=np.uint32)))
        physical = pl.Series(dtype=self._held).to_physical().dtype
        values = at_places(places.cast(physical), self._held).cast(self._own)
        return TalliedColumn.of(values.alias(self.name), codes)

    @property
    def _has_categories(self) -> bool:
        return isinstance(self._held, pl.Categorical | pl.Enum)

    def _places(self, column: pl.Series) -> pl.Series:
        """Places among categories, which begin at 1; 0 is for a missing value."""
        return (column.to_physical().cast(pl.UInt32) + 1).fill_null(0)

    def _coded(self, column: pl.Series) -> pl.Series:
        """The numbers of values in the order in which they first came."""
        distinct = column.unique()
        known = len(self._code_of)
        codes = []
        for number in distinct.to_physical().to_list():
            # Only the very same NaN is found again.
            key = nan if number != number else number
            codes.append(self._code_of.setdefault(key, len(self._code_of)))
        numbers = pl.Series(codes, dtype=pl.UInt32)
        self._values.append(distinct.filter(numbers >= known))
        return column.to_physical().replace_strict(distinct.to_physical(), numbers)


def _narrow(numbers: npt.NDArray[np.integer]) -> Codes:
    """Numbers that are not negative, in the smallest type that holds them."""
    return numbers.astype(smallest(int(numbers.max(initial=0)) + 1))


def _joined(parts: Sequence[Codes]) -> Codes:
    """Parts as one array, of the type of the widest."""
    needed = sum(len(part) for part in parts) * max(part.itemsize for part in parts)
    free_memory.require(needed, _DISTINCT_ROWS, _FEWER)
    return np.concatenate(parts)


def _occurring(codes: Codes, values: int) -> npt.NDArray[np.intp]:
    """The codes that occur among those of that many values."""
    occurs = np.zeros(values, dtype=np.bool_)
    # In blocks, since numpy makes eight bytes of every code.
    for start in range(0, len(codes), _BLOCK):
        occurs[codes[start : start + _BLOCK]] = True
    return np.flatnonzero(occurs)
