"""`python -m bench.audit_sums`: how long a decision about a sum takes as answers add up, and how
many sums are answered.

Values are uniform from 0 to 10, and each person is in a question with probability 1/2, as in
Zhang's experiment (chapter 3.4). Seconds are of one core. R is the time of one product of a people
× people matrix of floats with another, in the same run.
"""

import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # a server decides on one core; more threads only help large cases

import argparse
from collections.abc import Iterable, Iterator
from fractions import Fraction
from random import Random
from statistics import mean, median
from time import process_time

import numpy as np

from bench.__main__ import Cells, Printed
from shoal.audit.cells import Constraint
from shoal.audit.model import Strategy, members
from shoal.audit.polytope import free
from shoal.audit.sums import Sums, SumState

BOUNDS = 0, 10
SIZES = (1000, 500), (2000, 1000)
PARTS = 5
TIMED = 8  # decisions, of which the median is taken


def people(random: Random, count: int) -> list[Fraction]:
    """Everyone's value."""
    return [Fraction(random.randrange(10**7 + 1), 10**6) for _ in range(count)]


def total(values: list[Fraction], asked: int) -> Fraction:
    return sum((values[person] for person in members(asked)), Fraction(0))


def decisions(count: int, answered: int, seed: int = 1) -> Iterator[float]:
    """Seconds of the decisions before there are so many answers.

    What came before is taken as answered without deciding it, which is what would have happened:
    half as many random sums as people are all answered. The first decision, which finds its way
    without those before, is left out.
    """
    random = Random(seed)
    values, auditor, rows = people(random, count), Sums(count, *BOUNDS), []
    for _ in range(answered - TIMED - 1):
        asked = random.getrandbits(count) or 1
        rows.append(Constraint(asked, "=", total(values, asked)))
    state = SumState(tuple(rows))
    for number in range(TIMED + 1):
        asked = random.getrandbits(count) or 1
        answer = total(values, asked)
        start = process_time()
        entry = auditor.decide(state, asked, answer)
        if number:
            yield process_time() - start
        if not entry.answered:
            raise RuntimeError("fewer sums were answered than expected")
        state = auditor.after(state, entry)


def speed(sizes: Iterable[tuple[int, int]]) -> Iterator[Cells]:
    for count, most in sizes:
        matrix = np.random.default_rng(1).random((count, count))
        for answered in range(most // PARTS, most + 1, most // PARTS):
            references, times = [], []
            for seconds in decisions(count, answered):
                start = process_time()
                np.matmul(matrix, matrix)
                references.append(process_time() - start)
                times.append(seconds)
            yield count, answered, median(times), max(times), median(times) / median(references)


def independent(random: Random, count: int, questions: int) -> list[int]:
    """Questions that are independent and that auditing without bounds answers: all are if, of the
    last one, that is so.
    """
    while True:
        found = [random.getrandbits(count) or 1 for _ in range(questions)]
        if free(tuple(Constraint(asked, "=", 0) for asked in found[:-1]), found[-1]):
            return found


def utility(count: int, questions: int, runs: int, first: int) -> Iterator[Cells]:
    """Answers of each strategy; the first questions are taken as answered without deciding them, as
    with `decisions`.
    """
    said: dict[Strategy, list[tuple[int, int]]] = {"simple": [], "binding": []}
    for run in range(runs):
        random = Random(run)
        values, asked = people(random, count), independent(random, count, questions)
        for strategy, found in said.items():
            auditor, answers = Sums(count, *BOUNDS, strategy=strategy), [True] * first
            state = SumState(
                tuple(Constraint(each, "=", total(values, each)) for each in asked[:first])
            )
            for each in asked[first:]:
                entry = auditor.decide(state, each, total(values, each))
                state = auditor.after(state, entry)
                answers.append(entry.answered)
            found.append((sum(answers), answers.index(False) if False in answers else questions))
    said["simulatable"] = [(0, 0)]  # with bounds it denies everything
    for strategy, found in said.items():
        yield (
            count,
            questions,
            runs,
            strategy,
            mean(each[0] for each in found),
            mean(each[1] for each in found),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--speed", action="store_true", help="only how long decisions take")
    parser.add_argument("--utility", action="store_true", help="only how many sums are answered")
    parser.add_argument("--people", type=int, nargs="*", default=[1000], help="for utility")
    parser.add_argument(
        "--questions", type=int, help="for utility; by itself one fewer than people"
    )
    parser.add_argument("--runs", type=int, default=1, help="for utility")
    parser.add_argument(
        "--skip",
        type=float,
        default=0.0,
        help="share of people: so many first questions count as answered",
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", help="for speed: people and answers, in turns"
    )
    options = parser.parse_args()
    if not options.utility:
        sizes = (
            zip(options.sizes[::2], options.sizes[1::2], strict=True) if options.sizes else SIZES
        )
        head: tuple[str, ...] = "people", "answers", "median s", "most s", "median R"
        print(Printed("Decisions about sums", head, list(speed(sizes))).text(options.markdown))
    if not options.speed:
        head = "people", "questions", "runs", "strategy", "answered", "before the first denial"
        rows = [
            row
            for count in options.people
            for row in utility(
                count, options.questions or count - 1, options.runs, int(count * options.skip)
            )
        ]
        print(Printed("Sums answered", head, rows).text(options.markdown))


if __name__ == "__main__":
    main()
