"""An approval ends with any change of what it is about, however the change is made."""

import os
from pathlib import Path

import pytest

from shoal.data.hierarchy.lines import derived_note
from shoal.errors import ParameterError
from shoal.recipe import Recipe
from shoal.workbench.approvals import digest_of
from shoal.workbench.projects import Home, Project
from shoal.workbench.work import release
from tests.workbench.benches import hospital


def approved(tmp_path: Path) -> tuple[Project, Path]:
    project = Home(tmp_path).project(hospital(tmp_path, 200))
    source = project.draft().get("source", "path")
    return project, project.folder / str(source)


def test_a_file_of_the_same_size_and_time_is_another_one(tmp_path: Path) -> None:
    project, source = approved(tmp_path)
    before, status = digest_of(project), source.stat()
    content = source.read_bytes()
    source.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert source.stat().st_size == status.st_size
    assert digest_of(project) != before
    source.write_bytes(content)
    assert digest_of(project) == before


def test_a_hierarchy_that_is_marked_as_made_from_rows_is_another_one(tmp_path: Path) -> None:
    project, source = approved(tmp_path)
    tree = next(path for path in Recipe.load(project.recipe).inputs if path != source)
    before = digest_of(project)
    derived_note(tree).touch()
    assert digest_of(project) != before
    derived_note(tree).unlink()
    assert digest_of(project) == before
    tree.write_text(tree.read_text() + "\n")
    assert digest_of(project) != before


def test_what_changes_while_the_table_is_read_is_not_released(tmp_path: Path) -> None:
    project, _ = approved(tmp_path)
    arguments = {"name": "first", "digest": digest_of(project)}

    def change(*_: object) -> None:
        project.recipe.write_text(project.recipe.read_text() + "\n# changed\n")

    with pytest.raises(ParameterError, match="changed since it was approved"):
        release.run(project, arguments, change)
    assert not project.place_for_release("first").exists()
