"""The node that loses least, for losses that are not sums: from the coarsest nodes down.

Such a loss puts the losses of columns together by a function that never falls when one of them
rises. Two facts bound a node that was not grouped: without suppression a column's loss needs only
its marginals, and records that are suppressed at a coarser node are suppressed here too. Where a
lattice is too large for that, `climb` looks for a node that no neighbour beats. Uses `lattice`;
methods that search use it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop
from math import inf

import numpy as np
import numpy.typing as npt

from shoal.lattice.lattice import Lattice, Node

__all__ = ["DownwardSearch", "Judged"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TIE = 1e-9
"""Losses closer than this share are equal, since sums of floats in another order differ."""

_PART = 1 << 16
"""Nodes that are bounded at a time."""


@dataclass(frozen=True)
class Judged:
    """A node that was grouped.

    key: what it loses, smaller is better; None if it suppresses too much
    suppressed: records that it suppresses
    lasting: of these, how many are suppressed at every finer node too
    """

    key: tuple[float, ...] | None
    suppressed: int
    lasting: int


@dataclass(eq=False)
class DownwardSearch:
    """A search from the coarsest node down, which groups only nodes that may be the best.

    judge: groups a node
    limit: how many records may be suppressed
    bound: a lower bound of what nodes lose, by their levels (one row per node) and by how many
        records they suppress at least; only `climb` goes without
    """

    lattice: Lattice
    judge: Callable[[Node], Judged]
    limit: int
    bound: Callable[[Ints, Ints], Floats] | None = None
    progress: Callable[[int, int], None] = lambda done, total: None
    known: dict[Node, Judged] = field(default_factory=dict)
    best: Node | None = None

    def run(self) -> Node | None:
        """The best node, the first in the order of the columns if several are; None without any."""
        lattice = self.lattice
        assert self.bound is not None
        self.climb()
        bottom, top = np.array(lattice.bottom), np.array(lattice.top)
        shape = top - bottom + 1
        strides = np.append(np.cumprod(shape[::-1])[::-1], 1)[1:].astype(np.int64)
        least = np.zeros(lattice.size, dtype=np.int64)
        done = 0
        for part in _by_height(shape, lattice.size):
            levels = (part[:, None] // strides) % shape
            for column, stride in enumerate(strides):
                can_rise = levels[:, column] < shape[column] - 1
                above = least[part[can_rise] + stride]
                least[part[can_rise]] = np.maximum(least[part[can_rise]], above)
            at_least = least[part]
            bounds = self.bound(levels + bottom, at_least)
            for place in np.flatnonzero((at_least <= self.limit) & (bounds <= self._most())):
                if bounds[place] <= self._most():
                    node = tuple((levels[place] + bottom).tolist())
                    least[part[place]] = max(self.look(node).lasting, int(at_least[place]))
            done += len(part)
            self.progress(done, lattice.size)
        return self.best

    def climb(self) -> Node | None:
        """A node that no neighbour beats, from the coarsest one on; None if there is none.

        Neighbours are those with another level of one column. Of these the ones that gained most
        when they were last grouped come first, and the first that still gains more than the others
        did is taken. It ends where all were grouped.
        """
        at: Node = self.lattice.top
        gains: dict[tuple[int, int], float] = {}
        self.look(at)
        while True:
            after = self._step(at, gains)
            if after is None or after == at:
                return after
            at = after

    def _step(self, at: Node, gains: dict[tuple[int, int], float]) -> Node | None:
        """The next node after one; itself if no neighbour is better, None without any so far."""
        waiting = []
        for column, levels in enumerate(self._levels):
            for level in levels:
                if level != at[column]:
                    neighbour = (*at[:column], level, *at[column + 1 :])
                    move = (column, level)
                    waiting.append((-gains.get(move, inf), neighbour, move))
        heapify(waiting)
        here = self.known[at].key
        while waiting:
            _, neighbour, move = heappop(waiting)
            key = self.look(neighbour).key
            gains[move] = -inf if key is None or here is None else here[0] - key[0]
            promised = -waiting[0][0] if waiting else -inf
            if self.best == neighbour and gains[move] > 0 and gains[move] >= promised:
                return neighbour
        return self.best

    @property
    def _levels(self) -> list[range]:
        ends = zip(self.lattice.bottom, self.lattice.top, strict=True)
        return [range(low, high + 1) for low, high in ends]

    def look(self, node: Node) -> Judged:
        """Group a node, unless it was, and keep it if it is the best so far."""
        if node in self.known:
            return self.known[node]
        judged = self.known[node] = self.judge(node)
        if judged.key is not None:
            first = self.best is None
            if first or (_rounded(judged.key), node) < (self._best_key(), self.best):
                self.best = node
        return judged

    def _best_key(self) -> tuple[float, ...]:
        assert self.best is not None
        key = self.known[self.best].key
        assert key is not None
        return _rounded(key)

    def _most(self) -> float:
        """What a node may lose, by the first part of its key, to be as good as the best."""
        if self.best is None:
            return inf
        most = self._best_key()[0]
        return most + TIE * max(abs(most), TIE)


def _rounded(key: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(f"{part:.9e}") for part in key)


def _by_height(shape: Ints, size: int) -> list[Ints]:
    """The numbers of all nodes from the coarsest down: all of a height before the next one."""
    heights = np.zeros(1, dtype=np.int16)
    for levels in shape:
        heights = np.add.outer(heights, np.arange(levels, dtype=np.int16)).ravel()
    order = np.argsort(-heights, kind="stable")
    cuts = np.flatnonzero(np.diff(heights[order])) + 1
    parts = []
    for part in np.split(order, cuts):
        parts += [part[start : start + _PART] for start in range(0, len(part), _PART)]
    return parts
