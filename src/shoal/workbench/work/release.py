"""Releasing as the recipe says, into a folder of the project. Uses `recipe`; `working` calls it."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.disk import replacing
from shoal.errors import ParameterError
from shoal.workbench.approvals import digest_of
from shoal.workbench.projects import Project

if TYPE_CHECKING:
    from shoal.methods.method import Progress
    from shoal.recipe import Recipe
    from shoal.releases.certificate import Certificate

__all__ = ["recipe_behind", "run"]

_KEPT = "recipes"
"""Where recipes are kept as they were when something was released."""


def run(project: Project, arguments: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    """Release into the folder `name`; the ledger has its entry before the first coin.

    The recipe is kept as it is now, so that what was done can be shown when it has changed.
    """
    from shoal.recipe import Recipe

    _require_unchanged(project, arguments)
    recipe = Recipe.load(project.recipe)
    if arguments.get("recipe") not in (None, "", recipe.digest):
        raise ParameterError(
            "the recipe has changed since this release was asked for",
            "look again at what will be released and what it costs",
        )
    folder = project.place_for_release(arguments["name"])
    folder.parent.mkdir(exist_ok=True)
    kept = project.hidden / _KEPT
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


def recipe_behind(project: Project, certificate: "Certificate") -> "tuple[Recipe, Path] | None":
    """The recipe that a release was made by, and a file that has it; None if it is not known.

    That of the project may have changed since, and its paths are those of the kept one too.
    """
    from shoal.recipe import Recipe
    from shoal.recipe.loading import read

    kept = project.hidden / _KEPT / f"{certificate.recipe}.toml"
    for path in (project.recipe, kept):
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            continue
        content = read(path).content
        if digest == certificate.recipe and content is not None:
            return Recipe(project.recipe, content, digest), path
    return None


def _require_unchanged(project: Project, arguments: dict[str, Any]) -> None:
    """An error unless all is as it was approved, where an approval is needed."""
    approved = arguments.get("digest")
    if approved is not None and approved != digest_of(project):
        raise ParameterError(
            "the recipe or a file that it names has changed since it was approved", "ask again"
        )
