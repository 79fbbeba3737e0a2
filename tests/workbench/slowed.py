"""`python -m tests.workbench.slowed PLACE FOLDER LOCK`: a job's process that dwells at a place.

There it makes a file "reached" in the folder of the job, and stays for a minute, so that a test
can stop or kill it at this very moment.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from shoal.ledger import Ledger
from shoal.log.store import Turn
from shoal.releases.release import Release
from shoal.workbench import working


def dwelling(place: str, folder: Path) -> None:
    """Make the process dwell at a place of what it will do."""

    def dwell(*_: object) -> dict[str, Any]:
        (folder / "reached").touch()
        time.sleep(60)
        return {}

    def before(whole: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: (dwell(), whole(*given, **named))[1]

    def after(whole: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: (whole(*given, **named), dwell())[0]

    holders: dict[str, tuple[Any, str, Any]] = {
        "in a transaction": (Turn, "append", after),
        "after a transaction": (Ledger, "_testify", before),
        "after the first coin": (Ledger, "complete", before),
        "before the files": (Release, "write", before),
    }
    if place in holders:
        holder, name, how = holders[place]
        setattr(holder, name, how(getattr(holder, name)))
    # A candidate is the work of this one place, and nothing else.
    work: Any = SimpleNamespace(run=dwell if place == "work" else lambda *_: {"made": 1})
    sys.modules["shoal.workbench.work.candidate"] = work


if __name__ == "__main__":
    dwelling(sys.argv[1], Path(sys.argv[2]))
    working.main(Path(sys.argv[2]), int(sys.argv[3]))
