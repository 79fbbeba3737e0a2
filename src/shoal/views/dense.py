"""`Dense`: counting all tables by arrays, where large views share some dozens of people.

Uses `cells`; `checking` uses it where `counting` would take many steps.

Values are taken one after another, each for all cells at once. All that matters of the past is how
many people of every shared cell have no value yet: one place of an array. The people who are in one
view only have what is left of its bag. Counts are floats, and `error` bounds what rounding does to
them; docs/proofs/views.md has the proof.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, isqrt, log2, log10, prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.errors import TooLargeError
from shoal.views.cells import Constraints
from shoal.views.model import contradiction

__all__ = ["Dense"]

MOST = 100_000_000_000
"""Multiplications that it may take: some seconds of one core."""

_TURN = 150_000  # multiplications in the time that one choice takes besides them
_GATHERED = 20  # and that it takes to write one place of a matrix
_NARROW = 40  # columns of a matrix that take as long as twice as many
_WIDEST = 200  # columns of a matrix
_PLACES = 4_000_000  # of an array
_LONGEST = 500  # people of a shared cell: that many products of two remainders are below 2^53
_OFTEN = 2000  # times that a view has a value
_BITS = 10_000  # of the number of tables, for which `_PRIMES` primes of 22 bits tell numbers apart
_FEWEST, _MOST = 1 << 21, 1 << 22  # between which primes are drawn
_PRIMES = 5

_FAINTEST = 2.0**-200
"""What the tables may weigh beside all that the values could be, each on its own."""

Floats = npt.NDArray[np.float64]
Slices = tuple[slice, ...]


class _Value(NamedTuple):
    """What one value may do.

    caps: how often each shared cell can have it
    weight: of every choice
    rest: what every view has left of it, for every choice
    divided: the logarithm of the number by which weights were divided
    """

    number: int
    caps: tuple[int, ...]
    weight: Floats
    rest: list[npt.NDArray[np.int64]]
    divided: float


class _Box(NamedTuple):
    """The places after some values: how many people of each shared cell may have one of them."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        ends = zip(self.low, self.high, strict=True)
        return tuple(last - first + 1 for first, last in ends)

    def axes(self, some: slice) -> "_Box":
        return _Box(self.low[some], self.high[some])


@dataclass(frozen=True, eq=False)
class Dense:
    """All tables that satisfy constraints, counted with roundings.

    TooLargeError where arrays would be too large.

    >>> cells = ((3, (0,)), (1, (0, 1)), (3, (1,)))
    >>> donald = Constraints(cells, ((1, 2, 1, 0), (0, 2, 1, 1)))
    >>> [round(float(share), 12) for share in Dense.of(donald).shares[1]]
    [0.0, 0.8, 0.2, 0.0]
    """

    constraints: Constraints
    sums: list[list[float]]
    """For every cell and value how many people have it, in all tables together, up to a factor of
    its value."""

    totals: list[float]
    """For every value all tables, up to the same factor."""

    roundings: int
    digits: float
    """The logarithm of the number of tables, to base 10."""

    rounded: bool = True
    faint: Fraction = Fraction(1, 1 << 100)
    """What numbers that are too small for floats may amount to, in a share."""

    @classmethod
    def of(cls, constraints: Constraints, limit: int = MOST) -> "Dense":
        """Count, within `limit` multiplications."""
        return cls(constraints, *_passes(constraints, limit, None))

    @cached_property
    def error(self) -> Fraction:
        """How far a share may be off, relatively."""
        return Fraction(3 * self.roundings, 1 << 53)

    @cached_property
    def shares(self) -> list[list[Fraction]]:
        """For every cell, how probable each value is for each of its people."""
        shares = []
        for (size, _), own in zip(self.constraints.cells, self.sums, strict=True):
            pairs = zip(own, self.totals, strict=True)
            exact = [Fraction(one) / (size * Fraction(total)) for one, total in pairs]
            shares.append([min(share, Fraction(1)) for share in exact])
        return shares

    def equal(
        self,
        asked: Iterable[tuple[int, int, Fraction]],
        source: Random,
    ) -> list[bool]:
        """Whether the share of a cell's people with a value is exactly this.

        By remainders after division by drawn primes.

        asked: cells, values and shares
        """
        wanted = list(asked)
        answers = [True] * len(wanted)
        for _ in range(_PRIMES):
            # Several small primes, as products of their remainders must fit into floats.
            prime = _prime(source)
            sums, totals, *_ = _passes(self.constraints, MOST, prime)
            for at, (cell, v, share) in enumerate(wanted):
                size = self.constraints.cells[cell][0]
                have, all_ = int(sums[cell][v]), int(totals[v])
                off = have * share.denominator - share.numerator * size * all_
                answers[at] = answers[at] and off % prime == 0
        return answers


class _Passes(NamedTuple):
    """What both passes give: the fields of `Dense`."""

    sums: list[list[float]]
    totals: list[float]
    roundings: int
    digits: float


def _passes(constraints: Constraints, limit: int, prime: int | None) -> _Passes:
    """Forwards and backwards through the values; all counts are remainders if there is a prime."""
    shared = _shared(constraints)
    sizes = tuple(constraints.cells[c][0] for c in shared)
    numbers = range(constraints.values)
    values = _ordered([_value(constraints, shared, v, prime) for v in numbers])
    boxes = _boxes(sizes, [value.caps for value in values])
    # As many of the last axes as make matrices of a good width; the others lead.
    lead = 1
    while lead < len(sizes) - 1 and _places(sizes[lead:]) > _WIDEST:
        lead += 1
    lead = min(lead, len(sizes) - 1)
    moves = [
        _Move(value, before, after, lead, prime)
        for value, before, after in zip(values, boxes, boxes[1:], strict=False)
    ]
    # Forwards, backwards, and both together for every choice.
    if 3 * sum(move.work for move in moves) > limit:
        raise TooLargeError(f"counting takes more than {limit:,} multiplications")
    layers = [np.ones((1,) * (lead + 1))]
    for move in moves:
        layers.append(move.forwards(layers[-1]))
    if prime is None and layers[-1].item() < _FAINTEST:
        raise TooLargeError("counts of one component differ by more than floats can hold")
    sums, totals = _backwards(constraints, shared, moves, layers)
    weighed = 2 * (len(shared) + len(constraints.bags)) + 2
    roundings = sum(weighed + value.weight.size + 1 for value in values)
    largest_layer = max(layer.size for layer in layers)
    largest_weight = max(value.weight.size for value in values)
    roundings += largest_layer + largest_weight + 4
    digits = sum(value.divided for value in values) + sum(
        log10(factorial(size)) - size * (log10(size) - log10(constraints.values))
        for size, _ in constraints.cells
    )
    if prime is None:
        digits += log10(layers[-1].item())
    return _Passes(sums, totals, roundings, digits)


def _shared(constraints: Constraints) -> list[int]:
    """The cells that are in several views; TooLargeError if there are too many of their people."""
    cells = constraints.cells
    shared = [c for c, (_, views) in enumerate(cells) if len(views) > 1]
    shared.sort(key=lambda c: cells[c][0])
    sizes = [cells[c][0] for c in shared]
    people = sum(size for size, _ in cells)
    largest = max(max(bag) for bag in constraints.bags)
    if (
        not shared
        or sizes[-1] > _LONGEST
        or largest > _OFTEN
        or people * log2(max(constraints.values, 2)) > _BITS
        or _places(sizes) > _PLACES
    ):
        raise TooLargeError("views share more people than arrays can hold places for")
    return shared


def _places(sizes: Iterable[int]) -> int:
    """The places of an array with an axis for each of some cells."""
    return prod(size + 1 for size in sizes)


def _backwards(
    constraints: Constraints, shared: Sequence[int], moves: Sequence["_Move"], layers: list[Floats]
) -> tuple[list[list[float]], list[float]]:
    """For every cell and value how many people have it, and for every value all tables."""
    prime = moves[0].prime
    alone = {views[0]: c for c, (_, views) in enumerate(constraints.cells) if len(views) == 1}
    sums = [[0.0] * constraints.values for _ in constraints.cells]
    totals = [0.0] * constraints.values
    # After the last value there is one place, as before the first.
    finish = np.ones_like(layers[0])

    def total(held: Floats, often: npt.NDArray[Any]) -> float:
        return float(_left(_left(held * often, prime).sum(), prime))

    for move, layer in zip(reversed(moves), reversed(layers[:-1]), strict=True):
        value = move.value
        held = _left(value.weight * move.between(layer, finish), prime)
        totals[value.number] = float(_left(held.sum(), prime))
        for axis, c in enumerate(shared):
            often = _along(np.arange(value.caps[axis] + 1.0), axis, len(shared))
            sums[c][value.number] = total(held, often)
        for k, c in alone.items():
            sums[c][value.number] = total(held, np.maximum(value.rest[k], 0))
        finish = move.backwards(finish)
    return sums, totals


def _value(
    constraints: Constraints,
    shared: Sequence[int],
    v: int,
    prime: int | None,
) -> _Value:
    """The weight of each choice x for a value: ∏ z^x/x! of all cells.

    Those in one view only have what is left of its bag. Each cell has a z of its own, the same for
    all values. So every table has the same power of it, and shares do not change; with as many
    people as a value has on average, what is probable is not small beside the rest.
    """
    bags = [bag[v] for bag in constraints.bags]
    cells = [constraints.cells[c] for c in shared]
    alone = {views[0]: size for size, views in constraints.cells if len(views) == 1}
    caps = tuple(min(size, *(bags[k] for k in views)) for size, views in cells)
    axes = len(cells)
    rest: list[npt.NDArray[np.int64]] = [np.full((1,) * axes, often) for often in bags]
    weight, divided = np.ones(tuple(cap + 1 for cap in caps)), 0.0
    for axis, (size, views) in enumerate(cells):
        chosen = np.arange(caps[axis] + 1)
        for k in views:
            rest[k] = rest[k] - _along(chosen, axis, axes)
        table, largest = _table(caps[axis], Fraction(size, constraints.values), prime)
        weight = _left(weight * _along(table, axis, axes), prime)
        divided += largest
    for k, left in enumerate(rest):
        if k in alone:
            table, largest = _table(bags[k], Fraction(alone[k], constraints.values), prime)
        else:
            # Nobody is in this view only, so nothing may be left.
            table, largest = np.eye(1, bags[k] + 1)[0], 0.0
        by_rest = np.where(left >= 0, table[np.maximum(left, 0)], 0.0)
        weight = _left(weight * by_rest, prime)
        divided += largest
    total = float(weight.sum())
    if prime is None and total > 0:
        if total < _FAINTEST:
            raise TooLargeError("counts of one component differ by more than floats can hold")
        # By a power of two, which is exact.
        exponent = int(np.frexp(total)[1])
        weight = np.ldexp(weight, -exponent)
        divided += exponent * log10(2)
    full = [np.broadcast_to(left, weight.shape) for left in rest]
    return _Value(v, caps, weight, full, divided)


def _table(
    last: int,
    z: Fraction,
    prime: int | None,
) -> tuple[Floats, float]:
    """z^x / x! for x = 0, 1, …, divided by the largest of them, and its logarithm.

    Each is rounded once. If there is a prime, remainders of 1 / x!.
    """
    if prime is not None:
        inverse = [pow(factorial(x), -1, prime) for x in range(last + 1)]
        return np.array(inverse, dtype=np.float64), 0.0
    exact = [Fraction(1)]
    for x in range(1, last + 1):
        # In fractions, so that each entry is rounded once and no more.
        exact.append(exact[-1] * z / x)
    largest = max(exact)
    logarithm = log10(largest.numerator) - log10(largest.denominator)
    return np.array([float(one / largest) for one in exact]), logarithm


def _ordered(values: list[_Value]) -> list[_Value]:
    """Values, those with the most choices first and last: there a pass need not combine them."""
    few = sorted(values, key=lambda value: np.count_nonzero(value.weight))
    if len(few) < 2:
        return few
    *others, second, most = few
    return [most, *others, second]


def _boxes(sizes: Sequence[int], caps: Sequence[Sequence[int]]) -> list[_Box]:
    """The places before the first value, and after every value."""
    boxes = []
    for at in range(len(caps) + 1):
        low, high = [], []
        for axis, size in enumerate(sizes):
            done = sum(own[axis] for own in caps[:at])
            ahead = sum(own[axis] for own in caps[at:])
            low.append(max(0, size - ahead))
            high.append(min(size, done))
            if low[-1] > high[-1]:
                raise contradiction()
        boxes.append(_Box(tuple(low), tuple(high)))
    return boxes


class _Move:
    """From the places before a value to those after it.

    Choice by choice along the `lead` axes, and by matrices along the others.
    """

    def __init__(
        self, value: _Value, before: _Box, after: _Box, lead: int, prime: int | None
    ) -> None:
        self.value, self.prime = value, prime
        first, last = slice(lead), slice(lead, None)
        self.before, self.after = before.axes(first), after.axes(first)
        self.where = _between(before.axes(last), after.axes(last), value.caps[last])
        weights = value.weight.reshape(*value.weight.shape[:lead], -1)
        self.some = weights.any(axis=-1)
        """The choices along the lead."""

        # A weight of 0 more, for places that no choice leads between.
        self.weights = np.pad(weights[self.some], ((0, 0), (0, 1)))
        able = np.argwhere(self.some)
        low, high = np.array(self.before, dtype=np.int64)
        start, stop = np.array(self.after, dtype=np.int64)
        begin = np.maximum(low, start - able)
        end = np.maximum(np.minimum(high, stop - able) + 1, begin)
        shift = able - start
        self._slices = begin - low, end - low, begin + shift, end + shift
        turn = _TURN + _GATHERED * self.where.size
        multiplied = int((end - begin).prod(axis=1).sum()) * self.where.size
        columns = self.where.shape[1]
        self.work = int(multiplied * (1 + _NARROW / columns)) + len(able) * turn
        """Multiplications of one pass, with as many as all else takes the time of."""

    def forwards(self, layer: Floats) -> Floats:
        """The ways in which places after the value are reached, given those before it."""
        reached = np.zeros((*self.after.shape, self.where.shape[1]))
        for weights, old, new in self._turns():
            part = layer[old]
            product = part.reshape(-1, part.shape[-1]) @ weights[self.where]
            reached[new] += _left(product, self.prime).reshape(reached[new].shape)
        return _left(reached, self.prime)

    def backwards(self, finish: Floats) -> Floats:
        """The ways in which places before the value are finished, given those after it."""
        finished = np.zeros((*self.before.shape, self.where.shape[0]))
        for weights, old, new in self._turns():
            part = finish[new]
            product = part.reshape(-1, part.shape[-1]) @ weights[self.where].T
            finished[old] += _left(product, self.prime).reshape(finished[old].shape)
        return _left(finished, self.prime)

    def between(self, layer: Floats, finish: Floats) -> Floats:
        """For every choice the ways before and after it together."""
        where = self.where.ravel()
        ways = np.zeros((*self.some.shape, self.weights.shape[1]))
        by_choice = []
        for _, old, new in self._turns():
            reached = layer[old].reshape(-1, layer.shape[-1])
            finished = finish[new].reshape(-1, finish.shape[-1])
            pairs = self._pairs(reached, finished).ravel()
            by_choice.append(np.bincount(where, pairs, minlength=ways.shape[-1]))
        ways[self.some] = by_choice
        return _left(ways[..., :-1].reshape(self.value.weight.shape), self.prime)

    def _pairs(self, one: Floats, other: Floats) -> Floats:
        """Their product over all places; remainders in parts that floats hold exactly."""
        if self.prime is None:
            return np.asarray(one.T @ other)
        product = np.zeros(self.where.shape)
        for at in range(0, len(one), _LONGEST):
            # Sums of this many products of remainders are still exact in floats.
            part = slice(at, at + _LONGEST)
            product = product + _left(one[part].T @ other[part], self.prime)
        return product

    def _turns(self) -> Iterator[tuple[Floats, Slices, Slices]]:
        """For every choice its weights, all places from which it leads to places, and these."""
        ends = (some.tolist() for some in self._slices)
        for weights, begin, end, first, last in zip(self.weights, *ends, strict=True):
            old, new = map(slice, begin, end), map(slice, first, last)
            yield weights, tuple(old), tuple(new)


def _between(
    before: _Box,
    after: _Box,
    caps: Sequence[int],
) -> npt.NDArray[np.int64]:
    """For each place before and after the number of the choice that leads from one to the other.

    Where none does, that is the number after all.
    """
    axes = len(caps)
    number = np.zeros((1,) * 2 * axes, dtype=np.int64)
    fits = np.ones((1,) * 2 * axes, dtype=bool)
    for axis, cap in enumerate(caps):
        places_before = np.arange(before.low[axis], before.high[axis] + 1)
        places_after = np.arange(after.low[axis], after.high[axis] + 1)
        old = _along(places_before, axis, 2 * axes)
        new = _along(places_after, axes + axis, 2 * axes)
        number = number * (cap + 1) + (new - old)
        fits = fits & (old <= new) & (new <= old + cap)
    choices = prod(cap + 1 for cap in caps)
    return np.where(fits, number, choices).reshape(prod(before.shape), prod(after.shape))


def _along(
    numbers: npt.NDArray[Any],
    axis: int,
    axes: int,
) -> npt.NDArray[Any]:
    """Numbers along one of several axes."""
    return numbers.reshape([-1 if one == axis else 1 for one in range(axes)])


def _left(numbers: Floats, prime: int | None) -> Floats:
    """The remainders, if there is a prime."""
    return numbers if prime is None else np.asarray(np.fmod(numbers, prime))


def _prime(source: Random) -> int:
    """A prime of 22 bits, drawn uniformly."""
    while True:
        number = source.randrange(_FEWEST, _MOST)
        if all(number % divisor for divisor in range(2, isqrt(number) + 1)):
            return number
