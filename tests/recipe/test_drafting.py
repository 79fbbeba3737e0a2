"""A draft decides nothing silently, shows no value, and can be filled in."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.tables import table
from shoal.errors import ParameterError, RecipeError
from shoal.recipe import METHODS, Recipe, draft


@pytest.fixture
def people(tmp_path: Path) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "patient id": [f"secret{i}" for i in range(40)],
            "age": list(range(40)),
            'odd "column" =': ["secret"] * 40,
            "diagnosis": ["flu", "cold"] * 20,
            "note": [f"secret{i}" for i in range(40)],
            "ward": [1, 2] * 20,
            "insurance": ["secret", "public"] * 20,
            "account number": [f"secret{i % 30}" for i in range(40)],
            "hospital name": ["secret"] * 40,
            "admitted": ["2024-02-29", "2024-03-01"] * 20,
        }
    )


def _filled(people: pl.DataFrame, folder: Path, method: str = "auto") -> str:
    """A draft whose blanks are filled in, and the hierarchy of age with them."""
    people.write_csv(folder / "people.csv")
    text = draft(table(people), folder / "people.csv", folder=folder, method=method)
    text = re.sub(r'^(age +)= "\?"', r'\1= "quasi"', text, flags=re.MULTILINE)
    text = re.sub(r'^(diagnosis +)= "\?"', r'\1= "sensitive"', text, flags=re.MULTILINE)
    text = text.replace('epsilon = "?"', "epsilon = 2").replace('delta = "?"', "delta = 0.5")
    roles, heading, rest = text.partition("[hierarchies]\n")
    roles = re.sub(r'^([^#\n]*)= "\?"', r'\1= "identifying"', roles, flags=re.MULTILINE)
    text = roles + heading + rest
    return re.sub(r"^# (age = )", r"\1", text, flags=re.MULTILINE)


def test_a_draft_decides_nothing_silently(people: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(draft(table(people), tmp_path / "people.csv", folder=tmp_path))
    with pytest.raises(RecipeError) as caught:
        Recipe.load(path)
    for key in (
        'roles."patient id"',
        "roles.age",
        'roles."odd \\"column\\" ="',
        "roles.diagnosis",
        "roles.note",
        "roles.ward",
        "method.epsilon",
        "method.delta",
        "roles.insurance",
    ):
        assert key in str(caught.value)


def test_a_draft_guesses_only_in_comments_and_holds_no_value(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    text = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    assert "secret" not in text
    assert "flu" not in text
    guesses = dict(re.findall(r'^("[^"]*"|\S+)\s+= "\?"(?:  # (\w+)\?)?$', text, re.MULTILINE))
    assert guesses["age"] == "quasi"
    assert guesses["diagnosis"] == "sensitive"
    assert guesses["note"] == "identifying"
    assert (
        guesses["ward"] == guesses["insurance"] == guesses['"hospital name"'] == ""
    )  # so named, and only a few values
    assert guesses['"patient id"'] == guesses['"account number"'] == "identifying"
    assert guesses["admitted"] == "quasi"
    assert "2024" not in text
    assert 'path = "people.csv"' in text


def test_a_draft_fits_80_columns(people: pl.DataFrame, tmp_path: Path) -> None:
    assert (
        max(map(len, draft(table(people), tmp_path / "people.csv", folder=tmp_path).splitlines()))
        <= 80
    )


def test_a_draft_takes_for_text_what_would_lose_a_zero(tmp_path: Path) -> None:
    texts = {
        "float": ["25.0", "7.5"],
        "integer": ["25", "-7"],
        "text": ["25.00", "7.5"],
        "date": ["2024-01-01", "2024-02-01"],
    }
    drafted = draft(table(pl.DataFrame(texts)), tmp_path / "people.csv", folder=tmp_path)
    for name in texts:
        assert re.search(rf'^{name} *= "{name}"$', drafted, re.MULTILINE)


def test_a_draft_takes_years_for_numbers_and_moments_for_days(tmp_path: Path) -> None:
    moments = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=n) for n in range(100)]
    people = pl.DataFrame(
        {
            "birth_year": ["1970", "1981"] * 50,
            "ordered_at": moments,
            "seen": [str(moment) for moment in moments],
        }
    )
    lines = draft(table(people), tmp_path / "people.csv", folder=tmp_path).splitlines()
    for line in (
        'birth_year = "integer"',
        'ordered_at = "date"  # of a moment, the day counts',
        'seen       = "date"  # of a moment, the day counts',
        '# birth_year = { build = "ready", name = "years" }',
        '# ordered_at = { build = "ready", name = "dates" }',
        'ordered_at = "?"  # quasi?',
    ):
        assert line in lines


def test_a_draft_says_whose_rows_belong_together(people: pl.DataFrame, tmp_path: Path) -> None:
    drafted = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    assert '# unit = "NAME"' in drafted
    orders = pl.DataFrame({"customer_id": [1, 2, 3] * 9, "amount": range(27)})
    drafted = draft(table(orders), tmp_path / "orders.csv", folder=tmp_path)
    assert '# People seem to be in several rows:\n# unit = "customer_id"\n' in drafted


def test_a_draft_says_that_codes_may_have_labels(people: pl.DataFrame, tmp_path: Path) -> None:
    for name, said in (("people.sav", True), ("people.dta", True), ("people.csv", False)):
        drafted = draft(table(people), tmp_path / name, folder=tmp_path)
        assert ("--labels texts" in drafted) == said
    assert "--labels" not in draft(table(people), tmp_path / "people.sav", labels="codes")


def test_a_draft_says_how_numbers_and_dates_in_texts_would_be_read(tmp_path: Path) -> None:
    texts = {
        "paid in": ["1.234,50", "3", "-12,5"],
        "born on": ["18.10.1970", "1.2.1988", None],
        "seen": ["1/2/2020", "3/4/2020", "5/6/2020"],
        "town": ["Ulm", "Bonn", "Köln"],
    }
    people = pl.DataFrame(texts)
    people.write_csv(tmp_path / "people.csv")
    drafted = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    said = [line for line in drafted.splitlines() if line.startswith("# --")]
    assert said == [
        "# --decimal , --thousands .",
        "# --dates 'born on=%d.%m.%Y'",
        "# --dates seen=%d/%m/%Y  or %m/%d/%Y",
    ]
    assert not any(text in drafted for text in ("1.234", "18.10", "1/2/2020", "Ulm"))
    # And so they are read, with nothing more to say.
    given: dict[str, Any] = {"dates": {"born on": "%d.%m.%Y", "seen": "%d/%m/%Y"}}
    given |= {"decimal": ",", "thousands": "."}
    read = shoal.read(tmp_path / "people.csv", **given)
    again = draft(read, tmp_path / "people.csv", folder=tmp_path, **given)
    types = re.findall(r'= "(text|float|date)"', again)
    assert types == ["float", "date", "date", "text"]
    assert "# --" not in again


def test_a_draft_says_how_texts_for_missing_values_would_be_read(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": ["39", "?", "50"], "town": ["Ulm", "k. A.", "Bonn"]})
    people.write_csv(tmp_path / "people.csv")
    drafted = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    said = [line for line in drafted.splitlines() if line.startswith("# --")]
    assert said == ["# --missing-texts 'age=?'", "# --missing-texts 'town=k. A.'"]
    given: dict[str, Any] = {"missing_texts": {"age": ["?"], "town": ["k. A."]}}
    read = shoal.read(tmp_path / "people.csv", **given)
    again = draft(read, tmp_path / "people.csv", folder=tmp_path, **given)
    assert 'missing_texts = { age = ["?"], town = ["k. A."] }' in again
    assert re.search(r'^age *= "integer"$', again, re.MULTILINE)
    # The "?" in the source is a text of the table, and nothing to fill in.
    (tmp_path / "recipe.toml").write_text(again, encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        Recipe.load(tmp_path / "recipe.toml")
    assert "roles.age" in str(caught.value)
    assert "missing_texts" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in METHODS.names if name != "auto"])
def test_a_draft_has_the_method_that_is_asked_for(
    people: pl.DataFrame, tmp_path: Path, name: str
) -> None:
    filled = _filled(people, tmp_path, name).replace('column = "?"', 'column = "diagnosis"')
    filled = filled.replace('["?"]', '["2-anonymity"]').replace('"?"', "0.5")
    assert re.findall(r'^name = "(.*)"$', filled, re.MULTILINE) == [name]
    (tmp_path / "recipe.toml").write_text(filled)
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method().name == name
    assert recipe.run().certificate.method == name


def test_a_draft_for_a_method_that_there_is_not_is_refused(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match="there is no method 'best'"):
        draft(table(people), tmp_path / "people.csv", method="best")


def test_a_draft_fits_the_screen(tmp_path: Path) -> None:
    # The columns that people know from the Adult table.
    names = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
    people = pl.DataFrame({name: ["a", "b"] for name in (*names, "occupation", "salary-class")})
    drafted = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    assert 24 <= len(drafted.splitlines()) <= 60


def test_a_draft_suggests_ready_made_hierarchies_and_takes_codes_for_text(tmp_path: Path) -> None:
    texts = {
        "country": ["FRA", "DEU"],
        "zip": ["20500", "94103"],
        "isco": ["2512", "5223"],
        "number": ["1", "2"],
        "x": ["France", "Iran"],
        "born": ["2000-01-01", "2001-01-01"],
    }
    people = pl.DataFrame({name: values * 20 for name, values in texts.items()})
    drafted = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    types = dict(re.findall(r'^(\w+) *= "(text|integer|date)"', drafted, re.MULTILINE))
    assert types["zip"] == types["isco"] == "text"
    assert types["number"] == "integer"
    for line in (
        '# country = { build = "ready", name = "countries", form = "alpha-3" }',
        '# zip = { build = "ready", name = "postcodes-us" }  # by its name',
        '# isco = { build = "ready", name = "isco-08" }  # by its name',
        '# x = { build = "ready", name = "countries", form = "name" }  # by its values',
        '# born = { build = "ready", name = "dates" }',
    ):
        assert line in drafted.splitlines()


def test_a_filled_draft_is_a_recipe_with_differential_privacy(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "recipe.toml").write_text(_filled(people, tmp_path))
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == shoal.NoisyCounts(epsilon=2, delta="0.5", levels="tree")
    assert recipe.run().certificate.promise["epsilon"] == "2"


def test_what_a_draft_offers_besides_is_understood(people: pl.DataFrame, tmp_path: Path) -> None:
    text = _filled(people, tmp_path)
    for line in ("importance", "ceiling", "unit"):
        text = re.sub(rf"^# ({line} = .*)$", r"\1", text, flags=re.MULTILINE)
    text = text.replace('unit = "NAME"', 'unit = "patient id"').replace("NAME", "age")
    (tmp_path / "recipe.toml").write_text(text)
    options: Any = {"importance": {"age": 3}, "ceiling": {"age": 2}, "unit": "patient id"}
    wanted = shoal.NoisyCounts(2, "0.5", levels="tree", **options)
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == wanted
    assert recipe.run().certificate.promise["unit"] == "patient id"
