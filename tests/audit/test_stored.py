"""The data of an audit in its store: exact, and readable if an earlier version wrote it."""

import json
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.dither import FINE
from shoal.audit.model import members
from shoal.audit.stored import StoredValues, public_column, row_numbers

NUMBERS = st.one_of(st.fractions(max_denominator=1000), st.integers(2**60, 2**70).map(Fraction))


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.integers(1, 255))
def test_sums_and_extremes_of_stored_values_are_exact(values: list[Fraction], people: int) -> None:
    people = people % (1 << len(values)) or 1
    stored = StoredValues.read(StoredValues.of(values).text(np.arange(len(values))))
    chosen = [values[person] for person in members(people)]
    assert stored.aggregate("sum", people) == sum(chosen)
    assert stored.aggregate("max", people) == max(chosen)
    assert stored.aggregate("min", people) == min(chosen)


def test_numbers_of_rows_are_a_column() -> None:
    column = public_column(row_numbers(3))
    assert [column.keys[code] for code in column.codes] == [1, 2, 3]


def test_a_store_of_an_earlier_version_is_read() -> None:
    """Its numbers were texts, and a dithered column had its digits added."""
    values = StoredValues.read(json.dumps(["1/3", "2", "0.5"]))
    assert values.aggregate("sum", 0b111) == Fraction(17, 6)
    assert not values.dithered
    assert StoredValues.read(json.dumps([f"1/{FINE}"])).dithered
    old = json.dumps({"kind": "text", "labels": ["X", "Y"], "codes": [0, 1, 1]})
    assert list(public_column(old).codes) == [0, 1, 1]
