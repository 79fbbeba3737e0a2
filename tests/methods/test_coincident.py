"""Coincident generalisation: what groups show, what is refused, and what the
certificate says.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, ShoalError
from shoal.methods.coincident import RANGES, Coincident
from shoal.methods.coincident.schemes import (
    SCHEMES,
)

AGES = Hierarchy.from_lines(
    [[str(age), f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*"] for age in range(100)]
)
TOWNS = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
TREES = {"age": AGES, "town": TOWNS}


def people(rows: int = 203, seed: int = 3, values: str = "uvwxyz") -> Table:
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": draw.integers(0, 100, rows).astype(str).tolist(),
            "town": draw.choice(list("abcd"), rows).tolist(),
            "ill": draw.choice(list(values), rows).tolist(),
        },
        schema={"age": pl.String, "town": pl.String, "ill": pl.String},
    )
    return shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)


def test_ranges_end_where_nobody_tells_them_to() -> None:
    """People who move without passing each other or the end of a value of the hierarchy show the
    same ranges.
    """
    ages = {(11, 13, 27, 31, 58, 59, 84, 91), (18, 19, 22, 38, 52, 56, 81, 99)}
    shown = set()
    for own in ages:
        frame = pl.DataFrame({"age": [str(age) for age in own], "ill": list("uvuvuvuv")})
        table = shoal.table(frame, quasi=["age"], sensitive=["ill"], hierarchies={"age": AGES})
        method = Coincident(("2-diversity of ill",), 2, ranges="boundary")
        shown.add(tuple(method.release(table).table["age"].unique(maintain_order=True).to_list()))
    assert len(shown) == 1


@pytest.mark.parametrize("closed", ["left", "right"])
def test_a_range_of_whole_numbers_has_the_far_end_of_its_domain(closed: str) -> None:
    texts = (
        ["[0, 5)", "[5, 10)", "[10, 15)", "[15, 20]"]
        if closed == "left"
        else ["[0, 5]", "(5, 10]", "(10, 15]", "(15, 20]"]
    )
    tree = Hierarchy.from_lines([[text, "*"] for text in texts], Kind.FLOAT)
    frame = pl.DataFrame({"pay": [0, 1, 6, 7, 12, 13, 19, 20], "ill": list("uvuvuvuv")})
    table = shoal.table(
        frame, quasi=["pay"], sensitive=["ill"], hierarchies={"pay": tree}, types={"pay": "integer"}
    )
    method = Coincident(("2-diversity of ill",), 4, ranges="boundary")
    shown = set(method.release(table).table["pay"].to_list())
    assert shown == (
        {"0-9", "10-20 or missing"} if closed == "left" else {"0-10", "11-20 or missing"}
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("order", "ranges"),
    [("splits", None), ("splits", "boundary"), ("splits", "hierarchy"), ("curve", None)],
)
def test_every_group_shows_the_same_of_all_its_people_and_satisfies_the_models(
    scheme: Any, order: Any, ranges: Any
) -> None:
    method = Coincident(("2-diversity of ill",), 4, scheme, 3, order, ranges)
    release = method.release(people(), Seeded(1))
    shown = release.table.group_by("group").agg(
        pl.col("age", "town").n_unique(), pl.col("ill").n_unique().alias("values")
    )
    assert shown["age"].max() == shown["town"].max() == 1
    assert shown["values"].min() >= 2
    assert release.suppressed == 203 % 4
    assert release.table["group"].to_list() == sorted(release.table["group"].to_list())
    assert release.table["group"].n_unique() == release.facts.groups


def test_the_narrower_range_of_every_group_covers_fewer_leaves_than_either() -> None:
    """The groups are the same, as the draws are, so losses are of one group after the other."""
    table = people(400)
    made = {
        ranges: Coincident(("2-diversity of ill",), 4, ranges=ranges).release(table, Seeded(1))
        for ranges in RANGES
    }
    narrow, boundary, hierarchy = (
        shoal.judge(table, made[ranges]).losses["granularity"].normalised for ranges in RANGES
    )
    assert narrow < min(boundary, hierarchy)
    texts = {text for labels in AGES.labels for text in labels}
    shown = set(made["narrower"].table["age"].to_list())
    assert shown & texts
    assert shown - texts


def test_many_people_are_put_along_a_curve_and_the_certificate_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.methods.coincident.MANY", 200)

    def used(rows: int, **options: Any) -> tuple[str, str]:
        given = (
            Coincident(("2-diversity of ill",), 4, **options)
            .release(people(rows), Seeded(1))
            .certificate.parameters
        )
        return given["order"], given["ranges"]

    assert used(200) == ("splits", "narrower")
    assert used(201) == ("curve", "hierarchy")
    assert used(201, ranges="boundary") == ("splits", "boundary")
    assert used(201, order="splits") == ("splits", "narrower")
    assert used(200, order="curve") == ("curve", "hierarchy")


def test_records_may_be_left_out_instead_of_groups_that_are_safe() -> None:
    table = people(60, 1, "u" * 9 + "v")  # few groups to start with have both values
    method = Coincident(("2-diversity of ill",), 4, depth=3)
    release = method.release(table, Seeded(1))  # of 15 groups 8 fit, and fewer than 7 are safe
    assert (len(release.table), release.suppressed) == (32, 28)
    release = replace(method, spare="records").release(table, Seeded(1))
    assert (len(release.table), release.suppressed) == (32, 28)
    release = replace(method, depth=None).release(table, Seeded(1))
    assert (len(release.table), release.suppressed) == (60, 0)  # 14 fit, and one is safe


def test_people_with_the_same_values_are_put_into_groups_by_lot() -> None:
    frame = pl.DataFrame({"age": ["30"] * 8, "town": ["a"] * 8, "ill": list("uuuuvvvv")})
    table = shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)
    method = Coincident(("1-diversity of ill",), 4)
    bags = {tuple(method.release(table, Seeded(seed)).table["ill"].to_list()) for seed in range(40)}
    assert len(bags) > 2


def test_the_usual_size_is_twice_what_the_models_ask_for() -> None:
    assert Coincident(("3-diversity of ill",)).size == 6
    assert Coincident(("3-diversity of ill", "7-anonymity")).size == 14
    assert Coincident(("entropy 3-diversity of ill",)).size == 6


def test_a_table_that_cannot_be_made_safe_is_refused_as_a_whole() -> None:
    for scheme in SCHEMES:
        with pytest.raises(InfeasibleError, match="even all records together do not satisfy"):
            Coincident(("2-diversity of ill",), 4, scheme).release(people(values="u"))
    with pytest.raises(InfeasibleError, match="fewer than 8 records"):
        Coincident(("2-diversity of ill",), 8).release(people(7))
    with pytest.raises(InfeasibleError, match="fewer than 12 records, which 3 groups have"):
        Coincident(("2-diversity of ill",), 4, "interleaved", spare="records").release(people(8))
    ill = pl.Series("ill", [*"uuuuuuuuuuuuuuuuv"])  # the last may be the one who is left out
    one_other = shoal.table(
        people(17).frame.to_native().with_columns(ill),
        quasi=["age", "town"],
        sensitive=["ill"],
        hierarchies=TREES,
    )
    refused = 0
    for seed in range(200):
        try:
            Coincident(("2-diversity of ill",), 4).release(one_other, Seeded(seed))
        except InfeasibleError as error:
            refused += "Keep this refusal secret" in str(error)
    assert 0 < refused < 40  # one of 17


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": 1}, "size"),
        ({"size": 5, "scheme": "interleaved"}, "even"),
        ({"scheme": "magic"}, "known are"),
        ({"order": "random"}, "known are"),
        ({"ranges": "observed"}, "known are"),
        ({"order": "curve", "ranges": "boundary"}, "no boundaries"),
        ({"order": "curve", "ranges": "narrower"}, "no boundaries"),
        ({"depth": -1}, "depth"),
        ({"spare": "nothing"}, "groups"),
        ({"spare": "records", "scheme": "UU"}, "leave `spare` out"),
        ({"depth": 41}, "above 40"),
        ({"models": ()}, "at least one"),
    ],
)
def test_invalid_parameters_raise(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Coincident(**{"models": ("2-diversity of ill",), **options})


def test_hierarchies_from_rows_and_a_column_called_group_are_refused_before_any_data_is_seen() -> (
    None
):
    method = Coincident(("2-diversity of ill",))
    derived = people().frame.to_native()
    table = shoal.table(
        derived,
        quasi=["age", "town"],
        sensitive=["ill"],
        hierarchies={"age": replace(AGES, derived=True), "town": TOWNS},
    )
    with pytest.raises(ShoalError, match="derived"):
        method.promise(table.schema)
    without = shoal.table(
        derived, quasi=["age", "town"], sensitive=["ill"], hierarchies={"age": AGES}
    )
    with pytest.raises(ShoalError, match="'town' has no hierarchy"):
        method.promise(without.schema)
    named = shoal.table(
        derived.rename({"town": "group"}),
        quasi=["age", "group"],
        sensitive=["ill"],
        hierarchies={"age": AGES, "group": TOWNS},
    )
    with pytest.raises(ParameterError, match="rename"):
        method.promise(named.schema)


def test_it_is_drawn_how_groups_that_look_alike_are_numbered() -> None:
    frame = pl.DataFrame({"town": list("abbc"), "ill": list("uwwv")})
    tree = Hierarchy.from_lines([[town, "*"] for town in "abc"])
    table = shoal.table(frame, quasi=["town"], sensitive=["ill"], hierarchies={"town": tree})
    method = Coincident(("2-diversity of ill",), 2, ranges="hierarchy")
    first = [method.release(table, Seeded(seed)).table["ill"][:2].to_list() for seed in range(40)]
    assert 0 < first.count(["u", "w"]) == 40 - first.count(["v", "w"]) < 40


def test_a_recipe_makes_it_and_judging_leaves_the_numbers_of_groups_aside(tmp_path: Path) -> None:
    people().frame.to_native().write_csv(tmp_path / "people.csv")
    for name, tree in TREES.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(";".join(line) for line in tree.lines()))
    (tmp_path / "recipe.toml").write_text("""
        source = { path = "people.csv" }
        roles = { town = "quasi", age = "quasi", ill = "sensitive" }
        hierarchies = { town = { file = "town.csv" }, age = { file = "age.csv" } }
        [method]
        name = "coincident"
        models = ["2-diversity of ill"]
        size = 4
        order = "splits"
        ranges = "narrower"
    """)
    recipe = shoal.Recipe.load(tmp_path / "recipe.toml")
    release = recipe.run()
    assert release.certificate.promise["promise"] == "coincidence"
    assert shoal.judge(recipe.table(), release).kept <= 200


def test_types_that_a_record_left_out_would_decide_are_refused() -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": ["30"] * 9, "town": ["a"] * 9, "ill": [1.0, 2.0, None] * 3})
    table = shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)
    with pytest.raises(ShoalError, match="declare it"):
        Coincident(("2-diversity of ill",), 4).promise(table.schema)


def test_the_certificate_says_what_depends_on_who_is_there_and_on_single_records() -> None:
    said = " ".join(
        Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1)).certificate.unprotected
    )
    assert "where their ranges end depends on them" in said
    assert "people who are in the table several times" in said
