"""Small tables and hierarchies, and what plain counting says of them.

Uses the engine only for what is compared; the tests of its modules use this.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Lattice, coding, optimum, sorting, tables, walk
from shoal.lattice.coding import Coding, Floats, Levels, Unsigned
from shoal.measure.loss import LOSSES
from shoal.privacy.models import (
    Model,
    holds_all,
)

Rows = list[tuple[int, ...]]
Problem = tuple[dict[str, Hierarchy], Rows]

ENGINE = (coding, optimum, sorting, tables, walk)
"""The modules whose limits decide which path is taken."""


@st.composite
def trees(draw: st.DrawFn, most: int = 6) -> Hierarchy:
    leaves = draw(st.integers(1, most))
    lines = [[str(leaf)] for leaf in range(leaves)]
    codes = list(range(leaves))
    for level in range(draw(st.integers(0, 2))):
        merged = [draw(st.integers(0, 2)) for _ in range(max(codes) + 1)]
        codes = [merged[code] for code in codes]
        for line, code in zip(lines, codes, strict=True):
            line.append(f"{level}:{code}")
    return Hierarchy.from_lines([[*line, "*"] for line in draw(st.permutations(lines))])


@st.composite
def problems(draw: st.DrawFn, columns: int = 3, most: int = 40) -> Problem:
    """Hierarchies of some columns, and rows of their leaves with a sensitive value last."""
    hierarchies = {f"c{j}": draw(trees()) for j in range(draw(st.integers(1, columns)))}
    row = st.tuples(
        *(st.integers(0, h.leaves - 1) for h in hierarchies.values()), st.integers(0, 3)
    )
    return hierarchies, draw(st.lists(row, min_size=0, max_size=most))


def counted(hierarchies: dict[str, Hierarchy], rows: Rows) -> Counts:
    names = [*hierarchies, "s"]
    columns = [np.array([row[j] for row in rows], dtype=np.uint8) for j in range(len(names))]
    return group(names, columns, [*(h.leaves for h in hierarchies.values()), 4])


def plain_groups(
    hierarchies: dict[str, Hierarchy], rows: Rows, node: tuple[int, ...]
) -> dict[tuple[int, ...], Counter[int]]:
    """The groups of a node, from the rows: their codes and how often each sensitive value
    occurs."""
    found: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for row in rows:
        codes = tuple(
            int(h.maps[at][leaf])
            for h, at, leaf in zip(hierarchies.values(), node, row, strict=False)
        )
        found[codes][row[-1]] += 1
    return found


def small_tables(monkeypatch: pytest.MonkeyPatch, **numbers: int) -> None:
    """Make the engine use its machinery for large tables on small ones."""
    for name, number in numbers.items():
        using = [module for module in ENGINE if hasattr(module, name)]
        assert using, f"no module has a limit {name}"
        for module in using:
            monkeypatch.setattr(module, name, number)


HARD = [
    {},
    {"SMALL": 1, "STEP": 2, "WANTED": 1},
    {"SPARSE": 0, "PACK": 2, "SMALL": 1},
    {"BLOCK": 0, "PACK": 4},
    {"BLOCK": 1000, "SMALL": 1},
    {"WIDEST": 8, "PACK": 3, "SMALL": 1},
    {"WEIGHED": 2, "PARALLEL": 1},
    {"LONGER": 0, "SHARED": 1, "MANY": 1},
    {"LONGER": 100, "SHARED": 1, "MANY": 1, "PACK": 4},
]
"""Settings under which every path of the engine is taken, on tables small enough to check by
hand."""

many = settings(max_examples=40)
exhaustive = settings(max_examples=200)
wide_problems = problems(columns=4, most=60)


class Coded(NamedTuple):
    """A table as the engine writes it: one axis per column, the sensitive one carried if at all."""

    coding: Coding
    sizes: Floats
    counts: Counts
    maps: list[Sequence[Unsigned]]

    @property
    def nodes(self) -> list[Levels]:
        """Every combination of levels of the axes."""
        return list(itertools.product(*(range(len(levels)) for levels in self.coding.cards)))

    def real(self, axis: int, level: int) -> list[int]:
        """The real code of every row on an axis."""
        column = [*self.coding.axes, len(self.maps)][axis]
        leaves = self.counts.codes[column]
        if column == len(self.maps):
            return [int(leaf) for leaf in leaves]
        return [int(self.maps[column][level][leaf]) for leaf in leaves]

    def codes(self, levels: Levels) -> list[tuple[int, ...]]:
        """For every row its codes: on each axis, the rank of its real code among those there."""
        columns = []
        for axis, level in enumerate(levels):
            real = self.real(axis, level)
            ranks = {code: rank for rank, code in enumerate(sorted(set(real)))}
            columns.append([ranks[code] for code in real])
        return list(zip(*columns, strict=True))

    def groups(self, levels: Levels) -> dict[tuple[int, ...], int]:
        """The size of every group at a node, in the order of their codes."""
        sizes: Counter[tuple[int, ...]] = Counter()
        for codes, size in zip(self.codes(levels), self.counts.count.tolist(), strict=True):
            sizes[codes] += size
        return dict(sorted(sizes.items()))


def coded(hierarchies: dict[str, Hierarchy], rows: Rows, *, carried: bool = True) -> Coded:
    counts = counted(hierarchies, rows)
    if not carried:
        counts = counts.over([*hierarchies])
    maps = [hierarchy.maps for hierarchy in hierarchies.values()]
    sizes = counts.count.astype(np.float64)
    return Coded(Coding(counts.codes, sizes, maps), sizes, counts, list(maps))


def key_of(codes: Sequence[int], cards: Sequence[int]) -> int:
    """Codes as one mixed-radix number."""
    key = 0
    for code, card in zip(codes, cards, strict=True):
        key = key * card + code
    return key


def weights_of(cards: Sequence[int]) -> list[Floats]:
    """Weights of codes whose sums are all different: the code plus 1, and zeros for its axis."""
    return [
        np.array([(code + 1) * 10.0**axis for code in range(card)], dtype=np.float64)
        for axis, card in enumerate(cards)
    ]


def best_of_all(
    lattice: Lattice, models: tuple[Model, ...], loss: str, limit: int
) -> tuple[float, tuple[int, ...]] | None:
    """The best node by looking at every one; of equal ones the first."""
    scored = []
    for node in lattice.nodes():
        groups = lattice.groups(node)
        kept = holds_all(models, groups)
        if groups.sizes[~kept].sum() <= limit:
            scored.append((round(LOSSES[loss].of(groups, kept), 7), node))
    return min(scored, default=None)


def a_larger_lattice(
    columns: int = 5, rows: int = 4000, seed: int = 3
) -> tuple[dict[str, Hierarchy], Counts]:
    rng = np.random.default_rng(seed)
    lines = [[str(leaf), f"{leaf // 2}.", f"{leaf // 6}:", "*"] for leaf in range(12)]
    hierarchies = {f"c{j}": Hierarchy.from_lines(lines) for j in range(columns)}
    codes = [np.minimum(rng.geometric(0.25, rows) - 1, 11).astype(np.uint8) for _ in hierarchies]
    return hierarchies, group([*hierarchies], codes, [12] * columns)
