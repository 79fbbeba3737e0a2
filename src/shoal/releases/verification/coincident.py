"""The check of coincident generalisation: are groups what the scheme of merging can give?

Uses `labels` and `rows`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import listed, plural
from shoal.privacy.promises import Coincidence
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.labels import range_faults
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.models import PresenceBounds
from shoal.releases.verification.numbers import whole
from shoal.releases.verification.reading import ReleasedTables, TableShape
from shoal.releases.verification.rows import (
    Ints,
    column_of,
    frequencies,
    integers,
    totals,
)
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]

_GROUP = "group"
_MOST_MERGES = 40
_PRIMES = (2, 3, 5, 7, 11, 13)
"""How many groups merge into one above the lowest levels."""

_WAYS = (
    ("splits", "narrower"),
    ("splits", "boundary"),
    ("splits", "hierarchy"),
    ("curve", "hierarchy"),
)
"""How rows are ordered, with what groups may show of them."""


@dataclass(frozen=True)
class CoincidentClaim:
    """What a certificate of coincident generalisation says."""

    claims: Claims
    size: int
    """How many records a group has before any merge."""

    scheme: str
    depth: int | None
    """How often groups merge two by two; None if that follows from how many there are."""

    order: str
    ranges: str
    spare: str

    @property
    def leaves_per_block(self) -> int:
        """How many groups are one leaf of a tree."""
        return 3 if self.scheme == "interleaved" else 1


def parse(claims: Claims) -> CoincidentClaim:
    given = claims.parameters
    return CoincidentClaim(
        claims,
        size=given.whole("size"),
        scheme=given.text("scheme"),
        depth=given.read_if_any(_depth, "depth"),
        order=given.text("order"),
        ranges=given.text("ranges"),
        spare=given.text("spare"),
    )


def _depth(given: int) -> int:
    return whole(given + 1) - 1


def derivation(record: CoincidentClaim) -> Iterator[str]:
    described = [
        (column.role, column.kind) for column in record.claims.columns if column.name == _GROUP
    ]
    if described != [("insensitive", Kind.INTEGER)] or record.claims.levels:
        yield (
            "the group is not described as the method does it, "
            "or levels are named, which groups do not have"
        )
    if not _parameters_fit(record):
        yield NOT_TAKEN


def _parameters_fit(record: CoincidentClaim) -> bool:
    if record.scheme not in ("forest", "UU", "UA", "interleaved"):
        return False
    if record.size < 2 or (record.scheme == "interleaved" and record.size % 2):
        return False
    if (record.order, record.ranges) not in _WAYS or (record.depth or 0) > _MOST_MERGES:
        return False
    if record.spare == "records" and record.scheme in ("UU", "UA"):
        return False
    models = [model.model for model in record.claims.models]
    no_presence = not any(isinstance(model, PresenceBounds) for model in models)
    return record.spare in ("groups", "records") and no_presence


def released(record: CoincidentClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether groups are numbered by what they show, and have a size that merging gives."""
    yield from range_faults(tables, labels_only=record.ranges == "hierarchy")
    number = integers(tables.table, _GROUP)
    if not len(number):
        return
    sizes = np.zeros(1, dtype=np.int64)
    if number.min() == 1 and number.max() <= len(number):
        sizes = totals(number, frequencies(tables.table))[1:]
    if not sizes.all():
        yield "the groups are not numbered one by one"
        return
    yield from _size_faults(record, sizes)
    yield from _shown_faults(tables, number)


def _size_faults(record: CoincidentClaim, sizes: Ints) -> Iterator[str]:
    records = int(sizes.sum())
    size = record.size
    block = record.leaves_per_block
    leaves = records // size
    depths = [record.depth]
    if record.depth is None:
        depths = [*range(leaves.bit_length() + 1)]
    trees = [_merging(leaves // block, depth or 0) for depth in depths]
    # Twice the sizes, since a group of an interleaved scheme may be half as large again.
    possible = {2 * size, 2 * records}
    if block == 3:
        possible.add(3 * size)
    for _, levels in trees:
        possible |= {2 * size * block * within for within in levels}
    if record.scheme in ("UU", "UA"):
        possible |= {2 * size << level for level in range(leaves.bit_length())}
    odd = sum(2 * each not in possible for each in sizes.tolist())
    if odd:
        yield f"{plural(odd, 'group')} of {len(sizes):,} have a size that merging does not give"
    all_fit = record.spare == "groups" or leaves in [fitting * block for fitting, _ in trees]
    if records % size or not all_fit:
        yield (
            "the records are not a whole number of groups to start with, or of trees, "
            "though others are left out"
        )


def _merging(blocks: int, depth: int) -> tuple[int, list[int]]:
    """How many of some blocks fit a tree, and how many blocks a node of each level has.

    Nodes have two siblings at the lowest levels, and 13 at most above them.
    """
    low = min(depth, max(blocks, 1).bit_length() - 1)
    levels = [1 << level for level in range(low + 1)]
    for above in range(blocks >> low, 0, -1):
        rest = above
        within = list[int]()
        for prime in _PRIMES:
            while rest % prime == 0:
                rest //= prime
                within.append((within or levels)[-1] * prime)
        if rest == 1:
            return above << low, levels + within
    return 0, levels


def _shown_faults(tables: ReleasedTables, number: Ints) -> Iterator[str]:
    """Whether a group shows the same of all its records, and numbers follow what is shown."""
    first_rows = np.unique(number, return_index=True)[1]
    same_group = number[1:] == number[:-1]
    shown = []
    for name in tables.claims.quasi:
        column = column_of(tables.table, name)
        codes = column.codes.astype(np.int64)
        if (codes[1:] != codes[:-1])[same_group].any():
            yield f"column {name!r} shows several values in one group"
        texts = ["" if key is None else str(key) for key in column.keys]
        shown.append([_by_numbers(texts[code]) for code in codes[first_rows].tolist()])
    groups = zip(*shown, strict=True)
    if any(group > after for group, after in pairwise(groups)):
        yield "the numbers of groups do not follow what the groups show"


def _by_numbers(text: str) -> tuple[list[str | int], str]:
    """What sorts texts in their order, with the numbers in them by value."""
    parts: list[str | int] = []
    for place, part in enumerate(re.split("([0-9]+)", text)):
        parts.append(int(part) if place % 2 else part)
    return parts, text


def trusted(record: CoincidentClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that groups were formed by quasi-identifying values alone, and merged as the scheme says"
    )
    yield OpenEnd(
        "that it was drawn who was left out, and which groups were left unchanged, "
        "by draws that nobody knows"
    )
    bare = [name for name in record.claims.quasi if name not in hierarchies]
    if bare:
        yield OpenEnd(
            f"that what groups show of {listed(bare)} are values or ranges of their hierarchies, "
            "which were not given"
        )


def free(record: CoincidentClaim) -> Iterator[str]:
    yield from ("size", "scheme", "depth", "order", "ranges", "spare")


CHECK = MethodCheck(
    name="coincident",
    promises=(Coincidence.name,),
    parameters="models size scheme depth order ranges spare unit",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    shape=lambda record: TableShape(grouped_by=_GROUP),
    models_of_release=True,
)
