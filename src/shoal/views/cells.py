"""From views to cells and components. Uses `model`; `counting` and `checking` use it.

People who are in the very same views cannot be told apart: they are one *cell*, of which only the
number of people matters. Views that share nobody, not even by way of others, reveal nothing about
each other: they are in different *components*.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, prod

from shoal.data.components import representatives
from shoal.errors import InputError, listed
from shoal.views.model import Views, contradiction

__all__ = [
    "Component",
    "Constraints",
    "components",
    "connected",
    "require_countable",
    "views_of_people",
    "ways",
]


@dataclass(frozen=True)
class Constraints:
    """What a table must satisfy to have shown some views.

    cells: of each the number of its people, and the views they are in
    bags: of each view how often every value occurs, by the value's number
    """

    cells: tuple[tuple[int, tuple[int, ...]], ...]
    bags: tuple[tuple[int, ...], ...]

    @property
    def values(self) -> int:
        return len(self.bags[0])


@dataclass(frozen=True)
class Component:
    """Constraints, and who their cells and values are."""

    constraints: Constraints
    people: tuple[tuple[int, ...], ...]
    """The people of every cell."""

    values: tuple[int, ...]
    """The number of every value among all values."""

    views: tuple[int, ...]
    """The views that are in it, by their numbers among all views: also those that became parts of
    others."""


def ways(bag: Iterable[int]) -> int:
    """The number of ways to give the values of a bag to as many people.

    >>> ways([2, 1, 1])
    12
    """
    counts = list(bag)
    return factorial(sum(counts)) // prod(map(factorial, counts))


def require_countable(views: Views) -> None:
    """InputError if it is not public whom some of the views are about."""
    joined = [view.name for view in views.views if view.parts]
    if joined:
        raise InputError(
            f"views {listed(joined[:3])} are joined from groups of which it is not public who is "
            "in which, or who was left out: tables that could have shown them cannot be counted",
            "leave them out, or check them, which gives bounds",
        )


def views_of_people(views: Views) -> list[list[int]]:
    """For everybody in the register the views they are in, by number."""
    numbers: list[list[int]] = [[] for _ in views.people]
    for number, view in enumerate(views.views):
        for person in view.people:
            numbers[person].append(number)
    return numbers


def components(views: Views) -> list[Component]:
    """The components of all people who are in any view.

    InfeasibleError where bags of nested views contradict each other.
    """
    require_countable(views)
    cells: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for person, numbers in enumerate(views_of_people(views)):
        if numbers:
            cells[tuple(numbers)].append(person)
    subtraction = _Subtraction(cells, [list(views.bag(view)) for view in views.views])
    # Taken before views lose their parts: a component lists all views that it came from.
    related = representatives(range(len(views.views)), cells)
    subtraction.run()
    return list(subtraction.components(related))


def connected(views: Views) -> list[int]:
    """For every view the first of those that shared people connect it with, directly or not."""
    first: dict[int, int] = {}
    pairs = []
    for number, view in enumerate(views.views):
        # A view is connected with the first one of each of its people, and so with all of theirs.
        pairs += [(first.setdefault(person, number), number) for person in view.people]
    root = representatives(range(len(views.views)), pairs)
    return [root[number] for number in range(len(views.views))]


class _Subtraction:
    """Cells by their views, and bags, while views lose what other views show of a part of them.

    Where all people of view A are in view B, the two reveal as much as A and the rest of B. The
    rest touches fewer cells, which makes counting easier; a table that is a part of another one
    falls apart into groups that have nothing to do with others.
    """

    def __init__(
        self,
        cells: Mapping[tuple[int, ...], list[int]],
        bags: list[list[int]],
    ) -> None:
        self.people = list(cells.values())
        self.views = list(map(set, cells))
        self.bags = bags
        self.cells_of: list[set[int]] = [set() for _ in bags]
        for cell, numbers in enumerate(self.views):
            for k in numbers:
                self.cells_of[k].add(cell)

    def run(self) -> None:
        """Take every view out of those that contain it, as long as there are any.

        Each time a view gets smaller, so it ends.
        """
        views = range(len(self.bags))
        # Small views are popped first: they are the ones that others contain.
        waiting = sorted(views, key=lambda k: len(self.cells_of[k]), reverse=True)
        queued = set(waiting)
        while waiting:
            inner = waiting.pop()
            queued.discard(inner)
            if not self.cells_of[inner]:
                continue
            holders = set.intersection(*(self.views[cell] for cell in self.cells_of[inner]))
            for outer in sorted(holders - {inner}):
                self._take(inner, outer)
                # What is left of the outer view may now lie within others, or they within it.
                near = {outer}.union(*(self.views[cell] for cell in self.cells_of[outer]))
                waiting += sorted(near - queued)
                queued |= near

    def _take(self, inner: int, outer: int) -> None:
        """Leave of the outer view only the people and values that the inner one has not."""
        self.cells_of[outer] -= self.cells_of[inner]
        for cell in self.cells_of[inner]:
            self.views[cell].discard(outer)
        pairs = zip(self.bags[outer], self.bags[inner], strict=True)
        self.bags[outer] = [whole - part for whole, part in pairs]
        if min(self.bags[outer]) < 0:
            raise contradiction()

    def components(self, related: Mapping[int, int]) -> Iterator[Component]:
        """What is left, in pieces; `related` has the representatives of views before it ran."""
        merged: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for numbers, people in zip(self.views, self.people, strict=True):
            # Cells that differed only in views that were taken away have become one.
            merged[tuple(sorted(numbers))] += people
        left = (k for k, cells in enumerate(self.cells_of) if cells)
        piece = representatives(left, merged)
        cells_of_piece: dict[int, list[tuple[tuple[int, ...], list[int]]]] = defaultdict(list)
        for key, people in merged.items():
            cells_of_piece[piece[key[0]]].append((key, people))
        kin: dict[int, list[int]] = defaultdict(list)
        for k, root in related.items():
            kin[root].append(k)
        for root in sorted(cells_of_piece):
            yield self._component(cells_of_piece[root], tuple(kin[related[root]]))

    def _component(
        self,
        cells: Sequence[tuple[tuple[int, ...], list[int]]],
        views: tuple[int, ...],
    ) -> Component:
        """Cells with their people as a component, in an order that depends on the bags alone.

        Components that differ only in who their people are then have the same constraints, and
        are counted once.
        """
        inside = sorted({k for numbers, _ in cells for k in numbers})
        values = range(len(self.bags[inside[0]]))
        # Values that none of these views shows would only make states longer.
        occurring = [v for v in values if any(self.bags[k][v] for k in inside)]
        bags = {}
        for k in inside:
            bags[k] = tuple(self.bags[k][v] for v in occurring)
        ordered = sorted(inside, key=lambda k: (bags[k], k))
        place = {k: number for number, k in enumerate(ordered)}
        renumbered = []
        for numbers, people in cells:
            places = sorted(place[k] for k in numbers)
            renumbered.append((tuple(places), sorted(people)))
        renumbered.sort()
        constraints = Constraints(
            tuple((len(people), numbers) for numbers, people in renumbered),
            tuple(bags[k] for k in ordered),
        )
        members = tuple(tuple(people) for _, people in renumbered)
        return Component(constraints, members, tuple(occurring), views)
