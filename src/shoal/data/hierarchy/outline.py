"""The look of a hierarchy: its levels in figures, and the top of its tree.

Uses `tree`; the doors show it.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["Branch", "LevelFigures", "level_figures", "outline"]


@dataclass(frozen=True)
class LevelFigures:
    """One level of a hierarchy.

    covers: the fewest and the most leaves that one of its values covers
    share: the largest share of the domain that one of its values covers
    examples: its first values and its last one
    """

    level: int
    values: int
    covers: tuple[int, int]
    share: float
    examples: tuple[str, ...]


def level_figures(hierarchy: Hierarchy) -> list[LevelFigures]:
    """The figures of every level.

    >>> lines = [["FR", "West", "*"], ["DE", "West", "*"], ["PL", "East", "*"]]
    >>> level_figures(Hierarchy.from_lines(lines))[1].covers
    (1, 2)
    """
    figures = []
    for level, labels in enumerate(hierarchy.labels):
        cover = hierarchy.cover(level)
        fewest, most = int(cover.min()), int(cover.max())
        examples = labels
        if len(labels) > 4:
            examples = (*labels[:3], labels[-1])
        share = most / hierarchy.leaves
        figures.append(LevelFigures(level, len(labels), (fewest, most), share, examples))
    return figures


@dataclass(frozen=True)
class Branch:
    """A value, some of those below it, and how many more there are."""

    label: str
    below: tuple["Branch", ...]
    more: int


def outline(hierarchy: Hierarchy, branches: int) -> Branch:
    """The tree from its root, with up to `branches` branches below each value."""
    return _branch(hierarchy, hierarchy.height, 0, slice(0, hierarchy.leaves), branches)


def _branch(
    tree: Hierarchy,
    level: int,
    code: int,
    leaves: slice,
    branches: int,
) -> Branch:
    """The value of a level that some neighbouring leaves have, and what is below it."""
    label = tree.labels[level][code]
    while level > 0:
        level -= 1
        # Leaves are in tree order, so the values below a value are runs among its leaves.
        codes, starts = np.unique(tree.maps[level][leaves], return_index=True)
        labels = [tree.labels[level][code] for code in codes]
        if labels == [label]:
            # A value that is repeated further down is drawn once.
            continue
        edges = [*(leaves.start + starts).tolist(), leaves.stop]
        below = []
        for code, ends in zip(codes[:branches].tolist(), pairwise(edges), strict=False):
            below.append(_branch(tree, level, code, slice(*ends), branches))
        return Branch(label, tuple(below), max(len(codes) - branches, 0))
    return Branch(label, (), 0)
