"""Measuring: the least time of several, and the peak memory of a fresh process."""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.sources import Source

REPEATS = 7
TURNS = 20
ENOUGH = 20.0
"""Seconds after which a measurement is not repeated any more."""


@dataclass(frozen=True)
class Took:
    """Seconds by the clock, and of all cores together; other work disturbs the second less."""

    seconds: float
    cpu: float

    def __sub__(self, other: "Took") -> "Took":
        return Took(self.seconds - other.seconds, self.cpu - other.cpu)

    def least(self, other: "Took") -> "Took":
        return Took(min(self.seconds, other.seconds), min(self.cpu, other.cpu))


def least(
    work: Callable[..., Any], ready: Callable[[], Any] | None = None, repeats: int = REPEATS
) -> Took:
    """The least of several times; `ready` makes what `work` gets, anew and unmeasured."""
    times: list[Took] = []
    while len(times) < repeats and sum(took.seconds for took in times) < ENOUGH:
        given = () if ready is None else (ready(),)
        gc.collect()
        start, cpu = time.perf_counter(), time.process_time()
        work(*given)
        times.append(Took(time.perf_counter() - start, time.process_time() - cpu))
    return Took(min(took.seconds for took in times), min(took.cpu for took in times))


def best(
    work: Callable[..., Any], ready: Callable[[], Any] | None = None, repeats: int = REPEATS
) -> float:
    """The shortest of several times by the clock, in seconds."""
    return least(work, ready, repeats).seconds


def in_turns(works: Mapping[str, Callable[[], Any]]) -> dict[str, Took]:
    """The least times of several, measured in turns: a busy machine slows all of them."""
    times = {name: least(work, repeats=1) for name, work in works.items()}
    for _ in range(TURNS):
        for name, work in works.items():
            times[name] = times[name].least(least(work, repeats=1))
    return times


def peak(what: str, source: Source) -> float:
    """Megabytes that a fresh process holds at most while it does one thing (see `bench.work`) with
    one table.
    """
    command = [
        sys.executable,
        "-m",
        "bench.measure",
        what,
        source.name,
        str(source.path),
        str(source.folder),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1]
    )
    return float(json.loads(done.stdout))


def high_water() -> float:
    """The most memory this process has held so far, in megabytes.

    Not `getrusage`: on Linux a process inherits that figure from the one that started it.
    """
    return held_by("self")


def held_by(process: int | str) -> float:
    """The most memory that a process has held so far, in megabytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise OSError("no peak memory in /proc; this measurement needs Linux")


def cpu_of(process: int) -> float:
    """Seconds of all cores that a process has used so far."""
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    from bench import work

    what, name, path, folder = sys.argv[1:]
    getattr(work, what)(Source(name, Path(path), Path(folder)))
    print(json.dumps(high_water()))
