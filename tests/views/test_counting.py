"""Counting agrees with trying all tables, and drawing is uniform."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from shoal.errors import InfeasibleError
from shoal.views import View, Views, check, possible
from tests.views.cases import (
    brute,
    chapter,
    random_views,
)


def agrees(views: Views) -> None:
    number, has = brute(views)
    for how in ("exact", "enclosed"):
        checked = check(views, how=how)
        seen = set()
        for belief in checked.beliefs:
            for person in belief.people:
                seen.add(person)
                for value in views.values:
                    low, high = belief.between(value)
                    assert low <= Fraction(has[person][value], number) <= high
                    assert how == "enclosed" or low == high
        assert seen == set(has)
        assert how == "enclosed" or checked.tables == number


@settings(max_examples=200)
@given(random_views())
def test_counting_agrees_with_trying_all_tables(views: Views) -> None:
    agrees(views)


@pytest.mark.slow
@settings(max_examples=2000)
@given(random_views())
def test_counting_agrees_with_trying_all_tables_many_times(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(random_views(outside=True))
def test_counting_agrees_where_some_of_the_register_are_not_in_the_table(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(random_views(), st.randoms(use_true_random=False))
def test_views_that_no_table_shows_are_refused(views: Views, source: Random) -> None:
    """Bags are exchanged between views of one size, which no table may have shown."""
    bags = [view.bag for view in views.views]
    source.shuffle(bags)
    if any(
        sum(bag.values()) != len(view.people) for bag, view in zip(bags, views.views, strict=True)
    ):
        return
    mixed = Views(
        len(views.people),
        [View(view.name, view.people, bag) for view, bag in zip(views.views, bags, strict=True)],
    )
    if brute(mixed)[0]:
        agrees(mixed)
    else:
        with pytest.raises(InfeasibleError, match="contradict"):
            check(mixed)


UNIFORM = 1e-7  # chance that a test of uniformity fails though all is well


def uniform(seen: Mapping[object, int], among: int) -> bool:
    expected = sum(seen.values()) / among
    off = (
        sum((number - expected) ** 2 for number in seen.values()) / expected
        + (among - len(seen)) * expected
    )
    return bool(off < chi2.isf(UNIFORM, among - 1))


@pytest.mark.parametrize(
    "names", [["6.3A", "6.3B"], ["6.3A", "6.3B", "6.5A", "6.5B"], ["6.3A", "6.3B", "6.7", "6.8"]]
)
def test_tables_are_drawn_uniformly(names: list[str]) -> None:
    views = chapter(*names)
    tables = check(views).tables
    assert tables is not None
    seen: Counter[object] = Counter(tuple(one) for one in possible(views, 40 * tables, seed=1))
    assert len(seen) <= tables
    assert uniform(seen, tables)


def test_a_sampler_that_takes_people_one_by_one_is_caught() -> None:
    """The chapter's: a value that is possible is as likely as any other, without weights."""
    views = chapter("6.3A", "6.3B")
    source, seen = Random(1), Counter[object]()
    tables = {tuple(map(str, one)) for one in possible(views, 3000)}
    assert len(tables) == 45
    for _ in range(40 * 45):
        left, chosen = tables, tuple[str, ...]()
        for at in range(7):
            chosen = (*chosen, source.choice(sorted({one[at] for one in left})))
            left = {one for one in left if one[: at + 1] == chosen}
        seen[chosen] += 1
    assert not uniform(seen, 45)


@settings(max_examples=60)
@given(random_views(), st.integers(0, 1000))
def test_what_is_drawn_could_have_shown_the_views(views: Views, seed: int) -> None:
    (table,) = possible(views, 1, seed)
    for view in views.views:
        assert Counter(table[person] for person in view.people) == view.bag


def chain(people: int) -> Views:
    """Each view shares two people with the next."""
    source = np.random.default_rng(3)
    value = source.choice(4, people)
    return Views(
        people,
        [
            View(str(at), who := range(at, min(at + 8, people)), value[who].tolist())
            for at in range(0, people - 2, 6)
        ],
    )


def test_long_chains_are_counted_with_roundings_accounted_for() -> None:
    views = chain(120)
    exact, enclosed = check(views, how="exact"), check(views, how="enclosed")
    for one, other in zip(exact.beliefs, enclosed.beliefs, strict=True):
        for value, share in one.shares.items():
            low, high = other.between(value)
            assert low <= share <= high
            assert high - low < Fraction(1, 10**10)
    assert enclosed.digits == pytest.approx(
        len(exact.tables_text) - 1 + float("0." + exact.tables_text[:15]), abs=1
    )


def test_a_very_long_chain_is_not_counted_in_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.views.counting.PATIENCE", 1e5)
    checked = check(chain(1500))
    assert (checked.how, checked.confidence, checked.tables) == ("enclosed", None, None)
    assert checked.tables_text.startswith("about 10^")


def test_a_rounded_share_that_is_exactly_its_limit_is_told_from_one_that_is_not() -> None:
    views = chain(60)
    belief = check(views, how="exact").beliefs[7]
    value, share = next((value, share) for value, share in belief.shares.items() if 0 < share < 1)
    for limit in (share, share - Fraction(1, 10**25)):
        checked = check(views.within(limit), how="enclosed")
        low, high = checked.of(belief.people[0]).between(value)
        assert (low == high == limit) is (limit == share)
        assert (
            (belief.people[0], value) in {(one.person, one.value) for one in checked.undecided}
        ) is (limit != share)
