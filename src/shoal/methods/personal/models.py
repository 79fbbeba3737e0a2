"""What a generalisation of a record risks and what it is worth: sums over columns, in whole units.

The risk is the sensitivity of what is shown, by the number of people it may be about; both fall
together as values are generalised. Sensitivities and utilities are rational, and a common
denominator makes them whole numbers, so that equal ones are equal; only what has no such
denominator is rounded: to one part in 2³², and logarithms in such a way that equal sums stay equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, lcm, log
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import described, keep, typed_but
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import ParameterError, listed, plural
from shoal.exact.numbers import Exact, fraction

__all__ = [
    "SENSITIVITIES",
    "UTILITIES",
    "Sensitivity",
    "SensitivityModel",
    "Sum",
    "Utility",
    "Weights",
    "Worth",
    "by_column",
]

Ints = npt.NDArray[np.int64]
Utility = Literal["leaves", "log", "depth"]
Sensitivity = Literal["fixed", "uniform", "harmonic"]
Weights = Mapping[str, Exact | Mapping[str, Exact]]
"""By column: how sensitive it is; or how sensitive each of its values is, others being 1."""

UTILITIES: tuple[Utility, ...] = ("leaves", "log", "depth")
SENSITIVITIES: tuple[Sensitivity, ...] = ("fixed", "uniform", "harmonic")
FINEST = 1 << 32
"""The largest common denominator; finer numbers are rounded to this one."""

FINEST_LOG = 1 << 46
"""The same for logarithms of primes, which floats hold to that many bits."""

LARGEST_SUM = 1 << 62
"""Sums of that many units fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum over columns.

    `parts[j][l][c]` is what column j adds where it shows code c of level l, in units of 1/`unit`.
    It is never more for a value than for those it generalises: all solvers rely on that.
    """

    parts: Sequence[Sequence[Ints]]
    unit: Fraction

    def of(self, codes: Sequence[int], node: Sequence[int]) -> Fraction:
        """The sum for what is shown of one record: its codes at the levels of a node."""
        shown = zip(self.parts, node, codes, strict=True)
        return Fraction(sum(int(by[level][code]) for by, level, code in shown)) / self.unit

    @property
    def most(self) -> int:
        """The largest sum, in units: that of an unchanged record."""
        return sum(int(by[0].max(initial=0)) for by in self.parts)

    def within(self, most: int) -> "Sum":
        """The same with no sum above that many units, rounded up if need be."""
        by = -(-self.most // most)
        if by <= 1:
            return self
        return Sum([[-(-part // by) for part in levels] for levels in self.parts], self.unit / by)


@typed_but("importance")
@dataclass(frozen=True, init=False)
class Worth:
    """What generalised values are worth.

    By how many leaves each could stand for, the logarithm of that, or its depth. `importance`
    multiplies what a column adds; it is 1 unless given.

    >>> from shoal.data.hierarchy import Hierarchy
    >>> lines = [["Bern", "south", "*"], ["Basel", "north", "*"], ["Biel", "north", "*"]]
    >>> town = Hierarchy.from_lines(lines)
    >>> worth = Worth("leaves").sum({"town": town})
    >>> [str(worth.of([code], [level])) for code, level in [(1, 0), (1, 1), (0, 1), (0, 2)]]
    ['1', '1/2', '1', '1/3']
    >>> [str(Worth("depth").sum({"town": town}).of([0], [level])) for level in range(3)]
    ['2', '1', '0']
    """

    measure: Utility
    importance: Mapping[str, Fraction]

    def __init__(
        self, measure: Utility = "leaves", importance: Mapping[str, Exact] | None = None
    ) -> None:
        if measure not in UTILITIES:
            raise ParameterError(
                "is unknown",
                f"known are {listed(UTILITIES)}",
                option="measure",
                given=repr(measure),
            )
        given = {} if importance is None else importance
        by_column(given, "importance")
        exact = {
            name: fraction(value, f"importance of {name!r}", 0) for name, value in given.items()
        }
        keep(self, measure=measure, importance=exact)

    def sum(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The utility of records over these columns."""
        known(self.importance, hierarchies, "importance")
        if self.measure == "log":
            return self._logarithms(hierarchies)
        parts = []
        for name, hierarchy in hierarchies.items():
            covers = [hierarchy.cover(level).tolist() for level in range(hierarchy.height + 1)]
            times = self.importance.get(name, Fraction(1))
            levels = []
            for level, cover in enumerate(covers):
                depth = hierarchy.height - level
                levels.append([times * self._of(leaves, depth) for leaves in cover])
            parts.append(levels)
        return _whole(parts)

    def _of(self, leaves: int, depth: int) -> Fraction:
        """What a value is worth that stands for that many leaves."""
        return Fraction(depth) if self.measure == "depth" else Fraction(1, leaves)

    def _logarithms(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The utility by logarithms: whole multiples of those of primes, each rounded once.

        So sums that are equal, as ln 8 and 3 ln 2 are, stay equal, whatever the importance: a floor
        that is met exactly is met. Sums that differ keep their order unless they differ by less
        than the rounding, about one part in 2⁴⁰.
        """
        times = {name: self.importance.get(name, Fraction(1)) for name in hierarchies}
        common = lcm(*(factor.denominator for factor in times.values()))
        wholes = {name: max(tree.cover(tree.height).tolist()) for name, tree in hierarchies.items()}
        most = sum(ceil(times[name] * common * log(wholes[name])) for name in hierarchies)
        fineness = min(FINEST_LOG, LARGEST_SUM // (most + 1))
        if fineness < FINEST >> 8:
            raise ParameterError(
                "has fractions without a small common denominator",
                "give simpler ones",
                option="importance",
            )

        @cache
        def units(number: int) -> int:
            """ln of a whole number, in units, and of a product the sum of both."""
            return sum(round(log(prime) * fineness) for prime in _primes(number))

        parts = []
        for name, tree in hierarchies.items():
            factor = int(times[name] * common)
            most_units = units(wholes[name])
            levels = []
            for level in range(tree.height + 1):
                cover = tree.cover(level).tolist()
                numbers = [factor * (most_units - units(leaves)) for leaves in cover]
                levels.append(np.array(numbers, np.int64))
            parts.append(levels)
        return Sum(parts, Fraction(common * fineness))


def _primes(number: int) -> list[int]:
    """The prime factors of a whole number, each as often as it divides it.

    >>> _primes(360)
    [2, 2, 2, 3, 3, 5]
    """
    found, prime = [], 2
    while prime * prime <= number:
        while number % prime == 0:
            found.append(prime)
            number //= prime
        prime += 1
    return [*found, number] if number > 1 else found


@typed_but("weights")
@dataclass(frozen=True, init=False)
class SensitivityModel:
    """How sensitive what is shown of a record is.

    "fixed" (model I): a column counts for its weight, unless it shows only its root. "uniform"
    (model II): every column counts for the same at every level, 1 in all, so that the risk is 1
    divided by the size of the crowd. "harmonic": a value counts for its weight, one of a higher
    level for the sum 1 / Σ 1/w over those below it, the root for 0.

    >>> from shoal.data.hierarchy import Hierarchy
    >>> lines = [["Bern", "south", "*"], ["Basel", "north", "*"], ["Biel", "north", "*"]]
    >>> town = Hierarchy.from_lines(lines)
    >>> shown = SensitivityModel("harmonic", {"town": {"Biel": 3}}).sum({"town": town})
    >>> [str(shown.of([code], [level])) for code, level in [(2, 0), (1, 1), (0, 1), (0, 2)]]
    ['3', '3/4', '1', '0']
    """

    model: Sensitivity
    weights: Mapping[str, Fraction | Mapping[str, Fraction]]

    def __init__(self, model: Sensitivity = "fixed", weights: Weights | None = None) -> None:
        if model not in SENSITIVITIES:
            raise ParameterError(
                "is unknown",
                f"known are {listed(SENSITIVITIES)}",
                option="model",
                given=repr(model),
            )
        given = {} if weights is None else weights
        if model == "uniform" and given:
            raise ParameterError(
                "does not go with the uniform model, in which every column counts for the same",
                "use 'fixed' or 'harmonic'",
                option="weights",
            )
        by_column(given, "weights")
        exact = {name: _exact_weight(model, name, weight) for name, weight in given.items()}
        keep(self, model=model, weights=exact)

    def sum(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The sensitivity of records over these columns."""
        known(self.weights, hierarchies, "weights")
        parts = []
        for name, hierarchy in hierarchies.items():
            height = hierarchy.height
            cards = [hierarchy.cardinality(level) for level in range(height + 1)]
            if self.model == "uniform":
                parts.append([[Fraction(1, len(hierarchies))] * card for card in cards])
                continue
            leaves = self._leaves(name, hierarchy)
            if self.model == "harmonic":
                shown = [_harmonic(leaves, hierarchy, level) for level in range(height)]
            else:
                shown = [leaves[:1] * card for card in cards[:height]]
            parts.append([*shown, [Fraction(0)]])
        return _whole(parts, up=True)

    def _leaves(self, name: str, hierarchy: Hierarchy) -> list[Fraction]:
        """The weight of every leaf."""
        given = self.weights.get(name, Fraction(1))
        texts = hierarchy.labels[0]
        if not isinstance(given, Mapping):
            return [given] * len(texts)
        places = {value: _leaf(hierarchy, value) for value in given}
        absent = sum(place < 0 for place in places.values())
        if absent:
            raise ParameterError(
                f"has {plural(absent, 'value')} of column {name!r} that its hierarchy lacks",
                "leave them out, or add them to the hierarchy",
                option="weights",
            )
        weights = [Fraction(1)] * len(texts)
        for value, place in places.items():
            weights[place] = given[value]
        return weights


def _exact_weight(
    model: Sensitivity, name: str, given: Exact | Mapping[str, Exact]
) -> Fraction | Mapping[str, Fraction]:
    """The weight of a column, or those of its values."""

    def exact(weight: Exact, where: str) -> Fraction:
        return fraction(weight, f"weight of {where!r}", 0, above=model == "harmonic")

    if not isinstance(given, Mapping):
        return exact(given, name)
    if model != "harmonic":
        raise ParameterError(
            f"has weights of column {name!r} by value, which only the 'harmonic' model takes",
            "use that model",
            option="weights",
        )
    return {str(value): exact(weight, f"{name}.{value}") for value, weight in given.items()}


def by_column(given: object, option: str) -> None:
    """ParameterError unless an option says something for each of some columns."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"is {described(given)}", "give it by column, such as {'age': 2}", option=option
        )


def _leaf(hierarchy: Hierarchy, value: str) -> int:
    """The place of a value among the leaves, -1 if it is none."""
    try:
        return hierarchy.find(hierarchy.kind.key(value))
    except (ValueError, TypeError):
        return -1


def known(given: Mapping[str, object], hierarchies: Mapping[str, Hierarchy], option: str) -> None:
    """ParameterError if an option names columns that are not generalised."""
    odd = [name for name in given if name not in hierarchies]
    if odd:
        raise ParameterError(
            f"names {listed(odd)}, which is not a quasi-identifying column",
            "leave it out, or give it that role",
            option=option,
        )


def _harmonic(leaves: Sequence[Fraction], hierarchy: Hierarchy, level: int) -> list[Fraction]:
    inverse = [Fraction(0)] * hierarchy.cardinality(level)
    for code, weight in zip(hierarchy.maps[level].tolist(), leaves, strict=True):
        inverse[code] += 1 / weight
    return [1 / number for number in inverse]


def _whole(parts: Sequence[Sequence[Sequence[Fraction]]], *, up: bool = False) -> Sum:
    """In whole units of a common denominator, or rounded."""
    denominators = {number.denominator for levels in parts for level in levels for number in level}
    unit = min(lcm(*denominators), FINEST)

    def units(number: Fraction) -> int:
        return ceil(number * unit) if up else int(number * unit)

    whole = [
        [np.array([units(number) for number in level], dtype=np.int64) for level in levels]
        for levels in parts
    ]
    return Sum(whole, Fraction(unit))
