"""Releasing as the recipe says, into a folder of the project. Uses `recipe`; `working` calls it."""

from typing import TYPE_CHECKING, Any

from shoal.data.disk import replacing
from shoal.errors import ParameterError
from shoal.workbench.approvals import digest_of
from shoal.workbench.projects import Project

if TYPE_CHECKING:
    from shoal.methods.method import Progress

__all__ = ["KEPT", "run"]

KEPT = "recipes"
"""Where recipes are kept as they were when something was released."""


def run(project: Project, arguments: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    """Release into the folder `name`; the ledger has its entry before the first coin.

    The recipe is kept as it is now, so that what was done can be shown when it has changed.
    """
    from shoal.recipe import Recipe

    _require_unchanged(project, arguments)
    recipe = Recipe.load(project.recipe)
    folder = project.place_for_release(arguments["name"])
    folder.parent.mkdir(exist_ok=True)
    kept = project.hidden / KEPT
    kept.mkdir(exist_ok=True)
    with replacing(kept / f"{recipe.digest}.toml") as file:
        file.write(project.recipe.read_bytes())
    progress(0, 0, "reading the table")
    table = recipe.table()
    # By now all is read that the approval was about.
    _require_unchanged(project, arguments)
    made = recipe.release(table, folder, progress=progress, override=arguments.get("override"))
    result: dict[str, Any] = {"release": folder.name, "number": made.certificate.number}
    if made.entry is not None:
        result["entry"] = made.entry.number
    return result


def _require_unchanged(project: Project, arguments: dict[str, Any]) -> None:
    """An error unless all is as it was approved, where an approval is needed."""
    approved = arguments.get("digest")
    if approved is not None and approved != digest_of(project):
        raise ParameterError(
            "the recipe or a file that it names has changed since it was approved", "ask again"
        )
