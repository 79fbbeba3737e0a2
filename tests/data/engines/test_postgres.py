"""Rows in PostgreSQL: one snapshot, servers that die, queries that would write, and secrets."""

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.data.tables import Table
from shoal.errors import ColumnError, ParameterError, SourceError
from tests.conftest import ROOT
from tests.postgres import Server
from tests.project.test_docs import blocks, commands, run_command

pytest.importorskip("adbc_driver_postgresql", reason="its Arrow driver is not installed")

AGES = shoal.hierarchy.intervals(0, 99, widths=[10, 50])
METHOD = shoal.SafePub("1/2", "1/8")
SLOW = "SELECT * FROM visits WHERE pg_sleep(0.1) IS NOT NULL"
"""A count that takes 40 seconds, unless somebody ends it."""


@pytest.fixture
def url(server: Server) -> str:
    """The URL of a schema with four hundred visits."""
    made = server.fresh()
    schema = made.rpartition("%3D")[2]
    server.execute(
        f"CREATE TABLE {schema}.visits AS SELECT n AS row, 30 + n % 8 AS age,"
        " CASE WHEN n % 3 = 0 THEN 'asthma' ELSE 'flu' END AS illness"
        " FROM generate_series(1, 400) AS n"
    )
    return made


def visits(url: str, query: str = "visits") -> Table:
    return shoal.read(
        url,
        query=query,
        quasi=["age"],
        sensitive=["illness"],
        identifying=["row"],
        hierarchies={"age": AGES},
    )


def changing(url: str, *statements: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


# One snapshot


def test_all_questions_see_the_same_rows_whoever_writes(url: str) -> None:
    given = visits(url)
    assert given.count(["age"], {}).count.tolist() == [50] * 8
    changing(
        url,
        "DELETE FROM visits WHERE age = 30",
        "UPDATE visits SET illness = 'asthma'",
        "INSERT INTO visits SELECT n, 35, 'measles' FROM generate_series(1, 50) AS n",
    )
    assert given.known("row") == (400, 400)
    assert given.keys("illness") == ("asthma", "flu")
    assert given.count(["illness"], {}).count.tolist() == [133, 267]
    assert visits(url).count(["illness"], {}).count.tolist() == [350, 50]


def test_some_columns_are_of_the_same_snapshot(url: str) -> None:
    given = shoal.read(url, query="visits", columns=["age"], insensitive=["age"])
    changing(url, "DELETE FROM visits WHERE age = 30")
    assert given.names == ("age",)
    assert given.rows == 400


def test_a_snapshot_ends_with_its_table(url: str, server: Server) -> None:
    def open_transactions() -> int:
        idle = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        [[number]] = server.execute(idle)
        return int(number)

    before = open_transactions()
    given = visits(url)
    assert given.rows == 400
    assert open_transactions() == before + 1
    del given
    assert until(lambda: open_transactions() == before)


def test_an_answer_that_nobody_read_to_its_end_is_forgotten(url: str) -> None:
    engine: Any = visits(url).source.engine.engine  # type: ignore[attr-defined]
    started = engine.tally(["row"])
    next(started)
    assert engine.rows() == 400


# Servers that die


def until(true: Callable[[], bool]) -> bool:
    """Whether something comes true within a while."""
    for _ in range(300):
        if true():
            return True
        time.sleep(0.02)
    return False


def while_counting(server: Server, then: Callable[[], object]) -> threading.Thread:
    """Do something as soon as the server counts."""
    counting = (
        "SELECT COUNT(*) FROM pg_stat_activity"
        " WHERE state = 'active' AND query LIKE '%pg_sleep(0.1)%GROUP BY%'"
        " AND pid <> pg_backend_pid()"
    )

    def wait() -> None:
        assert until(lambda: server.execute(counting) != [(0,)])
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = 'postgres' AND pid <> pg_backend_pid()"
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[shoal.Ledger]:
    """A ledger, in which nothing is entered afterwards."""
    made = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    yield made
    assert not made.account().reserved
    assert not (tmp_path / "out").exists()


def refused(ledger: shoal.Ledger, given: Table) -> str:
    """What is said of a release that fails before anything is drawn."""
    with pytest.raises(SourceError) as caught:
        ledger.release(METHOD, given, ledger.path.parent / "out")
    assert caught.value.__cause__ is None
    assert "spent" not in str(caught.value)
    return str(caught.value)


def test_a_backend_that_is_ended_while_it_counts_spends_nothing(
    url: str, server: Server, ledger: shoal.Ledger
) -> None:
    given = visits(url, SLOW)
    killer = while_counting(server, lambda: server.execute(TERMINATE))
    told = refused(ledger, given)
    killer.join()
    assert "the connection was lost" in told


def test_a_server_that_stops_while_it_counts_spends_nothing(
    url: str, server: Server, ledger: shoal.Ledger
) -> None:
    given = visits(url, SLOW)
    killer = while_counting(server, lambda: server.stop("immediate"))
    try:
        told = refused(ledger, given)
    finally:
        killer.join()
        server.start()
    assert "the connection was lost" in told
    # What was lost stays lost, and is not asked for anew by itself: rows may have changed.
    assert "the connection was lost" in refused(ledger, given)
    assert visits(url).rows == 400


def test_a_connection_that_is_lost_before_the_release_spends_nothing(
    url: str, server: Server, ledger: shoal.Ledger
) -> None:
    given = visits(url)
    server.execute(TERMINATE)
    assert "the connection was lost" in refused(ledger, given)


def limited(url: str, *settings: str) -> str:
    return url + "".join(f"%20-c{setting}" for setting in settings)


def test_limits_of_the_server_are_told(url: str, ledger: shoal.Ledger) -> None:
    given = visits(limited(url, "statement_timeout%3D300"), SLOW)
    assert "took longer than the server allows" in refused(ledger, given)
    assert "an earlier question failed" in refused(ledger, given)
    many = "SELECT n AS row, 1 AS age, md5(n::text) AS illness FROM generate_series(1, 30000) AS n"
    small = limited(url, "temp_file_limit%3D100kB", "work_mem%3D64kB")
    assert "no room for what it sets aside" in refused(ledger, visits(small, many))


# Connecting


@pytest.fixture
def locked(server: Server) -> Iterator[Callable[[str], str]]:
    """URLs of a user who needs a password."""
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    server.execute("CREATE ROLE locked LOGIN PASSWORD 'geheim'")
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    server.execute("SELECT pg_reload_conf()")
    yield lambda more: f"postgresql:///postgres?host={server.folder}{more}"
    rules.write_text(before)
    server.execute("SELECT pg_reload_conf()")
    server.execute("DROP ROLE locked")


def test_passwords_come_from_the_environment(
    locked: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = "SELECT n FROM generate_series(1, 3) AS n"
    url = locked("&user=locked")
    assert until(lambda: "missing or wrong" in complaint(url, numbers))
    monkeypatch.setenv("PGPASSWORD", "wrong")
    assert "missing or wrong" in complaint(url, numbers)
    monkeypatch.setenv("PGPASSWORD", "geheim")
    assert shoal.read(url, query=numbers).rows == 3
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:locked:geheim\n")
    passwords.chmod(0o600)
    assert shoal.read(f"{url}&passfile={passwords}", query=numbers).rows == 3
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert shoal.read(url, query=numbers).rows == 3
    monkeypatch.delenv("PGPASSFILE")
    services = tmp_path / "services"
    services.write_text("[clinic]\nuser=locked\npassword=geheim\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert shoal.read(locked("&service=clinic"), query=numbers).rows == 3
    assert "permission denied" not in complaint(locked("&service=clinic"), "pg_authid")
    assert "may not read these rows" in complaint(locked("&service=clinic"), "pg_authid")


def complaint(url: str, query: str = "visits") -> str:
    """What is said of a database that cannot be read; nothing of it may be secret."""
    with pytest.raises(SourceError) as caught:
        shoal.read(url, query=query)
    told = str(caught.value)
    assert caught.value.__cause__ is None
    for secret in ("geheim", "locked", "passwords", "services"):
        assert secret not in told
    return told


def test_servers_that_do_not_answer_are_told(server: Server, tmp_path: Path) -> None:
    assert "cannot be reached" in complaint(f"postgresql:///clinic?host={tmp_path}&user=geheim")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert "cannot be reached" in complaint(f"postgresql://geheim@127.0.0.1:{port}/clinic")
    assert "does not let" in complaint(f"postgresql:///postgres?host={server.folder}&user=geheim")
    nowhere = f"postgresql:///geheim?host={server.folder}&user=shoal"
    assert "is not there" in complaint(nowhere)
    for wrong in ("postgresql://[::1", "postgresql://h:x/d", "postgresql:///d?geheim=1"):
        complaint(wrong)


def test_nothing_is_sent_without_the_encryption_that_is_asked_for() -> None:
    received = []

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(8)  # the request for SSL
            connection.send(b"N")
            received.append(connection.recv(100))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        port = listening.getsockname()[1]
        told = complaint(f"postgresql://geheim@127.0.0.1:{port}/clinic?sslmode=require")
        thread.join()
    assert "encryption" in told
    assert received == [b""]


# Secrets


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:geheim@h/d",
        "postgresql://me:geh?eim@h/d",
        "postgresql://me:geheim#@h/d",
        "postgresql://me:ge/heim@h/d",
        "postgresql://me:ge@heim@h/d",
        "postgres://:geheim@h/d",
        "postgresql://h/d?password=geheim",
        "postgresql://h/d?user=x&%70assword=geheim",
        "postgresql://h/d?user=x#&password=geheim",
        "postgresql://h/d?PASSWORD=geheim",
        "postgresql://h/d?sslpassword=geheim",
        "postgresql://h/d?oauth_client_secret=geheim",
        "postgresql://h/d?scram_client_key=geheim",
    ],
)
@pytest.mark.parametrize("query", ["visits", None])
def test_a_url_with_a_password_is_refused_without_showing_it(url: str, query: str | None) -> None:
    fix = "PGPASSWORD" if query else "name a table"
    with pytest.raises(ParameterError, match=fix) as caught:
        shoal.read(url, query=query)
    assert "heim" not in str(caught.value)


RECIPE = """
missing = "category"
[source]
path = "{url}"
query = "visits"
[roles]
row = "identifying"
age = "quasi"
illness = "sensitive"
[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]
[method]
name = "safepub"
epsilon = 1
delta = 1e-3
[ledger]
path = "own.ledger"
"""


def released(folder: Path) -> tuple[int, str]:
    """The exit code of a release, and what it shows."""
    recipe, out = (str(folder / name) for name in ("recipe.toml", "out"))
    done = CliRunner().invoke(app, ["release", recipe, "--out", out])
    return done.exit_code, done.output


def test_nothing_secret_leaves_with_a_release(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = f"{url}&application_name=geheim&sslkey=/geheim/key&passfile=/geheim/pass"
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.format(url=secret))
    shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    out = tmp_path / "out"
    code, shown = released(tmp_path)
    assert code == 0, shown
    given = visits(secret)
    shown += f"{given!r} {given.source!r} {given.source.engine!r}"  # type: ignore[attr-defined]
    written = [path.read_bytes() for path in (tmp_path / "own.ledger", *out.iterdir())]
    with pytest.raises(ColumnError) as caught:
        given.keys("size")
    shown += str(caught.value) + "".join(capfd.readouterr())
    assert "geheim" not in shown
    assert all(b"geheim" not in content for content in written)


def test_a_recipe_with_a_password_is_refused_without_showing_it(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.format(url="postgresql://me:geheim@h/d"))
    shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    code, shown = released(tmp_path)
    assert code != 0
    assert "PGPASSWORD" in shown
    assert "geheim" not in shown


# Queries


@pytest.mark.parametrize(
    "query",
    [
        "visits; DROP TABLE visits",
        '"visits"; DROP TABLE visits',
        "SELECT * FROM visits; DROP TABLE visits",
        "SELECT 1) AS a; COMMIT; DROP TABLE visits; SELECT * FROM (SELECT 1",
        "WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copies FROM visits",
        "SELECT emptied() AS age",
        "SELECT nextval('numbers') AS age",
        "SELECT set_config('transaction_read_only', 'off', false), emptied() AS age",
        "SELECT * FROM visits FOR UPDATE",
        "DELETE FROM visits RETURNING *",
        "COPY visits TO PROGRAM 'cat'",
    ],
)
def test_a_query_cannot_write(query: str, url: str, server: Server) -> None:
    changing(
        url,
        "CREATE FUNCTION emptied() RETURNS int LANGUAGE sql AS 'DELETE FROM visits; SELECT 1'",
        "CREATE SEQUENCE numbers",
    )
    with pytest.raises(SourceError):
        shoal.read(url, query=query, insensitive=["age"]).keys("age")
    schema = url.rpartition("%3D")[2]
    assert server.execute(f"SELECT COUNT(*) FROM {schema}.visits") == [(400,)]
    assert server.execute(f"SELECT is_called FROM {schema}.numbers") == [(False,)]
    tables = f"SELECT COUNT(*) FROM pg_tables WHERE schemaname = '{schema}'"
    assert server.execute(tables) == [(1,)]


def test_what_a_query_leaves_behind_is_rolled_back(url: str, server: Server) -> None:
    objects = "SELECT COUNT(*) FROM pg_largeobject_metadata"
    before = server.execute(objects)
    given = shoal.read(url, query="SELECT lo_create(0)::int8 AS made", insensitive=["made"])
    with suppress(SourceError):  # of newer servers
        assert given.rows == 1
    del given
    assert server.execute(objects) == before


def test_queries_may_have_comments_and_parentheses(url: str) -> None:
    for query in (
        "SELECT * FROM visits -- all of them",
        "-- all of them\nSELECT * FROM visits;",
        "/* all of\nthem */ (SELECT * FROM visits)",
        "select*from visits",
        "TABLE visits",
    ):
        assert shoal.read(url, query=query).rows == 400


def test_two_columns_of_one_name_are_refused_by_it(url: str) -> None:
    with pytest.raises(ColumnError, match="two columns are called 'age'"):
        shoal.read(url, query="SELECT age, age FROM visits")


# Types


TYPES = """
CREATE EXTENSION IF NOT EXISTS citext SCHEMA pg_catalog;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (one int, other text);
CREATE DOMAIN worded AS citext;
CREATE DOMAIN priced AS numeric(9, 2);
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
"""


@pytest.fixture(scope="module")
def typed(server: Server) -> str:
    """The URL of a schema with types of its own."""
    made = server.fresh()
    changing(made, *filter(str.strip, TYPES.split(";")))
    return made


def values_of(url: str, kind: str, values: list[Any], released: str = "value") -> Table:
    listed = ", ".join(f"({_literal(value)})" for value in values)
    collated = 'COLLATE "loose"' if kind == "text" else ""
    held = f"held{next(NUMBERS)}"
    changing(
        url,
        f"CREATE TABLE {held} (value {kind} {collated}, row int DEFAULT 1)",
        f"INSERT INTO {held} (value) VALUES {listed}",
    )
    return shoal.read(url, query=held, insensitive=[released])


def _literal(value: str | None) -> str:
    return "NULL" if value is None else f"'{value}'"


def test_people_are_never_one_because_floats_have_few_digits(url: str) -> None:
    people = (
        "SELECT 10.0 ^ 17 + row % 200 AS id, CAST(row % 200 AS numeric) AS short, age FROM visits"
    )
    roles: dict[str, Any] = {"identifying": ["id", "short"], "quasi": ["age"]}

    def named(unit: str, kind: str) -> shoal.Release:
        table = shoal.read(
            url, query=people, types={unit: kind}, hierarchies={"age": AGES}, **roles
        )
        return shoal.KDGS(1, {"age": 1}, unit=unit).release(table)

    with pytest.raises(ColumnError, match="not of the declared type 'integer'"):
        named("id", "integer")
    for unit in ("id", "short"):
        with pytest.raises(ColumnError, match="decimals come as floats"):
            named(unit, "text")
        with pytest.raises(ColumnError, match="read off its values"):
            named(unit, "float")
    assert len(named("short", "integer").table) == 200


NUMBERS = itertools.count()
UUID = "6ecd8c99-4036-403d-bf84-cf8400f67836"


@pytest.mark.parametrize(
    ("kind", "values", "keys"),
    [
        ("numeric(38, 10)", ["1.5", "1.50", "0.1", "NaN", None], (0.1, 1.5, None)),
        ("numeric", ["12345678901234567890", "1e-30"], (1e-30, 12345678901234567890.0)),
        ("priced", ["1.5", "1.50"], (1.5,)),
        ("money", ["1.50", "-0.01"], (-0.01, 1.5)),
        ("real", ["0.1", "NaN"], (0.10000000149011612, None)),
        ("bigint", ["9223372036854775807", "-1"], (-1, 2**63 - 1)),
        ("oid", ["4294967295"], (2**32 - 1,)),
        ("char(5)", ["a", "a  ", "A", " a"], (" a", "A", "a")),
        ("varchar(5)", ["a", "a  ", "A"], ("A", "a", "a  ")),
        ("text", ["a", "A", "ä", "a "], ("A", "a", "a ", "ä")),
        ("citext", ["a", "A"], ("A", "a")),
        ("worded", ["a", "A"], ("A", "a")),
        ("mood", ["sad", "ok", "sad", None], ("ok", "sad", None)),
        ("uuid", [UUID, UUID.upper()], (UUID,)),
        ("json", ['{"a":1}', '{"a": 1}'], ('{"a": 1}', '{"a":1}')),
        ("jsonb", ['{"a":1}', '{"a": 1}'], ('{"a": 1}',)),
        ("time", ["12:00", "12:00:00"], ("12:00:00",)),
        ("boolean", ["t", "f", None], ("false", "true", None)),
        (
            "timestamptz",
            ["2020-02-29 01:30+02", "2020-02-28 23:30+00", "2020-02-29 00:00+00"],
            ("2020-02-28T23:30:00+00:00", "2020-02-29"),
        ),
    ],
)
def test_types_are_read_as_in_memory(
    kind: str, values: list[Any], keys: tuple[Any, ...], typed: str
) -> None:
    given = values_of(typed, kind, values)
    assert given.keys("value") == keys
    rows, different = given.known("value")
    assert rows == len(values) - values.count(None) - values.count("NaN")
    assert different == len(keys) - keys.count(None)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int[]", "{7}"),
        ("pair", "(7,geheim)"),
        ("bytea", "geheim"),
        ("interval", "7 days"),
        ("time with time zone", "12:00+02"),
        ("bit(3)", "101"),
        ("inet", "10.0.0.1"),
        ("point", "(7, 7)"),
        ("int4range", "[7, 8)"),
        ("tsvector", "geheim"),
        ("date", "infinity"),
        ("date", "-infinity"),
        ("date", "0044-03-15 BC"),
        ("date", "10000-01-01"),
        ("timestamp", "infinity"),
        ("timestamptz", "-infinity"),
        ("timestamptz", "4000-01-01 BC"),
        ("numeric", "Infinity"),
    ],
)
def test_other_types_are_refused_by_the_name_of_the_column(
    kind: str, value: str, typed: str
) -> None:
    given = values_of(typed, kind, [value])
    with pytest.raises(ColumnError, match="column 'value'") as caught:
        given.keys("value")
    assert "geheim" not in str(caught.value)
    # Other columns can be used.
    assert "'value', 'row'" in given.source.describe()
    assert values_of(typed, kind, [value], released="row").keys("row") == (1,)


# The guide


def test_the_steps_of_the_guide_lead_to_a_release(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = ROOT / "docs" / "how-to" / "larger-data.md"
    steps: dict[str, str] = {}
    for language, _, body in blocks(guide):
        # Those of Spark come later.
        if language in WALKED:
            steps.setdefault(language, body)
    assert sorted(steps) == sorted(WALKED)
    server.execute("CREATE DATABASE clinic")
    changing(f"postgresql:///clinic?host={server.folder}&user=shoal", steps["sql"])
    there = "postgresql://db.example.org/clinic?"
    assert there in steps["toml"]
    here = f"postgresql:///clinic?host={server.folder}&"
    (tmp_path / "visits.toml").write_text(steps["toml"].replace(there, here))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGPASSWORD", "a secret")
    ran = 0
    for command, output in commands(steps["bash"]):
        if command.startswith("shoal "):
            run_command(command, output, tmp_path, alone=False)
            ran += 1
    assert ran == 3


WALKED = ("sql", "toml", "bash")
