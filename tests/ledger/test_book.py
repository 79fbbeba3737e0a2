"""A ledger is made once, belongs to its owner, and enters every release before it appears."""

import json
import os
import re
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import shoal
import shoal.data.disk
import shoal.data.files
import shoal.releases.release
from shoal.chance import Chance
from shoal.chance.source import Seeded
from shoal.data.tables import Table
from shoal.errors import (
    BudgetError,
    FileError,
    HierarchyError,
    InfeasibleError,
    ParameterError,
    ShoalError,
)
from shoal.exact.epsilon import Epsilon
from shoal.ledger import Destination, Ledger
from shoal.methods.method import Progress
from shoal.privacy.promises import Promise
from shoal.releases.facts import Entered
from shoal.releases.release import Release
from tests.ledger.private import NoCoins, Private, chain_of, pair, people, run, tree


def test_a_new_ledger_has_one_entry_and_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        made = Ledger.create(tmp_path / "ledger", epsilon="ln(2)", delta=1e-5)
    finally:
        os.umask(umask)
    assert (tmp_path / "ledger").stat().st_mode & 0o777 == 0o600
    (entry,) = made.entries()
    assert (entry.number, entry.what) == (1, "created")
    assert entry.facts.budget == (Epsilon.of("ln(2)"), Fraction("1e-5"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.time)
    assert made.spent() == pair(0, 0)
    assert made.verify() == []
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]


def test_the_key_is_random_and_never_shown(tmp_path: Path) -> None:
    keys = []
    for name in "ab":
        made = Ledger.create(tmp_path / name)
        made.release(Private(), people())
        keys.append(chain_of(made)[0].facts["key"])
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
    with pytest.raises(FileError, match="not a ledger"):
        Ledger(tmp_path / "file").entries()
    assert tree(tmp_path) == before


def test_what_is_no_ledger_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="shoal ledger create"):
        Ledger(tmp_path / "nowhere")
    with pytest.raises(FileError, match="not a file"):
        Ledger(tmp_path)
    with pytest.raises(FileError, match="cannot make"):
        Ledger.create(tmp_path / "no" / "folder")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE entries (number, content, digest)")
    other.close()
    with pytest.raises(FileError, match="not a ledger"):
        Ledger(tmp_path / "other.db").entries()
    made = Ledger.create(tmp_path / "newer")
    other = sqlite3.connect(made.path)
    other.execute("PRAGMA user_version = 3")
    other.close()
    with pytest.raises(FileError, match="layout 3, and this Shoal reads 2"):
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
    assert (reserved.what, completed.what, completed.facts.reserved) == (
        "reserved",
        "completed",
        reserved.number,
    )
    assert reserved.facts.method == "private"
    assert reserved.facts.cost.to_dict() == {
        "epsilon": "ln(2)",
        "delta": "1e-6",
        "definition": "standard",
        "unit": "row",
    }
    assert reserved.facts.columns == {"sex": "quasi", "ill": "sensitive"}
    assert completed.facts.release == made.certificate.number
    assert completed.facts.certificate == json.loads(made.certificate.to_json())
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
    chain = chain_of(ledger)
    secrets = [
        chain[0].facts["key"],
        chain[1].facts["fingerprint"],
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
            Destination(tmp_path / options.pop("directory"), **options),
            chance=NoCoins(),
        )
    assert tree(tmp_path) == before


def test_a_method_that_fails_has_spent_and_the_error_says_so(
    ledger: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(
        InfeasibleError, match=r"nothing can be released; entry 2 of .* counts as spent"
    ):
        ledger.release(Private(fails=True), people(), tmp_path / "out")

    with pytest.raises(KeyboardInterrupt) as stopped:
        ledger.release(Private(), people(), tmp_path / "out", progress=stopping_at(1))
    assert "entry 3" in stopped.value.__notes__[0]
    assert ledger.left() == pair(0, Fraction("8e-6"))
    assert not (tmp_path / "out").exists()


def test_what_stops_before_the_first_coin_spends_nothing(ledger: Ledger, tmp_path: Path) -> None:
    before = tree(tmp_path)
    with pytest.raises(KeyboardInterrupt) as stopped:
        ledger.release(Private(), people(), tmp_path / "out", progress=stopping_at(0))
    assert not hasattr(stopped.value, "__notes__")
    assert tree(tmp_path) == before


def stopping_at(step: int) -> Progress:
    """Stops once a method reports a step."""

    def stop(done: int, total: int, what: str) -> None:
        if done == step:
            raise KeyboardInterrupt

    return stop


def test_a_method_that_draws_nothing_is_entered_before_it_is_completed(
    ledger: Ledger, tmp_path: Path
) -> None:
    class Still(Private):
        def release(
            self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
        ) -> Release:
            return super().release(table, Chance())

    ledger.release(Still(), people(), tmp_path / "out")
    assert [entry.what for entry in ledger.entries()] == ["created", "reserved", "completed"]


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
    entry = ledger.reserve(Private(1).promise(people().schema), "private", people())
    other = Private("0.5").release(people()).certificate
    seeded = Private(1).release(people(), Seeded(1)).certificate
    for certificate in (other, seeded, replace(seeded, promise={})):
        with pytest.raises(ParameterError, match="promises something else"):
            ledger.complete(entry.number, certificate)
    right = Private(1).release(people()).certificate
    for number in (1, 3):
        with pytest.raises(ParameterError, match="does not reserve a release"):
            ledger.complete(number, right)
    ledger.complete(entry.number, right)
    with pytest.raises(ParameterError, match="completed already"):
        ledger.complete(entry.number, right)


def test_a_promise_of_the_method_is_that_of_the_entry(ledger: Ledger) -> None:
    promise: Promise = Private().promise(people().schema)
    assert ledger.reserve(promise, "private", people()).facts.promise == promise.to_dict()
