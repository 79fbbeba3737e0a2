"""A session of Spark that Shoal starts, and that is lost: stopped, then killed while it counts.

Run by `test_spark` in a process of its own, with a folder of Parquet files and one to write to.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import shoal
from shoal.errors import SourceError

ROLES: dict[str, Any] = {"quasi": ["age"], "sensitive": ["illness"], "types": {"age": "integer"}}


def main(visits: Path, folder: Path) -> None:
    ledger = shoal.Ledger.create(folder / "own.ledger", epsilon=2, delta="1/2")
    ages = shoal.hierarchy.intervals(0, 99, widths=[5, 20])
    method = shoal.SafePub(1, "1e-3")

    def lost(given: shoal.Table) -> None:
        try:
            ledger.release(method, given)
        except SourceError as error:
            print(error)
        else:
            raise AssertionError("it was released")
        assert not ledger.account().reserved

    given = shoal.read(
        visits, engine="spark", master="local[1]", hierarchies={"age": ages}, **ROLES
    )
    from pyspark.sql import SparkSession

    started = SparkSession.active()
    assert (started.sparkContext.master, started.sparkContext.appName) == ("local[1]", "shoal")
    started.stop()
    lost(given)

    session = SparkSession.builder.master("local[1]").getOrCreate()
    jvm = int(session._jvm.java.lang.ProcessHandle.current().pid())
    # More than can be counted until then.
    endless = session.range(10**15).selectExpr("id % 100 AS age", "'asthma' AS illness")
    given = shoal.table(endless, hierarchies={"age": ages}, **ROLES)
    threading.Timer(1, os.kill, (jvm, signal.SIGKILL)).start()
    lost(given)
    try:
        shoal.read(visits, engine="spark")
    except SourceError as error:
        print(error)
    print("nothing was released")


main(Path(sys.argv[1]), Path(sys.argv[2]))
