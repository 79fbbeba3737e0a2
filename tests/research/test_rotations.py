"""Algorithm 4.5 as printed: in every reading, someone's value is more certain than promised."""

from collections import Counter
from math import log2

import pytest

from shoal.methods.disclosure.spaces import Predicate, Space, States
from shoal.research import Rotations, is_conservative, is_weakly_optimal
from shoal.research.rotations import entropies

PAIRS = [[[0, 1], [2, 3], [4, 5]], [[0, 1, 2, 3, 4, 5]]]
UNEVEN = [[[0, 1], [2, 3, 4, 5]], [[0, 1, 2, 3, 4, 5]]]


@pytest.mark.parametrize("reading", ["every", "some"])
def test_rotations_instead_of_permutations_lose_a_fifth_of_a_bit(reading: str) -> None:
    algorithm = Rotations("aabbcc", PAIRS, 2, reading)  # type: ignore[arg-type]
    assert Counter(algorithm.function().values()) == {1: 24, 2: 66}
    assert algorithm.least_entropy() == pytest.approx(0.8113, abs=1e-4)
    assert algorithm.least_entropy() < log2(2)


def test_line_13_as_printed_reveals_who_has_the_frequent_value() -> None:
    algorithm = Rotations("aabcde", UNEVEN, 2)
    assert Counter(algorithm.function().values()) == {1: 336, 2: 24}
    # all is shown in one group only if 0 and 1 have the same value, which is then a
    assert algorithm.chosen("aabcde") == 2
    assert algorithm.least_entropy() == 0


def test_where_no_grouping_is_diverse_nothing_is_shown() -> None:
    assert Rotations("aaab", [[[0, 1], [2, 3]]], 2).chosen("aaab") == 2


def half(states: States) -> bool:
    return min(entropies(states)) >= 1


def test_a_conservative_approximation_lets_nothing_pass_that_the_predicate_does_not() -> None:
    space = Space.of_groups("aabb", [[0, 1], [2, 3]], [[0, 1, 2, 3]])
    assert is_conservative(lambda states: len(states) > 3 and half(states), half, space)
    assert not is_conservative(lambda states: len(states) > 3, half, space)


def test_a_function_is_weakly_optimal_if_nothing_better_is_safe_by_the_approximation() -> None:
    space = Space.of_groups("aabb", [[0, 1], [2, 3]], [[0, 1, 2, 3]])
    first_safe = Rotations("aabb", [[[0, 1], [2, 3]], [[0, 1, 2, 3]]], 2).function()
    strict = Predicate(lambda states: len(states) > 3 and half(states))
    assert is_weakly_optimal(space, first_safe, Predicate(half), strict)
    nothing = dict.fromkeys(space.states, 3)
    assert not is_weakly_optimal(space, nothing, Predicate(half), Predicate(half))
    telling = dict.fromkeys(space.states, 1)  # shows who has twice the same
    assert not is_weakly_optimal(space, telling, Predicate(half), Predicate(half))
