"""Numbers of certificates: what is read, how exactly it is compared, and what is refused."""

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

import pytest

from shoal.exact.epsilon import Epsilon
from shoal.releases.verification.numbers import (
    StatedEpsilon,
    digits_for,
    is_numeric,
    next_decimal,
    noise_scale,
    number,
    rounded,
    whole,
)


@pytest.mark.parametrize("text", ["", "-1", "1/", "1e9", "1e-9999", "0x1", "nan", "٣", "1" * 401])
def test_a_text_that_shoal_does_not_write_is_not_a_number(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        number(text)
    assert not is_numeric(text)


@pytest.mark.parametrize("given", [0, -1, 1.0, True, "1", None])
def test_what_is_not_a_whole_number_from_1_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="whole number"):
        whole(given)


@pytest.mark.parametrize(
    "text", ["0", "1001", "ln(1)", "ln(1/2)", f"ln({10**19})", "2*", "ln(2)*2", "e", "1e999999999"]
)
def test_a_text_that_is_not_an_epsilon_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        StatedEpsilon.read(text)


@pytest.mark.parametrize("text", ["1", "1/3", "0.7", "ln(2)", "ln(3/2)", "0.9*ln(2)", "12"])
def test_e_to_the_epsilon_is_enclosed(text: str) -> None:
    low, high = StatedEpsilon.read(text).power(30)
    theirs = Epsilon.of(text).exponential()
    assert low <= high <= low * (1 + Fraction(1, 10**28))
    assert low <= theirs[1]
    assert theirs[0] <= high


def test_equal_epsilons_are_equal_however_they_are_written() -> None:
    nine, three = StatedEpsilon.read("ln(9)"), StatedEpsilon.read("ln(3)")
    assert nine.times(Fraction(1, 2)).equals(three)
    assert not StatedEpsilon.read("1.0986122886681098").equals(three)


def test_noise_is_as_wide_as_epsilon_asks_for_and_not_narrower() -> None:
    assert noise_scale(StatedEpsilon.read("1/2"), 2) == 4
    scale = noise_scale(StatedEpsilon.read("ln(2)"), 1)
    assert scale == Fraction("1.44270")
    assert float(scale) >= 1 / 0.6931471805599453


def test_rounding_goes_to_the_side_asked_for() -> None:
    third = Fraction(1, 3)
    assert rounded(third, 3, ROUND_CEILING) == Fraction("0.334")
    assert rounded(third, 3, ROUND_FLOOR) == Fraction("0.333")
    assert next_decimal(Fraction("0.333"), 3) == Fraction("0.334")
    with pytest.raises(ValueError, match="more digits"):
        next_decimal(third, 3)


def test_digits_grow_with_what_must_not_get_lost() -> None:
    epsilon, small = StatedEpsilon.read("1"), StatedEpsilon.read("1e-9")
    assert digits_for(epsilon, Fraction(1, 10**50)) >= digits_for(epsilon, Fraction(1, 2)) + 49
    assert digits_for(small, Fraction(1, 2)) >= digits_for(epsilon, Fraction(1, 2)) + 8
