"""Every byte of a log's file accounted for. Uses `chain`; `sqlite` uses it.

SQLite reads a file without minding the bytes it does not need. A log only ever grows, one entry per
commit, so its file has few shapes, and this module knows them all (sqlite.org/fileformat.html): the
file holds what the entries need, and everything else is zero. The one exception is the unused part
of inner pages below the root, where SQLite leaves what was there when it splits such a page; there
are none before a thousand entries or so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.log.chain import Row

__all__ = ["Header", "commits", "oddities"]

_PAGE = 4096
_HEADER = 100
_INNER, _LEAF = 5, 13  # the kinds of pages in a table
_WHOLE = _PAGE - 35  # a payload up to this length stays on its page
_PART = (_PAGE - 12) * 32 // 255 - 23  # at least this much of a longer one
_ROOT = 2  # the page where the table of entries begins


@dataclass(frozen=True)
class Header:
    """What the first hundred bytes of a file depend on, besides the number of its pages."""

    commits: int
    mark: int
    layout: int
    sqlite: int

    def to_bytes(self, pages: int) -> bytes:
        """The first hundred bytes, for that many pages."""
        start = b"SQLite format 3\0" + _big(_PAGE, 2) + bytes([1, 1, 0, 64, 32, 32])
        # No free pages; schema cookie 1, schema format 4, default cache, no vacuum, UTF-8.
        shape = [self.commits, pages, 0, 0, 1, 4, 0, 0, 1]
        rest = [self.layout, 0, self.mark, 0, 0, 0, 0, 0, self.commits, self.sqlite]
        return start + b"".join(_big(number, 4) for number in (*shape, *rest))


class _Odd(Exception):
    """A byte is not what the entries make it."""


def commits(image: bytes) -> int:
    """How often the file was written, as its header counts; each time adds one entry."""
    return int.from_bytes(image[24:28], "big")


def oddities(
    image: bytes, size: int, header: Header, schema: str, rows: Sequence[Row]
) -> Iterator[str]:
    """What the entries do not explain in the image of a file; `size` is that of the file."""
    records = [_record(None, content, digest) for _, content, digest in rows]
    file = _File(image, records)
    if size != len(image):
        yield "the file has bytes after its last page"
    try:
        file.cross(0, header.to_bytes(len(image) // _PAGE))
        file.only_cell(_record("table", "shoal_entries", "shoal_entries", _ROOT, schema))
        if file.tree(_ROOT, root=True) != len(rows):
            raise _Odd(f"page {_ROOT}")
        if any(file.rest):
            place = next(at for at, byte in enumerate(file.rest) if byte)
            raise _Odd(f"page {place // _PAGE + 1}")
    except _Odd as odd:
        yield f"{odd} of the file was changed, outside of the entries"
    except IndexError:
        yield "the pages of the file were changed, outside of the entries"


class _File:
    """The pages, of which everything is crossed out that has a reason to be there."""

    def __init__(self, image: bytes, records: Sequence[bytes]) -> None:
        self.image = image
        self.rest = bytearray(image)
        self.records = records
        self.seen: set[int] = set()

    def cross(self, at: int, expected: bytes) -> None:
        """Cross out what is expected at a place; _Odd if something else is there."""
        end = at + len(expected)
        if self.image[at:end] != expected:
            raise _Odd(f"page {at // _PAGE + 1}")
        self.rest[at:end] = bytes(len(expected))

    def number(self, at: int, length: int) -> int:
        """The number at a place; IndexError if that is after the end."""
        if at + length > len(self.image):
            raise IndexError
        return int.from_bytes(self.image[at : at + length], "big")

    def enter(self, page: int) -> int:
        """The place of a page that was not visited before."""
        if page in self.seen or not 1 <= page <= len(self.image) // _PAGE:
            raise IndexError
        self.seen.add(page)
        return (page - 1) * _PAGE

    def only_cell(self, record: bytes) -> None:
        """The first page: the header of the file, and one cell, the schema."""
        self.enter(1)
        start = _PAGE - len(_varint(len(record)) + _varint(1) + record)
        place = _big(start, 2)
        self.cross(_HEADER, bytes([_LEAF, 0, 0, 0, 1, *place, 0, *place]))
        self.cell(0, start, 1, record)

    def tree(self, page: int, after: int = 0, root: bool = False) -> int:
        """A page of entries that come `after` one, and those below it; gives its last entry."""
        at = self.enter(page)
        kind, cells = self.image[at], self.number(at + 3, 2)
        if kind not in (_INNER, _LEAF):
            raise _Odd(f"page {page}")
        length = 12 if kind == _INNER else 8
        places = [self.number(at + length + 2 * i, 2) for i in range(cells)]
        right = b""
        if kind == _INNER:
            last = self._children(at, places, after)
            child = self.number(at + 8, 4)
            last = self.tree(child, last)
            right = _big(child, 4)
        else:
            last = self._cells(at, places, after)
        if kind == _INNER and not root:
            # It was split: free places and their lists are as SQLite left them.
            self.rest[at : at + _PAGE] = bytes(_PAGE)
            return last
        lowest = min(places, default=0)
        self.cross(at, bytes([kind, 0, 0, *_big(cells, 2), *_big(lowest, 2), 0]) + right)
        self.cross(at + length, b"".join(_big(place, 2) for place in places))
        return last

    def _children(self, at: int, places: Sequence[int], last: int) -> int:
        """The pages below an inner page, but for the one on the right."""
        for place in places:
            child = self.number(at + place, 4)
            last = self.tree(child, last)
            self.cross(at + place, _big(child, 4) + _varint(last))
        return last

    def _cells(self, at: int, places: Sequence[int], last: int) -> int:
        """The entries on a page."""
        for place in places:
            last += 1
            self.cell(at, place, last, self.records[last - 1])
        return last

    def cell(self, at: int, place: int, number: int, record: bytes) -> None:
        """One row: lengths, what fits the page, and a chain of pages for the rest."""
        kept = len(record)
        if kept > _WHOLE:
            most = _PART + (kept - _PART) % (_PAGE - 4)
            kept = most if most <= _WHOLE else _PART
        start = _varint(len(record)) + _varint(number) + record[:kept]
        if place + len(start) + 4 * (kept < len(record)) > _PAGE:
            raise IndexError
        self.cross(at + place, start)
        link = at + place + len(start)
        while kept < len(record):
            page = self.number(link, 4)
            self.cross(link, _big(page, 4))
            link = self.enter(page)
            self.cross(link + 4, record[kept : kept + _PAGE - 4])
            kept += _PAGE - 4
            if kept >= len(record):
                self.cross(link, bytes(4))


def _record(*values: str | int | None) -> bytes:
    """A row as SQLite writes it: the lengths and types of its values, then the values."""
    types, body = b"", b""
    for value in values:
        if value is None:
            types += _varint(0)
        elif isinstance(value, int):
            # One byte is enough for the only number there is, a page.
            types += _varint(1)
            body += bytes([value])
        else:
            text = value.encode(errors="surrogateescape")
            types += _varint(2 * len(text) + 13)
            body += text
    length = len(types) + 1
    length += length > 127
    return _varint(length) + types + body


def _big(number: int, length: int) -> bytes:
    return number.to_bytes(length, "big")


def _varint(number: int) -> bytes:
    """A number of up to 56 bits, seven bits per byte, the highest first."""
    parts = [number & 127]
    while number := number >> 7:
        parts.append(number & 127 | 128)
    return bytes(reversed(parts))
