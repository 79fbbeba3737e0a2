"""Texts of ranges and what they mean: "10-19", "90+", "<10", "[0, 5)", "[2024-01-01, 2024-01-31]".

Uses `kinds`; the rest of the room uses it. Writing and reading live side by side, so that a
hierarchy of intervals comes back from its file as what it was. Nobody else composes such texts.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from shoal.data.kinds import Kind

__all__ = [
    "NumberRange",
    "Tiling",
    "above",
    "below",
    "between",
    "exact",
    "first_to_last",
    "from_to",
    "inclusive_spellings",
    "or_more",
    "parse",
    "parse_ends",
    "plain",
    "range_spellings",
    "tiling",
    "whole_spellings",
]

NUMBER = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"
# [0, 5) and ARX's [0, 5[
BRACKETS = re.compile(rf"([\[\](]){NUMBER}[,;]{NUMBER}([\[\])])")
INCLUSIVE = re.compile(rf"{NUMBER}(?:-|–|to){NUMBER}")
BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥){NUMBER}")
OR_MORE = re.compile(rf"{NUMBER}\+")
ENDS = re.compile(r"\[(\S+), (\S+)\]")


@dataclass(frozen=True)
class NumberRange:
    """From low to high; infinite ends are not included."""

    low: float
    high: float
    low_in: bool
    high_in: bool

    @property
    def holds_something(self) -> bool:
        return self.low < self.high or (self.low_in and self.high_in)


# Numbers


def exact(number: object) -> Decimal:
    """A number as the exact decimal it prints as; ValueError if it is not a finite number."""
    try:
        value = Decimal(str(number).strip())
    except ArithmeticError:
        raise ValueError("not a number") from None
    if not value.is_finite() or isinstance(number, bool):
        raise ValueError("not a finite number")
    return value


def plain(number: Decimal) -> str:
    """A number without exponent or trailing zeros.

    >>> plain(Decimal("1E+2")), plain(Decimal("0.50")), plain(Decimal("-0"))
    ('100', '0.5', '0')
    """
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# Writing


def from_to(first: Decimal, last: Decimal, negative: bool) -> str:
    """Both ends included: 10-19, or "-9 to 0" in a domain with negative numbers.

    >>> from_to(Decimal(10), Decimal(19), False), from_to(Decimal(-9), Decimal(0), True)
    ('10-19', '-9 to 0')
    """
    if first == last:
        return plain(first)
    if negative:
        return first_to_last(plain(first), plain(last))
    return f"{plain(first)}-{plain(last)}"


def first_to_last(first: str, last: str) -> str:
    """A run of values in their order: "none to primary"."""
    return f"{first} to {last}"


def or_more(first: Decimal) -> str:
    """A whole number and all above it: 90+."""
    return f"{plain(first)}+"


def between(
    low: Decimal,
    high: Decimal,
    low_in: bool,
    high_in: bool,
) -> str:
    """An interval of a continuous domain.

    >>> between(Decimal(0), Decimal("0.5"), True, False)
    '[0, 0.5)'
    """
    left = "[" if low_in else "("
    right = "]" if high_in else ")"
    return f"{left}{plain(low)}, {plain(high)}{right}"


def below(high: Decimal, high_in: bool = False) -> str:
    """Everything up to a bound: <10, or <=10."""
    sign = "<=" if high_in else "<"
    return f"{sign}{plain(high)}"


def above(low: Decimal, low_in: bool = True) -> str:
    """Everything above a bound, with or without it: >=10, or >10."""
    sign = ">=" if low_in else ">"
    return f"{sign}{plain(low)}"


# Several spellings of one range, the usual one first: a writer takes one that is nobody's label


def inclusive_spellings(first: str, last: str) -> Iterator[str]:
    """From one value to another, both included, of numbers or dates."""
    yield f"[{first}, {last}]"
    # Only of numbers: among dates it is not read as anything.
    yield f"[{first}; {last}]"


def whole_spellings(first: Decimal, last: Decimal, negative: bool) -> Iterator[str]:
    """Whole numbers from one to another, both included."""
    yield from_to(first, last, negative)
    yield from inclusive_spellings(plain(first), plain(last))


def range_spellings(numbers: NumberRange, whole: bool, negative: bool) -> Iterator[str]:
    """A range of numbers; none if it has no end at all.

    whole: of integers, which are half open, as `parse` gives them
    negative: whether the domain has negative numbers
    """
    if math.isinf(numbers.low) and math.isinf(numbers.high):
        return
    if math.isinf(numbers.low):
        end = exact(numbers.high)
        yield below(end, numbers.high_in)
        yield f"{'≤' if numbers.high_in else '<'} {plain(end)}"
    elif math.isinf(numbers.high):
        end = exact(numbers.low)
        if whole:
            yield or_more(end)
        yield above(end, numbers.low_in)
        yield f"{'≥' if numbers.low_in else '>'} {plain(end)}"
    elif whole:
        yield from whole_spellings(exact(numbers.low), exact(numbers.high - 1), negative)
    else:
        ends = exact(numbers.low), exact(numbers.high)
        text = between(*ends, numbers.low_in, numbers.high_in)
        yield text
        yield text.replace(",", ";")


# Reading


def parse(text: str, kind: Kind) -> NumberRange | None:
    """What a text means as a range of a numeric kind, None if it is not a range.

    A range of integers is half open.

    >>> parse("10-19", Kind.INTEGER)
    NumberRange(low=10.0, high=20.0, low_in=True, high_in=False)
    """
    written = _parse(text, kind)
    if written is None:
        return None
    if kind is Kind.INTEGER:
        return _half_open(written)
    return written if written.holds_something else None


def _parse(text: str, kind: Kind) -> NumberRange | None:
    if match := BRACKETS.fullmatch(text):
        low, high = float(match[2]), float(match[3])
        return NumberRange(low, high, match[1] == "[", match[4] == "]")
    if match := OR_MORE.fullmatch(text):
        return NumberRange(float(match[1]), math.inf, True, False)
    if match := BEYOND.fullmatch(text):
        end = float(match[2])
        included = match[1] in ("<=", ">=", "≤", "≥")
        if match[1][0] in "<≤":
            return NumberRange(-math.inf, end, False, included)
        return NumberRange(end, math.inf, included, False)
    # In a continuous domain "10-19" would leave open where 19.5 goes.
    if kind is Kind.INTEGER:
        if match := INCLUSIVE.fullmatch(text):
            return NumberRange(float(match[1]), float(match[2]), True, True)
        if match := re.fullmatch(NUMBER, text):
            return NumberRange(float(match[1]), float(match[1]), True, True)
    return None


def _half_open(written: NumberRange) -> NumberRange | None:
    """The same integers from the first to before the last; None if an end is not an integer."""
    for end in (written.low, written.high):
        if math.isfinite(end) and not end.is_integer():
            return None
    low = written.low + (not written.low_in)
    high = written.high + written.high_in
    return NumberRange(low, high, True, False) if low < high else None


def parse_ends(text: str) -> tuple[str, str] | None:
    """The texts of both ends of `[first, last]`, as dates have it; None if it is not such a text.

    >>> parse_ends("[2024-01-01, 2024-01-31]")
    ('2024-01-01', '2024-01-31')
    """
    match = ENDS.fullmatch(text)
    return (match[1], match[2]) if match else None


# Ranges side by side


@dataclass(frozen=True)
class Tiling:
    """Ranges laid side by side, without gap or overlap.

    `order[i]` is the place in the input of the i-th from the left; the rest is as in `Hierarchy`.
    """

    order: list[int]
    cuts: tuple[float, ...]
    closed: str
    end_closed: bool


def tiling(ranges: Sequence[NumberRange]) -> Tiling:
    """Ranges that meet without gap or overlap; ValueError says what is in the way."""
    ends = [(numbers.low, numbers.high) for numbers in ranges]
    order = sorted(range(len(ranges)), key=ends.__getitem__)
    row = [ranges[i] for i in order]
    _require_to_meet(row)
    first, last = row[0], row[-1]
    closed_left = {after.low_in for after in row[1:]}
    if len(row) == 1:
        closed_left = {first.low_in or not first.high_in}
    if len(closed_left) > 1:
        raise ValueError("some are closed on the left and some on the right")
    left = closed_left.pop()
    near, near_in = first.low, first.low_in
    far, far_in = last.high, last.high_in
    if not left:
        near, near_in, far, far_in = far, far_in, near, near_in
    if math.isfinite(near) and not near_in:
        raise ValueError("the outermost is open on both sides")
    cuts = (*(one.low for one in row), last.high)
    return Tiling(order, cuts, "left" if left else "right", math.isfinite(far) and far_in)


def _require_to_meet(row: Sequence[NumberRange]) -> None:
    for before, after in pairwise(row):
        if before.high == after.low and before.high_in != after.low_in:
            continue
        if not math.isfinite(after.low):
            raise ValueError("two are open")
        neither = not (before.high_in or after.low_in)
        word = "a gap" if before.high < after.low or neither else "an overlap"
        raise ValueError(f"there is {word} near {plain(exact(after.low))}")
