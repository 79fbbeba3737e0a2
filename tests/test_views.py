"""γ-privacy of several views: the numbers of the dissertation's chapter, all small cases by brute force, and those who draw."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, chi2

from shoal.errors import InfeasibleError, InputError, ParameterError, TooLargeError
from shoal.views import OUTSIDE, View, Views, check, possible
from shoal.views.cells import Puzzle, components
from shoal.views.counting import Counted
from shoal.views.importance import estimate
from shoal.views.intervals import clopper_pearson

# The numbers of chapter 6, as corrected

NAMES = ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia", "Helen", "Jessica", "Kathy", "Lucy"]
CONDITION = dict(zip(NAMES, "HSVSVSFSVHV", strict=True))
SEEN = {
    "6.3A": ["Alan", "Bob", "Clark", "Donald"],
    "6.3B": ["Donald", "Ellen", "Fen", "Garcia"],
    "6.5A": ["Clark", "Donald"],
    "6.5B": ["Donald", "Ellen"],
    "6.7": ["Helen", "Jessica", "Kathy", "Lucy"],
    "6.8": ["Donald", "Lucy"],
}


def chapter(*names: str) -> Views:
    people = NAMES if "6.7" in names else NAMES[:7]
    return Views(people, [View(one, map(NAMES.index, SEEN[one]), [CONDITION[who] for who in SEEN[one]]) for one in names])


@pytest.mark.parametrize(
    ("names", "tables", "largest"),
    [
        (["6.3A"], 12, "1/2"),
        (["6.3A", "6.3B"], 45, "4/5"),
        (["6.3A", "6.3B", "6.5A"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5B"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5A", "6.5B"], 8, "1/2"),
        (["6.3A", "6.3B", "6.7"], 540, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8"], 243, "8/9"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5A"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5B"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.5A", "6.5B"], 96, "1/2"),
    ],
)
def test_the_chapters_views_leave_so_many_tables_and_are_so_sure(names: list[str], tables: int, largest: str) -> None:
    found = check(chapter(*names))
    assert (found.how, found.tables, found.tables_text, found.largest) == ("exact", tables, str(tables), Fraction(largest))
    assert found.private is (Fraction(largest) <= Fraction(1, 2))


def test_donald_is_exposed_by_both_views_and_alan_is_not() -> None:
    found = check(chapter("6.3A", "6.3B"))
    (one,) = found.exposed
    assert (one.name, one.value, one.probability, one.exact) == ("Donald", "S", Fraction(4, 5), True)
    assert one.views == ("6.3A", "6.3B")
    assert found.of("Alan").shares == {"H": Fraction(1, 3), "S": Fraction(2, 5), "V": Fraction(4, 15)}
    assert found.of("Ellen").shares == {"F": Fraction(1, 3), "S": Fraction(2, 5), "V": Fraction(4, 15)}


def test_views_that_have_nothing_to_do_with_it_are_not_blamed() -> None:
    (one,) = check(chapter("6.7", "6.3A", "6.3B")).exposed
    assert one.views == ("6.3A", "6.3B")


@pytest.mark.parametrize("k", range(2, 9))
def test_k_views_that_share_one_person(k: int) -> None:
    """Section 6.4.2: 3K + 1 people, of whom the last is in K views."""
    value = {3 * i + j: (1, 2, i + 3)[j] for i in range(k) for j in range(3)} | {3 * k: 1}
    views = [View(str(i), who := [3 * i, 3 * i + 1, 3 * i + 2, 3 * k], [value[one] for one in who]) for i in range(k)]
    found = check(Views(3 * k + 1, views))
    assert found.of(3 * k).shares[1] == Fraction(2**k, 2**k + 1) == found.largest


# Brute force


def brute(views: Views) -> tuple[int, dict[int, Counter[object]]]:
    """All tables, one by one: how many fit, and how often everybody has each value."""
    inside = sorted(set().union(*(view.members for view in views.shown)))
    number, has = 0, {person: Counter[object]() for person in inside}
    for given_ in product(views.values, repeat=len(inside)):
        table = dict(zip(inside, given_, strict=True))
        if all(Counter(table[one] for one in view.members if table[one] is not OUTSIDE) == view.shown for view in views.shown):
            number += 1
            for person, value in table.items():
                has[person][value] += 1
    return number, has


@st.composite
def worlds(draw: st.DrawFn, outside: bool = False) -> Views:
    people = draw(st.integers(1, 7))
    kinds = draw(st.integers(1, 3))
    table = draw(st.lists(st.integers(-1 if outside else 0, kinds - 1), min_size=people, max_size=people))
    sets = draw(st.lists(st.sets(st.integers(0, people - 1), min_size=1), min_size=1, max_size=5))
    views = [View(f"v{k}", who, Counter(table[one] for one in who if table[one] >= 0)) for k, who in enumerate(sets)]
    return Views(people, views, complete=not outside)


def agrees(views: Views) -> None:
    number, has = brute(views)
    for how in ("exact", "enclosed"):
        found = check(views, how=how)  # type: ignore[arg-type]
        seen = set()
        for belief in found.beliefs:
            for person in belief.people:
                seen.add(person)
                for value in views.values:
                    low, high = belief.between(value)
                    assert low <= Fraction(has[person][value], number) <= high
                    assert how == "enclosed" or low == high
        assert seen == set(has)
        assert how == "enclosed" or found.tables == number


@settings(max_examples=300)
@given(worlds())
def test_counting_agrees_with_trying_all_tables(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(worlds(outside=True))
def test_counting_agrees_where_some_of_the_register_are_not_in_the_table(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(worlds(), st.randoms(use_true_random=False))
def test_views_that_no_table_shows_are_refused(views: Views, source: Random) -> None:
    """Bags are exchanged between views of one size, which no table may have shown."""
    bags = [view.shown for view in views.shown]
    source.shuffle(bags)
    if any(sum(bag.values()) != len(view.members) for bag, view in zip(bags, views.shown, strict=True)):
        return
    mixed = Views(len(views.names), [View(view.name, view.members, bag) for view, bag in zip(views.shown, bags, strict=True)])
    if brute(mixed)[0]:
        agrees(mixed)
    else:
        with pytest.raises(InfeasibleError, match="contradict"):
            check(mixed)
