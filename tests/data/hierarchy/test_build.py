"""Hierarchies made from a declared domain."""

import datetime as dt
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.data import free_memory
from shoal.data.hierarchy import (
    Hierarchy,
    dates,
    derive,
    groups,
    intervals,
    mask,
    order,
    problems,
    suppress,
)
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError, ParameterError, ShoalError, TooLargeError


def path(tree: Hierarchy, key: Any) -> list[str]:
    """What a value becomes at every level."""
    leaf = tree.find(key)
    assert leaf >= 0
    return [tree.labels[level][codes[leaf]] for level, codes in enumerate(tree.maps)]


def test_integers_fall_into_intervals_of_given_widths() -> None:
    tree = intervals(17, 90, widths=[5, 10])
    assert path(tree, 17) == ["17", "17-19", "17-19", "*"]
    assert path(tree, 90) == ["90", "90", "90", "*"]
    assert path(tree, 44) == ["44", "40-44", "40-49", "*"]
    assert tree.find(16) == tree.find(91) == -1
    assert path(intervals(17, 90, widths=[5], origin=17), 21) == ["21", "17-21", "*"]


def test_a_cut_belongs_to_the_side_that_is_closed() -> None:
    assert intervals(0, 9, cuts=[[5]]).labels[1] == ("0-4", "5-9")
    assert intervals(0, 9, cuts=[[5]], closed="right").labels[1] == ("0-5", "6-9")
    assert intervals(0, 9, cuts=[[5]], kind="float").labels[0] == ("[0, 5)", "[5, 9]")
    assert intervals(0, 9, cuts=[[5]], kind="float", closed="right").labels[0] == (
        "[0, 5]",
        "(5, 9]",
    )
    assert intervals(0, 9, cuts=[[5]], kind="float", end="open").labels[0] == ("[0, 5)", "[5, 9)")
    assert intervals(0, 9, cuts=[[5]], kind="float", end="open").find(9.0) == -1


def test_top_and_bottom_values_stay_apart_from_the_first_level_to_the_root() -> None:
    tree = intervals(0, 120, widths=[5, 20], bottom=18, top=90)
    assert path(tree, 17) == ["17", "<18", "<18", "*"]
    assert path(tree, 19) == ["19", "18-19", "18-19", "*"]
    assert path(tree, 120) == ["120", "90+", "90+", "*"]
    assert intervals(0, 9, top=7).labels[1] == ("0", "1", "2", "3", "4", "5", "6", "7+")
    assert intervals(0, 9, top=7, bottom=7, closed="right").labels[1] == ("<8", "8+")


def test_without_an_end_the_domain_is_open_there() -> None:
    tree = intervals(0, top=90, widths=[10])
    assert path(tree, 10**9) == ["90+", "90+", "*"]
    assert tree.find(-1) == -1
    tree = intervals(bottom=0, top=1, cuts=[["0.5"]], kind="float")
    assert tree.labels[0] == ("<0", "[0, 0.5)", "[0.5, 1)", ">=1")
    assert intervals(bottom=0, top=1, kind="float", closed="right").labels[0] == (
        "<=0",
        "(0, 1]",
        ">1",
    )
    assert tree.find(-1e300) == 0


def test_a_domain_with_negative_numbers_has_readable_labels() -> None:
    assert intervals(-10, 9, widths=[10]).labels[1] == ("-10 to -1", "0 to 9")
    assert intervals(-1, 1, widths=[1], kind="float").labels[0] == ("[-1, 0)", "[0, 1]")


def test_a_step_makes_every_multiple_a_leaf() -> None:
    tree = intervals(0, 1, step=0.1, widths=[0.5], kind="float")
    assert path(tree, 0.3) == ["0.3", "0-0.4", "*"]
    assert tree.find(0.35) == -1
    assert intervals(1990, 2020, step=10, widths=[20]).labels[:2] == (
        ("1990", "2000", "2010", "2020"),
        ("1990", "2000-2010", "2020"),
    )


def test_one_value_is_a_domain() -> None:
    assert intervals(5, 5).lines() == [["5", "*"]]
    assert dates("2024-02-29", "2024-02-29", []).lines() == [["2024-02-29", "*"]]
    assert mask(["7"]).lines() == [["7", "*"]]
    assert order(["x"], [3]).lines() == [["x", "x", "*"]]


@given(
    st.integers(-60, 60),
    st.integers(0, 60),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.integers(-9, 9),
    st.sampled_from(["left", "right"]),
    st.booleans(),
    st.data(),
)
def test_numbers_share_an_interval_exactly_if_no_cut_lies_between(
    low: int,
    span: int,
    factors: list[int],
    origin: int,
    closed: Any,
    floating: bool,
    data: st.DataObject,
) -> None:
    widths = [math.prod(factors[: i + 1]) for i in range(len(factors))]
    scale = Fraction(1, 4) if floating else Fraction(1)
    assume(span > 0 or not floating)
    options: dict[str, Any] = {
        "closed": closed,
        "kind": "float" if floating else "integer",
        "origin": float(origin * scale),
    }
    tree = intervals(
        float(low * scale),
        float((low + span) * scale),
        widths=[float(w * scale) for w in widths],
        **options,
    )
    numbers = st.integers(low, low + span)
    x, y = sorted((data.draw(numbers), data.draw(numbers)))
    for level, width in enumerate(widths, 0 if floating else 1):
        if closed == "left":
            cells = [(value - origin) // width for value in (x, y)]
            end = low + span  # the far end belongs to the last interval
            if floating and y == end and (end - origin) % width == 0:
                cells = [min(cell, (end - 1 - origin) // width) for cell in cells]
        else:
            cells = [-((origin - value) // width) for value in (x, y)]
            if floating and x == low and (low - origin) % width == 0:
                cells = [max(cell, -((origin - low - 1) // width)) for cell in cells]
        first, second = (path(tree, float(value * scale))[level] for value in (x, y))
        assert (first == second) == (cells[0] == cells[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give `low`"),
        ({"low": 0}, "give `high`"),
        ({"low": 5, "high": 1}, "`high` must not be below `low`"),
        ({"low": 0, "high": 9, "widths": [5], "cuts": [[5]]}, "not both"),
        ({"low": 0, "high": 9, "widths": [0]}, "above 0"),
        ({"low": 0, "high": 99, "widths": [10, 15]}, "width 15 does not nest in width 10"),
        ({"low": 0, "high": 99, "cuts": [[10, 20], [15]]}, "list 2 of `cuts` does not nest"),
        ({"low": 0, "high": 9, "cuts": [[50]]}, "cut point 50"),
        ({"low": 0, "high": 9, "cuts": [5]}, "list of lists"),
        ({"low": 0, "high": 9, "bottom": 0}, "`bottom` must not be equal to `low`"),
        ({"low": 0, "high": 9, "top": 10}, "`high` must not be below `top`"),
        ({"low": 0, "high": 9, "bottom": 5, "top": 4}, "`top` must not be below `bottom`"),
        ({"low": 0.5, "high": 9}, "`low` is not an integer; round it, or declare kind='float'"),
        ({"low": "x", "high": 9}, "`low` is not a finite number"),
        ({"low": 0, "high": math.inf}, "`high` is not a finite number"),
        ({"low": math.nan, "high": 1}, "`low` is not a finite number"),
        ({"low": True, "high": 1}, "`low` is not a finite number"),
        ({"low": 0, "high": 9, "kind": "text"}, "'integer', 'float'"),
        ({"low": 0, "high": 9, "closed": "both"}, "'left' or 'right'"),
        ({"low": 0, "high": 9, "end": "ajar"}, "'closed' or 'open'"),
        ({"low": 0, "high": 9, "end": "open"}, "continuous"),
        ({"low": 0, "high": 9, "kind": "float"}, "give `widths` or `cuts`"),
        ({"low": 9, "high": 9, "kind": "float", "widths": [1]}, "above `low`"),
        ({"low": 0, "high": 9, "kind": "float", "top": 9}, "above `top`"),
        ({"low": 0, "high": 1, "kind": "float", "step": 0.3}, "whole number of steps"),
        ({"low": 0, "top": 1, "kind": "float", "step": 0.5}, "needs `low` and `high`"),
        ({"low": 0, "high": 9, "step": 0}, "above 0"),
        ({"low": 10**17, "top": 10**17 + 9}, "same floating-point"),
        (
            {"low": 0, "high": 9, "kind": "float", "cuts": [["1", "1.00000000000000000001"]]},
            "same floating-point",
        ),
    ],
)
def test_impossible_intervals_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        intervals(**options)


@pytest.mark.parametrize(
    "options",
    [{"low": 0, "high": 10**12}, {"low": 0, "high": 1e300, "widths": [1e-300], "kind": "float"}],
)
def test_a_domain_too_large_is_refused_before_it_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(TooLargeError, match="values"):
        intervals(**options)
    with pytest.raises(TooLargeError):
        mask(length=9)


def test_days_become_months_quarters_years_and_decades() -> None:
    tree = dates("1999-12-31", dt.date(2000, 1, 1), ["day", "month", "quarter", "year", "decade"])
    assert tree.lines() == [
        ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990-1999", "*"],
        ["2000-01-01", "2000-01", "2000-Q1", "2000", "2000-2009", "*"],
    ]
    assert tree.kind is Kind.DATE
    assert tree.find(dt.date(1999, 12, 31)) == 0
    assert tree.find(dt.date(1999, 12, 30)) == -1


@given(st.dates(dt.date(1, 1, 8), dt.date(9999, 12, 1)), st.integers(0, 400))
def test_every_choice_of_dates_that_is_accepted_nests(first: dt.date, days: int) -> None:
    last = dt.date.fromordinal(min(first.toordinal() + days, dt.date.max.toordinal()))
    for levels in (
        ["month", "quarter", "year", "decade"],
        ["week", "iso-year"],
        ["quarter", "decade"],
    ):
        tree = dates(first, last, levels)
        assert tree.leaves == (last - first).days + 1
        assert not problems(tree.lines(), Kind.DATE).fatal


@pytest.mark.parametrize(
    ("first", "last", "levels", "message"),
    [
        ("2024-01-01", "2024-12-31", ["week", "month"], "weeks cross"),
        ("2024-01-01", "2024-12-31", ["week", "year"], "above 'week' goes 'iso-year'"),
        ("2024-01-01", "2024-12-31", ["month", "week"], "weeks cross"),
        ("2024-01-01", "2024-12-31", ["year", "month"], "the finer comes first"),
        ("2024-01-01", "2024-12-31", ["year", "year"], "the finer comes first"),
        ("2024-01-01", "2024-12-31", ["fortnight"], "`levels` has 'fortnight'"),
        ("2024-12-31", "2024-01-01", ["year"], "swap"),
        ("yesterday", "2024-01-01", ["year"], "`first` is not a date"),
        ("2024-01-01", "2024-02-30", ["year"], "`last` is not a date"),
    ],
)
def test_impossible_dates_are_refused(
    first: str, last: str, levels: list[str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        dates(first, last, levels)


def test_postal_codes_are_masked_from_either_side() -> None:
    assert mask(["10115", "10117"]).lines()[0] == ["10115", "1011*", "101**", "10***", "1****", "*"]
    assert mask(["10115", "10117"], side="left", steps=[2, 4]).lines()[1] == [
        "10117",
        "**117",
        "****7",
        "*",
    ]
    assert mask(["10115"], steps=[2, 5], symbol="#").lines() == [["10115", "101##", "*"]]
    assert mask(length=2, alphabet="ab").labels == (("aa", "ab", "ba", "bb"), ("a*", "b*"), ("*",))
    assert mask(alphabet=["NS", "01"]).labels[0] == ("N0", "N1", "S0", "S1")


def test_short_values_are_filled_up_only_when_asked() -> None:
    assert mask(["1067", "80331"], pad="0", align="right", steps=[3]).lines() == [
        ["1067", "01***", "*"],
        ["80331", "80***", "*"],
    ]
    assert mask(["AB", "ABC"], pad="_", steps=[1]).lines() == [
        ["AB", "AB*", "*"],
        ["ABC", "AB*", "*"],
    ]
    assert mask(["AB", "ABC"], steps=[1]).lines() == [["AB", "A*", "*"], ["ABC", "AB*", "*"]]
    assert mask([1067, "01099"], kind="integer", pad="0", align="right").find(1099) == 1


@given(
    st.lists(st.text("ab*é", min_size=1, max_size=4), min_size=1, unique=True),
    st.sampled_from(["left", "right"]),
    st.booleans(),
)
def test_any_texts_can_be_masked(values: list[str], side: Any, padded: bool) -> None:
    tree = mask(values, side=side, pad=" " if padded else None)
    assert tree.height == max(map(len, values))
    assert {line[0] for line in tree.lines()} == set(values)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"values": ["a"], "length": 1},
        {"length": 0},
        {"length": 3, "alphabet": ["ab", "ab"]},
        {"length": 3, "alphabet": "aba"},
        {"length": 3, "alphabet": ""},
        {"values": ["ab"], "side": "top"},
        {"values": ["ab"], "align": "middle"},
        {"values": ["ab"], "symbol": "**"},
        {"values": ["ab"], "pad": ""},
        {"values": ["ab"], "steps": [2, 1]},
        {"values": ["ab"], "steps": [0]},
        {"values": ["ab"], "steps": [1.5]},
        {"values": "ab"},
        {"values": ["ab"], "kind": "roman"},
    ],
)
def test_impossible_masks_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        mask(**options)


def test_ordered_values_are_merged_in_runs() -> None:
    tree = order(["none", "primary", "secondary", "bachelor", "master"], [2, 2])
    assert tree.labels[1:] == (
        ("none to primary", "secondary to bachelor", "master"),
        ("none to bachelor", "master"),
        ("*",),
    )
    assert order(["10", "9", "8"], [2], kind="integer", sort=True).labels[1] == ("8 to 9", "10")
    assert order([3, 1, 2], [[1, 2]], sort=True, kind="integer").labels[1] == ("1", "2 to 3")


@pytest.mark.parametrize(
    ("values", "sizes", "message"),
    [
        (["a", "b"], [0], "above 0"),
        (["a", "b"], [[1, 2]], "sum to 3"),
        (["a", "b"], [[2, 0]], "above 0"),
        (["a", "b"], [1.5], "above 0"),
        (["a", "a"], [2], "duplicates"),
        (["a to b", "c", "a", "b to c"], [2], "same label"),
        ([], [2], "no values"),
        (["a", None], [2], "value 2 is missing"),
    ],
)
def test_impossible_orders_are_refused(values: list[Any], sizes: list[Any], message: str) -> None:
    with pytest.raises(ShoalError, match=message):
        order(values, sizes)


def test_groups_may_be_nested_and_of_different_depth() -> None:
    tree = groups({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Elsewhere": ["JP"]})
    assert path(tree, "PL") == ["PL", "East", "Europe", "*"]
    assert path(tree, "JP") == ["JP", "Elsewhere", "Elsewhere", "*"]
    assert groups({"odd": [1, 3], "even": [2]}, kind="integer").find(3) == 1


def test_values_in_no_group_go_to_the_rest_or_are_refused() -> None:
    assert path(groups({"West": ["FR"]}, values=["FR", "JP"], rest="other"), "JP") == [
        "JP",
        "other",
        "*",
    ]
    with pytest.raises(
        HierarchyError, match=r"^1 value of the domain is in no group, 'JP'; .* give `rest`"
    ):
        groups({"West": ["FR"]}, values=["FR", "JP"])
    with pytest.raises(
        HierarchyError, match=r"^2 values of the domain are in no group, 'JP' first; "
    ):
        groups({"West": ["FR"]}, values=["JP", "FR", "BR"])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"West": "FR"}, "group 'West'"),
        ({"West": 5}, "group 'West'"),
        (["FR"], "are written as"),
        ({}, "empty"),
        ({"West": []}, "no values"),
        ({"West": ["FR"], "East": ["FR"]}, "two paths"),
        ({"A": {"x": ["1"]}, "B": {"x": ["2"]}}, "on two paths from level 1 to 2: 'x'"),
    ],
)
def test_impossible_groups_are_refused(tree: Any, message: str) -> None:
    with pytest.raises(ShoalError, match=message):
        groups(tree)


def test_suppression_has_two_levels() -> None:
    assert suppress(["ä", "*"]).lines() == [["ä", "*"], ["*", "*"]]
    assert suppress([1, 2], kind="integer", root="any").labels[1] == ("any",)


DATA = pl.DataFrame(
    {
        "age": [31, 7, None, 12],
        "code": ["80331", "10115", "10117", None],
        "day": [dt.date(2024, 1, 31)] * 4,
    }
)


@pytest.mark.parametrize(
    ("column", "make", "options", "first"),
    [
        ("age", intervals, {"widths": [10]}, ["7", "7-9", "*"]),
        ("age", suppress, {}, ["7", "*"]),
        ("age", order, {"sizes": [2]}, ["7", "7 to 12", "*"]),
        ("code", mask, {"steps": [3]}, ["10115", "10***", "*"]),
        ("day", dates, {"levels": ["month"]}, ["2024-01-31", "2024-01", "*"]),
    ],
)
def test_what_is_derived_from_rows_says_so(
    column: str, make: Callable[..., Hierarchy], options: dict[str, Any], first: list[str]
) -> None:
    tree = derive(shoal.table(DATA).records([column])[0], make, **options)
    assert tree.derived
    assert tree.lines()[0] == first
    assert tree.with_missing().derived


def test_no_error_of_a_derived_hierarchy_carries_a_value() -> None:
    secrets = pl.DataFrame({"sum": [17, 10**13], "text": ["b to c", "a"], "none": [None, None]})
    table = shoal.table(secrets, types={"none": "integer"})
    for column, make, options in (
        ("sum", intervals, {}),
        ("sum", intervals, {"cuts": [[5]]}),
        ("sum", intervals, {"widths": [4_000_000_000_000, 6_000_000_000_000], "kind": "float"}),
        ("none", suppress, {}),
        ("text", suppress, {"kind": "integer"}),
        ("text", mask, {"steps": [0]}),
    ):
        with pytest.raises(ShoalError) as caught:
            derive(table.records([column])[0], make, **options)
        assert not any(
            secret in str(caught.value) for secret in ("17", "10000", "10,000", "b to c", "'a'")
        )


@pytest.mark.parametrize(
    ("make", "leaves"),
    [
        (lambda: intervals(0, 99_999, widths=[10, 100, 1000]), 100_000),
        (lambda: intervals(0, 300, widths=[0.01, 1], kind="float"), 30_000),
        (lambda: mask(length=4, alphabet="0123456789abcdef"), 65_536),
    ],
    ids=["integers", "floats", "masks"],
)
def test_large_hierarchies_are_handled(make: Callable[[], Hierarchy], leaves: int) -> None:
    tree = make()
    assert tree.leaves == leaves
    assert Hierarchy.from_lines(tree.lines(), tree.kind).cuts == tree.cuts


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mask, {"length": 400_000_000}),
        (mask, {"length": 400_000_000, "alphabet": "0"}),
        (mask, {"length": 10**30, "alphabet": "01"}),
        (mask, {"alphabet": ["0123456789"] * 5000}),
        (mask, {"values": ["a" * 1_000_000]}),
        (intervals, {"low": 0, "high": 10**12, "widths": [5]}),
        (intervals, {"low": 0, "high": "1e999999999", "widths": [5]}),
        (intervals, {"low": 0, "high": 1, "widths": ["1e-999999999"], "kind": "float"}),
        (intervals, {"low": 0, "high": 1, "widths": [1], "step": "1e-300", "kind": "float"}),
        (intervals, {"low": 0, "high": 10, "widths": [5], "origin": "1e999999"}),
        (intervals, {"low": 0, "high": 10**300, "widths": [10**299]}),
    ],
)
def test_what_would_fill_the_memory_is_refused_at_once(
    make: Callable[..., Hierarchy], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_memory, "available", lambda: 1 << 32)
    with pytest.raises((TooLargeError, ParameterError)) as caught:
        make(**options)
    assert len(str(caught.value)) < 300


def test_dates_and_orders_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available", lambda: 1 << 28)
    with pytest.raises(TooLargeError, match="3,652,059 values and 4 levels needs about"):
        dates("0001-01-01", "9999-12-31", ["month", "year"])
    with pytest.raises(TooLargeError, match="3 values and 10,000,002 levels"):
        order(["a", "b", "c"], [1] * 10_000_000)


def test_groups_nested_too_deeply_are_refused() -> None:
    tree: Any = ["x"]
    for depth in range(900):
        tree = {str(depth): tree}
    with pytest.raises(ParameterError, match="more than 500 deep"):
        groups(tree)


@pytest.mark.parametrize("alphabet", ["01", ["ab", "x", "123"]])
@pytest.mark.parametrize("steps", [None, [2]])
def test_all_texts_of_a_length_are_masked_as_a_list_of_them_is(
    alphabet: Any, steps: list[int] | None
) -> None:
    made = mask(length=3, alphabet=alphabet, steps=steps)
    listed = mask(made.labels[0], steps=steps)
    assert made.labels == listed.labels
    assert [codes.tolist() for codes in made.maps] == [codes.tolist() for codes in listed.maps]
    assert made.digest == Hierarchy.from_lines(made.lines()).digest


def test_a_mask_of_all_texts_has_a_root_with_a_name() -> None:
    with pytest.raises(HierarchyError, match="blank"):
        mask(length=3, root="")
