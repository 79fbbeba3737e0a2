"""A forecast says what methods do with made-up tables, and looks at no row of the real one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data import hierarchy
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.methods.method import Method
from shoal.studies import forecasting, made_up
from shoal.studies.forecasting import WAYS, Between, Expectation, Forecast, forecast

TREES = {
    "age": hierarchy.intervals(0, 99, widths=[10, 50]),
    "sex": hierarchy.suppress(["f", "m"]),
    "work": hierarchy.groups({"indoors": ["desk", "shop", "home"], "outdoors": ["farm", "sea"]}),
}


@pytest.fixture(autouse=True)
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two made-up tables by each law will do."""
    monkeypatch.setattr(forecasting, "TABLES", 2)


def counted(epsilon: Any, delta: Any) -> Method:
    """Noisy counts at fixed levels."""
    return shoal.NoisyCounts(epsilon, delta, levels={"age": 1, "sex": 0, "work": 0})


def by_counts(records: int, **given: Any) -> Expectation:
    usual = {"epsilon": 1, "delta": "1e-6", "ways": {"counts": counted}}
    options: dict[str, Any] = usual | given
    [one] = forecast(TREES, records=records, **options).expectations
    return one


def test_every_way_is_forecast_the_best_one_first() -> None:
    expected = forecast(TREES, records=3_000, epsilon=1, delta="1e-6")
    assert {one.way for one in expected.expectations} == set(WAYS)
    middles = [one.information.middle for one in expected.expectations]
    assert middles == sorted(middles, reverse=True)
    for one in expected.expectations:
        assert 0 < one.information.low <= one.information.high <= 1
        assert one.information.high <= one.kept.high <= 1
        assert one.truthful is (one.error is None)
    assert expected.best(truthful=True).truthful
    assert expected.best() == expected.expectations[0]


def test_a_forecast_is_the_same_every_time() -> None:
    once, again = (forecast(TREES, records=2_000, epsilon=1, delta="1e-6") for _ in range(2))
    assert once == again


def people(records: int, seed: int) -> Table:
    """People whose columns do not depend on each other."""
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {name: draw.choice(tree.labels[0], records) for name, tree in TREES.items()},
        schema_overrides=dict.fromkeys(TREES, pl.String),
    )
    return shoal.table(frame, quasi=list(TREES), hierarchies=TREES)


def test_a_forecast_depends_on_the_schema_and_not_on_the_rows() -> None:
    one, other = (people(records, seed).schema for records, seed in ((200, 1), (300, 2)))
    given: Any = {"records": 1_000, "epsilon": 1, "delta": "1e-6"}
    assert forecast(one, **given) == forecast(other, **given)


def test_more_records_or_more_epsilon_keep_more() -> None:
    small, usual, large = (by_counts(records) for records in (300, 3_000, 30_000))
    private = by_counts(3_000, epsilon="0.3")
    for less, more in ((small, usual), (usual, large), (private, usual)):
        assert less.information.low < more.information.low
        assert less.information.high < more.information.high


def test_the_crowd_is_that_of_the_method() -> None:
    method = counted(1, "1e-6")
    schema = forecasting._all_quasi(TREES)
    assert by_counts(3_000).crowd == method.crowd(schema)  # type: ignore[attr-defined]


def test_counts_are_off_by_the_noise_of_their_rows() -> None:
    few, many = (by_counts(records).error for records in (3_000, 300_000))
    assert few is not None
    assert many is not None
    # A hundred times the records in not more than 100 rows, each off by 0.85 on average.
    assert many.high == pytest.approx(0.85 * 100 / 300_000, rel=0.1)
    assert 0.85 * 10 / 3_000 < few.low < few.high < 0.85 / 15
    assert by_counts(3_000, ways={"SafePub": shoal.SafePub}).error is None


def test_a_person_with_several_rows_costs_as_much_as_a_smaller_epsilon() -> None:
    several, each = by_counts(3_000, rows=4), by_counts(3_000)
    assert several.information.low < each.information.low
    assert several.information.high < each.information.high
    promise = forecast(TREES, records=100, epsilon=1, delta="1e-6", rows=4).promise
    assert (promise.unit, str(promise.epsilon)) == ("person", "1")


def test_a_public_table_gives_what_it_keeps_itself() -> None:
    table = people(4_000, 1)
    [expected] = forecast(
        table.schema,
        records=4_000,
        epsilon=1,
        delta="1e-6",
        like=table,
        ways={"SafePub": shoal.SafePub},
    ).expectations
    losses = [shoal.SafePub(1, "1e-6").release(table).facts.loss for _ in range(8)]
    kept = 1 - sum(loss or 0.0 for loss in losses) / len(losses)
    assert expected.information.low == expected.information.high
    assert expected.information.middle == pytest.approx(kept, abs=0.04)


def test_the_hopeful_law_keeps_more() -> None:
    between = by_counts(3_000).information
    assert between.low < between.high


def test_what_cannot_be_forecast_is_refused() -> None:
    given: Any = {"epsilon": 1, "delta": "1e-6"}
    with pytest.raises(ParameterError, match="records"):
        forecast(TREES, records=0, **given)
    schema = Schema(dict.fromkeys(["age", "illness"], Role.QUASI), {}, {"age": TREES["age"]})
    with pytest.raises(HierarchyError, match="'illness'"):
        forecast(schema, records=10, **given)
    noisy = forecast(TREES, records=10, ways={"counts": counted}, **given)
    with pytest.raises(ParameterError, match="true counts"):
        noisy.best(truthful=True)


def test_a_way_that_cannot_release_the_table_says_why() -> None:
    def too_few(epsilon: Any, delta: Any) -> Method:
        return shoal.NoisyCounts(epsilon, delta, k=0)

    def too_high(epsilon: Any, delta: Any) -> Method:
        return shoal.SafePub(epsilon, delta, ceiling={"age": 9})

    given: Any = {"records": 1_000, "epsilon": 1, "delta": "1e-6"}
    wrong = {"too few": too_few, "too high": too_high}
    expected = forecast(TREES, ways={**wrong, "counts": counted}, **given)
    assert [one.way for one in expected.expectations] == ["counts"]
    assert expected.refused.keys() == wrong.keys()
    assert "k=0" in expected.refused["too few"]
    with pytest.raises(ParameterError, match="k=0"):
        forecast(TREES, ways=wrong, **given)


def test_a_forecast_warns_of_a_delta_that_is_too_large() -> None:
    assert forecast(TREES, records=1_000, epsilon=1, delta="1e-6").concern is None
    concern = forecast(TREES, records=1_000, epsilon=1, delta="1e-3").concern
    assert concern is not None
    assert "1/1,000" in concern


def test_a_forecast_of_too_many_records_is_of_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_up, "LARGEST", 5_000)
    expected = forecast(TREES, records=10**12, epsilon=1, delta="1e-15")
    assert (expected.stated, expected.records) == (10**12, 5_000)
    by_like = forecast(TREES, records=9_000, epsilon=1, delta="1e-6", like=people(700, 1))
    assert (by_like.stated, by_like.records) == (9_000, 700)


def test_a_forecast_is_plain_json() -> None:
    expected = forecast(TREES, records=500, epsilon="ln(2)", delta="1e-6")
    plain = json.loads(json.dumps(expected.to_dict()))
    assert plain["forecast"] is True
    assert (plain["records"], plain["columns"]) == (500, [*TREES])
    assert plain["expectations"][0]["information"].keys() == {"low", "high"}


def test_a_range_has_a_middle() -> None:
    assert Between(0.25, 0.75).middle == 0.5


def test_nothing_is_marked_as_owner_only() -> None:
    expected = forecast(TREES, records=500, epsilon=1, delta="1e-6")
    assert isinstance(expected, Forecast)
    assert "owner only" not in repr(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "acs"])
def test_public_tables_keep_about_what_is_forecast(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What docs/reference/benchmarks-kept.md says, and a little more, as releases differ."""
    monkeypatch.setattr(forecasting, "TABLES", 6)
    trees = {
        path.stem: hierarchy.read(path, root="*")
        for path in sorted((shared_data / name / "hierarchies").glob("*.csv"))
    }
    table = shoal.read(shared_data / name / f"{name}.csv", quasi=list(trees), hierarchies=trees)
    expected = forecast(trees, records=table.rows, epsilon=1, delta="1e-6")
    assert {one.way for one in expected.expectations} == set(WAYS)
    for one in expected.expectations:
        method = WAYS[one.way](Epsilon.of(1), "1e-6")
        kept = 1 - (method.release(table).facts.loss or 0.0)
        assert one.information.low - 0.04 < kept < one.information.high + 0.11
