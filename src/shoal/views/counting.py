"""Counting all tables that could have shown some views, exactly; and drawing one of them. Uses `cells`; `checking` uses it.

Cells are taken one after another. All that counts of the past is how much is left in the bags of *open* views, those of which
some cells are done and some are not: that is a state. A forward pass says in how many ways each state is reached, a backward
pass in how many ways it can be finished; both are whole numbers. docs/proofs/views.md has the proof.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, frexp, inf, ldexp, log
from operator import sub
from random import Random
from typing import Any, Literal, NamedTuple

from shoal.errors import TooLargeError
from shoal.views.cells import Puzzle, ways
from shoal.views.model import contradiction

__all__ = ["STEPS", "Counted", "between", "guessed", "order"]

STEPS = 3_000_000
"""Steps from state to state that a forward pass may take, by itself: some seconds, and up to two gigabytes."""

_HOPELESS = 1e15  # steps, by the guess, from which on it is not refined
_WRITING = 5  # steps that it takes to find an option
_STARTS = 12  # orders that are compared before counting
_MANY = 200  # views from which on only one order is made
_SMALL = 4  # people of a cell from which on it may be left to the end
_SIZES = (2, 4, 8, 16)  # people above which cells may be left to the end
_PATIENCE = (
    1e7  # steps with small numbers that those with long ones may amount to, before they are rounded
)
_LONG = 2000  # bits of a number at which a step takes twice as long
_WITNESSES = 30  # each lets a number that is no prime pass with a chance of a quarter at most
_LARGEST = (
    600.0  # logarithm of the ways in which a cell's people can have values, where counts are floats
)
_FAINT = Fraction(1, 1 << 300)  # what products that are no floats any more may add to a share
_FAINTEST = (
    1e-200  # what a state may weigh beside the heaviest one of its layer, where counts are floats
)


class _Option(NamedTuple):
    """What may be chosen in a step: what that takes from the state, in how many ways, and its place in `_Step.choices`."""

    taken: int
    ways: int
    choice: int


class _Step(ABC):
    """One choice, and what it does to a state: for a cell how often it has each value, or how often it has one.

    A state is one integer, with a field for everything that is left: of each value in the bag of an open view, and of people in
    a cell that is taken value by value. Fields are wide enough never to meet, and what is chosen leaves all of them at once.
    """

    def __init__(
        self, cell: int, values: Sequence[int], opening: int, fields: Sequence[int], width: "_Width"
    ) -> None:
        self.cell, self.values = cell, values
        self.opening = opening
        """What is added to a state first: the bags of views that open."""

        self.fields, self.width = fields, width
        """Where what it takes from begins, each time with a field for every value."""

        self.spread = sum(1 << width.bits * field for field in fields)
        self.mask = self.spread * ((1 << width.bits * len(values)) - 1)
        self.choices: list[tuple[int, ...]] = []
        """How often each of `values` is chosen."""

        self.written = 0
        """The work of finding all options so far, in steps."""

        self._end = max(fields) + len(values)
        self._found: dict[object, list[_Option]] = {}
        self._options: dict[int, list[_Option]] = {}
        self._place: dict[tuple[int, ...], int] = {}

    def options(self, state: int) -> list[_Option]:
        """What may be chosen, given what is left."""
        seen = state & self.mask
        found = self._options.get(seen)
        if found is None:
            found = self._options[seen] = self._possible(self.width.read(seen, self._end))
            self.written += _WRITING
        return found

    @abstractmethod
    def _possible(self, left: Sequence[int]) -> list[_Option]:
        """The options, given all fields."""

    def _option(self, given: tuple[int, ...], number: int) -> _Option:
        if given not in self._place:
            self._place[given] = len(self.choices)
            self.choices.append(given)
        packed = 0
        for v, often in enumerate(given):
            packed |= often << v * self.width.bits
        self.written += _WRITING
        return _Option(packed * self.spread, number, self._place[given])


class _Whole(_Step):
    """A cell with all its values. `closing` says which of its views it ends."""

    def __init__(
        self, size: int, closing: Sequence[bool], later: Sequence[Sequence[int]], *given: Any
    ) -> None:
        super().__init__(*given)
        self.size, self.later = size, later
        self.ends = [field for field, ends in zip(self.fields, closing, strict=True) if ends]

    def _possible(self, left: Sequence[int]) -> list[_Option]:
        number = len(self.values)
        bags = [left[field : field + number] for field in self.fields]
        most = tuple(map(min, *bags)) if len(bags) > 1 else tuple(bags[0])
        if self.ends:
            end = tuple(left[self.ends[0] : self.ends[0] + number])
            fits = end == most and all(
                tuple(left[field : field + number]) == end for field in self.ends[1:]
            )
            return [self._option(end, ways(end))] if fits else []
        # What no later cell of a view can take has to be taken here.
        least = tuple(
            map(
                max,
                *(map(sub, bag, later) for bag, later in zip(bags, self.later, strict=True)),
                [0] * number,
            )
        )
        found = self._found.get((least, most))
        if found is None:
            found = self._found[least, most] = [
                self._option(each, ways(each)) for each in between(least, most, self.size)
            ]
        return found


class _Share(_Step):
    """A cell with one value. The first of `fields` says how many of its people are left, the others how often the value is."""

    def __init__(self, closing: Sequence[bool], later: Sequence[int], *given: Any) -> None:
        super().__init__(*given)
        self.closing, self.later = closing, later

    def _possible(self, left: Sequence[int]) -> list[_Option]:
        own = [left[field] for field in self.fields]
        ends = {have for have, end in zip(own, self.closing, strict=True) if end}
        least, most = (
            max(0, *(have - may for have, may in zip(own, self.later, strict=True))),
            min(own),
        )
        if len(ends) > 1:
            return []
        return [
            self._option((often,), comb(own[0], often))
            for often in ends or range(least, most + 1)
            if least <= often <= most
        ]


class _Width(NamedTuple):
    """How many bits a field has, as a type of `memoryview`."""

    bits: int
    code: Literal["B", "H", "I", "Q"]

    @classmethod
    def of(cls, largest: int) -> "_Width":
        """Wide enough for a number."""
        return next(
            width
            for width in (cls(8, "B"), cls(16, "H"), cls(32, "I"), cls(64, "Q"))
            if largest < 1 << width.bits
        )

    def read(self, state: int, end: int) -> Sequence[int]:
        """The fields of a state up to an end."""
        found = state.to_bytes(end * self.bits // 8, sys.byteorder)
        if sys.byteorder == "big":  # then the first field is the last one
            return memoryview(found).cast(self.code)[::-1].tolist()
        return found if self.bits == 8 else memoryview(found).cast(self.code).tolist()


def between(least: Sequence[int], most: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
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
    steps: tuple[_Step, ...]
    layers: tuple[dict[int, Any], ...]
    """Before every cell the states, and in how many ways they are reached."""

    taken: int
    """Steps from state to state."""

    exponent: int = 0
    rounded: bool = False
    modulus: int | None = None
    """A prime, where only remainders are known."""

    faint: Fraction = Fraction(0)
    """What numbers that are too small for floats may amount to, in a share."""

    @classmethod
    def of(
        cls, puzzle: Puzzle, most: int | None = None, *, rounded: bool | None = None
    ) -> "Counted":
        """Count forwards, at most so many steps. By itself it finds out whether counts are `rounded`."""
        most = STEPS if most is None else most
        steps = tuple(_steps(puzzle, *order(puzzle)))
        if rounded is None:
            try:
                found = cls._forwards(puzzle, steps, most, rounded=False)
            except _TooLong:
                pass
            else:
                if found.taken * _product(found.tables.bit_length()) <= _PATIENCE:
                    return found
            rounded = True
        return cls._forwards(puzzle, steps, most, rounded=rounded, patient=True)

    @classmethod
    def _forwards(
        cls,
        puzzle: Puzzle,
        steps: tuple[_Step, ...],
        most: int,
        *,
        rounded: bool,
        patient: bool = False,
        modulus: int | None = None,
    ) -> "Counted":
        if (
            rounded
            and max(size * log(max(puzzle.values, 2)) for size, _ in puzzle.cells) > _LARGEST
        ):
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
            elif modulus is not None:
                after = {state: reached % modulus for state, reached in after.items()}
            elif not patient:
                waited += (taken - before) * (1 + next(iter(after.values())).bit_length() / _LONG)
                if waited > _PATIENCE:
                    raise _TooLong
            layers.append(after)
        return cls(
            puzzle,
            steps,
            tuple(layers),
            taken,
            exponent,
            rounded,
            modulus,
            _FAINT if rounded else Fraction(0),
        )

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
        roundings = sum(
            len(layer) + len(step.choices) + 6
            for layer, step in zip(self.layers, self.steps, strict=False)
        )
        return Fraction(3 * roundings, 1 << 53)

    @cached_property
    def shares(self) -> list[list[Fraction]]:
        """For every cell, how probable each value is for each of its people."""
        if self.rounded:
            return self.sums
        return [
            [Fraction(one, size * self.tables) for one in own]
            for (size, _), own in zip(self.puzzle.cells, self.sums, strict=True)
        ]

    @cached_property
    def sums(self) -> list[list[Any]]:
        """For every cell and value how many people have it, in all tables together; where counts are rounded, the share."""
        finish: dict[int, Any] = {0: 1.0 if self.rounded else 1}
        found: list[list[Any]] = [[0] * self.puzzle.values for _ in self.puzzle.cells]
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
            elif self.modulus is not None:
                before = {state: number % self.modulus for state, number in before.items()}
            finish = before
            people = Fraction(sum(often)) * self.puzzle.cells[step.cell][0]
            for i, v in enumerate(step.values):
                have = sum(
                    number * given[i] for number, given in zip(often, step.choices, strict=True)
                )
                found[step.cell][v] = (
                    min(Fraction(have) / people, Fraction(1)) if self.rounded else have
                )
        return found

    def equal(self, asked: Iterable[tuple[int, int, Fraction]], source: Random) -> list[bool]:
        """Whether the share of a cell's people with a value is exactly so large; for counts that are rounded.

        By remainders after division by a prime that is drawn: equal numbers have the same, and others have it with a chance of
        less than 10^-12, whatever they are, as long as they have fewer than 10^11 bits.
        """
        prime = _prime(source)
        other = self._forwards(
            self.puzzle, self.steps, sys.maxsize, rounded=False, patient=True, modulus=prime
        )
        tables, sums = other.layers[-1][0], other.sums
        return [
            (
                sums[cell][v] * share.denominator
                - share.numerator * self.puzzle.cells[cell][0] * tables
            )
            % prime
            == 0
            for cell, v, share in asked
        ]

    def drawn(self, source: Random) -> list[list[int]]:
        """For every cell how often each value occurs in it, in one table that is drawn uniformly.

        Backwards: a state is reached from those before it, and from each in so many ways. Whole numbers decide, so the draw is
        as uniform as its source.
        """
        if self.rounded:
            raise TooLargeError("there are too many people in one component to draw tables exactly")
        found = [[0] * self.puzzle.values for _ in self.puzzle.cells]
        state = 0
        for at in range(len(self.steps) - 1, -1, -1):
            place = source.randrange(self.layers[at + 1][state])
            for before, number, choice in self._arrivals[at][state]:
                place -= number
                if place < 0:
                    step = self.steps[at]
                    for v, often in zip(step.values, step.choices[choice], strict=True):
                        found[step.cell][v] = often
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
                    into.setdefault(state + step.opening - used, []).append(
                        (state, reached * number, choice)
                    )
            found.append(into)
        return found


def _prime(source: Random) -> int:
    """A prime of 80 bits, drawn uniformly; by Miller and Rabin's test."""
    while True:
        number = source.randrange(1 << 79, 1 << 80) | 1
        odd, twos = number - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1
        for _ in range(_WITNESSES):
            power = pow(source.randrange(2, number - 1), odd, number)
            if power not in (1, number - 1) and all(
                (power := power * power % number) != number - 1 for _ in range(twos - 1)
            ):
                break
        else:
            return number


class _TooLong(Exception):
    """Whole numbers would take too long."""


def _product(bits: int) -> float:
    """How long it takes to multiply two numbers of so many bits, roughly, in steps of a state with small ones."""
    digits = bits / 30
    return (
        1.0
        + float(digits**2 if digits < 100 else 100 * digits * (digits / 100) ** log(1.5, 2)) / 100
    )


def _scale(layer: dict[int, float]) -> int:
    """The power of two that brings the largest number of a layer near 1; TooLargeError if others would be lost."""
    largest, smallest = max(layer.values()), min(layer.values())
    if largest == inf or smallest < largest * _FAINTEST:
        raise TooLargeError("counts of one component differ by more than floats can hold")
    return -frexp(largest)[1]


# The order of cells


def _steps(puzzle: Puzzle, first: Sequence[int], last: Sequence[int]) -> Iterator[_Step]:
    """The steps: cells one by one, and then the `last` ones together, value by value.

    A view has a slot in the state from its first cell to its last, with a field for every value. Each of the last cells has a
    field too, for how many of its people are left.
    """
    values = range(puzzle.values)
    width = _Width.of(
        max(max(size for size, _ in puzzle.cells), max(max(bag) for bag in puzzle.bags))
    )
    slot: dict[int, int] = {}
    free: list[int] = []
    used = 0
    left = _degrees(puzzle)
    may = [
        [min(size, *(puzzle.bags[k][v] for k in own)) for v in values] for size, own in puzzle.cells
    ]
    later = [
        [0] * len(values) for _ in puzzle.bags
    ]  # how much of a value the cells to come of a view could take
    for (_, own), able in zip(puzzle.cells, may, strict=True):
        for k in own:
            later[k] = [one + more for one, more in zip(later[k], able, strict=True)]

    def opened(own: Sequence[int]) -> int:
        """What opens the views that are not open; they get slots."""
        nonlocal used
        opening = 0
        for k in own:
            if k not in slot:
                if not free:
                    free.append(used)
                    used += len(values)
                slot[k] = free.pop()
                for v, often in enumerate(puzzle.bags[k]):
                    opening |= often << (slot[k] + v) * width.bits
        return opening

    for c in first:
        size, own = puzzle.cells[c]
        opening = opened(own)
        for k in own:
            left[k] -= 1
            later[k] = [one - less for one, less in zip(later[k], may[c], strict=True)]
        closing = [not left[k] for k in own]
        yield _Whole(
            size,
            closing,
            [later[k] for k in own],
            c,
            values,
            opening,
            [slot[k] for k in own],
            width,
        )
        free += [slot[k] for k in own if not left[k]]
    opening = opened(sorted({k for c in last for k in puzzle.cells[c][1]}))
    room = {c: used + i for i, c in enumerate(last)}
    opening += sum(puzzle.cells[c][0] << room[c] * width.bits for c in last)
    ends = {k: c for c in last for k in puzzle.cells[c][1]}
    common = sorted(
        values, key=lambda v: sum(bag[v] for bag in puzzle.bags)
    )  # the most frequent takes what is left
    ahead = {c: sum(may[c]) for c in last}
    later = [list(own) for own in later]  # the steps above keep theirs
    for v in common:
        for c in last:
            own = puzzle.cells[c][1]
            ahead[c] -= may[c][v]
            for k in own:
                later[k][v] -= may[c][v]
            closing = [v == common[-1], *(ends[k] == c for k in own)]
            fields = [room[c], *(slot[k] + v for k in own)]
            yield _Share(
                closing, [ahead[c], *(later[k][v] for k in own)], c, [v], opening, fields, width
            )
            opening = 0


def _degrees(puzzle: Puzzle) -> list[int]:
    """How many cells every view has."""
    found = [0] * len(puzzle.bags)
    for _, own in puzzle.cells:
        for k in own:
            found[k] += 1
    return found


def order(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """The cells in an order that keeps states few, and those that are left to the end, to be taken together, value by value.

    Greedy, and the best of some that start with other views, or leave large cells to the end.
    """
    return _order(puzzle)[:2]


def guessed(puzzle: Puzzle) -> float:
    """About how many steps counting takes: mostly not ten times as many, but far fewer where views leave little open."""
    return _order(puzzle)[2]


@lru_cache(maxsize=1)
def _order(puzzle: Puzzle) -> tuple[list[int], list[int], float]:
    """The order, and a guess of the steps it takes."""
    if len(puzzle.bags) == 1:
        return list(range(len(puzzle.cells))), [], 0.0
    plans = _Plans(puzzle)
    best: tuple[list[int], list[int], float] = [], [], inf
    for last in plans.lasts():
        for start in plans.starts():
            cells, cost = plans.greedy(start, last, best[2])
            if cost < best[2]:
                best = cells, last, cost
    return best


class _Plans:
    """Orders of cells, with an estimate of the steps that they lead to, as powers of two.

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
        far = self._far(self._far(0))
        if len(self.of) > _MANY:
            return [far]
        small = sorted(views, key=lambda k: sum(len(self.cells[c][1]) - 1 for c in self.of[k]))
        return [far, *small[: _STARTS - 1]]

    def _far(self, start: int) -> int:
        """A view as far from another as any, by way of views that share people."""
        seen, edge = {start}, [start]
        last = start
        while edge:
            last = edge[-1]
            edge = [j for k in edge for c in self.of[k] for j in self.cells[c][1]]
            edge = [k for k in dict.fromkeys(edge) if k not in seen]
            seen.update(edge)
        return last

    def lasts(self) -> list[list[int]]:
        """Cells that may be left to the end: none, or all from some size on, with those that are in one view only."""
        sizes = sorted({size for size, own in self.cells if len(own) > 1})
        if len(self.of) > _STARTS or sizes[-1] < _SMALL:
            return [[]]
        found: list[list[int]] = [[]]
        for size in (0, *_SIZES):
            some = [
                c for c, (people, own) in enumerate(self.cells) if people > size or len(own) == 1
            ]
            found += [some] if some not in found else []
        return [self._in_turn(some) for some in found]

    def _in_turn(self, some: Sequence[int]) -> list[int]:
        """Those in one view only come last: they take what is left."""
        return sorted(
            some,
            key=lambda c: (len(self.cells[c][1]) == 1, -len(self.cells[c][1]), self.cells[c][0]),
        )

    def greedy(self, start: int, last: Sequence[int], least: float) -> tuple[list[int], float]:
        """View by view, always the one whose cells leave the fewest states; stops once an order is dearer than the `least`."""
        waiting = set(range(len(self.cells))) - set(last)
        people = dict.fromkeys(range(len(self.of)), 0)
        left = [len(own) for own in self.of]
        open_: set[int] = set()
        cells: list[int] = []
        cost, states = 0.0, 0.0
        chosen = start
        while waiting:
            for c in self._cells(chosen, waiting, open_, left):
                size, own = self.cells[c]
                ends = any(left[k] == 1 for k in own)
                cost += 2.0 ** min(
                    states + (0 if ends else _two(comb(size + self.values - 1, size))), 900
                )
                cells.append(c)
                waiting.discard(c)
                for k in own:
                    people[k] += size
                    left[k] -= 1
                    (open_.add if left[k] else open_.discard)(k)
                if cost > least:
                    return cells, inf
                if cost < _HOPELESS:  # else it is an order, for samples, and nobody counts by it
                    states = self._states(open_, people, waiting, last)
            if waiting:
                able = [k for k in open_ if any(c in waiting for c in self.of[k])]
                able = able or sorted({k for c in waiting for k in self.cells[c][1]})
                chosen = min(able, key=lambda k: (self._more(k, waiting, open_, left, people), k))
        return cells, cost + (2.0 ** min(states + self._together(last), 900) if last else 0)

    def _together(self, last: Sequence[int]) -> float:
        """The steps for cells that are taken value by value, from one state: by how many of each are left.

        Of as many cells as there are views the numbers follow from those of the others; so the largest ones do not count.
        """
        views = {k for c in last for k in self.cells[c][1]}
        sizes = sorted(self.cells[c][0] for c in last)
        free = sizes[: max(len(last) - len(views), 0)]
        branches = max([1, *free]) + 1
        return _two(self.values * len(last) * branches) + sum(_two(size + 1) for size in free)

    def _cells(self, view: int, waiting: set[int], open_: set[int], left: list[int]) -> list[int]:
        """The cells of a view that are waiting: those that end some view first; last the one with the most to choose."""
        own = [c for c in self.of[view] if c in waiting]
        return sorted(
            own,
            key=lambda c: (
                not any(left[k] == 1 for k in self.cells[c][1]),
                len(self.cells[c][1]) == 1,
                sum(k not in open_ for k in self.cells[c][1]),
                self.cells[c][0],
            ),
        )

    def _more(
        self, view: int, waiting: set[int], open_: set[int], left: list[int], people: dict[int, int]
    ) -> float:
        """How many more states there are once all cells of a view are done."""
        more: dict[int, int] = {}
        less: dict[int, int] = {}
        for c in self.of[view]:
            if c in waiting:
                for k in self.cells[c][1]:
                    more[k] = more.get(k, 0) + self.cells[c][0]
                    less[k] = less.get(k, 0) + 1
        return round(
            sum(self.parts[k][people[k] + more[k]] for k in more if left[k] > less[k])
            - sum(self.parts[k][people[k]] for k in more if k in open_),
            9,
        )

    def _states(
        self, open_: set[int], people: dict[int, int], waiting: set[int], last: Sequence[int]
    ) -> float:
        by_views = sum(self.parts[k][people[k]] for k in open_)
        behind: dict[tuple[int, ...], int] = {}
        for c in {c for k in open_ for c in self.of[k]} - waiting - set(last):
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
        number = [
            sums[min(size, total) + 1] - sums[max(size - often, 0)]
            for size in range(total + often + 1)
        ]
    return tuple(map(_two, number))


@lru_cache(maxsize=1 << 12)
def _two(number: int) -> float:
    return log(number, 2) if number.bit_length() < 1000 else float(number.bit_length())
