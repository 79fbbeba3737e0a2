"""`GroupTables`: what nodes are rolled up from, each table itself rolled up from a finer one.

A *table* holds the distinct cells of a node as packs of codes, and their sizes. A coarser node's
cells come from it by one look-up per pack, a sum, and one `bincount`; where the cells are many more
than the rows, by one sort instead. Rows are never read again. Which tables are worth making is
decided from estimates of how many groups a node has. Uses `coding` and `cells`; `sorting`, `walk`
and `rollup` use it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, expm1, prod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.counts import PACK, last_of_runs, ranks
from shoal.lattice.cells import Cells
from shoal.lattice.coding import Coding, Floats, Index, Kind, Levels, Packs, Unsigned, sums_at

__all__ = [
    "WIDEST",
    "Estimates",
    "GroupTable",
    "GroupTables",
    "Scratch",
    "Scratches",
    "differences",
    "key_type",
]

# How to roll up, all of it measured.
SPARSE = 2
"""With more cells than this times the rows, sorting beats counting into an array."""

LONGER = 2
"""Rows may become this many times as many where each is to be one record."""

WIDEST = 1 << 62
"""Nodes with more cells have no key that fits an integer."""

# Which intermediate tables to make, all of it measured.
SMALL = 1 << 14
"""GroupTables up to this size are not worth an intermediate one."""

STEP = 8
"""An intermediate table is estimated at this part of the nearest one."""

WANTED = 2
"""Making one by sorting costs about as much as evaluating this many nodes from the finer table."""

LARGE = 1 << 18
"""Rows from which a table that several intermediate ones can be made from is worth making."""

COMMON = 0.8
"""The part of the rows that such a table may be estimated at."""

NEVER_AGAIN = -1 << 30
"""How often a table was asked for, less than will ever be enough."""


@dataclass(frozen=True, eq=False)
class GroupTable:
    """The distinct cells of one node: packs of codes, and sizes."""

    levels: Levels
    packs: Packs
    sizes: Floats
    _clipped: dict[tuple[int, type], Unsigned] = field(default_factory=dict)
    _single: dict[int, "GroupTable | None"] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Cells) -> "GroupTable":
        """A table to roll up from."""
        compact = cells.compact
        sizes = compact.sizes.astype(np.float64, copy=False)
        return cls(compact.levels, compact.packs(), sizes)

    @property
    def rows(self) -> int:
        """How many distinct cells there are."""
        return len(self.sizes)

    @cached_property
    def bits(self) -> int:
        """How many bits a size needs."""
        return int(self.sizes.max(initial=0)).bit_length()

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.sizes.nbytes + sum(codes.nbytes for _, codes in self.packs)

    def single(self, k: int) -> "GroupTable | None":
        """The table with a row for every record, or k rows for larger cells.

        None if that would be many more rows.
        """
        if k not in self._single:
            self._single[k] = self._repeated(k)
        return self._single[k]

    def _repeated(self, k: int) -> "GroupTable | None":
        sizes = np.minimum(self.sizes, k).astype(np.intp)
        records = int(sizes.sum())
        if records > LONGER * self.rows:
            return None
        packs = tuple((axes, codes.repeat(sizes)) for axes, codes in self.packs)
        return GroupTable(self.levels, packs, np.ones(records))

    def clipped(self, k: int, kind: Kind) -> Unsigned:
        """The sizes, those above k as k."""
        if (k, kind) not in self._clipped:
            self._clipped[k, kind] = np.minimum(self.sizes, k).astype(kind)
        return self._clipped[k, kind]


class Scratch:
    """Arrays to write to, by their names; one at a time may use them.

    New arrays would make the system hand out memory each time.
    """

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[np.uint8]] = {}

    def array(self, name: str, size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
        """The array of this name, with whatever was written to it last, of any type."""
        wanted = size * np.dtype(kind).itemsize
        if name not in self._held or len(self._held[name]) < wanted:
            self._held.pop(name, None)  # before there is another one
            self._held[name] = np.empty(wanted, dtype=np.uint8)
        return self._held[name][:wanted].view(kind)


class Scratches:
    """As many sets of scratch arrays as are used at the same time."""

    def __init__(self) -> None:
        self._free: list[Scratch] = []

    @contextmanager
    def lent(self) -> Iterator[Scratch]:
        """A set that nobody else uses meanwhile."""
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = Scratch()
        try:
            yield scratch
        finally:
            self._free.append(scratch)


class Estimates:
    """About how many groups nodes have: for planning only.

    A guess from how much each axis splits, corrected by what nodes with about as many cells really
    had.
    """

    def __init__(self, coding: Coding, sizes: Floats) -> None:
        self._rows = len(sizes)
        self._correction: dict[int, float] = {}
        total = max(float(sizes.sum()), 1)
        self._log_card = [
            [_splitting(coding.marginal(axis, level) / total) for level in range(len(cards))]
            for axis, cards in enumerate(coding.cards)
        ]

    def spread(self, axis: int, fine: int, coarse: int) -> float:
        """How much an axis merges between two levels."""
        return self._log_card[axis][fine] - self._log_card[axis][coarse]

    def log_cells(self, levels: Levels) -> float:
        """How much all axes split together."""
        return sum(logs[level] for logs, level in zip(self._log_card, levels, strict=True))

    def groups(self, log_cells: float) -> float:
        """The number of groups at a node that splits this much."""
        correction = self._correction.get(int(log_cells), 1.0)
        return min(self._guess(log_cells) * correction, self._rows)

    def groups_at(self, levels: Levels) -> float:
        """The number of groups at a node."""
        return self.groups(self.log_cells(levels))

    def learn(self, levels: Levels, groups: int) -> None:
        """Correct later estimates by how many groups a node really has."""
        log_cells = self.log_cells(levels)
        place = int(log_cells)
        seen = groups / max(self._guess(log_cells), 1.0)
        if place in self._correction:
            seen = (3 * self._correction[place] + seen) / 4
        self._correction[place] = seen

    def _guess(self, log_cells: float) -> float:
        """As if rows fell into cells of equal probability."""
        rows = max(self._rows, 1)
        cells = exp(min(log_cells, 700.0))  # e to more than that is not a float
        return -rows * expm1(-cells / rows)


def _splitting(shares: Floats) -> float:
    """Between the logarithm of the number of values and their entropy."""
    occurring = shares[shares > 0]
    entropy = -(occurring * np.log(occurring)).sum()
    return float(np.log(max(len(shares), 1)) + entropy) / 2


class _Kept(NamedTuple):
    """The tables kept to roll up from, with their levels and numbers of rows side by side."""

    tables: list[GroupTable]
    levels: npt.NDArray[np.int16]
    rows: npt.NDArray[np.int64]


class GroupTables:
    """The tables over some rows, starting with the finest."""

    def __init__(self, coding: Coding, sizes: Floats, keep_bytes: int) -> None:
        self.coding = coding
        self.base = GroupTable(coding.bottom, coding.base, sizes)
        self.total = float(sizes.sum())
        self.scratches = Scratches()
        self.estimates = Estimates(coding, sizes)
        levels = np.zeros((1, len(coding.bottom)), dtype=np.int16)
        self._kept = _Kept([self.base], levels, np.array([len(sizes)]))
        self._keeping = Lock()
        self._spare = keep_bytes
        # How often an intermediate table would have been of use.
        self._wanted: dict[Levels, int] = {}
        # The intermediate tables made from each, and what was tried that several have in common.
        self._steps: dict[Levels, list[Levels]] = {}
        self._tried: set[Levels] = set()

    def cells(self, levels: Levels) -> Cells:
        """The groups at a node, rolled up from the smallest table that is at least as fine."""
        return self.roll(self.nearest(levels), levels)

    # One step of rolling up

    def roll(self, table: GroupTable, levels: Levels) -> Cells:
        """The groups at a node, rolled up from a table that is at least as fine."""
        coding = self.coding
        cards = coding.cards_at(levels)
        cells = prod(cards)
        if not table.rows:
            return Cells(coding, levels, np.zeros(0), np.zeros(0, dtype=np.intp))
        if cells > WIDEST:
            return self._roll_wide(table, levels, cards)
        separating = tuple(
            pack for pack in table.packs if prod(cards[axis] for axis in pack[0]) > 1
        )
        if not separating:
            return Cells(coding, levels, np.array([table.sizes.sum()]))

        numbers = cells << table.bits
        with self.scratches.lent() as scratch:
            if cells <= max(SPARSE * table.rows, PACK):
                key = self._keys(scratch, table, separating, levels, 1, np.intp)
                return Cells(coding, levels, sums_at(key, table.sizes, cells))
            if numbers > WIDEST:
                key = self._keys(scratch, table, separating, levels, 1, np.intp)
                sizes, keys = _sums_by_key(key, table.sizes)
                return Cells(coding, levels, sizes, keys)
            # Key and size in one number: sorting numbers is several times faster than their order.
            kind = key_type(numbers)
            key = self._keys(scratch, table, separating, levels, 1 << table.bits, kind)
            other = scratch.array("other", table.rows, kind)
            other[:] = table.sizes
            key += other
            sizes, keys = _sums_of_sorted(key, table.bits, other)
            return Cells(coding, levels, sizes, keys)

    def _keys(
        self,
        scratch: Scratch,
        table: GroupTable,
        packs: Packs,
        levels: Levels,
        times: int,
        kind: type[np.integer],
    ) -> npt.NDArray[Any]:
        """The rows' keys at a node, times a number, from the packs that separate them."""
        cards = self.coding.cards_at(levels)
        keys = scratch.array("keys", table.rows, kind)
        other = scratch.array("other", table.rows, kind)
        for place, (axes, codes) in enumerate(packs):
            look_up, _ = self.coding.look_up(axes, table.levels, levels)
            scaled = (look_up * (prod(cards[axes.stop :]) * times)).astype(kind, copy=False)
            if place == 0:
                scaled.take(codes, out=keys, mode="clip")
            else:
                scaled.take(codes, out=other, mode="clip")
                keys += other
        return keys

    def _roll_wide(self, table: GroupTable, levels: Levels, cards: list[int]) -> Cells:
        runs = [axes for axes, _ in table.packs]
        columns = []
        for axes, packed in table.packs:
            look_up, _ = self.coding.look_up(axes, table.levels, levels, np.uint32)
            columns.append(look_up.take(packed))

        rank = ranks(columns, [prod(cards[axis] for axis in axes) for axes in runs])
        sizes = sums_at(rank, table.sizes, int(rank.max()) + 1)
        row_of_group = np.empty(len(sizes), dtype=np.intp)
        row_of_group[rank] = np.arange(len(rank))
        codes = [packed.take(row_of_group) for packed in columns]
        return Cells(self.coding, levels, sizes, wide=tuple(zip(runs, codes, strict=True)))

    # Which tables are made and kept

    def nearest(self, levels: Levels) -> GroupTable:
        """The smallest table that is at least as fine as a node.

        An intermediate one is made once it would have paid off.
        """
        table = self._smallest(levels)
        if table.rows <= SMALL:
            return table
        step = self._intermediate(table.levels, levels, table.rows / STEP)
        if step is None or not self._pays(step, table.rows):
            return table

        finer = self._shared(table, step)
        smaller = GroupTable.of(self.roll(finer, step))
        if smaller.rows * 2 >= table.rows:
            return finer
        self._keep(smaller)
        return smaller

    def _smallest(self, levels: Levels) -> GroupTable:
        """The smallest table kept that is at least as fine as a node."""
        kept = self._kept
        if len(kept.tables) == 1:
            return self.base
        finer = kept.levels <= np.array(levels, dtype=np.int16)
        usable = np.flatnonzero(finer.all(axis=1))
        return kept.tables[int(usable[kept.rows[usable].argmin()])]

    def _intermediate(self, fine: Levels, coarse: Levels, rows: float) -> Levels | None:
        """The node between two that is estimated at no more than `rows` groups.

        It is reached by the steps that merge most; None if there is none.
        """
        estimates = self.estimates
        if estimates.groups_at(coarse) > rows:
            return None
        levels = list(fine)
        log_cells = estimates.log_cells(fine)
        while estimates.groups(log_cells) > rows:
            best = 0.0
            best_axis = -1
            for axis, level in enumerate(levels):
                if level >= coarse[axis]:
                    continue
                merged = estimates.spread(axis, level, level + 1)
                if merged > best:
                    best = merged
                    best_axis = axis
            if best_axis < 0:
                return None
            levels[best_axis] += 1
            log_cells -= best
        return tuple(levels)

    def _pays(self, step: Levels, rows: int) -> bool:
        """Whether an intermediate table, wanted once more, is worth making now."""
        self._wanted[step] = self._wanted.get(step, 0) + 1
        needed = 1
        if prod(self.coding.cards_at(step)) > rows:
            needed = WANTED
        if self._wanted[step] < needed:
            return False
        self._wanted[step] = NEVER_AGAIN
        return True

    def _shared(self, table: GroupTable, step: Levels) -> GroupTable:
        """A table to make an intermediate one from.

        Where several are made from a large one, it is what two of them have in common.
        """
        if table.rows < LARGE:
            return table
        most = COMMON * table.rows
        steps = self._steps.setdefault(table.levels, [])
        between = {tuple(map(min, step, other)) for other in steps} - self._tried
        steps.append(step)
        estimates = [(self.estimates.groups_at(levels), levels) for levels in between]
        worthwhile = [pair for pair in estimates if pair[0] <= most]
        if not worthwhile:
            return table

        _, common = max(worthwhile)  # the finest, which most can be made from
        self._tried.add(common)
        shared = GroupTable.of(self.roll(table, common))
        if shared.rows > most:
            return table
        self._keep(shared)
        return shared

    def _keep(self, table: GroupTable) -> None:
        with self._keeping:  # readers see the tables before or after, never in between
            if table.nbytes > self._spare:
                return
            self._spare -= table.nbytes
            kept = self._kept
            levels = np.vstack([kept.levels, np.array(table.levels, dtype=np.int16)])
            rows = np.append(kept.rows, table.rows)
            self._kept = _Kept([*kept.tables, table], levels, rows)


def key_type(numbers: int) -> Kind:
    """The smaller of two types that has that many numbers, if one has: it is sorted faster."""
    return np.uint32 if numbers <= 1 << 32 else np.uint64


def _sums_of_sorted(keys: Unsigned, bits: int, sums: Unsigned) -> tuple[Floats, Index]:
    """The sums of sizes, which the lowest bits of keys are, and the rest of the keys, ascending.

    Both arrays are written to.
    """
    kind = keys.dtype.type
    keys.sort()
    np.bitwise_and(keys, kind((1 << bits) - 1), out=sums)
    # With more cells than rows, all sizes together are a number that keys could be.
    np.cumsum(sums, dtype=kind, out=sums)
    keys >>= kind(bits)
    last = last_of_runs(keys)
    return differences(sums.take(last), np.float64), keys.take(last).astype(np.intp, copy=False)


def _sums_by_key(keys: Index, sizes: Floats) -> tuple[Floats, Index]:
    """The sums of sizes for every key that occurs, and those keys, ascending."""
    order = np.argsort(keys)
    keys = keys[order]
    sums = np.cumsum(sizes[order])
    last = last_of_runs(keys)
    return differences(sums.take(last), np.float64), keys.take(last)


def differences(sums: npt.NDArray[Any], kind: type[np.generic]) -> npt.NDArray[Any]:
    """What each sum adds to the one before."""
    added = np.empty(len(sums), dtype=kind)
    added[:1] = sums[:1]
    np.subtract(sums[1:], sums[:-1], out=added[1:], dtype=sums.dtype, casting="unsafe")
    return added
