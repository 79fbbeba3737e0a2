"""How wide everyone's possible values surely are, in slices where one more sum has a value.

Variables are the sums of cells, people whom no constraint distinguishes. All is computed in floats,
and nothing that floats compute is believed. A width counts if two points show it whose distance
from all constraints is known and can be made up for: docs/proofs/audit-sums.md has the argument.
Whatever is in doubt is not safe. Uses `cells`, `polytope` and `matrices`; `sums` uses `safe`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from shoal.audit.cells import Constraint, Ints, PersonCells
from shoal.audit.cells import cells as cells_of
from shoal.audit.matrices import (
    Floats,
    LinearProgram,
    grid_unit,
    norms,
    on_grid,
    reach,
)
from shoal.audit.polytope import DEPENDENT, Box, linked, told_apart

__all__ = [
    "PointPairs",
    "Shape",
    "Slices",
    "System",
    "WidthAt",
    "centre",
    "certified",
    "safe",
    "shape",
]

STEPS = 60
"""Of Newton's method; it takes about five from a centre nearby, and fifteen from anywhere."""

NEW_SLACK = 0.1
"""Where Newton's method starts for the slack of a new inequality."""

CHORDS = 3
"""Times that an end of the safe interval is moved outwards."""

FAR = 3
"""An interval that reaches this many times the sum's spread from the centre is wide enough."""

LARGEST = 10_000
"""Nonzeros up to which linear programs settle open widths and widen narrow intervals."""

SMALL = 100
"""Nonzeros up to which programs find both ends, whatever was found before."""

DIRECTIONS = 20_000_000
"""Entries of directions up to which cells of several people have some, too."""

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
    constraints, _ = linked(constraints, people)
    groups = told_apart(constraints, people, box.kinds)
    # NaN compares false with everything, so what is not a number is never taken as safe
    with np.errstate(all="ignore"):
        known = shape(box, constraints, groups)
        slices = None if known is None else Slices.of(known, people)
        interval = None if slices is None else slices.interval()
    if interval is None:
        return None
    low = box.outside(people, interval[0], True)
    high = box.outside(people, interval[1], False)
    return (low, high) if low < high else None


def certified(
    box: Box, constraints: tuple[Constraint, ...], cells: PersonCells
) -> list[Fraction] | None:
    """Lower bounds on what one person of each cell can have; None where floats show nothing."""
    with np.errstate(all="ignore"):
        known = shape(box, constraints, cells)
        slices = None if known is None else Slices.whole(known)
        widths = None if slices is None else slices.widths(0.0)
    if widths is None or not np.all(np.isfinite(widths)):
        return None
    return [Fraction(float(width)) * box.scale for width in widths]


@dataclass(frozen=True, eq=False)
class System:
    """Constraints over cells; an inequality has a slack, which has no upper end.

    mass: how many people a column stands for; a slack is one
    top: the most that a column can be
    span, need: what one person of each cell can have, and the width to keep
    unit: of the grid of points, on which sums of columns are exact in whole numbers
    """

    cells: PersonCells
    a: Floats
    right: Ints
    mass: Floats
    top: Floats
    span: Floats
    need: Floats
    slip: float
    unit: float

    @classmethod
    def of(cls, box: Box, constraints: Sequence[Constraint], cells: PersonCells) -> "System":
        count = len(cells)
        slack = [place for place, each in enumerate(constraints) if each.relation != "="]
        signs = [1 if constraints[place].relation == "<=" else -1 for place in slack]
        a = np.zeros((len(constraints), count + len(slack)))
        a[:, :count] = cells.rows(each.people for each in constraints)
        a[slack, count + np.arange(len(slack))] = signs
        bits = int(cells.sizes.sum()).bit_length()
        unit = Fraction(2) ** (bits - 60)
        values = [round(box.inside(each.people, each.value) / unit) for each in constraints]
        kinds = box.kinds_of(cells.first)
        span, need = box.span[kinds], box.need[kinds]
        mass = np.concatenate([cells.sizes, np.ones(len(slack))])
        top = np.concatenate([cells.sizes * span, np.full(len(slack), inf)])
        slip = max(float(box.need.min()) / 2**16, 2.0**-30, 2.0 ** (bits - 46))
        right = np.array(values, np.int64)
        return cls(cells, a, right, mass, top, span, need, slip, float(unit))

    def gap(self, x: Floats) -> Floats:
        """What is missing to the right sides, in floats."""
        gap: Floats = self.right * self.unit - self.a @ x
        return gap

    def scales(self, x: Floats) -> Floats:
        """How far columns can go from a point to either end, squared: the inverse Hessian."""
        by_bottom = 1 / x**2
        by_top = 1 / (self.top - x) ** 2
        scales: Floats = 1 / (self.mass * (by_bottom + by_top))
        return scales


@dataclass(frozen=True, eq=False)
class Shape:
    """A polytope, a point deep inside, and how far it reaches from there in each direction.

    scales: the inverse of the barrier's Hessian, without the equations
    inverse: of what the equations make of these
    """

    system: System
    centre: Floats
    scales: Floats
    inverse: Floats

    def within(self, columns: Floats) -> Floats:
        """The inverse of the Hessian within the equations, times some columns."""
        spread = self.scales[:, None] * columns
        a = self.system.a
        rest = self.inverse @ (a @ spread)
        return spread - self.scales[:, None] * (a.T @ rest)


def shape(box: Box, constraints: tuple[Constraint, ...], cells: PersonCells) -> Shape | None:
    """The shape of a polytope, or None where floats find no point inside."""
    middle = centre(box, constraints)
    if middle is None:
        return None
    system = System.of(box, constraints, cells)
    x = middle.over(system)
    a = system.a
    d = system.scales(x)
    half = a * np.sqrt(d)
    try:
        inverse = np.linalg.inv(half @ half.T).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    # the centre is only about right, so it is put onto the equations, twice for the rounding
    for _ in range(2):
        x = x + d * ((inverse @ system.gap(x)) @ a)
    if not np.all((x > 0) & (x < system.top)):
        return None
    return Shape(system, x, d, inverse)


@dataclass(frozen=True, eq=False)
class Centre:
    """A point deep inside: what each person of a cell has there, and the slacks."""

    cells: PersonCells
    averages: Floats
    slacks: Floats

    def over(self, system: System) -> Floats:
        """The same point over cells that are the same or finer, and more slacks.

        Whoever is new has the middle between their bounds.
        """
        first = system.cells.first
        averages = system.span / 2
        if len(self.cells):
            known = first < len(self.cells.labels)
            labels = np.where(known, self.cells.labels[np.where(known, first, 0)], -1)
            averages = np.where(labels >= 0, self.averages[labels], averages)
        slacks = np.full(system.a.shape[1] - len(first), NEW_SLACK)
        slacks[: len(self.slacks)] = self.slacks
        return np.concatenate([averages * system.cells.sizes, slacks])


@lru_cache(maxsize=16)
def centre(box: Box, constraints: tuple[Constraint, ...]) -> Centre | None:
    """About where the product of everyone's distances from their bounds is largest.

    The people of a cell have the same values there, as nothing distinguishes them. Newton's method
    starts from the centre of the first constraints, as many as their number less its lowest bit.
    That is a function of the constraints alone, takes few steps when they came one by one, and few
    starts when they come all at once.
    """
    system = System.of(box, constraints, cells_of(constraints, 0, box.kinds))
    count = len(system.cells)
    cold = np.where(np.isfinite(system.top), system.top / 2, 1.0)
    x: Floats | None = cold
    if constraints:
        earlier = centre(box, constraints[: len(constraints) & (len(constraints) - 1)])
        x = None if earlier is None else _newton(system, earlier.over(system))
        if x is None:
            x = _newton(system, cold)
    if x is None:
        return None
    return Centre(system.cells, x[:count] / system.cells.sizes, x[count:])


def _newton(system: System, x: Floats) -> Floats | None:
    a, top, mass = system.a, system.top, system.mass
    for _ in range(STEPS):
        room = top - x
        slope = mass * (1 / room - 1 / x)
        d = system.scales(x)
        half = a * np.sqrt(d)
        target = -(a @ (d * slope)) - system.gap(x)
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


@dataclass(frozen=True, eq=False)
class Slices:
    """The slices of a polytope where one more sum has a value, and certified widths in them.

    a: the constraints and the sum
    inverse: of what they make of the shape's scales
    reach: how far people may have to be moved for each unit that a point is off the equations
    middle: the sum at the centre
    spread: how far the sum goes to where the barrier rises by about one
    along: the direction in which the sum grows by 1
    moving: the cells that have a direction of their own
    ways: these directions, along the slices
    moves: how far each of these cells moves in its direction
    off: how far the directions leave the slice
    """

    shape: Shape
    a: Floats
    inverse: Floats
    reach: float
    middle: float
    spread: float
    along: Floats
    moving: Ints
    ways: Floats
    moves: Floats
    off: Floats

    @classmethod
    def of(cls, shape: Shape, people: int) -> "Slices | None":
        """None where the sum follows from the constraints, or determines a value with them."""
        system = shape.system
        q = np.zeros(system.a.shape[1])
        q[: len(system.cells)] = system.cells.rows([people])[0]
        zq = shape.within(q[:, None])[:, 0]
        s = float(q @ zq)
        # the sum hardly varies within the constraints, so it may follow from them
        if s <= DEPENDENT * float(q @ shape.scales):
            return None
        a = np.vstack([system.a, q])
        furthest = reach(a, system.mass)
        half = a * np.sqrt(shape.scales)
        try:
            inverse = np.linalg.inv(half @ half.T)
        except np.linalg.LinAlgError:
            return None
        moving = _moving(shape)
        ways = _directions(shape, zq, s, moving)
        if furthest is None or ways is None:
            return None
        return cls(
            shape=shape,
            a=a,
            inverse=inverse,
            reach=furthest,
            middle=float(q @ shape.centre),
            spread=sqrt(s),
            along=zq / s,
            moving=moving,
            ways=ways,
            moves=ways[moving, np.arange(len(moving))],
            off=norms(a @ ways),
        )

    @classmethod
    def whole(cls, shape: Shape) -> "Slices | None":
        """The polytope itself, as its only slice; None where someone's value is determined."""
        system = shape.system
        moving = _moving(shape)
        nothing = np.zeros(system.a.shape[1])
        ways = _directions(shape, nothing, 1.0, moving)
        furthest = reach(system.a, system.mass) if len(system.a) else 0.0
        if furthest is None or ways is None:
            return None
        moves = ways[moving, np.arange(len(moving))]
        off = norms(system.a @ ways)
        inverse = shape.inverse
        return cls(shape, system.a, inverse, furthest, 0.0, 0.0, nothing, moving, ways, moves, off)

    def widths(self, value: float) -> Floats | None:
        """Lower bounds on widths where the sum is `value`; None if it may be impossible."""
        system = self.shape.system
        point = self.point(value)
        x = np.asarray(point * system.unit, np.float64)
        kept = system.mass * system.slip
        up = system.top - kept - x
        down = x - kept
        near = self.slip(point, value) <= system.slip / 2
        if not (near and up.min() > 0 and down.min() > 0):
            return None
        by_top = self.ways * (1 / up)[:, None]
        by_bottom = self.ways * (1 / down)[:, None]
        # beyond these steps, directions leave the slice too far
        most = system.slip / 4 / np.maximum(self.reach * self.off, TINY)
        # whoever comes to a bound first ends a direction, forwards and backwards
        first_forth = np.maximum(by_top.max(0, initial=0.0), -by_bottom.min(0, initial=0.0))
        first_back = np.maximum(-by_top.min(0, initial=0.0), by_bottom.max(0, initial=0.0))
        forth, back = np.zeros(len(system.cells)), np.zeros(len(system.cells))
        forth[self.moving] = self.moves * np.minimum(1 / np.maximum(first_forth, TINY), most)
        back[self.moving] = self.moves * np.minimum(1 / np.maximum(first_back, TINY), most)
        return self._by_cells(x[: len(forth)], forth, back)

    def _by_cells(self, x: Floats, forth: Floats, back: Floats) -> Floats:
        """What one person of each cell can have while the cell's sum moves forth and back.

        The others of the cell share the rest, and are between their bounds, too.
        """
        system = self.shape.system
        slip, others = system.slip, system.cells.sizes - 1
        exact = 1 - 2.0**-30
        highest = np.minimum(system.span - slip, x + forth * exact - others * slip)
        lowest = np.maximum(slip, x - back * exact - others * (system.span - slip))
        # both ends may have to be moved by a slip, back onto the equations
        widths: Floats = np.maximum(highest - lowest - 2 * slip, 0.0)
        return widths

    def point(self, value: float) -> Ints:
        """A point on the grid near the slice at a value, deep inside of it."""
        unit = self.shape.system.unit
        moved = self.shape.centre + (value - self.middle) * self.along
        point = _whole(moved, unit)
        for _ in range(2):
            gap = -self.residue(point, value) * unit
            step = self.shape.scales * ((self.inverse @ gap) @ self.a)
            point = point + _whole(step, unit)
        return point

    def residue(self, point: Ints, value: float) -> Ints:
        """How far a point on the grid is off the equations, in units and exactly."""
        system = self.shape.system
        sums = self.a.astype(np.int64) @ point
        right = system.right
        if len(self.a) > len(right):
            right = np.append(right, np.int64(round(value / system.unit)))
        off: Ints = sums - right
        return off

    def slip(self, point: Ints, value: float) -> float:
        """How far people are, at most, from a point that satisfies all equations."""
        off = self.residue(point, value) * self.shape.system.unit
        length = float(np.linalg.norm(off)) * 1.001
        return self.reach * (length + sqrt(len(off)) * self.shape.system.unit)

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
        nonzeros = np.count_nonzero(self.a)
        if nonzeros <= SMALL or (nonzeros <= LARGEST and not wide):
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


def _moving(shape: Shape) -> Ints:
    """Cells that need a direction: of one person, or where the centre alone shows too little.

    In larger cells, someone can nearly always have more while others have less.
    """
    system = shape.system
    sizes = system.cells.sizes
    x = shape.centre[: len(sizes)]
    highest = np.minimum(system.span, x)
    lowest = np.maximum(0.0, x - (sizes - 1) * system.span)
    shown = highest - lowest
    chosen: Ints = np.flatnonzero((sizes == 1) | (shown < 2 * system.need))
    if len(chosen) * len(sizes) <= DIRECTIONS:
        return chosen
    alone: Ints = np.flatnonzero(sizes == 1)
    return alone


def _directions(shape: Shape, zq: Floats, s: float, moving: Ints) -> Floats | None:
    """A direction along the slices for some cells; None if one determines a value."""
    system = shape.system
    places = moving, np.arange(len(moving))
    units = np.zeros((system.a.shape[1], len(moving)))
    units[places] = 1.0
    ways = shape.within(units) - np.outer(zq, zq[moving] / s)
    # how much a cell still varies once the sum is known
    fixed = ~(ways[places] > DEPENDENT * shape.scales[moving])
    if np.any(fixed & (system.cells.sizes[moving] == 1)):
        return None
    ways[:, fixed] = 0.0
    ways /= np.maximum(np.abs(ways).max(0, initial=0.0), TINY)
    return on_grid(ways, grid_unit(len(ways)))


def _whole(values: Floats, unit: float) -> Ints:
    """The nearest points of a grid; what does not fit becomes a point that fits nothing."""
    steps = np.rint(values / unit)
    far = ~(np.abs(steps) < 2.0**61)
    return np.where(far, 2.0**61, steps).astype(np.int64)


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

    And as small, or as large, as it can be. Besides the cells, each point has someone of one cell,
    and the rest of that cell is within its bounds, too.
    """

    def __init__(self, slices: Slices) -> None:
        system = slices.shape.system
        average = slices.shape.centre / system.mass
        depth = float(np.minimum(average, system.top / system.mass - average).min())
        self.slices = slices
        self.deep = 2 * system.slip / depth
        # what is asked of the solver makes up for moving its points towards the centre
        wanted = system.need + 3 * system.slip
        self.ask = wanted / (1 - min(self.deep, 0.5))
        self.columns = system.a.shape[1]
        self.program = self._program(slices)
        self.sign = 0
        self.who = -1
        self.pivots = WORK // int(np.count_nonzero(slices.a))

    def _program(self, slices: Slices) -> LinearProgram:
        """Columns: the cells of both points, and someone at each. Rows: see `_choose` for the last.

        All constraints hold at both points, and the sum is the same.
        """
        system = slices.shape.system
        q = slices.a[-1]
        zero = np.zeros_like(system.a)
        some = np.zeros((len(system.a), 2))
        both = [
            np.hstack([system.a, zero, some]),
            np.hstack([zero, system.a, some]),
            np.concatenate([q, -q, [0.0, 0.0]])[None],
            np.zeros((3, 2 * self.columns + 2)),
        ]
        both[-1][[0, 1], [-2, -1]] = -1.0
        both[-1][2, [-2, -1]] = 1.0, -1.0
        right = system.right * system.unit
        sides = np.concatenate([right, right, [0.0] * 4])
        tops = np.concatenate([system.top, system.top, [0.0, 0.0]])
        return LinearProgram.within(np.vstack(both), (sides, sides), (np.zeros_like(tops), tops))

    def _choose(self, who: int) -> None:
        """Someone of another cell: their width, and what the others of the cell have."""
        solver, system = self.program.solver, self.slices.shape.system
        first = 2 * len(system.a) + 1
        rest = float(system.cells.sizes[who] - 1) * float(system.span[who])
        for point in (0, 1):
            if self.who >= 0:
                solver.changeCoeff(first + point, point * self.columns + self.who, 0.0)
            solver.changeCoeff(first + point, point * self.columns + who, 1.0)
            solver.changeRowBounds(first + point, 0.0, rest)
            solver.changeColBounds(2 * self.columns + point, 0.0, float(system.span[who]))
        solver.changeRowBounds(first + 2, float(self.ask[who]), inf)
        self.who = who

    def furthest(self, who: int, sign: int) -> WidthAt | None:
        """The sum and the width at two points that were checked; None if the solver found none."""
        solver = self.program.solver
        if sign != self.sign:
            for column in np.flatnonzero(self.slices.a[-1]).tolist():
                solver.changeColCost(column, float(sign))
            self.sign = sign
        self._choose(who)
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
        slices, shape = self.slices, self.slices.shape
        system, slip = shape.system, shape.system.slip
        size = int(system.cells.sizes[who])
        someone = np.clip(points[-2:], 0, system.span[who])
        someone += self.deep * (shape.centre[who] / size - someone)
        clipped = np.clip(points[:-2].reshape(2, -1), 0, system.top)
        deeper = clipped * (1 - self.deep) + shape.centre * self.deep
        first, second = _whole(deeper, system.unit)
        value = int(slices.a[-1].astype(np.int64) @ first) * system.unit
        kept = system.mass * slip
        for point, one in zip((first, second), someone, strict=True):
            x = point * system.unit
            others = x[who] - one
            on_slice = slices.slip(point, value) <= slip / 2
            inside = np.all(x >= kept) and np.all(x <= system.top - kept)
            apart = slip <= one <= system.span[who] - slip
            share = (size - 1) * slip <= others <= (size - 1) * (system.span[who] - slip)
            if not (on_slice and inside and (apart and share if size > 1 else True)):
                return None
        if size == 1:
            someone = np.array([first[who], second[who]]) * system.unit
        return WidthAt(value, float(someone[0] - someone[1]) - 2 * slip)
