"""Utility: reading released values, count queries by hand, and classifiers between the majority and
the input."""

import builtins
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, HierarchyError, ParameterError, ShoalError
from shoal.measure import utility
from shoal.measure.utility import Accuracy, Workload, classification, queries
from tests.data.columns import leaves

SOME = Workload(columns=2, selectivity=0.2)

AGE = Hierarchy.from_lines(
    [[f"{age}", f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*"] for age in range(20, 60)],
    Kind.INTEGER,
)
TOWN = Hierarchy.from_lines(
    [
        ["Ely", "east", "*"],
        ["Hull", "east", "*"],
        ["Bath", "west", "*"],
        ["Bude", "west", "*"],
        ["Kew, old", "west", "*"],
    ]
)


def patients(rows: int = 400, seed: int = 0) -> shoal.Table:
    """Who is over 40 and in the west is ill, as a rule."""
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 60, rows)
    town = chance.integers(0, 5, rows)
    ill = ((age >= 40) & (town >= 2)) ^ (chance.random(rows) < 0.05)
    frame = pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": age,
            "town": [TOWN.labels[0][t] for t in town],
            "ill": ["yes" if one else "no" for one in ill],
        }
    )
    return shoal.table(
        frame,
        quasi=["age", "town"],
        sensitive=["ill"],
        identifying=["name"],
        hierarchies={"age": AGE, "town": TOWN},
    )


def at_levels(table: shoal.Table, levels: Mapping[str, int]) -> pl.DataFrame:
    """The table at some levels, its rows in another order, without names."""
    columns: dict[str, list[str]] = {}
    for name, level in levels.items():
        tree = table.hierarchy(name)
        columns[name] = [tree.labels[level][code] for code in tree.maps[level][leaves(table, name)]]
    columns["ill"] = [str(value) for value in table.frame["ill"].to_list()]
    return pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=1)


def one(found: tuple[Accuracy, ...]) -> Accuracy:
    assert len(found) == 1
    return found[0]


# Reading released values


@pytest.mark.parametrize(
    ("label", "ages"),
    [
        ("37", {37}),
        ("037", {37}),
        ("30-39", set(range(30, 40))),
        ("35-42", set(range(35, 43))),
        ("[35, 42)", set(range(35, 42))),
        (">=55", set(range(55, 60))),
        ("<22", {20, 21}),
        ("*", set(range(20, 60))),
    ],
)
def test_a_released_number_stands_for_the_leaves_it_covers(label: str, ages: set[int]) -> None:
    [column] = shoal.table(pl.DataFrame({"age": [label]})).records(["age"])
    may_be = utility._may_be(column.labels, AGE, "age")
    assert {int(AGE.labels[0][leaf]) for leaf in np.flatnonzero(may_be[0])} == ages


@pytest.mark.parametrize(
    ("label", "towns"),
    [
        ("Ely", {"Ely"}),
        ("west", {"Bath", "Bude", "Kew, old"}),
        ("{Ely, Bath}", {"Ely", "Bath"}),
        ("{Kew, old, east}", {"Kew, old", "Ely", "Hull"}),
        ("{Ely, Bath} or missing", {"Ely", "Bath", ""}),
        ("east or missing", {"Ely", "Hull", ""}),
        ("{missing, east}", {"Ely", "Hull", ""}),
        ("", {""}),
    ],
)
def test_a_released_text_stands_for_the_leaves_it_covers(label: str, towns: set[str]) -> None:
    tree = TOWN.with_missing()
    [column] = shoal.table(pl.DataFrame({"town": [label]})).records(["town"])
    may_be = utility._may_be(column.labels, tree, "town")
    assert {tree.labels[0][leaf] for leaf in np.flatnonzero(may_be[0])} == towns


def test_dates_are_read_as_ranges() -> None:
    days = Hierarchy.from_lines([[f"2020-01-0{day}", "*"] for day in range(1, 8)], Kind.DATE)
    [column] = shoal.table(pl.DataFrame({"day": ["[2020-01-02, 2020-01-04]"]})).records(["day"])
    assert np.flatnonzero(utility._may_be(column.labels, days, "day")[0]).tolist() == [1, 2, 3]


def test_intervals_of_a_continuous_domain_are_read_as_ranges() -> None:
    weights = Hierarchy.from_lines(
        [["[0, 5)", "*"], ["[5, 10)", "*"], ["[10, 20]", "*"]], Kind.FLOAT
    )
    [column] = shoal.table(pl.DataFrame({"weight": ["[0, 10)", "[5, 20]", "[10, 20]"]})).records(
        ["weight"]
    )
    read = dict(
        zip(column.labels, utility._may_be(column.labels, weights, "weight").tolist(), strict=True)
    )
    assert read == {
        "[0, 10)": [True, True, False],
        "[5, 20]": [False, True, True],
        "[10, 20]": [False, False, True],
    }


def test_a_text_of_several_levels_is_taken_from_the_level_that_has_them_all() -> None:
    tree = Hierarchy.from_lines(
        [["white", "white", "*"], ["black", "other", "*"], ["asian", "other", "*"]]
    )
    both = Hierarchy.from_lines([["a", "a", "*"], ["b", "a", "*"], ["c", "c", "*"]])
    [column] = shoal.table(pl.DataFrame({"x": ["white", "other"]})).records(["x"])
    assert utility._may_be(column.labels, tree, "x").sum(axis=1).tolist() == [2, 1]  # other, white
    [fine] = shoal.table(pl.DataFrame({"x": ["a", "b", "c"]})).records(["x"])
    assert utility._may_be(fine.labels, both, "x").sum(axis=1).tolist() == [1, 1, 1]


def test_a_value_of_no_level_is_an_error_that_does_not_tell_it() -> None:
    table = patients()
    released = pl.DataFrame({"age": ["30-39", "secret"], "town": ["*", "*"], "ill": ["no", "no"]})
    with pytest.raises(HierarchyError, match="column 'age': 1 released value") as error:
        queries(table, released, Workload(columns=2))
    assert "secret" not in str(error.value)


# Count queries


def test_queries_on_the_input_itself_are_right() -> None:
    table = patients()
    found = queries(table, at_levels(table, {"age": 0, "town": 0}), SOME)
    assert (found.mean, found.median, found.count, found.selectivity) == (0, 0, 1000, 0.2)


def test_queries_are_answered_as_if_groups_were_uniform() -> None:
    table = shoal.table(
        pl.DataFrame({"town": ["Ely"] * 6 + ["Hull"] * 2}),
        quasi=["town"],
        hierarchies={"town": TOWN},
        missing="refuse",
    )
    released = pl.DataFrame({"town": ["east"] * 8})
    # One town of five is asked for: Ely has 6 and is taken for 4, Hull 2 for 4, the others 0 for 0;
    # the bound is 8/8.
    found = queries(table, released, Workload(4000, 1, 0.2, 1 / 8))
    assert found.bound == 1
    assert found.mean == pytest.approx((2 / 6 + 2 / 2 + 0 + 0 + 0) / 5, abs=0.03)
    assert found.median == 0


def test_answers_of_a_sample_are_divided_by_its_rate() -> None:
    table = patients()
    half = at_levels(table, {"age": 0, "town": 0})
    twice = shoal.table(
        pl.concat([table.frame.to_native()] * 2),
        quasi=["age", "town"],
        hierarchies=table.hierarchies,
    )
    assert queries(twice, half, SOME, rate="1/2").mean == 0
    assert queries(twice, half, SOME).mean > 0


def test_every_released_value_is_spread_over_its_leaves() -> None:
    table = shoal.table(
        pl.DataFrame({"town": ["Ely"] * 6 + ["Hull"] * 2}),
        quasi=["town"],
        hierarchies={"town": TOWN},
        missing="refuse",
    )
    before, after = utility.spread(
        table, shoal.table(pl.DataFrame({"town": ["east"] * 6 + ["Hull"] * 2})), "town"
    )
    there = dict(
        zip(TOWN.labels[0], zip(before.tolist(), after.tolist(), strict=True), strict=True)
    )
    assert {town: counts for town, counts in there.items() if any(counts)} == {
        "Ely": (6, 3.0),
        "Hull": (2, 5.0),
    }


def test_numbers_are_asked_for_in_ranges() -> None:
    table = shoal.table(pl.DataFrame({"age": [30]}), hierarchies={"age": AGE}, missing="refuse")
    reading = utility._Sides.of(table, shoal.table(pl.DataFrame({"age": ["*"]})), ["age"]).reading(
        "age"
    )
    chance = np.random.default_rng(0)
    for _ in range(50):
        wanted = np.flatnonzero(reading.some(0.1, chance))
        assert len(wanted) == 4
        assert wanted[-1] - wanted[0] == 3


def test_numbers_are_asked_for_in_their_order_and_missing_values_not_at_all() -> None:
    odd_first = Hierarchy.from_lines([[f"{n}", "*"] for n in (1, 3, 5, 2, 4)], Kind.INTEGER)
    table = shoal.table(pl.DataFrame({"n": [1, None]}), hierarchies={"n": odd_first})
    reading = utility._Sides.of(table, table, ["n"]).reading("n")
    assert reading.leaves == 6
    chance = np.random.default_rng(0)
    seen = {
        tuple(odd_first.labels[0][leaf] for leaf in np.flatnonzero(reading.some(0.4, chance)))
        for _ in range(50)
    }
    assert {tuple(sorted(one)) for one in seen} == {("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")}


def test_coarser_releases_answer_worse_and_nothing_answers_worst() -> None:
    table = patients()
    few = Workload(columns=2, selectivity=0.1)
    errors = [
        queries(table, at_levels(table, {"age": age, "town": town}), few).mean
        for age, town in ((0, 0), (1, 0), (1, 1), (2, 2))
    ]
    assert errors == sorted(errors)
    nothing = at_levels(table, {"age": 0, "town": 0}).clear()
    assert queries(table, nothing, few).median == 1


def test_suppressed_rows_that_are_still_there_count_for_everything() -> None:
    table = shoal.table(
        pl.DataFrame({"town": ["Ely"] * 5}),
        quasi=["town"],
        hierarchies={"town": TOWN},
        missing="refuse",
    )
    found = queries(table, pl.DataFrame({"town": ["*"] * 5}), Workload(columns=1, selectivity=1))
    assert found.mean == 0


def test_the_same_seed_asks_the_same_queries() -> None:
    table = patients()
    released = at_levels(table, {"age": 1, "town": 1})
    workload = Workload(columns=2)
    first, again, other = (queries(table, released, workload, seed=seed) for seed in (4, 4, 5))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "options",
    [
        {"columns": 0},
        {"columns": 3},
        {"count": 0},
        {"selectivity": 0},
        {"selectivity": 2},
        {"bound": -1},
        {"rate": 0},
    ],
)
def test_options_of_queries_have_ranges(options: dict[str, Any]) -> None:
    table = patients(20)
    rate = options.get("rate", 1)
    asked = {"columns": 2, **{name: value for name, value in options.items() if name != "rate"}}
    with pytest.raises(ParameterError):
        queries(table, at_levels(table, {"age": 0, "town": 0}), Workload(**asked), rate=rate)


# Classification


@pytest.mark.parametrize("classifier", ["tree", "logistic", "c4.5"])
def test_the_input_itself_has_relative_accuracy_1(classifier: utility.Classifier) -> None:
    table = patients()
    found = one(
        classification(
            table, at_levels(table, {"age": 0, "town": 0}), "ill", classifiers=[classifier], folds=5
        )
    )
    assert found.released == found.original > found.majority
    assert (found.relative, found.column, found.classifier, found.folds) == (
        1,
        "ill",
        classifier,
        5,
    )


@pytest.mark.parametrize("classifier", ["tree", "logistic", "c4.5"])
def test_nothing_left_has_relative_accuracy_0(classifier: utility.Classifier) -> None:
    table = patients()
    top = at_levels(table, {"age": 2, "town": 2})
    for released in (top, top.clear()):
        found = one(classification(table, released, "ill", classifiers=[classifier], folds=5))
        assert (found.released, found.relative) == (found.majority, 0)


def test_levels_that_keep_what_matters_keep_the_accuracy() -> None:
    table = patients(600)
    kept = one(
        classification(table, at_levels(table, {"age": 1, "town": 1}), "ill", classifiers=["tree"])
    )
    assert kept.released > kept.majority + 0.2
    assert kept.relative == pytest.approx(1, abs=0.1)
    lost = one(
        classification(table, at_levels(table, {"age": 2, "town": 1}), "ill", classifiers=["tree"])
    )
    assert lost.relative is not None
    assert kept.relative is not None
    assert lost.relative < kept.relative


def test_the_accuracy_is_measured_on_records_the_classifier_has_not_seen() -> None:
    """Where every record is its own value, a classifier that had seen the tested ones would be
    perfect."""
    rows = 300
    chance = np.random.default_rng(0)
    code = [f"{i:03}" for i in range(rows)]
    frame = pl.DataFrame({"code": code, "coin": chance.integers(0, 2, rows).astype(str)})
    tree = Hierarchy.from_lines([[one, "*"] for one in code])
    table = shoal.table(frame, quasi=["code"], sensitive=["coin"], hierarchies={"code": tree})
    for found in classification(table, frame.reverse(), "coin", folds=5):
        assert found.original < 0.65
        assert found.released < 0.65


def test_a_classifier_that_had_seen_the_tested_records_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken twin: no released row is known to be made of a tested record, so all of them
    train."""
    monkeypatch.setattr(
        utility, "_twins", lambda records, released, order: np.full(len(released), -1)
    )
    with pytest.raises(AssertionError):
        test_the_accuracy_is_measured_on_records_the_classifier_has_not_seen()


def test_suppressed_records_train_nothing_but_are_tested() -> None:
    table = patients()
    fine = at_levels(table, {"age": 0, "town": 0})
    # All who are ill are suppressed: what is left knows one class only.
    healthy = fine.filter(pl.col("ill") == "no")
    starred = fine.with_columns(
        [
            pl.when(pl.col("ill") == "no").then(pl.col(name)).otherwise(pl.lit("*")).alias(name)
            for name in ("age", "town")
        ]
    )
    dropped_found = one(classification(table, healthy, "ill", classifiers=["tree"], folds=5))
    starred_found = one(classification(table, starred, "ill", classifiers=["tree"], folds=5))
    assert dropped_found == starred_found
    assert dropped_found.released == int((fine["ill"] == "no").sum()) / 400


def test_values_of_several_levels_side_by_side_are_read_by_what_covers_a_record() -> None:
    table = patients(500)
    levels = [0 if age < 30 else 1 + i % 2 for i, age in enumerate(table.frame["age"].to_list())]
    ages = [
        AGE.labels[level][AGE.maps[level][leaf]]
        for level, leaf in zip(levels, leaves(table, "age"), strict=True)
    ]
    released = pl.DataFrame(
        {"age": ages, "town": table.frame["town"].to_list(), "ill": table.frame["ill"].to_list()}
    )
    found = one(classification(table, released.reverse(), "ill", classifiers=["tree"], folds=5))
    assert found.released > found.majority + 0.15


def test_tested_records_are_not_seen_where_values_of_several_levels_stand_side_by_side() -> None:
    rows = 200
    chance = np.random.default_rng(0)
    code = [f"{i:03}" for i in range(rows)]
    tree = Hierarchy.from_lines([[one, f"{int(one) // 2}x", "*"] for one in code])
    frame = pl.DataFrame({"code": code, "coin": chance.integers(0, 2, rows).astype(str)})
    table = shoal.table(frame, quasi=["code"], sensitive=["coin"], hierarchies={"code": tree})
    mixed = [one if int(one) % 2 else f"{int(one) // 2}x" for one in code]
    for found in classification(
        table, frame.with_columns(pl.Series("code", mixed)), "coin", folds=5
    ):
        assert found.released < 0.65


def test_several_class_columns_are_measured_each_with_the_others_as_features() -> None:
    table = patients(100)
    found = classification(table, at_levels(table, {"age": 1, "town": 0}), ["ill", "town"], folds=2)
    assert [(one.column, one.classifier) for one in found] == [
        ("ill", "tree"),
        ("ill", "logistic"),
        ("town", "tree"),
        ("town", "logistic"),
    ]


def test_folds_are_the_same_every_time() -> None:
    table = patients(100)
    released = at_levels(table, {"age": 1, "town": 1})
    assert classification(table, released, "ill", folds=3) == classification(
        table, released.reverse(), "ill", folds=3
    )


def test_a_class_nobody_can_predict_has_no_relative_accuracy() -> None:
    table = shoal.table(pl.DataFrame({"a": ["x", "y"] * 10, "b": ["same"] * 20}))
    found = classification(
        table, pl.DataFrame({"a": ["x", "y"] * 10, "b": ["same"] * 20}), "b", folds=2
    )
    assert [one.relative for one in found] == [None, None]


def test_pandas_and_tables_are_taken_as_releases() -> None:
    table = patients(100)
    released = at_levels(table, {"age": 1, "town": 1})

    def measured(release: Any) -> Accuracy:
        return one(classification(table, release, "ill", classifiers=["tree"], folds=2))

    expected = measured(released)
    assert measured(released.to_pandas()) == expected
    assert measured(shoal.table(released)) == expected


def test_a_generalised_class_is_refused() -> None:
    table = patients(100)
    with pytest.raises(ColumnError, match="generalised"):
        classification(table, at_levels(table, {"age": 0, "town": 1}), "town")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"class_columns": "name"}, ColumnError),
        ({"class_columns": "ill", "features": ["height"]}, ColumnError),
        ({"class_columns": "ill", "features": []}, ColumnError),
        ({"class_columns": "ill", "folds": 1}, ParameterError),
        ({"class_columns": "ill", "classifiers": ["forest"]}, ParameterError),
    ],
)
def test_wrong_options_of_classification_are_named(
    options: dict[str, Any], error: type[Exception]
) -> None:
    table = patients(50)
    with pytest.raises(error):
        classification(table, at_levels(table, {"age": 0, "town": 0}), **options)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    table = patients(50)
    with pytest.raises(ShoalError, match=r"shoal\[utility\]"):
        classification(table, at_levels(table, {"age": 0, "town": 0}), "ill")
