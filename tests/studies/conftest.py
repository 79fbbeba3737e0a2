"""Studies of one table that several tests look at."""

from fractions import Fraction

import pytest

from shoal.methods.personal import Personal
from shoal.studies.curves import Against, AnonymityComparison, Curve, Staircase
from shoal.studies.tradeoffs import tradeoff, tradeoff_of
from tests.methods.test_personal import some_people

Studies = list[Curve | Staircase | AnonymityComparison]


@pytest.fixture(scope="session")
def studies() -> Studies:
    table, method = some_people(4, 60), Personal("0.5", measure="leaves")
    rows = (
        Against(2, False, 10, Fraction(1, 2), 0.4, 0.2, 0.3),
        Against(2, True, 1, Fraction(2, 3), 0.5, 0.3, 0.3),
    )
    return [tradeoff(table, method), tradeoff_of(table, method, 0), AnonymityComparison(rows)]
