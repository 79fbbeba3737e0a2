"""Simulating candidates, one after the other, and measuring releases. `working` calls it.

Each is kept as soon as it is measured: what was made before a job is stopped stays. Uses `recipe`
and `studies`.
"""

from collections.abc import Mapping
from typing import Any

from shoal.data.tables import Table
from shoal.errors import ParameterError, ShoalError, Stopped
from shoal.methods.method import Progress
from shoal.recipe import Recipe
from shoal.releases.release import Release
from shoal.studies.simulating import Details, Simulation, measure, simulate
from shoal.workbench.candidates import CandidateFolder, basis_of
from shoal.workbench.projects import Project
from shoal.workbench.variations import neighbours

__all__ = ["run"]

MOST = 24
"""Neighbours that are made at most."""


def run(project: Project, arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Make every one of `several`, each with a `name` and a `method`, or a `release`.

    Instead, `neighbours` may have the key of a candidate whose neighbours are made. One that cannot
    be made does not keep the others from it, unless there are no others.
    """
    basis = basis_of(project)
    progress(0, 0, "reading the table")
    table: Table | None = None
    several: list[dict[str, Any]] = arguments.get("several", [])
    if "neighbours" in arguments:
        table, several = _neighbours(project, arguments["neighbours"])
    kept: list[str] = []
    refused: list[dict[str, str]] = []
    for number, one in enumerate(several):
        within = progress
        if len(several) > 1:
            within = _within(progress, number, len(several))
            progress(number, len(several), "trying one after the other")
        try:
            recipe = Recipe.load(project.recipe, one.get("method"))
            table = table or recipe.table()
            made, details = _made(project, recipe, table, one, within)
        except Stopped:
            raise
        except ShoalError as error:
            if len(several) == 1:
                raise
            refused.append({"name": one["name"], "why": error.what})
            continue
        candidate = CandidateFolder(project).put(made, details, one.get("method"), basis)
        kept.append(candidate.key)
    return {"kept": kept, "refused": refused}


def _neighbours(project: Project, key: str) -> tuple[Table, list[dict[str, Any]]]:
    """What is one step away from a candidate, and the table."""
    candidates = CandidateFolder(project)
    centre = candidates.candidate(key)
    if centre.method is None:
        raise ParameterError("a release has no neighbours", "take a candidate")
    recipe = Recipe.load(project.recipe, centre.method)
    table = recipe.table()
    found: list[dict[str, Any]] = []
    for name, section in neighbours(centre.method, recipe, centre.made.levels, table):
        taken = [one["name"] for one in found]
        name = candidates.unique(f"{centre.name}: {name}", taken)
        found.append({"name": name, "method": section})
    if not found:
        raise ParameterError(
            "its parameters are not numbers or levels that could be one step larger or smaller",
            "try a variation of your own",
        )
    return table, found[:MOST]


def _made(
    project: Project, recipe: Recipe, table: Table, one: Mapping[str, Any], progress: Progress
) -> tuple[Simulation, Details]:
    if one.get("release"):
        progress(0, 0, "comparing with the input")
        return measure(table, Release.read(project.release(one["release"])), one["name"])
    recipe.promise(table)
    return simulate(table, recipe.method(), one["name"], progress)


def _within(progress: Progress, number: int, total: int) -> Progress:
    """What one of several tells: how many were made before it, and what it does itself."""

    def tell(done: int, of: int, what: str) -> None:
        progress(number, total, what)

    return tell
