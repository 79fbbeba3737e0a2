"""A log in PostgreSQL: its connections, and what is said when the server refuses."""

import os

import pytest

from shoal.audit import Audit
from shoal.audit.store import AUDIT, Store
from shoal.errors import FileError
from shoal.log import postgres
from shoal.log.postgres import Postgres
from tests.audit.salaries import made
from tests.log.logs import filled, places
from tests.postgres import Server


@pytest.mark.parametrize("layout", ["NULL", "'shoal audit, layout 3'"])
def test_tables_of_another_layout_are_refused(server: Server, layout: str) -> None:
    place = server.fresh()
    made(place)
    with Store(place).writing() as turn:
        turn.run(f"COMMENT ON TABLE shoal_entries IS {layout}")
    with pytest.raises(FileError, match="this Shoal reads 'shoal audit, layout 2'"):
        Audit.open(place)


def test_a_server_that_does_not_sync_is_refused(server: Server) -> None:
    place = server.fresh()
    made(place)
    server.stop()
    server.start(fsync=False)
    try:
        with pytest.raises(FileError, match="fsync"):
            Audit.open(place)
    finally:
        server.stop()
        server.start()


def test_a_place_is_shown_without_its_user_and_password() -> None:
    url = "postgresql://ann:hidden@db.example:5432/people?options=x"
    assert Postgres(url, AUDIT).name == "postgresql://db.example/people"


def test_a_server_that_is_not_there_is_named_and_its_password_is_not() -> None:
    pytest.importorskip("psycopg")
    nowhere = Postgres("postgresql://zoe:hidden@/people?host=/nowhere", AUDIT)
    with pytest.raises(FileError, match="cannot be reached") as refused, nowhere.reading():
        pass
    assert "hidden" not in str(refused.value)
    assert "zoe" not in str(refused.value)


def test_a_schema_without_a_log_says_how_to_make_one_and_one_with_a_log_is_left_alone(
    server: Server,
) -> None:
    database = Postgres(server.fresh(), AUDIT)
    for block in (database.reading, database.writing):
        message = f"no audit in it; make one with {AUDIT.create}"
        with pytest.raises(FileError, match=message), block():
            pass
    log = filled(database, 2)
    with pytest.raises(FileError, match="it holds an audit already"):
        filled(database, 1)
    assert places(log) == [0, 1]


def test_what_the_server_refuses_is_said_by_its_code_alone(server: Server) -> None:
    log = filled(Postgres(server.fresh(), AUDIT), 1)
    with pytest.raises(FileError, match=r"SQLSTATE 22P02") as refused, log.writing() as turn:
        turn.run("SELECT CAST(? AS integer)", "a secret")
    assert "a secret" not in str(refused.value)
    assert places(log) == [0]


def backend(database: Postgres) -> int:
    """The process of the server that a transaction talks to."""
    with database.reading() as connection:
        return int(connection.execute("SELECT pg_backend_pid()").fetchone()[0])


def test_a_connection_is_used_again_unless_it_was_lost_or_is_a_parents(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Postgres(server.fresh(), AUDIT)
    filled(database, 1)
    first = backend(database)
    assert backend(database) == first
    with database.reading():
        assert backend(database) != first  # one transaction each
    lost = backend(database)
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shoal'"
    )
    again = backend(database)
    assert again not in (first, lost)
    parents = database._idle
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        assert backend(database) != again
    for connection in (*parents, *database._idle):
        connection.close()


def test_a_connection_of_a_block_that_failed_is_not_used_again(server: Server) -> None:
    database = Postgres(server.fresh(), AUDIT)
    filled(database, 1)
    first = backend(database)
    with pytest.raises(ZeroDivisionError), database.writing():
        raise ZeroDivisionError
    assert backend(database) != first


def test_few_connections_are_kept(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_IDLE", 1)
    database = Postgres(server.fresh(), AUDIT)
    filled(database, 1)
    with database.reading(), database.reading(), database.reading():
        pass
    assert len(database._idle) == 1
