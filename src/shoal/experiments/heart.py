"""Tables and views like those of the experiment in Zhang's chapter 6, made by code.

There, each of four tables of heart patients had about 200 people, public columns of whole numbers,
and how ill they are in five levels. A view asks for an interval of one column; one that exposes
somebody by itself is not shown. How many people have each level is public (UCI's description of
these tables), and is drawn from here; the public columns are made up. Uses `views`; the experiments
of Zhang's chapter 6 use it, and benchmarks.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from shoal.views import View, Views, check

__all__ = ["CLEVELAND", "LONG_BEACH", "WIDTHS", "Shown", "growing", "violated"]

RANGES = {"age": (28, 77), "pressure": (80, 200), "cholesterol": (100, 600), "rate": (60, 202)}
CLEVELAND = (164, 55, 36, 35, 13)
LONG_BEACH = (51, 56, 41, 42, 10)
"""How many people of a table have each level.

One has more than half of Cleveland's; Long Beach's are spread the most evenly.
"""

WIDTHS = {"3.5 to 7 %": (0.035, 0.07), "2 to 4 %": (0.02, 0.04)}
"""Of an interval, as a share of the range that the column's values have."""


@dataclass(frozen=True)
class Shown:
    """Everybody's public values and secret level, and views with the column each goes by."""

    columns: dict[str, list[int]]
    levels: list[int]
    views: Views
    by: dict[str, str]


def growing(
    seed: int,
    columns: int,
    widths: tuple[float, float],
    people: int = 200,
    spread: tuple[int, ...] = LONG_BEACH,
) -> Iterator[Shown]:
    """A table, with one view more each time."""
    drawn = random.Random(f"{seed} {columns} {widths} {people}")
    public = {
        name: [_near(drawn, *RANGES[name]) for _ in range(people)]
        for name in list(RANGES)[:columns]
    }
    levels = drawn.choices(range(len(spread)), spread, k=people)
    views: list[View] = []
    by: dict[str, str] = {}
    while True:
        name = drawn.choice(list(public))
        values = public[name]
        least, most = min(values), max(values)
        first = drawn.uniform(least, most)
        last = first + drawn.uniform(*widths) * (most - least)
        who = [person for person, value in enumerate(values) if first <= value <= last]
        bag = Counter(levels[person] for person in who)
        if who and 2 * max(bag.values()) <= len(who):
            view = View(f"view {len(views) + 1}", who, bag)
            views.append(view)
            by[view.name] = name
            yield Shown(public, levels, Views(people, views), by)


def violated(seed: int, columns: int, widths: tuple[float, float], people: int = 200) -> Shown:
    """A table with the first views that expose somebody together."""
    return next(
        shown
        for shown in growing(seed, columns, widths, people)
        if check(shown.views).private is not True
    )


def _near(drawn: random.Random, low: int, high: int) -> int:
    return min(max(round(drawn.gauss((low + high) / 2, (high - low) / 6)), low), high)
