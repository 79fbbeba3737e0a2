"""Tables of other programs: workbooks, files of SPSS, Stata and SAS, and JSON lines.

Such a file is read and written as a whole. What is written is read again, and refused if a value
is not what it was: many of these formats drop blanks at the end of a text, or digits of a number.
Uses `workbooks`, `statistical` and `json_lines`; `files` and `table_files` use it.
"""

import datetime as dt
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import polars as pl

from shoal.data.file_options import FileOptions
from shoal.data.formats import called, unpacked_format
from shoal.data.installed import require_installed
from shoal.data.json_lines import read_json_lines, write_json_lines
from shoal.data.read_tables import ReadTable, times_as_text, whole
from shoal.data.statistical import read_statistical, write_statistical
from shoal.data.workbooks import first_day_of_excel, read_workbook, write_workbook
from shoal.errors import ColumnError, FileError

__all__ = ["is_foreign", "read_foreign", "require_writable", "write_foreign"]

_WORKBOOKS = ("xlsx", "xlsb", "xls", "ods")
_STATISTICAL = ("sav", "zsav", "por", "dta", "sas7bdat", "xpt")
# Whole numbers up to it are exact as floats, which is all that these programs have.
_EXACT = 1 << 53
# What Stata keeps as whole numbers: the largest ones stand for missing values.
_LONG = (-2_147_483_647, 2_147_483_620)
_WITHOUT_TIMES = ("xlsx", "dta", "jsonl")
"""Formats that have no time of the day: it is written as a text."""


def is_foreign(form: str) -> bool:
    """Whether files of a format are read and written here."""
    return unpacked_format(form) in (*_WORKBOOKS, *_STATISTICAL, "jsonl")


def read_foreign(
    source: Path | bytes,
    path: Path,
    form: str,
    options: FileOptions | None = None,
    columns: list[str] | None = None,
) -> ReadTable:
    """The rows of a file, or of its content; `path` is what errors call it."""
    given = options or FileOptions()
    if form in _WORKBOOKS:
        return read_workbook(source, path, form, given, columns)
    if form in _STATISTICAL:
        return read_statistical(source, path, form, given, columns)
    return read_json_lines(source, path, columns)


def require_writable(form: str, names: Iterable[str] = ()) -> None:
    """An error if no table with these columns can be written, before anything is spent on it."""
    if form == "jsonl":
        return
    if is_foreign(form):
        # A column that is surely there, for those who do not know any.
        columns = {name: pl.Series([], dtype=pl.String) for name in names or ["count"]}
        write_foreign(pl.DataFrame(columns), io.BytesIO(), form)
    elif form == "csv.zst":
        require_installed("zstandard", "files compressed with zstd", "files")


def write_foreign(frame: pl.DataFrame, file: IO[bytes], form: str) -> None:
    """Write a dataframe; ColumnError if the format cannot hold it as it is."""
    if form == "jsonl" and not frame.height:
        raise FileError("JSON lines have no names without rows", "write CSV, Parquet or Arrow")
    fitted = pl.DataFrame([_fitted(column, form) for column in frame.get_columns()])
    if form == "xlsx":
        content = write_workbook(fitted)
    elif form == "jsonl":
        content = write_json_lines(fitted)
    else:
        content = write_statistical(fitted, form)
    again = read_foreign(content, Path(f"release.{form}"), form).frame
    changed = list(_changed(fitted, again))
    if changed:
        raise ColumnError(
            f"column {changed[0]!r} has values, or a name, that {called(form)} does not keep as "
            "they are, such as texts that end in a blank or numbers of too many digits",
            "write CSV, Parquet or Arrow",
        )
    file.write(content)


def _fitted(column: pl.Series, form: str) -> pl.Series:
    """A column of a type that a format has, with the same values."""
    dtype = column.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object):
        raise ColumnError(
            f"column {column.name!r} is of type {dtype}, which {called(form)} cannot hold",
            "convert it to text",
        )
    if dtype.is_decimal():
        column = _of_decimals(column)
    elif dtype.is_float():
        column = column.cast(pl.Float64).fill_nan(None)
        if column.is_infinite().any():
            raise ColumnError(
                f"column {column.name!r} has an infinite number, which {called(form)} cannot hold",
                "write CSV, Parquet or Arrow",
            )
    elif dtype.is_integer():
        column = _of_integers(column, form)
    elif dtype in (pl.Categorical, pl.Enum, pl.Null) or (dtype == pl.Boolean and form != "jsonl"):
        column = column.cast(pl.String)
    elif dtype.is_temporal():
        column = _of_times(column, form)
    return column.replace("", None) if column.dtype == pl.String else column


def _of_decimals(column: pl.Series) -> pl.Series:
    """Decimals as floats if these are the same, else as texts."""
    floats = column.cast(pl.Float64)
    same = (floats.cast(column.dtype) == column).all()
    return floats if same else column.cast(pl.String)


def _of_integers(column: pl.Series, form: str) -> pl.Series:
    """Whole numbers, or texts where there are too many digits."""
    known = column.drop_nulls()
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, 0)  # type: ignore[arg-type]
    if form == "jsonl":
        return column
    if low < -_EXACT or high > _EXACT:
        return column.cast(pl.String)
    if form == "dta" and _LONG[0] <= low and high <= _LONG[1]:
        return column.cast(pl.Int32)
    return column.cast(pl.Float64) if form == "dta" else column.cast(pl.Int64)


def _of_times(column: pl.Series, form: str) -> pl.Series:
    """Days and times, or texts where a format has none such."""
    dtype = column.dtype
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None or form == "jsonl":
            return times_as_text(column)
        column = column.cast(pl.Datetime("us"))
    if dtype == pl.Time and form in _WITHOUT_TIMES:
        return times_as_text(column)
    if form == "jsonl":
        return times_as_text(column)
    if form == "xlsx":
        first = column.drop_nulls().min()
        day = first.date() if isinstance(first, dt.datetime) else first
        if isinstance(day, dt.date) and day < first_day_of_excel():
            return times_as_text(column)
    return column


def _changed(written: pl.DataFrame, again: pl.DataFrame) -> Iterator[str]:
    """The columns whose values are not the same when they are read again."""
    if again.height != written.height or again.width != written.width:
        yield written.columns[0]
        return
    for one, other in zip(written.get_columns(), again.get_columns(), strict=True):
        if one.name != other.name or not _is_same(one, other):
            yield one.name


def _is_same(written: pl.Series, again: pl.Series) -> bool:
    if again.null_count() == len(again) == written.null_count():
        return True
    if again.dtype == pl.String:
        again = again.replace("", None)
    if written.dtype.is_numeric() and again.dtype.is_numeric():
        written, again = whole(written.cast(pl.Float64)), whole(again.cast(pl.Float64))
    elif written.dtype.is_temporal() and again.dtype.is_temporal():
        if written.dtype in (pl.Date, pl.Datetime):
            written, again = written.cast(pl.Datetime("us")), again.cast(pl.Datetime("us"))
    elif written.dtype != again.dtype:
        return False
    return bool(written.eq_missing(again).all())
