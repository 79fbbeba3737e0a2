"""Lazy tables of other libraries: handed over in parts, and refused where a collation decides."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.engines import other
from shoal.data.engines.other import OtherLazy
from shoal.errors import ColumnError


@pytest.fixture(scope="module")
def ibis() -> Any:
    return pytest.importorskip("ibis", reason="Ibis is not installed")


def test_ibis_hands_over_parts(ibis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other, "_BATCH", 2048)
    rows = ibis.memtable(pl.DataFrame({"x": [str(n) for n in range(5000)]}).to_arrow())
    parts = [part.height for part in OtherLazy(rows).tally(["x"])]
    assert len(parts) > 1
    assert sum(parts) == 5000


@pytest.mark.parametrize("collation", ["nocase", "noaccent"])
def test_a_collation_that_makes_texts_equal_is_refused(ibis: Any, collation: str) -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"CREATE TABLE people (x varchar COLLATE {collation}, y varchar, z int)")
    connection.raw_sql("INSERT INTO people VALUES ('1', 'a', 1), (NULL, 'A', 2), ('é', NULL, 3)")
    given = shoal.table(connection.table("people"))
    assert given.keys("y") == ("A", "a", None)
    assert given.keys("z") == (1, 2, 3)
    for ask in (given.keys, given.source.distinct):
        with pytest.raises(ColumnError, match="different texts of 'x' are equal") as caught:
            ask("x")
        assert "é" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")  # of what Ibis calls
def test_texts_in_sqlite_are_not_read_by_ibis(ibis: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (x TEXT COLLATE nocase, z INTEGER)")
        connection.execute("INSERT INTO people VALUES ('a', 1)")
        connection.commit()
    clinic = ibis.sqlite.connect(path)
    given = shoal.table(clinic.table("people"))
    assert given.keys("z") == (1,)
    with pytest.raises(ColumnError, match="read the file by its path"):
        given.keys("x")
    clinic.disconnect()
