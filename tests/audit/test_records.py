"""The entries of an audit's log: what is written as JSON is read as it was."""

import json
from fractions import Fraction

import pytest

from shoal.audit import Secret
from shoal.audit.dither import FINE
from shoal.audit.model import Decision
from shoal.audit.records import Asked, Begun, number_text


@pytest.mark.parametrize(
    "decision",
    [
        Decision(0b1011, True, "=", 7),
        Decision(1 << 5000, True, "=", Fraction(1, 3)),
        Decision(1, False, "<=", Fraction(7, 2)),
        Decision(1, False, None, None),
        Decision(1, True, "=", Fraction(10**9, FINE + 1)),
    ],
)
def test_a_decision_is_read_as_it_was_written(decision: Decision) -> None:
    asked = Asked("Ann", "max(salary)", "max", "salary", decision)
    assert Asked.from_dict(json.loads(json.dumps(asked.to_dict()))) == asked


def test_the_beginning_is_read_as_it_was_written() -> None:
    secrets = (Secret("salary", low=0, high="200.5"), Secret("age", dither=True, low=0, high=99))
    begun = Begun(40, ("name", "dept"), "name", secrets, "ab")
    assert Begun.from_dict(json.loads(json.dumps(begun.to_dict()))) == begun


def test_numbers_are_short_where_that_is_quick() -> None:
    assert number_text(Fraction(1, 4)) == "0.25"
    assert number_text(Fraction(1, FINE)) == f"1/{FINE}"
