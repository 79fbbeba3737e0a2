"""`python -m bench.buckets`: bucket settings: how long each solver takes, and filling.

What buckets cost is shown by `shoal experiment run wang-loss` and `wang-queries`.

The table is made by code after the paper's: 300,000 records with a sensitive column of 50 values,
whose shares fall geometrically from 7.5 % to 0.18 %, and seven other columns. Limits are min{1, θ·f
+ 0.02}, buckets have at most 50 records.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

import shoal
from bench.__main__ import Cells, Printed, say
from bench.measure import REPEATS, best
from shoal.chance import Chance
from shoal.errors import InfeasibleError
from shoal.experiments.wang import CARDINALITIES, LARGEST, OFFSET, RECORDS, SHAPES, THETAS
from shoal.methods.buckets import Buckets, _filled
from shoal.methods.buckets.filling import assigned
from shoal.methods.buckets.settings import Solver, find_setting
from shoal.privacy.limits import Limits

LARGE = 5_000_000
OCCUPATIONS, _ = SHAPES
SENSITIVE, VALUES = OCCUPATIONS.column, OCCUPATIONS.values
OTHERS = {name: size for name, size in CARDINALITIES.items() if name != SENSITIVE}

MANY, MANY_SECONDS, MANY_GAP = 18, 60.0, 0.01
"""Each value split into this many makes 900, and what the optimum of these may take or miss by."""

BARS: dict[Solver, float] = {"two": 0.1, "multi": 1.0, "optimal": 20.0}
"""In seconds, on the made table."""


def shares(records: int = RECORDS) -> list[int]:
    """How often each value occurs: geometric from the most frequent to the rarest, which happens to
    add up to nearly 1.
    """
    most, least = OCCUPATIONS.most, OCCUPATIONS.least
    ratio = (least / most) ** (1 / (VALUES - 1))
    counts = [round(records * most * ratio**i) for i in range(VALUES)]
    counts[VALUES // 2] += records - sum(counts)
    return counts


def make(records: int, path: Path) -> Path:
    """A table with these values of its sensitive column, in random order."""
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(0, number, records) for name, number in OTHERS.items()}
    pl.DataFrame(
        {**columns, SENSITIVE: draw.permutation(np.repeat(np.arange(VALUES), shares(records)))}
    ).write_csv(path)
    return path


def limits(counts: Sequence[int], theta: int) -> list[Fraction]:
    return list(Limits.formula(theta, OFFSET).of(dict(enumerate(counts))).values())


def settings(
    folder: Path, records: int = RECORDS, repeats: int = REPEATS, gap: str = "1e-3"
) -> list[Printed]:
    """Times of all solvers."""
    counts = shares(records)
    path = make(records, folder / "buckets.csv")
    unit = best(lambda: pl.read_csv(path))
    times: list[Cells] = []
    for theta in THETAS:
        given = limits(counts, theta)
        for solver in get_args(Solver):
            say(f"θ = {theta}, {solver}")
            solve = partial(find_setting, counts, given, solver, LARGEST, gap=gap)
            try:
                solve()
            except InfeasibleError:
                continue
            seconds = best(solve, repeats=repeats)
            times.append((f"θ = {theta}", solver, seconds, seconds / unit, BARS.get(solver)))
    unit = min(unit, best(lambda: pl.read_csv(path)))
    times.insert(0, (f"{records:,} records", "polars.read_csv (R)", unit, 1.0, None))
    return [
        Printed(
            "Time to find a bucket setting",
            ("limits", "solver", "seconds", "R", "bar, seconds"),
            times,
        ),
    ]


def many(folder: Path, records: int = RECORDS) -> list[Printed]:
    """The optimum for hundreds of values: each of the table split at random, as in the paper's
    Figure 7.
    """
    path = make(records, folder / "many.csv")
    unit = best(lambda: pl.read_csv(path))
    draw = np.random.default_rng(7)
    rows: list[Cells] = []
    for theta in THETAS:
        parts = [draw.multinomial(count, [1 / MANY] * MANY) for count in shares(records)]
        drawn = np.concatenate(parts)
        counts = drawn[drawn > 0].tolist()
        say(f"θ = {theta}, {len(counts)} values")
        solve = partial(find_setting, counts, limits(counts, theta), "optimal")
        gap = solve().gap
        seconds = best(solve)
        row = (f"θ = {theta}", len(counts), seconds, seconds / unit, MANY_SECONDS, f"{gap:.1e}")
        rows.append((*row, f"{MANY_GAP:.0e}"))
    head = ("limits", "values", "seconds", "R", "bar, seconds", "gap", "bar, gap")
    return [Printed(f"Optimal settings for {records:,} records of many values", head, rows)]


def bags(folder: Path, records: int = LARGE) -> list[Printed]:
    """Dealing values to buckets."""
    say(f"making {records:,} records")
    path = make(records, folder / "large.csv")
    unit = best(lambda: pl.read_csv(path))
    counts = shares(records)
    rows: list[Cells] = [(f"{records:,} records", "polars.read_csv (R)", unit, 1.0, None)]
    for theta in THETAS[:: len(THETAS) - 1]:
        setting = find_setting(counts, limits(counts, theta), "multi", LARGEST)
        seconds = best(lambda setting=setting: [bag.ravel() for bag in setting.bags()])
        rows.append(
            (
                f"θ = {theta}",
                f"deal values to {sum(setting.buckets):,} buckets",
                seconds,
                seconds / unit,
                1.0,
            )
        )
    return [Printed("Time to fill buckets", ("table", "what", "seconds", "R", "bar, R"), rows)]


def filling(folder: Path, records: int = LARGE) -> list[Printed]:
    """Dealing values to buckets and drawing who of those with a value goes where, against reading
    such a table.
    """
    path = make(records, folder / "large.csv")
    unit = best(lambda: pl.read_csv(path))
    frame = pl.read_csv(path)
    counts = shares(records)
    given = limits(counts, 8)
    setting = find_setting(counts, given, "multi", LARGEST)
    run = np.repeat(np.arange(VALUES), counts).astype(np.uint8)
    deal = best(lambda: _filled([setting], given, 0, Chance()))
    places = _filled([setting], given, 0, Chance()).places
    draw = best(lambda: assigned(places, run, Chance()))
    table = shoal.table(frame, quasi=list(OTHERS), sensitive=[SENSITIVE])
    whole = best(
        lambda: Buckets(SENSITIVE, Limits.formula(8, OFFSET), "multi", largest=LARGEST).release(
            table
        )
    )
    rows: list[Cells] = [
        (f"{records:,} records", "polars.read_csv (R)", unit, 1.0, None),
        (
            "",
            f"deal values to {sum(setting.buckets):,} buckets, draw who goes where",
            deal + draw,
            (deal + draw) / unit,
            1.0,
        ),
        ("", "the whole release, once the table is coded", whole, whole / unit, None),
    ]
    head = ("table", "what", "seconds", "R", "bar, R")
    return [Printed("Time to assign records to buckets", head, rows)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.buckets", description=__doc__)
    parser.add_argument("--only", metavar="PARTS", help="some of settings,many,bags,filling")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Callable[[], list[Printed]]] = {
            "settings": lambda: settings(Path(folder)),
            "many": lambda: many(Path(folder)),
            "bags": lambda: bags(Path(folder)),
            "filling": lambda: filling(Path(folder)),
        }
        for name in given.only.split(",") if given.only else parts:
            for printed in parts[name]():
                print(printed.text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
