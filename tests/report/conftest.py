"""Releases of every method, written into folders, and reports without drawings, which take time."""

from pathlib import Path

import pytest

from shoal.chance import Seeded
from shoal.look import drawing
from shoal.methods.catalogue import CATALOGUE
from shoal.methods.method import Method
from tests.methods.examples import EXAMPLES, METHODS, people

ONE_OF_EACH: dict[str, Method] = {method.name: method for method in reversed(METHODS.values())}
"""An example of every method of the catalogue."""

assert ONE_OF_EACH.keys() == CATALOGUE.keys()


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of a release by every example, by its name."""
    folder = tmp_path_factory.mktemp("released")
    for name, (method, tables) in EXAMPLES.items():
        method.release(tables()).write(folder / name)
    Path(folder / "seeded").mkdir()
    METHODS["optimal"].release(people(), Seeded(3)).write(folder / "seeded")
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures have their words and tables only, as where Altair is not installed."""
    monkeypatch.setattr(drawing, "available", lambda: False)
