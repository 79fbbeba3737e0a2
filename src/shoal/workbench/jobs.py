"""Jobs: what takes longer than a page may. Each runs in a process of its own.

A job survives a closed tab, and the workbench itself: its state is in files of the project, and a
lock that its process holds says whether it still runs. Nobody has to be there to go on with jobs
that wait: their processes take turns by themselves. Uses `projects`; screens start jobs, and
`working` carries them out.
"""

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from shoal.data.disk import replacing
from shoal.errors import FileError, ParameterError, ShoalError
from shoal.workbench.work import QUEUED

if TYPE_CHECKING:
    from shoal.workbench.projects import Project

__all__ = ["Job", "Jobs"]

State = Literal["waiting", "running", "done", "failed", "cancelled", "lost"]

UNFINISHED = ("waiting", "running")

GRACE = 20.0
"""Seconds that a job has to end by itself when it is told to; after that it can be killed."""

KEPT = 100
"""Jobs of a project that are remembered; of older ones only what they made is left."""

_RESERVE = 1 << 16
"""Bytes of the disk that are put by, so that a job can say on a full one what came of it."""


@dataclass(frozen=True)
class Job:
    """A job in its folder."""

    folder: Path

    @property
    def key(self) -> str:
        """What it is called in addresses; keys are in the order in which jobs were asked for."""
        return self.folder.name

    @property
    def task(self) -> dict[str, Any]:
        """What is to be done: `kind`, `arguments`, `who` asked and `when`."""
        return _read(self.folder / "task.json")

    @property
    def kind(self) -> str:
        """What kind of work it is."""
        return str(self.task.get("kind", ""))

    @property
    def state(self) -> State:
        """How it stands; "lost" if its process is gone without a word."""
        said = self._said
        if said not in UNFINISHED or self._alive:
            return said
        # It may have ended between the two looks.
        last = self._said
        if last not in UNFINISHED:
            return last
        # What was told to stop before it began has not done anything.
        return "cancelled" if last == "waiting" and self.is_stopping else "lost"

    @property
    def _said(self) -> State:
        said: Any = _read(self.folder / "state.json").get("state")
        known: State = said if said in get_args(State) else "running"
        return known

    @property
    def is_unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in UNFINISHED

    @property
    def _alive(self) -> bool:
        """Whether its process lives: it has the lock from its first moment to its last."""
        try:
            with open(self.folder / "lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    @property
    def ahead(self) -> int:
        """How many jobs of the project wait before it."""
        earlier = (Job(path) for path in _folders(self.folder.parent) if path.name < self.key)
        return sum(job.state == "waiting" for job in earlier)

    @property
    def progress(self) -> tuple[int, int, str]:
        """How much is done, of how much, and what is being done."""
        state = _read(self.folder / "state.json")
        return state.get("done", 0), state.get("total", 0), state.get("what", "")

    @property
    def result(self) -> dict[str, Any]:
        """What came of it, once it is done."""
        result: dict[str, Any] = _read(self.folder / "state.json").get("result", {})
        return result

    @property
    def error(self) -> dict[str, str]:
        """What went wrong: `what`, `fix`, `where`."""
        error: dict[str, str] = _read(self.folder / "state.json").get("error", {})
        return error

    @property
    def may_override(self) -> bool:
        """Whether it failed by what a reason overrides."""
        return bool(_read(self.folder / "state.json").get("may_override"))

    @property
    def notes(self) -> list[str]:
        """What stays although it was stopped, such as an entry of the ledger."""
        notes: list[str] = _read(self.folder / "state.json").get("notes", [])
        return notes

    # Stopping

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return (self.folder / "stop").exists()

    @property
    def can_be_killed(self) -> bool:
        """Whether it was told to stop long ago, and still runs."""
        try:
            told = (self.folder / "stop").stat().st_mtime
        except OSError:
            return False
        return time.time() - told > GRACE

    def cancel(self) -> None:
        """Ask it to end; what is half-done leaves nothing behind. Much later: end it at once."""
        if not self.is_unfinished:
            return
        number = signal.SIGKILL if self.can_be_killed else signal.SIGTERM
        # A process that does not listen yet, or swallows the signal, finds the file.
        with suppress(OSError):
            (self.folder / "stop").touch(mode=0o600)
        pid = self._pid
        if pid is not None and self._alive:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    @property
    def _pid(self) -> int | None:
        """The process that has the lock, by what it wrote there."""
        try:
            return int((self.folder / "lock").read_text("ascii"))
        except (OSError, ValueError):
            return None

    def wait(self, seconds: float) -> State:
        """Its state after it has ended, or after some seconds; for tests and the command line."""
        end = time.monotonic() + seconds
        while (state := self.state) in UNFINISHED and time.monotonic() < end:
            time.sleep(0.05)
        return state


class Jobs:
    """Starts jobs, and finds those that were started before."""

    def __init__(self, command: Sequence[str] = ("-m", "shoal.workbench.working")) -> None:
        # -P: the folder in which the workbench was started must not shadow any library.
        self.command = [sys.executable, "-P", *command]

    def start(
        self, project: "Project", kind: str, arguments: Mapping[str, Any], who: str = "owner"
    ) -> Job:
        """Begin a job outside this process, or have it wait for its turn."""
        now = time.time()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + f"-{int(now % 1 * 1e6):06}"
        folder = project.hidden / "jobs" / f"{stamp}-{secrets.token_hex(3)}"
        task = {"kind": kind, "arguments": dict(arguments), "who": who, "when": now}
        task["recipe"] = os.fspath(project.recipe.absolute())
        task["project"] = project.key
        begins_as: State = "waiting" if kind in QUEUED else "running"
        try:
            folder.mkdir(parents=True, mode=0o700)
            write(folder / "task.json", task)
            write(folder / "state.json", {"state": begins_as})
            (folder / "reserve").write_bytes(bytes(_RESERVE))
            self._begin(folder)
        except (OSError, ShoalError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, ShoalError):
                raise
            raise FileError(
                f"the job cannot be started: {error.strerror}", "make room for it, and try again"
            ) from None
        _forget(folder.parent)
        return Job(folder)

    def _begin(self, folder: Path) -> None:
        """Start the process of a job, which takes over the lock of its folder.

        Its messages go nowhere unless somebody looks for a bug: they may hold values of the table.
        """
        with open(folder / "lock", "xb", buffering=0) as lock:
            lock.write(b" " * 20)  # room for the number of the process, also on a full disk
            fcntl.flock(lock, fcntl.LOCK_EX)
            says: Any = subprocess.DEVNULL
            if os.environ.get("SHOAL_DEBUG"):
                says = os.open(folder / "log", os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                process = subprocess.Popen(
                    [*self.command, os.fspath(folder), str(lock.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=says,
                    stderr=says,
                    start_new_session=True,
                    pass_fds=[lock.fileno()],
                )
            finally:
                if says != subprocess.DEVNULL:
                    os.close(says)
        # Nobody else would collect it once it has ended.
        threading.Thread(target=process.wait, daemon=True).start()

    def of(self, project: "Project", kind: str | None = None) -> list[Job]:
        """The jobs of a project, the newest first."""
        found = [Job(path) for path in reversed(_folders(project.hidden / "jobs"))]
        return [job for job in found if kind is None or job.kind == kind]

    def job(self, project: "Project", key: str) -> Job:
        """A job by its key; ParameterError if there is none."""
        for job in self.of(project):
            if job.key == key:
                return job
        raise ParameterError("there is no such job", "choose one from the list")


def _forget(folder: Path) -> None:
    """Remove the oldest jobs that have ended."""
    for path in _folders(folder)[:-KEPT]:
        if not Job(path).is_unfinished:
            shutil.rmtree(path, ignore_errors=True)


def _folders(place: Path) -> list[Path]:
    """The folders of jobs, the oldest first."""
    try:
        return sorted(path for path in place.iterdir() if path.is_dir())
    except OSError:
        return []


def write(path: Path, content: object) -> None:
    """A small file of JSON, as a whole or not at all."""
    with replacing(path) as file:
        file.write(json.dumps(content).encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
