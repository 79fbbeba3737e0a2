"""`Counted`: all tables that could have shown some views, counted exactly; and drawing one of them.

Uses `cells`, `ordering` and `steps`; `checking` and `regions` use it.

Cells are taken one after another. All that matters of the past is how much is left in the bags of
*open* views, those of which some cells are done and some are not: that is a state. A forward pass
finds in how many ways each state is reached, a backward pass in how many ways it can be finished;
both are whole numbers. docs/proofs/views.md has the proof.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import frexp, inf, ldexp, log
from random import Random
from typing import Any

from shoal.errors import TooLargeError
from shoal.views.cells import Constraints
from shoal.views.model import contradiction
from shoal.views.ordering import order
from shoal.views.steps import CountingStep, steps_of

__all__ = ["PATIENCE", "STEPS", "Counted"]

STEPS = 3_000_000
"""Steps from state to state that a forward pass may take by default: some seconds, and up to two
gigabytes."""

PATIENCE = 1e7
"""Steps with small numbers that those with long ones may amount to, before they are rounded."""

_LONG = 2000  # bits of a number at which a step takes twice as long
_WITNESSES = 30  # each lets a number that is not prime pass with a chance of a quarter at most

_LARGEST = 600.0
"""Logarithm of the ways in which a cell's people can have values, where counts are floats."""

_FAINT = Fraction(1, 1 << 300)
"""What products that are too small for floats may add to a share."""

_FAINTEST = 1e-200
"""What a state may weigh beside the heaviest one of its layer, where counts are floats."""

Layer = dict[int, Any]
"""States, each with a count: a whole number, or a float where counts are rounded."""


@dataclass(frozen=True, eq=False)
class Counted:
    """All tables that satisfy constraints, counted.

    TooLargeError beyond a number of steps, InfeasibleError if there are none. Counts are whole
    numbers, unless there are so many people in one component that these would get too long: then
    they are floats, each with a power of two of its layer, and `error` bounds how far any of them
    is off, relatively.

    >>> cells = ((3, (0,)), (1, (0, 1)), (3, (1,)))
    >>> donald = Constraints(cells, ((1, 2, 1, 0), (0, 2, 1, 1)))
    >>> counted = Counted.of(donald)
    >>> counted.tables, counted.shares[1]
    (45, [Fraction(0, 1), Fraction(4, 5), Fraction(1, 5), Fraction(0, 1)])
    """

    constraints: Constraints
    steps: tuple[CountingStep, ...]
    layers: tuple[Layer, ...]
    """Before every cell the states, and in how many ways they are reached."""

    taken: int
    """Steps from state to state."""

    exponent: int = 0
    rounded: bool = False
    modulus: int | None = None
    """A prime, where only remainders are known."""

    faint: Fraction = Fraction(0)
    """What numbers that are too small for floats may amount to, in a share."""

    @classmethod
    def of(
        cls, constraints: Constraints, limit: int | None = None, *, rounded: bool | None = None
    ) -> "Counted":
        """Count forwards, within `limit` steps; by default long counts are `rounded`."""
        limit = STEPS if limit is None else limit
        steps = tuple(steps_of(constraints, *order(constraints)))
        if rounded is None:
            try:
                counted = cls._forwards(constraints, steps, limit, rounded=False)
            except _TooLong:
                pass
            else:
                if counted.taken * _product(counted.tables.bit_length()) <= PATIENCE:
                    return counted
            # Whole numbers are so long that a second pass with them would take too long.
            rounded = True
        return cls._forwards(constraints, steps, limit, rounded=rounded, patient=True)

    @classmethod
    def _forwards(
        cls,
        constraints: Constraints,
        steps: tuple[CountingStep, ...],
        limit: int,
        *,
        rounded: bool,
        patient: bool = False,
        modulus: int | None = None,
    ) -> "Counted":
        """A forward pass; _TooLong if whole numbers take too long, unless it is `patient`."""
        if rounded:
            _require_floats(constraints)
        layers: list[Layer] = [{0: 1.0 if rounded else 1}]
        taken = exponent = 0
        waited = 0.0
        for step in steps:
            after, turns = _moved(step, layers[-1], limit, taken)
            taken += turns
            if not after:
                raise contradiction()
            if rounded:
                # Powers of two are exact, so scaling adds no rounding.
                scale = _scale(after)
                exponent -= scale
                after = {state: ldexp(reached, scale) for state, reached in after.items()}
            elif modulus is not None:
                after = {state: reached % modulus for state, reached in after.items()}
            elif not patient:
                waited += turns * (1 + next(iter(after.values())).bit_length() / _LONG)
                if waited > PATIENCE:
                    raise _TooLong
            layers.append(after)
        faint = _FAINT if rounded else Fraction(0)
        return cls(constraints, steps, tuple(layers), taken, exponent, rounded, modulus, faint)

    @property
    def tables(self) -> int:
        """How many tables there are; where counts are rounded, only its first digits are right."""
        reached = self.layers[-1][0]
        if not self.rounded:
            return int(reached)
        return int(Fraction(reached) * Fraction(2) ** self.exponent)

    @cached_property
    def error(self) -> Fraction:
        """How far a share may be off, relatively: docs/proofs/views.md counts the roundings."""
        if not self.rounded:
            return Fraction(0)
        pairs = zip(self.layers, self.steps, strict=False)
        roundings = sum(len(layer) + len(step.choices) + 6 for layer, step in pairs)
        return Fraction(3 * roundings, 1 << 53)

    @cached_property
    def shares(self) -> list[list[Fraction]]:
        """For every cell, how probable each value is for each of its people."""
        if self.rounded:
            return self.sums
        tables = self.tables
        return [
            [Fraction(one, size * tables) for one in own]
            for (size, _), own in zip(self.constraints.cells, self.sums, strict=True)
        ]

    @cached_property
    def sums(self) -> list[list[Any]]:
        """For every cell and value how many people have it, in all tables together.

        Where counts are rounded, the share.
        """
        finish: Layer = {0: 1.0 if self.rounded else 1}
        sums: list[list[Any]] = [[0] * self.constraints.values for _ in self.constraints.cells]
        for at in range(len(self.steps) - 1, -1, -1):
            step = self.steps[at]
            before, often = _finished(step, self.layers[at], finish)
            if self.rounded:
                scale = _scale(before)
                before = {state: ldexp(number, scale) for state, number in before.items()}
            elif self.modulus is not None:
                before = {state: number % self.modulus for state, number in before.items()}
            finish = before
            # Both passes lose the same powers of two where they round, which cancel in a share.
            people = Fraction(sum(often)) * self.constraints.cells[step.cell][0]
            for i, v in enumerate(step.values):
                pairs = zip(often, step.choices, strict=True)
                have = sum(number * given[i] for number, given in pairs)
                if self.rounded:
                    have = min(Fraction(have) / people, Fraction(1))
                sums[step.cell][v] = have
        return sums

    def equal(
        self,
        asked: Iterable[tuple[int, int, Fraction]],
        source: Random,
    ) -> list[bool]:
        """Whether the share of a cell's people with a value is exactly this, where it is rounded.

        By remainders after division by a prime that is drawn: equal numbers have the same, and
        others have it with a chance of less than 10^-12, whatever they are, as long as they have
        fewer than 10^11 bits.

        asked: cells, values and shares
        """
        # Drawn anew, so that no views can be made to fool it.
        prime = _prime(source)
        other = self._forwards(
            self.constraints, self.steps, sys.maxsize, rounded=False, patient=True, modulus=prime
        )
        tables, sums = other.layers[-1][0], other.sums
        answers = []
        for cell, v, share in asked:
            people = self.constraints.cells[cell][0]
            off = sums[cell][v] * share.denominator - share.numerator * people * tables
            answers.append(off % prime == 0)
        return answers

    def drawn(self, source: Random) -> list[list[int]]:
        """For every cell how often each value occurs in it, in one table that is drawn uniformly.

        Backwards: a state is reached from those before it, from each in a number of ways. Whole
        numbers decide, so the draw is as uniform as its source.
        """
        if self.rounded:
            raise TooLargeError("there are too many people in one component to draw tables exactly")
        drawn = [[0] * self.constraints.values for _ in self.constraints.cells]
        state = 0
        for at in range(len(self.steps) - 1, -1, -1):
            # Python draws whole numbers of any size uniformly.
            place = source.randrange(self.layers[at + 1][state])
            for before, number, choice in self._arrivals[at][state]:
                place -= number
                if place < 0:
                    step = self.steps[at]
                    for v, often in zip(step.values, step.choices[choice], strict=True):
                        drawn[step.cell][v] = often
                    state = before
                    break
        return drawn

    @cached_property
    def _arrivals(self) -> list[dict[int, list[tuple[int, int, int]]]]:
        """For every cell and state after it, how it is reached.

        By the states before, in how many ways they lead there, and by which choice.
        """
        arrivals = []
        for step, layer in zip(self.steps, self.layers, strict=False):
            into: dict[int, list[tuple[int, int, int]]] = {}
            for state, reached in layer.items():
                opened = state + step.opening
                for used, number, choice in step.options(opened):
                    way = (state, reached * number, choice)
                    into.setdefault(opened - used, []).append(way)
            arrivals.append(into)
        return arrivals


def _moved(
    step: CountingStep,
    layer: Layer,
    limit: int,
    taken: int,
) -> tuple[Layer, int]:
    """The states after a step, in how many ways they are reached, and the steps this took.

    TooLargeError if these are more than `limit`, with those `taken` before.
    """
    after: Layer = {}
    # Looked up once, as this loop is where the time goes.
    get = after.get
    total = taken
    for state, reached in layer.items():
        state += step.opening
        options = step.options(state)
        total += len(options)
        for used, number, _ in options:
            rest = state - used
            after[rest] = get(rest, 0) + reached * number
        # Finding options is work as well, though states are few.
        if total + step.written > limit:
            raise TooLargeError(f"counting takes more than {limit:,} steps")
    return after, total - taken


def _finished(
    step: CountingStep,
    layer: Layer,
    finish: Mapping[int, Any],
) -> tuple[Layer, list[Any]]:
    """In how many ways the states before a step can be finished, and how often each choice is made.

    finish: the same for the states after it
    """
    before: Layer = {}
    often: list[Any] = [0] * len(step.choices)
    get = finish.get
    for state, reached in layer.items():
        moved = state + step.opening
        total: Any = 0
        for used, number, choice in step.options(moved):
            rest = get(moved - used)
            if rest is not None:
                rest = rest * number
                total += rest
                often[choice] += reached * rest
        if total:
            before[state] = total
    return before, often


class _TooLong(Exception):
    """Whole numbers would take too long."""


def _require_floats(constraints: Constraints) -> None:
    """TooLargeError if the ways in which a cell can have values are too many for floats."""
    values = log(max(constraints.values, 2))
    if max(size for size, _ in constraints.cells) * values > _LARGEST:
        raise TooLargeError("a cell has more people than floats can count tables for")


def _product(bits: int) -> float:
    """How long it takes to multiply two numbers of this many bits, roughly.

    In steps of a state with small ones.
    """
    digits = bits / 30
    work = digits**2
    if digits >= 100:
        # Karatsuba's method, which Python uses for numbers this long.
        work = 100 * digits * (digits / 100) ** log(1.5, 2)
    return 1.0 + float(work) / 100


def _scale(layer: Mapping[int, float]) -> int:
    """The power of two that brings the largest number of a layer near 1.

    TooLargeError if others would be lost.
    """
    largest, smallest = max(layer.values()), min(layer.values())
    if largest == inf or smallest < largest * _FAINTEST:
        raise TooLargeError("counts of one component differ by more than floats can hold")
    return -frexp(largest)[1]


def _prime(source: Random) -> int:
    """A prime of 80 bits, drawn uniformly."""
    while True:
        number = source.randrange(1 << 79, 1 << 80) | 1
        if _seems_prime(number, source):
            return number


def _seems_prime(number: int, source: Random) -> bool:
    """Miller and Rabin's test of an odd number."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(_WITNESSES):
        power = pow(source.randrange(2, number - 1), odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True
