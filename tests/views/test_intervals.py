"""Clopper and Pearson's intervals, compared with another library's."""

import pytest
from scipy.stats import beta

from shoal.views.intervals import clopper_pearson


@pytest.mark.parametrize("hits", [0, 1, 7, 50, 99, 100])
@pytest.mark.parametrize("error", [0.05, 1e-6])
def test_bounds_are_those_of_clopper_and_pearson(hits: int, error: float) -> None:
    low, high = clopper_pearson(hits, 100, error)
    assert low == pytest.approx(beta.ppf(error / 2, hits, 101 - hits) if hits else 0, abs=2e-9)
    assert high == pytest.approx(
        beta.isf(error / 2, hits + 1, 100 - hits) if hits < 100 else 1, abs=2e-9
    )
    assert hits == 0 or low < beta.ppf(error / 2, hits, 101 - hits)
    assert hits == 100 or high > beta.isf(error / 2, hits + 1, 100 - hits)
