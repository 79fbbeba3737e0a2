"""Sensitivity and utility as sums: exact, falling, and logarithms with integers alone."""

from fractions import Fraction
from itertools import product
from math import ceil, lcm
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.hierarchy import Hierarchy
from shoal.methods.personal.crowds import Wanted
from shoal.methods.personal.models import FINEST, SensitivityModel, Sum, Worth
from tests.methods.test_personal import AGES, TOWNS, TREES, some_method


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_every_sum_falls_as_values_are_generalised(seed: int) -> None:
    method = some_method(seed)
    utility, wishes = method.sums(TREES)
    for total in (utility, *(sensitivity for sensitivity, _ in wishes.values())):
        for parts, tree in zip(total.parts, TREES.values(), strict=True):
            for level in range(tree.height):
                assert (
                    parts[level][tree.maps[level]] >= parts[level + 1][tree.maps[level + 1]]
                ).all()
                assert (parts[level] >= 0).all()


def test_sums_are_exact_where_a_denominator_is_small_and_else_rounded_to_the_safe_side() -> None:
    third = Worth("leaves", {"town": "1/3"}).sum(TREES)
    assert third.of([0, 0], [0, 3]) == Fraction(1, 3) + Fraction(1, 8)
    odd = Fraction(1, FINEST + 15)
    worth, risk = (
        Worth("leaves", {"town": odd}).sum(TREES),
        SensitivityModel("fixed", {"town": odd}).sum(TREES),
    )
    assert worth.of([0, 0], [0, 0]) <= 1 + odd
    assert risk.of([0, 0], [0, 3]) >= odd
    assert Sum([[np.array([7]), np.array([5])]], Fraction(1)).within(3).parts[0][0] == 3


def test_the_harmonic_weight_of_a_parent_is_that_of_the_paper() -> None:
    total = SensitivityModel("harmonic", {"town": {"a": 2, "b": 6, "c": 3, "d": 3}}).sum(
        {"town": TOWNS}
    )
    assert [total.of([code], [1]) for code in (0, 1)] == [
        1 / (Fraction(1, 2) + Fraction(1, 6)),
        Fraction(3, 2),
    ]
    assert total.of([0], [2]) == 0


# Logarithms, with integers alone

HALVES = Hierarchy.from_lines(
    [[str(i), str(i // 2), f"{i // 4} of four", f"{i // 12} of two", "*"] for i in range(24)]
)

THIRDS = Hierarchy.from_lines([[f"t{i}", f"u{i // 3}", f"v{i // 9}", "*"] for i in range(27)])


def kept_exactly(
    trees: dict[str, Hierarchy], importance: dict[str, Fraction], share: Fraction, node: Any
) -> bool:
    """Whether the first leaf of each column keeps a share of its utility: products of powers, in
    integers.
    """
    scale = lcm(share.denominator, *(one.denominator for one in importance.values()))
    shown, floor = Fraction(1), Fraction(1)
    for (name, tree), level in zip(trees.items(), node, strict=True):
        times = importance.get(name, Fraction(1))
        whole, leaves = int(tree.cover(tree.height).max()), int(tree.cover(level)[0])
        shown *= Fraction(whole, leaves) ** int(times * scale * share.denominator)
        floor *= Fraction(whole) ** int(times * scale * share.numerator)
    return shown >= floor


@given(
    st.sampled_from([(TOWNS, AGES), (AGES, HALVES), (THIRDS, HALVES), (HALVES, THIRDS, TOWNS)]),
    st.lists(st.fractions(0, 3, max_denominator=7), min_size=3, max_size=3),
    st.fractions(0, 1, max_denominator=10),
)
@settings(max_examples=200)
def test_a_floor_of_logarithms_is_kept_exactly_where_it_is_met_exactly(
    chosen: Any, importances: list[Fraction], share: Fraction
) -> None:
    trees = {f"c{j}": tree for j, tree in enumerate(chosen)}
    importance = dict(zip(trees, importances, strict=False))
    worth = Worth("log", importance).sum(trees)
    floor = Wanted.of(worth, worth, share, np.zeros(0, dtype=np.intp)).floor
    for node in product(*(range(tree.height + 1) for tree in trees.values())):
        units = sum(int(by[level][0]) for by, level in zip(worth.parts, node, strict=True))
        assert (units >= floor) == kept_exactly(trees, importance, share, node), node


def test_ties_of_logarithms_lower_the_risk() -> None:
    """Of two columns of eight leaves, 2/5 of the utility are kept exactly by some nodes: they must
    count.
    """
    trees = {"age": AGES, "more": AGES}
    importance = {"age": Fraction(2, 3), "more": Fraction(1)}
    worth = Worth("log", importance).sum(trees)
    floor = ceil(Fraction(2, 5) * worth.most)
    met = [
        node
        for node in product(range(4), repeat=2)
        if sum(int(by[at][0]) for by, at in zip(worth.parts, node, strict=True)) == floor
    ]
    assert met == [(0, 3), (3, 1)]  # 2/3·3 = 2 and 2 of 5 bits
