"""What a generalisation of a record risks and what it is worth: sums over columns, in whole units.

The risk is the sensitivity of what is shown, by the number of people it may be about; both fall
together as values are generalised. Sensitivities and utilities are rational, and a common
denominator makes them whole numbers, so that equal ones are equal; only what has no such
denominator is rounded: to one part in 2³², and logarithms in such a way that equal sums stay equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import ceil, lcm, log
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed_but
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import ParameterError, listed
from shoal.exact.numbers import Exact, fraction

__all__ = [
    "SENSITIVITIES",
    "UTILITIES",
    "Risk",
    "Sensitivity",
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
"""The same of logarithms of primes, which floats have to so many bits."""

LARGEST_SUM = 1 << 62
"""Sums of so many units fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum over columns: `parts[j][l][c]` is what column j adds where it shows code c of level l,
    in units of 1/`unit`.

    It is never more for a value than for those it generalises: all solvers rely on that.
    """

    parts: Sequence[Sequence[Ints]]
    unit: Fraction

    def of(self, codes: Sequence[int], node: Sequence[int]) -> Fraction:
        """The sum for what is shown of one record: its codes at the levels of a node."""
        return (
            Fraction(
                sum(int(by[at][code]) for by, at, code in zip(self.parts, node, codes, strict=True))
            )
            / self.unit
        )

    @property
    def most(self) -> int:
        """The largest sum, in units: that of a record as it is."""
        return sum(int(by[0].max(initial=0)) for by in self.parts)

    def within(self, most: int) -> "Sum":
        """The same with no sum above so many units, rounded up if need be."""
        by = -(-self.most // most)
        return (
            self
            if by <= 1
            else Sum([[-(-part // by) for part in levels] for levels in self.parts], self.unit / by)
        )


@typed_but("importance")
@dataclass(frozen=True)
class Worth:
    """What generalised values are worth: by how many leaves each could stand for, the logarithm of
    that, or its depth.

    `importance` multiplies what a column adds; it is 1 unless given.

    >>> from shoal.data.hierarchy import Hierarchy
    >>> town = Hierarchy.from_lines([["Bern", "south", "*"], ["Basel", "north", "*"], ["Biel", "north", "*"]])
    >>> [str(Worth("leaves").sum({"town": town}).of([code], [level])) for code, level in [(1, 0), (1, 1), (0, 1), (0, 2)]]
    ['1', '1/2', '1', '1/3']
    >>> [str(Worth("depth").sum({"town": town}).of([0], [level])) for level in range(3)]
    ['2', '1', '0']
    """

    measure: Utility = "leaves"
    importance: Mapping[str, Exact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measure not in UTILITIES:
            raise ParameterError(
                f"measure={self.measure!r} is unknown; known are {listed(UTILITIES)}"
            )
        by_column(self.importance, "importance")
        given = {
            name: fraction(value, f"importance of {name!r}", 0)
            for name, value in self.importance.items()
        }
        object.__setattr__(self, "importance", given)

    def sum(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The utility of records over these columns."""
        known(self.importance, hierarchies, "importance")
        if self.measure == "log":
            return self._logarithms(hierarchies)
        parts = []
        for name, hierarchy in hierarchies.items():
            covers = [hierarchy.cover(level).tolist() for level in range(hierarchy.height + 1)]
            whole, times = max(covers[-1]), Fraction(self.importance.get(name, 1))
            parts.append(
                [
                    [times * self._of(n, whole, hierarchy.height - at) for n in cover]
                    for at, cover in enumerate(covers)
                ]
            )
        return _whole(parts)

    def _of(self, leaves: int, whole: int, depth: int) -> Fraction:
        """What a value is worth that stands for some of a column's leaves."""
        return Fraction(depth) if self.measure == "depth" else Fraction(1, leaves)

    def _logarithms(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The utility by logarithms: whole multiples of those of primes, each rounded once.

        So sums that are equal, as ln 8 and 3 ln 2 are, stay equal, whatever the importance: a floor
        that is met exactly is met. Sums that differ keep their order unless they differ by less
        than the rounding, about one part in 2⁴⁰.
        """
        times = {name: Fraction(self.importance.get(name, 1)) for name in hierarchies}
        common = lcm(*(one.denominator for one in times.values()))
        wholes = {name: max(tree.cover(tree.height).tolist()) for name, tree in hierarchies.items()}
        most = sum(ceil(times[name] * common * log(wholes[name])) for name in hierarchies)
        fineness = min(FINEST_LOG, LARGEST_SUM // (most + 1))
        if fineness < FINEST >> 8:
            raise ParameterError(
                "`importance` has fractions without a small common denominator; give simpler ones"
            )

        @cache
        def units(number: int) -> int:
            """ln of a whole number, in units, and of a product the sum of both."""
            return sum(round(log(prime) * fineness) for prime in _primes(number))

        parts = []
        for name, tree in hierarchies.items():
            factor = int(times[name] * common)
            levels = [tree.cover(level).tolist() for level in range(tree.height + 1)]
            parts.append(
                [
                    np.array([factor * (units(wholes[name]) - units(n)) for n in cover], np.int64)
                    for cover in levels
                ]
            )
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
@dataclass(frozen=True)
class Risk:
    """How sensitive what is shown of a record is.

    "fixed" (model I): a column counts for its weight, unless it shows its root only. "uniform"
    (model II): every column counts for the same at every level, 1 in all, so that the risk is 1 by
    the crowd.
    "harmonic": a value counts for its weight, one of a higher level for the sum 1 / Σ 1/w over
    those below it, the root for 0.

    >>> from shoal.data.hierarchy import Hierarchy
    >>> town = Hierarchy.from_lines([["Bern", "south", "*"], ["Basel", "north", "*"], ["Biel", "north", "*"]])
    >>> risk = Risk("harmonic", {"town": {"Biel": 3}}).sum({"town": town})
    >>> [str(risk.of([code], [level])) for code, level in [(2, 0), (1, 1), (0, 1), (0, 2)]]
    ['3', '3/4', '1', '0']
    """

    model: Sensitivity = "fixed"
    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.model not in SENSITIVITIES:
            raise ParameterError(
                f"model={self.model!r} is unknown; known are {listed(SENSITIVITIES)}"
            )
        if self.model == "uniform" and self.weights:
            raise ParameterError(
                "the uniform model has no weights: every column counts for the same; use 'fixed' or 'harmonic'"
            )
        by_column(self.weights, "weights")
        checked: dict[str, Fraction | dict[str, Fraction]] = {}
        for name, given in self.weights.items():
            if isinstance(given, Mapping):
                if self.model != "harmonic":
                    raise ParameterError(
                        f"weights of column {name!r} are by value, which only the 'harmonic' model has; use that"
                    )
                checked[name] = {
                    str(value): self._weight(weight, f"{name}.{value}")
                    for value, weight in given.items()
                }
            else:
                checked[name] = self._weight(given, name)
        object.__setattr__(self, "weights", checked)

    def _weight(self, given: Exact, where: str) -> Fraction:
        return fraction(given, f"weight of {where!r}", 0, above=self.model == "harmonic")

    def sum(self, hierarchies: Mapping[str, Hierarchy]) -> Sum:
        """The sensitivity of records over these columns."""
        known(self.weights, hierarchies, "weights")
        parts = []
        for name, hierarchy in hierarchies.items():
            height, cards = (
                hierarchy.height,
                [hierarchy.cardinality(level) for level in range(hierarchy.height + 1)],
            )
            if self.model == "uniform":
                parts.append([[Fraction(1, len(hierarchies))] * card for card in cards])
                continue
            leaves = self._leaves(name, hierarchy)
            shown = [
                _harmonic(leaves, hierarchy, level)
                if self.model == "harmonic"
                else leaves[:1] * card
                for level, card in enumerate(cards)
            ]
            parts.append([*shown[:height], [Fraction(0)]])
        return _whole(parts, up=True)

    def _leaves(self, name: str, hierarchy: Hierarchy) -> list[Fraction]:
        """The weight of every leaf."""
        given = self.weights.get(name, 1)
        texts = hierarchy.labels[0]
        if not isinstance(given, Mapping):
            return [Fraction(given)] * len(texts)
        places = {value: _leaf(hierarchy, value) for value in given}
        absent = sum(place < 0 for place in places.values())
        if absent:
            raise ParameterError(
                f"weights of column {name!r} name {absent} values that are not in its hierarchy"
            )
        weights = [Fraction(1)] * len(texts)
        for value, place in places.items():
            weights[place] = Fraction(given[value])
        return weights


def by_column(given: object, option: str) -> None:
    """ParameterError unless an option says something for each of some columns."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"`{option}` are given by column, such as {{'age': 2}}, not as {type(given).__name__}"
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
            f"`{option}` names {listed(odd)}, which is no quasi-identifying column; leave it out, or give it that role"
        )


def _harmonic(leaves: Sequence[Fraction], hierarchy: Hierarchy, level: int) -> list[Fraction]:
    inverse = [Fraction(0)] * hierarchy.cardinality(level)
    for code, weight in zip(hierarchy.maps[level].tolist(), leaves, strict=True):
        inverse[code] += 1 / weight
    return [1 / number for number in inverse]


def _whole(parts: Sequence[Sequence[Sequence[Fraction]]], *, up: bool = False) -> Sum:
    """In whole units of a common denominator, or rounded."""
    unit = min(
        lcm(*{number.denominator for levels in parts for level in levels for number in level}),
        FINEST,
    )

    def units(number: Fraction) -> int:
        return ceil(number * unit) if up else int(number * unit)

    whole = [
        [np.array([units(number) for number in level], dtype=np.int64) for level in levels]
        for levels in parts
    ]
    return Sum(whole, Fraction(unit))
