"""The adversary of sums: rules out tables that would have led to other replies.

It knows the auditor, and hears answers and denials. Which answers an auditor gives is an interval
that the adversary computes as the auditor does. A denial says that the sum lies below it or above
it; each way is a polytope, and linear programs find what everyone's value can be. Whole numbers are
tried one by one. Uses `audit`; `audited` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from shoal.attack.transcript import Heard
from shoal.audit.model import Decision, members
from shoal.audit.cells import Constraint
from shoal.audit.polytope import extremes
from shoal.audit.sums import Rule, Sums, SumState
from shoal.errors import InputError

__all__ = ["ValueRange", "ranges"]

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
    bounds = _Bounds.of(auditor)
    everyone = [1 << person for person in range(auditor.people)]
    lows = [inf] * auditor.people
    highs = [-inf] * auditor.people
    for way in _ways(bounds, list(_replies(auditor, transcript))):
        for person, (low, high) in enumerate(bounds.extremes(way, everyone) or ()):
            lows[person] = min(lows[person], low)
            highs[person] = max(highs[person], high)
    if lows[0] == inf:
        raise _impossible()
    return tuple(map(ValueRange, lows, highs))


@dataclass(frozen=True)
class _Bounds:
    """Everyone's public bounds, as the solver takes them."""

    lows: list[float]
    highs: list[float]

    @classmethod
    def of(cls, auditor: Sums) -> "_Bounds":
        if auditor.low is None:
            return cls([-inf] * auditor.people, [inf] * auditor.people)
        lows = [float(low) for low in auditor.lows]
        highs = [float(high) for high in auditor.highs]
        return cls(lows, highs)

    def extremes(self, way: Way, sums: Sequence[int]) -> list[tuple[float, float]] | None:
        return extremes(self.lows, self.highs, way, sums)


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


def _ways(bounds: _Bounds, replies: Sequence[Way]) -> list[Way]:
    """All that is possible when one constraint of each reply holds."""
    ways: list[Way] = [()]
    for alternatives in replies:
        ways = [(*way, constraint) for way in ways for constraint in alternatives]
        if len(alternatives) > 1:
            ways = [way for way in ways if bounds.extremes(way, [1]) is not None]
    return ways


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
