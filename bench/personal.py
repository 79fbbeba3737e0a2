"""`python -m bench.personal`: personal generalisation. How long the exact solver takes against
scoring the whole lattice, how far the heuristics are from it, and what they take on a wide table.
What it does to risk and utility is in `shoal experiment run fouad-…`.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import best, high_water
from bench.sources import ROOT, adult, wide
from shoal.chance import Chance
from shoal.methods.method import silent
from shoal.methods.personal import People, Personal, Solver
from shoal.methods.personal.crowds import Best
from shoal.methods.personal.models import SENSITIVITIES, UTILITIES

FLOORS = ("1/2", "7/10", "9/10")
WIDE_COLUMNS, WIDE_ROWS, WIDE_FLOORS = 30, 100_000, ("7/10", "1/5")
HEURISTICS: tuple[Solver, ...] = ("genetic", "relaxed", "lagrangian")
SETTINGS = [
    Personal(floor, measure=measure, model=model)
    for measure, model, floor in product(
        UTILITIES[::2], SENSITIVITIES[::2], FLOORS
    )  # leaves and depth, fixed and harmonic
]
RUNS = 5


def table() -> shoal.Table:
    source = adult()
    read = shoal.read(source.path, hierarchies=source.hierarchies())
    return read.with_roles(quasi=read.names)


def told(method: Personal) -> str:
    return f"{method.measure}, {method.model}, {method.utility}"


def risk(people: People, solver: Solver) -> float:
    asked = replace(people, method=replace(people.method, solver=solver))
    return float(asked.facts(asked.solve(Chance(), silent)).risk)


def speed(given: argparse.Namespace) -> Printed:
    """From counts to everybody's node, against the score of every node of the same lattice."""
    say("every node of adult's lattice")
    people = table()
    counts = work.count(people)
    whole = best(work.everything, partial(work.lattice, people, counts), repeats=3)
    rows: list[Cells] = [("scoring every node", "", whole, 1.0, None)]
    logarithms = [Personal(floor, measure="log") for floor in FLOORS]
    for method in (*SETTINGS, *logarithms):
        say(f"exact: {told(method)}")
        seen = People.of(method, people)
        taken = best(lambda seen=seen: seen.solve(Chance(), silent), repeats=2)
        rows.append(("exact", told(method), taken, taken / whole, 2.0))
    return Printed(
        "Exact personal generalisation of adult",
        ("what", "utility, risk, floor", "seconds", "times", "bar"),
        rows,
    )


def gaps(given: argparse.Namespace) -> Printed:
    """By how much the mean risk of heuristics is above the lowest, and its worst of some runs."""
    rows: list[Cells] = []
    people = table()
    for method in SETTINGS:
        seen = People.of(method, people)
        exact = risk(seen, "exact")
        found: list[str] = []
        for solver in HEURISTICS:
            say(f"{solver}: {told(method)}")
            runs = [
                risk(seen, solver) / exact - 1
                for _ in range(given.runs if solver == "genetic" else 1)
            ]
            found.append(
                f"{sum(runs) / len(runs):.1%}" + (f" ({max(runs):.1%})" if len(runs) > 1 else "")
            )
        rows.append((told(method), exact, *found))
    head = (
        "utility, risk, floor",
        "lowest mean risk",
        *(f"{solver} above it" for solver in HEURISTICS),
    )
    return Printed(
        f"Heuristics on adult (genetic: mean and worst of {given.runs} runs)", head, rows
    )


def large(given: argparse.Namespace) -> Printed:
    """Thirty columns: each heuristic in a fresh process, with its time and memory."""
    rows: list[Cells] = []
    wide(WIDE_COLUMNS, given.data, WIDE_ROWS)
    for floor, solver in product(WIDE_FLOORS, HEURISTICS):
        say(f"{WIDE_COLUMNS} columns × {WIDE_ROWS:,}, {floor}: {solver}")
        command = [
            sys.executable,
            "-m",
            "bench.personal",
            "--data",
            str(given.data),
            "--one",
            solver,
            floor,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        rows.append((floor, solver, *json.loads(done.stdout.splitlines()[-1])))
    head = (
        "floor",
        "solver",
        "seconds",
        "peak MB",
        "mean risk",
        "mean risk as it is",
        "mean utility",
    )
    return Printed(f"{WIDE_COLUMNS} columns × {WIDE_ROWS:,} records", head, rows)


def one(solver: Solver, floor: str, data: Path) -> None:
    source = wide(WIDE_COLUMNS, data, WIDE_ROWS)
    read = shoal.read(source.path, hierarchies=source.hierarchies())
    seen = People.of(Personal(floor, solver), read.with_roles(quasi=read.names))
    start = time.perf_counter()
    found = seen.facts(seen.solve(Chance(), silent))
    taken = time.perf_counter() - start
    memory, bare = high_water(), seen.facts(Best(seen.crowds, seen.utility, seen.wanted).chosen())
    print(json.dumps([taken, memory, found.risk, bare.risk, found.utility]))


PARTS: dict[str, Callable[[argparse.Namespace], Printed]] = {
    "speed": speed,
    "heuristics": gaps,
    "wide": large,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.personal", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=ROOT / "bench" / "data", help="where the wide table is made"
    )
    parser.add_argument("--only", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument(
        "--runs", type=int, default=RUNS, help="runs of what is random (%(default)s)"
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        solver, floor = given.one
        one(solver, floor, given.data)
        return
    for part in given.only.split(",") if given.only else PARTS:
        print(PARTS[part](given).text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
