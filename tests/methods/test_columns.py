"""Columns as a method: certificates, leaks, recipes, and what is refused, in both shapes."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.chance import Chance, Seeded
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import (
    ColumnError,
    HierarchyError,
    ParameterError,
    ShoalError,
    Stopped,
)
from shoal.methods.columns import Columns, schema_of
from shoal.methods.columns import long as long_form
from shoal.methods.columns import wide as wide_form
from tests.conftest import ROOT
from tests.methods import test_conformance as suite
from tests.methods.examples import AGES, FILMS, LONG, TOWNS, Tables, ratings

# The whole method, in both shapes


def purchases(*given: Any, **options: Any) -> shoal.Table:
    """Ratings of which only the films count."""
    return ratings(*given, **options).with_roles(identifying=["who", "stars"], quasi=["film"])


def people(rows: int = 300, seed: int = 4, kind: Any = pl.DataFrame, **options: Any) -> shoal.Table:
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "name": [f"Private Person {i % 200}" for i in range(rows)],
        "age": random.integers(0, 100, rows).tolist(),
        "town": random.choice(TOWNS, rows).tolist(),
        "ill": [
            None if i % 7 == 0 else ill
            for i, ill in enumerate(random.choice(["grippe", "größe", "gout"], rows).tolist())
        ],
    }
    roles: dict[str, Any] = {
        "quasi": ["age", "town"],
        "sensitive": ["ill"],
        "identifying": ["name"],
    }
    types = {"name": "text", "age": "integer", "town": "text", "ill": "text"}
    return shoal.table(
        kind(columns),
        **{
            **roles,
            "hierarchies": {"age": AGES},
            "types": types,
            "rows_are_people": True,  # where no unit is named
            **options,
        },
    )


PUBLIC, PEOPLE = ratings(500, seed=9), people(500, seed=9)
METHODS: dict[str, tuple[Columns, Tables]] = {
    "long printed": (
        Columns(2, "1/50", 3, 1, schema=[FILMS[:3], FILMS[3:]], noise="printed", **LONG),
        ratings,
    ),
    "long": (Columns(2, "1/50", 3, 1, schema=[FILMS[:3], FILMS[3:]], **LONG), ratings),
    "long overlapping": (
        Columns(2, "1/50", 3, 2, schema=[FILMS[:3], FILMS[2:], FILMS[2::-1]], counts=True, **LONG),
        ratings,
    ),
    "long public": (Columns("ln(9)", "1/50", 3, groups=(2, 3), public=PUBLIC, **LONG), ratings),
    "long bought": (
        Columns(2, "1/50", 3, groups=(2,), buying="1/4", items=FILMS, looked_at=3, **LONG),
        ratings,
    ),
    "long composed": (
        Columns(
            "ln(10)", "1/50", 2, schema=[*combinations(FILMS, 2), *combinations(FILMS, 3)], **LONG
        ),  # twenty groups
        ratings,
    ),
    "transactions": (
        Columns(2, "1/50", 3, schema=[["film 0", "film 1"]], person="who", item="film"),
        purchases,
    ),
    "wide": (Columns(2, "1/50", 3, schema=[["age", "town"], ["ill"]], levels={"age": 1}), people),
    "wide bounded": (
        Columns(
            2,
            "1/50",
            3,
            1,
            schema=[["age", "town"], ["ill", "town"]],
            levels={"age": 2},
            counts=True,
        ),
        people,
    ),
    "wide public": (Columns(2, "1/50", 3, groups=(1, 2), public=PEOPLE, levels={"age": 1}), people),
    "wide bought": (Columns(2, "1/50", 3, groups=2, buying=".5", levels={"age": 1}), people),
    "wide persons": (
        Columns(3, "1/20", 3, schema=[["town"], ["ill"]], unit="name", rows=2),
        people,
    ),
    "wide many": (
        Columns(
            "ln(100)",
            "1/20",
            2,
            schema=[[n] for n in ("town", "ill", "age")] * 2,
            levels={"age": 2},
        ),
        people,
    ),
}
every_method = pytest.mark.parametrize("name", METHODS)


def made(name: str, chance: Chance | None = None, **options: Any) -> shoal.Release:
    return METHODS[name][0].release(table_of(name, **options), chance)


def table_of(name: str, **options: Any) -> shoal.Table:
    return METHODS[name][1](**options)


# What the conformance suite asks of a method whatever the columns of the table are

globals().update(
    {
        name: test
        for name, test in vars(suite).items()
        if name.startswith("test_") and "tables" in signature(test).parameters
    }
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The suite's tests run for these methods."""
    if "tables" in metafunc.fixturenames:
        metafunc.parametrize(("method", "tables"), METHODS.values(), ids=METHODS)


def test_the_suite_runs_here() -> None:
    here = [name for name in globals() if name.startswith("test_") and hasattr(suite, name)]
    assert len(here) >= 10


@every_method
def test_the_promise_is_standard_and_names_the_unit(name: str) -> None:
    method, tables = METHODS[name]
    promise = method.promise(tables().schema).to_dict()
    assert promise["definition"] == "standard"
    assert promise["unit"] == (method.person or method.unit or "row")


@every_method
@pytest.mark.parametrize("size", [1, 2])
def test_tiny_tables_are_released(name: str, size: int, tmp_path: Path) -> None:
    table = table_of(name, rows=size)
    path = METHODS[name][0].release(table).write(tmp_path)
    assert shoal.verify(tmp_path / "certificate.json", path) == []


@every_method
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_every_kind_of_dataframe_gives_the_same_release(
    name: str, kind: Any, tmp_path: Path
) -> None:
    table = table_of(name, kind=kind)
    release = METHODS[name][0].release(table, Seeded(3))
    assert isinstance(release.table, type(kind({"a": [1]})))
    rows = [*nw.from_native(release.table, eager_only=True).iter_rows()]
    assert [tuple(None if v != v else v for v in row) for row in rows] == [
        *METHODS[name][0].release(table_of(name), Seeded(3)).table.iter_rows()
    ]
    columns = {column["name"] for column in release.certificate.columns}
    assert columns == set(nw.from_native(release.table, eager_only=True).columns)


@every_method
def test_progress_grows_and_stopping_stops(name: str) -> None:
    method, seen = METHODS[name][0], []
    method.release(table_of(name), progress=lambda *said: seen.append(said))
    assert [done / total for done, total, _ in seen] == sorted(
        done / total for done, total, _ in seen
    )
    assert seen[-1][0] == seen[-1][1]

    def stop(done: int, total: int, what: str) -> None:
        if done:
            raise Stopped("the caller asked to stop; nothing was written")

    with pytest.raises(Stopped):
        method.release(table_of(name), progress=stop)


def digests() -> list[str]:
    """Of all that every method shows, with seeded draws."""
    found = []
    for name in METHODS:
        release = made(name, Seeded(7))
        found.append(
            sha256((release.table.write_csv() + release.certificate.to_json()).encode()).hexdigest()
        )
    return found


def test_the_same_chance_gives_the_same_bytes_in_another_process() -> None:
    here = digests()
    program = "from tests.methods.test_columns import digests; print(*digests())"
    for seed, threads in (("1", "1"), ("2", "2")):
        settings = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "POLARS_MAX_THREADS": threads,
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=settings,
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout.split() == here


@every_method
def test_the_certificate_reveals_nothing_about_the_rows(name: str) -> None:
    if METHODS[name][0].buying:
        return  # it shows the schema, which was paid for
    one, other = (made(name, Seeded(1), rows=n, seed=n).certificate for n in (300, 344))
    assert replace(one, number="") == replace(other, number="")


# Leaks: a record that is never released shows in no byte, no type, no dictionary

SECRET = "Zanzibar, which is longer than twelve bytes"
FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "polars": pl.DataFrame,
    "polars categorical": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("x", "y").cast(pl.Categorical)
    ),
    "polars enum": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("x", "y").cast(pl.Enum([*"abcuvw", SECRET]))
    ),
    "pandas": pd.DataFrame,
    "pandas category": lambda columns: pd.DataFrame(columns).astype(
        {"x": "category", "y": "category"}
    ),
    "pandas ordered": lambda columns: pd.DataFrame(columns).astype(
        {name: pd.CategoricalDtype([SECRET, *"wvucba"], ordered=True) for name in ("x", "y")}
    ),
    "arrow": pa.table,
    "arrow dictionary": lambda columns: pa.table(
        {
            name: pa.array(v).dictionary_encode() if name in "xy" else pa.array(v)
            for name, v in columns.items()
        }
    ),
}


def everything(directory: Path, frame: Any, method: Columns, **roles: Any) -> dict[str, object]:
    """All that leaves, where every projection that k share is released surely."""
    release = method.release(shoal.table(frame, **roles), Seeded(1))
    told: dict[str, object] = {
        "paper": replace(release.certificate, number="").to_json(),
        "type": str(nw.from_native(release.table).schema),
    }
    told["native"] = str(getattr(release.table, "dtypes", "")) + str(
        getattr(release.table, "schema", "")
    )
    told |= {
        form: release.write(directory, form).read_bytes() for form in ("csv", "parquet", "arrow")
    }
    assert SECRET.encode() not in pickle.dumps(release.table)
    assert all(
        SECRET.encode() not in content for content in told.values() if isinstance(content, bytes)
    )
    assert len(release.table)
    return told


@pytest.fixture
def _all_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    def surely(
        count: npt.NDArray[np.int64], parameters: Any, chance: Chance
    ) -> npt.NDArray[np.int64]:
        return np.where(count >= parameters.k, count, 0)

    for module in (wide_form, long_form):
        monkeypatch.setattr(module, "noisy", surely)


@pytest.mark.usefixtures("_all_sure")
@pytest.mark.parametrize("kind", FRAMES)
def test_a_record_that_is_not_shared_shows_nowhere_in_long_form(kind: str, tmp_path: Path) -> None:
    who = [i for i in range(12) for _ in range(2)]
    x, y = ["a", "b"] * 12, [*"uv"] * 12
    roles = {"identifying": ["who"], "quasi": ["x"], "sensitive": ["y"]}
    method = Columns(50, "1/2", 3, schema=[["a", "b"], ["c"]], person="who", item="x", value="y")
    rows = [("a", SECRET), ("c", "w"), (SECRET, "u"), ("b", None), (None, "v")]
    without = everything(tmp_path, FRAMES[kind]({"who": who, "x": x, "y": y}), method, **roles)
    for more in ([row] for row in rows):
        extra = [-1] * len(more)
        columns: Any = {
            "who": [*extra, *who],
            "x": [*(a for a, _ in more), *x],
            "y": [*(b for _, b in more), *y],
        }
        assert everything(tmp_path, FRAMES[kind](columns), method, **roles) == without, more


@pytest.mark.usefixtures("_all_sure")
@pytest.mark.parametrize("kind", FRAMES)
def test_a_record_that_is_not_shared_shows_nowhere_in_a_wide_table(
    kind: str, tmp_path: Path
) -> None:
    method, roles = Columns(50, "1/2", 3, schema=[["x"], ["y", "z"]]), {"quasi": ["x", "y", "z"]}
    columns: dict[str, list[Any]] = {"x": [*"ab"] * 6, "y": [*"uv"] * 6, "z": [1, 2] * 6}
    without = everything(tmp_path, FRAMES[kind](columns), method, **roles)
    for more in ((SECRET, "w", 3), ("c", SECRET, 1)):
        added = {name: [value, *columns[name]] for name, value in zip("xyz", more, strict=True)}
        assert everything(tmp_path, FRAMES[kind](added), method, **roles) == without


# What is given


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "exactly one place; give `schema`, or `public`"),
        ({"schema": [["a"]], "groups": 2}, "`groups` is .*; give it with `public` or `buying`"),
        ({"buying": ".1"}, "`groups` is .*; give it with `public` or `buying`"),
        ({"schema": [["a"]], "buying": ".1"}, "exactly one place"),
        ({"buying": 1, "groups": 2}, "leaves nothing"),
        ({"buying": 0, "groups": 2}, "buying"),
        ({"schema": ["a", "b"]}, "list of groups"),
        ({"schema": "ab"}, "list of groups"),
        ({"schema": []}, "no group"),
        ({"schema": [[]]}, "without a name"),
        ({"schema": [["a", "a"]]}, "twice in one group"),
        ({"schema": [["a"]], "person": "p"}, "a `person` and an `item`"),
        ({"schema": [["a"]], "value": "v"}, "a `person` and an `item`"),
        ({"schema": [["a"]], "items": ["a"]}, "whose schema is computed"),
        ({"buying": ".1", "groups": 2, "person": "p", "item": "i"}, "declare them all"),
        ({"schema": [["a"]], "person": "p", "item": "i", "rows": 2}, "leave out `unit`"),
        ({"schema": [["a"]], "person": "row", "item": "i"}, "rename that column"),
        ({"schema": [["a"]], "rows": 2}, "`unit`"),
        (
            {"schema": [["a"]], "person": "p", "item": "i", "value": "i"},
            "cannot be both the `item`",
        ),
        ({"public": pl.DataFrame(), "groups": 2}, "is a DataFrame"),
        ({"schema": [["a"]], "most": 0}, "most=0"),
        ({"schema": [["a"]], "k": 0}, "k=0"),
        ({"schema": [["a"]], "looked_at": 0}, "looked_at=0"),
        ({"buying": ".1", "groups": 0}, "groups=0"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Columns(1, "1e-3", **options)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "x", None, 0])
def test_parameters_that_are_not_numbers_are_refused(wrong: Any) -> None:
    for name in ("epsilon", "delta"):
        with pytest.raises(ParameterError, match=name):
            Columns(**{"epsilon": 1, "delta": "1e-3", "schema": [["a"]], name: wrong})


@pytest.mark.parametrize(
    ("method", "table", "said"),
    [
        (Columns(1, "1e-3", schema=[["nowhere"]]), people(3), "'nowhere'"),
        (Columns(1, "1e-3", schema=[["name"]]), people(3), "'name'"),
        (
            Columns(1, "1e-3", schema=[["town"]], levels={"age": 1}),
            people(3),
            "no group of the schema has",
        ),
        (Columns(1, "1e-3", schema=[["age"]], levels={"age": 9}), people(3), "levels 0 to 2"),
        (Columns(1, "1e-3", schema=[["age"]], unit="town"), people(3), "not an identifying column"),
        (Columns(1, "1e-3", groups=2, public=ratings(3)), people(3), "lacks the columns"),
        (Columns(1, "1e-3", groups=9, public=people(3)), people(3), "9 groups of 3 columns"),
        (
            Columns(1, "1e-3", groups=99, public=ratings(3), **LONG),
            ratings(3),
            "99 groups of . items",
        ),
        (
            Columns(1, "1e-3", schema=[["a"]], person="film", item="who"),
            ratings(3),
            "not an identifying column",
        ),
        (Columns(1, "1e-3", schema=[["a"]], person="who", item="nowhere"), ratings(3), "'nowhere'"),
        (Columns(1, "1e-3", schema=[["a"]], person="who", item="film"), ratings(3), "'stars'"),
        (
            Columns(1, "1e-3", schema=[["a"]], person="who", item="stars", value="film"),
            ratings(3),
            "declared type of items, 'integer'",
        ),
        (Columns("1e-4", "1e-3", schema=[["town"], ["ill"]]), people(3), "epsilon"),
    ],
)
def test_what_a_table_lacks_is_named(method: Columns, table: shoal.Table, said: str) -> None:
    with pytest.raises(ShoalError, match=said):
        method.release(table)


def test_names_of_the_releases_own_columns_are_refused() -> None:
    for name in ("column_group", "count"):
        table = shoal.table(pl.DataFrame({name: [1]}), quasi=[name])
        with pytest.raises(ParameterError, match=name):
            Columns(1, "1e-3", schema=[[name]], counts=True).promise(table.schema)
    table = shoal.table(
        pl.DataFrame({"who": [1], "record": ["a"]}), quasi=["record"], identifying=["who"]
    )
    with pytest.raises(ParameterError, match="record"):
        Columns(1, "1e-3", schema=[["a"]], person="who", item="record").promise(table.schema)


def test_types_and_hierarchies_that_rows_decide_are_refused() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, 2], dtype=object)})
    with pytest.raises(ColumnError, match="read off its values"):
        Columns(1, "1e-3", schema=[["a"]]).release(shoal.table(frame, quasi=["a"]))
    tree = Hierarchy.from_lines([["1", "*"], ["2", "*"]], Kind.INTEGER, derived=True)
    with pytest.raises(HierarchyError, match="derived from the rows"):
        Columns(1, "1e-3", schema=[["a"]], levels={"a": 1}).release(
            shoal.table(pl.DataFrame({"a": [1, 2]}), quasi=["a"], hierarchies={"a": tree})
        )


def test_a_person_without_a_name_is_refused() -> None:
    frame = pl.DataFrame({"who": ["x", None], "film": ["a", "a"], "stars": [1, 1]})
    table = shoal.table(frame, identifying=["who"], quasi=["film"], sensitive=["stars"])
    with pytest.raises(ColumnError, match="'who'"):
        Columns(1, "1e-3", schema=[["a"]], **LONG).release(table)


def test_many_groups_are_composed_optimally_and_few_are_added_up() -> None:
    assert made("long composed").certificate.derived["composition"] == "optimal"
    assert made("long overlapping").certificate.derived["composition"] == "sum"


def test_duplicate_groups_are_released_and_paid_for_once() -> None:
    once = Columns(2, "1e-2", 3, schema=[["town"], ["ill"]]).release(people(), Seeded(1))
    twice = Columns(2, "1e-2", 3, schema=[["town"], ["ill"], ["town"]]).release(people(), Seeded(1))
    assert once.certificate.derived == twice.certificate.derived
    assert once.table.equals(twice.table)


# Recipes, the command line, the ledger

RECIPE = """
[source]
path = "ratings.csv"
types = {{ who = "text", film = "text", stars = "integer" }}
[roles]
who = "identifying"
film = "quasi"
stars = "sensitive"
[method]
name = "columns"
epsilon = 2
delta = "1/50"
k = 3
most = 2
person = "who"
item = "film"
value = "stars"
{schema}
[output]
format = "parquet"
"""


@pytest.mark.parametrize(
    "schema",
    [
        'schema = [["film 0", "film 1"], ["film 2", "film 3", "film 4"]]',
        'groups = [2, 3]\npublic = "public.csv"',
        'groups = 2\nbuying = 0.25\nitems = ["film 0", "film 1", "film 2"]',
    ],
)
def test_a_recipe_releases_the_long_form(
    schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nw.to_native(ratings().frame).write_csv("ratings.csv")
    nw.to_native(PUBLIC.frame).write_csv("public.csv")
    Path("recipe.toml").write_text(RECIPE.format(schema=schema))
    shoal.Ledger.create("ledger.db", epsilon=3, delta="1/10")
    for command in (
        ["recipe", "check", "recipe.toml"],
        ["release", "recipe.toml", "--out", "out", "--ledger", "ledger.db"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert "Private Person" not in done.output
    assert (
        CliRunner().invoke(app, ["verify", "out/certificate.json", "out/release.parquet"]).exit_code
        == 0
    )
    assert shoal.Release.read("out").table.columns == ["record", "column_group", "film", "stars"]
    assert str(shoal.Ledger("ledger.db").spent().epsilon) == "2"
    assert (
        CliRunner()
        .invoke(app, ["release", "recipe.toml", "--out", "two", "--ledger", "ledger.db"])
        .exit_code
        != 0
    )


def test_a_recipe_releases_a_wide_table_and_refuses_itself_as_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nw.to_native(people().frame).write_csv("ratings.csv")
    nw.to_native(PEOPLE.frame).write_csv("public.csv")
    head = (
        RECIPE.format(schema="")
        .split("[roles]")[0]
        .replace('who = "text", film = "text", stars', 'name = "text", age')
    )
    text = (
        head
        + """
[roles]
name = "identifying"
age = "quasi"
town = "quasi"
ill = "sensitive"
[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]
[method]
name = "columns"
epsilon = "ln(9)"
delta = "1/50"
k = 3
groups = 2
public = "public.csv"
levels = { age = 1 }
unit = "name"
rows = 2
counts = true
"""
    )
    Path("recipe.toml").write_text(text)
    done = CliRunner().invoke(app, ["release", "recipe.toml", "--out", "out"])
    assert done.exit_code == 0, done.output
    checked = CliRunner().invoke(
        app, ["verify", "out/certificate.json", "out/release.csv", "--recipe", "recipe.toml"]
    )
    assert checked.exit_code == 0, checked.output
    judged = CliRunner().invoke(app, ["judge", "recipe.toml", "--release", "out"])
    assert judged.exit_code == 2
    assert "parts of records" in judged.output
    Path("recipe.toml").write_text(text.replace("public.csv", "ratings.csv"))
    done = CliRunner().invoke(app, ["release", "recipe.toml", "--out", "two"])
    assert done.exit_code == 2
    assert "the source itself" in done.output


def test_a_public_table_may_spell_items_differently(tmp_path: Path) -> None:
    def numbered(kind: type[pl.DataType]) -> shoal.Table:
        rows = [(who, item, who % 2) for who in range(40) for item in (2, 9, 10, 11)]
        frame = pl.DataFrame(rows, schema=["who", "film", "stars"], orient="row").with_columns(
            pl.col("film").cast(kind)
        )
        return shoal.table(frame, identifying=["who"], quasi=["film"], sensitive=["stars"])

    method = Columns(50, "1/2", 3, groups=1, public=numbered(pl.String), **LONG)
    release = method.release(numbered(pl.Int64))
    assert release.certificate.derived["schema"] == [["2", "9", "10", "11"]]
    assert release.table["film"].head(4).to_list() == [2, 9, 10, 11]
    assert shoal.verify(tmp_path / "certificate.json", release.write(tmp_path)) == []


def test_the_private_table_is_not_accepted_as_the_public_one() -> None:
    table = people(3)
    with pytest.raises(ParameterError, match="nobody's secret"):
        Columns(1, "1e-3", groups=2, public=table).release(table)


def test_too_many_groups_are_refused_before_a_ledger_counts_them() -> None:
    with pytest.raises(ParameterError, match="9 groups of 3 columns"):
        schema_of(people(3), [1, 9])
    with pytest.raises(ParameterError, match="4 groups of 3 columns"):
        Columns(1, "1e-3", groups=4, buying=".1").promise(people(3).schema)
