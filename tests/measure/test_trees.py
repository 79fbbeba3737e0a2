"""The tree like C4.5: its splits by hand, its pruning by Quinlan's numbers, its predictions."""

from itertools import product
from math import log2

import numpy as np
import pytest

from shoal.measure import trees
from shoal.measure.trees import C45Tree

# Quinlan's golf: outlook (sunny, overcast, rain), temperature, humidity (high, normal), windy.
GOLF = np.array(
    [
        (0, 0, 0, 0, 0), (0, 0, 0, 1, 0), (1, 0, 0, 0, 1), (2, 1, 0, 0, 1), (2, 2, 1, 0, 1),
        (2, 2, 1, 1, 0), (1, 2, 1, 1, 1), (0, 1, 0, 0, 0), (0, 2, 1, 0, 1), (2, 1, 1, 0, 1),
        (0, 1, 1, 1, 1), (1, 1, 0, 1, 1), (1, 0, 1, 0, 1), (2, 1, 0, 1, 0),
    ]
)  # fmt: skip


def fitted(rows: np.ndarray, weight: int = 1) -> C45Tree:
    weights = np.full(len(rows), weight, dtype=np.int64)
    return C45Tree.fitted(rows[:, :-1], rows[:, -1], weights)


def test_golf_is_split_as_quinlan_splits_it() -> None:
    tree = fitted(GOLF)
    assert tree.feature[0] == 0  # outlook
    below = {int(key % tree.span): int(child) for key, child in
             zip(tree.keys, tree.children, strict=True) if key < tree.span}  # fmt: skip
    assert [int(tree.feature[below[value]]) for value in (0, 1, 2)] == [2, -1, 3]
    assert (tree.predict(GOLF[:, :-1]) == GOLF[:, -1]).all()


def test_the_gain_of_outlook_is_that_of_the_book() -> None:
    growth = trees._Growth(GOLF[:, :-1], GOLF[:, -1], np.ones(14))
    records = np.array([14.0])
    before = trees._information(growth.counts[0])
    assert before[0] / 14 == pytest.approx(0.940, abs=5e-4)
    gain, split = growth._gain(0, before, records)
    assert (gain[0], split[0]) == (pytest.approx(0.247, abs=5e-4), pytest.approx(1.577, abs=5e-4))
    assert split[0] == pytest.approx(-2 * 5 / 14 * log2(5 / 14) - 4 / 14 * log2(4 / 14))


def test_pessimistic_errors_are_those_of_the_book() -> None:
    """U.25(0, 6) = .206, U.25(0, 9) = .143, U.25(0, 1) = .750 (Quinlan 1993, chapter 4)."""
    records = np.array([6.0, 9.0, 1.0])
    share = trees._further_errors(records, np.zeros(3)) / records
    assert share == pytest.approx([0.206, 0.143, 0.750], abs=1e-3)
    one = trees._further_errors(np.array([16.0]), np.ones(1))
    assert (1 + one[0]) / 16 == pytest.approx(0.157, abs=0.01)


def test_a_row_counts_as_often_as_it_weighs() -> None:
    often = np.repeat(GOLF, 3, axis=0)
    one, other = fitted(often), fitted(GOLF, 3)
    assert (one.feature == other.feature).all()
    every = np.array(list(product(range(3), range(3), range(2), range(2))))
    assert (one.predict(every) == other.predict(every)).all()


def test_a_column_of_noise_is_pruned_away() -> None:
    chance = np.random.default_rng(0)
    noise = chance.integers(0, 8, (600, 3))
    rows = np.column_stack((noise, chance.random(600) < 0.2)).astype(np.int64)
    assert fitted(rows).feature[0] == -1


def test_without_pruning_noise_would_be_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_further_errors", lambda records, errors: np.zeros_like(errors))
    monkeypatch.setattr(trees, "SPARE_ERRORS", -1e9)
    with pytest.raises(AssertionError):
        test_a_column_of_noise_is_pruned_away()


def test_a_value_that_was_never_seen_gets_the_majority_of_its_node() -> None:
    tree = fitted(GOLF)
    assert tree.predict(np.array([[7, 0, 0, 0], [0, 0, 9, 0], [2, 9, 9, 1]])).tolist() == [1, 0, 0]


def test_two_columns_that_only_together_tell_the_class_are_not_found() -> None:
    """As C4.5: neither alone gains anything."""
    rows = np.array([(a, b, a ^ b) for a, b in product((0, 1), repeat=2)] * 10)
    assert fitted(rows).feature[0] == -1


def test_one_row_and_one_class_give_a_leaf() -> None:
    assert fitted(GOLF[:1]).predict(GOLF[:, :-1]).tolist() == [0] * 14
    assert fitted(GOLF[GOLF[:, -1] == 1]).feature.tolist() == [-1]
