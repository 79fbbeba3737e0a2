"""Arithmetic on histograms is exact: it equals rationals worked out group by group."""

from fractions import Fraction
from itertools import accumulate
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.lattice import Histogram
from shoal.privacy import histograms as h

Rows = list[list[int]]
"""How often each value occurs, for every group."""


@st.composite
def tables(draw: st.DrawFn, most: int = 6) -> Rows:
    """Up to four groups of up to five values; every group has a record."""
    values = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, most), min_size=values, max_size=values).filter(any)
    return draw(st.lists(row, max_size=4))


def histogram_of(rows: Rows, values: int | None = None) -> Histogram:
    entries = [(g, v, n) for g, row in enumerate(rows) for v, n in enumerate(row) if n]
    group, value, count = (
        np.array([entry[part] for entry in entries], dtype=np.int64) for part in range(3)
    )
    if values is None:
        values = len(rows[0]) if rows else 1
    return Histogram(group, value, count, len(rows), values)


def matrix_of(histogram: Histogram) -> Rows:
    return [[int(n) for n in row] for row in histogram.dense()]


def sizes_and_total(rows: Rows) -> tuple[h.Ints, h.Ints]:
    sizes = np.array([sum(row) for row in rows], dtype=np.int64)
    return sizes, np.array([sum(column) for column in zip(*rows, strict=True)], dtype=np.int64)


# Integers that may be large


@given(
    st.lists(st.tuples(*[st.integers(-(2**62), 2**62)] * 2), max_size=4),
    st.integers(0, 2**62),
    st.integers(0, 2**62),
)
def test_products_are_compared_exactly_beyond_64_bits(
    pairs: list[tuple[int, int]], by: int, times: int
) -> None:
    left = np.array([pair[0] for pair in pairs], dtype=np.int64)
    right = np.array([pair[1] for pair in pairs], dtype=np.int64)
    signs = [(a * by > b * times) - (a * by < b * times) for a, b in pairs]
    assert h.compare(left, by, right, times).tolist() == signs


def test_integers_fit_64_bits_up_to_the_last_one() -> None:
    values = np.array([-(2**31), 3], dtype=np.int64)
    assert h.fitting(values, 2**32 - 1) is np.int64
    assert h.fitting(values, 2**32) is object
    assert h.fitting(np.zeros(0, dtype=np.int64), 5) is np.int64


# From entries to groups


@given(tables())
def test_entries_are_summed_group_by_group(rows: Rows) -> None:
    histogram = histogram_of(rows)
    starts = h.starts_of(histogram)
    entries = [[n for n in row if n] for row in rows]
    assert h.sums(histogram.count, starts).tolist() == [sum(row) for row in entries]
    highest = h.highest(histogram.count.astype(np.float64), starts)
    assert highest.tolist() == [max(row) for row in entries]
    above = h.all_of(histogram.count > 1, starts)
    assert above.tolist() == [min(row) > 1 for row in entries]


def test_the_least_and_most_are_those_of_kept_groups_and_0_without_any() -> None:
    values = np.array([5, 2, 9])
    kept = np.array([True, False, True])
    assert (h.least(values, None), h.most(values, None)) == (2, 9)
    assert (h.least(values, kept), h.most(values, ~kept)) == (5, 2)
    assert h.least(values, kept & ~kept) == h.most(values[:0], None) == 0


# What a group's values are like


@given(tables())
def test_a_group_is_described_by_its_own_counts(rows: Rows) -> None:
    histogram = histogram_of(rows)
    entries = [[n for n in row if n] for row in rows]
    assert h.distinct(histogram).tolist() == [len(row) for row in entries]
    assert h.even(histogram).tolist() == [len(set(row)) == 1 for row in entries]
    falling = [n for row in entries for n in sorted(row, reverse=True)]
    assert h.descending(histogram).tolist() == falling
    information = [sum(n * log(n) for n in row) for row in entries]
    assert h.self_information(histogram).tolist() == pytest.approx(information)


@pytest.mark.parametrize(
    ("counts", "least", "holds"),
    [
        ((4, 1, 1, 1, 1), Fraction(4), True),  # ½ and four times ⅛ have two bits
        ((4, 1, 1, 1, 1), Fraction(4) + Fraction(1, 10**9), False),
        ((4001, 1000, 1000, 1000, 1000), Fraction(4), False),
        ((4000, 1000, 1000, 1000, 1001), Fraction(4), True),
        ((10**9, 10**9), Fraction(2), True),  # as (1, 1)
        ((7,), Fraction(1), True),
        ((7,), Fraction(1) + Fraction(1, 10**9), False),
        ((10**9 + 1, 10**9), Fraction(1), False),  # too large to decide
    ],
)
def test_entropy_is_compared_exactly_or_not_at_all(
    counts: tuple[int, ...],
    least: Fraction,
    holds: bool,
) -> None:
    assert h.diverse(counts, least) is holds


# How far the values of a group are from those of the whole table


@given(st.one_of(tables(), tables(10**9)))
def test_distances_from_the_whole_table_are_those_of_shares(rows: Rows) -> None:
    histogram = histogram_of(rows)
    sizes, total = sizes_and_total(rows) if rows else (np.zeros(0, int), np.zeros(1, int))
    records = int(total.sum())
    surplus, carried = [], []
    for row in rows:
        gaps = [
            Fraction(n, sum(row)) - Fraction(int(t), records)
            for n, t in zip(row, total, strict=True)
        ]
        surplus.append(sum(max(gap, Fraction(0)) for gap in gaps) * sum(row) * records)
        carried.append(sum(map(abs, accumulate(gaps))) * sum(row) * records)
    assert [int(each) for each in h.surplus(histogram, sizes, total)] == surplus
    assert [int(each) for each in h.carried(histogram, sizes, total)] == carried


# Histograms of other values


@given(tables(), st.data())
def test_values_that_become_one_are_added_up(rows: Rows, data: st.DataObject) -> None:
    values = len(rows[0]) if rows else 1
    codes = data.draw(st.lists(st.integers(0, 3), min_size=values, max_size=values))
    rolled = h.rolled(histogram_of(rows), np.array(codes), 4)
    expected = [[0] * 4 for _ in rows]
    for row, merged in zip(rows, expected, strict=True):
        for value, number in enumerate(row):
            merged[codes[value]] += number
    assert (rolled.groups, rolled.values, matrix_of(rolled)) == (len(rows), 4, expected)
    places = list(zip(rolled.group.tolist(), rolled.value.tolist(), strict=True))
    assert places == sorted(set(places))


def test_an_ordered_histogram_has_the_places_of_its_values() -> None:
    ordered = h.ordered(histogram_of([[1, 2, 3], [0, 4, 0]]), np.array([2, 0, 1]))
    assert matrix_of(ordered) == [[2, 3, 1], [4, 0, 0]]
