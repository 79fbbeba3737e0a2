"""The mark of what only the owner may know, wherever it is shown.

Uses nothing; rooms that compute such things use it.

A notebook prints whatever a cell ends with, and notebooks are passed on: figures about the input
that no budget paid for carry the mark in their `repr`.
"""

from typing import TypeVar

__all__ = ["NOTICE", "OWNER_ONLY", "owner_only"]

OWNER_ONLY = "owner only: "
"""What the text of such a thing begins with."""

NOTICE = f"{OWNER_ONLY}this report reveals information about the input"
"""The first and the last line of a report for the owner."""

Made = TypeVar("Made")


def owner_only(thing: type[Made]) -> type[Made]:
    """A dataclass of figures about the input, whose `repr` begins with the mark.

    >>> from dataclasses import dataclass
    >>> @owner_only
    ... @dataclass
    ... class Size:
    ...     rows: int
    >>> Size(3)
    owner only: Size(rows=3)
    """
    inner = thing.__repr__

    def marked(self: Made) -> str:
        return OWNER_ONLY + inner(self).replace(OWNER_ONLY, "")  # once is enough

    thing.__repr__ = marked  # type: ignore[method-assign, assignment]
    return thing
