"""The same values from whichever format: special ones come back, or are refused in words."""

import datetime as dt
import hashlib
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.files import serialise
from shoal.data.foreign import is_foreign, require_writable, write_foreign
from shoal.data.formats import WRITTEN, Format
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, FileError

COLUMNS: dict[str, tuple[Kind, list[Any]]] = {
    "texts": (Kind.TEXT, ["a", "A", " a", "ä", "a\u0308", "ß", "", None, "a"]),
    "blanks": (Kind.TEXT, ["a ", "a", "x"]),
    "words": (Kind.TEXT, ["NULL", "nan", "NA", "true", "1", "1.0", "01", "1e5", "=1+1"]),
    "marks": (Kind.TEXT, ['"', "'", "a,b", "a;b", "x\ny", "\\N", "%", "😀", "<b>", "_x0041_"]),
    "returns": (Kind.TEXT, ["a\r\nb", "x", "y"]),
    "whole": (Kind.INTEGER, [0, -1, 2**53, -(2**53), None, 2**31, 127]),
    "large": (Kind.INTEGER, [2**53 + 1, 2**63 - 1, -(2**63) + 1, None, 0]),
    "numbers": (Kind.FLOAT, [0.0, -0.0, 0.1, 1 / 3, 1e22, None, -2.5]),
    "extremes": (Kind.FLOAT, [1e300, 5e-324, 1.0]),
    "not numbers": (Kind.FLOAT, [float("nan"), None, 1.5]),
    "infinite": (Kind.TEXT, [float("inf"), 1.5]),
    "days": (Kind.DATE, [dt.date(1582, 10, 15), dt.date(2020, 2, 29), None, dt.date(9999, 12, 31)]),
    "late days": (Kind.DATE, [dt.date(1900, 3, 1), dt.date(2020, 2, 29), None]),
    "moments": (Kind.TEXT, [dt.datetime(2020, 1, 1, 12, 30, 1), None, dt.datetime(1999, 1, 1)]),
    "times": (Kind.TEXT, [dt.time(1, 2, 3), dt.time(0), None, dt.time(23, 59, 59, 500_000)]),
    "truth": (Kind.TEXT, [True, False, None, True]),
    "decimals": (Kind.FLOAT, [Decimal("1.50"), Decimal("-0.01"), None]),
    "nothing": (Kind.TEXT, [None, None]),
    "groups": (Kind.TEXT, ["x", "y", None]),
}
TYPES: dict[str, Any] = {
    "nothing": pl.String,
    "decimals": pl.Decimal(10, 2),
    "groups": pl.Categorical,
}

REFUSED: dict[str, set[str]] = {
    "csv": set(),
    "csv.gz": set(),
    "csv.zst": set(),
    "parquet": set(),
    "arrow": set(),
    "jsonl": {"infinite"},
    "xlsx": {"infinite"},
    "sav": {"infinite", "blanks"},
    "dta": {"infinite"},
    "xpt": {"infinite", "blanks", "extremes"},
}
"""What a format does not hold: it is refused, and never changed silently."""


def column(name: str) -> pl.DataFrame:
    """A column, and one that numbers its rows: a row without any value would be none in Excel."""
    _, values = COLUMNS[name]
    return pl.DataFrame(
        [pl.Series("v", values, TYPES.get(name)), pl.Series("row", range(len(values)))]
    )


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("form", WRITTEN)
def test_special_values_come_back(form: Format, name: str, tmp_path: Path) -> None:
    frame, path = column(name), tmp_path / f"t.{form}"
    if name in REFUSED[form]:
        with pytest.raises(ColumnError, match="write CSV"):
            shoal.write(frame, path)
        assert not path.exists()
        return
    shoal.write(frame, path)
    types = {"v": COLUMNS[name][0], "row": Kind.INTEGER}
    before = shoal.table(frame, types=types)
    after = shoal.read(path, types=types)
    assert after.keys("v") == before.keys("v")
    counts, again = before.count(["v", "row"], {}), after.count(["v", "row"], {})
    assert [list(codes) for codes in again.codes] == [list(codes) for codes in counts.codes]


def written(frame: Any, form: Format) -> bytes:
    file = io.BytesIO()
    serialise(frame, file, form)
    return file.getvalue()


@pytest.mark.parametrize("form", WRITTEN)
def test_bytes_depend_on_the_rows_alone(form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"age": ["20-29", "30-39"], "n": [1, 2], "d": [dt.date(2020, 1, 1)] * 2})
    first = hashlib.sha256(written(frame, form)).hexdigest()
    monkeypatch.setenv("USER", "somebody")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    assert hashlib.sha256(written(frame, form)).hexdigest() == first


@pytest.mark.parametrize("form", [form for form in WRITTEN if is_foreign(form)])
def test_repeated_rows_are_written_as_often(form: Format) -> None:
    frame = pl.DataFrame({"age": ["20-29", "30-39"]})
    repeated = RowsWithCounts(frame, np.array([2, 1]))
    assert written(repeated, form) == written(frame[[0, 0, 1]], form)


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_names_that_do_not_fit_are_refused_before_anything_is_made(form: str) -> None:
    require_writable(form, ["age", "sex"])
    for names in (["two words"], ["x" * 99]):
        with pytest.raises(ColumnError, match="rename the column"):
            require_writable(form, names)


def test_values_that_no_file_holds_are_refused() -> None:
    for values in ([[1]], [b"x"], [dt.timedelta(1)]):
        with pytest.raises(ColumnError, match="convert it to text"):
            write_foreign(pl.DataFrame({"a": values}), io.BytesIO(), "xlsx")


@pytest.mark.parametrize("form", WRITTEN)
def test_empty_tables_come_back(form: Format, tmp_path: Path) -> None:
    path, empty = tmp_path / f"t.{form}", pl.DataFrame({"a": pl.Series([], dtype=pl.String)})
    if form == "jsonl":
        with pytest.raises(FileError, match="no names without rows"):
            shoal.write(empty, path)
        return
    shoal.write(empty, path)
    assert shoal.read(path).names == ("a",)
    assert shoal.read(path).rows == 0
