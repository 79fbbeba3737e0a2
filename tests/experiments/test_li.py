"""The evaluation of Li and Li on small ratings."""

import polars as pl
import pytest

import shoal
from shoal import experiments
from shoal.errors import InputError, ParameterError
from shoal.experiments import li
from shoal.experiments.ratings import draw


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(li, "PEOPLE", 10_000)
    monkeypatch.setattr(li, "EPSILONS", ("ln(5)", "ln(10)"))
    monkeypatch.setattr(li, "DELTAS", ("1e-3",))
    monkeypatch.setattr(li, "SCHEMAS", {(5,): 2, (5, 10): 4})


def test_noise_is_that_of_the_errata() -> None:
    *curves, starts = experiments.run("li-noise").panels
    likely = {row[:3]: row[5] for row in starts.rows}
    assert likely["1", "1e-5", 10] == 32
    assert [likely["ln(5)", delta, 10] for delta in ("1e-3", "1e-5", "1e-7")] == [18, 24, 30]
    assert [likely["ln(5)", "1e-5", k] for k in (3, 20)] == [17, 34]
    for panel in curves:
        levels = [row[-1] for row in panel.rows]
        assert all(isinstance(level, float) and 0 < level <= 1 for level in levels)


@pytest.mark.usefixtures("small")
def test_drawn_noise_is_near_that_of_the_law() -> None:
    (panel,) = experiments.run("li-users", quick=False).panels
    assert len({row[0] for row in panel.rows}) == 3
    often = [row for row in panel.rows if isinstance(row[2], int) and row[2] >= 20]
    assert often
    for _, _, _, drawn, expected in often:
        assert drawn == pytest.approx(expected, abs=0.2)


@pytest.mark.usefixtures("small")
def test_columns_are_compared_with_whole_records_and_the_input() -> None:
    schemas, by_epsilon, by_delta, bought = experiments.run("li-columns").panels
    assert [row[2] for row in schemas.rows] == [2, 4]
    assert [row[0] for row in bought.rows] == ["schema 1"]
    learnt_from = {"item means of the input", "item means and habits", "input", "whole records"}
    learnt_from |= {"schema 1", "schema 2"}
    assert {row[0] for row in by_epsilon.rows} == learnt_from
    assert {row[0] for row in by_delta.rows} == learnt_from


@pytest.mark.usefixtures("small")
def test_given_ratings_are_looked_at() -> None:
    frame = draw(1500, 30, 9000, seed=5).frame()
    result = experiments.run("li-counts", data=shoal.table(frame), data_name="mine")
    assert result.notice
    assert [panel.title for panel in result.panels][-1] == "500 items, k = 10"
    errors = [row[-1] for panel in result.panels for row in panel.rows]
    assert all(error is None or 0.5 < error < 2 for error in errors)  # type: ignore[operator]


def test_too_few_ratings_are_refused() -> None:
    one = pl.DataFrame({"who": [1], "what": [1], "how": [3]})
    with pytest.raises(InputError, match="too few ratings"):
        experiments.run("li-counts", data=shoal.table(one))
    with pytest.raises(ParameterError, match="does not look at data"):
        experiments.run("li-noise", data=shoal.table(one))
