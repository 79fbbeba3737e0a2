"""Views of many people: samples, candidates and regions stay within what a machine holds, and are the same as for few."""

import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import log10
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.components import representatives
from shoal.data.kinds import Key
from shoal.errors import ParameterError
from shoal.views import Candidate, View, Views, check, free, refinements
from shoal.views.cells import Constraints, components
from shoal.views.counting import Counted
from shoal.views.importance import ENOUGH, ENTRIES, estimate
from shoal.views.regions import Region, obstacle, regions
from shoal.views.steps import between
from tests.views.test_views import puzzles

# Samples


class Watched(np.random.Generator):
    """Chance of which is known how much was drawn of it each time."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[int] = []

    def random(self, size: int) -> npt.NDArray[np.float64]:  # type: ignore[override]
        self.drawn.append(size)
        return super().random(size)


def crossing(people: int, size: int = 10) -> Constraints:
    """Two tables in groups of so many, who have nothing to do with each other: what samples cannot finish."""
    source = np.random.default_rng(1)
    value = source.integers(0, 5, people)
    shown = []
    for name in "ab":
        turn = source.permutation(people)
        for at in range(0, people, size):
            own = turn[at : at + size]
            shown.append(View(f"{name}{at}", own.tolist(), value[own].tolist()))
    (part,) = components(Views(people, shown))
    return part.constraints


def test_drawing_ends_once_no_sample_can_be_finished_and_leaves_out_those_that_cannot() -> None:
    source = Watched(1)
    found = estimate(crossing(200), 2000, source)
    assert found.effective == 0
    assert len(source.drawn) < 200
    assert source.drawn == sorted(source.drawn, reverse=True)
    assert sum(source.drawn) < 2000 * 200 / 4


@pytest.mark.parametrize(("people", "size"), [(12, 4), (20, 4), (24, 6)])
def test_samples_that_are_left_out_still_count_as_samples(people: int, size: int) -> None:
    puzzle, source = crossing(people, size), Watched(1)
    exact, found = Counted.of(puzzle), estimate(puzzle, 20_000, source)
    finished = source.drawn[-1]
    assert ENOUGH < finished < 10_000
    for own, about, off in zip(exact.shares, found.shares, found.deviations, strict=True):
        assert all(
            abs(float(share) - one) <= 6 * more + 1e-12
            for share, one, more in zip(own, about, off, strict=True)
        )
    digits = log10(exact.tables)
    assert found.logarithm == pytest.approx(digits, abs=0.05)
    twin = found.logarithm + log10(20_000 / finished)  # by those alone that were finished
    assert twin != pytest.approx(digits, abs=0.05)


def test_samples_are_fewer_where_memory_does_not_hold_them_and_none_where_these_would_tell_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (part,) = components(next(iter(puzzles())))
    each = (len(part.constraints.cells) + len(part.constraints.bags)) * part.constraints.values
    for able, drawn in ((5000, 2000), (1500, 1500), (ENOUGH, ENOUGH), (ENOUGH - 1, 0)):
        monkeypatch.setattr("shoal.views.importance.ENTRIES", able * each + each - 1)
        source = Watched(1)
        found = estimate(part.constraints, 2000, source)
        assert [*source.drawn, 0][0] == drawn
        assert found.effective <= drawn
        assert (found.effective > 0) == (drawn > 0)


def test_samples_of_very_many_people_are_not_begun() -> None:
    pairs = tuple((1, (at, at + 1)) for at in range(30_000))
    ring = Constraints((*pairs[:-1], (1, (0, 29_999))), ((1, 1, 0, 0, 0),) * 30_000)
    assert len(ring.cells) * ring.values * ENOUGH > ENTRIES
    source = Watched(1)
    assert estimate(ring, 10_000, source).effective == 0
    assert source.drawn == []


# Candidates


def one_view(number: int) -> tuple[Views, dict[str, list[int]]]:
    return Views(number, [View("a", range(number), [at % 4 for at in range(number)])]), {
        "x": Random(1).sample(range(10**6), number)
    }


def test_candidates_of_a_large_view_end_at_fewer_values_spread_evenly() -> None:
    views, columns = one_view(300)
    rank = {
        person: at
        for at, person in enumerate(sorted(range(300), key=lambda person: columns["x"][person]))
    }
    everything = {one.people for one in refinements(views, columns, places=10**8)}
    assert len(everything) == 300 * 299 // 2 - 1  # without single people, and the view itself
    for places in (200_000, 20_000, 2_000):
        found = refinements(views, columns, places=places)
        assert places / 4 < sum(len(one.people) for one in found) <= places
        assert {one.people for one in found} < everything
        starts = sorted({min(rank[person] for person in one.people) for one in found})
        gaps = [later - sooner for sooner, later in pairwise(starts)]
        assert starts[0] == 0
        assert max(gaps) <= min(gaps) + 1
        assert max(rank[person] for one in found for person in one.people) == 299


def test_candidates_of_a_column_of_600_numbers_fit_into_memory() -> None:
    tracemalloc.start()
    try:
        found = refinements(*one_view(600))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000  # all intervals take 1.7 GB
    finally:
        tracemalloc.stop()
    assert len(found) > 4000


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
        found = free(views, columns, largest=3)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert len(found) == 2999 + 2998
    assert {len(one.people) for one in found} == {2, 3}


def test_two_conditions_on_many_people_end() -> None:
    views, columns = one_view(500)
    columns["y"] = columns["x"][::-1]
    found = free(views, columns, conditions=2, largest=10, places=100_000)
    assert any(", y " in one.name for one in found)
    assert any(", y " not in one.name for one in found)


@pytest.mark.parametrize("places", [0, -1, 0.5])
def test_places_are_a_number_of_people(places: int) -> None:
    with pytest.raises(ParameterError, match="places"):
        refinements(*one_view(4), places=places)


# Regions


@st.composite
def sets(draw: st.DrawFn) -> tuple[int, list[frozenset[int]], list[frozenset[int]], list[int]]:
    number = draw(st.integers(2, 14))
    some = st.lists(st.frozensets(st.integers(0, number - 1), min_size=1, max_size=3), max_size=6)
    return number, draw(some), draw(some), draw(st.lists(st.integers(0, number - 1)))


@given(sets())
def test_regions_are_what_people_views_and_candidates_connect(
    case: tuple[int, list[frozenset[int]], list[frozenset[int]], list[int]],
) -> None:
    number, members, more, exposed = case
    views = Views(number, [View(str(at), own, [at] * len(own)) for at, own in enumerate(members)])
    candidates = [Candidate(f"c{at}", own) for at, own in enumerate(more)]
    found = regions(views, candidates, exposed)
    reached = [one for one in connected(number, [*members, *more]) if one & set(exposed)]
    assert sorted(one.people for one in found) == sorted(tuple(sorted(one)) for one in reached)
    for region in found:
        inside = set(region.people)
        assert {one.name: whole(region, one.members) for one in region.views.shown} == {
            view.name: view.members for view in views.shown if view.members <= inside
        }
        assert {one.name: whole(region, one.people) for one in region.candidates} == {
            one.name: one.people for one in candidates if one.people <= inside
        }


@given(st.integers(0, 9), st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=6))
def test_things_are_together_that_groups_connect(number: int, groups: list[list[int]]) -> None:
    able = [tuple(one for one in group if one < number) for group in groups]
    expected = {
        one: min(some)
        for some in connected(number, [frozenset(group) for group in able])
        for one in some
    }
    assert representatives(range(number), able) == expected


def connected(number: int, groups: list[frozenset[int]]) -> list[set[int]]:
    """The plain definition: join what overlaps until nothing does."""
    found = [{one} for one in range(number)]
    for group in groups:
        touched = [some for some in found if some & group]
        found = [some for some in found if not some & group] + (
            [set().union(*touched)] if touched else []
        )
    return found


def whole(region: Region, own: frozenset[int]) -> frozenset[int]:
    return frozenset(region.people[one] for one in own)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=4), st.integers(0, 9))
def test_parts_between_bounds_are_all_there_are(bounds: list[tuple[int, int]], size: int) -> None:
    low, high = [one for one, _ in bounds], [one for _, one in bounds]

    def every(at: int) -> Iterator[tuple[int, ...]]:
        if at == len(bounds):
            yield ()
            return
        for own in range(low[at], high[at] + 1):
            for others in every(at + 1):
                yield (own, *others)

    assert list(between(low, high, size)) == [one for one in every(0) if sum(one) == size]


def chain(number: int) -> Views:
    """Views of 4 people in a row, each sharing one with the next, and two at its beginning that no views restore.

    Person 1 is in both of these and not ill with a, so of the other three in the second one two are: more than half.
    """
    shown = [View("first", [0, 1], ["b", "c"]), View("second", [1, 2, 3, 4], ["a", "a", "b", "c"])]
    for sooner, later in pairwise([0, *range(7, number, 3)]):
        shown.append(View(str(later), [sooner, later - 2, later - 1, later], ["a", "b", "c", "d"]))
    return Views(number, shown, Fraction(1, 2))


@pytest.mark.parametrize("number", [8, 500])
def test_what_a_linear_program_proves_of_few_it_proves_of_them_among_many(number: int) -> None:
    pytest.importorskip("scipy")
    views = chain(number)
    (region,) = regions(views, [], [one.person for one in check(views).exposed])
    assert region.start.excess > 0
    tracemalloc.start()
    try:
        found = obstacle(region)
        assert (
            tracemalloc.get_traced_memory()[1] < 20_000_000
        )  # of 500 people dense matrices take 74 MB, sparse ones 2
    finally:
        tracemalloc.stop()
    assert found is not None
    assert "no probabilities within all limits" in found.reason
    assert found.people == (2, 3, 4)


def test_a_long_chain_that_can_be_restored_is_not_refuted() -> None:
    views = chain(300)
    mild = Views(300, [view for view in views.shown if view.name != "second"], Fraction(1, 2))
    region = regions(mild, [], [0])[0]
    assert obstacle(region) is None
