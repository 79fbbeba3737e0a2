"""A column of a table as an axis (`hierarchy.texts`), for methods whose groups have ranges."""

from collections.abc import Sequence

import numpy as np

from shoal.counts import Counts, smallest
from shoal.data.hierarchy.texts import Axis
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import HierarchyError

__all__ = ["Axis", "axis_of"]


def axis_of(
    table: Table, name: str, ranges: str, populations: Sequence[Counts], whole: bool = False
) -> Axis:
    """The axis of a column.

    It has no place for missing values if neither the table nor a population has any, unless
    `whole`.
    """
    keys = table.keys(name)
    if name not in table.hierarchies:
        if ranges == "boundary":
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so its declared domain is not known",
                "give it one, or ask for observed ranges",
            )
        missing = len(keys) - 1 if None in keys else -1
        place = np.arange(len(keys), dtype=smallest(len(keys)))
        kind = table.kind(name)
        numeric = kind is not Kind.TEXT
        return Axis(name, place, len(place), missing, table.labels(name), None, numeric, kind)
    hierarchy = table.hierarchy(name)
    blank = hierarchy.labels[0].index("") if "" in hierarchy.labels[0] else -1
    seen = [rows.codes[rows.names.index(name)] for rows in populations if name in rows.names]
    occurs = None in keys or any((codes == blank).any() for codes in seen)
    return Axis.of(name, hierarchy, missing=occurs or whole)
