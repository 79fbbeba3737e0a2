"""Attack: what there is to attack, jobs that do it, and what is shown of it."""

from fractions import Fraction

import pytest

from shoal.methods.noisy_counts import NoisyCounts
from shoal.recipe import Recipe
from shoal.recipe.editing import editing
from shoal.workbench.projects import Project
from shoal.workbench.screens import attack
from shoal.workbench.screens.attack import AttackTarget
from tests.cli.catalogued import SECTIONS, write_recipe
from tests.workbench.benches import Bench
from tests.workbench.screens.test_projects import text_of

KEY = "hospital~hospital"
ATTACK = f"/p/{KEY}/attack"


def released(project: Project, place: str, **method: object) -> None:
    """A release of the project by a method, which its recipe names from then on."""
    with editing(project.recipe) as draft:
        draft.set("method", to=dict(method))
    recipe = Recipe.load(project.recipe)
    folder = project.place_for_release(place)
    folder.parent.mkdir(exist_ok=True)
    recipe.release(recipe.table(), folder)


def test_without_a_release_the_screen_says_what_to_do(demo_bench: Bench) -> None:
    assert "There is no release to attack yet" in demo_bench.get(ATTACK)


def test_differential_privacy_leaves_nothing_to_find(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    recipe = Recipe.load(project.recipe)
    made = NoisyCounts(1, Fraction(1, 1000), levels="tree").release(recipe.table())
    folder = project.place_for_release("first")
    folder.parent.mkdir()
    made.write(folder)
    shown = demo_bench.get(ATTACK)
    assert "There is nothing to find for such an attacker" in shown
    assert "Attack it" not in shown
    assert "<svg" in demo_bench.get(f"{ATTACK}/bound?release=first", part=True)
    assert "is proven" in demo_bench.post(ATTACK, status=422, release="first").text


def test_a_minimal_table_is_attacked_by_its_algorithm(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    released(project, "groups", name="mondrian", models=["2-anonymity"], splits="median")
    sensitive = Recipe.load(project.recipe).content.having("sensitive")[0]
    refused = demo_bench.post(ATTACK, status=422, release="groups").text
    assert "No sensitive column was chosen" in refused
    demo_bench.post(ATTACK, release="groups", column=sensitive, people="on")
    [job] = demo_bench.desk.jobs.of(project, "attack")
    assert job.wait(120) == "done", job.error
    shown = demo_bench.get(ATTACK)
    assert "whose value is certain" in shown
    assert "1,000" in shown


def test_what_is_not_there_is_not_attacked(demo_bench: Bench) -> None:
    assert "no such release" in demo_bench.post(ATTACK, status=422, release="../x").text


def test_a_release_is_attacked_by_the_recipe_that_it_was_made_by(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    released(project, "groups", name="mondrian", models=["2-anonymity"], splits="median")
    with editing(project.recipe) as draft:
        draft.set("method", to={"name": "optimal", "models": ["50-anonymity"]})
    demo_bench.post(ATTACK, release="groups", column="diagnosis")
    [job] = demo_bench.desk.jobs.of(project, "attack")
    assert job.state == "failed"
    assert "the recipe that the release was made by is not known" in str(job.error)
    # What was released here is known, whatever became of the recipe.
    with editing(project.recipe) as draft:
        draft.set("method", to={"name": "mondrian", "models": ["3-anonymity"], "splits": "median"})
    demo_bench.post(f"/p/{KEY}/release/start", name="here")
    with editing(project.recipe) as draft:
        draft.set("method", to={"name": "optimal", "models": ["50-anonymity"]})
    demo_bench.post(ATTACK, release="here", column="diagnosis")
    newest = demo_bench.desk.jobs.of(project, "attack")[0]
    assert newest.state == "done", newest.error


@pytest.mark.parametrize(
    "bound", [("1", "x"), ("x", "0"), ("1", "1e999999999"), ("1e999999999", "0")]
)
def test_a_bound_that_somebody_made_up_is_no_picture(
    demo_bench: Bench, monkeypatch: pytest.MonkeyPatch, bound: tuple[str, str]
) -> None:
    made_up = AttackTarget("a", "safepub", "", "", bound=bound)
    monkeypatch.setattr(attack, "targets", lambda project: [made_up])
    assert "<svg" not in demo_bench.get(f"{ATTACK}/bound?release=a", part=True)


def test_levels_with_suppression_are_attacked_too(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    method = {"name": "optimal", "models": ["5-anonymity"], "suppression": 0.1}
    released(project, "levels", **method)
    demo_bench.post(ATTACK, release="levels", column="diagnosis", people="on")
    [job] = demo_bench.desk.jobs.of(project, "attack")
    assert job.state == "done", job.error
    found = dict(job.result["lines"])
    assert found["for whom more is learnt than their group shows"] == "0 (0 %)"
    assert "about whom nothing can be said" in found


@pytest.mark.parametrize("name", SECTIONS)
def test_every_method_is_attacked_or_the_screen_says_why_not(empty_bench: Bench, name: str) -> None:
    folder = empty_bench.home / "clinic"
    folder.mkdir()
    recipe = Recipe.load(write_recipe(folder, name))
    recipe.release(recipe.table(), folder / "releases" / "first")
    shown = text_of(empty_bench.get("/p/clinic~recipe/attack"))
    if "There is nothing to find" in shown:
        assert "docs: proofs/" in shown or "released unchanged" in shown
        return
    empty_bench.post("/p/clinic~recipe/attack", release="first", column="ill")
    [job] = empty_bench.desk.jobs.of(empty_bench.project("clinic~recipe"), "attack")
    assert job.state == "done" or "is proven" in str(job.error), job.error
    assert "a bug" not in str(job.error)
