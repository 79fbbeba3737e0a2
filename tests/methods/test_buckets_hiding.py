"""The weights by which fakes hide values: the numbers expected are those that there are."""

from fractions import Fraction
from itertools import combinations

import pytest

from shoal.methods.buckets.hiding import Hiding
from shoal.methods.buckets.settings import find_setting, fitting


@pytest.mark.parametrize("counts", [(90, 60, 50), (60, 50, 45, 45), (5, 5, 4, 4, 3, 3, 2, 2, 1, 1)])
def test_expected_numbers_are_those_that_there_are_and_odds_those_of_the_law(
    counts: tuple[int, ...],
) -> None:
    """All pairs of bags and fakes of a bucket of two with one fake, weighed as `Hiding` says."""
    limits = [Fraction(1, 2)] * len(counts)
    setting = find_setting(counts, limits, "two")
    hiding = Hiding.of(setting, fitting(limits, setting.sizes), 1)
    able = [w / float(o) for w, o in zip(hiding.weights, hiding.odds, strict=True)]
    total, real = 0.0, [0.0] * len(counts)
    for bag in combinations(range(len(counts)), 2):
        for fake in set(range(len(counts))) - set(bag):
            weight = able[bag[0]] * able[bag[1]] * hiding.weights[fake]
            total += weight
            for value in bag:
                real[value] += weight
    for own, count in zip(real, counts, strict=True):
        assert own / total * sum(setting.buckets) == pytest.approx(count, rel=2e-3)
    if len(counts) > 4:
        assert set(hiding.odds) == {1}
