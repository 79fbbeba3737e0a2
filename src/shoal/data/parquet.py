"""How much memory a Parquet file takes when it is read, found out before it is.

Uses `free_memory`; `files` and `table_files` use it. Whoever wrote the bytes may have meant harm: a
file of a few kilobytes can hold thousands of millions of rows. So its pages are asked, not its
summary.
"""

import mmap
from dataclasses import dataclass
from typing import Any

from shoal.data.free_memory import CELL

__all__ = ["RowGroup", "row_groups", "unpacked_size"]

# Where things are in the summary and in the pages, by the numbers of the format's definition.
_GROUPS, _CHUNKS, _ROWS, _ABOUT = 4, 1, 3, 3
_VALUES, _PACKED, _PAGES, _DICTIONARY = 5, 7, 9, 11
_UNPACKED_PAGE, _PACKED_PAGE, _PAGE_KINDS = 2, 3, (5, 7, 8)
_DEEPEST = 40
_DAMAGES = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)

Content = bytes | mmap.mmap


@dataclass(frozen=True)
class RowGroup:
    """Rows of a Parquet file that can be read without the others, and the memory they take."""

    rows: int
    unpacked: int


def unpacked_size(content: Content) -> int | None:
    """Bytes of memory that a Parquet file takes when it is read; None if it is damaged."""
    groups = row_groups(content)
    return None if groups is None else sum(group.unpacked for group in groups)


def row_groups(content: Content) -> list[RowGroup] | None:
    """The groups of rows of a Parquet file, in their order; None if it is damaged.

    Repeated values take no room in a file, and neither do texts that compress well; in memory each
    value has its place, and each page its whole length.
    """
    try:
        length = int.from_bytes(content[-8:-4], "little")
        footer, _ = _fields(content, len(content) - 8 - length, 0)
        groups = []
        for group in footer.get(_GROUPS, ()):
            rows = int(group[_ROWS])
            sizes = [_chunk_size(content, chunk[_ABOUT], rows) for chunk in group[_CHUNKS]]
            groups.append(RowGroup(rows, sum(sizes)))
        return groups
    except _DAMAGES:
        return None


def _chunk_size(content: Content, about: dict[int, Any], rows: int) -> int:
    """Bytes of memory for the values of one column in one group of rows."""
    starts = [about[name] for name in (_DICTIONARY, _PAGES) if about.get(name)]
    at = min(starts, default=0)
    end = at + about[_PACKED]
    needed = values = 0
    while at < end:
        page, at = _fields(content, at, 0)
        needed += page[_UNPACKED_PAGE]
        at += max(page[_PACKED_PAGE], 0)
        counts = [page[kind].get(1, 0) for kind in _PAGE_KINDS if kind in page]
        values += max(counts, default=0)
    return int(needed + CELL * max(values, about[_VALUES], rows))


# Thrift's compact form, in which Parquet describes itself


def _fields(content: Content, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The fields of a structure by their numbers, and where it ends."""
    if at < 0 or depth > _DEEPEST:
        raise ValueError("not a structure")
    fields: dict[int, Any] = {}
    number = 0
    while head := content[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _signed(content, at)
        fields[number], at = _field(content, at, head & 15, depth)
    return fields, at + 1


def _field(content: Content, at: int, kind: int, depth: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:  # true, false: the kind is the value
            return kind == 1, at
        case 3:
            return content[at], at + 1
        case 4 | 5 | 6:
            return _signed(content, at)
        case 7:
            return None, at + 8
        case 8:  # a text, on which nothing here depends
            length, at = _unsigned(content, at)
            return None, at + length
        case 9 | 10:
            return _list(content, at, depth)
        case 12:
            return _fields(content, at, depth + 1)
    raise ValueError("a kind that Parquet does not use")


def _list(content: Content, at: int, depth: int) -> tuple[list[Any], int]:
    size, kind = content[at] >> 4, content[at] & 15
    at += 1
    if size == 15:
        size, at = _unsigned(content, at)
    elements: list[Any] = []
    for _ in range(size):
        # In a list truth values take a byte each.
        if kind in (1, 2):
            element, at = content[at] == 1, at + 1
        else:
            element, at = _field(content, at, kind, depth + 1)
        elements.append(element)
    return elements, at


def _unsigned(content: Content, at: int) -> tuple[int, int]:
    number = 0
    for turn in range(10):
        byte = content[at + turn]
        number |= (byte & 127) << 7 * turn
        if byte < 128:
            return number, at + turn + 1
    raise ValueError("a number that does not end")


def _signed(content: Content, at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return number >> 1 ^ -(number & 1), at
