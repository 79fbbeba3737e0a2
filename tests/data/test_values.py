"""Numbers and dates as people write them become those that Shoal reads, or an error."""

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.values import DURATION, ValueOptions, fitting_moments, in_seconds
from shoal.errors import ColumnError, ParameterError


def turned(options: ValueOptions, texts: list[str | None], kind: str | None = None) -> Any:
    lazy = pl.LazyFrame({"*": pl.Series(texts, dtype=pl.String)})
    rows, guessed = options.turned(lazy, {} if kind is None else {"*": kind})
    return rows.collect()["*"].to_list(), bool(guessed)


GERMAN = ValueOptions(",", ".")
DAYS = ValueOptions(dates="%d.%m.%Y")


def test_decimal_commas_and_thousands() -> None:
    texts = ["1.234,50", "-3", "", None, "+0,5", "1e3", "12.345.678", ",5"]
    numbers = ["1234.5", "-3", None, None, "+0.5", "1e3", "12345678", ".5"]
    assert turned(GERMAN, texts) == (numbers, True)
    assert turned(GERMAN, texts, "float") == (numbers, False)


@pytest.mark.parametrize("texts", [["1,5", "n/a"], ["1.5"], ["1.2345,5"], ["18.10.1970"], [""]])
def test_a_column_of_something_else_is_left_alone(texts: list[str | None]) -> None:
    assert turned(GERMAN, texts) == (texts, True)


def test_a_declared_column_must_be_written_so() -> None:
    with pytest.raises(ColumnError, match=r"2 values of column '\*' are not written as 1\.234,5"):
        turned(GERMAN, ["1.5", "2,5", "secret"], "float")
    with pytest.raises(ColumnError, match=r"1 value of column '\*' is not written as %d\.%m\.%Y"):
        turned(DAYS, ["31.02.1999", "1.3.1999"], "date")
    assert turned(GERMAN, ["1,5"], "text") == (["1,5"], False)
    assert turned(DAYS, ["1.3.1999"], "text") == (["1.3.1999"], False)


def test_leading_zeros_stay() -> None:
    assert turned(GERMAN, ["01234", "10115"])[0] == ["01234", "10115"]


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("%d.%m.%Y", "18.10.1970", "1970-10-18"),
        ("%m/%d/%y", "10/18/70", "1970-10-18"),
        ("%d %b %Y", "18 Oct 1970", "1970-10-18"),
        ("%Y%m%d", "19701018", "1970-10-18"),
        ("%d.%m.%Y %H:%M", "18.10.1970 07:30", "1970-10-18T07:30:00"),
        ("%d.%m.%Y %H:%M", "18.10.1970 00:00", "1970-10-18"),
        ("%H:%M:%S%.f", "07:30:01.5", "07:30:01.500000"),
        ("%H:%M", "07:30", "07:30:00"),
        ("%I:%M %p", "07:30 PM", "19:30:00"),
        (DURATION, "26:30:00", "95400"),
        (DURATION, "-0:00:01.50", "-1.5"),
        (DURATION, "0:90", None),
    ],
)
def test_forms_of_dates_and_times(form: str, text: str, said: str | None) -> None:
    options = ValueOptions(dates={"*": form})
    if said is None:
        with pytest.raises(ColumnError, match="not written as duration"):
            turned(options, [text])
    else:
        assert turned(options, [text, None, ""]) == ([said, None, None], False)


@pytest.mark.parametrize("dates", ["%Y-%m-%d %H:%M", {"x": "%Y-%m-%d %H:%M"}])
def test_a_column_of_dates_takes_the_day_whatever_the_time(dates: str | dict[str, str]) -> None:
    options = ValueOptions(dates=dates)
    texts = ["1970-10-18 07:30", "1970-10-18 00:00", None]
    days = ["1970-10-18", "1970-10-18", None]
    rows = pl.LazyFrame({"x": texts})
    assert options.turned(rows, {"x": "date"})[0].collect()["x"].to_list() == days
    told = options.turned(rows, {"x": "text"})[0].collect()["x"].to_list()
    assert told == ["1970-10-18T07:30:00", "1970-10-18", None]
    with pytest.raises(ColumnError, match="not written as"):
        options.turned(pl.LazyFrame({"x": ["1970-10-18 07:30", "later"]}), {"x": "date"})


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["2023-04-10 10:59:00"], ("%Y-%m-%d %H:%M:%S",)),
        (["2023-04-10T10:59:00.5", "2023-04-10T11:00:00"], ("%Y-%m-%dT%H:%M:%S%.f",)),
        (["31.12.2024 9:05"], ("%d.%m.%Y %H:%M",)),
        (["4/10/2023 10:59 PM"], ("%d/%m/%Y %I:%M %p", "%m/%d/%Y %I:%M %p")),
        (["2023-04-10 25:00:00"], ()),
        ([], ()),
    ],
)
def test_the_forms_of_dates_with_a_time_are_found(texts: list[str], forms: tuple[str, ...]) -> None:
    assert fitting_moments(pl.Series(texts, dtype=pl.String)) == forms


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"decimal": ";"}, "decimal"),
        ({"thousands": "x"}, "thousands"),
        ({"decimal": ",", "thousands": ","}, "both"),
        ({"thousands": "."}, "both"),
        ({"dates": "%Y"}, "dates"),
        ({"dates": "day"}, "dates"),
        ({"dates": "%Q"}, "dates"),
        ({"dates": {"a": "%d.%m"}}, "dates"),
        ({"missing_texts": "NA"}, "missing_texts"),
        ({"missing_texts": [""]}, "missing_texts"),
        ({"missing_texts": {"a": []}}, "missing_texts"),
    ],
)
def test_marks_and_forms_that_mean_nothing_are_refused(given: Any, option: str) -> None:
    with pytest.raises(ParameterError, match=option):
        ValueOptions(**given)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_file_is_read_as_if_it_were_written_otherwise(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("born;paid;plz;note\n18.10.1970;1.000,5;01234;a\n;;;\n", encoding="utf-8")
    table = shoal.read(
        path, decimal=",", thousands=".", dates={"born": "%d.%m.%Y"}, types={"paid": "float"},
        engine=engine,
    )  # fmt: skip
    assert table.labels("born") == ("1970-10-18", "")
    assert table.keys("paid") == (1000.5, None)
    assert table.labels("plz") == ("01234", "")
    # That a column was turned says something of its values, unless it had to be.
    assert table.guessed == {"plz", "note"}
    some = shoal.read(path, dates={"born": "%d.%m.%Y"}, columns=["plz"], engine=engine)
    assert some.names == ("plz",)
    with pytest.raises(ColumnError, match="no column 'brn'"):
        shoal.read(path, dates={"brn": "%d.%m.%Y"}, engine=engine)


def test_durations_are_seconds(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"a": [dt.timedelta(hours=26), None], "b": [dt.timedelta(milliseconds=1500)] * 2}
    )
    rows, names = in_seconds(frame.lazy())
    assert rows.collect().to_dict(as_series=False) == {"a": [93600, None], "b": [1.5, 1.5]}
    assert names == {"a", "b"}
    frame.write_parquet(tmp_path / "t.parquet")
    for engine in ("memory", "stream"):
        table = shoal.read(tmp_path / "t.parquet", engine=engine)
        assert table.keys("a") == (93600, None)
        assert table.guessed == {"a", "b"}


PLACES = [
    *(("csv", "memory"), ("csv", "stream"), ("parquet", "memory"), ("parquet", "stream")),
    *((form, "memory") for form in ("csv.gz", "arrow", "xlsx", "jsonl", "sav", "dta")),
]


@pytest.mark.parametrize(("form", "engine"), PLACES)
def test_texts_that_stand_for_missing_values_are_missing(
    form: str, engine: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"t.{form}"
    texts = {"age": ["39", "k.A.", "50", "", "999"], "town": ["Ulm", "NA", " NA", "na", "999"]}
    shoal.write(pl.DataFrame(texts), path)
    given: dict[str, Any] = {"types": {"age": "integer"}, "engine": engine}
    table = shoal.read(path, missing_texts=["NA", "k.A.", "999"], **given)
    assert table.keys("age") == (39, 50, None)
    # Only a whole cell counts, as it is written.
    assert table.labels("town") == (" NA", "Ulm", "na", "")
    table = shoal.read(path, missing_texts={"age": ["k.A.", "999"]}, **given)
    assert table.keys("age") == (39, 50, None)
    assert "999" in table.labels("town")
    assert "NA" in table.labels("town")
    some = shoal.read(path, missing_texts={"age": ["999"]}, columns=["town"], engine=engine)
    assert some.names == ("town",)
    with pytest.raises(ColumnError, match="no column 'agee'"):
        shoal.read(path, missing_texts={"agee": ["NA"]}, engine=engine)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_numbers_and_dates_that_a_file_stores_may_stand_for_missing_values(
    engine: Any, tmp_path: Path
) -> None:
    last = dt.date(9999, 12, 31)
    columns = {
        "a": [1, 999],
        "b": [1.5, 999.0],
        "c": [dt.date(2020, 1, 1), last],
        "d": [dt.datetime(2020, 1, 1, 5), dt.datetime(9999, 12, 31)],
        "e": pl.Series(["x", "NA"], dtype=pl.Categorical),
        "f": [[1], [2]],
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    table = shoal.read(
        tmp_path / "t.parquet", missing_texts=["NA", "999", "9999-12-31"], engine=engine
    )
    for name in "abcde":
        assert len(table.labels(name)) == 2
        assert table.labels(name)[-1] == ""


def test_missing_values_come_before_numbers_and_dates() -> None:
    options = ValueOptions(",", ".", missing_texts=["k.A."])
    assert turned(options, ["1.234,5", "k.A."], "float") == (["1234.5", None], False)


def test_a_database_says_missing_values_in_its_query(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="NULLIF"):
        shoal.read("sqlite:///nowhere.sqlite", query="t", missing_texts=["NA"])
