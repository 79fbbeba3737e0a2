"""The example notebooks run, and show what is stored in them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.notebooks import NOTEBOOKS, cells, changes, outputs_of, read

SMALL = 100_000
"""Characters of a notebook."""


def notebook_of(code: str, outputs: Any = (), tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """A notebook of one cell."""
    cell = {
        "cell_type": "code",
        "metadata": {"tags": list(tags)},
        "source": code.splitlines(keepends=True),
        "outputs": list(outputs),
    }
    return {"cells": [cell]}


def printed(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": [text]}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored_in_it(path: Path) -> None:
    notebook = read(path)
    shown = list(outputs_of(notebook, path.name))
    assert not list(changes(notebook, shown)), "run scripts/notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_begins_with_what_one_learns(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = read(path)
    first = "".join(notebook["cells"][0]["source"])
    assert first.startswith("# ")
    assert "You will" in first
    assert "made up" in first
    assert len(text) < SMALL
    assert all(cell["outputs"] or "=" in "".join(cell["source"]) for cell in cells(notebook))
    assert str(ROOT) not in text


def test_there_is_one_for_each_reader() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["engineer", "officer", "researcher"]


def test_a_cell_that_fails_fails_the_notebook() -> None:
    with pytest.raises(ZeroDivisionError):
        list(outputs_of(notebook_of("1 / 0"), "x"))


def test_a_stored_output_that_is_out_of_date_is_noticed() -> None:
    notebook = notebook_of("print('now')", [printed("before\n")])
    assert list(changes(notebook, list(outputs_of(notebook, "x")))) == ["cell 1"]
    notebook = notebook_of("print('now')", [printed("now\n")])
    assert not list(changes(notebook, list(outputs_of(notebook, "x"))))


def test_of_a_cell_that_varies_the_kinds_of_outputs_are_compared() -> None:
    notebook = notebook_of("print('now')", [printed("before\n")], tags=("varies",))
    assert not list(changes(notebook, list(outputs_of(notebook, "x"))))
    notebook = notebook_of("'now'", [printed("before\n")], tags=("varies",))
    assert list(changes(notebook, list(outputs_of(notebook, "x")))) == ["cell 1"]


def test_a_cell_shows_what_it_prints_and_its_last_value() -> None:
    code = "import shoal\nprint('one')\nshoal.hierarchy.suppress(['f', 'm'])"
    [[stream, result]] = outputs_of(notebook_of(code), "x")
    assert stream["text"] == ["one\n"]
    assert result["data"].keys() == {"text/plain", "text/html"}
    assert json.dumps(result)


def test_cells_share_their_names_and_work_in_a_folder_of_their_own(tmp_path: Path) -> None:
    code = "from pathlib import Path\nPath('here').touch()\nx = 1"
    both = {"cells": [*notebook_of(code)["cells"], *notebook_of("x + 1")["cells"]]}
    [_, [result]] = outputs_of(both, "x")
    assert result["data"]["text/plain"] == ["2"]
    assert not Path("here").exists()
