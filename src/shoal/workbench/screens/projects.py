"""The first screen: every project of the folder, and new ones. Uses `pages`; `app` uses it."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError
from shoal.workbench.access import START
from shoal.workbench.overviews import Overview, undecided_in_words
from shoal.workbench.pages import Here, Opened, Owner, Submitted

__all__ = ["router"]

router = APIRouter()


@router.get(START)
def start(here: Annotated[Here, Depends()]) -> Response:
    """The project itself, where the workbench was started in its folder; else all of them."""
    only = here.desk.home.only
    return here.go("/" if only is None else f"/p/{quote(only.key)}/")


@router.get("/")
def projects(here: Annotated[Here, Depends()]) -> Response:
    """All projects; for the first one, how to begin."""
    home = here.desk.home
    overviews = [Overview(project) for project in home.projects()]
    if not overviews and here.who.is_owner:
        return here.go("/new")
    return here.page(
        "projects.html",
        overviews=overviews,
        removed=home.removed(),
    )


@router.get("/p/{project}/card")
def card(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What is known of a project from its files: it follows the list, which comes first."""
    overview = Overview(here.project)
    return here.page("project_card.html", one=overview, undecided_in_words=undecided_in_words)


@router.get("/p/{project}/")
def first(here: Annotated[Opened, Depends()]) -> Response:
    """The first step of a project that needs something."""
    for step, standing in here.steps:
        if standing.state in ("needs", "todo"):
            return here.go(here.address(step.key))
    return here.go(here.address(here.steps[0][0].key))


@router.get("/p/{project}/steps")
def steps(here: Annotated[Opened, Depends()], at: str = "") -> HTMLResponse:
    """The list of steps, after something was decided."""
    return here.page("steps_nav.html", at=at)


@router.post("/p/{project}/remove")
def remove(here: Annotated[Opened, Depends()]) -> Response:
    """Take a project off the list; its data, ledger and releases stay where they are."""
    if not here.who.is_owner:
        raise ParameterError("only an owner may do this", "ask one")
    if any(job.state in ("running", "waiting") for job in here.desk.jobs.of(here.project)):
        raise ParameterError("something is still running in this project", "stop it first")
    here.project.remove()
    return here.go("/")


@router.post("/restore")
def restore(here: Annotated[Owner, Depends()], form: Submitted) -> Response:
    """Put a project back on the list."""
    here.desk.home.restore(str(form.get("place", "")))
    return here.go("/")
