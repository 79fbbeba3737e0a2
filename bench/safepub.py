"""`python -m bench.safepub`: SafePub's quality, speed, and what it is compared with, on the tables
of `bench`.

Quality is what a release is worth: of its own sample, as a share of what the best node of all would
have been worth there.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
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
from shoal.measure.loss import LOSSES, normalised
from shoal.measure.utility import classification
from shoal.methods.method import begin
from shoal.methods.optimal import search
from shoal.methods.safepub import SafePub, drawn, released_groups
from shoal.methods.safepub.scores import SCORES, Candidates
from shoal.privacy.calculus import safepub_parameters
from shoal.privacy.models import KAnonymity

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
PAPER = {"marital-status": 0.920, "salary-class": 0.873}
MORE_BAR = 15.0


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
        "entropy in bits": 0.0,
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
        found["entropy"] += float(left.sum() - (left**2).sum() / n)
        found["entropy in bits"] += float((left * np.log2(n / frequency)).sum())
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
                node = method.choose(plan, counts, chance, silent)
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
                if name == "entropy":
                    shares.setdefault(("entropy in bits", how), []).append(
                        worths[node]["entropy in bits"] / best_of["entropy in bits"]
                    )
    rows: list[Cells] = [
        (name, how, mean(values), min(values), BAR.get(name) if how == "select" else None)
        for (name, how), values in shares.items()
    ]
    return Printed(
        f"Quality on {source.name}: share of the optimum of the released sample, {runs} runs",
        ("score", "search", "mean", "least", "bar"),
        rows,
    )


def accuracy(source: Source, runs: int) -> Printed:
    """Relative accuracy of decision trees trained on the release and tested on the input: 1 is a
    tree trained on the input.

    Shoal's tree has no tiny leaves, as C4.5 prunes them; scikit-learn's by default has, and learns
    the input by heart.
    """
    table = coded(source)
    rows: list[Cells] = []
    for name in CLASSES:
        found: dict[str, list[float]] = {}
        for run in range(runs):
            say(f"accuracy for {name}, run {run + 1} of {runs}")
            release = SafePub(1, "1e-5", score="classification", classes=(name,)).release(table)
            for one in classification(table, release.table, name, classifiers=("tree", "unpruned")):
                found.setdefault(one.classifier, []).append(one.relative or 0.0)
        rows += [
            (name, tree, mean(values), min(values), PAPER[name]) for tree, values in found.items()
        ]
    return Printed(
        f"Relative accuracy on {source.name}, {runs} runs",
        ("class", "tree", "mean", "least", "paper"),
        rows,
    )


def definitions(source: Source, runs: int) -> Printed:
    """Records kept under both definitions at the same levels: those that every score chooses, and
    some finer ones.
    """
    table = coded(source)
    chance = Chance()
    chosen: dict[str, Node] = {}
    for name in SCORES:
        method = SafePub(
            1, "1e-6", score=name, classes=CLASSES[1:] if name == "classification" else ()
        )
        plan = method.plan(table.schema)
        space = plan.candidates
        counts = table.count(table.schema.released)
        chosen[name] = method.choose(plan, counts, chance, silent)
    chosen["every column one level up"] = tuple(
        min(1, space.hierarchies[name].height) for name in space.names
    )
    chosen["the same, salary-class as it is"] = tuple(
        min(1, high) for high in space.high
    )  # of the score classification
    chosen["5-anonymity, optimum"] = work.optimum(work.lattice(table, work.count(table))).node
    both = [
        safepub_parameters(1, "1e-6", definition) for definition in ("probabilistic", "standard")
    ]
    rows: list[Cells] = []
    for name, node in chosen.items():
        kept = [
            mean(
                released_groups(drawn(counts, own.beta, chance), space, node, own.k).total
                for _ in range(runs)
            )
            for own in both
        ]
        rows.append(
            (name, " ".join(map(str, node)), *kept, 100 * (kept[1] / kept[0] - 1), MORE_BAR)
        )
    title = f"Records kept on {source.name}, ε = 1, δ = 1e-6, {runs} runs"
    return Printed(
        title,
        (
            "levels of",
            "levels",
            *(f"{own.definition}, k = {own.k}" for own in both),
            "more, %",
            "bar",
        ),
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


# What the paper compares with


def baselines(source: Source, runs: int) -> Printed:
    """Granularity lost, of all records of the input, by the paper's baselines and by SafePub."""
    table = coded(source)
    counts = work.count(table)
    nodes = work.lattice(table, counts)
    loss = LOSSES["granularity"]
    chance = Chance()
    parameters = safepub_parameters(Fraction(9, 10), "1e-5")

    def lost(sample: Counts, node: Node, k: int) -> tuple[float, float]:
        """The loss when a sample's groups from k on are released at a node; all other records of
        the input are lost.
        """
        groups = work.lattice(table, sample).groups(node)
        kept = groups.sizes >= k
        share = float(groups.sizes[kept].sum()) / nodes.total
        return 1 - (1 - normalised(loss, groups, kept)) * sample.total / nodes.total, share

    def optimum(sample: Counts, k: int) -> tuple[float, float]:
        return lost(sample, search(work.lattice(table, sample), (KAnonymity(k),), loss, 1).node, k)

    def released(how: Search, sample: Counts) -> tuple[float, float]:
        method = SafePub(1, "1e-5", search=how)
        plan = method.plan(table.schema)
        node = method.choose(plan, counts, chance, silent)
        return lost(sample, node, plan.parameters.k)

    def rows() -> Iterator[Cells]:
        drawings: dict[str, Callable[[Counts], tuple[float, float]]] = {
            "5-anonymity, optimum": lambda sample: optimum(counts, 5),
            "sampling only": lambda sample: lost(sample, nodes.bottom, 1),
            "sampling and 5-anonymity, optimum": lambda sample: optimum(sample, 5),
            "SafePub, optimum of the sample (not private)": lambda sample: optimum(
                sample, parameters.k
            ),
            "SafePub": partial(released, "select"),
            "SafePub, the paper's walk, repaired": partial(released, "walk"),
        }
        samples = [drawn(counts, parameters.beta, chance) for _ in range(runs)]
        for name, draw in drawings.items():
            say(f"baselines: {name}")
            found = [draw(sample) for sample in (samples[:1] if name.startswith("5-") else samples)]
            private = name.startswith("SafePub") and not name.endswith(")")
            yield (
                name,
                "yes" if private else "no",
                mean(a for a, _ in found),
                mean(b for _, b in found),
            )

    return Printed(
        f"The paper's baselines on {source.name}: ε = .9 + .1, δ = 1e-5, k = {parameters.k}, "
        f"{runs} runs",
        ("release", "private", "granularity lost", "records kept"),
        list(rows()),
    )


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
        help="some of parameters,speed,definitions,baselines,quality,accuracy,growth",
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of what is random ({RUNS})")
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md"
    )
    given = parser.parse_args()
    parts: dict[str, Callable[[], Printed]] = {
        "parameters": parameters,
        "speed": lambda: speed(
            [adult(), large("health", given.data), large("timeuse", given.data)]
        ),
        "definitions": lambda: definitions(adult(), given.runs),
        "baselines": lambda: baselines(adult(), given.runs),
        "quality": lambda: quality(adult(), given.runs, ("select", "walk")),
        "accuracy": lambda: accuracy(adult(), given.runs),
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
