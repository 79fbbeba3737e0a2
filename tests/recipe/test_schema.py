"""What a recipe may choose, and what its values become."""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

import shoal
from shoal.errors import RecipeError
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.methods.sampling import RandomSample
from shoal.privacy.models import DistinctDiversity, KAnonymity, TCloseness
from shoal.recipe import BUILDERS, METHODS, MODELS, Recipe, options_of
from shoal.recipe.schema import Choices
from tests.conftest import ROOT
from tests.recipe.people import Write


def test_the_other_methods_are_there(write: Write) -> None:
    mondrian = Recipe.load(
        write(('name = "optimal"\nsuppression = 0.5', 'name = "mondrian"\nrelaxed = true'))
    )
    assert mondrian.method() == Mondrian((KAnonymity(2),), relaxed=True)
    assert mondrian.nodes(mondrian.table()) is None
    models = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    sampling = Recipe.load(
        write(
            ('name = "optimal"\nsuppression = 0.5', 'name = "sampling"\nprobability = "1/3"'),
            (models, ""),
        )
    )
    assert sampling.method() == RandomSample("1/3")


def test_models_may_be_given_by_their_short_names(write: Write) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    section_model = '{ model = "distinct-diversity", column = "diagnosis", l = 2 }'
    both = f'models = ["2-anonymity", {section_model}, "0.5-closeness of diagnosis"]'
    path = write((section, ""), ("suppression = 0.5", f"suppression = 0.5\n{both}"))
    wanted = (KAnonymity(2), DistinctDiversity("diagnosis", 2), TCloseness("diagnosis", "1/2"))
    assert Recipe.load(path).method() == Optimal(wanted, suppression="0.5")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "5 anonymity",
            "method.models[0]: model '5 anonymity' is not understood; write it as '5-anonymity'",
        ),
        ("0-anonymity", "method.models[0]: k=0 is out of range"),
        (
            "2-diversity of diagnosys",
            "method.models[0]: 'diagnosys' is not a sensitive column; did you mean 'diagnosis'?",
        ),
    ],
)
def test_a_short_name_that_is_wrong_is_named_by_its_key(write: Write, name: str, said: str) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    path = write((section, ""), ("suppression = 0.5", f'models = ["{name}"]'))
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(path)


def test_numbers_are_exact(write: Write) -> None:
    path = write(
        ('model = "k-anonymity"\nk = 2', 'model = "t-closeness"\ncolumn = "diagnosis"\nt = 0.1')
    )
    (model,) = Recipe.load(path).method().models  # type: ignore[attr-defined]
    assert model == TCloseness("diagnosis", "1/10")


@pytest.mark.parametrize(
    "choices", [METHODS, MODELS, BUILDERS], ids=["methods", "models", "builders"]
)
def test_every_choice_and_each_of_its_options_is_documented(choices: Choices) -> None:
    page = (ROOT / "docs" / "reference" / "recipes.md").read_text(encoding="utf-8")
    for name in choices.names:
        assert f'{choices.key} = "{name}"' in page or f'"{name}"' in page, name
        for option in options_of(choices, name).model_fields:
            assert f"`{option}`" in page, f"{name}: {option}"


def test_epsilon_may_be_a_logarithm_and_delta_is_exact(safe: Callable[..., Path]) -> None:
    method = Recipe.load(safe()).method()
    assert method == shoal.SafePub(epsilon="ln(2)", delta="1/1000000")


def test_every_option_of_safepub_reaches_it(safe: Callable[..., Path]) -> None:
    options = (
        'definition = "standard"',
        "split = 0.8",
        'score = "classification"',
        'importance = { age = 2, sex = "1/3" }',
        "floor = { age = 1 }",
        "ceiling = { age = 2 }",
        'classes = ["diagnosis"]',
        'search = "walk"',
        "steps = 7",
        'beta = "auto"',
        "records = 2000",
        'unit = "name"',
        "rows = 2",
    )
    wanted = shoal.SafePub(
        "ln(2)",
        "1e-6",
        "standard",
        split="4/5",
        score="classification",
        importance={"age": 2, "sex": "1/3"},
        floor={"age": 1},
        ceiling={"age": 2},
        classes=("diagnosis",),
        search="walk",
        steps=7,
        beta="auto",
        records=2000,
        unit="name",
        rows=2,
    )
    recipe = Recipe.load(safe(*options))
    assert recipe.method() == wanted
    given = {option.split(" = ")[0] for option in options} | {"epsilon", "delta", "levels"}
    assert given == {field.name for field in fields(shoal.SafePub)}
    fixed = Recipe.load(safe("levels = { age = 1, sex = 0 }"))
    assert fixed.method() == shoal.SafePub("ln(2)", "1e-6", levels={"age": 1, "sex": 0})
    assert Recipe.load(safe("beta = 0.2")).method() == shoal.SafePub("ln(2)", "1e-6", beta="1/5")
    for one in (recipe, fixed):
        assert one.run().certificate.parameters["delta"] == "1/1000000"
