"""Measuring: the least time of several, and the peak memory of a fresh process."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.sources import Source

REPEATS = 7
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
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise OSError("no peak memory in /proc/self/status; this measurement needs Linux")


if __name__ == "__main__":
    from bench import work

    what, name, path, folder = sys.argv[1:]
    getattr(work, what)(Source(name, Path(path), Path(folder)))
    print(json.dumps(high_water()))
