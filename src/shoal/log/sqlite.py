"""A log in an SQLite file that only its owner may read.

Uses `custody` and `pages`; `ledger` and `audit` use it.

Every transaction opens the file anew and closes it, so that no lock outlives it and any thread or
process may come next.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from shoal.errors import FileError
from shoal.log.chain import SCHEMA, VERSION, Purpose, Row, breaks
from shoal.log.custody import require_locks, sound, sync
from shoal.log.pages import Header, commits, oddities

__all__ = ["PRAGMAS", "Sqlite"]

PRAGMAS = (
    # A commit has happened once the journal is gone, and EXTRA also syncs the directory it is
    # gone from. FULL would let a power cut bring the journal back, and with it the state before
    # an entry that was acted upon. A write-ahead log would leave three files instead of one.
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    # macOS, where a plain fsync does not reach the disk.
    "PRAGMA fullfsync = ON",
    # Bytes that are not in use are zero, so that every byte can be accounted for.
    "PRAGMA secure_delete = ON",
)
"""What writing needs, and reading must not do: it might change the file."""

PATIENCE = 60.0
"""Seconds to wait for other processes; an entry takes milliseconds."""

_SHAPE = ("PRAGMA page_size = 4096", "PRAGMA encoding = 'UTF-8'", "PRAGMA auto_vacuum = NONE")
# No log is made through a link.
_SAFELY = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Sqlite:
    """The file of a log."""

    parameter = "?"

    def __init__(self, path: Path, purpose: Purpose) -> None:
        self.path = path
        self.purpose = purpose

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def stamp(self) -> Mapping[str, str]:
        """The first page of the file also says which SQLite wrote last, and `surplus` compares."""
        return {"sqlite": sqlite3.sqlite_version}

    @contextmanager
    def creating(self) -> Iterator[sqlite3.Connection]:
        """Whoever dies half-way leaves an empty file, which is not a log yet."""
        purpose = self.purpose
        try:
            os.close(os.open(self.path, _SAFELY | os.O_CREAT, 0o600))
        except OSError as error:
            problem = f"cannot make {purpose.indefinite} here: {error.strerror}"
            raise FileError(problem, "give a path you may write to", where=self.name) from None
        with self._in_words(), closing(self._connect()) as connection:
            for pragma in (*_SHAPE, *PRAGMAS):
                connection.execute(pragma)
            with _transaction(connection, "IMMEDIATE"):
                # Nothing is written before the commit, so a file with content was there before.
                if os.stat(self.path).st_size:
                    problem = f"it exists already, and {purpose.indefinite} is never overwritten"
                    raise FileError(problem, "give another path", where=self.name)
                require_locks(self.path)
                # An empty file may have been there, with other rights.
                os.chmod(self.path, 0o600)
                connection.execute(f"PRAGMA application_id = {purpose.mark}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
                for statement in (SCHEMA, *purpose.tables):
                    connection.execute(statement)
                yield connection
        sync(self.path.parent)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as connection, _transaction(connection, "DEFERRED"):
            self._require_sound(connection)
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[sqlite3.Connection]:
        with self._queued(), self._opened() as connection:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            with _transaction(connection, "EXCLUSIVE" if alone else "IMMEDIATE"):
                self._require_sound(connection)
                require_locks(self.path)
                yield connection

    def require(self) -> None:
        """FileError if there is no file."""
        purpose = self.purpose
        try:
            os.stat(self.path)
        except OSError as error:
            problem = f"there is no {purpose.noun} here: {error.strerror}"
            fix = f"make one with {purpose.create} {self.path}"
            raise FileError(problem, fix, where=self.name) from None
        except ValueError:
            raise FileError("this cannot be a path", "give another one") from None
        if not os.path.isfile(self.path):
            fix = f"{purpose.indefinite} is one file, made by {purpose.create}"
            raise FileError("not a file", fix, where=self.name)

    def surplus(
        self, connection: sqlite3.Connection, rows: Sequence[Row], whole: bool
    ) -> Iterator[str]:
        """A changed bit in the head of a page can hide entries, and the chain would not show it."""
        if self.purpose.tables:
            return
        if not hasattr(connection, "serialize"):
            # Some builds of SQLite cannot give an image of the file.
            if not sound(connection):
                yield "its pages contradict each other"
            return
        # To open and close the file besides SQLite would take away the locks of this process.
        image = connection.serialize()
        written = commits(image)
        if written != len(rows):
            yield f"it has {len(rows)} of the {written} entries that its first page counts"
        elif whole:
            header = Header(len(rows), self.purpose.mark, VERSION, _version(rows))
            yield from oddities(image, os.stat(self.path).st_size, header, SCHEMA, rows)

    def problems(self, head: str | None = None) -> list[str]:
        """What is wrong with the file; `head` is the digest of an entry that must be in it."""
        self.require()
        damaged = [
            f"SQLite cannot read it: the file is damaged, or is not {self.purpose.indefinite}"
        ]
        try:
            with closing(self._connect()) as connection, _transaction(connection, "DEFERRED"):
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version != VERSION:
                    return [f"it has layout {version}, and this Shoal reads {VERSION}"]
                query = "SELECT number, content, digest FROM shoal_entries ORDER BY number"
                rows = connection.execute(query).fetchall()
                problems = list(breaks(self.purpose, rows))
                digests = {digest for _, _, digest in rows}
                if head is not None and head.strip().lower() not in digests:
                    problems.append(
                        "the entry with the given digest is not in it: "
                        "it was cut short, replaced or written anew"
                    )
                return problems or list(self.surplus(connection, rows, whole=True))
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                raise self._busy() from None
            return damaged
        # A damaged schema has column names that are not UTF-8.
        except (sqlite3.DatabaseError, ValueError):
            return damaged

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self.require()
        with self._in_words(), closing(self._connect()) as connection:
            # A commit that was cut short is taken back by this first statement.
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            create = self.purpose.create
            if not os.stat(self.path).st_size:
                fix = f"run {create} {self.path} again"
                raise FileError("empty: its creation was cut short", fix, where=self.name)
            if mark != self.purpose.mark:
                fix = f"give the path that was given to {create}"
                raise FileError(f"not {self.purpose.indefinite}", fix, where=self.name)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                problem = f"it has layout {version}, and this Shoal reads {VERSION}"
                raise FileError(problem, "use the Shoal that wrote it", where=self.name)
            yield connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        # A damaged text is still read, so that the entry it is in can be named.
        connection.text_factory = _text
        return connection

    def _require_sound(self, connection: sqlite3.Connection) -> None:
        """FileError if entries could be hidden in a file whose bytes cannot be accounted for."""
        if not self.purpose.tables:
            return
        try:
            intact = sound(connection)
        except UnicodeError:  # a damaged schema
            intact = False
        if not intact:
            problem = "the file is damaged, so entries of its log may be hidden"
            raise FileError(problem, self.purpose.repair, where=self.name)

    @contextmanager
    def _queued(self) -> Iterator[None]:
        """Wait for others before asking SQLite, where whoever asks a lot would always come first.

        Only for fairness; what keeps writers apart is SQLite's own lock.
        """
        # There are no such locks on Windows; without a file, the error comes next.
        place = None
        if self.purpose.queued and os.name == "posix" and self.path.is_file():
            with suppress(OSError):
                place = os.open(f"{self.path}-turn", _SAFELY | os.O_CREAT, 0o600)
        if place is None:
            yield
            return
        try:
            if not _lock(place):
                raise self._busy()
            yield
        finally:
            os.close(place)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """What SQLite says, in our words; its own may quote a value."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                raise self._busy() from None
            code = getattr(error, "sqlite_errorname", "an unknown error")
            problem = f"it cannot be read or written ({code})"
            fix = "check its rights and the room on the disk"
            raise FileError(problem, fix, where=self.name) from None
        except sqlite3.DatabaseError:
            problem = f"the file is damaged, or is not {self.purpose.indefinite}"
            raise FileError(problem, self.purpose.repair, where=self.name) from None

    def _busy(self) -> FileError:
        return FileError("in use by others for over a minute", "try again", where=self.name)


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back already, and closing does it in any case.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _lock(place: int) -> bool:
    """Take the lock on an open file; False if others hold it for too long.

    Whoever waits in the system's own queue comes next; whoever looks now and then does not. That
    wait has no time limit, so a thread does it, on a copy of the open file. If nobody wants the
    lock any more when it comes, it goes as the last copy is closed.
    """
    import fcntl

    def wait(copy: int) -> None:
        with suppress(OSError):
            fcntl.flock(copy, fcntl.LOCK_EX)
        os.close(copy)

    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting = threading.Thread(target=wait, args=(os.dup(place),), daemon=True)
        waiting.start()
        waiting.join(PATIENCE)
        return not waiting.is_alive()
    except OSError:
        # Some network drives have no such locks.
        pass
    return True


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in _BUSY


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


def _version(rows: Sequence[Row]) -> int:
    """The number of the SQLite that wrote the last entry, as SQLite writes it."""
    _, content, _ = rows[-1]
    major, minor, patch = map(int, json.loads(content)["sqlite"].split("."))
    return major * 1_000_000 + minor * 1_000 + patch
