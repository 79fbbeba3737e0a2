"""What a recipe says was chosen after looking reaches the certificate, with a ledger or without."""

from pathlib import Path

import pytest

import shoal
from shoal import demo
from shoal.errors import RecipeError
from shoal.ledger import Ledger
from shoal.recipe import Recipe
from shoal.report import Published, public

LIST = """chosen_after_looking = [
    "roles",
    "hierarchies.patient",
    "method.truthful",
    { place = "method.epsilon", public = "Our <board> prescribes it." },
]
"""
LISTED = [
    {"place": "roles"},
    {"place": "method.name"},
    {"place": "method.epsilon", "public": "Our <board> prescribes it."},
]


def recipe(folder: Path, above: str = LIST, **changes: str) -> Path:
    path = demo.write(folder, 300)
    text = path.read_text("utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(above + text, "utf-8")
    return path


def test_a_certificate_has_what_the_recipe_lists(tmp_path: Path) -> None:
    loaded = Recipe.load(recipe(tmp_path))
    made = loaded.release(loaded.table(), tmp_path / "out")
    assert made.certificate.chosen_after_looking == LISTED
    assert shoal.verify(tmp_path / "out/certificate.json", tmp_path / "out/release.csv") == []


def test_so_has_one_that_a_ledger_has_entered(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "people.ledger", epsilon=2, delta="1e-5", witness=False)
    loaded = Recipe.load(recipe(tmp_path))
    made = loaded.release(loaded.table(), ledger=Ledger(tmp_path / "people.ledger"))
    assert made.certificate.chosen_after_looking == LISTED


def test_a_promise_about_the_table_alone_does_not_mention_them(tmp_path: Path) -> None:
    text = (recipe(tmp_path)).read_text("utf-8")
    start, end = text.index("[method]"), text.index("[output]")
    method = '[method]\nname = "sampling"\nprobability = 0.5\n'
    (tmp_path / "hospital.toml").write_text(text[:start] + method + text[end:], "utf-8")
    assert Recipe.load(tmp_path / "hospital.toml").run().certificate.chosen_after_looking == ()


def test_the_public_report_says_so(tmp_path: Path) -> None:
    page = public(Published.of(Recipe.load(recipe(tmp_path)).run()))
    assert "Chosen after looking at the data" in page
    assert "the roles of columns" in page
    assert "Our &lt;board&gt; prescribes it." in page
    bare = public(Published.of(Recipe.load(recipe(tmp_path, "")).run()))
    assert "Chosen after looking at the data" not in bare


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('["rolls"]', "'rolls' is not a place of a recipe that a release depends on"),
        ('["roles", "roles"]', "chosen_after_looking[1]: 'roles' is listed twice; list it once"),
        ('[{ place = "roles", pubic = "x" }]', "did you mean 'public'?"),
        ('[{ public = "x" }]', "place: missing"),
        ('"roles"', "chosen_after_looking should be a valid list"),
    ],
)
def test_what_is_not_a_choice_is_a_mistake(given: str, said: str, tmp_path: Path) -> None:
    path = recipe(tmp_path, f"chosen_after_looking = {given}\n")
    with pytest.raises(RecipeError) as error:
        Recipe.load(path)
    assert said in str(error.value)
