"""Filling buckets: all records find a place wherever they can, and else it is said who cannot."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from shoal.methods.buckets.flows import fill

Ints = npt.NDArray[np.int64]


def cases(number: int, seed: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Records of a few values, buckets of a few sizes with room for all, and what is allowed."""
    draw = np.random.default_rng(seed)
    for _ in range(number):
        values, sizes = draw.integers(1, 6, 2)
        counts = draw.integers(0, 7, values)
        room = draw.multinomial(counts.sum(), [1 / sizes] * sizes)
        yield counts, room, draw.integers(0, 5, (values, sizes))


def possible(counts: Ints, room: Ints, upper: Ints) -> bool:
    """Whether every set of values has enough places, over all sets."""
    for chosen in product([False, True], repeat=len(counts)):
        kinds = np.array(chosen)
        places = np.minimum(room, upper[kinds].sum(axis=0)).sum()
        if counts[kinds].sum() > places:
            return False
    return True


def test_records_are_placed_if_and_only_if_every_set_of_values_has_enough_places() -> None:
    answers = set()
    for counts, room, upper in cases(600, seed=1):
        filling = fill(counts, room, upper)
        assert (filling.crowded is None) == possible(counts, room, upper)
        assert (filling.held <= upper).all()
        assert (filling.held >= 0).all()
        if filling.crowded is None:
            assert np.array_equal(filling.held.sum(axis=1), counts)
            assert np.array_equal(filling.held.sum(axis=0), room)
        answers.add(filling.crowded is None)
    assert answers == {False, True}


def test_crowded_values_have_more_records_than_places() -> None:
    crowds = 0
    for counts, room, upper in cases(600, seed=2):
        crowded = fill(counts, room, upper).crowded
        if crowded is not None:
            places = np.minimum(room, upper[crowded].sum(axis=0)).sum()
            assert counts[crowded].sum() > places
            crowds += 1
    assert crowds > 100
