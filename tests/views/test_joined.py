"""Groups of which it is not public who is in which: bounds hold for someone who knows."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.views import (
    View,
    Views,
    check,
    possible,
)
from tests.views.cases import (
    brute,
)


def test_beside_joined_groups_what_other_views_prove_still_holds() -> None:
    groups = View("groups", range(4), {"x": 2, "y": 2}, ({"x": 1, "y": 1}, {"x": 1, "y": 1}))
    checked = check(
        Views(6, [groups, View("A", [3, 4], ["x", "y"]), View("B", [4, 5], ["x", "z"])])
    )
    assert checked.private is False
    assert checked.of(3).between("y") == (Fraction(1), Fraction(1))
    assert {one.person for one in checked.exposed} == {3, 4, 5}


def known(source: Random, left_out: bool) -> tuple[Views, Views, Views]:
    """Joined groups beside other views; the same for someone who knows all; and the other views."""
    number = source.randint(2, 6)
    table = source.choices("abc", k=number)
    of = [
        0,
        *source.choices([*range(source.randint(1, 3)), *([-1] if left_out else [])], k=number - 1),
    ]
    groups = [[who for who in range(number) if of[who] == group] for group in sorted({*of} - {-1})]
    bags = [Counter(table[who] for who in own) for own in groups]
    sets = [
        [who for who in range(number) if source.random() < 0.4]
        for _ in range(source.choice([0, 0, 1, 2]))
    ]
    others = [
        View(f"other {k}", who, [table[one] for one in who]) for k, who in enumerate(sets) if who
    ]
    joined = View("groups", range(number), sum(bags, Counter[str]()), tuple(map(dict, bags)))
    apart = [View(str(k), own, bag) for k, (own, bag) in enumerate(zip(groups, bags, strict=True))]
    return Views(number, [joined, *others]), Views(number, [*apart, *others]), Views(number, others)


def holds(shown: Views, seen: Views, others: Views) -> bool:
    """Whether nobody can be surer than the bounds, and somebody is as sure."""
    by, all_, few = check(shown), brute(seen), brute(others)
    for who in all_[1]:
        for value in "abc":
            low, high = by.of(who).between(value)
            surer, other = (
                Fraction(has[who][value], number) if who in has else Fraction(0)
                for number, has in (all_, few)
            )
            if surer > high or low > (max(surer, other) if others.views else surer):
                return False
    return True


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_bounds_hold_for_someone_who_knows_who_is_in_which_group(source: Random) -> None:
    assert holds(*known(source, left_out=False))


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_bounds_hold_for_someone_who_knows_who_was_left_out_of_all_groups(source: Random) -> None:
    assert holds(*known(source, left_out=True))


def test_people_left_out_of_groups_may_have_a_value_that_no_group_shows() -> None:
    groups = View("groups", range(3), ["a", "b"], ({"a": 1, "b": 1},))
    checked = check(Views(3, [groups, View("other", [2], ["z"])]))
    assert [(one.person, one.value) for one in checked.exposed] == [(2, "z")]


def test_nothing_is_certain_about_people_who_may_have_been_left_out() -> None:
    checked = check(Views(3, [View("groups", range(3), ["a", "a"], ({"a": 2},))]))
    assert checked.of(0).between("a") == (Fraction(0), Fraction(1))
    assert checked.private is None


def test_bounds_of_the_joined_bag_would_be_caught() -> None:
    """The broken twin: groups that are joined count as one view."""
    source, wrong = Random(1), 0
    for _ in range(30):
        shown, seen, others = known(source, left_out=False)
        first, *rest = shown.views
        wrong += not holds(
            Views(len(shown.people), [View(first.name, first.people, first.bag), *rest]),
            seen,
            others,
        )
    assert wrong > 5


def test_other_views_are_still_checked_beside_joined_groups() -> None:
    """Four people in two groups, and nobody knows who is in which; three others are exposed."""
    groups = View("c", range(4), {"x": 2, "y": 2}, ({"x": 1, "y": 1}, {"x": 1, "y": 1}))
    known = [View("a", [4, 5], ["x", "y"]), View("b", [5, 6], ["x", "z"])]
    checked = check(Views(7, [groups, *known]))
    assert (
        checked.private,
        {one.person for one in checked.exposed},
        checked.of(0).between("x"),
    ) == (
        False,
        {4, 5, 6},
        (Fraction(1, 2), Fraction(1, 2)),
    )
    assert check(Views(4, [groups])).private is True
    assert check(Views(5, [groups, View("d", [3, 4], ["x", "y"])])).private is None
    with pytest.raises(InputError, match="who is in which"):
        possible(Views(4, [groups]), 1)
    unlike = View("c", range(4), {"x": 2, "y": 2}, ({"x": 2}, {"y": 2}))
    assert check(Views(4, [unlike])).private is None
