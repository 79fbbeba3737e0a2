"""Which values of a table its hierarchies lack. Uses `tables`; the doors use it.

The values are the table's own, and private: they are counted, and listed only for its owner.
"""

from dataclasses import dataclass

from shoal.data.hierarchy.check import uncovered
from shoal.data.tables import Table

__all__ = ["Uncovered", "uncovered_values"]


@dataclass(frozen=True)
class Uncovered:
    """The values of a column that its hierarchy does not have, and how many rows have one."""

    values: tuple[str, ...]
    rows: int


def uncovered_values(table: Table, name: str) -> Uncovered:
    """The values of a column that its hierarchy does not have.

    >>> import polars as pl
    >>> from shoal.data.hierarchy import suppress
    >>> from shoal.data.tables import table
    >>> sexes = {"sex": suppress(["f", "m"])}
    >>> people = table(pl.DataFrame({"sex": ["f", "x", "x"]}), hierarchies=sexes)
    >>> uncovered_values(people, "sex")
    Uncovered(values=('x',), rows=2)
    """
    kind, keys = table.kind(name), table.keys(name)
    absent = set(uncovered(table.hierarchy(name), keys))
    counts = table.count([name], {})
    rows = 0
    for code, count in zip(counts.codes[0].tolist(), counts.count.tolist(), strict=True):
        if keys[code] in absent:
            rows += count
    return Uncovered(tuple(kind.text(key) for key in keys if key in absent), rows)
