"""A walk over all nodes gives the groups of each."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.counts import group
from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Lattice
from shoal.lattice.coding import Coding
from shoal.lattice.tables import GroupTables
from shoal.lattice.walk import walk
from shoal.measure.loss import LOSSES
from shoal.methods.optimal import search
from shoal.privacy.models import KAnonymity
from tests.lattice.small import Problem, best_of_all, coded, problems, small_tables


def test_more_columns_than_arrays_have_dimensions() -> None:
    """Numpy's arrays have at most 64 dimensions; tables may have more columns."""
    rng = np.random.default_rng(11)
    tree = Hierarchy.from_lines([["0", "*"], ["1", "*"]])
    hierarchies = {f"c{j}": tree for j in range(100)}
    columns = [
        rng.integers(0, 2, 40).astype(np.uint8) if j < 3 else np.zeros(40, np.uint8)
        for j in range(100)
    ]
    counts = group([*hierarchies], columns, [2] * 100)
    assert counts.count.tolist() == group(["a", "b", "c"], columns[:3], [2] * 3).count.tolist()
    alone = group([*hierarchies], columns[3:] + columns[:3], [1] * 97 + [2] * 3)
    assert [codes.max() for codes in alone.codes] == [0] * 97 + [1] * 3
    lattice = Lattice(counts, hierarchies, ceiling={f"c{j}": 0 for j in range(3, 100)})
    assert {groups.node[:3]: len(groups.sizes) for groups in lattice.walk()}[(1, 1, 1)] == 1
    found = search(lattice, [KAnonymity(4)], LOSSES["granularity"], 1)
    expected = best_of_all(lattice, (KAnonymity(4),), "granularity", 40)
    assert expected is not None
    assert found.node == expected[1]
    assert found.loss == pytest.approx(expected[0])


LIMITS = [{}, {"BLOCK": 0, "PACK": 1}, {"BLOCK": 2, "PACK": 4}, {"BLOCK": 1000}, {"DIMENSIONS": 2}]
"""Blocks as they ship, none, small ones, ones over everything, and ones over a single axis."""


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@settings(max_examples=25)
@given(problems(), st.data())
def test_a_walk_visits_every_node_between_two_once_with_its_groups(
    limits: dict[str, int], problem: Problem, data: st.DataObject
) -> None:
    table = coded(*problem, carried=False)
    low, high = data.draw(st.sampled_from(table.nodes)), data.draw(st.sampled_from(table.nodes))
    low, high = tuple(map(min, low, high)), tuple(map(max, low, high))
    visited = []
    with pytest.MonkeyPatch.context() as patch:
        small_tables(patch, **limits)
        for cells in walk(GroupTables(table.coding, table.sizes, 0), low, high):
            visited.append(cells.levels)
            compact = cells.compact
            codes = zip(*(compact.codes(axis).tolist() for axis in range(len(low))), strict=True)
            sizes = compact.sizes.tolist()
            assert dict(zip(codes, sizes, strict=True)) == table.groups(cells.levels)
    ranges = [range(first, last + 1) for first, last in zip(low, high, strict=True)]
    assert sorted(visited) == list(itertools.product(*ranges))


def test_sums_are_exact_where_32_bits_are_not_enough() -> None:
    large = 1 << 24
    tree = [np.array([0, 1], np.uint8), np.array([0, 0], np.uint8)]
    sizes = np.array([large, 1.0])
    coding = Coding([np.array([0, 1], np.uint8)], sizes, [tree])
    walked = {cells.levels: cells for cells in walk(GroupTables(coding, sizes, 0), (0,), (1,))}
    assert walked[(1,)].compact.sizes.tolist() == [large + 1]
