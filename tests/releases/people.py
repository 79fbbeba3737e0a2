"""People with an age and an illness, and their rows as a release lays them out."""

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.lattice import Lattice
from shoal.releases.layout import assemble

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)
SEXES = Hierarchy.from_lines([["f", "*"], ["m", "*"]])


def people(rows: int = 60, seed: int = 1, kind: Any = pl.DataFrame) -> Table:
    random = np.random.default_rng(seed)
    columns = {
        "name": [f"person {i}" for i in range(rows)],
        "sex": random.choice(["f", "m"], rows).tolist(),
        "age": random.integers(0, 100, rows).tolist(),
        "ill": random.choice(["flu", "gout", ""], rows).tolist(),
        "paid": random.choice([1.5, 2.25], rows).tolist(),
    }
    return shoal.table(
        kind(columns),
        quasi=["sex", "age"],
        sensitive=["ill"],
        insensitive=["paid"],
        identifying=["name"],
        hierarchies={"age": AGES, "sex": SEXES},
    )


def assembled(
    table: Table, node: tuple[int, ...] = (0, 1), k: int = 2, suppressed: Any = "drop"
) -> Any:
    lattice = Lattice(
        table.count(table.quasi), {name: table.hierarchy(name) for name in table.quasi}
    )
    groups = lattice.groups(node)
    return assemble(table, groups, groups.sizes >= k, suppressed=suppressed).repeated()


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows())
