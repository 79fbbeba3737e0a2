"""What helped attackers learn from buckets: those who know some people's values, and those who learn what does not go together.

`posterior` is exact, for one bucket. `corruption` and `association` attack a whole release, as anybody can who has both
tables and the certificate. What they find with fakes and without is the worth of that defence.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

from shoal.arguments import typed
from shoal.data.kinds import Key
from shoal.errors import ParameterError
from shoal.measure.buckets import Reading, Release

__all__ = ["Exposure", "association", "corruption", "posterior"]

V = TypeVar("V", bound=Key | None)


@typed
def posterior(
    shown: Mapping[V, int],
    size: int,
    odds: Mapping[V, int | Fraction],
    known: Sequence[V] = (),
) -> dict[V, Fraction]:
    """How probable each value is of a person of a bucket, to someone who has the `known` values of others in it.

    The bucket has `size` people and shows more values: some are fake, each of them shown once. `odds` are those of the
    certificate: a set of values that are shown once is the set of the bucket's fakes with a probability in proportion to the
    product of their odds. That is the law by which buckets are made (docs/proofs/buckets.md).

    Of 90, 60 and 50 people with a, b and c, in buckets of two with one fake, who knows that the other person has b is
    this sure of a:

    >>> posterior({"a": 1, "b": 1, "c": 1}, 2, {"a": Fraction(1, 5), "b": Fraction(4, 5), "c": 1}, known=["b"])
    {'a': Fraction(5, 6), 'c': Fraction(1, 6)}
    """
    left = Counter(shown)
    left.subtract(known)
    fakes, people = sum(shown.values()) - size, size - len(known)
    if fakes < 0 or people < 1 or min(left.values(), default=0) < 0:
        raise ParameterError(
            "a bucket shows at least as many values as it has people, known ones among them, and not all are known"
        )
    if not set(shown) <= set(odds) or not all(
        isinstance(one, int | Fraction) and one >= 0 for one in odds.values()
    ):
        raise ParameterError(
            "`odds` are exact numbers of at least 0, one for every value that is shown"
        )
    single = [value for value, often in shown.items() if often == 1 and left[value]]
    fake = dict(
        zip(single, _chosen(tuple(Fraction(odds[value]) for value in single), fakes), strict=True)
    )
    found = {
        value: (often - fake.get(value, Fraction(0))) / people
        for value, often in left.items()
        if often
    }
    return {value: probability for value, probability in found.items() if probability}


def _chosen(odds: Sequence[Fraction], number: int) -> list[Fraction]:
    """How probable each is to be chosen if so many are, with a probability in proportion to the product of their odds."""
    whole = _sums(odds, number)[number]
    if not whole:
        raise ParameterError(
            "nobody could have made such a bucket: there are fewer values that may be fake than fakes"
        )
    if not number:
        return [Fraction(0)] * len(odds)
    others = [_sums([*odds[:at], *odds[at + 1 :]], number - 1)[-1] for at in range(len(odds))]
    return [own * rest / whole for own, rest in zip(odds, others, strict=True)]


def _sums(odds: Sequence[Fraction], number: int) -> list[Fraction]:
    """The elementary symmetric polynomials of the odds."""
    sums = [Fraction(1)] + [Fraction(0)] * number
    for own in odds:
        for k in range(number, 0, -1):
            sums[k] += own * sums[k - 1]
    return sums


@dataclass(frozen=True)
class Exposure:
    """How sure an attacker is at most of a person's value: of the most exposed one, and in the mean over buckets or people."""

    largest: float
    mean: float
    attacked: int
    """How many buckets or people were looked at."""


@typed
def corruption(release: Release, known: int | None = None) -> Exposure:
    """How sure someone is of a value who knows so many others of the same bucket; None is all but one.

    Which ones are known is the worst for the bucket. Buckets of no more than these people count as if all but one were known.
    With fakes, beliefs follow from the odds on the certificate, and are exact for someone who does not know how often values
    occur in the table. With `associations` fakes are drawn otherwise, and these beliefs are an approximation.
    """
    read = Reading(release)

    def others(size: int) -> int:
        return size - 1 if known is None else min(known, size - 1)

    found: list[tuple[Fraction, int]] = []
    if not read.fakes:
        alike, times = np.unique(np.stack([read.sizes, read.most]), axis=1, return_counts=True)
        for size, often, number in zip(*alike.tolist(), times.tolist(), strict=True):
            found.append((_without_fakes(size, often, others(size)), number))
    else:
        kinds = Counter(zip(read.sizes.tolist(), read.most.tolist(), read.singles(), strict=True))
        for (size, often, singles), number in kinds.items():
            found.append((_surest(size, often, singles, read.fakes, others(size)), number))
    attacked = sum(number for _, number in found)
    mean = sum(sure * number for sure, number in found) / max(attacked, 1)
    return Exposure(float(max((sure for sure, _ in found), default=0)), float(mean), attacked)


def _without_fakes(size: int, often: int, others: int) -> Fraction:
    """To know people with other values than the most frequent is best, then some with the same."""
    return Fraction(often - max(others - (size - often), 0), size - others)


@lru_cache(maxsize=100_000)
def _surest(
    size: int, often: int, singles: tuple[Fraction, ...], fakes: int, others: int
) -> Fraction:
    """The largest posterior, over all choices of so many known people.

    A value that is there several times is real, and known others are best spent on other values. So they are for one that is
    there once: first on those that are there several times, which tells nothing of it, then on those of least odds, as what
    is left is then more likely to be what is fake. `singles` are the odds of the values that are there once.
    """
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
def association(release: Release) -> tuple[int, Exposure]:
    """How many negative associations a release shows, and how sure someone is of people's values who rules them out.

    Of everybody the values that one of their others is seen not to go with are taken away, and what is left is believed in
    proportion.
    """
    read = Reading(release)
    out = read.ruled_out()
    held = read.matrix()[read.bucket]
    held[out] = 0
    left = held.sum(axis=1)
    some = left > 0  # to rule out everything is a mistake, which leaves nothing to believe
    surest = held[some].max(axis=1) / left[some] if some.any() else np.zeros(0)
    mean = float(surest.mean()) if len(surest) else 0.0
    return len(read.associations()), Exposure(float(surest.max(initial=0)), mean, len(surest))
