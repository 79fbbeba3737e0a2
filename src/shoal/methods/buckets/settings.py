"""Which sizes of buckets, how many of each, and which values they hold: `Setting` and `Search`.

Uses `errors` and `exact`; `Buckets` uses it. Nothing here sees a record or draws a number:
everything follows from how often each value occurs.

A bucket of S records may hold at most ⌊f′·S⌋ of a value with the limit f′. Everything that this
depends on is an integer; the one solver that computes with floats, HiGHS, only proposes numbers of
buckets, which are then checked and filled in integers. Why the searches miss nothing:
docs/proofs/buckets.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Literal, TypeAlias, get_args

import numpy as np

from shoal.arguments import keep
from shoal.errors import (
    InfeasibleError,
    InternalError,
    ParameterError,
    TooLargeError,
    listed,
)
from shoal.exact.numbers import Exact, fraction, whole
from shoal.methods.buckets.flows import fill
from shoal.methods.buckets.problem import CELLS, LARGEST, Ints, Least, Problem, fitting, strictest
from shoal.methods.buckets.program import Found, SolverPrecision, least

__all__ = [
    "HIGHEST",
    "Search",
    "Setting",
    "Solver",
    "find_setting",
    "fitting",
    "smallest_bound",
    "spread",
]

Solver: TypeAlias = Literal["optimal", "multi", "two", "anatomy"]

HIGHEST = 2000
"""The largest size of a bucket that is looked at by default.

A bucket of that many reveals next to nothing.
"""

_SECONDS = 3.0
"""To find out whether any setting is possible; an unanswered question counts as no."""

_QUICK = SolverPrecision(1.0, _SECONDS)
"""Enough for that."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Buckets of some sizes: `buckets[j]` of `sizes[j]` records.

    Together these hold `holds[i, j]` records with value i.
    """

    sizes: tuple[int, ...]
    buckets: tuple[int, ...]
    holds: Ints
    gap: float | None = None
    """By how much of its loss the best setting may be better, at most.

    None where nothing is known.
    """

    searched: int | None = None
    """The largest size that was looked at, if buckets larger than that might lose less.

    None if they cannot.
    """

    @property
    def records(self) -> int:
        return sum(size * number for size, number in zip(self.sizes, self.buckets, strict=True))

    @property
    def loss(self) -> int:
        """Σ (size − 1)² over all buckets: what the solvers minimise."""
        return sum(
            number * (size - 1) ** 2 for size, number in zip(self.sizes, self.buckets, strict=True)
        )

    @property
    def mean_squared_error(self) -> Fraction:
        """The paper's MSE: the loss by one record less than there are."""
        return Fraction(self.loss, max(self.records - 1, 1))

    def bags(self) -> list[Ints]:
        """For every size an array with one row per bucket: the values it holds, in ascending order.

        Values are indices. Equal values lie side by side and are dealt to the buckets in turn, so
        that the number of any value in two buckets of one size differs by at most one.

        >>> setting = find_setting([4, 2, 2], [Fraction(1, 2)] * 3, "two", 4)
        >>> [bag.tolist() for bag in setting.bags()]
        [[[0, 1], [0, 1], [0, 2], [0, 2]]]
        """
        values = np.arange(len(self.holds))
        return [
            np.repeat(values, held).reshape(size, number).T
            for size, number, held in zip(self.sizes, self.buckets, self.holds.T, strict=True)
        ]

    def check(self, counts: Sequence[int] | Ints, limits: Sequence[Fraction]) -> None:
        """InternalError unless every record has its place and every bucket keeps every limit.

        Buckets are dealt as in `bags`.
        """
        sizes = np.array(self.sizes, dtype=np.int64)
        buckets = np.array(self.buckets, dtype=np.int64)
        held = self.holds
        keeps = (
            held.shape == (len(counts), len(sizes))
            and (held >= 0).all()
            and (buckets > 0).all()
            and all(smaller < larger for smaller, larger in pairwise((0, *self.sizes)))
            and np.array_equal(held.sum(axis=1), counts)
            and np.array_equal(held.sum(axis=0), sizes * buckets)
            and (held <= fitting(limits, sizes) * buckets).all()
        )
        if not keeps:
            raise InternalError("a bucket setting does not keep its limits", "nothing was released")


@dataclass(frozen=True, init=False)
class Search:
    """How a setting is looked for.

    `largest` bounds the size of a bucket (M′ in the paper); without it, all sizes are searched that
    could lose less. "two" finds the least loss with one or two sizes, "multi" splits its parts
    further as long as that helps, and "optimal" finds the least loss with any sizes up to `gap`, or
    what is best after some `seconds`, which makes the result depend on the machine. "anatomy" makes
    all buckets as large as the strictest limit asks for, whatever `largest` says. With `fakes`,
    only sizes are used in which a bucket leaves that many values that it does not hold.
    """

    solver: Solver
    largest: int | None
    gap: Fraction
    seconds: Fraction
    fakes: int

    def __init__(
        self,
        solver: Solver = "optimal",
        largest: int | None = None,
        gap: Exact = Fraction(1, 1000),
        seconds: Exact = 60,
        fakes: int = 0,
    ) -> None:
        if solver not in get_args(Solver):
            raise ParameterError(
                "is unknown",
                f"it takes {listed(get_args(Solver))}",
                option="solver",
                given=repr(solver),
            )
        keep(
            self,
            solver=solver,
            largest=None if largest is None else whole(largest, "largest"),
            gap=fraction(gap, "gap", 0, 1),
            seconds=fraction(seconds, "seconds", 0, above=True),
            fakes=whole(fakes, "fakes", 0),
        )

    def setting(self, counts: Sequence[int] | Ints, limits: Sequence[Fraction]) -> Setting:
        """The setting found for values that occur `counts` times, each within its limit.

        InfeasibleError says why there is none, without a value or how often it occurs.
        """
        occurring = _eligible(counts, limits)
        if not occurring.sum():
            return Setting((), (), np.zeros((len(occurring), 0), dtype=np.int64), 0.0)
        if self.solver == "anatomy":
            setting = _anatomy(occurring, limits)
        elif self.largest is None:
            setting = self._unbounded(occurring, limits)
        else:
            problem = Problem.of(occurring, limits, self.largest, self.fakes)
            setting = self._bounded(problem)
        setting.check(occurring, limits)
        return setting

    def _bounded(self, problem: Problem) -> Setting:
        """What the solver finds among the sizes of a problem."""
        if self.solver == "optimal":
            return _optimal(problem, self._precision)
        if self.solver == "multi":
            return _multi(problem)
        return _two(problem)

    @property
    def _precision(self) -> SolverPrecision:
        return SolverPrecision(float(self.gap), float(self.seconds))

    def _unbounded(self, counts: Ints, limits: Sequence[Fraction]) -> Setting:
        """What the solver finds among all sizes that could lose less than a first setting.

        The first setting is one with the smallest bound.
        """
        bound = smallest_bound(counts, limits, self.solver, fakes=self.fakes)
        near = Problem.of(counts, limits, bound, self.fakes)
        first = _two(near) if self.solver == "two" else _any(near)
        lost = Least.of(counts, limits)
        searched = max(bound, min(lost.reach(first.loss), HIGHEST, CELLS // len(counts)))
        far = Problem.of(counts, limits, searched, self.fakes)
        if self.solver == "two":
            best = _two(far)
            is_all = lost.reach(best.loss) <= searched
            return replace(best, searched=None if is_all else searched)
        if self.solver == "multi":
            several = [_multi(each) for each in (near, far) if _best_pair(each) is not None]
            return min(several, key=lambda setting: setting.loss)
        beyond = float(lost.with_a_bucket_of(searched + 1))
        return _optimal(far, self._precision, [first], beyond)


def find_setting(
    counts: Sequence[int] | Ints,
    limits: Sequence[Fraction],
    solver: Solver = "optimal",
    largest: int | None = None,
    *,
    gap: Exact = Fraction(1, 1000),
    seconds: Exact = 60,
    fakes: int = 0,
) -> Setting:
    """The setting that a `Search` with these parameters finds.

    >>> halves = [Fraction(1, 2)] * 4
    >>> setting = find_setting([3, 3, 2, 2], halves, "two")
    >>> setting.sizes, setting.buckets, setting.loss
    ((2,), (5,), 5)
    """
    return Search(solver, largest, gap, seconds, fakes).setting(counts, limits)


def smallest_bound(
    counts: Sequence[int] | Ints,
    limits: Sequence[Fraction],
    solver: Solver = "optimal",
    highest: int = HIGHEST,
    *,
    fakes: int = 0,
) -> int:
    """The smallest `largest` for which a solver finds a setting.

    InfeasibleError if there is none up to `highest`.

    >>> smallest_bound([3, 3, 2], [Fraction(1, 2)] * 3, "two")
    2
    >>> smallest_bound([2, 2, 1], [Fraction(2, 5)] * 3, "two")
    5
    """
    occurring = _eligible(counts, limits)
    needed = strictest(occurring, limits)
    top = min(whole(highest, "highest"), int(occurring.sum()))
    if not top:
        return 1
    if solver == "anatomy":
        return max(_anatomy(occurring, limits).sizes)

    def up_to(bound: int) -> Problem:
        return Problem.of(occurring, limits, bound, fakes)

    bound = min(2 * needed, top)
    found = None
    while (found := _smallest_of_two(up_to(bound))) is None and bound < top:
        bound = min(2 * bound, top)
    if solver == "optimal":
        # Several sizes may do with less than two do, and never with less than the strictest limit
        # asks for.
        low = needed
        high = top + 1 if found is None else found
        while low < high:
            middle = (low + high) // 2
            if least(up_to(middle), _QUICK).found is None:
                low = middle + 1
            else:
                high = middle
        found = high if high <= top else None
    if found is None:
        raise up_to(top).why_not("any sizes" if solver == "optimal" else "one size or two")
    return found


def spread(
    counts: Sequence[int] | Ints,
    limits: Sequence[Fraction],
    sizes: Sequence[int],
    buckets: Sequence[int],
) -> Setting | None:
    """Buckets of given sizes filled within the limits; None if they cannot be.

    >>> halves = [Fraction(1, 2)] * 3
    >>> spread([3, 2, 1], halves, [2, 4], [1, 1]).holds.tolist()
    [[1, 2], [1, 1], [0, 1]]
    >>> spread([4, 1, 1], halves, [2, 4], [1, 1]) is None
    True
    """
    occurring = _checked(counts, limits)
    kept = sorted((size, number) for size, number in zip(sizes, buckets, strict=True) if number)
    size, number = (
        np.array(column, dtype=np.int64)
        for column in (zip(*kept, strict=True) if kept else ((), ()))
    )
    if (size < 1).any() or (number < 0).any() or len(set(sizes)) < len(sizes):
        raise ParameterError(
            "a bucket setting takes different sizes of at least 1, and numbers of buckets of at "
            "least 0"
        )
    if (size * number).sum() != occurring.sum():
        return None
    upper = fitting(limits, size) * number
    filling = fill(occurring, size * number, upper)
    if filling.crowded is not None:
        return None
    return Setting(tuple(map(int, size)), tuple(map(int, number)), filling.held)


def _any(problem: Problem) -> Setting:
    """Some setting, quickly."""
    if _best_pair(problem) is not None:
        return _multi(problem)
    found = least(problem, _QUICK).found
    if found is None:
        raise problem.why_not("any sizes")
    return _proposal(found)


def _checked(counts: Sequence[int] | Ints, limits: Sequence[Fraction]) -> Ints:
    """The counts as an array, if they and the limits are such."""
    if len(counts) != len(limits):
        raise ParameterError("a bucket setting takes one limit for every count")
    numbers = [whole(count, "a count", 0) for count in counts]
    if not all(isinstance(limit, Fraction) and 0 < limit <= 1 for limit in limits):
        raise ParameterError("the limit of a value is a fraction above 0 and at most 1")
    if sum(numbers) >= LARGEST:
        raise TooLargeError("there are more records than a bucket setting is computed for")
    return np.array(numbers, dtype=np.int64)


def _eligible(counts: Sequence[int] | Ints, limits: Sequence[Fraction]) -> Ints:
    """The counts as an array, if buckets of some size can keep the limits.

    One of all records can, if no others.
    """
    occurring = _checked(counts, limits)
    records = int(occurring.sum())
    if any(
        count > limit * records for count, limit in zip(occurring.tolist(), limits, strict=True)
    ):
        raise InfeasibleError(
            "some value has a larger share of the table than its limit, "
            "so no buckets can keep that limit",
            "raise the limits of frequent values: `shoal limits` shows the owner which",
        )
    return occurring


# One size and two


@dataclass(frozen=True)
class _Pair:
    """So many buckets of the sizes at two places among a problem's; one size if a number is 0."""

    loss: int
    places: tuple[int, int]
    numbers: tuple[int, int]


_Parts: TypeAlias = dict[int, tuple[int, Ints]]
"""For every size a number of buckets, and how many of each value they hold."""


def _two(problem: Problem) -> Setting:
    """The setting of least loss among those with one size or two."""
    best = _best_pair(problem)
    if best is None:
        raise problem.why_not("one size or two")
    return _setting(_split(problem, best))


def _best_pair(problem: Problem) -> _Pair | None:
    best: _Pair | None = None
    for single in _singles(problem)[:1]:  # the smaller the size, the smaller the loss
        number = problem.records // int(problem.sizes[single])
        size = int(problem.sizes[single])
        best = _Pair(number * (size - 1) ** 2, (single, single), (number, 0))
    for first in range(len(problem.sizes) - 1):
        below = problem.records * int(problem.sizes[-1]) if best is None else best.loss
        places, numbers, losses = _pairs(problem, first, below)
        if len(places):
            j = int(losses.argmin())
            small, large = numbers[:, j].tolist()
            best = _Pair(int(losses[j]), (first, int(places[j])), (small, large))
    return best


def _singles(problem: Problem) -> list[int]:
    """The places of sizes that do alone."""
    alone = (problem.records % problem.sizes == 0) & (
        problem.records // problem.sizes <= problem.most
    )
    return [int(place) for place in alone.nonzero()[0]]


def _pairs(problem: Problem, first: int, below: int) -> tuple[Ints, Ints, Ints]:
    """The larger sizes, by place, that do together with the one at `first`.

    With the numbers of buckets of least loss and that loss, where it is less than `below`. All (b₁,
    b₂) with S₁b₁ + S₂b₂ = n are one list, (b₁ − k·S₂/g, b₂ + k·S₁/g) for k = 0, 1, …, whose loss
    grows with k. What the limits ask for holds from some k on and up to some k, both in closed
    form.
    """
    n = problem.records
    small = int(problem.sizes[first])
    small_most = int(problem.most[first])
    large = problem.sizes[first + 1 :]
    divisor = np.gcd(small, large)
    places = first + 1 + np.nonzero(n % divisor == 0)[0]
    large = problem.sizes[places]
    divisor = divisor[places - first - 1]
    up = small // divisor
    down = large // divisor
    inverse = [pow(by, -1, modulus) for by, modulus in zip(down.tolist(), up.tolist(), strict=True)]
    second = n // divisor % up * np.array(inverse, dtype=np.int64) % up
    number = (n - large * second) // small
    loss = number * (small - 1) ** 2 + second * (large - 1) ** 2
    step = (large - small) * (small * large - 1) // divisor
    # The small buckets can be filled.
    start = np.maximum(0, -((small_most - number) // down))
    # So can the large ones, and no number is negative.
    last = np.minimum(number // down, (problem.most[places] - second) // up)
    last = np.minimum(last, (below - 1 - loss) // step)  # the loss is below
    able = start <= last
    places, up, down, second, number, loss, step, start, last = (
        array[able] for array in (places, up, down, second, number, loss, step, start, last)
    )
    # Value i finds its places if base + k·slope ≥ 0.
    fit_small = problem.fit[:, [first]]
    fit_large = problem.fit[:, places]
    base = fit_small * number + fit_large * second - problem.counts[:, None]
    slope = fit_large * up - fit_small * down
    bound = base // np.where(slope == 0, 1, abs(slope))
    start = np.maximum(start, np.where(slope > 0, -bound, 0).max(axis=0))
    last = np.minimum(last, np.where(slope < 0, bound, last).min(axis=0))
    able = (start <= last) & ((slope != 0) | (base >= 0)).all(axis=0)
    numbers = np.stack((number - start * down, second + start * up))
    return places[able], numbers[:, able], (loss + start * step)[able]


def _split(problem: Problem, pair: _Pair) -> _Parts:
    """Which values go where.

    As many as fit into the small buckets, then those back that these have no room for. Values with
    the strictest limits go back first, so that what stays can be split further.
    """
    (small, large), (number, other) = pair.places, pair.numbers
    sizes = problem.sizes.tolist()
    if not number or not other:
        return {sizes[small if number else large]: (number or other, problem.counts)}
    counts, strict = problem.counts, problem.strict
    held = np.minimum(problem.fit[:, small] * number, counts)
    room = np.minimum(problem.fit[:, large] * other, counts) - (counts - held)
    excess = held.sum() - sizes[small] * number
    back = np.minimum(room[strict].cumsum(), excess)
    held[strict] -= np.diff(back, prepend=0)
    return {sizes[small]: (number, held), sizes[large]: (other, counts - held)}


def _setting(parts: _Parts, gap: float | None = None) -> Setting:
    sizes = sorted(parts)
    return Setting(
        tuple(sizes),
        tuple(parts[size][0] for size in sizes),
        np.stack([parts[size][1] for size in sizes], axis=1),
        gap,
    )


def _smallest_of_two(problem: Problem) -> int | None:
    """The smallest of the larger sizes of all pairs that do, and of the sizes that do alone."""
    best = min(_singles(problem), default=len(problem.sizes))
    first = 0
    while first < best:
        places, _, _ = _pairs(problem.only(slice(best)), first, problem.records * problem.bound)
        best = min([best, *places[:1].tolist()])
        first = first + 1
    return int(problem.sizes[best]) if best < len(problem.sizes) else None


# Several


def _multi(problem: Problem) -> Setting:
    """Two sizes, and each part that they make split again as long as that lowers the loss."""
    best = _best_pair(problem)
    if best is None:
        raise problem.why_not("one size or two")
    parts: _Parts = {}
    waiting = list(_split(problem, best).items())
    while waiting:
        size, (number, counts) = waiting.pop()
        part = problem.part(counts)
        better = _best_pair(part)
        if better is not None and better.loss < number * (size - 1) ** 2:
            waiting += _split(part, better).items()
        else:
            before = parts.get(size, (0, 0))
            parts[size] = (before[0] + number, before[1] + counts)
    return _setting(parts)


# Any


def _optimal(
    problem: Problem,
    precision: SolverPrecision,
    others: Sequence[Setting] = (),
    beyond: float = inf,
) -> Setting:
    """The least loss of all settings, up to a gap, or what is best when time is up.

    `others` are settings that are known; `beyond` is what settings with larger buckets than the
    problem has lose at least, if those are allowed.
    """
    settings = list(others)
    if not others and _best_pair(problem) is not None:
        settings.append(_multi(problem))
    known = min((setting.loss for setting in settings), default=None)
    outcome = least(problem, precision, known)
    if outcome.found is not None:
        settings.append(_proposal(outcome.found))
    if not settings:
        sizes = "any sizes"
        if not outcome.finished:
            sizes = f"any sizes that were found in {precision.seconds:g} seconds"
        raise problem.why_not(sizes)
    best = min(settings, key=lambda setting: setting.loss)
    bound = min(outcome.bound, beyond)
    gap = max(0.0, 1 - bound / best.loss) if best.loss else 0.0
    return replace(best, gap=gap)


def _proposal(found: Found) -> Setting:
    return Setting(tuple(found.sizes.tolist()), tuple(found.numbers.tolist()), found.held)


# Anatomy


def _anatomy(counts: Ints, limits: Sequence[Fraction]) -> Setting:
    """As many buckets of about l records as there can be, with no value twice.

    1/l is at most any limit.
    """
    least = strictest(counts, limits)
    records = int(counts.sum())
    number = records // least
    if int(counts.max()) > number:
        raise InfeasibleError(
            f"there are no buckets of {least} different values each, which the strictest limit "
            "asks for, as some value occurs too often",
            "take another solver, which keeps every limit by itself",
        )
    size, more = divmod(records, number)
    found = spread(
        counts, [Fraction(1, least)] * len(counts), (size, size + 1), (number - more, more)
    )
    if found is None:
        raise InternalError(
            "records could not be dealt to buckets, though there are enough for every value"
        )
    return found
