"""`shoal count` reads counts off a release of buckets, and `shoal limits` shows limits."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.measure.buckets import count
from shoal.zones import NOTICE
from tests.measure.hospital import hospital, release


def test_the_command_counts(tmp_path: Path) -> None:
    made = release(hospital(600))
    made.write(tmp_path)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["count", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    ages = [*range(30, 50), 60]
    expected = count(made, {"sex": "female", "age": ages, "ill": ["ill00", "ill01"]})
    where = ["--where", "sex=female", "--where", "age=30..49,60", "--where", "ill=ill00,ill01"]
    assert f"{expected.count:,.1f}" in run(*where)
    assert '"error": 0.0' in run("--where", "sex=female", "--json")
    quoted = ["--where", 'ill="ill00",ill01', "--where", "sex=female,femal"]
    shown = run(*quoted, "--where", "age=30..49,60")
    assert f"{expected.count:,.1f}" in shown
    assert "nobody in the release has 'femal' as 'sex'" in shown


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("sex", "--where sex has no column and values; give both, as in sex=female"),
        ("age=a..b", "--where a..b is not a range"),
        ("age=39..30", "--where 39..30 is not a range"),
        ("ward=1", "the release has no column 'ward'"),
    ],
)
def test_the_command_says_what_it_cannot_count(tmp_path: Path, where: str, message: str) -> None:
    release(hospital(600)).write(tmp_path)
    done = CliRunner().invoke(app, ["count", str(tmp_path), "--where", where])
    assert done.exit_code == 2
    assert message in done.stderr


def test_limits_names_the_values_that_prevent_buckets_to_the_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("town,ill\n" + "a,flu\n" * 6 + "b,HIV\nb,cold\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """[source]
path = "people.csv"
[roles]
town = "quasi"
ill = "sensitive"
[method]
name = "buckets"
column = "ill"
limits = { values = { HIV = 0.2 }, others = 0.5 }
"""
    )
    shown = CliRunner().invoke(app, ["limits", str(recipe)], env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    (row,) = [line for line in lines if "share above limit" in line]
    assert row.split() == ["flu", "75", "%", "50", "%", "share", "above", "limit"]
    assert "1 value with a larger share" in shown.stdout
    plain = json.loads(CliRunner().invoke(app, ["limits", str(recipe), "--json"]).stdout)
    assert next(iter(plain)) == "not_for_release"
    assert [value["value"] for value in plain["values"]] == ["flu", "HIV", "cold"]
    assert not plain["holds"]
    # The error tells how to ask, and no value.
    refused = CliRunner().invoke(app, ["release", str(recipe), "--out", str(tmp_path / "out")])
    assert refused.exit_code != 0
    assert "shoal limits" in refused.stderr
    assert not any(value in refused.stderr for value in ("flu", "HIV", "cold"))


def test_limits_that_some_buckets_keep_may_still_be_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("town,ill\n" + "a,flu\na,HIV\nb,cold\n" * 4)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """[source]
path = "people.csv"
[roles]
town = "quasi"
ill = "sensitive"
[method]
name = "buckets"
column = "ill"
limits = { others = 0.34 }
solver = "multi"
largest = 2
"""
    )
    shown = " ".join(CliRunner().invoke(app, ["limits", str(recipe)]).stdout.split())
    assert "Buckets of some size can keep these limits. If the recipe's solver or" in shown
    refused = CliRunner().invoke(app, ["release", str(recipe), "--out", str(tmp_path / "out")])
    assert refused.exit_code == 2


def test_a_method_without_limits_has_none_to_show(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("town\na\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """[source]
path = "people.csv"
[roles]
town = "insensitive"
[method]
name = "sampling"
probability = 0.5
"""
    )
    refused = CliRunner().invoke(app, ["limits", str(recipe)])
    assert refused.exit_code == 2
    assert "the method 'sampling' has no limits; use 'buckets'" in refused.stderr


def test_limits_names_what_is_too_frequent_among_people_who_agree(tmp_path: Path) -> None:
    rows = "a,flu\n" * 3 + "a,cold\n" + "b,cold\n" * 2 + "b,flu\n" * 2
    (tmp_path / "people.csv").write_text(f"town,ill\n{rows}")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """[source]
path = "people.csv"
[roles]
town = "quasi"
ill = "sensitive"
[hierarchies.town]
build = "suppress"
values = ["a", "b"]
[method]
name = "buckets"
column = "ill"
limits = { values = { flu = 0.7 }, others = 0.5 }
within = { town = 0 }
"""
    )
    shown = CliRunner().invoke(app, ["limits", str(recipe)], env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    (row,) = [line for line in shown.stdout.splitlines() if line.startswith("town a")]
    assert row.split() == ["town", "a", "flu", "75", "%", "70", "%"]
    assert "No buckets of people who agree can keep these limits." in shown.stdout
    plain = json.loads(CliRunner().invoke(app, ["limits", str(recipe), "--json"]).stdout)
    assert [each["value"] for each in plain["blocked"]] == ["flu"]
    assert plain["blocked"][0]["agree"] == {"town": "a"}
    assert not plain["holds"]
