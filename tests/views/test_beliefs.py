"""Bounds hold: those of drawn tables as often as stated, those of single views always."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from shoal.views import (
    View,
    Views,
    check,
)
from shoal.views.beliefs import bounded
from shoal.views.cells import components
from tests.views.cases import HALF, brute, chapter, puzzles, random_views


def missed(views: Views, how: str, runs: int, confidence: float, tries: int) -> int:
    """In how many runs some bound does not hold."""
    exact = {person: belief for belief in check(views).beliefs for person in belief.people}
    wrong = 0
    for seed in range(runs):
        checked = check(
            views,
            how=how,  # type: ignore[arg-type]
            confidence=confidence,
            tries=tries,
            seed=seed,
        )
        wrong += any(
            not low <= exact[belief.people[0]].shares.get(value, Fraction(0)) <= high
            for belief in checked.beliefs
            for value in belief.shares
            for low, high in [belief.between(value)]
        )
        assert checked.confidence == Fraction(str(confidence))
    return wrong


def at_most(runs: int, chance: float) -> int:
    """The most of so many runs that fail with this chance, but for one time in ten million."""
    from scipy.stats import binom

    return int(binom.isf(1e-7, runs, chance))


@pytest.mark.parametrize("how", ["sampling", "importance"])
def test_intervals_cover_as_stated(how: str) -> None:
    for views in (next(iter(puzzles())), chapter("6.3A", "6.3B")):
        assert missed(views, how, 25, 0.8, 800 if how == "importance" else 200) <= at_most(25, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sampling", "importance"])
def test_intervals_cover_as_stated_many_times(how: str) -> None:
    for views in (next(iter(puzzles())), chapter("6.3A", "6.3B")):
        assert missed(views, how, 200, 0.8, 800 if how == "importance" else 200) <= at_most(
            200, 0.2
        )


def test_intervals_for_single_probabilities_would_be_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broken twin: no allowance for how many bounds are to hold together."""
    monkeypatch.setattr("shoal.views.checking.claims", lambda puzzle: 1)
    views = next(iter(puzzles()))
    assert missed(views, "sampling", 60, 0.8, 200) > at_most(60, 0.2)


@settings(max_examples=100)
@given(random_views())
def test_bounds_of_single_views_hold(views: Views) -> None:
    number, has = brute(views)
    for part in components(views):
        for belief in bounded(views, part):
            for person in belief.people:
                for value in views.values:
                    low, high = belief.between(value)
                    assert low <= Fraction(has[person][value], number) <= high


def test_bounds_of_views_as_shares_would_be_caught() -> None:
    """What one view says of everybody in it bounds nobody: together views are surer."""
    views = chapter("6.3A", "6.3B")
    alone = max(Fraction(view.bag["S"], view.size) for view in views.views)
    assert alone < check(views).of("Donald").shares["S"]


def test_bounds_from_the_limit_upwards_leave_it_undecided() -> None:
    groups = View("groups", range(4), {"flu": 3, "gout": 1}, ({"flu": 1, "gout": 1}, {"flu": 2}))
    checked = check(Views(4, [groups]))
    assert checked.private is None
    assert checked.exposed == ()
    assert [(one.person, one.value, one.low, one.high) for one in checked.undecided] == [
        (who, "flu", HALF, Fraction(1)) for who in range(4)
    ]


def test_a_single_view_bounds_how_many_have_a_value() -> None:
    views = Views(
        5,
        [
            View("A", range(4), ["flu", "cold", "gout", "gout"]),
            View("B", range(3, 5), ["flu", "cold"]),
        ],
    )
    beliefs = [belief for part in components(views) for belief in bounded(views, part)]
    (three,) = (belief for belief in beliefs if belief.people == (0, 1, 2))
    assert three.between("flu") == (Fraction(0), Fraction(1, 3))
    assert three.between("gout") == (Fraction(1, 3), Fraction(2, 3))
