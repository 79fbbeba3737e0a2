"""Connected components: what hangs together by way of groups. Uses nothing; any room may use it.

Views are connected by people they share, people by views, and groups by people who fit several.
"""

from collections.abc import Iterable, Sequence

__all__ = ["representatives"]


def representatives(things: Iterable[int], groups: Iterable[Sequence[int]]) -> dict[int, int]:
    """For every thing the smallest of those that groups connect it with, directly or by others.

    >>> representatives(range(5), [(1, 3), (4, 3)])
    {0: 0, 1: 1, 2: 2, 3: 1, 4: 1}
    """
    parent = {thing: thing for thing in things}

    def root(thing: int) -> int:
        while parent[thing] != thing:
            # Halving the path on the way keeps later searches short.
            parent[thing] = parent[parent[thing]]
            thing = parent[thing]
        return thing

    for group in groups:
        for thing in group[1:]:
            first, second = root(group[0]), root(thing)
            parent[max(first, second)] = min(first, second)
    return {thing: root(thing) for thing in parent}
