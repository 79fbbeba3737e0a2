"""Rows that Polars reads in streams: in order by ranges, and in their own order."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from shoal.data.engines import streaming
from shoal.data.engines.streaming import Streamed

PEOPLE: dict[str, list[Any]] = {
    "texts": ["b", None, "a", "é", "b", "", "z", "Z", "b", None],
    "numbers": [3, None, -1, 2**62, 3, 0, 7, -(2**62), 3, None],
    "all alike": [5] * 10,
    "all missing": [None] * 10,
    "no rows": [],
}


def in_order(values: Sequence[Any], at_once: int) -> list[pl.DataFrame]:
    """The rows by a column with a name that Polars would read as a pattern."""
    person = pl.Series("^p.*$", values, pl.String if "b" in values else pl.Int64)
    row = pl.Series("row", range(len(values)), pl.Int64)
    lazy = pl.DataFrame([row, person]).lazy()
    return list(Streamed(lazy).in_order(["^p.*$", "row"], at_once))


@pytest.mark.parametrize("at_once", [1, 3, 100])
@pytest.mark.parametrize("values", PEOPLE.values(), ids=PEOPLE)
def test_every_row_comes_once_and_in_order(values: Sequence[Any], at_once: int) -> None:
    parts = in_order(values, at_once)
    people = [value for part in parts for value in part.to_series(0)]
    known = [value for value in people if value is not None]
    assert known == sorted(value for value in values if value is not None)
    rows = [row for part in parts for row in part.to_series(1)]
    assert sorted(rows) == [*range(len(values))]
    assert people == [values[row] for row in rows]


def test_parts_are_about_as_large_as_asked_for() -> None:
    parts = in_order([*range(1000)], 100)
    assert len(parts) == 10
    assert max(part.height for part in parts) < 200
    # Those of one person stay together.
    assert [part.height for part in in_order(PEOPLE["all alike"], 1) if part.height] == [10]


def test_ranges_come_from_some_values_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "_SAMPLED", 20)
    parts = in_order([*range(500)], 100)
    assert len(parts) > 2
    assert [person for part in parts for person in part.to_series(0)] == [*range(500)]


def test_all_rows_keep_their_own_order() -> None:
    lazy = pl.LazyFrame({"a": [3, 1, 2], "^b$": ["x", "z", "y"]})
    assert Streamed(lazy).all_rows(["^b$", "a"]).rows() == [("x", 3), ("z", 1), ("y", 2)]
