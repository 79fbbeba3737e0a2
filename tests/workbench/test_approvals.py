"""An approval ends with any change of what it is about, however the change is made."""

import os
from pathlib import Path

from shoal.workbench.approvals import digest_of
from shoal.workbench.projects import Home, Project
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
