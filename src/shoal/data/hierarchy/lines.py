"""Hierarchies as CSV, in the form ARX and anjana use.

There is no header, each line is a value, and column j is level j. Uses `errors`, `disk`, `kinds`
and the rest of this room. The form has no place to say that a hierarchy was derived from rows; a
note beside the file, NAME.csv.derived, says it instead.
"""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.arguments import typed
from shoal.data.disk import (
    GUESSES,
    encodings,
    mixed,
    place_of,
    reading,
    replacing,
    require_encoding,
    unreadable,
)
from shoal.data.hierarchy.check import Problems, faults, problems
from shoal.data.hierarchy.tree import Hierarchy, rooted
from shoal.data.kinds import Kind
from shoal.errors import FileError, HierarchyError, ParameterError, listed

__all__ = ["Lines", "derived_note", "read", "read_lines", "text", "write"]

# The first of them is what files of hierarchies usually have, and what is written.
SEPARATORS = (";", ",", "\t", "|")
# How every object begins that Java wrote.
_SERIALISED = b"\xac\xed\0\5"
SPECIAL = re.compile(r'[;,\t|"\r\n]')
NOTE = (
    "The hierarchy in {} was derived from the rows of a table. "
    "Its values and its shape reveal information about them.\n"
)


@dataclass(frozen=True)
class Lines:
    """The content of a hierarchy file: its lines (an empty one as []), and how it was read.

    numbers: of the lines in the file
    guessed: whether the encoding may well be another one
    derived: whether a note beside the file says that it was derived from rows
    """

    cells: list[list[str]]
    numbers: list[int]
    separator: str
    encoding: str
    guessed: bool
    derived: bool

    def rooted(self, root: str | None, add_root: str | None) -> "Lines":
        """The same with `root` in place of the last level, or with one more level `add_root`."""
        cells = [list(line) for line in rooted(self.cells, root, add_root)]
        return replace(self, cells=cells)

    def problems(self, kind: Kind = Kind.TEXT) -> Problems:
        """Everything wrong with the file."""
        findings = problems(self.cells, kind, numbers=self.numbers)
        if self.guessed:
            findings.warn(
                "encoding",
                f"the file is not UTF-8 and was read as {self.encoding}; if letters look wrong, "
                "give the encoding",
            )
        if self.derived:
            findings.warn(
                "derived",
                "the hierarchy was derived from rows; a promise that needs a public one does not "
                "hold with it",
            )
        return findings

    def hierarchy(self, kind: Kind = Kind.TEXT) -> Hierarchy:
        """The hierarchy; HierarchyError names everything that makes the lines unusable."""
        faults(self.cells, kind, numbers=self.numbers).refuse()
        return Hierarchy.from_sound_lines(self.cells, kind, self.derived)


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
    """The hierarchy in a CSV file; HierarchyError names everything that is wrong with it.

    `root` replaces the last level of every line, `add_root` puts one more level above it.
    """
    kind = Kind.of(kind)
    lines = read_lines(path, separator=separator, encoding=encoding).rooted(root, add_root)
    try:
        return lines.hierarchy(kind)
    except HierarchyError as error:
        raise error.at(os.fspath(path)) from None


def read_lines(
    path: str | os.PathLike[str], *, separator: str | None = None, encoding: str | None = None
) -> Lines:
    """The lines of a hierarchy file, right or wrong."""
    where = os.fspath(path)
    try:
        content = Path(path).read_bytes()
        reading(path, derived_note(path))
    except (OSError, ValueError) as error:
        raise unreadable(f"the hierarchy {where}", error) from None
    decoded, used = _decode(content, encoding, where)
    if separator is None:
        separator = _detect(decoded)
    elif len(separator) != 1 or separator in '"\r\n':
        raise ParameterError(
            "is not one character",
            "give one such as ';' or ','",
            option="separator",
            given=repr(separator),
        )
    try:
        parsed = list(_parse(decoded, separator))
    except csv.Error:
        raise FileError(
            f"{where} is not a CSV file: a cell is too long, or its quotes do not pair up"
        ) from None
    return Lines(
        cells=[line for _, line in parsed],
        numbers=[number for number, _ in parsed],
        separator=separator,
        encoding=used,
        guessed=encoding is None and used in GUESSES,
        derived=derived_note(path).exists(),
    )


def _decode(content: bytes, encoding: str | None, where: str) -> tuple[str, str]:
    """The text, and the encoding that it is in."""
    if content.startswith(_SERIALISED):
        raise FileError(
            f"{where} is not CSV, but saved by ARX",
            "use it in a recipe under a name that ends in .ahs, or export it from ARX as CSV",
        )
    tried = encodings(content) if encoding is None else [_declared(encoding)]
    for name in tried:
        try:
            decoded = content.decode(name)
        except UnicodeError:
            continue
        if "\0" in decoded:
            # Almost any bytes are text in some encoding: those of a spreadsheet or a Parquet file
            # too.
            break
        if name in GUESSES and encoding is None:
            _refuse_mixed(content, where)
        return decoded, name
    raise FileError(
        f"{where} is not text in {' or '.join(tried)}",
        "give its encoding, or save it as CSV in UTF-8",
    )


def _declared(encoding: str) -> str:
    """An encoding that was asked for; with UTF-8 a byte order mark is not part of the text."""
    require_encoding(encoding)
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    return "utf-8-sig" if plain else encoding


def _refuse_mixed(content: bytes, where: str) -> None:
    place = mixed(content)
    if place is not None:
        line = content[:place].count(b"\n") + 1
        raise FileError(
            f"{where} mixes encodings: line {line} has UTF-8, and another line something else",
            "save all of it as UTF-8, or give the encoding if it has only one",
        )


def _parse(decoded: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every line with the number it begins at; a quoted cell may hold line ends."""
    reader = csv.reader(io.StringIO(decoded, newline=""), delimiter=separator)
    begins = 1
    for cells in reader:
        yield begins, cells
        begins = reader.line_num + 1


def _detect(decoded: str) -> str:
    """The separator that makes the file most regular, in doubt the first one."""
    regular = (True, 1.0, True)
    best, chosen = (False, 0.0, False), SEPARATORS[0]
    for separator in SEPARATORS:
        fit = _fit(decoded, separator)
        if fit > best:
            best, chosen = fit, separator
        if best == regular:
            break
    return chosen


def _fit(decoded: str, separator: str) -> tuple[bool, float, bool]:
    """How regular a file is with a separator: quotes in place, lines alike, one root."""
    try:
        lines = [cells for _, cells in _parse(decoded, separator) if cells]
    except csv.Error:
        lines = []
    depths = Counter(map(len, lines)).most_common(1)
    if not depths or depths[0][0] == 1:
        return False, 0.0, False
    alike = depths[0][1] / len(lines)
    roots = {cells[-1] for cells in lines}
    return _well_quoted(decoded, separator), alike, len(roots) == 1


def _well_quoted(decoded: str, separator: str) -> bool:
    """Whether quotes stand only around whole cells."""
    if '"' not in decoded:
        return True
    edge = re.escape(separator) + r"\r\n"
    quoted = rf'(?:\A|(?<=[{edge}]))"(?:[^"]|"")*"(?=[{edge}]|\Z)'
    return '"' not in re.sub(quoted, "", decoded)


@typed
def write(hierarchy: Hierarchy, path: str | os.PathLike[str], *, separator: str = ";") -> None:
    """Write a hierarchy as UTF-8 CSV, whole or not at all; a derived one gets its note."""
    content, note = text(hierarchy, separator), derived_note(path)
    try:
        # A text that begins with a byte order mark needs one before it to keep its own.
        encoded = content.encode("utf-8-sig" if content.startswith("\ufeff") else "utf-8")
    except UnicodeError:
        raise FileError(
            "the hierarchy has a text that is not valid Unicode", "correct it before writing"
        ) from None
    if "\0" in content:
        raise FileError(
            "the hierarchy has a text with a NUL character", "correct it before writing"
        )
    # So that no note is written beside a file that cannot be.
    place_of(path)
    if hierarchy.derived:
        # Before the file itself: the mark must never be the part that is lost.
        with replacing(note) as beside:
            beside.write(NOTE.format(Path(path).name).encode())
    with replacing(path) as file:
        file.write(encoded)
    if not hierarchy.derived:
        note.unlink(missing_ok=True)


def text(hierarchy: Hierarchy, separator: str = ";") -> str:
    """A hierarchy as CSV."""
    if separator not in SEPARATORS:
        raise ParameterError(
            "is not one that hierarchies are written with",
            f"it takes {listed(SEPARATORS)}",
            option="separator",
            given=repr(separator),
        )
    return "".join(separator.join(map(_cell, line)) + "\n" for line in hierarchy.lines())


def _cell(content: str) -> str:
    """A cell; with any usual separator in it, it is quoted, so that detection cannot go wrong."""
    if content and not SPECIAL.search(content):
        return content
    doubled = content.replace('"', '""')
    return f'"{doubled}"'


def derived_note(path: str | os.PathLike[str]) -> Path:
    """Where the note lies that a hierarchy file was derived from rows."""
    target = Path(path)
    return target.with_name(target.name + ".derived")
