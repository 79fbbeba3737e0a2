"""Counting finds what trying everything finds."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shoal.attack.counting import CountingProblem, PeopleClass, drawn, ways
from shoal.attack.judge import Judge
from shoal.attack.sampling import interval
from shoal.errors import TooLargeError
from shoal.privacy.models import DistinctDiversity


def problem() -> tuple[CountingProblem, Judge]:
    judge = Judge([DistinctDiversity("ill", 2)], "ill", np.array([4, 5, 1]), np.arange(3), 3)
    classes = [PeopleClass(0, 3), PeopleClass(0, 2), PeopleClass(1, 2), PeopleClass(1, 2)]
    candidates = (((0,), (1, 2, 3)), ((0, 2), (1, 3)))
    return CountingProblem(((3, 2, 0), (1, 3, 0)), tuple(classes), candidates), judge


def test_ways_are_those_of_all_assignments() -> None:
    """Two groups, four classes, two candidates: by brute force over the people."""
    given, judge = problem()
    members = [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    number: Counter[int] = Counter()
    has: dict[tuple[int, int, int], int] = {}
    bags = [[value for value, often in enumerate(bag) for _ in range(often)] for bag in given.bags]
    for one in _all(bags[0]):
        for other in _all(bags[1]):
            values = (*one, *other)
            mask = 0
            for bit, candidate in enumerate(given.candidates):
                parts = [
                    [values[person] for at in part for person in members[at]] for part in candidate
                ]
                mask |= all(len(set(part)) >= 2 for part in parts) << bit
            number[mask] += 1
            for at, people in enumerate(members):
                for person in people:
                    has[mask, at, values[person]] = has.get((mask, at, values[person]), 0) + 1
    found = ways(given, judge)
    assert sum(number.values()) == given.assignments
    for mask, (some, table) in found.items():
        for at in range(4):
            for value in range(3):
                assert Fraction(table[at][value], some) == Fraction(
                    has.get((mask, at, value), 0), number[mask]
                )
    total = sum(some for some, _ in found.values())
    assert {mask: Fraction(some, total) for mask, (some, _) in found.items()} == {
        mask: Fraction(some, given.assignments) for mask, some in number.items()
    }
    assert ways(given, judge, refused=True)[0] == found[0]
    with pytest.raises(TooLargeError, match="sample them"):
        ways(given, judge, most=5)


def _all(values: Sequence[Any]) -> set[tuple[Any, ...]]:
    if not values:
        return {()}
    return {
        (value, *rest)
        for at, value in enumerate(values)
        for rest in _all([*values[:at], *values[at + 1 :]])
    }


def test_samples_of_a_problem_are_those_that_are_counted() -> None:
    given, judge = problem()
    hits = drawn(given, judge, 20_000, np.random.default_rng(5))
    number, has = ways(given, judge, refused=True)[0]
    for at, (_, people) in enumerate(given.classes):
        for value in range(3):
            low, high = interval(int((hits[:, at] == value).sum()), len(hits), 12)
            assert low <= Fraction(has[at][value], number * people) <= high
