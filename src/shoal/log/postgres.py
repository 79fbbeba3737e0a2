"""A log in a PostgreSQL database, or in a schema of one. `audit` uses it.

A few connections are kept. A transaction takes its turn by a lock on the table of entries, which
has a queue of its own; the server looks after its own pages.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from shoal.errors import FileError, ParameterError
from shoal.log.chain import SCHEMA, VERSION, Purpose, Row

__all__ = ["Postgres"]

PATIENCE = 60.0
"""Seconds to wait for whoever else is writing."""

_IDLE = 8  # connections that are kept open


class Postgres:
    """The database of a log."""

    parameter = "%s"

    def __init__(self, url: str, purpose: Purpose) -> None:
        self.purpose = purpose
        self._url = url
        self._idle: list[Any] = []
        self._process = os.getpid()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The URL without its user and password."""
        parts = urlsplit(self._url)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    @property
    def stamp(self) -> Mapping[str, str]:
        return {}

    @contextmanager
    def creating(self) -> Iterator[Any]:
        with self._transaction("BEGIN") as connection:
            self._commit_to_disk(connection)
            if connection.execute("SELECT to_regclass('shoal_entries')").fetchone()[0]:
                problem = f"it holds {self.purpose.indefinite} already"
                fix = "give another database, or another schema of it"
                raise FileError(problem, fix, where=self.name)
            for statement in (SCHEMA, *self.purpose.tables):
                connection.execute(statement)
            connection.execute(f"COMMENT ON TABLE shoal_entries IS '{self._layout}'")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Any]:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transaction(begin) as connection:
            self._require_layout(connection)
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Any]:
        mode = "ACCESS EXCLUSIVE" if alone else "EXCLUSIVE"
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as connection:
            self._commit_to_disk(connection)
            connection.execute(f"SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'")
            connection.execute(f"LOCK TABLE shoal_entries IN {mode} MODE")
            self._require_layout(connection)
            yield connection

    def surplus(self, connection: Any, rows: Sequence[Row], whole: bool) -> Iterator[str]:
        """The server looks after its own pages."""
        return iter(())

    @property
    def _layout(self) -> str:
        return f"shoal {self.purpose.noun}, layout {VERSION}"

    def _require_layout(self, connection: Any) -> None:
        """FileError if a Shoal of another layout made the tables."""
        query = "SELECT obj_description('shoal_entries'::regclass, 'pg_class')"
        (layout,) = connection.execute(query).fetchone()
        if layout != self._layout:
            problem = f"its tables are marked {layout!r}, and this Shoal reads {self._layout!r}"
            raise FileError(problem, "use the Shoal that made them", where=self.name)

    def _commit_to_disk(self, connection: Any) -> None:
        """A commit returns when it is on the disk, whatever the server's default is."""
        connection.execute("SET LOCAL synchronous_commit = on")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Any]:
        with self._in_words():
            connection = self._taken() or self._connect()
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # Closing rolls back, whatever state the connection is in.
                connection.close()
                raise
            self._keep(connection)

    def _taken(self) -> Any:
        """A connection that was kept, and works; None if there is none."""
        with self._lock:
            if os.getpid() != self._process:
                # A child process must not use the connections of its parent.
                self._idle, self._process = [], os.getpid()
            while self._idle:
                connection = self._idle.pop()
                # The server may have gone, and come again.
                with suppress(Exception):
                    connection.execute("SELECT 1")
                    return connection
                connection.close()
        return None

    def _keep(self, connection: Any) -> None:
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def __del__(self) -> None:
        if os.getpid() != self._process:
            return
        for connection in self._idle:
            # Python may be shutting down.
            with suppress(Exception):
                connection.close()

    def _connect(self) -> Any:
        try:
            import psycopg
        except ImportError:
            fix = "install it with pip install 'shoal[service]'"
            raise ParameterError("PostgreSQL needs psycopg", fix) from None
        connection = psycopg.connect(
            self._url, autocommit=True, connect_timeout=10, application_name="shoal"
        )
        if connection.execute("SHOW fsync").fetchone() != ("on",):
            connection.close()
            problem = "the server has fsync off, so an answer could outlive its record"
            raise FileError(problem, "turn it on", where=self.name)
        return connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """What PostgreSQL says, in our words; its own may quote a value or the URL."""
        try:
            yield
        except Exception as error:
            if not type(error).__module__.startswith("psycopg"):
                raise
            problem, fix = self._explained(getattr(error, "sqlstate", None))
            raise FileError(problem, fix, where=self.name) from None

    def _explained(self, code: str | None) -> tuple[str, str]:
        """A problem by its SQLSTATE, and what to do about it."""
        match code:
            case "55P03":
                return "in use by others for over a minute", "try again"
            case "42P01":
                return (
                    f"there is no {self.purpose.noun} in it",
                    f"make one with {self.purpose.create}",
                )
            case None:
                problem = "it cannot be reached, or the connection was lost"
                return problem, "check the server, then try again"
            case _:
                problem = f"the server refuses (SQLSTATE {code})"
                return problem, "check the rights of the role and the room on the disk"
