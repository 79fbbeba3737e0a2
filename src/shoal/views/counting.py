"""Counting all tables that could have shown some views, exactly; and drawing one of them. Uses `cells`; `checking` uses it.

Cells are taken one after another. All that counts of the past is how much is left in the bags of *open* views, those of which
some cells are done and some are not: that is a state. A forward pass says in how many ways each state is reached, a backward
pass in how many ways it can be finished; both are whole numbers. docs/proofs/views.md has the proof.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, frexp, inf, ldexp, log
from random import Random
from typing import Any, NamedTuple

from shoal.errors import TooLargeError
from shoal.views.cells import Puzzle, ways
from shoal.views.model import contradiction

__all__ = ["STEPS", "Counted", "order"]

STEPS = 3_000_000
"""Steps from state to state that a forward pass may take, by itself: some seconds, and less than a gigabyte."""

_WRITING = 5  # steps that it takes to find an option
_STARTS = 12  # orders that are compared before counting
_PATIENCE = 1e7  # steps with small numbers that those with long ones may amount to, before they are rounded
_LARGEST = 600.0  # logarithm of the ways in which a cell's people can have values, where counts are floats
_FAINTEST = 1e-200  # what a state may weigh beside the heaviest one of its layer, where counts are floats


class _Option(NamedTuple):
    """What the people of a cell may have: what that takes from the state, in how many ways, and its place in `_Step.choices`."""

    taken: int
    ways: int
    choice: int


class _Step:
    """One cell: what it does to a state.

    A state is one integer. Every open view has a slot in it, with a field for every value: how often it is left. Fields are wide
    enough never to meet, so that the bags of all views of a cell lose the same values by one subtraction.
    """

    def __init__(
        self,
        size: int,
        slots: Sequence[int],
        closing: Sequence[int],
        opening: int,
        later: Sequence[Sequence[int]],
        values: int,
        width: int,
    ) -> None:
        self.size = size
        self.opening = opening
        self.slots = [slot * values * width for slot in slots]
        self.closing = [slot * values * width for slot in closing]
        self.later = later
        self.width, self.values = width, values
        self.spread = sum(1 << slot for slot in self.slots)
        self.mask = self.spread * ((1 << values * width) - 1)
        self.choices: list[tuple[int, ...]] = []
        self._place: dict[tuple[int, ...], int] = {}
        self._options: dict[int, list[_Option]] = {}
        self.written = 0
        """How many options were written down, for all states."""

    def options(self, state: int) -> list[_Option]:
        """What its people may have, given what is left."""
        seen = state & self.mask
        found = self._options.get(seen)
        if found is None:
            found = self._options[seen] = [self._option(given) for given in self._possible(seen)]
            self.written += _WRITING * len(found)
        return found

    def _option(self, given: tuple[int, ...]) -> _Option:
        if given not in self._place:
            self._place[given] = len(self.choices)
            self.choices.append(given)
        packed = 0
        for v, often in enumerate(given):
            packed |= often << v * self.width
        return _Option(packed * self.spread, ways(given), self._place[given])

    def _possible(self, state: int) -> Iterator[tuple[int, ...]]:
        ones = (1 << self.width) - 1
        left = [[(state >> slot + v * self.width) & ones for v in range(self.values)] for slot in self.slots]
        most = [min(column) for column in zip(*left, strict=True)]
        # What no later cell of a view can take has to be taken here.
        least = [
            max(0, *(have - may for have, may in zip(column, later, strict=True)))
            for column, later in zip(zip(*left, strict=True), zip(*self.later, strict=True), strict=True)
        ]
        if self.closing:
            ends = [left[self.slots.index(slot)] for slot in self.closing]
            if all(end == ends[0] for end in ends) and all(end <= may for end, may in zip(ends[0], most, strict=True)):
                yield tuple(ends[0])
            return
        yield from _between(least, most, self.size)


def _between(least: Sequence[int], most: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """All ways to part a size into numbers from `least` to `most`."""
    low, high = [0], [0]
    for first, last in zip(reversed(least), reversed(most), strict=True):
        if first > last:
            return
        low.append(low[-1] + first)
        high.append(high[-1] + last)
    low.reverse()
    high.reverse()

    def parts(v: int, rest: int) -> Iterator[tuple[int, ...]]:
        if v == len(least):
            yield ()
            return
        for own in range(max(least[v], rest - high[v + 1]), min(most[v], rest - low[v + 1]) + 1):
            for others in parts(v + 1, rest - own):
                yield (own, *others)

    if low[0] <= size <= high[0]:
        yield from parts(0, size)


@dataclass(frozen=True, eq=False)
class Counted:
    """All tables that fit a puzzle, counted; TooLargeError beyond so many steps, InfeasibleError if there are none.

    Counts are whole numbers, unless there are so many people in one component that these would get too long: then they are
    floats, each with a power of two of its layer, and `error` bounds how far any of them is off, relatively.

    >>> donald = Puzzle(((3, (0,)), (1, (0, 1)), (3, (1,))), ((1, 2, 1, 0), (0, 2, 1, 1)))
    >>> counted = Counted.of(donald)
    >>> counted.tables, counted.shares[1]
    (45, [Fraction(0, 1), Fraction(4, 5), Fraction(1, 5), Fraction(0, 1)])
    """

    puzzle: Puzzle
    order: tuple[int, ...]
    """The cells in the order in which they were taken."""

    steps: tuple[_Step, ...]
    layers: tuple[dict[int, Any], ...]
    """Before every cell the states, and in how many ways they are reached."""

    taken: int
    """Steps from state to state."""

    exponent: int = 0
    rounded: bool = False

    @classmethod
    def of(cls, puzzle: Puzzle, most: int | None = None, *, rounded: bool | None = None) -> "Counted":
        """Count forwards, at most so many steps. By itself it finds out whether counts are `rounded`."""
        cells = order(puzzle)
        steps = tuple(_steps(puzzle, cells))
        if rounded is None:
            try:
                found = cls._forwards(puzzle, cells, steps, STEPS if most is None else most, rounded=False)
            except _TooLong:
                pass
            else:
                if found.taken * _product(found.tables.bit_length()) <= _PATIENCE:
                    return found
            rounded = True
        return cls._forwards(puzzle, cells, steps, STEPS if most is None else most, rounded=rounded, patient=True)

    @classmethod
    def _forwards(
        cls, puzzle: Puzzle, cells: list[int], steps: tuple[_Step, ...], most: int, *, rounded: bool, patient: bool = False
    ) -> "Counted":
        if rounded and max(size * log(max(puzzle.values, 2)) for size, _ in puzzle.cells) > _LARGEST:
            raise TooLargeError("a cell has more people than floats can count tables for")
        layers: list[dict[int, Any]] = [{0: 1.0 if rounded else 1}]
        taken = exponent = 0
        waited = 0.0
        for step in steps:
            after: dict[int, Any] = {}
            get = after.get
            before = taken
            for state, reached in layers[-1].items():
                state += step.opening
                found = step.options(state)
                taken += len(found)
                for used, number, _ in found:
                    rest = state - used
                    after[rest] = get(rest, 0) + reached * number
                if taken + step.written > most:
                    raise TooLargeError(f"counting takes more than {most:,} steps")
            if not after:
                raise contradiction()
            if rounded:
                scale = _scale(after)
                exponent -= scale
                after = {state: ldexp(reached, scale) for state, reached in after.items()}
            elif not patient:
                waited += (taken - before) * next(iter(after.values())).bit_length()
                if waited > _PATIENCE:
                    raise _TooLong
            layers.append(after)
        return cls(puzzle, tuple(cells), steps, tuple(layers), taken, exponent, rounded)

    @property
    def tables(self) -> int:
        """How many tables there are; where counts are rounded, some of its first digits are right."""
        found = self.layers[-1][0]
        return int(Fraction(found) * Fraction(2) ** self.exponent) if self.rounded else int(found)

    @cached_property
    def error(self) -> Fraction:
        """How far a share may be off, relatively: docs/proofs/views.md counts the roundings."""
        if not self.rounded:
            return Fraction(0)
        roundings = sum(len(layer) + len(step.choices) + 6 for layer, step in zip(self.layers, self.steps, strict=False))
        return Fraction(3 * roundings, 1 << 53)

    @cached_property
    def sums(self) -> list[list[Any]]:
        """For every cell and value how many people of the cell have it, over all tables; up to a factor for every cell."""
        finish: dict[int, Any] = {0: 1.0 if self.rounded else 1}
        found: list[list[Any]] = [[] for _ in self.order]
        for at in range(len(self.steps) - 1, -1, -1):
            step, before = self.steps[at], {}
            often: list[Any] = [0] * len(step.choices)
            get = finish.get
            for state, reached in self.layers[at].items():
                moved = state + step.opening
                total: Any = 0
                for used, number, choice in step.options(moved):
                    rest = get(moved - used)
                    if rest is not None:
                        rest = rest * number
                        total += rest
                        often[choice] += reached * rest
                if total:
                    before[state] = total
            if self.rounded:
                scale = _scale(before)
                before = {state: ldexp(number, scale) for state, number in before.items()}
            finish = before
            found[self.order[at]] = [
                sum(number * given[v] for number, given in zip(often, step.choices, strict=True))
                for v in range(self.puzzle.values)
            ]
        return found

    @cached_property
    def shares(self) -> list[list[Fraction]]:
        """For every cell, how probable each value is for each of its people."""
        found = []
        for sums in self.sums:
            if self.rounded:
                total = sum(map(Fraction, sums))
                found.append([Fraction(one) / total for one in sums])
            else:
                total = sum(sums)
                found.append([Fraction(one, total) for one in sums])
        return found

    def drawn(self, source: Random) -> list[tuple[int, ...]]:
        """For every cell how often each value occurs in it, in one table that is drawn uniformly.

        Backwards: a state is reached from those before it, and from each in so many ways. Whole numbers decide, so the draw is
        as uniform as its source.
        """
        if self.rounded:
            raise TooLargeError("there are too many people in one component to draw tables exactly")
        found: list[tuple[int, ...]] = [()] * len(self.order)
        state = 0
        for at in range(len(self.steps) - 1, -1, -1):
            place = source.randrange(self.layers[at + 1][state])
            for before, number, choice in self._arrivals[at][state]:
                place -= number
                if place < 0:
                    found[self.order[at]] = self.steps[at].choices[choice]
                    state = before
                    break
        return found

    @cached_property
    def _arrivals(self) -> list[dict[int, list[tuple[int, int, int]]]]:
        """For every cell and state after it: the states before, in how many ways they lead there, and by which choice."""
        found = []
        for step, layer in zip(self.steps, self.layers, strict=False):
            into: dict[int, list[tuple[int, int, int]]] = {}
            for state, reached in layer.items():
                for used, number, choice in step.options(state + step.opening):
                    into.setdefault(state + step.opening - used, []).append((state, reached * number, choice))
            found.append(into)
        return found


class _TooLong(Exception):
    """Whole numbers would take too long."""


def _product(bits: int) -> float:
    """How long it takes to multiply two numbers of so many bits, roughly, in steps of a state with small ones."""
    digits = bits / 30
    return 1.0 + float(digits**2 if digits < 100 else 100 * digits * (digits / 100) ** log(1.5, 2)) / 100


def _scale(layer: dict[int, float]) -> int:
    """The power of two that brings the largest number of a layer near 1; TooLargeError if others would be lost."""
    largest, smallest = max(layer.values()), min(layer.values())
    if largest == inf or smallest < largest * _FAINTEST:
        raise TooLargeError("counts of one component differ by more than floats can hold")
    return -frexp(largest)[1]


# The order of cells


def _steps(puzzle: Puzzle, cells: Sequence[int]) -> Iterator[_Step]:
    """What every cell does to a state, in an order; a view has a slot from its first cell to its last."""
    last = {k: at for at, c in enumerate(cells) for k in puzzle.cells[c][1]}
    width = max(max(bag) for bag in puzzle.bags).bit_length()
    values = puzzle.values
    may = {c: [min(puzzle.cells[c][0], *(puzzle.bags[k][v] for k in puzzle.cells[c][1])) for v in range(values)] for c in cells}
    later = [[0] * values for _ in puzzle.bags]  # how much of a value the cells to come of a view could take
    for c in cells:
        for k in puzzle.cells[c][1]:
            later[k] = [one + more for one, more in zip(later[k], may[c], strict=True)]
    slot: dict[int, int] = {}
    free: list[int] = []
    used = 0
    for at, c in enumerate(cells):
        size, own = puzzle.cells[c]
        opening = 0
        for k in own:
            if k not in slot:
                if not free:
                    free.append(used)
                    used += 1
                slot[k] = free.pop()
                for v, often in enumerate(puzzle.bags[k]):
                    opening |= often << (slot[k] * values + v) * width
            later[k] = [one - less for one, less in zip(later[k], may[c], strict=True)]
        closing = [k for k in own if last[k] == at]
        yield _Step(size, [slot[k] for k in own], [slot[k] for k in closing], opening, [later[k] for k in own], values, width)
        free += [slot[k] for k in closing]


def order(puzzle: Puzzle) -> list[int]:
    """The cells in an order that keeps states few: a greedy one, the best of some that start elsewhere."""
    plans = _Plans(puzzle)
    if len(puzzle.bags) == 1:
        return list(range(len(puzzle.cells)))
    best, least = [], inf
    for start in plans.starts():
        cells, cost = plans.greedy(start, least)
        if cost < least:
            best, least = cells, cost
    return best


class _Plans:
    """Orders of cells, with an estimate of how many states they lead to.

    A view of which p people are done has as many states as its bag has parts of that size. Their product bounds the number of
    states; so does the number of ways in which people done so far can have values, those in the same open views together.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        self.cells = puzzle.cells
        self.of: list[list[int]] = [[] for _ in puzzle.bags]
        for c, (_, own) in enumerate(puzzle.cells):
            for k in own:
                self.of[k].append(c)
        self.parts = [_parts(bag) for bag in puzzle.bags]
        self.values = puzzle.values

    def starts(self) -> list[int]:
        """Views to start with: those with few states at their borders first, and of a long chain its end."""
        views = range(len(self.of))
        if len(self.of) <= _STARTS:
            return list(views)
        near = self._distances(0)
        far = max(views, key=lambda k: near[k])
        small = sorted(views, key=lambda k: sum(len(self.cells[c][1]) - 1 for c in self.of[k]))
        return [far, *small[: _STARTS - 1]] if len(self.of) <= 200 else [far]

    def _distances(self, start: int) -> dict[int, int]:
        found, edge = {start: 0}, [start]
        while edge:
            edge = [k for j in edge for k in self._met(j) if found.setdefault(k, found[j] + 1) == found[j] + 1 and k not in edge]
            edge = list(dict.fromkeys(edge))
            if edge and all(found[k] < max(found.values()) for k in edge):
                break
        return found

    def _met(self, k: int) -> set[int]:
        return {j for c in self.of[k] for j in self.cells[c][1]} - {k}

    def greedy(self, start: int, least: float) -> tuple[list[int], float]:
        """View by view, always the one whose cells leave the fewest states; stops once an order is dearer than the `least`."""
        done: set[int] = set()
        people = dict.fromkeys(range(len(self.of)), 0)
        left = [len(own) for own in self.of]
        open_: set[int] = set()
        cells: list[int] = []
        cost = 0.0
        chosen: int | None = start
        while chosen is not None:
            for c in self._cells(chosen, done, open_, left):
                size, own = self.cells[c]
                cells.append(c)
                done.add(c)
                for k in own:
                    people[k] += size
                    left[k] -= 1
                    (open_.add if left[k] else open_.discard)(k)
                cost += 2.0 ** min(self._states(open_, people, done), 900)
                if cost > least:
                    return cells, inf
            chosen = min(open_, key=lambda k: (self._after(k, done, open_, left, people), k), default=None)
        return cells, cost

    def _cells(self, view: int, done: set[int], open_: set[int], left: list[int]) -> list[int]:
        """The cells of a view that are not done: those that end some view first; last the one with the most to choose."""
        own = [c for c in self.of[view] if c not in done]
        return sorted(
            own,
            key=lambda c: (
                not any(left[k] == 1 for k in self.cells[c][1]),
                len(self.cells[c][1]) == 1,
                sum(k not in open_ for k in self.cells[c][1]),
                self.cells[c][0],
            ),
        )

    def _after(self, view: int, done: set[int], open_: set[int], left: list[int], people: dict[int, int]) -> float:
        """The states, as a power of two, once all cells of a view are done."""
        more: dict[int, int] = {}
        less: dict[int, int] = {}
        for c in self.of[view]:
            if c not in done:
                for k in self.cells[c][1]:
                    more[k] = more.get(k, 0) + self.cells[c][0]
                    less[k] = less.get(k, 0) + 1
        return sum(self.parts[k][people[k] + more.get(k, 0)] for k in open_ | more.keys() if left[k] > less.get(k, 0))

    def _states(self, open_: set[int], people: dict[int, int], done: set[int]) -> float:
        by_views = sum(self.parts[k][people[k]] for k in open_)
        behind: dict[tuple[int, ...], int] = {}
        for c in {c for k in open_ for c in self.of[k] if c in done}:
            trace = tuple(k for k in self.cells[c][1] if k in open_)
            behind[trace] = behind.get(trace, 0) + self.cells[c][0]
        by_people = sum(_two(comb(number + self.values - 1, number)) for number in behind.values())
        return min(by_views, by_people)


@lru_cache(maxsize=1 << 12)
def _parts(bag: tuple[int, ...]) -> tuple[float, ...]:
    """For every size how many parts of that size a bag has, as a power of two."""
    number = [1]
    for often in bag:
        sums = [0]
        for one in number:
            sums.append(sums[-1] + one)
        total = len(number) - 1
        number = [sums[min(size, total) + 1] - sums[max(size - often, 0)] for size in range(total + often + 1)]
    return tuple(map(_two, number))


@lru_cache(maxsize=1 << 12)
def _two(number: int) -> float:
    return log(number, 2) if number.bit_length() < 1000 else float(number.bit_length())
