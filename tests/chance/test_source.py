"""Draws are exact, cannot be seeded by default, and a generator that is 30 % off is found."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attack.coins import (
    ONE,
    ZERO,
    Enumerated,
    Interval,
    exp,
    flipped,
    law,
    point,
    probabilistic,
    shipped,
    standard,
)
from shoal.chance import Chance, Seeded
from shoal.errors import InternalError, ParameterError

DRAWS = 40_000
LIMIT = 4.9  # standard deviations: a right generator is beyond them once in a million
PROBABILITIES = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(7, 9), Fraction(99, 100)]


class Bits(Chance):
    """Plays back given bytes, to enumerate what a draw does on every possible input."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def bytes(self, size: int) -> bytes:
        taken, self.content = self.content[:size], self.content[size:]
        if len(taken) < size:
            raise EOFError
        return taken


def off(drawn: float, expected: float, variance: float) -> float:
    """How many standard deviations a sum of draws is off."""
    return abs(drawn - expected) / math.sqrt(variance)


def chi_squared(seen: dict[int, int], expected: dict[int, float]) -> float:
    """Pearson's statistic in standard deviations above its mean, the rarest values pooled until 5
    are expected of them."""
    cells: list[tuple[int, float]] = [(0, 0.0)]
    for value in sorted(expected, key=expected.__getitem__):
        if cells[-1][1] >= 5:
            cells.append((0, 0.0))
        cells[-1] = (cells[-1][0] + seen.get(value, 0), cells[-1][1] + expected[value])
    statistic = sum((s - e) ** 2 / e for s, e in cells)
    freedom = max(len(cells) - 1, 1)
    # Wilson and Hilferty: the cube root is nearly normal
    return float((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(
        2 / (9 * freedom)
    )


def binomial_weights(n: int, p: Fraction, draws: int) -> dict[int, float]:
    return {
        i: draws * math.comb(n, i) * float(p) ** i * float(1 - p) ** (n - i) for i in range(n + 1)
    }


@pytest.mark.parametrize("p", PROBABILITIES)
def test_bernoulli_has_its_probability_and_a_twin_30_percent_off_is_found(p: Fraction) -> None:
    drawn = int(Chance().bernoulli(p, DRAWS).sum())
    assert off(drawn, float(DRAWS * p), float(DRAWS * p * (1 - p))) < LIMIT
    twin = min(p * Fraction(13, 10), Fraction(1)) if p < Fraction(1, 2) else p * Fraction(7, 10)
    wrong = int(Chance().bernoulli(twin, DRAWS).sum())
    assert off(wrong, float(DRAWS * p), float(DRAWS * p * (1 - p))) > LIMIT


def test_bernoulli_compares_every_bit_with_the_exact_probability() -> None:
    p = Fraction(1, 3)
    first, rest = divmod(p * 2**64, 1)
    word = int(first).to_bytes(8, "little")
    second = int(rest * 2**64)
    below, above = ((second + step).to_bytes(8, "little") for step in (-1, 1))
    assert Bits((int(first) - 1).to_bytes(8, "little")).bernoulli(p, 1)[0]
    assert not Bits((int(first) + 1).to_bytes(8, "little")).bernoulli(p, 1)[0]
    assert Bits(word + below).bernoulli(p, 1)[0]
    assert not Bits(word + above).bernoulli(p, 1)[0]
    with pytest.raises(
        EOFError
    ):  # still undecided after 128 bits: asks for more instead of rounding
        Bits(word + second.to_bytes(8, "little")).bernoulli(p, 1)


def test_bernoulli_of_zero_and_one_is_certain() -> None:
    assert not Chance().bernoulli(Fraction(0), 1000).any()
    assert Chance().bernoulli(Fraction(1), 1000).all()
    assert len(Chance().bernoulli(Fraction(1, 2), 0)) == 0


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("n", [1, 5, 64, 65, 200])
def test_binomial_is_distributed_as_it_should_be(n: int, p: Fraction) -> None:
    drawn = Chance().binomial(np.full(DRAWS // 4, n), p)
    assert drawn.min() >= 0
    assert drawn.max() <= n
    assert chi_squared(Counter(drawn.tolist()), binomial_weights(n, p, DRAWS // 4)) < LIMIT


@pytest.mark.parametrize("p", PROBABILITIES)
def test_a_binomial_twin_30_percent_off_is_found(p: Fraction) -> None:
    twin = min(p * Fraction(13, 10), Fraction(1)) if p < Fraction(1, 2) else p * Fraction(7, 10)
    wrong = Chance().binomial(np.full(DRAWS // 4, 5), twin)
    assert chi_squared(Counter(wrong.tolist()), binomial_weights(5, p, DRAWS // 4)) > LIMIT


def test_a_binomial_twin_with_too_little_spread_is_found() -> None:
    drawn = Chance().binomial(np.full(DRAWS // 4, 20), Fraction(1, 2))
    narrowed = 10 + np.trunc((drawn - 10) * 0.7).astype(np.int64)
    assert (
        chi_squared(Counter(narrowed.tolist()), binomial_weights(20, Fraction(1, 2), DRAWS // 4))
        > LIMIT
    )


def test_binomial_mixes_large_small_and_zero_counts() -> None:
    trials = np.array([0, 1, 10_000_000, 0, 63, 64, 65, 1_000_000])
    drawn = Chance().binomial(trials, Fraction(3, 10))
    assert (drawn <= trials).all()
    for n, got in zip(trials.tolist(), drawn.tolist(), strict=True):
        if n > 1000:
            assert off(got, n * 0.3, n * 0.21) < LIMIT
    assert (Chance().binomial(trials, Fraction(1)) == trials).all()
    assert (Chance().binomial(trials, Fraction(0)) == 0).all()


def test_binomial_fits_any_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.chance.source._BLOCK", 3)
    trials = np.array([1, 500, 2, 0, 7, 129, 64] * 300)
    drawn = Chance().binomial(trials, Fraction(1, 4))
    assert (drawn <= trials).all()
    assert off(int(drawn.sum()), trials.sum() / 4, trials.sum() * 3 / 16) < LIMIT
    assert off(int(Chance().bernoulli(Fraction(1, 4), 2000).sum()), 500, 375) < LIMIT


@pytest.mark.parametrize("n", [1, 2, 3, 10, 257])
def test_integers_below_a_bound_are_uniform(n: int) -> None:
    chance = Chance()
    seen = Counter(chance.below(n) for _ in range(5000))
    assert set(seen) <= set(range(n))
    if n > 1:
        assert chi_squared(seen, dict.fromkeys(range(n), 5000 / n)) < LIMIT
        lopsided = Counter(int(chance.below(n) * 0.7) for _ in range(5000))
        assert chi_squared(lopsided, dict.fromkeys(range(n), 5000 / n)) > LIMIT


def test_integers_below_a_bound_are_exactly_uniform_over_all_bytes() -> None:
    outcomes: Counter[int] = Counter()
    for byte in range(256):
        try:
            outcomes[Bits(bytes([byte])).below(5)] += 1
        except EOFError:
            outcomes[-1] += 1  # refused, drawn again
    assert outcomes == {0: 32, 1: 32, 2: 32, 3: 32, 4: 32, -1: 96}


def test_large_bounds_are_drawn_too() -> None:
    assert 0 <= Chance().below(10**40) < 10**40


# With 72 bits a draw is a word and, where that leaves it open, a byte: two sums share a word, one
# has no bits beyond its word, and one place has no weight.
_TIED = [(5 << 8) + 7, (5 << 8) + 200, 9 << 8, 9 << 8, 1 << 72]


def places_of(word: int, sums: Sequence[int], bits: int) -> list[tuple[int, int]]:
    """What a draw that begins with this word gives, for each byte that may follow: V and place."""
    first = word.to_bytes(8, "little")
    try:
        decided = int(Bits(first).placed(sums, bits, 1)[0])
        return [(word << 8 | byte, decided) for byte in range(256)]
    except EOFError:  # it asks for the byte
        sources = [(byte, Bits(first + bytes([byte]))) for byte in range(256)]
        return [
            (word << 8 | byte, int(source.placed(sums, bits, 1)[0])) for byte, source in sources
        ]


def test_places_have_exactly_their_weights_ties_included() -> None:
    seen: Counter[int] = Counter()
    words = range(12)
    for word in words:
        for drawn, place in places_of(word, _TIED, 72):
            assert place == sum(total <= drawn for total in _TIED)
            seen[place] += 1
    # All other words are above every sum but the last.
    assert places_of((1 << 64) - 1, _TIED, 72)[-1][1] == 4
    seen[4] += (1 << 72) - 256 * len(words)
    assert seen == {0: _TIED[0], 1: 193, 2: 9 * 256 - _TIED[1], 4: (1 << 72) - 9 * 256}


def test_places_of_a_single_word_need_no_more_of_it() -> None:
    sums = [3, 5, 1 << 64]
    drawn = Bits(b"".join(word.to_bytes(8, "little") for word in (0, 2, 3, 4, 5, 6)))
    assert drawn.placed(sums, 64, 6).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("bits", [64, 128])
def test_places_are_as_frequent_as_their_weights_and_a_twin_is_found(bits: int) -> None:
    shares = [Fraction(1, 16), Fraction(1, 2), Fraction(5, 16), Fraction(1, 8)]
    sums = [int(total * (1 << bits)) for total in accumulate(shares)]
    expected = {place: float(DRAWS * share) for place, share in enumerate(shares)}
    drawn = Chance().placed(sums, bits, DRAWS)
    assert chi_squared(Counter(drawn.tolist()), expected) < LIMIT
    twin = Chance().placed([sums[0] * 13 // 10, *sums[1:]], bits, DRAWS)
    assert chi_squared(Counter(twin.tolist()), expected) > LIMIT


@pytest.mark.parametrize(("sums", "bits"), [([1, 1 << 64], 65), ([1 << 32], 32)])
def test_weights_that_do_not_add_up_are_refused(sums: list[int], bits: int) -> None:
    with pytest.raises(ParameterError, match=r"do not add up to 2\^bits"):
        Chance().placed(sums, bits, 1)


def test_places_are_enumerated_with_their_weights() -> None:
    sums = [1 << 62, 1 << 62, 1 << 64]
    weights = law(lambda chance: tuple(chance.placed(sums, 64, 2).tolist()))
    assert {places: weight.exact for places, weight in weights.items()} == {
        (0, 0): Fraction(1, 16),
        (0, 2): Fraction(3, 16),
        (2, 0): Fraction(3, 16),
        (2, 2): Fraction(9, 16),
    }


def test_every_order_is_equally_likely() -> None:
    chance = Chance()
    orders = list(permutations(range(4)))
    seen = Counter(orders.index(tuple(chance.permutation(4).tolist())) for _ in range(5000))
    assert chi_squared(seen, dict.fromkeys(range(24), 5000 / 24)) < LIMIT


def test_equal_words_are_drawn_again_for_an_order() -> None:
    same, other = b"\x01" * 8, b"\x02" * 8
    assert Bits(same + same + other + same).permutation(2).tolist() == [1, 0]


def test_choosing_gives_different_numbers() -> None:
    chosen = Chance().choice(100, 40)
    assert len(set(chosen.tolist())) == 40
    assert sorted(Chance().choice(5, 5).tolist()) == [0, 1, 2, 3, 4]
    assert len(Chance().choice(5, 0)) == 0


@pytest.mark.parametrize(
    "wrong", [Fraction(-1, 10), Fraction(11, 10), 0.5, float("nan"), float("inf"), "1/2"]
)
def test_a_probability_that_is_no_exact_fraction_is_refused(wrong: Fraction) -> None:
    with pytest.raises(ParameterError, match="exact fraction"):
        Chance().bernoulli(wrong, 3)
    with pytest.raises(ParameterError, match="exact fraction"):
        Chance().binomial(np.array([3]), wrong)


def test_impossible_draws_are_refused() -> None:
    with pytest.raises(ParameterError):
        Chance().below(0)
    with pytest.raises(ParameterError):
        Chance().choice(3, 4)
    with pytest.raises(ParameterError):
        Chance().binomial(np.array([-1]), Fraction(1, 2))


# Binomial draws by look-up, bit by bit


@pytest.mark.parametrize(
    "p", [*PROBABILITIES, Fraction(1, 4), Fraction(10939021434427000000, 2**64)]
)
@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_all_first_bits_of_a_binomial_draw_together_have_its_law(n: int, p: Fraction) -> None:
    seen: Counter[int] = Counter()
    ties = []

    class First(Bits):
        def _place(self, drawn: int, cumulative: Sequence[Fraction]) -> int:
            ties.append(drawn)
            return -1

    seen.update(
        First(np.arange(1 << 16, dtype="<u2").tobytes()).binomial(np.full(1 << 16, n), p).tolist()
    )
    assert seen[-1] == len(ties) <= n
    for i in range(n + 1):
        probability = math.comb(n, i) * p**i * (1 - p) ** (n - i)
        lacking = probability * (1 << 16) - seen[i]
        assert 0 <= lacking <= 2


def test_a_binomial_tie_is_decided_by_further_bits() -> None:
    p, none = (
        Fraction(1, 3),
        Fraction(2, 3),
    )  # no success has probability 0xaaaa…: a draw that starts so is undecided
    start, word = (0xAAAA).to_bytes(2, "little"), int(none * 2**16 % 1 * 2**64)
    assert Bits((0xAAA9).to_bytes(2, "little")).binomial(np.array([1]), p).tolist() == [0]
    assert Bits((0xAAAB).to_bytes(2, "little")).binomial(np.array([1]), p).tolist() == [1]
    assert Bits(start + (word - 1).to_bytes(8, "little")).binomial(np.array([1]), p).tolist() == [0]
    assert Bits(start + (word + 1).to_bytes(8, "little")).binomial(np.array([1]), p).tolist() == [1]
    with pytest.raises(EOFError):
        Bits(start + word.to_bytes(8, "little")).binomial(np.array([1]), p)


# e to a rational power

POWERS = [
    Fraction(0),
    Fraction(1, 100),
    Fraction(1, 2),
    Fraction(1),
    Fraction(3, 2),
    Fraction(17, 5),
]


@pytest.mark.parametrize("x", POWERS)
@pytest.mark.parametrize("denominator", [None, 2**62 - 57, 2**62, 2**70 + 1])
def test_coins_of_e_to_a_power_have_their_probability_and_a_twin_30_percent_off_is_found(
    x: Fraction, denominator: int | None
) -> None:
    near = Fraction(int(x * denominator), denominator) if denominator else x
    size = DRAWS // 8 if denominator and denominator > 2**63 else DRAWS
    p = math.exp(-x)
    spread = max(size * p * (1 - p), 1e-9)

    def drawn(rate: Fraction) -> int:
        return int(Seeded(1).bernoullis_exp(np.ones(size, dtype=np.int64), rate).sum())

    assert off(drawn(near), size * p, spread) < LIMIT
    if size * abs(math.exp(-1.3 * x) - p) > 7 * math.sqrt(spread):
        assert off(drawn(near * Fraction(13, 10)), size * p, spread) > LIMIT
    else:
        assert x < Fraction(1, 50)  # all others have the power to see it


def test_coins_with_many_different_powers_each_have_their_own() -> None:
    multiples = np.tile(np.arange(12), 4000)
    drawn = Seeded(2).bernoullis_exp(multiples, Fraction(2, 5))
    for m in range(12):
        p = math.exp(-0.4 * m)
        assert (
            off(int(drawn[multiples == m].sum()), 4000 * p, max(4000 * p * (1 - p), 1e-9)) < LIMIT
        )


def test_coins_whose_power_exceeds_the_machine_are_right() -> None:
    huge = [0, 10**40, 2**62, 1, 3]
    drawn = np.array(
        [Seeded(seed).bernoullis_exp(huge, Fraction(10**30, 3 * 10**30)) for seed in range(2000)]
    )
    assert drawn[:, 0].all()
    assert not drawn[:, 1:3].any()
    for column, p in ((3, math.exp(-1 / 3)), (4, math.exp(-1))):
        assert off(int(drawn[:, column].sum()), 2000 * p, 2000 * p * (1 - p)) < LIMIT
    assert len(Chance().bernoullis_exp(np.array([], dtype=np.int64), Fraction(1, 3))) == 0


def missing(weights: dict[Any, Interval]) -> Fraction:
    return 1 - sum(weights.values(), ZERO).low


def same(found: dict[Any, Interval], expected: dict[Any, Interval]) -> bool:
    """Whether a law found by enumeration can be the expected one, given what was not followed."""
    left_out = missing(found)
    return all(
        found.get(outcome, ZERO).low <= expected.get(outcome, ZERO).high
        and expected.get(outcome, ZERO).low <= found.get(outcome, ZERO).high + left_out
        for outcome in {*found, *expected}
    )


def tossed(p: Interval) -> dict[bool, Interval]:
    return {True: p, False: ONE - p}


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (2, 3), (99, 100), (1, 1)])
def test_the_coin_within_one_has_exactly_its_law(numerator: int, denominator: int) -> None:
    x = Fraction(numerator, denominator)
    cut = Fraction(1, 10**20)
    found = law(
        lambda chance: bool(chance._exp_within_one(np.array([numerator]), denominator)[0]),
        shipped("_exp_within_one"),
        cut,
    )
    assert missing(found) < Fraction(1, 10**18)
    assert same(found, tossed(exp(-x)))
    assert x == 0 or not same(found, tossed(exp(-x * Fraction(13, 10))))
    assert x == 0 or not same(found, tossed(exp(-x) + point(Fraction(1, 10**15))))


@pytest.mark.parametrize(
    "x",
    [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(5), Fraction(5 * 3**60 + 1, 2 * 3**60)],
)
def test_the_coin_of_any_power_has_exactly_its_law(x: Fraction) -> None:
    found = law(
        lambda chance: chance.bernoulli_exp(x), shipped("bernoullis_exp"), Fraction(1, 10**20)
    )
    assert missing(found) < Fraction(1, 10**18)
    assert same(found, tossed(exp(-x)))
    assert not same(found, tossed(exp(-x * Fraction(13, 10))))


def laplace_weights(scale: float, draws: int) -> dict[int, float]:
    r = math.exp(-1 / scale)
    reach = int(scale * 15) + 2
    return {z: draws * (1 - r) / (1 + r) * r ** abs(z) for z in range(-reach, reach + 1)}


@pytest.mark.parametrize(
    "scale",
    [Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(20), Fraction(3 * 2**70 + 1, 2**70)],
)
def test_discrete_laplace_has_its_law_and_a_twin_30_percent_off_is_found(scale: Fraction) -> None:
    size = 4000 if scale.denominator > 2**63 else DRAWS
    expected = laplace_weights(float(scale), size)
    assert chi_squared(Counter(Seeded(3).discrete_laplaces(scale, size).tolist()), expected) < LIMIT
    for twin in (Fraction(7, 10), Fraction(13, 10)):
        assert (
            chi_squared(Counter(Seeded(3).discrete_laplaces(scale * twin, size).tolist()), expected)
            > LIMIT
        )


def test_one_discrete_laplace_draw_is_like_many() -> None:
    chance = Seeded(4)
    seen = Counter(chance.discrete_laplace(Fraction(2)) for _ in range(1500))
    assert chi_squared(seen, laplace_weights(2.0, 1500)) < LIMIT


class Again(Exception):
    """A draw was refused and is to be made again."""


class Once(shipped("discrete_laplaces")):  # type: ignore[misc]
    """One turn of a draw."""

    def belows(self, n: int, size: int) -> npt.NDArray[np.int64]:
        if self._at:
            raise Again
        return super().belows(n, size)  # type: ignore[no-any-return]


@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(2), Fraction(5, 2)])
def test_discrete_laplace_has_exactly_its_law(scale: Fraction) -> None:
    def run(chance: Enumerated, scale: Fraction = scale) -> int | None:
        try:
            return chance.discrete_laplace(scale)
        except Again:
            return None

    cut = Fraction(1, 10**12)
    found = law(run, Once, cut)
    assert missing(found) < Fraction(1, 10**9)
    taken = sum((weight for outcome, weight in found.items() if outcome is not None), ZERO)
    found = {outcome: weight / taken for outcome, weight in found.items() if outcome is not None}
    expected, twin = (
        law(run, cut=cut),
        law(lambda chance: run(chance, scale * Fraction(13, 10)), cut=cut),
    )
    nearly = Fraction(1, 10**8)
    assert all(abs(found[z].low - expected[z].low) < nearly for z in range(-5, 6))
    assert not all(abs(found[z].low - twin[z].low) < nearly for z in range(-5, 6))


# Uniform draws in bulk


@pytest.mark.parametrize("n", [2, 3, 255, 256, 257, 1000])
def test_many_integers_below_a_bound_are_uniform(n: int) -> None:
    drawn = Seeded(5).belows(n, DRAWS)
    assert len(drawn) == DRAWS
    assert chi_squared(Counter(drawn.tolist()), dict.fromkeys(range(n), DRAWS / n)) < LIMIT
    lopsided = Counter((drawn * 7 // 10).tolist())
    assert chi_squared(lopsided, dict.fromkeys(range(n), DRAWS / n)) > LIMIT


@pytest.mark.parametrize("n", [1, 2**40 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 10**30])
def test_many_integers_below_any_bound_are_in_range_and_spread(n: int) -> None:
    drawn = [int(value) for value in Seeded(6).belows(n, 3000)]
    assert all(0 <= value < n for value in drawn)
    if n > 1:
        assert (
            chi_squared(Counter(value * 10 // n for value in drawn), dict.fromkeys(range(10), 300))
            < LIMIT
        )


def test_many_integers_are_exactly_uniform_over_all_bytes() -> None:
    outcomes = Counter(Bits(bytes(range(256)) * 2).belows(5, 160).tolist())
    assert outcomes == dict.fromkeys(range(5), 32)


@pytest.mark.parametrize("n", [1, 7, 2**62, 2**70])
def test_coins_of_different_rational_probabilities_have_them(n: int) -> None:
    numerators = np.array([0, n // 3, n // 2, n] * 3000, dtype=np.int64 if n < 2**63 else object)
    drawn = Seeded(7).bernoullis(numerators, n).reshape(-1, 4)
    for column, p in enumerate((0.0, (n // 3) / n, (n // 2) / n, 1.0)):
        assert off(int(drawn[:, column].sum()), 3000 * p, max(3000 * p * (1 - p), 1e-9)) < LIMIT
    for wrong in ([-1], [n + 1]):
        with pytest.raises(ParameterError):
            Chance().bernoullis(np.array(wrong, dtype=object), n)


@pytest.mark.parametrize("n", [10, 12, 2**70])
def test_choosing_few_of_many_is_uniform_too(n: int) -> None:
    chance = Seeded(8)
    chosen = [[int(value) for value in chance.choice(n, 2)] for _ in range(4000)]
    assert all(
        one != other and min(one, other) >= 0 and max(one, other) < n for one, other in chosen
    )
    if n < 20:
        seen = Counter(one * n + other for one, other in chosen)
        pairs = [one * n + other for one in range(n) for other in range(n) if one != other]
        assert chi_squared(seen, dict.fromkeys(pairs, 4000 / len(pairs))) < LIMIT
        sorted_twin = Counter(min(pair) * n + max(pair) for pair in chosen)
        assert chi_squared(sorted_twin, dict.fromkeys(pairs, 4000 / len(pairs))) > LIMIT
    assert len(chance.choice(0, 0)) == len(chance.choice(10**12, 0)) == 0


def test_choosing_draws_repeats_again() -> None:
    assert Bits(bytes([3, 3, 3, 3, 5, 5, 5, 5])).choice(8, 2).tolist() == [3, 5]


# Selections

SCORES = [50, 41, 42, 43, 20, *[42] * 9]
BOUNDS = [50, 46, 52, 43, 70, 45, 48, 51, 44, 47, 60, 60, 42, 42]
RATE = Fraction(1, 4)
TIMES = 1000


def selected(draw: Callable[[], int]) -> Counter[int]:
    return Counter(draw() for _ in range(TIMES))


def flipping(rate: Fraction) -> dict[int, float]:
    return {
        i: TIMES * float(p)
        for i, p in enumerate(flipped([exp(rate * (s - max(SCORES))) for s in SCORES]))
    }


def weighing(rate: Fraction) -> dict[int, float]:
    total = sum(math.exp(rate * s) for s in SCORES)
    return {i: TIMES * math.exp(rate * s) / total for i, s in enumerate(SCORES)}


@pytest.mark.parametrize(
    ("name", "expected"), [("permute_and_flip", flipping), ("exponential", weighing)]
)
def test_a_selection_has_its_law_and_a_twin_30_percent_off_is_found(
    name: str, expected: Callable[[Fraction], dict[int, float]]
) -> None:
    chance = Seeded(9)
    eager, lazy = getattr(chance, name), getattr(chance, name + "_lazily")
    assert chi_squared(selected(lambda: eager(np.array(SCORES), RATE)), expected(RATE)) < LIMIT
    assert (
        chi_squared(
            selected(lambda: lazy(np.array(BOUNDS), 50, SCORES.__getitem__, RATE)), expected(RATE)
        )
        < LIMIT
    )
    for twin in (RATE * Fraction(7, 10), RATE * Fraction(13, 10)):
        drawn = selected(partial(eager, SCORES, twin))
        assert chi_squared(drawn, expected(RATE)) > LIMIT


SELECTIONS = ["permute_and_flip", "exponential"]


class Asked:
    """Scores that remember who was asked for."""

    def __init__(self, scores: Sequence[int]) -> None:
        self.scores, self.who = scores, list[int]()

    def __call__(self, candidate: int) -> int:
        self.who.append(candidate)
        return self.scores[candidate]


CUT = {"permute_and_flip": Fraction(0), "exponential": Fraction(1, 500)}


rates = st.fractions(Fraction(1, 5), 2, max_denominator=9)
scored = st.tuples(st.integers(-3, 3), st.integers(0, 3))


@settings(max_examples=60)
@given(st.lists(scored, min_size=1, max_size=3), rates, st.sampled_from(SELECTIONS))
def test_a_lazy_selection_has_exactly_the_law_of_full_enumeration(
    candidates: list[tuple[int, int]], rate: Fraction, name: str
) -> None:
    check_lazy_selection(candidates, rate, name)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(scored, min_size=4, max_size=4), rates, st.sampled_from(SELECTIONS))
def test_a_lazy_selection_among_more_has_exactly_the_law_of_full_enumeration(
    candidates: list[tuple[int, int]], rate: Fraction, name: str
) -> None:
    check_lazy_selection(candidates, rate, name)


def check_lazy_selection(candidates: list[tuple[int, int]], rate: Fraction, name: str) -> None:
    scores = [score for score, _ in candidates]
    bounds = np.array([score + slack for score, slack in candidates])

    def run(chance: Enumerated) -> int:
        asked = Asked(scores)
        taken: int = getattr(chance, name + "_lazily")(bounds, max(scores), asked, rate)
        assert len(set(asked.who)) == len(asked.who)
        if name != "exponential":
            assert asked.who[-1] == taken, "somebody was asked after the one that was taken"
        return taken

    found = law(run, shipped(name + "_lazily"), CUT[name])
    expected = law(lambda chance: int(getattr(chance, name)(scores, rate)))
    assert same(found, expected)
    assert name == "exponential" or missing(found) < Fraction(1, 10**80)


class Forgetful(shipped("permute_and_flip_lazily")):  # type: ignore[misc]
    """A twin that takes a candidate as soon as its bound's coin falls on heads."""

    def bernoulli_exp(self, x: Fraction) -> bool:
        return True


class Impatient(shipped("permute_and_flip_lazily")):  # type: ignore[misc]
    """A twin that goes through the candidates in their own order."""

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        return np.arange(n)


class Halved(shipped("permute_and_flip_lazily")):  # type: ignore[misc]
    """A twin that flips the bound's coin with half the rate."""

    def bernoullis_exp(self, multiples: Any, rate: Fraction) -> npt.NDArray[np.bool_]:
        return super().bernoullis_exp(multiples, rate / 2)  # type: ignore[no-any-return]


@pytest.mark.parametrize("twin", [Forgetful, Impatient, Halved])
def test_a_lazy_selection_that_errs_is_found(twin: type[Enumerated]) -> None:
    scores, bounds = [3, 1, 2], np.array([3, 2, 3])

    def run(chance: Enumerated) -> int:
        return chance.permute_and_flip_lazily(bounds, 3, scores.__getitem__, Fraction(1, 2))

    assert same(law(run, shipped("permute_and_flip_lazily")), law(run))
    assert not same(law(run, twin), law(run))


@pytest.mark.parametrize("name", SELECTIONS)
def test_scores_may_be_fractions_or_beyond_the_machine(name: str) -> None:
    def taken(scores: Any, rate: Fraction) -> list[int]:
        return [getattr(Seeded(seed), name)(scores, rate) for seed in range(50)]

    assert taken([Fraction(1, 2), Fraction(1, 3), 1], Fraction(2)) == taken(
        np.array([3, 2, 6]), Fraction(1, 3)
    )
    large = 10**30
    assert taken([large, large + 3, large - 2], Fraction(1, 3)) == taken(
        np.array([0, 3, -2]), Fraction(1, 3)
    )
    ends = np.array([-(2**63), 2**63 - 1, 2**63 - 2])
    assert set(taken(ends, Fraction(1))) == {1, 2}
    assert taken(np.array([1, 2, 3], dtype=np.uint8), Fraction(1)) == taken([1, 2, 3], Fraction(1))
    assert taken([5], Fraction(7)) == [0] * 50


@pytest.mark.parametrize("name", SELECTIONS)
def test_exact_bounds_ask_for_one_score_only(name: str) -> None:
    asked = Asked([i % 97 for i in range(1000)])
    taken = getattr(Seeded(10), name + "_lazily")(
        np.array(asked.scores), 96, asked, Fraction(1, 10)
    )
    assert asked.who == [taken]


@pytest.mark.parametrize("name", SELECTIONS)
def test_wrong_bounds_and_a_wrong_best_never_pass_silently(name: str) -> None:
    lazily = getattr(Seeded(11), name + "_lazily")
    with pytest.raises(InternalError, match="below a candidate's score"):
        lazily([4, 4, 4], 9, [9, 9, 9].__getitem__, Fraction(1, 100))
    with pytest.raises(InternalError, match="below a candidate's score"):
        lazily([9, 9], 4, [9, 9].__getitem__, Fraction(1))
    with pytest.raises(InternalError, match="no candidate has"):
        lazily([9, 5], 9, [2, 2].__getitem__, Fraction(50))
    with pytest.raises(InternalError, match="no candidate has"):
        lazily([5, 5], 9, [5, 5].__getitem__, Fraction(50))
    assert issubclass(InternalError, RuntimeError)


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_selection_without_exact_numbers_or_candidates_is_refused(name: str) -> None:
    select, lazily = getattr(Chance(), name), getattr(Chance(), name + "_lazily")
    for scores, rate in (
        ([], Fraction(1)),
        ([0.5, 1.0], Fraction(1)),
        (np.array([0.5, 1.0]), Fraction(1)),
        ([float("nan")], Fraction(1)),
        ([1, 2], Fraction(0)),
        ([1, 2], Fraction(-1)),
        ([1, 2], 0.5),
        ([1, 2], float("inf")),
    ):
        with pytest.raises(ParameterError):
            select(scores, rate)
    with pytest.raises(ParameterError, match="not an integer"):
        lazily([Fraction(1, 2), 3], 3, [0, 3].__getitem__, Fraction(1))
    with pytest.raises(TypeError):
        lazily([3], 3, lambda _: 3.0, Fraction(1))


def test_a_power_or_scale_that_is_impossible_is_refused() -> None:
    for wrong in (Fraction(-1), 0.5, float("nan"), float("inf"), "1"):
        with pytest.raises(ParameterError):
            Chance().bernoulli_exp(wrong)  # type: ignore[arg-type]
        with pytest.raises(ParameterError):
            Chance().discrete_laplace(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        Chance().bernoullis_exp([-1], Fraction(1))
    for scale in (Fraction(0), Fraction(2**49)):
        with pytest.raises(ParameterError):
            Chance().discrete_laplaces(scale, 3)


def test_the_exponential_mechanism_works_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.chance.source._BLOCK", 2)
    chance = Seeded(12)
    seen = selected(lambda: chance.exponential(SCORES, RATE))
    assert chi_squared(seen, weighing(RATE)) < LIMIT


# Enumeration itself


@pytest.mark.parametrize(
    "chances", [[1, 1, 1], [Fraction(1, 2), 1], [Fraction(1, 3), Fraction(1, 5), 1, Fraction(2, 7)]]
)
def test_the_law_of_permute_and_flip_is_that_over_all_orders(chances: list[Fraction]) -> None:
    orders = list(permutations(range(len(chances))))
    expected = [Fraction(0)] * len(chances)
    for order in orders:
        left = Fraction(1, len(orders))
        for i in order:
            expected[i] += left * chances[i]
            left *= 1 - chances[i]
    assert [weight.exact for weight in flipped([point(p) for p in chances])] == expected


def test_enumerated_draws_have_probability_one_together() -> None:
    def run(chance: Enumerated) -> tuple[int, ...]:
        number = chance.below(3)
        sample = chance.binomial(np.array([2, 1]), Fraction(1, number + 2))
        return (
            number,
            *sample.tolist(),
            *chance.permutation(number).tolist(),
            chance.permute_and_flip([1, 1 + number], RATE),
        )

    weights = law(run)
    assert 1 in sum(weights.values(), ZERO)
    assert all(weight.high - weight.low < Fraction(1, 10**80) for weight in weights.values())
    assert weights[0, 1, 0, 0].exact == Fraction(1, 3) * 2 * Fraction(1, 2) ** 3 / 2


def test_enumeration_notices_what_is_not_deterministic() -> None:
    calls: list[int] = []

    def run(chance: Enumerated) -> int:
        calls.append(1)
        return chance.below(2 + len(calls) % 2)

    with pytest.raises(AssertionError, match="deterministic"):
        law(run)


@given(st.fractions(-50, 50))
def test_e_to_a_power_is_enclosed(x: Fraction) -> None:
    assert float(exp(x)) == pytest.approx(math.exp(x), rel=1e-14)
    product = exp(x) * exp(-x)
    assert 1 in product
    assert (product.high - product.low) < Fraction(1, 10**60)


def test_the_delta_of_randomised_response_is_found() -> None:
    def answer(truth: bool) -> dict[bool, Interval]:
        return law(lambda chance: bool(chance.bernoulli(Fraction(3, 4), 1)[0]) == truth)

    for growth, least, breach in (
        (3, Fraction(0), Fraction(0)),
        (2, Fraction(1, 4), Fraction(3, 4)),
    ):
        assert standard(answer(True), answer(False), point(growth)).exact == least
        assert probabilistic(answer(True), answer(False), point(growth)).exact == breach


def draws(chance: Chance) -> list[npt.NDArray[np.int64]]:
    return [
        chance.permutation(10),
        chance.binomial(np.array([100, 5]), Fraction(1, 3)),
        np.array(
            [
                chance.below(1000),
                chance.permute_and_flip([3, 2, 3], Fraction(1)),
                chance.exponential([1, 2], Fraction(1)),
            ]
        ),
        chance.discrete_laplaces(Fraction(9), 5),
        chance.choice(10**6, 3),
    ]


def halves(*words: int) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


@pytest.mark.parametrize(("size", "most"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_choices_are_uniform_on_every_input_and_draw_again_where_words_are_equal(
    size: int, most: int
) -> None:
    seen: Counter[tuple[bool, ...]] = Counter()
    for words in product(range(size + 1), repeat=size):
        source = Bits(halves(*words))
        if len(set(words)) == size:
            seen[tuple(source.choices(np.array([size]), most).tolist())] += 1
            assert not source.content
        else:
            with pytest.raises(EOFError):  # it asks for more
                source.choices(np.array([size]), most)
    assert set(seen) == {
        chosen for chosen in product((False, True), repeat=size) if sum(chosen) == most
    }
    assert len(set(seen.values())) == 1


def test_choices_that_draw_again_leave_those_of_other_groups_alone() -> None:
    sizes = np.array([1, 3, 0, 2, 3])
    first = halves(
        7, 7, 1, *(5, 4), *(3, 1, 2)
    )  # groups of one are not drawn for; the one of three has equal words
    for order in permutations(range(3)):
        chosen = Bits(first + halves(*order)).choices(sizes, 1).tolist()
        assert chosen == [
            True,
            *(place == order.index(0) for place in range(3)),
            False,
            True,
            False,
            True,
            False,
        ]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 10), st.integers(0, 99))
def test_choices_take_as_many_as_are_allowed(sizes: list[int], most: int, seed: int) -> None:
    chosen = Seeded(seed).choices(np.array(sizes, dtype=np.int64), most)
    parts = np.split(chosen, np.cumsum(sizes)[:-1]) if sizes else []
    assert [int(part.sum()) for part in parts] == [min(size, most) for size in sizes]


def test_choices_work_in_blocks_and_for_crowds() -> None:
    sizes = np.array([3] * 1_500_000 + [70_000, 5])
    chosen = Seeded(1).choices(sizes, 2)
    often = chosen[: 3 * 1_500_000].reshape(-1, 3)
    assert (often.sum(axis=1) == 2).all()
    assert all(off(int(column.sum()), 1e6, 1.5e6 * 2 / 9) < LIMIT for column in often.T)
    assert chosen[-70_005:-5].sum() == chosen[-5:].sum() == 2


@given(st.integers(0, 10**9))
def test_a_seed_gives_the_same_draws_again_and_says_it_is_not_private(seed: int) -> None:
    assert not Seeded(seed).private
    assert Seeded(seed).number() == Seeded(seed).number()
    for one, other in zip(draws(Seeded(seed)), draws(Seeded(seed)), strict=True):
        assert (one == other).all()
    assert Seeded(seed).number() != Seeded(seed + 1).number()


def test_the_default_cannot_be_seeded_and_is_private() -> None:
    assert Chance().private
    assert Chance().number() != Chance().number()
    with pytest.raises(TypeError):
        Chance(1)  # type: ignore[call-arg]


def test_nothing_else_in_the_house_draws_random_numbers() -> None:
    house = Path(shoal.__file__).parent
    words = (
        "import random",
        "from random",
        "np.random",
        "numpy.random",
        "urandom",
        "import secrets",
        "uuid4",
        ".sample(",
    )
    for path in sorted(house.rglob("*.py")):
        rooms = ("chance", "measure", "attack", "views", "experiments")
        if path.parent.name in rooms or path.name in ("demo.py", "made_up.py"):
            # These use fixed seeds, to find the same again; nothing of them is released.
            continue
        if path.name == "disk.py":
            continue  # it draws names of files that are not there yet
        if "workbench" in path.parts:
            continue  # it draws tokens, sessions and names of jobs; it makes no release itself
        text = path.read_text(encoding="utf-8")
        assert not [word for word in words if word in text], path.name
