"""`estimate`: importance sampling, where tables are too many to be counted.

Uses `cells` and `ordering`; `checking` uses it.

Tables are drawn person by person, a value in proportion to how often it is left in all views the
person is in; a table counts the more, the less probable it was to be drawn. What cannot be finished
counts for nothing. Cells that are in one view only come last, and take what is left in all ways at
once.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.views.cells import Constraints
from shoal.views.ordering import order

__all__ = ["ENOUGH", "ENTRIES", "Estimated", "estimate"]

ENOUGH = 400
"""The smallest effective sample size with which an estimate is used."""

ENTRIES = 50_000_000
"""Numbers that samples may take, one for every cell or view and value of each: 200 MB."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Counts32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Estimated:
    """What samples reveal of constraints.

    shares: for every cell and value, how probable it is for each of the cell's people
    deviations: the standard errors of these
    effective: how many uniform samples these samples are worth
    logarithm: of the number of tables, to base 10
    """

    shares: Floats
    deviations: Floats
    effective: float
    logarithm: float


def estimate(constraints: Constraints, tries: int, source: np.random.Generator) -> Estimated:
    """Estimate from this many samples; from fewer, if they would take more than `ENTRIES`.

    The effective size is 0 if no sample can be finished, and at once if fewer than `ENOUGH` are all
    that can be held.
    """
    number = len(constraints.cells)
    able = ENTRIES // ((number + len(constraints.bags)) * constraints.values)
    # Too few samples would be thrown away afterwards.
    if able < min(tries, ENOUGH):
        return _nothing(constraints)
    samples = _Samples(constraints, min(tries, able))
    alone = [len(views) == 1 for _, views in constraints.cells]
    first, last = order(constraints)
    for c in sorted([*first, *last], key=lambda c: alone[c]):
        if alone[c]:
            samples.finish(c)
        else:
            samples.draw(c, source)
            if not len(samples.rows):
                return _nothing(constraints)
    return samples.estimated()


class _Samples:
    """Tables while they are drawn, all of them cell by cell."""

    def __init__(self, constraints: Constraints, tries: int) -> None:
        self.constraints, self.tries = constraints, tries
        bags = np.array(constraints.bags, dtype=np.int32)
        self.left = np.repeat(bags[:, None], tries, axis=1)
        """What is left in the bag of every view, in every sample."""

        self.people = np.array([sum(bag) for bag in constraints.bags])
        """How many people of every view have no value yet."""

        shape = len(constraints.cells), tries, constraints.values
        self.held: Counts32 = np.zeros(shape, dtype=np.int32)
        """How often every cell has each value, in every sample."""

        self.rows, self.weight = np.arange(tries), np.zeros(tries)
        """The samples that can still be finished, and the logarithms of their weights."""

    def finish(self, c: int) -> None:
        """Give a cell that is in one view only what is left of it."""
        size, (view,) = self.constraints.cells[c]
        rest = self.left[view, self.rows]
        self.held[c, self.rows] = rest
        self.weight += _log_factorial(size) - _log_factorial(rest).sum(axis=1)

    def draw(self, c: int, source: np.random.Generator) -> None:
        """Draw the values of a cell's people, one after another.

        Every order of its people is drawn and weighed as one of them: no factor is due.
        """
        size, numbers = self.constraints.cells[c]
        views = np.array(numbers)
        # A copy, as samples that cannot be finished drop out on the way.
        bags = self.left[views[:, None], self.rows]
        for _ in range(size):
            # As if views were independent: the share of each value that is left, multiplied.
            odds = np.prod(bags / self.people[views, None, None], axis=0)
            total = odds.sum(axis=1)
            thresholds = source.random(len(self.rows)) * total
            below = np.cumsum(odds, axis=1) < thresholds[:, None]
            chosen = below.sum(axis=1)
            chosen = np.minimum(chosen, self.constraints.values - 1)
            taken = odds[np.arange(len(self.rows)), chosen]
            # Otherwise no value is left in all views, or rounding chose one that is not.
            living = taken > 0
            if not living.all():
                self.rows, self.weight = self.rows[living], self.weight[living]
                total, taken, chosen = total[living], taken[living], chosen[living]
                bags = bags[:, living]
                if not len(self.rows):
                    return
            self.weight += np.log(total) - np.log(taken)
            bags[:, np.arange(len(self.rows)), chosen] -= 1
            self.people[views] -= 1
        self.held[c, self.rows] = self.left[numbers[0], self.rows] - bags[0]
        self.left[views[:, None], self.rows] = bags

    def estimated(self) -> Estimated:
        """What all samples that were finished reveal."""
        # Weights are logarithms: beside the largest one, the others do not overflow.
        largest = self.weight.max()
        mass = np.exp(self.weight - largest)
        total = mass.sum()
        shape = len(self.constraints.cells), self.constraints.values
        shares, deviations = np.zeros(shape), np.zeros(shape)
        for c, (size, _) in enumerate(self.constraints.cells):
            have = self.held[c, self.rows] / size
            shares[c] = mass @ have / total
            squares = (have - shares[c]) ** 2
            deviations[c] = np.sqrt(mass**2 @ squares) / total
        # Kish's effective sample size.
        effective = total**2 / (mass**2).sum()
        # The mean weight of all tries estimates the number of tables; unfinished ones weigh 0.
        logarithm = (largest + np.log(total / self.tries)) / np.log(10)
        return Estimated(shares, deviations, float(effective), float(logarithm))


def _nothing(constraints: Constraints) -> Estimated:
    shape = len(constraints.cells), constraints.values
    return Estimated(np.zeros(shape), np.ones(shape), 0.0, -np.inf)


def _log_factorial(number: int | Ints | Counts32) -> Floats:
    largest = int(np.max(number))
    logs = np.log(np.arange(1, largest + 1))
    sums = np.concatenate([[0.0], np.cumsum(logs)])
    return np.asarray(sums[number])
