"""`python -m bench.views`: how long it takes to check views.

Those of the experiment in Zhang's chapter 6 (`shoal.experiments.heart`), added until somebody is
exposed, and local ones of many people.
"""

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from bench.__main__ import Cells, Printed, say
from shoal.experiments.heart import CLEVELAND, LONG_BEACH, WIDTHS, growing
from shoal.views import Checked, View, Views, check

Ints = npt.NDArray[np.int64]
COUNTED = ("exact", "enclosed")


def timed(views: Views) -> tuple[float, Checked]:
    """Seconds of one core, and what was found, with the verdict."""
    start = time.process_time()
    found = check(views)
    _ = found.private
    return time.process_time() - start, found


def experiment(runs: int, spread: tuple[int, ...], name: str) -> Printed:
    """Sets of views, one view more each time, until the first that violates γ or cannot be counted:
    how long each check takes.
    """
    rows: list[Cells] = []
    for people in (200, 500, 1000):
        for width, shares in WIDTHS.items():
            say(f"{name}: {people} people, intervals of {width}")
            took: list[float] = []
            quick: list[list[bool]] = []
            rounded = lost = 0
            for run in range(runs):
                quick.append([])
                for shown in growing(run, 4, shares, people, spread):
                    seconds, found = timed(shown.views)
                    took.append(seconds)
                    quick[-1].append(found.how in COUNTED and seconds < 1)
                    rounded += found.how == "enclosed"
                    lost += found.how not in COUNTED
                    if not found.private or found.how not in COUNTED:
                        break
            tail = (float(np.median(took)), float(np.quantile(took, 0.99)), max(took))
            under = (f"{np.mean(np.concatenate(quick)):.1%}", f"{np.mean([*map(all, quick)]):.1%}")
            rows.append(
                (people, width, len(took), max(map(len, quick)), *under, *tail, rounded, lost)
            )
    times = ("within 1 s", "all of a run", "median s", "99 % s", "slowest s")
    head = ("people", "intervals", "sets", "views", *times, "enclosed", "not counted")
    return Printed(
        f"Levels as in {name}, until somebody is exposed, {runs:,} runs each", head, rows
    )


def ill(people: int, source: np.random.Generator) -> Callable[[str, Ints], View]:
    """Views of people who are as ill as those of Long Beach."""
    level = source.choice(len(LONG_BEACH), people, p=np.array(LONG_BEACH) / sum(LONG_BEACH))
    return lambda name, some: View(name, some.tolist(), level[some].tolist())


def chained(people: int, source: np.random.Generator) -> Views:
    """Views of 6 to 14 people in a row, each sharing 1 to 3 with the next: one component."""
    view, shown, at = ill(people, source), list[View](), 0
    while at < people:
        size = int(source.integers(6, 15))
        shown.append(view(str(len(shown)), np.arange(at, min(at + size, people))))
        at += size - int(source.integers(1, 4))
    return Views(people, shown, Fraction(9, 10))


def clustered(people: int, source: np.random.Generator, each: int = 3) -> Views:
    """Places of 40 people, with some views each of a quarter of them: many components."""
    view, shown = ill(people, source), list[View]()
    for at in range(0, people, 40):
        for number in range(each):
            inside = at + np.flatnonzero(source.random(min(40, people - at)) < 0.25)
            if len(inside):
                shown.append(view(f"{at}/{number}", inside))
    return Views(people, shown, Fraction(9, 10))


def two_tables(people: int, source: np.random.Generator, ward_of: int = 40) -> Views:
    """Two generalised tables, by age and blood pressure in different steps and within wards."""
    view, shown = ill(people, source), list[View]()
    age, pressure = (
        source.normal(54, 9, people).astype(np.int64),
        source.normal(131, 17, people).astype(np.int64),
    )
    ward = np.arange(people) // ward_of
    for name, first, second in (("a", 8, 60), ("b", 30, 16)):
        group = (ward * 1000 + age // first) * 1000 + pressure // second
        order = np.argsort(group, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            shown.append(view(f"{name}{len(shown)}", part))
    return Views(people, shown, Fraction(9, 10))


Shapes = dict[str, Callable[[int, np.random.Generator], Views]]
LOCAL: Shapes = {
    "places of 40 people, three views each": clustered,
    "two tables, in wards of 40": two_tables,
    "one chain": chained,
}
HARDER: Shapes = {
    "places of 40 people, four views each": partial(clustered, each=4),
    "two tables, in wards of 100": partial(two_tables, ward_of=100),
}


def many(people: int, shapes: Shapes) -> Printed:
    """Local views of many people."""
    rows: list[Cells] = []
    for name, make in shapes.items():
        say(name)
        views = make(people, np.random.default_rng(1))
        start = time.process_time()
        found = check(views)
        private = found.private
        rows.append(
            (
                people,
                name,
                len(views.views),
                found.components,
                found.how,
                time.process_time() - start,
                str(private),
            )
        )
    return Printed(
        "Local views",
        ("people", "views", "number", "components", "how", "seconds", "private"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.views", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--people", type=int, default=100_000, help="of local views")
    parser.add_argument("--only", metavar="PARTS", help="some of cleveland,long-beach,many,harder")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    parts: dict[str, Callable[[], Printed]] = {
        "cleveland": partial(experiment, given.runs, CLEVELAND, "Cleveland"),
        "long-beach": partial(experiment, given.runs, LONG_BEACH, "Long Beach"),
        "many": partial(many, given.people, LOCAL),
        "harder": partial(many, given.people, HARDER),
    }
    for name in given.only.split(",") if given.only else parts:
        print(parts[name]().text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
