"""Data: where the file is, how it is read, what was detected. Uses `pages`; `app` uses it."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.data import toml
from shoal.data.csv_files import CsvOptions
from shoal.data.databases import require_without_secrets
from shoal.data.disk import is_address, replacing
from shoal.data.file_options import FileOptions
from shoal.data.files import csv_file
from shoal.data.formats import READING
from shoal.data.kinds import Kind
from shoal.data.layouts import look
from shoal.data.values import ValueOptions
from shoal.errors import FileError, ParameterError, RecipeError, ShoalError
from shoal.look.zoned import Zone
from shoal.recipe.editing import Draft
from shoal.recipe.schema import PLACEHOLDER
from shoal.workbench.beginning import place_in_recipe, placeholders
from shoal.workbench.folders import listing, require_there, typed_place
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.screens.data_parts import (
    FIGURES,
    found_part,
    leave,
    missing_texts,
    put_missing_texts,
    source_part,
    standing_of,
)
from shoal.workbench.steps import Standing, Step

__all__ = ["STEP", "router"]

router = APIRouter(prefix="/p/{project}/data")

_READING = ("separator", "quote", "encoding")
_ROWS = 20
"""Rows that are shown when somebody asks for them."""


def _standing(project: Project) -> Standing:
    content = toml.read(project.recipe, "a recipe", RecipeError).content
    source, roles = content.get("source"), content.get("roles")
    path = source.get("path") if isinstance(source, dict) else None
    if not isinstance(source, dict) or not isinstance(path, str) or path == PLACEHOLDER:
        return Standing("needs", "no file yet")
    is_path = not is_address(path) and "*" not in path
    if is_path and not (project.folder / path).exists():
        return Standing("needs", "the file is not there")
    types = source.get("types", {})
    if not roles or (isinstance(types, dict) and PLACEHOLDER in types.values()):
        return Standing("needs", "columns to look at")
    return standing_of(project, project.draft())


STEP = Step("data", "Data", Zone.OWNER, _standing)


@router.get("")
def data(here: Annotated[Opened, Depends()], path: str = "", at: str = "") -> HTMLResponse:
    """The file: where it is, how it is read, and what was detected."""
    return _page(here, path=path, at=at)


@router.get("/look")
def looked(here: Annotated[Opened, Depends()], path: str = "") -> HTMLResponse:
    """What another file looks like, before it is taken."""
    return here.page("data_other.html", **_other(here, path))


@router.post("/path")
def change(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Read another file, folder, database or address."""
    _require_owner(here)
    typed = str(form.get("path", ""))
    query = str(form.get("query", "")).strip()
    engine = str(form.get("engine", ""))
    try:
        place = typed_place(typed, here.folder)
        require_without_secrets(str(place))
        require_there(place)
    except ShoalError as error:
        return _page(here, path=typed, problem=error)
    layout = look(place)
    with here.deciding() as draft:
        draft.set("source", "path", to=place_in_recipe(place, here.folder, here.desk.home))
        # What was said of another file means nothing for this one.
        for key in READING:
            sound = layout.reading if layout.problem is None else {}
            draft.set("source", key, to=sound.get(key))
        draft.set("source", "query", to=query or None)
        draft.set("source", "engine", to=engine or None)
        is_undecided = all(role == PLACEHOLDER for role in draft.section("roles").values())
        if is_undecided and (names := placeholders(layout)):
            draft.align(names)
    return here.go(here.address("data"))


@router.post("/reading")
def reading(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Read the file with another separator, quote or encoding."""
    _require_owner(here)
    chosen: dict[str, str | None] = {}
    for key in _READING:
        given = form.get(key)
        chosen[key] = None if given in (None, "detect") else str(given)
    chosen["quote"] = "" if chosen["quote"] == "none" else chosen["quote"]
    if not form.get("confirm") and _is_same_guess(here, chosen["encoding"]):
        chosen["encoding"] = None
    problem = None
    try:
        CsvOptions(**chosen)
    except ShoalError as error:
        problem = error
    else:
        with here.deciding() as draft:
            for key, value in chosen.items():
                draft.set("source", key, to=value)
            _align_if_undecided(here, draft)
    return _changed(here, _page(here, part=here.is_part, reading_problem=problem))


@router.post("/columns")
def columns(here: Annotated[Opened, Depends()]) -> Response:
    """Read the table, and say what its columns look like; types that are undecided are those."""
    _require_owner(here)
    return _found(here)


@router.get("/columns")
def columns_again(here: Annotated[Opened, Depends()]) -> Response:
    """The same without a decision, after a job has looked through the rows."""
    return here.go(here.address("data"))


@router.post("/type")
def kind(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Declare the type of a column."""
    _require_owner(here)
    column = str(form.get("column", ""))
    if column not in here.draft.columns and column not in here.desk.tables.bare(here.project).names:
        raise ParameterError("there is no such column", "choose one from the list")
    here.decide("source", "types", column, to=Kind.of(str(form.get("kind", ""))).value)
    return _found(here)


@router.post("/values")
def values(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Read the dates or numbers of a column as they are written."""
    _require_owner(here)
    column = str(form.get("column", ""))
    if column not in here.draft.columns and column not in here.desk.tables.bare(here.project).names:
        raise ParameterError("there is no such column", "choose one from the list")
    dates = str(form.get("dates", ""))
    decimal, thousands = (str(form.get(key, "")) or None for key in ("decimal", "thousands"))
    ValueOptions(decimal, thousands, dates or None)
    with here.deciding() as draft:
        if dates:
            _read_dates(draft, column, dates)
        else:
            _read_numbers(draft, column, decimal, thousands)
    return _found(here)


def _read_dates(draft: Draft, column: str, form: str) -> None:
    earlier = draft.section("source").get("dates")
    if isinstance(earlier, str):
        # One form for all dates becomes that of each.
        kinds = draft.section("source", "types").items()
        every = {name: earlier for name, kind in kinds if kind == Kind.DATE}
        draft.set("source", "dates", to=every)
    draft.set("source", "dates", column, to=form)
    draft.set("source", "types", column, to=Kind.DATE.value)


def _read_numbers(draft: Draft, column: str, decimal: str | None, thousands: str | None) -> None:
    draft.set("source", "decimal", to=decimal)
    # Another column may have one.
    if thousands is not None:
        draft.set("source", "thousands", to=thousands)
    draft.set("source", "types", column, to=Kind.FLOAT.value)


@router.post("/take")
def take(here: Annotated[Opened, Depends()]) -> Response:
    """Read all columns as they seem to be written, and count as missing what seems to be."""
    _require_owner(here)
    # Without texts for missing values, others may turn out to be numbers or dates.
    for _ in range(2):
        columns = found_part(here).to_take
        names = here.desk.tables.bare(here.project).names
        with here.deciding() as draft:
            texts = missing_texts(draft, names)
            for column in columns:
                name = column.found.name
                for finding in column.suggested:
                    if finding.code == "stand-ins":
                        texts[name] = [*texts.get(name, ()), *finding.forms]
                    elif finding.code == "decimal comma":
                        _read_numbers(draft, name, finding.forms[0], finding.forms[1] or None)
                    else:
                        _read_dates(draft, name, finding.forms[0])
            put_missing_texts(draft, names, texts)
    return _found(here)


@router.post("/missing")
def missing(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Decide what a missing value means."""
    _require_owner(here)
    policy = str(form.get("missing", ""))
    if policy not in ("category", "refuse"):
        raise ParameterError("there is no such policy", "choose one of the two")
    here.decide("missing", to=policy)
    return _found(here)


@router.post("/missing-texts")
def count_as_missing(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Count a text as a missing value, in a column or in all, or as a value again."""
    _require_owner(here)
    column, text = str(form.get("column", "")), str(form.get("text", ""))
    names = here.desk.tables.bare(here.project).names
    if column and column not in names:
        raise ParameterError("there is no such column", "choose one from the list")
    ValueOptions(missing_texts=[text])
    with here.deciding() as draft:
        texts = missing_texts(draft, names)
        for name in [column] if column else names:
            kept = [one for one in texts.get(name, ()) if one != text]
            texts[name] = kept if form.get("back") else [*kept, text]
        put_missing_texts(draft, names, texts)
    return _found(here)


@router.post("/leave")
def leave_as_it_is(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Leave columns as they are, although something about them is odd."""
    _require_owner(here)
    leave(here, [str(name) for name in form.getlist("column")])
    return _found(here)


@router.post("/align")
def align(here: Annotated[Opened, Depends()]) -> Response:
    """Name the columns that the file has in the recipe, and no others."""
    _require_owner(here)
    names = here.desk.tables.bare(here.project).names
    with here.deciding() as draft:
        draft.align(names)
    return _found(here)


@router.post("/names")
def name_columns(here: Annotated[Opened, Depends()], form: Submitted) -> Response:
    """Keep the first line as names, or write a copy of the file in which columns have names."""
    _require_owner(here)
    source = here.draft.section("source")
    place, layout, _ = source_part(here)
    if layout is None or layout.dialect is None or not isinstance(place, Path):
        raise FileError("only the columns of a CSV file can be named", "name them where it is made")
    if form.get("keep"):
        with here.deciding() as draft:
            draft.align(layout.names)
        return here.go(here.address("data"))
    names = [str(form.get(f"name-{number}", "")).strip() for number in range(len(layout.names))]
    options = CsvOptions(*(source.get(key) for key in _READING))
    copy = _free_file(here.folder, place)
    try:
        with replacing(copy) as file:
            instead = form.get("first") == "names"
            csv_file(place, options).write_named(names, file, instead=instead)
    except ShoalError as error:
        return _page(here, names_problem=error, names=names)
    copy.chmod(0o600)
    with here.deciding() as draft:
        draft.set("source", "path", to=copy.name)
        draft.set("source", "encoding", to="utf-8")
        draft.align(names)
    return here.go(here.address("data"))


@router.get("/first-line")
def first_line(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """The first line of the file, for somebody who has to say whether it has names."""
    _require_owner(here)
    here.looked("the first line of the file")
    _, layout, _ = source_part(here)
    return here.page("data_first_line.html", cells=[] if layout is None else layout.names)


@router.get("/rows")
def rows(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """The first rows: cells of the input, shown because somebody asked, and kept nowhere."""
    _require_owner(here)
    here.looked("the first rows")
    table = here.desk.tables.bare(here.project).first_rows(_ROWS)
    frame = table.frame.to_polars()
    template = "data_rows.html" if here.is_part else "data_rows_page.html"
    return here.page(template, names=frame.columns, rows=frame.rows(), at="data")


@router.post("/again")
def again(here: Annotated[Opened, Depends()]) -> Response:
    """Read the source anew."""
    _require_owner(here)
    here.desk.tables.forget(here.project)
    return here.go(here.address("data"))


@router.post("/figures")
def figures(here: Annotated[Opened, Depends()]) -> Response:
    """Show numbers computed from the rows, from now on; what is chosen after that is noted."""
    _require_owner(here)
    here.looked(FIGURES)
    return _found(here)


@router.post("/through")
def through(here: Annotated[Opened, Depends()]) -> Response:
    """Look through all rows that are not in memory."""
    _require_owner(here)
    version = here.desk.tables.version(here.project)
    here.desk.jobs.start(here.project, "findings", {"version": version}, here.who.name)
    return here.go(here.address("data"))


# Parts


def _require_owner(here: Opened) -> None:
    if not here.who.is_owner:
        raise ParameterError("only an owner may do this", "ask one")


def _page(
    here: Opened, *, path: str = "", at: str = "", part: bool = False, **problems: Any
) -> HTMLResponse:
    """The whole screen, or all of it but the frame."""
    if not here.who.is_owner:
        # Others see what the project reads, and nothing else of this machine.
        path = at = ""
    place, layout, detected = source_part(here)
    problem = problems.get("problem")
    context: dict[str, Any] = {
        "place": place,
        "layout": layout,
        "detected": detected,
        "source": here.draft.section("source"),
        "reading_problem": None,
        "names": None,
        "names_problem": None,
        "is_confirmed": layout is not None and [*layout.names] == here.draft.columns,
        **_other(here, path),
        **(_folder(here, at, path) if here.who.is_owner else {}),
        "is_changing": bool(path or at),
        "found": None,
        **problems,
    }
    if problem is not None:
        context["other_problem"] = problem
    if here.desk.tables.is_read(here.project):
        context["found"] = found_part(here)
    failed = any(value is not None for key, value in problems.items() if "problem" in key)
    template = "data_main.html" if part else "data.html"
    return here.page(template, at="data", status=422 if failed else 200, **context)


def _found(here: Opened) -> Response:
    """The columns, after something about them was decided."""
    if not here.is_part:
        found_part(here, settle=True)
        return here.go(here.address("data"))
    found = found_part(here, settle=True)
    return _changed(here, here.page("data_found.html", found=found))


def _changed(here: Opened, response: HTMLResponse) -> HTMLResponse:
    response.headers["HX-Trigger"] = "recipe-changed"
    return response


def _is_same_guess(here: Opened, encoding: str | None) -> bool:
    """Whether an encoding is what was guessed, and nobody has said that it is right."""
    _, _, detected = source_part(here)
    if here.draft.section("source").get("encoding") or detected is None or not detected.is_guess:
        return False
    return detected.dialect is not None and detected.dialect.encoding == encoding


def _align_if_undecided(here: Opened, draft: Any) -> None:
    """While no role is decided, the draft names the columns as the file is read now."""
    if any(role != PLACEHOLDER for role in draft.section("roles").values()):
        return
    source = draft.section("source")
    place = typed_place(str(source.get("path", "")), here.folder)
    if isinstance(place, Path):
        options = FileOptions.of(**{key: source.get(key) for key in READING})
        draft.align(placeholders(look(place, options)))


def _other(here: Opened, path: str) -> dict[str, Any]:
    """What is known of another file that was typed or picked."""
    other: dict[str, Any] = {"path": path, "other": None, "other_problem": None}
    if path:
        try:
            other["other"] = look(typed_place(path, here.folder))
        except ShoalError as error:
            other["other_problem"] = error
    return other


def _folder(here: Opened, at: str, path: str) -> dict[str, Any]:
    """The folder to find a file in: the one asked for, or that of the file."""
    home = here.desk.home.folder
    problem = None
    wanted = Path(at) if at and Path(at).is_absolute() else home
    if path and not at and Path(path).is_absolute():
        wanted = Path(path).parent
    try:
        folder = listing(wanted)
    except ShoalError as error:
        folder, problem = listing(home), error
    return {
        "folder": folder,
        "folder_problem": problem,
        "pick": here.address("data"),
        "places": {"home": Path.home(), "projects": home},
    }


def _free_file(folder: Path, place: Path) -> Path:
    """Where a copy of a file goes that has names."""
    number, copy = 1, folder / f"{place.stem} named.csv"
    while copy.exists():
        number += 1
        copy = folder / f"{place.stem} named {number}.csv"
    return copy
