"""The floats of the auditor of sums are wrong, and whatever they say of a polytope is still true.

Centres, directions and a solver's points are replaced by lies here. What is certified all the same
is judged in fractions, by all corners of a slice.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.audit.slices as module
from shoal.audit.cells import Constraint, Ints, cells
from shoal.audit.matrices import Floats, grid_unit, norms, on_grid
from shoal.audit.model import crowd
from shoal.audit.polytope import Box
from shoal.audit.slices import PointPairs, Slices, WidthAt, safe
from tests.audit.exact import inverse, times

SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Polytope:
    """Bounds from 0 up, constraints within them, and the people of one more sum."""

    high: Sequence[Fraction]
    constraints: tuple[Constraint, ...]
    people: int

    def box(self, width: Fraction) -> Box:
        n = len(self.high)
        return Box([Fraction(0)] * n, self.high, [width] * n)

    def sliced(self, box: Box) -> Slices | None:
        with np.errstate(all="ignore"):
            groups = cells(self.constraints, self.people, box.kinds)
            shape = module.shape(box, self.constraints, groups)
            return Slices.of(shape, self.people) if shape else None

    def widths(self, value: Fraction) -> list[Fraction] | None:
        """Everyone's exact width where the sum has a value, by all corners, if any."""
        points = self._corners(value)
        if not points:
            return None
        return [max(column) - min(column) for column in zip(*points, strict=True)]

    def _corners(self, value: Fraction) -> list[list[Fraction]]:
        n = len(self.high)
        rows = [*self.constraints, Constraint(self.people, "=", value)]
        slack = [place for place, row in enumerate(rows) if row.relation != "="]
        columns = [[row.people >> person & 1 for row in rows] for person in range(n)]
        columns += [[int(place == each) for place in range(len(rows))] for each in slack]
        ends = [[Fraction(0), each] for each in self.high] + [[Fraction(0)] for _ in slack]
        right = [Fraction(row.value) for row in rows]
        corners = []
        for basic in combinations(range(len(columns)), len(rows)):
            square = [[columns[column][row] for column in basic] for row in range(len(rows))]
            solve = inverse(square)
            if solve is None:
                continue
            others = [column for column in range(len(columns)) if column not in basic]
            matrix = [[columns[column][row] for column in others] for row in range(len(rows))]
            for fixed in product(*(ends[column] for column in others)):
                rest = [a - b for a, b in zip(right, times(matrix, fixed), strict=True)]
                point = dict(zip(others, fixed, strict=True))
                point |= zip(basic, times(solve, rest), strict=True)
                within = all(point[person] <= self.high[person] for person in range(n))
                if within and min(point.values()) >= 0:
                    corners.append([point[person] for person in range(n)])
        return corners

    def overstated(self, box: Box, value: float, widths: Floats | None) -> bool:
        """Whether widths of cells are claimed, inside, that the slice at a value does not have."""
        if widths is None:
            return False
        exact = self.widths(Fraction(value) * box.scale)
        if exact is None:
            return True
        claims = [Fraction(float(width)) * box.scale for width in widths]
        labels = cells(self.constraints, self.people, box.kinds).labels
        about = [person for person, label in enumerate(labels) if label >= 0]
        return any(claims[labels[person]] > exact[person] for person in about)


def some_polytope(rng: np.random.Generator) -> Polytope:
    """Constraints that hold at a point inside."""
    n = int(rng.integers(3, 6))
    high = [Fraction(int(each)) for each in rng.integers(1, 4, n)]
    point = [each * int(rng.integers(1, 8)) / 8 for each in high]
    *sets, people = (int(each) for each in rng.integers(1, 2**n, int(rng.integers(2, 4))))
    constraints = []
    for each in sets:
        total = sum((x for person, x in enumerate(point) if each >> person & 1), Fraction(0))
        constraints.append(Constraint(each, "=" if rng.random() < 0.6 else "<=", total))
    return Polytope(high, tuple(constraints), people)


@dataclass(frozen=True)
class Thin:
    """Slices that are segments.

    Person 6 moves by a seventh of what person 4 does, and the direction `slow` is nearly theirs
    alone: so what directions and points are off the slice is theirs to lose, and keeping away from
    person 4's bounds makes up for little of it. One person's bounds are narrow, and end the
    segments.

    segment: the direction of the segments
    slow: the direction of unit length that leaves them most slowly
    """

    polytope: Polytope
    box: Box
    slices: Slices
    segment: Floats
    slow: Floats

    @classmethod
    def where(cls, narrow: int = 4) -> "Thin":
        """The person whose bounds are narrow is 4 or 6."""
        sets = (
            (0, 1, 2),
            (0, 2, 3, 4, 6),
            (0, 4, 5, 6),
            (3, 4, 5),
            (1, 2, 3, 5, 6),
            (0, 1, 3, 4, 6),
        )
        matrix = np.array([[float(i in each) for i in range(7)] for each in sets])
        kernel = np.linalg.svd(matrix)[2]
        segment = kernel[-1] / kernel[-1][np.abs(kernel[-1]).argmax()]
        high = [Fraction(1)] * 7
        high[narrow] = Fraction(1, 2 if narrow == 4 else 16)
        constraints = tuple(
            Constraint(crowd(each), "=", sum((high[i] / 2 for i in each), Fraction(0)))
            for each in sets[:-1]
        )
        polytope = Polytope(high, constraints, crowd(sets[-1]))
        box = polytope.box(Fraction(1, 32))
        slices = polytope.sliced(box)
        assert slices is not None
        slow = kernel[-2] * np.sign(kernel[-2][6] * segment[6])
        return cls(polytope, box, slices, segment, slow)

    @property
    def slip(self) -> float:
        return self.slices.shape.system.slip

    def off(self) -> float:
        """How far the slow direction leaves the slices."""
        return float(norms(self.slices.a @ self.slow[:, None])[0] * self.slices.reach)

    def with_ways(self, ways: Floats) -> Slices:
        """The slices with other directions."""
        slices = self.slices
        return replace(slices, ways=ways, moves=ways.diagonal().copy(), off=norms(slices.a @ ways))

    def on_grid(self, direction: Floats) -> Floats:
        return on_grid(direction, grid_unit(len(direction)))

    def overstated(self, widths: Floats | None) -> bool:
        return self.polytope.overstated(self.box, self.slices.middle, widths)


# Widths


def distorted(slices: Slices, people: int, rng: np.random.Generator) -> Slices | None:
    """Slices whose centre and directions are a little wrong, or a lot."""
    shape = slices.shape
    amounts = 2.0 ** -rng.uniform(1, 40, 2)
    centre = shape.centre * (1 + amounts[0] * rng.uniform(-1, 1, shape.centre.shape))
    inverse = shape.inverse * (1 + amounts[1] * rng.uniform(-1, 1, shape.inverse.shape))
    return Slices.of(replace(shape, centre=centre, inverse=inverse), people)


@given(SEEDS)
@settings(max_examples=150)
def test_no_width_is_overstated_whatever_the_centre_and_the_directions_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    polytope = some_polytope(rng)
    box = polytope.box(Fraction(1, 4))
    slices = polytope.sliced(box)
    if slices is None:
        return
    for each in (slices, distorted(slices, polytope.people, rng)):
        if each is not None:
            with np.errstate(all="ignore"):
                value = each.middle + float(rng.choice([0, rng.normal(), 2.0**-20])) * each.spread
                assert not polytope.overstated(box, value, each.widths(value))


def test_the_distance_by_which_directions_leave_a_slice_is_subtracted_from_widths() -> None:
    thin = Thin.where()
    room = float(thin.box.span.min()) / 2
    amount = thin.slip / 4 / thin.off() / room
    ways = thin.slices.ways.copy()
    ways[:, 6] = thin.on_grid(thin.segment + amount * thin.slow)
    widths = thin.with_ways(ways).widths(thin.slices.middle)
    assert widths is not None
    assert not thin.overstated(widths)
    widths[6] += 2 * thin.slip
    assert thin.overstated(widths)  # so the subtraction was needed


def test_directions_that_leave_a_slice_are_kept_away_from_bounds() -> None:
    thin = Thin.where(narrow=6)
    room = float(thin.box.span.min()) / 2 / abs(thin.segment[6]) * 1.001
    amount = thin.slip / 4 / thin.off() / room
    ways = thin.slices.ways.copy()
    # hides how far person 6 goes
    ways[:, 4] = thin.on_grid(thin.segment - amount * thin.slow)
    widths = thin.with_ways(ways).widths(thin.slices.middle)
    assert widths is not None
    assert not thin.overstated(widths)
    widths[4] += 2 * thin.slip / abs(thin.segment[6])
    assert thin.overstated(widths)  # so the distance was needed


@pytest.mark.parametrize("amount", [1e-4, 1e-2, 0.5])
def test_directions_that_leave_a_slice_show_next_to_no_width(amount: float) -> None:
    thin = Thin.where()
    direction = thin.segment + amount * thin.slow
    ways = thin.on_grid(np.repeat(direction[:, None], 7, axis=1))
    assert not thin.overstated(thin.with_ways(ways).widths(thin.slices.middle))
    true = thin.slices.widths(thin.slices.middle)
    assert true is not None
    assert true.min() > 0.01  # so there was something to overstate


def test_a_point_off_the_equations_shows_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    def unmended(slices: Slices, value: float) -> Ints:
        """The centre, as it is."""
        steps = np.rint(slices.shape.centre / slices.shape.system.unit)
        return steps.astype(np.int64)

    monkeypatch.setattr(Slices, "point", unmended)
    thin = Thin.where()
    slip, shape = thin.slip, thin.slices.shape
    for amount, fine in ((0.0, True), (0.1 * slip, True), (10 * slip, False), (2.0**-7, False)):
        moved = replace(shape, centre=shape.centre + amount * thin.slow)
        widths = replace(thin.slices, shape=moved).widths(thin.slices.middle)
        assert (widths is not None) == fine
        assert not thin.overstated(widths)


# Points of a solver


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(within=lambda *_: None)
    monkeypatch.setattr(module, "LinearProgram", nothing)


def pair(slices: Slices, off: Floats, who: int = 6) -> Floats:
    """Two points that are off the centre by this much, to either side, and someone at both."""
    centre = slices.shape.centre
    average = centre[who] / slices.shape.system.mass[who]
    someone = [average + off[who], average - off[who]]
    return np.concatenate([centre + off, centre - off, someone])


def one_width(shown: WidthAt | None, who: int, n: int) -> tuple[float, Floats | None]:
    """The value of the sum, and the width that is shown of one person there."""
    if shown is None:
        return 0.0, None
    widths = np.zeros(n)
    widths[who] = shown.width
    return shown.value, widths


@pytest.mark.usefixtures("no_solver")
@given(SEEDS)
@settings(max_examples=150)
def test_points_of_a_solver_count_for_what_they_show_wherever_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    polytope = some_polytope(rng)
    box = polytope.box(Fraction(1, 4))
    slices = polytope.sliced(box)
    if slices is None:
        return
    pairs = PointPairs(slices)
    who, along = int(rng.integers(len(slices.shape.system.cells))), 0 * slices.along
    if who in slices.moving:
        along = slices.ways[:, slices.moving.tolist().index(who)] * rng.uniform(0, 0.5)
    points = pair(slices, along, who)
    wrong = 2.0 ** -rng.uniform(-3, 40) * rng.normal(size=points.shape)
    # someone of a cell goes as far as the others can make up for, or further
    apart = np.zeros_like(points)
    apart[-2:] = np.array([1, -1]) * rng.uniform(0, 0.6)
    for each in (points, points + wrong, wrong, points + apart):
        shown = pairs.checked(each, who) if pairs.deep <= 0.5 else None
        assert not polytope.overstated(box, *one_width(shown, who, len(slices.shape.system.cells)))


@pytest.mark.usefixtures("no_solver")
def test_points_outside_the_bounds_or_off_the_equations_are_not_believed() -> None:
    thin = Thin.where()
    pairs, slices, segment = PointPairs(thin.slices), thin.slices, thin.segment
    assert pairs.checked(pair(slices, segment / 8), 6) is not None
    outside = pair(slices, segment / 2)  # though on the line
    off = pair(slices, segment / 8 + thin.slow / 100)
    another_slice = pair(slices, segment / 8) + np.repeat([0, 1 / 100, 0], [7, 7, 2])
    corners = np.concatenate([np.ones(7), np.zeros(7), [1, 0]])
    for points in (outside, off, another_slice, corners):
        assert pairs.checked(points, 6) is None
    for nothing in (np.nan, np.inf, -np.inf, 1e300):
        assert pairs.checked(np.full(16, nothing), 6) is None


@pytest.mark.usefixtures("no_solver")
def test_the_distance_by_which_points_are_off_is_subtracted_from_their_width() -> None:
    thin = Thin.where()
    slip = thin.slip
    most = np.linalg.norm(thin.slices.a @ thin.slow) * thin.slices.reach
    along = thin.segment * float(thin.box.span.min()) / 2
    points = pair(thin.slices, along + 0.45 * slip / most * thin.slow)
    shown = PointPairs(thin.slices).checked(points, 6)
    assert shown is not None
    assert not thin.polytope.overstated(thin.box, *one_width(shown, 6, 7))
    more = shown._replace(width=shown.width + 2 * slip)
    assert thin.polytope.overstated(thin.box, *one_width(more, 6, 7))  # so it was needed


def liar(columns: int) -> Any:
    """A solver for which everything is possible: one point has all there is, the other nothing."""
    settings = "changeColCost", "changeCoeff", "changeRowBounds", "changeColBounds"
    names = (*settings, "setOptionValue", "run")
    cells = columns // 2 - 1
    most = np.repeat([1.0, 0.0], cells)
    return SimpleNamespace(
        getInfo=lambda: SimpleNamespace(simplex_iteration_count=1),
        getModelStatus=lambda: "optimal",
        getSolution=lambda: SimpleNamespace(col_value=np.append(most, [1.0, 0.0])),
        **dict.fromkeys(names, lambda *_: None),
    )


def test_a_solver_that_lies_widens_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def within(a: Floats, *_: object) -> Any:
        asked.append(a)
        return SimpleNamespace(solver=liar(a.shape[1]), optimal="optimal")

    monkeypatch.setattr(module, "LinearProgram", SimpleNamespace(within=within))
    constraints = (
        Constraint(crowd((0, 1, 2)), "=", Fraction(5, 4)),
        Constraint(crowd((1, 3)), "<=", Fraction(3, 2)),
    )
    polytope = Polytope([Fraction(1)] * 4, constraints, crowd((2, 3)))
    width = Fraction(1, 3)
    interval = safe(polytope.box(width), constraints, polytope.people)
    assert asked
    assert interval is not None
    for end in interval:
        exact = polytope.widths(end)
        assert exact is not None
        assert min(exact) >= width
