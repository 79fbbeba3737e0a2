"""What notebooks show of risks, comparisons, previews and explanations."""

from html import escape
from typing import Any

import shoal
from shoal.look import Zone
from shoal.measure.cards import (
    card_of_assessment,
    card_of_comparison,
    card_of_count_explanation,
    card_of_explanation,
    card_of_preview,
)

loose: Any = shoal


def test_an_assessment_shows_its_verdict_and_its_risks() -> None:
    found = loose.assess(shoal.demo.table(200), rows_are_people=True)
    card = card_of_assessment(found)
    assert card.zone is Zone.OWNER
    at_risk = found.prosecutor.records_at_risk
    assert card.title == f"{at_risk} of 200 records are at risk above 20 %"
    html = card.html()
    for text in ("prosecutor", "marketer", "Conventions", "Sensitive columns"):
        assert text in html, text
    assert escape(found.verdict.line) in html
    assert "journalist" not in html


def test_an_assessment_of_people_counts_people() -> None:
    found = loose.assess(shoal.demo.table(200), person="patient")
    assert card_of_assessment(found).title.startswith(f"{found.prosecutor.records_at_risk} of ")
    assert "people are at risk" in card_of_assessment(found).title


def test_a_comparison_has_both_tables() -> None:
    table = shoal.demo.table(200)
    html = card_of_comparison(loose.compare(table, table, a_is_input=True)).html()
    assert "A, the input" in html
    assert html.count("200") >= 2


def test_a_preview_shows_levels_and_what_is_suppressed() -> None:
    preview = shoal.preview(shoal.demo.table(200), {"age": 2}, models=[shoal.KAnonymity(5)])
    html = card_of_preview(preview).html()
    assert "2 of 5" in html
    assert "groups that fail 5-anonymity" in html


def test_explanations_are_about_parameters_and_may_be_published() -> None:
    for card in (
        card_of_explanation(shoal.explain(1, "1e-6")),
        card_of_count_explanation(shoal.explain_counts(1, "1e-6", 5)),
    ):
        assert card.zone is Zone.RELEASED
        assert "differential privacy" in card.html()


def test_what_is_wrong_with_delta_is_noted() -> None:
    explained = shoal.explain(1, "1e-2", people=1000)
    assert explained.concern is not None
    assert "Note: " in card_of_explanation(explained).html()
