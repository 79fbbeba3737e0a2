"""The node that loses least, without scoring every node: branch and bound over the whole lattice.

For losses that are sums over records and columns. Two facts carry it. Without suppression a node's
loss needs only the columns' marginals. And a record suppressed at a node is suppressed at every
finer one, where its values weigh no more: so what suppression adds at a node (its *excess*) is a
lower bound for the excess of all finer nodes. So a box of open nodes is bounded by its coarsest
corner, at the price of one evaluation, and what stays open is split along the axis that merges
most. All boxes go through this side by side, in rounds. Uses `rollup`; methods that search use it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.data import free_memory
from shoal.lattice.coding import raised
from shoal.lattice.rollup import Ask, Cells, Floats, Index, Levels, Rollup, Sizes

__all__ = ["Evaluation", "Optimum", "SmallGroups"]

Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

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

WEIGHED = 1 << 22
"""Groups that are weighed at a time, which takes several times their memory."""

HELD = 100
"""Bytes that a thread holds for each row while it finds the groups of a node."""

FEW = 8
"""Boxes of a round where evaluations take long: what the last ones showed may spare the next."""

SOME = 400
"""Boxes of a round where evaluations are short: many at once cost less each."""


class Evaluation(NamedTuple):
    """How many records a node suppresses, and what that adds to its loss.

    The `lasting` fields are lower bounds on both for every finer node.
    """

    suppressed: float
    excess: float
    lasting: float
    lasting_excess: float


class SmallGroups(NamedTuple):
    """The rule that groups below a size are suppressed.

    `penalty` says how many records count as suppressed for groups of some sizes, by default all of
    them. It must be such that a group never counts for more than its parts, and a record in a part
    for no less than in the whole; and 0 for groups of that size or more.
    """

    size: int
    penalty: Callable[[Sizes], Sizes] | None = None

    def suppressed(self, sizes: Sizes) -> Sizes:
        """How many records of groups of these sizes count as suppressed."""
        if self.penalty is not None:
            return self.penalty(sizes)
        return sizes * (sizes < self.size)


class _Numbering:
    """Every node as one number, which can be compared on all axes at once.

    A node has some bits for every free axis, the highest of them unused: subtracting two nodes
    borrows exactly the unused bits of the axes on which the first is below the second. A *free*
    axis is one that may take several levels.
    """

    def __init__(self, low: Levels, high: Levels) -> None:
        self.low = low
        self.free = [axis for axis in range(len(low)) if high[axis] > low[axis]]
        self.shape = [high[axis] - low[axis] + 1 for axis in self.free]
        self.masks = [(1 << levels.bit_length()) - 1 for levels in self.shape]
        self.shifts: list[int] = []
        """Where the bits of each free axis begin."""

        self.guards = 0
        """The unused bits."""

        bits = 0
        numbers = np.zeros(self.shape, dtype=np.int64)
        for place, levels in enumerate(self.shape):
            numbers += np.arange(levels).reshape(self._along(place)) << bits
            self.shifts.append(bits)
            bits += (levels - 1).bit_length() + 1
            self.guards |= 1 << (bits - 1)
        assert bits < 64, "a lattice this large is refused before"
        self.codes: Codes = numbers.ravel()
        """The numbers of all nodes, in lexicographic order of the free axes."""

    def _along(self, place: int) -> list[int]:
        """The shape in which a list lies along one free axis."""
        return [-1 if other == place else 1 for other in range(len(self.free))]

    def added(self, by_axis: Sequence[Sequence[float]]) -> Floats:
        """For every node the sum over the axes of what each adds at its level."""
        fixed = [axis for axis in range(len(by_axis)) if axis not in self.free]
        always = sum(by_axis[axis][0] for axis in fixed)
        total = np.full(self.shape, always, dtype=np.float64)
        for place, axis in enumerate(self.free):
            total += np.reshape(by_axis[axis], self._along(place))
        return total.ravel()

    def place(self, node: Levels) -> int:
        """Where a node is in the arrays."""
        place = 0
        for axis, levels in zip(self.free, self.shape, strict=True):
            place = place * levels + node[axis] - self.low[axis]
        return place

    def node(self, code: int) -> Levels:
        """The node that has a number."""
        node = list(self.low)
        for axis, shift, mask in zip(self.free, self.shifts, self.masks, strict=True):
            node[axis] += code >> shift & mask
        return tuple(node)

    def code(self, node: Levels) -> int:
        """The number of a node."""
        code = 0
        for axis, shift in zip(self.free, self.shifts, strict=True):
            code += (node[axis] - self.low[axis]) << shift
        return code

    def nodes(self, codes: Sequence[int]) -> list[Levels]:
        """The nodes that have some numbers."""
        levels = np.tile(self.low, (len(codes), 1))
        levels[:, self.free] += np.array(codes)[:, None] >> self.shifts & self.masks
        return [tuple(node) for node in levels.tolist()]

    def codes_and_places(self, nodes: Sequence[Levels]) -> tuple[list[int], Index]:
        """The numbers of some nodes, and where they are in the arrays."""
        steps = np.array(nodes)[:, self.free] - np.array(self.low)[self.free]
        codes = (steps << self.shifts).sum(axis=1).tolist()
        return codes, np.ravel_multi_index(tuple(steps.T), self.shape)


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
        self.low, self.high = between
        self.rollup = rollup
        self.level = level
        self.limit = limit
        self.progress = progress
        self.lost = float(sum(suppressed))
        self.tie = tie * self.lost * rollup.total
        self._rule = rule
        self._large = rollup.rows >= PARALLEL
        self._numbers = _Numbering(self.low, self.high)

        plain = []
        cheapest = []
        for axis, worth in enumerate(suppressed):
            levels = range(self.low[axis], self.high[axis] + 1)
            plain.append([self._plain(axis, at) for at in levels])
            cheapest.append([_least(worth - level[axis][at], worth) for at in levels])
        self.plain: Floats = self._numbers.added(plain)
        """The loss of every node without suppression, in lexicographic order of the free axes,
        which may take several levels.
        """
        # What a suppressed record adds at least, at every node.
        self._cheapest = self._numbers.added(cheapest)
        self.excess = np.zeros(len(self.plain))
        """What suppression adds at every node at least, by what is known so far."""

        self._spread = [self._spreads(axis) for axis in self._numbers.free]
        self.evaluated: dict[Levels, Evaluation] = {}
        self.best = inf
        self._here = self.high
        self.losses: dict[Levels, float] = {}
        """The loss of every evaluated node."""
        self.known: set[int] = set()
        """The codes of the nodes that were bounded or evaluated."""

    def _plain(self, axis: int, level: int) -> float:
        records = self.rollup.marginal(axis, level)
        return float((records * self.level[axis][level]).sum())

    def _spreads(self, axis: int) -> Floats:
        """How much each level of an axis merges that the next finer one separates."""
        levels = range(self.low[axis] + 1, self.high[axis] + 1)
        merged = [self.rollup.spread(axis, at - 1, at) for at in levels]
        return np.array([-inf, *merged])

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
        return self._numbers.place(node)

    def node(self, place: int) -> Levels:
        """The node at a place of the arrays."""
        return self._numbers.node(int(self._numbers.codes[place]))

    def evaluate(self, node: Levels, nodes: Index | None = None) -> float:
        """The loss of a node.

        What follows for finer nodes, of those given or of all, is noted.
        """
        if node not in self.losses:
            bound = self._take(node, self._evaluate(node))
            self._learn([self._numbers.code(node)], [bound], nodes)
        return self.losses[node]

    def _descend(self) -> None:
        """Find a good start: descend from the top by steps that lose less.

        Steps are tried in the order of what they would lose without suppression; the first that
        loses less is taken.
        """
        here = self.high
        self.evaluate(here)
        while True:
            for step in sorted(self._finer(here), key=self._loss_without_suppression):
                hopeful = self._may_be_best(np.array([self.place(step)]))
                if step in self.losses or not hopeful.all():
                    continue
                self.evaluate(step)
                if self._here == step:
                    break
            if self._here == here:
                return
            here = self._here

    def _finer(self, node: Levels) -> list[Levels]:
        """The nodes one level lower on one axis."""
        lower = [axis for axis in range(len(node)) if node[axis] > self.low[axis]]
        return [raised(node, axis, -1) for axis in lower]

    def _loss_without_suppression(self, node: Levels) -> float:
        return float(self.plain[self.place(node)])

    def _may_be_best(self, places: Index) -> Bools:
        """Which nodes, by what is known so far, may lose as little as the best one."""
        least = self.plain[places] + self.excess[places]
        return np.asarray(least <= self.best + self.tie, dtype=np.bool_)

    def _search(self) -> None:
        """Bound boxes of open nodes by their coarsest corners, and split them.

        This ends when no open node is left.
        """
        nodes: Index = np.arange(len(self.plain))
        # The number of every open node's box, ascending.
        box = np.zeros(len(nodes), dtype=np.intp)
        with ThreadPoolExecutor(self._threads()) as threads:
            while True:
                known = np.sort(np.fromiter(self.known, dtype=np.int64))
                still_open = self._may_be_best(nodes)
                still_open &= ~_among(self._numbers.codes[nodes], known)
                nodes = nodes[still_open]
                box = box[still_open]
                if not len(nodes):
                    return
                nodes, box, asks = self._corners(nodes, box, known)
                parts = self._parts(asks)
                several = threads.map if len(parts) > 1 else map
                bounds = several(self._bound, parts)
                self._bounded(list(chain.from_iterable(bounds)), nodes)

    def _threads(self) -> int:
        """How many threads there is memory for; what they find is the same."""
        if not self._large:
            return THREADS
        fitting = free_memory.available() // (2 * HELD * max(self.rollup.rows, 1))
        return max(1, min(THREADS, fitting))

    def _parts(self, asks: list[Ask]) -> list[list[Ask]]:
        """What threads do side by side in a round.

        Nodes that can be sorted together stay together.
        """
        if self._large:
            return [[ask] for ask in asks[-FEW:]]
        asks = sorted(asks[-SOME:], key=_sorted_together)
        half = 0
        if self.rollup.rows >= SHARED and len(asks) >= MANY:
            half = len(asks) // 2
        return [part for part in (asks[:half], asks[half:]) if part]

    def _bounded(self, bounded: Sequence[tuple[Levels, float | Evaluation]], nodes: Index) -> None:
        """Note bounds on nodes, and what follows for the open ones.

        Nodes that may be the best are evaluated.

        With a group size, the number of suppressed records is enough for a bound: each costs what
        the cheapest one would.
        """
        codes, places = self._numbers.codes_and_places([node for node, _ in bounded])
        bounds: list[float] = []
        for (node, bound), least in zip(bounded, self._cheapest[places].tolist(), strict=True):
            if isinstance(bound, Evaluation):
                bounds.append(self._take(node, bound))
            elif bound <= self.limit:
                bounds.append(bound * least)
            else:
                bounds.append(inf)
        self._learn(codes, bounds, nodes)
        self.known.update(codes)
        self.excess[places] = np.maximum(self.excess[places], bounds)
        for place in np.flatnonzero(self._may_be_best(places)).tolist():
            self.evaluate(bounded[place][0], nodes)
        if self.progress is not None:
            self.progress(len(self.known), len(self.plain))

    def _corners(self, nodes: Index, box: Index, known: Codes) -> tuple[Index, Index, list[Ask]]:
        """Split boxes until none has a coarsest corner that is known.

        Gives the open nodes in the order of their boxes, the boxes' numbers, and what to ask about
        the corners.
        """
        while True:
            starts = np.flatnonzero(np.diff(box, prepend=-1))
            # Number the boxes from 0, without gaps.
            box = np.cumsum(np.diff(box, prepend=box[0]) != 0)
            codes = self._numbers.codes[nodes]
            corner, split, merged = self._coarsest(codes, starts)
            done = _among(corner, known)
            if not done.any():
                return nodes, box, self._asks(corner, split, merged)

            # A box whose corner is known is split: its nodes at the corner's level, and the others.
            shifts = np.array(self._numbers.shifts)[split][box]
            masks = np.array(self._numbers.masks)[split][box]
            level = codes >> shifts & masks
            top = corner[box] >> shifts & masks
            upper = level == top
            box = 2 * box + (upper & done[box])
            order = np.argsort(box, kind="stable")
            nodes = nodes[order]
            box = box[order]

    def _coarsest(self, codes: Codes, starts: Index) -> tuple[Codes, Index, Floats]:
        """The coarsest corner of every box, and the free axis to split the box along.

        The third result is how much that merges: −∞ where the box has only one node.
        """
        corner = np.zeros(len(starts), dtype=np.int64)
        split = np.zeros(len(starts), dtype=np.intp)
        best = np.full(len(starts), -inf)
        bits = zip(self._numbers.shifts, self._numbers.masks, strict=True)
        for place, (shift, mask) in enumerate(bits):
            level = codes >> shift & mask
            top = np.maximum.reduceat(level, starts)
            bottom = np.minimum.reduceat(level, starts)
            corner |= top << shift
            merged = np.where(top > bottom, self._spread[place][top], -inf)
            split = np.where(merged > best, place, split)
            best = np.maximum(best, merged)
        return corner, split, best

    def _asks(self, corner: Codes, split: Index, merged: Floats) -> list[Ask]:
        """What to ask about every corner: two boxes may have the same one."""
        axes: dict[int, int | None] = {}
        for code, place, gain in zip(corner.tolist(), split, merged, strict=True):
            axes[code] = None if gain == -inf else self._numbers.free[place]
        nodes = self._numbers.nodes(list(axes))
        return list(zip(nodes, axes.values(), strict=True))

    def _bound(self, asks: Sequence[Ask]) -> list[tuple[Levels, float | Evaluation]]:
        """What nodes, and those one level finer on an axis, lose.

        With a group size, it is only a lower bound on the number of suppressed records.
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
        small = next(iter(self.rollup.below([(node, None)], rule.size)))
        return self._limited(small, rule)

    def _take(self, node: Levels, evaluation: Evaluation) -> float:
        """Note what a node loses; gives what every finer one adds at least."""
        loss = inf
        if evaluation.suppressed <= self.limit:
            loss = self._loss_without_suppression(node) + evaluation.excess
        self.evaluated[node] = evaluation
        self.losses[node] = loss
        self.known.add(self._numbers.code(node))
        if loss < self.best:
            self.best = loss
            self._here = node
        if evaluation.lasting > self.limit:
            return inf
        return evaluation.lasting_excess

    def _learn(self, coarser: Sequence[int], bounds: Sequence[float], nodes: Index | None) -> None:
        """Raise the excess of the given nodes, or of all, to the bounds on coarser ones."""
        places: Index = np.arange(len(self.plain)) if nodes is None else nodes
        codes = self._numbers.codes[places]
        excess = self.excess[places]
        guards = self._numbers.guards
        pairs = zip(bounds, coarser, strict=True)
        largest_first = sorted((pair for pair in pairs if pair[0] > 0), reverse=True)
        for number, (bound, code) in enumerate(largest_first):
            if number % 16 == 0:
                # Bounds only fall from here: what has more already is done.
                short = np.flatnonzero(excess < bound)
                self.excess[places] = excess
                places = places[short]
                codes = codes[short]
                excess = excess[short]
                left_guards = np.empty_like(codes)
                finer = np.empty(len(codes), dtype=np.bool_)
            # A node is finer if subtracting it borrows none of the unused bits.
            np.subtract(code | guards, codes, out=left_guards)
            np.bitwise_and(left_guards, guards, out=left_guards)
            np.equal(left_guards, guards, out=finer)
            np.maximum(excess, bound, out=excess, where=finer)
        self.excess[places] = excess

    def _limited(self, small: Cells, rule: SmallGroups) -> Evaluation:
        """What suppressing these groups adds."""
        by_axis = zip(self.level, small.levels, strict=True)
        weights = [by_level[level] for by_level, level in by_axis]
        suppressed = weight = 0.0
        for block in small.blocks(WEIGHED):
            kept = rule.suppressed(block.sizes)
            suppressed += float(kept.sum())
            weight += block.weigh(weights, kept)
        excess = self.lost * suppressed - weight
        return Evaluation(suppressed, excess, suppressed, excess)


def _sorted_together(ask: Ask) -> tuple[int, int]:
    """By which nodes that can be sorted together come together: the axis, and its level."""
    levels, axis = ask
    if axis is None:
        return -1, 0
    return axis, levels[axis]


def _least(values: Floats, otherwise: float) -> float:
    """The smallest of the values and one more."""
    return float(values.min(initial=otherwise))


def _among(codes: Codes, known: Codes) -> Bools:
    """Which of the codes are among those known, which are ascending and more than none."""
    nearest = known.take(np.searchsorted(known, codes), mode="clip")
    return np.asarray(nearest == codes, dtype=np.bool_)
