"""`shoal assess`: risks as tables and JSON, and limits that make it a gate."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.shell import refused, run
from tests.recipe.people import PEOPLE


def test_assess_prints_one_json_object(folder: Path) -> None:
    result = run("assess", "people.csv", "--quasi", "age,sex", "--sensitive", "diagnosis", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["records"] == found["groups"] == found["uniques"] == 6
    assert found["k"] == 1
    assert found["prosecutor"]["highest"] == found["prosecutor"]["average"] == 1
    assert found["left_out"] == ["name", "visits"]
    assert found["violated"] == []
    assert result.stderr == ""


def test_assess_prints_a_table_that_says_what_was_left_out(folder: Path) -> None:
    result = run("assess", "people.csv", "-q", "sex", "-s", "diagnosis", "--details")
    assert result.exit_code == 0
    assert re.search(r"left out +name, age, visits", result.stdout)
    assert re.search(r"k, the smallest group +2\b", result.stdout)
    assert re.search(r"highest +50 %", result.stdout)
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("--min-k", "3", "the smallest group has 2 records"),
        ("--max-risk", "0.4", "the highest risk is 0.5"),
        ("--max-at-risk", "5", "6 records (100 %) are at risk above 0.2"),
        ("--max-at-risk", "99%", "6 records (100 %) are at risk above 0.2"),
        ("--min-l", "2", "a group has 1 distinct value of 'diagnosis'"),
        ("--max-t", "0.3", "a group is 0.3333 away from the table in 'diagnosis'"),
    ],
)
def test_a_violated_limit_is_exit_code_1_and_is_named(
    folder: Path, limit: str, value: str, said: str
) -> None:
    table = PEOPLE.replace("52;f;cold", "52;f;flu").replace("31;f;flu", "31;f;cold")
    (folder / "people.csv").write_text(table.replace("35;m", "30;m").replace("39;m", "30;m"))
    options = ["assess", "people.csv", "-q", "sex", "-s", "diagnosis", limit, value]
    result = run(*options)
    assert result.exit_code == 1, result.output
    assert result.stderr == f"violated: {limit} {value}: {said}\n"
    both = run(*options, "--json")
    assert both.exit_code == 1
    assert json.loads(both.stdout)["violated"] == [f"{limit} {value}: {said}"]


@pytest.mark.parametrize("value", ["1", "0.16", "16%", "1/7"])
def test_uniques_are_limited_by_number_or_share(folder: Path, value: str) -> None:
    (folder / "people.csv").write_text("sex\n" + "f\n" * 4 + "m\n" + "x\n")
    result = run("assess", "people.csv", "-q", "sex", "--max-uniques", value)
    assert result.exit_code == 1
    assert "2 records (33.3 %) are alone in their group" in result.stderr


@pytest.mark.parametrize(
    "limits",
    [
        [
            "--min-k",
            "2",
            "--max-risk",
            "0.5",
            "--max-at-risk",
            "6",
            "--max-uniques",
            "0",
            "--max-t",
            "0.9",
        ],
        ["--max-risk", "1/2"],
        ["--max-risk", "50%", "--threshold", "50%", "--max-at-risk", "0%"],
        ["--max-uniques", "0%"],
    ],
)
def test_limits_that_are_kept_are_exit_code_0(folder: Path, limits: list[str]) -> None:
    result = run("assess", "people.csv", "-q", "sex", "-s", "diagnosis", *limits)
    assert result.exit_code == 0
    assert result.stderr == ""


@pytest.mark.parametrize(
    "limit",
    [
        ("--min-k", "0"),
        ("--min-k", "-5"),
        ("--min-l", "0"),
        ("--max-risk", "101%"),
        ("--max-risk", "-1"),
        ("--max-at-risk", "-1"),
        ("--max-uniques", "1.5"),
        ("--max-t", "2"),
        ("--threshold", "120%"),
        ("--fraction", "-5%"),
    ],
)
def test_a_limit_out_of_its_range_is_refused(folder: Path, limit: tuple[str, str]) -> None:
    said = refused("assess", "people.csv", "-q", "sex", "-s", "diagnosis", *limit)
    assert said.startswith(f"error: {limit[0]} ")
    assert "out of range" in said


@pytest.mark.parametrize(
    "limit",
    [
        ("--min-k", "1"),
        ("--max-risk", "1"),
        ("--max-risk", "100%"),
        ("--max-at-risk", "100%"),
        ("--max-at-risk", "1.0"),
        ("--max-uniques", "100%"),
        ("--min-l", "1"),
        ("--max-t", "1"),
        ("--max-at-risk", "5%", "--threshold", "1"),
    ],
    ids=" ".join,
)
def test_a_limit_that_cannot_be_violated_is_refused(folder: Path, limit: tuple[str, ...]) -> None:
    assert "can never be violated" in refused(
        "assess", "people.csv", "-q", "sex", "-s", "diagnosis", *limit
    )


def test_details_without_a_fraction_say_what_they_lack(folder: Path) -> None:
    asked = ["assess", "people.csv", "-q", "sex", "--details"]
    assert "give --fraction" in run(*asked).stdout
    assert "give --fraction" not in run(*asked, "--fraction", "10%").stdout
    assert json.loads(run(*asked, "--json").stdout)["k"] == 2


def test_a_limit_is_compared_exactly(folder: Path) -> None:
    (folder / "people.csv").write_text("sex\n" + "f\n" * 10)
    assert run("assess", "people.csv", "-q", "sex", "--max-risk", "0.1").exit_code == 0
    assert (
        run("assess", "people.csv", "-q", "sex", "--max-risk", "0.0999999999999999999999").exit_code
        == 1
    )
    (folder / "people.csv").write_text(
        "sex,illness\n" + "f,flu\n" * 3 + "f,cold\n" * 2 + "m,flu\n" * 2 + "m,cold\n" * 3
    )
    assert (
        run("assess", "people.csv", "-q", "sex", "-s", "illness", "--max-t", "0.1").exit_code == 0
    )
    assert (
        run(
            "assess", "people.csv", "-q", "sex", "-s", "illness", "--max-t", "0.0999999999999999"
        ).exit_code
        == 1
    )


def test_an_empty_table_violates_every_limit(folder: Path) -> None:
    (folder / "people.csv").write_text("age;sex\n")
    result = run(
        "assess", "people.csv", "-q", "age,sex", "--separator", ";", "--min-k", "5", "--json"
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["k"] is None
    assert "nothing to judge" in result.stderr


def test_a_population_gives_the_journalists_risk(folder: Path) -> None:
    (folder / "town.csv").write_text("sex\n" + "f\n" * 8 + "m\n" * 4)
    result = run("assess", "people.csv", "-q", "sex", "--population", "town.csv", "--json")
    assert json.loads(result.stdout)["journalist"]["highest"] == 0.25
