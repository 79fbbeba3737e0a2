"""The evaluation of Wang and others, in small."""

import polars as pl
import pytest

import shoal
from shoal import experiments
from shoal.errors import ParameterError
from shoal.experiments.wang import SHAPES, PaperTable, made
from tests.measure.test_bucket_errors import people


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_values_add_up_and_the_first_and_last_are_the_extremes(shape: PaperTable) -> None:
    counts = shape.counts(300_000)
    assert counts.sum() == 300_000
    assert counts.max() == counts[0]
    assert counts.min() == counts[-1]


def test_shares_are_those_that_the_paper_states() -> None:
    occupations, education = (shape.counts(300_000) for shape in SHAPES)
    assert (len(occupations), occupations[0], occupations[-1]) == (50, 22_500, 540)
    assert (len(education), education[0], education[-1]) == (14, 81_900, 1_320)


def test_a_dependent_column_goes_with_another_and_an_independent_one_does_not() -> None:
    for dependent in (False, True):
        frame = made(SHAPES[0], 5000, dependent, 1).frame.to_native()
        correlation = frame.select(pl.corr("age", "occupation")).item()
        assert (abs(correlation) > 0.5) == dependent


def test_l_diversity_is_possible_at_the_loosest_limits_of_occupations_alone() -> None:
    result = experiments.run("wang-diversity")
    kept = [row[:2] for row in result.panels[0].rows if int(str(row[2])) <= int(str(row[3]))]
    assert kept == [("OCC", 32)]


def test_a_given_table_is_asked_and_its_figures_are_owner_only() -> None:
    result = experiments.run("wang-queries", data=people(True, 600), data_name="people")
    assert result.notice
    assert {row[0] for row in result.panels[0].rows} == {"illness"}
    assert "illness" in result.findings.found
    assert experiments.run("wang-loss", data=people(True, 600)).panels[0].rows


def test_a_given_table_without_just_one_sensitive_column_is_refused() -> None:
    table = shoal.table(pl.DataFrame({"town": ["a", "b"]}), quasi=["town"])
    with pytest.raises(ParameterError, match="0 sensitive columns; give a recipe with just one"):
        experiments.run("wang-loss", data=table)
