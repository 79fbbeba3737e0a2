"""`shoal explain` gives k and β, says what it assumed, and names the option that is wrong."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.privacy import (
    per_row,
    safepub_parameters,
)
from shoal.privacy.calculus import chosen_parameters
from shoal.recipe import Recipe
from shoal.studies import forecasting
from shoal.studies.forecasting import forecast


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["explain", *arguments], env={"COLUMNS": "80"})


def test_explain_gives_k_and_beta_and_the_split_it_assumed() -> None:
    found = json.loads(explain("--epsilon", "1", "--delta", "1e-6", "--json").stdout)
    assert found["k"] == 56
    assert found["beta"] == pytest.approx(1 - math.exp(-0.9), rel=1e-15)
    assert found["split"] == {"anonymisation": 0.9, "search": 0.1}
    assert (found["epsilon_anonymisation"], found["epsilon_search"]) == (0.9, 0.1)


@pytest.mark.parametrize(("definition", "k"), [("probabilistic", 74), ("standard", 58)])
def test_explain_leaves_all_to_the_anonymisation_where_levels_are_fixed(
    definition: str, k: int
) -> None:
    found = json.loads(
        explain(
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
            "--split",
            "1",
            "--definition",
            definition,
            "--json",
        ).stdout
    )
    assert (found["k"], found["epsilon_search"], found["definition"]) == (k, 0, definition)


def test_explain_takes_a_chance_or_chooses_one_by_the_number_of_people() -> None:
    given = ("--epsilon", "1", "--delta", "1e-6", "--json")
    found = json.loads(explain(*given, "--beta", "0.2").stdout)
    assert (found["k"], found["beta"]) == (safepub_parameters("0.9", "1e-6", beta="0.2").k, 0.2)
    found = json.loads(explain(*given, "--beta", "auto", "--people", "100000").stdout)
    chosen = chosen_parameters("0.9", "1e-6", "standard", 100_000)
    assert (found["k"], found["beta"]) == (chosen.k, float(chosen.beta))
    for wrong in (("--beta", "auto"), ("--beta", "1"), ("--beta", "0.2", "--counts", "5")):
        refused = explain(*given, *wrong)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "--beta" in refused.stderr


def test_explain_says_how_far_counts_are_off() -> None:
    given = ("--epsilon", "1", "--delta", "1e-6", "--counts", "5")
    shown, printed = (
        " ".join(explain(*given, *more).stdout.split()) for more in ((), ("--noise", "printed"))
    )
    assert "off by 0.851 on average, by 14 at most; no count below 19 is shown" in shown
    assert "no count below k is shown" in printed
    found = json.loads(explain(*given, "--json").stdout)
    assert (found["noise"], found["bound"], found["half"]) == ("bounded", 14, 19)
    refused = explain(*given, "--definition", "probabilistic")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--noise" in refused.stderr
    alone = explain("--epsilon", "1", "--delta", "1e-6", "--noise", "printed")
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert "--counts" in alone.stderr


def test_explain_pays_for_several_rows() -> None:
    several = ("--epsilon", "1", "--delta", "1e-6", "--rows", "2", "--split", "1")
    found = json.loads(explain(*several, "--definition", "standard", "--json").stdout)
    assert (found["epsilon_anonymisation"], found["exact"]["epsilon"]) == (0.5, "1")
    assert found["k"] == safepub_parameters(*per_row(1, "1e-6", 2), "standard").k
    refused = explain(*several, "--definition", "probabilistic")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--definition standard" in refused.stderr


@pytest.mark.parametrize("epsilon", ["1", "ln(2)", "0.1", "5", "20", "1e-9"])
def test_an_explanation_fits_80_columns(epsilon: str) -> None:
    for more in ([], ["--rows", "7", "--definition", "standard"], ["--split", "1"]):
        found = explain("--epsilon", epsilon, "--delta", "1e-20", *more)
        assert found.exit_code == 0, found.output
        assert max(map(len, found.stdout.splitlines())) <= 80
        assert "not even looked at" in found.stdout


def test_explain_warns_of_a_delta_that_is_as_large_as_one_of_the_people() -> None:
    found = explain("--epsilon", "1", "--delta", "1e-3", "--people", "1000", "--json")
    assert found.exit_code == 0
    assert found.stderr.startswith("warning: a delta of 1e-3 is not below 1/1,000")
    assert "1,000" not in found.stdout
    assert not explain("--epsilon", "1", "--delta", "1e-3", "--people", "999").stderr


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            "--epsilon=0",
            "--epsilon=-1",
            "--epsilon=nan",
            "--epsilon=ln(1)",
            "--epsilon=30",
            "--epsilon=9999",
            "--epsilon=1e-30",
        ),
        *(
            "--delta=0",
            "--delta=1",
            "--delta=2",
            "--delta=inf",
            "--split=0",
            "--split=1.5",
            "--split=x",
        ),
        *("--rows=0", "--people=0", "--definition=other"),
    ],
)
def test_explain_refuses_nonsense_and_names_the_option(wrong: str) -> None:
    found = explain("--epsilon", "1", "--delta", "1e-6", wrong)
    assert (found.exit_code, found.stdout) == (2, "")
    assert wrong.split("=")[0] in found.stderr


def test_explain_says_what_replacing_means() -> None:
    sampled = explain("--epsilon", "ln(2)", "--delta", "1e-6")
    assert "epsilon ln(4) and delta 1e-06 are kept if one row is" in sampled.stdout
    options = ("--rows", "2", "--definition", "standard", "--counts", "5")
    counted = explain("--epsilon", "ln(2)", "--delta", "1e-6", *options)
    assert "epsilon ln(4) and delta 3e-06 are kept if one person is" in counted.stdout


# What to expect of a table


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe whose source is nowhere: nothing may read it. One made-up table by each law."""
    monkeypatch.setattr(forecasting, "TABLES", 1)
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    path = tmp_path / "people.toml"
    path.write_text(
        """
        [source]
        path = "nowhere.csv"
        types = { age = "integer" }

        [roles]
        name = "identifying"
        age = "quasi"
        sex = "quasi"
        illness = "sensitive"

        [hierarchies.age]
        build = "intervals"
        low = 0
        high = 99
        widths = [10, 50]

        [hierarchies.sex]
        file = "sex.csv"

        [method]
        name = "safepub"
        epsilon = 1
        delta = "1e-6"
        """
    )
    return path


ASKED = ("--epsilon", "1", "--delta", "1e-6", "--records", "3000", "--values", "illness=5")


def test_explain_says_what_to_expect_of_a_recipe_without_reading_its_table(recipe: Path) -> None:
    shown = explain(*ASKED, "--schema", str(recipe))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "a forecast, not a promise" in shown.stdout
    assert "age, sex, illness" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    found = json.loads(explain(*ASKED, "--schema", str(recipe), "--json").stdout)
    expected = forecast(
        Recipe.load(recipe).schema, records=3_000, epsilon=1, delta="1e-6", values={"illness": 5}
    )
    assert found == json.loads(json.dumps(expected.to_dict()))


def test_explain_says_what_to_expect_of_hierarchies(recipe: Path) -> None:
    given = (*ASKED[:-2], "--hierarchy", f"sex={recipe.parent / 'sex.csv'}")
    found = json.loads(explain(*given, "--json").stdout)
    assert found["columns"] == ["sex"]
    # Two values of some hundred records each are released unchanged, but for what is not drawn.
    [safepub] = [one for one in found["expectations"] if one["way"] == "SafePub by a search"]
    assert 0.4 < safepub["information"]["low"] <= safepub["kept"]["high"] < 0.9


def test_explain_draws_from_a_public_table(recipe: Path) -> None:
    public = recipe.parent / "census.csv"
    public.write_text("age,sex,illness,more\n" + "41,f,flu,x\n" * 500 + "12,m,cold,y\n" * 500)
    shown = explain(*ASKED, "--schema", str(recipe), "--like", str(public))
    assert shown.exit_code == 0, shown.stderr
    said = " ".join(shown.stdout.split())
    assert "drawn from the public one. They have 1,000 records; more would keep more." in said
    only = ("--hierarchy", f"sex={recipe.parent / 'sex.csv'}", "--like", str(public))
    assert explain(*ASKED[:-2], *only).exit_code == 0


def test_the_table_of_a_recipe_is_not_a_public_one(recipe: Path) -> None:
    private = recipe.parent / "nowhere.csv"
    private.write_text("name,age,sex,illness\nAnn,41,f,flu\n")
    (recipe.parent / "link.csv").hardlink_to(private)
    for name in ("nowhere.csv", "link.csv"):
        like = str(recipe.parent / name)
        refused = explain(*ASKED, "--schema", str(recipe), "--like", like)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "--like is the table of the recipe itself" in refused.stderr


def test_explain_warns_of_a_delta_too_large_for_the_records(recipe: Path) -> None:
    shown = explain(*ASKED, "--schema", str(recipe), "--delta", "1e-3")
    assert shown.exit_code == 0
    assert shown.stderr.startswith("warning: a delta of 1e-3 is not below 1/3,000")


@pytest.mark.parametrize(
    "wrong",
    [
        ("--beta", "0.2"),
        ("--people", "9"),
        ("--counts", "5"),
        ("--noise", "printed"),
        ("--columns", "3"),
        ("--split", "0.5"),
        ("--definition", "probabilistic"),
        ("--records", "0"),
        ("--values", "illness=0"),
        ("--values", "illness"),
        ("--hierarchy", "sex=sex.csv"),
    ],
)
def test_explain_refuses_what_is_not_about_a_forecast(recipe: Path, wrong: tuple[str, str]) -> None:
    refused = explain(*ASKED, "--schema", str(recipe), *wrong)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert wrong[0] in refused.stderr


@pytest.mark.parametrize(
    "alone", [("--records", "9"), ("--like", "x.csv"), ("--values", "a=3"), ("--root", "*")]
)
def test_a_forecast_needs_columns_and_records(recipe: Path, alone: tuple[str, str]) -> None:
    refused = explain("--epsilon", "1", "--delta", "1e-6", *alone)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert alone[0] in refused.stderr
    assert "--hierarchy" in refused.stderr
    without = explain("--epsilon", "1", "--delta", "1e-6", "--schema", str(recipe))
    assert (without.exit_code, without.stdout) == (2, "")
    assert "--records" in without.stderr
    unknown = explain(*ASKED[:-2], "--schema", str(recipe))
    assert unknown.exit_code == 2
    assert "'illness' has no hierarchy" in unknown.stderr
    assert "--values" in unknown.stderr


def test_a_forecast_for_people_with_several_rows_says_so(recipe: Path) -> None:
    given = (*ASKED, "--schema", str(recipe))
    assert "for a person with up to 3 rows" in explain(*given, "--rows", "3").stdout
