"""What the screen of the data shows: the source as it is, and what was found in its columns.

What is left to decide is noted, so that the steps beside every screen know it without reading the
table. Uses `pages`, `tables` and `work`; `data` shows it.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.data.file_options import FileOptions
from shoal.data.findings import ColumnFinding, FoundColumn
from shoal.data.formats import READING
from shoal.data.kinds import Kind
from shoal.data.layouts import SourceLayout, look
from shoal.data.tables import Table
from shoal.errors import FileError, ShoalError
from shoal.recipe.editing import Draft, editing
from shoal.recipe.schema import PLACEHOLDER
from shoal.workbench.jobs import Job
from shoal.workbench.looking import figures_seen
from shoal.workbench.pages import Opened
from shoal.workbench.projects import Project
from shoal.workbench.steps import Standing
from shoal.workbench.tables import Tables, is_streamed, place_of
from shoal.workbench.work.findings import found_in

__all__ = [
    "FIGURES",
    "DataColumn",
    "ShownTable",
    "found_part",
    "leave",
    "missing_texts",
    "put_missing_texts",
    "source_part",
    "standing_of",
]

FIGURES = "numbers of rows, of missing values and of different values"
"""What was looked at by somebody who has asked for the figures of columns."""

_OPEN = "columns"
"""The note on what is left to decide about columns."""

_LEFT = "columns-left"
"""The note on what somebody has seen about columns, and leaves unchanged."""


@dataclass(frozen=True)
class DataColumn:
    """A column in the list.

    declared: its type in the recipe; None if the recipe does not say
    missing_texts: texts that the recipe counts as missing in it
    left: what somebody has seen about it and leaves unchanged, by codes of findings
    """

    found: FoundColumn
    declared: Kind | None
    missing_texts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The type that it is read by."""
        return self.declared or (self.found.kind if self.is_stored else Kind.TEXT)

    @property
    def is_stored(self) -> bool:
        """Whether the file itself says the type."""
        return self.found.why.code == "stored"

    @property
    def better(self) -> Kind | None:
        """The type that would fit better: the one that was found, if it is another."""
        return self.found.kind if self.found.kind is not self.kind else None

    @property
    def wrong(self) -> list[ColumnFinding]:
        """What has to be mended."""
        return [one for one in self.found.oddities if one.wording.weight == "wrong"]

    @property
    def odd(self) -> list[ColumnFinding]:
        """What should be looked at, and what is worth knowing."""
        return [one for one in self.found.oddities if one.wording.weight != "wrong"]

    @property
    def undecided(self) -> list[ColumnFinding]:
        """What is odd, and was neither mended nor left as it is by somebody who has seen it."""
        return [
            one for one in self.odd if one.wording.weight == "odd" and one.code not in self.left
        ]

    @property
    def suggested(self) -> list[ColumnFinding]:
        """What is undecided, and can be read in one way other than it is."""
        one_way = ("decimal comma", "stand-ins")
        return [
            one
            for one in self.undecided
            if one.forms and (one.code in one_way or len(one.forms) == 1)
        ]


@dataclass(frozen=True)
class ShownTable:
    """What was found in a table.

    seen: the rows that were looked at, if not all were
    is_headless: whether the names seem to be a record; then columns are not shown
    engine: what counts rows that are not in memory; empty if they are
    added, gone: columns that the recipe does not name, and that the file does not have
    with_figures: whether numbers of rows and values may be shown: somebody has asked for them
    problem: why the table cannot be read; then there is nothing else
    """

    columns: tuple[DataColumn, ...] = ()
    rows: int | None = None
    seen: int | None = None
    is_headless: bool = False
    engine: str = ""
    missing: str = "category"
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    job: Job | None = None
    with_figures: bool = False
    problem: ShoalError | None = None

    @property
    def with_missing(self) -> list[DataColumn]:
        """The columns that have missing values."""
        return [column for column in self.columns if column.found.missing]

    @property
    def to_mend(self) -> list[DataColumn]:
        """The columns that are read wrongly."""
        return [column for column in self.columns if column.wrong]

    @property
    def to_look_at(self) -> list[DataColumn]:
        """The columns about which something is odd that nobody has decided yet."""
        return [one for one in self.columns if one.undecided and not one.wrong]

    @property
    def to_take(self) -> list[DataColumn]:
        """The columns that would be read otherwise, if all suggestions were taken."""
        return [one for one in self.columns if one.suggested]

    @property
    def is_odd(self) -> bool:
        """Whether something about a column is odd, be it decided or not."""
        weights = [one.wording.weight for column in self.columns for one in column.odd]
        return "odd" in weights

    @property
    def in_all(self) -> list[str]:
        """The texts that count as missing in every column."""
        first, *others = [column.missing_texts for column in self.columns] or [()]
        return [text for text in first if all(text in texts for texts in others)]

    @property
    def stand_ins(self) -> list[tuple[str, list[str]]]:
        """Texts such as NA that several columns count as values, each with these columns."""
        names: dict[str, list[str]] = {}
        for column in self.columns:
            for finding in column.odd:
                for text in finding.forms if finding.code == "stand-ins" else ():
                    names.setdefault(text, []).append(column.found.name)
        return [(text, found) for text, found in names.items() if len(found) > 1]

    @property
    def open_end(self) -> str:
        """What is left to decide, in a few words; empty if nothing is."""
        if self.problem is not None:
            return "the table cannot be read"
        if self.added or self.gone:
            return "other columns than before"
        if self.to_mend:
            return "columns to fix"
        if self.missing == "refuse" and self.with_missing:
            return "missing values are refused"
        return "columns to decide" if self.to_look_at else ""


def source_part(here: Opened) -> tuple[str | Path | None, SourceLayout | None, SourceLayout | None]:
    """Where the source is, how it is read, and how it would be if nothing were declared."""
    source = here.draft.section("source")
    try:
        place = place_of(here.project, source)
    except ShoalError:
        return None, None, None
    detected = look(place)
    given = {key: source.get(key) for key in READING}
    try:
        options = FileOptions.of(**given)
    except ShoalError:
        return place, detected, detected
    declared = detected if given == _said(detected) else look(place, options)
    return place, declared, detected


def _said(layout: SourceLayout) -> Mapping[str, Any]:
    return {key: layout.reading.get(key) for key in READING}


def found_part(here: Opened, *, settle: bool = False) -> ShownTable:
    """What was found in the table.

    settle: types that are undecided become those that were found
    """
    shown = _found(here, settle)
    if not shown.is_headless:
        note = {"open": shown.open_end, "of": _stamp(here.project, here.draft)}
        if here.project.note(_OPEN) != note:
            # On a full disk the columns can still be looked at.
            with suppress(FileError):
                here.project.keep(_OPEN, note)
    return shown


def standing_of(project: Project, draft: Draft) -> Standing:
    """What is left to decide about columns, as far as somebody has looked at them."""
    noted = project.note(_OPEN, dict)
    if noted is None:
        return Standing("done")
    if noted.get("of") != _stamp(project, draft):
        return Standing("todo", "changed since you looked")
    ends = str(noted.get("open", ""))
    return Standing("needs", ends) if ends else Standing("done")


def _stamp(project: Project, draft: Draft) -> str:
    """What changes whenever something else could be found in the columns."""
    try:
        known = Tables.stamp(project, draft)
    except ShoalError:
        known = ""
    return sha256(repr((known, draft.columns)).encode()).hexdigest()


def leave(here: Opened, names: Iterable[str]) -> None:
    """Note that somebody has seen what is odd about columns, and leaves it as it is."""
    shown = found_part(here)
    noted = {"source": here.draft.get("source", "path"), "columns": _left(here)}
    for column in shown.columns:
        if column.found.name in names:
            codes = [one.code for one in column.odd]
            noted["columns"][column.found.name] = sorted({*codes, *column.left})
    here.project.keep(_LEFT, noted)


def _left(here: Opened) -> dict[str, list[str]]:
    """What is left as it is, by columns; what was said of another file does not count."""
    noted = here.project.note(_LEFT, dict) or {}
    columns = noted.get("columns")
    is_same = noted.get("source") == here.draft.get("source", "path")
    return dict(columns) if is_same and isinstance(columns, dict) else {}


def _found(here: Opened, settle: bool) -> ShownTable:
    tables, project = here.desk.tables, here.project
    try:
        table = tables.bare(project)
        if not here.draft.columns and table.is_headless:
            return ShownTable(is_headless=True, rows=table.rows)
        found, through, job = tables.columns(project), None, None
        if is_streamed(table):
            through, job = _looked_through(here)
    except ShoalError as error:
        return ShownTable(problem=error)
    found = through or found
    if settle:
        _settle(here, found)
    draft = here.draft
    types = draft.section("source", "types")
    texts, left = missing_texts(draft, table.names), _left(here)
    names, named = set(table.names), draft.columns
    looked_at = found[0].rows if found else 0
    is_part = is_streamed(table) and through is None
    return ShownTable(
        columns=tuple(
            DataColumn(
                one,
                _kind(types.get(one.name)),
                tuple(texts.get(one.name, ())),
                tuple(left.get(one.name, ())),
            )
            for one in found
        ),
        rows=None if is_part else looked_at,
        seen=looked_at if is_part else None,
        engine=_engine(table),
        missing=draft.get("missing") or "category",
        added=tuple(name for name in table.names if name not in named),
        gone=tuple(name for name in named if name not in names),
        job=job,
        with_figures=FIGURES in figures_seen(project),
    )


def missing_texts(draft: Draft, names: Iterable[str]) -> dict[str, list[str]]:
    """The texts that a recipe counts as missing, by column; those of all columns are of each."""
    said = draft.get("source", "missing_texts") or {}
    return dict(said) if isinstance(said, Mapping) else {name: list(said) for name in names}


def put_missing_texts(draft: Draft, names: Iterable[str], texts: Mapping[str, list[str]]) -> None:
    """Write the texts that count as missing: once if they are those of all columns."""
    every = [texts.get(name, []) for name in names]
    if every and all(one == every[0] for one in every):
        draft.set("source", "missing_texts", to=every[0] or None)
        return
    said = {name: some for name, some in texts.items() if some}
    draft.set("source", "missing_texts", to=said or None)


def _looked_through(here: Opened) -> tuple[tuple[FoundColumn, ...] | None, Job | None]:
    """What a job found in all rows, and the newest such job; neither is of another file."""
    version = here.desk.tables.version(here.project)
    types = here.draft.section("source", "types")
    for job in here.desk.jobs.of(here.project, "findings"):
        if job.task.get("arguments", {}).get("version") != version:
            continue
        if job.state != "done":
            return None, job
        then = job.result.get("types", {})
        found = [
            one if types.get(one.name) == then.get(one.name) else _without_misfits(one)
            for one in found_in(job.result)
        ]
        return tuple(found), job
    return None, None


def _without_misfits(column: FoundColumn) -> FoundColumn:
    """What was found in a column, but for what was about a type that it had then."""
    kept = [one for one in column.oddities if one.code not in ("misfits", "loses zeros")]
    return replace(column, oddities=tuple(kept))


def _settle(here: Opened, found: tuple[FoundColumn, ...]) -> None:
    """Write down what is undecided about columns and follows from what was found."""
    with editing(here.project.recipe) as draft:
        if not draft.columns:
            draft.align(one.name for one in found)
        draft.settle_types({one.name: one.kind for one in found})
    here.__dict__.pop("draft", None)


def _engine(table: Table) -> str:
    """What counts rows that are not in memory."""
    if not is_streamed(table):
        return ""
    return str(getattr(getattr(table.source, "engine", None), "name", "")) or "?"


def _kind(given: object) -> Kind | None:
    return None if given in (None, PLACEHOLDER) else Kind.of(str(given))
