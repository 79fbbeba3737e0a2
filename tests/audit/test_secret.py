"""What is public of a secret column decides who audits it.

Data that contradicts it is refused.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attack import disclosed
from shoal.audit import Secret
from shoal.audit.dither import FINE
from shoal.audit.maxima import Maxima, Minima
from shoal.audit.secret import exact_values, simplest
from shoal.audit.sums import Sums
from shoal.errors import ColumnError, ParameterError, QueryError
from tests.audit.salaries import VALUES, made, people
from tests.audit.test_dither import audit


@pytest.mark.parametrize(
    ("secret", "columns", "why"),
    [
        (Secret("salary"), {"salary": [None, *VALUES[1:]]}, "1 value of 40 is missing"),
        (Secret("salary"), {"salary": ["", *map(str, VALUES[1:])]}, "missing"),
        (Secret("salary"), {"salary": ["4711x", *map(str, VALUES[1:])]}, "not numeric"),
        (Secret("salary"), {"salary": [float("inf"), *map(float, VALUES[1:])]}, "not numeric"),
        (Secret("salary", high=100, width=1), {}, "outside the public bounds"),
        (Secret("salary", low=11, width=1), {}, "outside the public bounds"),
        (
            Secret("salary", distinct=True, integers=False),
            {"salary": [20, 20, *VALUES[2:]]},
            "twice",
        ),
        (Secret("salary", integers=True), {"salary": [0.5, *map(float, VALUES[1:])]}, "whole"),
        (Secret("wage"), {}, "no column"),
        (Secret("dept"), {}, "twice"),
    ],
)
def test_data_that_an_audit_could_not_promise_for_is_refused_without_a_value(
    tmp_path: Path, secret: Secret, columns: dict[str, Any], why: str
) -> None:
    with pytest.raises((ColumnError, ParameterError), match=why) as refused:
        made(str(tmp_path / "a"), secret, **columns)
    assert "4711" not in str(refused.value)
    assert not (tmp_path / "a").exists()


def test_sums_of_few_digits_are_refused_without_dither(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="dither"):
        audit(tmp_path / "a", low=0, high=100).ask("sum(pay)")
    with pytest.raises(ParameterError, match="dither is for sums"):
        Secret("pay", "max", dither=True)
    with pytest.raises(ParameterError, match="public bounds"):
        audit(tmp_path / "b", dither=True)
    with pytest.raises(ColumnError, match="not divisible by the unit"):
        audit(tmp_path / "c", low=0, high=100, dither=True, unit=1)


def test_bounds_between_multiples_are_rounded_to_values_that_are_possible(tmp_path: Path) -> None:
    whole = pl.DataFrame({"name": ["Ann", "Bea"], "pay": [1, 1]})
    table = shoal.table(whole, types={"name": "text", "pay": "integer"})
    secret = Secret("pay", low="0.5", high="4.5")
    rounded = shoal.Audit.new(tmp_path / "a", table, secret, public=["name"])
    assert rounded.ask("max(pay)").denied
    assert disclosed(rounded) == ()  # it may be 1 or 2, for each of them
    secret = Secret("pay", low="0.5", high="1.9")
    with pytest.raises(ParameterError, match="smaller width"):
        shoal.Audit.new(tmp_path / "b", table, secret, public=["name"])
    with pytest.raises(ParameterError, match="are whole"):
        Maxima(2, Fraction(1, 2), 4, integers=True)


def test_different_values_of_few_digits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="give each other away"):
        audit(tmp_path / "a", low=0, high=100, distinct=True, width="0.1")
    apart = audit(tmp_path / "b", low=0, high=100, distinct=True, width=1)
    assert apart.ask("max(pay)").answer == Fraction(151, 2)


# What is public


@pytest.mark.parametrize(
    ("bounds", "width"),
    [({}, 1), ({"low": 0, "high": 1000}, 1), ({"low": 0, "high": 1001, "width": 5}, 5)],
)
def test_a_width_is_1_unless_that_promises_little(bounds: dict[str, Any], width: int) -> None:
    assert Secret("pay", **bounds).width == width


@pytest.mark.parametrize("bounds", [{"low": 0}, {"high": 9}, {"low": 0, "high": 1001}])
def test_a_width_that_would_promise_little_is_asked_for(bounds: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="`width` is not given"):
        Secret("pay", **bounds)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"family": "median"}, "family='median'"),
        ({"strategy": "hopeful"}, "strategy='hopeful'"),
        ({"unit": 0}, "unit=0 must be above 0"),
        ({"unit": "-1/2"}, "unit=-1/2 must be above 0"),
        ({"low": 3, "high": 2}, "the lower bound 3 is above the upper one, 2"),
    ],
)
def test_what_cannot_be_public_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        Secret("pay", **given)


def test_a_secret_is_read_as_it_was_written_for_the_log() -> None:
    secret = Secret("pay", low="0.1", high=Fraction(1, 3), width="1e-3", dither=True, unit="0.01")
    facts = secret.to_dict()
    assert (facts["low"], facts["high"], facts["family"]) == ("0.1", "1/3", "sum")
    assert not any(isinstance(value, Fraction) for value in facts.values())
    assert Secret(**facts) == secret


# Who audits it


def test_each_family_has_its_auditor() -> None:
    secret = Secret("pay", low=0, high=8, width=2, integers=True)
    assert isinstance(secret.auditor("max", 3), Maxima)
    assert isinstance(secret.auditor("min", 3), Minima)
    assert isinstance(secret.auditor("sum", 3), Sums)
    assert secret.families(3) == ("max", "min", "sum")
    assert Secret("pay", "min", low=0, high=8).families(3) == ("min",)


def test_sums_are_offered_only_where_they_can_be_audited() -> None:
    assert Secret("pay", low=0, high=8).families(3) == ("max", "min")
    assert Secret("pay").families(3) == ("max", "min", "sum")
    assert Secret("pay", distinct=True).families(3) == ("max", "min")
    assert Secret("pay", low=0, high=8, unit=1, dither=True).families(3) == ("sum",)


def test_bounds_are_rounded_inwards_to_the_unit_and_a_width_upwards() -> None:
    secret = Secret("pay", low="0.3", high="9.8", width="1.1", unit="1/2")
    auditor = secret.auditor("max", 4)
    assert isinstance(auditor, Maxima)
    assert (auditor.low, auditor.high, auditor.width) == (Fraction(1, 2), Fraction(19, 2), 1.5)


def test_dither_adds_less_than_a_unit_and_widens_what_is_promised_by_one() -> None:
    secret = Secret("pay", low=0, high=8, width=2, unit="1/4", dither=True)
    auditor = secret.auditor("sum", 3)
    assert isinstance(auditor, Sums)
    last = Fraction(1, 4) / FINE
    assert (auditor.low, auditor.high) == (0, 8 + Fraction(1, 4) - last)
    assert (auditor.width, auditor.unit) == (Fraction(9, 4), last)


# The values of a table


@pytest.mark.parametrize(
    ("given", "unit", "integers"),
    [
        (["1", "2"], Fraction(1), True),
        (["1.0", "2.50"], Fraction(1, 10), False),
        (["1.25", "2"], Fraction(1, 100), False),
        ([0.1, 7.0], Fraction(1, 10), False),
    ],
)
def test_what_is_left_open_follows_from_the_values(
    given: list[Any], unit: Fraction, integers: bool
) -> None:
    salaries = [given[place % 2] for place in range(len(VALUES))]
    values, secret = exact_values(people(salary=salaries), Secret("salary"))
    assert values == [Fraction(str(value)) for value in salaries]
    assert (secret.unit, secret.integers) == (unit, integers)


def test_a_whole_number_is_an_integer() -> None:
    assert type(simplest(Fraction(6, 3))) is int
    assert simplest(Fraction(1, 3)) == Fraction(1, 3)
