"""A chain of entries: what is read, appended and found out, in either database."""

import sqlite3
from pathlib import Path

import pytest

from shoal.audit.store import AUDIT
from shoal.errors import FileError
from shoal.log.chain import START, Head, Purpose
from shoal.log.postgres import Postgres
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log
from tests.log.logs import filled, made, places


def test_a_block_that_fails_writes_nothing(tmp_path: Path, purpose: Purpose) -> None:
    log = made(tmp_path / "log", purpose, 2)

    def fail() -> None:
        with log.writing() as turn:
            turn.append(turn.chain()[-1].head, "asked", {"place": 2})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert places(log) == [0, 1]


def test_a_known_entry_that_is_gone_is_noticed(tmp_path: Path, purpose: Purpose) -> None:
    log = made(tmp_path / "log", purpose, 2)
    copy = (tmp_path / "log").read_bytes()
    with log.writing() as turn:
        first, last = turn.chain()
        head = turn.append(last.head, "asked", {"place": 2}).head
        assert [link.facts["place"] for link in turn.after(first.head)] == [1, 2]
    (tmp_path / "log").write_bytes(copy)
    with log.reading() as turn, pytest.raises(FileError, match="no longer has entry 3"):
        turn.after(head)


def test_an_entry_after_another_head_is_found(tmp_path: Path, purpose: Purpose) -> None:
    log = made(tmp_path / "log", purpose)
    with log.writing() as turn:
        with pytest.raises(sqlite3.IntegrityError):  # two entries of one number
            turn.append(START, "asked", {})
        turn.append(turn.chain()[0].head._replace(digest=""), "asked", {})
    with pytest.raises(FileError, match="entry 2 was changed"):
        places(log)


# In either database


@pytest.fixture(params=["sqlite", "postgresql"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    """A log with the places 0, 1 and 2."""
    if request.param == "sqlite":
        return filled(Sqlite(tmp_path / "log", AUDIT), 3)
    return filled(Postgres(request.getfixturevalue("server").fresh(), AUDIT), 3)


def test_entries_are_numbered_and_chained_and_read_as_they_were_appended(log: Log) -> None:
    with log.reading() as turn:
        links = turn.chain(whole=True)
    assert [(link.number, link.what, link.facts["place"]) for link in links] == [
        (1, "created", 0),
        (2, "asked", 1),
        (3, "asked", 2),
    ]
    with log.writing(alone=True) as turn:
        made = turn.append(links[-1].head, "asked", {"place": "é"})
        assert turn.chain() == [*links, made]
    with log.reading() as turn:
        assert turn.chain() == [*links, made]


def test_only_the_entries_after_a_known_one_are_read(log: Log) -> None:
    with log.reading() as turn:
        first, second, third = turn.chain()
        assert turn.after(first.head) == [second, third]
        assert turn.after(third.head) == []
        for head in (Head(2, third.digest), Head(4, third.digest), Head(1, "")):
            with pytest.raises(FileError, match=f"no longer has entry {head.number} as it was"):
                turn.after(head)


def test_what_fails_in_a_block_is_not_written(log: Log) -> None:
    def fail() -> None:
        with log.writing() as turn:
            turn.append(turn.chain()[-1].head, "asked", {"place": 3})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert places(log) == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "values", "after"),
    [
        ("UPDATE shoal_entries SET digest = ? WHERE number = 2", ("0" * 64,), "was changed"),
        ("DELETE FROM shoal_entries WHERE number = ?", (2,), "entry 2"),
        ("UPDATE shoal_entries SET number = ? WHERE number = 3", (-3,), "entry"),
    ],
)
def test_a_chain_that_is_broken_is_refused_with_its_place_and_the_repair(
    log: Log, change: str, values: tuple[object, ...], after: str
) -> None:
    with log.writing() as turn:
        head = turn.chain()[0].head
        turn.run(change, *values)
    with log.reading() as turn:
        with pytest.raises(FileError, match=after) as refused:
            turn.chain()
        if "number = ? WHERE" not in change:
            with pytest.raises(FileError, match=after):
                turn.after(head)
    assert str(refused.value).startswith(log.name)
    assert AUDIT.repair in str(refused.value)
