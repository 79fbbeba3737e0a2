"""Disclosure functions of spaces small enough to list (Zhang, chapter 4): what a choice discloses.

A `Space` has states and candidate schemas, a `Predicate` says which sets of states are safe. Here
is what a function from states to schemas discloses, and algorithms 4.1 to 4.4, corrected. Uses
`errors`; proofs: docs/proofs/disclosure.md.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import prod
from typing import Any, TypeAlias

from shoal.arguments import typed
from shoal.errors import InfeasibleError, ParameterError, TooLargeError
from shoal.exact.numbers import whole

__all__ = [
    "LARGEST",
    "Function",
    "Predicate",
    "Space",
    "States",
    "backward",
    "disclosed",
    "forward",
    "forward_once",
    "is_better",
    "is_optimal",
    "is_safe",
    "optima",
    "orders",
    "traditional",
]

State: TypeAlias = Hashable
States: TypeAlias = frozenset[Any]
Function: TypeAlias = Mapping[Any, int]
"""A disclosure function: for every state the number, from 1, of the schema that is shown."""

LARGEST = 1 << 20
"""Sets or functions worth trying one by one."""


@dataclass(frozen=True)
class Space:
    """All possible states, and the candidate schemas T1 to Tn, which partition them.

    The most useful schema comes first. The last one is the whole space in one piece: nothing is
    shown.

    >>> Space("abc", (["ab", "c"], ["abc"])).seen(1, "a") == {"a", "b"}
    True
    """

    states: tuple[Any, ...]
    schemas: tuple[tuple[States, ...], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.states, Iterable) or not _lists_of_lists(self.schemas):
            raise ParameterError(
                "a space has a list of states, and for every schema a list of pieces, which are "
                "lists of states"
            )
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(
            self, "schemas", tuple(tuple(map(frozenset, schema)) for schema in self.schemas)
        )
        everything = Counter(self.states)
        if not everything or everything.total() > len(everything):
            raise ParameterError("a space has at least one state, each once")
        for number, schema in enumerate(self.schemas, 1):
            if Counter(chain.from_iterable(schema)) != everything:
                raise ParameterError(
                    f"schema T{number} is not a partition of the states",
                    "put each into one piece",
                )
        if not self.schemas or len(self.schemas[-1]) != 1:
            raise ParameterError(
                "the last schema is not one piece with all states",
                "end with the schema that shows nothing",
            )

    @classmethod
    def of_groups(cls, values: Sequence[State], *groupings: Sequence[Sequence[int]]) -> "Space":
        """All ways to give some values to as many people.

        Each grouping of the people shows the values of every group.
        """
        ways = list(orders(Counter(values)))

        def shown(groups: Sequence[Sequence[int]]) -> tuple[States, ...]:
            pieces: dict[Any, set[State]] = {}
            for way in ways:
                bags = tuple(
                    frozenset(Counter(way[person] for person in group).items()) for group in groups
                )
                pieces.setdefault(bags, set()).add(way)
            return tuple(map(frozenset, pieces.values()))

        return cls(tuple(ways), (*map(shown, groupings), (frozenset(ways),)))

    def seen(self, number: int, state: State) -> States:
        """The states that a schema does not tell from a state: its instance set."""
        return next(piece for piece in self.schemas[number - 1] if state in piece)

    @property
    def nested(self) -> bool:
        """Whether every piece lies in a piece of each later schema: set-monotone."""
        pairs = zip(self.schemas, self.schemas[1:], strict=False)
        return all(
            any(piece <= larger for larger in after) for before, after in pairs for piece in before
        )


@dataclass(frozen=True)
class Predicate:
    """Which sets of states are safe, and what is declared of that; `refuted` tries it.

    monotone: whatever contains a safe set is safe (set-monotone)
    split: easy-split: for a safe set and another, a largest safe part of both that leaves a safe
        rest, or no rest; empty if there is none. Largest means that no larger part contains it
    last: those states of the space for which no schema but the last could be safe are safe together
        (Tn-safe)
    """

    holds: Callable[[States], bool]
    monotone: bool = False
    split: Callable[[States, States], States] | None = None
    last: bool = False

    @classmethod
    def at_least(cls, size: int, last: bool = False) -> "Predicate":
        """Sets of that many states are safe."""
        least = whole(size, "size")

        def split(given: States, within: States) -> States:
            common = given & within
            beyond = len(given - within)
            taken = len(common) - (max(least - beyond, 0) if beyond else 0)
            return frozenset(sorted(common, key=repr)[:taken]) if taken >= least else frozenset()

        return cls(lambda some: len(some) >= least, True, split, last)

    @classmethod
    def everybody(cls, test: Callable[[Counter[Any]], bool]) -> "Predicate":
        """Where states are the values of people: the values that anybody may have pass a test.

        These are the values that they have in the states of a set.
        """

        def holds(some: States) -> bool:
            return bool(some) and all(test(Counter(values)) for values in zip(*some, strict=True))

        return cls(holds)

    def with_every_split(self) -> "Predicate":
        """The predicate with a split that tries all parts: right for any, easy for small spaces."""

        def split(given: States, within: States) -> States:
            return next(_splits(self.holds, given, within), frozenset())

        return replace(self, split=split)

    def refuted(self, space: Space) -> list[str]:
        """Which of the declared properties does not hold on a space, found by trying all sets."""
        if 1 << 2 * len(space.states) > LARGEST:
            raise TooLargeError(
                f"all sets of {len(space.states)} states are too many to try", "take at most 10"
            )
        wrong = []
        safe = [some for some in _parts(frozenset(space.states)) if self.holds(some)]
        larger = (some | {state} for some in safe for state in space.states)
        if self.monotone and not all(map(self.holds, larger)):
            wrong.append("monotone: a safe set lies in one that is not safe")
        pairs = ((some, part) for some in safe for part in _parts(some))
        if self.split and not all(self._splits_well(some, part) for some, part in pairs):
            wrong.append(
                "split: a part is not safe, leaves a rest that is not, or is not the largest"
            )
        if self.last and not self.holds(_without_choice(space, self)):
            wrong.append(
                "last: the states that only the last schema could hide are not safe together"
            )
        return wrong

    def _splits_well(self, given: States, within: States) -> bool:
        assert self.split is not None
        part = self.split(given, within)
        right = set(_splits(self.holds, given, within))
        if not right:
            return not part
        return part in right and not any(part < other for other in right)


@typed
def disclosed(space: Space, function: Function) -> dict[Any, States]:
    """For every state its disclosure set: states that look alike and show the same schema."""
    _require_defined(function, space.states)
    sets = {}
    for state in space.states:
        number = function[state]
        alike = space.seen(number, state)
        sets[state] = frozenset(other for other in alike if function[other] == number)
    return sets


def _require_defined(function: Function, states: Iterable[Any]) -> None:
    if not all(isinstance(function.get(state), int) for state in states):
        raise ParameterError(
            "a disclosure function gives the number of a schema for every state",
            "add those that are missing",
        )


def _lists_of_lists(schemas: Any) -> bool:
    """Whether these may be lists of pieces, each of which is a list."""
    return isinstance(schemas, Iterable) and all(
        isinstance(schema, Iterable) and all(isinstance(piece, Iterable) for piece in schema)
        for schema in schemas
    )


@typed
def is_safe(space: Space, function: Function, predicate: Predicate) -> bool:
    """Whether every disclosure set is safe: p-safe."""
    return all(map(predicate.holds, set(disclosed(space, function).values())))


@typed
def is_better(one: Function, other: Function) -> bool:
    """Whether a function is locally better than another.

    It shows an earlier schema for some state, and a later one for none.
    """
    _require_defined(one, other)
    _require_defined(other, one)
    return one != other and all(one[state] <= other[state] for state in other)


@typed
def is_optimal(space: Space, function: Function, predicate: Predicate) -> bool:
    """Whether a function is safe and no locally better one is: p-optimal. All of them are tried."""
    _require_defined(function, space.states)
    ways = prod(function[state] for state in space.states)
    if ways > LARGEST:
        raise TooLargeError(
            f"{ways:,} functions may be better, and at most {LARGEST:,} are tried",
            "take a smaller space",
        )
    if not is_safe(space, function, predicate):
        return False
    tried = product(*(range(1, function[state] + 1) for state in space.states))
    better = (dict(zip(space.states, numbers, strict=True)) for numbers in tried)
    return not any(is_safe(space, other, predicate) for other in better if other != function)


@typed
def optima(space: Space, predicate: Predicate) -> list[Function]:
    """All functions that are p-optimal, by trying all there are."""
    ways = len(space.schemas) ** len(space.states)
    if ways > LARGEST:
        raise TooLargeError(
            f"there are {ways:,} functions, and at most {LARGEST:,} are tried",
            "take a smaller space",
        )
    tried = product(range(1, len(space.schemas) + 1), repeat=len(space.states))
    functions = (dict(zip(space.states, numbers, strict=True)) for numbers in tried)
    safe = [function for function in functions if is_safe(space, function, predicate)]
    best: list[Function] = []
    # What is better has a smaller sum.
    for function in sorted(safe, key=lambda function: sum(function.values())):
        if not any(is_better(known, function) for known in best):
            best.append(function)
    return best


@typed
def traditional(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.1: the first schema under which what is seen is safe.

    What is disclosed need not be: for demonstration.
    """
    last = len(space.schemas)
    function = {}
    for state in space.states:
        safe = (number for number in range(1, last) if predicate.holds(space.seen(number, state)))
        function[state] = next(safe, last)
    return function


@typed
def backward(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.2, corrected: from the last schema to the first, split while all parts stay safe.

    Needs nested schemas and a predicate that is monotone and splits easily; the function is
    p-optimal. Every class of states with one disclosure set is split separately: what the paper
    prints splits all that is left at once, and may leave a state alone.
    """
    _require(space, predicate, "monotone", "split")
    if not space.nested:
        raise ParameterError(
            "the schemas are not nested, which going backward needs", "use `forward`"
        )
    split = predicate.split
    assert split is not None
    function = dict.fromkeys(space.states, len(space.schemas))
    classes = [frozenset(space.states)]
    for number in reversed(range(1, len(space.schemas))):
        moved: list[States] = []
        for rest in classes:
            for piece in space.schemas[number - 1]:
                part = split(rest, piece) if rest else rest
                if part:
                    moved.append(part)
                    function.update(dict.fromkeys(part, number))
                    rest = rest - part
        # What could not be split off here cannot be split off at finer schemas either.
        classes = moved
    return function


@typed
def forward(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.3, corrected: from first schema to last, show what is safe, then hide the rest.

    Needs a predicate that is monotone and splits easily. The states that are left at the end join
    some of the class that was formed last, and these together are shown under the first schema that
    does not part them. p-optimal for `at_least`.
    """
    _require(space, predicate, "monotone", "split")
    function, left, latest = _forward(space, predicate)
    if left:
        assert predicate.split is not None
        hidden = (left | latest) - predicate.split(left | latest, latest)
        first = next(
            number
            for number, schema in enumerate(space.schemas, 1)
            if any(hidden <= piece for piece in schema)
        )
        function.update(dict.fromkeys(hidden, first))
    return function


@typed
def forward_once(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.4: `forward` without its end; p-optimal.

    The end is not needed where the predicate is monotone and safe at `last`.
    """
    _require(space, predicate, "monotone", "last")
    return _forward(space, predicate)[0]


def _forward(space: Space, predicate: Predicate) -> tuple[dict[Any, int], States, States]:
    """The function, the states that are left, and the class that was formed last."""
    function = dict.fromkeys(space.states, len(space.schemas))
    left = latest = frozenset(space.states)
    for number, schema in enumerate(space.schemas, 1):
        for piece in schema:
            if predicate.holds(left & piece):
                latest = left & piece
                function.update(dict.fromkeys(latest, number))
                left -= latest
    return function, left, latest


def _require(space: Space, predicate: Predicate, *declared: str) -> None:
    """ParameterError if a predicate does not declare a property.

    InfeasibleError if not even the whole space is safe.
    """
    for name in declared:
        if not getattr(predicate, name):
            raise ParameterError(
                f"the predicate does not declare `{name}`, which this algorithm needs",
                "declare it where it holds: `Predicate.refuted` tries",
            )
    if not predicate.holds(frozenset(space.states)):
        raise InfeasibleError(
            "all states together are not safe, so that not even showing nothing is",
            "ask for less",
        )


def _without_choice(space: Space, predicate: Predicate) -> States:
    """The states of which no schema but the last is safe."""
    last = len(space.schemas)
    return frozenset(
        state
        for state in space.states
        if not any(predicate.holds(space.seen(number, state)) for number in range(1, last))
    )


def _parts(some: States) -> Iterator[States]:
    """All parts of a set, the largest first."""
    ordered = sorted(some, key=repr)
    return (
        frozenset(part)
        for size in range(len(ordered), -1, -1)
        for part in combinations(ordered, size)
    )


def _splits(holds: Callable[[States], bool], given: States, within: States) -> Iterator[States]:
    """All safe parts of both sets that leave a safe rest of the first, or none.

    The largest first.
    """
    return (
        part
        for part in _parts(given & within)
        if part and holds(part) and (part == given or holds(given - part))
    )


def orders(values: Counter[Any]) -> Iterator[tuple[Any, ...]]:
    """All different orders of some values."""
    if not values.total():
        yield ()
    for value in [value for value, often in values.items() if often]:
        values[value] -= 1
        for rest in orders(values):
            yield (value, *rest)
        values[value] += 1
