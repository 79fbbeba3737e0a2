"""The places where rows may be, for tests that must come out the same wherever they are."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.distant import Distant
from shoal.data.engines import EngineName
from shoal.data.engines.sql import quoted
from shoal.data.files import Format
from shoal.data.sources import Memory, Source
from tests.postgres import Server

__all__ = ["PLACES_OF_ROWS", "Lazy", "Place"]


class Place:
    """A place where rows may be."""

    in_memory = False
    lacks: frozenset[str] = frozenset()
    """Names of `COLUMNS` and `ODD` (tests/data/test_special_values.py) that it has no types for, or
    that are not written there as they are in memory.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = Path()

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        """Start what it needs; skip the test, with a reason, if that is not installed."""
        self.folder = folder

    def source(self, frame: pl.DataFrame) -> Source:
        """The source of the same rows in this place."""
        raise NotImplementedError


class InMemory(Place):
    in_memory = True

    def __init__(self, name: str, kind: Callable[[pl.DataFrame], Any]) -> None:
        super().__init__(name)
        self.kind = kind

    def source(self, frame: pl.DataFrame) -> Source:
        return Memory.of(self.kind(frame))


class Lazy(Place):
    def source(self, frame: pl.DataFrame) -> Source:
        # In another order, and in several parts.
        shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
        return Distant.of(pl.concat([shuffled[:50].lazy(), shuffled[50:].lazy()]))


class Streams(Place):
    """Files in two parts that are streamed, or that Spark reads."""

    engine: EngineName = "stream"

    def __init__(self, name: str, format: Format, *lacks: str) -> None:
        super().__init__(name)
        self.format = format
        self.lacks = frozenset(lacks)

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.folder = folder
        self.numbers = count()

    def source(self, frame: pl.DataFrame) -> Source:
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        for part, rows in enumerate((frame[120:], frame[:120])):
            if not len(rows):
                continue
            shoal.write(rows, folder / f"{part}.{self.format}")
        return shoal.read(folder, engine=self.engine).source


class SparkFiles(Streams):
    engine = "spark"

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        super().open(request, folder)
        request.getfixturevalue("spark")


class DuckDb(Place):
    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")

    def source(self, frame: pl.DataFrame) -> Source:
        connection = self.duckdb.connect()
        return Distant.of(connection.from_arrow(frame.to_arrow()))


class DuckDbFile(DuckDb):
    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        super().open(request, folder)
        self.folder = folder
        self.numbers = count()

    def source(self, frame: pl.DataFrame) -> Source:
        path = str(self.folder / f"{next(self.numbers)}.duckdb")
        with self.duckdb.connect(path) as connection:
            connection.register("arrow", frame.to_arrow())
            connection.execute("CREATE TABLE people AS SELECT * FROM arrow")
        return shoal.read(path, query="people").source


class Ibis(Place):
    lacks = frozenset({"durations"})

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.ibis = pytest.importorskip("ibis", reason="Ibis is not installed")

    def source(self, frame: pl.DataFrame) -> Source:
        return Distant.of(self.ibis.memtable(frame.to_arrow()))


class SqliteFile(Place):
    lacks = frozenset(
        {"truth", "decimals", "cents", "long", "lists", "durations"}
        | {"midnights", "times", "moments", "hours", "unsigned"}
    )

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.folder = folder
        self.numbers = count()

    def source(self, frame: pl.DataFrame) -> Source:
        path = self.folder / f"{next(self.numbers)}.sqlite"
        marks = ", ".join("?" for _ in frame.columns)
        with closing(sqlite3.connect(path)) as connection:
            names = ", ".join(f"{quoted(name)} COLLATE nocase" for name in frame.columns)
            connection.execute(f"CREATE TABLE people ({names})")
            connection.executemany(f"INSERT INTO people VALUES ({marks})", _stored(frame).rows())
            connection.commit()
        return shoal.read(path, query="SELECT * FROM people;").source


class PostgreSql(Place):
    # It has no integers above 2**63, and its decimals come as floats.
    lacks = frozenset({"unsigned", "long", "NUL"})

    def open(self, request: pytest.FixtureRequest, folder: Path) -> None:
        pytest.importorskip("adbc_driver_postgresql", reason="its Arrow driver is not installed")
        server: Server = request.getfixturevalue("server")
        self.url = server.fresh()
        self.numbers = count()

    def source(self, frame: pl.DataFrame) -> Source:
        import adbc_driver_postgresql.dbapi as driver

        name = f"people{next(self.numbers)}"
        with driver.connect(self.url) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, frame.to_arrow(), mode="create")
            connection.commit()
        return shoal.read(self.url, query=name).source


NOT_IN_CSV = ("lists", "bytes", "durations", "short", "cents", "NUL")

PLACES_OF_ROWS: list[Place] = [
    InMemory("polars", lambda frame: frame),
    InMemory("arrow", lambda frame: frame.to_arrow()),
    InMemory("pandas", lambda frame: frame.to_pandas(use_pyarrow_extension_array=True)),
    Lazy("lazy polars"),
    Streams("streamed csv", "csv", *NOT_IN_CSV),
    # Durations of files are read as seconds.
    Streams("streamed parquet", "parquet", "durations"),
    DuckDb("duckdb"),
    DuckDbFile("duckdb file"),
    Ibis("ibis"),
    SqliteFile("sqlite"),
    PostgreSql("postgresql"),
    SparkFiles("spark", "parquet", "durations", "hours"),
    SparkFiles("spark csv", "csv", *NOT_IN_CSV),
]


def _stored(frame: pl.DataFrame) -> pl.DataFrame:
    """The values as SQLite stores them, which has no dates."""
    return frame.with_columns(pl.selectors.date().cast(pl.String))
