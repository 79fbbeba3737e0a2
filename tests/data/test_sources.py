"""A source needs nothing but its protocol: one over a plain list of rows gives the same counts,
releases and measures.

`Listed` keeps no dataframe and no codes, and refuses whatever is not in the protocol. What still
looks at single records, and so needs a table in memory, is listed in `NEED_RECORDS`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Chance, Seeded
from shoal.counts import Codes, Counts, smallest
from shoal.data import frames
from shoal.data.bounding import bounded_rows
from shoal.data.kinds import Key, Kind
from shoal.data.sources import (
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Source,
    Suppressed,
    known_values,
)
from shoal.data.tables import Table
from shoal.errors import ColumnError
from shoal.methods.columns import Columns
from shoal.methods.method import Method
from shoal.releases.release import Release
from tests.methods.examples import METHODS, people

Record = tuple[object, ...]

NEED_RECORDS = {
    "shoal.measure.utility": "a release with ranges of its own is read beside the input's columns",
    "shoal.measure.ratings": "what a person gave is predicted from the person's other items",
    "shoal.attack.knowledge": "an attacker knows people one by one",
    "shoal.audit.book": "answers are checked against what each person's record could be",
    "shoal.views.released": "a register names the people whom views are about",
}
"""The modules that look at single records of the input, and why; methods are not among them."""


class Listed:
    """Rows in a list; a dataframe without rows says which types they have."""

    def __init__(self, records: Sequence[Record], types: Memory) -> None:
        self._records, self._types = records, types
        assert not types.rows

    @classmethod
    def of(cls, table: Table) -> "Listed":
        return cls(list(table.frame.iter_rows()), Memory(table.frame.head(0)))

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a source has no {name!r}")

    @property
    def names(self) -> tuple[str, ...]:
        return self._types.names

    @property
    def rows(self) -> int:
        return len(self._records)

    def together(self, names: Sequence[str]) -> "Listed":
        return self

    def describe(self) -> str:
        return f"the table has {', '.join(self.names)}"

    def is_headless(self) -> bool:
        return False

    def kind(self, name: str) -> Kind:
        return self._types.kind(name)

    def guessed(self, name: str) -> bool:
        return self._types.guessed(name)

    def decimal(self, name: str) -> bool:
        return self._types.decimal(name)

    def rounded(self, name: str) -> bool:
        return self._types.rounded(name)

    def distinct(self, name: str) -> int | None:
        place = self.names.index(name)
        return len({record[place] for record in self._records})

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        return [tuple(_ordered(self._keys(column))) for column in columns]

    def known(self, column: Reading) -> tuple[int, int]:
        return known_values(self, column)

    def count(self, columns: Sequence[Recoded]) -> Counts:
        rows = Counter(zip(*map(self._codes, columns), strict=True))
        ordered = sorted(rows)
        codes = [
            np.array([row[place] for row in ordered], dtype=smallest(column.card))
            for place, column in enumerate(columns)
        ]
        return Counts(
            tuple(column.column.name for column in columns),
            tuple(codes),
            tuple(column.card for column in columns),
            np.array([rows[row] for row in ordered], dtype=np.int64),
        )

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> Source:
        people, *others = (
            np.array(self._codes(Recoded(column, None, self.rows)), dtype=np.uint64)
            for column in (unit, *columns)
        )
        once = np.ones(self.rows, dtype=np.int64)
        kept = bounded_rows(people, others, once, rows, chance)
        return Listed(
            [self._records[place] for place in np.flatnonzero(kept).tolist()], self._types
        )

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> Any:
        codes = [self._codes(column.column) for column in columns]
        generalised = [place for place, column in enumerate(columns) if column.star is not None]
        kept = [True] * self.rows
        if keep is not None:
            looked_at: list[Codes] = [np.array(codes[place], np.uint64) for place in generalised]
            kept = keep(looked_at).tolist()
        rows = []
        for row, is_kept in zip(zip(*codes, strict=True), kept, strict=True):
            if is_kept:
                rows.append(row)
            elif suppressed == "star":
                stars = [columns[place].star for place in generalised]
                starred = dict(zip(generalised, stars, strict=True))
                rows.append(tuple(starred.get(place, code) for place, code in enumerate(row)))
        rows.sort()
        laid = {
            column.column.column.name: (
                column.values,
                np.array([row[place] for row in rows], dtype=np.int64),
            )
            for place, column in enumerate(columns)
        }
        kinds = {column.column.column.name: column.column.column.kind for column in columns}
        return self.make(laid, kinds)

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> Any:
        return self._types.make(columns, kinds)

    def _keys(self, column: Reading) -> list[Key | None]:
        place = self.names.index(column.name)
        distinct = list(dict.fromkeys(record[place] for record in self._records))
        keys = dict(zip(distinct, column.kind.keys(distinct, column.name), strict=True))
        return [keys[record[place]] for record in self._records]

    def _codes(self, column: Recoded) -> list[int]:
        keys = self._keys(column.column)
        place = {key: code for code, key in enumerate(_ordered(keys))}
        own = [place[key] for key in keys]
        return own if column.codes is None else column.codes[own].tolist()


def _ordered(keys: Sequence[Key | None]) -> list[Key | None]:
    """The distinct keys in canonical order, a missing value last."""
    ordered: list[Key | None] = [*sorted({key for key in keys if key is not None})]
    return [*ordered, None] if None in keys else ordered


def listed(table: Table) -> Table:
    """The same table, its rows in a list."""
    return replace(table, source=Listed.of(table))


def with_missing(rows: int = 200) -> Table:
    """People, some of whom lack a value."""
    given = people(rows)
    frame = nw.to_native(given.frame).with_columns(
        age=pl.when(pl.col("tag") % 9 == 0).then(None).otherwise(pl.col("age")),
        ill=pl.when(pl.col("tag") % 7 == 0).then(None).otherwise(pl.col("ill")),
    )
    return replace(given, source=Memory.of(frame))


def same(one: Counts, other: Counts) -> bool:
    return (
        (one.names, one.cards) == (other.names, other.cards)
        and all(np.array_equal(a, b) for a, b in zip(one.codes, other.codes, strict=True))
        and np.array_equal(one.count, other.count)
    )


@pytest.mark.parametrize("make", [people, with_missing])
def test_both_sources_give_the_very_same_counts(make: Callable[[], Table]) -> None:
    memory = make()
    other = listed(memory)
    assert all(memory.keys(name) == other.keys(name) for name in memory.names)
    for names, levels in (
        (memory.names, None),
        (memory.names, {}),
        (["age", "town"], {"age": 1, "town": 1}),
        (["ill"], {}),
    ):
        assert same(memory.count(names, levels), other.count(names, levels))


def test_both_sources_choose_the_same_rows_of_people() -> None:
    given = people()
    frame = nw.to_native(given.frame)
    several = replace(given, source=Memory.of(pl.concat([frame, frame, frame[:40]])))
    for rows in (1, 2):
        one = several.bounded("name", rows, Seeded(3))
        other = listed(several).bounded("name", rows, Seeded(3))
        assert same(one.count(one.names), other.count(other.names))


def test_a_table_that_is_not_in_memory_refuses_single_records() -> None:
    with pytest.raises(ColumnError, match="single records"):
        listed(people()).records(["age"])
    with pytest.raises(ColumnError, match="not in memory"):
        _ = listed(people()).frame


def assert_same(one: Release, other: Release) -> None:
    """Everything that is released, and everything that the owner is told."""
    assert one.table.equals(other.table)
    assert one.table.schema == other.table.schema
    assert list(one.further) == list(other.further)
    assert all(one.further[name].equals(other.further[name]) for name in one.further)
    assert one.certificate == other.certificate
    assert one.facts == other.facts


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_releases_from_counts_alone(method: Method) -> None:
    given = with_missing()
    assert_same(method.release(given, Seeded(5)), method.release(listed(given), Seeded(5)))


def test_items_of_people_are_released_from_counts_alone() -> None:
    rows = [(f"p{i}", f"film {i % 5}", i % 3) for i in range(90)]
    rows += [(f"p{i}", f"film {(i + 1) % 5}", i % 2) for i in range(90)]
    frame = pl.DataFrame(rows, schema=["who", "film", "stars"], orient="row")
    given = shoal.table(
        frame,
        identifying=["who"],
        quasi=["film"],
        sensitive=["stars"],
        types={"who": "text", "film": "text", "stars": "integer"},
    )
    schema = [["film 0", "film 1"], ["film 2"]]
    method = Columns(2, "1/2", 2, schema=schema, person="who", item="film", value="stars")
    assert_same(method.release(given, Seeded(5)), method.release(listed(given), Seeded(5)))


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_draws_people_wherever_they_live(method: Method) -> None:
    changed = {"unit": "name"}
    if "definition" in {field.name for field in fields(method)}:  # type: ignore[arg-type]
        changed["definition"] = "standard"
    drawn: Method = replace(method, **changed)  # type: ignore[type-var]
    frame = nw.to_native(people().frame)
    given = replace(people(), source=Memory.of(pl.concat([frame, frame])))
    assert_same(drawn.release(given, Seeded(5)), drawn.release(listed(given), Seeded(5)))


def test_risks_are_assessed_wherever_rows_live() -> None:
    given = with_missing()
    one, other = (
        shoal.assess(each, details=True, fraction="1/10") for each in (given, listed(given))
    )
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    "name", ["optimal starred", "safepub", "k-dgs", "mondrian strict", "personal"]
)
def test_a_release_is_judged_wherever_its_input_lives(name: str) -> None:
    given = with_missing()
    made = METHODS[name].release(given, Seeded(5))
    one, other = (shoal.judge(each, made, queries=20) for each in (given, listed(given)))
    assert one.to_json() == other.to_json()


def test_a_ledger_knows_the_same_data_wherever_it_lives(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    method = shoal.SafePub("1/2", "1/8", ceiling={"age": 1})
    noted = []
    for given in (with_missing(), listed(with_missing()), listed(with_missing(180))):
        entered = ledger.release(method, given).entry
        assert entered is not None
        noted.append(entered.other_data)
    assert noted == [False, False, True]


def coded_people() -> tuple[Memory, Memory]:
    """The same rows, coded while they were read and as a dataframe."""
    coded: dict[str, frames.CodedValues] = {
        "town": (np.array([2, 0, 1, 0, 2, 0], dtype=np.uint8), ["Bath", "York", None]),
        "day": (np.array([0, 0, 1, 1, 0, 1], dtype=np.uint8), ["039", "39"]),
    }
    other = pl.DataFrame({"person": ["a", "a", "b", "b", "b", "c"]})
    rows = frames.CodedRows(("town", "person", "day"), coded, other)
    return Memory(rows), Memory.of(rows.frame())


def test_rows_that_were_coded_while_they_were_read_give_the_same_answers() -> None:
    coded, plain = coded_people()
    assert coded.names == plain.names == ("town", "person", "day")
    assert coded.rows == plain.rows == 6
    assert coded.describe() == plain.describe()
    for name in plain.names:
        assert coded.kind(name) is plain.kind(name)
        assert coded.guessed(name) == plain.guessed(name)
        assert coded.decimal(name) == plain.decimal(name)
        assert coded.distinct(name) == plain.distinct(name)
    for kind in (Kind.TEXT, Kind.INTEGER):
        readings = [Reading("town", Kind.TEXT), Reading("day", kind)]
        assert coded.values(readings) == plain.values(readings)
        for own, other in zip(coded.columns(readings), plain.columns(readings), strict=True):
            assert own.codes.tolist() == other.codes.tolist()
    assert coded.frame.to_native().equals(plain.frame.to_native())
    assert coded.selecting(["day", "person"]).names == ("day", "person")


def test_bounded_rows_that_were_coded_while_they_were_read_have_no_value_of_other_rows() -> None:
    readings = [Reading("town", Kind.TEXT), Reading("day", Kind.TEXT)]
    person = Reading("person", Kind.TEXT)
    for seed in range(20):
        coded, plain = (
            source.bounded(person, readings, 1, Seeded(seed)) for source in coded_people()
        )
        assert coded.rows == plain.rows == 3
        assert coded.values(readings) == plain.values(readings)
        assert coded.frame.to_native().equals(plain.frame.to_native())


def test_rows_that_were_coded_while_they_were_read_are_released_as_texts() -> None:
    coded, plain = coded_people()
    town = Recoded(Reading("town", Kind.TEXT), None, 3)
    written = [Rewritten(town, ["Bath", "York", None])]
    own, other = coded.write_back(written), plain.write_back(written)
    assert own.frame.equals(other.frame)
    assert own.count.tolist() == other.count.tolist()
