"""What does not fit into memory is refused before anything is spent, whatever the method."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import shoal
from shoal.data.distant import Distant
from shoal.data.engines.streaming import Streamed
from shoal.data.tables import Table
from shoal.errors import TooLargeError
from shoal.ledger import Ledger
from shoal.methods.method import Method
from tests.ledger.private import unsync
from tests.methods.examples import LONG_METHODS, METHODS, people, ratings
from tests.methods.examples import table as example_table

EVERY = {**METHODS, **LONG_METHODS}
ONE_OF_EACH = {method.name: name for name, method in reversed(EVERY.items())}.values()


def streamed(given: Table) -> Table:
    """The same table, whose rows are counted in streams."""
    lazy = nw.to_native(given.frame).lazy()
    released = [name for name in given.released if name in given.roles]
    types = {name: given.kind(name) for name in given.names}
    return replace(given, source=Distant.of(lazy).together(released), types=types)


def tried(name: str, **changes: Any) -> tuple[Method, Table]:
    """A method and the table that it is tried on, which is not in memory."""
    method: Method = replace(EVERY[name], **changes)  # type: ignore[type-var]
    return method, streamed(ratings() if name in LONG_METHODS else people())


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    unsync(monkeypatch)
    return shoal.Ledger.create(tmp_path / "own.ledger", witness=False)


def entered(ledger: Ledger) -> list[str]:
    return [entry.what for entry in ledger.entries()]


@pytest.mark.parametrize("name", EVERY)
def test_rows_that_do_not_fit_spend_nothing(
    name: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, table = tried(name)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 100)
    with pytest.raises(TooLargeError, match="needs about"):
        ledger.release(method, table)
    assert entered(ledger) == ["created"]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_rows_of_people_that_neither_fit_nor_come_in_order_spend_nothing(
    name: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {} if name in LONG_METHODS else {"unit": "name"}
    if "definition" in {field.name for field in fields(EVERY[name])}:  # type: ignore[arg-type]
        changes["definition"] = "standard"
    method, table = tried(name, **changes)
    table.count(table.schema.released)
    # The distinct rows are there; those of people are not.
    monkeypatch.setattr(Streamed, "orders", lambda self: False)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 100)
    with pytest.raises(TooLargeError, match="needs about"):
        ledger.release(method, table)
    assert entered(ledger) == ["created"]


@pytest.mark.parametrize("name", EVERY)
def test_a_method_that_needs_more_than_the_rows_spends_nothing_or_releases(
    name: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, table = tried(name)
    table.count(table.schema.released)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 100)
    try:
        ledger.release(method, table)
    except TooLargeError:
        assert entered(ledger) == ["created"]
    else:
        assert entered(ledger) == ["created", "reserved", "completed"]


@pytest.mark.parametrize("name", ["buckets of two", "coincident", "columns"])
def test_what_draws_for_every_record_needs_all_of_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, table = tried(name)
    table.count(table.schema.released)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 100)
    with pytest.raises(TooLargeError, match="200 single records"):
        method.release(table)


def test_strict_cuts_are_of_distinct_rows_however_often_each_occurs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = nw.to_native(people(20).frame).drop("name")
    many = streamed(example_table(pl.concat([few] * 500), identifying=[]))
    many.count(many.schema.released)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 10_000)
    assert METHODS["mondrian strict"].release(many).facts.records == 10_000
    with pytest.raises(TooLargeError, match="10,000 rows along"):
        METHODS["mondrian relaxed"].release(many)
