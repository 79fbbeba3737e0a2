"""`Distant`: a source of rows that are not in memory.

Its engine does one thing at the size of the data: it counts the distinct rows of some columns. They
are asked for once, for all columns of a release together, and kept. People are bounded `in_turn`,
since their rows may not fit into memory. Uses `tallies`, `in_turn` and `engines`; `tables`, `files`
and `databases` use it.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data import frames, free_memory
from shoal.data.disk import Stamps
from shoal.data.engines.engine import Engine
from shoal.data.engines.failures import failure, rows_changed
from shoal.data.engines.streaming import Streamed
from shoal.data.in_turn import KeptRows, ascends, drawable, is_known
from shoal.data.kinds import Key, Kind
from shoal.data.sources import (
    LOOKED_AT,
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Suppressed,
    known_values,
    not_comparable,
)
from shoal.data.tallies import Tallied
from shoal.errors import ShoalError
from shoal.zones import OWNER_ONLY

__all__ = ["Distant"]

_LOG = logging.getLogger(__name__)

_ROW = 80
_VALUE = 16
"""Bytes of memory that a row takes, and each value in it (docs/reference/benchmarks.md)."""


@dataclass(frozen=True, eq=False)
class Distant:
    """Rows that an engine counts where they are."""

    engine: Engine
    released: tuple[str, ...] = ()
    """The columns that are counted together."""
    files: Stamps | None = None
    """The files that the rows are in, which must not change while they are counted."""
    memory: int | None = None
    """Bytes that the rows of people may take; half of what is free unless given."""
    read_off: frozenset[str] = frozenset()
    """Columns whose type a reader has read off their values, though they have one now."""
    _tallies: list[Tallied] = field(default_factory=list, repr=False)
    _known: dict[Reading, tuple[int, int]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<{OWNER_ONLY}{len(self.names)} columns in {self.engine.name}>"

    @classmethod
    def of(cls, frame: Any) -> "Distant":
        """The source of a dataframe whose rows are not in memory."""
        return cls(_engine_of(frame))

    @property
    def names(self) -> tuple[str, ...]:
        return self.types.names

    @property
    def rows(self) -> int:
        if self._tallies or self.released:
            return (self._tallies or [self._tallied(self.released)])[0].rows
        return self._counted_rows

    @cached_property
    def _counted_rows(self) -> int:
        with self._asking():
            return self.engine.rows()

    @cached_property
    def types(self) -> Memory:
        """A dataframe without rows, of the same columns."""
        with self._asking():
            types = self.engine.types
        return Memory.of(types)

    def together(self, names: Sequence[str]) -> "Distant":
        return replace(self, released=tuple(names))

    def describe(self) -> str:
        return self._head.describe()

    def is_headless(self) -> bool:
        return self._head.is_headless()

    def kind(self, name: str) -> Kind:
        if self._decided_by_values(name):
            return self._tallied([name]).kind(name)
        return self.types.kind(name)

    def guessed(self, name: str) -> bool:
        if name in self.read_off:
            return True
        if self._decided_by_values(name):
            return self._tallied([name]).guessed(name)
        return False

    def decimal(self, name: str) -> bool:
        return self.rounded(name) or self.types.decimal(name)

    def rounded(self, name: str) -> bool:
        return name in self.engine.decimals

    def distinct(self, name: str) -> int | None:
        if not self._comparable(name):
            return None
        for tally in self._tallies:
            if tally.has([name]):
                return tally.distinct(name)
        with self._asking():
            return self.engine.distinct(name)

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        return self._tallied([column.name for column in columns]).values(columns)

    def known(self, column: Reading) -> tuple[int, int]:
        if column not in self._known:
            self._known[column] = self._counted_values(column)
        return self._known[column]

    def _counted_values(self, column: Reading) -> tuple[int, int]:
        name = column.name
        held = name in self.released or any(tally.has([name]) for tally in self._tallies)
        if held or not self._is_own_key(column):
            return known_values(self, column)
        # There may be as many values as people: they come in parts, of which hashes are kept.
        too_many = self._too_many([name])
        if too_many and self.engine.orders():
            return self._counted_in_order(name)
        # Files claim nothing that Polars believes.
        doubted = self.files is None and not too_many
        rows = values = 0
        hashes: list[pl.DataFrame] = []
        with self._asking():
            for part in self.engine.tally([name]):
                texts, count = part.get_columns()
                known = is_known(texts)
                rows += int(count.filter(known).sum())
                values += int(known.sum())
                if doubted:
                    hashes.append(_hashed(texts.filter(known)))
        # Who comes twice would count as two people, and their several rows would not be noticed.
        # An engine does that with rows that claim to be sorted and are not.
        if hashes and pl.concat(hashes).n_unique() < values:
            raise rows_changed(self.engine.name)
        return rows, values

    def _counted_in_order(self, name: str) -> tuple[int, int]:
        seen = rows = values = 0
        last: list[pl.Series] = []
        for part in self._in_order([name]):
            column = part.to_series()
            known = column.filter(is_known(column))
            with_last = pl.concat([*last, known])
            if not ascends(with_last):
                raise rows_changed(self.engine.name)
            seen += len(column)
            rows += len(known)
            values += with_last.n_unique() - sum(map(len, last))
            last = [with_last.tail(1)]
        if seen != self.rows:
            raise rows_changed(self.engine.name)
        return rows, values

    def count(self, columns: Sequence[Recoded]) -> Counts:
        return self._tallied([recoded.column.name for recoded in columns]).count(columns)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> Tallied:
        names = [column.name for column in (unit, *columns)]
        is_held = any(tally.has(names) for tally in self._tallies)
        if not is_held and self._is_own_key(unit) and self.engine.orders():
            # Faster than a tally, too, since people need no codes.
            return self._bounded_in_turn(names, columns, rows, chance)
        if self._too_many(names):
            free_memory.require(
                self.rows * _bytes(names),
                f"bounding the people of column {unit.name!r}, whom {self.engine.name} cannot put "
                "into order,",
                "let the column hold texts or integers, and be read as such, or use a larger "
                "machine",
            )
        return self._tallied(names).bounded(unit, columns, rows, chance)

    def _bounded_in_turn(
        self, names: Sequence[str], columns: Sequence[Reading], rows: int, chance: Chance
    ) -> Tallied:
        kept = KeptRows(columns, self.values(columns), self.types)
        seen = 0
        at_once = self._at_once(names)
        for part in drawable(self._in_order(names), rows, at_once, rows_changed(self.engine.name)):
            try:
                kept.draw(part, rows, chance)
            except (KeyError, pl.exceptions.PolarsError):
                # A value that was not there before, or of another type, which Polars would show.
                raise rows_changed(self.engine.name) from None
            seen += part.height
        if seen != self.rows:
            raise rows_changed(self.engine.name)
        return kept.tally()

    def _in_order(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows, ordered by the first column: see `Engine.in_order`."""
        # Texts take four bytes then, except those of people, who are not few.
        categories = [pl.Categorical(pl.Categories.random()) for _ in names[1:]]
        with self._asking():
            for part in self.engine.in_order(names, self._at_once(names)):
                first, *others = part.get_columns()
                for place, (column, held) in enumerate(zip(others, categories, strict=True)):
                    if column.dtype == pl.String:
                        others[place] = column.cast(held)
                yield pl.DataFrame([first, *others])

    def _too_many(self, names: Sequence[str]) -> bool:
        """Whether the distinct rows of some columns, of which one names people, may not fit."""
        is_held = any(tally.has(names) for tally in self._tallies)
        return not is_held and self.rows > self._at_once(names)

    def _at_once(self, names: Sequence[str]) -> int:
        """How many rows may be held at a time."""
        memory = self.memory
        if memory is None:
            memory = free_memory.available() // 2
        return max(1, memory // _bytes(names))

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> frames.RowsWithCounts:
        names = [written.column.column.name for written in columns]
        return self._tallied(names).write_back(columns, keep, suppressed)

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        return self.types.make(columns, kinds)

    def in_own_order(self, names: Sequence[str]) -> pl.DataFrame | None:
        """All rows, of some columns, in the order that they have; None if they have none."""
        if not isinstance(self.engine, Streamed):
            return None
        for name in names:
            self._require_comparable(name)
        with self._asking():
            return self.engine.all_rows(names)

    def first_rows(self, rows: int) -> Memory:
        """The first rows, or some where they have no order."""
        if rows <= LOOKED_AT:
            return self._head.first_rows(rows)
        with self._asking():
            return Memory.of(self.engine.head(rows))

    def _tallied(self, names: Sequence[str]) -> Tallied:
        """A tally that has these columns: one that is kept, or else a new one."""
        for tally in self._tallies:
            if tally.has(names):
                return tally
        wanted = list(dict.fromkeys(names))
        if set(wanted) <= set(self.released):
            wanted = list(self.released)
        for name in wanted:
            self._require_comparable(name)
        _LOG.debug("counting the distinct rows of %d columns by %s", len(wanted), self.engine.name)
        with self._asking():
            tally = Tallied.gather(self.types, wanted, self.engine.tally(wanted))
        if self._tallies and tally.rows != self._tallies[0].rows:
            raise rows_changed(self.engine.name)
        self._tallies.append(tally)
        return tally

    @cached_property
    def _head(self) -> Memory:
        with self._asking():
            return Memory.of(self.engine.head(LOOKED_AT))

    def _decided_by_values(self, name: str) -> bool:
        """Whether the type of a column is read off its values."""
        column = self.types.frame.get_column(name)
        return self.types.guessed(name) or column.dtype == nw.Unknown

    def _is_own_key(self, column: Reading) -> bool:
        """Whether values of a column are the same only if the engine says so."""
        dtype = self.types.frame.get_column(column.name).dtype
        match column.kind:
            case Kind.TEXT:
                return dtype == nw.String
            case Kind.INTEGER:
                return dtype.is_integer()
            case Kind.DATE:
                return dtype == nw.Date
        return False

    def _comparable(self, name: str) -> bool:
        column = self.types.frame.get_column(name)
        without_values = column.to_native().dtype == pl.Null
        return without_values or frames.comparable_type(column)

    def _require_comparable(self, name: str) -> None:
        if not self._comparable(name):
            dtype = self.types.frame.get_column(name).dtype
            raise not_comparable(name, dtype)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What goes wrong in an engine is said without its message, which may have a cell's value.

        Nothing has been drawn yet, unless people are bounded in turn.
        """
        try:
            yield
        except (ShoalError, MemoryError):
            raise
        except (Exception, pl.exceptions.PanicException) as error:
            self._require_unchanged()
            raise failure(f"{self.engine.name} could not count its rows", error) from None
        self._require_unchanged()

    def _require_unchanged(self) -> None:
        others = self.files.changed() if self.files is not None else []
        if others:
            raise rows_changed(str(others[0])) from None


def _bytes(names: Sequence[str]) -> int:
    """What a row of some columns takes while it is counted, coded and ordered."""
    return _ROW + _VALUE * len(names)


def _hashed(values: pl.Series) -> pl.DataFrame:
    """Values as 128 bits each: two different ones are never taken for equal."""
    return pl.DataFrame({"one": values.hash(1), "other": values.hash(2)})


def _engine_of(frame: Any) -> Engine:
    if isinstance(frame, pl.LazyFrame):
        return Streamed(frame)
    library = type(frame).__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb"):
        from shoal.data.engines.duck import Duck

        return Duck(frame)
    if library == "pyspark":
        from shoal.data.engines.spark import Spark

        return Spark(frame)
    from shoal.data.engines.other import OtherLazy

    return OtherLazy(frame)
