"""What is known of people's values when sums of them are: a polytope, and how wide its slices surely are. `sums` uses it.

All is computed in floats, and nothing is believed that floats compute. A width counts if two points show it whose distance from
all constraints is known and can be made up for: docs/proofs/audit-sums.md has the argument. Whatever is in doubt is not safe.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, lcm, nextafter, sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.audit.model import Number
from shoal.errors import ParameterError, ShoalError, TooLargeError

__all__ = ["Box", "Row", "combination", "extremes", "free", "linked", "safe"]

Floats = npt.NDArray[np.float64]

NARROWEST = Fraction(1, 2**20)
"""The least width, of the widest bounds, that floats can still tell from nothing."""
STEPS = (
    60  # of Newton's method; it takes about five from a centre nearby, and fifteen from anywhere
)
CHORDS = 3  # times that an end of the safe interval is moved outwards
FAR = 3
"""An interval that reaches from the centre as many times the sum's spread is wide enough."""
LARGEST = 10_000
"""Numbers other than 0 in the rows up to which linear programs settle what is open and widen intervals that are not."""
WORK = 5_000_000  # pivots of these programs times such numbers, at most for one question
SETTINGS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",  # so that each program starts where the last one ended
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,
}
STEP = 1000  # ends of intervals are multiples of a width by this
ROUNDING = Fraction(1, 2**20)  # of such a step, which is more than the rounding of what chords give
LINKED = 10_000
"""People at most whom questions link with one another: a matrix of so many by so many has 800 MB."""
DEPENDENT = 1e-9  # a row this close to others, squared and relative to its length, may be a combination of them
DENOMINATOR = 1000  # of coefficients of such a combination


@dataclass(frozen=True)
class Row:
    """That the sum of some people's values is, or is at most or at least, a value."""

    people: int
    relation: Literal["=", "<=", ">="]
    value: Number


class Box:
    """Public bounds and the widths to keep, of everyone; inside, values run from 0 up to at most 1, at `scale`."""

    def __init__(
        self, low: Sequence[Fraction], high: Sequence[Fraction], width: Sequence[Fraction]
    ) -> None:
        spans = [most - least for least, most in zip(low, high, strict=True)]
        widest = max(spans)
        self.low, self.width = tuple(low), tuple(width)
        self.scale = Fraction(2) ** (
            widest.numerator.bit_length() - widest.denominator.bit_length() + 1
        )
        self.even = low[0] if len(set(low)) == 1 else None
        if min(width) < widest * NARROWEST:
            raise ParameterError(
                "a width below a millionth of the widest bounds cannot be told from rounding; give a larger one"
            )
        self.span = np.array([_down(span / self.scale) for span in spans])
        self.need = np.array([-_down(-least / self.scale) for least in width])
        self.slip = max(float(self.need.min()) / 2**16, 2.0**-30)

    def inside(self, people: int, value: Number) -> Fraction:
        """A sum of some people's values as it is inside."""
        lows = (
            self.even * people.bit_count()
            if self.even is not None
            else sum((self.low[i] for i in _people(people)), Fraction(0))
        )
        return (value - lows) / self.scale

    def outside(self, people: int, value: float, up: bool) -> Fraction:
        """The value of such a sum, rounded to a step of the least width of these people."""
        lows = -self.inside(people, 0)
        step = min(self.width[i] for i in _people(people)) / STEP
        steps = (Fraction(value) + lows) * self.scale / step
        return (ceil(steps + ROUNDING) if up else floor(steps - ROUNDING)) * step


def linked(rows: Sequence[Row], people: int) -> tuple[tuple[Row, ...], int]:
    """The rows that some people have to do with, and everyone in them: of others, a new row tells nothing."""
    before = 0
    while before != people:
        before = people
        for row in rows:
            people |= row.people if row.people & people else 0
    if people.bit_count() > LINKED:
        raise TooLargeError(
            f"this question is linked with others to {people.bit_count():,} people, and sums are audited for up to {LINKED:,}; "
            "audit parts of the table apart, so that no question is about people of two parts"
        )
    return tuple(row for row in rows if row.people & people), people


def combination(rows: Sequence[Row], people: int) -> tuple[Fraction, ...] | None:
    """The coefficients by which equations add up to a sum of some people's values, exactly; None where none are found."""
    if not rows:
        return None
    everyone = people
    for row in rows:
        everyone |= row.people
    a = _matrix([row.people for row in rows], _people(everyone))
    q = _matrix([people], _people(everyone))[0]
    try:
        y = np.linalg.solve(a @ a.T, a @ q)
        y += np.linalg.solve(a @ a.T, a @ (q - y @ a))
    except np.linalg.LinAlgError:
        return None
    if not np.all(np.abs(y) < 2**30):
        return None
    exact = tuple(Fraction(float(each)).limit_denominator(DENOMINATOR) for each in y)
    common = lcm(*(each.denominator for each in exact))
    whole = [int(each * common) for each in exact]
    if sum(map(abs, whole)) + common >= 2**62:
        return None
    same = np.array(whole, np.int64) @ a.astype(np.int64) == common * q.astype(np.int64)
    return exact if bool(same.all()) else None


def free(rows: tuple[Row, ...], people: int) -> bool:
    """Whether equations and one more leave everyone's value undetermined, where there are no bounds."""
    rows, everyone = linked(rows, people)
    who = _people(everyone)
    q = _matrix([people], who)[0]
    p = _projector(rows, everyone)
    v = p @ q
    s = float(q @ v)
    if s <= DEPENDENT * q.sum() or float((p.diagonal() - v * v / s).min()) <= DEPENDENT:
        return False
    a = np.vstack([_matrix([row.people for row in rows], who), q])
    unit = _unit(len(who))
    ways = _on(p - np.outer(v, v / s), unit)
    reach = _reach(a)
    return reach is not None and bool(np.all(ways.diagonal() > 2 * reach * _norms(a @ ways)))


def safe(box: Box, rows: tuple[Row, ...], people: int) -> tuple[Fraction, Fraction] | None:
    """Two values so that, if the sum of some people's values is any from one to the other, everyone's width is kept.

    The widths are known to be kept by the rows as they are. None if no such value was found.
    """
    rows, everyone = linked(rows, people)
    with np.errstate(all="ignore"):  # no comparison with what is no number holds
        shape = _shape(box, rows, everyone)
        slices = _Slices.of(shape, people) if shape else None
        found = slices.interval() if slices else None
    if found is None:
        return None
    low, high = box.outside(people, found[0], True), box.outside(people, found[1], False)
    return (low, high) if low < high else None


def extremes(
    low: Sequence[float], high: Sequence[float], rows: Sequence[Row], sums: Iterable[int]
) -> list[tuple[float, float]] | None:
    """The least and the largest that sums of some people's values can be, as a solver finds them; None if nothing is possible.

    For adversaries and demonstrations: what is safe is decided by `safe`, which trusts no solver.
    """
    ends = [(row.relation, float(row.value)) for row in rows]
    least = np.array([-inf if relation == "<=" else value for relation, value in ends])
    most = np.array([inf if relation == ">=" else value for relation, value in ends])
    a = _matrix([row.people for row in rows], range(len(low)))
    solver, optimal = _program(a, least, most, np.array(low, float), np.array(high, float))
    unbounded = type(optimal).kUnbounded
    found = []
    for people in sums:
        pair = []
        for sign in (1.0, -1.0):
            for person in _people(people):
                solver.changeColCost(person, sign)
            solver.run()
            status = solver.getModelStatus()
            if status not in (optimal, unbounded):
                return None
            pair.append(
                sign * (solver.getInfo().objective_function_value if status == optimal else -inf)
            )
        for person in _people(people):
            solver.changeColCost(person, 0.0)
        found.append((pair[0], pair[1]))
    return found


# Rows as matrices


@dataclass(frozen=True, eq=False)
class _System:
    """Rows over those whom they link; an inequality has a slack, which has no upper end."""

    who: list[int]
    a: Floats
    right: Floats  # on the grid
    top: Floats
    need: Floats
    slip: float
    unit: float

    @classmethod
    def of(cls, box: Box, rows: Sequence[Row], everyone: int) -> "_System":
        who = _people(everyone)
        slack = [place for place, row in enumerate(rows) if row.relation != "="]
        a = np.zeros((len(rows), len(who) + len(slack)))
        a[:, : len(who)] = _matrix([row.people for row in rows], who)
        a[slack, len(who) + np.arange(len(slack))] = [
            1 if rows[place].relation == "<=" else -1 for place in slack
        ]
        unit = _unit(a.shape[1])
        right = _on(np.array([float(box.inside(row.people, row.value)) for row in rows]), unit)
        top = np.concatenate([box.span[who], np.full(len(slack), inf)])
        return cls(who, a, right, top, box.need[who], box.slip, unit)


@dataclass(frozen=True, eq=False)
class _Shape:
    """A polytope, a point deep inside, and how far it reaches from there into each direction: Z, the inverse of the barrier's
    Hessian within the equations."""

    system: _System
    centre: Floats
    z: Floats
    scales: Floats


@lru_cache(maxsize=3)
def _shape(box: Box, rows: tuple[Row, ...], everyone: int) -> _Shape | None:
    system = _System.of(box, rows, everyone)
    found = _centre(box, rows, everyone)
    if found is None:
        return None
    x, top, a = found, system.top, system.a
    d = 1 / (1 / x**2 + 1 / (top - x) ** 2)
    half = a * np.sqrt(d)
    try:
        inverse = np.linalg.inv(half @ half.T)
    except np.linalg.LinAlgError:
        return None
    for _ in range(2):
        x = x + d * ((inverse @ (system.right - a @ x)) @ a)
    if not np.all((x > 0) & (x < top)):
        return None
    ad = a * d
    z = -(ad.T @ (inverse @ ad[:, : len(system.who)]))
    z[np.diag_indices(len(system.who))] += d[: len(system.who)]
    return _Shape(system, x, z, d)


@lru_cache(maxsize=64)
def _centre(box: Box, rows: tuple[Row, ...], everyone: int) -> Floats | None:
    """Where the product of distances from all bounds is largest, about.

    Newton's method starts from the centre of the first rows, as many as the number of rows less its lowest bit: a function of the
    rows alone, which takes few steps when rows came one by one, and few starts when they come all at once.
    """
    system = _System.of(box, rows, everyone)
    cold = np.concatenate([box.span[system.who] / 2, np.ones(system.a.shape[1] - len(system.who))])
    if not rows:
        return cold
    before = _centre(box, rows[: len(rows) & (len(rows) - 1)], everyone)
    if before is not None:
        slacks = cold[len(before) :]
        slacks[:] = 0.1
        found = _newton(system, np.concatenate([before, slacks]))
        if found is not None:
            return found
    return _newton(system, cold)


def _newton(system: _System, x: Floats) -> Floats | None:
    a, top = system.a, system.top
    for _ in range(STEPS):
        slope = 1 / (top - x) - 1 / x
        d = 1 / (1 / x**2 + 1 / (top - x) ** 2)
        half = a * np.sqrt(d)
        gap = system.right - a @ x
        try:
            y = np.linalg.solve(half @ half.T, -(a @ (d * slope)) - gap)
        except np.linalg.LinAlgError:
            return None
        step = -d * (slope + y @ a)
        speed = float(np.maximum(-step / x, step / (top - x)).max())
        if not speed < inf:
            return None
        x = x + (step if speed <= 0.9 else step * (0.9 / speed))
        if speed < 0.1:
            return x
    return None


@lru_cache(maxsize=4)
def _projector(rows: tuple[Row, ...], everyone: int) -> Floats:
    """Onto what equations leave free: from scratch at every 64th row, else by one more row."""
    who = _people(everyone)
    if len(rows) % 64 == 0:
        a = _matrix([row.people for row in rows], who)
        return np.eye(len(who)) - a.T @ np.linalg.pinv(a @ a.T, hermitian=True) @ a
    before = _projector(rows[:-1], everyone)
    v = before @ _matrix([rows[-1].people], who)[0]
    return before - np.outer(v, v / float(v @ v))


# Slices by one more row


@dataclass(frozen=True, eq=False)
class _Slices:
    """The slices of a polytope where one more sum has a value, and certified widths in them."""

    shape: _Shape
    a: Floats  # the rows and the sum
    reach: float  # how far a point may have to be moved for each unit that it is off the equations
    middle: float  # the sum at the centre
    spread: float  # how far the sum goes to where the barrier rises by about one
    along: Floats  # direction in which the sum grows by 1
    ways: Floats  # a direction for everyone, along the slices
    own: Floats  # how far everyone goes in theirs
    off: Floats  # how far the directions leave the slice

    @classmethod
    def of(cls, shape: _Shape, people: int) -> "_Slices | None":
        system = shape.system
        n = len(system.who)
        q = np.zeros(system.a.shape[1])
        q[:n] = _matrix([people], system.who)[0]
        zq = shape.z @ q[:n]
        s = float(q @ zq)
        # the test by linear algebra: a sum that the rows tell, or with which they tell someone's value
        if s <= DEPENDENT * float(q @ shape.scales):
            return None
        own = shape.z.diagonal() - zq[:n] ** 2 / s
        if float((own / shape.scales[:n]).min()) <= DEPENDENT:
            return None
        a = np.vstack([system.a, q])
        reach = _reach(a)
        if reach is None:
            return None
        ways = shape.z - np.outer(zq, zq[:n] / s)
        ways /= np.abs(ways).max(0)
        ways = _on(ways, system.unit)
        return cls(
            shape,
            a,
            reach,
            float(q @ shape.centre),
            sqrt(s),
            zq / s,
            ways,
            ways.diagonal().copy(),
            _norms(a @ ways),
        )

    def widths(self, value: float) -> Floats | None:
        """Widths that people have at least where the sum is `value`; None if it is not sure that this can be."""
        system = self.shape.system
        point = _on(self.shape.centre + (value - self.middle) * self.along, system.unit)
        up, down = system.top - system.slip - point, point - system.slip
        if not (self.slip(point, value) <= system.slip / 2 and up.min() > 0 and down.min() > 0):
            return None
        by_top, by_bottom = self.ways * (1 / up)[:, None], self.ways * (1 / down)[:, None]
        most = (
            system.slip / 4 / np.maximum(self.reach * self.off, 1e-300)
        )  # steps in which directions leave the slice too far
        forth = np.minimum(1 / np.maximum(by_top.max(0), -by_bottom.min(0)), most)
        back = np.minimum(1 / np.maximum(-by_top.min(0), by_bottom.max(0)), most)
        found: Floats = np.maximum(
            self.own * (forth + back) * (1 - 2.0**-30) - 2 * system.slip, 0.0
        )
        return found

    def slip(self, point: Floats, value: float) -> float:
        """How far a point on the grid is, at most, from one that satisfies all equations."""
        right = np.append(self.shape.system.right, value)
        return self.reach * (
            float(np.linalg.norm(self.a @ point - right)) * 1.001
            + sqrt(len(right)) * self.shape.system.unit
        )

    def interval(self) -> tuple[float, float] | None:
        """Ends between which everyone keeps their width: widths are concave in the sum."""
        unit = self.shape.system.unit
        middle = _rounded(self.middle, unit)
        inner = self.widths(middle)
        if inner is None:
            return None
        low, high = (
            self._outwards(middle, inner, _rounded(middle + sign * self._room(sign), unit))
            for sign in (-1, 1)
        )
        far = FAR * self.spread
        narrow = not (low.max() < middle - far and high.min() > middle + far)
        if narrow and np.count_nonzero(self.a) <= LARGEST:
            self._widen(middle, inner, low, high)
        return None if np.isnan(low + high).any() else (float(low.max()), float(high.min()))

    def _room(self, sign: int) -> float:
        """How far the sum can go from the middle along its direction."""
        system, x, g = self.shape.system, self.shape.centre, sign * self.along
        with np.errstate(divide="ignore", invalid="ignore"):
            rooms = np.where(
                g > 0,
                (system.top - x - 2 * system.slip) / g,
                np.where(g < 0, (2 * system.slip - x) / g, inf),
            )
        return max(0.0, float(rooms.min()) * 0.999)

    def _outwards(self, value: float, inner: Floats, outer_value: float) -> Floats:
        """For everyone, how far out their width is kept, by chords of widths that are known; NaN where it is not even inside."""
        need = self.shape.system.need
        outer = self.widths(outer_value)
        if outer is None:
            outer_value, outer = value, inner
        wide = inner >= need
        for turn in range(CHORDS + 1):
            share = np.where(outer >= need, 0.0, (need - outer) / np.maximum(inner - outer, 1e-300))
            reached = outer_value + np.minimum(share * (1 + 2.0**-30), 1.0) * (value - outer_value)
            worst = float(reached.max() if outer_value < value else reached.min())
            if turn == CHORDS or not wide.all() or worst in (value, outer_value):
                break
            there = self.widths(worst)
            if there is None:
                break
            value, inner = worst, np.maximum(there, need)
        return np.where(wide | (outer >= need), reached, np.nan)

    def _widen(self, middle: float, inner: Floats, low: Floats, high: Floats) -> None:
        """Linear programs for those whose width is open or who hold the interval back, as long as they do."""
        need, pairs = self.shape.system.need, _Pairs(self)
        for ends, sign in ((low, 1), (high, -1)):
            tried: set[int] = set()
            while pairs.pivots > 0:
                open_ = np.isnan(ends)
                who = int(
                    np.where(open_, -inner / need, -inf).argmax()
                    if open_.any()
                    else (sign * ends).argmax()
                )
                if who in tried:
                    break
                tried.add(who)
                found = pairs.furthest(who, sign)
                if found is None:
                    continue
                value, width = found
                if width < need[who]:
                    if inner[who] <= need[who]:
                        continue
                    value += (
                        (need[who] - width)
                        / (inner[who] - width)
                        * (1 + 2.0**-30)
                        * (middle - value)
                    )
                if not sign * value >= sign * ends[who]:
                    ends[who] = value
            if np.isnan(ends).any():
                break


class _Pairs:
    """The linear programs: two points where the sum is the same, as small (or large) as can be, with someone's width between."""

    def __init__(self, slices: _Slices) -> None:
        system, self.slices = slices.shape.system, slices
        self.deep = (
            2
            * system.slip
            / float(np.minimum(slices.shape.centre, system.top - slices.shape.centre).min())
        )
        self.ask = (system.need + 3 * system.slip) / (1 - min(self.deep, 0.5))
        self.columns = system.a.shape[1]
        zero, q = np.zeros_like(system.a), slices.a[-1:]
        both = [
            np.hstack([system.a, zero]),
            np.hstack([zero, system.a]),
            np.hstack([q, -q]),
            np.hstack([0 * q, 0 * q]),
        ]
        sides, tops = (
            np.concatenate([system.right, system.right, [0.0, 0.0]]),
            np.concatenate([system.top, system.top]),
        )
        self.solver, self.optimal = _program(
            np.vstack(both), sides, sides, np.zeros_like(tops), tops
        )
        self.sign, self.who = 0, -1
        self.pivots = WORK // int(np.count_nonzero(slices.a))

    def furthest(self, who: int, sign: int) -> tuple[float, float] | None:
        """The sum and the width at two points that were checked; None if the solver found none."""
        last = self.slices.a.shape[0] * 2
        if sign != self.sign:
            for column in np.flatnonzero(self.slices.a[-1]).tolist():
                self.solver.changeColCost(column, float(sign))
            self.sign = sign
        if self.who >= 0:
            self.solver.changeCoeff(last - 1, self.who, 0.0)
            self.solver.changeCoeff(last - 1, self.columns + self.who, 0.0)
        self.who = who
        self.solver.changeCoeff(last - 1, who, 1.0)
        self.solver.changeCoeff(last - 1, self.columns + who, -1.0)
        self.solver.changeRowBounds(last - 1, float(self.ask[who]), inf)
        self.solver.setOptionValue(
            "simplex_iteration_limit", self.pivots
        )  # a limit of time would depend on the machine
        self.solver.run()
        self.pivots -= max(1, self.solver.getInfo().simplex_iteration_count)
        if self.solver.getModelStatus() != self.optimal or self.deep > 0.5:
            return None
        return self._checked(np.array(self.solver.getSolution().col_value), who)

    def _checked(self, found: Floats, who: int) -> tuple[float, float] | None:
        """Both points, moved a little towards the centre and onto the grid, and what they show whatever the solver did."""
        shape = self.slices.shape
        system, slip = shape.system, shape.system.slip
        points = (
            np.clip(found.reshape(2, -1), 0, system.top) * (1 - self.deep)
            + shape.centre * self.deep
        )
        one, other = _on(points, system.unit)
        value = float(self.slices.a[-1] @ one)
        for point in (one, other):
            if not (
                self.slices.slip(point, value) <= slip
                and point.min() >= slip
                and np.all(point <= system.top - slip)
            ):
                return None
        return value, float(one[who] - other[who]) - 2 * slip


def _program(a: Floats, least: Floats, most: Floats, low: Floats, high: Floats) -> tuple[Any, Any]:
    """A linear program without costs yet, and what the solver says when it is solved."""
    try:
        import highspy
    except ModuleNotFoundError:
        raise ShoalError(
            "auditing sums needs HiGHS; install it with: pip install 'shoal[audit]'"
        ) from None
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = a.shape
    model.col_cost_ = np.zeros(len(low))
    model.col_lower_, model.col_upper_, model.row_lower_, model.row_upper_ = low, high, least, most
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.count_nonzero(a, axis=1))]).astype(
        np.int32
    )
    model.a_matrix_.index_, model.a_matrix_.value_ = (
        np.nonzero(a)[1].astype(np.int32),
        a[np.nonzero(a)],
    )
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, setting in SETTINGS.items():
        solver.setOptionValue(option, setting)
    solver.passModel(model)
    return solver, highspy.HighsModelStatus.kOptimal


# Numbers


def _people(people: int) -> list[int]:
    bits = np.frombuffer(people.to_bytes(people.bit_length() // 8 + 1, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
    return found


def _matrix(sets: Iterable[int], who: Sequence[int]) -> Floats:
    """A row for each set: 1 for those in it."""
    size = who[-1] // 8 + 1
    packed = b"".join(people.to_bytes(size, "little") for people in sets)
    bits = np.unpackbits(
        np.frombuffer(packed, np.uint8).reshape(-1, size), axis=1, bitorder="little"
    )
    return bits[:, who].astype(np.float64)


def _unit(columns: int) -> float:
    """The grid on which sums of so many numbers up to 1, and a slack, are exact in floats."""
    return 2.0 ** (columns.bit_length() - 50)


def _on(numbers: Floats, unit: float) -> Floats:
    return np.rint(numbers / unit) * unit


def _rounded(number: float, unit: float) -> float:
    return round(number / unit) * unit


def _norms(columns: Floats) -> Floats:
    norms: Floats = np.linalg.norm(columns, axis=0) * 1.001
    return norms


def _reach(a: Floats) -> float | None:
    """An upper bound on the norm of the pseudo-inverse; None where rows may be dependent."""
    gram = a @ a.T  # of whole numbers, hence exact
    try:
        inverse = np.linalg.inv(gram)
    except np.linalg.LinAlgError:
        return None
    size = float(np.linalg.norm(inverse))
    wrong = float(np.linalg.norm(np.eye(len(a)) - inverse @ gram)) + len(
        a
    ) * 2.0**-51 * size * float(np.linalg.norm(gram))
    return sqrt(size / (1 - wrong)) * 1.001 if wrong < 0.5 else None


def _down(number: Fraction) -> float:
    near = float(number)
    return near if Fraction(near) <= number else nextafter(near, -inf)
