"""Jobs as people see them: how far one is, and stopping it. Uses `pages`; screens show its parts.

A screen shows a job by including `job.html`; that part asks for itself again while the job runs.
"""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.workbench.pages import Opened

__all__ = ["router"]

router = APIRouter()


@router.get("/p/{project}/jobs/{job}")
def shown(here: Annotated[Opened, Depends()], job: str) -> HTMLResponse:
    """How far a job is; a page that waits for it reloads once it has ended."""
    return here.page("job.html", job=here.desk.jobs.job(here.project, job), watched=True)


@router.post("/p/{project}/jobs/{job}/cancel")
def cancel(here: Annotated[Opened, Depends()], job: str) -> Response:
    """Stop a job."""
    found = here.desk.jobs.job(here.project, job)
    found.cancel()
    if not here.is_part:
        return here.go(here.address())
    return here.page("job.html", job=found)
