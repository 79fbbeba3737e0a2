"""Which values of a table its hierarchies lack. Uses `tables`; the doors use it.

The values are the table's own, and private: they are counted, and listed only for its owner.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from shoal.data.hierarchy.check import uncovered
from shoal.data.kinds import Key
from shoal.data.tables import Table

__all__ = ["Uncovered", "rows_having", "uncovered_values"]


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
    return Uncovered(
        tuple(kind.text(key) for key in keys if key in absent), _rows(table, name, absent)
    )


def rows_having(table: Table, name: str, values: Iterable[str]) -> int:
    """How many rows have one of some values in a column; a text that is no value counts nothing.

    With the values that a `Difference` concerns: the records that a new hierarchy changes.

    >>> import polars as pl
    >>> from shoal.data.tables import table
    >>> rows_having(table(pl.DataFrame({"sex": ["f", "m", "m"]})), "sex", ["m", "x"])
    2
    """
    kind = table.kind(name)
    wanted = set()
    for value in values:
        try:
            wanted.add(kind.key(value))
        except (ValueError, TypeError, OverflowError):
            continue
    return _rows(table, name, wanted)


def _rows(table: Table, name: str, wanted: "set[Key] | set[Key | None]") -> int:
    """How many rows of a column have one of some keys."""
    keys, counts = table.keys(name), table.count([name], {})
    rows = 0
    for code, count in zip(counts.codes[0].tolist(), counts.count.tolist(), strict=True):
        if keys[code] in wanted:
            rows += count
    return rows
