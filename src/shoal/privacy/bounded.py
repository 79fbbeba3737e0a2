"""One noise for whether a count is released and for what it is: bounded, symmetric, whole numbers.

A row that occurs i times gets the noisy count i + z, and is released if that reaches a threshold. z
is never further from 0 than a bound, so rows that occur less often than threshold − bound are never
released. The whole ε serves both. The law, and why each rounding is to the safe side, are proven in
docs/proofs/bounded-noise.md, with the same letters. Uses `calculus` and `exact`; methods that
release noisy counts use it.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import floor

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, whole
from shoal.privacy.calculus import delta_of
from shoal.privacy.noise import LARGEST_K, ONE, SMALLEST
from shoal.zones import brief

__all__ = ["BITS", "BoundedCountParameters", "bounded_count_parameters"]

BITS = ONE.bit_length() - 1
"""Probabilities are multiples of 2^−BITS, which is 1 / ONE."""

_BITS = 192
"""Of the factor e^ε: rounding it matters less than rounding a probability."""

_DIGITS = 80
"""Of the enclosure of e^ε: more than these bits."""

ALWAYS_LARGE_ENOUGH = "1e-28"
"""A δ for which there is a law for each ε; how far below one exists depends on ε."""


@brief
@dataclass(frozen=True)
class BoundedCountParameters:
    """The parameters of counts with bounded noise for (ε, δ), by the standard definition.

    `k` is the fewest records behind a released row.
    """

    epsilon: Epsilon
    delta: Fraction
    k: int

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """p_0, p_1, …, p_b: the probabilities of z = 0, ±1, …, ±b, in multiples of 1 / ONE."""
        return _weights(self.epsilon, self.delta)

    @property
    def bound(self) -> int:
        """b, the largest distance of a noisy count from the true one."""
        return len(self.weights) - 1

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is released: b + k."""
        return self.bound + self.k

    @cached_property
    def cumulative(self) -> tuple[int, ...]:
        """The probabilities that z is at most −b, −b + 1, …, b, in multiples of 1 / ONE."""
        falling = self.weights[:0:-1]
        return tuple(accumulate((*falling, *self.weights)))

    def chance(self, i: int) -> Fraction:
        """The probability that a row is released that occurs i times."""
        # Released if z ≥ threshold − i; below is how many values of z are smaller.
        below = self.threshold - i + self.bound
        if below <= 0:
            return Fraction(1)
        if below >= len(self.cumulative):
            return Fraction(0)
        return Fraction(ONE - self.cumulative[below - 1], ONE)

    @property
    def half(self) -> int:
        """The fewest records that make a row more likely than not to be released."""
        return next(i for i in range(self.k, self.threshold + 1) if 2 * self.chance(i) >= 1)

    @property
    def error(self) -> float:
        """The mean distance of a noisy count from the true one, before rows are withheld."""
        return 2 * sum(z * weight for z, weight in enumerate(self.weights)) / ONE


@typed
def bounded_count_parameters(
    epsilon: Epsilon | Exact, delta: Exact, k: int = 1
) -> BoundedCountParameters:
    """How to release counts with one bounded noise so that all of them together keep (ε, δ).

    >>> counts = bounded_count_parameters(1, "1e-6")
    >>> counts.bound, counts.threshold, counts.half
    (14, 15, 15)
    """
    exact = Epsilon.of(epsilon)
    if exact.bounds()[0] < SMALLEST:
        raise ParameterError(
            f"an epsilon of {exact} for a count leaves nothing to release",
            f"give more than {float(SMALLEST):g}",
        )
    fewest = whole(k, "k")
    if fewest > LARGEST_K:
        raise ParameterError(
            "is out of range",
            f"it takes a whole number from 1 to {LARGEST_K}",
            option="k",
            given=str(fewest),
        )
    parameters = BoundedCountParameters(exact, delta_of(delta), fewest)
    _ = parameters.weights  # raises now, not later, where there is no such law
    return parameters


@lru_cache(maxsize=64)
def _weights(epsilon: Epsilon, delta: Fraction) -> tuple[int, ...]:
    """The law of the narrowest noise whose steps lose no more than δ together.

    A step from z + 1 to z loses p_z − e^ε·p_{z+1}. All of δ is lost at the two outermost steps, in
    the parts `last` and δ − `last`, so that the probabilities add up to 1.

    ParameterError if δ is so small that rounding spoils the law.
    """
    failing = floor(delta * ONE)
    low, _ = epsilon.exponential(_DIGITS)
    factor = floor(low * (1 << _BITS))
    if failing * factor >> _BITS == failing:  # probabilities would never grow
        raise _too_small(delta)
    bound = _bound(factor, failing)
    # The sum of all probabilities is linear in `last`, but for rounding.
    least = _total(_tail(factor, bound, 0, failing))
    most = _total(_tail(factor, bound, failing, failing))
    last = failing * (ONE - least) // (most - least)
    weights = _tail(factor, bound, last, failing)
    while (missing := ONE - _total(weights)) > 0:
        last = min(last + 1 + failing * missing // (most - least), failing)
        weights = _tail(factor, bound, last, failing)
    # What is above 1 is taken from the middle, where it makes a step smaller.
    middle = weights[0] - (_total(weights) - ONE)
    if middle < weights[1]:
        raise _too_small(delta)
    return (middle, *weights[1:])


def _too_small(delta: Fraction) -> ParameterError:
    return ParameterError(
        f"a delta of {float(delta):g} is too small for a count",
        f"give {ALWAYS_LARGE_ENOUGH} or more",
    )


def _bound(factor: int, failing: int) -> int:
    """The smallest bound for which the probabilities can add up to 1."""
    bound, weight, total = 0, failing, failing
    while total < ONE:
        grown = weight * factor >> _BITS
        # The middle counts once, all others twice.
        total += weight + grown
        bound, weight = bound + 1, grown
    return bound


def _tail(factor: int, bound: int, last: int, failing: int) -> tuple[int, ...]:
    """p_0 to p_bound where the outermost step loses `last` and the next one the rest of δ."""
    weights = [last]
    lost = failing - last
    for _ in range(bound):
        weights.append((weights[-1] * factor >> _BITS) + lost)
        lost = 0
    return tuple(reversed(weights))


def _total(weights: tuple[int, ...]) -> int:
    """The probability of all z, on both sides of 0."""
    return 2 * sum(weights) - weights[0]
