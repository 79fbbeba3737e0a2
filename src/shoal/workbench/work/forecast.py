"""What methods are expected to keep, on made-up tables. Uses `studies`; `working` calls it."""

from typing import Any

from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.recipe.loading import mistakes, read
from shoal.studies.forecasting import forecast
from shoal.workbench.drawing import figures
from shoal.workbench.projects import Project

__all__ = ["run"]


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """A forecast for the columns of the recipe, and a number of records that is public.

    The recipe may have no method yet; `epsilon` and `delta` say what is promised.
    """
    written = read(project.recipe)
    if written.content is None:
        raise mistakes(written.path, written.wrong)
    recipe = Recipe(written.path, written.content, written.digest)
    progress(0, 0, "releasing made-up tables")
    found = forecast(
        recipe.schema,
        records=arguments["records"],
        epsilon=arguments["epsilon"],
        delta=arguments["delta"],
        values=arguments.get("values", {}),
    )
    [picture] = found.pictures()
    return {
        "figure": figures(picture),
        "concern": found.concern or "",
        "records": arguments["records"],
    }
