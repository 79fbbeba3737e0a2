"""The minimality attack finds more than the table shows where the choice depends on sensitive
values, and nothing elsewhere.
"""

from fractions import Fraction

import polars as pl
import pytest

import shoal
from shoal.attack import beliefs, inputs
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import ColumnError, TooLargeError
from shoal.methods.method import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import DistinctDiversity, KAnonymity

TOWNS = Hierarchy.from_lines([["Aby", "*"], ["Boda", "*"]])
KNOWN = pl.DataFrame({"town": ["Aby", "Aby", "Boda", "Boda", "Boda"]})
DIVERSE: list[Method] = [
    Mondrian((DistinctDiversity("ill", 2),)),
    Optimal((DistinctDiversity("ill", 2),), suppression=0),
]


def people(ill: list[str] | None = None) -> Table:
    frame = KNOWN if ill is None else KNOWN.with_columns(ill=pl.Series(ill))
    return shoal.table(
        frame, quasi=["town"], sensitive=["ill"] if ill else [], hierarchies={"town": TOWNS}
    )


@pytest.mark.parametrize("method", DIVERSE, ids=lambda method: method.name)
def test_the_attacker_learns_more_than_the_table_shows(method: Method) -> None:
    ill = ["HIV", "HIV", "flu", "gout", "cold"]
    possible = inputs(method, people(), method.release(people(ill)).table, "ill")
    assert tuple(ill) in possible
    assert [belief.get("HIV", Fraction(0)) for belief in beliefs(possible)] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("method", DIVERSE, ids=lambda method: method.name)
def test_where_the_towns_are_released_the_attacker_has_no_more_than_the_groups(
    method: Method,
) -> None:
    possible = inputs(
        method, people(), method.release(people(["HIV", "flu", "HIV", "gout", "cold"])).table, "ill"
    )
    assert [belief["HIV"] for belief in beliefs(possible)] == [Fraction(1, 2)] * 2 + [
        Fraction(1, 3)
    ] * 3


def test_a_choice_that_ignores_the_sensitive_column_reveals_nothing_about_it() -> None:
    method = Mondrian((KAnonymity(3),))
    possible = inputs(
        method, people(), method.release(people(["HIV", "HIV", "flu", "gout", "cold"])).table, "ill"
    )
    assert len(possible) == 60
    assert [belief["HIV"] for belief in beliefs(possible)] == [Fraction(2, 5)] * 5


def test_attacks_that_cannot_work_are_refused() -> None:
    method = DIVERSE[0]
    released = method.release(people(["HIV", "HIV", "flu", "gout", "cold"])).table
    with pytest.raises(ColumnError, match="'town'"):
        inputs(method, people(), released, "town")
    with pytest.raises(ColumnError, match="5 people and 3"):
        inputs(method, people(), released[:3], "ill")
    many = shoal.table(
        pl.DataFrame({"town": ["Aby"] * 12}), quasi=["town"], hierarchies={"town": TOWNS}
    )
    with pytest.raises(TooLargeError, match="479,001,600"):
        inputs(method, many, pl.DataFrame({"town": ["*"] * 12, "ill": list("abcdefghijkl")}), "ill")
