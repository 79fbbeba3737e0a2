"""Levels of generalised columns, as parameters fix or bound them. Several methods have such.

Uses `claims`; the checks of methods use it.
"""

from collections.abc import Collection, Iterator, Mapping

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import listed, plural
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.method import OpenEnd

__all__ = [
    "NOT_OF_EACH",
    "bounded_level_faults",
    "fixed_level_faults",
    "has_level_of_each",
    "hierarchies_missing",
    "level_trust",
    "levelless_faults",
    "rows_per_person",
]

NOT_OF_EACH = "the certificate does not give a level for every generalised column, and for no other"


def has_level_of_each(levels: Mapping[str, int], names: Collection[str]) -> Iterator[str]:
    """Whether there is a level of each of these columns, and of no other."""
    if levels.keys() != set(names):
        yield NOT_OF_EACH


def fixed_level_faults(claims: Claims, fixed: Mapping[str, int]) -> Iterator[str]:
    """Whether levels are those fixed, and 0 where none is, for every column with a hierarchy."""
    levels = claims.levels
    if levels != {**dict.fromkeys(levels, 0), **fixed}:
        yield "the levels are not those that the parameters fix"
    for column in claims.columns:
        if column.has_any_hierarchy and column.name not in levels:
            yield f"column {column.name!r} has a hierarchy, and the certificate gives it no level"


def levelless_faults(claims: Claims, given: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether every released column for which a hierarchy is at hand has a level.

    Without one, the values of a column would not be looked up in its hierarchy.
    """
    for name in claims.names:
        if name in given and name not in claims.levels:
            yield f"column {name!r} has a hierarchy, and the certificate gives it no level"


def bounded_level_faults(
    levels: Mapping[str, int], floor: Mapping[str, int], ceiling: Mapping[str, int]
) -> Iterator[str]:
    """Whether every level is within its bounds, where it has any."""
    for name, level in levels.items():
        if not floor.get(name, 0) <= level <= ceiling.get(name, level):
            yield f"column {name!r} is at level {level}, which the parameters do not allow"


def level_trust(claims: Claims, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    """What nobody sees of levels that were fixed beforehand."""
    yield from hierarchies_missing(claims, hierarchies)
    yield OpenEnd("that hierarchies and levels were chosen without looking at the rows")


def rows_per_person(unit: str | None, rows: int) -> Iterator[OpenEnd]:
    """What nobody sees of people with several rows."""
    if unit:
        limit = plural(rows, "row")
        yield OpenEnd(f"that each value of {unit!r} gave at most {limit}, drawn by chance")


def hierarchies_missing(claims: Claims, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    """What nobody sees of labels without their hierarchies."""
    bare = claims.without_tree(hierarchies)
    if bare:
        yield OpenEnd(
            f"that released values of {listed(bare)} are labels of their levels: "
            "the hierarchies were not given"
        )
