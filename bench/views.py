"""`python -m bench.views`: how long it takes to check views, made as in the experiment of Zhang's chapter 6, and local ones of many
people.

A made-up table of heart patients has four public columns, whole numbers spread as in the Cleveland data, and a level of illness
from 0 to 4, as frequent as there. A view asks for an interval of one column; one that breaks the limit alone is left out. Views
are added until somebody is exposed, and all views so far are checked each time.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from bench.__main__ import Cells, Printed, say
from shoal.errors import TooLargeError
from shoal.views import Checked, View, Views, check

Ints = npt.NDArray[np.int64]

COLUMNS = ((54, 9, 29, 77), (131, 17, 94, 200), (246, 52, 126, 564), (150, 23, 71, 202))
"""Mean, deviation, least and largest of age, blood pressure, cholesterol and pulse."""

LEVELS = (164, 55, 36, 35, 13)
WIDTHS = ((0.035, 0.07), (0.02, 0.04))
GAMMA = Fraction(1, 2)


@dataclass(frozen=True)
class Heart:
    """People with public columns and a level of illness."""

    columns: tuple[Ints, ...]
    level: Ints

    @classmethod
    def of(cls, people: int, source: np.random.Generator, columns: int = 4) -> "Heart":
        made = [np.clip(np.round(source.normal(m, s, people)), lo, hi).astype(np.int64) for m, s, lo, hi in COLUMNS[:columns]]
        return cls(tuple(made), source.choice(5, people, p=np.array(LEVELS) / sum(LEVELS)))

    def interval(self, name: str, width: tuple[float, float], source: np.random.Generator) -> View | None:
        """A random interval of a random column; None if it exposes somebody alone, or nobody is in it."""
        column = self.columns[source.integers(len(self.columns))]
        low, high = int(column.min()), int(column.max())
        first = source.uniform(low, high)
        last = first + source.uniform(*width) * (high - low)
        view = self.view(name, np.flatnonzero((column >= first) & (column <= last)))
        return view if view.members and max(view.shown.values()) <= GAMMA * view.size else None

    def view(self, name: str, people: Ints) -> View:
        return View(name, people.tolist(), self.level[people].tolist())


def until_exposed(heart: Heart, width: tuple[float, float], source: np.random.Generator, tries: int = 500) -> Iterator[Views]:
    """All views so far, with each one that is added; the caller stops when somebody is exposed."""
    shown: list[View] = []
    for number in range(tries):
        view = heart.interval(f"view {number}", width, source)
        if view is not None:
            shown.append(view)
            yield Views(len(heart.level), shown, GAMMA)


def timed(views: Views) -> tuple[float, Checked | None]:
    start = time.perf_counter()
    try:
        found = check(views, how="exact")
        safe = found.private
        assert safe is not None
    except TooLargeError:
        return time.perf_counter() - start, None
    return time.perf_counter() - start, found


def experiment(runs: int) -> Printed:
    """Until the first violation: how many views, and how long the slowest check of each run took."""
    rows: list[Cells] = []
    for people in (200, 500, 1000):
        for width in WIDTHS:
            say(f"{people} people, intervals of {width[0]:.1%} to {width[1]:.1%}")
            number, slowest, lost = [], [], 0
            for run in range(runs):
                source = np.random.default_rng([people, round(1000 * width[0]), run])
                worst, count = 0.0, 0
                for views in until_exposed(Heart.of(people, source), width, source):
                    seconds, found = timed(views)
                    worst, count = max(worst, seconds), len(views.shown)
                    if found is None or not found.private:
                        lost += found is None
                        break
                number.append(count)
                slowest.append(worst)
            rows.append(
                (
                    people,
                    f"{width[0]:.1%} to {width[1]:.1%}",
                    float(np.mean(number)),
                    max(number),
                    f"{np.mean(np.array(slowest) < 1):.1%}",
                    float(np.median(slowest)),
                    float(np.quantile(slowest, 0.99)),
                    max(slowest),
                    lost,
                )
            )
    head = ("people", "intervals", "views", "most", "under 1 s", "median s", "99 % s", "slowest s", "not counted")
    return Printed(f"Until somebody is exposed, {runs:,} runs each", head, rows)


def chained(people: int, source: np.random.Generator) -> Views:
    """Views of 6 to 14 people in a row, each sharing 1 to 3 with the next: one component."""
    heart, shown, at = Heart.of(people, source), list[View](), 0
    while at < people:
        size = int(source.integers(6, 15))
        shown.append(heart.view(str(len(shown)), np.arange(at, min(at + size, people))))
        at += size - int(source.integers(1, 4))
    return Views(people, shown, Fraction(9, 10))


def clustered(people: int, source: np.random.Generator) -> Views:
    """Places of 40 people each, with four views of a quarter of them: many components."""
    heart, shown = Heart.of(people, source), list[View]()
    for at in range(0, people, 40):
        for number in range(4):
            inside = at + np.flatnonzero(source.random(min(40, people - at)) < 0.25)
            if len(inside):
                shown.append(heart.view(f"{at}/{number}", inside))
    return Views(people, shown, Fraction(9, 10))


def two_tables(people: int, source: np.random.Generator) -> Views:
    """Two generalised tables, by age and blood pressure in different steps and by wards of 100 people."""
    heart, shown = Heart.of(people, source), list[View]()
    ward = np.arange(people) // 100
    for name, first, second in (("a", 8, 60), ("b", 30, 16)):
        group = (ward * 1000 + heart.columns[0] // first) * 1000 + heart.columns[1] // second
        order = np.argsort(group, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            shown.append(heart.view(f"{name}{len(shown)}", part))
    return Views(people, shown, Fraction(9, 10))


def many(people: int) -> Printed:
    """Local views of many people."""
    rows: list[Cells] = []
    for name, make in (("places of 40 people", clustered), ("two tables, in wards", two_tables), ("one chain", chained)):
        say(name)
        views = make(people, np.random.default_rng(1))
        start = time.perf_counter()
        found = check(views)
        exposed = found.private is False
        rows.append((people, name, len(views.shown), found.components, found.how, time.perf_counter() - start, exposed))
    return Printed("Local views", ("people", "views of", "views", "components", "how", "seconds", "exposed"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.views", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--people", type=int, default=100_000, help="of local views")
    parser.add_argument("--only", metavar="PARTS", help="some of experiment,many")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md")
    given = parser.parse_args()
    parts: dict[str, Callable[[], Printed]] = {"experiment": partial(experiment, given.runs), "many": partial(many, given.people)}
    for name in given.only.split(",") if given.only else parts:
        print(parts[name]().text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
