"""`python -m bench.columns`: noisy counts and columns: noise, what a recommender learns, speed, and
what a schema costs.

Ratings are made by code (`bench.ratings`). A tenth of them, drawn at random, is held out before
anything is released, and predicted from the same person's others by `shoal.measure.ratings`.
Schemas come from other people of the same making, who stand for public data.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import best, peak
from bench.ratings import MadeRatings, draw, make
from bench.sources import Source, adult
from shoal.chance import Chance
from shoal.exact.epsilon import Epsilon
from shoal.measure.ratings import FACTORS, Predictor, Ratings, Training, item_means, train
from shoal.methods.columns import Columns, schema_of
from shoal.methods.columns.long import Long
from shoal.methods.columns.schemas import SAME, Groups, bought_association, k_medoids
from shoal.methods.noisy_counts import noisy
from shoal.privacy.calculus import Definition
from shoal.privacy.noise import noisy_count_parameters

NAMES: dict[str, Any] = {"person": "person", "item": "item", "value": "rating"}
PEOPLE = 96_000
EACH = {100: 3, 500: 6}
"""As many people as the paper's experiments have, and for each about as many ratings of the first
100 or 500 films.
"""

SEED = 2026
"""Of the ratings: not the one with which the predictor was written."""

RUNS = 3
K = 10
EPSILONS, DELTAS = ("1", "ln(5)", "ln(10)"), ("1e-3", "1e-5", "1e-7")
SCHEMAS: dict[tuple[int, ...], int] = {(5,): 2, (10,): 3, (50,): 6, (5, 10): 4, (5, 10, 50): 8}
"""The paper's: how many groups its clusterings have, and how many of them a person may touch."""

BOUGHT = ((10,), (50,))
"""Schemas that are also bought."""

ORACLES = {
    ("ln(5)", "1e-3", 10): 18,
    ("ln(5)", "1e-5", 10): 24,
    ("ln(5)", "1e-7", 10): 30,
    ("ln(5)", "1e-5", 3): 17,
    ("ln(5)", "1e-5", 20): 34,
    ("1", "1e-5", 10): 32,
    ("ln(10)", "1e-5", 10): None,
}
"""From which count on a row is rather released than not, probabilistic definition."""

LARGE = (1_000_000, work.RATED, 20_000_000)
SPEED_BAR, MEMORY_BAR = 10.0, 4000.0


# Noise (Figure 1)


def noise(draws: int = 20_000) -> Printed:
    """The mean of |released count − count| / count, where a row that is not released counts 0."""
    counts = (10, 15, 20, 30, 50, 100, 200)
    rows: list[Cells] = []
    chance = Chance()
    for (epsilon, delta, k), oracle in ORACLES.items():
        parameters = noisy_count_parameters(epsilon, delta, k, "probabilistic")
        levels = [
            abs(noisy(np.full(draws, count), parameters, chance) - count).mean() / count
            for count in counts
        ]
        standard = noisy_count_parameters(epsilon, delta, k, "standard").half
        rows.append((epsilon, delta, k, parameters.half, oracle, standard, *map(float, levels)))
    head = (
        "ε",
        "δ",
        "k",
        "half released from",
        "bar",
        "standard definition",
        *(f"noise at {count}" for count in counts),
    )
    return Printed("Noise of counts (Figure 1)", head, rows)


# What a recommender learns


@dataclass(frozen=True, eq=False)
class Case:
    """People whose ratings are released, what they are asked, and others who are public."""

    items: int
    known: Ratings
    asked: Ratings
    table: shoal.Table
    public: shoal.Table

    @classmethod
    def of(cls, items: int, people: int = PEOPLE) -> "Case":
        made = draw(2 * people, items, 2 * people * EACH.get(items, 3), seed=SEED)
        public, private = made.only(made.person >= people), made.only(made.person < people)
        held = np.random.default_rng(11).random(len(private)) < 0.1
        rest = private.only(~held)
        known, asked = _ratings(rest), _ratings(private.only(held))
        return cls(items, known, asked, _table(rest.frame()), _table(public.frame()))

    def error(self, model: Predictor) -> float:
        return self._error(model.predict(self.known, self.asked.record, self.asked.item))

    def _error(self, predicted: npt.NDArray[np.float64]) -> float:
        return float(np.sqrt(np.mean((predicted - self.asked.value) ** 2)))

    def baselines(self) -> dict[str, float]:
        """What needs the input: item means, habits too, and the whole predictor."""
        say(f"{self.items} items: training on the input, a minute")
        habits, whole = (
            self.error(train(self.known, self.items, Training(factors))) for factors in (0, FACTORS)
        )
        means = self._error(item_means(self.known, self.items)[self.asked.item])
        return {
            "input: item means": means,
            "input: item means and habits": habits,
            "input: predictor": whole,
        }

    def released(self, frame: pl.DataFrame) -> tuple[int, float | None]:
        """Records of a release with counts, and the error of what it teaches; None where it is
        empty.
        """
        if not len(frame):
            return 0, None
        record, item = (frame[name].to_numpy().astype(np.int64) for name in ("record", "item"))
        value, weight = (frame[name].to_numpy().astype(np.float64) for name in ("rating", "count"))
        records = int(frame.unique("record")["count"].sum())
        return records, self.error(train(Ratings(record, item, value, weight), self.items))

    def mean(self, releases: Iterable[pl.DataFrame]) -> tuple[int, float | None]:
        """The same, of several releases."""
        found = [self.released(frame) for frame in releases]
        errors = [error for _, error in found if error is not None]
        return round(mean(records for records, _ in found)), mean(errors) if errors else None


def _ratings(made: MadeRatings) -> Ratings:
    """Made ratings as predictors take them."""
    person, item = made.person.astype(np.int64), made.item.astype(np.int64)
    return Ratings(person, item, made.value.astype(np.float64))


def _table(frame: pl.DataFrame) -> shoal.Table:
    names = ("person", "item", "rating")
    return shoal.table(
        frame, identifying=names[:1], insensitive=names[1:], types=dict.fromkeys(names, "integer")
    )


def plain(
    case: Case, epsilon: str, delta: str, k: int, definition: Definition, runs: int
) -> Iterable[pl.DataFrame]:
    """Noisy counts of people's whole records, from the long form."""
    keys = [key for key in case.table.keys("item") if key is not None]
    form = Long.of(case.table, keys, "person", "item", "rating", {})
    parameters = noisy_count_parameters(epsilon, delta, k, definition)
    for _ in range(runs):
        drawn = form.release(
            (tuple(range(len(keys))),), 1, parameters, Chance(), lambda place: None, True
        )
        yield case.table.like(drawn.laid)


class Errors:
    """Rows of a table of errors."""

    head = ("ratings from", "ε", "δ", "records", "RMSE", "above the input's", "bar")

    def __init__(self, case: Case) -> None:
        self.known = case.baselines()
        self.whole = self.known["input: predictor"]
        self.rows: list[Cells] = []
        for name, error in self.known.items():
            self.add(name, "", "", (None, error))

    def add(
        self,
        name: str,
        epsilon: str,
        delta: str,
        found: tuple[int | None, float | None],
        bar: float | None = None,
    ) -> None:
        say(name)
        records, error = found
        shown = None if error is None else f"{error:.4f}"
        above = None if error is None else f"{error - self.whole:.4f}"
        self.rows.append(
            (name, epsilon, delta, records, shown, above, None if bar is None else f"{bar:.4f}")
        )


def counts(runs: int) -> Iterable[Printed]:
    """Plain noisy counts (Figure 2)."""
    for items, ks in ((100, (10, 3)), (500, (10,))):
        case = Case.of(items)
        errors = Errors(case)
        for k in ks:
            for epsilon, delta in product(EPSILONS, DELTAS):
                found = case.mean(plain(case, epsilon, delta, k, "probabilistic", runs))
                errors.add(f"noisy counts, k = {k}", epsilon, delta, found)
        yield Printed(
            f"RMSE of noisy counts, {items} items, {runs} runs (Figure 2)", Errors.head, errors.rows
        )


def rmse(runs: int) -> Iterable[Printed]:
    """Columns by the paper's five schemas, and plain noisy counts (Figure 3). The bar: better than
    these and item means.
    """
    case = Case.of(500)
    errors = Errors(case)
    bar = errors.known["input: item means"]
    for definition in get_args(Definition):
        found = case.mean(plain(case, "ln(10)", "1e-3", K, definition, runs))
        errors.add(f"noisy counts, {definition} definition", "ln(10)", "1e-3", found)
        bar = min(bar, found[1] or bar)
    for groups, most in SCHEMAS.items():
        schema = schema_of(case.public, groups, **NAMES)
        for epsilon, delta in product(EPSILONS, DELTAS):
            method = Columns(epsilon, delta, K, most, schema, counts=True, **NAMES)
            found = case.mean(method.release(case.table).table for _ in range(runs))
            name = f"columns {{{', '.join(map(str, groups))}}}, c* = {most}"
            errors.add(
                name, epsilon, delta, found, bar if (epsilon, delta) == ("ln(10)", "1e-3") else None
            )
    items = tuple(map(str, range(case.items)))
    for groups in BOUGHT:
        method = Columns(
            "ln(10)",
            "1e-3",
            K,
            SCHEMAS[groups],
            groups=groups,
            buying="0.1",
            items=items,
            counts=True,
            **NAMES,
        )
        found = case.mean(method.release(case.table).table for _ in range(runs))
        errors.add(f"columns {{{groups[0]}}}, bought with ε / 10", "ln(10)", "1e-3", found, bar)
    yield Printed(
        f"RMSE of columns, 500 items, k = {K}, {runs} runs (Figure 3)", Errors.head, errors.rows
    )


# Speed


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
    parser.add_argument(
        "--only", metavar="PARTS", help="some of noise,counts,rmse,speed,association"
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of what is random ({RUNS})")
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md"
    )
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Callable[[], Iterable[Printed]]] = {
            "noise": lambda: [noise()],
            "counts": lambda: counts(given.runs),
            "rmse": lambda: rmse(given.runs),
            "speed": lambda: [speed(given.data or Path(folder))],
            "association": lambda: [association(adult())],
        }
        for name in given.only.split(",") if given.only else parts:
            for printed in parts[name]():
                print(printed.text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
