"""Logs with entries that say their place, for the tests of logs."""

from pathlib import Path
from typing import Any

from shoal.audit.store import AUDIT
from shoal.ledger.book import LEDGER
from shoal.log.chain import Purpose
from shoal.log.sqlite import Sqlite
from shoal.log.store import Database, Log

PURPOSES = [LEDGER, AUDIT]


def made(path: Path, purpose: Purpose, entries: int = 1) -> Log:
    return filled(Sqlite(path, purpose), entries)


def filled(database: Database, entries: int) -> Log:
    """A new log with that many entries; each says its place."""
    log = Log(database)
    with log.creating({"place": 0}):
        pass
    for place in range(1, entries):
        with log.writing() as turn:
            turn.append(turn.chain()[-1].head, "asked", {"place": place})
    return log


def places(log: Log) -> list[Any]:
    with log.reading() as turn:
        return [link.facts["place"] for link in turn.chain()]
