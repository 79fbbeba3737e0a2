"""The tables that are measured: adult, health and timeuse where they are at hand, wide ones made by
code.

Where a table is not at hand, one of the same shape is made up by code, so that every measurement
runs from a plain clone. Its name says so, as figures of it are not those of the docs.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy import Hierarchy

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "bench" / "data"
"""Where tables are made unless another folder is given."""

TABLES = Path(os.environ.get("SHOAL_TABLES") or ROOT.parent / "shared" / "data")
"""Where adult, make_large.py and the hierarchies of the large tables are; else tables of the same
shape are made up.
"""

ROWS = {"adult": 30_162, "health": 1_193_504, "timeuse": 539_253}
SHAPES = {
    "adult": {
        "sex": (2,),
        "age": (100, 20, 10, 5),
        "race": (5, 3),
        "marital-status": (8, 4),
        "education": (16, 5, 3),
        "native-country": (42, 7),
        "workclass": (9, 4),
        "occupation": (16, 5),
        "salary-class": (2,),
    },
    "health": {
        "AGE": (100, 20, 10, 5),
        "EDUC": (26, 5),
        "MARSTAT": (10, 4),
        "QUARTER": (4, 2),
        "RACEA": (38, 6),
        "REGION": (4, 2),
        "SEX": (2,),
        "YEAR": (112, 23, 12, 6, 3),
    },
    "timeuse": {
        "Age": (101, 21, 11, 6, 4),
        "Birthplace": (155, 7),
        "Citizenship status": (6, 3),
        "Highest level of school completed": (18, 4, 2),
        "Labor force status": (6, 3),
        "Marital status": (7, 4),
        "Race": (23, 5),
        "Region": (4, 2),
        "Sex": (3,),
    },
}
"""How many values the columns of a table have, and how many labels each level of their hierarchies
below the root.
"""

NUMBERS = ("age", "year")  # columns whose values are numbers, and labels ranges of them
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[Any]

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


def adult(cache: Path | None = None) -> Source:
    """adult, or where it is not at hand a table of its shape."""
    path = TABLES / "adult" / "adult.csv"
    if not path.exists():
        return made_up("adult", cache or CACHE)
    return Source("adult", path, TABLES / "adult" / "hierarchies")


def at_hand(name: str) -> Source | None:
    """A table beside adult, such as acs; None where it is not at hand."""
    path = TABLES / name / f"{name}.csv"
    return Source(name, path, TABLES / name / "hierarchies") if path.exists() else None


def large(kind: str, cache: Path, rows: int | None = None) -> Source:
    """health or timeuse, made into `cache` where it is not there yet."""
    if not (TABLES / "make_large.py").exists():
        return made_up(kind, cache, rows)
    path = cache / (f"{kind}-{rows}.csv" if rows else f"{kind}.csv")
    if not path.exists():
        _make(
            path,
            [
                sys.executable,
                str(TABLES / "make_large.py"),
                kind,
                "OUT",
                *([str(rows)] if rows else []),
            ],
        )
    return Source(path.stem, path, TABLES / kind / "hierarchies")


def made_up(kind: str, cache: Path, rows: int | None = None) -> Source:
    """A table of the shape of another: as many rows, values and levels; skewed, and correlated with
    age.
    """
    path = cache / (f"made-up-{kind}-{rows}.csv" if rows else f"made-up-{kind}.csv")
    folder = cache / f"made-up-{kind}"
    if not path.exists():
        print(
            f"{kind} is not in {TABLES} (SHOAL_TABLES names another folder); "
            "making up a table of its shape …",
            file=sys.stderr,
        )
        folder.mkdir(parents=True, exist_ok=True)
        drawn = {}
        rng = np.random.default_rng(7)
        number = rows or ROWS[kind]
        old = rng.random(number)
        for name, shape in SHAPES[kind].items():
            lines = [*lines_of(name, shape)]
            (folder / f"{name}.csv").write_text("".join(f"{';'.join(line)}\n" for line in lines))
            values = np.array([line[0] for line in lines], dtype=object)
            drawn[name] = values[_drawn(name, len(values), old, rng)]
        _written(path, drawn)
    return Source(path.stem.replace("made-up-", "made-up "), path, folder)


def lines_of(name: str, shape: tuple[int, ...]) -> Iterator[list[str]]:
    """The lines of a hierarchy: every value with its labels; those of numbers are ranges."""
    places: list[Sequence[int]] = [range(shape[0])]
    for above, below in zip(shape[1:], shape, strict=False):
        places.append([place * above // below for place in places[-1]])
    for own in range(shape[0]):
        line = [str(own) if name.lower() in NUMBERS else f"{name} {own:03}"]
        for level, level_places in enumerate(places[1:], 1):
            label = level_places[own]
            inside = [i for i, other in enumerate(level_places) if other == label]
            numeric = name.lower() in NUMBERS
            line.append(f"{inside[0]}-{inside[-1]}" if numeric else f"{name} {level}.{label:02}")
        yield [*line, "*"]


def _drawn(name: str, size: int, old: Floats, rng: np.random.Generator) -> Ints:
    """The places of values: ages by themselves, others skewed, for older people often in another
    order.
    """
    if name.lower() == "age":
        return (17 + old**1.5 * (size - 18)).astype(np.int64)
    weight = 1 / np.arange(1, size + 1) ** 1.4
    places = rng.choice(size, len(old), p=weight / weight.sum())
    return np.where(rng.random(len(old)) < old / 4, rng.permutation(size)[places], places)


def _written(path: Path, columns: Mapping[str, Objects]) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", newline="") as out:
        writer = csv.writer(out, delimiter=";", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    unfinished.rename(path)


def _make(path: Path, command: list[str]) -> None:
    print(f"making {path.name} …", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    subprocess.run([str(unfinished) if word == "OUT" else word for word in command], check=True)
    unfinished.rename(path)


def wide(columns: int, cache: Path, rows: int = WIDE_ROWS) -> Source:
    """Many columns of twelve skewed values, each with a hierarchy of four levels (12, 6, 3, 1
    values).
    """
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
        share = weight / weight.sum()
        _written(path, {name: texts[rng.choice(WIDE_VALUES, rows, p=share)] for name in names})
    return Source(path.stem, path, folder)
