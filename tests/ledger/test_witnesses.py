"""Going back to an older copy of a ledger is noticed, wherever its witness went."""

import contextlib
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import (
    BudgetError,
    FileError,
    InputError,
    ParameterError,
)
from shoal.ledger import Ledger
from shoal.ledger.shown import earlier
from shoal.log.witness import Witness
from tests.ledger.private import NoCoins, Private, people, run


def test_going_back_to_an_older_copy_is_noticed_and_adopting_it_keeps_what_was_spent(
    ledger: Ledger,
) -> None:
    copies = [ledger.path.read_bytes()]
    for cost in ("0.5", "ln(2)"):
        ledger.release(Private(cost), people())
        copies.append(ledger.path.read_bytes())
    spent = ledger.spent()
    for copy in copies[:-1]:
        ledger.path.write_bytes(copy)
        with pytest.raises(FileError, match="older copy"):
            ledger.release(Private("0.1"), people(), chance=NoCoins())
        with pytest.raises(FileError, match="older copy"):
            ledger.spent()
        assert "older copy" in ledger.verify()[0]
        assert ledger.path.read_bytes() == copy
    ledger.path.write_bytes(copies[0])
    adopted = ledger.adopt()
    assert (adopted.what, adopted.facts.lost, adopted.facts.cost.unit) == ("adopted", 4, "row")
    assert ledger.verify() == []
    assert ledger.spent().delta == spent.delta
    assert 0 <= ledger.spent().epsilon - spent.epsilon < Fraction("1e-25")
    with pytest.raises(BudgetError):
        ledger.release(Private(1), people(), chance=NoCoins())
    ledger.release(Private("0.1"), people())
    with pytest.raises(ParameterError, match="nothing to adopt"):
        ledger.adopt()


def test_two_copies_that_go_their_own_ways_are_noticed(ledger: Ledger, tmp_path: Path) -> None:
    shutil.copy(ledger.path, tmp_path / "copy")
    other = Ledger(tmp_path / "copy")
    ledger.release(Private("0.5"), people())
    with pytest.raises(FileError, match="older copy"):
        other.release(Private("0.5"), people(), chance=NoCoins())


def test_a_missing_witness_is_told_and_stops_entries_until_the_ledger_is_adopted(
    ledger: Ledger,
) -> None:
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    ledger.witness.unlink()
    assert ledger.spent().epsilon == Fraction("0.5")  # looking is still possible
    assert "missing" in ledger.verify()[0]
    for change in (
        lambda: ledger.release(Private("0.5"), people()),
        lambda: ledger.set_budget(epsilon=3),
    ):
        with pytest.raises(FileError, match=r"is missing.*shoal ledger adopt"):
            change()
    assert ledger.adopt().facts.lost == 0
    assert ledger.verify() == []
    assert ledger.spent().epsilon == Fraction("0.5")


def test_what_a_damaged_witness_knew_has_no_bound(ledger: Ledger) -> None:
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    lines = ledger.witness.read_bytes().splitlines(keepends=True)
    ledger.witness.write_bytes(lines[0] + lines[1].replace(b'"0.5"', b'"0.1"') + lines[2])
    assert ledger.verify() == []  # the last line vouches for those before it
    ledger.path.write_bytes(old)
    assert ledger.adopt().facts.cost.delta == 1
    ledger.witness.write_bytes(b"x\n")
    with pytest.raises(FileError, match="damaged"):
        ledger.spent()


def test_a_witness_knows_nothing_of_the_data(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2", limits={"a": "1/3"})
    ledger.release(Private(), people())
    assert ledger.witness is not None
    assert ledger.witness.stat().st_mode & 0o777 == 0o600
    words = set(re.findall(r"[a-z]+", re.sub(r"\b[0-9a-f]{32,}\b", "", ledger.witness.read_text())))
    assert words == {"null", "epsilon", "delta", "definition", "standard", "unit", "row", "e"}


def test_a_witness_goes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "ledger"
    with pytest.raises(ParameterError, match="same folder"):
        Ledger.create(path, witness=tmp_path / "in" / "." / "")
    ledger = Ledger.create(path, witness=tmp_path / "safe")
    old = path.read_bytes()
    assert ledger.witness is not None
    assert ledger.witness.parent == tmp_path / "safe"
    with pytest.raises(FileError, match="published along"):
        ledger.release(Private(), people(), tmp_path / "safe", chance=NoCoins())
    ledger.adopt(True)
    assert ledger.witness.parent == tmp_path / "state" / "shoal" / "witnesses"
    assert not [*(tmp_path / "safe").iterdir()]
    ledger.adopt(False)
    assert not ledger.witness
    assert ledger.concerns() == []
    ledger.release(Private(), people())
    path.write_bytes(old)
    with pytest.raises(FileError, match="older copy"):
        ledger.release(Private(), people(), chance=NoCoins())


def test_a_witness_that_cannot_be_written_stops_a_release_that_then_counts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Witness, "_put", full)
        with pytest.raises(FileError, match=r"No space left.*entry 2 .* is made, and counts"):
            ledger.release(Private("0.5"), people(), chance=NoCoins())
        with pytest.raises(FileError, match="No space left"):
            Ledger.create(ledger.path.with_name("other"))
    assert ledger.spent().epsilon == Fraction("0.5")
    ledger.release(Private("0.5"), people())  # the witness catches up
    assert ledger.verify() == []
    assert ledger.witness is not None
    assert len(ledger.witness.read_bytes().splitlines()) == 4


def test_a_line_that_was_cut_short_is_written_anew(ledger: Ledger) -> None:
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    whole = ledger.witness.read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole)):
        ledger.witness.write_bytes(whole[:length])
        assert ledger.verify() == []
    ledger.set_budget(epsilon=3)
    assert ledger.witness.read_bytes().startswith(whole)
    assert len(ledger.witness.read_bytes().splitlines()) == 4


def test_an_adoption_that_is_cut_short_counts_what_was_lost_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    ledger.path.write_bytes(old)
    write = Witness.write

    def die(self: Witness, entries: Any) -> None:
        write(self, entries)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Witness, "write", die)
        with pytest.raises(KeyboardInterrupt):
            ledger.adopt()
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()
    assert ledger.adopt().facts.lost == 1
    assert ledger.spent().epsilon == Fraction("0.5")
    assert ledger.verify() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [(False, "w1"), ("w1", "w2"), ("w1", True), (True, "w1"), (False, True), ("w1", False)],
)
@pytest.mark.parametrize("stuck", [False, True])
def test_a_copy_from_before_its_witness_moved_is_an_older_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any, after: Any, stuck: bool
) -> None:
    def place(name: str | bool) -> Path | bool:
        return tmp_path / name if isinstance(name, str) else name

    path = tmp_path / "ledger"
    ledger = Ledger.create(path, epsilon=9, delta="1e-5", witness=place(before))
    old = path.read_bytes()
    if stuck:  # killed before the old one was removed, or it could not be
        monkeypatch.setattr(Witness, "remove", lambda self: None)
    assert ledger.adopt(place(after)).facts.lost == 0
    for _ in range(2):
        ledger.release(Private("0.5"), people())
    assert (ledger.verify(), ledger.concerns()) == ([], [])
    path.write_bytes(old)
    assert ledger.verify() != []
    assert ledger.concerns() != []
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()
    with pytest.raises(FileError, match="shoal ledger adopt"):
        ledger.release(Private("0.5"), people(), chance=NoCoins())
    adopted = ledger.adopt()
    known = 1 if after is False else 5  # without a witness, nothing after the move is known
    assert adopted.facts.lost == known
    assert adopted.facts.witness == (str(place(after)) if isinstance(after, str) else after)
    assert ledger.spent().epsilon == (0 if after is False else 1)
    assert (ledger.verify(), ledger.concerns()) == ([], [])
    ledger.release(Private("0.5"), people())
    assert ledger.verify() == []


def test_a_copy_from_before_several_moves_is_an_older_copy(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger.create(path, epsilon=9, delta="1e-5", witness=tmp_path / "w0")
    copies = [path.read_bytes()]
    for name in ("w1", "w2", "w0", "w3"):
        ledger.adopt(tmp_path / name)
        ledger.release(Private("0.5"), people())
        copies.append(path.read_bytes())
    for copy in copies[:-1]:
        path.write_bytes(copy)
        with pytest.raises(FileError, match="older copy"):
            ledger.spent()
    path.write_bytes(copies[1])
    ledger.adopt()
    assert ledger.spent().epsilon == 2
    assert ledger.verify() == []
    path.write_bytes(copies[-1])  # is found again, and no longer the one that holds
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()


@pytest.mark.parametrize("before", [False, True, "w1"])
@pytest.mark.parametrize("after", [False, True, "w2"])
def test_a_move_of_the_witness_that_is_cut_short_anywhere_can_be_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any, after: Any
) -> None:
    if before == after:
        return

    def place(name: str | bool, folder: Path) -> Path | bool:
        return folder / name if isinstance(name, str) else name

    write = Witness.write
    for allowed in range(4):
        folder = tmp_path / str(allowed)
        folder.mkdir()
        ledger = Ledger.create(
            folder / "ledger", epsilon=9, delta="1e-5", witness=place(before, folder)
        )
        ledger.release(Private("0.5"), people())
        left = [True] * allowed

        def die(self: Witness, entries: Any, left: list[bool] = left) -> None:
            if not left:
                raise KeyboardInterrupt
            left.pop()
            write(self, entries)

        with monkeypatch.context() as patched:
            patched.setattr(Witness, "write", die)
            with contextlib.suppress(KeyboardInterrupt):
                ledger.adopt(place(after, folder))
        if ledger.verify():
            ledger.adopt()
        assert ledger.verify() == []
        ledger.release(Private("0.5"), people())
        with contextlib.suppress(ParameterError):  # it may have moved already
            ledger.adopt(place(after, folder))
        assert ledger.verify() == []
        assert ledger.spent().epsilon == 1


def test_without_a_place_to_note_it_a_ledger_that_had_no_witness_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ledger = Ledger.create(tmp_path / "ledger", witness=False)
    before = ledger.path.read_bytes()
    with pytest.raises(FileError, match="cannot write the witness"):
        ledger.adopt(tmp_path / "w1")
    assert ledger.path.read_bytes() == before
    assert ledger.verify() == []
    moving = Ledger.create(tmp_path / "moving", witness=tmp_path / "w1")
    old = moving.path.read_bytes()
    moving.adopt(tmp_path / "w2")  # the witness that it had tells
    moving.release(Private("0.5"), people())
    assert moving.verify() == []
    moving.path.write_bytes(old)
    with pytest.raises(FileError, match="older copy"):
        moving.spent()
    moving.adopt()
    assert moving.spent().epsilon == Fraction("0.5")


def test_lost_entries_leave_gamma_undecided(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2")
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    ledger.path.write_bytes(old)
    ledger.adopt()
    with pytest.raises(InputError, match="is not known"):
        earlier(ledger.account())


def test_adopting_on_the_command_line(tmp_path: Path) -> None:
    path, safe = tmp_path / "ledger", tmp_path / "safe"
    both = run("ledger", "create", str(path), "--witness", str(safe), "--no-witness")
    assert (both.exit_code, path.exists()) == (2, False)
    made = run("ledger", "create", str(path), "--witness", str(safe))
    assert f"witness: {safe}" in made.stderr
    old = path.read_bytes()
    Ledger(path).release(Private("0.5"), people())
    path.write_bytes(old)
    refused = run("ledger", "show", str(path))
    assert refused.exit_code == 2
    assert f"shoal ledger adopt {path}" in refused.stderr
    assert run("ledger", "verify", str(path)).exit_code == 1
    adopted = run("ledger", "adopt", str(path))
    assert (
        "2 entries that the witness knew are lost; what they spent counts: ε 0.5, δ 1e-6"
        in adopted.stderr
    )
    shown = run("ledger", "show", str(path))
    assert re.search(r"spent +ε 0.5, δ 1e-6", shown.stdout)
    assert "adopted this copy, 2 entries lost" in shown.stdout
    assert json.loads(run("ledger", "show", str(path), "--json").stdout)["witness"].startswith(
        str(safe)
    )
    assert run("ledger", "adopt", str(path), "--no-witness").exit_code == 0
    assert Ledger(path).witness is None
    unwatched = run("ledger", "create", str(tmp_path / "other"), "--no-witness")
    assert "witness: none" in unwatched.stderr
