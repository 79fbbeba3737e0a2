"""Roles: what each column is, and who is a person, with the risk beside it.

A role is decided by a person, one by one or many at once; suggestions are only taken on request.
Uses `pages`, `assessing` and `people`; `app` uses it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import ColumnError, ParameterError, ShoalError
from shoal.look.zoned import Zone
from shoal.measure.suggesting import Suggestion, suggest
from shoal.recipe.editing import Draft
from shoal.recipe.people import PeopleSaid, people_said, say_people, unit_option
from shoal.recipe.schema import PLACEHOLDER
from shoal.workbench.assessing import (
    assessed,
    choose,
    chosen_for,
    is_quick,
    known,
    question_of,
)
from shoal.workbench.looking import figures_seen, matters
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.steps import Standing, Step

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/roles")

_ROLES = tuple(role.value for role in Role)

_MANY = 12
"""Columns from which they can be searched, and set many at once."""

_CHANGED = {"HX-Trigger": "recipe-changed"}


def _standing(project: Project) -> Standing:
    draft = project.draft()
    roles = draft.section("roles")
    if draft.get("source", "path") is None:
        return Standing("todo")
    if not roles or PLACEHOLDER in roles.values():
        return Standing("needs", "columns without a role")
    return Standing("done")


STEP = Step("roles", "Roles", Zone.OWNER, _standing)


# Columns and their roles


@dataclass(frozen=True)
class ColumnRow:
    """A column as it is shown: what is decided, and what it looks like.

    number: its place in the table, for names of parts of the page
    """

    number: int
    name: str
    kind: str
    role: str | None
    suggestion: Suggestion | None

    @property
    def suggested(self) -> str | None:
        """The role that it looks like."""
        role = None if self.suggestion is None else self.suggestion.role
        return None if role is None else role.value

    def fits(self, find: str, only: str) -> bool:
        """Whether somebody who looks for this wants to see it."""
        if find.casefold() not in self.name.casefold():
            return False
        match only:
            case "undecided":
                return self.role is None
            case "differs":
                return self.suggested is not None and self.suggested != self.role
            case "":
                return True
            case role:
                return self.role == role


@dataclass(frozen=True)
class ColumnsShown:
    """All columns of the table, and which of them are shown.

    looked: whether suggestions were made; of a very large table they come after the page
    lost: columns that have a role, and that the table lacks
    """

    all: Sequence[ColumnRow]
    shown: Sequence[ColumnRow]
    looked: bool
    lost: Sequence[str]
    find: str = ""
    only: str = ""
    at: str = ""

    @property
    def decided(self) -> int:
        """How many columns have a role."""
        return sum(row.role is not None for row in self.all)

    @property
    def to_take(self) -> int:
        """How many columns without a role have a suggestion."""
        return sum(row.role is None and row.suggested is not None for row in self.all)

    @property
    def many(self) -> bool:
        """Whether there are too many to see all at once."""
        return len(self.all) > _MANY


_SUGGESTED: WeakKeyDictionary[Table, dict[str, Suggestion]] = WeakKeyDictionary()


def _suggestions(table: Table, *, now: bool, look: bool) -> dict[str, Suggestion] | None:
    """What the columns of a table look like; None if that would take too long.

    look: go by their values too
    """
    if not look:
        return {one.column: one for one in suggest(table, look=False)}
    if table not in _SUGGESTED:
        if not now and not is_quick(table):
            return None
        _SUGGESTED[table] = {one.column: one for one in suggest(table)}
    return _SUGGESTED[table]


def _columns(here: Opened, *, find: str = "", only: str = "", now: bool = False) -> ColumnsShown:
    table = here.desk.tables.bare(here.project, here.draft)
    looking = _is_live(here)
    if looking:
        here.looked("what columns look like")
    suggestions = _suggestions(table, now=now, look=looking)
    roles = here.draft.section("roles")
    rows = [
        ColumnRow(
            number,
            name,
            table.kind(name).value,
            roles[name] if roles.get(name) in _ROLES else None,
            (suggestions or {}).get(name),
        )
        for number, name in enumerate(table.names)
    ]
    shown = [row for row in rows if row.fits(find, only)]
    lost = [name for name in roles if name not in table.names]
    return ColumnsShown(rows, shown, suggestions is not None, lost, find, only)


def _write(here: Opened, decisions: Mapping[str, str]) -> None:
    """Write roles into the recipe; columns that nobody has mentioned become questions in it."""
    names = here.desk.tables.bare(here.project, here.draft).names
    for name, role in decisions.items():
        if name not in names or role not in (*_ROLES, PLACEHOLDER):
            raise ParameterError("there is no such column or role", "load the page again")
    with here.deciding() as draft:
        known = draft.section("roles")
        for name in names:
            if name not in known:
                draft.set("roles", name, to=PLACEHOLDER)
        for name, role in decisions.items():
            if known.get(name) != role:
                draft.set("roles", name, to=role)


@router.get("")
def roles(
    here: Annotated[Opened, Depends()], find: str = "", only: str = "", suggest: str = ""
) -> HTMLResponse:
    """What each column is, and who is a person."""
    if here.draft.get("source", "path") is None:
        return here.page("roles_empty.html", at="roles")
    columns = _columns(here, find=find, only=only, now=bool(suggest))
    if here.is_part:
        return here.page("roles_columns.html", columns=columns)
    table = here.desk.tables.bare(here.project, here.draft)
    risk: dict[str, Any] = {"later": True}
    question = question_of(here.project, here.draft, table.names)
    if not _is_live(here) or is_quick(table) or known(table, question) is not None:
        risk = _risk(here)
    return here.page("roles.html", at="roles", columns=columns, people=_people(here), **risk)


@router.post("/set")
def decide(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Decide the role of a column; without script, of all that were changed on the page."""
    decisions = {
        field.removeprefix("role:"): str(role)
        for field, role in form.items()
        if field.startswith("role:") and form.get("was:" + field.removeprefix("role:")) != role
    }
    _write(here, decisions)
    if not here.is_part:
        return here.go(here.address("roles"))
    response = here.page("roles_decided.html", columns=_columns(here), also=True)
    response.headers.update(_CHANGED)
    return response


@router.post("/take")
def take(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Take the suggestion for one column, or for all that nobody has decided yet."""
    column = form.get("column")
    rows = _columns(here, now=True).all
    decisions = {
        row.name: row.suggested
        for row in rows
        if row.suggested and (row.role is None if column is None else row.name == column)
    }
    _write(here, decisions)
    return _changed(here, form, at=str(column or ""))


@router.post("/many")
def set_many(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Give several columns the same role."""
    role = str(form.get("role", ""))
    _write(here, {str(name): role for name in form.getlist("column")})
    return _changed(here, form)


@router.post("/forget")
def forget(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Take the columns that the table does not have out of the recipe."""
    lost = _columns(here).lost
    with here.deciding() as draft:
        for name in lost:
            draft.set("roles", name, to=None)
    return _changed(here, form)


@router.post("/text")
def read_as_text(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Read a column as text, so that no two people become one."""
    name = str(form.get("column", ""))
    here.desk.tables.bare(here.project, here.draft).require(name)
    here.decide("source", "types", name, to="text")
    return _changed(here, form)


def _changed(here: Opened, form: Submitted, at: str = "") -> Response:
    """All columns after a change, or the page for browsers without script."""
    if not here.is_part:
        return here.go(here.address("roles"))
    find, only = str(form.get("find", "")), str(form.get("only", ""))
    columns = _columns(here, find=find, only=only)
    response = here.page("roles_columns.html", columns=columns, focus=at)
    response.headers.update(_CHANGED)
    return response


# Risk


def _is_live(here: Opened) -> bool:
    """Whether figures of the rows are shown while roles are decided.

    A promise may assume that roles, and all that is chosen after them, were chosen without
    looking. So none are shown before somebody asks for them or other figures were shown anyway,
    unless the promise is about the released table alone.
    """
    chosen = chosen_for(here.project).get("live")
    if chosen is not None:
        return chosen == "yes"
    return bool(figures_seen(here.project)) or not matters(here.draft)


@router.post("/live")
def set_live(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Show or hide figures of the rows while roles are decided."""
    choose(here.project, "live", "yes" if form.get("live") == "yes" else "no")
    return here.go(here.address("roles"))


@dataclass(frozen=True)
class PeopleProblem:
    """What is wrong with a column that tells people or households apart.

    kind: "gone", "person" or "household" by its role, or "values"
    fix: what a button can do: make it "identifying", or read it as "text"
    said: what the library says of its values
    """

    kind: str
    column: str
    fix: str = ""
    said: str = ""


@router.get("/risk")
def risk(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """The risk with the roles as they are."""
    return here.page("roles_risk.html", **_risk(here), said=True)


def _risk(here: Opened) -> dict[str, Any]:
    """The risk with the roles as they are, or why it cannot be told."""
    table = here.desk.tables.bare(here.project, here.draft)
    question = question_of(here.project, here.draft, table.names)
    problems = _problems(here.draft, table, question.household)
    found = error = None
    live = _is_live(here)
    if live and question.quasi:
        here.looked("risks of the input")
        try:
            found = assessed(table, question)
        except ShoalError as refused:
            error = refused
    if error is not None and problems:
        error = None  # a problem says the same, with a button
    return {
        "risk": found,
        "error": error,
        "problems": problems,
        "question": question,
        "live": live,
    }


def _problems(draft: Draft, table: Table, household: str | None) -> list[PeopleProblem]:
    """What is wrong with the columns that tell people and households apart."""
    problems = []
    person = people_said(draft).column
    if person is not None and person not in table.names:
        problems.append(PeopleProblem("gone", person))
        person = None
    roles = draft.section("roles")
    for name in dict.fromkeys(filter(None, (person, household))):
        if name == person and roles.get(name) != Role.IDENTIFYING.value:
            problems.append(PeopleProblem("person", name, "identifying"))
        elif roles.get(name) in (Role.QUASI.value, Role.SENSITIVE.value):
            problems.append(PeopleProblem("household", name, "identifying"))
        try:
            table.require_people(name)
        except ColumnError as refused:
            fix = "text" if name in table.guessed or table.source.decimal(name) else ""
            problems.append(PeopleProblem("values", name, fix, f"{refused.what}; {refused.fix}"))
    return problems


# People


@dataclass(frozen=True)
class PeopleChoice:
    """Who is a person as the page shows it.

    first: columns that may tell people apart, those that are identifying
    option: the key of the recipe that has the column; None if the method has none
    """

    said: PeopleSaid
    household: str | None
    first: Sequence[str]
    others: Sequence[str]
    option: str | None
    method: str | None

    @property
    def value(self) -> str:
        """What is chosen in the form."""
        if self.said.column is not None:
            return f"column:{self.said.column}"
        return "rows" if self.said.rows else ""


def _people(here: Opened) -> PeopleChoice:
    table = here.desk.tables.bare(here.project, here.draft)
    roles = here.draft.section("roles")
    first = [name for name in table.names if roles.get(name) == Role.IDENTIFYING.value]
    return PeopleChoice(
        people_said(here.draft),
        chosen_for(here.project).get("household"),
        first,
        [name for name in table.names if name not in first],
        unit_option(here.draft),
        here.draft.get("method", "name"),
    )


@router.get("/people")
def show_people(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """Who is a person, after roles have changed."""
    return here.page("roles_people.html", people=_people(here))


@router.post("/people")
def say(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Say who is a person, and which column tells households apart."""
    table = here.desk.tables.bare(here.project, here.draft)
    if "person" in form:
        value = str(form["person"])
        said = PeopleSaid(_column(table, value), value == "rows")
        with here.deciding() as draft:
            say_people(draft, said)
    if "household" in form:
        choose(here.project, "household", _column(table, str(form["household"])))
    if not here.is_part:
        return here.go(here.address("roles"))
    response = here.page("roles_people.html", people=_people(here))
    response.headers.update(_CHANGED)
    return response


def _column(table: Table, value: str) -> str | None:
    """The column that is chosen in a form, where others can be chosen too."""
    if not value.startswith("column:"):
        return None
    name = value.removeprefix("column:")
    table.require(name)
    return name
