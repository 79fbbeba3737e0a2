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


class Climb:
    """The way of one record: from any node to one that no step betters."""

    def __init__(self, alone: Alone, row: int) -> None:
        self.heights = alone.heights
        self.worths, self.shown = alone.worths(row), alone.sensitivities(row)
        self.floor = alone.floor(row)
        self.meeting = alone.meeting(row)
        self.count = alone.crowds.everyone.count
        levels = np.arange(int(self.heights.max(initial=0)) + 1)
        self._levels = levels
        self._possible = levels <= self.heights[:, None]
        # At the roots of all columns nobody differs.
        self._counted_at = self.heights
        self._differing = np.zeros(len(self.count), dtype=np.uint16)
        self._apart = ~np.eye(len(self.heights), dtype=np.bool_)[:, :, None, None]

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
        worth = self._changed(self.worths, levels)
        shown = self._changed(self.shown, levels)
        coarser = self._possible & (self._levels >= levels[:, None])
        finer = self._levels <= levels[:, None]
        allowed = (worth >= self.floor) & self._apart
        allowed &= coarser[:, :, None] & finer[:, None, None, :]
        if not allowed.any():
            return None
        risks: Floats = np.where(allowed, shown / np.maximum(self._sizes(levels), 1), np.inf)
        place = np.unravel_index(int(risks.argmin()), risks.shape)
        if risks[place] >= risk:
            return None
        fine, coarse, coarse_level, fine_level = map(int, place)
        changed = list(node)
        changed[coarse], changed[fine] = coarse_level, fine_level
        return tuple(changed), float(risks[place])

    def _changed(
        self, parts: npt.NDArray[np.int64], levels: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.int64]:
        """A sum over columns after every pair of changes."""
        now = parts[np.arange(len(levels)), levels]
        change = parts - now[:, None]
        total: npt.NDArray[np.int64] = (
            now.sum() + change[:, None, None, :] + change[None, :, :, None]
        )
        return total

    def _move(self, levels: npt.NDArray[np.intp]) -> None:
        """Count in how many columns everybody differs at these levels, from where it was counted.

        A step changes two columns, and only these are looked at again.
        """
        for column in np.flatnonzero(levels != self._counted_at).tolist():
            meeting = self.meeting[column]
            self._differing += meeting > np.uint8(levels[column])
            self._differing -= meeting > np.uint8(self._counted_at[column])
        self._counted_at = levels

    def _sizes(self, levels: npt.NDArray[np.intp]) -> Floats:
        """How many people the record could be about after every pair of changes."""
        columns, high = len(levels), len(self._levels)
        self._move(levels)
        alike = np.flatnonzero(self._differing == 0)
        nearly = np.flatnonzero(self._differing == 1)
        # Who differs in one column only joins at the level where they meet in it.
        meeting = self.meeting[:, nearly]
        column = (meeting > levels[:, None].astype(np.uint8)).argmax(axis=0)
        joins = (column * high + meeting[column, np.arange(len(nearly))]) * high
        sizes = np.zeros((columns, columns, high, high))
        for fine in range(columns):
            now = np.bincount(self.meeting[fine, alike], self.count[alike], high)
            joining = np.bincount(joins + meeting[fine], self.count[nearly], columns * high * high)
            sizes[fine] = now + joining.reshape(columns, high, high).cumsum(axis=1)
        total: Floats = sizes.cumsum(axis=3)
        return total
