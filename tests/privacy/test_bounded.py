"""One bounded noise: the exact profile of every pair of counts, and twins that break it."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.privacy.bounded import (
    ALWAYS_LARGE_ENOUGH,
    BoundedCountParameters,
    bounded_count_parameters,
)
from shoal.privacy.calculus import per_row
from shoal.privacy.noise import ONE, SMALLEST, NoisyCountParameters, noisy_count_parameters
from shoal.privacy.sharing import column_parameters

CASES = [("2*ln(2)", "1e-3", 2), ("1", "1e-5", 3), ("0.3", "1/50", 1), ("ln(10)", "1e-6", 5)]

Law = dict[int, Fraction]


def law(weights: Sequence[int], threshold: int, i: int) -> Law:
    """The law of what is released of a row that occurs i times, 0 for nothing."""
    found: Law = {0: Fraction(0)}
    for z, weight in enumerate(weights):
        for noise in {z, -z}:
            total = i + noise
            shown = total if total >= threshold else 0
            found[shown] = found.get(shown, Fraction(0)) + Fraction(weight, ONE)
    return found


def excess(one: Law, other: Law, factor: Fraction) -> Fraction:
    """The largest excess of an event's probability over e^ε times the other's."""
    return sum(
        (max(chance - factor * other.get(shown, 0), Fraction(0)) for shown, chance in one.items()),
        Fraction(0),
    )


def worst(weights: Sequence[int], threshold: int, epsilon: str, rows: int = 1) -> Fraction:
    """The δ of all pairs of counts that differ by that many rows, in both directions.

    e^ε is taken too small.
    """
    factor = Fraction(Epsilon.of(epsilon).exponential(60)[0])
    bound = len(weights) - 1
    laws = [law(weights, threshold, i) for i in range(threshold + bound + rows + 2)]
    pairs = zip(laws, laws[rows:], strict=False)
    return max(max(excess(a, b, factor), excess(b, a, factor)) for a, b in pairs)


@pytest.mark.parametrize(("epsilon", "delta", "k"), CASES)
def test_every_pair_of_counts_keeps_the_promise_and_uses_all_of_it(
    epsilon: str, delta: str, k: int
) -> None:
    parameters = bounded_count_parameters(epsilon, delta, k)
    found = worst(parameters.weights, parameters.threshold, epsilon)
    assert Fraction(delta) * (1 - Fraction(1, 10**9)) < found <= Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta", "k"), CASES)
def test_no_row_has_fewer_than_k_records_behind_it(epsilon: str, delta: str, k: int) -> None:
    parameters = bounded_count_parameters(epsilon, delta, k)
    assert all(parameters.chance(i) == 0 for i in range(k))
    assert parameters.chance(k) > 0
    for i in range(parameters.threshold + parameters.bound + 2):
        assert parameters.chance(i) == 1 - law(parameters.weights, parameters.threshold, i)[0]


@pytest.mark.parametrize(("epsilon", "delta", "k"), CASES)
def test_half_is_where_a_row_becomes_more_likely_to_be_released(
    epsilon: str, delta: str, k: int
) -> None:
    parameters = bounded_count_parameters(epsilon, delta, k)
    assert 2 * parameters.chance(parameters.half) >= 1
    assert 2 * parameters.chance(parameters.half - 1) < 1


def test_a_narrower_bound_cannot_keep_the_promise() -> None:
    """Its probabilities would be the largest that δ allows, and still not add up to 1."""
    parameters = bounded_count_parameters("1", "1e-6")
    grown = Fraction(Epsilon.of("1").exponential(60)[1])
    narrower = parameters.bound - 1
    largest = [Fraction("1e-6") * grown ** (narrower - z) for z in range(narrower + 1)]
    assert 2 * sum(largest) - largest[0] < 1


def _threshold_one_lower(parameters: BoundedCountParameters) -> tuple[Sequence[int], int]:
    return parameters.weights, parameters.bound


def _not_cut_off(parameters: BoundedCountParameters) -> tuple[Sequence[int], int]:
    """Geometric noise ten steps beyond the bound; what is further does not matter here."""
    weights = [ONE // 3 >> z for z in range(parameters.bound + 10)]
    return weights, parameters.threshold


def _half_the_noise(parameters: BoundedCountParameters) -> tuple[Sequence[int], int]:
    half = bounded_count_parameters(parameters.epsilon * 2, parameters.delta)
    return half.weights, half.threshold


def _cut_one_earlier(parameters: BoundedCountParameters) -> tuple[Sequence[int], int]:
    middle, *inner, last = parameters.weights
    return (middle + 2 * last, *inner), parameters.threshold - 1


@pytest.mark.parametrize(
    "twin", [_threshold_one_lower, _not_cut_off, _half_the_noise, _cut_one_earlier]
)
def test_broken_twins_are_found(twin: object) -> None:
    assert callable(twin)
    parameters = bounded_count_parameters("2*ln(2)", "1e-3")
    weights, threshold = twin(parameters)
    lowest = law(weights, threshold, 0)
    leaks = any(chance for shown, chance in lowest.items() if shown)
    assert leaks or worst(weights, threshold, "2*ln(2)") > Fraction("1e-3")


@given(
    epsilon=st.fractions(Fraction(1, 100), 8, max_denominator=100),
    power=st.integers(1, 12),
)
def test_the_law_is_one_of_falling_probabilities(epsilon: Fraction, power: int) -> None:
    weights = bounded_count_parameters(epsilon, Fraction(1, 10**power)).weights
    assert 2 * sum(weights) - weights[0] == ONE
    assert all(left >= right > 0 for left, right in pairwise(weights))


@pytest.mark.parametrize("epsilon", ["0.001", "0.003", "0.01", "0.1", "1", "10", "100"])
def test_a_tiny_delta_gives_falling_probabilities_or_is_refused(epsilon: str) -> None:
    """Rounding to multiples of 1 / ONE would let the middle fall below its neighbours."""
    refused = []
    for power in range(28, 40):
        for digit in (1, 3, 7):
            delta = Fraction(digit, 10**power)
            try:
                weights = bounded_count_parameters(epsilon, delta).weights
            except ParameterError:
                refused.append(delta)
                continue
            assert 2 * sum(weights) - weights[0] == ONE
            assert all(left >= right > 0 for left, right in pairwise(weights))
    assert refused
    assert max(refused) < Fraction(ALWAYS_LARGE_ENOUGH)


def test_the_delta_that_messages_name_is_large_enough_for_the_smallest_epsilon() -> None:
    assert bounded_count_parameters(SMALLEST, ALWAYS_LARGE_ENOUGH).bound > 500_000


@pytest.mark.parametrize(("delta", "rows"), [("1e-3", 2), ("1e-3", 9), ("1e-5", 16)])
def test_people_whose_rows_are_all_the_same_use_all_of_the_promise(delta: str, rows: int) -> None:
    """So no way of adding up what rows spend is better than that of `per_row`."""
    parameters = bounded_count_parameters(*per_row("1", delta, rows))
    found = worst(parameters.weights, parameters.threshold, "1", rows)
    assert Fraction(delta) * (1 - Fraction(1, 10**9)) < found <= Fraction(delta)


@pytest.mark.parametrize(("delta", "rows"), [("1e-3", 2), ("1e-3", 9), ("1e-5", 16)])
def test_rows_that_spend_what_groups_of_columns_may_are_a_broken_twin(
    delta: str, rows: int
) -> None:
    """Groups of columns have noises of their own; equal rows of a person share one."""
    twin = column_parameters("1", delta, rows, 1)
    assert isinstance(twin, BoundedCountParameters)
    assert worst(twin.weights, twin.threshold, "1", rows) > Fraction(delta) * Fraction(5, 4)


def _first(parameters: BoundedCountParameters | NoisyCountParameters, share: Fraction) -> int:
    """The fewest records that make a row's release at least that likely."""
    return next(i for i in count() if parameters.chance(i) >= share)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "ln(5)", "2"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
@pytest.mark.parametrize("k", [1, 10])
def test_more_is_released_than_by_the_printed_matrix(epsilon: str, delta: str, k: int) -> None:
    bounded = bounded_count_parameters(epsilon, delta, k)
    for definition in ("standard", "probabilistic"):
        printed = noisy_count_parameters(epsilon, delta, k, definition)
        assert bounded.half < printed.half
        for share in (Fraction(1, 10), Fraction(9, 10), Fraction(99, 100)):
            assert _first(bounded, share) <= _first(printed, share)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"),
    [("1e-5", "1e-6", 1), ("1", "1e-39", 1), ("0.001", "1e-33", 1), ("1", "1e-6", 10**7)],
)
def test_what_leaves_nothing_is_refused(epsilon: str, delta: str, k: int) -> None:
    with pytest.raises(ParameterError):
        bounded_count_parameters(epsilon, delta, k)
