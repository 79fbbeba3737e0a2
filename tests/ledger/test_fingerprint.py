"""Equal data has an equal fingerprint, and other data is noted."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import shoal
import shoal.data.disk
import shoal.data.files
import shoal.releases.release
from shoal.ledger import Ledger
from shoal.ledger.fingerprint import fingerprint
from tests.ledger.private import Private, people, run


@given(
    st.lists(
        st.tuples(st.sampled_from("fm"), st.sampled_from(["", "a", "ab", "é"])),
        min_size=1,
        max_size=12,
    ),
    st.randoms(),
)
def test_a_fingerprint_minds_content_and_no_order(
    rows: list[tuple[str, str]], dice: random.Random
) -> None:
    def of(
        rows: list[tuple[str, str]], order: Callable[[Any], Any] = iter, key: bytes = b"k" * 32
    ) -> str:
        columns = {"sex": [sex for sex, _ in rows], "ill": [ill for _, ill in rows]}
        return fingerprint(people(columns=dict(order(list(columns.items())))), key)

    mixed = dice.sample(rows, len(rows))
    assert of(mixed) == of(rows, reversed) == of(rows)
    place = dice.randrange(len(rows))
    sex, ill = rows[place]
    changed = [*rows[:place], (sex, ill + "b"), *rows[place + 1 :]]
    others = [of(changed), of([*rows, rows[0]]), of(rows[1:] or changed), of(rows, key=b"l" * 32)]
    assert of(rows) not in others


def test_a_fingerprint_is_the_same_for_a_file_and_every_dataframe(tmp_path: Path) -> None:
    import polars as pl

    columns = {"name": ["A", "B", "C"], "age": [39, 40, 39], "ill": ["a", None, "b"]}
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    frames = [pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)]
    roles: Any = {
        "identifying": ["name"],
        "quasi": ["age"],
        "sensitive": ["ill"],
        "types": {"age": "integer"},
    }
    tables = [
        shoal.read(tmp_path / "people.csv", **roles),
        *(shoal.table(frame, **roles) for frame in frames),
    ]
    assert len({fingerprint(table, b"k" * 32) for table in tables}) == 1
    renamed = pl.DataFrame({**columns, "name": ["X", "Y", "Z"]})  # who they are is not looked at
    assert fingerprint(shoal.table(renamed, **roles), b"k" * 32) == fingerprint(
        tables[0], b"k" * 32
    )


def test_texts_that_run_into_each_other_have_different_fingerprints() -> None:
    one = people(columns={"sex": ["f", "f"], "ill": ["ab", "c"]})
    two = people(columns={"sex": ["f", "f"], "ill": ["a", "bc"]})
    assert fingerprint(one, b"k") != fingerprint(two, b"k")


def test_other_data_is_noted(ledger: Ledger) -> None:
    noted = [
        ledger.release(Private("0.1"), people(ill)).entry.other_data  # type: ignore[union-attr]
        for ill in ("abcd", "dcba", "abce", "abcd")
    ]
    assert noted == [False, True, True, True]  # the second has the same values at other people
    shown = run("ledger", "show", str(ledger.path)).stdout
    assert re.findall(r"state (\d) of 3", shown) == ["1", "2", "3", "1"]
