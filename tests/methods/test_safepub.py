"""SafePub from the outside: what is asked for, what leaves, and what is refused. Its law is in
test_safepub_truth.
"""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import SafePub
from shoal.attack.coins import law
from shoal.chance import Seeded
from shoal.data.bounding import chosen_rows
from shoal.data.hierarchy import Hierarchy, derive, intervals
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, HierarchyError, ParameterError, ShoalError, Stopped
from shoal.methods.method import begin
from shoal.privacy.calculus import per_row, safepub_parameters
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import verify
from tests.data.columns import leaves

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(50)], Kind.INTEGER
)
TOWNS = Hierarchy.from_lines(
    [["Zürich", "CH", "*"], ["Genève", "CH", "*"], ["Łódź", "PL", "*"], ["東京", "JP", "*"]]
)
SEXES = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
TREES = {"age": AGES, "town": TOWNS, "sex": SEXES}
NEARLY_SURE = SafePub(30, "1e-4", split="1/10")
"""So much for the search that it takes the best node, but for one in thousands."""


def people(rows: int = 3000, seed: int = 1, **options: Any) -> Table:
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "name": [f"Private Person {i}" for i in range(rows)],
        "age": random.integers(0, 50, rows).tolist(),
        "town": random.choice(TOWNS.labels[0], rows).tolist() if rows else [],
        "sex": random.choice(["f", "m"], rows, p=[0.4, 0.6]).tolist(),
        "ill": random.choice(["grippe", "größe"], rows).tolist(),
    }
    schema = {
        "name": pl.String,
        "age": pl.Int64,
        "town": pl.String,
        "sex": pl.String,
        "ill": pl.String,
    }
    return table(pl.DataFrame(columns, schema=schema), **options)


def table(frame: pl.DataFrame, **options: Any) -> Table:
    roles = {"quasi": ["age", "town", "sex"], "sensitive": ["ill"], "identifying": ["name"]}
    given = {
        **{
            role: [name for name in names if name in frame.columns] for role, names in roles.items()
        },
        **options,
    }
    trees = given.pop(
        "hierarchies", {name: tree for name, tree in TREES.items() if name in frame.columns}
    )
    return shoal.table(frame, **given, hierarchies=trees)


# What leaves


@pytest.mark.parametrize(
    "method",
    [
        SafePub(1, "1e-4"),
        SafePub("ln(3)", "1e-6", "standard"),
        SafePub(2, "1e-3", score="groups"),
        SafePub(1, "1e-3", search="walk", steps=10),
        SafePub(2, "1e-3", score="classification", classes=("ill",)),
        SafePub(1, "1e-4", levels={"age": 1, "town": 1, "sex": 0}),
    ],
    ids=["select", "standard", "groups", "walk", "classification", "levels"],
)
def test_only_groups_of_at_least_k_leave_and_what_leaves_is_true(
    method: SafePub, tmp_path: Path
) -> None:
    given = people()
    release = method.release(given)
    assert release.table.columns == ["age", "town", "sex", "ill"]
    levels, k = release.certificate.levels, release.certificate.derived["k"]
    labels = {
        name: [
            tree.labels[levels[name]][code] for code in tree.maps[levels[name]][leaves(given, name)]
        ]
        for name, tree in ((name, given.hierarchy(name)) for name in TREES)
    }
    there = Counter(zip(*labels.values(), given.frame["ill"].to_list(), strict=True))
    released = Counter(tuple(map(str, row)) for row in release.table.rows())
    assert all(k <= size <= there[group] for group, size in released.items())
    assert release.suppressed == given.rows - len(release.table)
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []


def test_a_large_group_keeps_about_the_share_that_is_drawn() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 40_000})
    release = SafePub(1, "1e-6", levels={"sex": 0}).release(table(frame))
    assert abs(len(release.table) / 40_000 - (1 - np.exp(-1))) < 0.015  # six standard deviations


def test_a_group_of_fewer_than_k_never_leaves_and_none_knows_of_it() -> None:
    method = SafePub(1, "1e-6", levels={"sex": 0})
    frame = pl.DataFrame({"sex": ["f"] * 73 + ["m"] * 400})
    for seed in range(5):
        release = method.release(table(frame), Seeded(seed))
        assert set(release.table["sex"]) == {"m"}
        assert '"f"' not in release.certificate.to_json()


def test_columns_that_leave_as_they_are_tell_groups_apart() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 300, "ill": [f"ill {i}" for i in range(300)]})
    assert len(SafePub(2, "1e-3", levels={"sex": 0}).release(table(frame)).table) == 0
    frame = pl.DataFrame({"sex": ["f"] * 600, "ill": ["one", "two"] * 300})
    assert set(SafePub(2, "1e-3", levels={"sex": 0}).release(table(frame)).table["ill"]) == {
        "one",
        "two",
    }


def test_where_every_column_is_at_its_root_nothing_leaves() -> None:
    frame = people().frame.to_native().select("age", "town", "sex")
    assert (
        len(SafePub(2, "1e-3", levels={"age": 2, "town": 2, "sex": 1}).release(table(frame)).table)
        == 0
    )


def test_the_certificate_tells_only_what_the_parameters_and_the_levels_do() -> None:
    method = SafePub(2, "1e-3")
    one, other = (
        method.release(people(rows, seed)).certificate for rows, seed in ((400, 1), (2903, 2))
    )
    assert replace(one, levels={}, number="") == replace(other, levels={}, number="")
    assert set(one.derived) == {
        "k",
        "beta",
        "epsilon_anonymisation",
        "epsilon_search",
        "delta",
        "definition",
        "rows",
        "epsilon_order",
        "epsilon_tree",
        "tree",
    }


# What was asked for


def test_the_promise_is_that_of_the_certificate_whatever_the_definition_and_the_unit() -> None:
    schema = people(0).schema
    for method in (
        SafePub(1, "1e-4"),
        SafePub("ln(2)", "1e-4", "standard"),
        SafePub(1, "1e-4", "standard", unit="name", rows=3),
        SafePub(1, "1e-4", levels={"age": 1, "town": 0, "sex": 0}),
    ):
        promise = method.promise(schema)
        assert method.release(people(200)).certificate.promise == promise.to_dict()
        assert promise.definition == method.definition
        assert promise.unit == (method.unit or "row")


def test_the_budget_is_split_as_asked_and_all_of_it_is_the_releases_where_levels_are_given() -> (
    None
):
    schema = people(0)
    derived = SafePub(1, "1e-5", split="3/4").release(schema).certificate.derived
    parameters = safepub_parameters("3/4", "1e-5")
    assert (derived["k"], Fraction(derived["beta"])) == (parameters.k, parameters.beta)
    assert (derived["epsilon_anonymisation"], derived["epsilon_search"]) == ("0.75", "0.25")
    for fixed in (
        SafePub(1, "1e-5", levels={"age": 0, "town": 0, "sex": 0}),
        SafePub(1, "1e-5", floor={"age": 2, "town": 2}, ceiling={"sex": 0}),
    ):
        derived = fixed.release(schema).certificate.derived
        assert (derived["k"], derived["epsilon_search"]) == (safepub_parameters(1, "1e-5").k, None)


def test_the_standard_definition_needs_a_smaller_crowd() -> None:
    one, other = (
        SafePub(1, "1e-6", definition).release(people(0)).certificate
        for definition in ("probabilistic", "standard")
    )
    assert one.derived["k"] > other.derived["k"]


def test_levels_stay_within_floor_and_ceiling() -> None:
    method = SafePub(1, "1e-3", floor={"age": 1}, ceiling={"age": 1, "town": 1})
    for seed in range(10):
        levels = method.release(people(300), Seeded(seed)).certificate.levels
        assert levels["age"] == 1
        assert levels["town"] <= 1


@pytest.mark.parametrize(
    "score", ["granularity", "intensity", "discernibility", "entropy", "groups"]
)
@pytest.mark.parametrize("how", ["select", "walk"])
def test_with_much_to_spend_a_search_finds_the_one_node_that_keeps_anything(
    score: str, how: Any
) -> None:
    """Column a has 4 values and b 80: by b, or by both, groups have 30 records at most, too few for
    k; by a, 600.
    """
    method = SafePub(30, "1e-2", split="1/10", score=score, search=how, steps=3)
    wide = Hierarchy.from_lines([[str(i), "*"] for i in range(90)])
    frame = pl.DataFrame(
        {"a": [str(i % 4) for i in range(2400)], "b": [str(i // 4 % 80) for i in range(2400)]}
    )
    given = shoal.table(frame, quasi=["a", "b"], hierarchies={"a": wide, "b": wide})
    assert method.release(given).certificate.levels == {"a": 0, "b": 1}


def test_what_is_important_stays_fine() -> None:
    wide = Hierarchy.from_lines([[str(i), "*"] for i in range(20)])
    frame = pl.DataFrame(
        {"a": [str(i % 20) for i in range(8000)], "b": [str(i // 20 % 20) for i in range(8000)]}
    )
    given = shoal.table(frame, quasi=["a", "b"], hierarchies={"a": wide, "b": wide})
    for important, other in (("a", "b"), ("b", "a")):
        method = SafePub(30, "1e-2", split="1/10", importance={important: 3, other: "1/2"})
        assert method.release(given).certificate.levels == {important: 0, other: 1}


def test_a_class_stays_as_it_is_and_is_told_by_what_predicts_it() -> None:
    wide = Hierarchy.from_lines([[str(i), "*"] for i in range(20)])
    noise, cause = [str(i // 20 % 20) for i in range(8000)], [str(i % 20) for i in range(8000)]
    frame = pl.DataFrame(
        {"noise": noise, "cause": cause, "ill": [str(int(value) % 2) for value in cause]}
    )
    trees = {"noise": wide, "cause": wide, "ill": Hierarchy.from_lines([["0", "*"], ["1", "*"]])}
    given = shoal.table(frame, quasi=["noise", "cause"], sensitive=["ill"], hierarchies=trees)
    method = SafePub(30, "1e-2", split="1/10", score="classification", classes=("ill",))
    assert method.release(given).certificate.levels == {"noise": 1, "cause": 0, "ill": 0}


@pytest.mark.parametrize("how", ["select", "walk"])
def test_where_no_value_is_worth_anything_any_node_will_do(how: Any) -> None:
    one = Hierarchy.from_lines([["f", "*"]])
    given = table(pl.DataFrame({"sex": ["f"] * 9}), hierarchies={"sex": one})
    assert {
        SafePub(1, "1e-3", search=how).release(given).certificate.levels["sex"] for _ in range(60)
    } == {0, 1}


# Tables that are odd


@pytest.mark.parametrize(
    "method", [SafePub(1, "1e-3"), SafePub(1, "1e-3", "standard", unit="name", rows=2)]
)
def test_a_table_of_no_or_few_rows_gives_an_empty_release(method: SafePub, tmp_path: Path) -> None:
    for rows in (0, 1, 2):
        release = method.release(people(rows))
        assert release.table.shape == (0, 4)
        path = release.write(tmp_path / str(rows))
        assert verify(tmp_path / str(rows) / "certificate.json", path) == []


def test_rows_that_are_all_different_leave_only_in_groups() -> None:
    wide = Hierarchy.from_lines([[str(i), str(i // 500), "*"] for i in range(1000)], Kind.INTEGER)
    given = shoal.table(pl.DataFrame({"x": range(1000)}), quasi=["x"], hierarchies={"x": wide})
    assert set(NEARLY_SURE.release(given).table["x"].to_list()) <= {0, 1}


def test_a_missing_value_is_a_value_of_its_own_or_refused() -> None:
    frame = pl.DataFrame({"sex": ["f", None] * 400})
    release = SafePub(2, "1e-3", levels={"sex": 0}).release(table(frame))
    assert set(release.table["sex"].to_list()) == {"f", None}
    with pytest.raises(ColumnError, match="'sex'"):
        SafePub(2, "1e-3").release(table(frame, missing="refuse"))


def test_whether_any_value_is_missing_changes_nothing_else() -> None:
    """The leaf for missing values is there by policy, not because one was seen."""
    method = SafePub(2, "1e-3", levels={"sex": 0})
    for few in ([], [None]):
        release = method.release(
            table(pl.DataFrame({"sex": ["f"] * 800 + few}, schema={"sex": pl.String}))
        )
        assert set(release.table["sex"].to_list()) == {"f"}
        assert release.table.schema == {"sex": pl.String}


# What is refused


def test_a_hierarchy_derived_from_the_rows_is_refused_with_the_reason() -> None:
    frame = pl.DataFrame({"age": list(range(50))})
    derived = derive(shoal.table(frame, quasi=["age"]).records(["age"])[0], intervals, widths=[10])
    given = shoal.table(frame, quasi=["age"], hierarchies={"age": derived})
    for ask in (
        SafePub(1, "1e-3").release,
        lambda given: SafePub(1, "1e-3").promise(given.schema),
    ):
        with pytest.raises(HierarchyError, match=r"derived from the rows.*declared domain"):
            ask(given)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "ln(1)"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": "1e-3x"}, "delta"),
        ({"definition": "pure"}, "definition"),
        ({"split": 0}, "split"),
        ({"split": 1}, "split"),
        ({"split": 1.5}, "split"),
        ({"score": "loss"}, "score"),
        ({"score": "classification"}, "classes"),
        ({"classes": ("ill",)}, "classes"),
        ({"importance": {"age": -1}}, "importance of 'age'"),
        ({"importance": {"age": float("nan")}}, "importance of 'age'"),
        ({"search": "genetic"}, "search"),
        ({"steps": 0}, "steps"),
        ({"steps": 2.0}, "steps"),
        ({"rows": 0}, "rows"),
        ({"epsilon": "1e-7"}, "epsilon"),
        ({"rows": 2}, "unit"),
        ({"unit": "name", "definition": "probabilistic"}, "standard"),
        ({"beta": 1}, "beta"),
        ({"beta": "often"}, "beta"),
        ({"records": 0, "beta": "auto"}, "records"),
        ({"records": 100}, "auto"),
        ({"records": 100, "beta": "0.2"}, "auto"),
    ],
)
def test_nonsense_is_refused_before_there_is_a_table(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        SafePub(**{"epsilon": 1, "delta": "1e-3", **wrong})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"floor": {"income": 1}}, "'income'"),
        ({"floor": {"ill": 0}}, "'ill'"),
        ({"ceiling": {"age": 3}}, "'age'.*0 to 2"),
        ({"floor": {"age": 2}, "ceiling": {"age": 1}}, "'age'"),
        ({"floor": {"age": -1}}, "'age'"),
        ({"importance": {"ill": 2}}, "'ill'"),
        ({"importance": {"age": 0, "town": 0, "sex": 0}}, "importance"),
        ({"levels": {"age": 1}}, "'town'"),
        ({"levels": {"age": 1, "town": 1, "sex": 2}}, "'sex'"),
        ({"levels": {"age": 1, "town": 1, "sex": 1}, "floor": {"age": 1}}, "floor"),
        ({"score": "classification", "classes": ("income",)}, "'income'"),
        ({"epsilon": 50}, "at most 20"),
        ({"split": "0.99999999999999999"}, "split"),
        ({"unit": "ill", "definition": "standard"}, "'ill'"),
        ({"unit": "id", "definition": "standard"}, "'id'"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused_before_any_row_is_seen(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        SafePub(**{"epsilon": 1, "delta": "1e-3", **wrong}).promise(people(0).schema)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"sex": ["f"] * 9, "x": [datetime(2020, 1, 1)] * 9}),
        pd.DataFrame({"sex": ["f"] * 9, "x": pd.Series([1] * 9, dtype=object)}),
    ],
)
def test_a_type_that_would_be_read_off_the_values_is_to_be_declared(frame: Any) -> None:
    """All midnights are dates, and one other time makes them all texts: it would show, even if it
    is never released.
    """
    given: dict[str, Any] = {"quasi": ["sex"], "sensitive": ["x"], "hierarchies": {"sex": SEXES}}
    with pytest.raises(ColumnError, match=r"'x'.*declare"):
        SafePub(1, "1e-3").release(shoal.table(frame, **given))
    assert (
        SafePub(1, "1e-3")
        .release(shoal.table(frame, **given, types={"x": "text"}))
        .certificate.private
    )


def test_a_quasi_identifying_column_needs_a_hierarchy() -> None:
    given = people(5, hierarchies={"age": AGES, "town": TOWNS})
    with pytest.raises(HierarchyError, match="'sex'"):
        SafePub(1, "1e-3").promise(given.schema)
    frame = pl.DataFrame({"ill": ["x", "y"]})
    with pytest.raises(ParameterError, match="hierarchy"):
        SafePub(1, "1e-3").promise(shoal.table(frame, sensitive=["ill"]).schema)


def test_no_error_and_no_progress_tells_a_value() -> None:
    frame = pl.DataFrame({"age": [1, 999_777], "sex": ["f", "SECRET"], "name": ["SECRET", None]})
    said: list[str] = []
    for columns, method in (
        (["age"], SafePub(1, "1e-3")),
        (["sex"], SafePub(1, "1e-3")),
        (["name"], SafePub(1, "1e-3", "standard", unit="name")),
    ):
        good = pl.DataFrame({"age": [1, 2], "sex": ["f", "m"], "name": ["x", "y"]})
        given = table(good.with_columns(frame[columns]))
        with pytest.raises(ShoalError, match=f"'{columns[0]}'") as caught:
            method.release(given, progress=lambda done, total, what: said.append(what))
        said.append(str(caught.value))
    assert len(said) == 5  # people are told apart before any row is counted
    assert not any("SECRET" in line or "999" in line for line in said)


def test_stopping_at_any_point_gives_no_release() -> None:
    points = []
    SafePub(1, "1e-3", search="walk", steps=4).release(
        people(100), progress=lambda *at: points.append(at)
    )
    assert len(points) == 8
    for stop in range(len(points)):
        left = iter(range(stop))

        def stopping(done: int, total: int, what: str, left: Any = left) -> None:
            if next(left, None) is None:
                raise Stopped("enough")

        with pytest.raises(Stopped):
            SafePub(1, "1e-3", search="walk", steps=4).release(people(100), progress=stopping)


@pytest.mark.parametrize("score", ["granularity", "groups"])
def test_a_search_of_the_whole_lattice_says_how_far_it_is_and_can_be_stopped(score: str) -> None:
    points: list[float] = []

    def stopping(done: int, total: int, what: str) -> None:
        points.append(done / total)
        if what == "searching the lattice" and len(points) > 2:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        SafePub(1, "1e-3", score=score).release(people(100), progress=stopping)
    assert points == sorted(points)
    assert len(points) == 3


def test_the_owner_is_warned_of_a_delta_that_one_random_record_would_keep_and_nobody_else() -> None:
    warned = SafePub(1, "1e-2").release(people(100))
    assert "not below 1/100" in warned.facts.concerns[0]
    assert "1/100:" not in warned.certificate.to_json()
    assert not SafePub(1, "1e-3").release(people(100)).facts.concerns


# People with several rows


def several(rows: int, persons: int) -> Table:
    frame = people(rows).frame.to_native().with_columns(name=pl.int_range(rows) % persons)
    return table(frame)


def test_a_person_gives_at_most_so_many_rows_and_pays_for_each() -> None:
    method = SafePub(2, "1e-3", "standard", unit="name", rows=2)
    assert begin(method, several(3000, 10)).table.rows == 20
    epsilon, delta = per_row(2, "1e-3", 2)
    derived = method.release(several(300, 10)).certificate.derived
    assert derived["k"] == safepub_parameters(epsilon * Fraction(9, 10), delta, "standard").k
    assert derived["delta"] == str(delta)
    assert "name" not in method.release(several(300, 10)).table.columns


def test_a_person_without_a_name_is_refused() -> None:
    frame = people(20).frame.to_native().with_columns(name=pl.lit(None, dtype=pl.String))
    with pytest.raises(
        ColumnError, match=r"'name' tells people apart, but some of its values are missing"
    ):
        SafePub(1, "1e-3", "standard", unit="name").release(table(frame))


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 4), st.integers(0, 1000))
def test_of_every_person_as_many_rows_are_taken_as_may_be(
    people: list[int], rows: int, seed: int
) -> None:
    codes = np.array(sorted(people), dtype=np.uint8)
    taken = chosen_rows(codes, rows, Seeded(seed))
    assert Counter(codes[taken].tolist()) == {
        person: min(rows, count) for person, count in Counter(people).items()
    }


def test_which_rows_of_a_person_are_taken_is_a_uniform_choice_of_its_own() -> None:
    people = np.array([0, 0, 0, 1, 1], dtype=np.uint8)
    found = law(lambda chance: tuple(np.flatnonzero(chosen_rows(people, 2, chance)).tolist()))
    assert {taken: weight.exact for taken, weight in found.items()} == {
        (*pair, 3, 4): Fraction(1, 3) for pair in ((0, 1), (0, 2), (1, 2))
    }


# In a file, and again


def test_the_certificate_is_read_back_as_it_was(tmp_path: Path) -> None:
    release: Release = SafePub("ln(3)", "1e-3", importance={"age": 2}, floor={"sex": 1}).release(
        people(200)
    )
    release.write(tmp_path)
    found = Certificate.from_json((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert found.parameters["epsilon"] == "ln(3)"
    assert found.levels == release.certificate.levels
    assert found.number == release.certificate.number


def test_only_the_certificate_of_a_walk_names_steps() -> None:
    for how, steps in (("select", None), ("walk", 300)):
        method = SafePub(1, "1e-3", search=how)  # type: ignore[arg-type]
        paper = method.release(people(100)).certificate
        assert paper.parameters["steps"] == steps
        assert ("steps = 300" in str(paper)) == (how == "walk")
