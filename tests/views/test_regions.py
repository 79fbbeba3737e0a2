"""Regions, and proofs that nothing can restore them."""

import tracemalloc
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from typing import Any

import pytest
import scipy.optimize
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.data.components import representatives
from shoal.errors import InputError
from shoal.views import (
    Candidate,
    View,
    Views,
    check,
    plan,
    restore,
    subsets,
)
from shoal.views.model import Value
from shoal.views.regions import Region, obstacle, regions
from tests.views.cases import NAMES, TABLE, chapter, covered, named, random_views


def test_what_could_not_be_counted_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    views = chapter("6.3A", "6.3B")
    (left,) = restore(views, TABLE[:7], named("6.5A", "6.5B"), additions=1).unrestored
    assert left.proven == "candidates"
    monkeypatch.setattr(Region.tally, "__defaults__", (1,))  # the longest that a set may take
    (left,) = restore(views, TABLE[:7], named("6.5A", "6.5B"), additions=1).unrestored
    assert left.proven is None


@pytest.mark.parametrize("seed", range(6))
def test_weights_that_prove_nothing_are_not_a_proof(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear program in floats may be wrong: what it says is computed again."""
    source, solve = Random(seed), scipy.optimize.linprog

    def wrong(*given_: Any, **options: Any) -> Any:
        done = solve(*given_, **options)
        done.fun = 1.0
        done.eqlin.marginals = [source.uniform(-1, 1) for _ in done.eqlin.marginals]
        return done

    views = chapter("6.3A", "6.3B")
    (region,) = regions(views, [], [3])
    monkeypatch.setattr(scipy.optimize, "linprog", wrong)
    assert obstacle(region) is None


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
        assert {one.name: whole(region, one.people) for one in region.views.views} == {
            view.name: view.people for view in views.views if view.people <= inside
        }
        assert {one.name: whole(region, one.people) for one in region.candidates} == {
            one.name: one.people for one in candidates if one.people <= inside
        }


@given(st.integers(0, 9), st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=6))
def test_things_that_groups_connect_have_one_representative(
    number: int, groups: list[list[int]]
) -> None:
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


def chain(number: int) -> Views:
    """Views of 4 people in a row, each sharing one with the next, that start with a hopeless pair.

    Person 1 is in both of these and does not have a, so two of the other three in the second do:
    more than half.
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
    mild = Views(300, [view for view in views.views if view.name != "second"], Fraction(1, 2))
    region = regions(mild, [], [0])[0]
    assert obstacle(region) is None


def region_of(views: Views) -> Region:
    checked = check(views)
    (region,) = regions(views, [], [one.person for one in checked.exposed])
    return region


def test_groups_of_which_it_is_not_public_who_is_in_which_cannot_be_restored() -> None:
    joined = View(
        "groups", range(4), ["flu", "flu", "flu", "gout"], ({"flu": 2}, {"flu": 1, "gout": 1})
    )
    views = Views(4, [joined])
    with pytest.raises(InputError, match="not public who is in which"):
        restore(views, ["flu", "flu", "flu", "gout"], [Candidate("first", frozenset({0, 1}))])
    with pytest.raises(InputError, match="not public who is in which"):
        plan(views, [Candidate("first", frozenset({0, 1}))])


def test_someone_whose_value_is_certain_stays_exposed() -> None:
    views = Views(
        ["Ann", "Bob", "Cid"],
        [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])],
    )
    restored = restore(views, ["cold", "flu", "gout"], subsets(views, 2))
    assert {one.proven for one in restored.unrestored} == {"never"}
    assert "known to have" in restored.unrestored[0].reason


def test_a_crowd_of_whom_too_much_is_known_stays_exposed() -> None:
    """What A has more than B is known: two of three have flu."""
    views = Views(
        7,
        [
            View("A", range(7), ["flu", "flu", "gout", "flu", "cold", "cold", "gout"]),
            View("B", range(3, 7), ["flu", "cold", "cold", "gout"]),
        ],
    )
    assert check(views).largest == Fraction(2, 3)
    never = obstacle(region_of(views))
    assert never is not None
    assert (never.people, never.reason[:6]) == ((0, 1, 2), "2 of 3")


def test_people_connected_with_a_hopeless_crowd_are_not_called_hopeless() -> None:
    names = [*NAMES[:7], "Hal", "Ida", "Joe"]
    table: list[Value] = [*TABLE[:7], "gout", "gout", "gout"]
    views = Views(
        names,
        [
            *chapter("6.3A", "6.3B").views,
            View("C", [6, 7, 8, 9], [table[one] for one in (6, 7, 8, 9)]),
        ],
    )
    parts = [View("first", [0, 1], table[:2]), View("next", [3, 4], table[3:5])]
    assert not {one.person for one in check(views.also(*parts)).exposed} & {
        3,
        4,
    }  # Donald and Ellen can be restored
    for found in (
        restore(views, table, subsets(views, 2)),
        restore(views, table, subsets(views, 2), adversary="aware"),
    ):
        proven = {one.exposed.name: one.proven for one in found.unrestored}
        assert proven["Donald"] == "candidates"
        assert proven["Hal"] == "never"
        assert {one for one, how in proven.items() if how == "never"} <= {
            "Garcia",
            "Hal",
            "Ida",
            "Joe",
        }


def test_a_crowd_is_found_that_no_single_view_shows() -> None:
    """The fourth has no "a", by B: so two of the other three of A have one."""
    views = Views(5, [View("A", [0, 2, 3, 4], list("aabc")), View("B", [1, 3], list("bc"))])
    assert check(views).largest == Fraction(2, 3)
    never = obstacle(region_of(views))
    assert never is not None
    assert never.people == (0, 2, 4)


@settings(max_examples=20)
@given(random_views(), st.randoms(use_true_random=False))
def test_what_is_proven_never_to_be_restored_is_not_by_any_views(
    views: Views, source: Random
) -> None:
    """All sets of up to two views of any people at all."""
    table = covered(views, source)
    views = Views(
        len(views.people), [Candidate(view.name, view.people).view(table) for view in views.views]
    )
    restored = restore(views, table, [], additions=1)
    never = [one for one in restored.unrestored if one.proven == "never"]
    assume(never and len(views.people) <= 5)
    people = range(len(views.people))
    every = [
        Candidate(str(some), frozenset(some))
        for size in range(1, len(people) + 1)
        for some in combinations(people, size)
    ]
    for size in (1, 2):
        for some in combinations(every, size):
            after = check(views.also(*(one.view(table) for one in some)))
            assert not after.private


def test_a_proof_that_says_never_too_often_would_be_noticed() -> None:
    """A twin takes everybody who is exposed for lost; Donald is not."""
    views = chapter("6.3A", "6.3B")
    assert check(views).exposed
    assert obstacle(region_of(views)) is None
