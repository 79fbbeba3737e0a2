"""Texts of ranges of numbers and what they mean: "10-19", "90+", "<10", "[0, 5)". Uses `kinds`; the rest of the room uses it.

Writing and reading live side by side, so that a hierarchy of intervals comes back from its file as what it was.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from shoal.data.kinds import Kind

__all__ = [
    "Axis",
    "Range",
    "above",
    "axis",
    "below",
    "between",
    "exact",
    "from_to",
    "or_more",
    "parse",
    "plain",
]

NUMBER = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"
BRACKETS = re.compile(rf"([\[\](]){NUMBER}[,;]{NUMBER}([\[\])])")  # [0, 5) and ARX's [0, 5[
INCLUSIVE = re.compile(rf"{NUMBER}(?:-|–|to){NUMBER}")
BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥){NUMBER}")
OR_MORE = re.compile(rf"{NUMBER}\+")


def exact(number: object) -> Decimal:
    """A number as the exact decimal it prints as; ValueError if it is none."""
    try:
        value = Decimal(str(number).strip())
    except ArithmeticError:
        raise ValueError("not a number") from None
    if not value.is_finite() or isinstance(number, bool):
        raise ValueError("not a finite number")
    return value


def plain(number: Decimal) -> str:
    """A number without exponent or trailing zeros."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def from_to(first: Decimal, last: Decimal, negative: bool) -> str:
    """Both ends included: 10-19, or "-9 to 0" in a domain with negative numbers."""
    return (
        plain(first)
        if first == last
        else f"{plain(first)}{' to ' if negative else '-'}{plain(last)}"
    )


def or_more(first: Decimal) -> str:
    """A whole number and all above it: 90+."""
    return f"{plain(first)}+"


def between(low: Decimal, high: Decimal, low_in: bool, high_in: bool) -> str:
    """An interval of a continuous domain."""
    return f"{'[' if low_in else '('}{plain(low)}, {plain(high)}{']' if high_in else ')'}"


def below(high: Decimal, high_in: bool = False) -> str:
    """Everything up to a bound."""
    return f"<{'=' if high_in else ''}{plain(high)}"


def above(low: Decimal, low_in: bool = True) -> str:
    """Everything from a bound on."""
    return f">{'=' if low_in else ''}{plain(low)}"


@dataclass(frozen=True)
class Range:
    """From low to high; infinite ends are out."""

    low: float
    high: float
    low_in: bool
    high_in: bool


def parse(text: str, kind: Kind) -> Range | None:
    """What a text means as a range of a numeric kind, None if it is no range. A range of integers is half open."""
    found = _parse(text, kind)
    if found is None or kind is not Kind.INTEGER:
        return (
            found
            if found is None or found.low < found.high or (found.low_in and found.high_in)
            else None
        )
    if not all(math.isinf(end) or end.is_integer() for end in (found.low, found.high)):
        return None
    low, high = found.low + (not found.low_in), found.high + found.high_in
    return Range(low, high, True, False) if low < high else None


def _parse(text: str, kind: Kind) -> Range | None:
    if match := BRACKETS.fullmatch(text):
        return Range(float(match[2]), float(match[3]), match[1] == "[", match[4] == "]")
    if match := OR_MORE.fullmatch(text):
        return Range(float(match[1]), math.inf, True, False)
    if match := BEYOND.fullmatch(text):
        end, included = float(match[2]), match[1] in ("<=", ">=", "≤", "≥")
        return (
            Range(-math.inf, end, False, included)
            if match[1][0] in "<≤"
            else Range(end, math.inf, included, False)
        )
    if kind is Kind.INTEGER:  # in a continuous domain "10-19" would leave open where 19.5 goes
        if match := INCLUSIVE.fullmatch(text):
            return Range(float(match[1]), float(match[2]), True, True)
        if match := re.fullmatch(NUMBER, text):
            return Range(float(match[1]), float(match[1]), True, True)
    return None


@dataclass(frozen=True)
class Axis:
    """Ranges laid side by side: `order[i]` is the place in the input of the i-th from the left; the rest as in `Hierarchy`."""

    order: list[int]
    cuts: tuple[float, ...]
    closed: str
    end_closed: bool


def axis(ranges: Sequence[Range]) -> Axis:
    """Ranges that meet without gap or overlap, as one axis; ValueError says what is in the way."""
    order = sorted(range(len(ranges)), key=lambda i: (ranges[i].low, ranges[i].high))
    row = [ranges[i] for i in order]
    inner = {after.low_in for after in row[1:]} or {row[0].low_in or not row[0].high_in}
    for one, after in pairwise(row):
        if one.high != after.low or one.high_in == after.low_in:
            word = (
                "a gap"
                if one.high < after.low or not (one.high_in or after.low_in)
                else "an overlap"
            )
            raise ValueError(
                f"there is {word} near {plain(exact(after.low))}"
                if math.isfinite(after.low)
                else "two are open"
            )
    if len(inner) > 1:
        raise ValueError("some are closed on the left and some on the right")
    left = inner.pop()
    near, far = (row[0].low, row[-1].high) if left else (row[-1].high, row[0].low)
    if math.isfinite(near) and not (row[0].low_in if left else row[-1].high_in):
        raise ValueError("the outermost is open on both sides")
    end_closed = math.isfinite(far) and (row[-1].high_in if left else row[0].low_in)
    return Axis(
        order, (*(one.low for one in row), row[-1].high), "left" if left else "right", end_closed
    )
