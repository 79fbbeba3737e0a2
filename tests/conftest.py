"""What every test may use: the `--slow` flag, the benchmark tables where they are present, a
private PostgreSQL server, WeasyPrint, hypothesis without deadlines.
"""

import gc
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.postgres import Server

ROOT = Path(__file__).resolve().parents[1]
_STATE = tempfile.TemporaryDirectory(prefix="shoal-state-")
os.environ["XDG_STATE_HOME"] = (
    _STATE.name
)  # witnesses of ledgers; never those of who runs the tests

# Exhaustive tests make millions of small objects and hardly any cycles: look for these less often.
gc.set_threshold(100_000, 50, 50)

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run what is exhaustive or large")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in the docstrings of tests: there are none, and looking takes time."""
    collectors = yield
    return [one for one in collectors if type(one).__name__ != "DoctestModule"]


def needs_spark(item: pytest.Item) -> bool:
    """Whether a test asks for the Spark session, as far as its name says."""
    return "spark" in item.nodeid or "larger-data" in item.nodeid


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # One worker gets all of them, and starts Spark: tests are dealt out as runs of neighbours, and
    # idle workers take from the end of a run.
    items.sort(key=needs_spark, reverse=True)
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.fixture(scope="session", autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Processes that tests start share compiled modules, also where none are kept beside the
    source: else each of them would compile Shoal anew.
    """
    with pytest.MonkeyPatch.context() as patched:
        if sys.dont_write_bytecode:
            patched.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
            folder = tmp_path_factory.mktemp("bytecode")
            patched.setenv("PYTHONPYCACHEPREFIX", str(folder))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the real tables (adult, acs) and the maker of the large ones.

    It lies beside the project, or nowhere.
    """
    data = ROOT.parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("the benchmark tables are not on this machine")
    return data


@pytest.fixture(scope="session")
def weasyprint() -> Any:
    """The module that makes PDFs; skipped where it, or what it draws with, is not installed."""
    try:
        return import_module("weasyprint")
    except ImportError:
        pytest.skip("WeasyPrint is not installed: the extra pdf")
    except OSError:
        pytest.skip("Pango is not installed (Debian: apt-get install libpangoft2-1.0-0)")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server, one for all tests of a process; skipped where there is none."""
    made = Server()
    yield made
    made.remove()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session, one for all tests of a process; skipped where there is none.

    It is also a server of Spark Connect: see `connected`.
    """
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian: apt-get install default-jre-headless)")
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        # Of newer versions of pandas, and of sockets that Spark leaves open.
        warnings.simplefilter("ignore")
        pyspark = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        builder = pyspark.SparkSession.builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.log.level": "OFF",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def connected(spark: Any) -> Iterator[Any]:
    """A session of Spark Connect, on the same server; skipped where its packages are missing."""
    pytest.importorskip("grpc", reason="gRPC is not installed")
    name = "org.apache.spark.sql.connect.service.SparkConnectService$"
    service = spark._jvm.java.lang.Class.forName(name).getField("MODULE$").get(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql.connect.session import SparkSession

        address = f"sc://127.0.0.1:{service.localPort()}"
        session = SparkSession.builder.remote(address).getOrCreate()
        yield session
        session.stop()
