"""All ways to give a bag of values to people, and what groups of people show in each.

They are equally likely to an adversary, who only counts, so all is exact. Tests of coincident
generalisation and of disclosure use it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Bag = tuple[int, ...]
Predicate = Callable[[Bag], bool]
"""Whether a group is safe, by how often every value occurs in it."""


class Assignments:
    """`worlds` has a line for every distinct assignment of a bag of values: what everybody has."""

    def __init__(self, bag: Bag) -> None:
        self.worlds = np.array(list(_arranged(tuple(sorted(bag)))))
        self.values = sorted(set(bag))
        self.has = np.stack([self.worlds == value for value in self.values], axis=2).astype(
            np.int64
        )
        self.shown, self.safe = cache(self._shown), cache(self._safe)

    def _shown(self, group: frozenset[int]) -> tuple[list[Bag], npt.NDArray[np.int64]]:
        """The bags that a group can have, as how often every value occurs, and which it has in
        every world.
        """
        found, which = np.unique(
            self.has[:, sorted(group)].sum(axis=1), axis=0, return_inverse=True
        )
        return [tuple(bag) for bag in found.tolist()], which.ravel()

    def _safe(self, group: frozenset[int], predicate: Predicate) -> npt.NDArray[np.bool_]:
        """Whether a group is safe, in every world."""
        bags, which = self.shown(group)
        return np.array([predicate(bag) for bag in bags], dtype=np.bool_)[which]

    def alike(
        self, groups: Iterable[Iterable[int]], worlds: npt.NDArray[np.int64]
    ) -> list[npt.NDArray[np.int64]]:
        """Some worlds (their places), parted by what all of these groups show."""
        all_bags = np.zeros(len(worlds), dtype=np.int64)
        for group in groups:
            bags, which = self.shown(frozenset(group))
            all_bags = all_bags * len(bags) + which[worlds]
        return [worlds[all_bags == one] for one in np.unique(all_bags)]


def _arranged(bag: Bag) -> Iterator[Bag]:
    """Every distinct order of some values."""
    if not bag:
        yield ()
    for value in sorted(set(bag)):
        at = bag.index(value)
        yield from ((value, *rest) for rest in _arranged(bag[:at] + bag[at + 1 :]))


def diverse(l: int) -> Callable[[Counter[Any]], bool]:  # noqa: E741
    """Whether the entropy of some values is at least log l, in integers."""

    def test(bag: Counter[Any]) -> bool:
        total = bag.total()
        return bool(math.prod(n**n for n in bag.values()) * l**total <= total**total)

    return test
