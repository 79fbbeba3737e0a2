"""Coming in with a key, and leaving: for teams only. Uses `access`; `app` uses it."""

from typing import TypeGuard

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from shoal.workbench.access import ENTER, TeamAccess, session_of
from shoal.workbench.pages import Here, Submitted, own_address

__all__ = ["router"]

router = APIRouter()


@router.get(ENTER)
def enter(request: Request) -> HTMLResponse:
    """The form for a key; it remembers which page was asked for."""
    asked = request.query_params
    back = own_address(asked.get("back", "/"))
    return Here(request).page("enter.html", wrong=False, over="over" in asked, back=back)


@router.post(ENTER)
def entered(request: Request, form: Submitted) -> Response:
    """A session for whoever has the key."""
    here = Here(request)
    access = here.desk.access
    session = access.admit(str(form.get("key", "")).strip()) if _is_team(access) else None
    back = own_address(str(form.get("back", "/")))
    if session is None:
        return here.page("enter.html", wrong=True, over=False, back=back, status=401)
    response = RedirectResponse(back, 303)
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
