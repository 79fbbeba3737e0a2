"""The steps of counting: what may be chosen for a cell, and what that does to a state.

Uses `cells`; `counting` uses it. A state is one integer, with a field for everything that is left:
of each value in the bag of an open view, and of people in a cell that is taken value by value.
Fields are wide enough never to meet, so a choice is subtracted from all of them at once.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import comb
from operator import add, sub
from typing import Literal, NamedTuple

from shoal.views.cells import Constraints, ways

__all__ = ["CountingStep", "Option", "between", "steps_of"]

_WRITING = 5  # steps that it takes to find an option

_Counts = tuple[int, ...]
"""How often each value occurs."""


class Option(NamedTuple):
    """What may be chosen in a step.

    taken: what it takes from the state
    ways: in how many ways it can be done
    choice: its place in `CountingStep.choices`
    """

    taken: int
    ways: int
    choice: int


class _Width(NamedTuple):
    """How many bits a field has, as a type of `memoryview`."""

    bits: int
    code: Literal["B", "H", "I", "Q"]

    @classmethod
    def of(cls, largest: int) -> "_Width":
        """Wide enough for a number."""
        for width in (cls(8, "B"), cls(16, "H"), cls(32, "I")):
            if largest < 1 << width.bits:
                return width
        return cls(64, "Q")

    def read(self, state: int, end: int) -> Sequence[int]:
        """The fields of a state up to an end."""
        fields = state.to_bytes(end * self.bits // 8, sys.byteorder)
        if sys.byteorder == "big":
            # Then the first field is the last one.
            return memoryview(fields).cast(self.code)[::-1].tolist()
        return fields if self.bits == 8 else memoryview(fields).cast(self.code).tolist()


class _Scope(NamedTuple):
    """What a step is about.

    opening: what is added to a state first: the bags of views that open
    fields: where what it takes from begins, each time with a field for every value
    """

    cell: int
    values: Sequence[int]
    opening: int
    fields: Sequence[int]
    width: _Width


class CountingStep(ABC):
    """One choice: how often a cell has each value, or how often it has one of them."""

    def __init__(self, scope: _Scope) -> None:
        self.cell, self.values, self.opening, self.fields, self.width = scope
        bits = self.width.bits
        self.spread = sum(1 << bits * field for field in self.fields)
        # States that agree in these fields have the same options.
        self.mask = self.spread * ((1 << bits * len(self.values)) - 1)
        self.choices: list[tuple[int, ...]] = []
        """How often each of `values` is chosen."""

        self.written = 0
        """The work of finding all options so far, in steps."""

        self._end = max(self.fields) + len(self.values)
        self._options: dict[int, list[Option]] = {}
        self._place: dict[tuple[int, ...], int] = {}

    def options(self, state: int) -> list[Option]:
        """What may be chosen, given what is left."""
        seen = state & self.mask
        options = self._options.get(seen)
        if options is None:
            left = self.width.read(seen, self._end)
            options = self._options[seen] = self._possible(left)
            self.written += _WRITING
        return options

    @abstractmethod
    def _possible(self, left: Sequence[int]) -> list[Option]:
        """The options, given all fields."""

    def _option(self, given: tuple[int, ...], number: int) -> Option:
        if given not in self._place:
            self._place[given] = len(self.choices)
            self.choices.append(given)
        packed = 0
        for v, often in enumerate(given):
            packed |= often << v * self.width.bits
        self.written += _WRITING
        return Option(packed * self.spread, number, self._place[given])


class _Whole(CountingStep):
    """A cell with all its values.

    closing: which of its views it ends
    later: of each view how much of every value the cells to come could take
    """

    def __init__(
        self,
        scope: _Scope,
        size: int,
        closing: Sequence[bool],
        later: Sequence[Sequence[int]],
    ) -> None:
        super().__init__(scope)
        self.size, self.later = size, later
        self.ends = [field for field, ends in zip(self.fields, closing, strict=True) if ends]
        self._between: dict[tuple[_Counts, _Counts], list[Option]] = {}

    def _possible(self, left: Sequence[int]) -> list[Option]:
        number = len(self.values)
        bags = [left[field : field + number] for field in self.fields]
        most = tuple(map(min, *bags)) if len(bags) > 1 else tuple(bags[0])
        if self.ends:
            # A view that ends leaves no choice: its cell takes all that is left.
            rests = [tuple(left[field : field + number]) for field in self.ends]
            fits = all(rest == most for rest in rests)
            return [self._option(most, ways(most))] if fits else []
        # What no later cell of a view can take has to be taken here.
        needs = map(_differences, bags, self.later)
        least = tuple(map(max, *needs, [0] * number))
        options = self._between.get((least, most))
        if options is None:
            options = [self._option(each, ways(each)) for each in between(least, most, self.size)]
            self._between[least, most] = options
        return options


def _differences(counts: Sequence[int], others: Sequence[int]) -> Iterator[int]:
    return map(sub, counts, others)


class _Share(CountingStep):
    """A cell with one value.

    The first of `fields` is how many of its people are left, the others how often the value is.
    `closing` and `later` are as for a whole cell, for each of the fields.
    """

    def __init__(
        self,
        scope: _Scope,
        closing: Sequence[bool],
        later: Sequence[int],
    ) -> None:
        super().__init__(scope)
        self.closing, self.later = closing, later

    def _possible(self, left: Sequence[int]) -> list[Option]:
        own = [left[field] for field in self.fields]
        ends = {have for have, end in zip(own, self.closing, strict=True) if end}
        # Two views end here and leave different numbers: no table does that.
        if len(ends) > 1:
            return []
        least = max(0, *map(sub, own, self.later))
        most = min(own)
        return [
            self._option((often,), comb(own[0], often))
            for often in ends or range(least, most + 1)
            if least <= often <= most
        ]


def between(
    least: Sequence[int],
    most: Sequence[int],
    size: int,
) -> Iterator[tuple[int, ...]]:
    """All ways to part a size into numbers from `least` to `most`.

    >>> list(between([0, 1], [2, 2], 2))
    [(0, 2), (1, 1)]
    """
    # The least and the largest sum of the numbers at each place and after it.
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
        start = max(least[v], rest - high[v + 1])
        end = min(most[v], rest - low[v + 1])
        for own in range(start, end + 1):
            for others in parts(v + 1, rest - own):
                yield (own, *others)

    if low[0] <= size <= high[0]:
        yield from parts(0, size)


def steps_of(
    constraints: Constraints,
    first: Sequence[int],
    last: Sequence[int],
) -> Iterator[CountingStep]:
    """The steps: cells one by one, and then the `last` ones together, value by value."""
    layout = _Layout(constraints)
    yield from layout.wholes(first)
    yield from layout.shares(last)


class _Layout:
    """Where everything lies in a state while steps are laid out.

    A view has a slot in the state from its first cell to its last, with a field for every value.
    Each of the last cells has a field too, for how many of its people are left.
    """

    def __init__(self, constraints: Constraints) -> None:
        self.cells, self.bags = constraints.cells, constraints.bags
        self.values = range(constraints.values)
        largest_cell = max(size for size, _ in self.cells)
        largest_count = max(max(bag) for bag in self.bags)
        self.width = _Width.of(max(largest_cell, largest_count))
        self.slot: dict[int, int] = {}
        self.free: list[int] = []
        self.used = 0
        # How often a cell could have each value, and all cells to come of a view.
        self.may: list[list[int]] = []
        self.later = [[0] * len(self.values) for _ in self.bags]
        self.left = [0] * len(self.bags)
        for size, views in self.cells:
            bags = [self.bags[k] for k in views]
            able = [min(size, *(bag[v] for bag in bags)) for v in self.values]
            self.may.append(able)
            for k in views:
                self.left[k] += 1
                self.later[k] = list(map(add, self.later[k], able))

    def _opened(self, views: Sequence[int]) -> int:
        """What opens those of some views that are not open; they get slots."""
        opening = 0
        for k in views:
            if k not in self.slot:
                if not self.free:
                    self.free.append(self.used)
                    self.used += len(self.values)
                # Slots of views that have ended are used again, so states stay short.
                self.slot[k] = self.free.pop()
                for v, often in enumerate(self.bags[k]):
                    opening |= often << (self.slot[k] + v) * self.width.bits
        return opening

    def wholes(self, cells: Sequence[int]) -> Iterator[CountingStep]:
        """Cells one by one, each with all its values."""
        for c in cells:
            size, views = self.cells[c]
            opening = self._opened(views)
            for k in views:
                self.left[k] -= 1
                self.later[k] = list(map(sub, self.later[k], self.may[c]))
            fields = [self.slot[k] for k in views]
            closing = [not self.left[k] for k in views]
            scope = _Scope(c, self.values, opening, fields, self.width)
            yield _Whole(scope, size, closing, [self.later[k] for k in views])
            self.free += [self.slot[k] for k in views if not self.left[k]]

    def shares(self, cells: Sequence[int]) -> Iterator[CountingStep]:
        """Cells together, value by value."""
        # The last cell of every view ends it.
        ends = {k: c for c in cells for k in self.cells[c][1]}
        opening = self._opened(sorted(ends))
        room = {c: self.used + i for i, c in enumerate(cells)}
        for c in cells:
            opening += self.cells[c][0] << room[c] * self.width.bits
        # The most frequent value takes what is left.
        common = sorted(self.values, key=lambda v: sum(bag[v] for bag in self.bags))
        ahead = {c: sum(self.may[c]) for c in cells}
        # The steps for whole cells keep their own lists.
        later = [list(counts) for counts in self.later]
        for v in common:
            for c in cells:
                views = self.cells[c][1]
                ahead[c] -= self.may[c][v]
                for k in views:
                    later[k][v] -= self.may[c][v]
                closing = [v == common[-1], *(ends[k] == c for k in views)]
                fields = [room[c], *(self.slot[k] + v for k in views)]
                scope = _Scope(c, [v], opening, fields, self.width)
                yield _Share(scope, closing, [ahead[c], *(later[k][v] for k in views)])
                # Only the first step opens views: then all of them are open.
                opening = 0
