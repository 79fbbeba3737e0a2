"""Processes at once cannot overspend, and no kill loses an entry."""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from shoal.errors import BudgetError, FileError
from shoal.ledger import Ledger
from tests.ledger.nursery import Nursery, state_of
from tests.ledger.private import Private, pair, people

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Syncing is quick there.

A kill does not depend on the disk: what was written to it stays written.
"""


@pytest.fixture(scope="module")
def nursery_() -> Iterator[Nursery]:
    if sys.platform != "linux":
        pytest.skip("forks and traces processes as Linux does")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        made = Nursery(Path(folder))
        yield made
        made.process.communicate()


def test_processes_at_once_cannot_overspend(nursery_: Nursery) -> None:
    folder, done = nursery_("race", processes=8)
    assert [done["points"].count(word) for word in ("granted", "refused", "failed")] == [20, 28, 0]
    ledger = Ledger(folder / "ledger")
    with state_of(folder):
        assert ledger.spent() == pair(2, 20 * Fraction("1e-7"))
        assert ledger.verify() == []
        assert ledger.witness is not None
        assert len(ledger.witness.read_bytes().splitlines()) == 21


def test_the_race_would_be_lost_without_the_lock(nursery_: Nursery) -> None:
    def lost() -> bool:
        _, done = nursery_("race", "careless", processes=8)
        return bool(done["points"].count("granted") > 20)

    assert any(
        lost() for _ in range(10)
    )  # who is first is up to the machine, so not every race is lost


def found_after(folder: Path) -> str:
    """The state that a killed process left; AssertionError if a file is not entered."""
    with state_of(folder):
        return _found_after(folder)


def _found_after(folder: Path) -> str:
    ledger = Ledger(folder / "ledger")
    assert ledger.verify() == []
    entries = [entry.what for entry in ledger.entries()]
    assert entries == ["created", "reserved", "completed"][: len(entries)]
    out = [path.name for path in (folder / "out").iterdir()] if (folder / "out").exists() else []
    written = [name for name in out if not name.endswith(".part")]
    if out:
        assert len(entries) == 3, "a file is there before its entry"
    if "certificate.json" in written:
        number = json.loads((folder / "out" / "certificate.json").read_text())["number"]
        assert number == ledger.entries()[-1].facts.release
    assert ledger.spent().epsilon == (len(entries) > 1)
    return "written" if len(written) == 2 else entries[-1]


def goes_on(folder: Path) -> None:
    """Whatever happened, the ledger takes what is left of its budget and no more."""
    with state_of(folder):
        _goes_on(folder)


def _goes_on(folder: Path) -> None:
    ledger = Ledger(folder / "ledger")
    for _ in range(2 - int(ledger.spent().epsilon)):
        ledger.release(Private(), people(), folder / "again")
    with pytest.raises(BudgetError):
        ledger.release(Private("1e-9"), people(), folder / "again")
    assert ledger.spent().epsilon == 2
    assert ledger.verify() == []


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_line_nothing_is_lost_and_nothing_overspent(
    nursery_: Nursery, stride: int
) -> None:
    _, whole = nursery_(point="none")
    states = []
    for i, point in enumerate(whole["points"][::stride]):
        folder, done = nursery_(point=point)
        assert done["killed"], point
        states.append(found_after(folder))
        if i % 10 == 0 or point.startswith("witness "):
            older = (folder / "ledger").read_bytes()
            goes_on(folder)
            (folder / "ledger").write_bytes(older)
            with state_of(folder), pytest.raises(FileError, match="older copy"):
                Ledger(folder / "ledger").spent()
    assert len(states) > 100 / stride
    order = ["created", "reserved", "completed", "written"]
    assert set(states) == set(order)
    assert states == sorted(states, key=order.index)


@pytest.mark.parametrize("twin", ["writes first", "forgets"])
def test_the_kills_would_find_a_ledger_that_enters_too_late(nursery_: Nursery, twin: str) -> None:
    _, whole = nursery_(point="none", ledger=twin)
    points = [point for point in whole["points"] if point.startswith(("sqlite", "store", "disk"))][
        ::-2
    ]

    def kill_at_all() -> None:
        for point in points:
            found_after(nursery_(point=point, ledger=twin)[0])

    with pytest.raises(AssertionError, match="before its entry"):
        kill_at_all()


def _stops(nursery_: Nursery, what: str) -> int:
    _, whole = nursery_(what, stop=-1)
    if not whole["stops"]:
        pytest.skip("processes cannot be traced here")
    return int(whole["stops"])


def killed_at_system_calls(nursery_: Nursery, what: str, share: float) -> set[str]:
    """Killed where a system call begins or ends. Between two of them nothing outside of the process
    changes, so that these are all the moments there are."""
    states = set()
    dice = random.Random(7)
    for stop in range(1, _stops(nursery_, what)):
        if dice.random() < share:
            folder, _ = nursery_(what, stop=stop)
            if what == "create" and (
                not (folder / "ledger").exists() or not _whole(folder / "ledger")
            ):
                with state_of(folder):
                    Ledger.create(folder / "ledger", epsilon=2, delta="1e-5")
                states.add("nothing")
            states.add(found_after(folder))
            if dice.random() < 0.1:
                goes_on(folder)
    return states


def _whole(path: Path) -> bool:
    try:
        with state_of(path.parent):
            return bool(Ledger(path).entries())
    except FileError as error:
        if "creation was cut short" in str(error):
            return False
        raise


def test_killed_at_some_system_calls_nothing_is_lost(nursery_: Nursery) -> None:
    assert killed_at_system_calls(nursery_, "release", 0.02) >= {"created", "reserved"}
    assert killed_at_system_calls(nursery_, "create", 0.2) == {"nothing", "created"}


@pytest.mark.slow
def test_killed_at_any_system_call_nothing_is_lost(nursery_: Nursery) -> None:
    assert killed_at_system_calls(nursery_, "release", 1) == {
        "created",
        "reserved",
        "completed",
        "written",
    }
    assert killed_at_system_calls(nursery_, "create", 1) == {"nothing", "created"}


def test_killed_at_random_times_nothing_is_lost(nursery_: Nursery) -> None:
    took = nursery_()[1]["took"]
    for _ in range(30):
        found_after(nursery_(after=random.uniform(0, took))[0])
