"""`Epsilon`: the ε of a promise as an exact number, be it 0.9 or ln(2).

Enclosures come from the logarithm and the exponential of the standard library's `decimal`, which
are correctly rounded: the true value lies between the neighbours of what they give. Uses `numbers`;
promises and their parameters use it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count

from shoal.errors import ParameterError
from shoal.exact.numbers import Exact, fraction, printed

__all__ = [
    "Bounds",
    "Epsilon",
    "decimal",
    "exponential",
    "logarithm",
    "rounded_down",
    "rounded_up",
    "rounding",
    "total",
]

Bounds = tuple[Fraction, Fraction]
"""Two numbers with the true one between them, or equal to it."""

_LARGEST_BASE = 10**18
"""Of numerator and denominator in a logarithm, so that roots found in floats are right."""

_LARGEST_EXPONENT = 700
"""e to the power of more does not bound anything, nor does it fit a float."""

_SPARE = 25
"""Digits: above those lost in ln a − ln b for any a / b allowed, and those before the point in
e^ε.
"""

_LOGARITHM = re.compile(r"(?:(?P<factor>[^*()]+)\*)?ln\((?P<base>[^()]+)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Epsilon:
    """A positive number that is rational, or a rational times the logarithm of a rational.

    `base` is None for a rational. Otherwise the number is factor · ln(base), in a form of its own:
    the base is above 1 and no power of another rational, so that equal numbers have equal parts.

    >>> print(Epsilon.of("ln(4)") * Fraction(9, 10), Epsilon.of(0.9) < Epsilon.of("ln(3)"))
    1.8*ln(2) True
    """

    factor: Fraction
    base: Fraction | None = None

    def __post_init__(self) -> None:
        factor, base = self.factor, self.base
        if not isinstance(factor, Fraction | int) or not isinstance(base, Fraction | int | None):
            raise ParameterError(
                "the parts of an Epsilon are fractions",
                "make one with Epsilon.of, which reads 1, 0.9 or ln(2)",
            )
        if base is not None:
            if base <= 0 or max(base.numerator, base.denominator) > _LARGEST_BASE:
                raise ParameterError(
                    f"ln({base}) is out of range",
                    f"write ln(a/b) with whole numbers from 1 to {_LARGEST_BASE:,}",
                )
            if base < 1:
                factor, base = -factor, 1 / base
            base, power = _root(base)
            factor *= power
        if factor <= 0 or base == 1:
            raise ParameterError(
                "is not above 0",
                "give a number such as 0.9, 1/3 or ln(2)",
                option="epsilon",
                given=self._text(),
            )
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "base", base)

    @classmethod
    def of(cls, value: "Epsilon | Exact", option: str = "epsilon") -> "Epsilon":
        """The number meant by 1, 0.9, "9/10", "ln(2)", "ln(3/2)" or "0.9*ln(2)".

        ParameterError for anything that is not a number above 0.
        """
        if isinstance(value, Epsilon):
            return value
        written = _LOGARITHM.fullmatch(value.replace(" ", "")) if isinstance(value, str) else None
        if not written:
            hint = ", or a logarithm such as ln(2)"
            return cls(fraction(value, option, 0, above=True, hint=hint))
        try:
            return cls(fraction(written["factor"] or 1, option), fraction(written["base"], option))
        except ParameterError:
            raise ParameterError(
                "is not a number above 0",
                "write ln(2), ln(3/2) or 0.9*ln(2), with numbers of up to 18 digits",
                option=option,
                given=repr(value),
            ) from None

    def __str__(self) -> str:
        """Exact, and read back by `of`."""
        return self._text()

    def __mul__(self, share: Fraction | int) -> "Epsilon":
        return Epsilon(self.factor * share, self.base)

    __rmul__ = __mul__

    def __lt__(self, other: "Epsilon") -> bool:
        # Unequal parts are unequal numbers: e^r is transcendental for a rational r, and two bases
        # that are not powers have no power in common. So some precision tells them apart.
        if self == other:
            return False
        for digits in (20 << turn for turn in count()):
            (low, high), (lowest, highest) = self.bounds(digits), other.bounds(digits)
            if high < lowest or highest < low:
                break
        return high < lowest

    def __le__(self, other: "Epsilon") -> bool:
        return not other < self

    def __gt__(self, other: "Epsilon") -> bool:
        return other < self

    def __ge__(self, other: "Epsilon") -> bool:
        return not self < other

    def __float__(self) -> float:
        return float(self.bounds()[0])

    def bounds(self, digits: int = 30) -> Bounds:
        """The number itself if it is rational, else enclosed to that many significant digits."""
        if self.base is None:
            return self.factor, self.factor
        low, high = logarithm(self.base, digits)
        return self.factor * Fraction(low), self.factor * Fraction(high)

    def exponential(self, digits: int = 30) -> Bounds:
        """e^ε itself if it is rational, else enclosed to that many significant digits."""
        if self.bounds(5)[1] > _LARGEST_EXPONENT:
            raise ParameterError(
                f"an epsilon of {self} promises nothing",
                f"give an `epsilon` of at most {_LARGEST_EXPONENT:,}",
            )
        if self.base is not None and self.factor.denominator == 1:
            exact = self.base**self.factor.numerator
            return exact, exact
        (low, high), (down, up) = self.bounds(digits + _SPARE), rounding(digits + _SPARE)
        power = exponential(decimal(low, down), decimal(high, up), digits)
        return Fraction(power[0]), Fraction(power[1])

    def _text(self) -> str:
        if self.base is None:
            return printed(self.factor)
        if self.factor.denominator == 1 and 0 < self.factor < 60:
            power = self.base**self.factor.numerator
            if max(power.numerator, power.denominator) <= _LARGEST_BASE:
                return f"ln({power})"
        return f"{printed(self.factor)}*ln({self.base})"


def total(epsilons: Iterable[Epsilon]) -> Epsilon:
    """The sum: exact if all are rational or all have one base, else rounded up in the 30th digit.

    >>> print(total([Epsilon.of("0.9*ln(2)"), Epsilon.of("ln(2)")]))
    1.9*ln(2)
    >>> print(total([Epsilon.of(0.1), Epsilon.of(0.2)]))
    0.3
    """
    given = list(epsilons)
    if not given:
        raise ParameterError(
            "a sum of no epsilons is 0, which is not an epsilon", "give one or more"
        )
    bases = {epsilon.base for epsilon in given}
    if len(bases) == 1:
        return Epsilon(sum((epsilon.factor for epsilon in given), Fraction(0)), bases.pop())
    upper = sum((epsilon.bounds(40)[1] for epsilon in given), Fraction(0))
    return Epsilon(rounded_up(upper, 30))


@lru_cache(maxsize=256)
def rounding(digits: int) -> tuple[Context, Context]:
    """Arithmetic with that many digits that rounds down, and one that rounds up."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    up = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return down, up


def decimal(number: Fraction, to: Context) -> Decimal:
    """A rational, rounded as the context says."""
    return to.divide(Decimal(number.numerator), Decimal(number.denominator))


def rounded_down(number: Fraction, digits: int) -> Fraction:
    """The largest decimal with that many significant digits that is not above a number."""
    return Fraction(decimal(number, rounding(digits)[0]))


def rounded_up(number: Fraction, digits: int) -> Fraction:
    """The smallest decimal with that many significant digits that is not below a number."""
    return Fraction(decimal(number, rounding(digits)[1]))


@lru_cache(maxsize=256)
def logarithm(number: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """ln of a positive rational between two decimals.

    That many digits are right unless the number is within 10⁻¹⁸ of 1.
    """
    down, up = rounding(digits + _SPARE)
    low = down.next_minus(down.ln(decimal(number, down)))
    high = up.next_plus(up.ln(decimal(number, up)))
    return low, high


@lru_cache(maxsize=256)
def exponential(low: Decimal, high: Decimal, digits: int) -> tuple[Decimal, Decimal]:
    """e to a power that lies between two decimals."""
    down, up = rounding(digits + _SPARE)
    return down.next_minus(down.exp(low)), up.next_plus(up.exp(high))


def _root(number: Fraction) -> tuple[Fraction, int]:
    """The rational and the largest power of it that a rational above 1 is."""
    for power in range(number.numerator.bit_length(), 1, -1):
        over = round(number.numerator ** (1 / power))
        under = round(number.denominator ** (1 / power))
        if over**power == number.numerator and under**power == number.denominator:
            return Fraction(over, under), power
    return number, 1
