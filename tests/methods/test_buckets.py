"""Buckets keep what every method keeps (test_conformance asks the others); recipes and
commands make and read them."""

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.data.tables import Table
from shoal.errors import (
    HierarchyError,
    InfeasibleError,
    ParameterError,
    RecipeError,
    ShoalError,
)
from shoal.ledger import Ledger
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits, Linear
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import verify
from tests.methods.examples import HALF, TOWNS, people, table
from tests.methods.test_conformance import assert_clear

METHODS = {
    "two": Buckets("ill", HALF, solver="two"),
    "multi": Buckets("ill", Limits.each({"gout": "0.4"}, others=Linear(1, "0.2")), solver="multi"),
    "anatomy": Buckets("ill", HALF, solver="anatomy"),
    "optimal": Buckets(
        "ill", Limits.classes({"grave": ("0.4", ["gout", "größe"])}, others=1), largest=20
    ),
    "within": Buckets(
        "ill", Limits.each({}, others="0.7"), solver="two", within={"age": 2, "town": 2}
    ),
    "fakes": Buckets("ill", HALF, solver="two", fakes=1, largest=2),
    "associations": Buckets("ill", HALF, solver="two", fakes=1, largest=2, associations=True),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def many(rows: int = 200, seed: int = 5, **options: Any) -> Table:
    """People with enough of every illness that all methods above find buckets."""
    return people(rows, seed, **options)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows(named=True))


def bags(release: Release) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for row in rows_of(release.further["buckets"]):
        found.setdefault(row["bucket"], Counter())[row["ill"]] += row["count"]
    return found


def sizes(release: Release) -> Counter[int]:
    return Counter(row["bucket"] for row in rows_of(release.table))


# What buckets keep besides what every method keeps (test_conformance)


@every_method
def test_everybody_is_released_unchanged_with_their_value_among_those_of_their_bucket(
    method: Buckets,
) -> None:
    given = many()
    release = method.release(given)
    truth = {row["tag"]: row for row in rows_of(given.frame)}
    inside = bags(release)
    released = rows_of(release.table)
    assert sorted(row["tag"] for row in released) == sorted(truth)
    there: dict[int, Counter[str]] = {}
    for row in released:
        was = truth[row["tag"]]
        assert (row["age"], row["town"]) == (was["age"], was["town"])
        there.setdefault(row["bucket"], Counter())[was["ill"]] += 1
    for bucket, own in there.items():
        assert own <= inside[bucket]
        assert (inside[bucket] - own).total() == method.fakes
        assert all(
            count == 1 and value not in own for value, count in (inside[bucket] - own).items()
        )


@every_method
def test_every_bucket_keeps_every_limit_by_rationals(method: Buckets) -> None:
    given = many()
    release = method.release(given)
    often = Counter(given.frame["ill"].to_list())
    limits = method.limits.of(often)
    size = sizes(release)
    assert all(
        Fraction(n, size[bucket]) <= limits[value]
        for bucket, bag in bags(release).items()
        for value, n in bag.items()
    )


@every_method
def test_identifying_columns_are_never_released_and_the_sensitive_one_is_not_beside_people(
    method: Buckets, tmp_path: Path
) -> None:
    release = method.release(many())
    assert list(release.table.columns) == ["age", "town", "tag", "bucket"]
    assert list(release.further["buckets"].columns) == ["bucket", "ill", "count"]
    release.write(tmp_path)
    assert all(b"Private Person" not in file.read_bytes() for file in tmp_path.iterdir())


@every_method
def test_one_row_is_refused_unless_its_value_may_be_certain(method: Buckets) -> None:
    try:
        release = method.release(people(1))
    except InfeasibleError as error:
        assert_clear(error)
    else:
        assert len(release.table) == 1
        assert "may be linked to a person with certainty" in " ".join(release.facts.concerns)


@pytest.mark.parametrize("name", ["two", "anatomy", "within"])
def test_rows_that_are_all_alike_or_all_different_are_released(name: str, tmp_path: Path) -> None:
    alike = pl.DataFrame(
        {
            "name": [f"P{i}" for i in range(50)],
            "age": [31] * 50,
            "town": ["Oslo"] * 50,
            "ill": ["a", "b"] * 25,
            "tag": [1] * 50,
        }
    )
    different = pl.DataFrame(
        {
            "name": [f"P{i}" for i in range(100)],
            "age": range(100),
            "town": TOWNS * 20,
            "ill": [f"ill {i}" for i in range(100)],
            "tag": range(100),
        }
    )
    for frame in (alike, different):
        release = METHODS[name].release(table(frame))
        assert len(release.table) == len(frame)
        assert verify(tmp_path / "certificate.json", release.write(tmp_path)) == []


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, "nan", "x", -1])
def test_parameters_that_are_not_numbers_are_refused(wrong: Any) -> None:
    for name in ("gap", "seconds", "fakes", "largest"):
        with pytest.raises(ParameterError, match=name):
            replace(METHODS["two"], **{name: wrong})
    with pytest.raises(ParameterError, match="limit"):
        Limits.each({"a": wrong})


# What a table or a schema may be


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "tag"}, "column='tag' is not a sensitive column"),
        ({"within": {"ill": 0}}, "which is to be hidden"),
        ({"within": {"tag": 0}}, "'tag', which are not released columns with a hierarchy"),
        ({"within": {"age": 3}}, "levels 0 to 2"),
        ({"solver": "best"}, "solver"),
        ({"associations": True}, "`associations` is about fakes"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_data_is_seen(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(METHODS["two"], **options).promise(many(0).schema)


def test_a_second_sensitive_column_and_a_column_called_bucket_are_refused() -> None:
    frame = nw.to_native(many().frame)
    with pytest.raises(ParameterError, match="'tag' would be released unchanged beside people"):
        METHODS["two"].release(table(frame, sensitive=["ill", "tag"], insensitive=[]))
    with pytest.raises(ParameterError, match="'bucket'"):
        METHODS["two"].release(table(frame.rename({"tag": "bucket"}), insensitive=["bucket"]))


def test_blocks_need_public_hierarchies() -> None:
    frame = nw.to_native(many().frame)
    derived = shoal.hierarchy.derive(table(frame).records(["age"])[0], shoal.hierarchy.suppress)
    with pytest.raises(HierarchyError, match="derived from the rows"):
        METHODS["within"].release(
            table(frame, hierarchies={"age": derived, "town": many().hierarchies["town"]})
        )


def test_people_of_a_bucket_agree_in_their_block_and_an_impossible_block_refuses_all() -> None:
    method = Buckets("ill", Limits.each({}, others="0.6"), solver="two", within={"town": 1})
    release = method.release(many(2000))
    tree = many().hierarchies["town"]
    regions = {row[0]: row[1] for row in tree.lines()}
    where: dict[int, set[str]] = {}
    for row in rows_of(release.table):
        where.setdefault(row["bucket"], set()).add(regions[row["town"]])
    assert all(len(one) == 1 for one in where.values())
    frame = nw.to_native(many().frame).with_columns(
        ill=pl.when(pl.col("town") == "Oslo").then(pl.lit("gout")).otherwise(pl.col("ill"))
    )
    with pytest.raises(InfeasibleError, match="among people who agree in `within`") as caught:
        method.release(table(frame))
    assert_clear(caught.value)
    assert "gout" not in str(caught.value)


def test_a_limit_that_cannot_be_kept_names_the_value_to_the_owner_only() -> None:
    limits = Limits.each({"gout": "0.01"}, others=1)
    with pytest.raises(InfeasibleError) as caught:
        Buckets("ill", limits).release(many())
    assert "gout" not in str(caught.value)
    assert list(limits.eligibility(Counter(many().frame["ill"].to_list())).preventing) == ["gout"]


@settings(max_examples=60)
@given(st.lists(st.sampled_from("aaabbcde"), max_size=40), st.integers(2, 6), st.data())
def test_whatever_the_values_all_limits_hold_or_nothing_is_released(
    values: list[str], inverse: int, data: Any
) -> None:
    limits = Limits.each(
        {"a": data.draw(st.fractions("1/6", 1, max_denominator=12))}, others=Fraction(1, inverse)
    )
    frame = pl.DataFrame(
        {"who": range(len(values)), "ill": values}, schema={"who": pl.Int64, "ill": pl.String}
    )
    given = shoal.table(frame, quasi=["who"], sensitive=["ill"])
    try:
        release = Buckets("ill", limits, solver="two").release(given)
    except InfeasibleError:
        return
    size = sizes(release)
    most = limits.of(Counter(values))
    assert all(
        Fraction(n, size[bucket]) <= most[value]
        for bucket, bag in bags(release).items()
        for value, n in bag.items()
    )
    assert sum(size.values()) == len(values)


def test_limits_of_numbers_and_dates_are_verified(tmp_path: Path) -> None:
    import datetime as dt

    days = [dt.date(2024, 1, 1 + i % 4) for i in range(40)]
    frame = pl.DataFrame({"who": range(40), "score": [i % 4 for i in range(40)], "day": days})
    for column, limits in (
        ("score", Limits(((3, Fraction(1, 3)), ("2", Fraction(1, 3))), Fraction(1, 2))),
        (
            "day",
            Limits(((days[0], Fraction(1, 3)), ("2024-01-02", Fraction(1, 3))), Fraction(1, 2)),
        ),
    ):
        given = shoal.table(frame.select("who", column), quasi=["who"], sensitive=[column])
        path = Buckets(column, limits, solver="two").release(given).write(tmp_path / column)
        assert verify(path.with_name("certificate.json"), path) == []


# Recipe, command line, ledger

RECIPE = """
[source]
path = "people.csv"
types = {{ age = "integer", tag = "integer" }}

[roles]
name = "identifying"
age = "quasi"
town = "quasi"
ill = "sensitive"
tag = "insensitive"

[method]
name = "buckets"
column = "ill"
solver = "two"
{limits}
"""


def recipe(folder: Path, limits: str) -> Path:
    nw.to_native(many().frame).write_csv(folder / "people.csv")
    path = folder / "recipe.toml"
    path.write_text(RECIPE.format(limits=limits), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            'limits = { values = { gout = "0.4" }, others = 0.5 }',
            Limits.each({"gout": "0.4"}, others="0.5"),
        ),
        ('limits = { a = 1, b = "0.1" }', Limits.formula(1, "0.1")),
        ("limits = { others = 0.5 }", Limits.each({}, others="0.5")),
        (
            'limits = { classes = { grave = { limit = "2/5", values = ["gout", "größe"] } }, '
            "others = { a = 1, b = 0.1 } }",
            Limits.classes({"grave": ("2/5", ["gout", "größe"])}, others=Linear(1, "0.1")),
        ),
    ],
)
def test_a_recipe_makes_both_tables(written: str, meant: Limits, tmp_path: Path) -> None:
    made = shoal.Recipe.load(recipe(tmp_path, written))
    assert made.method() == Buckets("ill", meant, solver="two")
    made.release(made.table(), tmp_path / "out")
    assert verify(tmp_path / "out" / "certificate.json", tmp_path / "out" / "release.csv") == []
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "release.csv",
        "buckets.csv",
        "certificate.json",
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "method.limits: missing"),
        ("limits = 0.5", "method.limits should be limits by value, class or formula"),
        ("limits = {}", "method.limits"),
        ("limits = { other = 0.5 }", "did you mean 'others'"),
        ("limits = { a = 1 }", "method.limits: b: missing"),
        ("limits = { b = 1 }", "method.limits: a: missing"),
        ("limits = { others = 2 }", "method.limits"),
        ('limits = { others = "x" }', "method.limits"),
        ("limits = { others = true }", "method.limits.others"),
        ('limits = { classes = { c = { limit = 0.1, value = ["a"] } } }', "did you mean 'values'"),
        (
            'limits = { values = { a = 0.1 }, classes = { c = { limit = 0.1, values = ["a"] } } }',
            "not both",
        ),
        ("limits = { others = 0.5 }\nwithin = { aeg = 1 }", "method.within.aeg"),
        (
            "limits = { others = 0.5 }\nwithin = { town = 0 }",
            "method.within.town: .*; add hierarchies.town",
        ),
        ("limits = { others = 0.5 }\nfake = 1", "did you mean 'fakes'"),
    ],
)
def test_a_mistake_in_a_recipe_is_told_by_its_key(
    written: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RecipeError, match=message):
        shoal.Recipe.load(recipe(tmp_path, written)).method()


def test_a_recipe_whose_column_is_not_sensitive_is_refused(tmp_path: Path) -> None:
    path = recipe(tmp_path, "limits = { others = 0.5 }")
    path.write_text(
        path.read_text(encoding="utf-8").replace('column = "ill"', 'column = "tag"'),
        encoding="utf-8",
    )
    with pytest.raises(RecipeError, match=r"method\.column: 'tag' is not a sensitive column"):
        shoal.Recipe.load(path)


def shoal_command(*arguments: str | Path, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(
        app, list(map(str, arguments)), env={"COLUMNS": "200", "NO_COLOR": "1"}
    )
    assert done.exit_code == code, done.stderr
    return done.stdout, done.stderr


def test_a_release_is_made_entered_verified_and_written_over(tmp_path: Path) -> None:
    path, out = recipe(tmp_path, "limits = { others = 0.5 }"), tmp_path / "out"
    Ledger.create(tmp_path / "ledger.db")
    _, said = shoal_command("release", path, "--out", out, "--ledger", tmp_path / "ledger.db")
    assert "buckets.csv" in said
    assert "200 records in 100 buckets; loss 100" in said
    assert "2-diversity would keep these limits" in said
    assert "entered in" in said
    assert "earlier release" not in said
    _, said = shoal_command(
        "release", path, "--out", tmp_path / "second", "--ledger", tmp_path / "ledger.db"
    )
    assert "has an earlier release by buckets" in said
    shown, _ = shoal_command("verify", out / "certificate.json", out / "release.csv")
    assert "F′-privacy of 'ill'" in shown
    _, refused = shoal_command("release", path, "--out", out, code=2)
    assert "buckets.csv" in refused
    shoal_command("release", path, "--out", out, "--force")
    (out / "buckets.csv").write_bytes((out / "buckets.csv").read_bytes() + b"1,gout,1\n")
    _, told = shoal_command(
        "verify", out / "certificate.json", out / "release.csv", "--json", code=1
    )
    assert "'buckets' is not the one" in told


def test_checking_a_recipe_says_what_its_limits_would_do_and_refuses_those_that_cannot_be_kept(
    tmp_path: Path,
) -> None:
    _, said = shoal_command(
        "recipe",
        "check",
        recipe(tmp_path, "limits = { values = { Gout = 0.4, gut = 0.4 }, others = 1 }"),
    )
    assert "may be linked to a person with certainty" in said
    assert "2 values with a limit of their own never occur " in said
    assert "may be the same as one with a stricter limit" in said
    assert said.count("owner only") == 3
    _, said = shoal_command("recipe", "check", recipe(tmp_path, "limits = { others = 0.5 }"))
    assert not said
    _, said = shoal_command(
        "recipe", "check", recipe(tmp_path, "limits = { others = 0.01 }"), code=2
    )
    assert "larger share of the table than its limit" in said
    _, said = shoal_command(
        "recipe", "check", recipe(tmp_path, "limits = { values = { gout = 0.5 } }"), code=2
    )
    assert "have no limit" in said


def test_a_release_that_was_written_can_be_read_again(tmp_path: Path) -> None:
    METHODS["fakes"].release(many()).write(tmp_path)
    again = Release.read(tmp_path)
    assert set(again.further) == {"buckets"}
    assert (
        Certificate.from_json((tmp_path / "certificate.json").read_text(encoding="utf-8"))
        == again.certificate
    )
    assert (
        json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))["file"]["further"][
            "buckets"
        ]["name"]
        == "buckets.csv"
    )


def test_errors_never_carry_a_value_of_the_table() -> None:
    frame = nw.to_native(many().frame).with_columns(ill=pl.lit("SECRET"))
    for method in METHODS.values():
        with pytest.raises(ShoalError) as caught:
            replace(method, limits=Limits.each({"gout": "0.4"}, others="0.9")).release(table(frame))
        assert_clear(caught.value)


def test_a_release_of_buckets_is_not_judged_row_by_row() -> None:
    judgement = shoal.judge(many(), METHODS["two"].release(many()))
    assert judgement.buckets is not None
    assert judgement.kept == judgement.records


def test_owners_are_told_of_values_that_fakes_cannot_hide() -> None:
    tight = pl.DataFrame({"who": range(12), "ill": ["a", "b"] * 4 + ["c", "d"] * 2})
    given = shoal.table(tight, quasi=["who"], sensitive=["ill"])
    release = Buckets("ill", Limits.each({}, others="1/3"), solver="two", fakes=1).release(given)
    assert "fakes do not hide them" in " ".join(release.facts.concerns)
