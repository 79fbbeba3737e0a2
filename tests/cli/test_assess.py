"""`shoal assess`: risks as tables and JSON, and limits that make it a gate."""

import json
import re
import shlex
from pathlib import Path

import pytest

from shoal.zones import NOTICE
from tests.cli.shell import SECRET, refused, run
from tests.recipe.people import PEOPLE, RECIPE


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


def test_the_verdict_comes_first_and_its_table_with_details(folder: Path) -> None:
    plain = run("assess", "people.csv", "-q", "sex").stdout
    assert plain.startswith("If every row is another person, someone known to be in the table")
    assert "CMS cell size" not in plain
    detailed = run("assess", "people.csv", "-q", "sex", "--details").stdout
    assert re.search(r"CMS cell size +groups of 11 or more, risk 9.09 % +2 +fail", detailed)
    found = json.loads(run("assess", "people.csv", "-q", "sex", "--json").stdout)
    assert found["verdict"]["line"].split()[:3] == plain.split()[:3]


def test_a_verdict_that_cannot_be_given_names_the_options(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE + PEOPLE.partition("\n")[2])
    said = " ".join(run("assess", "people.csv", "-q", "sex").stdout.split())
    assert said.startswith("No convention can be judged: rows are not people")
    assert "with --person, or give --rows-are-people" in said


def test_what_is_said_of_a_table_is_marked_for_the_owner_only(folder: Path) -> None:
    assert run("assess", "people.csv", "-q", "sex").stdout.splitlines()[-1] == NOTICE
    found = json.loads(run("assess", "people.csv", "-q", "sex", "--json").stdout)
    assert list(found)[:2] == ["not_for_release", "notice"]


# A recipe in place of a table


def test_a_recipe_says_what_its_columns_are(folder: Path) -> None:
    named = ["--identifying", "name", "-q", "age,sex", "--sensitive", "diagnosis"]
    of_table = run("assess", "people.csv", *named, "--details").stdout
    assert run("assess", "recipe.toml", "--details").stdout == of_table


def test_a_recipe_says_who_is_a_person(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE + PEOPLE.partition("\n")[2])
    (folder / "recipe.toml").write_text(
        RECIPE.replace("suppression = 0.5", 'suppression = 0.5\nunit = "name"')
    )
    found = json.loads(run("assess", "recipe.toml", "--json").stdout)
    assert found["people"] == 6


def test_limits_of_sensitive_columns_are_checked_by_the_roles_of_a_recipe(folder: Path) -> None:
    violated = run("assess", "recipe.toml", "--min-l", "9")
    assert violated.exit_code == 1
    assert "violated: --min-l 9" in violated.stderr
    recipe = RECIPE.replace('"sensitive"', '"insensitive"')
    (folder / "recipe.toml").write_text(recipe)
    said = refused("assess", "recipe.toml", "--min-l", "2")
    assert "give a column of the recipe this role" in said


@pytest.mark.parametrize(
    "option", [["-q", "sex"], ["--person", "name"], ["--rows-are-people"], ["--separator", ";"]]
)
def test_what_a_recipe_says_itself_is_refused(folder: Path, option: list[str]) -> None:
    said = refused("assess", "recipe.toml", *option)
    assert "is for a table; a recipe says it itself, so change it there" in said


def test_a_recipe_without_quasi_identifying_columns_is_refused(folder: Path) -> None:
    noisy = '[method]\nname = "noisy-counts"\nepsilon = 1\ndelta = 1e-6\n'
    recipe = RECIPE.partition("[method]")[0].replace('"quasi"', '"insensitive"') + noisy
    (folder / "recipe.toml").write_text(recipe)
    assert "change the role of those that others may know" in refused("assess", "recipe.toml")


# Without --quasi


def suggested(*arguments: str) -> tuple[str, str]:
    """What is said of the columns where none is named, and the command to type next."""
    said = refused("assess", "people.csv", *arguments)
    *lines, command = said.splitlines()
    return "\n".join(lines), command


def test_without_columns_nothing_is_assessed_and_the_next_command_is_given(folder: Path) -> None:
    said, command = suggested("--min-k", "2", "--separator", ";")
    assert said.startswith("error: no quasi-identifying columns to assess")
    assert "smallest group" not in said
    assert "named like a person's name (A)" in said
    options = "--identifying name --quasi age,sex --sensitive diagnosis"
    assert command == f"shoal assess people.csv {options} --separator ';' --min-k 2"
    again = run(*shlex.split(command)[1:])
    assert again.exit_code == 1  # of the limit, which was kept
    assert re.search(r"quasi-identifying +age, sex", again.stdout)


def test_suggestions_show_no_value(folder: Path) -> None:
    text = PEOPLE.replace("Ann", SECRET).replace("flu", SECRET)
    (folder / "people.csv").write_text(text)
    suggested()  # which looks for it
    (folder / "people.csv").write_text(text.partition("\n")[2])  # no line of names
    assert "looks like a record" in refused("assess", "people.csv")


def test_roles_that_were_given_stay_and_are_not_suggested(folder: Path) -> None:
    said, command = suggested("-s", "age", "--person", "name", "--json")
    assert "named like an age" not in said
    assert "named like a person" not in said
    options = "--quasi sex --sensitive age,diagnosis --person name --json"
    assert command == f"shoal assess people.csv {options}"


def test_a_table_without_signs_leaves_the_columns_open(folder: Path) -> None:
    (folder / "people.csv").write_text('x,"y, z"\n' + "1,2\n" * 3)
    assert suggested()[1] == "shoal assess people.csv --quasi COLUMN"
    (folder / "people.csv").write_text('age,"sex, f"\n' + "1,2\n" * 3)
    assert run(*shlex.split(suggested()[1])[1:]).exit_code == 0
