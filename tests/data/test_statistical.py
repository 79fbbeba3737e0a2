"""Files of SPSS, Stata and SAS mean what these programs show."""

import datetime as dt
import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import shoal
from shoal.data.statistical import write_statistical
from shoal.errors import ColumnError, FileError, ParameterError


@pytest.fixture(scope="module")
def spss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spss") / "t.sav"
    frame = pl.DataFrame(
        {
            "sex": [1.0, 2.0, 9.0, 3.0, None],
            "income": [1000.5, -1.0, -5.0, 99.0, 2.0],
            "town": ["Ulm", "?", "", None, "Köln"],
            "worked": [93_600.0, 60.0, 0.0, None, 1.0],
            "woke": [25_200.0, 0.0, 86_399.5, None, 1.0],
        }
    )
    pyreadstat.write_sav(
        frame,
        path,
        variable_value_labels={"sex": {1.0: "female", 2.0: "male", 9.0: "refused"}},
        missing_ranges={"sex": [9.0], "income": [{"lo": -9, "hi": -1}, 99.0], "town": ["?"]},
        variable_format={"worked": "TIME8", "woke": "TIME8"},
    )
    return path


def column(path: Path, name: str, **options: Any) -> list[Any]:
    return list(shoal.read(path, **options).frame.to_polars()[name])


def test_declared_missing_values_are_missing(spss: Path) -> None:
    assert column(spss, "sex") == [1, 2, None, 3, None]
    assert column(spss, "income") == [1000.5, None, None, None, 2.0]
    assert shoal.read(spss).labels("town") == ("Köln", "Ulm", "")
    with pytest.raises(ColumnError, match="missing"):
        shoal.read(spss, missing="refuse", quasi=["sex"]).count(["sex"])


def test_declared_missing_values_are_values_if_somebody_says_so(spss: Path) -> None:
    assert column(spss, "sex", user_missing="values") == [1, 2, 9, 3, None]
    assert column(spss, "income", user_missing="values") == [1000.5, -1, -5, 99, 2]
    assert "?" in shoal.read(spss, user_missing="values").labels("town")


def test_labels_or_codes(spss: Path) -> None:
    assert column(spss, "sex", labels="codes") == [1, 2, None, 3, None]
    assert column(spss, "sex", labels="texts") == ["female", "male", None, "3", None]
    both = column(spss, "sex", labels="texts", user_missing="values")
    assert both == ["female", "male", "refused", "3", None]


def test_times_are_of_the_day_and_durations_are_seconds(spss: Path) -> None:
    assert column(spss, "worked") == [93_600, 60, 0, None, 1]
    times = [dt.time(7), dt.time(0), dt.time(23, 59, 59, 500_000), None, dt.time(0, 0, 1)]
    assert column(spss, "woke") == times


def test_whole_numbers_are_integers_and_their_type_is_read_off_them(spss: Path) -> None:
    table = shoal.read(spss)
    assert table.kind("sex").value == "integer"
    assert table.kind("income").value == "float"
    assert table.guessed == {"sex", "income", "worked", "woke"}


def test_two_codes_with_one_label_are_an_error(tmp_path: Path) -> None:
    labels = {"a": {1.0: "yes", 2.0: "yes", 3.0: "4"}}
    for values in ([1.0, 2.0], [3.0, 4.0]):
        pyreadstat.write_sav(
            pl.DataFrame({"a": values}), tmp_path / "t.sav", variable_value_labels=labels
        )
        assert column(tmp_path / "t.sav", "a") == values
        with pytest.raises(ColumnError, match="two codes have the same label"):
            shoal.read(tmp_path / "t.sav", labels="texts")


@pytest.fixture(scope="module")
def stata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stata") / "t.dta"
    labels: Any = {"a": {1: "one", "a": "refused"}}
    frame = pd.DataFrame({"a": [1, "a", "z", None, 3], "b": [1.5, "b", 2.5, "a", None]})
    pyreadstat.write_dta(
        frame.astype(object),
        path,
        missing_user_values={"a": ["a", "z"], "b": ["a", "b"]},
        variable_value_labels=labels,
    )
    return path


def test_letters_of_stata_are_missing_or_values(stata: Path) -> None:
    assert column(stata, "a") == [1, None, None, None, 3]
    assert column(stata, "a", user_missing="values") == ["1", ".a", ".z", None, "3"]
    assert column(stata, "b", user_missing="values") == ["1.5", ".b", "2.5", ".a", None]
    named = column(stata, "a", user_missing="values", labels="texts")
    assert named == ["one", "refused", ".z", None, "3"]
    assert column(stata, "a", labels="texts") == ["one", None, None, None, "3"]


def test_a_column_of_letters_alone_is_read_as_any_other(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Series(["a", "b"], dtype=object)})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", missing_user_values={"a": ["a", "b"]})
    assert column(tmp_path / "t.dta", "a") == [None, None]
    assert column(tmp_path / "t.dta", "a", user_missing="values") == [".a", ".b"]


def test_a_letter_is_a_code_in_a_column_of_texts(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "m", "x"]})
    labels: Any = {"sex": {"f": "female", "m": "male"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    assert column(tmp_path / "t.sav", "sex", labels="texts") == ["female", "male", "x"]


def test_a_year_of_six_digits_is_refused_without_showing_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": [13_630_000_000.0, 6_306_000_000_000.0]})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_format={"at": "DATETIME20"})
    with pytest.raises(ColumnError, match="'at' has a date outside the years 1 to 9999"):
        shoal.read(tmp_path / "t.sav").keys("at")


def test_floats_of_four_bytes_keep_their_digits(tmp_path: Path) -> None:
    pd.DataFrame({"a": pd.Series([0.1, 2.5], dtype="float32")}).to_stata(
        tmp_path / "t.dta", write_index=False
    )
    assert column(tmp_path / "t.dta", "a") == [0.1, 2.5]


def test_some_columns_are_read(spss: Path) -> None:
    assert shoal.read(spss, columns=["town", "worked"]).names == ("town", "worked")
    with pytest.raises(ColumnError, match="no column 'age'"):
        shoal.read(spss, columns=["age"])


def test_transport_files_have_no_declared_missing_values(tmp_path: Path) -> None:
    shoal.write(pl.DataFrame({"a": [1.5]}), tmp_path / "t.xpt")
    with pytest.raises(ParameterError, match="always missing"):
        shoal.read(tmp_path / "t.xpt", user_missing="values")


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_damaged_files_are_refused_without_a_value(form: str, tmp_path: Path) -> None:
    content = write_statistical(pl.DataFrame({"a": ["secret"] * 99}), form)
    for end in (len(content) // 2, -1):
        (tmp_path / f"t.{form}").write_bytes(content[:end])
        with pytest.raises(FileError, match="damaged") as caught:
            shoal.read(tmp_path / f"t.{form}")
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_a_written_file_has_no_time(form: str) -> None:
    content = write_statistical(pl.DataFrame({"a": ["x"], "b": [1]}), form)
    year = dt.date.today().year
    assert str(year).encode() not in content
    stamps = {"sav": b"01 Jan 7000:00:00", "dta": b"01 Jan 1970 00:00", "xpt": b"01JAN70:00:00:00"}
    assert content.count(stamps[form]) == {"sav": 1, "dta": 1, "xpt": 4}[form]
    if form == "sav":
        assert content[92:109] == stamps[form]
    reader: Any = {
        "sav": pyreadstat.read_sav,
        "dta": pyreadstat.read_dta,
        "xpt": pyreadstat.read_xport,
    }
    _, about = reader[form](io.BytesIO(content))
    assert about.creation_time is None or about.creation_time.year == 1970
    assert not about.file_label
    assert not about.notes
