"""How much of a domain a released text stands for. Uses the rest of this room; whoever compares releases uses it.

A release holds texts: values of some level, and where every group has ranges of its own (Mondrian), ranges and sets of them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise

from shoal.errors import HierarchyError
from shoal.hierarchy import ranges
from shoal.hierarchy.tree import Hierarchy
from shoal.kinds import Kind

__all__ = ["covers"]

_DAYS = re.compile(r"\[(\S+), (\S+)\]")
_OR_MISSING = " or missing"


def covers(hierarchy: Hierarchy) -> Callable[[str], int | None]:
    """From a released text to the number of leaves it stands for, None if it is nothing of this hierarchy.

    A text at several levels is taken for the finest. "*" is everything, whatever the root is called; a missing value is a
    leaf of its own, and adds nothing to a range or set, as in `Hierarchy.cover`.

    >>> tree = Hierarchy.from_lines([["31", "30s", "*"], ["38", "30s", "*"], ["44", "40s", "*"]], Kind.INTEGER)
    >>> [covers(tree)(text) for text in ("38", "30s", "31-44", "*", "red")]
    [1, 2, 3, 3, None]
    """
    known = {"*": hierarchy.leaves, "": 1}
    for level in reversed(range(hierarchy.height + 1)):
        known.update(zip(hierarchy.labels[level], hierarchy.cover(level).tolist(), strict=True))

    @cache
    def counters() -> list[Callable[[str], int]]:
        return [_counter(tree) for tree in _by_type(hierarchy)]

    def covered(text: str) -> int | None:
        if text in known:
            return known[text]
        if text.endswith(_OR_MISSING):
            return covered(text.removesuffix(_OR_MISSING))
        if text.startswith("{") and text.endswith("}"):
            return _sum(text[1:-1].split(", "), {**known, "missing": 0, "": None})
        return next((number for count in counters() if (number := count(text))), None)

    return covered


def _by_type(hierarchy: Hierarchy) -> Iterator[Hierarchy]:
    """The hierarchy by its own type; one of texts also by those that all its leaves have, for a table's column may have them."""
    if hierarchy.kind is not Kind.TEXT:
        yield hierarchy
        return
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.DATE):
        try:
            yield hierarchy.of_kind(kind)
        except HierarchyError:
            continue


def _counter(tree: Hierarchy) -> Callable[[str], int]:
    """How many leaves a single value or a range of a tree's own type has; 0 where a text is neither."""
    kind, shift = tree.kind, float(tree.kind is Kind.INTEGER and tree.closed == "right")
    keys = [] if tree.cuts else sorted(kind.key(text) for text in tree.labels[0] if text)  # type: ignore[type-var]
    leaves = [(low + shift, high + shift) for low, high in pairwise(tree.cuts)]

    def count(text: str) -> int:
        try:
            if tree.find(kind.key(text)) >= 0:
                return 1
        except (ValueError, TypeError):
            pass  # no single value
        if kind is Kind.DATE:
            days = _DAYS.fullmatch(text)
            try:
                return (
                    bisect_right(keys, kind.key(days[2])) - bisect_left(keys, kind.key(days[1]))  # type: ignore[type-var]
                    if days
                    else 0
                )
            except ValueError:
                return 0
        found = ranges.parse(text, kind)
        if found is None:
            return 0
        if tree.cuts:
            return sum(found.low <= low and high <= found.high for low, high in leaves)
        after = bisect_right if found.high_in else bisect_left
        before = bisect_left if found.low_in else bisect_right
        return max(after(keys, found.high) - before(keys, found.low), 0)  # type: ignore[type-var]

    return count


def _sum(parts: list[str], known: Mapping[str, int | None]) -> int | None:
    """What the values of a set cover together; a comma may be part of a value, so the longest known one is taken."""
    total = place = 0
    while place < len(parts):
        for end in range(len(parts), place, -1):
            number = known.get(", ".join(parts[place:end]))
            if number is not None:
                total, place = total + number, end
                break
        else:
            return None
    return total
