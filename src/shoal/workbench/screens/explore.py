"""Explore: all levels that could be chosen, candidates on a map, and columns before and after.

Levels are surveyed by a job, narrowed down here, and pinned: pins are notes of the project. Uses
`pages`, `candidates`, the survey that `work.space` made, and pictures; `app` uses it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.errors import ParameterError, ShoalError
from shoal.exact.numbers import percent
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.measure.loss import LOSSES
from shoal.measure.spaces import LevelsPlace
from shoal.measure.surveying import LevelSurvey, Narrowing
from shoal.privacy.models import parse_model
from shoal.recipe import METHODS, options_of
from shoal.recipe.schema import PLACEHOLDER
from shoal.studies.candidates import RISKS
from shoal.workbench.candidates import CandidateFolder, basis_of, method_of
from shoal.workbench.level_maps import LevelsMap
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.screens.run import ranked
from shoal.workbench.steps import Standing, Step
from shoal.workbench.words import is_whole
from shoal.workbench.work.space import FILE

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/explore")

LISTED = 10
"""Combinations of levels that are listed, the best ones."""

PINNED = 12
"""Combinations that can be pinned at once."""

_PINS = "pins"

_ANY_METHOD = {"name": "sampling", "probability": 1}
"""Stands for a method that was not chosen yet: it asks nothing of the rest of the recipe."""


def _standing(project: Project) -> Standing:
    return Standing("look")


STEP = Step("explore", "Explore", Zone.OWNER, _standing)


# Levels


@router.get("")
def explore(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What every combination of levels loses and suppresses."""
    found, is_current = _survey(here.project)
    jobs = here.desk.jobs.of(here.project, "space")
    unfinished = next((job for job in jobs if job.is_unfinished), None)
    failed = jobs[0] if jobs and found is None and jobs[0].state in ("failed", "lost") else None
    context: dict[str, Any] = {
        "found": found,
        "is_current": is_current,
        "job": unfinished or failed,
        "models": _models(here),
        "losses": list(LOSSES),
        "pins": _pins(here.project),
    }
    if found is not None:
        here.looked("levels and what they lose")
        wanted, problem = _narrowing(here.request.query_params, found)
        fits = found.matching(wanted)
        square = _square(here.request.query_params.get("square", ""))
        listed = fits
        if square is not None:
            listed = fits & (found.squares == square).all(axis=1)
        context |= {
            "wanted": wanted,
            "problem": problem,
            "number": int(fits.sum()),
            "map": _map(here, found, wanted, square) if fits.any() else None,
            "square": square,
            "in_square": int(listed.sum()),
            "best": [_Shown.of(place, found) for place in found.best(listed, LISTED)],
            "query": urlencode(list(here.request.query_params.multi_items())),
            "takes": _takes_levels(method_of(here.draft)),
        }
    return here.page("explore.html", at="explore", tab="levels", **context)


@dataclass(frozen=True)
class _Shown:
    """A combination of levels as it is listed."""

    levels: Mapping[str, int]
    loss: str
    suppressed: str

    @classmethod
    def of(cls, place: LevelsPlace, found: LevelSurvey) -> "_Shown":
        return cls(place.levels, percent(place.loss), percent(place.suppressed))


def _survey(project: Project) -> tuple[LevelSurvey | None, bool]:
    """The survey of a project, if there is one, and whether nothing has changed since."""
    noted = project.note("survey", dict) or {}
    try:
        found = LevelSurvey.read(project.hidden / FILE)
    except ShoalError:
        return None, False
    return found, noted.get("basis") == basis_of(project)


def _models(here: Opened) -> str:
    """The models that levels are surveyed by: the method's, or groups of its k, or of five."""
    section = method_of(here.draft)
    models = section.get("models")
    plain = isinstance(models, list) and all(isinstance(one, str) for one in models)
    if models and plain and PLACEHOLDER not in models:
        return ", ".join(models)
    k = section.get("k")
    return f"{k if isinstance(k, int) and k > 1 else 5}-anonymity"


def _narrowing(given: Any, found: LevelSurvey) -> tuple[Narrowing, str]:
    """What the filters ask for, and what is wrong with them."""
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    problem = ""
    for name, height in found.heights.items():
        for bounds, key in ((least, f"least.{name}"), (most, f"most.{name}")):
            text = given.get(key, "")
            if is_whole(text) and int(text) <= height:
                bounds[name] = int(text)
    shares: dict[str, float | None] = {}
    for key in ("suppression", "loss"):
        text = given.get(key, "").replace("%", "").replace(",", ".").strip()
        try:
            shares[key] = float(text) / 100 if text else None
        except ValueError:
            shares[key], problem = None, key
    satisfied = tuple(model for model in given.getlist("satisfied") if model in found.models)
    return Narrowing(least, most, shares["suppression"], shares["loss"], satisfied), problem


def _square(text: str) -> tuple[int, int] | None:
    """The square that is chosen on the map, by loss and by suppression."""
    parts = text.split(".")
    if len(parts) != 2 or not all(is_whole(part) for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def _map(
    here: Opened, found: LevelSurvey, wanted: Narrowing, square: tuple[int, int] | None
) -> LevelsMap:
    """The map of the combinations that are wanted, with what is pinned."""
    allowed = wanted.suppression
    if allowed is None:
        limit = method_of(here.draft).get("suppression")
        allowed = float(limit) if isinstance(limit, int | float) else None
    chosen = _fixed_levels(method_of(here.draft), found)
    space = found.space(found.matching(wanted), allowed, chosen)
    asked = [item for item in here.request.query_params.multi_items() if item[0] != "square"]
    address = here.address("explore") + "?" + urlencode([*asked, ("square", "")])
    return LevelsMap.of(space, _pins(here.project), square, address)


def _fixed_levels(section: Mapping[str, Any], found: LevelSurvey) -> dict[str, int] | None:
    """The levels of the recipe, where it leaves no choice."""
    floor, ceiling = section.get("floor") or {}, section.get("ceiling") or {}
    fixed = {name: floor[name] for name in found.heights if name in floor}
    is_fixed = fixed.keys() == found.heights.keys()
    return fixed if is_fixed and all(ceiling.get(name) == fixed[name] for name in fixed) else None


@router.post("/survey")
def survey(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Survey all levels, by a job."""
    names = [part.strip() for part in str(sent.get("models", "")).split(",") if part.strip()]
    for name in names:
        parse_model(name)
    loss = str(sent.get("loss", "granularity"))
    if loss not in LOSSES:
        raise ParameterError("there is no such loss", "choose one from the list")
    section = method_of(here.draft)
    undecided = any(place[0] == "method" for place in here.draft.undecided)
    method = _ANY_METHOD if undecided or not section else section
    arguments = {"models": names, "loss": loss, "method": method}
    here.desk.jobs.start(here.project, "space", arguments, here.who.name)
    return here.go(here.address("explore"))


# Pins


def _pins(project: Project) -> list[dict[str, Any]]:
    pins = project.note(_PINS)
    basis = basis_of(project)
    if not isinstance(pins, list):
        return []
    shown = []
    for pin in pins:
        if isinstance(pin, dict) and isinstance(pin.get("levels"), dict):
            current = pin.get("basis") == basis
            shown.append({**pin, "is_current": current, "models": pin.get("models", [])})
    return shown


def _given_levels(sent: Any, found: LevelSurvey) -> dict[str, int]:
    """The levels that a form names, one for each column."""
    levels = {}
    for name, height in found.heights.items():
        text = str(sent.get(f"level.{name}", ""))
        if not is_whole(text) or int(text) > height:
            raise ParameterError(
                f"column {name!r} has levels 0 to {height}", "give one for every column"
            )
        levels[name] = int(text)
    return levels


@router.post("/pin")
def pin(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Keep a combination of levels in view."""
    found, is_current = _survey(here.project)
    if found is None or not is_current:
        raise ParameterError("the levels were surveyed before something changed", "survey again")
    levels = _given_levels(sent, found)
    place = found.at(levels)
    if place is None:
        raise ParameterError(
            "these levels were not among those that were drawn", "choose one from the list"
        )
    pins = [one for one in here.project.note(_PINS, list) or [] if one.get("levels") != levels]
    if len(pins) >= PINNED:
        raise ParameterError(f"{PINNED} combinations are pinned", "unpin one first")
    figures = {"loss": place.loss, "suppressed": place.suppressed, "models": list(found.models)}
    about = {"loss_model": found.loss_model, "basis": basis_of(here.project)}
    here.project.keep(_PINS, [*pins, {"levels": levels, **figures, **about}])
    return here.go(_back(here, sent))


@router.post("/unpin")
def unpin(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Forget a pin."""
    number = str(sent.get("number", ""))
    pins = here.project.note(_PINS, list) or []
    if is_whole(number) and int(number) < len(pins):
        here.project.keep(_PINS, [one for at, one in enumerate(pins) if at != int(number)])
    return here.go(_back(here, sent))


def _back(here: Opened, sent: Any) -> str:
    query = str(sent.get("query", ""))
    return here.address("explore") + (f"?{query}" if query else "") + "#pins"


def _takes_levels(section: Mapping[str, Any]) -> tuple[str, ...]:
    """The options by which a method is told levels; empty if it cannot be."""
    name = section.get("name")
    if name not in METHODS.names:
        return ()
    options = options_of(METHODS, name).model_fields
    if {"floor", "ceiling"} <= options.keys():
        return ("floor", "ceiling")
    return ("levels",) if "levels" in options else ()


@router.post("/take")
def take(here: Annotated[Opened, Depends()], sent: Submitted) -> Response:
    """Write levels into the recipe, so that its method has no other choice."""
    number = str(sent.get("number", ""))
    pins = _pins(here.project)
    if not is_whole(number) or int(number) >= len(pins) or not pins[int(number)]["is_current"]:
        raise ParameterError("there is no such pin", "pin the levels again")
    options = _takes_levels(method_of(here.draft))
    if not options:
        raise ParameterError(
            "the method of the recipe takes no levels",
            "take another method, such as optimal, under Promise",
        )
    if not isinstance(here.draft.content.get("method"), dict):
        raise ParameterError(
            "the recipe has its method above all sections", "choose it under Promise first"
        )
    with here.deciding() as draft:
        for option in options:
            draft.set("method", option, to=dict(pins[int(number)]["levels"]))
    return here.go(here.address("explore") + "#pins")


# The map


@router.get("/map")
def map_of(here: Annotated[Opened, Depends()], risk: str = "", loss: str = "") -> HTMLResponse:
    """Risk and utility of all candidates."""
    found = CandidateFolder(here.project).current()
    comparison = ranked(found, risk, loss)
    if found:
        here.looked("candidates")
    return here.page(
        "explore_map.html",
        at="explore",
        tab="map",
        comparison=comparison,
        risks=RISKS,
        losses=comparison.losses if comparison else (),
    )


@router.get("/map/picture")
def map_picture(here: Annotated[Opened, Depends()], risk: str = "", loss: str = "") -> HTMLResponse:
    """The map itself."""
    comparison = ranked(CandidateFolder(here.project).current(), risk, loss)
    if comparison:
        here.looked("candidates")
    shown = comparison.pictures() if comparison else ()
    return here.page("explore_picture.html", picture=shown[0] if shown else None)


# Before and after


@router.get("/columns")
def columns(
    here: Annotated[Opened, Depends()], of: str = "", one: str = "", other: str = ""
) -> HTMLResponse:
    """A column, or two together, before and after."""
    every = CandidateFolder(here.project).all()
    chosen = next((each for each in every if each.key == of), every[-1] if every else None)
    details = None if chosen is None else CandidateFolder(here.project).details(chosen.key)
    names = [] if details is None else [column.column for column in details.columns]
    if details is not None:
        here.looked("columns before and after")
        together = [name for pair in details.pairs for name in pair.columns]
        names = list(dict.fromkeys([*names, *together]))
    first = one if one in names else next(iter(names), "")
    second = other if other in names and other != first else ""
    return here.page(
        "explore_columns.html",
        at="explore",
        tab="columns",
        candidates=every,
        chosen=chosen,
        details=details,
        names=names,
        one=first,
        other=second,
    )


@router.get("/columns/picture")
def columns_picture(
    here: Annotated[Opened, Depends()], of: str, one: str, other: str = ""
) -> HTMLResponse:
    """The picture of a column, or of two."""
    details = CandidateFolder(here.project).details(of)
    if details is not None:
        here.looked("columns before and after")
    shown: Picture | None = None
    if details is not None and other:
        pair = details.pair(one, other)
        shown = None if pair is None else pair.pictures()[0]
    elif details is not None:
        shown = details.column(one)
    why = "" if details is None else details.unknown
    return here.page("explore_picture.html", picture=shown, why=why)
