"""Maxima of sets of people, answered or denied so that nobody's value is found out.

This is Zhang, chapter 3, corrected. What is known of the people is an upper bound for each and, for
every value that some maximum has, the set of those who may have it: its witnesses.
docs/proofs/audit-max.md shows why that is all, and why the decisions reveal nothing. Uses `model`;
`secret` gives it to the audit.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from shoal.audit.model import (
    Decision,
    Number,
    Strategy,
    crowd,
    members,
    require_asked,
    require_auditor,
)
from shoal.errors import ParameterError

__all__ = ["Known", "Maxima", "MaximaState", "Minima", "mirrored"]

Bound = Number | float
"""A value, or an infinite float for what is not bounded."""

PASSES = 100
"""Steps per person: bounds are compared and lowered a few times."""

WORD = 64
"""People in one word of a set."""


@dataclass(frozen=True)
class Known:
    """Everyone's upper bound, and who may have which value that someone has."""

    bounds: tuple[Bound, ...]
    witnesses: tuple[tuple[int, Bound], ...] = ()

    def at_most(self, people: int, value: Bound) -> "Known":
        """Also that none of these people has more."""
        bounds = list(self.bounds)
        above = [person for person in members(people) if bounds[person] > value]
        if not above:
            return self
        for person in above:
            bounds[person] = value
        lowered = crowd(above)
        witnesses = tuple(
            (who & ~lowered if most > value else who, most) for who, most in self.witnesses
        )
        return Known(tuple(bounds), witnesses)

    def exactly(self, people: int, value: Bound, distinct: bool) -> "Known":
        """Also that someone here has exactly this value, and nobody more.

        distinct: only one person of all has it
        """
        known = self.at_most(people, value)
        who = crowd(person for person in members(people) if known.bounds[person] == value)
        if distinct:
            for other, most in known.witnesses:
                if most == value:
                    who &= other
            rest = tuple(each for each in known.witnesses if each[1] != value)
        else:
            rest = tuple(each for each in known.witnesses if each != (who, value))
        return Known(known.bounds, (*rest, (who, value)))

    def largest(self, people: int) -> Bound:
        """The most that the maximum can be."""
        return max(self.bounds[person] for person in members(people))

    def second(self, people: int) -> Bound:
        """The most that the maximum can be so that two people may have it."""
        first: Bound = -inf
        second: Bound = -inf
        for person in members(people):
            bound = self.bounds[person]
            if bound > first:
                first, second = bound, first
            elif bound > second:
                second = bound
        return second

    def least(self, people: int) -> Bound:
        """The least that the maximum can be."""
        inside = (most for who, most in self.witnesses if not who & ~people)
        return max(inside, default=-inf)


@dataclass(frozen=True)
class MaximaState:
    """What the audit takes as known, and what follows from the answers alone."""

    audit: Known
    true: Known


@dataclass(frozen=True)
class Maxima:
    """The auditor of maxima over a number of people.

    low, high: public bounds of all values, if there are any
    width: how far apart each person's possible values stay at least; it matters only with `low`,
        since without it values are unbounded below
    integers: it is public that all values are whole numbers
    distinct: it is public that no two people have the same value
    strategy: "binding", "simulatable" (denies whenever some possible answer would reveal a value),
        or "simple" (unsafe: denials reveal values)
    """

    people: int
    low: Number | None = None
    high: Number | None = None
    width: Number = 1
    integers: bool = False
    distinct: bool = False
    strategy: Strategy = "binding"

    def __post_init__(self) -> None:
        require_auditor(self.people, self.strategy)
        if self.width <= 0:
            raise ParameterError("must be above 0", option="width", given=str(self.width))
        if self.integers:
            self._require_whole()
        if self.low is None or self.high is None:
            return
        if self.high - self.low < self.width:
            raise ParameterError(
                "the bounds alone determine everyone's value more closely than `width`",
                "give a smaller width",
            )

    def _require_whole(self) -> None:
        if self.width != int(self.width):
            raise ParameterError(
                "is not whole, but values are", option="width", given=str(self.width)
            )
        ends = [end for end in (self.low, self.high) if end is not None]
        if any(end != int(end) for end in ends):
            raise ParameterError(
                "the bounds of whole numbers are whole",
                "give the least and the largest possible value",
            )
        if self.distinct:
            raise ParameterError(
                "whole numbers that all differ can reveal each other when they are close together",
                "leave out `distinct` if that is not public, "
                "or `integers` if values are spread out enough to pass for real numbers",
            )

    def start(self) -> MaximaState:
        """Nothing is known but the bounds."""
        top: Bound = inf if self.high is None else self.high
        known = Known((top,) * self.people)
        return MaximaState(known, known)

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        """Answers are known to all; what a denial is bound to is only taken as known."""
        people, value = decision.people, decision.value
        if decision.relation is None or value is None:
            return state
        if decision.relation == "=":
            audit = state.audit.exactly(people, value, self.distinct)
        else:
            audit = state.audit.at_most(people, value)
        if not decision.answered:
            return replace(state, audit=audit)
        return MaximaState(audit, state.true.exactly(people, value, self.distinct))

    def cost(self, state: MaximaState, people: int) -> int:
        """Steps: a few for everyone, and one for each set of witnesses and word of people."""
        return self.people * (PASSES + len(state.audit.witnesses) // WORD)

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        """Answer or deny; what a denial is bound to does not depend on the answer."""
        require_asked(people, self.people)
        question = _Question.of(self, state, people)
        answered = Decision.answer(people, answer)
        denied = Decision.denial(people)
        if self.strategy == "simple":
            return answered if question.safe(answer) else denied
        if question.hopeless:
            return denied
        if question.always_safe:
            return answered
        if self.strategy == "simulatable":
            return denied
        # a denial is bound to at most the lowest safe answer, or else to exactly the highest
        if question.lowest > -inf:
            if answer > question.lowest and question.safe(answer):
                return answered
            return Decision(people, False, "<=", _finite(question.lowest))
        if answer < question.highest and question.safe(answer):
            return answered
        return Decision(people, False, "=", _finite(question.highest))


@dataclass(frozen=True)
class _Question:
    """A question, and which answers to it would be safe.

    These are the answers from `lowest` to `highest`, and no single value in between is unsafe.
    """

    auditor: Maxima
    state: MaximaState
    people: int
    lowest: Bound
    highest: Bound

    @classmethod
    def of(cls, auditor: Maxima, state: MaximaState, people: int) -> "_Question":
        bounds: list[Bound] = [-inf]
        for who, most in state.audit.witnesses:
            if _fewer_than_two(who & ~people):
                bounds.append(most)
        if auditor.distinct:
            bounds.extend(_revealing(state, people))
        if auditor.low is not None:
            bounds.append(auditor.low + auditor.width)
        return cls(auditor, state, people, max(bounds), state.audit.second(people))

    @property
    def hopeless(self) -> bool:
        """No answer would be safe, or none that a denial could be bound to."""
        if self.lowest > self.highest or self.highest == -inf:
            return True
        return self.lowest == -inf and self.highest < inf and not self.safe(self.highest)

    @property
    def always_safe(self) -> bool:
        """Whatever is still possible after the answers so far would be safe."""
        least = self.state.true.least(self.people)
        largest = self.state.true.largest(self.people)
        if self.auditor.low is not None:
            least = max(least, self.auditor.low)
        if least < self.lowest or largest > self.highest:
            return False
        if not self.auditor.distinct:
            return True
        # of distinct values, a single end may be unsafe though those next to it are not
        ends = [end for end in (least, largest) if end not in (inf, -inf)]
        return all(self.safe(end) for end in ends)

    def safe(self, answer: Bound) -> bool:
        """Whether nobody's value would be known after this answer."""
        auditor, witnesses = self.auditor, self.state.audit.witnesses
        if auditor.low is not None and answer < auditor.low + auditor.width:
            return False
        for who, most in witnesses:
            if most > answer and _fewer_than_two(who & ~self.people):
                return False
        if auditor.distinct:
            for who, most in witnesses:
                if most == answer:
                    return not _fewer_than_two(who & self.people)
        return answer <= self.highest


def _revealing(state: MaximaState, people: int) -> Iterable[Bound]:
    """Of distinct values, those that as an answer would leave one witness.

    Or none, though the answers allow for some.
    """
    possible = {most for who, most in state.true.witnesses if who & people}
    for who, most in state.audit.witnesses:
        shared = who & people
        if _fewer_than_two(shared) and (shared or most in possible):
            yield most


def _fewer_than_two(people: int) -> bool:
    return not people & (people - 1)


def _finite(bound: Bound) -> Number:
    if isinstance(bound, float):
        raise AssertionError("a denial is bound to a finite value")
    return bound


@dataclass(frozen=True)
class Minima(Maxima):
    """The auditor of minima, which are maxima of the negated values; parameters as for `Maxima`."""

    @cached_property
    def mirrored(self) -> Maxima:
        """The auditor of the maxima."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return Maxima(
            self.people, low, high, self.width, self.integers, self.distinct, self.strategy
        )

    def start(self) -> MaximaState:
        """Nothing is known but the bounds."""
        return self.mirrored.start()

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        """The state of the mirrored values."""
        return self.mirrored.after(state, mirrored(decision))

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        """Answer or deny, as for the maximum of the mirrored values."""
        return mirrored(self.mirrored.decide(state, people, -answer))


def mirrored(decision: Decision) -> Decision:
    """The same decision about the negated values."""
    value = None if decision.value is None else -decision.value
    if decision.relation == "<=":
        return replace(decision, relation=">=", value=value)
    if decision.relation == ">=":
        return replace(decision, relation="<=", value=value)
    return replace(decision, value=value)
