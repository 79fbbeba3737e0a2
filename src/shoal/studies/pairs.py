"""Two columns together, before and after: which shares of records have which pair of values.

For the owner: it compares with the input. Values of a release that are coarser than those that are
counted by are spread over them. Uses `measure` and `look`; `simulating` and the workbench use it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy import Hierarchy, build
from shoal.data.tables import Table
from shoal.errors import ShoalError
from shoal.exact.numbers import percent
from shoal.look.charts import ChartAxis, bars
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.measure.marginals import ReleasedRows
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["PairShares", "pairs_of"]

Floats = npt.NDArray[np.float64]

MOST = 10
"""Values of a column that are told apart; others are put together."""

_BARE = 200
"""Values of a column without a hierarchy, at most, for it to be counted."""

_DRAWN = 12
"""Pairs of values that are drawn, those that have moved most."""


@owner_only
@dataclass(frozen=True)
class PairShares(Pictured):
    """The shares of records with each pair of values of two columns.

    values: those of the first and of the second column
    before, after: a row for each value of the first column, a cell for each of the second
    levels: the levels that values are counted at; None for a column without a hierarchy
    """

    columns: tuple[str, str]
    levels: tuple[int | None, int | None]
    values: tuple[tuple[str, ...], tuple[str, ...]]
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]

    @property
    def moved(self) -> float:
        """The share of records that would have to change for both to be the same."""
        return float(np.abs(np.subtract(self.before, self.after)).sum() / 2)

    @property
    def cells(self) -> list[tuple[str, str, float, float]]:
        """Every pair of values that some record has, with its shares."""
        return [
            (one, other, self.before[down][across], self.after[down][across])
            for down, one in enumerate(self.values[0])
            for across, other in enumerate(self.values[1])
            if self.before[down][across] or self.after[down][across]
        ]

    def pictures(self) -> tuple[Picture, ...]:
        """The pairs of values whose shares have changed most, as bars."""
        ranked = sorted(self.cells, key=lambda cell: -abs(cell[2] - cell[3]))
        shown = ranked[:_DRAWN]
        first, second = self.columns
        words = f"{len(shown)} of {len(ranked)} pairs of values, those that moved most"
        if len(shown) == len(ranked):
            words = "all pairs of values"
        return (
            Picture(
                title=f"{first} and {second}: {percent(self.moved)} of the records would have to "
                "move for the shares of the input",
                sentence=(
                    f"The share of records with each pair of values of {first} and {second}, "
                    f"before and after: {words}. Before counts all records, after those that are "
                    "kept; values that are released coarser are spread over those counted."
                ),
                head=[first, second, "before", "after"],
                rows=[[one, other, percent(was), percent(now)] for one, other, was, now in ranked],
                draw=partial(
                    bars,
                    [
                        (f"{one}, {other}", {"before": was, "after": now})
                        for one, other, was, now in shown
                    ],
                    ChartAxis("share of the records", shares=True),
                ),
                zone=Zone.OWNER,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": list(self.columns),
            "levels": list(self.levels),
            "values": [list(values) for values in self.values],
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> "PairShares":
        """What `to_dict` gave."""
        first, second = parts["columns"]
        one, other = parts["values"]
        return cls(
            columns=(first, second),
            levels=(parts["levels"][0], parts["levels"][1]),
            values=(tuple(one), tuple(other)),
            before=tuple(map(tuple, parts["before"])),
            after=tuple(map(tuple, parts["after"])),
        )


def pairs_of(table: Table, release: Release) -> Iterator[PairShares]:
    """Every two columns of a release together; ShoalError if it does not show them together."""
    trees = {name: tree for name in release_columns(table, release) if (tree := _tree(table, name))}
    rows = ReleasedRows.of(release, trees, trees)
    levels = {name: _level(tree, _lowest(release, name)) for name, tree in trees.items()}
    for first, second in combinations(trees, 2):
        at = {first: levels[first], second: levels[second]}
        after = rows.marginal([first, second], at)
        counted = table.count(
            [first, second], {name: at[name] for name in at if name in table.hierarchies}
        )
        places = [
            _places(table, name, column, after.values[side], at[name])
            for side, (name, column) in enumerate(zip(at, counted.codes, strict=True))
        ]
        before = np.zeros(after.counts.shape)
        np.add.at(before, tuple(places), counted.count)
        was, now = _share(before), after.shares
        kept = [_kept(was.sum(axis=1 - side) + now.sum(axis=1 - side)) for side in (0, 1)]
        yield PairShares(
            columns=(first, second),
            levels=(
                at[first] if first in table.hierarchies else None,
                at[second] if second in table.hierarchies else None,
            ),
            values=(_named(after.values[0], kept[0]), _named(after.values[1], kept[1])),
            before=_rows(was, kept),
            after=_rows(now, kept),
        )


def release_columns(table: Table, release: Release) -> list[str]:
    """The columns of the input that a release shows."""
    shown = {column["name"] for column in release.certificate.columns}
    return [name for name in table.released if name in shown]


def _tree(table: Table, name: str) -> Hierarchy | None:
    """The hierarchy by which a column is counted; of few values without one, they themselves."""
    if name in table.hierarchies:
        return table.hierarchies[name]
    if len(table.keys(name)) > _BARE:
        return None
    try:
        return build.suppress(filter(None, table.labels(name)), kind=table.kind(name))
    except ShoalError:
        return None


def _lowest(release: Release, name: str) -> int:
    return int(release.certificate.levels.get(name, 0))


def _level(tree: Hierarchy, lowest: int) -> int:
    """The lowest level with few values, but not the root; else the one that was released."""
    for level in range(lowest, tree.height):
        if tree.cardinality(level) <= MOST:
            return level
    return lowest


def _places(
    table: Table, name: str, codes: npt.NDArray[Any], values: Sequence[str], level: int
) -> npt.NDArray[np.int64]:
    """The places among some values of the values that records of the input have."""
    if name in table.hierarchies:
        return codes.astype(np.int64)
    index = {value: place for place, value in enumerate(values)}
    own = np.array([index.get(label, 0) for label in table.labels(name)], dtype=np.int64)
    return np.asarray(own[codes])


def _share(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total else counts


def _kept(weights: Floats) -> npt.NDArray[np.int64]:
    """The values that are told apart, in their order: those with most records."""
    there = np.flatnonzero(weights)
    if len(there) <= MOST:
        return there
    return np.sort(np.argsort(-weights, kind="stable")[: MOST - 1])


def _named(values: Sequence[str], kept: npt.NDArray[np.int64]) -> tuple[str, ...]:
    names = [values[place] or "missing" for place in kept]
    others = len(values) - len(kept)
    return (*names, "other values") if others else tuple(names)


def _rows(shares: Floats, kept: Sequence[npt.NDArray[np.int64]]) -> tuple[tuple[float, ...], ...]:
    """The shares of values that are told apart, and of all others together."""
    for side in (0, 1):
        chosen = np.take(shares, kept[side], axis=side)
        if len(kept[side]) < shares.shape[side]:
            rest = shares.sum(axis=side, keepdims=True) - chosen.sum(axis=side, keepdims=True)
            chosen = np.concatenate([chosen, np.maximum(rest, 0.0)], axis=side)
        shares = chosen
    return tuple(tuple(round(float(share), 6) for share in row) for row in shares)
