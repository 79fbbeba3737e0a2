"""New projects: on a file of this machine, on one that is sent, or on made-up data.

Uses `beginning` and `folders`; `app` uses it.
"""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, Response

from shoal.errors import ShoalError
from shoal.workbench.beginning import begin, begin_demo, begin_upload, free_name, is_arx_project
from shoal.workbench.folders import listing, require_there, typed_place
from shoal.workbench.pages import Here, Owner, Submitted

__all__ = ["router"]

router = APIRouter()


@router.get("/new")
def new(here: Annotated[Owner, Depends()], path: str = "", at: str = "") -> HTMLResponse:
    """The ways to begin: a file on this machine, a file that is sent, made-up data."""
    return _new(here, path=path, at=at)


@router.get("/new/look")
def looked(here: Annotated[Owner, Depends()], path: str = "") -> HTMLResponse:
    """What a file looks like, before a project is made of it."""
    return here.page("new_look.html", **_look(here, path))


@router.post("/new")
def make(here: Annotated[Owner, Depends()], form: Submitted) -> Response:
    """Make a project on a file, which stays where it is."""
    home = here.desk.home
    given = {name: str(form.get(name, "")) for name in ("path", "name", "query")}
    try:
        place = typed_place(given["path"], home.folder)
        project = begin(home, given["name"], place, given["query"])
    except ShoalError as error:
        return _new(here, path=given["path"], problem=error, given=given)
    return here.go(f"/p/{quote(project.key)}/data")


@router.post("/new/upload")
async def upload(request: Request) -> Response:
    """Make a project on a file that is sent, and written into the project's folder as it comes."""
    here = Owner(request)
    content_type = request.headers.get("content-type", "")
    project = await begin_upload(here.desk.home, content_type, request.stream())
    return here.go(f"/p/{quote(project.key)}/data")


@router.post("/new/demo")
def try_out(here: Annotated[Owner, Depends()]) -> Response:
    """Make a project on made-up data."""
    home = here.desk.home
    project = begin_demo(home, free_name(home, "hospital"))
    return here.go(f"/p/{quote(project.key)}/")


@router.get("/folders")
def folders(here: Annotated[Owner, Depends()], at: str = "", pick: str = "/new") -> HTMLResponse:
    """What is in a folder, to find a file in."""
    return here.page("folders.html", **_folders(here, at, pick))


def _new(
    here: Here,
    *,
    path: str = "",
    at: str = "",
    problem: ShoalError | None = None,
    given: dict[str, str] | None = None,
) -> HTMLResponse:
    """The page for new projects."""
    context = _look(here, path)
    if problem is not None:
        context["problem"] = problem
    if given is not None:
        context["given"] = given
    if not at and path:
        at = _above(here, path)
    return here.page(
        "new.html",
        status=422 if problem else 200,
        is_first=not here.desk.home.projects(),
        **context,
        **_folders(here, at, "/new"),
    )


def _look(here: Here, path: str) -> dict[str, Any]:
    """What is known of a path that was typed or picked."""
    home = here.desk.home
    context: dict[str, Any] = {"path": path, "place": None, "layout": None, "problem": None}
    context["is_project"] = is_arx_project(path)
    context["given"] = {"path": path, "name": "", "query": ""}
    if not path:
        return context
    try:
        place = typed_place(path, home.folder)
        require_there(place)
    except ShoalError as error:
        return {**context, "problem": error}
    from shoal.data.layouts import look

    context |= {"place": place, "layout": look(place)}
    stem = place.rpartition("/")[2] if isinstance(place, str) else place.stem
    context["given"]["name"] = free_name(home, stem)
    return context


def _above(here: Here, path: str) -> str:
    try:
        place = typed_place(path, here.desk.home.folder)
    except ShoalError:
        return ""
    return str(place.parent) if isinstance(place, Path) else ""


def _folders(here: Here, at: str, pick: str) -> dict[str, Any]:
    """The folder to show beside a path: the one asked for, or else that of the projects."""
    home = here.desk.home.folder
    problem = None
    try:
        found = listing(Path(at) if at and Path(at).is_absolute() else home)
    except ShoalError as error:
        found, problem = listing(home), error
    is_ours = pick == "/new" or (pick.startswith("/p/") and pick.endswith("/data"))
    places = {"home": Path.home(), "projects": home}
    return {
        "folder": found,
        "folder_problem": problem,
        "pick": pick if is_ours else "/new",
        "places": {name: place for name, place in places.items() if place.is_dir()},
    }
