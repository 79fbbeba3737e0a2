"""A column as places on a line, and what a run of places is called: for methods whose groups have ranges of their own."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts
from shoal.errors import HierarchyError
from shoal.hierarchy import ranges as texts
from shoal.hierarchy.tree import Codes, Hierarchy, smallest
from shoal.kinds import Kind
from shoal.tables import Table

__all__ = ["Axis", "axis_of"]


@dataclass(frozen=True, eq=False)
class Axis:
    """A quasi-identifying column as places on a line: every cut falls between two places.

    Numbers and dates lie in their order, text in the order of its hierarchy, a missing value last. `size` counts the
    places, `missing` is that of the missing value, or -1.
    """

    name: str
    place: Codes  # of every leaf, or of every code of a column without hierarchy
    size: int
    missing: int
    labels: Sequence[str]  # of every place
    hierarchy: Hierarchy | None
    ordered: bool
    kind: Kind

    def text(self, low: int, high: int) -> str:
        """What a run of places is called in the release."""
        if low == high:
            return self.labels[low]
        if self.hierarchy is not None and low == 0 and high == self.size - 1:
            return self.hierarchy.labels[-1][0]
        if high == self.missing:
            return f"{self.text(low, high - 1)} or missing"
        return self._range(low, high) if self.ordered else self._set(low, high)

    @cached_property
    def ends(self) -> list[npt.NDArray[np.int64]]:
        """For every level of the hierarchy above its leaves, lowest first: the places at which a value of that level ends."""
        above = (
            []
            if self.hierarchy is None
            else [codes[np.argsort(self.place)] for codes in self.hierarchy.maps[1:]]
        )
        return [np.flatnonzero(codes[1:] != codes[:-1]) for codes in above]

    def _range(self, low: int, high: int) -> str:
        first, last = self.labels[low], self.labels[high]
        if self.hierarchy is not None and self.hierarchy.cuts:
            return self._interval(
                self.hierarchy, self.hierarchy.cuts[low], self.hierarchy.cuts[high + 1]
            )
        if self.kind is Kind.INTEGER:
            return texts.from_to(
                texts.exact(first), texts.exact(last), self.labels[0].startswith("-")
            )
        return f"[{first}, {last}]"

    def _interval(self, hierarchy: Hierarchy, low: float, high: float) -> str:
        whole, closed = self.kind is Kind.INTEGER, hierarchy.closed == "left"
        if math.isinf(low) and math.isinf(high):
            return hierarchy.labels[-1][0]
        far = hierarchy.end_closed and (
            high == hierarchy.cuts[-1] if closed else low == hierarchy.cuts[0]
        )
        if whole:  # the same whole numbers from the first to before the next one, and the far end of the domain
            low, high, closed = low + (not closed and not far), high + (not closed or far), True
        if math.isinf(low):
            return texts.below(texts.exact(high), not closed)
        if math.isinf(high):
            return (
                texts.or_more(texts.exact(low)) if whole else texts.above(texts.exact(low), closed)
            )
        if whole:
            return texts.from_to(
                texts.exact(low),
                texts.exact(high - 1),
                min(filter(math.isfinite, hierarchy.cuts)) < 0,
            )
        low_in = closed or (hierarchy.end_closed and low == hierarchy.cuts[0])
        high_in = not closed or (hierarchy.end_closed and high == hierarchy.cuts[-1])
        return texts.between(texts.exact(low), texts.exact(high), low_in, high_in)

    def _set(self, low: int, high: int) -> str:
        """The fewest values of the hierarchy, of any level, that cover just these leaves."""
        if self.hierarchy is None:
            return "{" + ", ".join(self.labels[low : high + 1]) + "}"
        found, place = [], low
        while place <= high:
            place, text = next(value for value in self._values[place] if value[0] <= high + 1)
            found.append(text)
        return found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"

    @cached_property
    def _values(self) -> list[list[tuple[int, str]]]:
        """For every place the values of the hierarchy, widest first, that begin there: the place behind them, and their texts."""
        begin: list[list[tuple[int, str]]] = [[] for _ in self.labels]
        if self.hierarchy is not None:
            for codes, labels in zip(
                reversed(self.hierarchy.maps), reversed(self.hierarchy.labels), strict=True
            ):
                starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()]
                for first, stop in zip(starts, [*starts[1:], len(codes)], strict=True):
                    begin[first].append((stop, labels[codes[first]] or "missing"))
        return begin


def axis_of(
    table: Table, name: str, ranges: str, populations: Sequence[Counts], whole: bool = False
) -> Axis:
    """The axis of a column; without a place for missing values if neither the table nor a population has any, unless `whole`."""
    column = table.column(name)
    if name not in table.hierarchies:
        if ranges == "boundary":
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so its declared domain is not known; give it one, or ask for observed ranges"
            )
        missing = len(column.keys) - 1 if None in column.keys else -1
        place = np.arange(len(column.keys), dtype=smallest(len(column.keys)))
        return Axis(
            name,
            place,
            len(place),
            missing,
            column.labels,
            None,
            column.kind is not Kind.TEXT,
            column.kind,
        )
    hierarchy = table.hierarchy(name)
    ordered = hierarchy.kind is not Kind.TEXT
    labels = hierarchy.labels[0]
    order = list(range(len(labels)))
    if ordered and not hierarchy.cuts:
        keys = [hierarchy.kind.key(text) for text in labels]
        order.sort(key=lambda leaf: (keys[leaf] is None, keys[leaf]))
    missing, size = order.index(labels.index("")) if "" in labels else -1, len(labels)
    seen = [rows.codes[rows.names.index(name)] for rows in populations if name in rows.names]
    absent = None not in column.keys and not any((codes == order[missing]).any() for codes in seen)
    if missing == size - 1 and absent and not whole:
        missing, size = -1, size - 1
    place = np.argsort(order).astype(smallest(len(order)))
    return Axis(
        name,
        place,
        size,
        missing,
        [labels[leaf] for leaf in order],
        hierarchy,
        ordered,
        hierarchy.kind,
    )
