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

__all__ = ["ENOUGH", "Estimated", "estimate"]

ENOUGH = 400
"""The effective sample size from which on an estimate is told."""

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
    """Estimate from so many samples."""
    values, number = puzzle.values, len(puzzle.cells)
    left = np.repeat(np.array(puzzle.bags, dtype=np.int64)[None], tries, axis=0)
    people = np.array([sum(bag) for bag in puzzle.bags], dtype=np.int64)
    weight = np.zeros(tries)
    held = np.zeros((tries, number, values), dtype=np.int64)
    rows = np.arange(tries)
    alone = [len(own) == 1 for _, own in puzzle.cells]
    first, last = order(puzzle)
    for c in sorted([*first, *last], key=lambda c: alone[c]):
        size, own = puzzle.cells[c]
        if alone[c]:
            held[:, c] = left[:, own[0]]
            weight += _log_factorial(size) - _log_factorial(held[:, c]).sum(axis=1)
            continue
        for _ in range(size):
            odds = np.prod(left[:, own, :] / people[list(own)][None, :, None], axis=1)
            total = odds.sum(axis=1)
            dead = ~(total > 0)
            weight[dead] = -np.inf
            odds[dead] = 1.0
            total[dead] = values
            chosen = np.minimum((np.cumsum(odds, axis=1) < (source.random(tries) * total)[:, None]).sum(axis=1), values - 1)
            taken = odds[rows, chosen]
            dead = ~(taken > 0)  # by rounding
            weight[dead] = -np.inf
            taken[dead] = 1.0
            weight += np.log(total) - np.log(taken)
            held[rows, c, chosen] += 1
            for k in own:
                left[rows, k, chosen] -= 1
            np.maximum(left, 0, out=left)  # of those that are dead
            people[list(own)] -= 1
        # Every order of a cell's people is drawn and weighed as one of them: no factor is due.
    largest = weight.max(initial=-np.inf)
    if largest == -np.inf:
        return Estimated(np.zeros((number, values)), np.ones((number, values)), 0.0, -np.inf)
    mass = np.exp(weight - largest)
    total = mass.sum()
    sizes = np.array([size for size, _ in puzzle.cells])[None, :, None]
    have = held / sizes
    shares = np.tensordot(mass, have, axes=1) / total
    deviations = np.sqrt(np.tensordot(mass**2, (have - shares[None]) ** 2, axes=1)) / total
    return Estimated(
        shares,
        deviations,
        float(total**2 / (mass**2).sum()),
        float((largest + np.log(total / tries)) / np.log(10)),
    )


def _log_factorial(number: int | Ints) -> Floats:
    most = int(np.max(number))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    return np.asarray(logs[number])
