"""`Distant`: a source of rows that are not in memory.

Its engine does one thing at the size of the data: it counts the distinct rows of some columns. They
are asked for once, for all columns of a release together, and kept. Uses `tallies` and `engines`;
`tables` uses it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data import frames
from shoal.data.disk import Stamps
from shoal.data.engines.engine import Engine
from shoal.data.engines.failures import reason
from shoal.data.engines.streaming import Streamed
from shoal.data.kinds import Key, Kind
from shoal.data.sources import (
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Suppressed,
    known_values,
)
from shoal.data.tallies import Tallied
from shoal.errors import ColumnError, ShoalError, SourceError
from shoal.zones import OWNER_ONLY

__all__ = ["Distant"]

_LOOKED_AT = 10_000
"""Rows by which an error decides whether names of columns may be shown."""


@dataclass(frozen=True, eq=False)
class Distant:
    """Rows that an engine counts where they are."""

    engine: Engine
    released: tuple[str, ...] = ()
    """The columns that are counted together."""
    files: Stamps | None = None
    """The files that the rows are in, which must not change while they are counted."""
    _tallies: list[Tallied] = field(default_factory=list, repr=False)

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
        if self._decided_by_values(name):
            return self._tallied([name]).guessed(name)
        return False

    def decimal(self, name: str) -> bool:
        return name in self.engine.decimals or self.types.decimal(name)

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
        name = column.name
        held = name in self.released or any(tally.has([name]) for tally in self._tallies)
        if held or not self._is_own_key(column):
            return known_values(self, column)
        # There may be as many values as people: they come in parts, of which none is kept.
        rows = values = 0
        with self._asking():
            for part in self.engine.tally([name]):
                texts, count = part.get_columns()
                is_known = texts.is_not_null() & (texts.cast(pl.String) != "")
                rows += int(count.filter(is_known).sum())
                values += int(is_known.sum())
        return rows, values

    def count(self, columns: Sequence[Recoded]) -> Counts:
        return self._tallied([recoded.column.name for recoded in columns]).count(columns)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> Tallied:
        names = [column.name for column in (unit, *columns)]
        return self._tallied(names).bounded(unit, columns, rows, chance)

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
        with self._asking():
            tally = Tallied.gather(self.types, wanted, self.engine.tally(wanted))
        if self._tallies and tally.rows != self._tallies[0].rows:
            raise self._changed(self.engine.name)
        self._tallies.append(tally)
        return tally

    @cached_property
    def _head(self) -> Memory:
        with self._asking():
            return Memory.of(self.engine.head(_LOOKED_AT))

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
            raise ColumnError(
                f"column {name!r} is of type {dtype}, whose values have no order or text that all "
                "engines share",
                "convert it to text, numbers or dates",
            )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What goes wrong in an engine is told without its message, which may have a cell's value.

        Nothing has been drawn yet: engines are asked before that.
        """
        try:
            yield
        except (ShoalError, MemoryError):
            raise
        except (Exception, pl.exceptions.PanicException) as error:
            self._require_unchanged()
            raise SourceError(
                f"{self.engine.name} could not count its rows ({reason(error)})",
                "see whether it can be reached and read, and open it anew",
            ) from None
        self._require_unchanged()

    def _require_unchanged(self) -> None:
        changed = self.files.changed() if self.files is not None else []
        if changed:
            raise self._changed(str(changed[0])) from None

    def _changed(self, where: str) -> SourceError:
        return SourceError(
            f"the rows of {where} changed while they were counted",
            "count a copy, or when nobody writes",
        )


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
