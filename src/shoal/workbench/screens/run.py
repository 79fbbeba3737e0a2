"""Run: candidates, side by side. Looking costs nothing, releasing does.

A candidate is a simulation in the owner's zone; choosing one writes its parameters into the recipe.
Uses `pages`, `candidates`, `variations` and jobs; `app` uses it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError, ShoalError
from shoal.exact.numbers import percent
from shoal.look.zoned import Zone
from shoal.measure.loss import LOSSES
from shoal.recipe import Recipe
from shoal.recipe.editing import Draft
from shoal.recipe.schema import PLACEHOLDER
from shoal.studies.candidates import RISKS, ComparedRelease, ReleaseComparison, RiskName
from shoal.studies.simulating import rank
from shoal.workbench.candidates import CandidateFolder, KeptCandidate, basis_of, method_of, said_of
from shoal.workbench.jobs import Job
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.promises import stated
from shoal.workbench.steps import Standing, Step
from shoal.workbench.trees import columns_of
from shoal.workbench.variations import (
    bounded,
    fields_of,
    methods_for,
    one_of_each,
    section_of,
)

__all__ = ["STEP", "Row", "ranked", "router", "rows_of"]

router = APIRouter(prefix="/p/{project}/run")

_READ = ("public", "register", "models")
"""Options whose files would be read to try them: the job finds out."""

_SHOWN = 5
"""Jobs that have ended and are still told."""


def _standing(project: Project) -> Standing:
    made = any((project.hidden / "candidates").glob("*.json"))
    return Standing("done" if made else "look")


STEP = Step("run", "Run", Zone.OWNER, _standing)


@router.get("")
def run(here: Annotated[Opened, Depends()], risk: str = "", loss: str = "") -> HTMLResponse:
    """Candidates, side by side, and what could be tried."""
    return _page(here, risk=risk, loss=loss)


def _page(
    here: Opened,
    *,
    risk: str = "",
    loss: str = "",
    given: Mapping[str, str] | None = None,
    wrong: ShoalError | None = None,
) -> HTMLResponse:
    draft = here.draft
    names = methods_for(draft)
    chosen = (given or {}).get("method", "")
    if chosen not in names:
        chosen = names[0] if names else ""
    return here.page(
        "run.html",
        at="run",
        status=422 if wrong else 200,
        names=names,
        own=_own(draft),
        wrong=wrong,
        given=given or {},
        unmeasured=_unmeasured(here),
        **_form(draft, chosen, given, wrong),
        **_queue(here),
        **_table(here, risk, loss),
    )


def _own(draft: Draft) -> dict[str, Any] | None:
    """The method of the recipe; None while something of it is undecided."""
    section = method_of(draft)
    undecided = any(place[0] == "method" for place in draft.undecided)
    if not section or undecided or PLACEHOLDER in section.values():
        return None
    return section


def _form(
    draft: Draft, name: str, given: Mapping[str, str] | None, wrong: ShoalError | None
) -> dict[str, Any]:
    if not name:
        return {"chosen": "", "fields": [], "columns": [], "bounds": {}}
    own = method_of(draft)
    same = own.get("name") == name
    bounds = {
        f"{bound}.{column}": level
        for bound in ("floor", "ceiling")
        for column, level in ((own.get(bound) if same else None) or {}).items()
    }
    return {
        "chosen": name,
        "fields": fields_of(draft, name, given, wrong),
        "columns": bounded(draft, name),
        "bounds": bounds if given is None else dict(given),
    }


@router.get("/form")
def form(here: Annotated[Opened, Depends()], method: str = "") -> HTMLResponse:
    """The fields of a method."""
    names = methods_for(here.draft)
    name = method if method in names else names[0]
    return here.page("run_fields.html", **_form(here.draft, name, None, None))


# Trying


@router.post("/recipe")
def recipe(here: Annotated[Opened, Depends()]) -> Response:
    """Try the recipe as it is."""
    section = _own(here.draft)
    if section is None:
        raise ParameterError("the recipe has no method yet", "choose one under Promise")
    return _start(here, [("", section)])


@router.post("/try")
def attempt(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Try a variation; what is wrong with it stands beside its field."""
    given = {key: str(value) for key, value in sent.items()}
    try:
        section = section_of(here.draft, given)
        _require_sound(here.project, section)
    except ShoalError as error:
        return _page(here, given=given, wrong=error)
    return _start(here, [(given.get("name", "").strip()[:80], section)])


def _require_sound(project: Project, section: Mapping[str, Any]) -> None:
    """RecipeError if the recipe with this method is not whole, as far as no file tells."""
    loaded = Recipe.load(project.recipe, section)
    if not any(option in section for option in _READ[:2]):
        loaded.method()


@router.post("/methods")
def methods(here: Annotated[Opened, Depends()]) -> Response:
    """Try every method that needs no more than the form has."""
    known = [one.method for one in CandidateFolder(here.project).current()]
    several = [("", section) for section in one_of_each(here.draft) if section not in known]
    if not several:
        raise ParameterError("every method was tried already", "try a variation")
    return _start(here, several, here._("{number} methods", number=len(several)))


@router.post("/neighbours")
def neighbours(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Try what is one step away from a candidate."""
    centre = CandidateFolder(here.project).candidate(str(sent.get("key", "")))
    title = here._("neighbours of {name}", name=centre.name)
    arguments = {"neighbours": centre.key, "title": title}
    here.desk.jobs.start(here.project, "candidate", arguments, here.who.name)
    return here.go(here.address("run"))


@router.post("/release")
def release(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Measure a release that was made, to see it beside the candidates."""
    folder = here.project.release(str(sent.get("name", ""))).name
    several = [{"name": f"release {folder}", "release": folder}]
    arguments = {"several": several, "title": several[0]["name"]}
    here.desk.jobs.start(here.project, "candidate", arguments, here.who.name)
    return here.go(here.address("run"))


def _start(
    here: Opened, several: Sequence[tuple[str, Mapping[str, Any]]], title: str = ""
) -> Response:
    """Have candidates made, in one job."""
    candidates = CandidateFolder(here.project)
    wanted: list[dict[str, Any]] = []
    waiting = [
        one["name"]
        for job in here.desk.jobs.of(here.project, "candidate")
        if job.is_unfinished
        for one in job.task.get("arguments", {}).get("several", [])
    ]
    for name, section in several:
        taken = [*waiting, *(one["name"] for one in wanted)]
        unique = candidates.unique(name or said_of(section), taken)
        wanted.append({"name": unique, "method": dict(section)})
    arguments = {"several": wanted, "title": title or wanted[0]["name"]}
    here.desk.jobs.start(here.project, "candidate", arguments, here.who.name)
    return here.go(here.address("run"))


def _unmeasured(here: Opened) -> list[str]:
    """Releases that are not in the table."""
    shown = {f"{one.name}" for one in CandidateFolder(here.project).current() if one.method is None}
    names = [path.name for path in here.project.releases]
    return [name for name in names if f"release {name}" not in shown]


# What is being tried


@router.get("/queue")
def queue(here: Annotated[Opened, Depends()], ended: int = 0) -> HTMLResponse:
    """What waits and runs; the table reloads itself when something has ended."""
    shown = _queue(here)
    response = here.page("run_queue.html", **shown)
    if shown["ended"] != ended:
        response.headers["HX-Trigger"] = "candidates-changed"
    return response


def _queue(here: Opened) -> dict[str, Any]:
    found = here.desk.jobs.of(here.project, "candidate")
    # The one that runs first, then in the order in which they will.
    unfinished = [job for job in reversed(found) if job.is_unfinished]
    finished = [job for job in found if not job.is_unfinished]
    failed = [job for job in finished[:_SHOWN] if _worth_telling(job)]
    return {"queued": unfinished, "ended": len(finished), "told": failed, "title": _title}


def _worth_telling(job: Job) -> bool:
    return job.state != "done" or bool(job.result.get("refused"))


def _title(job: Job) -> str:
    """What a job makes, in a few words."""
    return str(job.task.get("arguments", {}).get("title", ""))


# Side by side


@dataclass(frozen=True)
class Row:
    """A candidate as the table shows it."""

    candidate: KeptCandidate
    compared: ComparedRelease
    is_recipe: bool
    is_current: bool
    is_empty: bool
    kept: str
    share: str
    information: str
    highest: str
    average: str
    lost: str
    time: str


@router.get("/candidates")
def candidates(here: Annotated[Opened, Depends()], risk: str = "", loss: str = "") -> HTMLResponse:
    """The table of candidates."""
    return here.page("run_candidates.html", **_table(here, risk, loss))


def _table(here: Opened, risk: str, loss: str) -> dict[str, Any]:
    rows, comparison = rows_of(here, risk, loss)
    if rows:
        here.looked("candidates")
    return {
        "rows": rows,
        "comparison": comparison,
        "risks": RISKS,
        "losses": comparison.losses if comparison else (),
        "best": sum(
            bool(row.is_current and not row.is_empty and row.compared.unbeaten) for row in rows
        ),
        "bare": _bare(here, rows),
        "needed": _needed(here, rows),
    }


def _needed(here: Opened, rows: Sequence[Row]) -> tuple[int, int] | None:
    """About how many records must share a row, and how many there are; None if that is not it."""
    if _bare(here, rows) != []:
        return None
    crowd = stated(here.project).crowd
    return None if crowd is None else (crowd, rows[0].candidate.made.records)


def _bare(here: Opened, rows: Sequence[Row]) -> list[str] | None:
    """The columns that are released as they are, if that may be why nothing is kept.

    None if no candidate with differential privacy is empty.
    """
    empty = [row.candidate for row in rows if row.is_current and row.is_empty]
    if not any(one.method is not None and one.made.is_private for one in empty):
        return None
    return [column.name for column in columns_of(here.draft) if not column.has]


def ranked(found: Sequence[KeptCandidate], risk: str, loss: str) -> ReleaseComparison | None:
    """Candidates of the same table, ranked; None if there are none."""
    if not found:
        return None
    comparison = rank([one.made for one in found])
    chosen: RiskName = next((name for name in RISKS if name == risk), "highest")
    return comparison.by(chosen, loss if loss in comparison.losses else None)


def rows_of(here: Opened, risk: str, loss: str) -> tuple[list[Row], ReleaseComparison | None]:
    """Every candidate with its figures; those of earlier settings come last, and are not ranked."""
    every = CandidateFolder(here.project).all()
    basis = basis_of(here.project)
    current = [one for one in every if one.basis == basis]
    comparison = ranked(current, risk, loss)
    releases = comparison.releases if comparison else ()
    compared = {one.key: figures for one, figures in zip(current, releases, strict=True)}
    section = _own(here.draft)
    measure = comparison.loss if comparison else None
    order = sorted(every, key=lambda one: (one.key not in compared, one.when))
    rows = []
    for one in order:
        figures = compared.get(one.key, one.made.compared)
        rows.append(_row(one, figures, section, one.key in compared, measure))
    return rows, comparison


def _row(
    one: KeptCandidate,
    figures: ComparedRelease,
    section: Mapping[str, Any] | None,
    is_current: bool,
    measure: str | None,
) -> Row:
    highest, average = figures.risk("highest"), figures.risk("average")
    kept = one.kept
    granularity = next((name for name in LOSSES if name in figures.losses), None)
    lost = figures.loss(granularity)
    return Row(
        candidate=one,
        compared=figures,
        is_recipe=one.method is not None and one.method == section,
        is_current=is_current,
        is_empty=kept == 0,
        kept="?" if kept is None else f"{kept:,}",
        share="" if figures.share is None else percent(figures.share),
        information="?" if lost is None else percent(1 - lost),
        highest="?" if highest is None else percent(float(highest)),
        average="?" if average is None else percent(float(average)),
        lost="?" if (by := figures.loss(measure)) is None else percent(by),
        time="" if one.made.seconds is None else f"{one.made.seconds:,.1f} s",
    )


# Choosing


@router.post("/choose")
def choose(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Write the parameters of a candidate into the recipe."""
    chosen = CandidateFolder(here.project).candidate(str(sent.get("key", "")))
    if chosen.method is None:
        raise ParameterError("this is a release, not a candidate", "choose a candidate")
    with here.deciding() as draft:
        put_method(draft, chosen.method)
    return here.go(here.address("run"))


def put_method(draft: Draft, section: Mapping[str, Any]) -> None:
    """Write a method into a recipe; of the same method only what differs, so that comments stay."""
    before = method_of(draft)
    if not isinstance(draft.content.get("method"), dict):
        for option in before:
            if option != "name":
                draft.set(option, to=None)
        draft.set("method", to=dict(section))
        return
    if before.get("name") != section.get("name"):
        draft.set("method", to=dict(section))
        return
    for option in before:
        if option not in section:
            draft.set("method", option, to=None)
    for option, value in section.items():
        if before.get(option) != value:
            draft.set("method", option, to=value)


@router.post("/remove")
def remove(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Forget a candidate."""
    CandidateFolder(here.project).remove(str(sent.get("key", "")))
    return here.go(here.address("run"))
