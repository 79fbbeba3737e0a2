"""Recipes on disk: with some of their text replaced, and their table beside them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recipe.people import PEOPLE, RECIPE, SAFEPUB, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the recipe with some of its text replaced, and its table beside it."""

    def written(*changes: tuple[str, str], more: str = "") -> Path:
        text = RECIPE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "people.csv").write_text(PEOPLE)
        path = tmp_path / "recipe.toml"
        path.write_text(text + more)
        return path

    return written


@pytest.fixture
def safe(write: Write) -> Callable[..., Path]:
    """Writes the recipe with SafePub for a method, with options below its ε and δ."""
    start, end = RECIPE.index("[method]"), RECIPE.index("[output]")

    def make(*options: str, edit: tuple[str, str] = ("", "")) -> Path:
        return write((RECIPE[start:end], "\n".join([SAFEPUB, *options, "\n"])), edit)

    return make
