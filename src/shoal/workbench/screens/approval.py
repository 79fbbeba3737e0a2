"""The approval of a release, as a part of the screen that releases. Uses `approvals`.

Only teams need one. `app` uses it.
"""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError
from shoal.workbench import approvals
from shoal.workbench.pages import Opened, Submitted

__all__ = ["router"]

router = APIRouter(prefix="/p/{project}/approval")


@router.get("")
def shown(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """Whether a release is approved, and what to do for it."""
    approval = approvals.approval_of(here.project)
    return here.page("approval.html", approval=approval)


@router.post("/ask")
def ask(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Ask for an approval, with the reason for an override if the release needs one."""
    if here.draft.undecided:
        raise ParameterError("the recipe is not complete", "decide what is left first")
    approvals.ask(here.project, here.who, str(form.get("override", "")))
    return _after(here)


@router.post("/approve")
def approve(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Approve the release that somebody asked for, as this member has seen it."""
    approvals.decide(here.project, here.who, str(form.get("question", "")))
    return _after(here)


@router.post("/decline")
def decline(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Decline it, with a reason."""
    approvals.decide(here.project, here.who, None, str(form.get("reason", "")))
    return _after(here)


def _after(here: Opened) -> Response:
    return shown(here) if here.is_part else here.go(here.address("release"))
