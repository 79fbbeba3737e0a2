"""Which columns single people out, and how many of those stay unique in the population.

Population uniqueness is estimated from the sample's group sizes by three models: Pitman's (Hoshino
2001), Zayatz's (1991) and the slide negative binomial (Chen and McNulty 1998), with the rule of
Dankar et al. (2012) to choose among them. A model that does not fit the sample gives None, never a
guess. Uses `counts`; `risk` uses it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, exp, isfinite, lgamma, log, nan, prod, sqrt

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts
from shoal.zones import owner_only

__all__ = [
    "ColumnRisk",
    "IdentifyingSet",
    "PopulationUniqueness",
    "column_risks",
    "crowds_of_people",
    "identifying_sets",
    "population_uniqueness",
]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@owner_only
@dataclass(frozen=True)
class IdentifyingSet:
    """Columns that together make `uniques` records unique, a `share` of all.

    None of the columns can be left out.
    """

    columns: tuple[str, ...]
    uniques: int
    share: float


@owner_only
@dataclass(frozen=True)
class ColumnRisk:
    """What one column adds to the average prosecutor risk.

    `alone` is the risk from this column only, `without` the risk from all others, `share` its
    Shapley share of the risk from all columns; shares add up to 1. `uniques_without` is how many
    records, or people, would still be alone in their group by all others.
    """

    column: str
    values: int
    alone: float
    without: float
    share: float
    uniques_without: int


@owner_only
@dataclass(frozen=True)
class PopulationUniqueness:
    """Estimated share of the population that is unique in it.

    None where a model does not fit the sample.

    `estimate` is that of the model which Dankar's rule chooses.
    """

    population: int
    fraction: float
    pitman: float | None
    zayatz: float | None
    snb: float | None
    estimate: float | None
    model: str | None


MOST_SETS = 10_000
"""Where there are more sets of a size than this, none is looked at: it would take hours."""

LARGEST_SET = 4
"""Larger identifying sets are not searched for: they are many, and say little that their size does
not say.
"""


def identifying_sets(
    cells: Counts,
    share: Fraction | float = 0,
    largest: int = LARGEST_SET,
    people: Ints | None = None,
) -> tuple[IdentifyingSet, ...]:
    """The minimal sets of columns that make more than a share of the records unique.

    They have up to `largest` columns, and the smallest come first.

    A record that is unique by some columns is unique by more, so no set that contains a found one
    is looked at. Nor are sizes of which there are more than `MOST_SETS` sets: with over 23 columns,
    sets of four. Where `people` says whose each distinct row is, it is people who are unique:
    nobody else has a row like one of theirs.
    """
    records = _records(cells, people)
    needed = int(share * records) + 1
    if people is None and int((cells.count == 1).sum()) < needed:
        return ()

    minimal: set[tuple[int, ...]] = set()
    sets: list[IdentifyingSet] = []
    number = len(cells.names)
    for size in range(1, min(largest, number) + 1):
        if comb(number, size) > MOST_SETS:
            break
        for columns in combinations(range(number), size):
            possible = prod(cells.cards[j] for j in columns)
            if possible < needed or not minimal.isdisjoint(_parts(columns)):
                continue
            uniques = _uniques(cells, columns, people)
            if uniques < needed:
                continue
            minimal.add(columns)
            names = tuple(cells.names[j] for j in columns)
            sets.append(IdentifyingSet(names, uniques, uniques / records))
    return tuple(sorted(sets, key=lambda each: (len(each.columns), -each.uniques)))


def _records(cells: Counts, people: Ints | None) -> int:
    """How many records there are, or people."""
    if people is None:
        return cells.total
    return int(people.max(initial=-1)) + 1


def _parts(columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The sets of columns that are smaller."""
    for size in range(1, len(columns)):
        yield from combinations(columns, size)


EXACT_COLUMNS = 8
"""With more columns than this, shares come from sampled orders: all subsets would take too long."""
ORDERS = 32


def column_risks(cells: Counts, people: Ints | None = None) -> tuple[ColumnRisk, ...]:
    """What every column adds to the average prosecutor risk, the largest share first.

    Where `people` says whose each distinct row is, the risk is that of people. The sum of all risks
    is the number of groups where everyone has one row.
    """
    columns = len(cells.names)
    records = max(_records(cells, people), 1)
    known: dict[frozenset[int], float] = {frozenset(): 1}

    def groups(of: frozenset[int]) -> float:
        if of not in known:
            known[of] = _sum_of_risks(cells, sorted(of), people)
        return known[of]

    gains = _gains if columns <= EXACT_COLUMNS else _sampled_gains
    shares = _shares(gains(groups, columns))
    everything = frozenset(range(columns))
    risks = []
    for j, name in enumerate(cells.names):
        risk = ColumnRisk(
            column=name,
            values=_groups(cells, [j]),
            alone=groups(frozenset({j})) / records,
            without=groups(everything - {j}) / records,
            share=shares[j],
            uniques_without=_uniques(cells, sorted(everything - {j}), people),
        )
        risks.append(risk)
    # Equal shares may differ in their last digits: those stay in the order of the columns.
    return tuple(sorted(risks, key=lambda risk: -round(risk.share, 12)))


def _shares(gains: Sequence[float]) -> list[float]:
    """What each adds as a share of all; equal shares where nothing adds anything."""
    whole = sum(gains)
    if not whole:
        return [1 / len(gains)] * len(gains)
    return [gain / whole for gain in gains]


def _gains(groups: Callable[[frozenset[int]], float], columns: int) -> list[float]:
    """What every column adds to the number of groups, on average over all orders of the columns."""
    everything = frozenset(range(columns))
    gain = [0.0] * columns
    for j in everything:
        for size in range(columns):
            # Shapley's weight: in how many orders just these columns come before.
            weight = 1 / (columns * comb(columns - 1, size))
            for before in combinations(everything - {j}, size):
                others = frozenset(before)
                gain[j] += weight * (groups(others | {j}) - groups(others))
    return gain


def _sampled_gains(groups: Callable[[frozenset[int]], float], columns: int) -> list[float]:
    """The same, on average over some orders, each with its reverse."""
    # A measurement, not a release: the same table gives the same shares.
    chance = np.random.default_rng(0)
    gain = [0.0] * columns
    for _ in range(ORDERS // 2):
        order = chance.permutation(columns).tolist()
        for direction in (order, order[::-1]):
            before: frozenset[int] = frozenset()
            for j in direction:
                after = before | {j}
                gain[j] += (groups(after) - groups(before)) / ORDERS
                before = after
    return gain


def crowds_of_people(around: Ints, people: Ints) -> Ints:
    """Among how many people each person hides where they are most exposed.

    `around` has the number of people around every row, and `people` says whose row it is.
    """
    crowds = np.full(int(people.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(crowds, people, around)
    return crowds


def _own_crowds(cells: Counts, columns: Sequence[int], people: Ints) -> Ints:
    """For every person, how many people have a row like one of theirs by some columns.

    Of a person's rows, the one that is shared by the fewest people counts.
    """
    key, size = _keys(cells, columns)
    number = max(_records(cells, people), 1)
    if size * number >= 1 << 62:
        key = _numbered(key)
    # Each person once in every group, however many rows they have there. Sorting numbers is several
    # times as fast as numbering the groups first.
    pairs = key * number + people
    pairs.sort()
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    key, person = np.divmod(pairs, number)
    group = np.cumsum(np.diff(key, prepend=-1) != 0) - 1
    around = np.bincount(group)[group]
    return crowds_of_people(around, person)


def _sum_of_risks(cells: Counts, columns: Sequence[int], people: Ints | None) -> float:
    if people is None:
        return _groups(cells, columns)
    return float((1 / _own_crowds(cells, columns, people)).sum())


def _groups(cells: Counts, columns: Sequence[int]) -> int:
    """The number of groups by some columns."""
    key, size = _keys(cells, columns)
    if size <= DENSE * cells.distinct:
        return int(np.count_nonzero(np.bincount(key, minlength=size)))
    key.sort()
    return int(np.count_nonzero(np.diff(key))) + bool(len(key))


def _uniques(cells: Counts, columns: Sequence[int], people: Ints | None = None) -> int:
    """The number of records, or of people, that are unique by some columns."""
    if people is not None:
        return int((_own_crowds(cells, columns, people) == 1).sum())
    key, size = _keys(cells, columns)
    if size <= DENSE * cells.distinct:
        return int((np.bincount(key, cells.count, size) == 1).sum())
    # The last bit says that a row occurs more than once; a unique one has it unset and no neighbour
    # with its key.
    key = 2 * key + (cells.count > 1)
    key.sort()
    first = np.diff(key >> 1, prepend=-1) != 0
    last = np.append(first[1:], True)
    once = key % 2 == 0
    return int((first & last & once).sum())


DENSE = 4
"""Counting into an array pays up to this many places per row; beyond, sorting is faster."""


def _keys(cells: Counts, columns: Sequence[int]) -> tuple[Ints, int]:
    """One integer per row, the same for equal rows, and a bound on them."""
    key = np.zeros(cells.distinct, dtype=np.int64)
    size = 1
    for j in columns:
        card = cells.cards[j]
        if size * card >= 1 << 62:
            # The next column would not fit: number only the combinations that occur.
            key = _numbered(key)
            size = len(key)
        key = key * card + cells.codes[j]
        size *= card
    return key, size


def _numbered(key: Ints) -> Ints:
    """The number of every key among those that occur."""
    _, number = np.unique(key, return_inverse=True)
    return number.astype(np.int64)


SMALL_SAMPLE = 0.1
"""Samples up to this share of the population are Pitman's (Dankar et al. 2012)."""


def population_uniqueness(sizes: Ints, fraction: Fraction | float) -> PopulationUniqueness:
    """How much of the population is unique in it, estimated from a sample.

    The sample is given by its group sizes, and holds a `fraction` of the population.
    """
    records = int(sizes.sum())
    population = 0
    if fraction:
        population = max(round(records / fraction), records)
    if not population or not (sizes == 1).any():
        # Nobody who is not unique in the sample is unique in the population.
        none = 0.0 if population else None
        return PopulationUniqueness(population, float(fraction), none, none, none, none, None)

    share = records / population
    size, number = np.unique(sizes, return_counts=True)
    estimates = {
        "pitman": _share_of(population, _pitman(size, number, population)),
        "zayatz": _share_of(population, _zayatz(size, number, population)),
        "snb": _share_of(population, _snb(size, number, share)),
    }
    model = _chosen_model(estimates, share)
    estimate = estimates[model]
    return PopulationUniqueness(
        population=population,
        fraction=float(fraction),
        pitman=estimates["pitman"],
        zayatz=estimates["zayatz"],
        snb=estimates["snb"],
        estimate=estimate,
        model=None if estimate is None else model,
    )


def _share_of(population: int, uniques: float | None) -> float | None:
    """An estimate as a share, None where it is not possible."""
    if uniques is None or not isfinite(uniques):
        return None
    if not 0 <= uniques <= population:
        return None
    return uniques / population


def _chosen_model(estimates: Mapping[str, float | None], share: float) -> str:
    """Dankar's rule: for a sample that holds a share of the population."""
    zayatz = estimates["zayatz"]
    snb = estimates["snb"]
    if share <= SMALL_SAMPLE:
        return "zayatz" if estimates["pitman"] is None else "pitman"
    if snb is not None and (zayatz is None or snb <= zayatz):
        return "snb"
    return "zayatz"


def _zayatz(size: Ints, number: Ints, population: int) -> float | None:
    """Population uniques, if the population's groups are as large as the sample's.

    By Bayes' theorem, for drawing exactly one record of a group.
    """
    records = int(size @ number)

    def one_of(of: int) -> float:
        """The chance that a sample has exactly one of `of` people (hypergeometric)."""
        if of - 1 > population - records:
            return 0.0
        others = _choose(population - of, records - 1)
        return exp(log(of) + others - _choose(population, records))

    ones = int(number[size == 1].sum())
    groups = zip(size.tolist(), number.tolist(), strict=True)
    single = sum(groups_of_size * one_of(people) for people, groups_of_size in groups)
    # The share of sample uniques that are unique in the population.
    stay: float = ones * one_of(1) / single
    return stay * ones * population / records


def _choose(n: int, k: int) -> float:
    """The logarithm of how many ways there are to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _pitman(size: Ints, number: Ints, population: int) -> float | None:
    """Expected population uniques under Pitman's sampling formula.

    Its parameters θ and 0 < α < 1 are those of maximum likelihood.
    """
    records = int(size @ number)
    groups = int(number.sum())
    if not 1 < groups < records:
        # One group, or no two records alike: the likelihood has no maximum.
        return None
    repeats = number.astype(np.float64)

    def theta(alpha: float) -> float:
        """Where the likelihood's slope in θ is 0, for one α.

        The slope falls from +∞ at θ = −α to below 0.
        """

        def slope(shift: float) -> float:
            t = shift - alpha
            rising = (_digamma(t / alpha + groups) - _digamma(t / alpha + 1)) / alpha
            falling = _digamma(t + records) - _digamma(t + 1)
            return rising - falling

        return _root(slope, 1e-12, 1e3 * records**2) - alpha

    def slope(alpha: float) -> float:
        """The likelihood's slope in α along the best θ."""
        t = theta(alpha)
        first = (_digamma(t / alpha + groups) - _digamma(t / alpha + 1)) / alpha
        by_size = np.array([_digamma(s - alpha) for s in size.tolist()])
        between = by_size - _digamma(1 - alpha)
        return (groups - 1 - t * first) / alpha - float(repeats @ between)

    alpha = _root(slope, 1e-4, 1 - 1e-9)
    t = theta(alpha)
    if not (isfinite(alpha) and isfinite(t)):
        return None
    # E = N Γ(θ+α+N−1) Γ(θ+1) / (Γ(θ+α) Γ(θ+N)), for large N the better known Γ(θ+1)/Γ(θ+α) N^α
    grown = lgamma(t + alpha + population - 1) - lgamma(t + population)
    return exp(log(population) + grown + lgamma(t + 1) - lgamma(t + alpha))


def _snb(size: Ints, number: Ints, fraction: float) -> float | None:
    """Population uniques if group sizes less one are negative binomial (α, β).

    The parameters are matched to the sample's groups of one and two.
    """
    ones = float(number[size == 1].sum())
    twos = float(number[size == 2].sum())
    if not twos or fraction >= 1:
        return None
    groups = _shlosser(size, number, fraction)

    def misfit(at: Floats) -> Floats:
        """Log of expected over seen groups of one and of two, at (log α, logit β)."""
        alpha = np.exp(at[0])
        beta = 1 / (1 + np.exp(-at[1]))
        lost = (1 - fraction) * (1 - beta)
        base = log(groups * fraction) + alpha * (np.log(beta) - np.log(1 - lost))
        single = base + np.log(1 + alpha * lost / (1 - lost))
        drawn_twice = fraction / 2 * alpha * (1 - beta) / (1 - lost) ** 2
        double = base + np.log(drawn_twice * (2 - (1 - alpha) * lost))
        return np.stack((single - log(ones), double - log(twos)))

    # Newton's steps start where the misfit is least on a grid.
    axes = np.meshgrid(np.linspace(-8, 8, 65), np.linspace(-14, 8, 89), indexing="ij")
    grid = np.stack(axes).reshape(2, -1)
    squares = (misfit(grid) ** 2).sum(axis=0)
    at = _newton(misfit, grid[:, np.argmin(squares)])
    if at is None:
        return None
    # β^α of all groups have one member.
    minus_log_beta = float(np.log1p(np.exp(-at[1])))
    return groups * exp(-exp(at[0]) * minus_log_beta)


def _shlosser(size: Ints, number: Ints, fraction: float) -> float:
    """The number of groups in the population: Shlosser's estimator.

    As modified by Haas and Stokes (1998).
    """
    s = size.astype(np.float64)
    n = number.astype(np.float64)
    missed = (1 - fraction) ** s
    drawn_once = s * fraction * (1 - fraction) ** (s - 1)
    square = fraction**2
    over = float((s * square * (1 - square) ** (s - 1)) @ n)
    under = float(((1 - square) ** s - missed) @ n)
    first = over / under
    second = float(missed @ n) / float(drawn_once @ n)
    ones = float(n[size == 1].sum())
    return float(n.sum()) + ones * first * second**2


def _newton(misfit: Callable[[Floats], Floats], start: Floats) -> Floats | None:
    """A zero of two functions of two variables by damped Newton steps; None if they fail."""
    step = 1e-6
    at = start
    now = misfit(at)
    for _ in range(100):
        worst = _largest(now)
        if worst < 1e-10:
            return at
        slopes = [(misfit(at + d) - misfit(at - d)) / (2 * step) for d in step * np.eye(2)]
        try:
            move = np.linalg.solve(np.column_stack(slopes), now)
        except np.linalg.LinAlgError:
            return None
        # Halve the step until it helps; a comparison with NaN is false, and halves too.
        scale = min(1.0, 2 / _largest(move))
        while scale > 1e-6 and not _largest(misfit(at - scale * move)) < worst:
            scale /= 2
        at = at - scale * move
        now = misfit(at)
    return None


def _largest(values: npt.NDArray[np.floating]) -> float:
    return float(np.abs(values).max())


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a function falls through 0 between two positive numbers, NaN where it does not."""
    if not (falling(low) > 0 > falling(high)):
        return nan
    for _ in range(200):
        # The bounds may differ by many orders of magnitude: halve the distance of their logarithms.
        middle = sqrt(low * high)
        if not low < middle < high:
            break
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return low


def _digamma(x: float) -> float:
    """The logarithmic derivative of Γ for x > 0.

    Its recurrence is used up to 10, then its asymptotic series (error below 1e-13).
    """
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return shift + log(x) - 1 / (2 * x) - series
