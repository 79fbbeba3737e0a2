"""Counts by either noise, and what each of several groups of them may spend.

The noise is bounded (`bounded`), or that of the matrix which Li and Li print (`noise`). How several
groups of columns share ε and δ is proven in docs/proofs/noisy-counts.md, whichever noise they take.
Uses `bounded`, `noise`, `calculus` and `exact`; `NoisyCounts`, `Columns` and `explaining` use it.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, comb, exp, expm1, inf, lgamma, log, log1p, ulp
from typing import Literal, get_args

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import (
    Epsilon,
    decimal,
    exponential,
    logarithm,
    rounded_down,
    rounded_up,
    rounding,
)
from shoal.exact.numbers import Exact, whole
from shoal.privacy.bounded import BoundedCountParameters, bounded_count_parameters
from shoal.privacy.calculus import Definition, delta_of
from shoal.privacy.noise import NoisyCountParameters, noisy_count_parameters

__all__ = [
    "CountParameters",
    "Noise",
    "column_parameters",
    "count_parameters",
    "noise_named",
    "require_definition",
]

Noise = Literal["bounded", "printed"]
"""One bounded noise for what is released and for its count, or the matrix that the paper prints."""

CountParameters = BoundedCountParameters | NoisyCountParameters

_DIGITS = 80
"""Of an enclosure: far more than are shown."""

_SHOWN = 12
"""Digits of rounded results."""

# Of the search for the best share of ε: ways to compose that are compared; a share is the plain one
# times a multiple of 1 / _FINEST; and how often the range of multiples is halved.
_TRIED = 64
_FINEST = 64
_HALVINGS = 30


@typed
def count_parameters(
    epsilon: Epsilon | Exact,
    delta: Exact,
    k: int,
    definition: Definition = "standard",
    noise: Noise = "bounded",
) -> CountParameters:
    """How to release counts of rows that k records share, so that all together keep (ε, δ).

    >>> [count_parameters(1, "1e-6", 10, noise=noise).half for noise in ("bounded", "printed")]
    [24, 34]
    """
    require_definition(definition, noise_named(noise))
    if noise == "printed":
        return noisy_count_parameters(epsilon, delta, k, definition)
    return bounded_count_parameters(epsilon, delta, k)


def noise_named(noise: str) -> Noise:
    """One of the two noises; else ParameterError."""
    if noise not in get_args(Noise):
        raise ParameterError(
            "is unknown", "it takes 'bounded' or 'printed'", option="noise", given=repr(noise)
        )
    return noise  # type: ignore[return-value]


def require_definition(definition: Definition, noise: Noise) -> None:
    """ParameterError if a noise does not keep a definition."""
    if noise == "bounded" and definition != "standard":
        raise ParameterError(
            "is not kept with bounded noise",
            "take `noise` 'printed', or the definition 'standard'",
            option="definition",
            given=repr(definition),
        )


@typed
def column_parameters(
    epsilon: Epsilon | Exact, delta: Exact, columns: int, k: int, noise: Noise = "bounded"
) -> CountParameters:
    """What each group of columns spends so that all together keep (ε, δ), standard definition.

    That is the plain sum, or the optimal composition of Kairouz, Oh and Viswanath with the share of
    ε that releases most.

    >>> one = column_parameters("ln(10)", "1e-3", 3, 10)
    >>> print(one.epsilon, one.half)
    1/3*ln(10) 20
    """
    exact, failing, number = Epsilon.of(epsilon), delta_of(delta), whole(columns, "columns")
    about = _about_bound if noise_named(noise) == "bounded" else _about_half
    tried = []
    for stretch in _stretches(float(exact), float(failing), number, about):
        part, lost = exact * (stretch / number), _lost(exact, number, stretch)
        if lost >= failing:
            break
        share = rounded_down((failing - lost) / ((1 - lost) * number), _SHOWN)
        tried.append((about(float(part), max(float(share), ulp(0.0))), part, share))
    _, part, share = min(tried, key=lambda attempt: attempt[0])
    return count_parameters(part, share, k, noise=noise)


def _stretches(
    epsilon: float, delta: float, number: int, about: Callable[[float, float], float]
) -> list[Fraction]:
    """Multiples of the plain share ε / number that may be worth trying.

    They are 1, the best one by floats, and its neighbours.

    Any of them keeps the promise, as what it loses is computed anew, exactly.
    """

    def worth(stretch: Fraction) -> float:
        part = epsilon * float(stretch) / number
        left = (delta - _about_lost(epsilon, number, stretch)) / number
        return about(part, left) if left > 0 else inf

    # Roughly the first multiple that loses all of δ.
    most = Fraction(number)
    for _ in range(_HALVINGS):
        middle = (1 + most) / 2
        if worth(middle) < inf:
            break
        most = middle
    step = max(Fraction(1, _FINEST), Fraction(int((most - 1) * _FINEST) // _TRIED, _FINEST))
    evenly = {1 + step * turn for turn in range(_TRIED + 1) if 1 + step * turn <= number}
    turns = range(0, (number + 1) // 2, 1 + number // (2 * _TRIED))
    named = {Fraction(number, number - 2 * turn) for turn in turns}  # those of the theorem itself
    every = sorted(evenly | {stretch for stretch in named if stretch <= most})
    best = min(range(len(every)), key=lambda place: worth(every[place]))
    return [every[0], *every[max(best - 1, 1) : best + 2]]


def _about_lost(epsilon: float, number: int, stretch: Fraction) -> float:
    """`_lost` in floats: to choose by, not to promise."""
    part = epsilon * float(stretch) / number
    rest = number * (part + log1p(exp(-part)))
    total = 0.0
    for place in range(_exceeding(number, stretch)):
        ways = lgamma(number + 1) - lgamma(place + 1) - lgamma(number - place + 1)
        gain = (number - 2 * place) * part - epsilon
        total += exp(ways + (number - place) * part - rest) * -expm1(-gain)
    return total


def _exceeding(number: int, stretch: Fraction) -> int:
    """How many of the coins may lie so that the others reveal more than ε.

    That is the first l with number − 2l ≤ number / stretch.
    """
    return max(ceil((number - number / stretch) / 2), 0)


def _lost(epsilon: Epsilon, number: int, stretch: Fraction) -> Fraction:
    """The δ at ε of this number of releases together, rounded up.

    Each of them has ε′ = stretch·ε / number.

    It is Σ_l C(number, l)·(e^((number − l)ε′) − e^(ε + lε′)) / (1 + e^ε′)^number, over all l with
    (number − 2l)ε′ > ε.
    """
    down, up = rounding(_DIGITS)
    share = stretch / number
    grown = (epsilon * share).exponential(_DIGITS)
    bounds = epsilon.bounds(_DIGITS)
    whole_low, _ = logarithm(1 + grown[0], _DIGITS)
    _, whole_high = logarithm(1 + grown[1], _DIGITS)
    total = Fraction(0)
    for place in range(_exceeding(number, stretch)):
        terms = []
        for power in ((number - place) * share, 1 + place * share):  # of e^ε
            low = down.subtract(decimal(bounds[0] * power, down), up.multiply(number, whole_high))
            high = up.subtract(decimal(bounds[1] * power, up), down.multiply(number, whole_low))
            terms.append(exponential(low, high, _DIGITS))
        total += comb(number, place) * (Fraction(terms[0][1]) - Fraction(terms[1][0]))
    return rounded_up(total, _SHOWN) if total else total


def _about_half(epsilon: float, delta: float) -> float:
    """About how many records above k a row needs to be more likely released than not.

    By the printed matrix; to choose by, not to promise.
    """
    return 2 / epsilon * log(1 + expm1(epsilon / 2) / (2 * delta * (1 + exp(-epsilon / 2))))


def _about_bound(epsilon: float, delta: float) -> float:
    """The same with bounded noise: its bound, as a real number (theorem 2 of bounded-noise.md)."""
    return log((expm1(epsilon) / delta + 2) / (exp(epsilon) + 1)) / epsilon
