"""The checks of noisy counts and of k-DGS: is the noise wide enough, is every row there often?

With which chance a row was withheld cannot be seen. It follows from ε, δ and k, and needs no line
of its own. Uses `differential` and `levels`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import plural
from shoal.privacy.promises import SemanticAnonymity
from shoal.releases.verification import differential
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.differential import DifferentialClaim, NoiseClaim
from shoal.releases.verification.levels import (
    fixed_level_faults,
    level_trust,
    levelless_faults,
    rows_per_person,
)
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.numbers import StatedEpsilon
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.rows import Ints, row_codes

__all__ = ["KDGS", "NOISY_COUNTS", "count_is_free"]

_COUNT = "count"


@dataclass(frozen=True)
class RepeatedRows:
    """What a certificate says of rows that are released k times or more, or with a count."""

    claims: Claims
    k: int | None
    """None where nothing is withheld."""

    counted: bool
    fixed_levels: Mapping[str, int]

    @classmethod
    def read(cls, claims: Claims) -> "RepeatedRows":
        given = claims.parameters
        return cls(
            claims,
            k=given.whole_if_any("k"),
            counted=given.flag("counts"),
            fixed_levels=given.levels_if_any("levels") or {},
        )

    def level_faults(self) -> Iterator[str]:
        return fixed_level_faults(self.claims, self.fixed_levels)

    def released(self, tables: ReleasedTables, least: int, name: str) -> Iterator[str]:
        """Whether every distinct row is released at least as often as a number of this name."""
        yield from levelless_faults(self.claims, tables.hierarchies)
        table = tables.table
        names = list(table.names)
        if self.counted and names[-1:] != [_COUNT]:
            yield "there is no column with the counts"
            return
        sizes = np.bincount(row_codes(table, names[:-1] if self.counted else names))
        if self.counted:
            if (sizes > 1).any():
                yield "a row is there twice, each time with a count"
            sizes = _counts(tables)
        small = int((sizes < least).sum())
        if small:
            rows = plural(len(sizes), "row")
            yield f"{small:,} of {rows} are released fewer than {name} = {least} times"

    def free(self) -> Iterator[str]:
        yield from count_is_free(self.claims)


def count_is_free(claims: Claims) -> Iterator[str]:
    """The parameter `counts` is not settled where a column of that name may be the table's own."""
    if _COUNT in claims.names:
        yield "counts"


def _counts(tables: ReleasedTables) -> Ints:
    """The counts of all rows, 0 for what is not a number."""
    [column] = tables.table.records([_COUNT])
    counts = [key if isinstance(key, int) else 0 for key in column.keys]
    if not tables.table.rows:
        return np.zeros(0, dtype=np.int64)
    return np.array(counts, dtype=np.int64)[column.codes]


# Noisy counts


@dataclass(frozen=True)
class NoisyCountsClaim:
    """What a certificate of noisy counts says."""

    rows: RepeatedRows
    privacy: DifferentialClaim
    row_epsilon: StatedEpsilon
    k: int | None
    noise: NoiseClaim


def parse(claims: Claims) -> NoisyCountsClaim:
    derived = claims.derived
    return NoisyCountsClaim(
        rows=RepeatedRows.read(claims),
        privacy=DifferentialClaim.read(claims),
        row_epsilon=derived.epsilon("epsilon"),
        k=derived.whole_if_any("k"),
        noise=NoiseClaim.read(claims),
    )


def derivation(record: NoisyCountsClaim) -> Iterator[str]:
    """Whether the noise is wide enough, and the levels and k are those of the parameters."""
    privacy = record.privacy
    k = record.k
    yield from privacy.faults()
    if not privacy.row_epsilon.equals(record.row_epsilon):
        rows = plural(privacy.rows, "row")
        yield f"the epsilon of a row is not that of the promise over {rows}"
    if k != record.rows.k or (k is None) != (privacy.delta == 0):
        yield "k is not that of the parameters, or does not go with delta"
    if privacy.semantic_k != (None if privacy.unit or k == 1 else k):
        yield "semantic k-anonymity is promised for another k, or for people with several rows"
    # What has a k has a δ, or that is said already.
    if k is None or privacy.row_delta:
        yield from record.noise.faults(
            privacy.row_epsilon, privacy.row_delta, k, privacy.definition
        )
    claims = record.rows.claims
    if k is None and set(claims.names) - {_COUNT} != claims.levels.keys():
        yield (
            "without a delta every column has a declared domain, "
            "and the certificate does not name a level of each"
        )
    yield from record.rows.level_faults()


def released(record: NoisyCountsClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether every row is released as often as the smallest count that may be."""
    return record.rows.released(tables, record.noise.threshold or 1, "threshold")


def trusted(record: NoisyCountsClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that rows were withheld and counts were made noisy by chance, as the parameters say, "
        "and that nobody knows the draws"
    )
    yield from rows_per_person(record.privacy.unit, record.privacy.rows)
    yield from level_trust(record.rows.claims, hierarchies)


NOISY_COUNTS = MethodCheck(
    name="noisy-counts",
    promises=(differential.PROMISE,),
    parameters="epsilon delta k definition levels unit rows counts noise",
    derived="epsilon delta definition rows k noise scale bound threshold half",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=lambda record: record.rows.free(),
)


# k-DGS


@dataclass(frozen=True)
class SemanticClaim:
    """What a certificate of k-DGS says."""

    rows: RepeatedRows
    k: int
    promised_k: int


def parse_semantic(claims: Claims) -> SemanticClaim:
    return SemanticClaim(
        RepeatedRows.read(claims),
        k=claims.parameters.whole("k"),
        promised_k=claims.promise.whole("k"),
    )


def semantic_derivation(record: SemanticClaim) -> Iterator[str]:
    if record.promised_k != record.k:
        yield "the k of the promise is not that of the parameters"
    yield from record.rows.level_faults()


KDGS = MethodCheck(
    name="kdgs",
    promises=(SemanticAnonymity.name,),
    parameters="k levels counts unit",
    parse=parse_semantic,
    derivation=semantic_derivation,
    released=lambda record, tables: record.rows.released(tables, record.k, "k"),
    trusted=lambda record, hierarchies: level_trust(record.rows.claims, hierarchies),
    free=lambda record: record.rows.free(),
)
