"""What is known of people's values when sums of them are: public bounds and linear constraints.

Here are the constraints, whom they link, what follows from them exactly, and whether they leave
everyone undetermined where there are no bounds. `slices` measures how wide everyone's possible
values are within bounds. Floats are used, and nothing they compute is believed unchecked:
docs/proofs/audit-sums.md. Uses `matrices`; `slices` and `sums` use it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, lcm
from typing import Literal

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
    round_down,
)
from shoal.audit.model import Number
from shoal.errors import ParameterError, TooLargeError

__all__ = ["Box", "Constraint", "combination", "extremes", "free", "linked"]

NARROWEST = Fraction(1, 2**20)
"""The least width, relative to the widest bounds, that floats can tell from nothing."""

STEP = 1000
"""Ends of intervals are multiples of a width divided by this."""

ROUNDING = Fraction(1, 2**20)
"""Of such a step: more than the rounding of what chords give."""

LINKED = 10_000
"""People whom questions may link with one another: a square matrix of that size is 800 MB."""

DEPENDENT = 1e-9
"""A row this close to others, squared and relative to its length, may be a combination of them."""

DENOMINATOR = 1000
"""The largest denominator of the coefficients of a combination."""


@dataclass(frozen=True)
class Constraint:
    """That the sum of some people's values is, or is at most or at least, a value."""

    people: int
    relation: Literal["=", "<=", ">="]
    value: Number


class Box:
    """Everyone's public bounds and the widths to keep.

    Inside, values run from 0 up to at most 1, in units of `scale`.
    """

    def __init__(
        self, low: Sequence[Fraction], high: Sequence[Fraction], width: Sequence[Fraction]
    ) -> None:
        spans = [most - least for least, most in zip(low, high, strict=True)]
        widest = max(spans)
        if min(width) < widest * NARROWEST:
            raise ParameterError(
                "a width below a millionth of the widest bounds is lost in rounding",
                "give a larger `width`",
            )
        exponent = widest.numerator.bit_length() - widest.denominator.bit_length() + 1
        self.scale = Fraction(2) ** exponent
        self.low = tuple(low)
        self.width = tuple(width)
        self.even = low[0] if len(set(low)) == 1 else None
        self.span = np.array([round_down(span / self.scale) for span in spans])
        self.need = np.array([-round_down(-least / self.scale) for least in width])
        self.slip = max(float(self.need.min()) / 2**16, 2.0**-30)

    def inside(self, people: int, value: Number) -> Fraction:
        """A sum of people's values, as it is inside."""
        if self.even is not None:
            lows = self.even * people.bit_count()
        else:
            lows = sum((self.low[person] for person in numbers(people)), Fraction(0))
        return (value - lows) / self.scale

    def outside(self, people: int, value: float, up: bool) -> Fraction:
        """The value of such a sum, rounded to a step of these people's least width."""
        lows = -self.inside(people, 0)
        step = min(self.width[person] for person in numbers(people)) / STEP
        steps = (Fraction(value) + lows) * self.scale / step
        whole = ceil(steps + ROUNDING) if up else floor(steps - ROUNDING)
        return whole * step


def linked(constraints: Sequence[Constraint], people: int) -> tuple[tuple[Constraint, ...], int]:
    """The constraints connected with some people, and everyone in them.

    About anyone else, a new constraint on these people says nothing.
    """
    before = 0
    while before != people:
        before = people
        for constraint in constraints:
            if constraint.people & people:
                people |= constraint.people
    count = people.bit_count()
    if count > LINKED:
        raise TooLargeError(
            f"this question is linked with others to {count:,} people, "
            f"and sums are audited for up to {LINKED:,}",
            "audit parts of the table separately, so that no question is about people of two parts",
        )
    return tuple(each for each in constraints if each.people & people), people


def combination(equations: Sequence[Constraint], people: int) -> tuple[Fraction, ...] | None:
    """The coefficients by which equations add up exactly to a sum over people; else None."""
    if not equations:
        return None
    everyone = people
    for equation in equations:
        everyone |= equation.people
    who = numbers(everyone)
    a = incidence([equation.people for equation in equations], who)
    q = incidence([people], who)[0]
    try:
        # least squares, and once more for what rounding has left over
        y = np.linalg.solve(a @ a.T, a @ q)
        y += np.linalg.solve(a @ a.T, a @ (q - y @ a))
    except np.linalg.LinAlgError:
        return None
    if not np.all(np.abs(y) < 2**30):
        return None
    # floats only suggest the coefficients; whether they are right is checked in whole numbers
    exact = tuple(Fraction(float(each)).limit_denominator(DENOMINATOR) for each in y)
    common = lcm(*(each.denominator for each in exact))
    whole = [int(each * common) for each in exact]
    if sum(map(abs, whole)) + common >= 2**62:
        return None
    sums = np.array(whole, np.int64) @ a.astype(np.int64)
    same = sums == common * q.astype(np.int64)
    return exact if bool(same.all()) else None


def free(equations: tuple[Constraint, ...], people: int) -> bool:
    """Whether, without bounds, equations and one more leave everyone's value undetermined."""
    equations, everyone = linked(equations, people)
    who = numbers(everyone)
    q = incidence([people], who)[0]
    p = projector(equations, everyone)
    v = p @ q
    s = float(q @ v)
    if s <= DEPENDENT * q.sum():
        return False
    if float((p.diagonal() - v * v / s).min()) <= DEPENDENT:
        return False
    rows = incidence([equation.people for equation in equations], who)
    a = np.vstack([rows, q])
    furthest = reach(a)
    if furthest is None:
        return False
    # everyone moves in a direction of their own, by more than it may be off the equations
    ways = on_grid(p - np.outer(v, v / s), grid_unit(len(who)))
    off = furthest * norms(a @ ways)
    return bool(np.all(ways.diagonal() > 2 * off))


@lru_cache(maxsize=4)
def projector(equations: tuple[Constraint, ...], everyone: int) -> Floats:
    """Onto what equations leave free: from scratch at every 64th equation, else by one more."""
    who = numbers(everyone)
    if len(equations) % 64 == 0:
        a = incidence([equation.people for equation in equations], who)
        inverse = np.linalg.pinv(a @ a.T, hermitian=True)
        return np.eye(len(who)) - a.T @ inverse @ a
    before = projector(equations[:-1], everyone)
    v = before @ incidence([equations[-1].people], who)[0]
    return before - np.outer(v, v / float(v @ v))


def extremes(
    low: Sequence[float],
    high: Sequence[float],
    constraints: Sequence[Constraint],
    sums: Iterable[int],
) -> list[tuple[float, float]] | None:
    """The least and the largest that sums of people's values can be, as a solver finds them.

    None if nothing is possible. This is for adversaries and demonstrations: `slices.safe` decides
    what is safe, and trusts no solver.
    """
    values = np.array([float(each.value) for each in constraints])
    open_below = np.array([each.relation == "<=" for each in constraints], bool)
    open_above = np.array([each.relation == ">=" for each in constraints], bool)
    rows = np.where(open_below, -inf, values), np.where(open_above, inf, values)
    columns = np.array(low, float), np.array(high, float)
    a = incidence([each.people for each in constraints], range(len(low)))
    program = LinearProgram.within(a, rows, columns)
    ends = []
    for people in sums:
        who = numbers(people)
        least = _optimum(program, who, 1.0)
        most = _optimum(program, who, -1.0)
        if least is None or most is None:
            return None
        for person in who:
            program.solver.changeColCost(person, 0.0)
        ends.append((least, -most))
    return ends


def _optimum(program: LinearProgram, who: Sequence[int], sign: float) -> float | None:
    for person in who:
        program.solver.changeColCost(person, sign)
    return program.minimum()
