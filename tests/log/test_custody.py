"""Locks that do not work are noticed before anything is written."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import (
    FileError,
)
from shoal.ledger import Ledger
from shoal.log import custody
from tests.ledger.private import NoCoins, Private, pair, people


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger", epsilon=2, delta="1e-5")


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive that grants every lock: SQLite is told not to ask for any."""
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def careless(place: str, **options: Any) -> sqlite3.Connection:
        return connect(f"{place}&nolock=1", **options)

    monkeypatch.setattr(sqlite3, "connect", careless)
    monkeypatch.setattr(custody, "_tried", set())


def test_locks_that_do_not_work_are_noticed_before_a_ledger_is_made(
    tmp_path: Path, unlocked: None
) -> None:
    with pytest.raises(FileError, match="locks do not work on this drive"):
        Ledger.create(tmp_path / "ledger")
    assert (tmp_path / "ledger").stat().st_size == 0


def test_locks_that_do_not_work_are_noticed_before_anything_is_reserved(
    ledger: Ledger, request: pytest.FixtureRequest
) -> None:
    before = ledger.path.read_bytes()
    request.getfixturevalue("unlocked")
    with pytest.raises(FileError, match="locks do not work on this drive"):
        ledger.release(Private(), people(), chance=NoCoins())
    assert ledger.path.read_bytes() == before


def test_locks_that_cannot_be_tested_are_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody, "_tried", set())
    for python in ("", None, "/nowhere/python", shutil.which("false")):
        monkeypatch.setattr(custody, "get_executable", lambda python=python: python)
        with pytest.raises(FileError, match="could not be tested"):
            ledger.release(Private(), people(), chance=NoCoins())
    assert ledger.spent() == pair(0, 0)
