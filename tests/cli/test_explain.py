"""`shoal explain` gives k and β, says what it assumed, and names the option that is wrong."""

import json
import math

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.privacy import (
    per_row,
    safepub_parameters,
)
from shoal.privacy.calculus import chosen_parameters


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
