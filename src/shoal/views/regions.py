"""Parts of views that have to do with each other, and how they would stand with more views. Uses `cells`, `counting` and
`candidates`; `restoring` and `planning` search with it.

A candidate within one earlier view changes nothing outside that view's region, so every region is restored by itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.errors import TooLargeError, plural
from shoal.views.candidates import Candidate
from shoal.views.cells import Component, Puzzle, components, countable, together
from shoal.views.checking import Checked
from shoal.views.counting import STEPS, Counted, between
from shoal.views.model import OUTSIDE, Outside, Value, View, Views

__all__ = [
    "LONGEST",
    "Guesses",
    "Obstacle",
    "Region",
    "Standing",
    "above",
    "obstacle",
    "probabilities",
    "regions",
]

LONGEST = 300_000
"""Steps that counting for one set of views may take in a search; more than that, and the set is left out."""

_FINE = 10**6  # denominators of the weights that refute a linear program
_NAMED = 6  # people whom a reason names

_FAINTEST, _FULLEST = 1e-300, 1 - 1e-15  # what rounds to 0 or 1 and is neither

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Obstacle:
    """Why nothing that is shown in addition can restore some people: docs/proofs/restoring.md has the arguments."""

    people: tuple[int, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class Standing:
    """How a region stands with some more views.

    excess: by how much the most probable value of anybody is above its limit; 0 or less, and every limit holds
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


_HOPELESS = Standing(Fraction(1), Fraction(1), float("inf"), np.zeros((0, 0)), 0, hopeless=True)


@dataclass(eq=False)
class Region:
    """Views that are connected by people, with the candidates that are about these; people are numbered anew."""

    people: tuple[int, ...]
    views: Views
    candidates: tuple[Candidate, ...]
    spent: int = 0
    """Steps of counting so far."""

    @cached_property
    def start(self) -> Standing:
        """How it stands without any more views; TooLargeError if that cannot be counted."""
        for part in components(self.views):
            self._count(part.puzzle, STEPS)
        found = self.standing(())
        if found is None:
            raise TooLargeError(
                f"{plural(len(self.views.shown), 'view')} of {plural(len(self.people), 'person')} are too entangled to be "
                "counted exactly, which a search needs"
            )
        self.spent = 0
        return found

    @cached_property
    def _counted(self) -> dict[Puzzle, tuple[int, list[list[int]]] | None]:
        """What was counted: views that more views leave alone are not counted again."""
        return {}

    @cached_property
    def _column(self) -> dict[Value, int]:
        return {value: at for at, value in enumerate(self.views.values)}

    def standing(self, more: Sequence[View], *, hopeful: bool = True) -> Standing | None:
        """How it would stand with more views; None if that takes too long to count, InfeasibleError if no table shows them.

        hopeful: do not count what is hopeless at first sight
        """
        views = self.views.also(*more)
        parts = components(views)
        if hopeful and any(True for _ in crowds(views, parts)):
            return _HOPELESS
        for value in views.values:
            self._column.setdefault(value, len(self._column))
        shares = np.zeros((len(self.people), len(self._column)))
        limits = [
            (self._column[value], limit := views.limit(value), float(limit))
            for value in views.values
        ]
        worst = largest = Fraction(-1)
        near = top = -1.0
        amount, tables = 0.0, 1
        for part in parts:
            counted = self._count(part.puzzle)
            if counted is None:
                return None
            number, sums = counted
            tables *= number
            for people, own in zip(part.people, sums, strict=True):
                total = sum(own)
                for v, often in zip(part.values, own, strict=True):
                    if not often:
                        continue
                    column, limit, about = limits[v]
                    share = 1.0 if often == total else min(max(often / total, _FAINTEST), _FULLEST)
                    shares[list(people), column] = share
                    if views.values[v] is OUTSIDE:
                        continue
                    amount += len(people) * max(share - about, 0.0)
                    if share - about > near - 1e-9:  # else it is surely not the worst
                        worst = max(worst, Fraction(often, total) - limit)
                        near = float(worst)
                    if share > top - 1e-9:
                        largest = max(largest, Fraction(often, total))
                        top = float(largest)
        return Standing(worst, largest, amount, shares, tables)

    def _count(self, puzzle: Puzzle, most: int = LONGEST) -> tuple[int, list[list[int]]] | None:
        if puzzle not in self._counted:
            try:
                counted = Counted.of(puzzle, most, rounded=False)
            except TooLargeError:
                self._counted[puzzle] = None
                self.spent += most
            else:
                self._counted[puzzle] = counted.tables, counted.sums
                self.spent += counted.taken
        return self._counted[puzzle]

    def bags(self, candidate: Candidate, views: Views, shares: Floats) -> Iterator[View]:
        """All that a candidate might show: at least whatever some table has that fits the views; maybe more."""
        own = sorted(candidate.people)
        values = views.values
        low = [int((shares[own, at] >= 1).sum()) for at in range(len(values))]
        high = [int((shares[own, at] > 0).sum()) for at in range(len(values))]
        for view in views.shown:
            if candidate.people <= view.members:
                rest = len(view.members) - len(own)
                bag = dict(zip(views.values, views.bag(view), strict=True))
                low = [
                    max(one, bag.get(value, 0) - rest)
                    for one, value in zip(low, values, strict=True)
                ]
                high = [
                    min(one, bag.get(value, 0)) for one, value in zip(high, values, strict=True)
                ]
        for often in between(low, high, len(own)):
            shown = {
                value: n
                for value, n in zip(values, often, strict=True)
                if n and not isinstance(value, Outside)
            }
            yield View(candidate.name, candidate.people, shown)

    def whole(self, view: View) -> View:
        """A view with the numbers that people have in the register."""
        return View(view.name, [self.people[one] for one in view.members], view.shown)


class Guesses:
    """How probable values would be with a candidate more, roughly: as if candidates told of people independently.

    A candidate multiplies the odds of a value, for its people and for the others of a view that holds it, by how much more often
    it shows the value than was to be expected; once it was counted, by what was found.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.start = np.maximum(region.start.shares, 1e-12)
        self.limits = np.array([float(region.views.limit(value)) for value in region.views.values])

    def factor(self, view: View) -> Floats:
        """By what a view multiplies probabilities, before they are made to add up to 1 again."""
        views = self.region.views
        holder = min(
            (one for one in views.shown if view.members < one.members),
            key=lambda one: len(one.members),
            default=None,
        )
        bag = np.array([view.shown.get(value, 0) for value in views.values], dtype=float)
        told = [(view.members, bag)]
        if holder is not None:
            told.append(
                (holder.members - view.members, np.array(views.bag(holder), dtype=float) - bag)
            )
        found = np.ones_like(self.start)
        for people, often in told:
            own = sorted(people)
            found[own] = often / np.maximum(self.start[own].sum(axis=0), 1e-9)
        return found

    def counted(self, standing: Standing) -> Floats:
        """The factor of what was counted."""
        found: Floats = standing.shares[:, : self.start.shape[1]] / self.start
        return found

    def score(self, shares: Floats, factor: Floats) -> tuple[float, float]:
        """By how much a value would be above its limit for anybody, and all that would be."""
        odds = shares[:, : self.start.shape[1]] * factor
        total = odds.sum(axis=1, keepdims=True)
        over = np.maximum(odds / np.where(total > 0, total, 1) - self.limits, 0)
        return round(float(over.max(initial=0)), 9), round(float(over.sum()), 9)


def probabilities(found: Checked) -> Iterator[tuple[tuple[int, ...], Value, Fraction, Fraction]]:
    """People, a value, and between which bounds it is probable for each of them."""
    for belief in found.beliefs:
        for value in belief.shares:
            yield (belief.people, value, *belief.between(value))


def above(found: Checked) -> list[int]:
    """Who has a value that is more probable than its limit, or may be."""
    return [
        person
        for people, value, _, high in probabilities(found)
        if high > found.views.limit(value)
        for person in people
    ]


def regions(views: Views, candidates: Iterable[Candidate], exposed: Iterable[int]) -> list[Region]:
    """The regions of people who are exposed, with the candidates that touch them."""
    countable(views)
    chosen = list(candidates)
    groups = [
        *(tuple(view.members) for view in views.shown),
        *(tuple(one.people) for one in chosen),
    ]
    root = together(range(len(views.names)), groups)
    own = {root[person]: _Own([], [], []) for person in exposed}
    number: dict[int, int] = {}
    for person in range(len(views.names)):
        if (place := own.get(root[person])) is not None:
            number[person] = len(place.people)
            place.people.append(person)
    for view in views.shown:
        if view.members and (place := own.get(root[next(iter(view.members))])) is not None:
            place.views.append(View(view.name, [number[one] for one in view.members], view.shown))
    for candidate in chosen:
        if (place := own.get(root[next(iter(candidate.people))])) is not None:
            place.candidates.append(
                Candidate(candidate.name, frozenset(number[one] for one in candidate.people))
            )
    return [
        Region(
            tuple(one.people),
            Views(
                [views.names[person] for person in one.people],
                one.views,
                views.gamma,
                views.limits,
                views.complete,
            ),
            tuple(one.candidates),
        )
        for one in own.values()
    ]


class _Own(NamedTuple):
    """What a region has, by numbers: of its people those in the register, of the others its own."""

    people: list[int]
    views: list[View]
    candidates: list[Candidate]


def crowds(
    views: Views, parts: Sequence[Component]
) -> Iterator[tuple[tuple[int, ...], Value, int]]:
    """People of whom everybody knows that so many have a value, which are more than its limit allows of them."""
    for part in parts:
        for k, bag in enumerate(part.puzzle.bags):
            size = sum(bag)
            for v, often in zip(part.values, bag, strict=True):
                limit = views.limit(views.values[v])
                if often * limit.denominator > limit.numerator * size:
                    inside = [
                        one
                        for (_, own), people in zip(part.puzzle.cells, part.people, strict=True)
                        if k in own
                        for one in people
                    ]
                    yield tuple(sorted(inside)), views.values[v], often


def obstacle(region: Region) -> Obstacle | None:
    """A proof that no views in addition restore a region, if one is found."""
    views = region.views
    parts = components(views)
    least = min(crowds(views, parts), key=lambda one: len(one[0]), default=None)
    if least is not None:
        people, value, often = least
        who = _who(views, people)
        return Obstacle(
            tuple(region.people[one] for one in people),
            f"{often} of {len(people)} people ({who}) are known to have {_said(value)}, whatever else is shown"
            if len(people) > 1
            else f"{who} is known to have {_said(value)}, whatever else is shown",
        )
    counts = [region._count(part.puzzle, STEPS) for part in parts]
    certain: list[tuple[tuple[int, ...], Value]] = []
    for part, counted in zip(parts, counts, strict=True):
        for people, own in zip(part.people, counted[1] if counted else (), strict=False):
            able = [views.values[v] for v, often in zip(part.values, own, strict=True) if often]
            if len(able) == 1 and views.limit(able[0]) < 1:
                certain.append((people, able[0]))
    if certain:
        told = [
            f"{_who(views, people)} {'each of them is' if len(people) > 1 else 'is'} known to have {_said(value)}"
            for people, value in certain
        ]
        more = f", and so on for {len(told) - _NAMED:,} more" if len(told) > _NAMED else ""
        return Obstacle(
            tuple(sorted(region.people[one] for people, _ in certain for one in people)),
            f"{', '.join(told[:_NAMED])}{more}, whatever else is shown",
        )
    for part, counted in zip(parts, counts, strict=True):
        weights = _refuted(views, part, None if counted is None else counted[1])
        if weights is not None:
            people = tuple(sorted(one for cell in weights for one in part.people[cell]))
            return Obstacle(
                tuple(region.people[one] for one in people),
                f"no probabilities within all limits fit the views of {plural(len(people), 'person')} ({_who(views, people)})",
            )
    return None


def _refuted(
    views: Views, part: Component, sums: Sequence[Sequence[int]] | None
) -> list[int] | None:
    """The cells of a proof that probabilities within all limits do not fit a component's views; None if none was found.

    A linear program in floats proposes weights of the views; what they prove is computed in whole numbers.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, eye_array, hstack
    except ImportError:
        return None
    puzzle = part.puzzle
    columns, upper = (
        [],
        [],
    )  # every cell and value: the rows it is in, and how many people may have it at most, on average
    for c, (size, own) in enumerate(puzzle.cells):
        for v in range(puzzle.values):
            if (sums is None and all(puzzle.bags[k][v] for k in own)) or (
                sums is not None and sums[c][v]
            ):
                columns.append((c, [k * puzzle.values + v for k in own]))
                upper.append(views.limit(views.values[part.values[v]]) * size)
    rows = len(puzzle.bags) * puzzle.values
    ones = [(row, at) for at, (c, inside) in enumerate(columns) for row in (*inside, rows + c)]
    where = np.array(ones, dtype=np.int64).reshape(-1, 2).T
    matrix = coo_array(
        (np.ones(len(ones)), tuple(where)), shape=(rows + len(puzzle.cells), len(columns) + 1)
    )
    right = [*(often for bag in puzzle.bags for often in bag), *(size for size, _ in puzzle.cells)]
    # By how much all limits would have to be raised: x - t·size <= limit·size.
    sizes = np.array([[puzzle.cells[c][0]] for c, _ in columns], dtype=float)
    raised = hstack([eye_array(len(columns)), coo_array(-sizes)])
    cost = np.zeros(len(columns) + 1)
    cost[-1] = 1
    done = linprog(
        cost,
        A_ub=raised,
        b_ub=[float(one) for one in upper],
        A_eq=matrix,
        b_eq=right,
        method="highs",
    )
    if done.status != 0 or done.fun < 1e-9:
        return None
    weights = [round(float(one) * _FINE) for one in done.eqlin.marginals]
    have = sum(weight * number for weight, number in zip(weights, right, strict=True))
    of = [sum(weights[row] for row in inside) + weights[rows + c] for c, inside in columns]
    may = sum(max(one, 0) * most for one, most in zip(of, upper, strict=True))
    if have <= may:
        return None
    return sorted({c for (c, _), one in zip(columns, of, strict=True) if one > 0})


def _who(views: Views, people: Sequence[int]) -> str:
    names = [views.names[one] for one in people]
    return (
        ", ".join(names)
        if len(names) <= _NAMED
        else f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED:,} more"
    )


def _said(value: Value) -> str:
    return "no value" if value is None else str(value)
