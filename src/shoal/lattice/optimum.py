"""The node that loses least, without scoring every node: branch and bound over the whole lattice.

For losses that are sums over records and columns. Two facts carry it. Without suppression a node's
loss needs only the columns' marginals. And a record suppressed at a node is suppressed at every
finer one, where its values weigh no
more: so what suppression adds at a node (its *excess*) is a lower bound for the excess of all finer
nodes. So a box of open nodes is bounded by its coarsest corner, at the price of one evaluation, and
what stays open is split along the axis that merges most. All boxes go through this side by side, in
rounds.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.lattice.rollup import Ask, Cells, Floats, Index, Levels, Rollup, Sizes

__all__ = ["Evaluation", "Optimum"]

TIE = 1e-9  # losses closer than this share of the whole are equal; of equal nodes the first in the columns' order is taken
PARALLEL = 100_000  # rows from which every node is evaluated exactly, by two threads (measured)
SHARED = (
    8_000  # rows from which a second thread gains more than it costs for many short ones (measured)
)
MANY = 100  # and of these, in a round
THREADS = 2
FEW = 8  # boxes of a round where evaluations take long: what the last ones told may spare the next (measured)
SOME = 400  # where they are short: many at once cost less each (measured)


class Evaluation(NamedTuple):
    """How many records a node suppresses and what that adds to its loss; and of both what every
    finer node adds at least.
    """

    suppressed: float
    excess: float
    lasting: float
    lasting_excess: float


class Optimum:
    """Search for the least loss. `level[a][l]` weighs the codes of axis a at level l,
    `suppressed[a]` a suppressed record.

    `rule` is a smallest group size, or a function that evaluates a node under any other rule. With
    a group size, `penalty` says how many records count as suppressed for groups below it (by itself
    all of them); it must be such that a group never counts for more than its parts, and a record in
    a part for no less than in the whole; and 0 from that size on.
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
        penalty: Callable[[Sizes], Sizes] | None = None,
        tie: float = TIE,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.rollup, self.level, self.limit, self.progress = rollup, level, limit, progress
        self.low, self.high = low, high
        self.lost = float(sum(suppressed))
        self._rule, self._large = rule, rollup.rows >= PARALLEL
        self._penalty = penalty or _whole(rule if isinstance(rule, int) else 0)
        self._free = [axis for axis in range(len(level)) if high[axis] > low[axis]]
        self._shape = [high[axis] - low[axis] + 1 for axis in self._free]
        self._masks = [(1 << steps.bit_length()) - 1 for steps in self._shape]
        least = [
            [float((worth - w).min(initial=worth)) for w in levels]
            for levels, worth in zip(level, suppressed, strict=True)
        ]
        fixed = [axis for axis in range(len(level)) if axis not in self._free]
        plain = np.full(
            self._shape, sum(self._plain(axis, low[axis]) for axis in fixed), dtype=np.float64
        )
        cheapest = np.full(
            self._shape, sum(least[axis][low[axis]] for axis in fixed), dtype=np.float64
        )
        codes = np.zeros(self._shape, dtype=np.int64)
        # A node is one number with some bits for every free axis, the highest of them unused:
        # subtracting two nodes borrows exactly the unused bits of the axes on which the first is
        # below the second.
        self._shifts, self._guards, bits = [], 0, 0
        for place, axis in enumerate(self._free):
            steps = high[axis] - low[axis]
            along = [-1 if other == place else 1 for other in range(len(self._free))]
            codes += np.arange(steps + 1).reshape(along) << bits
            plain += np.reshape(
                [self._plain(axis, low[axis] + step) for step in range(steps + 1)], along
            )
            cheapest += np.reshape(least[axis][low[axis] :][: steps + 1], along)
            self._shifts.append(bits)
            bits += steps.bit_length() + 1
            self._guards |= 1 << (bits - 1)
        assert bits < 64, "a lattice this large is refused before"
        self.plain: Floats = plain.ravel()
        """The loss of every node without suppression, in lexicographic order of the axes that may
        take several levels.
        """
        self.excess = np.zeros(len(self.plain))
        """What suppression adds at every node at least, by what is known so far."""
        self._codes, self._cheapest = (
            codes.ravel(),
            cheapest.ravel(),
        )  # the latter: what a suppressed record adds at least
        self._spread = [
            np.array(
                [
                    -inf,
                    *(
                        rollup.spread(axis, number - 1, number)
                        for number in range(low[axis] + 1, high[axis] + 1)
                    ),
                ]
            )
            for axis in self._free
        ]
        self.evaluated: dict[Levels, Evaluation] = {}
        self.best, self._here = inf, high
        self.losses: dict[Levels, float] = {}
        """The loss of every evaluated node."""
        self.known: set[int] = set()
        """The codes of the nodes that were bounded or evaluated."""
        self.tie = tie * self.lost * rollup.total

    def _plain(self, axis: int, level: int) -> float:
        return float((self.rollup.marginal(axis, level) * self.level[axis][level]).sum())

    def run(self) -> Levels | None:
        """The best node; None if every node suppresses more than the limit."""
        self._descend()
        self._search()
        if self.best == inf:
            return None
        # Whatever the order of the visit, every node this close to the best was evaluated, so the
        # choice is always the same.
        equal = [node for node, loss in self.losses.items() if loss <= self.best + self.tie]
        return min(equal, key=self.rollup.columns_of)

    def place(self, node: Levels) -> int:
        """Where a node is in the arrays."""
        place = 0
        for axis, steps in zip(self._free, self._shape, strict=True):
            place = place * steps + node[axis] - self.low[axis]
        return place

    def node(self, place: int) -> Levels:
        """The node at a place of the arrays."""
        return self._node(int(self._codes[place]))

    def _node(self, code: int) -> Levels:
        node = list(self.low)
        for axis, shift, mask in zip(self._free, self._shifts, self._masks, strict=True):
            node[axis] += code >> shift & mask
        return tuple(node)

    def _code(self, node: Levels) -> int:
        return sum(
            (node[axis] - self.low[axis]) << shift
            for axis, shift in zip(self._free, self._shifts, strict=True)
        )

    def evaluate(self, node: Levels, nodes: Index | None = None) -> float:
        """The loss of a node; what it tells about finer ones among the given nodes, or all, is
        kept.
        """
        if node not in self.losses:
            self._learn([self._code(node)], [self._take(node, self._evaluate(node))], nodes)
        return self.losses[node]

    def _descend(self) -> None:
        """A good start: from the top, the first step that loses less, those tried first that would
        lose least.
        """
        here = self.high
        self.evaluate(here)
        while True:
            steps = [
                (*here[:a], here[a] - 1, *here[a + 1 :])
                for a in range(len(here))
                if here[a] > self.low[a]
            ]
            for step in sorted(steps, key=lambda node: float(self.plain[self.place(node)])):
                at = self.place(step)
                if (
                    step not in self.losses
                    and self.plain[at] + self.excess[at] <= self.best + self.tie
                ):
                    self.evaluate(step)
                    if self._here == step:
                        break
            if self._here == here:
                return
            here = self._here

    def _search(self) -> None:
        """Bound boxes of open nodes by their coarsest corners and split them, until no open node is
        left.
        """
        nodes: Index = np.arange(len(self.plain))
        box = np.zeros(len(nodes), dtype=np.intp)  # the number of every open node's box, ascending
        with ThreadPoolExecutor(THREADS) as threads:
            while True:
                known = np.sort(np.fromiter(self.known, dtype=np.int64))
                still = self.plain[nodes] + self.excess[nodes] <= self.best + self.tie
                still &= ~_among(self._codes[nodes], known)
                nodes, box = nodes[still], box[still]
                if not len(nodes):
                    return
                nodes, box, asks = self._corners(nodes, box, known)
                parts = self._parts(asks)
                found = (threads.map if len(parts) > 1 else map)(self._bound, parts)
                self._bounded(list(chain.from_iterable(found)), nodes)

    def _parts(self, asks: list[Ask]) -> list[list[Ask]]:
        """What threads do side by side in a round; nodes that can be sorted together stay
        together.
        """
        if self._large:
            return [[ask] for ask in asks[-FEW:]]
        asks = sorted(
            asks[-SOME:], key=lambda ask: (-1, 0) if ask[1] is None else (ask[1], ask[0][ask[1]])
        )
        half = len(asks) // 2 if self.rollup.rows >= SHARED and len(asks) >= MANY else 0
        return [part for part in (asks[:half], asks[half:]) if part]

    def _bounded(self, found: Sequence[tuple[Levels, float | Evaluation]], nodes: Index) -> None:
        """Keep bounds on nodes, and what they tell about the open ones; those that may be the best
        are evaluated.

        With a group size, the number of suppressed records is enough for a bound: each costs what
        the cheapest one would.
        """
        steps = (
            np.array([node for node, _ in found])[:, self._free] - np.array(self.low)[self._free]
        )
        codes = (steps << self._shifts).sum(axis=1).tolist()
        places = np.ravel_multi_index(tuple(steps.T), self._shape)
        cheapest = self._cheapest[places].tolist()
        bounds = [
            self._take(node, bound)
            if isinstance(bound, Evaluation)
            else bound * least
            if bound <= self.limit
            else inf
            for (node, bound), least in zip(found, cheapest, strict=True)
        ]
        self._learn(codes, bounds, nodes)
        self.known.update(codes)
        self.excess[places] = np.maximum(self.excess[places], bounds)
        for place in np.flatnonzero(
            self.plain[places] + self.excess[places] <= self.best + self.tie
        ).tolist():
            self.evaluate(found[place][0], nodes)
        if self.progress is not None:
            self.progress(len(self.known), len(self.plain))

    def _corners(
        self, nodes: Index, box: Index, known: npt.NDArray[np.int64]
    ) -> tuple[Index, Index, list[Ask]]:
        """Boxes split until no coarsest corner of one is known; the open nodes in the order of
        their boxes, and the corners.
        """
        while True:
            starts = np.flatnonzero(np.diff(box, prepend=-1))
            box = np.cumsum(np.diff(box, prepend=box[0]) != 0)
            codes = self._codes[nodes]
            corner = np.zeros(len(starts), dtype=np.int64)
            best, split = np.full(len(starts), -inf), np.zeros(len(starts), dtype=np.intp)
            for place, (shift, mask) in enumerate(zip(self._shifts, self._masks, strict=True)):
                level = codes >> shift & mask
                top, bottom = np.maximum.reduceat(level, starts), np.minimum.reduceat(level, starts)
                corner |= top << shift
                merged = np.where(top > bottom, self._spread[place][top], -inf)
                split = np.where(merged > best, place, split)
                best = np.maximum(best, merged)
            done = _among(corner, known)
            if not done.any():
                asked = {
                    int(code): None if gain == -inf else self._free[place]
                    for code, place, gain in zip(corner, split, best, strict=True)
                }
                levels = np.tile(self.low, (len(asked), 1))
                levels[:, self._free] += (
                    np.array(list(asked))[:, None] >> self._shifts & self._masks
                )
                return (
                    nodes,
                    box,
                    list(zip(map(tuple, levels.tolist()), asked.values(), strict=True)),
                )
            shifts = np.array(self._shifts)[split][box]
            masks = np.array(self._masks)[split][box]
            upper = (codes >> shifts & masks) == (corner[box] >> shifts & masks)
            box = 2 * box + (upper & done[box])
            order = np.argsort(box, kind="stable")
            nodes, box = nodes[order], box[order]

    def _bound(self, asks: Sequence[Ask]) -> list[tuple[Levels, float | Evaluation]]:
        """What nodes, and those a level finer on an axis, lose, or with a group size at least how
        many records.
        """
        if not isinstance(self._rule, int):
            return [(node, self._rule(node)) for node, _ in asks]
        if self._large:
            return [
                (cells.levels, self._limited(cells))
                for cells in self.rollup.below(asks, self._rule)
            ]
        return list(self.rollup.masses(asks, self._rule, self._penalty))

    def _evaluate(self, node: Levels) -> Evaluation:
        if not isinstance(self._rule, int):
            return self._rule(node)
        return self._limited(next(iter(self.rollup.below([(node, None)], self._rule))))

    def _take(self, node: Levels, found: Evaluation) -> float:
        """Note what a node loses; gives what every finer one adds at least."""
        loss = float(self.plain[self.place(node)]) + (
            found.excess if found.suppressed <= self.limit else inf
        )
        self.evaluated[node] = found
        self.losses[node] = loss
        self.known.add(self._code(node))
        if loss < self.best:
            self.best, self._here = loss, node
        return found.lasting_excess if found.lasting <= self.limit else inf

    def _learn(self, coarser: Sequence[int], bounds: Sequence[float], nodes: Index | None) -> None:
        """Raise the excess of the given nodes, or of all, to the bounds on coarser ones."""
        places: Index = np.arange(len(self._codes)) if nodes is None else nodes
        codes, excess = self._codes[places], self.excess[places]
        best = sorted(
            ((bound, code) for code, bound in zip(coarser, bounds, strict=True) if bound > 0),
            reverse=True,
        )
        for number, (bound, code) in enumerate(best):
            if number % 16 == 0:  # bounds only fall from here: what has more already is done
                short = np.flatnonzero(excess < bound)
                self.excess[places] = excess
                places, codes, excess = places[short], codes[short], excess[short]
                finer, below = np.empty_like(codes), np.empty(len(codes), dtype=np.bool_)
            np.subtract(code | self._guards, codes, out=finer)
            np.bitwise_and(finer, self._guards, out=finer)
            np.equal(finer, self._guards, out=below)
            np.maximum(excess, bound, out=excess, where=below)
        self.excess[places] = excess

    def _limited(self, small: Cells) -> Evaluation:
        """What suppressing these groups adds."""
        kept = self._penalty(small.sizes)
        suppressed = float(kept.sum())
        weights = [levels[number] for levels, number in zip(self.level, small.levels, strict=True)]
        excess = self.lost * suppressed - small.weigh(weights, kept)
        return Evaluation(suppressed, excess, suppressed, excess)


def _whole(k: int) -> Callable[[Sizes], Sizes]:
    return lambda sizes: sizes * (sizes < k)


def _among(codes: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of the codes are among those known, which are ascending and more than none."""
    found: npt.NDArray[np.bool_] = known.take(np.searchsorted(known, codes), mode="clip") == codes
    return found
