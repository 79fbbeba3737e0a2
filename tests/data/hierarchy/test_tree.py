"""Hierarchies as trees: what every value becomes at every level."""

import numpy as np
import pytest
from hypothesis import given

from shoal import hierarchy
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError
from tests.data.hierarchy.made import AGES, trees


@given(trees())
def test_every_value_becomes_what_its_line_says(lines: list[list[str]]) -> None:
    tree = Hierarchy.from_lines(lines)
    for line in lines:
        leaf = tree.find(line[0])
        assert [tree.labels[level][codes[leaf]] for level, codes in enumerate(tree.maps)] == line


@given(trees())
def test_every_value_covers_a_run_of_neighbouring_leaves(lines: list[list[str]]) -> None:
    tree = Hierarchy.from_lines(lines)
    for level, codes in enumerate(tree.maps):
        assert len(np.flatnonzero(np.diff(codes.astype(int)))) + 1 == tree.cardinality(level)
        assert tree.cover(level).sum() == tree.leaves


def test_lines_hold_texts_and_nothing_else() -> None:
    with pytest.raises(HierarchyError, match="as text"):
        Hierarchy.from_lines([[39, "*"]])  # type: ignore[list-item]


def test_the_root_can_be_replaced_or_put_above() -> None:
    lines = [["a", "g", "*"], ["b", "h", "x"]]
    assert Hierarchy.from_lines(lines, root="all").labels[-1] == ("all",)
    assert Hierarchy.from_lines(lines, add_root="all").labels[2:] == (("*", "x"), ("all",))


def test_missing_values_get_a_leaf_that_stays_alone_below_the_root() -> None:
    tree = Hierarchy.from_lines(AGES, Kind.INTEGER).with_missing()
    assert tree.leaves == 3
    assert tree.find(None) == 3
    assert [codes[3] for codes in tree.maps] == [3, 3, 2, 0]
    assert tree.with_missing() is tree
    assert tree.lines() == AGES
    assert Hierarchy.from_lines(AGES).find(None) == -1


def test_a_blank_value_in_the_file_is_the_leaf_of_missing_ones() -> None:
    tree = Hierarchy.from_lines([["a", "*"], ["", "*"]]).with_missing()
    assert tree.find(None) == 1
    assert not tree.has_missing


def test_a_hierarchy_of_texts_serves_a_column_of_integers() -> None:
    tree = Hierarchy.from_lines([["039", "*"], ["40", "*"]], derived=True)
    numbers = tree.with_missing().of_kind(Kind.INTEGER)
    assert [numbers.find(39), numbers.find(None)] == [0, 2]
    assert numbers.derived
    assert tree.of_kind(Kind.TEXT) is tree
    with pytest.raises(HierarchyError, match="not of the declared type"):
        Hierarchy.from_lines([*AGES[:1], ["x", "y", "z", "*"]]).of_kind(Kind.INTEGER)
    intervals = hierarchy.intervals(0, 10, widths=[5], kind="float")
    assert intervals.of_kind(Kind.INTEGER).find(7) == 1
    with pytest.raises(HierarchyError, match="declare the column 'float'"):
        intervals.of_kind(Kind.TEXT)


def test_a_hierarchy_prints_as_its_size_and_not_as_its_values() -> None:
    assert repr(Hierarchy.from_lines(AGES)) == "<shoal.Hierarchy of 3 text values, 4 levels>"
