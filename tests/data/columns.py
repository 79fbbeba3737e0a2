"""Columns of tables as tests compare them."""

import shoal


def texts(table: shoal.Table) -> dict[str, list[str | None]]:
    """The table's columns as texts."""
    columns = {}
    for name in table.names:
        column = table.column(name)
        columns[name] = [column.labels[code] or None for code in column.codes]
    return columns
