"""Someone who knows the search for the best table learns from the tables it did not release."""

from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attack import Effort, expose, inputs
from shoal.methods.optimal import Optimal
from shoal.privacy.models import EntropyDiversity
from tests.attack.people import THIRD

PATIENTS = pl.DataFrame(
    {"age": ["old", "old", "middle", "middle", "young", "young"], "sex": list("MMMFFF")}
)


CONDITIONS = ["heart disease", "viral infection", "cancer", "cancer", "flu", "ulcer"]


PLAIN = {
    "age": shoal.hierarchy.suppress(["old", "middle", "young"]),
    "sex": shoal.hierarchy.suppress(["M", "F"]),
}


@pytest.mark.parametrize("how", [None, "enumeration"])
def test_the_patients_of_table_4_1_are_betrayed_by_the_table_that_was_not_released(
    how: Any,
) -> None:
    people = shoal.table(PATIENTS, quasi=["age", "sex"], hierarchies=PLAIN)
    frame = PATIENTS.with_columns(condition=pl.Series(CONDITIONS))
    private = shoal.table(frame, quasi=["age", "sex"], sensitive=["condition"], hierarchies=PLAIN)
    method = Optimal((EntropyDiversity("condition", 2),))
    release = method.release(private)
    assert release.certificate.levels == {"age": 1, "sex": 0}  # table (c)
    possible = inputs(method, people, release.table, "condition")
    assert len(possible) == 4
    assert all(given[2:4] == ("cancer", "cancer") for given in possible)
    found = expose(method, people, release.table, "condition", effort=Effort(how))
    assert found.left == Fraction(4, 36)
    assert [found.of(row).inherent.get("cancer", 0) for row in range(6)] == [0, 0, 1, 1, 0, 0]
    assert [found.of(row).apparent["cancer"] for row in range(6)] == [THIRD] * 6
    assert (found.certain, found.surer, found.broken) == (2, 6, 2)
    assert found.gain == Fraction(2, 3)
    assert found.of(2).broken == ("entropy 2-diversity of condition",)
