"""Queries for all databases, and Arrow answers as dataframes."""

import datetime as dt
import sqlite3

import polars as pl
import pyarrow as pa
import pytest

from shoal.data.engines.sql import arrow_parts, arrow_types, grouped, ordered, quoted, rows_of
from shoal.errors import ColumnError

ODD = 'a "b", c; --'
"""A name that would end a statement, were it not quoted."""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS x",
        "select*from people",
        "  (SELECT 1 AS x)",
        "-- all of them\nWITH one AS (SELECT 1 AS x) SELECT * FROM one",
        "/* all\nof them */ VALUES (1)",
        "TABLE people;",
        "SELECT 1 AS x -- one",
    ],
)
def test_a_query_is_put_in_parentheses(query: str) -> None:
    rows = rows_of(query)
    assert rows.startswith("(")
    assert rows.endswith("\n) AS shoal_rows")


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("visits", '"visits"'),
        ("clinic.visits ;", '"clinic"."visits"'),
        ("selected", '"selected"'),
        ("from_clinic", '"from_clinic"'),
        ('"a.b"."c"', '"a.b"."c"'),
    ],
)
def test_a_name_is_a_table(name: str, rows: str) -> None:
    assert rows_of(name) == rows


def test_rows_are_grouped_and_ordered_whatever_columns_are_called() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({quoted(ODD)}, n)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [("b", 1), ("a", 2), ("b", 1)])
    columns = [quoted(ODD), "n"]
    counted = connection.execute(grouped(columns, "t"))
    assert [column[0] for column in counted.description] == ["0", "1", "amount"]
    assert sorted(counted) == [("a", 2, 1), ("b", 1, 2)]
    assert list(connection.execute(ordered(columns, "t", quoted(ODD)))) == [
        ("a", 2),
        ("b", 1),
        ("b", 1),
    ]
    connection.close()


def test_types_that_polars_lacks_are_bytes() -> None:
    schema = pa.schema([("age", pa.int16()), ("since", pa.month_day_nano_interval())])
    assert arrow_types(schema) == {"age": pl.Int16(), "since": pl.Binary()}


def test_batches_come_as_parts_without_empty_ones() -> None:
    batch = pa.record_batch({"0": ["a", "b"]})
    parts = list(arrow_parts([batch.slice(0, 0), batch], ["town"]))
    assert [part.rows() for part in parts] == [[("a",), ("b",)]]


@pytest.mark.parametrize("unit", ["s", "us"])
def test_moments_that_python_lacks_are_refused_by_the_name_of_their_column(unit: str) -> None:
    days = 10**7  # after the year 29,000
    beyond = pa.array([days * 86_400 * {"s": 1, "us": 10**6}[unit]], pa.timestamp(unit))
    with pytest.raises(ColumnError, match="column 'born' has dates") as caught:
        list(arrow_parts([pa.record_batch({"0": beyond})], ["born"]))
    assert "29" not in str(caught.value)
    near = pa.array([dt.datetime(9999, 12, 31)], pa.timestamp(unit))
    assert len(list(arrow_parts([pa.record_batch({"0": near})], ["born"]))) == 1
