"""What the screen of the data shows: the source as it is, and what was found in its columns.

Uses `pages`, `tables` and `work`; `data` shows it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.data.file_options import FileOptions
from shoal.data.findings import ColumnFinding, FoundColumn
from shoal.data.formats import READING
from shoal.data.kinds import Kind
from shoal.data.layouts import SourceLayout, look
from shoal.data.tables import Table
from shoal.errors import ShoalError
from shoal.recipe.editing import Draft, editing
from shoal.recipe.schema import PLACEHOLDER
from shoal.workbench.jobs import Job
from shoal.workbench.looking import figures_seen
from shoal.workbench.pages import Opened
from shoal.workbench.tables import is_streamed, place_of
from shoal.workbench.work.findings import found_in

__all__ = ["FIGURES", "DataColumn", "ShownTable", "found_part", "missing_texts", "source_part"]

FIGURES = "numbers of rows, of missing values and of different values"
"""What was looked at by somebody who has asked for the figures of columns."""


@dataclass(frozen=True)
class DataColumn:
    """A column in the list.

    declared: its type in the recipe; None if the recipe does not say
    missing_texts: texts that the recipe counts as missing in it
    """

    found: FoundColumn
    declared: Kind | None
    missing_texts: tuple[str, ...] = ()

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
        """The columns about which something is odd."""
        odd = [one for one in self.columns if any(odd.wording.weight == "odd" for odd in one.odd)]
        return [one for one in odd if one not in self.to_mend]


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
    texts = missing_texts(draft, table.names)
    names, named = set(table.names), draft.columns
    looked_at = found[0].rows if found else 0
    is_part = is_streamed(table) and through is None
    return ShownTable(
        columns=tuple(
            DataColumn(one, _kind(types.get(one.name)), tuple(texts.get(one.name, ())))
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
