"""People whom no constraint distinguishes count as one cell, so that work grows with questions.

Two people are in the same cell if every constraint is about both or about neither, and if the same
is public of them. What is known of sums depends on cells only: docs/proofs/audit-sums.md. Uses
numpy and `model`; `polytope`, `slices` and the adversary of sums use it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.audit.model import Number

__all__ = ["Constraint", "Labels", "PersonCells", "bits", "cells", "refined"]

Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint8]

TURN = 8
"""Sets that refine cells in one pass: their bits are one byte per person."""


@dataclass(frozen=True)
class Constraint:
    """That the sum of some people's values is, or is at most or at least, a value."""

    people: int
    relation: Literal["=", "<=", ">="]
    value: Number

    def __hash__(self) -> int:
        # kept, as it takes long for a million people, and caches ask for it often
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash((self.people, self.relation, self.value))
            object.__setattr__(self, "_hash", known)
        return known


@dataclass(frozen=True, eq=False)
class PersonCells:
    """Cells of people, in the order of their first members.

    labels: everyone's cell; -1 for those whom no set is about
    first: a member of each cell
    sizes: how many people each cell has
    """

    labels: Labels
    first: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, sets: Iterable[int]) -> npt.NDArray[np.float64]:
        """One row per set: 1 for the cells in it. A set has a cell as a whole, or not at all."""
        places, shifts = self.first >> 3, (self.first & 7).astype(np.uint8)
        size = len(self.labels) // 8 + 1
        members = []
        for people in sets:
            octets = np.frombuffer(people.to_bytes(size, "little"), np.uint8)
            members.append(octets[places] >> shifts & 1)
        stacked = np.array(members, np.float64)
        return stacked.reshape(len(members), len(self))


def cells(sets: Sequence[Constraint], people: int, kinds: Labels | None = None) -> PersonCells:
    """The cells of those whom constraints, or a question about people, are about.

    kinds: what is public of everyone, by number; by default the same
    """
    everyone = people
    for constraint in sets:
        everyone |= constraint.people
    count = everyone.bit_length()
    whole = len(sets) - len(sets) % TURN
    labels = _base(tuple(sets[:whole]), count, _Kinds(kinds))
    rest = [constraint.people for constraint in sets[whole:]]
    # who is in no set at all comes first, and is dropped
    labels = refined(labels, [*rest, people])
    asked = bits([everyone], count)[0]
    labels = np.where(asked, labels, np.int32(-1))
    return _in_order(labels)


@dataclass(frozen=True)
class _Kinds:
    """Numbers of kinds, as a key of a cache: by identity."""

    of: Labels | None

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kinds) and self.of is other.of


@lru_cache(maxsize=4)
def _base(sets: tuple[Constraint, ...], count: int, kinds: _Kinds) -> Labels:
    """Labels by the first constraints, a multiple of `TURN` of them, one turn at a time."""
    if not sets:
        of = kinds.of
        return np.zeros(count, np.int32) if of is None else of[:count].astype(np.int32)
    before = _base(sets[:-TURN], count, kinds)
    return refined(before, [constraint.people for constraint in sets[-TURN:]])


def refined(labels: Labels, sets: Sequence[int]) -> Labels:
    """Labels that also distinguish the members of sets; they start from 0, without gaps."""
    for start in range(0, len(sets), TURN):
        turn = sets[start : start + TURN]
        inside = bits(turn, len(labels))
        codes = np.packbits(inside, axis=0, bitorder="little")[0]
        labels = _compact(labels.astype(np.int64) << len(turn) | codes)
    return labels


def _compact(codes: Ints) -> Labels:
    """The same distinctions by the least numbers."""
    if not len(codes):
        return codes.astype(np.int32)
    if int(codes.max()) > 4 * len(codes) + 2**16:
        _, numbers = np.unique(codes, return_inverse=True)
        return numbers.astype(np.int32)
    there = np.bincount(codes) > 0
    places = np.cumsum(there) - 1
    return places.astype(np.int32)[codes]


def _in_order(labels: Labels) -> PersonCells:
    """Cells numbered by their first members; negative labels stay out."""
    inside = np.flatnonzero(labels >= 0)
    known, first, numbers, sizes = np.unique(
        labels[inside], return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    place = np.empty(len(known), np.int32)
    place[order] = np.arange(len(known), dtype=np.int32)
    numbered = np.full(len(labels), -1, np.int32)
    numbered[inside] = place[numbers]
    return PersonCells(numbered, inside[first[order]], sizes[order].astype(np.int64))


def bits(sets: Sequence[int], count: int) -> Bits:
    """One row per set: 1 for those in it, of the first people."""
    size = (count + 7) // 8
    packed = b"".join(people.to_bytes(size, "little") for people in sets)
    octets = np.frombuffer(packed, np.uint8).reshape(len(sets), size)
    return np.unpackbits(octets, axis=1, count=count, bitorder="little")
