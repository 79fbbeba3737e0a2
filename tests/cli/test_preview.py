"""`shoal preview`: a table at given levels, by a recipe or by options."""

import json
import re
from pathlib import Path

import pytest

import shoal
from shoal.zones import NOTICE
from tests.cli.shell import DIVERSE, refused, run
from tests.recipe.people import RECIPE
from tests.regions import METHODS, write_towns


def test_a_preview_shows_the_table_at_its_levels(folder: Path) -> None:
    result = run("preview", "recipe.toml", "--levels", "age=1", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["levels"] == {"age": 1, "sex": 0}
    assert found["groups"] == 3
    assert found["k"] == 2
    assert found["suppressed"][1] == {"k": 3, "records": 6, "loss": 1.0}
    assert {"values": {"age": "30-39", "sex": "f"}, "records": 2, "kept": True} in found["first"]
    shown = run("preview", "recipe.toml", "--levels", "age=1", "--rows", "1")
    assert "The first 1 group\n" in shown.stdout
    lines = shown.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    assert next(iter(found)) == "not_for_release"
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_a_preview_takes_a_table_with_hierarchies(folder: Path) -> None:
    options = [
        "-q",
        "age,sex",
        "--hierarchy",
        "age=age.csv,sex=sex.csv",
        "-l",
        "age=1,sex=1",
        "--type",
        "age=integer",
    ]
    found = json.loads(run("preview", "people.csv", *options, "--json").stdout)
    assert (found["groups"], found["k"]) == (2, 2)


def test_a_preview_takes_all_models_of_its_recipe(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace("[output]", DIVERSE))
    found = json.loads(run("preview", "recipe.toml", "--levels", "age=1", "--json").stdout)
    # Cid and Dov, two men in their thirties, both have a flu: two records of one diagnosis.
    assert found["models"] == [
        {"model": "2-anonymity", "groups": 0, "records": 0, "loss": found["loss"]},
        {
            "model": "distinct 2-diversity of diagnosis",
            "groups": 1,
            "records": 2,
            "loss": found["all_models"]["loss"],
        },
    ]
    assert found["all_models"] | {"loss": None} == {
        "groups": 1,
        "records": 2,
        "loss": None,
        "allowed": 3,
        "within": True,
    }
    assert [one["kept"] for one in found["first"]] == [
        one["values"]["sex"] == "f" for one in found["first"]
    ]
    shown = run("preview", "recipe.toml", "--levels", "age=1").stdout
    assert re.search(r"distinct 2-diversity of diagnosis +1 +2 +33.3 %", shown)
    assert re.search(r"all of them +1 +2 +33.3 %", shown)
    assert "allows 3 records to be suppressed, so these levels will do" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_preview_at_the_levels_of_a_release_shows_what_it_did(folder: Path) -> None:
    (folder / "recipe.toml").write_text(
        RECIPE.replace("[output]", DIVERSE).replace("0.5", "0.4\nloss = 'entropy'")
    )
    release = shoal.Recipe.load("recipe.toml").run()
    levels = ",".join(f"{name}={level}" for name, level in release.certificate.levels.items())
    found = json.loads(run("preview", "recipe.toml", "--levels", levels, "--json").stdout)
    assert found["loss_model"] == "entropy"
    assert found["all_models"]["records"] == release.suppressed
    assert found["all_models"]["loss"] == pytest.approx(release.facts.loss)
    assert found["all_models"]["within"]


def test_a_preview_for_noisy_counts_says_that_its_groups_differ(tmp_path: Path) -> None:
    recipe = shoal.demo.write(tmp_path, 100)
    shown = " ".join(run("preview", str(recipe), "--levels", "age=1").stdout.split())
    assert "so the groups of its release differ from these" in shown
    assert "values of several levels" in shown
    assert "reveal information about the table, and no budget pays for that" in shown


def test_a_preview_says_when_levels_will_not_do(folder: Path) -> None:
    (folder / "recipe.toml").write_text(
        RECIPE.replace("suppression = 0.5", "suppression = 0.1\nfloor = { age = 1 }")
    )
    shown = run("preview", "recipe.toml").stdout
    assert "allows 0 records to be suppressed, so these levels will not do" in shown
    assert "Beyond the floor or ceiling of the recipe: age." in shown
    (folder / "recipe.toml").write_text(
        RECIPE.replace('name = "optimal"\nsuppression = 0.5', 'name = "mondrian"')
    )
    assert "mondrian chooses no levels" in run("preview", "recipe.toml").stdout
    models = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    sampling = RECIPE.replace(
        'name = "optimal"\nsuppression = 0.5', 'name = "sampling"\nprobability = 0.5'
    ).replace(models, "")
    (folder / "recipe.toml").write_text(sampling)
    assert "models" not in run("preview", "recipe.toml").stdout


def test_a_preview_without_hierarchies_says_what_to_give(folder: Path) -> None:
    said = refused("preview", "people.csv", "-q", "age,sex", "--hierarchy", "age=age.csv")
    assert "no hierarchy for 'sex'; give --hierarchy sex=FILE" in said
    observed = RECIPE.replace(
        'name = "optimal"\nsuppression = 0.5', 'name = "mondrian"\nranges = "observed"'
    )
    (folder / "recipe.toml").write_text(
        observed.replace('[hierarchies.sex]\nbuild = "suppress"\nvalues = ["f", "m"]', "")
    )
    assert "no hierarchy for 'sex'; add [hierarchies.sex] to the recipe" in refused(
        "preview", "recipe.toml"
    )


@pytest.mark.parametrize(
    "option", [("-q", "age"), ("--hierarchy", "age=age.csv"), ("--separator", ","), ("--root", "*")]
)
def test_an_option_that_the_recipe_states_itself_is_refused(
    folder: Path, option: tuple[str, str]
) -> None:
    assert "a recipe says it itself" in refused("preview", "recipe.toml", *option)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("age=4", "levels 0 to 3"),
        ("age=x", "give a whole number"),
        ("aged=1", "'aged'"),
        ("age", "column=value"),
        ("age=1,age=2", "twice"),
    ],
)
def test_levels_that_are_not_there_are_refused(folder: Path, levels: str, said: str) -> None:
    assert said in refused("preview", "recipe.toml", "--levels", levels)


@pytest.mark.parametrize("method", METHODS)
def test_a_preview_says_that_a_tree_releases_several_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    recipe = write_towns(tmp_path, method)
    shown = run("preview", str(recipe), "--levels", "age=1")
    assert shown.exit_code == 0, shown.output
    note = "grows a tree: its release has values of several levels"
    assert note in " ".join(shown.stdout.split())
    one_level = recipe.read_text().replace('"tree"', '"select"' if method == "sampled" else "{}")
    recipe.write_text(one_level)
    assert note not in " ".join(run("preview", str(recipe)).stdout.split())
