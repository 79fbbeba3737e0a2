"""Releases by a private tree: does its noise suffice, does every row stand at a node of its chain?

`TreeClaim` is what a certificate says of the tree; methods that grow one check it here. Uses
`numbers` and `levels`. The sum is that of docs/proofs/refining.md, by an arithmetic of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import FileError, listed, plural
from shoal.releases.verification.claims import Claims, PartReader
from shoal.releases.verification.labels import canonical
from shoal.releases.verification.levels import unpaid_faults
from shoal.releases.verification.method import OpenEnd
from shoal.releases.verification.numbers import (
    CLEARLY,
    StatedEpsilon,
    as_decimal,
    number,
    precision,
)
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.rows import column_of, frequencies
from shoal.releases.verification.words import NOT_VALID

__all__ = ["EpsilonParts", "TreeClaim"]

_DIGITS = 60
_NEGLIGIBLE = Fraction(1, 10**50)
"""A loss below which all later ones add nothing that could be seen: each is far below the last."""

_GRAIN = 64
"""Scales are multiples of one over it."""

_ORDER_SHARE = Fraction(1, 6)
"""The share of a tree's ε that buys the order of its steps."""


@dataclass(frozen=True)
class TreeClaim:
    """The chain of levels, and the noise with which boxes were tested."""

    claims: Claims
    steps: tuple[tuple[str, int], ...]
    scale: Fraction
    bias: int
    cut: int
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]

    @classmethod
    def read(cls, claims: Claims) -> "TreeClaim | None":
        """The claim; None if the release has one level for each column."""
        given = claims.certificate.derived["tree"]
        if given is None:
            return None
        if not isinstance(given, Mapping) or given.keys() != {
            "steps",
            "threshold",
            "scale",
            "bias",
            "cut",
        }:
            raise FileError(NOT_VALID)
        part = PartReader(given, NOT_VALID)
        part.require(_is_integer, "threshold")
        return cls(
            claims,
            steps=tuple(map(_step, part.checked(_are_steps, "steps"))),
            scale=part.read(number, "scale"),
            bias=part.whole("bias"),
            cut=part.whole("cut"),
            floor=claims.parameters.levels("floor"),
            ceiling=claims.parameters.levels("ceiling"),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are refined."""
        return tuple(dict.fromkeys(name for name, _ in self.steps))

    def nodes(self, trees: Mapping[str, Hierarchy]) -> list[dict[str, int]]:
        """The levels of columns with a hierarchy at hand after 0, 1, 2, … of their steps."""
        nodes = [{name: self.ceiling.get(name, tree.height) for name, tree in trees.items()}]
        for name, level in self.steps:
            if name in trees:
                nodes.append({**nodes[-1], name: level})
        return nodes

    def faults(self, epsilon: StatedEpsilon | None) -> Iterator[str]:
        """Whether the chain goes down within its bounds, and the noise suffices."""
        if self.claims.promise.text("definition") != "standard":
            yield "a tree does not keep the definition that is promised"
        if any(name not in self.claims.names for name in self.names):
            yield "the tree refines a column that is not released"
        if set(self.names) & set(self.claims.levels):
            yield "a column of the tree has a level of its own"
        levels = dict(self.ceiling)
        for name, level in self.steps:
            if level >= levels.get(name, level + 1):
                yield "the tree does not refine columns from level to level"
                return
            levels[name] = level
        if any(levels[name] != self.floor.get(name, 0) for name in self.names):
            yield "the tree does not end at the floors"
        if self.bias != ceil(self.scale) or self.cut != 2 * self.bias:
            yield "bias or cut of the tree do not follow from its noise"
        elif epsilon is None:
            yield "nothing is paid for the tree"
        else:
            yield from self._noise_faults(Fraction(epsilon.value(_DIGITS)))

    def _noise_faults(self, epsilon: Fraction) -> Iterator[str]:
        narrower = self.scale - Fraction(1, _GRAIN)
        if (self.scale * _GRAIN).denominator != 1 or narrower < 0:
            yield "the scale of the tree's noise was not derived"
        elif _lost(self.scale, len(self.steps)) > epsilon * (1 + CLEARLY):
            yield "the noise of the tree is too narrow for its epsilon"
        # There is no narrower noise than one grain, whatever it may spend.
        elif narrower and _lost(narrower, len(self.steps)) < epsilon * (1 - CLEARLY):
            yield "the noise of the tree is wider than its epsilon asks for: it was not derived"

    def released(self, tables: ReleasedTables) -> Iterator[str]:
        """With all hierarchies: whether every row stands at one of the nodes of the chain.

        Columns that are not refined must have one level only.
        """
        yield from unpaid_faults(tables, self.floor, self.ceiling)
        trees = self._trees(tables.hierarchies)
        for name, tree in trees.items():
            through = [level for column, level in self.steps if column == name]
            # Whether values may be missing is not on the certificate.
            missing = [place for place, text in enumerate(tree.labels[0]) if not text]
            possible = [self._refined_to(name, tree, []), self._refined_to(name, tree, missing)]
            if through not in possible:
                yield f"the tree does not go through the levels of column {name!r}"
                return
        nodes = self.nodes(trees)
        often = frequencies(tables.table)
        stands = np.ones((len(often), len(nodes)), dtype=np.bool_)
        for name, tree in trees.items():
            levels = [node[name] for node in nodes]
            column = column_of(tables.table, name)
            fits = self._fitting(name, tree, levels, tables)
            wrong = int((~fits.any(axis=1)).sum())
            if wrong:
                values = plural(wrong, "value")
                yield f"column {name!r} has {values} that no level of the tree has"
                return
            if tables.table.rows:
                stands &= fits[column.codes]
        astray = int(often[~stands.any(axis=1)].sum())
        if astray:
            yield f"{plural(astray, 'row')} stand at levels that the tree does not have together"

    def _refined_to(self, name: str, tree: Hierarchy, ignored: list[int]) -> list[int]:
        """The levels that a column is refined to, one after the other.

        A level is left out if one of its labels stands for other values at another level, apart
        from leaves that are ignored. Ceiling and floor come first; there is no tree without them.
        """
        floor, ceiling = self.floor.get(name, 0), self.ceiling.get(name, tree.height)
        if not floor < ceiling <= tree.height:
            return []
        meant: dict[str, bytes] = {}
        taken = []
        for level in (ceiling, floor, *range(floor + 1, ceiling)):
            codes = tree.maps[level]
            leaves = np.delete(np.arange(len(codes)), ignored)
            leaves = leaves[np.argsort(codes[leaves], kind="stable")]
            starts = np.searchsorted(codes[leaves], np.arange(1, len(tree.labels[level])))
            parts = [part.tobytes() for part in np.split(leaves, starts)]
            own = dict(zip(tree.labels[level], parts, strict=True))
            if all(meant.get(label, part) == part for label, part in own.items()):
                meant.update(own)
                taken.append(level)
        return sorted(set(taken) - {ceiling}, reverse=True)

    def at_root(self, tables: ReleasedTables) -> bool:
        """Whether some row shows nothing: all its columns are at the root."""
        trees = self._trees(tables.hierarchies)
        if not tables.table.rows or set(trees) != set(tables.table.names):
            return False
        bare = np.ones(len(frequencies(tables.table)), dtype=np.bool_)
        for name, tree in trees.items():
            column = column_of(tables.table, name)
            root = canonical(tree.labels[-1][0], self.claims.kind(name))
            is_root = [canonical(key, self.claims.kind(name)) == root for key in column.keys]
            bare &= np.array(is_root)[column.codes]
        return bool(bare.any())

    def _trees(self, given: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
        return self.claims.trees(given, self.names)

    def _fitting(
        self, name: str, tree: Hierarchy, levels: Sequence[int], tables: ReleasedTables
    ) -> npt.NDArray[np.bool_]:
        """Of every value of a column, at which nodes of the chain it is a label."""
        kind = self.claims.kind(name)
        texts = [canonical(key, kind) for key in tables.table.keys(name)]
        by_level = {}
        for level in set(levels):
            known = {canonical(label, kind) for label in tree.labels[level]}
            by_level[level] = [text in known for text in texts]
        fits = [by_level[level] for level in levels]
        return np.array(fits, dtype=np.bool_).reshape(len(levels), len(texts)).T

    def open_ends(self, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
        """What the files do not show of the tree."""
        yield OpenEnd(
            "that the tree was grown by the noise that is paid for, and its order and threshold "
            "by noisy numbers alone",
            (("derived", "tree", "threshold"),),
        )
        bare = [name for name in self.names if name not in self._trees(hierarchies)]
        if bare:
            steps = tuple(
                ("derived", "tree", "steps", place, part)
                for place, (name, _) in enumerate(self.steps)
                for part in (0, 1)
                if name in bare
            )
            yield OpenEnd(
                f"that released values of {listed(bare)} are labels of the tree's levels: "
                "the hierarchies were not given",
                steps,
            )


@dataclass(frozen=True)
class EpsilonParts:
    """How the ε of a row is divided: a release, and what chooses its levels."""

    release: StatedEpsilon
    search: StatedEpsilon | None
    order: StatedEpsilon | None
    tree: StatedEpsilon | None

    @classmethod
    def read(cls, claims: Claims, release: str) -> "EpsilonParts":
        derived = claims.derived
        return cls(
            release=derived.epsilon(release),
            search=derived.epsilon_if_any("epsilon_search"),
            order=derived.epsilon_if_any("epsilon_order"),
            tree=derived.epsilon_if_any("epsilon_tree"),
        )

    def add_up(self, row: StatedEpsilon, split: Fraction, *, has_tree: bool) -> bool:
        """Whether the parts are those of a row, of which `split` is for the release."""
        search = self.search
        if not self.release.equals(row.times(split if search is not None else Fraction(1))):
            return False
        if search is not None and not search.equals(row.times(1 - split)):
            return False
        if not has_tree:
            return self.order is None and self.tree is None
        if search is None or self.order is None or self.tree is None:
            return False
        in_order = self.order.equals(search.times(_ORDER_SHARE))
        return in_order and self.tree.equals(search.times(1 - _ORDER_SHARE))


def _is_integer(given: object) -> bool:
    return type(given) is int


def _are_steps(given: object) -> bool:
    return isinstance(given, list) and bool(given) and all(map(_is_step, given))


def _is_step(given: object) -> bool:
    if not isinstance(given, list) or len(given) != 2:
        return False
    name, level = given
    return type(name) is str and type(level) is int and level >= 0


def _step(given: list[object]) -> tuple[str, int]:
    name, level = given
    return str(name), int(str(level))


def _lost(scale: Fraction, steps: int) -> Fraction:
    """What all tests on the worst path lose together, to about 50 digits."""
    bias = ceil(scale)
    total = Fraction(0)
    with precision(_DIGITS):
        rate = 1 / as_decimal(scale)
        ratio = (-rate).exp()
        for turn in range(steps):
            above = 1 - 2 * bias + turn * bias
            if above <= 0:
                total += 1 / scale
                continue
            high, low = (-rate * above).exp(), (-rate * (above - 1)).exp()
            loss = Fraction(((1 + ratio - high) / (1 + ratio - low)).ln())
            total += loss
            if loss < _NEGLIGIBLE:
                break
    return total
