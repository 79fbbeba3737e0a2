"""`python -m bench.kept`: what is left of a table, and what it is good for, by method and ε.

Means of several releases each: information and records kept, the distance of two-way marginals,
the error of count queries, the accuracy of a classifier, and the CPU time beside SafePub's in the
same run. Beside them, synthetic data by a peer. `--figures` keeps what was measured in a file, so
that methods can be added one by one.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl

import shoal
from bench.__main__ import Cells, Printed, environment, say
from bench.sources import CACHE, ROOT, Source, adult, at_hand
from shoal.data.hierarchy import Hierarchy
from shoal.errors import ShoalError
from shoal.look.drawing import FONT
from shoal.measure.marginals import Marginal, ReleasedRows, Spread
from shoal.measure.utility import Workload, classification, queries
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.releases.release import Release

EPSILONS = ("0.1", "0.5", "1", "2")
DELTA = "1e-6"
RUNS = 20
PEERS = {"synthetic data (MST)": 3, "synthetic data (AIM)": 1}
"""How many runs of each peer at most: one takes minutes, a release less than a second."""

YARDSTICK = 5
"""Releases by SafePub whose mean CPU time is 1."""

CLASSES = {"adult": "salary-class"}
SPREAD: Spread = "proportional"
MEASURES = {
    "information": "information kept",
    "records": "records kept",
    "marginals": "two-way marginals off by",
    "queries": "count queries off by",
    "half": "half of them by less than",
    "accuracy": "relative accuracy",
    "cpu": "CPU time, SafePub = 1",
}
MISSING_YET = (ShoalError, TypeError, AttributeError)
"""What asking for a method that this version does not have leads to."""

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    """What a release, or the mean of several, is worth; None where that makes no sense."""

    information: float | None
    records: float | None
    marginals: float
    queries: float
    half: float
    accuracy: float | None
    cpu: float


@dataclass(frozen=True)
class Entry:
    """The means of one method on one table at one ε."""

    table: str
    method: str
    epsilon: str
    runs: int
    figures: Figures


@dataclass(frozen=True, eq=False)
class Subject:
    """A table to release, with what releases of it are compared with."""

    source: Source
    table: shoal.Table
    target: str | None
    """The column that a classifier predicts."""

    @classmethod
    def of(cls, source: Source) -> "Subject":
        # No value is missing, which the methods may know: `*` then stands for real values only.
        found = shoal.read(source.path, hierarchies=source.hierarchies(), missing="refuse")
        table = found.with_roles(quasi=found.names)
        name = source.name.removeprefix("made-up ")
        return cls(source, table, CLASSES.get(name))

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        return {name: self.table.hierarchy(name) for name in self.table.names}

    @cached_property
    def medium(self) -> dict[str, int]:
        """Half of each column's height, rounded up."""
        return {name: (tree.height + 1) // 2 for name, tree in self.trees.items()}

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        return [*combinations(self.table.names, 2)]

    @cached_property
    def true_marginals(self) -> list[Marginal]:
        return self.marginals(self.frame)

    @cached_property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.table.frame.to_native())

    def marginals(self, release: Any) -> list[Marginal]:
        rows = ReleasedRows.of(release, self.trees, self.table.names)
        return [rows.marginal(pair, self.medium, spread=SPREAD) for pair in self.pairs]

    def distance(self, release: Any) -> float:
        """The mean total variation of all two-way marginals at medium levels."""
        found = zip(self.marginals(release), self.true_marginals, strict=True)
        return mean(own.distance(true) for own, true in found)

    def errors(self, release: Any, rate: Fraction) -> tuple[float, float]:
        """The relative error of count queries: its mean and its median."""
        found = queries(self.table, release, Workload(), rate=rate)
        return found.mean, found.median

    def accuracy(self, release: pl.DataFrame) -> float | None:
        """The relative accuracy of the stricter tree, trained on rows that show the class."""
        if self.target is None:
            return None
        classes = self.trees[self.target].labels[0]
        shown = release.filter(pl.col(self.target).is_in(classes))
        if len(release) and not len(shown):
            return None  # the class is not released at all
        [found] = classification(self.table, shown, self.target, classifiers=["tree"])
        return found.relative


# What is left


def kept(subject: Subject, release: pl.DataFrame) -> tuple[float, float]:
    """Information and records kept, each as a share of what the input has.

    A released row keeps as many records as it stands for, and not more than have it. A record has
    the finest released row around it.
    """
    trees = subject.trees
    names = [*trees]
    rows = release.group_by(names).len("released")
    levels = [f"level of {name}" for name in names]
    rows = rows.with_columns(
        pl.col(name).replace_strict(_level_of(trees[name])).alias(level)
        for name, level in zip(names, levels, strict=True)
    )
    by_levels = rows.partition_by(levels, as_dict=True, include_key=False)
    finest_first = sorted(by_levels.items(), key=lambda item: sum(map(int, item[0])))
    rest = subject.frame.group_by(names).len("records")
    records = 0
    left = 0.0  # of granularity: of every kept cell, the share of its domain that it rules out
    for node, part in finest_first:
        at = {name: int(level) for name, level in zip(names, node, strict=True)}
        found, rest = _matched(rest, part, trees, at)
        records += int(found["kept"].sum())
        for name, level in at.items():
            share = pl.col(name).replace_strict(_ruled_out(trees[name], level))
            left += float(found.select((share * pl.col("kept")).sum()).item())
    everything = sum(1 - 1 / tree.leaves for tree in trees.values())
    total = subject.table.rows
    return left / (everything * total), records / total


def _matched(
    input_rows: pl.DataFrame,
    released: pl.DataFrame,
    trees: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The released rows of some levels with how many records each keeps, and the other records."""
    at = {name: f"{name} at its level" for name in levels}
    coarse = input_rows.with_columns(
        pl.col(name).replace_strict(_generalised(trees[name], level)).alias(at[name])
        for name, level in levels.items()
    )
    true = coarse.group_by(at.values()).agg(pl.col("records").sum())
    found = released.join(true, left_on=[*at], right_on=[*at.values()])
    kept = found.with_columns(pl.min_horizontal("records", "released").alias("kept"))
    others = coarse.join(released, left_on=[*at.values()], right_on=[*at], how="anti")
    return kept, others.select(input_rows.columns)


def _level_of(tree: Hierarchy) -> dict[str, int]:
    """The finest level that has each text."""
    found: dict[str, int] = {}
    for level, labels in enumerate(tree.labels):
        for label in labels:
            found.setdefault(label, level)
    return found


def _generalised(tree: Hierarchy, level: int) -> dict[str, str]:
    codes = tree.maps[level].tolist()
    return {
        leaf: tree.labels[level][code] for leaf, code in zip(tree.labels[0], codes, strict=True)
    }


def _ruled_out(tree: Hierarchy, level: int) -> dict[str, float]:
    covered = zip(tree.labels[level], tree.cover(level).tolist(), strict=True)
    return {label: 1 - number / tree.leaves for label, number in covered}


# Methods

Maker = Callable[[Subject, str, Options], Release]


def _by_safepub(subject: Subject, epsilon: str, options: Options) -> Release:
    return SafePub(epsilon, DELTA, **options).release(subject.table)


def _by_truthful(subject: Subject, epsilon: str, options: Options) -> Release:
    """A tree, and a β that is chosen by the number of records."""
    return shoal.release(subject.table, epsilon=epsilon, delta=DELTA, truthful=True, **options)


def _given_levels(subject: Subject, options: Options) -> dict[str, int]:
    """Medium levels, but a class is released unchanged."""
    return subject.medium | dict.fromkeys(options.get("classes", ()), 0)


def _by_safepub_levels(subject: Subject, epsilon: str, options: Options) -> Release:
    levels = _given_levels(subject, options)
    return SafePub(epsilon, DELTA, levels=levels).release(subject.table)


def _by_levels(subject: Subject, epsilon: str, options: Options) -> Release:
    levels = _given_levels(subject, options)
    return NoisyCounts(epsilon, DELTA, levels=levels).release(subject.table)


def _by_search(subject: Subject, epsilon: str, options: Options) -> Release:
    wanted: Options = {"levels": "search", **options}
    return NoisyCounts(epsilon, DELTA, **wanted).release(subject.table)


def _by_tree(subject: Subject, epsilon: str, options: Options) -> Release:
    return _by_search(subject, epsilon, {"levels": "tree", **options})


def _by_medium_tree(subject: Subject, epsilon: str, options: Options) -> Release:
    """A tree that spends nothing on what marginals at medium levels do not show."""
    return _by_tree(subject, epsilon, {"floor": subject.medium, **options})


def _by_default(subject: Subject, epsilon: str, options: Options) -> Release:
    return shoal.release(subject.table, epsilon=epsilon, delta=DELTA, **options)


MAKERS: dict[str, Maker] = {
    "SafePub": _by_safepub,
    "SafePub, levels given": _by_safepub_levels,
    "shoal.release, truthful": _by_truthful,
    "noisy counts, levels given": _by_levels,
    "noisy counts, search": _by_search,
    "noisy counts, tree": _by_tree,
    "noisy counts, tree to medium": _by_medium_tree,
    "shoal.release": _by_default,
}
"""Each way to release, by what it is called in the tables."""


def measured(subject: Subject, make: Maker, epsilon: str) -> Figures:
    """One release, and for the classifier another one that is made for its class."""
    start = time.process_time()
    release = make(subject, epsilon, {})
    seconds = time.process_time() - start
    frame = pl.DataFrame(release.table)
    information, records = kept(subject, frame)
    rate = Fraction(release.certificate.derived.get("beta") or 1)
    off, half = subject.errors(frame, rate)
    accuracy = None
    if subject.target is not None:
        accuracy = subject.accuracy(_for_classes(subject, make, epsilon, frame))
    return Figures(
        information=information,
        records=records,
        marginals=subject.distance(release),
        queries=off,
        half=half,
        accuracy=accuracy,
        cpu=seconds,
    )


def _for_classes(
    subject: Subject, make: Maker, epsilon: str, otherwise: pl.DataFrame
) -> pl.DataFrame:
    """A release for the classifier, or the one that is there if the method has no such score."""
    options = {"score": "classification", "classes": (subject.target,)}
    try:
        return pl.DataFrame(make(subject, epsilon, options).table)
    except MISSING_YET as error:
        say_once(f"the classifier learns from a release that is not made for it: {error}")
        return otherwise


@cache
def say_once(what: str) -> None:
    say(what)


def synthetic(subject: Subject, python: Path, name: str, epsilon: str) -> Figures:
    """One table of synthetic data, which keeps nobody's record."""
    source = subject.source
    model = name.partition("(")[2].rstrip(")")
    threads = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "synthetic.csv"
        script = ROOT / "bench" / "synthetic.py"
        command = [python, script, model, source.path, source.folder, epsilon, DELTA, out]
        done = subprocess.run(
            [*map(str, command)], check=True, capture_output=True, text=True, env=threads
        )
        frame = pl.read_csv(out, separator=";", infer_schema=False)
    off, half = subject.errors(frame, Fraction(1))
    return Figures(
        information=None,
        records=None,
        marginals=subject.distance(frame),
        queries=off,
        half=half,
        accuracy=subject.accuracy(frame),
        cpu=float(json.loads(done.stdout.splitlines()[-1])["seconds"]),
    )


def averaged(several: Sequence[Figures], unit: float) -> Figures:
    """The means, CPU time in units."""

    def of(name: str) -> Any:
        values = [getattr(figures, name) for figures in several]
        known = [value for value in values if value is not None]
        return mean(known) if known else None

    found = Figures(**{name: of(name) for name in MEASURES})
    return replace(found, cpu=found.cpu / unit)


def yardstick(subject: Subject, epsilon: str) -> float:
    """The mean CPU time of some releases by SafePub."""
    start = time.process_time()
    for _ in range(YARDSTICK):
        _by_safepub(subject, epsilon, {})
    return (time.process_time() - start) / YARDSTICK


def entries(
    subject: Subject,
    methods: Iterable[str],
    epsilons: Iterable[str],
    runs: int,
    python: Path | None,
) -> list[Entry]:
    """All methods at every ε; one that this version does not have is left out."""
    ways: dict[str, tuple[int, Callable[[str], Figures]]] = {}
    for name in methods:
        if name in PEERS and python is not None:
            ways[name] = min(runs, PEERS[name]), partial(synthetic, subject, python, name)
        if name in MAKERS and _exists(subject, name):
            ways[name] = runs, partial(measured, subject, MAKERS[name])
    found = []
    for epsilon in epsilons:
        unit = yardstick(subject, epsilon)
        for name, (times, way) in ways.items():
            say(f"{subject.source.name}, ε = {epsilon}: {name}, {times} runs")
            figures = averaged([way(epsilon) for _ in range(times)], unit)
            found.append(Entry(subject.source.name, name, epsilon, times, figures))
    return found


def _exists(subject: Subject, name: str) -> bool:
    try:
        MAKERS[name](subject, "1", {})
    except MISSING_YET as error:
        say(f"{name} is left out: {error}")
        return False
    return True


# What is shown


def printed(found: Sequence[Entry], table: str) -> Printed:
    """One line per method and ε."""
    rows: list[Cells] = []
    order = {name: place for place, name in enumerate((*MAKERS, *PEERS))}
    for entry in sorted(found, key=lambda entry: (order[entry.method], float(entry.epsilon))):
        if entry.table == table:
            values = [getattr(entry.figures, name) for name in MEASURES]
            rows.append((entry.method, entry.epsilon, *values))
    return Printed(f"More of the data: {table}", ("method", "ε", *MEASURES.values()), rows)


DRAWN = {
    "information": "information kept",
    "marginals": "two-way marginals off by",
    "half": "half of the queries off by less",
    "accuracy": "relative accuracy",
}


def chart(found: Sequence[Entry], path: Path) -> None:
    """Some measures by ε: a row of panels per table, a line per method."""
    import altair as alt

    order = [*MAKERS, *PEERS]

    def panel(table: str, name: str) -> Any:
        points = [
            {"method": each.method, "ε": float(each.epsilon), "value": getattr(each.figures, name)}
            for each in found
            if each.table == table
        ]
        known = [point for point in points if point["value"] is not None]
        if not known:
            return None
        # Distances differ by factors, the others by amounts.
        scale = alt.Scale(type="log" if name == "marginals" else "linear")
        at = alt.Axis(values=[*map(float, EPSILONS)], format="~g")
        return (
            alt.Chart(pl.DataFrame(known), width=170, height=150, title=f"{table}: {DRAWN[name]}")
            .mark_line(point=True)
            .encode(
                x=alt.X("ε:Q", axis=at, scale=alt.Scale(type="log", nice=False)),
                y=alt.Y("value:Q", title=None, scale=scale),
                color=alt.Color(
                    "method:N",
                    sort=[name for name in order if any(each.method == name for each in found)],
                    title=None,
                    legend=alt.Legend(orient="bottom", columns=3, labelLimit=300),
                ),
            )
        )

    rows = []
    for table in dict.fromkeys(each.table for each in found):
        panels = [panel(table, name) for name in DRAWN]
        rows.append(alt.hconcat(*(panel for panel in panels if panel is not None)))
    alt.vconcat(*rows).configure(font=FONT).save(str(path))


def read_entries(path: Path) -> list[Entry]:
    """What was measured before, if the file is there."""
    if not path.exists():
        return []
    lines = json.loads(path.read_text())
    return [Entry(**{**line, "figures": Figures(**line["figures"])}) for line in lines]


def merged(old: Iterable[Entry], new: Iterable[Entry]) -> list[Entry]:
    """Both, the new ones in place of old ones of the same table, method and ε."""
    by_key = {(each.table, each.method, each.epsilon): each for each in (*old, *new)}
    return [*by_key.values()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.kept", description=__doc__)
    parser.add_argument("--only", metavar="TABLES", help="some of adult,acs, with commas")
    parser.add_argument(
        "--methods", metavar="NAMES", help="some of the methods of the tables, with semicolons"
    )
    parser.add_argument("--epsilon", metavar="NUMBERS", help=f"with commas ({','.join(EPSILONS)})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases each ({RUNS})")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="an environment with dpmm")
    parser.add_argument(
        "--figures", type=Path, metavar="FILE", help="JSON file to add figures to; read if there"
    )
    parser.add_argument("--chart", type=Path, metavar="FILE", help="also draw them")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    given = parser.parse_args()
    tables = given.only.split(",") if given.only else ["adult", "acs"]
    methods = given.methods.split(";") if given.methods else [*MAKERS, *PEERS]
    epsilons = given.epsilon.split(",") if given.epsilon else EPSILONS
    python = None
    if not PEERS.keys().isdisjoint(methods):
        python = environment(given.peers or CACHE / "synthetic", ("dpmm",))
    found = read_entries(given.figures) if given.figures else []
    for name in tables:
        source = adult() if name == "adult" else at_hand(name)
        if source is None:
            say(f"{name} is left out: its table is not at hand")
            continue
        found = merged(found, entries(Subject.of(source), methods, epsilons, given.runs, python))
        if given.figures:
            given.figures.write_text(json.dumps([asdict(entry) for entry in found], indent=1))
    for name in dict.fromkeys(entry.table for entry in found):
        print(printed(found, name).text(given.markdown), end="\n\n", flush=True)
    if given.chart:
        chart(found, given.chart)


if __name__ == "__main__":
    main()
