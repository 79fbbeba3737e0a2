"""A draft decides nothing silently, shows no value, and can be filled in."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.tables import table
from shoal.errors import RecipeError
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


def _filled(people: pl.DataFrame, folder: Path) -> str:
    """A draft whose blanks are filled in, and the hierarchy of age with them."""
    people.write_csv(folder / "people.csv")
    text = draft(table(people), folder / "people.csv", folder=folder)
    text = re.sub(r'^(age +)= "\?"', r'\1= "quasi"', text, flags=re.MULTILINE)
    text = re.sub(r'^(diagnosis +)= "\?"', r'\1= "sensitive"', text, flags=re.MULTILINE)
    text = text.replace('epsilon = "?"', "epsilon = 2").replace('delta = "?"', "delta = 0.5")
    text = re.sub(r'^([^#\n]*)= "\?"', r'\1= "identifying"', text, flags=re.MULTILINE)
    first, ages, rest = re.split(
        r"^(# \[hierarchies\.age\]\n(?:# .*\n)+)", text, flags=re.MULTILINE
    )
    ages = (
        re.sub(r"^# ", "", ages, flags=re.MULTILINE)
        .replace('low = "?"', "low = 0")
        .replace('high = "?"', "high = 99")
    )
    return first + ages + rest


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


@pytest.mark.parametrize("name", [name for name in METHODS.names if name != "auto"])
def test_every_other_method_of_a_draft_can_take_the_place_of_the_first(
    people: pl.DataFrame, tmp_path: Path, name: str
) -> None:
    head, _, rest = _filled(people, tmp_path).partition("[method]\n")
    (section,) = [
        part for part in rest.split("# [method]\n")[1:] if part.startswith(f'# name = "{name}"')
    ]
    lines = [line.removeprefix("# ") for line in section.splitlines() if line.startswith("# ")]
    lines = [line.replace('column = "?"', 'column = "diagnosis"') for line in lines]
    chosen = (
        "\n".join(["[method]", *lines]).replace('["?"]', '["2-anonymity"]').replace('"?"', "0.5")
    )
    (tmp_path / "recipe.toml").write_text(head + chosen)
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method().name == name
    assert recipe.run().certificate.method == name


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
