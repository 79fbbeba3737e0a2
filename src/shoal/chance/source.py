"""`Chance`: exact draws from the operating system's randomness, and `Seeded`, the same from a seed.

Every draw is exact: probabilities are rational numbers or e to a rational power, and no draw rounds
them. Floating-point numbers would let the last bits of a draw reveal more than the promise says.
Draws come in bulk; where there is a form for one draw too, that has the name in the singular. Why
each has the law it states: docs/proofs/chance.md. Uses `errors` alone; methods draw from it.
"""

import hashlib
import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from numbers import Rational
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import InternalError, ParameterError

__all__ = ["Chance", "Seeded"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Wide = npt.NDArray[Any]
"""int64 where the numbers fit, else Python's integers: the same code works on both."""

Exact = Sequence[Rational | int] | npt.NDArray[Any]
"""Integers or fractions; floats are refused."""

_WORD = 64
_LARGEST = (1 << 63) - 1

_BLOCK = 1 << 22
"""Draws made at a time, so that memory stays bounded."""

_FEW = 16
"""Up to this many trials together are one look-up; beyond, adding up coins costs less than larger
tables.
"""

_FIRST = 16
"""Bits that such a look-up takes; it decides all but a few in a thousand."""

_TIE = 255
"""What a look-up gives where these bits do not decide."""

_NO_BEST = "a selection was given a best score that no candidate has"

_CROWD = 1 << 16
"""Members of a group, and groups, whose numbers and a random half-word fill one word together."""


class Chance:
    """Exact draws from the operating system; cannot be seeded."""

    private = True
    """Whether a promise that rests on these draws holds."""

    def bytes(self, size: int) -> bytes:
        """Uniform bytes: everything else is made of these."""
        return os.urandom(size)

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Uniform 64-bit words."""
        return np.frombuffer(self.bytes(size * 8), dtype="<u8")

    def number(self) -> str:
        """A random number of 128 bits in hexadecimal, to name a release by."""
        return self.bytes(16).hex()

    # Uniform draws

    def below(self, n: int) -> int:
        """A uniform integer from 0 to n - 1."""
        bits = (_possible(n) - 1).bit_length()
        size = (bits + 7) // 8
        while True:  # each turn succeeds with a probability above one half
            drawn = int.from_bytes(self.bytes(size), "little") & ((1 << bits) - 1)
            if drawn < n:
                return drawn

    def belows(self, n: int, size: int) -> Wide:
        """`size` uniform integers from 0 to n - 1; Python's integers where n exceeds 2⁶³."""
        bits = (_possible(n) - 1).bit_length()
        if bits >= _WORD:
            return np.array([self.below(n) for _ in range(size)], dtype=object)
        if bits == 0:
            return np.zeros(size, dtype=np.int64)
        width = next(width for width in (1, 2, 4, 8) if bits <= 8 * width)
        drawn = np.empty(0, dtype=np.int64)
        while len(drawn) < size:
            # About as many as it takes until enough of them are below n.
            wanted = (size - len(drawn) << bits) // n + 1
            more = np.frombuffer(self.bytes(wanted * width), dtype=f"<u{width}")
            more = more & ((1 << bits) - 1)
            fitting = more[more < n]
            drawn = np.concatenate([drawn, fitting.astype(np.int64)])
        return drawn[:size]

    def weighted(self, sums: Wide) -> int:
        """A place, each with a probability in proportion to its weight.

        `sums` are the running totals of the weights: whole numbers that never fall.
        """
        return int(np.searchsorted(sums, self.below(int(sums[-1])), side="right"))

    def placed(self, sums: Sequence[int], bits: int, size: int) -> Ints:
        """`size` places, each with a probability of its weight / 2^bits.

        `sums` are the running totals of the weights: they never fall, and end with 2^bits. `bits`
        is at least 64.
        """
        if bits < _WORD or sums[-1] != 1 << bits:
            raise ParameterError(
                "the weights do not add up to 2^bits", "give such, with at least 64 bits"
            )
        # The last one is reached by no draw. A draw's first word decides unless a sum begins with
        # the very same bits.
        rest = bits - _WORD
        firsts = np.array([total >> rest for total in sums[:-1]], dtype=np.uint64)
        drawn = self.words(size)
        places = np.searchsorted(firsts, drawn, side="right")
        undecided = np.flatnonzero(places != np.searchsorted(firsts, drawn, side="left"))
        for each in undecided.tolist():
            whole = int(drawn[each]) << rest | (self.below(1 << rest) if rest else 0)
            places[each] = bisect_right(sums, whole)
        return places.astype(np.int64)

    def permutation(self, n: int) -> Ints:
        """A uniform order of 0 to n - 1."""
        bits = np.uint64(max(n - 1, 0).bit_length())
        lowest = (np.uint64(1) << bits) - np.uint64(1)
        # A random number and a place in one word: sorting words is several times as fast as sorting
        # places by them.
        places = np.arange(n, dtype=np.uint64)
        words = np.sort((self.words(n) << bits) | places)
        order = (words & lowest).astype(np.int64)
        words >>= bits
        equal = np.flatnonzero(words[1:] == words[:-1])
        if not len(equal):
            return order

        # The order of places with equal numbers is drawn on its own.
        breaks = np.flatnonzero(np.diff(equal) > 1) + 1
        for run in np.split(equal, breaks):
            tied = slice(int(run[0]), int(run[-1]) + 2)
            order[tied] = order[tied][self.permutation(len(run) + 1)]
        return order

    def choice(self, n: int, size: int) -> Wide:
        """A uniform choice of `size` different integers from 0 to n - 1, in uniform order.

        n may be larger than any array.
        """
        if not 0 <= size <= n:
            raise ParameterError(f"cannot choose {size} of {n}", f"choose 0 to {n}")
        if 4 * size > n:
            return self.permutation(n)[:size]
        chosen: Wide = np.empty(0, dtype=np.int64)
        if n:
            chosen = self.belows(n, size)
        while True:
            # A number that was there already is drawn again.
            _, first = np.unique(chosen, return_index=True)
            chosen = chosen[np.sort(first)]
            if len(chosen) == size:
                return chosen
            more = self.belows(n, size - len(chosen))
            chosen = np.concatenate([chosen, more])

    def choices(self, sizes: Ints, most: int) -> Bools:
        """Choose at most `most` members of each group uniformly, independently between groups.

        The members of all groups, of these sizes, stand one after the other.
        """
        sizes = np.asarray(sizes, dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        chosen = np.ones(int(sizes.sum()), dtype=np.bool_)
        choosing = sizes > most
        crowds = sizes > _CROWD
        for group in np.flatnonzero(choosing & crowds).tolist():
            start = int(starts[group])
            size = int(sizes[group])
            chosen[start : start + size] = False
            chosen[start + self.choice(size, most)] = True

        left = np.flatnonzero(choosing & ~crowds)
        while len(left):
            ends = np.cumsum(sizes[left])
            fitting = int(np.searchsorted(ends, _BLOCK, side="right"))
            block = left[: max(1, min(_CROWD, fitting))]
            tied = self._choose(chosen, starts[block], sizes[block], most)
            left = np.concatenate([block[tied], left[len(block) :]])
        return chosen

    def _choose(self, chosen: Bools, starts: Ints, sizes: Ints, most: int) -> Ints:
        """Choose by sorting one random half-word per member.

        Gives the groups with two equal ones, which have to draw again.
        """
        # Every word has a group's number, a random half-word, and a place in the group.
        group_bits = np.uint64(48)
        place_bits = np.uint64(16)
        before = np.cumsum(sizes) - sizes
        group = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
        first = np.repeat(before, sizes).astype(np.uint64)
        place = np.arange(len(group), dtype=np.uint64) - first
        drawn = np.frombuffer(self.bytes(4 * len(group)), dtype="<u4").astype(np.uint64)
        order = np.sort(group << group_bits | drawn << place_bits | place)

        group = (order >> group_bits).astype(np.int64)
        place = (order & np.uint64(_CROWD - 1)).astype(np.int64)
        rank = np.arange(len(group)) - before[group]
        chosen[starts[group] + place] = rank < most
        numbers = order >> place_bits
        equal = numbers[1:] == numbers[:-1]
        return np.unique(group[1:][equal])

    # Coins and sums of coins

    def bernoulli(self, probability: Fraction, size: int) -> Bools:
        """`size` draws that are True with exactly this probability."""
        scaled = _probability(probability) * (1 << _WORD)
        whole, rest = divmod(scaled, 1)
        if whole >> _WORD:
            return np.ones(size, dtype=np.bool_)
        drawn = np.empty(size, dtype=np.bool_)
        for start in range(0, size, _BLOCK):
            words = self.words(min(_BLOCK, size - start))
            drawn[start : start + len(words)] = words < np.uint64(whole)
            if not rest:
                continue
            # A uniform number is below the probability if its first word is, or is equal and the
            # rest is below the rest.
            for tie in np.flatnonzero(words == np.uint64(whole)):
                drawn[start + tie] = self.bernoulli(rest, 1)[0]
        return drawn

    def bernoullis(self, numerators: Wide, denominator: int) -> Bools:
        """For every numerator a draw that is True with probability numerator / denominator."""
        if not len(numerators):
            return np.empty(0, dtype=np.bool_)
        if not 0 <= numerators.min() <= numerators.max() <= denominator:
            raise ParameterError(
                f"a numerator is not from 0 to the denominator, {denominator}: "
                "the two do not make a probability"
            )
        drawn = self.belows(denominator, len(numerators))
        return np.asarray(drawn < numerators, dtype=np.bool_)

    def binomial(self, trials: Ints, probability: Fraction) -> Ints:
        """For every number of trials how many succeed, each with exactly this probability."""
        probability = _probability(probability)
        trials = np.asarray(trials, dtype=np.int64)
        if (trials < 0).any():
            raise ParameterError("a number of trials is negative")
        successes = np.empty_like(trials)
        for start in range(0, len(trials), _BLOCK):
            block = trials[start : start + _BLOCK]
            drawn = successes[start : start + _BLOCK]
            few = block <= _FEW
            drawn[few] = self._looked_up(block[few], probability)
            drawn[~few] = self._added_up(block[~few], probability)
        return successes

    def _looked_up(self, trials: Ints, probability: Fraction) -> Ints:
        """Binomial draws of a few trials, no more than a block of them.

        Each is a uniform number's place among the cumulative probabilities.

        Its first bits decide in nearly all cases, by a table; where a cumulative probability has
        the same first bits, more bits are drawn until they differ.
        """
        occurring = np.flatnonzero(np.bincount(trials)).tolist()
        cumulative = {n: _cumulative(n, probability) for n in occurring}
        tables = np.empty((max(cumulative, default=0) + 1, 1 << _FIRST), dtype=np.uint8)
        for n, sums in cumulative.items():
            tables[n] = _table(sums)

        first = np.frombuffer(self.bytes(2 * len(trials)), dtype="<u2")
        drawn = tables.ravel().take((trials << _FIRST) + first)
        successes: Ints = drawn.astype(np.int64)
        for tie in np.flatnonzero(drawn == _TIE).tolist():
            sums = cumulative[int(trials[tie])]
            successes[tie] = self._place(int(first[tie]), sums)
        return successes

    def _place(self, drawn: int, cumulative: Sequence[Fraction]) -> int:
        """How many cumulative probabilities a uniform number with these first bits reaches."""
        bits = _FIRST
        while True:
            least = bisect_right(cumulative, Fraction(drawn, 1 << bits))
            most = bisect_left(cumulative, Fraction(drawn + 1, 1 << bits))
            if least == most:
                return least
            drawn = drawn << _WORD | int(self.words(1)[0])
            bits += _WORD

    def _added_up(self, trials: Ints, probability: Fraction) -> Ints:
        """Binomial draws of many trials.

        All compare a uniform number with the probability bit by bit, together: each bit decides
        half of those still undecided, and how many is a sum of fair coins. A trial costs two random
        bits on average.
        """
        if probability == 1:
            return trials
        left = probability
        undecided = trials
        successes = np.zeros_like(trials)
        while left and undecided.any():
            bit, left = divmod(left * 2, 1)
            ones = self._heads(undecided)
            if bit:
                # Those whose bit is 0 are below the probability.
                successes += undecided - ones
                undecided = ones
            else:
                undecided = undecided - ones
        return successes

    def _heads(self, coins: Ints) -> Ints:
        """How many of each number of fair coins fall on heads."""
        heads = np.zeros_like(coins)
        rows = np.flatnonzero(coins)
        words = (coins[rows] + _WORD - 1) // _WORD
        ends = np.cumsum(words)
        start = 0
        while start < len(rows):
            # Rows whose words fit into a block together, at least one.
            before = ends[start] - words[start]
            fitting = int(np.searchsorted(ends, before + _BLOCK, side="right"))
            stop = max(start + 1, fitting)
            block = rows[start:stop]
            count = words[start:stop]
            last = np.cumsum(count) - 1
            drawn = self.words(int(count.sum())).copy()
            # The last word of a row may have more bits than there are coins left.
            surplus = count * _WORD - coins[block]
            drawn[last] >>= surplus.astype(np.uint64)
            ones = np.bitwise_count(drawn).astype(np.int64)
            heads[block] = np.add.reduceat(ones, last - count + 1)
            start = stop
        return heads

    # e to a rational power, after Canonne, Kamath and Steinke (2020)

    def bernoulli_exp(self, x: Fraction) -> bool:
        """True with probability e^−x, for a rational x of at least 0."""
        return bool(self.bernoullis_exp(_ones(1), x)[0])

    def bernoullis_exp(self, multiples: Exact, rate: Fraction) -> Bools:
        """For every integer m of at least 0 a draw that is True with probability e^−(m · rate).

        Neither m · rate nor the denominator of the rate needs to fit a machine word.
        """
        rate = _exact("rate", rate)
        gaps = _integers(multiples)
        if rate < 0 or (gaps < 0).any():
            raise ParameterError(
                "e to a positive power is not a probability",
                "give a rate and multiples of at least 0",
            )
        most = int(gaps.max(initial=0))
        if max(most * rate.numerator, rate.denominator) <= _LARGEST:
            return self._exp(gaps, rate)

        # Two coins that both fall on heads: one with as many bits of the rate as the machine can
        # multiply decides most, and only where it does fall on heads Python's integers are needed,
        # for the rest of the rate.
        parts = 1 << max(0, 62 - int(most * rate).bit_length())
        coarse = Fraction(int(rate * parts), parts)
        if most * coarse.numerator > _LARGEST:
            gaps = gaps.astype(object)
        heads = self._exp(gaps, coarse)
        left = np.flatnonzero(heads)
        heads[left] = self._exp(gaps[left].astype(object), rate - coarse)
        return heads

    def _exp(self, gaps: Wide, rate: Fraction) -> Bools:
        """The same where the integers given can hold the products.

        e^−x is e⁻¹ as often as 1 fits into x, times e^−rest.
        """
        scaled = gaps * rate.numerator
        whole = scaled // rate.denominator
        rest = scaled - whole * rate.denominator
        heads = np.ones(len(gaps), dtype=np.bool_)
        above_one = np.flatnonzero(whole > 0)
        heads[above_one] = self._runs(len(above_one)) >= whole[above_one]
        left = np.flatnonzero(heads & (rest > 0))
        heads[left] = self._exp_within_one(rest[left], rate.denominator)
        return heads

    def _exp_within_one(self, numerators: Wide, denominator: int) -> Bools:
        """True with probability e^−x for every x = numerator / denominator from 0 to 1.

        In turn k = 1, 2, … a draw stays with probability x / k. It is True if it leaves in an odd
        turn.
        """
        odd = np.ones(len(numerators), dtype=np.bool_)
        staying = np.arange(len(numerators))
        turn = 1
        while len(staying):
            # Two coins, 1 / k and x, that both fall on heads.
            staying = staying[self.bernoullis(_ones(len(staying)), turn)]
            staying = staying[self.bernoullis(numerators[staying], denominator)]
            odd[staying] ^= True
            turn += 1
        return odd

    def _runs(self, size: int) -> Ints:
        """How many times in a row a coin of probability e⁻¹ falls on heads.

        It is g times or more with probability e^−g.
        """
        runs = np.zeros(size, dtype=np.int64)
        running = np.arange(size)
        while len(running):
            running = running[self._exp_within_one(_ones(len(running)), 1)]
            runs[running] += 1
        return runs

    def discrete_laplace(self, scale: Fraction) -> int:
        """An integer z with probability proportional to e^−(|z| / scale)."""
        return int(self.discrete_laplaces(scale, 1)[0])

    def discrete_laplaces(self, scale: Fraction, size: int) -> Ints:
        """`size` integers z, each with probability proportional to e^−(|z| / scale)."""
        scale = _exact("scale", scale)
        if not 0 < scale <= 1 << 48:  # beyond, a draw might not fit an integer of the machine
            raise ParameterError("the scale is out of range", "it must be above 0 and at most 2⁴⁸")
        steps = scale.numerator
        width = scale.denominator
        drawn = np.empty(0, dtype=np.int64)
        while len(drawn) < size:
            low = self.belows(steps, size - len(drawn))
            low = low[self._exp_within_one(low, steps)]
            runs = self._runs(len(low))
            if steps * (int(runs.max(initial=0)) + 1) > _LARGEST:
                runs = runs.astype(object)
            away = np.asarray((low + runs * steps) // width, dtype=np.int64)
            negative = self.bernoullis(_ones(len(away)), 2)
            signed = np.where(negative, -away, away)
            # Zero has two signs and counts with one.
            fresh = ~negative | (away > 0)
            drawn = np.concatenate([drawn, signed[fresh]])
        return drawn

    # Selections

    def permute_and_flip(self, scores: Exact, rate: Fraction) -> int:
        """The index that permute-and-flip selects.

        Candidates come in uniform order, and the first one taken is selected.

        A candidate is taken with probability e^−(rate · (best score − its score)).
        """
        whole, multiplied = _scaled(scores)
        rate = _selecting(whole, rate) / multiplied
        return self.permute_and_flip_lazily(
            whole, int(whole.max()), lambda candidate: int(whole[candidate]), rate
        )

    def permute_and_flip_lazily(
        self, bounds: Exact, best: int, score: Callable[[int], int], rate: Fraction
    ) -> int:
        """What `permute_and_flip` selects, by the same law, asking only for scores that matter.

        bounds: integers, for every candidate at least its score
        best: the best score
        score: gives a candidate's score; asked for one after the other until a candidate is taken,
        never twice for one
        """
        rate = _selecting(bounds, rate)
        bounds = _capped(_integers(bounds), best)
        # The coin e^−(rate · (best − score)) is two that both fall on heads: e^−(rate · (best −
        # bound)), flipped here for all, and e^−(rate · (bound − score)), for which a score is
        # needed.
        left = np.flatnonzero(self.bernoullis_exp(best - bounds, rate))
        order = self.permutation(len(left))
        for candidate in left[order].tolist():
            gap = _gap(int(bounds[candidate]), score(candidate))
            if self.bernoulli_exp(rate * gap):
                return int(candidate)
        raise InternalError(_NO_BEST)

    def exponential(self, scores: Exact, rate: Fraction) -> int:
        """The index that the exponential mechanism selects.

        Each has a probability proportional to e^(rate · score).
        """
        whole, multiplied = _scaled(scores)
        rate = _selecting(whole, rate) / multiplied
        return self.exponential_lazily(
            whole, int(whole.max()), lambda candidate: int(whole[candidate]), rate
        )

    def exponential_lazily(
        self, bounds: Exact, best: int, score: Callable[[int], int], rate: Fraction
    ) -> int:
        """What `exponential` selects, by the same law; asks as `permute_and_flip_lazily` does.

        Candidates are proposed uniformly and taken with probability e^−(rate · (best − score)). As
        the best is among the n candidates, a block of n proposals has one that is taken with
        probability 1 − 1/e or more: two blocks are rarely needed.
        """
        rate = _selecting(bounds, rate)
        bounds = _capped(_integers(bounds), best)
        known: dict[int, int] = {}
        while True:
            proposed = self.belows(len(bounds), min(len(bounds), _BLOCK))
            possible = self.bernoullis_exp(best - bounds[proposed], rate)
            left = proposed[possible]
            for candidate in left.tolist():
                if candidate not in known:
                    known[candidate] = _gap(int(bounds[candidate]), score(candidate))
                if self.bernoulli_exp(rate * known[candidate]):
                    return int(candidate)
            # Where all that could be the best were asked and none is, this would never end.
            as_good = np.flatnonzero(bounds == best).tolist()
            if all(known.get(candidate) for candidate in as_good):
                raise InternalError(_NO_BEST)


class Seeded(Chance):
    """The same draws from a seed: for tests only.

    A release made with it says that its promise does not hold.
    """

    private = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._calls = 0

    def bytes(self, size: int) -> bytes:
        """Bytes that depend on the seed and on how many draws came before."""
        self._calls += 1
        return hashlib.shake_128(f"{self._seed} {self._calls}".encode()).digest(size)


def _ones(size: int) -> Ints:
    return np.ones(size, dtype=np.int64)


def _possible(n: int) -> int:
    if n < 1:
        raise ParameterError(f"a draw below {n} is impossible", "n must be at least 1")
    return n


def _probability(value: Fraction) -> Fraction:
    if not isinstance(value, Fraction | int) or not 0 <= value <= 1:
        raise ParameterError(
            f"probability {value!r} is not an exact fraction from 0 to 1",
            "give one such as Fraction(1, 10)",
        )
    return Fraction(value)


def _exact(name: str, value: Fraction) -> Fraction:
    if not isinstance(value, Rational):
        raise ParameterError(
            f"{name} {value!r} is not an exact fraction", "give one such as Fraction(1, 10)"
        )
    # Python's integers, since numpy's would overflow.
    return Fraction(int(value.numerator), int(value.denominator))


def _cumulative(trials: int, probability: Fraction) -> list[Fraction]:
    """The probabilities of at most 0, 1, … trials - 1 successes."""
    weights = []
    for successes in range(trials):
        one_way = probability**successes * (1 - probability) ** (trials - successes)
        weights.append(math.comb(trials, successes) * one_way)
    return list(accumulate(weights))


def _table(cumulative: Sequence[Fraction]) -> npt.NDArray[np.int64]:
    """For all first bits of a uniform number, its place among cumulative probabilities.

    It is `_TIE` where these bits do not decide.
    """
    cuts = [value * (1 << _FIRST) for value in cumulative]
    lengths = np.diff([0, *map(math.ceil, cuts), 1 << _FIRST])
    places = np.repeat(np.arange(len(cumulative) + 1), lengths)
    undecided = [int(cut) for cut in cuts if cut.denominator > 1]
    places[undecided] = _TIE
    return places


def _scaled(values: Exact) -> tuple[Wide, int]:
    """Exact numbers times their common denominator, and that denominator.

    The products are far from the limits of the machine, or Python's integers.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        whole = values
        multiplied = 1
    elif all(isinstance(value, Rational) for value in values):
        denominators = [int(value.denominator) for value in values]
        multiplied = math.lcm(*denominators)
        scaled = [
            int(value.numerator) * (multiplied // denominator)
            for value, denominator in zip(values, denominators, strict=True)
        ]
        whole = np.array(scaled, dtype=object)
    else:
        raise ParameterError("a score is not an exact number", "give integers or fractions")

    limit = _LARGEST >> 2  # two such numbers can be subtracted
    if len(whole) == 0 or -limit <= int(whole.min()) <= int(whole.max()) <= limit:
        return whole.astype(np.int64), multiplied
    return whole.astype(object), multiplied


def _integers(values: Exact) -> Wide:
    whole, multiplied = _scaled(values)
    if multiplied > 1:
        raise ParameterError(
            "a bound or multiple is not an integer", "put the common denominator into the rate"
        )
    return whole


def _selecting(candidates: Exact, rate: Fraction) -> Fraction:
    if not len(candidates):
        raise ParameterError("there is nothing to select from", "give at least one candidate")
    rate = _exact("rate", rate)
    if rate <= 0:
        raise ParameterError("the rate of a selection is not above 0")
    return rate


def _capped(bounds: Wide, best: int) -> Wide:
    """The bounds, none above the best score."""
    best = index(best)
    if abs(best) > _LARGEST >> 2:
        bounds = bounds.astype(object)
    return np.minimum(bounds, best)


def _gap(bound: int, score: int) -> int:
    gap = bound - index(score)
    if gap < 0:
        # The coin would have to fall on heads with a probability above one.
        raise InternalError(
            "a selection was given a bound, or a best score, below a candidate's score"
        )
    return gap
