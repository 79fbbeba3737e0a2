"""`restore`: true views in addition, with which nobody is exposed any more. Uses `regions`, `candidates`, `planning` and
`checking`; the command line uses it.

More that is true can make a value less probable for somebody: it excludes tables, and more of those in which they have it. What
this promises holds against someone who sees all views and does not know that some of them were chosen to restore: the choice
looks at the table, and so the choice itself tells something. Against someone who knows, what `planning` chose is followed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

from shoal.arguments import typed
from shoal.errors import InternalError, ParameterError, TooLargeError, listed, plural
from shoal.exact.numbers import Exact, fraction, whole
from shoal.measure.judging import NOTICE
from shoal.studies import charts
from shoal.views.candidates import Candidate, fits, fresh
from shoal.views.checking import Checked, Exposed, check
from shoal.views.model import Value, View, Views
from shoal.views.planning import Plan, plan
from shoal.views.regions import Guesses, Obstacle, Region, Standing, above, obstacle, regions
from shoal.zones import owner_only

if TYPE_CHECKING:
    import altair
    import polars as pl

__all__ = ["Adversary", "Restored", "Row", "Unrestored", "restore", "rows"]

Adversary = Literal["unaware", "aware"]
ADVERSARIES: tuple[Adversary, ...] = ("unaware", "aware")

Proven = Literal["never", "candidates"] | None

EFFORT = 400
"""Sets of views that are counted for a region and a number of views, by itself."""

BEAM = 12
"""Sets of views that are extended by one more, of each number."""

WORK = 2_000
"""Steps of counting that a set may take on average, before no more are tried."""

_LABEL = 360  # pixels of a label in a chart, of which longer ones are cut


@owner_only
@dataclass(frozen=True)
class Unrestored:
    """Somebody who stays exposed, and why.

    proven: "never" if no views whatever can change that for all whom the reason names, "candidates" if no so many of the
        candidates make every limit hold for everybody connected with them, else None: none were found
    """

    exposed: Exposed
    reason: str
    proven: Proven


@owner_only
@dataclass(frozen=True)
class Row:
    """Somebody's value that was more probable than its limit before, or is after."""

    person: str
    value: Value
    limit: Fraction
    before: Fraction
    after: Fraction


@owner_only
@dataclass(frozen=True, eq=False)
class Restored:
    """What was found: the views in addition, and how everybody stands before and after. For the owner only."""

    before: Checked
    after: Checked
    added: tuple[View, ...]
    unrestored: tuple[Unrestored, ...]
    tried: int
    """Sets of views that were counted; outcomes, of a plan."""

    plan: Plan | None = None
    """What was chosen by, against someone who knows of restoring."""

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
        """The rows as a chart: a line for each from before to after, with its limit; ParameterError if nobody was exposed."""
        return chart(self.rows)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the chart as HTML that draws without a network, as PNG or as SVG, by the suffix; not beside a release."""
        charts.save(self.chart(), path)


@typed
def restore(
    views: Views,
    table: Sequence[Value],
    candidates: Iterable[Candidate],
    *,
    adversary: Adversary = "unaware",
    most: int = 2,
    effort: int | None = None,
    least: Exact = 0,
    ceiling: Exact = 1,
) -> Restored:
    """Add up to `most` of the candidates so that every limit holds.

    table: everybody's value, as it is: `OUTSIDE` for who is not in the table
    adversary: "unaware" sees all views and does not know that some were chosen to restore: the choice looks at the table.
        "aware" knows the procedure and that it ran: views are those of `plan`, which does not look, and may not restore
    effort: how many sets of views are counted for each region and number of views. Where there are no more sets than that, all
        are, and what is not found is proven not to be among the candidates
    least: follow a plan only if every limit will hold in at least this share of the possible tables
    ceiling: follow a plan only if no value becomes more probable than this for anybody in any outcome

    >>> from shoal.views.candidates import subsets
    >>> table = "heart SARS virus SARS virus SARS flu".split()
    >>> both = Views(7, [View("men", range(4), table[:4]), View("old", range(3, 7), table[3:])])
    >>> found = restore(both, table, subsets(both, 2))
    >>> [view.name for view in found.added], found.before.largest, found.after.largest
    (['men: 1, 2', 'old: 4, 5'], Fraction(4, 5), Fraction(1, 2))
    """
    whole(most, "most", 1)
    if adversary not in ADVERSARIES:
        raise ParameterError(f"adversary={adversary!r} is unknown; known are {listed(ADVERSARIES)}")
    if adversary == "unaware" and (least != 0 or ceiling != 1):
        raise ParameterError(
            "least and ceiling are about a plan; take them with the adversary 'aware'"
        )
    fits(views, table)
    if adversary == "aware":
        options = {} if effort is None else {"effort": effort}
        return _followed(
            plan(views, candidates, most=most, ceiling=ceiling, **options),
            table,
            fraction(least, "least", 0, 1),
        )
    before = check(views)
    if before.private:
        return Restored(before, before, (), (), 0)
    found = [
        _search(
            region,
            [table[one] for one in region.people],
            most,
            whole(EFFORT if effort is None else effort, "effort", 1),
        )
        for region in regions(views, fresh(views, candidates), above(before))
    ]
    added: list[View] = []
    failed: dict[int, tuple[str, Proven]] = {}
    for one in sorted(found, key=lambda one: len(one.chosen or ())):
        reason = one.reason, one.proven
        if one.chosen is not None:
            if len(added) + len(one.chosen) <= most:
                added += map(one.region.whole, one.chosen)
                continue
            reason = (
                f"this takes {plural(len(one.chosen), 'view')}, and {len(added)} of {most} went to other people",
                None,
            )
        failed |= dict.fromkeys(one.region.people, reason)
        if one.never is not None:
            failed |= dict.fromkeys(
                set(one.region.people) - set(one.never.people), (_beside(one.reason), "candidates")
            )
    after = check(views.also(*added)) if added else before
    if not failed.keys() >= set(above(after)):
        raise InternalError(
            "views were chosen that do not restore what they should; please report this"
        )
    unrestored = (
        tuple(Unrestored(one, *failed[one.person]) for one in (*after.exposed, *after.undecided))
        if failed
        else ()
    )
    return Restored(before, after, tuple(added), unrestored, sum(one.tried for one in found))


def _followed(by: Plan, table: Sequence[Value], least: Fraction) -> Restored:
    """What comes of a plan. Whether it is followed depends on the plan alone."""
    follow = bool(by.candidates) and by.low >= least
    added = by.shown(table) if follow else ()
    after = check(by.views.also(*added)) if added else by.before
    unrestored = []
    for one in (*after.exposed, *after.undecided):
        outlook = next(own for own in by.outlooks if one.person in own.people)
        never = one.person in outlook.never
        if not outlook.candidates:
            reason = outlook.reason if never or not outlook.never else _beside(outlook.reason)
        elif not follow:
            reason = f"every limit would hold in {by.low} of the possible tables, which is less than {least}"
        else:
            reason = f"every limit was to hold in {outlook.low} of the possible tables, and this is none of them"
        unrestored.append(
            Unrestored(one, reason, "never" if never else "candidates" if outlook.never else None)
        )
    tried = sum(len(one.outcomes) for one in by.outlooks)
    return Restored(by.before, after, added, tuple(unrestored), tried, by)


def _beside(reason: str) -> str:
    """Of those who are connected with people whom nothing restores."""
    return f"nothing was tried, as not everybody connected with them can be restored: {reason}"


# The report


def rows(before: Checked, after: Checked) -> tuple[Row, ...]:
    """Before and after for everybody who was or is exposed, or may be; upper bounds where probabilities are not exact."""
    views = before.views
    pairs = dict.fromkeys(
        (one.person, one.value)
        for found in (before, after)
        for one in (*found.exposed, *found.undecided)
    )
    beliefs = [
        {person: belief for belief in found.beliefs for person in belief.people}
        for found in (before, after)
    ]
    told = []
    for person, value in pairs:
        first, last = (
            own[person].between(value)[1] if person in own else Fraction(0) for own in beliefs
        )
        told.append(Row(views.names[person], value, views.limit(value), first, last))
    return tuple(told)


def frame(told: Iterable[Row]) -> "pl.DataFrame":
    """Rows as a dataframe."""
    import polars as pl

    kinds = {
        "person": pl.String,
        "value": pl.String,
        "limit": pl.Float64,
        "before": pl.Float64,
        "after": pl.Float64,
    }
    return pl.DataFrame(
        [
            (one.person, said(one.value), float(one.limit), float(one.before), float(one.after))
            for one in told
        ],
        schema=kinds,
        orient="row",
    )


def chart(told: Sequence[Row]) -> "altair.LayerChart":
    """Rows as a chart: for each a line from before, a ring, to after, a dot, and a tick at its limit; ParameterError if there
    are none."""
    if not told:
        raise ParameterError("nobody was exposed, there is nothing to draw")
    alt = charts.library()
    lines, marks = [], []
    for one in told:
        who = {"who": f"{one.person}: {said(one.value) or 'missing'}"}
        lines.append({**who, "before": float(one.before), "after": float(one.after)})
        places = {"before": one.before, "after": one.after, "allowed": one.limit}
        marks += [{**who, "at": float(at), "what": what} for what, at in places.items()]
    names = ["before", "after", "allowed"]
    across = alt.Scale(domain=[0, 1])
    down = alt.Y("who:N", title=None, sort=None, axis=alt.Axis(labelLimit=_LABEL))

    def by(kind: Any, ways: list[Any]) -> Any:
        return kind("what:N", title=None, sort=names, scale=alt.Scale(domain=names, range=ways))

    drawn = alt.layer(
        alt.Chart(alt.InlineData(lines))
        .mark_rule(color="#999999")
        .encode(down, alt.X("before:Q", scale=across), alt.X2("after:Q")),
        alt.Chart(alt.InlineData(marks))
        .mark_point(opacity=1, strokeWidth=2)
        .encode(
            down,
            alt.X("at:Q", title="probability", scale=across),
            by(alt.Shape, ["circle", "circle", "M0,-1V1"]),
            by(alt.Size, [200, 45, 160]),
            by(alt.Stroke, ["#1f77b4", "#d95f02", "black"]),
            by(alt.Fill, ["transparent", "#d95f02", "transparent"]),
        ),
    )
    spare = min(
        max(len(str(one["who"])) for one in lines) * 1.5, _LABEL / 4
    )  # where letters are wider than here
    title = alt.Title(
        "How sure one can be of a value, before and after", subtitle=NOTICE, anchor="start"
    )
    return cast(
        "altair.LayerChart",
        drawn.properties(
            width=420, title=title, padding={"left": 5 + spare, "right": 5, "top": 5, "bottom": 5}
        ),
    )


def said(value: Value) -> str | None:
    """A value as text."""
    return None if value is None else str(value)


# Search


@dataclass(frozen=True, eq=False)
class _Found:
    region: Region
    chosen: tuple[View, ...] | None
    reason: str
    proven: Proven
    tried: int
    never: Obstacle | None = None


@dataclass(frozen=True, eq=False)
class _Node:
    """Some candidates, by their numbers, and how the region stands with them."""

    chosen: tuple[int, ...]
    standing: Standing


def _search(region: Region, table: Sequence[Value], most: int, effort: int) -> _Found:
    """The fewest candidates that restore a region, the most promising first."""
    never = obstacle(region)
    if never is not None:
        return _Found(region, None, never.reason, "never", 0, never)
    try:
        start = region.start
    except TooLargeError as error:
        return _Found(region, None, str(error), None, 0)
    shown = [one.view(table) for one in region.candidates]
    guesses = Guesses(region)
    factors = [guesses.factor(view) for view in shown]
    useful = [at for at, view in enumerate(shown) if not _crowded(region.views, view)]
    beam = [_Node((), start)]
    tried, complete = 0, True
    seen: set[frozenset[int]] = set()
    for size in range(1, most + 1):
        promising = []
        for node in beam:
            more = [
                at
                for at in useful
                if at not in node.chosen and frozenset((*node.chosen, at)) not in seen
            ]
            seen |= {frozenset((*node.chosen, at)) for at in more}
            promising += [
                (guesses.score(node.standing.shares, factors[at]), node, at) for at in more
            ]
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
            if standing.private:
                return _Found(region, tuple(shown[one] for one in chosen), "", None, tried)
            if not standing.hopeless:
                if size == 1:
                    factors[at] = guesses.counted(standing)
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
            region,
            None,
            f"none of all {plural(number, 'set')} of up to {plural(most, 'candidate')} restores it",
            "candidates",
            tried,
        )
    return _Found(
        region,
        None,
        f"none was found among {plural(number, 'set')} of up to {plural(most, 'candidate')}",
        None,
        tried,
    )


def _crowded(views: Views, view: View) -> bool:
    """Whether a view exposes people by itself."""
    return any(
        often > views.limit(value) * len(view.members) for value, often in view.shown.items()
    )
