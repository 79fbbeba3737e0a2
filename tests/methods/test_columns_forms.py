"""Both forms of the input of `Columns`: what records give each group, and how rows are laid out."""

from collections import Counter
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Chance, Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, TooLargeError
from shoal.methods import noisy_counts
from shoal.methods.columns import long as long_form
from shoal.methods.columns import wide as wide_form
from shoal.methods.columns.long import Long, Rows, bounded, dense, fits, shared
from shoal.methods.columns.wide import Laid, Wide
from tests.columns_forms import (
    FORMS,
    Database,
    Groups,
    Surely,
    both_forms,
    released_surely,
    rows_of,
    wide,
)

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)


@pytest.fixture(autouse=True)
def _released_surely(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SURELY` draws nothing; all other parameters draw as they should."""
    right = noisy_counts.noisy

    def surely(
        count: npt.NDArray[np.int64], parameters: Any, chance: Chance
    ) -> npt.NDArray[np.int64]:
        if isinstance(parameters, Surely):
            return np.where(count >= parameters.k, count, 0)
        return right(count, parameters, chance)

    for module in (wide_form, long_form):
        monkeypatch.setattr(module, "noisy", surely)


# Projections


def projections(database: Database, groups: Groups, k: int) -> Counter[tuple[object, ...]]:
    """Every group's projections that at least k records share, plainly."""
    found: Counter[tuple[object, ...]] = Counter()
    for place, group in enumerate(groups):
        for record in database:
            part = tuple(record[j] if j in group else None for j in range(len(record)))
            if any(value is not None for value in part):
                found[place + 1, *part] += 1
    return Counter({part: count for part, count in found.items() if count >= k})


records = st.lists(st.tuples(*[st.sampled_from([None, None, 1, 2])] * 4), max_size=30).map(tuple)
schemas_of_four = st.lists(
    st.sets(st.integers(0, 3), min_size=1).map(lambda group: tuple(sorted(group))),
    min_size=1,
    max_size=4,
    unique=True,
)


def found_in(form: str, laid: Laid, columns: int) -> Counter[tuple[object, ...]]:
    rows, found = rows_of(laid), Counter[tuple[object, ...]]()
    if form == "wide":
        names = list(laid)
        for row in rows:
            by_name = dict(zip(names, row, strict=True))
            found[by_name["column_group"], *(by_name.get(f"c{j}") for j in range(columns))] += int(
                str(by_name["count"])
            )
        return found
    people: dict[object, Any] = {}
    for record, group, item, value, count in rows:
        people.setdefault(record, [group, [None] * columns, count])[1][int(str(item)[1:])] = value
    for group, values, count in people.values():
        found[group, *values] += count
    return found


@both_forms
@given(database=records, groups=schemas_of_four.map(tuple))
@settings(max_examples=60, deadline=None)
def test_both_forms_find_the_projections_that_are_shared(
    form: str, database: Database, groups: Groups
) -> None:
    drawn = released_surely(FORMS[form](database, 4), groups, len(groups))
    expected = projections(database, groups, 2)
    assert found_in(form, drawn.laid, 4) == expected
    assert drawn.released == expected.total()
    assert drawn.projections == projections(database, groups, 1).total()


@both_forms
@given(database=records, groups=schemas_of_four.map(tuple), most=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_record_gives_more_groups_than_allowed(
    form: str, database: Database, groups: Groups, most: int
) -> None:
    drawn = released_surely(FORMS[form](database, 4), groups, most)
    allowed = 0
    for record in database:
        given = [any(record[j] is not None for j in group) for group in groups]
        allowed += min(most, sum(given))
    assert drawn.projections == allowed
    assert not found_in(form, drawn.laid, 4) - projections(database, groups, 1)


@both_forms
def test_the_order_of_rows_and_of_people_does_not_matter(form: str) -> None:
    random = np.random.default_rng(3)
    database = [tuple(int(v) if v else None for v in row) for row in random.integers(0, 3, (60, 4))]
    groups = ((0, 1), (2, 3), (1, 2))
    released = []
    for _ in range(3):
        random.shuffle(database)
        drawn = released_surely(FORMS[form](tuple(database), 4), groups, 3)
        released.append(rows_of(drawn.laid))
    assert released[0] == released[1] == released[2]


def test_the_order_of_rows_does_not_change_which_groups_records_give() -> None:
    random = np.random.default_rng(3)
    database = [tuple(int(v) if v else None for v in row) for row in random.integers(0, 3, (60, 4))]
    groups = ((0, 1), (2, 3), (1, 2))
    released = []
    for _ in range(2):
        random.shuffle(database)
        drawn = released_surely(wide(tuple(database), 4), groups, 1, Seeded(5))
        released.append(rows_of(drawn.laid))
    assert released[0] == released[1]


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


# Rows of the long form, and what is missing


def test_null_stays_null_at_every_level() -> None:
    frame = pl.DataFrame({"age": [31, 32, None, None], "town": ["a", "a", "b", "b"]})
    table = shoal.table(frame, quasi=["age"], insensitive=["town"], hierarchies={"age": AGES})
    for level, label in enumerate(["31", "30-39", "*"]):
        form = Wide.of(table, ["age", "town"], {"age": level})
        drawn = released_surely(form, ((0,), (0, 1)), 2)
        rows = [row for row in rows_of(drawn.laid) if row[2] != "a" or level]
        expected: list[tuple[object, ...]] = [(2, None, "b", 2)]
        if level:
            expected = [(1, label, None, 2), (2, label, "a", 2), *expected]
        assert rows == expected
        assert drawn.projections == 2 + 4
    with pytest.raises(ColumnError, match="missing"):
        Wide.of(replace(table, missing="refuse"), ["age", "town"], {})


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
