"""`python -m shoal.workbench.working FOLDER LOCK`: the process of one job.

It was given the lock of the job's folder when it was started, and keeps it as long as it lives. It
waits for its turn if others are before it, tells how far it is, and writes down what came of it.
Uses `jobs` and the modules of `work`.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from shoal.errors import FileError, OverridableError, ShoalError, Stopped
from shoal.workbench.jobs import Job, write
from shoal.workbench.work import KINDS, QUEUED

__all__ = ["main"]

PAUSE = 0.2
"""Seconds between two notes of the progress, and between two looks whether it is one's turn."""

SLOTS = 1 if (os.cpu_count() or 1) < 4 else 2
"""Queued jobs of one user that run at a time, whatever their projects."""

_LONGEST = 120
"""Characters of what is being done, at most."""

_TRIES = 30
"""How often a job tries to say what came of it, while the disk is full."""


def main(folder: Path, lock: int) -> None:
    """Carry out the job in a folder, of which this process has the lock."""
    signal.signal(signal.SIGTERM, _stop)
    os.set_inheritable(lock, False)
    with suppress(OSError):
        # Some network drives keep locks by process.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.pwrite(lock, b"%-20d" % os.getpid(), 0)
    with suppress(OSError):
        os.nice(5)  # pages come first
    job = Job(folder)
    end = _carried_out(job)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _say(job, end)


def _stop(number: int, frame: FrameType | None) -> None:
    # Once is enough: what ends it must not be stopped itself.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _carried_out(job: Job) -> dict[str, Any]:
    """The state in which a job ends. Only what comes after the work's own end is never stopped."""
    result: dict[str, Any] | None = None
    try:
        task = job.task
        slot = _turn(job) if task["kind"] in QUEUED else None
        progress = _progress(job)
        progress(0, 0, "")
        # Here, so that those who wait take little memory.
        from shoal.workbench.projects import Project

        project = Project(task["project"], Path(task["recipe"]))
        work = import_module(f"shoal.workbench.work.{KINDS[task['kind']]}")
        result = work.run(project, task["arguments"], progress)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if slot is not None:
            os.close(slot)
    except (KeyboardInterrupt, Stopped) as error:
        if result is None:
            return {"state": "cancelled", "notes": _notes(error)}
    except ShoalError as error:
        parts = {"what": error.what, "fix": error.fix, "where": error.where}
        parts |= {"option": error.option, "given": error.given or "", "text": str(error)}
        may_override = isinstance(error, OverridableError)
        return {"state": "failed", "error": parts, "may_override": may_override}
    except MemoryError as error:
        what = "out of memory"
        fix = "use fewer columns, or a machine with more of it"
        return _failed(what, "; ".join([fix, *_notes(error)]))
    except Exception as error:
        from shoal.service.log import place_of

        # Its own text may hold a value of the table.
        what = f"a bug in Shoal ({place_of(error)})"
        return _failed(what, "; ".join(["please report it", *_notes(error)]))
    return {"state": "done", "result": result}


def _notes(error: BaseException) -> list[str]:
    """What a ledger adds to an error: the entry that counts all the same."""
    return list(getattr(error, "__notes__", ()))


def _failed(what: str, fix: str) -> dict[str, Any]:
    error = {"what": what, "fix": fix, "where": "", "text": f"{what}; {fix}"}
    return {"state": "failed", "error": error}


# Turns


def _turn(job: Job) -> int:
    """Wait until it is this job's turn; what it holds until it has ended."""
    while True:
        if job.is_stopping:
            raise Stopped("stopped before it began")
        if not job.ahead:
            for place in _slots(job):
                if (slot := _taken(place)) is not None:
                    return slot
        time.sleep(PAUSE)


def _slots(job: Job) -> list[Path]:
    """The files of which each job that runs holds one: one set for all projects of a user."""
    from shoal.log.witness import state_folder

    try:
        folder = state_folder().parent / "turns"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileError, OSError):
        folder = job.folder.parent.parent
    return [folder / f"turn-{number}" for number in range(SLOTS)]


def _taken(place: Path) -> int | None:
    """The lock of a file; None if somebody else has it. It is gone with the process."""
    slot = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(slot)
        return None
    return slot


# What it says


def _progress(job: Job) -> Callable[[int, int, str], None]:
    """What a method reports to; notes are far enough apart to cost nothing.

    What it does is noted whenever that changes: it may do it for long without reporting again.
    """
    last, doing = 0.0, ""

    def report(done: int, total: int, what: str) -> None:
        nonlocal last, doing
        now = time.monotonic()
        if what == doing and now - last < PAUSE:
            return
        last, doing = now, what
        if job.is_stopping:
            raise Stopped("stopped")
        state = {"state": "running", "done": int(done), "total": int(total or 0)}
        # A release must not fail, after all it has spent, as nobody can be told how far it is.
        with suppress(FileError, OSError):
            write(job.folder / "state.json", {**state, "what": what[:_LONGEST]})

    return report


def _say(job: Job, end: dict[str, Any]) -> None:
    """Write down the end, also on a full disk: there something was put by for it."""
    for _ in range(_TRIES):
        try:
            write(job.folder / "state.json", end)
            break
        except (FileError, OSError):
            (job.folder / "reserve").unlink(missing_ok=True)
            time.sleep(PAUSE)
    (job.folder / "reserve").unlink(missing_ok=True)


if __name__ == "__main__":
    # By its own name, which the place of a bug has.
    from shoal.workbench import working

    working.main(Path(sys.argv[1]), int(sys.argv[2]))
