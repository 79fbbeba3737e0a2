"""`python -m bench`: one run, two tables of ratios (and two more with --growth).

R is the time of `polars.read_csv` on the same file in the same run; every time is the best of
several.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import polars as pl

import shoal
from bench import work
from bench.measure import best, in_turns, least, peak
from bench.sources import ROOT, Source, adult, large, wide
from shoal.lattice import Lattice
from shoal.measure.loss import LOSSES, normalised
from shoal.measure.risk import Assessment
from shoal.measure.risk import assess as assess_table
from shoal.methods.optimal import BestNode, search
from shoal.privacy.models import KAnonymity

# What a study in plain numpy on one core reached, and ARX (Java), on the same tables: in R.
STUDY = {
    ("adult", "optimum"): 19.0,
    ("health", "optimum"): 4.2,
    ("timeuse", "optimum"): 40.0,
    ("adult", "every node"): 570.0,
}
ARX = {("adult", "optimum"): 730.0, ("health", "optimum"): 945.0, ("timeuse", "optimum"): 4500.0}
BAR = {
    ("adult", "optimum"): 12.0,
    ("health", "optimum"): 3.0,
    ("timeuse", "optimum"): 20.0,
    ("adult", "every node"): 300.0,
    ("health", "assess, above reading"): 3.0,
    ("health", "read and code"): 1.6,
}
MEMORY_BAR = {"health": 1000.0}
FASTER_BAR = 50
PERCENT = 5
"""Suppression allowed in the comparison with anjana."""

ALIKE = 1e-6

Cells = tuple[object, ...]


@dataclass(frozen=True)
class Printed:
    """A table for people: aligned text, or Markdown."""

    title: str
    head: tuple[str, ...]
    rows: list[Cells]

    def text(self, markdown: bool) -> str:
        lines = [[_shown(cell) for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = [
            [
                cell.ljust(width) if j < 2 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            for line in lines
        ]
        if not markdown:
            return "\n".join([self.title, "", *("  ".join(line).rstrip() for line in padded)])
        rule = ["-" * width if j < 2 else "-" * (width - 1) + ":" for j, width in enumerate(widths)]
        return "\n".join(
            [
                f"## {self.title}",
                "",
                *(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])),
            ]
        )


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}" if cell < 100 else f"{cell:,.0f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return "" if cell is None else str(cell)


def speed(sources: Sequence[Source]) -> Printed:
    """Times and ratios on the tables of the issue."""
    rows: list[Cells] = []
    for source in sources:
        say(f"{source.name}: reading, coding, counting")
        times = in_turns(
            {
                "polars.read_csv (R)": partial(work.read, source),
                "polars.read_csv, as text": partial(work.read_text, source),
                "read and code": partial(work.code, source),
            }
        )
        unit = times["polars.read_csv (R)"]
        table = work.code(source)
        counts = work.count(table)
        nodes = work.lattice(table, counts)
        times["count distinct rows"] = least(partial(work.count, table))
        times["assess, above reading"] = least(partial(work.assess, source)) - unit
        say(f"{source.name}: optimum")
        times["optimum"] = least(work.optimum, partial(work.lattice, table, counts))
        if source.name.endswith("adult"):
            say(f"{source.name}: all {nodes.size:,} nodes")
            times["every node"] = least(
                work.everything, partial(work.lattice, table, counts), repeats=3
            )
        # Once more at the end: the machine may have been busy.
        unit = unit.least(least(partial(work.read, source)))
        times["polars.read_csv (R)"] = unit
        about = f"{source.name}: {table.rows:,} × {len(table.names)}, {nodes.size:,} nodes"
        for what, took in times.items():
            key = (source.name, what)
            ratios = (took.seconds / unit.seconds, took.cpu, took.cpu / unit.cpu)
            bars = (BAR.get(key), STUDY.get(key), ARX.get(key))
            rows.append((about, what, took.seconds, *ratios, *bars))
        say(f"{source.name}: memory")
        for what, name in {
            "assess": "peak memory, assess (MB)",
            "whole": "peak memory, optimum (MB)",
        }.items():
            bar = MEMORY_BAR.get(source.name)
            rows.append((about, name, peak(what, source), None, None, None, bar, None, None))
    head = ("table", "what", "seconds", "R", "CPU seconds", "CPU, R", "bar", "study", "ARX")
    return Printed("Speed and memory", head, rows)


def peers(python: Path, source: Source) -> Printed:
    """The same questions to Shoal and to anjana and pycanon, from a dataframe in memory, and
    whether answers agree.
    """
    say("anjana and pycanon: about a minute")
    command = [
        str(python),
        str(ROOT / "bench" / "peers.py"),
        str(source.path),
        str(source.folder),
        str(PERCENT),
    ]
    found = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    )
    theirs, answers, quasi = found["seconds"], found["answers"], found["quasi"]
    frame = work.read(source)
    sensitive = [name for name in frame.columns if name not in quasi]
    hierarchies = source.hierarchies()

    def release() -> tuple[Lattice, BestNode]:
        table = shoal.table(
            frame.select(quasi),
            quasi=quasi,
            hierarchies={name: hierarchies[name] for name in quasi},
        )
        nodes = work.lattice(table, work.count(table))
        return nodes, search(
            nodes, (KAnonymity(work.K),), LOSSES["granularity"], Fraction(PERCENT, 100)
        )

    def risks() -> Assessment:
        return assess_table(shoal.table(frame), quasi=quasi)

    def assessment() -> Assessment:
        return assess_table(shoal.table(frame), quasi=quasi, sensitive=sensitive)

    unit = best(partial(work.read, source))
    nodes, chosen = release()
    ours = {
        "k": best(risks),
        "risks": best(risks),
        "assessment": best(assessment),
        "release": best(release),
    }
    mine = assessment()
    diversity = mine.sensitive[sensitive[0]]
    values = {
        "k": mine.k,
        "highest": mine.prosecutor.highest,
        "average of groups": mine.prosecutor.average_of_groups,
        "distinct": diversity.distinct,
        "entropy": int(diversity.entropy + ALIKE),  # pycanon gives the whole number below
        "t": diversity.closeness,
        "beta": diversity.likeness,
        "delta": diversity.disclosure,
    }

    def verdict(name: str) -> str:
        unequal = [
            what for what, value in answers[name].items() if abs(value - values[what]) > ALIKE
        ]
        return f"{', '.join(unequal)} differ" if unequal else "equal"

    def lost(levels: Sequence[int]) -> float:
        groups = nodes.groups(tuple(levels))
        return normalised(LOSSES["granularity"], groups, groups.sizes >= work.K)

    granularity = f"loss {lost(chosen.node):.3f}, theirs {lost(answers['release']['levels']):.3f}"
    rows: list[Cells] = [
        (
            label,
            tool,
            theirs[key],
            theirs[key] / unit,
            ours[key],
            ours[key] / unit,
            theirs[key] / ours[key],
            FASTER_BAR,
            answer,
        )
        for key, label, tool, answer in (
            ("k", "k of the table", "pycanon", verdict("k")),
            ("risks", "k, highest and average risk", "pycanon", verdict("risks")),
            ("assessment", "the same, l, entropy l, t, β, δ", "pycanon", verdict("assessment")),
            ("release", f"5-anonymity, {PERCENT} % suppressed", "anjana", granularity),
        )
    ]
    head = (
        "question",
        "peer",
        "its seconds",
        "its R",
        "Shoal's seconds",
        "Shoal's R",
        "times faster",
        "bar",
        "answers",
    )
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return Printed(f"Peers on {source.name} ({versions})", head, rows)


def growth_with_rows(sources: Sequence[Source]) -> Printed:
    rows: list[Cells] = []
    for source in sources:
        say(f"growth: {source.name}")
        unit = best(partial(work.read, source), repeats=3)
        table = work.code(source)
        counts = work.count(table)
        assess = best(partial(work.assess, source), repeats=3)
        optimum = best(work.optimum, partial(work.lattice, table, counts), repeats=3)
        about = f"{table.rows:,}"
        del table
        rows.append(
            (
                about,
                "health",
                counts.distinct,
                unit,
                assess / unit,
                optimum / unit,
                peak("assess", source),
                peak("whole", source),
            )
        )
        del counts
    head = (
        "rows",
        "table",
        "distinct",
        "R, seconds",
        "assess, R",
        "optimum, R",
        "assess, MB",
        "optimum, MB",
    )
    return Printed("Growth with rows", head, rows)


def growth_with_columns(sources: Sequence[Source]) -> Printed:
    rows: list[Cells] = []
    for source in sources:
        say(f"growth: {source.name}")
        unit = best(partial(work.read, source), repeats=3)
        table = work.code(source)
        counts = work.count(table)
        assess = best(partial(work.assess, source), repeats=3)
        walk = best(work.walk, partial(work.lattice, table, counts), repeats=3)
        rows.append(
            (
                str(len(table.names)),
                "wide",
                counts.distinct,
                unit,
                assess / unit,
                walk,
                walk / unit,
                peak("assess", source),
            )
        )
    head = (
        "columns",
        "table",
        "distinct",
        "R, seconds",
        "assess, R",
        f"{work.WALK} nodes, seconds",
        f"{work.WALK} nodes, R",
        "assess, MB",
    )
    return Printed("Growth with columns", head, rows)


def environment(folder: Path, peers: Sequence[str] = ("anjana", "pycanon")) -> Path | None:
    """The Python of an environment with the peers in it, made where there is none; None if they
    cannot be installed.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        say(f"installing {' and '.join(peers)} into an environment of their own")
        venv.create(folder, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *peers]
        if subprocess.run(command).returncode:
            shutil.rmtree(folder)
            say("peers are left out, as they could not be installed; --peers names an environment")
            return None
    return python


def say(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT / "bench" / "data",
        help="where large tables are, or are made (bench/data)",
    )
    parser.add_argument(
        "--peers",
        type=Path,
        metavar="DIR",
        help="an environment with anjana and pycanon (made in the data folder)",
    )
    parser.add_argument(
        "--only", metavar="PARTS", help="some of adult,health,timeuse,peers, with commas"
    )
    parser.add_argument(
        "--growth",
        action="store_true",
        help="also growth with rows (10 million) and columns (31); takes minutes",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    parts = given.only.split(",") if given.only else ["adult", "health", "timeuse", "peers"]

    made: dict[str, Callable[[], Source]] = {
        "adult": partial(adult, given.data),
        "health": partial(large, "health", given.data),
        "timeuse": partial(large, "timeuse", given.data),
    }
    versions = (
        f"Shoal {shoal.__version__}, Polars {pl.__version__}, Python {platform.python_version()}"
    )
    print(f"{versions}, {pl.thread_pool_size()} threads", end="\n\n")
    sources = [make() for name, make in made.items() if name in parts]
    printed: list[Callable[[], Printed]] = []
    if sources:
        printed.append(partial(speed, sources))
    if "peers" in parts:
        python = environment(given.peers or given.data / "peers")
        if python is not None:
            printed.append(lambda: peers(python, adult(given.data)))
    if given.growth:
        printed.append(
            lambda: growth_with_rows(
                [large("health", given.data, rows) for rows in (None, 3_000_000, 10_000_000)]
            )
        )
        printed.append(
            lambda: growth_with_columns([wide(columns, given.data) for columns in (4, 8, 16, 31)])
        )
    for make in printed:
        print(make().text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
