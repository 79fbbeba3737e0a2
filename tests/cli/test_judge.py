"""`shoal judge`: its report is marked as not for release, and stays away from releases."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.measure.loss import LOSSES
from shoal.zones import NOTICE
from tests.recipe.people import PEOPLE, RECIPE
from tests.regions import METHODS, write_towns


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe, its table and its release in `out`; also the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_report_begins_and_ends_with_the_notice(folder: Path) -> None:
    found = run("judge", "recipe.toml", "--release", "out", "--queries", "10", "--values", "1")
    assert found.exit_code == 0, found.output
    lines = found.stdout.strip().split("\n")
    assert (
        lines[0]
        == lines[-1]
        == NOTICE
        == "owner only: this report reveals information about the input"
    )
    assert re.search(r"kept +6 \(100 %\), in 3 groups", found.stdout)
    for name in LOSSES:
        assert re.search(rf"^{name.replace('_', ' ')} +\S+ %", found.stdout, re.MULTILINE)
    assert re.search(
        r"age, at level 1: records with each value\n +before +after *\n30-39 +4 +4", found.stdout
    )
    assert "and 1 value more; --json lists them all" in found.stdout
    assert {path.name for path in Path("out").iterdir()} == {"release.csv", "certificate.json"}


def test_the_report_is_written_as_json_where_no_release_is(folder: Path) -> None:
    told = run("judge", "recipe.toml", "--release", "out", "--json", "--out", "report.json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout) == json.loads(Path("report.json").read_text())
    assert next(iter(json.loads(told.stdout))) == "not_for_release"
    assert told.stderr == "wrote report.json, which is not for release\n"
    for arguments, message in (
        (["--out", "out/report.json"], "write it somewhere else"),
        (["--out", "report.json"], "--force"),
        (["--classes", "nobody"], "no column 'nobody'"),
        (["--release", "nowhere"], "give the directory of a release"),
    ):
        before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
        refused = run("judge", "recipe.toml", "--release", "out", *arguments)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert message in refused.stderr
        assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    assert (
        run("judge", "recipe.toml", "--release", "out", "--out", "report.json", "--force").exit_code
        == 0
    )


SAFEPUB = """[method]
name = "safepub"
epsilon = 2
delta = "1e-2"

[output]"""


def test_what_only_the_owner_is_shown_is_in_no_released_file(folder: Path) -> None:
    (folder / "many.csv").write_text(PEOPLE + PEOPLE.partition("\n")[2] * 39)
    changed = re.sub(r"\[method\].*\[output\]", SAFEPUB, RECIPE, flags=re.DOTALL).replace(
        "people.csv", "many.csv"
    )
    (folder / "other.toml").write_text(
        "rows_are_people = true\n"
        + changed.replace('visits = "insensitive"', 'visits = "identifying"')
    )
    made = run("release", "other.toml", "--out", "safe")
    assert made.exit_code == 0, made.output
    assert re.search(r"owner only: \d+ of 240 records", made.stderr)
    assert re.search(r"owner only: loss \d", made.stderr)
    assert "shoal judge other.toml --release safe" in made.stderr
    for text in (made.stdout, *(path.read_text() for path in Path("safe").iterdir())):
        assert not re.search(r"\b240\b|owner only|\bloss\b", text)
    judged = run("judge", "other.toml", "--release", "safe")
    assert judged.exit_code == 0, judged.output
    assert re.search(r"records +240", judged.stdout)
    assert "scaled up" in judged.stdout
    assert judged.stderr == ""
    (folder / "other.toml").write_text((folder / "other.toml").read_text() + "\n")
    assert "another recipe" in run("judge", "other.toml", "--release", "safe").stderr


def test_classes_and_what_was_not_measured_are_shown(folder: Path) -> None:
    pytest.importorskip("sklearn")
    found = run("judge", "recipe.toml", "--release", "out", "--classes", "diagnosis,age")
    assert re.search(r"diagnosis +tree +\S+ % +\S+ % +\S+ %", found.stdout), found.output
    assert re.search(r"classification of age +class column 'age' is generalised", found.stdout)


@pytest.mark.parametrize("method", METHODS)
def test_a_release_by_region_is_judged_with_its_risk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    recipe = str(write_towns(tmp_path, method))
    assert run("release", recipe, "--out", "out").exit_code == 0
    found = run("judge", recipe, "--release", "out", "--values", "2", "--queries", "10")
    assert found.exit_code == 0, found.output
    assert "Risk of a record, by the people of the input whom it fits" in found.stdout
    assert "town, by its leaves: records with each value" in found.stdout
    assert "sex, at level 0: records with each value" in found.stdout
    assert "Not measured" not in found.stdout
