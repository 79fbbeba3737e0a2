"""Searches with less pruning find what the shipped one does."""

import numpy as np

from shoal.errors import InfeasibleError
from shoal.experiments.pruning import two_sizes
from shoal.methods.buckets.settings import find_setting
from shoal.privacy.limits import Limits


def test_all_searches_find_the_same_loss_and_pruned_ones_test_less() -> None:
    draw = np.random.default_rng(4)
    answers = set()
    fewer = 0
    for _ in range(60):
        counts = draw.integers(1, 40, draw.integers(3, 7))
        theta = int(draw.integers(1, 4))
        limits = list(Limits.formula(theta, "0.1").of(dict(enumerate(counts.tolist()))).values())
        largest = int(draw.integers(5, 12))
        try:
            shipped = find_setting(counts, limits, "two", largest).loss
        except InfeasibleError:
            shipped = None
        plain = two_sizes(counts, limits, largest, "none")
        pruned = two_sizes(counts, limits, largest, "loss")
        assert plain.loss == pruned.loss == shipped
        assert pruned.tested <= plain.tested
        fewer += pruned.tested < plain.tested
        answers.add(shipped is None)
    assert answers == {False, True}
    assert fewer
