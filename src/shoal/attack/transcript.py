"""The adversary of query auditing: rules out tables that would have led to other replies.

It knows the auditor, and hears answers and denials. For maxima and minima it is exact: an auditor
compares values with those it has heard and with public bounds, so of each person, or of people who
were always asked about together, it matters only which of these their value is, or between which
two it lies. Uses `audit`; `audited` uses it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import ceil, floor, inf, prod
from typing import Any, cast

import numpy as np

from shoal.audit.cells import Constraint
from shoal.audit.cells import cells as cells_of
from shoal.audit.maxima import Known, Maxima, Minima, mirrored
from shoal.audit.model import Auditor, Decision, Number, crowd, members
from shoal.errors import InputError, TooLargeError

__all__ = ["Heard", "Possible", "all_wide", "possible"]

LARGEST = 2_000_000
"""Ways to place people between the values heard that are tried, at most."""

Bound = Number | float
"""A value, or an infinite float for what is not bounded."""


@dataclass(frozen=True)
class Heard:
    """A question about some people, and the answer; None is a denial."""

    people: int
    answer: Number | None

    def mirrored(self) -> "Heard":
        """The same of the negated values."""
        return Heard(self.people, None if self.answer is None else -self.answer)


@dataclass(frozen=True)
class Possible:
    """What someone's value can be: one of `values`, or within an open interval of `between`."""

    values: tuple[Number, ...]
    between: tuple[tuple[Bound, Bound], ...]

    @property
    def known(self) -> Number | None:
        """The value, where it is found out."""
        return self.values[0] if len(self.values) == 1 and not self.between else None

    @property
    def low(self) -> Bound:
        """The least it can be, or what it is above."""
        lows = [low for low, _ in self.between]
        return min([*self.values, *lows], default=inf)

    @property
    def high(self) -> Bound:
        """The most it can be, or what it is below."""
        highs = [high for _, high in self.between]
        return max([*self.values, *highs], default=-inf)

    @property
    def width(self) -> Bound:
        """How far apart its possible values are."""
        return self.high - self.low

    def mirrored(self) -> "Possible":
        """The same of the negated value."""
        values = tuple(-value for value in reversed(self.values))
        between = tuple((-high, -low) for low, high in reversed(self.between))
        return Possible(values, between)


def possible(
    auditor: Auditor[Any],
    transcript: Sequence[Heard],
    *,
    domain: Sequence[Number] = (),
    bounds: tuple[Bound, Bound] | None = None,
    marks: Sequence[Number] = (),
) -> dict[int, Possible]:
    """What the values of those asked about can be, given what an auditor of maxima or minima said.

    domain: all possible values, where that is public; else values are real numbers
    bounds: public bounds of these, by default the auditor's
    marks: what else the auditor compares values with, besides its bounds and its answers
    """
    public = _PublicValues(tuple(domain), bounds or _bounds(auditor), tuple(marks))
    if isinstance(auditor, Minima):
        mirrored = [heard.mirrored() for heard in transcript]
        by_person = _possible(auditor.mirrored, mirrored, public.mirrored())
        return {person: values.mirrored() for person, values in by_person.items()}
    return _possible(auditor, transcript, public)


def all_wide(auditor: Maxima, transcript: Sequence[Heard], decisions: Iterable[Decision]) -> bool:
    """Whether everyone has two possible values that are as far apart as promised.

    For transcripts that are too long for `possible`: of everyone, two tables are made up by what
    the auditor takes as known, and the auditor is run on each. False where one sounds different.
    """
    if auditor.distinct:
        return False
    if isinstance(auditor, Minima):
        said = [heard.mirrored() for heard in transcript]
        return all_wide(auditor.mirrored, said, [mirrored(each) for each in decisions])
    state = auditor.start()
    for decision in decisions:
        state = auditor.after(state, decision)
    return _TwoTables.of(auditor, transcript, state.audit).wide()


@dataclass(frozen=True, eq=False)
class _TwoTables:
    """Tables by largest values of groups of people who were always asked about together.

    floor: what those have who need not have more
    """

    auditor: Maxima
    rerun: "_Rerun"
    groups: list[int]
    asked: list[list[int]]
    known: Known
    floor: Number

    @classmethod
    def of(cls, auditor: Maxima, transcript: Sequence[Heard], known: Known) -> "_TwoTables":
        groups = _asked_together(transcript)
        answers = [heard.answer for heard in transcript if heard.answer is not None]
        floor = auditor.low
        if floor is None:
            floor = min(answers, default=0) - auditor.width
        rerun = _Rerun(auditor, transcript)
        return cls(auditor, rerun, groups, _asked_places(transcript, groups), known, floor)

    def wide(self) -> bool:
        """Whether everyone can have the floor, and as much as the promised width more."""
        width = self.auditor.width
        for place, group in enumerate(self.groups):
            top = self.known.bounds[next(members(group))]
            high = self.floor + width if top == inf else cast(Number, top)
            if high - self.floor < width:
                return False
            # of several people, another one can have what the group needs to have
            alone = group.bit_count() == 1
            tables = [self._table(place if alone else None, {place: high})]
            if alone:
                tables.append(self._table(place, {}))
            if not all(map(self._sounds_alike, tables)):
                return False
        return True

    def _table(self, spared: int | None, values: dict[int, Number]) -> list[Number]:
        """Someone has each value that someone must have: not the spared group, if others can."""
        table: list[Number] = [self.floor] * len(self.groups)
        for who, most in self.known.witnesses:
            able = [place for place, group in enumerate(self.groups) if group & who]
            others = [place for place in able if place != spared]
            chosen = (others or able)[0]
            table[chosen] = max(table[chosen], cast(Number, most))
        for place, value in values.items():
            table[place] = value
        return table

    def _sounds_alike(self, table: list[Number]) -> bool:
        answers = (max(table[place] for place in places) for places in self.asked)
        return self.rerun.replies_alike(answers)


@dataclass(frozen=True)
class _PublicValues:
    """What is public of values: all of them, or bounds and what else they are compared with."""

    domain: tuple[Number, ...]
    bounds: tuple[Bound, Bound]
    marks: tuple[Number, ...]

    def mirrored(self) -> "_PublicValues":
        low, high = self.bounds
        return _PublicValues(
            tuple(-value for value in self.domain),
            (-high, -low),
            tuple(-value for value in self.marks),
        )


@dataclass(frozen=True)
class _Cell:
    """A value, or one that stands for all between two `ends`."""

    value: Number
    ends: tuple[Bound, Bound] | None = None


def _bounds(auditor: Any) -> tuple[Bound, Bound]:
    low = getattr(auditor, "low", None)
    high = getattr(auditor, "high", None)
    return -inf if low is None else low, inf if high is None else high


def _possible(
    auditor: Auditor[Any], transcript: Sequence[Heard], public: _PublicValues
) -> dict[int, Possible]:
    groups = _asked_together(transcript)
    cells = _cells(auditor, transcript, public)
    allowed = []
    for group in groups:
        top = _least_answer(transcript, group)
        allowed.append([cell for cell in cells if cell.value <= top])
    ways = prod(map(len, allowed))
    if ways > LARGEST:
        raise TooLargeError(
            f"{ways:,} orders of values are possible, more than the {LARGEST:,} that are tried",
            "take fewer questions",
        )
    survivors = list(_survivors(auditor, transcript, groups, allowed))
    if not survivors:
        raise InputError(
            "no table gives this transcript", "was it made by another auditor, or other parameters?"
        )
    by_person = {}
    for place, group in enumerate(groups):
        left = {chosen[place] for chosen in survivors}
        if group.bit_count() > 1:
            # only their largest value matters, and it may be anyone's of them
            top = max(cell.value for cell in left)
            left = {cell for cell in cells if cell.value <= top}
        by_person.update(dict.fromkeys(members(group), _united(left)))
    return by_person


def _asked_together(transcript: Sequence[Heard]) -> list[int]:
    """Sets of people who were always asked about together."""
    if not transcript:
        return []
    asked = [Constraint(heard.people, "=", 0) for heard in transcript]
    labels = cells_of(asked, asked[0].people).labels
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return [crowd(people.tolist()) for people in np.split(order, starts)[1:]]


def _least_answer(transcript: Iterable[Heard], group: int) -> Bound:
    """The least answer about a group: nobody in it has more."""
    about = [heard.answer for heard in transcript if heard.people & group]
    return min((answer for answer in about if answer is not None), default=inf)


def _united(cells: Iterable[_Cell]) -> Possible:
    ordered = sorted(cells, key=lambda cell: cell.value)
    return Possible(
        tuple(cell.value for cell in ordered if cell.ends is None),
        tuple(cell.ends for cell in ordered if cell.ends is not None),
    )


def _cells(auditor: Any, transcript: Iterable[Heard], public: _PublicValues) -> list[_Cell]:
    """Values that the auditor distinguishes: what it compares with, and one between any two."""
    if public.domain:
        return [_Cell(value) for value in sorted(public.domain)]
    low, high = public.bounds
    marks = _marks(auditor, transcript, public)
    if not marks:
        return [_Cell(0, (low, high))]
    whole = getattr(auditor, "integers", False)
    cells = [_Cell(mark) for mark in marks if not whole or mark == int(mark)]
    for mark, following in pairwise(marks):
        if whole:
            cells += _whole_between(mark, following)
        else:
            cells.append(_between(mark, following))
    first, last = marks[0], marks[-1]
    if low == -inf:
        cells.append(_Cell(floor(first) - 1, (low, first)))
    if high == inf:
        cells.append(_Cell(ceil(last) + 1, (last, high)))
    return sorted(cells, key=lambda cell: cell.value)


def _marks(auditor: Any, transcript: Iterable[Heard], public: _PublicValues) -> list[Number]:
    """What the auditor compares values with, in order."""
    low, high = public.bounds
    # Auditors with a lower bound keep a width above it.
    margin = low + getattr(auditor, "width", 0)
    marks: set[Bound] = {low, high, margin, *public.marks}
    marks.update(heard.answer for heard in transcript if heard.answer is not None)
    marks -= {inf, -inf}
    finite = [mark for mark in marks if low <= mark <= high]
    return sorted(cast(list[Number], finite))


def _between(low: Number, high: Number) -> _Cell:
    return _Cell(Fraction(low + high) / 2, (low, high))


def _whole_between(low: Number, high: Number) -> list[_Cell]:
    """One cell for all whole numbers between two marks, or for the only one, if any."""
    first = floor(low) + 1
    count = ceil(high) - first
    if count < 1:
        return []
    if count == 1:
        return [_Cell(first)]
    return [_Cell(first, (low, high))]


def _survivors(
    auditor: Auditor[Any],
    transcript: Sequence[Heard],
    groups: Sequence[int],
    allowed: Sequence[Sequence[_Cell]],
) -> Iterator[tuple[_Cell, ...]]:
    """The ways to give each group a largest value so that the replies stay the same."""
    asked = _asked_places(transcript, groups)
    rerun = _Rerun(auditor, transcript)
    distinct = getattr(auditor, "distinct", False)
    for cells in product(*allowed):
        if distinct and _repeats(cells):
            continue
        answers = (max(cells[place].value for place in places) for places in asked)
        if rerun.replies_alike(answers):
            yield cells


def _asked_places(transcript: Iterable[Heard], groups: Sequence[int]) -> list[list[int]]:
    """For each question, the numbers of the groups in it."""
    asked = []
    for heard in transcript:
        places = [place for place, group in enumerate(groups) if group & heard.people]
        asked.append(places)
    return asked


def _repeats(cells: Iterable[_Cell]) -> bool:
    """Whether two groups have the same single value."""
    values = [cell.value for cell in cells if cell.ends is None]
    return len(values) > len(set(values))


@dataclass
class _Rerun:
    """What the auditor would have replied, remembered by what it would have replied before.

    steps: the number and the state that follow, by question, number of the state so far, and true
        answer; None if the reply would have been different
    """

    auditor: Auditor[Any]
    transcript: Sequence[Heard]
    steps: dict[tuple[int, int, Number], tuple[int, Any] | None] = field(default_factory=dict)

    @cached_property
    def start(self) -> Any:
        """The state before any question."""
        return self.auditor.start()

    def replies_alike(self, answers: Iterable[Number]) -> bool:
        """Whether these true answers lead to the replies that were heard."""
        number, state = 0, self.start
        questions = zip(self.transcript, answers, strict=True)
        for question, (heard, answer) in enumerate(questions):
            if heard.answer is not None and answer != heard.answer:
                return False
            key = question, number, answer
            if key not in self.steps:
                self.steps[key] = self._step(state, heard, answer)
            step = self.steps[key]
            if step is None:
                return False
            number, state = step
        return True

    def _step(self, state: Any, heard: Heard, answer: Number) -> tuple[int, Any] | None:
        decision = self.auditor.decide(state, heard.people, answer)
        if decision.answered != (heard.answer is not None):
            return None
        return len(self.steps) + 1, self.auditor.after(state, decision)
