"""Ask: questions that are answered or denied; for the owner also what is known by now.

Analysts see what can be asked, ask, and see all questions and replies. Uses `questions`; `app` uses
it.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from shoal.attack import disclosed
from shoal.audit import Audit, Secret
from shoal.audit.knowledge import knowledge
from shoal.audit.overview import first_query, overview, queries_of, transcript_page
from shoal.errors import ParameterError, QueryError, ShoalError, TooLargeError
from shoal.look.zoned import Zone
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.questions import (
    CONDITIONS,
    SIGNS,
    ask,
    audit_of,
    on_the_grid,
    query_of,
)
from shoal.workbench.steps import Standing, Step

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/ask")

_LINES = 50
_CHARACTERS = 100_000
_PADDED = 2048
"""What has a reply is as long as a multiple of this, so that its length says little."""


def _standing(project: Project) -> Standing:
    return Standing("done" if any(project.folder.glob("*.audit")) else "look")


STEP = Step("ask", "Ask", Zone.RELEASED, _standing, ("owner", "reviewer", "analyst"))


@router.get("")
def asking(here: Annotated[Opened, Depends()], after: int = 0) -> HTMLResponse:
    """What can be asked, the form, and all questions so far."""
    audit = audit_of(here.project)
    if audit is None:
        return _beginning(here)
    return here.page(
        "ask.html",
        zone=Zone.RELEASED,
        at="ask",
        audit=audit,
        columns=[column.settings for column in overview(audit)],
        example=first_query(audit),
        history=_history(audit, after),
        after=after,
        signs=SIGNS,
        conditions=range(1, CONDITIONS + 1),
    )


def _beginning(here: Opened) -> HTMLResponse:
    """How to begin, for those who may."""
    columns: list[tuple[str, str]] = []
    if here.who.is_owner:
        table = here.desk.tables.bare(here.project)
        columns = [(name, table.kind(name).value) for name in table.names]
    jobs = here.desk.jobs.of(here.project, "audit")
    job = jobs[0] if jobs else None
    # What was typed is not lost where it did not work.
    given = {} if job is None else job.task.get("arguments", {})
    return here.page("ask_begin.html", at="ask", columns=columns, job=job, given=given)


def _history(audit: Audit, after: int) -> Any:
    return transcript_page(audit, max(after, 0), _LINES, _CHARACTERS)


@router.post("")
def asked(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Ask a question: the answer, or a denial with what it means."""
    audit = _audit(here)
    if not here.who.is_owner and here.who.role != "analyst":
        raise ParameterError("a reviewer does not ask", "an owner or an analyst may")
    with on_the_grid():
        problem, found = None, None
        try:
            query = query_of(audit, {name: form[name] for name in form})
            found = ask(audit, query, here.who.name)
        except (QueryError, TooLargeError) as error:
            problem = error
        page = here.page(
            "ask_reply.html" if here.is_part else "ask_replied.html",
            zone=Zone.RELEASED,
            at="ask",
            found=found,
            problem=problem,
            history=_history(audit, 0),
            after=0,
        )
    return _padded(page)


def _padded(page: HTMLResponse) -> HTMLResponse:
    body = bytes(page.body)
    return HTMLResponse(body + b" " * (-len(body) % _PADDED), page.status_code)


@router.post("/begin")
def begin(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Put the table under audit."""
    _require_owner(here)
    if audit_of(here.project) is not None:
        raise ParameterError("this project has an audit already", "ask by that one")
    secret = _secret(form)
    # What is wrong with it is said here, not by the job.
    Secret(**secret)
    public = [str(name) for name in form.getlist("public") if str(name) != secret["column"]]
    if not public:
        raise ParameterError("nothing is public", "choose the columns that conditions may be about")
    arguments = {
        "secret": secret,
        "public": public,
        "named": str(form.get("named", "")) or None,
        "unit": str(form.get("unit", "")) or None,
    }
    here.desk.jobs.start(here.project, "audit", arguments, here.who.name)
    return here.go(here.address("ask"))


def _secret(form: FormData) -> dict[str, Any]:
    """The secret column as the form describes it."""
    texts = {name: str(form.get(name, "")).strip() for name in ("low", "high", "width", "family")}
    given: dict[str, Any] = {name: text for name, text in texts.items() if text}
    given["column"] = str(form.get("column", ""))
    if not given["column"]:
        raise ParameterError("no secret column was chosen", "choose the column to ask about")
    for name in ("distinct", "dither"):
        given[name] = form.get(name) is not None
    return given


# For the owner


@router.get("/known")
def known(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What is known by now, and who may ask."""
    _require_owner(here)
    audit = _audit(here)
    here.looked("what is known from answers")
    columns = overview(audit)
    return here.page(
        "ask_known.html", at="ask", audit=audit, columns=columns, keys=audit.keys(), new_key=None
    )


@router.get("/known/pictures")
def known_pictures(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """How closely values are known, as pictures."""
    _require_owner(here)
    audit = _audit(here)
    here.looked("what is known from answers")
    pictures = [queries_of(overview(audit))]
    pictures += [picture for column in knowledge(audit) for picture in column.pictures()]
    return here.page("pictures.html", pictures=pictures)


@router.get("/known/attack")
def attacked(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What somebody works out who knows the strategy and all replies."""
    _require_owner(here)
    audit = _audit(here)
    here.looked("what is known from answers")
    problem: ShoalError | None = None
    found: Any = ()
    try:
        found = disclosed(audit)
    except TooLargeError as error:
        problem = error
    return here.page("ask_attacked.html", audit=audit, found=found, problem=problem)


@router.post("/keys")
def add_key(here: Annotated[Opened, Depends()], form: Submitted) -> HTMLResponse:
    """A key for an analyst who asks by `shoal serve`; it is shown once."""
    _require_owner(here)
    audit = _audit(here)
    name = str(form.get("name", "")).strip()
    role = "owner" if form.get("role") == "owner" else "analyst"
    key = audit.add_key(name, role)
    return here.page("ask_keys.html", keys=audit.keys(), new_key=(name, key))


@router.post("/keys/remove")
def remove_key(here: Annotated[Opened, Depends()], form: Submitted) -> HTMLResponse:
    """Take somebody's key back."""
    _require_owner(here)
    audit = _audit(here)
    audit.remove_key(str(form.get("name", "")))
    return here.page("ask_keys.html", keys=audit.keys(), new_key=None)


def _audit(here: Opened) -> Audit:
    audit = audit_of(here.project)
    if audit is None:
        raise ParameterError("nothing of this project can be asked about yet", "begin an audit")
    return audit


def _require_owner(here: Opened) -> None:
    if not here.who.is_owner:
        raise ParameterError("only an owner may see or do this", "ask an owner of the project")
