"""The long form: rows (person, item, value), never a matrix of people by items.

`Columns` uses it. Rows are kept in the order of their items, so that those of a group of items are
a few slices. A group's rows are sorted by person; a run of them is a person's projection, and
projections that k people share are found by interning beginnings: a projection that occurs k times
has only beginnings that occur k times.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import last_of_runs, smallest
from shoal.data.kinds import Key
from shoal.data.tables import Table
from shoal.errors import TooLargeError
from shoal.exact.epsilon import Epsilon
from shoal.methods.columns.schemas import Groups, bought_pairs, pairs_of, similarity
from shoal.methods.columns.wide import COLUMN_GROUP, Drawn, Laid, NullableColumn, nullable
from shoal.methods.noisy_counts import noisy
from shoal.privacy.sharing import CountParameters
from shoal.releases.layout import COUNT

__all__ = ["RECORD", "Long", "Projections", "Rows", "bounded", "shared"]

RECORD = "record"
"""The column of a released long table that numbers its records."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]

_LARGEST = (1 << 63) - 1
_ROWS = 1 << 20
"""That are sorted at once."""

_PEOPLE = 1 << 16
"""Whose choices are drawn together; a multiple of 8."""


@dataclass(frozen=True, eq=False)
class Long:
    """A long table: its rows, the released columns, and the items by their keys, in their order."""

    rows: "Rows"
    item: str
    value: str | None
    keys: Sequence[Key]
    column: NullableColumn | None  # of the values

    @classmethod
    def of(
        cls,
        table: Table,
        keys: Sequence[Key],
        person: str,
        item: str,
        value: str | None,
        levels: Mapping[str, int],
    ) -> "Long":
        """The rows of these items; those that miss an item or a value are left out."""
        table.require_people(person)
        names = [item, person] if value is None else [item, person, value]
        table.look_at(names)
        column = None if value is None else nullable(table, value, levels.get(value))
        # Items that are not wanted, and values that are missing, have the code after the last.
        wanted = {key: place for place, key in enumerate(keys)}
        unwanted = len(keys)
        places = [
            unwanted if key is None else wanted.get(key, unwanted) for key in table.keys(item)
        ]
        codes = {item: (np.array(places, dtype=smallest(unwanted + 1)), unwanted + 1)}
        if column is not None and value is not None:
            codes[value] = column.codes, column.null + 1
        counts = table.count(names, {}, codes)
        kept = counts.codes[0] != unwanted
        if column is not None:
            kept &= counts.codes[2] != column.null
        counts = counts.where(kept)
        rows = Rows.of(
            counts.codes[1],
            counts.codes[0].astype(np.int32),
            None if column is None else counts.codes[2],
            len(table.keys(person)),
            len(keys),
            1 if column is None else max(column.null, 1),
        )
        return cls(rows, item, value, keys, column)

    @property
    def records(self) -> int:
        return self.rows.people

    def distance(self) -> Ints:
        """Distances of the items, by the paper's similarity of ratings."""
        return similarity(pairs_of(*self.rows.projected(range(len(self.keys))), len(self.keys)))

    def bought(self, epsilon: Epsilon, chance: Chance, looked_at: int) -> Ints:
        """Distances of the items that spend ε.

        Of each person a uniform choice of at most `looked_at` items counts.
        """
        person, item, value = self.rows.projected(range(len(self.keys)))
        some = np.flatnonzero(chance.choices(np.bincount(person, minlength=1), looked_at))
        pairs = pairs_of(person[some], item[some], value[some], len(self.keys))
        return similarity(bought_pairs(pairs, looked_at, epsilon, chance))

    def release(
        self,
        groups: Groups,
        most: int,
        parameters: CountParameters,
        chance: Chance,
        done: Callable[[int], None],
        counts: bool,
    ) -> Drawn:
        """The released records by groups, then by how many items they have, then by values."""
        who = [self.rows.touched(places) for places in groups]
        if most < len(groups):
            who = bounded(who, self.rows.people, most, chance)
        given = 0
        # Of each part: its group, how many items a record has, how many records there are.
        shape = []
        kinds = smallest(len(self.keys)), smallest(self.rows.values)
        items, values, often = ([np.zeros(0, dtype=kind)] for kind in (*kinds, np.int64))
        for place, group in enumerate(groups):
            done(place)
            given += int(np.bitwise_count(who[place]).sum())
            for part in shared(*self.rows.projected(group, who[place]), parameters.k):
                count = noisy(part.count, parameters, chance)
                kept = np.flatnonzero(count)
                copies = kept if counts else np.repeat(kept, count[kept])
                shape.append((place + 1, part.items.shape[1], len(copies)))
                items.append(part.items.astype(kinds[0])[copies].ravel())
                values.append(part.values.astype(kinds[1])[copies].ravel())
                often.append(count[kept])
        item = np.concatenate(items)
        value = np.concatenate(values)
        count = np.concatenate(often)
        places, lengths, copies = np.array(shape, dtype=np.int64).reshape(-1, 3).T
        length = np.repeat(lengths, copies)
        record = np.repeat(np.arange(1, len(length) + 1), length)
        laid: Laid = {
            RECORD: (None, record),
            COLUMN_GROUP: (None, np.repeat(places, lengths * copies)),
            self.item: NullableColumn(tuple(self.keys), item, False).released(item),
        }
        if self.value is not None and self.column is not None:
            laid[self.value] = self.column.released(value)
        if counts:
            laid[COUNT] = None, np.repeat(count, length)
        return Drawn(laid, given, int(count.sum()))


@dataclass(frozen=True)
class Projections:
    """Different projections onto a group that have equally many items.

    Each is a row of `items` and `values`; `count` is how often it occurs. They are in the order of
    their items and values.
    """

    items: Ints
    values: Ints
    count: Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows by item: those of item j are at starts[j] to starts[j + 1].

    Each has a person and a value. There may be several rows of a person for an item.
    """

    person: npt.NDArray[np.unsignedinteger]
    value: npt.NDArray[np.unsignedinteger]
    starts: Ints
    people: int
    values: int

    @classmethod
    def of(
        cls,
        person: npt.NDArray[np.unsignedinteger],
        item: npt.NDArray[np.integer],
        value: npt.NDArray[np.unsignedinteger] | None,
        people: int,
        items: int,
        values: int,
    ) -> "Rows":
        """From columns of codes; rows with an item below 0 are left out.

        Without a column of values all have the value 0.
        """
        parts = [slice(start, start + _ROWS) for start in range(0, len(item), _ROWS)]
        number = np.zeros(items + 1, dtype=np.int64)
        for part in parts:
            # Those to leave out are first.
            number += np.bincount(item[part] + 1, minlength=items + 1)
        starts = np.concatenate([[0], np.cumsum(number[1:])])
        who = np.empty(starts[-1], dtype=person.dtype)
        own = np.zeros(starts[-1], dtype=np.uint8 if value is None else value.dtype)
        free = starts.copy()
        # Parts are small enough for the cache, and for memory to be used again; codes of two bytes
        # or less are sorted in linear time.
        for part in parts:
            narrow = (item[part] + 1).astype(smallest(items + 1))
            order = np.argsort(narrow, kind="stable")
            here = np.bincount(narrow, minlength=items + 1)
            order = order[here[0] :]
            here = here[1:]
            before = np.cumsum(here) - here
            place = np.repeat(free[:-1] - before, here) + np.arange(len(order))
            free[:-1] += here
            who[place] = person[part][order]
            if value is not None:
                own[place] = value[part][order]
        return cls(who, own, starts, people, values)

    def touched(self, items: Sequence[int]) -> Bits:
        """Who gave any of these items, one bit per person."""
        there = np.zeros(self.people, dtype=np.bool_)
        for item in items:
            there[self.person[self.starts[item] : self.starts[item + 1]]] = True
        return np.packbits(there)

    def projected(self, items: Sequence[int], who: Bits | None = None) -> tuple[Ints, Ints, Ints]:
        """Who gave which of these items which value, sorted by person, then by item, once each.

        Items are in the order of their places. Of several values that a person gave an item, the
        smallest counts. `who` picks the people.
        """
        items = sorted(items)
        fits(len(items), self.values)
        slices = [slice(self.starts[item], self.starts[item + 1]) for item in items]
        person = np.concatenate([self.person[part] for part in slices])
        pairs_of_item = [
            self.value[part].astype(np.int64) + place * self.values
            for place, part in enumerate(slices)
        ]
        pair = np.concatenate(pairs_of_item)
        if who is not None:
            some = np.flatnonzero(np.unpackbits(who, count=self.people).view(np.bool_)[person])
            person = person[some]
            pair = pair[some]
        pair, pairs = dense(pair, len(items) * self.values)
        fits(self.people, len(pairs))
        key = person.astype(np.int64)
        key *= len(pairs)
        key += pair
        key.sort()
        whose = key // max(len(pairs), 1)
        key -= whose * len(pairs)
        pair = pairs[key]
        item = pair // max(self.values, 1)
        same_person = whose[1:] == whose[:-1]
        again = np.flatnonzero(same_person & (item[1:] == item[:-1])) + 1
        if len(again):
            whose, pair, item = (np.delete(column, again) for column in (whose, pair, item))
        return whose, np.asarray(items, dtype=np.int64)[item], pair - item * self.values


def bounded(touched: Sequence[Bits], people: int, most: int, chance: Chance) -> list[Bits]:
    """The same with at most `most` groups for each person.

    That is a uniform choice, independent between people.
    """
    kept = [bits.copy() for bits in touched]
    for start in range(0, people, _PEOPLE):
        part = slice(start // 8, (start + _PEOPLE) // 8)
        columns = [np.unpackbits(bits[part]) for bits in kept]
        given = np.stack(columns, axis=1).view(np.bool_)
        given[given] = chance.choices(given.sum(axis=1), most)
        for place, bits in enumerate(kept):
            bits[part] = np.packbits(given[:, place])
    return kept


def shared(person: Ints, item: Ints, value: Ints, k: int) -> Iterator[Projections]:
    """The projections that at least k people share, those with fewer items first.

    Rows are sorted by person, then by item.
    """
    ends = last_of_runs(person) + 1
    starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
    items, values = (int(column.max(initial=0)) + 1 for column in (item, value))
    fits(items, values)
    pair, pairs = dense(item * values + value, items * values)
    # The beginnings of people's projections, numbered in their order.
    begun = np.zeros(len(starts), dtype=np.int64)
    beginnings, length = 1, 0
    while len(starts):
        fits(beginnings, len(pairs))
        key = pair[starts + length]
        key = key + begun * len(pairs)
        begun, _ = dense(key, beginnings * len(pairs))
        often = np.bincount(begun) >= k
        length += 1
        on = np.flatnonzero(often[begun])
        starts = starts[on]
        ends = ends[on]
        begun = (np.cumsum(often) - 1)[begun[on]]
        beginnings = int(often.sum())
        whole = ends - starts == length
        count = np.bincount(begun[whole], minlength=beginnings)
        of = np.zeros(beginnings, dtype=np.int64)
        of[begun[whole]] = starts[whole]  # any of those who share it
        enough = np.flatnonzero(count >= k)
        if len(enough):
            rows = of[enough, None] + np.arange(length)
            yield Projections(item[rows], value[rows], count[enough])
        starts = starts[~whole]
        ends = ends[~whole]
        begun = begun[~whole]


def dense(codes: Ints, space: int) -> tuple[Ints, Ints]:
    """Codes below `space` numbered anew without gaps, in their order, and those that occur.

    By counting if the space is small.
    """
    if space > max(4 * len(codes), 1 << 16):
        distinct, places = np.unique(codes, return_inverse=True)
        return places, distinct
    there = np.bincount(codes, minlength=1) > 0
    return (np.cumsum(there) - 1)[codes], np.flatnonzero(there)


def fits(one: int, other: int) -> None:
    """TooLargeError unless the product of two numbers is one of the machine's."""
    if one * other > _LARGEST:
        raise TooLargeError(
            "there are too many people and values for one group of columns",
            "make groups of fewer items, or use levels",
        )
