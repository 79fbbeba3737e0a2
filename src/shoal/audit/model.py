"""What auditors have in common: questions about sets of people, entries of the log, and the state that entries add up to.

A set of people is one integer whose bits are the people in it. Values are exact: integers or fractions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

__all__ = ["Auditor", "Costed", "Entry", "Number", "Strategy", "crowd", "members"]

Number = int | Fraction
Strategy = Literal["binding", "simulatable", "simple"]
STRATEGIES: tuple[Strategy, ...] = ("binding", "simulatable", "simple")

S = TypeVar("S")


@dataclass(frozen=True)
class Entry:
    """One line of the log: who was asked about, whether it was answered, and what the audit takes as known from then on.

    An answer has `relation` "=" and its `value`. A denial has what it is bound to: that the aggregate is at most ("<="), at least
    (">=") or exactly ("=") a `value`, or nothing (None) where everyone could tell beforehand that it would be denied.
    """

    people: int
    answered: bool
    relation: Literal["=", "<=", ">="] | None
    value: Number | None


class Auditor(Protocol[S]):
    """Decides about one aggregate of one column. Both functions are pure: all that is kept is the log, and a state is its sum."""

    def start(self) -> S:
        """The state before any question."""

    def decide(self, state: S, people: int, answer: Number) -> Entry:
        """Answer or deny, given what is known so far and the true answer."""

    def after(self, state: S, entry: Entry) -> S:
        """The state once an entry is in the log."""


class Costed(Auditor[S], Protocol[S]):
    """An auditor that can tell what a decision costs before it is made."""

    def cost(self, state: S, people: int) -> int:
        """Steps, of roughly ten nanoseconds. It is a function of the state and the question, never of the answer.

        So a refusal for its cost tells nothing, while a limit of time would tell how long a decision took.
        """


def crowd(people: Iterable[int]) -> int:
    """Some people as a set, in a time that is linear in the number of the last one."""
    numbers = list(people)
    bits = bytearray(max(numbers, default=0) // 8 + 1)
    for person in numbers:
        bits[person // 8] |= 1 << person % 8
    return int.from_bytes(bits, "little")


def members(people: int) -> Iterator[int]:
    """The people in a set, in order, in a time that is linear in the number of the last one."""
    bits = reversed(f"{people:b}")
    return (person for person, bit in enumerate(bits) if bit == "1")
