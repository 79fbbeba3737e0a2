"""Tables that nodes are rolled up from: whichever is taken, the groups are the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.counts import group
from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Lattice
from shoal.lattice.coding import Coding
from shoal.lattice.tables import GroupTable, GroupTables, Scratches
from tests.lattice.small import Problem, coded, problems, small_tables


def test_columns_whose_keys_fit_no_integer_are_grouped_all_the_same() -> None:
    rng = np.random.default_rng(5)
    tree = Hierarchy.from_lines([[str(leaf), str(leaf // 8), "*"] for leaf in range(64)])
    columns = [rng.integers(0, 64, 500).astype(np.uint8) for _ in range(14)]
    columns = [np.concatenate([column, column[:100]]) for column in columns]
    hierarchies = {f"c{j}": tree for j in range(14)}
    lattice = Lattice(group([*hierarchies], columns, [64] * 14), hierarchies)
    bottom = lattice.groups(lattice.bottom)
    assert sorted(bottom.sizes.tolist()) == [1] * 400 + [2] * 100
    assert [bottom.codes(3)[at] for at in bottom.rows] == lattice.counts.codes[3].tolist()
    one = lattice.groups((0,) + (2,) * 13)
    assert (
        one.sizes.tolist() == np.bincount(columns[0], minlength=64)[np.unique(columns[0])].tolist()
    )
    middle = lattice.groups((1,) * 14)
    assert middle.sizes.sum() == 600
    assert middle.sizes.max() >= 2
    for j in (0, 13):
        assert middle.marginal(j).tolist() == np.bincount(columns[j] // 8, minlength=8).tolist()


WAYS = {
    "an array of all cells": {},
    "one sort": {"SPARSE": 0, "PACK": 1},
    "one sort by order": {"SPARSE": 0, "PACK": 1, "WIDEST": 1 << 9},
    "packs": {"WIDEST": 0},
}
"""Ways to roll up, and the limits under which they are taken."""


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25)
@given(problems(), st.data())
def test_a_table_is_rolled_up_to_any_coarser_node_in_each_way(
    way: str, problem: Problem, data: st.DataObject
) -> None:
    table = coded(*problem)
    coarse = data.draw(st.sampled_from(table.nodes))
    fine = data.draw(st.tuples(*(st.integers(0, level) for level in coarse)))
    with pytest.MonkeyPatch.context() as patch:
        small_tables(patch, **WAYS[way])
        tables = GroupTables(table.coding, table.sizes, 0)
        finer = GroupTable.of(tables.roll(tables.base, fine))
        cells = tables.roll(finer, coarse).compact
    assert (finer.levels, finer.rows) == (fine, len(table.groups(fine)))
    codes = zip(*(cells.codes(axis).tolist() for axis in range(len(coarse))), strict=True)
    assert list(zip(codes, cells.sizes.tolist(), strict=True)) == [*table.groups(coarse).items()]


@pytest.mark.parametrize("widest", [8, 1 << 62])
def test_sizes_stay_with_their_keys_whichever_way_these_are_sorted(
    monkeypatch: pytest.MonkeyPatch, widest: int
) -> None:
    """By their order if key and size together are too wide, or else as one number."""
    small_tables(monkeypatch, SPARSE=0, PACK=1, WIDEST=widest)
    columns = [np.array(codes, np.uint8) for codes in ([0, 0, 1], [0, 1, 0])]
    maps = [np.array(codes, np.uint8) for codes in ([0, 1], [0, 0])]
    sizes = np.array([1.0, 2, 4])
    tables = GroupTables(Coding(columns, sizes, [maps, maps]), sizes, 0)
    cells = tables.roll(tables.base, (1, 0))
    assert cells.keys is not None
    assert cells.keys.tolist() == [0, 1]
    assert cells.sizes.tolist() == [5, 2]


def tables_of(rows: int, keep_bytes: int) -> GroupTables:
    """Two columns of 64 values, which merge to eight, to two and to one."""
    rng = np.random.default_rng(7)
    leaves = np.arange(64)
    maps = [(leaves // part).astype(np.uint8) for part in (1, 8, 32, 64)]
    counts = group("ab", [rng.integers(0, 64, rows).astype(np.uint8) for _ in "ab"], [64, 64])
    sizes = counts.count.astype(np.float64)
    return GroupTables(Coding(counts.codes, sizes, [maps, maps]), sizes, keep_bytes)


@pytest.mark.parametrize("keep_bytes", [0, 1 << 20])
def test_an_intermediate_table_is_made_once_and_kept_if_there_is_room(
    monkeypatch: pytest.MonkeyPatch, keep_bytes: int
) -> None:
    small_tables(monkeypatch, SMALL=100, STEP=4, WANTED=2)
    tables = tables_of(2000, keep_bytes)
    expected = tables.roll(tables.base, (2, 2)).compact.sizes.tolist()
    made = tables.nearest((2, 2))
    assert made.rows * 2 < tables.base.rows
    again = tables.nearest((2, 2))
    assert again is (made if keep_bytes else tables.base)
    for table in (made, again):
        assert tables.roll(table, (2, 2)).compact.sizes.tolist() == expected
    # A table that is finer on one axis cannot come from it.
    assert tables.nearest((0, 3)).levels[0] == 0


def test_small_tables_are_rolled_up_from_directly() -> None:
    tables = tables_of(2000, 1 << 20)
    assert tables.nearest((3, 3)) is tables.base


def test_a_table_may_have_a_row_for_every_record() -> None:
    packs = ((range(1), np.array([5, 7, 9], np.uint16)),)
    table = GroupTable((0,), packs, np.array([1.0, 2, 3]))
    single = table.single(2)
    assert single is not None
    assert single.packs[0][1].tolist() == [5, 7, 7, 9, 9]
    assert single.sizes.tolist() == [1] * 5
    assert table.single(2) is single
    many = GroupTable((0,), packs, np.array([1.0, 2, 9]))
    assert many.single(4) is None  # seven rows for three are too many
    assert many.clipped(4, np.uint32).tolist() == [1, 2, 4]


def test_scratch_space_is_used_again_and_by_one_at_a_time() -> None:
    scratches = Scratches()
    with scratches.lent() as scratch, scratches.lent() as other:
        assert other is not scratch
    with scratches.lent() as again:
        assert again in (scratch, other)
    first = scratch.array("keys", 4, np.intp)
    assert np.shares_memory(first, scratch.array("keys", 3, np.intp))
    assert not np.shares_memory(first, scratch.array("other", 4, np.intp))
    assert scratch.array("keys", 2, np.uint32).dtype == np.uint32
    assert len(scratch.array("keys", 9, np.intp)) == 9
    # Types share an array: each would take as much memory as all do.
    assert np.shares_memory(scratch.array("keys", 4, np.intp), scratch.array("keys", 4, np.uint32))


def test_estimates_follow_what_nodes_really_have_and_never_exceed_the_rows() -> None:
    estimates = tables_of(2000, 0).estimates
    rows = tables_of(2000, 0).base.rows
    assert estimates.groups_at((3, 3)) == pytest.approx(1, abs=0.01)
    assert estimates.groups_at((0, 0)) <= rows
    before = estimates.groups_at((1, 1))
    estimates.learn((1, 1), 40)
    assert estimates.groups_at((1, 1)) == pytest.approx(40)
    estimates.learn((1, 1), 80)
    assert estimates.groups_at((1, 1)) == pytest.approx(50)  # a quarter of the way
    estimates.learn((0, 0), 10**9)
    assert estimates.groups_at((0, 0)) == rows
    assert before == pytest.approx(64, rel=0.1)
