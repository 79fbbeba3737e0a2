"""Disclosure functions (Zhang, chapter 4): choose what to show so that the choice reveals no more.

`Disclosure` is the method for tables: generalisations along a path, chosen by a rule that never
looks at what stays hidden (`rules`). `spaces` has the general model, for state spaces small enough
to list. Proofs: docs/proofs/disclosure.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.arguments import described, keep, typed_but
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import HierarchyError, InfeasibleError, ParameterError, listed
from shoal.exact.numbers import whole
from shoal.lattice import Lattice, Node
from shoal.methods.disclosure.rules import descended, first_safe, require_alike
from shoal.methods.disclosure.spaces import (
    Predicate,
    Space,
    backward,
    disclosed,
    forward,
    forward_once,
    is_better,
    is_optimal,
    is_safe,
    optima,
    orders,
    traditional,
)
from shoal.methods.entry import AsViews, Entry, Guide
from shoal.methods.method import Progress, begin, conjunction, protected, short_names, syntactic
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    bound,
)
from shoal.privacy.promises import Coincidence, Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release
from shoal.zones import brief, owner_only

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

Rule = Literal["permutations", "first-safe"]
RULES: tuple[Rule, ...] = ("permutations", "first-safe")

Steps: TypeAlias = tuple[tuple[str, ...], ...]
"""The columns that go up one level, step by step."""

Ints = npt.NDArray[np.int64]

UNEVEN = (KAnonymity, DistinctDiversity, PSensitive, EntropyDiversity, RecursiveDiversity)
"""Models for which values that are less evenly spread are never better: the most frequent ones
together are the worst.
"""


@owner_only
@dataclass(frozen=True, kw_only=True)
class DisclosureFacts(Facts):
    """How many nodes the path has, and how many steps were taken along it."""

    nodes: int
    steps: int


@typed_but("path", "floor")
@brief
@dataclass(frozen=True, init=False)
class Disclosure:
    """One generalisation along a path, chosen so that what it shows is all that can be inferred.

    models: what every group must satisfy, such as "entropy 3-diversity of ill"
    path: steps from the finest table to the coarsest; each names the columns that go up one level;
        by default all columns in turn
    rule: "permutations" goes down the path as long as all parts of all groups are safe whoever has
        which of a group's values; "first-safe" goes up until all groups are safe, which is allowed
        only where all groups that merge are alike
    local: whether groups go down separately, parts that are too small staying behind together;
        for "permutations"
    floor: the levels where the path begins, 0 for columns that are not named
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used
    """

    models: tuple[Model, ...]
    path: Steps | None
    rule: Rule
    local: bool
    floor: Mapping[str, int]
    unit: str | None

    name: ClassVar[str] = "disclosure"

    def __init__(
        self,
        models: Sequence[Model | str],
        path: Sequence[str | Sequence[str]] | None = None,
        rule: Rule = "permutations",
        local: bool = False,
        floor: Mapping[str, int] | None = None,
        unit: str | None = None,
    ) -> None:
        floor = {} if floor is None else floor
        if not isinstance(floor, Mapping):
            raise ParameterError(
                f"is {described(floor)}",
                "give levels by column, such as {'age': 1}",
                option="floor",
            )
        if rule not in RULES:
            raise ParameterError(
                "is unknown", f"known are {listed(RULES)}", option="rule", given=repr(rule)
            )
        if local and rule != "permutations":
            raise ParameterError(
                "goes with the rule 'permutations' only", "leave it out", option="local"
            )
        keep(
            self,
            models=conjunction(models),
            path=None if path is None else _steps(path),
            rule=rule,
            local=local,
            floor={name: whole(level, f"floor of {name!r}", 0) for name, level in floor.items()},
            unit=unit,
        )
        for model in self.models:
            self._require_usable(model)

    def _require_usable(self, model: Model) -> None:
        """ParameterError if the rule cannot decide by a model."""
        if isinstance(model, DeltaPresence):
            raise ParameterError(
                "presence is about who is in the table, which everyone may know here",
                "take models of values",
            )
        if self.rule == "permutations" and not isinstance(model, UNEVEN):
            raise ParameterError(
                f"{short_names([model])[0]} depends on which values there are, not only on how "
                "often each occurs, so that the worst part of a group is not the one with its most "
                "frequent values",
                "take diversity, or the method 'coincident'",
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
        lattice = Lattice(table.count([*table.quasi, *protected(method.models)]), hierarchies)
        place = method._places(lattice, path, job.progress)
        if (place == len(path)).any():
            raise _refusal(path[-1] == tuple(tree.height for tree in hierarchies.values()))
        last = int(place.max(initial=0))
        levels = {} if self.local else dict(zip(lattice.names, path[last], strict=True))
        rows = table.count(released(table), dict.fromkeys(table.quasi, 0))
        labels = _labelled(rows, lattice, path, place)
        certificate = certify(table, method, job.promise, job.chance, levels=levels, whole=True)
        facts = DisclosureFacts(records=table.rows, nodes=len(path), steps=last)
        return Release(lay_out(table, labels, rows), certificate, facts)

    def _places(self, lattice: Lattice, path: Sequence[Node], progress: Progress) -> Ints:
        """For every group of the finest node its place in the path, by the rule."""
        finest = lattice.groups(path[0])
        together = np.zeros(len(finest.sizes), dtype=np.int64)
        if self.rule == "permutations":
            tied = None if self.local else together
            return descended(lattice, path, self.models, tied, progress)
        require_alike(lattice, path)
        return first_safe(lattice, path, self.models, together, progress)

    def _nodes(self, trees: Mapping[str, Hierarchy]) -> list[Node]:
        """The nodes of the path, the finest first."""
        levels = {name: self.floor.get(name, 0) for name in trees}
        for name, tree in trees.items():
            if levels[name] > tree.height:
                raise ParameterError(
                    f"is above the hierarchy of {name!r}",
                    f"that has levels 0 to {tree.height}",
                    option="floor",
                )
        steps = _in_turn(levels, trees) if self.path is None else self.path
        unknown = sorted({*self.floor, *chain.from_iterable(steps)} - trees.keys())
        if unknown:
            raise ParameterError(
                f"the path or `floor` names {listed(unknown)}, which are not quasi-identifying "
                "columns",
                f"name some of {listed(trees)}",
            )
        nodes = [tuple(levels.values())]
        for step in steps:
            for name in step:
                levels[name] += 1
            nodes.append(tuple(levels.values()))
        for name, tree in trees.items():
            if levels[name] > tree.height:
                raise ParameterError(
                    f"leaves the hierarchy of {name!r}, which has levels 0 to {tree.height}",
                    "take fewer steps",
                    option="path",
                )
        return nodes


def _refusal(at_roots: bool) -> InfeasibleError:
    """Why nothing can be released, and that this is a secret."""
    fix = (
        "let the path take more steps, or ask for less. Keep this refusal secret: it reveals who "
        "has which value"
    )
    if at_roots:
        fix = (
            "ask for less. Keep this refusal secret if you try again: it reveals information "
            "about the values"
        )
    return InfeasibleError(
        "nothing can be released: not even the coarsest table of the path satisfies the models", fix
    )


def _steps(path: Sequence[str | Sequence[str]]) -> Steps:
    """The columns of every step."""
    if isinstance(path, Sequence) and not isinstance(path, str):
        steps = [(step,) if isinstance(step, str) else step for step in path]
        if all(map(_is_names, steps)):
            return tuple(map(tuple, steps))
    raise ParameterError(
        "is not a list of steps",
        "give for each the name of a column, or a list of names",
        option="path",
    )


def _is_names(step: object) -> bool:
    return isinstance(step, Sequence) and all(isinstance(name, str) for name in step)


def _in_turn(levels: Mapping[str, int], trees: Mapping[str, Hierarchy]) -> Steps:
    """Steps to the root, one column after the other.

    The one that is lowest, as a share of its height, comes next.
    """
    every = [
        (Fraction(at, tree.height), place, name)
        for place, (name, tree) in enumerate(trees.items())
        for at in range(levels[name], tree.height)
    ]
    return tuple((name,) for _, _, name in sorted(every))


def _labelled(
    rows: Counts, lattice: Lattice, path: Sequence[Node], place: Ints
) -> dict[str, tuple[list[str], Ints]]:
    """For every quasi-identifying column the texts shown, and every row's number among them."""
    trees = list(zip(lattice.names, lattice.hierarchies, strict=True))
    at_finest = [
        tree.maps[level][rows.column(name)]
        for (name, tree), level in zip(trees, path[0], strict=True)
    ]
    at = place[lattice.groups(path[0]).find(at_finest)]
    used = np.unique(place).tolist()
    shown: dict[str, tuple[list[str], Ints]] = {}
    for column, (name, tree) in enumerate(trees):
        texts: dict[str, int] = {}
        numbers = np.zeros((tree.height + 1, len(tree.maps[0])), dtype=np.int64)
        for level in sorted({path[step][column] for step in used}):
            labels = [texts.setdefault(label, len(texts)) for label in tree.labels[level]]
            numbers[level] = np.array(labels)[tree.maps[level]]
        levels = np.array([node[column] for node in path])[at]
        shown[name] = list(texts), numbers[levels, rows.column(name)]
    return shown


def _require_own_texts(name: str, tree: Hierarchy) -> None:
    """HierarchyError if a text of a hierarchy stands for different leaves at different levels.

    Then groups could look alike.
    """
    stands: dict[str, tuple[int, int]] = {}
    for labels, codes in zip(tree.labels, tree.maps, strict=True):
        # Leaves of a code follow each other.
        _, first, number = np.unique(codes, return_index=True, return_counts=True)
        leaves = zip(first.tolist(), number.tolist(), strict=True)
        for label, own in zip(labels, leaves, strict=True):
            if stands.setdefault(label, own) != own:
                raise HierarchyError(
                    f"the hierarchy of column {name!r} has {label!r} at two levels for different "
                    "values, so groups that go down separately could not be told apart",
                    "give different things different names, or leave out `local`",
                )


ENTRY = Entry(
    method=Disclosure,
    summary="one table of a path, the choice of which reveals nothing",
    draft=(
        'models = ["?"]  # such as "2-diversity of NAME"',
        "local = false  # true: each group goes down the path separately",
        "# path = [NAME, [NAME, NAME]]  # which columns go up a level, step by step",
    ),
    guide=Guide(
        need="Membership is public, l-diversity must hold, and no record may be missing",
        promise=(
            "Your group shows all that can be inferred about your value; that this table was "
            "chosen reveals nothing."
        ),
        cost="The coarsest table of all: it is safe in the worst case",
        leaves_open="Membership; whoever knows others' values may infer more",
        example="A trial with few columns",
    ),
    as_views=AsViews(),
    proof="disclosure",
)
