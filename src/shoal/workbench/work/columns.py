"""Which columns cause the risk, and the smallest identifying sets. Uses `assessing`.

`working` calls it for tables that are too large for a page to wait for.
"""

from typing import Any

from shoal.methods.method import Progress
from shoal.workbench.assessing import RiskQuestion, detailed, details_of
from shoal.workbench.projects import Project
from shoal.workbench.tables import Tables

__all__ = ["run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """The details of the question that is asked, as plain values."""
    progress(0, 0, "reading the table")
    table = Tables().bare(project)
    progress(0, 0, "looking at sets of columns")
    return details_of(detailed(table, RiskQuestion.read(arguments["question"])))
