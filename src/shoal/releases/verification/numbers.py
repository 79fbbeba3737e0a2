"""Numbers of certificates, and an arithmetic of its own: intervals, logarithms, many digits.

Whatever a promise depends on is rational, or a decimal with more digits than the comparison
needs. Nothing here comes from `exact` or from the calculus that the methods use. Uses `decimal`
and `fractions`; the checks of methods use it.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction

__all__ = [
    "CLEARLY",
    "MOST_STEPS",
    "StatedEpsilon",
    "as_decimal",
    "digits_for",
    "is_numeric",
    "next_decimal",
    "noise_scale",
    "number",
    "precision",
    "rounded",
    "whole",
]

MOST_STEPS = 400_000
"""Terms of a sum that are added up at most, which takes about a second."""

CLEARLY = Fraction(1, 10**30)
"""A relative difference; sums have far more digits than this."""

_LARGEST_EPSILON = 1000
"""The largest ε that says anything."""

_LARGEST_BASE = 10**18

_SPARE_DIGITS = 40
"""Of which up to 18 are lost where the base of a logarithm is close to 1."""

# Short enough that no number fills the memory.
_NUMBER = r"[0-9]{1,400}(?:/[0-9]{1,400}|(?:\.[0-9]{1,400})?(?:e-[0-9]{1,3})?)"

_EPSILON = re.compile(
    rf"(?P<factor>{_NUMBER})|(?:(?P<times>{_NUMBER})\*)?ln\((?P<base>{_NUMBER})\)"
)


def number(given: object) -> Fraction:
    """The rational that a certificate writes as a text; ValueError if Shoal does not write it so.

    >>> number("1/3"), number("1e-6")
    (Fraction(1, 3), Fraction(1, 1000000))
    """
    text = str(given)
    if not re.fullmatch(_NUMBER, text):
        raise ValueError("not a number that Shoal writes")
    return Fraction(text)


def whole(given: object) -> int:
    """A whole number from 1, else ValueError."""
    if type(given) is not int or given < 1:
        raise ValueError("not a whole number from 1")
    return given


def is_numeric(given: object) -> bool:
    """Whether this is a number, nothing, or such by names."""
    if isinstance(given, Mapping):
        return all(map(is_numeric, given.values()))
    if given is None:
        return True
    return type(given) in (int, float, str) and re.fullmatch(_NUMBER, str(given)) is not None


def precision(digits: int) -> AbstractContextManager[Context]:
    """A context in which decimals have that many digits, and any exponent."""
    return localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX))


def as_decimal(exact: Fraction) -> Decimal:
    """A rational, to the digits of the context."""
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def rounded(exact: Fraction, digits: int, direction: str) -> Fraction:
    """A rational with that many digits."""
    context = Context(prec=digits, rounding=direction, Emin=MIN_EMIN, Emax=MAX_EMAX)
    with localcontext(context):
        return Fraction(as_decimal(exact))


def next_decimal(exact: Fraction, digits: int) -> Fraction:
    """The next larger decimal with that many significant digits.

    The number itself must be one, or it was not derived: ValueError.
    """
    with precision(digits) as context:
        decimal = as_decimal(exact)
        if Fraction(decimal) != exact:
            raise ValueError("more digits than a derived number has")
        return Fraction(context.next_plus(decimal))


@dataclass(frozen=True)
class StatedEpsilon:
    """An ε as certificates write it: factor, or factor · ln(base)."""

    factor: Fraction
    base: Fraction | None

    @classmethod
    def read(cls, given: object) -> "StatedEpsilon":
        """The ε of a text such as "1/2", "ln(3)" or "0.9*ln(2)"; ValueError if it is not one."""
        match = _EPSILON.fullmatch(str(given))
        if not match:
            raise ValueError("not an epsilon that Shoal writes")
        if match["factor"]:
            epsilon = cls(number(match["factor"]), None)
        else:
            epsilon = cls(number(match["times"] or 1), number(match["base"]))
            epsilon._require_base()
        if not 0 < epsilon.value(10) <= _LARGEST_EPSILON:
            raise ValueError("not an epsilon that promises anything")
        return epsilon

    def _require_base(self) -> None:
        base = self.base or Fraction(0)
        if base <= 1 or max(base.as_integer_ratio()) > _LARGEST_BASE:
            raise ValueError("not a base that Shoal writes")

    def equals(self, other: "StatedEpsilon") -> bool:
        """Whether they are the same number, as ln(9) / 2 and ln(3) are."""
        # Far more digits than `CLEARLY` asks for.
        value = Fraction(self.value(60))
        return abs(value - Fraction(other.value(60))) <= CLEARLY * value

    def times(self, share: Fraction) -> "StatedEpsilon":
        return StatedEpsilon(self.factor * share, self.base)

    def value(self, digits: int) -> Decimal:
        """To that many digits."""
        with precision(digits + _SPARE_DIGITS):
            factor = as_decimal(self.factor)
            if self.base is None:
                return factor
            return factor * as_decimal(self.base).ln()

    def power(self, digits: int) -> tuple[Fraction, Fraction]:
        """e^ε itself if it is rational, else enclosed to that many digits."""
        if self.base is not None and self._is_whole_power():
            exact = self.base**self.factor.numerator
            return exact, exact
        with precision(digits + _SPARE_DIGITS):
            about = Fraction(self.value(digits + 10).exp())
        error = Fraction(1, 10**digits)
        return about * (1 - error), about * (1 + error)

    def _is_whole_power(self) -> bool:
        return self.factor.denominator == 1 and self.factor <= _LARGEST_EPSILON


def digits_for(epsilon: StatedEpsilon, delta: Fraction) -> int:
    """Enough digits that neither e^ε − 1 nor what exceeds δ gets lost."""
    rough = epsilon.value(10)
    digits_of_delta = len(str(int(1 / delta)))
    digits_of_epsilon = len(str(int(1 / Fraction(rough))))
    return 60 + digits_of_delta + digits_of_epsilon + int(rough)


def noise_scale(epsilon: StatedEpsilon, share: int) -> Fraction:
    """share / ε, rounded up to six digits: the scale of noise that keeps ε."""
    divisor = epsilon.factor
    if epsilon.base is not None:
        divisor = Fraction(epsilon.value(60))
    return rounded(share / divisor, 6, ROUND_CEILING)
