"""Putting the table of a project under audit. Uses `audit`; `working` calls it."""

from typing import Any

from shoal.audit import Audit, Secret
from shoal.methods.method import Progress
from shoal.workbench.projects import Project
from shoal.workbench.questions import place_for_audit
from shoal.workbench.tables import Tables

__all__ = ["run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Make the audit, with the secret column and what is public as the form said."""
    progress(0, 0, "reading the table")
    table = Tables().bare(project)
    secret = Secret(**arguments["secret"])
    audit = Audit.new(
        place_for_audit(project),
        table,
        secret,
        public=arguments["public"],
        named=arguments["named"],
        unit=arguments["unit"],
    )
    return {"people": audit.people}
