"""Texts of ranges: what is written is read as the same numbers, in each of its spellings."""

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.data.hierarchy import ranges
from shoal.data.hierarchy.ranges import NumberRange
from shoal.data.kinds import Kind

ends = st.integers(-1000, 1000).map(lambda number: number / 4)


@given(ends, ends, st.booleans(), st.booleans())
def test_every_spelling_of_a_continuous_range_is_read_as_that_range(
    low: float, high: float, low_in: bool, high_in: bool
) -> None:
    assume(low < high)
    for numbers in (
        NumberRange(low, high, low_in, high_in),
        NumberRange(-math.inf, high, False, high_in),
        NumberRange(low, math.inf, low_in, False),
    ):
        spellings = list(ranges.range_spellings(numbers, whole=False, negative=True))
        assert len(set(spellings)) == 2
        assert [ranges.parse(text, Kind.FLOAT) for text in spellings] == [numbers] * 2


@given(st.integers(-100, 100), st.integers(1, 100), st.booleans())
def test_every_spelling_of_whole_numbers_is_read_as_them(
    low: int, size: int, negative: bool
) -> None:
    assume(negative or low >= 0)
    for numbers in (
        NumberRange(low, low + size, True, False),
        NumberRange(-math.inf, low, True, False),
        NumberRange(low, math.inf, True, False),
    ):
        for text in ranges.range_spellings(numbers, whole=True, negative=negative):
            read = ranges.parse(text, Kind.INTEGER)
            assert read is not None
            assert (read.low, read.high) == (numbers.low, numbers.high), text


def test_a_range_without_ends_has_no_spelling() -> None:
    everything = NumberRange(-math.inf, math.inf, False, False)
    assert list(ranges.range_spellings(everything, whole=True, negative=True)) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10-19", 10, 20),
        ("10–19", 10, 20),
        ("10 to 19", 10, 20),
        ("-9 to -1", -9, 0),
        ("7", 7, 8),
        ("90+", 90, math.inf),
        ("<10", -math.inf, 10),
        ("≤ 10", -math.inf, 11),
        (">10", 11, math.inf),
        ("[0, 5[", 0, 5),
        ("]0; 5]", 1, 6),
    ],
)
def test_the_usual_spellings_of_whole_numbers_are_read(text: str, low: float, high: float) -> None:
    assert ranges.parse(text, Kind.INTEGER) == NumberRange(low, high, True, False)


@pytest.mark.parametrize("text", ["", "red", "9-3", "(5, 5)", "5,", "1-2-3", "[a, b]", "0.5-2"])
def test_other_texts_are_not_ranges_of_whole_numbers(text: str) -> None:
    assert ranges.parse(text, Kind.INTEGER) is None


def test_between_two_whole_numbers_a_continuous_range_would_leave_a_gap() -> None:
    assert ranges.parse("10-19", Kind.FLOAT) is None


@pytest.mark.parametrize("given", ["x", "", "nan", "inf", True, None])
def test_only_finite_numbers_are_exact(given: object) -> None:
    with pytest.raises(ValueError, match="not a"):
        ranges.exact(given)


def test_a_float_is_the_decimal_it_prints_as() -> None:
    assert ranges.exact(0.1) == Decimal("0.1")


def tiled(*texts: str) -> ranges.Tiling:
    parsed = [ranges.parse(text, Kind.FLOAT) for text in texts]
    return ranges.tiling([numbers for numbers in parsed if numbers is not None])


def test_ranges_are_laid_side_by_side_in_any_order() -> None:
    laid = tiled("[5, 9]", "<0", "[0, 5)")
    assert laid.order == [1, 2, 0]
    assert laid.cuts == (-math.inf, 0, 5, 9)
    assert (laid.closed, laid.end_closed) == ("left", True)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("[0, 5)", "[6, 9)"), "there is a gap near 6"),
        (("[0, 5)", "(5, 9)"), "there is a gap near 5"),
        (("[0, 5]", "[5, 9)"), "there is an overlap near 5"),
        (("<3", "<5"), "two are open"),
        (("[0, 5)", "[5, 7]", "(7, 9]"), "some are closed on the left and some on the right"),
        (("(0, 5)", "[5, 7]"), "the outermost is open on both sides"),
    ],
)
def test_ranges_that_do_not_meet_are_named(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiled(*texts)
