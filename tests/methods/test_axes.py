"""A column as an axis: with its declared domain, or with what occurs, and missing values last."""

import polars as pl
import pytest

import shoal
from shoal.counts import Counts
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import HierarchyError
from shoal.methods.axes import axis_of

TENS = Hierarchy.from_lines([[str(i), f"{i // 10 * 10}+", "*"] for i in range(20)], Kind.INTEGER)


def ages(*values: int | None, tree: Hierarchy | None = TENS) -> Table:
    frame = pl.DataFrame({"age": values}, schema={"age": pl.Int64})
    trees = {} if tree is None else {"age": tree}
    return shoal.table(frame, quasi=["age"], hierarchies=trees)


def population(*values: int | None) -> Counts:
    return ages(*values).count(["age"])


def test_with_a_hierarchy_the_axis_is_its_whole_domain_whatever_occurs() -> None:
    for ranges in ("boundary", "observed"):
        axis = axis_of(ages(3, 5), "age", ranges, ())
        assert axis.name == "age"
        assert (axis.size, axis.missing) == (20, -1)
        assert axis.text(3, 5) == "3-5"


@pytest.mark.parametrize(
    ("table", "populations", "whole", "has_place"),
    [
        (ages(3, 5), (), False, False),
        (ages(3, None), (), False, True),
        (ages(3, 5), (population(4, 4),), False, False),
        (ages(3, 5), (population(4), population(None)), False, True),
        (ages(3, 5), (), True, True),
        (ages(), (), False, False),
    ],
)
def test_missing_values_have_a_place_where_some_occur_or_the_domain_is_whole(
    table: Table, populations: tuple[Counts, ...], whole: bool, has_place: bool
) -> None:
    axis = axis_of(table, "age", "boundary", populations, whole)
    assert axis.size == 20 + has_place
    assert axis.missing == (20 if has_place else -1)


def test_a_population_of_other_columns_says_nothing() -> None:
    other = shoal.table(pl.DataFrame({"town": ["a", None]}), quasi=["town"]).count(["town"])
    assert axis_of(ages(3), "age", "boundary", (other,)).missing == -1


def test_without_a_hierarchy_the_axis_is_what_occurs_and_boundaries_are_not_known() -> None:
    axis = axis_of(ages(7, 3, None, 7, tree=None), "age", "observed", ())
    assert (axis.size, axis.missing, axis.place.tolist()) == (3, 2, [0, 1, 2])
    assert axis.text(0, 1) == "3-7"
    assert axis_of(ages(7, 3, tree=None), "age", "observed", ()).missing == -1
    with pytest.raises(HierarchyError, match=r"'age' has no hierarchy.*; give it one, or ask for"):
        axis_of(ages(3, tree=None), "age", "boundary", ())


def test_texts_without_a_hierarchy_are_sets_and_not_ranges() -> None:
    table = shoal.table(pl.DataFrame({"town": ["b", "a", "c"]}), quasi=["town"])
    axis = axis_of(table, "town", "observed", ())
    assert axis.text(0, 1) == "{a, b}"
