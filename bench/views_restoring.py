"""`python -m bench.views_restoring`: how often more views restore what views expose, in the
experiment of Zhang's chapter 6.
"""

import argparse
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from bench.__main__ import Cells, Printed, say
from bench.heart import WIDTHS, violated
from shoal.views.candidates import refinements
from shoal.views.restoring import restore

RUNS, COLUMNS, MOST, EFFORT = 1000, (1, 2, 3, 4), 2, 60
CHAPTER = {(4, 1): "about 50 %", (4, 2): "about 60 %"}
KINDS = {"own": "intervals of the view's own column", "any": "intervals of any column"}


@dataclass(frozen=True)
class Run:
    """How many views were added, 0 if none restored; whether it is proven that nothing can; and the
    time it took.
    """

    added: int
    never: bool
    seconds: float


def run(columns: int, width: str, seed: int) -> dict[str, Run]:
    """One table up to the first violation, and its restoring with each kind of candidates."""
    shown = violated(seed, columns, WIDTHS[width])
    found = {}
    for kind in KINDS if columns > 1 else ("own",):
        start = time.process_time()
        candidates = refinements(
            shown.views, shown.columns, same=shown.by if kind == "own" else None
        )
        done = restore(shown.views, shown.levels, candidates, additions=MOST, effort=EFFORT)
        never = any(one.proven == "never" for one in done.unrestored)
        found[kind] = Run(
            len(done.added) if done.private else 0, never, time.process_time() - start
        )
    return found


def shares(runs: int, workers: int) -> Printed:
    """The share restored."""
    rows: list[Cells] = []
    with ProcessPoolExecutor(workers) as pool:
        for columns in COLUMNS:
            for width in WIDTHS:
                say(f"{columns} columns, {width}")
                done = list(pool.map(partial(run, columns, width), range(runs), chunksize=10))
                for kind in done[0]:
                    rows.append(_row(columns, width, kind, [one[kind] for one in done]))
                    say(str(rows[-1]))
    head = (
        "columns",
        "width of views",
        "candidates",
        "one view",
        "chapter",
        "up to two",
        "chapter",
        "never",
        "median, longest",
    )
    return Printed(f"Restored of {runs:,} sets of views that expose somebody", head, rows)


def _row(columns: int, width: str, kind: str, done: list[Run]) -> Cells:
    within = [sum(1 <= one.added <= most for one in done) / len(done) for most in (1, MOST)]
    chapter = [CHAPTER.get((columns, most)) if kind == "own" else None for most in (1, MOST)]
    taken = [one.seconds for one in done]
    return (
        columns,
        width,
        KINDS[kind],
        f"{within[0]:.1%}",
        chapter[0],
        f"{within[1]:.1%}",
        chapter[1],
        f"{sum(one.never for one in done) / len(done):.1%}",
        f"{statistics.median(taken):.2f} s, {max(taken):.0f} s",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md"
    )
    given = parser.parse_args()
    print(shares(given.runs, given.workers).text(given.markdown), flush=True)


if __name__ == "__main__":
    main()
