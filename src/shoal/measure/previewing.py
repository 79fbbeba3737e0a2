"""`preview`: what becomes of a table at given levels.

It is for the owner: everything here is computed from the data without a budget.

Uses `lattice`, `privacy` and `loss`; the command line and notebooks use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import described, missing_of, typed
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError, listed
from shoal.exact.numbers import Exact, fraction, whole
from shoal.lattice import Groups, Lattice
from shoal.look.pictures import Picture, Pictured
from shoal.measure.loss import LOSSES, Loss, normalised
from shoal.privacy.models import Model, bound, holds_all
from shoal.zones import owner_only

__all__ = ["ColumnLevel", "FirstGroup", "Preview", "Suppression", "levels_of", "preview"]

SIZES = (2, 3, 5, 10, 20)
"""The k for which suppression is shown."""


@owner_only
@dataclass(frozen=True)
class ColumnLevel:
    """A column at its level: how high its hierarchy is, and how many values it has there."""

    level: int
    height: int
    values: int


@owner_only
@dataclass(frozen=True)
class Suppression:
    """What is suppressed where only some groups are kept, and the loss then."""

    groups: int
    records: int
    loss: float


@owner_only
@dataclass(frozen=True)
class FirstGroup:
    """A group: its values, how many records it has, and whether the models allow it."""

    values: Mapping[str, str]
    records: int
    kept: bool


@owner_only
@dataclass(frozen=True)
class Preview(Pictured):
    """A table at given levels.

    k: the size of the smallest group; None if there are no records
    loss: without suppression
    by_k: what is suppressed with groups below k, for several k
    by_model: what is suppressed with groups that fail a model
    all_models: the same for all models at once; None if there are none
    allowed: how many records may be suppressed, if there is such a limit
    """

    records: int
    columns: Mapping[str, ColumnLevel]
    groups: int
    k: int | None
    loss_model: str
    loss: float
    by_k: Mapping[int, Suppression]
    by_model: Mapping[str, Suppression]
    all_models: Suppression | None
    allowed: int | None
    first: tuple[FirstGroup, ...]

    def _repr_html_(self) -> str:
        """The preview as notebooks show it."""
        from shoal.measure.cards import card_of_preview

        return card_of_preview(self).html()

    @property
    def levels(self) -> dict[str, int]:
        return {name: column.level for name, column in self.columns.items()}

    @property
    def within(self) -> bool | None:
        """Whether no more records are suppressed than allowed; None if there is no such limit."""
        if self.allowed is None or self.all_models is None:
            return None
        return self.all_models.records <= self.allowed

    def pictures(self) -> tuple[Picture, ...]:
        """What is suppressed at these levels, as a chart."""
        from shoal.measure.pictures import of_preview

        return of_preview(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        together = None
        if self.all_models is not None:
            limit = {"allowed": self.allowed, "within": self.within}
            together = {**asdict(self.all_models), **limit}
        return {
            "records": self.records,
            "levels": self.levels,
            "groups": self.groups,
            "k": self.k,
            "loss_model": self.loss_model,
            "loss": self.loss,
            "suppressed": [
                {"k": k, "records": one.records, "loss": one.loss} for k, one in self.by_k.items()
            ],
            "models": [{"model": name, **asdict(one)} for name, one in self.by_model.items()],
            "all_models": together,
            "first": [asdict(group) for group in self.first],
        }


def bound_to(table: Table, models: Sequence[Model]) -> list[Model]:
    """Models for the rows of a table; ParameterError if one is not a model."""
    for model in models:
        if missing_of(model, Model):
            fix = "give privacy models, such as KAnonymity(5)"
            raise ParameterError(f"has {described(model)}", fix, option="models")
    return [bound(model, table) for model in models]


def loss_of(loss: Loss | str) -> Loss:
    """A loss, also by its name; ParameterError if that is unknown."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ParameterError(
            "is unknown", f"known are {listed(LOSSES)}", option="loss", given=repr(loss)
        )
    return LOSSES[loss]


@typed
def preview(
    table: Table,
    levels: Mapping[str, int] | None = None,
    *,
    models: Sequence[Model] = (),
    loss: Loss | str = "granularity",
    suppression: Exact | None = None,
    groups: int = 10,
) -> Preview:
    """What becomes of a table at given levels of its quasi-identifying columns.

    A column without a given level is at level 0.

    models: what groups have to satisfy
    suppression: the largest share of records that may be suppressed
    groups: how many of the first groups are shown

    >>> from shoal import demo
    >>> result = preview(demo.table(), {"age": 2, "postcode": 1})
    >>> result.groups > 1, result.by_k[5].records > result.by_k[2].records
    (True, True)
    """
    chosen = levels_of(table, levels or {})
    bound_models = bound_to(table, models)
    measure = loss_of(loss)
    trees = {name: table.hierarchy(name) for name in chosen}
    carried = sorted({column for model in bound_models for column in model.columns})
    at_node = Lattice(table.count([*chosen, *carried]), trees).groups(tuple(chosen.values()))
    sizes = at_node.sizes
    kept = holds_all(bound_models, at_node)

    def without(keeps: npt.NDArray[np.bool_]) -> Suppression:
        return _suppression(at_node, keeps, measure)

    allowed = None
    if suppression is not None:
        allowed = int(fraction(suppression, "suppression", 0, 1) * int(sizes.sum()))
    return Preview(
        records=table.rows,
        columns={
            name: ColumnLevel(level, trees[name].height, trees[name].cardinality(level))
            for name, level in chosen.items()
        },
        groups=len(sizes),
        k=int(sizes.min()) if len(sizes) else None,
        loss_model=measure.name,
        loss=without(sizes >= 1).loss,
        by_k={k: without(sizes >= k) for k in SIZES},
        by_model={str(model): without(model.holds(at_node)) for model in bound_models},
        all_models=without(kept) if bound_models else None,
        allowed=allowed,
        first=tuple(_first(at_node, kept, whole(groups, "groups", 0))),
    )


def levels_of(table: Table, levels: Mapping[str, int]) -> dict[str, int]:
    """The level of every quasi-identifying column; an error if there is no such level."""
    if not table.quasi:
        raise ParameterError("the table has no quasi-identifying column", "name them with `quasi`")
    if lacking := [name for name in table.quasi if name not in table.hierarchies]:
        raise HierarchyError(
            f"no hierarchy for {listed(lacking)}",
            "give each a hierarchy (shoal hierarchy make writes such files)",
        )
    chosen = dict.fromkeys(table.quasi, 0)
    for name, level in levels.items():
        if name not in chosen:
            raise ParameterError(
                f"names {name!r}, which is not a quasi-identifying column",
                f"these are {listed(chosen)}",
                option="levels",
            )
        height = table.hierarchy(name).height
        if not 0 <= level <= height:
            raise ParameterError(
                f"asks for level {level} of {name!r}, which has levels 0 to {height}",
                option="levels",
            )
        chosen[name] = level
    return chosen


def _suppression(groups: Groups, kept: npt.NDArray[np.bool_], loss: Loss) -> Suppression:
    return Suppression(
        groups=int((~kept).sum()),
        records=int(groups.sizes[~kept].sum()),
        loss=normalised(loss, groups, kept),
    )


def _first(groups: Groups, kept: npt.NDArray[np.bool_], number: int) -> Iterable[FirstGroup]:
    """The first groups, in the order of their values."""
    lattice = groups.lattice
    texts = []
    for column, (tree, level) in enumerate(zip(lattice.hierarchies, groups.node, strict=True)):
        labels = tree.labels[level]
        texts.append([labels[code] for code in groups.codes(column)[:number]])
    for place, (size, keeps) in enumerate(zip(groups.sizes[:number], kept[:number], strict=True)):
        values = {name: text[place] for name, text in zip(lattice.names, texts, strict=True)}
        yield FirstGroup(values, int(size), bool(keeps))
