"""What must hold of the project as a whole: light to import, nothing private in its files, one
version.
"""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import shoal
from tests.conftest import ROOT

HEAVY = {
    "polars",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "duckdb",
    "rich",
    "typer",
    "pydantic",
    "numpy",
    "narwhals",
    "altair",
}

SCRIPTS = ("setup", "check", "docs", "package", "lowest")

REGISTRY = re.compile(
    r"pypi[.]org|python[h]osted|://[^\s/]*(?:pypi|simple/)|--(?:extra-)?index-url", re.IGNORECASE
)
MACHINE = re.compile(r"(?<![\w.~$}])/(?:home|root|Users|work|opt|tmp)/\w+")


def tracked() -> list[Path]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_importing_shoal_loads_no_library() -> None:
    code = "import shoal, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert not HEAVY & set(loaded.split())


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in shoal.__all__:
        found = getattr(shoal, name)
        assert name == "__version__" or found.__doc__, name
    assert set(shoal.__all__) <= set(dir(shoal))


def test_no_file_is_named_like_an_option() -> None:
    assert [path.name for path in tracked() if path.name.startswith("-")] == []


def test_no_file_names_this_machine_or_a_registry() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if REGISTRY.search(line) or MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not found


def test_no_lock_file_is_tracked() -> None:
    assert not [path.name for path in tracked() if path.suffix == ".lock" or "lock." in path.name]


def test_the_version_is_the_same_everywhere() -> None:
    assert metadata.version("shoal") == shoal.__version__
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


def test_the_licence_is_apache() -> None:
    assert (ROOT / "LICENSE").read_text().split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "Apache-2.0" in metadata.metadata("shoal")["License-Expression"]


@pytest.mark.parametrize(
    "script",
    [
        "demo",
        "test",
        "scripts/setup",
        "scripts/check",
        "scripts/docs",
        "scripts/package",
        "scripts/lowest",
        ".ci/run",
    ],
)
def test_scripts_can_be_run(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", path], capture_output=True).returncode == 0


def test_the_readme_begins_with_one_command_for_the_main_job_and_one_for_the_tests() -> None:
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:24]
    for script in ("./demo", "./test"):
        assert [line for line in first if line.startswith(script)]
        assert (ROOT / script).is_file()


def test_every_dependency_is_explained() -> None:
    page = (ROOT / "docs" / "project" / "dependencies.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {re.split(r"[\[<>=~! ]", name)[0] for name in wanted} - {"shoal"}
    assert not {name for name in names if f"`{name}`" not in page}
