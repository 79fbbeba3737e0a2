"""Released tables become groups, and groups that share people are joined."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import intervals
from shoal.errors import InputError
from shoal.views import Legend, Views, check
from shoal.views.released import Reach, ShownGroup, is_view, rows_of, views_of_groups


def test_buckets_with_people_who_look_alike_reveal_what_the_surest_bucket_does() -> None:
    """Two people look alike, in buckets of which one has a value twice; all are joined."""
    groups = [
        ShownGroup([0, 1, 2, 3], Counter("xxy")),
        ShownGroup([2, 3, 4, 5], Counter("xyz")),
    ]
    joined, number = views_of_groups("b", groups)
    assert number == 2
    assert [(sorted(view.people), view.size, len(view.parts)) for view in joined] == [
        ([0, 1, 2, 3, 4, 5], 6, 2)
    ]
    checked = check(Views(6, joined, "3/5"))
    assert (checked.largest, checked.private) == (Fraction(2, 3), None)
    assert checked.of(0).between("x") == (Fraction(1, 3), Fraction(2, 3))


def test_groups_that_share_nobody_are_views_of_their_own() -> None:
    groups = [ShownGroup([0, 1], Counter("xy")), ShownGroup([2], Counter("x"))]
    views, joined = views_of_groups("b", groups)
    assert joined == 0
    assert [(view.name, view.parts) for view in views] == [("b/1", ()), ("b/2", ())]


def test_a_drawn_group_with_more_people_than_values_keeps_its_bag_apart() -> None:
    groups = [ShownGroup([0, 1, 2], Counter("xy"))]
    (view,), joined = views_of_groups("b", groups, drawn=True)
    assert (joined, view.parts) == (0, ({"x": 1, "y": 1},))


def test_rows_are_read_by_their_legend() -> None:
    frame = pl.DataFrame({"AGE": [20, 30], "DX": ["J10", None], "N": [2, 0], "G": ["a", "b"]})
    legend = Legend({"age": "AGE"}, "DX", group="G", count="N")
    assert rows_of(frame, "t", legend) == [(("20",), "a", "J10", 2), (("30",), "b", "", 0)]
    assert rows_of(frame, "t", Legend({}, "DX"))[0] == ((), "", "J10", 1)


def test_a_text_fits_people_by_type_level_and_hierarchy() -> None:
    tree = intervals(0, 39, widths=[10])
    ages = [3, 12, 12, 25, 38]
    people = shoal.table(pl.DataFrame({"age": ages}), hierarchies={"age": tree})
    reach = Reach(people, "age", "t", Legend({"age": "age"}, "ill"))
    assert sorted(reach.people("10-19").tolist()) == [1, 2]
    assert reach.number("*") == 5
    assert reach.among(np.array([0, 1, 4]), "10-19").tolist() == [1]
    unchanged = Reach(people, "age", "t", Legend({"age": "age"}, "ill", unchanged=["age"]))
    assert unchanged.people("12").tolist() == [1, 2]
    with pytest.raises(InputError, match="is not a value, range or set"):
        reach.fits("teens")


@pytest.mark.parametrize(
    ("method", "promise", "expected"),
    [
        ("optimal", {}, True),
        ("buckets", {"fakes": 0}, True),
        ("buckets", {"fakes": 1}, False),
        ("mondrian", {"unit": "patient"}, False),
        ("safepub", {}, False),
        ("a method of tomorrow", {}, False),
    ],
)
def test_a_release_is_a_view_if_it_shows_the_values_of_everybody(
    method: str, promise: dict[str, Any], expected: bool
) -> None:
    assert is_view(method, promise) is expected
