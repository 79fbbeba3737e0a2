"""`CellBelief`: how probable values are for people who are in the same views, and why.

Uses `cells`, `counting`, `dense`, `importance` and `intervals`; `checking` uses it. Each function
turns one way to look at a component into beliefs: counted, counted and rounded, drawn, weighed, or
bounded by single views.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from shoal.views.cells import Component, Constraints
from shoal.views.counting import Counted
from shoal.views.dense import Dense
from shoal.views.importance import Estimated
from shoal.views.intervals import clopper_pearson, spread
from shoal.views.model import Value, Views
from shoal.zones import owner_only

__all__ = [
    "Bounds",
    "CellBelief",
    "Draws",
    "around",
    "bounded",
    "claims",
    "enclosed",
    "exact",
    "sampled",
    "weighed",
]

Bounds = tuple[Fraction, Fraction]
"""The least and the largest that a probability may be."""


@owner_only
@dataclass(frozen=True)
class CellBelief:
    """How probable each value is for some people who are in the same views.

    `shares` are exact where there are no `bounds`; otherwise the bounds hold, with the confidence
    that the result states.
    """

    people: tuple[int, ...]
    shares: Mapping[Value, Fraction]
    bounds: Mapping[Value, Bounds] | None = None

    def between(self, value: Value) -> Bounds:
        """The least and the largest probability of a value."""
        if self.bounds is not None and value in self.bounds:
            return self.bounds[value]
        share = self.shares.get(value, Fraction(0))
        return share, share


def exact(
    views: Views,
    part: Component,
    shares: list[list[Fraction]],
) -> Iterator[CellBelief]:
    """Beliefs from whole numbers."""
    for people, own in zip(part.people, shares, strict=True):
        likely: dict[Value, Fraction] = {}
        for number, share in zip(part.values, own, strict=True):
            if share:
                likely[views.values[number]] = share
        yield CellBelief(people, likely)


def enclosed(
    views: Views, part: Component, counted: Counted | Dense, source: Random
) -> Iterator[CellBelief]:
    """Beliefs from rounded numbers, with bounds.

    Where a limit lies within the bounds, the share is compared with it exactly.
    """
    limits = [views.limit(views.values[number]) for number in part.values]
    bounds: dict[tuple[int, int], Bounds] = {}
    for cell in range(len(part.people)):
        for v in _able(part.constraints, cell):
            bounds[cell, v] = around(counted, counted.shares[cell][v])
    # Only where a limit falls within the bounds is another count needed to decide.
    close = []
    for (cell, v), (low, high) in bounds.items():
        if low <= limits[v] < high:
            close.append((cell, v, limits[v]))
    tied: dict[tuple[int, int], Fraction] = {}
    equal = counted.equal(close, source) if close else []
    for (cell, v, limit), is_equal in zip(close, equal, strict=True):
        if is_equal:
            tied[cell, v] = limit
            bounds[cell, v] = limit, limit
    for cell, people in enumerate(part.people):
        shares: dict[Value, Fraction] = {}
        own: dict[Value, Bounds] = {}
        for v in _able(part.constraints, cell):
            value = views.values[part.values[v]]
            shares[value] = tied.get((cell, v), counted.shares[cell][v])
            own[value] = bounds[cell, v]
        yield CellBelief(people, shares, own)


def bounded(views: Views, part: Component) -> Iterator[CellBelief]:
    """Bounds by single views.

    A cell cannot have a value more often than any of its views, nor can all others have it instead.
    """
    for people, (size, numbers) in zip(part.people, part.constraints.cells, strict=True):
        bags = [part.constraints.bags[k] for k in numbers]
        bounds = {}
        for v, number in enumerate(part.values):
            most = min(size, *(bag[v] for bag in bags))
            # As many people of the cell as the other values of a view can serve may go without this
            # one.
            others = [sum(bag) - bag[v] for bag in bags]
            least = max(0, *(size - number for number in others))
            value = views.values[number]
            bounds[value] = Fraction(least, size), Fraction(most, size)
        shares = {value: high for value, (_, high) in bounds.items()}
        yield CellBelief(people, shares, bounds)


@dataclass(frozen=True)
class Draws:
    """How many tables are drawn, by which source, and how often any one bound may be wrong."""

    tries: int
    source: Random
    error: float


def sampled(
    views: Views,
    part: Component,
    counted: Counted,
    draws: Draws,
) -> Iterator[CellBelief]:
    """Bounds from tables that are drawn uniformly, by one person of each cell.

    That person has a value or not, each time with the same probability.
    """
    hits = [[0] * part.constraints.values for _ in part.people]
    for _ in range(draws.tries):
        drawn = counted.drawn(draws.source)
        for own, often, people in zip(hits, drawn, part.people, strict=True):
            # One person stands for the cell, as tries must be independent for the interval to hold.
            own[_value_at(often, draws.source.randrange(len(people)))] += 1
    for cell, people in enumerate(part.people):
        shares: dict[Value, Fraction] = {}
        bounds: dict[Value, Bounds] = {}
        for v in _able(part.constraints, cell):
            value = views.values[part.values[v]]
            shares[value] = Fraction(hits[cell][v], draws.tries)
            low, high = clopper_pearson(hits[cell][v], draws.tries, draws.error)
            bounds[value] = Fraction(low), Fraction(high)
        yield CellBelief(people, shares, bounds)


def _value_at(often: list[int], place: int) -> int:
    """The value of the person at a place, where people are sorted by their values."""
    for v, times in enumerate(often):
        place -= times
        if place < 0:
            return v
    raise AssertionError("a cell has fewer values than people")


def weighed(
    views: Views,
    part: Component,
    guess: Estimated,
    error: float,
) -> Iterator[CellBelief]:
    """Bounds from weighed samples, the wider of two intervals.

    One is that of a normal estimate, the other Clopper and Pearson's for the effective sample size.
    """
    size = round(guess.effective, 3)
    for cell, people in enumerate(part.people):
        shares: dict[Value, Fraction] = {}
        bounds: dict[Value, Bounds] = {}
        for v in _able(part.constraints, cell):
            value = views.values[part.values[v]]
            # Rounding may push a mean of samples just outside 0 and 1.
            share = float(min(max(guess.shares[cell, v], 0.0), 1.0))
            low, high = clopper_pearson(round(share * guess.effective, 3), size, error)
            off = spread(error) * float(guess.deviations[cell, v])
            shares[value] = Fraction(share)
            least, most = min(low, share - off), max(high, share + off)
            bounds[value] = Fraction(max(least, 0.0)), Fraction(min(most, 1.0))
        yield CellBelief(people, shares, bounds)


def around(counted: Counted | Dense, share: Fraction) -> Bounds:
    """The bounds of a share that was rounded."""
    # The error is relative; what was too small for floats comes on top.
    off = share * counted.error + counted.faint
    return max(share - off, Fraction(0)), min(share + off, Fraction(1))


def claims(constraints: Constraints) -> int:
    """How many probabilities are bounded: people of a cell have the same ones."""
    return sum(len(_able(constraints, cell)) for cell in range(len(constraints.cells)))


def _able(constraints: Constraints, cell: int) -> list[int]:
    """The values that the people of a cell may have by each single view of theirs."""
    _, numbers = constraints.cells[cell]
    bags = [constraints.bags[k] for k in numbers]
    return [v for v in range(constraints.values) if all(bag[v] for bag in bags)]
