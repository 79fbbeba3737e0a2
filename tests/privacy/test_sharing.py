"""Which noise counts get, and what groups of columns share."""

from fractions import Fraction

import pytest

from shoal.errors import ParameterError
from shoal.privacy.bounded import BoundedCountParameters
from shoal.privacy.noise import NoisyCountParameters
from shoal.privacy.sharing import column_parameters, count_parameters, noise_named


def test_the_noise_decides_the_parameters() -> None:
    assert isinstance(count_parameters(1, "1e-6", 10), BoundedCountParameters)
    printed = count_parameters(1, "1e-6", 10, "probabilistic", noise="printed")
    assert isinstance(printed, NoisyCountParameters)
    assert printed.definition == "probabilistic"


def test_bounded_noise_keeps_the_standard_definition_only() -> None:
    with pytest.raises(ParameterError, match="not kept with bounded noise"):
        count_parameters(1, "1e-6", 10, "probabilistic")


def test_an_unknown_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match="'bounded' or 'printed'"):
        noise_named("gaussian")


@pytest.mark.parametrize("noise", ["bounded", "printed"])
def test_few_groups_share_plainly_and_many_get_more_than_that(noise: str) -> None:
    few = column_parameters("1", "1e-5", 3, 10, noise=noise)  # type: ignore[arg-type]
    assert few.epsilon.factor == Fraction(1, 3)
    many = column_parameters("1", "1e-5", 65, 10, noise=noise)  # type: ignore[arg-type]
    assert many.epsilon.factor > Fraction(1, 65)
    assert many.delta < Fraction("1e-5") / 65
