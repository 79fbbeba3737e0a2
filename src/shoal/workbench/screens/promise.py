"""Promise: what to promise, and by which method.

A few questions lead to a method, all methods and options are there for those who know, and what
each would promise and cost is shown before anything is spent. Nothing here looks at a row, unless
somebody asks what the method says of them. Uses `promises` and `option_forms`; `app` uses it.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from shoal.choosing import AUDIT, ELSEWHERE, QUESTIONS, UNKNOWN, Answers, choose, following
from shoal.choosing.deciding import KNOWN, LARGEST
from shoal.choosing.guides import WAYS, guide_of
from shoal.data.schema import Role
from shoal.errors import ParameterError, ShoalError
from shoal.exact.numbers import short
from shoal.ledger import Ledger
from shoal.look.zoned import Zone
from shoal.measure.pictures import beliefs
from shoal.methods.auto import AUTO, name_of
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.privacy.promises import DifferentialPrivacy
from shoal.recipe.hierarchies import chosen_entry
from shoal.recipe.options import options
from shoal.recipe.people import people_said, say_people
from shoal.recipe.schema import METHODS, MODELS, PLACEHOLDER
from shoal.workbench import option_forms, promises
from shoal.workbench.pages import Opened, Submitted, typed
from shoal.workbench.projects import Project, named
from shoal.workbench.steps import Standing, Step
from shoal.workbench.words import is_whole

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/promise")

NOTE = "interview"
"""The note with the answers."""

_ROLES = {
    "PERSON": (Role.IDENTIFYING,),
    "HOUSEHOLD": (Role.IDENTIFYING,),
    "SENSITIVE": (Role.SENSITIVE,),
    KNOWN: (Role.QUASI,),
}
"""The roles of the columns that blanks stand for; others may be any that is released."""

_RELEASED = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
WIDE = 100
"""Columns from which a table is one of hundreds of columns."""

_CHANGED = {"HX-Trigger": "recipe-changed"}

Here = Annotated[Opened, Depends()]


def _standing(project: Project) -> Standing:
    method = project.draft().get("method")
    name = method if isinstance(method, str) else (method or {}).get("name", PLACEHOLDER)
    if name == PLACEHOLDER:
        return Standing("needs", "no method yet")
    open_ends = [place for place in project.draft().undecided if place[0] == "method"]
    return Standing("needs", "options are missing") if open_ends else Standing("done")


STEP = Step("promise", "Promise", Zone.OWNER, _standing)


@router.get("")
def promise(here: Here) -> Response:
    """The questions while there is no method, and the method once there is one."""
    if _method_name(here) is None:
        return here.go(here.address("promise/questions"))
    return here.go(here.address("promise/options"))


def _method_name(here: Opened) -> str | None:
    """The method that the recipe has, if it has one that there is."""
    method = here.draft.get("method")
    name = method.get("name") if isinstance(method, dict) else method
    return name if name in METHODS.names else None


# Questions


@router.get("/questions")
def questions(here: Here, ask: str = "") -> HTMLResponse:
    """One question with its answers, and what follows from the answers so far."""
    given = _answers(here)
    fitting = Answers.fitting(given).to_dict()
    asked = [one for one in QUESTIONS if one.asked(Answers.fitting(given))]
    question = next((one for one in asked if one.key == ask), None) or following(given)
    answered = [(one, one.text_of(given[one.key])) for one in asked if one.key in given and fitting]
    return here.page(
        "promise_questions.html",
        at="promise",
        question=question,
        given=given,
        answered=answered,
        left=len(asked) - len(answered),
        before=_before(question, asked),
        released=len(_released(here)),
        by_roles=_by_roles(here),
        **_recommended(here, given),
    )


def _before(question: Any, asked: list[Any]) -> Any:
    """The question before one, to go back to; the last one if there is none left to ask."""
    if question is None:
        return asked[-1]
    place = asked.index(question)
    return asked[place - 1] if place else None


def _answers(here: Opened) -> dict[str, str]:
    """What was answered so far, as far as it is still a question with that answer.

    What the roles say already need not be answered; whoever answers it all the same is believed.
    """
    noted = here.project.note(NOTE, dict) or {}
    known = {question.key: question.keys for question in QUESTIONS}
    given = {key: answer for key, answer in noted.items() if key in known and answer in known[key]}
    for key, answer in _by_roles(here).items():
        if given.get(key, UNKNOWN) == UNKNOWN:
            given[key] = answer
    return given


def _by_roles(here: Opened) -> dict[str, str]:
    """The answers that the roles have already: who is a person, and how wide the table is."""
    found = {}
    said = people_said(here.draft)
    if said.rows or said.column is not None:
        found["person"] = "row" if said.rows else "several"
    if len(_released(here)) >= WIDE:
        found["shape"] = "wide"
    return found


def _released(here: Opened) -> list[str]:
    """The columns that are released, by their roles."""
    roles = here.draft.section("roles")
    return [name for name, role in roles.items() if role in _RELEASED]


def _recommended(here: Opened, given: dict[str, str]) -> dict[str, Any]:
    """What the answers so far lead to, for templates."""
    found = choose(Answers.fitting(given))
    columns = promises.columns_of(here.project, here.draft)
    return {
        "found": found,
        "columns": columns,
        "blanks": {
            name: (words, columns.having(_ROLES.get(name, _RELEASED)), name == KNOWN)
            for name, words in found.blanks.items()
            if name == KNOWN or name in promises.single(found)
        },
        "chosen": people_said(here.draft).column,
        "bare": _bare(here, entry_of(found.method) if found.method in CATALOGUE else None),
        "found_groups": promises.groups_to_find(columns.released),
        "wants_groups": promises.groups_of(found),
        "takes": found.method in CATALOGUE,
        "audit": found.method == AUDIT,
        "elsewhere": found.method == ELSEWHERE,
        "runner_guide": guide_of(found.runner_up.method),
        "private": _private(here, "answers"),
        "of": "answers",
        "now": promises.StatedPromise(promise=found.promise),
        "costs": promises.costs(here.project, here.draft, found.promise, found.method),
        **_foreseen(here),
    }


@router.post("/answer")
def answer(here: Here, form: Submitted) -> Response:
    """Note an answer; those that are no longer asked for stay, in case they are again."""
    key, chosen = str(form.get("question", "")), str(form.get("answer", ""))
    question = next((one for one in QUESTIONS if one.key == key), None)
    if question is None or chosen not in question.keys:
        raise ParameterError("no answer was chosen", "choose one from the list")
    with here.project.noting(NOTE) as noted:
        noted[key] = chosen
    return here.go(here.address("promise/questions"))


@router.post("/again")
def again(here: Here) -> Response:
    """Forget all answers."""
    here.project.keep(NOTE, {})
    return here.go(here.address("promise/questions"))


@router.post("/take")
def take(here: Here, form: Submitted) -> Response:
    """Write what is recommended into the recipe, with columns in the place of blanks."""
    found = choose(Answers.fitting(_answers(here)))
    if found.method not in CATALOGUE:
        raise ParameterError("this is not a way to release a table", "answer the questions again")
    columns = promises.columns_of(here.project, here.draft)
    blanks = {}
    for name in found.blanks:
        if name != KNOWN and name not in promises.single(found):
            continue
        given = [str(one) for one in form.getlist(f"blank:{name}") if one]
        promises.require_blank(name, given, columns.having(_ROLES.get(name, _RELEASED)))
        blanks[name] = given
    groups = option_forms.named_groups(str(form.get("groups", "")))
    bought = form.get("grouping") == "bought" and not groups
    if promises.groups_of(found) and not groups and not bought:
        raise ParameterError("no groups of columns were given", "write one group per line")
    parameters = promises.filled(found, blanks, groups)
    if promises.groups_of(found) and bought:
        parameters = promises.with_groups_found(parameters, columns.released)
    _write(here, {"name": found.method, **parameters})
    return here.go(here.address("promise/options"))


def _write(here: Opened, section: dict[str, Any]) -> None:
    """Write the section of the method.

    Key by key for the same method, so that comments stay; those of another method would mislead.
    """
    with here.deciding() as draft:
        before = draft.section("method")
        said = people_said(draft)
        if before.get("name") != section["name"]:
            draft.set("method", to=section)
            if said.column is not None and people_said(draft).column is None:
                # Who is a person was decided with the roles, and does not depend on the method.
                say_people(draft, said)
        else:
            for key in before:
                if key not in section:
                    draft.set("method", key, to=None)
            for key, value in section.items():
                # A number that is written in another way is not another choice.
                if typed(before.get(key)) != typed(value):
                    draft.set("method", key, to=value)
        if said.rows and people_said(draft).column is not None:
            # A column tells people apart now, so that rows do not.
            draft.set("rows_are_people", to=None)


# All methods and options


@router.get("/options")
def every_option(here: Here) -> HTMLResponse:
    """The method of the recipe with all its options, or all methods to choose from."""
    return here.page("promise_options.html", at="promise", **_form(here))


@router.get("/methods")
def methods(here: Here) -> HTMLResponse:
    """All methods, with what each is for."""
    chosen = _method_name(here)
    # First the one that "auto" takes: what the next ones are for is said by comparison with it.
    names = sorted(CATALOGUE, key=lambda name: name != name_of(False))
    listed = [(name, entry_of(name), guide_of(name)) for name in names]
    others = [(way, guide_of(way)) for way in WAYS if way not in CATALOGUE]
    return here.page(
        "promise_methods.html", at="promise", methods=listed, others=others, chosen=chosen
    )


def _form(here: Opened) -> dict[str, Any]:
    """All that the form of a method shows."""
    name = _method_name(here)
    given = here.draft.section("method")
    if isinstance(here.draft.get("method"), str):
        given = {key: here.draft.get(key) for key in here.draft.content}
    shown = option_forms.fields_of(name, given) if name else []
    return {
        "method": name,
        "automatic": AUTO,
        "names": list(METHODS.names),
        "summary": entry_of(name).summary if name in CATALOGUE else "",
        "fields": [field for field in shown if field[0].required],
        "more": [field for field in shown if not field[0].required],
        "columns": promises.columns_of(here.project, here.draft),
        "models": list(MODELS.names),
        "forms": option_forms,
        **_expected(here),
    }


def _expected(here: Opened) -> dict[str, Any]:
    """What to expect of the recipe as it is now."""
    now = promises.stated(here.project)
    name = _method_name(here)
    return {
        "now": now,
        "costs": promises.costs(here.project, here.draft, now.promise, name or ""),
        "ledgers": promises.ledgers(here.project),
        "guide": guide_of(name) if name in CATALOGUE else None,
        "bare": _bare(here, chosen_entry(here.draft)),
        "private": now.private,
        "of": "recipe",
        **_foreseen(here),
    }


def _foreseen(here: Opened) -> dict[str, Any]:
    """The newest forecast, if there is one, and how many people there are said to be."""
    jobs = here.desk.jobs.of(here.project, "forecast")
    people = _answers(here).get("people", UNKNOWN)
    known = LARGEST[people] if people not in ("more", UNKNOWN) else ""
    last = jobs[0].task.get("arguments", {}) if jobs else {}
    return {
        "forecast": jobs[0] if jobs else None,
        "records": last.get("records", known),
        "values": {name: last.get("values", {}).get(name, "") for name in _unknown_values(here)},
    }


def _bare(here: Opened, entry: Entry | None) -> list[str]:
    """The columns that a method would make coarser, and that have no hierarchy to do it by."""
    if entry is None or entry.generalises != "released":
        return []
    return _unknown_values(here)


def _unknown_values(here: Opened) -> list[str]:
    """The released columns without a hierarchy: which values they may have is not public."""
    trees = here.draft.section("hierarchies")
    roles = here.draft.section("roles")
    return [name for name, role in roles.items() if role != "identifying" and name not in trees]


@router.post("/options")
def change(here: Here, form: Submitted, remove: int | None = None) -> Response:
    """Write the options of the method; the answer is what follows from them.

    remove: the number of a model that is left out; a button that says so by its name would be sent
        along whenever it has the focus
    """
    name = str(form.get("method", ""))
    if name not in METHODS.names:
        raise ParameterError("there is no such method", "choose one from the list")
    if name != _method_name(here):
        _write(here, _begun(here, name))
        return _answered(here, "promise_form.html")
    _write(here, option_forms.section(name, form, remove))
    if not here.is_part:
        return here.go(here.address("promise/options"))
    # What was typed stays as it is, and what it leads to is shown beside it.
    whole = bool(form.get("add")) or remove is not None
    return _answered(here, "promise_form.html" if whole else "promise_changed.html")


def _answered(here: Opened, template: str) -> Response:
    if not here.is_part:
        return here.go(here.address("promise/options"))
    response = here.page(template, at="promise", **_form(here))
    response.headers.update(_CHANGED)
    if template == "promise_form.html":
        # Whichever field asked: one may have waited while the method was changed.
        response.headers.update({"HX-Retarget": "#method-form", "HX-Reswap": "innerHTML"})
    return response


def _begun(here: Opened, name: str) -> dict[str, Any]:
    """A method with the options that it shares with the one before, and a "?" where one is due."""
    before = here.draft.section("method")
    section: dict[str, Any] = {"name": name}
    kept = ["epsilon", "delta", "unit", "rows", "models", "k"]
    if name not in ("optimal", "personal"):  # they weigh quasi-identifying columns only
        kept.append("importance")
    for option in options(METHODS, name):
        value = before.get(option.name, PLACEHOLDER)
        if value != PLACEHOLDER and option.name in kept:
            section[option.name] = value
        elif option.kind == "models":
            section[option.name] = []
        elif option.required:
            section[option.name] = PLACEHOLDER
    return section


@router.get("/belief")
def belief(here: Here, of: str = "recipe") -> HTMLResponse:
    """What somebody may believe about one person, before and after."""
    private = _private(here, of)
    picture = None if private is None else beliefs(private)
    if not here.is_part:
        return here.page("promise_belief_page.html", at="promise", picture=picture)
    return here.page("promise_belief.html", picture=picture)


def _private(here: Opened, of: str) -> DifferentialPrivacy | None:
    """The promise of the recipe, or of what the answers lead to, if it is differential privacy."""
    if of != "answers":
        return promises.stated(here.project).private
    found = choose(Answers.fitting(_answers(here))).promise
    return found if isinstance(found, DifferentialPrivacy) else None


@router.post("/concerns")
def concerns(here: Here) -> HTMLResponse:
    """What the method says of these rows: figures of the data."""
    here.looked("what the method says of the rows")
    try:
        recipe, table = here.desk.tables.whole(here.project)
        found, error = recipe.concerns(table), None
    except ShoalError as problem:
        found, error = (), problem
    template = "promise_concerns.html"
    if not here.is_part:
        template = "promise_concerns_page.html"
    return here.page(template, at="promise", concerns=found, error=error)


@router.post("/forecast")
def begin_forecast(here: Here, form: Submitted) -> Response:
    """Begin a forecast on made-up tables."""
    records = _number(form, "records")
    if records is None:
        raise ParameterError("the number of records is not a number", "give one such as 30000")
    values = {name: _number(form, f"values:{name}") for name in _unknown_values(here)}
    for name, number in values.items():
        if number is None:
            raise ParameterError(
                f"column {name!r} has no hierarchy, so it is not known which values it may have",
                "say about how many, or give it a hierarchy",
            )
    of = str(form.get("of", "recipe"))
    private = _private(here, of)
    if private is None:
        raise ParameterError(
            "there are forecasts for differential privacy only",
            "try the method on the Run screen: nothing is spent",
        )
    spent = {"epsilon": str(private.epsilon), "delta": short(private.delta)}
    arguments = {"records": records, "values": values, **spent}
    here.desk.jobs.start(here.project, "forecast", arguments, here.who.name)
    if here.is_part:
        return here.page("promise_forecast.html", private=private, of=of, **_foreseen(here))
    return here.go(here.address("promise/questions" if of == "answers" else "promise/options"))


def _number(form: FormData, name: str) -> int | None:
    """A number above 0 that somebody typed; None if it is not one."""
    text = str(form.get(name, "")).replace(",", "").replace(" ", "")
    return int(text) if is_whole(text) and 0 < int(text) <= 10**10 else None


# The ledger


@router.get("/ledger")
def ledger(here: Here) -> HTMLResponse:
    """The ledger that releases are entered in, and others to choose."""
    return here.page("promise_ledger.html", at="promise", **_expected(here))


@router.post("/ledger")
def choose_ledger(here: Here, form: Submitted) -> Response:
    """Enter releases in a ledger that is there, or in none."""
    path = str(form.get("path", "")).strip()
    if not path:
        here.decide("ledger", to=None)
    else:
        Ledger(here.folder / path).account()
        here.decide("ledger", "path", to=path)
    return here.go(here.address("promise/ledger"))


@router.post("/ledger/new")
def new_ledger(here: Here, form: Submitted) -> Response:
    """Make a ledger with a budget, with a γ, or with neither."""
    path = here.folder / f"{named(str(form.get('name', '')))}{promises.LEDGER}"
    kind = str(form.get("kind", ""))
    limits: dict[str, Any] = {}
    if kind == "budget":
        limits = {part: _given(form, part) for part in ("epsilon", "delta")}
    elif kind == "gamma":
        limits = {"gamma": _given(form, "gamma")}
    Ledger.create(path, **limits)
    here.decide("ledger", "path", to=path.name)
    return here.go(here.address("promise/ledger"))


def _given(form: FormData, name: str) -> str:
    text = str(form.get(name, "")).strip()
    if not text:
        raise ParameterError("is missing", "give a number", option=name)
    return text
