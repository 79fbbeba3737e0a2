"""Candidates: parts of views and of the register, as many as memory holds."""

import tracemalloc
from itertools import pairwise
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.kinds import Key
from shoal.errors import InputError, ParameterError
from shoal.views import (
    OUTSIDE,
    Candidate,
    Register,
    View,
    Views,
    free,
    public,
    refinements,
    restore,
    subsets,
    truth,
)
from tests.views.cases import (
    TABLE,
    chapter,
)


def one_view(number: int) -> tuple[Views, dict[str, list[int]]]:
    return Views(number, [View("a", range(number), [at % 4 for at in range(number)])]), {
        "x": Random(1).sample(range(10**6), number)
    }


def test_candidates_of_a_large_view_end_at_fewer_values_spread_evenly() -> None:
    views, columns = one_view(150)
    rank = {
        person: at
        for at, person in enumerate(sorted(range(150), key=lambda person: columns["x"][person]))
    }
    everything = {one.people for one in refinements(views, columns, places=10**8)}
    assert len(everything) == 150 * 149 // 2 - 1  # without single people, and the view itself
    for places in (100_000, 10_000, 1_000):
        candidates = refinements(views, columns, places=places)
        assert places / 4 < sum(len(one.people) for one in candidates) <= places
        assert {one.people for one in candidates} < everything
        starts = sorted({min(rank[person] for person in one.people) for one in candidates})
        gaps = [later - sooner for sooner, later in pairwise(starts)]
        assert starts[0] == 0
        assert max(gaps) <= min(gaps) + 1
        assert max(rank[person] for one in candidates for person in one.people) == 149


def test_candidates_of_a_column_of_400_numbers_fit_into_memory() -> None:
    tracemalloc.start()
    try:
        candidates = refinements(*one_view(400))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000  # all intervals take 500 MB
    finally:
        tracemalloc.stop()
    assert len(candidates) > 4000


def test_small_views_keep_all_their_intervals_beside_a_large_one() -> None:
    small = [View(f"small {at}", range(at, at + 6), [0, 1, 2, 3, 0, 1]) for at in range(0, 60, 6)]
    views = Views(260, [View("large", range(60, 260), [at % 4 for at in range(200)]), *small])
    columns = {"x": list(range(260))}
    names = {one.name for one in refinements(views, columns, places=20_000)}
    every = {one.name for one in refinements(views, columns, places=10**8)}
    assert {name for name in every if name.startswith("small")} < names < every
    assert any(name.startswith("large") for name in names)


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(["x", "y", None])), min_size=2, max_size=14
    ),
    st.integers(1, 2),
    st.integers(1, 400),
)
def test_fewer_candidates_are_some_of_all_and_their_names_stay_true(
    people: list[tuple[int, str | None]], conditions: int, places: int
) -> None:
    number = len(people)
    views = Views(number, [View("v", range(number), [0] * number)])
    columns: dict[str, list[Key | None]] = {
        "age": [age for age, _ in people],
        "town": [town for _, town in people],
    }
    for found in (
        refinements(views, columns, conditions=conditions, places=places),
        free(views, columns, conditions=conditions, largest=5, places=places),
    ):
        for one in found:
            assert one.people == selected(one.name.removeprefix("v: "), people)
    every = {one.people for one in refinements(views, columns, conditions=conditions)}
    assert {
        one.people for one in refinements(views, columns, conditions=conditions, places=places)
    } <= every


def selected(name: str, people: list[tuple[int, str | None]]) -> frozenset[int]:
    """Whom a candidate's name says it has."""
    found = set(range(len(people)))
    for condition in name.split(", "):
        column, low, *high = condition.replace(" to ", " ").split()
        for person, (age, town) in enumerate(people):
            if not (int(low) <= age <= int([low, *high][-1]) if column == "age" else town == low):
                found.discard(person)
    return frozenset(found)


def test_free_candidates_are_not_built_beyond_the_largest() -> None:
    views, columns = one_view(3000)
    tracemalloc.start()
    try:
        candidates = free(views, columns, largest=3)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert len(candidates) == 2999 + 2998
    assert {len(one.people) for one in candidates} == {2, 3}


def test_two_conditions_on_many_people_take_bounded_time() -> None:
    views, columns = one_view(500)
    columns["y"] = columns["x"][::-1]
    candidates = free(views, columns, conditions=2, largest=10, places=100_000)
    assert any(", y " in one.name for one in candidates)
    assert any(", y " not in one.name for one in candidates)


@pytest.mark.parametrize("places", [0, -1, 0.5])
def test_places_are_a_number_of_people(places: int) -> None:
    with pytest.raises(ParameterError, match="places"):
        refinements(*one_view(4), places=places)


def test_candidates_are_intervals_and_single_texts_of_one_view() -> None:
    views = Views(4, [View("all", range(4), list("aabb"))])
    candidates = refinements(views, {"age": [1, 2, 2, None], "town": ["x", "y", "x", "x"]})
    assert {one.name: sorted(one.people) for one in candidates} == {
        "all: age 1 to 2": [0, 1, 2],
        "all: age 2": [1, 2],
        "all: town x": [0, 2, 3],
    }
    both = refinements(views, {"age": [1, 2, 2, None], "town": ["x", "y", "x", "x"]}, conditions=2)
    assert {one.name: sorted(one.people) for one in both if one not in candidates} == {
        "all: age 1 to 2, town x": [0, 2]
    }
    assert refinements(views, {"age": [1, 1, 1, 1]}) == []
    own = refinements(
        views, {"age": [1, 2, 2, None], "town": ["x", "y", "x", "x"]}, same={"all": "town"}
    )
    assert [one.name for one in own] == ["all: town x"]


def test_free_candidates_may_reach_beyond_a_view() -> None:
    views = Views(4, [View("A", [0, 1, 2], list("aab"))])
    assert [sorted(one.people) for one in free(views, {"age": [1, 2, 3, 4]})] == [
        [0, 1],
        [1, 2],
        [1, 2, 3],
        [2, 3],
    ]
    assert frozenset({1, 2, 3}) not in {
        one.people for one in refinements(views, {"age": [1, 2, 3, 4]})
    }


def test_candidates_that_are_called_like_a_view_get_another_name() -> None:
    views = chapter("6.3A", "6.3B")
    alike = [Candidate("6.3A", one.people) for one in subsets(views, 2)]
    assert restore(views, TABLE[:7], alike).private
    with pytest.raises(ParameterError, match="register"):
        restore(views, TABLE[:7], [Candidate("far", frozenset({99}))])


def test_a_table_is_read_by_the_names_of_people() -> None:
    register = Register(
        shoal.table(pl.DataFrame({"who": ["Ann", "Bob"], "age": [1, 2]})), person="who"
    )
    assert public(register) == {"age": [1, 2]}
    data = shoal.table(pl.DataFrame({"who": ["Bob", "Ann"], "ill": ["gout", "flu"]}))
    assert truth(register, data, "ill") == ["flu", "gout"]
    part = shoal.table(pl.DataFrame({"who": ["Bob"], "ill": ["gout"]}))
    assert truth(register, part, "ill", complete=False) == [OUTSIDE, "gout"]
    for wrong in (["Bob"], ["Bob", "Bob"], ["Ann", "Bob", "Zoe"]):
        with pytest.raises(InputError) as told:
            truth(
                register,
                shoal.table(pl.DataFrame({"who": wrong, "ill": ["leprosy"] * len(wrong)})),
                "ill",
            )
        assert "leprosy" not in str(told.value)
    unnamed = Register(register.people)
    assert truth(unnamed, data, "ill") == ["gout", "flu"]
    with pytest.raises(InputError, match="1 rows"):
        truth(unnamed, part, "ill")
