"""Risk: goldens worked out by hand, suppressed rows, populations, and the same answers as other
tools."""

import json
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ColumnError, ParameterError
from shoal.measure.risk import assess


def people(**columns: list[Any]) -> shoal.Table:
    return shoal.table(pl.DataFrame(columns))


SIX = {
    "age": ["30", "30", "30", "40", "40", "50"],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "ill": ["flu", "flu", "cold", "flu", "cold", "cold"],
    "name": ["a", "b", "c", "d", "e", "f"],
}


def test_prosecutor_risk_is_what_it_is_by_hand() -> None:
    found = assess(people(**SIX), quasi=["age", "sex"])
    assert (found.rows, found.records, found.suppressed) == (6, 6, 0)
    assert (found.groups, found.k, found.largest, found.uniques) == (3, 1, 3, 1)
    assert found.sample_uniqueness == 1 / 6
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == 3 / 6
    assert found.prosecutor.average_of_groups == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert (found.prosecutor.records_at_risk, found.prosecutor.at_risk) == (6, 1)
    assert found.marketer == 3 / 6
    assert found.journalist is None
    assert (found.columns, found.left_out) == (("age", "sex"), ("ill", "name"))


@pytest.mark.parametrize(
    ("threshold", "at_risk"),
    [
        (0, 6),
        (0.2, 6),
        ("1/3", 3),
        (Fraction(1, 3), 3),
        (0.3333, 6),
        (0.34, 3),
        (0.5, 1),
        (0.99, 1),
        (1, 0),
    ],
)
def test_a_record_is_at_risk_above_the_threshold_and_not_at_it(
    threshold: Any, at_risk: int
) -> None:
    assert (
        assess(people(**SIX), quasi=["age", "sex"], threshold=threshold).prosecutor.records_at_risk
        == at_risk
    )


def test_a_threshold_of_one_fifth_asks_for_groups_of_five() -> None:
    groups = people(a=["x"] * 5 + ["y"] * 4)
    assert assess(groups, quasi=["a"], threshold=0.2).prosecutor.records_at_risk == 4


def test_sensitive_columns_get_what_their_groups_achieve() -> None:
    found = assess(people(**SIX), quasi=["sex"], sensitive=["ill"]).sensitive["ill"]
    assert found.distinct == 2
    entropy = -(2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3))
    assert found.entropy == pytest.approx(np.exp(entropy))
    assert found.recursive == pytest.approx(2 / 1)
    assert found.closeness == pytest.approx(2 / 3 - 1 / 2)
    assert found.closeness_ordered is None
    assert found.likeness == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert found.disclosure == pytest.approx(abs(log((1 / 3) / (1 / 2))))


def test_ordered_closeness_is_for_columns_with_an_order() -> None:
    table = people(sex=["f", "f", "m", "m"], salary=[1, 2, 3, 4])
    found = assess(table, quasi=["sex"], sensitive=["salary"]).sensitive["salary"]
    assert found.closeness == pytest.approx(1 / 2)
    # f has its mass a quarter too far left after the first value, a half after the second, a
    # quarter after the third
    assert found.closeness_ordered == pytest.approx((1 / 4 + 1 / 2 + 1 / 4) / 3)
    assert found.recursive == pytest.approx(1)


def test_a_group_with_one_sensitive_value_has_no_recursive_diversity() -> None:
    assert (
        assess(people(**SIX), quasi=["age"], sensitive=["ill"]).sensitive["ill"].recursive is None
    )


def test_roles_of_the_table_are_the_default() -> None:
    table = shoal.table(pl.DataFrame(SIX), quasi=["age"], sensitive=["ill"], identifying=["name"])
    found = assess(table)
    assert (found.columns, tuple(found.sensitive), found.left_out) == (
        ("age",),
        ("ill",),
        ("sex", "name"),
    )


def test_suppressed_rows_are_recognised_and_no_group() -> None:
    table = people(age=["3*", "3*", "*", "*", "*"], sex=["f", "f", "f", "*", "*"])
    found = assess(table, quasi=["age", "sex"])
    assert (found.rows, found.records, found.suppressed, found.groups, found.k) == (5, 3, 2, 2, 1)
    assert found.prosecutor.average == 2 / 3


def test_rows_with_nothing_but_missing_values_are_suppressed_too() -> None:
    table = people(age=[30, 30, None], sex=["f", None, None])
    found = assess(table, quasi=["age", "sex"])
    assert (found.records, found.suppressed, found.groups) == (2, 1, 2)


def test_markers_of_suppressed_rows_can_be_given() -> None:
    table = people(age=["30", "30", "all"], sex=["f", "f", "any"])
    assert assess(table, quasi=["age", "sex"], markers=["all", "any"]).k == 2
    assert assess(table, quasi=["age", "sex"]).k == 1
    star = people(age=["30", "*"])
    assert assess(star, quasi=["age"], markers=[]).suppressed == 0


def test_suppressed_rows_do_not_tell_about_sensitive_values() -> None:
    table = people(age=["3*", "3*", "*"], ill=["flu", "cold", "plague"])
    found = assess(table, quasi=["age"], sensitive=["ill"]).sensitive["ill"]
    assert (found.distinct, found.closeness) == (2, 0)


def test_a_table_without_records_has_no_k_and_no_risk() -> None:
    for table in (
        people(age=["*", "*"]),
        shoal.table(pl.DataFrame({"age": []}, schema={"age": pl.String})),
    ):
        found = assess(table, quasi=["age"], details=True, fraction=0.1)
        assert (found.records, found.groups, found.k, found.uniques, found.largest) == (
            0,
            0,
            None,
            0,
            0,
        )
        assert (found.prosecutor.highest, found.prosecutor.average, found.marketer) == (0, 0, 0)


def test_journalist_risk_goes_by_the_groups_of_the_population() -> None:
    table = people(age=[30, 30, 40], sex=["f", "f", "m"])
    population = people(sex=["f"] * 8 + ["m", "m", "f"], age=["030"] * 8 + ["40", "40", "99"])
    found = assess(table, quasi=["age", "sex"], population=population)
    assert found.journalist is not None
    assert found.journalist.highest == 1 / 2
    assert found.journalist.average == pytest.approx((2 * 1 / 8 + 1 / 2) / 3)
    assert found.journalist.average_of_groups == pytest.approx((1 / 8 + 1 / 2) / 2)
    assert found.journalist.records_at_risk == 1
    assert found.marketer == found.journalist.average
    assert found.prosecutor.highest == 1
    assert found.outside == 0


def test_records_that_the_population_lacks_are_counted_and_no_safer_than_for_the_prosecutor() -> (
    None
):
    table = people(age=[30, 30, 40])
    population = people(age=[30, 41])
    found = assess(table, quasi=["age"], population=population)
    assert found.outside == 3
    assert found.journalist == found.prosecutor


def test_a_population_needs_the_same_columns() -> None:
    with pytest.raises(ColumnError, match="'sex'"):
        assess(people(**SIX), quasi=["age", "sex"], population=people(age=[30]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quasi": []}, "no quasi-identifying columns"),
        ({"quasi": ["height"]}, "'height'"),
        ({"quasi": ["age", "age"]}, "twice"),
        ({"quasi": ["age"], "sensitive": ["age"]}, "both"),
        ({"quasi": ["age"], "sensitive": ["height"]}, "'height'"),
    ],
)
def test_a_wrong_column_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        assess(people(**SIX), **options)


@pytest.mark.parametrize("option", ["threshold", "fraction", "unique_share"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "many"])
def test_a_share_is_from_0_to_1(option: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=option):
        assess(people(**SIX), quasi=["age"], **{option: value})


def test_an_assessment_is_ready_for_json() -> None:
    found = assess(
        people(**SIX),
        quasi=["age", "sex"],
        sensitive=["ill"],
        details=True,
        fraction=0.1,
        population=people(**SIX),
    )
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"records", "groups", "k", "uniques", "prosecutor"} <= set(read)
    assert {"highest", "average"} <= set(read["prosecutor"])


def test_details_are_made_on_request_only() -> None:
    found = assess(people(**SIX), quasi=["age", "sex"], fraction=0.1)
    assert (found.column_risks, found.identifying_sets, found.population_uniqueness) == (
        None,
        None,
        None,
    )
    found = assess(people(**SIX), quasi=["age", "sex"], details=True)
    assert found.column_risks is not None
    assert found.identifying_sets is not None
    assert found.population_uniqueness is None


tables = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=14,
)


@given(tables)
def test_risks_are_averages_over_records(rows: list[tuple[int, ...]]) -> None:
    found = assess(
        people(**{f"c{j}": [str(row[j]) for row in rows] for j in range(4)}),
        quasi=[f"c{j}" for j in range(4)],
    )
    risk = [1 / rows.count(row) for row in rows]
    assert found.prosecutor.average == pytest.approx(sum(risk) / len(rows))
    assert found.prosecutor.highest == max(risk)
    assert found.prosecutor.records_at_risk == sum(one > 0.2 for one in risk)
    assert found.uniques == risk.count(1)
    assert found.k == min(map(rows.count, rows))


# Other tools


def test_adult_has_the_risks_pycanon_finds(shared_data: Path) -> None:
    """pycanon 1.3.5 on the same columns.

    Its average risk is over groups, and it rounds entropy l down.
    """
    table = shoal.table(pl.read_csv(shared_data / "adult" / "adult.csv", separator=";"))
    found = assess(
        table, quasi=["sex", "age", "race", "marital-status"], sensitive=["salary-class"]
    )
    assert (found.k, found.prosecutor.highest) == (1, 1)
    assert found.prosecutor.average_of_groups == pytest.approx(0.46984591519122215)  # average_rir
    assert found.sensitive["salary-class"].closeness == pytest.approx(0.7510775147536636)
    assert found.sensitive["salary-class"].likeness == pytest.approx(3.0173148641449123)
    assert found.sensitive["salary-class"].disclosure == pytest.approx(4.189116090771991)
    coarse = assess(table, quasi=["sex", "race"], sensitive=["salary-class"])
    assert coarse.k == 87
    assert coarse.prosecutor.highest == pytest.approx(0.011494252873563218)
    assert coarse.prosecutor.average_of_groups == pytest.approx(0.004003845380843377)
    assert (
        coarse.sensitive["salary-class"].distinct,
        int(coarse.sensitive["salary-class"].entropy),
    ) == (2, 1)
    assert coarse.sensitive["salary-class"].closeness == pytest.approx(0.20294547375208355)
    assert coarse.sensitive["salary-class"].likeness == pytest.approx(0.38366751560398815)
    assert coarse.sensitive["salary-class"].disclosure == pytest.approx(1.6890000223204622)
