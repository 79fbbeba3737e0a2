"""The globally optimal full-domain generalisation under any conjunction of models, with suppression. A baseline.

Every column gets one level for the whole table; groups that fail a model are suppressed, up to a limit; of all nodes of
the lattice the one that loses least is released. The promise is syntactic, since the choice looks at the data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, TooLargeError, listed
from shoal.exact.numbers import Exact, fraction
from shoal.lattice import Lattice, Node
from shoal.lattice.optimum import Evaluation, Optimum, SmallGroups
from shoal.measure.loss import LOSSES, Columnwise, Loss, normalised
from shoal.methods import Progress, Schema, conjunction, people_of, syntactic
from shoal.methods.entry import AsViews, Entry
from shoal.privacy.models import KAnonymity, Model, bound, holds_all
from shoal.privacy.promises import Promise
from shoal.releases.certificate import certify
from shoal.releases.layout import Suppressed, assemble
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["Found", "Optimal", "search"]

LARGEST = 10_000_000
"""Nodes of the largest lattice that is bounded: two numbers a node are kept."""

ENUMERATED = 1_000_000
"""Nodes of the largest lattice that is scored node by node, which losses without bounds need."""


@typed
@dataclass(frozen=True)
class Optimal:
    """Full-domain generalisation that loses least.

    `suppression` is the largest share of records that may be suppressed; `floor` and `ceiling` bound the levels of columns.
    `loss` is a loss model or its name. `suppressed` says whether suppressed records are dropped or starred. `unit` is the
    identifying column that tells whose rows belong together: one row of each person is drawn, and only that is used.
    """

    models: tuple[Model, ...]
    loss: Loss | str = "granularity"
    suppression: Exact = 0
    floor: Mapping[str, int] = field(default_factory=dict)
    ceiling: Mapping[str, int] = field(default_factory=dict)
    suppressed: Suppressed = "drop"
    unit: str | None = None

    name: ClassVar[str] = "optimal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", conjunction(self.models))
        object.__setattr__(self, "suppression", fraction(self.suppression, "suppression", 0, 1))
        if isinstance(self.loss, str) and self.loss not in LOSSES:
            raise ParameterError(f"loss {self.loss!r} is unknown; known are {listed(LOSSES)}")
        if self.suppressed not in ("drop", "star"):
            raise ParameterError(f"suppressed={self.suppressed!r}; it takes 'drop' or 'star'")

    def promise(self, schema: Schema) -> Promise:
        """Every group satisfies the models, and that is all."""
        promise = syntactic(self.models, schema, self.unit)
        return replace(promise, starred=self.suppressed == "star")

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table at the best node, groups that fail a model suppressed."""
        promise = self.promise(Schema.of(table))
        chance = chance or Chance()
        table = people_of(self, table, chance)
        models = tuple(bound(model, table) for model in self.models)
        hierarchies = {name: table.hierarchy(name) for name in table.quasi}
        needed = sorted({column for model in models for column in model.columns})
        counts = table.count([*table.quasi, *needed])
        lattice = Lattice(counts, hierarchies, floor=self.floor, ceiling=self.ceiling)
        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        found = search(lattice, models, loss, self.suppression, progress)
        groups = lattice.groups(found.node)
        kept = holds_all(models, groups)
        whole = self.suppressed == "star" or not self.suppression
        return Release(
            assemble(table, groups, kept, suppressed=self.suppressed),
            certify(
                table,
                replace(self, models=models),
                promise,
                chance,
                levels=dict(zip(lattice.names, found.node, strict=True)),
                whole=whole,
            ),
            suppressed=found.suppressed,
            facts={
                "loss": normalised(loss, groups, kept),
                "nodes": lattice.size,
                "evaluated": found.evaluated,
                "groups": int(kept.sum()),
            },
        )


@owner_only
@dataclass(frozen=True)
class Found:
    """The best node, its raw loss, how many records it suppresses, and how many nodes had to be evaluated."""

    node: Node
    loss: float
    suppressed: int
    evaluated: int


def search(
    lattice: Lattice,
    models: Sequence[Model],
    loss: Loss,
    suppression: Exact = 0,
    progress: Progress | None = None,
) -> Found:
    """The node with the least loss whose failing groups hold at most the given share of the records.

    Of nodes with equal loss the first in the order of the columns is taken. InfeasibleError if there is none.
    """
    limit = int(Fraction(suppression) * lattice.total)
    largest = LARGEST if isinstance(loss, Columnwise) else ENUMERATED
    if lattice.size > largest:
        raise TooLargeError(
            f"the lattice has {lattice.size:,} nodes and {largest:,} can be searched for {loss.name}; set a floor or ceiling "
            "for some columns, take levels out of their hierarchies, or use fewer quasi-identifying columns"
        )
    report = progress or (lambda done, total, what: None)
    report(0, lattice.size, "searching the lattice")
    if isinstance(loss, Columnwise):
        found = _bounded(lattice, models, loss, limit, report)
    else:
        found = _enumerated(lattice, models, loss, limit, report)
    if found is None:
        raise InfeasibleError(
            f"no node satisfies {' and '.join(map(str, models))} with at most {limit:,} of {lattice.total:,} records "
            "suppressed; allow more suppression, or ask for less"
        )
    report(lattice.size, lattice.size, "searching the lattice")
    return found


def _bounded(
    lattice: Lattice, models: Sequence[Model], loss: Columnwise, limit: int, progress: Progress
) -> Found | None:
    rollup, weights = lattice.rollup, loss.weights(lattice)
    lost = sum(weights.suppressed)
    only_k = all(isinstance(model, KAnonymity) for model in models)
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)

    def with_models(levels: tuple[int, ...]) -> Evaluation:
        """What suppression adds at a node; only what hereditary models suppress is suppressed at every finer node too."""
        groups = lattice.groups(rollup.columns_of(levels))
        at = [by_level[number] for by_level, number in zip(weights.level, groups.node, strict=True)]

        def excess(failing: npt.NDArray[np.bool_]) -> tuple[int, float]:
            sizes = np.where(failing, groups.sizes, 0)
            return int(sizes.sum()), lost * int(sizes.sum()) - groups.weigh(at, sizes)

        lasting = [model for model in models if model.hereditary]
        failing = ~holds_all(models, groups)
        suppressed, added = excess(failing)
        if len(lasting) == len(models):
            return Evaluation(suppressed, added, suppressed, added)
        return Evaluation(
            suppressed, added, *(excess(~holds_all(lasting, groups)) if lasting else (0, 0.0))
        )

    optimum = Optimum(
        rollup,
        lattice.seen(weights.level),
        weights.suppressed,
        SmallGroups(k) if only_k else with_models,
        between=(rollup.levels_of(lattice.bottom), rollup.levels_of(lattice.top)),
        limit=limit,
        progress=lambda done, total: progress(done, total, "searching the lattice"),
    )
    levels = optimum.run()
    if levels is None:
        return None
    return Found(
        rollup.columns_of(levels),
        optimum.best + weights.constant,
        int(optimum.evaluated[levels].suppressed),
        len(optimum.known),
    )


def _enumerated(
    lattice: Lattice, models: Sequence[Model], loss: Loss, limit: int, progress: Progress
) -> Found | None:
    best: tuple[float, Node] = (inf, ())
    suppressed = 0
    for done, groups in enumerate(lattice.walk(), 1):
        kept = holds_all(models, groups)
        lost = int(groups.sizes[~kept].sum())
        if lost <= limit:
            # Losses are sums of floats in another order at every node: rounding makes equal ones equal.
            scored = (float(f"{loss.of(groups, kept):.9e}"), groups.node)
            if scored < best:
                best, suppressed = scored, lost
        if done % 256 == 0:
            progress(done, lattice.size, "searching the lattice")
    return Found(best[1], best[0], suppressed, lattice.size) if best[1] or best[0] < inf else None


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
