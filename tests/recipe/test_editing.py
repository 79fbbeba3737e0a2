"""A recipe that is edited decision by decision: nothing is lost, whoever writes meanwhile."""

import os
import signal
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoal.errors import RecipeError, ShoalError
from shoal.recipe.editing import Draft, editing

pytest.importorskip("tomlkit", reason="tomlkit is not installed")

RECIPE = """\
# Ours, for the spring release.
missing = "category"  # as agreed

[source]
path = "people.csv"
types = { age = "integer" }  # the rest is text

[roles]
name = "identifying"
age  = "?"  # quasi?
"odd \\"name\\"" = "?"

[method]
name = "?"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe with comments, and with things that are not decided."""
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def decided(recipe: Path) -> dict[str, object]:
    """What the file says."""
    return tomllib.loads(recipe.read_text(encoding="utf-8"))


def test_comments_and_everything_else_survive_a_decision(recipe: Path) -> None:
    with editing(recipe) as draft:
        draft.set("roles", "age", to="quasi")
    assert recipe.read_text(encoding="utf-8") == RECIPE.replace('age  = "?"', 'age  = "quasi"')


def test_sections_are_made_and_decisions_taken_back(recipe: Path) -> None:
    with editing(recipe) as draft:
        draft.set("ledger", "path", to="people.ledger")
        draft.set("hierarchies", "age", to={"build": "intervals", "low": 0, "high": 99})
        draft.set("source", "types", "age", to=None)
        draft.set("views", "others", to=None)
    content = decided(recipe)
    assert content["ledger"] == {"path": "people.ledger"}
    assert content["hierarchies"] == {"age": {"build": "intervals", "low": 0, "high": 99}}
    assert content["source"] == {"path": "people.csv", "types": {}}
    assert "views" not in content


def test_what_is_undecided_is_listed_and_not_taken_for_a_value(recipe: Path) -> None:
    draft = Draft.read(recipe)
    assert draft.undecided == [("roles", "age"), ("roles", 'odd "name"'), ("method", "name")]
    assert draft.get("method", "name") is None
    assert draft.get("roles", "name") == "identifying"
    assert draft.get("nothing", "there") is None
    assert draft.section("roles")["age"] == "?"
    assert draft.section("method", "limits") == {}


def test_nothing_is_written_where_nothing_changes_or_something_fails(recipe: Path) -> None:
    before = recipe.stat()
    with editing(recipe) as draft:
        draft.set("roles", "name", to="identifying")

    def failing() -> None:
        with editing(recipe) as draft:
            draft.set("roles", "age", to="quasi")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert recipe.stat() == before
    with editing(recipe) as draft:
        assert draft.get("roles", "age") is None


def test_edits_from_many_threads_lose_nothing(recipe: Path) -> None:
    def decide(number: int) -> None:
        with editing(recipe) as draft:
            draft.set("roles", f"column {number}", to="insensitive")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(decide, range(24)))
    roles = decided(recipe)["roles"]
    assert isinstance(roles, dict)
    assert {f"column {number}" for number in range(24)} <= roles.keys()
    assert "# Ours, for the spring release." in recipe.read_text(encoding="utf-8")


def test_an_edit_inside_another_is_a_part_of_it(recipe: Path) -> None:
    with editing(recipe) as outer:
        outer.set("roles", "age", to="quasi")
        with editing(recipe) as inner:
            inner.set("missing", to="refuse")
        outer.set("method", "name", to="safepub")
    content = decided(recipe)
    assert content["missing"] == "refuse"
    assert content["method"] == {"name": "safepub"}
    assert content["roles"]["age"] == "quasi"  # type: ignore[index]


def test_what_a_person_wrote_before_is_kept(recipe: Path) -> None:
    with editing(recipe) as draft:
        draft.set("roles", "age", to="quasi")
    written = recipe.read_text(encoding="utf-8") + "\n# by hand\n[output]\nformat = 'parquet'\n"
    recipe.write_text(written, encoding="utf-8")
    with editing(recipe) as draft:
        draft.set("method", "name", to="safepub")
    text = recipe.read_text(encoding="utf-8")
    assert "# by hand\n[output]\nformat = 'parquet'" in text
    assert decided(recipe)["method"] == {"name": "safepub"}


def test_what_a_person_writes_at_the_same_moment_is_not_written_over(recipe: Path) -> None:
    by_hand = RECIPE + "# by hand\n"

    def both() -> None:
        with editing(recipe) as draft:
            draft.set("roles", "age", to="quasi")
            recipe.write_text(by_hand, encoding="utf-8")

    with pytest.raises(RecipeError, match="at the same time"):
        both()
    assert recipe.read_text(encoding="utf-8") == by_hand
    with editing(recipe) as draft:
        draft.set("roles", "age", to="quasi")
    assert decided(recipe)["roles"]["age"] == "quasi"  # type: ignore[index]


@pytest.mark.parametrize("text", ["[roles", "roles = 1\nroles = 2\n", "a = \xff"])
def test_a_file_that_a_person_broke_is_said_to_be_broken_and_left_alone(
    recipe: Path, text: str
) -> None:
    recipe.write_bytes(text.encode("latin-1"))
    with pytest.raises(ShoalError), editing(recipe):
        raise AssertionError
    assert recipe.read_bytes() == text.encode("latin-1")


def test_a_recipe_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ShoalError, match="cannot read"), editing(tmp_path / "gone.toml"):
        raise AssertionError


def test_windows_line_ends_stay(recipe: Path) -> None:
    recipe.write_bytes(RECIPE.replace("\n", "\r\n").encode())
    with editing(recipe) as draft:
        draft.set("roles", "age", to="quasi")
    wanted = RECIPE.replace('age  = "?"', 'age  = "quasi"').replace("\n", "\r\n")
    assert recipe.read_bytes() == wanted.encode()


_WRITER = """
import sys
from pathlib import Path
from shoal.recipe.editing import editing
print("ready", flush=True)
for number in range(10_000):
    with editing(Path(sys.argv[1])) as draft:
        draft.set("roles", sys.argv[2] + str(number), to="insensitive")
    print(number, flush=True)
"""


def _writer(recipe: Path, prefix: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, os.fspath(recipe), prefix],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_lose_nothing_and_kill_9_leaves_a_whole_file(recipe: Path) -> None:
    writers = [_writer(recipe, prefix) for prefix in ("a", "b")]
    told: list[int] = []
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(5):
            last = writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        # What was said before it died is in the pipe.
        told.append(int((writer.stdout.read().split() or [last])[-1]))
        writer.stdout.close()
        writer.wait(20)
    roles = decided(recipe)["roles"]
    assert isinstance(roles, dict)
    for prefix, last_told in zip("ab", told, strict=True):
        assert {f"{prefix}{number}" for number in range(last_told + 1)} <= roles.keys()
    with editing(recipe) as draft:
        draft.set("roles", "age", to="quasi")
    assert decided(recipe)["roles"]["age"] == "quasi"  # type: ignore[index]
    assert os.listdir(recipe.parent) == [recipe.name]
