"""Which k, β and δ belong to which ε: the parameters of SafePub, exact or rounded to the safe side.

The mechanism: every record is drawn with chance β, and a group is released iff at least k of its
records were drawn. Beside it stand what releases and rows add up to, and what sampling saves a
search. Every formula here, and that each loop may stop where it stops, is proven in
docs/proofs/safepub.md, with the same letters. Uses `exact`; promises, methods and `noise` use it.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from math import ceil, comb, floor, inf, log
from typing import Literal, get_args

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import (
    Bounds,
    Epsilon,
    decimal,
    exponential,
    logarithm,
    rounded_down,
    rounded_up,
    rounding,
)
from shoal.exact.numbers import Exact, fraction, printed, short, whole

__all__ = [
    "Definition",
    "SafePubParameters",
    "definition_of",
    "delta_concern",
    "delta_for",
    "delta_of",
    "per_row",
    "safepub_parameters",
    "sampled_epsilon",
    "search_epsilon",
]

Definition = Literal["probabilistic", "standard"]
"""What (ε, δ) means: the ratio bound fails with probability at most δ, or every set of outputs
obeys it up to δ.
"""

_GRID = 1 << 64
"""β is a multiple of 1 / _GRID, for which one random word decides a draw."""

_LARGEST_EPSILON = 20
"""Beyond, β is within 2·10⁻⁹ of 1 and k is in the thousand millions."""

_ROUNDING = 2.0**-44
"""The rounding error of five hundred operations on floats; there are fewer than that here."""

_LARGEST_SUM = 1 << 17
"""Bits of the largest integers worth adding up to decide one borderline case."""

# Digits: those to begin with, where more are taken if these do not decide; those to which a sum is
# known before it is taken exactly; more than cancel and than a power of many steps costs; and those
# of rounded results.
_ENOUGH = 40
_THOROUGH = 60
_SPARE = 30
_SHOWN = 12


@dataclass(frozen=True)
class SafePubParameters:
    """The parameters of sampling and suppression for (ε, δ).

    `beta` is the chance that a record is drawn, `k` the smallest group that may be released.
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition
    k: int
    beta: Fraction

    @property
    def gamma(self) -> Fraction:
        """1 − (1 − β)e^−ε, rounded down.

        A group of which a larger share is drawn breaks the bound e^ε.
        """
        return rounded_down(1 - _Profile(self.epsilon, self.beta, self.definition).rest[1], 30)

    def delta_at(self, epsilon: Epsilon | Exact) -> Fraction:
        """The δ that the same mechanism keeps at a larger ε, rounded up: the smoothness curve."""
        return delta_for(self.k, epsilon, self.definition, beta=self.beta)


@typed
def safepub_parameters(
    epsilon: Epsilon | Exact,
    delta: Exact,
    definition: Definition = "probabilistic",
    *,
    beta: Exact | None = None,
) -> SafePubParameters:
    """The smallest k that keeps (ε, δ) by sampling and suppression alone.

    β is 1 − e^−ε unless a smaller one is given.

    >>> safepub_parameters(1, "1e-6").k, safepub_parameters(1, "1e-6", "standard").k
    (74, 58)
    """
    exact = Epsilon.of(epsilon)
    return _parameters(exact, delta_of(delta), definition_of(definition), _beta(exact, beta))


@lru_cache(maxsize=1024)
def _parameters(
    epsilon: Epsilon, delta: Fraction, definition: Definition, beta: Fraction
) -> SafePubParameters:
    profile = _Profile(epsilon, beta, definition)
    above = (i for i in range(profile.last(delta), 0, -1) if profile.exceeds(i, delta))
    return SafePubParameters(epsilon, delta, definition, next(above, 0) + 1, beta)


@typed
def delta_for(
    k: int,
    epsilon: Epsilon | Exact,
    definition: Definition = "probabilistic",
    *,
    beta: Exact | None = None,
) -> Fraction:
    """The smallest δ for which sampling and suppressing groups below k keeps (ε, δ).

    It is rounded up in the twelfth digit.

    >>> float(delta_for(74, 2, beta=safepub_parameters(1, "1e-6").beta))
    1.52955666275e-11
    """
    exact = Epsilon.of(epsilon)
    profile = _Profile(exact, _beta(exact, beta), definition_of(definition))
    highest: dict[int, float] = {}
    surely = -inf
    for i in count(whole(k, "k")):
        about, margin = profile.roughly(i)
        highest[i] = about + margin
        surely = max(surely, about - margin)
        # No value to come is above this logarithm.
        to_come = -float(profile.divergence) * profile.size(i) * (1 - _ROUNDING)
        if to_come <= surely:
            break
    candidates = [i for i, logarithm in highest.items() if logarithm >= surely]
    return rounded_up(max(profile.bounds(i, 2 * _SHOWN)[1] for i in candidates), _SHOWN)


@typed
def search_epsilon(epsilon: Epsilon | Exact, beta: Exact) -> Fraction:
    """The ε that a search may spend on a sample drawn with chance β so that it costs ε.

    It is ln(1 + (e^ε − 1) / β), rounded down.

    >>> float(search_epsilon(0.1, safepub_parameters(0.9, "1e-5").beta))
    0.163160297521
    """
    exact, chance = Epsilon.of(epsilon), _chance(beta)
    low, _ = logarithm(1 + _grown(exact)[0] / chance, _digits(exact))
    return rounded_down(Fraction(low), _SHOWN)


@typed
def sampled_epsilon(epsilon: Epsilon | Exact, beta: Exact) -> Fraction:
    """What an ε spent on a sample drawn with chance β costs the whole table.

    It is ln(1 + β(e^ε − 1)), rounded up.
    """
    exact, chance = Epsilon.of(epsilon), _chance(beta)
    _, high = logarithm(1 + chance * _grown(exact)[1], _digits(exact))
    return rounded_up(Fraction(high), _SHOWN)


@typed
def per_row(epsilon: Epsilon | Exact, delta: Exact, rows: int) -> tuple[Epsilon, Fraction]:
    """The (ε′, δ′) per row that give (ε, δ) to a person with up to that many rows.

    This is for the standard definition only.

    ε′ = ε / rows, and δ′ = δ(e^ε′ − 1) / (e^ε − 1) rounded down.

    >>> per_row("ln(4)", "1e-6", 2)[0]
    Epsilon(factor=Fraction(1, 1), base=Fraction(2, 1))
    """
    exact, failing = Epsilon.of(epsilon), delta_of(delta)
    share = Fraction(1, whole(rows, "rows"))
    if share == 1:
        return exact, failing
    part = exact * share
    return part, rounded_down(failing * _grown(part)[0] / _grown(exact)[1], _SHOWN)


def _grown(epsilon: Epsilon) -> Bounds:
    """e^ε − 1, to more digits than are shown, however small it is."""
    low, high = epsilon.exponential(_digits(epsilon))
    return low - 1, high - 1


def _digits(epsilon: Epsilon) -> int:
    """Enough that e^ε and 1 differ in more of them than are shown."""
    return 2 * _SHOWN + len(str(floor(1 / epsilon.bounds()[0])))


def _chance(beta: Exact) -> Fraction:
    return fraction(beta, "beta", 0, 1, above=True)


def definition_of(definition: str) -> Definition:
    """One of the two definitions; else ParameterError."""
    if definition not in get_args(Definition):
        raise ParameterError(
            "is unknown",
            "it takes 'probabilistic' or 'standard'",
            option="definition",
            given=repr(definition),
        )
    return definition  # type: ignore[return-value]


def delta_of(delta: Exact, *, zero: bool = False) -> Fraction:
    """A δ above 0, or `zero` where there can be one, and below 1; else ParameterError.

    >>> delta_of("1e-6")
    Fraction(1, 1000000)
    """
    hint = ", far below 1 / (number of people), such as 1e-6"
    return fraction(delta, "delta", 0, 1, above=not zero, below=True, hint=hint)


@typed
def delta_concern(delta: Exact, people: int) -> str | None:
    """A warning that δ is too large for a publicly known number of people; None if it is not.

    >>> print(delta_concern("1e-6", 50_000))
    None
    """
    exact, number = delta_of(delta), whole(people, "people")
    if exact * number < 1:
        return None
    return (
        f"a delta of {short(exact)} is not below 1/{number:,}: publishing one random record of "
        f"{number:,} would keep such a promise; give a far smaller one"
    )


def _beta(epsilon: Epsilon, given: Exact | None) -> Fraction:
    """The chance β with which records are drawn, at most 1 − e^−ε.

    It is the given one if that is not larger, else the largest multiple of 1/2^64 that is not.
    """
    if given is None:
        return _largest_beta(epsilon)
    beta = _chance(given)
    for digits in (_ENOUGH << turn for turn in count()):
        low, high = _drawn(epsilon, digits)
        if beta <= low:
            return beta
        if beta > high:
            break
    raise ParameterError(
        "is above 1 - e^-epsilon",
        f"a record may be drawn with a chance of at most {printed(rounded_down(low, _SHOWN))}",
        option="beta",
        given=printed(beta),
    )


def _largest_beta(epsilon: Epsilon) -> Fraction:
    """The largest multiple of 1/2^64 that is not above 1 − e^−ε."""
    if epsilon > Epsilon(Fraction(_LARGEST_EPSILON)):
        raise ParameterError(
            f"an epsilon of {epsilon} for the anonymisation is too large for sampling to be useful",
            f"give an `epsilon` that leaves it at most {_LARGEST_EPSILON}",
        )
    for digits in (_ENOUGH << turn for turn in count()):
        low, high = _drawn(epsilon, digits)
        words = floor(low * _GRID)
        if words == floor(high * _GRID):
            break
    if not words:
        raise ParameterError(
            f"at an epsilon of {epsilon} no record would be drawn",
            "give an `epsilon` that leaves it at least 1e-19",
        )
    return Fraction(words, _GRID)


def _drawn(epsilon: Epsilon, digits: int) -> Bounds:
    """1 − e^−ε, enclosed to that many significant digits of e^ε."""
    low, high = epsilon.exponential(digits)
    return 1 - 1 / low, 1 - 1 / high


class _Profile:
    """For every i, how likely a drawn count of at least i is to reveal too much.

    It is the largest chance over all sizes n of a group.

    Probabilistic: P[X ≥ i] for the largest n with γn < i. Standard: Σ_{j ≥ i} P[X = j]·(1 − (n − j)
    / ((1 − γ)n)) for the first n ≥ 1 with γn ≥ i − 1. X is binomial with n and β. The δ of a k is
    the largest of these values over all i ≥ k.
    """

    def __init__(self, epsilon: Epsilon, beta: Fraction, definition: Definition) -> None:
        self.epsilon, self.beta, self.definition = epsilon, beta, definition
        self.rest = self._rest(_ENOUGH)

    def exceeds(self, i: int, delta: Fraction) -> bool:
        """Whether the value at i is above δ; True where that cannot be found out."""
        about, margin = self.roughly(i)
        limit = log(delta.numerator) - log(delta.denominator)
        margin += _ROUNDING * (log(delta.numerator) + log(delta.denominator))
        if abs(about - limit) > margin:
            return about > limit
        low, high = self.bounds(i, _THOROUGH)
        if high <= delta or low > delta:
            return low > delta
        value = self.exactly(i)
        return value is None or value > delta

    def size(self, i: int) -> int:
        """The size of a group for which a count of at least i tells most."""
        rests = self.rest
        for digits in (_ENOUGH << turn for turn in count(1)):
            if self.definition == "probabilistic":
                fewest, most = (ceil(i / (1 - rest)) - 1 for rest in rests)
            else:
                fewest, most = (max(1, ceil((i - 1) / (1 - rest))) for rest in rests)
            if fewest == most:
                break
            rests = self._rest(digits)
        return most

    def roughly(self, i: int) -> tuple[float, float]:
        """The logarithm of the value at i in floats, and a margin above its error."""
        n, (drawn, left) = self.size(i), self._logarithms
        parts = log(comb(n, i)), i * drawn, (n - i) * left
        odds = float(self.beta / (1 - self.beta))
        rest = float(self.rest[0] * n)
        over = float(i - n + self.rest[0] * n)  # i − γn
        term, value = 1.0, 0.0
        for j in range(i, n + 1):
            weight = (over + (j - i)) / rest if self.definition == "standard" else 1.0
            value += term * weight
            term *= (n - j) * odds / (j + 1)  # less than halved: see the proof
            if term < value * _ROUNDING / 16:
                break
        return sum(parts) + log(value), _ROUNDING * (sum(map(abs, parts)) + 1)

    def bounds(self, i: int, digits: int) -> Bounds:
        """The value at i, enclosed to about that many significant digits."""
        n, precision = self.size(i), digits + _SPARE
        down, up = rounding(precision)
        term_low, term_high = self._mass(n, i, precision)
        odds, (rest_low, rest_high) = self.beta / (1 - self.beta), self._rest(precision)
        low = high = Decimal(0)
        weight_low = weight_high = Decimal(1)
        for j in range(i, n + 1):
            if self.definition == "standard":
                weight_low = decimal(1 - Fraction(n - j, n) / rest_low, down)
                weight_high = decimal(1 - Fraction(n - j, n) / rest_high, up)
            low = down.add(low, down.multiply(term_low, weight_low))
            high = up.add(high, up.multiply(term_high, weight_high))
            step = odds * Fraction(n - j, j + 1)
            term_low = down.multiply(term_low, decimal(step, down))
            term_high = up.multiply(term_high, decimal(step, up))
            # Above all terms to come together, as each is less than half the one before.
            beyond = up.multiply(2, term_high)
            if beyond <= down.scaleb(low, -digits):
                break
        return Fraction(low), Fraction(up.add(high, beyond))

    def _mass(self, n: int, i: int, digits: int) -> tuple[Decimal, Decimal]:
        """P[X = i] for groups of n, between two decimals."""
        down, up = rounding(digits)
        ways = logarithm(Fraction(comb(n, i)), digits)
        drawn = logarithm(self.beta, digits)
        left = logarithm(1 - self.beta, digits)
        low = down.add(down.multiply(i, drawn[0]), down.multiply(n - i, left[0]))
        high = up.add(up.multiply(i, drawn[1]), up.multiply(n - i, left[1]))
        return exponential(down.add(ways[0], low), up.add(ways[1], high), digits)

    def exactly(self, i: int) -> Fraction | None:
        """The value at i as a rational, if it is one and not too long to write down."""
        n, (rest, same) = self.size(i), self.rest
        drawn, words = self.beta.numerator, self.beta.denominator
        # Of n = i there is one weight, which is 1.
        rational = self.definition == "probabilistic" or rest == same or n == i
        if not rational or n * words.bit_length() > _LARGEST_SUM:
            return None
        value = Fraction(0)
        for j in range(i, n + 1):
            mass = Fraction(comb(n, j) * drawn**j * (words - drawn) ** (n - j))
            if self.definition == "standard":
                mass *= 1 - Fraction(n - j, n) / rest
            value += mass
        return value / Fraction(words) ** n

    def last(self, delta: Fraction) -> int:
        """An i beyond which no value is above δ.

        A value with group size n is at most e^(−n·D(γ‖β)).
        """
        size = ceil(Fraction(logarithm(1 / delta, 10)[1]) / self.divergence)
        return floor((1 - self.rest[0]) * size) + 1

    @cached_property
    def divergence(self) -> Fraction:
        """D(γ‖β) = γ ln(γ/β) − (1 − γ)ε, rounded down."""
        _, rest = self.rest
        low, _ = logarithm((1 - rest) / self.beta, _ENOUGH)
        return (1 - rest) * Fraction(low) - rest * self.epsilon.bounds(_ENOUGH)[1]

    @cached_property
    def _logarithms(self) -> tuple[float, float]:
        return float(logarithm(self.beta, 20)[0]), float(logarithm(1 - self.beta, 20)[0])

    def _rest(self, digits: int) -> Bounds:
        """1 − γ = (1 − β)e^−ε, enclosed to that many significant digits."""
        low, high = self.epsilon.exponential(digits)
        return (1 - self.beta) / high, (1 - self.beta) / low
