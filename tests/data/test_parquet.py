"""The memory of a Parquet file is known before it is read, whatever its summary says."""

import io
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.data.free_memory import CELL
from shoal.data.parquet import unpacked_size


def written(table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_repeated_values_count_each(compression: str, version: str) -> None:
    table = pa.table({"a": ["x" * 100] * 50_000, "b": [1] * 50_000})
    content = written(table, compression=compression, data_page_version=version)
    size = unpacked_size(content)
    assert size is not None
    assert len(content) < 10_000
    assert size >= 2 * 50_000 * CELL


def test_texts_that_are_not_repeated_count_by_their_length() -> None:
    texts = [f"{number:0100}" for number in range(5_000)]
    size = unpacked_size(written(pa.table({"a": texts}), use_dictionary=False))
    assert size is not None
    assert size >= 5_000 * (100 + CELL)


def test_files_of_polars_are_understood() -> None:
    file = io.BytesIO()
    pl.DataFrame({"a": range(1000), "b": [[1, 2]] * 1000}).write_parquet(file)
    size = unpacked_size(file.getvalue())
    assert size is not None
    assert size >= 3 * 1000 * CELL


def test_a_table_without_rows_needs_next_to_nothing() -> None:
    size = unpacked_size(written(pa.table({"a": pa.array([], pa.int64())})))
    assert size is not None
    assert size < 1000


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 20, b"\xff" * 100])
def test_damaged_files_have_no_size(content: bytes) -> None:
    assert unpacked_size(content) is None


def test_a_file_that_was_cut_off_has_no_size() -> None:
    whole = written(pa.table({"a": [1, 2, 3]}))
    assert unpacked_size(whole) is not None
    assert unpacked_size(whole[:-20]) is None
    assert unpacked_size(whole[:100] + whole[-8:]) is None
