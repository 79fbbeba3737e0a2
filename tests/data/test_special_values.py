"""Values on which engines differ give the same counts in every place where rows may be."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError
from tests.data.places import PLACES_OF_ROWS, Place

MOMENT = dt.datetime(2020, 10, 25, 2, 30, 5)
COLUMNS: dict[str, tuple[Kind, list[Any]]] = {
    "texts": (Kind.TEXT, ["a", "A", "a ", " a", "ä", "a\u0308", "Ä", "ß", "ss", "", None, "a"]),
    "words": (Kind.TEXT, ["NULL", "null", "nan", "None", "NA", "true", "1", "1.0", "01", "1"]),
    "marks": (Kind.TEXT, ['"', "'", "a,b", "a;b", "line\nend", "\\N", "\\", "%", "😀", "\t"]),
    "whole": (Kind.INTEGER, [0, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1, None, 0]),
    "numbers": (Kind.FLOAT, [0.0, -0.0, 0.1, 1 / 3, 1e300, 5e-324, 1e22, None, 0.1]),
    "not numbers": (Kind.FLOAT, [float("nan"), None, 1.5, float("nan")]),
    "days": (Kind.DATE, [dt.date(1582, 10, 15), dt.date(2020, 2, 29), dt.date(9999, 12, 31), None]),
    "midnights": (Kind.DATE, [dt.datetime(1969, 7, 20), dt.datetime(2020, 2, 29), None]),
    "times": (Kind.TEXT, [MOMENT, MOMENT.replace(microsecond=1), MOMENT.replace(hour=0), None]),
    "moments": (Kind.TEXT, [MOMENT, MOMENT.replace(hour=0), None]),
    "hours": (Kind.TEXT, [dt.time(0), dt.time(13, 4, 5), dt.time(13, 4, 5, 1), None]),
    "small": (Kind.INTEGER, [-128, 127, None, 127]),
    "unsigned": (Kind.TEXT, [0, 2**63 - 1, 2**63, None]),
    "short": (Kind.FLOAT, [0.1, -0.0, 0.0, float("nan"), None]),
    "long": (Kind.INTEGER, [Decimal(10**17), Decimal(10**17 + 1), None]),
    "cents": (Kind.TEXT, [Decimal("1.50"), Decimal("0.10"), Decimal("-2.00"), None]),
    "categories": (Kind.TEXT, ["b", "a", None, "", "b "]),
    "NUL": (Kind.TEXT, ["b", "b\0", "\0", None]),
    "truth": (Kind.TEXT, [True, False, None, True]),
    "decimals": (Kind.FLOAT, [Decimal("1.50"), Decimal("-0.01"), None, Decimal("1.50")]),
    "nothing": (Kind.TEXT, [None, None]),
    "^a$": (Kind.TEXT, ["x", "y", "x"]),
    "b.c `d` \"e\" 'f' %s ?": (Kind.TEXT, ["x", "y", "x"]),
    "*": (Kind.INTEGER, [1, 2, 1]),
    "select": (Kind.INTEGER, [1, 2, 1]),
    "Größe": (Kind.INTEGER, [1, 2, 1]),
}
TYPES: dict[str, Any] = {
    "nothing": pl.String,
    "decimals": pl.Decimal(10, 2),
    "moments": pl.Datetime("us", "UTC"),
    "small": pl.Int8,
    "unsigned": pl.UInt64,
    "short": pl.Float32,
    "long": pl.Decimal(38, 0),
    "cents": pl.Decimal(10, 2),
    "categories": pl.Categorical,
}


@pytest.fixture(scope="module", params=PLACES_OF_ROWS, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    made: Place = request.param
    made.open(request, tmp_path_factory.mktemp(made.name))
    return made


def columns(name: str) -> pl.DataFrame:
    """A column, and one beside it that numbers its rows."""
    _, values = COLUMNS[name]
    column = pl.Series(name, values, TYPES.get(name))
    return pl.DataFrame([column, pl.Series("row", range(len(values)))])


def answers(given: Table, name: str) -> tuple[Any, Any, Any]:
    counts = given.count([name], {})
    together = given.count([name, "row"], {})
    return given.keys(name), counts.count.tolist(), np.array(together.codes).tolist()


@pytest.mark.parametrize("name", COLUMNS)
def test_special_values_are_counted_alike(name: str, place: Place) -> None:
    if name in place.lacks:
        pytest.skip(f"{place.name} cannot hold {name}")
    types = {name: COLUMNS[name][0], "row": Kind.INTEGER}
    frame = columns(name)
    moved = shoal.table(place.source(frame), types=types, insensitive=[name, "row"])
    assert answers(moved, name) == answers(shoal.table(frame, types=types), name)


ODD: dict[str, list[Any]] = {
    "lists": [[1, 2]],
    "bytes": [b"secret"],
    "durations": [dt.timedelta(1)],
}


@pytest.mark.parametrize("name", ODD)
def test_values_without_an_order_are_refused(name: str, place: Place) -> None:
    if name in place.lacks:
        pytest.skip(f"{place.name} cannot hold {name}")
    source = place.source(pl.DataFrame({"odd": ODD[name]}))
    given = shoal.table(source, insensitive=["odd"])
    with pytest.raises(ColumnError, match="convert it to text") as caught:
        given.keys("odd")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("number", [-(2**63), Decimal(10**20)], ids=["least", "long"])
def test_an_integer_that_not_everyone_can_hold_is_refused(
    number: int | Decimal, place: Place
) -> None:
    if isinstance(number, Decimal) and "decimals" in place.lacks:
        pytest.skip(f"{place.name} cannot hold decimals")
    dtype = pl.Decimal(38, 0) if isinstance(number, Decimal) else pl.Int64
    frame = pl.DataFrame([pl.Series("x", [number, type(number)(1)], dtype)])
    given = shoal.table(place.source(frame), types={"x": "integer"})
    with pytest.raises(ColumnError, match="1 distinct value is not of the declared type 'integer'"):
        given.keys("x")


def test_an_infinite_number_is_refused_without_showing_it(place: Place) -> None:
    frame = pl.DataFrame({"x": [1.0, float("inf")]})
    given = shoal.table(place.source(frame), types={"x": "float"})
    with pytest.raises(ColumnError, match="1 distinct value is not of the declared type 'float'"):
        given.keys("x")
