"""`check`: how probable every value is for everybody, given all views together. Uses the rest of this room; the command line
and whoever restores uses it.

By counting where that can be done, else by sampling, else by bounds. What comes out says which, and how sure it is.
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
from shoal.views.cells import Component, Puzzle, components, connected
from shoal.views.counting import Counted, guessed
from shoal.views.dense import Dense
from shoal.views.importance import ENOUGH, Estimated, estimate
from shoal.views.intervals import clopper_pearson, spread
from shoal.views.model import OUTSIDE, Value, View, Views

__all__ = ["Belief", "Checked", "Exposed", "How", "check", "possible"]

How = Literal["exact", "enclosed", "sampling", "importance", "bounded"]
HOW: tuple[How, ...] = ("exact", "enclosed", "sampling", "importance", "bounded")
"""From the surest to the least sure; the last is what is left where none of the others can be done."""

_LONGEST = 40  # digits of a fraction that is not rounded as a text
_NEAR = 12  # views among which those that expose somebody are searched
_QUICK = 300_000  # steps of counting in whole numbers before arrays of floats are tried
_SLOW = 2_000_000  # steps, by the guess, from which on arrays are tried first
_NOTES = 3  # components that are too entangled of which each is told by itself
_EXPLAINED = 100  # cells of exposed people for which the views that expose them are searched


@dataclass(frozen=True)
class Belief:
    """How probable each value is for some people who are in the same views.

    `shares` are exact where there are no `bounds`; else the bounds hold, with the confidence that the result states.
    """

    people: tuple[int, ...]
    shares: Mapping[Value, Fraction]
    bounds: Mapping[Value, tuple[Fraction, Fraction]] | None = None

    def between(self, value: Value) -> tuple[Fraction, Fraction]:
        """The least and the largest probability of a value."""
        if self.bounds is not None and value in self.bounds:
            return self.bounds[value]
        share = self.shares.get(value, Fraction(0))
        return share, share


@dataclass(frozen=True)
class Exposed:
    """A person and a value that is more probable for them than its limit allows, or may be.

    `probability` is exact where `low` and `high` are the same. If `alone`, the `views` expose the person by themselves, and none
    of them can be left out; else they are those that the person is in, and it takes others besides: so of those who may be
    exposed, of very many, and where it takes too many views to tell.
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


@dataclass(frozen=True, eq=False)
class Checked:
    """What views tell together.

    how: by which method the least sure of all components was checked: "exact" (counted), "enclosed" (counted, with roundings
        accounted for), "sampling" (from tables drawn uniformly), "importance" (from weighted ones), "bounded" (too entangled
        for all of these, or joined from groups of which it is not public who is in which: bounds that single views give)
    confidence: with which all bounds hold together; None where nothing was drawn. Of "importance" it is approximate
    effective: the smallest effective sample size of a component, where there are any by "importance"
    """

    views: Views
    how: How
    beliefs: tuple[Belief, ...]
    confidence: Fraction | None = None
    effective: float | None = None
    components: int = 0
    counts: tuple[int, ...] | None = None
    """The number of tables of every component; None if some is not known exactly."""

    digits: float = 0.0
    """The logarithm of the number of tables, to base 10; infinite if nothing is known of some component."""

    @cached_property
    def tables(self) -> int | None:
        """How many tables could have shown the views; None if that was not counted exactly."""
        return None if self.counts is None else prod(self.counts)

    @property
    def tables_text(self) -> str:
        """The number of possible tables as text, however long; "about 10^…" if it was not counted exactly."""
        if isinf(self.digits):
            return "not counted"
        return f"about 10^{self.digits:.1f}" if self.tables is None else str(Decimal(self.tables))

    @property
    def private(self) -> bool | None:
        """Whether every limit holds for everybody; None if that is not decided."""
        if any(low > self.views.limit(value) for _, value, low, _ in self._all()):
            return False
        return (
            None
            if any(high > self.views.limit(value) for _, value, _, high in self._all())
            else True
        )

    @cached_property
    def exposed(self) -> tuple[Exposed, ...]:
        """Everybody for whom a value is more probable than its limit, the most probable first.

        Beside groups of which it is not public who is in which: to someone who has not seen these groups.
        """
        return self._listed(lambda low, high, limit: low > limit, search=_EXPLAINED)

    @cached_property
    def undecided(self) -> tuple[Exposed, ...]:
        """Everybody for whom a value may be more probable than its limit, or not."""
        return self._listed(lambda low, high, limit: low <= limit < high, search=0)

    @property
    def largest(self) -> Fraction:
        """The largest probability that anybody has a value, at most."""
        return max(
            (high for _, value, _, high in self._all() if value is not OUTSIDE), default=Fraction(0)
        )

    @property
    def largest_text(self) -> str:
        """The same as text: a fraction where it is short, else a decimal that is rounded up."""
        exact = str(self.largest)
        return exact if len(exact) <= _LONGEST else str(Fraction(ceil(self.largest * 10**9), 10**9))

    def of(self, person: int | str) -> Belief:
        """What is believed of somebody, by their number or name; ParameterError if they are in no view."""
        number = (
            self.views.names.index(person)
            if isinstance(person, str) and person in self.views.names
            else person
        )
        found = next((belief for belief in self.beliefs if number in belief.people), None)
        if found is None:
            raise ParameterError(f"nothing is said of {person!r}, who is in no view")
        return found

    def _all(self) -> Iterator[tuple[Belief, Value, Fraction, Fraction]]:
        for belief in self.beliefs:
            for value in belief.shares:
                yield (belief, value, *belief.between(value))

    def _listed(
        self, wanted: Callable[[Fraction, Fraction, Fraction], bool], *, search: int
    ) -> tuple[Exposed, ...]:
        found = [
            (belief, value, low, high)
            for belief, value, low, high in self._all()
            if wanted(low, high, self.views.limit(value))
        ]
        found.sort(key=lambda one: (-one[0].shares[one[1]], one[0].people, str(one[1])))
        told: list[Exposed] = []
        for at, (belief, value, low, high) in enumerate(found):
            by, alone = self._exposing(belief.people[0], value, search=at < search)
            limit = self.views.limit(value)
            told += (
                Exposed(
                    person,
                    self.views.names[person],
                    value,
                    belief.shares[value],
                    low,
                    high,
                    limit,
                    by,
                    alone,
                )
                for person in belief.people
            )
        return tuple(told)

    @cached_property
    def _of(self) -> dict[int, list[View]]:
        """The views that everybody is in."""
        found: dict[int, list[View]] = {}
        for view in self.views.shown:
            for person in view.members:
                found.setdefault(person, []).append(view)
        return found

    def _exposing(self, person: int, value: Value, *, search: bool) -> tuple[tuple[str, ...], bool]:
        """Views that alone expose a person, of which none can be left out, and True; else those that the person is in."""
        own = {view.name: view for view in self._of[person]}
        if not search or any(view.parts for view in own.values()):
            return tuple(own), False
        limit = self.views.limit(value)

        def expose(some: Mapping[str, View]) -> bool:
            try:
                return _share(some.values(), self.views.complete, person, value) > limit
            except TooLargeError:
                return False

        some = dict(own)
        while not expose(some):
            more = {
                near.name: near
                for view in some.values()
                for one in view.members
                for near in self._of[one]
                if not near.parts
            }
            if len(more) == len(some) or len(more) > _NEAR:
                return tuple(own), False
            some = more
        dropped = True
        while dropped:  # as with fewer views others may come to be needless
            dropped = False
            for name in reversed(list(some)):
                fewer = {other: view for other, view in some.items() if other != name}
                if any(person in view.members for view in fewer.values()) and expose(fewer):
                    some, dropped = fewer, True
        return tuple(view.name for view in self.views.shown if view.name in some), True


@typed
def check(
    views: Views,
    *,
    how: How | None = None,
    confidence: Exact = Fraction(99, 100),
    tries: int = 10_000,
    seed: int = 0,
    most: int | None = None,
) -> Checked:
    """How probable every value is for everybody, if all tables that could have shown the views are equally likely.

    how: by itself "exact" where it can be done within `most` steps, "enclosed" for long chains of views and for large ones that
        share many people, else "importance", and "bounded" for a component of which even samples tell too little. "sampling" is
        for those who want what "importance" gives with a confidence that is proven
    confidence: with which all bounds hold together, where tables are drawn
    tries: how many tables are drawn, of every component

    >>> both = Views(["Ann", "Bob", "Cid"], [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])])
    >>> found = check(both)
    >>> found.tables, [(one.name, one.value, one.probability) for one in found.exposed][0]
    (1, ('Ann', 'cold', Fraction(1, 1)))
    """
    if how is not None and how not in HOW[:-1]:
        raise ParameterError(f"how={how!r} is unknown; known are {listed(HOW[:-1])}")
    sure = fraction(confidence, "confidence", 0, 1)
    if not 0 < sure < 1:
        raise ParameterError("confidence is above 0 and below 1")
    whole(tries, "tries", 1)
    whole(seed, "seed", 0)
    whole(0 if most is None else most, "most", 0)
    if any(view.parts for view in views.shown):
        firm = views.only(view.name for view in views.shown if not view.parts)
        return _loosely(
            views, check(firm, how=how, confidence=confidence, tries=tries, seed=seed, most=most)
        )
    parts = components(views)
    chance, source = Random(seed), np.random.default_rng(seed)
    by: list[How] = ["exact"]
    beliefs: list[list[Belief]] = [[] for _ in parts]
    counts: list[int] = []
    known, digits = True, 0.0
    shares: dict[
        Puzzle, tuple[list[list[Fraction]], int, float]
    ] = {}  # all that is kept of what was counted exactly
    waiting: list[tuple[int, Counted | None]] = []
    notes: list[str] = []
    for at, part in enumerate(parts):
        if part.puzzle not in shares:
            counted = None if how == "importance" else _counted(part.puzzle, how, most)
            if counted is None:
                known = False
                waiting.append((at, None))
                continue
            if counted.rounded:
                known = False
                by.append("enclosed")
                digits += _digits(counted)
                beliefs[at] += _enclosed(views, part, counted, chance)
                continue
            assert isinstance(counted, Counted)
            if how == "sampling":
                waiting.append((at, counted))
                counts.append(counted.tables)
                digits += _digits(counted)
                continue
            shares[part.puzzle] = counted.shares, counted.tables, _digits(counted)
        own, tables, more = shares[part.puzzle]
        counts.append(tables)
        digits += more
        beliefs[at] += _exact(views, part, own)
    error = float(1 - sure) / max(sum(_claims(parts[at].puzzle) for at, _ in waiting), 1)
    effective: list[float] = []
    for at, counted in waiting:
        part = parts[at]
        if counted is not None:
            by.append("sampling")
            beliefs[at] += _sampled(views, part, counted, tries, chance, error)
            continue
        guess = estimate(part.puzzle, tries, source)
        if guess.effective < ENOUGH:
            entangled = f"{plural(len(part.puzzle.bags), 'view')} of {sum(size for size, _ in part.puzzle.cells):,} people"
            notes.append(
                f"{entangled} are too entangled: "
                + ("" if how == "importance" else "counting takes too many steps, and ")
                + f"samples are worth {guess.effective:.0f} uniform ones, where {ENOUGH} are needed. Their people are not "
                "decided, unless single views do. Check fewer views, or take more samples or steps"
            )
            by.append("bounded")
            digits = inf
            beliefs[at] += _bounded(views, part)
            continue
        by.append("importance")
        effective.append(guess.effective)
        digits += guess.logarithm
        beliefs[at] += _weighed(views, part, guess, error)
    return Checked(
        replace(views, people=views.names, notes=(*views.notes, *_first(notes)))
        if notes
        else views,
        max(by, key=HOW.index),
        tuple(belief for some in beliefs for belief in some),
        sure if len(waiting) > len(notes) else None,
        min(effective, default=None),
        len(parts),
        tuple(counts) if known else None,
        digits,
    )


@typed
def possible(views: Views, number: int, seed: int = 0) -> list[list[Value]]:
    """So many of the tables that could have shown the views, drawn uniformly: everybody's value, None also for who is in no view.

    TooLargeError where they cannot be counted.
    """
    parts = components(views)
    counted = {part.puzzle: Counted.of(part.puzzle, rounded=False) for part in parts}
    source = Random(seed)
    found = []
    for _ in range(number):
        given: list[Value] = [None] * len(views.names)
        for part in parts:
            for people, often in zip(part.people, counted[part.puzzle].drawn(source), strict=True):
                values = [
                    views.values[v]
                    for v, times in zip(part.values, often, strict=True)
                    for _ in range(times)
                ]
                source.shuffle(values)
                for person, value in zip(people, values, strict=True):
                    given[person] = value
        found.append(given)
    return found


def _counted(puzzle: Puzzle, how: How | None, most: int | None) -> Counted | Dense | None:
    if how is None and most is None:
        quick = partial(Counted.of, puzzle, _QUICK), partial(Dense.of, puzzle)
        for one in reversed(quick) if guessed(puzzle) > _SLOW else quick:
            with suppress(TooLargeError):
                return one()
    try:
        return Counted.of(
            puzzle,
            most,
            rounded={"exact": False, "sampling": False, "enclosed": True, None: None}[how],
        )
    except TooLargeError as error:
        if how is not None:
            raise TooLargeError(
                f"{error}; raise `most`, or leave `how` out so that tables are sampled"
            ) from None
        return None


def _share(some: Iterable[View], complete: bool, person: int, value: Value) -> Fraction:
    """How probable a value is for a person, at least, given some views."""
    shown = list(some)
    people = sorted(set().union(*(view.members for view in shown)))
    number = {one: i for i, one in enumerate(people)}
    views = Views(
        len(people),
        [View(view.name, [number[one] for one in view.members], view.shown) for view in shown],
        complete=complete,
    )
    for part in components(views):
        for cell, own in enumerate(part.people):
            if number[person] in own:
                told = dict(zip(part.values, range(len(part.values)), strict=True))
                at = told.get(views.values.index(value)) if value in views.values else None
                counted = _counted(part.puzzle, None, None)
                return (
                    Fraction(0)
                    if at is None or counted is None
                    else _around(counted, counted.shares[cell][at])[0]
                )
    return Fraction(0)


def _digits(counted: Counted | Dense) -> float:
    if isinstance(counted, Dense):
        return counted.digits
    if counted.rounded:
        return log10(counted.layers[-1][0]) + counted.exponent * log10(2)
    bits = max(counted.tables.bit_length() - 60, 0)
    return log10(counted.tables >> bits) + bits * log10(2)


def _able(puzzle: Puzzle, cell: int) -> list[int]:
    """The values that the people of a cell may have by each single view of theirs."""
    return [
        v for v in range(puzzle.values) if all(puzzle.bags[k][v] for k in puzzle.cells[cell][1])
    ]


def _claims(puzzle: Puzzle) -> int:
    """Of how many probabilities bounds are given: people of a cell have the same ones."""
    return sum(len(_able(puzzle, cell)) for cell in range(len(puzzle.cells)))


def _around(counted: Counted | Dense, share: Fraction) -> tuple[Fraction, Fraction]:
    """The bounds of a share that was rounded."""
    off = share * counted.error + counted.faint
    return max(share - off, Fraction(0)), min(share + off, Fraction(1))


def _exact(views: Views, part: Component, shares: list[list[Fraction]]) -> Iterator[Belief]:
    """What was counted."""
    for people, own in zip(part.people, shares, strict=True):
        yield Belief(
            people, {views.values[part.values[v]]: share for v, share in enumerate(own) if share}
        )


def _enclosed(
    views: Views, part: Component, counted: Counted | Dense, source: Random
) -> Iterator[Belief]:
    """What was counted and rounded, with bounds; where a limit lies within them, whether the share is exactly the limit."""
    limits = [views.limit(views.values[v]) for v in part.values]
    bounds = {
        (cell, v): _around(counted, counted.shares[cell][v])
        for cell in range(len(part.people))
        for v in _able(part.puzzle, cell)
    }
    close = [
        (*at, limits[at[1]]) for at, (low, high) in bounds.items() if low <= limits[at[1]] < high
    ]
    ties = (
        [one for one, equal in zip(close, counted.equal(close, source), strict=True) if equal]
        if close
        else []
    )
    bounds |= {(cell, v): (limit, limit) for cell, v, limit in ties}
    tied = {(cell, v): limit for cell, v, limit in ties}
    for cell, people in enumerate(part.people):
        own = {v: views.values[part.values[v]] for v in _able(part.puzzle, cell)}
        shares = {value: tied.get((cell, v), counted.shares[cell][v]) for v, value in own.items()}
        yield Belief(people, shares, {value: bounds[cell, v] for v, value in own.items()})


def _bounded(views: Views, part: Component) -> Iterator[Belief]:
    """What single views say of a cell: it cannot have a value more often than any of them, nor can all others have it instead."""
    for people, (size, own) in zip(part.people, part.puzzle.cells, strict=True):
        bounds = {}
        for v, number in enumerate(part.values):
            bags = [part.puzzle.bags[k] for k in own]
            most = min(size, *(bag[v] for bag in bags))
            least = max(0, *(bag[v] - sum(bag) + size for bag in bags))
            bounds[views.values[number]] = Fraction(least, size), Fraction(most, size)
        yield Belief(people, {value: high for value, (_, high) in bounds.items()}, bounds)


def _loosely(views: Views, firm: Checked) -> Checked:
    """What is known where some views are joined from several groups; `firm` is what the others tell.

    Someone may know who is in which group. If nothing else was shown of these people, each has what their own group shows, and
    that is some group's. Else more cannot be said than what is possible, and what somebody knows who has not seen the groups.
    """
    root = connected(views)
    size = Counter(root)
    loose = {root[k] for k, view in enumerate(views.shown) if view.parts}
    own: dict[int, list[int]] = {}
    for k, view in enumerate(views.shown):
        for person in view.members:
            own.setdefault(person, []).append(k)
    sure: dict[int, Belief] = {}
    beliefs: list[Belief] = []
    for belief in firm.beliefs:
        if root[own[belief.people[0]][0]] in loose:
            sure |= dict.fromkeys(belief.people, belief)
        else:
            beliefs.append(belief)
    alike: dict[tuple[int, ...], list[int]] = {}
    for person in sorted(own):
        if root[own[person][0]] in loose:
            alike.setdefault(tuple(own[person]), []).append(person)
    for key, people in alike.items():
        bounds: dict[Value, tuple[Fraction, Fraction]] = {}
        mine = [views.shown[k] for k in key]
        full = [
            view for view in mine if not view.parts or view.size == len(view.members)
        ]  # the others may have left them out
        for value in dict.fromkeys(value for view in mine for value in view.shown):
            if all(view.shown.get(value) for view in full):
                bags = [part for part in views.shown[key[0]].parts if any(part.values())]
                shares = [Fraction(part.get(value, 0), sum(part.values())) for part in bags]
                low = sure[people[0]].between(value)[0] if people[0] in sure else Fraction(0)
                if size[root[key[0]]] > 1:
                    bounds[value] = low, Fraction(1)
                else:  # who may not be in the table has none of the values
                    joined = views.shown[key[0]]
                    bounds[value] = (
                        min(shares) if joined.size == len(joined.members) else Fraction(0),
                        max(shares),
                    )
        beliefs.append(
            Belief(tuple(people), {value: high for value, (_, high) in bounds.items()}, bounds)
        )
    return replace(
        firm,
        views=replace(
            views, people=views.names, notes=(*views.notes, *firm.views.notes[len(views.notes) :])
        ),
        how="bounded",
        beliefs=tuple(beliefs),
        components=len(size),
        counts=None,
        digits=inf,
    )


def _first(notes: list[str]) -> list[str]:
    """Some notes, and how many more there are."""
    more = len(notes) - _NOTES
    return (
        notes
        if more <= 0
        else [*notes[:_NOTES], f"and {more:,} more components that are too entangled"]
    )


def _sampled(
    views: Views, part: Component, counted: Counted, tries: int, source: Random, error: float
) -> Iterator[Belief]:
    """One person of each cell, in tables that are drawn uniformly: a hit or none, each time with the same probability."""
    hits = [[0] * part.puzzle.values for _ in part.people]
    for _ in range(tries):
        for own, often, people in zip(hits, counted.drawn(source), part.people, strict=True):
            place = source.randrange(len(people))
            for v, times in enumerate(often):
                place -= times
                if place < 0:
                    own[v] += 1
                    break
    for cell, people in enumerate(part.people):
        shares, bounds = {}, {}
        for v in _able(part.puzzle, cell):
            value = views.values[part.values[v]]
            shares[value] = Fraction(hits[cell][v], tries)
            low, high = clopper_pearson(hits[cell][v], tries, error)
            bounds[value] = Fraction(low), Fraction(high)
        yield Belief(people, shares, bounds)


def _weighed(views: Views, part: Component, guess: Estimated, error: float) -> Iterator[Belief]:
    """The wider of two intervals: that of a normal estimate, and Clopper and Pearson's for the effective sample size."""
    for cell, people in enumerate(part.people):
        told, bounds = {}, {}
        for v in _able(part.puzzle, cell):
            value, share = (
                views.values[part.values[v]],
                float(min(max(guess.shares[cell, v], 0.0), 1.0)),
            )
            low, high = clopper_pearson(
                round(share * guess.effective, 3), round(guess.effective, 3), error
            )
            off = spread(error) * float(guess.deviations[cell, v])
            told[value] = Fraction(share)
            bounds[value] = (
                Fraction(max(min(low, share - off), 0.0)),
                Fraction(min(max(high, share + off), 1.0)),
            )
        yield Belief(people, told, bounds)
