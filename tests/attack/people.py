"""Small tables of two public columns and an illness, with what everyone may know of them."""

from fractions import Fraction
from typing import Any

import polars as pl

import shoal
from shoal.attack import AttackResult
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def tree(size: int) -> Hierarchy:
    return Hierarchy.from_lines(
        [[str(i), f"{i // 2 * 2}-{i // 2 * 2 + 1}", "*"] for i in range(size)], "integer"
    )


TREES = {"a": tree(8), "b": tree(4)}


def known(rows: list[tuple[int, int]]) -> Table:
    return shoal.table(
        pl.DataFrame(rows, schema=["a", "b"], orient="row"), quasi=["a", "b"], hierarchies=TREES
    )


def owned(rows: list[tuple[int, int]], ill: str) -> Table:
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_columns(
        ill=pl.Series(list(ill))
    )
    return shoal.table(frame, quasi=["a", "b"], sensitive=["ill"], hierarchies=TREES)


def of_everyone(found: AttackResult) -> list[tuple[dict[Any, Fraction], dict[Any, Fraction]]]:
    """What everyone is shown to have, and has to the attacker."""

    def some(shares: Any) -> dict[Any, Fraction]:
        return {value: share for value, share in shares.items() if share}

    return [
        (some(found.of(row).apparent), some(found.of(row).inherent)) for row in range(found.people)
    ]
