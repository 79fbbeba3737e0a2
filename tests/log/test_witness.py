"""A witness keeps digests elsewhere: a changed line is noticed, one cut short is dropped."""

from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.log.witness import Seen, Witness, state_folder

ENTRIES = [
    Seen(1, "aa"),
    Seen(2, "bb", {"epsilon": "ln(2)", "delta": None}),
    Seen(3, "cc", moved="/elsewhere"),
]


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    made = Witness(tmp_path / "folder", "0123456789" * 6)
    made.write(ENTRIES[:2])
    return made


def test_a_line_says_what_was_seen() -> None:
    for entry in ENTRIES:
        assert Seen.of(entry.line().removesuffix(b"\n")) == entry


def test_a_changed_line_is_known_as_such() -> None:
    line = ENTRIES[1].line().removesuffix(b"\n")
    for place in range(len(line)):
        for bit in range(8):
            changed = bytearray(line)
            changed[place] ^= 1 << bit
            assert Seen.of(bytes(changed)) is None


def test_entries_are_added_at_the_end(witness: Witness) -> None:
    witness.add(ENTRIES[2:])
    assert witness.seen() == ENTRIES
    assert witness.last() == ENTRIES[2]
    assert witness.path.name == "01234567890123456789012345678901.witness"
    assert witness.path.stat().st_mode & 0o777 == 0o600
    assert witness.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_line_that_was_cut_short_is_dropped(witness: Witness) -> None:
    content = witness.path.read_bytes()
    witness.path.write_bytes(content + ENTRIES[2].line()[:-5])
    assert witness.last() == ENTRIES[1]
    witness.add(ENTRIES[2:])
    assert witness.seen() == ENTRIES


def test_a_witness_that_is_missing_knows_nothing(tmp_path: Path, witness: Witness) -> None:
    missing = Witness(tmp_path, "ab")
    assert (missing.last(), missing.seen(), missing.exists()) == (None, [], False)
    with pytest.raises(FileError, match="cannot write the witness"):
        missing.add(ENTRIES)
    witness.remove()
    witness.remove()
    assert not witness.exists()


def test_a_witness_that_is_damaged_at_its_end_is_refused(witness: Witness) -> None:
    for content in (b"", b"x\n"):
        witness.path.write_bytes(content)
        with pytest.raises(FileError, match="is damaged"):
            witness.last()


def test_witnesses_are_the_same_by_their_place(tmp_path: Path) -> None:
    assert Witness(tmp_path, "ab") == Witness(tmp_path, "ab")
    assert len({Witness(tmp_path, "ab"), Witness(tmp_path, "ab"), Witness(tmp_path, "cd")}) == 2


def test_the_usual_place_is_with_the_state_of_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "shoal" / "witnesses"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert state_folder().is_relative_to(tmp_path / "home")


def test_without_a_home_the_fix_is_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(FileError, match="give a folder with `witness`"):
        state_folder()
