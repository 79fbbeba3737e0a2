"""The chances and the noise of noisy counts: what the paper and its errata say, and that every
rounding is to the safe side."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import comb, prod
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import suppress
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.methods.noisy_counts import NoisyCounts, noisy
from shoal.privacy import sharing
from shoal.privacy.calculus import Definition
from shoal.privacy.noise import (
    ONE,
    NoisyCountParameters,
    highest_chance,
    noisy_count_parameters,
)
from shoal.privacy.sharing import Noise, column_parameters, count_parameters

CASES = [("2*ln(2)", "1e-3", 2), (1, "1e-5", 3), ("0.3", "1/50", 1), ("ln(10)", "1e-6", 5)]
EPSILONS = ["0.1", "0.2", "ln(2)", "1", "ln(5)", "ln(10)"]


def powers(epsilon: str) -> tuple[Decimal, Decimal]:
    """e^ε and e^(ε/2) to the digits of the context."""
    exact = Epsilon.of(epsilon)
    factor = Decimal(exact.factor.numerator) / Decimal(exact.factor.denominator)
    value = (
        factor
        if exact.base is None
        else factor * (Decimal(exact.base.numerator) / Decimal(exact.base.denominator)).ln()
    )
    return value.exp(), (value / 2).exp()


def printed(epsilon: str, delta: str, k: int, last: int) -> list[Decimal]:
    """w_i by equation (5) of the paper."""
    whole, half = powers(epsilon)
    chances = [Decimal(0)] * k + [min(Decimal(delta), 1 - 1 / whole)]
    while len(chances) <= last:
        chances.append(min(1 - (1 - chances[-1]) / whole, half * chances[-1]))
    return chances


def errata(epsilon: str, delta: str, k: int, last: int) -> list[Decimal]:
    """w_i for the standard definition by the errata: private, and less than what is allowed."""
    whole, half = powers(epsilon)
    small = Decimal(delta)
    chances = [Decimal(0)] * k
    while len(chances) <= last:
        chances.append(
            min(
                half * chances[-1] + small / half, 1 - (1 - chances[-1] - small) / whole, Decimal(1)
            )
        )
    return chances


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [1, 3, 10, 20])
@pytest.mark.parametrize("delta", ["1e-3", "1e-5", "1e-7", "1e-20"])
def test_chances_are_those_of_the_paper_to_twelve_digits(epsilon: str, k: int, delta: str) -> None:
    with localcontext(prec=60):
        expected = printed(epsilon, delta, k, 200)
        found = noisy_count_parameters(epsilon, delta, k, "probabilistic")
        for i, chance in enumerate(expected):
            exact = Fraction(chance)
            assert found.chance(i) <= exact + Fraction(1, 10**55)
            assert exact - found.chance(i) <= Fraction(1, 10**12) * min(
                exact, 1 - exact + Fraction(1, 10**20)
            )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", ["1e-3", "1e-7"])
def test_the_standard_definition_releases_more_than_the_errata_and_the_paper_ask(
    epsilon: str, delta: str
) -> None:
    with localcontext(prec=60):
        least, most = printed(epsilon, delta, 10, 400), errata(epsilon, delta, 10, 400)
    found = noisy_count_parameters(epsilon, delta, 10, "standard")
    assert all(
        found.chance(i) >= Fraction(chance) - Fraction(1, 10**30) for i, chance in enumerate(most)
    )
    assert all(
        found.chance(i) >= Fraction(chance) - Fraction(1, 10**30) for i, chance in enumerate(least)
    )
    assert found.half <= next(i for i, chance in enumerate(most) if chance >= Decimal("0.5"))


def test_rows_are_released_from_as_many_records_on_as_the_errata_say() -> None:
    assert [
        noisy_count_parameters("ln(5)", delta, 10, "probabilistic").half
        for delta in ("1e-3", "1e-5", "1e-7")
    ] == [18, 24, 30]
    assert [noisy_count_parameters("ln(5)", "1e-5", k, "probabilistic").half for k in (3, 20)] == [
        17,
        34,
    ]
    assert noisy_count_parameters(1, "1e-5", 10, "probabilistic").half == 32
    found = noisy_count_parameters(1, "1e-5", 10, "probabilistic")
    assert [f"{float(found.chance(i)):.6f}" for i in (35, 36)] == ["0.980023", "0.992651"]


# What the definitions ask of two neighbouring counts, for the noise of the paper: r = e^−(1 /
# scale)


def law(found: NoisyCountParameters, i: int, last: int) -> list[Decimal]:
    """The probability of every released count from 0 to last, and of all above."""
    k = found.k
    rest = found.withheld[min(i, len(found.withheld) - 1)]
    released = Decimal(ONE - rest) / ONE
    chances = [Decimal(rest) / ONE] + [Decimal(0)] * (last + 1)
    if i < k:
        return chances
    r = (-1 / (Decimal(found.scale.numerator) / Decimal(found.scale.denominator))).exp()
    chances[k] = r ** (i - k) / (1 + r) * released
    for j in range(k + 1, last + 1):
        chances[j] = (1 - r) / (1 + r) * r ** abs(i - j) * released
    chances[last + 1] = r ** (last + 1 - i) / (1 + r) * released
    return chances


def breach(found: NoisyCountParameters, rows: int = 60) -> str | None:
    """What two neighbouring rows of the matrix tell too much, if they do."""
    with localcontext(prec=80):
        factor, slack = powers(str(found.epsilon))[0], Decimal("1e-70")
        delta = Decimal(found.delta.numerator) / Decimal(found.delta.denominator)
        for i in range(1, rows):
            here, there = law(found, i, rows + 200), law(found, i - 1, rows + 200)
            assert abs(sum(here, Decimal(0)) - 1) < slack
            if found.definition == "standard":
                for more, less in ((here, there), (there, here)):
                    lost = sum(
                        (max(a - factor * b, Decimal(0)) for a, b in zip(more, less, strict=True)),
                        Decimal(0),
                    )
                    if lost > delta + slack:
                        return f"{i}: {float(lost):.3g}"
                continue
            if i == found.k:
                # What k records show and k − 1 cannot has a probability of at most δ; the rest
                # obeys the bound.
                if sum(here[1:], Decimal(0)) > delta + slack or there[0] > factor * here[0] * (
                    1 + slack
                ):
                    return f"{i}: at k"
                continue
            for a, b in zip(
                here, there, strict=True
            ):  # for all other counts the bound holds without exception
                if a > factor * b * (1 + slack) or b > factor * a * (1 + slack):
                    return f"{i}: a ratio"
    return None


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
@pytest.mark.parametrize(("epsilon", "delta", "k"), CASES)
def test_neighbouring_counts_obey_the_definition(
    definition: Definition, epsilon: Any, delta: str, k: int
) -> None:
    assert breach(noisy_count_parameters(epsilon, delta, k, definition)) is None


def altered(name: str, change: Callable[[Any], Any]) -> type[NoisyCountParameters]:
    """A twin in which one property is another."""
    whole: Any = getattr(NoisyCountParameters, name).func
    return type("Twin", (NoisyCountParameters,), {name: property(lambda self: change(whole(self)))})


def more_at_k(rests: tuple[int, ...]) -> tuple[int, ...]:
    k = next(i for i, rest in enumerate(rests) if rest < ONE)
    return (*rests[:k], 2 * rests[k] - ONE, *rests[k + 1 :])


def in_floats(rests: tuple[int, ...]) -> tuple[int, ...]:
    """1 − w_i where w_i is a float: it cancels, and reaches 0."""
    return tuple(int((1.0 - float(Fraction(ONE - rest, ONE))) * ONE) for rest in rests)


TWINS = {
    "k released with twice δ": altered("withheld", more_at_k),
    "one step ahead": altered("withheld", lambda rests: (*rests[:3], *rests[4:])),
    "floats": altered("withheld", in_floats),
    "half the noise": altered("scale", lambda scale: scale / 2),
    "noise 30 % too small": altered("scale", lambda scale: scale * Fraction(7, 10)),
}


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_broken_twins_are_caught(twin: type[NoisyCountParameters], definition: Definition) -> None:
    right = noisy_count_parameters(1, "1e-5", 3, definition)
    wrong = twin(right.epsilon, right.delta, right.definition, right.k)
    assert breach(right) is None
    assert breach(wrong) is not None


def _instead(given: tuple[int, ...], _: tuple[int, ...]) -> tuple[int, ...]:
    return given


def test_no_chance_of_the_standard_definition_could_be_larger() -> None:
    found = noisy_count_parameters("ln(3)", "1e-3", 2, "standard")
    for i in range(2, 12):
        rests = list(found.withheld)
        rests[i] -= ONE // 10**5  # a hundredth of δ, and more than rounding the noise gives away
        twin = altered("withheld", partial(_instead, tuple(rests)))
        assert (
            breach(twin(found.epsilon, found.delta, found.definition, found.k), i + 1) is not None
        )


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_a_delta_too_small_for_any_row_to_be_released_is_refused(definition: Definition) -> None:
    assert noisy_count_parameters("0.001", "1e-30", 10, definition).half > 10
    with pytest.raises(ParameterError, match="nothing would be released"):
        noisy_count_parameters("0.1", "1e-39", 10, definition)


def test_an_epsilon_too_small_for_noise_to_be_drawn_is_refused_by_the_promise() -> None:
    table = shoal.table(
        pl.DataFrame({"a": ["x"]}), quasi=["a"], hierarchies={"a": suppress(["x", "y"])}
    )
    with pytest.raises(ParameterError, match="nothing but noise"):
        NoisyCounts("1e-15", 0, levels={}).promise(table.schema)


def test_a_k_that_would_fill_the_memory_is_refused() -> None:
    assert noisy_count_parameters(1, "1e-5", 1_000_000, "probabilistic").half == 1_000_022
    with pytest.raises(ParameterError, match="1 to 1000000"):
        noisy_count_parameters(1, "1e-5", 10**10)


@given(
    st.fractions("1/100", 3),
    st.integers(1, 8),
    st.integers(1, 30),
    st.sampled_from(["probabilistic", "standard"]),
)
def test_chances_never_fall_and_are_0_below_k(
    epsilon: Fraction, digits: int, k: int, definition: Definition
) -> None:
    found = noisy_count_parameters(epsilon, Fraction(1, 10**digits), k, definition)
    chances = [found.chance(i) for i in range(len(found.withheld) + 3)]
    assert chances[:k] == [0] * k
    assert chances == sorted(chances)
    assert chances[found.half] >= Fraction(1, 2) > chances[found.half - 1]
    assert found.chance(10**12) == chances[-1]
    assert found.scale >= 2 / epsilon


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"epsilon": "1e-5"}, {"delta": 0}, {"delta": 1}, {"k": 0}, {"k": 2.0}]
)
def test_parameters_that_promise_nothing_or_leave_nothing_are_refused(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(ParameterError):
        noisy_count_parameters(**{"epsilon": 1, "delta": "1e-5", "k": 10, **wrong})


@pytest.mark.parametrize("delta", ["1e-60", "1e-350"])
def test_a_delta_below_every_float_is_refused_for_columns_too(delta: str) -> None:
    with pytest.raises(ParameterError, match="delta"):
        column_parameters(1, delta, 3, 10)


# Columns: what several releases add up to


def lost(epsilon: float, number: int, total: float) -> float:
    """The δ of so many ε-private releases at a total ε, from the law of randomised response: the
    worst case there is."""
    from math import exp

    p = exp(epsilon) / (1 + exp(epsilon))
    found = 0.0
    for heads in range(number + 1):
        here, there = (
            p**heads * (1 - p) ** (number - heads),
            (1 - p) ** heads * p ** (number - heads),
        )
        found += comb(number, heads) * max(here - exp(total) * there, 0.0)
    return found


@pytest.mark.parametrize("number", [1, 2, 3, 8, 16, 36, 65])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-5"), ("ln(10)", "1e-3"), ("ln(5)", "1e-7")])
@pytest.mark.parametrize("noise", ["bounded", "printed"])
def test_columns_together_keep_what_is_promised(
    noise: Noise, number: int, epsilon: Any, delta: str
) -> None:
    found = column_parameters(epsilon, delta, number, 10, noise)
    total = float(Epsilon.of(epsilon))
    whole = 1 - (1 - float(found.delta)) ** number * (1 - lost(float(found.epsilon), number, total))
    assert whole <= float(Fraction(delta)) * (1 + 1e-9)
    plain = count_parameters(
        Epsilon.of(epsilon) * Fraction(1, number), Fraction(delta) / number, 10, noise=noise
    )
    assert found.half <= plain.half
    if number <= 8:
        assert found.epsilon == plain.epsilon


@pytest.mark.parametrize(
    ("noise", "expected"),
    [("bounded", [1.143, 1.594, 2.097]), ("printed", [1.143, 1.5625, 2.097])],
)
def test_optimal_composition_pays_for_many_columns(noise: Noise, expected: list[float]) -> None:
    gains = [
        float(column_parameters(1, "1e-5", number, 10, noise).epsilon) * number
        for number in (16, 36, 65)
    ]
    assert gains == pytest.approx(expected, abs=2e-3)


def coins(number: int, rate: Fraction, power: Fraction) -> Fraction:
    """The δ of this many coins at odds e^ε′ = rate, at e^ε = power, over all outcomes: in
    fractions, one outcome at a time."""
    heads = rate / (1 + rate)
    law = {
        flips: prod(heads if flip else 1 - heads for flip in flips)
        for flips in product((True, False), repeat=number)
    }
    other = {flips: law[tuple(not flip for flip in flips)] for flips in law}
    return sum((max(law[one] - power * other[one], Fraction(0)) for one in law), Fraction(0))


@pytest.mark.parametrize("number", range(1, 8))
def test_composition_loses_what_all_outcomes_of_coins_lose_also_between_the_points_proven(
    number: int,
) -> None:
    tried = 0
    for total in range(1, number + 1):
        stretch = Fraction(number, total)  # ε = total·ln 3 and ε′ = ln 3
        found = sharing._lost(Epsilon.of(f"{total}*ln(3)"), number, stretch)
        exact = coins(number, Fraction(3), Fraction(3) ** total)
        assert exact <= found <= exact * (1 + Fraction(1, 10**10))
        floats = sharing._about_lost(total * float(Epsilon.of("ln(3)")), number, stretch)
        assert floats == pytest.approx(float(exact), abs=1e-12)
        tried += (number - total) % 2  # what lies between
    assert tried == number // 2


@pytest.mark.parametrize(
    ("noise", "worth"), [("bounded", sharing._about_bound), ("printed", sharing._about_half)]
)
@pytest.mark.parametrize("number", [16, 36, 65, 200])
def test_shares_between_the_points_of_the_theorem_never_release_less(
    number: int, noise: Noise, worth: Callable[[float, float], float]
) -> None:
    for epsilon, delta in ((1, "1e-5"), ("ln(10)", "1e-6"), (2, "1e-3")):
        found = column_parameters(epsilon, delta, number, 10, noise)
        turns = range(0, (number + 1) // 2, 1 + number // 128)
        about = []
        for turn in turns:
            stretch = Fraction(number, number - 2 * turn)
            left = Fraction(delta) - sharing._lost(Epsilon.of(epsilon), number, stretch)
            if left <= 0:
                break
            part = float(Epsilon.of(epsilon) * (stretch / number))
            about.append(worth(part, float(left / number)))
        ours = worth(float(found.epsilon), float(found.delta))
        assert ours <= min(about) * (1 + 1e-6)


def test_a_lost_delta_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_lost", lambda epsilon, number, stretch: Fraction(0))
    with pytest.raises(AssertionError):
        test_columns_together_keep_what_is_promised("bounded", 36, 1, "1e-5")


# The draws


def test_counts_are_drawn_with_these_chances_and_this_noise() -> None:
    found = noisy_count_parameters(1, "1e-2", 4, "probabilistic")
    draws = 40_000
    for i in (4, 6, 9, 14):
        released = noisy(np.full(draws, i), found, Seeded(i))
        expected = law(found, i, i + 30)
        seen = np.bincount(np.minimum(released, i + 31), minlength=i + 32)
        for count, chance in enumerate(expected):
            deviation = (draws * float(chance) * (1 - float(chance))) ** 0.5
            assert abs(seen[count] - draws * float(chance)) <= 5.5 * deviation + 6
    assert not noisy(np.arange(4), found, Seeded(1)).any()
    assert len(noisy(np.zeros(0, dtype=np.int64), found, Seeded(1))) == 0


# Means and errors of released counts, and what no method can do


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
@pytest.mark.parametrize(("epsilon", "delta", "k"), CASES)
def test_means_and_errors_are_those_of_the_law(
    definition: Definition, epsilon: Any, delta: str, k: int
) -> None:
    found = noisy_count_parameters(epsilon, delta, k, definition)
    far = 40 * int(found.scale + 1)
    with localcontext(prec=60):
        for i in (0, k - 1, k, k + 1, k + 7, found.half, found.half + 30):
            chances = law(found, i, i + far)
            mean = sum((j * chance for j, chance in enumerate(chances)), Decimal(0))
            off = sum((abs(j - i) * chance for j, chance in enumerate(chances)), Decimal(0))
            for (low, high), value in ((found.expected(i), mean), (found.error(i), off)):
                assert low <= high <= low + Fraction(1, 10**60)
                assert float(low) == pytest.approx(float(value), rel=1e-12, abs=1e-12)


def test_the_printed_mean_is_another() -> None:
    found = noisy_count_parameters(1, "1e-5", 10, "probabilistic")
    r = 2.718281828459045**-0.5
    printed_mean = float(found.chance(10)) * (10 + r**11 / (1 - r**2))
    assert float(found.expected(10)[0]) > printed_mean * 1.09


def test_no_count_is_released_with_more_than_the_highest_chance() -> None:
    for epsilon, delta, k in (("ln(5)", "1e-5", 10), ("0.3", "1e-3", 2), (2, "1e-7", 1)):
        for definition in ("probabilistic", "standard"):
            found = noisy_count_parameters(epsilon, delta, k, definition)
            for i in range(len(found.withheld)):
                assert found.chance(i) <= highest_chance(epsilon, delta, max(i, 1), k)


def test_the_highest_chance_is_kept_by_a_method_that_shows_no_counts_and_no_more_would_be() -> None:
    e, delta, slack = Fraction(3), Fraction(1, 100), Fraction(1, 10**30)
    chances = [Fraction(0)] + [highest_chance("ln(3)", delta, i) for i in range(1, 12)]
    assert float(chances[1]) == 0.01
    assert chances[-1] == 1
    for before, after in pairwise(chances):
        assert after <= e * before + delta + slack
        assert 1 - before <= e * (1 - after) + delta + slack
        larger = after + Fraction(1, 10**6)
        assert larger > 1 or larger > e * before + delta or 1 - before > e * (1 - larger) + delta


def test_without_a_delta_nothing_can_be_released() -> None:
    assert highest_chance(10, 0, 10**9) == 0
    assert highest_chance(1, "1e-5", 9, k=10) == 0
    assert highest_chance(1, "1e-5", 10**9) == 1
