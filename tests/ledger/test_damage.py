"""No changed byte of a ledger is missed, and none makes it forget what was spent."""

import itertools
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from shoal.errors import (
    BudgetError,
    FileError,
    ShoalError,
)
from shoal.ledger import Ledger
from shoal.ledger.entries import Gamma, GammaSet
from shoal.log.sqlite import Sqlite
from shoal.privacy.promises import DifferentialPrivacy
from tests.ledger.private import NoCoins, Private, chain_of, log_of, people, run, tree


def filled(path: Path) -> Ledger:
    """A ledger with short, long and very long entries, which take pages of every kind."""
    made = Ledger.create(path, epsilon=2, delta="1e-5")
    made.release(Private("ln(2)"), people())
    for length in (10, 1500, 6000, 3):
        _append(made, "x" * length)
    assert made.verify() == []
    return made


def _append(ledger: Ledger, value: str) -> None:
    """An entry as long as a text."""
    facts = GammaSet(Gamma.of(1, {value: "1/2"}))
    with log_of(ledger).writing() as turn:
        turn.append(turn.chain()[-1].head, facts.what, facts.to_dict())


def missed(ledger: Ledger, places: Iterator[int], verify: Callable[[], list[str]]) -> list[int]:
    """The bytes that may be changed without being found."""
    good, unseen = ledger.path.read_bytes(), []
    for place in places:
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        ledger.path.write_bytes(bad)
        if not verify():
            unseen.append(place)
        assert ledger.path.read_bytes() == bytes(bad)  # verifying never writes
    ledger.path.write_bytes(good)
    return unseen


def some_places(content: bytes) -> Iterator[int]:
    """The whole header, and a sample of all other bytes, zero and not."""
    dice = random.Random(5)
    yield from range(112)
    yield from (
        place
        for place in range(112, len(content))
        if dice.random() < (0.08 if content[place] else 0.02)
    )


def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")
    assert missed(ledger, some_places(ledger.path.read_bytes()), ledger.verify) == []
    assert ledger.verify() == []


@pytest.mark.slow
def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")
    assert missed(ledger, iter(range(ledger.path.stat().st_size)), ledger.verify) == []


def test_a_check_of_the_entries_alone_would_miss_bytes(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")

    def entries_only() -> list[str]:
        try:
            ledger.entries()
        except ShoalError as error:
            return [str(error)]
        return []

    assert missed(ledger, some_places(ledger.path.read_bytes()), entries_only)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE shoal_entries SET content = replace(content, '1e-6', '1e-9') WHERE number = 2",
        "UPDATE shoal_entries SET content = content || ' ' WHERE number = 4",
        "UPDATE shoal_entries SET digest = upper(digest) WHERE number = 3",
        "DELETE FROM shoal_entries WHERE number = 3",
        "DELETE FROM shoal_entries WHERE number = 1",
        "DELETE FROM shoal_entries",
        "INSERT INTO shoal_entries SELECT 8, content, digest FROM shoal_entries WHERE number = 7",
        "INSERT INTO shoal_entries SELECT 0, content, digest FROM shoal_entries WHERE number = 1",
        "UPDATE shoal_entries SET number = CASE number WHEN 5 THEN -6 WHEN 6 THEN -5 END "
        "WHERE number IN (5, 6);"
        "UPDATE shoal_entries SET number = -number WHERE number < 0",
        "UPDATE shoal_entries SET content = CAST(content AS BLOB) WHERE number = 7",
        "CREATE TABLE more (a)",
        "PRAGMA user_version = 2; CREATE INDEX i ON shoal_entries (digest)",
        "VACUUM",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_what_others_do_to_the_file_is_found(tmp_path: Path, change: str) -> None:
    ledger = filled(tmp_path / "ledger")
    other = sqlite3.connect(ledger.path)
    other.executescript(change)
    other.close()
    before = tree(tmp_path)
    assert ledger.verify()
    assert tree(tmp_path) == before
    assert run("ledger", "verify", str(ledger.path)).exit_code == 1
    if "entries SET" in change or "DELETE" in change:  # a broken chain takes no further entry
        with pytest.raises(FileError, match="shoal ledger verify"):
            ledger.release(Private("0.1"), people(), chance=NoCoins())


@pytest.mark.parametrize("cut", [b"", b"\0", b"x" * 4096])
def test_bytes_added_or_cut_off_are_found(ledger: Ledger, cut: bytes) -> None:
    good = ledger.path.read_bytes()
    ledger.path.write_bytes(good + cut if cut else good[:-4096])
    assert ledger.verify()


def test_entries_cut_off_at_the_end_are_found_by_a_head_noted_elsewhere(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", epsilon=2, delta="1e-5", witness=False)
    old = ledger.path.read_bytes()
    first = ledger.head()
    ledger.release(Private(), people())
    noted = ledger.head()
    ledger.set_budget(epsilon=5)
    assert ledger.verify(noted) == ledger.verify(first) == ledger.verify(noted.upper()) == []
    ledger.path.write_bytes(old)
    assert ledger.verify() == []  # the file alone cannot tell, and it has no witness
    assert ledger.verify(first) == []
    assert "cut short" in ledger.verify(noted)[0]
    assert run("ledger", "verify", str(ledger.path), "--head", first).exit_code == 0
    assert run("ledger", "verify", str(ledger.path), "--head", noted).exit_code == 1


def test_a_file_with_pages_of_pages_is_accounted_for(tmp_path: Path, unsynced: None) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    log, head = log_of(ledger), chain_of(ledger)[-1].head
    dice = random.Random(1)
    for _ in range(700):  # most take a page of their own; the root has room for about 500 pages
        long = "x" * dice.choice([3800, 3800, 3800, 100, 9000])
        with log.writing() as turn:
            head = turn.append(head, "budget", {"long": long}).head
    assert ledger.path.read_bytes()[4096] == 5
    assert ledger.verify() == []
    content = ledger.path.read_bytes()
    inner = {page for page in range(2, len(content) // 4096) if content[page * 4096] == 5}
    assert inner  # a third level; what SQLite leaves unused there is not accounted for
    places = [place for place in dice.sample(range(len(content)), 30) if place // 4096 not in inner]
    assert missed(ledger, iter(places), ledger.verify) == []


# Hidden entries


def spends(ledger: Ledger) -> str:
    """What becomes of a reservation where all is spent: "refused" or "failed", never more."""
    try:
        ledger.reserve(DifferentialPrivacy(1, "1e-6", "standard"), "private", people())
    except BudgetError:
        return "refused"
    except FileError:
        return "failed"
    return "granted"


def exhausted(path: Path, releases: int) -> Ledger:
    """A ledger with nothing left: one release is on a single page, two on pages of every kind."""
    made = Ledger.create(path, epsilon=2, delta="1e-5", witness=False)
    made.release(Private(Fraction(2, releases)), people())
    if releases > 1:
        _append(made, "x" * 6000)
        made.release(Private(1), people())
    return made


def flipped(ledger: Ledger, places: Iterable[tuple[int, int]]) -> Counter[str]:
    """What happens to a reservation for every bit that is flipped: a byte, and a bit of it."""
    good, found = ledger.path.read_bytes(), Counter[str]()
    for place, bit in places:
        bad = bytearray(good)
        bad[place] ^= 1 << bit
        ledger.path.write_bytes(bad)
        found[spends(ledger)] += 1
    ledger.path.write_bytes(good)
    return found


def heads_and_some(content: bytes) -> list[tuple[int, int]]:
    """Every bit of the header and of the head of each page, and some of all others."""
    dice = random.Random(3)
    heads = [
        *range(100, 108),
        *(page + i for page in range(4096, len(content), 4096) for i in range(8)),
    ]
    others = (place for place in range(len(content)) if content[place] or dice.random() < 0.1)
    sample = dice.sample([*others], 150)
    return [
        *((place, bit) for place in (*range(100), *heads) for bit in range(8)),
        *((place, dice.randrange(8)) for place in sample),
    ]


@pytest.mark.parametrize("releases", [1, 2])
def test_no_flipped_bit_makes_a_ledger_forget_what_was_spent(
    tmp_path: Path, unsynced: None, releases: int
) -> None:
    ledger = exhausted(tmp_path / "ledger", releases)
    found = flipped(ledger, heads_and_some(ledger.path.read_bytes()))
    assert set(found) == {"refused", "failed"}
    assert spends(ledger) == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("releases", [1, 2])
def test_no_flipped_bit_at_all_makes_a_ledger_forget(
    tmp_path: Path, unsynced: None, releases: int
) -> None:
    ledger = exhausted(tmp_path / "ledger", releases)
    every = itertools.product(range(ledger.path.stat().st_size), range(8))
    assert set(flipped(ledger, every)) <= {"refused", "failed"}


def test_a_ledger_that_only_follows_its_chain_would_forget(
    tmp_path: Path, unsynced: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = exhausted(tmp_path / "ledger", 1)
    monkeypatch.setattr(Sqlite, "surplus", lambda *_: iter(()))
    cells = [(4096 + 4, bit) for bit in range(8)]
    assert flipped(ledger, cells)["granted"]


def test_hidden_entries_are_told_by_everything_that_reads(tmp_path: Path) -> None:
    ledger = exhausted(tmp_path / "ledger", 2)
    content = bytearray(ledger.path.read_bytes())
    at = next(  # a page of entries, with more than one
        page + 4
        for page in range(4096, len(content), 4096)
        if content[page] == 13 and content[page + 4] > 1
    )
    content[at] -= 1
    ledger.path.write_bytes(content)
    for look in (ledger.spent, ledger.entries, ledger.head, ledger.concerns):
        with pytest.raises(FileError, match="shoal ledger verify"):
            look()
    assert run("ledger", "verify", str(ledger.path)).exit_code == 1
    assert run("ledger", "show", str(ledger.path)).exit_code == 2
