"""The exact law of what shipped code does: it is run along every path that its chance can take.

`law(run)` calls `run(chance)` once for every path, with a source of chance whose draws are
branching points with known probabilities, and gives every outcome's probability. Probabilities are
intervals between fractions: exact where all draws have rational probabilities, and below 10⁻⁸⁰ wide
where e is involved.

    >>> coins = law(lambda chance: int(chance.binomial(np.array([2]), Fraction(1, 3))[0]))
    >>> {heads: str(weight.exact) for heads, weight in coins.items()}
    {0: '4/9', 1: '4/9', 2: '1/9'}

What is run must be deterministic apart from its chance. Uses `shoal.chance`; `enumeration`,
`semantic` and tests use it.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, comb, floor
from operator import le
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance

__all__ = [
    "ONE",
    "ZERO",
    "Enumerated",
    "Interval",
    "exp",
    "flipped",
    "law",
    "point",
    "probabilistic",
    "shipped",
    "standard",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Outcome = TypeVar("Outcome", bound=Hashable)

_DIGITS = 100
"""Decimal digits of powers of e."""

_GRID = 1 << 320
"""Intervals are rounded outwards to multiples of its inverse, lest fractions grow without end."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number known to lie between two fractions."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> Fraction:
        """The number itself, where no rounding was involved."""
        assert self.low == self.high, "the number is known within an interval only"
        return self.low

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Interval") -> "Interval":
        """The product of numbers of at least 0."""
        return _rounded(self.low * other.low, self.high * other.high)

    def __truediv__(self, other: "Interval") -> "Interval":
        """The quotient of a number of at least 0 by one above 0."""
        return _rounded(self.low / other.high, self.high / other.low)

    def __contains__(self, value: Fraction | int) -> bool:
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float((self.low + self.high) / 2)


def _rounded(low: Fraction, high: Fraction) -> Interval:
    if low == high:
        return Interval(low, high)
    down = Fraction(floor(low * _GRID), _GRID)
    up = Fraction(ceil(high * _GRID), _GRID)
    return Interval(down, up)


def point(value: Fraction | int) -> Interval:
    return Interval(Fraction(value), Fraction(value))


ZERO, ONE = point(0), point(1)


@lru_cache(maxsize=10_000)
def exp(x: Fraction) -> Interval:
    """e^x for a rational x.

    Decimal's exp is rounded correctly, so its neighbours are on either side.
    """
    if x == 0:
        return ONE
    down = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    low = down.exp(down.divide(numerator, denominator))
    high = up.exp(up.divide(numerator, denominator))
    return Interval(Fraction(down.next_minus(low)), Fraction(up.next_plus(high)))


class _Cut(BaseException):
    """The path is too light to be followed."""


@dataclass
class _Branching:
    """A draw on a path: which of its `number` options is taken.

    `options` are the possible ones, with the weight of the path up to each.
    """

    taken: int
    number: int
    options: list[tuple[int, Interval]]

    @property
    def exhausted(self) -> bool:
        return self.taken == len(self.options) - 1


class Enumerated(Chance):
    """A source of chance that takes one path; `law` makes one for every path.

    Each draw has the law that its docstring in `Chance` states.
    """

    private = False

    def __init__(self, path: list[Any], cut: Fraction) -> None:
        self._path: list[_Branching] = path
        self._cut = cut
        self._at = 0
        self.weight = ONE

    def branch(self, weights: Sequence[Interval]) -> int:
        """Which of several options, with these probabilities, this path takes."""
        if self._at == len(self._path):
            if self.weight.high < self._cut:
                raise _Cut
            options = []
            for option, weight in enumerate(weights):
                if weight.high > 0:
                    options.append((option, self.weight * weight))
            self._path.append(_Branching(0, len(weights), options))
        here = self._path[self._at]
        assert here.number == len(weights), "what is run must be deterministic apart from chance"
        self._at += 1
        option, self.weight = here.options[here.taken]
        return option

    def coin(self, probability: Interval) -> bool:
        sides = [probability, ONE - probability]
        return self.branch(sides) == 0

    def coins(self, probabilities: Iterable[Interval]) -> Bools:
        """A coin for each of several probabilities, one after the other."""
        sides = [self.coin(probability) for probability in probabilities]
        return np.array(sides, dtype=np.bool_)

    def bytes(self, size: int) -> bytes:
        raise AssertionError("a draw of bytes has too many outcomes to enumerate")

    def number(self) -> str:
        """Always the same: it depends on nothing."""
        return "0" * 32

    def below(self, n: int) -> int:
        each = point(Fraction(1, n))
        return self.branch([each] * n)

    def belows(self, n: int, size: int) -> Ints:
        numbers = [self.below(n) for _ in range(size)]
        return np.array(numbers, dtype=np.int64)

    def weighted(self, sums: npt.NDArray[Any]) -> int:
        steps = [int(step) for step in np.diff(sums, prepend=0)]
        total = sum(steps)
        weights = [point(Fraction(step, total)) for step in steps]
        return self.branch(weights)

    def placed(self, sums: Sequence[int], bits: int, size: int) -> Ints:
        steps = [last - first for first, last in pairwise((0, *sums))]
        weights = [point(Fraction(step, 1 << bits)) for step in steps]
        places = [self.branch(weights) for _ in range(size)]
        return np.array(places, dtype=np.int64)

    def permutation(self, n: int) -> Ints:
        return self.choice(n, n)

    def choice(self, n: int, size: int) -> Ints:
        left = list(range(n))
        chosen = []
        for _ in range(size):
            place = self.below(len(left))
            chosen.append(left.pop(place))
        return np.array(chosen, dtype=np.int64)

    def choices(self, sizes: Ints, most: int) -> Bools:
        # An empty array first, as there may be no sizes.
        chosen = [np.zeros(0, dtype=np.bool_)]
        for size in np.asarray(sizes).tolist():
            members = np.ones(size, dtype=np.bool_)
            if size > most:
                subsets = list(combinations(range(size), most))
                picked = subsets[self.below(len(subsets))]
                members[:] = False
                members[list(picked)] = True
            chosen.append(members)
        return np.concatenate(chosen)

    def bernoulli(self, probability: Fraction, size: int) -> Bools:
        return self.coins([point(probability)] * size)

    def bernoullis(self, numerators: npt.NDArray[Any], denominator: int) -> Bools:
        probabilities = [Fraction(n, denominator) for n in numerators.tolist()]
        return self.coins(map(point, probabilities))

    def binomial(self, trials: Ints, probability: Fraction) -> Ints:
        numbers = np.asarray(trials).tolist()
        hits = [self.branch(_binomial(number, probability)) for number in numbers]
        return np.array(hits, dtype=np.int64)

    def bernoullis_exp(self, multiples: Any, rate: Fraction) -> Bools:
        probabilities = [exp(-rate * int(multiple)) for multiple in multiples]
        return self.coins(probabilities)

    def _exp_within_one(self, numerators: npt.NDArray[Any], denominator: int) -> Bools:
        return Enumerated.bernoullis_exp(self, numerators, Fraction(1, denominator))

    def discrete_laplaces(self, scale: Fraction, size: int) -> Ints:
        """Values far from 0 that together weigh less than a tenth of the cut are left out."""
        values, weights = _laplace(Fraction(scale), self._cut / 10)
        places = [self.branch(weights) for _ in range(size)]
        drawn = [values[place] for place in places]
        return np.array(drawn, dtype=np.int64)

    def permute_and_flip_lazily(
        self,
        bounds: Any,
        best: int,
        score: Callable[[int], int],
        rate: Fraction,
    ) -> int:
        scores = _scores(bounds, best, score)
        turns = [exp(rate * (each - best)) for each in scores]
        return self.branch(flipped(turns))

    def exponential_lazily(
        self,
        bounds: Any,
        best: int,
        score: Callable[[int], int],
        rate: Fraction,
    ) -> int:
        scores = _scores(bounds, best, score)
        weights = [exp(rate * (each - best)) for each in scores]
        total = sum(weights, ZERO)
        return self.branch([weight / total for weight in weights])


def shipped(*draws: str) -> type[Enumerated]:
    """An `Enumerated` in which these draws run as shipped, on the other draws."""
    methods = {name: getattr(Chance, name) for name in draws}
    return type("Shipped", (Enumerated,), methods)


def law(
    run: Callable[[Enumerated], Outcome],
    kind: type[Enumerated] = Enumerated,
    cut: Fraction = Fraction(0),
) -> dict[Outcome, Interval]:
    """Every outcome of `run` with its probability.

    Paths lighter than `cut` are not followed, and their weight is missing from the sum.
    """
    weights: dict[Outcome, Interval] = {}
    path: list[_Branching] = []
    while True:
        chance = kind(path, cut)
        try:
            outcome = run(chance)
            weights[outcome] = weights.get(outcome, ZERO) + chance.weight
        except _Cut:
            pass
        # To the next path: the last draw that has another option takes it.
        while path and path[-1].exhausted:
            path.pop()
        if not path:
            return weights
        path[-1].taken += 1


def flipped(probabilities: Sequence[Interval]) -> list[Interval]:
    """The law of permute-and-flip from the probabilities that a candidate is taken in its turn.

    If candidates come at uniform times in [0, 1], candidate i is selected with probability
    p_i ∫ ∏_{j≠i} (1 − p_j t) dt.
    """
    selected = []
    for i, probability in enumerate(probabilities):
        # The product's coefficients without their signs, which alternate.
        symmetric = [ONE]
        for other in (*probabilities[:i], *probabilities[i + 1 :]):
            shifted = [ZERO, *symmetric]
            pairs = zip([*symmetric, ZERO], shifted, strict=True)
            symmetric = [same + other * lower for same, lower in pairs]
        parts = []
        for power, coefficient in enumerate(symmetric):
            parts.append(coefficient * point(Fraction(1, power + 1)))
        positive = sum(parts[::2], ZERO)
        negative = sum(parts[1::2], ZERO)
        integral = positive - negative
        # Rounding may lead below 0, which no integral here is.
        at_least = max(integral.low, Fraction(0))
        selected.append(probability * Interval(at_least, integral.high))
    return selected


def standard(
    one: dict[Outcome, Interval], other: dict[Outcome, Interval], growth: Interval
) -> Interval:
    """The least δ with P₁(S) ≤ growth · P₂(S) + δ for all sets S of outcomes; growth is e^ε."""
    at_least = at_most = Fraction(0)
    for outcome, weight in one.items():
        excess = weight - growth * other.get(outcome, ZERO)
        if excess.low > 0:
            at_least += excess.low
        if excess.high > 0:
            at_most += excess.high
    return Interval(at_least, at_most)


def probabilistic(
    one: dict[Outcome, Interval], other: dict[Outcome, Interval], growth: Interval
) -> Interval:
    """The probability P₁ of outcomes that are more than growth times as likely as under P₂.

    The growth is e^ε.
    """
    surely = possibly = Fraction(0)
    for outcome, weight in one.items():
        excess = weight - growth * other.get(outcome, ZERO)
        if excess.low > 0:
            surely += weight.low
        if excess.high > 0:
            possibly += weight.high
    return Interval(surely, possibly)


def _scores(bounds: Any, best: int, score: Callable[[int], int]) -> list[int]:
    scores = [int(score(candidate)) for candidate in range(len(bounds))]
    assert max(scores) == best, "the best score is not the best"
    assert all(map(le, scores, bounds)), "a bound is below its score"
    return scores


@lru_cache(maxsize=1000)
def _binomial(n: int, p: Fraction) -> list[Interval]:
    hit = Fraction(p)
    miss = 1 - hit
    weights = []
    for hits in range(n + 1):
        weight = comb(n, hits) * hit**hits * miss ** (n - hits)
        weights.append(point(weight))
    return weights


@lru_cache(maxsize=100)
def _laplace(scale: Fraction, least: Fraction) -> tuple[list[int], list[Interval]]:
    """The discrete Laplace law: 0, 1, −1, 2, −2, … until the rest weighs at most `least`."""
    assert least > 0, "infinitely many outcomes: give a cut"
    ratio = exp(-1 / scale)
    weight = (ONE - ratio) / (ONE + ratio)
    values, weights = [0], [weight]
    while weight.high * 2 * ratio.high > least * (1 - ratio.high):
        weight *= ratio
        size = len(values) // 2 + 1
        values += [size, -size]
        weights += [weight, weight]
    return values, weights
