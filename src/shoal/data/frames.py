"""What differs between Polars, pandas and Arrow dataframes: coding a column, and making one.

Uses `kinds`, `categories` and `free_memory`; `sources` and whatever reads or writes tables use it.
There is one Protocol and one class per library, each loaded where it is used. All of them give the
same answers for the same data. `RowsWithCounts` is a dataframe whose rows stand for several,
`CodedRows` one whose texts were coded while they were read.
"""

import datetime as dt
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.data import free_memory
from shoal.data.categories import at_places
from shoal.data.kinds import Key, Kind
from shoal.errors import ForkError
from shoal.zones import owner_only

__all__ = [
    "CodedRows",
    "CodedValues",
    "Library",
    "RowsWithCounts",
    "comparable",
    "comparable_type",
    "guessed",
    "kind_of",
    "library",
    "numbered_texts",
    "require_threads",
    "series_of",
]

Ints = npt.NDArray[Any]

CodedValues = tuple[Ints, list[object]]
"""Codes of a series, and the values they stand for."""

# Texts that are coded together where there are many rows: memory for four bytes each is small.
_AT_ONCE = 1 << 20
# Places up to which a list of them costs nearly nothing.
_FEW = 10_000
_MISFITS = (ValueError, TypeError, OverflowError, KeyError, ArithmeticError)
# Seconds for Polars to sort two numbers.
_PATIENCE = 10.0


@dataclass(frozen=True, eq=False)
class RowsWithCounts:
    """The different rows of a dataframe, and how often each is there.

    So a table that repeats few rows many times can be held and written.
    """

    frame: Any
    count: npt.NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns the repeated rows have."""
        return int(self.count.sum()), int(self.frame.shape[1])

    @classmethod
    def of(cls, frame: Any) -> "RowsWithCounts":
        """The rows of a dataframe, each once, unless it is given with counts already."""
        if isinstance(frame, RowsWithCounts):
            return frame
        return cls(frame, np.ones(int(frame.shape[0]), dtype=np.int64))

    def only(self, kept: npt.NDArray[np.bool_]) -> "RowsWithCounts":
        """The different rows that are kept."""
        frame = nw.from_native(self.frame, eager_only=True)
        return RowsWithCounts(frame[np.flatnonzero(kept)].to_native(), self.count[kept])

    def repeated(self) -> Any:
        """The dataframe with every row as often as it is there; TooLargeError if it cannot be."""
        total, columns = self.shape
        free_memory.require(
            total * (8 + columns * free_memory.CELL),
            f"a table of {total:,} single rows",
            "use the different rows and their counts, which `Release.rows` has",
        )
        frame = nw.from_native(self.frame, eager_only=True)
        own = library(frame)
        assert own is not None  # it was made by one of the three
        rows = np.repeat(np.arange(len(self.count)), self.count)
        repeated = {}
        for column in frame.iter_columns():
            repeated[column.name] = own.take(column.to_native(), rows)
        return own.frame(repeated)

    def parts(self, rows: int) -> Iterator["RowsWithCounts"]:
        """The same rows in parts, each of which has that many when repeated; the last may be short.

        Without rows there is one part, which has none.
        """
        frame = nw.from_native(self.frame, eager_only=True)
        ends = np.cumsum(self.count)
        starts = ends - self.count
        total = int(self.count.sum())
        for start in range(0, max(total, 1), rows):
            stop = min(start + rows, total)
            first = int(np.searchsorted(ends, start, side="right"))
            last = max(first, int(np.searchsorted(starts, stop, side="left")))
            count = ends[first:last].clip(max=stop) - starts[first:last].clip(min=start)
            yield RowsWithCounts(frame[first:last].to_native(), count)


@owner_only
@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of a file whose columns of few texts were coded while they were read.

    The texts of such a column are sorted, a missing one (None) comes last, and all of them occur.
    The other columns are in a Polars dataframe.
    """

    columns: tuple[str, ...]
    coded: Mapping[str, CodedValues]
    others: Any

    def __len__(self) -> int:
        for codes, _ in self.coded.values():
            return len(codes)
        return int(self.others.height)

    def __getitem__(self, rows: Ints) -> "CodedRows":
        """Some of the rows."""
        coded = {}
        for name, (codes, values) in self.coded.items():
            taken = codes[rows]
            occurs = np.bincount(taken, minlength=len(values)) > 0
            moved_up = (np.cumsum(occurs) - 1).astype(codes.dtype)
            left = [value for value, kept in zip(values, occurs, strict=True) if kept]
            coded[name] = moved_up[taken], left
        others = self.others[rows] if self.others.width else self.others
        return CodedRows(self.columns, coded, others)

    def select(self, *names: str) -> "CodedRows":
        """Some of the columns."""
        coded = {name: self.coded[name] for name in names if name in self.coded}
        others = [name for name in names if name not in coded]
        return CodedRows(names, coded, _only(self.others, others))

    @classmethod
    def of(cls, frame: Any, coded: Mapping[str, CodedValues]) -> "CodedRows":
        """The rows of a Polars dataframe of which some columns are coded."""
        others = [name for name in frame.columns if name not in coded]
        return cls(tuple(frame.columns), coded, _only(frame, others))

    def column(self, name: str, rows: int | None = None) -> Any:
        """A column as a Polars series, or its first rows."""
        import polars as pl

        if name not in self.coded:
            return self.others[name][:rows]
        codes, values = self.coded[name]
        if rows == 0:
            values = []
        return _Polars().take(pl.Series(name, values, dtype=pl.String), codes[:rows])

    def frame(self) -> Any:
        """All of them as a Polars dataframe, in which the texts are texts again."""
        return _Polars().frame({name: self.column(name) for name in self.columns})


def _only(frame: Any, names: Sequence[str]) -> Any:
    """Some columns of a Polars dataframe.

    `select` takes the name '*' for all columns, and brackets take an empty list for rows.
    """
    return frame[names] if names else frame.clear().select([])


def require_threads() -> None:
    """ForkError if Polars hangs in this process.

    Then it is a fork of one that had started Polars' threads, which forks lack. Nothing but trying
    reveals it: a process may be forked by anyone, also before Shoal was loaded. Whoever reserves a
    budget asks beforehand, as it would be spent for nothing.
    """
    trial = threading.Thread(target=_try_polars, daemon=True)
    trial.start()
    trial.join(_PATIENCE)
    if trial.is_alive():
        raise ForkError(
            "Polars does not answer in this process, which was forked from one that used Polars; "
            "nothing was reserved",
            "start a new process instead, as with multiprocessing.get_context('spawn')",
        )


def _try_polars() -> None:
    import polars as pl

    # Two columns, which Polars sorts in two threads.
    numbers = pl.LazyFrame({"a": [2, 1], "b": [1, 2]})
    both = pl.col("a", "b")
    numbers.select(both.sort()).collect()


class Library(Protocol):
    """A dataframe library; a series here is the library's own."""

    def factorize(self, series: Any) -> CodedValues:
        """Codes and values of a series in no particular order.

        Every value occurs, and None stands for missing ones.
        """
        ...

    def together(self, series: Mapping[str, Any]) -> dict[str, CodedValues]:
        """The same for those of several series that are coded faster together than one by one.

        The others are left out.
        """
        ...

    def whole(self, series: Any) -> Any:
        """A series of texts that all spell whole numbers as these numbers, which code faster.

        Any other series is given back unchanged.
        """
        ...

    def categories(self, series: Any) -> "nw.Series[Any] | None":
        """The distinct values behind a categorical series, where they need not be text."""
        ...

    def series(self, values: Sequence[object] | Ints, dtype: object) -> Any:
        """Values as a series of a type; ValueError (or the like) where one does not fit."""
        ...

    def only(self, series: Any, places: Ints) -> Any:
        """The values at some places, with no trace of the others.

        There is none in the type, nor in memory that is shared.
        """
        ...

    def default(self, kind: Kind, nulls: bool) -> object:
        """The type that values of a kind have in this library."""
        ...

    def take(self, series: Any, codes: Ints) -> Any:
        """The values of a series at some places."""
        ...

    def frame(self, columns: Mapping[str, Any]) -> Any:
        """A dataframe of such columns; its index, if it has one, only numbers the rows."""
        ...


def numbered_texts(table: Any) -> list[str]:
    """The texts of a table of categories of Polars, in the order of their codes.

    Going through such a table gives None for ever at its end, in Polars before 1.44.
    """
    return list(iter(iter(table).__next__, None))


def library(frame: "nw.DataFrame[Any]") -> Library | None:
    """The library a dataframe comes from, None if it is not one of the three."""
    if frame.implementation.is_polars():
        return _Polars()
    if frame.implementation.is_pandas():
        return _Pandas()
    if frame.implementation.is_pyarrow():
        return _Arrow()
    return None


def kind_of(library: Library, series: "nw.Series[Any]") -> Kind:
    """The kind that the type of a series stands for."""
    dtype = series.dtype
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_float() or dtype.is_decimal():
        return Kind.FLOAT
    if dtype == nw.Date:
        return Kind.DATE
    if dtype == nw.Datetime:
        # pandas has no dates: timestamps that are all midnight are.
        known = series.drop_nulls()
        midnight = known == known.dt.truncate("1d")
        if midnight.all():
            return Kind.DATE
        return Kind.TEXT
    if dtype == nw.Categorical:
        categories = library.categories(series.to_native())
        if categories is None:
            return Kind.TEXT
        return kind_of(library, categories)
    if dtype == nw.Object and series.implementation.is_pandas():
        return _kind_of_objects(series)
    return Kind.TEXT


def _kind_of_objects(series: "nw.Series[Any]") -> Kind:
    """The kind of a pandas series that may hold anything."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(series.to_native(), skipna=True)
    kinds = {
        "integer": Kind.INTEGER,
        "floating": Kind.FLOAT,
        "decimal": Kind.FLOAT,
        "date": Kind.DATE,
    }
    return kinds.get(inferred, Kind.TEXT)


def guessed(library: Library, series: "nw.Series[Any]") -> bool:
    """Whether `kind_of` is decided by values, so that a single odd one would make it another."""
    if series.implementation.is_pandas():
        native = series.to_native()
        if series.dtype == nw.Categorical:
            # Categories have the type of their values.
            categories = library.categories(native)
            return categories is not None and categories.dtype != nw.String
        if isinstance(native.dtype, np.dtype) and len(native):
            return _guessed_by_numpy(series)
    unknown = series.dtype == nw.Unknown and len(series) > 0
    return series.dtype in (nw.Object, nw.Datetime) or unknown


def _guessed_by_numpy(series: "nw.Series[Any]") -> bool:
    """The same for a pandas series with a type of numpy's.

    Whole numbers are floats as soon as one is missing, and where all are missing a type is still to
    come.
    """
    native = series.to_native()
    if native.dtype.kind in "fM":
        return True
    if native.dtype != object:
        return False
    return series.dtype == nw.Object or bool(native.isna().all())


def comparable(series: "nw.Series[Any]") -> bool:
    """Whether the values of a series have an order and a text; if all are missing, they have.

    Those of lists, records, durations, bytes and objects have not.
    """
    return comparable_type(series) or series.null_count() == len(series)


def comparable_type(series: "nw.Series[Any]") -> bool:
    """Whether values of the type of a series have an order and a text."""
    dtype = series.dtype
    odd = (nw.Duration, nw.Binary, nw.Unknown, nw.Int128, nw.UInt128)
    # Polars cannot tell objects apart.
    object_of_polars = dtype == nw.Object and series.implementation.is_polars()
    return not (dtype.is_nested() or dtype in odd or object_of_polars)


def series_of(
    library: Library,
    values: Sequence[Key | None],
    kind: Kind,
    own: "nw.Series[Any] | None",
    occurs: npt.NDArray[np.bool_],
) -> Any:
    """The values that occur, as a series of the type `own` has if all values can have it.

    Else it has the type of their kind, else text. A released series must not reveal a value that
    occurs in no released row, and a suppressed record's may be among them.
    """
    given: list[Key | None] = []
    kept: list[bool] = []
    for value, needed in zip(values, occurs.tolist(), strict=True):
        if needed or value not in (None, ""):
            given.append(value)
            kept.append(needed)
    series = _series(library, given, kind, own)
    return library.only(series, np.flatnonzero(kept))


def _series(
    library: Library,
    values: Sequence[Key | None],
    kind: Kind,
    own: "nw.Series[Any] | None",
) -> Any:
    try:
        keys = [kind.key(value) for value in values]
    except (ValueError, TypeError):
        keys = []
    # Not all are of the kind, or some are equal by it: different values must stay different.
    if len(set(keys)) < len(set(values)):
        return _text(library, [Kind.TEXT.key(value) for value in values])
    if own is not None and _stays(library, own, kind):
        series = _like(library, keys, own)
        if series is not None:
            return series
    if kind is Kind.TEXT:
        return _text(library, keys)
    return library.series(keys, library.default(kind, None in keys))


def _like(library: Library, keys: Sequence[Key | None], own: "nw.Series[Any]") -> Any:
    """Keys as a series of the type that another one has; None if they cannot have it."""
    native = own.to_native()
    dtype = native.type if own.implementation.is_pyarrow() else native.dtype
    try:
        stored = [None if key is None else _stored(key, own.dtype) for key in keys]
        series = library.series(stored, dtype)
        back = nw.from_native(series, series_only=True)
        # What the type cannot hold may have become missing, or the same as another value.
        same_missing = back.null_count() == keys.count(None)
        same_values = back.n_unique() == len(set(keys))
        return series if same_missing and same_values else None
    except _MISFITS:
        return None
    except Exception as error:
        # Each library has a tree of errors.
        library_of_error = type(error).__module__.split(".")[0]
        if library_of_error not in ("polars", "pyarrow", "pandas"):
            raise
        return None


def _stays(library: Library, own: "nw.Series[Any]", kind: Kind) -> bool:
    """Whether values of a kind are to have the type of a series.

    That type alone decides, for what its values are may be secret. Types that some of its values
    would not fit again are given up: numbers of more digits than floats have, zones without a name.
    """
    if isinstance(own.dtype, nw.Datetime):
        if kind not in (Kind.DATE, Kind.TEXT):
            return False
        zone = own.dtype.time_zone
        return zone is None or _zone(zone) is not None
    if isinstance(own.dtype, nw.Decimal):
        return kind is Kind.FLOAT and own.dtype.precision <= sys.float_info.dig
    dtype = own.to_native().dtype if own.implementation.is_pandas() else None
    if dtype == "object":
        return False
    if dtype == "category":
        if not dtype.ordered:
            return kind is not Kind.DATE
        categories = library.categories(own.to_native())
        of_texts = categories is not None and categories.dtype == nw.String
        return kind is Kind.TEXT and of_texts
    return kind_of(library, own) is kind and own.dtype != nw.Unknown


@cache
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Such as "+01:00".
        return None


def _text(library: Library, keys: Sequence[Key | None]) -> Any:
    return library.series(keys, library.default(Kind.TEXT, None in keys))


def _stored(key: Key, dtype: "nw.dtypes.DType") -> object:
    """A key as a value of a dataframe's type."""
    if dtype == nw.Boolean:
        return {"true": True, "false": False}[str(key)]
    if isinstance(dtype, nw.Datetime):
        time = dt.datetime.fromisoformat(str(key))
        if time.tzinfo or not dtype.time_zone:
            return time
        return time.replace(tzinfo=_zone(dtype.time_zone))
    if dtype == nw.Time:
        return dt.time.fromisoformat(str(key))
    if dtype.is_decimal():
        return Decimal(str(key))
    return key


class _Polars:
    def factorize(self, series: Any) -> CodedValues:
        import polars as pl

        if series.dtype == pl.String:
            return next(self._texts([series]))
        # A name such as "^a$" would be read as a pattern.
        series = series.alias("")
        if series.null_count() == len(series):
            return _all_missing(len(series))
        if series.dtype.is_decimal():
            codes, texts = self.factorize(series.cast(pl.String))
            decimals: list[object] = [
                None if text is None else Decimal(str(text)) for text in texts
            ]
            return codes, decimals
        if series.dtype.is_float():
            numbers = series.fill_null(float("nan")).to_numpy()
            floats, codes = np.unique(numbers, return_inverse=True)
            return codes, floats.tolist()
        return self._factorize_whole(series)

    def _factorize_whole(self, series: Any) -> CodedValues:
        """The same for values that Polars stores as whole numbers, such as dates and enums."""
        import polars as pl

        if series.dtype == pl.Boolean:
            whole = series.cast(pl.UInt8)
        else:
            whole = series.to_physical()
        # Missing values are any number for now, and get their code in the end.
        filled = whole.fill_null(whole.max())
        codes, integers = _integers(filled.to_numpy())
        distinct = pl.Series(integers, dtype=whole.dtype)
        if isinstance(series.dtype, pl.Categorical | pl.Enum):
            typed = at_places(distinct, series.dtype)
        else:
            typed = distinct.cast(series.dtype)
        is_dated = isinstance(series.dtype, pl.Date | pl.Datetime)
        if is_dated and not typed.dt.year().is_between(dt.MINYEAR, dt.MAXYEAR).all():
            raise OverflowError  # Polars 1 panics about such a year, and shows it
        values = typed.to_list()
        if series.null_count():
            codes[series.is_null().to_numpy()] = len(values)
            values.append(None)
        return codes, values

    def together(self, series: Mapping[str, Any]) -> dict[str, CodedValues]:
        import polars as pl

        names = [name for name, column in series.items() if column.dtype == pl.String]
        rows = max(map(len, series.values()), default=0)
        batch = max(pl.thread_pool_size(), _AT_ONCE // (1 + rows))
        coded: dict[str, CodedValues] = {}
        for start in range(0, len(names), batch):
            chosen = names[start : start + batch]
            texts = self._texts([series[name] for name in chosen])
            coded.update(zip(chosen, texts, strict=True))
        return coded

    def _texts(self, series: Sequence[Any]) -> Iterator[CodedValues]:
        """Codes and values of series of texts, which Polars reads side by side."""
        import polars as pl

        # Each gets a separate table, filled while it is read once, so codes are dense; the table
        # lasts as long as `coded` does.
        tables = [pl.Categories.random() for _ in series]
        # Names such as "^a$" would be patterns.
        renamed = [column.alias(str(i)) for i, column in enumerate(series)]
        casts = [pl.nth(i).cast(pl.Categorical(table)) for i, table in enumerate(tables)]
        coded = pl.DataFrame(renamed).select(casts)
        numbers = coded.select(pl.all().to_physical())
        for table, codes in zip(tables, numbers, strict=True):
            values: list[object] = [*numbered_texts(table)]
            smallest = np.min_scalar_type(len(values))
            full = codes
            if codes.null_count():
                full = codes.fill_null(len(values))
                values.append(None)
            yield full.to_numpy().astype(smallest), values

    def whole(self, series: Any) -> Any:
        import polars as pl

        if series.dtype != pl.String:
            return series
        numbers = series.alias("").cast(pl.Int64, strict=False)
        all_whole = numbers.null_count() == series.null_count()
        return numbers if all_whole else series

    def categories(self, series: Any) -> None:
        return None

    def series(self, values: Sequence[object] | Ints, dtype: object) -> Any:
        import polars as pl

        return pl.Series(values, dtype=dtype, strict=True)  # type: ignore[arg-type]

    def only(self, series: Any, places: Ints) -> Any:
        import polars as pl

        kept = self.take(series, places)
        dtype = series.dtype
        if isinstance(dtype, pl.Enum):
            names = set(kept.cast(pl.String))
            dtype = pl.Enum([name for name in dtype.categories if name in names])
        if dtype not in (pl.String, pl.Categorical, pl.Enum):
            return kept
        # Texts share one place in memory, which Arrow files would take along whole.
        return pl.Series(kept.to_list(), dtype=dtype)

    def default(self, kind: Kind, nulls: bool) -> object:
        import polars as pl

        return {
            Kind.INTEGER: pl.Int64,
            Kind.FLOAT: pl.Float64,
            Kind.DATE: pl.Date,
            Kind.TEXT: pl.String,
        }[kind]

    def take(self, series: Any, codes: Ints) -> Any:
        # For an array, Polars loads numpy.ma, which takes longer than taking few values. By
        # `gather` it would plan and run a query.
        return series[codes.tolist() if len(codes) < _FEW else codes]

    def frame(self, columns: Mapping[str, Any]) -> Any:
        import polars as pl

        return pl.DataFrame(dict(columns))


class _Pandas:
    def factorize(self, series: Any) -> CodedValues:
        import pandas as pd

        codes, distinct = pd.factorize(series, use_na_sentinel=True)
        missing = codes < 0
        values = [*distinct.astype(object)]
        if missing.any():
            codes[missing] = len(values)
            values.append(None)
        return codes, values

    def together(self, series: Mapping[str, Any]) -> dict[str, CodedValues]:
        return {}

    def whole(self, series: Any) -> Any:
        return series

    def categories(self, series: Any) -> "nw.Series[Any]":
        import pandas as pd

        return nw.from_native(pd.Series(series.cat.categories), series_only=True)

    def series(self, values: Sequence[object] | Ints, dtype: object) -> Any:
        import pandas as pd

        # The list of a category without an order may be of what the rows had.
        if dtype == "category" and not dtype.ordered:  # type: ignore[attr-defined]
            dtype = "category"
        data = values if isinstance(values, np.ndarray) else list(values)
        return pd.Series(data, dtype=dtype)  # type: ignore[call-overload]

    def only(self, series: Any, places: Ints) -> Any:
        kept = series.take(places)
        if kept.dtype != "category":
            return kept
        kept = kept.cat.remove_unused_categories()
        if kept.cat.ordered:
            return kept
        # Categories without an order may be listed in that of the rows.
        values = kept.dropna().unique().tolist()
        return kept.cat.reorder_categories(values)

    def default(self, kind: Kind, nulls: bool) -> object:
        import pandas as pd

        # Objects before pandas 3.
        text = pd.Series(["text"]).dtype
        integer = "Int64" if nulls else "int64"
        return {
            Kind.INTEGER: integer,
            Kind.FLOAT: "float64",
            Kind.DATE: "datetime64[s]",
            Kind.TEXT: text,
        }[kind]

    def take(self, series: Any, codes: Ints) -> Any:
        return series.array.take(codes.astype(np.intp))

    def frame(self, columns: Mapping[str, Any]) -> Any:
        import pandas as pd

        return pd.DataFrame(dict(columns))


class _Arrow:
    def factorize(self, series: Any) -> CodedValues:
        import pyarrow as pa

        # A dictionary may hold texts that occur nowhere, or twice, or nothing.
        if pa.types.is_dictionary(series.type):
            series = series.cast(series.type.value_type)
        if series.null_count == len(series):
            return _all_missing(len(series))
        series = series.dictionary_encode().unify_dictionaries()
        values = series.chunk(0).dictionary.to_pylist()
        chunks = [chunk.indices.fill_null(-1).to_numpy() for chunk in series.chunks]
        codes = np.concatenate(chunks)
        if series.null_count:
            codes[codes < 0] = len(values)
            values.append(None)
        return codes, values

    def together(self, series: Mapping[str, Any]) -> dict[str, CodedValues]:
        return {}

    def whole(self, series: Any) -> Any:
        return series

    def categories(self, series: Any) -> "nw.Series[Any]":
        import pyarrow as pa

        empty = pa.chunked_array([], type=series.type.value_type)
        return nw.from_native(empty, series_only=True)

    def series(self, values: Sequence[object] | Ints, dtype: object) -> Any:
        import pyarrow as pa

        # Its places would be wider by the number of values, also of those that are not released.
        if isinstance(dtype, pa.DictionaryType):
            dtype = pa.dictionary(pa.int32(), dtype.value_type, dtype.ordered)
        return pa.chunked_array([pa.array(values, type=dtype)])

    def only(self, series: Any, places: Ints) -> Any:
        kept = self.take(series, places)
        return self.series(kept.to_pylist(), series.type)

    def default(self, kind: Kind, nulls: bool) -> object:
        import pyarrow as pa

        return {
            Kind.INTEGER: pa.int64(),
            Kind.FLOAT: pa.float64(),
            Kind.DATE: pa.date32(),
            Kind.TEXT: pa.string(),
        }[kind]

    def take(self, series: Any, codes: Ints) -> Any:
        import pyarrow as pa

        # Arrow cannot take from these yet.
        if pa.types.is_string_view(series.type):
            return series.cast(pa.large_string()).take(codes).cast(series.type)
        return series.take(codes)

    def frame(self, columns: Mapping[str, Any]) -> Any:
        import pyarrow as pa

        return pa.table(dict(columns))


def _all_missing(rows: int) -> CodedValues:
    """A series of nothing but missing values."""
    return np.zeros(rows, dtype=np.uint8), [None] * bool(rows)


def _integers(values: Ints) -> tuple[Ints, Ints]:
    """Codes, which may be written to, and distinct values.

    They are counted where the range is small, else sorted.
    """
    low, high = int(values.min()), int(values.max())
    if high - low > max(4 * len(values), 1 << 16):
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct
    # Subtracting in the unsigned type of the same size wraps around to the right distance.
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    lowest = np.array(low, dtype=values.dtype).view(unsigned)
    narrow = np.dtype(np.uint32) if high - low < 1 << 32 else unsigned
    offsets = (values.view(unsigned) - lowest).astype(narrow, copy=False)
    seen = np.zeros(high - low + 1, dtype=np.bool_)
    seen[offsets] = True
    distances = np.flatnonzero(seen).astype(unsigned)
    distinct = (distances + lowest).view(values.dtype)
    if len(distinct) == len(seen):
        return offsets, distinct
    renumbered = np.cumsum(seen, dtype=np.uint32) - 1
    return renumbered[offsets], distinct
