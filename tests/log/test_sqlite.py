"""A log in a file: made once, for its owner alone, and never read by a Shoal of another layout."""

import os
import sqlite3
from pathlib import Path

import pytest

from shoal.audit.store import AUDIT
from shoal.errors import FileError
from shoal.ledger.book import LEDGER
from shoal.log.chain import Purpose
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log
from tests.log.logs import made, places


def test_a_log_holds_what_was_appended_and_is_its_owners_alone(
    tmp_path: Path, purpose: Purpose
) -> None:
    log = made(tmp_path / "log", purpose, 4)
    assert places(log) == [0, 1, 2, 3]
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
    assert Sqlite(tmp_path / "log", purpose).problems() == []


def test_a_creation_that_fails_leaves_an_empty_file_and_may_be_repeated(
    tmp_path: Path, purpose: Purpose
) -> None:
    log = Log(Sqlite(tmp_path / "log", purpose))
    with pytest.raises(ZeroDivisionError), log.creating({"place": 0}):
        raise ZeroDivisionError
    assert (tmp_path / "log").stat().st_size == 0
    with pytest.raises(FileError, match="creation was cut short"):
        places(log)
    assert places(made(tmp_path / "log", purpose)) == [0]
    with pytest.raises(FileError, match="exists already"):
        made(tmp_path / "log", purpose)


@pytest.mark.parametrize("version", [0, 1, 3])
def test_a_file_of_another_layout_says_so(tmp_path: Path, purpose: Purpose, version: int) -> None:
    log = made(tmp_path / "log", purpose)
    other = sqlite3.connect(tmp_path / "log")
    other.execute(f"PRAGMA user_version = {version}")
    other.close()
    message = f"layout {version}, and this Shoal reads 2"
    with pytest.raises(FileError, match=message):
        places(log)
    with pytest.raises(FileError, match=message), log.writing():
        pass
    assert message in Sqlite(tmp_path / "log", purpose).problems()[0]


def test_a_log_for_another_purpose_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "ledger", LEDGER)
    made(tmp_path / "audit", AUDIT)
    with pytest.raises(FileError, match="not an audit"):
        places(Log(Sqlite(tmp_path / "ledger", AUDIT)))
    with pytest.raises(FileError, match="not a ledger"):
        places(Log(Sqlite(tmp_path / "audit", LEDGER)))


def test_a_head_that_was_noted_must_be_in_the_log(tmp_path: Path, purpose: Purpose) -> None:
    log = made(tmp_path / "log", purpose, 2)
    file = Sqlite(tmp_path / "log", purpose)
    with log.reading() as turn:
        first, last = turn.chain()
    assert file.problems(first.digest) == file.problems(f" {last.digest.upper()}\n") == []
    assert "cut short, replaced or written anew" in file.problems("0" * 64)[0]


@pytest.mark.skipif(os.name != "posix", reason="there are no such links")
def test_no_log_is_made_through_a_link(tmp_path: Path, purpose: Purpose) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="cannot make"):
        made(tmp_path / "link", purpose)
    assert not (tmp_path / "elsewhere").exists()


def test_entries_that_the_first_page_counts_are_missed(tmp_path: Path) -> None:
    log = made(tmp_path / "log", LEDGER, 3)
    with log.writing() as turn:  # two entries in one commit are one too many
        head = turn.append(turn.chain()[-1].head, "asked", {}).head
        turn.append(head, "asked", {})
    with pytest.raises(FileError, match="5 of the 4 entries"):
        places(log)
