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
from typing import ClassVar, Literal, get_args

import numpy as np

from shoal.arguments import keep, require_one_of, typed
from shoal.chance import Chance
from shoal.data.hierarchy.texts import ANY
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import HierarchyError, InfeasibleError, ParameterError, TooLargeError, listed
from shoal.exact.numbers import Exact, fraction
from shoal.lattice import Groups, Lattice, Node
from shoal.lattice.descent import DownwardSearch, Judged
from shoal.lattice.optimum import Evaluation, Optimum, SmallGroups
from shoal.measure.loss import (
    LOSSES,
    Aggregate,
    Aggregated,
    Columnwise,
    Loss,
    Weights,
    normalised,
)
from shoal.methods.entry import AsViews, Entry, Guide
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
from shoal.zones import brief, owner_only

__all__ = ["BestNode", "NodeSearch", "Optimal", "OptimalFacts", "climb", "search"]

LARGEST = 10_000_000
"""Nodes of the largest lattice that is bounded: two numbers a node are kept."""

ENUMERATED = 1_000_000
"""Nodes of the largest lattice that is scored node by node, which losses without bounds need."""


NodeSearch = Literal["best", "greedy"]
"""How the node is found."""


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
@brief
@dataclass(frozen=True, init=False)
class Optimal:
    """Full-domain generalisation that loses least.

    models: what every group must satisfy, such as "5-anonymity"
    loss: how the loss of information is measured
    aggregate: how the losses of columns are put together, each on a scale of its own as ARX does
        it; by default all cells are added up
    importance: how much columns count in the loss, 1 unless given
    balance: with an aggregate, ARX's coefficient of generalisation and suppression: towards 0
        suppression costs less, towards 1 generalisation does
    search: "best" finds the node that loses least, "greedy" one that cannot be bettered in
        a single column, for lattices that are too large
    suppression: the largest share of records that may be suppressed
    floor: the lowest level that a column may be released at
    ceiling: the highest level that a column may be released at
    suppressed: whether suppressed records are left out ("drop"), or released as rows of stars
        ("star")
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used
    """

    models: tuple[Model, ...]
    loss: Loss | str
    suppression: Fraction
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]
    suppressed: Suppressed
    unit: str | None
    search: NodeSearch

    name: ClassVar[str] = "optimal"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        models: Sequence[Model | str],
        loss: Loss | str = "granularity",
        suppression: Exact = 0,
        floor: Mapping[str, int] | None = None,
        ceiling: Mapping[str, int] | None = None,
        suppressed: Suppressed = "drop",
        unit: str | None = None,
        aggregate: Aggregate | None = None,
        importance: Mapping[str, Exact] | None = None,
        balance: Exact | None = None,
        search: NodeSearch = "best",
    ) -> None:
        if isinstance(loss, str) and loss not in LOSSES:
            raise ParameterError(
                "is unknown", f"known are {listed(LOSSES)}", option="loss", given=repr(loss)
            )
        loss = _combined(loss, aggregate, importance, balance)
        require_one_of("suppressed", suppressed, *get_args(Suppressed))
        require_one_of("search", search, *get_args(NodeSearch))
        keep(
            self,
            models=conjunction(models),
            loss=loss,
            suppression=fraction(suppression, "suppression", 0, 1),
            floor=dict(floor or {}),
            ceiling=dict(ceiling or {}),
            suppressed=suppressed,
            unit=unit,
            search=search,
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
        finding = search if self.search == "best" else climb
        best = finding(lattice, method.models, loss, self.suppression, job.progress)
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


def _combined(
    loss: Loss | str,
    aggregate: Aggregate | None,
    importance: Mapping[str, Exact] | None,
    balance: Exact | None,
) -> Loss | str:
    """The loss with what says how columns are put together."""
    if aggregate is None and balance is not None:
        raise ParameterError(
            "needs an aggregate", 'give one such as "geometric mean"', option="balance"
        )
    if aggregate is None and not importance:
        return loss
    chosen = LOSSES[loss] if isinstance(loss, str) else loss
    if not isinstance(chosen, Columnwise):
        option = "importance" if aggregate is None else "aggregate"
        names = [name for name, one in LOSSES.items() if isinstance(one, Columnwise)]
        raise ParameterError(
            f"{chosen.name} is not a loss of columns", f"use {listed(names)}", option=option
        )
    weights = {
        name: float(fraction(weight, "importance", 0))
        for name, weight in (importance or {}).items()
    }
    if aggregate is None:
        return replace(chosen, importance=weights)
    balanced = float(fraction(Fraction(1, 2) if balance is None else balance, "balance", 0, 1))
    return Aggregated(chosen, aggregate, weights, balanced)


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
    bounded = isinstance(loss, Columnwise | Aggregated)
    largest = LARGEST if bounded else ENUMERATED
    if lattice.size > largest:
        raise TooLargeError(
            f"the lattice has {lattice.size:,} nodes and {largest:,} can be searched for "
            f"{loss.name}",
            "set a floor or ceiling for some columns, take levels out of their hierarchies, use "
            'fewer quasi-identifying columns, or give `search` as "greedy"',
        )
    progress(0, lattice.size, "searching the lattice")
    if isinstance(loss, Columnwise):
        best = _bounded(lattice, models, loss, limit, progress)
    elif isinstance(loss, Aggregated):
        descent = _descent(lattice, models, loss, limit, progress)
        best = _found(descent, descent.run())
    else:
        best = _enumerated(lattice, models, loss, limit, progress)
    if best is None:
        raise _infeasible(lattice, models, limit)
    progress(lattice.size, lattice.size, "searching the lattice")
    return best


def climb(
    lattice: Lattice,
    models: Sequence[Model],
    loss: Loss,
    suppression: Fraction | int = 0,
    progress: Progress = silent,
) -> BestNode:
    """A node that no other level of a single column betters, from the coarsest one on.

    It suppresses at most the given share of the records. InfeasibleError if none was found.
    """
    limit = int(suppression * lattice.total)
    descent = _descent(lattice, models, loss, limit, progress)
    best = _found(descent, descent.climb())
    if best is None:
        raise _infeasible(lattice, models, limit)
    return best


def _infeasible(lattice: Lattice, models: Sequence[Model], limit: int) -> InfeasibleError:
    return InfeasibleError(
        f"no node satisfies {' and '.join(map(str, models))} with at most {limit:,} of "
        f"{lattice.total:,} records suppressed",
        "allow more suppression, or ask for less",
    )


def _descent(
    lattice: Lattice, models: Sequence[Model], loss: Loss, limit: int, progress: Progress
) -> DownwardSearch:
    """The search from the coarsest node down, for losses that are put together from columns."""
    lasting = [model for model in models if model.hereditary]

    def judge(node: Node) -> Judged:
        groups = lattice.groups(node)
        kept = holds_all(models, groups)
        suppressed = int(groups.sizes[~kept].sum())
        remains = suppressed
        if len(lasting) < len(models):
            remains = int(groups.sizes[~holds_all(lasting, groups)].sum())
        if suppressed > limit:
            return Judged(None, suppressed, remains)
        if isinstance(loss, Aggregated):
            key = loss.key(loss.by_column(groups, kept))
        else:
            key = (loss.of(groups, kept),)
        return Judged(key if key[0] < inf else None, suppressed, remains)

    least = loss.least_by_column(lattice) if isinstance(loss, Aggregated) else None
    return DownwardSearch(
        lattice,
        judge,
        limit,
        least,
        progress=lambda done, total: progress(done, total, "searching the lattice"),
    )


def _found(descent: DownwardSearch, node: Node | None) -> BestNode | None:
    if node is None:
        return None
    judged = descent.known[node]
    assert judged.key is not None
    return BestNode(node, judged.key[0], judged.suppressed, len(descent.known))


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
        'loss = "granularity"  # what is kept small; others: docs/reference/measures.md',
        'models = ["?"]  # such as "5-anonymity"; all: docs/reference/models.md',
    ),
    guide=Guide(
        need="A rule asks for k-anonymity or the like, and recipients are trusted",
        promise=(
            "Your group satisfies the model: with k-anonymity, at least k people look like you."
        ),
        cost="One level for each column; some records may be suppressed",
        leaves_open="Whoever knows the algorithm may infer more",
        example="An extract for a contracted study",
    ),
    public_algorithm=False,
    public_choices=False,
    as_views=AsViews(),
    suppresses=True,
)
