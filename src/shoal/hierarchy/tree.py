"""`Hierarchy`: the values a column may have, and what each becomes at every level. Uses `errors` and `kinds`.

Level 0 holds the leaves, the last level one root. Leaves are kept in tree order (every value of every level covers a
run of neighbouring leaves), so that codes at all levels are small integers and a roll-up never has to reorder.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.errors import HierarchyError
from shoal.kinds import Key, Kind

__all__ = ["Codes", "Hierarchy", "smallest"]

Codes = npt.NDArray[np.unsignedinteger]


def smallest(values: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer type with at least `values` values."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if values <= np.iinfo(kind).max + 1:
            return kind
    return np.uint64


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of generalisation over a declared domain.

    `labels[l][c]` is the text of code c at level l; `maps[l][leaf]` is the code of a leaf at level l. `derived` says
    that the domain or the grouping was read off the rows of a table, so that its shape itself tells about them.
    `cuts` is set where level 0 already holds intervals of a continuous domain: leaf i covers cuts[i] to cuts[i+1].
    """

    labels: tuple[tuple[str, ...], ...]
    maps: tuple[Codes, ...]
    kind: Kind = Kind.TEXT
    derived: bool = False
    cuts: tuple[float, ...] = ()
    closed: str = "left"
    has_missing: bool = False

    @classmethod
    def from_lines(
        cls,
        lines: Sequence[Sequence[str]],
        kind: Kind = Kind.TEXT,
        *,
        derived: bool = False,
        root: str | None = None,
    ) -> "Hierarchy":
        """One line a value, column j is level j: the form ARX and anjana use.

        `root` replaces the last level of every line, for files whose last level has more than one text.

        >>> tree = Hierarchy.from_lines([["7", "0-9", "*"], ["12", "10-19", "*"], ["3", "0-9", "*"]], Kind.INTEGER)
        >>> tree.labels[0], tree.height
        (('7', '3', '12'), 2)
        """
        from shoal.hierarchy.check import problems

        if root is not None:
            lines = [[*line[:-1], root] for line in lines]
        found = problems(lines, kind)
        if found.errors:
            raise HierarchyError("; ".join(found.errors))
        depth = len(lines[0])
        # Tree order: sort by the first appearance of the label at every level, the coarsest first.
        ranks = []
        for level in reversed(range(depth)):
            seen: dict[str, int] = {}
            ranks.append([seen.setdefault(line[level], len(seen)) for line in lines])
        order = sorted(range(len(lines)), key=lambda i: tuple(rank[i] for rank in ranks))
        labels, maps = [], []
        for level in range(depth):
            codes: dict[str, int] = {}
            column = [codes.setdefault(lines[i][level], len(codes)) for i in order]
            labels.append(tuple(codes))
            maps.append(np.array(column, dtype=smallest(len(codes))))
        return cls(tuple(labels), tuple(maps), kind, derived)

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.maps) - 1

    @property
    def leaves(self) -> int:
        """How many values the declared domain has, the missing value not counted."""
        return len(self.labels[0]) - self.has_missing

    def cardinality(self, level: int) -> int:
        """How many values a level has, the missing value included if there is one."""
        return len(self.labels[level])

    def cover(self, level: int) -> npt.NDArray[np.int64]:
        """How many leaves each value of a level covers; the missing value counts as one."""
        weight = np.ones(len(self.maps[0]))
        if self.has_missing:
            weight[-1] = 0
        covered = np.bincount(self.maps[level], weight, self.cardinality(level)).astype(np.int64)
        return np.maximum(covered, 1)

    def with_missing(self) -> "Hierarchy":
        """The same with a leaf for missing values, which stays alone below the root."""
        if self.has_missing or "" in self.labels[0]:
            return self
        labels, maps = [], []
        for level, (texts, codes) in enumerate(zip(self.labels, self.maps, strict=True)):
            texts, code = (texts, 0) if level == self.height else ((*texts, ""), len(texts))
            labels.append(texts)
            maps.append(np.append(codes, code).astype(smallest(len(texts))))
        return replace(self, labels=tuple(labels), maps=tuple(maps), has_missing=True)

    @cached_property
    def find(self) -> Callable[[Key | None], int]:
        """From a key (see `Kind.key`) to its leaf, -1 where the domain does not have it."""
        missing = len(self.maps[0]) - 1 if self.has_missing else -1
        if self.cuts:
            side = bisect_right if self.closed == "left" else bisect_left
            return lambda key: missing if key is None else self._interval(side, float(key))  # type: ignore[arg-type]
        places: dict[Key | None, int] = {self.kind.key(text): i for i, text in enumerate(self.labels[0])}
        if self.has_missing:
            places[None] = missing
        return lambda key: places.get(key, -1)

    def _interval(self, side: Callable[[Sequence[float], float], int], number: float) -> int:
        place = side(self.cuts, number) - 1
        # The outermost intervals also hold the domain's own end.
        if number == self.cuts[0]:
            place = 0
        if number == self.cuts[-1]:
            place = len(self.cuts) - 2
        return place if 0 <= place < len(self.cuts) - 1 else -1

    def lines(self) -> list[list[str]]:
        """One line a value, column j is level j; the missing value is left out."""
        return [[self.labels[level][self.maps[level][leaf]] for level in range(len(self.maps))] for leaf in range(self.leaves)]
