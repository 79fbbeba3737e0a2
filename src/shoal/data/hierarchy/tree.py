"""`Hierarchy`: the values a column may have, and what each becomes at every level.

Uses `errors` and `kinds`. Level 0 holds the leaves, the last level one root. Leaves are kept in
tree order (every value of every level covers a run of neighbouring leaves), so that codes at all
levels are small integers and a roll-up never has to reorder.
"""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, smallest
from shoal.data.hierarchy.ranges import Tiling
from shoal.data.kinds import Key, Kind
from shoal.errors import HierarchyError
from shoal.zones import OWNER_ONLY

__all__ = ["Hierarchy", "changes", "numbered", "rooted"]

Ints = npt.NDArray[np.int64]
Level = tuple[tuple[str, ...], Codes]
"""The labels of a level, and the code of every leaf."""


def numbered(texts: Iterable[str]) -> Ints:
    """Codes of texts, numbered in the order of their first appearance."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return np.array(codes, dtype=np.int64)


def changes(codes: npt.NDArray[Any]) -> Ints:
    """The places whose code differs from the next one."""
    return np.flatnonzero(codes[1:] != codes[:-1])


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of generalisation over a declared domain.

    labels: `labels[l][c]` is the text of code c at level l
    maps: `maps[l][leaf]` is the code of a leaf at level l
    derived: whether the domain or the grouping was read off the rows of a table, so that the shape
        itself reveals something about them
    cuts: set where level 0 already holds intervals of a continuous domain: leaf i covers cuts[i] to
        cuts[i+1], the end on the `closed` side included, and the domain's own far end if
        `end_closed`
    """

    labels: tuple[tuple[str, ...], ...]
    maps: tuple[Codes, ...]
    kind: Kind = Kind.TEXT
    derived: bool = False
    cuts: tuple[float, ...] = ()
    closed: str = "left"
    has_missing: bool = False
    end_closed: bool = True

    def __repr__(self) -> str:
        values = f"{self.leaves:,} {self.kind.value} values"
        mark = OWNER_ONLY if self.derived else ""
        return f"<{mark}shoal.Hierarchy of {values}, {self.height + 1} levels>"

    def _repr_html_(self) -> str:
        """The tree as notebooks show it."""
        from shoal.data.cards import card_of_hierarchy

        return card_of_hierarchy(self).html()

    @classmethod
    def from_lines(
        cls,
        lines: Sequence[Sequence[str]],
        kind: Kind | str = Kind.TEXT,
        *,
        derived: bool = False,
        root: str | None = None,
        add_root: str | None = None,
    ) -> "Hierarchy":
        """One line per value, column j is level j: the form ARX and anjana use.

        `root` replaces the last level of every line, for files whose last level has more than one
        text by mistake; `add_root` puts one more level above, for files that stop before the root.
        Empty lines are skipped. Leaves such as "[0, 5)" or "90+" of a numeric kind are intervals,
        and a number belongs to the one it lies in.

        >>> lines = [["7", "0-9", "*"], ["12", "10-19", "*"], ["3", "0-9", "*"]]
        >>> tree = Hierarchy.from_lines(lines, Kind.INTEGER)
        >>> tree.labels[0], tree.height
        (('7', '3', '12'), 2)
        """
        from shoal.data.hierarchy.check import faults

        if not all(isinstance(cell, str) for line in lines for cell in line):
            raise HierarchyError("a cell of a line is not text", "write numbers and dates as text")
        kind = Kind.of(kind)
        lines = rooted(lines, root, add_root)
        faults(lines, kind).refuse()
        return cls.from_sound_lines(lines, kind, derived)

    @classmethod
    def from_sound_lines(
        cls, lines: Sequence[Sequence[str]], kind: Kind, derived: bool = False
    ) -> "Hierarchy":
        """From lines that were checked before."""
        from shoal.data.hierarchy.check import tiling_of

        lines = [line for line in lines if line]
        leaves = [line[0] for line in lines]
        tiling = tiling_of(leaves, kind)
        if isinstance(tiling, Tiling):
            lines = [lines[i] for i in tiling.order]
        columns = list(zip(*lines, strict=True))
        codes = [numbered(column) for column in columns]
        # The last key, the root, counts most: neighbours in the tree become neighbours.
        order = np.lexsort(codes)
        labels = []
        maps = []
        for column, numbers in zip(columns, codes, strict=True):
            ordered = numbers[order]
            differs = ordered[1:] != ordered[:-1]
            starts = np.append(True, differs)
            texts = tuple(column[i] for i in order[starts].tolist())
            labels.append(texts)
            runs = np.cumsum(starts) - 1
            maps.append(runs.astype(smallest(len(texts))))
        tree = cls(tuple(labels), tuple(maps), kind, derived)
        if not isinstance(tiling, Tiling):
            return tree
        return replace(
            tree,
            cuts=tiling.cuts,
            closed=tiling.closed,
            end_closed=tiling.end_closed,
        )

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.maps) - 1

    @property
    def levels(self) -> list[Level]:
        """The levels from the leaves to the root."""
        return list(zip(self.labels, self.maps, strict=True))

    @property
    def leaves(self) -> int:
        """How many values the declared domain has, the missing value not counted."""
        return len(self.labels[0]) - self.has_missing

    def cardinality(self, level: int) -> int:
        """How many values a level has, the missing value included if there is one."""
        return len(self.labels[level])

    def cover(self, level: int) -> Ints:
        """How many leaves each value of a level covers; the missing value counts as one."""
        weight = np.ones(len(self.maps[0]))
        if self.has_missing:
            weight[-1] = 0
        covered = np.bincount(self.maps[level], weight, self.cardinality(level))
        return np.maximum(covered.astype(np.int64), 1)

    def texts(self) -> tuple[list[str], Ints]:
        """The texts of all levels, each once, and which of them every leaf shows at every level."""
        places: dict[str, int] = {}
        shown = []
        for labels, codes in self.levels:
            place_of = [places.setdefault(label, len(places)) for label in labels]
            shown.append(np.array(place_of)[codes])
        return list(places), np.array(shown, dtype=np.int64)

    def with_missing(self) -> "Hierarchy":
        """The same with a leaf for missing values, which stays alone below the root."""
        if self.has_missing or "" in self.labels[0]:
            return self
        return self._and_missing

    @cached_property
    def _and_missing(self) -> "Hierarchy":
        labels: list[tuple[str, ...]] = []
        maps = []
        for texts, codes in self.levels[:-1]:
            labels.append((*texts, ""))
            extended = np.append(codes, len(texts))
            maps.append(extended.astype(smallest(len(texts) + 1)))
        # The root covers the missing value too.
        root = np.append(self.maps[-1], 0)
        labels.append(self.labels[-1])
        maps.append(root.astype(smallest(1)))
        return replace(self, labels=tuple(labels), maps=tuple(maps), has_missing=True)

    def of_kind(self, kind: Kind) -> "Hierarchy":
        """The same for a column of another declared type, so that leaf "39" is the integer 39."""
        if kind is self.kind:
            return self
        if self.cuts:
            if (self.kind, kind) == (Kind.FLOAT, Kind.INTEGER):
                return replace(self, kind=kind)
            raise HierarchyError(
                f"the hierarchy has intervals of type {self.kind.value!r} and its column is "
                f"declared {kind.value!r}",
                f"declare the column {self.kind.value!r}",
            )
        try:
            tree = Hierarchy.from_lines(self.lines(), kind, derived=self.derived)
        except HierarchyError:
            if not self.derived:
                raise
            # Its labels are values of the table, which no message may carry.
            raise HierarchyError(
                f"the hierarchy was derived from values that are not all of type {kind.value!r}",
                "declare another type, or derive the hierarchy again",
            ) from None
        if self.has_missing:
            return tree.with_missing()
        return tree

    @cached_property
    def find(self) -> Callable[[Key | None], int]:
        """From a key (see `Kind.key`) to its leaf, -1 where the domain does not have it."""
        missing = len(self.maps[0]) - 1 if self.has_missing else -1
        if self.cuts:

            def interval(key: Key | None) -> int:
                if key is None:
                    return missing
                return self._interval(float(key))  # type: ignore[arg-type]

            return interval
        places: dict[Key | None, int] = {}
        for leaf, text in enumerate(self.labels[0]):
            places[self.kind.key(text)] = leaf
        if self.has_missing:
            places[None] = missing
        return lambda key: places.get(key, -1)

    def _interval(self, number: float) -> int:
        """The leaf that a number lies in, -1 if it lies in none."""
        last = len(self.cuts) - 2
        if self.closed == "left":
            if self.end_closed and number == self.cuts[-1]:
                return last
            place = bisect_right(self.cuts, number) - 1
        else:
            if self.end_closed and number == self.cuts[0]:
                return 0
            place = bisect_left(self.cuts, number) - 1
        if 0 <= place <= last:
            return place
        return -1

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what every value becomes at every level.

        It does not depend on the order of values or on the spelling of numbers.
        """
        plain = self.labels[0]
        if not self.cuts:
            plain = tuple(map(self.kind.canonical, plain))
        by_text = sorted(range(self.leaves), key=plain.__getitem__)
        leaves = np.array(by_text, dtype=np.int64)
        digest = hashlib.sha256()
        all_labels = (plain, *self.labels[1:])
        for labels, codes in zip(all_labels, self.maps, strict=True):
            # Codes are renumbered by where they first occur in the sorted leaves.
            sorted_codes = codes[leaves]
            _, first, renumbered = np.unique(sorted_codes, return_index=True, return_inverse=True)
            in_order = sorted_codes[np.sort(first)]
            shown = [labels[code] for code in in_order.tolist()]
            digest.update(json.dumps(shown).encode())
            rank = np.argsort(np.argsort(first))
            digest.update(rank[renumbered].astype("<u4").tobytes())
        return digest.hexdigest()

    def lines(self) -> list[list[str]]:
        """One line per value, column j is level j; the missing value is left out."""
        columns = []
        for texts, codes in self.levels:
            leaves = codes[: self.leaves].tolist()
            columns.append([texts[code] for code in leaves])
        return [list(line) for line in zip(*columns, strict=True)]


def rooted(
    lines: Sequence[Sequence[str]], root: str | None, add_root: str | None
) -> Sequence[Sequence[str]]:
    """The lines with `root` in place of their last level, or with one more level `add_root`."""
    if root is not None:
        lines = [[*line[:-1], root] if line else line for line in lines]
    if add_root is not None:
        lines = [[*line, add_root] if line else line for line in lines]
    return lines
