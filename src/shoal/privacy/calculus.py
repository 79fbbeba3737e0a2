"""Which k, β and δ belong to which ε: the parameters of SafePub, exact or rounded to the safe side.

The mechanism: every record is drawn with chance β, and a group is released iff at least k of its
records were drawn. Beside it stand what releases and rows add up to, and what sampling saves a
search. Every formula here, and that each loop may stop where it stops, is proven in
docs/proofs/safepub.md, with the same letters. Uses `exact`; promises, methods and `noise` use it.
"""

from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from math import ceil, comb, factorial, floor, inf, log, pi
from typing import Final, Literal, get_args

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
from shoal.zones import brief

__all__ = [
    "AUTO",
    "Definition",
    "SafePubParameters",
    "chosen_parameters",
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

AUTO: Final = "auto"
"""The word for a β that is chosen by about how many records there are."""

_GRID = 1 << 64
"""β is a multiple of 1 / _GRID, for which one random word decides a draw."""

_LARGEST_EPSILON = 20
"""Beyond, β is within 2·10⁻⁹ of 1 and k is in the thousand millions."""

_ROUNDING = 2.0**-44
"""The rounding error of five hundred operations on floats; there are fewer than that here."""

_SLACK = 2.0**-30
"""Far above the rounding error of a bound that only has to be near enough."""

_TERM = 2.0**-50
"""The rounding error of one more term of a sum and of what it is made from."""

_STEPS = 20
"""Into how many steps the chances are divided that β is chosen from."""

_FAR = 4
"""How many tables a group would have to be as large as for its β not to be looked at."""

_FACTORIALS = 1 << 10
"""Below this many, ways and factorials are computed exactly; others are too long to multiply."""

_LARGEST_SUM = 1 << 17
"""Bits of the largest integers worth adding up to decide one borderline case."""

# Digits: those to begin with, where more are taken if these do not decide; those to which a sum is
# known before it is taken exactly; more than cancel and than a power of many steps costs; and those
# of rounded results.
_ENOUGH = 40
_THOROUGH = 60
_SPARE = 30
_SHOWN = 12


@brief
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
    def crowd(self) -> int:
        """About how many records must share a row to make its release more likely than not."""
        return ceil(self.k / self.beta)

    @property
    def gamma(self) -> Fraction:
        """1 − (1 − β)e^−ε, rounded down.

        A group of which a larger share is drawn breaks the bound e^ε.
        """
        return rounded_down(1 - _Profile(self.epsilon, self.beta, self.definition).rest[1], 30)

    @property
    def is_usual(self) -> bool:
        """Whether β is at most 1 − e^−ε, so that leaving a record out never needs a δ."""
        return _within(self.epsilon, self.beta)

    def delta_at(self, epsilon: Epsilon | Exact) -> Fraction:
        """The δ that the same mechanism keeps at a larger ε, rounded up: the smoothness curve."""
        return delta_for(self.k, epsilon, self.definition, beta=self.beta)


@typed
def safepub_parameters(
    epsilon: Epsilon | Exact,
    delta: Exact,
    definition: Definition = "standard",
    *,
    beta: Exact | None = None,
) -> SafePubParameters:
    """The smallest k that keeps (ε, δ) by sampling and suppression alone.

    β is 1 − e^−ε unless one is given. One above that is for the standard definition only: more
    records are drawn, and larger groups are needed to hide in.

    >>> safepub_parameters(1, "1e-6").k, safepub_parameters(1, "1e-6", "probabilistic").k
    (58, 74)
    >>> safepub_parameters(1, "1e-6", beta="0.2").k, safepub_parameters(1, "1e-6", beta="0.8").k
    (12, 135)
    """
    exact = Epsilon.of(epsilon)
    chance = _beta(exact, beta, definition)
    return _parameters(exact, delta_of(delta), definition_of(definition), chance)


@lru_cache(maxsize=1024)
def _parameters(
    epsilon: Epsilon, delta: Fraction, definition: Definition, beta: Fraction
) -> SafePubParameters:
    k = max(profile.smallest(delta) for profile in _profiles(epsilon, beta, definition))
    return SafePubParameters(epsilon, delta, definition, k, beta)


@typed
def chosen_parameters(
    epsilon: Epsilon | Exact, delta: Exact, definition: Definition, records: int
) -> SafePubParameters:
    """The parameters whose β is expected to keep most of about that many records.

    A smaller β needs smaller groups and keeps less of each. How large they are is not known: a
    record's group is taken to be of every order of magnitude alike, up to half of all records. β
    is a multiple of 1/20, or 1 − e^−ε.

    >>> few, many = (chosen_parameters(1, "1e-6", "standard", n) for n in (300, 1_000_000))
    >>> (few.k, float(few.beta)), (many.k, float(many.beta))
    ((35, 0.5), (304, 0.9))
    """
    exact, failing, meant = Epsilon.of(epsilon), delta_of(delta), definition_of(definition)
    usual = safepub_parameters(exact, failing, meant)
    best, most = usual, _expected(usual, records)
    before = None
    for step in range(1, _STEPS):
        beta = Fraction(step, _STEPS)
        if beta > usual.beta and meant != "standard":
            break
        if beta > usual.beta and _hopeless(exact, failing, meant, beta, records):
            break
        parameters = _parameters(exact, failing, meant, beta)
        kept = _expected(parameters, records)
        if kept >= most:
            best, most = parameters, kept
        # Just above 1 − e^−ε, k leaps. Beyond the next peak the expectation only falls, and k takes
        # ever longer to find.
        if before is not None and kept < before:
            break
        if beta > usual.beta:
            before = kept
    return best


def _hopeless(
    epsilon: Epsilon, delta: Fraction, definition: Definition, beta: Fraction, records: int
) -> bool:
    """Whether groups would have to be so large that a table of that many records has none.

    It is known without k, which takes long to find where it is that large.
    """
    largest = max(profile.last(delta) for profile in _profiles(epsilon, beta, definition))
    return largest > _FAR * records * beta


def _expected(parameters: SafePubParameters, records: int) -> float:
    """The expected share of records that are released, up to a factor.

    A record is in a group of at least k/β with a chance in proportion to ln(N/2) − ln(k/β). Where
    no group is that large, what counts is how far k/β is from it.
    """
    crowds = float(records * parameters.beta / parameters.k)
    return float(parameters.beta) * log(crowds / 2) if crowds > 2 else crowds - 2


@typed
def delta_for(
    k: int,
    epsilon: Epsilon | Exact,
    definition: Definition = "standard",
    *,
    beta: Exact | None = None,
) -> Fraction:
    """The smallest δ for which sampling and suppressing groups below k keeps (ε, δ).

    It is rounded up in the twelfth digit.

    >>> float(delta_for(74, 2, "probabilistic", beta=safepub_parameters(1, "1e-6").beta))
    1.52955666275e-11
    """
    exact = Epsilon.of(epsilon)
    profiles = _profiles(exact, _beta(exact, beta, definition), definition_of(definition))
    return max(profile.worst(whole(k, "k")) for profile in profiles)


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


def _beta(epsilon: Epsilon, given: Exact | None, definition: Definition) -> Fraction:
    """The chance β with which records are drawn.

    It is the given one, else the largest multiple of 1/2^64 that is not above 1 − e^−ε. Above that
    the order "with a record less" needs a δ too, which is derived for the standard definition only.
    """
    if given is None:
        return _largest_beta(epsilon)
    beta = fraction(given, "beta", 0, 1, above=True, below=True)
    if definition == "standard" or _within(epsilon, beta):
        return beta
    largest = rounded_down(_drawn(epsilon, _ENOUGH)[0], _SHOWN)
    raise ParameterError(
        "is above 1 - e^-epsilon",
        f"by the probabilistic definition a record may be drawn with a chance of at most "
        f"{printed(largest)}",
        option="beta",
        given=printed(beta),
    )


def _within(epsilon: Epsilon, beta: Fraction) -> bool:
    """Whether β is at most 1 − e^−ε."""
    for digits in (_ENOUGH << turn for turn in count()):
        low, high = _drawn(epsilon, digits)
        if beta <= low or beta > high:
            break
    return beta <= low


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


def _log_ways(n: int, j: int) -> tuple[float, ...]:
    """The logarithm of n over j, as a sum of floats.

    Each has a relative error of a few roundings. They are apart, so that a margin by their sizes
    covers what cancels.
    """
    if min(j, n - j) < _FACTORIALS:
        return (log(comb(n, j)),)
    return *_log_factorial(n, 1), *_log_factorial(j, -1), *_log_factorial(n - j, -1)


def _log_factorial(n: int, sign: int) -> tuple[float, ...]:
    if n < _FACTORIALS:
        return (sign * log(factorial(n)),)
    # Stirling's series: what is left out is below 1/(1260·n⁵), far below the rounding of a part.
    small = log(2 * pi * n) / 2 + 1 / (12 * n) - 1 / (360 * n**3)
    return sign * n * log(n), float(-sign * n), sign * small


class _Profile:
    """For every i, how likely a drawn count of at least i is to reveal too much.

    It is the largest chance over all sizes n of a group, where the group has a record more.

    Probabilistic: P[X ≥ i] for the largest n with γn < i. Standard: Σ_{j ≥ i} P[X = j]·(1 − (n − j)
    / ((1 − γ)n)) for the first n ≥ 1 with γn ≥ i − 1. X is binomial with n and β. The δ of a k is
    the largest of these values over all i ≥ k.
    """

    def __init__(self, epsilon: Epsilon, beta: Fraction, definition: Definition) -> None:
        self.epsilon, self.beta, self.definition = epsilon, beta, definition
        self.rest = self._rest(_ENOUGH)

    def smallest(self, delta: Fraction) -> int:
        """The smallest k for which this order of neighbours keeps δ."""
        above = (i for i in range(self.last(delta), 0, -1) if self.exceeds(i, delta))
        return next(above, 0) + 1

    def worst(self, k: int) -> Fraction:
        """The largest value from k on, rounded up."""
        highest: dict[int, float] = {}
        surely = -inf
        for i in count(k):
            about, margin = self.roughly(i)
            highest[i] = about + margin
            surely = max(surely, about - margin)
            # No value to come is above this logarithm.
            if self.at_most(self.size(i)) <= surely:
                break
        candidates = [i for i, logarithm in highest.items() if logarithm >= surely]
        return rounded_up(max(self.bounds(i, 2 * _SHOWN)[1] for i in candidates), _SHOWN)

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
        counts = self.counts(n, i)
        first = counts[0]
        scale = log(self.scale(_ENOUGH)[1])
        parts = *_log_ways(n, first), first * drawn, (n - first) * left, scale
        rest = float(self.rest[0] * n)
        over = float(self._weight(n, first, self.rest[0]) * self.rest[0] * n)
        chances = float(self.chances)
        beyond = float(self.beyond) * 16 / _ROUNDING
        term, value = 1.0, 0.0
        terms = 0
        for terms, j in enumerate(counts):
            weight = (over + terms) / rest if self.definition == "standard" else 1.0
            value += term * weight
            ways, ways_before = self._ways(n, j)
            term *= chances * ways / ways_before
            if term * beyond < value:
                break
        margin = max(_ROUNDING, terms * _TERM) * (sum(map(abs, parts)) + 1)
        return sum(parts) + log(value), margin

    def bounds(self, i: int, digits: int) -> Bounds:
        """The value at i, enclosed to about that many significant digits."""
        n, precision = self.size(i), digits + _SPARE
        down, up = rounding(precision)
        counts = self.counts(n, i)
        term_low, term_high = self._mass(n, counts[0], precision)
        rests = self._rest(precision)
        low = high = Decimal(0)
        weight_low = weight_high = Decimal(1)
        left_out = decimal(self.beyond, up)
        for j in counts:
            if self.definition == "standard":
                weights = sorted(self._weight(n, j, rest) for rest in rests)
                weight_low = decimal(max(weights[0], Fraction(0)), down)
                weight_high = decimal(weights[1], up)
            low = down.add(low, down.multiply(term_low, weight_low))
            high = up.add(high, up.multiply(term_high, weight_high))
            step = self.chances * Fraction(*self._ways(n, j))
            term_low = down.multiply(term_low, decimal(step, down))
            term_high = up.multiply(term_high, decimal(step, up))
            # Above all terms to come together: they fall at least geometrically.
            beyond = up.multiply(left_out, term_high)
            if beyond <= down.scaleb(low, -digits):
                break
        scale_low, scale_high = self.scale(precision)
        return Fraction(low) * scale_low, Fraction(up.add(high, beyond)) * scale_high

    def _mass(self, n: int, j: int, digits: int) -> tuple[Decimal, Decimal]:
        """P[X = j] for groups of n, between two decimals."""
        down, up = rounding(digits)
        ways = logarithm(Fraction(comb(n, j)), digits)
        drawn = logarithm(self.beta, digits)
        left = logarithm(1 - self.beta, digits)
        low = down.add(down.multiply(j, drawn[0]), down.multiply(n - j, left[0]))
        high = up.add(up.multiply(j, drawn[1]), up.multiply(n - j, left[1]))
        return exponential(down.add(ways[0], low), up.add(ways[1], high), digits)

    def exactly(self, i: int) -> Fraction | None:
        """The value at i as a rational, if it is one and not too long to write down."""
        n, (rest, same) = self.size(i), self.rest
        drawn, words = self.beta.numerator, self.beta.denominator
        counts = self.counts(n, i)
        # Where all are drawn there is one weight, which is 1.
        rational = self.definition == "probabilistic" or rest == same or counts == range(n, n + 1)
        if not rational or n * words.bit_length() > _LARGEST_SUM:
            return None
        value = Fraction(0)
        for j in counts:
            mass = Fraction(comb(n, j) * drawn**j * (words - drawn) ** (n - j))
            if self.definition == "standard":
                mass *= self._weight(n, j, rest)
            value += mass
        return value * self.scale(_ENOUGH)[0] / Fraction(words) ** n

    def last(self, delta: Fraction) -> int:
        """An i beyond which no value is above δ."""
        enough = 1
        limit = log(delta.numerator) - log(delta.denominator)
        while self.at_most(enough) > limit:
            enough *= 2
        sizes = range(enough // 2, enough)
        size = enough // 2 + bisect_left(sizes, True, key=lambda n: self.at_most(n) <= limit)
        return floor((1 - self.rest[0]) * size) + 1

    def at_most(self, n: int) -> float:
        """A logarithm that no value with a group size of n or more is above.

        The smaller of two bounds, which both fall with n: e^(−n·D(γ‖β)), and the same times what
        Stirling's formula gives.
        """
        gamma, steep = 1 - float(self.rest[0]), -log(1 - self.ratio)
        scale = log(self.scale(_ENOUGH)[1])
        falling = scale - n * float(self.divergence)
        bound = falling + log(self.heaviest)
        spare = self._spare(n, gamma)
        if spare > 0:
            sharper = falling - log(2 * pi * spare) / 2 + steep
            if self.definition == "standard":
                sharper += steep - log((1 - gamma) * n)
            bound = min(bound, sharper)
        return bound + _SLACK * (abs(falling) + abs(bound) + 1)

    def _spare(self, n: int, gamma: float) -> float:
        """What n·x(1 − x) is at least, for the share x of the likeliest count."""
        return gamma * (n * (1 - gamma) - 1)

    @cached_property
    def divergence(self) -> Fraction:
        """D(γ‖β) = γ ln(γ/β) − (1 − γ)ε, rounded down."""
        _, rest = self.rest
        low, _ = logarithm((1 - rest) / self.beta, _ENOUGH)
        return (1 - rest) * Fraction(low) - rest * self.epsilon.bounds(_ENOUGH)[1]

    @property
    def beyond(self) -> Fraction:
        """By what a term is to be multiplied to be above all terms from it on together."""
        return self.heaviest / (1 - self.ratio)

    @cached_property
    def ratio(self) -> Fraction:
        """What share of the term before each term is at most: e^−ε·β/γ, rounded up."""
        _, rest = self.rest
        return rounded_up(rest / (1 - rest) * self.chances, _ENOUGH)

    @cached_property
    def heaviest(self) -> Fraction:
        """What no weight is above."""
        return Fraction(1)

    @cached_property
    def _logarithms(self) -> tuple[float, float]:
        return float(logarithm(self.beta, 20)[0]), float(logarithm(1 - self.beta, 20)[0])

    def counts(self, n: int, i: int) -> range:
        """The counts that reveal too much, beginning with the likeliest."""
        return range(i, n + 1)

    @cached_property
    def chances(self) -> Fraction:
        """With `_ways`: how much likelier the next of these counts is than the one before."""
        return self.beta / (1 - self.beta)

    def _ways(self, n: int, j: int) -> tuple[int, int]:
        return n - j, j + 1

    def _weight(self, n: int, j: int, rest: Fraction) -> Fraction:
        return 1 - Fraction(n - j, n) / rest

    def scale(self, digits: int) -> Bounds:
        """What the sum is multiplied by."""
        return Fraction(1), Fraction(1)

    def _rest(self, digits: int) -> Bounds:
        """1 − γ = (1 − β)e^−ε, enclosed to that many significant digits."""
        low, high = self.epsilon.exponential(digits)
        return (1 - self.beta) / high, (1 - self.beta) / low


class _LessProfile(_Profile):
    """The same for a group with a record less, which matters where β is above 1 − e^−ε.

    Then it is a count below i, or none that is seen, that may reveal too much: e^ε Σ_{j < i}
    P[X = j]·((n − j) / ((1 − γ)n) − 1), with γ = 1 − (1 − β)e^ε and the first n ≥ 1 with
    γn ≥ i − 1. It is for the standard definition.
    """

    @cached_property
    def divergence(self) -> Fraction:
        """D(γ‖β) = (1 − γ)ε − γ ln(β/γ), rounded down."""
        rest, _ = self.rest
        _, high = logarithm(self.beta / (1 - rest), _ENOUGH)
        return rest * self.epsilon.bounds(_ENOUGH)[0] - (1 - rest) * Fraction(high)

    @cached_property
    def ratio(self) -> Fraction:
        """e^−ε·γ/β, rounded up."""
        return rounded_up(self.heaviest * self.chances, _ENOUGH)

    @cached_property
    def heaviest(self) -> Fraction:
        """γ/(1 − γ), rounded up."""
        rest, _ = self.rest
        return rounded_up((1 - rest) / rest, _ENOUGH)

    def _spare(self, n: int, gamma: float) -> float:
        return (1 - gamma) * (n * gamma - 1)

    def counts(self, n: int, i: int) -> range:
        return range(i - 1, -1, -1)

    @cached_property
    def chances(self) -> Fraction:
        return (1 - self.beta) / self.beta

    def _ways(self, n: int, j: int) -> tuple[int, int]:
        return j, n - j + 1

    def _weight(self, n: int, j: int, rest: Fraction) -> Fraction:
        return Fraction(n - j, n) / rest - 1

    def scale(self, digits: int) -> Bounds:
        return self.epsilon.exponential(digits)

    def _rest(self, digits: int) -> Bounds:
        """1 − γ = (1 − β)e^ε, enclosed to that many significant digits."""
        low, high = self.epsilon.exponential(digits)
        return (1 - self.beta) * low, (1 - self.beta) * high


def _profiles(epsilon: Epsilon, beta: Fraction, definition: Definition) -> list[_Profile]:
    """With a record more and, where that order needs a δ, with a record less."""
    both = [_Profile(epsilon, beta, definition)]
    if not _within(epsilon, beta):
        both.append(_LessProfile(epsilon, beta, definition))
    return both
