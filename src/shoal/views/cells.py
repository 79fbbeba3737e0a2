"""From views to cells and components. Uses `model`; `counting` and `checking` use it.

People who are in the very same views cannot be told apart: they are one *cell*, of which only matters how many there are. Views
that share nobody, not even by way of others, say nothing about each other: they are in different *components*.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

from shoal.errors import InputError, listed
from shoal.views.model import Views, contradiction

__all__ = ["Component", "Puzzle", "components", "connected", "countable", "together", "ways"]


@dataclass(frozen=True)
class Puzzle:
    """How many people each cell has and in which views they are; and every view's bag, as numbers by value."""

    cells: tuple[tuple[int, tuple[int, ...]], ...]
    bags: tuple[tuple[int, ...], ...]

    @property
    def values(self) -> int:
        return len(self.bags[0])


@dataclass(frozen=True)
class Component:
    """A puzzle, and who its cells and values are."""

    puzzle: Puzzle
    people: tuple[tuple[int, ...], ...]
    """The people of every cell."""

    values: tuple[int, ...]
    """The number of every value among all values."""

    views: tuple[int, ...]
    """The views that are in it, by their numbers among all views: also those that became parts of others."""


def ways(bag: Iterable[int]) -> int:
    """In how many ways the values of a bag can be given to as many people.

    >>> ways([2, 1, 1])
    12
    """
    counts = list(bag)
    return factorial(sum(counts)) // prod(map(factorial, counts))


def countable(views: Views) -> None:
    """InputError if it is not public whom some of the views are about."""
    if joined := [view.name for view in views.shown if view.parts]:
        raise InputError(
            f"views {listed(joined[:3])} are joined from groups of which it is not public who is in which, or who was left out: "
            "tables that could have shown them cannot be counted. Leave them out, or check them, which gives bounds"
        )


def components(views: Views) -> list[Component]:
    """The components of all people who are in any view; InfeasibleError where bags of nested views contradict each other."""
    countable(views)
    signature: list[list[int]] = [[] for _ in views.names]
    for k, view in enumerate(views.shown):
        for person in view.members:
            signature[person].append(k)
    cells: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for person, own in enumerate(signature):
        if own:
            cells[tuple(own)].append(person)
    parts = _Parts(
        {frozenset(key): people for key, people in cells.items()},
        [list(views.bag(view)) for view in views.shown],
    )
    related = together(range(len(views.shown)), cells)
    parts.subtract()
    return list(parts.components(related))


def connected(views: Views) -> list[int]:
    """For every view the first of those that it is connected with by people they share, not even directly."""
    first: dict[int, int] = {}
    cells = []
    for k, view in enumerate(views.shown):
        cells += [(first.setdefault(person, k), k) for person in view.members]
    found = together(range(len(views.shown)), cells)
    return [found[k] for k in range(len(views.shown))]


class _Parts:
    """Cells by their views, and bags, while views lose what other views say about a part of them.

    Where all people of view A are in view B, the two say as much as A and the rest of B. The rest touches fewer cells, which
    makes counting easier; a table that is a part of another one falls apart into groups that have nothing to do with others.
    """

    def __init__(self, cells: dict[frozenset[int], list[int]], bags: list[list[int]]) -> None:
        self.people = list(cells.values())
        self.views = list(map(set, cells))
        self.bags = bags
        self.of: list[set[int]] = [set() for _ in bags]
        for c, own in enumerate(self.views):
            for k in own:
                self.of[k].add(c)

    def subtract(self) -> None:
        """Take every view out of those that hold it, as long as there are such. Each time a view gets smaller, so it ends."""
        waiting = sorted(range(len(self.bags)), key=lambda k: len(self.of[k]), reverse=True)
        queued = set(waiting)
        while waiting:
            a = waiting.pop()
            queued.discard(a)
            if not self.of[a]:
                continue
            for b in sorted(set.intersection(*(self.views[c] for c in self.of[a])) - {a}):
                self.of[b] -= self.of[a]
                for c in self.of[a]:
                    self.views[c].discard(b)
                self.bags[b] = [
                    whole - part for whole, part in zip(self.bags[b], self.bags[a], strict=True)
                ]
                if min(self.bags[b]) < 0:
                    raise contradiction()
                near = {k for c in self.of[b] for k in self.views[c]} | {b}
                waiting += sorted(near - queued)
                queued |= near

    def components(self, related: dict[int, int]) -> Iterator[Component]:
        """What is left, in pieces. `related` numbers the pieces that there were before views were taken out of others."""
        merged: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for own, people in zip(self.views, self.people, strict=True):
            merged[tuple(sorted(own))] += people
        piece = together((k for k, own in enumerate(self.of) if own), merged)
        cells: dict[int, list[tuple[tuple[int, ...], list[int]]]] = defaultdict(list)
        for key, people in merged.items():
            cells[piece[key[0]]].append((key, people))
        kin: dict[int, list[int]] = defaultdict(list)
        for k, root in related.items():
            kin[root].append(k)
        for root in sorted(cells):
            inside = sorted({k for key, _ in cells[root] for k in key})
            occurring = [
                v for v in range(len(self.bags[root])) if any(self.bags[k][v] for k in inside)
            ]
            bags = {k: tuple(self.bags[k][v] for v in occurring) for k in inside}
            place = {k: i for i, k in enumerate(sorted(inside, key=lambda k: (bags[k], k)))}
            ordered = sorted(
                (tuple(sorted(place[k] for k in key)), sorted(people))
                for key, people in cells[root]
            )
            yield Component(
                Puzzle(
                    tuple((len(people), key) for key, people in ordered),
                    tuple(bags[k] for k in place),
                ),
                tuple(tuple(people) for _, people in ordered),
                tuple(occurring),
                tuple(kin[related[root]]),
            )


def together(things: Iterable[int], groups: Iterable[Sequence[int]]) -> dict[int, int]:
    """For every thing the first of those that groups connect it with: views by cells, or people by views.

    >>> together(range(5), [(1, 3), (4, 3)])
    {0: 0, 1: 1, 2: 2, 3: 1, 4: 1}
    """
    first = {one: one for one in things}

    def find(one: int) -> int:
        while first[one] != one:
            first[one] = first[first[one]]
            one = first[one]
        return one

    for group in groups:
        for thing in group[1:]:
            one, other = find(group[0]), find(thing)
            first[max(one, other)] = min(one, other)
    return {one: find(one) for one in first}
