"""`python -m bench.larger`: data larger than memory, from the bare group-by to a written release.

Each thing is done by a fresh process on the same Parquet files, which are drawn by numpy in the
shape of health. Time and memory are what the system counted for it. The unit is the fastest bare
group-by of the same rows. A billion rows are made up by their counts: distinct rows in parts, as an
engine would hand them over.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from bench import larger_work
from bench.__main__ import Cells, Printed, say
from bench.command import Used, run
from bench.larger_work import LIMIT
from bench.sources import CACHE, SHAPES, lines_of

SHAPE = SHAPES["health"]
PART = 5_000_000
"""Rows of one file."""

MILLIONS = (1, 10, 100)
BAR = 4.0
"""Times the bare group-by that a release may take."""

MEMORY_BAR = 4000.0
"""Megabytes that a release of a hundred million rows may hold."""

YEARS = 13
"""Years in which people were asked: the last ones."""

DISTINCT = 70_000_000
"""Distinct rows of a billion rows, by how they grow up to a hundred million."""

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]


# Tables


def values() -> dict[str, pl.Series]:
    """The texts of every column."""
    return {
        name: pl.Series(name, [line[0] for line in lines_of(name, shape)])
        for name, shape in SHAPE.items()
    }


def made(rows: int, cache: Path) -> Path:
    """A folder of Parquet files with that many rows, made where it is not there yet."""
    starts = range(0, rows, PART)
    parts = (drawn(part, min(PART, rows - start)) for part, start in enumerate(starts))
    return _folder(cache / f"larger-{rows}", parts)


def _folder(folder: Path, parts: Iterable[pl.DataFrame]) -> Path:
    """A folder of Parquet files, which appears when all of them are written."""
    if folder.exists():
        return folder
    say(f"making {folder.name}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        unfinished = Path(temporary) / folder.name
        unfinished.mkdir()
        for number, part in enumerate(parts):
            part.write_parquet(unfinished / f"{number:03}.parquet")
        unfinished.rename(folder)
    return folder


def drawn(part: int, rows: int) -> pl.DataFrame:
    """People, skewed and correlated with age, as survey data are."""
    rng = np.random.default_rng([7, part])
    texts = values()
    years = np.arange(len(texts["AGE"]))
    bell = np.exp(-(((years - 38) / 24) ** 2)) + 0.15 * np.exp(-((years / 12) ** 2))
    age = _places(bell, rows, rng)
    columns = []
    for name, own in texts.items():
        size = len(own)
        if name == "AGE":
            places = age
        elif name == "YEAR":
            places = rng.integers(size - YEARS, size, rows)
        elif name == "QUARTER":
            places = rng.integers(0, size, rows)
        else:
            young = np.arange(1.0, size + 1) ** (-2.6 if name == "RACEA" else -1.4)
            old = np.random.default_rng(size).permutation(young)
            is_shifted = rng.random(rows) < age / 400
            shifted = _places(old, rows, rng)
            places = np.where(is_shifted, shifted, _places(young, rows, rng))
        columns.append(own[places.astype(np.uint32)])
    return pl.DataFrame(columns)


def _places(weights: Floats, rows: int, rng: np.random.Generator) -> Ints:
    """Random places with these weights."""
    sums = np.cumsum(weights)
    places: Ints = np.searchsorted(sums[:-1], rng.random(rows) * sums[-1], side="right")
    return places


def simulated(distinct: int, cache: Path) -> Path:
    """A folder of distinct rows with how often each occurs, fourteen times on average."""
    size = PART // 5
    starts = range(0, distinct, size)
    parts = (_distinct_rows(start, min(start + size, distinct), distinct) for start in starts)
    return _folder(cache / f"simulated-{distinct}", parts)


def _distinct_rows(start: int, stop: int, distinct: int) -> pl.DataFrame:
    """Some of the distinct rows: one among as many neighbours in the order of all combinations."""
    rng = np.random.default_rng([8, start])
    texts = values()
    step = int(np.prod([len(own) for own in texts.values()])) // distinct
    cell = np.arange(start, stop) * step + rng.integers(0, step, stop - start)
    columns = []
    for own in reversed(texts.values()):
        cell, place = np.divmod(cell, len(own))
        columns.append(own[place.astype(np.uint32)])
    count = np.minimum(1 + 6.7 * rng.pareto(1.5, stop - start), 1e6).astype(np.int64)
    return pl.DataFrame([*reversed(columns), pl.Series("count", count)])


# What is measured


Doing = Callable[[Path, Path], None]

BARE: Mapping[str, Doing] = {
    "the bare group-by, Polars, categories": larger_work.polars_categories,
    f"the bare group-by, DuckDB, {LIMIT}": larger_work.duckdb_limited,
}
OURS: Mapping[str, Doing] = {
    "read in streams, and count": larger_work.count_stream,
    f"DuckDB relation, {LIMIT}, and count": larger_work.count_duckdb,
    "read in streams, SafePub, write": larger_work.release_stream,
    f"DuckDB relation, {LIMIT}, SafePub, write": larger_work.release_duckdb,
}
IN_MEMORY: Mapping[str, Doing] = {
    "the bare group-by, Polars, texts": larger_work.polars_texts,
    "read into memory, and count": larger_work.count_memory,
}
SIMULATED: Mapping[str, Doing] = {
    "gather and count": larger_work.gather_simulated,
    "SafePub, write": larger_work.release_simulated,
    "noisy counts, write": larger_work.counts_simulated,
}
IN_MEMORY_UP_TO = 10_000_000
"""Rows up to which the table is also read into memory, or grouped by texts, which takes more."""


def measured(doing: Mapping[str, Doing], folder: Path) -> dict[str, Used]:
    """What each of several things took, in a process of its own."""
    found = {}
    for what, do in doing.items():
        say(f"{folder.name}: {what}")
        with tempfile.TemporaryDirectory() as temporary:
            out = Path(temporary)
            command = [sys.executable, "-m", "bench.larger_work", do.__name__]
            command += [str(folder.absolute()), str(out)]
            found[what] = run(command, out / "bytecode")
    return found


def growth(sizes: Sequence[int], cache: Path) -> Printed:
    """Growth with rows, in units of the fastest bare group-by."""
    cells: list[Cells] = []
    for rows in sizes:
        doing = {**BARE, **OURS, **(IN_MEMORY if rows <= IN_MEMORY_UP_TO else {})}
        found = measured(doing, made(rows, cache))
        seconds = min(found[what].seconds for what in BARE)
        cpu = min(found[what].cpu for what in BARE)
        for what, used in found.items():
            released = "SafePub" in what
            bar = BAR if released else None
            memory_bar = MEMORY_BAR if released and rows == max(sizes) else None
            time = (used.seconds, used.seconds / seconds, bar, used.cpu, used.cpu / cpu)
            cells.append((f"{rows:,}", what, *time, used.memory, memory_bar))
    head = ("rows", "what", "seconds", "bare", "bar", "CPU seconds", "CPU, bare", "MB", "bar")
    return Printed("Larger data", head, cells)


def driver(distinct: int, cache: Path) -> Printed:
    """What the driver needs for the distinct rows that a cluster hands over."""
    cells: list[Cells] = []
    for what, used in measured(SIMULATED, simulated(distinct, cache)).items():
        of_each = used.memory * 1e6 / distinct
        cells.append((f"{distinct:,}", what, used.seconds, used.cpu, used.memory, of_each))
    head = ("distinct rows", "what", "seconds", "CPU seconds", "MB", "bytes for each")
    return Printed("What the driver needs", head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.larger", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=CACHE, help="where tables are, or are made (bench/data)"
    )
    parser.add_argument(
        "--millions",
        default=",".join(map(str, MILLIONS)),
        help="millions of rows, with commas (1,10,100); nothing to leave them out",
    )
    parser.add_argument(
        "--distinct",
        type=int,
        default=DISTINCT,
        help=f"distinct rows of the simulation ({DISTINCT:,}); 0 to leave it out",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    sizes = [int(float(size) * 1_000_000) for size in given.millions.split(",") if size]
    if sizes:
        print(growth(sizes, given.data).text(given.markdown))
    if given.distinct:
        print(driver(given.distinct, given.data).text(given.markdown))


if __name__ == "__main__":
    main()
