"""What methods are given of a tree: its budget, its rows, and what a certificate says of it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.chance import Seeded
from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.errors import HierarchyError, ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.methods.refining import Boxes, GrownTree, RefiningBudget, require_refinable
from shoal.methods.refining.order import RefiningOrder, RefiningStep
from shoal.methods.refining.tree import clear_levels
from shoal.methods.searching import candidates
from shoal.privacy.refining import refining_parameters

AGE = Hierarchy.from_lines([["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"]])
SEX = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
TREES = {"age": AGE, "sex": SEX}
NAMES = ("age", "ill", "sex")

ROWS = [("1", 0, "f", 5), ("1", 1, "m", 2), ("2", 0, "f", 3), ("3", 0, "m", 7), ("3", 1, "m", 1)]
"""Age, illness, which has no hierarchy, sex, and how often the row occurs."""


def counts() -> Counts:
    ages, ills, sexes, numbers = zip(*ROWS, strict=True)
    codes = [
        np.array([AGE.labels[0].index(age) for age in ages], np.uint8),
        np.array(ills, np.uint8),
        np.array([SEX.labels[0].index(sex) for sex in sexes], np.uint8),
    ]
    return group(NAMES, codes, [3, 2, 2], np.array(numbers))


def budget(
    floor: Mapping[str, int] | None = None,
    ceiling: Mapping[str, int] | None = None,
    importance: Mapping[str, Fraction] | None = None,
) -> RefiningBudget:
    nodes = candidates(NAMES, TREES, floor or {}, ceiling or {}, importance or {}, ())
    return RefiningBudget(nodes, Epsilon.of("3/5"))


STEPS = (RefiningStep(1, 1, 0), RefiningStep(0, 2, 1), RefiningStep(0, 1, 0))
LEVELS = np.array([[2, 1], [2, 0], [1, 0], [0, 0]])


def grown(depths: list[int]) -> GrownTree:
    """A tree in which every distinct row has a box of its own, after so many steps."""
    order = RefiningOrder(STEPS, (0.0,) * 3, 18)
    boxes = Boxes(np.arange(len(ROWS)), np.array(depths), LEVELS)
    return GrownTree(budget(), order, 4, counts(), boxes)


def texts(tree: GrownTree, count: Any = None) -> dict[tuple[str, int, str], int]:
    """What is shown, in words."""
    shown = tree.shown(count)
    rows = zip(*shown.rows.codes, shown.rows.count, strict=True)
    return {
        (shown.texts["age"][age], int(ill), shown.texts["sex"][sex]): int(number)
        for age, ill, sex, number in rows
    }


# The budget


def test_the_shares_of_order_and_tests_are_the_whole() -> None:
    one = budget()
    assert one.epsilon_order == Epsilon.of("1/10")
    assert one.epsilon_tree == Epsilon.of("1/2")
    assert one.parameters == refining_parameters("1/2", 3)


def test_bounds_and_importance_are_those_of_the_candidates() -> None:
    bounded = budget({"age": 1}, {"sex": 0}, {"age": Fraction(1, 2)})
    columns = bounded.columns
    assert (columns.levels, columns.tops, columns.steps) == ([[2, 1], [0]], [2, 0], 1)
    assert columns.importance == [1.0, 2.0]
    assert bounded.parameters.steps == 1


def test_only_columns_that_are_not_refined_have_a_level() -> None:
    assert budget().levels == {}
    assert budget(ceiling={"sex": 0}).levels == {"sex": 0}
    assert budget(floor={"age": 2}).levels == {"age": 2}


def test_a_grown_tree_covers_all_rows_at_levels_of_its_chain() -> None:
    one = budget()
    order = one.order(counts(), Seeded(1))
    assert sorted((step.column, step.level) for step in order.steps) == [(0, 0), (0, 1), (1, 0)]
    tree = one.grown(counts(), order, 2, Seeded(2))
    assert tree.threshold == order.threshold(2, one.parameters.bias)
    assert tree.shown().rows.total == counts().total
    assert len(tree.boxes.box) == len(ROWS)


def test_dense_rows_end_finer() -> None:
    one = budget()
    many = counts()
    many = Counts(many.names, many.codes, many.cards, many.count * 10_000)
    order = RefiningOrder(STEPS, (0.0,) * 3, 18)
    assert set(one.grown(many, order, 5, Seeded(1)).boxes.row_levels(0).tolist()) == {0}
    few = one.grown(many, order, 10**9, Seeded(1))
    assert set(few.boxes.row_levels(0).tolist()) == {2}


# What is shown


def test_rows_are_shown_at_the_levels_of_their_boxes() -> None:
    # In the order of the codes: 1 with 0 and 1, 2, 3 with 0 and 1.
    tree = grown([3, 0, 2, 1, 1])
    assert texts(tree) == {
        ("1", 0, "f"): 5,
        ("*", 1, "*"): 2,
        ("low", 0, "f"): 3,
        ("*", 0, "m"): 7,
        ("*", 1, "m"): 1,
    }


def test_rows_that_look_alike_are_one_and_columns_without_a_hierarchy_tell_rows_apart() -> None:
    assert texts(grown([0] * 5)) == {("*", 0, "*"): 15, ("*", 1, "*"): 3}
    assert texts(grown([2] * 5)) == {
        ("low", 0, "f"): 8,
        ("low", 1, "m"): 2,
        ("high", 0, "m"): 7,
        ("high", 1, "m"): 1,
    }


def test_rows_may_count_otherwise_and_those_that_count_nothing_are_not_shown() -> None:
    assert texts(grown([0] * 5), np.array([1, 0, 1, 0, 0])) == {("*", 0, "*"): 2}
    assert texts(grown([3] * 5), np.zeros(5, dtype=np.int64)) == {}


def test_every_text_covers_its_leaves() -> None:
    shown = grown([3, 0, 2, 1, 1]).shown()
    known = dict(zip(shown.texts["age"], shown.covered["age"].tolist(), strict=True))
    assert known == {"1": 1, "2": 1, "3": 1, "low": 2, "high": 1, "*": 3}
    # Each cell loses the share of its domain that it covers.
    lost = shown.lost(shown.rows.total, TREES)
    ages = (1 * 5 + 3 * 2 + 2 * 3 + 3 * 7 + 3 * 1) / 3
    sexes = (1 * 5 + 2 * 2 + 1 * 3 + 1 * 7 + 1 * 1) / 2
    least = 18 * (1 / 3 + 1 / 2)
    assert lost == pytest.approx((ages + sexes - least) / (2 * 18 - least))


def test_a_row_tells_something_unless_all_its_columns_are_at_the_root() -> None:
    with_ill = grown([3, 0, 2, 1, 1])
    assert with_ill.tells(with_ill.shown()).all()
    nodes = candidates(("age", "sex"), TREES, {}, {}, {}, ())
    rows = counts().over(["age", "sex"])
    boxes = Boxes(np.arange(rows.distinct), np.array([0, 1, 2, 0]), LEVELS)
    order = RefiningOrder(STEPS, (0.0,) * 3, 18)
    bare = GrownTree(RefiningBudget(nodes, Epsilon.of(1)), order, 4, rows, boxes)
    shown = bare.shown()
    root = [
        shown.texts["age"][age] == shown.texts["sex"][sex] == "*"
        for age, sex in zip(*shown.rows.codes, strict=True)
    ]
    assert bare.tells(shown).tolist() == [not at_root for at_root in root]
    assert sum(root) == 1


def test_the_certificate_says_the_chain_and_the_noise() -> None:
    parameters = refining_parameters("1/2", 3)
    assert grown([0] * 5).derived() == {
        "steps": [["sex", 0], ["age", 1], ["age", 0]],
        "threshold": 4,
        "scale": parameters.scale,
        "bias": parameters.bias,
        "cut": 2 * parameters.bias,
    }


# Which levels stand side by side


def test_a_level_with_a_label_that_stands_for_other_values_elsewhere_is_left_out() -> None:
    lines = [["1", "2", "12", "*"], ["2", "x", "12", "*"], ["3", "3", "3", "*"]]
    tree = Hierarchy.from_lines(lines)
    assert clear_levels("age", tree, range(4)) == [3, 2, 0]
    assert clear_levels("age", tree, range(1, 4)) == [3, 2, 1]  # nothing has the leaves' names
    nodes = candidates(("age",), {"age": tree}, {}, {}, {}, ())
    order = RefiningBudget(nodes, Epsilon.of(1)).order(
        group(["age"], [np.array([0, 1, 2], np.uint8)], [3]), Seeded(1)
    )
    assert [(step.above, step.level) for step in order.steps] == [(3, 2), (2, 0)]


@pytest.mark.parametrize("top", [1, 2])
def test_ceiling_and_floor_with_one_label_for_different_values_are_refused(top: int) -> None:
    lines = [["1", "2", "2", "*"], ["2", "other", "other", "*"]]
    tree = Hierarchy.from_lines(lines)
    with pytest.raises(HierarchyError, match="'age'") as refused:
        clear_levels("age", tree, range(top + 1))
    assert "other" not in str(refused.value)
    assert clear_levels("age", tree, range(4)) == [3, 0]
    nodes = candidates(("age",), {"age": tree}, {}, {"age": top}, {}, ())
    with pytest.raises(HierarchyError):
        RefiningBudget(nodes, Epsilon.of(1)).require_possible()


def test_a_label_that_stays_the_same_on_the_way_up_is_clear() -> None:
    lines = [["1", "1", "*"], ["2", "23", "*"], ["3", "23", "*"]]
    assert clear_levels("age", Hierarchy.from_lines(lines), range(3)) == [2, 1, 0]
    assert clear_levels("age", AGE.with_missing(), range(3)) == [2, 1, 0]


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.integers(0, 1))
def test_a_text_stands_for_one_set_of_leaves_among_clear_levels(
    names: list[int], floor: int
) -> None:
    """Labels of the middle level are taken from those of leaves, roots and others."""
    texts = [("1", "2", "*", "x")[name] for name in names]
    try:
        tree = Hierarchy.from_lines(
            [["1", texts[0], "*"], ["2", texts[1], "*"], ["3", texts[2], "*"]]
        )
        levels = clear_levels("age", tree, range(floor, 3))
    except HierarchyError:
        return
    meant: dict[str, set[tuple[int, ...]]] = {}
    for level in levels:
        for code, label in enumerate(tree.labels[level]):
            leaves = tuple(np.flatnonzero(tree.maps[level] == code).tolist())
            meant.setdefault(label, set()).add(leaves)
    assert all(len(sets) == 1 for sets in meant.values())


# What is refused


def test_a_tree_knows_one_score_and_one_definition() -> None:
    require_refinable("granularity", "standard")
    with pytest.raises(ParameterError, match="score"):
        require_refinable("entropy", "standard")
    with pytest.raises(ParameterError, match="definition"):
        require_refinable("granularity", "probabilistic")
