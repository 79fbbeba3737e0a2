"""`python -m bench.columns`: the speed of columns, and what a schema costs.

Ratings are made by code (`shoal.experiments.ratings`). What releases of them teach a recommender is
in `shoal experiment run li-counts` and `li-columns`.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt
import polars as pl

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import best, peak
from bench.sources import Source, adult
from shoal.chance import Chance
from shoal.exact.epsilon import Epsilon
from shoal.experiments.ratings import draw
from shoal.methods.columns.schemas import SAME, Groups, bought_association, k_medoids

LARGE = (1_000_000, work.RATED, 20_000_000)
SPEED_BAR, MEMORY_BAR = 10.0, 4000.0


# Speed


def make(people: int, items: int, ratings: int, path: Path, seed: int = 7) -> Path:
    """Write made ratings as a CSV file with the columns person, item and rating, or no file."""
    unfinished = path.with_suffix(".part")
    draw(people, items, ratings, seed).frame().write_csv(unfinished)
    unfinished.rename(path)
    return path


def speed(folder: Path) -> Printed:
    """From the file to the release, and what a fresh process holds."""
    path = folder / "ratings.csv"
    if not path.exists():
        say("making 20 million ratings")
        make(*LARGE, path)
    source = Source("ratings", path, folder)
    say("reading")
    unit = best(lambda: pl.read_csv(path))
    rows: list[Cells] = []
    about = f"{LARGE[0]:,} people × {LARGE[1]:,} items, {LARGE[2]:,} ratings"
    times = {"read and code": best(partial(work.ratings, source), repeats=2)}
    memory = {}
    for what, name in (("columns", "50 groups, c* = 6"), ("few_columns", "10 groups, c* = 3")):
        say(f"releasing {name}")
        times[f"read, code and release {name}"] = best(
            partial(getattr(work, what), source), repeats=3
        )
        release = getattr(work, what)(source)
        with tempfile.TemporaryDirectory() as written:
            start = time.perf_counter()
            release.write(written)
            times[f"write {len(release.table):,} rows"] = time.perf_counter() - start
        del release
        memory[f"peak memory, {name} (MB)"] = peak(what, source)
    unit = min(unit, best(lambda: pl.read_csv(path)))
    rows.append((about, "polars.read_csv (R)", unit, 1.0, None))
    for name, seconds in times.items():
        rows.append(
            (about, name, seconds, seconds / unit, SPEED_BAR if "release" in name else None)
        )
    rows += [(about, name, megabytes, None, MEMORY_BAR) for name, megabytes in memory.items()]
    return Printed("Speed and memory of columns", ("table", "what", "seconds", "R", "bar"), rows)


# What a schema costs


def association(source: Source, runs: int = 20) -> Printed:
    """PAM's objective of schemas that were bought, by the exact distances 1 − s / n, as more than
    that of the exact schema.
    """
    table = work.code(source)
    counted = table.count(table.names)
    exact = 1 - np.array(
        [
            [_associated(one, other) for one in table.records(table.names)]
            for other in table.records(table.names)
        ]
    )
    rows: list[Cells] = []
    for groups in (2, 3, 4, 5):
        least = _cost(exact, k_medoids((exact * SAME).astype(np.int64), groups))
        for epsilon in ("0.01", "0.1", "1"):
            bought = [
                k_medoids(bought_association(counted, Epsilon.of(epsilon), Chance()), groups)
                for _ in range(runs)
            ]
            lost = [100 * (_cost(exact, one) / least - 1) for one in bought]
            rows.append((groups, epsilon, mean(lost), max(lost), 2.0 if epsilon == "0.1" else None))
    head = ("groups", "ε of the schema", "objective lost, mean, %", "largest, %", "study, %")
    return Printed(f"What a bought schema costs on {source.name}, {runs} runs", head, rows)


def _associated(one: shoal.data.tables.Column, other: shoal.data.tables.Column) -> float:
    """½Σ|n_xy − n_x n_y / n| / n, and 1 for a column with itself, which no distance needs."""
    if one is other:
        return 1.0
    cards = len(one.keys), len(other.keys)
    both = np.bincount(
        one.codes.astype(np.int64) * cards[1] + other.codes, minlength=cards[0] * cards[1]
    ).reshape(cards)
    return float(
        abs(both - np.outer(both.sum(axis=1), both.sum(axis=0)) / both.sum()).sum() / 2 / both.sum()
    )


def _cost(distance: npt.NDArray[np.float64], groups: Groups) -> float:
    """The sum of the distances of columns to the medoid of their group."""
    return float(
        sum(distance[np.ix_(places, places)].sum(axis=0).min() for places in map(list, groups))
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.columns", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        help="where the large table of ratings is, or is made (a temporary folder)",
    )
    parser.add_argument("--only", metavar="PARTS", help="some of speed,association")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Callable[[], Iterable[Printed]]] = {
            "speed": lambda: [speed(given.data or Path(folder))],
            "association": lambda: [association(adult())],
        }
        for name in given.only.split(",") if given.only else parts:
            for printed in parts[name]():
                print(printed.text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
