"""The check of random samples: is the probability of the promise that of the parameters?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from shoal.data.hierarchy.tree import Hierarchy
from shoal.privacy.promises import Sampled
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.levels import has_level_of_each
from shoal.releases.verification.method import MethodCheck, OpenEnd

__all__ = ["CHECK"]


@dataclass(frozen=True)
class SampleClaim:
    """What a certificate of a random sample says."""

    claims: Claims
    probability: Fraction
    promised: Fraction


def parse(claims: Claims) -> SampleClaim:
    probability = claims.parameters.number("probability")
    return SampleClaim(claims, probability, promised=claims.promise.number("share"))


def derivation(record: SampleClaim) -> Iterator[str]:
    if record.probability != record.promised:
        yield "the probability of the promise is not that of the parameters"
    yield from has_level_of_each(record.claims.levels, ())


def trusted(record: SampleClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd("that every record was drawn by chance, with that probability, and independently")


def free(record: SampleClaim) -> Iterator[str]:
    return iter(())


CHECK = MethodCheck(
    name="sampling",
    promises=(Sampled.name,),
    parameters="probability unit",
    parse=parse,
    derivation=derivation,
    trusted=trusted,
    free=free,
)
