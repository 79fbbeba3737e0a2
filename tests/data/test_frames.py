"""Dataframe libraries: each codes the same data alike, and leaves no trace of what is not kept."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.data import frames
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, TooLargeError

MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "polars": lambda values: pl.DataFrame({"v": values}),
    "pandas": lambda values: pd.DataFrame({"v": values}),
    "arrow": lambda values: pa.table({"v": values}),
}
COLUMNS: dict[str, tuple[list[Any], Kind]] = {
    "integers": ([3, 1, 3, 2], Kind.INTEGER),
    "far apart": ([-(1 << 62), 1 << 62, 0], Kind.INTEGER),
    "floats": ([0.5, 2.5, 0.5], Kind.FLOAT),
    "texts": (["b", "a", "b", None], Kind.TEXT),
    "truths": ([True, False, True], Kind.TEXT),
    "nothing": ([], Kind.TEXT),
}


def column(maker: str, values: list[Any]) -> tuple[frames.Library, "nw.Series[Any]"]:
    frame = nw.from_native(MAKERS[maker](values), eager_only=True)
    library = frames.library(frame)
    assert library is not None
    return library, frame["v"]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", COLUMNS)
def test_codes_stand_for_the_values_of_the_rows(maker: str, name: str) -> None:
    values, _ = COLUMNS[name]
    library, series = column(maker, values)
    codes, distinct = library.factorize(series.to_native())
    assert [distinct[code] for code in codes.tolist()] == values
    assert len(set(distinct)) == len(distinct) == len(set(values))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", ["integers", "far apart", "floats", "texts", "truths"])
def test_the_type_of_a_series_says_its_kind(maker: str, name: str) -> None:
    values, kind = COLUMNS[name]
    library, series = column(maker, values)
    assert frames.kind_of(library, series) is kind
    assert frames.comparable(series)


def test_days_are_dates_in_every_library() -> None:
    days = [dt.date(2024, 1, 2), dt.date(2024, 1, 1)]
    for maker in MAKERS:
        library, series = column(maker, days)
        assert frames.kind_of(library, series) is Kind.DATE


def test_types_that_pandas_infers_are_guessed() -> None:
    for values, expected in (([1, 2], False), ([1.0, None], True), ([dt.date(2024, 1, 1)], True)):
        library, series = column("pandas", values)
        assert frames.guessed(library, series) is expected
    library, series = column("polars", [1, None])
    assert not frames.guessed(library, series)


def test_lists_and_durations_cannot_be_compared() -> None:
    for values in ([[1], [2]], [dt.timedelta(1)]):
        assert not frames.comparable(column("polars", values)[1])


@pytest.mark.parametrize("maker", MAKERS)
def test_a_series_keeps_its_type_and_only_the_values_that_occur(maker: str) -> None:
    library, series = column(maker, [10, 20, 30])
    occurs = np.array([True, False, True])
    kept = frames.series_of(library, [10, 20, 30], Kind.INTEGER, series, occurs)
    assert nw.from_native(kept, series_only=True).to_list() == [10, 30]
    assert nw.from_native(kept, series_only=True).dtype == series.dtype
    ranges = frames.series_of(library, ["10-19", "20-29", ""], Kind.INTEGER, series, occurs)
    assert nw.from_native(ranges, series_only=True).drop_nulls().to_list() == ["10-19"]
    assert len(ranges) == 2


def test_categories_that_do_not_occur_leave_no_trace() -> None:
    names = ["private", "f", "m"]
    occurs = np.array([False, True, True])
    enum = nw.from_native(pl.Series(names, dtype=pl.Enum(names)), series_only=True)
    kept = frames.series_of(frames._Polars(), names, Kind.TEXT, enum, occurs)
    assert kept.dtype == pl.Enum(["f", "m"])
    category = nw.from_native(pd.Series(names, dtype="category"), series_only=True)
    seen = frames.series_of(frames._Pandas(), names, Kind.TEXT, category, occurs)
    assert list(seen.cat.categories) == ["f", "m"]


def test_polars_answers_in_this_process() -> None:
    frames.require_threads()


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", COLUMNS)
def test_counted_rows_are_repeated_in_their_order_and_type(maker: str, name: str) -> None:
    values, _ = COLUMNS[name]
    _, series = column(maker, values)
    count = np.arange(len(values))
    counted = frames.RowsWithCounts(MAKERS[maker](values), count)
    repeated = nw.from_native(counted.repeated(), eager_only=True)
    assert repeated.shape == counted.shape
    assert repeated["v"].dtype == series.dtype
    expected = [values[i] for i in np.repeat(count, count)]
    # pandas has NaN in place of None.
    known = [value for value in expected if value is not None]
    assert repeated["v"].drop_nulls().to_list() == known
    assert repeated["v"].is_null().to_list() == [value is None for value in expected]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_parts_of_counted_rows_are_the_same_rows(maker: str, size: int) -> None:
    values = ["a", "b", "c", "d"]
    for count in ([0, 7, 1, 4], [1, 0, 0, 0], [0, 0, 0, 0], [5, 5, 5, 5]):
        rows = frames.RowsWithCounts(MAKERS[maker](values), np.array(count))
        parts = list(rows.parts(size))
        assert all(part.shape[0] == size for part in parts[:-1])
        shown = [nw.from_native(part.repeated(), eager_only=True)["v"] for part in parts]
        assert [text for part in shown for text in part.to_list()] == list(np.repeat(values, count))


def test_rows_that_do_not_fit_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = frames.RowsWithCounts(pl.DataFrame({"a": ["x"]}), np.array([10**12]))
    assert rows.shape == (10**12, 1)
    with pytest.raises(TooLargeError, match="a table of 1,000,000,000,000 single rows"):
        rows.repeated()


@pytest.mark.parametrize("maker", MAKERS)
def test_counted_rows_are_a_table(maker: str) -> None:
    rows = frames.RowsWithCounts(MAKERS[maker](["b", "a", "b"]), np.array([2, 5, 1]))
    people = shoal.table(rows, quasi=["v"])
    assert people.rows == 8
    assert people.count(["v"], {}).count.tolist() == [5, 3]
    [column], count = people.runs(["v"])
    assert (column.codes.tolist(), count.tolist()) == ([1, 0, 1], [2, 5, 1])
    with pytest.raises(ColumnError, match="no column 'w'; the table has 'v'"):
        people.require("w")
    with pytest.raises(ColumnError, match="needs single records"):
        people.records(["v"])
