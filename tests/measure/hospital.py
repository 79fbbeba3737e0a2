"""A made-up hospital, and releases of it in buckets."""

from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data.tables import Table
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from shoal.releases.release import Release

LIMITS = Limits.each({}, others="0.17")


def hospital(rows: int = 3000, seed: int = 1, *, apart: bool = False) -> Table:
    """Twenty illnesses, independent of sex and age; if `apart`, no man has the ninth."""
    draw = np.random.default_rng(seed)
    weights = 0.9 ** np.arange(20)
    ill = draw.choice(20, rows, p=weights / weights.sum())
    sex = np.where((ill == 8) & apart, 0, draw.integers(0, 2, rows))
    frame = pl.DataFrame(
        {
            "sex": np.array(["female", "male"])[sex],
            "age": draw.integers(0, 90, rows),
            "ill": np.array([f"ill{i:02}" for i in range(20)])[ill],
        }
    )
    return shoal.table(frame, quasi=["sex", "age"], sensitive=["ill"])


def release(table: Table, seed: int | None = None, **options: Any) -> Release:
    return Buckets("ill", LIMITS, solver="two", **options).release(
        table, None if seed is None else Seeded(seed)
    )


def truth(table: Table, where: dict[str, list[Any]]) -> int:
    frame = table.frame.to_native()
    return int(frame.filter(*(pl.col(name).is_in(values) for name, values in where.items())).height)
