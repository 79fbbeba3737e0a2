"""Arrays count the same as whole numbers, within their bounds."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import TooLargeError
from shoal.views import View, Views, check
from shoal.views.cells import Constraints, components
from shoal.views.counting import Counted
from shoal.views.dense import Dense
from tests.views.cases import (
    chapter,
    entangled,
    random_views,
)


@settings(max_examples=80)
@given(random_views(), st.integers(0, 1000))
def test_arrays_count_the_same_within_their_bounds_and_recognise_equal_shares(
    views: Views, seed: int
) -> None:
    for part in components(views):
        try:
            found = Dense.of(part.constraints)
        except TooLargeError:
            assert len(part.constraints.bags) == 1
            continue
        encloses(found, Counted.of(part.constraints), seed)


def encloses(found: Dense, exact: Counted, seed: int) -> None:
    pairs = [(c, v, share) for c, own in enumerate(exact.shares) for v, share in enumerate(own)]
    for c, v, share in pairs:
        assert abs(found.shares[c][v] - share) <= share * found.error + found.faint
    assert found.error < Fraction(1, 10**8)
    assert 10**found.digits == pytest.approx(
        exact.tables, rel=1e-6
    ) or found.digits == pytest.approx(
        len(str(exact.tables)) - 1 + np.log10(float("0." + str(exact.tables)[:15]) * 10), abs=1e-6
    )
    assert all(found.equal(pairs, Random(seed)))
    close = Fraction(1, 10**20)
    assert not any(found.equal([(c, v, share + close) for c, v, share in pairs], Random(seed)))


def large() -> Constraints:
    """Three views of 40 to 60 people that share some with each other."""
    source = np.random.default_rng(4)
    value = source.choice(4, 120)
    sets = [
        np.arange(0, 50),
        np.arange(42, 95),
        np.concatenate([np.arange(90, 120), np.arange(10)]),
    ]
    (part,) = components(
        Views(120, [View(str(k), who.tolist(), value[who].tolist()) for k, who in enumerate(sets)])
    )
    return part.constraints


def test_arrays_count_large_views() -> None:
    encloses(Dense.of(large()), Counted.of(large()), 1)


def test_arrays_that_forget_those_in_one_view_only_would_be_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shoal.views import dense

    table = dense._table
    monkeypatch.setattr(
        dense,
        "_table",
        lambda last, z, prime: table(last, z, prime) if last < 9 else (np.ones(last + 1), 0.0),
    )
    with pytest.raises(AssertionError):
        encloses(Dense.of(large()), Counted.of(large()), 1)


def test_what_arrays_cannot_hold_is_refused() -> None:
    with pytest.raises(TooLargeError, match="multiplications"):
        Dense.of(large(), 1000)
    (part,) = components(entangled())
    with pytest.raises(TooLargeError, match="places"):
        Dense.of(part.constraints)


def test_large_views_are_checked_by_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.views.checking.QUICK", 10)
    views = chapter("6.3A", "6.3B", "6.7", "6.8")
    checked = check(views)
    assert (checked.how, checked.confidence, checked.tables, checked.private) == (
        "enclosed",
        None,
        None,
        False,
    )
    assert checked.digits == pytest.approx(np.log10(243))
    (low, high) = checked.of("Donald").between("S")
    assert low <= Fraction(8, 9) <= high
    assert checked.exposed[0].views == ("6.3A", "6.3B")
    assert check(views.within("8/9")).private is True
    assert check(views.within(Fraction(8, 9) - Fraction(1, 10**20))).private is None
