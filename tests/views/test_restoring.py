"""Restoring: found where it can be, proven where it cannot, checked by all tables; and what it tells those who know of it."""

import inspect
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from bench.heart import violated
from shoal.cli.app import app
from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.views import (
    OUTSIDE,
    Candidate,
    Register,
    View,
    Views,
    check,
    free,
    plan,
    posterior,
    public,
    refinements,
    restore,
    subsets,
    truth,
    worlds,
)
from shoal.views.model import Value
from shoal.views.regions import Region, obstacle, regions
from tests.views.test_views import CONDITION, NAMES, SEEN, brute, chapter
from tests.views.test_views import worlds as random_views
from tests.views_files import DONALD

AGES = [23, 24, 25, 26, 27, 28, 28, 29, 30, 30, 33]
TABLE: list[Value] = [CONDITION[name] for name in NAMES]
HALF = Fraction(1, 2)


def intervals(views: Views) -> list[Candidate]:
    return refinements(views, {"age": AGES[: len(views.names)]})


def named(*names: str) -> list[Candidate]:
    return [Candidate(name, frozenset(map(NAMES.index, SEEN[name]))) for name in names]


def shown(views: Iterable[View]) -> tuple[Hashable, ...]:
    """What somebody sees of views: also in which order values are listed."""
    return tuple((view.name, view.members, tuple(view.shown.items())) for view in views)


def private(views: Views) -> bool:
    """By trying all tables."""
    number, has = brute(views)
    return all(
        often <= views.limit(value) * number  # type: ignore[arg-type]
        for own in has.values()
        for value, often in own.items()
    )


# Against someone who does not know of it


def test_the_chapters_views_are_restored_by_two_parts_of_them() -> None:
    views = chapter("6.3A", "6.3B")
    found = restore(views, TABLE[:7], intervals(views))
    assert (found.private, found.before.tables, found.after.tables, found.after.largest) == (
        True,
        45,
        8,
        HALF,
    )
    assert len(found.added) == 2
    assert private(views.also(*found.added))
    (row,) = found.rows
    assert (row.person, row.value, row.before, row.after, row.limit) == (
        "Donald",
        "S",
        Fraction(4, 5),
        HALF,
        HALF,
    )
    assert not found.unrestored


def test_one_part_does_not_restore_them_and_that_is_proven() -> None:
    views = chapter("6.3A", "6.3B")
    found = restore(views, TABLE[:7], intervals(views), most=1)
    assert found.added == ()
    assert found.after is found.before
    (left,) = found.unrestored
    assert (left.exposed.name, left.proven) == ("Donald", "candidates")


def test_the_chapters_own_tables_restore_and_table_8_does_not() -> None:
    views = chapter("6.3A", "6.3B", "6.7")
    found = restore(views, TABLE, named("6.5A", "6.5B"))
    assert (found.private, found.after.tables, [view.name for view in found.added]) == (
        True,
        96,
        ["6.5A", "6.5B"],
    )
    for part in ("6.5A", "6.5B"):
        both = named("6.8", part)
        assert check(views.also(*(one.view(TABLE) for one in both))).largest == Fraction(4, 5)
        (left,) = restore(views, TABLE, both).unrestored
        assert (left.proven, left.exposed.probability) == ("candidates", Fraction(4, 5))


@pytest.mark.parametrize("k", [2, 3])
def test_some_views_need_as_many_more_as_there_are(k: int) -> None:
    """Section 6.4.2."""
    table: list[Value] = [*((1, 2, i + 3)[j] for i in range(k) for j in range(3)), 1]
    views = Views(
        3 * k + 1,
        [
            View(str(i), who := [3 * i, 3 * i + 1, 3 * i + 2, 3 * k], [table[one] for one in who])
            for i in range(k)
        ],
    )
    pairs = subsets(views, 2)
    (left,) = restore(views, table, pairs, most=k - 1).unrestored
    assert left.proven == "candidates"
    found = restore(views, table, pairs, most=k)
    assert (found.private, len(found.added)) == (True, k)
    assert found.before.largest == Fraction(2**k, 2**k + 1)


@settings(max_examples=60)
@given(random_views(), st.randoms(use_true_random=False))
def test_a_restoring_is_found_if_there_is_one(views: Views, source: Random) -> None:
    """Compared with all sets of up to two candidates, each by all tables."""
    table = covered(views, source)
    views = Views(
        len(views.names), [Candidate(view.name, view.members).view(table) for view in views.shown]
    )
    assume(not private(views))
    candidates = [*subsets(views, 2), *subsets(views, 3)]
    source.shuffle(candidates)
    del candidates[6:]
    sets = [some for size in (1, 2) for some in combinations(candidates, size)]
    able = [some for some in sets if private(views.also(*(one.view(table) for one in some)))]
    found = restore(views, table, candidates, effort=1000)
    assert bool(found.private) == bool(able)
    if able:
        assert len(found.added) == len(able[0])
        assert private(views.also(*found.added))
    else:
        assert found.added == ()
        assert all(one.proven for one in found.unrestored)


def covered(views: Views, source: Random) -> list[Value]:
    """A table with values for everybody, with two or three values."""
    return [source.choice("abc") for _ in views.names]


@pytest.mark.parametrize("runs", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_the_search_finds_what_trying_all_sets_finds(runs: int) -> None:
    """Two views that share somebody: often restored by two parts, never worse for anybody than the limit."""
    source = Random(1)
    sizes: Counter[int | None] = Counter()
    for _ in range(runs):
        table: list[Value] = [*source.choices("abcd", k=7)]
        views = Views(
            7,
            [
                Candidate("A", frozenset(range(4))).view(table),
                Candidate("B", frozenset(range(3, 7))).view(table),
            ],
        )
        if check(views).private:
            continue
        pairs = subsets(views, 2)
        sets = (some for size in (1, 2) for some in combinations(pairs, size))
        least = next(
            (
                len(some)
                for some in sets
                if check(views.also(*(one.view(table) for one in some))).private
            ),
            None,
        )
        found = restore(views, table, pairs)
        assert (len(found.added) or None) == least
        assert bool(found.private) == (least is not None)
        sizes[least] += 1
    assert min(sizes[1], sizes[2], sizes[None]) >= 2, sizes


def test_nobody_is_exposed_after_restoring() -> None:
    """Views of the chapter's experiment: whoever was exposed or not before, all limits hold for all."""
    restored = 0
    for seed in range(8):
        case = violated(seed, 3, (0.02, 0.04), 100)
        found = restore(case.views, case.levels, refinements(case.views, case.columns), effort=60)
        if found.added:
            restored += 1
            assert check(case.views.also(*found.added)).private
            assert all(
                Candidate("", view.members).view(case.levels).shown == view.shown
                for view in found.added
            )
        else:
            assert found.unrestored
    assert restored >= 3


def test_several_regions_share_the_number_of_views() -> None:
    table = TABLE[:7] * 2
    views = Views(
        14, [Candidate(str(at), frozenset(range(at, at + 4))).view(table) for at in (0, 3, 7, 10)]
    )
    pairs = subsets(views, 2)
    assert restore(views, table, pairs, most=4).private
    found = restore(views, table, pairs, most=3)
    assert len(found.added) == 2
    (left,) = found.unrestored
    assert (left.proven, left.exposed.person) == (None, 10)
    assert "went to other people" in left.reason


def test_what_is_safe_is_left_alone() -> None:
    views = chapter("6.3A")
    found = restore(views, TABLE[:7], intervals(views))
    assert (found.private, found.added, found.rows, found.tried) == (True, (), (), 0)


def test_people_who_may_not_be_in_the_table_are_restored_too() -> None:
    """Donald and six others, with an eighth of the register who is not in the table and may be Ellen's neighbour."""
    table = [*TABLE[:7], OUTSIDE]
    views = Views(
        8, [View("A", range(4), list("HSVS")), View("B", range(3, 8), list("SVSF"))], complete=False
    )
    assert not check(views).private
    found = restore(views, table, subsets(views, 2))
    assert found.private
    assert private(views.also(*found.added))


def test_another_table_is_refused_without_a_word_of_its_values() -> None:
    views = chapter("6.3A", "6.3B")
    wrong: list[Value] = ["leprosy", *TABLE[1:7]]
    with pytest.raises(InputError, match=r"6\.3A") as told:
        restore(views, wrong, [])
    assert "leprosy" not in str(told.value)
    with pytest.raises(InputError, match="7"):
        restore(views, TABLE, [])
    with pytest.raises(InputError, match="not complete"):
        restore(views, [OUTSIDE, *TABLE[1:7]], [])
    with pytest.raises(ParameterError, match="adversary"):
        restore(views, TABLE[:7], [], adversary="nobody")  # type: ignore[arg-type]


# What cannot be restored


def region_of(views: Views) -> Region:
    found = check(views)
    (region,) = regions(views, [], [one.person for one in found.exposed])
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


def test_who_is_certain_stays_so() -> None:
    views = Views(
        ["Ann", "Bob", "Cid"],
        [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])],
    )
    found = restore(views, ["cold", "flu", "gout"], subsets(views, 2))
    assert {one.proven for one in found.unrestored} == {"never"}
    assert "known to have" in found.unrestored[0].reason


def test_a_crowd_of_whom_too_much_is_known_stays_so() -> None:
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


def test_who_is_connected_with_a_hopeless_crowd_is_not_said_to_be_hopeless() -> None:
    names = [*NAMES[:7], "Hal", "Ida", "Joe"]
    table: list[Value] = [*TABLE[:7], "gout", "gout", "gout"]
    views = Views(
        names,
        [
            *chapter("6.3A", "6.3B").shown,
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


def test_a_plan_without_views_says_how_sure_one_is_now() -> None:
    views = chapter("6.3A", "6.3B")
    assert plan(views, []).worst == check(views).largest == Fraction(4, 5)


def test_plans_for_many_regions_take_no_longer_than_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copies = [
        (f"{view.name} {at}", [one + 7 * at for one in view.members], view.shown)
        for at in range(30)
        for view in chapter("6.3A", "6.3B").shown
    ]
    many = Views(7 * 30, [View(*one) for one in copies])
    one = subsets(chapter("6.3A", "6.3B"), 2)
    some = [
        Candidate(f"{own.name} {at}", frozenset(who + 7 * at for who in own.people))
        for at in (3, 20)
        for own in one
    ]
    found = plan(many, some, most=2)
    assert (len(found.outlooks), len(found.candidates), found.low) == (30, 2, Fraction(0))
    assert (
        len({min(own.people) // 7 for own in found.candidates}) == 1
    )  # two for one region, by which it may be restored


def test_a_crowd_is_found_that_no_single_view_tells_of() -> None:
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
        len(views.names), [Candidate(view.name, view.members).view(table) for view in views.shown]
    )
    found = restore(views, table, [], most=1)
    never = [one for one in found.unrestored if one.proven == "never"]
    assume(never and len(views.names) <= 5)
    people = range(len(views.names))
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


# Against someone who knows


def printed(
    views: Views, candidates: list[Candidate], most: int
) -> Callable[[tuple[Value, ...]], Hashable]:
    """The chapter's procedure: the first set of candidates that restores, and "failed" if there is none."""

    def procedure(table: tuple[Value, ...]) -> Hashable:
        for size in range(1, most + 1):
            for some in combinations(candidates, size):
                more = [one.view(table) for one in some]
                if check(views.also(*more)).private:
                    return shown(more)
        return "failed"

    return procedure


def test_the_printed_procedure_tells_by_failing() -> None:
    views = chapter("6.3A", "6.3B")
    tables = worlds(views)
    assert len(tables) == 45
    told = posterior(printed(views, intervals(views), 2), tables)
    assert told["failed"].share == Fraction(31, 45)
    assert told["failed"].beliefs[3]["S"] == Fraction(28, 31)


def leaks(
    views: Views, procedure: Callable[[tuple[Value, ...]], tuple[View, ...]]
) -> list[Fraction]:
    """By how much what is believed after an output differs from what its views tell, at most, for each output."""
    tables = worlds(views)
    put = {table: procedure(table) for table in tables}
    told = posterior(lambda table: shown(put[table]), tables)
    found = []
    for table in {shown(put[table]): table for table in tables}.values():
        by_views = check(views.also(*put[table]))
        own = told[shown(put[table])]
        found.append(
            max(
                abs(
                    by_views.of(person).shares.get(value, Fraction(0))
                    - own.beliefs[person].get(value, Fraction(0))
                )
                for person in range(len(views.names))
                for value in views.values
            )
        )
    return found


def test_a_plan_tells_no_more_than_its_views() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views))
    assert by.candidates
    assert set(leaks(views, by.shown)) == {0}


def test_a_plan_that_listed_values_in_the_order_of_people_would_be_noticed() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views))

    def twin(table: tuple[Value, ...]) -> tuple[View, ...]:
        return tuple(
            View(one.name, one.people, [table[person] for person in sorted(one.people)])
            for one in by.candidates
        )

    assert max(leaks(views, twin)) > 0


def test_a_choice_that_looks_at_the_table_tells_more_than_its_views() -> None:
    """The broken twin of a plan: it restores wherever it can."""
    views = chapter("6.3A", "6.3B")
    candidates = intervals(views)
    tables = worlds(views)
    added = {table: restore(views, table, candidates).added for table in tables}
    assert max(leaks(views, added.__getitem__)) > 0
    told = posterior(lambda table: shown(added[table]), tables)
    assert max(one.largest for one in told.values()) > HALF


def test_a_plan_never_sees_a_table_and_is_the_same_for_all() -> None:
    assert not {"table", "data", "truth"} & inspect.signature(plan).parameters.keys()
    views = chapter("6.3A", "6.3B")
    chosen = {
        shown(
            [
                View(view.name, view.members, {})
                for view in restore(views, table, intervals(views), adversary="aware").added
            ]
        )
        for table in worlds(views)[::9]
    }
    assert len(chosen) == 1


def test_a_plan_says_in_which_share_of_tables_it_restores() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views))
    assert (by.low, by.high, by.confidence) == (Fraction(8, 45), Fraction(8, 45), None)
    assert by.low <= by.bound == Fraction(2, 5)
    assert by.worst == 1
    assert (
        Fraction(
            sum(bool(check(views.also(*by.shown(table))).private) for table in worlds(views)), 45
        )
        == by.low
    )


@settings(max_examples=15)
@given(random_views(), st.randoms(use_true_random=False))
def test_the_share_is_that_of_all_tables_and_the_best_of_all_sets(
    views: Views, source: Random
) -> None:
    the_share_is_that_of_all_tables(views, source, 40)


@pytest.mark.slow
@settings(max_examples=60)
@given(random_views(), st.randoms(use_true_random=False))
def test_the_share_is_that_of_all_tables_where_they_are_many(views: Views, source: Random) -> None:
    the_share_is_that_of_all_tables(views, source, 200)


def the_share_is_that_of_all_tables(views: Views, source: Random, most: int) -> None:
    inside = sorted(set().union(*(view.members for view in views.shown)))
    number = {person: at for at, person in enumerate(inside)}
    views = Views(
        len(inside),
        [
            View(view.name, [number[one] for one in view.members], view.shown)
            for view in views.shown
        ],
    )
    assume(not check(views).private and len(worlds(views)) < most)
    candidates = subsets(views, 2)
    source.shuffle(candidates)
    del candidates[4:]
    tables = worlds(views)

    def share(some: Iterable[Candidate]) -> Fraction:
        return Fraction(
            sum(private(views.also(*(one.view(table) for one in some))) for table in tables),
            len(tables),
        )

    by = plan(views, candidates, most=1)
    assert by.low == by.high == share(by.candidates)
    if len(by.outlooks) == 1:
        assert by.low == max((share([one]) for one in candidates), default=Fraction(0))
    assert by.low <= by.bound


@settings(max_examples=100)
@given(random_views(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_no_procedure_restores_more_than_the_bound_and_none_makes_anybody_less_sure_on_average(
    views: Views, outputs: int, source: Random
) -> None:
    inside = sorted(set().union(*(view.members for view in views.shown)))
    number = {person: at for at, person in enumerate(inside)}
    views = Views(
        len(inside),
        [
            View(view.name, [number[one] for one in view.members], view.shown)
            for view in views.shown
        ],
    )
    tables = worlds(views)
    law = {table: [source.randint(0, 3) for _ in range(outputs)] for table in tables}
    for own in law.values():
        own[source.randrange(outputs)] += 1
    told = posterior(
        lambda table: {at: Fraction(one, sum(law[table])) for at, one in enumerate(law[table])},
        tables,
    )
    before = check(views)
    assert sum(one.share for one in told.values()) == 1
    for person in range(len(inside)):
        for value, share in before.of(person).shares.items():
            assert (
                sum(one.share * one.beliefs[person].get(value, 0) for one in told.values()) == share
            )
            if share > HALF:
                restored = sum(
                    one.share for one in told.values() if one.beliefs[person].get(value, 0) <= HALF
                )
                assert restored <= (1 - share) / (1 - HALF)
                assert (
                    max(one.beliefs[person].get(value, Fraction(0)) for one in told.values())
                    >= share
                )


def test_where_outcomes_are_too_many_tables_are_drawn() -> None:
    views = chapter("6.3A", "6.3B")
    only = named("6.5A", "6.5B")
    exact = plan(views, only)
    drawn = plan(views, only, effort=1)
    assert exact.low == Fraction(8, 45)
    assert drawn.confidence == Fraction(99, 100)
    assert (
        0 < drawn.low < exact.low < drawn.high < Fraction(1, 3)
    )  # by the seed; wrong for one seed in a hundred at most


def test_a_ceiling_keeps_everybody_from_becoming_certain() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views), ceiling="9/10")
    assert not by.candidates
    assert by.low == 0
    assert by.outlooks[0].reason


def test_a_plan_is_followed_or_not_by_what_it_says() -> None:
    views = chapter("6.3A", "6.3B")
    for table in (TABLE[:7], worlds(views)[0]):
        assert restore(views, table, intervals(views), adversary="aware", least="1/4").added == ()
        assert (
            len(restore(views, table, intervals(views), adversary="aware", least="1/10").added) == 2
        )


def test_people_of_whom_nothing_is_said_are_in_no_plan() -> None:
    views = Views(8, chapter("6.3A", "6.3B").shown)
    both = [*subsets(views, 2), Candidate("with the eighth", frozenset({3, 7}))]
    assert "with the eighth" not in [one.name for one in plan(views, both).candidates]


def test_all_possible_tables_are_listed() -> None:
    views = chapter("6.3A", "6.3B")
    tables = worlds(views)
    assert len(set(tables)) == len(tables) == 45
    for view in views.shown:
        assert all(Counter(table[one] for one in view.members) == view.shown for table in tables)
    with pytest.raises(TooLargeError, match="44"):
        worlds(views, 44)
    with pytest.raises(ParameterError, match="no view"):
        worlds(Views(8, views.shown))


# Candidates


def test_candidates_are_intervals_and_single_texts_of_one_view() -> None:
    views = Views(4, [View("all", range(4), list("aabb"))])
    found = refinements(views, {"age": [1, 2, 2, None], "town": ["x", "y", "x", "x"]})
    assert {one.name: sorted(one.people) for one in found} == {
        "all: age 1 to 2": [0, 1, 2],
        "all: age 2": [1, 2],
        "all: town x": [0, 2, 3],
    }
    both = refinements(views, {"age": [1, 2, 2, None], "town": ["x", "y", "x", "x"]}, conditions=2)
    assert {one.name: sorted(one.people) for one in both if one not in found} == {
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


# The report and the command line


def test_the_report_is_a_table_and_a_chart(tmp_path: Path) -> None:
    views = chapter("6.3A", "6.3B")
    found = restore(views, TABLE[:7], intervals(views))
    assert found.frame().rows() == [("Donald", "S", 0.5, 0.8, 0.5)]
    found.save(tmp_path / "chart.svg")
    assert "Donald: S" in (tmp_path / "chart.svg").read_text(encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("views.toml").write_text(DONALD)
    pl.DataFrame({"name": NAMES[:7], "ill": TABLE[:7]}).write_csv("table.csv")
    return tmp_path


def run(*options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["views", "restore", "views.toml", *options])
    return done.exit_code, done.output


def test_the_command_line_restores_and_writes_the_views(files: Path) -> None:
    written = ["--to", "more.toml", "--chart", "chart.svg"]
    done = CliRunner().invoke(
        app, ["views", "restore", "views.toml", "--data", "table.csv", "--json", *written]
    )
    told = json.loads(done.stdout)
    assert (done.exit_code, told["private"], told["tables_before"], told["tables_after"]) == (
        0,
        True,
        "45",
        "8",
    )
    assert told["people"] == [
        {"person": "Donald", "value": "S", "limit": "1/2", "before": "4/5", "after": "1/2"}
    ]
    Path("views.toml").write_text(DONALD + Path("more.toml").read_text())
    assert CliRunner().invoke(app, ["views", "check", "views.toml"]).exit_code == 0
    assert Path("chart.svg").exists()


def test_the_command_line_plans_without_the_table(files: Path) -> None:
    code, output = run("--adversary", "aware", "--json")
    told = json.loads(output)
    assert (code, told["plan"]["share"], told["plan"]["bound"], told["plan"]["worst"]) == (
        0,
        "8/45",
        "2/5",
        "1",
    )
    assert "views" not in told
    code, output = run("--adversary", "aware", "--views", "1")
    assert code == 1
    assert "not planned" in output
    assert run("--data", "table.csv", "--views", "1")[0] == 1
    code, output = run("--data", "table.csv", "--adversary", "aware")
    assert code == 0
    assert "8/45 of the possible tables" in output


def test_without_the_table_only_a_plan_can_be_had(files: Path) -> None:
    code, output = run()
    assert code == 2
    assert "--data" in output
