"""What released ratings are still good for: a matrix-factorisation predictor, and its error. Uses
`tables`; the owner asks it.

`rmse` trains the predictor on a release and on the input, and lets both predict ratings that were
held out, each from the other ratings of the same person. It tells about the input, like everything
that compares with it, and no promise covers it.

The predictor is our own, as none of the libraries fits: scikit-surprise and LensKit take no
weights, implicit has no explicit ratings, cornac folds nobody in, cmfrec does all of it and has to
be compiled. A rating is taken to be

    mean of the item + habit of the person + taste of the person · factors of the item + noise,

all of them normal. Released records are short (one to three ratings), so that a person's taste is
never known well. Alternating least squares would take its guess for the truth; here the guess keeps
its variance, which is the EM algorithm for the same model, and the variances of habits, factors and
noise are learnt too, so that there is no ridge to tune. A released record that stands for n people
counts n times. Items that no chain of records joins (column groups that share no item) have tastes
of their own, as nothing tells how the factors of one group turn into those of another; only the
habit is shared.

The draws here are where the search for factors starts. They decide what is measured, never what is
released, so a seed is an argument.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.kinds import Kind
from shoal.data.tables import Column, Table
from shoal.data.tables import table as as_table
from shoal.errors import InputError, ParameterError
from shoal.exact.numbers import Exact
from shoal.exact.numbers import fraction as exact

__all__ = ["Predictor", "RatingError", "Ratings", "item_means", "rmse", "train"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FACTORS = 4
ROUNDS = 30
START = 0.3
"""The standard deviation of the factors that training starts with, as a share of that of the
ratings.
"""

DAMPING = 5.0
"""How much more single ratings vary than people's habits, to begin with: records of one rating tell
nothing about it, and what is learnt from them keeps it. Recommenders usually damp the mean of a
person by five to ten ratings.
"""

LEAST = 1e-6
"""No variance is taken to be smaller than this share of the ratings' own."""

CHUNK = 1 << 19
"""Ratings that are worked on at a time, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings in long form: whose record, which item, which value; `weight` people have the very
    same record.

    Records and items are whole numbers from 0; ratings of one record stand in any order and share
    one weight.
    """

    record: Ints
    item: Ints
    value: Floats
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.value)

    def only(self, which: npt.NDArray[Any]) -> "Ratings":
        """Some of the ratings, by their places or by yes and no."""
        weight = None if self.weight is None else self.weight[which]
        return Ratings(self.record[which], self.item[which], self.value[which], weight)

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True)
class RatingError:
    """Root-mean-square errors of `asked` ratings, predicted from `known` other ratings of the same
    people.

    `item_means` predicts an item's mean in the input, `original` trains on the input, `released` on
    the release, which has `records` records. An error is None where nothing is asked, or where
    there is nothing to learn from.
    """

    asked: int
    known: int
    records: int
    item_means: float | None
    original: float | None
    released: float | None


def rmse(
    original: Any,
    released: Any,
    *,
    person: str,
    item: str,
    value: str,
    held_out: Any = None,
    share: Exact = 0.1,
    factors: int = FACTORS,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> RatingError:
    """How well ratings are predicted by what is learnt from a release in long form, from the input,
    and by item means.

    original: ratings in long form, a table or a dataframe with the columns `person`, `item` and
    `value`
    released: the same with `record` in place of `person`, and `count` if a record stands for
    several people
    held_out: ratings to predict, of people in the input and not part of it; the release should be
    made without them
    share: of the input's ratings that are held out where `held_out` is not given. The release has
    seen these, if dimly

    >>> import polars as pl, shoal
    >>> seen = pl.DataFrame({"who": [1, 1, 2, 2], "film": ["a", "b", "a", "b"], "stars": [5, 4, 2, 1]})
    >>> asked = pl.DataFrame({"who": [1, 2], "film": ["c", "c"], "stars": [5, 1]})
    >>> shown = seen.rename({"who": "record"})  # no release: as if everything could be shown
    >>> names = {"person": "who", "item": "film", "value": "stars"}
    >>> found = rmse(shoal.table(seen), shown, **names, held_out=shoal.table(asked))
    >>> found.original == found.released < found.item_means
    True
    """
    release = _table(released)
    part = float(exact(share, "share", 0, 1))
    if factors < 0 or rounds < 1:
        raise ParameterError(
            f"factors={factors}, rounds={rounds}; it takes whole numbers, at least 0 and at least 1"
        )
    coder = _Coder()
    known = coder.read(_table(original), person, item, value)
    if held_out is not None:
        asked = coder.read(_table(held_out), person, item, value)
    else:
        chosen = np.random.default_rng(seed).random(len(known)) < part
        known, asked = known.only(~chosen), known.only(chosen)
    count = "count" if "count" in release.names and "count" not in (item, value) else None
    shown = _Coder(coder.items).read(release, "record", item, value, count)
    items = len(coder.items)

    def error(predicted: Floats) -> float:
        return float(np.sqrt(np.mean((asked.value - predicted) ** 2)))

    def learnt(ratings: Ratings) -> float | None:
        if not len(asked) or not len(ratings):
            return None
        return error(
            train(ratings, items, factors=factors, rounds=rounds, seed=seed).predict(
                known, asked.record, asked.item
            )
        )

    means = error(item_means(known, items)[asked.item]) if len(asked) and len(known) else None
    records = float(shown.weights[np.unique(shown.record, return_index=True)[1]].sum())
    return RatingError(len(asked), len(known), round(records), means, learnt(known), learnt(shown))


def _table(given: Any) -> Table:
    return given if isinstance(given, Table) else as_table(given)


def item_means(ratings: Ratings, items: int) -> Floats:
    """The mean value of every item, and of all ratings where an item has none."""
    weight = _some(ratings).weights
    number = np.bincount(ratings.item, weight, items)
    everything = float(weight @ ratings.value) / float(weight.sum())
    sums = np.bincount(ratings.item, weight * ratings.value, items)
    return np.asarray(np.where(number > 0, sums / np.where(number > 0, number, 1), everything))


def _some(ratings: Ratings) -> Ratings:
    if not len(ratings):
        raise InputError("there are no ratings to learn from")
    return ratings


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained model: the mean and the factors of every item, how much people's habits and single
    ratings vary.
    """

    mean: Floats
    factors: Floats
    habit: float
    noise: float
    block: Ints
    """Items of one block share a person's taste."""

    low: float
    high: float

    def predict(self, known: Ratings, record: Ints, item: Ints) -> Floats:
        """The values of asked (record, item) pairs, from the known ratings of the same records;
        weights do not matter.

        Somebody of whom nothing is known is predicted as the average person.
        """
        blocks = int(self.block.max(initial=-1)) + 1
        pair, place = np.unique(
            np.concatenate([known.record, record]) * blocks
            + self.block[np.concatenate([known.item, item])],
            return_inverse=True,
        )
        people, whose = np.unique(pair // max(blocks, 1), return_inverse=True)
        own, asked = place[: len(known)], place[len(known) :]
        size = self.factors.shape[1]
        square, right = _normal(
            own,
            np.c_[self.factors, np.ones(len(self.mean))],
            known.item,
            known.value - self.mean[known.item],
            len(pair),
        )
        taste = square[:, :size, :size] / self.noise + np.eye(size)
        both = np.stack([right[:, :size], square[:, :size, size]], axis=2) / self.noise
        solved = np.linalg.solve(taste, both)
        # A person's habit, with all tastes eliminated: their blocks meet in this one number.
        less = np.einsum("nf,nfj->nj", both[:, :, 1], solved)
        certain = (
            np.bincount(whose, square[:, size, size] / self.noise - less[:, 1], len(people))
            + 1 / self.habit
        )
        habit = (
            np.bincount(whose, right[:, size] / self.noise - less[:, 0], len(people)) / certain
        )[whose]
        tastes = solved[:, :, 0] - solved[:, :, 1] * habit[:, None]
        exactly = (
            self.mean[item]
            + habit[asked]
            + np.einsum("nf,nf->n", tastes[asked], self.factors[item])
        )
        return np.asarray(np.clip(exactly, self.low, self.high))


def train(
    ratings: Ratings, items: int, *, factors: int = FACTORS, rounds: int = ROUNDS, seed: int = 0
) -> Predictor:
    """The model under which the ratings are likely; InputError if there are none."""
    _, record = np.unique(_some(ratings).record, return_inverse=True)
    order = np.argsort(record, kind="stable")
    record, item, weight = record[order], ratings.item[order], ratings.weights[order]
    total = float(weight.sum())
    middle = float(weight @ ratings.value[order]) / total
    unit = float(np.sqrt(weight @ (ratings.value[order] - middle) ** 2 / total)) or 1.0
    value = (ratings.value[order] - middle) / unit  # in standard deviations from here on
    seen = np.bincount(item, minlength=items) > 0
    mean = (item_means(ratings, items) - middle) / unit
    loading = START * np.random.default_rng(seed).normal(size=(items, factors)) * seen[:, None]
    prior = np.full(factors + 1, 0.25)  # variances of the items' factors and, last, of their means
    habit, noise = 1 / (1 + DAMPING), DAMPING / (1 + DAMPING)
    for _ in range(rounds):
        square, right = np.zeros((items, factors + 1, factors + 1)), np.zeros((items, factors + 1))
        habits = squares = people = 0.0
        for part in _chunks(record):
            who, what, heard, counted = (
                record[part] - record[part][0],
                item[part],
                value[part],
                weight[part],
            )
            # Expectation: every record's taste and habit, with their covariance.
            own, pull = _normal(
                who, np.c_[loading, np.ones(items)], what, heard - mean[what], int(who[-1]) + 1
            )
            precision = np.r_[np.ones(factors), 1 / habit]
            covariance = np.linalg.inv(own / noise + np.diag(precision))
            guess = np.einsum("nij,nj->ni", covariance, pull / noise)
            alike = np.zeros(len(guess))
            alike[who] = counted
            people += float(alike.sum())
            habits += float(alike @ (guess[:, factors] ** 2 + covariance[:, factors, factors]))
            left = (
                heard
                - mean[what]
                - np.einsum("ni,ni->n", np.c_[loading[what], np.ones(len(what))], guess[who])
            )
            unsure = factors + 1 - np.einsum("nii,i->n", covariance, precision)
            squares += float(counted @ left**2) + noise * float(alike @ unsure)
            # Maximisation: what every item would have to be, given these.
            seconds = guess[:, :, None] * guess[:, None, :] + covariance
            several = counted * (np.bincount(who) > 1)[who]
            _add(square, right, what, several, heard, guess[who], seconds, who)
            # A record of one rating tells the item's mean; of its factors it cannot tell more than
            # how much they vary.
            single = counted - several
            square[:, factors, factors] += np.bincount(what, single, items)
            right[:, factors] += np.bincount(what, single * (left + mean[what]), items)
        shrunk = square + np.eye(factors + 1) * (noise / prior)
        solution = np.asarray(
            np.linalg.solve(shrunk, right[:, :, None])[:, :, 0], dtype=np.float64
        )  # 0 for items not there
        loading, mean = solution[:, :factors], solution[:, factors]
        variance = noise * np.linalg.inv(shrunk[seen])[:, range(factors + 1), range(factors + 1)]
        prior[:] = np.maximum((solution[seen] ** 2 + variance).mean(axis=0), LEAST)
        habit, noise = max(habits / people, LEAST), max(squares / total, LEAST)
    low, high = float(ratings.value.min()), float(ratings.value.max())
    return Predictor(
        mean * unit + middle,
        loading * unit,
        habit * unit**2,
        noise * unit**2,
        _blocks(record, item, items),
        low,
        high,
    )


def _normal(
    record: Ints, design: Floats, item: Ints, value: Floats, records: int
) -> tuple[Floats, Floats]:
    """For every record Σ x xᵀ and Σ x · value over its ratings, where x is the item's row of the
    design.
    """
    size = design.shape[1]
    square, right = np.empty((records, size, size)), np.empty((records, size))
    for a in range(size):
        x = design[item, a]
        right[:, a] = np.bincount(record, x * value, records)
        for b in range(a, size):
            square[:, a, b] = square[:, b, a] = np.bincount(record, x * design[item, b], records)
    return square, right


def _add(
    square: Floats,
    right: Floats,
    item: Ints,
    weight: Floats,
    value: Floats,
    guess: Floats,
    seconds: Floats,
    record: Ints,
) -> None:
    """Add to every item's normal equations Σ E[y yᵀ] and Σ E[y · (value − habit)] over its ratings,
    where y is (taste, 1).
    """
    items, size = right.shape
    last = size - 1
    for a in range(size):
        habits = seconds[record, a, last] if a < last else guess[:, last]
        first = guess[:, a] if a < last else 1.0
        right[:, a] += np.bincount(item, weight * (first * value - habits), items)
        for b in range(a, size):
            both = seconds[record, a, b] if b < last else np.broadcast_to(first, len(item))
            added = np.bincount(item, weight * both, items)
            square[:, a, b] += added
            if a != b:
                square[:, b, a] += added


def _chunks(record: Ints) -> Iterator[slice]:
    """Ranges of ratings that hold whole records, from records in order."""
    start = 0
    while start < len(record):
        end = start + CHUNK
        if end < len(record):
            first = int(np.searchsorted(record, record[end]))
            end = (
                first if first > start else int(np.searchsorted(record, record[end], side="right"))
            )
        yield slice(start, end)
        start = end


def _blocks(record: Ints, item: Ints, items: int) -> Ints:
    """Which items a chain of records joins: a number for every such set, from records in order."""
    first = np.r_[True, record[1:] != record[:-1]]
    leader = item[np.flatnonzero(first)[np.cumsum(first) - 1]]
    joined = np.unique(leader * items + item)
    one, other = joined // items, joined % items
    label = np.arange(items)
    while True:
        least = label.copy()
        np.minimum.at(least, one, label[other])
        np.minimum.at(least, other, label[one])
        least = least[least]
        if (least == label).all():
            return np.unique(label, return_inverse=True)[1]
        label = least


class _Coder:
    """Reads tables of ratings, all with the same numbers for people and for items."""

    def __init__(self, items: dict[str, int] | None = None) -> None:
        self.items: dict[str, int] = {} if items is None else items
        self.people: dict[str, int] = {}

    def read(
        self, table: Table, person: str, item: str, value: str, count: str | None = None
    ) -> Ratings:
        """The ratings of a table; rows without a person, an item or a value are none."""
        whose, what, heard = table.columns([person, item, value])
        record, code = _numbered(whose, self.people), _numbered(what, self.items)
        values = _numbers(heard)
        there = (record >= 0) & (code >= 0) & ~np.isnan(values)
        weight = None
        if count is not None:
            weight = _numbers(table.column(count))
            there &= weight > 0
        return Ratings(record, code, values, weight).only(there)


def _numbered(column: Column, number_of: dict[str, int]) -> Ints:
    """The number of every row's value, a new one where it has none yet; −1 for a missing one."""
    pairs = zip(column.keys, column.labels, strict=True)
    places = [
        -1 if key is None else number_of.setdefault(text, len(number_of)) for key, text in pairs
    ]
    return np.array(places, dtype=np.int64)[column.codes]


def _numbers(column: Column) -> Floats:
    """Every row's value as a number, NaN for a missing one."""
    return np.array(Kind.FLOAT.keys(column.labels, column.name), dtype=np.float64)[column.codes]
