"""Where an audit is kept: the data, the log and the keys, in SQLite or PostgreSQL.

Uses the log; `Audit` uses it. Both databases run the same statements.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ParameterError
from shoal.log.chain import Purpose
from shoal.log.postgres import Postgres
from shoal.log.sqlite import Sqlite
from shoal.log.store import Database, Log, Turn

__all__ = ["AUDIT", "Key", "Store", "database_at"]

AUDIT = Purpose(
    "audit",
    mark=0x53686F61,  # "Shoa"
    create="shoal audit new",
    repair="put its newest copy back, and answer nothing before",
    tables=(
        "CREATE TABLE shoal_data (name TEXT PRIMARY KEY, content TEXT NOT NULL)",
        "CREATE TABLE shoal_keys (name TEXT PRIMARY KEY, role TEXT NOT NULL, "
        "digest TEXT NOT NULL, made TEXT NOT NULL)",
    ),
    queued=True,
)


@dataclass(frozen=True)
class Key:
    """Someone who may ask the service. Of the key itself only a digest is kept."""

    name: str
    role: str
    digest: str
    made: str


class Store:
    """The store at a path or a URL such as postgresql://host/database; `create` makes one."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._log = Log(database_at(place))

    @property
    def name(self) -> str:
        """The place, as people may see it: without a password."""
        return self._log.name

    @classmethod
    def create(
        cls, place: str | os.PathLike[str], facts: Mapping[str, Any], data: Mapping[str, str]
    ) -> "Store":
        """Make a store with its first entry and the data; FileError if there is one already."""
        store = cls(place)
        with store._log.creating(facts) as (turn, _):
            for name, text in data.items():
                turn.run("INSERT INTO shoal_data VALUES (?, ?)", name, text)
        return store

    @contextmanager
    def reading(self) -> Iterator[Turn]:
        """The store as it is at one moment."""
        with self._log.reading() as turn:
            yield turn

    @contextmanager
    def writing(self) -> Iterator[Turn]:
        """The store while nobody else writes.

        What was written is on the disk when the block ends well; otherwise nothing was written.
        """
        with self._log.writing() as turn:
            yield turn

    def data(self) -> dict[str, str]:
        """The data, by name."""
        with self.reading() as turn:
            return dict(turn.run("SELECT name, content FROM shoal_data").fetchall())

    # Keys of the service

    def keys(self) -> list[Key]:
        """Everyone who may ask."""
        query = "SELECT name, role, digest, made FROM shoal_keys ORDER BY name"
        with self.reading() as turn:
            return [Key(*row) for row in turn.run(query).fetchall()]

    def add_key(self, key: Key) -> None:
        """ParameterError if someone of that name has one already."""
        with self.writing() as turn:
            if self._has_key(turn, key.name):
                raise ParameterError(
                    f"{key.name!r} has a key already", "remove it first, or take another name"
                )
            turn.run("INSERT INTO shoal_keys VALUES (?, ?, ?, ?)", *astuple(key))

    def remove_key(self, name: str) -> None:
        """ParameterError if nobody of that name has one."""
        with self.writing() as turn:
            if not self._has_key(turn, name):
                raise ParameterError(
                    f"nobody called {name!r} has a key", "shoal audit key list lists them"
                )
            turn.run("DELETE FROM shoal_keys WHERE name = ?", name)

    def _has_key(self, turn: Turn, name: str) -> bool:
        query = "SELECT 1 FROM shoal_keys WHERE name = ?"
        return turn.run(query, name).fetchone() is not None


def database_at(place: str | os.PathLike[str]) -> Database:
    """The database at a path or a URL."""
    text = os.fspath(place)
    scheme, colon, rest = text.partition("://")
    if not colon:
        return Sqlite(Path(text), AUDIT)
    match scheme:
        case "postgresql" | "postgres":
            return Postgres(text, AUDIT)
        case "sqlite":
            return Sqlite(Path(rest.removeprefix("/")), AUDIT)
        case _:
            raise ParameterError(
                f"{scheme}:// is not a store that Shoal knows", "give a file, or postgresql://…"
            )
