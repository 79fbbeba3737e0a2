"""A workbench for tests: its application without a server, or a real one for a browser."""

import atexit
import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from starlette.testclient import TestClient

from shoal import demo
from shoal.workbench import working
from shoal.workbench.access import Access
from shoal.workbench.app import application
from shoal.workbench.drawing import Pen
from shoal.workbench.jobs import Job, Jobs
from shoal.workbench.pages import Desk

HOST = "127.0.0.1:7"
ORIGIN = f"http://{HOST}"
_MAIN = "from shoal.cli import main; main()"


@dataclass(frozen=True)
class Bench:
    """The workbench of a folder, as its owner's browser asks it."""

    home: Path
    client: TestClient

    @property
    def desk(self) -> Desk:
        """What its requests share."""
        desk: Desk = self.client.app.state.desk  # type: ignore[attr-defined]
        return desk

    def get(self, path: str, *, part: bool = False, status: int = 200) -> str:
        """A page, or a part as htmx asks for it."""
        found = self.client.get(path, headers={"HX-Request": "true"} if part else {})
        assert found.status_code == status, (path, found.status_code, found.text[:2000])
        return found.text

    def post(
        self, path: str, /, *, part: bool = True, status: int | None = None, **fields: Any
    ) -> Any:
        """What a form gets that is sent; names of fields have "__" for a dot."""
        headers = {"HX-Request": "true"} if part else {}
        data = {name.replace("__", "."): value for name, value in fields.items()}
        found = self.client.post(path, data=data, headers=headers, follow_redirects=False)
        good = found.status_code < 400 if status is None else found.status_code == status
        assert good, (path, found.status_code, found.text[:2000])
        return found

    def project(self, key: str) -> Any:
        """A project of the folder."""
        return self.desk.home.project(key)


class AtOnce(Jobs):
    """Carries jobs out here, before the page that began them is there.

    A process of its own would take a second or two for every job. Tests that are about processes
    begin them: those of jobs, of walks, and all that have a browser.
    """

    def _begin(self, folder: Path) -> None:
        with open(folder / "lock", "xb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            job = Job(folder)
            # Only the first thread of a process may listen to signals.
            with mock.patch("signal.signal"):
                working._say(job, working._carried_out(job))


class SharedPen(Pen):
    """One that all workbenches of a process draw with."""

    def close(self) -> None:
        """Others need it."""


PEN = SharedPen()
atexit.register(PEN._ended)


@contextmanager
def bench(home: Path, jobs: Jobs | None = None) -> Iterator[Bench]:
    """The workbench of a folder, without a server; jobs are carried out at once."""
    access = Access((HOST,))
    app = application(home, access, lambda event: None)
    app.state.desk.jobs = jobs or AtOnce()
    app.state.desk.pen = PEN
    with TestClient(
        app,
        base_url=ORIGIN,
        headers={"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"},
        raise_server_exceptions=False,
    ) as client:
        client.get(f"/?token={access.token}")
        yield Bench(home, client)


def hospital(home: Path, rows: int = 1000) -> str:
    """The demo as a project; its key."""
    demo.write(home / "hospital", rows)
    return "hospital~hospital"


@dataclass(frozen=True)
class Running:
    """A `shoal workbench` in a process of its own, and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def origin(self) -> str:
        """The address without the token."""
        return self.address.partition("/?")[0]


@contextmanager
def running(home: Path, port: int = 0) -> Iterator[Running]:
    """`shoal workbench` on a folder."""
    command = [sys.executable, "-c", _MAIN, "workbench", os.fspath(home), "--no-browser"]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", address), address
        yield Running(process, address)
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address, with its token, at which `shoal workbench` serves a folder."""
    with running(home) as started:
        yield started.address
