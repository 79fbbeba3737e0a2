"""The adversary of sums: rules out tables that would have led to other replies.

It knows the auditor, and hears answers and denials. Which answers an auditor gives is an interval
that the adversary computes as the auditor does. A denial says that the sum lies below it or above
it; each way is a polytope, and linear programs find what everyone's value can be. People whom no
question distinguishes are one variable. Whole numbers are tried one by one. Uses `audit`; `audited`
uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from shoal.attack.transcript import Heard
from shoal.audit.cells import Constraint, PersonCells, cells
from shoal.audit.matrices import Floats, LinearProgram
from shoal.audit.model import Decision, members
from shoal.audit.polytope import sides
from shoal.audit.sums import Rule, Sums, SumState
from shoal.errors import InputError

__all__ = ["ValueRange", "narrow", "ranges"]

ROUNDED = 1e-6
"""Of a width: the error a solver may make."""


Way = tuple[Constraint, ...]
"""Constraints that hold together: one way to read the denials."""


@dataclass(frozen=True)
class ValueRange:
    """The least and the largest that a value can be."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart possible values are."""
        return self.high - self.low


def ranges(auditor: Sums, transcript: Sequence[Heard]) -> tuple[ValueRange, ...]:
    """What everyone's value can be, given what an auditor of sums said.

    Ends are as exact as the solver (about 1e-9). The ways to read the denials double with each
    denial; those that are impossible are dropped at once.
    """
    if auditor.integers:
        return _ranges_of_whole(auditor, transcript)
    return _by_person(auditor, _united(auditor, transcript, enough=False))


def narrow(auditor: Sums, transcript: Sequence[Heard]) -> dict[int, ValueRange]:
    """Who has a value that is known more closely than promised, and what it can be.

    Ways to read the denials are gone through only until everyone's width is possible.
    """
    if auditor.integers:
        known = dict(enumerate(_ranges_of_whole(auditor, transcript)))
    else:
        found = _united(auditor, transcript, enough=True)
        if found.all_wide():
            return {}
        known = dict(enumerate(_by_person(auditor, found)))
    promised = auditor.widths
    return {
        person: values
        for person, values in known.items()
        if values.width < float(promised[person]) * (1 - ROUNDED)
    }


@dataclass(frozen=True, eq=False)
class _CellRanges:
    """What one person of each cell can have, as far as it was looked into.

    groups: cells of people whom no question distinguishes
    low, high, need: the public bounds of a person of each, and the width that was promised
    lows, highs: what was found
    """

    groups: PersonCells
    low: Floats
    high: Floats
    need: Floats
    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, auditor: Sums, replies: Sequence[Way]) -> "_CellRanges":
        asked = [constraint for reply in replies for constraint in reply[:1]]
        everyone = (1 << auditor.people) - 1
        kinds = None if auditor.low is None else auditor.box.kinds
        groups = cells(asked, everyone, kinds)
        first = groups.first.tolist()
        need = np.array([float(auditor.widths[person]) for person in first])
        low, high = np.full(len(first), -inf), np.full(len(first), inf)
        if auditor.low is not None:
            low = np.array([float(auditor.lows[person]) for person in first])
            high = np.array([float(auditor.highs[person]) for person in first])
        nothing = np.full(len(first), inf)
        return cls(groups, low, high, need, nothing, -nothing)

    def program(self, way: Way) -> LinearProgram:
        """The sums of cells by one way to read the denials."""
        sizes = self.groups.sizes
        a = self.groups.rows(constraint.people for constraint in way)
        return LinearProgram.within(a, sides(way), (sizes * self.low, sizes * self.high))

    def possible(self, way: Way) -> bool:
        """Whether anything fits."""
        return self.program(way).minimum() is not None

    def extend(self, way: Way, *, enough: bool) -> None:
        """Take in what one way allows, for all cells or for those that are not wide yet."""
        program = self.program(way)
        others = self.groups.sizes - 1
        for cell in range(len(self.groups)):
            if enough and self.is_wide(cell):
                continue
            unit = np.zeros(len(self.groups))
            unit[cell] = 1.0
            ends = program.ends(unit)
            if ends is None:
                return
            # of a cell's sum, one person can have what the bounds of the others leave
            least, most = ends
            if others[cell]:
                least = max(self.low[cell], least - others[cell] * self.high[cell])
                most = min(self.high[cell], most - others[cell] * self.low[cell])
            self.lows[cell] = min(self.lows[cell], least)
            self.highs[cell] = max(self.highs[cell], most)

    def is_wide(self, cell: int) -> bool:
        """Whether the promised width was found to be possible."""
        width = self.highs[cell] - self.lows[cell]
        return bool(width >= self.need[cell] * (1 - ROUNDED))

    def all_wide(self) -> bool:
        """Whether that is so for everyone."""
        return all(map(self.is_wide, range(len(self.groups))))


def _united(auditor: Sums, transcript: Sequence[Heard], *, enough: bool) -> _CellRanges:
    """What all ways to read the denials allow; or as many as make everyone's value wide."""
    replies = list(_replies(auditor, transcript))
    found = _CellRanges.of(auditor, replies)
    for way in _ways(found, replies):
        found.extend(way, enough=enough)
        if enough and found.all_wide():
            break
    if np.any(found.lows == inf):
        raise _impossible()
    return found


def _by_person(auditor: Sums, found: _CellRanges) -> tuple[ValueRange, ...]:
    values = list(map(ValueRange, found.lows.tolist(), found.highs.tolist()))
    return tuple(values[label] for label in found.groups.labels.tolist())


def _replies(auditor: Sums, transcript: Sequence[Heard]) -> Iterator[Way]:
    """For each question, what follows from the reply: one of these constraints holds.

    The auditor's state is a function of what was said.
    """
    state = auditor.start()
    for heard in transcript:
        decision = _decision(auditor, state, heard)
        if heard.answer is not None:
            yield (Constraint(heard.people, "=", heard.answer),)
        elif heard.people not in state.denied:
            rule = auditor.rule(state, heard.people)
            if rule is not None:
                yield tuple(_denied(rule, heard.people))
        state = auditor.after(state, decision)


def _decision(auditor: Sums, state: SumState, heard: Heard) -> Decision:
    """What the auditor has decided, as far as the reply shows it."""
    if heard.answer is not None:
        decision = auditor.decide(state, heard.people, heard.answer)
        if not decision.answered:
            raise InputError(
                "this auditor would have denied what was answered",
                "was the transcript made by another auditor?",
            )
        return decision
    if heard.people in state.denied:
        return Decision.denial(heard.people)
    rule = auditor.rule(state, heard.people)
    if rule is None or rule.bound is None:
        return Decision.denial(heard.people)
    return Decision(heard.people, False, "<=", rule.bound)


def _denied(rule: Rule, people: int) -> Iterator[Constraint]:
    """What a denial by a rule leaves: the sum lies below or above what is given."""
    below = rule.low if rule.bound is None else rule.bound
    if below is not None:
        yield Constraint(people, "<=", below)
    if rule.high is not None:
        yield Constraint(people, ">=", rule.high)


def _ways(found: _CellRanges, replies: Sequence[Way], chosen: Way = ()) -> Iterator[Way]:
    """All that is possible when one constraint of each reply holds, one way after the other."""
    if len(chosen) == len(replies):
        yield chosen
        return
    alternatives = replies[len(chosen)]
    for constraint in alternatives:
        way = (*chosen, constraint)
        if len(alternatives) == 1 or found.possible(way):
            yield from _ways(found, replies, way)


def _ranges_of_whole(auditor: Sums, transcript: Sequence[Heard]) -> tuple[ValueRange, ...]:
    tables: list[tuple[int, ...]] = [tuple(row) for row in auditor.tables.tolist()]
    state = auditor.start()
    for heard in transcript:
        decision = _decision(auditor, state, heard)
        left = []
        for table in tables:
            answer = sum(table[person] for person in members(heard.people))
            if auditor.decide(state, heard.people, answer).reply == heard.answer:
                left.append(table)
        tables = left
        state = auditor.after(state, decision)
    if not tables:
        raise _impossible()
    columns = zip(*tables, strict=True)
    return tuple(ValueRange(min(column), max(column)) for column in columns)


def _impossible() -> InputError:
    return InputError("no table gives this transcript", "was it made by another auditor?")
