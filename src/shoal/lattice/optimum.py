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

__all__ = ["Evaluation", "Optimum", "SmallGroups"]

TIE = 1e-9
"""Losses closer than this share of the whole are equal; of equal nodes the first in the order of
the columns is taken.
"""

# How work is shared out, all of it measured.
PARALLEL = 100_000
"""Rows from which every node is evaluated exactly, by two threads."""

SHARED = 8_000
"""Rows from which a second thread gains more than it costs for many short evaluations."""

MANY = 100
"""How many short evaluations in a round are many."""

THREADS = 2

FEW = 8
"""Boxes of a round where evaluations take long: what the last ones showed may spare the next."""

SOME = 400
"""Boxes of a round where evaluations are short: many at once cost less each."""


class Evaluation(NamedTuple):
    """How many records a node suppresses and what that adds to its loss; and of both what every
    finer node adds at least.
    """

    suppressed: float
    excess: float
    lasting: float
    lasting_excess: float


class SmallGroups(NamedTuple):
    """The rule that groups below a size are suppressed.

    `penalty` says how many records count as suppressed for groups of some sizes, by default all of
    them. It must be such that a group never counts for more than its parts, and a record in a part
    for no less than in the whole; and 0 from that size on.
    """

    size: int
    penalty: Callable[[Sizes], Sizes] | None = None

    def suppressed(self, sizes: Sizes) -> Sizes:
        """How many records of groups of these sizes count as suppressed."""
        if self.penalty is not None:
            return self.penalty(sizes)
        return sizes * (sizes < self.size)


class Optimum:
    """Search for the least loss.

    `level[a][l]` weighs the codes of axis a at level l, `suppressed[a]` a suppressed record.
    `rule` says which groups are suppressed: small ones, or a function that evaluates a node under
    any other rule. `between` has the lowest and the highest level of every axis. Nodes that
    suppress more than `limit` records are out of the question.
    """

    def __init__(
        self,
        rollup: Rollup,
        level: Sequence[Sequence[Floats]],
        suppressed: Sequence[float],
        rule: SmallGroups | Callable[[Levels], Evaluation],
        *,
        between: tuple[Levels, Levels],
        limit: float = inf,
        tie: float = TIE,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        low, high = self.low, self.high = between
        self.rollup, self.level, self.limit, self.progress = rollup, level, limit, progress
        self.lost = float(sum(suppressed))
        self._rule, self._large = rule, rollup.rows >= PARALLEL
        self._free = [axis for axis in range(len(level)) if high[axis] > low[axis]]
        self._shape = [high[axis] - low[axis] + 1 for axis in self._free]
        self._masks = [(1 << steps.bit_length()) - 1 for steps in self._shape]
        plain = [
            [self._plain(axis, at) for at in range(low[axis], high[axis] + 1)]
            for axis in range(len(level))
        ]
        self.plain: Floats = self._added(plain)
        """The loss of every node without suppression, in lexicographic order of the free axes,
        which may take several levels.
        """
        least = [
            [float((worth - weights).min(initial=worth)) for weights in levels[at : top + 1]]
            for levels, worth, at, top in zip(level, suppressed, low, high, strict=True)
        ]
        # What a suppressed record adds at least, at every node.
        self._cheapest = self._added(least)
        self.excess = np.zeros(len(self.plain))
        """What suppression adds at every node at least, by what is known so far."""
        self._shifts, self._guards, self._codes = self._numbered()
        self._spread = [
            np.array([-inf, *(rollup.spread(axis, at - 1, at) for at in levels)])
            for axis, levels in ((a, range(low[a] + 1, high[a] + 1)) for a in self._free)
        ]
        self.evaluated: dict[Levels, Evaluation] = {}
        self.best, self._here = inf, high
        self.losses: dict[Levels, float] = {}
        """The loss of every evaluated node."""
        self.known: set[int] = set()
        """The codes of the nodes that were bounded or evaluated."""
        self.tie = tie * self.lost * rollup.total

    def _added(self, by_axis: Sequence[Sequence[float]]) -> Floats:
        """For every node the sum over the axes of what each adds at its level."""
        fixed = [axis for axis in range(len(by_axis)) if axis not in self._free]
        total = np.full(self._shape, sum(by_axis[axis][0] for axis in fixed), dtype=np.float64)
        for place, axis in enumerate(self._free):
            total += np.reshape(by_axis[axis], self._along(place))
        return total.ravel()

    def _numbered(self) -> tuple[list[int], int, npt.NDArray[np.int64]]:
        """Every node as one number: where the bits of each free axis begin, the unused bits, and
        the numbers.

        A node has some bits for every free axis, the highest of them unused: subtracting two nodes
        borrows exactly the unused bits of the axes on which the first is below the second.
        """
        shifts, guards, bits = [], 0, 0
        codes = np.zeros(self._shape, dtype=np.int64)
        for place, levels in enumerate(self._shape):
            codes += np.arange(levels).reshape(self._along(place)) << bits
            shifts.append(bits)
            bits += (levels - 1).bit_length() + 1
            guards |= 1 << (bits - 1)
        assert bits < 64, "a lattice this large is refused before"
        return shifts, guards, codes.ravel()

    def _along(self, place: int) -> list[int]:
        """The shape in which a list lies along one free axis."""
        return [-1 if other == place else 1 for other in range(len(self._free))]

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
                hopeless = self.plain[at] + self.excess[at] > self.best + self.tie
                if step in self.losses or hopeless:
                    continue
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
                several = threads.map if len(parts) > 1 else map
                bounds = several(self._bound, parts)
                self._bounded(list(chain.from_iterable(bounds)), nodes)

    def _parts(self, asks: list[Ask]) -> list[list[Ask]]:
        """What threads do side by side in a round; nodes that can be sorted together stay
        together.
        """
        if self._large:
            return [[ask] for ask in asks[-FEW:]]
        asks = sorted(asks[-SOME:], key=_sorted_together)
        half = 0
        if self.rollup.rows >= SHARED and len(asks) >= MANY:
            half = len(asks) // 2
        return [part for part in (asks[:half], asks[half:]) if part]

    def _bounded(self, bounded: Sequence[tuple[Levels, float | Evaluation]], nodes: Index) -> None:
        """Keep bounds on nodes, and what follows for the open ones; those that may be the best are
        evaluated.

        With a group size, the number of suppressed records is enough for a bound: each costs what
        the cheapest one would.
        """
        levels = np.array([node for node, _ in bounded])[:, self._free]
        steps = levels - np.array(self.low)[self._free]
        codes = (steps << self._shifts).sum(axis=1).tolist()
        places = np.ravel_multi_index(tuple(steps.T), self._shape)
        bounds: list[float] = []
        for (node, bound), least in zip(bounded, self._cheapest[places].tolist(), strict=True):
            if isinstance(bound, Evaluation):
                bounds.append(self._take(node, bound))
            else:
                bounds.append(bound * least if bound <= self.limit else inf)
        self._learn(codes, bounds, nodes)
        self.known.update(codes)
        self.excess[places] = np.maximum(self.excess[places], bounds)
        hopeful = self.plain[places] + self.excess[places] <= self.best + self.tie
        for place in np.flatnonzero(hopeful).tolist():
            self.evaluate(bounded[place][0], nodes)
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
                axes = {
                    int(code): None if gain == -inf else self._free[place]
                    for code, place, gain in zip(corner, split, best, strict=True)
                }
                levels = np.tile(self.low, (len(axes), 1))
                steps = np.array(list(axes))[:, None] >> self._shifts & self._masks
                levels[:, self._free] += steps
                corners = map(tuple, levels.tolist())
                return nodes, box, list(zip(corners, axes.values(), strict=True))
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
        rule = self._rule
        if not isinstance(rule, SmallGroups):
            return [(node, rule(node)) for node, _ in asks]
        if self._large:
            small = self.rollup.below(asks, rule.size)
            return [(cells.levels, self._limited(cells, rule)) for cells in small]
        return list(self.rollup.masses(asks, rule.size, rule.suppressed))

    def _evaluate(self, node: Levels) -> Evaluation:
        rule = self._rule
        if not isinstance(rule, SmallGroups):
            return rule(node)
        return self._limited(next(iter(self.rollup.below([(node, None)], rule.size))), rule)

    def _take(self, node: Levels, evaluation: Evaluation) -> float:
        """Note what a node loses; gives what every finer one adds at least."""
        loss = inf
        if evaluation.suppressed <= self.limit:
            loss = float(self.plain[self.place(node)]) + evaluation.excess
        self.evaluated[node] = evaluation
        self.losses[node] = loss
        self.known.add(self._code(node))
        if loss < self.best:
            self.best, self._here = loss, node
        return evaluation.lasting_excess if evaluation.lasting <= self.limit else inf

    def _learn(self, coarser: Sequence[int], bounds: Sequence[float], nodes: Index | None) -> None:
        """Raise the excess of the given nodes, or of all, to the bounds on coarser ones."""
        places: Index = np.arange(len(self._codes)) if nodes is None else nodes
        codes, excess = self._codes[places], self.excess[places]
        pairs = zip(bounds, coarser, strict=True)
        best = sorted(((bound, code) for bound, code in pairs if bound > 0), reverse=True)
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

    def _limited(self, small: Cells, rule: SmallGroups) -> Evaluation:
        """What suppressing these groups adds."""
        kept = rule.suppressed(small.sizes)
        suppressed = float(kept.sum())
        weights = [levels[number] for levels, number in zip(self.level, small.levels, strict=True)]
        excess = self.lost * suppressed - small.weigh(weights, kept)
        return Evaluation(suppressed, excess, suppressed, excess)


def _sorted_together(ask: Ask) -> tuple[int, int]:
    """By which nodes that can be sorted together come together: the axis, and its level."""
    levels, axis = ask
    return (-1, 0) if axis is None else (axis, levels[axis])


def _among(codes: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of the codes are among those known, which are ascending and more than none."""
    nearest = known.take(np.searchsorted(known, codes), mode="clip")
    return np.asarray(nearest == codes, dtype=np.bool_)
