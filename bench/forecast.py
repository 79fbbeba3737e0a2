"""`python -m bench.forecast`: how far forecasts are from what public tables keep.

The laws of made-up tables were chosen by the first parts of tables here, so forecasts of these fit
better than others will. The other parts were first looked at afterwards. They are of the same
tables, and so not independent of them.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

import polars as pl

import shoal
from bench.__main__ import Cells, Printed, say
from bench.sources import TABLES, Source
from shoal.data import hierarchy
from shoal.data.hierarchy import Hierarchy
from shoal.exact.epsilon import Epsilon
from shoal.studies.forecasting import WAYS, Expectation, forecast

EPSILONS = ("0.5", "1", "2")
DELTA = "1e-6"
RUNS = 5


@dataclass(frozen=True)
class Part:
    """Some columns and records of a table; without columns, all of it."""

    table: str
    columns: tuple[str, ...] = ()
    records: int | None = None
    chosen_by: bool = False
    """Whether the laws were chosen by it."""

    @property
    def name(self) -> str:
        return f"{self.table}, {', '.join(self.columns) or 'all columns'}"


PARTS = (
    Part("adult", chosen_by=True),
    Part(
        "adult",
        ("age", "sex", "race", "marital-status", "education", "native-country"),
        chosen_by=True,
    ),
    Part("adult", ("age", "education", "occupation", "sex"), chosen_by=True),
    Part("adult", records=5_000, chosen_by=True),
    Part("acs", chosen_by=True),
    Part("acs", ("Age", "Sex", "Education"), chosen_by=True),
    Part("acs", records=8_000, chosen_by=True),
    Part("labour", chosen_by=True),
    Part("labour", ("AGE", "SEX", "EDUC1", "MARSTAT", "REGION"), chosen_by=True),
    Part("households", chosen_by=True),
    Part("households", ("age", "sex", "relat", "hhcivil"), chosen_by=True),
    Part("adult", ("workclass", "occupation", "education", "salary-class", "sex")),
    Part("adult", ("age", "native-country", "race", "marital-status"), 12_000),
    Part("adult", ("age", "workclass", "education", "marital-status", "salary-class", "race")),
    Part("acs", ("Age", "Race", "Marital status", "Education")),
    Part("acs", ("Sex", "Race", "Marital status", "Education"), 20_000),
    Part("labour", ("AGE", "SEX", "KINDPERS", "EDUC1", "ETNI", "POSLABM", "PRIOCCU")),
    Part("labour", ("AGE", "POSLABM", "PRIOCCU", "EDUC1")),
    Part("households", ("age", "roof", "water", "relat")),
    Part("households", ("urbrur", "roof", "water", "sex", "hhcivil"), 2_000),
)


@dataclass(frozen=True)
class Compared:
    """What was forecast of a release of a part, and what it really keeps, on average."""

    part: Part
    epsilon: str
    expected: Expectation
    kept: float

    @property
    def outside(self) -> float:
        """How far the real figure lies below the range (negative) or above it (positive)."""
        between = self.expected.information
        return min(self.kept - between.low, 0.0) + max(self.kept - between.high, 0.0)


def compared(part: Part, epsilon: str, runs: int = RUNS) -> list[Compared]:
    """The forecast of every way to release, and the mean of some releases."""
    table = people(part)
    found = forecast(table.schema, records=table.rows, epsilon=epsilon, delta=DELTA)
    return [
        Compared(part, epsilon, one, _kept(table, one.way, epsilon, runs))
        for one in found.expectations
    ]


def _kept(table: shoal.Table, way: str, epsilon: str, runs: int) -> float:
    method = WAYS[way](Epsilon.of(epsilon), DELTA)
    return fmean(1 - (method.release(table).facts.loss or 0.0) for _ in range(runs))


# Tables


def people(part: Part) -> shoal.Table:
    """The table of a part."""
    frame, trees = _read(part.table)
    names = part.columns or tuple(trees)
    some = frame.select(names)
    if part.records is not None:
        some = some.sample(part.records, seed=0)
    return shoal.table(
        some,
        quasi=names,
        hierarchies={name: trees[name] for name in names},
        missing="refuse",
    )


@cache
def _read(name: str) -> tuple[pl.DataFrame, Mapping[str, Hierarchy]]:
    """A public table with its hierarchies."""
    if name in ("adult", "acs"):
        source = Source(name, TABLES / name / f"{name}.csv", TABLES / name / "hierarchies")
        frame: Any = shoal.read(source.path).frame.to_native()
        return frame, source.hierarchies()
    frame = pl.read_csv(TABLES / "survey" / f"{name}.csv")
    scales, codes = SURVEYS[name]
    trees = dict(scales)
    for column, most in codes.items():
        trees[column] = hierarchy.suppress([str(code) for code in range(1, most + 1)])
    whole = frame.select(pl.col(*trees).cast(pl.Int64))
    return whole.with_columns(pl.col(*codes).cast(pl.String)), trees


SURVEYS = {
    "labour": (
        {
            "AGE": hierarchy.intervals(15, 75, widths=[5, 10, 20]),
            "REGION": hierarchy.intervals(0, 200, widths=[10, 50]),
        },
        {
            "SEX": 2,
            "MARSTAT": 4,
            "KINDPERS": 7,
            "EDUC1": 9,
            "ETNI": 9,
            "POSLABM": 4,
            "PRIOCCU": 11,
        },
    ),
    "households": (
        {"age": hierarchy.intervals(0, 100, widths=[5, 10, 20, 40])},
        {"urbrur": 2, "roof": 9, "water": 9, "relat": 9, "sex": 2, "hhcivil": 4},
    ),
}
"""Columns of survey tables: those on a scale, and how many codes others have."""


# What is printed


def detail(results: Sequence[Compared]) -> Printed:
    """Every forecast beside what is kept."""
    rows: list[Cells] = []
    for one in results:
        between = one.expected.information
        said = f"{between.low:.3f} to {between.high:.3f}"
        rows.append((one.part.name, one.epsilon, one.expected.way, said, one.kept, one.outside))
    head = ("table", "ε", "way", "forecast", "kept", "outside by")
    return Printed("Information kept, forecast and real", head, rows)


def summary(results: Sequence[Compared]) -> Printed:
    """How often and how far forecasts are off."""
    rows: list[Cells] = []
    for name, chosen_by in (("the laws were chosen by", True), ("looked at afterwards", False)):
        for way in WAYS:
            some = [
                one
                for one in results
                if one.part.chosen_by is chosen_by and one.expected.way == way
            ]
            if some:
                rows.append((name, way, *_errors(some)))
    head = ("parts", "way", "forecasts", "in the range, %", "most below", "most above")
    return Printed("How far what is kept lies outside the range of its forecast", head, rows)


def _errors(some: Sequence[Compared]) -> tuple[int, float, float, float]:
    outside = [one.outside for one in some]
    inside = 100 * outside.count(0.0) / len(outside)
    return len(some), inside, abs(min(0.0, *outside)), max(0.0, *outside)


def ranking(results: Sequence[Compared]) -> Printed:
    """How often the way that is forecast to keep most does, and what is lost where it does not."""
    rows: list[Cells] = []
    for truthful in (False, True):
        for chosen_by in (True, False):
            lost = [*_lost(results, truthful, chosen_by)]
            right = 100 * lost.count(0.0) / max(len(lost), 1)
            among = "true counts" if truthful else "all ways"
            parts = "the laws were chosen by" if chosen_by else "looked at afterwards"
            rows.append((among, parts, len(lost), right, fmean(lost), max(lost)))
    head = ("among", "parts", "choices", "right, %", "lost by the choice, mean", "most")
    return Printed("How good a choice by the forecast is", head, rows)


def _lost(results: Sequence[Compared], truthful: bool, chosen_by: bool) -> Iterator[float]:
    """What each choice by the forecast keeps less than the best one."""
    questions: dict[tuple[Part, str], list[Compared]] = {}
    for one in results:
        if one.part.chosen_by is chosen_by and (one.expected.truthful or not truthful):
            questions.setdefault((one.part, one.epsilon), []).append(one)
    for ways in questions.values():
        chosen = max(ways, key=lambda one: one.expected.information.middle)
        yield max(one.kept for one in ways) - chosen.kept


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.forecast", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="releases of each table and way")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    given = parser.parse_args(arguments)
    results: list[Compared] = []
    for part in PARTS:
        say(part.name)
        for epsilon in EPSILONS:
            results += compared(part, epsilon, given.runs)
    for printed in (detail(results), summary(results), ranking(results)):
        print(printed.text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
