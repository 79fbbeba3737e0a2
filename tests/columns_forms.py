"""Tiny databases in both forms that `Columns` takes, and what a form releases, for tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import shoal
from shoal.attack.coins import Interval
from shoal.chance import Chance
from shoal.methods import noisy_counts
from shoal.methods.columns import long as long_form
from shoal.methods.columns import wide as wide_form
from shoal.methods.columns.long import Long
from shoal.methods.columns.wide import Drawn, Laid, Wide

Record = tuple[int | None, ...]
Database = tuple[Record, ...]
Outcome = tuple[tuple[object, ...], ...]
Law = dict[Outcome, Interval]
Groups = tuple[tuple[int, ...], ...]


def rows_of(laid: Laid) -> Outcome:
    """The released rows, read off what a form lays out."""
    columns = [
        codes.tolist() if values is None else [values[code] for code in codes.tolist()]
        for values, codes in laid.values()
    ]
    return tuple(zip(*columns, strict=True))


def nothing(place: int) -> None:
    pass


def table_of(form: str, database: Database, columns: int = 2) -> shoal.Table:
    """A database as a table; in long form its columns are items."""
    names = [f"c{j}" for j in range(columns)]
    if form == "wide":
        frame = pl.DataFrame(
            [list(row) for row in database], schema=dict.fromkeys(names, pl.Int64), orient="row"
        )
        return shoal.table(frame, quasi=names)
    rows = [
        (who, f"c{item}", value)
        for who, row in enumerate(database)
        for item, value in enumerate(row)
        if value is not None
    ]
    # A person without any of the items is there nevertheless.
    rows += [(who, "other", 1) for who, _ in enumerate(database)]
    frame = pl.DataFrame(
        rows, schema={"who": pl.Int64, "item": pl.String, "value": pl.Int64}, orient="row"
    )
    return shoal.table(frame, identifying=["who"], quasi=["item"], sensitive=["value"])


def wide(database: Database, columns: int) -> Wide:
    return Wide.of(table_of("wide", database, columns), [f"c{j}" for j in range(columns)], {})


def long(database: Database, columns: int) -> Long:
    items = [f"c{j}" for j in range(columns)]
    return Long.of(table_of("long", database, columns), items, "who", "item", "value", {})


FORMS: dict[str, Callable[[Database, int], Any]] = {"wide": wide, "long": long}
both_forms = pytest.mark.parametrize("form", FORMS)


class Surely:
    """Parameters that release every projection that k records share as often as it occurs."""

    k = 2


SURELY: Any = Surely()


def released_surely(
    form: Wide | Long,
    groups: Groups,
    most: int,
    chance: Chance | None = None,
    *,
    counts: bool = True,
) -> Drawn:
    """What a form releases where nothing but the groups that records give is drawn."""
    return form.release(groups, most, SURELY, chance or Chance(), nothing, counts)


def draw_nothing_surely(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SURELY` draws nothing; all other parameters draw as they should."""
    right = noisy_counts.noisy

    def surely(
        count: npt.NDArray[np.int64], parameters: Any, chance: Chance
    ) -> npt.NDArray[np.int64]:
        if isinstance(parameters, Surely):
            return np.where(count >= parameters.k, count, 0)
        return right(count, parameters, chance)

    for module in (wide_form, long_form):
        monkeypatch.setattr(module, "noisy", surely)
