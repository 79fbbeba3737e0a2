"""Attack: the adversaries try a release, and the owner looks at what they find.

Uses `jobs` and the catalogue of methods, which says what there is to attack; `app` uses it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError, ShoalError
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.measure.explaining import explain
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.releases.certificate import Certificate
from shoal.releases.release import certificate_in
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.steps import Standing, Step

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/attack")

_TRIES = 1000


def _standing(project: Project) -> Standing:
    return Standing("look")


STEP = Step("attack", "Attack", Zone.OWNER, _standing, ("owner",))


@dataclass(frozen=True)
class AttackTarget:
    """A release, and what there is to attack.

    way: "values" and "people" for who knows the algorithm, "help" for who has some help besides, ""
        where nothing can be found
    why: why nothing can be found
    bound: (ε, δ), where that bounds what anybody finds
    proof: the page of docs/proofs that says that nothing can be found, if there is one
    """

    name: str
    method: str
    statement: str
    way: str
    why: str = ""
    bound: tuple[str, str] | None = None
    proof: str = ""


def targets(project: Project) -> list[AttackTarget]:
    """The releases of a project, and what there is to attack in each."""
    return [_target(path) for path in project.releases]


def _target(path: Path) -> AttackTarget:
    certificate = certificate_in(path)
    assert certificate is not None
    name = certificate.method
    about = (path.name, name, certificate.statement)
    if name not in CATALOGUE:
        return AttackTarget(*about, "", "this method is not known here")
    entry = entry_of(name)
    if "buckets" in entry.tables:
        return AttackTarget(*about, "help")
    if entry.not_attacked:
        return AttackTarget(*about, "", entry.not_attacked, _bound(certificate))
    return AttackTarget(*about, entry.attack, proof=entry.proof)


def _bound(certificate: Certificate) -> tuple[str, str] | None:
    promise = certificate.promise
    if "epsilon" in promise and "delta" in promise:
        return str(promise["epsilon"]), str(promise["delta"])
    return None


@router.get("")
def attack(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """Releases that can be attacked, attacks that were tried, and what they found."""
    jobs = here.desk.jobs.of(here.project, "attack")
    if any(job.state == "done" for job in jobs):
        here.looked("what an attack finds")
    return here.page(
        "attack.html",
        at="attack",
        targets=targets(here.project),
        sensitive=_sensitive(here.project),
        jobs=jobs,
    )


def _sensitive(project: Project) -> list[str]:
    roles = project.draft().section("roles")
    return [name for name, role in roles.items() if role == "sensitive"]


@router.post("")
def begin(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Try an attack, as a job."""
    wanted = str(form.get("release", ""))
    target = next((one for one in targets(here.project) if one.name == wanted), None)
    if target is None:
        raise ParameterError("there is no such release", "choose one from the list")
    if not target.way:
        raise ParameterError(target.why, "choose another release")
    column = str(form.get("column", ""))
    if target.way == "values" and column not in _sensitive(here.project):
        raise ParameterError("no sensitive column was chosen", "choose the one to attack")
    arguments: dict[str, Any] = {
        "release": wanted,
        "way": target.way,
        "column": column,
        "people": form.get("people") is not None,
        "tries": _TRIES,
    }
    here.desk.jobs.start(here.project, "attack", arguments, here.who.name)
    return here.go(here.address("attack"))


@router.get("/bound")
def bound(here: Annotated[Opened, Depends()], release: str) -> HTMLResponse:
    """What the strongest attacker may believe, where ε and δ bound it."""
    target = next((one for one in targets(here.project) if one.name == release), None)
    pictures: tuple[Picture, ...] = ()
    if target is not None and target.bound is not None:
        epsilon, delta = target.bound
        try:
            pictures = explain(epsilon, delta).pictures()
        except ShoalError:
            pictures = ()
    return here.page("pictures.html", pictures=pictures)
