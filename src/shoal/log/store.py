"""A chain of entries in a database: read, append, go on after a known head.

`Log` begins transactions, and `Turn` is one of them; `ledger` and `audit` use both. The databases
are in `sqlite` and `postgres`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from shoal.errors import FileError
from shoal.log.chain import START, Head, Link, Purpose, Row, breaks, link

__all__ = ["Database", "Log", "LogConnection", "Turn"]


class LogConnection(Protocol):
    """What the connections of both databases have in common."""

    def execute(self, statement: Any, values: Sequence[Any] = ..., /) -> Any: ...

    def close(self) -> None: ...


class Database(Protocol):
    """Where a log is kept. Each of the three gives a connection inside a transaction.

    The transaction is committed when the block ends well; otherwise nothing was written.
    """

    purpose: Purpose

    @property
    def name(self) -> str:
        """The place, as people may see it."""

    @property
    def parameter(self) -> str:
        """How a value is marked in a statement."""

    @property
    def stamp(self) -> Mapping[str, str]:
        """What every entry says of the database that wrote it."""

    def creating(self) -> AbstractContextManager[Any]:
        """A new log, with its tables; FileError if there is one already."""

    def reading(self) -> AbstractContextManager[Any]:
        """The log as it is at one moment."""

    def writing(self, *, alone: bool = False) -> AbstractContextManager[Any]:
        """The log while nobody else writes; `alone` also keeps readers out."""

    def surplus(self, connection: Any, rows: Sequence[Row], whole: bool) -> Iterator[str]:
        """What is there, or lacking, besides entries whose chain is sound as far as it goes."""


class Turn:
    """A transaction: what the log holds at this moment."""

    def __init__(self, connection: LogConnection, database: Database) -> None:
        self._connection = connection
        self._database = database

    def run(self, statement: str, *values: object) -> Any:
        """Run a statement, in which "?" stands for a value."""
        return self._connection.execute(statement.replace("?", self._database.parameter), values)

    def chain(self, *, whole: bool = False) -> list[Link]:
        """All entries; FileError if the chain is broken, or entries are hidden.

        With `whole`, every byte of a file is accounted for, where its purpose allows that.
        """
        rows = self._rows(0)
        database = self._database
        problem = next(breaks(database.purpose, rows), None)
        if problem is None:
            problem = next(database.surplus(self._connection, rows, whole), None)
        if problem is not None:
            raise self._broken(problem)
        return [Link.of(row) for row in rows]

    def after(self, head: Head) -> list[Link]:
        """The entries after a known one; FileError if it is gone, or the chain is broken after it.

        The log may have been cut, or an older one put in its place, while this process ran.
        """
        rows = self._rows(head.number)
        if not rows or (rows[0][0], rows[0][2]) != head:
            raise self._broken(f"the log no longer has entry {head.number} as it was")
        for problem in breaks(self._database.purpose, rows[1:], head):
            raise self._broken(problem)
        return [Link.of(row) for row in rows[1:]]

    def append(self, last: Head, what: str, facts: Mapping[str, Any]) -> Link:
        """Add an entry after the last one. It counts once the transaction has ended well."""
        database = self._database
        entry, row = link(database.purpose, last, what, facts, database.stamp)
        self.run("INSERT INTO shoal_entries VALUES (?, ?, ?)", *row)
        return entry

    def _rows(self, since: int) -> list[Row]:
        """The entries with this number or a later one; 0 gives all, even impossible numbers."""
        condition = "WHERE number >= ? OR ? = 0 ORDER BY number"
        query = f"SELECT number, content, digest FROM shoal_entries {condition}"
        try:
            rows: list[Row] = self.run(query, since, since).fetchall()
        except UnicodeError:
            # SQLite names columns by a schema that is damaged.
            raise self._broken("the tables of the log are damaged") from None
        return rows

    def _broken(self, problem: str) -> FileError:
        return FileError(problem, self._database.purpose.repair, where=self._database.name)


class Log:
    """The log in a database. Every block is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def name(self) -> str:
        """The place, as people may see it."""
        return self._database.name

    @contextmanager
    def creating(self, facts: Mapping[str, Any]) -> Iterator[tuple[Turn, Link]]:
        """Make the log with its first entry, which counts when the block ends well."""
        with self._database.creating() as connection:
            turn = Turn(connection, self._database)
            yield turn, turn.append(START, "created", facts)

    @contextmanager
    def reading(self) -> Iterator[Turn]:
        """The log as it is at one moment."""
        with self._database.reading() as connection:
            yield Turn(connection, self._database)

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Turn]:
        """The log while nobody else writes; `alone` also keeps readers out.

        What was written is on the disk when the block ends well; otherwise nothing was written.
        """
        with self._database.writing(alone=alone) as connection:
            yield Turn(connection, self._database)
