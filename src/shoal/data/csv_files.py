"""Tables in CSV files: how a file is written is found out, and then it is read, or written.

Uses `disk`, `frames`, `free_memory`, `names`, `runs` and `spreadsheets`; `files` uses it. What
values are is never guessed: they stay the texts they are, and a column's declared type says how
they compare.
Separator, quotes and encoding are looked for in the beginning of the file unless they are given.
"""

import codecs
import csv
import io
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.counts import smallest
from shoal.data import free_memory
from shoal.data.disk import GUESSES, encodings, mixed, require_encoding
from shoal.data.frames import CodedRows, CodedValues, RowsWithCounts, numbered_texts
from shoal.data.names import like_a_record, require_names
from shoal.data.read_tables import times_as_text
from shoal.data.runs import run_starts
from shoal.data.spreadsheets import texts_of
from shoal.errors import ColumnError, FileError, ParameterError, listed, plural

__all__ = [
    "HEAD",
    "SEPARATORS",
    "CsvFile",
    "CsvOptions",
    "Dialect",
    "require_to_read",
    "wanted_names",
    "write_csv",
]

SEPARATORS = (",", ";", "\t", "|")

HEAD = 1 << 18
"""Bytes of a file that are looked at before anything is decided."""

# Bytes checked at a time: they stay in the processor's cache.
_BLOCK = 1 << 18
# Bytes decoded at a time.
_DECODED = 1 << 24
# Characters of a field.
_LONGEST = 1 << 30
# Records that separators are tried on.
_SNIFFED = 100
# Bytes of a file from which it pays to code columns while they are read.
_WORTHWHILE = HEAD
# Places of a file whose lines are looked at for that, bytes of each, and from one to the next.
_PARTS = 256
_PART = 1 << 10
_EVERY = 1 << 14
# Bytes at each place in which quotes are looked for: a file that has any is not read in this way.
_UNQUOTED = 1 << 12
# Lines for each value of a column of few values.
_REPEATED = 8
# Texts that Polars numbers with one byte, with one number left for missing values.
_IN_A_BYTE = 254
# Columns whose codes are made at the same time.
_THREADS = 2
# Rows from which it may pay to look for those that are the same as the one before, and different
# ones that are written at a time.
_RUNS = 10_000
# Times below which copying the line of a row does not pay.
_RARELY = 4
# Copies of a line that are written at a time.
_COPIES = 10_000

_MARKUP = re.compile(
    r'\s*(?:\[\s*(?:[\[{"]|\])|\{\s*["}]|<(?:\?xml|!doctype|[a-z][^>]*>\s*<))', re.I
)
"""How JSON and XML begin, whose first line would be shown as names of columns."""

_BETWEEN = r"(?:[,;\t|\r\n]|\Z)"
# It begins with the apostrophe, which is found faster than what may stand before it.
_APOSTROPHES = re.compile(rf"'(?:(?<=[,;\t|\r\n]')|(?<!.'))(?:[^']|'')*'(?={_BETWEEN})", re.DOTALL)

Source = Path | bytes
"""The file itself where it is UTF-8, else its content as such."""


Made = TypeVar("Made")


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is to be read, as far as the caller says; None is found out.

    quote: "" if nothing is quoted
    """

    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.separator in ("tab", "\\t"):
            object.__setattr__(self, "separator", "\t")
        _require_character("separator", self.separator, "one ASCII character")
        _require_character("quote", self.quote or None, "one ASCII character or none")
        if self.separator is not None and self.separator == self.quote:
            raise ParameterError(
                f"`separator` and `quote` are both {self.quote!r}", "give different ones"
            )
        if self.encoding is not None:
            require_encoding(self.encoding)

    def __bool__(self) -> bool:
        """Whether anything is given."""
        return bool(self.separator or self.quote or self.encoding)


def _require_character(option: str, given: str | None, wanted: str) -> None:
    if given is None or (len(given) == 1 and given.isascii() and given not in "\r\n"):
        return
    fix = f"it takes {wanted}"
    raise ParameterError("cannot be used", fix, option=option, given=repr(given))


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; `quote` is "" where nothing is quoted.

    named: whether the first line is one of names, and not a record
    """

    encoding: str
    separator: str
    quote: str
    line_end: str
    names: list[str]
    named: bool

    @property
    def width(self) -> int:
        return len(self.names)

    def for_polars(self, *, quoted: bool = True) -> dict[str, Any]:
        """The options by which Polars reads such a file, all values as texts.

        quoted: whether a value may be in quotes
        """
        quote = self.quote if quoted else ""
        return {
            "separator": self.separator,
            "quote_char": quote or None,
            "eol_char": self.line_end,
            "infer_schema": False,
        }


@dataclass(frozen=True)
class _Sample:
    """The beginning of a CSV file as text; `whole` if that is all of it."""

    text: str
    quote: str
    whole: bool

    def records(self, separator: str) -> list[list[str]]:
        """The first records; the last one may be cut off unless the sample is the whole file."""
        lines = io.StringIO(self.text, newline="")
        with _long_fields():
            records = list(islice(_reader(lines, separator, self.quote), _SNIFFED + 1))
        complete = self.whole and len(records) <= _SNIFFED
        if len(records) > 1 and not complete:
            records.pop()
        return [record for record in records if record]

    def first_line(self, separator: str) -> str:
        """The first record as it is written, with its line end; a quoted name may have some."""
        taken: list[str] = []

        def noted() -> Iterator[str]:
            for line in io.StringIO(self.text, newline=""):
                taken.append(line)
                yield line

        with _long_fields():
            next(_reader(noted(), separator, self.quote))
        return "".join(taken)

    def separator(self) -> str:
        """The separator that fits most records to the header, and splits the header most."""

        def fit(separator: str) -> tuple[bool, float, int]:
            records = self.records(separator)
            width = len(records[0])
            alike = sum(len(record) == width for record in records) / len(records)
            return width > 1 and alike > 0.5, alike, width

        return max((mark for mark in SEPARATORS if mark != self.quote), key=fit)


@dataclass(frozen=True)
class CsvFile:
    """One CSV file on its way to a dataframe: where it lies, its beginning, and its size.

    content: what it holds where the path does not, since that is compressed, or a stream
    """

    path: Path
    head: bytes
    size: int
    options: CsvOptions
    content: bytes | None = None

    @property
    def _own(self) -> Source:
        return self.path if self.content is None else self.content

    def _opened(self) -> IO[bytes]:
        return open(self.path, "rb") if self.content is None else io.BytesIO(self.content)

    def read(self, columns: list[str] | None) -> pl.DataFrame:
        """The dataframe, all texts, by the first encoding that the whole file agrees with."""
        return self._by_encoding(lambda encoding: self._read(self._dialect(encoding), columns))

    def read_coded(
        self, columns: list[str] | None, expected: Mapping[str, Sequence[str]] | None = None
    ) -> pl.DataFrame | CodedRows:
        """The same rows, columns of few values coded while they are read where that is faster.

        expected: texts that columns are declared to have, which makes it faster still
        """

        def rows(encoding: str) -> pl.DataFrame | CodedRows:
            dialect = self._dialect(encoding)
            coded = self._coded(dialect, columns, expected or {})
            return self._read(dialect, columns) if coded is None else coded

        return self._by_encoding(rows)

    def _by_encoding(self, made: Callable[[str], Made]) -> Made:
        """What is made by the first encoding that fits."""
        declared = self.options.encoding
        tried = [declared] if declared else encodings(self.head)
        for encoding in tried:
            try:
                return made(encoding)
            except UnicodeError:
                continue
        line = self._undecodable(tried[-1])
        raise FileError(
            f"{self.path} is not {tried[-1]} text: line {line} has other bytes",
            "give its encoding, such as `encoding='cp1252'`",
        )

    def scan(self, columns: list[str] | None) -> pl.LazyFrame:
        """The same rows, to be read in streams; the file must be UTF-8.

        It is looked through once or twice, so that what is wrong with it is said beforehand.
        """
        encoding = self.options.encoding or "utf-8-sig"
        if not _is_utf8(encoding) or self._undecodable_block(encoding):
            raise FileError(
                f"{self.path} is not UTF-8, as a streamed file has to be",
                "convert it to UTF-8, or to Parquet",
            )
        dialect = self._dialect(encoding)
        wanted = wanted_names(self.path, dialect.names, columns, named=dialect.named)
        self._refuse_nul(self.path)
        lazy = pl.scan_csv(
            self.path,
            glob=False,
            with_column_names=lambda _: dialect.names,
            **dialect.for_polars(),
        )
        lazy = lazy.head(self._rows(lazy, dialect))
        return lazy.select(pl.selectors.by_name(wanted))

    def _rows(self, lazy: pl.LazyFrame, dialect: Dialect) -> int:
        """The number of records, without empty lines at the end; FileError if lines differ."""
        try:
            # Of all columns, or Polars would not look at the number of fields.
            missing = pl.all().null_count().name.prefix("missing ")
            counted = lazy.select(pl.len(), missing)
            rows, *_, empty = counted.collect(engine="streaming").row(0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            # This names the line, if it finds it.
            self._blank_lines(dialect)
            raise self._unpaired() from None
        unsure = dialect.width > 1 and empty
        if unsure and not (_is_plain(self.path, dialect) and _is_regular(self.path, dialect)):
            rows -= self._blank_lines(dialect)
        return int(rows)

    def _undecodable_block(self, encoding: str) -> bool:
        """Whether an encoding does not fit, faster than line by line."""
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with self._opened() as file:
                while block := file.read(_DECODED):
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return True
        return False

    def write_named(self, names: Sequence[str], file: IO[bytes], *, instead: bool) -> None:
        """Write the same records below a line with these names, in UTF-8, some at a time.

        instead: the names take the place of the first line; otherwise they go above it, since that
        is a record
        """
        dialect = self.dialect()
        if len(names) != dialect.width:
            raise ColumnError(
                f"{plural(len(names), 'name')} for {plural(dialect.width, 'column')}",
                "give one for each",
                where=str(self.path),
            )
        require_names(names, str(self.path))
        for place, name in enumerate(names, 1):
            if not dialect.quote and dialect.separator in name:
                raise ColumnError(
                    f"the name of column {place} has the separator in it", "use another one"
                )
            if not name.isprintable():
                raise ColumnError(f"the name of column {place} has a line end", "leave it out")
        sample, _ = self._sample(dialect.encoding)
        file.write(_line(names, dialect).encode())
        skipped = len(sample.first_line(dialect.separator)) if instead else 0
        with io.TextIOWrapper(self._opened(), dialect.encoding, newline="") as text:
            # What comes before the first record: a mark of the encoding, and empty lines.
            beginning = text.read(HEAD)
            rest = beginning.lstrip("\r\n\ufeff")[skipped:]
            while rest:
                file.write(rest.encode())
                rest = text.read(_DECODED)

    # Finding out how it is written

    def dialect(self, *, whole: bool = True) -> Dialect:
        """How the file seems to be written, whatever is wrong with its names.

        whole: whether all of it has to agree with the encoding, or only its beginning
        """

        def found(encoding: str) -> Dialect:
            if whole and self._undecodable_block(encoding):
                raise UnicodeError
            return self._found(encoding)[0]

        return self._by_encoding(found)

    def require_dialect(self, encoding: str) -> None:
        """FileError if the beginning of the file cannot be a table in this encoding."""
        self._dialect(encoding)

    def _dialect(self, encoding: str) -> Dialect:
        """How it is written; FileError if it cannot be so."""
        dialect, sample, detected = self._found(encoding)
        # Errors about columns of one name must not name them where the first line, or the only one,
        # is a record.
        if len(set(dialect.names)) < dialect.width and not dialect.named:
            raise FileError(
                f"{self.path}: its first line has a cell twice and looks like a record",
                "put a line with names above it",
            )
        if dialect.width == 1:
            self._refuse_one_column(sample, dialect.separator, detected)
        return dialect

    def _found(self, encoding: str) -> tuple[Dialect, _Sample, str]:
        """How it is written, the sample that tells, and the separator that this would suggest."""
        sample, line_end = self._sample(encoding)
        detected = sample.separator()
        separator = self.options.separator or detected
        names, *below = sample.records(separator)
        values = [_column(below, place) for place in range(len(names))]
        named = bool(below) and not like_a_record(names, values)
        dialect = Dialect(encoding, separator, sample.quote, line_end, names, named)
        return dialect, sample, detected

    def _sample(self, encoding: str) -> tuple[_Sample, str]:
        """The beginning of the file up to the end of a line, and how lines end."""
        whole = len(self.head) == self.size
        decoder = codecs.getincrementaldecoder(encoding)()
        text = decoder.decode(self.head, final=whole).lstrip("\r\n\ufeff")
        if _MARKUP.match(text):
            raise FileError(
                f"{self.path} is JSON or XML",
                "save the table as CSV or Parquet; of JSON lines, the name ends in .jsonl",
            )
        line_end = "\r" if "\r" in text and "\n" not in text else "\n"
        if not whole:
            text = text[: text.rfind(line_end) + 1]
        if not text.strip():
            raise FileError(
                f"{self.path}: no line ends in its first {HEAD // 1024} KB", "is it a CSV file?"
            )
        quote = _quote(text) if self.options.quote is None else self.options.quote
        return _Sample(text, quote, whole), line_end

    def _refuse_one_column(self, sample: _Sample, separator: str, detected: str) -> None:
        """Refuse what looks like one column and is not."""
        if separator != detected and len(sample.records(detected)[0]) > 1:
            raise FileError(
                f"{self.path} has one column with separator {separator!r}, and its header contains "
                f"{detected!r}",
                f"give `separator={detected!r}`, or leave it out",
            )
        if self.options.separator is not None:
            return
        # A line of something else may stand above the header.
        for mark in SEPARATORS:
            widths = [len(record) for record in sample.records(mark)[1:]]
            if len(widths) > 1 and min(widths) == max(widths) > 1:
                raise FileError(
                    f"{self.path}: its first line has one field and those below have {widths[0]} "
                    f"with separator {mark!r}",
                    "delete what is above the names of the columns, or give the separator if "
                    "it is one column",
                )

    # Reading

    def _read(self, dialect: Dialect, columns: list[str] | None) -> pl.DataFrame:
        wanted = wanted_names(self.path, dialect.names, columns, named=dialect.named)
        source = self._source(dialect, len(wanted))
        # Polars checks the number of fields only where it reads all of them, and takes what is
        # missing at a line's end for missing values. So lines are counted here if columns are left
        # out, and if the last column has missing values.
        partial = len(wanted) < dialect.width and _is_plain(source, dialect)
        frame = self._parsed(source, dialect, wanted if partial else None)
        unsure = partial or (dialect.width > 1 and frame[:, -1].null_count() > 0)
        if unsure and not (_is_plain(source, dialect) and _is_regular(source, dialect)):
            frame = frame.head(frame.height - self._blank_lines(dialect))
        # `select` would take the name '*' for all columns.
        return frame[wanted]

    def _source(self, dialect: Dialect, columns: int) -> Source:
        """What Polars reads, which is UTF-8, after a look at what would go wrong with it."""
        self._require_to_read(dialect, columns)
        if dialect.encoding in GUESSES and self.options.encoding is None:
            self._refuse_mixed()
        source = self._own if _is_utf8(dialect.encoding) else self._as_utf8(dialect)
        self._refuse_nul(source)
        return source

    def _require_to_read(self, dialect: Dialect, columns: int) -> None:
        lines = max(self.head.count(dialect.line_end.encode()), 1)
        rows = self.size * lines // len(self.head)
        copies = 2 if _is_utf8(dialect.encoding) else 4
        require_to_read(self.path, copies * self.size + rows * columns * free_memory.CELL)

    # Coding while reading

    def _coded(
        self,
        dialect: Dialect,
        columns: list[str] | None,
        expected: Mapping[str, Sequence[str]],
    ) -> CodedRows | None:
        """The rows, columns of few values coded while Polars reads them.

        None if that does not pay, and if anything is unusual: quotes, damage, lines of different
        lengths. Then the file is to be read in the usual way, which says what is wrong with it.
        """
        wanted = wanted_names(self.path, dialect.names, columns, named=dialect.named)
        large = self.size > _WORTHWHILE and _is_utf8(dialect.encoding)
        few = self._few(dialect) if large and len(wanted) == dialect.width else {}
        if not few:
            return None
        self._require_to_read(dialect, dialect.width)
        closed = {}
        for name in few.keys() & expected.keys():
            texts = {*few[name], *expected[name]}
            if len(texts) <= _IN_A_BYTE:
                closed[name] = sorted(texts)
        # It fails at the first text that was not expected.
        coded = self._coded_by(dialect, few, closed) if closed else None
        return self._coded_by(dialect, few, {}) if coded is None else coded

    def _coded_by(
        self,
        dialect: Dialect,
        few: Mapping[str, list[str]],
        closed: Mapping[str, list[str]],
    ) -> CodedRows | None:
        """The rows, with codes of columns of few values.

        closed: all texts of some of these columns, sorted; a text of the others is numbered when
            it first comes, which takes longer
        """
        # Polars reads numbers of two bytes faster than those of four. It fails if they run out.
        tables = {
            name: pl.Categories.random(physical=pl.UInt16) for name in few if name not in closed
        }
        # Texts are numbered in the order in which they come: those known already come sorted, so
        # that most columns have codes in the right order. A table lasts as long as its columns.
        known = [pl.Series(few[name], dtype=pl.Categorical(tables[name])) for name in tables]
        types: dict[str, pl.Categorical | pl.Enum] = {}
        for name in few:
            types[name] = pl.Enum(closed[name]) if name in closed else pl.Categorical(tables[name])
        frame = self._categorical(dialect, types)
        if frame is None:
            return None
        numbered = {name: numbered_texts(table) for name, table in tables.items()}
        texts = {name: closed.get(name, numbered.get(name, [])) for name in few}
        every_text = "\n".join(map("\n".join, texts.values()))
        if "\0" in every_text or (dialect.quote and dialect.quote in every_text):
            return None
        if dialect.width > 1 and frame[:, -1].null_count() and not _is_regular(self.path, dialect):
            return None
        del known
        return CodedRows.of(frame, _codes(frame, texts))

    def _few(self, dialect: Dialect) -> dict[str, list[str]]:
        """The columns that seem to have few values, and some of these in their order.

        They are found by lines from all over the file. There are no such columns if a value is
        quoted: Polars reads such categories in another way than texts.
        """
        lines = self._scattered_lines(dialect)
        if not lines:
            return {}
        try:
            sample = pl.read_csv(lines, has_header=False, **dialect.for_polars(quoted=False))
        except pl.exceptions.PolarsError:
            return {}
        if sample.width != dialect.width:
            return {}
        most = sample.height // _REPEATED
        few = {}
        for name, column in zip(dialect.names, sample.get_columns(), strict=True):
            values = column.unique()
            if len(values) <= most:
                few[name] = sorted(values.drop_nulls())
        if not few or len(few) == dialect.width:
            return few
        # The texts of the other columns will not be looked at.
        is_sound = _is_plain(self.path, dialect) and _line_with_nul(self.path) is None
        return few if is_sound else {}

    def _scattered_lines(self, dialect: Dialect) -> bytes:
        """Some lines from places all over the file; none if there are quotes near them."""
        end, quote = dialect.line_end.encode(), dialect.quote.encode()
        parts = min(self.size // _EVERY + 1, _PARTS)
        with _mapped(self.path) as content:
            starts = range(0, self.size, self.size // parts + 1)
            pieces = [content[start : start + _UNQUOTED] for start in starts]
        if quote and any(quote in piece for piece in (self.head, *pieces)):
            return b""
        # The first line of a piece and its last one are cut off.
        pieces = [piece[:_PART] for piece in pieces]
        return b"".join(piece[piece.find(end) + 1 : piece.rfind(end) + 1] for piece in pieces)

    def _categorical(
        self, dialect: Dialect, types: Mapping[str, pl.Categorical | pl.Enum]
    ) -> pl.DataFrame | None:
        """What Polars reads if nothing is quoted, some columns as categories; None if it fails."""
        try:
            frame = pl.read_csv(
                str(self.path),
                schema_overrides=types,
                glob=False,
                **dialect.for_polars(quoted=False),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            return None
        return frame if frame.columns == dialect.names else None

    def _refuse_nul(self, source: Source) -> None:
        line = _line_with_nul(source)
        if line is not None:
            raise FileError(
                f"{self.path}: line {line} has a NUL character, so that it is damaged or not text",
                "write it again",
            )

    def _parsed(
        self, source: Source, dialect: Dialect, columns: Sequence[str] | None
    ) -> pl.DataFrame:
        """What Polars reads of it, all columns or some."""
        places = None
        if columns is not None:
            places = [dialect.names.index(name) for name in columns]
        try:
            frame = pl.read_csv(
                source if isinstance(source, bytes) else str(source),
                columns=places,
                glob=False,
                **dialect.for_polars(),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            # Its text may have cells, and is not shown.
            if str(error).startswith("invalid utf-8"):
                raise UnicodeError from None
            # This names the line, if it finds it.
            self._blank_lines(dialect)
            raise self._unpaired() from None
        if dialect.quote:
            # Polars leaves doubled quotes in the header unchanged.
            doubled = dialect.quote * 2
            frame.columns = [name.replace(doubled, dialect.quote) for name in frame.columns]
        if frame.columns != (dialect.names if columns is None else columns):
            raise FileError(
                f"{self.path}: its first line is not a line of column names",
                "give `separator` and `quote`",
            )
        return frame

    def _refuse_mixed(self) -> None:
        """Refuse a file that is not UTF-8 and yet has such characters: it mixes encodings."""
        with _content(self._own) as content:
            place = mixed(content)
            if place is None:
                return
            line = content[:place].count(b"\n") + 1
        other = self._undecodable("utf-8")
        raise FileError(
            f"{self.path} mixes encodings: line {line} has UTF-8, and line {other} something else",
            "save all of it as UTF-8, or give the encoding if it has only one",
        )

    def _as_utf8(self, dialect: Dialect) -> bytes:
        """The file's content as UTF-8."""
        converted = io.BytesIO()
        decoder = codecs.getincrementaldecoder(dialect.encoding)()
        with self._opened() as file:
            while block := file.read(_DECODED):
                converted.write(decoder.decode(block).encode())
        converted.write(decoder.decode(b"", final=True).encode())
        return converted.getvalue()

    def _blank_lines(self, dialect: Dialect) -> int:
        """How many empty lines end the file; FileError names a line without the header's width."""
        blank, last, header = 0, 0, True
        try:
            lines = io.TextIOWrapper(self._opened(), dialect.encoding, newline="")
            with _long_fields(), lines as file:
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
        return blank

    def _ragged(self, line: int, fields: int, dialect: Dialect) -> FileError:
        number = plural(fields, "field") if fields else "no fields"
        return FileError(
            f"{self.path}: line {line} has {number} and the header {dialect.width}",
            f"correct the line (a value that contains {dialect.separator!r} must be quoted)",
        )

    def _unpaired(self, where: str = "") -> FileError:
        return FileError(
            f"{self.path}: {where}quotes do not pair up",
            "quote whole values and double the quotes inside, or give `quote=''` if the file "
            "quotes nothing",
        )

    def _undecodable(self, encoding: str) -> int:
        """The number of the first line that an encoding does not fit."""
        line, decoder = 1, codecs.getincrementaldecoder(encoding)()
        with self._opened() as file:
            for number, raw in enumerate(file, 1):
                line = number
                try:
                    decoder.decode(raw)
                except UnicodeError:
                    break
        return line


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def wanted_names(
    path: Path, names: Sequence[str], columns: list[str] | None, *, named: bool = True
) -> list[str]:
    """The columns of a file to read, in the file's order.

    named: whether the names are names for sure, and not values; only then errors list them
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        # By their places: a line that is taken for names may be a record.
        places = [place for place, name in enumerate(names, 1) if name == repeated[0]]
        raise ColumnError(
            f"columns {places[0]} and {places[1]} have the same name", "rename one", where=str(path)
        )
    require_names(names, str(path))
    damaged = [place for place, name in enumerate(names, 1) if "\0" in name]
    if damaged:
        raise ColumnError(
            f"{path}: the name of column {damaged[0]} has a NUL character", "rename it"
        )
    if columns is None:
        return list(names)
    unknown = [name for name in columns if name not in names]
    if unknown:
        known = f"it has {listed(names)}" if named else ""
        raise ColumnError(f"{path} has no column {listed(unknown)}", known)
    if not columns:
        raise ParameterError("`columns` is empty", "name at least one, or leave it out to read all")
    return [name for name in names if name in columns]


def require_to_read(path: Path, needed: int) -> None:
    """Raise TooLargeError if reading a file needs more memory than there is."""
    remedy = "read fewer columns with `columns`, or use a larger machine"
    free_memory.require(needed, f"reading {path}", remedy)


def _column(records: Sequence[Sequence[str]], place: int) -> list[str]:
    return [record[place] for record in records if place < len(record)]


def _codes(frame: pl.DataFrame, texts: Mapping[str, Sequence[str]]) -> dict[str, CodedValues]:
    """Codes of categorical columns by the order of their texts, given these by their numbers."""
    columns = [frame[name].to_physical() for name in texts]
    with ThreadPoolExecutor(_THREADS) as threads:
        coded = threads.map(_coded_values, columns, texts.values())
        return dict(zip(texts, coded, strict=True))


def _coded_values(numbers: pl.Series, texts: Sequence[str]) -> CodedValues:
    """Codes by the order of texts that occur, given these by their numbers; missing values last."""
    missing = numbers.null_count() > 0
    if missing:
        numbers = numbers.fill_null(len(texts))
    given = numbers.to_numpy()
    occurring = texts
    if given.dtype == np.uint8:
        # Texts may be declared and not occur. Searching bytes is the fastest way to find out.
        content = given.tobytes()
        occurring = [text for number, text in enumerate(texts) if number in content]
    values: list[object] = [*sorted(occurring)]
    kind = smallest(len(values) + 1)
    if not missing and values == texts:
        return given.astype(kind, copy=False), values
    place = {text: code for code, text in enumerate(values)}
    table = np.array([*(place.get(text, 0) for text in texts), len(values)], dtype=kind)
    # Nothing is out of bounds, and without a look at them this is faster.
    codes = table.take(given, mode="clip")
    return codes, [*values, None] if missing else values


def _quote(text: str) -> str:
    """The apostrophe if it quotes fields and occurs nowhere else, else the usual quote."""
    if "'" not in text or '"' in text:
        return '"'
    return '"' if "'" in _APOSTROPHES.sub("", text) else "'"


@contextmanager
def _long_fields() -> Iterator[None]:
    """Within the block, Python's reader takes fields of any length."""
    limit = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _reader(lines: Iterable[str], separator: str, quote: str, *, strict: bool = False) -> Any:
    if quote:
        return csv.reader(lines, delimiter=separator, quotechar=quote, strict=strict)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)


def _line(names: Sequence[str], dialect: Dialect) -> str:
    """A line of names as the file would have it."""
    text = io.StringIO()
    options: dict[str, Any] = {"quotechar": dialect.quote}
    if not dialect.quote:
        options = {"quoting": csv.QUOTE_NONE}
    writer = csv.writer(
        text, delimiter=dialect.separator, lineterminator=dialect.line_end, **options
    )
    writer.writerow(names)
    return text.getvalue()


def _is_plain(source: Source, dialect: Dialect) -> bool:
    """Whether nothing is quoted, so that every separator and line end is one."""
    quote = dialect.quote.encode()
    if not quote:
        return True
    with _content(source) as content:
        return content.find(quote) < 0


def _line_with_nul(source: Source) -> int | None:
    """The line of the first NUL character, None if there is none."""
    with _content(source) as content:
        place = content.find(b"\0")
        return None if place < 0 else content[:place].count(b"\n") + 1


def _content(source: Source) -> "nullcontext[bytes] | Any":
    return nullcontext(source) if isinstance(source, bytes) else _mapped(source)


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        yield content


def _is_regular(source: Source, dialect: Dialect) -> bool:
    """Whether every line of a file without quotes has as many fields as the header."""
    data = _bytes(source)
    inner, end = dialect.width - 1, ord(dialect.line_end)
    start = 0
    while start < len(data):
        block = data[start : start + _BLOCK]
        ends = np.flatnonzero(block == end)
        if start + _BLOCK >= len(data) and block[-1] != end:
            ends = np.append(ends, len(block))
        if not len(ends):
            # One very long line: let the slower way decide.
            return False
        separators = np.flatnonzero(block[: ends[-1]] == ord(dialect.separator))
        if len(separators) != len(ends) * inner:
            return False
        by_line = separators.reshape(-1, inner)
        first, last = by_line[:, 0], by_line[:, -1]
        if (last > ends).any() or (first[1:] < ends[:-1]).any():
            return False
        start += int(ends[-1]) + 1
    return True


def _bytes(source: Source) -> npt.NDArray[np.uint8]:
    if isinstance(source, bytes):
        return np.frombuffer(source, dtype=np.uint8)
    return np.memmap(source, dtype=np.uint8, mode="r")


# Writing


def write_csv(
    data: pl.DataFrame, file: IO[bytes], count: npt.NDArray[np.int64] | None = None
) -> None:
    """Write a dataframe as UTF-8 with commas; missing values are empty.

    With `count`, every row is written that often.
    """
    data = data.with_columns(pl.selectors.float().fill_nan(None))
    _require_writable(data)
    times = data.select(pl.selectors.datetime() | pl.selectors.time()).get_columns()
    data = data.with_columns([times_as_text(column) for column in times])
    if data.width == 1:
        # A missing value alone would be an empty line, which many readers skip.
        data = data.select(pl.all().cast(pl.String).fill_null(""))
    runs = _runs(data) if count is None else RowsWithCounts(data, count)
    if runs is None:
        data.write_csv(file)
        return
    data.clear().write_csv(file)
    for start in range(0, len(runs.count), _RUNS):
        some = slice(start, start + _RUNS)
        _write_runs(RowsWithCounts(runs.frame[some], runs.count[some]), file)


def _require_writable(data: pl.DataFrame) -> None:
    for name, dtype in data.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object):
            raise ColumnError(
                f"column {name!r} is of type {dtype}, which CSV cannot hold", "convert it to text"
            )
    for column in texts_of(data):
        # Without its name: one such as "^a$" would be read as a pattern.
        if column.alias("").str.contains("\0", literal=True).any():
            raise ColumnError(
                f"column {column.name!r} has a text with a NUL character, which CSV cannot hold",
                "remove it",
            )


def _runs(data: pl.DataFrame) -> RowsWithCounts | None:
    """The rows that differ from the one before, and how often each is repeated.

    None where looking for them does not pay.
    """
    # Floats that are equal may have different texts.
    kinds = {pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Boolean}
    repeatable = all(dtype.is_integer() or dtype in kinds for dtype in data.dtypes)
    if data.height < _RUNS or not repeatable:
        return None
    starts = run_starts(data)
    if _RARELY * len(starts) > data.height:
        return None
    return RowsWithCounts(data[starts], np.diff(starts, append=data.height))


def _write_runs(runs: RowsWithCounts, file: IO[bytes]) -> None:
    """Write repeated rows by copying the line of each, if most are repeated.

    So it is in releases, whose rows are sorted.
    """
    lines: list[bytes] = []
    if _RARELY * len(runs.count) <= runs.count.sum():
        text = io.BytesIO()
        runs.frame.write_csv(text, include_header=False)
        lines = text.getvalue().splitlines(keepends=True)
    # Otherwise some value has line ends in it.
    if len(lines) == len(runs.count):
        for line, times in zip(lines, runs.count.tolist(), strict=True):
            whole, rest = divmod(times, _COPIES)
            if whole:
                # Not `writelines`, which those that compress may lack.
                copies = line * _COPIES
                for _ in range(whole):
                    file.write(copies)
            file.write(line * rest)
        return
    for part in runs.parts(_RUNS * _RARELY):
        part.repeated().write_csv(file, include_header=False)
