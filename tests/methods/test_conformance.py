"""What every method keeps (docs/project/architecture.md), checked for all methods of the
catalogue by one suite.

What differs between methods is read from their entries. A new method is one line in `examples`;
without it the suite fails. The tests take a fixture `method`, so that another module can run them
over methods of its own (test_toy does).
"""

import inspect
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
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
from shoal.data.schema import Role, Schema
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
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.methods.method import Method, Progress
from shoal.methods.safepub import SafePub
from shoal.privacy.models import KAnonymity
from shoal.privacy.promises import Promise
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import verify
from shoal.views import Register
from tests.conftest import ROOT
from tests.methods.examples import (
    AGES,
    EXAMPLES,
    METHODS,
    PLACES,
    TOWNS,
    Tables,
    people,
    table,
    written,
)

NUMBERS = (Exact, Exact | None, Epsilon | Exact, int, int | None)
"""The types of parameters that are numbers."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes a method runs for all of them.

    One that also takes `tables` needs no column in particular, so it runs for the long form too.
    """
    if "tables" in metafunc.fixturenames:
        metafunc.parametrize(("method", "tables"), EXAMPLES.values(), ids=EXAMPLES)
    elif "method" in metafunc.fixturenames:
        metafunc.parametrize("method", METHODS.values(), ids=METHODS)


def test_every_method_of_the_catalogue_has_an_example() -> None:
    assert {method.name for method in METHODS.values()} == set(CATALOGUE)


def entry(method: Method) -> Entry:
    return entry_of(method.name)


def rows_of(release: Release) -> list[dict[str, Any]]:
    """The rows of the released table."""
    return rows_in(release.table)


def rows_in(frame: Any) -> list[dict[str, Any]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows(named=True))


def every_table(release: Release) -> Iterator[list[dict[str, Any]]]:
    """The rows of all tables that are released."""
    yield from map(rows_in, (release.table, *release.further.values()))


def columns_in(frame: Any) -> list[str]:
    return list(nw.from_native(frame, eager_only=True).columns)


def values_of(release: Release, column: str) -> set[Any]:
    """The values of a column, in whichever table it is."""
    return {row[column] for rows in every_table(release) for row in rows if column in row}


def assert_columns(method: Method, release: Release, given: Table) -> None:
    """The release has what the table may release and what the method adds, and no more."""
    names = columns_in(release.table)
    counted = ["count"] if getattr(method, "counts", False) else []
    numbered = ["record"] if getattr(method, "person", None) else []  # a record has several rows
    released = list(given.schema.released)
    groups = getattr(method, "schema", None)
    if groups and not numbered:
        grouped = {name for group in groups for name in group}
        released = [name for name in released if name in grouped]
    expected = [*released, *entry(method).adds, *numbered, *counted]
    assert list(release.further) == list(entry(method).tables)
    if release.further:
        every = {*names, *(name for each in release.further.values() for name in columns_in(each))}
        assert every == {*expected, "count"}
        assert [column["name"] for column in release.certificate.columns][: len(names)] == names
    else:
        assert sorted(names) == sorted(expected)
        assert [name for name in names if name in given.names] == released


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


def parameters_of(method: Method) -> set[str]:
    """The names of a method's parameters."""
    return {field.name for field in fields(method)}  # type: ignore[arg-type]


# 1. The certificate's promise is the one stated beforehand, and verify agrees


def test_the_promise_is_stated_before_any_data_is_seen(method: Method, tables: Tables) -> None:
    full, empty = tables(), tables(0)
    stated = method.promise(empty.schema)
    release = method.release(full)
    assert release.certificate.promise == stated.to_dict()
    assert release.certificate.statement == stated.statement
    assert release.certificate.method == method.name
    assert set(release.certificate.parameters) == parameters_of(method)
    assert release.certificate.private


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_verify_agrees_and_finds_a_changed_byte(
    method: Method, tables: Tables, form: Any, tmp_path: Path
) -> None:
    given = tables()
    trees = {name: tree for name, tree in given.hierarchies.items() if name == "age"}
    path = method.release(given).write(tmp_path, form)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path) == []
    assert verify(paper, path, trees) == []
    for file in sorted(tmp_path.iterdir()):
        content = file.read_bytes()
        for place in (len(content) // 3, len(content) // 2, len(content) - 2):
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert verify(paper, path)
        file.write_bytes(content)


def test_a_method_is_frozen_and_equal_to_one_with_the_same_parameters(method: Method) -> None:
    assert method == replace(method)  # type: ignore[type-var]
    with pytest.raises(FrozenInstanceError):
        setattr(method, fields(method)[0].name, None)  # type: ignore[arg-type]


# 2. Truthful, and identifying columns never leave


@pytest.mark.parametrize("missing", [False, True])
def test_only_generalisations_of_what_was_there_are_released(method: Method, missing: bool) -> None:
    given = people()
    if missing:
        frame = nw.to_native(given.frame).with_columns(
            age=pl.when(pl.col("tag") % 9 == 0).then(None).otherwise(pl.col("age")),
            town=pl.when(pl.col("tag") % 7 == 0).then(None).otherwise(pl.col("town")),
        )
        given = table(frame)
    truth = {row["tag"]: row for row in rows_in(given.frame)}
    release = method.release(given)
    released = rows_of(release)
    assert released
    tags = [row["tag"] for row in released if row["tag"] is not None]
    assert len(set(tags)) == len(tags) or not entry(method).truthful
    for row in released:
        if row["tag"] is None:  # a part of a record
            assert any(is_shown(row, was, given, method) for was in truth.values())
        else:
            assert is_shown(row, truth[row["tag"]], given, method)
    assert values_of(release, "ill") - {None} <= {row["ill"] for row in truth.values()}


def is_shown(row: dict[str, Any], was: dict[str, Any], given: Table, method: Method) -> bool:
    """Whether a released row shows nothing but generalisations of a record; where rows are parts,
    nulls show nothing.
    """
    parts = bool(entry(method).not_judged)
    for name in ("age", "town", "ill"):
        if name not in row or (parts and row[name] is None):
            continue
        text = None if row[name] is None else str(row[name])
        original = "" if was[name] is None else str(was[name])
        if name not in given.hierarchies:
            if text != was[name]:
                return False
        elif original not in covered(text, [], given.hierarchy(name)):
            return False
    return True


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_identifying_columns_are_never_released(
    method: Method, tables: Tables, form: Any, tmp_path: Path
) -> None:
    release = method.release(tables())
    assert_columns(method, release, tables())
    path = release.write(tmp_path, form)
    for file in tmp_path.iterdir():
        assert b"Private Person" not in file.read_bytes()
        for name in tables().having(Role.IDENTIFYING):
            assert f'"{name}": {{'.encode() not in file.read_bytes()
    assert "Private Person" not in repr(release.certificate)
    assert path.exists()


def test_an_unmentioned_column_is_an_error_that_names_it(method: Method) -> None:
    frame = nw.to_native(people().frame)
    with pytest.raises(ColumnError, match="'tag'"):
        method.release(table(frame, insensitive=[]))


# 3. Nothing tells of the input's order or index


def order_told(given: Table, release: Release, method: Method) -> float:
    """How places in the input agree with those in the release, and with any numbers that the method
    adds.

    The largest correlation, in standard deviations.
    """
    before = {tag: place for place, tag in enumerate(given.frame["tag"].to_list())}
    rows = [row for row in rows_of(release) if row["tag"] is not None]
    places = np.array([before[row["tag"]] for row in rows], dtype=float)
    numbers = [np.arange(len(places))]
    numbers += [np.array([row[name] for row in rows]) for name in entry(method).adds]
    return max(
        abs(float(np.corrcoef(places, each)[0, 1])) * math.sqrt(len(places))
        for each in numbers
        if len(set(each.tolist())) > 1
    )


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


def test_nothing_tells_of_the_inputs_order(method: Method) -> None:
    given = people(30_000)
    assert order_told(given, method.release(given), method) < 4.9  # beyond once in a million


def test_the_canary_finds_a_method_that_tells_of_the_order() -> None:
    given = people(30_000)
    sampling = METHODS["sampling"]
    assert order_told(given, Leaky(sampling).release(given), sampling) > 4.9


def test_the_same_rows_in_another_order_give_the_same_release(
    method: Method, tables: Tables
) -> None:
    if getattr(method, "unit", None):
        return  # which rows of a person are drawn depends on their order; their law does not
    given = tables(kind=pd.DataFrame)
    frame = nw.to_native(given.frame).sample(frac=1, random_state=1)
    frame.index = frame.index * 17 + 3
    shuffled = replace(given, source=Memory.of(frame))
    one, other = method.release(given, Seeded(1)), method.release(shuffled, Seeded(1))
    assert list(every_table(one)) == list(every_table(other))
    assert one.certificate == other.certificate
    assert list(other.table.index) == list(range(len(other.table)))


def test_the_certificate_does_not_reveal_the_number_of_records(
    method: Method, tables: Tables
) -> None:
    if getattr(method, "buying", None):
        return  # it shows the schema, which was paid for
    one, other = (
        method.release(tables(rows, seed), Seeded(1)).certificate
        for rows, seed in ((400, 1), (444, 2))
    )
    assert hidden(one, method) == hidden(other, method)


def hidden(paper: Certificate, method: Method) -> Certificate:
    """A certificate but for what may depend on the rows."""
    # Where every sensitive value is released in a table of its own, its frequency is no secret.
    derived = {} if entry(method).tables else paper.derived
    return replace(paper, levels={}, number="", derived=derived)


# 4. The same source of chance gives the same bytes


def test_the_same_chance_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    here = {name: written(name, tmp_path / "here" / name) for name in EXAMPLES}
    program = (
        "from pathlib import Path; from tests.methods.examples import EXAMPLES, written\n"
        "for name in EXAMPLES: written(name, Path('there') / name)"
    )
    for seed, threads in (("1", "1"), ("2", "2")):
        settings = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "POLARS_MAX_THREADS": threads,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=settings, check=True)
        for name, content in here.items():
            there = [file.read_bytes() for file in sorted((tmp_path / "there" / name).iterdir())]
            assert there == content, name


def test_the_default_chance_is_not_seeded(method: Method, tables: Tables) -> None:
    one, other = method.release(tables()), method.release(tables())
    assert one.certificate.number != other.certificate.number


def test_a_seeded_release_is_marked(method: Method, tables: Tables) -> None:
    assert not method.release(tables(), Seeded(1)).certificate.private


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


def test_an_empty_table_gives_an_empty_release(
    method: Method, tables: Tables, tmp_path: Path
) -> None:
    release = method.release(tables(0))
    assert not any(every_table(release))
    assert_columns(method, release, tables(0))
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []


def test_one_row_is_released_or_clearly_refused(method: Method) -> None:
    release = released_or_infeasible(method, people(1))
    assert release is None or len(release.table) <= 1 or not entry(method).truthful


def test_a_table_of_one_column_is_released_unless_the_method_names_another(method: Method) -> None:
    frame = pl.DataFrame({"age": list(range(50)) * 2})
    given = shoal.table(frame, quasi=["age"], hierarchies={"age": AGES})
    for_ages = without_other_columns(method)
    if for_ages != method:
        with pytest.raises(ShoalError, match=r"'ill'|'town'") as caught:
            method.release(given)
        assert_clear(caught.value)
    if for_ages is not None:
        most = 100 if entry(method).truthful else 1000
        # Of so few records, nothing at all may be drawn often enough.
        sizes = [len(for_ages.release(given, Seeded(seed)).table) for seed in range(4)]
        assert 0 < max(sizes) <= most


def without_other_columns(method: Method) -> Method | None:
    """The method for a table with no column but `age`; None if it needs another."""
    if hasattr(method, "column"):
        return None
    if {column for model in getattr(method, "models", ()) for column in model.columns}:
        return replace(method, models=(KAnonymity(3),))  # type: ignore[type-var]
    if getattr(method, "schema", None):
        return replace(method, schema=[["age"]])  # type: ignore[type-var]
    return method


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
    release = released_or_infeasible(method, table(frame))
    if release is None:  # too few values, so that no two can stand for each other
        assert getattr(method, "fakes", 0)
        return
    released = rows_of(release)
    assert len({(row["town"], row["age"]) for row in released} - {(None, None)}) == 1
    assert len(released) == 50 or entry(method).subset


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
    if hasattr(method, "models") and not entry(method).subset and release is not None:
        groups = (
            nw.from_native(release.table, eager_only=True).group_by("age", "town").agg(nw.len())
        )
        assert groups["len"].min() >= 2


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


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_non_ascii_values_survive_in_every_kind_of_dataframe(
    method: Method, kind: Callable[..., Any], tmp_path: Path
) -> None:
    release = method.release(people(kind=kind))
    assert isinstance(release.table, type(kind({"a": [1]})))
    assert all(isinstance(each, type(release.table)) for each in release.further.values())
    assert "größe" in values_of(release, "ill")
    path = release.write(tmp_path)
    assert any("größe".encode() in file.read_bytes() for file in tmp_path.glob("*.csv"))
    assert verify(tmp_path / "certificate.json", path) == []


def test_a_value_outside_its_hierarchy_is_counted_not_shown(method: Method) -> None:
    frame = nw.to_native(people().frame).with_columns(
        town=pl.when(pl.col("tag") == 5).then(pl.lit("SECRET")).otherwise(pl.col("town"))
    )
    if uses_hierarchies(method):
        with pytest.raises(HierarchyError, match="'town'") as caught:
            method.release(table(frame))
        assert_clear(caught.value)
    else:  # values are released unchanged
        assert not entry(method).needs_hierarchies
        assert values_of(method.release(table(frame)), "town") <= {"SECRET", *TOWNS}


def uses_hierarchies(method: Method) -> bool:
    """Whether values are looked up in hierarchies: to be generalised, or to tell which people may
    be put together.
    """
    generalises = {"models", "levels", "utility"} & parameters_of(method)
    return bool(generalises) or bool(getattr(method, "within", None))


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
    given = shoal.table(frame, quasi=["town"], insensitive=["value"], hierarchies={"town": PLACES})
    schema = given.schema
    assert schema.guessed == ({"value"} if guessed else set())
    if guessed:
        with pytest.raises(ColumnError, match="column 'value' would be read off its values"):
            SafePub(1, "1e-6").promise(schema)
    else:
        SafePub(1, "1e-6").promise(schema)


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
def test_parameters_that_are_not_numbers_are_refused(method: Method, wrong: Any) -> None:
    refused = 0
    for name, parameter in inspect.signature(type(method)).parameters.items():
        optional = type(None) in getattr(parameter.annotation, "__args__", ())
        if parameter.annotation in NUMBERS and not (wrong is None and optional):
            with pytest.raises(ParameterError, match=rf"\b{name}\b"):
                replace(method, **{name: wrong})  # type: ignore[type-var]
            refused += 1
        if name == "models":
            with pytest.raises(ParameterError, match="k="):
                replace(method, models=(KAnonymity(wrong),))  # type: ignore[type-var]
            refused += 1
    assert refused


def test_a_table_without_hierarchies_or_quasi_identifying_columns_is_a_clear_error_or_released(
    method: Method,
) -> None:
    frame = nw.to_native(people().frame)
    without: list[tuple[bool, dict[str, Any]]] = [
        (entry(method).needs_hierarchies, {"hierarchies": {}}),
        (entry(method).needs_quasi, {"quasi": [], "insensitive": ["tag", "age", "town"]}),
    ]
    for needed, options in without:
        try:
            assert method.release(table(frame, **options)).table is not None
        except ShoalError as error:
            assert_clear(error)
        else:
            assert not needed


# 6. Progress and cancelling


def test_progress_is_reported_and_contains_no_value(method: Method, tables: Tables) -> None:
    seen: list[tuple[int, int, str]] = []
    method.release(tables(), progress=lambda *given: seen.append(given))
    assert seen
    for done, total, what in seen:
        assert 0 <= done <= total
        assert what
        assert not any(town in what for town in TOWNS)
    assert [done / max(total, 1) for done, total, _ in seen] == sorted(
        done / max(total, 1) for done, total, _ in seen
    )


def test_stopping_leaves_nothing_written(method: Method, tables: Tables, tmp_path: Path) -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("the caller asked to stop; nothing was written")

    with pytest.raises(Stopped):
        method.release(tables(), progress=stop).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


# 7. Beside other releases: what a method shows is either views that are true of the table, or no
# view


def test_a_release_becomes_views_that_are_true_or_is_refused_as_none(method: Method) -> None:
    given = people(kind=pl.DataFrame)
    ill = given.frame["ill"].to_list()
    as_views = entry(method).as_views
    roles = () if as_views is None else as_views.known_roles
    known = [name for name in given.names if given.roles[name] in roles] or ["age", "town"]
    register = Register(Table(Memory(given.frame.select(*known)), hierarchies=given.hierarchies))
    release = method.release(given)
    fakes = getattr(method, "fakes", 0)  # of which nobody knows what is real
    if as_views is None or fakes:
        with pytest.raises(InputError, match=r"no view|not a view|not views"):
            register.of_release(release, "it", "ill")
        return
    shown = register.of_release(release, "it", "ill")
    assert sum(view.size for view in shown) == len(rows_of(release))
    for view in shown:
        inside = Counter(ill[person] for person in view.people)
        assert all(inside[value] >= often for value, often in view.bag.items())
        assert view.parts or inside == view.bag
    assert register.notes or not any(view.parts for view in shown)
