"""Parameters of differential privacy: exact ε, the smallest k, its δ, what adds up; against brute
force in rationals."""

import math
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.exact.epsilon import logarithm
from shoal.privacy import (
    DifferentialPrivacy,
    Epsilon,
    composed,
    delta_concern,
    delta_for,
    per_row,
    safepub_parameters,
    sampled_epsilon,
    search_epsilon,
)
from shoal.privacy import calculus as module
from shoal.privacy.calculus import Definition, _Profile, _profiles, chosen_parameters

DEFINITIONS: tuple[Definition, Definition] = ("probabilistic", "standard")
ORACLE = {
    "0.1": [38, 49, 60, 72, 83],
    "0.5": [39, 51, 63, 75, 87],
    "0.9": [44, 58, 73, 87, 99],
    "1": [47, 61, 74, 91, 104],
    "1.5": [62, 80, 99, 117, 136],
    "2": [81, 113, 131, 164, 182],
}
"""The smallest k for δ = 1e-4 … 1e-8 under the probabilistic definition, computed elsewhere with 50
digits."""

epsilons = st.one_of(
    st.fractions(Fraction(1, 50), 3, max_denominator=50).map(Epsilon),
    st.builds(
        lambda base, factor: Epsilon(factor, base),
        st.fractions(Fraction(11, 10), 20, max_denominator=10),
        st.fractions(Fraction(1, 10), 3, max_denominator=10),
    ),
)


# Brute force, written anew: laws as tables of rationals, every group size, every set of outputs


def binomial(n: int, beta: Fraction) -> dict[int, Fraction]:
    return {j: math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)}


def published(n: int, beta: Fraction, k: int) -> dict[int, Fraction]:
    """The law of what is seen of a group of n: its sampled count, or 0 if that is below k."""
    law: dict[int, Fraction] = {}
    for j, chance in binomial(n, beta).items():
        seen = j if j >= k else 0
        law[seen] = law.get(seen, Fraction(0)) + chance
    return law


def together(*laws: dict[Any, Fraction]) -> dict[Any, Fraction]:
    """The law of several groups at once."""
    return {
        outcome: math.prod(
            (law[one] for one, law in zip(outcome, laws, strict=True)), start=Fraction(1)
        )
        for outcome in product(*laws)
    }


def failing(
    one: dict[Any, Fraction], other: dict[Any, Fraction], ratio: Fraction, definition: Definition
) -> Fraction:
    """The δ that the step from one law to the other needs at e^ε = ratio."""
    excess = {o: (p, p - ratio * other.get(o, Fraction(0))) for o, p in one.items()}
    return sum(
        (p if definition == "probabilistic" else more for p, more in excess.values() if more > 0),
        Fraction(0),
    )


@cache
def needed(
    k: int, beta: Fraction, ratio: Fraction, definition: Definition, largest: int
) -> Fraction:
    """The δ of a k over all groups of up to `largest` records, in both directions."""
    both: list[Fraction] = []
    for n in range(1, largest + 1):
        more, fewer = published(n, beta, k), published(n - 1, beta, k)
        both += [failing(more, fewer, ratio, definition), failing(fewer, more, ratio, definition)]
    return max(both)


# Parameters that are out of range


@pytest.mark.parametrize("value", [0, 1, -1, 2, float("nan"), float("inf"), "x", None, True])
def test_a_delta_outside_its_range_is_refused(value: Any) -> None:
    for use in (
        partial(safepub_parameters, 1),
        partial(DifferentialPrivacy, 1, definition="standard"),
    ):
        if value == 0 and value is not False and use.func is DifferentialPrivacy:
            continue  # the strongest promise there is
        with pytest.raises(ParameterError, match=r"^delta="):
            use(value)


def test_an_epsilon_that_leaves_no_sampling_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most 20"):
        safepub_parameters(21, "1e-6")
    with pytest.raises(ParameterError, match="no record would be drawn"):
        safepub_parameters("1e-25", "1e-6")


# The smallest k


@pytest.mark.parametrize(("epsilon", "smallest"), ORACLE.items())
def test_k_is_that_of_the_oracle(epsilon: str, smallest: list[int]) -> None:
    deltas = [f"1e-{digits}" for digits in range(4, 9)]
    assert [safepub_parameters(epsilon, delta, "probabilistic").k for delta in deltas] == smallest


def test_k_under_the_standard_definition_is_that_of_the_oracle() -> None:
    deltas = [f"1e-{digits}" for digits in range(4, 9)]
    assert [safepub_parameters(1, delta).k for delta in deltas] == [33, 46, 58, 71, 84]


def test_a_double_close_to_ln_2_is_not_ln_2() -> None:
    assert safepub_parameters(0.6931471805599453, 1e-3, "probabilistic").k == 31
    assert safepub_parameters("ln(2)", 1e-3, "probabilistic").k == 29
    assert safepub_parameters("ln(2)", 1e-3).beta == Fraction(1, 2)


def test_beta_is_what_the_sampler_has_and_never_above_the_real_one() -> None:
    for text in ("0.1", "0.9", "1", "ln(2)", "ln(3)", "0.9*ln(2)", "20"):
        epsilon = Epsilon.of(text)
        beta = safepub_parameters(epsilon, "1e-5").beta
        low, high = epsilon.exponential(60)
        assert (beta * 2**64).denominator == 1
        assert beta <= 1 - 1 / high
        assert beta + Fraction(1, 2**64) > 1 - 1 / low


RATIOS = [
    ("ln(2)", Fraction(2)),
    ("ln(3)", Fraction(3)),
    ("ln(3/2)", Fraction(3, 2)),
    ("ln(11/10)", Fraction(11, 10)),
]
SHARES: dict[str, list[Fraction | None]] = {
    "ln(2)": [None, Fraction(1, 3)],
    "ln(3)": [None, Fraction(1, 4)],
    "ln(3/2)": [None],
    "ln(11/10)": [Fraction(1, 12)],
}
LARGE_SHARES = [Fraction(1, 5), Fraction(7, 20), Fraction(3, 5), Fraction(4, 5)]


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize(("epsilon", "ratio"), RATIOS)
def test_delta_is_that_of_brute_force(
    epsilon: str, ratio: Fraction, definition: Definition
) -> None:
    for beta in SHARES[epsilon]:
        chance = (
            min(1 - 1 / ratio, Fraction(math.floor((1 - 1 / ratio) * 2**64), 2**64))
            if beta is None
            else beta
        )
        for k in (1, 2, 3, 5):
            exact = needed(k, chance, ratio, definition, 30)
            found = delta_for(k, epsilon, definition, beta=beta)
            assert exact <= found <= exact * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize(("epsilon", "ratio"), RATIOS)
def test_delta_is_that_of_brute_force_where_a_record_less_reveals_too_much(
    epsilon: str, ratio: Fraction
) -> None:
    for beta in LARGE_SHARES:
        if beta <= 1 - 1 / ratio:
            continue
        for k in (1, 2, 4):
            exact = needed(k, beta, ratio, "standard", 40)
            found = delta_for(k, epsilon, beta=beta)
            assert exact <= found <= exact * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize(("epsilon", "ratio"), RATIOS[:3])
def test_each_order_of_neighbours_has_the_profile_of_brute_force(
    epsilon: str, ratio: Fraction
) -> None:
    """Together the order with a record more decides, so that the other one is asked alone."""
    beta = Fraction(7, 10)
    more, less = _profiles(Epsilon.of(epsilon), beta, "standard")
    for k in (1, 2, 4):
        pairs = [(published(n, beta, k), published(n - 1, beta, k)) for n in range(1, 60)]
        for profile, exact in (
            (more, max(failing(one, other, ratio, "standard") for one, other in pairs)),
            (less, max(failing(other, one, ratio, "standard") for one, other in pairs)),
        ):
            assert exact <= profile.worst(k) <= exact * (1 + Fraction(1, 10**11))
            assert profile.smallest(exact) <= k < profile.smallest(exact * Fraction(999, 1000))


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_k_is_the_smallest_by_brute_force_even_where_delta_is_met_exactly(
    definition: Definition,
) -> None:
    for epsilon, ratio, beta in (
        ("ln(2)", Fraction(2), Fraction(1, 2)),
        ("ln(3)", Fraction(3), Fraction(1, 4)),
    ):
        for k in range(1, 8):
            exact = needed(k, beta, ratio, definition, 30)
            assert exact == needed(k, beta, ratio, definition, 25)  # no larger group is worse
            assert safepub_parameters(epsilon, exact, definition, beta=beta).k == min(
                smaller
                for smaller in range(1, k + 1)
                if needed(smaller, beta, ratio, definition, 30) <= exact
            )
            below = safepub_parameters(
                epsilon, exact * (1 - Fraction(1, 10**70)), definition, beta=beta
            ).k
            assert needed(below, beta, ratio, definition, 30) < exact


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_one_less_than_k_would_break_the_promise(definition: Definition) -> None:
    for epsilon, ratio in RATIOS[:3]:
        found = safepub_parameters(epsilon, "0.02", definition)
        assert needed(found.k, found.beta, ratio, definition, 40) <= Fraction(2, 100)
        assert needed(found.k - 1, found.beta, ratio, definition, 40) > Fraction(2, 100)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_brute_force_notices_a_larger_chance(definition: Definition) -> None:
    found = safepub_parameters("ln(2)", "0.01", definition)
    assert needed(found.k, Fraction(6, 10), Fraction(2), definition, 60) > Fraction(1, 100)


@settings(max_examples=40)
@given(st.sampled_from(DEFINITIONS), epsilons, st.integers(1, 150))
def test_delta_for_k_leads_back_to_k(definition: Definition, epsilon: Epsilon, k: int) -> None:
    delta = delta_for(k, epsilon, definition)
    if delta < 1:
        found = safepub_parameters(epsilon, delta, definition).k
        assert found <= k
        assert delta_for(found, epsilon, definition) == delta


@settings(max_examples=40)
@given(st.sampled_from(DEFINITIONS), epsilons, st.integers(1, 120))
def test_floats_decide_nothing_that_many_digits_decide_otherwise(
    definition: Definition, epsilon: Epsilon, i: int
) -> None:
    profile = _Profile(epsilon, safepub_parameters(epsilon, "0.5").beta, definition)
    about, margin = profile.roughly(i)
    low, high = profile.bounds(i, 30)
    assert about - margin <= float(logarithm(low, 20)[0]) + 1e-15 * abs(about)
    assert float(logarithm(high, 20)[1]) <= about + margin + 1e-15 * abs(about)
    assert margin < 1e-6
    assert high - low <= high / 10**25


@settings(max_examples=20)
@given(st.sampled_from(DEFINITIONS), epsilons, st.integers(1, 60))
def test_no_value_is_above_the_bound_that_ends_the_walk(
    definition: Definition, epsilon: Epsilon, i: int
) -> None:
    delta = Fraction(1, 10**3)
    chances = [safepub_parameters(epsilon, "0.5").beta]
    if definition == "standard":
        chances.append((1 + chances[0]) / 2)
    for beta in chances:
        for profile in _profiles(epsilon, beta, definition):
            assert math.log(profile.bounds(i, 20)[1]) <= profile.at_most(profile.size(i))
            last = profile.last(delta)
            assert not any(profile.exceeds(beyond, delta) for beyond in range(last + 1, last + 10))


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_many_digits_and_rationals_agree_where_floats_are_not_asked(
    definition: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [
        safepub_parameters(epsilon, "1e-3", definition).k for epsilon in ("ln(2)", "1", "0.5")
    ]
    monkeypatch.setattr(_Profile, "roughly", lambda profile, i: (0.0, math.inf))
    module._parameters.cache_clear()
    assert [
        safepub_parameters(epsilon, "1e-3", definition).k for epsilon in ("ln(2)", "1", "0.5")
    ] == expected
    monkeypatch.setattr(_Profile, "bounds", lambda profile, i, digits: (Fraction(0), Fraction(1)))
    module._parameters.cache_clear()
    assert safepub_parameters("ln(2)", "1e-3", definition).k == expected[0]
    module._parameters.cache_clear()


def test_what_cannot_be_decided_counts_as_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Profile, "exactly", lambda profile, i: None)
    exact = needed(3, Fraction(1, 4), Fraction(3), "probabilistic", 40)
    assert safepub_parameters("ln(3)", exact, "probabilistic", beta="1/4").k > 3


def test_the_standard_definition_never_needs_a_larger_k() -> None:
    for epsilon in ("0.1", "0.5", "ln(2)", "1", "2"):
        for digits in range(1, 12):
            standard, probabilistic = (
                safepub_parameters(epsilon, f"1e-{digits}", one).k
                for one in ("standard", "probabilistic")
            )
            assert standard <= probabilistic


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_smaller_chance_may_be_given(definition: Definition) -> None:
    usual = safepub_parameters(1, "1e-6", definition)
    assert safepub_parameters(1, "1e-6", definition, beta="0.3").k < usual.k
    half = safepub_parameters("ln(2)", "1e-6", definition)
    assert safepub_parameters("ln(2)", "1e-6", definition, beta="1/2") == half
    for beta in (1, 0, -1, "nan"):
        with pytest.raises(ParameterError, match=r"^beta="):
            safepub_parameters(1, "1e-6", definition, beta=beta)


def test_a_larger_chance_is_for_the_standard_definition() -> None:
    assert safepub_parameters(1, "1e-6", beta="0.8").k > safepub_parameters(1, "1e-6").k
    for beta in ("0.6322", "0.8"):
        with pytest.raises(ParameterError, match=r"^beta=.*by the probabilistic definition"):
            safepub_parameters(1, "1e-6", "probabilistic", beta=beta)


def test_the_smallest_crowds_are_those_of_the_issue() -> None:
    """k/β falls from 117 to 70 by the probabilistic definition, and from 92 to 60."""
    crowds: dict[Definition, tuple[int, int]] = {"probabilistic": (117, 70), "standard": (92, 60)}
    for definition, (usual, smaller) in crowds.items():
        found = safepub_parameters(1, "1e-6", definition)
        assert round(found.k / found.beta) == usual
        given = safepub_parameters(1, "1e-6", definition, beta="1/5")
        assert given.k / given.beta == smaller


def test_more_records_are_drawn_with_a_larger_chance() -> None:
    for definition in DEFINITIONS:
        chosen = [
            chosen_parameters("1/2", "1e-6", definition, records).beta
            for records in (1, 100, 1_000, 10_000, 1_000_000)
        ]
        assert chosen == sorted(chosen)
        assert chosen[0] < chosen[-1]
        usual = safepub_parameters("1/2", "1e-6", definition).beta
        assert (chosen[-1] > usual) == (definition == "standard")


def test_a_chosen_chance_has_its_own_smallest_k() -> None:
    for records in (10, 1_000, 100_000):
        chosen = chosen_parameters(1, "1e-6", "standard", records)
        assert chosen == safepub_parameters(1, "1e-6", "standard", beta=chosen.beta)


def test_a_delta_that_is_met_exactly_is_met() -> None:
    for definition in DEFINITIONS:  # all six of six records are drawn with a chance of 1e-6
        assert safepub_parameters(2, "1e-6", definition, beta="0.1").k == 6


def test_a_chance_below_delta_needs_no_crowd() -> None:
    assert safepub_parameters("1e-9", "1e-6", "standard").k == 1
    assert 0.5 <= delta_for(1, "ln(2)", "probabilistic") < 0.5 + 1e-11


@pytest.mark.parametrize("name", ["", "Standard", "approximate", None])
def test_an_unknown_definition_is_refused(name: Any) -> None:
    with pytest.raises(ParameterError, match="'probabilistic' or 'standard'"):
        safepub_parameters(1, "1e-6", name)


def test_extreme_parameters_are_answered() -> None:
    # As if every count were Poisson.
    poissons: dict[Definition, int] = {"probabilistic": 60, "standard": 1}
    for definition, poisson in poissons.items():
        assert safepub_parameters("1e-15", "1e-6", definition).k == poisson
        assert safepub_parameters(20, "1e-6", definition).k == 6_702_804_873
    assert safepub_parameters(1, "1e-300").k > safepub_parameters(1, "1e-20").k
    assert safepub_parameters(1, "0.999").k == 1


# The smoothness curve


def test_smoothness_is_that_of_the_oracle() -> None:
    found = safepub_parameters(1, "1e-6", "probabilistic")
    assert f"{float(found.delta_at(2)):.3e}" == "1.530e-11"
    assert found.delta_at(1) <= Fraction(1, 10**6)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_smoothness_is_that_of_brute_force_and_falls(definition: Definition) -> None:
    found = safepub_parameters("ln(2)", "0.02", definition)
    curve = [found.delta_at(f"ln({ratio})") for ratio in (2, 3, 4, 6)]
    exact = [needed(found.k, found.beta, Fraction(ratio), definition, 60) for ratio in (2, 3, 4, 6)]
    assert curve == sorted(curve, reverse=True)
    assert all(
        low <= one <= low * (1 + Fraction(1, 10**11)) for low, one in zip(exact, curve, strict=True)
    )


def test_smoothness_starts_at_epsilon() -> None:
    with pytest.raises(ParameterError, match="beta="):
        safepub_parameters(1, "1e-6", "probabilistic").delta_at("0.99")
    usual = safepub_parameters(1, "1e-6")
    assert usual.delta_at("0.99") > usual.delta_at(1)


# What is saved by sampling, and what adds up


@settings(max_examples=40)
@given(epsilons, st.fractions(Fraction(1, 20), 1, max_denominator=100))
def test_a_search_may_spend_what_sampling_saves_and_no_more(
    epsilon: Epsilon, beta: Fraction
) -> None:
    spent = search_epsilon(epsilon, beta)
    low, high = epsilon.exponential(60)
    assert 1 + beta * (Epsilon(spent).exponential(60)[1] - 1) <= high  # it costs no more than ε …
    assert (
        1 + beta * (Epsilon(spent * (1 + Fraction(1, 10**10))).exponential(60)[0] - 1) > low
    )  # … and a little more would
    cost = sampled_epsilon(Epsilon(spent), beta)
    assert (
        epsilon.bounds()[0] * (1 - Fraction(1, 10**9))
        < cost
        < epsilon.bounds()[1] * (1 + Fraction(1, 10**9))
    )


def test_sampling_is_amplified_as_brute_force_says() -> None:
    beta, inner = Fraction(1, 3), Epsilon.of("ln(4)")
    told = (
        {"yes": Fraction(4, 5), "no": Fraction(1, 5)},
        {"yes": Fraction(1, 5), "no": Fraction(4, 5)},
    )  # randomised response
    worst = max(
        ((1 - beta) * told[1][answer] + beta * told[0][answer]) / told[1][answer]
        for answer in told[0]
    )  # with the record drawn or not, against without it
    assert worst == 2
    assert (
        Epsilon.of("ln(2)").bounds()[0]
        <= sampled_epsilon(inner, beta)
        <= Epsilon.of("ln(2)").bounds()[1] * (1 + Fraction(1, 10**10))
    )


def test_what_a_search_may_spend_on_a_whole_table_is_what_it_has() -> None:
    spent = search_epsilon("ln(2)", 1)
    assert spent <= Epsilon.of("ln(2)").bounds()[1]
    assert f"{float(search_epsilon(0.1, safepub_parameters(0.9, 1e-5).beta)):.3f}" == "0.163"


def test_promises_add_up() -> None:
    first, second = (
        DifferentialPrivacy("ln(2)", "1e-6", "probabilistic"),
        DifferentialPrivacy("ln(4)", "2e-6", "probabilistic"),
    )
    assert composed(first, second) == DifferentialPrivacy("ln(8)", "3e-6", "probabilistic")
    assert composed(first, DifferentialPrivacy(1, "1e-6", "standard")).definition == "standard"
    for wrong in ([], [first, DifferentialPrivacy(1, "1e-6", "standard", unit="patient")]):
        with pytest.raises(ParameterError, match="same unit"):
            composed(*wrong)
    with pytest.raises(ParameterError, match="promise nothing"):
        composed(
            DifferentialPrivacy(1, "0.5", "standard"), DifferentialPrivacy(1, "0.5", "standard")
        )


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_two_releases_keep_what_they_add_up_to(definition: Definition) -> None:
    found = safepub_parameters("ln(2)", "0.05", definition)
    one = DifferentialPrivacy("ln(2)", "0.05", definition)
    for n in range(1, 13):
        more, fewer = published(n, found.beta, found.k), published(n - 1, found.beta, found.k)
        twice = together(more, more), together(fewer, fewer)
        for pair in (twice, twice[::-1]):
            assert failing(*pair, Fraction(4), definition) <= Fraction(composed(one, one).delta)


# People with several rows


def test_rows_of_one_person_are_paid_for() -> None:
    epsilon, delta = per_row("ln(4)", "0.03", 2)
    assert epsilon == Epsilon.of("ln(2)")
    assert Fraction(1, 100) * (1 - Fraction(1, 10**10)) < delta <= Fraction(1, 100)
    assert per_row(1, "1e-6", 1) == (Epsilon.of(1), Fraction(1, 10**6))
    for rows in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match=r"^rows="):
            per_row(1, "1e-6", rows)  # type: ignore[arg-type]


@settings(max_examples=40)
@given(epsilons, st.integers(2, 50))
def test_what_a_person_gets_is_never_more_than_was_asked(epsilon: Epsilon, rows: int) -> None:
    each, delta = per_row(epsilon, "1e-6", rows)
    low = each.exponential(60)[0]
    assert each * rows == epsilon
    assert delta * sum((low**i for i in range(rows)), Fraction(0)) <= Fraction(1, 10**6)


def person(k: int, beta: Fraction, ratio: Fraction, largest: int) -> Fraction:
    """The δ that a person with two rows gets, in one group or in two, in both directions; standard
    definition."""
    law = {n: published(n, beta, k) for n in range(largest + 1)}
    pairs: list[tuple[dict[Any, Fraction], dict[Any, Fraction]]] = [
        (law[n], law[n - 2]) for n in range(2, largest + 1)
    ]
    pairs += [
        (together(law[n], law[m]), together(law[n - 1], law[m - 1]))
        for n in range(1, 13)
        for m in range(1, n + 1)
    ]
    return max(
        failing(one, other, ratio, "standard")
        for pair in pairs
        for one, other in (pair, pair[::-1])
    )


def test_a_person_with_two_rows_is_protected_as_promised() -> None:
    each, delta = per_row("ln(4)", "0.05", 2)
    found = safepub_parameters(each, delta, "standard")
    assert person(found.k, found.beta, Fraction(4), 40) <= Fraction(5, 100)
    careless = safepub_parameters("ln(4)", "0.05", "standard")  # as if it were one row
    assert person(careless.k, careless.beta, Fraction(4), 40) > Fraction(5, 100)
    assert person(1, found.beta, Fraction(4), 40) > Fraction(5, 100)


# A δ that is too large


def test_a_delta_as_large_as_one_person_is_a_concern() -> None:
    assert delta_concern("1e-6", 999_999) is None
    assert "give a far smaller one" in (delta_concern("1e-6", 1_000_000) or "")
    with pytest.raises(ParameterError, match=r"^people="):
        delta_concern("1e-6", 0)


@pytest.mark.parametrize(("n", "j"), [(5, 2), (1023, 511), (1024, 1), (1500, 1200), (5000, 4999)])
def test_ways_to_draw_are_counted_to_within_their_margin(n: int, j: int) -> None:
    parts = module._log_ways(n, j)
    margin = 2.0**-44 * (sum(map(abs, parts)) + 1)
    assert sum(parts) == pytest.approx(math.log(math.comb(n, j)), rel=0, abs=margin)


def test_a_chance_for_a_small_epsilon_is_chosen_at_once() -> None:
    # With each k by full binomials it took minutes.
    found = chosen_parameters("1/50", "1e-6", "standard", 1_000_000)
    assert (found.k, found.beta) == (24342, Fraction(3, 5))


def test_no_k_is_looked_for_that_no_table_of_that_size_can_have() -> None:
    found = chosen_parameters("1/10000", "1e-6", "standard", 1_000_000)
    assert found == safepub_parameters("1/10000", "1e-6")
