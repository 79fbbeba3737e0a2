"""Places for audits: SQLite, and a private PostgreSQL server."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new audit may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "people.audit")
    return str(request.getfixturevalue("server").fresh())
