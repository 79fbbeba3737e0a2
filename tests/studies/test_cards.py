"""What notebooks show of judgements, compared releases and forecasts."""

from typing import Any

import pytest

import shoal
from shoal.look import Zone
from shoal.studies.cards import card_of_forecast, card_of_judgement, card_of_releases

loose: Any = shoal


@pytest.fixture(scope="module")
def table() -> shoal.Table:
    return shoal.demo.table(300)


def test_a_judgement_shows_what_is_kept_and_lost_and_no_value(table: shoal.Table) -> None:
    release = loose.Optimal(["5-anonymity"]).release(table)
    judgement = loose.judge(table, release, queries=5)
    card = card_of_judgement(judgement)
    assert card.zone is Zone.OWNER
    assert card.title.startswith(f"{judgement.kept} of 300 records are kept")
    html = card.html()
    assert "granularity" in html
    assert "median error of count queries" in html
    values = [value.value for column in judgement.columns for value in column.values]
    long = [value for value in values if len(value) > 4]
    assert long
    assert not [value for value in long if f">{value}<" in html]


def test_compared_releases_show_which_ones_no_other_beats(table: shoal.Table) -> None:
    releases = {f"k {k}": loose.Optimal([f"{k}-anonymity"]).release(table) for k in (2, 20)}
    card = card_of_releases(shoal.compare(table, releases))
    assert card.zone is Zone.OWNER
    assert card.title == "No other beats 'k 2', 'k 20'"
    assert "2-anonymity" in card.html()


def test_a_forecast_shows_every_way_and_is_not_a_promise() -> None:
    trees = {"age": shoal.hierarchy.intervals(0, 99, widths=[10])}
    forecast = shoal.forecast(trees, records=500, epsilon=1, delta="1e-6")
    card = card_of_forecast(forecast)
    assert card.zone is Zone.RELEASED
    html = card.html()
    assert "A forecast, not a promise: by made-up tables of 500 records." in html
    assert all(one.way in html for one in forecast.expectations)
