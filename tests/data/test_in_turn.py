"""People whose rows do not fit into memory: the same rows are drawn, by the same law."""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attack.coins import law
from shoal.chance import Chance, Seeded
from shoal.data import bounding, distant, free_memory, in_turn
from shoal.data.distant import Distant
from shoal.data.engines.streaming import Streamed
from shoal.data.in_turn import drawable
from shoal.data.kinds import Kind
from shoal.data.sources import Memory, Reading, Recoded, Source
from shoal.data.tables import Table
from shoal.errors import ColumnError, SourceError, TooLargeError
from shoal.methods.method import Method
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from tests.data.places import PLACES_OF_ROWS, Place
from tests.data.test_distant import moved, several_rows, written

UNIT = Reading("person", Kind.TEXT)
AGE = Reading("age", Kind.INTEGER)

FEW = 1000
"""Bytes in which a handful of rows fit."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few people draw together, so that blocks end within parts and parts within blocks."""
    monkeypatch.setattr(bounding, "DRAWN_TOGETHER", 7)
    monkeypatch.setattr(bounding, "ROWS_TOGETHER", 16)


def tight(source: Source, memory: int = FEW) -> Source:
    """The same source with next to no memory for people."""
    return replace(source, memory=memory) if isinstance(source, Distant) else source


def kept(
    source: Source, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
) -> tuple[Any, ...]:
    """The rows that are kept of people, and how often each is."""
    bounded = source.bounded(unit, columns, rows, chance)
    keys = bounded.values(columns)
    recoded = [Recoded(column, None, len(own)) for column, own in zip(columns, keys, strict=True)]
    counts = bounded.count(recoded)
    values = [
        [own[code] for code in codes.tolist()]
        for own, codes in zip(keys, counts.codes, strict=True)
    ]
    return tuple(zip(*values, counts.count.tolist(), strict=True))


# Every place draws the same rows


@pytest.fixture(scope="module", params=PLACES_OF_ROWS, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Every place where rows may be, one after the other."""
    made: Place = request.param
    made.open(request, tmp_path_factory.mktemp(made.name))
    return made


@pytest.fixture(scope="module")
def several(place: Place) -> Table:
    there = moved(several_rows(), place)
    return replace(there, source=tight(there.source))


RELEASES: list[Method] = [
    SafePub("1/2", "2/5", "standard", ceiling={"age": 1}, unit="name"),
    SafePub("1/2", "2/5", "standard", search="tree", unit="name", rows=2),
    NoisyCounts("ln(2)", "0.26", 1, "standard", counts=True, levels={}, unit="name", rows=2),
]


@pytest.mark.parametrize("method", RELEASES, ids=lambda method: f"{method.name} {method.rows}")
def test_every_place_releases_the_same_bytes(
    method: Method, several: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = 0

    def counted(*arguments: Any) -> Iterator[pl.DataFrame]:
        nonlocal parts
        for part in drawable(*arguments):
            parts += 1
            yield part

    monkeypatch.setattr(distant, "drawable", counted)
    from_memory = written(method, several_rows(), tmp_path / "memory")
    assert written(method, several, tmp_path / "place") == from_memory
    source = several.source
    in_order = isinstance(source, Distant) and source.engine.orders("name")
    assert parts > 10 if in_order else parts == 0


ODD = [
    "Zoë",
    "zoe",
    "Zoe ",
    " Zoe",
    "Zoe",
    "ß",
    "ss",
    "\ue000",
    "\uffff",
    "𝒳",
    "東京",
    "10",
    "9",
    "-",
]
"""Texts whose order depends on collations, on encodings, or on being read as numbers."""
UNITS: dict[str, tuple[Kind, list[Any]]] = {
    "texts": (Kind.TEXT, ODD),
    "integers": (Kind.INTEGER, [-(1 << 62), -10, -9, 0, 9, 10, 1 << 40, (1 << 63) - 1]),
    "dates": (Kind.DATE, [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]),
}


def odd_people(values: list[Any]) -> pl.DataFrame:
    """People with one row to seven, some of them equal."""
    random = np.random.default_rng(3)
    person = [value for place, value in enumerate(values) for _ in range(1 + place % 7)]
    ages = random.integers(-2, 3, len(person)).tolist()
    ill = random.choice(["flu", "", "Flu", "grippe"], len(person)).tolist()
    frame = pl.DataFrame({"person": person, "age": ages, "ill": ill})
    return frame.sample(fraction=1, shuffle=True, seed=2)


@pytest.mark.parametrize("name", UNITS)
def test_every_place_has_the_same_order_of_people(name: str, place: Place) -> None:
    kind, values = UNITS[name]
    frame = odd_people(values)
    there = tight(place.source(frame))
    unit, *columns = (
        Reading("person", kind),
        Reading("age", Kind.INTEGER),
        Reading("ill", Kind.TEXT),
    )
    memory = Memory.of(frame)
    assert there.known(unit) == (len(frame), len(values))
    for rows, seed in ((1, 6), (3, 7)):
        expected = kept(memory, unit, columns, rows, Seeded(seed))
        assert kept(there, unit, columns, rows, Seeded(seed)) == expected


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.sampled_from(ODD), st.text(min_size=1, max_size=3)),
            st.one_of(st.none(), st.integers(-2, 2)),
            st.integers(1, 6),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 4),
    st.integers(1, 1500),
)
def test_any_people_are_drawn_alike(
    given_rows: list[tuple[str, int | None, int]], rows: int, memory: int
) -> None:
    every = [row[:2] for row in given_rows for _ in range(row[2])]
    frame = pl.DataFrame(every, schema={"person": pl.String, "age": pl.Int64}, orient="row")
    unit = Reading("person", Kind.TEXT)
    column = Reading("age", Kind.INTEGER)
    lazy = tight(Distant.of(frame.lazy()), memory)
    assert lazy.known(unit) == Memory.of(frame).known(unit)
    expected = kept(Memory.of(frame), unit, [column], rows, Seeded(8))
    assert kept(lazy, unit, [column], rows, Seeded(8)) == expected


def test_missing_names_are_refused_wherever_they_are(place: Place) -> None:
    frame = pl.DataFrame({"name": ["a", "", None, "b", "b"], "age": [1, 2, 3, 4, 5]})
    there = tight(place.source(frame))
    given = shoal.table(there, identifying=["name"], quasi=["age"], types={"name": "text"})
    assert given.known("name") == (3, 2)
    with pytest.raises(ColumnError, match="some of its values are missing"):
        given.bounded("name", 1, Seeded(1))


def test_sqlite_orders_numbers_among_texts_but_not_in_utf_16(tmp_path: Path) -> None:
    people: list[object] = [7, "7", 10, "9", "\uffff", "𝒳", 1.5, "a", "B"]
    rows = [(person, place % 4) for place, person in enumerate(people * 3)]
    memory = Memory.of(
        pl.DataFrame({"person": [str(who) for who, _ in rows], "age": [age for _, age in rows]})
    )
    expected = kept(memory, UNIT, [AGE], 2, Seeded(1))
    for encoding in ("UTF-8", "UTF-16le"):
        path = tmp_path / f"{encoding}.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA encoding = '{encoding}'")
            connection.execute("CREATE TABLE people (person, age INTEGER)")
            connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
            connection.commit()
        there = tight(shoal.read(path, query="people").source)
        assert isinstance(there, Distant)
        assert there.engine.orders("person") is (encoding == "UTF-8")
        assert there.known(UNIT) == (27, 8)
        assert kept(there, UNIT, [AGE], 2, Seeded(1)) == expected


# The parts in which people are drawn


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
    st.integers(1, 4),
    st.integers(1, 30),
)
def test_parts_have_every_row_once_and_nobody_twice(
    sizes: list[int], cuts: list[int], rows: int, at_once: int
) -> None:
    person = np.repeat(np.arange(len(sizes)), sizes)
    frame = pl.DataFrame({"person": person, "row": np.arange(len(person))})
    ends = np.cumsum([*cuts, len(person)])
    starts = [0, *ends[:-1].tolist()]
    pieces = [frame[start:end] for start, end in zip(starts, ends, strict=True)]
    parts = list(drawable(pieces, rows, at_once, SourceError("changed")))
    assert sorted(row for part in parts for row in part["row"]) == list(range(len(person)))
    names = [name for part in parts for name in part["person"].unique()]
    assert sorted(names) == list(range(len(sizes)))
    assert all(part["person"].is_sorted() for part in parts)


def test_what_waits_is_a_block_and_a_person() -> None:
    people = [person for person in range(300) for _ in range(1 + person % 4)]
    frame = pl.DataFrame({"person": people})
    handed_on = 0

    def pieces() -> Iterator[pl.DataFrame]:
        for start in range(0, len(frame), 10):
            # The rows so far, less a block of 16 rows, a person and what is waited for.
            assert handed_on >= start - 16 - 4 - 10 - 10
            yield frame[start : start + 10]

    for part in drawable(pieces(), 1, 10, SourceError("changed")):
        handed_on += part.height
    assert handed_on == len(frame)


@pytest.mark.parametrize(
    "people", [["b", "a"], ["a", "b", "a"], ["a", None], ["", "a"], ["a", "B", "b"]], ids=str
)
def test_people_in_another_order_are_refused(people: list[str | None]) -> None:
    frame = pl.DataFrame({"person": people}, schema={"person": pl.String})
    claimed = frame.with_columns(pl.col("person").set_sorted())
    for pieces, at_once in product(([frame], [claimed], [*frame.iter_slices(1)]), (1, 9)):
        with pytest.raises(SourceError):
            list(drawable(pieces, 1, at_once, SourceError("changed")))


# The law: of every person a uniform choice, independent of all others


def people_of_sizes(sizes: Sequence[int]) -> pl.DataFrame:
    """People with a number of rows each, no two of them alike."""
    rows = [
        (f"person {who}", 10 * who + row) for who, size in enumerate(sizes) for row in range(size)
    ]
    return pl.DataFrame(rows[::-1], schema=["person", "age"], orient="row")


def uniform(sizes: Sequence[int], rows: int) -> dict[tuple[int, ...], Fraction]:
    """The law that is promised: the ages that are kept, and the probability of that."""
    choices = [
        [
            tuple(10 * who + row for row in chosen)
            for chosen in combinations(range(size), min(rows, size))
        ]
        for who, size in enumerate(sizes)
    ]
    every = [tuple(sorted(sum(each, ()))) for each in product(*choices)]
    return dict.fromkeys(every, Fraction(1, len(every)))


def is_uniform(sizes: Sequence[int], rows: int, memory: int) -> bool:
    """Whether people are drawn by that law; False if it fails, and so releases nothing."""
    lazy = people_of_sizes(sizes).lazy()

    def ages(chance: Chance) -> tuple[int, ...]:
        source = Distant(Streamed(lazy), memory=memory)
        drawn = kept(source, UNIT, [AGE], rows, chance)
        return tuple(sorted(age for age, count in drawn for _ in range(count)))

    try:
        found = law(ages)
    except SourceError:
        return False
    return {drawn: weight.exact for drawn, weight in found.items()} == uniform(sizes, rows)


SMALL = [(3,), (1, 3), (2, 2), (3, 1, 2), (2, 1, 1, 2)]
BUDGETS = (1, 250, 400)
"""Memory for one, two and three rows at a time."""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("together", [1, 2])
def test_what_is_kept_is_uniform_and_independent(
    rows: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounding, "DRAWN_TOGETHER", together)
    for sizes, memory in product(SMALL, BUDGETS):
        assert is_uniform(sizes, rows, memory), (sizes, memory)


def split_people(
    parts: Iterable[pl.DataFrame], rows: int, at_once: int, changed: SourceError
) -> Iterator[pl.DataFrame]:
    """A twin: parts end anywhere, so that a person may be in two of them."""
    for part in parts:
        yield from part.iter_slices(at_once)


def first_rows(people: Any, rows: int, chance: Chance) -> Any:
    """A twin: the first rows of each person, without any chance."""
    place = np.arange(len(people)) - np.searchsorted(people, people)
    return place < rows


def one_draw_for_all(people: Any, rows: int, chance: Chance) -> Any:
    """A twin: people of the same size keep the same places."""
    kept = np.ones(len(people), dtype=np.bool_)
    for size in set(np.bincount(people).tolist()) - {0}:
        if size > rows:
            alike = np.bincount(people)[people] == size
            places = chance.choices(np.array([size]), rows)
            kept[alike] = np.tile(places, int(alike.sum()) // size)
    return kept


def never_wait(person: pl.Series, rows: int) -> pl.Series:
    """A twin: the last person does not wait for more rows."""
    return pl.repeat(False, len(person), eager=True)


def all_again(
    parts: Iterable[pl.DataFrame], rows: int, at_once: int, changed: SourceError
) -> Iterator[pl.DataFrame]:
    """A twin: the first part is drawn twice."""
    first, *others = drawable(parts, rows, at_once, changed)
    yield from (first, first, *others)


def test_twins_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    twins: list[tuple[Any, str, Any]] = [
        (distant, "drawable", split_people),
        (distant, "drawable", all_again),
        (bounding, "chosen_rows", first_rows),
        (bounding, "chosen_rows", one_draw_for_all),
        (in_turn, "_waits", never_wait),
    ]
    for room, name, twin in twins:
        with monkeypatch.context() as patched:
            patched.setattr(room, name, twin)
            caught = [
                (sizes, memory)
                for sizes, memory in product(SMALL, BUDGETS)
                if not is_uniform(sizes, 1, memory)
            ]
        assert caught, twin


# What goes wrong


class Flawed(Streamed):
    """An engine whose rows in order come with a flaw."""

    def __init__(self, lazy: pl.LazyFrame, flaw: Callable[[list[pl.DataFrame]], Any]) -> None:
        super().__init__(lazy)
        self.__dict__.update(flaw=flaw)

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        parts = list(super().in_order(names, at_once))
        # When people are only looked at, all is well.
        flaw = self.flaw if len(names) > 1 else iter  # type: ignore[attr-defined]
        yield from flaw(parts)


def lost(parts: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield from parts[:3]
    raise OSError("the connection to Private Person 7 was lost")


FLAWS: dict[str, tuple[Callable[[list[pl.DataFrame]], Any], str]] = {
    "a part is missing": (lambda parts: parts[:-1], "changed while they were counted"),
    "a part comes twice": (lambda parts: [parts[0], *parts], "changed while they were counted"),
    "another order": (lambda parts: parts[::-1], "changed while they were counted"),
    "a new value": (
        lambda parts: [part.with_columns(pl.col("1") + 1) for part in parts],
        "changed while they were counted",
    ),
    "connection lost": (lost, r"could not count its rows \(OSError\)"),
}


BEFORE_THE_FIRST_COIN = {"a part comes twice", "another order", "a new value"}


def flawed(flaw: Callable[[list[pl.DataFrame]], Any]) -> Table:
    source = Distant(Flawed(people_of_sizes([3] * 40).lazy(), flaw), memory=FEW)
    return shoal.table(source, identifying=["person"], insensitive=["age"], quasi=[])


@pytest.mark.parametrize("name", FLAWS)
def test_rows_that_are_not_what_they_were_release_nothing(name: str, tmp_path: Path) -> None:
    flaw, message = FLAWS[name]
    given = flawed(flaw)
    method = NoisyCounts(1, "1/10", 1, "standard", levels={}, unit="person")
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=9, delta="1/2")
    with pytest.raises(SourceError, match=message) as caught:
        ledger.release(method, given, tmp_path / "out")
    assert "Private" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    # Once a coin was flipped it counts; the next try draws all of them anew.
    spent = len(ledger.account().reserved)
    assert spent == (name not in BEFORE_THE_FIRST_COIN)
    ledger.release(method, flawed(iter))
    assert len(ledger.account().reserved) == spent + 1


class Unordered(Streamed):
    """An engine that cannot put rows in order."""

    def orders(self, name: str) -> bool:
        return False


@pytest.mark.parametrize("engine", [Unordered, Streamed])
def test_what_cannot_be_ordered_is_refused_before_anything_is_spent(
    engine: type[Streamed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Distant(engine(people_of_sizes([3] * 40).lazy()))
    kind = "text"
    if engine is Streamed:
        # Texts that are read as integers may be equal, although they are not for the engine.
        numbers = pl.col("person").str.slice(7)
        source = Distant(Streamed(people_of_sizes([3] * 40).lazy().with_columns(person=numbers)))
        kind = "integer"
    given = shoal.table(
        source, identifying=["person"], insensitive=["age"], quasi=[], types={"person": kind}
    )
    method = NoisyCounts(1, "1/10", 1, "standard", levels={}, unit="person")
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=9, delta="1/2")
    assert given.known("person") == (120, 40)
    monkeypatch.setattr(free_memory, "available", lambda: 10_000)
    with pytest.raises(TooLargeError, match="cannot put into order"):
        ledger.release(method, given)
    assert not ledger.account().reserved
    # Where there is enough memory, it is not needed.
    monkeypatch.undo()
    ledger.release(method, given)


def test_where_all_rows_fit_no_coin_is_flipped_before_the_last_one_came(tmp_path: Path) -> None:
    class Lost(Streamed):
        def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
            yield from super().in_order(names, 9)
            raise OSError

    source = Distant(Lost(people_of_sizes([3] * 40).lazy()))
    given = shoal.table(source, identifying=["person"], insensitive=["age"], quasi=[])
    method = NoisyCounts(1, "1/10", 1, "standard", levels={}, unit="person")
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=9, delta="1/2")
    with pytest.raises(SourceError):
        ledger.release(method, given)
    assert not ledger.account().reserved


def test_rows_that_are_lost_while_people_are_looked_at_are_noticed() -> None:
    class Fewer(Streamed):
        def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
            yield from list(super().in_order(names, at_once))[1:]

    source = Distant(Fewer(people_of_sizes([3] * 40).lazy()), memory=FEW)
    with pytest.raises(SourceError, match="changed while they were counted"):
        source.known(UNIT)
