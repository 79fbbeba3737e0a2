"""`Epsilon`: read, printed, compared, enclosed and added up exactly."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon, rounded_down, rounded_up, total

epsilons = st.one_of(
    st.fractions(Fraction(1, 50), 3, max_denominator=50).map(Epsilon),
    st.builds(
        lambda base, factor: Epsilon(factor, base),
        st.fractions(Fraction(11, 10), 20, max_denominator=10),
        st.fractions(Fraction(1, 10), 3, max_denominator=10),
    ),
)


@pytest.mark.parametrize(
    "text", ["1", "0.1", "1/3", "ln(2)", "ln(3)", "ln(3/2)", "0.9*ln(2)", "2/3*ln(7/5)", "1000000"]
)
def test_epsilon_prints_as_it_is_read(text: str) -> None:
    assert str(Epsilon.of(text)) == text


@settings(max_examples=40)
@given(epsilons)
def test_epsilon_is_read_back_exactly(epsilon: Epsilon) -> None:
    assert Epsilon.of(str(epsilon)) == epsilon


def test_equal_numbers_are_equal_however_they_are_written() -> None:
    assert (
        Epsilon.of("ln(8)")
        == Epsilon.of("3 * ln(2)")
        == Epsilon.of("-3*LN(1/2)")
        == Epsilon.of("1.5*ln(4)")
    )
    assert Epsilon.of("ln(9/4)") == Epsilon.of("ln(1.5)") * 2
    assert Epsilon.of(0.1) == Epsilon.of("1/10") == Epsilon.of(Fraction(1, 10))


INVALID = [
    0,
    -1,
    float("nan"),
    float("inf"),
    "-inf",
    "",
    "x",
    True,
    None,
    "ln(1)",
    "ln(1/2)",
    "ln(0)",
    "ln(-2)",
    "ln(2",
]


@pytest.mark.parametrize(
    "value", [*INVALID, "0*ln(2)", "ln(1/0)", "ln(1e30)", "-ln(2)", "nan*ln(2)", "1e999999999"]
)
def test_an_epsilon_that_is_not_a_number_above_0_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon="):
        Epsilon.of(value)


@settings(max_examples=40)
@given(epsilons, epsilons)
def test_order_is_that_of_the_numbers(one: Epsilon, other: Epsilon) -> None:
    difference = float(one) - float(other)
    if abs(difference) > 1e-9:
        assert (one < other) == (difference < 0) == (not one >= other)
    assert (one <= other) == (one < other or one == other)
    assert sum([one < other, one == other, one > other]) == 1


def test_order_tells_ln_2_from_its_decimals() -> None:
    digits = (
        "0.6931471805599453094172321214581765680755001343602552541206"
        "80009493393621969694715605863326996418687"
    )
    assert Epsilon.of(digits) < Epsilon.of("ln(2)") < Epsilon.of(digits[:-1] + "8")


@settings(max_examples=40)
@given(epsilons, st.integers(5, 60))
def test_enclosures_hold_the_number_and_are_as_narrow_as_asked(
    epsilon: Epsilon, digits: int
) -> None:
    tight = epsilon.bounds(200), epsilon.exponential(200)
    for (low, high), (lowest, highest) in zip(
        (epsilon.bounds(digits), epsilon.exponential(digits)), tight, strict=True
    ):
        assert low <= lowest <= highest <= high
        assert high - low <= low / 10**digits


def test_exponentials_are_right_by_their_series() -> None:
    for epsilon in (Fraction(1, 10), Fraction(9, 10), Fraction(7)):
        series = sum((epsilon**i / math.factorial(i) for i in range(120)), Fraction(0))
        rest = epsilon**120 / math.factorial(119)
        low, high = Epsilon(epsilon).exponential(40)
        assert low < series + rest
        assert high > series
        assert high - low < low / 10**40
    assert Epsilon.of("3*ln(3/2)").exponential() == (Fraction(27, 8), Fraction(27, 8))


@settings(max_examples=40)
@given(st.lists(epsilons, min_size=1, max_size=5))
def test_a_sum_is_never_below_the_true_one(given: list[Epsilon]) -> None:
    low = sum((one.bounds(50)[0] for one in given), Fraction(0))
    high = sum((one.bounds(50)[1] for one in given), Fraction(0))
    found = total(given).bounds(50)
    assert low <= found[1]
    assert found[0] <= high * (1 + Fraction(1, 10**28))


def test_an_epsilon_that_is_too_large_is_refused_where_its_power_is_needed() -> None:
    with pytest.raises(ParameterError, match="promises nothing"):
        Epsilon.of(701).exponential()
    assert float(Epsilon.of(700).exponential()[1]) < float("inf")


@pytest.mark.parametrize("parts", [(0.5,), ("1",), (1, "2"), (1, 0.5)])
def test_the_parts_of_an_epsilon_are_fractions(parts: Any) -> None:
    with pytest.raises(ParameterError, match=r"make one with Epsilon\.of"):
        Epsilon(*parts)


def test_a_sum_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="give one or more"):
        total([])


@given(st.fractions(Fraction(1, 1000), 1000), st.integers(1, 20))
def test_rounding_goes_to_the_named_side_and_not_far(number: Fraction, digits: int) -> None:
    low, high = rounded_down(number, digits), rounded_up(number, digits)
    assert low <= number <= high
    assert high - low <= number / 10 ** (digits - 1)
