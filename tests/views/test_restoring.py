"""Restoring against someone who does not know of it: found where it can be."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.errors import InputError, ParameterError
from shoal.experiments.heart import violated
from shoal.views import (
    OUTSIDE,
    Candidate,
    View,
    Views,
    check,
    refinements,
    restore,
    subsets,
)
from shoal.views.model import Value
from tests.views.cases import HALF, TABLE, chapter, covered, intervals, named, private, random_views


def test_the_chapters_views_are_restored_by_two_parts_of_them() -> None:
    views = chapter("6.3A", "6.3B")
    restored = restore(views, TABLE[:7], intervals(views))
    assert (
        restored.private,
        restored.before.tables,
        restored.after.tables,
        restored.after.largest,
    ) == (
        True,
        45,
        8,
        HALF,
    )
    assert len(restored.added) == 2
    assert private(views.also(*restored.added))
    (row,) = restored.rows
    assert (row.person, row.value, row.before, row.after, row.limit) == (
        "Donald",
        "S",
        Fraction(4, 5),
        HALF,
        HALF,
    )
    assert not restored.unrestored


def test_one_part_does_not_restore_them_and_that_is_proven() -> None:
    views = chapter("6.3A", "6.3B")
    restored = restore(views, TABLE[:7], intervals(views), additions=1)
    assert restored.added == ()
    assert restored.after is restored.before
    (left,) = restored.unrestored
    assert (left.exposed.name, left.proven) == ("Donald", "candidates")


def test_the_chapters_own_tables_restore_and_table_8_does_not() -> None:
    views = chapter("6.3A", "6.3B", "6.7")
    restored = restore(views, TABLE, named("6.5A", "6.5B"))
    assert (restored.private, restored.after.tables, [view.name for view in restored.added]) == (
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
def test_some_views_need_as_many_more_as_there_are_views(k: int) -> None:
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
    (left,) = restore(views, table, pairs, additions=k - 1).unrestored
    assert left.proven == "candidates"
    restored = restore(views, table, pairs, additions=k)
    assert (restored.private, len(restored.added)) == (True, k)
    assert restored.before.largest == Fraction(2**k, 2**k + 1)


@settings(max_examples=60)
@given(random_views(), st.randoms(use_true_random=False))
def test_views_that_restore_are_found_if_there_are_any(views: Views, source: Random) -> None:
    """Compared with all sets of up to two candidates, each by all tables."""
    table = covered(views, source)
    views = Views(
        len(views.people), [Candidate(view.name, view.people).view(table) for view in views.views]
    )
    assume(not private(views))
    candidates = [*subsets(views, 2), *subsets(views, 3)]
    source.shuffle(candidates)
    del candidates[6:]
    sets = [some for size in (1, 2) for some in combinations(candidates, size)]
    able = [some for some in sets if private(views.also(*(one.view(table) for one in some)))]
    restored = restore(views, table, candidates, effort=1000)
    assert bool(restored.private) == bool(able)
    if able:
        assert len(restored.added) == len(able[0])
        assert private(views.also(*restored.added))
    else:
        assert restored.added == ()
        assert all(one.proven for one in restored.unrestored)


@pytest.mark.parametrize("runs", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_the_search_finds_what_trying_all_sets_finds(runs: int) -> None:
    """Two views that share somebody: often restored, and never worse for anybody than the limit."""
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
        restored = restore(views, table, pairs)
        assert (len(restored.added) or None) == least
        assert bool(restored.private) == (least is not None)
        sizes[least] += 1
    assert min(sizes[1], sizes[2], sizes[None]) >= 2, sizes


def test_nobody_is_exposed_after_restoring() -> None:
    """Views of the chapter's experiment: whoever was exposed before, all limits hold for all."""
    restored = 0
    for seed in range(8):
        case = violated(seed, 3, (0.02, 0.04), 100)
        found = restore(case.views, case.levels, refinements(case.views, case.columns), effort=60)
        if found.added:
            restored += 1
            assert check(case.views.also(*found.added)).private
            assert all(
                Candidate("", view.people).view(case.levels).bag == view.bag for view in found.added
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
    assert restore(views, table, pairs, additions=4).private
    restored = restore(views, table, pairs, additions=3)
    assert len(restored.added) == 2
    (left,) = restored.unrestored
    assert (left.proven, left.exposed.person) == (None, 10)
    assert "went to other people" in left.reason


def test_what_is_safe_is_left_alone() -> None:
    views = chapter("6.3A")
    restored = restore(views, TABLE[:7], intervals(views))
    assert (restored.private, restored.added, restored.rows, restored.tried) == (True, (), (), 0)


def test_people_who_may_not_be_in_the_table_are_restored_too() -> None:
    """Donald and six others, and an eighth person of the register who is not in the table."""
    table = [*TABLE[:7], OUTSIDE]
    views = Views(
        8, [View("A", range(4), list("HSVS")), View("B", range(3, 8), list("SVSF"))], complete=False
    )
    assert not check(views).private
    restored = restore(views, table, subsets(views, 2))
    assert restored.private
    assert private(views.also(*restored.added))


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


def test_the_report_is_a_table_and_a_chart(tmp_path: Path) -> None:
    views = chapter("6.3A", "6.3B")
    restored = restore(views, TABLE[:7], intervals(views))
    assert restored.frame().rows() == [("Donald", "S", 0.5, 0.8, 0.5)]
    restored.save(tmp_path / "chart.svg")
    assert "Donald: S" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
