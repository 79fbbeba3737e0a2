"""The law of what code does is exact, for every draw there is."""

from fractions import Fraction
from itertools import permutations
from math import exp as float_exp
from typing import Any

import numpy as np
import pytest

from shoal.attack.coins import (
    ONE,
    Enumerated,
    Interval,
    exp,
    flipped,
    law,
    point,
    probabilistic,
    shipped,
    standard,
)
from shoal.chance import Chance

THIRD = Fraction(1, 3)


def exact(weights: dict[Any, Interval]) -> dict[Any, Fraction]:
    return {outcome: weight.exact for outcome, weight in weights.items()}


def test_every_path_is_taken_with_its_probability() -> None:
    def two_draws(chance: Chance) -> tuple[int, int]:
        first = chance.below(2)
        return first, chance.below(first + 1)

    weights = exact(law(two_draws))
    assert weights == {(0, 0): Fraction(1, 2), (1, 0): Fraction(1, 4), (1, 1): Fraction(1, 4)}


def test_orders_and_choices_are_uniform() -> None:
    orders = exact(law(lambda chance: tuple(chance.permutation(3).tolist())))
    assert orders == dict.fromkeys(permutations(range(3)), Fraction(1, 6))
    sizes = np.array([1, 3])
    chosen = exact(law(lambda chance: tuple(chance.choices(sizes, 2).tolist())))
    assert set(chosen.values()) == {THIRD}
    assert all(each[0] and sum(each[1:]) == 2 for each in chosen)


@pytest.mark.parametrize("draw", ["bernoullis_exp", "bernoulli"])
def test_a_draw_that_runs_as_shipped_has_the_law_of_its_branching_point(draw: str) -> None:
    def run(chance: Chance) -> bool:
        if draw == "bernoulli":
            return bool(chance.bernoulli(THIRD, 1)[0])
        return bool(chance.bernoullis_exp([1], Fraction(1, 2))[0])

    kinds = (Enumerated, shipped("bernoullis_exp"))
    one, other = (law(run, kind, Fraction(1, 10**6)) for kind in kinds)
    for outcome, weight in one.items():
        assert abs(float(weight) - float(other[outcome])) < 1e-5


def test_what_is_cut_is_missing_from_the_sum_and_no_more() -> None:
    cut = Fraction(1, 1000)
    weights = law(lambda chance: int(chance.discrete_laplaces(Fraction(2), 1)[0]), cut=cut)
    total = sum(float(weight) for weight in weights.values())
    assert 1 - float(cut) / 10 <= total < 1
    assert float(weights[1]) / float(weights[0]) == pytest.approx(float_exp(-1 / 2))


def test_what_is_not_deterministic_apart_from_its_chance_is_noticed() -> None:
    options = iter([2, 3, 4])
    with pytest.raises(AssertionError, match="deterministic"):
        law(lambda chance: chance.below(next(options)))


def test_powers_of_e_lie_within_their_interval() -> None:
    low = exp(Fraction(-1, 2))
    assert low.high - low.low < Fraction(1, 10**80)
    assert float(low) == pytest.approx(float_exp(-1 / 2))
    assert 1 in exp(Fraction(0))
    product = low * exp(Fraction(1, 2))
    assert 1 in product


def test_permute_and_flip_takes_the_best_more_often_than_its_probability_alone() -> None:
    selected = flipped([ONE, point(THIRD)])
    assert exact(dict(enumerate(selected))) == {0: Fraction(5, 6), 1: Fraction(1, 6)}


def test_two_laws_are_as_far_apart_as_delta_says() -> None:
    one = {"a": point(THIRD), "b": point(1 - THIRD)}
    other = {"b": ONE}
    assert standard(one, other, ONE).exact == THIRD
    assert probabilistic(one, other, ONE).exact == THIRD
    assert standard(other, one, point(2)).exact == 0
