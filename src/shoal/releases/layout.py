"""The released rows of a table: only columns that may leave, generalised, in an order that their
values alone decide.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts, group
from shoal.data.kinds import Key
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, ParameterError
from shoal.lattice import Groups

__all__ = ["COUNT", "GROUP", "Suppressed", "assemble", "grouping", "lay_out", "released"]


Suppressed = Literal["drop", "star"]
"""What becomes of suppressed records: they are dropped, or kept with '*' in every quasi-identifying
column.
"""

GROUP = "group"
"""The column that says who is in one group, where groups may look alike."""

COUNT = "count"
"""The column that says how often a row is released, where it is not repeated."""
_STAR = "*"


def assemble(
    table: Table, groups: Groups, kept: npt.NDArray[np.bool_], *, suppressed: Suppressed = "drop"
) -> Any:
    """The released rows of a table at the node of `groups`, as a dataframe of the kind that came
    in.

    Groups that are not `kept` are suppressed. Columns are in the table's order without identifying
    ones, quasi-identifying values are the hierarchy's labels, rows are in the order of the released
    values.
    """
    if suppressed not in ("drop", "star"):
        raise ParameterError(f"suppressed={suppressed!r}; it takes 'drop' or 'star'")
    lattice = groups.lattice
    columns: dict[str, tuple[Sequence[str], npt.NDArray[Any]]] = {}
    for name, hierarchy, level in zip(lattice.names, lattice.hierarchies, groups.node, strict=True):
        columns[name] = (hierarchy.labels[level], hierarchy.maps[level][table.leaves(name)])
    keep = None
    if not kept.all():
        keep = kept[groups.find([codes for _, codes in columns.values()])]
    if keep is None or suppressed == "drop":
        return lay_out(table, columns, keep)
    return lay_out(
        table, {name: _starred(labels, codes, keep) for name, (labels, codes) in columns.items()}
    )


def lay_out(
    table: Table,
    generalised: Mapping[str, tuple[Sequence[str], npt.NDArray[Any]]],
    keep: npt.NDArray[np.bool_] | None = None,
    rows: Counts | None = None,
    *,
    counts: bool = False,
) -> Any:
    """The released rows, given for every quasi-identifying column its labels and every row's code
    among them.

    Other columns are released as they are, identifying ones never; `keep` picks the rows. Where a
    method works on the distinct `rows` of the table, the codes given and those picked are of these.
    Rows are sorted by their released codes over all columns, so that equal multisets of rows give
    equal bytes and nothing tells of the input's order. With `counts` each row is there once, and a
    column of that name says how often it is released.
    """
    columns: dict[str, tuple[Sequence[Key | None], npt.NDArray[Any]]] = {}
    for name in released(table):
        if name in generalised:
            columns[name] = generalised[name]
        else:
            own = table.column(name)
            columns[name] = (
                own.keys,
                own.codes if rows is None else rows.codes[rows.names.index(name)],
            )
    sorted_rows = group(
        list(columns),
        [codes if keep is None else codes[keep] for _, codes in columns.values()],
        [max(len(values), 1) for values, _ in columns.values()],
        None if rows is None else rows.count if keep is None else rows.count[keep],
    )
    named = dict(zip(columns, sorted_rows.codes, strict=True))
    if not counts:
        return table.like(
            {
                name: (columns[name][0], np.repeat(codes, sorted_rows.count))
                for name, codes in named.items()
            }
        )
    return table.like(
        {
            **{name: (columns[name][0], codes) for name, codes in named.items()},
            COUNT: (None, sorted_rows.count),
        }
    )


def released(table: Table) -> list[str]:
    """The columns that may leave, in the table's order: all but the identifying ones."""
    names = [name for name in table.names if table.roles[name] is not Role.IDENTIFYING]
    if not names:
        raise ColumnError(
            "every column is identifying, so nothing may be released; give some column another role"
        )
    return names


def grouping(table: Table) -> list[str]:
    """The columns whose values the records of a group share, by which every room counts groups: the
    quasi-identifying ones.

    Where there are none, anything may be known about a person, and records share what is released
    of them.
    """
    others = [name for name in table.names if table.roles.get(name) is not Role.IDENTIFYING]
    return list(table.quasi) or others


def _starred(
    labels: Sequence[str], codes: npt.NDArray[Any], keep: npt.NDArray[np.bool_]
) -> tuple[Sequence[str], npt.NDArray[Any]]:
    """The column with '*' where a row is suppressed; a label that is '*' already is the same
    value.
    """
    star = labels.index(_STAR) if _STAR in labels else len(labels)
    return (labels if star < len(labels) else (*labels, _STAR)), np.where(
        keep, codes.astype(np.int64), star
    )
