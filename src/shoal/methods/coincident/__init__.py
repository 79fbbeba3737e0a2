"""Coincident generalisation (Zhang, chapter 5): groups that show all there is to know about who has which value.

People are put into groups of equal size by their quasi-identifying values alone (`grouping`), and groups merge by a rule that is
the same for all who end up in one (`schemes`). So what someone who knows the algorithm believes about a person is what the group
shows, no more: docs/proofs/coincident.md. Uses `privacy.models` and `chance`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts, Lattice
from shoal.counts.counts import group
from shoal.errors import InfeasibleError, ParameterError, listed
from shoal.hierarchy.tree import Hierarchy, smallest
from shoal.kinds import Kind
from shoal.methods import Progress, Schema, conjunction, silent, syntactic
from shoal.methods.coincident.grouping import ORDERS, Order, ordered
from shoal.methods.coincident.schemes import SCHEMES, Scheme, merged
from shoal.privacy.exact import whole
from shoal.privacy.models import DeltaPresence, Model, bound, holds_all
from shoal.privacy.promises import Coincidence, Promise
from shoal.release import Certificate, Release, certify, released
from shoal.tables import Role, Table

__all__ = ["GROUP", "Coincident"]

GROUP = "group"
"""The column that says who is in one group, as groups may look alike."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Coincident:
    """Groups that satisfy models of the sensitive values, also against someone who knows the algorithm.

    models: what every group must satisfy, such as "3-diversity of ill"; models of how values are spread in a group
    size: how many people a group has to start with; by itself twice as many as the models ask for at least
    scheme: "forest" (trees of 2^`depth` groups), "UU" or "UA" (one tree, of as few or as many groups as can be), or "interleaved"
    order: how groups are formed: by balanced "splits", or along a "curve"
    """

    models: tuple[Model, ...]
    size: int | None = None
    scheme: Scheme = "forest"
    depth: int = 6
    order: Order = "curve"

    name: ClassVar[str] = "coincident"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", conjunction(self.models))
        if any(isinstance(model, DeltaPresence) for model in self.models):
            raise ParameterError("presence is about who is in the table, which everyone may know here; take models of values")
        if self.size is None:
            object.__setattr__(self, "size", 2 * max(_people(model) for model in self.models))
        whole(self.size, "size", 2)
        whole(self.depth, "depth", 0)
        if self.scheme not in SCHEMES:
            raise ParameterError(f"scheme={self.scheme!r} is unknown; known are {listed(SCHEMES)}")
        if self.order not in ORDERS:
            raise ParameterError(f"order={self.order!r} is unknown; known are {listed(ORDERS)}")
        if self.scheme == "interleaved" and self.people % 2:
            raise ParameterError("interleaved groups are halved; give an even `size`")
        if self.depth > 40:
            raise ParameterError("depth is above 40: a tree of so many groups holds more people than there are; take less")

    @property
    def people(self) -> int:
        """How many people a group has to start with."""
        return whole(self.size, "size", 2)

    def promise(self, schema: Schema) -> Promise:
        """That the models hold of what can be inferred, not only of what is seen."""
        syntactic(self.models, schema)
        if GROUP in schema.roles:
            raise ParameterError(f"the table has a column {GROUP!r}, which the release adds; rename it")
        for name in schema.having(Role.QUASI):
            if name in schema.hierarchies:
                schema.public(name)
        return Coincidence(tuple(str(model) for model in self.models))

    def release(self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None) -> Release:
        """The records in groups; fewer than `size` of them, drawn at random, are left out, so that groups are even."""
        promise = self.promise(Schema.of(table))
        chance, said = chance or Chance(), progress or silent
        said(0, 3, "ordering people")
        method = replace(self, models=tuple(bound(model, table) for model in self.models))
        people = _People.of(table, method, chance)
        said(1, 3, "merging groups")
        groups = people.grouped(method, chance)
        said(2, 3, "merging groups")
        made = people.laid_out(groups, chance)
        said(3, 3, "merging groups")
        paper = certify(table, method, promise, chance)
        return Release(
            made,
            replace(paper, columns=_columns(paper)),
            table.rows - len(people.record),
            {"groups": int(groups.max(initial=-1)) + 1, "records": table.rows},
        )


def _people(model: Model) -> int:
    """How many people a group must have at least to satisfy a model."""
    return max([1, *(ceil(Fraction(getattr(model, name))) for name in ("k", "l", "p") if hasattr(model, name))])


def _columns(paper: Certificate) -> list[Any]:
    return [{"name": GROUP, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}, *paper.columns]


@dataclass(frozen=True, eq=False)
class _People:
    """The records that are released, in an order in which groups to start with follow each other."""

    table: Table
    record: Ints
    leaves: int

    @classmethod
    def of(cls, table: Table, method: Coincident, chance: Chance) -> "_People":
        """People by their quasi-identifying values; of those who have the same, it is drawn who comes where."""
        hierarchies = {name: table.hierarchy(name) for name in table.quasi}
        table.columns(table.names)
        leaves = [table.leaves(name) for name in hierarchies]
        number = table.rows // method.people
        drawn = chance.permutation(table.rows)[: number * method.people]
        if not number:
            if table.rows:
                raise InfeasibleError(
                    f"the table has fewer than {method.people} records, which is one group; take smaller groups"
                )
            return cls(table, drawn, 0)
        cards = [len(hierarchy.maps[0]) for hierarchy in hierarchies.values()]
        cell, rows = _cells([column[drawn] for column in leaves], cards, list(hierarchies))
        runs = ordered(rows, cards, method.people, method.order)
        by_cell = np.argsort(cell, kind="stable")  # those drawn first come first
        return cls(table, drawn[by_cell[_places(runs.rows, runs.counts)]], number)

    def grouped(self, method: Coincident, chance: Chance) -> Ints:
        """The number of every record's group."""
        if not self.leaves:
            return np.zeros(0, dtype=np.int64)
        half = np.repeat(
            np.arange(2 * self.leaves), np.tile([method.people - method.people // 2, method.people // 2], self.leaves)
        )
        names = sorted({name for model in method.models for name in model.columns})
        carried = [_values(self.table, name, self.record) for name in names]

        def safe(numbers: Ints, groups: int) -> Bools:
            own = numbers[half]
            own[own < 0] = groups  # all others are one group more, so that shares of the whole table are right
            codes = [own.astype(smallest(groups + 1)), *(values for values, _ in carried)]
            counts = group(["\\0group", *names], codes, [groups + 1, *(card for _, card in carried)])
            tree = Hierarchy((("",) * (groups + 1),), (np.arange(groups + 1, dtype=smallest(groups + 1)),))
            return holds_all(method.models, Lattice(counts, {"\\0group": tree}).groups((0,)))[:groups]

        return merged(self.leaves, safe, method.scheme, method.depth, chance)[half]

    def laid_out(self, groups: Ints, chance: Chance) -> Any:
        """The released columns: groups in the order of what they show, or by lot, and their records by values."""
        table, number = self.table, int(groups.max(initial=-1)) + 1
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(number))
        columns: dict[str, tuple[Any, npt.NDArray[Any]]] = {}
        labels: list[Ints] = []
        for name in released(table):
            if name in table.quasi:
                texts, shown = _common(table.hierarchy(name), table.leaves(name)[self.record[order]], starts)
                labels.append(shown)
                columns[name] = texts, shown[groups]
            else:
                own = table.column(name)
                columns[name] = own.keys, own.codes[self.record]
        rank = np.empty(number, dtype=np.int64)
        rank[np.lexsort([chance.permutation(number), *reversed(labels)])] = np.arange(number)
        cards = [max(len(values), 1) for values, _ in columns.values()]
        rows = group(
            [GROUP, *columns],
            [rank[groups].astype(smallest(max(number, 1))), *(codes for _, codes in columns.values())],
            [max(number, 1), *cards],
        )
        made: dict[str, Any] = {GROUP: (None, np.repeat(rows.codes[0].astype(np.int64) + 1, rows.count))}
        for (name, (values, _)), codes in zip(columns.items(), rows.codes[1:], strict=True):
            made[name] = values, np.repeat(codes, rows.count)
        return table.like(made)


def _cells(leaves: list[npt.NDArray[Any]], cards: list[int], names: list[str]) -> tuple[Ints, Counts]:
    """The distinct rows of some columns, and which each record has."""
    rows = group(names, leaves, cards)
    rank, distinct = np.zeros(len(leaves[0]), dtype=np.int64), 1
    for column, card in zip(leaves, cards, strict=True):
        if distinct * card > 1 << 62:
            found, rank = np.unique(rank, return_inverse=True)
            distinct = len(found)
        rank = rank * card + column
        distinct *= card
    return np.unique(rank, return_inverse=True)[1].astype(np.int64), rows


def _places(rows: Ints, counts: Ints) -> Ints:
    """For people in the order of some runs of rows their places among all people sorted by row."""
    order = np.argsort(rows, kind="stable")
    taken = np.cumsum(counts[order]) - counts[order]
    first = np.zeros(len(rows), dtype=np.int64)
    first[order] = taken  # runs of one row follow each other there, and rows fill up one after the other
    ends = np.cumsum(counts)
    return np.repeat(first - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)


def _values(table: Table, name: str, record: Ints) -> tuple[npt.NDArray[Any], int]:
    """A column as the models expect it: leaves where it has a hierarchy, else its own codes; and how many there are."""
    if name in table.hierarchies:
        return table.leaves(name)[record], len(table.hierarchy(name).maps[0])
    return table.column(name).codes[record], max(len(table.column(name).keys), 1)


def _common(hierarchy: Hierarchy, leaves: npt.NDArray[Any], starts: Ints) -> tuple[list[str], Ints]:
    """The texts of all levels, and for every group the place of the finest one that all its leaves have in common.

    Groups follow each other from their starts on.
    """
    texts: dict[str, int] = {}
    places = [np.array([texts.setdefault(label, len(texts)) for label in labels], dtype=np.int64) for labels in hierarchy.labels]
    shown = np.full(len(starts), -1, dtype=np.int64)
    if len(starts):
        lowest, highest = np.minimum.reduceat(leaves, starts), np.maximum.reduceat(leaves, starts)
        for place, codes in zip(
            places, hierarchy.maps, strict=True
        ):  # leaves are in tree order: what the outermost share, all do
            shown = np.where((shown < 0) & (codes[lowest] == codes[highest]), place[codes[lowest]], shown)
    return list(texts), shown
