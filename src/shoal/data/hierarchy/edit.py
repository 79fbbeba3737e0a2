"""Changing a hierarchy that is there: names of groups, what lies in them, values and levels.

Each function returns a new hierarchy, and refuses what would put a value on two paths. A group is
named by its level and its label, which a level has only once. What is derived from rows stays so.
Uses `tree`; the workbench uses it, and whoever mends a code list by a program.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.counts import smallest
from shoal.data.hierarchy.tree import Hierarchy, Ints, changes
from shoal.errors import HierarchyError, ParameterError, plural

__all__ = [
    "add_level",
    "add_values",
    "merge",
    "move",
    "remove_level",
    "remove_values",
    "rename",
]


@typed
def rename(tree: Hierarchy, level: int, label: str, to: str) -> Hierarchy:
    """The hierarchy with another name for one group.

    >>> from shoal.data.hierarchy import groups
    >>> tree = groups({"W": ["FR", "DE"], "East": ["PL"]})
    >>> rename(tree, 1, "W", "West").labels[1]
    ('West', 'East')
    """
    columns = _Columns.of(tree)
    code = columns.code(columns.require_group(level), label)
    _require_name(to)
    if to == label:
        return tree
    if to in columns.labels[level]:
        raise ParameterError(f"level {level} has a group of this name already", "merge the two")
    columns.labels[level][code] = to
    return columns.hierarchy()


@typed
def merge(tree: Hierarchy, level: int, labels: Iterable[str], into: str) -> Hierarchy:
    """The hierarchy with some groups of a level as one, called `into`.

    They must lie in the same group above, where there is one.

    >>> from shoal.data.hierarchy import groups
    >>> tree = groups({"West": ["FR"], "East": ["PL"], "Asia": ["JP"]})
    >>> merge(tree, 1, ["West", "East"], "Europe").lines()[1]
    ['PL', 'Europe', '*']
    """
    columns = _Columns.of(tree)
    columns.require_group(level)
    chosen = list(dict.fromkeys(labels))
    _require_name(into)
    if into in columns.labels[level] and into not in chosen:
        chosen.append(into)
    codes = columns.chosen(level, chosen)
    if level < tree.height and len(set(columns.above(level, codes))) > 1:
        raise ParameterError(
            "the groups to merge lie in different groups above",
            "move them into one of these first, or merge these",
        )
    first = codes[0]
    columns.labels[level][first] = into
    columns.codes[level][np.isin(columns.codes[level], codes)] = first
    return columns.hierarchy()


@typed
def move(tree: Hierarchy, level: int, labels: Iterable[str], to: str) -> Hierarchy:
    """The hierarchy with some values or groups of a level in another group of the level above.

    A group `to` that is not there yet is made beside the one that they leave.

    >>> from shoal.data.hierarchy import groups
    >>> tree = groups({"West": ["FR", "PL"], "East": ["CZ"]})
    >>> move(tree, 0, ["PL"], "East").lines()
    [['FR', 'West', '*'], ['PL', 'East', '*'], ['CZ', 'East', '*']]
    >>> move(tree, 0, ["FR", "CZ"], "Other").labels[1]
    ('Other', 'West')
    """
    columns = _Columns.of(tree)
    columns.require_level(level)
    if level + 1 >= tree.height:
        raise ParameterError(
            f"above level {level} there is only the root",
            "add a level first, or group the values on a new one",
        )
    codes = columns.chosen(level, labels)
    _require_name(to)
    moving = np.isin(columns.codes[level], codes)
    group = columns.place(level + 1, to)
    if group is None:
        group = columns.new_group(level + 1, to, np.flatnonzero(moving))
    columns.codes[level + 1][moving] = group
    at = columns.leaf_in(level + 1, group, besides=moving)
    if at is not None:
        # They take the whole path of the group that they go to.
        for higher in range(level + 2, tree.height):
            columns.codes[higher][moving] = columns.codes[higher][at]
    return columns.hierarchy()


@typed
def add_values(tree: Hierarchy, values: Iterable[str], to: str) -> Hierarchy:
    """The hierarchy with more values, in a group of level 1.

    A group that is not there yet is made below the root, and has its name at all levels. Where
    there is no level of groups, `to` is the root. Leaves that are intervals cannot be added one by
    one: build the hierarchy anew with other ends.

    >>> from shoal.data.hierarchy import groups
    >>> tree = groups({"West": ["FR"], "East": ["PL"]})
    >>> add_values(tree, ["CZ"], "East").lines()[2]
    ['CZ', 'East', '*']
    """
    if tree.cuts:
        raise HierarchyError(
            "its values are intervals, which have no gaps to add values in",
            "build it anew with other ends",
        )
    new = list(values)
    if not new:
        raise ParameterError("no value was given", "name one or more")
    _require_name(to)
    root = tree.labels[-1][0]
    if tree.height == 1 or to == root:
        path = [root] * tree.height
    elif to in tree.labels[1]:
        at = int(np.flatnonzero(tree.maps[1] == tree.labels[1].index(to))[0])
        path = [tree.labels[level][tree.maps[level][at]] for level in range(1, tree.height + 1)]
    else:
        path = [to] * (tree.height - 1) + [root]
    lines = [*tree.lines(), *([value, *path] for value in new)]
    return Hierarchy.from_lines(lines, tree.kind, derived=tree.derived)


@typed
def remove_values(tree: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """The hierarchy without some values; a group that is left empty goes with them.

    >>> from shoal.data.hierarchy import groups
    >>> remove_values(groups({"West": ["FR"], "East": ["PL"]}), ["PL"]).labels[1]
    ('West',)
    """
    columns = _Columns.of(tree)
    codes = columns.chosen(0, values)
    if tree.cuts:
        raise HierarchyError(
            "its values are intervals, which must not leave a gap", "build it anew with other ends"
        )
    kept = ~np.isin(columns.codes[0], codes)
    if not kept.any():
        raise ParameterError("no value would be left", "keep one or more")
    columns.codes = [level[kept] for level in columns.codes]
    return columns.hierarchy()


@typed
def add_level(
    tree: Hierarchy, above: int, groups: Mapping[str, Sequence[str]] | None = None
) -> Hierarchy:
    """The hierarchy with one more level, directly above another.

    groups: the labels of the level below that each new group has; all others stay as they are

    >>> from shoal.data.hierarchy import suppress
    >>> add_level(suppress(["FR", "DE", "JP"]), 0, {"Europe": ["FR", "DE"]}).lines()
    [['FR', 'Europe', '*'], ['DE', 'Europe', '*'], ['JP', 'JP', '*']]
    """
    columns = _Columns.of(tree)
    columns.require_level(above)
    if above >= tree.height:
        raise ParameterError("nothing lies above the root", "add the level below it")
    labels, codes = list(columns.labels[above]), columns.codes[above].copy()
    taken: dict[int, str] = {}
    for name, members in (groups or {}).items():
        _require_name(name)
        chosen = columns.chosen(above, members)
        if len(set(columns.above(above, chosen))) > 1:
            raise ParameterError(
                "a new group has members that lie in different groups above",
                "group only what lies in the same one",
            )
        if any(code in taken for code in chosen):
            raise ParameterError("two new groups have a member in common", "leave it out of one")
        taken |= dict.fromkeys(chosen, name)
        labels[chosen[0]] = name
        codes[np.isin(codes, chosen)] = chosen[0]
    columns.labels.insert(above + 1, labels)
    columns.codes.insert(above + 1, codes)
    shown = [labels[code] for code in np.unique(codes).tolist()]
    if len(set(shown)) < len(shown):
        raise ParameterError(
            "a new group has the name of a value or group that is not in it", "take another name"
        )
    return columns.hierarchy()


@typed
def remove_level(tree: Hierarchy, level: int) -> Hierarchy:
    """The hierarchy without one of its levels; neither the values nor the root can go.

    >>> from shoal.data.hierarchy import intervals
    >>> remove_level(intervals(0, 19, widths=[5, 10]), 1).lines()[7]
    ['7', '0-9', '*']
    """
    columns = _Columns.of(tree)
    columns.require_level(level)
    if not 0 < level < tree.height:
        raise ParameterError("the values and the root stay", "choose a level between them")
    del columns.labels[level], columns.codes[level]
    return columns.hierarchy()


def _require_name(name: str) -> None:
    if not name.strip() or name != name.strip():
        raise ParameterError(
            "the name of a group is blank, or begins or ends with a blank", "take another name"
        )


class _Columns:
    """The levels of a hierarchy while they are changed: labels, and the code of every leaf."""

    def __init__(self, tree: Hierarchy, labels: list[list[str]], codes: list[Ints]) -> None:
        self.tree = tree
        self.labels = labels
        self.codes = codes

    @classmethod
    def of(cls, tree: Hierarchy) -> "_Columns":
        # A leaf for missing values is added again where it is needed.
        codes = [codes[: tree.leaves].astype(np.int64) for codes in tree.maps]
        return cls(tree, [list(labels) for labels in tree.labels], codes)

    def require_level(self, level: int) -> int:
        if not 0 <= level < len(self.labels):
            raise ParameterError(
                f"there is no level {level}", f"the levels are 0 to {len(self.labels) - 1}"
            )
        return level

    def require_group(self, level: int) -> int:
        if level == 0:
            raise ParameterError(
                "level 0 has the values of the table, which are not groups",
                "choose a higher level",
            )
        return self.require_level(level)

    def place(self, level: int, label: str) -> int | None:
        """The code of a label; None if the level does not have it."""
        labels = self.labels[level]
        return labels.index(label) if label in labels else None

    def code(self, level: int, label: str) -> int:
        """The code of a label.

        Which label it is may be a value of the table, and is not said.
        """
        found = self.place(level, label)
        if found is None:
            raise ParameterError(f"level {level} has nothing of this name", "name what is there")
        return found

    def chosen(self, level: int, labels: Iterable[str]) -> list[int]:
        places = {label: code for code, label in enumerate(self.labels[level])}
        named = list(dict.fromkeys(labels))
        if not named:
            raise ParameterError("nothing was chosen", "name one label or more")
        absent = sum(label not in places for label in named)
        if absent:
            raise ParameterError(
                f"level {level} lacks {plural(absent, 'label')} of those given",
                "name what is there",
            )
        return [places[label] for label in named]

    def above(self, level: int, codes: Sequence[int]) -> list[int]:
        """The codes of the groups above some groups."""
        firsts = [int(np.argmax(self.codes[level] == code)) for code in codes]
        return [int(self.codes[level + 1][leaf]) for leaf in firsts]

    def leaf_in(self, level: int, code: int, besides: npt.NDArray[np.bool_]) -> int | None:
        """A leaf of a group that is not among some others; None if there is none."""
        found = np.flatnonzero((self.codes[level] == code) & ~besides)
        return int(found[0]) if len(found) else None

    def new_group(self, level: int, label: str, leaves: Ints) -> int:
        """The code of a new group for some leaves, which have one path above it."""
        for higher in range(level + 1, len(self.codes)):
            if len(np.unique(self.codes[higher][leaves])) > 1:
                raise ParameterError(
                    "a new group would take from different groups above",
                    "choose only what lies in the same one",
                )
        self.labels[level].append(label)
        return len(self.labels[level]) - 1

    def hierarchy(self) -> Hierarchy:
        """The hierarchy, with its leaves in tree order and codes without gaps."""
        tree = self.tree
        if tree.cuts:
            # Only neighbours may be merged, which the lines are checked for.
            columns = [
                [labels[code] for code in codes.tolist()]
                for labels, codes in zip(self.labels, self.codes, strict=True)
            ]
            lines = [list(line) for line in zip(*columns, strict=True)]
            return Hierarchy.from_lines(lines, tree.kind, derived=tree.derived)
        # By where a group comes first, so that an edit moves as little as possible.
        firsts = [_by_first(codes) for codes in self.codes]
        order = np.lexsort(firsts)
        labels, maps = [], []
        for texts, codes in zip(self.labels, self.codes, strict=True):
            ordered = codes[order]
            starts = np.append(0, changes(ordered) + 1)
            labels.append(tuple(texts[code] for code in ordered[starts].tolist()))
            marks = np.zeros(len(ordered), dtype=np.int64)
            marks[starts[1:]] = 1
            maps.append(np.cumsum(marks).astype(smallest(len(starts))))
        return replace(tree, labels=tuple(labels), maps=tuple(maps), has_missing=False)


def _by_first(codes: Ints) -> Ints:
    """Codes renumbered by the leaf at which each comes first."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
