"""Hierarchies as CSV in the form ARX and anjana use: no header, one line a value, column j is level j.

Uses `errors`, `disk`, `kinds` and the rest of this room. The form has no place to say that a hierarchy was derived from rows;
a note beside the file, NAME.csv.derived, says it instead.
"""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shoal.arguments import typed
from shoal.data.disk import encodings, known, mixed, place_of, reading, replacing
from shoal.data.hierarchy.check import Problems, faults, problems
from shoal.data.hierarchy.tree import Hierarchy, rooted
from shoal.data.kinds import Kind
from shoal.errors import FileError, HierarchyError, ParameterError, listed

__all__ = ["Lines", "derived_note", "read", "read_lines", "text", "write"]

SEPARATORS = (";", ",", "\t", "|")
GUESSES = ("cp1252", "latin-1")  # what is read as these may well be something else
SPECIAL = re.compile(r'[;,\t|"\r\n]')
NOTE = "The hierarchy in {} was derived from the rows of a table. Its values and its shape tell about them.\n"


@dataclass(frozen=True)
class Lines:
    """What a hierarchy file has: its lines (an empty one as []), their numbers, and how it was read."""

    cells: list[list[str]]
    numbers: list[int]
    separator: str
    encoding: str
    guessed: bool
    derived: bool

    def problems(
        self, kind: Kind = Kind.TEXT, *, root: str | None = None, add_root: str | None = None
    ) -> Problems:
        """Everything wrong with the file."""
        found = problems(rooted(self.cells, root, add_root), kind, numbers=self.numbers)
        if self.guessed:
            message = f"the file is not UTF-8 and was read as {self.encoding}; if letters look wrong, give the encoding"
            found.warn("encoding", message)
        if self.derived:
            found.warn(
                "derived",
                "the hierarchy was derived from rows; a promise that needs a public one does not hold with it",
            )
        return found


@typed
def read(
    path: str | os.PathLike[str],
    *,
    kind: Kind | str = Kind.TEXT,
    separator: str | None = None,
    encoding: str | None = None,
    root: str | None = None,
    add_root: str | None = None,
) -> Hierarchy:
    """The hierarchy in a CSV file; HierarchyError names all that is wrong with it.

    `root` replaces the last level of every line, `add_root` puts one more level above it.
    """
    kind = Kind.of(kind)
    lines = read_lines(path, separator=separator, encoding=encoding)
    cells = rooted(lines.cells, root, add_root)
    try:
        faults(cells, kind, numbers=lines.numbers).refuse()
        return Hierarchy.from_sound_lines(cells, kind, lines.derived)
    except HierarchyError as error:
        raise HierarchyError(f"{os.fspath(path)}: {error}") from None


def read_lines(
    path: str | os.PathLike[str], *, separator: str | None = None, encoding: str | None = None
) -> Lines:
    """The lines of a hierarchy file as they are, right or wrong."""
    try:
        content = Path(path).read_bytes()
        reading(path, derived_note(path))
    except (OSError, ValueError) as error:  # the latter for a name that no file can have
        raise FileError(
            f"cannot read the hierarchy {os.fspath(path)}: {getattr(error, 'strerror', None) or error}"
        ) from None
    decoded, used = _decode(content, encoding, os.fspath(path))
    guessed = encoding is None and used in GUESSES
    if separator is None:
        separator = _detect(decoded)
    elif len(separator) != 1 or separator in '"\r\n':
        raise ParameterError(f"separator {separator!r}; it is one character, such as ';' or ','")
    try:
        parsed = list(_parse(decoded, separator))
    except csv.Error:
        raise FileError(
            f"{os.fspath(path)} is not a CSV file: a cell is too long, or its quotes do not pair up"
        ) from None
    numbers, cells = [number for number, _ in parsed], [line for _, line in parsed]
    return Lines(cells, numbers, separator, used, guessed, derived_note(path).exists())


def _decode(content: bytes, encoding: str | None, path: str) -> tuple[str, str]:
    plain = encoding is not None and encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    if encoding is not None:
        known(encoding)
    tried = encodings(content) if encoding is None else ["utf-8-sig" if plain else encoding]
    for name in tried:
        try:
            decoded = content.decode(name)
        except UnicodeError:
            continue
        if "\0" in decoded:
            break  # almost any bytes are text in some encoding: those of a spreadsheet or a Parquet file too
        if name in GUESSES and encoding is None and (place := mixed(content)) is not None:
            line = content[:place].count(b"\n") + 1
            raise FileError(
                f"{path} mixes encodings: line {line} has UTF-8, and another line something else; "
                "save all of it as UTF-8, or give the encoding if it has only one"
            )
        return decoded, name
    raise FileError(
        f"{path} is not text in {' or '.join(tried)}; give its encoding, or save it as CSV in UTF-8"
    )


def _parse(decoded: str, separator: str) -> "Iterable[tuple[int, list[str]]]":
    """Every line with the number it begins at; a quoted cell may hold line ends."""
    reader = csv.reader(io.StringIO(decoded, newline=""), delimiter=separator)
    begins = 1
    for cells in reader:
        yield begins, cells
        begins = reader.line_num + 1


def _detect(decoded: str) -> str:
    """The separator that makes the file most regular: quotes in place, all lines alike, one root; ; before the others."""
    best, chosen = (False, 0.0, False), SEPARATORS[0]
    for separator in SEPARATORS:
        try:
            lines = [cells for _, cells in _parse(decoded, separator) if cells]
        except csv.Error:
            continue
        depth, often = Counter(map(len, lines)).most_common(1)[0] if lines else (1, 0)
        if depth > 1:
            found = (
                _well_quoted(decoded, separator),
                often / len(lines),
                len({cells[-1] for cells in lines}) == 1,
            )
            if found > best:
                best, chosen = found, separator
            if best == (True, 1.0, True):
                break
    return chosen


def _well_quoted(decoded: str, separator: str) -> bool:
    """Whether quotes stand only around whole cells."""
    if '"' not in decoded:
        return True
    edge = re.escape(separator) + r"\r\n"
    return '"' not in re.sub(rf'(?:\A|(?<=[{edge}]))"(?:[^"]|"")*"(?=[{edge}]|\Z)', "", decoded)


@typed
def write(hierarchy: Hierarchy, path: str | os.PathLike[str], *, separator: str = ";") -> None:
    """Write a hierarchy as UTF-8 CSV, whole or not at all; a derived one gets its note beside it."""
    content, note = text(hierarchy, separator), derived_note(path)
    try:
        # A text that begins with a byte order mark needs one before it to keep its own.
        encoded = content.encode("utf-8-sig" if content.startswith("\ufeff") else "utf-8")
    except UnicodeError:
        raise FileError(
            "the hierarchy has a text that is not valid Unicode; correct it before writing"
        ) from None
    if "\0" in content:
        raise FileError("the hierarchy has a text with a NUL character; correct it before writing")
    place_of(path)  # so that no note is written beside what cannot be
    if hierarchy.derived:  # before the file itself: the mark must never be the part that is lost
        with replacing(note) as beside:
            beside.write(NOTE.format(Path(path).name).encode())
    with replacing(path) as file:
        file.write(encoded)
    if not hierarchy.derived:
        note.unlink(missing_ok=True)


def text(hierarchy: Hierarchy, separator: str = ";") -> str:
    """A hierarchy as CSV. Cells with any usual separator are quoted, so that detection cannot go wrong on it."""
    if separator not in SEPARATORS:
        raise ParameterError(f"separator {separator!r}; it takes {listed(SEPARATORS)}")

    def cell(content: str) -> str:
        return (
            '"' + content.replace('"', '""') + '"'
            if not content or SPECIAL.search(content)
            else content
        )

    return "".join(separator.join(map(cell, line)) + "\n" for line in hierarchy.lines())


def derived_note(path: str | os.PathLike[str]) -> Path:
    """Where the note lies that a hierarchy file was derived from rows."""
    target = Path(path)
    return target.with_name(target.name + ".derived")
