"""Reading and writing tables: files of all formats, one or many; reading from databases.

Uses `tables`, `csv_files`, `parquet`, `foreign`, `packed`, `recognising`, `spreadsheets`, `values`,
`databases`, `distant`, `engines` and `disk`; the doors and `release` use it. An empty text is a
missing value, quoted or not.
"""

import io
import logging
import mmap
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar, cast, get_args

import polars as pl
from polars.io.plugins import register_io_source

from shoal.arguments import require_one_of, typed
from shoal.data import free_memory, packed, spreadsheets
from shoal.data.csv_files import (
    HEAD,
    CsvFile,
    CsvOptions,
    require_to_read,
    wanted_names,
    write_csv,
)
from shoal.data.databases import database, is_database, require_without_secrets
from shoal.data.disk import Stamps, is_address, reading, replacing, unreadable
from shoal.data.distant import Distant
from shoal.data.engines import CATALOGUE, CONNECT, EngineName
from shoal.data.engines.streaming import Streamed
from shoal.data.file_options import FileOptions
from shoal.data.foreign import is_foreign, read_foreign, write_foreign
from shoal.data.formats import (
    FORMATS,
    PACKINGS,
    WRITTEN,
    Format,
    Labels,
    UserMissing,
    called,
    format_named,
    is_csv,
    unpacked_format,
)
from shoal.data.frames import CodedRows, RowsWithCounts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.parquet import unpacked_size
from shoal.data.read_tables import ReadTable
from shoal.data.recognising import recognise
from shoal.data.sources import Memory, Source
from shoal.data.spreadsheets import restored
from shoal.data.tables import Missing, Table, table
from shoal.data.values import in_seconds
from shoal.errors import ColumnError, FileError, ParameterError, TooLargeError

__all__ = [
    "FORMATS",
    "STANDARD_INPUT",
    "Format",
    "column_names",
    "csv_file",
    "files_of",
    "form_of",
    "formulas",
    "in_parts",
    "read",
    "restored",
    "rows_of",
    "serialise",
    "write",
]

_LOG = logging.getLogger(__name__)

# Rows that are repeated at a time. They are read at a time too, by most readers.
_ROW_GROUP = 1 << 18
STANDARD_INPUT = "-"
"""In place of a path: what is piped into the command."""

# What errors call it.
_PIPED = Path("standard input")


# Leaves of a hierarchy above which it does not help to know the values of a column.
_EXPECTED = 254


@typed
def read(  # noqa: PLR0913  keyword options
    path: str | os.PathLike[str],
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifying: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    types: Mapping[str, Kind | str] | None = None,
    missing: Missing = "category",
    rows_are_people: bool = False,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    labels: Labels | None = None,
    user_missing: UserMissing | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | Mapping[str, str] | None = None,
    missing_texts: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    columns: Iterable[str] | None = None,
    neutralised: bool = False,
    engine: EngineName | None = None,
    query: str | None = None,
    master: str | None = None,
) -> Table:
    """A `Table` from files, or from a database.

    Files are CSV and JSON lines (also compressed with gzip or zstd), Parquet, Arrow, Excel,
    OpenDocument, SPSS, Stata and SAS.

    `path` is a file, a folder of files, a pattern such as "visits/*.parquet", "-" for standard
    input, or a database: an SQLite or DuckDB file, or a URL such as postgresql://host/name, of
    which `query` names a table or gives a query. `engine` is "memory", "stream" (the rows are
    counted where they are, in streams) or "spark"; by default, files are streamed that do not fit
    into memory. `master` is where Spark runs, such as "local[2]" or "spark://host:7077", unless a
    session is active.

    `separator`, `quote` ("" if nothing is quoted) and `encoding` are for CSV files, and found out
    if not given. `sheet` is for workbooks of several. `labels` says whether "codes" of SPSS, Stata
    and SAS files are read, or the "texts" of their labels; `user_missing` whether values that such
    a file declares missing are "missing" or "values". `decimal` and `thousands` are marks of
    numbers in texts, and `dates` is the form of dates in them, such as "%d.%m.%Y", or that of each
    column by its name. A cell that is one of `missing_texts`, such as ["NA", "?"], is a missing
    value; they too may be given for each column by its name.

    With `columns`, only these are read. `neutralised` undoes what `neutralise` of `write` did. The
    other parameters are those of `shoal.table`.
    """
    options = FileOptions.of(
        separator=separator,
        quote=quote,
        encoding=encoding,
        sheet=sheet,
        labels=labels,
        user_missing=user_missing,
        decimal=decimal,
        thousands=thousands,
        dates=dates,
        missing_texts=missing_texts,
    )
    rows = rows_of(
        path,
        options,
        types=types,
        hierarchies=hierarchies,
        columns=columns,
        neutralised=neutralised,
        engine=engine,
        query=query,
        master=master,
    )
    return table(
        rows,
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
        hierarchies=hierarchies,
        types=types,
        missing=missing,
        rows_are_people=rows_are_people,
    )


def rows_of(  # noqa: PLR0913  keyword options
    path: str | os.PathLike[str],
    options: FileOptions,
    *,
    types: Mapping[str, Kind | str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    columns: Iterable[str] | None = None,
    neutralised: bool = False,
    engine: EngineName | None = None,
    query: str | None = None,
    master: str | None = None,
) -> Any:
    """What `read` makes a table of: a source of rows, or a dataframe.

    types: declared ones; they decide which numbers and dates have to be written as `options` say
    """
    if engine is not None:
        require_one_of("engine", engine, *get_args(EngineName))
    wanted = None if columns is None else list(columns)
    if neutralised and wanted is not None:
        raise ParameterError("a neutralised file is read whole", "leave out the columns to read")
    if neutralised and engine not in (None, "memory"):
        raise ParameterError("a neutralised file is read into memory", "leave out the engine")
    place = os.fspath(path)
    if place == STANDARD_INPUT and engine not in (None, "memory"):
        raise ParameterError(
            "standard input is read into memory", "leave out the engine, or give a file"
        )
    # A URL may say more than everybody should see.
    _LOG.info("reading %s", "a database" if is_address(place) else place)
    by_spark = _is_spark(place, engine, master)
    if by_spark or not is_database(place):
        require_without_secrets(place)
    if by_spark or query is not None or is_database(place):
        if options != FileOptions(options.csv):
            raise ParameterError(
                "how values are written can be said of files that Shoal reads itself",
                "convert them in the query, NULLIF(NAME, 'NA') for a missing value, or read a file",
            )
        if by_spark:
            return _of_spark(place, query, wanted, options.csv, master)
        return _of_database(place, query, wanted, engine)
    files = _Files(Path(path), options, wanted, dict(types or {}), hierarchies or {})
    return restored(files.frame().frame) if neutralised else files.rows(engine)


@typed
def write(
    frame: Any,
    path: str | os.PathLike[str],
    format: Format | None = None,
    *,
    neutralise: bool = False,
) -> None:
    """Write a dataframe (or a `Table`) to a file.

    The format is `format`, or what the end of the name says: CSV (also .csv.gz and .csv.zst),
    Parquet, Arrow, Excel (.xlsx), SPSS (.sav), Stata (.dta), SAS transport (.xpt) or JSON lines
    (.jsonl). A table that a format would change is refused. The file appears when it is complete,
    or not at all. A CSV file is UTF-8 with commas; missing values are empty. With `neutralise`, an
    apostrophe goes before every text in it that a spreadsheet would run as a formula.
    """
    chosen = format or format_named(path)
    if chosen is None:
        raise ParameterError(
            f"the name {Path(path).name!r} does not say its format",
            f"give `format`: {_choices()}",
        )
    if format is None and chosen not in WRITTEN:
        raise ParameterError(f"{called(chosen)} is read but not written", f"use {_choices()}")
    with replacing(path) as file:
        serialise(frame, file, cast(Format, chosen), neutralise=neutralise)


def _choices() -> str:
    *names, last = (repr(form) for form in WRITTEN)
    return f"{', '.join(names)} or {last}"


def serialise(frame: Any, file: IO[bytes], format: Format, *, neutralise: bool = False) -> None:
    """Write a dataframe (a `Table`, or `RowsWithCounts`) into a file that is open."""
    if format not in WRITTEN:
        raise ParameterError(
            "is unknown", f"it takes {_choices()}", option="format", given=repr(format)
        )
    if neutralise and not is_csv(format):
        raise ParameterError(
            f"format {format!r} has no cells that a spreadsheet would run",
            "`neutralise` is for 'csv'",
        )
    rows = frame if isinstance(frame, RowsWithCounts) else None
    data = _as_polars(frame if rows is None else rows.frame)
    count = None if rows is None else rows.count
    if is_csv(format):
        cells = spreadsheets.neutralised(data) if neutralise else data
        packing = PACKINGS.get(format.removeprefix("csv"))
        with nullcontext(file) if packing is None else packed.packing(file, packing) as inner:
            write_csv(cells, inner, count)
        return
    if is_foreign(format):
        write_foreign(
            data if rows is None else _repeated(RowsWithCounts(data, rows.count)), file, format
        )
        return
    try:
        if count is not None:
            _write_repeated(RowsWithCounts(data, count), file, format)
        elif format == "parquet":
            data.write_parquet(file)
        else:
            data.write_ipc(file)
    except pl.exceptions.ComputeError:
        # What Polars makes of the system's error, for Parquet; for Arrow it comes unchanged.
        raise FileError("the Parquet file cannot be written", "is the disk full?") from None


def _write_repeated(rows: RowsWithCounts, file: IO[bytes], format: Format) -> None:
    """Write rows as often as each is there, some at a time."""

    def repeated(*_: object) -> Iterator[pl.DataFrame]:
        for part in rows.parts(_ROW_GROUP):
            yield part.repeated()

    lazy = register_io_source(repeated, schema=rows.frame.schema)
    if format == "parquet":
        lazy.sink_parquet(file, row_group_size=_ROW_GROUP, engine="streaming")
    else:
        lazy.sink_ipc(file, record_batch_size=_ROW_GROUP, engine="streaming")


def _repeated(rows: RowsWithCounts) -> pl.DataFrame:
    """Rows as often as each is there, all at once, as these formats are written."""
    cells = int(rows.count.sum()) * rows.frame.width
    free_memory.require(3 * cells * free_memory.CELL, "writing the table", "write CSV or Parquet")
    repeated: pl.DataFrame = rows.repeated()
    return repeated


def in_parts(frame: Any, rows: int) -> Iterator[Any]:
    """A dataframe (or `RowsWithCounts`) in parts of that many rows, all of the same types.

    Without rows there is one part, which has none.
    """
    if isinstance(frame, RowsWithCounts):
        yield from RowsWithCounts(_as_polars(frame.frame), frame.count).parts(rows)
        return
    data = _as_polars(frame)
    for start in range(0, max(data.height, 1), rows):
        yield data.slice(start, rows)


def formulas(frame: Any) -> list[str]:
    """The columns with a text that a spreadsheet would run as a formula.

    Such a text begins with =, +, -, @, a tab or a line end.

    >>> people = pl.DataFrame({"paid": ["-5", "+1,5", "12"], "note": ["=1+1", "", "none"]})
    >>> formulas(people)
    ['note']
    """
    different = frame.frame if isinstance(frame, RowsWithCounts) else frame
    return spreadsheets.columns_with_formulas(_as_polars(different))


def _as_polars(frame: Any) -> pl.DataFrame:
    given = frame.frame if isinstance(frame, Table) else Memory.of(frame).frame
    try:
        return given.to_polars()
    except (MemoryError, OSError):
        raise
    except Exception:
        # Of pandas, Arrow or Polars, and its text may have a cell.
        raise ColumnError(
            "a column has values of several types, or of one that no file holds",
            "convert it to text, numbers or dates",
        ) from None


# Reading


def _of_database(
    place: str, query: str | None, columns: list[str] | None, engine: EngineName | None
) -> Source:
    if engine is not None:
        raise ParameterError(
            "is for files: a database counts its rows itself",
            "leave it out",
            option="engine",
            given=repr(engine),
        )
    return database(place, query, columns)


def _is_spark(place: str, engine: EngineName | None, master: str | None) -> bool:
    """Whether Spark is to read a place."""
    if engine == "spark" or place.startswith((CATALOGUE, CONNECT)):
        return True
    if master is not None:
        raise ParameterError("`master` is for Spark", "give engine 'spark' too")
    return False


def _of_spark(
    place: str,
    query: str | None,
    columns: list[str] | None,
    options: CsvOptions,
    master: str | None,
) -> Any:
    """A Spark DataFrame of files, or of a table or query, or of some of its columns."""
    from shoal.data.engines import spark

    if place.startswith((CATALOGUE, CONNECT)):
        frame = spark.spark_table(place, query, master)
    elif query is not None:
        raise ParameterError(
            f"{place} is files", f"`query` is for tables that Spark knows: read {CATALOGUE!r}"
        )
    else:
        frame = spark.spark_files(place, options, master)
    if columns is None:
        return frame
    wanted_names(Path(place), frame.columns, columns)
    unwanted = [name for name in frame.columns if name not in columns]
    return frame.drop(*unwanted)


def files_of(path: Path) -> list[Path]:
    """The files that a path means: itself, those in a folder, or those that a pattern fits."""
    if os.fspath(path) == STANDARD_INPUT:
        return [path]
    # Those of `os.path` say no where a path cannot be, or may not be looked at.
    if os.path.isfile(path / "certificate.json"):
        # Of a release, its table.
        found = path.glob("release*")
    elif os.path.isdir(path):
        found = path.iterdir()
    elif "*" in path.name and not os.path.exists(path):
        found = path.parent.glob(path.name)
    else:
        return [path]
    # Such as those that Spark writes beside the parts of a table.
    files = [file for file in sorted(found) if not file.name.startswith((".", "_"))]
    if not files:
        raise FileError(f"{path} has no files", "give a file, or a folder of files")
    return files


def form_of(path: Path) -> str:
    """What a file is by its beginning and its name; FileError if it is nothing that is read."""
    return _DataFile.of(path).form


def column_names(path: Path, options: FileOptions | None = None) -> tuple[str, ...]:
    """The names of the columns of a file that is not CSV, after a look at its types."""
    return tuple(_DataFile.of(path).table(options or FileOptions(), None).frame.columns)


def csv_file(path: Path, options: CsvOptions | None = None) -> CsvFile:
    """A CSV file on its way to a dataframe; FileError if it is something else."""
    file = _DataFile.of(path)
    if not is_csv(file.form):
        raise FileError(f"{path} is not a CSV file", "give one")
    return file.csv_file(CsvOptions() if options is None else options)


@cache
def _piped() -> bytes:
    """All of standard input, which can be read only once."""
    parts, size = list[bytes](), 0
    if sys.stdin is None or sys.stdin.isatty():
        raise FileError("nothing is piped into standard input", "give a file, or pipe one in")
    for block in packed.blocks_of(sys.stdin.buffer):
        size += len(block)
        free_memory.require(2 * size, "reading standard input", "save it to a file, and stream it")
        parts.append(block)
    return b"".join(parts)


@dataclass(frozen=True)
class _DataFile:
    """A file: its beginning, its size, its format, and what it holds if that was piped in."""

    path: Path
    head: bytes
    size: int
    form: str
    content: bytes | None = None

    @classmethod
    def of(cls, path: Path) -> "_DataFile":
        """The file at a path; FileError if it is nothing that is read."""
        if os.fspath(path) == STANDARD_INPUT:
            content = _piped()
            _require_content(_PIPED, content)
            # Not only its beginning: the files in an archive are listed at its end.
            form = recognise(_PIPED, content)
            return cls(_PIPED, content[:HEAD], len(content), form, content)
        reading(path)
        head, size = _head(path)
        return cls(path, head, size, recognise(path, head))

    @property
    def source(self) -> Path | bytes:
        return self.path if self.content is None else self.content

    def csv_file(self, options: CsvOptions) -> CsvFile:
        """The CSV file; what is compressed is unpacked into memory."""
        packing = PACKINGS.get(self.form.removeprefix("csv"))
        if packing is None:
            return CsvFile(self.path, self.head, self.size, options, self.content)
        content = self._unpacked(packing)
        return CsvFile(self.path, content[:HEAD], len(content), options, content)

    def table(self, options: FileOptions, columns: list[str] | None) -> ReadTable:
        """The content."""
        options.require_for(self.path, self.form)
        if is_csv(self.form):
            return ReadTable(self.csv_file(options.csv).read(columns), frozenset())
        if not is_foreign(self.form):
            return ReadTable(_binary(self, columns), frozenset())
        source, form = self.source, unpacked_format(self.form)
        if form != self.form:
            source = self._unpacked(PACKINGS[self.form.removeprefix(form)])
        return read_foreign(source, self.path, form, options, columns)

    def lazy(self, options: FileOptions, columns: list[str] | None) -> pl.LazyFrame:
        """The content, to be read in streams; FileError if it can be read only as a whole."""
        options.require_for(self.path, self.form)
        if self.form == "csv":
            return CsvFile(self.path, self.head, self.size, options.csv).scan(columns)
        if self.form not in ("parquet", "arrow"):
            raise FileError(
                f"{self.path} is {called(self.form)}, which is read as a whole, and not in streams",
                "save it as Parquet or plain CSV, or use a larger machine",
            )
        with _reading_binary(self.path, self.form):
            lazy = _scanned(self)
            wanted = wanted_names(self.path, lazy.collect_schema().names(), columns)
            return lazy.select(pl.selectors.by_name(wanted))

    def _unpacked(self, packing: str) -> bytes:
        if self.content is not None:
            content = packed.unpacked([self.content], packing, str(self.path))
        else:
            with open(self.path, "rb") as file:
                content = packed.unpacked(packed.blocks_of(file), packing, str(self.path))
        _require_content(self.path, content)
        return content


@dataclass(frozen=True)
class _Files:
    """One file, or several that make one table: a folder of files, or a pattern."""

    path: Path
    options: FileOptions
    columns: list[str] | None
    types: Mapping[str, Kind | str]
    hierarchies: Mapping[str, Hierarchy]

    def rows(self, engine: EngineName | None) -> Source:
        """A source of all rows."""
        files = files_of(self.path)
        if engine == "stream":
            return self._streamed(files)
        try:
            return self._source(files)
        except TooLargeError:
            if engine == "memory" or os.fspath(self.path) == STANDARD_INPUT:
                raise
        return self._streamed(files)

    def frame(self) -> ReadTable:
        """A dataframe of all rows."""
        files = files_of(self.path)
        parts = [_DataFile.of(file).table(self.options, self.columns) for file in files]
        frame = _joined(files, [part.frame for part in parts])
        turned, guessed = self._turned(frame.lazy())
        guessed |= frozenset[str]().union(*(part.guessed for part in parts))
        return ReadTable(turned.collect(), guessed)

    def _source(self, files: list[Path]) -> Memory:
        """The source of files; a single one may be coded while it is read."""
        if len(files) == 1 and not self.options.values:
            file = _DataFile.of(files[0])
            if file.form == "csv" and file.content is None:
                self.options.require_for(file.path, file.form)
                rows = file.csv_file(self.options.csv).read_coded(self.columns, self._expected())
                return Memory(rows) if isinstance(rows, CodedRows) else Memory.of(rows)
        read = self.frame()
        return replace(Memory.of(read.frame), read_off=read.guessed)

    def _expected(self) -> dict[str, Sequence[str]]:
        """Texts that columns are declared to have, by their hierarchies."""
        return {
            name: tree.labels[0][: tree.leaves]
            for name, tree in self.hierarchies.items()
            if tree.leaves <= _EXPECTED
        }

    def _streamed(self, files: list[Path]) -> Distant:
        # Before anything is looked at: all that is found out has to be about the same rows.
        stamps = Stamps.of(files)
        parts = [_DataFile.of(file).lazy(self.options, self.columns) for file in files]
        lazy, guessed = self._turned(_joined(files, parts))
        return Distant(Streamed(lazy, str(self.path)), files=stamps, read_off=guessed)

    def _turned(self, lazy: pl.LazyFrame) -> tuple[pl.LazyFrame, frozenset[str]]:
        """The rows with durations in seconds, and with values as Shoal writes them."""
        in_numbers, durations = in_seconds(lazy)
        values = self.options.values
        if self.columns is not None:
            values = values.for_columns(self.columns)
        turned, guessed = values.turned(in_numbers, self.types)
        return turned, durations | guessed


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def _joined(files: list[Path], parts: list[Frame]) -> Frame:
    """The rows of several files together; FileError if their columns differ."""
    schema = parts[0].collect_schema()
    for file, part in zip(files, parts, strict=True):
        if part.collect_schema() != schema:
            raise FileError(
                f"the columns of {file} differ from those of {files[0].name}, or their types do",
                "keep files of one table in a folder",
            )
    return pl.concat(parts) if len(parts) > 1 else parts[0]


def _head(path: Path) -> tuple[bytes, int]:
    """The beginning of a file, and its size."""
    try:
        if path.is_dir():
            raise FileError(f"{path} is a directory", "give the files in it by a pattern")
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is not an ordinary file", "write its content to one first")
        with open(path, "rb") as file:
            head = file.read(HEAD)
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        raise unreadable(str(path), error) from None
    _require_content(path, head)
    return head, size


def _require_content(path: Path, content: bytes) -> None:
    if not content[:HEAD].strip():
        raise FileError(
            f"{path} is empty", "it needs at least a line with the names of the columns"
        )


def _binary(file: _DataFile, columns: list[str] | None) -> pl.DataFrame:
    """A Parquet file, an Arrow file, or a stream of Arrow batches."""
    path, form = file.path, file.form
    with _reading_binary(path, form):
        lazy = _scanned(file)
        schema = lazy.collect_schema()
        wanted = wanted_names(path, schema.names(), columns)
        rows = cast(int, lazy.select(pl.len()).collect().item())
        cells = [free_memory.CELL if schema[name] == pl.String else 8 for name in wanted]
        require_to_read(path, rows * sum(cells))
        if form == "parquet" and columns is None:
            _require_unpacked(file)
        return lazy.select(pl.selectors.by_name(wanted)).collect()


@contextmanager
def _reading_binary(path: Path, form: str) -> Iterator[None]:
    """Within the block, an error of Polars says what is wrong with the file."""
    try:
        yield
    except pl.exceptions.DuplicateError as error:
        repeated = re.search(r"'(.*)'", str(error))
        name = repr(repeated[1]) if repeated else "the same"
        raise ColumnError(f"{path}: two columns are called {name}", "rename one") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise FileError(
            f"{path} cannot be read as {called(form)}: it is damaged, or two columns have one name",
            "write it again",
        ) from None


def _scanned(file: _DataFile) -> pl.LazyFrame:
    source = file.path if file.content is None else io.BytesIO(file.content)
    if file.form == "parquet":
        return pl.scan_parquet(source, glob=False, hive_partitioning=False)
    if file.form == "arrow":
        return pl.scan_ipc(source, glob=False, hive_partitioning=False)
    # A stream does not say how much it holds.
    require_to_read(file.path, 3 * file.size)
    return pl.read_ipc_stream(source).lazy()


def _require_unpacked(file: _DataFile) -> None:
    if file.content is not None:
        require_to_read(file.path, unpacked_size(file.content) or 0)
        return
    with (
        open(file.path, "rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        require_to_read(file.path, unpacked_size(content) or 0)
