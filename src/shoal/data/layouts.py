"""How the source of a table is written, by a look at its beginning: quick, whatever its size.

What is wrong with it is a part of the answer, so that a person can be shown how to mend it. Uses
`files`, `csv_files` and `databases`; the workbench uses it.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from shoal.data.csv_files import CsvOptions, Dialect, wanted_names
from shoal.data.databases import is_database
from shoal.data.disk import GUESSES, Place, is_address
from shoal.data.file_options import FileOptions
from shoal.data.files import column_names, csv_file, files_of, form_of
from shoal.data.formats import is_csv, unpacked_format
from shoal.errors import ShoalError

__all__ = ["SourceLayout", "look"]

_WHOLE = 1 << 25
"""Bytes of a file up to which all of it is looked at for its encoding."""


@dataclass(frozen=True)
class SourceLayout:
    """How a source is written.

    form: a format, "csv" also if it is compressed, or "database"; "address" is one that cannot be
        looked at quickly; "unknown" has a problem
    files: how many files it is
    size: their bytes
    changed: when the newest of them was written, in seconds since 1970
    dialect: of CSV files, how they are written
    names: of the columns; if `is_headless`, they may be cells of the first record
    problem: why it cannot be read
    """

    form: str
    files: int = 1
    size: int | None = None
    changed: float | None = None
    dialect: Dialect | None = None
    names: tuple[str, ...] = ()
    problem: ShoalError | None = None

    @property
    def is_headless(self) -> bool:
        """Whether the first line looks like a record, and not like one of names."""
        return self.dialect is not None and not self.dialect.named

    @property
    def is_guess(self) -> bool:
        """Whether the encoding is one that almost any bytes fit."""
        return self.dialect is not None and self.dialect.encoding in GUESSES

    @property
    def reading(self) -> dict[str, str]:
        """What a recipe says so that it is read in just this way.

        An encoding that is a guess is left to the reader, who refuses a mixture of several; so is
        that of a large file, as the reader sees all of it.
        """
        if self.dialect is None:
            return {}
        said = {"separator": self.dialect.separator, "quote": self.dialect.quote}
        if not self.is_guess and self.size is not None and self.size <= _WHOLE:
            said["encoding"] = self.dialect.encoding
        return said


def look(place: Place, options: FileOptions | None = None) -> SourceLayout:
    """How a file, a folder of files, or a database is written.

    options: what is known of it already
    """
    if is_address(place):
        return SourceLayout("address")
    path = Path(place)
    layout = SourceLayout("unknown")
    try:
        if is_database(os.fspath(place)):
            return _measured(replace(layout, form="database"), [path])
        files = files_of(path)
        layout = _measured(layout, files)
        form = form_of(files[0])
        layout = replace(layout, form=unpacked_format(form))
        if is_csv(form):
            known = None if options is None else options.csv
            layout = _with_dialect(layout, files[0], known)
            _require_names(layout, files[0], known)
            return layout
        names = _names(files[0], form, options)
        return replace(layout, names=names)
    except ShoalError as error:
        return replace(layout, problem=error)


def _with_dialect(layout: SourceLayout, path: Path, options: CsvOptions | None) -> SourceLayout:
    file = csv_file(path, options)
    dialect = file.dialect(whole=file.size <= _WHOLE)
    return replace(layout, dialect=dialect, names=tuple(dialect.names))


def _require_names(layout: SourceLayout, path: Path, options: CsvOptions | None) -> None:
    """Raise what reading would."""
    dialect = layout.dialect
    if dialect is not None:
        csv_file(path, options).require_dialect(dialect.encoding)
        wanted_names(path, dialect.names, None, named=dialect.named)


def _names(path: Path, form: str, options: FileOptions | None) -> tuple[str, ...]:
    """The names of the columns of a file that is not CSV, or none if it says them at its end."""
    try:
        if form == "parquet":
            return tuple(pl.read_parquet_schema(path))
        if form in ("arrow", "stream"):
            return tuple(pl.read_ipc_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # A stream of Arrow, or a damaged file: reading it will tell.
        return ()
    # It has to be read for that, and says what is wrong with it.
    return column_names(path, options)


def _measured(layout: SourceLayout, files: list[Path]) -> SourceLayout:
    found = [file.stat() for file in files if os.path.exists(file)]
    return replace(
        layout,
        files=len(files),
        size=sum(one.st_size for one in found) if found else None,
        changed=max((one.st_mtime for one in found), default=None),
    )
