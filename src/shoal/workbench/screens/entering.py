"""Coming in with a key, and leaving: for teams only. Uses `access`; `app` uses it."""

from typing import TypeGuard

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from shoal.workbench.access import ENTER, TeamAccess, session_of
from shoal.workbench.pages import Here, Submitted

__all__ = ["router"]

router = APIRouter()


@router.get(ENTER)
def enter(request: Request) -> HTMLResponse:
    """The form for a key."""
    return Here(request).page("enter.html", wrong=False)


@router.post(ENTER)
def entered(request: Request, form: Submitted) -> Response:
    """A session for whoever has the key."""
    here = Here(request)
    access = here.desk.access
    session = access.admit(str(form.get("key", "")).strip()) if _is_team(access) else None
    if session is None:
        return here.page("enter.html", wrong=True, status=401)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        access.cookie, session, httponly=True, samesite="strict", secure=access.secure
    )
    return response


@router.post("/leave")
def leave(request: Request) -> Response:
    """End the session."""
    access = Here(request).desk.access
    if _is_team(access):
        access.leave(session_of(request.headers.raw, access.cookie))
    response = RedirectResponse(ENTER if access.is_team else "/", 303)
    response.delete_cookie(access.cookie)
    return response


def _is_team(access: object) -> TypeGuard[TeamAccess]:
    return isinstance(access, TeamAccess)
