"""Attacks on buckets by people with some help.

Some know the values of other people; others learn which values do not go together. `posterior` is
exact, for one bucket. `corruption` and `association` attack a whole release, as anybody can who has
both tables and the certificate; `helped` has the figures of both. What they find with fakes and
without is the worth of that defence.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from shoal.arguments import typed
from shoal.data.kinds import Key
from shoal.errors import ParameterError
from shoal.measure.buckets import BucketReading, BucketRelease

__all__ = ["Exposure", "HelpedAttackers", "association", "corruption", "helped", "posterior"]

V = TypeVar("V", bound=Key | None)


@typed
def posterior(
    shown: Mapping[V, int],
    size: int,
    odds: Mapping[V, int | Fraction],
    known: Sequence[V] = (),
) -> dict[V, Fraction]:
    """The probability of each value of a person in a bucket, given the `known` values of others.

    The bucket has `size` people and shows more values: some are fake, each of them shown once.
    `odds` are those of the certificate: a set of values that are shown once is the set of the
    bucket's fakes with a probability in proportion to the product of their odds. That is the law by
    which buckets are made (docs/proofs/buckets.md).

    Of 90, 60 and 50 people with a, b and c, in buckets of two with one fake, someone who knows that
    the other person has b is this sure of a:

    >>> odds = {"a": Fraction(1, 5), "b": Fraction(4, 5), "c": 1}
    >>> posterior({"a": 1, "b": 1, "c": 1}, 2, odds, known=["b"])
    {'a': Fraction(5, 6), 'c': Fraction(1, 6)}
    """
    left = Counter(shown)
    left.subtract(known)
    fakes = sum(shown.values()) - size
    people = size - len(known)
    too_many_known = min(left.values(), default=0) < 0
    if fakes < 0 or people < 1 or too_many_known:
        raise ParameterError(
            "no bucket has these people and values",
            "`shown` has a value for each of `size` people, those of the `known` ones among them,"
            " and somebody is not known",
        )
    lacking = set(shown) - set(odds)
    if lacking or not all(map(_may_be_odds, odds.values())):
        raise ParameterError(
            "has an inexact or negative number, or lacks a value",
            "give an exact number of at least 0 for every value that is shown",
            option="odds",
        )
    single = [value for value, often in shown.items() if often == 1 and left[value]]
    odds_of_single = tuple(Fraction(odds[value]) for value in single)
    fake = dict(zip(single, _chosen(odds_of_single, fakes), strict=True))
    probabilities = {}
    for value, often in left.items():
        probability = (often - fake.get(value, Fraction(0))) / people
        if probability:
            probabilities[value] = probability
    return probabilities


def _may_be_odds(number: object) -> bool:
    return isinstance(number, int | Fraction) and number >= 0


def _chosen(odds: Sequence[Fraction], number: int) -> list[Fraction]:
    """The probability that each is among the chosen ones.

    Sets of this number are chosen with a probability in proportion to the product of their odds.
    """
    whole = _sums(odds, number)[number]
    if not whole:
        raise ParameterError(
            "nobody could have made such a bucket: there are fewer values that may be fake than"
            " fakes",
            "give the bucket and the odds of the same release",
        )
    if not number:
        return [Fraction(0)] * len(odds)
    chosen = []
    for at, own in enumerate(odds):
        others = [*odds[:at], *odds[at + 1 :]]
        chosen.append(own * _sums(others, number - 1)[-1] / whole)
    return chosen


def _sums(odds: Sequence[Fraction], number: int) -> list[Fraction]:
    """The elementary symmetric polynomials of the odds."""
    sums = [Fraction(1)] + [Fraction(0)] * number
    for own in odds:
        for k in range(number, 0, -1):
            sums[k] += own * sums[k - 1]
    return sums


@dataclass(frozen=True)
class Exposure:
    """The largest probability of a person's value to an attacker: at most, and on average.

    The average is over buckets or people.
    """

    largest: float
    mean: float
    attacked: int
    """How many buckets or people were looked at."""


@typed
def corruption(release: BucketRelease, known: int | None = None) -> Exposure:
    """How sure someone is of a value who knows `known` others of the bucket; None is all but one.

    Which ones are known is the worst for the bucket. In buckets with no more people than that, all
    but one count as known. With fakes, beliefs follow from the odds on the certificate, and are
    exact for someone who does not know how often values occur in the table. With `associations`
    fakes are drawn otherwise, and these beliefs are an approximation.
    """
    return _corruption(BucketReading(release), known)


def _corruption(read: BucketReading, known: int | None) -> Exposure:
    sizes = read.sizes.tolist()
    most = read.most.tolist()
    # Buckets that are alike are attacked once. Without fakes odds do not matter.
    singles = read.singles() if read.fakes else [()] * len(sizes)
    alike = Counter(zip(sizes, most, singles, strict=True))
    surest: list[tuple[Fraction, int]] = []
    for (size, often, odds), number in alike.items():
        others = size - 1 if known is None else min(known, size - 1)
        surest.append((_surest(size, often, odds, read.fakes, others), number))
    attacked = sum(number for _, number in surest)
    mean = sum(sure * number for sure, number in surest) / max(attacked, 1)
    largest = max((sure for sure, _ in surest), default=0)
    return Exposure(float(largest), float(mean), attacked)


def _without_fakes(size: int, often: int, others: int) -> Fraction:
    """Knowing people with values other than the most frequent one is best, then those with it."""
    known_with_it = max(others - (size - often), 0)
    return Fraction(often - known_with_it, size - others)


@lru_cache(maxsize=100_000)
def _surest(
    size: int,
    often: int,
    singles: tuple[Fraction, ...],
    fakes: int,
    others: int,
) -> Fraction:
    """The largest posterior, over all choices of this many known people.

    A value that is shown several times is real, and known others are best spent on other values.
    So they are for a value that is shown once: first on those that are shown several times, which
    reveals nothing about it, then on those of least odds, as what is left is then more likely to be
    fake. `singles` are the odds of the values that are shown once.
    """
    if not fakes:
        return _without_fakes(size, often, others)
    best = _without_fakes(size, often, others) if often > 1 else Fraction(0)
    several = size + fakes - len(singles)
    known = max(others - several, 0)
    ascending = sorted(singles)
    for at in sorted({ascending.index(own) for own in ascending}):
        rest = [*ascending[:at], *ascending[at + 1 :]][known:]
        whole = [ascending[at], *rest]
        if _sums(whole, fakes)[-1]:
            sure = (1 - _chosen(whole, fakes)[0]) / (size - others)
            best = max(best, sure)
    return best


@typed
def association(release: BucketRelease) -> tuple[int, Exposure]:
    """The number of negative associations, and how sure someone is of values who rules them out.

    The values that one of a person's other values is seen not to go with are taken away, and what
    is left is believed in proportion.
    """
    return _association(BucketReading(release))


def _association(read: BucketReading) -> tuple[int, Exposure]:
    held = read.matrix()[read.bucket]
    held[read.ruled_out()] = 0
    left = held.sum(axis=1)
    # Ruling out everything is a mistake, and leaves nothing to believe.
    believing = left > 0
    surest = held[believing].max(axis=1, initial=0) / left[believing]
    mean = float(surest.mean()) if len(surest) else 0.0
    exposure = Exposure(float(surest.max(initial=0)), mean, len(surest))
    return len(read.associations()), exposure


@dataclass(frozen=True)
class HelpedAttackers:
    """How sure attackers with some help are of somebody's value in a release, at most."""

    fakes: int
    """The fake values of every bucket."""
    knows_nobody: float
    knows_one: float
    """Someone who knows the value of one other person of the bucket."""
    knows_all_others: float
    associations: int
    """The negative associations that the release shows."""
    rules_out: float
    """Someone who rules out what is seen not to go together."""


@typed
def helped(release: BucketRelease) -> HelpedAttackers:
    """How sure each of the helped attackers is of somebody's value, at most."""
    read = BucketReading(release)
    associations, ruling_out = _association(read)
    return HelpedAttackers(
        fakes=read.fakes,
        knows_nobody=_corruption(read, 0).largest,
        knows_one=_corruption(read, 1).largest,
        knows_all_others=_corruption(read, None).largest,
        associations=associations,
        rules_out=ruling_out.largest,
    )
