"""The largest pull / risk + utility^power of every record.

After Section 2.3 of Fouad, Elbassioni and Bertino (2012). A small lattice is enumerated, for all
records at once. In a larger one records are drawn, and for each a large value is looked for by
Dinkelbach's method: the largest pull · people + shown · (utility^power − α), for a rising α. That
is a supermodular function of the levels, which the point of least norm in a polytope maximises
(Fujishige and Wolfe). A node found for one record is offered to all. Why, and under which
conditions: docs/proofs/personal.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import inf, log2, prod

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import ParameterError
from shoal.lattice import Node
from shoal.methods.personal import EFFORT, People
from shoal.methods.personal.crowds import Best, Chosen, Crowds, Wanted
from shoal.methods.personal.exact import refined
from shoal.methods.personal.models import Ints, Sum

__all__ = [
    "SMALL",
    "Chains",
    "Largest",
    "LargestNode",
    "Record",
    "climbing",
    "largest",
    "least_norm",
    "search",
]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

SMALL = 50_000
"""Nodes of the largest lattice that is enumerated."""
ROUND = 20
"""Vertices for one α of one record in a large lattice: other records bring more than a sharper
point (measured).
"""
UNTIL = 100_000
"""Vertices; it ends long before."""
PACK = 256
"""Levels of several columns together that fit one byte."""
CLOSE = 1e-10
"""Of the squared norm: what two products may differ by and count as equal."""
LARGEST = 400
"""Binary digits of either part of a value, so that squares of their products stay finite."""
NONE = 1e-12
"""A share of a vertex that counts as none."""


def search(people: People, chance: Chance, progress: Callable[[int, int], None]) -> list[Chosen]:
    """For every row the node of the largest value among those offered that keep its utility.

    The row unchanged is always one of them. All nodes are offered while they are at most `SMALL`.
    Beyond, `effort` says how often everyone is counted: once for every vertex of a polytope (a
    chain of nodes from the record to the roots, for one record) and once for every node offered.
    """
    method, crowds = people.method, people.crowds
    best = Largest(crowds, people.utility, people.wanted, Fraction(method.pull), method.power)
    nodes = prod(height + 1 for height in crowds.heights)
    if nodes <= SMALL:
        for done, node in enumerate(product(*(range(height + 1) for height in crowds.heights))):
            best.offer(node)
            if done % 64 == 0:
                progress(done, nodes)
        return refined(best)
    sizes = [len(want.rows) for want in best.wanted]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    effort = method.effort or EFFORT
    left = effort
    for drawn in chance.permutation(len(owner)).tolist():
        record, known = best.record(int(owner[drawn]), int(place[drawn]))
        left -= 1
        if record.shown(known):
            order = chance.permutation(len(crowds.heights)).tolist()
            for top in (crowds.heights, record.last(order)):
                for found in climbing(record, known, top, ROUND):
                    best.offer(found.node)
                    left -= found.passes + 1
                    known = found.node
        progress(effort - max(left, 0), effort)
        if left <= 0:
            break
    return refined(best)


class Largest(Best):
    """For every row the node of the largest value among those offered.

    Nodes that show nothing sensitive have none.
    """

    def __init__(
        self, crowds: Crowds, utility: Sum, wanted: Sequence[Wanted], pull: Fraction, power: int
    ) -> None:
        self.pull, self.power = pull, power
        if power * log2(max(float(utility.most / utility.unit), 1.0)) > LARGEST:
            raise ParameterError(
                "is too large: no number holds the utility of a record to that power",
                "give a smaller one",
                option="power",
                given=str(power),
            )
        if pull * crowds.people * max(want.sensitivity.unit for want in wanted) > 1 << LARGEST:
            raise ParameterError(
                "is too large: no number holds its product with the people of the table",
                "give a smaller one",
                option="pull",
            )
        super().__init__(crowds, utility, wanted)

    def better(
        self, number: int, risk: Floats, worth: int | Ints, best: Floats, kept: Ints
    ) -> Bools:
        new = self.value(number, risk, worth)
        old = self.value(number, best, kept)
        found: Bools = (new > old) | ((new == old) & (worth > kept))
        return found

    def value(self, number: int, risk: Floats, worth: int | Ints) -> Floats:
        """What risks and worths, in the units of a `Wanted`, amount to.

        Nothing has been offered where the risk is infinite.
        """
        pull = float(self.pull * self.wanted[number].sensitivity.unit)
        some = (risk > 0) & (risk < inf)
        value = pull / np.where(some, risk, 1) + (worth / float(self.utility.unit)) ** self.power
        return np.where(some, value, -inf)

    def record(self, number: int, place: int) -> tuple["Record", Node]:
        """A row of a `Wanted` with all its generalisations, and the node it has now."""
        want = self.wanted[number]
        reach, sensitivity, worth = [], [], []
        parts = zip(
            self.crowds.hierarchies,
            self.crowds.everyone.codes,
            want.sensitivity.parts,
            self.utility.parts,
            strict=True,
        )
        for hierarchy, codes, shown, kept in parts:
            leaf = codes[want.rows[place]]
            differ = np.array([of_leaf != of_leaf[leaf] for of_leaf in hierarchy.maps])
            reach.append(differ.sum(axis=0).astype(np.uint8)[codes])
            at_level = [int(of_leaf[leaf]) for of_leaf in hierarchy.maps]
            sensitivity.append([int(by[at]) for by, at in zip(shown, at_level, strict=True)])
            worth.append([int(by[at]) for by, at in zip(kept, at_level, strict=True)])
        pull = self.pull * want.sensitivity.unit
        count = self.crowds.everyone.count
        record = Record(
            reach, count, sensitivity, worth, pull, self.utility.unit, self.power, want.floor
        )
        return record, self.nodes[self.place[number][place]]


@dataclass(frozen=True, eq=False)
class Record:
    """One record with its generalisations: whom each fits, what it shows, what it is worth.

    reach: for every column and every row of people the lowest level at which the record's value
        stands for theirs too
    count: how many people have each row
    sensitivity, worth: for every column by level, at least 0 and never more at a higher one
    pull, unit, power: the value of a node is pull · people / shown + (worth / unit)^power
    floor: the worth that must be kept
    """

    reach: Sequence[npt.NDArray[np.uint8]]
    count: Ints
    sensitivity: Sequence[Sequence[int]]
    worth: Sequence[Sequence[int]]
    pull: Fraction
    unit: Fraction = Fraction(1)
    power: int = 1
    floor: int = 0

    def __post_init__(self) -> None:
        for option, parts in (("sensitivity", self.sensitivity), ("worth", self.worth)):
            if any(low < high for levels in parts for low, high in pairwise([*levels, 0])):
                raise ParameterError(
                    "has a level with less than 0, or with more than the one below",
                    "give numbers that never grow with the level",
                    option=option,
                )

    @property
    def heights(self) -> Node:
        return tuple(len(levels) - 1 for levels in self.worth)

    def shown(self, node: Node) -> int:
        """How sensitive what a node shows is."""
        return sum(levels[level] for levels, level in zip(self.sensitivity, node, strict=True))

    def kept(self, node: Node) -> int:
        """What a node is worth."""
        return sum(levels[level] for levels, level in zip(self.worth, node, strict=True))

    def people(self, node: Node) -> int:
        """How many people a node fits."""
        fits = np.ones(len(self.count), dtype=np.bool_)
        for reach, level in zip(self.reach, node, strict=True):
            fits &= reach <= level
        return int(self.count[fits].sum())

    def value(self, node: Node) -> Fraction:
        """The value of a node that shows something."""
        utility = self.kept(node) / self.unit
        return self.pull * self.people(node) / self.shown(node) + utility**self.power

    def last(self, order: Sequence[int]) -> Node:
        """Columns as high as the floor allows, in turn: below this node all keep the floor."""
        node = [0] * len(self.worth)
        spare = self.kept((0,) * len(self.worth)) - self.floor
        for column in order:
            levels = self.worth[column]
            allowed = [at for at, worth in enumerate(levels) if levels[0] - worth <= spare]
            node[column] = max(allowed, default=0)
            spare -= levels[0] - levels[node[column]]
        return tuple(node)

    def boxes(self) -> Iterator[Node]:
        """Nodes such that what is below any of them are the nodes that show something."""
        least = [
            next((at for at, part in enumerate(levels) if part == 0), None)
            for levels in self.sensitivity
        ]
        if None in least:
            yield self.heights
            return
        for column, level in enumerate(least):
            if level:
                yield (*self.heights[:column], level - 1, *self.heights[column + 1 :])


@dataclass(frozen=True)
class LargestNode:
    """A node and its value; no node that was searched has one larger than this and the gap.

    `passes` over people found it.
    """

    node: Node
    value: Fraction
    gap: float = inf
    passes: int = 0


def largest(record: Record) -> LargestNode:
    """The node of the largest value of all that show something, whatever is to be kept."""
    record = replace(record, floor=0)
    node = (0,) * len(record.worth)
    gap = 0.0
    passes = 0
    for top in record.boxes():
        rounds = list(climbing(record, node, top, UNTIL))
        passes += sum(found.passes for found in rounds)
        if rounds:
            node = rounds[-1].node
            gap = max(gap, rounds[-1].gap)
    return LargestNode(node, record.value(node), gap, passes)


def climbing(record: Record, known: Node, top: Node, most: int) -> Iterator[LargestNode]:
    """Dinkelbach's method among the nodes below `top`, from a known one.

    It yields better and better nodes, and the last once more. A value is above α where pull ·
    people + shown · (utility^power − α) is above 0. So the largest of that for the value of the
    best node gives a better one, or says that there is none. At most that many vertices are asked
    for each time.
    """
    best = known
    better = any(top)
    chains = Chains(record, top) if better else None
    while chains and better:
        value = record.value(best)
        chains.start(float(value))
        point = least_norm(chains.vertex, chains.length, chains.enough, most)
        gap = max(chains.bound(point), 0.0) / chains.least
        better = chains.best is not None and record.value(chains.best) > value
        best = chains.best if better and chains.best is not None else best
        yield LargestNode(best, record.value(best), gap, chains.passes)


class Chains:
    """The nodes of a record below one, as sets of levels.

    A node has for every column those from 1 to its own. For an α, g(node) = pull · people + shown ·
    (utility^power − α). A set that is not a node stands for the smallest node with all its levels,
    at a price for every level it lacks, which makes g supermodular on all sets and largest at a
    node.
    """

    def __init__(self, record: Record, top: Node) -> None:
        self.record = record
        self.top = np.array(top)
        self.length = sum(top)
        self.pull = float(record.pull)
        self.unit = float(record.unit)
        self.starts = np.cumsum(top) - top
        self.column = np.repeat(np.arange(len(top)), top)
        self.level = np.arange(self.length) - self.starts[self.column] + 1
        width = max(record.heights) + 1
        self.sensitivity = _table(record.sensitivity, width)
        self.worth = _table(record.worth, width)
        columns = zip(record.sensitivity, top, strict=True)
        lowest = [part for levels, height in columns for part in levels[: height + 1] if part]
        self.all_keep = record.kept(top) >= record.floor
        self.least = record.shown(top) or min(lowest)
        """What the nodes that show something show at least."""
        fits = np.logical_and.reduce(
            [reach <= height for reach, height in zip(record.reach, top, strict=True)]
        )
        self.count = record.count[fits].astype(np.float64)
        reach = [levels[fits] for levels in record.reach]
        joining = [
            np.bincount(levels, self.count, height + 1)[1:]
            for levels, height in zip(reach, top, strict=True)
        ]
        self.joining = np.concatenate(joining).astype(np.float64)
        """How many people a level adds where all other columns are at the top."""
        self.alone = float(record.people((0,) * len(top)))
        self.packs = [
            (axes, _packed([reach[axis] for axis in axes], [top[axis] for axis in axes]))
            for axes in _axes(top)
        ]

    def start(self, alpha: float) -> None:
        """From now on g is by this α, and nothing has been seen."""
        self.best: Node | None = None
        self.alpha = alpha
        self.passes = 0
        self.lead = -inf
        self.most = -inf
        above = np.tile(self.top, (self.length, 1))
        above[np.arange(self.length), self.column] = self.level
        below = above.copy()
        below[np.arange(self.length), self.column] -= 1
        with_level, _, _ = self.g(self.joining, above)
        without, _, _ = self.g(np.zeros(self.length), below)
        self.price = np.maximum(with_level - without, 0)
        alone = np.array([self.alone], dtype=np.float64)
        self.ground = float(self.g(alone, np.zeros_like(self.top)[None])[0][0])
        # Then the lowest numbers in the point are a best node for any price on levels, not only 0.
        if not self.all_keep:
            self.price += self.price.max()

    def g(self, people: Floats, levels: npt.NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        """g of nodes that fit that many people, what they show, and what they are worth."""
        columns = np.arange(len(self.top))
        shown = self.sensitivity[columns, levels].sum(axis=1)
        worth = self.worth[columns, levels].sum(axis=1)
        utility = (worth / self.unit) ** self.record.power
        return self.pull * people + shown * (utility - self.alpha), shown, worth

    def vertex(self, point: Floats) -> Floats:
        """The vertex of the base polytope of −g with the least product with a point.

        On the way, the best node is kept.
        """
        order = np.argsort(point, kind="stable")
        g, joined = self.walk(order)
        vertex = np.empty(self.length)
        prices = np.bincount(joined, self.price, self.length + 1)[1:]
        vertex[order] = prices - np.diff(g) - self.price[order]
        return vertex

    def walk(self, order: Index) -> tuple[Floats, npt.NDArray[np.uint16]]:
        """g of the nodes on the way when levels join in an order, and when each is there.

        A person fits with the last column.
        """
        self.passes += 1
        joined = np.empty(self.length, dtype=np.uint16)
        joined[order] = np.arange(1, self.length + 1)
        # With a level, all below it are in the node.
        for start, height in zip(self.starts, self.top, strict=True):
            own = joined[start : start + height]
            joined[start : start + height] = np.minimum.accumulate(own[::-1])[::-1]
        fitted = np.zeros(len(self.count), dtype=np.uint16)
        for axes, codes in self.packs:
            last = np.zeros(1, dtype=np.uint16)
            for axis in axes:
                own = joined[self.starts[axis] : self.starts[axis] + self.top[axis]]
                from_leaf = np.concatenate([np.zeros(1, dtype=np.uint16), own])
                last = np.maximum(last[:, None], from_leaf).ravel()
            np.maximum(fitted, last.take(codes), out=fitted)
        people = np.bincount(fitted, self.count, self.length + 1).cumsum()
        levels = np.zeros((self.length + 1, len(self.top)), dtype=np.intp)
        np.add.at(levels, (joined, self.column), 1)
        np.cumsum(levels, axis=0, out=levels)
        g, shown, worth = self.g(people, levels)
        allowed = (shown > 0) & (worth >= self.record.floor)
        leads = np.where(allowed, g / np.where(allowed, shown, 1), -inf)
        first = int(leads.argmax())
        if leads[first] > self.lead:
            self.lead = float(leads[first])
            self.best = tuple(levels[first].tolist())
        self.most = max(self.most, float(g.max()))
        return g, joined

    def bound(self, point: Floats) -> float:
        """What no node's g is above, from any point of the base polytope."""
        return self.ground + float(np.maximum(-point, 0).sum())

    def enough(self, point: Floats) -> bool:
        """Whether the largest g is known, if that is all that is wanted."""
        scale = abs(self.ground) + self.price.sum()
        return self.all_keep and self.bound(point) - self.most <= CLOSE * scale


def least_norm(
    vertex: Callable[[Floats], Floats], length: int, enough: Callable[[Floats], bool], most: int
) -> Floats:
    """Wolfe's algorithm: the point of least norm in a polytope.

    `vertex` gives its vertex of the least product with any point. It ends where the polytope has no
    closer point up to rounding, or early: when it is enough, or after that many vertices.
    """
    point = vertex(np.zeros(length))
    hull = point[None]
    share = np.ones(1)
    for _ in range(1, most):
        new = vertex(point)
        norm = (point * point).sum()
        apart = norm - (point * new).sum()
        if enough(point) or apart <= CLOSE * max(norm, (new * new).sum()):
            break
        hull = np.vstack([hull, new])
        share = np.append(share, 0.0)
        while (nearest := _nearest(hull)) is not None and (out := nearest < NONE).any():
            # As far as all shares stay at least 0.
            step = np.min(share[out] / (share[out] - nearest[out]))
            share += step * (nearest - share)
            share[np.flatnonzero(out)[np.argmin(share[out])]] = 0
            hull = hull[share > NONE]
            share = share[share > NONE]
            share /= share.sum()
        if nearest is None:  # only rounding tells the vertices apart, here and below
            break
        share = nearest
        nearer = (nearest[:, None] * hull).sum(axis=0)
        if (nearer * nearer).sum() >= norm:
            break
        point = nearer
    return point


def _nearest(hull: Floats) -> Floats | None:
    """The shares of some points in the point of least norm of the plane through them.

    None if they do not span one. Products and elimination by hand: the last bits of what BLAS gives
    depend on the number of threads.
    """
    products = np.einsum("ij,kj->ik", hull, hull)
    rows = np.column_stack([products + products.trace() / len(hull), np.ones(len(hull))])
    for pivot in range(len(rows)):
        if not rows[pivot, pivot] > 0:
            return None
        rows[pivot] /= rows[pivot, pivot]
        others = rows[:, pivot].copy()
        others[pivot] = 0
        rows -= others[:, None] * rows[pivot]
    shares = rows[:, -1]
    return shares / shares.sum() if np.isfinite(shares).all() and shares.sum() > 0 else None


def _table(parts: Sequence[Sequence[int]], width: int) -> Floats:
    """What columns have by level, with 0 where a column has no such level."""
    padded = [[*levels, *[0] * (width - len(levels))] for levels in parts]
    return np.array(padded, dtype=np.float64)


def _axes(top: Node) -> list[list[int]]:
    """Columns with levels, in packs whose levels together fit one byte."""
    packs: list[list[int]] = [[]]
    for axis, height in enumerate(top):
        if height:
            if prod(top[other] + 1 for other in packs[-1]) * (height + 1) > PACK:
                packs.append([])
            packs[-1].append(axis)
    return packs


def _packed(
    reach: Sequence[npt.NDArray[np.uint8]], heights: Sequence[int]
) -> npt.NDArray[np.uint8]:
    codes = reach[0].astype(np.uint8)
    for levels, height in zip(reach[1:], heights[1:], strict=True):
        codes *= np.uint8(height + 1)
        codes += levels.astype(np.uint8)
    return codes
