"""What `shoal release` and `shoal recipe check` say beforehand, and of a release that is empty or
not the first; and what programs read.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from shoal.methods.method import beforehand

loose: Any = shoal  # which takes more than a type checker allows


def recipe(folder: Path, rows: int, method: str, more: str = "") -> Path:
    lines = [f"{20 + i % 4},{'fm'[i % 2]}" for i in range(rows)]
    (folder / "people.csv").write_text("\n".join(["age,sex", *lines, ""]))
    path = folder / "people.toml"
    path.write_text(
        f"""
[source]
path = "people.csv"
types = {{ age = "integer", sex = "text" }}
[roles]
age = "quasi"
sex = "quasi"
[hierarchies]
age = {{ build = "intervals", low = 20, high = 29, widths = [5] }}
sex = {{ build = "suppress", values = ["f", "m"] }}
[method]
{method}
{more}
"""
    )
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


SAFEPUB = 'name = "safepub"\nepsilon = 1\ndelta = 1e-6'
METHODS = {
    "safepub": SAFEPUB,
    "noisy-counts": 'name = "noisy-counts"\nepsilon = 1\ndelta = 1e-6\nk = 100',
    "kdgs": 'name = "kdgs"\nk = 100',
    "columns": 'name = "columns"\nepsilon = 1\ndelta = 1e-6\nschema = [["age"], ["sex"]]',
}


@pytest.mark.parametrize("name", METHODS)
def test_too_few_rows_are_reported_before_a_release_and_an_empty_one_after_it(
    name: str, tmp_path: Path
) -> None:
    rows = {"columns": 9}.get(name, 79)
    path = recipe(tmp_path, rows, METHODS[name])
    checked = run("recipe", "check", path)
    assert checked.exit_code == 0
    assert "needs" in checked.stdout
    assert "expect an empty release" in checked.stderr
    made = run("release", path, "--out", tmp_path / "out")
    assert made.exit_code == 0  # it is a release, and its promise holds
    assert made.stderr.index("expect an empty release") < made.stderr.index("wrote ")
    assert "warning: nothing was released" in made.stderr
    assert "expect an empty release" not in (tmp_path / "out" / "certificate.json").read_text()


def test_enough_rows_are_not_remarked_on(tmp_path: Path) -> None:
    path = recipe(tmp_path, 4000, SAFEPUB)
    assert not run("recipe", "check", path).stderr
    made = run("release", path, "--out", tmp_path / "out")
    assert "warning" not in made.stderr


def test_a_delta_that_promises_nothing_is_reported_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recipe(tmp_path, 2000, 'name = "safepub"\nepsilon = 1\ndelta = 1e-3')
    assert "not below 1/2,000" in run("recipe", "check", path).stderr
    ledger = shoal.Ledger.create(tmp_path / "ledger.db", epsilon=9, delta="1e-2")

    def refuse(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shoal.Ledger, "release", refuse)
        stopped = run("release", path, "--out", tmp_path / "out", "--ledger", ledger.path)
    assert "not below 1/2,000" in stopped.stderr
    assert not (tmp_path / "out").exists()
    made = run("release", path, "--out", tmp_path / "out", "--ledger", ledger.path)
    assert made.stderr.count("not below 1/2,000") == 1
    assert beforehand(loose.SafePub(1, "1e-3"), shoal.demo.table(2000))


def test_a_release_without_a_ledger_says_that_promises_add_up_and_names_earlier_ones(
    tmp_path: Path,
) -> None:
    path = recipe(tmp_path, 4000, SAFEPUB)
    first = run("release", path, "--out", tmp_path / "first")
    assert "note: no ledger" in first.stderr
    assert "earlier release" not in first.stderr
    second = run("release", path, "--out", tmp_path / "second")
    assert "first has an earlier release of the same columns" in second.stderr
    again = run("release", path, "--out", tmp_path / "second", "--force")
    assert "second has an earlier release of the same columns" in again.stderr
    shoal.Ledger.create(tmp_path / "ledger.db", epsilon=9, delta="1e-2")
    kept = run("release", path, "--out", tmp_path / "third", "--ledger", tmp_path / "ledger.db")
    assert "note: no ledger" not in kept.stderr
    account = shoal.Ledger(tmp_path / "ledger.db").account()
    marks = [entry.facts.fingerprint for entry in account.reserved]
    assert marks
    for file in (tmp_path / "first" / "certificate.json", tmp_path / "third" / "certificate.json"):
        assert not [mark for mark in marks if mark in file.read_text()]


def test_other_releases_and_broken_certificates_beside_it_are_passed_over(tmp_path: Path) -> None:
    path = recipe(tmp_path, 4000, SAFEPUB)
    for folder, text in (("a", "{"), ("b", "{}"), ("c", "\udcff")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "certificate.json").write_bytes(
            text.encode("utf-8", "surrogateescape")
        )
    made = run("release", path, "--out", tmp_path / "out")
    assert made.exit_code == 0
    assert "earlier release" not in made.stderr


def test_programs_read_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recipe(tmp_path, 4000, SAFEPUB)
    checked = run("recipe", "check", "people.toml", "--json")
    assert checked.stderr == ""
    beforehand_said = json.loads(checked.stdout)
    assert beforehand_said["roles"]["quasi"] == ["age", "sex"]
    assert beforehand_said["owner_only"]["rows"] == 4000
    made = run("release", "people.toml", "--json")
    assert made.stderr == ""
    told = json.loads(made.stdout)
    assert told["table"] == "people-release/release.csv"
    paper = json.loads(Path(told["certificate"]).read_text())
    assert told["promise"] == paper["promise"] == beforehand_said["promise"]
    assert told["statement"] == paper["statement"] == beforehand_said["statement"]
    assert told["release"] == paper["number"]
    assert sorted(told["files"]) == [told["certificate"], told["table"]]
    assert len(Path(told["table"]).read_text().splitlines()) == 1 + told["rows"]
    assert any("no ledger" in note for note in told["notes"])
    assert any("kept" in note for note in told["owner_only"]["notes"])
    # What only the owner may know is nowhere else.
    del told["owner_only"]
    assert "4,000" not in json.dumps(told)
    assert "4000" not in json.dumps(told)
    again = run("release", "people.toml", "--json")
    assert again.exit_code == 2
    assert again.stdout == ""
    assert json.loads(again.stderr)["error"]["kind"] == "FileError"


def test_an_empty_release_does_not_tell_whether_the_input_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for rows in (0, 79):
        (tmp_path / str(rows)).mkdir()
        monkeypatch.chdir(tmp_path / str(rows))
        recipe(Path(), rows, SAFEPUB)
        one = json.loads(run("release", "people.toml", "--json").stdout)
        assert one["rows"] == 0
        told.append({name: one[name] for name in one if name not in ("release", "owner_only")})
    assert told[0] == told[1]


def test_programs_read_of_parts_of_ledgers_and_of_empty_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe(tmp_path, 79, SAFEPUB)
    shoal.Ledger.create("ledger.db", epsilon=1, delta="1e-6")
    words = ("release", "people.toml", "--ledger", "ledger.db", "--json")
    told = json.loads(run(*words, "--out", "parts", "--rows-per-file", 10).stdout)
    assert told["rows"] == 0
    assert told["warnings"][0].startswith("nothing was released")
    assert "expect an empty release" in told["owner_only"]["warnings"][0]
    assert told["table"] == "parts/release-*.csv"
    assert "parts/release-00000.csv" in told["files"]
    assert "entered in ledger.db as entry 2" in told["owner_only"]["notes"]
    spent = run(*words, "--out", "second")
    assert spent.exit_code == 2
    assert json.loads(spent.stderr)["error"]["kind"] == "BudgetError"


def test_programs_read_the_mistakes_of_a_recipe_one_by_one(tmp_path: Path) -> None:
    path = recipe(tmp_path, 40, 'name = "safepub"\nepsilon = -1\ndelta = 2\nblue = 1')
    told = json.loads(run("recipe", "check", path, "--json").stderr)
    assert told["error"]["kind"] == "RecipeError"
    assert len(told["error"]["mistakes"]) > 1
    for mistake in told["error"]["mistakes"]:
        assert mistake["message"] in told["error"]["message"]


@pytest.mark.parametrize("name", ["noisy-counts", "kdgs", "columns", "sampling"])
def test_columns_without_a_hierarchy_are_named_where_that_costs_records(
    name: str, tmp_path: Path
) -> None:
    more = {"sampling": 'name = "sampling"\nprobability = 0.5', **METHODS}
    path = recipe(tmp_path, 400, more[name])
    path.write_text(path.read_text().replace("sex = { build", "# sex = { build"))
    checked, released = run("recipe", "check", path), run("release", path, "-o", tmp_path / "out")
    assert (checked.exit_code, released.exit_code) == (0, 0)
    costs = name in ("noisy-counts", "kdgs")
    assert ("no hierarchy  sex: released unchanged" in checked.stdout) == costs
    assert ("note: no hierarchy for 'sex': released unchanged" in released.stderr) == costs
