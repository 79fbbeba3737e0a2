"""What is chosen after figures of the rows were shown is on the list, and the page says so."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.recipe.editing import Draft, editing
from shoal.workbench import looking
from shoal.workbench.projects import Home
from tests.workbench.benches import Bench
from tests.workbench.conftest import violations

KEY = "hospital~hospital"
NOTICE = "You chose this after figures of the data had been shown"


def decided(bench: Bench, *place: str, to: Any, from_rows: str = "") -> None:
    """Decide something as a screen does."""
    project = bench.project(KEY)
    with editing(project.recipe) as draft:
        before = draft.content
        draft.set(*place, to=to)
        seen = looking.figures_seen(project)
        places = looking.changed(before, draft.content) if seen else []
        looking.record(project, draft, [*places, *([from_rows] if from_rows else [])])


def listed(bench: Bench) -> Any:
    return bench.project(KEY).draft().get(looking.LIST)


def test_nothing_is_listed_before_figures_were_shown(demo_bench: Bench) -> None:
    decided(demo_bench, "method", "epsilon", to=2)
    assert listed(demo_bench) is None
    assert NOTICE not in demo_bench.get(f"/p/{KEY}/roles")


def test_what_is_chosen_after_looking_is_listed_and_the_page_says_so(demo_bench: Bench) -> None:
    looking.look(demo_bench.project(KEY), "risks")
    decided(demo_bench, "roles", "age", to="quasi")  # as it was
    assert listed(demo_bench) is None
    decided(demo_bench, "method", "epsilon", to=2)
    decided(demo_bench, "roles", "stay", to="quasi")
    decided(demo_bench, "roles", "stay", to="insensitive")
    decided(demo_bench, "output", "format", to="parquet")
    assert listed(demo_bench) == ["method.epsilon", "roles"]
    page = demo_bench.get(f"/p/{KEY}/roles")
    assert NOTICE in page
    assert "“epsilon” of the method" in page
    assert "shown before: risks" in page


def test_a_person_who_understood_is_not_told_again(demo_bench: Bench) -> None:
    looking.look(demo_bench.project(KEY), "risks")
    decided(demo_bench, "method", "epsilon", to=2)
    assert NOTICE in demo_bench.get(f"/p/{KEY}/looking", part=True)
    assert NOTICE not in demo_bench.post(f"/p/{KEY}/looking/understood").text
    decided(demo_bench, "method", "epsilon", to=3)
    assert NOTICE not in demo_bench.get(f"/p/{KEY}/roles")
    decided(demo_bench, "method", "delta", to="1e-7")
    assert NOTICE in demo_bench.get(f"/p/{KEY}/roles")
    back = demo_bench.post(f"/p/{KEY}/looking/understood", part=False, back="//evil.example")
    assert back.headers["location"] == f"/p/{KEY}/"


def test_promises_about_the_table_alone_are_not_concerned(demo_bench: Bench) -> None:
    looking.look(demo_bench.project(KEY), "risks")
    decided(demo_bench, "method", to={"name": "optimal", "models": ["5-anonymity"]})
    assert listed(demo_bench)
    assert NOTICE not in demo_bench.get(f"/p/{KEY}/roles")
    decided(demo_bench, "method", to={"name": "mondrian", "models": ["5-anonymity"]})
    assert NOTICE not in demo_bench.get(f"/p/{KEY}/roles")
    decided(demo_bench, "method", "splits", to="middle")
    assert NOTICE in demo_bench.get(f"/p/{KEY}/roles")


def test_a_hierarchy_made_from_the_rows_counts_whatever_was_shown(demo_bench: Bench) -> None:
    hierarchy = {"build": "suppress", "values": ["a"]}
    decided(demo_bench, "hierarchies", "ward", to=hierarchy, from_rows="hierarchies.ward")
    assert listed(demo_bench) == ["hierarchies.ward"]


def test_a_reason_is_kept_beside_the_choice_until_that_is_changed(demo_bench: Bench) -> None:
    looking.look(demo_bench.project(KEY), "risks")
    decided(demo_bench, "method", "epsilon", to=2)
    why = "Our board\n prescribes 2."
    demo_bench.post(f"/p/{KEY}/looking/public", place="method.epsilon", why=why)
    public = {"place": "method.epsilon", "public": "Our board prescribes 2."}
    assert listed(demo_bench) == [public]
    assert NOTICE not in demo_bench.get(f"/p/{KEY}/roles")
    assert "Our board prescribes 2." in demo_bench.get(f"/p/{KEY}/looking/all")
    project = demo_bench.project(KEY)
    recipe = shoal.Recipe.load(project.recipe)
    certificate = recipe.release(recipe.table()).certificate
    assert certificate.chosen_after_looking == [public]
    decided(demo_bench, "method", "epsilon", to=1)
    assert listed(demo_bench) == ["method.epsilon"]
    demo_bench.post(f"/p/{KEY}/looking/public", place="roles", why="so", status=422)


def test_the_list_goes_above_all_sections_of_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('# why\n\n[source]\npath = "x.csv"\n[roles]\na = "?"  # quasi?\n')
    with editing(path) as draft:
        draft.set(looking.LIST, to=["roles"])
    assert path.read_text().index(looking.LIST) < path.read_text().index("[source]")
    assert Draft.read(path).content == {
        looking.LIST: ["roles"],
        "source": {"path": "x.csv"},
        "roles": {"a": "?"},
    }


@pytest.mark.parametrize(
    ("after", "places"),
    [
        ({"roles": {"a": "quasi"}}, []),
        ({"roles": {"a": "quasi", "b": "quasi"}}, ["roles"]),
        ({"roles": {"a": "quasi"}, "missing": "refuse"}, ["missing"]),
        ({"roles": {"a": "quasi"}, "hierarchies": {"post code": {}}}, ['hierarchies."post code"']),
        ({"roles": {"a": "quasi"}, "method": "auto"}, ["method"]),
        ({"roles": {"a": "quasi"}, "method": {"name": "auto"}}, ["method.name"]),
        ({"roles": {"a": "quasi"}, "ledger": {"path": "x"}}, []),
    ],
)
def test_choices_are_told_apart_by_their_places(after: Any, places: list[str]) -> None:
    assert looking.changed({"roles": {"a": "quasi"}}, after) == places


def test_the_notice_and_the_page_of_all_choices_are_accessible(page: Any, tmp_path: Path) -> None:
    project = Home(tmp_path).project(KEY)
    looking.look(project, "risks")
    with editing(project.recipe) as draft:
        looking.record(project, draft, ["roles"])
    page.goto(page.url.rstrip("/") + f"/p/{KEY}/looking/all")
    assert page.get_by_text(NOTICE).is_visible()
    assert not violations(page)
    page.get_by_role("button", name="Understood").click()
    page.get_by_text(NOTICE).wait_for(state="detached")


def test_what_another_recipe_of_the_folder_showed_counts_for_the_same_source(
    tmp_path: Path,
) -> None:
    for name in ("one", "two", "other"):
        source = "other.csv" if name == "other" else "people.csv"
        text = f'[source]\npath = "{source}"\n[roles]\n'
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
    one, other, two = Home(tmp_path).projects()
    assert [one.recipe.stem, other.recipe.stem, two.recipe.stem] == ["one", "other", "two"]
    looking.look(one, "the first rows")
    assert looking.figures_seen(two) == ("the first rows",)
    assert looking.figures_seen(other) == ()
    # All other notes are of one recipe alone.
    one.keep("pins", [1])
    assert two.note("pins") is None


def test_notes_that_are_gone_do_not_make_later_choices_public(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(
        'chosen_after_looking = ["roles"]\n[source]\npath = "people.csv"\n[roles]\n', "utf-8"
    )
    [project] = Home(tmp_path).projects()
    assert looking.figures_seen(project) == (looking.EARLIER,)


def test_two_workbenches_at_once_lose_no_note(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text('[source]\npath = "people.csv"\n[roles]\n', "utf-8")
    code = (
        "import sys; from pathlib import Path; from shoal.workbench import looking;"
        "from shoal.workbench.projects import Home;"
        "[project] = Home(Path(sys.argv[1])).projects();"
        "[looking.look(project, sys.argv[2] + str(number)) for number in range(25)]"
    )
    begun = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [process.wait(120) for process in begun] == [0, 0]
    [project] = Home(tmp_path).projects()
    assert len(looking.figures_seen(project)) == 50
