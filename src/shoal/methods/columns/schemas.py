"""Schemas: which columns belong into one group. `Columns` uses it.

Here are similarities of columns, bought ones too, and k-medoids. A schema that is computed from a
public table costs nothing. One that is computed from the private table is bought: only noisy whole
numbers of bounded sensitivity are looked at, and what is done with them afterwards costs nothing
more. The bounds are proven in docs/proofs/columns.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts, group
from shoal.data import free_memory
from shoal.errors import InternalError, TooLargeError
from shoal.exact.epsilon import Epsilon
from shoal.privacy.noise import noise_scale

__all__ = [
    "Groups",
    "Pairs",
    "bought_association",
    "bought_pairs",
    "clustered",
    "contingency",
    "k_medoids",
    "noised",
    "pairs_of",
    "similarity",
]

Ints = npt.NDArray[np.int64]
Groups = tuple[tuple[int, ...], ...]
"""Groups of columns, each by the columns' places."""

SAME = 1 << 30
"""A similarity of 1: similarities are whole multiples of 1 / SAME, lest sums depend on the order in
which they are added.
"""

ASSOCIATION = 2
"""By how much one record moves ½Σ|n_xy − n_x n_y / n| at most, also rounded down: lemma 4."""


_MOST_RECORDS = 1 << 31
"""Twice its square is the largest number of a machine word."""

_AT_ONCE = 1 << 22
"""Pairs of rows that are looked at together."""


def clustered(distance: Ints, groups: Sequence[int]) -> Groups:
    """The groups of one clustering into that many groups, or of several, one after the other.

    Equal groups once.
    """
    found: dict[tuple[int, ...], None] = {}
    for number in groups:
        if number > len(distance):
            raise InternalError("a clustering was asked for more groups than there are columns")
        found |= dict.fromkeys(k_medoids(distance, number))
    return tuple(found)


def k_medoids(distance: Ints, groups: int) -> Groups:
    """A partition around medoids (PAM): BUILD, then the best swap of a medoid while one helps.

    Ties go to the first column. `distance` is symmetric, of whole numbers of at least 0, and 0 on
    the diagonal. Groups are in the order of their first column.

    >>> k_medoids(np.array([[0, 1, 9], [1, 0, 8], [9, 8, 0]]), 2)
    ((0, 1), (2,))
    """
    number = len(distance)
    far = int(distance.max(initial=0)) + 1  # where there is no second medoid
    medoids: list[int] = []
    nearest = np.full(number, far, dtype=np.int64)
    for _ in range(groups):
        gains = np.maximum(nearest[:, None] - distance, 0).sum(axis=0)
        gains[medoids] = -1
        medoids.append(int(gains.argmax()))
        nearest = np.minimum(nearest, distance[:, medoids[-1]])
    medoids.sort()
    while True:
        # Column o costs its distance to the nearest medoid. If medoid m makes way for h, it costs
        # the distance to h if that is nearer; else, where m was its nearest, that to the second
        # nearest or to h.
        to = distance[:, medoids]
        order = np.argsort(to, axis=1, kind="stable")
        own = order[:, 0]
        first = to[np.arange(number), own]
        second = to[np.arange(number), order[:, 1]] if groups > 1 else np.full(number, far)
        nearer = np.minimum(distance - first[:, None], 0)
        away = np.minimum(distance, second[:, None]) - first[:, None] - nearer
        by_medoid = np.argsort(own, kind="stable")
        change = np.zeros((groups, number), dtype=np.int64)
        served, starts = np.unique(own[by_medoid], return_index=True)
        change[served] = np.add.reduceat(away[by_medoid], starts, axis=0)
        change += nearer.sum(axis=0)
        change[:, medoids] = 0
        place, column = divmod(int(change.argmin()), number)
        if change[place, column] >= 0:
            break
        medoids[place] = column
        medoids.sort()
    own[medoids] = np.arange(groups)  # also where another medoid is at distance 0
    members = [tuple(np.flatnonzero(own == place).tolist()) for place in range(groups)]
    return tuple(sorted(members))


# Columns of categories


def contingency(counts: Counts) -> Ints:
    """Distances of columns: 1 minus the mean-square contingency φ² = χ² / (n · (min(r, c) − 1)).

    In multiples of 1 / SAME.
    """

    def phi(x: Ints, y: Ints, cells: Ints, records: int) -> int:
        smaller = min(int((x > 0).sum()), int((y > 0).sum())) - 1
        if smaller <= 0:
            return SAME
        of_x, of_y, both = cells
        share = float((both / x[of_x] * (both / y[of_y])).sum()) - 1
        return SAME - round(min(max(share / smaller, 0.0), 1.0) * SAME)

    return _each_pair(counts, phi)


def bought_association(counts: Counts, epsilon: Epsilon, chance: Chance) -> Ints:
    """Distances of columns from noisy associations ½Σ|n_xy − n_x n_y / n|, rounded down.

    All of them together spend ε.
    """

    def association(x: Ints, y: Ints, cells: Ints, records: int) -> int:
        # Σ|n·n_xy − n_x·n_y| over all cells; the n_x·n_y of the empty ones are what others lack to
        # n². It is at most 2n².
        of_x, of_y, both = cells
        expected = x[of_x] * y[of_y]
        apart = int(abs(both * records - expected).sum()) + records**2 - int(expected.sum())
        return apart // (2 * records) if records else 0

    if counts.total >= _MOST_RECORDS:
        raise TooLargeError(
            "a schema can be bought from fewer than 2³¹ records only",
            "give one, or compute it from a public table",
        )
    exact = _each_pair(counts, association)
    upper = np.triu_indices(len(exact), 1)
    noisy = noised(exact[upper], ASSOCIATION * len(upper[0]), epsilon, chance)
    distance = np.zeros_like(exact)
    distance[upper] = noisy.max(initial=0) - noisy
    return distance + distance.T


def noised(exact: Ints, sensitivity: int, epsilon: Epsilon, chance: Chance) -> Ints:
    """Whole numbers with discrete Laplace noise.

    That is ε-differentially private where one record moves their sum by the sensitivity.
    """
    if not len(exact):
        return exact
    return exact + chance.discrete_laplaces(noise_of(sensitivity, epsilon), len(exact))


def noise_of(sensitivity: int, epsilon: Epsilon) -> Fraction:
    """The scale of that noise; ParameterError if no number could be told from it."""
    return noise_scale(epsilon * Fraction(1, max(sensitivity, 1)))


def _each_pair(counts: Counts, measure: Callable[[Ints, Ints, Ints, int], int]) -> Ints:
    """A measure of every pair of columns.

    It is given how often each value of either occurs; of every cell that occurs its two values and
    how often; and the records.
    """
    columns = [codes.astype(np.int64) for codes in counts.codes]
    _require(len(columns))
    # Exact: below 2⁵³, floats are.
    singles = [
        np.bincount(codes, counts.count, card).astype(np.int64)
        for codes, card in zip(columns, counts.cards, strict=True)
    ]
    measured = np.zeros((len(columns), len(columns)), dtype=np.int64)
    for x, y in combinations(range(len(columns)), 2):
        cells = _cells(counts, columns, x, y)
        value = measure(singles[x], singles[y], cells, counts.total)
        measured[x, y] = measured[y, x] = value
    return measured


def _cells(counts: Counts, columns: Sequence[Ints], x: int, y: int) -> Ints:
    """The values of two columns that occur together, and how often; by counting if they are few."""
    cards = counts.cards[x], counts.cards[y]
    size = cards[0] * cards[1]
    if size <= max(4 * counts.distinct, 1 << 16):
        both = columns[x] * cards[1] + columns[y]
        table = np.bincount(both, counts.count, size).astype(np.int64)
        at = np.flatnonzero(table)
        return np.stack([*np.divmod(at, cards[1]), table[at]])
    pairs = group(("x", "y"), (counts.codes[x], counts.codes[y]), cards, counts.count)
    values = [codes.astype(np.int64) for codes in pairs.codes]
    return np.stack([*values, pairs.count])


def _require(columns: int) -> None:
    """TooLargeError if the matrices that a clustering of that many columns takes would not fit.

    Up to eight are needed at a time.
    """
    free_memory.require(
        64 * columns**2,
        f"a schema for {columns:,} columns",
        "group fewer of them, or give a schema",
    )


# Items of the long form


@dataclass(frozen=True)
class Pairs:
    """How many people gave each item, each two items, and each two items the same value.

    Of two items the first is below the second.
    """

    single: Ints
    both: Ints
    same: Ints


def pairs_of(
    person: Ints, item: npt.NDArray[np.integer], value: npt.NDArray[np.integer], items: int
) -> Pairs:
    """Counted over rows that are sorted by person, then by item, each item once for a person."""
    _require(items)
    both, same = (np.zeros(items * items, dtype=np.int64) for _ in range(2))
    last = np.searchsorted(person, person, side="right") - 1  # of the person's rows
    left = np.arange(len(person))
    apart = 0
    while len(left):
        apart += 1
        left = left[left + apart <= last[left]]
        for start in range(0, len(left), _AT_ONCE):
            first = left[start : start + _AT_ONCE]
            second = first + apart
            place = item[first].astype(np.int64) * items + item[second]
            both += np.bincount(place, minlength=items * items)
            alike = value[first] == value[second]
            same += np.bincount(place[alike], minlength=items * items)
    return Pairs(
        np.bincount(item, minlength=items), both.reshape(items, items), same.reshape(items, items)
    )


def bought_pairs(pairs: Pairs, looked_at: int, epsilon: Epsilon, chance: Chance) -> Pairs:
    """The same with noise that spends ε, where no person gave more than `looked_at` items.

    A person with m items is in m single counts, and in m(m − 1)/2 pairs, each counted once or
    twice: m² in all.
    """
    upper = np.triu_indices(len(pairs.single), 1)
    exact = np.concatenate([pairs.single, pairs.both[upper], pairs.same[upper]])
    noisy = noised(exact, looked_at**2, epsilon, chance)
    items = len(pairs.single)
    single, both, same = np.split(noisy, [items, items + len(upper[0])])
    matrices = []
    for numbers in (both, same):
        matrices.append(np.zeros_like(pairs.both))
        matrices[-1][upper] = numbers
    return Pairs(single, *matrices)


def similarity(pairs: Pairs) -> Ints:
    """Distances of items: 1 minus (people who gave both the same value) / (people who gave either).

    In multiples of 1 / SAME. Noisy numbers may be out of range: a similarity is at least 0 and at
    most 1.
    """
    singles = pairs.single[:, None] + pairs.single[None, :]
    either = np.maximum(singles - pairs.both - pairs.both.T, 1)
    same = np.clip(pairs.same + pairs.same.T, 0, either)
    distance: Ints = SAME - (same / either * SAME).astype(np.int64)
    np.fill_diagonal(distance, 0)
    return distance
