"""Estimating where tables are too many to be counted: importance sampling. Uses `cells` and `counting`; `checking` uses it.

Tables are drawn person by person, a value in proportion to how often it is left in all views the person is in; a table counts
for as much as it was improbable to be drawn. What cannot be finished counts for nothing. Cells that are in one view only come
last, and take what is left in all ways at once.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.views.cells import Puzzle
from shoal.views.counting import order

__all__ = ["ENOUGH", "ENTRIES", "Estimated", "estimate"]

ENOUGH = 400
"""The effective sample size from which on an estimate is told."""

ENTRIES = 50_000_000
"""Numbers that samples may take, one for every cell or view and value of each: 200 MB."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Estimated:
    """What samples tell of a puzzle.

    shares: for every cell and value, how probable it is for each of the cell's people
    deviations: the standard errors of these
    effective: how many uniform samples these samples are worth
    logarithm: of the number of tables, to base 10
    """

    shares: Floats
    deviations: Floats
    effective: float
    logarithm: float


def estimate(puzzle: Puzzle, tries: int, source: np.random.Generator) -> Estimated:
    """Estimate from so many samples; from fewer, if they would take more than `ENTRIES`.

    The effective size is 0 if no sample can be finished, and at once if fewer than `ENOUGH` are all that can be held.
    """
    values, number = puzzle.values, len(puzzle.cells)
    able = ENTRIES // ((number + len(puzzle.bags)) * values)
    if able < min(tries, ENOUGH):
        return _nothing(puzzle)
    tries = min(tries, able)
    left = np.repeat(np.array(puzzle.bags, dtype=np.int32)[:, None], tries, axis=1)
    people = np.array([sum(bag) for bag in puzzle.bags])
    held = np.zeros((number, tries, values), dtype=np.int32)
    rows, weight = (
        np.arange(tries),
        np.zeros(tries),
    )  # the samples that can still be finished, and their logarithms
    alone = [len(own) == 1 for _, own in puzzle.cells]
    first, last = order(puzzle)
    for c in sorted([*first, *last], key=lambda c: alone[c]):
        size, own = puzzle.cells[c]
        if alone[c]:
            held[c, rows] = left[own[0], rows]
            weight += _log_factorial(size) - _log_factorial(held[c, rows]).sum(axis=1)
            continue
        views = np.array(own)
        bags = left[views[:, None], rows]
        for _ in range(size):
            odds = np.prod(bags / people[views, None, None], axis=0)
            total = odds.sum(axis=1)
            chosen = (np.cumsum(odds, axis=1) < (source.random(len(rows)) * total)[:, None]).sum(
                axis=1
            )
            chosen = np.minimum(chosen, values - 1)
            taken = odds[np.arange(len(rows)), chosen]
            living = (
                taken > 0
            )  # else no value is left in all views, or one that is not was chosen by rounding
            if not living.all():
                rows, weight, total, taken, chosen = (
                    one[living] for one in (rows, weight, total, taken, chosen)
                )
                bags = bags[:, living]
                if not len(rows):
                    return _nothing(puzzle)
            weight += np.log(total) - np.log(taken)
            bags[:, np.arange(len(rows)), chosen] -= 1
            people[views] -= 1
        held[c, rows] = left[own[0], rows] - bags[0]
        left[views[:, None], rows] = bags
        # Every order of a cell's people is drawn and weighed as one of them: no factor is due.
    largest = weight.max()
    mass = np.exp(weight - largest)
    total = mass.sum()
    shares, deviations = np.zeros((number, values)), np.zeros((number, values))
    for c, (size, _) in enumerate(puzzle.cells):
        have = held[c, rows] / size
        shares[c] = mass @ have / total
        deviations[c] = np.sqrt(mass**2 @ (have - shares[c]) ** 2) / total
    return Estimated(
        shares,
        deviations,
        float(total**2 / (mass**2).sum()),
        float((largest + np.log(total / tries)) / np.log(10)),
    )


def _nothing(puzzle: Puzzle) -> Estimated:
    shape = len(puzzle.cells), puzzle.values
    return Estimated(np.zeros(shape), np.ones(shape), 0.0, -np.inf)


def _log_factorial(number: int | Ints) -> Floats:
    most = int(np.max(number))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    return np.asarray(logs[number])
