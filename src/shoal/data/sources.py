"""The engine inside the process: one sort of packed keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shoal.counts import Counts, group
from shoal.data.tables import Table

__all__ = ["Embedded", "Engine"]


class Engine(Protocol):
    """One group-by over all rows: the only work that grows with the table."""

    def count(self, table: Table, names: Sequence[str], *, leaves: bool = True) -> Counts:
        """The distinct rows of some columns; those with a hierarchy as leaves of it if `leaves`."""
        ...


@dataclass(frozen=True)
class Embedded:
    """Counts with numpy on the coded columns."""

    def count(self, table: Table, names: Sequence[str], *, leaves: bool = True) -> Counts:
        """The distinct rows of some columns; those with a hierarchy as leaves of it if `leaves`, else as the column's codes."""
        table.columns(names)  # codes those side by side that are not coded yet
        codes, cards = [], []
        for name in names:
            if leaves and name in table.hierarchies:
                codes.append(table.leaves(name))
                cards.append(len(table.hierarchy(name).maps[0]))
            else:
                column = table.column(name)
                codes.append(column.codes)
                cards.append(len(column.keys))
        return group(names, codes, cards)
