"""Together: what several releases of the same people reveal, and restoring what they break.

Uses `views` by its jobs, and `others` for what others have shown; `app` uses it.
"""

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError, ShoalError
from shoal.exact.numbers import fraction
from shoal.look.markup import Html
from shoal.look.zoned import Zone
from shoal.releases.release import certificate_in
from shoal.workbench.jobs import Job
from shoal.workbench.others import (
    NAME,
    OPERATORS,
    ShownByOthers,
    appended,
    condition,
    entered,
    removed,
    shown_in,
)
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.readiness import stated
from shoal.workbench.steps import Standing, Step
from shoal.workbench.words import is_whole

if TYPE_CHECKING:
    from shoal.ledger.account import Account

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/together")

_SCOPE = ("releases", "paths", "new", "ledger", "others", "column", "known", "gamma")
"""What the form chooses, but for how people are named."""

_PARTS = 3
"""Comparisons that the form for others has room for."""

_ROWS = 6
"""Values with counts that the form for others has room for."""


def _standing(project: Project) -> Standing:
    return Standing("look")


STEP = Step("together", "Together", Zone.OWNER, _standing, ("owner",))


@dataclass(frozen=True)
class _Choice:
    """A release that may be chosen; `why_not` says why it cannot be counted."""

    name: str
    promise: str
    why_not: ShoalError | None


@router.get("")
def together(here: Annotated[Opened, Depends()], new: str = "") -> HTMLResponse:
    """Which releases to look at together, and what was found."""
    return _page(here, new=bool(new))


def _page(here: Opened, *, new: bool = False, **given: Any) -> HTMLResponse:
    draft, project = here.draft, here.project
    roles = {name: role for name, role in draft.section("roles").items() if isinstance(role, str)}
    known = stated(project.recipe)
    choices = [_choice(path) for path in project.releases]
    last = _last(here, "together")
    account = _account(here)
    remembered = _elsewhere(here, account)
    kept = project.note("together", dict) or {
        "releases": [choice.name for choice in choices if not choice.why_not],
        "paths": [],
        "new": False,
        "column": "",
        "person": "",
        "ledger": bool(remembered),
        "others": True,
        "known": [name for name, role in roles.items() if role == "quasi"],
        "gamma": "1/2" if account is None or account.gamma is None else str(account.gamma.share),
    }
    if new:
        kept = {**kept, "new": True}
    others, unreadable = _others(here)
    if _result(last) is not None:
        here.looked("what several releases reveal together")
    return here.page(
        "together.html",
        at="together",
        choices=choices,
        may_be_new=known is not None and known.is_view,
        remembered=remembered,
        kept=kept,
        sensitive=[name for name, role in roles.items() if role == "sensitive"],
        identifying=[name for name, role in roles.items() if role == "identifying"],
        public=[name for name, role in roles.items() if role in ("quasi", "insensitive")],
        last=last,
        found=_result(last),
        restoring=_last(here, "restore", like=last),
        others=others,
        others_file=draft.get("views", "others"),
        unreadable=unreadable,
        operators=OPERATORS,
        given=_given(given.get("form")),
        problem=given.get("problem"),
        Html=Html,
        status=422 if given.get("problem") else 200,
    )


def _choice(path: Path) -> _Choice:
    from shoal.studies.promised import in_short
    from shoal.views.register import form_of

    certificate = certificate_in(path)
    assert certificate is not None  # only such folders are releases
    why_not = None
    try:
        form_of(certificate, path.name)
    except ShoalError as error:
        why_not = error
    return _Choice(path.name, in_short(certificate), why_not)


def _last(here: Opened, kind: str, like: Job | None = None) -> Job | None:
    """The newest job of a kind, if it is about the same releases as another."""
    for job in here.desk.jobs.of(here.project, kind):
        return job if like is None or _scope(job) == _scope(like) else None
    return None


def _scope(job: Job) -> dict[str, Any]:
    """What was chosen for a job, but for names."""
    arguments = job.task.get("arguments", {})
    return {key: arguments.get(key) for key in _SCOPE}


def _result(job: Job | None) -> dict[str, Any] | None:
    return job.result if job is not None and job.state == "done" else None


def _account(here: Opened) -> "Account | None":
    """What is in the ledger of the recipe, if that can be read."""
    from shoal.ledger import Ledger

    path = here.draft.get("ledger", "path")
    try:
        return Ledger(here.folder / path).account() if isinstance(path, str) else None
    except ShoalError:
        return None


def _elsewhere(here: Opened, account: "Account | None") -> int:
    """How many releases the ledger knows to have shown something whose files are not here."""
    if account is None:
        return 0
    papers = [certificate_in(path) for path in here.project.releases]
    numbers = {paper.number for paper in papers if paper is not None}
    done = account.completed
    return sum(done[at].facts.release not in numbers for at in account.shown if at in done)


def _others(here: Opened) -> tuple[list[ShownByOthers], ShoalError | None]:
    path = here.draft.get("views", "others")
    if not isinstance(path, str):
        return [], None
    try:
        return shown_in(here.folder / path), None
    except ShoalError as error:
        return [], error


def _go(here: Opened, part: str) -> Response:
    """Send the browser to a part of this page, as it is now.

    A script would stay on the same page if only the part differed.
    """
    return here.go(f"{here.address('together', now=secrets.token_hex(3))}#{part}")


# Checking


@router.post("/check")
def check(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Begin to check what was chosen; it is kept for the next time."""
    arguments = _chosen(form)
    here.project.keep("together", arguments)
    here.desk.jobs.start(here.project, "together", arguments, here.who.name)
    return here.go(here.address("together"))


def _chosen(form: FormData) -> dict[str, Any]:
    gamma = str(form.get("gamma", "")).strip() or "1/2"
    fraction(gamma, "γ", 0, 1)
    if not form.getlist("known"):
        raise ParameterError("people are known by no column", "choose at least one")
    return {
        "releases": [str(name) for name in form.getlist("release")],
        "paths": [line.strip() for line in str(form.get("paths", "")).splitlines() if line.strip()],
        "new": "new" in form,
        "ledger": "ledger" in form,
        "others": "others" in form,
        "column": str(form.get("column", "")),
        "known": [str(name) for name in form.getlist("known")],
        "person": str(form.get("person", "")),
        "gamma": gamma,
    }


@router.post("/names")
def names(here: Annotated[Opened, Depends()]) -> Response:
    """Check the same again, and list who is exposed."""
    arguments = {**_before(here), "names": True}
    here.looked("who is exposed by several releases together")
    here.desk.jobs.start(here.project, "together", arguments, here.who.name)
    return here.go(here.address("together"))


def _before(here: Opened) -> dict[str, Any]:
    """What the last check was about."""
    last = _last(here, "together")
    if last is None or last.state != "done":
        raise ParameterError("nothing was checked yet", "check some releases first")
    arguments: dict[str, Any] = last.task["arguments"]
    return arguments


@router.post("/forget")
def forget(here: Annotated[Opened, Depends()]) -> Response:
    """Delete the results that name people."""
    for job in here.desk.jobs.of(here.project):
        named = job.kind in ("together", "restore") and job.task.get("arguments", {}).get("names")
        if named and not job.is_unfinished:
            shutil.rmtree(job.folder, ignore_errors=True)
    return here.go(here.address("together"))


# Restoring


@router.post("/restore")
def restore(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Look for views to add to what was checked last."""
    adversary = str(form.get("adversary", "unaware"))
    additions, conditions = str(form.get("additions", "2")), str(form.get("conditions", "1"))
    if adversary not in ("unaware", "aware", "plan"):
        raise ParameterError("there is no such adversary", "choose one from the list")
    if not (is_whole(additions) and 1 <= int(additions) <= 10 and conditions in ("1", "2")):
        raise ParameterError("views to add are a whole number from 1 to 10", "give one")
    arguments = {
        **_before(here),
        "adversary": adversary,
        "additions": int(additions),
        "conditions": int(conditions),
        "free": "free" in form,
    }
    here.desk.jobs.start(here.project, "restore", arguments, here.who.name)
    return _go(here, "restoring")


@router.post("/keep")
def keep(here: Annotated[Opened, Depends()]) -> Response:
    """Count the views that were found from now on: for when they have been published."""
    last = _last(here, "restore")
    if last is None or not last.result.get("toml"):
        raise ParameterError("there are no views to keep", "look for some first")
    appended(_file(here), last.result["toml"], last.result["column"])
    return _go(here, "others")


# What others have shown


def _file(here: Opened) -> Path:
    """The file of the recipe, which gets one if it names none."""
    named = here.draft.get("views", "others")
    if isinstance(named, str):
        return here.folder / named
    path = here.folder / NAME
    if path.exists():
        raise ParameterError(
            f"there is a file {NAME}, which the recipe does not name", "name it, or move it away"
        )
    here.decide("views", "others", to=NAME)
    return path


@router.post("/others/file")
def others_file(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Name a file of what others have shown; none if the field is empty."""
    named = str(form.get("file", "")).strip()
    if named:
        shown_in(here.folder / named)
    here.decide("views", "others", to=named or None)
    if not named:
        here.decide("views", to=None)
    return _go(here, "others")


@router.post("/others/add")
def others_add(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Enter something that others have shown."""
    _, table = here.desk.tables.whole(here.project)
    column = str(form.get("column", ""))
    try:
        where = str(form.get("where", "")).strip()
        if not where:
            fields = [form.getlist(name) for name in ("of", "operator", "than")]
            parts = [(str(a), str(b), str(c)) for a, b, c in zip(*fields, strict=False)]
            where = condition(parts, table)
        name = str(form.get("name", "")).strip()
        if not name:
            raise ParameterError("it has no name", "say who has shown it")
        named_before = here.draft.get("views", "others")
        path = here.folder / (named_before if isinstance(named_before, str) else NAME)
        entered(path, name, where, _counts(form), table=table, column=column)
        if named_before is None:
            here.decide("views", "others", to=NAME)
    except ShoalError as error:
        return _page(here, form=form, problem=error)
    return _go(here, "others")


def _given(form: FormData | None) -> dict[str, Any]:
    """What a form was sent with, to be shown again: every field as often as it is there."""
    given: dict[str, Any] = dict.fromkeys(("name", "column", "where"), "")
    given |= {key: [""] * _PARTS for key in ("of", "operator", "than")}
    given |= {key: [""] * _ROWS for key in ("value", "often")}
    if form is None:
        return given
    for key, empty in given.items():
        sent = [str(one) for one in form.getlist(key)]
        if isinstance(empty, list):
            given[key] = (sent + empty)[: len(empty)]
        else:
            given[key] = sent[0] if sent else ""
    return given


def _counts(form: FormData) -> dict[str, int]:
    """Values with how often each was shown."""
    counts: dict[str, int] = {}
    for value, often in zip(form.getlist("value"), form.getlist("often"), strict=False):
        text, number = str(value).strip(), str(often).strip()
        if not text and not number:
            continue
        if not is_whole(number):
            raise ParameterError("a count is a whole number", "say how often the value was shown")
        counts[text] = counts.get(text, 0) + int(number)
    return counts


@router.post("/others/remove")
def others_remove(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Take out what others have shown."""
    path, number = here.draft.get("views", "others"), str(form.get("number", ""))
    if isinstance(path, str) and is_whole(number):
        removed(here.folder / path, int(number))
    return _go(here, "others")
