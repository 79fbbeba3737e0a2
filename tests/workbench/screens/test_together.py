"""Several releases of the same people: counts first, names on request, restoring, and others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.recipe import Recipe
from shoal.workbench.jobs import Job
from shoal.workbench.others import shown_in
from tests.workbench.benches import Bench, bench

KEY = "clinic~recipe"
PLACE = f"/p/{KEY}/together"

PEOPLE = """\
name,sex,age,illness
Ann,m,23,heart
Bob,m,24,SARS
Cid,m,25,virus
Dov,m,26,SARS
Eve,f,26,flu
Fay,f,27,virus
Gus,f,28,SARS
Hal,f,28,gout
"""

RECIPE = """\
[source]
path = "people.csv"
types = { age = "integer" }

[roles]
name = "identifying"
sex = "quasi"
age = "quasi"
illness = "sensitive"

[hierarchies]
sex.file = "sex.csv"
age.file = "age.csv"

[method]
name = "optimal"
models = ["3-diversity of illness"]
floor = { sex = 0, age = 2 }
ceiling = { sex = 0, age = 2 }
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Bench]:
    """A workbench with two releases that are safe alone, and betray somebody together."""
    folder = tmp_path / "clinic"
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    ages = [f"{age};{'young' if age < 26 else 'old'};*\n" for age in range(20, 30)]
    (folder / "age.csv").write_text("".join(ages))
    path = folder / "recipe.toml"
    for name, levels in (("by sex", "sex = 0, age = 2"), ("by age", "sex = 1, age = 1")):
        path.write_text(RECIPE.replace("sex = 0, age = 2", levels))
        recipe = Recipe.load(path)
        recipe.release(recipe.table(), folder / "releases" / name)
    with bench(tmp_path) as made:
        yield made


def check(made: Bench, **fields: Any) -> Job:
    given = {
        "release": ["by sex", "by age"],
        "column": "illness",
        "known": ["sex", "age"],
        "gamma": "1/2",
        "person": "name",
        **fields,
    }
    made.post(f"{PLACE}/check", **given)
    return finished(made, "together")


def finished(made: Bench, kind: str) -> Job:
    job = made.desk.jobs.of(made.project(KEY), kind)[0]
    assert job.wait(120) in ("done", "failed")
    return job


def test_counts_come_first_and_names_on_request(clinic: Bench) -> None:
    assert check(clinic).state == "done"
    page = clinic.get(PLACE)
    assert "Exposed: 1 of 8 people" in page
    assert "Dov" not in page
    assert "144" in page
    clinic.post(f"{PLACE}/names")
    finished(clinic, "together")
    page = clinic.get(PLACE)
    assert "Dov" in page
    assert "by sex/2, by age" in page
    clinic.post(f"{PLACE}/forget")
    assert "Dov" not in clinic.get(PLACE)
    for path in (clinic.project(KEY).folder / ".workbench").rglob("*"):
        assert path.is_dir() or b"Dov" not in path.read_bytes()


def test_one_release_alone_exposes_nobody(clinic: Bench) -> None:
    check(clinic, release=["by sex"])
    assert "Nobody is exposed" in clinic.get(PLACE)


def test_what_the_recipe_would_release_is_tried_out(clinic: Bench) -> None:
    check(clinic, release=["by sex"], new="on")
    assert "Exposed: 1 of 8 people" in clinic.get(PLACE)
    assert len(clinic.project(KEY).releases) == 2


def test_a_release_elsewhere_is_counted_by_its_path(clinic: Bench) -> None:
    folder = clinic.project(KEY).folder
    (folder / "releases" / "by age").rename(clinic.home / "elsewhere")
    check(clinic, release=["by sex"], paths=f"{clinic.home / 'elsewhere'}\n")
    assert "Exposed: 1 of 8 people" in clinic.get(PLACE)


def test_a_larger_gamma_allows_more(clinic: Bench) -> None:
    check(clinic, gamma="1")
    assert "Nobody is exposed" in clinic.get(PLACE)
    clinic.post(f"{PLACE}/check", gamma="2", known=["sex"], status=422)
    clinic.post(f"{PLACE}/check", gamma="1/2", status=422)


def test_releases_that_are_not_views_say_why(demo_bench: Bench) -> None:
    project = demo_bench.project("hospital~hospital")
    recipe = Recipe.load(project.recipe)
    recipe.release(recipe.table(), project.folder / "releases" / "first")
    page = demo_bench.get("/p/hospital~hospital/together")
    assert "disabled" in page
    assert "is not a view: it does not show the true values of everybody" in page


def test_releases_that_changed_since_are_not_counted(clinic: Bench) -> None:
    path = clinic.project(KEY).folder / "people.csv"
    path.write_text(PEOPLE.replace("Ann,m,23,heart", "Ann,m,23,gout"))
    assert check(clinic).state == "failed"
    page = clinic.get(PLACE)
    assert "is not true of the table as it is now" in page
    assert "gout" not in page


def test_nobody_is_named_by_restoring_unless_asked(clinic: Bench) -> None:
    check(clinic)
    clinic.post(f"{PLACE}/restore", adversary="unaware", additions="2", free="on")
    assert finished(clinic, "restore").state == "done"
    page = clinic.get(PLACE)
    assert "Nothing was found that restores it" in page
    assert "Dov" not in page
    clinic.post(f"{PLACE}/restore", adversary="plan", additions="2")
    assert finished(clinic, "restore").state == "done"
    page = clinic.get(PLACE)
    assert "There is no plan." in page
    assert "Dov" not in page
    clinic.post(f"{PLACE}/keep", status=422)


@pytest.fixture
def seven(clinic: Bench) -> Bench:
    """The example of the docs, which can be restored: two views that others have shown."""
    folder = clinic.project(KEY).folder
    names = ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia"]
    ages = [23, 24, 25, 26, 27, 28, 28]
    values = ["heart", "SARS", "virus", "SARS", "virus", "SARS", "flu"]
    rows = [
        f"{name},m,{age},{value}\n" for name, age, value in zip(names, ages, values, strict=True)
    ]
    (folder / "people.csv").write_text("name,sex,age,illness\n" + "".join(rows))
    parts = {"of": ["age", "", ""], "operator": ["<=", "=", "="], "than": ["26", "", ""]}
    counts = {"value": ["SARS", "heart", "virus", ""], "often": ["2", "1", "1", ""]}
    given: dict[str, Any] = {"name": "men", "column": "illness", **parts, **counts}
    assert clinic.post(f"{PLACE}/others/add", part=False, **given).status_code == 303
    more = {"where": "age >= 26", "value": ["SARS", "virus", "flu"], "often": ["2", "1", "1"]}
    given = {**given, "name": "26 to 28", **more}
    assert clinic.post(f"{PLACE}/others/add", part=False, **given).status_code == 303
    return clinic


def test_what_restores_can_be_kept_and_counts_from_then_on(seven: Bench) -> None:
    check(seven, release=[], others="on")
    assert "Exposed: 1 of 7 people" in seven.get(PLACE)
    seven.post(f"{PLACE}/restore", adversary="unaware", additions="2")
    finished(seven, "restore")
    page = seven.get(PLACE)
    assert "With these views, every limit holds" in page
    assert "men: age 23 to 24" in page
    seven.post(f"{PLACE}/keep")
    folder = seven.project(KEY).folder
    assert len(shown_in(folder / "others.toml")) == 4
    assert Recipe.load(folder / "recipe.toml").others == folder / "others.toml"
    check(seven, release=[], others="on")
    assert "Nobody is exposed" in seven.get(PLACE)


def test_a_plan_says_beforehand_how_often_it_works(seven: Bench) -> None:
    check(seven, release=[], others="on")
    seven.post(f"{PLACE}/restore", adversary="plan", additions="2")
    finished(seven, "restore")
    page = seven.get(PLACE)
    assert "Follow this plan" in page
    assert "17.8" in page or "18 %" in page
    seven.post(f"{PLACE}/restore", adversary="aware", additions="2")
    assert finished(seven, "restore").state == "done"
    assert "What would be shown in addition" in seven.get(PLACE)


def test_what_cannot_have_been_shown_is_refused_beside_the_form(clinic: Bench) -> None:
    given = {
        "name": "insurer",
        "column": "illness",
        "where": "age between 26 and 28",
        "value": ["SARS"],
        "often": ["2"],
    }
    page = clinic.post(f"{PLACE}/others/add", part=False, status=422, **given).text
    assert "shows 2 values" in page
    assert 'value="insurer"' in page
    folder = clinic.project(KEY).folder
    assert not (folder / "others.toml").exists()
    assert "[views]" not in (folder / "recipe.toml").read_text()


def test_what_others_have_shown_can_be_taken_out(seven: Bench) -> None:
    assert "26 to 28" in seven.get(PLACE)
    seven.post(f"{PLACE}/others/remove", number="2")
    assert "26 to 28" not in seven.get(PLACE)
    seven.post(f"{PLACE}/others/file", file="")
    assert "[views]" not in (seven.project(KEY).folder / "recipe.toml").read_text()
    seven.post(f"{PLACE}/others/file", file="recipe.toml", status=422)
