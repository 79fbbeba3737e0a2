"""Risk: who could be recognised before anything is done, by which columns, and who says so.

The figures come first; charts, sensitive columns and sets of columns are parts that come after, and
what takes long is a job. Uses `pages` and `assessing`; `app` uses it.
"""

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.data.tables import Table
from shoal.errors import ParameterError, ShoalError
from shoal.look.zoned import Zone
from shoal.measure.gates import share
from shoal.measure.risk import Assessment
from shoal.workbench.assessing import (
    RiskQuestion,
    assessed,
    choose,
    detailed,
    effort,
    is_quick,
    known,
    question_of,
    threshold_of,
    with_details,
)
from shoal.workbench.jobs import Job
from shoal.workbench.looking import figures_seen, matters
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.steps import Standing, Step

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/risk")

_AT_ONCE = 60_000_000
"""Rows that a page may wait for, counted again for every set of columns that is looked at."""

_SETS = 12
"""Identifying sets that are shown before somebody asks for all."""

RISKS = "risks of the input"
"""What was looked at by somebody who has seen the figures."""

THRESHOLDS = ("1/3", "1/5", "1/11", "1/20")
"""Risks that can be chosen: of groups of 3 (33 %), 5 (20 %), 11 (9 %) and 20 (5 %)."""

SHARES = ("0", "1/100", "1/20", "1/5")
"""How many people a set of columns singles out, at least, to be listed."""


def _standing(project: Project) -> Standing:
    roles = project.draft().section("roles")
    return Standing("look") if "quasi" in roles.values() else Standing("todo")


STEP = Step("risk", "Risk", Zone.OWNER, _standing)


@router.get("")
def risk(here: Annotated[Opened, Depends()], wait: str = "") -> HTMLResponse:
    """Who could be recognised, in figures; of a large table they come after the page."""
    if here.draft.get("source", "path") is None:
        return here.page("risk.html", at="risk", question=None, risk=None, error=None)
    table, question = _asked(here)
    if question.quasi and matters(here.draft) and not figures_seen(here.project):
        return here.page("risk_ask.html", at="risk")
    if question.quasi and not wait and not is_quick(table) and known(table, question) is None:
        return here.page("risk_later.html", at="risk")
    found = error = None
    if question.quasi:
        here.looked(RISKS)
        try:
            found = assessed(table, question)
        except ShoalError as refused:
            error = refused
    return here.page(
        "risk.html",
        at="risk",
        question=question,
        risk=found,
        error=error,
        thresholds=_with(THRESHOLDS, question.threshold),
        results=[] if found is None else found.verdict.results,
        number_of=_number,
    )


@router.post("/show")
def show(here: Annotated[Opened, Depends()]) -> Response:
    """Look at the figures, though a promise may assume that nobody has."""
    here.looked(RISKS)
    return here.go(here.address("risk"))


@router.post("/threshold")
def set_threshold(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Choose above which risk somebody is at risk."""
    own = str(form.get("own", "")).strip()
    choose(here.project, "threshold", threshold_of(own or str(form.get("threshold", "1/5"))))
    return here.go(here.address("risk"))


@router.post("/sets")
def set_share(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Choose which sets of columns are listed, and the share of the population in the table."""
    if "unique_share" in form:
        wanted = str(form["unique_share"])
        choose(here.project, "unique_share", wanted if wanted in SHARES else None)
    if "fraction" in form:
        choose(here.project, "fraction", _fraction(str(form["fraction"])))
    if here.is_part:
        return columns(here)
    return here.go(here.address("risk"))


def _fraction(text: str) -> str | None:
    text = text.strip().replace(" ", "").replace(",", ".")
    if not text:
        return None
    part = share(text, "fraction")
    if not part:
        raise ParameterError("the table holds some of the population", "give a share such as 10%")
    return str(part)


def _asked(here: Opened) -> tuple[Table, RiskQuestion]:
    table = here.desk.tables.bare(here.project, here.draft)
    return table, question_of(here.project, here.draft, table.names)


def _with(choices: tuple[str, ...], own: str) -> list[str]:
    """What can be chosen and what is, the largest first."""
    return sorted({*choices, own}, key=lambda text: -Fraction(text))


def _number(text: str) -> float:
    """A share that was written exactly, as a number to show."""
    return float(Fraction(text))


# Parts that come after the page


@router.get("/pictures")
def pictures(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """The risks and the sizes of groups as charts."""
    table, question = _asked(here)
    here.looked(RISKS)
    drawn = assessed(table, question).pictures()
    return _part(here, "risk_pictures.html", pictures=drawn)


@router.get("/sensitive")
def sensitive(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What groups give away about sensitive columns."""
    table, question = _asked(here)
    here.looked("diversity of sensitive columns")
    found = assessed(table, question, sensitive=True)
    return _part(here, "risk_sensitive.html", risk=found, infinite=inf)


@router.get("/columns")
def columns(here: Annotated[Opened, Depends()], sets: str = "") -> HTMLResponse:
    """Which columns cause the risk, and the smallest sets that single people out."""
    table, question = _asked(here)
    here.looked("risks by column")
    found: Assessment | None = None
    job: Job | None = None
    if effort(table, question) <= _AT_ONCE:
        found = detailed(table, question)
    else:
        job = _job(here, question)
        if job is not None and job.state == "done":
            found = with_details(assessed(table, question), job.result)
    shown: dict[str, Any] = {"sets": (), "more": 0}
    if found is not None and found.identifying_sets is not None:
        listed = found.identifying_sets
        few = listed if sets else listed[:_SETS]
        shown = {"sets": few, "more": len(listed) - len(few)}
    return _part(
        here,
        "risk_columns.html",
        risk=found,
        job=job,
        question=question,
        shares=SHARES,
        number_of=_number,
        **shown,
    )


@router.post("/columns")
def start(here: Annotated[Opened, Depends()]) -> Response:
    """Look at the columns of a large table, outside this process."""
    _, question = _asked(here)
    job = _job(here, question)
    if job is None or job.state not in ("running", "done"):
        here.desk.jobs.start(here.project, "columns", _arguments(here, question), here.who.name)
    return columns(here) if here.is_part else here.go(here.address("risk/columns"))


def _arguments(here: Opened, question: RiskQuestion) -> dict[str, Any]:
    # Neither changes what columns cause.
    plain = replace(question, threshold="1/5", household=None)
    stamp = here.desk.tables.stamp(here.project, here.draft)
    return {"question": plain.plain, "stamp": stamp}


def _job(here: Opened, question: RiskQuestion) -> Job | None:
    """The last job about the same question and the same file."""
    asked = _arguments(here, question)
    for job in here.desk.jobs.of(here.project, "columns"):
        if job.task.get("arguments") == asked:
            return job
    return None


def _part(here: Opened, template: str, **context: Any) -> HTMLResponse:
    """A part of the page, or a page of its own for browsers without script."""
    if here.is_part:
        return here.page(template, **context)
    return here.page("risk_part.html", at="risk", part=template, **context)
