"""Numbers that a promise depends on: whole or rational, never rounded on the way in.

Uses `errors`; models, promises and methods use it.
"""

import operator
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import count
from math import ceil, floor
from typing import TypeAlias

from shoal.errors import ParameterError

__all__ = [
    "Exact",
    "fraction",
    "percent",
    "percent_down",
    "percent_up",
    "printed",
    "short",
    "whole",
]

Exact: TypeAlias = Fraction | int | float | Decimal | str
"""What is taken for a rational; a float or a text is the exact decimal it prints as: 0.2 is one
fifth.
"""

_NUMBERS = str | int | float | Decimal | None
"""What may be meant for a number, and so may be shown in a message."""

_LONGEST = 400
"""Digits on either side of the point; a double never needs more."""

_ROUNDING = 1e-12
"""Shares below are what is left of adding floats, not shares of anything."""

_SMALLEST = 1e-6
"""The smallest share that is shown in digits."""


def fraction(
    value: Exact,
    option: str,
    lowest: int | None = None,
    highest: int | None = None,
    *,
    above: bool = False,
    below: bool = False,
    hint: str = "",
) -> Fraction:
    """The rational that `value` prints as, within bounds.

    It lies between `lowest` and `highest`, or strictly between `above` and `below`.

    Else it is a ParameterError, which ends with the `hint`.

    >>> fraction(0.2, "t"), fraction("1/3", "t"), fraction(2, "t")
    (Fraction(1, 5), Fraction(1, 3), Fraction(2, 1))
    """
    takes = f"it takes {_range(lowest, highest, above, below)}{hint}"
    try:
        if isinstance(value, bool):
            raise ValueError("true and false are not numbers")
        exact = value if isinstance(value, Fraction) else _read(str(value).strip())
    except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
        raise ParameterError(
            "is not a finite number", takes, option=option, given=_shown(value)
        ) from None
    too_low = lowest is not None and (exact <= lowest if above else exact < lowest)
    too_high = highest is not None and (exact >= highest if below else exact > highest)
    if too_low or too_high:
        raise ParameterError("is out of range", takes, option=option, given=_shown(value))
    return exact


def whole(value: object, option: str, lowest: int = 1) -> int:
    """A whole number of at least `lowest`; else ParameterError.

    A float is refused even where it is whole.
    """
    takes = f"it takes a whole number from {lowest}"
    try:
        if isinstance(value, bool):
            raise TypeError("true and false are not numbers")
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(
            "is not a whole number", takes, option=option, given=_shown(value)
        ) from None
    if number < lowest:
        raise ParameterError("is out of range", takes, option=option, given=str(number))
    return number


def printed(number: Fraction) -> str:
    """The shortest exact text: a decimal where there is one, else a quotient.

    `fraction` reads both back.

    >>> printed(Fraction(1, 5)), printed(Fraction(2)), printed(Fraction(1, 3))
    ('0.2', '2', '1/3')
    """
    if 10 ** number.denominator.bit_length() % number.denominator:
        return str(number)  # no finite decimal
    digits = next(digits for digits in count() if 10**digits % number.denominator == 0)
    text = str(abs(number.numerator) * 10**digits // number.denominator).rjust(digits + 1, "0")
    if digits:
        text = f"{text[:-digits]}.{text[-digits:]}"
    return f"-{text}" if number < 0 else text


def short(number: Fraction) -> str:
    """As `printed`, but with an exponent where that makes a small number shorter.

    `fraction` reads that back too.

    >>> short(Fraction(1, 10**6)), short(Fraction(1, 100)), short(Fraction(1, 3))
    ('1e-6', '0.01', '1/3')
    """
    text = printed(number)
    if "/" in text or abs(number) >= 1:
        return text
    return min(text, f"{Decimal(text):e}", key=len)


def percent(share: float) -> str:
    """A share for people; one that is not all of it is never shown as 100 %.

    >>> percent(0.123), percent(0.9999), percent(1e-8), percent(1e-16)
    ('12.3 %', 'over 99.9 %', 'under 0.0001 %', '0 %')
    """
    if abs(share) < _ROUNDING:
        return "0 %"
    if 0 < share < _SMALLEST:
        return f"under {_SMALLEST * 100:g} %"
    text = f"{share * 100:.3g}"
    return "over 99.9 %" if text == "100" and share < 1 else f"{text} %"


def percent_up(share: Fraction) -> str:
    """A share that something is at most, for people: rounded up.

    >>> percent_up(Fraction(2, 3)), percent_up(Fraction(1, 2)), percent_up(Fraction(1, 30000))
    ('66.7 %', '50 %', '0.00334 %')
    """
    digits = _digits(share)
    return f"{ceil(share * 100 * digits) / digits:g} %"


def percent_down(share: Fraction) -> str:
    """A share that something is at least, for people: rounded down.

    >>> percent_down(Fraction(2, 3)), percent_down(Fraction(1, 300))
    ('66.6 %', '0.333 %')
    """
    digits = _digits(share)
    return f"{floor(share * 100 * digits) / digits:g} %"


def _digits(share: Fraction) -> int:
    """A power of ten that leaves a percentage the three figures that `percent` shows."""
    digits = 10
    while 0 < share * digits < 1 and digits < 10**9:
        digits *= 10
    return digits


def _read(text: str) -> Fraction:
    if "/" in text:
        return Fraction(text)
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError("not finite")
    # 1e999999999 is a short text and a number that fills the memory.
    if max(abs(number.adjusted()), len(number.as_tuple().digits)) > _LONGEST:
        raise ValueError("longer than any number meant")
    return Fraction(number)


def _range(lowest: int | None, highest: int | None, above: bool, below: bool) -> str:
    """The numbers that are taken, in words."""
    if lowest is None:
        start = "any number"
    elif above:
        start = f"a number above {lowest}"
    else:
        start = f"a number from {lowest}"
    if highest is None:
        return start
    return f"{start} and below {highest}" if below else f"{start} to {highest}"


def _shown(value: object) -> str:
    """A number as it was given; anything else by its type alone, for it may be somebody's data."""
    if isinstance(value, Fraction):
        return printed(value)
    return repr(value) if isinstance(value, _NUMBERS) else type(value).__name__
