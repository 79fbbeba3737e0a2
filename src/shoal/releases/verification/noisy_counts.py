"""The checks of noisy counts and of k-DGS: is the noise wide enough, is every row there often?

With which chance a row was withheld cannot be seen. It follows from ε, δ and k, and needs no line
of its own. Uses `differential`, `levels` and `refined`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import plural
from shoal.privacy.promises import SemanticAnonymity
from shoal.releases.verification import differential
from shoal.releases.verification.claims import Claims, PartReader, is_name_list, one_of
from shoal.releases.verification.differential import DifferentialClaim, NoiseClaim
from shoal.releases.verification.levels import (
    bounded_level_faults,
    fixed_level_faults,
    hierarchies_missing,
    is_score,
    level_trust,
    levelless_faults,
    own_score,
    rows_per_person,
    unpaid_faults,
)
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.numbers import StatedEpsilon, is_numeric
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.refined import EpsilonParts, TreeClaim
from shoal.releases.verification.rows import (
    Ints,
    column_of,
    frequencies,
    row_codes,
    totals,
)

__all__ = ["KDGS", "NOISY_COUNTS", "count_is_free"]

_COUNT = "count"

_SPLIT = {"search": Fraction(9, 10), "tree": Fraction(7, 10)}
"""The share of ε for the counts unless another is given."""


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
            fixed_levels=_fixed(given),
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
        often = frequencies(table)
        sizes = totals(row_codes(table, names[:-1] if self.counted else names), often)
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


def _fixed(given: PartReader) -> Mapping[str, int]:
    """The levels that are given; none where they are chosen."""
    if type(given.part["levels"]) is str:
        return {}
    return given.levels_if_any("levels") or {}


def count_is_free(claims: Claims) -> Iterator[str]:
    """The parameter `counts` is not settled where a column of that name may be the table's own."""
    if _COUNT in claims.names:
        yield "counts"


def _counts(tables: ReleasedTables) -> Ints:
    """The counts of all rows, 0 for what is not a number."""
    column = column_of(tables.table, _COUNT)
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
    chosen: str | None
    """How levels were chosen, "search" or "tree"; None if they are given."""

    parts: EpsilonParts
    split: Fraction
    tree: TreeClaim | None
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]


def parse(claims: Claims) -> NoisyCountsClaim:
    derived = claims.derived
    given = claims.parameters
    given.require(is_numeric, "importance", "split")
    given.require(is_name_list, "classes")
    given.require(is_score, "score")
    chosen = _chosen(claims)
    split = given.number_if_any("split") or _SPLIT.get(chosen or "", Fraction(1))
    return NoisyCountsClaim(
        rows=RepeatedRows.read(claims),
        privacy=DifferentialClaim.read(claims),
        row_epsilon=derived.epsilon("epsilon"),
        k=derived.whole_if_any("k"),
        noise=NoiseClaim.read(claims),
        chosen=chosen,
        parts=EpsilonParts.read(claims, "epsilon_counts"),
        split=split,
        tree=TreeClaim.read(claims),
        floor=given.levels("floor"),
        ceiling=given.levels("ceiling"),
    )


def _chosen(claims: Claims) -> str | None:
    """How levels were chosen; None if they are given."""
    levels = claims.certificate.parameters["levels"]
    if isinstance(levels, Mapping):
        return None
    chosen: str = claims.parameters.checked(one_of(*_SPLIT), "levels")
    return chosen


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
    searched = record.parts.search is not None
    if privacy.semantic_k != (None if privacy.unit or k == 1 or searched else k):
        yield (
            "semantic k-anonymity is promised for another k, for levels that were chosen, "
            "or for people with several rows"
        )
    # What has a k has a δ, or that is said already.
    if k is None or privacy.row_delta:
        yield from record.noise.faults(
            record.parts.release, privacy.row_delta, k, privacy.definition
        )
    claims = record.rows.claims
    if k is None and set(claims.names) - {_COUNT} != claims.levels.keys():
        yield (
            "without a delta every column has a declared domain, "
            "and the certificate does not name a level of each"
        )
    yield from _choice_faults(record)


def _choice_faults(record: NoisyCountsClaim) -> Iterator[str]:
    """Whether levels are those given, or were paid for."""
    claims, parts, tree = record.rows.claims, record.parts, record.tree
    if not parts.add_up(record.privacy.row_epsilon, record.split, has_tree=tree is not None):
        yield f"the parts of epsilon do not add up to {record.privacy.epsilon_text}"
    if record.chosen is None:
        yield from record.rows.level_faults()
        if parts.search is not None or tree is not None:
            yield "levels are given, and a choice of them is paid for"
        return
    if record.k is None:
        yield "without a delta levels are not chosen"
    if (record.chosen == "tree" and parts.search is not None) != (tree is not None):
        yield "the levels were not chosen as the parameters say"
    yield from bounded_level_faults(claims.levels, record.floor, record.ceiling)
    refined = () if tree is None else tree.names
    for column in claims.columns:
        if column.has_any_hierarchy and column.name not in {*claims.levels, *refined}:
            yield f"column {column.name!r} has a hierarchy, and the certificate gives it no level"
    if tree is not None:
        yield from tree.faults(parts.tree)


def released(record: NoisyCountsClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether every row is released as often as the smallest count that may be."""
    yield from record.rows.released(tables, record.noise.threshold or 1, "threshold")
    if record.tree is not None:
        yield from record.tree.released(tables)
    elif record.chosen is not None and record.parts.search is None:
        yield from unpaid_faults(tables, record.floor, record.ceiling)


def trusted(record: NoisyCountsClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that rows were withheld and counts were made noisy by chance, as the parameters say, "
        "and that nobody knows the draws"
    )
    yield from rows_per_person(record.privacy.unit, record.privacy.rows)
    claims = record.rows.claims
    if record.parts.search is None:
        yield from level_trust(claims, hierarchies)
        return
    yield from hierarchies_missing(claims, hierarchies)
    if record.tree is not None:
        yield from record.tree.open_ends(hierarchies)
    else:
        yield OpenEnd(
            "that the levels were chosen by the search that is paid for, on a sample of its own"
        )
        yield from own_score(claims)
    yield OpenEnd("that the hierarchies were public, and not made from the rows")


def free(record: NoisyCountsClaim) -> Iterator[str]:
    yield from record.rows.free()
    yield from ("score", "importance", "classes")
    if record.chosen is not None:
        yield from ("floor", "ceiling")
    # Where it is the usual one, it may be left out as well.
    if record.parts.search is None or record.split == _SPLIT.get(record.chosen or ""):
        yield "split"


NOISY_COUNTS = MethodCheck(
    name="noisy-counts",
    promises=(differential.PROMISE,),
    parameters="epsilon delta k definition levels unit rows counts noise"
    " split score importance floor ceiling classes",
    derived="epsilon delta definition rows k noise scale bound threshold half"
    " epsilon_counts epsilon_search epsilon_order epsilon_tree tree",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
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
