"""Verifying a release with the recipe's hierarchies. Uses `verification`; `working` calls it."""

from typing import Any

from shoal.errors import ShoalError
from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.releases.release import CERTIFICATE
from shoal.releases.verification import verify
from shoal.workbench.projects import Project

__all__ = ["run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """What does not hold, what is promised, and what the files cannot show."""
    folder = project.release(arguments["release"])
    progress(0, 0, "reading the files")
    try:
        recipe: Recipe | None = Recipe.load(project.recipe)
    except ShoalError:  # it may be a draft again, and the files speak for themselves
        recipe = None
    trees, same = {}, False
    paper = folder / CERTIFICATE
    if recipe is not None:
        same = recipe.digest in paper.read_text("utf-8")
        trees = recipe.hierarchies if same else {}
    verdict = verify(paper, folder, trees, recipe=recipe.digest if recipe and same else None)
    return {
        "faults": list(verdict),
        "statement": verdict.statement or "",
        "unchecked": verdict.unchecked,
        "with_recipe": same,
    }
