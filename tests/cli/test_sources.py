"""The same commands say and write the same wherever the rows are."""

import json
import re
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from hashlib import shake_128
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.chance import Chance
from shoal.data.engines.interruptible import Interruptible
from tests.cli.shell import contents, refused, run
from tests.postgres import Server

PEOPLE = pl.DataFrame(
    {
        "name": [f"Person {n}" for n in range(90)],
        "age": [20 + n * 7 % 50 for n in range(90)],
        "sex": ["f" if n % 3 else "m" for n in range(90)],
        "diagnosis": [["flu", "cold", None][n % 5 % 3] for n in range(90)],
    }
)

RECIPE = """
[source]
{source}
types = {{ age = "integer" }}

[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
diagnosis = "sensitive"

[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]

[hierarchies.sex]
build = "suppress"
values = ["f", "m"]

[hierarchies.diagnosis]
build = "suppress"
values = ["flu", "cold"]

[method]
{method}
"""

ONE_COLUMN = """
[source]
{source}
types = {{ age = "integer" }}

[roles]
age = "quasi"

[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10]

[method]
name = "safepub"
epsilon = 1
delta = 1e-6
"""

METHODS = {
    "safepub": 'name = "safepub"\nepsilon = 2\ndelta = 0.01\nceiling = { sex = 0 }',
    "optimal": 'name = "optimal"\n[[method.models]]\nmodel = "k-anonymity"\nk = 3',
    "personal": 'name = "personal"\nutility = 0.5',
    "buckets": 'name = "buckets"\ncolumn = "diagnosis"\nlimits = { others = "3/4" }',
}

Kept = dict[str, str]
"""Where a table is: the keys of [source] in a recipe."""


def csv(request: pytest.FixtureRequest) -> Kept:
    PEOPLE.write_csv("people.csv")
    return {"path": "people.csv"}


def parquet(request: pytest.FixtureRequest) -> Kept:
    Path("clinic").mkdir()
    PEOPLE[40:].write_parquet("clinic/1.parquet")
    PEOPLE[:40].write_parquet("clinic/2.parquet")
    return {"path": "clinic", "engine": "stream"}


def sqlite(request: pytest.FixtureRequest) -> Kept:
    with closing(sqlite3.connect("people.sqlite")) as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER, sex TEXT, diagnosis TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", PEOPLE.rows())
        connection.commit()
    return {"path": "people.sqlite", "query": "people"}


def duckdb(request: pytest.FixtureRequest) -> Kept:
    module = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with module.connect("people.duckdb") as connection:
        connection.register("arrow", PEOPLE.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM arrow")
    return {"path": "people.duckdb", "query": "SELECT * FROM people"}


def postgresql(request: pytest.FixtureRequest) -> Kept:
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="no Arrow driver")
    server: Server = request.getfixturevalue("server")
    url = server.fresh()
    with driver.connect(url) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("people", PEOPLE.to_arrow(), mode="create")
        connection.commit()
    return {"path": url, "query": "people"}


ELSEWHERE: list[Callable[[pytest.FixtureRequest], Kept]] = [parquet, sqlite, duckdb, postgresql]


class Desk:
    """Runs commands in a folder, and keeps what they say."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept
        self.said: dict[str, str] = {}
        source = "\n".join(f"{key} = {json.dumps(value)}" for key, value in kept.items())
        for name, method in METHODS.items():
            Path(f"{name}.toml").write_text(RECIPE.format(source=source, method=method))

    @property
    def table(self) -> list[str]:
        """The table as an argument, with its options."""
        others = {f"--{key}": value for key, value in self.kept.items() if key != "path"}
        return [self.kept["path"], *(text for pair in others.items() for text in pair)]

    def run(self, *command: str, code: int = 0) -> None:
        result = run(*command)
        assert result.exit_code == code, result.output
        # The time, and the digest of the recipe, which says where the table is.
        said = re.sub(r"\b[0-9a-f]{64}\b|\d\d:\d\d:\d\d", "…", result.output)
        self.said[f"{len(self.said)} {command[0]}"] = said.replace(self.kept["path"], "PEOPLE")


def everything(desk: Desk) -> dict[str, Any]:
    """What all commands say and write about a table."""
    roles = ["--quasi", "age,sex", "--sensitive", "diagnosis", "--identifying", "name"]
    desk.run("assess", *desk.table, *roles, "--details", "--fraction", "1/10", "--json")
    desk.run("ledger", "create", "own.ledger", "--epsilon", "4", "--delta", "0.1", "--no-witness")
    desk.run("ledger", "create", "views.ledger", "--gamma", "9/10", "--no-witness")
    for name in METHODS:
        recipe = f"{name}.toml"
        desk.run("recipe", "check", recipe)
        book = "own.ledger" if name == "safepub" else "views.ledger"
        ledger = ["--ledger", book] if name in ("safepub", "optimal") else []
        desk.run("release", recipe, "--out", name, *ledger)
        desk.run("judge", recipe, "--release", name, "--queries", "5")
        desk.run("verify", f"{name}/certificate.json", f"{name}/release.csv", "--recipe", recipe)
    desk.run("compare", desk.kept["path"], "optimal/release.csv", "--recipe", "optimal.toml")
    desk.run("preview", "optimal.toml", "--levels", "age=1")
    desk.run("tradeoff", "personal.toml", "--floors", "0.5,0.7")
    desk.run("limits", "buckets.toml")
    desk.run("ledger", "show", "own.ledger")
    desk.run("views", "check", "optimal", "--with", "views.ledger")
    Path("ages.csv").write_text("".join(f"{age};*\n" for age in range(20, 60)))
    kind = ["--column", "age", "--type", "integer"]
    desk.run("hierarchy", "check", "ages.csv", "--table", *desk.table, *kind, code=1)
    files = {}
    for name in METHODS:
        for file in Path(name).iterdir():
            files[str(file)] = _content(file)
    return {**desk.said, **files}


def _content(file: Path) -> Any:
    if file.name != "certificate.json":
        return file.read_bytes()
    # The recipe says where the table is, and the seal is over the recipe too.
    written = json.loads(file.read_text())
    return {key: value for key, value in written.items() if key not in ("recipe", "seal")}


@pytest.fixture
def desk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[..., Kept]], Desk]:
    """Makes the table at a place, in a folder of its own, where all draws come from a seed."""
    monkeypatch.setenv("COLUMNS", "100")

    def at(place: Callable[..., Kept]) -> Desk:
        folder = tmp_path / place.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        calls = count()

        def drawn(chance: Chance, size: int) -> bytes:
            return shake_128(f"{next(calls)}".encode()).digest(size)

        monkeypatch.setattr(Chance, "bytes", drawn)
        return Desk(place(request))

    return at


_IN_MEMORY: list[Any] = []


@pytest.mark.parametrize("place", ELSEWHERE, ids=lambda place: place.__name__)
def test_all_commands_say_and_write_the_same(
    place: Callable[..., Kept], desk: Callable[[Callable[..., Kept]], Desk]
) -> None:
    if not _IN_MEMORY:
        _IN_MEMORY.append(everything(desk(csv)))
    here, memory = everything(desk(place)), _IN_MEMORY[0]
    assert list(here) == list(memory)
    for what, content in memory.items():
        assert here[what] == content, what


# Ctrl-C while a database counts

ENDLESS = {
    sqlite: "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000000000) "
    "SELECT x % 9 AS age FROM n",
    duckdb: "SELECT (a.range * b.range) % 9 AS age FROM range(100000) a, range(100000) b",
    postgresql: "SELECT x % 9 AS age FROM generate_series(1, 4000000000) AS n(x)",
}


@pytest.mark.parametrize("place", ENDLESS, ids=lambda place: place.__name__)
def test_ctrl_c_ends_a_count_and_nothing_is_written_or_spent(
    place: Callable[..., Kept],
    desk: Callable[[Callable[..., Kept]], Desk],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = {**desk(place).kept, "query": ENDLESS[place]}
    source = "\n".join(f"{key} = {json.dumps(value)}" for key, value in kept.items())
    Path("endless.toml").write_text(ONE_COLUMN.format(source=source))
    assert run("ledger", "create", "own.ledger", "--no-witness").exit_code == 0
    before = contents()
    own, ask = threading.get_ident(), Interruptible._ask
    pressed = []

    def press() -> None:
        pressed.append(signal.SIGINT)
        signal.pthread_kill(own, signal.SIGINT)

    def asked(engine: Interruptible, question: Callable[[], Any]) -> Any:
        # What is answered at once is let go on.
        waiting = threading.Timer(1, press)
        waiting.start()
        try:
            return ask(engine, question)
        finally:
            waiting.cancel()

    monkeypatch.setattr(Interruptible, "_ask", asked)
    result = run("release", "endless.toml", "--out", "out", "--ledger", "own.ledger")
    assert (result.exit_code, pressed) == (130, [signal.SIGINT]), result.output
    assert "stopped" in result.stderr
    assert contents() == before


# Options


def test_a_draft_says_where_the_table_is(desk: Callable[[Callable[..., Kept]], Desk]) -> None:
    made = desk(sqlite)
    drafted = run("recipe", "new", *made.table)
    assert drafted.exit_code == 0, drafted.output
    assert '[source]\npath = "people.sqlite"\nquery = "people"\n' in drafted.stdout
    PEOPLE.write_csv("people.csv")
    of_file = run("recipe", "new", "people.csv").stdout
    assert drafted.stdout == of_file.replace(
        'path = "people.csv"\n', 'path = "people.sqlite"\nquery = "people"\n'
    )


def test_a_population_may_be_another_table_of_the_database(
    desk: Callable[[Callable[..., Kept]], Desk],
) -> None:
    table = desk(sqlite).table
    options = ["--quasi", "age,sex", "--population", "people.sqlite", "--json"]
    older = "SELECT * FROM people WHERE age > 60"
    whole = json.loads(run("assess", *table, *options).stdout)
    part = json.loads(run("assess", *table, *options, "--population-query", older).stdout)
    assert whole["outside"] == 0
    assert part["outside"] > 0


def test_a_domain_is_taken_from_a_database(desk: Callable[[Callable[..., Kept]], Desk]) -> None:
    table = desk(sqlite).table
    made = run("hierarchy", "make", "suppress", "--table", *table, "--column", "sex")
    assert made.stdout == "f;*\nm;*\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["assess", "people.sqlite", "--quasi", "age"], "--query"),
        (
            ["assess", "people.csv", "--query", "people", "--quasi", "age"],
            "is not an SQLite or DuckDB file",
        ),
        (["preview", "safepub.toml", "--query", "people"], "--query is for a table"),
        (["hierarchy", "check", "sexes.csv", "--query", "people"], "about --table"),
        (["views", "check", "views.toml", "--engine", "stream"], "directory of a release"),
    ],
)
def test_an_option_without_a_use_is_refused(
    command: list[str], said: str, desk: Callable[[Callable[..., Kept]], Desk]
) -> None:
    desk(sqlite)
    PEOPLE.write_csv("people.csv")
    Path("sexes.csv").write_text("f;*\nm;*\n")
    Path("views.toml").write_text("")
    assert said in refused(*command)
