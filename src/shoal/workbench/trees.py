"""The hierarchies of a project: made once, written into its folder, and taken back.

A tree that was edited, uploaded or made from rows becomes a CSV file in the folder `hierarchies`;
what a builder makes stays a section of the recipe. Every change can be undone. Uses `recipe` and
`pages`; the screen of hierarchies uses it.
"""

import datetime as dt
import math
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.data import disk
from shoal.data.hierarchy import READY, Hierarchy, build
from shoal.data.hierarchy.lines import derived_note, read_lines, write
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Table
from shoal.data.toml import at, plain_values
from shoal.errors import ParameterError
from shoal.recipe.editing import Draft
from shoal.recipe.hierarchies import Need, hierarchy_in, is_from_rows, needs
from shoal.recipe.schema import BUILDERS, PLACEHOLDER
from shoal.workbench.looking import figures_seen
from shoal.workbench.pages import Opened
from shoal.workbench.projects import Project

__all__ = [
    "FOLDER",
    "TREES",
    "HierarchyColumn",
    "Trees",
    "adopt",
    "adopt_several",
    "as_derived",
    "column_of",
    "columns_of",
    "derived_tree",
    "forget_staged",
    "made_by",
    "put",
    "size_of",
    "stage",
    "staged_file",
    "undo",
    "undoable",
]

FOLDER = "hierarchies"
"""Where a project keeps hierarchies that are files."""

_UPLOADS = "uploads"
"""Where, among what only the workbench needs, uploads wait."""

_KEPT = 12
"""Trees that are kept in memory."""

_MADE_BY = "hierarchy-builders"
"""The note on which builder made the file of a column."""

_UNDOABLE = 20
"""Changes of a project that can be taken back."""


class Trees:
    """Hierarchies that were made, kept while what they are made of stays the same."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Hierarchy] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, draft: Draft, column: str, section: Mapping[str, Any] | None = None) -> Hierarchy:
        """The hierarchy of a column, or the one that another section would make."""
        if section is None:
            section = draft.section("hierarchies", column)
        key = _key(draft, column, section)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        tree = hierarchy_in(draft, column, section)
        self._keep(key, tree)
        return tree

    def know(self, draft: Draft, column: str, tree: Hierarchy) -> None:
        """Keep the tree that was just written for a column: reading it would take long."""
        section = draft.section("hierarchies", column)
        kind = section.get("kind") or draft.get("source", "types", column) or Kind.TEXT
        if kind == tree.kind:
            self._keep(_key(draft, column, section), tree)

    def _keep(self, key: tuple[Any, ...], tree: Hierarchy) -> None:
        with self._lock:
            self._kept[key] = tree
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def _key(draft: Draft, column: str, section: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a hierarchy is made of."""
    declared = draft.get("source", "types", column)
    return str(draft.path), column, declared, repr(section), *_stamps(draft, section)


TREES = Trees()
"""Those of this process."""


def _stamps(draft: Draft, section: Mapping[str, Any]) -> list[object]:
    """What changes when the file of a hierarchy does, or the note beside it."""
    file = section.get("file")
    if not isinstance(file, str):
        return []
    stamps: list[object] = []
    for path in (draft.path.parent / file, derived_note(draft.path.parent / file)):
        try:
            status = path.stat()
            stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
        except (OSError, ValueError):
            stamps.append(None)
    return stamps


def size_of(section: Mapping[str, Any], declared: Kind | None = None) -> int:
    """About how many values a builder would make; 0 if only making it can tell.

    declared: the type of the column
    """
    kind = section.get("kind") or declared
    try:
        match section.get("build"):
            case "mask" if "values" not in section:
                return _texts_of(section.get("length"), section.get("alphabet", "0123456789"))
            case "intervals" if kind != Kind.FLOAT or "step" in section:
                low = float(section["low"] if "low" in section else section["bottom"])
                high = float(section["high"] if "high" in section else section["top"])
                return int((high - low) / float(section.get("step", 1)))
            case "ready" if "values" not in section:
                made = READY[section["name"]]
                return made.forms[section.get("form", made.form)].size
            case "dates":
                first, last = (dt.date.fromisoformat(section[end]) for end in ("first", "last"))
                return (last - first).days
    except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        pass
    return 0


def _texts_of(length: int | None, alphabet: str | Sequence[str]) -> int:
    """How many texts there are of a length, or with an alphabet for each place."""
    if isinstance(alphabet, str):
        return int(len(alphabet) ** min(length or 0, 99))
    return math.prod(map(len, alphabet))


# Columns


@dataclass(frozen=True)
class HierarchyColumn:
    """A column that may be released, and its hierarchy so far.

    from_rows: whether that was made from the rows of a table
    """

    name: str
    role: str
    need: Need
    kind: Kind | None
    section: Mapping[str, Any]
    from_rows: bool

    @property
    def quasi(self) -> bool:
        """Whether others may know it about a person."""
        return self.role == "quasi"

    @property
    def has(self) -> bool:
        """Whether it has a hierarchy without a "?"."""
        open_places = (value for _, value in plain_values(self.section) if value == PLACEHOLDER)
        return bool(self.section) and next(open_places, None) is None

    @property
    def builder(self) -> str:
        """How the hierarchy is made; empty if there is none."""
        if "file" in self.section:
            return "file"
        build = self.section.get("build")
        return build if isinstance(build, str) and build in BUILDERS.names else ""


def columns_of(draft: Draft) -> list[HierarchyColumn]:
    """The columns that may be released, those that need a hierarchy first."""
    types, roles = draft.section("source", "types"), draft.section("roles")
    found = []
    for name, need in needs(draft).items():
        declared = types.get(name)
        kind = Kind(declared) if declared in set(Kind) else None
        section = draft.section("hierarchies", name)
        found.append(
            HierarchyColumn(name, roles[name], need, kind, section, is_from_rows(draft, name))
        )
    order = ("needed", "useful", "unused")
    return sorted(found, key=lambda column: (order.index(column.need), not column.quasi))


def column_of(draft: Draft, name: str) -> HierarchyColumn:
    """A column of a project; ParameterError if it may not be released."""
    for column in columns_of(draft):
        if column.name == name:
            return column
    raise ParameterError("there is no such column to generalise", "choose one from the list")


# Trees of rows


@dataclass(frozen=True)
class _RowsOfColumn:
    """A column as `derive` looks at it."""

    name: str
    kind: Kind
    keys: Sequence[Key | None]


def derived_tree(table: Table, column: str, section: Mapping[str, Any]) -> Hierarchy:
    """What a builder makes of the values that a column has, marked as derived."""
    options = {name: value for name, value in section.items() if name != "build"}
    make = BUILDERS.thing(section["build"])
    if make not in (build.intervals, build.dates, build.mask, build.order, build.suppress):
        raise ParameterError("this takes values that you write", "write them down")
    rows = _RowsOfColumn(column, table.kind(column), table.keys(column))
    return build.derive(rows, make, **options)


# Uploads


def stage(project: Project, content: bytes) -> str:
    """Keep an upload aside until it is used; its name. FileError if it is not a CSV file at all."""
    forget_staged(project)
    name = f"{secrets.token_hex(4)}.csv"
    folder = project.hidden / _UPLOADS
    folder.mkdir(mode=0o700, exist_ok=True)
    with disk.replacing(folder / name) as file:
        file.write(content)
    read_lines(folder / name)
    return name


def staged_file(project: Project, name: str) -> Path:
    """An upload that is not used yet; ParameterError if it is not there."""
    for path in (project.hidden / _UPLOADS).glob("*.csv"):
        if path.name == name:
            return path
    raise ParameterError("the upload is no longer there", "upload the file again")


def forget_staged(project: Project) -> None:
    """Throw uploads away that were not used, or are by now."""
    for path in (project.hidden / _UPLOADS).glob("*.csv"):
        path.unlink(missing_ok=True)


# Writing and undoing


def adopt(here: Opened, column: str, section: Mapping[str, Any] | None) -> None:
    """Make a section that of a column in the recipe; None takes its hierarchy away."""
    _remember(here.project, column)
    _decide(here, column, section)


def adopt_several(here: Opened, sections: Mapping[str, Mapping[str, Any]]) -> None:
    """Make sections those of several columns in the recipe, at once."""
    for column in list(sections)[-_UNDOABLE:]:
        _remember(here.project, column)
    with here.deciding() as draft:
        for column, section in sections.items():
            draft.set("hierarchies", column, to=dict(section))


def put(
    here: Opened,
    column: str,
    tree: Hierarchy,
    *,
    from_rows: bool = False,
    by: Mapping[str, Any] | None = None,
) -> Path:
    """Write a tree into the folder of the project, and name it in the recipe; its file.

    from_rows: whether rows had a say in it, though it may not be derived any more
    by: the section of the builder that made it, so that it can be gone on with
    """
    project, draft = here.project, here.draft
    _remember(project, column)
    path = _place(project, draft, column)
    path.parent.mkdir(exist_ok=True)
    write(tree, path)
    section = {"file": path.relative_to(project.folder).as_posix()}
    if tree.kind is not Kind.TEXT and draft.get("source", "types", column) != tree.kind.value:
        section["kind"] = tree.kind.value
    # The section may be what it was, and its file is not.
    late = from_rows or tree.derived or bool(figures_seen(project))
    _decide(here, column, section, late=late)
    TREES.know(here.draft, column, tree)
    if by is not None:
        with project.noting(_MADE_BY) as noted:
            noted[column] = {"section": dict(by), "digest": _digest(path)}
    return path


def made_by(project: Project, column: HierarchyColumn) -> dict[str, Any] | None:
    """The section of the builder that made the file of a column; None if it was changed since."""
    noted = (project.note(_MADE_BY, dict) or {}).get(column.name)
    file = column.section.get("file")
    if not isinstance(noted, dict) or not isinstance(file, str):
        return None
    section = noted.get("section")
    if not isinstance(section, dict) or section.get("build") not in BUILDERS.names:
        return None
    return section if noted.get("digest") == _digest(project.folder / file) else None


def _digest(path: Path) -> str | None:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _decide(
    here: Opened, column: str, section: Mapping[str, Any] | None, *, late: bool = False
) -> None:
    places = [at(("hierarchies", column))] if late else []
    with here.deciding(*places) as draft:
        draft.set("hierarchies", column, to=None if section is None else dict(section))
    derived = [name for name in draft.section("hierarchies") if is_from_rows(draft, name)]
    here.project.keep("hierarchies-from-rows", derived)


def _place(project: Project, draft: Draft, column: str) -> Path:
    """The file for the tree of a column: its own, or a new one.

    No file is replaced that another column uses, or that an earlier release was made by.
    """
    folder = project.folder / FOLDER
    files: dict[str, Path] = {
        name: project.folder / section["file"]
        for name, section in draft.section("hierarchies").items()
        if isinstance(section, Mapping) and isinstance(section.get("file"), str)
    }
    own = files.pop(column, None)
    if own is not None and own.parent == folder and own not in files.values():
        newest = max((path.stat().st_mtime for path in project.releases), default=0.0)
        if not own.exists() or own.stat().st_mtime > newest:
            return own
    stem = re.sub(r"[^\w-]+", "-", column).strip("-_")[:60] or "column"
    number = 1
    while True:
        path = folder / (f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv")
        if not path.exists() and path not in files.values():
            return path
        number += 1


def _remember(project: Project, column: str) -> None:
    """Keep what a column has now, so that the next change can be taken back."""
    draft = project.draft()
    section = draft.section("hierarchies", column)
    noted = list(project.note("hierarchy-undo", list) or [])
    entry: dict[str, Any] = {"column": column, "section": section or None}
    file = section.get("file")
    if isinstance(file, str) and (project.folder / file).parent == project.folder / FOLDER:
        with suppress(OSError):
            number = max((one.get("number", 0) for one in noted), default=0) + 1
            content = (project.folder / file).read_bytes()
            entry["derived"] = derived_note(project.folder / file).exists()
            with disk.replacing(_copy(project, number)) as kept:
                kept.write(content)
            entry["number"] = number
    noted.append(entry)
    for old in noted[:-_UNDOABLE]:
        _copy(project, old.get("number", 0)).unlink(missing_ok=True)
    project.keep("hierarchy-undo", noted[-_UNDOABLE:])


def _copy(project: Project, number: int) -> Path:
    return project.hidden / f"hierarchy-undo-{number}.csv"


def undoable(project: Project, column: str) -> bool:
    """Whether a change of a column's hierarchy can be taken back."""
    return any(entry["column"] == column for entry in project.note("hierarchy-undo", list) or [])


def undo(here: Opened, column: str) -> None:
    """Take the last change of a column's hierarchy back."""
    project = here.project
    noted = list(project.note("hierarchy-undo", list) or [])
    for place in reversed(range(len(noted))):
        if noted[place]["column"] == column:
            break
    else:
        raise ParameterError("there is nothing to undo")
    entry = noted.pop(place)
    section = entry["section"]
    # The section may be what it is, and its file is not.
    late = "number" in entry and bool(entry["derived"] or figures_seen(project))
    if "number" in entry:
        copy, path = _copy(project, entry["number"]), project.folder / section["file"]
        with disk.replacing(path) as file:
            file.write(copy.read_bytes())
        note = derived_note(path)
        if entry["derived"] and not note.exists():
            note.write_text("Derived from the rows of a table.\n", encoding="utf-8")
        elif not entry["derived"]:
            note.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
    _decide(here, column, section, late=late)
    project.keep("hierarchy-undo", noted)


def as_derived(tree: Hierarchy, derived: bool) -> Hierarchy:
    """The same tree, marked as made from rows or not."""
    return tree if tree.derived == derived else replace(tree, derived=derived)
