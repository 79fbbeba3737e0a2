"""Rows in SQLite: one transaction, and columns that hold values of several types."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import shoal
from shoal.data.tables import Table
from shoal.errors import ColumnError, SourceError


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=0)) as connection, connection:
        yield connection


def clinic(folder: Path, values: list[Any], more: str = "") -> Path:
    """A file with a table of one column, which has no type, and the numbers of its rows."""
    path = folder / "clinic.sqlite"
    with writing(path) as connection:
        connection.execute(f"CREATE TABLE visits (value {more}, row INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO visits (value) VALUES (?)", [[v] for v in values])
    return path


def visits(path: Path, query: str = "visits", kind: str = "text") -> Table:
    return shoal.read(path, query=query, insensitive=["value"], types={"value": kind})


CHANGES = (
    "DELETE FROM visits WHERE row = 1",
    "UPDATE visits SET value = 'c'",
    "INSERT INTO visits (value) VALUES ('d')",
)


def test_all_questions_see_the_same_rows_while_others_write(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a", "a", "b"])
    with closing(sqlite3.connect(path)) as connection:
        # Only by a log beside the file can others write while somebody reads.
        connection.execute("PRAGMA journal_mode = wal")
    given = visits(path)
    for change in CHANGES:
        with writing(path) as connection:
            connection.execute(change)
        assert given.known("value") == (3, 2)
    assert given.count(["value"], {}).count.tolist() == [2, 1]
    assert visits(path).keys("value") == ("c", "d")


def test_who_writes_without_a_log_waits(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a", "a", "b"])
    given = visits(path)
    assert given.rows == 3
    for change in CHANGES:
        with pytest.raises(sqlite3.OperationalError, match="locked"), writing(path) as connection:
            connection.execute(change)
    del given
    with writing(path) as connection:
        connection.execute(CHANGES[0])
    assert visits(path).rows == 2


def test_a_file_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        # It waits five seconds otherwise.
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))
            with pytest.raises(SourceError, match="another program has locked it"):
                visits(path)


def test_any_thread_may_ask(tmp_path: Path) -> None:
    given = visits(clinic(tmp_path, ["a", "b"]))
    found: list[Any] = []
    asking: Callable[[], None] = lambda: found.append(given.keys("value"))  # noqa: E731
    thread = Thread(target=asking)
    thread.start()
    thread.join()
    assert found == [("a", "b")]


@pytest.mark.parametrize(
    ("values", "keys", "known"),
    [
        (["1", 1, 1.0, "b", None, ""], ("1", "b", None), (4, 2)),
        (["0.1", 0.1, "x", 2**62, str(2**62)], ("0.1", str(2**62), "x"), (5, 3)),
        (["a", "a ", "A", -0.0, 0], ("0", "A", "a", "a "), (5, 4)),
        ([True, False, True], ("0", "1"), (3, 2)),
        ([2, 2.0, 2.5], ("2", "2.5"), (3, 2)),
    ],
)
def test_numbers_among_texts_are_the_texts_that_they_become(
    values: list[Any], keys: tuple[Any, ...], known: tuple[int, int], tmp_path: Path
) -> None:
    given = visits(clinic(tmp_path, values, "COLLATE nocase"))
    assert given.keys("value") == keys
    assert given.known("value") == known


def test_an_identifying_column_of_several_types_is_counted_alike(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["1", 1, "b", 2.0, "2", None])
    given = shoal.read(path, query="visits", identifying=["value"], insensitive=["row"])
    assert given.known("value") == (5, 3)


def test_bytes_among_texts_are_refused_and_disturb_nothing_else(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a", b"geheim", 1])
    given = shoal.read(path, query="visits", insensitive=["value", "row"])
    with pytest.raises(ColumnError, match="column 'value'") as caught:
        given.keys("value")
    assert "geheim" not in str(caught.value)
    assert "'value', 'row'" in given.source.describe()
    assert shoal.read(path, query="visits", insensitive=["row"]).keys("row") == (1, 2, 3)


def test_texts_that_are_not_unicode_are_refused_without_showing_them(tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a"])
    with writing(path) as connection:
        connection.execute("UPDATE visits SET value = CAST(x'67656865696dff' AS TEXT)")
    with pytest.raises(SourceError, match="could not count its rows") as caught:
        visits(path).keys("value")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "visits; DROP TABLE visits",
        '"visits"; DROP TABLE visits',
        "SELECT * FROM visits; DROP TABLE visits",
        "SELECT 1) AS a; DROP TABLE visits; SELECT * FROM (SELECT 1",
        "WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copies FROM visits",
        "SELECT load_extension('x') AS value",
        "DELETE FROM visits RETURNING *",
        "ATTACH 'other.sqlite' AS other",
        "VACUUM INTO 'other.sqlite'",
    ],
)
def test_a_query_cannot_write(query: str, tmp_path: Path) -> None:
    path = clinic(tmp_path, ["a"])
    before = path.read_bytes()
    with pytest.raises(SourceError):
        visits(path, query).keys("value")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
