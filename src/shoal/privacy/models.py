"""Models a table can be checked against, group by group. Uses `counts`, `hierarchy` and `exact`; methods and measures use it.

A model is a frozen dataclass of its parameters. Whether a group passes is decided in integers; where logarithms come in,
floats with a proven margin decide the clear cases, and the rest is decided exactly or counts as failed. The distribution
of the whole table is that of all records of the lattice's counts, whichever of them a release later suppresses.
Definitions, ranges and where other tools differ: docs/models.md.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed_fields
from shoal.counts import Counts
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, ParameterError, listed
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.lattice import Groups, Histogram

__all__ = [
    "MODELS",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "Model",
    "PSensitive",
    "RecursiveDiversity",
    "TCloseness",
    "bound",
    "holds_all",
    "parse_model",
]

Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[Any]
"""int64 where all values fit, else Python integers."""

_ROUNDING = 2.0**-48
"""Thirty-two times the rounding error of one operation: more than the few operations and logarithms here can add up to."""

_LARGEST_LOGARITHM = 1000
"""Above the logarithm of any quotient of two products of counts."""

_LARGEST_POWER = 1 << 22
"""Bits of the largest integer worth computing to decide one borderline group; beyond, the group fails."""


class Model(Protocol):
    """A property every group of a table must have."""

    name: ClassVar[str]
    """What recipes and certificates call it."""

    hereditary: ClassVar[bool]
    """Whether every sub-group of a failing group fails too, so that what fails at a node fails at all finer ones."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The carried columns it looks at."""
        ...

    @property
    def meaning(self) -> str:
        """What it says about a group, in one line."""
        ...

    def holds(self, groups: Groups) -> Bools:
        """Which groups pass."""
        ...

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float | int:
        """The strictest parameter that all groups (or the `kept` ones) meet; 0 where there is no group."""
        ...


def holds_all(models: Iterable[Model], groups: Groups) -> Bools:
    """Which groups pass all models."""
    passed = np.ones(len(groups.sizes), dtype=np.bool_)
    for model in models:
        passed &= model.holds(groups)
        if not passed.any():
            break
    return passed


# Models of group sizes


@typed_fields
@dataclass(frozen=True)
class KAnonymity:
    """Every group has at least k records."""

    k: int

    name: ClassVar[str] = "k-anonymity"
    hereditary: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k"))

    def __str__(self) -> str:
        return f"{self.k}-anonymity"

    @property
    def meaning(self) -> str:
        return f"every group has at least {self.k} records"

    def holds(self, groups: Groups) -> Bools:
        return groups.sizes >= self.k

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        return int(_least(groups.sizes, kept))


@typed_fields
@dataclass(frozen=True)
class DeltaPresence:
    """Of the people of a population who look like a group, a share between `lowest` and `highest` is in the table.

    `population` has the quasi-identifying columns coded by the same hierarchies (leaf codes), and contains the table.
    People of the population in a cell without any record have share 0: above a `lowest` of 0 no group of that node passes.
    """

    lowest: Exact
    highest: Exact
    population: Counts

    name: ClassVar[str] = "delta-presence"
    hereditary: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lowest", fraction(self.lowest, "lowest", 0, 1))
        object.__setattr__(self, "highest", fraction(self.highest, "highest", 0, 1))
        if Fraction(self.lowest) > Fraction(self.highest):
            raise ParameterError("lowest is above highest; swap the two shares of delta-presence")

    def __str__(self) -> str:
        return f"({printed(Fraction(self.lowest))}, {printed(Fraction(self.highest))})-presence"

    @property
    def meaning(self) -> str:
        return (
            f"of the people in the population who look like a group, a share from {printed(Fraction(self.lowest))} "
            f"to {printed(Fraction(self.highest))} is in the table"
        )

    def holds(self, groups: Groups) -> Bools:
        people, lonely = self._people(groups)
        lowest, highest = Fraction(self.lowest), Fraction(self.highest)
        enough = _compare(groups.sizes, lowest.denominator, people, lowest.numerator) >= 0
        few = _compare(groups.sizes, highest.denominator, people, highest.numerator) <= 0
        return enough & few & (lowest == 0 or not lonely)

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The highest share; see `achieved_lowest` for the other end."""
        return float(_most(groups.sizes / self._people(groups)[0], kept))

    def achieved_lowest(self, groups: Groups, kept: Bools | None = None) -> float:
        """The lowest share, 0 where people of the population are in a cell without any record."""
        people, lonely = self._people(groups)
        return 0.0 if lonely else float(_least(groups.sizes / people, kept))

    def _people(self, groups: Groups) -> tuple[Ints, bool]:
        """How many people of the population look like each group, and whether some look like none."""
        lattice, population = groups.lattice, self.population
        key = np.zeros(len(groups.sizes) + population.distinct, dtype=np.int64)
        cells = 1
        for j, (name, hierarchy, level) in enumerate(
            zip(lattice.names, lattice.hierarchies, groups.node, strict=True)
        ):
            if name not in population.names:
                raise ColumnError(
                    f"the population of {self} has no column {name!r}; count it over the same columns as the table"
                )
            column = population.names.index(name)
            if population.cards[column] != len(hierarchy.maps[0]):
                raise ColumnError(
                    f"the population of {self} codes column {name!r} by another hierarchy; use the table's"
                )
            cells *= hierarchy.cardinality(level)
            if cells >= 1 << 62:
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                cells = len(key) * hierarchy.cardinality(level)
            key = key * hierarchy.cardinality(level)
            key += np.concatenate(
                [groups.codes(j), hierarchy.maps[level][population.codes[column]]]
            )
        cells_used, cell = np.unique(key, return_inverse=True)
        ours, theirs = cell[: len(groups.sizes)], cell[len(groups.sizes) :]
        people = np.bincount(theirs, population.count, len(cells_used)).astype(np.int64)
        short = int((people[ours] < groups.sizes).sum())
        if short:
            raise InputError(
                f"{short:,} of {len(ours):,} groups have more records than the population of {self}; "
                "the population must contain the table"
            )
        return people[ours], int(people.sum()) > int(people[ours].sum())


# Models of a sensitive column


@dataclass(frozen=True)
class _OnColumn:
    column: str

    hereditary: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)


@typed_fields
@dataclass(frozen=True)
class DistinctDiversity(_OnColumn):
    """Every group has at least l different values."""

    l: int  # noqa: E741

    name: ClassVar[str] = "distinct-diversity"
    hereditary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole(self.l, "l"))

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity of {self.column}"

    @property
    def meaning(self) -> str:
        return f"every group has at least {self.l} different values of {self.column}"

    def holds(self, groups: Groups) -> Bools:
        return _distinct(groups.histogram(self.column)) >= self.l

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        return int(_least(_distinct(groups.histogram(self.column)), kept))


@typed_fields
@dataclass(frozen=True)
class PSensitive(_OnColumn):
    """Every group has at least p different values and at least k records: p-sensitive k-anonymity."""

    p: int
    k: int = 1

    name: ClassVar[str] = "p-sensitivity"
    hereditary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", whole(self.p, "p"))
        object.__setattr__(self, "k", whole(self.k, "k"))

    def __str__(self) -> str:
        return f"{self.p}-sensitive {self.k}-anonymity of {self.column}"

    @property
    def meaning(self) -> str:
        return f"every group has at least {self.k} records and {self.p} different values of {self.column}"

    def holds(self, groups: Groups) -> Bools:
        return (groups.sizes >= self.k) & (_distinct(groups.histogram(self.column)) >= self.p)

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        """The p; the k is what `KAnonymity` achieves."""
        return int(_least(_distinct(groups.histogram(self.column)), kept))


@typed_fields
@dataclass(frozen=True)
class EntropyDiversity(_OnColumn):
    """The entropy of the values in every group is at least log l, as if l values were equally frequent."""

    l: Exact  # noqa: E741

    name: ClassVar[str] = "entropy-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", fraction(self.l, "l", 1))

    def __str__(self) -> str:
        return f"entropy {printed(Fraction(self.l))}-diversity of {self.column}"

    @property
    def meaning(self) -> str:
        return f"guessing {self.column} in a group is as hard as among {printed(Fraction(self.l))} equally frequent values"

    def holds(self, groups: Groups) -> Bools:
        """Entropy ≥ log l is Σ nᵢ ln nᵢ + n ln l ≤ n ln n, or Π nᵢ^nᵢ · lⁿ ≤ nⁿ in integers."""
        found, sizes, l = groups.histogram(self.column), groups.sizes, Fraction(self.l)  # noqa: E741
        distinct, even = _distinct(found), _even(found)
        logs = math.log(l.numerator), math.log(l.denominator)
        most = sizes * np.log(sizes)
        gap = most - _self_information(found) - sizes * (logs[0] - logs[1])
        margin = _ROUNDING * (distinct + 1) * (most + sizes * sum(logs))
        passed = gap > margin
        passed[even] = (
            _compare(distinct[even], l.denominator, np.ones_like(distinct[even]), l.numerator) >= 0
        )
        starts = np.append(_starts(found), len(found.group))
        for group in np.flatnonzero(~even & (np.abs(gap) <= margin)):
            counts = np.sort(found.count[starts[group] : starts[group + 1]])
            passed[group] = _diverse(tuple(counts.tolist()), l)
        return passed

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        found, sizes = groups.histogram(self.column), groups.sizes
        entropy = np.log(sizes) - _self_information(found) / sizes
        return float(_least(np.where(_even(found), _distinct(found), np.exp(entropy)), kept))


@typed_fields
@dataclass(frozen=True)
class RecursiveDiversity(_OnColumn):
    """The most frequent value of every group is rarer than c times all but the l − 1 most frequent ones together."""

    c: Exact
    l: int  # noqa: E741

    name: ClassVar[str] = "recursive-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", fraction(self.c, "c", 0, above=True))
        object.__setattr__(self, "l", whole(self.l, "l"))

    def __str__(self) -> str:
        return f"recursive ({printed(Fraction(self.c))}, {self.l})-diversity of {self.column}"

    @property
    def meaning(self) -> str:
        return (
            f"in every group the most frequent value of {self.column} is rarer than {printed(Fraction(self.c))} times "
            f"what is left after the {self.l - 1} most frequent ones"
        )

    def holds(self, groups: Groups) -> Bools:
        c = Fraction(self.c)
        first, rest = self._frequencies(groups)
        return _compare(first, c.denominator, rest, c.numerator) < 0

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        """The largest l for this c; 0 where not even l = 1 holds. See `achieved_c` for the c of this l."""
        found, c = groups.histogram(self.column), Fraction(self.c)
        starts, count = _starts(found), _descending(found)
        before = np.cumsum(count) - count
        left = groups.sizes[found.group] - (
            before - before[starts[found.group]]
        )  # r_l + … + r_m for l = 1, 2, …
        enough = _compare(count[starts][found.group], c.denominator, left, c.numerator) < 0
        return int(_least(np.bincount(found.group[enough], minlength=found.groups), kept))

    def achieved_c(self, groups: Groups, kept: Bools | None = None) -> float:
        """The table is (c, l)-diverse for this l and every c above the answer; infinite where a group has fewer values."""
        first, rest = self._frequencies(groups)
        ratios = np.divide(first, rest, out=np.full(len(first), np.inf), where=rest > 0)
        return float(_most(ratios, kept))

    def _frequencies(self, groups: Groups) -> tuple[Ints, Ints]:
        """Every group's r₁ and r_l + … + r_m."""
        found = groups.histogram(self.column)
        starts, count = _starts(found), _descending(found)
        rank = np.arange(len(count)) - np.repeat(starts, _distinct(found))
        return count[starts], _sums(np.where(rank >= self.l - 1, count, 0), starts)


Distance = Literal["equal", "ordered", "hierarchical"]


@typed_fields
@dataclass(frozen=True)
class TCloseness(_OnColumn):
    """The values of every group are distributed as in the whole table, but for an earth mover's distance of at most t.

    Two values are at distance 1 ("equal"), as far apart as in the order of the values that occur ("ordered"), or as high as
    their common ancestor in a hierarchy ("hierarchical"). A column that is coded as leaves of a hierarchy needs it for both.
    """

    t: Exact
    distance: Distance = "equal"
    hierarchy: Hierarchy | None = None

    name: ClassVar[str] = "t-closeness"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", fraction(self.t, "t", 0, 1))
        if self.distance not in get_args(Distance):
            raise ParameterError(
                f"distance={self.distance!r}; it takes {listed(get_args(Distance))}"
            )

    def __str__(self) -> str:
        which = "" if self.distance == "equal" else f" ({self.distance})"
        return f"{printed(Fraction(self.t))}-closeness{which} of {self.column}"

    @property
    def meaning(self) -> str:
        return (
            f"in every group {self.column} is distributed as in the whole table, but for {self.distance} distance "
            f"{printed(Fraction(self.t))}"
        )

    def holds(self, groups: Groups) -> Bools:
        moved, scale = self._moved(groups)
        t = Fraction(self.t)
        return _compare(moved, t.denominator, groups.sizes, t.numerator * scale) <= 0

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        moved, scale = self._moved(groups)
        if kept is not None:
            moved = np.where(kept, moved, 0)
        if not len(moved):
            return 0.0
        worst = int(np.argmax((moved / groups.sizes).astype(np.float64)))
        return int(moved[worst]) / (int(groups.sizes[worst]) * scale)

    def _moved(self, groups: Groups) -> tuple[Integers, int]:
        """The distance of every group as an integer, to be divided by the group's size and by the second result."""
        found = groups.histogram(self.column)
        total = found.total()
        records = int(total.sum())
        if self.hierarchy is None:
            if self.distance == "hierarchical":
                raise ParameterError(
                    f"{self} needs a hierarchy of column {self.column!r}; give it one"
                )
        elif len(self.hierarchy.maps[0]) != found.values:
            raise ParameterError(
                f"column {self.column!r} is not coded as leaves of the hierarchy of {self}"
            )
        if self.distance == "equal":
            return _surplus(found, groups.sizes, total), max(records, 1)
        if self.distance == "ordered":
            found = _ordered(found, self._places(total))
            return _carried(found, groups.sizes, found.total()), max(records, 1) * max(
                found.values - 1, 1
            )
        # All leaves are equally deep, so moving from leaf to leaf over their ancestor at height h costs one H-th
        # for each of h levels: the distance is the mean over the levels of the equal distance at that level.
        assert self.hierarchy is not None
        moved: Integers = np.zeros(
            found.groups, dtype=_fitting(groups.sizes, records * len(self.hierarchy.maps))
        )
        for codes, labels in zip(self.hierarchy.maps[:-1], self.hierarchy.labels[:-1], strict=True):
            rolled = _rolled(found, codes.astype(np.int64), len(labels))
            moved = moved + _surplus(rolled, groups.sizes, rolled.total())
        return moved, max(records, 1) * max(self.hierarchy.height, 1)

    def _places(self, total: Ints) -> Ints:
        """Every value's place in the order of those that occur."""
        order = np.arange(len(total))
        if (
            self.hierarchy is not None
            and self.hierarchy.kind is not Kind.TEXT
            and not self.hierarchy.cuts
        ):
            keys = [self.hierarchy.kind.key(label) for label in self.hierarchy.labels[0]]
            order = np.array(
                sorted(order.tolist(), key=lambda code: (keys[code] is None, keys[code])),
                dtype=np.int64,
            )
        places = np.zeros(len(total), dtype=np.int64)
        places[order] = np.cumsum(total[order] > 0) - 1
        return places


@typed_fields
@dataclass(frozen=True)
class BetaLikeness(_OnColumn):
    """No value is more frequent in a group than in the whole table by more than β times.

    With shares q in the group and p in the table: (q − p) / p ≤ β for all values with q > p; enhanced: ≤ min(β, −ln p).
    """

    beta: Exact
    enhanced: bool = False

    name: ClassVar[str] = "beta-likeness"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", fraction(self.beta, "beta", 0, above=True))

    def __str__(self) -> str:
        return (
            f"{'enhanced ' * self.enhanced}{printed(Fraction(self.beta))}-likeness of {self.column}"
        )

    @property
    def meaning(self) -> str:
        more = (
            " and, for frequent values, by no more than −ln of their share" if self.enhanced else ""
        )
        return (
            f"no value of {self.column} is more frequent in a group than in the whole table by more than "
            f"{printed(Fraction(self.beta))} times its share{more}"
        )

    def holds(self, groups: Groups) -> Bools:
        found, beta = groups.histogram(self.column), Fraction(self.beta)
        gained, expected, modest = self._gains(found, groups.sizes)
        good = modest & (_compare(gained, beta.denominator, expected, beta.numerator) <= 0)
        return _all(good, _starts(found))

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The smallest β that holds; infinite where `enhanced` fails for every β."""
        found = groups.histogram(self.column)
        gained, expected, modest = self._gains(found, groups.sizes)
        gains = np.where(modest, (np.maximum(gained, 0) / expected).astype(np.float64), np.inf)
        return float(_most(_highest(gains, _starts(found)), kept))

    def _gains(self, found: Histogram, sizes: Ints) -> tuple[Integers, Integers, Bools]:
        """For every entry of the histogram (q − p)·nN and p·nN in integers, and whether it is within −ln p where asked."""
        total = found.total()
        records = int(total.sum())
        kind = _fitting(sizes, 2 * records)
        expected = sizes.astype(kind)[found.group] * total[found.value]
        gained = found.count.astype(kind) * records - expected
        if not self.enhanced:
            return gained, expected, np.ones(len(found.group), dtype=np.bool_)
        # −ln p = ln(1 + (N − T) / T) keeps its relative precision where p is close to 1. With q > p the left side is a
        # rational above 0, the right side is irrational: they are never equal, and the margin only errs towards failing.
        limits = np.log1p((records - total) / np.maximum(total, 1))[found.value] * (1 - _ROUNDING)
        return gained, expected, (gained <= 0) | ((gained / expected).astype(np.float64) <= limits)


@typed_fields
@dataclass(frozen=True)
class DeltaDisclosure(_OnColumn):
    """Every value of a group is as frequent there as in the whole table, but for a factor below e^δ: |ln(q / p)| < δ.

    A value that a group does not have at all is passed over, as other tools do; with `every_value` it fails the group,
    as in the paper, whose definition asks for all values of the table in every group.
    """

    delta: Exact
    every_value: bool = False

    name: ClassVar[str] = "delta-disclosure"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", fraction(self.delta, "delta", 0, above=True))

    def __str__(self) -> str:
        return f"{'strict ' * self.every_value}{printed(Fraction(self.delta))}-disclosure of {self.column}"

    @property
    def meaning(self) -> str:
        which = "every value" if self.every_value else "every value that a group has"
        return (
            f"{which} of {self.column} has the same share in the group as in the whole table, but for a factor "
            f"below e^{printed(Fraction(self.delta))}"
        )

    def holds(self, groups: Groups) -> Bools:
        # e^δ is irrational for a rational δ above 0: no share meets the bound exactly, the margin only errs towards failing.
        information = self._information(groups)
        limit = float(min(Fraction(self.delta), Fraction(_LARGEST_LOGARITHM)))
        return information + _ROUNDING * (1 + information) < limit

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The largest |ln(q / p)|: the table holds for every δ above it; infinite where an absent value counts."""
        return float(_most(self._information(groups), kept))

    def _information(self, groups: Groups) -> Floats:
        """The largest |ln(q / p)| of every group."""
        found = groups.histogram(self.column)
        total = found.total()
        ratio = (found.count * float(total.sum())) / (
            groups.sizes[found.group] * total[found.value].astype(np.float64)
        )
        information = _highest(np.abs(np.log(ratio)), _starts(found))
        if self.every_value:
            information[_distinct(found) < np.count_nonzero(total)] = np.inf
        return information


# Making models


MODELS: dict[str, type[Any]] = {
    model.name: model
    for model in (
        KAnonymity,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        PSensitive,
        DeltaPresence,
        BetaLikeness,
        DeltaDisclosure,
    )
}
"""Every model by the name that recipes use."""

_NUMBER = r"[\d./eE+-]+"
_SHORT = {
    "k-anonymity": r"(?P<k>\d+)-anonymity",
    "distinct-diversity": r"(distinct )?(?P<l>\d+)-diversity of (?P<column>.+)",
    "entropy-diversity": rf"entropy (?P<l>{_NUMBER})-diversity of (?P<column>.+)",
    "recursive-diversity": rf"recursive \((?P<c>{_NUMBER}), ?(?P<l>\d+)\)-diversity of (?P<column>.+)",
    "t-closeness": rf"(?P<t>{_NUMBER})-closeness( \((?P<distance>\w+)\))? of (?P<column>.+)",
    "p-sensitivity": r"(?P<p>\d+)-sensitive (?P<k>\d+)-anonymity of (?P<column>.+)",
    "beta-likeness": rf"(?P<enhanced>enhanced )?(?P<beta>{_NUMBER})-likeness of (?P<column>.+)",
    "delta-disclosure": rf"(?P<every_value>strict )?(?P<delta>{_NUMBER})-disclosure of (?P<column>.+)",
}
"""The short names models print as."""


def parse_model(text: str) -> Model:
    """The model with a short name: what `str` of it gives.

    >>> parse_model("5-anonymity")
    KAnonymity(k=5)
    >>> print(parse_model("0.2-closeness of diagnosis"))
    0.2-closeness of diagnosis
    """
    for name, pattern in _SHORT.items():
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match:
            given: dict[str, Any] = {
                key: found for key, found in match.groupdict().items() if found is not None
            }
            for key, found in given.items():
                if key in ("k", "l", "p") and found.isdigit():
                    given[key] = int(found)
                elif key in ("enhanced", "every_value"):
                    given[key] = True
            model: Model = MODELS[name](**given)
            return model
    raise ParameterError(
        f"model {text!r} is not understood; write it as '5-anonymity' or '3-diversity of COLUMN', say"
    )


def bound(model: Model, table: Table) -> Model:
    """The model with what it needs of the table: t-closeness takes the hierarchy of its column, if there is one."""
    if (
        isinstance(model, TCloseness)
        and model.hierarchy is None
        and model.column in table.hierarchies
    ):
        return replace(model, hierarchy=table.hierarchy(model.column))
    return model


# Exact arithmetic on the entries of a histogram, which are in the order of their groups


def _fitting(values: Integers, factor: int) -> type[np.int64] | type[object]:
    """int64 if all values times the factor fit, else Python's integers."""
    return np.int64 if int(np.abs(values).max(initial=1)) * factor < 1 << 63 else object


def _compare(left: Integers, by: int, right: Integers, times: int) -> Ints:
    """The sign of left · by − right · times, exactly."""
    kind = (
        np.int64
        if _fitting(left, by) is np.int64 and _fitting(right, times) is np.int64
        else object
    )
    one, other = left.astype(kind) * by, right.astype(kind) * times
    return (one > other).astype(np.int64) - (one < other).astype(np.int64)


def _starts(found: Histogram) -> Ints:
    """The first entry of every group; every group has one, for it has records."""
    return np.flatnonzero(np.diff(found.group, prepend=-1))


def _sums(values: Integers, starts: Ints) -> Integers:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def _highest(values: Floats, starts: Ints) -> Floats:
    return np.maximum.reduceat(values, starts) if len(starts) else values[:0]


def _all(values: Bools, starts: Ints) -> Bools:
    return np.logical_and.reduceat(values, starts) if len(starts) else values[:0]


def _least(values: npt.NDArray[Any], kept: Bools | None) -> Any:
    values = values if kept is None else values[kept]
    return values.min() if len(values) else 0


def _most(values: npt.NDArray[Any], kept: Bools | None) -> Any:
    values = values if kept is None else values[kept]
    return values.max() if len(values) else 0


def _distinct(found: Histogram) -> Ints:
    """How many values each group has."""
    return np.bincount(found.group, minlength=found.groups)


def _even(found: Histogram) -> Bools:
    """Which groups have all their values equally often."""
    starts = _starts(found)
    return _all(found.count == found.count[starts[found.group]], starts)


def _self_information(found: Histogram) -> Floats:
    """Σ nᵢ ln nᵢ of every group."""
    return np.bincount(found.group, found.count * np.log(found.count), found.groups).astype(
        np.float64
    )


@lru_cache(maxsize=1 << 12)
def _diverse(counts: tuple[int, ...], l: Fraction) -> bool:  # noqa: E741
    """Whether the entropy of these counts is at least log l, exactly; False where the integers would grow too large."""
    shared = math.gcd(*counts)  # dividing all counts leaves the entropy as it is
    counts = tuple(count // shared for count in counts)
    size = sum(counts)
    if size * (size.bit_length() + l.numerator.bit_length()) > _LARGEST_POWER:
        return False
    left: int = math.prod(count**count for count in counts) * l.numerator**size
    right: int = (size * l.denominator) ** size
    return left <= right


def _descending(found: Histogram) -> Ints:
    """The counts of every group, the largest first."""
    return found.count[np.lexsort((-found.count, found.group))]


def _surplus(found: Histogram, sizes: Ints, total: Ints) -> Integers:
    """Σ max(0, qᵢ − pᵢ) = ½ Σ |qᵢ − pᵢ| of every group, times its size and the records of the table."""
    records = int(total.sum())
    kind = _fitting(sizes, 2 * records)
    surplus = (
        found.count.astype(kind) * records - sizes.astype(kind)[found.group] * total[found.value]
    )
    return _sums(np.maximum(surplus, 0), _starts(found))


def _carried(found: Histogram, sizes: Ints, total: Ints) -> Integers:
    """Σᵢ |Σ_{j≤i} qⱼ − pⱼ| of every group, times its size and the records of the table.

    Between two neighbouring values of a group the sum of its shares stays the same while that of the table grows, so
    the differences of such a stretch change their sign at most once: it is found by bisection and both parts are
    summed from running totals. The work grows with the entries, not with groups × values.
    """
    starts = _starts(found)
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    records = int(total.sum())
    kind = _fitting(sizes, 4 * records * (found.values + 1))
    below = np.cumsum(total)  # records of the table up to each value
    area = np.concatenate(([0], np.cumsum(below.astype(kind))))  # area[i]: the sum of below[:i]
    size = sizes.astype(kind)[found.group]
    running = np.cumsum(found.count)
    running = (
        running - (running[starts] - found.count[starts])[found.group]
    )  # records of the group up to each of its values
    start, stop = found.value, np.append(found.value[1:], found.values)
    stop[starts[1:] - 1] = found.values
    level = running.astype(kind) * records
    turn = np.clip(
        np.searchsorted(below, (level // size).astype(np.int64), side="right"), start, stop
    )
    ahead = level * (turn - start) - size * (area[turn] - area[start])
    behind = size * (area[stop] - area[turn]) - level * (stop - turn)
    carried: Integers = _sums(ahead + behind, starts) + sizes.astype(kind) * area[start[starts]]
    return carried


def _rolled(found: Histogram, codes: Ints, values: int) -> Histogram:
    """The histogram after every value became its code."""
    key = found.group * values + codes[found.value]
    order = np.argsort(
        key, kind="stable"
    )  # in tree order already, as a rule, and then this costs one pass
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return Histogram(
        key[first] // values,
        key[first] % values,
        _sums(found.count[order], first),
        found.groups,
        values,
    )


def _ordered(found: Histogram, places: Ints) -> Histogram:
    """The histogram over the places of the values that occur."""
    return _rolled(found, places, int(places.max(initial=0)) + 1)
