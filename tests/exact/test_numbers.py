"""Numbers that promises depend on: read without rounding, and printed so that they read back."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.exact.numbers import fraction, printed, short, whole


@given(st.fractions())
def test_a_printed_number_reads_back(number: Fraction) -> None:
    assert fraction(printed(number), "x") == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints_as(number: float) -> None:
    assert fraction(number, "x") == Fraction(repr(number))


def test_numbers_of_numpy_and_decimal_are_taken() -> None:
    assert (
        fraction(np.float32(0.2), "x")  # type: ignore[arg-type]
        == fraction(np.float64(0.2), "x")
        == fraction(Decimal("0.2"), "x")
        == Fraction(1, 5)
    )
    assert whole(np.int64(5), "k") == 5


@given(st.fractions())
def test_a_short_number_reads_back_and_is_never_longer(number: Fraction) -> None:
    assert fraction(short(number), "x") == number
    assert len(short(number)) <= len(printed(number))


@pytest.mark.parametrize(
    ("options", "taken", "refused", "range_"),
    [
        ({}, [-1, 0, 10**30], [], "any number"),
        ({"lowest": 0}, [0, 1, 10**30], [-1, "-1/10"], "a number from 0"),
        ({"lowest": 0, "above": True}, ["1e-9"], [0, -1], "a number above 0"),
        ({"lowest": 0, "highest": 1}, [0, 0.5, 1], [-0.1, "1.1"], "a number from 0 to 1"),
        (
            {"lowest": 0, "highest": 1, "above": True, "below": True},
            ["0.001", "999/1000"],
            [0, 1, 2],
            "a number above 0 and below 1",
        ),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(
    options: dict[str, Any], taken: list[Any], refused: list[Any], range_: str
) -> None:
    for value in taken:
        assert fraction(value, "x", **options) == fraction(value, "x")
    for value in refused:
        with pytest.raises(ParameterError) as raised:
            fraction(value, "x", **options, hint=", such as that")
        error = raised.value
        assert (error.option, error.what) == ("x", "is out of range")
        assert error.fix == f"it takes {range_}, such as that"


@pytest.mark.parametrize(
    "value", ["", "x", "nan", "inf", "1/0", "1e999999999", "9" * 401, True, None, float("inf")]
)
def test_what_is_not_a_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^t=.* is not a finite number; it takes any number$"):
        fraction(value, "t")


def test_a_value_that_may_be_data_is_named_by_its_type_alone() -> None:
    for refuse in (fraction, whole):
        with pytest.raises(ParameterError) as raised:
            refuse(["a patient's name"], "k")  # type: ignore[arg-type]
        assert raised.value.given == "list"
        assert "patient" not in str(raised.value)


@pytest.mark.parametrize("value", [1.0, "1", True, None, Fraction(1), np.float64(1)])
def test_only_integers_are_whole_numbers(value: Any) -> None:
    with pytest.raises(ParameterError, match="is not a whole number; it takes a whole number from"):
        whole(value, "k")


def test_a_whole_number_is_an_int_from_its_lowest_value_on() -> None:
    assert type(whole(np.int64(5), "k")) is int
    assert whole(0, "k", 0) == 0
    with pytest.raises(ParameterError, match=r"^k=0 is out of range; .* from 1$"):
        whole(0, "k")
