"""Disclosure functions (Zhang, chapter 4): choose what to show so that the choice itself tells
nothing more.

First the general model, for state spaces small enough to list: a `Space` of states with candidate
schemas, a `Predicate` that says which sets of states are safe, what a function from states to
schemas discloses, and the algorithms 4.1 to 4.4, corrected. Then `Disclosure`, the method for
tables: generalisations along a path, chosen by a rule that never looks at what stays hidden. Uses
`counts` and `privacy.models`. Proofs: docs/proofs/disclosure.md.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed, typed_but
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.tables import Role, Table
from shoal.errors import (
    HierarchyError,
    InfeasibleError,
    InputError,
    ParameterError,
    TooLargeError,
    listed,
)
from shoal.exact.numbers import whole
from shoal.lattice import Groups, Histogram, Lattice, Node
from shoal.methods import Progress, Schema, begin, conjunction, short_names, silent, syntactic
from shoal.methods.entry import AsViews, Entry
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    bound,
    holds_all,
)
from shoal.privacy.promises import Coincidence, Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = [
    "Disclosure",
    "Predicate",
    "Space",
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

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


# Spaces that can be listed


@dataclass(frozen=True)
class Space:
    """All states that are possible, and the candidate schemas T1 to Tn, most useful first:
    partitions of the states.

    The last one is the whole space in one piece: nothing is shown.

    >>> Space("abc", (["ab", "c"], ["abc"])).seen(1, "a") == {"a", "b"}
    True
    """

    states: tuple[Any, ...]
    schemas: tuple[tuple[States, ...], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.states, Iterable) or not _lists_of_lists(self.schemas):
            raise ParameterError(
                "a space has a list of states, and for every schema a list of pieces, which are lists of states"
            )
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(
            self, "schemas", tuple(tuple(map(frozenset, schema)) for schema in self.schemas)
        )
        everything = Counter(self.states)
        if not everything or everything.total() > len(everything):
            raise ParameterError("a space has one state or more, each once")
        for number, schema in enumerate(self.schemas, 1):
            if Counter(chain.from_iterable(schema)) != everything:
                raise ParameterError(
                    f"schema T{number} is no partition of the states; put each into one piece"
                )
        if not self.schemas or len(self.schemas[-1]) != 1:
            raise ParameterError(
                "the last schema must be one piece with all states, as nothing may be shown then"
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
        """Whether every piece lies in a piece of each later schema: the sequence is set-monotone."""
        pairs = zip(self.schemas, self.schemas[1:], strict=False)
        return all(
            any(piece <= larger for larger in after) for before, after in pairs for piece in before
        )


@dataclass(frozen=True)
class Predicate:
    """Which sets of states are safe, and what is said of that; `refuted` tells where it is not so.

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
        """Sets of so many states are safe."""
        least = whole(size, "size")

        def split(given: States, within: States) -> States:
            common, beyond = given & within, len(given - within)
            taken = len(common) - (max(least - beyond, 0) if beyond else 0)
            return frozenset(sorted(common, key=repr)[:taken]) if taken >= least else frozenset()

        return cls(lambda some: len(some) >= least, True, split, last)

    @classmethod
    def everybody(cls, test: Callable[[Counter[Any]], bool]) -> "Predicate":
        """Where states are the values of people: the values that anybody has in the states of a set
        pass a test.
        """
        return cls(
            lambda some: (
                bool(some) and all(test(Counter(values)) for values in zip(*some, strict=True))
            )
        )

    def with_every_split(self) -> "Predicate":
        """The predicate with a split that tries all parts: right for any, and easy for small spaces
        only.
        """
        return replace(
            self, split=lambda given, within: next(_splits(self.holds, given, within), frozenset())
        )

    def refuted(self, space: Space) -> list[str]:
        """Which of the declared properties does not hold on a space, found by trying all sets."""
        if 1 << 2 * len(space.states) > LARGEST:
            raise TooLargeError(
                f"all sets of {len(space.states)} states are too many to try; take at most 10"
            )
        wrong, every = [], list(_parts(frozenset(space.states)))
        if self.monotone and any(
            self.holds(some) and not self.holds(some | {state})
            for some in every
            for state in space.states
        ):
            wrong.append("monotone: a safe set lies in one that is not safe")
        if self.split and not all(
            self._splits_well(some, part)
            for some in every
            if self.holds(some)
            for part in _parts(some)
        ):
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
        found, right = self.split(given, within), set(_splits(self.holds, given, within))
        return found in right and not any(found < other for other in right) if right else not found


@owner_only
@dataclass(frozen=True, kw_only=True)
class DisclosureFacts(Facts):
    """How many nodes the path has, and how many steps were taken along it."""

    nodes: int
    steps: int


@typed
def disclosed(space: Space, function: Function) -> dict[Any, States]:
    """For every state its disclosure set: the states that look alike and for which the same schema
    is shown.
    """
    _require_defined(function, space.states)
    return {
        state: frozenset(
            other
            for other in space.seen(function[state], state)
            if function[other] == function[state]
        )
        for state in space.states
    }


def _require_defined(function: Function, states: Iterable[Any]) -> None:
    if not all(isinstance(function.get(state), int) for state in states):
        raise ParameterError(
            "a disclosure function gives the number of a schema for every state; this one lacks some"
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
    """Whether one function shows an earlier schema than another for some state, and a later one for
    none: locally better.
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
            f"{ways:,} functions may be better, and at most {LARGEST:,} are tried; take a smaller space"
        )
    tried = product(*(range(1, function[state] + 1) for state in space.states))
    better = (dict(zip(space.states, numbers, strict=True)) for numbers in tried)
    return is_safe(space, function, predicate) and not any(
        is_safe(space, one, predicate) for one in better if one != function
    )


@typed
def optima(space: Space, predicate: Predicate) -> list[Function]:
    """All functions that are p-optimal, by trying all there are."""
    if (ways := len(space.schemas) ** len(space.states)) > LARGEST:
        raise TooLargeError(
            f"there are {ways:,} functions, and at most {LARGEST:,} are tried; take a smaller space"
        )
    tried = product(range(1, len(space.schemas) + 1), repeat=len(space.states))
    safe = [
        one
        for one in (dict(zip(space.states, way, strict=True)) for way in tried)
        if is_safe(space, one, predicate)
    ]
    found: list[Function] = []
    for one in sorted(safe, key=lambda one: sum(one.values())):  # what is better has a smaller sum
        if not any(is_better(best, one) for best in found):
            found.append(one)
    return found


@typed
def traditional(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.1: the first schema under which what is seen is safe.

    What is disclosed need not be: for demonstration.
    """
    last = len(space.schemas)
    return {
        state: next(
            (number for number in range(1, last) if predicate.holds(space.seen(number, state))),
            last,
        )
        for state in space.states
    }


@typed
def backward(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.2, corrected: from the last schema to the first, split what is disclosed as long
    as all parts stay safe.

    Needs nested schemas and a predicate that is monotone and splits easily; the function is
    p-optimal. Every class of states with one disclosure set is split by itself: what the paper
    prints splits all that is left at once, and may leave a state alone.
    """
    _require(space, predicate, "monotone", "split")
    if not space.nested:
        raise ParameterError(
            "the schemas are not nested, which going backward needs; use `forward`"
        )
    split = predicate.split
    assert split is not None
    function = dict.fromkeys(space.states, len(space.schemas))
    classes = [frozenset(space.states)]
    for number in reversed(range(1, len(space.schemas))):
        moved: list[States] = []
        for rest in classes:
            for piece in space.schemas[number - 1]:
                if part := split(rest, piece) if rest else rest:
                    moved.append(part)
                    function.update(dict.fromkeys(part, number))
                    rest = rest - part
        classes = (
            moved  # what could not be split off here cannot be split off at finer schemas either
        )
    return function


@typed
def forward(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.3, corrected: from the first schema to the last, show what is safe of what is
    left; then hide the rest.

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
    """Algorithm 4.4: `forward` without its end, not needed where the predicate is monotone and safe
    at `last`. p-optimal.
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
    """ParameterError if a predicate does not declare a property, or finds not even the whole space
    safe.
    """
    for name in declared:
        if not getattr(predicate, name):
            raise ParameterError(
                f"the predicate does not declare `{name}`, which this algorithm needs; see `Predicate.refuted`"
            )
    if not predicate.holds(frozenset(space.states)):
        raise InfeasibleError(
            "all states together are not safe, so nothing is, not even to show nothing; ask for less"
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


# Tables


Rule = Literal["permutations", "first-safe"]
RULES: tuple[Rule, ...] = ("permutations", "first-safe")

UNEVEN = (KAnonymity, DistinctDiversity, PSensitive, EntropyDiversity, RecursiveDiversity)
"""Models for which values that are less evenly spread are never better: the most frequent ones
together are the worst.
"""


@typed_but("path", "floor")
@dataclass(frozen=True)
class Disclosure:
    """One of the generalisations along a path, chosen so that what it shows is all that can be
    inferred.

    models: what every group must satisfy, such as "entropy 3-diversity of ill"
    path: steps from the finest table to the coarsest; each names the columns that go up one level.
    By itself all columns in turn
    rule: "permutations" goes down the path as long as all parts of all groups are safe whoever has
        which of a group's values; "first-safe" goes up until all groups are safe, which is allowed
        only where all groups that merge are alike
    local: whether groups go down by themselves, parts that are too small staying behind together;
    for "permutations"
    floor: the levels where the path begins, 0 for columns that are not named
    unit: the identifying column that tells whose rows belong together; one row of each person is
    drawn, and only that is used
    """

    models: tuple[Model, ...]
    path: Sequence[str | Sequence[str]] | None = None
    rule: Rule = "permutations"
    local: bool = False
    floor: Mapping[str, int] = field(default_factory=dict)
    unit: str | None = None

    name: ClassVar[str] = "disclosure"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", conjunction(self.models))
        if self.path is not None:
            object.__setattr__(self, "path", _steps(self.path))
        if not isinstance(self.floor, Mapping):
            raise ParameterError("`floor` has levels by columns, such as {'age': 1}")
        for name, level in self.floor.items():
            whole(level, f"floor of {name!r}", 0)
        if self.rule not in RULES:
            raise ParameterError(f"rule={self.rule!r} is unknown; known are {listed(RULES)}")
        if self.local and self.rule != "permutations":
            raise ParameterError(
                "groups go by themselves under the rule 'permutations' only; leave out `local`"
            )
        for model in self.models:
            if isinstance(model, DeltaPresence):
                raise ParameterError(
                    "presence is about who is in the table, which everyone may know here; take models of values"
                )
            if self.rule == "permutations" and not isinstance(model, UNEVEN):
                raise ParameterError(
                    f"{short_names([model])[0]} depends on which values they are, not only on how often, so that the worst part "
                    "of a group is not the one with its most frequent values; take diversity, or the method 'coincident'"
                )

    def promise(self, schema: Schema) -> Promise:
        """That the models hold of what can be inferred, not only of what is seen."""
        syntactic(self.models, schema, self.unit)
        trees = {name: schema.public(name) for name in schema.having(Role.QUASI)}
        self._nodes(trees)
        if self.local:
            for name, tree in trees.items():
                _require_own_texts(name, tree)
        # By permutations within groups, nothing is merged because of who has which value.
        merged = self.rule != "permutations"
        return Coincidence(short_names(self.models), self.unit, merged)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table at the node that the rule chooses, or groups at one each.

        InfeasibleError if the coarsest are not safe.
        """
        job = begin(self, table, chance, progress)
        table = job.table
        method = replace(self, models=tuple(bound(model, table) for model in self.models))
        hierarchies = {name: table.hierarchy(name) for name in table.quasi}
        path = self._nodes(hierarchies)
        needed = sorted({column for model in method.models for column in model.columns})
        lattice = Lattice(table.count([*table.quasi, *needed]), hierarchies)
        finest = lattice.groups(path[0])
        together = None if self.local else np.zeros(len(finest.sizes), dtype=np.int64)
        if self.rule == "permutations":
            place = descended(lattice, path, method.models, together, job.progress)
        else:
            assert together is not None
            require_alike(lattice, path)
            place = first_safe(lattice, path, method.models, together, job.progress)
        if (place == len(path)).any():
            roots = path[-1] == tuple(tree.height for tree in hierarchies.values())
            raise InfeasibleError(
                "nothing can be released: not even the coarsest table of the path satisfies the models; "
                + ("ask for less" if roots else "let the path take more steps, or ask for less")
                + ". Keep this refusal secret"
                + (
                    " if you try again: that there was one tells about the values"
                    if roots
                    else ": it tells who has which value"
                )
            )
        node = None if self.local else path[int(place.max(initial=0))]
        rows = table.count(released(table), dict.fromkeys(table.quasi, 0))
        return Release(
            lay_out(table, _labelled(rows, lattice, path, place, finest), rows),
            certify(
                table,
                method,
                job.promise,
                job.chance,
                levels=dict(zip(lattice.names, node, strict=True)) if node else {},
                whole=True,
            ),
            DisclosureFacts(records=table.rows, nodes=len(path), steps=int(place.max(initial=0))),
        )

    def _nodes(self, trees: Mapping[str, Hierarchy]) -> list[Node]:
        """The nodes of the path, the finest first."""
        levels = {name: self.floor.get(name, 0) for name in trees}
        steps = _in_turn(levels, trees) if self.path is None else _steps(self.path)
        if unknown := sorted({*self.floor, *chain.from_iterable(steps)} - trees.keys()):
            raise ParameterError(
                f"the path or `floor` names {listed(unknown)}, which are no quasi-identifying columns"
            )
        if high := [name for name, tree in trees.items() if levels[name] > tree.height]:
            raise ParameterError(
                f"`floor` of {high[0]!r} is above its hierarchy, which has levels 0 to {trees[high[0]].height}"
            )
        nodes = [tuple(levels.values())]
        for step in steps:
            for name in step:
                levels[name] += 1
            nodes.append(tuple(levels.values()))
        for name, tree in trees.items():
            if levels[name] > tree.height:
                raise ParameterError(
                    f"the path leaves the hierarchy of {name!r}, which has levels 0 to {tree.height}; take fewer steps"
                )
        return nodes


def _steps(path: Sequence[str | Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The columns of every step."""
    several = not isinstance(path, str) and isinstance(path, Sequence)
    steps = [(step,) if isinstance(step, str) else step for step in path] if several else [None]
    if not all(
        isinstance(step, Sequence) and all(isinstance(name, str) for name in step) for step in steps
    ):
        raise ParameterError(
            "`path` is a list of steps, each the name of a column or a list of names"
        )
    return tuple(map(tuple, steps))  # type: ignore[arg-type]


def _in_turn(levels: Mapping[str, int], trees: Mapping[str, Hierarchy]) -> list[tuple[str]]:
    """Steps to the root, one column after the other: the one that is lowest, as a share of its
    height, comes next.
    """
    every = [
        (Fraction(at, tree.height), place, name)
        for place, (name, tree) in enumerate(trees.items())
        for at in range(levels[name], tree.height)
    ]
    return [(name,) for _, _, name in sorted(every)]


def descended(
    lattice: Lattice,
    path: Sequence[Node],
    models: Sequence[Model],
    together: Ints | None,
    progress: Progress = silent,
) -> Ints:
    """The rule PERM: for every group of the finest node its place in the path, which is past its
    end if nothing may be shown.

    All begin at the coarsest node. A part of a group goes down if it is safe whatever values of the
    group it has, and so is what stays behind. Those that `together` gives one number go down only
    if all of them do. So each decision looks at nothing but what is shown in the end, and all ways
    to give out the values of a released group lead to the same release.
    """
    finest, groups, last = lattice.groups(path[0]), lattice.groups(path[-1]), len(path) - 1
    place = np.where(holds_all(models, groups)[_parents(groups, finest)], last, len(path))
    for at in range(last, 0, -1):
        progress(last - at, last, "going down the path")
        finer = lattice.groups(path[at - 1])
        goes = _leaving(groups, finer, models)[_parents(finer, finest)] & (place == at)
        if together is not None:
            goes &= np.bincount(together, ~goes, len(goes))[together] == 0
        place[goes] = at - 1
        groups = finer
    progress(last, last, "going down the path")
    return place


def _leaving(groups: Groups, finer: Groups, models: Sequence[Model]) -> Bools:
    """Which parts of groups can be shown by themselves, so that what stays behind of their group is
    safe as well.
    """
    parent, number = _parents(groups, finer), len(groups.sizes)
    goes = _safe(groups, parent, finer.sizes, models)
    behind = np.bincount(parent, np.where(goes, 0, finer.sizes), number).astype(np.int64)
    few = np.flatnonzero(behind)
    few = few[~_safe(groups, few, behind[few], models)]
    # The smallest part that could go stays with them: as it is large enough by itself, so are they
    # all.
    order = np.lexsort((finer.sizes, ~goes, parent))
    goes[order[np.searchsorted(parent[order], few)]] = False
    return goes


def _safe(groups: Groups, of: Ints, sizes: Ints, models: Sequence[Model]) -> Bools:
    """Whether parts of some groups, with so many records, are safe whichever of their group's
    values they have.

    Those with the most frequent values are spread least evenly, which is the worst that can be.
    """
    safe = np.ones(len(of), dtype=np.bool_)
    for model in models:
        safe &= model.holds(_MostFrequent(groups, of, sizes, model.columns))
    return safe


class _MostFrequent(Groups):
    """Parts of groups with so many records, the most frequent values of a column in them.

    Values are numbered by frequency.
    """

    def __init__(self, groups: Groups, of: Ints, sizes: Ints, columns: tuple[str, ...]) -> None:
        self.sizes = sizes
        if columns:
            found = groups.histogram(columns[0])
            often = found.count[np.lexsort((-found.count, found.group))]
            starts = np.searchsorted(found.group, np.arange(found.groups + 1))
            length = np.diff(starts)[of]
            own, first = np.repeat(np.arange(len(of)), length), np.cumsum(length) - length
            rank = np.arange(len(own)) - first[own]
            often = often[starts[of][own] + rank]
            before = np.cumsum(often) - often
            taken = np.clip(sizes[own] - (before - before[first[own]]), 0, often)
            some = taken > 0
            self._found = Histogram(own[some], rank[some], taken[some], len(of), found.values)

    def histogram(self, name: str) -> Histogram:
        return self._found


def first_safe(
    lattice: Lattice,
    path: Sequence[Node],
    models: Sequence[Model],
    together: Ints,
    progress: Progress = silent,
) -> Ints:
    """The rule first-safe: for every group of the finest node the first place in the path at which
    all groups are safe.

    That is, all of those that `together` gives the same number; past the end of the path if there
    is none.
    """
    finest = lattice.groups(path[0])
    place = np.full(len(finest.sizes), len(path))
    for at in reversed(range(len(path))):
        progress(len(path) - at, len(path), "testing the path")
        groups = lattice.groups(path[at])
        failing = ~holds_all(models, groups)[_parents(groups, finest)]
        place[np.bincount(together, failing, len(place))[together] == 0] = at
    return place


def require_alike(lattice: Lattice, path: Sequence[Node]) -> None:
    """InputError unless at every step the groups that become one have the same size and merged in
    the same way before.

    Looks at quasi-identifying values alone, which are public here.
    """
    groups = lattice.groups(path[0])
    form = groups.sizes
    for step, node in enumerate(path[1:], 1):
        coarser = lattice.groups(node)
        parent = _parents(coarser, groups)
        one = np.zeros(len(coarser.sizes), dtype=np.int64)
        one[parent] = form
        if (one[parent] != form).any():
            raise InputError(
                f"step {step} of the path merges groups that are not alike in size and in how they merged before; then that a "
                "finer table was not released tells about people. Take the rule 'permutations', or other steps"
            )
        number = np.bincount(parent, minlength=len(one))
        form = np.unique(np.stack([one, number]), axis=1, return_inverse=True)[1].reshape(-1)
        groups = coarser


def _parents(coarser: Groups, finer: Groups) -> Ints:
    """For every group of a finer node its group at a coarser one."""
    parent = np.zeros(len(finer.sizes), dtype=np.int64)
    parent[finer.rows] = coarser.rows
    return parent


def _labelled(
    rows: Counts, lattice: Lattice, path: Sequence[Node], place: Ints, finest: Groups
) -> dict[str, tuple[list[str], Ints]]:
    """For every quasi-identifying column the texts that are shown, and every distinct row's number
    among them.
    """
    trees = list(zip(lattice.names, lattice.hierarchies, strict=True))
    at = place[
        finest.find(
            [
                tree.maps[level][rows.column(name)]
                for (name, tree), level in zip(trees, path[0], strict=True)
            ]
        )
    ]
    shown: dict[str, tuple[list[str], Ints]] = {}
    for column, (name, tree) in enumerate(trees):
        texts: dict[str, int] = {}
        numbers = np.zeros((tree.height + 1, len(tree.maps[0])), dtype=np.int64)
        for level in sorted({path[step][column] for step in np.unique(place).tolist()}):
            numbers[level] = np.array(
                [texts.setdefault(label, len(texts)) for label in tree.labels[level]]
            )[tree.maps[level]]
        shown[name] = (
            list(texts),
            numbers[np.array([node[column] for node in path])[at], rows.column(name)],
        )
    return shown


def _require_own_texts(name: str, tree: Hierarchy) -> None:
    """HierarchyError if one text of a hierarchy stands for different leaves at different levels:
    groups could look alike.
    """
    stands: dict[str, tuple[int, int]] = {}
    for labels, codes in zip(tree.labels, tree.maps, strict=True):
        first, number = np.unique(codes, return_index=True, return_counts=True)[
            1:
        ]  # leaves of a code follow each other
        for label, own in zip(
            labels, zip(first.tolist(), number.tolist(), strict=True), strict=True
        ):
            if stands.setdefault(label, own) != own:
                raise HierarchyError(
                    f"the hierarchy of column {name!r} has {label!r} at two levels for different values; where groups go down by "
                    "themselves they could not be told apart. Give different things different names, or leave out `local`"
                )


ENTRY = Entry(
    method=Disclosure,
    summary="one table of a path, the choice of which reveals nothing",
    draft=(
        'models = ["?"]  # such as "2-diversity of NAME"',
        "local = false  # true: every group goes down the path by itself",
        "# path = [NAME, [NAME, NAME]]  # which columns go up a level, step by step",
    ),
    as_views=AsViews(),
    proof="disclosure",
)
