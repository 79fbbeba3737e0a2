"""What an entry of a log is, and how it is chained to the one before it. `store` uses it.

An entry is a number, a text and a digest of both and of the digest before. So a changed, missing or
moved entry breaks the chain. What a chain cannot show is that its end is missing: `pages`,
`witness` and a head noted elsewhere do that.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from shoal import __version__

__all__ = [
    "SCHEMA",
    "START",
    "VERSION",
    "Head",
    "Link",
    "Purpose",
    "Row",
    "breaks",
    "digest_of",
    "link",
    "now",
]

VERSION = 2
"""Of the layout: the tables, the form of an entry, and what its digest is of."""

SCHEMA = (
    "CREATE TABLE shoal_entries "
    "(number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest TEXT NOT NULL)"
)

Row = tuple[int, str, str]
"""An entry as a database has it: number, content, digest."""


@dataclass(frozen=True)
class Purpose:
    """What a log is for: the words of its messages, and what tells it from other databases.

    noun: what it is called
    mark: the application id of its SQLite files
    create: the command that makes one
    repair: what to do about one that was changed
    tables: what it keeps besides its entries. A file without any holds nothing but the chain, so
        that every byte of it can be accounted for
    queued: whether writers wait in a queue, because many of them ask at once
    """

    noun: str
    mark: int
    create: str
    repair: str
    tables: tuple[str, ...] = ()
    queued: bool = False

    @property
    def indefinite(self) -> str:
        """The noun with its article."""
        article = "an" if self.noun[0] in "aeiou" else "a"
        return f"{article} {self.noun}"


class Head(NamedTuple):
    """The end of a chain, or of a part of it."""

    number: int
    digest: str


START = Head(0, "")
"""Before the first entry."""


@dataclass(frozen=True)
class Link:
    """One entry of a chain: what happened, when, and the facts that belong to it."""

    number: int
    what: str
    time: str
    facts: Mapping[str, Any]
    digest: str

    @classmethod
    def of(cls, row: Row) -> "Link":
        """The entry in a row, whose digest was checked."""
        number, text, digest = row
        content = json.loads(text)
        return cls(number, content["what"], content["time"], content["facts"], digest)

    @property
    def head(self) -> Head:
        """The end of the chain when this entry was the last."""
        return Head(self.number, self.digest)


def link(
    purpose: Purpose, last: Head, what: str, facts: Mapping[str, Any], stamp: Mapping[str, str]
) -> tuple[Link, Row]:
    """A new entry after the last one, and its row. The `stamp` says what wrote it."""
    content = {"what": what, "time": now(), "facts": facts, "shoal": __version__, **stamp}
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    number = last.number + 1
    row = number, text, digest_of(purpose, last.digest, number, text)
    return Link.of(row), row


def breaks(purpose: Purpose, rows: Iterable[Row], last: Head = START) -> Iterator[str]:
    """Where a chain is broken that goes on after `last`."""
    number, previous = last
    for stated, text, digest in rows:
        number += 1
        if stated != number:
            yield f"entry {number} is missing or was changed"
            return
        if not isinstance(text, str) or digest != digest_of(purpose, previous, number, text):
            yield f"entry {number} was changed, or is not the one that was there"
        previous = str(digest)
    if not number:
        yield "it has no entries, not even that of its creation"


def now() -> str:
    """The time of an entry: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest_of(purpose: Purpose, previous: str, number: int, text: str) -> str:
    # A damaged text may hold bytes that are not UTF-8; they must count as changed, not fail.
    content = f"shoal {purpose.noun} {VERSION}\n{previous}\n{number}\n{text}"
    return hashlib.sha256(content.encode(errors="surrogateescape")).hexdigest()
