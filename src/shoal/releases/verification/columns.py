"""The check of columns: does the schema follow, do the groups add up, has each only what it may?

Groups of columns are composed by a sum of its own. Tables are wide, with a column for each of the
schema, or long, with a row for each item of a record. Uses `differential`, `levels` and `labels`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import plural
from shoal.releases.verification import differential
from shoal.releases.verification.claims import Claims, is_name_list, is_table_or_none
from shoal.releases.verification.differential import DifferentialClaim, NoiseClaim
from shoal.releases.verification.labels import places
from shoal.releases.verification.levels import (
    fixed_level_faults,
    level_trust,
    levelless_faults,
    rows_per_person,
)
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.noisy_counts import count_is_free
from shoal.releases.verification.numbers import (
    CLEARLY,
    StatedEpsilon,
    as_decimal,
    digits_for,
    is_numeric,
    precision,
    rounded,
    whole,
)
from shoal.releases.verification.reading import ReleasedTables, TableShape
from shoal.releases.verification.rows import (
    Ints,
    column_of,
    frequencies,
    integers,
    totals,
)
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]

_MOST_GROUPS = 5000
"""Groups of columns, whose composition is a sum of as many terms."""

_DIGITS_OF_DELTA = 12
"""Significant digits of a derived δ."""

_ITEM_TWICE = "a record has an item twice, or its items are not in their order"

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnsClaim:
    """What a certificate of columns says."""

    claims: Claims
    privacy: DifferentialClaim
    source: "SchemaSource"
    groups: tuple[tuple[str, ...], ...]
    """The groups of the schema."""

    k: int
    derived_k: int
    given_most: int | None
    derived_most: int

    schema_epsilon: StatedEpsilon | None
    columns_epsilon: StatedEpsilon | None
    group_epsilon: StatedEpsilon
    group_delta: Fraction
    composition: str
    noise: NoiseClaim
    counted: bool
    fixed_levels: Mapping[str, int]

    @property
    def is_long(self) -> bool:
        return self.source.person is not None

    @property
    def most(self) -> int:
        """How many groups a record gives values to at most, by the parameters."""
        groups = len(self.groups)
        return groups if self.given_most is None else min(self.given_most, groups)

    @cached_property
    def group_sets(self) -> list[frozenset[str]]:
        return [frozenset(group) for group in self.groups]


@dataclass(frozen=True)
class SchemaSource:
    """Where the schema came from, by the parameters."""

    stated: tuple[tuple[Any, ...], ...] | None
    """The schema itself, where it was given."""

    clusters: tuple[int, ...]
    """Into how many groups columns were clustered, once or several times."""

    public: bool
    buying: Fraction | None
    """The share of ε that bought it."""

    person: str | None
    item: str | None
    value: str | None
    items: frozenset[str]


def parse(claims: Claims) -> ColumnsClaim:
    given = claims.parameters
    derived = claims.derived
    given.require(is_numeric, "looked_at")
    return ColumnsClaim(
        claims,
        privacy=DifferentialClaim.read(claims),
        source=_parse_source(claims),
        groups=_parse_groups(derived.part["schema"]),
        k=given.whole("k"),
        derived_k=derived.whole("k"),
        given_most=given.whole_if_any("most"),
        derived_most=derived.whole("most"),
        schema_epsilon=derived.epsilon_if_any("epsilon_schema"),
        columns_epsilon=derived.epsilon_if_any("epsilon_columns"),
        group_epsilon=derived.epsilon("epsilon_group"),
        group_delta=derived.number("delta_group"),
        composition=derived.text("composition"),
        noise=NoiseClaim.read(claims),
        counted=given.flag("counts"),
        fixed_levels=given.levels("levels"),
    )


def _parse_source(claims: Claims) -> SchemaSource:
    given = claims.parameters
    stated = given.part["schema"]
    if stated is not None:
        stated = tuple(tuple(group) for group in stated)
    given.require(is_table_or_none, "public")
    return SchemaSource(
        stated,
        clusters=tuple(whole(clusters) for clusters in given.part["groups"]),
        public=given.part["public"] is not None,
        buying=given.number_if_any("buying"),
        person=given.text_if_any("person"),
        item=given.text_if_any("item"),
        value=given.text_if_any("value"),
        items=frozenset(given.checked(is_name_list, "items")),
    )


def _parse_groups(schema: object) -> tuple[tuple[str, ...], ...]:
    groups = []
    if not isinstance(schema, list) or not all(isinstance(group, list) for group in schema):
        raise ValueError("not a schema")
    for group in schema:
        names = tuple(name for name in group if type(name) is str)
        if not names or len(names) < len(group):
            raise ValueError("not a group of columns")
        groups.append(names)
    if not 0 < len(groups) <= _MOST_GROUPS:
        raise ValueError("not a schema")
    return tuple(groups)


# The certificate


def derivation(record: ColumnsClaim) -> Iterator[str]:
    """Whether everything follows from the parameters, and groups spend no more than there is."""
    yield from record.privacy.faults()
    yield from fixed_level_faults(record.claims, record.fixed_levels)
    wrong = list(_schema_faults(record))
    yield from wrong
    if record.derived_k != record.k or record.privacy.semantic_k is not None:
        yield (
            "k is not that of the parameters, or is promised, "
            "which groups of columns do not keep together"
        )
    if record.derived_most != record.most:
        yield "to how many groups a record gives values is not what the parameters say"
    # A made-up schema of thousands of groups would take minutes.
    if not wrong:
        yield from _spending_faults(record)


def _spending_faults(record: ColumnsClaim) -> Iterator[str]:
    """Whether ε and δ are spent as the certificate says, and the noise is as wide as that asks."""
    share = record.source.buying or Fraction(0)
    schema = record.schema_epsilon
    columns = record.columns_epsilon
    if not share < 1 or columns is None or (schema is None) != (share == 0):
        yield "the schema is bought and not paid for, or paid for and not bought"
        return
    row = record.privacy.row_epsilon
    schema_paid = schema is None or schema.equals(row.times(share))
    if not schema_paid or not columns.equals(row.times(1 - share)):
        yield f"the parts of epsilon do not add up to {record.privacy.epsilon_text}"
    yield from _group_faults(record, Composition(record.group_epsilon, record.most, columns))


@dataclass(frozen=True)
class Composition:
    """Releases of groups of columns that each keep one ε, and together another."""

    each: StatedEpsilon
    times: int
    together: StatedEpsilon

    @cached_property
    def is_sum(self) -> bool:
        return self.each.times(Fraction(self.times)).equals(self.together)

    def delta(self, each: Fraction) -> Fraction:
        """The δ of all together. The worst are flips of a coin, and failures."""
        digits = 60 + 2 * digits_for(self.each, each or Fraction(1, 10**40)) + self.times
        with precision(digits):
            step = self.each.value(digits)
            goal = self.together.value(digits)
            heads = 1 / (1 + (-step).exp())
            lost = Decimal(0)
            # The number of coins that are truthful.
            for truths in range(self.times + 1):
                gain = (2 * truths - self.times) * step - goal
                if gain > 0:
                    ways = math.comb(self.times, truths)
                    chance = heads**truths * (1 - heads) ** (self.times - truths)
                    lost += ways * chance * (1 - (-gain).exp())
            kept = (1 - as_decimal(each)) ** self.times * (1 - lost)
            return Fraction(1 - kept)

    def delta_of_each(self, delta: Fraction) -> Fraction:
        """What the coins leave of δ, in equal parts: rounded to twelve digits, to the safe side."""
        lost = Fraction(0)
        if not self.is_sum:
            lost = rounded(self.delta(Fraction(0)), _DIGITS_OF_DELTA, ROUND_CEILING)
        left = (delta - lost) / ((1 - lost) * self.times)
        return rounded(left, _DIGITS_OF_DELTA, ROUND_FLOOR)


def _group_faults(record: ColumnsClaim, composition: Composition) -> Iterator[str]:
    epsilon = record.group_epsilon
    delta = record.group_delta
    row_delta = record.privacy.row_delta
    if composition.delta(delta) > row_delta * (1 + CLEARLY):
        yield f"{plural(record.most, 'group')} of columns spend more together than there is"
    elif delta != composition.delta_of_each(row_delta):
        yield "the delta of a group is not the one that its epsilon leaves"
    if record.composition != ("sum" if composition.is_sum else "optimal"):
        yield "the groups' parts of epsilon are not composed as the certificate says"
    yield from record.noise.faults(epsilon, delta, record.derived_k, "standard")


def _schema_faults(record: ColumnsClaim) -> Iterator[str]:
    """Whether the schema was given, or may be one that was computed as the parameters say."""
    source = record.source
    sets = record.group_sets
    has_item = source.item is not None
    has_more = source.value is not None or bool(source.items)
    if record.is_long != has_item or (has_more and not record.is_long):
        yield "a person goes with an item, and items and values go with both"
    if not _source_is_possible(record):
        yield NOT_TAKEN
    repeated = any(len(set(group)) < len(group) for group in record.groups)
    if repeated or len(set(sets)) < len(sets):
        yield "a group of columns, or a column in one, is there twice"
    if source.stated is None:
        yield from _computed_faults(record)
    elif sets != _stated_sets(record, source.stated):
        yield "the schema is not the one that the parameters give"


def _source_is_possible(record: ColumnsClaim) -> bool:
    source = record.source
    privacy = record.privacy
    if record.is_long and (privacy.unit is not None or privacy.rows != 1):
        return False
    if source.stated is None:
        return True
    return not source.public and source.buying is None and not source.clusters


def _stated_sets(record: ColumnsClaim, stated: Sequence[Sequence[Any]]) -> list[frozenset[str]]:
    """The groups that the parameters give, each once; items are spelled as their values are."""
    kind = Kind.TEXT
    if record.source.item in record.claims.names:
        kind = record.claims.kind(record.source.item)
    groups = [frozenset(kind.text(kind.key(name)) for name in group) for group in stated]
    return list(dict.fromkeys(groups))


def _computed_faults(record: ColumnsClaim) -> Iterator[str]:
    source = record.source
    sets = record.group_sets
    if source.public == (source.buying is not None):
        yield "the schema comes from nowhere: none is given, and none from a public table or bought"
    if record.is_long and source.buying is not None and not source.items:
        yield (
            "a schema of items was bought that nobody declared: "
            "which items there are reveals something about people"
        )
    everything = frozenset[str]().union(*sets)
    if source.items and not everything <= source.items:
        yield "the schema has items that were not declared"
    clusters = source.clusters
    possible = max(clusters) <= len(sets) <= sum(clusters)
    disjoint = sum(map(len, sets)) == len(everything)
    if not possible or (len(clusters) == 1 and not disjoint):
        numbers = " and ".join(map(str, clusters))
        yield f"the schema is not a clustering into {numbers} groups"


# The table


def released(record: ColumnsClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether rows have values of their own group only, and projections are there often enough."""
    yield from levelless_faults(record.claims, tables.hierarchies)
    table = tables.table
    if not _has_columns(record, list(table.names)):
        yield "the columns are not those of the schema"
        return
    group = integers(table, "column_group")
    if table.rows and not (group.min() >= 1 and group.max() <= len(record.groups)):
        yield "a row belongs to no group of columns"
        return
    counts = np.ones_like(group)
    if record.counted:
        counts = integers(table, "count")
    if record.is_long:
        yield from _long_faults(record, tables, group, counts)
    else:
        yield from _wide_faults(record, tables, group, counts)


def _has_columns(record: ColumnsClaim, names: list[str]) -> bool:
    """Whether the columns are those of the schema, the first of them in their order."""
    expected = ["column_group", *frozenset[str]().union(*record.group_sets)]
    first = 1
    if record.is_long:
        expected = ["record", "column_group", str(record.source.item)]
        first = 2
        if record.source.value is not None:
            expected.append(record.source.value)
    if record.counted:
        expected.append("count")
    return sorted(names) == sorted(expected) and names[:first] == expected[:first]


def _wide_faults(
    record: ColumnsClaim, tables: ReleasedTables, group: Ints, counts: Ints
) -> Iterator[str]:
    table = tables.table
    everything = frozenset[str]().union(*record.group_sets)
    rows = group
    often = frequencies(table)
    empty = np.ones(len(often), dtype=np.bool_)
    for name in [name for name in table.names if name in everything]:
        column = column_of(table, name)
        null = np.isin(column.codes, [code for code, key in enumerate(column.keys) if key is None])
        own = [place for place, members in enumerate(record.group_sets, 1) if name in members]
        if not null[~np.isin(group, own)].all():
            yield f"column {name!r} has values in groups that it does not belong to"
        empty &= null
        _, rows = np.unique(rows * (len(column.keys) + 1) + column.codes, return_inverse=True)
    if empty.any():
        number = plural(int(often[empty].sum()), "row")
        yield f"{number} have no value at all: such projections must not be released"
    records = totals(rows, often * counts)
    yield from _frequency_faults(record, totals(rows, often), records)


def _frequency_faults(
    record: ColumnsClaim, rows: npt.NDArray[Any], records: npt.NDArray[Any]
) -> Iterator[str]:
    """Whether every projection is released often enough, and once if it has a count."""
    threshold = record.noise.threshold or 1
    if record.counted and (rows > 1).any():
        yield "a record is there twice, each time with a count"
    small = int((records < threshold).sum())
    if small:
        projections = plural(len(records), "projection")
        yield f"{small:,} of {projections} are released fewer than threshold = {threshold} times"


@dataclass(frozen=True)
class LongRows:
    """The rows of a long table, by the records that they belong to.

    `item` and `value` are places in an order, -1 where there is none.
    """

    record: Ints
    group: Ints
    counts: Ints
    item: Ints
    value: Ints

    @cached_property
    def is_first(self) -> Bools:
        """Whether a row is the first of its record."""
        return np.append(True, self.record[1:] != self.record[:-1])

    @cached_property
    def starts(self) -> Ints:
        return np.flatnonzero(self.is_first)

    @cached_property
    def lengths(self) -> Ints:
        """How many rows each record has."""
        return np.diff(self.starts, append=len(self.record))

    @cached_property
    def steps(self) -> Ints:
        """From the group of each record to that of the next."""
        groups = self.group[self.starts]
        return np.diff(groups)

    @cached_property
    def comparable(self) -> Bools:
        """Whether a record is of the same group as the one before, and has as many items."""
        same_length = self.lengths[1:] == self.lengths[:-1]
        return np.append(False, (self.steps == 0) & same_length)

    @cached_property
    def differences(self) -> tuple[Ints, Ints]:
        """The first row of each record that differs from the record before, and that other row."""
        rows = np.flatnonzero(np.repeat(self.comparable, self.lengths))
        length_of_row = np.repeat(self.lengths, self.lengths)
        others = rows - length_of_row[rows]
        same = (self.item[rows] == self.item[others]) & (self.value[rows] == self.value[others])
        differing = rows[~same]
        _, first = np.unique(self.record[differing], return_index=True)
        at = differing[first]
        return at, at - length_of_row[at]

    def numbered(self) -> bool:
        """Whether records are numbered one by one."""
        in_turn = np.diff(self.record) == self.is_first[1:]
        return bool(self.record[0] == 1 and in_turn.all())

    def in_order(self, by_value: bool) -> bool:
        """Whether records are in the order of groups, lengths and, if asked for, values."""
        shorter = (self.steps == 0) & (self.lengths[1:] < self.lengths[:-1])
        if (self.steps < 0).any() or shorter.any():
            return False
        at, other = self.differences
        item = self.item
        value = self.value
        same_item = item[at] == item[other]
        less = (item[at] < item[other]) | (same_item & (value[at] < value[other]))
        return not (by_value and less.any())

    def frequencies(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Of every projection, how many records have it, and what their counts add up to."""
        same = self.comparable.copy()
        at, _ = self.differences
        same[self.record[at] - 1] = False
        projection = np.cumsum(~same) - 1
        counts = self.counts[self.starts]
        return np.bincount(projection), np.bincount(projection, counts)


def _long_faults(
    record: ColumnsClaim, tables: ReleasedTables, group: Ints, counts: Ints
) -> Iterator[str]:
    """Whether records are numbered, have items of their group, are in order, and occur k times."""
    table = tables.table
    source = record.source
    if (frequencies(table) > 1).any():
        yield _ITEM_TWICE
    number_of_record = integers(table, "record")
    item = _order_places(tables, source.item)
    value = _order_places(tables, source.value)
    if not table.rows:
        return
    rows = LongRows(number_of_record, group, counts, item, value)
    if not rows.numbered():
        yield "the records are not numbered one by one"
        return
    if (item < 0).any() or (value < 0).any():
        yield "a row lacks its item or its value"
    if not (rows.is_first[1:] | (item[1:] > item[:-1])).all():
        yield _ITEM_TWICE
    inside = ~rows.is_first[1:]
    if any((part[1:] != part[:-1])[inside].any() for part in (group, counts)):
        yield "a record is in two groups, or has two counts"
    yield from _item_faults(record, tables, group)
    # Without the hierarchy of generalised values nobody knows their order.
    by_value = source.value not in record.claims.levels or source.value in tables.level_trees
    if not rows.in_order(by_value):
        yield (
            "the records are not in the order of their values: "
            "what decides their order instead may reveal more than they do"
        )
    yield from _frequency_faults(record, *rows.frequencies())


def _item_faults(record: ColumnsClaim, tables: ReleasedTables, group: Ints) -> Iterator[str]:
    item = str(record.source.item)
    column = column_of(tables.table, item)
    kind = record.claims.kind(item)
    keys = [None if key is None else kind.key(key) for key in column.keys]
    for place, members in enumerate(record.groups, 1):
        known = {kind.key(name) for name in members}
        allowed = np.array([key is not None and key in known for key in keys], dtype=np.bool_)
        if not allowed[column.codes[group == place]].all():
            yield f"group {place} has items that the schema does not have there"


def _order_places(tables: ReleasedTables, name: str | None) -> Ints:
    """The values of a column by their places in an order, -1 where there is none."""
    table = tables.table
    if name is None:
        return np.zeros_like(frequencies(table))
    column = column_of(table, name)
    tree = tables.level_trees.get(name)
    if tree is not None:
        order = places(tables, name, tree, tables.claims.levels[name])
    else:
        keys: list[Any] = list(column.keys)
        if name not in tables.claims.levels:
            kind = tables.claims.kind(name)
            keys = [None if key is None else kind.key(key) for key in column.keys]
        ascending = sorted({key for key in keys if key is not None})
        rank = {key: place for place, key in enumerate(ascending)}
        order = [-1 if key is None else rank[key] for key in keys]
    for code, key in enumerate(column.keys):
        if key is None:
            order[code] = -1
    if not order:
        return np.zeros_like(frequencies(table))
    return np.array(order, dtype=np.int64)[column.codes]


# What is left


def trusted(record: ColumnsClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that projections were withheld and counts made noisy by chance, as the parameters say, "
        "by draws that nobody knows"
    )
    groups = plural(record.derived_most, "group")
    yield OpenEnd(f"that no record gave values to more than {groups} of columns, chosen by chance")
    if record.source.buying is not None:
        yield OpenEnd(
            "that the schema was bought by what it says: "
            "it was computed from nothing but noisy numbers"
        )
    else:
        origin = ", from a public table" if record.source.public else ""
        yield OpenEnd(f"that the schema was chosen without looking at the rows{origin}")
    yield from rows_per_person(record.privacy.unit, record.privacy.rows)
    yield from level_trust(record.claims, hierarchies)


def free(record: ColumnsClaim) -> Iterator[str]:
    yield from ("groups", "items", "looked_at")
    if record.derived_most == len(record.groups):
        yield "most"
    stated = record.source.stated
    if stated and len(set(map(frozenset, stated))) < len(stated):
        # Equal groups are released once.
        yield "schema"
    yield from count_is_free(record.claims)


CHECK = MethodCheck(
    name="columns",
    promises=(differential.PROMISE,),
    parameters="epsilon delta k most schema groups public buying person item value items looked_at"
    " levels unit rows counts noise",
    derived="schema k most epsilon_schema epsilon_columns delta definition composition"
    " epsilon_group delta_group noise scale bound threshold half rows",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    # What is null stays so at the root.
    shape=lambda record: TableShape(extra_labels=("",)),
)
