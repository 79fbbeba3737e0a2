"""Sums over sets of people, answered or denied so that everyone's value stays uncertain by a width.

This is Zhang, chapter 3, corrected. What is known is a polytope: public bounds, answered sums, and
what denials are bound to. Which answers keep everyone's width is an interval that anyone could
compute; the true answer is only compared with it. docs/proofs/audit-sums.md shows why that is safe.
Uses `slices` and `polytope`; `secret` gives it to the audit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.audit.cells import Constraint, Labels
from shoal.audit.model import (
    Decision,
    Number,
    Strategy,
    members,
    require_asked,
    require_auditor,
)
from shoal.audit.polytope import Box, combination, free, linked, told_apart
from shoal.audit.slices import safe
from shoal.errors import InputError, ParameterError

__all__ = ["Rule", "SumState", "Sums"]

LARGEST = 100_000
"""Tables of whole numbers that are examined one by one, at most."""

ROOM = 40
"""What is certified has room for 2^-40 of the widest bounds."""

Given = Number | Sequence[Number] | None
"""One number for all, or one for each kind of people or each person."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SumState:
    """What the audit takes as known, in order, and the questions that were denied."""

    constraints: tuple[Constraint, ...] = ()
    denied: frozenset[int] = frozenset()

    def answer(self, people: int) -> Number | None:
        """The answer that was given to the same question."""
        for constraint in self.constraints:
            if constraint.people == people and constraint.relation == "=":
                return constraint.value
        return None

    def implied(self, people: int) -> Number | None:
        """The answer that other answers add up to."""
        constraints, _ = linked(self.constraints, people)
        equations = tuple(each for each in constraints if each.relation == "=")
        shares = combination(equations, people)
        if shares is None:
            return None
        parts = (share * each.value for share, each in zip(shares, equations, strict=True))
        return sum(parts, Fraction(0))


@dataclass(frozen=True)
class Rule:
    """Which answers are given: from `low` to `high`, above `bound` and among `values`.

    None is no restriction. A denial is bound to the sum being at most `bound`, or to nothing.
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
    """The auditor of sums over a number of people.

    low, high: public bounds of all values, or of each person's; both None if nothing about the size
        of values is public
    width: how far apart the possible values of everyone, or of each person, stay at least
    integers: it is public that all values are whole numbers (of some unit); only few people with
        few values can then be audited
    strategy: "binding", "simulatable" (denies everything if there are bounds), or "simple" (unsafe:
        denials reveal values)
    unit: it is public that all values are multiples of it
    kinds: which of several bounds and widths each person has, by number; by default there is one
        of each for everyone, or one for each person

    Bounds narrower than what is public cost answers, never privacy; wider bounds break the promise.
    """

    people: int
    low: Given = None
    high: Given = None
    width: Number | Sequence[Number] = 1
    integers: bool = False
    strategy: Strategy = "binding"
    unit: Number | None = None

    kinds: Labels | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_auditor(self.people, self.strategy)
        if (self.low is None) != (self.high is None):
            raise ParameterError(
                "bounds are given on both sides, or on neither",
                "give `low` and `high`; one that is narrower than what is public is safe, "
                "and costs answers",
            )
        if min(self._kinds("width", self.width)) <= 0:
            raise ParameterError("must be above 0", option="width")
        if self.low is not None:
            self._require_bounds()
        elif self.integers:
            raise ParameterError(
                "sums of whole numbers are audited one by one", "give `low` and `high`"
            )

    def _require_bounds(self) -> None:
        kinds = zip(*self._ends(), strict=True)
        if any(high - low < width for low, high, width in kinds):
            raise ParameterError(
                "the bounds alone determine someone's value more closely than `width`",
                "give a smaller width",
            )
        # both raise where they cannot be made
        _ = self.tables if self.integers else self.box

    def start(self) -> SumState:
        """Nothing is known but the bounds."""
        return SumState()

    def after(self, state: SumState, decision: Decision) -> SumState:
        """Answers are known to all; what a denial is bound to is only taken as known."""
        constraints, denied = state.constraints, state.denied
        if decision.relation in ("=", "<=") and decision.value is not None:
            new = Constraint(decision.people, decision.relation, decision.value)
            constraints = (*constraints, new)
        if not decision.answered:
            denied |= {decision.people}
        return SumState(constraints, denied)

    def cost(self, state: SumState, people: int) -> int:
        """Steps: everyone linked, and a few for each cell, constraint, and one of either.

        Of cells, only those of one person count a second time. Of few whole numbers: all tables,
        per answer.
        """
        if not self.integers:
            constraints, everyone = linked(state.constraints, people)
            groups = told_apart(constraints, people, self._numbered)
            alone = int(np.count_nonzero(groups.sizes == 1))
            rows = len(constraints) + 1
            return everyone.bit_count() + len(groups) * rows * (alone + rows)
        span = sum(self.highs[person] - self.lows[person] for person in members(people))
        answers = min(int(span) + 1, len(self.tables))
        return len(self.tables) * (answers + len(state.constraints) + self.people)

    def decide(self, state: SumState, people: int, answer: Number) -> Decision:
        """Answer or deny. What follows from earlier answers is answered, with nothing to record."""
        require_asked(people, self.people)
        # first, so that a denial stays even if other answers come to imply this one
        if people in state.denied:
            return Decision.denial(people)
        known = state.answer(people)
        rule = None
        if known is None:
            rule = self.rule(state, people)
            if rule is None:
                known = state.implied(people)
        if known is not None:
            if known != answer:
                raise InputError(
                    "the answer contradicts earlier ones",
                    "a column must not change while it is audited",
                )
            return Decision(people, True, None, answer)
        if rule is None:
            return Decision.denial(people)
        if rule.gives(answer):
            return Decision.answer(people, answer)
        if rule.bound is None:
            return Decision.denial(people)
        return Decision(people, False, "<=", rule.bound)

    def rule(self, state: SumState, people: int) -> Rule | None:
        """Which answers to a new question are given; None if none are.

        Anyone who knows what was asked and replied can compute it.
        """
        if self.low is None:
            return Rule() if free(state.constraints, people) else None
        if self.strategy == "simulatable":
            # the least possible answer would always reveal values: see the proof
            return None
        if self.integers:
            return self._rule_by_tables(state, people)
        if self.unit is not None and self.is_coarse(state, people):
            return None
        ends = safe(self.box, state.constraints, people)
        if ends is None:
            return None
        low, high = ends
        if self.strategy == "simple":
            return Rule(low, high)
        least_width = self.box.least_width(people) - self._room
        # a denial is bound to a sum that is itself safe, and as low as answers allow
        bound = min(low + least_width, (low + high) / 2)
        return Rule(low, high, bound)

    def is_coarse(self, state: SumState, people: int) -> bool:
        """Whether multiples of the unit may be too far apart to stand for real numbers.

        Among the tables that satisfy all equations, some table of multiples is within n/2 times the
        largest minor of the equations, in units, of any real one: see the proof.
        """
        assert self.unit is not None
        constraints, everyone = linked(state.constraints, people)
        equations = 1 + sum(each.relation == "=" for each in constraints)
        unit = Fraction(self.unit) / self.box.scale
        far = unit * everyone.bit_count() ** 2 * 2**ROOM
        # Hadamard: a minor is at most √((m+1)^(m+1) / 4^m)
        return bool(far**2 * (equations + 1) ** (equations + 1) > 4**equations)

    def _kinds(self, option: str, given: Given) -> tuple[Fraction, ...]:
        """A number for each kind of people; for each person, where no kinds are given."""
        if isinstance(given, int | Fraction):
            return (Fraction(given),)
        numbers = () if given is None else tuple(map(Fraction, given))
        wanted = self.people if self.kinds is None else int(self.kinds.max()) + 1
        if len(numbers) != wanted:
            raise ParameterError(
                f"must be one number, or one for each of the {self.people} people", option=option
            )
        return numbers

    def _ends(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Lower bounds, upper bounds and widths, one of each for every kind."""
        low = self._kinds("low", self.low)
        high = self._kinds("high", self.high)
        width = self._kinds("width", self.width)
        count = max(map(len, (low, high, width)))
        low, high, width = (each * count if len(each) == 1 else each for each in (low, high, width))
        return low, high, width

    def _everyone(self, option: str, given: Given) -> tuple[Fraction, ...]:
        """One number for everyone."""
        numbers = self._kinds(option, given)
        if len(numbers) == 1:
            return numbers * self.people
        if self.kinds is None:
            return numbers
        return tuple(numbers[kind] for kind in self.kinds.tolist())

    @cached_property
    def lows(self) -> tuple[Fraction, ...]:
        """Everyone's lower bound."""
        return self._everyone("low", self.low)

    @cached_property
    def highs(self) -> tuple[Fraction, ...]:
        """Everyone's upper bound."""
        return self._everyone("high", self.high)

    @cached_property
    def widths(self) -> tuple[Fraction, ...]:
        """Everyone's width."""
        return self._everyone("width", self.width)

    @property
    def _numbered(self) -> Labels | None:
        """Everyone's kind; None where there are no bounds, or the same for all."""
        return None if self.low is None else self.box.kinds

    @cached_property
    def _room(self) -> Fraction:
        """How much closer together multiples of the unit may be, at most."""
        if self.unit is None:
            return Fraction(0)
        low, high, _ = self._ends()
        spans = (most - least for least, most in zip(low, high, strict=True))
        return Fraction(max(spans), 2 ** (ROOM - 2))

    @cached_property
    def box(self) -> Box:
        """Everyone's bounds and the widths to certify."""
        low, high, width = self._ends()
        widths = [each + self._room for each in width]
        return Box(low, high, widths, self.kinds)

    # Whole numbers

    @cached_property
    def tables(self) -> Ints:
        """Every table of whole numbers within the bounds."""
        ends = (*self.lows, *self.highs, *self.widths)
        if any(end.denominator != 1 for end in ends):
            raise ParameterError("bounds and widths of whole numbers must be whole")
        values = []
        for low, high in zip(self.lows, self.highs, strict=True):
            values.append(range(int(low), int(high) + 1))
        if prod(map(len, values)) > LARGEST:
            raise ParameterError(
                f"sums of whole numbers are audited by trying all tables, up to {LARGEST:,}, "
                "and the bounds allow more",
                "make the audit with `dither`, which adds secret digits to the values, "
                "so that they are as good as real numbers",
            )
        return np.array(list(product(*values)), np.int64)

    def _rule_by_tables(self, state: SumState, people: int) -> Rule | None:
        asked = np.array([people >> person & 1 for person in range(self.people)])
        sums = self.tables @ asked
        equations = (each for each in state.constraints if each.relation == "=")
        assumed = self.possible(state.constraints)
        heard = self.possible(equations)
        possible = set(sums[assumed].tolist())
        safe_answers = {value for value in possible if self._wide(assumed & (sums == value))}
        answers = frozenset(safe_answers)
        if self.strategy == "simple" or answers.issuperset(sums[heard].tolist()):
            return Rule(values=answers) if answers else None
        return Rule(bound=min(answers), values=answers) if len(answers) > 1 else None

    def possible(self, constraints: Iterable[Constraint]) -> Bools:
        """Which tables satisfy constraints."""
        satisfied = np.ones(len(self.tables), bool)
        for each in constraints:
            sums = self.tables[:, list(members(each.people))].sum(1)
            if each.relation == "=":
                satisfied &= sums == each.value
            else:
                satisfied &= sums <= each.value
        return satisfied

    def _wide(self, chosen: Bools) -> bool:
        ranges = np.ptp(self.tables[chosen], axis=0)
        widths = np.array([int(width) for width in self.widths])
        return bool(np.all(ranges >= widths))
