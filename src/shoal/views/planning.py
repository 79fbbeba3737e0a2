"""`plan`: views in addition, chosen by what is public alone.

Uses `regions`, `candidates` and `checking`; `restoring` and the command line use it.

Nobody who knows the procedure can be made less sure on average: what they believe after an output,
averaged over all outputs, is what they believed before. So no procedure restores in all possible
tables. What can be done is to choose views without looking at the table, and to say beforehand in
which share of the possible tables every limit will hold; that is what `plan` does, and it never
gets to see a table. docs/proofs/restoring.md has the proofs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from shoal.arguments import typed
from shoal.errors import InfeasibleError, InternalError, ParameterError, TooLargeError, plural
from shoal.exact.numbers import Exact, fraction, whole
from shoal.views.candidates import Candidate, fresh, require_fit
from shoal.views.checking import Checked, check, possible
from shoal.views.intervals import clopper_pearson
from shoal.views.model import OUTSIDE, Value, View, Views
from shoal.views.regions import (
    Floats,
    Guesses,
    Region,
    RegionStanding,
    above,
    obstacle,
    probabilities,
    regions,
)
from shoal.zones import brief

__all__ = ["Outcome", "Outlook", "Plan", "best_choice", "plan"]

EFFORT = 2_000
"""Outcomes that are counted for a region and a number of views, by default."""

DRAWN = 2_000
"""Tables that are drawn where outcomes are too many."""

GUESSED = 60
"""Tables by which candidates are ranked before they are counted."""

BEAM = 6
"""Sets of candidates that are extended by one more."""

SLACK = 0.02
"""By which a guessed probability may be above its limit and count as below."""


@brief
@dataclass(frozen=True)
class Outcome:
    """What a plan's views may show, and what is then believed.

    share: of the possible tables that show it; of those that were drawn, where they were
    private: whether every limit then holds
    largest: how probable the most probable value of anybody is
    """

    bags: tuple[View, ...]
    share: Fraction
    private: bool
    largest: Fraction


@brief
@dataclass(frozen=True)
class Outlook:
    """What candidates will do for the people of one region.

    low, high: bounds of the share of possible tables with which every limit holds afterwards; the
        same where all outcomes were counted
    outcomes: all of them, or those that were drawn
    reason: why there are no candidates; empty if there are some
    """

    people: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    low: Fraction
    high: Fraction
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""
    never: tuple[int, ...] = ()
    """People of whom it is proven that no views whatever can restore them all."""

    @property
    def worst(self) -> Fraction:
        """How probable a value becomes for anybody, at most, in any of the outcomes."""
        return max((outcome.largest for outcome in self.outcomes), default=Fraction(0))


@brief
@dataclass(frozen=True, eq=False)
class Plan:
    """Which views to show in addition, by what is public alone, and what they will do.

    The decision to follow it has to rest on what it says, not on the table: whoever looks first at
    what the views would show, and then shows them or not, reveals something by that.
    """

    before: Checked
    outlooks: tuple[Outlook, ...]
    bound: Fraction
    """No procedure at all reaches more than this share of the possible tables."""

    confidence: Fraction | None = None
    """With which `low` and `high` hold, where tables were drawn; otherwise they are exact."""

    @property
    def views(self) -> Views:
        return self.before.views

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What to show."""
        return tuple(one for outlook in self.outlooks for one in outlook.candidates)

    @property
    def low(self) -> Fraction:
        """The share of possible tables with which every limit will hold for everybody, at least."""
        return prod((outlook.low for outlook in self.outlooks), start=Fraction(1))

    @property
    def high(self) -> Fraction:
        """The same, at most."""
        return prod((outlook.high for outlook in self.outlooks), start=Fraction(1))

    @property
    def worst(self) -> Fraction:
        """How probable a value becomes for anybody, at most, in any of the outcomes.

        For people for whom nothing is planned, how probable it is.
        """
        planned = {
            person for outlook in self.outlooks if outlook.candidates for person in outlook.people
        }
        stays = (
            high
            for people, value, _, high in probabilities(self.before)
            if value is not OUTSIDE and not planned.issuperset(people)
        )
        reached = (outlook.worst for outlook in self.outlooks)
        return max((*stays, *reached), default=Fraction(0))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing is planned for some people, each once."""
        given = (outlook.reason for outlook in self.outlooks if outlook.reason)
        return tuple(dict.fromkeys(given))

    def followed(self, least: Fraction) -> bool:
        """Whether it has views, and every limit will hold in at least this share of the tables."""
        return bool(self.candidates) and self.low >= least

    def shown(self, table: Sequence[Value]) -> tuple[View, ...]:
        """The views of a table, by the plan."""
        require_fit(self.views, table)
        return tuple(candidate.view(table) for candidate in self.candidates)


@typed
def plan(
    views: Views,
    candidates: Iterable[Candidate],
    *,
    additions: int = 2,
    effort: int = EFFORT,
    ceiling: Exact = 1,
    confidence: Exact = Fraction(99, 100),
    seed: int = 0,
) -> Plan:
    """Choose up to `additions` candidates so that every limit holds in many possible tables.

    It is a function of what is public: the views, the candidates and these parameters. Candidates
    with people who are in no view are left out, as nothing says how probable values are for them.

    effort: how many outcomes are counted for each region and number of views
    ceiling: how probable a value may become for anybody in any outcome; 1 allows certainty
    confidence: with which shares are bounded where outcomes are too many to be counted, and tables
        are drawn by the `seed`
    """
    whole(additions, "additions", 1)
    whole(effort, "effort", 1)
    whole(seed, "seed", 0)
    top = fraction(ceiling, "ceiling", 0, 1)
    sure = fraction(confidence, "confidence", 0, 1)
    if not 0 < sure < 1:
        raise ParameterError("should be above 0 and below 1", option="confidence")
    before = check(views)
    if before.private:
        return Plan(before, (), Fraction(1))
    # Beliefs average to what they were before: docs/proofs/restoring.md.
    bound = min(
        (1 - low) / (1 - views.limit(value))
        for _, value, low, high in probabilities(before)
        if high > views.limit(value)
    )
    inside = frozenset[int]().union(*(view.people for view in views.views))
    able = [candidate for candidate in fresh(views, candidates) if candidate.people <= inside]
    parts = regions(views, able, above(before))
    budget = _Budget(additions, effort, top, float(1 - sure) / len(parts), seed)
    options = [_options(region, budget) for region in parts]
    restoring = [[outlook for outlook in own if outlook.low > 0] for own in options]
    # Regions are independent, so shares multiply; where one has none, as many as can be are helped.
    chosen = best_choice(restoring, additions, prod) or best_choice(options, additions, sum) or ()
    drawn = any(outlook.low < outlook.high for outlook in chosen)
    if any(outlook.never for outlook in chosen):
        bound = Fraction(0)
    return Plan(before, chosen, min(bound, Fraction(1)), sure if drawn else None)


@dataclass(frozen=True)
class _Budget:
    """What a search may use.

    additions: candidates
    effort: outcomes that are counted for each number of candidates
    ceiling: how probable a value may become
    error: how often a bound may be wrong, where tables are drawn by the `seed`
    """

    additions: int
    effort: int
    ceiling: Fraction
    error: float
    seed: int


def best_choice(
    options: Sequence[Sequence[Outlook]],
    additions: int,
    measure: Callable[[Iterable[Fraction]], Fraction | int],
) -> tuple[Outlook, ...] | None:
    """One option of each region, with the largest measure of shares, and then few candidates."""

    def key(some: tuple[Outlook, ...]) -> tuple[Fraction | int, Fraction | int]:
        shares = [outlook.low for outlook in some]
        return measure(shares), sum(shares)

    # The best choice so far, by how many candidates it takes.
    best: dict[int, tuple[Outlook, ...]] = {0: ()}
    for own in options:
        after: dict[int, tuple[Outlook, ...]] = {}
        for spent, some in best.items():
            for outlook in own:
                total, longer = spent + len(outlook.candidates), (*some, outlook)
                if total <= additions and (total not in after or key(longer) > key(after[total])):
                    after[total] = longer
        best = after
    if not best:
        return None
    spent = max(best, key=lambda spent: (key(best[spent]), -spent))
    return best[spent]


def _options(region: Region, budget: _Budget) -> list[Outlook]:
    """The best of each number of candidates for a region, and none at all."""
    never = obstacle(region)
    if never is not None:
        return [_none(region, never.reason, never.people)]
    try:
        outlooks = list(_PlanSearch(region, budget).best())
    except TooLargeError as error:
        return [_none(region, str(error))]
    useful = [outlook for outlook in outlooks if outlook.high > 0]
    if useful:
        reason = "the views went to other people"
    else:
        number = plural(len(region.candidates), "candidate")
        reason = f"no set of up to {budget.additions} of {number} that was counted ever restores it"
        if budget.ceiling < 1:
            reason += f", within the ceiling of {budget.ceiling}"
    return [_none(region, reason), *(_whole(region, outlook) for outlook in useful)]


def _none(
    region: Region,
    reason: str,
    never: tuple[int, ...] = (),
) -> Outlook:
    none = Fraction(0)
    return Outlook(region.people, (), none, none, reason=reason, never=never)


def _whole(region: Region, outlook: Outlook) -> Outlook:
    """An outlook with the numbers that people have in the register."""
    candidates = [
        Candidate(one.name, frozenset(region.people[person] for person in one.people))
        for one in outlook.candidates
    ]
    outcomes = [
        Outcome(tuple(map(region.whole, one.bags)), one.share, one.private, one.largest)
        for one in outlook.outcomes
    ]
    return Outlook(region.people, tuple(candidates), outlook.low, outlook.high, tuple(outcomes))


_Bag = frozenset[tuple[Value, int]]

_Reached = tuple[tuple[View, ...], Fraction, RegionStanding]
"""What candidates show, in which share of the tables, and how the region then stands."""


class _PlanSearch:
    """Looks for candidates in a region, by what is public alone."""

    def __init__(self, region: Region, budget: _Budget) -> None:
        self.region, self.budget = region, budget
        # The bounds of all numbers of candidates hold together.
        self.error = budget.error / budget.additions
        self.guesses = Guesses(region)
        tables = possible(region.views, GUESSED, budget.seed)
        self.views = [[one.view(table) for table in tables] for one in region.candidates]
        self.factors: dict[tuple[int, _Bag], Floats] = {}

    def best(self) -> Iterator[Outlook]:
        """The best set of candidates that is found, of each size."""
        beam: list[tuple[int, ...]] = [()]
        for size in range(1, self.budget.additions + 1):
            sets = {
                tuple(sorted((*some, at)))
                for some in beam
                for at in range(len(self.views))
                if at not in some
            }
            counted = self._counted(sets)
            if not counted:
                return
            counted.sort(key=lambda one: one[:2])
            _, some, outlook = counted[0]
            if outlook.low < outlook.high:
                # What was drawn to choose is not a fair sample of what was chosen.
                outlook, _ = self._outlook(some, self.budget.seed + size)
            yield outlook
            beam = [some for _, some, _ in counted[:BEAM]]

    def _counted(
        self, sets: Iterable[tuple[int, ...]]
    ) -> list[tuple[tuple[Fraction, float], tuple[int, ...], Outlook]]:
        """The outlooks of sets of candidates, the most promising first, with their ranks."""
        top = self.budget.ceiling
        counted = []
        spent = 0
        for some in sorted(sets, key=lambda some: (self._guess(some), some)):
            # The most promising are counted, as far as the effort goes.
            if spent >= self.budget.effort:
                break
            try:
                outlook, left = self._outlook(some, self.budget.seed)
            except TooLargeError:
                continue
            spent += len(outlook.outcomes)
            # More views would not make the worst less. Of drawn outcomes it is not known.
            known = outlook.low == outlook.high
            if top == 1 or (outlook.worst <= top and known):
                counted.append(((-outlook.low, left), some, outlook))
        return counted

    def _guess(self, some: tuple[int, ...]) -> tuple[float, float]:
        """Roughly, in how many sampled tables candidates would fail to restore.

        The second result is the total that would be above limits.
        """
        start = self.region.start.shares
        missed = left = 0.0
        bags_of = [map(_bag, self.views[at]) for at in some]
        for bags, often in Counter(zip(*bags_of, strict=True)).items():
            factor = np.ones_like(start)
            for at, bag in zip(some, bags, strict=True):
                factor = factor * self._factor(at, bag)
            excess, amount = self.guesses.score(start, factor)
            missed += often * (excess > SLACK)
            left += often * amount
        return missed, left

    def _factor(self, at: int, bag: _Bag) -> Floats:
        """By what a candidate multiplies probabilities if it shows a bag."""
        if (at, bag) not in self.factors:
            candidate = self.region.candidates[at]
            view = View(candidate.name, candidate.people, dict(bag))
            self.factors[at, bag] = self.guesses.factor(view)
        return self.factors[at, bag]

    def _outlook(
        self,
        some: tuple[int, ...],
        seed: int,
    ) -> tuple[Outlook, float]:
        """What candidates will do, and what is above limits afterwards on average."""
        chosen = [self.region.candidates[at] for at in some]
        try:
            reached = list(self._shares(chosen))
        except TooLargeError:
            reached = list(self._drawn(chosen, seed))
            hits = sum(share for _, share, standing in reached if standing.private) * DRAWN
            low, high = map(Fraction, clopper_pearson(float(hits), DRAWN, self.error))
        else:
            low = sum((share for _, share, own in reached if own.private), Fraction(0))
            high = low
        outcomes = tuple(
            Outcome(views, share, standing.private, standing.largest)
            for views, share, standing in reached
        )
        left = sum(float(share) * standing.amount for _, share, standing in reached)
        return Outlook((), tuple(chosen), low, high, outcomes), left

    def _shares(self, chosen: Sequence[Candidate]) -> Iterator[_Reached]:
        """All that candidates may show, with the share of tables that show it."""
        total = Fraction(0)
        for views, standing in self._outcomes(chosen):
            share = Fraction(standing.tables, self.region.start.tables)
            total += share
            yield views, share, standing
        if total != 1:
            raise InternalError(
                "the outcomes of views do not add up to all possible tables", "please report this"
            )

    def _outcomes(
        self, chosen: Sequence[Candidate]
    ) -> Iterator[tuple[tuple[View, ...], RegionStanding]]:
        """All that candidates may show; TooLargeError beyond the effort."""
        region, effort, tried = self.region, self.budget.effort, 0
        edge: list[tuple[tuple[View, ...], RegionStanding]] = [((), region.start)]
        while edge:
            views, standing = edge.pop()
            if len(views) == len(chosen):
                yield views, standing
                continue
            shown = region.views.also(*views)
            for view in region.bags(chosen[len(views)], shown, standing.shares):
                tried += 1
                if tried > effort:
                    raise TooLargeError(f"there are more than {effort:,} outcomes")
                longer = (*views, view)
                try:
                    edge.append((longer, self._standing(longer)))
                except InfeasibleError:
                    # The bounds of what may be shown are wider than what some table has.
                    continue

    def _drawn(self, chosen: Sequence[Candidate], seed: int) -> Iterator[_Reached]:
        """What candidates show of tables that are drawn, with its share of these."""
        alike: dict[tuple[_Bag, ...], list[tuple[View, ...]]] = {}
        for table in possible(self.region.views, DRAWN, seed):
            views = tuple(candidate.view(table) for candidate in chosen)
            # Tables with the same outcome lead to the same beliefs, which are computed once.
            alike.setdefault(tuple(map(_bag, views)), []).append(views)
        for some in alike.values():
            yield some[0], Fraction(len(some), DRAWN), self._standing(some[0])

    def _standing(self, views: tuple[View, ...]) -> RegionStanding:
        standing = self.region.standing(views, hopeful=False)
        if standing is None:
            raise TooLargeError("an outcome is too entangled to be counted")
        return standing


def _bag(view: View) -> _Bag:
    return frozenset(view.bag.items())
