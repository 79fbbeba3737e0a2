"""What comes after a release: its files, verifying them, reports, and the same again by other ways.

Uses `releases`, `report` and `recipe`; `release` has its routes. What may be downloaded are the
released files and their certificate, and reports.
"""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import FileResponse, HTMLResponse, Response

from shoal.data.frames import RowsWithCounts
from shoal.errors import ParameterError, ShoalError
from shoal.releases.certificate import Certificate
from shoal.releases.release import CERTIFICATE, Release, certificate_in, released_files
from shoal.workbench.candidates import CandidateFolder, KeptCandidate
from shoal.workbench.jobs import Job
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.work.release import recipe_behind
from shoal.workbench.work.report import named, place_of

if TYPE_CHECKING:
    from shoal.ledger.account import Account
    from shoal.recipe import Recipe

__all__ = ["blocks", "history", "router"]

router = APIRouter()

_POLICY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
"""A page of its own has its styles inside, and nothing that runs."""

_SHOWN_ROWS = 8
"""Rows of a release that are shown."""

_SHOWN_COLUMNS = 30
"""Columns of a release that are shown."""

_AT_ONCE = 20_000_000
"""Bytes of a release that are read without being asked."""

_LISTED = 20
"""Files of a release that are listed."""

_MEDIA = {".html": "text/html; charset=utf-8", ".pdf": "application/pdf", ".csv": "text/csv"}


@dataclass(frozen=True)
class Past:
    """A release of the project.

    entry: its number in the ledger; None if that does not have it
    """

    folder: Path
    certificate: Certificate
    entry: int | None
    override: str | None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def promise(self) -> str:
        """What it promises, in short."""
        from shoal.studies.promised import in_short

        return in_short(self.certificate)

    @property
    def when(self) -> str:
        """When its certificate was written, by the clock of this machine."""
        written = (self.folder / CERTIFICATE).stat().st_mtime
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(written))


def history(here: Opened) -> list[Past]:
    """All releases of the project, the newest first, whoever made them."""
    account = _account(here)
    found = [(path, certificate_in(path)) for path in here.project.releases]
    return [_past(path, paper, account) for path, paper in found if paper is not None]


def _past(folder: Path, certificate: Certificate, account: "Account | None") -> Past:
    done = [] if account is None else list(account.completed.values())
    for entry in done:
        if entry.facts.release == certificate.number:
            return Past(folder, certificate, entry.facts.reserved, entry.facts.override)
    return Past(folder, certificate, None, None)


def _account(here: Opened) -> "Account | None":
    """What is in the ledger of the recipe, if that can be read."""
    from shoal.ledger import Ledger

    path = here.draft.get("ledger", "path")
    if not isinstance(path, str):
        return None
    try:
        return Ledger(here.folder / path).account()
    except ShoalError:
        return None


def _one(here: Opened, name: str) -> Past:
    folder = here.project.release(name)
    certificate = certificate_in(folder)
    if certificate is None:
        raise ParameterError("there is no such release in this project", "choose one from the list")
    return _past(folder, certificate, _account(here))


@router.get("/made/{name}")
def made(here: Annotated[Opened, Depends()], name: str) -> HTMLResponse:
    """A release: what it is, and all that can be done with it."""
    past = _one(here, name)
    files = released_files(past.folder)
    checks = _jobs(here, "verify", past)
    reporting = _jobs(here, "report", past)
    return here.page(
        "release_made.html",
        at="release",
        past=past,
        files=[(file.name, file.stat().st_size) for file in files[:_LISTED]],
        number_of_files=len(files),
        at_once=_size(files) <= _AT_ONCE,
        measured=_measured(here, past),
        check=checks[0] if checks else None,
        reporting=reporting[0] if reporting and reporting[0].state != "done" else None,
        reports=[_Report(here, past, one) for one in _kinds()],
        printer=find_spec("weasyprint") is not None,
        code=_again(here, past),
        others=len(here.project.releases) - 1,
    )


def _size(files: list[Path]) -> int:
    """The bytes of the released tables."""
    return sum(file.stat().st_size for file in files if file.name != CERTIFICATE)


def _measured(here: Opened, past: Past) -> KeptCandidate | None:
    """The release as it was compared with the input as it is now; None if it was not.

    What was measured of another one, which had its name and is gone, is not about this one.
    """
    written = (past.folder / CERTIFICATE).stat().st_mtime
    for one in reversed(CandidateFolder(here.project).current()):
        is_named = one.method is None and one.made.released == f"release {past.name}"
        if is_named and one.when >= written:
            here.looked("candidates")
            return one
    return None


def _jobs(here: Opened, kind: str, past: Past) -> list[Job]:
    """The jobs about a release, the newest first: its number changes when it is replaced."""
    found = here.desk.jobs.of(here.project, kind)
    return [
        job
        for job in found
        if job.task.get("arguments", {}).get("number") == past.certificate.number
    ]


# What is in it


@dataclass(frozen=True)
class RowsInShort:
    """The released table in short: its shape, and the rows that it has most often.

    names: the columns that are shown, of all
    frequent: how often a row is there, and its values
    """

    rows: int
    columns: int
    names: tuple[str, ...]
    frequent: tuple[tuple[int, tuple[str, ...]], ...]
    further: tuple[str, ...]


def rows_of(folder: Path) -> RowsInShort:
    """What a release has, as its files show it."""
    import narwhals as nw

    release = Release.read(folder)
    held = RowsWithCounts.of(release.rows)
    frame = nw.from_native(held.frame, eager_only=True)
    names = frame.columns
    often = next(name for name in ("n", "n_", "n__") if name not in names)
    counts = nw.new_series(often, held.count, backend=frame.implementation)
    counted = frame.with_columns(counts).group_by(names).agg(nw.col(often).sum())
    first = counted.sort(often, *names, descending=[True, *(False for _ in names)], nulls_last=True)
    shown = names[:_SHOWN_COLUMNS]
    frequent = tuple(
        (int(row[often]), tuple("" if row[name] is None else str(row[name]) for name in shown))
        for row in first.head(_SHOWN_ROWS).iter_rows(named=True)
    )
    rows, columns = held.shape
    return RowsInShort(rows, columns, tuple(shown), frequent, tuple(release.further))


@router.get("/made/{name}/rows")
def rows(here: Annotated[Opened, Depends()], name: str) -> HTMLResponse:
    """What is in the released table, for anyone."""
    past = _one(here, name)
    template = "release_rows.html" if here.is_part else "release_rows_page.html"
    return here.page(template, at="release", past=past, table=rows_of(past.folder))


# Files


@router.get("/made/{name}/file/{file}")
def download(here: Annotated[Opened, Depends()], name: str, file: str) -> Response:
    """A file of a release, and no other."""
    folder = here.project.release(name)
    for path in released_files(folder):
        if path.name == file:
            media = _MEDIA.get(path.suffix, "application/octet-stream")
            return FileResponse(path, filename=f"{folder.name}-{file}", media_type=media)
    raise ParameterError("the release has no such file", "choose one from the list")


@router.get("/made/{name}/certificate")
def certificate(here: Annotated[Opened, Depends()], name: str) -> HTMLResponse:
    """The certificate for people."""
    from shoal.releases.certificate_page import certificate_page
    from shoal.studies.promised import in_order

    past = _one(here, name)
    return HTMLResponse(certificate_page(in_order(past.certificate)), headers=_POLICY)


@router.post("/made/{name}/verify")
def verify(here: Annotated[Opened, Depends()], name: str) -> Response:
    """Verify the files."""
    past = _one(here, name)
    arguments = {"release": past.name, "number": past.certificate.number}
    here.desk.jobs.start(here.project, "verify", arguments, here.who.name)
    return here.go(here.address(f"release/made/{past.name}"))


# Reports


@dataclass(frozen=True)
class _Report:
    """A report on a release, which may have been made."""

    here: Opened
    past: Past
    kind: tuple[str, str]

    @property
    def audience(self) -> str:
        """Who may read it."""
        return self.kind[0]

    @property
    def form(self) -> str:
        """The form that it fills in; empty if it is none."""
        return self.kind[1]

    @property
    def title(self) -> str:
        """The document that the form follows."""
        from shoal.report.committees import framework

        return framework(self.form).title if self.form else ""

    @property
    def files(self) -> list[Path]:
        """Those that were made since the release was."""
        since = (self.past.folder / CERTIFICATE).stat().st_mtime
        stem = named(self.past.name, self.audience, self.form)
        folder = place_of(self.here.project)
        made = [folder / f"{stem}{ending}" for ending in (".html", ".pdf")]
        return [path for path in made if path.is_file() and path.stat().st_mtime >= since]


def _kinds() -> list[tuple[str, str]]:
    from shoal.report.committees import FRAMEWORKS

    return [("public", ""), ("owner", ""), *(("owner", form) for form in FRAMEWORKS)]


@router.post("/made/{name}/report")
def report(here: Annotated[Opened, Depends()], name: str, form: Submitted) -> Response:
    """Write a report."""
    past = _one(here, name)
    audience, chosen = str(form.get("audience", "")), str(form.get("form", ""))
    if (audience, chosen) not in _kinds():
        raise ParameterError("there is no such report", "choose one from the list")
    arguments = {
        "release": past.name,
        "number": past.certificate.number,
        "audience": audience,
        "form": chosen,
        "pdf": "pdf" in form,
    }
    here.desk.jobs.start(here.project, "report", arguments, here.who.name)
    return here.go(here.address(f"release/made/{past.name}"))


@router.get("/report/{file}")
def opened(here: Annotated[Opened, Depends()], file: str, save: str = "") -> Response:
    """A report as a page, or to be saved; one with figures of the rows is for owners."""
    if not Path(file).stem.endswith("-public"):
        if not here.who.is_owner:
            raise ParameterError("only an owner may see this report", "take the public one")
        here.looked("the report for owners")
    for path in place_of(here.project).glob("*.*"):
        if path.name == file and path.suffix in (".html", ".pdf") and not path.is_symlink():
            how = "attachment" if save or path.suffix == ".pdf" else "inline"
            return FileResponse(
                path,
                filename=path.name,
                content_disposition_type=how,
                media_type=_MEDIA[path.suffix],
                headers=_POLICY,
            )
    raise ParameterError("there is no such report", "make it first")


# The same again


def _again(here: Opened, past: Past) -> dict[str, str] | None:
    """The recipe, Python code and commands of a release; None if its recipe is not known."""
    from shoal.recipe import Recipe

    known = recipe_behind(here.project, past.certificate)
    if known is None:
        return None
    recipe, path = known
    # Its own folder is taken.
    again = past.folder.relative_to(here.folder).with_name(f"{past.folder.name}-again")
    if path == here.project.recipe:
        return blocks(recipe, path, again.as_posix())
    # The file of the project says something else by now.
    saved = here.folder / f"{past.folder.name}.toml"
    same = Recipe(saved, recipe.content, recipe.digest)
    return {**blocks(same, path, again.as_posix()), "save_as": saved.name}


def blocks(recipe: "Recipe", path: Path, directory: str) -> dict[str, Any]:
    """The texts by which a release can be made elsewhere, by their names."""
    from shoal.recipe.scripting import as_commands, as_python

    return {
        "recipe": path.read_text("utf-8"),
        "python": as_python(recipe, directory),
        "commands": as_commands(recipe, directory),
    }
