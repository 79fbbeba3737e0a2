"""Every option of every method and model has a kind and an explanation, from the library itself."""

import inspect

import pytest

from shoal.recipe import METHODS, MODELS
from shoal.recipe.options import explained, options
from shoal.recipe.schema import Choices, options_of

EVERY = [(choices, name) for choices in (METHODS, MODELS) for name in choices.names]


@pytest.mark.parametrize(
    ("choices", "name"), EVERY, ids=lambda one: one if type(one) is str else ""
)
def test_options_are_those_of_recipes_each_with_a_meaning(choices: Choices, name: str) -> None:
    listed = options(choices, name)
    assert [choices.key, *(one.name for one in listed)] == list(
        options_of(choices, name).model_fields
    )
    assert all(one.meaning and not one.meaning.endswith(".") for one in listed)
    known = inspect.signature(choices.thing(name)).parameters
    # A line of a docstring about a parameter that there is not would never be shown.
    assert not explained(choices, name).keys() - known.keys()


def test_choices_and_defaults_are_those_of_the_thing() -> None:
    by_name = {one.name: one for one in options(METHODS, "safepub")}
    assert by_name["search"].choices == ("select", "walk", "tree")
    assert by_name["split"].default == "0.9"
    assert by_name["beta"].choices == ("auto",)
    assert by_name["epsilon"].required
    assert [role.value for role in by_name["unit"].roles] == ["identifying"]
    assert [one.name for one in options(MODELS, "t-closeness")] == ["column", "t", "distance"]
