"""`RiskLimits` in a notebook: which limits a table violates, and which limits are refused."""

from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.measure.gates import Amount, RiskLimits, many, share

loose: Any = RiskLimits  # which takes more than a type checker allows


def people(ages: list[int], **columns: list[Any]) -> shoal.Table:
    return shoal.table(pl.DataFrame({"age": ages, **columns}), quasi=["age"])


def violated(limits: RiskLimits, table: shoal.Table, **options: Any) -> list[str]:
    return [str(violation) for violation in limits.violated(shoal.assess(table, **options))]


def test_limits_that_are_kept_are_not_listed() -> None:
    table = people([31, 31, 31, 47, 47])
    assert violated(RiskLimits(min_k=2, max_risk="1/2", max_uniques=0), table) == []
    assert violated(RiskLimits(), table) == []


def test_every_violated_limit_is_listed_with_what_the_table_has() -> None:
    table = people([31, 31, 47])
    limits = RiskLimits(min_k=2, max_risk=0.5, max_at_risk=1, max_uniques="10%")
    assert violated(limits, table) == [
        "min_k=2: the smallest group has 1 record",
        "max_risk=0.5: the highest risk is 1",
        "max_at_risk=1: 3 records (100 %) are at risk above 0.2",
        "max_uniques=10%: 1 record (33.3 %) is alone in their group",
    ]


def test_sensitive_columns_are_judged_one_by_one() -> None:
    frame = pl.DataFrame({"age": [31, 31, 47, 47], "ill": list("aaab"), "job": list("xyxy")})
    table = shoal.table(frame, quasi=["age"], sensitive=["ill", "job"])
    assert violated(RiskLimits(min_l=2, max_t=0.1), table) == [
        "min_l=2: a group has 1 distinct value of 'ill'",
        "max_t=0.1: a group is 0.25 away from the table in 'ill'",
    ]


@pytest.mark.parametrize(("k", "risk", "is_kept"), [(3, "1/3", True), (3, "0.3333333333", False)])
def test_the_highest_risk_is_compared_exactly(k: int, risk: str, is_kept: bool) -> None:
    assert (violated(RiskLimits(max_risk=risk), people([31] * k)) == []) is is_kept


def test_a_number_of_records_is_not_a_share() -> None:
    table = people([31, 31, 31, 47])
    assert violated(RiskLimits(max_uniques=1), table) == []
    assert violated(RiskLimits(max_uniques="25%"), table) == []
    assert violated(RiskLimits(max_uniques="24%"), table) != []
    assert Amount.of(1, "max_uniques") != Amount.of("1%", "max_uniques")


def test_an_empty_table_violates_every_limit_that_is_given() -> None:
    reason = "nothing to judge: the table has no rows"
    assert violated(RiskLimits(min_k=2, max_risk=0.5), people([])) == [
        f"min_k=2: {reason}",
        f"max_risk=0.5: {reason}",
    ]


def test_a_table_of_suppressed_rows_violates_every_limit() -> None:
    table = shoal.table(pl.DataFrame({"age": ["*", "*"]}), quasi=["age"])
    expected = ["min_k=2: nothing to judge: every row is suppressed"]
    assert violated(RiskLimits(min_k=2), table) == expected


def test_rows_that_are_not_people_violate_every_limit_until_the_owner_says_who_is_who() -> None:
    names = ["Ann Ash", "Ann Ash", "Bob Birch", "Cid Cedar"]
    table = people([31, 31, 31, 31], name=names).with_roles(quasi=["age"], identifying=["name"])
    limits = RiskLimits(min_k=4)
    [line] = violated(limits, table)
    assert line.startswith("min_k=4: rows are not people: people seem to be in several rows, by ")
    assert "with `person`, or give `rows_are_people`" in line
    assert violated(limits, table, person="name") == ["min_k=4: the smallest group has 3 people"]
    assert violated(limits, table, rows_are_people=True) == []


def test_a_violation_has_its_parts() -> None:
    [violation] = RiskLimits(min_k=2).violated(shoal.assess(people([31])))
    assert (violation.limit, violation.given) == ("min_k", "2")
    assert violation.what == "the smallest group has 1 record"


@pytest.mark.parametrize(
    "limit",
    [
        {"min_k": 1},
        {"min_l": 1},
        {"max_risk": 1},
        {"max_risk": "100%"},
        {"max_t": 1},
        {"max_uniques": "100%"},
        {"max_at_risk": "1/1"},
    ],
)
def test_a_limit_that_no_table_violates_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="can never be violated: it holds for every table"):
        RiskLimits(**limit)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"min_k": 0}, "min_k=0 is out of range"),
        ({"min_k": 2.5}, "min_k"),
        ({"max_risk": "120%"}, "max_risk='120' is out of range"),
        ({"max_t": "nan"}, "max_t='nan' is not a finite number"),
        (
            {"max_uniques": -1},
            "max_uniques=-1 is out of range; it takes a number of records such as 10, or a share",
        ),
        ({"max_at_risk": "many"}, "max_at_risk=many is not a finite number; it takes a number of"),
    ],
)
def test_a_limit_out_of_its_range_is_refused(limit: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        loose(**limit)
    assert message in str(error.value)


def test_nobody_can_be_at_risk_above_a_threshold_of_1() -> None:
    limits = RiskLimits(max_at_risk=3)
    limits.require_possible(Fraction(1, 2))
    with pytest.raises(ParameterError, match="no risk is above 1; lower the threshold"):
        limits.require_possible(Fraction(1))
    RiskLimits(min_k=2).require_possible(Fraction(1))


def test_shares_are_exact_however_they_are_written() -> None:
    assert share("20%", "t") == share("1/5", "t") == share("0.2", "t") == Fraction(1, 5)


def test_one_person_and_several_people() -> None:
    assert many(1, "person") == "1 person"
    assert many(2000, "person") == "2,000 people"
    assert many(2, "record") == "2 records"
