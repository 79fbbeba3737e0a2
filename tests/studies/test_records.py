"""Records at any floor: the floor that halves their risk is that of brute force."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from shoal.methods.personal import People
from shoal.methods.personal.exact import lowest
from shoal.studies import records
from shoal.studies.tradeoffs import FLOORS, tradeoff
from tests.methods.test_personal import some_method, some_people
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
