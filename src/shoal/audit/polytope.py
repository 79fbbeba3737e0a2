"""What is known of people's values when sums of them are: public bounds and linear constraints.

Here are the bounds, whom constraints link, what follows from them exactly, and whether they leave
everyone undetermined where there are no bounds. `slices` measures how wide everyone's possible
values are within bounds. Floats are used, and nothing they compute is believed unchecked:
docs/proofs/audit-sums.md. Uses `cells` and `matrices`; `slices` and `sums` use it.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor, inf, lcm

import numpy as np

from shoal.audit.cells import Constraint, Ints, Labels, PersonCells, bits, cells
from shoal.audit.matrices import (
    Floats,
    LinearProgram,
    grid_unit,
    norms,
    on_grid,
    reach,
    round_down,
)
from shoal.audit.model import Number
from shoal.errors import ParameterError, TooLargeError

__all__ = ["Box", "combination", "extremes", "free", "left_free", "linked", "sides", "told_apart"]

NARROWEST = Fraction(1, 2**20)
"""The least width, relative to the widest bounds, that floats can tell from nothing."""

STEP = 1000
"""Ends of intervals are multiples of a width divided by this."""

ROUNDING = Fraction(1, 2**20)
"""Of such a step: more than the rounding of what chords give."""

LINKED = 10_000
"""A matrix of cells that questions link may be as large as a square one of this size: 800 MB."""

DEPENDENT = 1e-9
"""A row this close to others, squared and relative to its length, may be a combination of them."""

DENOMINATOR = 1000
"""The largest denominator of the coefficients of a combination."""


class Box:
    """Public bounds and the widths to keep, of each kind of people.

    Inside, values run from 0 up to at most 1, in units of `scale`.

    kinds: everyone's kind; by default there is one for all, or one entry for each person
    """

    def __init__(
        self,
        low: Sequence[Fraction],
        high: Sequence[Fraction],
        width: Sequence[Fraction],
        kinds: Labels | None = None,
    ) -> None:
        if kinds is None and len(low) > 1:
            # people with the same bounds and the same width are of one kind
            triples = list(zip(low, high, width, strict=True))
            number = {triple: place for place, triple in enumerate(dict.fromkeys(triples))}
            kinds = np.array([number[triple] for triple in triples], np.int32)
            low, high, width = zip(*number, strict=True)
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
        self.kinds = kinds if len(low) > 1 else None
        self.span = np.array([round_down(span / self.scale) for span in spans])
        self.need = np.array([-round_down(-least / self.scale) for least in width])

    def kinds_of(self, first: Ints) -> Ints:
        """The kinds of some people."""
        if self.kinds is None:
            return np.zeros(len(first), np.int64)
        return self.kinds[first].astype(np.int64)

    def counts(self, people: int) -> list[int]:
        """How many people of each kind are in a set."""
        if self.kinds is None:
            return [people.bit_count()]
        inside = bits([people], people.bit_length())[0].astype(bool)
        kinds = self.kinds[: len(inside)][inside]
        counts: list[int] = np.bincount(kinds, minlength=len(self.low)).tolist()
        return counts

    def inside(self, people: int, value: Number) -> Fraction:
        """A sum of people's values, as it is inside."""
        pairs = zip(self.low, self.counts(people), strict=True)
        lows = sum((low * count for low, count in pairs), Fraction(0))
        return (value - lows) / self.scale

    def outside(self, people: int, value: float, up: bool) -> Fraction:
        """The value of such a sum, rounded to a step of these people's least width."""
        lows = -self.inside(people, 0)
        step = self.least_width(people) / STEP
        steps = (Fraction(value) + lows) * self.scale / step
        whole = ceil(steps + ROUNDING) if up else floor(steps - ROUNDING)
        return whole * step

    def least_width(self, people: int) -> Fraction:
        """The least width of anyone in a set."""
        pairs = zip(self.width, self.counts(people), strict=True)
        return min(width for width, count in pairs if count)


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
    return tuple(each for each in constraints if each.people & people), people


def told_apart(
    constraints: Sequence[Constraint], people: int, kinds: Labels | None = None
) -> PersonCells:
    """The cells of constraints and a question; TooLargeError if there are too many."""
    groups = cells(constraints, people, kinds)
    alone = int(np.count_nonzero(groups.sizes == 1))
    # directions of those who are alone, and several matrices of all constraints
    if len(groups) * max(alone, 4 * len(constraints)) > LINKED**2:
        raise TooLargeError(
            f"this question and those linked with it distinguish {len(groups):,} groups of people, "
            f"of whom {alone:,} are only one, which is too many for sums to be audited",
            "audit parts of the table separately, so that no question is about people of two parts",
        )
    return groups


def combination(equations: Sequence[Constraint], people: int) -> tuple[Fraction, ...] | None:
    """The coefficients by which equations add up exactly to a sum over people; else None."""
    if not equations:
        return None
    groups = told_apart(equations, people)
    a = groups.rows(equation.people for equation in equations)
    q = groups.rows([people])[0]
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
    """Whether, without bounds, equations and one more leave everyone's value undetermined.

    Of two or more people in a cell, one can always have more and another less. So only people who
    are cells of their own can be determined.
    """
    equations, _ = linked(equations, people)
    groups = told_apart(equations, people)
    a = groups.rows(equation.people for equation in equations)
    q = groups.rows([people])[0]
    alone = np.flatnonzero(groups.sizes == 1)
    places = alone, np.arange(len(alone))
    units = np.zeros((len(groups), len(alone)))
    units[places] = 1
    projected = left_free(a, np.column_stack([q, units]))
    if projected is None:
        return False
    v = projected[:, 0]
    s = float(q @ v)
    if not s > DEPENDENT * q.sum():
        return False
    ways = projected[:, 1:] - np.outer(v, v[alone] / s)
    if len(alone) and float(ways[places].min()) <= DEPENDENT:
        return False
    rows = np.vstack([a, q])
    furthest = reach(rows)
    if furthest is None:
        return False
    # everyone moves in a direction of their own, by more than it may be off the equations
    ways = on_grid(ways, grid_unit(len(groups)))
    off = furthest * norms(rows @ ways)
    return bool(np.all(ways[places] > 2 * off))


def left_free(a: Floats, columns: Floats) -> Floats | None:
    """What equations leave free of some directions; None where they may be dependent."""
    try:
        shares = np.linalg.solve(a @ a.T, a @ columns)
    except np.linalg.LinAlgError:
        return None
    projected: Floats = columns - a.T @ shares
    return projected


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
    kinds = np.arange(len(low), dtype=np.int32)
    everyone = cells(constraints, (1 << len(low)) - 1, kinds)
    columns = np.array(low, float), np.array(high, float)
    a = everyone.rows(each.people for each in constraints)
    program = LinearProgram.within(a, sides(constraints), columns)
    ends = [program.ends(weights) for weights in everyone.rows(sums)]
    known = [each for each in ends if each is not None]
    return known if len(known) == len(ends) else None


def sides(constraints: Sequence[Constraint]) -> tuple[Floats, Floats]:
    """The lower and upper ends of sums, as a solver takes them."""
    values = np.array([float(each.value) for each in constraints])
    open_below = np.array([each.relation == "<=" for each in constraints], bool)
    open_above = np.array([each.relation == ">=" for each in constraints], bool)
    return np.where(open_below, -inf, values), np.where(open_above, inf, values)
