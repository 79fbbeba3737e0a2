"""Sums over sets of people, answered or denied so that nobody's value is found out more closely than a width (Zhang, chapter 3,
corrected).

What is known is a polytope: public bounds, answered sums, and what denials are bound to. Which answers keep everyone's width is
an interval that anyone could compute; the true answer is only compared with it. docs/proofs/audit-sums.md says why that is safe.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.audit.model import STRATEGIES, Entry, Number, Strategy, members
from shoal.audit.polytope import Box, Row, combination, free, linked, safe
from shoal.errors import InputError, ParameterError, listed

__all__ = ["Rule", "SumState", "Sums"]

LARGEST = 100_000
"""Tables of whole numbers that are looked at one by one."""

ROOM = 40  # what is certified has room for 2^-40 of the widest bounds


Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SumState:
    """What the audit takes as known, in the order in which it became so; and the questions that were denied."""

    rows: tuple[Row, ...] = ()
    denied: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Rule:
    """Answers from `low` to `high`, above `bound` and among `values` are given, as far as these are not None.

    A denial is bound to the sum being at most `bound`, or to nothing.
    """

    low: Number | None = None
    high: Number | None = None
    bound: Number | None = None
    values: frozenset[int] | None = None

    def gives(self, answer: Number) -> bool:
        """Whether an answer is given."""
        return (
            (self.low is None or answer >= self.low)
            and (self.high is None or answer <= self.high)
            and (self.bound is None or answer > self.bound)
            and (self.values is None or answer in self.values)
        )


@dataclass(frozen=True)
class Sums:
    """The auditor of sums over so many people.

    low, high: public bounds of all values, or of each person's; None, both, if nothing is public of how large values are
    width: how far apart the possible values of everyone stay at least, or of each person
    integers: it is public that all values are whole numbers (of some unit); only few people with few values can then be audited
    strategy: "binding", "simulatable" (with bounds it denies everything), or "simple" (unsafe: denials tell)

    Bounds narrower than what is public cost answers, never privacy; bounds wider than that break the promise.
    """

    people: int
    low: Number | Sequence[Number] | None = None
    high: Number | Sequence[Number] | None = None
    width: Number | Sequence[Number] = 1
    integers: bool = False
    strategy: Strategy = "binding"
    unit: Number | None = None

    def __post_init__(self) -> None:
        if self.people < 1:
            raise ParameterError(f"people={self.people}; an audit is about one person at least")
        if self.strategy not in STRATEGIES:
            raise ParameterError(
                f"strategy={self.strategy!r} is unknown; known are {listed(STRATEGIES)}"
            )
        if (self.low is None) != (self.high is None):
            raise ParameterError(
                "bounds are given on both sides or on none; one that is narrower than what is public is safe, and costs answers"
            )
        widths = self.widths
        if min(widths) <= 0:
            raise ParameterError("width is above 0")
        if self.low is None:
            if self.integers:
                raise ParameterError(
                    "sums of whole numbers are audited one by one; give `low` and `high`"
                )
            return
        if any(
            high - low < width
            for low, high, width in zip(self.lows, self.highs, widths, strict=True)
        ):
            raise ParameterError(
                "the bounds alone tell someone's value more closely than `width`; give a smaller width"
            )
        _ = self._tables if self.integers else self._box

    def start(self) -> SumState:
        """Nothing is known but the bounds."""
        return SumState()

    def after(self, state: SumState, entry: Entry) -> SumState:
        """Answers are known to all; what a denial is bound to is only taken as known."""
        rows, denied = state.rows, state.denied
        if entry.relation in ("=", "<=") and entry.value is not None:
            rows = (*rows, Row(entry.people, entry.relation, entry.value))
        if not entry.answered:
            denied |= {entry.people}
        return SumState(rows, denied)

    def cost(self, state: SumState, people: int) -> int:
        """Steps: those linked with the question, squared, for each row; or all tables for each answer."""
        if not self.integers:
            rows, everyone = linked(state.rows, people)
            return int(everyone.bit_count()) ** 2 * (len(rows) + 1)
        span = sum(self.highs[person] - self.lows[person] for person in members(people))
        answers = min(int(span) + 1, len(self._tables))
        return len(self._tables) * (answers + len(state.rows) + self.people)

    def decide(self, state: SumState, people: int, answer: Number) -> Entry:
        """Answer or deny. What could be worked out before is answered again, with nothing to record."""
        if not people or people >> self.people:
            raise ParameterError(f"a question is about some of the {self.people} people")
        denial = Entry(people, False, None, None)
        if people in state.denied:
            return denial
        known = _told(state, people)
        rule = self.rule(state, people) if known is None else None
        if known is None and rule is None:
            known = _worked_out(state, people)
        if known is not None:
            if known != answer:
                raise InputError(
                    "the answer contradicts those already given: a column must not change while it is audited"
                )
            return Entry(people, True, None, answer)
        if rule is None:
            return denial
        if rule.gives(answer):
            return Entry(people, True, "=", answer)
        return denial if rule.bound is None else Entry(people, False, "<=", rule.bound)

    def rule(self, state: SumState, people: int) -> Rule | None:
        """Which answers to a new question are given, as anyone can tell who knows what was asked and said; None if none is."""
        if self.low is None:
            return Rule() if free(state.rows, people) else None
        if self.strategy == "simulatable":
            return None  # the least answer possible would always give values away: see the proof
        if self.integers:
            return self._counted(state, people)
        if self.unit is not None and self._coarse(state, people):
            return None
        ends = safe(self._box, state.rows, people)
        if ends is None:
            return None
        low, high = ends
        if self.strategy == "simple":
            return Rule(low, high)
        return Rule(
            low,
            high,
            min(low + min(self.widths[person] for person in members(people)), (low + high) / 2),
        )

    def _coarse(self, state: SumState, people: int) -> bool:
        """Whether multiples of the unit may be too far apart, among tables that satisfy all equations, to stand for real numbers.

        Some such table is within n/2 times the largest minor of the equations, in units, of any real one: see the proof.
        """
        assert self.unit is not None
        rows, everyone = linked(state.rows, people)
        equations = 1 + sum(row.relation == "=" for row in rows)
        far = Fraction(self.unit) * everyone.bit_count() ** 2 / self._box.scale * 2**ROOM
        return bool(
            far**2 * (equations + 1) ** (equations + 1) > 4**equations
        )  # Hadamard: a minor is at most √((m+1)^(m+1) / 4^m)

    def _each(self, numbers: Number | Sequence[Number] | None, option: str) -> tuple[Fraction, ...]:
        """One number for everyone."""
        if isinstance(numbers, int | Fraction):
            return (Fraction(numbers),) * self.people
        if numbers is None or len(numbers) != self.people:
            raise ParameterError(
                f"{option} is one number, or one for each of the {self.people} people"
            )
        return tuple(map(Fraction, numbers))

    @cached_property
    def lows(self) -> tuple[Fraction, ...]:
        return self._each(self.low, "low")

    @cached_property
    def highs(self) -> tuple[Fraction, ...]:
        return self._each(self.high, "high")

    @cached_property
    def widths(self) -> tuple[Fraction, ...]:
        return self._each(self.width, "width")

    @cached_property
    def _box(self) -> Box:
        if self.unit is None:
            return Box(self.lows, self.highs, self.widths)
        room = max(high - low for low, high in zip(self.lows, self.highs, strict=True)) / 2 ** (
            ROOM - 2
        )
        return Box(
            self.lows, self.highs, [width + room for width in self.widths]
        )  # multiples may be as much closer

    # Whole numbers

    @cached_property
    def _tables(self) -> Ints:
        """Every table of whole numbers within the bounds."""
        if any(end.denominator != 1 for end in (*self.lows, *self.highs, *self.widths)):
            raise ParameterError("bounds and widths of whole numbers are whole")
        values = [
            range(int(low), int(high) + 1) for low, high in zip(self.lows, self.highs, strict=True)
        ]
        if prod(map(len, values)) > LARGEST:
            raise ParameterError(
                f"sums of whole numbers are audited by trying all tables, up to {LARGEST:,}, and the bounds allow more; "
                "an audit with dither adds secret digits to the values, so that they are as good as real numbers"
            )
        return np.array(list(product(*values)), np.int64)

    def _counted(self, state: SumState, people: int) -> Rule | None:
        sums = self._tables @ np.array([people >> person & 1 for person in range(self.people)])
        possible, heard = (
            self._possible(state.rows),
            self._possible(row for row in state.rows if row.relation == "="),
        )
        answers = frozenset(
            value
            for value in set(sums[possible].tolist())
            if self._wide(possible & (sums == value))
        )
        if self.strategy == "simple" or answers.issuperset(sums[heard].tolist()):
            return Rule(values=answers) if answers else None
        return Rule(bound=min(answers), values=answers) if len(answers) > 1 else None

    def _possible(self, rows: Iterable[Row]) -> Bools:
        found = np.ones(len(self._tables), bool)
        for row in rows:
            sums = self._tables[:, list(members(row.people))].sum(1)
            found &= sums == row.value if row.relation == "=" else sums <= row.value
        return found

    def _wide(self, tables: Bools) -> bool:
        some = self._tables[tables]
        return bool(np.all(np.ptp(some, axis=0) >= np.array(list(map(int, self.widths)))))


def _told(state: SumState, people: int) -> Number | None:
    """The answer that was given to the same question."""
    return next(
        (row.value for row in state.rows if row.people == people and row.relation == "="), None
    )


def _worked_out(state: SumState, people: int) -> Number | None:
    """The answer that answers add up to."""
    rows = tuple(row for row in linked(state.rows, people)[0] if row.relation == "=")
    shares = combination(rows, people)
    return (
        None
        if shares is None
        else sum((share * row.value for share, row in zip(shares, rows, strict=True)), Fraction(0))
    )
