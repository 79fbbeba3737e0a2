"""Writing reports on a release, beside the releases and never among them.

Uses `report`; `working` calls it, and the screen of releases finds reports by it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.workbench.projects import Project

if TYPE_CHECKING:
    from shoal.methods.method import Progress

__all__ = ["named", "place_of", "run"]

REPORTS = "reports"


def place_of(project: Project) -> Path:
    """The folder of the project's reports."""
    return project.folder / REPORTS


def named(release: str, audience: str, form: str) -> str:
    """What a report is called, without its ending."""
    return "-".join([release, *([form] if form else []), audience])


def run(project: Project, arguments: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    """Write the report for an `audience`, or a `form` of a committee; as `pdf` too if wanted."""
    # Here, as screens use the names above.
    from shoal.recipe import Recipe
    from shoal.report import Published, Reported, owner, public
    from shoal.report.committees import filled, framework, html
    from shoal.report.writing import write

    folder = project.release(arguments["release"])
    audience, form = arguments["audience"], arguments["form"]
    progress(0, 0, "reading the release")
    subject: Published | Reported
    if audience == "owner":
        subject = Reported.read(folder, Recipe.load(project.recipe))
    else:
        subject = Published.read(folder)
    progress(0, 0, "writing the report")
    if form:
        page = html(filled(framework(form), subject))
    else:
        page = owner(subject) if isinstance(subject, Reported) else public(subject)
    place = place_of(project)
    place.mkdir(mode=0o700, exist_ok=True)
    stem = named(folder.name, audience, form)
    endings = (".html", ".pdf") if arguments["pdf"] else (".html",)
    files = [place / f"{stem}{ending}" for ending in endings]
    write(page, files)
    return {"files": [file.name for file in files], "faults": list(subject.verification or ())}
