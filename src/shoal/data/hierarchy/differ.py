"""What differs between two hierarchies of one column: values, groups, levels.

Uses `tree`; the doors show it before an old hierarchy is replaced. Nothing here looks at a table:
how many records are concerned is in `coverage`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arguments import typed
from shoal.counts import Codes
from shoal.data.hierarchy.tree import Hierarchy, Ints
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError

__all__ = ["Difference", "MovedValue", "RenamedGroup", "difference"]


@dataclass(frozen=True)
class MovedValue:
    """A value that lies in another group than before.

    level: the lowest level at which it does, of the new hierarchy
    """

    value: str
    level: int
    before: str
    after: str


@dataclass(frozen=True)
class RenamedGroup:
    """A group of the same values, or most of them, under another name."""

    level: int
    before: str
    after: str


@dataclass(frozen=True)
class Difference:
    """What changes when one hierarchy takes the place of another.

    levels_added: levels of the new hierarchy that the old one does not have
    levels_removed: levels of the old hierarchy that the new one does not have
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[MovedValue, ...]
    renamed: tuple[RenamedGroup, ...]
    levels_added: tuple[int, ...]
    levels_removed: tuple[int, ...]

    @property
    def is_none(self) -> bool:
        """Whether both say the same about every value."""
        values = self.added or self.removed or self.moved
        return not (values or self.renamed or self.levels_added or self.levels_removed)

    @property
    def concerned(self) -> tuple[str, ...]:
        """The values of the old hierarchy whose records become something else."""
        return (*self.removed, *(one.value for one in self.moved))


@typed
def difference(before: Hierarchy, after: Hierarchy) -> Difference:
    """What differs between two hierarchies.

    Values are the same if their type says so: 039 is the integer 39. A group of which most values
    are now in one group of a new name is renamed; values that lie in another group are moved.

    >>> from shoal.data.hierarchy import groups
    >>> old = groups({"West": ["FR", "DE", "IT"], "East": ["PL", "CZ"]})
    >>> new = groups({"West": ["FR", "DE", "CZ"], "Ost": ["PL"], "South": ["IT", "ES"]})
    >>> found = difference(old, new)
    >>> found.added, [(one.value, one.after) for one in found.moved]
    (('ES',), [('IT', 'South'), ('CZ', 'West')])
    >>> [(one.before, one.after) for one in found.renamed]
    [('East', 'Ost')]
    """
    both = _Both.of(before, after)
    moved: dict[int, MovedValue] = {}
    renamed: list[RenamedGroup] = []
    aligned = list(both.aligned())
    for lower, upper in aligned:
        old, new = before.maps[lower][both.old], after.maps[upper][both.new]
        successor = _successors(before.labels[lower], after.labels[upper], old, new)
        for code, next_code in sorted(successor.items()):
            names = before.labels[lower][code], after.labels[upper][next_code]
            if names[0] != names[1]:
                renamed.append(RenamedGroup(upper, *names))
        expected = np.array([successor.get(code, -1) for code in range(len(before.labels[lower]))])
        for place in np.flatnonzero(expected[old] != new).tolist():
            names = before.labels[lower][old[place]], after.labels[upper][new[place]]
            value = before.labels[0][both.old[place]]
            moved.setdefault(place, MovedValue(value, upper, *names))
    kept, now = {lower for lower, _ in aligned}, {upper for _, upper in aligned}
    return Difference(
        added=both.only(after, both.new),
        removed=both.only(before, both.old),
        moved=tuple(moved[place] for place in sorted(moved)),
        renamed=tuple(renamed),
        levels_added=tuple(level for level in range(1, after.height + 1) if level not in now),
        levels_removed=tuple(level for level in range(1, before.height + 1) if level not in kept),
    )


@dataclass(frozen=True)
class _Both:
    """Two hierarchies, and the leaves that they have in common, pair by pair."""

    before: Hierarchy
    after: Hierarchy
    old: Ints
    new: Ints

    @classmethod
    def of(cls, before: Hierarchy, after: Hierarchy) -> "_Both":
        there = {key: leaf for leaf, key in enumerate(_keys(after, after.kind))}
        pairs = [
            (leaf, there[key]) for leaf, key in enumerate(_keys(before, after.kind)) if key in there
        ]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(before, after, found[:, 0], found[:, 1])

    def only(self, tree: Hierarchy, common: Ints) -> tuple[str, ...]:
        shared = set(common.tolist())
        return tuple(tree.labels[0][leaf] for leaf in range(tree.leaves) if leaf not in shared)

    def aligned(self) -> Iterator[tuple[int, int]]:
        """The levels above the values that correspond to each other, the roots last."""
        lower, upper = self.before.height, self.after.height
        if lower == upper:
            yield from zip(range(1, lower + 1), range(1, upper + 1), strict=True)
            return
        yield from self._alike(list(range(1, lower)), list(range(1, upper)))
        yield lower, upper

    def _alike(self, lower: Sequence[int], upper: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of levels in order that have most in common, by dynamic programming."""
        best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {}
        for i in range(len(lower) + 1):
            for j in range(len(upper) + 1):
                if not i or not j:
                    best[i, j] = 0.0, []
                    continue
                best[i, j] = max(best[i - 1, j], best[i, j - 1], key=lambda one: one[0])
                common = self._common(lower[i - 1], upper[j - 1])
                total, pairs = best[i - 1, j - 1]
                if common > 0.5 and total + common > best[i, j][0]:
                    best[i, j] = total + common, [*pairs, (lower[i - 1], upper[j - 1])]
        return best[len(lower), len(upper)][1]

    def _common(self, lower: int, upper: int) -> float:
        """The share of common values that are in the same group at two levels."""
        old, new = self.before.maps[lower][self.old], self.after.maps[upper][self.new]
        if not len(old):
            return 0.0
        successor = _successors(self.before.labels[lower], self.after.labels[upper], old, new)
        expected = np.array([successor.get(c, -1) for c in range(len(self.before.labels[lower]))])
        return float((expected[old] == new).mean())


def _keys(tree: Hierarchy, kind: Kind) -> list[object]:
    """What tells the leaves of a hierarchy apart, by the type of the new one."""
    texts = tree.labels[0][: tree.leaves]
    if tree.cuts:
        return list(texts)
    try:
        return [kind.key(text) for text in texts]
    except (ValueError, TypeError, OverflowError, HierarchyError):
        return list(texts)


def _successors(
    labels: Sequence[str], later: Sequence[str], old: Codes, new: Codes
) -> dict[int, int]:
    """The group that each group became: that of its name, or a new one that is mostly the same."""
    places = {label: code for code, label in enumerate(later)}
    found = {code: places[label] for code, label in enumerate(labels) if label in places}
    taken = set(found.values())
    pairs = old.astype(np.int64) * (len(later) + 1) + new.astype(np.int64)
    kinds, counts = np.unique(pairs, return_counts=True)
    before, after = np.bincount(old, minlength=len(labels)), np.bincount(new, minlength=len(later))
    for pair, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        code, next_code = divmod(pair, len(later) + 1)
        most = 2 * count >= before[code] and 2 * count >= after[next_code]
        if code not in found and next_code not in taken and most:
            found[code] = next_code
            taken.add(next_code)
    return found
