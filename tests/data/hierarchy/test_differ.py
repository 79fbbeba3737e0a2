"""What is said to differ does, and nothing else."""

from pathlib import Path

import polars as pl

from shoal.data.coverage import rows_having
from shoal.data.hierarchy import (
    Hierarchy,
    add_level,
    add_values,
    difference,
    groups,
    intervals,
    move,
    read,
    rename,
    write,
)
from shoal.data.hierarchy.differ import MovedValue, RenamedGroup
from shoal.data.tables import table

TREE = {"West": ["FR", "DE", "IT"], "East": ["PL", "CZ", "HU"]}


def test_equal_hierarchies_do_not_differ() -> None:
    assert difference(groups(TREE), groups(TREE)).is_none


def test_spelling_and_order_do_not_matter() -> None:
    old = Hierarchy.from_lines([["7", "0-9", "*"], ["12", "10-19", "*"]], "integer")
    new = Hierarchy.from_lines([["012", "10-19", "*"], ["07", "0-9", "*"]], "integer")
    assert difference(old, new).is_none


def test_values_are_added_removed_and_moved() -> None:
    old = groups(TREE)
    found = difference(old, move(add_values(old, ["ES"], "West"), 0, ["HU"], "West"))
    assert found.added == ("ES",)
    assert found.moved == (MovedValue("HU", 1, "East", "West"),)
    assert difference(add_values(old, ["ES"], "West"), old).removed == ("ES",)


def test_a_renamed_group_moves_nobody() -> None:
    old = groups(TREE)
    found = difference(old, rename(old, 1, "East", "Ost"))
    assert found.renamed == (RenamedGroup(1, "East", "Ost"),)
    assert not found.moved


def test_a_renamed_group_may_lose_a_value() -> None:
    old = groups(TREE)
    found = difference(old, move(rename(old, 1, "East", "Ost"), 0, ["HU"], "West"))
    assert [one.value for one in found.moved] == ["HU"]
    assert found.renamed == (RenamedGroup(1, "East", "Ost"),)


def test_levels_that_come_and_go_are_found() -> None:
    old = intervals(0, 39, widths=[5, 20])
    new = intervals(0, 39, widths=[5, 10, 20])
    assert difference(old, new).levels_added == (2,)
    assert difference(new, old).levels_removed == (2,)
    assert not difference(old, new).moved
    assert difference(old, add_level(old, 0)).levels_added == (1,)


def test_a_wider_domain_only_adds_values() -> None:
    found = difference(intervals(0, 39, widths=[10]), intervals(0, 49, widths=[10]))
    assert len(found.added) == 10
    assert not found.moved
    assert not found.renamed


def test_a_file_that_was_written_does_not_differ(tmp_path: Path) -> None:
    tree = intervals(0, 1, widths=[0.25, 0.5], kind="float")
    write(tree, tmp_path / "dose.csv")
    assert difference(tree, read(tmp_path / "dose.csv", kind="float")).is_none


def test_records_concerned_are_counted() -> None:
    people = table(pl.DataFrame({"country": ["FR", "HU", "HU", "XX"]}))
    old = groups(TREE)
    found = difference(old, move(old, 0, ["HU"], "West"))
    assert rows_having(people, "country", found.concerned) == 2
