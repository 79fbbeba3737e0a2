"""An example or more of every method of the catalogue, and the people they release. The conformance
suite runs over them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.methods.buckets import Buckets
from shoal.methods.coincident import Coincident
from shoal.methods.columns import Columns
from shoal.methods.disclosure import Disclosure
from shoal.methods.method import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.noisy_counts import KDGS, NoisyCounts
from shoal.methods.optimal import Optimal
from shoal.methods.personal import Personal
from shoal.methods.safepub import SafePub
from shoal.methods.sampling import RandomSample
from shoal.privacy.limits import Limits, Linear
from shoal.privacy.models import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    TCloseness,
)

BOTH = (KAnonymity(3), DistinctDiversity("ill", 2))
DIVERSE = (DistinctDiversity("ill", 2),)
HALF = Limits.each({}, others="1/2")
PARTS = [["age", "town", "tag"], ["ill"]]

METHODS: dict[str, Method] = {
    "disclosure": Disclosure(BOTH),
    "disclosure local": Disclosure(BOTH, local=True),
    "disclosure, entropy": Disclosure(
        (EntropyDiversity("ill", "3/2"),), floor={"age": 1}, local=True
    ),
    "mondrian strict": Mondrian(BOTH),
    "mondrian relaxed": Mondrian(BOTH, relaxed=True),
    "mondrian observed": Mondrian(BOTH, ranges="observed"),
    "mondrian close": Mondrian((KAnonymity(2), TCloseness("ill", "1/2"), BetaLikeness("ill", 3))),
    "optimal": Optimal(BOTH, suppression="1/10"),
    "optimal starred": Optimal(BOTH, suppression="1/10", suppressed="star"),
    "sampling": RandomSample("1/2"),
    # k = 1, and never all columns at their roots
    "safepub": SafePub("1/2", "2/5", ceiling={"age": 1}),
    "safepub walk": SafePub("1/2", "2/5", ceiling={"age": 1}, search="walk", steps=5),
    "safepub tree": SafePub("1/2", "2/5", search="tree"),
    # By these numbers a row of a single record is released with a probability of about 1/4.
    "noisy counts": NoisyCounts("ln(2)", "0.26", levels={"age": 1}),
    "noisy counts, standard": NoisyCounts("ln(2)", "0.26", counts=True, levels={}),
    "noisy counts, search": NoisyCounts("10/9*ln(2)", "0.26", levels="search"),
    "noisy counts, tree": NoisyCounts("10/7*ln(2)", "0.26", levels="tree", ceiling={"age": 1}),
    "noisy counts, printed": NoisyCounts(1, "9/10", 1, "probabilistic", noise="printed", levels={}),
    "k-dgs": KDGS(1, levels={"age": 1}),
    "personal": Personal("1/2"),
    "personal, harmonic": Personal("2/3", model="harmonic", measure="log", weights={"age": 2}),
    "personal, genetic": Personal("1/2", "genetic", effort=20),
    "personal, relaxed": Personal("1/2", "relaxed", effort=20),
    "personal, lagrangian": Personal("1/2", "lagrangian", effort=20),
    "coincident": Coincident(DIVERSE, 4),
    "coincident, interleaved": Coincident(
        DIVERSE, 4, "interleaved", order="curve", ranges="hierarchy", spare="records"
    ),
    "columns": Columns(2, "9/10", k=1, schema=PARTS, levels={"age": 1}),
    "columns, counted": Columns(2, "9/10", 1, 1, schema=PARTS, levels={"age": 1}, counts=True),
    "buckets of two": Buckets("ill", HALF, solver="two"),
    "buckets of several": Buckets(
        "ill", Limits.each({"gout": "0.4"}, others=Linear(1, "0.2")), solver="multi"
    ),
    "buckets by anatomy": Buckets("ill", HALF, solver="anatomy"),
    "buckets, optimal": Buckets(
        "ill", Limits.classes({"grave": ("0.4", ["gout", "größe"])}, others=1), largest=20
    ),
    "buckets within blocks": Buckets(
        "ill", Limits.each({}, others="0.7"), solver="two", within={"age": 2, "town": 2}
    ),
    "buckets with fakes": Buckets("ill", HALF, solver="two", fakes=1, largest=2),
    "buckets without associations": Buckets(
        "ill", HALF, solver="two", fakes=1, largest=2, associations=True
    ),
}

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)
PLACES = Hierarchy.from_lines(
    [
        ["Zürich", "south", "*"],
        ["Genève", "south", "*"],
        ["Łódź", "east", "*"],
        ["東京", "far", "*"],
        ["Oslo", "north", "*"],
    ]
)
TOWNS = ["Zürich", "Genève", "Łódź", "東京", "Oslo"]


def people(rows: int = 200, seed: int = 5, kind: Any = pl.DataFrame, **options: Any) -> Table:
    """A table whose insensitive column `tag` is unique and says nothing about the order of the
    rows.
    """
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "name": [f"Private Person {i}" for i in range(rows)],
        "age": random.integers(0, 100, rows).tolist(),
        "town": random.choice(TOWNS, rows).tolist(),
        "ill": random.choice(["grippe", "größe", "gout"], rows).tolist(),
        "tag": random.permutation(rows).tolist(),
    }
    return table(kind(columns), **options)


def table(frame: Any, **options: Any) -> Table:
    """People with their roles and hierarchies."""
    roles: dict[str, Any] = {
        "quasi": ["age", "town"],
        "sensitive": ["ill"],
        "identifying": ["name"],
        "insensitive": ["tag"],
    }
    return shoal.table(frame, **{**roles, "hierarchies": {"age": AGES, "town": PLACES}, **options})


# The long form: a row for each item of a person

FILMS = [f"film {i}" for i in range(5)]
LONG: dict[str, Any] = {"person": "who", "item": "film", "value": "stars"}
LONG_METHODS: dict[str, Method] = {
    "columns, long": Columns(2, "1/50", 3, 1, schema=[FILMS[:3], FILMS[3:]], **LONG),
    "columns, long and counted": Columns(
        2, "1/50", 3, 2, schema=[FILMS[:3], FILMS[2:]], counts=True, **LONG
    ),
}


def ratings(rows: int = 300, seed: int = 4, kind: Any = pl.DataFrame, **options: Any) -> Table:
    """Who likes films: some ratings are shared by many. `rows` is the number of people."""
    random = np.random.default_rng(seed)
    rated = [
        (f"Private Person {who}", f"film {item}", int(random.integers(1, 3)))
        for who in range(rows)
        for item in random.choice(5, random.integers(1, 4), replace=False)
    ]
    random.shuffle(rated)
    columns: dict[str, Any] = {
        "who": [who for who, _, _ in rated],
        "film": [film for _, film, _ in rated],
        "stars": [stars for _, _, stars in rated],
    }
    if not rated:
        # An empty list has no type.
        columns = {"who": np.array([], str), "film": np.array([], str), "stars": np.array([], int)}
    described: dict[str, Any] = {
        "identifying": ["who"],
        "quasi": ["film"],
        "sensitive": ["stars"],
        "types": {"who": "text", "film": "text", "stars": "integer"},
    }
    return shoal.table(kind(columns), **{**described, **options})


Tables = Callable[..., Table]
"""Makes tables for a method, of a number of rows, from a seed, as a kind of dataframe."""

EXAMPLES: dict[str, tuple[Method, Tables]] = {
    **{name: (method, people) for name, method in METHODS.items()},
    **{name: (method, ratings) for name, method in LONG_METHODS.items()},
}
"""Every example, with tables that it takes."""


def written(name: str, directory: Path) -> list[bytes]:
    """The files of a release by an example, with seeded draws."""
    method, tables = EXAMPLES[name]
    method.release(tables(), Seeded(7)).write(directory)
    return [file.read_bytes() for file in sorted(directory.iterdir())]
