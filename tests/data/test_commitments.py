"""A commitment changes with every value, not with order or spelling, and says nothing without its
key.
"""

import polars as pl
import pytest

import shoal
from shoal.data.commitments import OpenedTable, commitment
from shoal.data.kinds import Kind
from shoal.errors import ParameterError

KEY = "5a" * 32
KINDS = {"age": Kind.INTEGER, "town": Kind.TEXT}
ROWS: list[tuple[object, object]] = [(39, "Ely"), (39, "Ely"), (41, "Bath"), (7, None)]


def committed(rows: list[tuple[object, object]], key: str = KEY, **types: str) -> str:
    frame = pl.DataFrame(rows, schema=["age", "town"], orient="row")
    return commitment(OpenedTable(shoal.table(frame, types=types), key), KINDS)


def test_neither_order_nor_spelling_matters() -> None:
    frame = pl.DataFrame({"town": ["Bath", "Ely", None, "Ely"], "age": ["41", "039", "7", "39"]})
    other = commitment(OpenedTable(shoal.table(frame), KEY), KINDS)
    assert committed(ROWS) == committed(ROWS[::-1]) == other
    assert len(other) == 64


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:3],
        [*ROWS, ROWS[0]],
        [*ROWS[:3], (8, None)],
        [*ROWS[:3], (7, "Ely")],
        [(39, "Ely"), (39, "Bath"), (41, "Ely"), (7, None)],
        [(39, "Ely"), (41, "Bath"), (41, "Bath"), (7, None)],
        [],
    ],
)
def test_every_change_matters(rows: list[tuple[object, object]]) -> None:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "town": pl.String}, orient="row")
    assert commitment(OpenedTable(shoal.table(frame), KEY), KINDS) != committed(ROWS)


def test_another_key_gives_another_commitment() -> None:
    assert committed(ROWS, "00" * 32) != committed(ROWS)


@pytest.mark.parametrize("key", ["", "5a" * 31, "zz" * 32, "5A" * 32])
def test_what_is_not_a_key_is_refused(key: str) -> None:
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        OpenedTable(shoal.table(pl.DataFrame({"age": [1]})), key)
