"""Tables that screens read: each file once, as it is now, and shared by all tables of its rows."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data import free_memory
from shoal.data.files import rows_of
from shoal.data.kinds import Kind
from shoal.errors import RecipeError, ShoalError
from shoal.workbench.beginning import begin
from shoal.workbench.projects import Home, Project
from shoal.workbench.tables import Tables, is_streamed
from tests.workbench.benches import hospital


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project on a small file."""
    (tmp_path / "people.csv").write_text("name,age\nAnn,39\nBob,50\n", encoding="utf-8")
    return begin(Home(tmp_path), "people", tmp_path / "people.csv")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, as they are read."""
    noted: list[str] = []

    def read(place: Any, *options: Any, **more: Any) -> Any:
        noted.append(os.fspath(place))
        time.sleep(0.05)
        return rows_of(place, *options, **more)

    monkeypatch.setattr("shoal.workbench.tables.rows_of", read)
    return noted


def test_many_who_ask_at_once_have_the_file_read_once(project: Project, reads: list[str]) -> None:
    tables = Tables()
    together = threading.Barrier(6)

    def ask(_: int) -> Any:
        together.wait()
        return tables.bare(project)

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(ask, range(6)))
    assert len(reads) == 1
    assert len({id(table) for table in found}) == 1
    assert tables.is_read(project)


def test_other_types_roles_and_hierarchies_do_not_read_the_rows_again(
    tmp_path: Path, reads: list[str]
) -> None:
    key = hospital(tmp_path)
    project = Home(tmp_path).project(key)
    tables = Tables()
    recipe, whole = tables.whole(project)
    assert whole.quasi == ("age", "sex", "postcode", "admitted", "ward", "insurance")
    bare = tables.bare(project)
    assert bare.source is whole.source
    text = project.recipe.read_text(encoding="utf-8")
    project.recipe.write_text(text.replace('sex = "quasi"', 'sex = "insensitive"'))
    again, changed = tables.whole(project)
    assert "sex" not in changed.quasi
    assert changed.source is whole.source
    assert tables.whole(project)[0] is again
    assert again is not recipe
    assert len(reads) == 1


def test_a_hierarchy_that_changes_is_noticed(tmp_path: Path) -> None:
    project = Home(tmp_path).project(hospital(tmp_path))
    tables = Tables()
    _, before = tables.whole(project)
    file = project.folder / "hierarchies" / "sex.csv"
    file.write_text("female;person\nmale;person\ndiverse;person\n", encoding="utf-8")
    _, after = tables.whole(project)
    assert before.hierarchy("sex").labels[1] != after.hierarchy("sex").labels[1]


def test_a_file_that_changes_is_read_again_and_its_old_rows_are_given_up(
    project: Project, reads: list[str]
) -> None:
    tables = Tables()
    assert tables.bare(project).rows == 2
    source = Path(reads[0])
    source.write_text("name,age\nAnn,39\n", encoding="utf-8")
    assert not tables.is_read(project)
    assert tables.bare(project).rows == 1
    assert len(tables._rows.made) == 1


def test_a_part_of_a_folder_that_changes_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    for name in ("1", "2"):
        shoal.write(pl.DataFrame({"age": [39, 50]}), folder / f"{name}.parquet")
    project = begin(Home(tmp_path), "people", folder)
    tables = Tables()
    assert tables.bare(project).rows == 4
    shoal.write(pl.DataFrame({"age": [39]}), folder / "2.parquet")
    assert tables.bare(project).rows == 3


def test_what_is_asked_to_be_read_again_is(project: Project, reads: list[str]) -> None:
    tables = Tables()
    tables.bare(project)
    tables.forget(project)
    tables.bare(project)
    assert len(reads) == 2


def test_few_files_are_kept_and_none_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, tables = Home(tmp_path), Tables()
    for number in range(5):
        path = tmp_path / f"{number}.csv"
        path.write_text("age\n39\n50\n", encoding="utf-8")
        tables.bare(begin(home, f"project {number}", path))
    assert len(tables._rows.made) == 3
    monkeypatch.setattr(free_memory, "available", lambda: 50)
    path = tmp_path / "last.csv"
    path.write_text("age\n39\n50\n", encoding="utf-8")
    project = begin(home, "last", path)
    assert is_streamed(tables.bare(project))
    assert len(tables._rows.made) == 1


def test_a_file_that_cannot_be_read_is_tried_again(project: Project, reads: list[str]) -> None:
    tables = Tables()
    source = project.folder.parent / "people.csv"
    good = source.read_text(encoding="utf-8")
    source.write_text("name,age\nAnn\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ShoalError, match="line 2"):
            tables.bare(project)
    source.write_text(good, encoding="utf-8")
    assert tables.bare(project).rows == 2
    assert tables._rows.turns == {}


def test_types_that_are_undecided_are_those_of_the_file(project: Project) -> None:
    tables = Tables()
    assert tables.bare(project).types == {}
    assert [column.kind for column in tables.columns(project)] == [Kind.TEXT, Kind.INTEGER]
    assert tables.columns(project) is tables.columns(project)


def test_of_rows_that_are_streamed_the_first_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "39\n" * 20_000 + "old\n", encoding="utf-8")
    project = begin(Home(tmp_path), "people", path)
    recipe = project.recipe.read_text(encoding="utf-8")
    project.recipe.write_text(recipe.replace("[source]\n", '[source]\nengine = "stream"\n'))
    tables = Tables()
    assert is_streamed(tables.bare(project))
    [column] = tables.columns(project)
    assert (column.kind, column.rows) == (Kind.INTEGER, 10_000)


def test_a_project_without_a_source_says_so(project: Project) -> None:
    project.recipe.write_text("[source]\n[roles]\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="no source"):
        Tables().bare(project)
    assert not Tables().is_read(project)
