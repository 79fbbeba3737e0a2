"""What entries add up to: exact sums, and a budget that nobody exceeds."""

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.data.disk
import shoal.data.files
import shoal.releases.release
from shoal.chance.source import Seeded
from shoal.data.hierarchy import suppress
from shoal.errors import (
    BudgetError,
    ColumnError,
    ParameterError,
)
from shoal.exact.epsilon import Epsilon
from shoal.ledger import Ledger
from shoal.methods.safepub import SafePub
from shoal.methods.sampling import RandomSample
from shoal.privacy.promises import DifferentialPrivacy
from tests.ledger.private import DELTA, NoCoins, Private, pair, people, tree, unsync


def test_sums_are_exact(tmp_path: Path) -> None:
    tenths = Ledger.create(tmp_path / "tenths", epsilon=1, delta=1e-5)
    for _ in range(10):
        tenths.release(Private(0.1), people())
    assert tenths.left() == pair(0, 0)
    with pytest.raises(BudgetError):
        tenths.release(Private("1e-300", "1e-300"), people())
    logarithm = Ledger.create(tmp_path / "logarithm", epsilon="ln(2)", delta=1e-5)
    with pytest.raises(BudgetError):
        logarithm.release(Private("0.69314718055994530941723212145818"), people())  # ln 2 is …8176…
    logarithm.release(Private("1/3*ln(2)"), people())
    logarithm.release(Private("2/3*ln(2)"), people())
    left = logarithm.left()
    assert left is not None
    assert left.epsilon == 0
    with pytest.raises(BudgetError):
        logarithm.release(Private("1e-30"), people())


@settings(max_examples=30)
@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from(["0.1", "1/3", "ln(2)", "0.5*ln(3)", "1"]),
            st.sampled_from(["1e-6", "1/300000"]),
        ),
        max_size=8,
    )
)
def test_whatever_is_asked_for_the_budget_is_kept_and_nothing_is_refused_that_fits(
    asked: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger"
    with pytest.MonkeyPatch.context() as patched:
        unsync(patched)
        ledger = Ledger.create(path, epsilon=2, delta="1e-5")
        epsilon, delta = Fraction(0), Fraction(0)  # lower bounds, to forty digits
        for number, (more, also) in enumerate(asked, 2):
            fits = epsilon + Epsilon.of(more).bounds(40)[0] <= 2 and delta + Fraction(
                also
            ) <= Fraction("1e-5")
            try:
                ledger.reserve(DifferentialPrivacy(more, also, "standard"), "test", people())
            except BudgetError:
                assert not fits, number
            else:
                assert fits
                epsilon, delta = epsilon + Epsilon.of(more).bounds(40)[0], delta + Fraction(also)
        spent, left = ledger.spent(), ledger.left()
        assert left is not None
        assert epsilon <= spent.epsilon <= 2
        assert spent.epsilon - epsilon < Fraction("1e-25")
        assert spent.delta == delta
        assert 0 <= left.epsilon <= 2 - epsilon


def test_what_has_no_bound_fits_no_budget(ledger: Ledger, tmp_path: Path) -> None:
    before = tree(tmp_path)
    with pytest.raises(
        BudgetError, match="has a budget, and a release by sampling cannot be charged"
    ):
        ledger.release(RandomSample("1/2"), people(), tmp_path / "out", chance=NoCoins())
    with pytest.raises(BudgetError, match="seed"):
        ledger.release(Private(), people(), tmp_path / "out", chance=Seeded(1))
    assert tree(tmp_path) == before


def test_without_a_budget_what_has_no_bound_is_entered_as_such(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.release(Private(), people())
    assert ledger.spent() == pair(1, Fraction(DELTA))
    assert ledger.budget() is ledger.left() is None
    ledger.release(RandomSample("1/2"), people(), tmp_path / "out")
    assert ledger.entries()[3].facts.cost.epsilon is None
    assert ledger.spent() == pair(1, 1)
    with pytest.raises(BudgetError, match="nothing bounds"):
        ledger.set_budget(epsilon=100, delta=0.5)
    seeded = Ledger.create(tmp_path / "seeded")
    seeded.release(Private(), people(), chance=Seeded(1))
    assert seeded.spent() == pair(0, 1)


def test_units_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    for ledger in (
        Ledger.create(tmp_path / "a", epsilon=3, delta=0.1),
        Ledger.create(tmp_path / "b"),
    ):
        ledger.release(Private(), people())
        with pytest.raises(BudgetError, match="'row' and this one 'ill'"):
            ledger.release(Private(unit="ill"), people(), chance=NoCoins())
        ledger.release(Private(), people())


def test_what_safepub_would_refuse_about_a_table_costs_nothing(ledger: Ledger) -> None:
    rows = {
        "sex": ["f", "m"],
        "born": pd.Series([date(2001, 2, 3), date(2002, 3, 4)], dtype=object),
        "who": ["a", None],
    }
    roles: dict[str, Any] = {"quasi": ["sex"], "insensitive": ["born"], "identifying": ["who"]}
    options = {**roles, "hierarchies": {"sex": suppress(["f", "m"])}}
    with pytest.raises(ColumnError, match="read off its values"):
        ledger.release(
            SafePub(1, DELTA), shoal.table(pd.DataFrame(rows), **options), chance=NoCoins()
        )
    declared = shoal.table(pd.DataFrame(rows), types={"born": "date"}, **options)
    with pytest.raises(
        ColumnError, match="'who' tells people apart, but some of its values are missing"
    ):
        ledger.release(SafePub(1, DELTA, "standard", unit="who"), declared, chance=NoCoins())
    assert ledger.spent() == pair(0, 0)
    ledger.release(SafePub(1, DELTA), declared)


def test_a_budget_changes_only_by_an_entry_and_never_below_what_is_spent(ledger: Ledger) -> None:
    ledger.release(Private("1.5"), people())
    with pytest.raises(BudgetError):
        ledger.release(Private(), people())
    entry = ledger.set_budget(epsilon="5/2")
    assert (entry.number, entry.what) == (4, "budget")
    assert entry.facts.budget == (Epsilon.of("2.5"), Fraction("1e-5"))
    ledger.release(Private(), people())
    for wrong in ({"epsilon": "2.4"}, {"delta": "1e-6"}, {"epsilon": 3, "delta": 0}):
        with pytest.raises(BudgetError, match="has already spent"):
            ledger.set_budget(**wrong)
    for nothing in ({}, {"epsilon": 0}, {"delta": 1}):
        with pytest.raises(ParameterError):
            ledger.set_budget(**nothing)
    ledger.set_budget(delta="2e-6")
    assert ledger.left() == pair(0, 0)
    assert ledger.verify() == []
    assert not hasattr(ledger, "reset")


def test_a_ledger_without_a_budget_gets_one_later(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    with pytest.raises(ParameterError, match="has no budget; give `epsilon` and `delta`"):
        ledger.set_budget(epsilon=1)
    ledger.set_budget(epsilon=1, delta=0.1)
    assert ledger.budget() == pair(1, Fraction("0.1"))


def test_a_method_repeats_once_it_is_reserved_unless_there_is_a_gamma(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    assert not ledger.account().repeats("sampling")
    ledger.release(RandomSample("1/2"), people(), tmp_path / "out")
    assert ledger.account().repeats("sampling")
    assert not ledger.account().repeats("buckets")
    ledger.set_gamma("1/2")
    assert not ledger.account().repeats("sampling")
