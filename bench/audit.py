"""`python -m bench.audit`: how many questions about maxima the three strategies answer, in the
experiment of Zhang's chapter 3.

And how long a decision takes. Sums are measured by `bench.audit_sums`.
"""

import argparse
import random
import statistics
import time
from functools import cache
from pathlib import Path

from bench.__main__ import Cells, Printed, say
from shoal.audit.maxima import Maxima
from shoal.audit.model import STRATEGIES, Number, Strategy, crowd

RUNS, PEOPLE, ASKED = 50, (1000, 2000), (50, 100, 150, 200, 250)
NAMES = {"simple": "simple (unsafe)", "simulatable": "simulatable", "binding": "binding"}


@cache
def answered(
    people: int, strategy: Strategy, run: int, bounded: bool = False
) -> tuple[list[bool], list[float], list[float]]:
    """Which of random questions are answered, and how long decisions take; beside it, how long the
    plain maximum does.
    """
    drawn = random.Random(run)
    values: list[Number] = [drawn.randint(1, people) for _ in range(people)]
    auditor = (
        Maxima(people, 1, people, strategy=strategy, integers=True)
        if bounded
        else Maxima(people, strategy=strategy)
    )
    state = auditor.start()
    found, taken, plain = [], [], []
    for _ in range(max(ASKED)):
        who = drawn.sample(range(people), drawn.randint(1, people // 10))
        asked = crowd(who)
        start = time.perf_counter()
        answer = max(values[person] for person in who)
        between = time.perf_counter()
        entry = auditor.decide(state, asked, answer)
        state = auditor.after(state, entry)
        taken.append(time.perf_counter() - between)
        plain.append(between - start)
        found.append(entry.answered)
    return found, taken, plain


def mean(values: list[int]) -> str:
    """A mean with how far it may be off by the runs that were drawn: two standard errors."""
    return (
        f"{statistics.mean(values):.1f} ± {2 * statistics.stdev(values) / len(values) ** 0.5:.1f}"
    )


def utility() -> Printed:
    """Answered of 200 questions, and before the first denial."""
    rows: list[Cells] = []
    for people in PEOPLE:
        for strategy in reversed(STRATEGIES):
            for bounded in (False, True):
                say(f"{people} people, {strategy}")
                runs = [answered(people, strategy, run, bounded)[0] for run in range(RUNS)]
                first = [found.index(False) if False in found else len(found) for found in runs]
                kind = f"whole numbers 1 to {people:,}" if bounded else "real numbers"
                rows.append(
                    (
                        people,
                        kind,
                        NAMES[strategy],
                        mean([sum(found[:200]) for found in runs]),
                        mean(first),
                    )
                )
    head = (
        "people",
        "what is public of values",
        "strategy",
        "answered of 200",
        "before the first denial",
    )
    return Printed("Maxima: questions that are answered, mean of 50 runs", head, rows)


def growth() -> Printed:
    """Answered of so many questions."""
    rows: list[Cells] = []
    for asked in ASKED:
        cells = [
            mean([sum(answered(PEOPLE[0], strategy, run)[0][:asked]) for run in range(RUNS)])
            for strategy in reversed(STRATEGIES)
        ]
        rows.append((asked, *cells))
    return Printed(
        "Maxima: answered of so many questions, 1,000 people",
        ("asked", *(NAMES[each] for each in reversed(STRATEGIES))),
        rows,
    )


def speed() -> Printed:
    """The median decision, and the slowest, beside the maximum itself."""
    rows: list[Cells] = []
    for people in PEOPLE:
        for strategy in reversed(STRATEGIES):
            runs = [answered(people, strategy, run) for run in range(RUNS)]
            taken = [each for _, times, _ in runs for each in times]
            plain = statistics.median(each for *_, times in runs for each in times)
            typical = statistics.median(taken)
            rows.append(
                (
                    people,
                    NAMES[strategy],
                    f"{typical * 1e3:.2f} ms",
                    f"{max(taken) * 1e3:.1f} ms",
                    f"{typical / plain:.0f}",
                    "5 ms",
                )
            )
    head = ("people", "strategy", "median decision", "slowest", "times the plain maximum", "bar")
    return Printed("Maxima: time of a decision", head, rows)


def chart(path: Path) -> None:
    """Answered of so many questions, as a picture."""
    import altair as alt

    data = [
        {
            "asked": asked,
            "strategy": NAMES[strategy],
            "answered": statistics.mean(
                sum(answered(PEOPLE[0], strategy, run)[0][:asked]) for run in range(RUNS)
            ),
        }
        for asked in range(10, max(ASKED) + 1, 10)
        for strategy in STRATEGIES
    ]
    drawn = (
        alt.Chart(alt.InlineData(data))
        .mark_line()
        .encode(
            x=alt.X("asked:Q", title="questions asked"),
            y=alt.Y("answered:Q", title="answered"),
            color=alt.Color("strategy:N", title=None, sort=list(NAMES.values())),
            strokeDash=alt.StrokeDash("strategy:N", sort=list(NAMES.values()), legend=None),
        )
        .properties(width=420, height=260)
    )
    drawn.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--chart",
        type=Path,
        metavar="FILE",
        help="also draw how many are answered, as SVG, PNG or HTML",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown, for docs/benchmarks.md"
    )
    given = parser.parse_args()
    for part in (utility, growth, speed):
        print(part().text(given.markdown), end="\n\n", flush=True)
    if given.chart:
        chart(given.chart)


if __name__ == "__main__":
    main()
