"""Risk: figures of the input, by whom they are counted, and which columns cause them."""

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import ParameterError
from shoal.recipe.editing import editing
from shoal.workbench import assessing
from shoal.workbench.assessing import RiskQuestion, threshold_of
from shoal.workbench.screens import risk as screen
from tests.workbench.benches import Bench, bench, hospital
from tests.workbench.conftest import violations

RISK = "/p/hospital~hospital/risk"
ROLES = "/p/hospital~hospital/roles"


@pytest.fixture
def demo_bench(demo_bench: Bench) -> Bench:
    """A workbench whose owner has asked for the figures, though the promise is private."""
    demo_bench.post(f"{RISK}/show")
    return demo_bench


def test_figures_wait_until_somebody_asks_where_the_promise_assumes_that_nobody_looked(
    tmp_path: Path,
) -> None:
    hospital(tmp_path)
    with bench(tmp_path) as fresh:
        page = fresh.get(RISK)
        assert "Choose the promise first" in page
        assert "of 1,000 records" not in page
        assert not fresh.project("hospital~hospital").note("looked")
        fresh.post(f"{RISK}/show")
        assert "of 1,000 records" in fresh.get(RISK)


def test_figures_are_shown_at_once_where_the_promise_is_about_the_table(tmp_path: Path) -> None:
    hospital(tmp_path)
    with bench(tmp_path) as fresh:
        with editing(fresh.project("hospital~hospital").recipe) as draft:
            draft.set("method", to={"name": "optimal", "models": ["5-anonymity"]})
        assert "of 1,000 records" in fresh.get(RISK)


def test_figures_and_conventions_are_there_before_anything_is_done(demo_bench: Bench) -> None:
    page = demo_bench.get(RISK)
    assert "of 1,000 records" in page
    assert "Counted by rows" in page
    assert page.count("not kept") >= 8
    assert "can be recognised by these columns" in page
    assert demo_bench.project("hospital~hospital").note("looked")


def test_figures_are_of_people_where_the_recipe_says_so(demo_bench: Bench) -> None:
    demo_bench.post(f"{ROLES}/people", person="column:patient")
    page = demo_bench.get(RISK)
    assert "of 1,000 people" in page
    assert "Counted by people: patient tells them apart." in page


def test_pictures_and_sensitive_columns_come_after_the_page(demo_bench: Bench) -> None:
    pictures = demo_bench.get(f"{RISK}/pictures", part=True)
    assert pictures.count("<figure") == 2
    assert "<html" not in pictures
    sensitive = demo_bench.get(f"{RISK}/sensitive", part=True)
    assert "diagnosis" in sensitive
    assert "distinct ℓ" in sensitive
    # Without script each is a page of its own.
    assert "<html" in demo_bench.get(f"{RISK}/sensitive")


def test_columns_that_cause_the_risk_are_told(demo_bench: Bench) -> None:
    part = demo_bench.get(f"{RISK}/columns", part=True)
    assert "has the largest share in the average risk" in part
    assert "Smallest sets of columns that single people out" in part
    assert "age + postcode" in part


def test_sets_can_be_those_that_single_out_few_or_many(demo_bench: Bench) -> None:
    assert "age + postcode" in demo_bench.get(f"{RISK}/columns", part=True)
    anybody = demo_bench.post(f"{RISK}/sets", unique_share="0").text
    # Somebody is alone by each of these columns.
    assert "age + postcode" not in anybody
    sampled = demo_bench.post(f"{RISK}/sets", unique_share="1/5", fraction="10 %").text
    assert "age + postcode" in sampled
    assert "of the population of 10,000" in sampled
    demo_bench.post(f"{RISK}/sets", fraction="")
    demo_bench.post(f"{RISK}/sets", status=422, fraction="many")


def test_thresholds_can_be_chosen(demo_bench: Bench) -> None:
    demo_bench.post(f"{RISK}/threshold", threshold="1/11")
    page = demo_bench.get(RISK)
    assert "At risk above 9.09 %" in page
    # What is limited above 20 % cannot be judged by another threshold.
    assert "not judged" in page
    demo_bench.post(f"{RISK}/threshold", own="8")
    assert "At risk above 12.5 %" in demo_bench.get(RISK)
    demo_bench.post(f"{RISK}/threshold", own="1000 %", status=422)
    assert "At risk above 12.5 %" in demo_bench.get(RISK)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("5", "1/5"), ("20 %", "1/5"), ("0,05", "1/20"), ("0.09", "9/100"), ("1/11", "1/11")],
)
def test_a_threshold_is_a_group_size_or_a_risk(given: str, meant: str) -> None:
    assert threshold_of(given) == meant


@pytest.mark.parametrize("given", ["0", "1", "x", "-1", ""])
def test_a_threshold_lies_between_nobody_and_everybody(given: str) -> None:
    with pytest.raises(ParameterError):
        threshold_of(given)


def test_a_question_survives_being_written_down() -> None:
    asked = RiskQuestion(("age", "sex"), person="name", fraction="1/10")
    assert RiskQuestion.read(asked.plain) == asked


def test_figures_of_a_large_table_come_after_the_page(
    demo_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assessing, "_QUICK", 0)
    demo_bench.post(f"{ROLES}/live", live="yes")
    assert "Counting …" in demo_bench.get(ROLES)
    assert "Highest risk" in demo_bench.get(f"{ROLES}/risk", part=True)
    assert "Counting …" not in demo_bench.get(ROLES)  # they are known now
    demo_bench.post(f"{ROLES}/many", column="ward", role="insensitive")
    assert "Counting …" in demo_bench.get(RISK)
    assert "Highest risk" in demo_bench.get(f"{RISK}?wait=yes")
    assert "Counting …" not in demo_bench.get(RISK)


def test_large_tables_are_looked_at_by_a_job(
    demo_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = demo_bench.get(f"{RISK}/columns", part=True)
    monkeypatch.setattr(screen, "_AT_ONCE", 0)
    assert "The table is large" in demo_bench.get(f"{RISK}/columns", part=True)
    demo_bench.post(f"{RISK}/columns")
    [job] = demo_bench.desk.jobs.of(demo_bench.project("hospital~hospital"), "columns")
    assert job.wait(60) == "done", job.error
    assert demo_bench.get(f"{RISK}/columns", part=True) == expected
    demo_bench.post(f"{RISK}/columns")
    assert len(demo_bench.desk.jobs.of(demo_bench.project("hospital~hospital"), "columns")) == 1
    # With another role it is another question.
    demo_bench.post(f"{ROLES}/many", column="ward", role="insensitive")
    assert "The table is large" in demo_bench.get(f"{RISK}/columns", part=True)


def test_without_quasi_identifying_columns_the_page_leads_to_the_roles(
    demo_bench: Bench,
) -> None:
    names = ("age", "sex", "postcode", "admitted", "ward", "insurance")
    demo_bench.post(f"{ROLES}/many", column=list(names), role="insensitive")
    assert "Give columns roles" in demo_bench.get(RISK)


def test_households_have_figures_of_their_own(demo_bench: Bench) -> None:
    demo_bench.post(f"{ROLES}/people", household="column:outcome")
    assert "households (" in demo_bench.get(RISK)


def test_the_risk_is_shown_whole_in_a_browser(page: Any, tmp_path: Path) -> None:
    page.goto(page.url.split("/p/")[0].rstrip("/") + RISK)
    assert violations(page) == []
    page.get_by_role("button", name="Show the risk").click()
    page.locator(".pictures svg").first.wait_for()
    page.locator("#causes table").first.wait_for()
    page.locator("#diversity table").wait_for()
    assert violations(page) == []
    page.locator("#threshold").select_option("1/20")
    page.get_by_text("At risk above 5 %").wait_for()
    page.locator(".pictures svg").first.wait_for()
    page.locator("#causes table").first.wait_for()
    page.locator("#diversity table").wait_for()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
