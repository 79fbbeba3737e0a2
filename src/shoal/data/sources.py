"""`Source`: where the rows of a table are.

The only work at the size of the data is done here, in three verbs: the distinct `values` of a
column, the `count` of distinct rows of some columns (after `bounded`, of a limited number of rows
of each person), and `write_back`, which releases single records by a map from old values to new
ones. Everything after that is small. `Memory` is the source of a dataframe; `distant` has the
others. Uses `counts`, `bounding` and `frames`; `Table` and the other sources use it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, smallest
from shoal.data import frames
from shoal.data.bounding import bounded_rows
from shoal.data.kinds import Key, Kind
from shoal.data.names import like_a_record
from shoal.errors import ColumnError, listed, plural
from shoal.zones import OWNER_ONLY, owner_only

__all__ = [
    "LOOKED_AT",
    "Column",
    "Keep",
    "Laid",
    "Memory",
    "Reading",
    "Recoded",
    "Rewritten",
    "Source",
    "Suppressed",
    "is_distant",
    "kinds_of",
    "known_values",
    "not_comparable",
    "rewritten_rows",
]

Suppressed = Literal["drop", "star"]
"""Suppressed records are dropped, or kept with '*' in every generalised column."""

Keep = Callable[[Sequence[Codes]], npt.NDArray[np.bool_]]
"""Which records are kept, given their codes in the generalised columns."""

Laid = Mapping[str, tuple[Sequence[Key | None] | None, npt.NDArray[Any]]]
"""Columns by name: row i of a column has the value `values[codes[i]]` of its (values, codes)."""

Ints = npt.NDArray[np.int64]

LOOKED_AT = 10_000
"""Rows in which the name of a column is looked for, to see whether it is a value."""
_SIDE_BY_SIDE = 20_000
"""Rows from which starting threads costs less than it saves."""


@dataclass(frozen=True)
class Reading:
    """A column, and the type by which its values are read."""

    name: str
    kind: Kind


@dataclass(frozen=True, eq=False)
class Recoded:
    """A column whose values get other codes.

    Value i of `Source.values` has the code `codes[i]`, or i itself.
    """

    column: Reading
    codes: Codes | None
    card: int
    """A bound on the codes."""


@dataclass(frozen=True, eq=False)
class Rewritten:
    """A released column: code c of the recoded column is written as `values[c]`.

    A suppressed record that is kept gets the code `star`; None leaves its value.
    """

    column: Recoded
    values: Sequence[Key | None]
    star: int | None = None


class Source(Protocol):
    """The rows of a table, wherever they live. All sources give the very same counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        ...

    @property
    def rows(self) -> int: ...

    def together(self, names: Sequence[str]) -> "Source":
        """The same source, which is told the columns that it will mostly be asked for together."""
        ...

    def describe(self) -> str:
        """Which columns there are, for an error; no name that may be a value."""
        ...

    def is_headless(self) -> bool:
        """Whether the column names look like a record, as in a file without a header."""
        ...

    def kind(self, name: str) -> Kind:
        """The type that the source itself gives a column."""
        ...

    def guessed(self, name: str) -> bool:
        """Whether that type is read off the values."""
        ...

    def decimal(self, name: str) -> bool:
        """Whether a column holds decimals, which are read as floats."""
        ...

    def rounded(self, name: str) -> bool:
        """Whether they are floats already when they come, whatever they are read as."""
        ...

    def distinct(self, name: str) -> int | None:
        """How many different values a column has, cheaply; None where they cannot be compared."""
        ...

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        """The distinct values of columns, each in canonical order, a missing value (None) last."""
        ...

    def known(self, column: Reading) -> tuple[int, int]:
        """How many rows have a value in a column, and how many different values these are."""
        ...

    def count(self, columns: Sequence[Recoded]) -> Counts:
        """The distinct rows of some columns, and how often each occurs."""
        ...

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> "Source":
        """The source with at most `rows` rows of each person, for questions about `columns`.

        They are chosen uniformly, and independently between people: see `bounded_rows`. What can
        be refused is refused before anything is drawn.
        """
        ...

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> frames.RowsWithCounts:
        """The records with rewritten values, equal ones once, in a dataframe of the same library.

        Their order depends on the values alone. `keep` looks at the columns that have a `star`.
        """
        ...

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        """A new table of the kind that came in, given the types of its columns.

        See `Table.like`.
        """
        ...


@owner_only
@dataclass(frozen=True, eq=False)
class Column:
    """One coded column in the order of the rows: `keys[codes[i]]` is the value of row i.

    Keys are in canonical order, a missing value (None) last.
    """

    name: str
    kind: Kind
    keys: tuple[Key | None, ...]
    codes: Codes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The canonical text of every key."""
        return tuple(self.kind.text(key) for key in self.keys)


@dataclass(frozen=True, eq=False)
class Memory:
    """The rows of a pandas, Polars or Arrow dataframe, or of a file.

    A column is coded when it is first used, and only then, unless it was coded while it was read.
    """

    held: "nw.DataFrame[Any] | frames.CodedRows"
    read_off: frozenset[str] = frozenset()
    """Columns whose type a reader has read off their values, though they have one now."""

    _coded: dict[Reading, Column] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<{OWNER_ONLY}{self.rows:,} rows × {len(self.names)} columns in memory>"

    @classmethod
    def of(cls, frame: Any) -> "Memory":
        """The source of a native dataframe, which is not copied; ColumnError if it is not one."""
        return cls(_wrapped(frame))

    @cached_property
    def frame(self) -> "nw.DataFrame[Any]":
        """The dataframe; what was coded while it was read becomes one when it is asked for."""
        if isinstance(self.held, frames.CodedRows):
            return nw.from_native(self.held.frame(), eager_only=True)
        return self.held

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.held.columns)

    @property
    def rows(self) -> int:
        return len(self.held)

    def selecting(self, names: Sequence[str]) -> "Memory":
        """The source with some of the columns."""
        return Memory(self.held.select(*names), self.read_off)

    def first_rows(self, rows: int) -> "Memory":
        """The source with the first of its rows."""
        return Memory(self.held[np.arange(min(rows, self.rows))], self.read_off)

    def together(self, names: Sequence[str]) -> "Memory":
        return self

    def describe(self) -> str:
        number = plural(len(self.names), "column")
        # Without rows, the names may be the only record of a file.
        if not self.rows:
            return f"the table has {number} and no rows"
        if self.is_headless():
            return (
                f"the names of its {number} look like values: does the file lack a line with names?"
            )
        return f"the table has {listed(self.names)}"

    def is_headless(self) -> bool:
        texts = [self._first_texts(name) for name in self.names]
        return like_a_record(self.names, texts)

    def _first_texts(self, name: str) -> list[str]:
        column = self._typed(name, LOOKED_AT)
        if column.dtype != nw.String:
            return []
        first = column.head(LOOKED_AT).to_list()
        # pandas may keep NaN among texts.
        return [value for value in first if isinstance(value, str)]

    def kind(self, name: str) -> Kind:
        if name in self._read:
            return Kind.TEXT
        return frames.kind_of(self._library, self._typed(name))

    def guessed(self, name: str) -> bool:
        if name in self.read_off:
            return True
        return name not in self._read and frames.guessed(self._library, self._typed(name))

    def decimal(self, name: str) -> bool:
        return self._typed(name).dtype.is_decimal()

    def rounded(self, name: str) -> bool:
        return False

    def distinct(self, name: str) -> int | None:
        if name in self._read:
            _, values = self._read[name]
            return len(values)
        try:
            return int(self._typed(name).n_unique())
        except Exception:
            # For lists and the like, every library raises a different error.
            return None

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        return [column.keys for column in self.columns(columns)]

    def columns(self, columns: Sequence[Reading]) -> list[Column]:
        """Coded columns in the order of the rows, for work on single people.

        Only a source in memory has them.
        """
        new = [column for column in dict.fromkeys(columns) if column not in self._coded]
        if new:
            self._code(new)
        return [self._coded[column] for column in columns]

    def runs(self, columns: Sequence[Reading]) -> tuple[list[Column], Ints]:
        """The same, and how often each row is there: once."""
        return self.columns(columns), np.ones(self.rows, dtype=np.int64)

    def known(self, column: Reading) -> tuple[int, int]:
        return known_values(self, column)

    def recoded(self, columns: Sequence[Recoded]) -> list[Codes]:
        """The codes of recoded columns, in the order of the rows."""
        coded = self.columns([recoded.column for recoded in columns])
        codes = []
        for recoded, column in zip(columns, coded, strict=True):
            if recoded.codes is None:
                codes.append(column.codes)
            else:
                codes.append(recoded.codes[column.codes])
        return codes

    def count(self, columns: Sequence[Recoded]) -> Counts:
        names = [recoded.column.name for recoded in columns]
        cards = [recoded.card for recoded in columns]
        return group(names, self.recoded(columns), cards)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> "Memory":
        [people, *others] = self.columns([unit, *columns])
        once = np.ones(self.rows, dtype=np.int64)
        codes = [column.codes for column in others]
        kept = bounded_rows(people.codes, codes, once, rows, chance)
        if kept.all():
            return self
        return Memory(self.held[np.flatnonzero(kept)], self.read_off)

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> frames.RowsWithCounts:
        codes = self.recoded([written.column for written in columns])
        laid, count = rewritten_rows(columns, codes, keep, suppressed)
        return frames.RowsWithCounts(self.make(laid, kinds_of(columns)), count)

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        lengths = {len(codes) for _, codes in columns.values()}
        if len(lengths) != 1:
            raise ColumnError(
                f"{plural(len(columns), 'column')} of {plural(len(lengths), 'length')} were given",
                "a dataframe needs at least one column, and all of the same length",
            )
        library = self._library
        series_of = {}
        for name, (values, codes) in columns.items():
            if values is None:
                integers = library.default(Kind.INTEGER, False)
                series_of[name] = library.series(codes, integers)
                continue
            own = None
            kind = Kind.TEXT
            if name in self.names:
                own = self._typed(name)
                kind = kinds[name]
            occurs = np.bincount(codes, minlength=len(values)) > 0
            # Values that do not occur leave no trace, so the others move up.
            place = np.cumsum(occurs) - 1
            series = frames.series_of(library, values, kind, own, occurs)
            series_of[name] = library.take(series, place[codes])
        return library.frame(series_of)

    @cached_property
    def _library(self) -> frames.Library:
        frame = self.held
        if isinstance(frame, frames.CodedRows):
            frame = nw.from_native(frame.others, eager_only=True)
        library = frames.library(frame)
        assert library is not None  # `of` takes no other dataframe
        return library

    @property
    def _read(self) -> Mapping[str, frames.CodedValues]:
        """The columns that were coded while they were read."""
        return self.held.coded if isinstance(self.held, frames.CodedRows) else {}

    def _typed(self, name: str, rows: int = 0) -> "nw.Series[Any]":
        """A column; of one that was coded while it was read, the first rows."""
        if not isinstance(self.held, frames.CodedRows):
            return self.held.get_column(name)
        series = self.held.column(name, rows if name in self._read else None)
        return nw.from_native(series, series_only=True)

    def _code(self, columns: Sequence[Reading]) -> None:
        """Code columns side by side, since the libraries free Python's lock."""
        together = {}
        for reading in columns:
            # Texts of integers are coded faster as integers.
            if reading.kind is not Kind.INTEGER and reading.name not in self._read:
                together[reading.name] = self._typed(reading.name).to_native()
        ahead = {**self._read, **self._library.together(together)}

        def code(column: Reading) -> None:
            if column.name in ahead:
                codes, values = ahead[column.name]
            else:
                codes, values = self._factorize(column)
            self._coded[column] = _column(column, codes, values)

        alone = sum(column.name not in ahead for column in columns)
        if alone > 1 and self.rows >= _SIDE_BY_SIDE:
            with ThreadPoolExecutor(min(len(columns), os.cpu_count() or 1)) as threads:
                list(threads.map(code, columns))
        else:
            for column in columns:
                code(column)

    def _factorize(self, column: Reading) -> tuple[npt.NDArray[Any], list[object]]:
        series = self._typed(column.name)
        if not frames.comparable(series):
            raise not_comparable(column.name, series.dtype)
        native = series.to_native()
        if column.kind is Kind.INTEGER:
            native = self._library.whole(native)
        try:
            return self._library.factorize(native)
        except TypeError:
            raise ColumnError(
                f"column {column.name!r} holds lists or other values that cannot be compared",
                "convert it to text",
            ) from None
        except (ValueError, OverflowError):
            # Files may hold days that no calendar of Python's has, by a wrong number of digits.
            raise ColumnError(
                f"column {column.name!r} has a date outside the years 1 to 9999",
                "correct it where the table was made",
            ) from None


def _column(column: Reading, codes: npt.NDArray[Any], values: list[object]) -> Column:
    """A coded column, its keys in canonical order."""
    keys = column.kind.keys(values, column.name)
    different = set(keys)
    different.discard(None)
    ordered: list[Key | None] = [*sorted(different)]  # type: ignore[type-var]
    if None in keys:
        ordered.append(None)
    narrow = smallest(max(len(ordered), 1))
    if ordered == keys:
        same_order = codes.astype(narrow, copy=False)
        return Column(column.name, column.kind, tuple(ordered), same_order)
    # Distinct values may share a key ("39", "039"): one look-up merges and orders them.
    place = {key: code for code, key in enumerate(ordered)}
    code_of = np.array([place[key] for key in keys], dtype=narrow)
    recoded = code_of.take(codes) if keys else codes.astype(np.uint8)
    return Column(column.name, column.kind, tuple(ordered), recoded)


def rewritten_rows(
    columns: Sequence[Rewritten],
    codes: Sequence[Codes],
    keep: Keep | None,
    suppressed: Suppressed,
    count: Ints | None = None,
) -> tuple[Laid, Ints]:
    """The columns of records with rewritten values, equal ones once, and how often each is there.

    Their order is one that the values alone decide. The records have these codes in the recoded
    columns; with `count`, each stands for that many.
    """
    written = list(codes)
    stars = {place: c.star for place, c in enumerate(columns) if c.star is not None}
    if keep is not None:
        kept = keep([written[place] for place in stars])
        if suppressed == "drop":
            written = [column[kept] for column in written]
            count = None if count is None else count[kept]
        else:
            for place, star in stars.items():
                starred = np.where(kept, written[place].astype(np.int64), star)
                written[place] = starred.astype(np.uint64)

    # Equal rows are counted and written together, so that their order reveals nothing.
    names = [column.column.column.name for column in columns]
    cards = [max(len(column.values), 1) for column in columns]
    rows = group(names, written, cards, count)
    laid = {}
    for column, name, distinct in zip(columns, names, rows.codes, strict=True):
        laid[name] = column.values, distinct
    return laid, rows.count


def kinds_of(columns: Sequence[Rewritten]) -> dict[str, Kind]:
    """The types of released columns, by their names."""
    readings = [written.column.column for written in columns]
    return {reading.name: reading.kind for reading in readings}


def known_values(source: Source, column: Reading) -> tuple[int, int]:
    """`Source.known`, by the values of a column and their counts."""
    [keys] = source.values([column])
    if None not in keys:
        return source.rows, len(keys)
    counts = source.count([Recoded(column, None, len(keys))])
    # A missing value comes last.
    is_missing = counts.codes[0] == len(keys) - 1
    return source.rows - int(counts.count[is_missing].sum()), len(keys) - 1


def not_comparable(name: str, dtype: object) -> ColumnError:
    """The error to raise for a column of a type that can be neither compared nor shown."""
    return ColumnError(
        f"column {name!r} is of type {dtype}, whose values have no order or text that is the same "
        "everywhere",
        "convert it to text, numbers or dates",
    )


def is_distant(frame: Any) -> bool:
    """Whether the rows of a dataframe are not in memory: it is lazy, or a database's."""
    try:
        return isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame)
    except nw.exceptions.NarwhalsError:
        # Of a dataframe in memory, which `Memory.of` refuses.
        return False


def _wrapped(frame: Any) -> "nw.DataFrame[Any]":
    """A native dataframe in the form that is the same for all libraries."""
    try:
        wrapped: nw.DataFrame[Any] | None = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        names = list(frame.columns if hasattr(frame, "dtypes") else frame.column_names)
        twice = [str(name) for name in names if names.count(name) > 1]
        repeated = sorted(set(twice))
        raise ColumnError(f"two columns are called {listed(repeated)}", "rename one") from None
    except TypeError:
        wrapped = None
    if wrapped is None or frames.library(wrapped) is None:
        is_path = isinstance(frame, str | os.PathLike)
        raise ColumnError(
            f"{type(frame).__name__} is not a pandas, Polars or Arrow dataframe",
            "read a file with shoal.read" if is_path else "convert it to one of them",
        )
    other = [name for name in wrapped.columns if not isinstance(name, str)]
    if other:
        verb = "is" if len(other) == 1 else "are"
        raise ColumnError(
            f"column names are text, and {listed(map(str, other))} {verb} not", "rename them"
        )
    return wrapped
