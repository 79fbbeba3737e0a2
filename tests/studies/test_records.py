"""Records at any floor: the floor that halves their risk is that of brute force."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

import pytest

from shoal.chance import Seeded
from shoal.methods.personal import People
from shoal.methods.personal.exact import lowest
from shoal.studies import records
from shoal.studies.tradeoffs import FLOORS, tradeoff
from tests.methods.test_personal import some_method, some_people
from tests.methods.test_personal_exact import brute_force
from tests.studies.test_tradeoffs import as_they_are, lowest_mean, ways


@pytest.mark.parametrize("floors", [FLOORS, (Fraction(1, 2),)])
@pytest.mark.parametrize("seed", range(25))
def test_the_floor_that_halves_the_risk_is_the_highest_of_all(
    seed: int, floors: Sequence[Fraction]
) -> None:
    table, method = some_people(seed), some_method(seed)
    people = People.of(method, table)
    every = ways(people)
    half = as_they_are(people, every) / 2
    within = [
        floor
        for floor in sorted(
            {Fraction(0), Fraction(1), *(utility for rows in every for utility, _ in rows)}
        )
        if lowest_mean(people, every, floor) <= half
    ]
    found = tradeoff(table, method, floors).half
    assert (found and found.floor) == (within[-1] if within else None)
    if found is not None:
        assert found.risk == pytest.approx(float(lowest_mean(people, every, found.floor)))


def is_caught() -> bool:
    for seed in range(40):
        try:
            test_the_floor_that_halves_the_risk_is_the_highest_of_all(seed, FLOORS)
        except AssertionError:
            return True
    return False


def test_a_twin_that_looks_at_the_floors_of_the_curve_only_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lower_end(self: Any, limit: float, below: Any, above: Any, progress: Any) -> Fraction:
        floor: Fraction = below.floor
        return floor

    monkeypatch.setattr(records.Records, "last_within", lower_end)
    assert is_caught()


def test_a_twin_that_solves_for_a_floor_too_high_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def higher(crowds: Any, utility: Any, wanted: Any) -> Any:
        return lowest(
            crowds,
            utility,
            [
                replace(want, floor=min(want.floor + utility.most // 10, utility.most))
                for want in wanted
            ],
        )

    monkeypatch.setattr(records, "lowest", higher)
    assert is_caught()


@pytest.mark.parametrize("seed", range(6))
def test_everybody_at_one_node_has_the_risk_and_utility_of_counting_one_by_one(seed: int) -> None:
    held = records.Records.of(some_people(seed), some_method(seed))
    people = held.people
    freely = replace(people, wanted=[replace(want, floor=0) for want in people.wanted])
    shown = [brute_force(freely, row) for row in range(people.rows.distinct)]
    often = people.rows.count.tolist()
    most = people.utility.most / people.utility.unit
    for node in shown[0]:
        choices = held.at(node)
        assert all((chosen.levels == node).all() for chosen in choices)
        risks = [float(ways_of[node][0]) for ways_of in shown]
        mean = sum(map(mul, often, risks)) / sum(often)
        assert held.mean([chosen.risk for chosen in choices]) == pytest.approx(mean)
        worth = sum(number * ways_of[node][1] for number, ways_of in zip(often, shown, strict=True))
        assert held.kept(choices) == (worth / most / sum(often) if most else 0)
        point = held.point(records.Solution(Fraction(1, 7), choices))
        assert point.floor == Fraction(1, 7)
        assert point.highest == pytest.approx(max(risks))
        assert (point.risk, point.utility) == pytest.approx((mean, float(held.kept(choices))))


@pytest.mark.parametrize("seed", range(6))
def test_at_a_floor_everybody_keeps_it_whatever_they_wished(seed: int) -> None:
    held = records.Records.of(some_people(seed), some_method(seed))
    people = held.people
    every = ways(people)
    for floor in (Fraction(0), Fraction(2, 5), Fraction(1)):
        solution = held.solve(floor, "exact", Seeded(1), lambda *_: None)
        assert solution.floor == floor
        expected = float(lowest_mean(people, every, floor))
        assert held.mean(solution.risks) == pytest.approx(expected)
        for chosen in solution.choices:
            assert all(worth >= floor * people.utility.most for worth in chosen.worth.tolist())


def test_every_record_is_counted_once_and_a_table_without_any_has_no_risk() -> None:
    table = some_people(5, 30)
    held = records.Records.of(table, some_method(5))
    assert sum(int(often.sum()) for often in held.counts) == 30
    assert [len(often) for often in held.counts] == [len(w.rows) for w in held.people.wanted]
    nobody = records.Records.of(some_people(5, 0), some_method(5))
    assert nobody.mean([often.astype(float) for often in nobody.counts]) == 0


def test_progress_says_at_which_floor() -> None:
    said: list[str] = []
    held = records.Records.of(some_people(4, 12), some_method(4))
    held.solve(Fraction(1, 4), "exact", Seeded(1), lambda done, total, what: said.append(what))
    assert said
    assert all(what.endswith(" at a floor of 25.0%") for what in said)
