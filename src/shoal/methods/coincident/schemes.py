"""Which groups merge until all are safe, so that nothing but what they show can be inferred.

Leaves are groups of equal size, in an order that depends on quasi-identifying values alone. A
*tree* pairs neighbours; a group that is not safe takes all of its siblings, and so on upwards:
first two by two, then by small primes, until one root is left. Everything a scheme does is
unchanged if siblings swap all their values, which is why everybody in a group has the same
distribution, also to someone who knows the scheme (docs/proofs/coincident.md). Leaves that do not
fit the tree are released unchanged: safe ones, drawn by secret coins. If there are too few of
these, as many of all are left out of the release, also drawn; and if the root is not safe,
everybody is one group.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import InfeasibleError

__all__ = ["LEFT_OUT", "SCHEMES", "Scheme", "best_depth", "merged", "shaped"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Safe = Callable[[Ints, int], Bools]
"""Given the number of every half leaf's group and how many there are, which are safe.

-1 is in none, `LEFT_OUT` not there.
"""
LEFT_OUT = -2
"""Instead of a group: of a half leaf that is not released."""
Scheme = Literal["forest", "UU", "UA", "interleaved"]
SCHEMES: tuple[Scheme, ...] = ("forest", "UU", "UA", "interleaved")
_LARGEST_PRIME = 13
"""That many siblings merge at once, at most.

Few leaves are left over when a number of leaves is to have no larger prime factor.
"""

_SPARE = 16
"""Of that many leaves one may be left over, if no depth is given."""


def merged(leaves: int, safe: Safe, scheme: Scheme, depth: int, chance: Chance) -> Ints:
    """The number of every half leaf's group, or `LEFT_OUT`; halves 2i and 2i+1 are leaf i.

    InfeasibleError if not even all together are safe: then nothing may be released.
    """
    group = np.arange(2 * leaves) // 2
    first = safe(group, leaves)
    kept, left_out, siblings = _kept(first, scheme, depth, chance)
    block = 3 if scheme == "interleaved" else 1
    unsafe = bool(len(left_out)) and not len(kept)
    if len(kept):
        halves = np.stack([2 * kept, 2 * kept + 1], axis=1)
        group[2 * left_out] = group[2 * left_out + 1] = LEFT_OUT
        test = safe
        # What is left out is not part of what others are compared with.
        if len(left_out):
            gone = group == LEFT_OUT

            def test(numbers: Ints, groups: int) -> Bools:
                return safe(np.where(gone, LEFT_OUT, numbers), groups)

            numbers = np.full(2 * leaves, LEFT_OUT, dtype=np.int64)
            numbers[halves] = np.arange(len(kept))[:, None]
            first[kept] = safe(numbers, len(kept))
        blocks = halves.reshape(-1, 2 * block)  # a line for every block of the tree
        start = first[kept].reshape(-1, block)
        unsafe = bool(_climb(blocks, group, start, test, leaves, siblings).any())
    if unsafe:
        group = np.zeros(2 * leaves, dtype=np.int64)
        if not safe(group, 1).all():
            raise InfeasibleError(
                "nothing can be released: all records together do not satisfy the models without "
                "the few that are left out by chance",
                "ask for less. Keep this refusal secret if you try again: it reveals information "
                "about the values",
            )
    released = group != LEFT_OUT
    group[released] = np.unique(group[released], return_inverse=True)[1]
    return group


def shaped(leaves: int, scheme: Scheme, depth: int) -> tuple[int, list[int]]:
    """How many leaves fit a tree, and how many siblings merge at each of its levels.

    Two do at the lowest `depth`, then primes.
    """
    block = 3 if scheme == "interleaved" else 1
    blocks = leaves // block
    if not blocks:
        return 0, []
    halvings = min(depth, blocks.bit_length() - 1)
    above = blocks >> halvings
    while (primes := _primes(above)) is None:
        above -= 1
    return block * (above << halvings), [2] * halvings + primes


def best_depth(leaves: int, scheme: Scheme) -> int:
    """As many halvings as leave few leaves over; how many leaves there are, everyone may know."""
    fits = [shaped(leaves, scheme, depth)[0] for depth in range(max(leaves, 1).bit_length())]
    enough = leaves - max(leaves // _SPARE, 1)
    good = [depth for depth, tree in enumerate(fits) if tree >= enough]
    return max(good, default=fits.index(max(fits)))


def _primes(number: int) -> list[int] | None:
    """The prime factors of a number, the smallest first; None if one is too large."""
    factors = []
    for prime in range(2, _LARGEST_PRIME + 1):
        while number % prime == 0:
            factors.append(prime)
            number //= prime
    return factors if number == 1 else None


def _kept(safe: Bools, scheme: Scheme, depth: int, chance: Chance) -> tuple[Ints, Ints, list[int]]:
    """The leaves of the tree, those that are not released, and how many siblings merge when.

    All others are safe, and drawn uniformly among those that are. How many there are of each
    depends only on how many are safe.
    """
    leaves = len(safe)
    unsafe = int((~safe).sum())
    tree, siblings = shaped(leaves, scheme, depth)
    wanted = tree
    if scheme == "UU":
        # The smallest tree of pairs that holds all unsafe ones.
        wanted = max(2, 1 << (unsafe - 1).bit_length()) if unsafe else 0
    elif scheme == "UA":
        # The largest tree of pairs.
        wanted = 1 << (leaves.bit_length() - 1) if leaves else 0
    if unsafe <= wanted <= leaves and wanted != tree:
        tree = wanted
        siblings = [2] * (wanted.bit_length() - 1)
    enough = unsafe <= tree
    among = np.flatnonzero(safe) if enough else np.arange(leaves)
    kept = np.ones(leaves, dtype=np.bool_)
    drawn = chance.choice(len(among), leaves - tree).astype(np.int64)
    kept[among[drawn]] = False
    left_out = np.zeros(0, dtype=np.int64) if enough else np.flatnonzero(~kept)
    return np.flatnonzero(kept), left_out, siblings


def _climb(
    halves: Ints, group: Ints, safe: Bools, test: Safe, leaves: int, siblings: Sequence[int]
) -> Bools:
    """Merge what is unsafe with its siblings, level by level; whether the root is unsafe even so.

    Writes the groups of halves. `halves` has a line for every block of neighbouring leaves: two
    halves, or those of three leaves for interleaved groups.
    """
    unsafe: Bools = np.asarray(np.logical_not(safe).any(axis=1))
    if halves.shape[1] > 2:
        unsafe = _interleave(halves, group, unsafe, test, leaves)
    for number in siblings:
        # One unsafe node merges all its siblings.
        merging = np.flatnonzero(unsafe.reshape(-1, number).any(axis=1))
        unsafe = np.zeros(len(unsafe) // number, dtype=np.bool_)
        halves_of_nodes = halves.reshape(len(unsafe), -1)
        unsafe[merging] = ~_joined(halves_of_nodes[merging], group, test, leaves)
    return unsafe


def _interleave(halves: Ints, group: Ints, some: Bools, test: Safe, leaves: int) -> Bools:
    """Blocks of three leaves with an unsafe one become two groups, or else one.

    Each of two has one half of every leaf. Gives which blocks are unsafe even so.
    """
    tried = np.flatnonzero(some)
    unsafe = np.zeros(len(halves), dtype=np.bool_)
    if not len(tried):
        return unsafe
    # By block, leaf and side: both groups of a block are tested at once, numbered in turn.
    by_side = halves[tried].reshape(-1, 3, 2)
    mixed = np.full(2 * leaves, -1, dtype=np.int64)
    for side in (0, 1):
        numbers = 2 * np.arange(len(tried)) + side
        mixed[by_side[:, :, side]] = numbers[:, None]
    both_safe = test(mixed, 2 * len(tried)).reshape(-1, 2).all(axis=1)
    for side in (0, 1):
        members = by_side[both_safe][:, :, side]
        # Numbers that no group of whole leaves has.
        group[members] = members[:, :1] + leaves
    rest = tried[~both_safe]
    unsafe[rest] = ~_joined(halves[rest], group, test, leaves)
    return unsafe


def _joined(lines: Ints, group: Ints, test: Safe, leaves: int) -> Bools:
    """Make every line of halves one group; which of them are safe."""
    if not len(lines):
        return np.zeros(0, dtype=np.bool_)
    numbers = np.full(2 * leaves, -1, dtype=np.int64)
    numbers[lines] = np.arange(len(lines))[:, None]
    group[lines] = lines[:, :1] // 2
    return test(numbers, len(lines))
