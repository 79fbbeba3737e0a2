"""Mondrian: the cuts of the paper on a table small enough for paper, and what must hold for every
table.
"""

import datetime as dt
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, HierarchyError, InfeasibleError, ParameterError
from shoal.lattice import Lattice
from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import (
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    bound,
)
from shoal.releases.verification import verify

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)
LANDS = Hierarchy.from_lines(
    [
        ["de", "EU", "*"],
        ["fr", "EU", "*"],
        ["it", "EU", "*"],
        ["us", "America", "*"],
        ["br", "America", "*"],
    ]
)
ILLS = Hierarchy.from_lines(
    [["flu", "lung", "*"], ["cold", "lung", "*"], ["ulcer", "stomach", "*"]]
)


def people(
    ages: list[int | None], lands: list[str | None], ills: list[str], **options: Any
) -> Table:
    frame = pl.DataFrame(
        {"age": ages, "land": lands, "ill": ills},
        schema={"age": pl.Int64, "land": pl.String, "ill": pl.String},
    )
    given: dict[str, Any] = {
        "quasi": ["age", "land"],
        "sensitive": ["ill"],
        "hierarchies": {"age": AGES, "land": LANDS},
    }
    return shoal.table(frame, **{**given, **options})


def only_ages(
    ages: list[int | None], ills: list[str] | None = None, hierarchy: Hierarchy | None = AGES
) -> Table:
    frame = pl.DataFrame(
        {"age": ages, "ill": ills or ["flu"] * len(ages)},
        schema={"age": pl.Int64, "ill": pl.String},
    )
    return shoal.table(
        frame, quasi=["age"], sensitive=["ill"], hierarchies={"age": hierarchy} if hierarchy else {}
    )


def column(method: Mondrian, table: Table, name: str = "age") -> list[str | None]:
    values: list[str | None] = nw.from_native(method.release(table).table, eager_only=True)[
        name
    ].to_list()
    return values


def test_strict_cuts_at_the_median_of_the_widest_column() -> None:
    table = people([10, 20, 30, 80], ["de", "de", "de", "de"], ["flu"] * 4)
    assert column(Mondrian((KAnonymity(2),)), table) == ["0-20", "0-20", "21-99", "21-99"]
    assert column(Mondrian((KAnonymity(2),), ranges="observed"), table) == [
        "10-20",
        "10-20",
        "30-80",
        "30-80",
    ]


def test_strict_keeps_equal_values_together_and_relaxed_may_part_them() -> None:
    ages: list[int | None] = [10, 20, 20, 20, 20, 30]
    assert column(Mondrian((KAnonymity(3),)), only_ages(ages)) == ["*"] * 6
    relaxed = column(Mondrian((KAnonymity(3),), relaxed=True), only_ages(ages))
    assert relaxed == ["0-20"] * 3 + ["20-99"] * 3


def test_relaxed_spreads_the_sensitive_values_of_those_at_the_cut() -> None:
    table = only_ages([10, *[20] * 8, 30], ["flu", *["flu", "cold"] * 4, "cold"])
    method = Mondrian((KAnonymity(5), DistinctDiversity("ill", 2)), relaxed=True)
    assert Counter(column(method, table)) == {"0-20": 5, "20-99": 5}


def test_a_cut_is_made_only_if_both_halves_satisfy_all_models() -> None:
    table = only_ages([1, 2, 3, 4], ["flu", "flu", "cold", "cold"])
    assert column(Mondrian((KAnonymity(2),)), table) == ["0-2", "0-2", "3-99", "3-99"]
    assert column(Mondrian((KAnonymity(2), DistinctDiversity("ill", 2))), table) == ["*"] * 4


def test_text_is_called_by_the_fewest_values_of_its_hierarchy() -> None:
    lands: list[str | None] = ["de", "fr", "it", "us", "br"]
    table = people([5] * 10, lands * 2, ["flu"] * 10)
    assert Counter(column(Mondrian((KAnonymity(4),)), table, "land")) == {"EU": 6, "America": 4}
    assert set(column(Mondrian((KAnonymity(2),)), table, "land")) == {"de", "fr", "it", "us", "br"}
    unequal = people([5] * 5, ["de", "fr", "fr", "us", "br"], ["flu"] * 5)
    assert Counter(column(Mondrian((KAnonymity(2),)), unequal, "land")) == {
        "{de, fr}": 3,
        "{it, America}": 2,
    }


def test_missing_values_come_last_and_are_named() -> None:
    table = only_ages([10, 20, 30, None])
    assert column(Mondrian((KAnonymity(2),)), table) == [
        "0-20",
        "0-20",
        "21-99 or missing",
        "21-99 or missing",
    ]
    assert column(Mondrian((KAnonymity(1),)), table) == ["0-10", "11-20", "21-99", None]
    assert column(Mondrian((KAnonymity(4),)), table) == ["*"] * 4


def test_leaves_that_are_not_in_the_order_of_their_values_are_put_in_it() -> None:
    odd = Hierarchy.from_lines(
        [["7", "odd", "*"], ["1", "odd", "*"], ["2", "even", "*"], ["4", "even", "*"]], Kind.INTEGER
    )
    assert column(Mondrian((KAnonymity(2),)), only_ages([1, 2, 4, 7], hierarchy=odd)) == [
        "1-2",
        "1-2",
        "4-7",
        "4-7",
    ]


def test_dates_and_floats_give_ranges() -> None:
    days = [dt.date(2020, 1, day) for day in (1, 2, 3, 4)]
    frame = pl.DataFrame({"day": days, "weight": [1.5, 2.5, 3.5, 4.5]})
    tree = Hierarchy.from_lines([[str(day), "*"] for day in days], Kind.DATE)
    halves = Hierarchy.from_lines([[str(i / 2), "*"] for i in range(20)], Kind.FLOAT)
    table = shoal.table(frame, quasi=["day", "weight"], hierarchies={"day": tree, "weight": halves})
    method = Mondrian((KAnonymity(2),))
    assert column(method, table, "day")[0] == "[2020-01-01, 2020-01-02]"
    alone = shoal.table(
        frame, quasi=["weight"], insensitive=["day"], hierarchies={"weight": halves}
    )
    assert column(method, alone, "weight") == ["[0.0, 2.5]"] * 2 + ["[3.0, 9.5]"] * 2


def test_intervals_of_a_continuous_domain_are_joined() -> None:
    tree = Hierarchy.from_lines(
        [["[0, 5)", "*"], ["[5, 10)", "*"], ["[10, 15)", "*"], ["[15, 20]", "*"]], Kind.FLOAT
    )
    frame = pl.DataFrame({"x": [1.0, 6.0, 11.0, 16.0]})
    table = shoal.table(frame, quasi=["x"], hierarchies={"x": tree})
    assert column(Mondrian((KAnonymity(2),)), table, "x") == ["[0, 10)"] * 2 + ["[10, 20]"] * 2


def test_intervals_of_integers_are_joined() -> None:
    tree = Hierarchy.from_lines(
        [["<10", "*"], ["10-19", "*"], ["20-29", "*"], ["30-39", "*"], ["40+", "*"]], Kind.INTEGER
    )
    table = only_ages([1, 2, 12, 22, 31, 33, 45, 50], hierarchy=tree)
    assert (
        column(Mondrian((KAnonymity(2),)), table)
        == ["<10"] * 2 + ["10-29"] * 2 + ["30-39"] * 2 + ["40+"] * 2
    )
    assert column(Mondrian((KAnonymity(4),)), table) == ["<30"] * 4 + ["30+"] * 4


def test_observed_ranges_need_no_hierarchy_and_boundaries_do() -> None:
    table = only_ages([1, 2, 3, 4], hierarchy=None)
    assert column(Mondrian((KAnonymity(2),), ranges="observed"), table) == [
        "1-2",
        "1-2",
        "3-4",
        "3-4",
    ]
    with pytest.raises(HierarchyError, match="'age'"):
        Mondrian((KAnonymity(2),)).release(table)
    frame = pl.DataFrame({"town": ["a", "b", "c", "d"]})
    towns = shoal.table(frame, quasi=["town"])
    assert (
        column(Mondrian((KAnonymity(2),), ranges="observed"), towns, "town")
        == ["{a, b}"] * 2 + ["{c, d}"] * 2
    )


def test_what_even_the_whole_table_does_not_satisfy_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="5-anonymity"):
        Mondrian((KAnonymity(5),)).release(only_ages([1, 2, 3]))


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="model"):
        Mondrian(())
    with pytest.raises(ParameterError, match="boundary"):
        Mondrian((KAnonymity(2),), ranges="wide")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'age'"):
        Mondrian((DistinctDiversity("age", 2),)).promise(only_ages([1]).schema)


MODELS: list[tuple[Model, ...]] = [
    (KAnonymity(1),),
    (KAnonymity(3),),
    (KAnonymity(2), DistinctDiversity("ill", 2)),
    (PSensitive("ill", 2, 3),),
    (EntropyDiversity("ill", "1.5"),),
    (RecursiveDiversity("ill", 2, 2),),
    (KAnonymity(2), TCloseness("ill", "0.3")),
    (TCloseness("ill", "0.3", "ordered"),),
    (TCloseness("ill", "0.3", "hierarchical"),),
    (BetaLikeness("ill", "1.5"),),
    (BetaLikeness("ill", "1.5", enhanced=True),),
    (DeltaDisclosure("ill", "1.2"),),
]

records = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 99)),
        st.one_of(st.none(), st.sampled_from(["de", "fr", "it", "us", "br"])),
        st.sampled_from(["flu", "cold", "ulcer"]),
    ),
    min_size=1,
    max_size=40,
)


@given(records, st.sampled_from(MODELS), st.booleans(), st.sampled_from(["boundary", "observed"]))
@settings(max_examples=150, deadline=None)
def test_every_group_of_a_release_satisfies_the_models(
    rows: list[tuple[int | None, str | None, str]],
    models: tuple[Model, ...],
    relaxed: bool,
    ranges: Any,
) -> None:
    ages, lands, ills = (list(values) for values in zip(*rows, strict=True))
    table = people(ages, lands, ills, hierarchies={"age": AGES, "land": LANDS, "ill": ILLS})
    try:
        released = Mondrian(models, relaxed, ranges).release(table).table
    except InfeasibleError:
        return
    assert sorted(released["ill"].to_list()) == sorted(ills)
    # The released table is checked as a table of its own, whose values are their own leaves.
    flat = {
        name: Hierarchy.from_lines(
            [
                [text, "*"]
                for text in sorted({"" if text is None else str(text) for text in released[name]})
            ]
        )
        for name in ("age", "land")
    }
    texts = released.with_columns(pl.col("age", "land").cast(pl.String).fill_null(""))
    again = shoal.table(
        texts, quasi=["age", "land"], sensitive=["ill"], hierarchies={**flat, "ill": ILLS}
    )
    counts = again.count(["age", "land", "ill"])
    groups = Lattice(counts, {name: again.hierarchy(name) for name in ("age", "land")}).groups(
        (0, 0)
    )
    for model in models:
        assert bound(model, again).holds(groups).all()


@given(records, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_a_strict_cut_stops_only_where_no_median_cut_is_allowed(
    rows: list[tuple[int | None, str | None, str]], k: int
) -> None:
    """The same cuts, one part after the other, as the paper has it."""
    if len(rows) < k:
        return
    ages, lands, ills = (list(values) for values in zip(*rows, strict=True))
    table = people(ages, lands, ills)
    released = Mondrian((KAnonymity(k),), ranges="observed").release(table)
    places = [
        (100 if age is None else age, 5 if land is None else LANDS.labels[0].index(land))
        for age, land, _ in rows
    ]
    sizes = [101 if None in ages else 100, 6 if None in lands else 5]

    def parts(part: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        spans = [
            (max(p[j] for p in part) - min(p[j] for p in part)) / (sizes[j] - 1) for j in (0, 1)
        ]
        for j in sorted((0, 1), key=lambda j: -spans[j]):
            if not spans[j]:
                continue
            middle = sorted(p[j] for p in part)[(len(part) + 1) // 2 - 1]
            upto, before = ([p for p in part if p[j] <= middle], [p for p in part if p[j] < middle])
            left = upto if len(part) - len(upto) >= len(before) else before
            right = [p for p in part if p not in left]
            if len(left) >= k and len(right) >= k:
                return parts(left) + parts(right)
        return [part]

    expected = parts(places)
    assert released.facts.groups == len(expected)
    text = (
        released.table.select(pl.col("age", "land").cast(pl.String).fill_null(""))
        .group_by("age", "land")
        .len()
    )
    assert sorted(text["len"].to_list()) == sorted(len(part) for part in expected)


def test_presence_counts_the_population_of_every_group() -> None:
    everyone = only_ages([1, 2, 3, 4, 5, 6, 7, 8, 50, 60, 70, 80])
    table = only_ages([1, 2, 3, 50, 60, 70])
    population = everyone.count(["age"])
    free = column(Mondrian((KAnonymity(3), DeltaPresence(0, 1, population))), table)
    assert free == ["0-3"] * 3 + ["4-99"] * 3
    held = column(Mondrian((KAnonymity(3), DeltaPresence(0, Fraction(3, 4), population))), table)
    assert held == ["*"] * 6
    with pytest.raises(ParameterError, match="strict"):
        Mondrian((DeltaPresence(0, 1, population),), relaxed=True)
    with pytest.raises(ColumnError, match="'land'"):
        Mondrian((DeltaPresence(0, 1, population),)).release(people([1], ["de"], ["flu"]))


def test_a_population_with_missing_values_is_counted_where_they_are() -> None:
    everyone = only_ages([1, 2, 3, 4, None, None])
    table = only_ages([1, 2, 3, 4])
    method = Mondrian((KAnonymity(2), DeltaPresence(0, 1, everyone.count(["age"]))))
    assert column(method, table) == ["0-2"] * 2 + ["3-99 or missing"] * 2


def test_many_groups_of_many_values_are_tallied_by_sorting() -> None:
    random = np.random.default_rng(1)
    ills = [f"ill {i}" for i in random.integers(0, 300, 400)]
    table = only_ages(random.integers(0, 100, 400).tolist(), ills)
    sizes = Counter(column(Mondrian((DistinctDiversity("ill", 5),)), table))
    assert len(sizes) > 10
    assert min(sizes.values()) >= 5


# Splits that are fixed beforehand. That they keep semantic k-anonymity: tests/test_semantic.py


MIDDLE = Mondrian((KAnonymity(2),), splits="middle")


def quasi_only(ages: list[int | None], lands: list[str | None], **options: Any) -> Table:
    frame = pl.DataFrame({"age": ages, "land": lands}, schema={"age": pl.Int64, "land": pl.String})
    given: dict[str, Any] = {
        "quasi": ["age", "land"],
        "hierarchies": {"age": AGES, "land": LANDS},
        "missing": "refuse",
    }
    return shoal.table(frame, **{**given, **options})


def test_splits_in_the_middle_halve_the_declared_domain_whatever_the_values() -> None:
    ages: list[int | None] = [1, 2, 3, 4, 60, 80, 81, 82]
    table = quasi_only(ages, ["de"] * 8)
    assert Counter(column(MIDDLE, table)) == {"0-49": 4, "50-99": 4}
    assert set(column(MIDDLE, table, "land")) == {
        "*"
    }  # its turn came after the first split, and one half was empty
    apart = quasi_only([1, 2, 3, 4], ["de", "fr", "us", "br"])
    assert (
        column(MIDDLE, apart) == ["*"] * 4
    )  # nobody is above 49, and no other column is tried instead


def test_the_widest_column_comes_first_and_of_equal_ones_the_first() -> None:
    table = quasi_only([1, 2, 60, 61] * 2, ["de", "de", "de", "br", "br", "br", "us", "us"])
    frame = table.frame.to_native()
    assert Counter(MIDDLE.release(table).table.rows()) == {
        ("0-49", "EU"): 2,
        ("0-49", "America"): 2,
        ("50-99", "*"): 4,
    }
    frame = frame.select("land", "age")
    swapped = shoal.table(
        frame, quasi=["land", "age"], hierarchies={"age": AGES, "land": LANDS}, missing="refuse"
    )
    assert Counter(MIDDLE.release(swapped).table.rows()) == {
        ("EU", "*"): 3,
        ("America", "0-49"): 2,
        ("America", "50-99"): 3,
    }


def test_a_missing_value_has_no_part_in_the_middle_and_always_a_place() -> None:
    ages: list[int | None] = [1, 2, 60, 80]
    assert (
        column(MIDDLE, quasi_only(ages, ["de"] * 4, missing="category"))
        == ["0-49"] * 2 + ["50-99 or missing"] * 2
    )
    assert (
        column(MIDDLE, quasi_only([1, 2, 60, None], ["de"] * 4, missing="category"))
        == ["0-49"] * 2 + ["50-99 or missing"] * 2
    )


def test_fewer_than_k_records_are_not_released_nor_their_number() -> None:
    released = [MIDDLE.release(quasi_only([3] * rows, ["de"] * rows)) for rows in (0, 1)]
    assert [len(release.table) for release in released] == [0, 0]
    assert released[0].table.schema == released[1].table.schema
    assert [release.suppressed for release in released] == [0, 1]
    assert not any(release.certificate.whole for release in released)


def test_what_fixed_splits_cannot_promise_is_refused() -> None:
    unfit: list[dict[str, Any]] = [{"relaxed": True}, {"ranges": "observed"}]
    for options in unfit:
        with pytest.raises(ParameterError, match="strict, with boundary ranges"):
            Mondrian((KAnonymity(2),), splits="middle", **options)
    with pytest.raises(ParameterError, match="k-anonymity alone"):
        Mondrian((KAnonymity(2), DistinctDiversity("ill", 2)), splits="middle")
    with pytest.raises(ParameterError, match="'median' or 'middle'"):
        Mondrian((KAnonymity(2),), splits="mean")  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match="'ill' is sensitive"):
        MIDDLE.release(people([1, 2], ["de", "de"], ["flu", "flu"]))
    with pytest.raises(HierarchyError, match="'land' has no hierarchy"):
        MIDDLE.release(quasi_only([1, 2], ["de", "de"], hierarchies={"age": AGES}))
    derived = Hierarchy.from_lines(LANDS.lines(), derived=True)
    with pytest.raises(HierarchyError, match="'land' was derived from the rows"):
        MIDDLE.release(quasi_only([1, 2], ["de", "de"], hierarchies={"age": AGES, "land": derived}))
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    days = Hierarchy.from_lines([["2020-01-01", "*"], ["2020-01-02", "*"]])
    with pytest.raises(ColumnError, match="'day' would be read off its values"):
        MIDDLE.release(shoal.table(frame, quasi=["day"], hierarchies={"day": days}))
    with pytest.raises(ParameterError, match="no quasi-identifying column"):
        MIDDLE.release(shoal.table(pl.DataFrame({"age": [1]}), identifying=["age"]))


def test_a_recipe_can_ask_for_fixed_splits(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(map(str, [1, 2, 60, 80])) + "\n")
    (tmp_path / "recipe.toml").write_text(
        """
[source]
path = "ages.csv"
types = { age = "integer" }
[roles]
age = "quasi"
[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10]
[method]
name = "mondrian"
models = ["2-anonymity"]
splits = "middle"
"""
    )
    assert shoal.Recipe.load(tmp_path / "recipe.toml").method() == MIDDLE
    done = CliRunner().invoke(
        app, ["release", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert (
        tmp_path / "out" / "release.csv"
    ).read_text() == "age\n0-49\n0-49\n50-99 or missing\n50-99 or missing\n"
    assert verify(tmp_path / "out" / "certificate.json", tmp_path / "out" / "release.csv") == []
