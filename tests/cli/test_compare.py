"""`shoal compare`: releases against their input, and two tables side by side."""

import json
import re
from pathlib import Path
from typing import Any

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


# Several releases


def write_releases(folder: Path) -> None:
    """Two releases by the recipe, in folders of their own."""
    for k in (2, 3):
        recipe = RECIPE.replace("k = 2", f"k = {k}").replace("suppression = 0.5", "suppression = 0")
        (folder / f"k{k}.toml").write_text(recipe)
        assert run("release", f"k{k}.toml", "--out", f"k{k}").exit_code == 0


def compared(*arguments: str) -> dict[str, Any]:
    result = run("compare", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_releases_are_compared_by_their_certificates_alone(folder: Path) -> None:
    write_releases(folder)
    found = compared("people.csv", "k2", "k3")
    assert list(found)[:3] == ["not_for_release", "notice", "input"]
    assert found["input"]["k"] == 1
    assert [release["name"] for release in found["releases"]] == ["k2", "k3"]
    assert found["columns"] == ["age", "sex"]
    assert found["by"] == {"risk": "highest", "loss": "discernibility"}
    for release in found["releases"]:
        assert release["promise"].startswith(f"{release['name'][1]}-anonymity")
        assert release["method"] == "optimal"
        assert release["unbeaten"] is not None


def test_a_recipe_or_hierarchies_give_all_losses(folder: Path) -> None:
    write_releases(folder)
    by_recipe = compared("people.csv", "k2", "k3", "--recipe", "recipe.toml")
    assert by_recipe["by"]["loss"] == "granularity"
    made = shoal.Recipe.load("k2.toml").run()
    losses = by_recipe["releases"][0]["losses"]
    assert losses["granularity"] == pytest.approx(made.facts.loss)
    shoal.hierarchy.write(shoal.Recipe.load("recipe.toml").build("age"), folder / "ages.csv")
    trees = ["--hierarchy", "age=ages.csv,sex=sex.csv", "--type", "age=integer"]
    by_files = compared("people.csv", "k2", "k3", *trees)
    assert by_files["releases"][0]["losses"] == pytest.approx(losses)


def test_one_folder_or_the_file_in_it_is_a_release_and_plain_tables_are_read(folder: Path) -> None:
    write_releases(folder)
    [alone] = compared("people.csv", "k2")["releases"]
    files = compared("people.csv", "k2/release.csv", "people.csv", "-q", "age,sex")
    first, plain = files["releases"]
    assert first["losses"] == alone["losses"]
    assert (plain["name"], plain["kind"], plain["k"]) == ("table", None, 1)
    # With one file, it is two tables side by side.
    both = compared("people.csv", "k2/release.csv", "-q", "age,sex")
    assert set(both) >= {"a", "b"}
    assert both["b"]["k"] == first["k"]


def test_releases_are_ranked_by_a_risk_and_a_loss(folder: Path) -> None:
    write_releases(folder)
    found = compared("people.csv", "k2", "k3", "--risk", "average", "--loss", "group_size")
    assert found["by"] == {"risk": "average", "loss": "group_size"}
    assert "it takes 'granularity'" in refused("compare", "people.csv", "k2", "--loss", "size")
    assert "--risk" in refused("compare", "people.csv", "k2", "--risk", "size")


def test_a_release_that_was_changed_is_refused(folder: Path) -> None:
    write_releases(folder)
    (folder / "k2" / "release.csv").write_text(SECRET)
    assert "their digests differ" in refused("compare", "people.csv", "k2", "k3")
    assert "nowhere" in refused("compare", "people.csv", "k3", "nowhere")


def test_people_in_several_rows_of_the_input_are_noticed(folder: Path) -> None:
    write_releases(folder)
    lines = PEOPLE.splitlines(keepends=True)
    (folder / "twice.csv").write_text("".join([*lines, *lines[1:]]))
    result = run("compare", "twice.csv", "k2", "--recipe", "recipe.toml", "--json")
    assert result.exit_code == 0, result.output
    assert "figures are of rows" in result.stderr or json.loads(result.stdout)["input"]["k"] == 2
