"""The ordinary table, a row a record: its projections onto groups of columns. `Columns` uses it.

Null is what a table misses: a missing value is null, under every hierarchy and at every level, and
a projection that has nothing but nulls is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, smallest
from shoal.data.kinds import Key
from shoal.data.tables import Table
from shoal.exact.epsilon import Epsilon
from shoal.methods.columns.schemas import Groups, Ints, bought_association, contingency
from shoal.methods.noisy_counts import noisy
from shoal.privacy.sharing import CountParameters
from shoal.releases.layout import COUNT
from shoal.zones import owner_only

__all__ = ["COLUMN_GROUP", "Drawn", "Laid", "NullableColumn", "Wide", "nullable"]

COLUMN_GROUP = "column_group"
"""The column that says to which group of the schema a released row belongs, from 1."""

Bools = npt.NDArray[np.bool_]
Laid = dict[str, tuple[Sequence[Key | None] | None, npt.NDArray[Any]]]
"""Released columns, as `Table.like` takes them."""

_RECORDS = 1 << 18
"""Whose choices are drawn together."""


@owner_only
@dataclass(frozen=True, eq=False)
class Drawn:
    """The released columns; how many projections there were, and how many are released."""

    laid: Laid
    projections: int
    released: int


@owner_only
@dataclass(frozen=True, eq=False)
class NullableColumn:
    """A column at its level: its values there, and the code of each distinct value of the table.

    The code after the last is `null`, for what is missing. `listed` says whether the values are
    those of a public hierarchy, not of the rows.
    """

    values: tuple[Key, ...]
    codes: Codes
    listed: bool

    @property
    def null(self) -> int:
        return len(self.values)

    def released(self, codes: npt.NDArray[Any]) -> tuple[Sequence[Key | None], npt.NDArray[Any]]:
        """The values of released codes; nothing depends on a value that is not released."""
        if self.listed:
            return (*self.values, None), codes
        occurs = np.bincount(codes, minlength=self.null + 1) > 0
        every = zip((*self.values, None), occurs.tolist(), strict=True)
        values = [value for value, is_released in every if is_released]
        renumbered = (np.cumsum(occurs) - 1).astype(smallest(self.null + 1))
        return values, renumbered[codes]


def nullable(table: Table, name: str, level: int | None) -> NullableColumn:
    """A column at a level of its hierarchy, or by its own values."""
    keys = table.keys(name)
    if level is None:
        # Keys have the missing value last, where null is.
        values = tuple(key for key in keys if key is not None)
        codes = np.arange(len(keys)).astype(smallest(len(values) + 1))
        return NullableColumn(values, codes, False)
    tree = table.hierarchy(name)
    labels = tree.labels[level]
    if tree.has_missing and level < tree.height:
        labels = labels[:-1]
    missing = np.array([key is None for key in keys], dtype=np.bool_)
    places = np.where(missing, len(labels), tree.maps[level][table.leaf_of(name)])
    return NullableColumn(labels, places.astype(smallest(len(labels) + 1)), True)


@dataclass(frozen=True, eq=False)
class Wide:
    """Distinct rows of some columns."""

    counts: Counts
    columns: Mapping[str, NullableColumn]

    @property
    def records(self) -> int:
        return self.counts.total

    def distance(self) -> Ints:
        """Distances of the columns, by mean-square contingency.

        Where a value is missing counts as a value.
        """
        return contingency(self.counts)

    def bought(self, epsilon: Epsilon, chance: Chance) -> Ints:
        """Distances of the columns that spend ε."""
        return bought_association(self.counts, epsilon, chance)

    @classmethod
    def of(
        cls,
        table: Table,
        names: Sequence[str],
        levels: Mapping[str, int],
    ) -> "Wide":
        """The columns of a table, those that have one at their level."""
        table.look_at(names)
        columns = {name: nullable(table, name, levels.get(name)) for name in names}
        codes = {name: (column.codes, column.null + 1) for name, column in columns.items()}
        return cls(table.count(names, {}, codes), columns)

    def release(
        self,
        groups: Groups,
        most: int,
        parameters: CountParameters,
        chance: Chance,
        done: Callable[[int], None],
        counts: bool,
    ) -> "Drawn":
        """The released rows, in the order of the groups, and within a group of their values."""
        projections, parts, often = 0, [], []
        for place, rows in enumerate(self.projected(groups, most, chance)):
            done(place)
            count = noisy(rows.count, parameters, chance)
            kept = np.flatnonzero(count)
            projections += rows.total
            released = [codes[kept] for codes in rows.codes]
            parts.append(dict(zip(rows.names, released, strict=True)))
            often.append(count[kept])
        count = np.concatenate(often)
        repeated = np.ones_like(count) if counts else count
        sizes = [len(part) for part in often]
        numbers = np.repeat(np.arange(1, len(groups) + 1), sizes)
        laid: Laid = {COLUMN_GROUP: (None, np.repeat(numbers, repeated))}
        used = {place for places in groups for place in places}
        for place, (name, column) in enumerate(self.columns.items()):
            if place not in used:
                continue
            padding = [np.full(size, column.null) for size in sizes]
            pieces = [part.get(name, pad) for part, pad in zip(parts, padding, strict=True)]
            codes = np.concatenate(pieces).astype(smallest(column.null + 1))
            laid[name] = column.released(np.repeat(codes, repeated))
        if counts:
            laid[COUNT] = None, count
        return Drawn(laid, projections, int(count.sum()))

    def projected(self, groups: Groups, most: int, chance: Chance) -> Iterator[Counts]:
        """For every group the distinct projections of the records that give it a value.

        Of more than `most` groups, each record gives as many, a uniform choice, independent between
        records.
        """
        given = self._given(groups)
        counts = self.counts
        weights = None
        if most < len(groups) and len(given) and given.sum(axis=1).max() > most:
            weights = self._bounded(given, most, chance)
        for at, places in enumerate(groups):
            if weights is None:
                weight = np.where(given[:, at], counts.count, 0)
            else:
                weight = weights[:, at].astype(np.int64)
            kept = np.flatnonzero(weight)
            yield group(
                [counts.names[place] for place in places],
                [counts.codes[place][kept] for place in places],
                [counts.cards[place] for place in places],
                weight[kept],
            )

    def _given(self, groups: Groups) -> Bools:
        """Which distinct row gives which group a value."""
        columns = zip(self.counts.codes, self.counts.cards, strict=True)
        present = [codes != card - 1 for codes, card in columns]
        given = np.zeros((len(groups), self.counts.distinct), dtype=np.bool_)
        for gives, places in zip(given, groups, strict=True):
            for place in places:
                gives |= present[place]
        return given.T

    def _bounded(self, given: Bools, most: int, chance: Chance) -> Codes:
        """How many records of each distinct row give each group a value, each at most `most`."""
        records = np.repeat(np.arange(self.counts.distinct), self.counts.count)
        weights: Codes = np.zeros(
            given.shape, dtype=smallest(int(self.counts.count.max(initial=0)) + 1)
        )
        for start in range(0, len(records), _RECORDS):
            which = records[start : start + _RECORDS]
            kept = given[which]
            kept[kept] = chance.choices(kept.sum(axis=1), most)
            first = int(which[0])
            for place in range(given.shape[1]):
                part = np.bincount(which[kept[:, place]] - first)
                weights[first : first + len(part), place] += part.astype(weights.dtype)
        return weights
