"""Schemas: k-medoids, similarities, what buys them and how far one record moves it, and what a free
one tells.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attack.coins import Enumerated, law
from shoal.chance import Chance
from shoal.errors import InternalError, ParameterError, TooLargeError
from shoal.exact.epsilon import Epsilon
from shoal.methods.columns import Columns, schema_of, schemas
from shoal.methods.columns import long as long_form
from shoal.methods.columns.schemas import (
    ASSOCIATION,
    Pairs,
    bought_association,
    clustered,
    contingency,
    k_medoids,
    pairs_of,
    similarity,
)
from tests.columns_forms import Database, Groups, long, wide

ERRATA = ["111", "111", "001", "010", "110", "101", "101", "101"]


def bits(rows: Sequence[str]) -> shoal.Table:
    frame = pl.DataFrame(
        [[int(bit) for bit in row] for row in rows], schema=["a", "b", "c"], orient="row"
    )
    return shoal.table(frame, quasi=["a", "b", "c"])


def test_a_schema_from_the_private_table_for_free_is_caught() -> None:
    """One record decides it, so some releases are possible with the record only: δ = 1."""
    with_it, without = ERRATA, [row for row in ERRATA if row != "110"]
    assert schema_of(bits(with_it), 2) != schema_of(bits(without), 2)
    one, other = (
        Columns(1, "1e-3", groups=2, public=bits(rows)).release(bits(rows))
        for rows in (with_it, without)
    )
    assert one.certificate.derived["schema"] != other.certificate.derived["schema"]
    fair = [
        Columns(1, "1e-3", groups=2, public=bits(with_it)).release(bits(rows))
        for rows in (with_it, without)
    ]
    assert fair[0].certificate.derived == fair[1].certificate.derived


# Schemas


def cost(distance: npt.NDArray[np.int64], medoids: Sequence[int]) -> int:
    return int(distance[:, list(medoids)].min(axis=1).sum())


def cost_of(distance: npt.NDArray[np.int64], groups: Groups) -> int:
    """Of the best medoid in each group."""
    return sum(int(distance[np.ix_(group, group)].sum(axis=0).min()) for group in groups)


distances = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.integers(0, 9), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2).map(
        lambda upper: squared(n, upper)
    )
)


def squared(n: int, upper: Sequence[int]) -> npt.NDArray[np.int64]:
    made = np.zeros((n, n), dtype=np.int64)
    made[np.triu_indices(n, 1)] = upper
    return made + made.T


@given(distances, st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_k_medoids_is_a_partition_that_no_swap_improves(
    distance: npt.NDArray[np.int64], number: int
) -> None:
    number = min(number, len(distance))
    groups = k_medoids(distance, number)
    assert sorted(place for group in groups for place in group) == list(range(len(distance)))
    assert len(groups) == number
    assert groups == k_medoids(distance.copy(), number) == tuple(sorted(groups))
    # Some medoids with one in each group cost no less than the groups, and no swap of one of them
    # for another column costs less.
    optimum = min(cost(distance, medoids) for medoids in combinations(range(len(distance)), number))
    local = [
        medoids
        for medoids in product(*groups)
        if cost(distance, medoids) == cost_of(distance, groups)
        or cost(distance, medoids) < cost_of(distance, groups)
        if all(
            cost(distance, [*medoids[:i], other, *medoids[i + 1 :]]) >= cost(distance, medoids)
            for i in range(number)
            for other in range(len(distance))
        )
    ]
    assert local
    assert cost_of(distance, groups) >= optimum


def test_k_medoids_finds_clear_groups_among_many_columns() -> None:
    random = np.random.default_rng(1)
    place = random.integers(0, 20, 400)
    place[:20] = np.arange(20)
    distance = np.where(place[:, None] == place, 0, 1000) + random.integers(1, 100, (400, 400))
    distance = np.triu(distance, 1) + np.triu(distance, 1).T
    assert {frozenset(group) for group in k_medoids(distance, 20)} == {
        frozenset(np.flatnonzero(place == one).tolist()) for one in range(20)
    }


def test_several_clusterings_overlap_and_equal_groups_are_there_once() -> None:
    distance = squared(4, [1, 90, 91, 92, 93, 94])  # 0 and 1 belong together, 2 and 3 stand alone
    assert clustered(distance, [3, 2]) == (
        (0, 1),
        (2,),
        (3,),
        *[g for g in k_medoids(distance, 2) if g not in ((0, 1), (2,), (3,))],
    )
    with pytest.raises(InternalError, match="more groups than there are columns"):
        clustered(distance, [5])


def association(rows: Sequence[Sequence[int]], x: int, y: int) -> Fraction:
    """½Σ|n_xy − n_x n_y / n|, plainly."""
    n, values = len(rows), {row[j] for row in rows for j in (x, y)}
    if not n:
        return Fraction(0)
    total = Fraction(0)
    for a, b in product(values, values):
        n_x, n_y = sum(row[x] == a for row in rows), sum(row[y] == b for row in rows)
        total += abs(sum(row[x] == a and row[y] == b for row in rows) - Fraction(n_x * n_y, n))
    return total / 2


class Silent(Chance):
    """Notes the scales that it is asked for, and adds no noise."""

    def __init__(self) -> None:
        self.scales: list[Fraction] = []

    def discrete_laplaces(self, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
        self.scales.append(Fraction(scale))
        return np.zeros(size, dtype=np.int64)


def associations(
    rows: Sequence[Sequence[int]], columns: int, monkeypatch: pytest.MonkeyPatch
) -> npt.NDArray[np.int64]:
    """The whole numbers that noise is added to."""
    seen: list[npt.NDArray[np.int64]] = []

    def noised(
        exact: npt.NDArray[np.int64], sensitivity: int, epsilon: Epsilon, chance: Chance
    ) -> npt.NDArray[np.int64]:
        assert sensitivity == ASSOCIATION * len(exact)
        seen.append(exact)
        return exact

    monkeypatch.setattr(schemas, "noised", noised)
    bought_association(wide(tuple(map(tuple, rows)), columns).counts, Epsilon.of(1), Chance())
    return seen[0]


def test_associations_are_exact_and_one_record_moves_them_by_two_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain = list(product((0, 1), (0, 1, 2), (0, 1)))
    random = np.random.default_rng(2)
    moved = 0
    for size in (0, 1, 2, 3, 5, 40):
        for _ in range(6):
            rows = [domain[i] for i in random.integers(0, len(domain), size) ** 2 % len(domain)]
            before = associations(rows, 3, monkeypatch)
            assert before.tolist() == [
                association(rows, x, y) // 1 for x, y in combinations(range(3), 2)
            ]
            for record in domain:
                after = associations([*rows, record], 3, monkeypatch)
                assert abs(after - before).max() <= ASSOCIATION
                assert all(
                    abs(association([*rows, record], x, y) - association(rows, x, y)) <= 2
                    for x, y in combinations(range(3), 2)
                )
                moved = max(moved, int(abs(after - before).max()))
    assert moved == 2  # a sensitivity of 1 would be caught


def test_bought_associations_get_noise_for_all_pairs() -> None:
    chance = Silent()
    rows = tuple((i % 2, i % 2, i % 3, i % 5) for i in range(60))
    distance = bought_association(wide(rows, 4).counts, Epsilon.of("1/2"), chance)
    assert chance.scales == [2 * 6 / Fraction(1, 2)]
    assert k_medoids(distance, 3)[0] == (0, 1)


ITEMS = 3


def pair_counts(database: Database, looked_at: int) -> set[tuple[int, ...]]:
    """All vectors of whole numbers that noise may be added to, for every choice of items."""
    form = long(database, ITEMS)
    seen: list[tuple[int, ...]] = []

    class Telling(Enumerated):
        def discrete_laplaces(self, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
            assert scale == looked_at**2
            return np.zeros(size, dtype=np.int64)

    def run(chance: Enumerated) -> tuple[int, ...]:
        told: list[npt.NDArray[np.int64]] = []
        right = schemas.bought_pairs

        def bought(pairs: Pairs, *rest: Any) -> Pairs:
            upper = np.triu_indices(ITEMS, 1)
            told.extend([pairs.single, pairs.both[upper], pairs.same[upper]])
            return right(pairs, *rest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_form, "bought_pairs", bought)
            form.bought(Epsilon.of(1), chance, looked_at)
        return tuple(np.concatenate(told).tolist())

    seen.extend(law(run, Telling))
    return set(seen)


@pytest.mark.parametrize("looked_at", [1, 2, 3])
def test_a_person_moves_the_counts_of_pairs_by_the_square_of_the_items_looked_at(
    looked_at: int,
) -> None:
    domain = [
        record
        for record in product((1, 2, None), repeat=ITEMS)
        if sum(v is not None for v in record) <= 3
    ]
    few = [record for record in domain if sum(v is not None for v in record) <= looked_at]
    moved = 0
    for database in [(), *((record,) for record in few[::3]), tuple(few[:4])]:
        (before,) = pair_counts(database, looked_at)
        for record in domain:
            for after in pair_counts((*database, record), looked_at):
                moved = max(moved, sum(abs(a - b) for a, b in zip(before, after, strict=True)))
    assert moved == looked_at**2  # and no less: the bound is tight


def test_the_similarity_of_ratings_is_the_papers() -> None:
    database = ((1, 1, None), (2, 2, 1), (1, 2, None), (None, 1, 1))
    pairs = pairs_of(*long(database, 3).rows.projected(range(3)), 3)
    assert pairs.single.tolist() == [3, 4, 2]
    assert pairs.both.tolist() == [[0, 3, 1], [0, 0, 2], [0, 0, 0]]
    assert pairs.same.tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    one = 1 << 30
    assert similarity(pairs).tolist() == [
        [0, one - 2 * one // 4, one],
        [one - 2 * one // 4, 0, one - one // 4],
        [one, one - one // 4, 0],
    ]


def test_the_similarity_of_categories_is_the_mean_square_contingency() -> None:
    rows = [
        (a, b, (a + b) % 2)
        for a, b, times in [(0, 0, 5), (0, 1, 2), (1, 0, 1), (1, 1, 7), (2, 1, 4)]
        for _ in range(times)
    ]
    distance = contingency(wide(tuple(rows), 3).counts)
    for x, y in combinations(range(3), 2):
        n, chi = len(rows), Fraction(0)
        xs, ys = sorted({row[x] for row in rows}), sorted({row[y] for row in rows})
        for a, b in product(xs, ys):
            expected = Fraction(
                sum(row[x] == a for row in rows) * sum(row[y] == b for row in rows), n
            )
            chi += (sum((row[x], row[y]) == (a, b) for row in rows) - expected) ** 2 / expected
        assert distance[x, y] / (1 << 30) == pytest.approx(
            float(1 - chi / (n * (min(len(xs), len(ys)) - 1))), abs=1e-8
        )
    assert (
        contingency(wide(((1, 1), (1, 2)), 2).counts) == [[0, 1 << 30], [1 << 30, 0]]
    ).all()  # of one value nothing follows


def test_a_schema_whose_matrices_do_not_fit_is_refused_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 1000)
    for form in (wide, long):
        with pytest.raises(TooLargeError, match="a schema for 5 columns"):
            form(((1,) * 5,), 5).distance()


def test_columns_of_many_values_are_counted_as_those_of_few() -> None:
    random = np.random.default_rng(6)
    counts = wide(tuple(map(tuple, random.integers(0, 5, (300, 3)).tolist())), 3).counts
    sparse = replace(counts, cards=(100_000,) * 3)  # as if there were as many values
    assert (contingency(counts) == contingency(sparse)).all()
    assert (
        bought_association(counts, Epsilon.of(1), Silent())
        == bought_association(sparse, Epsilon.of(1), Silent())
    ).all()


def test_a_schema_that_noise_would_drown_is_refused_before_a_ledger_counts_it() -> None:
    people = shoal.table(pl.DataFrame({"a": ["x"], "b": ["y"]}), quasi=["a", "b"])
    with pytest.raises(ParameterError, match="noise"):
        shoal.Columns(1, "1e-3", groups=[2], buying="1e-16").promise(people.schema)
