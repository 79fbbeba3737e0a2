"""Floats that the auditor of sums uses are wrong, and whatever they say of a polytope is still true.

Centres, directions, inverses, projectors and a solver's points are replaced by lies here. What is certified all the same is
judged in fractions: by all corners of a slice, by exact inverses and by exact ranks.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.audit.polytope as polytope
from shoal.audit.model import crowd
from shoal.audit.polytope import Box, Floats, Row, free, safe

SEEDS = st.integers(0, 2**32 - 1)


# The exact judge


def inverse(matrix: Sequence[Sequence[Any]]) -> list[list[Fraction]] | None:
    n = len(matrix)
    rows = [
        [Fraction(each) for each in row] + [Fraction(i == j) for j in range(n)]
        for i, row in enumerate(matrix)
    ]
    for place in range(n):
        pivot = next((row for row in range(place, n) if rows[row][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [each / rows[place][place] for each in rows[place]]
        for row in range(n):
            if row != place and rows[row][place]:
                factor = rows[row][place]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[place], strict=True)]
    return [row[n:] for row in rows]


def times(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def rank(matrix: Sequence[Sequence[int]]) -> int:
    """Of a matrix of whole numbers: rows that are independent, one by one, have Gram matrices with inverses."""
    chosen: list[Sequence[int]] = []
    for row in matrix:
        some = [*chosen, row]
        if inverse([times(some, other) for other in some]) is not None:
            chosen = some
    return len(chosen)


def exact_widths(
    high: Sequence[Fraction], rows: Sequence[Row], people: int, value: Fraction
) -> list[Fraction] | None:
    """Everyone's width where a sum has a value, from 0 to upper bounds and within rows: by all corners; None without any."""
    n, all_rows = len(high), [*rows, Row(people, "=", value)]
    slack = [place for place, row in enumerate(all_rows) if row.relation != "="]
    columns = [[row.people >> person & 1 for row in all_rows] for person in range(n)]
    columns += [[int(place == each) for place in range(len(all_rows))] for each in slack]
    ends = [[Fraction(0), each] for each in high] + [[Fraction(0)] for _ in slack]
    right = [Fraction(row.value) for row in all_rows]
    corners = []
    for basic in combinations(range(len(columns)), len(all_rows)):
        solve = inverse(
            [[columns[column][row] for column in basic] for row in range(len(all_rows))]
        )
        others = [column for column in range(len(columns)) if column not in basic]
        for fixed in product(*(ends[column] for column in others)) if solve else ():
            taken = [
                sum((columns[c][row] * x for c, x in zip(others, fixed, strict=True)), Fraction(0))
                for row in range(len(right))
            ]
            found = dict(zip(others, fixed, strict=True))
            found |= zip(
                basic,
                times(solve or [], [a - b for a, b in zip(right, taken, strict=True)]),
                strict=True,
            )
            if all(found[c] >= 0 for c in found) and all(
                found[person] <= high[person] for person in range(n)
            ):
                corners.append([found[person] for person in range(n)])
    return [max(each) - min(each) for each in zip(*corners, strict=True)] if corners else None


def pseudo_inverse_squared(a: Floats) -> Fraction:
    """A number that the squared norm of the pseudo-inverse is not below, and hardly above."""
    exact = inverse([[int(each) for each in row] for row in a @ a.T])
    assert exact is not None
    vector = np.linalg.eigh(np.array([[float(each) for each in row] for row in exact]))[1][:, -1]
    whole = [round(float(each) * 2**30) for each in vector]
    return Fraction(times([times(exact, whole)], whole)[0], sum(each * each for each in whole))


# Polytopes


def slices(
    high: Sequence[Fraction], rows: tuple[Row, ...], people: int, width: Fraction
) -> tuple[Box, "polytope._Slices | None"]:
    box = Box([Fraction(0)] * len(high), high, [width] * len(high))
    with np.errstate(all="ignore"):
        shape = polytope._shape(box, rows, 2 ** len(high) - 1)
        return box, polytope._Slices.of(shape, people) if shape else None


def some_polytope(rng: np.random.Generator) -> tuple[list[Fraction], tuple[Row, ...], int]:
    """Bounds, rows that hold at a point inside, and a question."""
    n = int(rng.integers(3, 6))
    high = [Fraction(int(each)) for each in rng.integers(1, 4, n)]
    point = [each * int(rng.integers(1, 8)) / 8 for each in high]
    *sets, people = (int(each) for each in rng.integers(1, 2**n, int(rng.integers(2, 4))))
    totals = [
        sum((x for person, x in enumerate(point) if each >> person & 1), Fraction(0))
        for each in sets
    ]
    return (
        high,
        tuple(
            Row(each, "=" if rng.random() < 0.6 else "<=", x)
            for each, x in zip(sets, totals, strict=True)
        ),
        people,
    )


def thin(
    narrow: int = 4,
) -> tuple[Box, list[Fraction], tuple[Row, ...], int, "polytope._Slices", Floats, Floats]:
    """Slices that are segments, with their direction and the direction of unit length that leaves them most slowly.

    Person 6 moves by a seventh of what person 4 does, and that other direction is nearly theirs alone: so what directions and
    points are off the slice is theirs to lose, and keeping away from person 4's bounds makes up for little of it. One person's
    bounds are narrow, and end the segments.
    """
    sets = ((0, 1, 2), (0, 2, 3, 4, 6), (0, 4, 5, 6), (3, 4, 5), (1, 2, 3, 5, 6), (0, 1, 3, 4, 6))
    kernel = np.linalg.svd(np.array([[float(i in each) for i in range(7)] for each in sets]))[2]
    segment = kernel[-1] / kernel[-1][np.abs(kernel[-1]).argmax()]
    high = [Fraction(1, 2 if i == 4 else 16) if i == narrow else Fraction(1) for i in range(7)]
    rows = tuple(
        Row(crowd(each), "=", sum((high[i] / 2 for i in each), Fraction(0))) for each in sets[:-1]
    )
    box, found = slices(high, rows, crowd(sets[-1]), Fraction(1, 32))
    assert found is not None
    slow = kernel[-2] * np.sign(kernel[-2][6] * segment[6])
    return box, high, rows, crowd(sets[-1]), found, segment, slow


def believes(
    box: Box,
    high: Sequence[Fraction],
    rows: tuple[Row, ...],
    people: int,
    value: float,
    widths: Floats | None,
) -> bool:
    """Whether widths where a sum has a value, as they are inside, are claimed that it does not have."""
    if widths is None:
        return False
    truth = exact_widths(high, rows, people, Fraction(value) * box.scale)
    return truth is None or any(
        Fraction(float(got)) * box.scale > real for got, real in zip(widths, truth, strict=True)
    )


# Bounds and widths


@given(st.fractions(Fraction(1, 50), 1), st.fractions(1, 1000))
def test_widths_inside_are_no_less_than_asked_and_bounds_no_wider_than_public(
    width: Fraction, span: Fraction
) -> None:
    box = Box([Fraction(0), Fraction(1, 3)], [span, span + Fraction(1, 3)], [width, Fraction(1, 3)])
    assert Fraction(float(box.need[0])) * box.scale >= width
    assert Fraction(float(box.need[1])) * box.scale > Fraction(1, 3)
    assert all(Fraction(float(each)) * box.scale <= span for each in box.span)


# Widths


def lied(
    found: "polytope._Slices", people: int, rng: np.random.Generator
) -> "polytope._Slices | None":
    """Slices whose centre and directions are a little wrong, or a lot."""
    shape = found.shape
    amounts = 2.0 ** -rng.uniform(1, 40, 2)
    centre = shape.centre * (1 + amounts[0] * rng.uniform(-1, 1, shape.centre.shape))
    z = shape.z * (1 + amounts[1] * rng.uniform(-1, 1, shape.z.shape))
    return polytope._Slices.of(replace(shape, centre=centre, z=z), people)


@given(SEEDS)
@settings(max_examples=150)
def test_no_width_is_found_that_a_slice_does_not_have_whatever_centre_and_directions_are(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    high, rows, people = some_polytope(rng)
    box, found = slices(high, rows, people, Fraction(1, 4))
    for each in (found, lied(found, people, rng)) if found else ():
        if each is not None:
            with np.errstate(all="ignore"):
                value = each.middle + float(rng.choice([0, rng.normal(), 2.0**-20])) * each.spread
                assert not believes(box, high, rows, people, value, each.widths(value))


def test_what_directions_leave_a_slice_by_is_taken_off_widths() -> None:
    box, high, rows, people, found, segment, slow = thin()
    room = float(box.span.min()) / 2
    off = polytope._norms(found.a @ slow[:, None])[0] * found.reach
    ways = found.ways.copy()
    ways[:, 6] = polytope._on(segment + box.slip / 4 / off / room * slow, found.shape.system.unit)
    lies = replace(
        found, ways=ways, own=ways.diagonal().copy(), off=polytope._norms(found.a @ ways)
    )
    widths = lies.widths(found.middle)
    assert widths is not None
    assert not believes(box, high, rows, people, found.middle, widths)
    widths[6] += 2 * box.slip
    assert believes(box, high, rows, people, found.middle, widths)  # it is not in vain


def test_what_directions_leave_a_slice_by_is_kept_away_from_bounds() -> None:
    box, high, rows, people, found, segment, slow = thin(narrow=6)
    room = float(box.span.min()) / 2 / abs(segment[6]) * 1.001
    off = polytope._norms(found.a @ slow[:, None])[0] * found.reach
    ways = found.ways.copy()
    ways[:, 4] = polytope._on(
        segment - box.slip / 4 / off / room * slow, found.shape.system.unit
    )  # hides how far person 6 goes
    lies = replace(
        found, ways=ways, own=ways.diagonal().copy(), off=polytope._norms(found.a @ ways)
    )
    widths = lies.widths(found.middle)
    assert widths is not None
    assert not believes(box, high, rows, people, found.middle, widths)
    widths[4] += 2 * box.slip / abs(segment[6])
    assert believes(box, high, rows, people, found.middle, widths)  # it is not in vain


@pytest.mark.parametrize("amount", [1e-4, 1e-2, 0.5])
def test_directions_that_leave_a_slice_show_next_to_no_width(amount: float) -> None:
    box, high, rows, people, found, segment, slow = thin()
    ways = polytope._on(
        np.repeat((segment + amount * slow)[:, None], 7, axis=1), found.shape.system.unit
    )
    lies = replace(
        found, ways=ways, own=ways.diagonal().copy(), off=polytope._norms(found.a @ ways)
    )
    assert not believes(box, high, rows, people, found.middle, lies.widths(found.middle))
    true = found.widths(found.middle)
    assert true is not None
    assert true.min() > 0.01  # so that there was something to overstate


def test_a_point_off_the_equations_shows_no_width() -> None:
    box, high, rows, people, found, _, slow = thin()
    for amount, fine in (
        (0.0, True),
        (0.1 * box.slip, True),
        (10 * box.slip, False),
        (2.0**-7, False),
    ):
        lies = replace(found, shape=replace(found.shape, centre=found.shape.centre + amount * slow))
        widths = lies.widths(found.middle)
        assert (widths is not None) == fine
        assert not believes(box, high, rows, people, found.middle, widths)


# Points of a solver


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytope, "_program", lambda *_: (None, None))


def pair(found: "polytope._Slices", off: Floats) -> Floats:
    """Two points from the centre, which are off by so much: one to the one side, one to the other."""
    return np.concatenate([found.shape.centre + off, found.shape.centre - off])


def shown(checked: tuple[float, float] | None, who: int, n: int) -> tuple[float, Floats | None]:
    if checked is None:
        return 0.0, None
    widths = np.zeros(n)
    widths[who] = checked[1]
    return checked[0], widths


@pytest.mark.usefixtures("no_solver")
@given(SEEDS)
@settings(max_examples=150)
def test_points_of_a_solver_count_for_what_they_show_wherever_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    high, rows, people = some_polytope(rng)
    box, found = slices(high, rows, people, Fraction(1, 4))
    if found is None:
        return
    pairs = polytope._Pairs(found)
    who = int(rng.integers(len(high)))
    along = np.concatenate([found.ways[:, who], -found.ways[:, who]]) * rng.uniform(0, 0.5)
    wrong = 2.0 ** -rng.uniform(-3, 40) * rng.normal(size=along.shape)
    for points in (
        pair(found, 0 * found.along) + along,
        pair(found, 0 * found.along) + along + wrong,
        wrong,
    ):
        checked = pairs._checked(points, who) if pairs.deep <= 0.5 else None
        assert not believes(box, high, rows, people, *shown(checked, who, len(high)))


@pytest.mark.usefixtures("no_solver")
def test_points_outside_bounds_or_off_the_equations_are_not_believed() -> None:
    *_, found, segment, slow = thin()
    pairs = polytope._Pairs(found)
    assert pairs._checked(pair(found, segment / 8), 6) is not None
    assert pairs._checked(pair(found, segment / 2), 6) is None  # on the line, and outside
    assert pairs._checked(pair(found, segment / 8 + slow / 100), 6) is None
    assert (
        pairs._checked(pair(found, segment / 8) + np.repeat([0, 1 / 100], 7), 6) is None
    )  # another slice
    assert pairs._checked(np.concatenate([np.ones(7), np.zeros(7)]), 6) is None
    for nothing in (np.nan, np.inf, -np.inf, 1e300):
        assert pairs._checked(np.full(14, nothing), 6) is None


@pytest.mark.usefixtures("no_solver")
def test_what_points_are_off_is_taken_off_their_distance() -> None:
    box, high, rows, people, found, segment, slow = thin()
    pairs = polytope._Pairs(found)
    most = np.linalg.norm(found.a @ slow) * found.reach
    checked = pairs._checked(
        pair(found, segment * float(box.span.min()) / 2 + 0.9 * box.slip / most * slow), 6
    )
    assert checked is not None
    assert not believes(box, high, rows, people, *shown(checked, 6, 7))
    assert believes(
        box, high, rows, people, *shown((checked[0], checked[1] + 2 * box.slip), 6, 7)
    )  # it is not in vain


def liar(columns: int) -> Any:
    """A solver that finds everything possible: one point has all that there is, the other nothing."""
    names = ("changeColCost", "changeCoeff", "changeRowBounds", "setOptionValue", "run")
    return SimpleNamespace(
        getInfo=lambda: SimpleNamespace(simplex_iteration_count=1),
        getModelStatus=lambda: "optimal",
        getSolution=lambda: SimpleNamespace(col_value=np.repeat([1.0, 0.0], columns // 2)),
        **dict.fromkeys(names, lambda *_: None),
    )


def test_a_solver_that_lies_widens_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def program(a: Floats, *_: Floats) -> tuple[Any, str]:
        asked.append(a)
        return liar(a.shape[1]), "optimal"

    monkeypatch.setattr(polytope, "_program", program)
    high, width = [Fraction(1)] * 4, Fraction(1, 3)
    rows, people = (
        (Row(crowd((0, 1, 2)), "=", Fraction(5, 4)), Row(crowd((1, 3)), "<=", Fraction(3, 2))),
        crowd((2, 3)),
    )
    found = safe(Box([Fraction(0)] * 4, high, [width] * 4), rows, people)
    assert asked
    assert found is not None
    for end in found:
        truth = exact_widths(high, rows, people, end)
        assert truth is not None
        assert min(truth) >= width


# How far a point may have to be moved


def growing(n: int) -> Floats:
    """Rows 1, 1, 0, 1, 0, 1 … from the diagonal on: they are independent, and the inverse grows by a half and more with each."""
    return np.array(
        [[float(j == i or (j > i and (j - i) % 2)) for j in range(n)] for i in range(n)]
    )


def below(bound: float | None, a: Floats) -> bool:
    """Whether a bound is below the norm of the pseudo-inverse."""
    return bound is not None and Fraction(bound) ** 2 < pseudo_inverse_squared(a)


@pytest.mark.parametrize("n", [1, 3, 10, 18, 26, 30, 34, 36, 38, 40, 42])
def test_the_reach_is_never_below_the_norm_of_the_inverse_however_close_to_singular(n: int) -> None:
    bound = polytope._reach(growing(n))
    assert not below(bound, growing(n))
    # from 30 rows on a product with the inverse may be rounded by more than 1
    assert (bound is None) == (n >= 30)


@given(SEEDS)
@settings(max_examples=50)
def test_the_reach_is_never_below_the_norm_of_the_inverse_and_dependent_rows_have_none(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    a = rng.integers(0, 2, (m, int(rng.integers(m, m + 3)))).astype(float)
    bound = polytope._reach(a)
    assert (bound is None) == (rank(a.astype(int).tolist()) < m)
    assert not below(bound, a)


def test_rows_that_add_up_to_another_have_no_reach() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        a = rng.integers(0, 2, (6, 12)).astype(float)
        a[1] = np.where(a[0] == 1, 0.0, a[1])
        assert polytope._reach(np.vstack([a, a[0] + a[1]])) is None


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
        bound = polytope._reach(a)
        assert not below(bound, a)
        assert (bound is None) == (abs(1 - share) * len(a) ** 0.5 > 0.5)


# Without bounds


def undetermined(rows: Sequence[Row], people: int, n: int) -> bool:
    """Whether equations and one more are independent, and tell the value of nobody whom they are about."""
    sets = [row.people for row in rows] + [people]
    matrix = [[each >> person & 1 for person in range(n)] for each in sets]
    about = [person for person in range(n) if any(row[person] for row in matrix)]
    units = [[int(person == other) for other in range(n)] for person in about]
    return rank(matrix) == len(sets) and all(rank([*matrix, unit]) > len(sets) for unit in units)


def some_equations(rng: np.random.Generator) -> tuple[tuple[Row, ...], int, int]:
    """Independent ones, whose people the last is linked with, and the number of people."""
    n = int(rng.integers(3, 6))
    sets: list[int] = []
    for each in rng.integers(1, 2**n, int(rng.integers(1, n))).tolist():
        if rank([[some >> person & 1 for person in range(n)] for some in [*sets, each]]) > len(
            sets
        ):
            sets.append(each)
    return tuple(Row(each, "=", 0) for each in sets), 2**n - 1, n


@given(SEEDS)
@settings(max_examples=60)
def test_everyone_is_free_just_where_exact_ranks_say_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, everyone, n = some_equations(rng)
    for people in {everyone, int(rng.integers(1, 2**n))}:
        near, _ = polytope.linked(rows, people)
        assert free(rows, people) == undetermined(near, people, n)


@given(SEEDS)
@settings(max_examples=100)
def test_nobody_is_free_by_a_projector_that_is_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, people, n = some_equations(rng)
    real = polytope._projector
    noise = 2.0 ** -rng.uniform(1, 25) * rng.uniform(0, 1, (n, n))
    for lie in (
        lambda *near: real(*near) + noise,
        lambda *near: real(*near) + noise * np.eye(n),
        lambda *_: np.eye(n),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(polytope, "_projector", lie)
            assert undetermined(rows, people, n) or not free(rows, people)


def test_a_triangle_of_sums_tells_all_three_even_if_the_projector_knows_of_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = Row(crowd((0, 1)), "=", 3), Row(crowd((1, 2)), "=", 3)
    assert free(rows[:1], crowd((1, 2)))
    assert not free(rows, crowd((0, 2)))
    monkeypatch.setattr(polytope, "_projector", lambda *_: np.eye(3))
    assert not free(rows, crowd((0, 2)))


@pytest.mark.parametrize("n", [6, 20, 30, 36, 40, 46])
def test_as_many_equations_as_people_leave_nobody_free_however_close_to_singular(n: int) -> None:
    *rows, last = (crowd(np.flatnonzero(row).tolist()) for row in growing(n))
    assert not free(tuple(Row(each, "=", 0) for each in rows), last)
