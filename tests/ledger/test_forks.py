"""Where Polars hangs in a fork, nothing is reserved."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.ledger import Ledger
from tests.conftest import ROOT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_in_a_fork_where_polars_hangs_nothing_is_reserved(tmp_path: Path) -> None:
    code = """if True:
        import os, sys
        import polars as pl
        import shoal, shoal.data.frames
        from shoal.ledger import Ledger
        from tests.ledger.private import Private, people
        shoal.data.frames._PATIENCE = 2
        table = people()
        ledger = Ledger.create(sys.argv[1], epsilon=2, delta="1e-5", witness=False)
        if sys.argv[2] == "used":
            pl.DataFrame({"a": [2, 1], "b": [1, 2]}).group_by("a").len()
        if os.fork() == 0:
            try:
                ledger.release(Private(), table)
                print("released")
            except shoal.errors.ForkError as error:
                print(error)
            sys.stdout.flush()
            os._exit(0)
        os.wait()
    """

    def forked(name: str, used: str) -> str:
        command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / name), used]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout

    assert "nothing was reserved" in forked("a", "used")
    assert len(Ledger(tmp_path / "a").entries()) == 1
    assert forked("b", "unused") == "released\n"
    assert len(Ledger(tmp_path / "b").entries()) == 3
