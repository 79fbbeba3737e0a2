"""How easily people in a table can be recognised: `assess`. Uses `engine`, `counts`, `privacy`; the command line uses it.

It looks at columns as they are, in a raw table or in one that is already anonymised, so hierarchies are not needed.
A group is the records that share their quasi-identifying values. Definitions, and which tool calls which number what:
docs/measures.md.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import tables
from shoal.arguments import typed
from shoal.counts import Counts, Groups, Lattice
from shoal.counts.counts import group
from shoal.engine import Embedded, Engine
from shoal.errors import ColumnError
from shoal.hierarchy.tree import Hierarchy, smallest
from shoal.kinds import Kind
from shoal.measure.uniqueness import ColumnRisk, IdentifyingSet, PopulationUniqueness
from shoal.privacy.exact import Exact
from shoal.privacy.exact import fraction as exact
from shoal.tables import Table
from shoal.zones import owner_only

__all__ = ["MARKERS", "THRESHOLD", "Assessment", "Diversity", "Risk", "assess"]

Ints = npt.NDArray[np.int64]

THRESHOLD = Fraction(1, 5)
"""A record is at risk where its risk is above this; 1/5 asks for groups of five, as ARX's default and many guidelines do."""

MARKERS = ("*", "")
"""Texts that say nothing: the root of most hierarchies, and a missing value."""


@owner_only
@dataclass(frozen=True)
class Risk:
    """What an attacker achieves who goes by group sizes.

    `highest` is the risk of the most exposed record. `average` is over records (number of groups / number of records
    for the prosecutor: ARX's average risk and success rate), `average_of_groups` is over groups (mean of 1/size:
    pycanon's average_rir). `records_at_risk` have a risk above the threshold; `at_risk` is their share.
    """

    highest: float
    average: float
    average_of_groups: float
    records_at_risk: int
    at_risk: float


@owner_only
@dataclass(frozen=True)
class Diversity:
    """What the groups achieve in one sensitive column, each as the parameter of the model of that name.

    `recursive` is the c of (c, 2)-diversity, None where a group has one value only; `closeness_ordered` is for
    numbers and dates, whose values have an order.
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
class Assessment:
    """The risks of a table.

    `rows` = `records` + `suppressed`; everything else is about the records. `k` is None where there are no records.
    `journalist` needs a population table; the prosecutor's risk bounds it from above. `outside` counts records whose
    group is larger in the table than in the population, which then cannot be where they come from. The last three
    are made on request.
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

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return asdict(self)


@typed
def assess(
    table: Any,
    *,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    population: Table | None = None,
    fraction: Exact | None = None,
    threshold: Exact = THRESHOLD,
    unique_share: Exact = 0,
    markers: Collection[str] = MARKERS,
    details: bool = False,
    engine: Engine | None = None,
) -> Assessment:
    """The risks of a table, or of a dataframe, by its quasi-identifying columns (by default those with that role).

    `population` is a table of the people the attacker may choose from, its columns named and generalised as here.
    `fraction` is the share of the population that the table holds: with it (or a population) and `details`, population
    uniqueness is estimated. `details` also gives every column's share in the risk and the smallest sets of columns that
    make more than `unique_share` of the records unique. A row is suppressed where all its quasi-identifying values are
    among `markers`; the empty text stands for a missing value.

    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": ["3*", "3*", "4*", "*"], "sex": ["f", "f", "m", "*"]})
    >>> found = assess(shoal.table(people), quasi=["age", "sex"])
    >>> found.records, found.suppressed, found.groups, found.k, found.prosecutor.average
    (3, 1, 2, 1, 0.6666666666666666)
    """
    table = table if isinstance(table, Table) else tables.table(table)
    columns = _columns(table, quasi, table.quasi)
    if not columns:
        raise ColumnError(
            "no quasi-identifying columns to assess; name them, for example quasi=['age', 'sex']"
        )
    others = _columns(table, sensitive, table.sensitive)
    both = [name for name in columns if name in others]
    if both:
        raise ColumnError(
            f"column {both[0]!r} is both quasi-identifying and sensitive; give it one role"
        )
    limit = exact(threshold, "threshold", 0, 1)
    enough = exact(unique_share, "unique_share", 0, 1)
    sampled = None if fraction is None else exact(fraction, "fraction", 0, 1, above=True)
    engine = Embedded() if engine is None else engine

    counts = _unsuppressed(
        table, engine.count(table, (*columns, *others), leaves=False), columns, markers
    )
    cells = counts.over(columns) if others else counts
    sizes, records = cells.count, cells.total
    uniques = int((sizes == 1).sum())
    prosecutor = _risk(sizes, sizes, limit)
    journalist = outside = None
    if population is not None:
        around = _around(table, cells, population, engine)
        outside = int(sizes[around < sizes].sum())
        journalist = _risk(sizes, np.maximum(around, sizes), limit)
        if sampled is None and records <= population.rows:
            sampled = Fraction(records, population.rows) if records else None
    extras: dict[str, Any] = {}
    if details:
        from shoal.measure.uniqueness import column_risks, identifying_sets, population_uniqueness

        extras["column_risks"] = column_risks(cells)
        extras["identifying_sets"] = identifying_sets(cells, enough)
        if sampled is not None:
            extras["population_uniqueness"] = population_uniqueness(sizes, sampled)
    return Assessment(
        rows=table.rows,
        records=records,
        suppressed=table.rows - records,
        columns=columns,
        left_out=tuple(name for name in table.names if name not in columns and name not in others),
        groups=len(sizes),
        k=int(sizes.min()) if records else None,
        largest=int(sizes.max()) if records else 0,
        uniques=uniques,
        sample_uniqueness=uniques / max(records, 1),
        threshold=float(limit),
        prosecutor=prosecutor,
        journalist=journalist,
        outside=outside,
        marketer=(journalist or prosecutor).average,
        sensitive=_diversity(table, counts, columns, others),
        **extras,
    )


def _columns(
    table: Table, given: Iterable[str] | None, default: tuple[str, ...]
) -> tuple[str, ...]:
    names = default if given is None else tuple(given)
    for name in names:
        if name not in table.names:
            raise ColumnError(f"no column {name!r}; {tables.told(table.frame)}")
        if names.count(name) > 1:
            raise ColumnError(f"column {name!r} is named twice; name it once")
    return names


def _unsuppressed(
    table: Table, counts: Counts, columns: Sequence[str], markers: Collection[str]
) -> Counts:
    """The counts without the rows whose every quasi-identifying value says nothing."""
    silent = np.ones(counts.distinct, dtype=np.bool_)
    for name in columns:
        saying_nothing = np.array(
            [label in markers for label in table.column(name).labels], dtype=np.bool_
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


def _risk(sizes: Ints, around: Ints, threshold: Fraction) -> Risk:
    """The risk when a record of a group of some size hides among the `around` people it could be."""
    records = int(sizes.sum())
    if not records:
        return Risk(0.0, 0.0, 0.0, 0, 0.0)
    safe = (
        ceil(1 / threshold) if threshold else int(around.max()) + 1
    )  # 1/size > threshold for all smaller sizes, exactly
    exposed = int(sizes[around < min(safe, 1 << 62)].sum())
    average = len(sizes) if sizes is around else float((sizes / around).sum())
    return Risk(
        highest=1 / int(around.min()),
        average=average / records,
        average_of_groups=float((1 / around).sum()) / len(sizes),
        records_at_risk=exposed,
        at_risk=exposed / records,
    )


def _around(table: Table, cells: Counts, population: Table, engine: Engine) -> Ints:
    """How many people of the population have the values of each group."""
    for name in cells.names:
        if name not in population.names:
            raise ColumnError(
                f"the population has no column {name!r}; it needs every quasi-identifying column of the table"
            )
    people = engine.count(population, cells.names, leaves=False)
    shared = np.ones(people.distinct, dtype=np.bool_)
    codes = []
    for name, column in zip(cells.names, people.codes, strict=True):
        here, there = table.column(name), population.column(name)
        places: dict[object, int] = {key: i for i, key in enumerate(here.keys)}
        keys = (
            there.keys
            if here.kind is there.kind
            else [_key(here.kind, label) for label in there.labels]
        )
        code = np.array([places.get(key, -1) for key in keys], dtype=np.int64)[column]
        shared &= code >= 0
        codes.append(code)
    together = [
        np.concatenate((ours, theirs[shared].astype(ours.dtype)))
        for ours, theirs in zip(cells.codes, codes, strict=True)
    ]
    # One grouping of both tables: the last bit says that a group is one of ours, the others count the people.
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
    table: Table, counts: Counts, columns: Sequence[str], sensitive: Sequence[str]
) -> dict[str, Diversity]:
    """What the groups achieve in every sensitive column."""
    if not sensitive or not counts.distinct:
        return {}
    from shoal.privacy import models

    groups = _as_groups(counts, columns)
    found = {}
    for name in sensitive:
        ordered = table.kind(name) is not Kind.TEXT
        recursive = models.RecursiveDiversity(name, 1, 2).achieved_c(groups)
        found[name] = Diversity(
            distinct=models.DistinctDiversity(name, 1).achieved(groups),
            entropy=models.EntropyDiversity(name, 1).achieved(groups),
            recursive=recursive if isfinite(recursive) else None,
            closeness=models.TCloseness(name, 1).achieved(groups),
            closeness_ordered=models.TCloseness(name, 1, distance="ordered").achieved(groups)
            if ordered
            else None,
            likeness=models.BetaLikeness(name, 1).achieved(groups),
            disclosure=models.DeltaDisclosure(name, 1).achieved(groups),
        )
    return found


def _as_groups(counts: Counts, columns: Sequence[str]) -> Groups:
    """The groups of columns as they are: each column's own values are the only level it has."""
    flat = {
        name: Hierarchy((tuple(map(str, range(card))),), (np.arange(card, dtype=smallest(card)),))
        for name, card in zip(counts.names, counts.cards, strict=True)
        if name in columns
    }
    return Lattice(counts, flat).groups((0,) * len(columns))
