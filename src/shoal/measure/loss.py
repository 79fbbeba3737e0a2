"""How much a generalised table has lost: one frozen dataclass per loss model.

Every model gives a raw loss of a node's groups when only some of them (or of their records, as in a
sample) are kept and all others are lost, and the two ends of its scale: the input itself, and
nothing left. `normalised` puts the raw loss on that scale, 0 to 1. Models that are sums over
records and columns (`Columnwise`) also give their summands, which is what a search needs to bound a
node without grouping anything. Definitions, ranges and other tools' names:
docs/reference/measures.md. Uses `lattice`; methods and reports use it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast, get_args
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from shoal.errors import ParameterError, listed
from shoal.lattice import Groups, Lattice

__all__ = [
    "LOSSES",
    "Aggregate",
    "Aggregated",
    "Ambiguity",
    "Columnwise",
    "Discernibility",
    "Divergence",
    "Entropy",
    "Granularity",
    "GroupSize",
    "Intensity",
    "LeastLoss",
    "Loss",
    "Weights",
    "normalised",
    "placed",
]

Kept = npt.NDArray[np.bool_] | npt.NDArray[np.integer]
"""Which groups are kept; or, where a group may be kept in part, how many records of each."""

Floats = npt.NDArray[np.float64]
Made = TypeVar("Made")

_ROUNDING = 1e-13
"""Of a sum of floats, per record: the ends of a scale that differ by less are the same."""


class Loss(Protocol):
    """A loss model."""

    name: ClassVar[str]

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        ...

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        ...


def normalised(loss: Loss, groups: Groups, kept: Kept) -> float:
    """The loss on a scale from 0 (the input) to 1 (nothing left)."""
    return placed(loss, groups.lattice, loss.of(groups, kept), not kept.any())


def placed(loss: Loss, lattice: Lattice, raw: float, nothing_left: bool) -> float:
    """The place of a raw loss on that scale."""
    low, high = loss.span(lattice)
    if high - low <= _ROUNDING * lattice.total:
        # The input has nothing this model could lose, but for its records.
        return float(nothing_left and lattice.total > 0)
    place = (raw - low) / (high - low)
    return min(max(place, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class Weights:
    """The summands of a columnwise loss.

    loss = constant + Σ over kept records and columns j of level[j][node[j]][code] + suppressed
    records × Σ suppressed.
    """

    level: tuple[tuple[Floats, ...], ...]
    suppressed: tuple[float, ...]
    constant: float = 0.0

    @cached_property
    def saved(self) -> tuple[tuple[Floats, ...], ...]:
        """The summands less those of a suppressed record: what keeping a record changes."""
        saved = []
        for by_level, lost in zip(self.level, self.suppressed, strict=True):
            saved.append(tuple(weight - lost for weight in by_level))
        return tuple(saved)

    @property
    def lost_record(self) -> float:
        """What one suppressed record loses, in all columns."""
        return sum(self.suppressed)


@dataclass(frozen=True)
class Columnwise:
    """A loss that is a sum over records and columns.

    `importance` weighs columns; those it does not name weigh 1.
    """

    importance: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _require_weights(self.importance)

    def weights(self, lattice: Lattice) -> Weights:
        """The summands, made once per lattice."""
        return _once(lattice, (self, "weights"), lambda: self._weights(lattice))

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        return _once(lattice, (self, "span"), lambda: self._span(lattice))

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        weights = self.weights(groups.lattice)
        level = [by_level[at] for by_level, at in zip(weights.level, groups.node, strict=True)]
        if kept.dtype == np.bool_ and kept.all():
            return weights.constant + groups.weigh(level)
        released, suppressed = _released(groups, kept)
        kept_loss = groups.weigh(level, released)
        return weights.constant + kept_loss + suppressed * weights.lost_record

    def limited(self, groups: Groups, k: int) -> float:
        """The raw loss when groups with fewer than k records are suppressed.

        Equal to `of`, for callers that score whole lattices.
        """
        weights = self.weights(groups.lattice)
        sizes = groups.cells
        saved = groups.weigh_cells(weights.saved, sizes * (sizes >= k).astype(sizes.dtype))
        return weights.constant + groups.lattice.total * weights.lost_record + saved

    def _weights(self, lattice: Lattice) -> Weights:
        raise NotImplementedError

    def _span(self, lattice: Lattice) -> tuple[float, float]:
        weights = self.weights(lattice)
        columns = zip(weights.level, _leaves(lattice), strict=True)
        low = sum(float(by_level[0] @ leaves) for by_level, leaves in columns)
        high = lattice.total * weights.lost_record
        return weights.constant + low, weights.constant + high

    def _importance(self, lattice: Lattice) -> tuple[float, ...]:
        return _importance_of(self.importance, lattice)


def _require_weights(importance: Mapping[str, float]) -> None:
    for name, weight in importance.items():
        if not (isfinite(weight) and weight >= 0):
            raise ParameterError(
                f"the importance of column {name!r} is {weight}",
                "it takes a number of at least 0",
            )


def _importance_of(importance: Mapping[str, float], lattice: Lattice) -> tuple[float, ...]:
    for name in importance:
        if name not in lattice.names:
            raise ParameterError(
                f"`importance` names {name!r}, which is not a quasi-identifying column"
            )
    return tuple(float(importance.get(name, 1)) for name in lattice.names)


@dataclass(frozen=True)
class Granularity(Columnwise):
    """The share of its column's domain that a cell covers, summed over cells.

    A suppressed cell covers all of it.
    """

    name: ClassVar[str] = "granularity"

    def _weights(self, lattice: Lattice) -> Weights:
        importance = self._importance(lattice)
        level = []
        for tree, weight in zip(lattice.hierarchies, importance, strict=True):
            levels = range(tree.height + 1)
            level.append(tuple(weight * tree.cover(at) / tree.leaves for at in levels))
        return Weights(tuple(level), importance)


@dataclass(frozen=True)
class Intensity(Columnwise):
    """The level of a cell as a share of its hierarchy's height, summed over cells.

    A suppressed cell counts 1.
    """

    name: ClassVar[str] = "intensity"

    def _weights(self, lattice: Lattice) -> Weights:
        importance = self._importance(lattice)
        level = []
        for tree, weight in zip(lattice.hierarchies, importance, strict=True):
            top = max(tree.height, 1)
            levels = range(tree.height + 1)
            level.append(tuple(np.full(tree.cardinality(at), weight * at / top) for at in levels))
        return Weights(tuple(level), importance)


@dataclass(frozen=True)
class Entropy(Columnwise):
    """The bits needed to recover each cell's value from its generalised one, summed over cells.

    This is non-uniform entropy.

    With F(v) the number of input records whose value generalises to v, a cell costs log₂
    F(generalised) − log₂ F(leaf), a suppressed one log₂ n − log₂ F(leaf).
    """

    name: ClassVar[str] = "entropy"

    def _weights(self, lattice: Lattice) -> Weights:
        importance = self._importance(lattice)
        level = []
        constant = 0.0
        columns = zip(lattice.hierarchies, importance, _leaves(lattice), strict=True)
        for tree, weight, leaves in columns:
            by_level = []
            for at, codes in enumerate(tree.maps):
                frequency = np.bincount(codes, leaves, tree.cardinality(at))
                by_level.append(weight * np.log2(np.maximum(frequency, 1)))
            level.append(tuple(by_level))
            # − log₂ F(leaf) is the same for every node.
            constant -= float(by_level[0] @ leaves)
        all_records = float(np.log2(max(lattice.total, 1)))
        suppressed = tuple(weight * all_records for weight in importance)
        return Weights(tuple(level), suppressed, constant)


Aggregate = Literal["sum", "arithmetic mean", "geometric mean", "maximum", "rank"]
"""How the losses of columns become one: ARX's names for it."""


@dataclass(frozen=True)
class Aggregated:
    """A columnwise loss, each column on a scale of its own from 0 to 1, put together by name.

    This is how ARX measures, and with granularity it is ARX's *Loss*. "rank" compares the worst
    columns first and shows their maximum.

    cells: what a cell loses
    by: how the columns are put together
    importance: of columns, those it does not name 1; the largest is what counts in full
    balance: ARX's coefficient of generalisation and suppression. At 1/2 a suppressed cell has lost
        everything; towards 0 suppression costs less, towards 1 generalisation does
    """

    cells: Columnwise
    by: Aggregate = "geometric mean"
    importance: Mapping[str, float] = field(default_factory=dict, hash=False)
    balance: float = 0.5

    name: ClassVar[str] = "aggregated"

    def __post_init__(self) -> None:
        if self.by not in get_args(Aggregate):
            raise ParameterError(
                "is unknown",
                f"it takes {listed(get_args(Aggregate))}",
                option="aggregate",
                given=repr(self.by),
            )
        if not 0 <= self.balance <= 1:
            raise ParameterError("is not a number from 0 to 1", option="balance")
        _require_weights(self.importance)
        if self.cells.importance:
            raise ParameterError("columns are weighed twice", "give `importance` to one of the two")

    @property
    def suppressing(self) -> float:
        """How much of what is left of a cell its suppression costs."""
        return min(2 * self.balance, 1.0)

    @property
    def generalising(self) -> float:
        """How much of what generalising costs counts."""
        return min(2 - 2 * self.balance, 1.0)

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        return float(self.combined(self.by_column(groups, kept)))

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        return 0.0, float(self.combined(self.shares(lattice)))

    def key(self, by_column: Floats) -> tuple[float, ...]:
        """What nodes are compared by: the loss, or all columns from the worst on."""
        if self.by == "rank":
            return tuple(np.sort(by_column)[::-1].tolist())
        return (float(self.combined(by_column)),)

    def combined(self, by_column: Floats) -> Floats:
        """The losses of columns, which are the last axis, as one number."""
        match self.by:
            case "sum":
                return cast(Floats, by_column.sum(axis=-1))
            case "arithmetic mean":
                return cast(Floats, by_column.sum(axis=-1) / max(by_column.shape[-1], 1))
            case "geometric mean":
                logs = np.log1p(by_column).sum(axis=-1)
                return cast(Floats, np.expm1(logs / max(by_column.shape[-1], 1)))
            case _:
                return cast(Floats, by_column.max(axis=-1, initial=0.0))

    def by_column(self, groups: Groups, kept: Kept) -> Floats:
        """The loss of every column from 0 to 1, times its share of the importance."""
        lattice = groups.lattice
        weights = self.cells.weights(lattice)
        released, _ = _released(groups, kept)
        suppressed = groups.sizes - released
        left_out = float(suppressed.sum())
        lost = []
        for j, (by_level, whole) in enumerate(zip(weights.level, weights.suppressed, strict=True)):
            cells = by_level[groups.node[j]][groups.codes(j)]
            gone = float(cells @ suppressed)
            gone += self.suppressing * (left_out * whole - gone)
            lost.append(self.generalising * float(cells @ released) + gone)
        return self.scaled(lattice, np.array(lost), left_out)

    def least_by_column(self, lattice: Lattice) -> "LeastLoss":
        """Lower bounds of what columns lose at nodes that were not grouped."""
        weights = self.cells.weights(lattice)
        columns = zip(weights.level, weights.suppressed, lattice.hierarchies, strict=True)
        plain, added = [], []
        for (by_level, whole, tree), leaves in zip(columns, _leaves(lattice), strict=True):
            of_level, of_record = [], []
            for codes, cells in zip(tree.maps, by_level, strict=True):
                frequency = np.bincount(codes, leaves, len(cells))
                of_level.append(self.generalising * float(frequency @ cells))
                occurring = cells[frequency > 0]
                ends = np.array([occurring.min(initial=whole), occurring.max(initial=0.0)])
                # Suppressing a record changes what its cell loses by this, at either end.
                change = (1 - self.generalising) * ends + self.suppressing * (whole - ends)
                of_record.append(max(float(change.min()), 0.0))
            plain.append(np.array(of_level))
            added.append(np.array(of_record))
        return LeastLoss(self, lattice, tuple(plain), tuple(added))

    def scaled(self, lattice: Lattice, lost: Floats, suppressed: float | Floats) -> Floats:
        """Raw losses of columns as shares of what they can lose, by importance."""
        low, high = self._ends(lattice)
        records = max(lattice.total, 1)
        # A column with one value can only lose records.
        rest = np.zeros_like(lost) + np.asarray(suppressed)[..., None] / records
        can_lose = np.broadcast_to(high - low > _ROUNDING * records, lost.shape)
        np.divide(lost - low, high - low, out=rest, where=can_lose)
        return np.maximum(rest, 0.0) * self.shares(lattice)

    def shares(self, lattice: Lattice) -> Floats:
        """The importance of the columns, relative to the largest."""
        given = np.array(_importance_of(self.importance, lattice))
        largest = float(given.max(initial=0.0))
        return given / largest if largest > 0 else np.ones_like(given)

    def _ends(self, lattice: Lattice) -> tuple[Floats, Floats]:
        def ends() -> tuple[Floats, Floats]:
            weights = self.cells.weights(lattice)
            low = [
                float(by_level[0] @ leaves)
                for by_level, leaves in zip(weights.level, _leaves(lattice), strict=True)
            ]
            high = np.array(weights.suppressed) * lattice.total
            return self.generalising * np.array(low), high

        return _once(lattice, (self, "ends"), ends)


@dataclass(frozen=True, eq=False)
class LeastLoss:
    """What columns lose at least, by level and by how many records are suppressed at least.

    plain: by column and level, what is lost without suppression
    added: by column and level, what suppressing one more record adds at least
    """

    loss: Aggregated
    lattice: Lattice
    plain: tuple[Floats, ...]
    added: tuple[Floats, ...]

    def __call__(self, levels: npt.NDArray[np.int64], suppressed: npt.NDArray[np.int64]) -> Floats:
        """A lower bound for nodes, one per row."""
        lost = np.empty(levels.shape)
        for j, (plain, added) in enumerate(zip(self.plain, self.added, strict=True)):
            lost[:, j] = plain[levels[:, j]] + added[levels[:, j]] * suppressed
        scaled = self.loss.scaled(self.lattice, lost, suppressed.astype(np.float64))
        return self.loss.combined(scaled)


@dataclass(frozen=True)
class Discernibility:
    """Each record is penalised by the number of records it looks like.

    That is Σ size² over kept groups + suppressed × n.
    """

    name: ClassVar[str] = "discernibility"

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        released, suppressed = _released(groups, kept)
        sizes = released.astype(np.float64)
        records = float(sizes.sum() + suppressed)
        return float(sizes @ sizes) + suppressed * records

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        sizes = _input(lattice)
        return float(sizes @ sizes), float(sizes.sum()) ** 2


@dataclass(frozen=True)
class GroupSize:
    """The average size of a group; the suppressed records, if there are any, are one group."""

    name: ClassVar[str] = "group_size"

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        released, suppressed = _released(groups, kept)
        number = int((released > 0).sum())
        if suppressed:
            number += 1
        return float(groups.sizes.sum()) / max(number, 1)

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        sizes = _input(lattice)
        records = float(sizes.sum())
        return records / max(len(sizes), 1), records


@dataclass(frozen=True)
class Ambiguity:
    """How many combinations of leaves a record may have come from, on average over all records."""

    name: ClassVar[str] = "ambiguity"

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        possible = np.ones(len(groups.sizes))
        columns = zip(groups.lattice.hierarchies, groups.node, strict=True)
        for j, (tree, level) in enumerate(columns):
            possible *= tree.cover(level)[groups.codes(j)]
        _, everything = self.span(groups.lattice)
        released, suppressed = _released(groups, kept)
        total = float(released @ possible) + suppressed * everything
        return total / max(int(groups.sizes.sum()), 1)

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        leaves = [float(tree.leaves) for tree in lattice.hierarchies]
        return 1.0, float(np.prod(leaves))


@dataclass(frozen=True)
class Divergence:
    """Kullback–Leibler divergence, in bits, of the input from its reconstruction.

    The reconstruction spreads every kept group evenly over the combinations of leaves it covers and
    the suppressed records evenly over the whole domain. A missing value is part of the domain here,
    so that both are distributions.
    """

    name: ClassVar[str] = "divergence"

    def of(self, groups: Groups, kept: Kept) -> float:
        """The raw loss when the `kept` groups are released and all other records are suppressed."""
        records = int(groups.sizes.sum())
        if not records:
            return 0.0
        # How many combinations of leaves a group covers, and the whole domain has: as logarithms.
        covered = np.zeros(len(groups.sizes))
        whole = 0.0
        columns = zip(groups.lattice.hierarchies, groups.node, strict=True)
        for j, (tree, level) in enumerate(columns):
            leaves = np.bincount(tree.maps[level], minlength=tree.cardinality(level))
            covered += np.log2(leaves)[groups.codes(j)]
            whole += float(np.log2(len(tree.maps[0])))

        # The logarithm of what the reconstruction gives each combination of leaves.
        released, suppressed = _released(groups, kept)
        shares = np.log2(np.maximum(released, 1) / records)
        estimate = np.where(released > 0, shares - covered, -np.inf)
        if suppressed:
            everywhere = np.log2(suppressed / records) - whole
            estimate = np.logaddexp2(estimate, everywhere)
        cross_entropy = -float(groups.sizes / records @ estimate)
        return max(cross_entropy - self._entropy(groups.lattice), 0.0)

    def span(self, lattice: Lattice) -> tuple[float, float]:
        """The raw loss of the input itself, and the raw loss when nothing is left."""
        whole = sum(float(np.log2(len(tree.maps[0]))) for tree in lattice.hierarchies)
        return 0.0, max(whole - self._entropy(lattice), 0.0)

    def _entropy(self, lattice: Lattice) -> float:
        def bits() -> float:
            share = _input(lattice) / max(lattice.total, 1)
            if not len(share):
                return 0.0
            return -float(share @ np.log2(share))

        return _once(lattice, (self, "entropy"), bits)


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Granularity(),
        Intensity(),
        Discernibility(),
        Entropy(),
        GroupSize(),
        Ambiguity(),
        Divergence(),
    )
}
"""Every loss model by its name, columns weighing the same."""


def _released(groups: Groups, kept: Kept) -> tuple[npt.NDArray[np.int64], int]:
    """How many records of every group are released, and how many of all are not."""
    if kept.dtype == np.bool_:
        released = np.where(kept, groups.sizes, 0)
    else:
        released = kept.astype(np.int64)
    suppressed = groups.sizes.sum() - released.sum()
    return released, int(suppressed)


def _input(lattice: Lattice) -> Floats:
    """The group sizes of the input itself."""

    def sizes() -> Floats:
        return lattice.counts.over(lattice.names).count.astype(np.float64)

    return _once(lattice, "input", sizes)


def _leaves(lattice: Lattice) -> list[Floats]:
    """How often every leaf of every column occurs in the input."""
    counts = lattice.counts
    frequencies: list[Floats] = []
    for name, tree in zip(lattice.names, lattice.hierarchies, strict=True):
        often = np.bincount(counts.column(name), counts.count, len(tree.maps[0]))
        frequencies.append(often.astype(np.float64))
    return frequencies


_made: WeakKeyDictionary[Lattice, dict[object, Any]] = WeakKeyDictionary()


def _once(lattice: Lattice, what: object, make: Callable[[], Made]) -> Made:
    """What depends on the lattice alone, made once.

    Losses are asked of tens of thousands of its nodes.
    """
    seen = _made.setdefault(lattice, {})
    if what not in seen:
        seen[what] = make()
    return cast(Made, seen[what])
