"""The algorithm and the theorem of chapter 6 as printed, and what is wrong with them."""

from collections import Counter
from fractions import Fraction

import numpy as np

from shoal.views import View, Views, check


def printed(
    people: int, views: list[tuple[list[int], Counter[int]]], values: int
) -> list[tuple[int, ...]]:
    """The tables that Algorithm 6.2 can reach, if its vertex is not a table where possible.

    It may take any vertex; here those are looked for that an objective of one coordinate leads to.
    As every table it reaches is weighed by how improbable that was, its estimates tend to the
    shares among these.
    """
    from scipy.optimize import linprog

    size = people * values
    rows = [[float(at // values == person) for at in range(size)] for person in range(people)]
    sums = [1.0] * people
    for who, bag in views:
        for value in range(values):
            rows.append([float(at // values in who and at % values == value) for at in range(size)])
            sums.append(float(bag[value]))
    objectives = [sign * np.eye(size)[at] for at in range(size) for sign in (1, -1)]

    def accepted(chosen: tuple[int, ...]) -> bool:
        fixed = [
            (1, 1) if at // values < len(chosen) and chosen[at // values] == at % values else (0, 1)
            for at in range(size)
        ]
        found = [
            linprog(one, A_eq=rows, b_eq=sums, bounds=fixed, method="highs-ds")
            for one in objectives
        ]
        return all(
            one.status == 0 and np.abs(one.x - np.round(one.x)).max() < 1e-6 for one in found
        )

    reached: list[tuple[int, ...]] = [()]
    for _ in range(people):
        reached = [
            (*chosen, value)
            for chosen in reached
            for value in range(values)
            if accepted((*chosen, value))
        ]
    return reached


def test_the_printed_algorithm_is_certain_where_one_half_is_true() -> None:
    table, sets = [1, 1, 0, 0, 0], [[0, 2, 3, 4], [1, 2, 4], [1, 2, 3]]
    bags = [Counter(table[one] for one in who) for who in sets]
    reached = printed(5, list(zip(sets, bags, strict=True)), 2)
    assert {given_[0] for given_ in reached} == {1}
    checked = check(
        Views(
            5, [View(str(k), who, bag) for k, (who, bag) in enumerate(zip(sets, bags, strict=True))]
        )
    )
    assert (checked.tables, checked.of(0).shares) == (2, {0: Fraction(1, 2), 1: Fraction(1, 2)})


def test_theorem_22_is_false_for_two_views() -> None:
    """Six people with halves of two values each: the only such point, a vertex, and not a table."""
    halves = [
        "ac",
        "bd",
        "ab",
        "cd",
        "ad",
        "bc",
    ]  # two in view A only, two in both, two in view B only
    rows, sums = [], []
    places = [(person, value) for person, two in enumerate(halves) for value in two]
    for person in range(6):
        rows.append([float(at[0] == person) for at in places])
        sums.append(1.0)
    for who in ({0, 1, 2, 3}, {2, 3, 4, 5}):
        for value in "abcd":
            rows.append([float(at[0] in who and at[1] == value) for at in places])
            sums.append(1.0)
    assert np.allclose(np.array(rows) @ np.full(12, 0.5), sums)
    assert np.linalg.matrix_rank(np.array(rows)) == 12
    checked = check(
        Views(6, [View("A", range(4), list("abcd")), View("B", range(2, 6), list("abcd"))])
    )
    assert checked.tables == 48
