"""Declared types: what is the same value, what is not of the type, and how values print."""

import datetime as dt
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.kinds import Kind
from shoal.errors import ColumnError, ParameterError


@pytest.mark.parametrize(
    ("kind", "values", "key"),
    [
        (Kind.INTEGER, [39, "39", " 039", "39.0", 39.0, Decimal(39), "3.9e1"], 39),
        (Kind.INTEGER, ["9007199254740993"], 9007199254740993),
        (Kind.FLOAT, [0.5, "0.5", ".50", "5e-1", Decimal("0.5")], 0.5),
        (Kind.FLOAT, [-0.0, "-0", 0], 0.0),
        (Kind.DATE, ["2024-02-01", "20240201", dt.date(2024, 2, 1)], dt.date(2024, 2, 1)),
        (Kind.DATE, ["2024-02-01T10:00", dt.datetime(2024, 2, 1, 10)], dt.date(2024, 2, 1)),
        (Kind.TEXT, ["39", 39, 39.0], "39"),
        (Kind.TEXT, ["true", True], "true"),
        (Kind.TEXT, ["2024-02-01", dt.date(2024, 2, 1), dt.datetime(2024, 2, 1)], "2024-02-01"),
    ],
)
def test_values_that_mean_the_same_have_one_key(
    kind: Kind, values: list[object], key: object
) -> None:
    assert {kind.key(value) for value in values} == {key}


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("value", [None, "", math.nan])
def test_missing_values_have_no_key(kind: Kind, value: object) -> None:
    assert kind.key(value) is None
    assert kind.text(None) == ""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.INTEGER, "x"),
        (Kind.INTEGER, "1.5"),
        (Kind.INTEGER, "1_000"),
        (Kind.INTEGER, "٣"),
        (Kind.INTEGER, math.inf),
        (Kind.INTEGER, 1 << 63),
        (Kind.FLOAT, "inf"),
        (Kind.FLOAT, "0x1"),
        (Kind.FLOAT, -math.inf),
        (Kind.DATE, "2024-02-30"),
        (Kind.DATE, "2024-W05"),
        (Kind.DATE, 20240201),
    ],
)
def test_values_of_another_type_are_refused(kind: Kind, value: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        kind.key(value)
    if isinstance(value, str):
        assert kind.canonical(value) == value


@given(st.integers(-(1 << 63) + 1, (1 << 63) - 1))
def test_whole_numbers_come_back_from_their_text(number: int) -> None:
    assert Kind.INTEGER.key(Kind.INTEGER.text(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_back_from_their_text(number: float) -> None:
    assert Kind.FLOAT.key(Kind.FLOAT.text(number)) == number


@given(st.dates())
def test_dates_come_back_from_their_text(day: dt.date) -> None:
    assert Kind.DATE.key(Kind.DATE.text(day)) == day


def test_misfits_are_counted_and_never_shown() -> None:
    with pytest.raises(ColumnError) as caught:
        Kind.INTEGER.keys([1, "secret", "other"], "age")
    assert str(caught.value) == (
        "column 'age': 2 distinct values are not of the declared type 'integer'; declare another "
        "type for the column, or clean it"
    )


def test_misfits_that_look_like_numbers_or_dates_of_other_places_are_told_the_option() -> None:
    for kind, value, option in (
        (Kind.FLOAT, "1.234,50", "decimal = ','"),
        (Kind.DATE, "18.10.1970", "`dates`"),
    ):
        with pytest.raises(ColumnError) as caught:
            kind.keys([value], "x")
        assert option in str(caught.value)
        assert value not in str(caught.value)


def test_a_type_is_called_by_its_name() -> None:
    assert Kind.of("date") is Kind.DATE
    with pytest.raises(ParameterError, match="the type is 'roman'; it takes 'text', 'integer'"):
        Kind.of("roman")
    with pytest.raises(ParameterError, match="the type is of type int; it takes"):
        Kind.of(7)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="it takes 'integer', 'float'"):
        Kind.of("text", among=(Kind.INTEGER, Kind.FLOAT))
