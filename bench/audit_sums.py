"""`python -m bench.audit_sums`: how long a decision about a sum takes as answers add up.

First with random sets of people, so that everyone is soon a cell of their own: values are uniform
from 0 to 10, and each person is in a question with probability 1/2, as in Zhang's experiment. How
many are answered is shown by `shoal experiment run zhang-sums`. Then with questions by public
columns about many people, through an audit in a file. Seconds are of one core. R is the time of one
product of a matrix of floats with another, in the same run.
"""

import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # a server decides on one core; more threads only help large cases

import argparse
import random as standard
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

import numpy as np
import polars as pl

import shoal
from bench.__main__ import Cells, Printed
from shoal.audit import Audit, Secret
from shoal.audit.cells import Constraint, cells
from shoal.audit.model import members
from shoal.audit.sums import Sums, SumState

BOUNDS = 0, 10
SIZES = (1000, 500), (2000, 1000)
PARTS = 5
TIMED = 8  # decisions, of which the median is taken
LARGE = (30_000, 100), (1_000_000, 300)
"""People, and questions about them."""


def people(random: Random, count: int) -> list[Fraction]:
    """Everyone's value."""
    return [Fraction(random.randrange(10**7 + 1), 10**6) for _ in range(count)]


def total(values: list[Fraction], asked: int) -> Fraction:
    return sum((values[person] for person in members(asked)), Fraction(0))


def decisions(count: int, answered: int, seed: int = 1) -> Iterator[float]:
    """Seconds of the decisions before there are that many answers.

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


def product(size: int) -> float:
    """Seconds of one product of two square matrices: R."""
    matrix = np.random.default_rng(1).random((size, size))
    start = process_time()
    np.matmul(matrix, matrix)
    return process_time() - start


def speed(sizes: Iterable[tuple[int, int]]) -> Iterator[Cells]:
    for count, most in sizes:
        for answered in range(most // PARTS, most + 1, most // PARTS):
            references, times = [], []
            for seconds in decisions(count, answered):
                references.append(product(count))
                times.append(seconds)
            yield count, answered, median(times), max(times), median(times) / median(references)


def made(place: Path, count: int) -> Audit:
    """An audit of a made-up table: age is secret, and three columns are public."""
    drawn = np.random.default_rng(1)
    age = drawn.integers(17, 91, count)
    frame = pl.DataFrame(
        {
            "age": age,
            "year": drawn.integers(1980, 2020, count),
            "sex": drawn.choice(["f", "m"], count),
            "region": drawn.integers(0, 20, count).astype(str),
        }
    )
    table = shoal.table(frame, types={"age": "integer", "year": "integer"}, rows_are_people=True)
    secret = Secret("age", low=17, high=90, width=2, dither=True)
    return Audit.new(place, table, secret, public=["year", "sex", "region"])


def query(random: Random) -> str:
    """A mean over some years, and often a sex or a region."""
    first, last = sorted(random.choices(range(1980, 2020), k=2))
    more = random.choice(("", " and sex = 'f'", f" and region = '{random.randrange(20)}'"))
    return f"mean(age) where year between {first} and {last}{more}"


def large(sizes: Iterable[tuple[int, int]]) -> Iterator[Cells]:
    """Seconds to make an audit, to open it, and to ask the last questions."""
    for count, questions in sizes:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "large.audit"
            start = process_time()
            audit = made(place, count)
            making = process_time() - start
            random, times = standard.Random(1), []
            for _ in range(questions):
                start = process_time()
                audit.ask(query(random))
                times.append(process_time() - start)
            start = process_time()
            again = Audit.open(place)
            opening = process_time() - start
            [state] = again.state()
            everyone = (1 << count) - 1
            groups = len(cells(state.known.constraints, everyone))
            size = place.stat().st_size / 1e6
            last = median(times[-20:])
            unit = product(1000)
            yield (
                count,
                questions,
                state.answered,
                groups,
                making,
                opening,
                times[0],
                last,
                max(times),
                last / unit,
                size,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--large", action="store_true", help="only questions about many people")
    parser.add_argument(
        "--sizes", type=int, nargs="*", help="people and answers, or questions, in turns"
    )
    options = parser.parse_args()
    given = options.sizes and list(zip(options.sizes[::2], options.sizes[1::2], strict=True))
    if not options.large:
        head: tuple[str, ...] = "people", "answers", "median s", "most s", "median R"
        rows = list(speed(given or SIZES))
        print(Printed("Decisions about sums", head, rows).text(options.markdown))
    if options.large or not given:
        head = "people", "questions", "answered", "cells", "making s", "opening s", "first s"
        head = (*head, "last 20, median s", "most s", "median R", "MB")
        rows = list(large(given or LARGE))
        print(Printed("Means of many people", head, rows).text(options.markdown))


if __name__ == "__main__":
    main()
