"""Ledgers for tests."""

from pathlib import Path

import pytest

from shoal.ledger import Ledger
from tests.ledger.private import unsync


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger", epsilon=2, delta="1e-5")


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are not waited for to reach the disk: for tests with thousands of them."""
    unsync(monkeypatch)
