"""Exact counting of the ways in which people can have the values that their groups show.

Only ways in which finer groupings were refused are possible. People who are on the same side of
everything that was refused are alike. So only the ways to spread values over such classes are
counted, value by value. Uses `judge`; `mondrian` and `optimal` use it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from math import factorial, prod
from operator import add
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.attack.judge import FAILED, Bag, Judge
from shoal.errors import TooLargeError

__all__ = [
    "Candidate",
    "CountedWays",
    "CountingProblem",
    "PeopleClass",
    "drawn",
    "orders_of",
    "ways",
]

Ints = npt.NDArray[np.int64]
Part: TypeAlias = tuple[int, ...]
Candidate: TypeAlias = tuple[Part, ...]
"""A finer grouping: its groups, as classes of people who are alike."""

MOST = 60_000
"""Steps worth taking to count the ways of one problem: about a second."""

_NOTHING = (0, None)
"""What is remembered of a part without people."""

_Filled: TypeAlias = tuple[int, ...]
_State: TypeAlias = tuple[_Filled, tuple[Any, ...]]
"""How many people of every class have a value, and what is remembered of every part."""


class PeopleClass(NamedTuple):
    """People who are alike: their group, and how many they are."""

    group: int
    size: int


@dataclass(frozen=True)
class CountingProblem:
    """Groups that show bags of values, classes of people, and the candidates that were tried."""

    bags: tuple[Bag, ...]
    classes: tuple[PeopleClass, ...]
    candidates: tuple[Candidate, ...]

    @property
    def assignments(self) -> int:
        """The number of ways to give the values of the bags to the people."""
        return prod(map(orders_of, self.bags))


def orders_of(bag: Iterable[int]) -> int:
    """In how many orders a bag of values can be given to people.

    >>> orders_of([2, 1])
    3
    """
    often = list(bag)
    return factorial(sum(often)) // prod(map(factorial, often))


class CountedWays(NamedTuple):
    """A number of ways, and how often each class has each value in all of them."""

    number: int
    has: list[list[int]]


def ways(
    problem: CountingProblem,
    judge: Judge,
    most: int = MOST,
    *,
    refused: bool = False,
) -> dict[int, CountedWays]:
    """All ways to give the values to the people, by the mask of candidates that would be accepted.

    With `refused`, only those in which all candidates are refused. Every part must have as many
    people as the models ask for. TooLargeError beyond `most` steps.
    """
    return _Counting(problem, judge, most, refused).ways()


class _Step(NamedTuple):
    """Giving out one value: from a state to a state, in how many ways, and how many per class."""

    before: _State
    after: _State
    number: int
    given: tuple[int, ...]


class _Counting:
    """Counts by giving out one value after the other, the most frequent first.

    Weights are multinomial, so that every assignment counts once.
    """

    def __init__(
        self,
        problem: CountingProblem,
        judge: Judge,
        most: int = MOST,
        refused: bool = False,
    ) -> None:
        self.problem = problem
        self.judge = judge
        self.steps_left = most
        self.refused = refused
        # Candidates share parts, which are looked at once.
        every_part = chain.from_iterable(problem.candidates)
        self.parts = sorted(set(every_part))
        self.sizes = [sum(problem.classes[at].size for at in part) for part in self.parts]
        place = {part: at for at, part in enumerate(self.parts)}
        self.candidates = [[place[part] for part in each] for each in problem.candidates]
        self.classes_of = _classes_of(problem)
        self.class_sizes = [people.size for people in problem.classes]
        bags = np.array(problem.bags, dtype=np.int64)
        totals = bags.sum(axis=0).tolist()
        occurring = [value for value, often in enumerate(totals) if often]
        self.values = sorted(occurring, key=lambda value: -totals[value])
        self.totals = [totals[value] for value in self.values]
        # For everything that may be remembered of a part, one bag that leads to it.
        self.example: dict[Any, tuple[tuple[int, int], ...]] = {_NOTHING: ()}
        self._remembered_of: dict[Any, tuple[Any, bool]] = {}

    def ways(self) -> dict[int, CountedWays]:
        """The ways by the mask of accepted candidates."""
        ahead, layers = self._forward()
        masks = self._accepted(list(ahead[-1]))
        tallies = self._empty_tallies(ahead[-1], masks)
        # From the last value back: in how many ways every state is completed, by mask.
        behind: dict[_State, dict[int, int]] = {}
        for state, mask in masks.items():
            behind[state] = {mask: 1}
        for at in reversed(range(len(self.values))):
            value = self.values[at]
            before = ahead[at]
            earlier: dict[_State, dict[int, int]] = {}
            for step in layers[at]:
                completed = earlier.setdefault(step.before, {})
                for mask, number in behind.get(step.after, {}).items():
                    completed[mask] = completed.get(mask, 0) + step.number * number
                    weight = before[step.before] * step.number * number
                    _credit(tallies[mask].has, value, step.given, weight)
            behind = earlier
        return tallies

    def _forward(self) -> tuple[list[dict[_State, int]], list[list[_Step]]]:
        """In how many ways every state is reached, value by value, and the steps between them."""
        nobody = (0,) * len(self.problem.classes)
        start: _State = (nobody, (_NOTHING,) * len(self.parts))
        ahead: list[dict[_State, int]] = [{start: 1}]
        layers: list[list[_Step]] = []
        for at in range(len(self.values)):
            states = ahead[-1]
            # Before they are made: there may be too many.
            self._pay(sum(self._number_of_steps(filled, at) for filled, _ in states))
            steps: list[_Step] = []
            for state in states:
                steps.extend(self._steps(state, at))
            reached: dict[_State, int] = {}
            for step in steps:
                more = states[step.before] * step.number
                reached[step.after] = reached.get(step.after, 0) + more
            layers.append(steps)
            ahead.append(reached)
        return ahead, layers

    def _empty_tallies(
        self, reached: dict[_State, int], masks: dict[_State, int]
    ) -> dict[int, CountedWays]:
        totals: dict[int, int] = {}
        for state, mask in masks.items():
            totals[mask] = totals.get(mask, 0) + reached[state]
        values = len(self.problem.bags[0])
        tallies = {}
        for mask, number in totals.items():
            has = [[0] * values for _ in self.problem.classes]
            tallies[mask] = CountedWays(number, has)
        return tallies

    def _pay(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise TooLargeError(
                "there are too many ways to spread the values over people", "sample them"
            )

    def _number_of_steps(self, filled: _Filled, at: int) -> int:
        return prod(_number_of_spreads(*room) for room in self._rooms(filled, at))

    def _steps(self, state: _State, at: int) -> Iterator[_Step]:
        """Every way to give out a value in a state."""
        filled, seen = state
        rooms = self._rooms(filled, at)
        for spreads in product(*(_spreads(*room) for room in rooms)):
            given = [0] * len(filled)
            number = 1
            for classes, (people, coefficient) in zip(self.classes_of, spreads, strict=True):
                number *= coefficient
                for each, often in zip(classes, people, strict=True):
                    given[each] = often
            remembered = self._remembered(seen, at, given)
            if remembered is not None:
                after = tuple(map(add, filled, given)), remembered
                yield _Step(state, after, number, tuple(given))

    def _rooms(self, filled: _Filled, at: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """In every group how often a value is to be given, and the room that its classes have."""
        for classes, bag in zip(self.classes_of, self.problem.bags, strict=True):
            room = tuple(self.class_sizes[each] - filled[each] for each in classes)
            yield bag[self.values[at]], room

    def _remembered(
        self,
        seen: tuple[Any, ...],
        at: int,
        given: Sequence[int],
    ) -> tuple[Any, ...] | None:
        """What is remembered of all parts after a value is given out.

        None if a candidate is sure to be accepted, and only ways without an accepted one are
        wanted.
        """
        now: list[Any] = []
        sure: list[bool] = []
        for part, size, had in zip(self.parts, self.sizes, seen, strict=True):
            often = 0
            for each in part:
                often += given[each]
            key = had, at, often, size
            if key not in self._remembered_of:
                self._remembered_of[key] = self._of_part(had, at, often, size)
            remembered, holds = self._remembered_of[key]
            now.append(remembered)
            sure.append(holds)
        if self.refused and self._accepts(sure):
            return None
        if now.count(FAILED) > seen.count(FAILED):
            self._forget(now)
        return tuple(now)

    def _accepts(self, sure: Sequence[bool]) -> bool:
        """Whether some candidate is sure to be accepted."""
        return any(all(sure[part] for part in parts) for parts in self.candidates)

    def _forget(self, now: list[Any]) -> None:
        """Once one part of a candidate has failed, its other parts do not matter for it."""
        needed: set[int] = set()
        for parts in self.candidates:
            failed = any(now[part] == FAILED for part in parts)
            if not failed:
                needed.update(parts)
        for part in range(len(now)):
            if part not in needed:
                now[part] = FAILED

    def _of_part(
        self,
        had: Any,
        at: int,
        often: int,
        size: int,
    ) -> tuple[Any, bool]:
        """What is remembered of a part after a value occurs in it `often` times.

        Also whether the part is sure to satisfy the models.
        """
        if had == FAILED:
            return FAILED, False
        people, before = had
        if not often:
            now = had
        else:
            after = self.judge.memory.step(before, self.values[at], often, size)
            if after == FAILED:
                return FAILED, False
            now = people + often, after
            longer = (*self.example[had], (self.values[at], often))
            self.example.setdefault(now, longer)
        people, seen = now
        more = self._largest(at + 1, size - people)
        return now, self.judge.memory.sure(seen, size, more)

    def _largest(self, at: int, people: int) -> int:
        """The largest product of n^n that this many people can have of the values from `at` on."""
        product_of_powers = 1
        for often in self.totals[at:]:
            taken = min(often, people)
            product_of_powers *= taken**taken
            people -= taken
        return product_of_powers

    def _accepted(self, states: Sequence[_State]) -> dict[_State, int]:
        """For every final state the candidates all parts of which satisfy the models."""
        asked: set[Any] = set()
        for _, every in states:
            asked.update(every)
        asked.discard(FAILED)
        # In an order that does not depend on hashes; what is remembered may be of any type.
        ordered = sorted(asked, key=repr)
        bags = [self._bag(seen) for seen in ordered]
        good = dict(zip(ordered, self.judge.hold(bags), strict=True))
        good[FAILED] = False

        def mask(every: Sequence[Any]) -> int:
            bits = 0
            for bit, parts in enumerate(self.candidates):
                if all(good[every[part]] for part in parts):
                    bits |= 1 << bit
            return bits

        return {state: mask(state[1]) for state in states}

    def _bag(self, seen: Any) -> Bag:
        """A bag of which this is remembered."""
        bag = [0] * len(self.problem.bags[0])
        for value, often in self.example[seen]:
            bag[value] = often
        return tuple(bag)


def _classes_of(problem: CountingProblem) -> list[list[int]]:
    """The classes of every group."""
    members: list[list[int]] = [[] for _ in problem.bags]
    for at, people in enumerate(problem.classes):
        members[people.group].append(at)
    return members


def _credit(
    has: list[list[int]],
    value: int,
    given: Sequence[int],
    weight: int,
) -> None:
    for each, people in enumerate(given):
        if people:
            has[each][value] += weight * people


@lru_cache(maxsize=1 << 14)
def _spreads(number: int, room: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], int], ...]:
    """All ways to give equal values to classes with some room, and multinomial coefficients."""

    def given(left: int, at: int) -> Iterator[tuple[int, ...]]:
        if at == len(room) - 1:
            if left <= room[at]:
                yield (left,)
            return
        for taken in range(min(left, room[at]) + 1):
            for rest in given(left - taken, at + 1):
                yield (taken, *rest)

    return tuple((people, orders_of(people)) for people in given(number, 0))


@lru_cache(maxsize=1 << 14)
def _number_of_spreads(number: int, room: tuple[int, ...]) -> int:
    """How many spreads there are, without making them."""
    ways_to = [1] + [0] * number
    for space in room:
        # In how many ways `left` values fit, once this class takes up to its space of them.
        before = ways_to
        ways_to = []
        for left in range(number + 1):
            fewest = max(left - space, 0)
            ways_to.append(sum(before[fewest : left + 1]))
    return ways_to[number]


def drawn(
    problem: CountingProblem,
    judge: Judge,
    tries: int,
    source: np.random.Generator,
) -> Ints:
    """The value of one random person per class, in random assignments that all candidates refuse.

    Of `tries` assignments, only those in which every candidate is refused are kept.
    """
    values = len(problem.bags[0])
    sizes = [people.size for people in problem.classes]
    has = np.zeros((tries, len(sizes), values), dtype=np.int64)
    for bag, members in zip(problem.bags, _classes_of(problem), strict=True):
        line = np.array(bag, dtype=np.int64)
        left = np.tile(line, (tries, 1))
        for each in members:
            has[:, each] = _taken(left, sizes[each], source)
            left -= has[:, each]

    refused = np.ones(tries, dtype=np.bool_)
    for candidate in problem.candidates:
        accepted = np.ones(tries, dtype=np.bool_)
        for part in candidate:
            bags = has[:, list(part)].sum(axis=1)
            accepted &= judge.holds(bags)
        refused &= ~accepted

    kept = has[refused]
    person = source.integers(0, sizes, (len(kept), len(sizes)))
    # If the people of a class stand in the order of their values, the values that are all before
    # the drawn person are those whose cumulated number does not exceed the person's place.
    before = kept.cumsum(axis=2) <= person[:, :, None]
    return np.asarray(before.sum(axis=2), dtype=np.int64)


def _taken(left: Ints, people: int, source: np.random.Generator) -> Ints:
    """As many random values of every line as there are `people`, without replacement.

    Values are drawn one after the other, each from a hypergeometric law.
    """
    taken = np.zeros_like(left)
    rest = left.sum(axis=1)
    wanted = np.full(len(left), people)
    for value in range(left.shape[1]):
        here = left[:, value]
        rest = rest - here
        draws = np.minimum(wanted, here + rest)
        drawn_here = source.hypergeometric(here, rest, draws)
        taken[:, value] = np.where(wanted > 0, drawn_here, 0)
        wanted = wanted - taken[:, value]
    return taken
