"""How closely people's values are known: how many people's possible values are how far apart.

It follows from what the audit takes as known, which is a function of what was asked and replied,
and of what is public. So anyone who has the transcript could work it out, except that entries of
dithered columns have digits that nobody was told: owner only. Uses the auditors; the command line
uses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np

from shoal.audit.book import Audit, SecretState
from shoal.audit.cells import Ints, PersonCells, cells
from shoal.audit.matrices import Floats, LinearProgram
from shoal.audit.maxima import Maxima, MaximaState, Minima
from shoal.audit.polytope import sides
from shoal.audit.slices import certified
from shoal.audit.sums import Sums, SumState
from shoal.exact.numbers import printed
from shoal.look.charts import ChartAxis, histogram
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.zones import owner_only

__all__ = ["ColumnKnowledge", "WidthBin", "knowledge"]

SOLVED = 300
"""Cells up to which linear programs find widths; beyond, they are those that are certified."""

TOLERANCE = 1e-6
"""Of a width: what a solver may be off."""


@dataclass(frozen=True)
class WidthBin:
    """Some people's possible values are `low` or more apart, and less than `high`, as texts.

    high: None for the last one, up to all that is public
    """

    low: str
    high: str | None
    people: int

    @property
    def span(self) -> str:
        """The distances as a text."""
        return f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"


@owner_only
@dataclass(frozen=True)
class ColumnKnowledge(Pictured):
    """A secret column, and how closely values are known (owner only).

    exact: whether widths are as they are, and not only known to be at least that
    """

    column: str
    bins: tuple[WidthBin, ...]
    exact: bool

    def pictures(self) -> tuple[Picture, ...]:
        """How many people's possible values are how far apart."""
        people = sum(each.people for each in self.bins)
        least = self.bins[0].low if self.bins else "0"
        shown = [(each.span, {"": float(each.people)}) for each in self.bins]
        sure = "" if self.exact else " They may be further apart than is shown."
        return (
            Picture(
                title=f"{self.column}: everybody's possible values are {least} or more apart",
                sentence=(
                    f"How many of the {people:,} people have possible values that are how far "
                    f"apart, given all that was answered.{sure}"
                ),
                head=["apart", "people"],
                rows=[[each.span, f"{each.people:,}"] for each in self.bins],
                draw=partial(histogram, shown, "possible values are apart", ChartAxis("people")),
                zone=Zone.OWNER,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        bins = [{"low": each.low, "high": each.high, "people": each.people} for each in self.bins]
        return {"column": self.column, "exact": self.exact, "widths": bins}


def knowledge(audit: Audit) -> tuple[ColumnKnowledge, ...]:
    """How closely values are known, of every secret column that was asked about."""
    return tuple(_of_column(audit, state) for state in audit.state() if state.family is not None)


def _of_column(audit: Audit, state: SecretState) -> ColumnKnowledge:
    assert state.family is not None
    auditor = audit.auditor(state.secret.column, state.family)
    width = Fraction(state.secret.width or 1)
    if isinstance(auditor, Maxima):
        widths = _of_maxima(auditor, state.known)
        sizes, exact = np.ones(len(widths), np.int64), True
    else:
        assert isinstance(auditor, Sums)
        widths, sizes, exact = _of_sums(auditor, state.known)
    return ColumnKnowledge(state.secret.column, tuple(_bins(widths, sizes, width)), exact)


def _of_maxima(auditor: Maxima, state: MaximaState) -> Floats:
    """From the lower bound up to what everyone has at most."""
    upright = auditor.mirrored if isinstance(auditor, Minima) else auditor
    low = -inf if upright.low is None else float(upright.low)
    return np.array([float(bound) for bound in state.audit.bounds]) - low


def _of_sums(auditor: Sums, state: SumState) -> tuple[Floats, Ints, bool]:
    """The widths of people in each cell, the sizes of cells, and whether widths are exact."""
    everyone = (1 << auditor.people) - 1
    if auditor.low is None:
        return np.array([inf]), np.array([auditor.people]), True
    groups = cells(state.constraints, everyone, auditor.box.kinds)
    if auditor.integers:
        tables = auditor.tables[auditor.possible(state.constraints)]
        return np.ptp(tables, axis=0).astype(float), np.ones(auditor.people, np.int64), True
    if len(groups) <= SOLVED:
        return _solved(auditor, state, groups), groups.sizes, True
    # for dithered values the box has room for rounding to multiples
    shown = certified(auditor.box, state.constraints, groups)
    promised = [float(auditor.widths[person]) for person in groups.first.tolist()]
    widths = promised if shown is None else list(map(float, shown))
    # whatever floats can show, the promise holds
    return np.maximum(widths, promised), groups.sizes, False


def _solved(auditor: Sums, state: SumState, groups: PersonCells) -> Floats:
    first = groups.first.tolist()
    low = np.array([float(auditor.lows[person]) for person in first])
    high = np.array([float(auditor.highs[person]) for person in first])
    a = groups.rows(each.people for each in state.constraints)
    columns = groups.sizes * low, groups.sizes * high
    program = LinearProgram.within(a, sides(state.constraints), columns)
    widths = []
    for cell, unit in enumerate(np.eye(len(groups))):
        least, most = program.ends(unit) or (low[cell], low[cell])
        others = groups.sizes[cell] - 1
        least = max(low[cell], least - others * high[cell])
        most = min(high[cell], most - others * low[cell])
        widths.append(most - least)
    return np.array(widths)


def _bins(widths: Floats, sizes: Ints, width: Fraction) -> Iterator[WidthBin]:
    """Bins that double, from the promised width up to the largest there is."""
    low = width
    left = sizes.copy()
    finite = widths[np.isfinite(widths)]
    most = float(finite.max(initial=0.0))
    while left.any():
        high = 2 * low
        # the last bin has all the rest
        last = float(high) > most
        inside = (left > 0) & ((widths < float(high) * (1 - TOLERANCE)) | last)
        yield WidthBin(printed(low), None if last else printed(high), int(left[inside].sum()))
        left[inside] = 0
        low = high
