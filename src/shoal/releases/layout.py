"""The released rows of a table: only columns that may leave, generalised, in an order that their values alone decide."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, Counts, group
from shoal.data.kinds import Key
from shoal.data.sources import Laid, Suppressed
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, ParameterError
from shoal.lattice import Groups

__all__ = ["COUNT", "GROUP", "Suppressed", "assemble", "grouping", "lay_out", "released"]


GROUP = "group"
"""The column that says who is in one group, where groups may look alike."""

COUNT = "count"
"""The column that says how often a row is released, where it is not repeated."""


def assemble(
    table: Table, groups: Groups, kept: npt.NDArray[np.bool_], *, suppressed: Suppressed = "drop"
) -> Any:
    """The released rows of a table at the node of `groups`, as a dataframe of the kind that came in.

    Groups that are not `kept` are suppressed. Columns are in the table's order without identifying ones, quasi-identifying
    values are the hierarchy's labels, rows are in the order of the released values.
    """
    if suppressed not in ("drop", "star"):
        raise ParameterError(f"suppressed={suppressed!r}; it takes 'drop' or 'star'")
    lattice = groups.lattice
    levels = dict(zip(lattice.names, groups.node, strict=True))
    if kept.all():
        return table.write_back(released(table), levels)
    places = [lattice.names.index(name) for name in released(table) if name in levels]

    def keep(codes: Sequence[Codes]) -> npt.NDArray[np.bool_]:
        by_column = dict(zip(places, codes, strict=True))
        cells = groups.find([by_column[place] for place in range(len(places))])
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

    `generalised` has, for every generalised column, its labels and the code of every distinct row among them. Other columns
    are released unchanged, identifying ones never. Rows are sorted by their released codes over all columns, so that equal
    multisets of rows give equal bytes, and nothing depends on the order of the input. With `counts` each row is there once, and
    a column of that name says how often it is released.
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
        repeated = [np.repeat(column, laid.count) for column in laid.codes]
        return table.like(
            dict(zip(values, zip(values.values(), repeated, strict=True), strict=True))
        )
    columns: Laid = dict(zip(values, zip(values.values(), laid.codes, strict=True), strict=True))
    return table.like({**columns, COUNT: (None, laid.count)})


def released(table: Table) -> list[str]:
    """The columns that may leave, in the table's order: all but the identifying ones."""
    names = [name for name in table.names if table.roles[name] is not Role.IDENTIFYING]
    if not names:
        raise ColumnError(
            "every column is identifying, so nothing may be released; give some column another role"
        )
    return names


def grouping(table: Table) -> list[str]:
    """The columns whose values the records of a group share, by which every room counts groups: the quasi-identifying ones.

    Where there are none, anything may be known about a person, and records share what is released of them.
    """
    others = [name for name in table.names if table.roles.get(name) is not Role.IDENTIFYING]
    return list(table.quasi) or others
