"""With which chance a noisy count is released, as Li and Li print it: the practical matrix.

A row that occurs i < k times is never released. One that occurs i ≥ k times is released with chance
w_i, and then counted as max(k, i + z), where z is discrete Laplace noise. The formulas, and why
each rounding is to the safe side, are proven in docs/proofs/noisy-counts.md, with the same letters.
Uses `calculus` and `exact`; `sharing` and methods that release noisy counts use it.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import (
    Bounds,
    Epsilon,
    decimal,
    exponential,
    rounded_up,
    rounding,
)
from shoal.exact.numbers import Exact, whole
from shoal.privacy.calculus import Definition, definition_of, delta_of
from shoal.zones import brief

__all__ = [
    "ONE",
    "NoisyCountParameters",
    "highest_chance",
    "noise_scale",
    "noisy_count_parameters",
]

ONE = 1 << 128
"""Chances are multiples of 1 / ONE, for which two random words decide a draw."""

SMALLEST = Fraction(1, 10_000)
"""The smallest ε of a count: below, a row would have to occur a hundred thousand times to be
released.
"""

LARGEST_K = 1_000_000
"""Larger ones hide nobody better, and chances are kept for every count up to k."""

LARGEST_SCALE = 1 << 48
"""Of noise that `Chance` draws."""

_BITS = 192
"""Of a factor such as e^−ε: rounding it matters less than rounding a chance."""

# Digits: of an enclosure, more than these bits; and of the scale, which is written into each draw.
_DIGITS = 80
_SCALED = 6


@brief
@dataclass(frozen=True)
class NoisyCountParameters:
    """The parameters of noisy counts for (ε, δ) under a definition.

    They are the noise, and the chance that a row that occurs i times is released.
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition
    k: int

    @cached_property
    def scale(self) -> Fraction:
        """The scale of the noise: 2 / ε, rounded up.

        The probability of z is proportional to e^−(|z| / scale).
        """
        return noise_scale(self.epsilon * Fraction(1, 2))

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is released: k."""
        return self.k

    def chance(self, i: int) -> Fraction:
        """w_i, the chance that a row is released that occurs i times; rounded down."""
        return Fraction(ONE - self.withheld[min(i, len(self.withheld) - 1)], ONE)

    def expected(self, i: int) -> Bounds:
        """E[X_i], the mean of the released count of a row that occurs i times, enclosed.

        A row that is not released counts 0. It is w_i(i + r^(i−k+1) / (1 − r²)).

        >>> low, high = noisy_count_parameters(1, "1e-5", 10, "probabilistic").expected(36)
        >>> print(f"{float(low):.6f}", high - low < Fraction(1, 10**20))
        35.735427 True
        """
        low, high = self._raised(i)
        return self.chance(i) * (i + low), self.chance(i) * (i + high)

    def error(self, i: int) -> Bounds:
        """E|X_i − i|, by how much the released count of a row that occurs i times is off, enclosed.

        A row that is not released is off by i. It is v_i·i + w_i(2r − r^(i−k+1)) / (1 − r²).
        """
        raised = self._raised(i)
        # 2r / (1 − r²) = E|z| is r^(i−k+1) / (1 − r²) at i = k, twice.
        both = self._raised(self.k)
        chance = self.chance(i)
        low, high = (2 * mean - other for mean, other in zip(both, reversed(raised), strict=True))
        withheld = (1 - chance) * i
        return withheld + chance * low, withheld + chance * high

    def _raised(self, i: int) -> Bounds:
        """r^(i−k+1) / (1 − r²), by how much taking k for less raises a count, enclosed."""
        steps = max(i - self.k, 0) + 1
        power, square = self._power(steps), self._power(2)
        return power[0] / (1 - square[0]), power[1] / (1 - square[1])

    def _power(self, steps: int) -> Bounds:
        """r^steps, where r = e^(−1 / scale), enclosed."""
        down, up = rounding(_DIGITS)
        exponent = -Fraction(steps) / self.scale
        low, high = exponential(decimal(exponent, down), decimal(exponent, up), _DIGITS)
        return Fraction(low), Fraction(high)

    @property
    def half(self) -> int:
        """The fewest records that make a row more likely than not to be released."""
        return next(i for i, rest in enumerate(self.withheld) if 2 * rest <= ONE)

    @cached_property
    def withheld(self) -> tuple[int, ...]:
        """v_i = 1 − w_i for i = 0, 1, …, in multiples of 1 / ONE.

        The last one holds for all further i.
        """
        return _withheld(self.epsilon, self.delta, self.definition, self.k)


@typed
def noisy_count_parameters(
    epsilon: Epsilon | Exact, delta: Exact, k: int, definition: Definition = "standard"
) -> NoisyCountParameters:
    """How to release counts of at least k so that all of them together keep (ε, δ).

    >>> counts = noisy_count_parameters(1, "1e-5", 10, "probabilistic")
    >>> print(counts.scale, counts.half, f"{float(counts.chance(35)):.6f}")
    2 32 0.980023
    """
    exact = _count_epsilon(epsilon)
    fewest = whole(k, "k")
    if fewest > LARGEST_K:
        raise ParameterError(
            "is out of range",
            f"it takes a whole number from 1 to {LARGEST_K}",
            option="k",
            given=str(fewest),
        )
    parameters = NoisyCountParameters(exact, delta_of(delta), definition_of(definition), fewest)
    # Where chances are a few multiples of 1 / ONE, rounding keeps them from growing.
    if 2 * parameters.withheld[-1] > ONE:
        raise ParameterError(
            f"with a delta of {float(parameters.delta):g} for a count nothing would be released",
            "give 1e-30 or more",
        )
    return parameters


@typed
def highest_chance(epsilon: Epsilon | Exact, delta: Exact, records: int, k: int = 1) -> Fraction:
    """The largest chance with which any method may release a row that this many records share.

    That is any method that keeps (ε, δ), by either definition, and never releases a row that fewer
    than k records share; rounded up. With a δ of 0 it is 0: Li and Li's theorem 3.

    >>> [float(highest_chance("ln(5)", "1e-5", records)) for records in (1, 5, 8)]
    [1e-05, 0.00781, 0.839064]
    >>> highest_chance(1, 0, 1_000_000)
    Fraction(0, 1)
    """
    exact = _count_epsilon(epsilon)
    failing = ceil(delta_of(delta, zero=True) * ONE)
    _, high = exact.exponential(_DIGITS)
    factor = ceil(high * (1 << _BITS))  # e^ε rounded up, e^−ε rounded down
    left = floor((1 << _BITS) / high)
    chance = 0
    for _ in range(whole(k, "k"), whole(records, "records") + 1):
        most = -(-chance * factor >> _BITS) + failing
        rest = max(ONE - chance - failing, 0)
        raised = min(most, ONE - (rest * left >> _BITS), ONE)
        if raised == chance:  # as will all others be
            break
        chance = raised
    return Fraction(chance, ONE)


def _count_epsilon(epsilon: Epsilon | Exact) -> Epsilon:
    """The ε of a count; ParameterError where it is too small for anything to be released."""
    exact = Epsilon.of(epsilon)
    if exact.bounds()[0] < SMALLEST:
        raise ParameterError(
            f"an epsilon of {exact} for a count leaves nothing to release",
            f"give more than {float(SMALLEST):g}",
        )
    return exact


def noise_scale(epsilon: Epsilon) -> Fraction:
    """The scale of discrete Laplace noise that keeps ε for a count: 1 / ε, rounded up.

    ParameterError if noise of that scale cannot be drawn.
    """
    scale = rounded_up(1 / epsilon.bounds()[0], _SCALED)
    if scale > LARGEST_SCALE:
        raise ParameterError(
            f"an epsilon of {epsilon} leaves nothing but noise", "give a larger one"
        )
    return scale


@lru_cache(maxsize=64)
def _withheld(epsilon: Epsilon, delta: Fraction, definition: Definition, k: int) -> tuple[int, ...]:
    """Each v_i is the smallest that the one before it allows, in integers rounded up."""
    low, _ = epsilon.exponential(_DIGITS)
    half_low, half_high = (epsilon * Fraction(1, 2)).exponential(_DIGITS)
    # e^ε, e^(ε/2), e^(−ε/2) rounded down, and e^−ε rounded up, in multiples of 2^−_BITS.
    factor = floor(low * (1 << _BITS))
    half = floor(half_low * (1 << _BITS))
    root = floor(1 / half_high * (1 << _BITS))
    left = -floor(-(1 << _BITS) / low)
    failing = floor(delta * ONE)  # δ
    withheld = [ONE] * k  # v_0 to v_(k−1)
    before = ONE
    while True:
        released = ONE - before  # w_(i−1)
        if definition == "standard":
            most = min(released * half + failing * root >> _BITS, released * factor >> _BITS)
            most += failing
            least = -(-max(before - failing, 0) * left >> _BITS)
        else:
            most = released * half >> _BITS if len(withheld) > k else failing
            least = -(-before * left >> _BITS)
        rest = max(ONE - most, least)
        if rest == before:  # as will all others be
            return tuple(withheld)
        withheld.append(rest)
        before = rest
