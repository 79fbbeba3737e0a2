"""Rows that are elsewhere are fetched where single records are needed, if they fit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import shoal
from shoal.attack import expose
from shoal.audit import Audit, Secret
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, TooLargeError
from shoal.measure.ratings import Training, rmse
from shoal.methods.mondrian import Mondrian
from shoal.methods.personal import Personal
from shoal.privacy.models import DistinctDiversity
from shoal.studies.tradeoffs import tradeoff_of
from shoal.views.candidates import truth
from shoal.views.register import Register
from tests.attack.people import known, owned
from tests.methods.examples import people, ratings


def lazily(given: Table) -> Table:
    return _elsewhere(given, lambda frame: frame.lazy())


def in_duckdb(given: Table) -> Table:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    return _elsewhere(given, lambda frame: duckdb.connect().from_arrow(frame.to_arrow()))


def _elsewhere(given: Table, move: Callable[[pl.DataFrame], Any]) -> Table:
    roles: dict[str, Any] = {
        role: [name for name, own in given.roles.items() if own == role]
        for role in ("quasi", "sensitive", "identifying", "insensitive")
    }
    return shoal.table(
        move(nw.to_native(given.frame)),
        hierarchies=given.hierarchies,
        types={name: given.kind(name) for name in given.names},
        missing=given.missing,
        **roles,
    )


def rows_of(table: Table) -> list[Any]:
    columns = table.records(table.names)
    texts = [[column.labels[code] for code in column.codes.tolist()] for column in columns]
    return list(zip(*texts, strict=True))


def test_rows_in_memory_stay_what_they_are() -> None:
    table = people()
    assert table.in_memory() is table


def test_rows_that_are_read_in_streams_keep_their_order() -> None:
    table = people()
    fetched = lazily(table).in_memory(["name"])
    assert fetched.names == ("age", "town", "ill", "tag", "name")
    assert fetched.roles == table.roles
    assert rows_of(fetched) == rows_of(table.selecting(fetched.names, types=fetched.types))


def test_rows_without_an_order_are_in_that_of_their_values() -> None:
    table = people()
    fetched = in_duckdb(table).in_memory()
    assert fetched.names == ("age", "town", "ill", "tag")
    expected = rows_of(table.selecting(fetched.names, types=fetched.types))
    assert sorted(rows_of(fetched)) == sorted(expected)
    ages = fetched.records(["age"])[0].codes.tolist()
    assert ages == sorted(ages)
    # Whatever else is fetched: people are known by their rows.
    more = in_duckdb(table).in_memory(["name"])
    assert [row[:4] for row in rows_of(more)] == rows_of(fetched)


def test_what_needs_an_order_is_refused_where_there_is_none() -> None:
    with pytest.raises(ColumnError, match="order of rows"):
        in_duckdb(people()).in_memory(in_order=True)


def test_rows_that_do_not_fit_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    table = lazily(people())
    assert table.rows == 200
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 100)
    with pytest.raises(TooLargeError, match="fetching 200 rows into memory"):
        table.in_memory()
    with pytest.raises(ColumnError, match="single records"):
        table.records(["age"])


# Whoever needs them


def test_someone_in_a_stream_has_the_same_choice() -> None:
    method = Personal("1/2")
    one, other = (tradeoff_of(each, method, 7) for each in (people(), lazily(people())))
    assert one.to_dict() == other.to_dict()


def test_a_register_is_of_rows_wherever_they_are() -> None:
    table = people()
    streamed = Register.of_rows(lazily(table), "ill", "name")
    assert streamed.names == Register.of_rows(table, "ill", "name").names
    own, moved = (Register.of_rows(each, "ill", "name") for each in (table, in_duckdb(table)))
    values = dict(zip(own.names, truth(own, table, "ill"), strict=True))
    assert dict(zip(moved.names, truth(moved, in_duckdb(table), "ill"), strict=True)) == values
    nameless = replace(Register.of_rows(table, "ill"), person=None)
    assert truth(nameless, lazily(table), "ill") == truth(nameless, table, "ill")
    with pytest.raises((ColumnError, InputError), match="order of rows"):
        truth(nameless, in_duckdb(table), "ill")


def test_an_attack_infers_the_same_of_rows_that_are_streamed() -> None:
    rows = [(n % 3, n // 3) for n in range(6)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    shown = method.release(owned(rows, "xyxyzz")).table
    one, other = (expose(method, each, shown, "ill") for each in (known(rows), lazily(known(rows))))
    assert one.inferences == other.inferences
    exposed = one.exposed_records(known(rows), 3)
    assert other.exposed_records(lazily(known(rows)), 3) == exposed


def test_an_audit_is_of_rows_wherever_they_are(tmp_path: Path) -> None:
    frame = pl.DataFrame({"name": ["Ann", "Bob", "Cid"], "pay": [3, 5, 4]})
    audit = Audit.new(tmp_path / "a", shoal.table(frame.lazy()), Secret("pay"), public=["name"])
    assert audit.ask("max(pay)").answer == 5


def test_predictions_are_as_good_wherever_the_ratings_are() -> None:
    table = ratings()
    released = nw.to_native(table.frame).rename({"who": "record"})
    names = {"person": "who", "item": "film", "value": "stars"}
    one, other = (
        rmse(each, released, **names, training=Training(rounds=2))
        for each in (table, lazily(table))
    )
    assert one.original is not None
    assert one == other
