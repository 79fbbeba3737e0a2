"""Floats that are whole numbers become such, and only those."""

import polars as pl
import pytest

from shoal.data.read_tables import plain, whole


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.0, None, -0.0], pl.Int64),
        ([1.0, 1.5], pl.Float64),
        ([1.0, float("inf")], pl.Float64),
        ([1e15], pl.Float64),
        ([None], pl.Int64),
    ],
)
def test_whole_numbers(values: list[float | None], dtype: pl.DataType) -> None:
    column = pl.Series("a", values, dtype=pl.Float64)
    assert whole(column).dtype == dtype
    assert whole(column).cast(pl.Float64).equals(column)


def test_large_numbers_and_nothing_are_texts() -> None:
    assert plain(pl.Series([2**70], dtype=pl.Int128)).to_list() == [str(2**70)]
    assert plain(pl.Series([None])).dtype == pl.String
