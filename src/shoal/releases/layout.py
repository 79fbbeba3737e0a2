"""The released rows of a table: only columns that may be released, generalised.

Their order depends on their values alone.

Uses tables, `counts` and `lattice`; methods make their releases with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from shoal.arguments import require_one_of
from shoal.counts import Codes, Counts, group
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Key
from shoal.data.sources import Suppressed
from shoal.data.tables import Table
from shoal.errors import ColumnError
from shoal.lattice import Groups

__all__ = ["COUNT", "GROUP", "Suppressed", "assemble", "grouping", "lay_out", "released"]


GROUP = "group"
"""The column that says who is in one group, where groups may look alike."""

COUNT = "count"
"""The column that says how often a row is released, where it is not repeated."""


def assemble(
    table: Table, groups: Groups, kept: npt.NDArray[np.bool_], *, suppressed: Suppressed = "drop"
) -> RowsWithCounts:
    """The released rows of a table at the node of `groups`.

    They are a dataframe of the kind that came in, with how often each is released.

    Groups that are not `kept` are suppressed. Columns are in the table's order without identifying
    ones, quasi-identifying values are the hierarchy's labels, rows are in the order of the released
    values.
    """
    require_one_of("suppressed", suppressed, *get_args(Suppressed))
    lattice = groups.lattice
    levels = dict(zip(lattice.names, groups.node, strict=True))
    if kept.all():
        return table.write_back(released(table), levels)
    places = [lattice.names.index(name) for name in released(table) if name in levels]

    def keep(codes: Sequence[Codes]) -> npt.NDArray[np.bool_]:
        by_place = dict(zip(places, codes, strict=True))
        cells = groups.find([by_place[place] for place in range(len(places))])
        return kept[cells]

    return table.write_back(released(table), levels, keep, suppressed)


def lay_out(
    table: Table,
    generalised: Mapping[str, tuple[Sequence[str], npt.NDArray[Any]]],
    rows: Counts,
    *,
    counts: bool = False,
) -> Any:
    """The released rows, given the distinct `rows` of all released columns.

    `generalised` has, for every generalised column, its labels and the code of every distinct row
    among them. Other columns are released unchanged, identifying ones never. Rows are sorted by
    their released codes over all columns, so that equal multisets of rows give equal bytes, and
    nothing depends on the order of the input. They are a dataframe with how often each is released;
    with `counts`, a column of that name says it.
    """
    values: dict[str, Sequence[Key | None]] = {}
    codes: dict[str, npt.NDArray[Any]] = {}
    for name in released(table):
        if name in generalised:
            values[name], codes[name] = generalised[name]
        else:
            values[name], codes[name] = table.keys(name), rows.column(name)
    cards = [max(len(texts), 1) for texts in values.values()]
    laid = group(list(codes), list(codes.values()), cards, rows.count)
    if not counts:
        # A row that is not released must leave no trace.
        laid = laid.where(laid.count > 0)
    columns: dict[str, tuple[Sequence[Key | None] | None, npt.NDArray[Any]]] = {}
    for name, column in zip(laid.names, laid.codes, strict=True):
        columns[name] = (values[name], column)
    if counts:
        columns[COUNT] = (None, laid.count)
        return table.like(columns)
    return RowsWithCounts(table.like(columns), laid.count)


def released(table: Table) -> list[str]:
    """The columns that may be released, in the table's order; ColumnError if there are none."""
    if not table.released:
        raise ColumnError(
            "every column is identifying, so nothing may be released",
            "give some column another role",
        )
    return list(table.released)


def grouping(table: Table) -> list[str]:
    """The columns whose values the records of a group share: the quasi-identifying ones.

    Where there are none, anything may be known about a person, and records share what is released
    of them.
    """
    return list(table.quasi or table.released)
