"""Projects: found in a folder, begun in it, taken off the list and put back."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from shoal.errors import FileError, ParameterError, ShoalError
from shoal.recipe.editing import Draft
from shoal.workbench.beginning import begin, begin_demo, begin_upload, free_name
from shoal.workbench.folders import listing, typed_place
from shoal.workbench.overviews import Overview, undecided_in_words
from shoal.workbench.projects import Home
from shoal.workbench.texts import translator
from tests.arx.streams import people as arx_people
from tests.workbench.benches import hospital

Made = TypeVar("Made")
MAIN = "from shoal.cli import main; main()"
PEOPLE = "name,age,town\nAnn,39,Ulm\nBob,50,Bonn\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder for projects."""
    (tmp_path / "projects").mkdir()
    return Home(tmp_path / "projects")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table beside the folder of projects."""
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


# Finding them


def test_recipes_of_the_folder_and_of_those_below_are_projects(home: Home) -> None:
    hospital(home.folder)
    (home.folder / "own.toml").write_text('[source]\npath = "x"\n[roles]\n', encoding="utf-8")
    (home.folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (home.folder / "broken.toml").write_text("[source", encoding="utf-8")
    (home.folder / ".hidden").mkdir()
    assert [project.key for project in home.projects()] == ["hospital~hospital", "own"]
    assert home.project("hospital~hospital").name == "hospital"


def test_a_project_of_its_own_folder_is_the_only_one(home: Home, tmp_path: Path) -> None:
    assert home.only is None
    hospital(home.folder)
    assert home.only is None
    own = Home(home.folder / "hospital").only
    assert own is not None
    assert own.key == "hospital"


# Beginning


def test_a_draft_is_written_at_once_and_the_command_line_goes_on_with_it(
    home: Home, people: Path
) -> None:
    project = begin(home, "my people", people)
    draft = project.draft()
    assert draft.section("source")["path"] == people.as_posix()
    assert draft.section("source")["separator"] == ","
    assert draft.section("roles") == {"name": "?", "age": "?", "town": "?"}
    assert draft.section("method") == {"name": "?"}
    checked = subprocess.run(
        [sys.executable, "-c", MAIN, "recipe", "check", os.fspath(project.recipe)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode
    assert "roles.age" in checked.stderr
    assert "method.name" in checked.stderr
    # That a method is undecided is said once.
    assert checked.stderr.count("method") == 1


def test_a_file_in_the_folder_is_named_from_the_recipe_on(home: Home) -> None:
    inside = home.folder / "data" / "people.csv"
    inside.parent.mkdir()
    inside.write_text(PEOPLE, encoding="utf-8")
    project = begin(home, "people", inside)
    assert project.draft().section("source")["path"] == "../data/people.csv"


def test_a_file_without_names_leaves_none_of_its_cells_in_the_draft(
    home: Home, people: Path
) -> None:
    people.write_text("Ann,39,07101\nBob,50,07103\n", encoding="utf-8")
    project = begin(home, "people", people)
    assert project.draft().section("roles") == {}
    assert "Ann" not in project.recipe.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "age,age\n1,2\n", "a,b\n1\n"])
def test_a_file_with_mistakes_makes_a_project_all_the_same(
    home: Home, people: Path, text: str
) -> None:
    people.write_text(text, encoding="utf-8")
    assert begin(home, "people", people).draft().section("source")["path"] == people.as_posix()


def test_databases_and_addresses_are_taken_as_they_are(home: Home) -> None:
    project = begin(home, "visits", "postgresql://host/clinic", "visits")
    assert project.draft().section("source") == {
        "path": "postgresql://host/clinic",
        "query": "visits",
        "types": {},
    }
    with pytest.raises(ShoalError, match="password"):
        begin(home, "secret", "postgresql://me:secret@host/clinic", "visits")
    assert not (home.folder / "secret").exists()


def test_nothing_is_made_of_a_file_that_is_not_there(home: Home, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        begin(home, "people", tmp_path / "nothing.csv")
    assert list(home.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", "../people", ".hidden", "a/b", "x" * 81, "a\0b"])
def test_names_that_are_no_folder_are_refused(home: Home, people: Path, name: str) -> None:
    with pytest.raises(ParameterError):
        begin(home, name, people)
    assert list(home.folder.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(home: Home, people: Path) -> None:
    begin(home, "people", people)
    with pytest.raises(FileError, match="something in it"):
        begin(home, "people", people)
    assert free_name(home, "people") == "people 2"
    assert free_name(home, "../..") == "project"


def test_the_made_up_hospital_has_everything_decided(home: Home) -> None:
    project = begin_demo(home, "hospital")
    overview = Overview(project)
    assert (overview.undecided, overview.mistakes) == ([], [])


# Sending a file


def form(content: bytes, name: str = "", filename: str = "people.csv") -> tuple[str, bytes]:
    """A form with a file as a browser sends it: its type, and its bytes."""
    parts = [
        b'--edge\r\nContent-Disposition: form-data; name="name"\r\n\r\n' + name.encode(),
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="'
        + filename.encode()
        + b'"\r\nContent-Type: text/csv\r\n\r\n'
        + content,
    ]
    return "multipart/form-data; boundary=edge", b"\r\n".join([*parts, b"--edge--\r\n"])


def awaited(function: Callable[[], Awaitable[Made]]) -> Made:
    """What comes of it, in a thread of its own: a browser may have its loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, function).result()


def send(home: Home, kind: str, body: bytes, step: int = 7) -> Path:
    """The recipe of a project on a file that comes in small parts."""

    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, len(body), step):
            yield body[start : start + step]

    async def sent() -> Path:
        return (await begin_upload(home, kind, stream())).recipe

    return awaited(sent)


def test_a_file_that_is_sent_goes_to_the_folder_of_its_project(home: Home) -> None:
    recipe = send(home, *form(PEOPLE.encode(), "mine"))
    assert recipe == home.folder / "mine" / "recipe.toml"
    file = recipe.parent / "people.csv"
    assert file.read_text(encoding="utf-8") == PEOPLE
    assert file.stat().st_mode & 0o077 == 0
    assert Draft.read(recipe).section("source")["path"] == "people.csv"
    assert send(home, *form(PEOPLE.encode())).parent.name == "people"


def test_a_file_is_written_byte_by_byte_as_it_was_sent(home: Home) -> None:
    content = b"a,b\r\n" + b"--edge\r,\n\r\n--edg" * 1000 + b"\r\n\r\n"
    recipe = send(home, *form(content), step=1000)
    assert (recipe.parent / "people.csv").read_bytes() == content


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.999])
def test_nothing_stays_of_a_file_that_breaks_off(home: Home, kept: float) -> None:
    kind, body = form(PEOPLE.encode() * 100)
    with pytest.raises(FileError, match="as a whole"):
        send(home, kind, body[: int(len(body) * kept)])
    assert list(home.folder.iterdir()) == []


def test_a_large_file_is_on_the_disk_while_it_comes_and_never_in_memory(home: Home) -> None:
    kind, body = form(b"", "large")
    head, _, tail = body.rpartition(b"\r\n--edge--")
    line = b"39,f\n" * 20_000

    async def stream() -> AsyncIterator[bytes]:
        yield head + b"age,sex\n"
        for _ in range(300):
            yield line
        written = list((home.folder / "large").glob(".people.csv.*.part"))
        assert written[0].stat().st_size > 20_000_000
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
        yield b"\r\n--edge--" + tail

    async def sent() -> None:
        await begin_upload(home, kind, stream())

    tracemalloc.start()
    try:
        awaited(sent)
    finally:
        tracemalloc.stop()
    assert (home.folder / "large" / "people.csv").stat().st_size == 8 + 300 * len(line)


@pytest.mark.parametrize(
    ("filename", "left"),
    [
        ("../../people.csv", "people.csv"),
        ("C:\\data\\people.csv", "people.csv"),
        (".bashrc", "bashrc"),
        ("a;b*c.csv", "a_b_c.csv"),
    ],
)
def test_the_name_of_a_file_leads_nowhere_else(home: Home, filename: str, left: str) -> None:
    recipe = send(home, *form(PEOPLE.encode(), "mine", filename.replace("\\", "\\\\")))
    assert sorted(os.listdir(recipe.parent)) == sorted(["recipe.toml", left])


@pytest.mark.parametrize("filename", ["", "..", "recipe.toml", "certificate.json"])
def test_what_is_not_a_table_is_refused(home: Home, filename: str) -> None:
    with pytest.raises(ShoalError):
        send(home, *form(PEOPLE.encode(), "mine", filename))
    assert list(home.folder.iterdir()) == []


def test_an_empty_file_and_a_form_without_one_are_refused(home: Home) -> None:
    with pytest.raises(FileError, match="empty"):
        send(home, *form(b""))
    with pytest.raises(ParameterError, match="no file"):
        send(home, "application/x-www-form-urlencoded", b"name=x")
    assert list(home.folder.iterdir()) == []


# Removing


def test_removing_deletes_nothing_and_can_be_undone(home: Home, people: Path) -> None:
    project = begin(home, "people", people)
    before = project.recipe.read_bytes()
    project.remove()
    assert home.projects() == []
    assert people.exists()
    assert home.removed() == ["people/recipe.toml.removed"]
    home.restore("people/recipe.toml.removed")
    assert project.recipe.read_bytes() == before
    for other in ("people/recipe.toml", "../people.csv", "/etc/passwd"):
        with pytest.raises(ParameterError):
            home.restore(other)


# What the list says


def test_what_is_undecided_is_said_in_words(home: Home, people: Path) -> None:
    overview = Overview(begin(home, "people", people))
    told = undecided_in_words(overview.undecided, translator("en"))
    assert told == ["the types of 3 columns", "the roles of 3 columns", "the method"]
    deutsch = undecided_in_words(overview.undecided, translator("de"))
    assert deutsch == ["die Typen von 3 Spalten", "die Rollen von 3 Spalten", "das Verfahren"]


# Finding a file


def test_a_folder_shows_folders_and_tables_that_can_be_read(tmp_path: Path) -> None:
    for name in ("a.csv", "b.parquet", "notes.md", ".hidden.csv"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "inner").mkdir()
    os.symlink(tmp_path / "gone", tmp_path / "c.csv")
    found = listing(tmp_path)
    assert [one.name for one in found.folders] == ["inner"]
    assert [one.name for one in found.tables] == ["a.csv", "b.parquet"]
    assert (found.parts, found.left_out) == (0, 2)
    assert found.way[-2:] == [tmp_path.parent, tmp_path]
    (tmp_path / "inner" / "1.parquet").write_bytes(b"x")
    (tmp_path / "inner" / "2.parquet").write_bytes(b"x")
    assert listing(tmp_path / "inner").parts == 2
    with pytest.raises(FileError, match="cannot look into"):
        listing(tmp_path / "gone")


def test_a_typed_path_is_seen_from_a_folder(tmp_path: Path) -> None:
    assert typed_place(" 'people.csv' ", tmp_path) == tmp_path / "people.csv"
    assert typed_place("../people.csv", tmp_path) == tmp_path.parent / "people.csv"
    assert typed_place("/data/people.csv", tmp_path) == Path("/data/people.csv")
    assert typed_place("~/people.csv", tmp_path) == Path.home() / "people.csv"
    assert typed_place("s3a://bucket/people", tmp_path) == "s3a://bucket/people"
    with pytest.raises(ParameterError):
        typed_place("  ", tmp_path)


def test_a_project_of_arx_is_taken_over(home: Home, tmp_path: Path) -> None:
    path = arx_people().write(tmp_path / "theirs.deid")
    project = begin(home, "theirs", path)
    assert project.draft().section("roles")["town"] == "quasi"
    assert (project.recipe.parent / "data.csv").exists()
    assert path.exists()
    sent = send(home, *form(path.read_bytes(), "sent", "theirs.deid"), step=4096)
    assert {one.name for one in sent.parent.iterdir()} == {"recipe.toml", "data.csv", "hierarchies"}


def test_nothing_stays_of_a_broken_project_of_arx(home: Home) -> None:
    with pytest.raises(FileError, match="zip"):
        send(home, *form(b"no project", "broken", "theirs.deid"))
    assert not (home.folder / "broken").exists()
