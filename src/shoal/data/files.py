"""Reading and writing tables: CSV, Parquet and Arrow files, one or many; reading from databases.

Uses `tables`, `csv_files`, `parquet`, `spreadsheets`, `databases`, `distant`, `engines` and `disk`;
the doors and `release` use it. An empty text is a missing value, quoted or not.
"""

import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast, get_args

import polars as pl
from polars.io.plugins import register_io_source

from shoal.arguments import require_one_of, typed
from shoal.data import free_memory, spreadsheets
from shoal.data.csv_files import (
    HEAD,
    CsvFile,
    CsvOptions,
    require_to_read,
    wanted_names,
    write_csv,
)
from shoal.data.databases import database, is_database, require_without_secrets
from shoal.data.disk import Stamps, reading, replacing, unreadable
from shoal.data.distant import Distant
from shoal.data.engines import CATALOGUE, CONNECT, EngineName
from shoal.data.engines.streaming import Streamed
from shoal.data.frames import CodedRows, RowsWithCounts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.parquet import unpacked_size
from shoal.data.sources import Memory, Source
from shoal.data.spreadsheets import restored
from shoal.data.tables import Missing, Table, table
from shoal.errors import ColumnError, FileError, ParameterError, TooLargeError

__all__ = [
    "FORMATS",
    "Format",
    "formulas",
    "in_parts",
    "read",
    "restored",
    "serialise",
    "write",
]

Format = Literal["csv", "parquet", "arrow"]

FORMATS: Mapping[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
"""How a file's name ends, and what it then is."""

# Rows that are repeated at a time. They are read at a time too, by most readers.
_ROW_GROUP = 1 << 18
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_ARROW_STREAM = b"\xff\xff\xff\xff"
_FOREIGN = {
    b"\x1f\x8b": ("compressed with gzip", "unpack it first"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unpack it first"),
    b"PK\x03\x04": ("a zip or Excel file", "save the table as CSV or Parquet"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", "save the table as CSV or Parquet"),
    b"FEA1": ("in Feather's first version", "save it as Arrow or Parquet"),
}


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
    columns: Iterable[str] | None = None,
    neutralised: bool = False,
    engine: EngineName | None = None,
    query: str | None = None,
    master: str | None = None,
) -> Table:
    """A `Table` from CSV, Parquet or Arrow files, or from a database.

    `path` is a file, a folder of files, a pattern such as "visits/*.parquet", or a database: an
    SQLite or DuckDB file, or a URL such as postgresql://host/name, of which `query` names a table
    or gives a query. `engine` is "memory", "stream" (the rows are counted where they are, in
    streams) or "spark"; by default, files are streamed that do not fit into memory. `master` is
    where Spark runs, such as "local[2]" or "spark://host:7077", unless a session is active.

    `separator`, `quote` ("" if nothing is quoted) and `encoding` are for CSV files, and found out
    if not given. With `columns`, only these are read. `neutralised` undoes what `neutralise` of
    `write` did. The other parameters are those of `shoal.table`.
    """
    if engine is not None:
        require_one_of("engine", engine, *get_args(EngineName))
    wanted = None if columns is None else list(columns)
    if neutralised and wanted is not None:
        raise ParameterError("a neutralised file is read whole", "leave out the columns to read")
    if neutralised and engine not in (None, "memory"):
        raise ParameterError("a neutralised file is read into memory", "leave out the engine")
    place = os.fspath(path)
    options = CsvOptions(separator, quote, encoding)
    by_spark = _is_spark(place, engine, master)
    if by_spark or not is_database(place):
        require_without_secrets(place)
    if by_spark:
        rows: Any = _of_spark(place, query, wanted, options, master)
    elif query is not None or is_database(place):
        rows = _of_database(place, query, wanted, engine)
    else:
        files = _Files(Path(path), options, wanted)
        rows = restored(files.frame()) if neutralised else files.rows(engine)
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


@typed
def write(
    frame: Any,
    path: str | os.PathLike[str],
    format: Format | None = None,
    *,
    neutralise: bool = False,
) -> None:
    """Write a dataframe (or a `Table`) as CSV, Parquet or Arrow.

    The format is `format`, or what the end of the name says. The file appears when it is complete,
    or not at all. A CSV file is UTF-8 with commas; missing values are empty. With `neutralise`, an
    apostrophe goes before every text in it that a spreadsheet would run as a formula.
    """
    chosen = format or FORMATS.get(Path(path).suffix.lower())
    if chosen is None:
        raise ParameterError(
            f"the name {Path(path).name!r} does not say its format",
            "give `format`: 'csv', 'parquet' or 'arrow'",
        )
    with replacing(path) as file:
        serialise(frame, file, chosen, neutralise=neutralise)


def serialise(frame: Any, file: IO[bytes], format: Format, *, neutralise: bool = False) -> None:
    """Write a dataframe (a `Table`, or `RowsWithCounts`) into a file that is open."""
    if format not in FORMATS.values():
        raise ParameterError(
            "is unknown",
            "it takes 'csv', 'parquet' or 'arrow'",
            option="format",
            given=repr(format),
        )
    if neutralise and format != "csv":
        raise ParameterError(
            f"format {format!r} has no cells that a spreadsheet would run",
            "`neutralise` is for 'csv'",
        )
    rows = frame if isinstance(frame, RowsWithCounts) else None
    data = _as_polars(frame if rows is None else rows.frame)
    count = None if rows is None else rows.count
    if format == "csv":
        write_csv(spreadsheets.neutralised(data) if neutralise else data, file, count)
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


@dataclass(frozen=True)
class _Files:
    """One file, or several that make one table: a folder of files, or a pattern."""

    path: Path
    options: CsvOptions
    columns: list[str] | None

    def rows(self, engine: EngineName | None) -> Any:
        """A dataframe of all rows, or a source of them."""
        files = self._files()
        if engine == "stream":
            return self._streamed(files)
        try:
            return self._source(files[0]) if len(files) == 1 else self.frame()
        except TooLargeError:
            if engine == "memory":
                raise
        return self._streamed(files)

    def frame(self) -> pl.DataFrame:
        """A dataframe of all rows."""
        files = self._files()
        return _joined(files, [_frame(file, self.options, self.columns) for file in files])

    def _source(self, file: Path) -> Memory:
        """The source of one file, which may be coded while it is read."""
        head, size = _head(file)
        if _form(file, head, self.options) is not None:
            return Memory.of(_frame(file, self.options, self.columns))
        rows = CsvFile(file, head, size, self.options).read_coded(self.columns)
        return Memory(rows) if isinstance(rows, CodedRows) else Memory.of(rows)

    def _files(self) -> list[Path]:
        if (self.path / "certificate.json").is_file():
            # Of a release, its table.
            found = self.path.glob("release*")
        elif self.path.is_dir():
            found = self.path.iterdir()
        elif "*" in self.path.name and not self.path.exists():
            found = self.path.parent.glob(self.path.name)
        else:
            return [self.path]
        # Such as those that Spark writes beside the parts of a table.
        files = [file for file in sorted(found) if not file.name.startswith((".", "_"))]
        if not files:
            raise FileError(f"{self.path} has no files", "give a file, or a folder of files")
        return files

    def _streamed(self, files: list[Path]) -> Distant:
        # Before anything is looked at: all that is found out has to be about the same rows.
        stamps = Stamps.of(files)
        lazy = _joined(files, [_lazy(file, self.options, self.columns) for file in files])
        return Distant(Streamed(lazy, str(self.path)), files=stamps)


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


def _lazy(path: Path, options: CsvOptions, columns: list[str] | None) -> pl.LazyFrame:
    """The content of a file, to be read in streams."""
    head, size = _head(path)
    form = _form(path, head, options)
    if form is None:
        return CsvFile(path, head, size, options).scan(columns)
    if form == "stream":
        raise FileError(
            f"{path} is a stream of Arrow, which can be read only as a whole",
            "save it as an Arrow file or as Parquet",
        )
    with _reading_binary(path, form):
        lazy = _scanned(path, size, form)
        wanted = wanted_names(path, lazy.collect_schema().names(), columns)
        return lazy.select(pl.selectors.by_name(wanted))


def _frame(path: Path, options: CsvOptions, columns: list[str] | None) -> pl.DataFrame:
    """The content of a file."""
    head, size = _head(path)
    form = _form(path, head, options)
    if form is not None:
        return _binary(path, size, form, columns)
    return CsvFile(path, head, size, options).read(columns)


def _form(path: Path, head: bytes, options: CsvOptions) -> str | None:
    """What a file is by its first bytes and its name; None for CSV."""
    reading(path)
    forms = [name for magic, name in _MAGIC.items() if head.startswith(magic)]
    form = forms[0] if forms else None
    named = FORMATS.get(path.suffix.lower())
    if form is None and named == "arrow" and head.startswith(_ARROW_STREAM):
        form = "stream"
    if form is None and named in ("parquet", "arrow"):
        raise FileError(
            f"{path} is not {named.capitalize()} though its name says so",
            "rename it, or write it again",
        )
    if form is not None:
        if options:
            raise ParameterError(
                f"{path} is {_format_name(form)}: `separator`, `quote` and `encoding` are for CSV "
                "files"
            )
        return form
    for magic, (what, fix) in _FOREIGN.items():
        if head.startswith(magic):
            raise FileError(f"{path} is {what}", fix)
    return None


def _format_name(form: str) -> str:
    return "Parquet" if form == "parquet" else "Arrow"


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
    if not head.strip():
        raise FileError(
            f"{path} is empty", "it needs at least a line with the names of the columns"
        )
    return head, size


def _binary(path: Path, size: int, form: str, columns: list[str] | None) -> pl.DataFrame:
    """A Parquet file, an Arrow file, or a stream of Arrow batches."""
    with _reading_binary(path, form):
        lazy = _scanned(path, size, form)
        schema = lazy.collect_schema()
        wanted = wanted_names(path, schema.names(), columns)
        rows = cast(int, lazy.select(pl.len()).collect().item())
        cells = [free_memory.CELL if schema[name] == pl.String else 8 for name in wanted]
        require_to_read(path, rows * sum(cells))
        if form == "parquet" and columns is None:
            _require_unpacked(path)
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
            f"{path} cannot be read as {_format_name(form)}: it is damaged, or two columns have "
            "one name",
            "write it again",
        ) from None


def _scanned(path: Path, size: int, form: str) -> pl.LazyFrame:
    if form == "parquet":
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)
    if form == "arrow":
        return pl.scan_ipc(path, glob=False, hive_partitioning=False)
    # A stream does not say how much it holds.
    require_to_read(path, 3 * size)
    return pl.read_ipc_stream(path).lazy()


def _require_unpacked(path: Path) -> None:
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        require_to_read(path, unpacked_size(content) or 0)
