"""Files of SPSS, Stata and SAS: read as the values they mean, and written.

Whole numbers are integers though these programs keep floats, values that the file declares to be
missing are missing unless somebody wants them, and labels are read in place of codes if somebody
says so. What is written holds the rows alone: no time, no name, no label. Uses pyreadstat, an
extra; `foreign` uses it.
"""

import io
import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import polars as pl

from shoal.data import free_memory
from shoal.data.csv_files import require_to_read, wanted_names
from shoal.data.file_options import FileOptions
from shoal.data.formats import called
from shoal.data.installed import require_installed
from shoal.data.kinds import Kind
from shoal.data.read_tables import ReadTable, whole
from shoal.errors import ColumnError, FileError

__all__ = ["read_statistical", "write_statistical"]

_DAY = 86_400
# How files of Stata since its release 13 begin and end.
_STATA, _STATA_END = b"<stata_dta>", b"</stata_dta>"
# What transport files are made of: every one is filled up to a multiple of it.
_TRANSPORT = 80
# Formats of times of the day, or of durations, which pyreadstat would cut at a day.
_TIME = re.compile(r"(?:D?TIME|MTIME|HHMM|HOUR|MMSS|TOD|E8601TM)\d*(?:\.\d+)?", re.I)
_DURATION = re.compile(r"DTIME", re.I)
_NOT_READ = (OverflowError, ValueError, TypeError, MemoryError, OSError, KeyError)

_TIME_STAMP = {
    # Where SPSS has its date and its time.
    "sav": (
        re.compile(rb"\A(.{92})\d\d \w{3} \d\d[\d:]{8}", re.DOTALL),
        rb"\g<1>01 Jan 7000:00:00",
    ),
    "dta": (re.compile(rb"(<timestamp>\x11).{17}(</timestamp>)"), rb"\g<1>01 Jan 1970 00:00\2"),
    "xpt": (re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d"), rb"01JAN70:00:00:00"),
}
_HEADER = {"sav": 176, "dta": 512}


def read_statistical(
    source: Path | bytes, path: Path, form: str, options: FileOptions, columns: list[str] | None
) -> ReadTable:
    """The rows of a file, or of its content; `path` is what errors call it."""
    _require_end(source, path, form)
    reader = _StatisticalFile(source, path, form, options)
    names = reader.names()
    wanted = wanted_names(path, names, columns)
    frame, about = reader.read(wanted, len(wanted) == len(names))
    meanings = _Meanings(path, options, about)
    read = [meanings.column(frame[name]) for name in wanted]
    times = [name for name in wanted if _TIME.fullmatch(about.original_variable_types[name] or "")]
    if times:
        numbers, _ = reader.read(times, False, disable_datetime_conversion=True)
        for name in times:
            is_duration = bool(_DURATION.match(about.original_variable_types[name] or ""))
            read[wanted.index(name)] = _time(numbers[name], is_duration=is_duration)
    numeric = [name for name in wanted if about.readstat_variable_types[name] != "string"]
    return ReadTable(pl.DataFrame(read), frozenset(numeric))


def _require_end(source: Path | bytes, path: Path, form: str) -> None:
    """FileError if a file was cut off where pyreadstat would not notice, and read fewer rows."""
    file: IO[bytes] = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    with file:
        is_marked = file.read(len(_STATA)) == _STATA
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_STATA_END)))
        is_cut = is_marked and file.read() != _STATA_END
    if is_cut or (form == "xpt" and size % _TRANSPORT):
        raise FileError(
            f"{path} is a damaged {called(form)} file: its end is missing", "copy or save it again"
        )


class _StatisticalFile:
    """pyreadstat's way to read a file, and its errors in our words."""

    def __init__(self, source: Path | bytes, path: Path, form: str, options: FileOptions) -> None:
        self.source, self.path, self.form = source, path, form
        library = require_installed("pyreadstat", f"{called(form)} files", "files")
        self.error = (library.ReadstatError, library.PyreadstatError, *_NOT_READ)
        name = {"zsav": "sav", "xpt": "xport"}.get(form, form)
        self.call: Callable[..., Any] = getattr(library, f"read_{name}")
        self.given: dict[str, Any] = {"output_format": "polars"}
        if form not in ("por", "xpt"):
            self.given["user_missing"] = options.user_missing == "values"
        if options.csv.encoding is not None:
            self.given["encoding"] = options.csv.encoding

    def names(self) -> list[str]:
        """The names of the columns; TooLargeError if the rows do not fit into memory."""
        _, about = self._called(metadataonly=True)
        names = [str(name) for name in about.column_names]
        rows = about.number_rows
        if rows is None or rows < 0:
            # It does not say, and a cell has at least a byte.
            size = len(self.source) if isinstance(self.source, bytes) else self.path.stat().st_size
            rows = size // max(len(names), 1)
        require_to_read(self.path, rows * len(names) * free_memory.CELL)
        return names

    def read(self, names: list[str], all_of_them: bool, **more: Any) -> tuple[Any, Any]:
        if not all_of_them:
            more["usecols"] = names
        return self._called(**more)

    def _called(self, **more: Any) -> tuple[Any, Any]:
        if isinstance(self.source, bytes):
            place: Any = io.BytesIO(self.source)
        else:
            place = str(self.source)
        try:
            frame, about = self.call(place, **self.given, **more)
        except self.error:
            # Its text may have a cell.
            raise FileError(
                f"{self.path} cannot be read as {called(self.form)}: it is damaged, encrypted or "
                "of a kind that pyreadstat does not know",
                "save it again with the program it comes from, or give its encoding",
            ) from None
        return frame, about


class _Meanings:
    """From columns as pyreadstat gives them to what they mean."""

    def __init__(self, path: Path, options: FileOptions, about: Any) -> None:
        self.path = path
        self.labelled = options.labels == "texts"
        self.labels: Mapping[str, Mapping[Any, str]] = about.variable_value_labels
        self.types: Mapping[str, str] = about.readstat_variable_types

    def column(self, column: pl.Series) -> pl.Series:
        """The values of a column."""
        name = column.name
        is_text = self.types[name] == "string"
        if column.dtype in (pl.Object, pl.String) and not is_text:
            # Numbers, and letters for values that are declared missing.
            column = pl.Series(name, [_marked(value) for value in column], dtype=pl.String)
        elif column.dtype == pl.Null:
            column = column.cast(pl.String if is_text else pl.Float64)
        elif column.dtype.is_float():
            if self.types[name] == "float":
                # 0.1 of four bytes is 0.1, and not the nearest number of eight.
                column = column.cast(pl.Float32).cast(pl.String).cast(pl.Float64)
            column = whole(column.fill_nan(None))
        labels = self.labels.get(name)
        if self.labelled and labels:
            return self._with_labels(column, labels)
        return column

    def _with_labels(self, column: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
        """The texts of a column's codes; one without a label stays as it is."""
        code_of = _text_code if self.types[column.name] == "string" else _code
        texts = {code_of(code): label for code, label in labels.items()}
        keys = column.unique().drop_nulls()
        by_key = {key: texts.get(code_of(key), code_of(key)) for key in keys}
        if len(set(by_key.values())) < len(by_key):
            raise ColumnError(
                f"{self.path}: in column {column.name!r}, two codes have the same label",
                "read it with `labels='codes'`, or change one of the labels",
            )
        texts_of_keys = pl.Series(list(by_key.values()), dtype=pl.String)
        return column.replace_strict(keys, texts_of_keys, default=None, return_dtype=pl.String)


def _code(value: object) -> str:
    """The code of a number: 1 and 1.0 are one, and so are the letter a and .a of Stata."""
    if isinstance(value, str) and re.fullmatch("[a-zA-Z_]", value):
        return f".{value}"
    return _text_code(value)


def _text_code(value: object) -> str:
    """A code as text; a letter is one in a column of texts."""
    return Kind.TEXT.text(Kind.TEXT.key(value))


def _marked(value: object) -> str | None:
    """A number as text, or the letter of a value that is declared missing: .a"""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return _code(value)


def _time(seconds: pl.Series, *, is_duration: bool) -> pl.Series:
    """Times of the day, or else durations in seconds."""
    seconds = seconds.cast(pl.Float64).fill_nan(None)
    known = seconds.drop_nulls()
    if is_duration or not ((known >= 0) & (known < _DAY)).all():
        return whole(seconds)
    return (seconds * 1e9).round(0).cast(pl.Int64).cast(pl.Time)


# Writing


def write_statistical(frame: pl.DataFrame, form: str) -> bytes:
    """The bytes of a file that holds the rows of a dataframe, and nothing else."""
    library = require_installed("pyreadstat", f"{called(form)} files", "files")
    formats = _formats(frame, form)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"release.{form}"
        try:
            if form == "sav":
                library.write_sav(frame, place, variable_format=formats)
            elif form == "dta":
                # What Stata 14 and later read; the newest would be for its largest edition only.
                library.write_dta(frame, place, version=14)
            else:
                library.write_xport(frame, place)
        except (library.ReadstatError, library.PyreadstatError, *_NOT_READ):
            # Its text may have a cell.
            raise ColumnError(
                f"the table does not fit {called(form)}: the name of a column has a blank or is "
                "too long, a text is too long, or a number too large",
                "rename the column, or write CSV or Parquet",
            ) from None
        content = place.read_bytes()
    return _without_time(content, form)


def _formats(frame: pl.DataFrame, form: str) -> dict[str, str]:
    """How SPSS shows whole numbers, which it would show with two decimals."""
    if form != "sav":
        return {}
    whole = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
    return dict.fromkeys(whole, "F12.0")


def _without_time(content: bytes, form: str) -> bytes:
    """The same file, as if it had been written in 1970."""
    end = _HEADER.get(form) or content.index(b"NAMST")
    stamp, fixed = _TIME_STAMP[form]
    head, found = stamp.subn(fixed, content[:end])
    if not found or len(head) != end:
        raise FileError(f"the {called(form)} file has no time where it should be")
    return head + content[end:]
