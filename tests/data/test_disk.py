"""Writing files: all of them or none, whoever interrupts or writes at the same time."""

import os
import signal
import stat
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data import disk
from shoal.data.disk import together
from shoal.errors import FileError

replace = os.replace


def _pair(folder: Path, content: bytes) -> None:
    with together(folder / "a", folder / "b") as files:
        for file in files:
            file.write(content)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_files_waits_for_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool, number: signal.Signals
) -> None:
    if old:
        _pair(tmp_path, b"old")

    def interrupted(part: Any, target: Any) -> None:
        replace(part, target)
        signal.raise_signal(number)

    monkeypatch.setattr(os, "replace", interrupted)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _pair(tmp_path, b"new")
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a": b"new",
        "b": b"new",
    }


def test_files_of_two_writers_are_never_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halfway = threading.Event()

    def slowly(part: Any, target: Any) -> None:
        replace(part, target)
        if not halfway.is_set():
            halfway.set()
            time.sleep(0.05)  # long enough for the other one

    monkeypatch.setattr(os, "replace", slowly)
    first = threading.Thread(target=_pair, args=(tmp_path, b"first"))
    first.start()
    halfway.wait()
    _pair(tmp_path, b"second")
    first.join()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a": b"second",
        "b": b"second",
    }


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError, OSError(28, "No space left on device")]
)
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: Any
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")
    expected = FileError if isinstance(error, OSError) else error

    def interrupted() -> None:
        with disk.replacing(path) as file:
            file.write(b"half of the n")
            raise error

    with pytest.raises(expected):
        interrupted()
    assert [found.name for found in tmp_path.iterdir()] == ["t.csv"]
    assert path.read_text() == "old"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    (tmp_path / "real.csv").write_text("private")
    os.link(tmp_path / "real.csv", tmp_path / "hard.csv")
    for name, target in (("link.csv", "real.csv"), ("dangling.csv", "absent.csv")):
        (tmp_path / name).symlink_to(tmp_path / target)
        with pytest.raises(FileError, match="is a symbolic link"):
            shoal.write(frame, tmp_path / name)
    assert not (tmp_path / "absent.csv").exists()
    shoal.write(frame, tmp_path / "hard.csv")
    assert (tmp_path / "hard.csv").read_text() == "a\n1\n"
    assert (tmp_path / "real.csv").read_text() == "private"
    (tmp_path / "folder").symlink_to(tmp_path)
    shoal.write(frame, tmp_path / "folder" / "new.csv")
    assert (tmp_path / "new.csv").is_file()


def test_a_written_file_has_the_permissions_of_the_one_before_or_the_usual(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    shoal.write(frame, tmp_path / "own.csv")
    (tmp_path / "own.csv").chmod(0o600)
    shoal.write(frame, tmp_path / "own.csv")
    assert stat.S_IMODE((tmp_path / "own.csv").stat().st_mode) == 0o600
    shoal.write(frame, tmp_path / "real.csv")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((tmp_path / "real.csv").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*: No such file or directory"):
        shoal.write(pl.DataFrame({"a": [1]}), tmp_path / "absent" / "t.csv")
    with pytest.raises(FileError, match="directory or a device"):
        shoal.write(pl.DataFrame({"a": [1]}), tmp_path, format="csv")


def test_a_server_may_write_again_what_it_has_read(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    with disk.guarding():
        disk.reading(path)
        with pytest.raises(FileError, match="is what the command reads"):
            disk.place_of(path)
        with disk.unguarded():
            disk.reading(path)
            assert disk.place_of(path) == path
        with pytest.raises(FileError, match="is what the command reads"):
            disk.place_of(path)
