"""`shoal recipe`: drafts, and checks that write nothing."""

from pathlib import Path

import pytest

from tests.arx.streams import SECRET as HAPAX
from tests.arx.streams import people
from tests.cli.shell import SECRET, contents, refused, run
from tests.recipe.people import RECIPE


def test_a_draft_is_written_once_and_refused_until_it_is_filled(folder: Path) -> None:
    result = run("recipe", "new", "people.csv", "--out", "draft.toml")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "roles.age" in refused("recipe", "check", "draft.toml")
    assert "roles.age" in refused("release", "draft.toml", "--out", "out")
    assert "exists" in refused("recipe", "new", "people.csv", "--out", "draft.toml")
    assert run("recipe", "new", "people.csv").stdout == (folder / "draft.toml").read_text()


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


def test_a_draft_has_the_options_of_one_method(folder: Path) -> None:
    drafted = run("recipe", "new", "people.csv", "--method", "optimal").stdout
    assert drafted.count("[method]") == 1
    assert 'name = "optimal"' in drafted
    assert "there is no method 'best'" in refused("recipe", "new", "people.csv", "--method", "best")


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


def test_a_project_of_arx_becomes_a_recipe(folder: Path) -> None:
    made = people(weights={"age": 1.0, "town": 0.25}, modes={"age": "MICRO_AGGREGATION"})
    made.write(folder / "made.deid")
    result = run("recipe", "from", "made.deid", "--out", "taken")
    assert result.exit_code == 0, result.output
    assert "KAnonymity (k 3)" in result.stdout
    assert "not taken over" in result.stderr
    assert "microaggregation" in result.stderr
    assert HAPAX not in result.output
    assert run("recipe", "check", "taken/recipe.toml").exit_code == 0
    assert run("release", "taken/recipe.toml", "--out", "out").exit_code == 0
    assert "not empty" in refused("recipe", "from", "made.deid", "--out", "taken")
    quiet = run("recipe", "from", "made.deid", "--out", "again", "--quiet")
    assert "not taken over" in quiet.stderr
    assert "wrote" not in quiet.stderr
    assert quiet.stdout == ""


def test_what_is_not_a_project_is_refused(folder: Path) -> None:
    assert "not a whole zip archive" in refused("recipe", "from", "people.csv", "--out", "taken")
