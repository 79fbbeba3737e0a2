"""Runs of equal rows: a table in parts is the same, however it is cut."""

import datetime as dt
import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import free_memory
from shoal.data.runs import rows_in_runs, run_starts
from shoal.errors import TooLargeError

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "text": (pl.String, [None, "", "a", "b" * 40]),
    "number": (pl.Int64, [None, 0, -1]),
    "float": (pl.Float64, [None, 0.0, -0.0, float("nan"), 1.5]),
    "short": (pl.Float32, [None, 0.0, -0.0]),
    "day": (pl.Date, [None, dt.date(2026, 1, 1)]),
    "^flag$": (pl.Boolean, [None, True, False]),
    "kind": (pl.Enum(["x", "y"]), [None, "x", "y"]),
}

TABLES = st.lists(
    st.tuples(*(st.sampled_from(values) for _, values in COLUMNS.values())), max_size=30
)


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {name: dtype for name, (dtype, _) in COLUMNS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def texts(frame: pl.DataFrame) -> list[str]:
    """Rows by which 0 and -0 differ, and what is not a number does not."""
    return [repr(row) for row in frame.rows()]


@given(TABLES, st.lists(st.integers(1, 3), max_size=30), st.lists(st.integers(0, 40), max_size=4))
def test_a_table_in_parts_is_its_runs_wherever_it_is_cut(
    rows: list[tuple[Any, ...]], often: list[int], cuts: list[int]
) -> None:
    repeated = [row for row, times in zip(rows, often, strict=False) for _ in range(times)]
    frame = frame_of(repeated)
    places = sorted({0, *(min(cut, len(repeated)) for cut in cuts), len(repeated)})
    parts = [frame[low:high] for low, high in itertools.pairwise(places)]
    runs = rows_in_runs([frame[:0], *parts])
    assert runs.frame.schema == frame.schema
    assert texts(runs.repeated()) == texts(frame)
    in_one = rows_in_runs([frame])
    assert texts(runs.frame) == texts(in_one.frame)
    assert runs.count.tolist() == in_one.count.tolist()
    written = texts(in_one.frame)
    assert all(one != other for one, other in itertools.pairwise(written))


def test_a_run_begins_at_the_first_row_and_at_every_change() -> None:
    assert run_starts(pl.DataFrame({"a": [None, None, 1, 1, 2]})).tolist() == [0, 2, 4]
    assert run_starts(pl.DataFrame({"a": [0.0, -0.0, -0.0]})).tolist() == [0, 1]
    assert run_starts(pl.DataFrame({"a": []})).tolist() == []


def test_parts_of_other_columns_are_not_of_the_table() -> None:
    one = pl.DataFrame({"a": ["x"]})
    for other in (pl.DataFrame({"b": ["x"]}), one.cast(pl.Categorical), one[:0].rename({"a": "b"})):
        with pytest.raises(ValueError, match="different columns"):
            rows_in_runs([one, other])


def test_different_rows_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = pl.DataFrame({"a": ["x"] * 10_000})
    different = pl.DataFrame({"a": np.arange(10_000)})
    monkeypatch.setattr(free_memory, "available", lambda: 10_000)
    assert rows_in_runs([alike, alike]).count.tolist() == [20_000]
    with pytest.raises(TooLargeError, match="different rows"):
        rows_in_runs([different])
