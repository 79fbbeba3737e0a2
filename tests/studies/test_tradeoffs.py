"""Trade-off curves: each point is what solving there gives, and staircases and halving equal brute
force; twins of the search are caught.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import ParameterError, Stopped, TooLargeError
from shoal.lattice import Lattice
from shoal.methods.personal import People, Personal, PersonalFacts
from shoal.studies import tradeoffs
from shoal.studies.curves import Stair
from shoal.studies.tradeoffs import compared, minimal_node, tradeoff, tradeoff_of
from tests.data.columns import leaves
from tests.methods.test_personal import TREES, some_method, some_people
from tests.methods.test_personal_exact import brute_force

Ways = list[tuple[Fraction, Fraction]]
"""Utility as a share, and risk, of every way to show a record."""


def ways(people: People) -> list[Ways]:
    """Of every distinct row, by counting one by one."""
    freely = replace(people, wanted=[replace(want, floor=0) for want in people.wanted])
    most = people.utility.most / people.utility.unit
    return [
        [
            (worth / most if most else Fraction(1), risk)
            for risk, worth in brute_force(freely, row).values()
        ]
        for row in range(people.rows.distinct)
    ]


def lowest_mean(people: People, every: list[Ways], floor: Fraction) -> Fraction:
    risks = [min(risk for utility, risk in rows if utility >= floor) for rows in every]
    return (
        sum(
            (int(often) * risk for often, risk in zip(people.rows.count, risks, strict=True)),
            Fraction(0),
        )
        / people.rows.total
    )


def as_they_are(people: People, every: list[Ways]) -> Fraction:
    first = [[rows[0]] for rows in every]  # the first node is that of the leaves
    return lowest_mean(people, first, Fraction(0))


@pytest.mark.parametrize("seed", range(25))
def test_every_point_is_the_lowest_risk_at_its_floor(seed: int) -> None:
    table, method = some_people(seed), some_method(seed)
    people = People.of(method, table)
    every, curve = ways(people), tradeoff(table, method, [0, "1/3", 0.5, 0.75, 1])
    assert [point.floor for point in curve.points] == [
        0,
        Fraction(1, 3),
        Fraction(1, 2),
        Fraction(3, 4),
        1,
    ]
    assert curve.as_it_is.risk == pytest.approx(float(as_they_are(people, every)))
    for point in curve.points:
        assert point.risk == pytest.approx(float(lowest_mean(people, every, point.floor)))
        highest = max(
            min(risk for utility, risk in rows if utility >= point.floor) for rows in every
        )
        assert point.highest == pytest.approx(float(highest))
        assert point.floor <= Fraction(point.utility) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("seed", range(10))
def test_a_point_equals_the_release_at_its_floor(seed: int) -> None:
    table, method = some_people(seed, 12), replace(some_method(seed), choice=None, wishes={})
    for point in tradeoff(table, method, ["0.3", "0.6", "0.9"]).points:
        facts = replace(method, utility=point.floor).release(table, Seeded(1)).facts
        assert isinstance(facts, PersonalFacts)
        assert [facts.risk, facts.highest, facts.utility] == pytest.approx(
            [point.risk, point.highest, point.utility]
        )


def test_nothing_halves_the_risk_of_people_who_are_all_alike() -> None:
    table = shoal.table(
        pl.DataFrame({"town": ["a"] * 4, "age": ["1"] * 4}),
        quasi=["town", "age"],
        hierarchies=TREES,
    )
    curve = tradeoff(table, Personal(0.5, model="uniform"))
    assert curve.half is None
    assert {point.risk for point in curve.points} == {0.25}
    assert tradeoff_of(table, Personal(0.5, model="uniform"), 0).half is None


def test_a_table_without_rows_has_no_risk() -> None:
    table = some_people(0, 0)
    assert {point.risk for point in tradeoff(table, Personal(0.5)).points} == {0}
    with pytest.raises(ParameterError, match="row=0 is not in the table; it has 0 rows"):
        tradeoff_of(table, Personal(0.5), 0)


def test_columns_that_nobody_needs_cost_no_utility() -> None:
    curve = tradeoff(some_people(1, 9), Personal(1, importance={"town": 0, "age": 0}))
    assert {point.risk for point in curve.points} == {0}
    stairs = tradeoff_of(some_people(1, 9), Personal(1, importance={"town": 0, "age": 0}), 0)
    assert [(step.utility, step.risk) for step in stairs.steps] == [(Fraction(1), 0.0)]


def test_floors_are_shares_and_there_is_one() -> None:
    with pytest.raises(ParameterError, match=r"floors=1\.5 is out of range"):
        tradeoff(some_people(1, 9), Personal(0.5), [1.5])
    with pytest.raises(
        ParameterError, match="`floors` lists no share of utility; give at least one"
    ):
        tradeoff(some_people(1, 9), Personal(0.5), [])


def test_progress_grows_and_can_stop_the_work() -> None:
    seen: list[tuple[int, int]] = []
    tradeoff(
        some_people(1, 12),
        some_method(3),
        progress=lambda done, total, what: seen.append((done, total)),
    )
    assert len({total for _, total in seen}) == 1
    assert all(done <= total for done, total in seen)
    before = [done for done, _ in seen]
    assert before[0] == 0
    assert max(before) == seen[0][1]

    def stop(done: int, total: int, what: str) -> None:
        if done:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        tradeoff(some_people(1, 12), some_method(3), progress=stop)


def undominated(rows: Ways) -> Ways:
    return sorted(
        {
            (u, r)
            for u, r in rows
            if not any((v >= u and s < r) or (v > u and s <= r) for v, s in rows)
        },
        key=lambda one: one[0],
    )


def same_steps(steps: Sequence[Stair], truth: Ways) -> bool:
    return [step.utility for step in steps] == [utility for utility, _ in truth] and [
        step.risk for step in steps
    ] == [pytest.approx(float(risk)) for _, risk in truth]


@pytest.mark.parametrize("seed", range(15))
def test_a_staircase_has_every_way_that_no_other_beats(seed: int) -> None:
    table, method = some_people(seed), some_method(seed)
    people = People.of(method, table)
    every = ways(people)
    for row in range(table.rows):
        stairs = tradeoff_of(table, method, row)
        place = place_of(people, table, row)
        truth = undominated(every[place])
        assert same_steps(stairs.steps, truth)
        assert not same_steps(stairs.steps[1:], truth)  # a twin that misses a step
        assert stairs.as_it_is.utility == 1
        assert stairs.as_it_is.risk == pytest.approx(float(every[place][0][1]))
        limit = every[place][0][1] / 2
        within = [utility for utility, risk in truth if risk <= limit]
        assert (stairs.half and stairs.half.utility) == (within[-1] if within else None)
        want = people.wanted[people.want[place]]
        assert ceil(stairs.floor * people.utility.most) == want.floor
        freely = replace(people, wanted=[replace(want, floor=0) for want in people.wanted])
        at = brute_force(freely, place)
        assert all(
            float(at[tuple(step.levels.values())][0]) == pytest.approx(step.risk)
            for step in stairs.steps
        )


def place_of(people: People, table: shoal.Table, row: int) -> int:
    """The distinct row with the values of a row of the table."""
    mine = [
        leaves(table, name)[row] if name in TREES else table.records([name])[0].codes[row]
        for name in people.rows.names
    ]
    places = [
        i
        for i in range(people.rows.distinct)
        if [int(codes[i]) for codes in people.rows.codes] == [int(m) for m in mine]
    ]
    assert len(places) == 1
    return places[0]


def test_a_person_is_a_row_of_the_table() -> None:
    with pytest.raises(ParameterError, match="row=9 is not in the table; it has 9 rows"):
        tradeoff_of(some_people(1, 9), Personal(0.5), 9)


def test_a_lattice_too_large_for_one_person_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tradeoffs, "LARGEST", 11)
    with pytest.raises(TooLargeError, match="the lattice has 12 nodes and 11 can be searched"):
        tradeoff_of(some_people(1, 9), Personal(0.5), 0)


def test_personal_generalisation_risks_no_more_than_the_best_k_anonymous_table_worth_as_much() -> (
    None
):
    table = some_people(4, 60)
    found = compared(
        table, Personal(0, measure="depth", effort=50), [2, 5, 10], tables=4, chance=Seeded(1)
    )
    assert [(row.k, row.optimal, row.tables) for row in found.rows] == [
        (k, o, 1 if o else 4) for k in (2, 5, 10) for o in (0, 1)
    ]
    for row in found.rows:
        assert 0 < row.utility < 1
        assert row.exact <= row.genetic * (1 + 1e-12)
        assert row.exact <= row.k_anonymous or not row.optimal
    assert found == compared(
        table, Personal(0, measure="depth", effort=50), [10, 5, 2, 2], tables=4, chance=Seeded(1)
    )


def test_arbitrary_tables_are_k_anonymous_and_could_not_be_finer() -> None:
    table = some_people(4, 60)
    lattice = Lattice(
        People.of(Personal(0), table).rows.over(("town", "age")),
        {n: table.hierarchy(n) for n in TREES},
    )
    chance, drawn = Seeded(1), set()
    for k in (2, 5, 10, 30):
        for _ in range(20):
            node = minimal_node(lattice, k, {}, chance)
            drawn.add((k, node))
            assert lattice.groups(node).sizes.min() >= k
            assert all(lattice.groups(finer).sizes.min() < k for finer in lattice.finer(node))
    assert len(drawn) > 4  # they are drawn, not always the same


def test_the_risk_of_a_k_anonymous_table_is_counted_by_the_same_models() -> None:
    table, method = some_people(4, 60), Personal(0, measure="depth", model="uniform", effort=50)
    (best,) = (
        row for row in compared(table, method, [5], tables=1, chance=Seeded(1)).rows if row.optimal
    )
    release = shoal.Optimal((shoal.KAnonymity(5),)).release(table)
    groups = release.table.group_by("town", "age").len()["len"]
    assert best.k_anonymous == pytest.approx(len(groups) / table.rows)


def test_there_is_no_k_above_the_number_of_records() -> None:
    with pytest.raises(
        ParameterError, match="no table of 9 records is 10-anonymous; ask for smaller `ks`"
    ):
        compared(some_people(1, 9), Personal(0), [2, 10])
    with pytest.raises(ParameterError, match="`ks` lists no size of groups; give at least one"):
        compared(some_people(1, 9), Personal(0), [])
