"""`least`: numbers of buckets of least loss, by an integer program over these numbers alone.

The program has one variable for each size, and a *cut* for a set of values: buckets of S records
hold at most min(S, Σ⌊f′·S⌋) records with these values, and there must be room for all of them. All
cuts together say that buckets can be filled; only those are made that a proposal violates. HiGHS
proposes in floats. Proposals are filled in integers by `flows`, and the bound from the program
without whole numbers is proven in integers: docs/proofs/buckets.md. `settings` uses it.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import ShoalError
from shoal.methods.buckets.flows import fill
from shoal.methods.buckets.problem import Ints, Problem

__all__ = ["Found", "SolverOutcome", "SolverPrecision", "least"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_SCALE = 1 << 20
"""Weights of cuts are whole multiples of one by this, so that the bound is exact."""

_SOME = 1e-6
"""What HiGHS may take for none."""

_STARTS = 20
"""Choices of sizes that cuts are made of in each round, those that are violated most."""

_CLIMBS = 6
"""Of these, how many are first improved size by size."""

_ROUNDS = 1000
"""Rounds of cuts before the program is taken as it is; some dozens do as a rule."""

_WINDOW = 10
"""How far numbers of buckets may be from those that need not be whole, at first."""

_RECORDS = 1e5
"""More records than this are given to HiGHS in larger units."""

_NONE = 2
"""SciPy's status of a problem without a solution."""


@dataclass(frozen=True)
class SolverPrecision:
    """How far from the least loss the search may stop, and how long it may take."""

    gap: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Found:
    """Numbers of buckets of some sizes, and how many records of each value they hold."""

    sizes: Ints
    numbers: Ints
    held: Ints

    @property
    def loss(self) -> int:
        pairs = zip(self.sizes.tolist(), self.numbers.tolist(), strict=True)
        return sum(number * (size - 1) ** 2 for size, number in pairs)


@dataclass(frozen=True, eq=False)
class SolverOutcome:
    """The best numbers that were found, and what all settings of the problem lose at least.

    `finished` says that there are none, where none were found; else time was up.
    """

    found: Found | None
    bound: float
    finished: bool


def least(problem: Problem, precision: SolverPrecision, known: int | None = None) -> SolverOutcome:
    """Numbers of buckets that lose least, up to a gap, or what was found when time was up.

    `known` is the loss of a setting of the same problem: only what loses less is looked for.
    """
    program = _Program(problem, precision.seconds)
    relaxed = program.relaxed()
    if relaxed is None:
        return SolverOutcome(None, inf, True)
    # First near the numbers that need not be whole, with sizes that are not too dear for the gap.
    allowed = inf if precision.gap >= 1 else relaxed.bound / (1 - precision.gap)
    near = _Range.around(relaxed, problem.most).only(relaxed.with_one <= allowed)
    first = program.whole(near, _Rounds(precision.gap / 2, program.left() / 2))
    losses = [] if known is None else [known]
    if first.found is not None:
        losses.append(first.found.loss)
    best = min(losses, default=None)
    if best is not None and best <= allowed:
        return SolverOutcome(first.found, float(relaxed.bound), True)
    # Then anywhere, with sizes that could make the loss smaller.
    useful = np.ones(len(problem.sizes), dtype=np.bool_)
    if best is not None:
        useful = relaxed.with_one < best
    everywhere = _Range(np.zeros_like(problem.most), problem.most).only(useful)
    second = program.whole(everywhere, _Rounds(precision.gap, program.left()))
    candidates = [each.found for each in (first, second) if each.found is not None]
    found = min(candidates, key=lambda each: each.loss, default=None)
    bound = second.bound if best is None else min(second.bound, float(best))
    return SolverOutcome(found, max(float(relaxed.bound), bound), second.finished)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """What numbers of buckets that need not be whole say about whole ones."""

    numbers: Floats

    bound: int
    """What every setting loses at least."""

    with_one: npt.NDArray[np.object_]
    """What every setting with a bucket of each size loses at least."""


@dataclass(frozen=True, eq=False)
class _Range:
    """The least and the largest numbers of buckets of every size."""

    lower: Ints
    upper: Ints

    @classmethod
    def around(cls, relaxed: _Relaxed, most: Ints) -> "_Range":
        whole = np.floor(relaxed.numbers).astype(np.int64)
        return cls(np.maximum(whole - _WINDOW, 0), np.minimum(whole + 1 + _WINDOW, most))

    def only(self, kept: npt.NDArray[Any]) -> "_Range":
        """The same with none of the other sizes."""
        kept = kept.astype(np.bool_)
        return _Range(np.where(kept, self.lower, 0), np.where(kept, self.upper, 0))


@dataclass(frozen=True)
class _Rounds:
    """The gap at which HiGHS stops, and the seconds for all rounds of cuts."""

    gap: float
    seconds: float


class _Program:
    """The program of a problem, with the cuts that were made so far.

    Values that occur equally often and fit equally often are of one kind, as cuts of all or none of
    them do.
    """

    def __init__(self, problem: Problem, seconds: float) -> None:
        self.problem = problem
        self.sizes = problem.sizes
        self.cost = (problem.sizes - 1.0) ** 2
        alike, times = np.unique(
            np.column_stack((problem.counts, problem.fit)), axis=0, return_counts=True
        )
        self.counts = alike[:, 0]
        self.fit = alike[:, 1:]
        self.times = times
        self.cuts: list[Ints] = []
        self.needs: list[int] = []
        self._seen: set[bytes] = set()
        self.bound = 0
        """What every setting loses at least, once that is known."""

        self._until = monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left."""
        return max(self._until - monotonic(), 0.0)

    def cut(self, kinds: Bools) -> bool:
        """Add the cut of some kinds of values; whether it is new."""
        name = kinds.tobytes()
        if name in self._seen or not kinds.any():
            return False
        self._seen.add(name)
        times = self.times[kinds]
        self.cuts.append(np.minimum(self.sizes, times @ self.fit[kinds]))
        self.needs.append(int(times @ self.counts[kinds]))
        return True

    # Without whole numbers

    def relaxed(self) -> _Relaxed | None:
        """The program without whole numbers; None if it has no solution, so that none is valid."""
        relaxed = self._proven(np.zeros(0), 0.0, np.zeros(len(self.sizes)))
        if not len(self.sizes):
            return None
        for _ in range(_ROUNDS):
            result = self._without_whole_numbers()
            if result.status == _NONE:
                return None
            if result.status != 0:
                return relaxed
            numbers = result.x * self._unit
            weights = -result.ineqlin.marginals if self.cuts else np.zeros(0)
            relaxed = self._proven(weights, float(result.eqlin.marginals[0]), numbers)
            if not self._cut_off(numbers):
                return relaxed
        return relaxed

    @property
    def _unit(self) -> float:
        """Numbers of buckets and of records are given to HiGHS by this many: it likes small ones.

        Numbers that need not be whole are proportional to the records, and weights the same.
        """
        return max(1.0, self.problem.records / _RECORDS)

    def _without_whole_numbers(self) -> Any:
        cuts = needs = None
        if self.cuts:
            cuts = -np.array(self.cuts, dtype=np.float64)
            needs = -np.array(self.needs, dtype=np.float64) / self._unit
        most = self.problem.most / self._unit
        return _scipy().linprog(
            self.cost,
            A_ub=cuts,
            b_ub=needs,
            A_eq=self.sizes[None].astype(np.float64),
            b_eq=[self.problem.records / self._unit],
            bounds=np.stack((np.zeros_like(most), most), axis=1),
            options={"time_limit": self.left()},
        )

    def _proven(self, weights: Floats, price: float, numbers: Floats) -> _Relaxed:
        """What follows from weights of cuts and a price of places, whatever they are, in integers.

        A setting loses Σ r_S·b_S + price·n + Σ weight·(cut·b), with r_S what a bucket of S loses
        beyond the price of its places and the weights of its cuts.
        """
        scaled = [max(0, round(float(weight) * _SCALE)) for weight in weights]
        place = round(price * _SCALE)
        beyond = np.array([(size - 1) ** 2 * _SCALE - place * size for size in self.sizes.tolist()])
        beyond = beyond.astype(object)
        total = place * self.problem.records
        for weight, cut, need in zip(scaled, self.cuts, self.needs, strict=True):
            if weight:
                beyond -= weight * cut.astype(object)
                total += weight * need
        most = self.problem.most.astype(object)
        total += int((np.minimum(beyond, 0) * most).sum())
        bound = max(0, ceil(Fraction(total, _SCALE)))
        self.bound = max(self.bound, bound)
        with_one = [max(bound, ceil(Fraction(total + each, _SCALE))) for each in beyond.tolist()]
        return _Relaxed(numbers, bound, np.array(with_one, dtype=object))

    def _cut_off(self, numbers: Floats) -> bool:
        """Whether cuts were found that exclude these numbers.

        A violated cut is that of the kinds which have more records than they may have in buckets of
        some sizes. These sizes are at first the smallest or the largest, then one is changed at a
        time.
        """
        used = np.flatnonzero(numbers > _SOME)
        fits = self.fit[:, used] * numbers[used]
        places = self.sizes[used] * numbers[used]
        below = np.tri(len(used) + 1, len(used), -1, dtype=np.bool_)
        starts = np.concatenate((below, ~below))
        missing = self._missing(starts @ fits.T)
        slack = ~starts @ places - missing
        tolerance = _SOME * max(1.0, float(self.problem.records))
        new = False
        for rank, start in enumerate(np.argsort(slack, kind="stable")[:_STARTS].tolist()):
            chosen = starts[start]
            if rank < _CLIMBS:
                climbed, lowest = self._climb(chosen, fits, places)
                if lowest < -tolerance:
                    new |= self._cut_by(climbed, fits)
            if slack[start] < -tolerance:
                new |= self._cut_by(chosen, fits)
        return new

    def _missing(self, load: Floats) -> Floats:
        """How many records have no place where each kind has that many."""
        return np.asarray(np.maximum(self.counts - load, 0) @ self.times, dtype=np.float64)

    def _cut_by(self, chosen: Bools, fits: Floats) -> bool:
        load = fits[:, chosen].sum(axis=1)
        return self.cut(self.counts > load + _SOME)

    def _climb(self, chosen: Bools, fits: Floats, places: Floats) -> tuple[Bools, float]:
        """Change one size at a time while the cut is violated more."""
        slack = inf
        while True:
            load = fits[:, chosen].sum(axis=1)
            sign = np.where(chosen, -1.0, 1.0)
            changed = (load[:, None] + fits * sign).T
            slacks = places[~chosen].sum() - sign * places - self._missing(changed)
            best = int(slacks.argmin()) if len(slacks) else 0
            if not len(slacks) or slacks[best] >= slack - _SOME:
                return chosen, slack
            slack = float(slacks[best])
            chosen = chosen.copy()
            chosen[best] = not chosen[best]

    # With whole numbers

    def whole(self, box: _Range, rounds: _Rounds) -> SolverOutcome:
        """Whole numbers within a box, with cuts until they can be filled or time is up.

        With fewer cuts than all, HiGHS's bound is still one.
        """
        until = min(self._until, monotonic() + rounds.seconds)
        bound = 0.0
        while (left := until - monotonic()) > 0:
            result = self._proposed(box, _Rounds(rounds.gap, left))
            if result.status == _NONE:
                return SolverOutcome(None, inf, True)
            reported = result.get("mip_dual_bound")
            if reported is not None and isfinite(reported):
                bound = max(bound, float(reported) + float(self.cost @ box.lower))
            if result.x is None:
                break
            numbers = box.lower + np.rint(result.x).astype(np.int64)
            if (numbers < 0).any() or self.sizes @ numbers != self.problem.records:
                break  # floats were off by a record
            used = numbers > 0
            room = (self.sizes * numbers)[used]
            filling = fill(self.problem.counts, room, (self.problem.fit * numbers)[:, used])
            if filling.crowded is None:
                found = Found(self.sizes[used], numbers[used], filling.held)
                return SolverOutcome(found, bound, True)
            if not self.cut(self._kinds(filling.crowded)):
                break
        return SolverOutcome(None, bound, False)

    def _kinds(self, values: Bools) -> Bools:
        """The kinds of some values."""
        problem = self.problem
        given = np.column_stack((problem.counts[values], problem.fit[values]))
        crowded = {row.tobytes() for row in np.unique(given, axis=0)}
        every = np.column_stack((self.counts, self.fit))
        return np.array([row.tobytes() in crowded for row in every], dtype=np.bool_)

    def _proposed(self, box: _Range, rounds: _Rounds) -> Any:
        """HiGHS's result, in numbers above the lowest: small ones are computed better."""
        scipy = _scipy()
        kept = box.upper > 0
        places = self.sizes[None]
        records = self.problem.records - int(self.sizes @ box.lower)
        # The gap is a share of the whole loss, of which HiGHS sees what is above the lowest.
        lowest = float(self.cost @ box.lower)
        above = max(self.bound - lowest, 1.0)
        gap = min(rounds.gap * max(self.bound / above, 1.0), 1.0)
        constraints = [scipy.LinearConstraint(places, records, records)]
        if self.cuts:
            cuts = np.array(self.cuts)
            needs = np.array(self.needs) - cuts @ box.lower
            constraints.append(scipy.LinearConstraint(cuts, needs, np.inf))
        return scipy.milp(
            self.cost,
            integrality=kept.astype(np.int64),
            bounds=scipy.Bounds(0, box.upper - box.lower),
            constraints=constraints,
            options={"mip_rel_gap": gap, "time_limit": rounds.seconds},
        )


def _scipy() -> Any:
    """SciPy's solvers; ShoalError if it is not installed."""
    try:
        import scipy.optimize
    except ImportError:
        raise ShoalError(
            "needs SciPy",
            "install it with: pip install 'shoal[buckets]'",
            option="solver",
            given="'optimal'",
        ) from None
    return scipy.optimize
