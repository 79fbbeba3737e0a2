"""Auditors as Zhang's chapter 3 prints them, which do not keep what they promise.

Uses `audit`; tests use it, and docs/how-to/auditing.md shows how they fail.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

from shoal.audit.maxima import Known
from shoal.audit.model import Decision, Number
from shoal.audit.polytope import extremes, free
from shoal.audit.sums import Sums, SumState

__all__ = ["PrintedMaxima", "PrintedSums"]

_ROUNDING = 1e-6
"""What is off by less than the solver may be counts as equal."""


@dataclass(frozen=True)
class PrintedMaxima:
    """Algorithm 3.1, as printed: does not keep what it promises, whatever is asked first.

    After a denial its log holds a made-up answer, which true answers contradict later. `strict`
    also denies these, which does not help either: asking again reveals it.
    """

    people: int
    strict: bool = False

    def start(self) -> Known:
        """Nothing is known."""
        return Known((inf,) * self.people)

    def after(self, state: Known, decision: Decision) -> Known:
        """True and made-up answers alike."""
        if decision.value is None:
            return state
        return state.exactly(decision.people, decision.value, False)

    def decide(
        self,
        state: Known,
        people: int,
        answer: Number,
    ) -> Decision:
        """Answer, unless the answer would give somebody away or is the made-up one.

        The made-up answer is the least that would give nobody away.
        """
        values = _tried(state)
        gives_away = [self._gives_away(state, people, value) for value in values]
        if all(gives_away):
            return Decision(people, False, None, None)
        made_up = values[gives_away.index(False)]
        if self.strict and not _fits(state.exactly(people, answer, False)):
            return Decision(people, False, "=", made_up)
        unexpected = answer != made_up and not self._gives_away(state, people, answer)
        if unexpected or not any(gives_away):
            return Decision(people, True, "=", answer)
        return Decision(people, False, "=", made_up)

    @staticmethod
    def _gives_away(state: Known, people: int, value: Any) -> bool:
        then = state.exactly(people, value, False)
        return _fits(then) and any(_is_one(who) for who, _ in then.witnesses)


def _tried(state: Known) -> list[Any]:
    """The answers that are tried: those heard, some between them, and one beyond each end."""
    heard: list[Any] = sorted({most for _, most in state.witnesses})
    if not heard:
        return [0]
    between = [Fraction(a + b) / 2 for a, b in pairwise(heard)]
    return sorted([heard[0] - 1, *heard, *between, heard[-1] + 1])


def _fits(known: Known) -> bool:
    """Whether somebody may have every maximum."""
    return all(who for who, _ in known.witnesses)


def _is_one(people: int) -> bool:
    """Whether a set of people, as bits, has at most one member."""
    return not people & (people - 1)


class PrintedSums(Sums):
    """Algorithm 3.2, as printed: looks at how far the sum can go, never at anyone's value.

    What it answers alone gives values away; and what a denial is bound to depends on the true
    answer. docs/proofs/audit-sums.md
    """

    def decide(
        self,
        state: SumState,
        people: int,
        answer: Number,
    ) -> Decision:
        """Answer if the sum could be less and more by 2.

        After a denial, the sum counts as a value near it that could be less and more by 1.
        """
        if not free(state.constraints, people):
            return Decision(people, False, None, None)
        lows = [float(low) for low in self.lows]
        highs = [float(high) for high in self.highs]
        ends = extremes(lows, highs, state.constraints, [people])
        least, most = ends[0] if ends else (inf, -inf)

        def passes(value: Number) -> bool:
            """The second test of the algorithm."""
            return least - _ROUNDING <= value - 1 and value + 1 <= most + _ROUNDING

        near = (answer, answer - 1, answer + 1)
        if all(map(passes, near)):
            return Decision(people, True, "=", answer)
        bound = next(filter(passes, near), None)
        return Decision(people, False, None if bound is None else "=", bound)
