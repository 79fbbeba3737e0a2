"""The adversary of sums: knows the auditor, hears answers and denials, and rules out what would have sounded otherwise.

Which answers an auditor gives is an interval that the adversary computes like the auditor. A denial says that the sum lies below
it or above it; each way is a polytope, and linear programs find what everyone's value can be. Whole numbers are tried one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf

from shoal.attack.transcript import Heard
from shoal.audit.model import Decision, members
from shoal.audit.polytope import Constraint, extremes
from shoal.audit.sums import Rule, Sums, SumState
from shoal.errors import InputError

__all__ = ["Range", "ranges"]


@dataclass(frozen=True)
class Range:
    """From where to where a value can be."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart possible values are."""
        return self.high - self.low


def ranges(auditor: Sums, transcript: Sequence[Heard]) -> tuple[Range, ...]:
    """What everyone's value can be, given what an auditor of sums said; ends are as exact as the solver (about 1e-9).

    Ways to read the denials double with each; those that cannot be are left at once.
    """
    if auditor.integers:
        return _tried(auditor, transcript)
    whole: tuple[list[float], list[float]] = ([-inf] * auditor.people, [inf] * auditor.people)
    if auditor.low is not None:
        whole = list(map(float, auditor.lows)), list(map(float, auditor.highs))
    everyone = [1 << person for person in range(auditor.people)]
    lows, highs = [inf] * auditor.people, [-inf] * auditor.people
    for rows in _ways(whole, [()], list(_said(auditor, transcript))):
        for person, (low, high) in enumerate(extremes(*whole, rows, everyone) or ()):
            lows[person], highs[person] = min(lows[person], low), max(highs[person], high)
    if lows[0] == inf:
        raise InputError("no table gives this transcript; was it made by this auditor?")
    return tuple(map(Range, lows, highs))


def _said(auditor: Sums, transcript: Sequence[Heard]) -> Iterator[tuple[Constraint, ...]]:
    """For each question, what follows: one of these rows holds. The auditor's state is a function of what was said."""
    state = auditor.start()
    for heard in transcript:
        entry = _entry(auditor, state, heard)
        if heard.answer is not None:
            yield (Constraint(heard.people, "=", heard.answer),)
        elif heard.people not in state.denied:
            rule = auditor.rule(state, heard.people)
            if rule is not None:
                yield tuple(_denied(rule, heard.people))
        state = auditor.after(state, entry)


def _entry(auditor: Sums, state: SumState, heard: Heard) -> Decision:
    if heard.answer is not None:
        entry = auditor.decide(state, heard.people, heard.answer)
        if not entry.answered:
            raise InputError(
                "this auditor would have denied what was answered; was the transcript made by another?"
            )
        return entry
    rule = None if heard.people in state.denied else auditor.rule(state, heard.people)
    bound = None if rule is None else rule.bound
    return Decision(heard.people, False, None if bound is None else "<=", bound)


def _denied(rule: Rule, people: int) -> Iterator[Constraint]:
    below = rule.low if rule.bound is None else rule.bound
    if below is not None:
        yield Constraint(people, "<=", below)
    if rule.high is not None:
        yield Constraint(people, ">=", rule.high)


def _ways(
    whole: tuple[list[float], list[float]],
    ways: list[tuple[Constraint, ...]],
    said: Sequence[tuple[Constraint, ...]],
) -> list[tuple[Constraint, ...]]:
    """All that can be when one row of each group holds."""
    for rows in said:
        ways = [(*way, row) for way in ways for row in rows]
        if len(rows) > 1:
            ways = [way for way in ways if extremes(*whole, way, [1]) is not None]
    return ways


def _tried(auditor: Sums, transcript: Sequence[Heard]) -> tuple[Range, ...]:
    values = [
        range(int(low), int(high) + 1)
        for low, high in zip(auditor.lows, auditor.highs, strict=True)
    ]
    tables = list(product(*values))
    state = auditor.start()
    for heard in transcript:
        entry = _entry(auditor, state, heard)
        said = entry.answered, heard.answer
        left = []
        for table in tables:
            answer = sum(table[person] for person in members(heard.people))
            would = auditor.decide(state, heard.people, answer)
            if (would.answered, answer if would.answered else None) == said:
                left.append(table)
        tables, state = left, auditor.after(state, entry)
    if not tables:
        raise InputError("no table gives this transcript; was it made by this auditor?")
    return tuple(Range(min(column), max(column)) for column in zip(*tables, strict=True))
