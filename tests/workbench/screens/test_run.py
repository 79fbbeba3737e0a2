"""Run: candidates are tried by jobs, ranked, and taken into the recipe; none is a release."""

import re
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import ShoalError
from shoal.recipe import Recipe
from shoal.recipe.editing import editing
from shoal.releases.release import Release, certificate_in
from shoal.workbench.candidates import CandidateFolder
from shoal.workbench.variations import fields_of, methods_for, section_of
from tests.workbench.benches import Bench
from tests.workbench.conftest import settle, violations

KEY = "hospital~hospital"
RUN = f"/p/{KEY}/run"
SECONDS = 120.0


def tried(bench: Bench, place: str, **sent: Any) -> list[str]:
    """The names of all candidates once what a form asks for was tried."""
    before = len(bench.desk.jobs.of(bench.project(KEY)))
    bench.post(f"{RUN}/{place}", part=False, status=303, **sent)
    jobs = bench.desk.jobs.of(bench.project(KEY), "candidate")
    assert len(jobs) == before + 1
    assert jobs[0].wait(SECONDS) == "done", (jobs[0].state, jobs[0].error)
    return [one.name for one in CandidateFolder(bench.project(KEY)).all()]


def test_at_first_it_says_what_a_candidate_is(demo_bench: Bench) -> None:
    shown = demo_bench.get(RUN)
    assert "No candidate yet" in shown
    assert "Try the recipe as it is" in shown
    assert demo_bench.project(KEY).note("looked") is None


def test_where_nothing_is_kept_the_columns_that_may_be_why_are_named(demo_bench: Bench) -> None:
    demo_bench.post(f"/p/{KEY}/hierarchies/remove", column="outcome")
    spent = {"epsilon": "0.01", "delta": "1e-9"}
    tried(demo_bench, "try", method="auto", **spent, name="tiny")
    shown = demo_bench.get(RUN)
    assert "too few records share a whole row" in shown
    assert "stay as fine as they are: outcome." in shown
    assert f'href="/p/{KEY}/hierarchies?column=outcome"' in shown


def test_a_table_that_is_too_small_for_the_promise_is_said_to_be(demo_bench: Bench) -> None:
    section = {"name": "noisy-counts", "epsilon": "0.01", "delta": "1e-9", "levels": "tree"}
    with editing(demo_bench.project(KEY).recipe) as draft:
        draft.set("method", to=section)
    tried(demo_bench, "recipe")
    shown = demo_bench.get(RUN)
    assert "One candidate" in shown
    assert re.search(r"About [\d,]+ records must be alike .* and there are [\d,]+\.", shown)
    assert f'href="/p/{KEY}/promise/questions?ask=use"' in shown


def test_a_candidate_is_tried_compared_taken_and_removed(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    before = project.recipe.read_text("utf-8")
    names = tried(demo_bench, "recipe")
    names = tried(demo_bench, "try", method="auto", epsilon="2", delta="1e-6", name="twice")
    assert names == ["auto, ε 1", "twice"]
    # Looking wrote nothing into the recipe, no ledger, and no release.
    assert project.recipe.read_text("utf-8") == before
    assert project.releases == []
    shown = demo_bench.get(RUN)
    assert "a simulation, drawn once; not paid for" in shown
    assert "as the recipe is" in shown
    assert "no other is better" in shown
    assert "candidates" in project.note("looked")
    key = CandidateFolder(project).all()[1].key
    demo_bench.post(f"{RUN}/choose", part=False, status=303, key=key)
    draft = project.draft()
    assert draft.get("method", "epsilon") == 2
    assert draft.get("method", "importance") == {"age": 3, "diagnosis": 3, "stay": 2}
    assert "# what keeps most" in draft.text
    assert "method.epsilon" in draft.text.partition("[source]")[0]  # chosen after looking
    Recipe.check(project.recipe)
    demo_bench.post(f"{RUN}/remove", part=False, status=303, key=key)
    assert [one.name for one in CandidateFolder(project).all()] == ["auto, ε 1"]


def test_the_files_of_a_candidate_cannot_be_taken_for_a_release(demo_bench: Bench) -> None:
    tried(demo_bench, "recipe")
    project = demo_bench.project(KEY)
    folder = project.hidden / "candidates"
    assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".json"}
    for path in files:
        assert path.read_text("utf-8").startswith('{"not_for_release": true, "notice": ')
        assert certificate_in(path.parent) is None
        with pytest.raises(ShoalError):
            Release.read(path.parent)
    figures = next(folder.glob("*.json")).read_text("utf-8")
    assert "a simulation, not a release: nothing was spent" in figures


def test_neighbours_and_releases_stand_beside_a_candidate(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    tried(demo_bench, "recipe")
    key = CandidateFolder(project).all()[0].key
    names = tried(demo_bench, "neighbours", key=key)
    assert names[1:] == ["auto, ε 1: ε 0.5", "auto, ε 1: ε 2"]
    assert CandidateFolder(project).all()[1].method["epsilon"] == 0.5  # type: ignore[index]
    recipe = Recipe.load(project.recipe)
    recipe.release(recipe.table(), project.place_for_release("first"))
    assert "Add the release first" in demo_bench.get(RUN)
    assert tried(demo_bench, "release", name="first")[-1] == "release first"
    shown = demo_bench.get(RUN)
    assert "a release" in shown
    assert "Add the release first" not in shown
    released = CandidateFolder(project).all()[-1]
    assert "is a release" in demo_bench.post(f"{RUN}/choose", status=422, key=released.key).text


def test_what_is_wrong_stands_beside_its_field(demo_bench: Bench) -> None:
    shown = demo_bench.post(
        f"{RUN}/try", part=False, status=422, method="auto", epsilon="-1", delta="1e-6"
    ).text
    assert 'aria-invalid="true"' in shown
    assert '<details class="variation" open>' in shown
    assert demo_bench.desk.jobs.of(demo_bench.project(KEY)) == []
    assert "no such method" in demo_bench.post(f"{RUN}/try", status=422, method="magic").text
    assert 'name="suppression"' in demo_bench.get(f"{RUN}/form?method=optimal", part=True)


def test_figures_of_an_earlier_table_are_not_ranked(demo_bench: Bench) -> None:
    tried(demo_bench, "recipe")
    project = demo_bench.project(KEY)
    project.recipe.write_text(
        project.recipe.read_text("utf-8").replace('ward = "quasi"', 'ward = "insensitive"')
    )
    shown = demo_bench.get(RUN)
    assert "made before the table, roles or hierarchies changed" in shown
    assert "no other is better" not in shown


def test_a_damaged_candidate_is_passed_over(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    folder = project.hidden / "candidates"
    folder.mkdir()
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_text('{"when": 1}')
    assert "No candidate yet" in demo_bench.get(RUN)


def test_every_method_that_is_offered_makes_a_sound_recipe(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    draft = project.draft()
    offered = methods_for(draft)
    assert offered[0] == "auto"
    assert {"optimal", "mondrian", "safepub", "noisy-counts", "kdgs"} <= set(offered)
    assert "buckets" not in offered
    for name in offered:
        given = {field.option: field.value for field in fields_of(draft, name)}
        section = section_of(draft, {"method": name, **given})
        Recipe.load(project.recipe, section).method()


def test_levels_are_bounded_in_the_form(demo_bench: Bench) -> None:
    draft = demo_bench.project(KEY).draft()
    given = {"method": "optimal", "models": "5-anonymity, 2-diversity of diagnosis"}
    section = section_of(draft, {**given, "floor.age": "1", "ceiling.age": "3"})
    assert section["floor"] == {"age": 1}
    assert section["ceiling"] == {"age": 3}
    assert section["models"] == ["5-anonymity", "2-diversity of diagnosis"]
    with pytest.raises(ShoalError, match="not a level"):
        section_of(draft, {**given, "floor.age": "high"})


@pytest.mark.parametrize("address", [RUN, f"/p/{KEY}/explore", f"/p/{KEY}/explore/map"])
def test_pages_are_there_while_the_method_is_undecided(demo_bench: Bench, address: str) -> None:
    project = demo_bench.project(KEY)
    text = project.recipe.read_text("utf-8")
    project.recipe.write_text(text.replace("epsilon = 1\n", 'epsilon = "?"\n'))
    assert demo_bench.get(address)


def test_a_person_tries_takes_and_explores(page: Any, tmp_path: Path) -> None:
    page.goto(page.url.partition("/?")[0].rstrip("/") + RUN)
    assert violations(page) == []
    page.click("text=Try the recipe as it is")
    page.wait_for_selector("table.candidates tbody tr", timeout=120_000)
    page.click("summary:has-text('Try a variation')")
    page.select_option("#method", "optimal")
    page.wait_for_selector("#f-suppression")
    settle(page)
    assert violations(page) == []
    page.click("button:has-text('Try it')")
    page.wait_for_selector("table.candidates tbody tr:nth-child(2)", timeout=120_000)
    page.click("tr:nth-child(2) button:has-text('Take it')")
    page.wait_for_selector("tr:nth-child(2):has-text('as the recipe is')")
    assert 'name = "optimal"' in (tmp_path / "hospital" / "hospital.toml").read_text("utf-8")
    page.click("nav.steps a:has-text('Explore')")
    page.click("button:has-text('Survey all levels')")
    page.wait_for_selector(".heat-map a", timeout=120_000)
    assert violations(page) == []
    # The map is one stop of the tab key; arrows and Enter choose a square, whose levels are listed.
    page.locator(".heat-map a[tabindex='0']").focus()
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") != first
    assert page.locator(".heat-map a[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    page.get_by_text("combinations in the square that you chose").wait_for()
    assert page.locator(".heat-map a[aria-current]").count() == 1
    page.click("tbody tr:first-child button:has-text('Pin')")
    with page.expect_navigation():
        page.click("button:has-text('Take these levels')")
    assert "[method.floor]" in (tmp_path / "hospital" / "hospital.toml").read_text("utf-8")
    for tab in ("Risk and utility", "Before and after"):
        page.click(f"nav.tabs a:has-text('{tab}')")
        page.wait_for_selector(".drawing svg")
        assert violations(page) == []
