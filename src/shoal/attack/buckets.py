"""What helped attackers learn from buckets: those who know some people's values, and those who learn what does not go together.

`posterior` is exact, for one bucket. `corruption` and `association` attack a whole release, as anybody can who has both
tables and the certificate. What they find with fakes and without is the worth of that defence.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial
from typing import Literal, TypeVar

import numpy as np

from shoal.arguments import typed
from shoal.errors import ParameterError, TooLargeError
from shoal.kinds import Key
from shoal.measure.buckets import Reading, Release

__all__ = ["Exposure", "association", "corruption", "posterior"]

LARGEST = 200_000  # ways to tell real values from fakes that are worth trying one by one
_BUCKETS = 50  # different ones of a release with fakes that are attacked, or some more where there are many sizes

V = TypeVar("V", bound=Key | None)
Drawn = Literal["proportional", "uniform"]


@typed
def posterior(
    shown: Mapping[V, int],
    size: int,
    shares: Mapping[V, int | Fraction],
    known: Sequence[V] = (),
    drawn: Drawn = "proportional",
    certain: Collection[V] = (),
) -> dict[V, Fraction]:
    """How probable each value is of a person of a bucket, to someone who has the `known` values of others in it.

    The bucket has `size` people and shows more values: some are fake, each of them once. `shares` are those of all values
    among the records, by which the attacker expects real ones, and by which fakes are drawn, one after the other and
    different from all that the bucket has; or "uniform", which shows why they should not be. All ways to tell real from
    fake that agree with what is known are weighed. `certain` are values of which the attacker knows that none is fake.

    >>> shares = {"flu": 60, "cold": 39, "HIV": 1}
    >>> posterior({"flu": 1, "HIV": 1}, 1, shares)["flu"], posterior({"flu": 1, "HIV": 1}, 1, shares, drawn="uniform")["flu"]
    (Fraction(99, 139), Fraction(60, 61))
    >>> posterior({"flu": 1, "HIV": 1}, 2, shares, known=["flu"])
    {'HIV': Fraction(1, 1)}
    """
    left = Counter(shown)
    left.subtract(known)
    fakes, people = sum(shown.values()) - size, size - len(known)
    if (
        fakes < 0
        or people < 1
        or min(left.values()) < 0
        or drawn not in ("proportional", "uniform")
    ):
        raise ParameterError(
            "a bucket shows at least as many values as it has people, known ones among them, and not all are known"
        )
    if not all(
        isinstance(share, int | Fraction) and share > 0 for share in shares.values()
    ) or not set(shown) <= set(shares):
        raise ParameterError(
            "`shares` are numbers above 0, exact ones, of all values that there are"
        )
    single = [
        value
        for value, often in shown.items()
        if often == 1 and left[value] and value not in certain
    ]
    if comb(len(single), fakes) * factorial(fakes) > LARGEST:
        raise TooLargeError(
            f"there are more than {LARGEST:,} ways to tell real from fake; take a smaller bucket or fewer fakes"
        )
    outside = Fraction(sum(shares.values()) - sum(shares[value] for value in shown))
    weighed: dict[V, Fraction] = {}
    total = Fraction(0)
    for fake in combinations(single, fakes):
        weight = sum(
            _weights([Fraction(shares[value]) for value in fake], outside, drawn), Fraction(0)
        )
        total += weight
        for value in fake:
            weighed[value] = weighed.get(value, Fraction(0)) + weight
    if not total:
        raise ParameterError(
            "nobody could have made such a bucket: there are fewer values that may be fake than fakes"
        )
    found = {
        value: (often - weighed.get(value, Fraction(0)) / total) / people
        for value, often in left.items()
        if often
    }
    return {value: probability for value, probability in found.items() if probability}


def _weights(fake: Sequence[Fraction], outside: Fraction, drawn: Drawn) -> Iterator[Fraction]:
    """How probable a bucket is of which these are fake, up to a factor: that their values are not real ones, and were drawn.

    A bucket has its real values with a probability that is proportional to the product of their shares, so that each
    fake divides by its own; and drawing it in proportion multiplies by that again.
    """
    for order in permutations(fake) if drawn == "proportional" else [tuple(fake)]:
        weight, rest = Fraction(1), outside + sum(fake)
        for share in order:
            weight /= rest if drawn == "proportional" else share
            rest -= share
        yield weight


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
    Without fakes all buckets are looked at; with fakes fifty or some more different ones of all sizes, those with the most
    of one value first. A value that all buckets of a size show is taken to be real there, as a bucket that has it cannot
    draw it as a fake.
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
        for size, bags in _different(read).items():
            shares, certain = _shares(read, size), _everywhere(read, size)
            found += [(_surest(bag, size, shares, others(size), certain), 1) for bag in bags]
    attacked = sum(number for _, number in found)
    mean = sum(sure * number for sure, number in found) / max(attacked, 1)
    return Exposure(float(max((sure for sure, _ in found), default=0)), float(mean), attacked)


def _different(read: Reading) -> dict[int, list[dict[int, int]]]:
    """Some different bags of every size, those with the most of one value first."""
    sizes = np.unique(read.sizes).tolist()
    found = {}
    for size in sizes:
        own = np.flatnonzero(read.sizes == size)
        bags: dict[tuple[tuple[int, int], ...], None] = {}
        for bucket in own[np.argsort(-read.most[own], kind="stable")].tolist():
            bags[tuple(read.bag(bucket).items())] = None
            if len(bags) * len(sizes) >= _BUCKETS:
                break
        found[size] = [dict(bag) for bag in bags]
    return found


def _shares(read: Reading, size: int) -> dict[int, Fraction]:
    """How often each value can be expected in all buckets of a size, as these are filled by themselves."""
    often = read.matrix()[read.sizes == size].sum(axis=0)
    return {value: Fraction(float(number)) for value, number in enumerate(often) if number > 0}


def _everywhere(read: Reading, size: int) -> set[int]:
    return set(np.flatnonzero((read.matrix()[read.sizes == size] > 0).all(axis=0)).tolist())


def _without_fakes(size: int, often: int, others: int) -> Fraction:
    """To know people with other values than the most frequent is best, then some with the same."""
    return Fraction(often - max(others - (size - often), 0), size - others)


def _surest(
    shown: Mapping[int, int],
    size: int,
    shares: Mapping[int, Fraction],
    others: int,
    certain: Collection[int],
) -> Fraction:
    """The largest posterior, over all choices of so many known values."""
    values = [value for value, often in shown.items() for _ in range(often)]
    if comb(len(values), others) * comb(len(values), sum(shown.values()) - size) > LARGEST:
        raise TooLargeError(
            "there are too many ways to know people of such buckets; ask for 0, 1, or all but one"
        )
    best = Fraction(0)
    for some in set(combinations(values, others)):
        singles = sum(
            often == 1 and value not in some and value not in certain
            for value, often in shown.items()
        )
        if singles >= sum(shown.values()) - size:
            best = max(best, *posterior(shown, size, shares, some, certain=certain).values())
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
