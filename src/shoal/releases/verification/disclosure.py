"""The check of disclosure functions: is the table of the path, and was every step to it safe?

Uses `labels` and `models`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import listed
from shoal.privacy.promises import Coincidence
from shoal.releases.verification.claims import Claims, is_name_list
from shoal.releases.verification.labels import canonical
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.models import (
    GroupModel,
    PresenceBounds,
    ReleasedGroups,
    WorstParts,
)
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.rows import column_of
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]

Node = dict[str, int]
"""A level for every column."""

_NOT_OF_PATH = "the levels are not of the path"


@dataclass(frozen=True)
class DisclosureClaim:
    """What a certificate of disclosure functions says."""

    claims: Claims
    permutations: bool
    """By the rule of permutations, or else by the first safe table."""

    rule: str
    local: bool
    """Whether groups have levels of their own."""

    floor: Mapping[str, int]
    steps: tuple[tuple[str, ...], ...] | None
    """The columns that go up a level in every step; None if heights decide."""

    @property
    def models(self) -> list[GroupModel | None]:
        return [model.model for model in self.claims.models]

    def path(self, trees: Mapping[str, Hierarchy]) -> list[Node]:
        """The levels of every table of the path, the finest first."""
        quasi = self.claims.quasi
        nodes = [{name: self.floor.get(name, 0) for name in quasi}]
        steps = self.steps
        if steps is None:
            steps = self._steps_by_height(nodes[0], trees)
        for step in steps:
            nodes.append({name: level + step.count(name) for name, level in nodes[-1].items()})
        return nodes

    def _steps_by_height(
        self, start: Node, trees: Mapping[str, Hierarchy]
    ) -> tuple[tuple[str, ...], ...]:
        """Always the column that is lowest in its hierarchy goes up."""
        turns = []
        for place, name in enumerate(self.claims.quasi):
            height = trees[name].height
            turns += [
                (Fraction(level, height), place, name) for level in range(start[name], height)
            ]
        return tuple((name,) for _, _, name in sorted(turns))


def parse(claims: Claims) -> DisclosureClaim:
    given = claims.parameters
    rule = given.text("rule")
    steps = given.part["path"]
    if steps is not None:
        given.require(is_name_list, "path")
        steps = tuple(map(tuple, steps))
    return DisclosureClaim(
        claims,
        permutations=rule == "permutations",
        rule=rule,
        local=given.flag("local"),
        floor=given.levels("floor"),
        steps=steps,
    )


def derivation(record: DisclosureClaim) -> Iterator[str]:
    quasi = record.claims.quasi
    levels = record.claims.levels
    if not _parameters_fit(record):
        yield NOT_TAKEN
    if levels.keys() != (set() if record.local else set(quasi)):
        yield "levels are named for groups that have their own, or not for all columns"
    elif not record.local and record.steps is not None and levels not in record.path({}):
        yield _NOT_OF_PATH


def _parameters_fit(record: DisclosureClaim) -> bool:
    if record.rule not in ("permutations", "first-safe"):
        return False
    if record.local and not record.permutations:
        return False
    named = set(record.floor)
    for step in record.steps or ():
        named.update(step)
    if not named <= set(record.claims.quasi):
        return False
    if any(isinstance(model, PresenceBounds) for model in record.models):
        return False
    of_groups_alone = [model is not None and model.of_groups_alone for model in record.models]
    return not record.permutations or all(of_groups_alone)


# The table


def released(record: DisclosureClaim, tables: ReleasedTables) -> Iterator[str]:
    """With all hierarchies: whether the table is of the path, and every step to it was safe."""
    trees = tables.quasi_trees
    levels = record.claims.levels
    if not tables.table.rows or set(trees) != set(record.claims.quasi):
        return
    path = record.path(trees)
    too_high = any(level > trees[name].height for name, level in path[-1].items())
    if too_high or (levels and levels not in path):
        yield _NOT_OF_PATH
        return
    if record.permutations:
        yield from _step_faults(record, Descent(tables, path))


@dataclass(frozen=True)
class Descent:
    """The groups of a released table, on the path from its last table down to each of them."""

    tables: ReleasedTables
    path: list[Node]

    @cached_property
    def groups(self) -> ReleasedGroups:
        return self.tables.groups

    @cached_property
    def _quasi(self) -> list[str]:
        return self.tables.claims.quasi

    @cached_property
    def _labels(self) -> list[list[list[str]]]:
        """For every column and table of the path, the labels of its level."""
        labels = []
        for name in self._quasi:
            tree = self.tables.quasi_trees[name]
            kind = self.tables.claims.kind(name)
            by_level = [[canonical(label, kind) for label in level] for level in tree.labels]
            labels.append([by_level[node[name]] for node in self.path])
        return labels

    @cached_property
    def group_texts(self) -> list[list[str]]:
        """What every group shows."""
        columns = [column_of(self.tables.table, name) for name in self._quasi]
        kinds = [self.tables.claims.kind(name) for name in self._quasi]
        first_rows = np.unique(self.groups.rows, return_index=True)[1]
        return [
            [
                canonical(column.keys[column.codes[row]], kind)
                for column, kind in zip(columns, kinds, strict=True)
            ]
            for row in first_rows.tolist()
        ]

    @cached_property
    def places(self) -> list[int]:
        """The last table of the path that has what a group shows, -1 if none has."""
        return [self._place(texts) for texts in self.group_texts]

    def _place(self, texts: list[str]) -> int:
        levels = self.tables.claims.levels
        for place in range(len(self.path) - 1, -1, -1):
            if levels and levels != self.path[place]:
                continue
            if all(text in labels[place] for text, labels in zip(texts, self._labels, strict=True)):
                return place
        return -1

    @cached_property
    def _leaves(self) -> list[list[int]]:
        """Some leaf of every column that a group shows."""
        return [
            [self._leaf(column, place, text) for column, text in enumerate(texts)]
            for place, texts in zip(self.places, self.group_texts, strict=True)
        ]

    def _leaf(self, column: int, place: int, text: str) -> int:
        code = self._labels[column][place].index(text)
        return int(np.argmax(self._codes_of_leaves(column, place) == code))

    def _codes_of_leaves(self, column: int, place: int) -> npt.NDArray[Any]:
        name = self._quasi[column]
        return self.tables.quasi_trees[name].maps[self.path[place][name]]

    def codes(self, group: int, place: int) -> tuple[int, ...]:
        """What a group would show in a table of the path that is above its own."""
        return tuple(
            int(self._codes_of_leaves(column, place)[leaf])
            for column, leaf in enumerate(self._leaves[group])
        )

    def parts(self, place: int) -> WorstParts:
        """What the groups of a table of the path become one step down, by what they show there."""
        whole: dict[tuple[int, ...], list[int]] = {}
        parts: dict[tuple[tuple[int, ...], tuple[int, ...] | None], list[int]] = {}
        for group, own_place in enumerate(self.places):
            if own_place > place:
                continue
            above = self.codes(group, place)
            # A group that stays at this table has no codes below.
            below = self.codes(group, place - 1) if own_place < place else None
            whole.setdefault(above, []).append(group)
            parts.setdefault((above, below), []).append(group)
        sizes = [sum(self.groups.sizes[group] for group in part) for part in parts.values()]
        unions = [whole[above] for above, _ in parts]
        return WorstParts(sizes, self.groups.table, self.groups.lines, (), self.groups, unions)


def _step_faults(record: DisclosureClaim, descent: Descent) -> Iterator[str]:
    """Whether every step down was safe, whoever has which value."""
    if min(descent.places) < 0:
        yield "a group shows values that no table of the path has"
        return
    models = [model for model in record.models if model is not None and model.of_groups_alone]
    # From the coarsest table down, as the rule goes.
    for place in range(len(descent.path) - 1, 0, -1):
        parts = descent.parts(place)
        if any(model.failing(parts) for model in models):
            yield (
                f"step {place} of the path was taken down, "
                "though it is not safe for every way to have the values"
            )
            return


# What is left


def trusted(record: DisclosureClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that the path was fixed before anyone looked at the values, "
        "and that the rule ends at this table of it"
    )
    bare = [name for name in record.claims.quasi if name not in hierarchies]
    if bare:
        yield OpenEnd(
            f"that what is shown of {listed(bare)} is of the path, and safe to show by its rule: "
            "the hierarchies were not given"
        )


def free(record: DisclosureClaim) -> Iterator[str]:
    yield from ("path", "rule", "local", "floor")


CHECK = MethodCheck(
    name="disclosure",
    promises=(Coincidence.name,),
    parameters="models path rule local floor unit",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    whole=lambda record: True,
    variant=lambda record: {"merged": False} if record.permutations else {},
)
