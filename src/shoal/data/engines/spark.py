"""Rows in Spark: a DataFrame of a session that the caller has, Spark Connect included.

The cluster groups the rows, and the driver gets the distinct ones. Uses `sql` and PySpark;
`distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.csv_files import CsvOptions
from shoal.data.engines.sql import arrow_parts, arrow_types
from shoal.errors import ParameterError

__all__ = ["Spark", "files_of"]


def files_of(path: str, options: CsvOptions) -> Any:
    """The Spark DataFrame of files, by the session that is there, or by a new one.

    A new one is set up by Spark's own environment and files. Parquet is known by the end of the
    name, or of the names in a folder; all else is CSV, whose values stay texts.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "PySpark is not installed", "install it with: pip install 'shoal[spark]'"
        ) from None
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    if _is_parquet(path):
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


def _is_parquet(path: str) -> bool:
    folder = Path(path)
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else [folder.name]
    return any(name.endswith(".parquet") for name in names)


@dataclass(frozen=True, eq=False)
class Spark:
    """The rows of a Spark DataFrame, which is run anew for every question."""

    frame: Any
    name: str = "the Spark DataFrame"
    decimals: frozenset[str] = frozenset()

    @cached_property
    def types(self) -> pl.DataFrame:
        types = arrow_types(self._by_place.limit(0).toArrow().schema).values()
        return pl.DataFrame(schema=dict(zip(self.frame.columns, types, strict=True)))

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield from arrow_parts(self.grouped(names).toArrow().to_batches())

    def orders(self, name: str) -> bool:
        return True

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        places = [self._place(name) for name in names]
        rows = self._by_place.select(*places).orderBy(places[0])
        yield from arrow_parts(rows.toArrow().to_batches())

    def grouped(self, names: Sequence[str]) -> Any:
        """The Spark DataFrame of distinct rows, whose plan can be looked at."""
        places = [self._place(name) for name in names]
        return self._by_place.groupBy(*places).count().select(*places, "count")

    def rows(self) -> int:
        return int(self.frame.count())

    def distinct(self, name: str) -> int:
        return int(self._by_place.select(self._place(name)).distinct().count())

    def head(self, rows: int) -> pl.DataFrame:
        some = pl.DataFrame(self._by_place.limit(rows).toArrow())
        some.columns = self.frame.columns
        return some

    @cached_property
    def _by_place(self) -> Any:
        """The same rows, their columns named by their places: any other name may have a meaning."""
        import pyspark.sql.functions as spark

        named = self.frame.toDF(*map(str, range(len(self.frame.columns))))
        exact = []
        for field in named.schema:
            column = spark.col(field.name)
            if getattr(field.dataType, "collation", "UTF8_BINARY") != "UTF8_BINARY":
                # By other collations different texts may be equal.
                column = spark.collate(column, "UTF8_BINARY").alias(field.name)
            exact.append(column)
        return named.select(*exact)

    def _place(self, name: str) -> str:
        return str(self.frame.columns.index(name))
