"""Tables and views like those of Zhang's chapter 6."""

from itertools import islice

from shoal.experiments.heart import LONG_BEACH, RANGES, WIDTHS, growing, violated
from shoal.views import check


def test_views_come_one_by_one_and_none_exposes_somebody_alone() -> None:
    shown = list(islice(growing(1, 4, WIDTHS["2 to 4 %"]), 4))
    assert [len(each.views.views) for each in shown] == [1, 2, 3, 4]
    for view in shown[-1].views.views:
        assert 2 * max(view.bag.values()) <= len(view.people)


def test_values_lie_in_their_ranges_and_levels_are_those_of_the_spread() -> None:
    table = next(growing(1, 4, WIDTHS["2 to 4 %"]))
    for name, values in table.columns.items():
        low, high = RANGES[name]
        assert all(low <= value <= high for value in values)
    assert set(table.levels) <= set(range(len(LONG_BEACH)))


def test_the_first_views_that_expose_somebody_are_found() -> None:
    shown = violated(1, 2, WIDTHS["3.5 to 7 %"], people=60)
    assert check(shown.views).private is not True
