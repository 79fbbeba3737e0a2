"""What a file is, by its first bytes: a wrong ending is an error, and never a wrong table.

Uses `formats` and `packed`; `files` asks it before anything is read.
"""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from shoal.data import packed
from shoal.data.formats import FORMATS, called, ending, format_named, unpacked_format
from shoal.errors import FileError

__all__ = ["recognise"]

_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"$FL2": "sav",
    b"$FL3": "zsav",
    b"<stata_dta>": "dta",
    b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00": "sas7bdat",
    b"HEADER RECORD*******LIB": "xpt",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "xls",
}
_ARROW_STREAM = b"\xff\xff\xff\xff"
_ZIP = b"PK\x03\x04"
_OLD_STATA = (105, 108, 110, 111, 112, 113, 114, 115)
"""The first byte of Stata's files before its release 13; then come byte order, 1, and 0."""

_PORTABLE = b"SPSS PORT FILE"
_FOREIGN = {
    b"\0" * 12 + b"\xc2\xea\x81\x63": (
        "a SAS catalogue of labels",
        "give the .sas7bdat that it belongs to",
    ),
    b"FEA1": ("in Feather's first version", "save it as Arrow or Parquet"),
    b"%PDF": ("a PDF", "give the table that it was made from"),
    b"{\\rtf": ("a text document", "save the table as CSV"),
    b"\x89HDF": ("an HDF5 file", "save the table as Parquet"),
    b"Obj\x01": ("an Avro file", "save the table as Parquet"),
    b"ORC": ("an ORC file", "save the table as Parquet"),
    b"RDX": ("an R workspace", "write the table with arrow::write_parquet"),
    b"RDA": ("an R workspace", "write the table with arrow::write_parquet"),
    b"X\n\0\0\0": ("an R object", "write the table with arrow::write_parquet"),
    b"SQLite format 3\0": ("an SQLite database", "let its name end in .sqlite"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it first"),
    b"Rar!": ("a RAR archive", "unpack it first"),
    b"BZh": ("compressed with bzip2", "unpack it first, or use gzip or zstd"),
    b"\xfd7zXZ": ("compressed with xz", "unpack it first, or use gzip or zstd"),
}
# How much of a file is looked at to see whether it is text, and how many odd characters are many.
_LOOKED_AT, _ODD, _FEW = 4096, 0.05, 8
_WITH_ZEROS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"
_CSV_OR_PARQUET = "save the table as CSV or Parquet"


def recognise(path: Path, head: bytes) -> str:
    """The format of a file, given its beginning.

    FileError if it is nothing that is read, or not what its name says: it names what the file
    seems to be, and what to do.
    """
    found = _by_content(path, head)
    named = format_named(path)
    if found is not None:
        return _as_named(path, found, named)
    inner = named and unpacked_format(named)
    if named == "arrow" and head.startswith(_ARROW_STREAM):
        return "stream"
    if named is None and _is_json_lines(head):
        return "jsonl"
    if named is None or named == "csv":
        if _is_binary(head):
            raise FileError(
                f"{path} is neither text nor of a format that is known", _CSV_OR_PARQUET
            )
        return "csv"
    if named == "jsonl" and head.lstrip(_BEFORE_JSON).startswith(b"{"):
        return "jsonl"
    seems = "text, perhaps CSV" if _is_text(head) else "damaged, or of another format"
    fix = "rename it to .csv if it is CSV" if _is_text(head) else "write it again"
    if inner != named:
        seems, fix = "not compressed", f"rename it to .{inner}"
    raise FileError(f"{path} is not {called(named)} though its name says so: it is {seems}", fix)


def _as_named(path: Path, found: str, named: str | None) -> str:
    """What was found, if the name says the same or nothing."""
    # Those of SPSS, and two of Excel, are told apart by their content anyway.
    alike = ({"sav", "zsav"}, {"xlsx", "xlsb"})
    if named in (None, found) or {named, found} in alike:
        return found
    if found == "xls" and named in ("xlsx", "xlsb"):
        raise FileError(
            f"{path} is protected by a password, or old Excel though its name ends in "
            f"{ending(path)}",
            "save it without a password, or rename it to .xls",
        )
    right = next(end for end, form in FORMATS.items() if form == found)
    raise FileError(
        f"{path} is {called(found)}, but its name ends in {ending(path)}",
        f"rename it to {right}, or give the file that was meant",
    )


def _by_content(path: Path, head: bytes) -> str | None:
    """The format of a file that shows it in its first bytes, which text does not."""
    for magic, form in _MAGIC.items():
        if head.startswith(magic):
            return form
    if head.startswith(_ZIP):
        return _zipped(path, head)
    packing = packed.packing_of(head)
    if packing is not None:
        return _packed(path, head, packing)
    if len(head) > 4 and head[0] in _OLD_STATA and head[1] in (1, 2) and head[2:4] == b"\1\0":
        return "dta"
    if _PORTABLE in head[:400].replace(b"\r", b"").replace(b"\n", b""):
        return "por"
    for magic, (what, fix) in _FOREIGN.items():
        if head.startswith(magic):
            raise FileError(f"{path} is {what}", fix)
    if head[8:12] == b"DUCK":
        raise FileError(f"{path} is a DuckDB database", "let its name end in .duckdb")
    return None


def _packed(path: Path, head: bytes, packing: str) -> str:
    """The format of a compressed file, by the beginning of what is in it."""
    inner = next(packed.unpacked_blocks(iter([head]), packing, str(path), whole=False), b"")
    form = _by_content(path, inner)
    if form is not None:
        raise FileError(
            f"{path} is {called(form)} compressed with {packing}",
            "unpack it first: only CSV and JSON lines are read compressed",
        )
    form = "jsonl" if _is_json_lines(inner) else "csv"
    return f"{form}{packed.ending_of(packing)}"


def _is_json_lines(head: bytes) -> bool:
    """Whether a text begins as an object of JSON does: nobody begins the name of a column so."""
    return head.lstrip(_BEFORE_JSON).startswith((b'{"', b"{ "))


def _zipped(path: Path, head: bytes) -> str:
    """The format of a file that is a zip archive: of Excel, of OpenDocument, or another."""
    names = list(_names_in(path, head))
    if "xl/workbook.bin" in names:
        return "xlsb"
    if any(name.startswith("xl/") for name in names):
        return "xlsx"
    if b"opendocument.spreadsheet" in head[:200]:
        return "ods"
    if any(name.startswith("word/") for name in names) or b"opendocument" in head[:200]:
        raise FileError(f"{path} is a document, not a table", _CSV_OR_PARQUET)
    named = format_named(path)
    if named in ("xlsx", "xlsb", "ods"):
        raise FileError(
            f"{path} is a zip archive but not {called(named)}, or a damaged one",
            "copy or save it again",
        )
    raise FileError(f"{path} is a zip archive", "unpack it, and give the file that is in it")


def _names_in(path: Path, head: bytes) -> Iterator[str]:
    """The names of the files in an archive; of one that is read in part, those in that part."""
    try:
        with zipfile.ZipFile(path if path.is_file() else io.BytesIO(head)) as archive:
            yield from archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        place = 0
        while (place := head.find(_ZIP, place)) >= 0:
            length = int.from_bytes(head[place + 26 : place + 28], "little")
            yield head[place + 30 : place + 30 + length].decode("utf-8", "replace")
            place += 4


def _is_text(head: bytes) -> bool:
    return b"\0" not in head


def _is_binary(head: bytes) -> bool:
    """Whether a beginning is text in no encoding that has the byte 0."""
    return not _is_text(head) and all(
        _is_odd(head[:_LOOKED_AT].decode(encoding, "replace")) for encoding in _WITH_ZEROS
    )


def _is_odd(text: str) -> bool:
    """Whether many characters are such that nobody writes them: more than a few, by mistake."""
    odd = sum(not (character.isprintable() or character.isspace()) for character in text)
    return odd + text.count("\ufffd") > max(_ODD * len(text), _FEW)
