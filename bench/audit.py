"""`python -m bench.audit`: how long a decision about a maximum takes, by strategy.

Values and questions are those of `shoal experiment run zhang-maxima`, which shows how many are
answered. Sums are measured by `bench.audit_sums`.
"""

import argparse
import random
import statistics
import time

from bench.__main__ import Cells, Printed
from shoal.audit.maxima import Maxima
from shoal.audit.model import STRATEGIES, Strategy, crowd

RUNS, PEOPLE, ASKED = 20, (1000, 2000), 250


def decisions(people: int, strategy: Strategy, run: int) -> tuple[list[float], list[float]]:
    """How long decisions take, with their entry into the state, and the plain maxima."""
    drawn = random.Random(run)
    values = [drawn.randint(1, people) for _ in range(people)]
    auditor = Maxima(people, strategy=strategy)
    state = auditor.start()
    taken, plain = [], []
    for _ in range(ASKED):
        who = drawn.sample(range(people), drawn.randint(1, people // 10))
        asked = crowd(who)
        start = time.perf_counter()
        answer = max(values[person] for person in who)
        between = time.perf_counter()
        state = auditor.after(state, auditor.decide(state, asked, answer))
        taken.append(time.perf_counter() - between)
        plain.append(between - start)
    return taken, plain


def speed(runs: int = RUNS, sizes: tuple[int, ...] = PEOPLE) -> Printed:
    """The median decision, and the slowest, beside the maximum itself."""
    rows: list[Cells] = []
    for people in sizes:
        for strategy in reversed(STRATEGIES):
            timed = [decisions(people, strategy, run) for run in range(runs)]
            taken = [each for times, _ in timed for each in times]
            plain = statistics.median(each for _, times in timed for each in times)
            typical = statistics.median(taken)
            rows.append(
                (
                    people,
                    strategy,
                    f"{typical * 1e3:.2f} ms",
                    f"{max(taken) * 1e3:.1f} ms",
                    f"{typical / plain:.0f}",
                    "5 ms",
                )
            )
    head = ("people", "strategy", "median decision", "slowest", "times the plain maximum", "bar")
    return Printed("Maxima: time of a decision", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    print(speed().text(given.markdown), flush=True)


if __name__ == "__main__":
    main()
