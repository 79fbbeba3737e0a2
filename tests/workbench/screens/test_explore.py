"""Explore: levels are surveyed, narrowed down, pinned and taken; candidates on a map; columns."""

import re
from html import unescape
from typing import Any

import pytest

from shoal.measure.surveying import LevelSurvey, Narrowing
from shoal.recipe import Recipe
from shoal.workbench.candidates import CandidateFolder
from tests.workbench.benches import Bench
from tests.workbench.screens.test_run import tried

KEY = "hospital~hospital"
EXPLORE = f"/p/{KEY}/explore"
METHOD = {"method": "optimal", "models": "5-anonymity", "suppression": "0.1"}


@pytest.fixture
def surveyed(demo_bench: Bench) -> Bench:
    """A workbench whose project was surveyed."""
    demo_bench.post(
        f"{EXPLORE}/survey", part=False, status=303, models="5-anonymity", loss="granularity"
    )
    job = demo_bench.desk.jobs.of(demo_bench.project(KEY), "space")[0]
    assert job.wait(120) == "done", job.error
    return demo_bench


def levels_of(bench: Bench) -> dict[str, Any]:
    found = LevelSurvey.read(bench.project(KEY).hidden / "survey.npz")
    place = found.best(found.suppressed <= 0.1, 1)[0]
    return {f"level__{name}": str(level) for name, level in place.levels.items()}


def test_at_first_it_says_what_a_survey_is(demo_bench: Bench) -> None:
    shown = demo_bench.get(EXPLORE)
    assert "Survey all levels" in shown
    assert 'value="5-anonymity"' in shown
    assert demo_bench.project(KEY).note("looked") is None
    for tab in ("map", "columns"):
        assert "There is none yet" in demo_bench.get(f"{EXPLORE}/{tab}")
    text = demo_bench.post(f"{EXPLORE}/survey", status=422, models="magic", loss="entropy").text
    assert "not understood" in text


def test_levels_are_narrowed_down(surveyed: Bench) -> None:
    whole = surveyed.get(EXPLORE)
    assert "All 1,440 were looked at, of 1,000 records." in whole
    some = surveyed.get(f"{EXPLORE}?suppression=5&least.age=2&most.age=4&satisfied=5-anonymity")
    assert "1,440 combinations of levels are shown" not in some
    none = surveyed.get(f"{EXPLORE}?loss=0")
    assert "No combination is like this" in none
    assert "Give a number from 0 to 100" in surveyed.get(f"{EXPLORE}?loss=much")
    assert "nothing to draw" in none


def test_a_square_of_the_map_lists_what_is_in_it(surveyed: Bench) -> None:
    found = LevelSurvey.read(surveyed.project(KEY).hidden / "survey.npz")
    filters = "suppression=50&least.age=1"
    shown = surveyed.get(f"{EXPLORE}?{filters}")
    squares = re.findall(r'href="([^"]*square=(\d+)\.(\d+)#best)"', shown)
    # A link for many combinations, however many there are, which keeps the filters.
    assert 1 < len(squares) <= 400
    for address, up, across in (squares[0], squares[-1]):
        inside = surveyed.get(unescape(address).partition("#")[0])
        wanted = found.matching(Narrowing({"age": 1}, suppression=0.5))
        number = int((wanted & (found.squares == (int(up), int(across))).all(axis=1)).sum())
        assert f"Of the {number:,} combinations in the square" in inside
        assert inside.count('aria-current="true"') >= 1
        first = re.search(r'id="best".*?<td class="number">([\d.]+) %', inside, re.DOTALL)
        assert first is not None
        assert int(up) * 5 <= float(first[1]) <= int(up) * 5 + 5
    for odd in ("x", "1", "99.99", "-1.2"):
        surveyed.get(f"{EXPLORE}?square={odd}")


def test_pins_and_the_recipe_are_on_the_map(surveyed: Bench) -> None:
    levels = levels_of(surveyed)
    surveyed.post(f"{EXPLORE}/pin", part=False, status=303, **levels)
    spots = re.findall(r'class="spot"[^>]*>([^<]+)<', surveyed.get(EXPLORE))
    assert spots == ["least loss", "1"]


def test_levels_are_pinned_and_taken(surveyed: Bench) -> None:
    project = surveyed.project(KEY)
    levels = levels_of(surveyed)
    surveyed.post(f"{EXPLORE}/pin", part=False, status=303, **levels)
    surveyed.post(f"{EXPLORE}/pin", part=False, status=303, **levels)
    assert len(project.note("pins")) == 1
    assert "Take these levels" in surveyed.get(EXPLORE)
    surveyed.post(f"{EXPLORE}/take", part=False, status=303, number="0")
    wanted = {name.removeprefix("level__"): int(level) for name, level in levels.items()}
    draft = project.draft()
    assert draft.get("method", "floor") == draft.get("method", "ceiling") == wanted
    assert "method.floor" in draft.get("chosen_after_looking")
    Recipe.check(project.recipe)
    assert "level.age" not in surveyed.post(f"{EXPLORE}/pin", status=422, level__age="9").text
    surveyed.post(f"{EXPLORE}/unpin", part=False, status=303, number="0")
    assert project.note("pins") == []
    assert "no such pin" in surveyed.post(f"{EXPLORE}/take", status=422, number="0").text


def test_a_survey_of_an_earlier_table_says_so(surveyed: Bench) -> None:
    project = surveyed.project(KEY)
    text = project.recipe.read_text("utf-8")
    project.recipe.write_text(text.replace('ward = "quasi"', 'ward = "insensitive"'))
    assert "have changed since this survey" in surveyed.get(EXPLORE)
    assert "survey again" in surveyed.post(f"{EXPLORE}/pin", status=422).text


def test_candidates_are_on_a_map_and_columns_side_by_side(demo_bench: Bench) -> None:
    tried(demo_bench, "try", **METHOD)
    key = CandidateFolder(demo_bench.project(KEY)).all()[0].key
    assert "explore/map/picture" in demo_bench.get(f"{EXPLORE}/map?risk=average")
    assert "<svg" in demo_bench.get(f"{EXPLORE}/map/picture?risk=average&loss=entropy", part=True)
    shown = demo_bench.get(f"{EXPLORE}/columns?of={key}&one=age&other=sex")
    assert f"of={key}&amp;one=age&amp;other=sex" in shown
    one = demo_bench.get(f"{EXPLORE}/columns/picture?of={key}&one=age", part=True)
    assert "<svg" in one
    both = demo_bench.get(f"{EXPLORE}/columns/picture?of={key}&one=sex&other=age", part=True)
    assert "would have to move" in both
    assert "columns before and after" in demo_bench.project(KEY).note("looked")
