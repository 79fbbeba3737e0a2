"""What notebooks show of experiments."""

from dataclasses import replace

from shoal import experiments
from shoal.experiments.cards import card_of_result
from shoal.look import Zone


def test_an_experiment_shows_its_tables_beside_what_the_paper_shows() -> None:
    result = experiments.run("safepub-parameters")
    card = card_of_result(result)
    assert card.zone is Zone.RELEASED
    html = card.html()
    assert "In the paper: " in html
    assert all(panel.title in html for panel in result.panels)


def test_results_about_a_given_table_are_the_owners() -> None:
    result = replace(experiments.run("safepub-parameters"), data="a register")
    assert card_of_result(result).zone is Zone.OWNER
