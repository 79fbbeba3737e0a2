"""The parameters of a private tree of refinements: noise and bias for one ε, however deep it is.

Boxes of the domain are refined step by step. A part of a box becomes a box of its own if its number
of records passes a noisy test, and the more tests its path has passed, the more records it needs.
The formulas are proven in docs/proofs/refining.md, with the same letters. Uses `exact`; methods
that release at levels of several fineness use it.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log1p

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon, exponential, logarithm, rounding
from shoal.exact.numbers import Exact, whole

__all__ = ["RefiningParameters", "refining_parameters"]

CUT = 2
"""How many biases the cut-off lies below the threshold.

Measured on census tables: with 1, noise alone refines what has few records; with 3 or more the
noise has to be wider.
"""

_DIGITS = 40
"""Of enclosures."""

_SCALED = 64
"""Scales of noise are multiples of 1 / _SCALED."""

LARGEST_SCALE = 1 << 20
"""Wider noise would need millions of records in every box."""


@dataclass(frozen=True)
class RefiningParameters:
    """The noise of tests, and by how much each passed test raises the bar for the next one.

    A part with c records on a path of d passed tests passes if max(c − d·bias, threshold − cut) + z
    exceeds the threshold, where z is discrete Laplace noise of this scale.
    """

    epsilon: Epsilon
    steps: int
    scale: Fraction

    @property
    def bias(self) -> int:
        """b: how many more records each further test asks for."""
        return ceil(self.scale)

    @property
    def cut(self) -> int:
        """κ: how far below the threshold numbers of records are taken as equal."""
        return CUT * self.bias


@typed
def refining_parameters(epsilon: Epsilon | Exact, steps: int) -> RefiningParameters:
    """The narrowest noise with which all tests on a path of `steps` keep ε together.

    >>> found = refining_parameters("0.2", 19)
    >>> float(found.scale), found.bias, found.cut
    (16.640625, 17, 34)
    """
    exact = Epsilon.of(epsilon)
    number = whole(steps, "steps")
    return RefiningParameters(exact, number, _scale(exact, number))


@lru_cache(maxsize=64)
def _scale(epsilon: Epsilon, steps: int) -> Fraction:
    """The smallest scale whose losses add up to ε at most, to a multiple of 1 / _SCALED."""
    limit = epsilon.bounds(_DIGITS)[0]
    low, high = 1, LARGEST_SCALE * _SCALED
    # Floats find the place, enclosures decide.
    while low < high:
        middle = (low + high) // 2
        if _about_lost(middle / _SCALED, steps) <= limit:
            high = middle
        else:
            low = middle + 1
    while high > 1 and lost(Fraction(high - 1, _SCALED), steps) <= limit:
        high -= 1
    while lost(Fraction(high, _SCALED), steps) > limit:
        high += 1
        if high > LARGEST_SCALE * _SCALED:
            raise ParameterError(
                f"an epsilon of {epsilon} for a tree leaves nothing but noise", "give a larger one"
            )
    return Fraction(high, _SCALED)


def _about_lost(scale: float, steps: int) -> float:
    """`lost` in floats: to search by, not to promise."""
    bias = ceil(scale)
    ratio = exp(-1 / scale)
    total = 0.0
    for above in _scores(bias, steps):
        if above <= 1:
            total += 1 / scale
        else:
            total += log1p(-(ratio**above) / (1 + ratio))
            total -= log1p(-(ratio ** (above - 1)) / (1 + ratio))
    return total


def lost(scale: Fraction, steps: int) -> Fraction:
    """The ε of all tests on the worst path, rounded up: Σ ℓ(−κ + 1 + j·b) over its tests."""
    bias = ceil(scale)
    total = Fraction(0)
    for above in _scores(bias, steps):
        total += 1 / scale if above <= 1 else _loss(scale, above)
    return total


def _scores(bias: int, steps: int) -> list[int]:
    """How far above the threshold the scores of the worst path are: as low as they can be."""
    return [1 - CUT * bias + bias * turn for turn in range(steps)]


def _loss(scale: Fraction, above: int) -> Fraction:
    """ℓ(m) = ln((1 + r − r^m) / (1 + r − r^(m−1))) for m ≥ 1 and r = e^(−1/scale), rounded up.

    It is 1/scale for m = 1.
    """
    ratio = _power(scale, 1)
    high = _power(scale, above)
    low = _power(scale, above - 1)
    down, up = rounding(_DIGITS)
    largest = up.subtract(up.add(1, ratio[1]), high[0])
    smallest = down.subtract(down.add(1, ratio[0]), low[1])
    quotient = Fraction(up.divide(largest, smallest))
    return Fraction(logarithm(quotient, _DIGITS)[1])


def _power(scale: Fraction, power: int) -> tuple[Decimal, Decimal]:
    """r^power, enclosed."""
    down, up = rounding(_DIGITS)
    exponent = Fraction(-power) / scale
    numerator, denominator = Decimal(exponent.numerator), Decimal(exponent.denominator)
    return exponential(
        down.divide(numerator, denominator), up.divide(numerator, denominator), _DIGITS
    )
