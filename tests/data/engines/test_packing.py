"""Columns as digits of a key: what fits comes back as it was, and all else is known not to fit."""

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.data.engines import packing, streaming
from shoal.data.engines.packing import Packing
from shoal.data.engines.streaming import Streamed

TEXTS = pl.Categorical(pl.Categories.random())
VALUES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "texts": (pl.String, st.sampled_from(["", "a", "b", "ä", " ", "a longer text"])),
    "small": (pl.Int8, st.integers(-128, 127)),
    "few": (pl.Int64, st.integers(-2, 2)),
    "huge": (pl.Int64, st.sampled_from([-(2**63), -1, 0, 1, 2**53 + 1, 2**63 - 1])),
    "unsigned": (pl.UInt64, st.sampled_from([0, 1, 2**64 - 1])),
    "days": (pl.Date, st.sampled_from([dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date.max])),
    "truth": (pl.Boolean, st.booleans()),
    "chosen": (pl.Enum(["x", "y", "z"]), st.sampled_from(["x", "y", "z"])),
    "floats": (pl.Float64, st.sampled_from([0.0, 1.5, float("nan")])),
}


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Rows of some columns, with missing values."""
    names = draw(st.lists(st.sampled_from([*VALUES]), min_size=2, max_size=5, unique=True))
    rows = draw(st.integers(0, 12))
    columns = []
    for name in names:
        dtype, values = VALUES[name]
        drawn = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns.append(pl.Series(name, drawn, dtype))
    return pl.DataFrame(columns)


def counted(parts: list[pl.DataFrame], table: pl.DataFrame) -> list[str]:
    """The distinct rows and their numbers, as texts and in their order."""
    types = [column.dtype for column in table]
    rows: list[Any] = []
    for part in parts:
        *columns, count = part.get_columns()
        own = [column.cast(dtype) for column, dtype in zip(columns, types, strict=True)]
        rows += pl.DataFrame([*own, count]).rows()
    return sorted(map(str, rows))


def expected(table: pl.DataFrame) -> list[str]:
    return sorted(map(str, table.group_by(pl.all()).agg(pl.len()).rows()))


# The fixture is the same for all examples.
SEVERAL = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@SEVERAL
@given(tables(), st.integers(0, 3))
def test_what_has_a_key_comes_back_and_nothing_else_has_one(
    table: pl.DataFrame, looked_at: int
) -> None:
    rows = table.cast({pl.String: TEXTS})
    guessed = Packing.guessed(rows.head(looked_at))
    if not guessed.keys:
        return
    packed = guessed.packed(rows.lazy()).collect()
    has_key = packed.to_series(0).is_not_null()
    assert has_key.to_list() == rows.select(guessed.fits()).to_series().to_list()
    assert has_key.head(looked_at).all()
    fitting = rows.filter(has_key)
    assert guessed.read(packed.filter(has_key)).equals(fitting)
    # Different rows have different keys.
    assert packed.filter(has_key).n_unique() == fitting.n_unique()


@pytest.mark.parametrize(("looked_at", "bits"), [(1 << 16, 64), (1, 64), (1, 12), (3, 6)])
@SEVERAL
@given(table=tables())
def test_packed_rows_are_tallied_as_they_are(
    table: pl.DataFrame, looked_at: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "GUESSED_FROM", looked_at)
    monkeypatch.setattr(packing, "_KEY", bits)
    parts = list(Streamed(table.lazy()).tally(table.columns))
    assert counted(parts, table) == expected(table)


def test_a_wrong_guess_costs_a_second_query_and_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    grouped = streaming._grouped

    def noted(rows: pl.LazyFrame) -> Any:
        asked.append(rows.collect_schema().names())
        return grouped(rows)

    monkeypatch.setattr(streaming, "_grouped", noted)
    monkeypatch.setattr(streaming, "GUESSED_FROM", 10)
    ascending = pl.DataFrame({"number": range(100), "text": ["a", "b"] * 50})
    with_large = pl.concat([ascending, pl.DataFrame({"number": [2**62], "text": [None]})])
    for table, queries in ((with_large, 2), (ascending, 1)):
        asked.clear()
        parts = list(Streamed(table.lazy()).tally(table.columns))
        assert asked == [["key 0"], ["0", "1"]][:queries]
        assert counted(parts, table) == expected(table)


def test_eight_columns_of_a_register_fit_one_key() -> None:
    sizes = (100, 26, 10, 4, 38, 4, 2, 112)
    columns = []
    for j, size in enumerate(sizes):
        texts = pl.Series(str(j), [f"{i % size}" for i in range(500)])
        columns.append(texts.cast(pl.Categorical(pl.Categories.random())))
    [key] = Packing.guessed(pl.DataFrame(columns)).keys
    assert len(key) == len(sizes)
    assert sum(digit.bits for digit in key) <= 64
