"""`shoal verify`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from tests.releases.verification.forging import both, forge, put, released

RECIPE = """
[source]
path = "people.csv"
types = {age = "integer"}
[roles]
who = "identifying"
sex = "quasi"
age = "quasi"
ill = "sensitive"
[hierarchies]
age = {file = "age.csv"}
sex = {file = "sex.csv"}
[method]
name = "sampling"
probability = "1/2"
"""


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Path]:
    """The certificate and the table of a release."""
    path = released("fixed").write(tmp_path)
    return tmp_path / "certificate.json", path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def test_the_command_ends_with_0_if_nothing_is_wrong(written: tuple[Path, Path]) -> None:
    done = run(*written)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "differential privacy" in " ".join(done.stdout.split())
    assert done.stdout.count("not checked") == 1  # and what is not, in a list
    shown = json.loads(run(*written, "--json").stdout)
    assert (shown["holds"], shown["failures"], shown["promise"]["epsilon"]) == (True, [], "2")
    assert len(shown["unchecked"]) == 9
    assert ["parameters", "score"] in shown["unchecked_places"]
    assert shown["statement"] == json.loads(written[0].read_text())["statement"]


def test_the_table_is_beside_the_certificate_unless_it_is_given(written: tuple[Path, Path]) -> None:
    certificate, table = written
    for only in (certificate.parent, certificate):
        assert run(only).exit_code == 0
    table.write_text("changed")
    assert run(certificate.parent).exit_code == 1


def test_the_command_ends_with_1_and_a_line_for_all_that_does_not_hold(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    forge(paper, both(put("whole", True), put("derived.k", 5)))
    done = run(paper, table)
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2
    done = run(paper, table, "--json")
    assert done.exit_code == 1
    shown = json.loads(done.stdout)
    assert (shown["holds"], len(shown["failures"]), shown["promise"]) == (False, 2, None)


def test_a_changed_file_is_1_and_one_that_is_not_there_2(
    written: tuple[Path, Path], tmp_path: Path
) -> None:
    paper, table = written
    for changed in written:
        content = changed.read_bytes()
        for other in (content[:-2], b"", b"\xff" + content, content.replace(b"3", b"4", 1)):
            changed.write_bytes(other)
            assert run(paper, table).exit_code == 1
        changed.write_bytes(content)
    assert run(table, paper).exit_code == 1  # swapped: neither is what it should be
    for wrong in (
        [tmp_path / "none", table],
        [paper, tmp_path / "none"],
    ):
        done = run(*wrong)
        assert (done.exit_code, done.stdout) == (2, "")
    assert run(paper, table).exit_code == 0
    assert run(paper, table.parent).exit_code == 0


def test_the_command_takes_hierarchies_from_files_or_a_recipe(
    written: tuple[Path, Path], tmp_path: Path
) -> None:
    paper, table = written
    (tmp_path / "age.csv").write_text(
        "".join(f"{a};{a // 10 * 10}-{a // 10 * 10 + 9};*\n" for a in range(30, 60))
    )
    (tmp_path / "wrong.csv").write_text("".join(f"{a};{a // 5};*\n" for a in range(30, 60)))
    (tmp_path / "sex.csv").write_text("m;*\nf;*\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    for options in (
        ["--recipe", recipe],
        [
            "--hierarchy",
            f"age={tmp_path / 'age.csv'}",
            "--hierarchy",
            f"sex={tmp_path / 'sex.csv'}",
        ],
        ["--recipe", recipe, "--hierarchy", f"age={tmp_path / 'age.csv'}"],
    ):
        done = run(paper, table, *options)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "labels of their levels" not in " ".join(done.stdout.split())
    assert "labels of their levels" in " ".join(run(paper, table).stdout.split())
    done = run(paper, table, "--hierarchy", f"age={tmp_path / 'wrong.csv'}")
    assert done.exit_code == 1
    assert "level 1 of its hierarchy does not have" in done.stderr
    assert run(paper, table, "--hierarchy", f"aeg={tmp_path / 'age.csv'}").exit_code == 2
    assert run(paper, table, "--recipe", tmp_path / "none.toml").exit_code == 2
    forge(paper, put("recipe", shoal.Recipe.load(recipe).digest))
    assert run(paper, table, "--recipe", recipe).exit_code == 0
    forge(paper, put("recipe", "0" * 64))
    done = run(paper, table, "--recipe", recipe)
    assert (done.exit_code, "not the one that was followed" in done.stderr) == (1, True)
