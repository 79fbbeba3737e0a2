"""Which column is refined next: every level once, from the top, the best worth per cost first."""

import numpy as np
import pytest

from shoal.chance import Seeded
from shoal.counts import Counts, group
from shoal.data.hierarchy import groups, suppress
from shoal.exact.epsilon import Epsilon
from shoal.methods.refining.order import (
    Refinable,
    RefiningOrder,
    RefiningStep,
    bought_order,
    public_order,
)

DEEP = groups({"a": ["0", "1"], "b": ["2", "3"]})
FLAT = suppress(["x", "y"])
COLUMNS = Refinable.wholly([DEEP, FLAT])
SURE = Epsilon.of(1000)


def rows(n: list[int], c: list[int]) -> Counts:
    """A table with these numbers of records by leaf, both columns from the first leaf on."""
    codes = [np.repeat(np.arange(len(each)), each).astype(np.uint8) for each in (n, c)]
    return group(["n", "c"], codes, [4, 2])


def columns_of(order: RefiningOrder) -> list[int]:
    return [step.column for step in order.steps]


def test_every_level_comes_once_from_the_top() -> None:
    steps = public_order(COLUMNS).steps
    assert [step.level for step in steps if step.column == 0] == [1, 0]
    assert sorted((step.column, step.level) for step in steps) == [(0, 0), (0, 1), (1, 0)]


def test_floors_and_ceilings_bound_the_steps() -> None:
    bounded = Refinable([DEEP, FLAT], [[2, 1], [0]], [1.0, 1.0])
    assert public_order(bounded).steps == (RefiningStep(0, 2, 1),)
    assert public_order(Refinable([DEEP], [[2]], [1.0])).steps == ()


def test_a_level_may_be_left_out() -> None:
    assert public_order(Refinable([DEEP], [[2, 0]], [1.0])).steps == (RefiningStep(0, 2, 0),)


def test_important_columns_come_first() -> None:
    for important in (0, 1):
        weights = [100.0 if place == important else 1.0 for place in range(2)]
        first = public_order(Refinable([DEEP, FLAT], COLUMNS.levels, weights)).steps[0]
        assert first.column == important


def test_a_column_of_which_nearly_all_have_one_value_is_refined_early() -> None:
    """It costs little: boxes hardly get smaller."""
    skewed = bought_order(rows([997, 1, 1, 1], [500, 500]), COLUMNS, SURE, Seeded(1))
    assert columns_of(skewed) == [0, 0, 1]
    even = bought_order(rows([250] * 4, [999, 1]), COLUMNS, SURE, Seeded(1))
    assert columns_of(even)[0] == 1


def test_nothing_but_noise_leaves_an_order_of_some_records() -> None:
    for seed in range(20):
        order = bought_order(rows([], []), COLUMNS, Epsilon.of("0.1"), Seeded(seed))
        assert len(order.steps) == 3
        assert order.records >= 1


def test_the_number_of_records_is_about_right() -> None:
    found = bought_order(rows([700, 100, 100, 100], [600, 400]), COLUMNS, Epsilon.of(1), Seeded(2))
    assert found.records != 1000
    assert abs(found.records - 1000) < 60  # a scale of 2, one for each column


def test_the_numbers_of_the_order_pay_for_every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = []
    chance = Seeded(1)
    drawn = chance.discrete_laplaces

    def noted(scale: object, size: int) -> object:
        scales.append(scale)
        return drawn(scale, size)  # type: ignore[arg-type]

    monkeypatch.setattr(chance, "discrete_laplaces", noted)
    bought_order(rows([3, 3, 3, 3], [6, 6]), COLUMNS, Epsilon.of(1), chance)
    assert [float(str(scale)) >= 2 for scale in scales] == [True]


def test_boxes_are_refined_less_where_a_release_needs_larger_crowds() -> None:
    order = public_order(COLUMNS, records=10_000)
    thresholds = [order.threshold(crowd, 10) for crowd in (20, 200, 2000)]
    assert thresholds == sorted(thresholds)
    # Each of the three steps leaves more than twice 20 of 10,000 records in four leaves by two.
    assert thresholds[0] == 2 * 20 + (2 - 3) * 10
    assert thresholds[-1] >= 2 * 2000
