"""`ShownRows`: rows as a release shows them, at one node or at levels that differ by region.

Uses `counts` and hierarchies; methods that release groups of rows lay them out by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, Counts, group
from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["ShownRows", "at_node", "counted_at"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The distinct rows that are shown, by codes, and what every code stands for.

    texts: of every generalised column, the texts of its codes
    covered: of the same, how many leaves each text stands for
    """

    rows: Counts
    texts: Mapping[str, Sequence[str]]
    covered: Mapping[str, Ints]

    def where(self, kept: npt.NDArray[np.bool_]) -> "ShownRows":
        """Some of the rows."""
        return replace(self, rows=self.rows.where(kept))

    @property
    def labels(self) -> dict[str, tuple[Sequence[str], Codes]]:
        """Of every generalised column, its texts and the codes of the rows, to be laid out."""
        return {name: (texts, self.rows.column(name)) for name, texts in self.texts.items()}

    def lost(self, records: int, trees: Mapping[str, Hierarchy]) -> float | None:
        """The granularity that records have lost together, from 0 to 1, if these are released.

        None where no column has a level. It is what `measure` finds on the whole table, known here
        from the number of records and the rows.
        """
        if not trees:
            return None
        # A cell loses the share of its column's domain that it covers, all of it if suppressed.
        raw = float(len(trees) * (records - self.rows.total))
        for name, tree in trees.items():
            covered = self.covered[name][self.rows.column(name)]
            raw += float(covered @ self.rows.count) / tree.leaves
        input_itself = records * sum(1 / tree.leaves for tree in trees.values())
        span = len(trees) * records - input_itself
        if span <= 0:
            # The input has nothing that could be lost, but for its records.
            return float(records > 0 and not self.rows.total)
        return min(max((raw - input_itself) / span, 0.0), 1.0)


def at_node(counts: Counts, trees: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> ShownRows:
    """Rows, counted by leaves, at one node."""
    cards = list(counts.cards)
    for name, level in levels.items():
        cards[counts.names.index(name)] = trees[name].cardinality(level)
    codes = (_codes_at(counts, name, trees, levels) for name in counts.names)
    return counted_at(group(counts.names, codes, cards, counts.count), trees, levels)


def _codes_at(
    counts: Counts, name: str, trees: Mapping[str, Hierarchy], levels: Mapping[str, int]
) -> Codes:
    """The codes of a column at its level, if it has one."""
    leaves = counts.column(name)
    return trees[name].maps[levels[name]].take(leaves) if name in levels else leaves


def counted_at(
    rows: Counts, trees: Mapping[str, Hierarchy], levels: Mapping[str, int]
) -> ShownRows:
    """Rows that were counted at one node, by its codes."""
    texts = {name: trees[name].labels[level] for name, level in levels.items()}
    covered = {name: trees[name].cover(level) for name, level in levels.items()}
    return ShownRows(rows, texts, covered)
