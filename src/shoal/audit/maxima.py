"""Maxima of sets of people, answered or denied so that nobody's value is found out (Zhang, chapter 3, corrected).

What is known of the people is an upper bound for each, and for every value that some maximum has, the set of those who may have
it, its witnesses. docs/proofs/audit-max.md says why that is all, and why the decisions tell nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from shoal.audit.model import STRATEGIES, Entry, Number, Strategy, crowd, members
from shoal.errors import ParameterError, listed

__all__ = ["Known", "Maxima", "MaximaState", "Minima"]

Bound = Number | float  # of floats only the infinite ones, for what is not bounded

PASSES = 100  # steps for one person: bounds are compared and lowered a few times
WORD = 64  # people in one word of a set


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
        lowered = crowd(above)
        for person in above:
            bounds[person] = value
        return Known(
            tuple(bounds),
            tuple((who & ~lowered if most > value else who, most) for who, most in self.witnesses),
        )

    def exactly(self, people: int, value: Bound, distinct: bool) -> "Known":
        """Also that one of these people has just this value, and none has more; only one of all, if values are distinct."""
        known = self.at_most(people, value)
        who = crowd(person for person in members(people) if known.bounds[person] == value)
        if distinct:
            for other, most in known.witnesses:
                who &= other if most == value else -1
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
        return max((most for who, most in self.witnesses if not who & ~people), default=-inf)


@dataclass(frozen=True)
class MaximaState:
    """What the audit takes as known, and what the answers alone tell."""

    audit: Known
    true: Known


@dataclass(frozen=True)
class Maxima:
    """The auditor of maxima over so many people.

    low, high: public bounds of all values, if there are any
    width: how far apart the possible values of everyone stay at least; with `low`, as without it they are unbounded below
    integers: it is public that all values are whole numbers
    distinct: it is public that no two people have the same value
    strategy: "binding", "simulatable" (denies whenever some possible answer would tell), or "simple" (unsafe: denials tell)
    """

    people: int
    low: Number | None = None
    high: Number | None = None
    width: Number = 1
    integers: bool = False
    distinct: bool = False
    strategy: Strategy = "binding"

    def __post_init__(self) -> None:
        if self.people < 1:
            raise ParameterError(f"people={self.people}; an audit is about one person at least")
        if self.strategy not in STRATEGIES:
            raise ParameterError(
                f"strategy={self.strategy!r} is unknown; known are {listed(STRATEGIES)}"
            )
        if self.width <= 0:
            raise ParameterError(f"width={self.width}; it is above 0")
        if self.integers and self.width != int(self.width):
            raise ParameterError(f"width={self.width}; between whole numbers it is whole")
        if self.integers and any(
            end is not None and end != int(end) for end in (self.low, self.high)
        ):
            raise ParameterError(
                "the bounds of whole numbers are whole; give the least and the largest that can be"
            )
        if self.low is not None and self.high is not None and self.high - self.low < self.width:
            raise ParameterError(
                "the bounds alone tell everyone's value more closely than `width`; give a smaller width"
            )
        if self.integers and self.distinct:
            raise ParameterError(
                "whole numbers that are all different can give each other away when they are close together; "
                "leave `distinct` out if that is not public, or `integers` if values are so many that they are as good as real"
            )

    def start(self) -> MaximaState:
        """Nothing is known but the bounds."""
        known = Known((inf if self.high is None else self.high,) * self.people)
        return MaximaState(known, known)

    def after(self, state: MaximaState, entry: Entry) -> MaximaState:
        """Answers are known to all; what a denial is bound to is only taken as known."""
        if entry.relation is None or entry.value is None:
            return state
        if entry.relation == "=":
            audit = state.audit.exactly(entry.people, entry.value, self.distinct)
        else:
            audit = state.audit.at_most(entry.people, entry.value)
        if not entry.answered:
            return replace(state, audit=audit)
        return MaximaState(audit, state.true.exactly(entry.people, entry.value, self.distinct))

    def cost(self, state: MaximaState, people: int) -> int:
        """Steps: a few for everyone, and one for every set of witnesses and word of people."""
        return self.people * (PASSES + len(state.audit.witnesses) // WORD)

    def decide(self, state: MaximaState, people: int, answer: Number) -> Entry:
        """Answer or deny; what a denial is bound to does not depend on the answer."""
        if not people or people >> self.people:
            raise ParameterError(f"a question is about some of the {self.people} people")
        asked = _Asked.of(self, state, people)
        given = Entry(people, True, "=", answer)
        if self.strategy == "simple":
            return given if asked.safe(answer) else Entry(people, False, None, None)
        if asked.hopeless:
            return Entry(people, False, None, None)
        if asked.always:
            return given
        if self.strategy == "simulatable":
            return Entry(people, False, None, None)
        if asked.lowest > -inf:
            if answer > asked.lowest and asked.safe(answer):
                return given
            return Entry(people, False, "<=", _number(asked.lowest))
        if answer < asked.highest and asked.safe(answer):
            return given
        return Entry(people, False, "=", _number(asked.highest))


@dataclass(frozen=True)
class _Asked:
    """A question, and which answers to it would be safe: those from `lowest` to `highest`, and no single value between is not."""

    method: Maxima
    state: MaximaState
    people: int
    lowest: Bound
    highest: Bound

    @classmethod
    def of(cls, method: Maxima, state: MaximaState, people: int) -> "_Asked":
        lowest = max(
            (most for who, most in state.audit.witnesses if _few(who & ~people)), default=-inf
        )
        if method.distinct:
            lowest = max([lowest, *cls._told(state, people)])
        if method.low is not None:
            lowest = max(lowest, method.low + method.width)
        return cls(method, state, people, lowest, state.audit.second(people))

    @staticmethod
    def _told(state: MaximaState, people: int) -> Iterable[Bound]:
        """Of distinct values, those which as an answer would leave one witness, or none though the answers allow for some."""
        possible = {most for who, most in state.true.witnesses if who & people}
        for who, most in state.audit.witnesses:
            shared = who & people
            if _few(shared) and (shared or most in possible):
                yield most

    @property
    def hopeless(self) -> bool:
        """No answer would be safe, or none that a denial could be bound to."""
        if self.lowest > self.highest or self.highest == -inf:
            return True
        return self.lowest == -inf and self.highest < inf and not self.safe(self.highest)

    @property
    def always(self) -> bool:
        """Whatever the answers so far allow for would be safe."""
        least, largest = self.state.true.least(self.people), self.state.true.largest(self.people)
        if self.method.low is not None:
            least = max(least, self.method.low)
        if not (self.lowest <= least and largest <= self.highest):
            return False
        ends: tuple[Bound, ...] = (least, largest) if self.method.distinct else ()
        return all(self.safe(end) for end in ends if end not in (inf, -inf))

    def safe(self, answer: Bound) -> bool:
        """Whether after this answer nobody's value would be known."""
        known, people = self.state.audit, self.people
        if self.method.low is not None and answer < self.method.low + self.method.width:
            return False
        if any(most > answer and _few(who & ~people) for who, most in known.witnesses):
            return False
        if self.method.distinct:
            for who, most in known.witnesses:
                if most == answer:
                    return not _few(who & people)
        return answer <= self.highest


def _few(people: int) -> bool:
    """Whether these are fewer than two."""
    return not people & (people - 1)


def _number(bound: Bound) -> Number:
    if isinstance(bound, float):
        raise AssertionError("a denial is bound to a finite value")
    return bound


@dataclass(frozen=True)
class Minima(Maxima):
    """The auditor of minima, which are maxima of the values below zero; parameters as for `Maxima`."""

    @cached_property
    def mirrored(self) -> Maxima:
        """The auditor of the maxima."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Maxima(
            self.people, low, high, self.width, self.integers, self.distinct, self.strategy
        )

    def start(self) -> MaximaState:
        """Nothing is known but the bounds."""
        return self.mirrored.start()

    def after(self, state: MaximaState, entry: Entry) -> MaximaState:
        """The state of the mirrored values."""
        return self.mirrored.after(state, _mirrored(entry))

    def decide(self, state: MaximaState, people: int, answer: Number) -> Entry:
        """Answer or deny, as the maximum of the mirrored values would be."""
        return _mirrored(self.mirrored.decide(state, people, -answer))


def _mirrored(entry: Entry) -> Entry:
    value = None if entry.value is None else -entry.value
    if entry.relation in ("<=", ">="):
        return replace(entry, relation=">=" if entry.relation == "<=" else "<=", value=value)
    return replace(entry, value=value)
