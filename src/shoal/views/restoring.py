"""`restore`: true views in addition, with which nobody is exposed any more. Uses `regions`, `candidates` and `checking`; the
command line uses it.

More that is true can make a value less probable for somebody: it excludes tables, and more of those in which they have it. What
this promises holds against someone who sees all views and does not know that some of them were chosen to restore: the choice
looks at the table, and so the choice itself tells something. `planning` is for someone who knows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from shoal.errors import InternalError, ShoalError, TooLargeError, plural
from shoal.privacy.exact import whole
from shoal.views.candidates import Candidate, fits, fresh
from shoal.views.checking import Checked, Exposed, check
from shoal.views.model import Value, View, Views
from shoal.views.regions import Region, Standing, obstacle, regions

if TYPE_CHECKING:
    import altair
    import polars as pl

__all__ = ["Restored", "Row", "Unrestored", "restore", "rows"]

EFFORT = 400
"""Sets of views that are counted for a region and a number of views, by itself."""

BEAM = 12
"""Sets of views that are extended by one more, of each number."""

WORK = 2_000
"""Steps of counting that a set may take on average, before no more are tried."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Unrestored:
    """Somebody who stays exposed, and why.

    proven: "never" if no views whatever can change that, "candidates" if no so many of the candidates can, else None: none were
        found
    """

    exposed: Exposed
    reason: str
    proven: Literal["never", "candidates"] | None


@dataclass(frozen=True)
class Row:
    """Somebody's value that was more probable than its limit before, or is after."""

    person: str
    value: Value
    limit: Fraction
    before: Fraction
    after: Fraction


@dataclass(frozen=True, eq=False)
class Restored:
    """What was found: the views in addition, and how everybody stands before and after. For the owner only."""

    before: Checked
    after: Checked
    added: tuple[View, ...]
    unrestored: tuple[Unrestored, ...]
    tried: int
    """Sets of views that were counted."""

    @property
    def private(self) -> bool | None:
        """Whether every limit holds with the views that are added."""
        return self.after.private

    @property
    def rows(self) -> tuple[Row, ...]:
        """Before and after for everybody who was or is exposed."""
        return rows(self.before, self.after)

    def frame(self) -> "pl.DataFrame":
        """The rows as a dataframe, with probabilities as numbers."""
        return frame(self.rows)

    def chart(self) -> "altair.LayerChart":
        """The rows as a chart: a line for each from before to after, with its limit."""
        return chart(self.rows)


def restore(
    views: Views, table: Sequence[Value], candidates: Iterable[Candidate], *, most: int = 2, effort: int = EFFORT
) -> Restored:
    """Add up to `most` of the candidates so that every limit holds, against someone who does not know of restoring.

    table: everybody's value, as it is: `OUTSIDE` for who is not in the table
    effort: how many sets of views are counted for each region and number of views. Where there are no more sets than that, all
        are, and what is not found is proven not to be among the candidates

    >>> TODO
    """
    whole(most, "most", 1)
    whole(effort, "effort", 1)
    fits(views, table)
    before = check(views)
    if before.private:
        return Restored(before, before, (), (), 0)
    found: list[_Found] = []
    exposed = [*before.exposed, *before.undecided]
    for region in regions(views, fresh(views, candidates), [one.person for one in exposed]):
        found.append(_search(region, [table[one] for one in region.people], most, effort))
    added: list[View] = []
    failed: dict[int, tuple[str, Literal["never", "candidates"] | None]] = {}
    for one in sorted(found, key=lambda one: len(one.chosen or ())):
        if one.chosen is not None and len(added) + len(one.chosen) <= most:
            added += map(one.region.whole, one.chosen)
            continue
        reason = one.reason, one.proven
        if one.chosen is not None:
            reason = f"this takes {plural(len(one.chosen), 'view')}; {len(added)} of {most} went to other people", None
        failed |= dict.fromkeys(one.region.people, reason)
    after = check(views.also(*added)) if added else before
    unrestored = tuple(Unrestored(one, *failed[one.person]) for one in exposed if one.person in failed)
    left = {one.person for one in (*after.exposed, *after.undecided)} - failed.keys()
    if left:
        raise InternalError("views were chosen that do not restore what they should; please report this")
    return Restored(before, after, tuple(added), unrestored, sum(one.tried for one in found))


# The report


def rows(before: Checked, after: Checked) -> tuple[Row, ...]:
    """Before and after for everybody who was or is exposed, or may be; upper bounds where probabilities are not exact."""
    views = before.views
    pairs = dict.fromkeys((one.person, one.value) for found in (before, after) for one in (*found.exposed, *found.undecided))
    beliefs = [{person: belief for belief in found.beliefs for person in belief.people} for found in (before, after)]
    told = []
    for person, value in pairs:
        first, last = (own[person].between(value)[1] if person in own else Fraction(0) for own in beliefs)
        told.append(Row(views.names[person], value, views.limit(value), first, last))
    return tuple(told)


def frame(told: Iterable[Row]) -> "pl.DataFrame":
    """Rows as a dataframe."""
    import polars as pl

    kinds = {"person": pl.String, "value": pl.String, "limit": pl.Float64, "before": pl.Float64, "after": pl.Float64}
    return pl.DataFrame(
        [(one.person, said(one.value), float(one.limit), float(one.before), float(one.after)) for one in told],
        schema=kinds,
        orient="row",
    )


def chart(told: Iterable[Row]) -> "altair.LayerChart":
    """Rows as a chart: for each a line from before to after, and a tick at its limit."""
    try:
        import altair as alt
    except ImportError:
        raise ShoalError("charts need Altair; install it with: pip install 'shoal[plots]'") from None
    data = [
        {
            "who": f"{one.person}: {said(one.value) or 'missing'}",
            "before": float(one.before),
            "after": float(one.after),
            "limit": float(one.limit),
        }
        for one in told
    ]
    points = [{"who": one["who"], "at": one[when], "when": when} for one in data for when in ("before", "after")]
    across = alt.Scale(domain=[0, 1])
    down = alt.Y("who:N", title=None, sort=None)
    lines = alt.Chart(alt.InlineData(data)).encode(down)
    dots = alt.Chart(alt.InlineData(points)).mark_circle(size=90, opacity=1)
    return alt.layer(
        lines.mark_rule(color="#999999").encode(alt.X("before:Q", title="probability", scale=across), alt.X2("after:Q")),
        lines.mark_tick(color="black", thickness=2).encode(alt.X("limit:Q", scale=across)),
        dots.encode(down, alt.X("at:Q", scale=across), alt.Color("when:N", title=None, sort=["before", "after"])),
    ).properties(width=420)


def said(value: Value) -> str | None:
    """A value as text."""
    return None if value is None else str(value)


# Search


@dataclass(frozen=True, eq=False)
class _Found:
    region: Region
    chosen: tuple[View, ...] | None
    reason: str
    proven: Literal["never", "candidates"] | None
    tried: int


@dataclass(frozen=True, eq=False)
class _Node:
    """Some candidates, by their numbers, and how the region stands with them."""

    chosen: tuple[int, ...]
    standing: Standing


def _search(region: Region, table: Sequence[Value], most: int, effort: int) -> _Found:
    """The fewest candidates that restore a region, the most promising first."""
    never = obstacle(region)
    if never is not None:
        return _Found(region, None, never.reason, "never", 0)
    try:
        start = region.start
    except TooLargeError as error:
        return _Found(region, None, str(error), None, 0)
    shown = [one.view(table) for one in region.candidates]
    known = _Bayes(region, start, shown)
    useful = [at for at, view in enumerate(shown) if not _crowded(region.views, view)]
    beam = [_Node((), start)]
    tried, complete = 0, True
    seen: set[frozenset[int]] = set()
    for size in range(1, most + 1):
        promising = []
        for node in beam:
            more = [at for at in useful if at not in node.chosen and frozenset((*node.chosen, at)) not in seen]
            seen |= {frozenset((*node.chosen, at)) for at in more}
            promising += zip(known.scores(node.standing, more), [node] * len(more), more, strict=True)
        promising.sort(key=lambda one: (one[0], one[1].chosen, one[2]))
        complete &= len(promising) <= effort
        reached = []
        for _, node, at in promising[:effort]:
            chosen = (*node.chosen, at)
            if region.spent > most * effort * WORK:
                complete = False
                break
            standing = region.standing([shown[one] for one in chosen])
            tried += 1
            if standing is None:
                complete = False
                continue
            if size == 1:
                known.learn(at, standing)
            if standing.private:
                return _Found(region, tuple(shown[one] for one in chosen), "", None, tried)
            if not standing.hopeless:
                reached.append(_Node(chosen, standing))
        if size == most:
            break
        reached.sort(key=lambda one: (one.standing.rank, one.chosen))
        kept = len(reached) if complete and len(reached) * len(useful) <= effort else BEAM
        complete &= len(reached) <= kept
        beam = reached[:kept]
        if not beam:
            break
    number = sum(comb(len(shown), size) for size in range(1, most + 1))
    if complete:
        return _Found(
            region, None, f"none of all {plural(number, 'set')} of up to {most} candidates restores it", "candidates", tried
        )
    return _Found(region, None, f"none was found among {plural(number, 'set')} of up to {most} candidates", None, tried)


def _crowded(views: Views, view: View) -> bool:
    """Whether a view exposes people by itself."""
    return any(often > views.limit(value) * len(view.members) for value, often in view.shown.items())


class _Bayes:
    """How probable values would be with a candidate more, roughly: as if candidates told of people independently.

    A candidate multiplies the odds of a value, for its people and for the others of a view that holds it, by how much more often
    it shows the value than was to be expected; once it was counted, by what was found.
    """

    def __init__(self, region: Region, start: Standing, shown: Sequence[View]) -> None:
        self.start = np.maximum(start.shares, 1e-12)
        self.limits = np.array([float(region.views.limit(value)) for value in region.views.values])
        self.factors = [self._factor(region, view) for view in shown]

    def _factor(self, region: Region, view: View) -> Floats:
        values = region.views.values
        found = np.ones_like(self.start)
        bag = np.array([view.shown.get(value, 0) for value in values], dtype=float)
        holder = min(
            (one for one in region.views.shown if view.members < one.members), key=lambda one: len(one.members), default=None
        )
        told = [(view.members, bag)]
        if holder is not None:
            told.append((holder.members - view.members, np.array(region.views.bag(holder), dtype=float) - bag))
        for people, often in told:
            own = sorted(people)
            found[own] = often / np.maximum(self.start[own].sum(axis=0), 1e-9)
        return found

    def learn(self, at: int, standing: Standing) -> None:
        """Put what was counted in place of the guess."""
        if not standing.hopeless:
            self.factors[at] = standing.shares[:, : self.start.shape[1]] / self.start

    def scores(self, standing: Standing, more: Sequence[int]) -> list[tuple[float, float]]:
        """For candidates in addition: by how much a value would be above its limit, and all that would be."""
        found = []
        for at in more:
            odds = standing.shares[:, : self.start.shape[1]] * self.factors[at]
            total = odds.sum(axis=1, keepdims=True)
            over = np.maximum(odds / np.where(total > 0, total, 1) - self.limits, 0)
            found.append((round(float(over.max(initial=0)), 9), round(float(over.sum()), 9)))
        return found
