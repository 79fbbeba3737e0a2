"""Algorithm 4.5 as printed, and definitions 16 and 17 (Zhang, chapter 4): not safe in any reading.

It looks at rotations of the values within a group instead of at all tables that show the same. The
shown table is then that of people whose values are not only permuted: docs/proofs/disclosure.md has
what is built instead. Uses the spaces of `methods.disclosure`; tests use it.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2, prod
from typing import Any, Literal

from shoal.errors import TooLargeError
from shoal.methods.disclosure.spaces import (
    Function,
    Predicate,
    Space,
    States,
    disclosed,
    is_better,
    is_safe,
    orders,
)

__all__ = ["Rotations", "entropies", "is_conservative", "is_weakly_optimal"]

Reading = Literal["printed", "every", "some"]
Grouping = Sequence[Sequence[int]]

LARGEST = 1 << 20
"""Functions that are tried one by one, at most."""

EQUAL = 1e-9
"""Entropies this close together count as equal."""


@dataclass(frozen=True)
class Rotations:
    """Algorithm 4.5 for entropy l-diversity.

    values: the sensitive values that people have, in any order
    groupings: groups of people, each coarser than the one before; after these, nothing is shown
    l: entropies of groups are log2(l) or more
    reading: line 13 as printed, which returns the same as line 15; or with T_j, where in every
        group of it, or in some group, a rotation fails one step before
    """

    values: Sequence[Hashable]
    groupings: Sequence[Grouping]
    l: int  # noqa: E741
    reading: Reading = "printed"

    @property
    def space(self) -> Space:
        """All ways to give the values to people, and what the groupings show of them."""
        return Space.of_groups(self.values, *self.groupings)

    def function(self) -> dict[Any, int]:
        """For every table the number, from 1, of the grouping that is shown."""
        return {table: self.chosen(table) for table in orders(Counter(self.values))}

    def chosen(self, table: Sequence[Hashable]) -> int:
        """The number of the grouping that is shown for a table; one more than there are: none."""
        last = len(self.groupings) + 1
        safe = (self._is_diverse(table, grouping) for grouping in self.groupings)
        first = next((number for number, each in enumerate(safe, 1) if each), last)
        if first == last or self.reading == "printed":
            return first
        quantifier = all if self.reading == "every" else any
        for number in range(last - 1, first, -1):
            groups, finer = self.groupings[number - 1], self.groupings[number - 2]
            if quantifier(self._rotation_fails(table, group, finer) for group in groups):
                return number
        return first

    def _rotation_fails(
        self, table: Sequence[Hashable], group: Sequence[int], finer: Grouping
    ) -> bool:
        """Whether, if the values of a group are rotated, a group within it is not diverse."""
        inside = [each for each in finer if set(each) <= set(group)]
        for turn in range(len(group)):
            rotated = list(table)
            for place, person in enumerate(group):
                rotated[person] = table[group[(place + turn) % len(group)]]
            if not self._is_diverse(rotated, inside):
                return True
        return False

    def _is_diverse(self, table: Sequence[Hashable], groups: Grouping) -> bool:
        bags = ([table[person] for person in group] for group in groups)
        return all(_entropy(bag) >= log2(self.l) - EQUAL for bag in bags)

    def diverse(self) -> Predicate:
        """Entropy l-diversity of a disclosure set: p of the chapter."""

        def holds(states: States) -> bool:
            return min(entropies(states)) >= log2(self.l) - EQUAL

        return Predicate(holds)

    def least_entropy(self) -> float:
        """The least entropy of anyone's value, for whoever knows the algorithm and sees a table."""
        sets = disclosed(self.space, self.function()).values()
        return min(min(entropies(states)) for states in sets)


def entropies(states: States) -> list[float]:
    """For each person the entropy of their value, if all these tables are equally likely."""
    return [_entropy(column) for column in zip(*states, strict=True)]


def _entropy(bag: Sequence[Hashable]) -> float:
    shares = [count / len(bag) for count in Counter(bag).values()]
    return -sum(share * log2(share) for share in shares)


def is_conservative(
    approximation: Callable[[States], bool],
    predicate: Callable[[States], bool],
    space: Space,
) -> bool:
    """Definition 16: whatever the approximation lets pass, the predicate does.

    The definition prints q(D) for q(D′), which would make it a statement about one set.
    """
    return all(predicate(each) for each in _parts(space) if approximation(each))


def is_weakly_optimal(
    space: Space, function: Function, predicate: Predicate, approximation: Predicate
) -> bool:
    """Definition 17: safe, and nothing locally better is safe by the approximation."""
    if not is_safe(space, function, predicate):
        return False
    ways = prod(function[state] for state in space.states)
    if ways > LARGEST:
        raise TooLargeError(
            f"{ways:,} functions may be better, more than the {LARGEST:,} that are tried",
            "take fewer states",
        )
    numbers = [range(1, function[state] + 1) for state in space.states]
    for choice in product(*numbers):
        other = dict(zip(space.states, choice, strict=True))
        if is_better(other, function) and is_safe(space, other, approximation):
            return False
    return True


def _parts(space: Space) -> Iterator[States]:
    """All sets of states but the empty one."""
    for chosen in range(1, 1 << len(space.states)):
        yield frozenset(state for place, state in enumerate(space.states) if chosen >> place & 1)
