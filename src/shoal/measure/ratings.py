"""What released ratings are still good for: a matrix-factorisation predictor, and its error.

`rmse` trains the predictor on a release and on the input, and lets both predict ratings that were
held out, each from the other ratings of the same person. It reveals information about the input,
like everything that compares with it, and no promise covers it.

The predictor is our own, as none of the libraries fits: scikit-surprise and LensKit take no
weights, implicit has no explicit ratings, cornac folds nobody in, cmfrec does all of it and has to
be compiled. A rating is taken to be

    mean of the item + habit of the person + taste of the person · factors of the item + noise,

all of them normal. Released records are short (one to three ratings), so that a person's taste is
never known well. Alternating least squares would take its guess for the truth; here the guess keeps
its variance, which is the EM algorithm for the same model, and the variances of habits, factors and
noise are learnt too, so that there is no ridge to tune. A released record that stands for n people
counts n times. Items that no chain of records joins (column groups that share no item) have tastes
of their own, as nothing says how the factors of one group turn into those of another; only the
habit is shared.

The draws here are where the search for factors starts. They decide what is measured, never what is
released, so a seed is an argument. Uses tables; the owner uses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed_fields
from shoal.data.kinds import Kind
from shoal.data.tables import Column, Table
from shoal.data.tables import table as as_table
from shoal.errors import InputError
from shoal.exact.numbers import Exact, fraction, whole

__all__ = ["Predictor", "RatingError", "Ratings", "Training", "item_means", "rmse", "train"]

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
    """Ratings in long form: whose record, which item, which value.

    `weight` people have the very same record.

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
        weight = self.weight
        if weight is not None:
            weight = weight[which]
        return Ratings(self.record[which], self.item[which], self.value[which], weight)

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True)
class RatingError:
    """Root-mean-square errors of predicted ratings.

    `asked` ratings are predicted from `known` other ratings of the same people.

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


@typed_fields
@dataclass(frozen=True)
class Training:
    """How a predictor is trained: the number of factors, the rounds, and the seed of the start."""

    factors: int = FACTORS
    rounds: int = ROUNDS
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.factors, "factors", 0)
        whole(self.rounds, "rounds")


def rmse(
    original: Any,
    released: Any,
    *,
    person: str,
    item: str,
    value: str,
    held_out: Any = None,
    share: Exact = 0.1,
    training: Training | None = None,
) -> RatingError:
    """How well a release in long form predicts ratings, compared with the input and item means.

    original: ratings in long form, a table or a dataframe with the columns `person`, `item` and
    `value`
    released: the same with `record` in place of `person`, and `count` if a record stands for
    several people
    held_out: ratings to predict, of people in the input and not part of it; the release should be
    made without them
    share: of the input's ratings that are held out where `held_out` is not given, chosen by the
    seed of the training. The release has seen these, if dimly

    >>> import polars as pl, shoal
    >>> stars = {"who": [1, 1, 2, 2], "film": ["a", "b", "a", "b"], "stars": [5, 4, 2, 1]}
    >>> seen = pl.DataFrame(stars)
    >>> asked = pl.DataFrame({"who": [1, 2], "film": ["c", "c"], "stars": [5, 1]})
    >>> shown = seen.rename({"who": "record"})  # no release: as if everything could be shown
    >>> names = {"person": "who", "item": "film", "value": "stars"}
    >>> error = rmse(shoal.table(seen), shown, **names, held_out=shoal.table(asked))
    >>> error.original == error.released < error.item_means
    True
    """
    how = training or Training()
    release = _table(released)
    part = float(fraction(share, "share", 0, 1))
    coder = _Coder()
    known = coder.read(_table(original), person, item, value)
    if held_out is not None:
        asked = coder.read(_table(held_out), person, item, value)
    else:
        chosen = np.random.default_rng(how.seed).random(len(known)) < part
        asked = known.only(chosen)
        known = known.only(~chosen)
    count = None
    if "count" in release.names and "count" not in (item, value):
        count = "count"
    shown = _Coder(coder.items).read(release, "record", item, value, count)
    items = len(coder.items)

    def error(predicted: Floats) -> float:
        return float(np.sqrt(np.mean((asked.value - predicted) ** 2)))

    def learnt(ratings: Ratings) -> float | None:
        if not len(asked) or not len(ratings):
            return None
        predictor = train(ratings, items, how)
        return error(predictor.predict(known, asked.record, asked.item))

    means = None
    if len(asked) and len(known):
        means = error(item_means(known, items)[asked.item])
    _, first = np.unique(shown.record, return_index=True)
    records = round(float(shown.weights[first].sum()))
    return RatingError(
        asked=len(asked),
        known=len(known),
        records=records,
        item_means=means,
        original=learnt(known),
        released=learnt(shown),
    )


def _table(given: Any) -> Table:
    return given if isinstance(given, Table) else as_table(given)


def item_means(ratings: Ratings, items: int) -> Floats:
    """The mean value of every item, and of all ratings where an item has none."""
    weight = _some(ratings).weights
    number = np.bincount(ratings.item, weight, items)
    sums = np.bincount(ratings.item, weight * ratings.value, items)
    overall = float(weight @ ratings.value) / float(weight.sum())
    rated = number > 0
    means = sums / np.where(rated, number, 1)
    return np.asarray(np.where(rated, means, overall))


def _some(ratings: Ratings) -> Ratings:
    if not len(ratings):
        raise InputError("there are no ratings to learn from")
    return ratings


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained model.

    It has the mean and the factors of every item, and how much people's habits and single ratings
    vary.
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
        """The values of asked (record, item) pairs, from the known ratings of the same records.

        Weights do not matter.

        Somebody of whom nothing is known is predicted as the average person.
        """
        # A person has a taste for every block: number the pairs of both that occur.
        blocks = int(self.block.max(initial=-1)) + 1
        block = self.block[np.concatenate([known.item, item])]
        keys = np.concatenate([known.record, record]) * blocks + block
        pair, place = np.unique(keys, return_inverse=True)
        people, person_of_pair = np.unique(pair // max(blocks, 1), return_inverse=True)
        rated = place[: len(known)]
        asked = place[len(known) :]

        size = self.factors.shape[1]
        design = np.c_[self.factors, np.ones(len(self.mean))]
        apart = known.value - self.mean[known.item]
        square, right = _normal(rated, design, known.item, apart, len(pair))
        taste = square[:, :size, :size] / self.noise + np.eye(size)
        both = np.stack([right[:, :size], square[:, :size, size]], axis=2) / self.noise
        solved = np.linalg.solve(taste, both)

        # A person's habit, with all tastes eliminated: their blocks meet in this one number.
        less = np.einsum("nf,nfj->nj", both[:, :, 1], solved)
        certain = square[:, size, size] / self.noise - less[:, 1]
        pull = right[:, size] / self.noise - less[:, 0]
        precision = np.bincount(person_of_pair, certain, len(people)) + 1 / self.habit
        habits = np.bincount(person_of_pair, pull, len(people)) / precision
        habit = habits[person_of_pair]

        tastes = solved[:, :, 0] - solved[:, :, 1] * habit[:, None]
        liking = np.einsum("nf,nf->n", tastes[asked], self.factors[item])
        predicted = self.mean[item] + habit[asked] + liking
        return np.asarray(np.clip(predicted, self.low, self.high))


def train(ratings: Ratings, items: int, training: Training | None = None) -> Predictor:
    """The model under which the ratings are likely; InputError if there are none."""
    how = training or Training()
    _, record = np.unique(_some(ratings).record, return_inverse=True)
    order = np.argsort(record, kind="stable")
    record = record[order]
    item = ratings.item[order]
    value = ratings.value[order]
    weight = ratings.weights[order]

    # In standard deviations from here on.
    total = float(weight.sum())
    middle = float(weight @ value) / total
    variance = weight @ (value - middle) ** 2 / total
    unit = float(np.sqrt(variance)) or 1.0
    value = (value - middle) / unit
    mean = (item_means(ratings, items) - middle) / unit
    model = _Model.started(mean, np.bincount(item, minlength=items) > 0, how)
    for _ in range(how.rounds):
        sums = _Sums.none(items, how.factors)
        for part in _chunks(record):
            who = record[part] - record[part][0]
            sums.add(model, Ratings(who, item[part], value[part], weight[part]))
        model.learn(sums, total)

    return Predictor(
        mean=model.mean * unit + middle,
        factors=model.loading * unit,
        habit=model.habit * unit**2,
        noise=model.noise * unit**2,
        block=_blocks(record, item, items),
        low=float(ratings.value.min()),
        high=float(ratings.value.max()),
    )


@dataclass(eq=False)
class _Model:
    """The estimates of one round.

    For items they are means and factors; for people and single ratings, variances.
    """

    mean: Floats
    loading: Floats
    prior: Floats
    """Variances of the items' factors and, last, of their means."""

    habit: float
    noise: float
    seen: npt.NDArray[np.bool_]
    """Which items have ratings."""

    @classmethod
    def started(cls, mean: Floats, seen: npt.NDArray[np.bool_], how: Training) -> "_Model":
        """What training starts from."""
        draws = np.random.default_rng(how.seed).normal(size=(len(mean), how.factors))
        return cls(
            mean=mean,
            loading=START * draws * seen[:, None],
            prior=np.full(how.factors + 1, 0.25),
            habit=1 / (1 + DAMPING),
            noise=DAMPING / (1 + DAMPING),
            seen=seen,
        )

    def learn(self, sums: "_Sums", total: float) -> None:
        """Maximisation: what every item, and every variance, would have to be, given the sums."""
        size = len(self.prior)
        shrunk = sums.square + np.eye(size) * (self.noise / self.prior)
        # 0 for items that are not there.
        solved = np.linalg.solve(shrunk, sums.right[:, :, None])[:, :, 0]
        solution = np.asarray(solved, dtype=np.float64)
        self.loading = solution[:, : size - 1]
        self.mean = solution[:, size - 1]

        inverse = np.linalg.inv(shrunk[self.seen])
        variance = self.noise * inverse[:, range(size), range(size)]
        seconds = solution[self.seen] ** 2 + variance
        self.prior = np.maximum(seconds.mean(axis=0), LEAST)
        self.habit = max(sums.habits / sums.people, LEAST)
        self.noise = max(sums.squares / total, LEAST)


@dataclass(eq=False)
class _Sums:
    """What a round adds up over all records: every item's normal equations, and squares."""

    square: Floats
    right: Floats
    habits: float = 0.0
    squares: float = 0.0
    people: float = 0.0

    @classmethod
    def none(cls, items: int, factors: int) -> "_Sums":
        size = factors + 1
        return cls(np.zeros((items, size, size)), np.zeros((items, size)))

    def add(self, model: _Model, ratings: Ratings) -> None:
        """Add some records, which are numbered in their order from 0."""
        who = ratings.record
        what = ratings.item
        counted = ratings.weights
        items, size = self.right.shape
        last = size - 1

        # Expectation: every record's taste and habit, with their covariance.
        design = np.c_[model.loading, np.ones(items)]
        apart = ratings.value - model.mean[what]
        own, pull = _normal(who, design, what, apart, int(who[-1]) + 1)
        precision = np.r_[np.ones(last), 1 / model.habit]
        covariance = np.linalg.inv(own / model.noise + np.diag(precision))
        guess = np.einsum("nij,nj->ni", covariance, pull / model.noise)
        alike = np.zeros(len(guess))
        alike[who] = counted
        self.people += float(alike.sum())

        # What the variances of habits and of noise are learnt from.
        squared_habit = guess[:, last] ** 2 + covariance[:, last, last]
        self.habits += float(alike @ squared_habit)
        left = apart - np.einsum("ni,ni->n", design[what], guess[who])
        unsure = size - np.einsum("nii,i->n", covariance, precision)
        self.squares += float(counted @ left**2) + model.noise * float(alike @ unsure)

        # What the items are learnt from.
        has_several = np.bincount(who) > 1
        several = counted * has_several[who]
        seconds = guess[:, :, None] * guess[:, None, :] + covariance
        self._add_several(ratings, several, guess, seconds)
        # A record of one rating shows the item's mean; of its factors it cannot show more than how
        # much they vary.
        single = counted - several
        self.square[:, last, last] += np.bincount(what, single, items)
        self.right[:, last] += np.bincount(what, single * (left + model.mean[what]), items)

    def _add_several(
        self, ratings: Ratings, weight: Floats, guess: Floats, seconds: Floats
    ) -> None:
        """Add the records with several ratings to the normal equations of every item.

        An item gets Σ E[y yᵀ] and Σ E[y · (value − habit)] over its ratings, where y is (taste, 1).
        """
        who = ratings.record
        item = ratings.item
        items, size = self.right.shape
        last = size - 1
        for a in range(size):
            # E[y] and E[y · habit] for the a-th of y, the last of which is the 1.
            if a < last:
                first = guess[who, a]
                with_habit = seconds[who, a, last]
            else:
                first = np.ones(len(item))
                with_habit = guess[who, last]
            heard = first * ratings.value - with_habit
            self.right[:, a] += np.bincount(item, weight * heard, items)
            for b in range(a, size):
                both = seconds[who, a, b] if b < last else first
                added = np.bincount(item, weight * both, items)
                self.square[:, a, b] += added
                if a != b:
                    self.square[:, b, a] += added


def _normal(
    record: Ints, design: Floats, item: Ints, value: Floats, records: int
) -> tuple[Floats, Floats]:
    """The normal equations of every record.

    They are Σ x xᵀ and Σ x · value over its ratings, where x is the item's row of the design.
    """
    size = design.shape[1]
    square = np.empty((records, size, size))
    right = np.empty((records, size))
    for a in range(size):
        x = design[item, a]
        right[:, a] = np.bincount(record, x * value, records)
        for b in range(a, size):
            added = np.bincount(record, x * design[item, b], records)
            square[:, a, b] = added
            square[:, b, a] = added
    return square, right


def _chunks(record: Ints) -> Iterator[slice]:
    """Ranges of ratings that hold whole records, from records in order."""
    start = 0
    while start < len(record):
        end = start + CHUNK
        if end < len(record):
            # Stop before the record that would be cut, or after it where it is all there is.
            first = int(np.searchsorted(record, record[end]))
            after = int(np.searchsorted(record, record[end], side="right"))
            end = first if first > start else after
        yield slice(start, end)
        start = end


def _blocks(record: Ints, item: Ints, items: int) -> Ints:
    """Which items a chain of records joins: a number for every such set, from records in order."""
    # Joining every item to the first one of its record is enough.
    starts = np.r_[True, record[1:] != record[:-1]]
    start_of_rating = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    first_item = item[start_of_rating]
    joined = np.unique(first_item * items + item)
    first, other = np.divmod(joined, items)

    # The smallest number spreads along the chains until nothing changes.
    label = np.arange(items)
    while True:
        least = label.copy()
        np.minimum.at(least, first, label[other])
        np.minimum.at(least, other, label[first])
        least = least[least]
        if (least == label).all():
            _, block = np.unique(label, return_inverse=True)
            return block
        label = least


class _Coder:
    """Reads tables of ratings, all with the same numbers for people and for items."""

    def __init__(self, items: dict[str, int] | None = None) -> None:
        self.items: dict[str, int] = {} if items is None else items
        self.people: dict[str, int] = {}

    def read(
        self, table: Table, person: str, item: str, value: str, count: str | None = None
    ) -> Ratings:
        """The ratings of a table; rows without a person, an item or a value are left out."""
        names = [person, item, value]
        table = table.in_memory(names if count is None else [*names, count])
        whose, what, heard = table.records(names)
        record = _numbered(whose, self.people)
        code = _numbered(what, self.items)
        values = _numbers(heard)
        complete = (record >= 0) & (code >= 0) & ~np.isnan(values)
        weight = None
        if count is not None:
            weight = _numbers(table.records([count])[0])
            complete &= weight > 0
        return Ratings(record, code, values, weight).only(complete)


def _numbered(column: Column, number_of: dict[str, int]) -> Ints:
    """The number of every row's value, a new one where it has none yet; −1 for a missing one."""
    numbers = []
    for key, text in zip(column.keys, column.labels, strict=True):
        if key is None:
            numbers.append(-1)
        else:
            numbers.append(number_of.setdefault(text, len(number_of)))
    return np.array(numbers, dtype=np.int64)[column.codes]


def _numbers(column: Column) -> Floats:
    """Every row's value as a number, NaN for a missing one."""
    values = Kind.FLOAT.keys(column.labels, column.name)
    return np.array(values, dtype=np.float64)[column.codes]
