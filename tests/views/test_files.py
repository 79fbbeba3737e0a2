"""One TOML file of views: what it may contain, and what is said of the rest."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import InputError, ShoalError
from shoal.views import Legend, Register, check, load
from tests.views.cases import (
    written,
)

CHAPTER = """
gamma = "1/2"
[register]
person = "name"
people = [
  { name = "Alan", sex = "M", age = 23 }, { name = "Bob", sex = "M", age = 24 },
  { name = "Clark", sex = "M", age = 25 }, { name = "Donald", sex = "M", age = 26 },
  { name = "Ellen", sex = "F", age = 27 }, { name = "Fen", sex = "F", age = 28 },
  { name = "Garcia", sex = "F", age = 28 },
]
[[views]]
name = "A"
where = "sex = 'M'"
values = ["heart", "SARS", "SARS", "viral"]
[[views]]
name = "B"
where = "age between 26 and 28"
values = { flu = 1, SARS = 2, viral = 1 }
"""


def check_command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["views", "check", *arguments])
    return done.exit_code, done.stdout


def test_the_chapters_example_is_read_from_a_file(tmp_path: Path) -> None:
    views = load(written(tmp_path, CHAPTER))
    checked = check(views)
    assert (checked.tables, checked.largest) == (45, Fraction(4, 5))


def test_the_command_prints_tables_and_who_is_exposed(tmp_path: Path) -> None:
    path = written(tmp_path, CHAPTER)
    code, out = check_command(str(path), "--json")
    output = json.loads(out)
    assert (code, output["tables"], output["private"], output["method"]) == (
        1,
        "45",
        False,
        "exact",
    )
    assert output["exposed"] == [
        {
            "person": "Donald",
            "value": "SARS",
            "limit": "1/2",
            "views": ["A", "B"],
            "probability": "4/5",
        }
    ]
    code, out = check_command(str(path))
    assert code == 1
    assert "Donald" in out
    assert max(map(len, out.splitlines())) <= 80
    assert check_command(str(path), "--gamma", "80%")[0] == 0


def test_drawn_probabilities_are_shown_with_their_bounds(tmp_path: Path) -> None:
    code, out = check_command(
        str(written(tmp_path, CHAPTER)),
        "--how",
        "sampling",
        "--confidence",
        "0.9",
        "--tries",
        "2000",
        "--json",
    )
    output = json.loads(out)
    (one,) = output["exposed"]
    assert (code, output["method"], output["confidence"]) == (1, "sampling", 0.9)
    assert one["low"] < 0.8 < one["high"]


def test_views_that_keep_their_limits_exit_with_0(tmp_path: Path) -> None:
    text = (
        CHAPTER
        + '[[views]]\nname = "C"\npeople = ["Clark", "Donald"]\nvalues = ["viral", "SARS"]\n'
    )
    text += '[[views]]\nname = "D"\npeople = ["Donald", "Ellen"]\nvalues = ["viral", "SARS"]\n'
    code, out = check_command(str(written(tmp_path, text)), "--json")
    assert (code, json.loads(out)["tables"], json.loads(out)["exposed"]) == (0, "8", [])


def test_people_may_be_named_without_a_register(tmp_path: Path) -> None:
    text = (
        '[[views]]\npeople = ["Ann", "Bob"]\nvalues = ["x", "y"]\n'
        '[[views]]\npeople = ["Bob", "Cid"]\nvalues = ["x", "z"]\n'
    )
    checked = check(load(written(tmp_path, text)))
    assert (checked.tables, checked.of("Bob").shares) == (1, {"x": Fraction(1)})


def test_a_register_may_be_in_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "town.sqlite")) as town:
        town.execute("CREATE TABLE people (name TEXT, sex TEXT, age INTEGER)")
        people = [("Alan", "M", 23), ("Bob", "M", 24), ("Clark", "M", 25), ("Donald", "M", 26)]
        people += [("Ellen", "F", 27), ("Fen", "F", 28), ("Garcia", "F", 28), ("Old", "M", 99)]
        town.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
        town.commit()
    views = CHAPTER.partition("[[views]]")[2]
    register = """[register]
file = "town.sqlite"
query = "SELECT * FROM people WHERE age < 90"
person = "name"
[[views]]"""
    checked = check(load(written(tmp_path, register + views)))
    assert (checked.tables, checked.largest) == (45, Fraction(4, 5))
    without = register.replace("query", "# query")
    with pytest.raises(ShoalError, match="query"):
        load(written(tmp_path, without + views))


def test_limits_types_and_people_outside_the_table_come_from_the_file(tmp_path: Path) -> None:
    text = """
gamma = 0.5
[limits]
"07" = 0.2
[sensitive]
type = "integer"
[register]
people = ["Ann", "Bob", "Cid"]
complete = false
[[views]]
where = ""
values = ["7"]
"""
    checked = check(load(written(tmp_path, text)))
    assert checked.tables == 3
    assert {(one.name, one.value, one.limit) for one in checked.exposed} == {
        (n, "7", Fraction(1, 5)) for n in ("Ann", "Bob", "Cid")
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gama = 1\n" + CHAPTER, "gama: unknown key; did you mean 'gamma'"),
        ("gamma = 0.5", r"\[\[views\]\]"),
        ('[[views]]\nwhere = "age < 3"\npeople = ["A"]\nvalues = ["x"]\n', "has 'where', 'people'"),
        ('[[views]]\npeople = ["A"]\n', "values: missing"),
        ('[[views]]\nvalues = ["x"]\n', "say who there is"),
        (CHAPTER + '[[views]]\nvalues = ["x"]\n', "does not say whom"),
        (CHAPTER + '[[views]]\nwhere = "wage > 3"\nvalues = ["x"]\n', "no public column 'wage'"),
        (CHAPTER + '[[views]]\npeople = ["Zoe"]\nvalues = ["x"]\n', "1 person not in the register"),
        (CHAPTER + '[[views]]\npeople = ["Bob"]\nvalues = { x = "many" }\n', "whole number"),
        (CHAPTER + '[[views]]\npeople = ["Bob"]\nvalues = ["x", "y"]\n', "cannot be more"),
        ("[register", "not TOML"),
    ],
)
def test_a_faulty_file_is_refused_with_the_reason(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ShoalError, match=words):
        load(written(tmp_path, text))
    assert check_command(str(tmp_path / "VIEWS.toml"))[0] == 2
    assert check_command(str(tmp_path / "absent.toml"))[0] == 2


def test_suppressed_values_are_refused_and_unknown_spellings_are_noted(tmp_path: Path) -> None:
    register = Register(shoal.table(pl.DataFrame({"age": [30, 40]}), types={"age": "integer"}))
    with pytest.raises(InputError, match=r"'\*' for a sensitive value"):
        register.of_table(
            pl.DataFrame({"age": ["30", "40"], "ill": ["flu", "*"]}),
            "t",
            Legend({"age": "age"}, "ill"),
        )
    register.of_table(
        pl.DataFrame({"age": ["30", "40"], "ill": ["J10", "J11"]}),
        "t",
        Legend({"age": "age"}, "ill", values={"J1O": "flu"}),
    )
    assert any("does not show 'J1O'" in note for note in register.notes)
    (tmp_path / "VIEWS.toml").write_text('[limits]\nSRAS = "1/5"\n' + CHAPTER)
    assert any("limits for 'SRAS'" in note for note in load(tmp_path / "VIEWS.toml").notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("where = 3", "where: should be a text"),
        ("people = 3", "people: should be a list"),
        ("table = 3", "table: should be a text"),
        ("release = 4", "release: should be a text"),
        ('table = "t.csv"\nvalues = ["flu"]', "values: should be a table"),
        ('table = "t.csv"\ncolumns = "AGE"', "columns: should be a table"),
        ('table = "t.csv"\ncolumns = { age = 3 }', "columns.age: should be a text"),
    ],
)
def test_a_value_of_the_wrong_type_in_a_section_is_refused_with_its_place(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=rf"number 3, 'x': .*{words}"):
        load(written(tmp_path, CHAPTER + f'[[views]]\nname = "x"\n{text}\n'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file = 5", "register.file: should be a text"),
        ('types = "integer"', "register.types: should be a table"),
        ('complete = "false"', "register.complete: should be true or false"),
    ],
)
def test_a_value_of_the_wrong_type_in_the_register_is_refused_with_its_place(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        load(written(tmp_path, f'[register]\n{text}\n[[views]]\nwhere = ""\nvalues = ["a"]\n'))
