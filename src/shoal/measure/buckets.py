"""Estimates from a release in buckets: counts with standard errors, and associations.

`BucketReading` takes a release of buckets and answers count queries; `count` answers one. Its
`associations`, and `excluded`, say which values people with some other value are seen not to have.
All of it uses what the release shows, and nothing else; the method and the attacks use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, sqrt
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Table, table
from shoal.errors import ColumnError, FileError, listed

__all__ = ["Association", "BucketReading", "BucketRelease", "Estimate", "count", "excluded"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_BELOW = 0.5
"""A value is seen not to go with another if their share is below half of what it would be if they
were independent,"""

_ERRORS = 4.0
"""by four standard errors."""

_LONG = 100
"""Characters of a whole number; Python refuses to read thousands of digits."""

_ROUNDING = 1e-6
"""How far a sum of floats may be from the 1 that it stands for."""

_TINY = 1e-300
"""Takes the place of 0 where something is divided by it that is 0 too."""


class BucketRelease(Protocol):
    """What is read: both tables, and the certificate that says which column is in the second."""

    @property
    def table(self) -> Any: ...
    @property
    def further(self) -> Mapping[str, Any]: ...
    @property
    def certificate(self) -> Any: ...


@dataclass(frozen=True)
class Estimate:
    """How many records satisfy a query, and the standard error of that number.

    >>> print(Estimate(12.25, 1.5))
    12.2 ± 1.5
    """

    count: float
    error: float

    def __str__(self) -> str:
        return f"{self.count:,.1f} ± {self.error:,.1f}"


@dataclass(frozen=True)
class Association:
    """A value that people with some sensitive value have less often than if both were independent.

    `value` is one of `column`, and `sensitive` the other value.

    `share` is the share of those with the sensitive value who are seen to have the other one,
    `expected` that of all people.
    """

    column: str
    value: Key | None
    sensitive: Key | None
    share: float
    expected: float
    error: float


@typed
def count(
    release: BucketRelease, where: Mapping[str, object], *, unbiased: bool = False
) -> Estimate:
    """How many people have one of the given values in each of the given columns.

    The sensitive column is one of them.

    In a bucket of S people, a satisfy what is asked of other columns, and c of its values are asked
    for. If all ways in which the people may have the values are equally likely, a·c/S people
    satisfy both in the mean, with the variance a·c·(S−a)·(S−c) / (S²(S−1)). Both are added up over
    the buckets. This is the paper's estimate. Where sensitive values go with other columns, it is
    too close to what independence would give, and its error does not show that.

    `unbiased` is the other choice: by least squares over all buckets, which is right in the mean
    whatever goes with what, and has a larger error; infinite if the buckets cannot tell these
    values apart. Where buckets have fake values, what they hold is what can be expected.
    """
    return BucketReading(release).count(where, unbiased=unbiased)


@typed
class BucketReading:
    """A release of buckets, read once to be asked often."""

    def __init__(self, release: BucketRelease) -> None:
        certificate = release.certificate
        promise = certificate.promise
        if "buckets" not in release.further or not {"column", "fakes"} <= set(promise):
            raise FileError(
                "this is not a release of buckets",
                "give both tables of one that was made with the method 'buckets'",
            )
        self.column: str = promise["column"]
        self.fakes: int = promise["fakes"]
        kinds = {column["name"]: Kind(column["type"]) for column in certificate.columns}
        self.people = _typed(release.table, kinds)
        self.values = _typed(release.further["buckets"], {**kinds, "count": Kind.INTEGER})

        numbers = _integers(self.people, "bucket")
        self.buckets, self.bucket = np.unique(numbers, return_inverse=True)
        self.sizes: Ints = np.bincount(self.bucket, minlength=len(self.buckets))

        bucket_of_row = _integers(self.values, "bucket")
        self._place = np.searchsorted(self.buckets, bucket_of_row)
        same_buckets = np.array_equal(np.unique(bucket_of_row), self.buckets)
        if not same_buckets or (np.diff(bucket_of_row) < 0).any():
            raise FileError(
                "the two tables of the release do not have the same buckets in the same order",
                "read a release as it was written",
            )
        self._often = _integers(self.values, "count")
        self.block, self.odds = self._odds(certificate.derived.get("fake_odds"))

    def _odds(self, given: Any) -> tuple[Ints, list[Fraction]]:
        """The block of every bucket, and the odds that the value of each row is fake: see `Hiding`.

        Rows are those of the second table.
        """
        block = np.zeros(len(self.buckets), dtype=np.int64)
        odds = [Fraction(0)] * len(self._often)
        if not self.fakes or not len(self.buckets):
            return block, odds
        try:
            numbers = [int(number) for number, _ in given]
            # Checked before anything is made that is as large as they say.
            if min(numbers) < 1 or sum(numbers) != len(self.buckets):
                raise ValueError
            block = np.repeat(np.arange(len(numbers)), numbers)
            for number, (_, odds_of_values) in enumerate(given):
                rows = np.flatnonzero(block[self._place] == number)
                occurring, value_of_row = np.unique(self._codes[rows], return_inverse=True)
                if len(occurring) != len(odds_of_values):
                    raise ValueError
                exact = [Fraction(value) for value in odds_of_values]
                for row, value in zip(rows.tolist(), value_of_row.tolist(), strict=True):
                    odds[row] = exact[value]
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            raise FileError(
                "the certificate does not say how fakes were drawn, or not for these buckets",
                "read a release as it was written by this version",
            ) from None
        return block, odds

    @cached_property
    def _codes(self) -> Ints:
        """The sensitive value of every row of the second table."""
        [column] = self.values.records([self.column])
        return column.codes.astype(np.int64)

    @property
    def keys(self) -> Sequence[Key | None]:
        """The sensitive values."""
        return self.values.keys(self.column)

    @cached_property
    def real(self) -> Floats:
        """How many values of every row of the second table are expected to be real, not fake."""
        return self._often - self._fake

    @cached_property
    def _fake(self) -> Floats:
        """The probability that each row of the second table is fake.

        Of the values that a bucket shows once, every set of as many as there are fakes is the set
        of its fakes with a probability in proportion to the product of their odds.
        """
        fake = np.zeros(len(self._often))
        # A value that is shown twice is not fake.
        once = np.flatnonzero(self._often == 1)
        if not self.fakes or not len(once):
            return fake
        # A line for every bucket, and in it the odds of the values that it shows once.
        place = self._place[once]
        column = np.arange(len(once)) - np.searchsorted(place, place)
        odds = np.zeros((len(self.buckets), int(column.max()) + 1))
        odds[place, column] = [float(self.odds[row]) for row in once.tolist()]
        fake[once] = _chosen(odds, self.fakes)[place, column]
        return fake

    def count(self, where: Mapping[str, object], *, unbiased: bool = False) -> Estimate:
        """How many people have one of some values in each of some columns: see `count`."""
        self._require_columns(where)
        matching = np.ones(self.people.rows, dtype=np.bool_)
        for name in where:
            if name != self.column:
                matching &= _matching(self.people, name, where[name])
        in_bucket = np.bincount(self.bucket[matching], minlength=len(self.buckets))
        people = in_bucket.astype(np.float64)
        if self.column not in where:
            return Estimate(float(people.sum()), 0.0)
        asked = _matching(self.values, self.column, where[self.column])
        if unbiased:
            share = matching.mean() if len(matching) else 0.0
            return self._squares.count(people, share, self._totals(asked))
        return self._estimate(people, asked)

    def _require_columns(self, where: Mapping[str, object]) -> None:
        # The number of a bucket is not a column of people.
        names = [name for name in self.people.names if name != "bucket"]
        names.append(self.column)
        unknown = [name for name in where if name not in names]
        if unknown:
            raise ColumnError(
                f"the release has no column {listed(unknown)}", f"it has {listed(names)}"
            )

    def _estimate(self, people: Floats, asked: Bools) -> Estimate:
        """The paper's estimate, if every bucket has this many people of a kind."""
        if not len(self.sizes):
            return Estimate(0.0, 0.0)
        size = self.sizes
        mean = np.bincount(self._place[asked], self.real[asked], len(self.buckets))
        variance = self._variance(asked)
        others = size - people
        values = size * mean - variance - mean**2
        mixed = people * others * values / (size**2 * np.maximum(size - 1, 1.0))
        part = people / size
        error = (mixed + part**2 * variance).sum() - self._known(asked, part)
        number = (people * mean / size).sum()
        return Estimate(float(number), sqrt(max(float(error), 0.0)))

    @cached_property
    def _doubt(self) -> tuple[Floats, Floats, Floats]:
        """Three terms for the variance of what is fake, where P is the probability that a row is.

        They are d = P(1 − P) by row; its sum D by bucket; and D²/(D² − Σd²).

        With these the covariances of what is fake in a bucket are nearly c·(diag(d) − d·dᵀ/D), as
        the number of fakes is fixed: exactly so where all odds are equal, and always with the right
        sum of variances.
        """
        doubt = self._fake * (1 - self._fake)
        total = self._by_bucket(doubt)
        squares = self._by_bucket(doubt**2)
        factor = total**2 / np.maximum(total**2 - squares, _TINY)
        return doubt, total, np.asarray(factor)

    def _by_bucket(self, weights: Floats) -> Floats:
        """The sum of the weights of rows of the second table, by bucket."""
        sums = np.bincount(self._place, weights, len(self.buckets))
        return np.asarray(sums, dtype=np.float64)

    def _variance(self, asked: Bools) -> Floats:
        """The variance of how many real values are asked for, by bucket: 0 without fakes."""
        doubt, total, factor = self._doubt
        asked_for = self._by_bucket(doubt * asked)
        share = asked_for / np.maximum(total, _TINY)
        return np.asarray(factor * asked_for * (1 - share))

    def _known(self, asked: Bools, part: Floats) -> float:
        """How much less a sum varies because each value occurs a fixed number of times.

        The sum is over buckets, each weighted by its `part`.

        Given what is shown, the numbers of real values vary by V in each bucket, and so their sum
        over a block. But that sum is fixed, and would vary by Y, more than that, were it not: by V
        and by how buckets differ. So a sum that varies with it by w is known better by wᵀY⁻¹w.
        """
        if not self.fakes or not len(self.buckets):
            return 0.0
        blocks = range(int(self.block.max()) + 1)
        return sum(self._known_in(block, asked, part) for block in blocks)

    def _known_in(self, block: int, asked: Bools, part: Floats) -> float:
        """The share of one block in `_known`."""
        values = len(self.keys)
        buckets = np.flatnonzero(self.block == block)
        rows = np.flatnonzero(self.block[self._place] == block)
        # Blocks are runs of buckets, so that the places of their rows start with the first bucket.
        place = self._place[rows] - buckets[0]
        code = self._codes[rows]
        doubt_of_row, total, factor = self._doubt
        asked_for = self._by_bucket(doubt_of_row * asked)[buckets]
        doubt = np.zeros((len(buckets), values))
        doubt[place, code] = doubt_of_row[rows]
        real = np.zeros((len(buckets), values))
        real[place, code] = self.real[rows]

        # How the numbers of real values vary: V, and then Y.
        factor = factor[buckets]
        scaled = factor / np.maximum(total[buckets], _TINY)
        spread = np.diag((factor[:, None] * doubt).sum(axis=0))
        spread -= doubt.T @ (scaled[:, None] * doubt)
        sizes = self.sizes[buckets]
        for size in np.unique(sizes).tolist():
            alike = real[sizes == size]
            apart = alike - alike.mean(axis=0)
            spread += apart.T @ apart

        # How the sum varies with them: w.
        part = part[buckets]
        wanted = np.bincount(code, asked[rows], values) > 0
        along = (part * factor) @ (doubt * wanted)
        along -= (part * scaled * asked_for) @ doubt
        return float(along @ np.linalg.pinv(spread, hermitian=True) @ along)

    def _totals(self, asked: Bools) -> Floats:
        """How often each sensitive value can be expected in the table, if it is asked for."""
        totals = np.bincount(self._codes[asked], self.real[asked], len(self.keys))
        return np.asarray(totals, dtype=np.float64)

    @property
    def most(self) -> Ints:
        """How often every bucket shows the value that it shows most often."""
        most = np.zeros(len(self.buckets), dtype=np.int64)
        np.maximum.at(most, self._place, self._often)
        return most

    def absent(self, where: Mapping[str, object]) -> dict[str, list[object]]:
        """The values asked for that the release does not have, by column: misspelt, perhaps.

        A range is absent if no value lies in it.
        """
        absent = {}
        for name, wanted in where.items():
            given = self.values if name == self.column else self.people
            values = [value for value in _several(wanted) if not _occurs(given, name, value)]
            if values:
                absent[name] = values
        return absent

    def singles(self) -> list[tuple[Fraction, ...]]:
        """For every bucket the odds, in ascending order, that the values it shows once are fake."""
        odds: list[list[Fraction]] = [[] for _ in self.buckets]
        for row in np.flatnonzero(self._often == 1).tolist():
            odds[self._place[row]].append(self.odds[row])
        return [tuple(sorted(each)) for each in odds]

    def matrix(self) -> Floats:
        """How many people with each value (column) every bucket (row) can be expected to have."""
        return self._squares.held

    @cached_property
    def _squares(self) -> "_Squares":
        shape = len(self.buckets), len(self.keys)
        return _Squares.of(self._place, self._codes, self.real, shape)

    def associations(self) -> list[Association]:
        """The negative associations that the release shows.

        They are clearly below half of what independence would give.
        """
        associations = []
        for name in self.people.names:
            if name == "bucket":
                continue
            [column] = self.people.records([name])
            number = len(column.keys)
            share, error = self._squares.shares(column.codes, number, self.bucket)
            counts = np.bincount(column.codes, minlength=number)
            expected = counts / max(self.people.rows, 1)
            for value, sensitive in np.argwhere(_negative(share, error, expected)).tolist():
                associations.append(
                    Association(
                        column=name,
                        value=column.keys[value],
                        sensitive=self.keys[sensitive],
                        share=max(float(share[value, sensitive]), 0.0),
                        expected=float(expected[value]),
                        error=float(error[value, sensitive]),
                    )
                )
        return associations

    def ruled_out(self) -> Bools:
        """For every person the sensitive values that negative associations rule out."""
        out = np.zeros((self.people.rows, len(self.keys)), dtype=np.bool_)
        place = {key: at for at, key in enumerate(self.keys)}
        for association in self.associations():
            [column] = self.people.records([association.column])
            having = column.codes == column.keys.index(association.value)
            out[having, place[association.sensitive]] = True
        return out


def excluded(
    codes: Sequence[npt.NDArray[Any]],
    cards: Sequence[int],
    bucket: Ints,
    held: tuple[Ints, Ints],
) -> Bools:
    """For every bucket the values that a negative association rules out for somebody in it.

    `codes` are the people's other columns and `bucket` their buckets, counted from 0; `held` are
    the bucket and the value of every place.
    """
    bucket_of_place, value_of_place = held
    buckets = int(bucket_of_place.max(initial=-1)) + 1
    values = int(value_of_place.max(initial=-1)) + 1
    once = np.ones(len(value_of_place))
    squares = _Squares.of(bucket_of_place, value_of_place, once, (buckets, values))
    out = np.zeros((buckets, values), dtype=np.bool_)
    for column, card in zip(codes, cards, strict=True):
        share, error = squares.shares(column, card, bucket)
        expected = np.bincount(column, minlength=card) / max(len(column), 1)
        negative = _negative(share, error, expected)
        for value in np.flatnonzero(negative.any(axis=0)).tolist():
            people_without = negative[column, value]
            out[bucket[people_without], value] = True
    return out


@dataclass(frozen=True, eq=False)
class _Squares:
    """Least squares over buckets.

    A bucket with c_x people of value x has Σ_x c_x·p_x people of some kind on average, where p_x is
    the share of that kind among all people with x, since those in the bucket are a uniform choice
    of them.
    """

    held: Floats
    inverse: Floats
    spread: Floats
    """The covariances of the shares that are found, but for the factor p(1 − p) of the kind that is
    sought."""

    known: Bools
    """Which values these buckets can tell apart from the others."""

    @classmethod
    def of(
        cls,
        bucket: Ints,
        value: Ints,
        often: Floats,
        shape: tuple[int, int],
    ) -> "_Squares":
        """From how often buckets hold values; `shape` is how many of both there are."""
        buckets, values = shape
        flat = np.bincount(bucket * values + value, often, buckets * values)
        held = flat.reshape(shape).astype(np.float64)
        normal = held.T @ held
        inverse = np.linalg.pinv(normal, hermitian=True) if values else normal
        inverse = np.asarray(inverse, dtype=np.float64)
        sizes = held.sum(axis=1)[:, None]
        spread = inverse @ (held.T @ (held * sizes)) @ inverse
        known = np.abs(np.diag(inverse @ normal) - 1) < _ROUNDING
        return cls(held, inverse, spread, known)

    def shares(
        self,
        codes: npt.NDArray[Any],
        card: int,
        bucket: Ints,
    ) -> tuple[Floats, Floats]:
        """For each sensitive value, the share of its people who have each value of a column.

        The standard errors come with the shares.
        """
        together = np.zeros((card, len(self.known)))
        for value in range(len(self.known)):
            together[:, value] = np.bincount(codes, self.held[bucket, value], card)
        expected = np.bincount(codes, minlength=card) / max(len(codes), 1)
        variance = expected * (1 - expected)
        spread = np.maximum(np.diag(self.spread), 0)
        error = np.sqrt(variance[:, None] * spread)
        return together @ self.inverse, np.where(self.known, error, np.inf)

    def count(
        self,
        people: Floats,
        share: float,
        often: Floats,
    ) -> Estimate:
        """How many people of a kind have some values.

        people: how many of that kind every bucket has
        share: that of the kind among all people
        often: how often every value occurs that is asked for
        """
        number = float(people @ self.held @ self.inverse @ often)
        if not self.known[often > 0].all():
            return Estimate(number, inf)
        variance = share * (1 - share) * float(often @ self.spread @ often)
        return Estimate(number, sqrt(max(variance, 0.0)))


def _chosen(odds: Floats, number: int) -> Floats:
    """The probability that each column is chosen, row by row.

    Sets of this number of columns are chosen with probabilities proportional to the product of
    their odds.
    """
    buckets, columns = odds.shape
    # Only the proportions of odds matter, and large products would overflow.
    scaled = odds / np.maximum(odds.max(axis=1, keepdims=True), _TINY)
    # Elementary symmetric polynomials of the columns before each column, and of the rest.
    shape = columns + 1, number + 1, buckets
    before = np.zeros(shape)
    after = np.zeros(shape)
    before[0, 0] = 1
    after[columns, 0] = 1
    for at in range(columns):
        _add_factor(before[at + 1], before[at], scaled[:, at])
        last = columns - 1 - at
        _add_factor(after[last], after[last + 1], scaled[:, last])
    whole = np.maximum(before[columns, number], _TINY)
    chosen = np.zeros_like(odds)
    for at in range(columns):
        others = sum(before[at, k] * after[at + 1, number - 1 - k] for k in range(number))
        chosen[:, at] = scaled[:, at] * others / whole
    return chosen


def _add_factor(into: Floats, sums: Floats, odds: Floats) -> None:
    """The symmetric polynomials with one more number."""
    into[:] = sums
    into[1:] += odds * sums[:-1]


def _negative(share: Floats, error: Floats, expected: Floats) -> Bools:
    at_most = share + _ERRORS * error
    return np.asarray(at_most < _BELOW * expected[:, None], dtype=np.bool_)


def _matching(given: Table, name: str, wanted: object) -> Bools:
    """Which rows have a value that is asked for."""
    [column] = given.records([name])
    asked = _fitting(column.keys, given.kind(name), name, _several(wanted))
    if not given.rows:
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(asked.take(column.codes), dtype=np.bool_)


def _occurs(given: Table, name: str, value: object) -> bool:
    """Whether a column has a value, or one of a range."""
    return bool(_fitting(given.keys(name), given.kind(name), name, [value]).any())


def _several(wanted: object) -> list[object]:
    """What is asked for, one by one; a range is one."""
    if isinstance(wanted, Iterable) and not isinstance(wanted, str | range):
        return list(wanted)
    return [wanted]


def _fitting(
    keys: Sequence[Key | None],
    kind: Kind,
    name: str,
    wanted: Sequence[object],
) -> Bools:
    """Which keys are asked for, one by one or by a range of whole numbers."""
    ranges = [value for value in wanted if isinstance(value, range)]
    values = [value for value in wanted if not isinstance(value, range)]
    given = [None if value == "" else value for value in values]
    try:
        single = set(kind.keys(given, name))
    except ColumnError:
        raise ColumnError(
            f"column {name!r} is of type {kind.value!r}, and a value that is asked for is not",
            "ask for values of that type",
        ) from None
    if ranges and kind is Kind.DATE:
        raise ColumnError(
            f"column {name!r} has dates, which cannot be asked for by a range",
            "give them one by one",
        )
    asked = []
    for key in keys:
        in_a_range = any(_inside(key, each) for each in ranges)
        asked.append(key in single or in_a_range)
    return np.array(asked, dtype=np.bool_)


def _inside(key: Key | None, wanted: range) -> bool:
    """Whether a key is, or spells, a whole number of a range."""
    if isinstance(key, str):
        return _spells_whole(key) and int(key) in wanted
    if not isinstance(key, int | float) or key != int(key):
        return False
    # A range finds an int at once, but searches for anything else one by one.
    return int(key) in wanted


def _spells_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    if len(text) >= _LONG or not digits.isascii() or not digits.isdigit():
        return False
    return str(int(text)) == text


def _typed(frame: Any, kinds: Mapping[str, Kind]) -> Table:
    names = table(frame).names
    types = {name: kind for name, kind in kinds.items() if name in names}
    return table(frame, types=types)


def _integers(given: Table, name: str) -> Ints:
    if not given.rows:
        return np.zeros(0, dtype=np.int64)
    [column] = given.records([name])
    return np.array(column.keys, dtype=np.int64)[column.codes]
