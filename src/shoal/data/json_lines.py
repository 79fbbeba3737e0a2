"""JSON lines: a file in which every line is one record. Uses Polars; `foreign` uses it."""

import io
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.csv_files import require_to_read, wanted_names
from shoal.data.read_tables import ReadTable, plain
from shoal.errors import ColumnError, FileError

__all__ = ["read_json_lines", "write_json_lines"]

# Bytes of memory for each byte of a file, while it is read.
_MEMORY = 4
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Whole numbers up to it are exact as floats.
_EXACT = 1 << 53


def read_json_lines(source: Path | bytes, path: Path, columns: list[str] | None) -> ReadTable:
    """The records of a file; a key that one of them lacks is missing there."""
    size = len(source) if isinstance(source, bytes) else path.stat().st_size
    require_to_read(path, _MEMORY * size)
    content = source if isinstance(source, bytes) else source.read_bytes()
    content = content.removeprefix(_BYTE_ORDER_MARK)
    try:
        frame = pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Its text may have a cell.
        raise FileError(
            f"{path} cannot be read as JSON lines: a line is not one JSON object, or a key has "
            "values of several types",
            "write one object per line, in UTF-8, and texts in quotes",
        ) from None
    wanted = wanted_names(path, frame.columns, columns)
    for name in wanted:
        if frame[name].dtype.is_nested():
            raise ColumnError(
                f"{path}: key {name!r} holds lists or objects", "write one value per key"
            )
    large = [name for name in wanted if _has_large_floats(frame[name])]
    _require_plain(content, path, large)
    frame = pl.DataFrame([plain(frame[name]) for name in wanted])
    return ReadTable(frame, frozenset(wanted))


def _has_large_floats(column: pl.Series) -> bool:
    return column.dtype.is_float() and bool((column.abs() >= _EXACT).any())


def _require_plain(content: bytes, path: Path, large: Collection[str]) -> None:
    """FileError if Polars would have read something else than a record says, without a word.

    large: keys with fractions and large numbers, of which whole ones may be rounded
    """

    def checked(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            raise _otherwise(path, "a record has the same key twice", "write it once")
        for key, value in pairs:
            if isinstance(value, str) and not value.isascii():
                # Half of a pair of escapes.
                value.encode()
            elif isinstance(value, int) and key in large and int(float(value)) != value:
                raise _otherwise(
                    path,
                    f"key {key!r} has fractions, and whole numbers of too many digits",
                    "write its values in quotes",
                )

    decoder = json.JSONDecoder(object_pairs_hook=checked)
    try:
        for line in content.splitlines():
            if line.strip():
                decoder.decode(line.decode())
    except UnicodeEncodeError:
        raise _otherwise(
            path, "a text has half of a character, such as \\ud83d alone", "write it in UTF-8"
        ) from None
    except (ValueError, RecursionError):
        raise _otherwise(path, "a line is not one JSON object", "write one per line") from None


def _otherwise(path: Path, what: str, fix: str) -> FileError:
    return FileError(f"{path}: {what}", fix)


def write_json_lines(frame: pl.DataFrame) -> bytes:
    """The bytes of a file with one line for every row."""
    file = io.BytesIO()
    frame.write_ndjson(file)
    return file.getvalue()
