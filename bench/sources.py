"""The tables that are measured: adult is there or not; health and timeuse are made once, wide ones by code."""

import csv
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.hierarchy import Hierarchy

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
"""Where the real tables and make_large.py lie: beside the project."""

WIDE_ROWS = 200_000
WIDE_VALUES = 12


@dataclass(frozen=True)
class Source:
    """A file with a header and `;` between the columns, and the hierarchies of all its columns."""

    name: str
    path: Path
    folder: Path
    """One CSV file a column in the form ARX uses."""

    def hierarchies(self) -> dict[str, Hierarchy]:
        found = {}
        for path in self.folder.glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as lines:
                found[path.stem] = Hierarchy.from_lines(
                    [line for line in csv.reader(lines, delimiter=";") if line], root="*"
                )
        return found


def adult() -> Source:
    return Source("adult", SHARED / "adult" / "adult.csv", SHARED / "adult" / "hierarchies")


def large(kind: str, cache: Path, rows: int | None = None) -> Source:
    """health or timeuse, made into `cache` where it is not there yet."""
    path = cache / (f"{kind}-{rows}.csv" if rows else f"{kind}.csv")
    if not path.exists():
        _make(
            path,
            [
                sys.executable,
                str(SHARED / "make_large.py"),
                kind,
                "OUT",
                *([str(rows)] if rows else []),
            ],
        )
    return Source(path.stem, path, SHARED / kind / "hierarchies")


def _make(path: Path, command: list[str]) -> None:
    print(f"making {path.name} …", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    subprocess.run([str(unfinished) if word == "OUT" else word for word in command], check=True)
    unfinished.rename(path)


def wide(columns: int, cache: Path, rows: int = WIDE_ROWS) -> Source:
    """Many columns of twelve skewed values, each with a hierarchy of four levels (12, 6, 3, 1 values)."""
    folder = cache / f"wide-{columns}"
    path = cache / f"wide-{columns}.csv"
    names = [f"c{j:02}" for j in range(columns)]
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            lines = (
                f"v{i:02};{i // 2 * 2:02}-{i // 2 * 2 + 1:02};{('low', 'mid', 'high')[i // 4]};*\n"
                for i in range(WIDE_VALUES)
            )
            (folder / f"{name}.csv").write_text("".join(lines))
        rng = np.random.default_rng(7)
        weight = 1 / np.arange(1, WIDE_VALUES + 1) ** 1.4
        texts = np.array([f"v{i:02}" for i in range(WIDE_VALUES)], dtype=object)
        drawn = [texts[rng.choice(WIDE_VALUES, rows, p=weight / weight.sum())] for _ in names]
        unfinished = path.with_suffix(".part")
        with unfinished.open("w", newline="") as out:
            writer = csv.writer(out, delimiter=";", lineterminator="\n")
            writer.writerow(names)
            writer.writerows(zip(*drawn, strict=True))
        unfinished.rename(path)
    return Source(path.stem, path, folder)
