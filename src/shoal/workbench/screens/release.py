"""Release: what is still wrong, what will be in the files, what it costs, and then the release.

Uses `readiness`; what comes after a release is in `released`. `app` uses it.
"""

import hashlib
import os
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.data import toml
from shoal.data.formats import WRITTEN, called, is_csv
from shoal.errors import FileError, ParameterError, RecipeError, ShoalError
from shoal.look.zoned import Zone
from shoal.releases.release import certificate_in
from shoal.workbench import approvals
from shoal.workbench.candidates import CandidateFolder, KeptCandidate, method_of
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.readiness import (
    StatedRelease,
    columns,
    entering,
    first_look,
    second_look,
    stated,
)
from shoal.workbench.screens import released
from shoal.workbench.steps import Standing, Step
from shoal.workbench.words import is_whole

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/release")
router.include_router(released.router)

FORMATS = {form: called(form) for form in WRITTEN}


def _standing(project: Project) -> Standing:
    made = [certificate_in(path) for path in project.releases]
    if not made:
        return Standing("todo")
    try:
        digest = hashlib.sha256(project.recipe.read_bytes()).hexdigest()
    except OSError:
        return Standing("todo")
    if any(one is not None and one.recipe == digest for one in made):
        return Standing("done")
    return Standing("todo", "the recipe has changed since")


STEP = Step("release", "Release", Zone.OWNER, _standing)


@router.get("")
def release(
    here: Annotated[Opened, Depends()], sure: str = "", name: str = "", recipe: str = ""
) -> HTMLResponse:
    """What is still to be done, what will be released, and earlier releases.

    recipe: the digest of the recipe that a page has shown, which is asked to go on
    """
    from shoal.recipe.loading import read

    project = here.project
    known = stated(project.recipe)
    book, unreadable, error = None, None, None
    if known is not None:
        try:
            book = entering(known)
        except ShoalError as problem:
            unreadable = problem
    try:
        name = _free_place(here, name).name
    except ShoalError as problem:
        error, sure = problem, ""
    changed = None if known is None else _changed(known.recipe.digest, recipe)
    jobs = here.desk.jobs.of(project, "release")
    running = [job for job in jobs if job.is_unfinished]
    # Whoever stopped one knows; what was made since is more than what was not.
    ended = jobs[0] if jobs and jobs[0].state in ("failed", "lost") else None
    return here.page(
        "release.html",
        at="release",
        items=first_look(here.draft, read(project.recipe)),
        known=known,
        columns=[] if known is None else list(columns(known.recipe)),
        book=book,
        unreadable=unreadable,
        output=here.draft.section("output"),
        formats=FORMATS,
        name=name,
        sure=bool(sure),
        running=running[0] if running else None,
        ended=ended,
        history=released.history(here),
        code=None if known is None else _code(known, name),
        tried=None if known is None else _tried(here),
        error=changed or error,
        changed=changed is not None,
        approval=approvals.approval_of(project) if here.desk.access.is_team else None,
        late=() if known is None else known.late,
    )


def _tried(here: Opened) -> KeptCandidate | None:
    """The newest try of exactly this recipe; None if there was none."""
    section = method_of(here.draft)
    tries = CandidateFolder(here.project).current()
    found = next((one for one in reversed(tries) if one.method == section), None)
    if found is not None:
        here.looked("candidates")
    return found


def _changed(digest: str, shown: str) -> ShoalError | None:
    """What is said to somebody who saw another recipe than there is now."""
    if shown in ("", digest):
        return None
    return ParameterError(
        "the recipe has changed since this page was shown",
        "look again at what will be released and what it costs",
    )


def _free_place(here: Opened, name: str) -> Path:
    """Where a release of a name is to be written, or of the next free one.

    An error if there is something already, or will be: a release takes the place of an earlier one.
    """
    project = here.project
    unfinished = [job for job in here.desk.jobs.of(project, "release") if job.is_unfinished]
    coming = {job.task.get("arguments", {}).get("name") for job in unfinished}

    def is_taken(folder: Path) -> bool:
        return folder.name in coming or folder.exists()

    number = len(project.releases) + 1
    while not name and is_taken(project.place_for_release(f"release-{number}")):
        number += 1
    folder = project.place_for_release(name or f"release-{number}")
    if is_taken(folder):
        raise FileError("there is a release of this name", "take another name")
    return folder


def _code(known: StatedRelease, name: str) -> dict[str, str]:
    """The recipe, Python code and commands of a release that is to be made."""
    return released.blocks(known.recipe, known.recipe.path, f"releases/{name}")


@router.get("/check")
def check(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What is wrong with the table and all that the recipe names, and what to know beforehand."""
    items: list[Any] = []
    concerns: tuple[str, ...] = ()
    try:
        recipe, table = here.desk.tables.whole(here.project)
        for name in table.hierarchies:
            table.leaf_of(name)
        concerns = recipe.concerns(table)
    except ShoalError:
        items = second_look(here.project.recipe)
    if concerns or items:
        here.looked("warnings before a release")
    earlier = [] if items else recipe.earlier_beside(here.project.place_for_release("new"))
    return here.page(
        "release_check.html",
        items=items,
        concerns=concerns,
        earlier=[os.path.basename(path) for path in earlier],
    )


@router.post("/output")
def output(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Decide how the files are written."""
    chosen = str(form.get("format", "csv"))
    if chosen not in FORMATS:
        raise ParameterError("there is no such format", "choose one from the list")
    rows = str(form.get("rows_per_file", "")).strip()
    if rows and (not is_whole(rows) or int(rows) < 1):
        raise ParameterError(
            "rows per file is a whole number above 0", "leave it empty for a single file"
        )
    here.decide("output", "format", to=chosen)
    here.decide("output", "rows_per_file", to=int(rows) if rows else None)
    neutral = is_csv(chosen) and "neutralise" in form
    here.decide("output", "neutralise", to=True if neutral else None)
    response = here.go(here.address("release"))
    response.headers["HX-Trigger"] = "recipe-changed"
    return response


@router.post("/start")
def start(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Begin the release; the ledger has its entry before the first coin."""
    # One after the other: two at once must not take the same name.
    with here.project.noting("releasing"):
        folder = _free_place(here, str(form.get("name", "")))
        shown = str(form.get("recipe", ""))
        if error := _changed(toml.read(here.project.recipe, "a recipe", RecipeError).digest, shown):
            raise error
        arguments = {"name": folder.name, "recipe": shown}
        reason = str(form.get("override", "")).strip()
        if here.desk.access.is_team:
            approved = approvals.require(here.project)
            approvals.use(here.project)
            arguments["digest"] = approved.digest
            # A reason that nobody else has seen is none.
            reason = approved.override
        if reason:
            arguments["override"] = reason
        job = here.desk.jobs.start(here.project, "release", arguments, here.who.name)
    return here.go(here.address(f"release/job/{job.key}"))


@router.get("/job/{key}")
def shown(here: Annotated[Opened, Depends()], key: str) -> Response:
    """A release while it is made; once it is there, itself."""
    job = here.desk.jobs.job(here.project, key)
    if job.state == "done":
        return here.go(here.address(f"release/made/{job.result['release']}"))
    name = job.task.get("arguments", {}).get("name", "")
    return here.page(
        "release_job.html",
        at="release",
        job=job,
        name=name,
        may_override=job.may_override,
        written=name in [folder.name for folder in here.project.releases],
        has_ledger=here.draft.get("ledger", "path") is not None,
    )
