"""Which views expose somebody."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.views import (
    View,
    Views,
    check,
)
from shoal.views.model import Value
from tests.views.cases import (
    brute,
    random_views,
)


def share(views: Views, names: Sequence[str], person: int, value: Value) -> Fraction:
    """How probable a value is for a person by some of the views, by trying all tables."""
    number, has = brute(views.only(names))
    return Fraction(has[person][value], number) if person in has else Fraction(0)


@pytest.mark.parametrize("near", [12, 2])
@settings(max_examples=60)
@given(views=st.one_of(random_views(), random_views(outside=True)))
def test_views_that_expose_alone_do_so_and_none_of_them_is_needless(
    near: int, views: Views
) -> None:
    with pytest.MonkeyPatch.context() as here:
        here.setattr("shoal.views.checking.NEAR", near)
        exposed = check(views).exposed
    for one in exposed:
        by_them = share(views, one.views, one.person, one.value)
        assert one.alone is (by_them > one.limit)
        assert near < 12 or one.alone
        if one.alone:
            for name in one.views:
                fewer = [other for other in one.views if other != name]
                assert share(views, fewer, one.person, one.value) <= one.limit
        else:
            assert one.views == tuple(
                view.name for view in views.views if one.person in view.people
            )


@pytest.mark.parametrize("number", [11, 12])
def test_where_too_many_views_are_needed_few_are_not_blamed_alone(number: int) -> None:
    """A chain of pairs from somebody who is known: twelve views are searched, thirteen are not."""
    links = [View(str(at), [at, at + 1], ["a", "b"]) for at in range(number)]
    (last,) = (
        one
        for one in check(Views(number + 1, [*links, View("known", [0], ["a"])])).exposed
        if one.person == number
    )
    if number == 11:
        assert (last.views, last.alone) == ((*map(str, range(11)), "known"), True)
    else:
        assert (last.views, last.alone) == (("11",), False)


def test_groups_of_which_it_is_not_public_who_is_in_which_are_not_blamed() -> None:
    groups = View("groups", [1, 2], ["a"], ({"a": 1},))
    checked = check(Views(3, [View("A", [0, 1], ["a", "b"]), View("B", [1], ["a"]), groups]))
    (first,) = (one for one in checked.exposed if one.person == 0)
    assert (first.value, first.low, first.views, first.alone) == (
        "b",
        Fraction(1),
        ("A", "B"),
        True,
    )
