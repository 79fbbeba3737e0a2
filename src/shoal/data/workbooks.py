"""Workbooks of Excel and OpenDocument: one sheet is a table, its first row has the names.

Read with fastexcel, written with XlsxWriter, both extras. A cell is written as a text or a number,
never as a formula, and a workbook that is written has no author and no time. `foreign` uses it.
"""

import datetime as dt
import io
import logging
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.csv_files import require_to_read, wanted_names
from shoal.data.file_options import FileOptions
from shoal.data.formats import called
from shoal.data.installed import require_installed
from shoal.data.read_tables import ReadTable, plain, whole
from shoal.errors import ColumnError, FileError, listed

__all__ = ["first_day_of_excel", "read_workbook", "write_workbook"]

_SHEET = "release"
_ROWS, _COLUMNS = 1 << 20, 1 << 14
# Bytes of memory for each byte of a workbook, unpacked: cells with their markup.
_MEMORY = 2
# And for each cell between the first and the last one, empty or not.
_CELL = 96
# What is unpacked at a time, and the longest that says where a cell is.
_BLOCK, _LONGEST = 1 << 20, 64
_WHERE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]*)([0-9]+)")
_MIXED = re.compile(r"could not determine dtype for column (.*)")
_FIRST_YEAR = 1900
# Before it, Excel has a day that never was.
_FIRST_DAY = dt.date(1900, 3, 1)
# Other times would say when a release was made. It is the first that a zip archive can hold.
_MADE = dt.datetime(1980, 1, 1)


def read_workbook(
    source: Path | bytes, path: Path, form: str, options: FileOptions, columns: list[str] | None
) -> ReadTable:
    """The rows of a sheet; `path` is what errors call the file."""
    library = require_installed("fastexcel", f"{called(form)} files", "files")
    _require_memory(source, path, form)
    for name in ("fastexcel", "calamine"):
        # They warn of columns without values, and of cells.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _reading(library, path, form):
        book = library.read_excel(source if isinstance(source, bytes) else str(source))
        sheet = _sheet(book, path, options.sheet)
        infos = book.load_sheet(sheet, n_rows=0).available_columns()
        _require_named(path, book, sheet, infos)
        frame = book.load_sheet(sheet, schema_sample_rows=None).to_polars()
    names = [str(info.name) for info in infos]
    wanted = wanted_names(path, names, columns)
    frame = pl.DataFrame([_plain(frame[name]) for name in wanted])
    return ReadTable(frame, frozenset(wanted))


@contextmanager
def _reading(library: Any, path: Path, form: str) -> Iterator[None]:
    """Errors of fastexcel in our words: its own may have a cell."""
    damaged = FileError(
        f"{path} cannot be read as {called(form)}: it is damaged, protected by a password, or "
        "has no rows",
        "save it again, or as CSV",
    )
    try:
        yield
    except library.FastExcelError as error:
        mixed = _MIXED.search(str(error))
        if mixed is None:
            raise damaged from None
        raise ColumnError(
            f"{path}: column {mixed[1]!r} has texts among cells of another type, such as durations",
            "correct them, or make all of its cells text",
        ) from None
    except BaseException as error:
        # Rust gives up on an old file that was cut off, with what is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise damaged from None


def _require_memory(source: Path | bytes, path: Path, form: str) -> None:
    """TooLargeError if a workbook does not fit: what it says of its own sizes need not be true."""
    if form == "xls":
        size = len(source) if isinstance(source, bytes) else path.stat().st_size
        require_to_read(path, _MEMORY * size)
        return
    damaged = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as book:
            size = 0
            for part in book.infolist():
                span = _Span()
                for block in _blocks(book, part):
                    size += len(block)
                    require_to_read(path, _MEMORY * size)
                    if form == "xlsx" and part.filename.startswith("xl/worksheets/"):
                        span.take(block)
                require_to_read(path, _MEMORY * size + _CELL * span.cells)
    except damaged:
        raise FileError(f"{path} is a damaged {called(form)} file", "save it again") from None


def _blocks(book: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a part unpacks to, to its end, whatever the archive says of its size."""
    part.file_size = sys.maxsize
    with book.open(part) as file:
        while block := file.read(_BLOCK):
            yield block


class _Span:
    """The rows and columns between the first and the last cell of a sheet of Excel.

    All of them are made, so that one stray cell in the last corner would take everything there is.
    """

    def __init__(self) -> None:
        self.rows: set[int] = set()
        self.columns: set[int] = set()
        self.rest = b""

    def take(self, block: bytes) -> None:
        """Take the next part of the sheet."""
        found = _WHERE.findall(self.rest + block)
        self.rest = block[-_LONGEST:]
        rows = {int(row) for row in {row for _, row in found}}
        columns = {_column_number(letters) for letters in {letters for letters, _ in found}} - {0}
        for known, new in ((self.rows, rows), (self.columns, columns)):
            every = known | new
            known.clear()
            known.update((min(every), max(every)) if every else ())

    @property
    def cells(self) -> int:
        if not self.rows:
            return 0
        columns = max(self.columns) - min(self.columns) + 1 if self.columns else 1
        return (max(self.rows) - min(self.rows) + 1) * columns


def _column_number(letters: bytes) -> int:
    """The number of the column that Excel calls by letters; 0 without any."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _sheet(book: Any, path: Path, wanted: str | None) -> str:
    """The sheet that is meant; FileError if that is not clear."""
    names = [str(name) for name in book.sheet_names]
    if wanted is not None:
        if wanted not in names:
            raise FileError(f"{path} has no sheet {wanted!r}", f"it has {listed(names)}")
        return wanted
    if len(names) != 1:
        raise FileError(
            f"{path} has {len(names)} sheets: {listed(names)}", "say which one with `sheet`"
        )
    return names[0]


def _require_named(path: Path, book: Any, sheet: str, infos: Any) -> None:
    """ColumnError if a column has no name, or two have one: fastexcel would make some up."""
    if not infos:
        raise FileError(
            f"{path}: sheet {sheet!r} is empty", "its first row needs the names of the columns"
        )
    made_up = [place for place, info in enumerate(infos, 1) if info.column_name_from == "generated"]
    if made_up:
        raise ColumnError(
            f"{path}: column {made_up[0]} has no name in the first row",
            "name it, or delete what is above the names of the columns",
        )
    first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
    written = [str(name) for name in first.row(0)] if first.height else []
    for place, name in enumerate(written, 1):
        if name in written[: place - 1]:
            raise ColumnError(
                f"columns {written.index(name) + 1} and {place} have the same name",
                "rename one",
                where=str(path),
            )


def _plain(column: pl.Series) -> pl.Series:
    """A column of the types that all formats have."""
    if column.dtype.is_float():
        return whole(column.fill_nan(None))
    if isinstance(column.dtype, pl.Datetime) and (column.dt.year() < _FIRST_YEAR).all():
        # Excel knows no such day: it is a time of the day alone.
        return column.dt.time() if column.null_count() < len(column) else column
    return plain(column)


# Writing


def write_workbook(frame: pl.DataFrame) -> bytes:
    """The bytes of a workbook with one sheet."""
    library = require_installed("xlsxwriter", "Excel files", "files")
    if frame.height >= _ROWS or frame.width > _COLUMNS:
        raise FileError(
            f"an Excel sheet has {_ROWS:,} rows and {_COLUMNS:,} columns at most",
            "write CSV or Parquet, or parts of fewer rows",
        )
    file = io.BytesIO()
    book = library.Workbook(file, {"in_memory": True})
    book.set_properties({"created": _MADE})
    sheet = book.add_worksheet(_SHEET)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
    for place, column in enumerate(frame.get_columns()):
        sheet.write_string(0, place, column.name)
        more: list[Any] = []
        if column.dtype == pl.String:
            write = sheet.write_string
        elif column.dtype.is_temporal():
            write = sheet.write_datetime
            more = [day if column.dtype == pl.Date else moment]
        else:
            write = sheet.write_number
        for row, value in enumerate(column, 1):
            # It says that a text is too long by a number.
            if value not in (None, "") and write(row, place, value, *more):
                raise _does_not_fit(column.name)
    try:
        book.close()
    except library.exceptions.XlsxWriterException:
        raise FileError("the Excel file cannot be written", "write CSV or Parquet") from None
    return file.getvalue()


def first_day_of_excel() -> dt.date:
    """The first day that Excel and the calendar agree about."""
    return _FIRST_DAY


def _does_not_fit(name: str) -> ColumnError:
    return ColumnError(
        f"column {name!r} has a value that an Excel cell cannot hold", "write CSV or Parquet"
    )
