"""The options that commands share: columns, and how files are read."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import SECRET, refused, run


def test_columns_may_be_repeated_or_quoted(folder: Path) -> None:
    (folder / "odd.csv").write_text('"a, b";c\n1;2\n1;2\n')
    found = json.loads(run("assess", "odd.csv", "-q", '"a, b"', "-q", "c", "--json").stdout)
    assert found["columns"] == ["a, b", "c"]
    assert found["k"] == 2


def test_a_column_that_is_almost_there_is_suggested(folder: Path) -> None:
    assert refused("assess", "people.csv", "-q", "sexx").endswith("; did you mean 'sex'?\n")
    assert refused("assess", "people.csv", "-q", "sex", "--type", "agee=integer").endswith(
        "; did you mean 'age'?\n"
    )
    assert "did you mean" not in refused("assess", "people.csv", "-q", "nothing like it")


def test_an_argument_too_many_is_named() -> None:
    assert refused("demo", "demo").startswith("error: too many arguments: demo;")
    assert refused("demo", "one", "two").startswith("error: too many arguments: one two;")


def test_what_may_be_a_value_is_never_suggested(folder: Path) -> None:
    (folder / "headless.csv").write_text(f"31,{SECRET}\n32,Paris\n")
    refused("assess", "headless.csv", "-q", SECRET.lower())
    assert "did you mean" not in refused("assess", "headless.csv", "-q", "Zanzi")


@pytest.mark.parametrize("option", ["--root", "--add-root"])
def test_a_hierarchy_with_two_roots_gets_one(folder: Path, option: str) -> None:
    (folder / "sex.csv").write_text("f;woman\nm;man\n")
    asked = ["-q", "age,sex", "--hierarchy", "age=age.csv,sex=sex.csv", "--json"]
    assert f"{option} '*'" in refused("preview", "people.csv", *asked)
    found = json.loads(run("preview", "people.csv", *asked, option, "*", "-l", "sex=1").stdout)
    assert found["levels"]["sex"] == 1
    assert f"{option} '*'" in refused("compare", "people.csv", "people.csv", *asked)
    found = json.loads(run("compare", "people.csv", "people.csv", *asked, option, "*").stdout)
    assert found["b"]["loss_of_input"] == 0
    assert "--hierarchy" in refused("preview", "people.csv", "-q", "age", option, "*")


def test_an_unreadable_file_is_refused(folder: Path) -> None:
    assert "nowhere.csv" in refused("assess", "nowhere.csv", "-q", "age")
    (folder / "noise.csv").write_bytes(bytes(range(256)) * 4)
    refused("assess", "noise.csv", "-q", "age")
    (folder / "noise.parquet").write_bytes(b"PAR1 not really")
    refused("assess", "noise.parquet", "-q", "age")
    refused("assess", ".", "-q", "age")


def test_a_wrong_separator_is_refused(folder: Path) -> None:
    said = refused("assess", "people.csv", "-q", "age", "--separator", ",")
    assert "give --separator ';', or leave it out" in said
    refused("assess", "people.csv", "-q", "age", "--separator", ";;")


def test_a_file_that_quotes_nothing_is_read(folder: Path) -> None:
    (folder / "inches.csv").write_text('age;size\n31;5"\n34;6\n')
    assert "--quote ''" in refused("assess", "inches.csv", "-q", "age")
    assert (
        json.loads(run("assess", "inches.csv", "-q", "size", "--quote", "", "--json").stdout)[
            "groups"
        ]
        == 2
    )
    assert 'quote = ""' in run("recipe", "new", "inches.csv", "--quote", "").stdout


def test_duplicate_columns_are_refused(folder: Path) -> None:
    (folder / "twice.csv").write_text("age;sex;age\n1;f;2\n")
    assert "columns 1 and 3 have the same name" in refused("assess", "twice.csv", "-q", "sex")
