"""What can be read off people with bucket numbers and buckets with values: counts with standard errors, and associations.

`Reading` takes a release of buckets and answers count queries; `count` answers one. `Reading.associations` and `excluded`
say which values people with some other value are seen not to have. All of it uses what the release shows, and nothing else.
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

__all__ = ["Association", "Estimate", "Reading", "count", "excluded"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_BELOW, _ERRORS = 0.5, 4.0
"""A value is seen not to go with another if their share is below half of what it would be if they were independent, by four
standard errors."""

_LONG = 100  # digits of a whole number; Python reads none of thousands
_ROUNDING = 1e-6


class Release(Protocol):
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
    """People with this `value` of a `column` have the `sensitive` value less often than if both were independent.

    `share` is how many of those with the sensitive value are seen to have the other one, `expected` of all people.
    """

    column: str
    value: Key | None
    sensitive: Key | None
    share: float
    expected: float
    error: float


@typed
def count(release: Release, where: Mapping[str, object], *, unbiased: bool = False) -> Estimate:
    """How many people have one of the given values in each of the given columns, the sensitive one included.

    In a bucket of S people a satisfy what is asked of other columns, and c of its values are asked for. If all ways in which
    the people may have the values are equally likely, a·c/S people satisfy both in the mean, with the variance
    a·c·(S−a)·(S−c) / (S²(S−1)). Both are added up over the buckets. This is the paper's estimate. Where sensitive values go
    with other columns, it is too close to what independence would give, and its error does not tell.

    `unbiased` is the other choice: by least squares over all buckets, which is right in the mean whatever goes with what,
    and has a larger error; infinite if the buckets cannot tell these values apart. Where buckets have fake values, what
    they hold is what can be expected.
    """
    return Reading(release).count(where, unbiased=unbiased)


@typed
class Reading:
    """A release of buckets, read once to be asked often."""

    def __init__(self, release: Release) -> None:
        paper = release.certificate
        if paper.method != "buckets" or "buckets" not in release.further:
            raise FileError(
                "this is no release of buckets; give one that was made with the method 'buckets', both tables of it"
            )
        self.column: str = paper.promise["column"]
        self.fakes: int = paper.promise["fakes"]
        kinds = {column["name"]: Kind(column["type"]) for column in paper.columns}
        self.people = _typed(release.table, kinds)
        self.values = _typed(release.further["buckets"], {**kinds, "count": Kind.INTEGER})
        numbers = _integers(self.people, "bucket")
        self.buckets, self.bucket = np.unique(numbers, return_inverse=True)
        self.sizes: Ints = np.bincount(self.bucket, minlength=len(self.buckets))
        own = _integers(self.values, "bucket")
        self._place = np.searchsorted(self.buckets, own)
        if not np.array_equal(np.unique(own), self.buckets) or (np.diff(own) < 0).any():
            raise FileError(
                "the two tables of the release do not have the same buckets, in their order"
            )
        self._often = _integers(self.values, "count")
        self.block, self.odds = self._odds(paper.derived.get("fake_odds"))

    def _odds(self, given: Any) -> tuple[Ints, list[Fraction]]:
        """The block of every bucket, and of every row of the second table the odds of its value to be fake: see `Hiding`."""
        block, odds = np.zeros(len(self.buckets), dtype=np.int64), [Fraction(0)] * len(self._often)
        if not self.fakes or not len(self.buckets):
            return block, odds
        codes = self.values.column(self.column).codes
        try:
            numbers = [int(number) for number, _ in given]
            if min(numbers) < 1 or sum(numbers) != len(self.buckets):
                raise ValueError  # before anything is made that is as large as they say
            block = np.repeat(np.arange(len(numbers)), numbers)
            for one, (_, own) in enumerate(given):
                rows = np.flatnonzero(block[self._place] == one)
                there, place = np.unique(codes[rows], return_inverse=True)
                if len(there) != len(own):
                    raise ValueError
                exact = [Fraction(value) for value in own]
                for row, at in zip(rows.tolist(), place.tolist(), strict=True):
                    odds[row] = exact[at]
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            raise FileError(
                "the certificate does not say how fakes were drawn, or says it of other buckets; read a release as it was "
                "written by this version"
            ) from None
        return block, odds

    @property
    def keys(self) -> Sequence[Key | None]:
        """The sensitive values."""
        return self.values.column(self.column).keys

    @cached_property
    def real(self) -> Floats:
        """Of every row of the second table how many of its values can be expected to be real, where some are fake."""
        return self._often - self._fake

    @cached_property
    def _fake(self) -> Floats:
        """How probable it is of every row of the second table that it is fake.

        Of the values that a bucket shows once, every set of as many as there are fakes is the set of its fakes with a
        probability in proportion to the product of their odds.
        """
        fake = np.zeros(len(self._often))
        once = np.flatnonzero(self._often == 1)  # a value that is there twice is no fake
        if not self.fakes or not len(once):
            return fake
        place = self._place[once]
        column = np.arange(len(once)) - np.searchsorted(place, place)
        odds = np.zeros((len(self.buckets), int(column.max()) + 1))
        odds[place, column] = [float(self.odds[row]) for row in once.tolist()]
        fake[once] = _chosen(odds, self.fakes)[place, column]
        return fake

    def count(self, where: Mapping[str, object], *, unbiased: bool = False) -> Estimate:
        """How many people have one of the given values in each of the given columns: see `count`."""
        known = [name for name in self.people.names if name != "bucket"]
        if unknown := [name for name in where if name not in (*known, self.column)]:
            raise ColumnError(
                f"the release has no column {listed(unknown)}; it has {listed([*known, self.column])}"
            )
        matching = np.ones(self.people.rows, dtype=np.bool_)
        for name in where:
            if name != self.column:
                matching &= _matching(self.people, name, where[name])
        people = np.bincount(self.bucket[matching], minlength=len(self.buckets)).astype(np.float64)
        if self.column not in where:
            return Estimate(float(people.sum()), 0.0)
        asked = _matching(self.values, self.column, where[self.column])
        if unbiased:
            return self._squares.count(
                people, matching.mean() if len(matching) else 0.0, self._totals(asked)
            )
        mean = np.bincount(self._place[asked], self.real[asked], len(self.buckets))
        variance = self._variance(asked)
        size = self.sizes
        mixed = (
            people
            * (size - people)
            * (size * mean - variance - mean**2)
            / (size**2 * np.maximum(size - 1, 1.0))
        )
        error = (mixed + (people / size) ** 2 * variance).sum() if len(size) else 0.0
        error -= self._known(asked, people / size)
        return Estimate(float((people * mean / size).sum()), sqrt(max(float(error), 0.0)))

    @cached_property
    def _doubt(self) -> tuple[Floats, Floats, Floats]:
        """P(1 − P) of every row to be fake; its sum D by bucket; and D/(D² − Σ(P(1 − P))²).

        With these the covariances of what is fake in a bucket are nearly c·(diag(d) − d·dᵀ/D), as its number is fixed: just so
        where all odds are equal, and always with the right sum of variances.
        """
        own = self._fake * (1 - self._fake)
        total, squares = (
            np.asarray(np.bincount(self._place, one, len(self.buckets)), dtype=np.float64)
            for one in (own, own**2)
        )
        return own, total, np.asarray(total**2 / np.maximum(total**2 - squares, 1e-300))

    def _variance(self, asked: Bools) -> Floats:
        """Of how many values that are asked for are real in each bucket: none where nothing is fake."""
        own, total, factor = self._doubt
        asked_for = np.bincount(self._place[asked], own[asked], len(self.buckets))
        return np.asarray(factor * asked_for * (1 - asked_for / np.maximum(total, 1e-300)))

    def _known(self, asked: Bools, part: Floats) -> float:
        """By how much less a sum over buckets, each with its part, varies because each value occurs a fixed number of times.

        Given what is shown, the numbers of real values vary by V in each bucket, and so their sum over a block. But that sum
        is fixed, and would vary by Y, more than that, were it not: by V and by how buckets differ. So a sum that varies with
        it by w is known better by wᵀY⁻¹w.
        """
        if not self.fakes or not len(self.buckets):
            return 0.0
        values = len(self.keys)
        codes = self.values.column(self.column).codes.astype(np.int64)
        own, total, factor = self._doubt
        asked_for = np.bincount(self._place[asked], own[asked], len(self.buckets))
        known = 0.0
        for block in range(int(self.block.max()) + 1):
            rows = np.flatnonzero(self.block[self._place] == block)
            place, code = self._place[rows], codes[rows]
            doubt = np.zeros((len(self.buckets), values))
            doubt[place, code] = own[rows]
            real = np.zeros((len(self.buckets), values))
            real[place, code] = self.real[rows]
            here = self.block == block
            scaled = factor[here] / np.maximum(total[here], 1e-300)
            spread = np.diag((factor[here][:, None] * doubt[here]).sum(axis=0))
            spread -= doubt[here].T @ (scaled[:, None] * doubt[here])
            for size in np.unique(self.sizes[here]).tolist():
                some = real[here & (self.sizes == size)]
                apart = some - some.mean(axis=0)
                spread += apart.T @ apart
            wanted = np.bincount(code, asked[rows], values) > 0
            along = (part[here] * factor[here]) @ (doubt[here] * wanted)
            along -= (part[here] * scaled * asked_for[here]) @ doubt[here]
            known += float(along @ np.linalg.pinv(spread, hermitian=True) @ along)
        return known

    def _totals(self, asked: Bools) -> Floats:
        """How often each sensitive value can be expected in the table, if it is asked for."""
        codes = self.values.column(self.column).codes
        return np.asarray(
            np.bincount(codes[asked], self.real[asked], len(self.keys)), dtype=np.float64
        )

    @property
    def most(self) -> Ints:
        """How often every bucket shows the value that it shows most often."""
        found = np.zeros(len(self.buckets), dtype=np.int64)
        np.maximum.at(found, self._place, self._often)
        return found

    def absent(self, where: Mapping[str, object]) -> dict[str, list[object]]:
        """The values asked for that the release does not have, by column: misspelt, perhaps. Of a range some may be missing."""
        found = {}
        for name, wanted in where.items():
            table = self.values if name == self.column else self.people
            column, kind = table.column(name), table.kind(name)
            values = [
                one
                for one in _several(wanted)
                if not _fitting(column.keys, kind, name, [one]).any()
            ]
            if values:
                found[name] = values
        return found

    def singles(self) -> list[tuple[Fraction, ...]]:
        """Of every bucket the odds to be fake of the values that it shows once, in ascending order."""
        found: list[list[Fraction]] = [[] for _ in self.buckets]
        for row in np.flatnonzero(self._often == 1).tolist():
            found[self._place[row]].append(self.odds[row])
        return [tuple(sorted(own)) for own in found]

    def matrix(self) -> Floats:
        """A row a bucket: how many people with each value it can be expected to have."""
        return self._squares.held

    @cached_property
    def _squares(self) -> "_Squares":
        codes = self.values.column(self.column).codes.astype(np.int64)
        return _Squares.of(self._place, codes, self.real, len(self.buckets), len(self.keys))

    def associations(self) -> list[Association]:
        """The negative associations that the release shows: those clearly below half of what independence would give."""
        names = [name for name in self.people.names if name != "bucket"]
        columns = [self.people.column(name) for name in names]
        found = []
        for name, column in zip(names, columns, strict=True):
            share, error = self._squares.shares(column.codes, len(column.keys), self.bucket)
            expected = np.bincount(column.codes, minlength=len(column.keys)) / max(
                self.people.rows, 1
            )
            for z, x in np.argwhere(_negative(share, error, expected)).tolist():
                value, sensitive = column.keys[z], self.keys[x]
                found.append(
                    Association(
                        name,
                        value,
                        sensitive,
                        max(float(share[z, x]), 0.0),
                        float(expected[z]),
                        float(error[z, x]),
                    )
                )
        return found

    def ruled_out(self) -> Bools:
        """For every person which sensitive values a negative association of one of their values rules out."""
        out = np.zeros((self.people.rows, len(self.keys)), dtype=np.bool_)
        place = {key: x for x, key in enumerate(self.keys)}
        for one in self.associations():
            column = self.people.column(one.column)
            out[column.codes == column.keys.index(one.value), place[one.sensitive]] = True
        return out


def excluded(
    codes: Sequence[npt.NDArray[Any]], cards: Sequence[int], bucket: Ints, held: tuple[Ints, Ints]
) -> Bools:
    """For every bucket the values that a negative association rules out for somebody in it.

    `codes` are the people's other columns and `bucket` their buckets, counted from 0; `held` are bucket and value of
    every place.
    """
    buckets, values = (int(part.max(initial=-1)) + 1 for part in held)
    squares = _Squares.of(*held, np.ones(len(held[0])), buckets, values)
    out = np.zeros((buckets, values), dtype=np.bool_)
    for column, card in zip(codes, cards, strict=True):
        negative = _negative(
            *squares.shares(column, card, bucket),
            np.bincount(column, minlength=card) / max(len(column), 1),
        )
        for x in np.flatnonzero(negative.any(axis=0)).tolist():
            out[bucket[negative[column, x]], x] = True
    return out


@dataclass(frozen=True, eq=False)
class _Squares:
    """Least squares over buckets: one with c_x people of value x has Σ_x c_x·p_x people of some kind in the mean, where p_x is
    the share of that kind among all people with x, since those in the bucket are a uniform choice of them."""

    held: Floats
    inverse: Floats
    spread: Floats
    """The covariances of the shares that are found, but for the factor p(1 − p) of the kind that is sought."""

    known: Bools
    """Which values these buckets can tell apart from the others."""

    @classmethod
    def of(cls, bucket: Ints, value: Ints, often: Floats, buckets: int, values: int) -> "_Squares":
        held = (
            np.bincount(bucket * values + value, often, buckets * values)
            .reshape(buckets, values)
            .astype(np.float64)
        )
        normal = held.T @ held
        inverse = np.asarray(
            np.linalg.pinv(normal, hermitian=True) if values else normal, dtype=np.float64
        )
        spread = inverse @ (held.T @ (held * held.sum(axis=1)[:, None])) @ inverse
        return cls(held, inverse, spread, np.abs(np.diag(inverse @ normal) - 1) < _ROUNDING)

    def shares(self, codes: npt.NDArray[Any], card: int, bucket: Ints) -> tuple[Floats, Floats]:
        """What share of the people with each sensitive value has each value of a column, and the standard errors."""
        together = np.zeros((card, len(self.known)))
        for x in range(len(self.known)):
            together[:, x] = np.bincount(codes, self.held[bucket, x], card)
        expected = np.bincount(codes, minlength=card) / max(len(codes), 1)
        error = np.sqrt((expected * (1 - expected))[:, None] * np.maximum(np.diag(self.spread), 0))
        return together @ self.inverse, np.where(self.known, error, np.inf)

    def count(self, people: Floats, share: float, often: Floats) -> Estimate:
        """How many people of a kind, of whom each bucket has so many, have the values that occur so often."""
        found = float(people @ self.held @ self.inverse @ often)
        error = sqrt(max(share * (1 - share) * float(often @ self.spread @ often), 0.0))
        return Estimate(found, error if self.known[often > 0].all() else inf)


def _chosen(odds: Floats, number: int) -> Floats:
    """How probable each column is to be chosen, row by row, if so many are, with a probability in proportion to ∏ odds."""
    buckets, columns = odds.shape
    scaled = odds / np.maximum(odds.max(axis=1, keepdims=True), 1e-300)
    before, after = (np.zeros((columns + 1, number + 1, buckets)) for _ in range(2))
    before[0, 0] = after[columns, 0] = 1
    for at in range(columns):
        for into, out, own in ((before, before, at), (after, after, columns - 1 - at)):
            last, new = (own, own + 1) if into is before else (own + 1, own)
            into[new] = out[last]
            into[new, 1:] += scaled[:, own] * out[last, :-1]
    whole = np.maximum(before[columns, number], 1e-300)
    found = np.zeros_like(odds)
    for at in range(columns):
        others = sum(before[at, k] * after[at + 1, number - 1 - k] for k in range(number))
        found[:, at] = scaled[:, at] * others / whole
    return found


def _negative(share: Floats, error: Floats, expected: Floats) -> Bools:
    return np.asarray(share + _ERRORS * error < _BELOW * expected[:, None], dtype=np.bool_)


def _matching(given: Table, name: str, wanted: object) -> Bools:
    column = given.column(name)
    asked = _fitting(column.keys, given.kind(name), name, _several(wanted))
    return np.asarray(
        asked.take(column.codes) if given.rows else np.zeros(0, dtype=np.bool_), dtype=np.bool_
    )


def _several(wanted: object) -> list[object]:
    """What is asked for, one by one; a range is one."""
    return (
        list(wanted)
        if isinstance(wanted, Iterable) and not isinstance(wanted, str | range)
        else [wanted]
    )


def _fitting(keys: Sequence[Key | None], kind: Kind, name: str, wanted: Sequence[object]) -> Bools:
    """Which keys are asked for, one by one or by a range of whole numbers."""
    ranges = [one for one in wanted if isinstance(one, range)]
    try:
        single = set(
            kind.keys(
                [None if one == "" else one for one in wanted if not isinstance(one, range)], name
            )
        )
    except ColumnError:
        raise ColumnError(
            f"a value that is asked for of column {name!r} is not of its type, {kind.value!r}"
        ) from None
    if ranges and kind is Kind.DATE:
        raise ColumnError(
            f"column {name!r} has dates, of which there are no ranges; give them one by one"
        )
    return np.array(
        [key in single or any(_inside(key, one) for one in ranges) for key in keys], dtype=np.bool_
    )


def _inside(key: Key | None, wanted: range) -> bool:
    """Whether a key is, or spells, a whole number of a range. Only of an int is that found out at once."""
    if isinstance(key, str):
        digits = key.removeprefix("-")
        return (
            len(key) < _LONG
            and digits.isascii()
            and digits.isdigit()
            and str(int(key)) == key
            and int(key) in wanted
        )
    return isinstance(key, int | float) and key == int(key) and int(key) in wanted


def _typed(frame: Any, kinds: Mapping[str, Kind]) -> Table:
    whole = table(frame)
    return table(frame, types={name: kind for name, kind in kinds.items() if name in whole.names})


def _integers(given: Table, name: str) -> Ints:
    column = given.column(name)
    return (
        np.array(column.keys, dtype=np.int64)[column.codes]
        if given.rows
        else np.zeros(0, dtype=np.int64)
    )
