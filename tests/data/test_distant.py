"""Rows that are not in memory: whatever counts them, everything comes out the same."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.distant import Distant
from shoal.data.engines.streaming import Streamed
from shoal.data.kinds import Kind
from shoal.data.sources import Memory, Reading
from shoal.data.tables import Table
from shoal.errors import SourceError
from shoal.methods.method import Method
from tests.data.places import PLACES_OF_ROWS, Lazy, Place
from tests.data.test_sources import same, with_missing
from tests.methods.examples import LONG_METHODS, METHODS, people, ratings, table


@pytest.fixture(scope="module", params=PLACES_OF_ROWS, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Every place where rows may be, one after the other."""
    made: Place = request.param
    made.open(request, tmp_path_factory.mktemp(made.name))
    return made


def moved(given: Table, place: Place) -> Table:
    """The same table, its rows somewhere else."""
    frame = nw.to_native(given.frame)
    source = place.source(frame)
    assert place.in_memory is isinstance(source, Memory)
    released = [name for name in given.released if name in given.roles]
    return replace(given, source=source.together(released))


def declared(given: Table) -> Table:
    """The same table with the types of all columns declared, since in CSV all are texts."""
    return replace(given, types={name: given.kind(name) for name in given.names})


def with_missing_values() -> Table:
    return declared(with_missing())


@pytest.fixture(scope="module")
def given(place: Place) -> Table:
    return moved(with_missing_values(), place)


@pytest.fixture(scope="module")
def several(place: Place) -> Table:
    """A table in which people have two rows or three."""
    return moved(several_rows(), place)


def several_rows() -> Table:
    frame = nw.to_native(people().frame)
    fewer = frame[:40].with_columns(age=pl.col("age") // 2)
    return declared(table(pl.concat([frame, frame, fewer])))


# Every method in every place; further examples of it in one place are enough.
ONE_OF_EACH = {method.name: name for name, method in reversed(METHODS.items())}.values()
OTHERS = [name for name in METHODS if name not in ONE_OF_EACH]

_WRITTEN: dict[Any, dict[str, bytes]] = {}


def written(method: Method, given: Table, folder: Path) -> dict[str, bytes]:
    """The files of a release with seeded draws."""
    method.release(given, Seeded(5)).write(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def expected(method: Method, given: Table, key: Any, folder: Path) -> dict[str, bytes]:
    """The files of a release from memory, which are made once for all places."""
    if key not in _WRITTEN:
        _WRITTEN[key] = written(method, given, folder)
    return _WRITTEN[key]


def test_every_place_gives_the_very_same_counts(given: Table) -> None:
    memory = with_missing_values()
    assert memory.rows == given.rows
    assert all(memory.kind(name) is given.kind(name) for name in memory.names)
    assert all(memory.keys(name) == given.keys(name) for name in memory.names)
    for names, levels in (
        (memory.names, None),
        (memory.names, {}),
        (["age", "town"], {"age": 1, "town": 1}),
        (["ill"], {}),
    ):
        assert same(memory.count(names, levels), given.count(names, levels))


def test_every_place_knows_how_many_people_there_are(given: Table, several: Table) -> None:
    for here, memory in ((given, with_missing_values()), (several, several_rows())):
        for name in here.names:
            assert here.known(name) == memory.known(name)
    assert several.known("name") == (440, 200)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_method_releases_the_same_bytes(name: str, given: Table, tmp_path: Path) -> None:
    method = METHODS[name]
    from_memory = expected(method, with_missing_values(), name, tmp_path / "memory")
    assert written(method, given, tmp_path / "place") == from_memory


@pytest.mark.parametrize("name", OTHERS)
def test_other_examples_of_methods_release_the_same_bytes(name: str, tmp_path: Path) -> None:
    lazy = moved(with_missing_values(), Lazy("lazy polars"))
    from_memory = written(METHODS[name], with_missing_values(), tmp_path / "memory")
    assert written(METHODS[name], lazy, tmp_path / "place") == from_memory


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_method_draws_the_same_rows_of_people(
    name: str, several: Table, tmp_path: Path
) -> None:
    method = METHODS[name]
    changed = {"unit": "name"}
    if "definition" in {field.name for field in fields(method)}:  # type: ignore[arg-type]
        changed["definition"] = "standard"
    drawn: Method = replace(method, **changed)  # type: ignore[type-var]
    from_memory = expected(drawn, several_rows(), (name, "unit"), tmp_path / "memory")
    assert written(drawn, several, tmp_path / "place") == from_memory


@pytest.mark.parametrize("name", LONG_METHODS)
def test_items_of_people_are_the_same(name: str, place: Place, tmp_path: Path) -> None:
    method = LONG_METHODS[name]
    from_memory = expected(method, ratings(), name, tmp_path / "memory")
    assert written(method, moved(ratings(), place), tmp_path / "place") == from_memory


def test_risks_are_the_same(given: Table) -> None:
    one, other = (
        shoal.assess(each, details=True, fraction="1/10") for each in (with_missing_values(), given)
    )
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize("name", ["optimal starred", "safepub", "personal"])
def test_a_release_is_judged_alike(name: str, given: Table) -> None:
    made = METHODS[name].release(with_missing_values(), Seeded(5))
    one, other = (shoal.judge(each, made, queries=20) for each in (with_missing_values(), given))
    assert one.to_json() == other.to_json()


def test_a_ledger_knows_the_same_data(given: Table, tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    method = shoal.SafePub("1/2", "1/8", ceiling={"age": 1})
    noted = []
    for each in (with_missing_values(), given):
        entered = ledger.release(method, each).entry
        assert entered is not None
        noted.append(entered.other_data)
    assert noted == [False, False]


def test_a_release_is_verified(given: Table, tmp_path: Path) -> None:
    path = METHODS["optimal"].release(given).write(tmp_path)
    assert shoal.verify(tmp_path / "certificate.json", path) == []


# What an engine is asked for, and what happens if it fails


class Watched(Streamed):
    """An engine that notes what it is asked for, and fails from some question onwards."""

    def __init__(self, lazy: pl.LazyFrame, answers: int = 99) -> None:
        super().__init__(lazy)
        self.__dict__.update(asked=[], answers=answers)

    def note(self, what: Any) -> None:
        self.asked.append(what)  # type: ignore[attr-defined]
        if len(self.asked) > self.answers:  # type: ignore[attr-defined]
            raise OSError("the connection to Private Person 7 was lost")

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        parts = list(super().tally(names))
        yield from parts[:1]
        self.note(tuple(names))
        yield from parts[1:]

    def distinct(self, name: str) -> int:
        self.note(name)
        return super().distinct(name)

    def rows(self) -> int:
        self.note("rows")
        return super().rows()


def watched(answers: int = 99) -> tuple[Table, list[Any]]:
    lazy = nw.to_native(people().frame).lazy().drop("name")
    engine = Watched(lazy, answers)
    return table(Distant(engine), identifying=[]), engine.asked  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", METHODS)
def test_a_release_is_one_group_by(name: str, tmp_path: Path) -> None:
    given, asked = watched()
    assert asked == []
    METHODS[name].release(given, Seeded(5)).write(tmp_path / "out")
    assert [sorted(names) for names in asked] == [["age", "ill", "tag", "town"]]


def test_an_engine_that_fails_says_so_without_a_value_and_spends_nothing(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    given, _ = watched(answers=0)
    with pytest.raises(SourceError, match=r"could not count its rows \(OSError\)") as caught:
        ledger.release(METHODS["safepub"], given)
    assert "Private" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not ledger.account().reserved


def test_rows_that_change_between_two_counts_are_noticed() -> None:
    frame = nw.to_native(people().frame)
    sizes = iter((200, 199))

    def part(whole: pl.DataFrame) -> pl.DataFrame:
        return whole.head(next(sizes)) if whole.height else whole

    given = Distant.of(frame.lazy().map_batches(part, streamable=False))
    one, other = (Reading(name, Kind.TEXT) for name in ("town", "ill"))
    given.values([one])
    with pytest.raises(SourceError, match="changed while they were counted"):
        given.values([other])
