"""`check`: how probable every value is for everybody, given all views together.

Uses `beliefs` and what lies below it; the command line, `restoring` and the ledger use it.

By counting where that is feasible, otherwise by sampling, otherwise by bounds. The result says
which, and with what confidence.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, inf, isinf, log10, prod
from random import Random
from typing import Literal

import numpy as np

from shoal.arguments import typed
from shoal.errors import ParameterError, TooLargeError, listed, plural
from shoal.exact.numbers import Exact, fraction, whole
from shoal.look.pictures import Picture, Pictured
from shoal.views.beliefs import (
    Bounds,
    CellBelief,
    Draws,
    around,
    bounded,
    claims,
    enclosed,
    exact,
    sampled,
    weighed,
)
from shoal.views.cells import Component, Constraints, components, connected
from shoal.views.counting import Counted
from shoal.views.dense import Dense
from shoal.views.importance import ENOUGH, estimate
from shoal.views.model import OUTSIDE, Value, View, Views
from shoal.views.ordering import guessed
from shoal.zones import owner_only

__all__ = ["Checked", "ExposedPerson", "How", "check", "count", "possible"]

How = Literal["exact", "enclosed", "sampling", "importance", "bounded"]
HOW: tuple[How, ...] = ("exact", "enclosed", "sampling", "importance", "bounded")
"""From the most precise to the least; the last is what is left where none of the others works."""

NEAR = 12
"""Views among which those that expose somebody are searched."""

QUICK = 300_000
"""Steps of counting in whole numbers before arrays of floats are tried."""

_SLOW = 2_000_000  # estimated steps above which arrays are tried first
_LONGEST = 40  # digits of a fraction that is not rounded as a text
_NOTES = 3  # components that are too entangled of which each has a note of its own
_EXPLAINED = 100  # cells of exposed people for which the views that expose them are searched


@owner_only
@dataclass(frozen=True)
class ExposedPerson:
    """A person and a value that is more probable for them than its limit allows, or may be.

    `probability` is exact where `low` and `high` are the same. If `alone`, the `views` expose the
    person by themselves, and none of them can be left out. Otherwise they are those that the person
    is in, and others are needed too: for those who may be exposed, for all but the first of very
    many, and where too many views are needed to find out.
    """

    person: int
    name: str
    value: Value
    probability: Fraction
    low: Fraction
    high: Fraction
    limit: Fraction
    views: tuple[str, ...]
    alone: bool = True

    @property
    def exact(self) -> bool:
        return self.low == self.high


@owner_only
@dataclass(frozen=True, eq=False)
class Checked(Pictured):
    """What views reveal together.

    how: the least precise method that a component was checked by: "exact" (counted), "enclosed"
        (counted, with roundings accounted for), "sampling" (from tables drawn uniformly),
        "importance" (from weighted ones), "bounded" (bounds by single views, where views are too
        entangled for all of these, or joined from groups of which it is not public who is in which)
    confidence: with which all bounds hold together; None where nothing was drawn. By "importance"
        it is approximate
    effective: the smallest effective sample size of a component, where there are any by
        "importance"
    """

    views: Views
    how: How
    beliefs: tuple[CellBelief, ...]
    confidence: Fraction | None = None
    effective: float | None = None
    components: int = 0
    counts: tuple[int, ...] | None = None
    """The number of tables of every component; None if some is not known exactly."""

    digits: float = 0.0
    """The logarithm of the number of tables, to base 10; infinite if a component has no figure."""

    def _repr_html_(self) -> str:
        """What was found as notebooks show it; nobody is named."""
        from shoal.views.cards import card_of_checked

        return card_of_checked(self).html()

    def pictures(self) -> tuple[Picture, ...]:
        """How sure one can be of people's values, and who is exposed, as charts."""
        from shoal.views.pictures import of_checked

        return of_checked(self)

    @cached_property
    def tables(self) -> int | None:
        """How many tables could have shown the views; None if that was not counted exactly."""
        return None if self.counts is None else prod(self.counts)

    @property
    def tables_text(self) -> str:
        """The number of possible tables as text; "about 10^…" if it was not counted exactly."""
        if isinf(self.digits):
            return "not counted"
        # By way of Decimal, as Python refuses to print integers of thousands of digits.
        return f"about 10^{self.digits:.1f}" if self.tables is None else str(Decimal(self.tables))

    @property
    def private(self) -> bool | None:
        """Whether every limit holds for everybody; None if that is not decided."""
        undecided = False
        for _, value, (low, high) in self._bounds():
            limit = self.views.limit(value)
            if low > limit:
                return False
            undecided |= high > limit
        return None if undecided else True

    @cached_property
    def exposed(self) -> tuple[ExposedPerson, ...]:
        """Everybody for whom a value is more probable than its limit, the most probable first.

        Beside groups of which it is not public who is in which: to someone who has not seen these.
        """
        return self._listed(lambda low, high, limit: low > limit, search=_EXPLAINED)

    @cached_property
    def undecided(self) -> tuple[ExposedPerson, ...]:
        """Everybody for whom a value may be more probable than its limit, or not."""
        return self._listed(lambda low, high, limit: low <= limit < high, search=0)

    @property
    def largest(self) -> Fraction:
        """The largest probability that anybody has a value, at most."""
        tops = (high for _, value, (_, high) in self._bounds() if value is not OUTSIDE)
        return max(tops, default=Fraction(0))

    @property
    def largest_text(self) -> str:
        """The same as text: a fraction where it is short, else a decimal that is rounded up."""
        text = str(self.largest)
        if len(text) <= _LONGEST:
            return text
        return str(Fraction(ceil(self.largest * 10**9), 10**9))

    def of(self, person: int | str) -> CellBelief:
        """What is believed of somebody, by number or name; an error if they are in no view."""
        number = person
        if isinstance(person, str) and person in self.views.people:
            number = self.views.people.index(person)
        for belief in self.beliefs:
            if number in belief.people:
                return belief
        raise ParameterError(f"nothing is known of {person!r}, who is in no view")

    def _bounds(self) -> Iterator[tuple[CellBelief, Value, Bounds]]:
        for belief in self.beliefs:
            for value in belief.shares:
                yield belief, value, belief.between(value)

    def _listed(
        self, wanted: Callable[[Fraction, Fraction, Fraction], bool], *, search: int
    ) -> tuple[ExposedPerson, ...]:
        """People and values with wanted bounds; for the first ones, the views that expose them."""
        chosen = [
            (belief, value)
            for belief, value, (low, high) in self._bounds()
            if wanted(low, high, self.views.limit(value))
        ]

        def rank(pair: tuple[CellBelief, Value]) -> tuple[Fraction, tuple[int, ...], str]:
            belief, value = pair
            return -belief.shares[value], belief.people, str(value)

        chosen.sort(key=rank)
        people: list[ExposedPerson] = []
        for at, (belief, value) in enumerate(chosen):
            low, high = belief.between(value)
            by, alone = self._exposing(belief.people[0], value, search=at < search)
            people += (
                ExposedPerson(
                    person,
                    self.views.people[person],
                    value,
                    belief.shares[value],
                    low,
                    high,
                    self.views.limit(value),
                    by,
                    alone,
                )
                for person in belief.people
            )
        return tuple(people)

    @cached_property
    def _views_of(self) -> dict[int, list[View]]:
        """The views that everybody is in."""
        views: dict[int, list[View]] = {}
        for view in self.views.views:
            for person in view.people:
                views.setdefault(person, []).append(view)
        return views

    def _exposing(
        self,
        person: int,
        value: Value,
        *,
        search: bool,
    ) -> tuple[tuple[str, ...], bool]:
        """Views that alone expose a person, of which none can be left out, and True.

        Otherwise those that the person is in, and False.
        """
        own = {view.name: view for view in self._views_of[person]}
        if not search or any(view.parts for view in own.values()):
            return tuple(own), False
        limit = self.views.limit(value)

        def expose(some: Mapping[str, View]) -> bool:
            try:
                return _share(some.values(), self.views.complete, person, value) > limit
            except TooLargeError:
                return False

        some = dict(own)
        # Views further away are added until they suffice, or are too many to search.
        while not expose(some):
            more = self._nearby(some.values())
            if len(more) == len(some) or len(more) > NEAR:
                return tuple(own), False
            some = more
        needed = _fewest(some, person, expose)
        return tuple(view.name for view in self.views.views if view.name in needed), True

    def _nearby(self, views: Iterable[View]) -> dict[str, View]:
        """All views of everybody in some views, without joined ones."""
        return {
            near.name: near
            for view in views
            for person in view.people
            for near in self._views_of[person]
            if not near.parts
        }


def _fewest(
    views: Mapping[str, View],
    person: int,
    expose: Callable[[Mapping[str, View]], bool],
) -> Mapping[str, View]:
    """Views that expose a person, without all that are not needed for it."""
    dropped = True
    while dropped:
        # With fewer views, others may turn out not to be needed.
        dropped = False
        for name in reversed(list(views)):
            fewer = {other: view for other, view in views.items() if other != name}
            inside = any(person in view.people for view in fewer.values())
            if inside and expose(fewer):
                views, dropped = fewer, True
    return views


def _share(
    some: Iterable[View],
    complete: bool,
    person: int,
    value: Value,
) -> Fraction:
    """How probable a value is for a person, at least, given some views."""
    shown = list(some)
    people = sorted(set[int]().union(*(view.people for view in shown)))
    number = {one: i for i, one in enumerate(people)}
    renumbered = []
    for view in shown:
        members = [number[one] for one in view.people]
        renumbered.append(View(view.name, members, view.bag))
    views = Views(len(people), renumbered, complete=complete)
    if value not in views.values:
        return Fraction(0)
    for part in components(views):
        for cell, inside in enumerate(part.people):
            if number[person] in inside:
                counted = count(part.constraints, None, None)
                column = views.values.index(value)
                if counted is None or column not in part.values:
                    return Fraction(0)
                share = counted.shares[cell][part.values.index(column)]
                return around(counted, share)[0]
    return Fraction(0)


@typed
def check(
    views: Views,
    *,
    how: How | None = None,
    confidence: Exact = Fraction(99, 100),
    tries: int = 10_000,
    seed: int = 0,
    steps: int | None = None,
) -> Checked:
    """How probable every value is for everybody, given what the views show.

    All tables that could have shown the views are taken as equally likely.

    how: by default the most precise method that is feasible: "exact" within `steps` steps,
        "enclosed" for long chains of views and for large ones that share many people, otherwise
        "importance", and "bounded" for a component of which even samples reveal too little.
        "sampling" gives what "importance" does with a confidence that is proven
    confidence: with which all bounds hold together, where tables are drawn
    tries: how many tables are drawn, of every component

    >>> one, other = View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])
    >>> both = check(Views(["Ann", "Bob", "Cid"], [one, other]))
    >>> both.tables, [(one.name, one.value, one.probability) for one in both.exposed][0]
    (1, ('Ann', 'cold', Fraction(1, 1)))
    """
    if how is not None and how not in HOW[:-1]:
        raise ParameterError(
            "is unknown", f"known are {listed(HOW[:-1])}", option="how", given=repr(how)
        )
    sure = fraction(confidence, "confidence", 0, 1)
    if not 0 < sure < 1:
        raise ParameterError("should be above 0 and below 1", option="confidence")
    whole(tries, "tries", 1)
    whole(seed, "seed", 0)
    whole(0 if steps is None else steps, "steps", 0)
    effort = _Effort(how, sure, tries, steps)
    firm = [view.name for view in views.views if not view.parts]
    if len(firm) == len(views.views):
        return _Check(views, effort, seed).run()
    return _loosely(views, _Check(views.only(firm), effort, seed).run())


@dataclass(frozen=True)
class _Effort:
    """By which method views are checked, with what confidence, and within what limits."""

    how: How | None
    confidence: Fraction
    tries: int
    steps: int | None


class _Check:
    """A check of views without joined ones, while it runs: component by component."""

    def __init__(self, views: Views, effort: _Effort, seed: int) -> None:
        self.views, self.effort = views, effort
        self.parts = components(views)
        self.chance, self.source = Random(seed), np.random.default_rng(seed)
        self.beliefs: list[list[CellBelief]] = [[] for _ in self.parts]
        self.by: set[How] = {"exact"}
        self.counts: list[int] = []
        self.digits = 0.0
        self.effective: list[float] = []
        self.notes: list[str] = []
        # All that is kept of what was counted exactly: many components have the same constraints.
        self.exact: dict[Constraints, tuple[list[list[Fraction]], int, float]] = {}
        # Components of which tables are drawn, with their counts, if there are any.
        self.waiting: list[tuple[int, Counted | None]] = []
        self.known = True

    def run(self) -> Checked:
        for at, part in enumerate(self.parts):
            self._count(at, part)
        number = sum(claims(self.parts[at].constraints) for at, _ in self.waiting)
        # By the union bound, each interval may be wrong with its part of the whole error.
        error = float(1 - self.effort.confidence) / max(number, 1)
        for at, counted in self.waiting:
            if counted is None:
                self._estimate(at, error)
            else:
                self.by.add("sampling")
                draws = Draws(self.effort.tries, self.chance, error)
                self.beliefs[at] += sampled(self.views, self.parts[at], counted, draws)
        drawn = len(self.waiting) > len(self.notes)
        return Checked(
            self.views.noting(_first(self.notes)) if self.notes else self.views,
            max(self.by, key=HOW.index),
            tuple(belief for own in self.beliefs for belief in own),
            self.effort.confidence if drawn else None,
            min(self.effective, default=None),
            len(self.parts),
            tuple(self.counts) if self.known else None,
            self.digits,
        )

    def _count(self, at: int, part: Component) -> None:
        """Count a component, or have it wait for tables to be drawn."""
        how, steps = self.effort.how, self.effort.steps
        if part.constraints not in self.exact:
            counted = None if how == "importance" else count(part.constraints, how, steps)
            if counted is None:
                self.known = False
                self.waiting.append((at, None))
                return
            if counted.rounded:
                self.known = False
                self.by.add("enclosed")
                self.digits += _digits(counted)
                self.beliefs[at] += enclosed(self.views, part, counted, self.chance)
                return
            assert isinstance(counted, Counted)
            if how == "sampling":
                # All intervals are made afterwards, when it is known how many must hold together.
                self.waiting.append((at, counted))
                self.counts.append(counted.tables)
                self.digits += _digits(counted)
                return
            self.exact[part.constraints] = counted.shares, counted.tables, _digits(counted)
        shares, tables, digits = self.exact[part.constraints]
        self.counts.append(tables)
        self.digits += digits
        self.beliefs[at] += exact(self.views, part, shares)

    def _estimate(self, at: int, error: float) -> None:
        """Estimate a component that was not counted; bounds where samples reveal too little."""
        part = self.parts[at]
        guess = estimate(part.constraints, self.effort.tries, self.source)
        if guess.effective < ENOUGH:
            self.notes.append(self._entangled(part, guess.effective))
            self.by.add("bounded")
            # Of a component without any figure, nothing can be added up.
            self.digits = inf
            self.beliefs[at] += bounded(self.views, part)
            return
        self.by.add("importance")
        self.effective.append(guess.effective)
        self.digits += guess.logarithm
        self.beliefs[at] += weighed(self.views, part, guess, error)

    def _entangled(self, part: Component, effective: float) -> str:
        """The note about a component that can neither be counted nor estimated."""
        views = plural(len(part.constraints.bags), "view")
        people = sum(size for size, _ in part.constraints.cells)
        steps = ""
        if self.effort.how != "importance":
            steps = "counting takes too many steps, and "
        return (
            f"{views} of {people:,} people are too entangled: {steps}samples are worth "
            f"{effective:.0f} uniform ones, where {ENOUGH} are needed. Their people are not "
            "decided, unless by single views. Check fewer views, or take more samples or steps"
        )


def _first(notes: list[str]) -> list[str]:
    """Some notes, and how many more there are."""
    more = len(notes) - _NOTES
    if more <= 0:
        return notes
    return [*notes[:_NOTES], f"and {more:,} more components that are too entangled"]


def count(
    constraints: Constraints,
    how: How | None,
    steps: int | None,
) -> Counted | Dense | None:
    """All tables, counted by a method; None if that is not feasible and the method is left open."""
    if how is None and steps is None:
        quick: list[Callable[[], Counted | Dense]] = [
            partial(Counted.of, constraints, QUICK),
            partial(Dense.of, constraints),
        ]
        # Whole numbers are tried first, as they are exact, unless that is hopeless.
        if guessed(constraints) > _SLOW:
            quick.reverse()
        for counting in quick:
            with suppress(TooLargeError):
                return counting()
    rounded = None if how is None else how == "enclosed"
    try:
        return Counted.of(constraints, steps, rounded=rounded)
    except TooLargeError as error:
        if how is None:
            return None
        raise TooLargeError(
            error.what, "raise `steps`, or leave `how` out so that tables are sampled"
        ) from None


def _digits(counted: Counted | Dense) -> float:
    """The logarithm of the number of tables, to base 10."""
    if isinstance(counted, Dense):
        return counted.digits
    if counted.rounded:
        return log10(counted.layers[-1][0]) + counted.exponent * log10(2)
    # More bits than a float has are cut off before the logarithm is taken.
    bits = max(counted.tables.bit_length() - 60, 0)
    return log10(counted.tables >> bits) + bits * log10(2)


# Views that are joined from groups


def _loosely(views: Views, firm: Checked) -> Checked:
    """What is known where some views are joined from several groups.

    Someone may know who is in which group. If nothing else was shown of these people, each has a
    value of their own group, and that is one of the groups. Otherwise nothing more can be said than
    what is possible, and what somebody knows who has not seen the groups.

    firm: what the other views reveal
    """
    root = connected(views)
    # Components without joined views keep what was found for them.
    loose = {root[k] for k, view in enumerate(views.views) if view.parts}
    numbers: dict[int, list[int]] = {}
    for k, view in enumerate(views.views):
        for person in view.people:
            numbers.setdefault(person, []).append(k)
    sure: dict[int, CellBelief] = {}
    beliefs: list[CellBelief] = []
    for belief in firm.beliefs:
        if root[numbers[belief.people[0]][0]] in loose:
            sure |= dict.fromkeys(belief.people, belief)
        else:
            beliefs.append(belief)
    alike: dict[tuple[int, ...], list[int]] = {}
    for person in sorted(numbers):
        if root[numbers[person][0]] in loose:
            alike.setdefault(tuple(numbers[person]), []).append(person)
    size = Counter(root)
    for key, people in alike.items():
        own = [views.views[k] for k in key]
        alone = size[root[key[0]]] == 1
        seen = None if alone else sure.get(people[0])
        bounds = _loose_bounds(own, seen, alone=alone)
        shares = {value: high for value, (_, high) in bounds.items()}
        beliefs.append(CellBelief(tuple(people), shares, bounds))
    return replace(
        firm,
        views=views.noting(firm.views.notes[len(views.notes) :]),
        how="bounded",
        beliefs=tuple(beliefs),
        components=len(size),
        counts=None,
        digits=inf,
    )


def _loose_bounds(
    views: list[View], sure: CellBelief | None, *, alone: bool
) -> dict[Value, Bounds]:
    """Bounds for people who are in these views, of which one is joined at least.

    sure: what is believed of them by the views that are not joined
    alone: whether no other view is connected with theirs
    """
    joined = views[0]
    # The other joined views may have left these people out.
    full = [view for view in views if not view.parts or view.size == len(view.people)]
    bags = [bag for bag in joined.parts if any(bag.values())]
    bounds: dict[Value, Bounds] = {}
    for value in dict.fromkeys(value for view in views for value in view.bag):
        if not all(view.bag.get(value) for view in full):
            continue
        if not alone:
            low = Fraction(0) if sure is None else sure.between(value)[0]
            bounds[value] = low, Fraction(1)
            continue
        shares = [Fraction(bag.get(value, 0), sum(bag.values())) for bag in bags]
        # Who may not be in the table has none of the values.
        inside = joined.size == len(joined.people)
        bounds[value] = min(shares) if inside else Fraction(0), max(shares)
    return bounds


# Drawing


@typed
def possible(
    views: Views,
    number: int,
    seed: int = 0,
) -> list[list[Value]]:
    """Some of the tables that could have shown the views, drawn uniformly: everybody's value.

    People who are in no view have None. TooLargeError where tables cannot be counted.
    """
    parts = components(views)
    counted = {part.constraints: Counted.of(part.constraints, rounded=False) for part in parts}
    source = Random(seed)
    tables = []
    for _ in range(number):
        table: list[Value] = [None] * len(views.people)
        for part in parts:
            drawn = counted[part.constraints].drawn(source)
            for people, often in zip(part.people, drawn, strict=True):
                values: list[Value] = []
                for v, times in zip(part.values, often, strict=True):
                    values += [views.values[v]] * times
                # Within a cell, every assignment of its values to its people is equally likely.
                source.shuffle(values)
                for person, value in zip(people, values, strict=True):
                    table[person] = value
        tables.append(table)
    return tables
