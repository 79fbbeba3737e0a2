"""The evaluation of SafePub, in small: its figures are those of the library, and say what is so."""

from collections.abc import Callable
from typing import Any

import pytest

from shoal import demo, experiments
from shoal.experiments import Result
from shoal.privacy import safepub_parameters


def rows(result: Result, panel: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = result.panels[panel].to_dict()["rows"]
    return found


def test_k_and_beta_are_those_of_the_library() -> None:
    result = experiments.run("safepub-parameters")
    for row in rows(result):
        found = safepub_parameters(str(row["epsilon"]), row["delta"], "probabilistic")
        assert row["k"] == found.k
    assert {row["epsilon"] for row in rows(result, 2)} == {"0.1", "0.5", "1", "2"}


def test_larger_factors_are_exceeded_with_the_chances_of_the_papers_table_1() -> None:
    found = {
        (row["delta"], row["epsilon"]): row["exceeded with"]
        for row in rows(experiments.run("safepub-smoothness"))
    }
    assert found["1e-6", 2.0] == pytest.approx(1.530e-11, rel=1e-3)
    assert found["1e-5", 2.0] == pytest.approx(1.593e-9, rel=1e-3)


def test_at_high_generalisation_nearly_all_drawn_records_are_kept() -> None:
    for row in rows(experiments.run("safepub-kept"), 2):
        if row["parameters"] == "paper" and row["epsilon"] >= 0.5:
            beta = safepub_parameters(str(row["epsilon"]), "1e-5").beta
            assert row["records kept"] == pytest.approx(float(beta), abs=0.03)


def test_the_search_is_close_to_the_best_levels_by_every_model() -> None:
    lost = {(row["model"], row["release"]): row["lost"]
            for row in rows(experiments.run("safepub-baselines"))}  # fmt: skip
    for model in ("granularity", "intensity", "entropy", "discernibility"):
        best, chosen = lost[model, "SafePub, best levels"], lost[model, "SafePub"]
        assert best <= chosen + 1e-9 < best + 0.05
        assert lost[model, "sampling"] == pytest.approx(0.41, abs=0.02)


def test_one_choice_among_all_nodes_is_better_than_a_walk_that_is_paid_for() -> None:
    panels = [
        panel
        for panel in experiments.run("safepub-steps").panels
        if panel.title.endswith("epsilon of the search 0.1")
    ]
    assert len(panels) == 2
    for panel in panels:
        scores = {(search, steps): score for search, steps, score in panel.rows}
        chosen, walked = scores["Shoal's", 0], scores["paper's, paid for", 100]
        assert isinstance(chosen, float)
        assert isinstance(walked, float)
        assert chosen > walked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("safepub-accuracy", lambda row: row["relative accuracy"] > 0.5),
        ("safepub-accuracy-steps", lambda row: row["relative accuracy"] > 0.3),
        ("safepub-competitors", lambda row: row["relative accuracy"] > 0.4),
        ("safepub-scores", lambda row: 0 <= row["share of nodes"] <= 1),
    ],
)
def test_the_other_experiments_run(name: str, check: Callable[[dict[str, Any]], bool]) -> None:
    assert all(check(row) for row in rows(experiments.run(name)))


def test_a_given_table_is_looked_at_and_its_figures_are_owner_only() -> None:
    table = demo.table(rows=2_000)
    result = experiments.run("safepub-kept", data=table, data_name="hospital")
    assert result.to_dict()["not_for_release"]
    assert result.notice
