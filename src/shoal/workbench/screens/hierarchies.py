"""Hierarchies: how values become coarser, built while looking at what comes of it.

The screen of one column: builders with a preview, a file, and what changes against the saved one.
`hierarchy_coverage` has the values that are missing, `hierarchy_tree` the tree itself. Uses
`builder_forms`, `trees` and `pages`; `app` uses it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, Response

from shoal.data.coverage import rows_having
from shoal.data.hierarchy import READY, Difference, Hierarchy, difference, level_figures
from shoal.data.hierarchy.check import problems as problems_of
from shoal.data.kinds import Kind
from shoal.data.toml import at
from shoal.errors import ParameterError, ShoalError
from shoal.look.zoned import Zone
from shoal.recipe.editing import Draft
from shoal.recipe.hierarchies import Start, chosen_entry, section_from_rows, starting, texts_of
from shoal.recipe.schema import BUILDERS
from shoal.workbench.builder_forms import CHOICES, TITLES, fields, parsed, shown_fields, written
from shoal.workbench.looking import figures_seen
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.projects import Project
from shoal.workbench.steps import Standing, Step
from shoal.workbench.tables import is_streamed
from shoal.workbench.trees import (
    TREES,
    HierarchyColumn,
    adopt,
    adopt_several,
    as_derived,
    column_of,
    columns_of,
    derived_tree,
    forget_staged,
    made_by,
    put,
    size_of,
    stage,
    staged_file,
    undo,
    undoable,
)

__all__ = ["COVERED", "SEEN", "STEP", "address_of", "begun", "column_page", "router"]

router = APIRouter(prefix="/p/{project}/hierarchies")

LARGEST_PREVIEW = 150_000
"""Values of a hierarchy that is still made while somebody types: about a second's work."""

LARGEST_CHECK = 20_000
"""Values of a hierarchy whose labels are all compared for what readers may take them for."""

MOST_FILLED = 2_000
"""Different values that a form is filled with."""

_TOO_MANY = "Too many different values to list; choose below that they come from the rows."

Origin = Literal["public", "rows"]

SEEN = "values of columns, while making their hierarchies"
"""What was looked at, as it is noted."""

COVERED = "how many values of columns their hierarchies lack"
CONCERNED = "how many records a change of a hierarchy concerns"


def _wants(column: HierarchyColumn) -> bool:
    """Whether a column lacks a hierarchy that the method needs, or makes use of to protect."""
    wanted = column.need == "needed" or (column.need == "useful" and column.quasi)
    return wanted and not column.has


def _lacks(column: HierarchyColumn) -> bool:
    """Whether a column could do with a hierarchy: one that is needed, or that would be used."""
    return column.need != "unused" and not column.has


def _is_refused(column: HierarchyColumn) -> bool:
    """Whether a hierarchy is made from the rows and used, where the promise needs public ones."""
    return column.has and column.from_rows and column.need != "unused"


def _must_be_public(draft: Draft) -> bool:
    """Whether the promise of a recipe needs hierarchies that anybody could have written."""
    entry = chosen_entry(draft)
    return entry is not None and entry.assumes_public_choices(draft.section("method"))


def _standing(project: Project) -> Standing:
    """Whether columns lack a hierarchy that the method needs, by the recipe alone."""
    columns = columns_of(project.draft())
    if not columns:
        return Standing("todo")
    if any(column.need == "needed" and not column.has for column in columns):
        return Standing("needs", "a column has none")
    if _must_be_public(project.draft()) and any(map(_is_refused, columns)):
        return Standing("needs", "made from the rows")
    if any(map(_wants, columns)):
        return Standing("todo", "a column has none")
    return Standing("done")


STEP = Step("hierarchies", "Hierarchies", Zone.OWNER, _standing)


# The page of a column


@dataclass(frozen=True)
class BuilderForm:
    """A builder with the texts of its fields.

    origin: where the values come from: what anybody knows, or the rows
    staged: the name of an upload that is not used yet
    filled: whether the fields were just filled in from the rows
    """

    builder: str
    texts: Mapping[str, str]
    origin: Origin = "public"
    problems: Mapping[str, str] = field(default_factory=dict)
    start: Start | None = None
    staged: str = ""
    filled: bool = False


@router.get("")
def hierarchies(
    here: Annotated[Opened, Depends()],
    column: str = "",
    build: str = "",
    staged: str = "",
    saved: bool = False,
    taken: int = 0,
) -> HTMLResponse:
    """The hierarchy of a column, by default of the first that lacks one."""
    columns = columns_of(here.draft)
    if not columns:
        return here.page("hierarchies.html", at="hierarchies", columns=columns, column=None)
    if column:
        chosen = column_of(here.draft, column)
    else:
        chosen = next((one for one in columns if not one.has), columns[0])
    form = begun(here, chosen, build, staged)
    return column_page(here, chosen, form, saved=saved, taken=taken)


def begun(here: Opened, column: HierarchyColumn, build: str, staged: str = "") -> BuilderForm:
    """The form as the recipe has it, or as the column suggests.

    What the rows say is for owners: a builder that was filled in from them has their values, and
    a suggestion by how values are written says something about all of them.
    """
    origin: Origin = "rows" if column.from_rows else "public"
    if here.who.is_owner and column.builder == "file" and build != "file" and not staged:
        made = made_by(here.project, column)
        if made is not None and build in ("", made["build"]):
            return BuilderForm(made["build"], written(made["build"], made), origin)
    if column.builder and build in ("", column.builder) and not staged:
        return BuilderForm(column.builder, written(column.builder, column.section), origin)
    start = _start(here, column)
    builder = build if build in BUILDERS.names else str(start.section["build"])
    if staged:
        return BuilderForm("file", {**written("file", {}), "file": ""}, staged=staged)
    if builder == start.section["build"]:
        return BuilderForm(builder, written(builder, start.section), start=start)
    return BuilderForm(builder, written(builder, {}))


def _start(here: Opened, column: HierarchyColumn) -> Start:
    """What the name and type of a column suggest, and how its values are written.

    As with types, nothing else of the rows is looked at.
    """
    texts = None
    if not here.who.is_owner:
        return starting(column.name, column.kind)
    try:
        table = here.desk.tables.bare(here.project, here.draft)
        if column.name in table.names and not is_streamed(table):
            texts = texts_of(table, column.name)
    except ShoalError:
        # The file may be elsewhere for now.
        pass
    return starting(column.name, column.kind, texts=texts)


def column_page(
    here: Opened, column: HierarchyColumn, form: BuilderForm, *, status: int = 200, **more: Any
) -> HTMLResponse:
    """The page of a column with a form, and parts that were asked for without a script."""
    columns, public = columns_of(here.draft), _must_be_public(here.draft)
    names = [one.name for one in columns]
    after = columns[names.index(column.name) + 1 :]
    context = {
        "columns": columns,
        "column": column,
        "form": form,
        "fields": shown_fields(form.builder, form.texts),
        "titles": TITLES,
        "choices": CHOICES,
        "concerned": None,
        "listed": 0,
        "undoable": undoable(here.project, column.name),
        "lacking": next((one for one in [*after, *columns] if _wants(one)), None),
        "preview": None,
        "first": False,
        "saved": False,
        "taken": 0,
        "lack": sum(map(_lacks, columns)),
        "refused": [one.name for one in columns if _is_refused(one)] if public else [],
        "coverage": None,
        "covered": COVERED in figures_seen(here.project),
        **more,
    }
    return here.page("hierarchies.html", at="hierarchies", status=status, **context)


def _sent(here: Opened, given: FormData) -> tuple[HierarchyColumn, BuilderForm, dict[str, Any]]:
    """The column, the form as it was sent, and the section that it describes."""
    column = column_of(here.draft, str(given.get("column", "")))
    builder = str(given.get("build", ""))
    if builder not in BUILDERS.names:
        raise ParameterError("there is no such builder", "choose one from the list")
    texts = {
        one.name: ", ".join(str(part) for part in given.getlist(one.name))
        for one in fields(builder)
    }
    made = READY.get(texts.get("name", "")) if builder == "ready" else None
    if made is not None and texts["form"] not in made.forms:
        # It was a form of another list.
        texts["form"] = "usual"
    origin: Origin = "rows" if given.get("made_from") == "rows" else "public"
    staged = str(given.get("staged", ""))
    if staged:
        texts["file"] = staged_file(here.project, staged).relative_to(here.folder).as_posix()
    found = parsed(builder, texts)
    problems = dict(found.problems)
    if origin == "rows" and _asks_rows(builder, found.section):
        # What rows answer need not be written.
        for one in fields(builder):
            if one.of_domain:
                problems.pop(one.name, None)
    if staged:
        texts["file"] = ""
    return column, BuilderForm(builder, texts, origin, problems, staged=staged), found.section


def _asks_rows(builder: str, section: Mapping[str, Any]) -> bool:
    """Whether a section leaves the domain to the rows."""
    if builder in ("file", "group", "ready"):
        return False
    domain = {one.name for one in fields(builder) if one.of_domain} | {"length", "top", "bottom"}
    return not domain & section.keys()


def _tree(
    here: Opened, column: HierarchyColumn, form: BuilderForm, section: dict[str, Any]
) -> Hierarchy:
    """The hierarchy that a form describes."""
    if form.origin == "rows" and _asks_rows(form.builder, section):
        here.looked(SEEN)
        return derived_tree(here.desk.tables.bare(here.project), column.name, section)
    tree = TREES.of(here.draft, column.name, section)
    return as_derived(tree, tree.derived or form.origin == "rows")


# Suggestions


@dataclass(frozen=True)
class Suggestions:
    """What can be suggested for columns that have no hierarchy.

    public: sections that anybody could have written, by column
    others: columns for which only a person, or the rows, can say which values there are
    """

    public: Mapping[str, Mapping[str, Any]]
    others: tuple[str, ...]


def _suggestions(here: Opened) -> Suggestions:
    lacking = [column for column in columns_of(here.draft) if _lacks(column)]
    starts = {column.name: _start(here, column) for column in lacking}
    public = {name: start.section for name, start in starts.items() if start.is_whole}
    return Suggestions(public, tuple(name for name in starts if name not in public))


@router.get("/suggestions")
def suggestions(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """What can be taken for all columns at once that have no hierarchy."""
    if not here.is_part:
        page = "hierarchy_suggested_page.html"
        return here.page(page, at="hierarchies", suggested=_suggestions(here))
    return here.page("hierarchy_suggested.html", suggested=_suggestions(here))


@router.post("/take")
def take(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Take all suggestions that anybody could have written, or make the other ones from the rows.

    What cannot be made so is left out, and still stands among those that lack one.
    """
    found = _suggestions(here)
    taken = 0
    if given.get("made_from") != "rows":
        adopt_several(here, found.public)
        taken = len(found.public)
    else:
        table = here.desk.tables.bare(here.project)
        here.looked(SEEN)
        for name in found.others:
            try:
                section = section_from_rows(table, name)
                tree = TREES.of(here.draft, name, section)
            except ShoalError:
                continue
            put(here, name, as_derived(tree, True), by=section)
            taken += 1
    return here.go(here.address("hierarchies", taken=str(taken)))


# Preview


@dataclass(frozen=True)
class TreePreview:
    """What comes of a form: the levels of the hierarchy, and what changes against the saved one.

    wrong: what is wrong as a whole, with its fix
    """

    levels: tuple[Any, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    values: int = 0
    derived: bool = False
    too_large: int = 0
    wrong: tuple[str, str] | None = None
    warnings: tuple[str, ...] = ()
    changed: Difference | None = None


def _previewed(
    here: Opened, column: HierarchyColumn, form: BuilderForm, section: dict[str, Any]
) -> tuple[TreePreview, BuilderForm]:
    """The preview of a form, and the form with what is wrong beside its fields."""
    if form.problems:
        return TreePreview(), form
    size = size_of(section, column.kind)
    if size > LARGEST_PREVIEW:
        return TreePreview(too_large=size), form
    try:
        tree = _tree(here, column, form, section)
    except ShoalError as error:
        return _wrong(column, form, error)
    saved = _saved(here, column)
    warnings: tuple[str, ...] = ()
    if tree.leaves <= LARGEST_CHECK and not tree.derived:
        warnings = tuple(problems_of(tree.lines(), tree.kind).warnings)
    return TreePreview(
        levels=tuple(level_figures(tree)),
        paths=_examples(tree),
        values=tree.leaves,
        derived=tree.derived,
        warnings=warnings,
        changed=None if saved is None else difference(saved, tree),
    ), form


def _wrong(
    column: HierarchyColumn, form: BuilderForm, error: ShoalError
) -> tuple[TreePreview, BuilderForm]:
    """An error beside the field that it is about, or above the levels."""
    what, fix = error.what, error.fix
    for one in fields(form.builder):
        if error.option in (one.name, at(("hierarchies", column.name, one.name))):
            said = f"{what}; {fix}" if fix else what
            if error.given is not None:
                said = f"{error.given} {said}"
            return TreePreview(), replace(form, problems={**form.problems, one.name: said})
    return TreePreview(wrong=(what, fix)), form


def _saved(here: Opened, column: HierarchyColumn) -> Hierarchy | None:
    """The hierarchy that the recipe has; None if it has none, or one that cannot be made."""
    if not column.has or size_of(column.section, column.kind) > LARGEST_PREVIEW:
        return None
    try:
        return TREES.of(here.draft, column.name)
    except ShoalError:
        return None


def _examples(tree: Hierarchy) -> tuple[tuple[str, ...], ...]:
    """What some values become, level by level: the first, one in the middle, the last."""
    leaves = sorted({0, tree.leaves // 3, tree.leaves - 1})
    return tuple(
        tuple(labels[codes[leaf]] for labels, codes in zip(tree.labels, tree.maps, strict=True))
        for leaf in leaves
    )


@router.post("/preview")
def preview(here: Annotated[Opened, Depends()], given: Submitted) -> HTMLResponse:
    """What a form would make; nothing is saved."""
    column, form, section = _sent(here, given)
    shown, form = _previewed(here, column, form, section)
    if not here.is_part:
        return column_page(here, column, form, preview=shown)
    return here.page(
        "hierarchy_preview.html",
        column=column,
        form=form,
        fields=shown_fields(form.builder, form.texts),
        choices=CHOICES,
        preview=shown,
        concerned=None,
        part=True,
        first=bool(given.get("on_load")),
    )


@router.post("/concerned")
def concerned(here: Annotated[Opened, Depends()], given: Submitted) -> HTMLResponse:
    """How many records a change concerns; owner only."""
    column, form, section = _sent(here, given)
    saved = _saved(here, column)
    rows, table = 0, here.desk.tables.bare(here.project)
    if saved is not None and not form.problems:
        changed = difference(saved, _tree(here, column, form, section))
        rows = rows_having(table, column.name, changed.concerned)
    here.looked(CONCERNED)
    if not here.is_part:
        shown, form = _previewed(here, column, form, section)
        return column_page(here, column, form, preview=shown, concerned=(rows, table.rows))
    return here.page("hierarchy_concerned.html", concerned=(rows, table.rows))


# Saving


@router.post("/save")
def save(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Write what a form describes into the recipe, or into a file that the recipe names."""
    column, form, section = _sent(here, given)
    if given.get("fill"):
        return _filled(here, column, form)
    if not form.problems and not _is_declared_only(column, form, section):
        try:
            tree = _tree(here, column, form, section)
        except ShoalError as error:
            shown, form = _wrong(column, form, error)
            return column_page(here, column, form, preview=shown, status=422)
        if tree.derived or form.staged:
            put(here, column.name, tree, by=None if form.staged else section)
            forget_staged(here.project)
            return here.go(address_of(here, column))
    if form.problems:
        return column_page(here, column, form, preview=TreePreview(), status=422)
    adopt(here, column.name, section)
    return here.go(address_of(here, column))


def _is_declared_only(
    column: HierarchyColumn, form: BuilderForm, section: Mapping[str, Any]
) -> bool:
    """Whether a hierarchy is so large that it is only written down, and made when it is used."""
    large = size_of(section, column.kind) > LARGEST_PREVIEW
    return large and form.origin == "public" and not form.staged


def address_of(here: Opened, column: HierarchyColumn) -> str:
    """The address of a column's page after something was saved."""
    return here.address("hierarchies", column=column.name, saved="yes")


def _filled(here: Opened, column: HierarchyColumn, form: BuilderForm) -> HTMLResponse:
    """The form with the domain that the rows have, marked as such and not saved."""
    table = here.desk.tables.bare(here.project)
    keys = [key for key in table.keys(column.name) if key is not None]
    if not keys:
        raise ParameterError("the column has no values")
    kind = table.kind(column.name)
    texts, problems = dict(form.texts), {}
    if form.builder == "intervals" and kind in (Kind.INTEGER, Kind.FLOAT):
        made = written("intervals", section_from_rows(table, column.name))
        texts |= {name: made[name] for name in ("low", "high", "bottom", "top", "widths")}
    elif form.builder in ("intervals", "dates"):
        names = ("low", "high") if form.builder == "intervals" else ("first", "last")
        texts |= {names[0]: kind.text(keys[0]), names[1]: kind.text(keys[-1])}
    elif len(keys) > MOST_FILLED:
        name = "tree" if form.builder == "group" else "values"
        problems[name] = _TOO_MANY
    elif form.builder == "group":
        values = "".join(f"  {kind.text(key)}\n" for key in keys)
        texts["tree"] = here._("all others") + "\n" + values
    else:
        texts["values"] = "\n".join(kind.text(key) for key in keys)
    here.looked(SEEN)
    form = replace(form, texts=texts, origin="rows", problems=problems, filled=True)
    return column_page(here, column, form)


@router.post("/remove")
def remove(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Take the hierarchy of a column away."""
    column = column_of(here.draft, str(given.get("column", "")))
    adopt(here, column.name, None)
    return here.go(address_of(here, column))


@router.post("/undo")
def undo_change(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Take the last change of a column's hierarchy back."""
    column = column_of(here.draft, str(given.get("column", "")))
    undo(here, column.name)
    if given.get("back") == "tree":
        return here.go(here.address("hierarchies/tree", column=column.name))
    return here.go(address_of(here, column))


@router.post("/origin")
def origin(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Say that a hierarchy is public, or that it was made from the rows; or all that are."""
    column = column_of(here.draft, str(given.get("column", "")))
    from_rows = given.get("made_from") == "rows"
    concerned = [column]
    if given.get("all"):
        concerned = [one for one in columns_of(here.draft) if one.has and one.from_rows]
    for one in concerned:
        put(here, one.name, as_derived(TREES.of(here.draft, one.name), from_rows), from_rows=True)
    return here.go(address_of(here, column))


# Uploads


@router.post("/upload")
def upload(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Keep a file aside, to be looked at before it is used."""
    column = column_of(here.draft, str(given.get("column", "")))
    sent = given.get("upload")
    if not isinstance(sent, UploadFile) or not sent.filename:
        raise ParameterError("no file was chosen", "choose a CSV file")
    name = stage(here.project, sent.file.read())
    return here.go(here.address("hierarchies", column=column.name, build="file", staged=name))
