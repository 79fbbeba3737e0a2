"""Where the work at the size of the data runs: one Protocol; the embedded engine is the default."""

from collections.abc import Sequence
from typing import Protocol

from shoal.counts.counts import Counts
from shoal.engine.embedded import Embedded
from shoal.tables import Table

__all__ = ["Embedded", "Engine"]


class Engine(Protocol):
    """One group-by over all rows: the only work that grows with the table."""

    def count(self, table: Table, names: Sequence[str], *, leaves: bool = True) -> Counts:
        """The distinct rows of some columns; those with a hierarchy as leaves of it if `leaves`, else as the column's codes."""
        ...
