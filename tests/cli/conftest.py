"""The folder in which commands are tried."""

from pathlib import Path

import pytest

from tests.cli.shell import AGES
from tests.recipe.people import PEOPLE, RECIPE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, hierarchies and a recipe, which is also the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "age.csv").write_text(AGES)
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path
