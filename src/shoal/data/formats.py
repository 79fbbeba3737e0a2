"""The formats of files with tables: what they are called, how their names end, and options.

Uses nothing; `recognising` finds out which one a file has, `files` reads and writes them, and the
workbench lists them.
"""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Literal, get_args

__all__ = [
    "BY_COLUMN",
    "FORMATS",
    "PACKINGS",
    "READING",
    "WRITTEN",
    "Format",
    "Labels",
    "ReadFormat",
    "UserMissing",
    "called",
    "ending",
    "format_named",
    "is_csv",
    "unpacked_format",
]

Format = Literal[
    "csv", "csv.gz", "csv.zst", "parquet", "arrow", "xlsx", "sav", "dta", "xpt", "jsonl"
]
"""A format that is written. A file of it is called by it: release.csv.gz."""

ReadFormat = (
    Format
    | Literal["stream", "xls", "xlsb", "ods", "zsav", "por", "sas7bdat", "jsonl.gz", "jsonl.zst"]
)
"""A format that is read; "stream" is one of Arrow batches, which is no file of them."""

WRITTEN: tuple[Format, ...] = get_args(Format)

FORMATS: Mapping[str, ReadFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xlsb": "xlsb",
    ".xls": "xls",
    ".ods": "ods",
    ".sav": "sav",
    ".zsav": "zsav",
    ".por": "por",
    ".dta": "dta",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv.gz": "csv.gz",
    ".tsv.gz": "csv.gz",
    ".txt.gz": "csv.gz",
    ".csv.zst": "csv.zst",
    ".tsv.zst": "csv.zst",
    ".txt.zst": "csv.zst",
    ".jsonl.gz": "jsonl.gz",
    ".ndjson.gz": "jsonl.gz",
    ".jsonl.zst": "jsonl.zst",
    ".ndjson.zst": "jsonl.zst",
}
"""How a file's name ends, and what it then is."""

PACKINGS: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}
"""How the name of a compressed file ends, and what compressed it."""

Labels = Literal["codes", "texts"]
"""Which side of a value label is read: 1, or "female"."""

UserMissing = Literal["missing", "values"]
"""What values are that a file declares to be missing."""

READING = (
    *("separator", "quote", "encoding", "sheet", "labels", "user_missing"),
    *("decimal", "thousands", "dates", "missing_texts"),
)
"""The options by name, as recipes and `read` spell them."""

BY_COLUMN = ("dates", "missing_texts")
"""Options that may be said of all columns, or of each by name."""

_CALLED: Mapping[str, str] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "stream": "Arrow",
    "xlsx": "Excel",
    "xlsb": "Excel",
    "xls": "old Excel",
    "ods": "OpenDocument",
    "sav": "SPSS",
    "zsav": "SPSS",
    "por": "portable SPSS",
    "dta": "Stata",
    "sas7bdat": "SAS",
    "xpt": "SAS transport",
    "jsonl": "JSON lines",
}


def ending(path: str | PathLike[str]) -> str:
    """How a file's name ends, as far as formats go by it.

    >>> ending("Visits 2.1.CSV.gz"), ending("people.dta"), ending("people")
    ('.csv.gz', '.dta', '')
    """
    # Only the last part of a path: a folder may have a dot too.
    name = fspath(path).replace("\\", "/").rpartition("/")[2].lower()
    stem, dot, last = name.rpartition(".")
    if not dot:
        return ""
    if f".{last}" in PACKINGS:
        _, inner_dot, inner = stem.rpartition(".")
        if inner_dot and f".{inner}.{last}" in FORMATS:
            return f".{inner}.{last}"
    return f".{last}"


def format_named(path: str | PathLike[str]) -> ReadFormat | None:
    """The format that a file's name says, None if it says none.

    >>> format_named("visits.csv.gz"), format_named("visits.dat")
    ('csv.gz', None)
    """
    return FORMATS.get(ending(path))


def called(form: str) -> str:
    """What a format is called in sentences.

    >>> called("dta"), called("csv.gz")
    ('Stata', 'CSV compressed with gzip')
    """
    inner, _, packing = form.partition(".")
    return _CALLED[inner] + (f" compressed with {PACKINGS[f'.{packing}']}" if packing else "")


def unpacked_format(form: str) -> str:
    """The format of what a compressed file holds; of another file, its own."""
    return form.partition(".")[0]


def is_csv(form: str) -> bool:
    """Whether a file is CSV, compressed or not."""
    return unpacked_format(form) == "csv"
