"""Draws are exact, cannot be seeded by default, and a generator that is 30 % off is found."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.chance import Chance, Seeded
from shoal.errors import ParameterError

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
    """Pearson's statistic in standard deviations above its mean, cells expected below 5 pooled."""
    pooled = [
        (sum(seen.get(v, 0) for v in rare), sum(expected[v] for v in rare))
        for rare in [[v for v in expected if expected[v] < 5]]
        if rare
    ]
    cells = [(seen.get(v, 0), e) for v, e in expected.items() if e >= 5] + [cell for cell in pooled if cell[1] > 0]
    statistic = sum((s - e) ** 2 / e for s, e in cells)
    freedom = max(len(cells) - 1, 1)
    # Wilson and Hilferty: the cube root is nearly normal
    return float((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))


def binomial_weights(n: int, p: Fraction, draws: int) -> dict[int, float]:
    return {i: draws * math.comb(n, i) * float(p) ** i * float(1 - p) ** (n - i) for i in range(n + 1)}


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
    with pytest.raises(EOFError):  # still undecided after 128 bits: asks for more instead of rounding
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
    assert chi_squared(Counter(narrowed.tolist()), binomial_weights(20, Fraction(1, 2), DRAWS // 4)) > LIMIT


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


def test_every_order_is_equally_likely() -> None:
    chance = Chance()
    orders = list(itertools.permutations(range(4)))
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


@pytest.mark.parametrize("wrong", [Fraction(-1, 10), Fraction(11, 10), 0.5, float("nan"), float("inf"), "1/2"])
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


def draws(chance: Chance) -> list[npt.NDArray[np.int64]]:
    return [chance.permutation(10), chance.binomial(np.array([100, 5]), Fraction(1, 3)), np.array([chance.below(1000)])]


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
    words = ("import random", "from random", "np.random", "numpy.random", "urandom", "import secrets", "uuid4", ".sample(")
    for path in sorted(house.rglob("*.py")):
        if path.parent.name in ("chance", "measure") or path.name == "demo.py":
            continue  # measures use fixed seeds, so that a table measures the same again; nothing of them is released
        text = path.read_text(encoding="utf-8")
        assert not [word for word in words if word in text], path.name
