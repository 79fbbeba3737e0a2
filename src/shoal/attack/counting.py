"""Exact counting: in how many ways can people have the values that their groups show, if finer groupings were refused?

Uses the models that ship, and for Mondrian the very cuts that it tries; `minimality` uses it. People who are on the same side
of everything that was refused are alike, so that only the ways to spread values over such classes are counted, value by value.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import factorial, lcm, prod
from operator import add
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts, smallest
from shoal.data.tables import Table
from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.methods.axes import Axis
from shoal.methods.coincident import fewest, satisfied
from shoal.methods.mondrian import Mondrian, _Cells
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
)

__all__ = ["Candidate", "Cut", "Judge", "Puzzle", "Replay", "Ways", "drawn", "ways"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Part: TypeAlias = tuple[int, ...]
Candidate: TypeAlias = tuple[Part, ...]
"""A finer grouping: its groups, as classes of people who are alike."""
Ways: TypeAlias = dict[int, tuple[int, list[list[int]]]]
"""By which candidates would have been accepted (bits): how many ways, and how often each class has each value in all of them."""

MOST = 60_000
"""Steps worth taking to count the ways of one puzzle: about a second."""

_FINEST = 1 << 40  # what a probability is rounded to before a model judges it
_NOTHING, _FAILED = (
    (0, None),
    "failed",
)  # what is remembered of a part without people, and of one that fails in any case


class Judge:
    """Which bags of values satisfy the models, by the code that ships. `leaf` is the code that models know a value by."""

    def __init__(
        self, models: Sequence[Model], column: str, total: Ints, leaf: Ints, leaves: int
    ) -> None:
        for model in models:
            if isinstance(model, DeltaPresence) or set(model.columns) - {column}:
                raise ParameterError(
                    f"{model} is not about column {column!r}, and the attack is on that; attack another column"
                )
        self.models, self.column, self.total, self.leaf, self.leaves = (
            models,
            column,
            total,
            leaf,
            leaves,
        )
        self.least = fewest(models)
        self.memory = _Memory.of(models)
        self._known: dict[tuple[int, ...], bool] = {}

    def holds(self, bags: npt.NDArray[Any]) -> Bools:
        """Which of some bags, a line each with how often every value occurs, satisfy all models, among all of the table."""
        number = len(bags)
        whole = (-(-bags // self.total)).max(
            axis=1
        ).sum() + 1  # so often the table, so that shares stay what they are
        rest = whole * self.total - bags.sum(axis=0)
        every = np.vstack([bags, rest])
        own, value = np.nonzero(every)
        leaves = self.leaf[value].astype(smallest(self.leaves)), self.leaves
        return satisfied(
            self.models, own, number, {self.column: leaves}, every[own, value].astype(np.int64)
        )

    def hold(self, bags: Sequence[tuple[int, ...]]) -> list[bool]:
        """The same for several bags, each looked at once in a life."""
        if new := list(dict.fromkeys(bag for bag in bags if bag not in self._known)):
            self._known.update(
                zip(new, self.holds(np.array(new, dtype=np.int64)).tolist(), strict=True)
            )
        return [self._known[bag] for bag in bags]

    def believed(self, belief: Sequence[Fraction]) -> bool:
        """Whether a distribution of the values satisfies the models; finer than 2^-40 it is rounded."""
        exact = lcm(*(one.denominator for one in belief)) * self.least
        scale = exact if exact <= _FINEST else _FINEST
        bag = [max(round(one * scale), 1) if one else 0 for one in belief]
        return bool(self.holds(np.array([bag], dtype=np.int64))[0])


@dataclass(frozen=True)
class _Memory:
    """What is to be remembered of a part of some size while values are given out; None at first. As little as models need.

    `step` gives it once a value occurs so often, or `_FAILED`. `sure` says that the part will satisfy the models, as the values
    to come can at most multiply the product of n^n over all frequencies n by so much.
    """

    step: Callable[[Any, int, int, int], Any]
    sure: Callable[[Any, int, int], bool] = lambda seen, size, more: False

    @classmethod
    def of(cls, models: Sequence[Model]) -> "_Memory":
        counted = (KAnonymity, DistinctDiversity, PSensitive)
        most = max(
            [
                1,
                *(
                    getattr(m, "l", getattr(m, "p", 1))
                    for m in models
                    if isinstance(m, DistinctDiversity | PSensitive)
                ),
            ]
        )
        if all(isinstance(model, counted) for model in models):
            return cls(
                lambda seen, value, often, size: min((seen or 0) + 1, most),
                lambda seen, size, more: seen == most,
            )
        if all(isinstance(model, (*counted, EntropyDiversity)) for model in models):
            return cls._of_entropy(
                most,
                max(Fraction(model.l) for model in models if isinstance(model, EntropyDiversity)),
            )
        if all(
            isinstance(model, (*counted, EntropyDiversity, RecursiveDiversity)) for model in models
        ):
            return cls(lambda seen, value, often, size: tuple(sorted((*(seen or ()), often))))
        return cls(lambda seen, value, often, size: (*(seen or ()), (value, often)))

    @classmethod
    def _of_entropy(cls, most: int, least: Fraction) -> "_Memory":
        """The entropy is log size − log product / size, at least log l: the product has a limit."""

        @cache
        def limit(size: int) -> int:
            return int((size * least.denominator) ** size // least.numerator**size)

        def step(seen: Any, value: int, often: int, size: int) -> Any:
            different, power = seen or (0, 1)
            power *= often**often
            return _FAILED if power > limit(size) else (min(different + 1, most), power)

        def sure(seen: Any, size: int, more: int) -> bool:
            return seen is not None and seen[0] == most and seen[1] * more <= limit(size)

        return cls(step, sure)


@dataclass(frozen=True)
class Puzzle:
    """Groups that show bags of values, classes of people who are alike, each of one group, and candidates that were tried."""

    bags: tuple[tuple[int, ...], ...]
    classes: tuple[tuple[int, int], ...]
    """The group of every class, and how many people it has."""
    candidates: tuple[Candidate, ...]

    @property
    def assignments(self) -> int:
        """All ways to give the values of the bags to the people."""
        return prod(factorial(sum(bag)) // prod(map(factorial, bag)) for bag in self.bags)


def ways(puzzle: Puzzle, judge: Judge, most: int = MOST, *, refused: bool = False) -> Ways:
    """All ways to give the values to the people, by which candidates would have been accepted; only those for none, if `refused`.

    A state is how many people of every class have got a value, and what is to be remembered of every part. Values are given
    out one after the other; weights are multinomial, so that every assignment counts once. Every part must have as many
    people as the models ask for. TooLargeError beyond `most` steps.
    """
    return _Counting(puzzle, judge, most, refused).ways()


class _Counting:
    def __init__(self, puzzle: Puzzle, judge: Judge, most: int, refused: bool) -> None:
        self.puzzle, self.judge, self.left, self.refused = puzzle, judge, most, refused
        self.parts = sorted({part for candidate in puzzle.candidates for part in candidate})
        self.sizes = [sum(puzzle.classes[one][1] for one in part) for part in self.parts]
        place = {part: at for at, part in enumerate(self.parts)}
        self.candidates = [[place[part] for part in candidate] for candidate in puzzle.candidates]
        self.strata = [
            [at for at, (own, _) in enumerate(puzzle.classes) if own == one]
            for one in range(len(puzzle.bags))
        ]
        often = [sum(bag[value] for bag in puzzle.bags) for value in range(len(puzzle.bags[0]))]
        self.values = sorted(
            (value for value, some in enumerate(often) if some), key=lambda value: -often[value]
        )
        self.to_come = [
            [often[value] for value in self.values[at:]] for at in range(len(self.values) + 1)
        ]  # largest first
        self.example: dict[Any, tuple[tuple[int, int], ...]] = {
            _NOTHING: ()
        }  # a bag of which that is remembered
        self.known: dict[Any, Any] = {}

    def ways(self) -> Ways:
        start = (0,) * len(self.puzzle.classes), (_NOTHING,) * len(self.parts)
        ahead: list[dict[Any, int]] = [{start: 1}]
        edges: list[list[tuple[Any, Any, int, tuple[int, ...]]]] = []
        for at in range(len(self.values)):
            self._pay(
                sum(
                    prod(_spreads_of(*some) for some in self._rooms(filled, at))
                    for filled, _ in ahead[-1]
                )
            )
            edges.append([(state, *step) for state in ahead[-1] for step in self._steps(state, at)])
            reached: dict[Any, int] = {}
            for state, new, often, _ in edges[-1]:
                reached[new] = reached.get(new, 0) + ahead[-1][state] * often
            ahead.append(reached)
        behind: dict[Any, dict[int, int]] = {
            state: {mask: 1} for state, mask in self._accepted(list(ahead[-1])).items()
        }
        has: dict[int, list[list[int]]] = {}
        total: dict[int, int] = {}
        for state, masks in behind.items():
            for mask in masks:
                total[mask] = total.get(mask, 0) + ahead[-1][state]
                has.setdefault(mask, [[0] * len(self.puzzle.bags[0]) for _ in self.puzzle.classes])
        for value, layer, before in zip(
            reversed(self.values), reversed(edges), reversed(ahead[:-1]), strict=True
        ):
            earlier: dict[Any, dict[int, int]] = {}
            for state, new, often, given in layer:
                into = earlier.setdefault(state, {})
                for mask, number in behind.get(new, {}).items():
                    into[mask] = into.get(mask, 0) + often * number
                    weight = before[state] * often * number
                    for one, people in enumerate(given):
                        if people:
                            has[mask][one][value] += weight * people
            behind = earlier
        return {mask: (number, has[mask]) for mask, number in total.items()}

    def _steps(self, state: Any, at: int) -> Iterator[tuple[Any, int, tuple[int, ...]]]:
        """Every way to give a value out: the new state, in how many ways it comes about, and how many of every class get it."""
        filled, seen = state
        for chosen in product(*(_spreads(*some) for some in self._rooms(filled, at))):
            given = [0] * len(filled)
            often = 1
            for classes, (people, number) in zip(self.strata, chosen, strict=True):
                often *= number
                for one, some in zip(classes, people, strict=True):
                    given[one] = some
            remembered = self._remembered(seen, at, given)
            if remembered is not None:
                yield (tuple(map(add, filled, given)), remembered), often, tuple(given)

    def _rooms(self, filled: tuple[int, ...], at: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """In every group how often a value is to be given, and the room that its classes have."""
        for classes, bag in zip(self.strata, self.puzzle.bags, strict=True):
            yield (
                bag[self.values[at]],
                tuple(self.puzzle.classes[one][1] - filled[one] for one in classes),
            )

    def _pay(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError(
                "there are too many ways to spread the values over people; sample them"
            )

    def _remembered(
        self, seen: tuple[Any, ...], at: int, given: Sequence[int]
    ) -> tuple[Any, ...] | None:
        """What is remembered of all parts; None if a candidate is sure to be accepted, and the ways for that are not asked."""
        now: list[Any] = []
        sure: list[bool] = []
        for part, size, had in zip(self.parts, self.sizes, seen, strict=True):
            often = 0
            for one in part:
                often += given[one]
            key = had, at, often, size
            if key not in self.known:
                self.known[key] = self._one(had, at, often, size)
            one_now, one_sure = self.known[key]
            now.append(one_now)
            sure.append(one_sure)
        if self.refused and any(
            all(sure[one] for one in candidate) for candidate in self.candidates
        ):
            return None
        if now.count(_FAILED) > seen.count(_FAILED):  # nothing else of a candidate counts then
            lost = [any(now[one] == _FAILED for one in candidate) for candidate in self.candidates]
            for one in range(len(now)):
                if all(
                    gone
                    for gone, candidate in zip(lost, self.candidates, strict=True)
                    if one in candidate
                ):
                    now[one] = _FAILED
        return tuple(now)

    def _one(self, had: Any, at: int, often: int, size: int) -> tuple[Any, bool]:
        """What is remembered of one part once it has so many of a value, and whether it is sure to satisfy the models."""
        if had == _FAILED:
            return _FAILED, False
        people, before = had
        after = self.judge.memory.step(before, self.values[at], often, size) if often else before
        if after == _FAILED:
            return _FAILED, False
        if often:
            self.example.setdefault(
                (people + often, after), (*self.example[had], (self.values[at], often))
            )
        return (people + often, after), self.judge.memory.sure(
            after, size, self._more(at + 1, size - people - often)
        )

    def _more(self, at: int, people: int) -> int:
        """The largest product of n^n that so many people can have of the values from there on."""
        more = 1
        for often in self.to_come[at]:
            taken = min(often, people)
            more, people = more * taken**taken, people - taken
        return more

    def _accepted(self, states: Sequence[Any]) -> dict[Any, int]:
        """For every state at the end the candidates of which all parts satisfy the models."""
        asked = sorted({seen for _, every in states for seen in every if seen != _FAILED}, key=repr)
        bags = []
        for one in asked:
            bag = [0] * len(self.puzzle.bags[0])
            for value, often in self.example[one]:
                bag[value] = often
            bags.append(tuple(bag))
        good = dict(zip(asked, self.judge.hold(bags), strict=True))

        def mask(every: Sequence[Any]) -> int:
            held = [seen != _FAILED and good[seen] for seen in every]
            return sum(
                1 << bit
                for bit, candidate in enumerate(self.candidates)
                if all(held[at] for at in candidate)
            )

        return {state: mask(state[1]) for state in states}


@lru_cache(maxsize=1 << 14)
def _spreads(number: int, room: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], int], ...]:
    """All ways to give a number of equal values to classes with some room, each with its multinomial coefficient."""

    def given(left: int, at: int) -> Iterator[tuple[int, ...]]:
        if at == len(room) - 1:
            if left <= room[at]:
                yield (left,)
            return
        for some in range(min(left, room[at]) + 1):
            yield from ((some, *rest) for rest in given(left - some, at + 1))

    return tuple(
        (people, factorial(number) // prod(map(factorial, people))) for people in given(number, 0)
    )


@lru_cache(maxsize=1 << 14)
def _spreads_of(number: int, room: tuple[int, ...]) -> int:
    """How many there are."""
    ways_to = [1] + [0] * number
    for some in room:
        ways_to = [sum(ways_to[max(left - some, 0) : left + 1]) for left in range(number + 1)]
    return ways_to[number]


def drawn(puzzle: Puzzle, judge: Judge, tries: int, source: np.random.Generator) -> Ints:
    """Of many random assignments those that no candidate would have been accepted for: for each what one of every class has."""
    has = np.zeros((tries, len(puzzle.classes), len(puzzle.bags[0])), dtype=np.int64)
    for own, bag in enumerate(puzzle.bags):
        left = np.tile(np.array(bag, dtype=np.int64), (tries, 1))
        for at, (its, people) in enumerate(puzzle.classes):
            if its == own:
                has[:, at] = _taken(left, people, source)
                left -= has[:, at]
    refused = np.ones(tries, dtype=np.bool_)
    for candidate in puzzle.candidates:
        refused &= ~np.all(
            [judge.holds(has[:, list(part)].sum(axis=1)) for part in candidate], axis=0
        )
    kept = has[refused]
    one = source.integers(
        0, [people for _, people in puzzle.classes], (len(kept), len(puzzle.classes))
    )
    return np.asarray((kept.cumsum(axis=2) <= one[:, :, None]).sum(axis=2), dtype=np.int64)


def _taken(left: Ints, people: int, source: np.random.Generator) -> Ints:
    """So many values of every line at random, without replacement: value by value, each hypergeometric."""
    taken = np.zeros_like(left)
    rest, wanted = left.sum(axis=1), np.full(len(left), people)
    for value in range(left.shape[1]):
        rest = rest - left[:, value]
        taken[:, value] = np.where(
            wanted > 0,
            source.hypergeometric(left[:, value], rest, np.minimum(wanted, left[:, value] + rest)),
            0,
        )
        wanted = wanted - taken[:, value]
    return taken


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut that Mondrian tried and did not make: where, the rows of the cell, and which of them were to go right."""

    column: str
    left: str
    right: str
    rows: Ints
    goes_right: Bools

    def __str__(self) -> str:
        return f"{self.column} was not cut between {self.left} and {self.right}"


class Replay(_Cells):
    """Mondrian's own cuts, made as far as the released groups show that they were made; `refused` are those that were not.

    A cut that a released group lies across was refused. Of any other cut the release shows what both halves have.
    `group_of` gives the released group of rows, by their places on all axes.
    """

    def __init__(
        self,
        people: Table,
        axes: Sequence[Axis],
        method: Mondrian,
        group_of: Callable[[Counts], Ints],
        bags: Ints,
        judge: Judge,
    ) -> None:
        super().__init__(people, axes, replace(method, models=(KAnonymity(1),)))
        self.axes, self.bags, self.judge = axes, bags, judge
        self.group_of = group_of(self.rows)
        self.refused: list[Cut] = []

    def run(self) -> None:
        """Cut; InputError if that leads to other groups than the released ones."""
        self.cut(lambda done, total, what: None)
        pairs = np.unique(np.stack([self.crowd.cell, self.group_of]), axis=1).shape[1]
        if not pairs == len(self.low) == len(self.bags):
            raise InputError(
                "the method does not lead to these groups with these people; give the recipe of the release"
            )

    def _median(
        self, active: Ints, opened: Ints, local: Ints, axis: Ints
    ) -> tuple[Bools, Ints, Ints]:
        found = super()._median(active, opened, local, axis)
        self._tried = active, local, axis, *found
        return found

    def _hold(self, halves: Sequence[Ints], number: int) -> Bools:
        if number == 1:
            return np.ones(
                1, dtype=np.bool_
            )  # all records together, else there would be no release
        active, local, axis, right, ends_left, starts_right = self._tried
        groups = len(self.bags)
        parts = np.unique(
            2 * (local * groups + self.group_of[active]) + right
        )  # which groups have rows in which halves
        cell, own = np.divmod(parts // 2, groups)
        across = np.zeros(number // 2, dtype=np.bool_)
        across[cell[1:][parts[1:] // 2 == parts[:-1] // 2]] = True
        shown = np.zeros((number, self.bags.shape[1]), dtype=np.int64)
        np.add.at(shown, 2 * cell + parts % 2, self.bags[own])
        held = self.judge.holds(shown)
        held[::2][across] = False
        for one in np.flatnonzero(across).tolist():
            along, its = self.axes[axis[one]], local == one
            left, after = along.labels[ends_left[one]], along.labels[starts_right[one]]
            self.refused.append(Cut(along.name, left, after, active[its], right[its]))
        return held
