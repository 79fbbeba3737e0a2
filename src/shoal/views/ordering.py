"""The order in which cells are counted: one that keeps states few.

Uses `cells`; `counting` and `importance` use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb, inf, log
from typing import NamedTuple

from shoal.views.cells import Constraints

__all__ = ["Order", "guessed", "order"]

_HOPELESS = 1e15  # estimated steps that are not worth refining
_STARTS = 12  # orders that are compared before counting
_MANY = 200  # views above which only one order is made
_SMALL = 4  # people of the smallest cell that may be left to the end
_SIZES = (2, 4, 8, 16)  # people above which cells may be left to the end
_LARGEST = 900  # power of two that a guess may reach, as floats end at 1023


class Order(NamedTuple):
    """Cells that are taken one by one, and those that are left to the end.

    The `last` are taken together, value by value.
    """

    first: list[int]
    last: list[int]


def order(constraints: Constraints) -> Order:
    """The cells in an order that keeps states few.

    Greedy, and the best of some that start with other views, or leave large cells to the end.
    """
    return _best(constraints)[0]


def guessed(constraints: Constraints) -> float:
    """About how many steps counting takes.

    Rarely ten times as many, but far fewer where views leave little open.
    """
    return _best(constraints)[1]


@lru_cache(maxsize=1)
def _best(constraints: Constraints) -> tuple[Order, float]:
    """The order, and a guess of the steps it takes."""
    if len(constraints.bags) == 1:
        return Order(list(range(len(constraints.cells))), []), 0.0
    orders = _Orders(constraints)
    best, least = Order([], []), inf
    for last in orders.lasts():
        for start in orders.starts():
            cells, cost = orders.greedy(start, last, least)
            if cost < least:
                best, least = Order(cells, last), cost
    return best, least


@dataclass(eq=False)
class _Progress:
    """How far a greedy order has come."""

    waiting: set[int]
    """Cells that are not done."""

    left: list[int]
    """Of every view how many cells are not done."""

    people: list[int]
    """Of every view how many people are done."""

    open_: set[int] = field(default_factory=set)
    """Views of which some cells are done and some are not."""


class _Orders:
    """Orders of cells, with an estimate of the steps that they lead to, as powers of two.

    A view of which p people are done has as many states as its bag has parts of that size. Their
    product bounds the number of states; so does the number of ways in which people done so far can
    have values, those in the same open views together.
    """

    def __init__(self, constraints: Constraints) -> None:
        self.cells = constraints.cells
        self.cells_of: list[list[int]] = [[] for _ in constraints.bags]
        for c, (_, views) in enumerate(constraints.cells):
            for k in views:
                self.cells_of[k].append(c)
        self.parts = [_parts(bag) for bag in constraints.bags]
        self.values = constraints.values

    def starts(self) -> list[int]:
        """Views to start with: those with few states at their borders, and the end of a chain."""
        views = range(len(self.cells_of))
        if len(views) <= _STARTS:
            return list(views)
        # The view farthest from one that is farthest from any is an end of a chain.
        far = self._far(self._far(0))
        if len(views) > _MANY:
            return [far]

        def border(k: int) -> int:
            return sum(len(self.cells[c][1]) - 1 for c in self.cells_of[k])

        return [far, *sorted(views, key=border)[: _STARTS - 1]]

    def _far(self, start: int) -> int:
        """A view as far from another as any, by way of views that share people."""
        seen, edge = {start}, [start]
        last = start
        while edge:
            last = edge[-1]
            near: dict[int, None] = {}
            for k in edge:
                for c in self.cells_of[k]:
                    near |= dict.fromkeys(self.cells[c][1])
            edge = [k for k in near if k not in seen]
            seen.update(edge)
        return last

    def lasts(self) -> list[list[int]]:
        """Cells that may be left to the end: none, or all above some size.

        Those that are in one view only are left with them.
        """
        sizes = sorted({size for size, views in self.cells if len(views) > 1})
        if len(self.cells_of) > _STARTS or sizes[-1] < _SMALL:
            return [[]]
        choices: list[list[int]] = [[]]
        for size in (0, *_SIZES):
            some = [
                c
                for c, (people, views) in enumerate(self.cells)
                if people > size or len(views) == 1
            ]
            if some not in choices:
                choices.append(some)
        return [self._in_turn(some) for some in choices]

    def _in_turn(self, some: Sequence[int]) -> list[int]:
        """Cells, those in one view only last: they take what is left."""

        def turn(c: int) -> tuple[bool, int, int]:
            size, views = self.cells[c]
            return len(views) == 1, -len(views), size

        return sorted(some, key=turn)

    def greedy(
        self,
        start: int,
        last: Sequence[int],
        least: float,
    ) -> tuple[list[int], float]:
        """View by view, always the one whose cells leave the fewest states, and its steps.

        It stops once it takes more than the `least`.
        """
        progress = _Progress(
            set(range(len(self.cells))) - set(last),
            [len(cells) for cells in self.cells_of],
            [0] * len(self.cells_of),
        )
        cells: list[int] = []
        cost, states = 0.0, 0.0
        chosen = start
        while progress.waiting:
            for c in self._cells(chosen, progress):
                cost += 2.0 ** min(states + self._choices(c, progress), _LARGEST)
                cells.append(c)
                self._do(c, progress)
                if cost > least:
                    return cells, inf
                # Beyond that it is an order for samples, and nobody counts by it.
                if cost < _HOPELESS:
                    states = self._states(progress, last)
            if progress.waiting:
                chosen = self._next(progress)
        if last:
            cost += 2.0 ** min(states + self._together(last), _LARGEST)
        return cells, cost

    def _choices(self, c: int, progress: _Progress) -> float:
        """What may be chosen for a cell, as a power of two; one that ends a view has no choice."""
        size, views = self.cells[c]
        if any(progress.left[k] == 1 for k in views):
            return 0
        return self._shares(size)

    def _shares(self, people: int) -> float:
        """The ways in which people who are alike can have values, as a power of two."""
        return _two(comb(people + self.values - 1, people))

    def _do(self, c: int, progress: _Progress) -> None:
        size, views = self.cells[c]
        progress.waiting.discard(c)
        for k in views:
            progress.people[k] += size
            progress.left[k] -= 1
            if progress.left[k]:
                progress.open_.add(k)
            else:
                progress.open_.discard(k)

    def _next(self, progress: _Progress) -> int:
        """The view whose cells leave the fewest states: an open one, if there is any."""
        able = [k for k in progress.open_ if not progress.waiting.isdisjoint(self.cells_of[k])]
        if not able:
            # No open view has cells waiting: go on with any other.
            able = sorted({k for c in progress.waiting for k in self.cells[c][1]})
        return min(able, key=lambda k: (self._more(k, progress), k))

    def _together(self, last: Sequence[int]) -> float:
        """The steps for cells that are taken value by value, from one state, as a power of two.

        Their states are how many people of each are left. The numbers of as many cells as there are
        views follow from those of the others; so the largest ones do not count.
        """
        views = {k for c in last for k in self.cells[c][1]}
        sizes = sorted(self.cells[c][0] for c in last)
        free = sizes[: max(len(last) - len(views), 0)]
        branches = max([1, *free]) + 1
        states = sum(_two(size + 1) for size in free)
        return _two(self.values * len(last) * branches) + states

    def _cells(self, view: int, progress: _Progress) -> list[int]:
        """The cells of a view that are waiting.

        Those that end some view come first, and last the one with the most to choose.
        """

        def turn(c: int) -> tuple[bool, bool, int, int]:
            size, views = self.cells[c]
            ends = any(progress.left[k] == 1 for k in views)
            opens = sum(k not in progress.open_ for k in views)
            return not ends, len(views) == 1, opens, size

        return sorted((c for c in self.cells_of[view] if c in progress.waiting), key=turn)

    def _more(self, view: int, progress: _Progress) -> float:
        """How many more states there are once all cells of a view are done."""
        people: dict[int, int] = {}
        cells: dict[int, int] = {}
        for c in self.cells_of[view]:
            if c in progress.waiting:
                size, views = self.cells[c]
                for k in views:
                    people[k] = people.get(k, 0) + size
                    cells[k] = cells.get(k, 0) + 1
        after = sum(
            self.parts[k][progress.people[k] + people[k]]
            for k in people
            if progress.left[k] > cells[k]
        )
        before = sum(self.parts[k][progress.people[k]] for k in people if k in progress.open_)
        return round(after - before, 9)

    def _states(self, progress: _Progress, last: Sequence[int]) -> float:
        """A bound of the number of states, as a power of two."""
        by_views = sum(self.parts[k][progress.people[k]] for k in progress.open_)
        touched = {c for k in progress.open_ for c in self.cells_of[k]}
        behind: dict[tuple[int, ...], int] = {}
        for c in touched - progress.waiting - set(last):
            size, views = self.cells[c]
            trace = tuple(k for k in views if k in progress.open_)
            behind[trace] = behind.get(trace, 0) + size
        by_people = sum(self._shares(number) for number in behind.values())
        return min(by_views, by_people)


@lru_cache(maxsize=1 << 12)
def _parts(bag: tuple[int, ...]) -> tuple[float, ...]:
    """For every size how many parts of that size a bag has, as a power of two."""
    number = [1]
    for often in bag:
        # Running sums make each step linear in the size of the bag.
        sums = [0]
        for one in number:
            sums.append(sums[-1] + one)
        total = len(number) - 1
        number = [
            sums[min(size, total) + 1] - sums[max(size - often, 0)]
            for size in range(total + often + 1)
        ]
    return tuple(map(_two, number))


@lru_cache(maxsize=1 << 12)
def _two(number: int) -> float:
    """A number as a power of two, however large."""
    return log(number, 2) if number.bit_length() < 1000 else float(number.bit_length())
