"""A made-up table and methods whose releases have values of several levels, by region."""

import random
from pathlib import Path

import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data import hierarchy
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.methods.method import Method
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.releases.release import Release

TOWNS = Hierarchy.from_lines(
    [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]
)
AGES = Hierarchy.from_lines([[str(i), f"{i // 2}.", f"{i // 4}:", "*"] for i in range(8)])
ILLS = Hierarchy.from_lines(
    [["flu", "lung", "any"], ["cough", "lung", "any"], ["burn", "skin", "any"]]
)
TREES = {"town": TOWNS, "age": AGES, "ill": ILLS}

NOISY = NoisyCounts(1, "1e-3", levels="tree")
SAMPLED = SafePub(1, "1e-3", search="tree", split="1/2")
METHODS: dict[str, Method] = {"noisy": NOISY, "sampled": SAMPLED}


def town_records(seed: int = 1, records: int = 1500) -> pl.DataFrame:
    """Records that are dense in one corner and sparse elsewhere."""
    draw = random.Random(seed)
    ages = [min(int(draw.expovariate(0.7)), 7) for _ in range(records)]
    return pl.DataFrame(
        {
            "town": [draw.choice("aaaaaabbcd") for _ in ages],
            "age": [str(age) for age in ages],
            "ill": [draw.choice(["flu", "flu", "flu", "cough", "burn"]) for _ in ages],
            "sex": ["f" if (draw.random() < 0.9) == (age < 2) else "m" for age in ages],
        }
    )


def town_table(seed: int = 1, records: int = 1500) -> Table:
    """The same as a table; everything but the sex has a hierarchy."""
    return shoal.table(
        town_records(seed, records),
        quasi=["town", "age"],
        sensitive=["ill"],
        insensitive=["sex"],
        hierarchies=TREES,
        rows_are_people=True,
    )


def by_region(name: str, table: Table, seed: int = 1) -> Release:
    """A release by one of the methods."""
    return METHODS[name].release(table, Seeded(seed))


def leaves_of(column: str, text: str) -> frozenset[str]:
    """The leaves that a released text stands for."""
    tree = TREES[column]
    covered = set()
    for labels, codes in tree.levels:
        covered |= {
            leaf
            for leaf, code in zip(tree.labels[0], codes.tolist(), strict=True)
            if labels[code] == text
        }
    return frozenset(covered)


RECIPE = """
[source]
path = "towns.csv"
types = { age = "text" }
[roles]
town = "quasi"
age = "quasi"
ill = "sensitive"
sex = "insensitive"
[hierarchies]
town = { file = "town.csv" }
age = { file = "age.csv" }
ill = { file = "ill.csv" }
[method]
"""

METHOD_LINES = {
    "noisy": 'name = "noisy-counts"\nepsilon = 1\ndelta = "1e-3"\nlevels = "tree"\n',
    "sampled": ('name = "safepub"\nepsilon = 1\ndelta = "1e-3"\nsearch = "tree"\nsplit = "1/2"\n'),
}


def write_towns(folder: Path, method: str) -> Path:
    """Write the table, its hierarchies and a recipe with one of the methods."""
    # Of fewer records, all towns may be released as leaves, one time in ten.
    town_records(records=12_000).write_csv(folder / "towns.csv")
    for name, tree in TREES.items():
        hierarchy.write(tree, folder / f"{name}.csv")
    recipe = folder / f"{method}.toml"
    recipe.write_text(RECIPE + METHOD_LINES[method])
    return recipe
