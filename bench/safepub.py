"""`python -m bench.safepub`: SafePub's quality and speed, on the tables of `bench`.

Quality is what a release is worth: of its own sample, as a share of what the best node of all would
have been worth there.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Literal

import numpy as np

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import best
from bench.sources import ROOT, Source, adult, large, wide
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.lattice import Node
from shoal.lattice.rollup import Cells as Groups
from shoal.lattice.rollup import Floats, Rollup
from shoal.methods.method import begin
from shoal.methods.safepub import SafePub
from shoal.methods.searching.scores import SCORES, Candidates
from shoal.methods.searching.search import drawn
from shoal.privacy.calculus import safepub_parameters

Search = Literal["select", "walk"]

RUNS = 20
CLASSES = ("marital-status", "salary-class")
BAR = {
    "granularity": 0.99,
    "classification": 0.99,
    "intensity": 0.99,
    "groups": 0.99,
    "discernibility": 0.97,
    "entropy": 0.97,
}
SPEED_BAR = {"adult": 30.0, "health": 4.0, "timeuse": 6.0}
ARX = {"adult": "130 to 500", "health": "160 to 250", "timeuse": "190 to 450"}


def coded(source: Source) -> shoal.Table:
    """A table all of whose columns are quasi-identifying, as in the paper."""
    found = work.code(source)
    return found.with_roles(quasi=found.names)


def silent(done: int, total: int, what: str) -> None:
    pass


# Quality


def worth(
    space: Candidates, rollup: Rollup, groups: Groups, k: int, marginals: list[list[Floats]]
) -> dict[str, float]:
    """What is left of a sample at a node when groups below k are suppressed, by every score without
    its ramp.
    """
    groups = groups.compact
    kept = np.where(groups.sizes >= k, groups.sizes, 0).astype(np.float64)
    n = max(rollup.total, 1.0)
    found = {
        "discernibility": float((kept * (1 - groups.sizes / n)).sum()),
        "groups": float((groups.sizes >= k).sum()),
        "granularity": 0.0,
        "intensity": 0.0,
        "entropy": 0.0,
    }
    some = np.flatnonzero(kept)
    for axis, j in enumerate(rollup.axes):
        tree, level = space.hierarchies[space.names[j]], groups.levels[axis]
        codes = groups.codes(axis)[some]
        share = tree.cover(level)[rollup.real[axis][level]] / tree.leaves
        frequency = marginals[axis][level]
        left = np.bincount(codes, kept[some], len(share))
        found["granularity"] += float((left * (1 - share)).sum())
        found["intensity"] += float(left.sum()) * (1 - level / max(tree.height, 1))
        found["entropy"] += float((left * np.log2(n / frequency)).sum())
    return found


def every_worth(space: Candidates, sample: Counts, k: int) -> dict[Node, dict[str, float]]:
    rollup = space.rollup(sample)
    marginals = [
        [rollup.marginal(axis, level) for level in range(len(rollup.real[axis]))]
        for axis in range(len(rollup.axes))
    ]
    low, high = rollup.levels_of(space.low), rollup.levels_of(space.high)
    return {
        rollup.columns_of(groups.levels): worth(space, rollup, groups, k, marginals)
        for groups in rollup.walk(low, high)
    }


def every_class(space: Candidates, sample: Counts, k: int) -> dict[Node, float]:
    """How many records have their group's most frequent class, at every node."""
    rollup = space.rollup(sample, last=space.classes)
    features, card = len(rollup.axes), len(rollup.real[-1][0])
    columns = [j for j, name in enumerate(space.names) if name not in space.classes]
    low, high = (
        (*(levels[columns[a]] for a in rollup.axes), 0) for levels in (space.low, space.high)
    )
    found = {}
    for cells in rollup.walk(low, high):
        groups = cells.compact
        kept = np.where(groups.sizes >= k, groups.sizes, 0).astype(np.float64)
        group = groups.group_of(features)
        most = (
            np.bincount(group * card + groups.codes(features), kept, (int(group[-1]) + 1) * card)
            .reshape(-1, card)
            .max(axis=1)
        )
        node = list(space.low)
        for place, level in zip(rollup.axes, groups.levels[:features], strict=True):
            node[columns[place]] = level
        found[tuple(node)] = float(most.sum())
    return found


def quality(source: Source, runs: int, searches: tuple[Search, ...]) -> Printed:
    """The share of the optimum that is reached, for every score: mean and least of several runs."""
    table = coded(source)
    shares: dict[tuple[str, str], list[float]] = {}
    for run in range(runs):
        say(f"quality, run {run + 1} of {runs}")
        chance = Chance()
        for name in SCORES:
            classes = CLASSES[1:] if name == "classification" else ()
            for how in searches:
                method = SafePub(1, "1e-5", score=name, classes=classes, search=how)
                plan = method.plan(table.schema)
                space, parameters = plan.candidates, plan.parameters
                counts = table.count(table.schema.released)
                node = method.choose(plan, counts, chance, silent).node
                if (name, how) == ("granularity", searches[0]):
                    sample = drawn(counts, parameters.beta, chance)
                    worths = every_worth(space, sample, parameters.k)
                    best_of = {
                        what: max(each[what] for each in worths.values())
                        for what in next(iter(worths.values()))
                    }
                if name == "classification":
                    if how == searches[0]:
                        by_class = every_class(space, sample, parameters.k)
                    shares.setdefault((name, how), []).append(
                        by_class[node] / max(by_class.values())
                    )
                    continue
                shares.setdefault((name, how), []).append(worths[node][name] / best_of[name])
    rows: list[Cells] = [
        (name, how, mean(values), min(values), BAR.get(name) if how == "select" else None)
        for (name, how), values in shares.items()
    ]
    return Printed(
        f"Quality on {source.name}: share of the optimum of the released sample, {runs} runs",
        ("score", "search", "mean", "least", "bar"),
        rows,
    )


# Speed


def speed(sources: list[Source]) -> Printed:
    """From coded counts to the written release."""
    rows: list[Cells] = []
    for source in sources:
        say(f"{source.name}: from counts to the written release")
        unit = best(partial(work.read, source))
        table = coded(source)
        method = SafePub(1, "1e-6")
        counts = table.count(table.schema.released)
        with tempfile.TemporaryDirectory() as folder:
            seconds = best(partial(_counted, method, table, counts, folder))
            from_table = best(partial(_whole, method, table, folder))
        unit = min(unit, best(partial(work.read, source)))
        size = method.plan(table.schema).candidates.size
        about = f"{source.name}: {table.rows:,} × {len(table.names)}, {size:,} nodes"
        rows.append(
            (
                about,
                "from coded counts",
                seconds,
                seconds / unit,
                SPEED_BAR.get(source.name),
                ARX.get(source.name),
            )
        )
        rows.append((about, "from the coded table", from_table, from_table / unit, None, None))
    return Printed(
        "Speed of SafePub, default settings",
        ("table", "what", "seconds", "R", "bar", "ARX, R"),
        rows,
    )


def _counted(method: SafePub, table: shoal.Table, counts: Counts, folder: str) -> None:
    method.release_counts(begin(method, table), counts).write(folder)


def _whole(method: SafePub, table: shoal.Table, folder: str) -> None:
    method.release(table).write(folder)


def parameters() -> Printed:
    """All cells of the issue, together."""
    rows: list[Cells] = []
    for definition in ("probabilistic", "standard"):
        start = time.perf_counter()
        cells = [
            safepub_parameters(epsilon, f"1e-{digits}", definition)
            for epsilon in (
                "0.1",
                "0.25",
                "0.5",
                "0.69",
                "0.75",
                "0.9",
                "1",
                "1.1",
                "1.25",
                "1.5",
                "2",
            )
            for digits in range(4, 21)
        ]
        rows.append((definition, f"{len(cells)} cells", time.perf_counter() - start, 1.0))
    return Printed("Parameters", ("definition", "what", "seconds", "bar"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.safepub", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT / "bench" / "data",
        help="where large tables are, or are made",
    )
    parser.add_argument(
        "--only",
        metavar="PARTS",
        help="some of parameters,speed,quality,growth",
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of what is random ({RUNS})")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    parts: dict[str, Callable[[], Printed]] = {
        "parameters": parameters,
        "speed": lambda: speed(
            [adult(), large("health", given.data), large("timeuse", given.data)]
        ),
        "quality": lambda: quality(adult(), given.runs, ("select", "walk")),
        "growth": lambda: speed(
            [
                large("health", given.data, 10_000_000),
                *(wide(columns, given.data) for columns in (4, 8, 16, 31)),
            ]
        ),
    }
    for name in (
        given.only.split(",") if given.only else [name for name in parts if name != "growth"]
    ):
        print(parts[name]().text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
