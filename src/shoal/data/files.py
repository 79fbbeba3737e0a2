"""Reading and writing tables: CSV, Parquet and Arrow files. Uses `tables`, `disk` and `memory`; the doors and `release` use it.

What the values of a CSV file are is never guessed: they stay the texts they are, and a column's declared type says how they
compare. An empty text is a missing value, quoted or not. Separator, quotes and encoding are looked for in the beginning of
the file unless they are given.
"""

import codecs
import csv
import io
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.arguments import typed
from shoal.data import memory
from shoal.data.disk import encodings, known, mixed, reading, replacing
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.names import like_a_record, require_names
from shoal.data.sources import Memory
from shoal.data.tables import Missing, Table, table
from shoal.errors import ColumnError, FileError, ParameterError, listed

__all__ = [
    "FORMATS",
    "Format",
    "formulas",
    "read",
    "require_room",
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

SEPARATORS = (",", ";", "\t", "|")

_HEAD = 1 << 18  # bytes looked at before anything is decided
_BLOCK = 1 << 18  # bytes checked at a time: they stay in the processor's cache
_LONGEST = 1 << 30  # characters of a field
_SNIFFED = 100  # records that separators are tried on
_RUNS = 10_000  # rows from which it may pay to look for those that are the same as the one before
_CELL = 16  # bytes of a text in memory; longer ones lie in a second place, which is never larger than the file

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_FOREIGN = {
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"PK\x03\x04": "a zip or Excel file; save the table as CSV or Parquet",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the table as CSV or Parquet",
    b"FEA1": "in Feather's first version; save it as Arrow or Parquet",
}
_GUESSES = ("cp1252", "latin-1")  # which almost any bytes are
_MARKUP = re.compile(
    r'\s*(?:\[\s*(?:[\[{"]|\])|\{\s*["}]|<(?:\?xml|!doctype|[a-z][^>]*>\s*<))', re.I
)
"""How JSON and XML begin, whose first line would be shown as names of columns."""

_RUN = r"(?s)^'*[=+\-@\t\r\n＝＋－＠]."  # what spreadsheets take for the start of a formula, and something behind it
_SIGNED = r"^'*[+\-][0-9.,]+([eE][+\-]?[0-9]+)?%?$"

_BETWEEN = r"(?:[,;\t|\r\n]|\Z)"
_APOSTROPHES = re.compile(rf"(?:(?<=[,;\t|\r\n])|(?<!.))'(?:[^']|'')*'(?={_BETWEEN})", re.DOTALL)


@typed
def read(
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
) -> Table:
    """A `Table` from a CSV, Parquet or Arrow file.

    `separator`, `quote` ("" if nothing is quoted) and `encoding` are for CSV files, and found out if not given. Of `columns`
    only these are read. `neutralised` undoes what `neutralise` of `write` did. The other parameters are those of `shoal.table`.
    """
    wanted = None if columns is None else list(columns)
    if neutralised and wanted is not None:
        raise ParameterError("a neutralised file is read whole; leave out the columns to read")
    frame = _frame(Path(path), separator, quote, encoding, wanted)
    return table(
        restored(frame) if neutralised else frame,
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
    """Write a dataframe (or a `Table`) as CSV, Parquet or Arrow, as `format` or the end of the name says.

    The file appears when it is complete, or not at all. A CSV file is UTF-8 with commas; missing values are empty. With
    `neutralise`, an apostrophe goes before every text in it that a spreadsheet would run as a formula.
    """
    chosen = format or FORMATS.get(Path(path).suffix.lower())
    if chosen is None:
        raise ParameterError(
            f"the name {Path(path).name!r} does not say its format; it takes 'csv', 'parquet' or 'arrow'"
        )
    with replacing(path) as file:
        serialise(frame, file, chosen, neutralise=neutralise)


def serialise(frame: Any, file: IO[bytes], format: Format, *, neutralise: bool = False) -> None:
    """Write a dataframe (or a `Table`) into a file that is open."""
    if format not in FORMATS.values():
        raise ParameterError(f"format {format!r} is unknown; it takes 'csv', 'parquet' or 'arrow'")
    if neutralise and format != "csv":
        raise ParameterError(
            f"format {format!r} has no cells that a spreadsheet would run; `neutralise` is for 'csv'"
        )
    data = _as_polars(frame.frame if isinstance(frame, Table) else Memory.of(frame).frame)
    if format == "csv":
        _write_csv(_neutralised(data) if neutralise else data, file)
    elif format == "parquet":
        try:
            data.write_parquet(file)
        except (
            pl.exceptions.ComputeError
        ):  # what Polars makes of the system's error; the others come as they are
            raise FileError("the Parquet file cannot be written; is the disk full?") from None
    else:
        data.write_ipc(file)


def formulas(frame: Any) -> list[str]:
    """The columns with a text that a spreadsheet would run as a formula: it begins with =, +, -, @, a tab or a line end.

    >>> formulas(pl.DataFrame({"paid": ["-5", "+1,5", "12"], "note": ["=1+1", "", "none"]}))
    ['note']
    """
    data = _as_polars(frame.frame if isinstance(frame, Table) else Memory.of(frame).frame)
    found = [column.name for column in _texts_of(data) if _run(column).any()]
    return [name for name in data.columns if name in found or _run(pl.Series([name])).any()]


def restored(frame: pl.DataFrame) -> pl.DataFrame:
    """A dataframe that was read from a neutralised file with the texts it was made from.

    Of those that begin with apostrophes and go on as a formula, each has one apostrophe more in the file, so that every
    text of a file stands for one text, and every text comes back.
    """
    return _renewed(
        frame, lambda text, run: pl.when(run & text.str.starts_with("'")).then(text.str.slice(1))
    )


def _neutralised(data: pl.DataFrame) -> pl.DataFrame:
    return _renewed(data, lambda text, run: pl.when(run).then(pl.lit("'") + text))


def _renewed(data: pl.DataFrame, change: Callable[[pl.Expr, pl.Expr], Any]) -> pl.DataFrame:
    """A dataframe whose texts and names that would be run are changed."""
    text = pl.col("text")
    chosen = change(text, _formula(text)).otherwise(text)

    def changed(column: pl.Series) -> pl.Series:
        return pl.DataFrame({"text": column}).select(chosen).to_series()

    names = changed(pl.Series(data.columns, dtype=pl.String)).to_list()
    texts = {column.name: changed(column) for column in _texts_of(data)}
    columns = [texts.get(column.name, column) for column in data.get_columns()]
    return pl.DataFrame([one.alias(name) for one, name in zip(columns, names, strict=True)])


def _texts_of(data: pl.DataFrame) -> list[pl.Series]:
    """The columns of texts, as such."""
    kinds = (pl.String, pl.Categorical, pl.Enum)
    return [column.cast(pl.String) for column in data.get_columns() if column.dtype in kinds]


def _formula(text: pl.Expr) -> pl.Expr:
    """Whether a text, but for apostrophes before it, would be run; a number with its sign would not."""
    return text.str.contains(_RUN) & ~text.str.contains(_SIGNED)


def _run(column: pl.Series) -> pl.Series:
    """Which texts would be run as they are, so without an apostrophe before them."""
    text = pl.col("text")
    bare = _formula(text) & ~text.str.starts_with("'")
    return pl.DataFrame({"text": column}).select(bare).to_series()


def _as_polars(frame: Any) -> pl.DataFrame:
    try:
        return cast(pl.DataFrame, frame.to_polars())
    except Exception as error:  # of pandas, Arrow or Polars, and its text may have a cell
        if isinstance(error, MemoryError | OSError):
            raise
        raise ColumnError(
            "a column has values of several types, or of one that no file holds; convert it to text, numbers or dates"
        ) from None


def _write_csv(data: pl.DataFrame, file: IO[bytes]) -> None:
    data = data.with_columns(pl.selectors.float().fill_nan(None))
    if odd := [
        name
        for name, dtype in data.schema.items()
        if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object)
    ]:
        raise ColumnError(
            f"column {odd[0]!r} is of type {data.schema[odd[0]]}, which CSV cannot hold; convert it to text"
        )
    if void := [column.name for column in _texts_of(data) if _has_nul(column)]:
        raise ColumnError(
            f"column {void[0]!r} has a text with a NUL character, which CSV cannot hold; remove it"
        )
    if data.width == 1:  # a missing value alone would be an empty line, which many readers skip
        data = data.select(pl.all().cast(pl.String).fill_null(""))
    if not _write_runs(data, file):
        data.write_csv(file)


def _has_nul(column: pl.Series) -> bool:
    plain = column.alias("")  # a name such as "^a$" would be read as a pattern
    return bool(plain.str.contains("\0", literal=True).any())


def _write_runs(data: pl.DataFrame, file: IO[bytes]) -> bool:
    """Write rows that are the same as the one before by copying its line, if most are: as in releases, whose rows are sorted."""
    kinds = {pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Boolean}
    if data.height < _RUNS or not all(
        dtype.is_integer() or dtype in kinds for dtype in data.dtypes
    ):
        return False  # floats that are equal may have different texts
    columns = [
        column.alias(str(place)) for place, column in enumerate(data.get_columns())
    ]  # "^a$" would be read as a pattern
    other = pl.DataFrame(columns).select(pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1))))
    starts = np.flatnonzero(other.to_series().to_numpy())
    if not len(starts) or starts[0]:
        starts = np.concatenate(
            ([0], starts)
        )  # a first row of nothing but missing values is like that before it
    if 4 * len(starts) > data.height:
        return False
    text = io.BytesIO()
    data[starts].write_csv(text)
    lines = text.getvalue().splitlines(keepends=True)
    if len(lines) != len(starts) + 1:
        return False  # some value has lines of its own
    often = np.diff(starts, append=data.height).tolist()
    file.writelines(line * times for line, times in zip(lines, [1, *often], strict=True))
    return True


# --------------------------------------------------------------------------------------------------------------- reading


def _frame(
    path: Path,
    separator: str | None,
    quote: str | None,
    encoding: str | None,
    columns: list[str] | None,
) -> pl.DataFrame:
    head, size = _head(path)
    reading(path)
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    said = FORMATS.get(path.suffix.lower())
    if (
        found is None
        and said in ("parquet", "arrow")
        and not (said == "arrow" and head.startswith(b"\xff\xff\xff\xff"))
    ):
        raise FileError(
            f"{path} is not {said.capitalize()} though its name says so; rename it, or write it again"
        )
    if (found or said) in ("parquet", "arrow"):
        if separator or quote or encoding:
            raise ParameterError(
                f"{path} is {(found or said or '').capitalize()}: separator, quote and encoding are for CSV files"
            )
        return _binary(path, size, found or "stream", columns)
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise FileError(f"{path} is {what}")
    return _Csv(path, head, size, separator, quote, encoding).read(columns)


def _head(path: Path) -> tuple[bytes, int]:
    try:
        if path.is_dir():
            raise FileError(f"{path} is a directory; give a file")
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is not an ordinary file; write its content to one first")
        with open(path, "rb") as file:
            head, size = file.read(_HEAD), os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        raise FileError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not head.strip():
        raise FileError(f"{path} is empty; it needs at least a line with the names of the columns")
    return head, size


def _binary(path: Path, size: int, form: str, columns: list[str] | None) -> pl.DataFrame:
    """A Parquet file, an Arrow file, or a stream of Arrow batches."""
    name = "Parquet" if form == "parquet" else "Arrow"
    try:
        if form == "parquet":
            lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        elif form == "arrow":
            lazy = pl.scan_ipc(path, glob=False, hive_partitioning=False)
        else:
            _afford(path, 3 * size)  # a stream does not say how much it holds
            lazy = pl.read_ipc_stream(path).lazy()
        schema = lazy.collect_schema()
        wanted = _chosen(path, schema.names(), columns)
        rows = cast(int, lazy.select(pl.len()).collect().item())
        _afford(path, sum(rows * (_CELL if schema[name] == pl.String else 8) for name in wanted))
        if form == "parquet" and columns is None:
            with (
                open(path, "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as all_,
            ):
                _afford(path, _unpacked(all_) or 0)
        return lazy.select(pl.selectors.by_name(wanted)).collect()
    except pl.exceptions.DuplicateError as error:
        repeated = re.findall(r"'(.*)'", str(error))
        raise ColumnError(
            f"{path}: two columns are called {repeated[0] if repeated else 'the same'!r}; rename one"
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise FileError(
            f"{path} cannot be read as {name}: it is damaged, or two columns have one name; write it again"
        ) from None


def require_room(content: bytes, form: str, what: str) -> None:
    """Raise TooLargeError if a table in these bytes would not fit into memory, and FileError if that cannot be found out.

    Whoever wrote the bytes may have meant harm: a Parquet file of a few kilobytes can hold thousands of millions of rows. So
    its pages are asked, not its summary.
    """
    if form == "parquet":
        needed = _unpacked(content)
        if needed is None:
            raise FileError(f"{what} is not a readable Parquet file")
    elif form == "arrow":
        lazy = pl.scan_ipc(io.BytesIO(content))
        rows = cast(int, lazy.select(pl.len()).collect().item())
        needed = len(content) + rows * len(lazy.collect_schema()) * _CELL
    else:
        header, _, rest = content.partition(b"\n")
        needed = 2 * len(content) + (rest.count(b"\n") + 1) * (header.count(b",") + 1) * _CELL
    memory.require(needed, f"reading {what}", "use a larger machine")


def _unpacked(content: "bytes | mmap.mmap") -> int | None:
    """Bytes of memory that a Parquet file takes when it is read, by its own pages; None if it is damaged.

    Repeated values take no room in a file, and so do texts that compress well; in memory each value has its place, and each
    page its whole length.
    """
    try:
        length = int.from_bytes(content[-8:-4], "little")
        footer, _ = _fields(content, len(content) - 8 - length, 0)
        needed = 0
        for group in footer.get(_GROUPS, ()):
            for chunk in group[_CHUNKS]:
                about = chunk[_ABOUT]
                starts = [about[name] for name in (_DICTIONARY, _PAGES) if about.get(name)]
                at = min(starts, default=0)
                end, values = at + about[_PACKED], 0
                while at < end:
                    page, at = _fields(content, at, 0)
                    needed += page[_UNPACKED_PAGE]
                    at += max(page[_PACKED_PAGE], 0)
                    values += max(
                        (page[kind].get(1, 0) for kind in _PAGE_KINDS if kind in page), default=0
                    )
                needed += _CELL * max(values, about[_VALUES], group[_ROWS])
        return needed
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError):
        return None


# Where things are in the summary and in the pages of a Parquet file, by the numbers of its definition
_GROUPS, _CHUNKS, _ROWS, _ABOUT = 4, 1, 3, 3
_VALUES, _PACKED, _PAGES, _DICTIONARY = 5, 7, 9, 11
_UNPACKED_PAGE, _PACKED_PAGE, _PAGE_KINDS = 2, 3, (5, 7, 8)
_DEEPEST = 40


def _fields(content: "bytes | mmap.mmap", at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The fields of a structure in Thrift's compact form, by their numbers, and where it ends."""
    if at < 0 or depth > _DEEPEST:
        raise ValueError("not a structure")
    found: dict[int, Any] = {}
    number = 0
    while head := content[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _signed(content, at)
        found[number], at = _field(content, at, head & 15, depth)
    return found, at + 1


def _field(content: "bytes | mmap.mmap", at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true, false: the kind is the value
        return kind == 1, at
    if kind == 3:
        return content[at], at + 1
    if kind in (4, 5, 6):
        return _signed(content, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:  # a text, of which nothing here depends
        length, at = _unsigned(content, at)
        return None, at + length
    if kind in (9, 10):
        size, inner = content[at] >> 4, content[at] & 15
        at += 1
        if size == 15:
            size, at = _unsigned(content, at)
        listed_ = []
        for _ in range(size):
            if inner in (1, 2):
                one, at = content[at] == 1, at + 1
            else:
                one, at = _field(content, at, inner, depth + 1)
            listed_.append(one)
        return listed_, at
    if kind == 12:
        return _fields(content, at, depth + 1)
    raise ValueError("a kind that Parquet does not use")


def _unsigned(content: "bytes | mmap.mmap", at: int) -> tuple[int, int]:
    number = 0
    for turn in range(10):
        byte = content[at + turn]
        number |= (byte & 127) << 7 * turn
        if byte < 128:
            return number, at + turn + 1
    raise ValueError("a number that does not end")


def _signed(content: "bytes | mmap.mmap", at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return number >> 1 ^ -(number & 1), at


def _chosen(
    path: Path, names: Sequence[str], columns: list[str] | None, *, named: bool = True
) -> list[str]:
    """The columns to read, in the file's order; errors list names only where these are `named` for sure."""
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ColumnError(f"{path}: two columns are called {listed(repeated)}; rename one")
    require_names(names, str(path))
    if void := [place for place, name in enumerate(names, 1) if "\0" in name]:
        raise ColumnError(f"{path}: the name of column {void[0]} has a NUL character; rename it")
    if columns is None:
        return list(names)
    if unknown := [name for name in columns if name not in names]:
        known = f"; it has {listed(names)}" if named else ""
        raise ColumnError(f"{path} has no column {listed(unknown)}{known}")
    if not columns:
        raise ParameterError("columns is empty; name at least one, or leave it out to read all")
    return [name for name in names if name in columns]


def _afford(path: Path, needed: int) -> None:
    memory.require(
        needed, f"reading {path}", "read fewer columns with columns=, or use a larger machine"
    )


# ------------------------------------------------------------------------------------------------------------------- CSV


@dataclass(frozen=True)
class _Dialect:
    """How a CSV file is written; `quote` is "" where nothing is quoted."""

    encoding: str
    separator: str
    quote: str
    line_end: str
    names: list[str]
    named: bool  # whether the first line is one of names, and not a record

    @property
    def width(self) -> int:
        return len(self.names)


class _Csv:
    """One CSV file on its way to a dataframe."""

    def __init__(
        self,
        path: Path,
        head: bytes,
        size: int,
        separator: str | None,
        quote: str | None,
        encoding: str | None,
    ) -> None:
        self.path, self.head, self.size = path, head, size
        self.separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
        self.quote, self.encoding = quote, encoding
        for name, given, empty in (("separator", self.separator, False), ("quote", quote, True)):
            fits = (
                given is None
                or (empty and given == "")
                or (len(given) == 1 and given.isascii() and given not in "\r\n")
            )
            if not fits:
                raise ParameterError(
                    f"{name}={given!r}; it takes one ASCII character{' or none' if empty else ''}"
                )
        if self.separator is not None and self.separator == quote:
            raise ParameterError(f"separator and quote are both {quote!r}; give different ones")
        if encoding is not None:
            known(encoding)

    def read(self, columns: list[str] | None) -> pl.DataFrame:
        """The dataframe, all texts, by the first encoding the whole file agrees with."""
        tried = [self.encoding] if self.encoding else encodings(self.head)
        for encoding in tried:
            try:
                return self._read(self._dialect(encoding), columns)
            except UnicodeError:
                continue
        raise FileError(
            f"{self.path} is not {tried[-1]} text: line {self._undecodable(tried[-1])} has other bytes; "
            "give its encoding, such as encoding='cp1252'"
        )

    def _dialect(self, encoding: str) -> _Dialect:
        whole = len(self.head) == self.size
        text = (
            codecs.getincrementaldecoder(encoding)()
            .decode(self.head, final=whole)
            .lstrip("\r\n\ufeff")
        )
        if _MARKUP.match(text):
            raise FileError(f"{self.path} is JSON or XML; save the table as CSV or Parquet")
        line_end = "\r" if "\r" in text and "\n" not in text else "\n"
        if not whole:
            text = text[: text.rfind(line_end) + 1]
        if not text.strip():
            raise FileError(
                f"{self.path}: no line ends in its first {_HEAD // 1024} KB; is it a CSV file?"
            )
        quote = _quote(text) if self.quote is None else self.quote
        detected = _separator(text, quote, whole)
        separator = self.separator or detected
        names, *below = _records(text, separator, quote, whole)
        values = [[record[i] for record in below if i < len(record)] for i in range(len(names))]
        # Errors about columns of one name must not name them where the first line, or the only one, is a record.
        named = bool(below) and not like_a_record(names, values)
        if len(set(names)) < len(names) and not named:
            raise FileError(
                f"{self.path}: its first line has a cell twice and looks like a record; put a line with names above it"
            )
        if (
            separator != detected
            and len(names) == 1
            and len(_records(text, detected, quote, whole)[0]) > 1
        ):
            raise FileError(
                f"{self.path} has one column with separator {separator!r}, and its header contains {detected!r}; "
                f"give separator={detected!r}, or leave it out"
            )
        if self.separator is None and len(names) == 1:
            self._refuse_title(text, quote, whole)
        return _Dialect(encoding, separator, quote, line_end, names, named)

    def _refuse_title(self, text: str, quote: str, whole: bool) -> None:
        """Refuse a file that looks like one column because a line of something else stands above the header."""
        for separator in SEPARATORS:
            widths = [len(record) for record in _records(text, separator, quote, whole)[1:]]
            if len(widths) > 1 and min(widths) == max(widths) > 1:
                raise FileError(
                    f"{self.path}: its first line has one field and those below have {widths[0]} with separator {separator!r}; "
                    "delete what stands above the names of the columns, or give the separator if it is one column"
                )

    def _read(self, dialect: _Dialect, columns: list[str] | None) -> pl.DataFrame:
        wanted = _chosen(self.path, dialect.names, columns, named=dialect.named)
        utf8 = codecs.lookup(dialect.encoding).name in ("utf-8", "utf-8-sig")
        lines = max(self.head.count(dialect.line_end.encode()), 1)
        rows = self.size * lines // len(self.head)
        _afford(self.path, (2 if utf8 else 4) * self.size + rows * len(wanted) * _CELL)
        if dialect.encoding in _GUESSES and self.encoding is None:
            self._refuse_mixed()
        source = self.path if utf8 else self._as_utf8(dialect)
        if (line := _nul(source)) is not None:
            raise FileError(
                f"{self.path}: line {line} has a NUL character, so that it is damaged or not text; write it again"
            )
        # Polars checks the number of fields only where it reads all of them, and takes what is missing at a line's end for
        # missing values. So lines are counted here if columns are left out, and if the last column has missing values.
        some = len(wanted) < dialect.width and _plain(source, dialect)
        try:
            frame = pl.read_csv(
                source if isinstance(source, bytes) else str(source),
                separator=dialect.separator,
                quote_char=dialect.quote or None,
                columns=[dialect.names.index(name) for name in wanted] if some else None,
                eol_char=dialect.line_end,
                infer_schema=False,
                glob=False,
            )
        except (
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
            OSError,
        ) as error:  # its text may have cells
            if str(error).startswith("invalid utf-8"):
                raise UnicodeError from None
            self._blank_lines(dialect)  # names the line, if it finds it
            raise self._unpaired() from None
        if dialect.quote:  # Polars leaves doubled quotes in the header as they are
            frame.columns = [
                name.replace(dialect.quote * 2, dialect.quote) for name in frame.columns
            ]
        if frame.columns != (wanted if some else dialect.names):
            raise FileError(
                f"{self.path}: its first line is not a line of column names; give separator and quote"
            )
        unsure = some or (dialect.width > 1 and frame[:, -1].null_count() > 0)
        if unsure and not (_plain(source, dialect) and _regular(source, dialect)):
            frame = frame.head(frame.height - self._blank_lines(dialect))
        return frame[wanted]  # select would take the name '*' for all columns

    def _refuse_mixed(self) -> None:
        """Refuse a file that is not UTF-8 and yet has such characters: it is put together from several encodings."""
        with _mapped(self.path) as content:
            place = mixed(content)
            if place is None:
                return
            line = content[:place].count(b"\n") + 1
        raise FileError(
            f"{self.path} mixes encodings: line {line} has UTF-8, and line {self._undecodable('utf-8')} something else; "
            "save all of it as UTF-8, or give the encoding if it has only one"
        )

    def _as_utf8(self, dialect: _Dialect) -> bytes:
        """The file's content as UTF-8, which is what Polars reads."""
        made = io.BytesIO()
        decoder = codecs.getincrementaldecoder(dialect.encoding)()
        with open(self.path, "rb") as file:
            while block := file.read(1 << 24):
                made.write(decoder.decode(block).encode())
        made.write(decoder.decode(b"", final=True).encode())
        return made.getvalue()

    def _blank_lines(self, dialect: _Dialect) -> int:
        """How many empty lines end the file; FileError with the line's number where one has not the header's width."""
        blank, last, header = 0, 0, True
        limit = csv.field_size_limit(_LONGEST)
        try:
            with open(self.path, encoding=dialect.encoding, newline="") as file:
                reader = _reader(file, dialect.separator, dialect.quote, strict=True)
                for record in reader:
                    first, last = last + 1, reader.line_num
                    if not record:
                        blank += 1
                    elif blank and not header:
                        raise self._ragged(first - blank, 0, dialect)
                    elif len(record) != dialect.width:
                        raise self._ragged(first, len(record), dialect)
                    else:
                        blank, header = 0, False
        except csv.Error:
            raise self._unpaired(f"line {last + 1}: ") from None
        finally:
            csv.field_size_limit(limit)
        return blank

    def _ragged(self, line: int, fields: int, dialect: _Dialect) -> FileError:
        return FileError(
            f"{self.path}: line {line} has {fields or 'no'} field{'' if fields == 1 else 's'} and the header {dialect.width}; "
            f"correct the line (a value that contains {dialect.separator!r} must be quoted)"
        )

    def _unpaired(self, where: str = "") -> FileError:
        return FileError(
            f"{self.path}: {where}quotes do not pair up; quote whole values and double the quotes inside, "
            "or give quote='' if the file quotes nothing"
        )

    def _undecodable(self, encoding: str) -> int:
        """The number of the first line that an encoding does not fit."""
        line, decoder = 1, codecs.getincrementaldecoder(encoding)()
        with open(self.path, "rb") as file:
            for number, raw in enumerate(file, 1):
                line = number
                try:
                    decoder.decode(raw)
                except UnicodeError:
                    break
        return line


def _quote(text: str) -> str:
    """The apostrophe if fields are quoted by it and it occurs nowhere else, else the usual quote."""
    return "'" if "'" in text and '"' not in text and "'" not in _APOSTROPHES.sub("", text) else '"'


def _separator(text: str, quote: str, whole: bool) -> str:
    """The separator that splits most records into as many fields as the header, and the header into most."""

    def fit(separator: str) -> tuple[bool, float, int]:
        records = _records(text, separator, quote, whole)
        width = len(records[0])
        alike = sum(len(record) == width for record in records) / len(records)
        return width > 1 and alike > 0.5, alike, width

    return max((separator for separator in SEPARATORS if separator != quote), key=fit)


def _records(text: str, separator: str, quote: str, whole: bool) -> list[list[str]]:
    """The first records of a text; the last one it has may be cut unless the text is the whole file."""
    limit = csv.field_size_limit(_LONGEST)
    try:
        found = list(islice(_reader(io.StringIO(text, newline=""), separator, quote), _SNIFFED + 1))
    finally:
        csv.field_size_limit(limit)
    if len(found) > 1 and not (whole and len(found) <= _SNIFFED):
        found.pop()
    return [record for record in found if record]


def _reader(lines: Iterable[str], separator: str, quote: str, *, strict: bool = False) -> Any:
    if quote:
        return csv.reader(lines, delimiter=separator, quotechar=quote, strict=strict)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)


def _plain(source: Path | bytes, dialect: _Dialect) -> bool:
    """Whether nothing is quoted, so that every separator and line end is one."""
    quote = dialect.quote.encode()
    if not quote or isinstance(source, bytes):
        return not quote or quote not in cast(bytes, source)
    with _mapped(source) as content:
        return content.find(quote) < 0


def _nul(source: Path | bytes) -> int | None:
    """The line of the first NUL character, None if there is none."""
    with nullcontext(source) if isinstance(source, bytes) else _mapped(source) as content:
        place = content.find(b"\0")
        return None if place < 0 else content[:place].count(b"\n") + 1


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        yield content


def _regular(source: Path | bytes, dialect: _Dialect) -> bool:
    """Whether every line of a file without quotes has as many fields as the header."""
    data: npt.NDArray[np.uint8]
    data = (
        np.frombuffer(source, dtype=np.uint8)
        if isinstance(source, bytes)
        else np.memmap(source, dtype=np.uint8, mode="r")
    )
    start, inner, end = 0, dialect.width - 1, ord(dialect.line_end)
    while start < len(data):
        block = data[start : start + _BLOCK]
        ends = np.flatnonzero(block == end)
        if start + _BLOCK >= len(data) and block[-1] != end:
            ends = np.append(ends, len(block))
        if not len(ends):
            return False  # one very long line: let the slower way decide
        separators = np.flatnonzero(block[: ends[-1]] == ord(dialect.separator))
        if len(separators) != len(ends) * inner:
            return False
        by_line = separators.reshape(-1, inner)
        if (by_line[:, -1] > ends).any() or (by_line[1:, 0] < ends[:-1]).any():
            return False
        start += int(ends[-1]) + 1
    return True
