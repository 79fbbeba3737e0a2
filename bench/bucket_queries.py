"""`python -m bench.bucket_queries`: how far count queries from a release of buckets are from the
truth.

The table is that of `bench.buckets`, 300,000 records, unchanged and with an occupation that depends
on education. A query asks for one to seven of the other columns and for the sensitive one, with as
many values of each as make one record in a hundred the expected answer, after the paper and Xiao
and Tao's Anatomy. There are 5,000 queries whose answer is not 0; the error is
|estimate − answer| / answer.
"""

import argparse
import tempfile
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from bench.__main__ import Cells, Printed, say
from bench.buckets import (
    CARDINALITIES,
    LARGE,
    LARGEST,
    OFFSET,
    RECORDS,
    VALUES,
    limits,
    make,
    shares,
)
from bench.measure import best
from shoal.chance import Chance
from shoal.measure.buckets import BucketReading
from shoal.methods.buckets import Buckets, _filled
from shoal.methods.buckets.filling import assigned
from shoal.methods.buckets.settings import Solver, find_setting
from shoal.privacy.limits import Limits

QUERIES, SELECTIVITY = 5_000, 0.01
HIDDEN = "occupation"


def made(records: int, dependent: bool) -> pl.DataFrame:
    """The other columns are uniform; a dependent occupation is near the record's place in
    education, by rank with noise.
    """
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(0, number, records) for name, number in CARDINALITIES.items()}
    values = np.repeat(np.arange(VALUES), shares(records))
    if not dependent:
        return pl.DataFrame({**columns, HIDDEN: draw.permutation(values)})
    place = np.argsort(np.argsort(columns["education"] + draw.normal(0, 3, records)))
    return pl.DataFrame({**columns, HIDDEN: values[place]})


def queries(number: int = QUERIES) -> list[dict[str, list[int]]]:
    draw = np.random.default_rng(6)
    sizes = {**CARDINALITIES, HIDDEN: VALUES}
    found = []
    for _ in range(number):
        names = draw.choice(
            list(CARDINALITIES), int(draw.integers(1, len(CARDINALITIES) + 1)), replace=False
        ).tolist()
        share = SELECTIVITY ** (1 / (len(names) + 1))
        found.append(
            {
                name: draw.choice(sizes[name], ceil(share * sizes[name]), replace=False).tolist()
                for name in (*names, HIDDEN)
            }
        )
    return found


def answers(frame: pl.DataFrame, asked: Sequence[dict[str, list[int]]]) -> list[int]:
    codes, sizes = (
        {name: frame[name].to_numpy() for name in frame.columns},
        {**CARDINALITIES, HIDDEN: VALUES},
    )
    found = []
    for where in asked:
        matching = np.ones(len(frame), dtype=np.bool_)
        for name, values in where.items():
            wanted = np.zeros(sizes[name], dtype=np.bool_)
            wanted[values] = True
            matching &= wanted[codes[name]]
        found.append(int(matching.sum()))
    return found


def errors(
    asked: Sequence[dict[str, list[int]]], true: Sequence[int], release: shoal.Release
) -> dict[str, float]:
    """The mean and the median relative error of both estimates, in percent."""
    read, far = BucketReading(release), []
    for where, answer in zip(asked, true, strict=True):
        if answer:
            far.append(
                [
                    abs(read.count(where, unbiased=kind).count - answer) / answer
                    for kind in (False, True)
                ]
            )
    mean, median = 100 * np.mean(far, axis=0), 100 * np.median(far, axis=0)
    return {
        "mean": mean[0],
        "median": median[0],
        "unbiased mean": mean[1],
        "unbiased median": median[1],
    }


def table(records: int, thetas: Sequence[int], number: int) -> Printed:
    rows: list[Cells] = []
    asked = queries(number)
    for dependent in (False, True):
        about = "dependent" if dependent else "independent"
        frame = made(records, dependent)
        true = answers(frame, asked)
        given = shoal.table(frame, quasi=list(CARDINALITIES), sensitive=[HIDDEN])
        for theta in thetas:
            for solver, fakes in (("optimal", 0), ("multi", 0), ("two", 0), ("two", 1)):
                say(f"{about}, θ = {theta}, {solver}, {fakes} fakes")
                method = Buckets(
                    HIDDEN,
                    Limits.formula(theta, OFFSET),
                    _solver(solver),
                    largest=LARGEST,
                    fakes=fakes,
                )
                try:
                    found = errors(asked, true, method.release(given))
                except shoal.ShoalError:
                    continue  # too few values for a fake in buckets of that size
                name = f"{solver}, {fakes} fakes" if fakes else solver
                kind = "goes with education" if dependent else "independent"
                rows.append(
                    (kind, f"θ = {theta}", name, *(f"{value:.1f} %" for value in found.values()))
                )
    head = ("occupation", "limits", "solver", "mean", "median", "unbiased: mean", "median")
    return Printed(f"Relative error of {number:,} count queries from buckets", head, rows)


def filling(records: int = LARGE) -> Printed:
    """Dealing values to buckets and drawing who of those with a value goes where, against reading
    such a table.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = make(records, Path(folder) / "large.csv")
        unit = best(lambda: pl.read_csv(path))
        frame = pl.read_csv(path)
    counts = shares(records)
    given = limits(counts, 8)
    setting = find_setting(counts, given, "multi", LARGEST)
    run = np.repeat(np.arange(VALUES), counts).astype(np.uint8)
    deal = best(lambda: _filled([setting], given, 0, Chance()))
    places = _filled([setting], given, 0, Chance()).places
    draw = best(lambda: assigned(places, run, Chance()))
    table = shoal.table(frame, quasi=list(CARDINALITIES), sensitive=[HIDDEN])
    whole = best(
        lambda: Buckets(HIDDEN, Limits.formula(8, OFFSET), "multi", largest=LARGEST).release(table)
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
    return Printed(
        "Time to assign records to buckets", ("table", "what", "seconds", "R", "bar, R"), rows
    )


def _solver(name: str) -> Solver:
    return name  # type: ignore[return-value]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bucket_queries", description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--theta", type=int, nargs="*", default=[2, 8, 32])
    parser.add_argument(
        "--filling", action="store_true", help="measure how long it takes to fill buckets instead"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md"
    )
    given = parser.parse_args(arguments)
    printed = filling() if given.filling else table(given.records, given.theta, given.queries)
    print(printed.text(given.markdown))


if __name__ == "__main__":
    main()
