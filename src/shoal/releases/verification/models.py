"""Privacy models, written anew: how many released groups fail each, counted plainly in fractions.

`ClaimedModel` is a model as a certificate states it. Every class below it is one model that can be
named and, where a release shows enough, checked. Nothing here comes from `privacy.models`, so a
mistake there does not hide itself here. Uses `numbers`, `rows` and
`words`; `claims` reads models by it.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import FileError
from shoal.exact.numbers import printed
from shoal.releases.verification.numbers import number, whole
from shoal.releases.verification.rows import column_of, frequencies, ranks, row_codes, totals
from shoal.releases.verification.words import word

__all__ = [
    "SLACK",
    "ClaimedModel",
    "GroupModel",
    "PresenceBounds",
    "ReleasedGroups",
    "SizeModel",
    "WorstParts",
    "released_groups",
]

SLACK = 1e-9
"""Relative; logarithms are floats, and a group fails only where it clearly does."""

_HIERARCHY = "hierarchy"
"""What a model may state that is not a parameter: what it counts by."""


# Groups


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of a column occurs, in the order of the values."""

    groups: list[Counter[int]]
    whole: Counter[int]


@dataclass(frozen=True)
class ReleasedGroups:
    """The groups of a released table."""

    sizes: list[int]
    table: Table
    lines: Mapping[str, Sequence[Sequence[str]]]
    """The hierarchies of sensitive columns, where the certificate has them."""

    rows: Sequence[int]
    """The group of every row, -1 for suppressed ones; equal neighbours may be one row."""

    def counts(self, name: str, level: int = 0) -> ValueCounts:
        """How often each value, or node at a level of its hierarchy, occurs."""
        column = column_of(self.table, name)
        values = self._values(name, level)
        row_pairs = np.stack([np.asarray(self.rows), column.codes.astype(np.int64)])
        pairs, pair_of_row = np.unique(row_pairs, axis=1, return_inverse=True)
        records = totals(pair_of_row.ravel(), frequencies(self.table))
        groups: list[Counter[int]] = [Counter() for _ in self.sizes]
        whole_table: Counter[int] = Counter()
        for group, code, count in zip(*pairs.tolist(), records.tolist(), strict=True):
            whole_table[values[code]] += count
            # Suppressed rows are part of the input, and of no group.
            if group >= 0:
                groups[group][values[code]] += count
        return ValueCounts(groups, whole_table)

    def _values(self, name: str, level: int) -> list[int]:
        """What every code of a column stands for, as places in the values' order."""
        column = column_of(self.table, name)
        if not self.lines.get(name):
            return list(range(len(column.keys)))
        tree = Hierarchy.from_lines(self.lines[name], column.kind).with_missing()
        leaves = [tree.find(key) for key in column.keys]
        if level == 0 and tree.kind is not Kind.TEXT:
            # Numbers and dates keep the order of their values, whatever that of the lines is.
            places = {leaf: place for place, leaf in enumerate(dict.fromkeys(leaves))}
            return [places[leaf] for leaf in leaves]
        return [int(tree.maps[level][leaf]) for leaf in leaves]


@dataclass(frozen=True)
class WorstParts(ReleasedGroups):
    """Parts of unions of groups, of which only the sizes are known.

    Each part has the most frequent values of its union, which is the worst that can be.
    """

    groups: ReleasedGroups
    unions: Sequence[Sequence[int]]

    def counts(self, name: str, level: int = 0) -> ValueCounts:
        shown = self.groups.counts(name, level)
        together: dict[tuple[int, ...], Counter[int]] = {}
        for union in set(map(tuple, self.unions)):
            together[union] = Counter()
            for group in union:
                together[union].update(shown.groups[group])
        parts = [
            _most_frequent(together[tuple(union)], size)
            for size, union in zip(self.sizes, self.unions, strict=True)
        ]
        return ValueCounts(parts, shown.whole)


def _most_frequent(values: Counter[int], size: int) -> Counter[int]:
    """That many records, with as few values as can be."""
    taken = Counter[int]()
    for value, frequency in values.most_common():
        taken[value] = min(frequency, size)
        size -= taken[value]
    return +taken


def released_groups(
    table: Table,
    names: Sequence[str],
    lines: Mapping[str, Sequence[Sequence[str]]],
    most_starred: Fraction | None,
) -> ReleasedGroups:
    """The groups of rows that have the same values of some columns.

    Rows of stars are suppressed if they may be at most the share `most_starred` of all rows. If
    there are more, they are a group like any other; so they are where that is None.
    """
    rows = row_codes(table, names)
    often = frequencies(table)
    suppressed = np.full(len(often), most_starred is not None)
    for name in names:
        column = column_of(table, name)
        stars = [code for code, key in enumerate(column.keys) if key == ANY]
        suppressed &= np.isin(column.codes, stars)
    if int(often[suppressed].sum()) > (most_starred or 0) * table.rows:
        suppressed[:] = False
    # Without suppressed rows, codes are numbered again from 0.
    compact = ranks(rows[~suppressed])
    group_of_row = np.full(len(often), -1, dtype=np.int64)
    group_of_row[~suppressed] = compact
    sizes = totals(compact, often[~suppressed])
    return ReleasedGroups(sizes.tolist(), table, lines, group_of_row.tolist())


# Models


@dataclass(frozen=True)
class GroupModel:
    """A model with its parameters, which are its fields."""

    of_groups_alone: ClassVar[bool] = True
    """Whether it is about groups, and not about how they compare with the whole input."""

    shown: ClassVar[bool] = True
    """Whether a released table shows if it holds."""

    def failing(self, groups: ReleasedGroups) -> int:
        """How many groups do not satisfy it."""
        raise NotImplementedError

    def words(self, column: str) -> str:
        """What a promise calls it, with its column called so."""
        raise NotImplementedError


@dataclass(frozen=True)
class SizeModel(GroupModel):
    """Every group has at least k records."""

    k: int

    def failing(self, groups: ReleasedGroups) -> int:
        return sum(size < self.k for size in groups.sizes)

    def words(self, column: str) -> str:
        return f"{self.k}-anonymity"


@dataclass(frozen=True)
class PresenceBounds(GroupModel):
    """Of the people like a group, a share within bounds is in the table."""

    lowest: Fraction
    highest: Fraction
    population: str

    of_groups_alone = False
    shown = False

    def __post_init__(self) -> None:
        _require_order(Fraction(0), self.lowest, self.highest, Fraction(1))

    def words(self, column: str) -> str:
        return f"({printed(self.lowest)}, {printed(self.highest)})-presence"


@dataclass(frozen=True)
class ValueModel(GroupModel):
    """A model of the values of one column in each group."""

    column: str

    def failing(self, groups: ReleasedGroups) -> int:
        counts = groups.counts(self.column)
        return sum(self.fails(values, counts.whole) for values in counts.groups)

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        """Whether a group with these values fails."""
        raise NotImplementedError


@dataclass(frozen=True)
class DistinctModel(ValueModel):
    """Every group has at least l different values."""

    l: int  # noqa: E741  as in l-diversity

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        return len(values) < self.l

    def words(self, column: str) -> str:
        return f"distinct {self.l}-diversity of {column}"


@dataclass(frozen=True)
class SensitiveModel(ValueModel):
    """Every group has at least p different values, and k records."""

    p: int
    k: int

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        return len(values) < self.p or values.total() < self.k

    def words(self, column: str) -> str:
        return f"{self.p}-sensitive {self.k}-anonymity of {column}"


@dataclass(frozen=True)
class EntropyModel(ValueModel):
    """The entropy of the values in every group is at least log l."""

    l: Fraction  # noqa: E741  as in l-diversity

    def __post_init__(self) -> None:
        _require_order(Fraction(1), self.l)

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        least = math.log(self.l) * (1 - SLACK) - SLACK
        shares = [count / values.total() for count in values.values()]
        entropy = -sum(share * math.log(share) for share in shares)
        return entropy < least

    def words(self, column: str) -> str:
        return f"entropy {printed(self.l)}-diversity of {column}"


@dataclass(frozen=True)
class RecursiveModel(ValueModel):
    """The most frequent value is rarer than c times all but the l − 1 most frequent ones."""

    c: Fraction
    l: int  # noqa: E741  as in l-diversity

    def __post_init__(self) -> None:
        _require_above_zero(self.c)

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        descending = sorted(values.values(), reverse=True)
        return descending[0] >= self.c * sum(descending[self.l - 1 :])

    def words(self, column: str) -> str:
        return f"recursive ({printed(self.c)}, {self.l})-diversity of {column}"


@dataclass(frozen=True)
class ClosenessModel(GroupModel):
    """The values of every group are spread as in the whole table, but for a distance of t."""

    column: str
    t: Fraction
    distance: str

    of_groups_alone = False

    def __post_init__(self) -> None:
        _require_order(Fraction(0), self.t, Fraction(1))
        if self.distance not in ("equal", "ordered", "hierarchical"):
            raise ValueError("not a distance")

    def failing(self, groups: ReleasedGroups) -> int:
        distances = self._distances(groups)
        return sum(distance > self.t for distance in distances)

    def _distances(self, groups: ReleasedGroups) -> list[Fraction]:
        if self.distance == "hierarchical":
            return self._over_levels(groups)
        counts = groups.counts(self.column)
        if self.distance == "equal":
            return [_moved(values, counts.whole) for values in counts.groups]
        steps = max(len(counts.whole) - 1, 1)
        return [_carried(values, counts.whole) / steps for values in counts.groups]

    def _over_levels(self, groups: ReleasedGroups) -> list[Fraction]:
        """The mean over all levels but the root."""
        height = len(groups.lines[self.column][0]) - 1
        distances = [Fraction(0)] * len(groups.sizes)
        for level in range(height):
            counts = groups.counts(self.column, level)
            for group, values in enumerate(counts.groups):
                distances[group] += _moved(values, counts.whole) / height
        return distances

    def words(self, column: str) -> str:
        kind = "" if self.distance == "equal" else f" ({self.distance})"
        return f"{printed(self.t)}-closeness{kind} of {column}"


def _moved(group: Counter[int], whole_table: Counter[int]) -> Fraction:
    """Half the sum of the differences of shares."""
    size = group.total()
    records = whole_table.total()
    surplus = sum(
        max(0, count * records - whole_table[value] * size) for value, count in group.items()
    )
    return Fraction(surplus, size * records)


def _carried(group: Counter[int], whole_table: Counter[int]) -> Fraction:
    """What passes from each value to the next, added up."""
    size = group.total()
    records = whole_table.total()
    carry = moved = 0
    for value in sorted(whole_table):
        carry += group[value] * records - whole_table[value] * size
        moved += abs(carry)
    return Fraction(moved, size * records)


@dataclass(frozen=True)
class LikenessModel(ValueModel):
    """No value is more frequent in a group than in the whole table by more than β times."""

    beta: Fraction
    enhanced: bool

    of_groups_alone = False

    def __post_init__(self) -> None:
        _require_above_zero(self.beta)

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        records = whole_table.total()
        for value, count in values.items():
            gain = Fraction(count * records, values.total() * whole_table[value]) - 1
            if gain > self.beta:
                return True
            if self.enhanced and gain > 0:
                limit = -math.log(whole_table[value] / records) * (1 + SLACK) + SLACK
                if gain > limit:
                    return True
        return False

    def words(self, column: str) -> str:
        kind = "enhanced " if self.enhanced else ""
        return f"{kind}{printed(self.beta)}-likeness of {column}"


@dataclass(frozen=True)
class DisclosureModel(ValueModel):
    """Every value is as frequent in a group as in the whole table, but for a factor below e^δ."""

    delta: Fraction
    every_value: bool

    of_groups_alone = False

    def __post_init__(self) -> None:
        _require_above_zero(self.delta)

    def fails(self, values: Counter[int], whole_table: Counter[int]) -> bool:
        if self.every_value and len(values) < len(whole_table):
            return True
        limit = float(self.delta) * (1 + SLACK) + SLACK
        records = whole_table.total()
        for value, count in values.items():
            factor = count * records / (values.total() * whole_table[value])
            if abs(math.log(factor)) >= limit:
                return True
        return False

    def words(self, column: str) -> str:
        kind = "strict " if self.every_value else ""
        return f"{kind}{printed(self.delta)}-disclosure of {column}"


def _require_order(*numbers: Fraction) -> None:
    if list(numbers) != sorted(numbers):
        raise ValueError("a parameter of a model is out of range")


def _require_above_zero(given: Fraction) -> None:
    if given <= 0:
        raise ValueError("a parameter of a model is out of range")


# Models as certificates state them


_MODELS: Mapping[str, type[GroupModel]] = {
    "k-anonymity": SizeModel,
    "distinct-diversity": DistinctModel,
    "p-sensitivity": SensitiveModel,
    "entropy-diversity": EntropyModel,
    "recursive-diversity": RecursiveModel,
    "t-closeness": ClosenessModel,
    "beta-likeness": LikenessModel,
    "delta-disclosure": DisclosureModel,
    "delta-presence": PresenceBounds,
}


@dataclass(frozen=True)
class ClaimedModel:
    """A model among the parameters of a certificate."""

    name: str
    given: Mapping[str, Any]
    """Its parameters, as they are written."""

    model: GroupModel | None
    """None for a model of the owner's own, of which nothing is known here."""

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> "ClaimedModel":
        name = stated["is"]
        given = {key: stated[key] for key in stated if key != "is"}
        kind = _MODELS.get(name)
        if kind is None and not re.fullmatch(r"[a-z][a-z0-9-]{0,59}", name):
            raise FileError("the certificate has a model whose name is not a plain word")
        model = None if kind is None else _read_model(kind, given)
        return cls(name, given, model)

    @property
    def column(self) -> str | None:
        """The sensitive column that it is about, if it is about one."""
        return self.given.get("column")

    @property
    def counts_by(self) -> list[str]:
        """The parts of it that no file shows: a hierarchy or a population to count by."""
        return [key for key in (_HIERARCHY, "population") if key in self.given]

    def words(self, *, quoted: bool = False) -> str:
        """What a promise calls it; `quoted` if its column is in quotes where it is not a word."""
        if self.model is None:
            return f"{self.name} (a model of the owner's own)"
        column = str(self.column)
        return self.model.words(word(column) if quoted else column)

    @property
    def called(self) -> str:
        """What a verdict calls it."""
        parts = [f"{key} = {word(value)}" for key, value in self.given.items() if key != _HIERARCHY]
        if self.model is None:
            parts.insert(0, "a model of the owner's own")
        return f"{self.name} ({', '.join(parts)})"


def _read_model(kind: type[GroupModel], given: Mapping[str, Any]) -> GroupModel:
    names = {field.name for field in fields(kind)}
    # Anything else could carry a number about the rows.
    if given.keys() - names - {_HIERARCHY}:
        raise FileError("the certificate states more of a model than its parameters")
    return kind(**{field.name: _READERS[field.type](given[field.name]) for field in fields(kind)})


def _text(given: object) -> str:
    if type(given) is not str:
        raise ValueError("not a text")
    return given


def _flag(given: object) -> bool:
    if type(given) is not bool:
        raise ValueError("neither true nor false")
    return given


_READERS: Mapping[Any, Any] = {int: whole, Fraction: number, str: _text, bool: _flag}
"""What reads the parameters of models, by their types."""
