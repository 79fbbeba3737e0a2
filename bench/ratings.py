"""Made ratings: people with habits and tastes, items with a popularity, a genre and a quality.
Nothing here is about anyone.

A rating is a mean + the item's quality + the person's habit + taste · character + noise, rounded to
1..5: mean about 3.6, standard deviation about 1.1, and item means miss it by about 1.0, as they do
with real ratings of films. Which items a person rates depends on their popularity (Zipf–Mandelbrot)
and a bit on the person's taste; how many, on the person (log-normal).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

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
class MadeRatings:
    """Long form, in random order: who rated what, and how."""

    person: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.value)

    def only(self, which: npt.NDArray[np.bool_]) -> "MadeRatings":
        return MadeRatings(self.person[which], self.item[which], self.value[which])

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame({"person": self.person, "item": self.item, "rating": self.value})


def draw(people: int, items: int, ratings: int, seed: int = 7) -> MadeRatings:
    """That many ratings (fewer only if there are too few items), and nearly everyone has some.

    The same seed gives the same ratings.
    """
    rng = np.random.default_rng(seed)
    parts = [*_parts(people, items, SPARE * ratings, rng)]
    person, item, value = (np.concatenate([part[j] for part in parts]) for j in range(3))
    del parts
    order = rng.permutation(len(value))[:ratings]
    return MadeRatings(person[order], item[order], value[order])


def make(people: int, items: int, ratings: int, path: Path, seed: int = 7) -> Path:
    """Write made ratings as a CSV file with the columns person, item and rating, or no file."""
    unfinished = path.with_suffix(".part")
    draw(people, items, ratings, seed).frame().write_csv(unfinished)
    unfinished.rename(path)
    return path


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
    wanted = np.clip(np.round(activity * ratings / activity.sum()), 1, max(items // 3, 1)).astype(
        np.int64
    )
    for start in range(0, people, CHUNK):
        number = wanted[start : start + CHUNK]
        habit = HABIT * rng.normal(size=len(number))
        taste = rng.normal(size=(len(number), FACTORS))
        who = np.repeat(np.arange(len(number)), 3 * number + 8)
        what = np.searchsorted(edges, rng.random(len(who))).clip(0, items - 1)
        liked = np.einsum("nf,nf->n", taste[who], character[what])
        kept = rng.random(len(who)) < 1 / (1 + np.exp(-LEANING * liked / TASTE))
        who, what, liked = who[kept], what[kept], liked[kept]
        _, first = np.unique(
            who * items + what, return_index=True
        )  # a person rates an item once: the first time
        first.sort()
        who, what, liked = who[first], what[first], liked[first]
        begin = np.searchsorted(who, np.arange(len(number)))
        kept = np.arange(len(who)) - begin[who] < number[who]
        who, what, liked = who[kept], what[kept], liked[kept]
        exact = MEAN + quality[what] + habit[who] + liked + NOISE * rng.normal(size=len(who))
        value = np.clip(np.rint(exact), 1, 5).astype(np.int8)
        yield (who + start).astype(np.int32), what.astype(np.int32), value
