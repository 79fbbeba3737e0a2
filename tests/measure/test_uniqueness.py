"""Which columns single people out, and population uniqueness: by hand, by enumeration, and on
populations that a model is right about."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.counts import Counts, group
from shoal.measure import uniqueness
from shoal.measure.risk import assess
from shoal.measure.uniqueness import (
    column_risks,
    crowds_of_people,
    identifying_sets,
    population_uniqueness,
)

# Identifying sets and what columns add


def cells(**columns: str) -> Counts:
    """Counts of rows, one letter for each row's value in a column."""
    frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
    return shoal.table(frame).count([*columns], {})


tables = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=14,
)


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
    codes = list(np.array(rows, dtype=np.uint8).T)
    found = identifying_sets(group([f"{j}" for j in range(4)], codes, [3, 2, 4, 2]), share)
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
    counts = cells(a="0011", b="0101")
    assert [each.columns for each in identifying_sets(counts)] == [("a", "b")]
    assert identifying_sets(counts, largest=1) == ()


def test_shares_of_columns_in_the_risk_are_what_they_are_by_hand() -> None:
    # Groups: 1 from nothing, 4 from a, 2 from b, 4 from both. Gains of a: 3 before b, 2 after; of
    # b: 1 and 0.
    first, second = column_risks(cells(a="0123", b="xxyy"))
    assert (first.column, first.values, first.alone, first.without) == ("a", 4, 4 / 4, 2 / 4)
    assert (second.column, second.values, second.alone, second.without) == ("b", 2, 2 / 4, 4 / 4)
    assert (first.share, second.share) == pytest.approx((2.5 / 3, 0.5 / 3))
    # Without a, everybody shares b with one other; without b, all are alone by a.
    assert (first.uniques_without, second.uniques_without) == (0, 4)


def test_shares_add_up_to_one_and_a_constant_column_has_none() -> None:
    chance = np.random.default_rng(1)
    for columns in (3, uniqueness.EXACT_COLUMNS + 3):
        codes = [chance.integers(0, 3, 200).astype(np.uint8) for _ in range(columns - 1)]
        codes.append(np.zeros(200, dtype=np.uint8))
        names = [f"{j}" for j in range(columns)]
        risks = column_risks(group(names, codes, [3] * columns))
        assert sum(risk.share for risk in risks) == pytest.approx(1)
        assert (risks[-1].column, risks[-1].share) == (f"{columns - 1}", 0)


def test_columns_that_all_say_the_same_of_everyone_share_alike() -> None:
    alike = group(["a", "b"], [np.zeros(3, dtype=np.uint8)] * 2, [1, 1])
    assert [risk.share for risk in column_risks(alike)] == [0.5, 0.5]


def test_people_with_several_rows_are_unique_by_what_nobody_else_has() -> None:
    counts = cells(a="0012", b="0101")  # in the order of the rows, which are all different
    people = np.array([0, 1, 1, 2])
    found = {each.columns: each.uniques for each in identifying_sets(counts, people=people)}
    # Only the second person has a 1 in a, and only the third a 2; every b is shared.
    assert found == {("a",): 2}
    assert crowds_of_people(np.array([2, 2, 1, 1]), people).tolist() == [2, 1, 1]
    by_column = {risk.column: risk for risk in column_risks(counts, people)}
    assert by_column["a"].alone == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert by_column["b"].uniques_without == 2


def test_nobody_is_unique_among_rows_that_all_occur_twice() -> None:
    assert identifying_sets(cells(a="0011", b="0011")) == ()


def test_sets_of_many_columns_are_searched_as_far_as_there_are_few() -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{i}": random.integers(0, 3, 150) for i in range(45)})
    sets = assess(shoal.table(frame, quasi=frame.columns), details=True).identifying_sets
    assert sets is not None
    assert not sets  # no two columns of three values each make one of 150 records unique
    fewer = assess(shoal.table(frame, quasi=frame.columns[:30]), details=True).identifying_sets
    assert fewer
    assert {len(one.columns) for one in fewer} == {3}


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
    to its size less α."""
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
