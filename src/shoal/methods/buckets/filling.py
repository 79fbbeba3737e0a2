"""Which values and records go into which bucket: `mixed`, `assigned`, and `fakes`.

Uses `settings`, `hiding`, `chance`. Who of those with a value gets which of its places is drawn
uniformly; nothing else here looks at people, so that a bucket reveals of nobody in it more than its
values' shares. Why: docs/proofs/buckets.md.
"""

from collections.abc import Sequence
from math import perm
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import InfeasibleError, plural
from shoal.methods.buckets.hiding import Hiding, elementary, exactly, open_values
from shoal.methods.buckets.problem import Ints
from shoal.methods.buckets.settings import Setting

__all__ = ["assigned", "fakes", "mixed", "with_room"]

Bools = npt.NDArray[np.bool_]

_MIXING = 8
"""Rounds of trades besides those in which a record could have come from any bucket to any other."""

_CELLS = 1 << 22
"""Cells of buckets times values that are looked at together."""

_COIN = 1 << 62
"""Trades are accepted with probabilities that are multiples of its inverse."""


def with_room(setting: Setting, most: Ints, number: int) -> list[Ints]:
    """The bags of a setting, each without that many of the values it may hold: possible fakes.

    Where buckets are dealt too many different values, they swap some against others that they have
    already.
    """
    bags = setting.bags()
    counts = setting.holds.sum(axis=1)
    buckets = np.array(setting.buckets, dtype=np.int64)
    kind = np.repeat(np.arange(len(bags)), buckets)
    held = np.concatenate([_held(bag, len(counts)) for bag in bags])
    free = open_values(counts, most, buckets)
    able = (most[free] > 0).sum(axis=0)[kind]
    limit = most.T[kind]
    excess = ((held > 0) & free).sum(axis=1) - (able - number)
    for short in np.flatnonzero(excess > 0).tolist():
        while excess[short] > 0:
            swap = _swap(short, held, limit, free, excess)
            if swap is None:
                size = int(held[short].sum())
                raise InfeasibleError(
                    f"buckets of {plural(size, 'record')} would hold so many different values that "
                    f"fewer than {number} are left to be fakes there",
                    "take fewer fakes, or raise limits so that buckets hold values more often",
                )
            other, given, got = swap
            held[short, given] -= 1
            held[short, got] += 1
            held[other, given] += 1
            held[other, got] -= 1
            for one in (short, other):
                excess[one] = ((held[one] > 0) & free).sum() - (able[one] - number)
    values = np.broadcast_to(np.arange(len(counts)), held.shape)
    return [
        np.repeat(values[kind == j].ravel(), held[kind == j].ravel()).reshape(bag.shape)
        for j, bag in enumerate(bags)
    ]


def _held(bag: Ints, values: int) -> Ints:
    """How often each bucket holds each value."""
    cells = np.arange(len(bag))[:, None] * values + bag
    return np.bincount(cells.ravel(), minlength=len(bag) * values).reshape(len(bag), values)


def _swap(
    short: int, held: Ints, limit: Ints, free: Bools, excess: Ints
) -> tuple[int, int, int] | None:
    """Another bucket, a value that the short one gives it, and one that it gets and has already.

    It is rid of the first then.
    """
    own = held[short]
    for given in np.flatnonzero((own == 1) & free).tolist():
        has_room = held[:, given] < limit[:, given]
        takes = has_room & ((held[:, given] > 0) | (excess < 0))
        takes[short] = False
        for got in np.flatnonzero((own > 0) & (own < limit[short])).tolist():
            if got == given:
                continue
            able = np.flatnonzero(takes & (held[:, got] > 0))
            if len(able):
                return int(able[0]), given, got
    return None


def mixed(
    bags: Sequence[Ints], most: Ints, hiding: Hiding, chance: Chance, rounds: int | None = None
) -> list[Ints]:
    """Buckets after rounds of trades in pairs that are drawn anew.

    They are an array for every size, with a row for every bucket. Two buckets put together what
    they hold. Of a value that one of them could not hold alone each keeps what it must; the rest is
    split at random, which keeps to `most` (by value and size) whatever is drawn. The trade is then
    accepted with a probability that makes the law of `hiding` the one that trades leave unchanged.
    """
    buckets = [len(bag) for bag in bags]
    kind = np.repeat(np.arange(len(bags)), buckets)
    size = np.repeat([bag.shape[1] for bag in bags], buckets).astype(np.int64)
    number = len(kind)
    bucket = np.repeat(np.arange(number), size)
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *(bag.ravel() for bag in bags)])
    room = _Room(hiding, most)
    able = room.left(flat, kind, size)
    usual = number.bit_length() + _MIXING if number > 1 else 0
    for _ in range(usual if rounds is None else rounds):
        pairs = chance.permutation(number)[: number // 2 * 2].reshape(-1, 2)
        pair = np.full(number, -1)
        pair[pairs] = np.arange(len(pairs))[:, None]
        involved = np.flatnonzero(pair[bucket] >= 0)
        trade = _Trade(flat, bucket, pair, pairs, kind, most, involved)
        first = trade.drawn(size[pairs[:, 0]], chance)
        offered = flat.copy()
        into = np.where(first, pairs[trade.pair, 0], pairs[trade.pair, 1])
        offered[involved] = trade.value[np.argsort(into, kind="stable")]
        new = room.left(offered, kind, size)
        ways = zip(trade.ways(trade.before), trade.ways(first), strict=True)
        coins = []
        for (g, h), (was, would) in zip(pairs.tolist(), ways, strict=True):
            after = int(new[g]) * int(new[h]) * was
            before = int(able[g]) * int(able[h]) * would
            coins.append(min(_COIN, _COIN * after // before))
        taken = chance.bernoullis(np.array(coins, dtype=np.int64), _COIN)
        changed = (pair >= 0) & np.append(taken, False)[pair]
        flat = np.where(changed[bucket], offered, flat)
        able = np.where(changed, new, able)
    ends = np.cumsum([bag.size for bag in bags])[:-1]
    parts = zip(np.split(flat, ends), bags, strict=True)
    return [part.reshape(bag.shape) for part, bag in parts]


class _Trade:
    """The records of all pairs of buckets, by pair and value, and what each bucket must keep."""

    def __init__(
        self,
        flat: Ints,
        bucket: Ints,
        pair: Ints,
        pairs: Ints,
        kind: Ints,
        most: Ints,
        involved: Ints,
    ) -> None:
        order = involved[np.lexsort((flat[involved], pair[bucket[involved]]))]
        self.value = flat[order]
        self.pair = pair[bucket[order]]
        self.before: Bools = bucket[order] == pairs[self.pair, 0]  # those in the first bucket
        new = np.ones(len(self.value), dtype=np.bool_)
        new[1:] = self.value[1:] != self.value[:-1]
        new[1:] |= self.pair[1:] != self.pair[:-1]
        self.run = np.cumsum(new) - 1
        self.start = np.flatnonzero(new)
        self.often = np.diff(self.start, append=len(self.value))
        value = self.value[self.start]
        own = self.pair[self.start]
        limits = [most[value, kind[pairs[own, side]]] for side in (0, 1)]
        self.kept = [np.maximum(self.often - limits[side], 0) for side in (1, 0)]
        bound = self.kept[0] + self.kept[1]
        free = self.often - bound
        # Then all splits weigh the same.
        alike = (limits[0] == limits[1]) & (limits[0] <= 2)
        self.weighed = np.flatnonzero((bound > 0) & (free > 0) & ~alike)
        self.pairs = len(pairs)

    def drawn(self, sizes: Ints, chance: Chance) -> Bools:
        """Which records go to the first bucket of their pair, of that size."""
        place = np.arange(len(self.value)) - self.start[self.run]
        one, other = (kept[self.run] for kept in self.kept)
        # Those that must go to the first bucket come first, those for the other last.
        key = np.where(place < one, -1, len(self.value))
        free = place >= one + other
        key[free] = chance.permutation(int(free.sum()))
        order = np.lexsort((key, self.pair))
        starts = np.searchsorted(self.pair, np.arange(self.pairs))
        first = np.zeros(len(self.value), dtype=np.bool_)
        first[order] = np.arange(len(self.value)) - starts[self.pair] < sizes[self.pair]
        return first

    def ways(self, first: Bools) -> list[int]:
        """How much likelier than it should be each pair's split is, but for a constant."""
        found = [1] * self.pairs
        there = np.bincount(self.run, first, len(self.start)).astype(np.int64)
        for run in self.weighed.tolist():
            one = int(there[run])
            other = int(self.often[run] - there[run])
            ways_first = perm(one, int(self.kept[0][run]))
            ways_second = perm(other, int(self.kept[1][run]))
            found[int(self.pair[self.start[run]])] *= ways_first * ways_second
        return found


class _Room:
    """How much weight the sets of values have that may be the fakes of a bucket: see `Hiding`."""

    def __init__(self, hiding: Hiding, most: Ints) -> None:
        self.number = hiding.number
        self.sums: list[list[int]] = []
        for own in most.T:
            self.sums.append(elementary(hiding.within(own), hiding.number))
        self.type = exactly(sum(hiding.weights) ** max(hiding.number, 1))
        self.weights: npt.NDArray[Any] = np.array(list(hiding.weights), dtype=self.type)

    def left(self, flat: Ints, kind: Ints, size: Ints) -> npt.NDArray[Any]:
        """Of every bucket the elementary symmetric polynomial of the weights it does not hold."""
        found = [np.zeros(0, dtype=self.type)]
        first = 0
        for j, sums in enumerate(self.sums):
            buckets = int((kind == j).sum())
            own = int(size[kind == j][0]) if buckets else 0
            bags = np.sort(flat[first : first + buckets * own].reshape(buckets, own), axis=1)
            first += buckets * own
            new = np.ones_like(bags, dtype=np.bool_)
            new[:, 1:] = bags[:, 1:] != bags[:, :-1]
            left = [np.full(buckets, one, dtype=self.type) for one in sums]
            for place in range(own):
                weight = self.weights[bags[:, place]] * new[:, place]
                for k in range(1, self.number + 1):
                    left[k] = left[k] - weight * left[k - 1]
            found.append(left[self.number])
        return np.concatenate(found)


def assigned(places: Ints, runs: npt.NDArray[Any], chance: Chance) -> Ints:
    """The buckets of records that are sorted by their `runs`: uniform within a run.

    `places` are the buckets of the places of each run.
    """
    order = chance.permutation(len(places))
    return places[order[np.argsort(runs[order], kind="stable")]]


def fakes(
    bags: Ints,
    weights: Sequence[int],
    number: int,
    chance: Chance,
    avoided: Bools | None = None,
) -> Ints:
    """For every bucket that many values that it does not hold.

    A set of them has a probability in proportion to ∏ weights. Values of a bucket that are
    `avoided`, a row for every bucket, are drawn only when there are no others left.
    """
    drawn = np.empty((len(bags), number), dtype=np.int64)
    kind = exactly(sum(weights) ** max(number, 1))
    step = max(1, _CELLS // max(len(weights), 1))
    for start in range(0, len(bags) if number else 0, step):
        block = slice(start, start + step)
        left = np.tile(np.array(weights, dtype=kind), (len(bags[block]), 1))
        row = np.arange(len(left))
        left[row[:, None], bags[block]] = 0
        if ((left > 0).sum(axis=1) < number).any():
            raise InfeasibleError(
                f"a bucket of {plural(bags.shape[1], 'record')} leaves fewer than "
                f"{plural(number, 'value')} to be fakes",
                "take fewer fakes",
            )
        for fake in range(number):
            wanted = left if avoided is None else np.where(avoided[block], 0, left)
            wanted = np.where((wanted > 0).any(axis=1, keepdims=True), wanted, left)
            sums = np.cumsum(_first_of(wanted, number - fake), axis=1)
            value = np.array([chance.weighted(one) for one in sums], dtype=np.int64)
            drawn[block, fake] = value
            left[row, value] = 0
    return drawn


def _first_of(weights: npt.NDArray[Any], number: int) -> npt.NDArray[Any]:
    """How likely each value is to be the first of that many, if sets weigh ∏ weights.

    That is w·e_{number − 1} of all others. Where there are fewer values than that, all of them will
    be drawn, in whatever order.
    """
    ones = np.ones_like(weights[:, :1])
    sums = [ones] + [np.zeros_like(ones)] * (number - 1)
    for column in weights.T[:, :, None]:
        for k in range(number - 1, 0, -1):
            sums[k] = sums[k] + column * sums[k - 1]
    others = np.ones_like(weights)
    for k in range(1, number):
        others = sums[k] - weights * others
    enough = (weights > 0).sum(axis=1, keepdims=True) >= number
    return np.where(enough, weights * others, weights)
