"""Which column is refined next: every level once, from the top, the best worth per cost first."""

import numpy as np
import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import groups, suppress
from shoal.exact.epsilon import Epsilon
from shoal.methods.refining.order import RefiningStep, bought_order, marginals, public_order

DEEP = groups({"a": ["0", "1"], "b": ["2", "3"]})
FLAT = suppress(["x", "y"])


def test_every_level_comes_once_from_the_top() -> None:
    steps = public_order([DEEP, FLAT], [0, 0], [2, 1])
    of_deep = [step.level for step in steps if step.column == 0]
    assert of_deep == [1, 0]
    assert sorted((step.column, step.level) for step in steps) == [(0, 0), (0, 1), (1, 0)]


def test_floors_and_ceilings_bound_the_steps() -> None:
    assert public_order([DEEP, FLAT], [1, 0], [2, 0]) == (RefiningStep(0, 1),)
    assert public_order([DEEP], [2], [2]) == ()


def test_important_columns_come_first() -> None:
    for important in (0, 1):
        weights = [100.0 if place == important else 1.0 for place in range(2)]
        first = public_order([DEEP, FLAT], [0, 0], [2, 1], weights)[0]
        assert first.column == important


def test_a_column_of_which_nearly_all_have_one_value_is_refined_early() -> None:
    """It costs little: boxes hardly get smaller."""
    skewed, even = np.array([997.0, 1, 1, 1]), np.array([500.0, 500.0])
    steps = bought_order([DEEP, FLAT], [skewed, even], [0, 0], [2, 1])
    assert [step.column for step in steps] == [0, 0, 1]
    reverse = bought_order([DEEP, FLAT], [np.full(4, 250.0), np.array([999.0, 1])], [0, 0], [2, 1])
    assert reverse[0].column == 1


def test_numbers_that_are_all_noise_leave_the_public_order() -> None:
    nothing = [np.full(4, -3.0), np.full(2, -1.0)]
    bought = bought_order([DEEP, FLAT], nothing, [0, 0], [2, 1])
    assert bought == public_order([DEEP, FLAT], [0, 0], [2, 1])


def test_marginals_are_those_of_the_rows_with_noise_for_every_column() -> None:
    frame = pl.DataFrame({"n": ["0", "0", "3"] * 1000, "c": ["x", "y", "y"] * 1000})
    trees = {"n": DEEP, "c": FLAT}
    rows = shoal.table(frame, quasi=["n", "c"], hierarchies=trees).count(["n", "c"])
    found = marginals(rows, [DEEP, FLAT], Epsilon.of("1"), Seeded(1))
    for numbers, true in zip(found, ([2000, 0, 0, 1000], [1000, 2000]), strict=True):
        assert numbers.tolist() != [float(each) for each in true]
        assert np.abs(numbers - true).max() < 60  # a scale of 2, one for each column
