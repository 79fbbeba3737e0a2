"""Rows of a released table as arrays: whole numbers, and codes of equal rows."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import FileError
from shoal.releases.verification.rows import integers, ranks, row_codes


def test_whole_numbers_are_read_row_by_row() -> None:
    table = shoal.table(pl.DataFrame({"n": [30, 7, 30, -1]}), types={"n": "integer"})
    assert integers(table, "n").tolist() == [30, 7, 30, -1]


def test_a_table_without_rows_has_no_numbers() -> None:
    frame = pl.DataFrame({"n": []}, schema={"n": pl.Int64})
    found = integers(shoal.table(frame), "n")
    assert found.tolist() == []
    assert found.dtype == np.int64


@pytest.mark.parametrize("values", [["1", "x"], [1.5, 2.0], [1, None]])
def test_what_is_not_a_whole_number_is_an_error_without_its_value(values: list[object]) -> None:
    with pytest.raises(FileError, match=r"'n' has a value that is not a whole number$"):
        integers(shoal.table(pl.DataFrame({"n": values})), "n")


cells = st.sampled_from([None, "a", "b", "c"])


@given(st.lists(st.tuples(cells, cells, st.integers(0, 2)), max_size=20))
def test_rows_have_one_code_if_and_only_if_they_are_equal(
    rows: list[tuple[str | None, str | None, int]],
) -> None:
    schema = {"a": pl.String, "b": pl.String, "start": pl.Int64}
    table = shoal.table(pl.DataFrame(rows, schema=schema, orient="row"))
    start = np.array([row[2] for row in rows], dtype=np.int64)
    for names, first, key in (
        (["a", "b"], None, lambda row: row[:2]),
        (["b"], start, lambda row: row[1:]),
        ([], start, lambda row: row[2]),
    ):
        codes = row_codes(table, names, first).tolist()
        assert len(codes) == len(rows)
        pairs = set(zip(codes, map(key, rows), strict=True))
        assert len(pairs) == len(set(codes)) == len(set(map(key, rows)))


@given(st.lists(st.integers(0, 30), max_size=20), st.sampled_from([1, 10**12]))
def test_numbers_are_ranked_by_their_order_however_large_they_are(
    numbers: list[int], times: int
) -> None:
    places = sorted(set(numbers))
    found = ranks(np.array(numbers, dtype=np.int64) * times)
    assert found.tolist() == [places.index(number) for number in numbers]
