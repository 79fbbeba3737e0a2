"""Surveying what every combination of levels loses and suppresses. `working` calls it.

The survey is kept in the hidden folder of the project. Uses `recipe` and `measure`.
"""

from typing import Any

from shoal.chance import Chance
from shoal.errors import ParameterError
from shoal.measure.surveying import survey
from shoal.methods.method import Progress, people_of
from shoal.privacy.models import parse_model
from shoal.recipe import Recipe
from shoal.workbench.candidates import basis_of
from shoal.workbench.projects import Project

__all__ = ["FILE", "run"]

FILE = "survey.npz"
"""Where a project keeps its survey."""


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Survey the levels by `models`, with a `loss`."""
    basis = basis_of(project)
    progress(0, 0, "reading the table")
    recipe = Recipe.load(project.recipe, arguments.get("method"))
    table = recipe.table()
    bare = [name for name in table.quasi if name not in table.hierarchies]
    if bare or not table.quasi:
        raise ParameterError(
            f"column {bare[0]!r} has no hierarchy" if bare else "no column is quasi-identifying",
            "give every quasi-identifying column one",
        )
    models = [parse_model(model) for model in arguments["models"]]
    people = people_of(recipe.method(), table, Chance())
    found = survey(people, models, loss=arguments["loss"], progress=progress)
    found.write(project.hidden / FILE)
    project.keep("survey", {"basis": basis, "asked": arguments["models"]})
    return {"nodes": found.nodes, "seen": found.seen}
