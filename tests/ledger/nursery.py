"""Processes that work on a ledger and are killed, and broken twins that the kills reveal."""

import ctypes
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from shoal.data import disk, files
from shoal.data.tables import Table
from shoal.errors import BudgetError
from shoal.ledger import Ledger, book, witnesses
from shoal.ledger.book import LEDGER
from shoal.ledger.fingerprint import fingerprint
from shoal.log import chain, custody, sqlite, store, witness
from shoal.log.chain import digest_of
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log
from shoal.releases import release
from shoal.releases.release import Release
from tests.conftest import ROOT
from tests.ledger.private import Private, people


@contextmanager
def careless_writing(file: Sqlite, *, alone: bool = False) -> Iterator[Any]:
    """A broken twin: everyone may read while someone is about to write."""
    with closing(sqlite3.connect(file.path, isolation_level=None)) as connection:
        yield _Careless(file, connection)


class _Careless:
    def __init__(self, file: Sqlite, connection: sqlite3.Connection) -> None:
        self.log = Log(file)
        self.connection = connection

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
        if not sql.startswith("INSERT"):
            return self.connection.execute(sql, values)
        time.sleep(0.02)
        with self.log.reading() as now:  # so that the chain is whole all the same
            last = now.chain()[-1]
        number = last.number + 1
        digest = digest_of(LEDGER, last.digest, number, values[1])
        return self.connection.execute(sql, (number, values[1], digest))


class WritesFirst(Ledger):
    """A broken twin: the files appear before the entry."""

    def complete(self, reserved: int, certificate: Any, **options: Any) -> Any:
        self.early = Path(self.path.parent / "out")
        Release(pa.table({"a": ["b"]}), certificate).write(self.early)
        return super().complete(reserved, certificate, **options)


class Forgets(Ledger):
    """A broken twin: what is reserved is spent only when the release is completed."""

    def _enter(self, facts: Any, made: Any = None) -> Any:
        self.later = facts
        number = len(self.entries()) + 1
        return SimpleNamespace(number=number, facts=SimpleNamespace(other_data=False))

    def complete(self, reserved: int, certificate: Any, **options: Any) -> Any:
        Release(pa.table({"a": ["b"]}), certificate).write(self.path.parent / "out")
        return super().complete(super()._enter(self.later).number, certificate, **options)


LOADED = pl, files
"""Modules that load when they are used: here, so that no system call of a child is about that."""

LEDGERS: dict[str, type[Ledger]] = {
    "shipped": Ledger,
    "writes first": WritesFirst,
    "forgets": Forgets,
}
TRACED = {
    module.__file__
    for module in (book, witnesses, chain, custody, sqlite, store, witness, release, disk)
}


def nursery() -> None:
    """Takes jobs from stdin and does each in a fork of itself, which dies where the job says.

    Runs in a process of its own.
    """
    table = people()
    fingerprint(table, b"k")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                _work(job, table, write, libc)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        os.close(write)
        stops, begun, status = 0, time.perf_counter(), 0
        if "stop" in job:
            os.waitpid(child, 0)
            while True:
                if stops == job["stop"]:
                    os.kill(child, signal.SIGKILL)
                    _, status = os.waitpid(child, 0)
                    break
                libc.ptrace(
                    24, child, None, None
                )  # PTRACE_SYSCALL: on to where the next one begins or ends
                _, status = os.waitpid(child, 0)
                if not os.WIFSTOPPED(status):
                    break
                stops += 1
        elif "after" in job:
            time.sleep(job["after"])
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        else:
            _, status = os.waitpid(child, 0)
        with os.fdopen(read) as pipe:
            points = pipe.read().split("\n")[:-1]
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        failed = not killed and os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - begun
        print(
            json.dumps(
                {"killed": killed, "failed": failed, "points": points, "stops": stops, "took": took}
            ),
            flush=True,
        )


def _work(job: dict[str, Any], table: Table, write: int, libc: Any) -> None:
    folder = Path(job["folder"])
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    if job["what"] == "race":
        _race(job, table, write)
        return
    seen: dict[str, None] = {}

    def trace(frame: Any, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in TRACED:
            return None
        name = f"{Path(frame.f_code.co_filename).stem} {frame.f_code.co_name} {frame.f_lineno}"
        if event == "line" and name not in seen:
            seen[name] = None
            if name == job.get("point"):
                os.kill(os.getpid(), signal.SIGKILL)
            if job.get("point") == "none":
                os.write(write, f"{name}\n".encode())
        return trace

    if "stop" in job:
        libc.ptrace(0, 0, None, None)  # PTRACE_TRACEME
        os.kill(os.getpid(), signal.SIGSTOP)
    if "point" in job:
        sys.settrace(trace)
    if job["what"] == "create":
        Ledger.create(folder / "ledger", epsilon=2, delta="1e-5")
    else:
        LEDGERS[job["ledger"]](folder / "ledger").release(Private(), table, folder / "out")
    sys.settrace(None)


def _race(job: dict[str, Any], table: Table, write: int) -> None:
    """Some processes ask for a tenth several times each, all at once, and say what they got."""
    ledger = Ledger(Path(job["folder"]) / "ledger")
    if job["ledger"] == "careless":
        Sqlite.writing = careless_writing  # type: ignore[assignment]
        Ledger._testify = lambda *_: None  # type: ignore[method-assign]
    runners = []
    for _ in range(job["processes"]):
        if (runner := os.fork()) == 0:
            for _ in range(6):
                try:
                    ledger.reserve(Private("0.1", "1e-7").promise(table.schema), "private", table)
                    os.write(write, b"granted\n")
                except BudgetError:
                    os.write(write, b"refused\n")
                except Exception:  # the careless twin gets into its own way, too
                    os.write(write, b"failed\n")
            os._exit(0)
        runners.append(runner)
    for runner in runners:
        os.waitpid(runner, 0)


@contextmanager
def state_of(folder: Path) -> Iterator[None]:
    """The witness is in the folder of its ledger, as copies of one ledger would share theirs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield


class Nursery:
    """Does jobs in processes that are killed, each on a fresh copy of a ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        code = "from tests.ledger.nursery import nursery; nursery()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.fresh = folder / "fresh"
        self.fresh.mkdir()
        with state_of(self.fresh):
            Ledger.create(self.fresh / "ledger", epsilon=2, delta="1e-5")
        self.jobs = 0

    def __call__(
        self, what: str = "release", ledger: str = "shipped", **kill: Any
    ) -> tuple[Path, dict[str, Any]]:
        self.jobs += 1
        folder = self.folder / f"job{self.jobs}"
        if what == "create":
            folder.mkdir()
        else:
            shutil.copytree(self.fresh, folder)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"what": what, "ledger": ledger, "folder": str(folder), **kill}) + "\n"
        )
        self.process.stdin.flush()
        done: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert not done["failed"]
        return folder, done
