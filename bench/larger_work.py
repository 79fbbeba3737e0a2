"""What `bench.larger` measures: one function for each thing, from a folder of files to another.

Each runs in a process of its own, which loads nothing else.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import shoal

LIMIT = "1GB"
"""Memory that DuckDB may use before it writes to the disk."""


def polars_texts(folder: Path, _: Path) -> None:
    """The bare group-by, by Polars in streams."""
    _consume(pl.scan_parquet(folder))


def polars_categories(folder: Path, _: Path) -> None:
    """The same with texts as categories."""
    rows = pl.scan_parquet(folder)
    names = rows.collect_schema().names()
    columns = [pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in names]
    _consume(rows.select(columns))


def _consume(rows: pl.LazyFrame) -> None:
    grouped = rows.group_by(pl.all()).agg(pl.len().alias("count"))
    for part in grouped.collect_batches(engine="streaming", maintain_order=False):
        del part


def duckdb_limited(folder: Path, out: Path) -> None:
    """The same by DuckDB, which writes to the disk what is beyond its limit."""
    rows = _relation(folder, out)
    names = ", ".join(f'"{name}"' for name in rows.columns)
    counted = rows.aggregate(f"{names}, COUNT(*)", names)
    for part in counted.to_arrow_reader(1 << 18):
        del part


def _relation(folder: Path, out: Path) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{LIMIT}'")
    connection.execute(f"SET temp_directory = '{out}'")
    return connection.sql(f"SELECT * FROM '{folder}/*.parquet'")


# Shoal


def _read(folder: Path, engine: Any) -> "shoal.Table":
    import shoal

    return shoal.read(folder, engine=engine, **_roles())


def _table(rows: Any) -> "shoal.Table":
    import shoal

    return shoal.table(rows, **_roles())


def _simulated(folder: Path) -> "shoal.Table":
    from shoal.data.distant import Distant

    return _table(Distant(Simulated(folder)))


def _roles() -> dict[str, Any]:
    from bench.sources import SHAPES, lines_of
    from shoal.data.hierarchy import Hierarchy

    trees = {}
    for name, shape in SHAPES["health"].items():
        trees[name] = Hierarchy.from_lines([*lines_of(name, shape)], root="*")
    return {"quasi": [*trees], "hierarchies": trees}


def count_stream(folder: Path, _: Path) -> None:
    """`shoal.read(engine="stream")` and counting."""
    table = _read(folder, "stream")
    table.count(table.names)


def count_duckdb(folder: Path, out: Path) -> None:
    """`shoal.table` of a DuckDB relation and counting."""
    table = _table(_relation(folder, out))
    table.count(table.names)


def count_memory(folder: Path, _: Path) -> None:
    """`shoal.read(engine="memory")` and counting."""
    table = _read(folder, "memory")
    table.count(table.names)


def release_stream(folder: Path, out: Path) -> None:
    """From the files to a written release by SafePub."""
    _released(_read(folder, "stream"), out)


def release_duckdb(folder: Path, out: Path) -> None:
    """The same from a DuckDB relation."""
    _released(_table(_relation(folder, out / "spilled")), out)


def release_simulated(folder: Path, out: Path) -> None:
    """From distinct rows to a written release by SafePub."""
    _released(_simulated(folder), out)


def counts_simulated(folder: Path, out: Path) -> None:
    """From distinct rows to a written release by noisy counts at the lowest level but one."""
    import shoal

    table = _simulated(folder)
    levels = {name: min(1, tree.height - 1) for name, tree in table.hierarchies.items()}
    method = shoal.NoisyCounts(1, "1e-9", levels=levels)
    method.release(table).write(out / "release")


def gather_simulated(folder: Path, _: Path) -> None:
    """From distinct rows to counts."""
    table = _simulated(folder)
    table.count(table.names)


def _released(table: "shoal.Table", out: Path) -> None:
    import shoal

    shoal.SafePub(1, "1e-9").release(table).write(out / "release")


@dataclass(frozen=True, eq=False)
class Simulated:
    """An engine that hands over distinct rows, as a cluster does."""

    folder: Path
    name: str = "the simulation"
    decimals: frozenset[str] = frozenset()

    @property
    def types(self) -> pl.DataFrame:
        schema = pl.scan_parquet(self.folder).drop("count").collect_schema()
        return pl.DataFrame(schema=schema)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        for path in sorted(self.folder.iterdir()):
            yield pl.read_parquet(path).select(*names, "count")

    def orders(self) -> bool:
        return False

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        raise NotImplementedError

    def rows(self) -> int:
        return int(pl.scan_parquet(self.folder).select(pl.col("count").sum()).collect().item())

    def distinct(self, name: str) -> int:
        return int(pl.scan_parquet(self.folder).select(pl.col(name).n_unique()).collect().item())

    def head(self, rows: int) -> pl.DataFrame:
        return pl.scan_parquet(self.folder).drop("count").head(rows).collect()


if __name__ == "__main__":
    name, given_folder, given_out = sys.argv[1:]
    globals()[name](Path(given_folder), Path(given_out))
