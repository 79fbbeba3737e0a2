"""Large noisy answers allow the inference that the true ones allow; the paper's figures are
approximations.
"""

from math import inf

import pytest

from shoal.attack import noisy_ratio
from shoal.chance import Seeded
from shoal.errors import ParameterError


def test_the_ratio_of_large_noisy_counts_is_that_of_the_true_ones() -> None:
    for x, bias in ((100, 1.02), (1000, 1.0002)):  # the paper's own example
        assert noisy_ratio(x, x * 99 // 100, "0.1", 100).bias == pytest.approx(bias)
    found = noisy_ratio(10_000, 9_900, "0.1", 4000, Seeded(1))
    assert 0.98 < found.low < found.median < found.high < 1
    assert found.undefined == 0


def test_the_approximated_deviation_is_that_of_the_draws_where_x_is_large() -> None:
    found = noisy_ratio(5000, 2500, "0.1", 20_000, Seeded(2))
    assert found.deviation == pytest.approx(2**0.5 * 10 / 5000 * (1 + 0.25) ** 0.5)
    # The tails are heavier than those of a normal law.
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * found.deviation, rel=0.15)


def test_of_small_counts_the_ratio_may_be_anything_and_has_no_mean() -> None:
    found = noisy_ratio(5, 5, "0.1", 4000, Seeded(3))
    assert found.undefined > 0.1
    assert found.high == inf


def test_a_larger_epsilon_reveals_more() -> None:
    wide, narrow = (noisy_ratio(100, 50, epsilon, 4000, Seeded(4)) for epsilon in ("0.1", 10))
    assert narrow.high - narrow.low < wide.high - wide.low
    assert str(narrow).startswith("0.500 is read off as 0.500")


@pytest.mark.parametrize(
    "wrong", [{"x": 0}, {"y": -1}, {"y": 11}, {"epsilon": 0}, {"epsilon": "nan"}, {"trials": 0}]
)
def test_invalid_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        noisy_ratio(**{"x": 10, "y": 5, "epsilon": 1, **wrong})  # type: ignore[arg-type]
