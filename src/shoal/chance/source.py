"""`Chance`: exact draws from the operating system's randomness. `Seeded`: the same draws from a seed, for tests only.

Every draw is exact: a probability is a rational number, and no draw rounds it. Floating-point numbers would let the last
bits of a draw tell more than the promise says.
"""

import hashlib
import os
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from shoal.errors import ParameterError

__all__ = ["Chance", "Seeded"]

Ints = npt.NDArray[np.int64]
_WORD = 64
_BLOCK = 1 << 22  # draws made at a time, so that memory stays bounded


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

    def below(self, n: int) -> int:
        """A uniform integer from 0 to n - 1."""
        if n < 1:
            raise ParameterError(f"a draw below {n} is impossible; n must be at least 1")
        bits = (n - 1).bit_length()
        size = (bits + 7) // 8
        while True:  # each turn succeeds with a probability above one half
            drawn = int.from_bytes(self.bytes(size), "little") & ((1 << bits) - 1)
            if drawn < n:
                return drawn

    def permutation(self, n: int) -> Ints:
        """A uniform order of 0 to n - 1."""
        while True:  # given that no two words are equal, every order of them is equally likely
            words = self.words(n)
            order = np.argsort(words, kind="stable")
            if n < 2 or (np.diff(words[order]) > 0).all():
                return order.astype(np.int64)

    def choice(self, n: int, size: int) -> Ints:
        """A uniform choice of `size` different integers from 0 to n - 1, in uniform order."""
        if not 0 <= size <= n:
            raise ParameterError(f"cannot choose {size} of {n}; choose 0 to {n}")
        return self.permutation(n)[:size]

    def bernoulli(self, probability: Fraction, size: int) -> npt.NDArray[np.bool_]:
        """`size` draws that are True with exactly this probability."""
        scaled = _probability(probability) * (1 << _WORD)
        whole, rest = divmod(scaled, 1)
        if whole >> _WORD:
            return np.ones(size, dtype=np.bool_)
        drawn = np.empty(size, dtype=np.bool_)
        for start in range(0, size, _BLOCK):
            words = self.words(min(_BLOCK, size - start))
            drawn[start : start + len(words)] = words < np.uint64(whole)
            # A uniform number is below the probability if its first word is, or is equal and the rest is below the rest.
            for tie in np.flatnonzero(words == np.uint64(whole)) if rest else ():
                drawn[start + tie] = self.bernoulli(rest, 1)[0]
        return drawn

    def binomial(self, trials: Ints, probability: Fraction) -> Ints:
        """For every number of trials how many succeed, each with exactly this probability.

        All trials compare a uniform number with the probability bit by bit, together: each bit decides half of those
        still undecided, and how many is a sum of fair coins. A trial costs two random bits on average.
        """
        left, undecided = _probability(probability), np.asarray(trials, dtype=np.int64).copy()
        if (undecided < 0).any():
            raise ParameterError("a number of trials is negative")
        if left == 1:
            return undecided
        successes = np.zeros_like(undecided)
        while left and undecided.any():
            bit, left = divmod(left * 2, 1)
            ones = self._heads(undecided)
            if bit:
                successes += undecided - ones  # their bit is 0, below the probability's
                undecided = ones
            else:
                undecided = undecided - ones
        return successes

    def _heads(self, coins: Ints) -> Ints:
        """How many of so many fair coins fall on heads."""
        heads = np.zeros_like(coins)
        some = np.flatnonzero(coins)
        words = (coins[some] + _WORD - 1) // _WORD
        ends = np.cumsum(words)
        start = 0
        while start < len(some):  # rows whose words fit into a block together, at least one row
            before = ends[start] - words[start]
            stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
            count, last = words[start:stop], np.cumsum(words[start:stop]) - 1
            drawn = self.words(int(count.sum())).copy()
            drawn[last] >>= (count * _WORD - coins[some[start:stop]]).astype(np.uint64)
            heads[some[start:stop]] = np.add.reduceat(np.bitwise_count(drawn).astype(np.int64), last - count + 1)
            start = stop
        return heads


class Seeded(Chance):
    """The same draws from a seed: for tests only. A release made with it says that its promise does not hold."""

    private = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._calls = 0

    def bytes(self, size: int) -> bytes:
        """Bytes that depend on the seed and on how many draws came before."""
        self._calls += 1
        return hashlib.shake_128(f"{self._seed} {self._calls}".encode()).digest(size)


def _probability(value: Fraction) -> Fraction:
    if not isinstance(value, Fraction | int) or not 0 <= value <= 1:
        raise ParameterError(f"probability {value!r} is not an exact fraction from 0 to 1; give Fraction(1, 10), say")
    return Fraction(value)
