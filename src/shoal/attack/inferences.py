"""The inferences of someone who knows the algorithm, about people and about a whole release.

Values only, without the work that leads to them: `minimality` and the modules it calls make them,
the command line shows them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from shoal.arguments import typed_fields
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.exact.numbers import whole
from shoal.zones import owner_only

__all__ = ["WAYS", "AttackResult", "Effort", "ExposedRecord", "Inference", "Shares", "Way"]

Shares: TypeAlias = Mapping[Any, Fraction]
Way: TypeAlias = Literal["counting", "enumeration", "sampling"]
WAYS: tuple[Way, ...] = ("counting", "enumeration", "sampling")


@typed_fields
@dataclass(frozen=True)
class Effort:
    """How the inputs that lead to a release are found.

    how: by default counting where the structure allows it, else all inputs where they are few,
        else sampling
    tries: how many inputs are sampled
    seed: of the samples, and of the coins of the method that is run on them
    """

    how: Way | None = None
    tries: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.how is not None and self.how not in WAYS:
            raise ParameterError(
                "is not a way to find inputs",
                f"it takes one of {', '.join(map(repr, WAYS))}, or None for the best of them",
                option="how",
                given=repr(self.how),
            )
        whole(self.tries, "tries")


@owner_only
@dataclass(frozen=True)
class Inference:
    """The apparent and the inherent distribution of the values of people who are alike.

    The first is what their group shows, the second what someone infers who knows the method.
    `inherent` is exact unless there are `bounds`: then it is an estimate, and all bounds hold
    together with a probability of 99 %.
    """

    rows: tuple[int, ...]
    apparent: Shares
    inherent: Shares
    why: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """The models that the inherent distribution does not satisfy."""
    bounds: Mapping[Any, tuple[float, float]] | None = None

    @property
    def shown(self) -> Fraction:
        """The largest probability that the group shows."""
        return max(self.apparent.values())

    def least(self, value: Any) -> Fraction:
        """How probable a value is at least."""
        if self.bounds is None:
            return self.inherent.get(value, Fraction(0))
        low, _ = self.bounds[value]
        return Fraction(low)

    @property
    def surest(self) -> Fraction:
        """The largest probability of a value, at least."""
        return max(map(self.least, self.inherent))

    def gain_of(self, value: Any) -> Fraction:
        """By how much a value is more probable than the group shows, at least."""
        return self.least(value) - self.apparent[value]

    @property
    def gain(self) -> Fraction:
        """The largest gain of any value, at least; 0 if no value gains."""
        return max([Fraction(0), *map(self.gain_of, self.inherent)])

    @property
    def most_telling(self) -> Any:
        """The value with the largest gain; of several, the last in the order of their texts."""

        def order(value: Any) -> tuple[Fraction, str]:
            return self.gain_of(value), str(value)

        return max(self.inherent, key=order)


@owner_only
@dataclass(frozen=True)
class ExposedRecord:
    """One person of whom more is learnt than their group shows: who, what, and why."""

    row: int
    """The row of the table, the first being 1."""
    public: dict[str, str]
    """What is publicly known of the person."""
    value: str | None
    """The sensitive value whose probability grows most."""
    shown: float
    """Its probability as the group shows it."""
    inferred: float
    """Its probability to someone who knows the method."""
    at_least: bool
    """Whether `inferred` is a lower bound, as inputs were sampled."""
    broken: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


@owner_only
@dataclass(frozen=True)
class AttackResult:
    """Everyone's inherent distribution beside the apparent one.

    `left` is the share of the inputs that the table allows which is in the disclosure set, weighed
    by the method's coins; None if it is not known. Nothing is said of `unknown` people: too few
    samples led to the release, or they were left out.
    """

    how: Way
    people: int
    inferences: tuple[Inference, ...]
    left: Fraction | None = None
    unknown: int = 0
    accepted: tuple[int, int] | None = None
    """How many samples led to the release, and how many were drawn."""

    @property
    def sampled(self) -> bool:
        """Whether inputs were sampled, all or in part: then all figures are lower bounds."""
        return self.left is None

    def _count(self, condition: Callable[[Inference], object]) -> int:
        return sum(len(inference.rows) for inference in self.inferences if condition(inference))

    @property
    def changed(self) -> int:
        """The number of people with a value that is more probable than their group shows."""
        return self._count(lambda inference: inference.gain)

    @property
    def surer(self) -> int:
        """The number of people for whom the attacker is surer of a value than the group shows."""
        return self._count(lambda inference: inference.surest > inference.shown)

    @property
    def broken(self) -> int:
        """The number of people for whom a model of the table does not hold against the attacker."""
        return self._count(lambda inference: inference.broken)

    @property
    def certain(self) -> int:
        """The number of people whose value is known although their group shows several."""
        return self._count(lambda inference: inference.surest == 1 > inference.shown)

    @property
    def gain(self) -> Fraction:
        """The largest gain in probability of any value of any person."""
        return max((inference.gain for inference in self.inferences), default=Fraction(0))

    def of(self, row: int) -> Inference:
        """What is inferred of the person of a row."""
        for inference in self.inferences:
            if row in inference.rows:
                return inference
        raise ParameterError(
            f"nothing is said of row {row}",
            "the person was left out, or too few samples led to the release",
        )

    def most_exposed(self) -> list[Inference]:
        """The inferences that reveal something, with the largest gain first."""
        # Rows last, so that the order does not depend on how inputs were found.
        return sorted(
            (inference for inference in self.inferences if inference.gain),
            key=lambda inference: (-inference.gain, -inference.surest, inference.rows),
        )

    def exposed_records(self, people: Table, most: int) -> list[ExposedRecord]:
        """Up to `most` people of whom something is learnt, with the largest gain first.

        people: the table that was given to `expose`
        """
        exposed: list[ExposedRecord] = []
        people = people.in_memory()
        for inference in self.most_exposed():
            rows = inference.rows[: most - len(exposed)]
            exposed += [_exposed_record(people, row, inference) for row in rows]
        return exposed


def _exposed_record(people: Table, row: int, inference: Inference) -> ExposedRecord:
    value = inference.most_telling
    known = people.frame[[row], :].rows(named=True)[0]
    public = {}
    for name, cell in known.items():
        public[name] = "" if cell is None else str(cell)
    return ExposedRecord(
        row=row + 1,
        public=public,
        value=None if value is None else str(value),
        shown=float(inference.apparent[value]),
        inferred=float(inference.least(value)),
        at_least=inference.bounds is not None,
        broken=list(inference.broken),
        why=list(inference.why),
    )
