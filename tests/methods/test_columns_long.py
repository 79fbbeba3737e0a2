"""The long form of `Columns`: the projections that records share, and how rows are laid out."""

from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Chance
from shoal.errors import TooLargeError
from shoal.methods.columns import long as long_form
from shoal.methods.columns.long import Long, Rows, bounded, dense, fits, shared
from tests.columns_forms import (
    draw_nothing_surely,
    released_surely,
    rows_of,
)


@pytest.fixture(autouse=True)
def _surely(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_nothing_surely(monkeypatch)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 2)), max_size=60),
    st.integers(1, 4),
)
@settings(deadline=None)
def test_shared_projections_are_those_that_counting_finds(
    rows: list[tuple[int, int, int]], k: int
) -> None:
    once = {
        (person, item): min(v for p, i, v in rows if (p, i) == (person, item))
        for person, item, _ in rows
    }
    person, item, value = (
        (
            np.array([*column], dtype=np.int64)
            for column in zip(*[(p, i, once[p, i]) for p, i in sorted(once)], strict=True)
        )
        if once
        else (np.zeros(0, dtype=np.int64),) * 3
    )
    plain = Counter(
        tuple((i, once[q, i]) for q, i in sorted(once) if q == p) for p in {p for p, _ in once}
    )
    found: list[tuple[Any, int]] = []
    for one in shared(person, item, value, k):
        for items, values, count in zip(
            one.items.tolist(), one.values.tolist(), one.count.tolist(), strict=True
        ):
            found.append((tuple(zip(items, values, strict=True)), count))
    assert dict(found) == {part: count for part, count in plain.items() if count >= k}
    assert found == sorted(found, key=lambda pair: (len(pair[0]), pair[0]))
    raw = (
        [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
        if rows
        else [np.zeros(0, dtype=np.int64)] * 3
    )
    laid = Rows.of(raw[0].astype(np.uint32), raw[1], raw[2].astype(np.uint8), 9, 4, 3).projected(
        range(4)
    )
    assert [column.tolist() for column in laid] == [person.tolist(), item.tolist(), value.tolist()]


def test_a_value_given_twice_counts_once_and_it_is_the_smallest() -> None:
    frame = pl.DataFrame({"who": [1, 1, 2], "item": ["a", "a", "a"], "stars": [4, 2, 2]})
    table = shoal.table(frame, identifying=["who"], quasi=["item"], sensitive=["stars"])
    drawn = released_surely(Long.of(table, ["a"], "who", "item", "stars", {}), ((0,),), 1)
    assert rows_of(drawn.laid) == ((1, 1, "a", 2, 2),)


def test_rows_that_miss_an_item_or_a_value_say_nothing() -> None:
    frame = pl.DataFrame(
        {"who": [1, 2, 3, 4, 4], "item": ["a", "a", "a", None, "b"], "stars": [1, 1, None, 1, None]}
    )
    table = shoal.table(frame, identifying=["who"], quasi=["item"], sensitive=["stars"])
    form = Long.of(table, ["a", "b"], "who", "item", "stars", {})
    drawn = released_surely(form, ((0,), (1,)), 2)
    assert rows_of(drawn.laid) == ((1, 1, "a", 1, 2),)
    assert drawn.projections == 2


def test_items_without_values_are_there_or_not() -> None:
    frame = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3], "item": ["a", "b", "a", "b", "a", "a"]})
    table = shoal.table(frame, identifying=["who"], quasi=["item"])
    form = Long.of(table, ["a", "b"], "who", "item", None, {})
    drawn = released_surely(form, ((0, 1),), 1, counts=False)
    assert rows_of(drawn.laid) == ((1, 1, "a"), (1, 1, "b"), (2, 1, "a"), (2, 1, "b"))


def test_numbers_that_do_not_fit_are_refused_and_others_are_numbered_anew() -> None:
    with pytest.raises(TooLargeError, match="fewer items"):
        fits(1 << 32, 1 << 32)
    codes = np.array([1 << 60, 5, 1 << 60])
    assert [part.tolist() for part in dense(codes, 1 << 61)] == [[1, 0, 1], [5, 1 << 60]]


@pytest.mark.parametrize("people", [0, 1, 8, 9, 70_000])
def test_people_in_blocks_keep_their_choices(people: int) -> None:
    random = np.random.default_rng(people)
    given = random.random((people, 5)) < 0.6
    bits = [np.packbits(column) for column in given.T]
    kept = np.stack(
        [np.unpackbits(part, count=people) for part in bounded(bits, people, 2, Chance())], axis=1
    ).astype(bool)
    assert (kept <= given).all()
    assert (kept.sum(axis=1) == np.minimum(given.sum(axis=1), 2)).all()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 3), st.integers(0, 2)), max_size=30),
    st.booleans(),
)
def test_rows_are_ordered_by_item_however_many_are_sorted_at_once(
    rows: list[tuple[int, int, int]], valued: bool
) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    with mock.patch.object(long_form, "_ROWS", 4):
        found = Rows.of(
            columns[0].astype(np.uint8),
            columns[1].astype(np.int32),
            columns[2].astype(np.uint8) if valued else None,
            6,
            4,
            3,
        )
    by_item = [row for row in sorted(rows, key=lambda row: row[1]) if row[1] >= 0]
    expected = [(item, person, value if valued else 0) for person, item, value in by_item]
    items = np.repeat(np.arange(4), np.diff(found.starts)).tolist()
    assert [*zip(items, found.person.tolist(), found.value.tolist(), strict=True)] == expected
