"""Labels, ranges and the order of rows: do released texts belong to their hierarchies?

Uses `reading` and the hierarchies and texts of `data`; `core` uses it, and so do the checks of
methods whose groups have ranges of their own.
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy.texts import Axis
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.errors import plural
from shoal.releases.verification.claims import ClaimedColumn, Claims
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.rows import column_of, frequencies

__all__ = [
    "canonical",
    "hierarchy_faults",
    "is_acyclic",
    "is_ordered",
    "label_faults",
    "places",
    "range_faults",
    "unsettled",
]


def hierarchy_faults(claims: Claims, given: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether the hierarchies given are those on the certificate, or those with its digests."""
    for column in claims.columns:
        if column.name not in given:
            continue
        tree = given[column.name].of_kind(column.kind)
        on_paper = column.hierarchy()
        if on_paper is not None and tree.lines() != on_paper.lines():
            yield f"the hierarchy of column {column.name!r} is not the one on the certificate"
        if column.digest is not None and tree.digest != column.digest:
            yield (
                f"the hierarchy of column {column.name!r} is not the one that the release went by: "
                "their digests differ"
            )


def label_faults(released: ReleasedTables) -> Iterator[str]:
    """Whether the values of columns with a level are labels of that level."""
    for name, tree in released.level_trees.items():
        level = released.claims.levels[name]
        if level > tree.height:
            yield (
                f"column {name!r} is at level {level}, "
                f"and its hierarchy ends at level {tree.height}"
            )
        elif wrong := sum(place < 0 for place in places(released, name, tree, level)):
            yield (
                f"column {name!r} has {plural(wrong, 'value')} "
                f"that level {level} of its hierarchy does not have"
            )
    for name, tree in {**released.level_trees, **released.refined_trees}.items():
        if tree.derived and not released.shape.data_hierarchies:
            yield (
                f"the hierarchy of column {name!r} was made from rows of a table, "
                "and no budget pays for what it reveals"
            )


def places(released: ReleasedTables, name: str, tree: Hierarchy, level: int) -> list[int]:
    """The place of every key of a column among the labels of a level, -1 if it has none."""
    kind = released.claims.kind(name)
    labels = list(tree.labels[level])
    labels += [label for label in released.shape.extra_labels if label not in labels]
    known = {canonical(label, kind): place for place, label in enumerate(labels)}
    return [known.get(canonical(key, kind), -1) for key in released.table.keys(name)]


def _places_of_any_level(released: ReleasedTables, name: str, tree: Hierarchy) -> list[int]:
    """The place of every key among the labels of all levels, each where it is first, or -1."""
    kind = released.claims.kind(name)
    labels = dict.fromkeys(label for level in tree.labels for label in level)
    known: dict[str, int] = {}
    for place, label in enumerate(labels):
        known.setdefault(canonical(label, kind), place)
    # Texts stay as they are where a type would read two of them as one value.
    known |= {label: place for place, label in enumerate(labels)}
    keys = ["" if key is None else str(key) for key in released.table.keys(name)]
    return [known.get(key, known.get(canonical(key, kind), -1)) for key in keys]


def canonical(text: Key | None, kind: Kind) -> str:
    """One spelling of a value: the leaf "039" of whole numbers is released as the number 39."""
    try:
        return kind.text(kind.key(text))
    except (ValueError, TypeError):
        return str(text)


def unsettled(released: ReleasedTables) -> list[str]:
    """The columns whose values are labels of several levels, so that their level does not show."""
    several = []
    for name, tree in released.level_trees.items():
        fitting = [
            level
            for level in range(tree.height + 1)
            if min(places(released, name, tree, level), default=0) >= 0
        ]
        # An empty table fits every level.
        if len(fitting) > 1:
            several.append(name)
    return several


def range_faults(released: ReleasedTables, *, labels_only: bool) -> Iterator[str]:
    """Whether texts of groups are labels, or what Shoal calls the values that they are read as."""
    for name, tree in released.quasi_trees.items():
        axis = Axis.of(name, tree)
        keys = released.table.keys(name)
        texts = ["" if key is None else str(key) for key in keys]
        wrong = sum(not _is_known_text(axis, text, labels_only) for text in texts)
        if wrong:
            yield (
                f"column {name!r} has {plural(wrong, 'value')} "
                "beyond its hierarchy and the ranges of its values"
            )


def _is_known_text(axis: Axis, text: str, labels_only: bool) -> bool:
    if axis.is_label(text):
        return True
    run = axis.run(text)
    return not labels_only and run is not None and axis.text(*run) == text


# The order of rows


def is_ordered(released: ReleasedTables) -> bool:
    """Whether rows are sorted by their values over all columns.

    Values that were not generalised have an order of their own, labels that of their hierarchy,
    level by level from the leaves up where a column has several.
    Without it any order will do, and there is one unless neighbouring rows go round in a circle.
    """
    # Rows that are equal to the one before may be left out: they are in order.
    rows = len(frequencies(released.table))
    same_so_far = np.ones(max(rows - 1, 0), dtype=np.bool_)
    for column in released.claims.columns:
        if column.table is not None:
            continue
        codes = _ordered_codes(released, column)
        # A column decides only between rows that are equal in those before it.
        differs = same_so_far & (codes[1:] != codes[:-1])
        before = codes[:-1][differs]
        after = codes[1:][differs]
        known = column.name in released.level_trees or column.name in released.refined_trees
        if known or not released.is_generalised(column):
            sorted_here = bool((before <= after).all())
        else:
            sorted_here = is_acyclic(np.unique(np.stack([before, after]), axis=1))
        if not sorted_here:
            return False
        same_so_far &= ~differs
    return True


def _ordered_codes(released: ReleasedTables, column: ClaimedColumn) -> npt.NDArray[np.int64]:
    """The values of a column by their places in its hierarchy, or else in their own order."""
    codes = column_of(released.table, column.name).codes.astype(np.int64)
    refined = released.refined_trees.get(column.name)
    if refined is not None and released.table.rows:
        return np.array(_places_of_any_level(released, column.name, refined), dtype=np.int64)[codes]
    tree = released.level_trees.get(column.name)
    if tree is None or not released.table.rows:
        return codes
    level = released.claims.levels[column.name]
    if level > tree.height:
        return codes
    return np.array(places(released, column.name, tree, level), dtype=np.int64)[codes]


def is_acyclic(steps: npt.NDArray[np.int64]) -> bool:
    """Whether some order of values has every step, from its first row to its second, go up."""
    graph: TopologicalSorter[int] = TopologicalSorter()
    for before, after in steps.T.tolist():
        graph.add(after, before)
    try:
        graph.prepare()
    except CycleError:
        return False
    return True
