"""How much of a domain a released text stands for, by the grammar of `texts`.

Uses `texts` and `tree`; whoever compares releases uses it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from shoal.data.hierarchy.texts import Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError

__all__ = ["covers"]


def covers(
    hierarchy: Hierarchy, levels: Sequence[int] | None = None
) -> Callable[[str], int | None]:
    """From a released text to the number of leaves it stands for, None if it is not one of these.

    "*" is everything, whatever the root is called; a missing value is a leaf of its own, and adds
    nothing to a range or set, as in `Hierarchy.cover`. `levels` are those that texts may be of, if
    that is known.

    >>> lines = [["31", "30s", "*"], ["38", "30s", "*"], ["44", "40s", "*"]]
    >>> covered = covers(Hierarchy.from_lines(lines, Kind.INTEGER))
    >>> [covered(text) for text in ("38", "30s", "31-44", "*", "red")]
    [1, 2, 3, 3, None]
    """
    declared = Texts.of(hierarchy.with_missing(), levels)

    @cache
    def typed() -> list[Texts]:
        return [Texts.of(tree.with_missing(), levels) for tree in _by_type(hierarchy)]

    def covered(text: str) -> int | None:
        readings = [declared] if declared.is_label(text) else [declared, *typed()]
        for texts in readings:
            values = texts(text)
            if values is not None and values.any():
                return max(int(values[: hierarchy.leaves].sum()), 1)
        return None

    return covered


def _by_type(hierarchy: Hierarchy) -> Iterator[Hierarchy]:
    """A hierarchy of texts by the types that all its leaves have: a column may have them."""
    if hierarchy.kind is not Kind.TEXT:
        return
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.DATE):
        try:
            yield hierarchy.of_kind(kind)
        except HierarchyError:
            continue
