"""Clopper and Pearson's interval of a probability, rounded outwards. Uses nothing.

`beliefs` and `planning` use it.
"""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

__all__ = ["clopper_pearson", "spread"]

_MARGIN = 1e-9
"""By which bounds are rounded outwards; what is computed here is right to 1e-12."""

_HALVINGS = 60  # of an interval, after which floats cannot tell its ends apart
_TERMS = 10_000  # of the continued fraction, which converges far earlier
_TINY = 1e-300  # in place of 0, by which nothing can be divided


@lru_cache(maxsize=1 << 14)
def clopper_pearson(hits: float, tries: float, error: float) -> tuple[float, float]:
    """Bounds of a probability that had this many hits in this many tries.

    They are wrong with at most the `error`, half of it on each side.

    >>> [round(bound, 4) for bound in clopper_pearson(8, 10, 0.05)]
    [0.4439, 0.9748]
    >>> [round(bound, 4) for bound in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    low, high = 0.0, 1.0
    if hits > 0:
        low = _edge(hits, tries - hits + 1, error / 2) - _MARGIN
    if hits < tries:
        high = 1 - _edge(tries - hits, hits + 1, error / 2) + _MARGIN
    return max(low, 0.0), min(high, 1.0)


def spread(error: float) -> float:
    """How many standard deviations a normal variable is off with at most the `error`."""
    return NormalDist().inv_cdf(1 - error / 2)


def _edge(a: float, b: float, tail: float) -> float:
    """Where the distribution function of a beta variable reaches the tail."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _beta(a, b, middle) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The distribution function of a beta variable, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        # On the other side it converges fast.
        return 1 - _beta(b, a, 1 - x)
    binomial = lgamma(a + b) - lgamma(a) - lgamma(b)
    front = exp(binomial + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or _TINY)
    product = d
    for m in range(1, _TERMS + int(10 * sqrt(max(a, b)))):
        end = a + 2 * m
        even = m * (b - m) * x / ((a + 2 * m - 1) * end)
        odd = -(a + m) * (a + b + m) * x / (end * (end + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or _TINY)
            c = (1 + term / c) or _TINY
            product *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * product
