"""One record on its way to a lower risk, by steps that change two columns at a time.

Uses `alone`; `genetic` uses it. A step makes one column coarser and another finer, each by any
number of levels, and takes the best of all such pairs: whoever may be joined by it differs from
the record in one column only, so one pass over everybody counts all pairs at once.
"""

import numpy as np
import numpy.typing as npt

from shoal.lattice import Node
from shoal.methods.personal.alone import Alone

__all__ = ["Climb"]

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


class Climb:
    """The way of one record: from any node to one that no step betters."""

    def __init__(self, alone: Alone, row: int) -> None:
        self.row = row
        self.cells = 0
        """How much was looked at: people near the record, times columns."""
        self.heights = alone.heights
        self.worths, self.shown = alone.worths(row), alone.sensitivities(row)
        self.floor = alone.floor(row)
        self.meeting = alone.meeting(row)
        self.count = alone.crowds.everyone.count
        self._levels = np.arange(int(self.heights.max(initial=0)) + 1)
        # At the roots of all columns nobody differs.
        self._counted_at = self.heights
        self._differing = np.zeros(len(self.count), dtype=np.min_scalar_type(len(self.heights)))

    def best(self, node: Node, risk: float) -> tuple[Node, float]:
        """The end of the way that begins at a node with a risk, and the risk there, in units."""
        step: tuple[Node, float] | None = (node, risk)
        while step is not None:
            node, risk = step
            step = self.step(node, risk)
        return node, risk

    def step(self, node: Node, risk: float) -> tuple[Node, float] | None:
        """The best node two changes away, and its risk; None if it is not below that of the node.

        Axes of arrays are: the column that becomes finer, the one that becomes coarser, the level
        of that, and the level of the first.
        """
        levels = np.array(node, dtype=np.intp)
        fine, coarse = _changing(levels, self.heights)
        finer = self._levels <= levels[fine, None]
        above = self._levels > levels[coarse, None]
        coarser = above & (self._levels <= self.heights[coarse, None])
        allowed = self._changed(self.worths, levels, fine, coarse) >= self.floor
        allowed &= (fine[:, None] != coarse)[:, :, None, None]
        allowed &= coarser[:, :, None] & finer[:, None, None, :]
        # Columns whose change never keeps the utility need not be counted.
        fine_kept, coarse_kept = allowed.any(axis=(1, 2, 3)), allowed.any(axis=(0, 2, 3))
        fine, coarse = fine[fine_kept], coarse[coarse_kept]
        if not len(fine):
            return None
        allowed = allowed[fine_kept][:, coarse_kept]
        shown = self._changed(self.shown, levels, fine, coarse)
        sizes = np.maximum(self._sizes(levels, fine, coarse), 1)
        risks: Floats = np.where(allowed, shown / sizes, np.inf)
        place = np.unravel_index(int(risks.argmin()), risks.shape)
        if risks[place] >= risk:
            return None
        of_fine, of_coarse, coarse_level, fine_level = map(int, place)
        changed = list(node)
        changed[int(coarse[of_coarse])], changed[int(fine[of_fine])] = coarse_level, fine_level
        return tuple(changed), float(risks[place])

    def _changed(
        self, parts: npt.NDArray[np.int64], levels: Index, fine: Index, coarse: Index
    ) -> npt.NDArray[np.int64]:
        """A sum over columns after every pair of changes."""
        now = parts[np.arange(len(levels)), levels]
        change = parts - now[:, None]
        total: npt.NDArray[np.int64] = (
            now.sum() + change[fine][:, None, None, :] + change[coarse][:, :, None]
        )
        return total

    def _move(self, levels: Index) -> None:
        """Count in how many columns everybody differs at these levels, from where it was counted.

        A step changes two columns, and only these are looked at again.
        """
        for column in np.flatnonzero(levels != self._counted_at).tolist():
            meeting = self.meeting[column]
            self._differing += meeting > np.uint8(levels[column])
            self._differing -= meeting > np.uint8(self._counted_at[column])
        self._counted_at = levels

    def _sizes(self, levels: Index, fine: Index, coarse: Index) -> Floats:
        """How many people the record could be about after every pair of changes."""
        high = len(self._levels)
        self._move(levels)
        near = [np.flatnonzero(self._differing == 0)]
        joins = [np.zeros(len(near[0]), dtype=np.intp)]
        # Who differs in one column only joins at the level where they meet in it.
        nearly = np.flatnonzero(self._differing == 1)
        for place, column in enumerate(coarse.tolist()):
            meeting = self.meeting[column][nearly]
            differs = meeting > np.uint8(levels[column])
            near.append(nearly[differs])
            joins.append((1 + place * high + meeting[differs].astype(np.intp)) * high)
        people, joined = np.concatenate(near), np.concatenate(joins)
        weights = self.count[people].astype(np.float64)
        self.cells += len(people) * len(fine)
        bins = (1 + len(coarse) * high) * high
        counted = np.empty((len(fine), bins))
        for place, column in enumerate(fine.tolist()):
            counted[place] = np.bincount(joined + self.meeting[column][people], weights, bins)
        now = counted[:, :high].reshape(len(fine), 1, 1, high)
        joining = counted[:, high:].reshape(len(fine), len(coarse), high, high)
        total: Floats = (now + joining.cumsum(axis=2)).cumsum(axis=3)
        return total


def _changing(levels: Index, heights: Index) -> tuple[Index, Index]:
    """The columns that may become finer, and those that may become coarser.

    Two that are as fine as can be stay among the first: they stand for steps that make only another
    column coarser.
    """
    may_be_finer = levels > 0
    may_be_finer[np.flatnonzero(levels == 0)[:2]] = True
    return np.flatnonzero(may_be_finer), np.flatnonzero(levels < heights)
