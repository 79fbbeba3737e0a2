"""Looking through all rows for what the columns are. Uses `data`; `working` calls it.

It is for rows that are not in memory, which takes a pass for each column.
"""

from typing import Any

from shoal.data.findings import ColumnFinding, FoundColumn, find
from shoal.data.kinds import Kind
from shoal.methods.method import Progress
from shoal.workbench.projects import Project
from shoal.workbench.tables import Tables

__all__ = ["found_in", "run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """What every column looks like: types and numbers, no value but NA and the like."""
    progress(0, 0, "reading the table")
    draft = project.draft()
    found = find(Tables().bare(project, draft), progress)
    types = draft.section("source", "types")
    return {"columns": [_plain(column) for column in found], "types": types}


def found_in(result: dict[str, Any]) -> tuple[FoundColumn, ...]:
    """The columns in the result of such a job."""
    return tuple(
        FoundColumn(
            one["name"],
            Kind(one["kind"]),
            one["rows"],
            one["missing"],
            one["distinct"],
            ColumnFinding(*one["why"]),
            tuple(
                ColumnFinding(code, values, tuple(forms)) for code, values, forms in one["oddities"]
            ),
        )
        for one in result["columns"]
    )


def _plain(column: FoundColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": str(column.kind),
        "rows": column.rows,
        "missing": column.missing,
        "distinct": column.distinct,
        "why": [column.why.code, dict(column.why.values)],
        "oddities": [[odd.code, dict(odd.values), [*odd.forms]] for odd in column.oddities],
    }
