"""Questions to auditors, one after the other, and what is heard of their decisions."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from shoal.attack.transcript import Heard
from shoal.audit.maxima import Minima
from shoal.audit.model import Auditor, Number, crowd, members
from shoal.audit.sums import Sums

__all__ = ["answers", "heard", "talk", "true_answer"]


def true_answer(auditor: Any, values: Sequence[Number], people: int) -> Number:
    """The sum, minimum or maximum of people's values, as the auditor is asked for it."""
    chosen = [values[person] for person in members(people)]
    if isinstance(auditor, Sums):
        return sum(chosen, Fraction(0))
    return min(chosen) if isinstance(auditor, Minima) else max(chosen)


def talk(
    auditor: Auditor[Any], values: Sequence[Number], questions: Iterable[Iterable[int]]
) -> tuple[list[Heard], Any]:
    """What is heard, and the state after all questions."""
    state, replies = auditor.start(), []
    for question in questions:
        people = crowd(question)
        decision = auditor.decide(state, people, true_answer(auditor, values, people))
        state = auditor.after(state, decision)
        replies.append(Heard(people, decision.reply))
    return replies, state


def heard(
    auditor: Auditor[Any], values: Sequence[Number], questions: Iterable[Iterable[int]]
) -> list[Heard]:
    """What is heard."""
    return talk(auditor, values, questions)[0]


def answers(
    auditor: Auditor[Any], values: Sequence[Number], questions: Iterable[Iterable[int]]
) -> list[Number | None]:
    """The answers; None is a denial."""
    return [each.answer for each in heard(auditor, values, questions)]
