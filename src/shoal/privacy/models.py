"""Models a table can be checked against, group by group. Methods and measures use it.

A model is a frozen dataclass of its parameters. Whether a group passes is decided in integers.
Where logarithms come in, floats with a proven margin decide the clear cases, and the rest is
decided exactly or counts as failed. The distribution of the whole table is that of all records of
the lattice's counts, whichever of them a release later suppresses. Definitions, ranges and where
other tools differ: docs/reference/models.md.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np

from shoal.arguments import keep, typed_fields
from shoal.counts import Counts, ranks
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, ParameterError, listed
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.lattice import Groups, Histogram
from shoal.privacy.histograms import (
    Bools,
    Floats,
    Integers,
    Ints,
    all_of,
    carried,
    compare,
    descending,
    distinct,
    diverse,
    even,
    fitting,
    highest,
    least,
    most,
    ordered,
    rolled,
    self_information,
    starts_of,
    sums,
    surplus,
)

__all__ = [
    "MODELS",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "Distance",
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

_ROUNDING = 2.0**-48
"""Thirty-two times the rounding error of one operation: more than the few operations and logarithms
here can add up to.
"""

_LARGEST_LOGARITHM = 1000
"""Above the logarithm of any quotient of two products of counts."""


class Model(Protocol):
    """A property every group of a table must have."""

    name: ClassVar[str]
    """What recipes and certificates call it."""

    hereditary: ClassVar[bool]
    """Whether every sub-group of a failing group fails too, so that what fails at a node fails at
    all finer ones.
    """

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
        """The strictest parameter that all groups (or the `kept` ones) meet.

        0 where there is no group.
        """
        ...


def holds_all(models: Iterable[Model], groups: Groups) -> Bools:
    """Which groups pass all models."""
    passed = np.ones(len(groups.sizes), dtype=np.bool_)
    for model in models:
        held = np.asarray(model.holds(groups))
        # One answer for all would be spread over every group, whatever the others are.
        if held.shape != passed.shape or held.dtype != np.bool_:
            raise ParameterError(
                f"`holds` of {type(model).__name__} does not give one answer, true or false, "
                "for each group",
                "return an array of booleans as long as groups.sizes",
            )
        passed &= held
        if not passed.any():
            break
    return passed


# Models of group sizes


@typed_fields
@dataclass(frozen=True)
class KAnonymity:
    """Every group has at least k records.

    k: how many records a group has, at least
    """

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
        return int(least(groups.sizes, kept))


@typed_fields
@dataclass(frozen=True, init=False)
class DeltaPresence:
    """The share of a population's people who are in the table is bounded in every group.

    Of those who look like a group, it lies between `lowest` and `highest`.

    People of the population in a cell without any record have share 0: above a `lowest` of 0 no
    group of that node passes.

    lowest, highest: the smallest and the largest share of people who are in the table
    population: a table that contains this one, with its quasi-identifying columns coded by the same
        hierarchies
    """

    lowest: Fraction
    highest: Fraction
    population: Counts

    name: ClassVar[str] = "delta-presence"
    hereditary: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, lowest: Exact, highest: Exact, population: Counts) -> None:
        keep(
            self,
            lowest=fraction(lowest, "lowest", 0, 1),
            highest=fraction(highest, "highest", 0, 1),
            population=population,
        )
        if self.lowest > self.highest:
            raise ParameterError("lowest is above highest", "swap the two shares of delta-presence")

    def __str__(self) -> str:
        return f"({printed(self.lowest)}, {printed(self.highest)})-presence"

    @property
    def meaning(self) -> str:
        return (
            "of the people in the population who look like a group, a share from "
            f"{printed(self.lowest)} to {printed(self.highest)} is in the table"
        )

    def holds(self, groups: Groups) -> Bools:
        people, lonely = self._people(groups)
        lowest, highest = self.lowest, self.highest
        enough = compare(groups.sizes, lowest.denominator, people, lowest.numerator) >= 0
        few = compare(groups.sizes, highest.denominator, people, highest.numerator) <= 0
        return enough & few & (lowest == 0 or not lonely)

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The highest share; see `achieved_lowest` for the other end."""
        people, _ = self._people(groups)
        return float(most(groups.sizes / people, kept))

    def achieved_lowest(self, groups: Groups, kept: Bools | None = None) -> float:
        """The lowest share, 0 where people of the population are in a cell without any record."""
        people, lonely = self._people(groups)
        return 0.0 if lonely else float(least(groups.sizes / people, kept))

    def _people(self, groups: Groups) -> tuple[Ints, bool]:
        """How many people of the population look like each group.

        The second result says whether some of them look like no group.
        """
        lattice, population = groups.lattice, self.population
        columns, cards = [], []
        for j, hierarchy in enumerate(lattice.hierarchies):
            level = groups.node[j]
            codes = hierarchy.maps[level][self._codes(lattice.names[j], hierarchy)]
            columns.append(np.concatenate([groups.codes(j), codes]))
            cards.append(hierarchy.cardinality(level))
        cell = np.zeros(len(groups.sizes) + population.distinct, dtype=np.intp)
        if columns:
            cell = ranks(columns, cards)
        ours, theirs = cell[: len(groups.sizes)], cell[len(groups.sizes) :]
        cells = int(cell.max(initial=-1)) + 1
        people = np.bincount(theirs, population.count, cells).astype(np.int64)
        short = int((people[ours] < groups.sizes).sum())
        if short:
            raise InputError(
                f"{short:,} of {len(ours):,} groups have more records than "
                f"the population of {self}",
                "the population must contain the table",
            )
        return people[ours], int(people.sum()) > int(people[ours].sum())

    def _codes(self, name: str, hierarchy: Hierarchy) -> Any:
        """The leaf codes of the population in a column of the table."""
        population = self.population
        if name not in population.names:
            raise ColumnError(
                f"the population of {self} has no column {name!r}",
                "count it over the same columns as the table",
            )
        column = population.names.index(name)
        if population.cards[column] != len(hierarchy.maps[0]):
            raise ColumnError(
                f"the population of {self} codes column {name!r} by another hierarchy",
                "use the table's",
            )
        return population.codes[column]


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
    """Every group has at least l different values.

    column: the sensitive column
    l: how many different values a group has, at least
    """

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
        return distinct(groups.histogram(self.column)) >= self.l

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        return int(least(distinct(groups.histogram(self.column)), kept))


@typed_fields
@dataclass(frozen=True)
class PSensitive(_OnColumn):
    """p-sensitive k-anonymity: every group has at least p different values and k records.

    column: the sensitive column
    p: how many different values a group has, at least
    k: how many records a group has, at least
    """

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
        return (
            f"every group has at least {self.k} records "
            f"and {self.p} different values of {self.column}"
        )

    def holds(self, groups: Groups) -> Bools:
        return (groups.sizes >= self.k) & (distinct(groups.histogram(self.column)) >= self.p)

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        """The p; the k is what `KAnonymity` achieves."""
        return int(least(distinct(groups.histogram(self.column)), kept))


@typed_fields
@dataclass(frozen=True, init=False)
class EntropyDiversity(_OnColumn):
    """The entropy of the values in every group is at least log l.

    That is the entropy of l equally frequent values.

    column: the sensitive column
    l: as many equally frequent values have that entropy
    """

    l: Fraction  # noqa: E741

    name: ClassVar[str] = "entropy-diversity"

    def __init__(self, column: str, l: Exact) -> None:  # noqa: E741
        keep(self, column=column, l=fraction(l, "l", 1))

    def __str__(self) -> str:
        return f"entropy {printed(self.l)}-diversity of {self.column}"

    @property
    def meaning(self) -> str:
        return (
            f"guessing {self.column} in a group is as hard as among {printed(self.l)} "
            "equally frequent values"
        )

    def holds(self, groups: Groups) -> Bools:
        """Entropy ≥ log l is Σ nᵢ ln nᵢ + n ln l ≤ n ln n, or Π nᵢ^nᵢ · lⁿ ≤ nⁿ in integers."""
        histogram, sizes = groups.histogram(self.column), groups.sizes
        values, alike = distinct(histogram), even(histogram)
        over, under = math.log(self.l.numerator), math.log(self.l.denominator)
        largest = sizes * np.log(sizes)
        gap = largest - self_information(histogram) - sizes * (over - under)
        margin = _ROUNDING * (values + 1) * (largest + sizes * (over + under))
        passed = gap > margin
        # Of equally frequent values, there are as many as the entropy says.
        ones = np.ones_like(values[alike])
        passed[alike] = compare(values[alike], self.l.denominator, ones, self.l.numerator) >= 0
        starts = np.append(starts_of(histogram), len(histogram.group))
        for group in np.flatnonzero(~alike & (np.abs(gap) <= margin)):
            counts = np.sort(histogram.count[starts[group] : starts[group + 1]])
            passed[group] = diverse(tuple(counts.tolist()), self.l)
        return passed

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        histogram, sizes = groups.histogram(self.column), groups.sizes
        entropy = np.log(sizes) - self_information(histogram) / sizes
        achieved = np.where(even(histogram), distinct(histogram), np.exp(entropy))
        return float(least(achieved, kept))


@typed_fields
@dataclass(frozen=True, init=False)
class RecursiveDiversity(_OnColumn):
    """No value dominates a group, even where some values are ruled out.

    In every group the most frequent value is rarer than c times all but the l − 1 most frequent
    ones together.

    column: the sensitive column
    c: the most frequent value is rarer than c times the rarer ones together
    l: the rarer values are all but the l − 1 most frequent ones
    """

    c: Fraction
    l: int  # noqa: E741

    name: ClassVar[str] = "recursive-diversity"

    def __init__(self, column: str, c: Exact, l: int) -> None:  # noqa: E741
        keep(self, column=column, c=fraction(c, "c", 0, above=True), l=whole(l, "l"))

    def __str__(self) -> str:
        return f"recursive ({printed(self.c)}, {self.l})-diversity of {self.column}"

    @property
    def meaning(self) -> str:
        return (
            f"in every group the most frequent value of {self.column} is rarer than "
            f"{printed(self.c)} times what is left after the {self.l - 1} most frequent ones"
        )

    def holds(self, groups: Groups) -> Bools:
        first, rest = self._frequencies(groups)
        return compare(first, self.c.denominator, rest, self.c.numerator) < 0

    def achieved(self, groups: Groups, kept: Bools | None = None) -> int:
        """The largest l for this c; 0 where not even l = 1 holds.

        See `achieved_c` for the c of this l.
        """
        histogram = groups.histogram(self.column)
        starts, count = starts_of(histogram), descending(histogram)
        before = np.cumsum(count) - count
        before -= before[starts[histogram.group]]
        # r_l + … + r_m for l = 1, 2, …
        left = groups.sizes[histogram.group] - before
        first = count[starts][histogram.group]
        enough = compare(first, self.c.denominator, left, self.c.numerator) < 0
        return int(least(np.bincount(histogram.group[enough], minlength=histogram.groups), kept))

    def achieved_c(self, groups: Groups, kept: Bools | None = None) -> float:
        """The c above which the table is (c, l)-diverse for this l.

        Infinite where a group has fewer values.
        """
        first, rest = self._frequencies(groups)
        ratios = np.divide(first, rest, out=np.full(len(first), np.inf), where=rest > 0)
        return float(most(ratios, kept))

    def _frequencies(self, groups: Groups) -> tuple[Ints, Ints]:
        """Every group's r₁ and r_l + … + r_m."""
        histogram = groups.histogram(self.column)
        starts, count = starts_of(histogram), descending(histogram)
        rank = np.arange(len(count)) - np.repeat(starts, distinct(histogram))
        return count[starts], sums(np.where(rank >= self.l - 1, count, 0), starts)


Distance = Literal["equal", "ordered", "hierarchical"]


@typed_fields
@dataclass(frozen=True, init=False)
class TCloseness(_OnColumn):
    """The values of every group are distributed nearly as in the whole table.

    The earth mover's distance between the two distributions is at most t.

    A column that is coded as leaves of a hierarchy needs it for all distances but "equal".

    column: the sensitive column
    t: how far the values of a group may be from those of the whole table, from 0 to 1
    distance: two values are at distance 1 ("equal"), as far apart as in the order of the values
        that occur ("ordered"), or as high as their common ancestor in the column's hierarchy
        ("hierarchical")
    """

    t: Fraction
    distance: Distance
    hierarchy: Hierarchy | None

    name: ClassVar[str] = "t-closeness"

    def __init__(
        self,
        column: str,
        t: Exact,
        distance: Distance = "equal",
        hierarchy: Hierarchy | None = None,
    ) -> None:
        keep(
            self,
            column=column,
            t=fraction(t, "t", 0, 1),
            distance=distance,
            hierarchy=hierarchy,
        )
        if distance not in get_args(Distance):
            raise ParameterError(
                "is unknown",
                f"it takes {listed(get_args(Distance))}",
                option="distance",
                given=repr(distance),
            )

    def __str__(self) -> str:
        which = "" if self.distance == "equal" else f" ({self.distance})"
        return f"{printed(self.t)}-closeness{which} of {self.column}"

    @property
    def meaning(self) -> str:
        return (
            f"in every group {self.column} is distributed as in the whole table, "
            f"but for {self.distance} distance {printed(self.t)}"
        )

    def holds(self, groups: Groups) -> Bools:
        moved, scale = self._moved(groups)
        return compare(moved, self.t.denominator, groups.sizes, self.t.numerator * scale) <= 0

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        moved, scale = self._moved(groups)
        if kept is not None:
            moved = np.where(kept, moved, 0)
        if not len(moved):
            return 0.0
        worst = int(np.argmax((moved / groups.sizes).astype(np.float64)))
        return int(moved[worst]) / (int(groups.sizes[worst]) * scale)

    def _moved(self, groups: Groups) -> tuple[Integers, int]:
        """The distance of every group as an integer, and a scale.

        Dividing by the group's size and by the scale gives the distance.
        """
        histogram, sizes, tree = groups.histogram(self.column), groups.sizes, self.hierarchy
        if tree is not None and len(tree.maps[0]) != histogram.values:
            raise ParameterError(
                f"column {self.column!r} is not coded as leaves of the hierarchy of {self}"
            )
        total = histogram.total()
        records = max(int(total.sum()), 1)
        if self.distance == "equal":
            return surplus(histogram, sizes, total), records
        if self.distance == "ordered":
            histogram = ordered(histogram, self._places(total))
            steps = max(histogram.values - 1, 1)
            return carried(histogram, sizes, histogram.total()), records * steps
        if tree is None:
            raise ParameterError(
                f"{self} needs a hierarchy of column {self.column!r}", "give it one"
            )
        return _over_levels(histogram, sizes, tree), records * max(tree.height, 1)

    def _places(self, total: Ints) -> Ints:
        """Every value's place in the order of those that occur."""
        order = np.arange(len(total))
        tree = self.hierarchy
        if tree is not None and tree.kind is not Kind.TEXT and not tree.cuts:
            # Leaves are in the tree's order, which need not be that of their numbers; missing comes
            # last.
            keys = [tree.kind.key(label) for label in tree.labels[0]]
            by_key = sorted(order.tolist(), key=lambda code: (keys[code] is None, keys[code]))
            order = np.array(by_key, dtype=np.int64)
        places = np.zeros(len(total), dtype=np.int64)
        places[order] = np.cumsum(total[order] > 0) - 1
        return places


def _over_levels(histogram: Histogram, sizes: Ints, tree: Hierarchy) -> Integers:
    """The sum of the equal distances at all levels of a tree, times size and records.

    All leaves are equally deep, so moving from leaf to leaf over their ancestor at height h costs
    one H-th for each of h
    levels: the hierarchical distance is the mean over the levels of the equal distance at that
    level.
    """
    records = int(histogram.total().sum())
    moved: Integers = np.zeros(histogram.groups, dtype=fitting(sizes, records * len(tree.maps)))
    for codes, labels in zip(tree.maps[:-1], tree.labels[:-1], strict=True):
        level = rolled(histogram, codes.astype(np.int64), len(labels))
        moved = moved + surplus(level, sizes, level.total())
    return moved


@typed_fields
@dataclass(frozen=True, init=False)
class BetaLikeness(_OnColumn):
    """No value is more frequent in a group than in the whole table by more than β times.

    With shares q in the group and p in the table: (q − p) / p ≤ β for all values with q > p;
    enhanced: ≤ min(β, −ln p).

    column: the sensitive column
    beta: by how much more frequent than in the whole table a value may be, relative to that
    enhanced: whether frequent values are limited further
    """

    beta: Fraction
    enhanced: bool

    name: ClassVar[str] = "beta-likeness"

    def __init__(self, column: str, beta: Exact, enhanced: bool = False) -> None:
        keep(
            self,
            column=column,
            beta=fraction(beta, "beta", 0, above=True),
            enhanced=enhanced,
        )

    def __str__(self) -> str:
        return f"{'enhanced ' * self.enhanced}{printed(self.beta)}-likeness of {self.column}"

    @property
    def meaning(self) -> str:
        more = ""
        if self.enhanced:
            more = " and, for frequent values, by no more than −ln of their share"
        return (
            f"no value of {self.column} is more frequent in a group than in the whole table "
            f"by more than {printed(self.beta)} times its share{more}"
        )

    def holds(self, groups: Groups) -> Bools:
        histogram = groups.histogram(self.column)
        gained, expected, modest = self._gains(histogram, groups.sizes)
        within = compare(gained, self.beta.denominator, expected, self.beta.numerator) <= 0
        return all_of(modest & within, starts_of(histogram))

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The smallest β that holds; infinite where `enhanced` fails for every β."""
        histogram = groups.histogram(self.column)
        gained, expected, modest = self._gains(histogram, groups.sizes)
        gains = (np.maximum(gained, 0) / expected).astype(np.float64)
        gains = np.where(modest, gains, np.inf)
        return float(most(highest(gains, starts_of(histogram)), kept))

    def _gains(self, histogram: Histogram, sizes: Ints) -> tuple[Integers, Integers, Bools]:
        """For every entry of the histogram, (q − p)·nN and p·nN in integers.

        The third result says whether the entry is within −ln p, if that is required.
        """
        total = histogram.total()
        records = int(total.sum())
        kind = fitting(sizes, 2 * records)
        expected = sizes.astype(kind)[histogram.group] * total[histogram.value]
        gained = histogram.count.astype(kind) * records - expected
        if not self.enhanced:
            return gained, expected, np.ones(len(histogram.group), dtype=np.bool_)
        # −ln p = ln(1 + (N − T) / T) keeps its relative precision where p is close to 1. With q > p
        # the left side is a rational above 0, the right side is irrational: they are never equal,
        # and the margin only errs towards failing.
        logs = np.log1p((records - total) / np.maximum(total, 1))
        limits = logs[histogram.value] * (1 - _ROUNDING)
        modest = (gained <= 0) | ((gained / expected).astype(np.float64) <= limits)
        return gained, expected, modest


@typed_fields
@dataclass(frozen=True, init=False)
class DeltaDisclosure(_OnColumn):
    """Every value of a group is about as frequent there as in the whole table.

    The two shares differ by a factor below e^δ: |ln(q / p)| < δ.

    column: the sensitive column
    delta: the logarithm of the largest factor
    every_value: whether a value that a group does not have at all fails the group, as in the
        paper, whose definition asks for all values of the table in every group; it is ignored
        otherwise, as other tools do
    """

    delta: Fraction
    every_value: bool

    name: ClassVar[str] = "delta-disclosure"

    def __init__(self, column: str, delta: Exact, every_value: bool = False) -> None:
        keep(
            self,
            column=column,
            delta=fraction(delta, "delta", 0, above=True),
            every_value=every_value,
        )

    def __str__(self) -> str:
        strict = "strict " * self.every_value
        return f"{strict}{printed(self.delta)}-disclosure of {self.column}"

    @property
    def meaning(self) -> str:
        which = "every value" if self.every_value else "every value that a group has"
        return (
            f"{which} of {self.column} has the same share in the group as in the whole table, "
            f"but for a factor below e^{printed(self.delta)}"
        )

    def holds(self, groups: Groups) -> Bools:
        # e^δ is irrational for a rational δ above 0: no share meets the bound exactly, the margin
        # only errs towards failing.
        information = self._information(groups)
        limit = float(min(self.delta, Fraction(_LARGEST_LOGARITHM)))
        return information + _ROUNDING * (1 + information) < limit

    def achieved(self, groups: Groups, kept: Bools | None = None) -> float:
        """The largest |ln(q / p)|: the table holds for every δ above it.

        Infinite where an absent value counts.
        """
        return float(most(self._information(groups), kept))

    def _information(self, groups: Groups) -> Floats:
        """The largest |ln(q / p)| of every group."""
        histogram = groups.histogram(self.column)
        total = histogram.total()
        expected = groups.sizes[histogram.group] * total[histogram.value].astype(np.float64)
        ratio = histogram.count * float(total.sum()) / expected
        information = highest(np.abs(np.log(ratio)), starts_of(histogram))
        if self.every_value:
            information[distinct(histogram) < np.count_nonzero(total)] = np.inf
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
_OF = r" of (?P<column>.+)"
_SHORT = {
    "k-anonymity": r"(?P<k>\d+)-anonymity",
    "distinct-diversity": rf"(distinct )?(?P<l>\d+)-diversity{_OF}",
    "entropy-diversity": rf"entropy (?P<l>{_NUMBER})-diversity{_OF}",
    "recursive-diversity": rf"recursive \((?P<c>{_NUMBER}), ?(?P<l>\d+)\)-diversity{_OF}",
    "t-closeness": rf"(?P<t>{_NUMBER})-closeness( \((?P<distance>\w+)\))?{_OF}",
    "p-sensitivity": rf"(?P<p>\d+)-sensitive (?P<k>\d+)-anonymity{_OF}",
    "beta-likeness": rf"(?P<enhanced>enhanced )?(?P<beta>{_NUMBER})-likeness{_OF}",
    "delta-disclosure": rf"(?P<every_value>strict )?(?P<delta>{_NUMBER})-disclosure{_OF}",
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
            parts = match.groupdict().items()
            given = {key: _parameter(key, part) for key, part in parts if part is not None}
            model: Model = MODELS[name](**given)
            return model
    raise ParameterError(
        f"model {text!r} is not understood",
        "write it as '5-anonymity' or '3-diversity of COLUMN', for example",
    )


def _parameter(name: str, text: str) -> str | int | bool:
    """A parameter of a model, from its part of the short name.

    Numbers that may be fractions stay texts.
    """
    if name in ("enhanced", "every_value"):
        return True
    if name in ("k", "l", "p") and text.isdigit():
        return int(text)
    return text


def bound(model: Model, table: Table) -> Model:
    """The model with what it needs from the table.

    t-closeness takes the hierarchy of its column, if there is one.
    """
    if not isinstance(model, TCloseness) or model.hierarchy is not None:
        return model
    if model.column not in table.hierarchies:
        return model
    return replace(model, hierarchy=table.hierarchy(model.column))
