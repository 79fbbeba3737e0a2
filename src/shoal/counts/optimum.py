"""The node that loses least, without scoring every node: branch and bound over the whole lattice.

For losses that are sums over records and columns. Two facts carry it. Without suppression a node's loss needs only
the columns' marginals. And a record suppressed at a node is suppressed at every finer one, where its values weigh no
more: so what suppression adds at a node (its *excess*) is a lower bound for the excess of all finer nodes.
So a box of open nodes is bounded by its coarsest corner, at the price of one evaluation, and what stays open is split
along the axis that merges most.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from threading import Condition, RLock
from typing import NamedTuple

import numpy as np

from shoal.counts.rollup import Cells, Floats, Levels, Rollup

__all__ = ["Evaluation", "Optimum"]

TIE = 1e-9  # losses closer than this share of the whole are equal; of equal nodes the first in the columns' order is taken
PARALLEL = 100_000  # rows from which a second thread gains more than it costs (measured)
THREADS = 2


class Evaluation(NamedTuple):
    """How many records a node suppresses and what that adds to its loss; and of both what every finer node adds at least."""

    suppressed: int
    excess: float
    lasting: int
    lasting_excess: float


class Optimum:
    """Search for the least loss. `level[a][l]` weighs the codes of axis a at level l, `suppressed[a]` a suppressed record.

    `rule` is a smallest group size, or a function that evaluates a node under any other rule.
    """

    def __init__(
        self,
        rollup: Rollup,
        level: Sequence[Sequence[Floats]],
        suppressed: Sequence[float],
        rule: int | Callable[[Levels], Evaluation],
        *,
        low: Levels,
        high: Levels,
        limit: float = inf,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.rollup, self.level, self.limit, self.progress = rollup, level, limit, progress
        self.low, self.high = low, high
        self.lost = float(sum(suppressed))
        self._rule = rule
        self._free = [axis for axis in range(len(level)) if high[axis] > low[axis]]
        shape = [len(level[axis]) for axis in self._free]
        self.plain = np.zeros(shape)
        """The loss of every node without suppression; nodes are told apart by the axes that may take several levels."""
        for axis, weights in enumerate(level):
            sums = [float((rollup.marginal(axis, number) * weight).sum()) for number, weight in enumerate(weights)]
            if axis in self._free:
                self.plain += np.reshape(sums, [-1 if other == axis else 1 for other in self._free])
            else:
                self.plain += sums[low[axis]]
        self.excess = np.zeros(shape)
        """What suppression adds at every node at least, by what is known so far."""
        self.evaluated: dict[Levels, Evaluation] = {}
        self.best, self._here = inf, high
        self._losses: dict[Levels, float] = {}
        self.tie = TIE * self.lost * rollup.total
        self._turn = Condition(RLock())
        self._boxes: list[tuple[Levels, Levels]] = []
        self._busy, self._failed = 0, False

    def run(self) -> Levels | None:
        """The best node; None if every node suppresses more than the limit."""
        self._descend()
        self._boxes = [(self.low, self.high)] if self._free else []
        helpers = THREADS - 1 if self.rollup.rows >= PARALLEL else 0
        with ThreadPoolExecutor(max(helpers, 1)) as pool:
            helping = [pool.submit(self._work) for _ in range(helpers)]
            self._work()
            for helper in helping:
                helper.result()
        if self.best == inf:
            return None
        # Whatever the order of the visit, every node this close to the best was evaluated, so the choice is always the same.
        equal = [node for node, loss in self._losses.items() if loss <= self.best + self.tie]
        return min(equal, key=self.rollup.columns_of)

    def _at(self, node: Levels) -> Levels:
        """The place of a node in the arrays."""
        return tuple(node[axis] for axis in self._free)

    def _descend(self) -> None:
        """A good start: from the top, the first step that loses less, those tried first that would lose least."""
        here = self.high
        self._evaluate(here)
        while True:
            steps = [(*here[:a], here[a] - 1, *here[a + 1 :]) for a in range(len(here)) if here[a] > self.low[a]]
            for step in sorted(steps, key=lambda node: float(self.plain[self._at(node)])):
                at = self._at(step)
                if step not in self.evaluated and self.plain[at] + self.excess[at] <= self.best + self.tie:
                    self._evaluate(step)
                    if self._here == step:
                        break
            if self._here == here:
                return
            here = self._here

    def _work(self) -> None:
        """Take boxes of nodes from the stack until none is left and nobody can add one."""
        while True:
            with self._turn:
                while not self._boxes and self._busy and not self._failed:
                    self._turn.wait()
                if not self._boxes or self._failed:
                    return
                box = self._boxes.pop()
                self._busy += 1
            parts: list[tuple[Levels, Levels]] = []
            try:
                parts = self._visit(*box)
            except BaseException:
                self._failed = True
                raise
            finally:
                with self._turn:
                    self._busy -= 1
                    self._boxes += parts
                    self._turn.notify_all()

    def _visit(self, low: Levels, high: Levels) -> list[tuple[Levels, Levels]]:
        """Bound the open nodes between two by their common coarsening, and split what stays open."""
        while True:
            box = tuple(slice(low[axis], high[axis] + 1) for axis in self._free)
            still = self.plain[box] + self.excess[box] <= self.best + self.tie
            places = np.array(np.unravel_index(np.flatnonzero(still), still.shape))
            if not places.size:
                return []
            corners = np.array([low, high])
            corners[:, self._free] = np.add((places.min(axis=1), places.max(axis=1)), corners[0, self._free])
            low, high = tuple(corners[0].tolist()), tuple(corners[1].tolist())
            axis = max(
                (a for a in self._free if high[a] > low[a]),
                key=lambda a: self.rollup.spread(a, high[a] - 1, high[a]),
                default=None,
            )
            if high in self.evaluated:
                break
            self._evaluate(high, axis)
        if axis is None:
            return []
        upper = (*low[:axis], high[axis], *low[axis + 1 :])
        lower = (*high[:axis], high[axis] - 1, *high[axis + 1 :])
        return [(low, lower), (upper, high)]

    def _evaluate(self, node: Levels, axis: int | None = None) -> None:
        """Evaluate a node; and the one a level finer on an axis, where that costs little more."""
        if not isinstance(self._rule, int):
            self._take(node, self._rule(node))
        elif axis is None:
            self._take(node, self._limited(self.rollup.below(node, self._rule)))
        else:
            for cells in self.rollup.below_both(node, axis, self._rule):
                self._take(cells.levels, self._limited(cells))

    def _take(self, node: Levels, found: Evaluation) -> None:
        excess = found.excess if found.suppressed <= self.limit else inf
        lasting = found.lasting_excess if found.lasting <= self.limit else inf
        loss = float(self.plain[self._at(node)]) + excess
        finer = tuple(slice(0, node[axis] + 1) for axis in self._free)
        with self._turn:
            self.excess[finer] = np.maximum(self.excess[finer], lasting)
            self.evaluated[node] = found
            self._losses[node] = loss
            if loss < self.best:
                self.best, self._here = loss, node
            if self.progress is not None:
                self.progress(len(self.evaluated), self.plain.size)

    def _limited(self, small: Cells) -> Evaluation:
        """What suppressing these groups adds."""
        suppressed = float(small.sizes.sum())
        weights = [levels[number] for levels, number in zip(self.level, small.levels, strict=True)]
        excess = self.lost * suppressed - small.weigh(weights, small.sizes)
        return Evaluation(int(suppressed), excess, int(suppressed), excess)
