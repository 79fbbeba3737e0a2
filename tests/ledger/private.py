"""A private method, a table and other things that the tests of the ledger share."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pytest

import shoal
from shoal.chance import Chance
from shoal.data.hierarchy import suppress
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import InfeasibleError
from shoal.ledger import Budget, Ledger
from shoal.ledger.book import LEDGER
from shoal.log import sqlite
from shoal.log.chain import Link
from shoal.log.store import Log
from shoal.methods.method import Progress, silent
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import certify
from shoal.releases.release import Release

if TYPE_CHECKING:
    from typer.testing import Result

DELTA = "1e-6"


@dataclass(frozen=True)
class Private:
    """Promises differential privacy, flips one coin and releases column names alone."""

    epsilon: Any = 1
    delta: Any = DELTA
    unit: str = "row"
    fails: bool = False

    name: ClassVar[str] = "private"

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        return DifferentialPrivacy(self.epsilon, self.delta, "standard", self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        chance = chance or Chance()
        report = progress or silent
        report(0, 1, "flipping a coin")
        chance.bytes(1)
        report(1, 1, "flipped a coin")
        if self.fails:
            raise InfeasibleError("nothing can be released")
        released = pa.table({name: pa.array([], pa.string()) for name in table.names})
        return Release(released, certify(table, self, self.promise(table.schema), chance))


class NoCoins(Chance):
    """Whoever flips a coin fails the test."""

    def bytes(self, size: int) -> bytes:
        raise AssertionError("a coin was flipped")


def people(ill: str = "abcd", columns: Mapping[str, list[str]] | None = None) -> Table:
    if columns is None:
        return _twenty(ill)
    return _table(columns)


@lru_cache
def _twenty(ill: str) -> Table:
    return _table({"sex": ["f", "m"] * 10, "ill": [*ill] * 5})


def _table(columns: Mapping[str, list[str]]) -> Table:
    trees = {"sex": suppress(["f", "m"])}
    return shoal.table(pa.table(columns), quasi=["sex"], sensitive=["ill"], hierarchies=trees)


def log_of(ledger: Ledger) -> Log:
    """The log of a ledger, without its account and its witness."""
    return Log(sqlite.Sqlite(ledger.path, LEDGER))


def chain_of(ledger: Ledger) -> list[Link]:
    with log_of(ledger).reading() as turn:
        return turn.chain()


def unsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for entries to reach the disk."""
    pragmas = tuple(pragma.replace("EXTRA", "OFF") for pragma in sqlite.PRAGMAS)
    monkeypatch.setattr(sqlite, "PRAGMAS", pragmas)


def pair(epsilon: Any, delta: Any) -> Budget:
    return Budget(Fraction(epsilon), Fraction(delta))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


def run(*arguments: str) -> "Result":
    from typer.testing import CliRunner

    from shoal.cli.app import app

    return CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments)
