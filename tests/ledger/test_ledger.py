"""The ledger: reserved is spent, nobody overspends, no changed byte is missed, and no kill loses an entry."""

import contextlib
import ctypes
import itertools
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import shoal
import shoal.data.disk
import shoal.data.files
import shoal.releases.release
from shoal.chance import Chance
from shoal.chance.source import Seeded
from shoal.cli.app import app
from shoal.data.hierarchy import suppress
from shoal.data.tables import Table
from shoal.errors import (
    BudgetError,
    ColumnError,
    FileError,
    HierarchyError,
    InfeasibleError,
    InputError,
    ParameterError,
    ShoalError,
    Stopped,
)
from shoal.exact.epsilon import Epsilon
from shoal.ledger import Budget, Ledger, book, store
from shoal.ledger.fingerprint import fingerprint
from shoal.ledger.shown import earlier
from shoal.log import custody
from shoal.methods import Progress, Schema
from shoal.methods.safepub import SafePub
from shoal.methods.sampling import RandomSample
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Entered
from shoal.releases.release import Release
from tests.conftest import ROOT
from tests.recipe.test_recipe import PEOPLE, RECIPE

DELTA = "1e-6"


@dataclass(frozen=True)
class Private:
    """A method that promises differential privacy, flips one coin and releases nothing but the names of the columns."""

    epsilon: Any = 1
    delta: Any = DELTA
    unit: str = "row"
    fails: bool = False

    name: ClassVar[str] = "private"

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        return DifferentialPrivacy(self.epsilon, self.delta, "standard", self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        chance = chance or Chance()
        if progress:
            progress(0, 1, "flipping a coin")
        chance.bytes(1)
        if self.fails:
            raise InfeasibleError("nothing can be released")
        released = pa.table({name: pa.array([], pa.string()) for name in table.names})
        return Release(released, certify(table, self, self.promise(Schema.of(table)), chance))


class NoCoins(Chance):
    """Whoever flips a coin fails the test."""

    def bytes(self, size: int) -> bytes:
        raise AssertionError("a coin was flipped")


def people(ill: str = "abcd", columns: Mapping[str, list[str]] | None = None) -> Table:
    frame = pa.table(columns or {"sex": ["f", "m"] * 10, "ill": [*ill] * 5})
    return shoal.table(
        frame, quasi=["sex"], sensitive=["ill"], hierarchies={"sex": suppress(["f", "m"])}
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger", epsilon=2, delta="1e-5")


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are not waited for to reach the disk: for tests with thousands of them."""
    monkeypatch.setattr(
        store, "_PRAGMAS", tuple(pragma.replace("EXTRA", "OFF") for pragma in store._PRAGMAS)
    )


def pair(epsilon: Any, delta: Any) -> Budget:
    return Budget(Fraction(epsilon), Fraction(delta))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


# Creating


def test_a_new_ledger_has_one_entry_and_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        made = Ledger.create(tmp_path / "ledger", epsilon="ln(2)", delta=1e-5)
    finally:
        os.umask(umask)
    assert (tmp_path / "ledger").stat().st_mode & 0o777 == 0o600
    (entry,) = made.entries()
    assert (entry.number, entry.what) == (1, "created")
    assert (entry.facts["epsilon"], entry.facts["delta"]) == ("ln(2)", "1e-5")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.time)
    assert made.spent() == pair(0, 0)
    assert made.verify() == []
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]


def test_the_key_is_random_and_never_shown(tmp_path: Path) -> None:
    keys = []
    for name in "ab":
        made = Ledger.create(tmp_path / name)
        made.release(Private(), people())
        with store.reading(made.path) as connection:
            keys.append(store.links(connection, made.path)[0].content["key"])
        shown = [
            run("ledger", "show", str(made.path)),
            run("ledger", "show", str(made.path), "--json"),
        ]
        assert not any(
            keys[-1] in text
            for text in (*map(str, made.entries()), *(result.output for result in shown))
        )
    assert [len(key) for key in keys] == [64, 64]
    assert keys[0] != keys[1]


@pytest.mark.parametrize("content", [b"a,b\n1,2\n" * 300, b"x"])
def test_what_is_there_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    Ledger.create(tmp_path / "ledger")
    before = tree(tmp_path)
    for name in ("file", "ledger"):
        with pytest.raises(FileError):
            Ledger.create(tmp_path / name)
    with pytest.raises(FileError, match="no ledger"):
        Ledger(tmp_path / "file").entries()
    assert tree(tmp_path) == before


def test_what_is_no_ledger_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="shoal ledger create"):
        Ledger(tmp_path / "nowhere")
    with pytest.raises(FileError, match="is no file"):
        Ledger(tmp_path)
    with pytest.raises(FileError, match="cannot make"):
        Ledger.create(tmp_path / "no" / "folder")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE entries (number, content, digest)")
    other.close()
    with pytest.raises(FileError, match="is no ledger"):
        Ledger(tmp_path / "other.db").entries()
    made = Ledger.create(tmp_path / "newer")
    other = sqlite3.connect(made.path)
    other.execute("PRAGMA user_version = 2")
    other.close()
    with pytest.raises(FileError, match="layout 2"):
        made.entries()


def test_a_creation_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    path.touch(0o644)
    with pytest.raises(FileError, match="creation was cut short"):
        Ledger(path).entries()
    made = Ledger.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert made.verify() == []


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0, 0.1),
        (-1, 0.1),
        ("nan", 0.1),
        (float("inf"), 0.1),
        (1, 1),
        (1, -1),
        (1, "nan"),
        ("ln(1)", 0.1),
        (1, None),
        (None, 0.1),
    ],
)
def test_a_budget_that_is_nonsense_is_refused_and_nothing_made(
    tmp_path: Path, epsilon: Any, delta: Any
) -> None:
    with pytest.raises(ParameterError):
        Ledger.create(tmp_path / "ledger", epsilon=epsilon, delta=delta)
    assert not tree(tmp_path)


# Releasing


def test_a_release_is_reserved_completed_and_written(ledger: Ledger, tmp_path: Path) -> None:
    made = ledger.release(Private("ln(2)"), people(), tmp_path / "out")
    _, reserved, completed = ledger.entries()
    assert (reserved.what, completed.what, completed.facts["reserved"]) == (
        "reserved",
        "completed",
        reserved.number,
    )
    assert {
        part: reserved.facts[part] for part in ("epsilon", "delta", "definition", "unit", "method")
    } == {
        "epsilon": "ln(2)",
        "delta": "1e-6",
        "definition": "standard",
        "unit": "row",
        "method": "private",
    }
    assert reserved.facts["columns"] == {"sex": "quasi", "ill": "sensitive"}
    assert completed.facts["release"] == made.certificate.number
    assert completed.facts["certificate"] == json.loads(made.certificate.to_json())
    assert made.entry == Entered(2, False)
    assert (
        json.loads((tmp_path / "out" / "certificate.json").read_text())["number"]
        == made.certificate.number
    )
    assert (tmp_path / "out" / "release.csv").is_file()
    assert ledger.verify() == []


def test_the_reservation_stands_before_the_first_coin_and_the_certificate_before_the_files(
    tmp_path: Path,
) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    seen: list[list[str]] = []

    class Watched(Chance):
        def bytes(self, size: int) -> bytes:
            seen.append([entry.what for entry in ledger.entries()])
            return super().bytes(size)

    def write(self: Release, directory: Any, format: str = "csv", **options: Any) -> Path:
        seen.append([entry.what for entry in ledger.entries()])
        return Path(directory)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Release, "write", write)
        ledger.release(Private(), people(), tmp_path / "out", chance=Watched())
    assert seen == [["created", "reserved"]] * 2 + [["created", "reserved", "completed"]]


def test_nothing_of_the_ledger_is_in_the_release(ledger: Ledger, tmp_path: Path) -> None:
    ledger.release(Private(), people(), tmp_path / "out")
    with store.reading(ledger.path) as connection:
        chain = store.links(connection, ledger.path)
    secrets = [
        chain[0].content["key"],
        chain[1].content["fingerprint"],
        *(link.digest for link in chain),
        ledger.path.name,
    ]
    for content in tree(tmp_path / "out").values():
        assert not [secret for secret in secrets if secret.encode() in content]


@pytest.mark.parametrize("folder", [".", "in", "in/.."])
def test_a_release_beside_the_ledger_is_refused_since_it_would_be_published_along(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / "in").mkdir()
    ledger = Ledger.create(tmp_path / "in" / "ledger")
    (tmp_path / "link").symlink_to(tmp_path / folder)
    before = tree(tmp_path)
    for out in (tmp_path / folder, tmp_path / "link"):
        with pytest.raises(FileError, match="published along"):
            ledger.release(Private(), people(), out, chance=NoCoins())
    assert tree(tmp_path) == before
    ledger.release(Private(), people(), tmp_path / "in2")


def test_a_release_beyond_the_budget_leaves_no_trace(ledger: Ledger, tmp_path: Path) -> None:
    ledger.release(Private(1.5), people(), tmp_path / "first")
    before = tree(tmp_path)
    for asking in (Private(0.6), Private(0.5, "9.1e-6")):
        with pytest.raises(
            BudgetError, match=r"needs ε .* has spent ε 1.5, δ 1e-6 of a budget of ε 2, δ 1e-5"
        ):
            ledger.release(asking, people(), tmp_path / "a" / "b", chance=NoCoins())
    assert tree(tmp_path) == before
    ledger.release(Private(0.5, "9e-6"), people(), tmp_path / "a" / "b")
    assert ledger.left() == pair(0, 0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"directory": "file"}, FileError),
        ({"directory": "file/below"}, FileError),
        ({"directory": "locked/below"}, FileError),
        ({"format": "xls"}, ParameterError),
        ({"method": Private("nonsense")}, ParameterError),
        ({"table": people(columns={"sex": ["f", "x"], "ill": ["a", "b"]})}, HierarchyError),
        ({"table": shoal.table(pa.table({"sex": ["f"], "ill": ["a"]}), quasi=["sex"])}, ShoalError),
    ],
)
def test_a_mistake_that_can_be_seen_beforehand_spends_nothing(
    ledger: Ledger, tmp_path: Path, change: dict[str, Any], error: type[ShoalError]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "locked").mkdir(0o500)
    if str(change.get("directory")).startswith("locked") and os.access(
        tmp_path / "locked", os.W_OK
    ):
        pytest.skip("whoever runs this may write anywhere")
    before = tree(tmp_path)
    options = {"method": Private(), "table": people(), "directory": "out", **change}
    with pytest.raises(error):
        ledger.release(
            options.pop("method"),
            options.pop("table"),
            tmp_path / options.pop("directory"),
            chance=NoCoins(),
            **options,
        )
    assert tree(tmp_path) == before


def test_a_method_that_fails_has_spent_and_the_error_says_so(
    ledger: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(
        InfeasibleError, match=r"nothing can be released; entry 2 of .* counts as spent"
    ):
        ledger.release(Private(fails=True), people(), tmp_path / "out")

    def stop(done: int, total: int, what: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        ledger.release(Private(), people(), tmp_path / "out", progress=stop)
    assert "entry 3" in stopped.value.__notes__[0]
    assert ledger.left() == pair(0, Fraction("8e-6"))
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_written_stay_spent_and_the_error_says_so(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.releases.release.os", SimpleNamespace(**{**vars(os), "fsync": full}))
    with pytest.raises(
        FileError, match=r"No space left on device.*; entry 2 of .* counts as spent"
    ):
        ledger.release(Private(), people(), tmp_path / "out")
    assert [entry.what for entry in ledger.entries()] == ["created", "reserved", "completed"]
    assert ledger.spent().epsilon == 1
    assert not (tmp_path / "out").exists()


def test_without_a_directory_writing_is_left_to_the_caller(ledger: Ledger, tmp_path: Path) -> None:
    made = ledger.release(Private(), people())
    assert [entry.what for entry in ledger.entries()] == ["created", "reserved", "completed"]
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]
    assert made.write(tmp_path / "out").is_file()


def test_a_certificate_that_promises_something_else_is_not_entered(ledger: Ledger) -> None:
    entry = ledger.reserve(Private(1).promise(Schema.of(people())), "private", people())
    other = Private("0.5").release(people()).certificate
    seeded = Private(1).release(people(), Seeded(1)).certificate
    for certificate in (other, seeded, replace(seeded, promise={})):
        with pytest.raises(ParameterError, match="promises something else"):
            ledger.complete(entry.number, certificate)
    right = Private(1).release(people()).certificate
    for number in (1, 3):
        with pytest.raises(ParameterError, match="reserves no release"):
            ledger.complete(number, right)
    ledger.complete(entry.number, right)
    with pytest.raises(ParameterError, match="completed already"):
        ledger.complete(entry.number, right)


# Adding up


def test_sums_are_exact(tmp_path: Path) -> None:
    tenths = Ledger.create(tmp_path / "tenths", epsilon=1, delta=1e-5)
    for _ in range(10):
        tenths.release(Private(0.1), people())
    assert tenths.left() == pair(0, 0)
    with pytest.raises(BudgetError):
        tenths.release(Private("1e-300", "1e-300"), people())
    logarithm = Ledger.create(tmp_path / "logarithm", epsilon="ln(2)", delta=1e-5)
    with pytest.raises(BudgetError):
        logarithm.release(Private("0.69314718055994530941723212145818"), people())  # ln 2 is …8176…
    logarithm.release(Private("1/3*ln(2)"), people())
    logarithm.release(Private("2/3*ln(2)"), people())
    left = logarithm.left()
    assert left is not None
    assert left.epsilon == 0
    with pytest.raises(BudgetError):
        logarithm.release(Private("1e-30"), people())


@settings(max_examples=30)
@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from(["0.1", "1/3", "ln(2)", "0.5*ln(3)", "1"]),
            st.sampled_from(["1e-6", "1/300000"]),
        ),
        max_size=8,
    )
)
def test_whatever_is_asked_for_the_budget_is_kept_and_nothing_is_refused_that_fits(
    asked: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            store, "_PRAGMAS", tuple(pragma.replace("EXTRA", "OFF") for pragma in store._PRAGMAS)
        )
        ledger = Ledger.create(path, epsilon=2, delta="1e-5")
        epsilon, delta = Fraction(0), Fraction(0)  # lower bounds, to forty digits
        for number, (more, also) in enumerate(asked, 2):
            fits = epsilon + Epsilon.of(more).bounds(40)[0] <= 2 and delta + Fraction(
                also
            ) <= Fraction("1e-5")
            try:
                ledger.reserve(DifferentialPrivacy(more, also, "standard"), "test", people())
            except BudgetError:
                assert not fits, number
            else:
                assert fits
                epsilon, delta = epsilon + Epsilon.of(more).bounds(40)[0], delta + Fraction(also)
        spent, left = ledger.spent(), ledger.left()
        assert left is not None
        assert epsilon <= spent.epsilon <= 2
        assert spent.epsilon - epsilon < Fraction("1e-25")
        assert spent.delta == delta
        assert 0 <= left.epsilon <= 2 - epsilon


def test_what_has_no_bound_fits_no_budget(ledger: Ledger, tmp_path: Path) -> None:
    before = tree(tmp_path)
    with pytest.raises(BudgetError, match="has a budget, and a release by sampling fits none"):
        ledger.release(RandomSample("1/2"), people(), tmp_path / "out", chance=NoCoins())
    with pytest.raises(BudgetError, match="seed"):
        ledger.release(Private(), people(), tmp_path / "out", chance=Seeded(1))
    assert tree(tmp_path) == before


def test_without_a_budget_what_has_no_bound_is_entered_as_such(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.release(Private(), people())
    assert ledger.spent() == pair(1, Fraction(DELTA))
    assert ledger.budget() is ledger.left() is None
    ledger.release(RandomSample("1/2"), people(), tmp_path / "out")
    assert ledger.entries()[3].facts["epsilon"] is None
    assert ledger.spent() == pair(1, 1)
    with pytest.raises(BudgetError, match="nothing bounds"):
        ledger.set_budget(epsilon=100, delta=0.5)
    seeded = Ledger.create(tmp_path / "seeded")
    seeded.release(Private(), people(), chance=Seeded(1))
    assert seeded.spent() == pair(0, 1)


def test_units_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    for ledger in (
        Ledger.create(tmp_path / "a", epsilon=3, delta=0.1),
        Ledger.create(tmp_path / "b"),
    ):
        ledger.release(Private(), people())
        with pytest.raises(BudgetError, match="'row' and this one 'ill'"):
            ledger.release(Private(unit="ill"), people(), chance=NoCoins())
        ledger.release(Private(), people())


def test_what_safepub_would_refuse_about_a_table_costs_nothing(ledger: Ledger) -> None:
    rows = {
        "sex": ["f", "m"],
        "born": pd.Series([date(2001, 2, 3), date(2002, 3, 4)], dtype=object),
        "who": ["a", None],
    }
    roles: dict[str, Any] = {"quasi": ["sex"], "insensitive": ["born"], "identifying": ["who"]}
    options = {**roles, "hierarchies": {"sex": suppress(["f", "m"])}}
    with pytest.raises(ColumnError, match="read off its values"):
        ledger.release(
            SafePub(1, DELTA), shoal.table(pd.DataFrame(rows), **options), chance=NoCoins()
        )
    declared = shoal.table(pd.DataFrame(rows), types={"born": "date"}, **options)
    with pytest.raises(
        ColumnError, match="'who' is to tell whose rows belong together, and misses values"
    ):
        ledger.release(SafePub(1, DELTA, "standard", unit="who"), declared, chance=NoCoins())
    assert ledger.spent() == pair(0, 0)
    ledger.release(SafePub(1, DELTA), declared)


def test_a_budget_changes_only_by_an_entry_and_never_below_what_is_spent(ledger: Ledger) -> None:
    ledger.release(Private("1.5"), people())
    with pytest.raises(BudgetError):
        ledger.release(Private(), people())
    entry = ledger.set_budget(epsilon="5/2")
    assert (entry.number, entry.what, entry.facts["epsilon"], entry.facts["delta"]) == (
        4,
        "budget",
        "2.5",
        "1e-5",
    )
    ledger.release(Private(), people())
    for wrong in ({"epsilon": "2.4"}, {"delta": "1e-6"}, {"epsilon": 3, "delta": 0}):
        with pytest.raises(BudgetError, match="has already spent"):
            ledger.set_budget(**wrong)
    for nothing in ({}, {"epsilon": 0}, {"delta": 1}):
        with pytest.raises(ParameterError):
            ledger.set_budget(**nothing)
    ledger.set_budget(delta="2e-6")
    assert ledger.left() == pair(0, 0)
    assert ledger.verify() == []
    assert not hasattr(ledger, "reset")


def test_a_ledger_without_a_budget_gets_one_later(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    with pytest.raises(ParameterError, match="has no budget; give epsilon and delta"):
        ledger.set_budget(epsilon=1)
    ledger.set_budget(epsilon=1, delta=0.1)
    assert ledger.budget() == pair(1, Fraction("0.1"))


# Which data


@given(
    st.lists(
        st.tuples(st.sampled_from("fm"), st.sampled_from(["", "a", "ab", "é"])),
        min_size=1,
        max_size=12,
    ),
    st.randoms(),
)
def test_a_fingerprint_minds_content_and_no_order(
    rows: list[tuple[str, str]], dice: random.Random
) -> None:
    def of(
        rows: list[tuple[str, str]], order: Callable[[Any], Any] = iter, key: bytes = b"k" * 32
    ) -> str:
        columns = {"sex": [sex for sex, _ in rows], "ill": [ill for _, ill in rows]}
        return fingerprint(people(columns=dict(order(list(columns.items())))), key)

    mixed = dice.sample(rows, len(rows))
    assert of(mixed) == of(rows, reversed) == of(rows)
    place = dice.randrange(len(rows))
    sex, ill = rows[place]
    changed = [*rows[:place], (sex, ill + "b"), *rows[place + 1 :]]
    others = [of(changed), of([*rows, rows[0]]), of(rows[1:] or changed), of(rows, key=b"l" * 32)]
    assert of(rows) not in others


def test_a_fingerprint_is_the_same_for_a_file_and_every_dataframe(tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    columns = {"name": ["A", "B", "C"], "age": [39, 40, 39], "ill": ["a", None, "b"]}
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    frames = [pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)]
    roles: Any = {
        "identifying": ["name"],
        "quasi": ["age"],
        "sensitive": ["ill"],
        "types": {"age": "integer"},
    }
    tables = [
        shoal.read(tmp_path / "people.csv", **roles),
        *(shoal.table(frame, **roles) for frame in frames),
    ]
    assert len({fingerprint(table, b"k" * 32) for table in tables}) == 1
    renamed = pl.DataFrame({**columns, "name": ["X", "Y", "Z"]})  # who they are is not looked at
    assert fingerprint(shoal.table(renamed, **roles), b"k" * 32) == fingerprint(
        tables[0], b"k" * 32
    )


def test_texts_that_run_into_each_other_have_different_fingerprints() -> None:
    one = people(columns={"sex": ["f", "f"], "ill": ["ab", "c"]})
    two = people(columns={"sex": ["f", "f"], "ill": ["a", "bc"]})
    assert fingerprint(one, b"k") != fingerprint(two, b"k")


def test_other_data_is_noted(ledger: Ledger) -> None:
    noted = [
        ledger.release(Private("0.1"), people(ill)).entry.other_data  # type: ignore[union-attr]
        for ill in ("abcd", "dcba", "abce", "abcd")
    ]
    assert noted == [False, True, True, True]  # the second has the same values at other people
    shown = run("ledger", "show", str(ledger.path)).stdout
    assert re.findall(r"state (\d) of 3", shown) == ["1", "2", "3", "1"]


# Changed bytes


def filled(path: Path) -> Ledger:
    """A ledger with short, long and very long entries, which take pages of every kind."""
    made = Ledger.create(path, epsilon=2, delta="1e-5")
    made.release(Private("ln(2)"), people())
    for length in (10, 1500, 6000, 3):
        _append(
            made,
            {"what": "budget", "time": "", "epsilon": "2", "delta": "0.1", "long": "x" * length},
        )
    assert made.verify() == []
    return made


def _append(ledger: Ledger, content: Mapping[str, Any]) -> None:
    with store.writing(ledger.path) as connection:
        store.append(connection, store.links(connection, ledger.path), content)


def missed(ledger: Ledger, places: Iterator[int], verify: Callable[[], list[str]]) -> list[int]:
    """The bytes that may be changed without being found."""
    good, unseen = ledger.path.read_bytes(), []
    for place in places:
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        ledger.path.write_bytes(bad)
        if not verify():
            unseen.append(place)
        assert ledger.path.read_bytes() == bytes(bad)  # verifying never writes
    ledger.path.write_bytes(good)
    return unseen


def some_places(content: bytes) -> Iterator[int]:
    """The whole header, and a sample of all other bytes, zero and not."""
    dice = random.Random(5)
    yield from range(112)
    yield from (
        place
        for place in range(112, len(content))
        if dice.random() < (0.08 if content[place] else 0.02)
    )


def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")
    assert missed(ledger, some_places(ledger.path.read_bytes()), ledger.verify) == []
    assert ledger.verify() == []


@pytest.mark.slow
def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")
    assert missed(ledger, iter(range(ledger.path.stat().st_size)), ledger.verify) == []


def test_a_check_of_the_entries_alone_would_miss_bytes(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")

    def entries_only() -> list[str]:
        try:
            ledger.entries()
        except ShoalError as error:
            return [str(error)]
        return []

    assert missed(ledger, some_places(ledger.path.read_bytes()), entries_only)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET content = replace(content, '1e-6', '1e-9') WHERE number = 2",
        "UPDATE entries SET content = content || ' ' WHERE number = 4",
        "UPDATE entries SET digest = upper(digest) WHERE number = 3",
        "DELETE FROM entries WHERE number = 3",
        "DELETE FROM entries WHERE number = 1",
        "DELETE FROM entries",
        "INSERT INTO entries SELECT 8, content, digest FROM entries WHERE number = 7",
        "INSERT INTO entries SELECT 0, content, digest FROM entries WHERE number = 1",
        "UPDATE entries SET number = CASE number WHEN 5 THEN -6 WHEN 6 THEN -5 END WHERE number IN (5, 6);"
        "UPDATE entries SET number = -number WHERE number < 0",
        "UPDATE entries SET content = CAST(content AS BLOB) WHERE number = 7",
        "CREATE TABLE more (a)",
        "PRAGMA user_version = 1; CREATE INDEX i ON entries (digest)",
        "VACUUM",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_what_others_do_to_the_file_is_found(tmp_path: Path, change: str) -> None:
    ledger = filled(tmp_path / "ledger")
    other = sqlite3.connect(ledger.path)
    other.executescript(change)
    other.close()
    before = tree(tmp_path)
    assert ledger.verify()
    assert tree(tmp_path) == before
    assert run("ledger", "verify", str(ledger.path)).exit_code == 1
    if "entries SET" in change or "DELETE" in change:  # a broken chain takes no further entry
        with pytest.raises(FileError, match="shoal ledger verify"):
            ledger.release(Private("0.1"), people(), chance=NoCoins())


@pytest.mark.parametrize("cut", [b"", b"\0", b"x" * 4096])
def test_bytes_added_or_cut_off_are_found(ledger: Ledger, cut: bytes) -> None:
    good = ledger.path.read_bytes()
    ledger.path.write_bytes(good + cut if cut else good[:-4096])
    assert ledger.verify()


def test_entries_cut_off_at_the_end_are_found_by_a_head_noted_elsewhere(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", epsilon=2, delta="1e-5", witness=False)
    old = ledger.path.read_bytes()
    first = ledger.head()
    ledger.release(Private(), people())
    noted = ledger.head()
    ledger.set_budget(epsilon=5)
    assert ledger.verify(noted) == ledger.verify(first) == ledger.verify(noted.upper()) == []
    ledger.path.write_bytes(old)
    assert ledger.verify() == []  # the file alone cannot tell, and it has no witness
    assert ledger.verify(first) == []
    assert "cut short" in ledger.verify(noted)[0]
    assert run("ledger", "verify", str(ledger.path), "--head", first).exit_code == 0
    assert run("ledger", "verify", str(ledger.path), "--head", noted).exit_code == 1


def test_a_file_with_pages_of_pages_is_accounted_for(tmp_path: Path, unsynced: None) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    with store.writing(ledger.path) as connection:
        chain = store.links(connection, ledger.path)
    dice = random.Random(1)
    for _ in range(700):  # most take a page of their own; the root has room for about 500 pages
        with store.writing(ledger.path) as connection:
            long = "x" * dice.choice([3800, 3800, 3800, 100, 9000])
            chain.append(
                store.append(connection, chain, {"what": "budget", "time": "", "long": long})
            )
    assert ledger.path.read_bytes()[4096] == 5
    assert ledger.verify() == []
    content = ledger.path.read_bytes()
    inner = {page for page in range(2, len(content) // 4096) if content[page * 4096] == 5}
    assert inner  # a third level; what SQLite leaves unused there is not accounted for
    places = [place for place in dice.sample(range(len(content)), 30) if place // 4096 not in inner]
    assert missed(ledger, iter(places), ledger.verify) == []


# Hidden entries


def spends(ledger: Ledger) -> str:
    """What a reservation of half the budget makes of a ledger that has spent all of it: "refused" or "failed", never more."""
    try:
        ledger.reserve(DifferentialPrivacy(1, "1e-6", "standard"), "private", people())
    except BudgetError:
        return "refused"
    except FileError:
        return "failed"
    return "granted"


def exhausted(path: Path, releases: int) -> Ledger:
    """A ledger with nothing left: after one release on a single page, after two on pages of every kind."""
    made = Ledger.create(path, epsilon=2, delta="1e-5", witness=False)
    made.release(Private(Fraction(2, releases)), people())
    if releases > 1:
        again = {"what": "budget", "time": "", "epsilon": "2", "delta": "1e-5"}
        _append(made, {**again, "long": "x" * 6000})
        made.release(Private(1), people())
    return made


def flipped(ledger: Ledger, places: Iterable[tuple[int, int]]) -> Counter[str]:
    """What happens to a reservation for every bit that is flipped: a byte, and a bit of it."""
    good, found = ledger.path.read_bytes(), Counter[str]()
    for place, bit in places:
        bad = bytearray(good)
        bad[place] ^= 1 << bit
        ledger.path.write_bytes(bad)
        found[spends(ledger)] += 1
    ledger.path.write_bytes(good)
    return found


def heads_and_some(content: bytes) -> list[tuple[int, int]]:
    """Every bit of the header and of the head of each page, and some of all others."""
    dice = random.Random(3)
    heads = [
        *range(100, 108),
        *(page + i for page in range(4096, len(content), 4096) for i in range(8)),
    ]
    others = (place for place in range(len(content)) if content[place] or dice.random() < 0.1)
    sample = dice.sample([*others], 150)
    return [
        *((place, bit) for place in (*range(100), *heads) for bit in range(8)),
        *((place, dice.randrange(8)) for place in sample),
    ]


@pytest.mark.parametrize("releases", [1, 2])
def test_no_flipped_bit_makes_a_ledger_forget_what_was_spent(
    tmp_path: Path, unsynced: None, releases: int
) -> None:
    ledger = exhausted(tmp_path / "ledger", releases)
    found = flipped(ledger, heads_and_some(ledger.path.read_bytes()))
    assert set(found) == {"refused", "failed"}
    assert spends(ledger) == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("releases", [1, 2])
def test_no_flipped_bit_at_all_makes_a_ledger_forget(
    tmp_path: Path, unsynced: None, releases: int
) -> None:
    ledger = exhausted(tmp_path / "ledger", releases)
    every = itertools.product(range(ledger.path.stat().st_size), range(8))
    assert set(flipped(ledger, every)) <= {"refused", "failed"}


def test_a_ledger_that_only_follows_its_chain_would_forget(
    tmp_path: Path, unsynced: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = exhausted(tmp_path / "ledger", 1)
    monkeypatch.setattr(store, "_surplus", lambda *_: iter(()))
    cells = [(4096 + 4, bit) for bit in range(8)]
    assert flipped(ledger, cells)["granted"]


def test_hidden_entries_are_told_by_everything_that_reads(tmp_path: Path) -> None:
    ledger = exhausted(tmp_path / "ledger", 2)
    content = bytearray(ledger.path.read_bytes())
    at = next(  # a page of entries, with more than one
        page + 4
        for page in range(4096, len(content), 4096)
        if content[page] == 13 and content[page + 4] > 1
    )
    content[at] -= 1
    ledger.path.write_bytes(content)
    for look in (ledger.spent, ledger.entries, ledger.head, ledger.concerns):
        with pytest.raises(FileError, match="shoal ledger verify"):
            look()
    assert run("ledger", "verify", str(ledger.path)).exit_code == 1
    assert run("ledger", "show", str(ledger.path)).exit_code == 2


# Locks


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive that grants every lock: SQLite is told not to ask for any."""
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def careless(place: str, **options: Any) -> sqlite3.Connection:
        return connect(f"{place}&nolock=1", **options)

    monkeypatch.setattr(sqlite3, "connect", careless)
    monkeypatch.setattr(custody, "_tried", set())


def test_locks_that_do_not_work_are_noticed_before_a_ledger_is_made(
    tmp_path: Path, unlocked: None
) -> None:
    with pytest.raises(FileError, match="locks do not work on this drive"):
        Ledger.create(tmp_path / "ledger")
    assert (tmp_path / "ledger").stat().st_size == 0


def test_locks_that_do_not_work_are_noticed_before_anything_is_reserved(
    ledger: Ledger, request: pytest.FixtureRequest
) -> None:
    before = ledger.path.read_bytes()
    request.getfixturevalue("unlocked")
    with pytest.raises(FileError, match="locks do not work on this drive"):
        ledger.release(Private(), people(), chance=NoCoins())
    assert ledger.path.read_bytes() == before


def test_locks_that_cannot_be_tested_are_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody, "_tried", set())
    for python in ("", None, "/nowhere/python", shutil.which("false")):
        monkeypatch.setattr(custody, "get_executable", lambda python=python: python)
        with pytest.raises(FileError, match="could not be tested"):
            ledger.release(Private(), people(), chance=NoCoins())
    assert ledger.spent() == pair(0, 0)


# Older copies, and the witness


def test_going_back_to_an_older_copy_is_noticed_and_adopting_it_keeps_what_was_spent(
    ledger: Ledger,
) -> None:
    copies = [ledger.path.read_bytes()]
    for cost in ("0.5", "ln(2)"):
        ledger.release(Private(cost), people())
        copies.append(ledger.path.read_bytes())
    spent = ledger.spent()
    for copy in copies[:-1]:
        ledger.path.write_bytes(copy)
        with pytest.raises(FileError, match="older copy"):
            ledger.release(Private("0.1"), people(), chance=NoCoins())
        with pytest.raises(FileError, match="older copy"):
            ledger.spent()
        assert "older copy" in ledger.verify()[0]
        assert ledger.path.read_bytes() == copy
    ledger.path.write_bytes(copies[0])
    adopted = ledger.adopt()
    assert (adopted.what, adopted.facts["lost"], adopted.facts["unit"]) == ("adopted", 4, "row")
    assert ledger.verify() == []
    assert ledger.spent().delta == spent.delta
    assert 0 <= ledger.spent().epsilon - spent.epsilon < Fraction("1e-25")
    with pytest.raises(BudgetError):
        ledger.release(Private(1), people(), chance=NoCoins())
    ledger.release(Private("0.1"), people())
    with pytest.raises(ParameterError, match="nothing to adopt"):
        ledger.adopt()


def test_two_copies_that_go_their_own_ways_are_noticed(ledger: Ledger, tmp_path: Path) -> None:
    shutil.copy(ledger.path, tmp_path / "copy")
    other = Ledger(tmp_path / "copy")
    ledger.release(Private("0.5"), people())
    with pytest.raises(FileError, match="older copy"):
        other.release(Private("0.5"), people(), chance=NoCoins())


def test_a_missing_witness_is_told_and_stops_entries_until_the_ledger_is_adopted(
    ledger: Ledger,
) -> None:
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    ledger.witness.unlink()
    assert ledger.spent().epsilon == Fraction("0.5")  # looking is still possible
    assert "missing" in ledger.verify()[0]
    for change in (
        lambda: ledger.release(Private("0.5"), people()),
        lambda: ledger.set_budget(epsilon=3),
    ):
        with pytest.raises(FileError, match=r"is missing.*shoal ledger adopt"):
            change()
    assert ledger.adopt().facts["lost"] == 0
    assert ledger.verify() == []
    assert ledger.spent().epsilon == Fraction("0.5")


def test_what_a_damaged_witness_knew_has_no_bound(ledger: Ledger) -> None:
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    lines = ledger.witness.read_bytes().splitlines(keepends=True)
    ledger.witness.write_bytes(lines[0] + lines[1].replace(b'"0.5"', b'"0.1"') + lines[2])
    assert ledger.verify() == []  # the last line vouches for those before it
    ledger.path.write_bytes(old)
    assert ledger.adopt().facts["delta"] == "1"
    ledger.witness.write_bytes(b"x\n")
    with pytest.raises(FileError, match="damaged"):
        ledger.spent()


def test_a_witness_knows_nothing_of_the_data(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2", limits={"a": "1/3"})
    ledger.release(Private(), people())
    assert ledger.witness is not None
    assert ledger.witness.stat().st_mode & 0o777 == 0o600
    words = set(re.findall(r"[a-z]+", re.sub(r"\b[0-9a-f]{32,}\b", "", ledger.witness.read_text())))
    assert words == {"null", "epsilon", "delta", "definition", "standard", "unit", "row", "e"}


def test_a_witness_goes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "ledger"
    with pytest.raises(ParameterError, match="same folder"):
        Ledger.create(path, witness=tmp_path / "in" / "." / "")
    ledger = Ledger.create(path, witness=tmp_path / "safe")
    old = path.read_bytes()
    assert ledger.witness is not None
    assert ledger.witness.parent == tmp_path / "safe"
    with pytest.raises(FileError, match="published along"):
        ledger.release(Private(), people(), tmp_path / "safe", chance=NoCoins())
    ledger.adopt(True)
    assert ledger.witness.parent == tmp_path / "state" / "shoal" / "witnesses"
    assert not [*(tmp_path / "safe").iterdir()]
    ledger.adopt(False)
    assert not ledger.witness
    assert ledger.concerns() == []
    ledger.release(Private(), people())
    path.write_bytes(old)
    with pytest.raises(FileError, match="older copy"):
        ledger.release(Private(), people(), chance=NoCoins())


def test_a_ledger_of_an_older_shoal_goes_on_and_is_told_to_have_no_witness(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    content = {**book._said("created"), "key": "00" * 32, "epsilon": "2", "delta": "1e-5"}
    store.create(path, content, lambda link: None)
    ledger = Ledger(path)
    ledger.release(Private("0.5"), people())
    assert "has no witness" in run("ledger", "show", str(path)).stderr
    ledger.adopt()
    old = path.read_bytes()
    ledger.release(Private("0.5"), people())
    path.write_bytes(old)
    assert "older copy" in ledger.verify()[0]


def test_a_witness_that_cannot_be_written_stops_a_release_that_then_counts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(custody.Witness, "_put", full)
        with pytest.raises(FileError, match=r"No space left.*entry 2 .* is made, and counts"):
            ledger.release(Private("0.5"), people(), chance=NoCoins())
        with pytest.raises(FileError, match="No space left"):
            Ledger.create(ledger.path.with_name("other"))
    assert ledger.spent().epsilon == Fraction("0.5")
    ledger.release(Private("0.5"), people())  # the witness catches up
    assert ledger.verify() == []
    assert ledger.witness is not None
    assert len(ledger.witness.read_bytes().splitlines()) == 4


def test_a_line_that_was_cut_short_is_written_anew(ledger: Ledger) -> None:
    ledger.release(Private("0.5"), people())
    assert ledger.witness is not None
    whole = ledger.witness.read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole)):
        ledger.witness.write_bytes(whole[:length])
        assert ledger.verify() == []
    ledger.set_budget(epsilon=3)
    assert ledger.witness.read_bytes().startswith(whole)
    assert len(ledger.witness.read_bytes().splitlines()) == 4


def test_an_adoption_that_is_cut_short_counts_what_was_lost_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    ledger.path.write_bytes(old)
    write = custody.Witness.write

    def die(self: custody.Witness, entries: Any) -> None:
        write(self, entries)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(custody.Witness, "write", die)
        with pytest.raises(KeyboardInterrupt):
            ledger.adopt()
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()
    assert ledger.adopt().facts["lost"] == 1
    assert ledger.spent().epsilon == Fraction("0.5")
    assert ledger.verify() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [(False, "w1"), ("w1", "w2"), ("w1", True), (True, "w1"), (False, True), ("w1", False)],
)
@pytest.mark.parametrize("stuck", [False, True])
def test_a_copy_from_before_its_witness_moved_is_an_older_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any, after: Any, stuck: bool
) -> None:
    def place(name: str | bool) -> Path | bool:
        return tmp_path / name if isinstance(name, str) else name

    path = tmp_path / "ledger"
    ledger = Ledger.create(path, epsilon=9, delta="1e-5", witness=place(before))
    old = path.read_bytes()
    if stuck:  # killed before the old one was removed, or it could not be
        monkeypatch.setattr(custody.Witness, "remove", lambda self: None)
    assert ledger.adopt(place(after)).facts["lost"] == 0
    for _ in range(2):
        ledger.release(Private("0.5"), people())
    assert (ledger.verify(), ledger.concerns()) == ([], [])
    path.write_bytes(old)
    assert ledger.verify() != []
    assert ledger.concerns() != []
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()
    with pytest.raises(FileError, match="shoal ledger adopt"):
        ledger.release(Private("0.5"), people(), chance=NoCoins())
    adopted = ledger.adopt()
    known = 1 if after is False else 5  # without a witness, nothing after the move is known
    assert adopted.facts["lost"] == known
    assert adopted.facts["witness"] == (str(place(after)) if isinstance(after, str) else after)
    assert ledger.spent().epsilon == (0 if after is False else 1)
    assert (ledger.verify(), ledger.concerns()) == ([], [])
    ledger.release(Private("0.5"), people())
    assert ledger.verify() == []


def test_a_copy_from_before_several_moves_is_an_older_copy(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger.create(path, epsilon=9, delta="1e-5", witness=tmp_path / "w0")
    copies = [path.read_bytes()]
    for name in ("w1", "w2", "w0", "w3"):
        ledger.adopt(tmp_path / name)
        ledger.release(Private("0.5"), people())
        copies.append(path.read_bytes())
    for copy in copies[:-1]:
        path.write_bytes(copy)
        with pytest.raises(FileError, match="older copy"):
            ledger.spent()
    path.write_bytes(copies[1])
    ledger.adopt()
    assert ledger.spent().epsilon == 2
    assert ledger.verify() == []
    path.write_bytes(copies[-1])  # is found again, and no longer the one that holds
    with pytest.raises(FileError, match="older copy"):
        ledger.spent()


@pytest.mark.parametrize("before", [False, True, "w1"])
@pytest.mark.parametrize("after", [False, True, "w2"])
def test_a_move_of_the_witness_that_is_cut_short_anywhere_can_be_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any, after: Any
) -> None:
    if before == after:
        return

    def place(name: str | bool, folder: Path) -> Path | bool:
        return folder / name if isinstance(name, str) else name

    write = custody.Witness.write
    for allowed in range(4):
        folder = tmp_path / str(allowed)
        folder.mkdir()
        ledger = Ledger.create(
            folder / "ledger", epsilon=9, delta="1e-5", witness=place(before, folder)
        )
        ledger.release(Private("0.5"), people())
        left = [True] * allowed

        def die(self: custody.Witness, entries: Any, left: list[bool] = left) -> None:
            if not left:
                raise KeyboardInterrupt
            left.pop()
            write(self, entries)

        with monkeypatch.context() as patched:
            patched.setattr(custody.Witness, "write", die)
            with contextlib.suppress(KeyboardInterrupt):
                ledger.adopt(place(after, folder))
        if ledger.verify():
            ledger.adopt()
        assert ledger.verify() == []
        ledger.release(Private("0.5"), people())
        with contextlib.suppress(ParameterError):  # it may have moved already
            ledger.adopt(place(after, folder))
        assert ledger.verify() == []
        assert ledger.spent().epsilon == 1


def test_without_a_place_to_note_it_a_ledger_that_had_no_witness_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ledger = Ledger.create(tmp_path / "ledger", witness=False)
    before = ledger.path.read_bytes()
    with pytest.raises(FileError, match="cannot write the witness"):
        ledger.adopt(tmp_path / "w1")
    assert ledger.path.read_bytes() == before
    assert ledger.verify() == []
    moving = Ledger.create(tmp_path / "moving", witness=tmp_path / "w1")
    old = moving.path.read_bytes()
    moving.adopt(tmp_path / "w2")  # the witness that it had tells
    moving.release(Private("0.5"), people())
    assert moving.verify() == []
    moving.path.write_bytes(old)
    with pytest.raises(FileError, match="older copy"):
        moving.spent()
    moving.adopt()
    assert moving.spent().epsilon == Fraction("0.5")


def test_lost_entries_leave_gamma_undecided(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2")
    old = ledger.path.read_bytes()
    ledger.release(Private("0.5"), people())
    ledger.path.write_bytes(old)
    ledger.adopt()
    with pytest.raises(InputError, match="is not known"):
        earlier(ledger.account())


def test_adopting_on_the_command_line(tmp_path: Path) -> None:
    path, safe = tmp_path / "ledger", tmp_path / "safe"
    both = run("ledger", "create", str(path), "--witness", str(safe), "--no-witness")
    assert (both.exit_code, path.exists()) == (2, False)
    made = run("ledger", "create", str(path), "--witness", str(safe))
    assert f"witness: {safe}" in made.stderr
    old = path.read_bytes()
    Ledger(path).release(Private("0.5"), people())
    path.write_bytes(old)
    refused = run("ledger", "show", str(path))
    assert refused.exit_code == 2
    assert f"shoal ledger adopt {path}" in refused.stderr
    assert run("ledger", "verify", str(path)).exit_code == 1
    adopted = run("ledger", "adopt", str(path))
    assert (
        "2 entries that the witness knew are lost; what they spent counts: ε 0.5, δ 1e-6"
        in adopted.stderr
    )
    shown = run("ledger", "show", str(path))
    assert re.search(r"spent +ε 0.5, δ 1e-6", shown.stdout)
    assert "adopted this copy, 2 entries lost" in shown.stdout
    assert json.loads(run("ledger", "show", str(path), "--json").stdout)["witness"].startswith(
        str(safe)
    )
    assert run("ledger", "adopt", str(path), "--no-witness").exit_code == 0
    assert Ledger(path).witness is None
    unwatched = run("ledger", "create", str(tmp_path / "other"), "--no-witness")
    assert "witness: none" in unwatched.stderr


# Forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_in_a_fork_where_polars_hangs_nothing_is_reserved(tmp_path: Path) -> None:
    code = """if True:
        import os, sys
        import polars as pl
        import shoal, shoal.data.frames
        from shoal.ledger import Ledger
        from tests.ledger.test_ledger import Private, people
        shoal.data.frames._PATIENCE = 2
        table = people()
        ledger = Ledger.create(sys.argv[1], epsilon=2, delta="1e-5", witness=False)
        if sys.argv[2] == "used":
            pl.DataFrame({"a": [2, 1], "b": [1, 2]}).group_by("a").len()
        if os.fork() == 0:
            try:
                ledger.release(Private(), table)
                print("released")
            except shoal.errors.ForkError as error:
                print(error)
            sys.stdout.flush()
            os._exit(0)
        os.wait()
    """

    def forked(name: str, used: str) -> str:
        command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / name), used]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout

    assert "nothing was reserved" in forked("a", "used")
    assert len(Ledger(tmp_path / "a").entries()) == 1
    assert forked("b", "unused") == "released\n"
    assert len(Ledger(tmp_path / "b").entries()) == 3


# Many processes


def careless_writing(path: Path, *, unread: bool = False) -> Any:
    """A broken twin: everyone may read while someone is about to write."""
    connection = store._connect(path)
    connection.execute("CREATE TEMP TABLE later (number, content, digest)")

    class Careless:
        def __enter__(self) -> "Careless":
            return self

        def execute(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
            if not sql.startswith("INSERT"):
                return connection.execute(sql, values)
            time.sleep(0.02)
            with store.reading(path) as now:  # so that the chain is whole all the same
                chain = store.links(now, path)
            return connection.execute(
                sql,
                (
                    len(chain) + 1,
                    values[1],
                    store._digest(chain[-1].digest, len(chain) + 1, values[1]),
                ),
            )

        def __exit__(self, *error: object) -> None:
            connection.close()

    return Careless()


# Killed processes


class WritesFirst(Ledger):
    """A broken twin: the files appear before the entry."""

    def complete(self, reserved: int, certificate: Any, **options: Any) -> Any:
        self.early = Path(self.path.parent / "out")
        Release(pa.table({"a": ["b"]}), certificate).write(self.early)
        return super().complete(reserved, certificate, **options)


class Forgets(Ledger):
    """A broken twin: what is reserved is spent only when the release is completed."""

    def reserve(self, *arguments: Any, **options: Any) -> Any:
        self.later = arguments, options
        return replace(
            self.entries()[0], number=len(self.entries()) + 1, facts={"other_data": False}
        )

    def complete(self, reserved: int, certificate: Any, **options: Any) -> Any:
        arguments, later = self.later
        Release(pa.table({"a": ["b"]}), certificate).write(self.path.parent / "out")
        return super().complete(super().reserve(*arguments, **later).number, certificate, **options)


LEDGERS: dict[str, type[Ledger]] = {
    "shipped": Ledger,
    "writes first": WritesFirst,
    "forgets": Forgets,
}
TRACED = (
    store.__file__,
    book.__file__,
    custody.__file__,
    shoal.releases.release.__file__,
    shoal.data.disk.__file__,
)


def nursery() -> None:
    """Takes jobs from stdin and does each in a fork of itself, which dies where the job says. Runs in a process of its own."""
    table = people()
    fingerprint(table, b"k")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                _work(job, table, write, libc)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        os.close(write)
        stops, begun, status = 0, time.perf_counter(), 0
        if "stop" in job:
            os.waitpid(child, 0)
            while True:
                if stops == job["stop"]:
                    os.kill(child, signal.SIGKILL)
                    _, status = os.waitpid(child, 0)
                    break
                libc.ptrace(
                    24, child, None, None
                )  # PTRACE_SYSCALL: on to where the next one begins or ends
                _, status = os.waitpid(child, 0)
                if not os.WIFSTOPPED(status):
                    break
                stops += 1
        elif "after" in job:
            time.sleep(job["after"])
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        else:
            _, status = os.waitpid(child, 0)
        with os.fdopen(read) as pipe:
            points = pipe.read().split("\n")[:-1]
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        failed = not killed and os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - begun
        print(
            json.dumps(
                {"killed": killed, "failed": failed, "points": points, "stops": stops, "took": took}
            ),
            flush=True,
        )


def _work(job: dict[str, Any], table: Table, write: int, libc: Any) -> None:
    folder = Path(job["folder"])
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    if job["what"] == "race":
        _race(job, table, write)
        return
    seen: dict[str, None] = {}

    def trace(frame: Any, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in TRACED:
            return None
        name = f"{Path(frame.f_code.co_filename).stem} {frame.f_code.co_name} {frame.f_lineno}"
        if event == "line" and name not in seen:
            seen[name] = None
            if name == job.get("point"):
                os.kill(os.getpid(), signal.SIGKILL)
            if job.get("point") == "none":
                os.write(write, f"{name}\n".encode())
        return trace

    if "stop" in job:
        libc.ptrace(0, 0, None, None)  # PTRACE_TRACEME
        os.kill(os.getpid(), signal.SIGSTOP)
    if "point" in job:
        sys.settrace(trace)
    if job["what"] == "create":
        Ledger.create(folder / "ledger", epsilon=2, delta="1e-5")
    else:
        LEDGERS[job["ledger"]](folder / "ledger").release(Private(), table, folder / "out")
    sys.settrace(None)


def _race(job: dict[str, Any], table: Table, write: int) -> None:
    """Some processes ask for a tenth several times each, all at once, and say what they got."""
    ledger = Ledger(Path(job["folder"]) / "ledger")
    if job["ledger"] == "careless":
        store.writing = careless_writing
        Ledger._testify = lambda *_: None  # type: ignore[method-assign]
    runners = []
    for _ in range(job["processes"]):
        if (runner := os.fork()) == 0:
            for _ in range(6):
                try:
                    ledger.reserve(
                        Private("0.1", "1e-7").promise(Schema.of(table)), "private", table
                    )
                    os.write(write, b"granted\n")
                except BudgetError:
                    os.write(write, b"refused\n")
                except Exception:  # the careless twin gets into its own way, too
                    os.write(write, b"failed\n")
            os._exit(0)
        runners.append(runner)
    for runner in runners:
        os.waitpid(runner, 0)


@contextmanager
def state_of(folder: Path) -> Iterator[None]:
    """The witness of the ledger in a folder is there too, as copies of one ledger would share theirs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield


class Nursery:
    """Does jobs in processes that are killed, each on a fresh copy of a ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        code = "from tests.ledger.test_ledger import nursery; nursery()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.fresh = folder / "fresh"
        self.fresh.mkdir()
        with state_of(self.fresh):
            Ledger.create(self.fresh / "ledger", epsilon=2, delta="1e-5")
        self.jobs = 0

    def __call__(
        self, what: str = "release", ledger: str = "shipped", **kill: Any
    ) -> tuple[Path, dict[str, Any]]:
        self.jobs += 1
        folder = self.folder / f"job{self.jobs}"
        if what == "create":
            folder.mkdir()
        else:
            shutil.copytree(self.fresh, folder)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"what": what, "ledger": ledger, "folder": str(folder), **kill}) + "\n"
        )
        self.process.stdin.flush()
        done: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert not done["failed"]
        return folder, done


@pytest.fixture(scope="module")
def nursery_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    if sys.platform != "linux":
        pytest.skip("forks and traces processes as Linux does")
    made = Nursery(tmp_path_factory.mktemp("nursery"))
    yield made
    made.process.communicate()


def test_processes_at_once_cannot_overspend(nursery_: Nursery) -> None:
    folder, done = nursery_("race", processes=8)
    assert [done["points"].count(word) for word in ("granted", "refused", "failed")] == [20, 28, 0]
    ledger = Ledger(folder / "ledger")
    with state_of(folder):
        assert ledger.spent() == pair(2, 20 * Fraction("1e-7"))
        assert ledger.verify() == []
        assert ledger.witness is not None
        assert len(ledger.witness.read_bytes().splitlines()) == 21


def test_the_race_would_be_lost_without_the_lock(nursery_: Nursery) -> None:
    def lost() -> bool:
        _, done = nursery_("race", "careless", processes=8)
        return bool(done["points"].count("granted") > 20)

    assert any(
        lost() for _ in range(10)
    )  # who is first is up to the machine, so not every race is lost


def found_after(folder: Path) -> str:
    """The state in which a killed process left things; AssertionError if something is out that is not entered."""
    with state_of(folder):
        return _found_after(folder)


def _found_after(folder: Path) -> str:
    ledger = Ledger(folder / "ledger")
    assert ledger.verify() == []
    entries = [entry.what for entry in ledger.entries()]
    assert entries == ["created", "reserved", "completed"][: len(entries)]
    out = [path.name for path in (folder / "out").iterdir()] if (folder / "out").exists() else []
    written = [name for name in out if not name.endswith(".part")]
    if out:
        assert len(entries) == 3, "a file is there before its entry"
    if "certificate.json" in written:
        number = json.loads((folder / "out" / "certificate.json").read_text())["number"]
        assert number == ledger.entries()[-1].facts["release"]
    assert ledger.spent().epsilon == (len(entries) > 1)
    return "written" if len(written) == 2 else entries[-1]


def goes_on(folder: Path) -> None:
    """Whatever happened, the ledger takes what is left of its budget and no more."""
    with state_of(folder):
        _goes_on(folder)


def _goes_on(folder: Path) -> None:
    ledger = Ledger(folder / "ledger")
    for _ in range(2 - int(ledger.spent().epsilon)):
        ledger.release(Private(), people(), folder / "again")
    with pytest.raises(BudgetError):
        ledger.release(Private("1e-9"), people(), folder / "again")
    assert ledger.spent().epsilon == 2
    assert ledger.verify() == []


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_line_nothing_is_lost_and_nothing_overspent(
    nursery_: Nursery, stride: int
) -> None:
    _, whole = nursery_(point="none")
    states = []
    for i, point in enumerate(whole["points"][::stride]):
        folder, done = nursery_(point=point)
        assert done["killed"], point
        states.append(found_after(folder))
        if i % 10 == 0 or point.startswith("custody"):
            older = (folder / "ledger").read_bytes()
            goes_on(folder)
            (folder / "ledger").write_bytes(older)
            with state_of(folder), pytest.raises(FileError, match="older copy"):
                Ledger(folder / "ledger").spent()
    assert len(states) > 100 / stride
    order = ["created", "reserved", "completed", "written"]
    assert set(states) == set(order)
    assert states == sorted(states, key=order.index)


@pytest.mark.parametrize("twin", ["writes first", "forgets"])
def test_the_kills_would_find_a_ledger_that_enters_too_late(nursery_: Nursery, twin: str) -> None:
    _, whole = nursery_(point="none", ledger=twin)
    points = [point for point in whole["points"] if point.startswith(("store", "disk"))][::-2]

    def kill_at_all() -> None:
        for point in points:
            found_after(nursery_(point=point, ledger=twin)[0])

    with pytest.raises(AssertionError, match="before its entry"):
        kill_at_all()


def _stops(nursery_: Nursery, what: str) -> int:
    _, whole = nursery_(what, stop=-1)
    if not whole["stops"]:
        pytest.skip("processes cannot be traced here")
    return int(whole["stops"])


def killed_at_system_calls(nursery_: Nursery, what: str, share: float) -> set[str]:
    """Killed where a system call begins or ends. Between two of them nothing outside of the process changes, so that these are
    all the moments there are."""
    states = set()
    dice = random.Random(7)
    for stop in range(1, _stops(nursery_, what)):
        if dice.random() < share:
            folder, _ = nursery_(what, stop=stop)
            if what == "create" and (
                not (folder / "ledger").exists() or not _whole(folder / "ledger")
            ):
                with state_of(folder):
                    Ledger.create(folder / "ledger", epsilon=2, delta="1e-5")
                states.add("nothing")
            states.add(found_after(folder))
            if dice.random() < 0.1:
                goes_on(folder)
    return states


def _whole(path: Path) -> bool:
    try:
        with state_of(path.parent):
            return bool(Ledger(path).entries())
    except FileError as error:
        if "creation was cut short" in str(error):
            return False
        raise


def test_killed_at_some_system_calls_nothing_is_lost(nursery_: Nursery) -> None:
    assert killed_at_system_calls(nursery_, "release", 0.02) >= {"created", "reserved"}
    assert killed_at_system_calls(nursery_, "create", 0.2) == {"nothing", "created"}


@pytest.mark.slow
def test_killed_at_any_system_call_nothing_is_lost(nursery_: Nursery) -> None:
    assert killed_at_system_calls(nursery_, "release", 1) == {
        "created",
        "reserved",
        "completed",
        "written",
    }
    assert killed_at_system_calls(nursery_, "create", 1) == {"nothing", "created"}


def test_killed_at_random_times_nothing_is_lost(nursery_: Nursery) -> None:
    took = nursery_()[1]["took"]
    for _ in range(30):
        found_after(nursery_(after=random.uniform(0, took))[0])


# The command line


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10}0s;*\n" for age in range(100)))
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    (tmp_path / "recipe.toml").write_text(RECIPE + '\n[ledger]\npath = "own.ledger"\n')
    return tmp_path


def test_show_tells_everything_within_80_columns(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    assert (
        run("ledger", "create", str(path), "--epsilon", "ln(8)", "--delta", "1e-5").exit_code == 0
    )
    ledger = Ledger(path)
    made = ledger.release(Private("0.5"), people())
    with pytest.raises(InfeasibleError):
        ledger.release(Private("ln(2)", fails=True), people("abca"))
    assert run("ledger", "budget", str(path), "--epsilon", "4").exit_code == 0
    shown = run("ledger", "show", str(path)).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"budget +ε 4, δ 1e-5 *\n", shown)
    assert re.search(r"spent +ε 1.19315, δ 2e-6 \(standard definition, unit row\)", shown)
    assert re.search(r"left +ε 2.80685, δ 8e-6", shown)
    assert "created with a budget of ε ln(8), δ 1e-5" in shown
    assert "changed to a budget of ε 4, δ 1e-5" in shown
    assert made.certificate.number in shown
    assert "NOT COMPLETED, and counts as spent" in shown
    found = json.loads(run("ledger", "show", str(path), "--json").stdout)
    assert found["budget"] == {"epsilon": "4", "delta": "1e-5"}
    assert Fraction(found["spent"]["epsilon"]) + Fraction(found["left"]["epsilon"]) == 4
    assert [entry["what"] for entry in found["entries"]] == [
        "created",
        "reserved",
        "completed",
        "reserved",
        "budget",
    ]
    assert found["head"] == ledger.head() == found["entries"][-1]["digest"]
    assert found["bounded"] is True


def test_a_ledger_that_others_may_read_is_told_once_by_every_command(folder: Path) -> None:
    ledger = Ledger.create("own.ledger")
    commands = [
        ("ledger", "show", "own.ledger"),
        ("ledger", "show", "own.ledger", "--json"),
        ("ledger", "verify", "own.ledger"),
        ("ledger", "gamma", "own.ledger", "1"),
        ("ledger", "adopt", "own.ledger", "--witness", "other"),
        ("release", "recipe.toml", "--out", "first"),
        ("views", "check", "first", "--with", "own.ledger", "--recipe", "recipe.toml"),
        ("ledger", "remember", "own.ledger", "first", "--recipe", "recipe.toml"),
        ("ledger", "budget", "own.ledger", "--epsilon", "1", "--delta", "0"),
    ]
    assert "chmod" not in run(*commands[0]).stderr
    for mode in (0o640, 0o604, 0o620):
        ledger.path.chmod(mode)
        for arguments in commands:
            said = run(*arguments).stderr
            assert said.count("own.ledger is open to") == said.count("chmod 600") == 1, arguments
        shutil.rmtree("first")
        run("ledger", "adopt", "own.ledger", "--witness", "before")
    ledger.path.chmod(0o600)
    assert ledger.witness is not None
    ledger.witness.chmod(0o644)
    assert f"{ledger.witness} is open to everyone (mode 644)" in run(*commands[0]).stderr


def test_mistakes_on_the_command_line_are_exit_code_2(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger")
    for arguments in (
        ("show", path),
        ("verify", path),
        ("budget", path),
        ("create", path, "--epsilon", "1"),
    ):
        result = run("ledger", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith("error: ")
    assert not tree(tmp_path)


def test_a_recipe_names_its_ledger_seen_from_its_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = run("release", "recipe.toml", "--out", "out")
    assert refused.exit_code == 2
    assert "shoal ledger create own.ledger" in refused.stderr
    assert not (folder / "out").exists()
    Ledger.create("own.ledger")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    done = run("release", "../recipe.toml", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "own.ledger as entry 2" in done.stderr
    certificate = json.loads((folder / "elsewhere" / "out" / "certificate.json").read_text())
    assert Ledger("../own.ledger").entries()[2].facts["release"] == certificate["number"]
    recipe = shoal.Recipe.load("../recipe.toml")
    for entry, made in ((4, recipe.run()), (6, recipe.release(recipe.table()))):
        assert Ledger("../own.ledger").entries()[entry].facts["release"] == made.certificate.number
    Ledger.create("other.ledger")
    assert (
        run("release", "../recipe.toml", "--out", "more", "--ledger", "other.ledger").exit_code == 0
    )
    assert [len(Ledger(path).entries()) for path in ("../own.ledger", "other.ledger")] == [7, 3]


def test_a_release_that_the_budget_does_not_allow_writes_nothing(folder: Path) -> None:
    Ledger.create("own.ledger", epsilon=1, delta=0.1)
    before = tree(folder)
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 2
    assert "fits none" in result.stderr
    assert run("release", "recipe.toml", "--out", ".").exit_code == 2
    assert tree(folder) == before


def test_a_release_that_is_stopped_is_told_to_be_spent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.methods.optimal import Optimal

    Ledger.create("own.ledger")
    for error in (KeyboardInterrupt, Stopped):

        def stop(
            self: object, *arguments: object, error: type[BaseException] = error, **options: object
        ) -> None:
            raise error

        monkeypatch.setattr(Optimal, "release", stop)
        result = run("release", "recipe.toml", "--out", "out")
        assert result.exit_code == 130
        assert "counts as spent" in result.stderr
    assert not (folder / "out").exists()


def test_unknown_keys_of_the_section_are_told(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE + '\n[ledger]\npaths = "own.ledger"\n')
    assert (
        "ledger.paths: unknown key; did you mean 'path'?"
        in run("recipe", "check", "recipe.toml").stderr
    )


def test_a_promise_of_the_method_is_that_of_the_entry(ledger: Ledger) -> None:
    promise: Promise = Private().promise(Schema.of(people()))
    assert ledger.reserve(promise, "private", people()).facts["promise"] == promise.to_dict()
