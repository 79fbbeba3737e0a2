"""`shoal compare`: two tables side by side, and what the second lost."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import shoal
from tests.cli.shell import DIVERSE, SECRET, refused, run
from tests.recipe.people import PEOPLE, RECIPE
from tests.regions import METHODS, write_towns


def test_comparing_shows_what_a_release_lost(folder: Path) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    result = run("compare", "people.csv", "out/release.csv", "--recipe", "recipe.toml", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["a"]["k"], found["a"]["loss"]) == (1, 0)
    assert found["b"]["k"] >= 2
    assert 0 < found["b"]["loss"] <= 1
    assert "name" in found["a"]["values"]
    assert "name" not in found["b"]["values"]
    shown = run(
        "compare",
        "people.csv",
        "out/release.csv",
        "--quasi",
        "age,sex",
        "--hierarchy",
        "age=age.csv",
    )
    assert re.search(r"name +6 +absent", shown.stdout)
    assert re.search(r"loss of the rows there are +unknown +unknown", shown.stdout)
    assert "No loss of A and B for column 'sex': no hierarchy is given." in shown.stdout
    assert "no quasi-identifying columns" in refused("compare", "people.csv", "out/release.csv")


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_the_loss_of_a_release_is_that_of_all_records_of_the_input(
    folder: Path, suppressed: str
) -> None:
    recipe = RECIPE.replace(
        "suppression = 0.5", f"suppression = 0.4\nsuppressed = '{suppressed}'"
    ).replace("[output]", DIVERSE)
    (folder / "recipe.toml").write_text(
        recipe.replace("widths = [10, 50]", 'widths = [10, 50]\nroot = "any"')
    )
    made = shoal.Recipe.load("recipe.toml").run()
    assert made.suppressed == 2
    made.write("out")
    files = ["people.csv", "out/release.csv"]
    found = json.loads(run("compare", *files, "--recipe", "recipe.toml", "--json").stdout)
    assert found["a"]["loss_of_input"] == 0
    assert found["b"]["loss_of_input"] == pytest.approx(made.facts.loss)
    assert (found["b"]["loss"] < 0.99 * found["b"]["loss_of_input"]) == (suppressed == "drop")
    shown = run("compare", *files, "--recipe", "recipe.toml").stdout
    assert "records that B does not have count as lost entirely" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    backwards = json.loads(
        run("compare", *reversed(files), "--recipe", "recipe.toml", "--json").stdout
    )
    assert backwards["a"]["loss_of_input"] is backwards["b"]["loss_of_input"] is None


@pytest.mark.parametrize("options", ["", "relaxed = true", 'ranges = "observed"'])
def test_the_loss_of_ranges_is_known(folder: Path, options: str) -> None:
    (folder / "recipe.toml").write_text(
        RECIPE.replace('name = "optimal"\nsuppression = 0.5', f'name = "mondrian"\n{options}')
    )
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    found = json.loads(
        run("compare", "people.csv", "out/release.csv", "--recipe", "recipe.toml", "--json").stdout
    )
    covered = []
    for age, sex in zip(
        *(pl.read_csv("out/release.csv", infer_schema=False)[name] for name in ("age", "sex")),
        strict=True,
    ):
        low, _, high = age.replace("*", "0-99").partition("-")
        covered.append((int(high or low) - int(low)) / 100 + (sex == "*") / 2)
    assert (
        found["b"]["loss"]
        == found["b"]["loss_of_input"]
        == pytest.approx(sum(covered) / 6 / (1 - 1 / 100 + 1 - 1 / 2))
    )
    by_type = ["-q", "age,sex", "--hierarchy", "age=age.csv,sex=sex.csv", "--type", "age=integer"]
    assert (
        json.loads(run("compare", "people.csv", "out/release.csv", *by_type, "--json").stdout)["b"][
            "loss"
        ]
        == found["b"]["loss"]
    )


def test_a_value_outside_a_hierarchy_is_why_the_loss_is_unknown(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE.replace("31", SECRET))
    shown = run(
        "compare", "people.csv", "people.csv", "-q", "age", "--hierarchy", "age=age.csv"
    ).stdout
    assert "No loss of A and B for column 'age': 1 distinct value not in the hierarchy" in " ".join(
        shown.split()
    )
    assert SECRET not in shown


def test_comparing_reads_the_input_as_its_recipe_does(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE.replace("31", "031").replace("34;f", "31;f"))
    release = ["release", "recipe.toml", "--out", "out"]
    assert run(*release).exit_code == 0
    found = json.loads(
        run("compare", "people.csv", "out/release.csv", "--recipe", "recipe.toml", "--json").stdout
    )
    assert found["a"]["groups"] == 5  # the integers 31 and 031 are one
    assert found["a"]["loss"] == 0


def test_two_releases_by_region_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for method in METHODS:
        recipe = write_towns(tmp_path, method)
        assert run("release", str(recipe), "--out", method).exit_code == 0
    files = [f"{method}/release.csv" for method in METHODS]
    result = run("compare", *files, "--recipe", "noisy.toml", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert 0 < found["a"]["loss"] < 1
    assert 0 < found["b"]["loss"] < 1
    assert found["a"]["suppressed"] == found["b"]["suppressed"] == 0
