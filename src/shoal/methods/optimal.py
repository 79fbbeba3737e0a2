"""The globally optimal full-domain generalisation under any conjunction of models.

Groups may be suppressed. It is a baseline.

Every column gets one level for the whole table; groups that fail a model are suppressed, up to a
limit; of all nodes of the lattice the one that loses least is released. The promise is syntactic,
since the choice looks at the data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import ClassVar, get_args

import numpy as np

from shoal.arguments import keep, require_one_of, typed
from shoal.chance import Chance
from shoal.data.hierarchy.texts import ANY
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import HierarchyError, InfeasibleError, ParameterError, TooLargeError, listed
from shoal.exact.numbers import Exact, fraction
from shoal.lattice import Groups, Lattice, Node
from shoal.lattice.optimum import Evaluation, Optimum, SmallGroups
from shoal.measure.loss import LOSSES, Columnwise, Loss, Weights, normalised
from shoal.methods.entry import AsViews, Entry
from shoal.methods.method import (
    Progress,
    begin,
    conjunction,
    level_ranges,
    protected,
    silent,
    syntactic,
)
from shoal.privacy.models import KAnonymity, Model, bound, holds_all
from shoal.privacy.promises import Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import Suppressed, assemble
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["BestNode", "Optimal", "OptimalFacts", "search"]

LARGEST = 10_000_000
"""Nodes of the largest lattice that is bounded: two numbers a node are kept."""

ENUMERATED = 1_000_000
"""Nodes of the largest lattice that is scored node by node, which losses without bounds need."""


@owner_only
@dataclass(frozen=True, kw_only=True)
class OptimalFacts(Facts):
    """What the search found.

    nodes: how many nodes the lattice has
    evaluated: how many of them had to be evaluated
    """

    nodes: int
    evaluated: int


@typed
@dataclass(frozen=True, init=False)
class Optimal:
    """Full-domain generalisation that loses least.

    `suppression` is the largest share of records that may be suppressed; `floor` and `ceiling`
    bound the levels of columns. `loss` is a loss model or its name. `suppressed` says whether
    suppressed records are dropped or starred. `unit` is the identifying column that says whose
    rows belong together: one row of each person is drawn, and only that is used.
    """

    models: tuple[Model, ...]
    loss: Loss | str
    suppression: Fraction
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]
    suppressed: Suppressed
    unit: str | None

    name: ClassVar[str] = "optimal"

    def __init__(
        self,
        models: Sequence[Model | str],
        loss: Loss | str = "granularity",
        suppression: Exact = 0,
        floor: Mapping[str, int] | None = None,
        ceiling: Mapping[str, int] | None = None,
        suppressed: Suppressed = "drop",
        unit: str | None = None,
    ) -> None:
        if isinstance(loss, str) and loss not in LOSSES:
            raise ParameterError(
                "is unknown", f"known are {listed(LOSSES)}", option="loss", given=repr(loss)
            )
        require_one_of("suppressed", suppressed, *get_args(Suppressed))
        keep(
            self,
            models=conjunction(models),
            loss=loss,
            suppression=fraction(suppression, "suppression", 0, 1),
            floor=dict(floor or {}),
            ceiling=dict(ceiling or {}),
            suppressed=suppressed,
            unit=unit,
        )

    def promise(self, schema: Schema) -> Promise:
        """Every group satisfies the models, and that is all."""
        promise = syntactic(self.models, schema, self.unit)
        if self.suppressed == "star":
            _require_plain_stars(schema)
        return replace(promise, starred=self.suppressed == "star")

    def searched(self, schema: Schema) -> Mapping[str, range]:
        """The levels of the quasi-identifying columns."""
        trees = {name: schema.hierarchies[name] for name in schema.having(Role.QUASI)}
        return level_ranges(trees, self.floor, self.ceiling)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table at the best node, groups that fail a model suppressed."""
        job = begin(self, table, chance, progress)
        people = job.table
        method = replace(self, models=tuple(bound(model, people) for model in self.models))
        counts = people.count([*people.quasi, *protected(method.models)])
        trees = {name: people.hierarchy(name) for name in people.quasi}
        lattice = Lattice(counts, trees, floor=self.floor, ceiling=self.ceiling)
        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        best = search(lattice, method.models, loss, self.suppression, job.progress)
        groups = lattice.groups(best.node)
        kept = holds_all(method.models, groups)
        certificate = certify(
            people,
            method,
            job.promise,
            job.chance,
            levels=dict(zip(lattice.names, best.node, strict=True)),
            whole=self.suppressed == "star" or not self.suppression,
        )
        facts = OptimalFacts(
            records=people.rows,
            suppressed=best.suppressed,
            groups=int(kept.sum()),
            nodes=lattice.size,
            evaluated=best.evaluated,
            loss=normalised(loss, groups, kept),
        )
        return Release(
            assemble(people, groups, kept, suppressed=self.suppressed), certificate, facts
        )


def _require_plain_stars(schema: Schema) -> None:
    """HierarchyError if a star is one of several values of a level: so are starred records."""
    for name in schema.having(Role.QUASI):
        if name not in schema.hierarchies:
            continue
        for labels in schema.hierarchies[name].labels:
            values = {label for label in labels if label}
            if ANY in values and len(values) > 1:
                raise HierarchyError(
                    f"the hierarchy of column {name!r} has {ANY!r} beside other values of a level, "
                    "and suppressed records would look like it",
                    "rename that label, or drop suppressed records",
                )


@owner_only
@dataclass(frozen=True)
class BestNode:
    """The best node and its raw loss.

    It also says how many records the node suppresses, and how many nodes had to be evaluated.
    """

    node: Node
    loss: float
    suppressed: int
    evaluated: int


def search(
    lattice: Lattice,
    models: Sequence[Model],
    loss: Loss,
    suppression: Fraction | int = 0,
    progress: Progress = silent,
) -> BestNode:
    """The node with the least loss that suppresses at most the given share of the records.

    Of nodes with equal loss the first in the order of the columns is taken. InfeasibleError if
    there is none.
    """
    limit = int(suppression * lattice.total)
    largest = LARGEST if isinstance(loss, Columnwise) else ENUMERATED
    if lattice.size > largest:
        raise TooLargeError(
            f"the lattice has {lattice.size:,} nodes and {largest:,} can be searched for "
            f"{loss.name}",
            "set a floor or ceiling for some columns, take levels out of their hierarchies, or use "
            "fewer quasi-identifying columns",
        )
    progress(0, lattice.size, "searching the lattice")
    if isinstance(loss, Columnwise):
        best = _bounded(lattice, models, loss, limit, progress)
    else:
        best = _enumerated(lattice, models, loss, limit, progress)
    if best is None:
        raise InfeasibleError(
            f"no node satisfies {' and '.join(map(str, models))} with at most {limit:,} of "
            f"{lattice.total:,} records suppressed",
            "allow more suppression, or ask for less",
        )
    progress(lattice.size, lattice.size, "searching the lattice")
    return best


def _bounded(
    lattice: Lattice, models: Sequence[Model], loss: Columnwise, limit: int, progress: Progress
) -> BestNode | None:
    """The best node by branch and bound, which a loss that is a sum over columns allows."""
    rollup, weights = lattice.rollup, loss.weights(lattice)
    rule: SmallGroups | _Suppression = _Suppression(lattice, models, weights)
    if all(isinstance(model, KAnonymity) for model in models):
        rule = SmallGroups(max(model.k for model in models if isinstance(model, KAnonymity)))
    optimum = Optimum(
        rollup,
        lattice.seen(weights.level),
        weights.suppressed,
        rule,
        between=(rollup.levels_of(lattice.bottom), rollup.levels_of(lattice.top)),
        limit=limit,
        progress=lambda done, total: progress(done, total, "searching the lattice"),
    )
    levels = optimum.run()
    if levels is None:
        return None
    return BestNode(
        rollup.columns_of(levels),
        optimum.best + weights.constant,
        int(optimum.evaluated[levels].suppressed),
        len(optimum.known),
    )


@dataclass(frozen=True, eq=False)
class _Suppression:
    """What suppression adds to the loss at a node, by models of any kind."""

    lattice: Lattice
    models: Sequence[Model]
    weights: Weights

    def __call__(self, levels: tuple[int, ...]) -> Evaluation:
        """What a node suppresses and loses, by all models and by the hereditary ones alone.

        What hereditary models suppress is suppressed at every finer node too.
        """
        groups = self.lattice.groups(self.lattice.rollup.columns_of(levels))
        suppressed, added = self._excess(groups, self.models)
        lasting = [model for model in self.models if model.hereditary]
        if len(lasting) == len(self.models):
            return Evaluation(suppressed, added, suppressed, added)
        if not lasting:
            return Evaluation(suppressed, added, 0, 0.0)
        return Evaluation(suppressed, added, *self._excess(groups, lasting))

    def _excess(self, groups: Groups, models: Sequence[Model]) -> tuple[int, float]:
        """How many records some models suppress, and what that adds to the node's own loss."""
        by_column = zip(self.weights.level, groups.node, strict=True)
        at_node = [by_level[level] for by_level, level in by_column]
        held = holds_all(models, groups)
        sizes = np.where(held, 0, groups.sizes)
        suppressed = int(sizes.sum())
        lost = sum(self.weights.suppressed) * suppressed
        return suppressed, lost - groups.weigh(at_node, sizes)


def _enumerated(
    lattice: Lattice, models: Sequence[Model], loss: Loss, limit: int, progress: Progress
) -> BestNode | None:
    """The best node by looking at every one."""
    best: tuple[float, Node, int] | None = None
    for done, groups in enumerate(lattice.walk(), 1):
        kept = holds_all(models, groups)
        suppressed = int(groups.sizes[~kept].sum())
        if suppressed <= limit:
            # Losses are sums of floats in another order at every node: rounding makes equal ones
            # equal.
            rounded = float(f"{loss.of(groups, kept):.9e}")
            if rounded < inf and (best is None or (rounded, groups.node) < best[:2]):
                best = rounded, groups.node, suppressed
        if done % 256 == 0:
            progress(done, lattice.size, "searching the lattice")
    if best is None:
        return None
    least, node, suppressed = best
    return BestNode(node, least, suppressed, lattice.size)


ENTRY = Entry(
    method=Optimal,
    summary="k-anonymity and similar models, with the levels that lose least",
    draft=(
        'suppression = "?"  # the share of records that may be left out, such as 0.05',
        'loss = "granularity"  # what is kept small; others: docs/measures.md',
        'models = ["?"]  # such as "5-anonymity"; all: docs/models.md',
    ),
    public_algorithm=False,
    as_views=AsViews(),
)
