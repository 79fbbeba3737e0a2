"""`plan`: views in addition, chosen by what is public alone, for someone who knows that something is to be restored. Uses
`regions`, `candidates` and `checking`; `restoring` and the command line use it.

Nobody who knows the procedure can be made less sure on average: what they believe after an output, averaged over all outputs,
is what they believed before. So no procedure restores in all possible tables. What can be done is to choose views without
looking at the table, and to say beforehand in which share of the possible tables every limit will hold; that is what `plan`
does, and it never gets to see a table. docs/proofs/restoring.md has the proofs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from shoal.arguments import typed
from shoal.errors import InfeasibleError, InternalError, ParameterError, TooLargeError, plural
from shoal.exact.numbers import Exact, fraction, whole
from shoal.views.candidates import Candidate, fits, fresh
from shoal.views.checking import Checked, check, possible
from shoal.views.intervals import clopper_pearson
from shoal.views.model import OUTSIDE, Value, View, Views
from shoal.views.regions import (
    Floats,
    Guesses,
    Region,
    Standing,
    above,
    obstacle,
    probabilities,
    regions,
)

__all__ = ["Outcome", "Outlook", "Plan", "plan"]

EFFORT = 2_000
"""Outcomes that are counted for a region and a number of views, by itself."""

BEAM = 6  # sets of candidates that are extended by one more
GUESSED = 60  # tables by which candidates are ranked before they are counted
SLACK = 0.02  # by which a guessed probability may be above its limit and count as below
DRAWN = 2_000  # tables that are drawn where outcomes are too many


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


@dataclass(frozen=True)
class Outlook:
    """What candidates will do for the people of one region.

    low, high: the share of possible tables with which every limit holds afterwards; the same where all outcomes were counted
    outcomes: all of them, or those that were drawn
    reason: why there are no candidates, where there are none
    """

    people: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    low: Fraction
    high: Fraction
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""
    never: tuple[int, ...] = ()
    """The people of whom it is proven that no views whatever can restore them all."""

    @property
    def worst(self) -> Fraction:
        """How probable a value becomes for anybody, at most, in any of the outcomes."""
        return max((one.largest for one in self.outcomes), default=Fraction(0))


@dataclass(frozen=True, eq=False)
class Plan:
    """Which views to show in addition, by what is public alone, and what they will do.

    The decision to follow it has to rest on what it says, not on the table: who looks first what the views would show, and
    then does or does not show them, tells by that.
    """

    before: Checked
    outlooks: tuple[Outlook, ...]
    bound: Fraction
    """No procedure at all reaches more than this share of the possible tables."""

    confidence: Fraction | None = None
    """With which `low` and `high` hold, where tables were drawn; else they are exact."""

    @property
    def views(self) -> Views:
        return self.before.views

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What to show."""
        return tuple(one for outlook in self.outlooks for one in outlook.candidates)

    @property
    def low(self) -> Fraction:
        """The share of possible tables with which every limit will hold for everybody; the least that it is."""
        return prod((one.low for one in self.outlooks), start=Fraction(1))

    @property
    def high(self) -> Fraction:
        return prod((one.high for one in self.outlooks), start=Fraction(1))

    @property
    def worst(self) -> Fraction:
        """How probable a value becomes for anybody, at most, in any of the outcomes; or is, for whom nothing is planned."""
        planned = {person for one in self.outlooks if one.candidates for person in one.people}
        stays = (
            high
            for people, value, _, high in probabilities(self.before)
            if value is not OUTSIDE and not planned.issuperset(people)
        )
        return max((*stays, *(one.worst for one in self.outlooks)), default=Fraction(0))

    def shown(self, table: Sequence[Value]) -> tuple[View, ...]:
        """The views of a table, by the plan."""
        fits(self.views, table)
        return tuple(one.view(table) for one in self.candidates)


@typed
def plan(
    views: Views,
    candidates: Iterable[Candidate],
    *,
    most: int = 2,
    effort: int = EFFORT,
    ceiling: Exact = 1,
    confidence: Exact = Fraction(99, 100),
    seed: int = 0,
) -> Plan:
    """Choose up to `most` candidates so that every limit will hold in as many of the possible tables as can be found.

    It is a function of what is public: the views, the candidates and these parameters. Candidates with people who are in no view
    are left out, as nothing says how probable values are for them.

    effort: how many outcomes are counted for each region and number of views
    ceiling: how probable a value may become for anybody in any outcome; 1 allows certainty
    confidence: with which shares are bounded where outcomes are too many to be counted, and tables are drawn by the `seed`
    """
    whole(most, "most", 1)
    whole(effort, "effort", 1)
    whole(seed, "seed", 0)
    sure, top = fraction(confidence, "confidence", 0, 1), fraction(ceiling, "ceiling", 0, 1)
    if not 0 < sure < 1:
        raise ParameterError("confidence is above 0 and below 1")
    before = check(views)
    if before.private:
        return Plan(before, (), Fraction(1))
    bound = min(
        (1 - low) / (1 - views.limit(value))
        for _, value, low, high in probabilities(before)
        if high > views.limit(value)
    )
    inside = frozenset[int]().union(*(view.members for view in views.shown))
    able = [one for one in fresh(views, candidates) if one.people <= inside]
    parts = regions(views, able, above(before))
    error = float(1 - sure) / len(parts)
    options = [_options(region, most, effort, top, error, seed) for region in parts]
    restoring = [[one for one in own if one.low > 0] for own in options]
    chosen = _best(restoring, most, prod) or _best(options, most, sum) or ()
    drawn = any(one.low < one.high for one in chosen)
    if any(one.never for one in chosen):
        bound = Fraction(0)
    return Plan(before, chosen, min(bound, Fraction(1)), sure if drawn else None)


def _best(
    options: Sequence[Sequence[Outlook]],
    most: int,
    measure: Callable[[Iterable[Fraction]], Fraction | int],
) -> tuple[Outlook, ...] | None:
    """One option of each region, with as large a product or sum of shares as there is, and then as few candidates."""
    found: dict[int, tuple[Outlook, ...]] = {0: ()}  # the best by how many candidates are spent

    def key(some: tuple[Outlook, ...]) -> tuple[Fraction | int, Fraction | int]:
        shares = [one.low for one in some]
        return measure(shares), sum(shares)

    for own in options:
        after: dict[int, tuple[Outlook, ...]] = {}
        for spent, some in found.items():
            for one in own:
                total = spent + len(one.candidates)
                if total <= most and (total not in after or key((*some, one)) > key(after[total])):
                    after[total] = (*some, one)
        found = after
    return max(found.items(), key=lambda item: (key(item[1]), -item[0]))[1] if found else None


def _options(
    region: Region, most: int, effort: int, top: Fraction, error: float, seed: int
) -> list[Outlook]:
    """The best of each number of candidates for a region, and none at all."""
    never = obstacle(region)
    if never is not None:
        return [_none(region, never.reason, never.people)]
    try:
        found = list(_Search(region, most, effort, top, error, seed).best())
    except TooLargeError as error_:
        return [_none(region, str(error_))]
    useful = [one for one in found if one.high > 0]
    number = plural(len(region.candidates), "candidate")
    reason = (
        "the views went to other people"
        if useful
        else f"no set of up to {most} of {number} that was counted ever restores it"
    ) + (f", within the ceiling of {top}" if top < 1 and not useful else "")
    return [_none(region, reason), *(_whole(region, one) for one in useful)]


def _none(region: Region, reason: str, never: tuple[int, ...] = ()) -> Outlook:
    return Outlook(region.people, (), Fraction(0), Fraction(0), reason=reason, never=never)


def _whole(region: Region, found: Outlook) -> Outlook:
    """With the numbers that people have in the register."""
    return Outlook(
        region.people,
        tuple(
            Candidate(one.name, frozenset(region.people[who] for who in one.people))
            for one in found.candidates
        ),
        found.low,
        found.high,
        tuple(
            Outcome(tuple(map(region.whole, one.bags)), one.share, one.private, one.largest)
            for one in found.outcomes
        ),
    )


class _Search:
    """Looks for candidates in a region, by what is public alone."""

    def __init__(
        self, region: Region, most: int, effort: int, top: Fraction, error: float, seed: int
    ) -> None:
        self.region, self.most, self.effort, self.top = region, most, effort, top
        self.error, self.seed = error / most, seed
        self.guesses = Guesses(region)
        tables = possible(region.views, GUESSED, seed)
        self.views = [[one.view(table) for table in tables] for one in region.candidates]
        self.factors: dict[tuple[int, Bag], Floats] = {}

    def best(self) -> Iterator[Outlook]:
        """The best set of candidates that is found, of each size."""
        beam: list[tuple[int, ...]] = [()]
        for size in range(1, self.most + 1):
            sets = {
                tuple(sorted((*some, at)))
                for some in beam
                for at in range(len(self.views))
                if at not in some
            }
            counted: list[tuple[tuple[Fraction, float], tuple[int, ...], Outlook]] = []
            spent = 0
            for some in sorted(sets, key=lambda some: (self._guess(some), some)):
                if spent >= self.effort:
                    break
                try:
                    outlook, left = self._outlook(some, self.seed)
                except TooLargeError:
                    continue
                spent += len(outlook.outcomes)
                # With more views the worst would not get less. Of outcomes that were drawn it is not known.
                if self.top == 1 or (outlook.worst <= self.top and outlook.low == outlook.high):
                    counted.append(((-outlook.low, left), some, outlook))
            if not counted:
                return
            counted.sort(key=lambda one: one[:2])
            (_, some, outlook), *_ = counted
            # What was drawn to choose is no fair sample of what was chosen.
            yield (
                outlook if outlook.low == outlook.high else self._outlook(some, self.seed + size)[0]
            )
            beam = [some for _, some, _ in counted[:BEAM]]

    def _guess(self, some: tuple[int, ...]) -> tuple[float, float]:
        """In how few of some tables candidates would restore, and what would be above limits, roughly."""
        start = self.region.start.shares
        missed = left = 0.0
        for bags, often in Counter(
            zip(*([_bag(view) for view in self.views[at]] for at in some), strict=True)
        ).items():
            factor: Floats | float = 1.0
            for at, bag in zip(some, bags, strict=True):
                if (at, bag) not in self.factors:
                    one = self.region.candidates[at]
                    self.factors[at, bag] = self.guesses.factor(
                        View(one.name, one.people, dict(bag))
                    )
                factor = factor * self.factors[at, bag]
            assert not isinstance(factor, float)
            excess, amount = self.guesses.score(start, factor)
            missed += often * (excess > SLACK)
            left += often * amount
        return missed, left

    def _outlook(self, some: tuple[int, ...], seed: int) -> tuple[Outlook, float]:
        """What candidates will do, and what is above limits afterwards on average."""
        chosen = [self.region.candidates[at] for at in some]
        try:
            found = [
                (views, Fraction(one.tables, self.region.start.tables), one)
                for views, one in self._outcomes(chosen)
            ]
            if sum(share for _, share, _ in found) != 1:
                raise InternalError(
                    "the outcomes of views do not add up to all possible tables; please report this"
                )
            low = high = sum((share for _, share, one in found if one.private), Fraction(0))
        except TooLargeError:
            found = list(self._drawn(chosen, seed))
            hits = sum(share for _, share, one in found if one.private) * DRAWN
            low, high = map(Fraction, clopper_pearson(float(hits), DRAWN, self.error))
        outcomes = tuple(
            Outcome(tuple(views), share, one.private, one.largest) for views, share, one in found
        )
        return Outlook((), tuple(chosen), low, high, outcomes), sum(
            float(share) * one.amount for _, share, one in found
        )

    def _outcomes(self, chosen: Sequence[Candidate]) -> Iterator[tuple[tuple[View, ...], Standing]]:
        """All that candidates may show; TooLargeError beyond the effort."""
        region, tried = self.region, 0
        edge: list[tuple[tuple[View, ...], Standing]] = [((), region.start)]
        while edge:
            views, standing = edge.pop()
            if len(views) == len(chosen):
                yield views, standing
                continue
            for view in region.bags(chosen[len(views)], region.views.also(*views), standing.shares):
                tried += 1
                if tried > self.effort:
                    raise TooLargeError(f"there are more than {self.effort:,} outcomes")
                try:
                    edge.append(((*views, view), self._standing((*views, view))))
                except InfeasibleError:
                    continue

    def _drawn(
        self, chosen: Sequence[Candidate], seed: int
    ) -> Iterator[tuple[tuple[View, ...], Fraction, Standing]]:
        tables = possible(self.region.views, DRAWN, seed)
        seen: dict[tuple[Bag, ...], list[tuple[View, ...]]] = {}
        for table in tables:
            views = tuple(one.view(table) for one in chosen)
            seen.setdefault(tuple(map(_bag, views)), []).append(views)
        for alike in seen.values():
            yield alike[0], Fraction(len(alike), DRAWN), self._standing(alike[0])

    def _standing(self, views: tuple[View, ...]) -> Standing:
        found = self.region.standing(views, hopeful=False)
        if found is None:
            raise TooLargeError("an outcome is too entangled to be counted")
        return found


Bag = frozenset[tuple[Value, int]]


def _bag(view: View) -> Bag:
    return frozenset(view.shown.items())
