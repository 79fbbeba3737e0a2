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
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep
from shoal.errors import (
    InfeasibleError,
    InternalError,
    ParameterError,
    ShoalError,
    TooLargeError,
    listed,
    plural,
)
from shoal.exact.numbers import Exact, fraction, whole

__all__ = [
    "HIGHEST",
    "Search",
    "Setting",
    "Solver",
    "filled",
    "find_setting",
    "fitting",
    "smallest_bound",
    "spread",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Solver: TypeAlias = Literal["optimal", "multi", "two", "anatomy"]

HIGHEST = 2000
"""The largest size of a bucket that is looked at by default.

A bucket of that many reveals next to nothing.
"""

_LARGEST = 1 << 62
_CELLS = 1 << 25
"""Cells of values times sizes that are held at most."""

_SECONDS = 3.0
"""For HiGHS to find out whether any setting is possible; an unanswered question counts as no."""

_SMALL = 1000
"""Cells of values times sizes up to which HiGHS is given all sizes that could lose less.

Else those that seem useful.
"""

_SOME = 1e-6
"""What HiGHS may take for none of a size."""

_NONE = 2
"""SciPy's status of a problem without a solution."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Buckets of some sizes: `buckets[j]` of `sizes[j]` records.

    Together these hold `holds[i, j]` records with value i.
    """

    sizes: tuple[int, ...]
    buckets: tuple[int, ...]
    holds: Ints
    gap: float | None = None
    """By how much of its loss the best setting may be better, as HiGHS reports it.

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


def fitting(limits: Sequence[Fraction], sizes: Sequence[int] | Ints) -> Ints:
    """⌊f′·S⌋ for every limit and size: how many records with a value a bucket may hold.

    >>> fitting([Fraction("0.29")], [100])[0, 0], int(0.29 * 100)
    (np.int64(29), 28)
    """
    top = [limit.numerator for limit in limits]
    bottom = [limit.denominator for limit in limits]
    largest = max([*top, 1]) * int(max([*sizes, 1]))
    fits = max([largest, *bottom]) < _LARGEST
    kind: Any = np.int64 if fits else object
    columns = np.array([int(size) for size in sizes], dtype=kind)
    tops = np.array(top, dtype=kind)[:, None]
    bottoms = np.array(bottom, dtype=kind)[:, None]
    return np.asarray(tops * columns // bottoms, dtype=np.int64)


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
            problem = _Problem.of(occurring, limits, self.largest, self.fakes)
            setting = self._bounded(problem)
        setting.check(occurring, limits)
        return setting

    def _bounded(self, problem: "_Problem") -> Setting:
        """What the solver finds among the sizes of a problem."""
        if self.solver == "optimal":
            return _optimal(problem, self._precision)
        if self.solver == "multi":
            return _multi(problem)
        return _two(problem)

    @property
    def _precision(self) -> "_Precision":
        return _Precision(float(self.gap), float(self.seconds))

    def _unbounded(self, counts: Ints, limits: Sequence[Fraction]) -> Setting:
        """What the solver finds among all sizes that could lose less than a first setting.

        The first setting is one with the smallest bound.
        """
        bound = smallest_bound(counts, limits, self.solver, fakes=self.fakes)
        near = _Problem.of(counts, limits, bound, self.fakes)
        first = _two(near) if self.solver == "two" else _any(near)
        least = _Least.of(counts, limits)
        searched = max(bound, min(least.reach(first.loss), HIGHEST, _CELLS // len(counts)))
        far = _Problem.of(counts, limits, searched, self.fakes)
        if self.solver == "two":
            best = _two(far)
            is_all = least.reach(best.loss) <= searched
            return replace(best, searched=None if is_all else searched)
        several = [_multi(problem) for problem in (near, far) if _best_pair(problem) is not None]
        if self.solver == "multi":
            return min(several, key=lambda setting: setting.loss)
        relaxed = _relaxed(far, float(self.seconds))
        small = len(counts) * len(far.sizes) <= _SMALL
        useful = far.only((far.sizes <= bound) | relaxed.used | small)
        others = relaxed.bound if len(useful.sizes) < len(far.sizes) else inf
        beyond = float(least.with_a_bucket_of(searched + 1))
        return _optimal(useful, self._precision, several, min(others, beyond))


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
    least = _strictest(occurring, limits)
    top = min(whole(highest, "highest"), int(occurring.sum()))
    if not top:
        return 1
    if solver == "anatomy":
        return max(_anatomy(occurring, limits).sizes)

    def up_to(bound: int) -> _Problem:
        return _Problem.of(occurring, limits, bound, fakes)

    bound = min(2 * least, top)
    found = None
    while (found := _smallest_of_two(up_to(bound))) is None and bound < top:
        bound = min(2 * bound, top)
    if solver == "optimal":
        # Several sizes may do with less than two do, and never with less than the strictest limit
        # asks for.
        low = least
        high = top + 1 if found is None else found
        while low < high:
            middle = (low + high) // 2
            some = _proposed(up_to(middle), _QUICK, any_does=True)
            low, high = (low, middle) if some.setting else (middle + 1, high)
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
    held = filled(occurring, size * number, upper, upper)
    return None if held is None else Setting(tuple(map(int, size)), tuple(map(int, number)), held)


# The problem


@dataclass(frozen=True, eq=False)
class _Problem:
    """Counts, and the sizes of buckets that can be filled from them.

    `fit[i, j]` is ⌊f′_i·sizes[j]⌋, and at most `most[j]` buckets of that size can be filled.
    """

    counts: Ints
    limits: tuple[Fraction, ...]
    strict: Ints
    """The values with the strictest limits first."""

    bound: int
    sizes: Ints
    fit: Ints
    most: Ints
    fakes: int = 0

    @classmethod
    def of(cls, counts: Ints, limits: Sequence[Fraction], bound: int, fakes: int = 0) -> "_Problem":
        bound = min(bound, int(counts.sum()))
        if len(counts) * bound > _CELLS or int(counts.sum()) * bound >= _LARGEST:
            raise TooLargeError(
                f"{plural(len(counts), 'value')} in buckets of up to {plural(bound, 'record')} are "
                "too many",
                "give a smaller `largest`",
            )
        sizes = np.arange(1, bound + 1)
        strict = np.array(sorted(range(len(limits)), key=limits.__getitem__), dtype=np.int64)
        fit = fitting(limits, sizes)
        whole = cls(counts, tuple(limits), strict, bound, sizes, fit, sizes, fakes)
        return whole.only(_hideable(fit[counts > 0], sizes, fakes)).part(counts)

    def part(self, counts: Ints) -> "_Problem":
        """The same for other counts under the same limits."""
        most = _fillable(counts, self.sizes, self.fit)
        return replace(self, counts=counts, most=most).only(most > 0)

    def only(self, kept: npt.NDArray[np.bool_] | slice) -> "_Problem":
        """The same with some of the sizes."""
        return replace(self, sizes=self.sizes[kept], fit=self.fit[:, kept], most=self.most[kept])

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    def why_not(self, sizes: str) -> InfeasibleError:
        """What prevents a setting with these sizes, for anyone to read."""
        most = plural(self.bound, "record")
        if self.fakes and not len(self.sizes):
            return InfeasibleError(
                f"with buckets of at most {most}, none leaves {plural(self.fakes, 'value')} that "
                "it does not hold and could show as a fake",
                "take fewer fakes, or raise limits",
            )
        if _strictest(self.counts, self.limits) > self.bound:
            reason = f"some value's limit is below 1/{self.bound}, so it fits into no bucket"
        elif not len(self.sizes):
            reason = "no bucket can be filled without some value exceeding its limit"
        else:
            reason = f"no numbers of buckets of {sizes} hold all records within the limits"
        return InfeasibleError(
            f"with buckets of at most {most}, {reason}", "allow larger buckets, or raise limits"
        )


def _any(problem: _Problem) -> Setting:
    """Some setting, quickly."""
    if _best_pair(problem) is not None:
        return _multi(problem)
    found = _proposed(problem, _QUICK, any_does=True).setting
    if found is None:
        raise problem.why_not("any sizes")
    return found


@dataclass(frozen=True)
class _Least:
    """What records lose at least.

    One whose limit asks for buckets of S loses (S − 1)²/S, its part of the loss of one. From this
    follows how large a bucket of a setting that loses less than another can be.
    """

    parts: tuple[tuple[Fraction, int], ...]
    """What a record loses, largest first, and how many lose that."""

    @classmethod
    def of(cls, counts: Ints, limits: Sequence[Fraction]) -> "_Least":
        smallest = [-(-limit.denominator // limit.numerator) for limit in limits]
        found = [
            (Fraction((size - 1) ** 2, size), count)
            for size, count in zip(smallest, counts.tolist(), strict=True)
        ]
        return cls(tuple(sorted(found, reverse=True)))

    def with_a_bucket_of(self, size: int) -> Fraction:
        """What any setting loses that has a bucket of at least that size.

        At best it takes those who lose most anyway. It grows with the size, as a larger bucket adds
        2·size − 1 and spares at most what a record of the strictest limit loses.
        """
        loss = Fraction((size - 1) ** 2)
        left = size
        for part, count in self.parts:
            inside = min(count, left)
            loss = loss + part * (count - inside)
            left = left - inside
        return loss

    def reach(self, loss: int) -> int:
        """The largest size of a bucket in a setting that loses less."""
        low = 0
        high = sum(count for _, count in self.parts)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if self.with_a_bucket_of(middle) < loss else (low, middle - 1)
            )
        return low


def _checked(counts: Sequence[int] | Ints, limits: Sequence[Fraction]) -> Ints:
    """The counts as an array, if they and the limits are such."""
    if len(counts) != len(limits):
        raise ParameterError("a bucket setting takes one limit for every count")
    numbers = [whole(count, "a count", 0) for count in counts]
    if not all(isinstance(limit, Fraction) and 0 < limit <= 1 for limit in limits):
        raise ParameterError("the limit of a value is a fraction above 0 and at most 1")
    if sum(numbers) >= _LARGEST:
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
            "raise the limits of frequent values",
        )
    return occurring


def _strictest(counts: Ints, limits: Sequence[Fraction]) -> int:
    """The smallest bucket that may hold a record of any value."""
    strictest = min(
        (limit for count, limit in zip(counts, limits, strict=True) if count), default=Fraction(1)
    )
    return -(-strictest.denominator // strictest.numerator)


def _hideable(fit: Ints, sizes: Ints, fakes: int) -> npt.NDArray[np.bool_]:
    """Which sizes leave a bucket that many values as fakes, which it may hold and does not.

    It holds its records in as few different values as limits allow: those that may be there most
    often.
    """
    able = (fit > 0).sum(axis=0)
    none = np.zeros((1, len(sizes)), dtype=np.int64)
    most_first = -np.sort(-fit, axis=0)
    held = np.cumsum(np.concatenate((none, most_first)), axis=0)
    places = held[np.maximum(able - fakes, 0), np.arange(len(sizes))]
    return np.asarray(places >= sizes, dtype=np.bool_)


def _fillable(counts: Ints, sizes: Ints, fit: Ints) -> Ints:
    """The most buckets of every size that can be filled.

    That is the largest number b with Σ_i min(⌊f′_i·S⌋·b, o_i) ≥ S·b. It holds for 0 and all numbers
    up to the largest, as the difference of both sides is concave.
    """
    low = np.zeros_like(sizes)
    high = counts.sum() // sizes
    while (low < high).any():
        middle = (low + high + 1) // 2
        holds = np.minimum(fit * middle, counts[:, None]).sum(axis=0) >= sizes * middle
        low = np.where(holds, middle, low)
        high = np.where(holds, high, middle - 1)
    return low


# One size and two


@dataclass(frozen=True)
class _Pair:
    """So many buckets of the sizes at two places among a problem's; one size if a number is 0."""

    loss: int
    places: tuple[int, int]
    numbers: tuple[int, int]


_Parts: TypeAlias = dict[int, tuple[int, Ints]]
"""For every size a number of buckets, and how many of each value they hold."""


def _two(problem: _Problem) -> Setting:
    """The setting of least loss among those with one size or two."""
    best = _best_pair(problem)
    if best is None:
        raise problem.why_not("one size or two")
    return _setting(_split(problem, best))


def _best_pair(problem: _Problem) -> _Pair | None:
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


def _singles(problem: _Problem) -> list[int]:
    """The places of sizes that do alone."""
    alone = (problem.records % problem.sizes == 0) & (
        problem.records // problem.sizes <= problem.most
    )
    return [int(place) for place in alone.nonzero()[0]]


def _pairs(problem: _Problem, first: int, below: int) -> tuple[Ints, Ints, Ints]:
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


def _split(problem: _Problem, pair: _Pair) -> _Parts:
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


def _smallest_of_two(problem: _Problem) -> int | None:
    """The smallest of the larger sizes of all pairs that do, and of the sizes that do alone."""
    best = min(_singles(problem), default=len(problem.sizes))
    first = 0
    while first < best:
        places, _, _ = _pairs(problem.only(slice(best)), first, problem.records * problem.bound)
        best = min([best, *places[:1].tolist()])
        first = first + 1
    return int(problem.sizes[best]) if best < len(problem.sizes) else None


# Several


def _multi(problem: _Problem) -> Setting:
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


@dataclass(frozen=True)
class _Precision:
    """How far from the least loss HiGHS may stop, and how long it may take."""

    gap: float
    seconds: float


_QUICK = _Precision(1.0, _SECONDS)
"""Enough to find out whether any setting is possible."""


def _optimal(
    problem: _Problem,
    precision: _Precision,
    others: Sequence[Setting] = (),
    beyond: float = inf,
) -> Setting:
    """The least loss of all settings, up to a gap, or what is best when time is up.

    `others` are better at times, when the gap is wide or time was up; `beyond` is what settings
    with other sizes than the problem has lose at least, if those are allowed.
    """
    proposal = _proposed(problem, precision)
    settings = list(others)
    if proposal.setting:
        settings.append(proposal.setting)
    if not others and _best_pair(problem) is not None:
        settings.append(_multi(problem))
    if not settings:
        sizes = "any sizes"
        if not proposal.finished:
            sizes = f"any sizes that were found in {precision.seconds:g} seconds"
        raise problem.why_not(sizes)
    best = min(settings, key=lambda setting: setting.loss)
    bound = min(proposal.bound, beyond)
    gap = max(0.0, 1 - bound / best.loss) if best.loss else 0.0
    return replace(best, gap=gap)


@dataclass(frozen=True)
class _Proposal:
    """What HiGHS found, its lower bound of the loss, and whether it ended with a valid setting."""

    setting: Setting | None
    bound: float
    finished: bool


def _proposed(problem: _Problem, precision: _Precision, any_does: bool = False) -> _Proposal:
    """An integer program in the numbers of buckets, solved by HiGHS and filled in integers.

    Only these numbers are whole: if they allow any way to fill the buckets, they allow one in whole
    records.
    """
    program = _Program.of(problem)
    if program is None:
        return _Proposal(None, 0.0, True)  # some value fits nowhere
    sizes = problem.sizes
    many = len(problem.sizes)
    result = program.solved(precision, any_does=any_does)
    bound = max(0.0, result.get("mip_dual_bound") or 0.0)
    if result.x is None:
        return _Proposal(None, 0.0, result.status == _NONE)
    numbers = np.rint(result.x[:many]).astype(np.int64)
    near = np.zeros((program.kinds, many), dtype=np.int64)
    near[program.row, program.column] = np.maximum(result.x[many:], 0)
    used = numbers > 0
    held = None
    if (numbers >= 0).all() and (sizes * numbers).sum() == problem.records:
        held = filled(
            problem.counts,
            (sizes * numbers)[used],
            (problem.fit * numbers)[:, used],
            near[program.kind][:, used],
        )
    if held is None:
        return _Proposal(None, bound, False)  # floats were off by a record
    return _Proposal(
        Setting(tuple(sizes[used].tolist()), tuple(numbers[used].tolist()), held),
        bound,
        result.status == 0,
    )


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """What is lost at least if numbers of buckets need not be whole, and the sizes used then."""

    bound: float
    used: npt.NDArray[np.bool_]


def _relaxed(problem: _Problem, seconds: float) -> _Relaxed:
    program = _Program.of(problem)
    result = None if program is None else program.solved(_Precision(0.0, seconds), whole=False)
    if result is None or result.status != 0:
        return _Relaxed(0.0, np.zeros(len(problem.sizes), dtype=np.bool_))
    return _Relaxed(max(0.0, float(result.fun)), result.x[: len(problem.sizes)] > _SOME)


@dataclass(frozen=True, eq=False)
class _Program:
    """The program of a problem: numbers of buckets of every size, and the records they hold.

    Values that occur equally often under equal limits share their variables, as the mean of what
    they do is possible too.
    """

    sizes: Ints
    most: Ints
    counts: Ints
    times: Ints
    kind: Ints
    fit: Ints
    row: Ints
    column: Ints

    @classmethod
    def of(cls, problem: _Problem) -> "_Program | None":
        alike, kind, times = np.unique(
            np.column_stack((problem.counts, problem.fit)),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        counts = alike[:, 0]
        fit = alike[:, 1:]
        if not np.all(fit.any(axis=1) | (counts == 0)):
            return None
        row, column = fit.nonzero()
        return cls(problem.sizes, problem.most, counts, times, kind.reshape(-1), fit, row, column)

    @property
    def kinds(self) -> int:
        return len(self.counts)

    def solved(self, precision: _Precision, *, whole: bool = True, any_does: bool = False) -> Any:
        """HiGHS's result, with `whole` numbers of buckets or any.

        The first that does if any does.
        """
        try:
            from scipy.optimize import Bounds, LinearConstraint, milp
            from scipy.sparse import csr_array, diags_array, eye_array, hstack
        except ImportError:
            raise ShoalError(
                "needs SciPy",
                "install it with: pip install 'shoal[buckets]'",
                option="solver",
                given="'optimal'",
            ) from None
        sizes, row, column = self.sizes, self.row, self.column
        many = len(sizes)
        cells = len(row)
        cell = np.arange(cells)
        limited = csr_array((-self.fit[row, column], (cell, column)), shape=(cells, many))
        inside = csr_array((self.times[row], (column, cell)), shape=(many, cells))
        placed = csr_array((np.ones(cells), (row, cell)), shape=(self.kinds, cells))
        none = csr_array((self.kinds, many))
        return milp(
            np.concatenate((np.zeros(many) if any_does else (sizes - 1.0) ** 2, np.zeros(cells))),
            integrality=np.repeat((int(whole), 0), (many, cells)),
            bounds=Bounds(0, np.concatenate((self.most, self.counts[row]))),
            constraints=[
                LinearConstraint(hstack([limited, eye_array(cells)]), -np.inf, 0),
                LinearConstraint(hstack([diags_array(-sizes.astype(np.float64)), inside]), 0, 0),
                LinearConstraint(hstack([none, placed]), self.counts, self.counts),
            ],
            options={"mip_rel_gap": precision.gap, "time_limit": precision.seconds},
        )


def filled(counts: Ints, room: Ints, upper: Ints, near: Ints) -> Ints | None:
    """How many of each value go into buckets of each size: all, and at most `upper`.

    None if that is impossible. A maximal flow by augmenting paths, in integers, from what is
    `near`.
    """
    held = np.zeros_like(upper)
    for j in range(len(room)):
        allowed = np.minimum(near[:, j], upper[:, j])
        wanted = np.minimum(allowed, counts - held.sum(axis=1))
        held[:, j] = np.diff(np.minimum(wanted.cumsum(), room[j]), prepend=0)
    while (left := counts - held.sum(axis=1)).any():
        path = _path(left, room - held.sum(axis=0), upper - held, held)
        if path is None:
            return None
        amount, steps = path
        for value, out, into in steps:
            held[value, into] += amount
            if out is not None:
                held[value, out] -= amount
    return held


def _path(
    left: Ints, room: Ints, free: Ints, held: Ints
) -> tuple[int, list[tuple[int, int | None, int]]] | None:
    """How one more record finds a place: value by value the size it leaves and the one it enters.

    It leaves none at first.
    """
    came: dict[int, tuple[int, int | None, int]] = {}
    steps: list[tuple[int | None, Ints]] = [(None, np.minimum(left[:, None], free))]
    for out, movable in steps:  # breadth first: there will be more
        value = movable.argmax(axis=0)
        for into in range(len(room)):
            amount = int(movable[value[into], into])
            if not amount or into in came:
                continue
            came[into] = (int(value[into]), out, amount)
            if room[into]:
                path = [(into, came[into])]
                while (before := path[-1][1][1]) is not None:
                    path.append((before, came[before]))
                smallest = min(int(room[into]), *(step[2] for _, step in path))
                return smallest, [(step[0], step[1], place) for place, step in path]
            steps.append((into, np.minimum(held[:, [into]], free)))
    return None


# Anatomy


def _anatomy(counts: Ints, limits: Sequence[Fraction]) -> Setting:
    """As many buckets of about l records as there can be, with no value twice.

    1/l is at most any limit.
    """
    least = _strictest(counts, limits)
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
