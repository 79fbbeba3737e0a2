"""`Region`: views that have to do with each other, and how they would stand with more views.

Uses `cells`, `counting` and `candidates`; `restoring` and `planning` search with it.

A candidate within one earlier view changes nothing outside that view's region, so every region is
restored separately.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.data.components import representatives
from shoal.errors import TooLargeError, plural
from shoal.views.candidates import Candidate
from shoal.views.cells import Component, Constraints, components, require_countable
from shoal.views.checking import Checked
from shoal.views.counting import STEPS, Counted
from shoal.views.model import OUTSIDE, Outside, Value, View, Views
from shoal.views.steps import between

__all__ = [
    "LONGEST",
    "Floats",
    "Guesses",
    "Obstacle",
    "Region",
    "RegionStanding",
    "above",
    "obstacle",
    "probabilities",
    "regions",
]

LONGEST = 300_000
"""Steps that counting for one set of views may take in a search; beyond that, it is left out."""

_FINE = 10**6  # denominators of the weights that refute a linear program
_NAMED = 6  # people whom a reason names

_FAINTEST, _FULLEST = 1e-300, 1 - 1e-15
"""What rounds to 0 or 1 and is neither."""

_CLOSE = 1e-9  # below which floats do not decide what is larger

Floats = npt.NDArray[np.float64]


class Tally(NamedTuple):
    """All tables of a component: how many, and how many people of a cell have each value."""

    tables: int
    sums: list[list[int]]


@dataclass(frozen=True)
class Obstacle:
    """Why no views in addition can restore some people.

    docs/proofs/restoring.md has the arguments.
    """

    people: tuple[int, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class RegionStanding:
    """How a region stands with some more views.

    excess: by how much the most probable value of anybody is above its limit; at 0 or less, every
        limit holds
    largest: how probable the most probable value of anybody is
    amount: all that is above limits, summed over people
    shares: for everybody and every value how probable it is, roughly
    tables: how many are possible
    """

    excess: Fraction
    largest: Fraction
    amount: float
    shares: Floats
    tables: int
    hopeless: bool = False
    """Whatever is shown in addition, somebody stays exposed."""

    @property
    def private(self) -> bool:
        return not self.hopeless and self.excess <= 0

    @property
    def rank(self) -> tuple[float, float]:
        """The lower, the better."""
        return float(self.excess), self.amount


_HOPELESS = RegionStanding(
    excess=Fraction(1),
    largest=Fraction(1),
    amount=float("inf"),
    shares=np.zeros((0, 0)),
    tables=0,
    hopeless=True,
)


@dataclass(eq=False)
class Region:
    """Views that are connected by people, with the candidates that are about these.

    Its own views and candidates number people by their place in `people`, which has their numbers
    in the register.
    """

    people: tuple[int, ...]
    views: Views
    candidates: tuple[Candidate, ...]
    spent: int = 0
    """Steps of counting so far."""

    _tallies: dict[Constraints, Tally | None] = field(default_factory=dict, init=False)
    """What was counted: views that more views leave alone are not counted again."""

    @cached_property
    def start(self) -> RegionStanding:
        """How it stands without any more views; TooLargeError if that cannot be counted."""
        for part in components(self.views):
            self.tally(part.constraints, STEPS)
        standing = self.standing(())
        if standing is None:
            views = plural(len(self.views.views), "view")
            people = plural(len(self.people), "person")
            raise TooLargeError(
                f"{views} of {people} are too entangled to be counted exactly, which a search needs"
            )
        # The search is charged for its own steps only.
        self.spent = 0
        return standing

    @cached_property
    def _column(self) -> dict[Value, int]:
        return {value: at for at, value in enumerate(self.views.values)}

    def standing(
        self,
        more: Sequence[View],
        *,
        hopeful: bool = True,
    ) -> RegionStanding | None:
        """How it would stand with more views; None if that takes too long to count.

        InfeasibleError if no table shows them.

        hopeful: do not count what is hopeless at first sight
        """
        views = self.views.also(*more)
        parts = components(views)
        if hopeful and any(True for _ in crowds(views, parts)):
            return _HOPELESS
        for value in views.values:
            self._column.setdefault(value, len(self._column))
        shape = len(self.people), len(self._column)
        sums = _StandingSums(views, np.zeros(shape))
        tables = 1
        for part in parts:
            tally = self.tally(part.constraints)
            if tally is None:
                return None
            tables *= tally.tables
            for people, own in zip(part.people, tally.sums, strict=True):
                total = sum(own)
                for v, often in zip(part.values, own, strict=True):
                    if often:
                        column = self._column[views.values[v]]
                        sums.add(list(people), v, column, often, total)
        return RegionStanding(sums.worst, sums.largest, sums.amount, sums.shares, tables)

    def tally(self, constraints: Constraints, limit: int = LONGEST) -> Tally | None:
        """The tables of a component, counted; None if that takes more than `limit` steps."""
        if constraints not in self._tallies:
            try:
                counted = Counted.of(constraints, limit, rounded=False)
            except TooLargeError:
                self._tallies[constraints] = None
                self.spent += limit
            else:
                self._tallies[constraints] = Tally(counted.tables, counted.sums)
                self.spent += counted.taken
        return self._tallies[constraints]

    def bags(self, candidate: Candidate, views: Views, shares: Floats) -> Iterator[View]:
        """All that a candidate might show: whatever some table has that fits the views, or more."""
        own = sorted(candidate.people)
        values = views.values
        known = shares[own, : len(values)]
        low = (known >= 1).sum(axis=0).tolist()
        high = (known > 0).sum(axis=0).tolist()
        for view in views.views:
            if candidate.people <= view.people:
                # The others of the view can take no more of a value than there are of them.
                rest = len(view.people) - len(own)
                bag = views.bag(view)
                low = [max(one, often - rest) for one, often in zip(low, bag, strict=True)]
                high = [min(one, often) for one, often in zip(high, bag, strict=True)]
        for counts in between(low, high, len(own)):
            shown = {
                value: often
                for value, often in zip(values, counts, strict=True)
                if often and not isinstance(value, Outside)
            }
            yield View(candidate.name, candidate.people, shown)

    def whole(self, view: View) -> View:
        """A view with the numbers that people have in the register."""
        members = [self.people[person] for person in view.people]
        return View(view.name, members, view.bag)


class _StandingSums:
    """What is probable for everybody of a region, while its components are gone through."""

    def __init__(self, views: Views, shares: Floats) -> None:
        self.views, self.shares = views, shares
        self.limits = [views.limit(value) for value in views.values]
        self.about = [float(limit) for limit in self.limits]
        self.worst = self.largest = Fraction(-1)
        self.amount = 0.0
        self._worst = self._largest = -1.0

    def add(
        self,
        people: list[int],
        v: int,
        column: int,
        often: int,
        total: int,
    ) -> None:
        """A value that some people have in `often` of the `total` tables.

        Fractions are slow, and compared only where floats do not decide.
        """
        share = 1.0 if often == total else min(max(often / total, _FAINTEST), _FULLEST)
        self.shares[people, column] = share
        if self.views.values[v] is OUTSIDE:
            return
        excess = share - self.about[v]
        self.amount += len(people) * max(excess, 0.0)
        if excess > self._worst - _CLOSE:
            self.worst = max(self.worst, Fraction(often, total) - self.limits[v])
            self._worst = float(self.worst)
        if share > self._largest - _CLOSE:
            self.largest = max(self.largest, Fraction(often, total))
            self._largest = float(self.largest)


class Guesses:
    """How probable values would be with one candidate more, roughly.

    As if candidates were independent. A candidate multiplies the odds of a value, for its people
    and for the others of a view that contains it, by how much more often it shows the value than
    expected; once it was counted, by the exact factor.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.start = np.maximum(region.start.shares, 1e-12)
        limits = map(region.views.limit, region.views.values)
        self.limits = np.array(list(map(float, limits)))

    def factor(self, view: View) -> Floats:
        """By what a view multiplies probabilities, before they are made to add up to 1 again."""
        views = self.region.views
        counts = [view.bag.get(value, 0) for value in views.values]
        bag = np.array(counts, dtype=float)
        parts = [(view.people, bag)]
        holders = [one for one in views.views if view.people < one.people]
        if holders:
            # The smallest view that contains it is the one it says most about.
            holder = min(holders, key=lambda one: len(one.people))
            rest = np.array(views.bag(holder), dtype=float) - bag
            parts.append((holder.people - view.people, rest))
        factor = np.ones_like(self.start)
        for people, often in parts:
            own = sorted(people)
            factor[own] = often / np.maximum(self.start[own].sum(axis=0), 1e-9)
        return factor

    def counted(self, standing: RegionStanding) -> Floats:
        """The factor of what was counted."""
        factor: Floats = standing.shares[:, : self.start.shape[1]] / self.start
        return factor

    def score(self, shares: Floats, factor: Floats) -> tuple[float, float]:
        """By how much a value would be above its limit for anybody, and all that would be."""
        odds = shares[:, : self.start.shape[1]] * factor
        total = odds.sum(axis=1, keepdims=True)
        guesses = odds / np.where(total > 0, total, 1)
        over = np.maximum(guesses - self.limits, 0)
        worst, amount = float(over.max(initial=0)), float(over.sum())
        return round(worst, 9), round(amount, 9)


def probabilities(checked: Checked) -> Iterator[tuple[tuple[int, ...], Value, Fraction, Fraction]]:
    """People, a value, and the bounds of its probability for each of them."""
    for belief in checked.beliefs:
        for value in belief.shares:
            yield (belief.people, value, *belief.between(value))


def above(checked: Checked) -> list[int]:
    """Everybody for whom a value is more probable than its limit, or may be."""
    exposed: list[int] = []
    for people, value, _, high in probabilities(checked):
        if high > checked.views.limit(value):
            exposed += people
    return exposed


def regions(
    views: Views,
    candidates: Iterable[Candidate],
    exposed: Iterable[int],
) -> list[Region]:
    """The regions of people who are exposed, with the candidates that touch them."""
    require_countable(views)
    chosen = list(candidates)
    groups = [tuple(view.people) for view in views.views]
    # A candidate that reaches into two regions makes them one.
    groups += [tuple(candidate.people) for candidate in chosen]
    root = representatives(range(len(views.people)), groups)
    parts = {root[person]: _RegionParts([], [], []) for person in exposed}
    number: dict[int, int] = {}
    for person in range(len(views.people)):
        part = parts.get(root[person])
        if part is not None:
            number[person] = len(part.people)
            part.people.append(person)
    for view in views.views:
        part = parts.get(root[min(view.people)]) if view.people else None
        if part is not None:
            members = [number[person] for person in view.people]
            part.views.append(View(view.name, members, view.bag))
    for candidate in chosen:
        part = parts.get(root[min(candidate.people)])
        if part is not None:
            people = frozenset(number[person] for person in candidate.people)
            part.candidates.append(Candidate(candidate.name, people))
    return [part.region(views) for part in parts.values()]


class _RegionParts(NamedTuple):
    """The numbers of a region's people, and its views and candidates by their places."""

    people: list[int]
    views: list[View]
    candidates: list[Candidate]

    def region(self, views: Views) -> Region:
        names = [views.people[person] for person in self.people]
        own = Views(names, self.views, views.gamma, views.limits, views.complete)
        return Region(tuple(self.people), own, tuple(self.candidates))


# Why nothing can help


def crowds(
    views: Views, parts: Sequence[Component]
) -> Iterator[tuple[tuple[int, ...], Value, int]]:
    """People of whom more are known to have a value than its limit allows of them."""
    for part in parts:
        for k, bag in enumerate(part.constraints.bags):
            size = sum(bag)
            for v, often in zip(part.values, bag, strict=True):
                limit = views.limit(views.values[v])
                # In whole numbers: often / size > limit.
                if often * limit.denominator > limit.numerator * size:
                    yield _inside(part, k), views.values[v], often


def _inside(part: Component, view: int) -> tuple[int, ...]:
    """The people of one view of a component."""
    people: list[int] = []
    for (_, views), own in zip(part.constraints.cells, part.people, strict=True):
        if view in views:
            people += own
    return tuple(sorted(people))


def obstacle(region: Region) -> Obstacle | None:
    """A proof that no views in addition restore a region, if one is found."""
    parts = components(region.views)
    crowded = _crowded(region, parts)
    if crowded is not None:
        return crowded
    tallies = [region.tally(part.constraints, STEPS) for part in parts]
    return _certain(region, parts, tallies) or _unfitting(region, parts, tallies)


def _crowded(region: Region, parts: Sequence[Component]) -> Obstacle | None:
    """The fewest people of whom too many are known to have a value."""
    views = region.views
    least = min(crowds(views, parts), key=lambda crowd: len(crowd[0]), default=None)
    if least is None:
        return None
    people, value, often = least
    who = _who(views, people)
    if len(people) > 1:
        known = f"{often} of {len(people)} people ({who}) are known to have {_said(value)}"
    else:
        known = f"{who} is known to have {_said(value)}"
    reason = f"{known}, whatever else is shown"
    return Obstacle(tuple(region.people[person] for person in people), reason)


def _certain(
    region: Region, parts: Sequence[Component], tallies: Sequence[Tally | None]
) -> Obstacle | None:
    """Everybody whose value is known for certain."""
    views = region.views
    exposed: list[int] = []
    reasons = []
    for part, tally in zip(parts, tallies, strict=True):
        for people, own in zip(part.people, tally.sums if tally else (), strict=False):
            pairs = zip(part.values, own, strict=True)
            able = [views.values[v] for v, often in pairs if often]
            if len(able) == 1 and views.limit(able[0]) < 1:
                is_known = "each of them is known" if len(people) > 1 else "is known"
                reasons.append(f"{_who(views, people)} {is_known} to have {_said(able[0])}")
                exposed += people
    if not reasons:
        return None
    more = ""
    if len(reasons) > _NAMED:
        more = f", and so on for {len(reasons) - _NAMED:,} more"
    return Obstacle(
        tuple(sorted(region.people[person] for person in exposed)),
        f"{', '.join(reasons[:_NAMED])}{more}, whatever else is shown",
    )


def _unfitting(
    region: Region, parts: Sequence[Component], tallies: Sequence[Tally | None]
) -> Obstacle | None:
    """People whose views no probabilities within all limits fit."""
    for part, tally in zip(parts, tallies, strict=True):
        cells = _refuted(region.views, part, None if tally is None else tally.sums)
        if cells is not None:
            people = sorted(person for cell in cells for person in part.people[cell])
            number, who = plural(len(people), "person"), _who(region.views, people)
            return Obstacle(
                tuple(region.people[person] for person in people),
                f"no probabilities within all limits fit the views of {number} ({who})",
            )
    return None


def _refuted(
    views: Views, part: Component, sums: Sequence[Sequence[int]] | None
) -> list[int] | None:
    """The cells of a proof that probabilities within all limits do not fit a component's views.

    None if there is none. A linear program in floats proposes weights of the views; what they prove
    is computed in whole numbers.
    """
    constraints = part.constraints
    # Every cell and value: the rows it is in, and how many people may have it on average.
    columns: list[tuple[int, list[int]]] = []
    upper: list[Fraction] = []
    for c, (size, numbers) in enumerate(constraints.cells):
        for v in range(constraints.values):
            able = all(constraints.bags[k][v] for k in numbers)
            if sums is not None:
                able = sums[c][v] > 0
            if able:
                columns.append((c, [k * constraints.values + v for k in numbers]))
                upper.append(views.limit(views.values[part.values[v]]) * size)
    rows = len(constraints.bags) * constraints.values
    right = [often for bag in constraints.bags for often in bag]
    right += [size for size, _ in constraints.cells]
    # Whatever weights are proposed, the comparison below is exact.
    weights = _proposed(constraints, columns, upper, right)
    if weights is None:
        return None
    have = sum(weight * number for weight, number in zip(weights, right, strict=True))
    may = Fraction(0)
    cells = set()
    for (c, inside), most in zip(columns, upper, strict=True):
        weight = weights[rows + c] + sum(weights[row] for row in inside)
        if weight > 0:
            may += weight * most
            cells.add(c)
    return sorted(cells) if have > may else None


def _proposed(
    constraints: Constraints,
    columns: Sequence[tuple[int, list[int]]],
    upper: Sequence[Fraction],
    right: Sequence[int],
) -> list[int] | None:
    """Whole weights of the equations, by which limits may be refuted; None if they can be kept.

    They are the dual of a program that asks by how much all limits would have to be raised.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, eye_array, hstack
    except ImportError:
        return None
    rows = len(constraints.bags) * constraints.values
    ones: list[tuple[int, int]] = []
    for at, (c, inside) in enumerate(columns):
        ones += [(row, at) for row in (*inside, rows + c)]
    where = np.array(ones, dtype=np.int64).reshape(-1, 2).T
    shape = rows + len(constraints.cells), len(columns) + 1
    matrix: Any = coo_array((np.ones(len(ones)), tuple(where)), shape=shape)
    # x - t·size <= limit·size
    sizes = [constraints.cells[c][0] for c, _ in columns]
    growth = -np.array(sizes, dtype=float).reshape(-1, 1)
    raised: Any = hstack([eye_array(len(columns)), coo_array(growth)])
    cost = np.zeros(len(columns) + 1)
    cost[-1] = 1
    limits = [float(most) for most in upper]
    done = linprog(cost, A_ub=raised, b_ub=limits, A_eq=matrix, b_eq=right, method="highs")
    if done.status != 0 or done.fun < _CLOSE:
        return None
    # Whole numbers, so that the proof does not depend on rounding.
    return [round(float(weight) * _FINE) for weight in done.eqlin.marginals]


def _who(views: Views, people: Sequence[int]) -> str:
    names = [views.people[person] for person in people]
    named = ", ".join(names[:_NAMED])
    return named if len(names) <= _NAMED else f"{named} and {len(names) - _NAMED:,} more"


def _said(value: Value) -> str:
    return "no value" if value is None else str(value)
