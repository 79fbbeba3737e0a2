"""`restore`: true views in addition, with which nobody is exposed any more.

Uses `regions`, `candidates`, `planning` and `checking`; the command line uses it.

More that is true can make a value less probable for somebody: it excludes tables, and more of those
in which they have it. What this promises holds against someone who sees all views and does not know
that some of them were chosen to restore: the choice looks at the table, and so the choice itself
reveals something. Against someone who knows, the choice of `planning` is followed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Literal

from shoal.arguments import typed
from shoal.errors import InternalError, ParameterError, TooLargeError, listed, plural
from shoal.exact.numbers import Exact, fraction, percent, whole
from shoal.look.charts import ChartAxis, shifts
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.studies.saving import Saved
from shoal.views.candidates import Candidate, fresh, require_fit
from shoal.views.checking import Checked, ExposedPerson, check
from shoal.views.model import Value, View, Views
from shoal.views.pictures import SHOWN
from shoal.views.planning import EFFORT as PLAN_EFFORT
from shoal.views.planning import Outlook, Plan, plan
from shoal.views.regions import (
    Floats,
    Guesses,
    Obstacle,
    Region,
    RegionStanding,
    above,
    obstacle,
    regions,
)
from shoal.zones import owner_only

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Adversary", "BeforeAfter", "Restored", "Unrestored", "before_and_after", "restore"]

Adversary = Literal["unaware", "aware"]
ADVERSARIES: tuple[Adversary, ...] = ("unaware", "aware")

Proven = Literal["never", "candidates"] | None

EFFORT = 400
"""Sets of views that are counted for a region and a number of views, by default."""

BEAM = 12
"""Sets of views that are extended by one more, of each number."""

WORK = 2_000
"""Steps of counting that a set may take on average, before no more are tried."""


@owner_only
@dataclass(frozen=True)
class Unrestored:
    """Somebody who stays exposed, and why.

    proven: "never" if no views whatever can change that for all whom the reason names, "candidates"
        if no set of as many candidates makes every limit hold for everybody connected with them;
        None if it is not proven: none were found
    """

    exposed: ExposedPerson
    reason: str
    proven: Proven


@owner_only
@dataclass(frozen=True)
class BeforeAfter:
    """Somebody's value that was more probable than its limit before, or is after."""

    person: str
    value: Value
    limit: Fraction
    before: Fraction
    after: Fraction


@owner_only
@dataclass(frozen=True, eq=False)
class Restored(Saved):
    """The views in addition, and how everybody stands before and after. For the owner only."""

    before: Checked
    after: Checked
    added: tuple[View, ...]
    unrestored: tuple[Unrestored, ...]
    tried: int
    """Sets of views that were counted; outcomes, of a plan."""

    plan: Plan | None = None
    """What was followed, against someone who knows of restoring."""

    def _repr_html_(self) -> str:
        """What was found as notebooks show it; nobody is named."""
        from shoal.views.cards import card_of_restored

        return card_of_restored(self).html()

    @property
    def private(self) -> bool | None:
        """Whether every limit holds with the views that are added."""
        return self.after.private

    @property
    def rows(self) -> tuple[BeforeAfter, ...]:
        """Before and after for everybody who was or is exposed."""
        return before_and_after(self.before, self.after)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why somebody stays exposed, each reason once."""
        return tuple(dict.fromkeys(one.reason for one in self.unrestored))

    def frame(self) -> "pl.DataFrame":
        """The rows as a dataframe, with probabilities as numbers."""
        return _frame(self.rows)

    def pictures(self) -> tuple[Picture, ...]:
        """Before and after for everybody who was exposed; nothing if nobody was."""
        return (_picture(self),) if self.rows else ()


@typed
def restore(
    views: Views,
    table: Sequence[Value],
    candidates: Iterable[Candidate],
    *,
    adversary: Adversary = "unaware",
    additions: int = 2,
    effort: int | None = None,
    least: Exact = 0,
    ceiling: Exact = 1,
) -> Restored:
    """Add up to `additions` of the candidates so that every limit holds.

    table: everybody's true value: `OUTSIDE` for people who are not in the table
    adversary: "unaware" sees all views and does not know that some were chosen to restore: the
        choice looks at the table. "aware" knows the procedure and that it ran: views are those of
        `plan`, which does not look, and may not restore
    effort: how many sets of views are counted for each region and number of views. Where there are
        no more sets than that, all are, and a failure proves that none of the candidates will do
    least: follow a plan only if every limit will hold in at least this share of the possible tables
    ceiling: follow a plan only if no value becomes more probable than this for anybody

    >>> from shoal.views.candidates import subsets
    >>> table = "heart SARS virus SARS virus SARS flu".split()
    >>> both = Views(7, [View("men", range(4), table[:4]), View("old", range(3, 7), table[3:])])
    >>> restored = restore(both, table, subsets(both, 2))
    >>> [view.name for view in restored.added], restored.before.largest, restored.after.largest
    (['men: 1, 2', 'old: 4, 5'], Fraction(4, 5), Fraction(1, 2))
    """
    whole(additions, "additions", 1)
    if adversary not in ADVERSARIES:
        raise ParameterError(
            "is unknown",
            f"known are {listed(ADVERSARIES)}",
            option="adversary",
            given=repr(adversary),
        )
    if adversary == "unaware" and (least != 0 or ceiling != 1):
        raise ParameterError(
            "`least` and `ceiling` are about a plan", "use them with `adversary='aware'`"
        )
    require_fit(views, table)
    if adversary == "aware":
        tries = PLAN_EFFORT if effort is None else effort
        chosen = plan(views, candidates, additions=additions, ceiling=ceiling, effort=tries)
        return _followed(chosen, table, fraction(least, "least", 0, 1))
    tries = whole(EFFORT if effort is None else effort, "effort", 1)
    return _searched(views, table, candidates, additions, tries)


def _searched(
    views: Views,
    table: Sequence[Value],
    candidates: Iterable[Candidate],
    additions: int,
    effort: int,
) -> Restored:
    """The views that a search finds, region by region."""
    before = check(views)
    if before.private:
        return Restored(before, before, (), (), 0)
    results = []
    for region in regions(views, fresh(views, candidates), above(before)):
        values = [table[person] for person in region.people]
        results.append(_search(region, values, additions, effort))
    added: list[View] = []
    failed: dict[int, tuple[str, Proven]] = {}
    # Regions that need few views come first, as there may not be enough for all.
    for result in sorted(results, key=lambda result: len(result.chosen or ())):
        if result.chosen is None:
            failed |= result.failures()
        elif len(added) + len(result.chosen) <= additions:
            added += map(result.region.whole, result.chosen)
        else:
            needed = plural(len(result.chosen), "view")
            reason = f"this takes {needed}, and {len(added)} of {additions} went to other people"
            failed |= dict.fromkeys(result.region.people, (reason, None))
    after = check(views.also(*added)) if added else before
    # A check of the result as a whole, whatever the search believed.
    if not failed.keys() >= set(above(after)):
        raise InternalError(
            "views were chosen that do not restore what they should", "please report this"
        )
    unrestored: tuple[Unrestored, ...] = ()
    if failed:
        exposed = (*after.exposed, *after.undecided)
        unrestored = tuple(Unrestored(one, *failed[one.person]) for one in exposed)
    tried = sum(result.tried for result in results)
    return Restored(before, after, tuple(added), unrestored, tried)


def _followed(chosen: Plan, table: Sequence[Value], least: Fraction) -> Restored:
    """What comes of a plan. Whether it is followed depends on the plan alone."""
    follow = chosen.followed(least)
    added = chosen.shown(table) if follow else ()
    after = check(chosen.views.also(*added)) if added else chosen.before
    unrestored = []
    for exposed in (*after.exposed, *after.undecided):
        # Everybody who is exposed is in some region.
        outlook = next(one for one in chosen.outlooks if exposed.person in one.people)
        reason = _reason(outlook, exposed.person)
        if outlook.candidates and follow:
            reason = (
                f"every limit was to hold in {outlook.low} of the possible tables, "
                "and this is not one of them"
            )
        elif outlook.candidates:
            reason = (
                f"every limit would hold in {chosen.low} of the possible tables, "
                f"which is less than {least}"
            )
        unrestored.append(Unrestored(exposed, reason, _proven(outlook, exposed.person)))
    tried = sum(len(outlook.outcomes) for outlook in chosen.outlooks)
    return Restored(chosen.before, after, added, tuple(unrestored), tried, chosen)


def _reason(outlook: Outlook, person: int) -> str:
    """Why nothing is planned for somebody."""
    beside = outlook.never and person not in outlook.never
    return _beside(outlook.reason) if beside else outlook.reason


def _proven(outlook: Outlook, person: int) -> Proven:
    if person in outlook.never:
        return "never"
    return "candidates" if outlook.never else None


def _beside(reason: str) -> str:
    """The reason for people connected with those whom nothing restores."""
    return f"nothing was tried, as not everybody connected with them can be restored: {reason}"


# The report


def before_and_after(before: Checked, after: Checked) -> tuple[BeforeAfter, ...]:
    """Before and after for everybody who was or is exposed, or may be.

    Upper bounds where probabilities are not exact.
    """
    views = before.views
    pairs: dict[tuple[int, Value], None] = {}
    for checked in (before, after):
        exposed = (*checked.exposed, *checked.undecided)
        pairs |= dict.fromkeys((one.person, one.value) for one in exposed)
    tops = []
    for checked in (before, after):
        belief_of = {person: own for own in checked.beliefs for person in own.people}
        tops.append(
            {
                (person, value): belief_of[person].between(value)[1]
                for person, value in pairs
                if person in belief_of
            }
        )
    first, last = tops
    none = Fraction(0)
    return tuple(
        BeforeAfter(
            views.people[person],
            value,
            views.limit(value),
            first.get((person, value), none),
            last.get((person, value), none),
        )
        for person, value in pairs
    )


def _frame(rows: Iterable[BeforeAfter]) -> "pl.DataFrame":
    """Rows as a dataframe."""
    import polars as pl

    kinds = {
        "person": pl.String,
        "value": pl.String,
        "limit": pl.Float64,
        "before": pl.Float64,
        "after": pl.Float64,
    }
    cells = []
    for row in rows:
        shares = (float(share) for share in (row.limit, row.before, row.after))
        cells.append((row.person, _text(row.value), *shares))
    return pl.DataFrame(cells, schema=kinds, orient="row")


def _picture(restored: Restored) -> Picture:
    """For each value a line from before to after, with its limit."""
    rows = restored.rows
    shown = rows[:SHOWN]
    sides = (restored.before, restored.after)
    was, now = (len({one.person for one in each.exposed}) for each in sides)
    more = ""
    if len(rows) > len(shown):
        more = f" The first {len(shown):,} of {len(rows):,} are shown."
    named = [
        (
            f"{row.person}: {_text(row.value) or 'missing'}",
            float(row.before),
            float(row.after),
            float(row.limit),
        )
        for row in shown
    ]
    return Picture(
        title=f"{was:,} of {len(restored.before.views.people):,} people are exposed before, "
        f"{now:,} after",
        sentence=(
            "How sure one can be of a value that is or was more probable than allowed, before and "
            f"after views are added.{more}"
        ),
        head=["person: value", "before", "after", "allowed"],
        rows=[[name, *map(percent, shares)] for name, *shares in named],
        draw=partial(shifts, named, ChartAxis("probability", shares=True, ends=(0, 1))),
        zone=Zone.OWNER,
    )


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


# Search


@dataclass(frozen=True, eq=False)
class _RegionResult:
    """What a search found for a region: views, or why there are none."""

    region: Region
    chosen: tuple[View, ...] | None
    tried: int
    reason: str = ""
    proven: Proven = None
    never: Obstacle | None = None

    def failures(self) -> dict[int, tuple[str, Proven]]:
        """For everybody of the region, why they are not restored."""
        failed = dict.fromkeys(self.region.people, (self.reason, self.proven))
        if self.never is not None:
            others = set(self.region.people) - set(self.never.people)
            failed |= dict.fromkeys(others, (_beside(self.reason), "candidates"))
        return failed


def _search(
    region: Region,
    table: Sequence[Value],
    additions: int,
    effort: int,
) -> _RegionResult:
    """The fewest candidates that restore a region, the most promising first."""
    never = obstacle(region)
    if never is not None:
        return _RegionResult(region, None, 0, never.reason, "never", never)
    try:
        search = _BeamSearch(region, table, additions, effort)
    except TooLargeError as error:
        return _RegionResult(region, None, 0, str(error))
    chosen = search.run()
    if chosen is not None:
        return _RegionResult(region, chosen, search.tried)
    sets = sum(comb(len(region.candidates), size) for size in range(1, additions + 1))
    among = f"{plural(sets, 'set')} of up to {plural(additions, 'candidate')}"
    if search.complete:
        reason = f"none of all {among} restores it"
        return _RegionResult(region, None, search.tried, reason, "candidates")
    return _RegionResult(region, None, search.tried, f"none was found among {among}")


@dataclass(frozen=True, eq=False)
class _Node:
    """Some candidates, by their numbers, and how the region stands with them."""

    chosen: tuple[int, ...]
    standing: RegionStanding


class _BeamSearch:
    """Sets of candidates, from small to large: of each size the best ones are extended.

    TooLargeError if the region cannot be counted without any.
    """

    def __init__(
        self,
        region: Region,
        table: Sequence[Value],
        additions: int,
        effort: int,
    ) -> None:
        self.region, self.additions, self.effort = region, additions, effort
        self.shown = [candidate.view(table) for candidate in region.candidates]
        self.guesses = Guesses(region)
        self.factors: list[Floats] = [self.guesses.factor(view) for view in self.shown]
        views = enumerate(self.shown)
        self.useful = [at for at, view in views if not _exposes(region.views, view)]
        self.seen: set[frozenset[int]] = set()
        self.tried = 0
        self.complete = True
        """Whether every set was counted, so that a failure is a proof."""

    def run(self) -> tuple[View, ...] | None:
        """The views of the first set that restores the region."""
        beam = [_Node((), self.region.start)]
        for size in range(1, self.additions + 1):
            reached: list[_Node] = []
            for node, at in self._promising(beam):
                chosen = (*node.chosen, at)
                # Sets differ a thousandfold in what they take to count, so time is bounded as well.
                if self.region.spent > self.additions * self.effort * WORK:
                    self.complete = False
                    break
                standing = self._standing(chosen)
                if standing is None:
                    self.complete = False
                elif standing.private:
                    return tuple(self.shown[one] for one in chosen)
                elif not standing.hopeless:
                    if size == 1:
                        # From now on this candidate is guessed by what was counted.
                        self.factors[at] = self.guesses.counted(standing)
                    reached.append(_Node(chosen, standing))
            if size < self.additions:
                beam = self._kept(reached)
            if not beam:
                break
        return None

    def _promising(self, beam: Sequence[_Node]) -> list[tuple[_Node, int]]:
        """Which candidate to add to which set, the best guess first, within the effort."""
        scored = []
        for node in beam:
            for at in self.useful:
                # The same set may be reached in several orders.
                longer = frozenset((*node.chosen, at))
                if at not in node.chosen and longer not in self.seen:
                    self.seen.add(longer)
                    score = self.guesses.score(node.standing.shares, self.factors[at])
                    scored.append((score, node.chosen, at, node))
        scored.sort(key=lambda entry: entry[:3])
        self.complete &= len(scored) <= self.effort
        return [(node, at) for *_, at, node in scored[: self.effort]]

    def _standing(self, chosen: tuple[int, ...]) -> RegionStanding | None:
        self.tried += 1
        return self.region.standing([self.shown[at] for at in chosen])

    def _kept(self, reached: list[_Node]) -> list[_Node]:
        """The sets that are extended: all, while all of the next size can be counted."""
        reached.sort(key=lambda node: (node.standing.rank, node.chosen))
        kept = BEAM
        if self.complete and len(reached) * len(self.useful) <= self.effort:
            kept = len(reached)
        self.complete &= len(reached) <= kept
        return reached[:kept]


def _exposes(views: Views, view: View) -> bool:
    """Whether a view exposes people on its own."""
    people = len(view.people)
    return any(often > views.limit(value) * people for value, often in view.bag.items())
