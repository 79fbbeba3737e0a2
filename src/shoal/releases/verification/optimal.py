"""The check of optimal generalisation: are levels within bounds, and no more stars than allowed?

Whether groups satisfy the models is checked for every method that has models. Uses `levels`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.privacy.promises import Syntactic
from shoal.releases.verification.claims import Claims, one_of
from shoal.releases.verification.levels import bounded_level_faults, has_level_of_each
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.reading import TableShape

__all__ = ["CHECK"]


@dataclass(frozen=True)
class OptimalClaim:
    """What a certificate of optimal generalisation says."""

    claims: Claims
    suppression: Fraction
    """The share of records that may be suppressed."""

    starred: bool
    """Whether suppressed records are rows of stars, and not left out."""

    floor: Mapping[str, int]
    ceiling: Mapping[str, int]


def parse(claims: Claims) -> OptimalClaim:
    given = claims.parameters
    given.require(_is_loss, "loss")
    if "search" in given.part:
        given.require(one_of("best", "greedy"), "search")
    return OptimalClaim(
        claims,
        suppression=given.number("suppression"),
        starred=given.checked(one_of("drop", "star"), "suppressed") == "star",
        floor=given.levels("floor"),
        ceiling=given.levels("ceiling"),
    )


def _is_loss(given: object) -> bool:
    return type(given) is str or (isinstance(given, Mapping) and "is" in given)


def derivation(record: OptimalClaim) -> Iterator[str]:
    levels = record.claims.levels
    yield from has_level_of_each(levels, record.claims.quasi)
    yield from bounded_level_faults(levels, record.floor, record.ceiling)


def trusted(record: OptimalClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    return iter(())


def free(record: OptimalClaim) -> Iterator[str]:
    yield from ("loss", "suppression", "floor", "ceiling", "suppressed", "search")


def shape(record: OptimalClaim) -> TableShape:
    if not record.starred:
        return TableShape(data_hierarchies=True)
    return TableShape(data_hierarchies=True, extra_labels=(ANY,), most_starred=record.suppression)


CHECK = MethodCheck(
    name="optimal",
    promises=(Syntactic.name,),
    parameters="models loss suppression floor ceiling suppressed unit search",
    newer="search",
    parse=parse,
    derivation=derivation,
    trusted=trusted,
    free=free,
    whole=lambda record: record.starred or not record.suppression,
    shape=shape,
    variant=lambda record: {"starred": True} if record.starred else {},
)
