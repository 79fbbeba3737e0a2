"""How wide everyone's possible values surely are, in slices where one more sum has a value.

All is computed in floats, and nothing that floats compute is believed. A width counts if two points
show it whose distance from all constraints is known and can be made up for:
docs/proofs/audit-sums.md has the argument. Whatever is in doubt is not safe. Uses `polytope` and
`matrices`; `sums` uses `safe`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from shoal.audit.matrices import (
    Floats,
    LinearProgram,
    grid_unit,
    incidence,
    norms,
    numbers,
    on_grid,
    reach,
)
from shoal.audit.polytope import DEPENDENT, Box, Constraint, linked

__all__ = ["PointPairs", "Shape", "Slices", "System", "WidthAt", "centre", "safe", "shape"]

STEPS = 60
"""Of Newton's method; it takes about five from a centre nearby, and fifteen from anywhere."""

CHORDS = 3
"""Times that an end of the safe interval is moved outwards."""

FAR = 3
"""An interval that reaches this many times the sum's spread from the centre is wide enough."""

LARGEST = 10_000
"""Nonzeros up to which linear programs settle open widths and widen narrow intervals."""

WORK = 5_000_000
"""Pivots of these programs times nonzeros, at most for one question."""

BARELY = 1 + 2.0**-30
"""A factor that makes up for the rounding of a few operations."""

TINY = 1e-300
"""In place of a divisor that may be 0."""


def safe(
    box: Box, constraints: tuple[Constraint, ...], people: int
) -> tuple[Fraction, Fraction] | None:
    """Two values such that everyone's width is kept if the sum is anything from one to the other.

    The constraints as they are must keep the widths. None if no such values were found.
    """
    constraints, everyone = linked(constraints, people)
    # NaN compares false with everything, so what is not a number is never taken as safe
    with np.errstate(all="ignore"):
        known = shape(box, constraints, everyone)
        slices = None if known is None else Slices.of(known, people)
        interval = None if slices is None else slices.interval()
    if interval is None:
        return None
    low = box.outside(people, interval[0], True)
    high = box.outside(people, interval[1], False)
    return (low, high) if low < high else None


@dataclass(frozen=True, eq=False)
class System:
    """Constraints over those whom they link; an inequality has a slack, which has no upper end."""

    who: list[int]
    a: Floats
    right: Floats  # on the grid
    top: Floats
    need: Floats
    slip: float
    unit: float

    @classmethod
    def of(cls, box: Box, constraints: Sequence[Constraint], everyone: int) -> "System":
        who = numbers(everyone)
        slack = [place for place, each in enumerate(constraints) if each.relation != "="]
        signs = [1 if constraints[place].relation == "<=" else -1 for place in slack]
        a = np.zeros((len(constraints), len(who) + len(slack)))
        a[:, : len(who)] = incidence([each.people for each in constraints], who)
        a[slack, len(who) + np.arange(len(slack))] = signs
        unit = grid_unit(a.shape[1])
        values = [float(box.inside(each.people, each.value)) for each in constraints]
        right = on_grid(np.array(values), unit)
        top = np.concatenate([box.span[who], np.full(len(slack), inf)])
        return cls(who, a, right, top, box.need[who], box.slip, unit)


@dataclass(frozen=True, eq=False)
class Shape:
    """A polytope, a point deep inside, and how far it reaches from there in each direction.

    z: the inverse of the barrier's Hessian within the equations
    """

    system: System
    centre: Floats
    z: Floats
    scales: Floats


@lru_cache(maxsize=3)
def shape(box: Box, constraints: tuple[Constraint, ...], everyone: int) -> Shape | None:
    """The shape of a polytope, or None where floats find no point inside."""
    system = System.of(box, constraints, everyone)
    x = centre(box, constraints, everyone)
    if x is None:
        return None
    top, a, n = system.top, system.a, len(system.who)
    # the inverse of the barrier's Hessian is diagonal without the equations, and z within them
    d = _scales(x, top)
    half = a * np.sqrt(d)
    try:
        inverse = np.linalg.inv(half @ half.T)
    except np.linalg.LinAlgError:
        return None
    # the centre is only about right, so it is put onto the equations, twice for the rounding
    for _ in range(2):
        gap = system.right - a @ x
        x = x + d * ((inverse @ gap) @ a)
    if not np.all((x > 0) & (x < top)):
        return None
    ad = a * d
    z = -(ad.T @ (inverse @ ad[:, :n]))
    z[np.diag_indices(n)] += d[:n]
    return Shape(system, x, z, d)


@lru_cache(maxsize=64)
def centre(box: Box, constraints: tuple[Constraint, ...], everyone: int) -> Floats | None:
    """About where the product of distances from all bounds is largest.

    Newton's method starts from the centre of the first constraints, as many as their number less
    its lowest bit. That is a function of the constraints alone, takes few steps when they came one
    by one, and few starts when they come all at once.
    """
    system = System.of(box, constraints, everyone)
    slacks = system.a.shape[1] - len(system.who)
    cold = np.concatenate([box.span[system.who] / 2, np.ones(slacks)])
    if not constraints:
        return cold
    earlier = constraints[: len(constraints) & (len(constraints) - 1)]
    before = centre(box, earlier, everyone)
    if before is not None:
        new_slacks = cold[len(before) :]
        new_slacks[:] = 0.1
        warm = _newton(system, np.concatenate([before, new_slacks]))
        if warm is not None:
            return warm
    return _newton(system, cold)


def _newton(system: System, x: Floats) -> Floats | None:
    a, top = system.a, system.top
    for _ in range(STEPS):
        room = top - x
        slope = 1 / room - 1 / x
        d = _scales(x, top)
        half = a * np.sqrt(d)
        gap = system.right - a @ x
        target = -(a @ (d * slope)) - gap
        try:
            y = np.linalg.solve(half @ half.T, target)
        except np.linalg.LinAlgError:
            return None
        step = -d * (slope + y @ a)
        # how much of the way to the nearest bound one step would go
        speed = float(np.maximum(-step / x, step / room).max())
        if not speed < inf:
            return None
        if speed > 0.9:
            step = step * (0.9 / speed)
        x = x + step
        if speed < 0.1:
            return x
    return None


def _scales(x: Floats, top: Floats) -> Floats:
    """How far values can go from a point to either bound, squared: the inverse of the Hessian."""
    by_bottom = 1 / x**2
    by_top = 1 / (top - x) ** 2
    scales: Floats = 1 / (by_bottom + by_top)
    return scales


@dataclass(frozen=True, eq=False)
class Slices:
    """The slices of a polytope where one more sum has a value, and certified widths in them.

    a: the constraints and the sum
    reach: how far a point may have to be moved for each unit that it is off the equations
    middle: the sum at the centre
    spread: how far the sum goes to where the barrier rises by about one
    along: the direction in which the sum grows by 1
    ways: a direction for each person, along the slices
    moves: how far each person moves in theirs
    off: how far the directions leave the slice
    """

    shape: Shape
    a: Floats
    reach: float
    middle: float
    spread: float
    along: Floats
    ways: Floats
    moves: Floats
    off: Floats

    @classmethod
    def of(cls, shape: Shape, people: int) -> "Slices | None":
        """None where the sum follows from the constraints, or determines a value with them."""
        system = shape.system
        n = len(system.who)
        q = np.zeros(system.a.shape[1])
        q[:n] = incidence([people], system.who)[0]
        zq = shape.z @ q[:n]
        s = float(q @ zq)
        # the sum hardly varies within the constraints, so it may follow from them
        if s <= DEPENDENT * float(q @ shape.scales):
            return None
        # how much someone's value still varies once the sum is known
        left = shape.z.diagonal() - zq[:n] ** 2 / s
        if float((left / shape.scales[:n]).min()) <= DEPENDENT:
            return None
        a = np.vstack([system.a, q])
        furthest = reach(a)
        if furthest is None:
            return None
        ways = shape.z - np.outer(zq, zq[:n] / s)
        ways /= np.abs(ways).max(0)
        ways = on_grid(ways, system.unit)
        return cls(
            shape=shape,
            a=a,
            reach=furthest,
            middle=float(q @ shape.centre),
            spread=sqrt(s),
            along=zq / s,
            ways=ways,
            moves=ways.diagonal().copy(),
            off=norms(a @ ways),
        )

    def widths(self, value: float) -> Floats | None:
        """Lower bounds on widths where the sum is `value`; None if it may be impossible."""
        system = self.shape.system
        moved = self.shape.centre + (value - self.middle) * self.along
        point = on_grid(moved, system.unit)
        up = system.top - system.slip - point
        down = point - system.slip
        near = self.slip(point, value) <= system.slip / 2
        if not (near and up.min() > 0 and down.min() > 0):
            return None
        by_top = self.ways * (1 / up)[:, None]
        by_bottom = self.ways * (1 / down)[:, None]
        # beyond these steps, directions leave the slice too far
        most = system.slip / 4 / np.maximum(self.reach * self.off, TINY)
        # whoever comes to a bound first ends a direction, forwards and backwards
        first_forth = np.maximum(by_top.max(0), -by_bottom.min(0))
        first_back = np.maximum(-by_top.min(0), by_bottom.max(0))
        forth = np.minimum(1 / first_forth, most)
        back = np.minimum(1 / first_back, most)
        # both ends may have to be moved by a slip, back onto the equations
        length = self.moves * (forth + back) * (1 - 2.0**-30)
        widths: Floats = np.maximum(length - 2 * system.slip, 0.0)
        return widths

    def slip(self, point: Floats, value: float) -> float:
        """How far a point on the grid is, at most, from one that satisfies all equations."""
        right = np.append(self.shape.system.right, value)
        residue = float(np.linalg.norm(self.a @ point - right)) * 1.001
        return self.reach * (residue + sqrt(len(right)) * self.shape.system.unit)

    def interval(self) -> tuple[float, float] | None:
        """Ends between which everyone keeps their width: widths are concave in the sum."""
        middle = self._rounded(self.middle)
        inner = self.widths(middle)
        if inner is None:
            return None
        low, high = (
            self._outwards(middle, inner, self._rounded(middle + sign * self._room(sign)))
            for sign in (-1, 1)
        )
        far = FAR * self.spread
        wide = low.max() < middle - far and high.min() > middle + far
        if not wide and np.count_nonzero(self.a) <= LARGEST:
            self._widen(middle, inner, low, high)
        if np.isnan(low + high).any():
            return None
        return float(low.max()), float(high.min())

    def _rounded(self, value: float) -> float:
        unit = self.shape.system.unit
        return round(value / unit) * unit

    def _room(self, sign: int) -> float:
        """How far the sum can go from the middle along its direction."""
        system, x, g = self.shape.system, self.shape.centre, sign * self.along
        with np.errstate(divide="ignore", invalid="ignore"):
            to_top = (system.top - x - 2 * system.slip) / g
            to_bottom = (2 * system.slip - x) / g
        rooms = np.select([g > 0, g < 0], [to_top, to_bottom], inf)
        return max(0.0, float(rooms.min()) * 0.999)

    def _outwards(self, value: float, inner: Floats, outer_value: float) -> Floats:
        """For everyone, how far out their width is kept, by chords of known widths.

        NaN where it is not even kept inside.
        """
        need = self.shape.system.need
        outer = self.widths(outer_value)
        if outer is None:
            outer_value, outer = value, inner
        wide = inner >= need
        for turn in range(CHORDS + 1):
            # a chord between two known widths is below the width, which is concave
            missing = (need - outer) / np.maximum(inner - outer, TINY)
            share = np.where(outer >= need, 0.0, missing)
            inwards = np.minimum(share * BARELY, 1.0)
            reached = outer_value + inwards * (value - outer_value)
            worst = float(reached.max() if outer_value < value else reached.min())
            if turn == CHORDS or not wide.all() or worst in (value, outer_value):
                break
            at_worst = self.widths(worst)
            if at_worst is None:
                break
            value, inner = worst, np.maximum(at_worst, need)
        return np.where(wide | (outer >= need), reached, np.nan)

    def _widen(self, middle: float, inner: Floats, low: Floats, high: Floats) -> None:
        """Linear programs for those whose width is open or who hold the interval back."""
        pairs = PointPairs(self)
        for ends, sign in ((low, 1), (high, -1)):
            self._widen_end(pairs, ends, sign, middle, inner)
            if np.isnan(ends).any():
                break

    def _widen_end(
        self, pairs: "PointPairs", ends: Floats, sign: int, middle: float, inner: Floats
    ) -> None:
        """Move one end outwards for one person after the other, until someone comes up twice."""
        need = self.shape.system.need
        tried: set[int] = set()
        while pairs.pivots > 0:
            who = _holding_back(sign * ends, inner / need)
            if who in tried:
                break
            tried.add(who)
            shown = pairs.furthest(who, sign)
            if shown is None:
                continue
            value = shown.value
            if shown.width < need[who]:
                if inner[who] <= need[who]:
                    continue
                share = (need[who] - shown.width) / (inner[who] - shown.width) * BARELY
                value += share * (middle - value)
            # an end that is still open, hence NaN, is moved too
            if not sign * value >= sign * ends[who]:
                ends[who] = value


def _holding_back(ends: Floats, widths: Floats) -> int:
    """Who has the least width of those whose end is open, hence NaN; else the worst end."""
    undecided = np.isnan(ends)
    if undecided.any():
        return int(np.where(undecided, -widths, -inf).argmax())
    return int(ends.argmax())


class WidthAt(NamedTuple):
    """The value of a sum, and someone's width there."""

    value: float
    width: float


class PointPairs:
    """The linear programs: two points with someone's width between them, where the sum is the same.

    And as small, or as large, as it can be.
    """

    def __init__(self, slices: Slices) -> None:
        system, inside = slices.shape.system, slices.shape.centre
        depth = float(np.minimum(inside, system.top - inside).min())
        self.slices = slices
        self.deep = 2 * system.slip / depth
        # what is asked of the solver makes up for moving its points towards the centre
        wanted = system.need + 3 * system.slip
        self.ask = wanted / (1 - min(self.deep, 0.5))
        self.columns = system.a.shape[1]
        zero, q = np.zeros_like(system.a), slices.a[-1:]
        both = [
            np.hstack([system.a, zero]),
            np.hstack([zero, system.a]),
            np.hstack([q, -q]),
            np.hstack([0 * q, 0 * q]),
        ]
        sides = np.concatenate([system.right, system.right, [0.0, 0.0]])
        tops = np.concatenate([system.top, system.top])
        self.program = LinearProgram.within(
            np.vstack(both), (sides, sides), (np.zeros_like(tops), tops)
        )
        self.sign = 0
        self.who = -1
        self.pivots = WORK // int(np.count_nonzero(slices.a))

    def furthest(self, who: int, sign: int) -> WidthAt | None:
        """The sum and the width at two points that were checked; None if the solver found none."""
        solver = self.program.solver
        last = self.slices.a.shape[0] * 2 - 1
        if sign != self.sign:
            for column in np.flatnonzero(self.slices.a[-1]).tolist():
                solver.changeColCost(column, float(sign))
            self.sign = sign
        if self.who >= 0:
            solver.changeCoeff(last, self.who, 0.0)
            solver.changeCoeff(last, self.columns + self.who, 0.0)
        self.who = who
        solver.changeCoeff(last, who, 1.0)
        solver.changeCoeff(last, self.columns + who, -1.0)
        solver.changeRowBounds(last, float(self.ask[who]), inf)
        # a time limit would depend on the machine
        solver.setOptionValue("simplex_iteration_limit", self.pivots)
        solver.run()
        self.pivots -= max(1, solver.getInfo().simplex_iteration_count)
        if solver.getModelStatus() != self.program.optimal or self.deep > 0.5:
            return None
        return self.checked(np.array(solver.getSolution().col_value), who)

    def checked(self, points: Floats, who: int) -> WidthAt | None:
        """What two points show once they are moved towards the centre and onto the grid.

        It holds whatever the solver did.
        """
        shape = self.slices.shape
        system, slip = shape.system, shape.system.slip
        clipped = np.clip(points.reshape(2, -1), 0, system.top)
        deeper = clipped * (1 - self.deep) + shape.centre * self.deep
        first, second = on_grid(deeper, system.unit)
        value = float(self.slices.a[-1] @ first)
        for point in (first, second):
            on_slice = self.slices.slip(point, value) <= slip
            inside = point.min() >= slip and np.all(point <= system.top - slip)
            if not (on_slice and inside):
                return None
        return WidthAt(value, float(first[who] - second[who]) - 2 * slip)
