"""Bounding people one after the other, whether or not all of their rows fit into memory.

An engine hands over the rows in the order of people. Some are held, drawn, and counted by what is
released of them, and then the next: what is drawn is the very same as in memory. Uses `bounding`
and `tallies`; `distant` uses it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, smallest
from shoal.data.bounding import blocks, bounded_rows
from shoal.data.kinds import Key, Kind
from shoal.data.sources import Memory, Reading
from shoal.data.tallies import Tallied, TalliedColumn
from shoal.errors import SourceError
from shoal.zones import owner_only

__all__ = ["KeptRows", "ascends", "drawable", "is_known"]

Ints = npt.NDArray[np.int64]

_TYPES = {
    Kind.TEXT: pl.String(),
    Kind.INTEGER: pl.Int64(),
    Kind.FLOAT: pl.Float64(),
    Kind.DATE: pl.Date(),
}
"""The types of keys."""


def is_known(values: pl.Series) -> pl.Series:
    """Which values of texts, numbers or dates are not missing."""
    known = values.is_not_null()
    if values.dtype == pl.String:
        known &= values != ""
    return known


def ascends(values: pl.Series) -> bool:
    """Whether values that are not missing ascend, so that equal ones are neighbours."""
    # No look at what a column says of itself: a file may claim to be sorted.
    return bool((values.slice(1) >= values.slice(0, max(len(values) - 1, 0))).all())


def drawable(
    parts: Iterable[pl.DataFrame], rows: int, at_once: int, changed: SourceError
) -> Iterator[pl.DataFrame]:
    """The same rows in parts that can be drawn one after the other, as if they were one.

    parts: the rows in the order of people, whom the first column tells apart
    rows: how many each person may keep
    at_once: how many rows to wait for before some are handed on
    changed: what to raise if they are not in that order

    No person is in two parts, and nor is a block of people who are drawn together. So what waits is
    at most a block of them, and the last person.
    """
    waiting: list[pl.DataFrame] = []
    number = 0
    enough = at_once
    for part in parts:
        for some in part.iter_slices(at_once):
            waiting.append(some)
            number += some.height
            if number < enough:
                continue
            held = _together(waiting, changed)
            waits = _waits(held.to_series(0), rows)
            yield held.filter(~waits)
            waiting = [held.filter(waits)]
            number = waiting[0].height
            enough = number + at_once
    if number:
        yield _together(waiting, changed)


def _together(parts: Sequence[pl.DataFrame], changed: SourceError) -> pl.DataFrame:
    held = pl.concat(parts)
    person = held.to_series(0)
    if not is_known(person).all() or not ascends(person):
        raise changed
    return held


def _waits(person: pl.Series, rows: int) -> pl.Series:
    """Which rows wait for others: those of the last person, and of a block that may go on."""
    people = person.rle_id().to_numpy()
    sizes = np.bincount(people)
    waits = np.zeros(len(sizes), dtype=np.bool_)
    waits[-1] = True
    draws = np.flatnonzero(sizes[:-1] > rows)
    last_block = blocks(sizes[draws])[-1:]
    for block in last_block:
        waits[draws[block]] = True
    return pl.Series(waits[people])


@owner_only
@dataclass(eq=False)
class KeptRows:
    """The rows kept so far, counted by what is released of them."""

    columns: Sequence[Reading]
    keys: Sequence[tuple[Key | None, ...]]
    """All values that the columns have."""
    types: Memory
    """A dataframe without rows: all columns of the source."""
    _counts: list[Counts] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._place_of = [{key: place for place, key in enumerate(every)} for every in self.keys]

    def draw(self, part: pl.DataFrame, rows: int, chance: Chance) -> None:
        """Keep at most `rows` rows of each person in a part: whoever is in it, then the columns.

        KeyError, before anything is drawn, if there is a value that is not one of `keys`.
        """
        people = part.to_series(0).rle_id().to_numpy()
        coded = self._read(part).columns(self.columns)
        places = []
        for column, place_of in zip(coded, self._place_of, strict=True):
            own = [place_of[key] for key in column.keys]
            places.append(np.array(own, dtype=smallest(len(place_of))))
        once = np.ones(part.height, dtype=np.int64)
        kept = bounded_rows(people, [column.codes for column in coded], once, rows, chance)
        left = np.flatnonzero(kept)
        codes = [own[column.codes[left]] for own, column in zip(places, coded, strict=True)]
        self._counts.append(self._grouped(codes, kept[left]))
        # Added up when they have become twice as many, so that adding stays in proportion.
        if sum(counts.distinct for counts in self._counts[1:]) > self._counts[0].distinct:
            self._counts = [self._sum()]

    def _read(self, part: pl.DataFrame) -> Memory:
        """The columns of a part, by their names and in the types that the source says."""
        own = self.types.frame.to_native().schema
        read = {}
        for column, values in zip(self.columns, part.get_columns()[1:], strict=True):
            # Texts may come as categories.
            is_text = own[column.name] == pl.String
            read[column.name] = values if is_text else values.cast(own[column.name])
        return Memory.of(pl.DataFrame(read))

    def tally(self) -> Tallied:
        """The rows as a source."""
        total = self._sum()
        held = {}
        for column, keys, codes in zip(self.columns, self.keys, total.codes, strict=True):
            values = pl.Series(column.name, keys, _TYPES[column.kind])
            held[column.name] = TalliedColumn.of(values, codes)
        return Tallied(held, total.count, self.types)

    def _sum(self) -> Counts:
        codes = [
            np.concatenate([part.codes[place] for part in self._counts])
            for place in range(len(self.columns))
        ]
        return self._grouped(codes, np.concatenate([part.count for part in self._counts]))

    def _grouped(self, codes: Sequence[Codes], count: Ints) -> Counts:
        names = [column.name for column in self.columns]
        return group(names, codes, [len(keys) for keys in self.keys], count)
