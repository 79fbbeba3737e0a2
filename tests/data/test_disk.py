"""Writing files: all of them or none, whoever interrupts or writes at the same time."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from shoal.data.disk import together

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
