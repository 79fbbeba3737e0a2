"""Released rows: those of kept groups, generalised, in an order that shows nothing of the
input's."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.sources import Memory
from shoal.errors import ParameterError
from shoal.lattice import Lattice
from shoal.releases.layout import assemble
from tests.releases.people import SEXES, assembled, people, rows_of


@pytest.mark.parametrize(
    ("kind", "back"),
    [(pl.DataFrame, pl.DataFrame), (pd.DataFrame, pd.DataFrame), (pa.table, pa.Table)],
)
def test_the_same_kind_of_dataframe_comes_back_in_the_tables_order_of_columns(
    kind: Any, back: Any
) -> None:
    frame: Any = assembled(people(kind=kind))
    assert type(frame) is back
    wrapped = nw.from_native(frame, eager_only=True)
    assert wrapped.columns == ["sex", "age", "ill", "paid"]
    assert wrapped.schema["age"] == nw.String
    assert wrapped.schema["paid"] == nw.Float64
    if back is pd.DataFrame:
        assert list(frame.index) == list(range(len(frame)))


def test_released_rows_are_the_generalised_rows_of_kept_groups() -> None:
    table = people()
    frame = nw.to_native(table.frame)
    general = [
        (sex, f"{age // 10 * 10}-{age // 10 * 10 + 9}", ill or None, paid)
        for sex, age, ill, paid in frame.select("sex", "age", "ill", "paid").iter_rows()
    ]
    sizes: dict[Any, int] = {}
    for row in general:
        sizes[row[:2]] = sizes.get(row[:2], 0) + 1
    kept = [row for row in general if sizes[row[:2]] >= 4]
    lost = [row for row in general if sizes[row[:2]] < 4]
    assert kept
    assert lost
    order = [repr(row) for row in kept]
    assert sorted(map(repr, rows_of(assembled(table, k=4)))) == sorted(order)
    starred = rows_of(assembled(table, k=4, suppressed="star"))
    assert sorted(map(repr, starred)) == sorted(
        [*order, *(repr(("*", "*", *row[2:])) for row in lost)]
    )


@given(
    st.integers(1, 60), st.integers(0, 10**6), st.sampled_from(["drop", "star"]), st.integers(1, 5)
)
def test_the_order_of_the_input_changes_nothing(
    rows: int, seed: int, suppressed: str, k: int
) -> None:
    table = people(rows)
    order = np.random.default_rng(seed).permutation(rows)
    shuffled = replace(table, source=Memory(table.frame[order]))
    assert rows_of(assembled(table, k=k, suppressed=suppressed)) == rows_of(
        assembled(shuffled, k=k, suppressed=suppressed)
    )


def test_text_that_stands_for_one_value_is_written_in_one_way() -> None:
    for order in ([0, 1], [1, 0]):
        frame = pl.DataFrame({"sex": ["f", "f"], "paid": ["7", "007"]})[order]
        table = shoal.table(
            frame,
            quasi=["sex"],
            sensitive=["paid"],
            hierarchies={"sex": SEXES},
            types={"paid": "integer"},
        )
        assert [str(row[1]) for row in rows_of(assembled(table, (0,), 1))] == ["7", "7"]


def test_a_label_that_is_a_star_already_is_not_made_twice() -> None:
    table = people()
    frame = nw.from_native(assembled(table, (1, 1), k=5, suppressed="star"), eager_only=True)
    assert set(frame["sex"].to_list()) == {"*"}
    rows = rows_of(assembled(table, (1, 1), k=5, suppressed="star"))
    stars = [row for row in rows if row[1] == "*"]
    assert rows[-len(stars) :] == stars


def test_nodes_whose_codes_fit_no_integer_are_assembled_too() -> None:
    wide = Hierarchy.from_lines([[str(i), "*"] for i in range(1000)], Kind.INTEGER)
    names = [f"q{i}" for i in range(8)]
    random = np.random.default_rng(3)
    values = random.integers(0, 1000, (50, 8))
    frame = pl.DataFrame(
        dict(zip(names, np.vstack([values, values, values[:3]]).T.tolist(), strict=True))
    )
    table = shoal.table(frame, quasi=names, hierarchies=dict.fromkeys(names, wide))
    lattice = Lattice(table.count(names), {name: table.hierarchy(name) for name in names})
    groups = lattice.groups((0,) * 8)
    rows = assemble(table, groups, groups.sizes >= 3)
    assert rows.count.tolist() == [3] * 3
    seen = {tuple(map(int, row)) for row in rows_of(rows.repeated())}
    assert seen == {tuple(row) for row in values[:3].tolist()}


def test_an_unknown_way_to_suppress_is_refused() -> None:
    with pytest.raises(ParameterError, match="'drop' or 'star'"):
        assembled(people(), suppressed="hide")


@pytest.mark.slow
def test_a_million_rows_are_assembled() -> None:
    table = people(1_000_000)
    assert len(assembled(table)) == 1_000_000
