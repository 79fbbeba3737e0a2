"""The wide form of `Columns`: which groups records give, and what is missing at every level."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import ColumnError
from shoal.methods.columns.wide import Wide
from tests.columns_forms import (
    draw_nothing_surely,
    released_surely,
    rows_of,
    wide,
)


@pytest.fixture(autouse=True)
def _surely(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_nothing_surely(monkeypatch)


AGES = Hierarchy.from_lines(
    [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(100)], Kind.INTEGER
)


def test_the_order_of_rows_does_not_change_which_groups_records_give() -> None:
    random = np.random.default_rng(3)
    database = [tuple(int(v) if v else None for v in row) for row in random.integers(0, 3, (60, 4))]
    groups = ((0, 1), (2, 3), (1, 2))
    released = []
    for _ in range(2):
        random.shuffle(database)
        drawn = released_surely(wide(tuple(database), 4), groups, 1, Seeded(5))
        released.append(rows_of(drawn.laid))
    assert released[0] == released[1]


def test_null_stays_null_at_every_level() -> None:
    frame = pl.DataFrame({"age": [31, 32, None, None], "town": ["a", "a", "b", "b"]})
    table = shoal.table(frame, quasi=["age"], insensitive=["town"], hierarchies={"age": AGES})
    for level, label in enumerate(["31", "30-39", "*"]):
        form = Wide.of(table, ["age", "town"], {"age": level})
        drawn = released_surely(form, ((0,), (0, 1)), 2)
        rows = [row for row in rows_of(drawn.laid) if row[2] != "a" or level]
        expected: list[tuple[object, ...]] = [(2, None, "b", 2)]
        if level:
            expected = [(1, label, None, 2), (2, label, "a", 2), *expected]
        assert rows == expected
        assert drawn.projections == 2 + 4
    with pytest.raises(ColumnError, match="missing"):
        Wide.of(replace(table, missing="refuse"), ["age", "town"], {})
