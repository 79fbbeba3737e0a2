"""`Tallied`: distinct rows that come in parts are as good as the rows themselves."""

from collections.abc import Iterator
from math import nan

import numpy as np
import polars as pl
import pytest

from shoal.counts import Counts
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.data.sources import Memory, Reading, Recoded, Source
from shoal.data.tallies import Tallied, TalliedColumn
from shoal.errors import InternalError, TooLargeError

ROWS = pl.DataFrame(
    {
        "town": ["Ulm", "", None, "Bonn", "Ulm", "Ulm", "Kiel", None],
        "weight": [1.5, nan, -0.0, 0.0, None, 1.5, 7.25, 0.0],
        "seen": [True, None, True, False, True, True, False, True],
    }
)
COLUMNS = [Reading("town", Kind.TEXT), Reading("weight", Kind.FLOAT), Reading("seen", Kind.TEXT)]


def parts(rows: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Some rows at a time, each with how often it is there."""
    for part in rows.iter_slices(size):
        yield part.with_columns(count=pl.lit(1, pl.UInt32))


def gathered(size: int) -> Tallied:
    return Tallied.gather(Memory.of(ROWS.clear()), ROWS.columns, parts(ROWS, size))


def counted(source: Source) -> Counts:
    values = source.values(COLUMNS)
    pairs = zip(COLUMNS, values, strict=True)
    return source.count([Recoded(column, None, len(keys)) for column, keys in pairs])


@pytest.mark.parametrize("size", [1, 3, 100])
def test_parts_give_the_counts_of_the_rows(size: int) -> None:
    tally, rows = gathered(size), Memory.of(ROWS)
    assert tally.values(COLUMNS) == rows.values(COLUMNS)
    own, wanted = counted(tally), counted(rows)
    assert own.count.tolist() == wanted.count.tolist()
    for codes, others in zip(own.codes, wanted.codes, strict=True):
        assert codes.tolist() == others.tolist()
    assert [tally.known(column) for column in COLUMNS] == [rows.known(each) for each in COLUMNS]
    assert tally.rows == rows.rows


def test_a_tally_without_parts_has_no_rows() -> None:
    tally = Tallied.gather(Memory.of(ROWS.clear()), ROWS.columns, [])
    assert tally.rows == 0
    assert tally.values(COLUMNS) == [(), (), ()]


def test_values_that_do_not_occur_leave_no_trace() -> None:
    values = pl.Series("town", ["Bonn", "Kiel", "Ulm"])
    column = TalliedColumn.of(values, np.array([2, 0, 2], dtype=np.uint8))
    assert column.values.frame.to_native().to_series().to_list() == ["Bonn", "Ulm"]
    assert column.codes.tolist() == [1, 0, 1]
    assert column.at(np.array([0, 2])).values.rows == 1


def test_rows_with_counts_are_a_source_and_equal_ones_add_up() -> None:
    given = pl.DataFrame({"town": ["Ulm", "Bonn", "Ulm"]})
    tally = Tallied.of_rows(RowsWithCounts(given, np.array([2, 1, 5])))
    [town] = COLUMNS[:1]
    assert tally.rows == 8
    assert tally.count([Recoded(town, None, 2)]).count.tolist() == [1, 7]
    [column], count = tally.runs([town])
    assert [column.keys[code] for code in column.codes] == ["Ulm", "Bonn", "Ulm"]
    assert count.tolist() == [2, 1, 5]


def test_a_column_that_is_not_held_cannot_be_asked_about() -> None:
    tally = Tallied.gather(Memory.of(ROWS.clear()), ["town"], parts(ROWS.select("town"), 100))
    assert tally.has(["town"])
    assert not tally.has(["town", "seen"])
    with pytest.raises(InternalError):
        tally.kind("seen")


def test_a_part_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 10)
    with pytest.raises(TooLargeError, match="distinct rows") as caught:
        gathered(100)
    assert "Ulm" not in str(caught.value)
