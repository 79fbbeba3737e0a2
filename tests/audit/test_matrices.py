"""Matrices, rounding and reach: upper bounds in floats are never below the exact numbers."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit.matrices import Floats, on_grid, reach, round_down
from tests.audit.exact import growing, inverse, rank, times

SEEDS = st.integers(0, 2**32 - 1)


def pseudo_inverse_squared(a: Floats) -> Fraction:
    """A number that the squared norm of the pseudo-inverse is not below, and hardly above."""
    exact = inverse([[int(each) for each in row] for row in a @ a.T])
    assert exact is not None
    floats = np.array([[float(each) for each in row] for row in exact])
    vector = np.linalg.eigh(floats)[1][:, -1]
    whole = [round(float(each) * 2**30) for each in vector]
    return Fraction(times([times(exact, whole)], whole)[0], sum(each * each for each in whole))


@given(st.fractions(-1000, 1000))
def test_numbers_are_rounded_down_and_by_no_more_than_needed(number: Fraction) -> None:
    below = round_down(number)
    assert Fraction(below) <= number < Fraction(float(np.nextafter(below, np.inf)))


def test_numbers_on_the_grid_are_the_nearest_multiples() -> None:
    assert on_grid(np.array([0.3, -0.3, 1.1]), 0.25).tolist() == [0.25, -0.25, 1.0]


def below(bound: float | None, a: Floats) -> bool:
    """Whether a bound is below the norm of the pseudo-inverse."""
    return bound is not None and Fraction(bound) ** 2 < pseudo_inverse_squared(a)


@pytest.mark.parametrize("n", [1, 3, 10, 18, 26, 30, 34, 36, 38, 40, 42])
def test_the_reach_is_never_below_the_norm_of_the_inverse_however_close_to_singular(n: int) -> None:
    bound = reach(growing(n))
    assert not below(bound, growing(n))
    # with 30 rows or more, a product with the inverse may be rounded by more than 1
    assert (bound is None) == (n >= 30)


@given(SEEDS)
@settings(max_examples=50)
def test_the_reach_is_never_below_the_norm_of_the_inverse_and_dependent_rows_have_none(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    a = rng.integers(0, 2, (m, int(rng.integers(m, m + 3)))).astype(float)
    bound = reach(a)
    assert (bound is None) == (rank(a.astype(int).tolist()) < m)
    assert not below(bound, a)


def test_rows_that_add_up_to_another_have_no_reach() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        a = rng.integers(0, 2, (6, 12)).astype(float)
        a[1] = np.where(a[0] == 1, 0.0, a[1])
        assert reach(np.vstack([a, a[0] + a[1]])) is None


@pytest.mark.parametrize("share", [0.1, 0.7, 0.8, 0.9, 0.99, 1.3])
def test_an_inverse_that_is_wrong_is_made_up_for_or_not_used(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    real = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: share * real(matrix))
    for a in (
        np.ones((1, 4)),
        np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]),
        growing(2),
        growing(4),
    ):
        bound = reach(a)
        assert not below(bound, a)
        assert (bound is None) == (abs(1 - share) * len(a) ** 0.5 > 0.5)
