"""Levels of generalised columns, as parameters fix or bound them. Several methods have such.

Uses `claims`; the checks of methods use it.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import listed, plural
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.method import OpenEnd
from shoal.releases.verification.reading import ReleasedTables

__all__ = [
    "NOT_OF_EACH",
    "SCORES",
    "bounded_level_faults",
    "fixed_level_faults",
    "has_level_of_each",
    "hierarchies_missing",
    "is_score",
    "level_trust",
    "levelless_faults",
    "own_score",
    "rows_per_person",
    "unpaid_faults",
]

SCORES = ("granularity", "intensity", "discernibility", "entropy", "groups", "classification")
"""What a search may take for good."""

_OWN_NAME = re.compile("[a-z][a-z0-9-]{0,59}")

NOT_OF_EACH = "the certificate does not give a level for every generalised column, and for no other"


def is_score(given: object) -> bool:
    """Whether this is a score that is known, or one of the owner's own."""
    if type(given) is str:
        return given in SCORES
    name = given.get("is") if isinstance(given, Mapping) else None
    return type(name) is str and name not in SCORES and _OWN_NAME.fullmatch(name) is not None


def own_score(claims: Claims) -> Iterator[OpenEnd]:
    """What to say of a score of the owner's own, by which levels were chosen."""
    score = claims.certificate.parameters["score"]
    if isinstance(score, Mapping):
        yield OpenEnd(
            f"that one record moves {score['is']}, a score of the owner's own, no further than it "
            "says: what the search reveals depends on it"
        )


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
        if name in given and name not in claims.levels and name not in claims.refined:
            yield f"column {name!r} has a hierarchy, and the certificate gives it no level"


def bounded_level_faults(
    levels: Mapping[str, int], floor: Mapping[str, int], ceiling: Mapping[str, int]
) -> Iterator[str]:
    """Whether every level is within its bounds, where it has any."""
    for name, level in levels.items():
        if not floor.get(name, 0) <= level <= ceiling.get(name, level):
            yield f"column {name!r} is at level {level}, which the parameters do not allow"


def unpaid_faults(
    tables: ReleasedTables, floor: Mapping[str, int], ceiling: Mapping[str, int]
) -> Iterator[str]:
    """Whether the bounds leave no choice of levels, where nothing is paid for one."""
    for name, level in tables.claims.levels.items():
        root = _root_level(tables, name, level)
        if floor.get(name, 0) != ceiling.get(name, root):
            yield (
                "nothing is paid for a search, "
                f"though the level of column {name!r} had to be chosen"
            )


def _root_level(tables: ReleasedTables, name: str, level: int) -> int:
    """The level of the root; without a hierarchy, the present one if it may be that, else -1."""
    tree = tables.level_trees.get(name)
    if tree is not None:
        return tree.height
    return level if len(tables.table.keys(name)) <= 1 else -1


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
