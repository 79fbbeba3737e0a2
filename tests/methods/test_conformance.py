"""What every method keeps (docs/architecture.md), checked for all of them by one suite. A new method is one line in METHODS."""

import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.chance import Chance, Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.sources import Memory
from shoal.data.tables import Table
from shoal.errors import (
    ColumnError,
    HierarchyError,
    InfeasibleError,
    InputError,
    ParameterError,
    ShoalError,
    Stopped,
)
from shoal.methods import Method, Progress, Schema
from shoal.methods.coincident import Coincident
from shoal.methods.disclosure import Disclosure
from shoal.methods.mondrian import Mondrian
from shoal.methods.noisy_counts import KDGS, NoisyCounts
from shoal.methods.optimal import Optimal
from shoal.methods.personal import Personal
from shoal.methods.safepub import SafePub
from shoal.methods.sampling import RandomSample
from shoal.privacy.models import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    TCloseness,
)
from shoal.privacy.promises import Promise
from shoal.releases.release import Release
from shoal.releases.verification import verify
from shoal.views import Register
from shoal.views.released import as_views
from tests.conftest import ROOT

BOTH = (KAnonymity(3), DistinctDiversity("ill", 2))

METHODS: dict[str, Method] = {
    "disclosure": Disclosure(BOTH),
    "disclosure local": Disclosure(BOTH, local=True),
    "disclosure, entropy": Disclosure(
        (EntropyDiversity("ill", "3/2"),), floor={"age": 1}, local=True
    ),
    "mondrian strict": Mondrian(BOTH),
    "mondrian relaxed": Mondrian(BOTH, relaxed=True),
    "mondrian observed": Mondrian(BOTH, ranges="observed"),
    "mondrian close": Mondrian((KAnonymity(2), TCloseness("ill", "1/2"), BetaLikeness("ill", 3))),
    "optimal": Optimal(BOTH, suppression="1/10"),
    "optimal starred": Optimal(BOTH, suppression="1/10", suppressed="star"),
    "sampling": RandomSample("1/2"),
    "safepub": SafePub(
        "1/2", "2/5", ceiling={"age": 1}
    ),  # k = 1, and never all columns at their roots
    "noisy counts": NoisyCounts(1, "9/10", k=1, levels={"age": 1}),
    "noisy counts, standard": NoisyCounts(1, "9/10", k=1, definition="standard", counts=True),
    "k-dgs": KDGS(1, levels={"age": 1}),
    "personal": Personal("1/2"),
    "personal, harmonic": Personal("2/3", model="harmonic", measure="log", weights={"age": 2}),
    "personal, genetic": Personal("1/2", "genetic", effort=20),
    "personal, relaxed": Personal("1/2", "relaxed", effort=20),
    "personal, lagrangian": Personal("1/2", "lagrangian", effort=20),
    "coincident": Coincident((DistinctDiversity("ill", 2),), 4),
    "coincident, interleaved": Coincident(
        (DistinctDiversity("ill", 2),),
        4,
        "interleaved",
        order="curve",
        ranges="hierarchy",
        spare="records",
    ),
    "safepub walk": SafePub("1/2", "2/5", ceiling={"age": 1}, search="walk", steps=5),
}
SAMPLES = (
    RandomSample,
    SafePub,
    NoisyCounts,
    KDGS,
    Coincident,
)  # which release some of the rows, by chance or by how many are alike

AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)
PLACES = Hierarchy.from_lines(
    [
        ["Zürich", "south", "*"],
        ["Genève", "south", "*"],
        ["Łódź", "east", "*"],
        ["東京", "far", "*"],
        ["Oslo", "north", "*"],
    ]
)
TOWNS = ["Zürich", "Genève", "Łódź", "東京", "Oslo"]

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def people(rows: int = 200, seed: int = 5, kind: Any = pl.DataFrame, **options: Any) -> Table:
    """A table whose insensitive column `tag` is unique and says nothing about the order of the rows."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "name": [f"Private Person {i}" for i in range(rows)],
        "age": random.integers(0, 100, rows).tolist(),
        "town": random.choice(TOWNS, rows).tolist(),
        "ill": random.choice(["grippe", "größe", "gout"], rows).tolist(),
        "tag": random.permutation(rows).tolist(),
    }
    return table(kind(columns), **options)


def table(frame: Any, **options: Any) -> Table:
    roles: dict[str, Any] = {
        "quasi": ["age", "town"],
        "sensitive": ["ill"],
        "identifying": ["name"],
        "insensitive": ["tag"],
    }
    return shoal.table(frame, **{**roles, "hierarchies": {"age": AGES, "town": PLACES}, **options})


def columns_of(method: Method) -> list[str]:
    own = ["group"] if isinstance(method, Coincident) else []
    return [
        *own,
        "age",
        "town",
        "ill",
        "tag",
        *(["count"] if getattr(method, "counts", False) else []),
    ]


def rows_of(release: Release) -> list[dict[str, Any]]:
    return list(nw.from_native(release.table, eager_only=True).iter_rows(named=True))


def covered(text: str | None, leaves: list[str], hierarchy: Hierarchy) -> set[str]:
    """The leaves that a released text stands for, read by someone who has only the docs."""
    if text is None:
        return {""}
    if text.endswith(" or missing"):
        return {"", *covered(text.removesuffix(" or missing"), leaves, hierarchy)}
    for level, labels in enumerate(hierarchy.labels):
        if text in labels:
            return {
                leaf
                for leaf, code in zip(hierarchy.labels[0], hierarchy.maps[level], strict=True)
                if labels[code] == text
            }
    if match := re.fullmatch(r"(\d+)-(\d+)", text):
        return {str(number) for number in range(int(match[1]), int(match[2]) + 1)}
    assert text[0] == "{"
    assert text[-1] == "}"
    return set().union(*(covered(part, leaves, hierarchy) for part in text[1:-1].split(", ")))


# 1. The certificate's promise is the one stated beforehand, and verify agrees


@every_method
def test_the_promise_is_stated_before_any_data_is_seen(method: Method) -> None:
    full, empty = people(), people(0)
    stated = method.promise(Schema.of(empty))
    release = method.release(full)
    assert release.certificate.promise == stated.to_dict()
    assert release.certificate.statement == stated.statement
    assert release.certificate.method == method.name
    assert set(release.certificate.parameters) == {field.name for field in fields(method)}  # type: ignore[arg-type]
    assert release.certificate.private


@every_method
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_verify_agrees_and_finds_a_changed_byte(method: Method, form: Any, tmp_path: Path) -> None:
    path = method.release(people()).write(tmp_path, form)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path) == []
    for file in (path, paper):
        content = file.read_bytes()
        for place in (len(content) // 3, len(content) // 2, len(content) - 2):
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert verify(paper, path)
        file.write_bytes(content)


@every_method
def test_a_method_is_frozen_and_equal_to_one_with_the_same_parameters(method: Method) -> None:
    assert method == replace(method)  # type: ignore[type-var]
    with pytest.raises(FrozenInstanceError):
        setattr(method, fields(method)[0].name, None)  # type: ignore[arg-type]


# 2. Truthful, and identifying columns never leave


@every_method
@pytest.mark.parametrize("missing", [False, True])
def test_only_generalisations_of_what_was_there_are_released(method: Method, missing: bool) -> None:
    given = people()
    if missing:
        frame = nw.to_native(given.frame).with_columns(
            age=pl.when(pl.col("tag") % 9 == 0).then(None).otherwise(pl.col("age")),
            town=pl.when(pl.col("tag") % 7 == 0).then(None).otherwise(pl.col("town")),
        )
        given = table(frame)
    truth = {row["tag"]: row for row in nw.to_native(given.frame).iter_rows(named=True)}
    released = rows_of(method.release(given))
    assert released
    assert len({row["tag"] for row in released}) == len(released) or isinstance(method, NoisyCounts)
    for row in released:
        was = truth[row["tag"]]
        assert row["ill"] == was["ill"]
        for name in given.quasi:
            hierarchy = given.hierarchy(name)
            text = None if row[name] is None else str(row[name])
            assert ("" if was[name] is None else str(was[name])) in covered(text, [], hierarchy)


@every_method
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_identifying_columns_never_leave(method: Method, form: Any, tmp_path: Path) -> None:
    release = method.release(people())
    assert nw.from_native(release.table, eager_only=True).columns == columns_of(method)
    path = release.write(tmp_path, form)
    for file in tmp_path.iterdir():
        assert b"Private Person" not in file.read_bytes()
        assert b'"name": {' not in file.read_bytes()
    assert "Private Person" not in repr(release.certificate)
    assert path.exists()


@every_method
def test_an_unmentioned_column_is_an_error_that_names_it(method: Method) -> None:
    frame = nw.to_native(people().frame)
    with pytest.raises(ColumnError, match="'tag'"):
        method.release(table(frame, insensitive=[]))


# 3. Nothing tells of the input's order or index


def order_told(given: Table, release: Release) -> float:
    """The correlation of the places of the same records in the input and in the release, in standard deviations."""
    before = {tag: place for place, tag in enumerate(given.frame["tag"].to_list())}
    places = np.array([before[row["tag"]] for row in rows_of(release)], dtype=float)
    found = float(np.corrcoef(places, np.arange(len(places)))[0, 1])
    return abs(found) * math.sqrt(len(places))


@dataclass(frozen=True)
class Leaky:
    """A broken twin: the rows of a right release in the order of the input, the index and all."""

    right: Any
    name: ClassVar[str] = "leaky"

    def promise(self, schema: Schema) -> Promise:
        promise: Promise = self.right.promise(schema)
        return promise

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        made: Release = self.right.release(table, chance, progress=progress)
        before = {tag: place for place, tag in enumerate(table.frame["tag"].to_list())}
        order = sorted(
            range(len(made.table)),
            key=lambda row: before[made.table["tag"][row]] + 7000 * (row % 5),
        )
        return replace(made, table=made.table[order])


@every_method
def test_nothing_tells_of_the_inputs_order(method: Method) -> None:
    given = people(30_000)
    assert order_told(given, method.release(given)) < 4.9  # beyond once in a million


def test_the_canary_finds_a_method_that_tells_of_the_order() -> None:
    given = people(30_000)
    assert order_told(given, Leaky(METHODS["sampling"]).release(given)) > 4.9


@every_method
def test_the_same_rows_in_another_order_give_the_same_release(method: Method) -> None:
    given = people(kind=pd.DataFrame)
    frame = nw.to_native(given.frame).sample(frac=1, random_state=1)
    frame.index = frame.index * 17 + 3
    one, other = method.release(given, Seeded(1)), method.release(table(frame), Seeded(1))
    assert rows_of(one) == rows_of(other)
    assert one.certificate == other.certificate
    assert list(other.table.index) == list(range(len(other.table)))


@every_method
def test_the_certificate_does_not_tell_the_number_of_records(method: Method) -> None:
    one, other = (
        method.release(people(rows, seed), Seeded(1)).certificate
        for rows, seed in ((400, 1), (443, 2))
    )
    assert replace(one, levels={}, number="") == replace(other, levels={}, number="")


# 4. The same source of chance gives the same bytes


def written(name: str, directory: Path) -> list[bytes]:
    METHODS[name].release(people(), Seeded(7)).write(directory)
    return [file.read_bytes() for file in sorted(directory.iterdir())]


def test_the_same_chance_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    here = {name: written(name, tmp_path / "here" / name) for name in METHODS}
    program = (
        "from pathlib import Path; from tests.methods.test_conformance import METHODS, written\n"
        "for name in METHODS: written(name, Path('there') / name)"
    )
    root = ROOT
    for seed, threads in (("1", "1"), ("2", "2")):
        settings = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "POLARS_MAX_THREADS": threads,
            "PYTHONPATH": str(root),
        }
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=settings, check=True)
        for name, content in here.items():
            there = [file.read_bytes() for file in sorted((tmp_path / "there" / name).iterdir())]
            assert there == content, name


@every_method
def test_the_default_chance_is_not_seeded(method: Method) -> None:
    one, other = method.release(people()), method.release(people())
    assert one.certificate.number != other.certificate.number


@every_method
def test_a_seeded_release_is_marked(method: Method) -> None:
    assert not method.release(people(), Seeded(1)).certificate.private


# 5. A right answer or a clear error


def released_or_infeasible(method: Method, given: Table) -> Release | None:
    try:
        return method.release(given)
    except InfeasibleError as error:
        assert_clear(error)
        return None


def assert_clear(error: ShoalError) -> None:
    message = str(error)
    assert len(message) > 20
    assert "SECRET" not in message
    assert not any(town in message for town in TOWNS)


@every_method
def test_an_empty_table_gives_an_empty_release(method: Method, tmp_path: Path) -> None:
    release = method.release(people(0))
    assert len(release.table) == 0
    assert list(release.table.columns) == columns_of(method)
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []


@every_method
def test_one_row_is_released_or_clearly_refused(method: Method) -> None:
    release = released_or_infeasible(method, people(1))
    assert release is None or len(release.table) <= 1 or isinstance(method, NoisyCounts)


@every_method
def test_a_table_of_one_column_is_released(method: Method) -> None:
    frame = pl.DataFrame({"age": list(range(50)) * 2})
    given = shoal.table(frame, quasi=["age"], hierarchies={"age": AGES})
    if {column for model in getattr(method, "models", ()) for column in model.columns}:
        with pytest.raises(ShoalError, match="'ill'") as caught:
            method.release(given)
        assert_clear(caught.value)
        method = replace(method, models=(KAnonymity(3),))  # type: ignore[type-var]
    assert (
        0 < len(method.release(given).table) <= (1000 if isinstance(method, NoisyCounts) else 100)
    )


@every_method
def test_rows_that_are_all_alike_are_one_group(method: Method) -> None:
    frame = pl.DataFrame(
        {
            "name": [f"Private {i}" for i in range(50)],
            "age": [31] * 50,
            "town": ["Oslo"] * 50,
            "ill": ["a", "b"] * 25,
            "tag": [1] * 50,
        }
    )
    released = rows_of(method.release(table(frame)))
    assert len({(row["town"], row["age"]) for row in released}) == 1
    assert len(released) == 50 or isinstance(method, SAMPLES)


@every_method
def test_rows_that_are_all_different_are_grouped_or_clearly_refused(method: Method) -> None:
    frame = pl.DataFrame(
        {
            "name": [f"Private {i}" for i in range(100)],
            "age": list(range(100)),
            "town": TOWNS * 20,
            "ill": [f"ill {i}" for i in range(100)],
            "tag": range(100),
        }
    )
    release = released_or_infeasible(method, table(frame))
    if not isinstance(method, (*SAMPLES, Personal)) and release is not None:
        groups = (
            nw.from_native(release.table, eager_only=True).group_by("age", "town").agg(nw.len())
        )
        assert groups["len"].min() >= 2


@every_method
def test_missing_values_are_a_category_or_refused(method: Method, tmp_path: Path) -> None:
    frame = nw.to_native(people().frame).with_columns(
        age=pl.when(pl.col("tag") % 3 == 0).then(None).otherwise(pl.col("age")),
        ill=pl.when(pl.col("tag") % 5 == 0).then(None).otherwise(pl.col("ill")),
    )
    path = method.release(table(frame, missing="category")).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    with pytest.raises(ColumnError, match="missing") as caught:
        method.release(table(frame, missing="refuse"))
    assert_clear(caught.value)


@every_method
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_non_ascii_values_survive_in_every_kind_of_dataframe(
    method: Method, kind: Callable[..., Any], tmp_path: Path
) -> None:
    release = method.release(people(kind=kind))
    assert isinstance(release.table, type(kind({"a": [1]})))
    assert "größe" in {row["ill"] for row in rows_of(release)}
    path = release.write(tmp_path)
    assert "größe".encode() in path.read_bytes()
    assert verify(tmp_path / "certificate.json", path) == []


@every_method
def test_a_value_outside_its_hierarchy_is_counted_not_shown(method: Method) -> None:
    frame = nw.to_native(people().frame).with_columns(
        town=pl.when(pl.col("tag") == 5).then(pl.lit("SECRET")).otherwise(pl.col("town"))
    )
    if isinstance(method, RandomSample):  # needs no hierarchy, releases values as they are
        assert method.release(table(frame)).table is not None
        return
    with pytest.raises(HierarchyError, match="'town'") as caught:
        method.release(table(frame))
    assert_clear(caught.value)


@pytest.mark.parametrize(
    ("values", "guessed"),
    [
        (pd.Series(["a", "b"], dtype="category"), False),
        (pd.Series([1, 2], dtype=object).astype("category"), True),
        (pd.Series([1, "b"], dtype=object).astype("category"), True),
        (pd.Series([1, 2], dtype=object), True),
        (pd.Series([1, 2]), False),
    ],
)
def test_safepub_refuses_types_that_one_odd_value_would_change(
    values: "pd.Series[Any]", guessed: bool
) -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Oslo"], "value": values})
    schema = Schema.of(
        shoal.table(frame, quasi=["town"], insensitive=["value"], hierarchies={"town": PLACES})
    )
    assert schema.guessed == ({"value"} if guessed else set())
    if guessed:
        with pytest.raises(ColumnError, match="column 'value' would be read off its values"):
            SafePub(1, "1e-6").promise(schema)
    else:
        SafePub(1, "1e-6").promise(schema)


@every_method
def test_a_value_of_the_wrong_type_is_counted_not_shown(method: Method) -> None:
    frame = nw.to_native(people().frame).with_columns(
        age=pl.when(pl.col("tag") == 5)
        .then(pl.lit("SECRET"))
        .otherwise(pl.col("age").cast(pl.String))
    )
    with pytest.raises(ColumnError, match="'age'") as caught:
        method.release(table(frame))
    assert_clear(caught.value)


def test_a_hierarchy_with_two_roots_never_reaches_a_method() -> None:
    with pytest.raises(HierarchyError, match="2 roots"):
        Hierarchy.from_lines([["a", "north"], ["b", "south"]])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, "nan", "x", None])
@every_method
def test_parameters_that_are_no_numbers_are_refused(method: Method, wrong: Any) -> None:
    refused = 0
    for field in fields(method):  # type: ignore[arg-type]
        if field.name in ("probability", "suppression", "epsilon", "delta", "split", "utility"):
            with pytest.raises(ParameterError, match=field.name):
                replace(method, **{field.name: wrong})  # type: ignore[type-var]
            refused += 1
        if field.name == "k" and (
            wrong is not None or isinstance(method, KDGS)
        ):  # None is the k of noisy counts by itself
            with pytest.raises(ParameterError, match="k="):
                replace(method, k=wrong)  # type: ignore[type-var]
            refused += 1
        if field.name == "models":
            with pytest.raises(ParameterError, match="k="):
                replace(method, models=(KAnonymity(wrong),))  # type: ignore[type-var]
            refused += 1
    assert refused


@every_method
def test_a_table_without_hierarchies_or_quasi_identifying_columns_is_a_clear_error_or_released(
    method: Method,
) -> None:
    frame = nw.to_native(people().frame)
    without: list[dict[str, Any]] = [
        {"hierarchies": {}},
        {"quasi": [], "insensitive": ["tag", "age", "town"]},
    ]
    for options in without:
        try:
            assert method.release(table(frame, **options)).table is not None
        except ShoalError as error:
            assert_clear(error)


# 6. Progress and cancelling


@every_method
def test_progress_is_reported_and_tells_no_value(method: Method) -> None:
    seen: list[tuple[int, int, str]] = []
    method.release(people(), progress=lambda *given: seen.append(given))
    assert seen
    for done, total, what in seen:
        assert 0 <= done <= total
        assert what
        assert not any(town in what for town in TOWNS)
    assert [done / max(total, 1) for done, total, _ in seen] == sorted(
        done / max(total, 1) for done, total, _ in seen
    )


@every_method
def test_stopping_leaves_nothing_written(method: Method, tmp_path: Path) -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("the caller asked to stop; nothing was written")

    with pytest.raises(Stopped):
        method.release(people(), progress=stop).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


# 7. Beside other releases: what a method shows is either views that are true of the table, or no view


@every_method
def test_a_release_becomes_views_that_are_true_or_is_refused_as_none(method: Method) -> None:
    given = people(kind=pl.DataFrame)
    ill = given.frame["ill"].to_list()
    register = Register(
        Table(Memory(given.frame.select("age", "town")), hierarchies=given.hierarchies)
    )
    release = method.release(given)
    if as_views(method.name) is None:
        with pytest.raises(InputError, match="not a view"):
            register.of_release(release, "it", "ill")
        return
    shown = register.of_release(release, "it", "ill")
    assert sum(view.size for view in shown) == len(rows_of(release))
    for view in shown:
        inside = Counter(ill[person] for person in view.members)
        assert all(inside[value] >= often for value, often in view.shown.items())
        assert view.parts or inside == view.shown
    assert register.notes or not any(view.parts for view in shown)
