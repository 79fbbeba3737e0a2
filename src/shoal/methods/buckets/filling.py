"""Which values and which records go into which bucket: `dealt`, `assigned`, and `fakes`. Uses `settings` and `chance`.

Who of those with a value gets which of its places is drawn uniformly; nothing else here looks at people, so that a bucket
tells of nobody in it more than its values' shares. Why: docs/proofs/buckets.md.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import InfeasibleError, InternalError, plural
from shoal.methods.buckets.settings import Ints, Setting, filled, fitting

__all__ = ["assigned", "dealt", "fakes", "levelled", "mixed"]

Bools = npt.NDArray[np.bool_]

_MIXING = 8
"""Rounds of trades besides those in which a record could have come from any bucket to any other."""

_CELLS = 1 << 22
"""Cells of buckets times values that are looked at together."""


def levelled(setting: Setting, limits: Sequence[Fraction]) -> Setting:
    """The same buckets with values spread over their sizes as evenly as the limits allow.

    A value that every bucket of a size holds cannot be fake there. Solvers fill small buckets with as much of a value as
    they may hold, which is just that.
    """
    sizes, numbers = (
        np.array(setting.sizes, dtype=np.int64),
        np.array(setting.buckets, dtype=np.int64),
    )
    counts, room, upper = (
        setting.holds.sum(axis=1),
        sizes * numbers,
        fitting(limits, sizes) * numbers,
    )
    shares = [
        [int(count) * int(own) // max(setting.records, 1) for own in room] for count in counts
    ]
    held = filled(counts, room, upper, np.array(shares, dtype=np.int64).reshape(upper.shape))
    if held is None:
        raise InternalError("buckets that can be filled could not be filled evenly")
    even = replace(setting, holds=held)
    even.check(counts, limits)
    return even


def dealt(setting: Setting, chance: Chance | None = None, limits: Ints | None = None) -> list[Ints]:
    """For every size of a setting an array with one row a bucket: the values it holds.

    Without chance they follow from the setting. With it, and with how often a bucket of each size may hold each value, they
    are mixed, so that nobody can compute them from how often values occur; whatever was drawn, they keep these limits.
    """
    bags = setting.bags()
    if chance is None or limits is None:
        return bags
    return [mixed(bag, limits[:, j], chance) for j, bag in enumerate(bags)]


def mixed(bags: Ints, most: Ints, chance: Chance, rounds: int | None = None) -> Ints:
    """Buckets of one size after rounds of trades: all trade in pairs that are drawn anew each round.

    Two buckets put together what they hold. Of a value that one of them could not hold alone each keeps what it must; the
    rest is split at random, which keeps to `most` whatever is drawn.
    """
    number, size = bags.shape
    for _ in range(
        rounds if rounds is not None else number.bit_length() + _MIXING if number > 1 else 0
    ):
        pairs = chance.permutation(number)[: number // 2 * 2].reshape(-1, 2)
        pool = np.sort(bags[pairs].reshape(len(pairs), 2 * size), axis=1)
        new = np.ones_like(pool, dtype=np.bool_)
        new[:, 1:] = pool[:, 1:] != pool[:, :-1]
        run = np.cumsum(new.ravel()) - 1
        start = np.flatnonzero(new.ravel())
        place = np.arange(pool.size) - start[run]
        kept = np.maximum(np.diff(start, append=pool.size)[run] - most[pool.ravel()], 0)
        key = np.where(
            place < kept, -1, np.where(place < 2 * kept, pool.size, 0)
        )  # of the first bucket, of the second, free
        key[key == 0] = chance.permutation(int((key == 0).sum()))
        split = np.take_along_axis(
            pool, np.argsort(key.reshape(pool.shape), axis=1, kind="stable"), axis=1
        )
        bags = bags.copy()
        bags[pairs[:, 0]], bags[pairs[:, 1]] = split[:, :size], split[:, size:]
    return bags


def assigned(places: Ints, runs: npt.NDArray[Any], chance: Chance) -> Ints:
    """The buckets of records that are sorted by their `runs`, given those of the places of each run: uniform within it."""
    order = chance.permutation(len(places))
    return places[order[np.argsort(runs[order], kind="stable")]]


def fakes(
    bags: Ints, weights: Ints, number: int, chance: Chance, avoided: Bools | None = None
) -> Ints:
    """For every bucket so many values that it has not, all different: drawn one by one in proportion to their weights.

    Values of a bucket that are `avoided`, a row a bucket, are drawn only when there are no others left.
    """
    size, drawn = bags.shape[1], np.empty((len(bags), number), dtype=np.int64)
    if number and size + number > (able := int((weights > 0).sum())):
        raise InfeasibleError(
            f"a bucket of {plural(size, 'record')} with {plural(number, 'fake value')} may need {size + number} different "
            f"values, and {able} occur in buckets of that size; take fewer fakes, larger limits, or solver='two'"
        )
    step = max(1, _CELLS // len(weights))
    for start in range(0, len(bags) if number else 0, step):
        block = slice(start, start + step)
        left = np.broadcast_to(weights, (len(bags[block]), len(weights))).copy()
        row = np.arange(len(left))
        left[row[:, None], bags[block]] = 0
        for fake in range(number):
            wanted = left if avoided is None else np.where(avoided[block], 0, left)
            wanted = np.where(wanted.sum(axis=1, keepdims=True) > 0, wanted, left)
            sums = np.cumsum(wanted, axis=1)
            at = np.array([chance.below(total) for total in sums[:, -1].tolist()], dtype=np.int64)
            drawn[block, fake] = value = (sums > at[:, None]).argmax(axis=1)
            left[row, value] = 0
    return drawn
