"""Where an audit is kept: the data, the log and the keys, in an SQLite file or a PostgreSQL database. `Audit` uses it.

The log only grows. An entry is a number, a text and a digest of both and of the digest before, so that a changed or missing
entry is noticed. Both databases run the same statements; they differ in how a connection is made and how a turn begins.
"""

import hashlib
import hmac
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from shoal.errors import FileError, ParameterError
from shoal.log.custody import require_locks, sound, sync

__all__ = ["Key", "Link", "Store", "Turn"]

LAYOUT = 1
SCHEMA = (
    "CREATE TABLE shoal_entries (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE shoal_data (name TEXT PRIMARY KEY, content TEXT NOT NULL)",
    "CREATE TABLE shoal_keys (name TEXT PRIMARY KEY, role TEXT NOT NULL, digest TEXT NOT NULL, made TEXT NOT NULL)",
)

_MARK = 0x53686F61  # "Shoa": tells an audit from other SQLite files
_OWN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)  # none is made through a link
_PATIENCE = 60  # seconds to wait for whoever else is deciding
_IDLE = 8  # connections to PostgreSQL that are kept open
_PRAGMAS = (
    # As for the ledger: a commit has happened once the journal is gone, and EXTRA also syncs the directory that it is gone from.
    # A write-ahead log would let readers in during a commit, which takes milliseconds, and would leave three files to keep
    # together instead of one.
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    "PRAGMA secure_delete = ON",
)


@dataclass(frozen=True)
class Link:
    """One entry of the log."""

    number: int
    content: Mapping[str, Any]
    digest: str


@dataclass(frozen=True)
class Key:
    """Someone who may ask the service: a name and a role. Of the key itself only a digest is kept."""

    name: str
    role: str
    digest: str
    made: str


class _Connection(Protocol):
    """What the connections of both databases have in common."""

    def execute(self, statement: Any, values: Sequence[Any] = ..., /) -> Any: ...

    def close(self) -> None: ...


class _Database(Protocol):
    name: str
    value: str  # how a value is marked in a statement
    reading: tuple[str, ...]  # how a transaction begins
    writing: tuple[str, ...]

    def connected(self, making: bool = False) -> Any: ...

    def queued(self) -> Any: ...

    def require_sound(self, connection: Any, writing: bool) -> None: ...

    def told(self) -> Any: ...


class Turn:
    """A transaction: what is in the store at this moment and, where it is for writing, nobody else writes until it ends."""

    def __init__(self, connection: _Connection, database: _Database) -> None:
        self._connection, self._database = connection, database

    def run(self, statement: str, *values: object) -> Any:
        return self._connection.execute(statement.replace("?", self._database.value), values)

    def links(self, last: Link | None) -> list[Link]:
        """The entries after the last one that is known; FileError if that one is no longer there, or the chain is broken."""
        rows = self.run(
            "SELECT number, content, digest FROM shoal_entries WHERE number >= ? ORDER BY number",
            last.number if last else 0,
        ).fetchall()
        number, digest = (last.number, last.digest) if last else (0, "")
        if (
            last
        ):  # the log may have been cut, or an older one put in its place, while this process ran
            if not rows or (rows[0][0], rows[0][2]) != (number, digest):
                raise FileError(
                    f"{self._database.name}: the log no longer has entry {number} as it was; put the log back that has it, and "
                    "answer nothing before"
                )
            del rows[0]
        elif not rows:
            raise FileError(
                f"{self._database.name}: the log has no entries, so they were removed; answer nothing"
            )
        found = []
        for own, content, stated in rows:
            if own != number + 1 or not hmac.compare_digest(_digest(digest, own, content), stated):
                raise FileError(
                    f"{self._database.name}: entry {number + 1} of the log was changed or is missing; answer nothing"
                )
            number, digest = own, stated
            found.append(Link(own, json.loads(content), stated))
        return found

    def append(self, last: Link | None, content: Mapping[str, Any]) -> Link:
        """Add an entry after the last one. It counts once the turn has ended well."""
        number = last.number + 1 if last else 1
        text = json.dumps(content, sort_keys=True, allow_nan=False)
        link = Link(number, json.loads(text), _digest(last.digest if last else "", number, text))
        self.run("INSERT INTO shoal_entries VALUES (?, ?, ?)", number, text, link.digest)
        return link


class Store:
    """The store at a path or a URL such as postgresql://host/database; `create` makes one."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._database = _database(place)

    @property
    def name(self) -> str:
        """The place, for people: without a password."""
        return self._database.name

    @classmethod
    def create(
        cls, place: str | os.PathLike[str], content: Mapping[str, Any], data: Mapping[str, str]
    ) -> "Store":
        """Make a store with its first entry and the data; FileError if there is one already."""
        store = cls(place)
        with store._database.told(), store._database.connected(making=True) as connection:
            turn = Turn(connection, store._database)
            for statement in SCHEMA:
                turn.run(statement)
            for name, text in data.items():
                turn.run("INSERT INTO shoal_data VALUES (?, ?)", name, text)
            turn.append(None, content)
            turn.run("COMMIT")
        return store

    @contextmanager
    def reading(self) -> Iterator[Turn]:
        """The store as it is at one moment."""
        with self._begun(writing=False) as turn:
            yield turn

    @contextmanager
    def writing(self) -> Iterator[Turn]:
        """The store while nobody else writes. What was written is on the disk when the block ends well; else nothing is."""
        with self._database.queued(), self._begun(writing=True) as turn:
            yield turn

    @contextmanager
    def _begun(self, *, writing: bool) -> Iterator[Turn]:
        statements = self._database.writing if writing else self._database.reading
        with self._database.told(), self._database.connected() as connection:
            turn = Turn(connection, self._database)
            try:
                for statement in statements:
                    turn.run(statement)
                self._database.require_sound(connection, writing)
                yield turn
                turn.run("COMMIT")
            except BaseException:
                with suppress(
                    Exception
                ):  # it may be rolled back already, or the connection may be gone
                    turn.run("ROLLBACK")
                raise

    def data(self) -> dict[str, str]:
        """The data, by name."""
        with self.reading() as turn:
            return dict(turn.run("SELECT name, content FROM shoal_data").fetchall())

    # Keys of the service

    def keys(self) -> list[Key]:
        """Everyone who may ask."""
        with self.reading() as turn:
            return [
                Key(*row)
                for row in turn.run(
                    "SELECT name, role, digest, made FROM shoal_keys ORDER BY name"
                ).fetchall()
            ]

    def add_key(self, key: Key) -> None:
        """ParameterError if someone of that name is there already."""
        with self.writing() as turn:
            if turn.run("SELECT 1 FROM shoal_keys WHERE name = ?", key.name).fetchone():
                raise ParameterError(
                    f"{key.name!r} has a key already; remove it first, or take another name"
                )
            turn.run(
                "INSERT INTO shoal_keys VALUES (?, ?, ?, ?)",
                key.name,
                key.role,
                key.digest,
                key.made,
            )

    def remove_key(self, name: str) -> None:
        """ParameterError if there is none of that name."""
        with self.writing() as turn:
            if not turn.run("SELECT 1 FROM shoal_keys WHERE name = ?", name).fetchone():
                raise ParameterError(
                    f"nobody called {name!r} has a key; shoal audit key list lists them"
                )
            turn.run("DELETE FROM shoal_keys WHERE name = ?", name)


def _digest(previous: str, number: int, content: str) -> str:
    return hashlib.sha256(
        f"shoal audit {LAYOUT}\n{previous}\n{number}\n{content}".encode()
    ).hexdigest()


def _database(place: str | os.PathLike[str]) -> _Database:
    text = os.fspath(place)
    scheme, colon, rest = text.partition("://")
    if colon and scheme in ("postgresql", "postgres"):
        return _Postgres(text)
    if colon and scheme != "sqlite":
        raise ParameterError(
            f"{scheme}:// is no store that Shoal knows; give a file, or postgresql://…"
        )
    return _Sqlite(Path(rest.removeprefix("/") if colon else text))


class _Sqlite:
    """A file. Every turn opens it anew and closes it, so that no lock outlives it and any thread or process may come next."""

    value = "?"
    reading: tuple[str, ...] = ("BEGIN DEFERRED",)
    writing: tuple[str, ...] = (*_PRAGMAS, "BEGIN IMMEDIATE")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @contextmanager
    def connected(self, making: bool = False) -> Iterator[_Connection]:
        if making:
            with self._made() as connection:
                yield connection
            return
        if not self.path.is_file():
            raise FileError(f"no audit at {self.path}; make one with shoal audit new")
        with closing(self._opened()) as connection:
            mark = connection.execute("PRAGMA application_id").fetchone()[
                0
            ]  # a commit that was cut short is taken back here
            if mark != _MARK:
                raise FileError(
                    f"{self.path} is no audit, or its making was cut short; make one with shoal audit new"
                )
            if (layout := connection.execute("PRAGMA user_version").fetchone()[0]) != LAYOUT:
                raise FileError(
                    f"{self.path} has layout {layout}, and this version reads {LAYOUT}; use the Shoal that wrote it"
                )
            yield connection

    def require_sound(self, connection: sqlite3.Connection, writing: bool) -> None:
        """FileError if entries could be hidden, as one changed bit can do, or if others could write at the same time."""
        try:
            whole = sound(connection)
        except UnicodeError:  # where the schema is damaged, the names of columns are
            whole = False
        if not whole:
            raise FileError(
                f"{self.path} is damaged, so entries of its log may be hidden; answer nothing, and put its newest copy back"
            )
        if writing:
            require_locks(self.path)

    @contextmanager
    def queued(self) -> Iterator[None]:
        """Wait for others before asking SQLite, which looks now and then: whoever asks a lot would always be faster.

        Only for fairness; what keeps writers apart is SQLite's own lock.
        """
        if (
            os.name != "posix" or not self.path.is_file()
        ):  # no such locks on Windows; without a file, the error comes next
            yield
            return
        try:
            place = os.open(f"{self.path}-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield
            return
        try:
            if not _waited(place):
                raise FileError(f"{self.path} is in use by others for over a minute; ask again")
            yield
        finally:
            os.close(place)

    @contextmanager
    def _made(self) -> Iterator[sqlite3.Connection]:
        """A new file that only its owner may read. Whoever dies half-way leaves an empty one, and may begin again."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | _OWN, 0o600))
        except OSError as error:
            raise FileError(
                f"cannot make an audit at {self.path}: {error.strerror}; give a path you may write to"
            ) from None
        with closing(self._opened()) as connection:
            for statement in self.writing:
                connection.execute(statement)
            if os.stat(self.path).st_size:  # nothing is written before the commit
                raise FileError(
                    f"{self.path} exists already; an audit is never overwritten, so give another place"
                )
            require_locks(self.path)
            os.chmod(self.path, 0o600)  # an empty file may have been there
            connection.execute(f"PRAGMA application_id = {_MARK}")
            connection.execute(f"PRAGMA user_version = {LAYOUT}")
            yield connection
        sync(self.path.parent)

    def _opened(self) -> sqlite3.Connection:
        place = f"{self.path.resolve().as_uri()}?mode=rw"
        return sqlite3.connect(
            place, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def told(self) -> Iterator[None]:
        """What SQLite says, in our words; its own may quote a value."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) in (
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            ):
                raise FileError(
                    f"{self.path} is in use by others for over a minute; ask again"
                ) from None
            code = getattr(error, "sqlite_errorname", "an unknown error")
            raise FileError(
                f"{self.path} cannot be read or written ({code}); check its rights and the room on the disk"
            ) from None
        except sqlite3.DatabaseError:
            raise FileError(f"{self.path} is there, and is damaged or no audit") from None


def _waited(place: int) -> bool:
    """Take the lock on an open file; False if others hold it for too long.

    Whoever waits in the system's own queue comes next; whoever looked now and then would not. Such a wait has no end of its own,
    so it is a thread's, which has the same open file: if nobody wants the lock when it comes, it goes as the last copy is closed.
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
        waiting.join(_PATIENCE)
        return not waiting.is_alive()
    except OSError:  # some network drives have no such locks
        pass
    return True


class _Postgres:
    """A database, or a schema of one; a few connections are kept. A transaction takes its turn by a lock on the log."""

    value = "%s"
    reading: tuple[str, ...] = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
    writing: tuple[str, ...] = (
        "BEGIN ISOLATION LEVEL READ COMMITTED",
        "SET LOCAL synchronous_commit = on",  # a commit returns when it is on the disk, whatever the server's default is
        f"SET LOCAL lock_timeout = '{_PATIENCE}s'",
        "LOCK TABLE shoal_entries IN EXCLUSIVE MODE",  # first come, first served; readers may go on
    )

    def __init__(self, url: str) -> None:
        self._url = url
        parts = urlsplit(url)
        self.name = f"postgresql://{parts.hostname or ''}{parts.path}"
        self._idle: list[Any] = []
        self._process = os.getpid()
        self._lock = threading.Lock()

    def queued(self) -> "nullcontext[None]":
        """PostgreSQL's lock has a queue of its own."""
        return nullcontext()

    def require_sound(self, connection: Any, writing: bool) -> None:
        """The server looks after its own pages and locks."""

    @contextmanager
    def connected(self, making: bool = False) -> Iterator[_Connection]:
        connection = self._taken() or self._opened()
        try:
            if making:
                connection.execute("BEGIN")
                connection.execute("SET LOCAL synchronous_commit = on")
                if connection.execute("SELECT to_regclass('shoal_entries')").fetchone()[0]:
                    raise FileError(
                        f"{self.name} holds an audit already; give another database, or another schema of it"
                    )
            yield connection
        except BaseException:
            connection.close()  # whatever state it is in
            raise
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _taken(self) -> Any:
        with self._lock:
            if os.getpid() != self._process:  # a child has to have its own
                self._idle, self._process = [], os.getpid()
            while self._idle:
                connection = self._idle.pop()
                with suppress(Exception):  # the server may have gone, and come again
                    connection.execute("SELECT 1")
                    return connection
                connection.close()
        return None

    def __del__(self) -> None:
        for connection in self._idle if os.getpid() == self._process else ():
            with suppress(Exception):  # Python may be on its way out
                connection.close()

    def _opened(self) -> Any:
        try:
            import psycopg
        except ImportError:
            raise ParameterError(
                "PostgreSQL needs psycopg; install it with pip install 'shoal[service]'"
            ) from None
        connection = psycopg.connect(
            self._url, autocommit=True, connect_timeout=10, application_name="shoal"
        )
        if connection.execute("SHOW fsync").fetchone() != ("on",):
            connection.close()
            raise FileError(
                f"{self.name}: the server has fsync off, so an answer could outlive its record; turn it on"
            )
        return connection

    @contextmanager
    def told(self) -> Iterator[None]:
        """What PostgreSQL says, in our words; its own may quote a value or the URL."""
        try:
            yield
        except Exception as error:
            if not type(error).__module__.startswith("psycopg"):
                raise
            match getattr(error, "sqlstate", None):
                case "55P03":
                    why = "it is in use by others for over a minute; ask again"
                case "42P01":
                    why = "there is no audit in it; make one with shoal audit new"
                case None:
                    why = "it cannot be reached, or the connection was lost; look after the server, then ask again"
                case code:
                    why = f"it refuses (SQLSTATE {code}); check the rights of the role and the room on the disk"
            raise FileError(f"{self.name}: {why}") from None
