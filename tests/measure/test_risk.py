"""Risk: goldens worked out by hand, suppressed rows, populations, uniqueness, and the same answers
as other tools.
"""

import json
from fractions import Fraction
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.counts import group
from shoal.errors import ColumnError, ParameterError
from shoal.measure import uniqueness
from shoal.measure.risk import assess
from shoal.measure.uniqueness import column_risks, identifying_sets, population_uniqueness


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


@given(tables, st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)]))
def test_identifying_sets_are_the_minimal_ones_and_all_of_them(
    rows: list[tuple[int, ...]], share: Fraction
) -> None:
    def uniques(columns: tuple[int, ...]) -> int:
        seen = [tuple(row[j] for j in columns) for row in rows]
        return sum(seen.count(one) == 1 for one in seen)

    enough = [
        set(columns)
        for size in range(1, 5)
        for columns in combinations(range(4), size)
        if uniques(columns) > share * len(rows)
    ]
    minimal = {tuple(sorted(one)) for one in enough if not any(other < one for other in enough)}
    cells = group([f"{j}" for j in range(4)], list(np.array(rows, dtype=np.uint8).T), [3, 2, 4, 2])
    found = identifying_sets(cells, share)
    assert {tuple(int(name) for name in one.columns) for one in found} == minimal
    for one in found:
        assert one.uniques == uniques(tuple(int(name) for name in one.columns))
        assert one.share == one.uniques / len(rows)


def test_columns_with_more_combinations_than_an_integer_holds_are_told_apart() -> None:
    chance = np.random.default_rng(0)
    many = 1 << 22
    codes = [chance.integers(0, 2, 40).astype(np.uint32) * (many - 1) for _ in range(4)]
    wide = group(list("abcd"), codes, [many] * 4)
    narrow = group(list("abcd"), [(column > 0).astype(np.uint8) for column in codes], [2] * 4)
    assert identifying_sets(wide) == identifying_sets(narrow)
    assert column_risks(wide) == column_risks(narrow)


def test_larger_identifying_sets_are_left_out() -> None:
    table = people(a=["0", "0", "1", "1"], b=["0", "1", "0", "1"])
    cells = table.count(["a", "b"], {})
    assert [one.columns for one in identifying_sets(cells)] == [("a", "b")]
    assert identifying_sets(cells, largest=1) == ()


def test_shares_of_columns_in_the_risk_are_what_they_are_by_hand() -> None:
    # Groups: 1 from nothing, 4 from a, 2 from b, 4 from both. Gains of a: 3 before b, 2 after; of
    # b: 1 and 0.
    table = people(a=["0", "1", "2", "3"], b=["x", "x", "y", "y"])
    first, second = column_risks(table.count(["a", "b"], {}))
    assert (first.column, first.values, first.alone, first.without) == ("a", 4, 4 / 4, 2 / 4)
    assert (second.column, second.values, second.alone, second.without) == ("b", 2, 2 / 4, 4 / 4)
    assert (first.share, second.share) == pytest.approx((2.5 / 3, 0.5 / 3))


def test_shares_add_up_to_one_and_a_constant_column_has_none() -> None:
    chance = np.random.default_rng(1)
    for columns in (3, uniqueness.EXACT_COLUMNS + 3):
        codes = [chance.integers(0, 3, 200).astype(np.uint8) for _ in range(columns - 1)]
        cells = group(
            [f"{j}" for j in range(columns)], [*codes, np.zeros(200, dtype=np.uint8)], [3] * columns
        )
        risks = column_risks(cells)
        assert sum(risk.share for risk in risks) == pytest.approx(1)
        assert (risks[-1].column, risks[-1].share) == (f"{columns - 1}", 0)


def test_columns_that_all_say_the_same_of_everyone_share_alike() -> None:
    cells = group(["a", "b"], [np.zeros(3, dtype=np.uint8)] * 2, [1, 1])
    assert [risk.share for risk in column_risks(cells)] == [0.5, 0.5]


# Population uniqueness


def sampled(
    population: npt.NDArray[np.int64], fraction: float, seed: int = 0
) -> npt.NDArray[np.int64]:
    """Group sizes of a simple random sample."""
    chance = np.random.default_rng(seed)
    sizes = chance.multivariate_hypergeometric(
        population, round(int(population.sum()) * fraction), method="marginals"
    )
    return np.asarray(sizes[sizes > 0])


def pitman_population(theta: float, alpha: float, people: int) -> npt.NDArray[np.int64]:
    """Groups that grow as Pitman's model says: newcomers found a group, or join one in proportion
    to its size less α.
    """
    chance = np.random.default_rng(3)
    group_of = np.empty(people, dtype=np.int64)
    sizes: list[int] = []
    for person in range(people):
        if chance.random() * (theta + person) < theta + alpha * len(sizes):
            group_of[person] = len(sizes)
            sizes.append(1)
            continue
        while True:
            joined = int(group_of[chance.integers(person)])
            if chance.random() * sizes[joined] < sizes[joined] - alpha:
                break
        group_of[person] = joined
        sizes[joined] += 1
    return np.array(sizes)


@pytest.fixture(scope="module")
def pitman() -> npt.NDArray[np.int64]:
    return pitman_population(20, 0.5, 40_000)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.4])
def test_pitmans_model_finds_the_uniques_of_a_population_of_its_kind(
    pitman: npt.NDArray[np.int64], fraction: float
) -> None:
    true = int((pitman == 1).sum()) / int(pitman.sum())
    found = population_uniqueness(sampled(pitman, fraction), fraction)
    assert found.pitman == pytest.approx(true, rel=0.25)
    assert found.population == 40_000


@pytest.mark.parametrize("fraction", [0.2, 0.5])
def test_the_slide_negative_binomial_finds_the_uniques_of_a_population_of_its_kind(
    fraction: float,
) -> None:
    population = 1 + np.random.default_rng(5).negative_binomial(0.5, 0.05, 20_000)
    true = int((population == 1).sum()) / int(population.sum())
    found = population_uniqueness(sampled(population, fraction), fraction)
    assert found.snb == pytest.approx(true, rel=0.2)
    assert found.zayatz == pytest.approx(true, rel=0.4)


def test_the_estimate_follows_dankars_rule(pitman: npt.NDArray[np.int64]) -> None:
    few = population_uniqueness(sampled(pitman, 0.05), 0.05)
    assert (few.model, few.estimate) == ("pitman", few.pitman)
    many = population_uniqueness(sampled(pitman, 0.4), 0.4)
    assert many.zayatz is not None
    assert many.snb is not None
    assert many.estimate == min(many.zayatz, many.snb)


def test_a_sample_that_is_the_population_is_as_unique_as_it_is() -> None:
    found = population_uniqueness(np.array([1, 1, 2, 3, 4, 9]), 1)
    assert found.zayatz == pytest.approx(2 / 20)
    assert found.snb is None  # nothing was sampled, so there is nothing to estimate
    assert found.estimate == found.zayatz


def test_zayatz_is_what_it_is_by_hand() -> None:
    # Two of one, one of two, from 8 people: a sample of 4 has exactly one of one with 4/8, of two
    # with 2·C(6,3)/C(8,4).
    stays = (2 * 1 / 2) / (2 * 1 / 2 + 1 * 2 * 20 / 70)
    assert population_uniqueness(np.array([1, 1, 2]), 0.5).zayatz == pytest.approx(
        stays * 2 * 2 / 8
    )


def test_without_sample_uniques_nobody_is_estimated_unique() -> None:
    found = population_uniqueness(np.array([2, 3, 5]), 0.1)
    assert (found.pitman, found.zayatz, found.snb, found.estimate) == (0, 0, 0, 0)


def test_a_model_that_does_not_fit_gives_none() -> None:
    all_alone = population_uniqueness(np.ones(50, dtype=np.int64), 0.01)
    assert all_alone.pitman is None  # no two alike: the likelihood has no maximum
    assert all_alone.snb is None  # no group of two to match
    assert all_alone.model == "zayatz"
    as_even_as_can_be = population_uniqueness(np.array([1] + [40] * 20), 0.05)
    assert as_even_as_can_be.pitman is None


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=40),
    st.sampled_from([0.001, 0.05, 0.1, 0.3, 0.9, 1]),
)
def test_estimates_are_shares_or_none_for_every_sample(sizes: list[int], fraction: float) -> None:
    found = population_uniqueness(np.array(sizes), fraction)
    for estimate in (found.pitman, found.zayatz, found.snb, found.estimate):
        assert estimate is None or 0 <= estimate <= 1
    assert found.population >= sum(sizes)


def test_the_digamma_function_is_right() -> None:
    special = pytest.importorskip("scipy.special")
    for x in np.exp(np.linspace(-10, 20, 300)):
        assert uniqueness._digamma(float(x)) == pytest.approx(
            float(special.digamma(x)), rel=1e-12, abs=1e-12
        )


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


def test_sets_of_many_columns_are_searched_as_far_as_there_are_few() -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{i}": random.integers(0, 3, 150) for i in range(45)})
    sets = assess(shoal.table(frame, quasi=frame.columns), details=True).identifying_sets
    assert sets is not None
    assert not sets  # no two columns of three values each make one of 150 records unique
    fewer = assess(shoal.table(frame, quasi=frame.columns[:30]), details=True).identifying_sets
    assert fewer
    assert {len(one.columns) for one in fewer} == {3}
