"""Every byte of a ledger's file accounted for. Uses nothing; `store` uses it.

SQLite reads a file without minding the bytes it does not need. A ledger only ever grows, one entry a commit, so its file has
few shapes, and this module knows them all (sqlite.org/fileformat.html): what stands in the file is what the entries need,
and everything else is zero. The one exception is the unused part of inner pages below the root, where SQLite leaves what was
there when it splits such a page; there are none before a thousand entries or so.
"""

from collections.abc import Iterator, Sequence

__all__ = ["Row", "commits", "oddities"]

Row = tuple[int, str, str]

_PAGE = 4096
_HEADER = 100
_INNER, _LEAF = 5, 13  # the kinds of pages in a table
_WHOLE = _PAGE - 35  # a payload up to this length stays on its page
_PART = (_PAGE - 12) * 32 // 255 - 23  # at least this much of a longer one


def commits(image: bytes) -> int:
    """How often the file was written, as its header counts; each time adds one entry."""
    return int.from_bytes(image[24:28], "big")


class _Odd(Exception):
    """A byte is not what the entries make it."""


def oddities(
    image: bytes, size: int, schema: str, mark: int, layout: int, rows: Sequence[Row], version: int
) -> Iterator[str]:
    """What in the image of a ledger is not there because of its entries; `size` is that of the file."""
    file = _File(image, [_record(None, content, digest) for _, content, digest in rows])
    if size != len(image):
        yield "the file has bytes after its last page"
    try:
        file.cross(0, _header(len(image) // _PAGE, len(rows), mark, layout, version))
        file.only_cell(_record("table", "entries", "entries", 2, schema))
        if file.tree(2, root=True) != len(rows):
            raise _Odd("page 2")
        if any(file.rest):
            raise _Odd(f"page {next(at for at, byte in enumerate(file.rest) if byte) // _PAGE + 1}")
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
        if self.image[at : at + len(expected)] != expected:
            raise _Odd(f"page {at // _PAGE + 1}")
        self.rest[at : at + len(expected)] = bytes(len(expected))

    def number(self, at: int, length: int) -> int:
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
        self.cross(
            _HEADER,
            bytes([_LEAF, 0, 0, 0, 1, *start.to_bytes(2, "big"), 0, *start.to_bytes(2, "big")]),
        )
        self.cell(0, start, 1, record)

    def tree(self, page: int, after: int = 0, root: bool = False) -> int:
        """A page of entries and those below it: follows `after` an entry, and gives its last one."""
        at = self.enter(page)
        kind, cells = self.image[at], self.number(at + 3, 2)
        if kind not in (_INNER, _LEAF):
            raise _Odd(f"page {page}")
        length = 12 if kind == _INNER else 8
        places = [self.number(at + length + 2 * i, 2) for i in range(cells)]
        last = after
        for place in places:
            if kind == _INNER:
                child = self.number(at + place, 4)
                last = self.tree(child, last)
                self.cross(at + place, child.to_bytes(4, "big") + _varint(last))
            else:
                last += 1
                self.cell(at, place, last, self.records[last - 1])
        right = b""
        if kind == _INNER:
            child = self.number(at + 8, 4)
            last = self.tree(child, last)
            right = child.to_bytes(4, "big")
        if (
            kind == _INNER and not root
        ):  # was split: free places and their lists are as SQLite left them
            self.rest[at : at + _PAGE] = bytes(_PAGE)
        else:
            lowest = min(places, default=0)
            self.cross(
                at,
                bytes([kind, 0, 0, *cells.to_bytes(2, "big"), *lowest.to_bytes(2, "big"), 0])
                + right,
            )
            self.cross(at + length, b"".join(place.to_bytes(2, "big") for place in places))
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
            self.cross(link, page.to_bytes(4, "big"))
            link = self.enter(page)
            self.cross(link + 4, record[kept : kept + _PAGE - 4])
            kept += _PAGE - 4
            if kept >= len(record):
                self.cross(link, bytes(4))


def _header(pages: int, commits: int, mark: int, layout: int, version: int) -> bytes:
    """The first hundred bytes of a file."""
    numbers = [
        commits,
        pages,
        0,
        0,
        1,
        4,
        0,
        0,
        1,
        layout,
        0,
        mark,
        0,
        0,
        0,
        0,
        0,
        commits,
        version,
    ]
    start = b"SQLite format 3\0" + _PAGE.to_bytes(2, "big") + bytes([1, 1, 0, 64, 32, 32])
    return start + b"".join(number.to_bytes(4, "big") for number in numbers)


def _record(*values: str | int | None) -> bytes:
    """A row as SQLite writes it: the lengths and types of its values, then these."""
    types, body = b"", b""
    for value in values:
        if value is None:
            types += _varint(0)
        elif isinstance(value, int):  # one byte is enough for the only one there is, a page
            types += _varint(1)
            body += bytes([value])
        else:
            text = value.encode(errors="surrogateescape")
            types += _varint(2 * len(text) + 13)
            body += text
    length = len(types) + 1
    length += length > 127
    return _varint(length) + types + body


def _varint(number: int) -> bytes:
    """A number of up to 56 bits, seven bits a byte, the highest first."""
    parts = [number & 127]
    while number := number >> 7:
        parts.append(number & 127 | 128)
    return bytes(reversed(parts))
