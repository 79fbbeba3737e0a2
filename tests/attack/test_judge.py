"""Bags of values are judged by the models that ship, and what is remembered of them suffices."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shoal.attack.judge import FAILED, Judge
from shoal.counts import Counts
from shoal.errors import ParameterError
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
    TCloseness,
    bound,
)
from tests.attack.people import owned

TOTAL = np.array([4, 4, 4])
BAGS = [bag for bag in product(range(4), repeat=3) if sum(bag) >= 2]


def judge(*models: Model) -> Judge:
    people = owned([(0, 0)] * 12, "xyz" * 4)
    return Judge([bound(model, people) for model in models], "ill", TOTAL, np.arange(3), 3)


def test_a_bag_satisfies_a_model_by_its_values_alone() -> None:
    held = judge(DistinctDiversity("ill", 2), KAnonymity(3)).holds(np.array(BAGS))
    expected = [sum(bag) >= 3 and sum(often > 0 for often in bag) >= 2 for bag in BAGS]
    assert held.tolist() == expected


def test_shares_are_compared_with_those_of_the_table() -> None:
    held = judge(TCloseness("ill", "0.1")).hold([(1, 1, 1), (3, 0, 0), (2, 2, 2)])
    assert held == [True, False, True]


def test_a_distribution_is_judged_like_a_bag() -> None:
    entropy = judge(EntropyDiversity("ill", 2))
    assert entropy.believed([Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    assert not entropy.believed([Fraction(1, 3), Fraction(2, 3), Fraction(0)])


@pytest.mark.parametrize(
    "models",
    [
        (DistinctDiversity("ill", 2),),
        (EntropyDiversity("ill", "3/2"),),
        (RecursiveDiversity("ill", 2, 2),),
        (TCloseness("ill", "0.3"),),
    ],
    ids=lambda models: models[0].name,
)
def test_bags_of_which_the_same_is_remembered_satisfy_the_same_models(
    models: tuple[Model, ...],
) -> None:
    judged = judge(*models)
    held = dict(zip(BAGS, judged.hold(BAGS), strict=True))
    of_memory: dict[object, set[bool]] = {}
    for bag in BAGS:
        seen = None
        for value, often in enumerate(bag):
            if often and seen != FAILED:
                seen = judged.memory.step(seen, value, often, sum(bag))
        of_memory.setdefault((sum(bag), seen), set()).add(held[bag])
        if seen == FAILED:
            assert not held[bag]
        elif judged.memory.sure(seen, sum(bag), 1):
            assert held[bag]
    assert all(len(answers) == 1 for answers in of_memory.values())


def test_models_of_other_columns_are_refused() -> None:
    one = np.ones(1, dtype=np.int64)
    population = Counts(("a",), (np.zeros(1, dtype=np.uint8),), (1,), one)
    for model in (DeltaPresence(0, 1, population), DistinctDiversity("wage", 2)):
        with pytest.raises(ParameterError, match="attack another column"):
            Judge([model], "ill", one, np.zeros(1, dtype=np.int64), 1)
