"""Counts: the distinct rows and how often each occurs, whichever way is cheapest to find them."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import counts as module
from shoal.counts import Counts, group, last_of_runs, packs_of, ranks, smallest
from shoal.data.hierarchy import Hierarchy
from tests.lattice.small import counted

tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 4)] * columns), max_size=30)
)


def grouped(rows: list[tuple[int, ...]], card: int = 5, weights: list[int] | None = None) -> Counts:
    columns = len(rows[0]) if rows else 1
    codes = [np.array([row[j] for row in rows], dtype=np.uint8) for j in range(columns)]
    count = None if weights is None else np.array(weights, dtype=np.int64)
    return group([f"c{j}" for j in range(columns)], codes, [card] * columns, count)


def as_counter(counts: Counts) -> Counter[tuple[int, ...]]:
    rows = zip(*(column.tolist() for column in counts.codes), strict=True)
    return Counter(dict(zip(rows, counts.count.tolist(), strict=True)))


@pytest.mark.parametrize("card", [5, 1000, 1 << 40], ids=["in an array", "by sorting", "wide"])
@given(tables)
def test_rows_are_counted_in_the_order_of_their_codes(
    card: int, rows: list[tuple[int, ...]]
) -> None:
    counts = grouped(rows, card)
    assert as_counter(counts) == Counter(rows)
    assert list(as_counter(counts)) == sorted(set(rows))
    assert (counts.total, counts.distinct) == (len(rows), len(set(rows)))


@pytest.mark.parametrize("card", [5, 1000, 1 << 40], ids=["in an array", "by sorting", "wide"])
@given(tables, st.data())
def test_weights_count_rows_several_times(
    card: int, rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    size = len(rows)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    expected: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        expected[row] += weight
    assert as_counter(grouped(rows, card, weights)) == expected


@pytest.mark.parametrize("card", [1 << 16, (1 << 16) + 1], ids=["four bytes", "eight bytes"])
def test_keys_that_just_fit_four_bytes_and_just_do_not_are_counted_alike(card: int) -> None:
    last = card - 1
    codes = [np.array([last, 0, last, last]), np.array([last, last, 0, last])]
    unsigned = [column.astype(np.uint32) for column in codes]
    counts = group(["a", "b"], unsigned, [card, card])
    assert as_counter(counts) == {(0, last): 1, (last, 0): 1, (last, last): 2}
    assert list(as_counter(counts)) == [(0, last), (last, 0), (last, last)]


@given(tables)
def test_counts_over_some_columns_are_those_of_their_rows(rows: list[tuple[int, ...]]) -> None:
    counts = grouped(rows)
    last = counts.names[-1:]
    assert as_counter(counts.over(last)) == Counter(row[-1:] for row in rows)


def test_counts_over_no_columns_are_one_row_for_all_records() -> None:
    assert grouped([(1,), (2,), (2,)]).over([]).count.tolist() == [3]
    assert grouped([]).over([]).count.tolist() == []


def test_some_of_the_distinct_rows_can_be_picked() -> None:
    counts = grouped([(1, 2), (1, 3), (1, 3), (4, 0)])
    picked = counts.where(counts.count > 1)
    assert as_counter(picked) == {(1, 3): 2}
    assert picked.column("c1").tolist() == [3]


def test_counts_say_that_they_are_for_the_owner_and_show_no_value() -> None:
    assert repr(grouped([(1, 2), (1, 2)])) == (
        "<owner only: shoal.Counts of c0, c1: 2 records in 1 distinct rows>"
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [(0, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4"), ((1 << 32) + 1, "u8")],
)
def test_codes_take_the_smallest_type_that_holds_them(values: int, kind: str) -> None:
    assert np.dtype(smallest(values)) == np.dtype(kind)


@given(st.lists(st.integers(0, 3), max_size=20))
def test_runs_end_where_the_next_value_differs(values: list[int]) -> None:
    ends = [i for i in range(len(values)) if values[i + 1 : i + 2] != values[i : i + 1]]
    assert last_of_runs(np.array(values, dtype=np.int64)).tolist() == ends


@given(st.lists(st.integers(1, 100), min_size=1, max_size=8), st.integers(1, 5000))
def test_packs_hold_every_column_once_and_few_combinations(cards: list[int], most: int) -> None:
    packs = packs_of(cards, most)
    assert [column for pack in packs for column in pack] == list(range(len(cards)))
    for pack in packs:
        assert len(pack) == 1 or np.prod([cards[j] for j in pack]) <= most


@given(tables)
def test_ranks_are_those_of_the_rows_however_many_combinations_there_are(
    rows: list[tuple[int, ...]],
) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    order = sorted(set(rows))
    for card in (5, 1 << 40):
        found = ranks(columns, [card] * len(columns)).tolist()
        assert found == [order.index(row) for row in rows]


def test_the_ways_to_count_agree_where_the_limit_between_them_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[tuple[int, ...]] = [(i % 5, i * i % 5) for i in range(25)]
    counts = []
    for dense in (0, 1, 2, 100):
        monkeypatch.setattr(module, "_DENSE", dense)
        counts.append(as_counter(grouped(rows)))
    assert all(each == counts[0] for each in counts)


def test_counts_do_not_depend_on_the_order_of_rows() -> None:
    rows = [(0, 1, 2), (1, 1, 0), (0, 1, 2), (0, 0, 3)]
    hierarchies = {
        "c0": Hierarchy.from_lines([["0", "*"], ["1", "*"]]),
        "c1": Hierarchy.from_lines([["0", "*"], ["1", "*"]]),
    }
    for order in itertools.permutations(rows):
        counts = counted(hierarchies, list(order))
        assert [codes.tolist() for codes in counts.codes] == [[0, 0, 1], [0, 1, 1], [3, 2, 0]]
        assert counts.count.tolist() == [1, 2, 1]
        assert (counts.total, counts.distinct) == (4, 3)


def test_counts_over_some_columns_sum_over_the_others() -> None:
    counts = group(
        ["a", "b"], [np.array([0, 0, 1], np.uint8), np.array([0, 1, 1], np.uint8)], [2, 2]
    )
    assert counts.over(["a"]).count.tolist() == [2, 1]
    assert counts.over([]).count.tolist() == [3]


def test_codes_of_eight_bytes_are_counted_exactly() -> None:
    large = 1 << 60
    counts = group(
        ["a", "b"],
        [np.array([1, 0, 1], np.uint8), np.array([large - 1, 5, large - 1], np.uint64)],
        [2, large],
    )
    assert [codes.tolist() for codes in counts.codes] == [[0, 1], [5, large - 1]]
    assert counts.count.tolist() == [1, 2]
