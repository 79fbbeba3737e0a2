"""How much of a domain a released text stands for, by the grammar of `texts`. Whoever compares releases uses it."""

from collections.abc import Callable, Iterator
from functools import cache

from shoal.data.hierarchy.texts import Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError

__all__ = ["covers"]


def covers(hierarchy: Hierarchy) -> Callable[[str], int | None]:
    """From a released text to the number of leaves it stands for, None if it is nothing of this hierarchy.

    "*" is everything, whatever the root is called; a missing value is a leaf of its own, and adds nothing to a range or set,
    as in `Hierarchy.cover`.

    >>> tree = Hierarchy.from_lines([["31", "30s", "*"], ["38", "30s", "*"], ["44", "40s", "*"]], Kind.INTEGER)
    >>> [covers(tree)(text) for text in ("38", "30s", "31-44", "*", "red")]
    [1, 2, 3, 3, None]
    """
    own = Texts.of(hierarchy.with_missing())

    @cache
    def typed() -> list[Texts]:
        return [Texts.of(tree.with_missing()) for tree in _by_type(hierarchy)]

    def covered(text: str) -> int | None:
        readings = [own] if own.is_label(text) else [own, *typed()]
        for texts in readings:
            found = texts(text)
            if found is not None and found.any():
                return max(int(found[: hierarchy.leaves].sum()), 1)
        return None

    return covered


def _by_type(hierarchy: Hierarchy) -> Iterator[Hierarchy]:
    """A hierarchy of texts by the types that all its leaves have, for a table's column may have them."""
    if hierarchy.kind is not Kind.TEXT:
        return
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.DATE):
        try:
            yield hierarchy.of_kind(kind)
        except HierarchyError:
            continue
