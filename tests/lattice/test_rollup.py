"""`Rollup`, the one door to the engine: groups by column, whatever lies below."""

import numpy as np
import pytest
from hypothesis import given, settings

from shoal.lattice.rollup import Rollup
from tests.lattice.small import Coded, Problem, coded, problems

some = settings(max_examples=25)


def rollup_of(table: Coded, extra: int = 0) -> Rollup:
    """The roll-up of a table, with some rows more that stand for nobody."""
    columns = [np.append(codes, codes[:extra]) for codes in table.counts.codes]
    count = np.append(table.counts.count, np.zeros(len(columns[0]) - table.counts.distinct, int))
    number = len(table.maps)
    return Rollup(columns[:number], count, table.maps, columns[number:])


@some
@given(problems())
def test_the_groups_of_a_node_are_those_of_the_rows_and_carried_columns_separate_them(
    problem: Problem,
) -> None:
    table = coded(*problem)
    rollup = rollup_of(table)
    assert rollup.total == len(problem[1])
    assert rollup.rows == table.counts.distinct
    for levels in table.nodes:
        cells = rollup.cells(levels).compact
        columns = [cells.codes(axis).tolist() for axis in range(len(levels))]
        codes = zip(*columns, strict=True)
        assert dict(zip(codes, cells.sizes.tolist(), strict=True)) == table.groups(levels)


@some
@given(problems())
def test_levels_lead_from_columns_to_axes_and_back(problem: Problem) -> None:
    rollup = rollup_of(coded(*problem, carried=False))
    node = tuple(range(10, 10 + len(problem[0])))
    levels = rollup.levels_of(node)
    assert levels == tuple(node[column] for column in rollup.axes)
    assert rollup.columns_of(levels) == node


def test_rows_that_stand_for_nobody_have_no_code_and_no_group() -> None:
    levels = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    tree = [np.array(codes, np.uint8) for codes in levels]
    rollup = Rollup([np.array([3, 0, 1, 3], np.uint8)], np.array([2, 0, 5, 0]), [tree])
    assert (rollup.rows, rollup.total) == (2, 7)
    assert [codes.tolist() for codes in rollup.real[0]] == [[1, 3], [0, 1], [0]]
    assert rollup.cells((0,)).compact.sizes.tolist() == [5, 2]
    assert rollup.marginal(0, 1).tolist() == [5, 2]
    assert rollup.marginal(0, 2).tolist() == [7]


def test_a_table_of_nobody_has_no_groups() -> None:
    tree = [np.array([0, 1], np.uint8), np.array([0, 0], np.uint8)]
    rollup = Rollup([np.array([0, 1], np.uint8)], np.array([0, 0]), [tree])
    assert (rollup.rows, rollup.total) == (0, 0)
    assert [len(cells.compact.sizes) for cells in rollup.walk((0,), (1,))] == [0, 0]
    assert [len(cells.sizes) for cells in rollup.below([((1,), 0)], 5)] == [0, 0]
    assert [mass for _, mass in rollup.masses([((1,), 0)], 5, lambda sizes: sizes)] == [0, 0]


def test_an_axis_spreads_more_the_more_it_merges() -> None:
    levels = [np.arange(8), np.arange(8) // 2, np.arange(8) // 8]
    tree = [codes.astype(np.uint8) for codes in levels]
    rollup = Rollup([np.arange(8, dtype=np.uint8)], np.ones(8, np.int64), [tree])
    assert rollup.spread(0, 1, 1) == 0
    assert rollup.spread(0, 0, 1) == pytest.approx(np.log(2))
    assert rollup.spread(0, 0, 2) == pytest.approx(np.log(8))
