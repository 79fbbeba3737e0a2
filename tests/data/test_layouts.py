"""A quick look at a source: how it is written, and what is wrong with it."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.csv_files import CsvOptions
from shoal.data.files import csv_file
from shoal.data.layouts import look
from shoal.errors import ColumnError, ShoalError


def test_a_csv_file_is_described(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Größe;name\n1,80;Zoë\n1,75;Bob\n", encoding="cp1252")
    layout = look(path)
    assert (layout.form, layout.names, layout.problem) == ("csv", ("Größe", "name"), None)
    # A guess is not written down as if it were known.
    assert layout.reading == {"separator": ";", "quote": '"'}
    assert layout.is_guess
    assert layout.dialect is not None
    assert layout.dialect.encoding == "cp1252"
    assert not layout.is_headless
    assert layout.size == path.stat().st_size
    options: dict[str, Any] = layout.reading
    assert shoal.read(path, **options).names == layout.names


def test_other_sources_are_told_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [39], "sex": ["f"]})
    (tmp_path / "visits").mkdir()
    for name in ("a.parquet", "b.parquet"):
        shoal.write(frame, tmp_path / "visits" / name)
    folder = look(tmp_path / "visits")
    assert (folder.form, folder.files, folder.names) == ("parquet", 2, ("age", "sex"))
    shoal.write(frame, tmp_path / "people.arrow")
    assert look(tmp_path / "people.arrow").names == ("age", "sex")
    with closing(sqlite3.connect(tmp_path / "clinic.sqlite")) as clinic, clinic:
        clinic.execute("CREATE TABLE visits (age INTEGER)")
    assert look(tmp_path / "clinic.sqlite").form == "database"
    assert look("postgresql://host/clinic").form == "address"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("age,age\n1,2\n", "have the same name"),
        ("age,,sex\n1,2,3\n", "column 2 has no name"),
        ("age,Age \n1,2\n", "differ only in case"),
        ('[{"a": 1}]', "JSON"),
        ("PK\x03\x04", "a zip archive"),
        ("39,39\n50,51\n", "looks like a record"),
    ],
)
def test_problems_are_a_part_of_the_answer(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    layout = look(path)
    assert layout.problem is not None
    assert problem in str(layout.problem)


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    layout = look(tmp_path / "nothing.csv")
    assert layout.form == "unknown"
    assert layout.problem is not None


def test_a_first_line_that_looks_like_a_record_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("39,f,07101\n50,m,07103\n", encoding="utf-8")
    assert look(path).is_headless


# Names for columns that have none


def named(path: Path, names: list[str], *, instead: bool, **options: str) -> bytes:
    """The file with names, as it is written."""
    file = io.BytesIO()
    csv_file(path, CsvOptions(**options)).write_named(names, file, instead=instead)
    return file.getvalue()


def test_names_go_above_a_record(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"\xef\xbb\xbf\r\n39,f\r\n50,m\r\n")
    assert named(path, ["age", "a, b"], instead=False) == b'age,"a, b"\n39,f\r\n50,m\r\n'


def test_names_take_the_place_of_others_even_where_these_have_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('"age\nin years";"age\nin years"\n39;"a\nb"\n', encoding="utf-16")
    assert named(path, ["one", "two"], instead=True) == b'one;two\n39;"a\nb"\n'


def test_a_long_file_is_copied_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    lines = [f"{number},ü{number}" for number in range(100_000)]
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    copy = named(path, ["number", "text"], instead=False)
    assert copy.decode() == "\n".join(["number,text", *lines]) + "\n"


@pytest.mark.parametrize("names", [["age"], ["age", "age"], ["age", ""], ["age", "a\nb"]])
def test_names_that_cannot_be_told_apart_are_refused(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("39,f\n50,m\n", encoding="utf-8")
    with pytest.raises(ColumnError):
        named(path, names, instead=False)


def test_a_name_with_a_separator_needs_quotes(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("39,f\n50,m\n", encoding="utf-8")
    with pytest.raises(ColumnError, match="separator"):
        named(path, ["a,b", "c"], instead=False, quote="")


def test_only_csv_files_are_named(tmp_path: Path) -> None:
    shoal.write(pl.DataFrame({"a": [1]}), tmp_path / "a.parquet")
    with pytest.raises(ShoalError, match="not a CSV file"):
        csv_file(tmp_path / "a.parquet")


# First rows


def test_first_rows_are_of_a_table_in_memory_or_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "39,f\n50,m\n" * 50_000, encoding="utf-8")
    for engine in ("memory", "stream"):
        table = shoal.read(path, engine=engine, types={"age": "integer"})
        first = table.first_rows(3)
        assert first.frame.to_polars().rows() == [("39", "f"), ("50", "m"), ("39", "f")]
        assert first.keys("age") == (39, 50)
    assert table.first_rows(20_000).rows == 20_000
