"""The records of entries: what is written as JSON is read as it was, and numbers stay exact."""

import json
from fractions import Fraction
from typing import Any

import pytest

from shoal.exact.epsilon import Epsilon
from shoal.ledger.entries import (
    Adopted,
    Allowance,
    BudgetSet,
    ColumnCheck,
    Completed,
    Cost,
    Created,
    Gamma,
    GammaSet,
    Refused,
    Remembered,
    Reserved,
    Together,
)

GAMMA = Gamma.of("1/2", {"flu": "1/3"})
COST = Cost(Epsilon.of("ln(2)"), Fraction(1, 3), "standard", "row")
CHECK = ColumnCheck("1/2", "144", "exact", None)
TOGETHER = Together(GAMMA, False, "a reason", (2, 4), ("SRAS",), {"ill": CHECK})
RECORDS = [
    Created(True),
    Created("/folder", Allowance.of("ln(8)", "1e-5")),
    Created(False, None, GAMMA),
    BudgetSet(Allowance.of("5/2", 0)),
    GammaSet(GAMMA),
    GammaSet(None),
    Reserved("safepub", COST, {"epsilon": "ln(2)"}, {"ill": "sensitive"}, "ab", True),
    Reserved("optimal", Cost(), {}, {}, "ab", False),
    Completed(2, "ab", {"number": "ab"}),
    Completed(2, "ab", {"number": "ab"}, "shown", ("cd",), TOGETHER, "the board", "../recipe.toml"),
    Refused(2, TOGETHER),
    Remembered(2, "shown"),
    Adopted(True, 3, COST),
    Adopted(False, 0, Cost.total([])),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.what)
def test_a_record_is_read_as_it_was_written(record: Any) -> None:
    assert type(record).from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_costs_add_up() -> None:
    half = Cost(Epsilon.of("0.5"), Fraction("1e-6"), "probabilistic", "row")
    assert Cost.total([half, half]) == Cost(Epsilon.of(1), Fraction("2e-6"), "probabilistic", "row")
    assert Cost.total([half, COST]).definition == "standard"
    assert Cost.total([]) == Cost(None, Fraction(0))


def test_a_cost_without_a_bound_makes_the_sum_certain_of_nothing() -> None:
    assert Cost.total([COST, Cost()]) == Cost(COST.epsilon, Fraction(1), "standard", "row")


def test_a_gamma_of_1_limits_nothing() -> None:
    assert not Gamma.of(1).limited
    assert Gamma.of(1, {"flu": "1/2"}).limited
    assert str(GAMMA) == "1/2, flu 1/3"
