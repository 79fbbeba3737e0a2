"""Formulas: what a spreadsheet would run is found, made harmless, and restored."""

import csv
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data import files, spreadsheets
from shoal.errors import ParameterError
from tests.data.columns import texts

RUN = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-9 to 0",
    "=cmd|' /C calc'!A0",
]


NOT_RUN = [
    "-5",
    "+5",
    "-1,234.5",
    "-1e-5",
    "-12%",
    "-.5",
    "a=1",
    "'=1+1",
    " x",
    "",
    "-",
    "'",
    "1-5",
]


def test_texts_that_a_spreadsheet_would_run_are_found_and_negative_numbers_are_not() -> None:
    for text in RUN:
        assert files.formulas(pl.DataFrame({"a": ["x", text]})) == ["a"], text
    for text in NOT_RUN:
        assert files.formulas(pl.DataFrame({"a": ["x", text]})) == [], text
    assert files.formulas(pl.DataFrame({"a": [-5], "b": [-0.5], "=c": [1]})) == ["=c"]
    assert files.formulas(pd.DataFrame({"^a$": pd.Series(["=1"], dtype="category")})) == ["^a$"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.text("'=+-@1e.,%x \t\r\n＝", max_size=5) | st.sampled_from([*RUN, *NOT_RUN]) | st.none(),
        max_size=8,
    )
)
def test_a_neutralised_file_has_no_formula_and_reads_back_unchanged(
    tmp_path: Path, texts_given: list[str | None]
) -> None:
    frame = pl.DataFrame(
        {"=a": texts_given, "n": [-1] * len(texts_given)}, schema={"=a": pl.String, "n": pl.Int64}
    )
    path = tmp_path / "t.csv"
    shoal.write(frame, path, neutralise=True)
    written = pl.read_csv(path, infer_schema=False)
    assert files.formulas(written) == []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            assert not re.match(r"[=+@\t\r\n＝].", row[0], re.DOTALL) or re.fullmatch(
                r"[+-][0-9.,]+([eE][+-]?[0-9]+)?%?", row[0]
            )
    read = shoal.read(path, separator=",", quote='"', neutralised=True)
    assert texts(read)["=a"] == [text or None for text in texts_given]
    different = {text or None for text in written["'=a"].to_list()}
    assert len(different) == len({text or None for text in texts_given})


def test_a_twin_that_ignores_apostrophes_confuses_two_texts() -> None:
    two = ["=1", "'=1"]
    naive = [f"'{text}" if text.startswith("=") else text for text in two]
    assert len(set(naive)) == 1
    ours = spreadsheets.neutralised(pl.DataFrame({"a": two}))["a"].to_list()
    assert ours == ["'=1", "''=1"]
    assert files.restored(pl.DataFrame({"a": ours}))["a"].to_list() == two


def test_only_csv_can_be_neutralised(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="`neutralise` is for 'csv'"):
        shoal.write(pl.DataFrame({"a": ["=1"]}), tmp_path / "t.parquet", neutralise=True)
    assert not list(tmp_path.iterdir())
