"""The mark of what only the owner may know, wherever it is shown; and short `repr`s.

Uses nothing; rooms that compute such things use it.

A notebook prints whatever a cell ends with, and notebooks are passed on: figures about the input
that no budget paid for carry the mark in their `repr`. A `repr` fits a few lines, and of what has
parts it has how many, since these may be values of the input.
"""

from collections.abc import Iterator, Sized
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

__all__ = ["NOTICE", "NOT_FOR_RELEASE", "OWNER_ONLY", "brief", "owner_only"]

OWNER_ONLY = "owner only: "
"""What the text of such a thing begins with."""

NOTICE = f"{OWNER_ONLY}this report reveals information about the input"
"""The first and the last line of a report for the owner."""

NOT_FOR_RELEASE = {"not_for_release": True, "notice": NOTICE}
"""What the JSON of such a thing begins with."""

_LONGEST = 200
"""Characters of the parts of a `repr`: with the name, three lines of a terminal at most."""

_LONGEST_TEXT = 40
"""Characters of a text in a `repr`."""

_LONGEST_PART = 60
"""Characters of a part that has parts of its own."""

_LONGEST_NUMBER = 16
"""Characters of an exact number."""

_NAMES = frozenset({"columns", "left_out", "node"})
"""Parts that are names of columns, or levels: these are shown where they are few."""

Made = TypeVar("Made")


def owner_only(thing: type[Made]) -> type[Made]:
    """A dataclass of figures about the input, whose short `repr` begins with the mark.

    >>> from dataclasses import dataclass
    >>> @owner_only
    ... @dataclass
    ... class Size:
    ...     rows: int
    >>> Size(3)
    owner only: Size(rows=3)
    """

    def marked(self: Made) -> str:
        return OWNER_ONLY + _short(self).replace(OWNER_ONLY, "")  # once is enough

    thing.__repr__ = marked  # type: ignore[method-assign, assignment]
    return thing


def brief(thing: type[Made]) -> type[Made]:
    """A dataclass with a short `repr`: how many things a part has, and no part that has none.

    >>> from dataclasses import dataclass
    >>> @brief
    ... @dataclass
    ... class Page:
    ...     title: str
    ...     lines: tuple[str, ...]
    ...     note: str | None = None
    >>> Page("Fish", ("one", "two"))
    Page(title='Fish', lines=<2 items>)
    """
    thing.__repr__ = _short  # type: ignore[method-assign]
    return thing


def _short(thing: Any) -> str:
    """A dataclass in a few lines."""
    shown: list[str] = []
    left = _LONGEST
    for part in _parts(thing):
        left -= len(part) + len(", ")
        if left < 0:
            shown.append("…")
            break
        shown.append(part)
    return f"{type(thing).__name__}({', '.join(shown)})"


def _parts(thing: Any) -> Iterator[str]:
    for field in fields(thing):
        value = getattr(thing, field.name)
        absent = value is None or (isinstance(value, Sized) and not len(value))
        if not field.repr or absent:
            continue
        if field.name in _NAMES and isinstance(value, tuple) and len(str(value)) <= _LONGEST_TEXT:
            yield f"{field.name}={value}"
        else:
            yield f"{field.name}={_value(value)}"


def _value(value: Any) -> str:
    """A part in a few characters."""
    match value:
        case str() if len(value) > _LONGEST_TEXT:
            return repr(value[:_LONGEST_TEXT] + "…")
        case Enum():
            return repr(value.value)
        case str() | bool() | int():
            return repr(value)
        case float():
            return f"{value:.6g}"
        case Fraction():
            exact = str(value)
            return exact if len(exact) <= _LONGEST_NUMBER else f"{float(value):.6g}…"
        case Sized():
            return f"<{len(value):,} items>" if len(value) != 1 else "<1 item>"
    # A number of our own, or something with a short text of its own.
    text = str(value)
    return text if len(text) <= _LONGEST_PART else f"{type(value).__name__}(…)"
