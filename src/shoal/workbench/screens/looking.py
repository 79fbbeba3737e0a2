"""What was chosen after looking at the data: a notice on every screen, and a page with all of it.

Uses `looking` and `pages`; `app` uses it, and the frame shows its notice.
"""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.workbench import looking
from shoal.workbench.pages import Opened, Submitted

__all__ = ["router"]

router = APIRouter(prefix="/p/{project}/looking")


@router.get("")
def notice(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What was chosen after looking and the person may not know the meaning of."""
    return here.page("looking_notice.html")


@router.get("/all")
def every(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """Everything that was chosen after looking, with the reasons why it was public."""
    return here.page(
        "looking.html",
        choices=looking.late(here.project, here.draft),
        figures=looking.figures_seen(here.project),
        matters=looking.matters(here.draft),
    )


@router.post("/understood")
def understood(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """The person knows what it means."""
    looking.understand(here.project)
    if here.is_part:
        return here.page("looking_notice.html")
    return here.go(here.own(str(form.get("back", ""))))


@router.post("/public")
def public(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Say why a choice was public."""
    with here.deciding() as draft:
        looking.explain_public(draft, str(form.get("place", "")), str(form.get("why", "")))
    return here.go(here.address("looking/all"))
