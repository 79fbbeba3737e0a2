"""Files of written tables, read as they were written: whole, or in parts of any number of rows.

A table that is small beside free memory is read as a whole. One that is not has its bytes digested
first; then its rows are read a part at a time, and each run of equal rows is held once. What is
read is what was digested. Uses `runs`, `parquet`, `packed`,
`foreign`, `disk` and `free_memory`; `releases` reads by it.
"""

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from shoal.data import free_memory, packed
from shoal.data.disk import unreadable
from shoal.data.foreign import is_foreign, read_foreign
from shoal.data.formats import WRITTEN
from shoal.data.frames import RowsWithCounts
from shoal.data.parquet import RowGroup, row_groups
from shoal.data.runs import in_runs, rows_in_runs
from shoal.errors import FileError, ShoalError, listed, plural

__all__ = ["TableFile", "TableFiles", "added_parts", "part_names", "pattern"]

# Parts of free memory that the rows of a table may take to be read as a whole: where they come from
# and what is made of them needs several times that. Rows of a CSV file take about twice its bytes.
_SMALL = 16
_SMALL_FILE = 32
# Bytes that are read at a time of a file that is not held.
_BLOCK = 1 << 25
# Memory for rows that are read at a time, unless fewer cannot be.
_AT_A_TIME = 1 << 27
# Of the number in the name of a part, if there are not more.
_DIGITS = 5
# Files that an error names.
_NAMED = 3
_LARGER = "use a larger machine, or have the table written in parts"

Batches = Iterator[pl.DataFrame]


def pattern(name: str, form: str) -> str:
    """What the parts of a table are called together.

    >>> pattern("release", "parquet")
    'release-*.parquet'
    """
    return f"{name}-*.{form}"


def part_names(called: str, parts: int) -> list[str]:
    """The names of the parts of a table, which sort in their order.

    >>> part_names("release-*.csv", 2)
    ['release-00000.csv', 'release-00001.csv']
    """
    digits = max(_DIGITS, len(str(parts - 1)))
    return [called.replace("*", f"{place:0{digits}}") for place in range(parts)]


def added_parts(folder: Path, called: str, names: Sequence[str]) -> str | None:
    """Which files would be read along with the parts of a table, in words; None if there are none.

    They match the pattern by which the parts are called, and are not among their names.
    """
    matching = {file.name for file in folder.iterdir() if fnmatchcase(file.name, called)}
    more = sorted(matching - set(names))
    if not more:
        return None
    number = plural(len(more), "file")
    return f"{number} beside the parts of the table would be read as a part: {_some(more)}"


def _some(names: Sequence[str]) -> str:
    """The names of some files, if they are many only of the first."""
    rest = len(names) - _NAMED
    more = f" and {rest:,} more" if rest > 0 else ""
    return listed(names[:_NAMED]) + more


@dataclass(frozen=True)
class TableFile:
    """A file, its digest, and its bytes if they are held: those of a large one are read again."""

    path: Path
    sha256: str
    held: bytes | None

    @classmethod
    def of(cls, path: Path, hold: int = _BLOCK) -> "TableFile":
        """The file at a path; FileError if it cannot be read."""
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > hold:
                    return cls(path, hashlib.file_digest(file, "sha256").hexdigest(), None)
                free_memory.require(size, f"reading {path}", _LARGER)
                content = file.read()
        except (OSError, ValueError) as error:
            raise unreadable(str(path), error) from None
        return cls(path, hashlib.sha256(content).hexdigest(), content)

    def content(self) -> bytes:
        """The bytes that have the digest; FileError if they changed meanwhile."""
        if self.held is not None:
            return self.held
        # While blocks are joined, they are there twice.
        free_memory.require(2 * self.path.stat().st_size, f"reading {self.path}", _LARGER)
        return b"".join(self.blocks())

    def blocks(self) -> Iterator[bytes]:
        """The same bytes, some at a time."""
        if self.held is not None:
            yield self.held
            return
        digest = hashlib.sha256()
        try:
            with open(self.path, "rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    yield block
        except (OSError, ValueError) as error:
            raise unreadable(str(self.path), error) from None
        if digest.hexdigest() != self.sha256:
            raise FileError(f"{self.path} changed while it was read", "read it again")


@dataclass(frozen=True)
class TableFiles:
    """All files of one table, in their order."""

    files: tuple[TableFile, ...]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> "TableFiles":
        """The files at some paths; FileError if one cannot be read."""
        if not paths:
            raise FileError("the table has no files")
        if len(set(paths)) < len(paths):
            raise FileError("the table has one file as several parts")
        hold = max(_BLOCK, free_memory.available() // _SMALL_FILE)
        # All of them together may be held, not each.
        return cls(tuple(TableFile.of(path, hold // len(paths)) for path in paths))

    @property
    def digests(self) -> list[str]:
        return [file.sha256 for file in self.files]

    def difference(self, digests: Sequence[str]) -> str | None:
        """How the files differ from those with some digests, in words; None if they do not."""
        pairs = zip(self.files, digests, strict=True)
        changed = [file.path.name for file, digest in pairs if file.sha256 != digest]
        if not changed:
            return None
        where = f" in {_some(changed)}" if len(self.files) > 1 else ""
        return f"their digests differ{where}"

    def rows(self, form: str) -> RowsWithCounts:
        """The rows, each run of equal ones once if that is worth it.

        Errors are those of `table`.
        """
        return in_runs(self.table(form))

    def table(self, form: str) -> pl.DataFrame | RowsWithCounts:
        """The rows as a dataframe if that is small beside free memory, else each run once.

        FileError if the files are not of a form, TooLargeError if their rows do not fit into
        memory.
        """
        if form not in _READERS:
            raise FileError(f"the certificate names format {form!r}; known are {listed(_READERS)}")
        try:
            return self._table(self._batches(_READERS[form]))
        except ShoalError:
            raise
        except (ValueError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise FileError(f"the table is not a readable {form} file") from None

    def _table(self, batches: Batches) -> pl.DataFrame | RowsWithCounts:
        most = free_memory.available() // _SMALL
        read: list[pl.DataFrame] = []
        for batch in batches:
            read.append(batch)
            most -= batch.height * batch.width * free_memory.CELL
            # A file that comes in several parts is not small.
            if most < 0 or len(read) > len(self.files):
                return rows_in_runs(chain(read, batches))
        return pl.concat(read) if len(read) > 1 else read[0]

    def _batches(self, reader: "Callable[[TableFile], Batches]") -> Batches:
        lengths = []
        for file in self.files:
            length = 0
            for batch in reader(file):
                length += batch.height
                yield batch
            lengths.append(length)
        *full, last = lengths
        if full and (set(full) != {full[0]} or not 0 < last <= full[0]):
            raise FileError(
                "the parts of the table are not cut after equal numbers of rows: "
                "what decides where they end instead may reveal more than they do"
            )


def _require(needed: int) -> None:
    free_memory.require(needed, "reading the table", _LARGER)


# CSV


def _csv_batches(file: TableFile) -> Batches:
    yield from _csv_in_blocks(file.blocks())


def _packed_csv_batches(file: TableFile, packing: str) -> Batches:
    if packed.packing_of(next(file.blocks(), b"")) != packing:
        raise ValueError("not compressed")
    parts = packed.unpacked_blocks(file.blocks(), packing, str(file.path))
    yield from _csv_in_blocks(_as_blocks(parts))


def _as_blocks(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks of one size, but for the last."""
    rest = bytearray()
    for part in parts:
        rest += part
        while len(rest) >= _BLOCK:
            yield bytes(rest[:_BLOCK])
            del rest[:_BLOCK]
    if rest:
        yield bytes(rest)


def _csv_in_blocks(blocks: Iterator[bytes]) -> Batches:
    header = b""
    for content in _whole_lines(blocks):
        header = header or content[: _line_ends(content, first=True)]
        _require_cells(content, header.count(b",") + 1)
        frame = pl.read_csv(content, infer_schema=False)
        # Polars leaves doubled quotes of the header unchanged.
        frame.columns = [name.replace('""', '"') for name in frame.columns]
        yield frame
    if not header:
        raise ValueError("an empty file")


def _require_cells(content: bytes, columns: int) -> None:
    """TooLargeError if the lines of a CSV file do not fit into memory as rows."""
    held, line = 2 * len(content), columns * free_memory.CELL
    # A line has at least one byte. So lines have to be counted only where memory is scarce.
    if held + len(content) * line > free_memory.available():
        _require(held + (content.count(b"\n") + 1) * line)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in parts that end where a line does, outside quotes, each with the header."""
    header, rest = b"", b""
    for block in blocks:
        _require(2 * (len(rest) + len(block)))
        rest += block
        # There is more only after a whole block.
        end = _line_ends(rest) if len(block) == _BLOCK else 0
        if end > len(header):
            yield rest[:end]
            header = header or rest[: _line_ends(rest, first=True)]
            rest = header + rest[end:]
    if len(rest) > len(header):
        yield rest


def _line_ends(content: bytes, *, first: bool = False) -> int:
    """Where the last line ends, or the first, of those that end outside quotes; 0 if none does."""
    find = content.find if first else content.rfind
    low, high, quotes = 0, len(content), 0 if first else content.count(b'"')
    while (end := find(b"\n", low, high) + 1) > 0:
        passed = content.count(b'"', low, end) if first else content.count(b'"', end, high)
        quotes += passed
        if quotes % 2 == 0:
            return end
        low, high = (end, high) if first else (low, end - 1)
    return 0


# Parquet and Arrow


def _parquet_batches(file: TableFile) -> Batches:
    content = file.content()
    groups = row_groups(content)
    if groups is None:
        raise ValueError("a damaged file")
    lazy = pl.scan_parquet(io.BytesIO(content), hive_partitioning=False)
    start = 0
    for some in _together(groups):
        # A file of a few kilobytes can hold thousands of millions of rows.
        _require(sum(group.unpacked for group in some))
        rows = sum(group.rows for group in some)
        yield lazy.slice(start, rows).collect()
        start += rows
    if not groups:
        yield lazy.collect()
    if lazy.select(pl.len()).collect().item() != start:
        raise ValueError("a file that is not of its groups of rows")


def _together(groups: Sequence[RowGroup]) -> Iterator[list[RowGroup]]:
    """The groups of rows that are read at a time."""
    free = free_memory.available()
    if groups and sum(group.unpacked for group in groups) <= free // _SMALL:
        yield list(groups)
        return
    most = min(_AT_A_TIME, free // 2)
    some: list[RowGroup] = []
    for group in groups:
        if some and sum(each.unpacked for each in (*some, group)) > most:
            yield some
            some = []
        some.append(group)
    if some:
        yield some


def _arrow_batches(file: TableFile) -> Batches:
    content = file.content()
    lazy = pl.scan_ipc(io.BytesIO(content))
    rows = int(lazy.select(pl.len()).collect().item())
    _require(len(content) + rows * len(lazy.collect_schema()) * free_memory.CELL)
    yield pl.read_ipc(content)


# Other programs' formats


def _foreign_batches(file: TableFile, form: str) -> Batches:
    yield read_foreign(file.content(), file.path, form).frame


_READERS: Mapping[str, Callable[[TableFile], Batches]] = {
    "csv": _csv_batches,
    "csv.gz": partial(_packed_csv_batches, packing="gzip"),
    "csv.zst": partial(_packed_csv_batches, packing="zstd"),
    "parquet": _parquet_batches,
    "arrow": _arrow_batches,
    **{form: partial(_foreign_batches, form=form) for form in WRITTEN if is_foreign(form)},
}
