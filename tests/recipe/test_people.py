"""Who is a person, as recipes say it."""

from pathlib import Path

import pytest

from shoal.recipe.editing import Draft, editing
from shoal.recipe.people import PeopleSaid, people_said, say_people, unit_option
from shoal.recipe.schema import METHODS

RECIPE = """
# kept
[source]
path = "people.csv"

[roles]
name = "identifying"

[method]
name = "safepub"  # kept too
rows = 3
unit = "name"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return path


def test_a_column_that_tells_people_apart_is_an_option_of_the_method(recipe: Path) -> None:
    assert people_said(Draft.read(recipe)) == PeopleSaid("name")
    with editing(recipe) as draft:
        say_people(draft, PeopleSaid("number"))
    assert Draft.read(recipe).get("method", "unit") == "number"
    assert Draft.read(recipe).get("method", "rows") == 3


def test_rows_that_are_people_have_no_column_and_no_bound(recipe: Path) -> None:
    with editing(recipe) as draft:
        say_people(draft, PeopleSaid(rows=True))
    said = Draft.read(recipe)
    assert people_said(said) == PeopleSaid(rows=True)
    assert said.section("method") == {"name": "safepub"}
    assert said.get("rows_are_people") is True
    assert "# kept" in said.text
    assert "# kept too" in said.text


def test_what_was_said_is_taken_back(recipe: Path) -> None:
    with editing(recipe) as draft:
        say_people(draft, PeopleSaid(rows=True))
        say_people(draft, PeopleSaid("name"))
    assert people_said(Draft.read(recipe)) == PeopleSaid("name")
    with editing(recipe) as draft:
        say_people(draft, PeopleSaid())
    assert people_said(Draft.read(recipe)) == PeopleSaid()
    assert Draft.read(recipe).get("rows_are_people") is None


def test_ratings_have_their_own_option(recipe: Path) -> None:
    with editing(recipe) as draft:
        draft.set("method", to={"name": "columns", "person": "user", "item": "film"})
        say_people(draft, PeopleSaid("name"))
    assert Draft.read(recipe).section("method")["person"] == "name"


def test_a_recipe_without_a_method_keeps_the_column_too(recipe: Path) -> None:
    with editing(recipe) as draft:
        draft.set("method", to=None)
        say_people(draft, PeopleSaid("name"))
    assert people_said(Draft.read(recipe)) == PeopleSaid("name")


@pytest.mark.parametrize("name", METHODS.names)
def test_every_method_takes_a_column_that_tells_people_apart(recipe: Path, name: str) -> None:
    draft = Draft.read(recipe)
    draft.set("method", "name", to=name)
    assert unit_option(draft) == "unit"
