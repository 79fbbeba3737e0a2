"""`python -m bench.spark`: counting in Spark beside its own group-by and collect, in one session.

The rows are made by Spark, by a formula, in the shape of health. What is compared takes turns, and
the least of several is shown. CPU seconds are those of this process and of Spark's together.
"""

import argparse
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import shoal
from bench.__main__ import Cells, Printed, say
from bench.sources import CACHE, SHAPES
from shoal.data.engines.spark import Spark

ROWS = 10_000_000
REPEATS = 2
OWN = "Spark: group-by and toArrow"
COUNT = "shoal.table and count"
RELEASE = "shoal.table and SafePub"
BAR = {COUNT: 1.3}
"""Times Spark's own group-by and collect."""

SIZES = {name: sizes[0] for name, sizes in SHAPES["health"].items()}


@dataclass(frozen=True)
class Taken:
    """What something took: seconds by the clock, and those of all cores."""

    seconds: float
    cpu: float


def started(cores: int, heap: str) -> Any:
    """A session on this machine."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", heap)
    return builder.config(map={"spark.ui.enabled": "false", "spark.log.level": "OFF"}).getOrCreate()


def made(session: Any, rows: int, cache: Path) -> Any:
    """The rows, in Parquet files that are made where they are not there yet."""
    folder = cache / f"spark-{rows}"
    if not (folder / "_SUCCESS").exists():
        say(f"making {folder.name}")
        columns = [_formula(place, name, size) for place, (name, size) in enumerate(SIZES.items())]
        table = session.range(0, rows, 1, 8).selectExpr(*columns)
        table.write.mode("overwrite").parquet(str(folder))
    return session.read.parquet(str(folder))


def _formula(place: int, name: str, size: int) -> str:
    """A skewed column: texts by the hash of a row's number."""
    even = f"(pmod(xxhash64(id, {place}), 1000000) / 1e6)"
    text = f"lpad(CAST(floor(pow({even}, 2.5) * {size}) AS string), 3, '0')"
    return f"concat('{name} ', {text}) AS {name}"


def own(frame: Any) -> int:
    """The yardstick: the number of distinct rows, which all come at once."""
    return int(frame.groupBy(*frame.columns).count().toArrow().num_rows)


def count(frame: Any) -> int:
    return len(shoal.table(frame, quasi=frame.columns).count(frame.columns, {}).count)


def release(frame: Any) -> int:
    hierarchies = {
        name: shoal.hierarchy.suppress([f"{name} {value:03}" for value in range(size)])
        for name, size in SIZES.items()
    }
    table = shoal.table(frame, quasi=frame.columns, hierarchies=hierarchies)
    return int(shoal.SafePub(1, "1e-6").release(table).rows.shape[0])


WORK: Mapping[str, Callable[[Any], int]] = {OWN: own, COUNT: count, RELEASE: release}


def taken(session: Any, work: Callable[[], object]) -> Taken:
    start, cpu = time.perf_counter(), _cpu(session)
    work()
    return Taken(time.perf_counter() - start, _cpu(session) - cpu)


def _cpu(session: Any) -> float:
    """CPU seconds of this process and of the session's JVM."""
    stat = Path(f"/proc/{_jvm(session)}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    ticks = os.sysconf("SC_CLK_TCK")
    return time.process_time() + (int(user) + int(system)) / ticks


def _jvm(session: Any) -> int:
    return int(session._jvm.java.lang.ProcessHandle.current().pid())


def high_water(process: int) -> float:
    """The most memory that a process has held so far, in megabytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise OSError("no peak memory in /proc; this measurement needs Linux")


def compared(session: Any, frame: Any, what: list[str], repeats: int = REPEATS) -> Printed:
    """The least time of each thing, in those of Spark's own where that is one of them."""
    say(f"{frame.count():,} rows, and a few of them to warm up")
    for name in what:
        WORK[name](frame.limit(100_000))
    times: dict[str, list[Taken]] = {name: [] for name in what}
    peaks = dict.fromkeys(what, 0.0)
    for _ in range(repeats):
        for name in what:
            say(name)
            times[name].append(taken(session, partial(WORK[name], frame)))
            peaks[name] = peaks[name] or high_water(os.getpid())
    least = {
        name: Taken(min(each.seconds for each in all_of), min(each.cpu for each in all_of))
        for name, all_of in times.items()
    }
    rows: list[Cells] = []
    for name, each in least.items():
        unit = least.get(OWN, each)
        ratios = (each.seconds / unit.seconds, each.cpu / unit.cpu)
        rows.append((name, each.seconds, each.cpu, *ratios, BAR.get(name), peaks[name]))
    head = ("what", "seconds", "CPU seconds", "ratio", "CPU ratio", "bar", "MB in Python so far")
    return Printed("Spark", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="4g", help="of Spark's JVM")
    parser.add_argument("--only", choices=["count", "release"], help="without Spark's own collect")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--data", type=Path, default=CACHE)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    session = started(given.cores, given.heap)
    frame = made(session, given.rows, given.data)
    # A peak stays, so what holds less comes first.
    what = [COUNT, OWN, RELEASE]
    if given.only:
        what = [COUNT if given.only == "count" else RELEASE]
    print(compared(session, frame, what, given.repeats).text(given.markdown))
    print()
    print(f"peak of the JVM: {high_water(_jvm(session)):,.0f} MB, with a heap of {given.heap}")
    print(Spark(frame).grouped(frame.columns)._jdf.queryExecution().executedPlan().toString())
    session.stop()


if __name__ == "__main__":
    main()
