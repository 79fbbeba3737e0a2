"""What auditors have in common: questions about sets of people, decisions, and states.

A set of people is one integer whose bits are the people in it. Values are exact: integers or
fractions. `maxima` and `sums` are the auditors; `book` runs them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

from shoal.errors import ParameterError, listed

__all__ = [
    "STRATEGIES",
    "Auditor",
    "Costed",
    "Decision",
    "Number",
    "Strategy",
    "crowd",
    "members",
    "require_asked",
    "require_auditor",
]

Number = int | Fraction
Strategy = Literal["binding", "simulatable", "simple"]
STRATEGIES: tuple[Strategy, ...] = ("binding", "simulatable", "simple")

S = TypeVar("S")


@dataclass(frozen=True)
class Decision:
    """Who was asked about, whether it was answered, and what the audit takes as known from then on.

    An answer has the `relation` "=" and its `value`. A denial has what it is bound to: that the
    aggregate is at most ("<="), at least (">=") or exactly ("=") a `value`, or nothing (None) where
    everyone could have foreseen the denial.
    """

    people: int
    answered: bool
    relation: Literal["=", "<=", ">="] | None
    value: Number | None

    @classmethod
    def answer(cls, people: int, value: Number) -> "Decision":
        """An answer that the audit takes as known."""
        return cls(people, True, "=", value)

    @classmethod
    def denial(cls, people: int) -> "Decision":
        """A denial that is bound to nothing."""
        return cls(people, False, None, None)

    @property
    def reply(self) -> Number | None:
        """What whoever asked gets to hear; None is a denial."""
        return self.value if self.answered else None


class Auditor(Protocol[S]):
    """Decides about one aggregate of one column.

    Its functions are pure: only the log is kept, and a state is the sum of its decisions.
    """

    def start(self) -> S:
        """The state before any question."""

    def decide(self, state: S, people: int, answer: Number) -> Decision:
        """Answer or deny, given what is known so far and the true answer."""

    def after(self, state: S, decision: Decision) -> S:
        """The state once a decision is in the log."""


class Costed(Auditor[S], Protocol[S]):
    """An auditor that can state the cost of a decision before it is made."""

    def cost(self, state: S, people: int) -> int:
        """Steps of roughly ten nanoseconds.

        It is a function of the state and the question, never of the answer. So a refusal because of
        the cost reveals nothing. A time limit would reveal how long a decision took.
        """


def require_auditor(people: int, strategy: str) -> None:
    """Raise unless there is someone to audit, and a known strategy to do it by."""
    if people < 1:
        raise ParameterError(
            "is too few", "an audit needs at least one person", option="people", given=str(people)
        )
    if strategy not in STRATEGIES:
        raise ParameterError(
            "is unknown",
            f"known are {listed(STRATEGIES)}",
            option="strategy",
            given=repr(strategy),
        )


def require_asked(asked: int, people: int) -> None:
    """Raise unless a question is about some of the people, and nobody else."""
    if not asked or asked >> people:
        raise ParameterError(f"a question is about some of the {people} people, and nobody else")


def crowd(people: Iterable[int]) -> int:
    """People as a set, in time linear in the number of the last one."""
    numbers = list(people)
    bits = bytearray(max(numbers, default=0) // 8 + 1)
    for person in numbers:
        bits[person // 8] |= 1 << person % 8
    return int.from_bytes(bits, "little")


def members(people: int) -> Iterator[int]:
    """The people in a set, in order, in time linear in the number of the last one."""
    bits = reversed(f"{people:b}")
    return (person for person, bit in enumerate(bits) if bit == "1")
