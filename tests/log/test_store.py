"""A chain of entries: what is read, appended and found out, in either database."""

import sqlite3
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.log.chain import START, Purpose
from tests.log.logs import made, places


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
