"""Someone who has the register and runs personal generalisation for everybody in it."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack import recognise, recognised
from shoal.chance import Seeded
from shoal.data.tables import Table
from shoal.errors import ColumnError, ParameterError
from shoal.methods.personal import People, Personal
from tests.methods.test_personal import TREES, some_method, some_people


@pytest.mark.parametrize("seed", range(3))
def test_those_are_left_who_would_have_got_the_same_release(seed: int) -> None:
    register = some_people(seed, 12)
    method = Personal(Fraction(1, 2))
    found = recognised(method, register)
    release = method.release(register).table
    quasi = list(register.quasi)
    shown = Counter(release.select(quasi).rows())
    # Everybody's release, counted by how many people share it.
    assert sorted(np.repeat(found.left, found.people).tolist()) == sorted(
        shown[row] for row in release.select(quasi).rows()
    )
    assert (found.left <= found.fitting).all()
    assert found.people.sum() == register.rows


def test_crowds_are_summed_up_by_the_people_in_them() -> None:
    register = some_people(1, 12)
    found = recognised(Personal(1), register)
    rows = People.of(Personal(1), register).rows
    assert np.array_equal(found.people, rows.count)
    assert found.mean(found.people) == pytest.approx(rows.distinct / rows.total)
    alone = rows.count[rows.count == 1].sum() / rows.total
    assert found.alone(found.people) == pytest.approx(alone)


def everybody(people: People) -> list[tuple[str, ...]]:
    """The values of everyone whom the attacker tries, one by one."""
    crowds = people.crowds
    columns = []
    for tree, codes in zip(crowds.hierarchies, crowds.everyone.codes, strict=True):
        columns.append([tree.labels[0][code] for code in np.repeat(codes, crowds.everyone.count)])
    return list(zip(*columns, strict=True))


def releases_of(method: Personal, people: list[tuple[str, ...]], wish: str | None) -> list[str]:
    """What each of some people would be shown as if all had a wish, by the release itself."""
    frame = pl.DataFrame(people, schema=["town", "age"], orient="row").with_columns(
        choice=pl.lit(wish, dtype=pl.String), tag=pl.Series(range(len(people)))
    )
    table = shoal.table(
        frame,
        quasi=["town", "age"],
        identifying=["choice"],
        insensitive=["tag"],
        hierarchies=TREES,
        rows_are_people=True,
    )
    made = method.release(table, Seeded(1)).table.sort("tag")
    return list(map(str, made.select("town", "age").rows()))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shown", [False, True])
def test_those_are_left_whom_the_release_itself_would_show_alike(seed: int, shown: bool) -> None:
    method = some_method(seed)
    table = some_people(seed, 8)
    if shown:
        table = table.with_roles(quasi=["town", "age"], sensitive=["ill", "choice"])
    people = People.of(method, table)
    tried = everybody(people)
    wishes = [None, *method.wishes]
    would = {wish: releases_of(method, tried, wish) for wish in wishes}
    seen = recognised(method, table)
    keys = [None] if method.choice is None else table.keys("choice")
    for row, left in enumerate(seen.left.tolist()):
        person = tuple(
            tree.labels[0][people.rows.column(name)[row]]
            for name, tree in people.hierarchies.items()
        )
        wish = wishes[people.want[row]]
        assert wish in keys
        own = would[wish][tried.index(person)]
        known = [wish] if shown and method.choice is not None else wishes
        alike = {place for each in known for place, text in enumerate(would[each]) if text == own}
        assert left == len(alike)


def test_a_twin_that_ignores_what_is_shown_beside_records_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = People.of

    def blind(method: Personal, table: Table) -> People:
        return replace(of(method, table), choices_shown=False)

    monkeypatch.setattr(People, "of", blind)
    caught = 0
    for seed in range(12):
        try:
            test_those_are_left_whom_the_release_itself_would_show_alike(seed, True)
        except AssertionError:
            caught += 1
    assert caught


def test_the_owner_is_told_what_the_attack_finds() -> None:
    for seed in range(6):
        table = some_people(seed, 20)
        method = some_method(seed)
        release = method.release(table, Seeded(1))
        seen = recognised(method, table)
        facts: Any = release.facts
        assert np.array_equal(facts.seen.left, seen.left)
        assert np.array_equal(facts.seen.fitting, seen.fitting)
        line = [line for line in facts.lines() if "knows the algorithm" in line]
        assert line == [str(seen)]
        assert "knows the algorithm" not in release.certificate.to_json().replace(
            "whoever knows the algorithm", ""
        ).replace("an attacker who knows the algorithm", "")
        found = recognise(method, table, release.table)
        assert found.replayed
        assert (found.named, found.alone) == (seen.mean(seen.left), seen.alone(seen.left))


def test_a_heuristic_that_would_have_to_search_again_tells_its_owner_nothing() -> None:
    table = some_people(1, 20)
    several = Personal("1/2", "genetic", effort=20, choice="choice").release(table, Seeded(1))
    one = Personal("1/2", "genetic", effort=20).release(table, Seeded(1))
    assert several.facts.seen is None  # type: ignore[attr-defined]
    assert one.facts.seen is not None  # type: ignore[attr-defined]


def test_a_release_of_other_people_is_not_what_the_method_gives() -> None:
    table = some_people(1, 20)
    other = Personal("9/10").release(some_people(2, 20), Seeded(1))
    assert not recognise(Personal("9/10"), table, other.table).replayed
    with pytest.raises(ColumnError, match="the release has no column 'age'"):
        recognise(Personal("9/10"), table, other.table.drop("age"))


def test_rows_drawn_of_each_person_cannot_be_run_again() -> None:
    with pytest.raises(ParameterError, match="cannot be run again"):
        recognised(Personal("1/2", unit="choice"), some_people(1, 20))
