"""Rows in Spark: a DataFrame of the caller's, or files and tables that a session reads.

The cluster groups the rows, once, and the driver gets the distinct ones in parts. A session may be
classic or one of Spark Connect. Uses PySpark, `sql` and `csv_files`; `distant` and
`files` use it.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from shoal.data.csv_files import CsvOptions
from shoal.data.disk import is_address
from shoal.data.engines import CATALOGUE, CONNECT
from shoal.data.engines.sql import arrow_parts, rows_of
from shoal.errors import ParameterError, SourceError

__all__ = ["Spark", "spark_files", "spark_table"]

_HARMLESS = {"use_ssl", "user_id", "session_id", "user_agent", "grpc_max_message_size"}
"""What such an address may say besides; all else may be secret."""

_OWN_SESSION = {
    "spark.ui.showConsoleProgress": "false",
    # Pages about queries, which everyone in the network could read.
    "spark.ui.enabled": "false",
    # Spark's log has the text of errors, and so cells.
    "spark.log.level": "OFF",
}
_SMALL_PARTS = {
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m",
}
"""By these, grouped rows are in parts that fit a small driver, however few cores there are."""

_FETCHED = 1 << 27
"""Bytes of grouped rows that are in the driver's JVM at a time, unless one part is larger."""

_TYPES: dict[str, pl.DataType] = {
    "string": pl.String(),
    "char": pl.String(),
    "varchar": pl.String(),
    "boolean": pl.Boolean(),
    "byte": pl.Int8(),
    "short": pl.Int16(),
    "integer": pl.Int32(),
    "long": pl.Int64(),
    "float": pl.Float32(),
    "double": pl.Float64(),
    "date": pl.Date(),
    # A moment, whatever time zone a session shows it in.
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
    "void": pl.Null(),
}
_WITHOUT_ORDER = pl.Binary()
"""Stands for all other types, which are refused."""


# Sessions, and what they read


def spark_files(path: str, options: CsvOptions, master: str | None) -> Any:
    """The Spark DataFrame of files, by the session that is there, or by a new one.

    Parquet is known by the end of the name, or of the names in a folder. Elsewhere than on this
    machine, all that is not called CSV is Parquet. Values of CSV files stay texts.
    """
    session = _session(master)
    if not is_address(path) and Path(path).exists():
        # A session may have been started in another folder.
        path = str(Path(path).absolute())
    with _opening(path):
        if not _is_csv(path):
            return session.read.parquet(path)
        return session.read.csv(
            path,
            header=True,
            multiLine=True,  # or quoted line ends would end a record
            sep=options.separator or ",",
            quote='"' if options.quote is None else options.quote,
            escape=options.quote or '"',
            encoding=options.encoding or "UTF-8",
            enforceSchema=False,
            mode="FAILFAST",
        )


def spark_table(place: str, query: str | None, master: str | None) -> Any:
    """The Spark DataFrame of a table or view of a session, or of a query.

    `place` is the address of a master, or `CATALOGUE` alone.
    """
    if query is None or not query.strip():
        raise ParameterError(
            f"{place} may have several tables",
            "name a table in `query`, or give a query such as 'SELECT age, sex FROM visits'",
        )
    session = _session(master if place == CATALOGUE else place)
    rows = rows_of(query)
    with _opening("the table or query"):
        if rows.startswith("("):
            # Where a statement that writes is an error.
            return session.sql(f"SELECT * FROM {rows}")
        return session.table(query.strip())


def _session(master: str | None) -> Any:
    """The session that is there, or a new one, by `master` or else by Spark's own settings."""
    _require_without_secrets(master)
    try:
        with _pandas_unmentioned():
            from pyspark.errors import PySparkRuntimeError
            from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "PySpark is not installed", "install it with: pip install 'shoal[spark]'"
        ) from None
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        pass  # there is none
    except Exception as error:
        raise SourceError(
            f"the Spark session is lost ({type(error).__name__})", "start it again"
        ) from None
    builder = SparkSession.builder.appName("shoal").config(map=_OWN_SESSION)
    if master is not None:
        builder = builder.remote(master) if master.startswith(CONNECT) else builder.master(master)
    try:
        with _pandas_unmentioned():
            return builder.getOrCreate()
    except Exception as error:
        raise SourceError(
            f"Spark could not be started ({type(error).__name__})",
            "see whether Java 17 is installed, and whether `master` is right and can be reached",
        ) from None


@contextmanager
def _pandas_unmentioned() -> Iterator[None]:
    """Without Spark's warnings about the version of pandas, which is not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _require_without_secrets(master: str | None) -> None:
    if master is None:
        return
    _, _, parameters = master.partition(";")
    names = {each.partition("=")[0].strip() for each in parameters.split(";") if each.strip()}
    if names - _HARMLESS or urlsplit(master.partition(";")[0]).password is not None:
        raise ParameterError(
            "an address with a token or a password would be in recipes and histories of commands",
            "leave it out, and set SPARK_CONNECT_AUTHENTICATE_TOKEN in the environment",
            option="master",
        )


@contextmanager
def _opening(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise SourceError(
            f"Spark cannot read {what} ({type(error).__name__})",
            "see whether it is there, and whether Spark may read it",
        ) from None


def _is_csv(path: str) -> bool:
    ends = (".csv", ".tsv", ".txt")
    if is_address(path):
        return path.lower().endswith(ends)
    here = Path(path)
    if here.is_dir():
        return next(here.rglob("*.parquet"), None) is None
    return here.suffix.lower() != ".parquet"


# Counting


# No repr, since that of a frame may have rows.
@dataclass(frozen=True, eq=False, repr=False)
class Spark:
    """The rows of a Spark DataFrame, which is run anew for every question."""

    frame: Any
    name: str = "the Spark DataFrame"
    decimals: frozenset[str] = frozenset()

    @cached_property
    def types(self) -> pl.DataFrame:
        types = [_type(field.dataType) for field in self.frame.schema]
        return pl.DataFrame(schema=dict(zip(self.frame.columns, types, strict=True)))

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield from _parts(self.grouped(names), names)

    def orders(self) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        places = [self._place(name) for name in names]
        yield from _parts(self._by_place.select(*places).orderBy(places[0]), names)

    def grouped(self, names: Sequence[str]) -> Any:
        """The Spark DataFrame of distinct rows, whose plan can be looked at."""
        places = [self._place(name) for name in names]
        return self._by_place.groupBy(*places).count().select(*places, "count")

    def rows(self) -> int:
        return int(self.frame.count())

    def distinct(self, name: str) -> int:
        return int(self._by_place.select(self._place(name)).distinct().count())

    def head(self, rows: int) -> pl.DataFrame:
        held = [name for name, dtype in self.types.schema.items() if dtype != _WITHOUT_ORDER]
        places = [self._place(name) for name in held]
        some = pl.DataFrame(self._by_place.select(*places).limit(rows).toArrow())
        some.columns = held
        none = pl.lit(None, _WITHOUT_ORDER)
        return some.select(
            pl.col(name) if name in held else none.alias(name) for name in self.frame.columns
        )

    @cached_property
    def _by_place(self) -> Any:
        """The same rows, their columns named by their places: any other name may have a meaning."""
        named = self.frame.toDF(*map(str, range(len(self.frame.columns))))
        exact = []
        for field in named.schema:
            column = f"`{field.name}`"
            if getattr(field.dataType, "collation", "UTF8_BINARY") != "UTF8_BINARY":
                # By other collations different texts may be equal.
                column = f"collate({column}, 'UTF8_BINARY') AS {column}"
            exact.append(column)
        return named.selectExpr(*exact)

    def _place(self, name: str) -> str:
        return str(self.frame.columns.index(name))


def _type(dtype: Any) -> pl.DataType:
    """The type in which values of a type of Spark's arrive."""
    if dtype.typeName() == "decimal":
        return pl.Decimal(dtype.precision, dtype.scale)
    return _TYPES.get(dtype.typeName(), _WITHOUT_ORDER)


def _parts(frame: Any, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The rows of a Spark DataFrame, in their order, of which few are in memory at a time."""
    is_remote = type(frame).__module__.startswith("pyspark.sql.connect")
    with _small_parts(frame.sparkSession):
        yield from arrow_parts(_streamed(frame) if is_remote else _fetched(frame), names)


@contextmanager
def _small_parts(session: Any) -> Iterator[None]:
    """Within the block, a session makes small parts; then its settings are as they were."""
    before = {name: session.conf.get(name) for name in _SMALL_PARTS}
    for name, value in _SMALL_PARTS.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def _streamed(frame: Any) -> Iterator[Any]:
    """Arrow batches by Spark Connect: what its `toLocalIterator` makes rows of."""
    client = frame.sparkSession.client
    plan = frame._plan
    for part in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
        if hasattr(part, "to_batches"):
            yield from part.to_batches()


def _fetched(frame: Any) -> Iterator[Any]:
    """Arrow batches from the JVM: `toArrow` fetches all partitions at once, this some at a time.

    They are what a group-by has left on the disks of the cluster, so that it is run once.
    """
    import pyarrow as pa
    from pyspark.serializers import NoOpSerializer
    from pyspark.util import _load_from_socket

    context = frame.sparkSession.sparkContext
    schema = frame.limit(0).toArrow().schema
    rdd = frame._jdf.toArrowBatchRdd().toJavaRDD()
    total = rdd.getNumPartitions()
    start, width, largest = 0, 1, 1
    while start < total:
        partitions = list(range(start, min(total, start + width)))
        fetched = 0
        served = context._jvm.PythonRDD.runJob(context._jsc.sc(), rdd, partitions)
        with _load_from_socket(served, NoOpSerializer()) as stream:
            for message in stream:
                fetched += len(message)
                yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)
        start += len(partitions)
        largest = max(largest, fetched // len(partitions))
        width = min(2 * width, max(1, _FETCHED // largest), context.defaultParallelism)
