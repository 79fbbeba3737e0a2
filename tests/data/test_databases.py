"""Tables of databases: what is said where something is missing or secret, and recipes of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import ColumnError, ParameterError, SourceError
from tests.recipe.people import PEOPLE, RECIPE


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """An SQLite file with the people of the recipe."""
    path = tmp_path / "clinic.sqlite"
    header, *lines = PEOPLE.splitlines()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE people ({header.replace(';', ', ')})")
        rows = [line.split(";") for line in lines]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()
    return path


def released(folder: Path, recipe: str, *more: str) -> bytes:
    path = folder / "recipe.toml"
    path.write_text(recipe)
    done = CliRunner().invoke(app, ["release", str(path), "--out", str(folder / "out"), *more])
    assert done.exit_code == 0, done.output
    return (folder / "out" / "release.csv").read_bytes()


def test_a_recipe_may_name_a_database_or_an_engine(clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    from_memory = released(tmp_path, RECIPE)
    assert released(tmp_path, RECIPE, "--force", "--engine", "stream") == from_memory
    of_csv = 'path = "people.csv"\nseparator = ";"\nencoding = "utf-8"'
    of_clinic = 'path = "clinic.sqlite"\nquery = "people"'
    assert of_csv in RECIPE
    assert released(tmp_path, RECIPE.replace(of_csv, of_clinic), "--force") == from_memory


def test_some_columns_of_a_table_or_a_query_are_read(clinic: Path) -> None:
    for query in ("people", "SELECT * FROM people WHERE sex = 'f'"):
        given = shoal.read(clinic, query=query, columns=["age", "sex"])
        assert given.names == ("age", "sex")
    assert given.rows == 4
    with pytest.raises(ColumnError, match=r"no column 'size'; the table has 'name', 'age'"):
        shoal.read(clinic, query="people", columns=["size"])


def test_a_database_needs_a_query_and_no_engine(clinic: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="name a table in `query`"):
        shoal.read(clinic)
    with pytest.raises(ParameterError, match="a database counts its rows itself"):
        shoal.read(clinic, query="people", engine="stream")
    (tmp_path / "people.csv").write_text(PEOPLE)
    with pytest.raises(ParameterError, match="is not an SQLite or DuckDB file"):
        shoal.read(tmp_path / "people.csv", query="people")


def test_a_query_cannot_write(clinic: Path) -> None:
    for query in ("nobody", "SELECT * FROM nobody", "people; DROP TABLE people"):
        with pytest.raises(SourceError, match="is not there"):
            shoal.read(clinic, query=query)
    assert shoal.read(clinic, query="people").rows == 6


def test_what_is_not_a_database_is_not_shown_as_it_may_have_a_password() -> None:
    with pytest.raises(ParameterError) as caught:
        shoal.read("host=localhost dbname=clinic password=geheim", query="visits")
    assert "not an SQLite or DuckDB file" in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_an_engine_that_is_unknown_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match="it takes 'memory', 'stream' or 'spark'"):
        shoal.read(tmp_path / "a.csv", engine="streaming")  # type: ignore[arg-type]
