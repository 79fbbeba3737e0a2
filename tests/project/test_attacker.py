"""What an attacker found: values in errors, forged certificates, refusals by chance, lost notes."""

import copy
import hashlib
import json
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar

import narwhals as nw
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.chance import Chance, Seeded
from shoal.cli.app import app
from shoal.data.distant import Distant
from shoal.data.engines.streaming import Streamed
from shoal.data.frames import CodedRows
from shoal.data.hierarchy import derive, mask
from shoal.data.kinds import Kind
from shoal.data.sources import Reading
from shoal.errors import (
    ColumnError,
    FileError,
    HierarchyError,
    ParameterError,
    RecipeError,
    ShoalError,
    Stopped,
)
from shoal.ledger import Ledger
from shoal.ledger.book import LEDGER
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log
from shoal.privacy.limits import Limits, Linear
from shoal.releases.certificate import DOCUMENT
from shoal.releases.sealed import sealed
from tests.methods.examples import AGES, PLACES, people

SECRET = "SECRETann"


# Values of the table in errors


def test_a_derived_hierarchy_of_another_type_names_no_value() -> None:
    frame = pl.DataFrame({"place": [SECRET, "12", "12"], "age": [1, 2, 3]})
    [column] = shoal.table(frame, quasi=["place", "age"]).records(["place"])
    tree = derive(column, mask)
    for kind in ("integer", "float", "date"):
        table = shoal.table(
            frame, quasi=["place", "age"], hierarchies={"place": tree}, types={"place": kind}
        )
        with pytest.raises(HierarchyError) as raised:
            table.hierarchy("place")
        assert SECRET not in str(raised.value)


def test_two_equal_cells_in_the_first_line_of_a_file_without_names_are_not_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{SECRET},{SECRET},flu\nBob,Bob,gout\nCyd,Dee,asthma\n")
    with pytest.raises(ColumnError) as raised:
        shoal.read(path)
    assert SECRET not in str(raised.value)


RECIPE = """
[source]
path = "people.csv"
[roles]
age = "quasi"
town = "quasi"
[hierarchies.age]
file = "{link}"
[hierarchies.town]
file = "{link}"
[method]
name = "optimal"
models = ["2-anonymity"]
"""


@pytest.mark.parametrize("make", [os.symlink, os.link], ids=["symlink", "hard link"])
def test_the_source_under_another_name_is_no_hierarchy_that_a_recipe_quotes(
    tmp_path: Path, make: Any
) -> None:
    source = tmp_path / "people.csv"
    source.write_text(f"age,town\n31,{SECRET}\n32,x\n")
    make(source, tmp_path / "link.csv")
    recipe = tmp_path / "r.toml"
    recipe.write_text(RECIPE.format(link="link.csv"))
    with pytest.raises(RecipeError) as raised:
        shoal.Recipe.check(recipe)
    assert SECRET not in str(raised.value)


# What is shown


def test_the_source_of_a_table_shows_no_rows_or_says_whose_they_are() -> None:
    shown = repr(people(3).source)
    assert "Private Person" not in shown or shown.startswith("owner only")


# Errors keep what was added to them


@pytest.mark.parametrize("way", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_an_error_from_another_process_still_says_what_was_spent(way: Any) -> None:
    error = Stopped("stopped")
    error.add_note("entry 3 of people.ledger still counts as spent")
    assert getattr(way(error), "__notes__", None) == error.__notes__


def test_an_error_at_a_place_keeps_its_notes() -> None:
    error = ShoalError("wrong")
    error.add_note("entry 3 of people.ledger still counts as spent")
    assert getattr(error.at("people.toml"), "__notes__", None) == error.__notes__


# Dataframes that are wrapped already


def test_a_wrapped_dataframe_whose_names_are_not_text_is_refused_as_any_other() -> None:
    with pytest.raises(ColumnError):
        shoal.table(nw.from_native(pd.DataFrame({1: [1, 2], 2: [3, 4]})))


# Refusing by chance


@pytest.mark.parametrize(
    "method",
    [
        shoal.NoisyCounts(1, "1/10", k=1, unit="name", definition="standard", levels={}),
        shoal.RandomSample("1/2", unit="name"),
    ],
    ids=lambda method: method.name,
)
def test_whether_missing_values_are_refused_does_not_depend_on_the_rows_drawn(method: Any) -> None:
    frame = pl.DataFrame({"name": ["p", "p", "q", "q"], "ill": ["a", None, "b", "a"]})
    table = shoal.table(frame, identifying=["name"], sensitive=["ill"], missing="refuse")
    for _ in range(40):
        with pytest.raises(ColumnError):
            method.release(table)


# Forged certificates


def forged(folder: Path, change: Any) -> None:
    paper = folder / "certificate.json"
    content = json.loads(paper.read_text("utf-8"))
    del content["seal"], content["certificate"]
    change(content)
    paper.write_text(sealed(content, DOCUMENT), "utf-8")


@pytest.mark.parametrize("digest", [True, False], ids=["with digest", "without"])
@pytest.mark.parametrize(
    "method",
    [
        shoal.KDGS(1, levels={"age": 1}),
        shoal.NoisyCounts(1, "9/10", k=1, levels={"age": 1}),
        shoal.Columns(1, "9/10", k=1, schema=[["age", "town"], ["ill"]], levels={"age": 1}),
    ],
    ids=lambda method: method.name,
)
def test_a_certificate_without_the_level_of_a_column_hides_no_values_outside_its_hierarchy(
    tmp_path: Path, method: Any, digest: bool
) -> None:
    path = method.release(people()).write(tmp_path / "r")
    frame = pl.read_csv(path, infer_schema=False)
    changed = frame.with_columns(pl.col("town").replace("Oslo", "Ann Lee")).write_csv().encode()
    path.write_bytes(changed)

    def drop(content: dict[str, Any]) -> None:
        content["file"]["sha256"] = hashlib.sha256(changed).hexdigest()
        del content["levels"]["town"]
        if not digest:
            [town] = [column for column in content["columns"] if column["name"] == "town"]
            del town["hierarchy_sha256"]

    forged(path.parent, drop)
    given = {"age": AGES, "town": PLACES}
    assert shoal.verify(path.parent / "certificate.json", path, given) != []


def test_limits_on_a_certificate_smuggle_nothing(tmp_path: Path) -> None:
    limits = Limits.each({"gout": "0.6"}, others=Linear(1, "0.2"))
    path = shoal.Buckets("ill", limits, solver="multi").release(people()).write(tmp_path / "r")

    def smuggle(content: dict[str, Any]) -> None:
        content["parameters"]["limits"]["others"]["patients"] = "Ann Lee has gout"

    forged(path.parent, smuggle)
    assert shoal.verify(path.parent / "certificate.json", path) != []


# Ledgers


def test_an_entry_of_a_kind_that_is_not_known_is_an_error_of_ours(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l", epsilon=2, delta="1/2", witness=False)
    with Log(Sqlite(tmp_path / "l", LEDGER)).writing() as turn:
        turn.append(turn.chain()[-1].head, "later", {"epsilon": "1"})
    with pytest.raises(FileError):
        ledger.spent()


def test_a_gamma_that_is_set_while_a_release_is_made_holds_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(tmp_path / "l")
    ruling = Ledger._ruling

    def slow(self: Ledger, *given: Any) -> Any:
        found = ruling(self, *given)
        if self.account().gamma is None:
            Ledger(tmp_path / "l").set_gamma("1/2")
        return found

    monkeypatch.setattr(Ledger, "_ruling", slow)
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "ill": ["flu", "flu", "gout", "gout"]})
    tree = shoal.Hierarchy.from_lines([["1", "*"], ["2", "*"]], "integer")
    table = shoal.table(frame, quasi=["age"], sensitive=["ill"], hierarchies={"age": tree})
    with pytest.raises(shoal.BudgetError):
        ledger.release(shoal.Optimal(["2-anonymity"]), table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_table_given_as_its_own_hierarchy_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"age,town\n31,{SECRET}\n32,x\n")
    command = ["preview", str(path), "-q", "age", "--hierarchy", f"age={path}"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert SECRET not in result.output


def test_what_is_released_of_people_are_their_own_values() -> None:
    frame = pl.DataFrame({"name": ["p", "p", "q"], "tag": ["zz", "zz", "aa"]})
    table = shoal.table(
        frame, identifying=["name"], insensitive=["tag"], types={"name": "text", "tag": "text"}
    )
    method = shoal.KDGS(1, unit="name")
    assert sorted(method.release(table).table["tag"]) == ["aa", "zz"]


# Data that is not in memory


def in_parts(folder: Path, method: Any = None) -> Path:
    method = method or shoal.Optimal(["2-anonymity"])
    method.release(people(200)).write(folder, rows_per_file=7)
    return folder


def test_a_file_beside_the_parts_of_a_release_is_not_taken_for_it(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "r")
    paper = folder / "certificate.json"
    other = folder / "other.csv"
    other.write_text("age,town,ill\n31,Oslo,gout\n")
    assert shoal.verify(paper, other) != []
    assert shoal.verify(paper, folder / "missing.csv") != []
    for own in (folder, folder / "release-*.csv", folder / "release-00001.csv"):
        assert shoal.verify(paper, own) == []


@pytest.mark.parametrize("lengths", [[0, 3, 9], [1, 4, 60], [7, 0], [5, 6]])
def test_where_parts_end_smuggles_nothing(tmp_path: Path, lengths: list[int]) -> None:
    folder = in_parts(tmp_path / "r")
    parts = sorted(folder.glob("release-*.csv"))
    rows = pl.concat([pl.read_csv(part, infer_schema=False) for part in parts])
    for part in parts:
        part.unlink()
    start = 0
    digests = []
    for place, length in enumerate([*lengths, rows.height - sum(lengths)]):
        content = rows.slice(start, length).write_csv().encode()
        (folder / f"release-{place:05}.csv").write_bytes(content)
        digests.append(hashlib.sha256(content).hexdigest())
        start += length

    def cut(content: dict[str, Any]) -> None:
        content["file"]["sha256"] = digests

    forged(folder, cut)
    [fault] = shoal.verify(folder / "certificate.json", folder)
    assert "equal numbers of rows" in fault


def test_no_certificate_makes_several_parts_of_one_file(tmp_path: Path) -> None:
    path = shoal.Optimal(["2-anonymity"]).release(people(200)).write(tmp_path / "r")

    def twice(content: dict[str, Any]) -> None:
        content["file"]["sha256"] = [content["file"]["sha256"]] * 2

    forged(path.parent, twice)
    assert shoal.verify(path.parent / "certificate.json", path) != []
    with pytest.raises(FileError):
        shoal.Release.read(path.parent)


def test_parts_of_several_tables_are_as_they_are_written(tmp_path: Path) -> None:
    limits = Limits.each({}, others=Linear(1, "0.9"))
    folder = in_parts(tmp_path / "r", shoal.Buckets("ill", limits))
    assert shoal.verify(folder / "certificate.json", folder) == []


@pytest.mark.parametrize(
    "place",
    [
        f"mysql://ann:{SECRET}@host/db",
        f"postgresql+psycopg://ann:{SECRET}@host/db",
        f"POSTGRESQL://ann:{SECRET}@host/db",
        f"mysql://ann:a/{SECRET}@host:3306/db",
        f"mysql://host/db?user=ann&password={SECRET}",
        f"s3a://key:{SECRET}@bucket/people.parquet",
        f"sc://host:15002/;token={SECRET}",
    ],
)
@pytest.mark.parametrize("query", [None, "people"])
def test_no_address_with_a_password_is_shown(tmp_path: Path, place: str, query: str | None) -> None:
    for given in (place, Path(place)):
        with pytest.raises(ShoalError) as raised:
            shoal.read(given, query=query)
        assert SECRET not in str(raised.value)
    recipe = tmp_path / "r.toml"
    named = RECIPE.replace("people.csv", place).format(link="link.csv")
    recipe.write_text(named)
    result = CliRunner().invoke(app, ["assess", place, "-q", "age"])
    assert result.exit_code != 0
    assert SECRET not in result.output
    result = CliRunner().invoke(app, ["release", str(recipe), "--out", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert SECRET not in result.output


@pytest.mark.parametrize("query", [None, "people"])
def test_no_database_that_spark_cannot_read_is_shown_with_its_password(query: str | None) -> None:
    with pytest.raises(ParameterError) as raised:
        shoal.read(f"postgresql://ann:{SECRET}@host/db", query=query, engine="spark")
    assert SECRET not in str(raised.value)


def test_no_master_with_a_token_is_shown(tmp_path: Path) -> None:
    master = f"sc://host/;token={SECRET}"
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n")
    with pytest.raises(ShoalError) as raised:
        shoal.read(path, master=master)
    assert SECRET not in str(raised.value)
    result = CliRunner().invoke(app, ["assess", str(path), "-q", "age", "--master", master])
    assert result.exit_code != 0
    assert SECRET not in result.output


@pytest.mark.parametrize("place", ["hdfs://host:9000/a@b", "hdfs://ann@host:9000/a:b"])
def test_a_port_is_not_a_password(place: str) -> None:
    with pytest.raises(FileError):
        shoal.read(place)


def test_people_who_claim_to_be_in_order_and_are_not_are_not_taken_for_others() -> None:
    names = [f"person {n % 50}" for n in range(200)]
    frame = pl.LazyFrame({"name": names, "ill": ["flu", "gout"] * 100})
    claiming = frame.with_columns(pl.col("name").set_sorted())
    table = shoal.table(claiming, identifying=["name"], sensitive=["ill"], types={"name": "text"})
    with pytest.raises(ShoalError):
        shoal.RandomSample("1/2").release(table)


def test_threads_that_draw_for_one_release_make_one_entry(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l", epsilon=9, delta="1/2", witness=False)
    made = shoal.SafePub(1, "1/100")

    class Threaded:
        name: ClassVar[str] = made.name
        unit = None

        def promise(self, schema: Any) -> Any:
            return made.promise(schema)

        def release(self, table: Any, chance: Any = None, *, progress: Any = None) -> Any:
            with ThreadPoolExecutor(4) as threads:
                together = Barrier(4)
                list(threads.map(lambda _: together.wait() < 4 and chance.bytes(1), range(4)))
            return made.release(table, chance, progress=progress)

    ledger.release(Threaded(), people(200))
    assert [entry.what for entry in ledger.entries()] == ["created", "reserved", "completed"]


def test_what_counts_rows_elsewhere_shows_none(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    source: Any = shoal.table(duckdb.sql(f"SELECT '{SECRET}' AS name")).source
    assert SECRET not in repr(source.engine)
    path = tmp_path / "people.csv"
    path.write_text("name,age\n" + f"{SECRET},1\n" * 60_000)
    held: Any = shoal.read(path).source
    assert isinstance(held.held, CodedRows)
    assert repr(held.held).startswith("owner only")


@pytest.mark.parametrize("name", ["main", "memory", "system", "temp", "information_schema", "a.b"])
def test_a_duckdb_file_may_be_called_like_what_duckdb_has_itself(tmp_path: Path, name: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / f"{name}.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS made; CREATE TABLE made.t AS SELECT 1 AS age")
    assert shoal.read(path, query="t").rows == 1
    assert shoal.read(path, query="main.t").rows == 1


def test_values_that_change_their_type_while_people_are_drawn_are_not_shown() -> None:
    numbers = pl.LazyFrame({"name": ["a", "a", "b"], "age": [1, 2, 3]})

    class Changing(Streamed):
        def in_order(self, names: Any, at_once: int) -> Any:
            yield pl.DataFrame({"0": ["a", "a", "b"], "1": ["1", SECRET, "3"]})

    source = Distant(Changing(numbers))
    age = Reading("age", Kind.INTEGER)
    with pytest.raises(ShoalError) as raised:
        source.bounded(Reading("name", Kind.TEXT), [age], 1, Seeded(1))
    assert SECRET not in str(raised.value)


def test_a_chance_with_draws_of_its_own_is_drawn_from_and_entered_first(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l", witness=False)
    entered = []

    class Own(Chance):
        def number(self) -> str:
            entered.append([entry.what for entry in ledger.entries()])
            return "0" * 32

    made = ledger.release(shoal.Optimal(["2-anonymity"]), people(200), chance=Own())
    assert made.certificate.number == "0" * 32
    assert entered == [["created", "reserved"]]
