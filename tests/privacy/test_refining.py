"""The parameters of a private tree: the losses of all paths, enumerated."""

from fractions import Fraction
from functools import cache
from math import exp, inf, log

import pytest

from shoal.errors import ParameterError
from shoal.privacy.refining import CUT, lost, refining_parameters


def above(scale: float, m: int) -> float:
    """P[z > −m] of discrete Laplace noise."""
    ratio = exp(-1 / scale)
    if m > 0:
        return 1 - ratio**m / (1 + ratio)
    return ratio ** (1 - m) / (1 + ratio)


def not_above(scale: float, m: int) -> float:
    """P[z ≤ −m], by its own formula: 1 − P[z > −m] would cancel."""
    return above(scale, 1 - m)


def worst_path(scale: float, bias: int, cut: int, steps: int, highest: int) -> float:
    """The largest log-ratio of a tree over all paths of numbers of records, in either direction.

    Scores are relative to the threshold. A path is any sequence of numbers that do not rise.
    """

    @cache
    def most(count: int, passed: int, left: int) -> tuple[float, float]:
        """The largest and the smallest log-ratio from here on."""
        if not left:
            return 0.0, 0.0
        high, low = 0.0, 0.0
        for records in range(1, count + 1):
            score = max(records - passed * bias - highest // 2, -cut)
            other = max(records - 1 - passed * bias - highest // 2, -cut)
            passes = log(above(scale, score) / above(scale, other))
            fails = log(not_above(scale, score) / not_above(scale, other))
            on = most(records, passed + 1, left - 1)
            high = max(high, passes + on[0], fails)
            low = min(low, passes + on[1], fails)
        return high, low

    high, low = most(highest, 0, steps)
    return max(high, -low)


@pytest.mark.parametrize("epsilon", ["1", "2"])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_no_path_loses_more_than_epsilon(epsilon: str, steps: int) -> None:
    parameters = refining_parameters(epsilon, steps)
    scale = float(parameters.scale)
    found = worst_path(scale, parameters.bias, parameters.cut, steps, 60)
    assert found <= float(epsilon) * (1 + 1e-9)
    # The bound is tight: some path loses nearly all of the sum.
    assert found > 0.99 * float(lost(parameters.scale, steps))


@pytest.mark.parametrize("twin", ["half the noise", "no bias", "no cut-off"])
def test_broken_twins_lose_more(twin: str) -> None:
    parameters = refining_parameters("1", 6)
    scale, bias, cut = float(parameters.scale), parameters.bias, parameters.cut
    if twin == "half the noise":
        scale /= 2
    elif twin == "no bias":
        bias = 0
    else:
        cut = 10_000
    assert worst_path(scale, bias, cut, 6, 60) > 1.05


def test_deeper_trees_cost_no_more_than_a_little() -> None:
    few, many = (refining_parameters("0.2", steps).scale for steps in (10, 1000))
    assert few <= many < few * Fraction(101, 100)


def test_the_sum_is_rounded_up() -> None:
    parameters = refining_parameters("0.5", 8)
    scale = float(parameters.scale)
    scores = [1 - CUT * parameters.bias + parameters.bias * turn for turn in range(8)]
    about = sum(log(above(scale, m) / above(scale, m - 1)) for m in scores)
    assert float(lost(parameters.scale, 8)) == pytest.approx(about, rel=1e-9)
    assert lost(parameters.scale, 8) <= Fraction(1, 2)
    assert lost(parameters.scale - Fraction(1, 64), 8) > Fraction(1, 2)


def test_an_epsilon_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="leaves nothing but noise"):
        refining_parameters("1e-9", 5)
    assert inf > float(refining_parameters("0.001", 5).scale)
