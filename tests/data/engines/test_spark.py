"""Rows in Spark: sessions of both kinds, one group-by for a release, and sessions that are lost."""

import datetime as dt
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.data.engines import spark as engine
from shoal.data.engines.spark import Spark
from shoal.errors import ColumnError, ParameterError, SourceError
from tests.conftest import ROOT
from tests.data.test_special_values import COLUMNS, answers, columns
from tests.recipe.people import PEOPLE, RECIPE

ROLES: dict[str, Any] = {
    "quasi": ["age"],
    "sensitive": ["illness"],
    "hierarchies": {"age": shoal.hierarchy.intervals(0, 99, widths=[5, 20])},
    "types": {"age": "integer"},
}
SAFEPUB = shoal.SafePub(1, "1e-3")


def visits() -> pl.DataFrame:
    ages = [30 + n % 8 for n in range(800)]
    illnesses = ["flu" if n % 3 else "asthma" for n in range(800)]
    return pl.DataFrame({"age": ages, "illness": illnesses})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("visits")
    shoal.write(visits(), folder / "1.parquet")
    return folder


def released(table: shoal.Table, folder: Path) -> dict[str, bytes]:
    SAFEPUB.release(table, Seeded(5)).write(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# Types


QUERY = """
    SELECT timestamp '2020-05-05 01:00:00' AS moment, timestamp_ntz '2020-05-05 01:00:00' AS shown,
           CAST('a' AS varchar(3)) AS short, CAST(1.50 AS decimal(38, 10)) AS decimal,
           CAST(1 AS tinyint) AS tiny, CAST(0.1 AS float) AS float, null AS nothing
"""


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_a_moment_is_the_same_in_every_time_zone_of_a_session(spark: Any, zone: str) -> None:
    moment = dt.datetime(2020, 5, 4, 16, tzinfo=dt.UTC)
    memory = shoal.table(pl.DataFrame({"moment": [moment], "shown": [dt.datetime(2020, 5, 5, 1)]}))
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        query = "SELECT timestamp_micros(1588608000000000) AS moment, * EXCEPT (moment)"
        given = shoal.table(spark.sql(f"{query} FROM ({QUERY})"))
        for name in ("moment", "shown"):
            assert given.keys(name) == memory.keys(name)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_types_that_only_spark_has_are_read_or_refused_by_name(spark: Any) -> None:
    given = shoal.table(spark.sql(QUERY))
    memory = shoal.table(
        pl.DataFrame(
            {"short": ["a"], "decimal": [Decimal("1.5")], "tiny": [1], "float": [0.1]},
            schema_overrides={"float": pl.Float32, "tiny": pl.Int8},
        )
    )
    for name in memory.names:
        assert (given.kind(name), given.keys(name)) == (memory.kind(name), memory.keys(name))
    assert given.keys("nothing") == (None,)
    odd = shoal.table(spark.sql("SELECT map(1, 'secret') AS a, interval 1 month AS b, 1 AS c"))
    assert odd.keys("c") == (1,)
    for name in ("a", "b"):
        with pytest.raises(ColumnError, match=f"column '{name}'.* convert it") as caught:
            odd.keys(name)
        assert "secret" not in str(caught.value)
    with pytest.raises(ColumnError, match="the table has 'a', 'b', 'c'"):
        odd.require("d")


def test_texts_are_equal_only_character_by_character(spark: Any) -> None:
    texts = ["a", "A", "a ", "a", "ä"]
    rows = spark.createDataFrame([(text,) for text in texts], ["x"])
    for collation in ("UTF8_LCASE", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM"):
        given = shoal.table(rows.selectExpr(f"collate(x, '{collation}') AS x"))
        assert given.keys("x") == ("A", "a", "a ", "ä")
        assert given.source.distinct("x") == 4
        assert given.count(["x"], {}).count.tolist() == [1, 2, 1, 1]


def test_texts_of_a_fixed_width_are_as_spark_shows_them(spark: Any) -> None:
    spark.sql("CREATE TABLE fixed (x char(3), y varchar(3)) USING parquet")
    try:
        spark.sql("INSERT INTO fixed VALUES ('a', 'a'), ('a ', 'a ')")
        given = shoal.read("spark://", query="fixed")
        assert (given.keys("x"), given.keys("y")) == (("a  ",), ("a", "a "))
    finally:
        spark.sql("DROP TABLE fixed")


# One group-by


def stages(spark: Any, group: str) -> list[int]:
    """How many tasks each stage of a group of jobs had, those that were skipped aside."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    ids = sorted({stage for job in jobs for stage in job.stageIds})
    found = {stage: tracker.getStageInfo(stage) for stage in ids}
    return [info.numTasks for info in found.values() if info and info.numCompletedTasks]


def test_a_release_is_one_group_by(spark: Any, folder: Path, tmp_path: Path) -> None:
    frame = spark.read.parquet(str(folder))
    spark.sparkContext.setJobGroup("a release", "")
    try:
        released(shoal.table(frame, **ROLES), tmp_path / "out")
    finally:
        spark.sparkContext.setJobGroup("other tests", "")
    # One that reads and groups what it reads, and one that groups what these have in common.
    assert len(stages(spark, "a release")) == 2


def test_the_plan_has_one_exchange_and_draws_nothing(spark: Any, folder: Path) -> None:
    grouped = Spark(spark.read.parquet(str(folder))).grouped(["age", "illness"])
    plan = grouped._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange") == 1
    assert plan.count("HashAggregate") == 2
    assert "rand" not in plan


def test_grouped_rows_come_in_parts(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spark.range(40_000).selectExpr("id % 20000 AS x")
    settings = {name: spark.conf.get(name) for name in engine._SMALL_PARTS}
    monkeypatch.setattr(engine, "_FETCHED", 1)
    # Else so few rows would be one part.
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.sparkContext.setJobGroup("parts", "")
    try:
        parts = [part.height for part in Spark(rows).tally(["x"])]
    finally:
        spark.sparkContext.setJobGroup("other tests", "")
        spark.conf.set("spark.sql.adaptive.enabled", "true")
    assert sum(parts) == 20_000
    assert stages(spark, "parts")[1:] == [1, 1]
    assert {name: spark.conf.get(name) for name in settings} == settings


# Spark Connect


# What Spark would make something else of before Shoal sees it.
MADE = [name for name in COLUMNS if name not in ("times", "hours", "unsigned")]


@pytest.mark.parametrize("name", MADE)
def test_special_values_are_counted_alike_by_spark_connect(name: str, connected: Any) -> None:
    frame = columns(name)
    types = {name: COLUMNS[name][0], "row": "integer"}
    given = shoal.table(connected.createDataFrame(frame.to_arrow()), types=types)
    assert answers(given, name) == answers(shoal.table(frame, types=types), name)


def test_spark_connect_gives_the_same_release(connected: Any, folder: Path, tmp_path: Path) -> None:
    given = shoal.table(connected.read.parquet(str(folder)), **ROLES)
    assert given.rows == 800
    assert given.source.distinct("age") == 8
    from_memory = released(shoal.table(visits(), **ROLES), tmp_path / "memory")
    assert released(given, tmp_path / "connect") == from_memory


def test_spark_connect_hands_over_parts(connected: Any) -> None:
    rows = connected.range(40_000)
    parts = [part.height for part in Spark(rows).tally(["id"])]
    assert len(parts) >= 2
    assert sum(parts) == 40_000


# Sessions, files and tables


def test_tables_and_queries_of_a_session_are_read(spark: Any, folder: Path) -> None:
    spark.read.parquet(str(folder)).createOrReplaceTempView("visits")
    for query in ("visits", "SELECT age, illness FROM visits WHERE age < 32;"):
        given = shoal.read("spark://", query=query, columns=["age"])
        assert given.names == ("age",)
    assert given.rows == 200
    with pytest.raises(ParameterError, match="name a table in `query`"):
        shoal.read("spark://")
    for query in ("nobody", "SELECT nothing FROM visits", "SELECT 1; DROP VIEW visits"):
        with pytest.raises(SourceError, match="cannot read the table or query"):
            shoal.read("spark://", query=query)
    with pytest.raises(SourceError):
        shoal.read("spark://", query="WITH a AS (SELECT 1) INSERT INTO visits SELECT * FROM a")


def test_files_that_are_not_there_or_vanish_are_an_error(
    spark: Any, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=r"nowhere\.parquet"):
        shoal.read(tmp_path / "nowhere.parquet", engine="spark")
    with pytest.raises(SourceError):
        shoal.read("nothing://of/this/kind.parquet", engine="spark")
    copy = shutil.copytree(folder, tmp_path / "visits")
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    given = shoal.read(copy, engine="spark", **ROLES)
    shutil.rmtree(copy)
    with pytest.raises(SourceError, match="could not count") as caught:
        ledger.release(SAFEPUB, given)
    assert caught.value.__cause__ is None
    assert not ledger.account().reserved


def test_a_recipe_is_released_by_the_session_that_is_there(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    bytes_of = []
    for more in ([], ["--engine", "spark", "--master", "spark://nowhere:1"]):
        out = tmp_path / f"out{len(more)}"
        done = CliRunner().invoke(app, ["release", str(recipe), "--out", str(out), *more])
        assert done.exit_code == 0, done.output
        bytes_of.append((out / "release.csv").read_bytes())
    assert bytes_of[0] == bytes_of[1]


LOST = ROOT / "tests" / "data" / "engines" / "lost_session.py"


def test_a_session_that_is_lost_releases_nothing(spark: Any, folder: Path, tmp_path: Path) -> None:
    """In a process of its own, whose Spark is started by Shoal, stopped, and killed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", LOST, folder, tmp_path],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "nothing was released"
    assert "asthma" not in done.stdout + done.stderr


# Without Spark


def test_what_is_for_spark_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="`master` is for Spark"):
        shoal.read(tmp_path / "people.csv", master="local[2]")
    with pytest.raises(ParameterError, match="read 'spark://'"):
        shoal.read(tmp_path / "people.csv", engine="spark", query="people")


def test_spark_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(ParameterError, match=r"pip install 'shoal\[spark\]'"):
        shoal.read("people.parquet", engine="spark")


@pytest.mark.parametrize(
    "address", ["sc://host/;use_ssl=true;token=geheim", "sc://host/;x-key=geheim"]
)
def test_an_address_with_a_secret_is_refused_without_showing_it(address: str) -> None:
    for given in ({"path": address, "query": "a"}, {"path": "a", "master": address}):
        with pytest.raises(ParameterError, match="in the environment") as caught:
            shoal.read(engine="spark", **given)  # type: ignore[arg-type]
        assert "geheim" not in repr(caught.value)
    with pytest.raises(ParameterError, match="give the credentials") as caught:
        shoal.read("s3a://key:geheim@bucket/a.parquet", engine="spark")
    assert "geheim" not in repr(caught.value)
