"""`shoal workbench` in folders that are there, new ones, and what is none."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.cli.shell import command, refused


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_new_folder_is_made_and_the_address_stays_alone_on_its_line(is_there: bool) -> None:
    if is_there:
        Path("clinic").mkdir()
    process = command("workbench", "clinic", "--no-browser")
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+\n", first)
    assert out == ""
    assert Path("clinic").is_dir()
    assert ("made the folder clinic" in said) is not is_there
    if not is_there:
        assert Path("clinic").stat().st_mode & 0o077 == 0


def test_what_cannot_be_a_folder_is_refused() -> None:
    assert "there is no such folder" in refused("workbench", "nowhere/clinic", "--no-browser")
    Path("clinic.csv").write_text("age\n39\n")
    said = refused("workbench", "clinic.csv", "--no-browser")
    assert "this is a file; give the folder that it is in" in said


def test_a_service_makes_no_folder() -> None:
    refused("serve", "--workbench", "clinic")
    assert not Path("clinic").exists()
