"""Jobs are processes: they are stopped and killed here, and so is the workbench."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shoal import demo
from shoal.errors import FileError, Stopped
from shoal.ledger import Ledger
from shoal.workbench import jobs, working
from shoal.workbench.jobs import Job, Jobs
from shoal.workbench.projects import Project
from tests.conftest import ROOT

SECONDS = 60.0
"""How long anything may take here, on a busy machine too."""

SPENDING = """
[method]
name = "noisy-counts"
epsilon = 1
delta = 1e-4
levels = {}
[ledger]
path = "ledger.sqlite"
"""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Processes find these tests, and take turns among themselves."""
    paths = [os.fspath(ROOT), os.fspath(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "state"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The demo with a ledger, released by noisy counts."""
    recipe = demo.write(tmp_path / "hospital", 300)
    text = recipe.read_text("utf-8")
    recipe.write_text(text[: text.index("[method]")] + SPENDING, "utf-8")
    Ledger.create(recipe.parent / "ledger.sqlite", epsilon=5, delta="1e-3")
    return Project("hospital~hospital", recipe)


@pytest.fixture
def dwelling() -> Iterator[Callable[..., Jobs]]:
    """Makes jobs that dwell at a place; none is left behind."""
    started: list[Job] = []

    class Watched(Jobs):
        def start(self, *given: object, **named: object) -> Job:
            started.append(super().start(*given, **named))  # type: ignore[arg-type]
            return started[-1]

    yield lambda place="": Watched(["-m", "tests.workbench.slowed", place])
    for job in started:
        if job.is_unfinished:
            job.cancel()
            job.wait(SECONDS)


def reached(job: Job) -> Job:
    """A job that dwells where it should."""
    until(lambda: (job.folder / "reached").exists())
    return job


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def pid(job: Job) -> int:
    """The number of a job's process."""
    return int((job.folder / "lock").read_text("ascii"))


def is_gone(number: int) -> bool:
    """Whether a process has ended, and was collected."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


def ledger(project: Project) -> Ledger:
    return Ledger(project.folder / "ledger.sqlite")


# One job


def test_a_job_tells_what_came_of_it_and_leaves_no_process(project: Project) -> None:
    job = Jobs().start(project, "release", {"name": "first"})
    assert job.state == "running"
    assert job.wait(SECONDS) == "done", job.error
    assert job.result["release"] == "first"
    assert (project.folder / "releases" / "first" / "certificate.json").exists()
    until(lambda: is_gone(pid(job)))
    assert not (job.folder / "reserve").exists()


def test_progress_has_no_value_of_the_table(project: Project) -> None:
    job = Jobs().start(project, "release", {"name": "first"})
    said: set[str] = set()
    while job.is_unfinished:
        said.add(job.progress[2])
        time.sleep(0.02)
    values = {text for row in demo.hospital(300).rows() for text in map(str, row) if len(text) > 3}
    assert said - {""}
    assert not any(value in what for what in said for value in values)


def test_what_goes_wrong_has_the_fix(project: Project) -> None:
    project.recipe.write_text(project.recipe.read_text("utf-8").replace("= 1\n", "= 0\n"), "utf-8")
    job = Jobs().start(project, "release", {"name": "first"})
    assert job.wait(SECONDS) == "failed"
    assert "method.epsilon" in job.error["text"]


def test_a_bug_is_told_by_its_place_alone(project: Project) -> None:
    job = Jobs().start(project, "no such kind", {})
    assert job.wait(SECONDS) == "failed"
    assert "a bug in Shoal (KeyError" in job.error["what"]


# Stopping and killing while a ledger is written


@pytest.mark.parametrize(
    ("place", "entries"),
    [
        ("in a transaction", 0),
        ("after a transaction", 1),
        ("after the first coin", 1),
        ("before the files", 1),
    ],
)
def test_a_stopped_release_is_spent_only_if_a_coin_may_have_been_flipped(
    project: Project, dwelling: Callable[..., Jobs], place: str, entries: int
) -> None:
    job = reached(dwelling(place).start(project, "release", {"name": "first"}))
    job.cancel()
    assert job.wait(SECONDS) == "cancelled"
    assert len(ledger(project).account().reserved) == entries
    # Whoever stopped it is told.
    assert len(job.notes) == entries
    assert all("still counts as spent" in note for note in job.notes)
    assert ledger(project).verify() == []
    assert not (project.folder / "releases" / "first").exists()
    assert not list(project.folder.glob("releases/.*"))


@pytest.mark.parametrize(
    ("place", "entries"),
    [("in a transaction", 0), ("after a transaction", 1), ("before the files", 1)],
)
def test_a_killed_release_leaves_the_ledger_right(
    project: Project, dwelling: Callable[..., Jobs], place: str, entries: int
) -> None:
    job = reached(dwelling(place).start(project, "release", {"name": "first"}))
    os.kill(pid(job), signal.SIGKILL)
    assert job.wait(SECONDS) == "lost"
    assert len(ledger(project).account().reserved) == entries
    again = Jobs().start(project, "release", {"name": "first"})
    assert again.wait(SECONDS) == "done", again.error
    assert len(ledger(project).account().reserved) == entries + 1
    assert ledger(project).verify() == []


def test_a_job_that_does_not_listen_can_be_killed_later(
    project: Project, dwelling: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = reached(dwelling("work").start(project, "candidate", {}))
    os.kill(pid(job), signal.SIGSTOP)
    job.cancel()
    assert job.is_stopping
    assert not job.can_be_killed
    assert job.state == "running"
    monkeypatch.setattr(jobs, "GRACE", -1.0)
    job.cancel()
    assert job.wait(SECONDS) == "lost"


# Without the workbench


STARTING = """
import sys, time
from pathlib import Path
from shoal.workbench.jobs import Jobs
from shoal.workbench.projects import Project

project = Project("hospital~hospital", Path(sys.argv[1]))
for name in ("first", "second"):
    Jobs(["-m", "tests.workbench.slowed", sys.argv[2]]).start(project, "candidate", {})
print("started", flush=True)
time.sleep(60)
"""


def test_jobs_go_on_when_the_workbench_is_killed(project: Project) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTING, os.fspath(project.recipe), ""], stdout=subprocess.PIPE
    ) as workbench:
        assert workbench.stdout is not None
        assert workbench.stdout.readline()
        workbench.kill()
    second, first = Jobs().of(project, "candidate")
    assert first.wait(SECONDS) == "done"
    assert second.wait(SECONDS) == "done"
    assert second.result == {"made": 1}


# Turns


def test_jobs_wait_for_their_turn_in_their_order(
    project: Project, dwelling: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two workbenches on one folder.
    one, other = dwelling("work"), dwelling("work")
    running = [reached(one.start(project, "candidate", {})) for _ in range(working.SLOTS)]
    first = other.start(project, "candidate", {})
    second = one.start(project, "candidate", {})
    third = other.start(project, "candidate", {})
    assert [job.state for job in running] == ["running"] * working.SLOTS
    assert [job.state for job in (first, second, third)] == ["waiting"] * 3
    assert [job.ahead for job in (first, second, third)] == [0, 1, 2]
    # Who waits can be stopped, and who is killed while waiting holds up nobody.
    first.cancel()
    assert first.wait(SECONDS) == "cancelled"
    until(lambda: second.ahead == 0)
    until(lambda: bool((second.folder / "lock").read_text("ascii").strip()))
    os.kill(pid(second), signal.SIGKILL)
    assert second.wait(SECONDS) == "lost"
    running[0].cancel()
    assert running[0].wait(SECONDS) == "cancelled"
    assert reached(third).state == "running"
    assert Jobs().of(project, "candidate") == [third, second, first, *reversed(running)]


def test_a_job_that_is_stopped_before_it_listens_is_stopped(
    project: Project, dwelling: Callable[..., Jobs]
) -> None:
    job = dwelling("work").start(project, "candidate", {})
    job.cancel()
    assert job.wait(SECONDS) == "cancelled"
    assert not (job.folder / "reached").exists()


# Disks


def test_a_full_disk_stops_neither_the_work_nor_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path)
    (tmp_path / "reserve").write_bytes(b"0")

    def full(path: Path, content: object) -> None:
        if (tmp_path / "reserve").exists():
            raise FileError("cannot write: No space left on device")
        jobs.write(path, content)

    monkeypatch.setattr(working, "write", full)
    working._progress(job)(1, 2, "counting")
    assert not (tmp_path / "state.json").exists()
    working._say(job, {"state": "done", "result": {}})
    assert job.state == "done"


def test_what_a_job_does_next_is_said_at_once_also_right_after_a_report(tmp_path: Path) -> None:
    job = Job(tmp_path)
    progress = working._progress(job)
    progress(3, 3, "drawing counts")
    progress(0, 0, "comparing with the input")
    assert job.progress[2] == "comparing with the input"


def test_a_job_that_cannot_be_started_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(FileError, match="No space left"):
        Jobs().start(project, "release", {"name": "first"})
    assert Jobs().of(project) == []


def test_only_the_newest_jobs_are_remembered(
    project: Project, dwelling: Callable[..., Jobs]
) -> None:
    running = reached(dwelling("work").start(project, "candidate", {}))
    ended = [project.hidden / "jobs" / f"2999-{number:06}" for number in range(jobs.KEPT + 5)]
    for folder in ended:
        folder.mkdir()
        (folder / "state.json").write_text(json.dumps({"state": "done"}))
    newest = Jobs().start(project, "no such kind", {})
    kept = [job.folder for job in Jobs().of(project)]
    # What has not ended is not forgotten.
    assert kept == [*reversed(ended[5:]), newest.folder, running.folder]


def test_whoever_swallows_the_signal_still_stops_when_it_reports(tmp_path: Path) -> None:
    (tmp_path / "stop").touch()
    with pytest.raises(Stopped):
        working._progress(Job(tmp_path))(0, 0, "")
