"""The file of a ledger: entries in SQLite, each chained to the one before it by a hash. Uses `custody`; `Ledger` uses it.

An entry is a number, a text and a digest of both and of the digest before. Every commit of the file adds exactly one entry.
Every operation opens the file anew and closes it, so that no lock outlives it and any thread or process may come next.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import FileError
from shoal.ledger.pages import Row, commits, oddities
from shoal.log.custody import require_locks, sound, sync

__all__ = [
    "Link",
    "append",
    "create",
    "following",
    "links",
    "reading",
    "require",
    "verify",
    "writing",
]

LAYOUT = 1
"""Of the file; kept where SQLite has room for such a number."""

SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest TEXT NOT NULL)"
)

_MARK = 0x53686F6C  # "Shol": tells a ledger from other SQLite files
_OWN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)  # none is made through a link
_PATIENCE = 60.0  # seconds to wait for other processes; an entry takes milliseconds
_PRAGMAS = (
    # A commit has happened once the journal is gone, and EXTRA also syncs the directory that it is gone from: FULL would let
    # a power cut bring the journal back, and with it the state before an entry whose release is out already.
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",  # macOS, where a plain fsync does not reach the disk
    "PRAGMA secure_delete = ON",  # bytes that are not in use are zero, so that `verify` can account for every byte
)


@dataclass(frozen=True)
class Link:
    """One entry of the chain."""

    number: int
    content: Mapping[str, Any]
    digest: str


def create(path: Path, content: Mapping[str, Any], seen: Callable[[Link], None]) -> None:
    """Make a ledger with its first entry; FileError if there is one. Only its owner may read it.

    Whoever dies half-way leaves an empty file, which is no ledger yet: creating it again goes on from there. The first entry
    is `seen` before it counts, so that no ledger is without the witness that it says it has.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | _OWN, 0o600))
    except OSError as error:
        raise FileError(
            f"cannot make a ledger at {path}: {error.strerror}; give a path you may write to"
        ) from None
    with _told(path), closing(_connect(path)) as connection:
        for pragma in (
            "PRAGMA page_size = 4096",
            "PRAGMA encoding = 'UTF-8'",
            "PRAGMA auto_vacuum = NONE",
        ):
            connection.execute(pragma)
        _prepare(connection)
        with _transaction(connection, "IMMEDIATE"):
            if os.stat(path).st_size:  # nothing is written before the commit
                raise FileError(
                    f"{path} exists already; a ledger is never overwritten, so give another path"
                )
            require_locks(path)
            os.chmod(path, 0o600)  # an empty file may have been there
            connection.execute(f"PRAGMA application_id = {_MARK}")
            connection.execute(f"PRAGMA user_version = {LAYOUT}")
            connection.execute(SCHEMA)
            seen(append(connection, [], content))
    sync(path.parent)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The ledger as it is at one moment."""
    with _opened(path) as connection, _transaction(connection, "DEFERRED"):
        yield connection


@contextmanager
def writing(path: Path, *, unread: bool = False) -> Iterator[sqlite3.Connection]:
    """The ledger for this process alone; what was appended is on the disk when the block ends well, else nothing is.

    Others may read it meanwhile, unless it is to be `unread`.
    """
    with _opened(path) as connection:
        _prepare(connection)
        with _transaction(connection, "EXCLUSIVE" if unread else "IMMEDIATE"):
            require_locks(path)
            yield connection


def links(connection: sqlite3.Connection, path: Path, *, whole: bool = False) -> list[Link]:
    """All entries; FileError if the chain is broken, or is not as long as the file says in another place.

    A chain of digests does not show that its end is missing: one changed bit in the head of a page is enough to hide entries.
    With `whole`, every byte is accounted for, as `verify` does.
    """
    rows = _rows(connection)
    if wrong := next(_breaks(rows), None) or next(_surplus(connection, path, rows, whole), None):
        raise FileError(
            f"{path}: {wrong}; the ledger was changed by something other than Shoal (shoal ledger verify)"
        )
    return [Link(number, json.loads(content), digest) for number, content, digest in rows]


def following(connection: sqlite3.Connection, path: Path, number: int, digest: str) -> list[Link]:
    """The entries after one that is known; FileError if that one is not there, or the chain is broken after it."""
    rows = _rows(connection, number)
    known = bool(rows) and (rows[0][0], rows[0][2]) == (number, digest)
    if not known or any(_breaks(rows[1:], number, digest)):
        raise FileError(f"{path}: entry {number} and those after it are not as they were written")
    return [Link(own, json.loads(content), stated) for own, content, stated in rows[1:]]


def append(connection: sqlite3.Connection, chain: list[Link], content: Mapping[str, Any]) -> Link:
    """Add an entry to the chain that was read in the same transaction."""
    number = len(chain) + 1
    # Which SQLite wrote last stands in the file's first page too, and `verify` compares.
    text = json.dumps(
        {**content, "sqlite": sqlite3.sqlite_version}, sort_keys=True, allow_nan=False
    )
    link = Link(number, json.loads(text), _digest(chain[-1].digest if chain else "", number, text))
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, link.digest))
    return link


def verify(path: Path, head: str | None = None) -> list[str]:
    """What is wrong with the file of a ledger, a line each; `head` is the digest of an entry that must be in it."""
    require(path)
    try:
        with closing(_connect(path)) as connection, _transaction(connection, "DEFERRED"):
            rows = _rows(connection)
            found = list(_breaks(rows))
            if head is not None and head.strip().lower() not in {digest for _, _, digest in rows}:
                found.append(
                    "the entry with the given digest is not in it: the ledger was cut short, replaced or written anew"
                )
            return found or list(_surplus(connection, path, rows, whole=True))
    except sqlite3.OperationalError as error:
        if _busy(error):
            raise FileError(
                f"{path} is in use by another process for over a minute; try again"
            ) from None
        return ["SQLite cannot read it: the file is damaged, or no ledger"]
    except (sqlite3.DatabaseError, ValueError):
        return ["SQLite cannot read it: the file is damaged, or no ledger"]


def _rows(connection: sqlite3.Connection, since: int = 0) -> list[Row]:
    """The entries from a number on; all of them if it is 0, also those with a number that none may have."""
    query = "SELECT number, content, digest FROM entries WHERE number >= ? OR ? = 0 ORDER BY number"
    try:
        return connection.execute(query, (since, since)).fetchall()
    except UnicodeError:  # where the schema is damaged, the names of columns are
        raise sqlite3.DatabaseError("the schema is damaged") from None


def _surplus(
    connection: sqlite3.Connection, path: Path, rows: list[Row], whole: bool
) -> Iterator[str]:
    """What the file has, or lacks, beside a chain of entries that is sound as far as it goes."""
    if not hasattr(connection, "serialize"):  # an SQLite without it
        if not sound(connection):
            yield "its pages contradict each other"
        return
    # Read through SQLite: to open and close the file besides it would take away the locks of this process.
    image = connection.serialize()
    if (written := commits(image)) != len(rows):
        yield f"it has {len(rows)} of the {written} entries that its first page counts"
    elif whole:
        size = os.stat(path).st_size
        yield from oddities(image, size, SCHEMA, _MARK, LAYOUT, rows, _version(rows))


def _breaks(rows: list[Row], before: int = 0, previous: str = "") -> Iterator[str]:
    """Where the chain of entries is broken, after as many as were `before` with the digest `previous` at the end."""
    if not rows and not before:
        yield "it has no entry, not even that of its creation"
    for place, (number, content, digest) in enumerate(rows, before + 1):
        if number != place:
            yield f"entry {place} is missing"
            return
        if not isinstance(content, str) or digest != _digest(previous, number, content):
            yield f"entry {number} was changed, or is not the one that was there"
        previous = str(digest)


def _digest(previous: str, number: int, content: str) -> str:
    return hashlib.sha256(
        f"shoal ledger {LAYOUT}\n{previous}\n{number}\n{content}".encode(errors="surrogateescape")
    ).hexdigest()


def _version(rows: list[Row]) -> int:
    """The number of the SQLite that wrote the last entry, as SQLite writes it."""
    major, minor, patch = map(int, json.loads(rows[-1][1])["sqlite"].split("."))
    return major * 1_000_000 + minor * 1_000 + patch


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    require(path)
    with _told(path), closing(_connect(path)) as connection:
        mark = connection.execute("PRAGMA application_id").fetchone()[
            0
        ]  # a commit that was cut short is taken back here
        if not os.stat(path).st_size:
            raise FileError(
                f"{path} is empty: its creation was cut short; run shoal ledger create {path} again"
            )
        if mark != _MARK:
            raise FileError(
                f"{path} is no ledger; give the path that was given to shoal ledger create"
            )
        if (layout := connection.execute("PRAGMA user_version").fetchone()[0]) != LAYOUT:
            raise FileError(
                f"{path} has layout {layout}, and this version reads {LAYOUT}; use the Shoal that wrote it"
            )
        yield connection


def require(path: Path) -> None:
    try:
        os.stat(path)
    except OSError as error:
        raise FileError(
            f"no ledger at {path}: {error.strerror}; make one with shoal ledger create {path}"
        ) from None
    if not os.path.isfile(path):
        raise FileError(f"{path} is no file; a ledger is one file, made by shoal ledger create")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = lambda text: text.decode(
        errors="surrogateescape"
    )  # a damaged text is told, not refused
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """What writing needs, and reading must not do: it might change the file."""
    for pragma in _PRAGMAS:
        connection.execute(pragma)


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(
            sqlite3.Error
        ):  # SQLite may have rolled back already; closing does it in any case
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What SQLite says, in our words; its own may quote a value."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if _busy(error):
            raise FileError(
                f"{path} is in use by another process for over a minute; try again"
            ) from None
        code = getattr(error, "sqlite_errorname", "an unknown error")
        raise FileError(
            f"{path} cannot be read or written ({code}); check its rights and the room on the disk"
        ) from None
    except sqlite3.DatabaseError:
        raise FileError(
            f"{path} is there, and is damaged or no ledger; shoal ledger verify tells more"
        ) from None


def _busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
