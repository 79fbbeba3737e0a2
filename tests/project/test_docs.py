"""The documentation is true: its code runs, its links lead somewhere, every public name is there.

The convention is in docs/project/development.md. Blocks of ```python run from top to bottom, with
one namespace and one folder per page; those with title="needs Spark" only where it is installed. Of
```console blocks, the lines that start with `$ shoal` are run; below each is its output, with `…`
for any text.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from tests.conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?P<language>[\w-]*)(?P<more>[^\n]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
NEEDS_SPARK = ' title="needs Spark"'
WITH_SPARK = "python with Spark"
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[tuple[str, int, str]]:
    """Language, first line and text of every fenced block of a page."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        indent = match["indent"]
        body = "\n".join(line.removeprefix(indent) for line in match["body"].split("\n"))
        language = WITH_SPARK if match["more"] == NEEDS_SPARK else match["language"]
        yield language, text.count("\n", 0, match.start("body")) + 1, body


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n", " ", part).partition("\n")
        yield command, output


def shoal_commands(page: Path) -> Iterator[str]:
    """The commands of a page that are run."""
    for language, _, body in blocks(page):
        if language in ("console", "sh"):
            for command, _ in commands(body):
                if command.startswith("shoal "):
                    yield command


def subcommand(command: str) -> str:
    """What `shoal` is asked to do, without arguments: `ledger show`."""
    known: Any = get_command(app)
    names = []
    for word in shlex.split(command)[1:]:
        known = getattr(known, "commands", {}).get(word)
        if known is None:
            break
        names.append(word)
    return " ".join(names)


def first_of_each() -> dict[str, tuple[Path, str]]:
    """The page and the line where each subcommand is run for the first time."""
    found: dict[str, tuple[Path, str]] = {}
    for page in PAGES:
        for command in shoal_commands(page):
            found.setdefault(subcommand(command), (page, command))
    return found


# These run in a process of their own, where nothing is imported yet, and the others in this one:
# most of what a process costs is its start.
FIRST = set(first_of_each().values())
ENVIRONMENT = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def in_a_shell(command: str, folder: Path) -> tuple[int, str]:
    """The exit code of a command that a shell runs, and all that it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | ENVIRONMENT | {"PATH": path}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, encoding="utf-8"
    )
    return done.returncode, done.stdout + done.stderr


def in_this_process(command: str) -> tuple[int, str]:
    """The same of a `shoal` command without redirections, run in the current folder."""
    done = CliRunner().invoke(app, shlex.split(command)[1:], env=ENVIRONMENT)
    return done.exit_code, done.stdout + done.stderr


def run_command(command: str, output: str, folder: Path, *, alone: bool = True) -> None:
    command, _, failing = command.partition("  # exit code ")
    if alone or ">" in command:
        code, printed = in_a_shell(command, folder)
    else:
        code, printed = in_this_process(command)
    assert code == int(failing or 0), f"$ {command}\n{printed}"
    if output.strip():
        shown = " ".join(output.split())
        pattern = ".*?".join(re.escape(piece.strip()) for piece in shown.split("…"))
        assert re.fullmatch(rf"\s*{pattern}\s*", " ".join(printed.split()), re.DOTALL), (
            f"$ {command}\n{printed}"
        )


def has_spark(request: pytest.FixtureRequest) -> bool:
    """Whether there is a Spark session to run code by."""
    try:
        request.getfixturevalue("spark")
    except pytest.skip.Exception:
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for language, line, body in blocks(page):
        if language == "python" or (language == WITH_SPARK and has_spark(request)):
            # Blank lines in front, so that a traceback shows the page's own line.
            exec(compile("\n" * (line - 1) + body, str(page), "exec"), namespace)
        elif language in ("console", "sh"):
            for command, output in commands(body):
                if command.startswith("shoal "):
                    run_command(command, output, tmp_path, alone=(page, command) in FIRST)


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)
    return {
        re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
        for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    broken = []
    for match in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in slugs(there)):
            broken.append(match["target"])
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    folders = "src|tests|bench|docs|notebooks|scripts"
    named = re.findall(rf"`((?:{folders})/[\w/.-]+)`", page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def empty_headers(text: str) -> list[str]:
    """The heads of tables in which a column has no name."""
    heads = re.findall(r"^(\|.*\|)[ ]*\n\|[ :|-]+\|[ ]*$", FENCE.sub("", text), re.MULTILINE)
    return [head for head in heads if not all(cell.strip() for cell in head[1:-1].split("|"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_column_of_a_table_has_a_name(page: Path) -> None:
    assert empty_headers(page.read_text(encoding="utf-8")) == []


def test_a_column_without_a_name_would_be_noticed() -> None:
    assert empty_headers("| a | |\n|---|---|\n| 1 | 2 |\n") == ["| a | |"]
    assert empty_headers("| a | b |\n|---|---|\n| 1 | |\n") == []


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    there = {
        page.relative_to(ROOT / "docs").as_posix()
        for page in PAGES
        if page.is_relative_to(ROOT / "docs")
    }
    assert listed == there


def test_every_public_name_is_in_the_docs() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    absent = [name for name in shoal.__all__ if not re.search(rf"shoal\.{name}\b", text)]
    assert not absent


def test_a_wrong_output_would_be_noticed(tmp_path: Path) -> None:
    run_command("echo one two three", "one … three\n", tmp_path)
    with pytest.raises(AssertionError):
        run_command("echo one two three", "one … four\n", tmp_path)
    with pytest.raises(AssertionError):
        run_command("false", "", tmp_path)
    run_command("exit 2  # exit code 2", "", tmp_path)


def test_a_command_does_the_same_in_this_process_and_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("shoal explain --epsilon 'ln(3)' --delta 1e-6", "shoal explain --epsilon 0"):
        assert in_this_process(command) == in_a_shell(command, tmp_path)
    for wrong in ("shoal explain --epsilon 1 --delta 1e-6", "shoal explain --epsilon 0"):
        with pytest.raises(AssertionError):
            run_command(wrong, "something else", tmp_path, alone=False)
