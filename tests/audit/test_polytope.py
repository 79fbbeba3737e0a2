"""Constraints on sums: whom they link, what follows from them, and whom they leave undetermined.

The projector is replaced by lies here, and what is concluded all the same is judged by exact ranks.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.audit.polytope as polytope
from shoal.audit.cells import Constraint
from shoal.audit.matrices import Floats
from shoal.audit.model import crowd
from shoal.audit.polytope import Box, combination, extremes, free, linked
from tests.audit.exact import growing, indicators, rank

SEEDS = st.integers(0, 2**32 - 1)


# Bounds and widths


@given(st.fractions(Fraction(1, 50), 1), st.fractions(1, 1000))
def test_widths_inside_are_no_less_than_asked_and_bounds_no_wider_than_public(
    width: Fraction, span: Fraction
) -> None:
    third = Fraction(1, 3)
    box = Box([Fraction(0), third], [span, span + third], [width, third])
    assert Fraction(float(box.need[0])) * box.scale >= width
    assert Fraction(float(box.need[1])) * box.scale > third
    assert all(Fraction(float(each)) * box.scale <= span for each in box.span)


@pytest.mark.parametrize(("low", "high"), [("0", "10"), ("-7/3", "1/3"), ("1000000", "1000005")])
def test_numbers_are_rounded_to_the_safe_side(low: str, high: str) -> None:
    least, most = Fraction(low), Fraction(high)
    box = Box([least] * 3, [most] * 3, [Fraction(1)] * 3)
    assert all(Fraction(float(each)) * box.scale <= most - least for each in box.span)
    assert all(Fraction(float(each)) * box.scale >= 1 for each in box.need)
    inside = float(box.inside(0b101, Fraction(22, 7)))
    exact = Fraction(inside) * box.scale + 2 * least
    assert box.outside(0b101, inside, True) >= exact
    assert box.outside(0b101, inside, False) <= exact


# What follows from constraints


def test_constraints_that_say_nothing_of_the_people_asked_about_are_left_out() -> None:
    sets = (0b000011, 0b110000, 0b000110, 0b001100)
    first, apart, second, third = (Constraint(people, "=", 5) for people in sets)
    assert linked([first, apart, second, third], 0b001000) == ((first, second, third), 0b001111)
    assert linked([first, apart], 0b001000) == ((), 0b001000)


@pytest.mark.parametrize(
    ("sets", "people", "shares"),
    [
        ((0b0011, 0b1100), 0b1111, (1, 1)),
        ((0b1111, 0b0011), 0b1100, (1, -1)),
        ((0b011, 0b110, 0b101), 0b111, (Fraction(1, 2),) * 3),
        ((0b0111, 0b1110), 0b1001, None),
        ((), 0b1, None),
    ],
)
def test_a_combination_is_found_exactly(
    sets: tuple[int, ...], people: int, shares: tuple[Fraction, ...] | None
) -> None:
    assert combination([Constraint(each, "=", 1) for each in sets], people) == shares


@pytest.mark.parametrize(
    ("constraints", "ends"),
    [
        ([], [(0, 10), (0, 20)]),
        ([Constraint(0b011, "=", 4)], [(0, 4), (4, 4)]),
        ([Constraint(0b011, "<=", 4), Constraint(0b001, ">=", 1)], [(1, 4), (1, 4)]),
        ([Constraint(0b011, ">=", 21)], None),
    ],
)
def test_a_solver_finds_how_far_sums_can_go(
    constraints: list[Constraint], ends: list[tuple[int, int]] | None
) -> None:
    pytest.importorskip("highspy")
    assert extremes([0.0] * 3, [10.0] * 3, constraints, [0b001, 0b011]) == ends


def test_without_bounds_a_sum_can_be_anything() -> None:
    pytest.importorskip("highspy")
    assert extremes([-inf] * 2, [inf] * 2, [], [0b11]) == [(-inf, inf)]


# Without bounds


def undetermined(equations: Sequence[Constraint], people: int, n: int) -> bool:
    """Whether equations and one more are independent, and determine nobody whom they are about."""
    sets = [equation.people for equation in equations] + [people]
    matrix = indicators(sets, n)
    about = [person for person in range(n) if any(row[person] for row in matrix)]
    units = indicators([1 << person for person in about], n)
    independent = rank(matrix) == len(sets)
    return independent and all(rank([*matrix, unit]) > len(sets) for unit in units)


def some_equations(rng: np.random.Generator) -> tuple[tuple[Constraint, ...], int]:
    """Independent ones, and the number of people."""
    n = int(rng.integers(3, 6))
    sets: list[int] = []
    for each in rng.integers(1, 2**n, int(rng.integers(1, n))).tolist():
        if rank(indicators([*sets, each], n)) > len(sets):
            sets.append(each)
    return tuple(Constraint(each, "=", 0) for each in sets), n


@given(SEEDS)
@settings(max_examples=60)
def test_everyone_is_free_exactly_where_exact_ranks_say_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    equations, n = some_equations(rng)
    for people in {2**n - 1, int(rng.integers(1, 2**n))}:
        near, _ = linked(equations, people)
        assert free(equations, people) == undetermined(near, people, n)


@given(SEEDS)
@settings(max_examples=100)
def test_a_wrong_projection_sets_nobody_free(seed: int) -> None:
    rng = np.random.default_rng(seed)
    equations, n = some_equations(rng)
    everyone = 2**n - 1
    real = polytope.left_free
    noise = 2.0 ** -rng.uniform(1, 25) * rng.uniform(0, 1, (n, n + 1))

    def noisy(a: Floats, columns: Floats) -> Floats:
        right = real(a, columns)
        assert right is not None
        cells, wanted = columns.shape
        wrong: Floats = right + noise[:cells, :wanted]
        return wrong

    truth = undetermined(equations, everyone, n)
    for lie in (noisy, lambda _, columns: columns):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(polytope, "left_free", lie)
            assert truth or not free(equations, everyone)


def test_a_triangle_of_sums_determines_all_three_even_if_the_projection_ignores_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    equations = Constraint(crowd((0, 1)), "=", 3), Constraint(crowd((1, 2)), "=", 3)
    assert free(equations[:1], crowd((1, 2)))
    assert not free(equations, crowd((0, 2)))
    monkeypatch.setattr(polytope, "left_free", lambda _, columns: columns)
    assert not free(equations, crowd((0, 2)))


@pytest.mark.parametrize("n", [6, 20, 30, 36, 40, 46])
def test_as_many_equations_as_people_leave_nobody_free_however_close_to_singular(n: int) -> None:
    *sets, last = (crowd(np.flatnonzero(row).tolist()) for row in growing(n))
    assert not free(tuple(Constraint(each, "=", 0) for each in sets), last)
