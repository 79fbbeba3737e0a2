"""An audit is durable: no changed log, no damaged file and no lock that fails goes unnoticed.

The same tests run on SQLite and on a private PostgreSQL server.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from shoal.audit import Audit, Reply
from shoal.audit.store import Store, database_at
from shoal.errors import FileError, ParameterError
from shoal.log import custody
from tests.audit.salaries import (
    NAMES,
    VALUES,
    Cut,
    made,
)


def test_a_store_is_never_overwritten_and_only_its_owner_may_read_it(place: str) -> None:
    audit = made(place)
    with pytest.raises(FileError, match="already"):
        made(place)
    assert audit.ask("max(salary)") == Reply(max(VALUES))
    if "://" not in place:
        assert os.stat(place).st_mode & 0o777 == 0o600


def test_an_empty_file_that_was_there_becomes_the_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.touch()
    file.chmod(0o644)
    made(str(file))
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_commit_is_on_the_disk(place: str) -> None:
    made(place)
    with Store(place).writing() as turn:
        if "://" in place:
            assert turn.run("SHOW synchronous_commit").fetchone() == ("on",)
        else:
            assert turn.run("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
            assert turn.run("PRAGMA journal_mode").fetchone() == ("delete",)


def test_making_an_audit_is_on_the_disk_too(tmp_path: Path) -> None:
    with database_at(tmp_path / "a").creating() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)


def test_nobody_waits_forever_for_a_turn(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = made(place)
    monkeypatch.setattr("shoal.log.sqlite.PATIENCE", 0.2)
    monkeypatch.setattr("shoal.log.postgres.PATIENCE", 0.2)
    another = Audit.open(place)
    with Store(place).writing(), pytest.raises(FileError, match="in use by others"):
        another.ask("max(salary)")
    assert (
        another.ask("max(salary)") == audit.ask("max(salary)") == Reply(max(VALUES))
    )  # whoever gave up left no lock behind


def test_no_audit_is_told_apart_from_a_broken_one(tmp_path: Path, place: str) -> None:
    with pytest.raises(FileError, match="no audit"):
        Audit.open(place)
    (tmp_path / "text").write_text("no database at all, and long enough to be looked at")
    with pytest.raises(FileError, match="not an audit"):
        Audit.open(tmp_path / "text")
    with pytest.raises(ParameterError, match="mysql"):
        Audit.open("mysql://here/people")


def _run(place: str, statement: str, *values: object) -> None:
    with Store(place).writing() as turn:
        turn.run(statement, *values)


def test_changed_data_and_a_changed_log_are_noticed(place: str) -> None:
    made(place).ask("max(salary)")
    content = json.dumps({"what": "asked"})
    for statement, values in (
        ("UPDATE shoal_entries SET content = ? WHERE number = 2", (content,)),
        ("DELETE FROM shoal_entries WHERE number = 1", ()),
    ):
        with suppress(Cut), Store(place).writing() as turn:
            turn.run(statement, *values)
            with pytest.raises(FileError, match="changed"):
                turn.chain()
            raise Cut
    assert Audit.open(place).transcript()
    _run(
        place,
        "UPDATE shoal_data SET content = replace(content, 'A', 'B') WHERE name = 'secret: salary'",
    )
    with pytest.raises(FileError, match="the data was changed"):
        Audit.open(place)


@pytest.mark.parametrize("others", [False, True])
def test_a_log_that_is_cut_or_put_back_under_a_running_process_is_noticed(
    place: str, others: bool
) -> None:
    """Also where another process has asked since, so that the same number is taken again."""
    audit = made(place)
    for age in (30, 40, 50):
        audit.ask(f"max(salary) where age > {age}")
    _run(place, "DELETE FROM shoal_entries WHERE number > 2")
    if others:
        another = Audit.open(place)
        for age in (35, 45, 55):
            another.ask(f"max(salary) where age < {age}")
    number = len(Audit.open(place).transcript())
    for use in (
        lambda: audit.ask("max(salary) where dept = 'X'"),
        audit.transcript,
        audit.state,
        audit.head,
    ):
        with pytest.raises(FileError, match="no longer has entry 4"):
            use()
    assert len(Audit.open(place).transcript()) == number
    _run(place, "DELETE FROM shoal_entries")
    with pytest.raises(FileError, match="no entries"):
        Audit.open(place)


def test_keys_are_shown_once_and_kept_as_digests(place: str) -> None:
    audit = made(place)
    key = audit.add_key("Ann")
    audit.add_key("Bea", "owner")
    there = audit.keys()
    assert [(one.name, one.role) for one in there] == [("Ann", "analyst"), ("Bea", "owner")]
    assert key not in repr(there)
    with pytest.raises(ParameterError, match="already"):
        audit.add_key("Ann")
    with pytest.raises(ParameterError, match="role"):
        audit.add_key("Cid", "admin")
    audit.remove_key("Ann")
    with pytest.raises(ParameterError, match="nobody"):
        audit.remove_key("Ann")


# The file itself


def heads(content: bytes) -> Iterator[tuple[int, int]]:
    """Every bit of the header and of the head of each page."""
    for page in range(0, len(content), 4096):
        for place in range(page, page + (108 if page == 0 else 12)):
            yield from ((place, bit) for bit in range(8))


def forgotten(file: Path, asked: int, clean: type[Exception] = FileError) -> list[tuple[int, int]]:
    """The bits that make an audit forget what was asked, once they are flipped."""
    good, found = file.read_bytes(), []
    for place, bit in heads(good):
        bad = bytearray(good)
        bad[place] ^= 1 << bit
        file.write_bytes(bad)
        with suppress(clean):
            if len(Audit.open(file).transcript()) < asked:
                found.append((place, bit))
    file.write_bytes(good)
    return found


def test_no_flipped_bit_makes_an_audit_forget_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = made(str(tmp_path / "people.audit"))
    for name in NAMES[:2]:
        audit.ask(audit.query("max", "salary", people=[name, *NAMES[10:20]]))
    assert forgotten(tmp_path / "people.audit", 2) == []
    monkeypatch.setattr("shoal.log.sqlite.sound", lambda connection: True)
    assert forgotten(
        tmp_path / "people.audit", 2, Exception
    )  # a twin that follows its chain and no more


def test_an_audit_notices_locks_that_do_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = made(str(tmp_path / "people.audit"))
    connect = sqlite3.connect
    monkeypatch.setattr(custody, "_tried", set())
    monkeypatch.setattr(
        sqlite3, "connect", lambda place, **given: connect(f"{place}&nolock=1", **given)
    )
    with pytest.raises(FileError, match="locks do not work on this drive"):
        audit.ask("max(salary)")
    with pytest.raises(FileError, match="locks do not work on this drive"):
        made(str(tmp_path / "other.audit"))
