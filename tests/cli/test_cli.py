"""The command line: what it prints, its exit codes, and that a mistake leaves nothing behind."""

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

import shoal
from shoal.cli import terminal
from shoal.cli.app import app
from tests.conftest import ROOT
from tests.recipe.test_recipe import PEOPLE, RECIPE

AGES = "".join(f"{age};{age // 10}0s;*\n" for age in range(100))
SECRET = "Zanzibar"  # a value of the table that must not be in any message


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, hierarchies and a recipe, which is also the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "age.csv").write_text(AGES)
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def refused(*arguments: str, code: int = 2) -> str:
    """What is said when a command is refused; nothing may be printed or written."""
    before = contents()
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr
    assert contents() == before
    return result.stderr


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def command(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    code = "from shoal.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# The program


def test_the_version_is_printed() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"shoal {shoal.__version__}\n"


def test_help_reads_well_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, _ in commands():
        result = run(*path, "--help")
        assert result.exit_code == 0
        assert not re.search(r"[a-z]…", result.stdout), path  # nothing cut off
        assert "<bool>" not in result.stdout, path
        assert max(map(len, result.stdout.splitlines())) <= 80, path


@pytest.mark.parametrize("command", ["attack", "verify", "compare", "explain"])
def test_paragraphs_of_help_flow(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line ends where the next word does not fit, or the paragraph does."""
    monkeypatch.setenv("COLUMNS", "80")
    said = [line.strip() for line in run(command, "--help").output.split("╭")[0].splitlines()]
    for line, after in pairwise(said):
        assert not line or not after or len(line) + 1 + len(after.split()[0]) > 78


def test_starting_up_loads_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['shoal', '--help']; from shoal.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & {
        "numpy",
        "polars",
        "pandas",
        "pyarrow",
        "narwhals",
        "pydantic",
        "scipy",
        "sklearn",
    }


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with its path."""

    def walk(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield path, command
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk((*path, name), inner)

    return walk((), typer.main.get_command(app))


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    absent = []
    for path, inner in commands():
        name = " ".join(("shoal", *path))
        absent += [name] if name not in page else []
        absent += [
            f"{name} {option}"
            for p in inner.params
            for option in p.opts
            if option[0] == "-" and f"`{option}" not in page
        ]
    assert not absent


def test_the_installed_program_works(folder: Path) -> None:
    program = Path(sys.executable).with_name("shoal")
    if not program.exists():
        pytest.skip("shoal is not installed as a program")
    done = subprocess.run(
        [program, "assess", "people.csv", "-q", "age,sex", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["records"] == 6


# Assess


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


def test_columns_may_be_repeated_or_quoted(folder: Path) -> None:
    (folder / "odd.csv").write_text('"a, b";c\n1;2\n1;2\n')
    found = json.loads(run("assess", "odd.csv", "-q", '"a, b"', "-q", "c", "--json").stdout)
    assert found["columns"] == ["a, b", "c"]
    assert found["k"] == 2


def test_infinity_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_json({"figure": math.inf, "some": [math.nan, 1.5]})
    assert json.loads(capsys.readouterr().out) == {"figure": None, "some": [None, 1.5]}


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


def test_a_column_that_is_almost_there_is_suggested(folder: Path) -> None:
    assert refused("assess", "people.csv", "-q", "sexx").endswith("; did you mean 'sex'?\n")
    assert refused("assess", "people.csv", "-q", "sex", "--type", "agee=integer").endswith(
        "; did you mean 'age'?\n"
    )
    assert "did you mean" not in refused("assess", "people.csv", "-q", "nothing like it")


def test_what_may_be_a_value_is_never_suggested(folder: Path) -> None:
    (folder / "headless.csv").write_text(f"31,{SECRET}\n32,Paris\n")
    refused("assess", "headless.csv", "-q", SECRET.lower())
    assert "did you mean" not in refused("assess", "headless.csv", "-q", "Zanzi")


@pytest.mark.parametrize(
    "content",
    [
        f"{SECRET};f;flu\nParis;m;flu\n",  # a cell occurs again below
        f"{SECRET};w12\nParis;w7\nRome;w190\n",  # a cell is spelled as those below
        f"{SECRET};a@b.org\nParis;c@d.com\n",
        f"{SECRET};2024-12-31\nParis;2024-12-30\n",
        f"{SECRET};{SECRET};7\nParis;Rome;8\n",  # two columns of one name
        f"{SECRET};{SECRET};{SECRET}\nParis;{SECRET};Rome\n",
    ],
)
def test_a_first_line_that_is_a_record_is_never_shown(folder: Path, content: str) -> None:
    (folder / "headless.csv").write_text(content)
    assert "with names" in refused("assess", "headless.csv", "-q", "age")
    assert "record" in refused("recipe", "new", "headless.csv")
    assert "record" in refused("recipe", "new", "headless.csv", "--out", "draft.toml")


def test_names_that_look_like_values_may_be_names(folder: Path) -> None:
    (folder / "years.csv").write_text("town,2023,2024\nParis,5,7\nRome,8,9\n")
    assert "give --header if" in refused("recipe", "new", "years.csv")
    assert "2023 = " in run("recipe", "new", "years.csv", "--header").stdout


# Recipes and releases


def test_a_release_writes_the_table_and_its_certificate(folder: Path) -> None:
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "certificate.json",
        "release.csv",
    ]
    assert "5-anonymity" not in result.stdout
    assert "2-anonymity" in result.stdout
    assert "lattice: 8 nodes" in result.stderr
    again = run("assess", "out/release.csv", "-q", "age,sex", "--min-k", "2")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_release_has_the_format_of_the_recipe(folder: Path, format: str) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace('format = "csv"', f'format = "{format}"'))
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    assert shoal.read(folder / "out" / f"release.{format}").rows > 0


@pytest.mark.parametrize(
    "method", ['name = "kdgs"\nk = 2', 'name = "noisy-counts"\nepsilon = 3\ndelta = 0.4\nk = 2']
)
def test_a_column_without_a_hierarchy_leaves_no_loss_to_tell(folder: Path, method: str) -> None:
    start, rest = RECIPE.split("[hierarchies.sex]")
    (folder / "recipe.toml").write_text(
        f"{start}[method]\n{method}\nlevels = {{ age = 1 }}\n[output]{rest.split('[output]')[1]}"
    )
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "records kept" in result.stderr
    assert "loss" not in result.stderr


def test_an_earlier_release_is_written_over_only_by_force(folder: Path) -> None:
    release = ["release", "recipe.toml", "--out", "out"]
    assert run(*release).exit_code == 0
    said = refused(*release)
    assert "out/certificate.json and out/release.csv are there already" in said
    assert "--force" in said
    before = json.loads((folder / "out" / "certificate.json").read_text())["number"]
    assert run(*release, "--force").exit_code == 0
    assert json.loads((folder / "out" / "certificate.json").read_text())["number"] != before
    (folder / "out" / "certificate.json").unlink()
    for more in ([], ["--force"]):  # it may be anybody's table
        said = refused(*release, *more)
        assert "out holds 'release.csv', which belongs to no release there" in said


def test_a_release_of_another_format_is_replaced_as_a_whole(folder: Path) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    (folder / "recipe.toml").write_text(RECIPE.replace('format = "csv"', 'format = "parquet"'))
    refused("release", "recipe.toml", "--out", "out")
    (folder / "out" / "notes.txt").write_text("mine")
    said = refused("release", "recipe.toml", "--out", "out", "--force")
    assert "out holds 'notes.txt', which belongs to no release there" in said
    (folder / "out" / "notes.txt").unlink()
    assert run("release", "recipe.toml", "--out", "out", "--force").exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "certificate.json",
        "release.parquet",
    ]


def test_a_release_that_fails_leaves_the_earlier_one(folder: Path) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    (folder / "recipe.toml").write_text(
        RECIPE.replace("k = 2", "k = 7").replace("suppression = 0.5", "suppression = 0")
    )
    assert "no node satisfies 7-anonymity" in refused(
        "release", "recipe.toml", "--out", "out", "--force"
    )


def test_a_draft_is_written_once_and_refused_until_it_is_filled(folder: Path) -> None:
    result = run("recipe", "new", "people.csv", "--out", "draft.toml")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "roles.age" in refused("recipe", "check", "draft.toml")
    assert "roles.age" in refused("release", "draft.toml", "--out", "out")
    assert "exists" in refused("recipe", "new", "people.csv", "--out", "draft.toml")
    assert run("recipe", "new", "people.csv").stdout == (folder / "draft.toml").read_text()


def test_checking_a_recipe_states_the_promise_and_writes_nothing(folder: Path) -> None:
    before = contents()
    result = run("recipe", "check", "recipe.toml")
    assert result.exit_code == 0, result.output
    assert contents() == before
    text = " ".join(result.stdout.split())
    assert "2-anonymity" in text
    assert "an attacker who knows the algorithm may infer more" in text
    assert "8 nodes" in text


def test_a_table_in_place_of_a_recipe_is_recognised(folder: Path) -> None:
    assert refused("release", "people.csv", "--out", "out").endswith(
        "draft a recipe with: shoal recipe new people.csv\n"
    )
    assert "shoal recipe new people.csv" in refused("recipe", "check", "people.csv")


def test_a_column_without_a_role_is_listed(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace('visits = "insensitive"\n', ""))
    assert "'visits'" in refused("release", "recipe.toml", "--out", "out")
    assert "'visits'" in refused("recipe", "check", "recipe.toml")


# Preview and compare


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


DIVERSE = '[[method.models]]\nmodel = "distinct-diversity"\ncolumn = "diagnosis"\nl = 2\n\n[output]'


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


def test_a_preview_for_safepub_says_that_its_groups_are_others(tmp_path: Path) -> None:
    recipe = shoal.demo.write(tmp_path, 100)
    shown = " ".join(run("preview", str(recipe), "--levels", "age=1").stdout.split())
    assert "so the groups of its release differ from these" in shown
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


@pytest.mark.parametrize(
    "option", [("-q", "age"), ("--hierarchy", "age=age.csv"), ("--separator", ","), ("--root", "*")]
)
def test_what_a_recipe_says_itself_is_no_option_beside_it(
    folder: Path, option: tuple[str, str]
) -> None:
    assert "a recipe says it itself" in refused("preview", "recipe.toml", *option)


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


@pytest.mark.parametrize("option", ["--root", "--add-root"])
def test_a_hierarchy_with_two_roots_gets_one(folder: Path, option: str) -> None:
    (folder / "sex.csv").write_text("f;woman\nm;man\n")
    asked = ["-q", "age,sex", "--hierarchy", "age=age.csv,sex=sex.csv", "--json"]
    assert f"{option} '*'" in refused("preview", "people.csv", *asked)
    found = json.loads(run("preview", "people.csv", *asked, option, "*", "-l", "sex=1").stdout)
    assert found["levels"]["sex"] == 1
    assert f"{option} '*'" in refused("compare", "people.csv", "people.csv", *asked)
    found = json.loads(run("compare", "people.csv", "people.csv", *asked, option, "*").stdout)
    assert found["b"]["loss_of_input"] == 0
    assert "--hierarchy" in refused("preview", "people.csv", "-q", "age", option, "*")


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


# Bad input: exit code 2, one clear message, nothing written


def test_an_unreadable_file_is_refused(folder: Path) -> None:
    assert "nowhere.csv" in refused("assess", "nowhere.csv", "-q", "age")
    (folder / "noise.csv").write_bytes(bytes(range(256)) * 4)
    refused("assess", "noise.csv", "-q", "age")
    (folder / "noise.parquet").write_bytes(b"PAR1 not really")
    refused("assess", "noise.parquet", "-q", "age")
    refused("assess", ".", "-q", "age")


def test_a_wrong_separator_is_refused(folder: Path) -> None:
    said = refused("assess", "people.csv", "-q", "age", "--separator", ",")
    assert "give --separator ';', or leave it out" in said
    refused("assess", "people.csv", "-q", "age", "--separator", ";;")


def test_a_file_that_quotes_nothing_is_read(folder: Path) -> None:
    (folder / "inches.csv").write_text('age;size\n31;5"\n34;6\n')
    assert "--quote ''" in refused("assess", "inches.csv", "-q", "age")
    assert (
        json.loads(run("assess", "inches.csv", "-q", "size", "--quote", "", "--json").stdout)[
            "groups"
        ]
        == 2
    )
    assert 'quote = ""' in run("recipe", "new", "inches.csv", "--quote", "").stdout


def test_duplicate_columns_are_refused(folder: Path) -> None:
    (folder / "twice.csv").write_text("age;sex;age\n1;f;2\n")
    assert "age" in refused("assess", "twice.csv", "-q", "sex")


def test_a_recipe_with_unknown_keys_is_refused(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace("k = 2", "kay = 2") + "\n[extra]\n")
    said = refused("release", "recipe.toml", "--out", "out")
    assert "method.models[0].kay: unknown key" in said
    assert "extra: unknown key" in said


def test_a_lattice_too_large_to_enumerate_is_refused_with_its_size(folder: Path) -> None:
    names = [f"c{i}" for i in range(16)]
    levels = ";".join(["{0}", *(f"{{0}}_{level}" for level in range(9)), "*"])
    (folder / "wide.csv").write_text(
        "\n".join([",".join(names), ",".join("a" * 16), ",".join("b" * 16)]) + "\n"
    )
    (folder / "tall.csv").write_text("".join(levels.format(value) + "\n" for value in "ab"))
    (folder / "recipe.toml").write_text(
        '[source]\npath = "wide.csv"\n[roles]\n'
        + "".join(f'{name} = "quasi"\n' for name in names)
        + "".join(f'[hierarchies.{name}]\nfile = "tall.csv"\n' for name in names)
        + '[method]\nname = "optimal"\n[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    said = refused("release", "recipe.toml", "--out", "out")
    assert f"{11**16:,}" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = 2", "k = 0"),
        ("k = 2", "k = 7"),
        ("suppression = 0.5", "suppression = nan"),
        ("suppression = 0.5", "suppression = inf"),
        ("high = 99", "high = 49"),
        ('values = ["f", "m"]', 'values = ["f"]'),
        ('path = "people.csv"', 'path = "nowhere.csv"'),
        ('build = "suppress"\nvalues = ["f", "m"]', 'file = "roots.csv"'),
        ('encoding = "utf-8"', 'encoding = "utf-99"'),
        ('diagnosis = "sensitive"', 'diagnosis = "sensitive"\nunheard-of = "quasi"'),
    ],
)
def test_a_recipe_that_cannot_be_done_leaves_nothing_behind(
    folder: Path, old: str, new: str
) -> None:
    (folder / "roots.csv").write_text("f;x\nm;y\n")
    assert old in RECIPE
    suppressed = (
        RECIPE.replace("suppression = 0.5", "suppression = 0") if new == "k = 7" else RECIPE
    )
    (folder / "recipe.toml").write_text(suppressed.replace(old, new))
    assert "error: " in refused("release", "recipe.toml", "--out", "out")


@pytest.mark.parametrize(
    "arguments",
    [
        ["assess", "people.csv", "-q", "agee"],
        ["assess", "people.csv", "-q", "age", "-s", "age"],
        ["assess", "people.csv", "-q", ""],
        ["assess", "people.csv"],
        ["assess", "people.csv", "-q", "age", "--threshold", "nan"],
        ["assess", "people.csv", "-q", "age", "--threshold", "2"],
        ["assess", "people.csv", "-q", "age", "--max-risk", "half"],
        ["assess", "people.csv", "-q", "age", "--max-uniques", "-1"],
        ["assess", "people.csv", "-q", "age", "--min-k", "five"],
        ["assess", "people.csv", "-q", "age", "--min-l", "2"],
        ["assess", "people.csv", "-q", "age", "--type", "age"],
        ["assess", "people.csv", "-q", "age", "--type", "age=number"],
        ["assess", "people.csv", "-q", "age", "--missing", "ignore"],
        ["assess", "people.csv", "-q", "age", "--encoding", "utf-99"],
        ["assess", "people.csv", "-q", "age", "--population", "sex.csv"],
        ["assess", "people.csv", "-q", "age", "--unheard-of"],
        ["release", "recipe.toml"],
        ["release", "nowhere.toml", "--out", "out"],
        ["release", "recipe.toml", "--out", "people.csv"],
        ["release", "recipe.toml", "--out", "people.csv/inside"],
        ["preview", "people.csv"],
        ["preview", "people.csv", "-q", "age"],
        ["compare", "people.csv"],
        ["recipe", "new", "people.csv", "--out", "nowhere/recipe.toml"],
        ["unheard-of"],
    ],
    ids=" ".join,
)
def test_a_mistake_is_exit_code_2(folder: Path, arguments: list[str]) -> None:
    assert "rror" in refused(*arguments)


def test_no_message_carries_a_value_of_the_table(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE.replace("31", SECRET).replace(";m;", f";{SECRET};"))
    refused("release", "recipe.toml", "--out", "out")
    refused("recipe", "check", "recipe.toml")
    refused("assess", "people.csv", "-q", "age", "--type", "age=integer")
    refused("preview", "people.csv", "-q", "sex", "--hierarchy", "sex=sex.csv")


# When something else goes wrong


def test_a_bug_shows_its_place_and_no_value(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot cast {SECRET!r}")

    monkeypatch.setattr("shoal.measure.risk.assess", broken)
    said = refused("assess", "people.csv", "-q", "age", code=70)
    assert "RuntimeError in shoal.cli.assess, line" in said


def test_running_out_of_memory_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("shoal.measure.risk.assess", greedy)
    assert "out of memory" in refused("assess", "people.csv", "-q", "age")


WRITING = """if True:
    import signal, sys, time, shoal.data.files
    handlers = {"default": signal.SIG_DFL, "ctrl-c": signal.default_int_handler, "nohup": signal.SIG_IGN}
    signal.signal(int(sys.argv.pop(1)), handlers[sys.argv.pop(1)])  # whatever started the tests
    serialise = shoal.data.files.serialise
    def slowly(frame, file, format, **options):
        file.write(b"half")
        print("writing", flush=True)
        sys.stdin.readline()
        file.seek(0)
        file.truncate()
        serialise(frame, file, format, **options)
    shoal.data.files.serialise = slowly
    from shoal.cli import main
    main()
"""


def writing(folder: Path, number: int, handler: str) -> "subprocess.Popen[str]":
    """A release that has begun to write, and goes on once it is told to."""
    mondrian = RECIPE.replace('name = "optimal"\nsuppression = 0.5', 'name = "mondrian"')
    (folder / "recipe.toml").write_text(mondrian)
    arguments = [str(int(number)), handler, "release", "recipe.toml", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize(
    ("number", "handler"),
    [(signal.SIGINT, "ctrl-c"), (signal.SIGTERM, "default"), (signal.SIGHUP, "default")],
)
def test_being_stopped_leaves_nothing_half_written(folder: Path, number: int, handler: str) -> None:
    before = sorted(contents())
    process = writing(folder, number, handler)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "stopped" in said
    assert sorted(contents()) == before
    assert not (folder / "out").exists()


def test_what_nohup_started_goes_on_when_the_terminal_is_gone(folder: Path) -> None:
    process = writing(folder, signal.SIGHUP, "nohup")
    process.send_signal(signal.SIGHUP)
    _, said = process.communicate("go on\n")
    assert process.returncode == 0, said
    assert (folder / "out" / "certificate.json").is_file()


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    process = command("assess", "people.csv", "-q", "age", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141


def test_a_progress_bar_appears_on_a_terminal_only() -> None:
    code = """if True:
        import time
        from shoal.cli import terminal
        terminal.PATIENCE = 0
        with terminal.working("reading") as report:
            report(1, 2, "half way")
            time.sleep(0.3)
    """
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert quiet.stdout == quiet.stderr == ""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    printed, _ = process.communicate()
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert printed == b""
    assert "half way" in shown


def test_nothing_appears_before_a_second_is_over() -> None:
    code = "from shoal.cli import terminal\nwith terminal.working('reading'): pass\nprint('done')"
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs)
    printed, _ = process.communicate()
    os.write(theirs, b"|")
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert printed == b"done\n"
    assert "reading" not in shown
