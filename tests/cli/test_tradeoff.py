"""`shoal tradeoff` shows what utility costs in risk."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.methods.personal import Personal, PersonalFacts
from shoal.studies.tradeoffs import tradeoff
from shoal.zones import NOTICE


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tradeoff")
    people = "".join(f"{'abcd'[i % 4]},{i * i % 8},u\n" for i in range(40))
    (folder / "people.csv").write_text(f"town,age,ill\n{people}")
    (folder / "people.toml").write_text(
        """[source]
path = "people.csv"
types = { town = "text", age = "text", ill = "text" }
[roles]
town = "quasi"
age = "quasi"
ill = "sensitive"
[hierarchies.town]
build = "group"
tree = { x = ["a", "b"], y = ["c", "d"] }
[hierarchies.age]
build = "suppress"
values = ["0", "1", "2", "3", "4", "5", "6", "7"]
[method]
name = "personal"
utility = 0.5
"""
    )
    return folder / "people.toml"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["tradeoff", *map(str, arguments)], env={"COLUMNS": "80"})


def test_the_command_prints_a_curve_and_the_floor_that_halves_the_risk(recipe: Path) -> None:
    result = run(recipe, "--floors", "0.3,50%", "--floors", "1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if " %" in line] == ["30", "50", "100"]
    assert "utility = 0." in result.stdout


def test_the_floor_that_is_printed_halves_the_risk(recipe: Path) -> None:
    chosen = shoal.Recipe.load(recipe)
    table, method = chosen.table(), chosen.method()
    assert isinstance(method, Personal)
    line = next(line for line in run(recipe).stdout.splitlines() if "utility = " in line)
    floor = line.split("utility = ")[1].strip()
    facts = replace(method, utility=Fraction(floor)).release(table, Seeded(1)).facts
    assert isinstance(facts, PersonalFacts)
    assert facts.risk <= tradeoff(table, method).as_it_is.risk / 2


def test_the_command_shows_one_person(recipe: Path) -> None:
    result = run(recipe, "--person", 4)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    assert max(map(len, lines)) <= 80
    assert next(line.split() for line in lines if line.startswith("town"))[:2] == [
        "town",
        "d",
    ]  # the fourth row
    found = json.loads(run(recipe, "--person", 4, "--json").stdout)
    assert found["not_for_release"] is True
    assert found["as_it_is"]["shown"] == {"town": "d", "age": "1"}
    assert found["half"]["risk"] <= found["as_it_is"]["risk"] / 2


def test_the_command_compares_with_k_anonymity(recipe: Path) -> None:
    result = run(recipe, "--against-k", "2,5")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("10 arbitrary") == result.stdout.count("optimal") == 2
    rows = json.loads(run(recipe, "--against-k", "2", "--json").stdout)["rows"]
    assert [(row["k"], row["optimal"]) for row in rows] == [(2, False), (2, True)]


def test_the_command_draws(recipe: Path, tmp_path: Path) -> None:
    chart = tmp_path / "curve.svg"
    assert run(recipe, "--floors", "0.5", "--chart", chart).exit_code == 0
    assert chart.stat().st_size
    again = run(recipe, "--floors", "0.5", "--chart", chart)
    assert again.exit_code == 2
    assert "give --chart another name, or --force" in again.stderr
    assert run(recipe, "--person", 1, "--chart", chart, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--person", 41),
            "--person 41 is not in the table; the table has 40 rows, the first being 1",
        ),
        (("--floors", "2"), "--floors 2 is out of range"),
        (
            ("--against-k", "two"),
            "--against-k two is not a size of groups; give whole numbers above 0",
        ),
        (("--against-k", "41"), "no table of 40 records is 41-anonymous"),
        (("--against-k", "2", "--person", 1), "--against-k is a question of its own"),
        (("--chart", "a.pdf"), "'a.pdf' is not a name for a chart"),
    ],
)
def test_what_cannot_be_asked_is_said(
    recipe: Path, options: tuple[object, ...], message: str
) -> None:
    result = run(recipe, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_other_methods_have_no_trade_off(recipe: Path) -> None:
    other = recipe.with_name("other.toml")
    other.write_text(
        recipe.read_text().split("[method]")[0]
        + '[method]\nname = "optimal"\nmodels = ["2-anonymity"]\n'
    )
    result = run(other)
    assert result.exit_code == 2
    assert (
        "the method 'optimal' has no trade-off to weigh; use 'buckets', 'personal'" in result.stderr
    )


@pytest.fixture(scope="module")
def buckets(recipe: Path) -> Path:
    folder = recipe.parent
    illnesses = ["flu", "cold", "gout", "HIV"]
    people = "".join(f"{'abcd'[i % 4]},{illnesses[i * i % 7 % 4]}\n" for i in range(60))
    (folder / "ill.csv").write_text(f"town,ill\n{people}")
    (folder / "buckets.toml").write_text(
        """[source]
path = "ill.csv"
[roles]
town = "quasi"
ill = "sensitive"
[method]
name = "buckets"
column = "ill"
limits = { a = 2, b = 0.02 }
"""
    )
    return folder / "buckets.toml"


def test_buckets_are_weighed_against_their_limits(buckets: Path) -> None:
    result = run(buckets, "--thetas", "0.5,1.5,3", "--solvers", "two,multi", "--queries", 20)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    assert max(map(len, lines)) <= 80
    assert [line.split()[:2] for line in lines if line.startswith(("0.5 ", "1.5 "))] == [
        ["0.5", "multi"],
        ["0.5", "two"],
        *[["1.5", "multi"], ["1.5", "two"]] * 2,
    ]
    assert "None: some value has a larger share of the table than its limit" in result.stdout
    assert "one single bucket" in result.stdout


def test_the_curve_of_limits_is_plain_values_and_a_chart(buckets: Path, tmp_path: Path) -> None:
    chart = tmp_path / "limits.svg"
    result = run(buckets, "--thetas", 2, "--solvers", "two", "--json", "--chart", chart)
    assert result.exit_code == 0, result.output
    curve = json.loads(result.stdout)
    assert next(iter(curve)) == "not_for_release"
    (point,) = curve["points"]
    assert (point["theta"], point["solver"], point["queries"]) == (2.0, "two", None)
    assert "mean squared error" in chart.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--person", 1), "--person is not about this method; leave it out for 'buckets'"),
        (("--thetas", "0"), "--thetas"),
        (("--solvers", "best"), "it takes 'optimal', 'multi', 'two', 'anatomy'"),
    ],
)
def test_what_cannot_be_asked_of_buckets_is_said(
    buckets: Path, options: tuple[object, ...], message: str
) -> None:
    result = run(buckets, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_limits_are_not_asked_of_personal_generalisation(recipe: Path) -> None:
    result = run(recipe, "--queries", 3)
    assert result.exit_code == 2
    assert "--queries is not about this method; leave it out for 'personal'" in result.stderr
