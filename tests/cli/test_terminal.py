"""What is shown where: JSON without infinity, and a progress bar on terminals only."""

import json
import math
import os
import pty
import subprocess
import sys

import pytest

from shoal.cli import terminal


def test_infinity_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_json({"figure": math.inf, "some": [math.nan, 1.5]})
    assert json.loads(capsys.readouterr().out) == {"figure": None, "some": [None, 1.5]}


def test_a_progress_bar_appears_on_a_terminal_only() -> None:
    code = """if True:
        import time
        from shoal.cli import terminal
        terminal.PATIENCE = 0
        with terminal.working("reading") as report:
            report(1, 2, "half way")
            time.sleep(0.3)
    """
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert quiet.stdout == quiet.stderr == ""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    printed, _ = process.communicate()
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert printed == b""
    assert "half way" in shown


def test_nothing_appears_before_a_second_is_over() -> None:
    code = "from shoal.cli import terminal\nwith terminal.working('reading'): pass\nprint('done')"
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs)
    printed, _ = process.communicate()
    os.write(theirs, b"|")
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert printed == b"done\n"
    assert "reading" not in shown
