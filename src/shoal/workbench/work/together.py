"""Checking several releases together, with the table as register.

Uses `views` and the ledger; `working` calls it, and `restore` begins in the same way. Who is
exposed is only in the result if that was asked for.
"""

from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.ledger import Ledger
from shoal.ledger.shown import earlier
from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.releases.release import Release
from shoal.views import Checked, ExposedPerson, Gathered, check, gather_releases
from shoal.workbench.drawing import figures
from shoal.workbench.projects import Project

__all__ = ["NEW", "gathered", "run", "told"]

NEW = "this recipe"
"""What a release is called that the recipe would make now."""

_LISTED = 200
"""People who are listed, at most."""


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """What several releases reveal together: figures, and names if they are wanted."""
    found = gathered(project, arguments, progress)
    progress(0, 0, "counting the possible tables")
    checked = check(found.views)
    progress(0, 0, "looking for those who are exposed")
    result = told(checked)
    pictures = checked.pictures()
    result |= {"picture": figures(pictures[0]), "named": None}
    if arguments.get("names"):
        result["named"] = {
            "exposed": [_row(one) for one in checked.exposed[:_LISTED]],
            "undecided": [_row(one) for one in checked.undecided[:_LISTED]],
            "picture": figures(pictures[1]) if len(pictures) > 1 else {},
        }
    return result


def gathered(project: Project, arguments: dict[str, Any], progress: Progress) -> Gathered:
    """The views of the chosen releases, and of what else is to be counted."""
    recipe = Recipe.load(project.recipe)
    progress(0, 0, "reading the table")
    table = recipe.table()
    releases = {name: Release.read(project.release(name)) for name in arguments["releases"]}
    for place in arguments["paths"]:
        path = project.folder / place
        releases[_unused(path.name, releases)] = Release.read(path)
    if arguments["ledger"] and recipe.ledger is not None:
        releases |= _remembered(recipe.ledger, releases)
    if arguments["new"]:
        progress(0, 0, "trying out the recipe")
        releases[NEW] = recipe.method().release(table, progress=progress)
    others = recipe.others if arguments["others"] else None
    if not releases and others is None:
        raise InputError("nothing was chosen", "choose at least one release")
    progress(0, 0, "finding out who is in which group")
    return gather_releases(
        releases,
        table,
        arguments["column"],
        known=arguments["known"],
        person=arguments["person"] or None,
        others=others,
        gamma=arguments["gamma"],
    )


def _remembered(path: Path, releases: dict[str, Release]) -> dict[str, Release]:
    """What the ledger knows of releases that are not among these."""
    numbers = {release.certificate.number for release in releases.values()}
    shown, _ = earlier(Ledger(path).account())
    return {one.name: one.release for one in shown if one.certificate.number not in numbers}


def _unused(name: str, releases: dict[str, Release]) -> str:
    number, free = 2, name
    while free in releases:
        free = f"{name} {number}"
        number += 1
    return free


def told(checked: Checked) -> dict[str, Any]:
    """What was found, without a name or a value."""
    views = checked.views
    return {
        "private": checked.private,
        "exact": checked.how == "exact",
        "largest": str(checked.largest_text),
        "share": float(checked.largest),
        "gamma": str(views.gamma),
        "tables": checked.tables_text if len(checked.tables_text) < 30 else _digits(checked),
        "how": checked.how,
        "confidence": None if checked.confidence is None else float(checked.confidence),
        "people": len(views.people),
        "views": len(views.views),
        "exposed": len({one.person for one in checked.exposed}),
        "undecided": len({one.person for one in checked.undecided}),
        "notes": list(views.notes),
    }


def _digits(checked: Checked) -> str:
    return f"about 10^{checked.digits:.0f}"


def _row(one: ExposedPerson) -> dict[str, str]:
    bounds = str(one.probability) if one.exact else f"{float(one.low):.3f} – {float(one.high):.3f}"
    if len(bounds) > 20:
        bounds = f"{float(one.probability):.4f}"
    return {
        "name": one.name,
        "value": "" if one.value is None else str(one.value),
        "probability": bounds,
        "limit": str(one.limit),
        "views": ", ".join(one.views) + ("" if one.alone else " …"),
    }
