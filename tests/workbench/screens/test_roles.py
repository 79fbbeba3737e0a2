"""Roles: decided by a person, kept in the recipe, with the risk beside them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.recipe import Recipe
from shoal.recipe.editing import Draft, editing
from tests.workbench.benches import Bench, bench, hospital
from tests.workbench.conftest import SECONDS, settle, violations

ROLES = "/p/hospital~hospital/roles"
FRESH = "/p/visits~recipe/roles"

VISITS = """# made by hand
[source]
path = "visits.csv"

[roles]
patient_id = "?"  # kept

[method]
name = "auto"
epsilon = 1
delta = 1e-6
"""


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Bench]:
    """People with two visits each, of whom nobody has decided anything."""
    rows = range(400)
    frame = pl.DataFrame(
        {
            "patient_id": [f"P{i // 2}" for i in rows],
            "home": [f"H{i // 6}" for i in rows],
            "age": [20 + i // 2 % 50 for i in rows],
            "sex": ["fm"[i // 2 % 2] for i in rows],
            "diagnosis": [("flu", "cold", "zanzibar")[i % 3] for i in rows],
        }
    )
    (tmp_path / "visits").mkdir()
    frame.write_csv(tmp_path / "visits" / "visits.csv")
    (tmp_path / "visits" / "recipe.toml").write_text(VISITS)
    with bench(tmp_path) as made:
        yield made


def role_of(column: str, role: str) -> dict[str, Any]:
    """The field of a form that gives a column its role."""
    return {f"role:{column}": role}


def roles_of(made: Bench, key: str = "visits~recipe") -> dict[str, Any]:
    roles: dict[str, Any] = made.project(key).draft().section("roles")
    return roles


def test_every_column_can_be_decided(demo_bench: Bench) -> None:
    page = demo_bench.get(ROLES)
    assert "All 10 columns are decided." in page
    assert page.count('role="radiogroup"') == 10
    assert len(re.findall(r'<input type="radio"[^>]* checked', page)) == 10
    assert "quasi-identifying attribute" in page


def test_a_decision_is_in_the_recipe_at_once(demo_bench: Bench) -> None:
    answer = demo_bench.post(f"{ROLES}/set", **role_of("stay", "sensitive"))
    assert answer.headers["HX-Trigger"] == "recipe-changed"
    assert "All 10 columns" in answer.text
    project = demo_bench.project("hospital~hospital")
    assert Recipe.load(project.recipe).content.roles["stay"] == "sensitive"
    assert "# Public: from what anybody knows" in project.recipe.read_text()


def test_nothing_is_written_that_is_not_a_role(demo_bench: Bench) -> None:
    before = demo_bench.project("hospital~hospital").recipe.read_bytes()
    demo_bench.post(f"{ROLES}/set", status=422, **role_of("stay", "secret"))
    demo_bench.post(f"{ROLES}/set", status=422, **role_of("none such", "quasi"))
    assert demo_bench.project("hospital~hospital").recipe.read_bytes() == before


def test_without_script_only_what_was_changed_on_the_page_is_written(demo_bench: Bench) -> None:
    demo_bench.post(f"{ROLES}/set", **role_of("stay", "sensitive"))
    # A page that was loaded before: its "insensitive" for stay is what it showed then.
    fields: dict[str, Any] = {
        "was:stay": "insensitive",
        "role:stay": "insensitive",
        "was:ward": "quasi",
        "role:ward": "insensitive",
    }
    answer = demo_bench.post(f"{ROLES}/set", part=False, **fields)
    assert answer.status_code == 303
    roles = roles_of(demo_bench, "hospital~hospital")
    assert (roles["stay"], roles["ward"]) == ("sensitive", "insensitive")


def test_risk_follows_the_roles(demo_bench: Bench) -> None:
    demo_bench.post(f"{ROLES}/live", live="yes")
    before = demo_bench.get(f"{ROLES}/risk", part=True)
    assert "Highest risk" in before
    for column in ("age", "postcode", "admitted", "ward", "insurance"):
        demo_bench.post(f"{ROLES}/set", **role_of(column, "insensitive"))
    after = demo_bench.get(f"{ROLES}/risk", part=True)
    assert after != before
    demo_bench.post(f"{ROLES}/set", **role_of("sex", "insensitive"))
    assert "No column is quasi-identifying yet" in demo_bench.get(f"{ROLES}/risk", part=True)


def test_no_figures_are_shown_before_somebody_asks_unless_the_promise_allows_it(
    demo_bench: Bench,
) -> None:
    page = demo_bench.get(ROLES)
    assert "All 10 columns are decided." in page
    assert "Highest risk" not in page
    assert demo_bench.project("hospital~hospital").note("looked") is None
    with editing(demo_bench.project("hospital~hospital").recipe) as draft:
        draft.set("method", to={"name": "optimal", "models": ["5-anonymity"]})
    assert "Highest risk" in demo_bench.get(ROLES)


def test_suggestions_go_by_names_until_figures_are_asked_for(visits: Bench) -> None:
    page = visits.get(FRESH)
    assert "named like a diagnosis" in page or "named like a state of health" in page
    assert "each shared by" not in page
    assert "Highest risk" not in page
    visits.post(f"{FRESH}/set", **role_of("age", "quasi"))
    assert "Highest risk" not in visits.get(f"{FRESH}/risk", part=True)
    assert visits.project("visits~recipe").note("looked") is None
    visits.post(f"{FRESH}/live", live="yes")
    assert "Highest risk" in visits.get(f"{FRESH}/risk", part=True)
    assert "each shared by" in visits.get(FRESH)
    assert visits.project("visits~recipe").note("looked")
    visits.post(f"{FRESH}/live", live="no")
    assert "each shared by" not in visits.get(FRESH)


def test_suggestions_are_taken_on_request_only(visits: Bench) -> None:
    visits.get(FRESH)
    assert roles_of(visits) == {"patient_id": "?"}
    visits.post(f"{FRESH}/take", column="age")
    roles = roles_of(visits)
    # Columns that nobody has mentioned are questions in the recipe, for the command line too.
    assert roles.pop("age") == "quasi"
    assert set(roles.values()) == {"?"}
    visits.post(f"{FRESH}/set", **role_of("sex", "insensitive"))
    visits.post(f"{FRESH}/take")
    roles = roles_of(visits)
    assert roles["sex"] == "insensitive"  # decided, so not taken
    assert roles["patient_id"] == "identifying"
    assert roles["diagnosis"] == "sensitive"
    assert roles["home"] == "?"
    assert "# kept" in visits.project("visits~recipe").recipe.read_text()


def test_steps_say_what_is_missing(visits: Bench) -> None:
    assert "columns without a role" in visits.get("/p/visits~recipe/steps")
    every = ("patient_id", "home", "age", "sex", "diagnosis")
    visits.post(f"{FRESH}/many", column=list(every), role="insensitive")
    assert set(roles_of(visits).values()) == {"insensitive"}
    assert "columns without a role" not in visits.get("/p/visits~recipe/steps")
    visits.post(f"{FRESH}/many", column=["age"], role="?")
    assert "columns without a role" in visits.get("/p/visits~recipe/steps")


def test_columns_that_are_gone_can_be_forgotten(visits: Bench) -> None:
    path = visits.project("visits~recipe").recipe
    path.write_text(path.read_text().replace("[roles]\n", '[roles]\nold = "quasi"\n'))
    assert "does not have: old." in visits.get(FRESH)
    visits.post(f"{FRESH}/forget")
    assert "old" not in roles_of(visits)


def test_figures_are_of_people_once_a_column_tells_them_apart(visits: Bench) -> None:
    visits.post(f"{FRESH}/live", live="yes")
    visits.post(f"{FRESH}/many", column=["age", "sex"], role="quasi")
    visits.post(f"{FRESH}/take")
    found = visits.get(f"{FRESH}/risk", part=True)
    assert "People seem to be in several rows, by patient_id." in found
    answer = visits.post(f"{FRESH}/people", person="column:patient_id")
    assert "method.unit" in answer.text
    assert visits.project("visits~recipe").draft().get("method", "unit") == "patient_id"
    found = visits.get(f"{FRESH}/risk", part=True)
    assert "of 200 people" in found
    visits.post(f"{FRESH}/people", person="rows")
    draft = visits.project("visits~recipe").draft()
    assert (draft.get("rows_are_people"), draft.get("method", "unit")) == (True, None)
    assert "of 400 people" in visits.get(f"{FRESH}/risk", part=True)


def test_who_tells_people_apart_has_to_be_identifying(visits: Bench) -> None:
    visits.post(f"{FRESH}/live", live="yes")
    visits.post(f"{FRESH}/many", column=["age", "patient_id"], role="quasi")
    visits.post(f"{FRESH}/people", person="column:patient_id")
    found = visits.get(f"{FRESH}/risk", part=True)
    assert "must be identifying" in found
    assert "Make patient_id identifying" in found
    visits.post(f"{FRESH}/many", column="patient_id", role="identifying")
    assert "must be identifying" not in visits.get(f"{FRESH}/risk", part=True)


def test_households_add_their_own_risk(visits: Bench) -> None:
    visits.post(f"{FRESH}/live", live="yes")
    visits.post(f"{FRESH}/many", column=["age", "sex"], role="quasi")
    visits.post(f"{FRESH}/people", person="rows", household="column:home")
    assert "Households at risk" in visits.get(f"{FRESH}/risk", part=True)
    assert "household" not in visits.project("visits~recipe").recipe.read_text()
    visits.post(f"{FRESH}/set", **role_of("home", "quasi"))
    assert "home tells households apart" in visits.get(f"{FRESH}/risk", part=True)
    visits.post(f"{FRESH}/people", household="")
    assert "Households at risk" not in visits.get(f"{FRESH}/risk", part=True)


def test_no_value_of_the_table_is_on_the_page(visits: Bench) -> None:
    visits.post(f"{FRESH}/live", live="yes")
    visits.post(f"{FRESH}/take")
    assert "zanzibar" not in visits.get(FRESH)
    assert "zanzibar" not in visits.get(f"{FRESH}/risk", part=True)


def test_a_project_without_data_leads_to_the_data(visits: Bench) -> None:
    path = visits.project("visits~recipe").recipe
    path.write_text("[source]\n\n[roles]\n")
    assert "First choose the file." in visits.get(FRESH)


@pytest.fixture
def wide(tmp_path: Path) -> Iterator[Bench]:
    """A table with 300 columns."""
    (tmp_path / "wide").mkdir()
    columns = {f"item {i:03}": [i % 3, 1, 2] for i in range(299)}
    pl.DataFrame({"age": [31, 47, 31], **columns}).write_csv(tmp_path / "wide" / "wide.csv")
    (tmp_path / "wide" / "recipe.toml").write_text('[source]\npath = "wide.csv"\n\n[roles]\n')
    with bench(tmp_path) as made:
        yield made


def test_hundreds_of_columns_can_be_searched_and_set_at_once(wide: Bench) -> None:
    page = "/p/wide~recipe/roles"
    assert wide.get(page).count('role="radiogroup"') == 300
    found = wide.get(f"{page}?find=ITEM+01", part=True)
    assert found.count('role="radiogroup"') == 10
    some = [f"item {i:03}" for i in range(10, 20)]
    answer = wide.post(f"{page}/many", column=some, role="quasi", find="item 01")
    assert answer.text.count('role="radiogroup"') == 10
    assert "10 of 300 columns are decided." in answer.text
    assert wide.get(f"{page}?only=quasi", part=True).count('role="radiogroup"') == 10
    assert wide.get(f"{page}?only=undecided", part=True).count('role="radiogroup"') == 290
    assert "No column matches." in wide.get(f"{page}?find=nothing", part=True)


# In a browser


def test_roles_are_decided_by_keyboard_alone(page: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page.goto(page.url.split("/p/")[0].rstrip("/") + ROLES)
    assert violations(page) == []
    page.get_by_role("button", name="Show the risk while I decide").press("Enter")
    page.get_by_text("Highest risk").wait_for()
    # Suggestions by values follow, in place of those by names.
    page.get_by_text("Looking at the columns for suggestions").wait_for(state="detached")
    settle(page)
    risk = page.locator("#risk")
    before = risk.inner_text()
    # Each group of choices is one stop; arrows choose.
    page.locator("#r-1-quasi").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.locator("#r-1-insensitive:checked").wait_for()
    # The first of the two choices is sent at once, the second after its answer.
    draft = tmp_path / "hospital" / "hospital.toml"
    for _ in range(SECONDS // 50):
        if Draft.read(draft).get("roles", "age") == "insensitive":
            break
        page.wait_for_timeout(50)
    expect(risk).not_to_have_text(before, use_inner_text=True, timeout=SECONDS)
    page.reload()
    assert page.locator("#r-1-insensitive").is_checked()
    assert risk.inner_text() != before
    page.locator("#person").focus()
    page.keyboard.press("ArrowDown")  # every row is another person
    page.get_by_text("Figures count rows").wait_for()
    page.reload()
    assert page.locator("#person").input_value() == "rows"
    recipe = Recipe.load(tmp_path / "hospital" / "hospital.toml")
    assert recipe.content.roles["age"] == "insensitive"
    assert recipe.content.rows_are_people
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_demo_is_the_same_project_for_the_command_line(tmp_path: Path) -> None:
    key = hospital(tmp_path)
    with bench(tmp_path) as made:
        made.post(f"{ROLES}/people", person="column:patient")
        checked = Recipe.check(made.project(key).recipe)
    assert checked.recipe.content.method.unit == "patient"  # type: ignore[attr-defined]
