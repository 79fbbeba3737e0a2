"""`shoal views` and `shoal ledger show`: nothing is overwritten or ignored without a word."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal import views
from shoal.cli.views import share_text
from shoal.errors import ParameterError
from shoal.look import Zone
from shoal.views import View, Views
from tests.cli.shell import refused
from tests.views_files import DONALD, RECIPE, run

VIEWS = 'gamma = "1/2"\n' + DONALD
RESTORE = ("views", "restore", "views.toml", "--data", "table.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("views.toml").write_text(VIEWS)
    Path("safe.toml").write_text(VIEWS.replace("1/2", "9/10"))
    names = ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia"]
    pl.DataFrame({"name": names, "ill": ["H", "S", "V", "S", "V", "S", "F"]}).write_csv("table.csv")
    return tmp_path


def words(text: str) -> str:
    return " ".join(text.split())


# Files that are written


@pytest.mark.parametrize("option", ["--to", "--chart"])
def test_an_existing_file_is_overwritten_only_by_force(option: str) -> None:
    file = Path("new.svg")
    file.write_text("precious")
    assert "new.svg exists already" in refused(*RESTORE, option, "new.svg")
    done = run(*RESTORE, option, "new.svg", "--force")
    assert (done.exit_code, done.stderr) == (0, "wrote new.svg\n")
    assert file.read_text() != "precious"


@pytest.mark.parametrize("file", ["views.toml", "table.csv", "./views.toml"])
def test_what_a_command_reads_is_never_overwritten(file: str) -> None:
    assert "is what the command reads" in refused(*RESTORE, "--to", file, "--force")
    assert "is what the command reads" in refused(
        "views", "certify", "views.toml", "-o", "views.toml", "--force"
    )


@pytest.mark.parametrize("form", ["png", "svg", "html"])
def test_no_file_is_written_if_there_is_nothing_to_write(form: str) -> None:
    done = run(
        "views",
        "restore",
        "safe.toml",
        "--data",
        "table.csv",
        "--to",
        "more.toml",
        "--chart",
        f"chart.{form}",
    )
    assert done.exit_code == 0
    assert "nobody was exposed, so there is nothing to draw" in done.stderr
    assert "no view was added" in done.stderr
    assert not Path("more.toml").exists()
    assert not Path(f"chart.{form}").exists()


def test_what_was_written_can_be_appended_and_then_keeps_every_limit() -> None:
    done = run(*RESTORE, "--to", "more.toml")
    assert "wrote more.toml" in done.stderr
    Path("views.toml").write_text(VIEWS + Path("more.toml").read_text())
    assert run("views", "check", "views.toml").exit_code == 0


# Charts


def restored(gamma: str) -> views.Restored:
    table = ["H", "S", "V", "S", "V", "S", "F"]
    both = Views(7, [View("A", range(4), table[:4]), View("B", range(3, 7), table[3:])], gamma)
    return views.restore(both, table, views.subsets(both, 2))


def test_a_chart_says_what_it_shows_and_what_its_marks_are() -> None:
    [picture] = restored("1/2").pictures()
    assert picture.title == "1 of 7 people are exposed before, 0 after"
    drawn: dict[str, Any] = restored("1/2").plot().to_dict()
    assert drawn["title"]["subtitle"] == [Zone.OWNER.words]
    marks = drawn["layer"][1]["data"]["values"]
    assert {mark["what"] for mark in marks} == {"before", "after", "allowed"}


def test_a_chart_of_nobody_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="nothing to draw"):
        restored("9/10").plot()
    with pytest.raises(ParameterError, match="nothing to draw"):
        restored("9/10").save(tmp_path / "chart.svg")


# Options that would have no effect


@pytest.mark.parametrize(
    ("given", "belongs"),
    [
        (("check", "views.toml", "--sensitive", "x"), "--sensitive belongs to --with"),
        (
            ("check", "views.toml", "--person", "x"),
            "--person belongs to the directory of a release",
        ),
        (
            ("check", "views.toml", "--recipe", "x"),
            "--recipe belongs to the directory of a release",
        ),
        (
            ("restore", "views.toml", "--adversary", "aware", "--sensitive", "x"),
            "--sensitive belongs to --data or --with",
        ),
        (
            ("restore", "views.toml", "--data", "table.csv", "--least", "1/2"),
            "--least is about a plan",
        ),
        (
            ("restore", "views.toml", "--data", "table.csv", "--ceiling", "1/2"),
            "--ceiling is about a plan",
        ),
        (
            ("restore", "views.toml", "--data", "table.csv", "--person", "name"),
            "--person belongs to the directory",
        ),
    ],
)
def test_an_option_without_effect_is_refused(given: tuple[str, ...], belongs: str) -> None:
    assert belongs in refused("views", *given)


@pytest.mark.parametrize("command", [("check",), ("certify", "-o", "paper.json")])
def test_keys_of_a_file_are_not_shown_as_options(command: tuple[str, ...]) -> None:
    name, *rest = command
    Path("views.toml").write_text(VIEWS.replace('"1/2"', '"a half"'))
    told = refused("views", name, "views.toml", *rest)
    assert "views.toml: gamma = 'a half'" in told
    assert "--gamma" not in told
    Path("views.toml").write_text(
        VIEWS.replace('[sensitive]\ncolumn = "ill"', "") + '[[views]]\ntable = "table.csv"\n'
    )
    told = refused("views", name, "views.toml", *rest)
    assert "sensitive" in told
    assert "--sensitive" not in told
    assert "--gamma 'a half'" in refused(
        "views", name, "safe.toml", "--gamma", "a half", *rest
    ).replace("=", " ")


# What is said


def test_help_loses_nothing_in_brackets() -> None:
    assert "[sensitive]" in words(run("views", "restore", "--help").stdout)


def test_counting_can_be_given_more_steps_or_fewer() -> None:
    entangled = ("views", "check", "views.toml", "--json", "--how", "exact", "--steps")
    assert run(*entangled, "1").exit_code == 2
    assert json.loads(run(*entangled, "100000").stdout)["tables"] == "45"


def test_a_bound_is_shown_as_one() -> None:
    assert re.search(r"highest probability +4/5", run("views", "check", "views.toml").stdout)
    drawn = run("views", "check", "views.toml", "--how", "importance").stdout
    assert re.search(r"highest probability +at most 0\.8\d", drawn)


@pytest.mark.parametrize(
    "share",
    [Fraction(2, 3), Fraction(10**30 - 1, 10**30 + 1), Fraction(1, 3) + Fraction(1, 10**50)],
)
def test_a_long_fraction_is_rounded_up(share: Fraction) -> None:
    for longest in (9, 40):
        told = share_text(share, longest)
        assert len(told) <= longest
        assert 0 <= Fraction(told) - share < Fraction(1, 10**6)


def test_a_list_of_exposing_views_says_if_others_are_needed_too() -> None:
    pairs = "".join(
        f'[[views]]\npeople = ["{at}", "{at + 1}"]\nvalues = ["a", "b"]\n' for at in range(20)
    )
    Path("chain.toml").write_text(pairs + '[[views]]\npeople = ["0"]\nvalues = ["a"]\n')
    told = {
        one["person"]: one
        for one in json.loads(run("views", "check", "chain.toml", "--json").stdout)["exposed"]
    }
    assert (told["20"]["views"], told["20"]["alone"]) == (["view 20"], False)
    assert (told["1"]["views"], told["1"].get("alone")) == (["view 1", "view 21"], None)
    assert re.search(
        r"view 20 and\s+others", run("views", "check", "chain.toml", "--most", "50").stdout
    )


def test_without_a_plan_the_present_certainty_is_shown() -> None:
    done = run("views", "restore", "views.toml", "--adversary", "aware", "--ceiling", "9/10")
    assert done.exit_code == 1
    assert "there is no plan" in done.stdout
    assert re.search(r"now +4/5", done.stdout)
    output = json.loads(
        run(
            "views", "restore", "views.toml", "--adversary", "aware", "--ceiling", "9/10", "--json"
        ).stdout
    )
    assert output["plan"]["worst"] == "4/5"


def test_a_plan_below_the_least_share_is_not_followed() -> None:
    done = run("views", "restore", "views.toml", "--adversary", "aware", "--least", "1/2")
    assert (done.exit_code, done.stderr) == (1, "this plan is not followed, as --least is 1/2\n")
    assert (
        run("views", "restore", "views.toml", "--adversary", "aware", "--least", "8/45").exit_code
        == 0
    )


def test_a_plan_and_its_verdict_are_shown_apart() -> None:
    assert "\n\nverdict" in run(*RESTORE, "--adversary", "aware").stdout


def test_as_many_people_are_listed_as_asked_for() -> None:
    listed = run(*RESTORE, "--gamma", "1/3", "--most", "2").stdout
    assert "more; --json has all" in listed
    assert "more; --json has all" not in run(*RESTORE, "--gamma", "1/3").stdout


def test_gamma_of_the_command_line_is_what_is_restored() -> None:
    output = json.loads(run(*RESTORE, "--gamma", "3/4", "--json").stdout)
    assert [one["limit"] for one in output["people"]] == ["3/4"]


def test_one_candidate_is_not_shown_as_several() -> None:
    assert "of up to 1 candidate restores" in run(*RESTORE, "--views", "1").stderr


# With a ledger


@pytest.fixture
def ledger() -> None:
    """Ten people, a γ of one half, and two releases that keep it alone and not together."""
    ages = [21, 26, 26, 21, 23, 21, 28, 26, 20, 29]
    ill = ["flu", "cold", "virus", "flu", "virus", "virus", "SARS", "flu", "cold", "flu"]
    pl.DataFrame(
        {"name": list("ABCDEFGHIJ"), "sex": list("mfmfffmfff"), "age": ages, "ill": ill}
    ).write_csv("people.csv")
    Path("sex.csv").write_text("f;*\nm;*\n")
    Path("age.csv").write_text(
        "".join(f"{age};{'young' if age < 25 else 'old'};*\n" for age in range(20, 30))
    )
    Path("one.toml").write_text(RECIPE)
    Path("two.toml").write_text(RECIPE.replace("sex = 0, age = 2", "sex = 1, age = 1"))
    assert (
        run("ledger", "create", "own.ledger", "--gamma", "1/2", "--limit", "gout=1/4").exit_code
        == 0
    )
    assert run("release", "one.toml", "-o", "one").exit_code == 0
    assert run("release", "two.toml", "-o", "two").exit_code == 2
    assert run("release", "two.toml", "-o", "two", "--override", "the board").exit_code == 0


@pytest.mark.usefixtures("ledger")
def test_what_a_ledger_knows_is_restored_and_counts_afterwards() -> None:
    with_ = ("two", "--with", "own.ledger", "--person", "name")
    assert run("views", "check", *with_).exit_code == 1
    done = run("views", "restore", *with_, "--data", "people.csv", "--to", "more.toml")
    assert done.exit_code == 0, done.output
    assert "wrote more.toml" in done.stderr
    Path("two.toml").write_text(Path("two.toml").read_text() + '[views]\nothers = "more.toml"\n')
    assert run("views", "check", *with_).exit_code == 0
    assert run("views", "restore", *with_, "--adversary", "aware").exit_code == 0


@pytest.mark.usefixtures("ledger")
def test_entries_show_the_limits_of_single_values() -> None:
    run("ledger", "gamma", "own.ledger", "1/2", "--limit", "SARS=1/8")
    shown = words(run("ledger", "show", "own.ledger").stdout)
    assert "created with no budget, γ 1/2 (gout 1/4)" in shown
    assert "keeps γ 1/2 (gout 1/4), with 0 earlier releases" in shown
    assert "REFUSED: does not keep γ 1/2 (gout 1/4), with 1 earlier release" in shown
    assert "OVERRIDDEN: does not keep γ 1/2 (gout 1/4), with 1 earlier release" in shown
    assert "changed to γ 1/2 (SARS 1/8)" in shown


@pytest.mark.usefixtures("ledger")
def test_a_ledger_with_a_gamma_does_not_mention_a_budget() -> None:
    done = run("ledger", "show", "own.ledger")
    for alarm in ("δ", "spent", "unbounded", "nothing is promised"):
        assert alarm not in done.output
    run("ledger", "gamma", "own.ledger", "1")
    assert (
        "nothing is promised" in run("ledger", "show", "own.ledger").stderr
    )  # as γ bounds it no more


@pytest.mark.usefixtures("ledger")
def test_an_override_that_was_not_needed_is_not_entered() -> None:
    run("ledger", "create", "other.ledger", "--gamma", "1/2")
    done = run(
        "release", "one.toml", "-o", "again", "--ledger", "other.ledger", "--override", "because"
    )
    assert "there was nothing to override" in done.stderr
    assert "because" not in run("ledger", "show", "other.ledger").stdout


def test_limits_are_shown_as_they_are_typed() -> None:
    create = ("ledger", "create", "own.ledger", "--gamma", "1/2", "--limit")
    assert "write it as VALUE=SHARE" in refused(*create, "SARS")
    assert "names the value 'a' twice" in refused(*create, "a=1/2", "--limit", "a=1/3")
    assert "--limit SARS" in refused(*create, "SARS=5")
