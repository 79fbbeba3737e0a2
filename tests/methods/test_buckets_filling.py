"""Dealing values to buckets, mixing what they hold, and fakes: by their laws."""

from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations
from math import factorial, prod
from typing import Any

import numpy as np
import pytest

from shoal.attack.coins import law
from shoal.chance import Chance, Seeded
from shoal.errors import InfeasibleError
from shoal.methods.buckets import filling
from shoal.methods.buckets.filling import fakes, mixed, with_room
from shoal.methods.buckets.hiding import Hiding
from shoal.methods.buckets.settings import Setting


def uniform(values: int, number: int = 0) -> Hiding:
    return Hiding(number, (1,) * values, (Fraction(1),) * values)


@pytest.mark.parametrize("most", [[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1], [3, 2, 2, 1, 1, 1]])
def test_mixed_buckets_hold_what_they_held_and_keep_to_the_most(most: list[int]) -> None:
    """Buckets of two sizes, of which the larger may hold every value once more."""
    limits = np.stack([most, np.array(most) + 1], axis=1)
    for seed in range(30):
        bags = [np.tile(np.repeat(np.arange(6), most), (4, 1)) for _ in range(2)]
        bags[1] = np.concatenate([bags[1], np.tile(np.arange(6), (4, 1))], axis=1)
        after = mixed(bags, limits, uniform(6), Seeded(seed))
        assert [bag.shape for bag in after] == [bag.shape for bag in bags]
        whole, held = (np.concatenate([bag.ravel() for bag in some]) for some in (bags, after))
        assert np.array_equal(np.sort(held), np.sort(whole))
        for j, bag in enumerate(after):
            assert all((np.bincount(one, minlength=6) <= limits[:, j]).all() for one in bag)


def test_mixing_two_buckets_makes_every_split_equally_likely() -> None:
    def run(chance: Any) -> Hashable:
        (after,) = mixed(
            [np.array([[0, 1], [2, 3]])],
            np.ones((4, 1), dtype=np.int64),
            uniform(4),
            chance,
            rounds=1,
        )
        return tuple(map(tuple, np.sort(after, axis=1).tolist()))

    assert {weight.exact for weight in law(run).values()} == {Fraction(1, 6)}
    assert len(law(run)) == 6


Bags = tuple[tuple[int, ...], ...]


def weight_of(bags: Bags, hiding: Hiding) -> Fraction:
    """By the definition: ∏ 1/c! of what buckets hold, and of each the sum over all sets of fakes of
    their weights.
    """
    total = Fraction(1)
    for bag in bags:
        for often in Counter(bag).values():
            total /= factorial(often)
        left = [weight for value, weight in enumerate(hiding.weights) if value not in bag]
        total *= sum(prod(some) for some in combinations(left, hiding.number))
    return total


MIXED = [
    ([[[0, 1], [0, 2]]], [[1], [1], [1], [1]], (3, 1, 2, 5), 1),
    ([[[0, 0, 1], [0, 2, 3]]], [[2], [1], [1], [1]], (3, 1, 2, 5), 1),
    ([[[0, 0, 0, 1], [0, 1, 1, 2]]], [[3], [3], [3], [3]], (3, 1, 2, 5), 1),
    ([[[0, 1]], [[0, 0, 2]]], [[1, 2], [1, 2], [1, 1], [1, 1], [1, 1]], (3, 1, 2, 5, 4), 2),
]


def stays(bags: Any, most: Any, weights: tuple[int, ...], number: int) -> bool:
    """Whether one round of trades, followed along every path, leaves the law of bags and fakes as
    it is.
    """
    hiding = Hiding(number, weights, (Fraction(1),) * len(weights))
    shapes = [np.array(bag).shape for bag in bags]

    def arrays(state: Bags) -> list[Any]:
        rest = [list(bag) for bag in state]
        return [np.array([rest.pop(0) for _ in range(shape[0])]) for shape in shapes]

    def step(state: Bags) -> dict[Bags, Any]:
        def run(chance: Any) -> Bags:
            after = mixed(arrays(state), np.array(most), hiding, chance, rounds=1)
            return tuple(tuple(sorted(bag)) for some in after for bag in some.tolist())

        return law(run)

    seen: dict[Bags, dict[Bags, Any]] = {}
    waiting = [tuple(tuple(sorted(bag)) for some in bags for bag in some)]
    while waiting:
        state = waiting.pop()
        if state not in seen:
            seen[state] = step(state)
            waiting += seen[state]
    assert len(seen) > 1
    into: Counter[Bags] = Counter()
    for state, after in seen.items():
        for other, weight in after.items():
            into[other] += weight_of(state, hiding) * weight.exact
    return all(
        abs(into[state] / weight_of(state, hiding) - 1) < Fraction(1, 10**12) for state in seen
    )


@pytest.mark.parametrize(("bags", "most", "weights", "number"), MIXED)
def test_trades_leave_the_law_of_bags_and_fakes_unchanged(
    bags: Any, most: Any, weights: tuple[int, ...], number: int
) -> None:
    assert stays(bags, most, weights, number)


def test_twins_of_trades_that_are_always_accepted_or_forget_a_factor_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(filling._Trade, "ways", lambda self, first: [1] * self.pairs)
        assert not stays(*MIXED[2])
    monkeypatch.setattr(
        filling._Room, "left", lambda self, flat, kind, size: np.ones(len(kind), dtype=np.int64)
    )
    assert not stays(*MIXED[1])


def test_sets_of_fakes_are_drawn_in_proportion_to_the_products_of_their_weights() -> None:
    found = law(lambda chance: tuple(fakes(np.array([[0]]), [5, 1, 2, 3], 2, chance)[0].tolist()))
    sets: Counter[frozenset[int]] = Counter()
    for some, weight in found.items():
        sets[frozenset(some)] += weight.exact  # type: ignore[assignment]
    assert sets == {
        frozenset({1, 2}): Fraction(2, 11),
        frozenset({1, 3}): Fraction(3, 11),
        frozenset({2, 3}): Fraction(6, 11),
    }


def test_avoided_values_become_fakes_only_when_no_others_are_left() -> None:
    avoided = np.array([[False, True, False, True]])
    found = law(
        lambda chance: tuple(fakes(np.array([[0]]), [5, 1, 2, 3], 2, chance, avoided)[0].tolist())
    )
    assert {fake[0] for fake in found} == {2}
    assert {fake[1]: weight.exact for fake, weight in found.items()} == {
        1: Fraction(1, 4),
        3: Fraction(3, 4),
    }


def test_too_few_values_for_fakes_are_refused_before_anything_is_drawn() -> None:
    with pytest.raises(InfeasibleError, match="fewer than 1 value to be fakes"):
        fakes(np.array([[0, 1]]), [3, 3], 1, Chance())


def test_buckets_that_hold_values_twice_leave_more_to_be_fakes() -> None:
    """Three values and buckets of three: with one fake a bucket may hold two different ones, and so
    one of them twice.
    """
    most = np.array([[2], [2], [2]])
    setting = Setting((3,), (4,), np.array([[4], [4], [4]]))
    for bag in with_room(setting, most, 1)[0].tolist():
        assert len(set(bag)) == 2
    with pytest.raises(InfeasibleError, match="take fewer fakes"):
        with_room(setting, np.array([[1], [2], [2]]), 2)
