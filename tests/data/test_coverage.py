"""Which values of a table its hierarchies lack."""

import polars as pl

import shoal
from shoal.data.coverage import Uncovered, uncovered_values
from shoal.data.hierarchy import intervals, suppress


def test_uncovered_values_are_listed_once_and_their_rows_counted() -> None:
    people = pl.DataFrame({"country": ["FR", "XX", "XX", "YY", None]})
    table = shoal.table(people, hierarchies={"country": suppress(["FR", "DE"])})
    assert uncovered_values(table, "country") == Uncovered(("XX", "YY"), 3)


def test_values_are_compared_by_the_type_of_the_column() -> None:
    people = pl.DataFrame({"age": ["7", "07", "120"]})
    ages = intervals(0, 99, widths=[10])
    table = shoal.table(people, hierarchies={"age": ages}, types={"age": "integer"})
    assert uncovered_values(table, "age") == Uncovered(("120",), 1)


def test_a_hierarchy_that_covers_its_column_lacks_nothing() -> None:
    table = shoal.table(pl.DataFrame({"sex": ["f"]}), hierarchies={"sex": suppress(["f", "m"])})
    assert uncovered_values(table, "sex") == Uncovered((), 0)
