"""Fixtures of the tests about files."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def save(tmp_path: Path) -> Any:
    def save(content: str | bytes, name: str = "people.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return save
