"""Measuring: the best time of several, and the peak memory of a fresh process."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.sources import Source

REPEATS = 7
ENOUGH = 20.0
"""Seconds after which a measurement is not repeated any more."""


def best(
    work: Callable[..., Any], ready: Callable[[], Any] | None = None, repeats: int = REPEATS
) -> float:
    """The shortest of several times in seconds; `ready` makes what `work` gets, anew every time and
    unmeasured.
    """
    times: list[float] = []
    while len(times) < repeats and sum(times) < ENOUGH:
        given = () if ready is None else (ready(),)
        gc.collect()
        start = time.perf_counter()
        work(*given)
        times.append(time.perf_counter() - start)
    return min(times)


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
