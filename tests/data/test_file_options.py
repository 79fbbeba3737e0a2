"""Options of one format are refused for another, and never ignored."""

from pathlib import Path
from typing import Any

import pytest

from shoal.data.file_options import FileOptions
from shoal.data.formats import READING
from shoal.errors import ParameterError

GIVEN: dict[str, Any] = {
    "separator": ";",
    "quote": "'",
    "encoding": "cp1252",
    "sheet": "people",
    "labels": "texts",
    "user_missing": "values",
    "decimal": ",",
    "thousands": "'",
    "dates": {"born": "%d.%m.%Y"},
    "missing_texts": {"born": ["NA"]},
}


def test_every_option_has_a_name() -> None:
    assert set(GIVEN) == set(READING)
    assert FileOptions.of(**GIVEN).values.decimal == ","


@pytest.mark.parametrize(
    ("form", "refused"),
    [
        ("csv", {"sheet", "labels", "user_missing"}),
        ("csv.gz", {"sheet", "labels", "user_missing"}),
        ("parquet", {"separator", "quote", "encoding", "sheet", "labels", "user_missing"}),
        ("xlsx", {"separator", "quote", "encoding", "labels", "user_missing"}),
        ("sav", {"separator", "quote", "sheet"}),
        ("por", {"separator", "quote", "encoding", "sheet", "user_missing"}),
        ("sas7bdat", {"separator", "quote", "sheet", "labels"}),
        ("jsonl", {"separator", "quote", "encoding", "sheet", "labels", "user_missing"}),
    ],
)
def test_options_are_refused_where_they_mean_nothing(form: str, refused: set[str]) -> None:
    path = Path(f"t.{form}")
    for name, value in GIVEN.items():
        options = FileOptions.of(**{name: value})
        if name in refused:
            with pytest.raises(ParameterError, match=name):
                options.require_for(path, form)
            if form not in ("por", "sas7bdat"):
                assert name not in FileOptions.fitting({name: value}, path)
        else:
            options.require_for(path, form)
            assert FileOptions.fitting({name: value}, path) == {name: value}


@pytest.mark.parametrize("name", ["labels", "user_missing"])
def test_what_an_option_takes_is_said(name: str) -> None:
    given: dict[str, Any] = {name: "both"}
    with pytest.raises(ParameterError, match=f"{name}="):
        FileOptions.of(**given)
