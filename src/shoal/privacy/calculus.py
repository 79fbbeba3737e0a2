"""Which k, β and δ belong to which ε: the parameters of SafePub, exact or rounded to the safe side.
Uses `epsilon` and `exact`.

The mechanism: every record is drawn with chance β, and a group leaves iff at least k of its records
were drawn. Beside it stand what releases and rows add up to, and what the sampling saves a search.
Every formula here, and that each loop may stop where it stops, is proven in docs/proofs/safepub.md,
with the same letters.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from math import ceil, comb, floor, log
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

_GRID = 1 << 64  # β is a multiple of 1/2^64, for which one random word decides a draw
_LARGEST_EPSILON = 20  # beyond, β is within 2·10⁻⁹ of 1 and k in the thousand millions
_ROUNDING = 2.0**-44  # that of five hundred operations on floats, and there are fewer than that
_ENOUGH = 40  # digits with which to begin; more are taken where these do not decide
_THOROUGH = 60  # digits to which a sum is known before it is taken exactly
_LARGEST_SUM = 1 << 17  # bits of the largest integers worth adding up to decide one borderline case
_SPARE = 30  # digits: above those that cancel, and those that a power of many steps costs
_SHOWN = 12  # digits of rounded results


@dataclass(frozen=True)
class SafePubParameters:
    """The chance β with which a record is drawn, and the smallest group k that may leave, for (ε,
    δ).
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition
    k: int
    beta: Fraction

    @property
    def gamma(self) -> Fraction:
        """1 − (1 − β)e^−ε rounded down: the share of a group that, if drawn, breaks the bound
        e^ε.
        """
        return rounded_down(1 - _Profile(self.epsilon, self.beta, self.definition).rest[1], 30)

    def delta_at(self, epsilon: Epsilon | Exact) -> Fraction:
        """The δ for which the same mechanism keeps a larger ε as well, rounded up: the smoothness
        curve.
        """
        return delta_for(self.k, epsilon, self.definition, beta=self.beta)


@typed
def safepub_parameters(
    epsilon: Epsilon | Exact,
    delta: Exact,
    definition: Definition = "probabilistic",
    *,
    beta: Exact | None = None,
) -> SafePubParameters:
    """The smallest k that keeps (ε, δ) for sampling and suppression alone, with β = 1 − e^−ε unless
    a smaller one is given.

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
    """The smallest δ for which sampling and suppressing groups below k keeps (ε, δ), rounded up in
    the twelfth digit.

    >>> float(delta_for(74, 2, beta=safepub_parameters(1, "1e-6").beta))
    1.52955666275e-11
    """
    exact = Epsilon.of(epsilon)
    profile = _Profile(exact, _beta(exact, beta), definition_of(definition))
    found: list[tuple[int, float, float]] = []
    for i in count(whole(k, "k")):
        about, margin = profile.roughly(i)
        found.append((i, about, margin))
        surely = max(about - margin for _, about, margin in found)
        if (
            float(profile.divergence) * profile.size(i) * (1 - _ROUNDING) >= -surely
        ):  # so no value to come is above it
            break
    candidates = (i for i, about, margin in found if about + margin >= surely)
    return rounded_up(max(profile.bounds(i, 2 * _SHOWN)[1] for i in candidates), _SHOWN)


@typed
def search_epsilon(epsilon: Epsilon | Exact, beta: Exact) -> Fraction:
    """What a search may spend on a sample drawn with chance β so that it costs ε: ln(1 + (e^ε − 1)
    / β), rounded down.

    >>> float(search_epsilon(0.1, safepub_parameters(0.9, "1e-5").beta))
    0.163160297521
    """
    exact, chance = Epsilon.of(epsilon), _chance(beta)
    return rounded_down(
        Fraction(logarithm(1 + _grown(exact)[0] / chance, _digits(exact))[0]), _SHOWN
    )


@typed
def sampled_epsilon(epsilon: Epsilon | Exact, beta: Exact) -> Fraction:
    """What an ε spent on a sample drawn with chance β costs the whole table: ln(1 + β(e^ε − 1)),
    rounded up.
    """
    exact, chance = Epsilon.of(epsilon), _chance(beta)
    return rounded_up(Fraction(logarithm(1 + chance * _grown(exact)[1], _digits(exact))[1]), _SHOWN)


@typed
def per_row(epsilon: Epsilon | Exact, delta: Exact, rows: int) -> tuple[Epsilon, Fraction]:
    """The (ε′, δ′) for a row that give (ε, δ) to a person who has up to so many rows; the standard
    definition only.

    ε′ = ε / rows, and δ′ = δ(e^ε′ − 1) / (e^ε − 1) rounded down.

    >>> per_row("ln(4)", "1e-6", 2)[0]
    Epsilon(factor=Fraction(1, 1), base=Fraction(2, 1))
    """
    whole_epsilon, whole_delta, share = (
        Epsilon.of(epsilon),
        delta_of(delta),
        Fraction(1, whole(rows, "rows")),
    )
    if share == 1:
        return whole_epsilon, whole_delta
    part = whole_epsilon * share
    return part, rounded_down(whole_delta * _grown(part)[0] / _grown(whole_epsilon)[1], _SHOWN)


def _grown(epsilon: Epsilon) -> Bounds:
    """e^ε − 1, to more digits than are shown, however small it is."""
    low, high = epsilon.exponential(_digits(epsilon))
    return low - 1, high - 1


def _digits(epsilon: Epsilon) -> int:
    """So many that e^ε and 1 differ in more of them than are shown."""
    return 2 * _SHOWN + len(str(floor(1 / epsilon.bounds()[0])))


def _chance(beta: Exact) -> Fraction:
    return fraction(beta, "beta", 0, 1, above=True)


def definition_of(definition: str) -> Definition:
    """One of the two definitions; else ParameterError."""
    if definition not in get_args(Definition):
        raise ParameterError(f"definition={definition!r}; it takes 'probabilistic' or 'standard'")
    return definition  # type: ignore[return-value]


def delta_of(delta: Exact, *, zero: bool = False) -> Fraction:
    """A δ above 0, or `zero` where there can be one, and below 1; else ParameterError.

    >>> delta_of("1e-6")
    Fraction(1, 1000000)
    """
    try:
        return fraction(delta, "delta", 0, 1, above=not zero, below=True)
    except ParameterError as error:
        raise ParameterError(f"{error}, far below 1 / (number of people), such as 1e-6") from None


@typed
def delta_concern(delta: Exact, people: int) -> str | None:
    """What to say of a δ that is too large for a publicly known number of people; None if it is
    not.

    >>> print(delta_concern("1e-6", 50_000))
    None
    """
    exact, number = delta_of(delta), whole(people, "people")
    if exact * number < 1:
        return None
    return (
        f"a delta of {short(exact)} is not below 1/{number:,}: publishing one random record of {number:,} would keep such "
        "a promise; give a far smaller one"
    )


def _beta(epsilon: Epsilon, given: Exact | None) -> Fraction:
    """The given chance if it is not above 1 − e^−ε, else the largest multiple of 1/2^64 that is
    not.
    """
    if given is None and epsilon > Epsilon(Fraction(_LARGEST_EPSILON)):
        raise ParameterError(
            f"an epsilon of {epsilon} for the anonymisation is too large for sampling to be of use; give an `epsilon` "
            f"that leaves it at most {_LARGEST_EPSILON}"
        )
    for digits in (_ENOUGH << turn for turn in count()):
        low, high = (1 - 1 / bound for bound in epsilon.exponential(digits))
        if given is None and floor(low * _GRID) == floor(high * _GRID):
            beta = Fraction(floor(low * _GRID), _GRID)
            break
        if given is not None and not low < (beta := _chance(given)) <= high:
            break
    if not beta:
        raise ParameterError(
            f"at an epsilon of {epsilon} no record would be drawn; give an `epsilon` that leaves it at least 1e-19"
        )
    if beta > low:
        raise ParameterError(
            f"beta={printed(beta)} is above 1 - e^-epsilon; a record may be drawn with a chance of at most "
            f"{printed(rounded_down(low, _SHOWN))}"
        )
    return beta


class _Profile:
    """For every i the largest chance, over all sizes n of a group, that a drawn count of at least i
    tells too much.

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
        if abs(about - limit) > margin + _ROUNDING * (
            log(delta.numerator) + log(delta.denominator)
        ):
            return about > limit
        low, high = self.bounds(i, _THOROUGH)
        if high <= delta or low > delta:
            return low > delta
        value = self.exactly(i)
        return value is None or value > delta

    def size(self, i: int) -> int:
        """The size of a group for which a count of at least i tells most."""
        low, high = self.rest
        for digits in (_ENOUGH << turn for turn in count(1)):
            if self.definition == "probabilistic":
                fewest, most = ceil(i / (1 - low)) - 1, ceil(i / (1 - high)) - 1
            else:
                fewest, most = max(1, ceil((i - 1) / (1 - low))), max(1, ceil((i - 1) / (1 - high)))
            if fewest == most:
                break
            low, high = self._rest(digits)
        return most

    def roughly(self, i: int) -> tuple[float, float]:
        """The logarithm of the value at i in floats, and a margin above its error."""
        n, (drawn, left) = self.size(i), self._logarithms
        parts = log(comb(n, i)), i * drawn, (n - i) * left
        odds, rest, over = (
            float(one)
            for one in (self.beta / (1 - self.beta), self.rest[0] * n, i - n + self.rest[0] * n)
        )
        term, value = 1.0, 0.0
        for j in range(i, n + 1):
            value += (
                term * (over + (j - i)) / rest if self.definition == "standard" else term
            )  # over is i − γn
            term *= (n - j) * odds / (j + 1)  # less than halved: see the proof
            if term < value * _ROUNDING / 16:
                break
        return sum(parts) + log(value), _ROUNDING * (sum(map(abs, parts)) + 1)

    def bounds(self, i: int, digits: int) -> Bounds:
        """The value at i, enclosed to about so many significant digits."""
        n, precision = self.size(i), digits + _SPARE
        down, up = rounding(precision)
        ways, drawn, left = (
            logarithm(Fraction(one), precision) for one in (comb(n, i), self.beta, 1 - self.beta)
        )
        term_low, term_high = exponential(
            down.add(ways[0], down.add(down.multiply(i, drawn[0]), down.multiply(n - i, left[0]))),
            up.add(ways[1], up.add(up.multiply(i, drawn[1]), up.multiply(n - i, left[1]))),
            precision,
        )
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
            term_low, term_high = (
                down.multiply(term_low, decimal(step, down)),
                up.multiply(term_high, decimal(step, up)),
            )
            beyond = up.multiply(
                2, term_high
            )  # all terms to come, as each is less than half the one before
            if beyond <= down.scaleb(low, -digits):
                break
        return Fraction(low), Fraction(up.add(high, beyond))

    def exactly(self, i: int) -> Fraction | None:
        """The value at i as a rational, if it is one and not too long to write down."""
        n, beta, (rest, same) = self.size(i), self.beta, self.rest
        rational = (
            self.definition == "probabilistic" or rest == same or n == i
        )  # the one weight of n = i is 1
        if not rational or n * beta.denominator.bit_length() > _LARGEST_SUM:
            return None
        value, scale = Fraction(0), Fraction(beta.denominator) ** n
        for j in range(i, n + 1):
            mass: int = (
                comb(n, j) * beta.numerator**j * (beta.denominator - beta.numerator) ** (n - j)
            )
            value += (
                mass * (1 - Fraction(n - j, n) / rest) if self.definition == "standard" else mass
            )
        return value / scale

    def last(self, delta: Fraction) -> int:
        """An i beyond which no value is above δ, as one with group size n is at most
        e^(−n·D(γ‖β)).
        """
        size = ceil(Fraction(logarithm(1 / delta, 10)[1]) / self.divergence)
        return floor((1 - self.rest[0]) * size) + 1

    @cached_property
    def divergence(self) -> Fraction:
        """D(γ‖β) = γ ln(γ/β) − (1 − γ)ε, rounded down."""
        rest = self.rest[1]
        return (1 - rest) * Fraction(
            logarithm((1 - rest) / self.beta, _ENOUGH)[0]
        ) - rest * self.epsilon.bounds(_ENOUGH)[1]

    @cached_property
    def _logarithms(self) -> tuple[float, float]:
        return float(logarithm(self.beta, 20)[0]), float(logarithm(1 - self.beta, 20)[0])

    def _rest(self, digits: int) -> Bounds:
        """1 − γ = (1 − β)e^−ε, enclosed to so many significant digits."""
        low, high = self.epsilon.exponential(digits)
        return (1 - self.beta) / high, (1 - self.beta) / low
