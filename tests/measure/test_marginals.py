"""Marginals of a release: what an analyst reads off it, without the input."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import ColumnError, HierarchyError, NoisyCounts, ParameterError, Release, TooLargeError
from shoal.data.hierarchy import Hierarchy
from shoal.measure import marginals
from shoal.measure.marginals import ReleasedRows, Spread, marginal

TOWNS = Hierarchy.from_lines(
    [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cde", "*"], ["d", "cde", "*"], ["e", "cde", "*"]]
)
SEXES = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
TREES = {"town": TOWNS, "sex": SEXES}
SPREADS: tuple[Spread, ...] = ("even", "proportional")


def rows(**repeats: int) -> pl.DataFrame:
    """Rows such as `a_f=3`: three of town a and sex f; `any` is `*`."""
    texts = []
    for name, number in repeats.items():
        town, sex = (part.replace("any", "*") for part in name.split("_"))
        texts += [(town, sex)] * number
    return pl.DataFrame(texts, schema={"town": pl.String, "sex": pl.String}, orient="row")


def by_tree(
    frame: pl.DataFrame, steps: list[tuple[str, int]], counts: bool = False, **ceiling: int
) -> Release:
    """A release that says it was made by a tree of these steps."""
    table = shoal.table(rows(a_f=1), quasi=["town", "sex"], hierarchies=TREES)
    release = NoisyCounts(1, "1e-6", levels={"town": 2, "sex": 1}, counts=counts).release(table)
    certificate = replace(
        release.certificate,
        levels={},
        parameters={**release.certificate.parameters, "ceiling": ceiling},
        derived={**release.certificate.derived, "tree": {"steps": [*map(list, steps)]}},
    )
    return Release(frame, certificate, release.facts)


@pytest.mark.parametrize("spread", SPREADS)
def test_values_at_the_level_asked_for_are_counted(spread: Spread) -> None:
    found = marginal(rows(a_f=3, b_m=2, c_m=4), TREES, ["town", "sex"], {"town": 1}, spread=spread)
    assert found.columns == ("town", "sex")
    assert found.values == (("ab", "cde", ""), ("f", "m", ""))
    assert found.counts.tolist() == [[3, 2, 0], [0, 4, 0], [0, 0, 0]]
    assert found.shares.sum() == pytest.approx(1)


def test_even_spreads_a_value_over_its_leaves() -> None:
    found = marginal(rows(any_f=10), TREES, ["town"], {"town": 1}, spread="even")
    assert found.counts.tolist() == pytest.approx([4, 6, 0])


def test_proportional_spreads_a_value_as_finer_rows_have_it() -> None:
    shown = rows(a_f=30, b_f=10, ab_f=8, c_m=5)
    found = marginal(shown, TREES, ["town"], spread="proportional")
    assert found.counts.tolist() == pytest.approx([36, 12, 5, 0, 0, 0])
    # By sex, town is spread as the rows of that sex have it.
    both = marginal(rows(a_f=9, b_f=1, a_m=1, b_m=9, ab_m=10), TREES, ["town", "sex"])
    assert both.counts[:2, :2].tolist() == [pytest.approx([9, 2]), pytest.approx([1, 18])]


def test_the_missing_value_is_counted_and_nothing_else_is_spread_to_it() -> None:
    shown = rows(any_f=4).vstack(pl.DataFrame({"town": ["", ""], "sex": ["f", "f"]}))
    found = marginal(shown, TREES, ["town"], {"town": 2})
    assert found.values == (("*",),)
    sexes = marginal(rows(a_any=4), TREES, ["sex"], spread="even")
    assert sexes.counts.tolist() == [2, 2, 0]


def test_a_coarse_row_of_a_tree_is_what_finer_rows_left_over() -> None:
    shown = rows(a_any=30, cde_any=20, ab_any=6, any_any=7)
    steps = [("town", 1), ("town", 0), ("sex", 0)]
    by_rows = marginal(shown, TREES, ["town"], spread="even")
    by_release = marginal(by_tree(shown, steps), TREES, ["town"], spread="even")
    assert by_rows.counts[1] == pytest.approx(3 + 7 / 5)
    # ab was left over by a, so that it is b; * has ab and cde below it, and may be anything.
    assert by_release.counts[1] == pytest.approx(6 + 7 / 5)
    assert by_release.counts.sum() == pytest.approx(63)


def test_what_is_left_over_depends_on_the_other_columns_of_a_row() -> None:
    shown = rows(a_f=30, ab_f=5, ab_m=8)
    found = marginal(
        by_tree(shown, [("sex", 0), ("town", 1), ("town", 0)]),
        TREES,
        ["town", "sex"],
        spread="even",
    )
    assert found.counts[:2, :2].tolist() == [[30, 4], [5, 4]]


def test_columns_that_the_tree_does_not_refine_part_its_boxes() -> None:
    steps = [("town", 1), ("town", 0)]
    shown = rows(a_f=30, ab_f=5, ab_m=8)
    fixed = by_tree(shown, steps, sex=0)
    found = marginal(fixed, TREES, ["town"], spread="even")
    assert found.counts[:2].tolist() == [34, 9]
    # Whether or not they are asked for, and have a hierarchy.
    ill = shown.with_columns(ill=pl.col("sex")).with_columns(sex=pl.lit("f"))
    found = marginal(by_tree(ill, steps, sex=0), {"town": TOWNS}, ["town"], spread="even")
    assert found.counts[:2].tolist() == [34, 9]


def test_a_tree_may_start_at_a_ceiling_and_leave_out_levels() -> None:
    shown = rows(a_any=30, ab_any=5, cde_any=9)
    found = marginal(by_tree(shown, [("town", 0)], town=1), TREES, ["town"], spread="even")
    assert found.counts[:5].tolist() == pytest.approx([30, 5, 3, 3, 3])
    shown = rows(a_any=30, any_any=8)
    found = marginal(by_tree(shown, [("town", 0)]), TREES, ["town"], spread="even")
    assert found.counts[:5].tolist() == pytest.approx([30, 2, 2, 2, 2])


def test_counts_of_rows_are_read() -> None:
    shown = rows(a_any=1, ab_any=1).with_columns(count=pl.Series([30, 5]))
    found = marginal(by_tree(shown, [("town", 1), ("town", 0)], True), TREES, ["town"])
    assert found.counts[:2].tolist() == [30, 5]


VALUES = ("a", "b", "c", "d", "e", "ab", "cde", "*")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(VALUES), st.sampled_from("fm*")),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(SPREADS),
    st.integers(0, 2),
)
def test_no_record_is_lost_by_spreading(
    texts: list[tuple[str, str]], spread: Spread, level: int
) -> None:
    shown = pl.DataFrame(texts, schema=["town", "sex"], orient="row")
    found = marginal(shown, TREES, ["town", "sex"], {"town": level}, spread=spread)
    assert found.counts.sum() == pytest.approx(len(texts))
    assert (found.counts >= 0).all()


@pytest.mark.parametrize("method", [NoisyCounts, shoal.SafePub])
def test_releases_by_a_tree_are_read_whole(method: Any) -> None:
    people = shoal.demo.table()
    how = {"levels": "tree"} if method is NoisyCounts else {"search": "tree"}
    release = method(2, "1e-3", **how).release(people)
    trees = {name: people.hierarchy(name) for name in people.hierarchies}
    for pair in combinations(people.quasi, 2):
        found = marginal(release, trees, pair, dict.fromkeys(pair, 1))
        assert found.counts.sum() == pytest.approx(release.facts.kept)


def test_many_marginals_of_one_reading_agree_with_single_ones() -> None:
    people = shoal.demo.table()
    release = shoal.SafePub(1, "1e-3").release(people)
    names = people.quasi
    trees = {name: people.hierarchy(name) for name in names}
    levels = dict.fromkeys(names, 1)
    reading = ReleasedRows.of(release, trees, names)
    for pair in combinations(names, 2):
        alone = marginal(release, trees, pair, levels)
        assert np.allclose(reading.marginal(pair, levels).counts, alone.counts)


def test_the_distance_is_between_shares() -> None:
    one = marginal(rows(a_f=3, b_f=1), TREES, ["town"])
    other = marginal(rows(a_f=1, b_f=1), TREES, ["town"])
    assert one.distance(one) == 0
    assert one.distance(other) == other.distance(one) == pytest.approx(0.25)
    nothing = marginal(rows(a_f=1).head(0), TREES, ["town"])
    assert nothing.distance(one) == one.distance(nothing) == 1
    assert nothing.distance(nothing) == 0
    with pytest.raises(ParameterError, match="other columns or levels"):
        one.distance(marginal(rows(a_f=1), TREES, ["sex"]))


def test_what_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = rows(a_f=1)
    with pytest.raises(ColumnError, match="'age' is not in the release"):
        marginal(shown, TREES, ["age"])
    with pytest.raises(ColumnError, match="has no hierarchy"):
        marginal(shown, {"sex": SEXES}, ["town"])
    with pytest.raises(ParameterError, match="has levels 0 to 1, not 2"):
        marginal(shown, TREES, ["sex"], {"sex": 2})
    with pytest.raises(ParameterError, match="even"):
        marginal(shown, TREES, ["sex"], spread="odd")  # type: ignore[arg-type]
    with pytest.raises(HierarchyError, match="1 released value not in its hierarchy"):
        marginal(rows(z_f=1), TREES, ["town"])
    monkeypatch.setattr(marginals, "LARGEST", 10)
    with pytest.raises(TooLargeError, match="18 combinations"):
        marginal(shown, TREES, ["town", "sex"])
