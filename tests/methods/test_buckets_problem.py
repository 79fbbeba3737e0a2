"""Counts, the sizes that can be filled from them, and what records lose at least."""

from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import TooLargeError
from shoal.methods.buckets.problem import Least, Problem, fitting, strictest

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def test_what_fits_is_exact_whatever_the_numbers() -> None:
    assert fitting([Fraction("0.29")], [100]).tolist() == [[29]]
    huge = Fraction(10**30 - 1, 10**30)
    assert fitting([huge, HALF], [2, 3]).tolist() == [[1, 2], [1, 1]]


def test_the_strictest_limit_of_a_value_that_occurs_decides() -> None:
    assert strictest(np.array([5, 5]), [HALF, THIRD]) == 3
    assert strictest(np.array([5, 0]), [HALF, THIRD]) == 2


def test_records_lose_at_least_what_their_limit_asks_for() -> None:
    least = Least.of(np.array([4, 2]), [HALF, THIRD])
    # Buckets of 2 lose 1/2 a record, of 3 lose 4/3.
    assert dict(least.parts) == {Fraction(1, 2): 4, Fraction(4, 3): 2}
    # A bucket of 5 loses 16, and spares the two that lose most, and three of the others.
    assert least.with_a_bucket_of(5) == 16 + Fraction(1, 2)


def test_larger_buckets_than_reached_cannot_lose_less() -> None:
    least = Least.of(np.array([40, 20]), [HALF, THIRD])
    reached = least.reach(200)
    assert least.with_a_bucket_of(reached) < 200 <= least.with_a_bucket_of(reached + 1)


def test_problems_beyond_the_arrays_are_refused() -> None:
    counts = np.full(10**5, 10**4)
    with pytest.raises(TooLargeError, match="give a smaller `largest`"):
        Problem.of(counts, [HALF] * 10**5, 10**6)
