"""`assess`: how easily people in a table can be recognised.

Uses `counts`, `lattice`, `privacy` and `look`; the command line uses it.

It looks at columns as they are, in a raw table or in one that is already anonymised, so hierarchies
are not needed. A group is the records that share their quasi-identifying values; where a column
tells people apart, it is the people with such a record. Definitions, and which tool calls which
number what: docs/reference/measures.md.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from math import ceil, isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.counts import Codes, Counts, group, ranks, smallest
from shoal.data import tables
from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.people import repeated
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, ParameterError
from shoal.exact.numbers import Exact
from shoal.exact.numbers import fraction as exact
from shoal.lattice import Groups, Histogram, Lattice
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.measure.uniqueness import (
    ColumnRisk,
    IdentifyingSet,
    PopulationUniqueness,
    crowds_of_people,
)
from shoal.zones import owner_only

if TYPE_CHECKING:
    from shoal.measure.conventions import RiskVerdict

__all__ = [
    "MARKERS",
    "THRESHOLD",
    "Assessment",
    "Diversity",
    "Households",
    "Risk",
    "SizeBin",
    "as_groups",
    "assess",
    "unsuppressed",
]

Ints = npt.NDArray[np.int64]

THRESHOLD = Fraction(1, 5)
"""A record is at risk where its risk is above this.

1/5 asks for groups of five, as ARX's default and many guidelines do.
"""

MARKERS = (ANY, "")
"""Texts that say nothing: the root of most hierarchies, and a missing value."""


@owner_only
@dataclass(frozen=True)
class Risk:
    """What an attacker achieves who goes by group sizes.

    `highest` is the risk of the most exposed record. `average` is over records (number of groups /
    number of records for the prosecutor: ARX's average risk and success rate), `average_of_groups`
    is over groups (mean of 1/size: pycanon's average_rir). `records_at_risk` have a risk above the
    threshold; `at_risk` is their share. Where a column tells people apart, it is people instead of
    records, each by the most exposed of their records.
    """

    highest: float
    average: float
    average_of_groups: float
    records_at_risk: int
    at_risk: float

    @property
    def exact_highest(self) -> Fraction:
        """The risk of the most exposed record as an exact number: 1 of how many are like it."""
        return Fraction(1, round(1 / self.highest)) if self.highest else Fraction(0)


@owner_only
@dataclass(frozen=True)
class Households:
    """The risk that somebody in a household is recognised: 1 − Π(1 − r) over its people.

    The definition is sdcMicro's.

    `average` is over households, `average_of_people` over people, each by their household.
    `households_at_risk` have a risk above the threshold; `at_risk` is their share. r is the
    journalist's risk where there is a population, else the prosecutor's.
    """

    number: int
    highest: float
    average: float
    average_of_people: float
    households_at_risk: int
    at_risk: float


@owner_only
@dataclass(frozen=True)
class Diversity:
    """What the groups achieve in one sensitive column.

    Each figure is the parameter of the model of that name.

    `recursive` is the c of (c, 2)-diversity, None where a group has one value only;
    `closeness_ordered` is for numbers and dates, whose values have an order.
    """

    distinct: int
    entropy: float
    recursive: float | None
    closeness: float
    closeness_ordered: float | None
    likeness: float
    disclosure: float


@owner_only
@dataclass(frozen=True)
class SizeBin:
    """Groups of `low` to `high` members: how many groups, and how many records are in them.

    Where a column tells people apart, it is people, each by the smallest of their groups.
    """

    low: int
    high: int
    groups: int
    members: int

    @property
    def span(self) -> str:
        """The sizes as a text."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


@owner_only
@dataclass(frozen=True)
class Assessment(Pictured):
    """The risks of a table.

    `rows` = `records` + `suppressed`; everything else is about the records. `k` is None where there
    are no records. `journalist` needs a population table; the prosecutor's risk bounds it from
    above. `outside` counts records whose group is larger in the table than in the population, which
    then cannot be where they come from. The last three are made on request.

    With a `person`, `people` is how many there are among the records, and sizes, `k`, `uniques` and
    risks are of people; else `people` is None, or the number of records if the owner says that rows
    are people. `repeated` names the columns by which people are evidently in several rows although
    nobody said which column tells them apart: then no figure is of people. `sizes` is a histogram
    of group sizes; one of its bins begins where the risk is no longer above the threshold.
    """

    rows: int
    records: int
    suppressed: int
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    groups: int
    k: int | None
    largest: int
    uniques: int
    sample_uniqueness: float
    threshold: float
    prosecutor: Risk
    journalist: Risk | None
    outside: int | None
    marketer: float
    sensitive: dict[str, Diversity]
    population_uniqueness: PopulationUniqueness | None = None
    column_risks: tuple[ColumnRisk, ...] | None = None
    identifying_sets: tuple[IdentifyingSet, ...] | None = None
    person: str | None = None
    people: int | None = None
    repeated: tuple[str, ...] = ()
    household: str | None = None
    households: Households | None = None
    sizes: tuple[SizeBin, ...] = ()

    @property
    def members(self) -> str:
        """What the figures are of, in words."""
        return "records" if self.person is None and self.people is None else "people"

    @property
    def number(self) -> int:
        """How many records, or people, the figures are of."""
        return self.records if self.people is None else self.people

    def pictures(self, zone: Zone = Zone.OWNER) -> tuple[Picture, ...]:
        """The risks and the sizes of groups as charts.

        zone: that of the table; of one that is released anybody can work them out
        """
        from shoal.measure.pictures import of_assessment

        return of_assessment(self, zone)

    @property
    def verdict(self) -> "RiskVerdict":
        """What the figures mean, and which conventions they keep."""
        from shoal.measure.conventions import judged

        return judged(self)

    def _repr_html_(self) -> str:
        """The risks as notebooks show them."""
        from shoal.measure.cards import card_of_assessment

        return card_of_assessment(self).html()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {**asdict(self), "verdict": self.verdict.to_dict()}


@typed
def assess(  # noqa: PLR0913  all but the table are keywords that stand alone
    table: Any,
    *,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    identifying: Iterable[str] | None = None,
    person: str | None = None,
    household: str | None = None,
    rows_are_people: bool | None = None,
    population: Table | None = None,
    fraction: Exact | None = None,
    threshold: Exact = THRESHOLD,
    unique_share: Exact = 0,
    markers: Collection[str] = MARKERS,
    details: bool = False,
) -> Assessment:
    """The risks of a table, or of a dataframe, by its quasi-identifying columns.

    By default, those are the columns with that role.

    `population` is a table of the people the attacker may choose from, its columns named and
    generalised as here. `fraction` is the share of the population that the table holds: with it (or
    a population) and `details`, population uniqueness is estimated. `details` also gives every
    column's share in the risk and the smallest sets of columns that make more than `unique_share`
    of the records unique. A row is suppressed where all its quasi-identifying values are among
    `markers`; the empty text stands for a missing value.

    `person` is the column that tells people apart: a group's size is then how many different people
    are in it, and a person's risk the highest of their records'. `household` is the column that
    tells households apart. Of `identifying` columns (by default those with that role) and of those
    left out it is noticed where people are in several rows, unless `rows_are_people` says that
    every row is a different person.

    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": ["3*", "3*", "4*", "*"], "sex": ["f", "f", "m", "*"]})
    >>> result = assess(shoal.table(people), quasi=["age", "sex"])
    >>> result.records, result.suppressed, result.groups, result.k, result.prosecutor.average
    (3, 1, 2, 1, 0.6666666666666666)
    """
    table = table if isinstance(table, Table) else tables.table(table)
    columns = _columns(table, quasi, table.quasi)
    if not columns:
        raise ColumnError(
            "no quasi-identifying columns to assess",
            "name those that others may know, for example `quasi=['age', 'sex']`",
        )
    others = _columns(table, sensitive, table.sensitive)
    both = [name for name in columns if name in others]
    if both:
        raise ColumnError(
            f"column {both[0]!r} is both quasi-identifying and sensitive", "give it one role"
        )
    owner_says = table.rows_are_people if rows_are_people is None else rows_are_people
    if person is not None and rows_are_people:
        raise ParameterError(
            "`person` and `rows_are_people` contradict each other", "leave one of them out"
        )
    units = [name for name in (person, household) if name is not None]
    _check_units(table, units, columns, others)
    limit = exact(threshold, "threshold", 0, 1)
    enough = exact(unique_share, "unique_share", 0, 1)
    sampled = None if fraction is None else exact(fraction, "fraction", 0, 1, above=True)

    counts = unsuppressed(table, table.count((*columns, *others, *units), {}), columns, markers)
    records, each = counts.total, _Each.of(counts, columns, person)
    sizes, whose = each.sizes, each.people
    uniques = int((each.own(sizes) == 1).sum())
    prosecutor = each.risk(sizes, limit)
    journalist = outside = None
    around = sizes
    if population is not None:
        around = _around(table, each.cells, population, person)
        outside = each.inside(around < sizes)
        around = np.maximum(around, sizes)
        journalist = each.risk(around, limit)
        everybody = _everybody(population, person)
        if sampled is None and each.number <= everybody:
            sampled = Fraction(each.number, everybody) if each.number else None
    extras: dict[str, Any] = {}
    if details:
        from shoal.measure.uniqueness import column_risks, identifying_sets, population_uniqueness

        extras["column_risks"] = column_risks(each.cells, whose)
        extras["identifying_sets"] = identifying_sets(each.cells, enough, people=whose)
        if sampled is not None:
            extras["population_uniqueness"] = population_uniqueness(sizes, sampled)
    if household is not None:
        extras["households"] = _households(each, around, counts, person, household, limit)
    left_out = tuple(
        name for name in table.names if name not in columns and name not in (*others, *units)
    )
    noticed: tuple[str, ...] = ()
    if person is None and not owner_says:
        named = _columns(table, identifying, table.having(Role.IDENTIFYING))
        unused = [name for name in named if name in left_out]
        judged = table.with_roles(identifying=unused)
        # Its owner has said that a sensitive column is a value of people, not who they are.
        suspects = [name for name in left_out if name not in table.sensitive]
        noticed = tuple(sign.column for sign in repeated(judged, columns, suspects))
    return Assessment(
        rows=table.rows,
        records=records,
        suppressed=table.rows - records,
        columns=columns,
        left_out=left_out,
        groups=len(sizes),
        k=int(sizes.min()) if records else None,
        largest=int(sizes.max()) if records else 0,
        uniques=uniques,
        sample_uniqueness=uniques / max(each.number, 1),
        threshold=float(limit),
        prosecutor=prosecutor,
        journalist=journalist,
        outside=outside,
        marketer=(journalist or prosecutor).average,
        sensitive=_diversity(table, counts, columns, others, person, each),
        person=person,
        people=each.number if person is not None or owner_says else None,
        repeated=noticed,
        household=household,
        sizes=tuple(each.bins(limit)),
        **extras,
    )


def _check_units(
    table: Table, units: Sequence[str], columns: Sequence[str], others: Sequence[str]
) -> None:
    """ColumnError if a column cannot tell people or households apart."""
    for name in _columns(table, units, ()):
        if name in (*columns, *others):
            raise ColumnError(
                f"column {name!r} tells people or households apart, and is also quasi-identifying "
                "or sensitive",
                "name it once",
            )
        table.require_people(name)


def _columns(
    table: Table, given: Iterable[str] | None, default: tuple[str, ...]
) -> tuple[str, ...]:
    names = default if given is None else tuple(given)
    for name in names:
        table.require(name)
        if names.count(name) > 1:
            raise ColumnError(f"column {name!r} is named twice", "name it once")
    return names


def unsuppressed(
    table: Table, counts: Counts, columns: Sequence[str], markers: Collection[str]
) -> Counts:
    """The counts without the rows whose every quasi-identifying value says nothing."""
    silent = np.ones(counts.distinct, dtype=np.bool_)
    for name in columns:
        saying_nothing = np.array(
            [label in markers for label in table.labels(name)], dtype=np.bool_
        )
        if not saying_nothing.any():
            return counts
        silent &= saying_nothing[counts.codes[counts.names.index(name)]]
    return Counts(
        counts.names,
        tuple(codes[~silent] for codes in counts.codes),
        counts.cards,
        counts.count[~silent],
    )


@dataclass(frozen=True, eq=False)
class _Each:
    """Whom the figures are of: records, or the people whom a column tells apart."""

    cells: Counts
    """Distinct records by the quasi-identifying columns.

    Where there are people, once for each of them.
    """
    people: Ints | None
    """Whose each distinct record is."""
    sizes: Ints
    """The size of every group."""
    group: Ints
    """The group of every distinct record."""
    number: int

    @classmethod
    def of(cls, counts: Counts, columns: Sequence[str], person: str | None) -> "_Each":
        if person is None:
            cells = counts if counts.names == tuple(columns) else counts.over(columns)
            return cls(cells, None, cells.count, np.arange(cells.distinct), cells.total)
        cells = counts.over((*columns, person))
        cells = replace(cells, count=np.ones(cells.distinct, dtype=np.int64))
        whose = _numbered(cells.codes[-1], cells.cards[-1])
        groups = replace(
            cells, names=cells.names[:-1], codes=cells.codes[:-1], cards=cells.cards[:-1]
        )
        # Rows are sorted by their codes, the person last, so those of a group follow each other.
        new = np.ones(cells.distinct, dtype=np.bool_)
        new[1:] = np.any([codes[1:] != codes[:-1] for codes in groups.codes], axis=0)
        group = np.cumsum(new) - 1
        number = int(whose.max(initial=-1)) + 1
        return cls(groups, whose, np.bincount(group).astype(np.int64), group, number)

    def own(self, around: Ints) -> Ints:
        """Among how many the members of every group, or every person, can hide.

        For a person it is the group where they are most exposed.
        """
        if self.people is None:
            return around
        return crowds_of_people(around[self.group], self.people)

    def inside(self, some: npt.NDArray[np.bool_]) -> int:
        """How many records, or people, are in some of the groups."""
        if self.people is None:
            return int(self.sizes[some].sum())
        return len(np.unique(self.people[some[self.group]]))

    def risk(self, around: Ints, threshold: Fraction) -> Risk:
        """The risk where those of every group hide among the `around` people they could be."""
        if not self.number:
            return Risk(0.0, 0.0, 0.0, 0, 0.0)
        # 1/size > threshold for all smaller sizes, exactly
        safe = ceil(1 / threshold) if threshold else int(around.max()) + 1
        own = self.own(around)
        weight = self.sizes if self.people is None else np.ones(self.number, dtype=np.int64)
        exposed = int(weight[own < min(safe, 1 << 62)].sum())
        average = len(own) if own is weight else float((weight / own).sum())
        return Risk(
            highest=1 / int(around.min()),
            average=average / self.number,
            average_of_groups=float((1 / around).sum()) / len(around),
            records_at_risk=exposed,
            at_risk=exposed / self.number,
        )

    def bins(self, threshold: Fraction) -> Iterator[SizeBin]:
        """How many groups have about which size; one bin begins where nobody is at risk."""
        largest = int(self.sizes.max(initial=0))
        edges = {factor * 10**power for power in range(20) for factor in (1, 2, 5)} | {3}
        safe = min(ceil(1 / threshold), 10**9) if threshold else 0
        if safe:
            edges.add(safe)
            largest = max(largest, safe)
        starts = sorted(edge for edge in edges if edge <= largest)
        ends = [*(start - 1 for start in starts[1:]), min(e for e in edges if e > largest) - 1]
        own = self.own(self.sizes)
        weight = self.sizes if self.people is None else np.ones(self.number, dtype=np.int64)
        for low, high in zip(starts, ends, strict=True):
            groups = int(((self.sizes >= low) & (self.sizes <= high)).sum())
            members = int(weight[(own >= low) & (own <= high)].sum())
            yield SizeBin(low, high, groups, members)


def _households(
    each: _Each,
    around: Ints,
    counts: Counts,
    person: str | None,
    household: str,
    threshold: Fraction,
) -> Households:
    """The risk that somebody in a household is recognised.

    The members of every group hide among `around` people.
    """
    own = each.own(around)
    if person is None:
        cells = counts.over((*each.cells.names, household))
        members, size, weight = cells.codes[-1], own[_places(cells, each.cells)], cells.count
    else:
        cells = counts.over((person, household))
        number = _numbered(cells.codes[0], cells.cards[0])
        members, size, weight = cells.codes[1], own[number], np.ones(cells.distinct, dtype=np.int64)
    home = _numbered(members, cells.cards[-1])
    number_of = int(home.max(initial=-1)) + 1
    if not number_of:
        return Households(0, 0.0, 0.0, 0.0, 0, 0.0)
    certain = np.bincount(home, size == 1, number_of) > 0
    safe = np.log1p(-1 / np.maximum(size, 2)) * weight
    risk = np.where(certain, 1.0, -np.expm1(np.bincount(home, safe, number_of)))
    people = np.bincount(home, weight, number_of)
    above = risk > float(threshold)
    for at in np.flatnonzero(np.abs(risk - float(threshold)) < 1e-9):  # too close for floats
        own_sizes = zip(size[home == at].tolist(), weight[home == at].tolist(), strict=True)
        above[at] = 1 - prod(Fraction(n - 1, n) ** often for n, often in own_sizes) > threshold
    exposed = int(above.sum())
    return Households(
        number=number_of,
        highest=float(risk.max()),
        average=float(risk.mean()),
        average_of_people=float(risk @ people) / float(people.sum()),
        households_at_risk=exposed,
        at_risk=exposed / number_of,
    )


def _numbered(codes: Codes, card: int) -> Ints:
    """The number of every code among those that occur, without sorting them."""
    occurs = np.zeros(card, dtype=np.bool_)
    occurs[codes] = True
    numbers: Ints = (np.cumsum(occurs) - 1)[codes]
    return numbers


def _places(cells: Counts, groups: Counts) -> Ints:
    """For distinct records of finer columns, the place of their group.

    Groups are in the order of their codes.
    """
    columns = [cells.codes[cells.names.index(name)] for name in groups.names]
    return ranks(columns, groups.cards)


def _everybody(population: Table, person: str | None) -> int:
    """How many people a population has.

    They are counted by the column that identifies them, if the population has it, else by rows.
    """
    if person is None or person not in population.names:
        return population.rows
    return len(population.keys(person))


def _around(table: Table, cells: Counts, population: Table, person: str | None) -> Ints:
    """How many people of the population have the values of each group."""
    cells = cells.over(cells.names)  # people of a group are one
    for name in cells.names:
        if name not in population.names:
            raise ColumnError(
                f"the population has no column {name!r}",
                "it needs every quasi-identifying column of the table",
            )
    names: tuple[str, ...] = cells.names
    if person is not None and person in population.names:
        population.require_people(person)
        apart = population.count((*names, person), {})
        people = replace(apart, count=np.ones(apart.distinct, dtype=np.int64)).over(names)
    else:
        people = population.count(names, {})
    shared = np.ones(people.distinct, dtype=np.bool_)
    codes = []
    for name, column in zip(cells.names, people.codes, strict=True):
        places: dict[object, int] = {key: code for code, key in enumerate(table.keys(name))}
        kind = table.kind(name)
        keys: Sequence[object] = population.keys(name)
        if population.kind(name) is not kind:
            keys = [_key(kind, label) for label in population.labels(name)]
        code = np.array([places.get(key, -1) for key in keys], dtype=np.int64)[column]
        shared &= code >= 0
        codes.append(code)
    together = [
        np.concatenate((ours, theirs[shared].astype(ours.dtype)))
        for ours, theirs in zip(cells.codes, codes, strict=True)
    ]
    # One grouping of both tables: the last bit says that a group is one of ours, the others count
    # the people.
    marks = np.concatenate((np.ones(cells.distinct, dtype=np.int64), 2 * people.count[shared]))
    counted = group(cells.names, together, cells.cards, marks).count
    return np.asarray(counted[counted % 2 == 1] // 2)


def _key(kind: Kind, label: str) -> object:
    """The key of another type's value; one that is not of this type is like no key."""
    try:
        return kind.key(label)
    except (ValueError, TypeError):
        return ...


def _diversity(
    table: Table,
    counts: Counts,
    columns: Sequence[str],
    sensitive: Sequence[str],
    person: str | None,
    each: _Each,
) -> dict[str, Diversity]:
    """What the groups achieve in every sensitive column.

    With a person, each person counts once for each value they have.
    """
    if not sensitive or not counts.distinct:
        return {}
    from shoal.privacy import models

    diversities = {}
    groups = as_groups(counts, columns) if person is None else None
    for name in sensitive:
        ordered = table.kind(name) is not Kind.TEXT
        if person is not None:
            apart = counts.over((*columns, name, person))
            once = replace(apart, count=np.ones(apart.distinct, dtype=np.int64))
            groups = as_groups(once.over((*columns, name)), columns)
        assert groups is not None
        least = groups
        if person is not None:
            people = np.bincount(groups.find(each.cells.codes)).astype(np.int64)
            least = _Worst(groups, name, people)
        recursive = models.RecursiveDiversity(name, 1, 2).achieved_c(least)
        in_order = None
        if ordered:
            in_order = models.TCloseness(name, 1, distance="ordered").achieved(groups)
        diversities[name] = Diversity(
            distinct=models.DistinctDiversity(name, 1).achieved(least),
            entropy=models.EntropyDiversity(name, 1).achieved(least),
            recursive=recursive if isfinite(recursive) else None,
            closeness=models.TCloseness(name, 1).achieved(groups),
            closeness_ordered=in_order,
            likeness=models.BetaLikeness(name, 1).achieved(groups),
            disclosure=models.DeltaDisclosure(name, 1).achieved(groups),
        )
    return diversities


class _Worst(Groups):
    """Groups whose people may have several values each, taken as unevenly as possible.

    Everyone counts with only one of their values.

    The most frequent value is that of all who have it, the next that of as many as are left, and so
    on: no choice of one value per person is less diverse. Where everyone has one value, that is how
    they are.
    """

    def __init__(self, groups: Groups, name: str, people: Ints) -> None:
        histogram = groups.histogram(name)
        order = np.lexsort((-histogram.count, histogram.group))
        count, group = histogram.count[order], histogram.group[order]
        before = np.cumsum(count) - count
        starts = np.searchsorted(group, np.arange(histogram.groups))
        taken = np.clip(people[group] - (before - before[starts[group]]), 0, count)
        is_taken = taken > 0
        self.sizes = people
        self._only = Histogram(
            group[is_taken],
            histogram.value[order][is_taken],
            taken[is_taken],
            histogram.groups,
            histogram.values,
        )

    def histogram(self, name: str) -> Histogram:
        return self._only


def as_groups(counts: Counts, columns: Sequence[str]) -> Groups:
    """The groups of columns as they are: each column's own values are the only level it has."""
    flat = {
        name: Hierarchy((tuple(map(str, range(card))),), (np.arange(card, dtype=smallest(card)),))
        for name, card in zip(counts.names, counts.cards, strict=True)
        if name in columns
    }
    return Lattice(counts, flat).groups((0,) * len(columns))
