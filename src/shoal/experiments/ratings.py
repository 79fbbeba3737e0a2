"""Ratings to experiment with: made by code, or read from a reader's table.

Made ones are of people with habits and tastes, and of items with a popularity, a genre and a
quality; nobody in them exists. A rating is a mean + the item's quality + the person's habit +
taste · character + noise, rounded to 1..5: mean about 3.6, standard deviation about 1.1, and item
means miss it by about 1.0, as they do with real ratings of films. Which items a person rates
depends on their popularity (Zipf–Mandelbrot) and a bit on the person's taste; how many, on the
person (log-normal). They are drawn by a seeded generator: this is making data, not protecting it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.data.tables import table as as_table
from shoal.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NAMES", "PersonalRatings", "draw", "given"]

NAMES = ("person", "item", "rating")
"""The columns of ratings as a table."""

MEAN = 3.4
QUALITY, HABIT, TASTE, NOISE = 0.42, 0.5, 0.55, 0.85
"""Standard deviations of the four parts of a rating."""

FACTORS, GENRES = 6, 12
STEEP, FLAT = 1.2, 4.0
"""Popularity is (rank + FLAT)^−STEEP: the median of 500 items is rated a hundredth as often as the
first.
"""

ACTIVITY = 1.0
"""The standard deviation of the logarithm of how many items a person rates."""

LEANING = 1.5
"""How much taste decides what is rated at all: the logit of a proposed item's acceptance, per
standard deviation of taste.
"""

SPARE = 1.1
"""What is aimed at: who rates most does not find as many items."""

CHUNK = 50_000
"""People that are made at a time."""


@dataclass(frozen=True, eq=False)
class PersonalRatings:
    """Long form, in random order: who rated what, and how. People and items are numbers from 0."""

    person: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.value)

    @property
    def people(self) -> int:
        """How many people there are, with those of the largest number."""
        return int(self.person.max(initial=-1)) + 1

    def only(self, which: npt.NDArray[np.bool_]) -> "PersonalRatings":
        """Some of the ratings."""
        return PersonalRatings(self.person[which], self.item[which], self.value[which])

    def among(self, items: int) -> "PersonalRatings":
        """The ratings of that many items, those that are rated most, numbered anew."""
        often = np.bincount(self.item, minlength=items)
        if len(often) == items:
            return self
        number = np.full(len(often), -1, dtype=np.int32)
        chosen = np.argsort(-often, kind="stable")[:items]
        number[chosen] = np.arange(items, dtype=np.int32)
        which = number[self.item] >= 0
        return PersonalRatings(self.person[which], number[self.item[which]], self.value[which])

    def frame(self) -> "pl.DataFrame":
        """The ratings as a dataframe."""
        import polars as pl

        return pl.DataFrame(dict(zip(NAMES, (self.person, self.item, self.value), strict=True)))

    def table(self) -> Table:
        """The ratings as a table, in which `person` is identifying."""
        is_whole = self.value.dtype.kind == "i"
        types = {"person": "integer", "item": "integer", "rating": "float"}
        if is_whole:
            types["rating"] = "integer"
        return as_table(self.frame(), identifying=NAMES[:1], insensitive=NAMES[1:], types=types)


def given(table: Table) -> PersonalRatings:
    """The ratings of a table whose first three columns are people, items and numbers.

    Rows that lack any of these are left out. InputError if nothing is left.
    """
    if len(table.names) < len(NAMES):
        raise InputError(
            "ratings have three columns: who, what and a number", "give a table with these first"
        )
    who, what, rated = table.records(table.names[: len(NAMES)])
    numbers = np.array(Kind.FLOAT.keys(rated.labels, rated.name), dtype=np.float64)[rated.codes]
    missing_person = np.array([key is None for key in who.keys], dtype=np.bool_)
    missing_item = np.array([key is None for key in what.keys], dtype=np.bool_)
    complete = ~(missing_person[who.codes] | missing_item[what.codes] | np.isnan(numbers))
    if not complete.any():
        raise InputError("there are no ratings in the table", "give who, what and a number")
    value: npt.NDArray[Any] = numbers[complete]
    if (value == np.rint(value)).all():
        value = value.astype(np.int64)
    person, item = (_numbered(column.codes[complete]) for column in (who, what))
    return PersonalRatings(person, item, value)


def _numbered(codes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Codes without those that do not occur."""
    _, number = np.unique(codes, return_inverse=True)
    return np.asarray(number, dtype=np.int32)


def draw(people: int, items: int, ratings: int, seed: int = 7) -> PersonalRatings:
    """That many ratings (fewer only if there are too few items), and nearly everyone has some.

    The same seed gives the same ratings.
    """
    rng = np.random.default_rng(seed)
    parts = [*_parts(people, items, SPARE * ratings, rng)]
    person, item, value = (np.concatenate([part[j] for part in parts]) for j in range(3))
    del parts
    order = rng.permutation(len(value))[:ratings]
    return PersonalRatings(person[order], item[order], value[order])


Part = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int8]]


def _parts(people: int, items: int, ratings: float, rng: np.random.Generator) -> Iterator[Part]:
    """Some people after the other with all their ratings."""
    popularity = 1 / (np.arange(items) + FLAT) ** STEEP
    popularity = rng.permutation(popularity)
    edges = np.cumsum(popularity / popularity.sum())
    genre = rng.normal(size=(GENRES, FACTORS))[rng.integers(GENRES, size=items)]
    character = genre + 0.6 * rng.normal(size=(items, FACTORS))
    character *= TASTE / np.sqrt((character**2).sum(axis=1).mean())
    quality = QUALITY * rng.normal(size=items)
    activity = np.exp(ACTIVITY * rng.normal(size=people))
    share = np.round(activity * ratings / activity.sum())
    wanted = np.clip(share, 1, max(items // 3, 1)).astype(np.int64)
    for start in range(0, people, CHUNK):
        number = wanted[start : start + CHUNK]
        habit = HABIT * rng.normal(size=len(number))
        taste = rng.normal(size=(len(number), FACTORS))
        who = np.repeat(np.arange(len(number)), 3 * number + 8)
        what = np.searchsorted(edges, rng.random(len(who))).clip(0, items - 1)
        liked = np.einsum("nf,nf->n", taste[who], character[what])
        kept = rng.random(len(who)) < 1 / (1 + np.exp(-LEANING * liked / TASTE))
        who, what, liked = who[kept], what[kept], liked[kept]
        # A person rates an item once: the first time.
        _, first = np.unique(who * items + what, return_index=True)
        first.sort()
        who, what, liked = who[first], what[first], liked[first]
        begin = np.searchsorted(who, np.arange(len(number)))
        kept = np.arange(len(who)) - begin[who] < number[who]
        who, what, liked = who[kept], what[kept], liked[kept]
        exact = MEAN + quality[what] + habit[who] + liked + NOISE * rng.normal(size=len(who))
        value = np.clip(np.rint(exact), 1, 5).astype(np.int8)
        yield (who + start).astype(np.int32), what.astype(np.int32), value
