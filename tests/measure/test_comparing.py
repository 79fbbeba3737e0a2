"""`compare` in a notebook: what a release lost, and when that cannot be known."""

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy, build
from shoal.errors import ParameterError
from shoal.measure.comparing import compare
from tests.regions import METHODS, by_region, town_table
from tests.regions import TREES as TOWN_TREES

AGE = build.intervals(0, 99, widths=[10, 50])
SEX = build.suppress(["f", "m"])
TREES: dict[str, Hierarchy] = {"age": AGE, "sex": SEX}


def table(ages: list[str], sexes: list[str], **options: Any) -> shoal.Table:
    frame = pl.DataFrame({"age": ages, "sex": sexes}, {"age": pl.String, "sex": pl.String})
    return shoal.table(frame, quasi=["age", "sex"], **options)


COLUMNS = ["town", "age", "ill"]
PEOPLE = table(["31", "34", "52", "58"], ["f", "m", "f", "f"])


def test_a_table_beside_itself_has_lost_nothing() -> None:
    comparison = compare(PEOPLE, PEOPLE, TREES)
    assert comparison.a == comparison.b
    assert comparison.a_is_input
    assert comparison.b.loss == comparison.b.loss_of_input == 0
    assert comparison.b.values == {"age": 4, "sex": 2}


def test_the_loss_is_that_of_the_rows_there_are_and_of_all_rows_of_the_input() -> None:
    released = table(["30-39", "30-39"], ["*", "*"])
    comparison = compare(PEOPLE, released, TREES)
    assert comparison.a_is_input
    side = comparison.b
    # A range of ten of a hundred ages, and both sexes: 0.09 + 0.5 of 0.99 + 0.5.
    assert side.losses == pytest.approx({"age": 0.09 / 0.99, "sex": 1})
    assert side.loss == pytest.approx(0.59 / 1.49)
    assert side.loss_of_input == pytest.approx((0.59 / 1.49 + 1) / 2)
    assert side.losses_of_input == pytest.approx({"age": (0.09 / 0.99 + 1) / 2, "sex": 1})
    assert (comparison.a.assessment.k, side.assessment.k) == (1, 2)


def test_two_releases_have_no_loss_of_an_input_unless_one_is_said_to_be_it() -> None:
    one = table(["30-39"], ["f"])
    other = table(["0-49"], ["f"])
    comparison = compare(one, other, TREES)
    assert not comparison.a_is_input
    assert comparison.b.loss_of_input is None
    assert compare(one, other, TREES, a_is_input=True).b.loss_of_input == comparison.b.loss


def test_a_column_without_a_hierarchy_leaves_the_loss_unknown_and_says_why() -> None:
    side = compare(PEOPLE, PEOPLE, {"age": AGE}).b
    assert side.loss is None
    assert side.losses == {"age": 0}
    assert side.loss_unknown == {"sex": "no hierarchy is given"}
    assert compare(PEOPLE, PEOPLE).b.losses == {}


def test_values_outside_a_hierarchy_are_counted_and_not_shown() -> None:
    side = compare(PEOPLE, table(["130", "131", "31"], ["f", "f", "f"]), TREES).b
    reason = side.loss_unknown["age"]
    assert reason == "2 distinct values not in the hierarchy, at any level"


def test_an_empty_release_has_lost_everything() -> None:
    comparison = compare(PEOPLE, table([], []), TREES)
    side = comparison.b
    assert side.loss is None
    assert side.loss_unknown == {"age": "it has no rows", "sex": "it has no rows"}
    assert side.loss_of_input == 1
    assert side.assessment.k is None


def test_two_empty_tables_can_be_compared() -> None:
    comparison = compare(table([], []), table([], []), TREES)
    assert not comparison.a_is_input
    assert comparison.a.loss is None
    assert comparison.b.loss_of_input is None


def test_people_in_several_rows_are_noticed_or_counted() -> None:
    frame = pl.DataFrame({"name": ["Ann Ash", "Ann Ash", "Bob Birch"], "age": ["31", "31", "31"]})
    visits = shoal.table(frame, quasi=["age"], identifying=["name"])
    released = shoal.table(frame.select("age"), quasi=["age"])
    assert compare(visits, released).a.assessment.repeated == ("name",)
    counted = compare(visits, released, unit="name")
    # The release no longer has the column, so its figures are of rows.
    assert counted.a.assessment.people == 2
    assert counted.b.assessment.people is None
    assert (counted.a.assessment.k, counted.b.assessment.k) == (2, 3)
    assert compare(visits, released, rows_are_people=True).a.assessment.repeated == ()


def test_marks_keep_groups_apart_that_look_alike() -> None:
    frame = pl.DataFrame({"age": ["*", "*", "*"], "group": ["1", "1", "2"]})
    released = shoal.table(frame, quasi=["age"], insensitive=["group"])
    alike = compare(PEOPLE, released).b.assessment
    apart = compare(PEOPLE, released, marks=["group"]).b.assessment
    assert alike.groups == 0  # all of them say nothing
    assert apart.groups == 2


def test_without_a_quasi_identifying_column_there_is_nothing_to_compare_by() -> None:
    bare = shoal.table(pl.DataFrame({"age": ["31"]}))
    with pytest.raises(ParameterError, match="name them with `quasi`"):
        compare(bare, PEOPLE)
    with pytest.raises(ParameterError, match="name them with `quasi`"):
        compare(PEOPLE, bare)


def test_a_comparison_as_plain_values_has_both_sides() -> None:
    plain = compare(PEOPLE, PEOPLE, TREES).to_dict()
    assert list(plain) == ["not_for_release", "notice", "a", "b"]
    assert plain["a"]["records"] == 4
    assert plain["b"]["losses"] == {"age": 0, "sex": 0}


@pytest.mark.parametrize("method", METHODS)
def test_values_of_several_levels_lose_what_each_of_them_covers(method: str) -> None:
    people = town_table().with_roles(quasi=COLUMNS, insensitive=["sex"])
    release = by_region(method, people)
    shown = shoal.table(release.table, quasi=COLUMNS)
    comparison = compare(people, shown, TOWN_TREES, complete=["b"])
    assert comparison.a_is_input
    # Of noisy counts, a record too many counts as one that was kept.
    noise = 0.05 if method == "noisy" else 1e-9
    assert comparison.b.loss_of_input == pytest.approx(release.facts.loss, abs=noise)
    assert comparison.b.assessment.groups == release.facts.groups
    both = compare(shown, shown, TOWN_TREES)
    assert not both.a_is_input
    assert both.a.loss == both.b.loss
    assert both.a.loss is not None
