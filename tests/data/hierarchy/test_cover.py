"""What a released text stands for: every value of every level, every range and set of Mondrian."""

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy, dates, groups, intervals, mask, order, suppress
from shoal.data.hierarchy.cover import covers
from shoal.methods.axes import axis_of

INTEGERS = intervals(0, 12, widths=[5])
TREES = {
    "integers": INTEGERS,
    "negative integers": intervals(-7, 4, widths=[4]),
    "integers open at both ends": intervals(bottom=10, top=20, widths=[5]),
    "integers closed on the right": intervals(0, 20, cuts=[[5, 10], [10]], closed="right"),
    "integers open and closed on the right": intervals(bottom=0, top=6, widths=[3], closed="right"),
    "steps": intervals(0, 3, step=0.5, widths=[1], kind="float"),
    "floats": intervals(0, 1, widths=[0.1, 0.5], kind="float"),
    "floats closed on the right": intervals(-1, 1, widths=[0.25], kind="float", closed="right"),
    "floats open at both ends": intervals(bottom=-0.5, top=0.5, cuts=[[0.1, 0.3]], kind="float"),
    "floats without their end": intervals(0, 1, cuts=[[0.25]], kind="float", end="open"),
    "dates": dates("2024-12-28", "2025-01-04", ["month", "year"]),
    "groups": groups({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP", "CN"]}),
    "values with commas": groups({"a, b": ["a", "b"], "c": ["d, e", "f"], "g": ["h"]}),
    "masks": mask(length=2, alphabet="012"),
    "an order": order(["none", "primary", "secondary", "bachelor", "master"], [2, 2]),
    "two values": suppress(["f", "m"]),
    "another root": suppress(["f", "m"], root="any"),
}


@pytest.mark.parametrize("name", TREES)
def test_every_value_of_every_level_covers_its_leaves(name: str) -> None:
    for tree in (TREES[name], TREES[name].with_missing()):
        found = covers(tree)
        for level in range(tree.height + 1):
            for text, leaves in zip(tree.labels[level], tree.cover(level), strict=True):
                repeated = level > 0 and text in tree.labels[level - 1]
                if not repeated:
                    assert found(text) == leaves
        assert found("*") == tree.leaves
        assert found("nothing of the kind") is None
        assert found("{nothing, of the kind}") is None
        assert found("nothing or missing") is None


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", TREES)
def test_every_run_that_mondrian_names_covers_its_places(name: str, missing: bool) -> None:
    tree = TREES[name]
    first = "0" if tree.cuts else tree.labels[0][0]
    values = pl.Series([first, *([None] if missing else [])], dtype=pl.String)
    axis = axis_of(
        shoal.table(pl.DataFrame({"x": values}), hierarchies={"x": tree}, quasi=["x"]),
        "x",
        "boundary",
        (),
    )
    found = covers(tree)
    assert (axis.missing >= 0) == missing
    for low in range(axis.size):
        for high in range(low, axis.size):
            places = high - low + 1 - (low <= axis.missing <= high)
            assert found(axis.text(low, high)) == max(places, 1), axis.text(low, high)


def test_a_hierarchy_of_texts_meets_ranges_of_its_columns_type() -> None:
    text = Hierarchy.from_lines(INTEGERS.lines())
    ranges = ("3-7", "3-7 or missing", "7", "07", "0-99", "3.5", "13-20")
    assert [covers(text)(range) for range in ranges] == [5, 5, 1, 1, 13, None, None]
    days = Hierarchy.from_lines(dates("2024-02-28", "2024-03-02").lines())
    assert covers(days)("[2024-02-29, 2024-03-01]") == 2


@pytest.mark.parametrize(
    "text", ["[2024-01-01, soon]", "[soon, later]", "2024-13-01", "[5, 3]", "9-3", "{}", "{a, }"]
)
def test_a_text_that_is_not_a_range_covers_nothing(text: str) -> None:
    for tree in TREES.values():
        assert covers(tree)(text) is None
