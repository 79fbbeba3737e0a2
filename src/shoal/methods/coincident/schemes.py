"""Which groups merge until all are safe, so that nothing but the values they show can be inferred from it.

Leaves are groups of equal size, in an order that depends on quasi-identifying values alone. A *tree* pairs neighbours; a group
that is not safe takes all of its sibling, and so on upwards. Everything a scheme does is unchanged if siblings swap all their
values, which is why everybody in a group has the same distribution, also to someone who knows the scheme
(docs/proofs/coincident.md). Leaves that do not fit the trees are left as they are: safe ones, drawn by secret coins.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import InfeasibleError

__all__ = ["SCHEMES", "Scheme", "merged", "whole_tree"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Safe = Callable[[Ints, int], Bools]
"""Given the number of every half leaf's group and how many there are, which groups are safe; -1 is in none."""
Scheme = Literal["forest", "UU", "UA", "interleaved"]
SCHEMES: tuple[Scheme, ...] = ("forest", "UU", "UA", "interleaved")
ONE_TREE = ("UU", "UA")  # as large as they need, so that a depth is not asked for
_LAST = "Keep this refusal secret if you try again: that there was one tells about the values"


def merged(leaves: int, safe: Safe, scheme: Scheme, depth: int, chance: Chance) -> Ints:
    """The number of every half leaf's group; halves 2i and 2i+1 are leaf i.

    InfeasibleError if some group cannot be made safe: then nothing may be released.
    """
    first = safe(np.arange(2 * leaves) // 2, leaves)
    block, tree = 3 if scheme == "interleaved" else 1, whole_tree(leaves, scheme, depth)
    kept = _kept(first, scheme, tree, chance)
    group = np.arange(2 * leaves) // 2
    if len(kept):
        halves = np.stack([2 * kept, 2 * kept + 1], axis=1).reshape(
            -1, 2 * block
        )  # a line for every block of the trees
        top = len(halves) if scheme in ONE_TREE else tree // block
        if _climb(halves, group, first[kept].reshape(-1, block), safe, leaves, top).any():
            help_ = (
                "asking for less" if scheme in ONE_TREE else "a larger `depth`, or asking for less,"
            )
            raise InfeasibleError(
                f"nothing can be released: all records of a tree together do not satisfy the models; {help_} would help. {_LAST}"
            )
    _, group = np.unique(group, return_inverse=True)
    return group.astype(np.int64)


def whole_tree(leaves: int, scheme: Scheme, depth: int) -> int:
    """How many leaves a tree has: as many as wanted, or as fit; how many there are, everyone may know."""
    block = 3 if scheme == "interleaved" else 1
    return block << max(min(depth, (leaves // block).bit_length() - 1), 0)


def _kept(safe: Bools, scheme: Scheme, tree: int, chance: Chance) -> Ints:
    """The leaves that the trees are made of; the others are safe, and drawn uniformly among those that are."""
    leaves, unsafe = len(safe), int((~safe).sum())
    if scheme in ("forest", "interleaved"):
        wanted = leaves - leaves % tree
    elif scheme == "UU":  # as few as hold all unsafe ones
        wanted = 0 if not unsafe else max(2, 1 << (unsafe - 1).bit_length())
    else:  # as many as a single tree can have
        wanted = 1 << (leaves.bit_length() - 1) if leaves else 0
    if not unsafe <= wanted <= leaves:
        other = "the scheme 'forest'" if scheme in ONE_TREE else "`spare` 'records'"
        raise InfeasibleError(
            "nothing can be released: there are not enough groups that are safe as they are to leave out of the trees; larger "
            f"groups to start with would help, or {other}. {_LAST}"
        )
    those = np.flatnonzero(safe)
    kept = np.ones(leaves, dtype=np.bool_)
    kept[those[chance.choice(len(those), leaves - wanted).astype(np.int64)]] = False
    return np.flatnonzero(kept)


def _climb(halves: Ints, group: Ints, safe: Bools, test: Safe, leaves: int, top: int) -> Bools:
    """Merge what is unsafe with its siblings, level by level, up to trees of `top` blocks; which of these are unsafe even so.

    Writes the groups of halves.

    `halves` has a line for every block of neighbouring leaves: two halves, or those of three leaves for interleaved groups.
    """
    some: Bools = np.logical_not(safe).any(axis=1)  # type: ignore[assignment]  # an array, as it has an axis
    unsafe = some if halves.shape[1] == 2 else _interleave(halves, group, some, test, leaves)
    while len(unsafe) * top > len(halves):  # one for each tree at last
        merging = np.flatnonzero(unsafe.reshape(-1, 2).any(axis=1))
        unsafe = np.zeros(len(unsafe) // 2, dtype=np.bool_)
        unsafe[merging] = ~_joined(halves.reshape(len(unsafe), -1)[merging], group, test, leaves)
    return unsafe


def _interleave(halves: Ints, group: Ints, some: Bools, test: Safe, leaves: int) -> Bools:
    """Blocks of three leaves of which one is unsafe become two groups, each with one half of every leaf, or else one.

    Gives which blocks are unsafe even so.
    """
    open_ = np.flatnonzero(some)
    unsafe = np.zeros(len(halves), dtype=np.bool_)
    if not len(open_):
        return unsafe
    mixed = np.full(2 * leaves, -1, dtype=np.int64)
    two = halves[open_].reshape(-1, 3, 2)
    for side in (0, 1):
        mixed[two[:, :, side]] = (2 * np.arange(len(open_)) + side)[:, None]
    good = test(mixed, 2 * len(open_)).reshape(-1, 2).all(axis=1)
    for side in (0, 1):
        fine = two[good][:, :, side]
        group[fine] = fine[:, :1] + leaves  # numbers that no group of whole leaves has
    still = open_[~good]
    unsafe[still] = ~_joined(halves[still], group, test, leaves)
    return unsafe


def _joined(lines: Ints, group: Ints, test: Safe, leaves: int) -> Bools:
    """Make every line of halves one group; which of them are safe."""
    if not len(lines):
        return np.zeros(0, dtype=np.bool_)
    numbers = np.full(2 * leaves, -1, dtype=np.int64)
    numbers[lines] = np.arange(len(lines))[:, None]
    group[lines] = lines[:, :1] // 2
    return test(numbers, len(lines))
