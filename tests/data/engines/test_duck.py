"""Rows in a DuckDB file: nobody writes meanwhile, and what is set aside stays private."""

import gc
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.tables import Table
from shoal.errors import ColumnError, ParameterError, SourceError

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A file of four hundred thousand people, in a folder of its own."""
    folder = tmp_path / "the owner's"
    folder.mkdir()
    path = folder / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 'person ' || range AS name, range % 7 AS age"
            " FROM range(400_000)"
        )
    return path


def visits(path: Path, query: str = "visits") -> Table:
    ages = {"age": shoal.hierarchy.intervals(0, 9, widths=[5])}
    return shoal.read(path, query=query, insensitive=["name"], quasi=["age"], hierarchies=ages)


def settings(given: Table, *changes: str) -> Path:
    """Change settings of the DuckDB that counts; the folder in which it sets rows aside."""
    opened = given.source.engine.engine.opened  # type: ignore[attr-defined]
    for change in changes:
        opened.connection.execute(f"SET {change}")
    return Path(opened.folder)


def test_nobody_writes_while_a_file_is_read(clinic: Path) -> None:
    given = visits(clinic)
    program = f"import duckdb; duckdb.connect({str(clinic)!r}).execute('DELETE FROM visits')"
    elsewhere = [sys.executable, "-c", program]
    assert subprocess.run(elsewhere, capture_output=True).returncode != 0
    with pytest.raises(duckdb.Error):
        duckdb.connect(str(clinic))
    assert given.rows == 400_000
    # Others may read.
    assert visits(clinic, "SELECT * FROM visits WHERE age = 1").rows == 57_143
    del given
    gc.collect()
    assert subprocess.run(elsewhere, capture_output=True).returncode == 0
    assert visits(clinic).rows == 0


def test_a_file_that_is_being_written_is_refused(clinic: Path) -> None:
    with (
        duckdb.connect(str(clinic)),
        pytest.raises(SourceError, match="another program has locked it"),
    ):
        visits(clinic)


def test_moments_are_read_in_utc_wherever_the_machine_is(tmp_path: Path) -> None:
    path = tmp_path / "moments.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE seen AS SELECT '2020-06-30 22:30:00+00'::TIMESTAMPTZ AS t")
    program = f"import shoal; print(*shoal.read({str(path)!r}, query='seen').keys('t'))"
    elsewhere = {**os.environ, "TZ": "Europe/Berlin"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=elsewhere, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "2020-06-30T22:30:00+00:00"


def test_what_is_set_aside_is_private_and_removed(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    given = visits(clinic)
    folder = settings(given, "memory_limit = '16MB'", "threads = 1")
    seen = set()
    for _ in given.source.engine.tally(["name", "age"]):  # type: ignore[attr-defined]
        seen.update(os.listdir(folder))
    assert seen
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(clinic.parent.iterdir()) == [clinic]
    assert list(here.iterdir()) == []
    del given
    gc.collect()
    assert not folder.exists()


def test_a_full_disk_is_told_and_nothing_is_spent(clinic: Path, tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    given = visits(clinic)
    settings(given, "memory_limit = '16MB'", "threads = 1", "max_temp_directory_size = '100KB'")
    with pytest.raises(SourceError, match="no room for what it sets aside") as caught:
        ledger.release(shoal.SafePub("1/2", "1/8"), given, tmp_path / "out")
    assert "spent" not in str(caught.value)
    assert not ledger.account().reserved
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "query",
    [
        "visits; DROP TABLE visits",
        '"visits"; DROP TABLE visits',
        "SELECT * FROM visits; COPY visits TO 'copy.csv'",
        "SELECT 1) AS a; COPY visits TO 'copy.csv'; SELECT * FROM (SELECT 1",
        "WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copies FROM visits",
        "SELECT nextval('numbers') AS age",
        "DELETE FROM visits RETURNING *",
        "COPY visits TO 'copy.csv'",
        "ATTACH 'copy.duckdb' AS other",
    ],
)
def test_a_query_cannot_write(
    query: str, clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("CREATE SEQUENCE numbers")
    before = clinic.read_bytes()
    with pytest.raises((SourceError, ParameterError)):
        shoal.read(clinic, query=query, insensitive=["age"]).keys("age")
    gc.collect()
    assert clinic.read_bytes() == before
    assert list(here.iterdir()) == []


def relation(kind: str, *values: str, released: str = "value") -> Table:
    connection = duckdb.connect()
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    connection.execute(f"CREATE TABLE visits (value {kind})")
    for value in values:
        connection.execute(f"INSERT INTO visits VALUES ({value})")
    rows = connection.sql("SELECT value, 1 AS row FROM visits")
    return shoal.table(rows, insensitive=[released])


@pytest.mark.parametrize(
    ("kind", "values", "keys"),
    [
        ("HUGEINT", ["9223372036854775807", "5", "NULL"], (5, 2**63 - 1, None)),
        ("UHUGEINT", ["5", "5"], (5,)),
        ("DECIMAL(38, 10)", ["1.5", "1.50", "0.1"], (0.1, 1.5)),
        ("mood", ["'sad'", "'ok'", "'sad'", "NULL"], ("ok", "sad", None)),
        (
            "UUID",
            ["'6ECD8C99-4036-403d-bf84-cf8400f67836'", "'6ecd8c994036403dbf84cf8400f67836'"],
            ("6ecd8c99-4036-403d-bf84-cf8400f67836",),
        ),
        ("VARCHAR COLLATE NOCASE", ["'a'", "'A'", "'a '"], ("A", "a", "a ")),
        ("VARCHAR COLLATE NOACCENT", ["'a'", "'ä'"], ("a", "ä")),
        ("JSON", ["'{}'", "'{ }'"], ("{ }", "{}")),
        ("BOOLEAN", ["true", "false"], ("false", "true")),
        ("UTINYINT", ["255", "0"], (0, 255)),
        ("TIME", ["'12:00'", "'12:00:00'"], ("12:00:00",)),
    ],
)
def test_types_are_read_as_in_memory(kind: str, values: list[str], keys: tuple[Any, ...]) -> None:
    assert relation(kind, *values).keys("value") == keys


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("UNION(number INT, word VARCHAR)", "'geheim'"),
        ("STRUCT(a INT)", "{'a': 7}"),
        ("MAP(INT, INT)", "MAP {7: 7}"),
        ("INT[]", "[7]"),
        ("INT[2]", "[7, 7]"),
        ("BLOB", "'geheim'"),
        ("BIT", "'101'"),
        ("INTERVAL", "INTERVAL 7 DAY"),
        ("BIGNUM", "7"),
        ("HUGEINT", "9223372036854775808"),
        ("DATE", "'infinity'"),
        ("DATE", "'0044-03-15 (BC)'"),
        ("TIMESTAMP", "'-infinity'"),
        ("TIMESTAMP", "'20000-01-01'"),
    ],
)
def test_other_types_are_refused_by_the_name_of_the_column(kind: str, value: str) -> None:
    given = relation(kind, value)
    with pytest.raises(ColumnError, match="column 'value'") as caught:
        given.keys("value")
    assert "geheim" not in str(caught.value)
    # Other columns can be used.
    assert "'value', 'row'" in given.source.describe()
    assert relation(kind, value, released="row").keys("row") == (1,)
