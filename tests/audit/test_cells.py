"""Cells: who is in the same one, and that sums are audited by cells as they are by people."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal.audit.slices as slices
from shoal.audit.cells import Constraint, PersonCells, cells, refined
from shoal.audit.matrices import Floats
from shoal.audit.model import Number, crowd, members
from shoal.audit.slices import Slices
from shoal.audit.sums import Rule, Sums

SETS = st.lists(st.sets(st.integers(0, 40), min_size=1), max_size=20)


@given(SETS, st.sets(st.integers(0, 40), min_size=1), st.integers(1, 3))
def test_people_share_a_cell_exactly_if_all_sets_and_their_kind_are_the_same(
    sets: list[set[int]], asked: set[int], count: int
) -> None:
    kinds = np.arange(41, dtype=np.int32) % count
    groups = cells([Constraint(crowd(each), "=", 0) for each in sets], crowd(asked), kinds)
    everyone = sorted(set().union(asked, *sets))
    signatures: dict[Any, list[int]] = {}
    for person in everyone:
        about = tuple(person in each for each in (*sets, asked))
        signatures.setdefault((about, person % count), []).append(person)
    found = [np.flatnonzero(groups.labels == place).tolist() for place in range(len(groups))]
    assert found == list(signatures.values())  # in the order of first members
    assert groups.first.tolist() == [people[0] for people in found]
    assert groups.sizes.tolist() == [len(people) for people in found]
    inside = groups.rows([crowd(each) for each in (*sets, asked)])
    for row, each in zip(inside, (*sets, asked), strict=True):
        assert [bool(one) for one in row] == [people[0] in each for people in found]


@given(SETS)
def test_refining_at_once_and_one_by_one_distinguish_the_same_people(sets: list[set[int]]) -> None:
    start = np.zeros(41, np.int32)
    people = [crowd(each) for each in sets]
    at_once = refined(start, people)
    one_by_one = start
    for each in people:
        one_by_one = refined(one_by_one, [each])
    pairs = set(zip(at_once.tolist(), one_by_one.tolist(), strict=True))
    assert len(pairs) == len(set(at_once.tolist())) == len(set(one_by_one.tolist()))


def test_a_constraint_hashes_by_what_it_says() -> None:
    first, second = Constraint(5, "=", 1), Constraint(5, "=", 1)
    assert hash(first) == hash(second)
    assert hash(first) == hash(first)
    assert first == second != Constraint(5, "<=", 1)
    assert list(members(first.people)) == [0, 2]


# The form by cells decides as the form by people does

STEP = Fraction(1, 500)
"""Of a width: ends are rounded to half of it, and may be so on different sides."""


def by_people(auditor: Sums) -> Sums:
    """The same auditor, to whom everyone is a cell of their own."""
    n = auditor.people
    kinds = np.arange(n, dtype=np.int32)
    return replace(auditor, low=auditor.lows, high=auditor.highs, width=auditor.widths, kinds=kinds)


def ends(rule: Rule | None) -> tuple[Number, ...]:
    if rule is None or rule.low is None or rule.high is None or rule.bound is None:
        return ()
    return rule.low, rule.high, rule.bound


def difference(auditor: Sums, first: Iterable[int], second: Iterable[int]) -> str | None:
    """Where the forms decide differently: after any question of the first and any reply to it."""
    persons = by_people(auditor)
    top = auditor.highs[0]
    for question in first:
        size = question.bit_count()
        for part in (0, 9, 20):
            answer = top * size * Fraction(part, 20)
            decisions = [each.decide(each.start(), question, answer) for each in (auditor, persons)]
            if decisions[0].answered != decisions[1].answered:
                return f"{question:b} = {answer} alone"
            state = auditor.after(auditor.start(), decisions[0])
            for asked in second:
                both = ends(auditor.rule(state, asked)), ends(persons.rule(state, asked))
                if len(both[0]) != len(both[1]):
                    return f"{question:b} = {answer}, then {asked:b}"
                for one, other in zip(*both, strict=True):
                    if abs(Fraction(one - other)) > STEP * auditor.widths[0]:
                        return f"{question:b} = {answer}, then {asked:b}: {one} and {other}"
    return None


UP_TO_NAMES = [0b0001, 0b0011, 0b0111, 0b1111]
"""Every first question about four people, but for who is who."""


@pytest.mark.parametrize("auditor", [Sums(4, 0, 4), Sums(4, 0, 4, 3)], ids=["narrow", "wide"])
def test_cells_decide_as_people_do_in_all_small_cases(auditor: Sums) -> None:
    pytest.importorskip("highspy")
    assert difference(auditor, UP_TO_NAMES, range(1, 16)) is None


@pytest.mark.slow
def test_cells_decide_as_people_do_about_five_people_with_several_bounds() -> None:
    auditor = Sums(5, 0, (4, 4, 4, 4, 3), (1, 1, 1, 2, 1))
    assert difference(auditor, range(1, 32), range(1, 32)) is None


def loose(slices: Slices, x: Floats, forth: Floats, back: Floats) -> Floats:
    """A twin: whoever is in a cell of several can have anything."""
    system = slices.shape.system
    several = system.cells.sizes > 1
    alone = np.maximum(forth + back - 2 * system.slip, 0.0)
    return np.where(several, system.span, alone)


def shared(slices: Slices, x: Floats, forth: Floats, back: Floats) -> Floats:
    """A twin: a cell is taken for one person who has the average."""
    widths: Floats = (forth + back) / slices.shape.system.cells.sizes
    return widths


@pytest.mark.parametrize("twin", [loose, shared])
def test_twins_that_mistake_cells_are_caught(twin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slices, "_by_cells", twin)
    # without programs, which mend what is too narrow
    monkeypatch.setattr(slices, "SMALL", 0)
    monkeypatch.setattr(slices, "LARGEST", 0)
    assert difference(Sums(4, 0, 4), UP_TO_NAMES, range(1, 16)) is not None


def test_a_twin_that_does_not_distinguish_people_anew_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def coarse(constraints: Any, people: int, kinds: Any = None) -> PersonCells:
        """Those in the question are one cell, whatever was asked before."""
        return cells((), people, kinds)

    monkeypatch.setattr(slices, "told_apart", coarse)
    auditor, people = Sums(4, 0, 4), 0b0110
    state = auditor.after(auditor.start(), auditor.decide(auditor.start(), 0b0011, 4))
    monkeypatch.undo()
    right = ends(by_people(auditor).rule(state, people))
    monkeypatch.setattr(slices, "told_apart", coarse)
    assert ends(auditor.rule(state, people)) != right


def test_a_million_people_are_as_many_cells_as_questions_distinguish() -> None:
    million = 10**6
    auditor = Sums(million, 0, 100, 2, unit=Fraction(1, 10**1300))
    everyone = (1 << million) - 1
    state = auditor.start()
    for people in (everyone, everyone >> 500_000, everyone >> 999_000):
        answer = people.bit_count() * Fraction(101, 2)
        decision = auditor.decide(state, people, answer)
        assert decision.answered
        state = auditor.after(state, decision)
    assert not auditor.decide(state, 1, 50).answered
    assert auditor.cost(state, 0b11) < 2 * million
