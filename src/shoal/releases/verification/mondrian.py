"""The check of Mondrian: are its splits those of its promise, and its texts ranges of values?

Splits in the middle of domains keep semantic k-anonymity. Splits by the rows promise no more than
that groups satisfy the models. Uses `labels`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shoal.data.hierarchy.tree import Hierarchy
from shoal.privacy.promises import SemanticAnonymity, Syntactic
from shoal.releases.verification.claims import Claims, one_of
from shoal.releases.verification.labels import range_faults
from shoal.releases.verification.levels import has_level_of_each
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.models import SizeModel
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]


@dataclass(frozen=True)
class MondrianClaim:
    """What a certificate of Mondrian says."""

    claims: Claims
    semantic_k: int | None
    """The k of semantic k-anonymity; None where only the models are promised."""

    splits: str
    ranges: str
    relaxed: bool


def parse(claims: Claims) -> MondrianClaim:
    given = claims.parameters
    semantic = claims.promise_name == SemanticAnonymity.name
    return MondrianClaim(
        claims,
        semantic_k=claims.promise.whole("k") if semantic else None,
        splits=given.checked(one_of("median", "middle"), "splits"),
        ranges=given.text("ranges"),
        relaxed=given.flag("relaxed"),
    )


def derivation(record: MondrianClaim) -> Iterator[str]:
    if record.semantic_k is None:
        yield from has_level_of_each(record.claims.levels, ())
        if record.ranges not in ("boundary", "observed"):
            yield NOT_TAKEN
        return
    if record.claims.levels:
        yield "the certificate names levels, which splits do not have"
    if (record.splits, record.ranges, record.relaxed) != ("middle", "boundary", False):
        yield "semantic k-anonymity is promised of splits or ranges that depend on the rows"
    sizes = [model.model.k for model in record.claims.models if isinstance(model.model, SizeModel)]
    only_sizes = len(sizes) == len(record.claims.models)
    if not only_sizes or len(record.claims.quasi) < len(record.claims.columns):
        yield (
            "semantic k-anonymity is promised beside other models, "
            "or of columns that are released unchanged"
        )
    elif record.semantic_k != max(sizes):
        yield "the k of the promise is not that of the parameters"


def released(record: MondrianClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether texts are labels or ranges; the sizes of groups are what the models are about."""
    return range_faults(tables, labels_only=record.ranges == "hierarchy")


def trusted(record: MondrianClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    if record.semantic_k is not None:
        yield OpenEnd(
            "that hierarchies were chosen without looking at the rows, "
            "and that every split is in the middle of a domain"
        )


def free(record: MondrianClaim) -> Iterator[str]:
    if record.semantic_k is None:
        yield from ("relaxed", "ranges")


CHECK = MethodCheck(
    name="mondrian",
    promises=(SemanticAnonymity.name, Syntactic.name),
    parameters="models relaxed ranges splits unit",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    whole=lambda record: record.splits == "median",
)
