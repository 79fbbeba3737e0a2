"""Approvals: in a team, a release needs the approval of somebody who did not ask for it.

An approval is for one release by one state of the recipe and of the files that it names, as their
digest tells. Uses `projects` and `recipe`; the screens `approval` and `release` use it, and the job
of a release.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from shoal.data import toml
from shoal.data.hierarchy.lines import derived_note
from shoal.errors import ParameterError, ShoalError
from shoal.workbench.members import Member
from shoal.workbench.projects import Project

__all__ = ["Approval", "approval_of", "ask", "decide", "digest_of", "require", "use"]

_NOTE = "approval"


@dataclass(frozen=True)
class Approval:
    """A release that somebody asked for, and what a reviewer said.

    digest: of the recipe and its files that it is for
    override: the reason why the limit of the ledger may be passed; empty if it may not
    """

    digest: str
    asked_by: str
    asked: float
    state: Literal["waiting", "approved", "declined"] = "waiting"
    decided_by: str = ""
    reason: str = ""
    override: str = ""

    @property
    def question(self) -> str:
        """What tells this question from others, also from one by the same recipe."""
        asked = f"{self.digest} {self.asked_by!r} {self.asked!r} {self.override!r}"
        return hashlib.sha256(asked.encode()).hexdigest()


def digest_of(project: Project) -> str:
    """What the recipe of a project is now, with the files that it names but for the ledger.

    Hierarchies decide what a release shows, and can change while the recipe does not.
    """
    from shoal.recipe import Recipe

    digest = hashlib.sha256(toml.read(project.recipe).digest.encode())
    try:
        recipe = Recipe.load(project.recipe)
    except ShoalError:
        return digest.hexdigest()  # nothing can be released by it
    # Others enter their releases in the ledger meanwhile.
    for path in (path for path in recipe.inputs if path != recipe.ledger):
        for part in _state(path):
            digest.update(f"{os.fspath(path)!r} {part}\n".encode())
    return digest.hexdigest()


def _state(path: Path) -> Iterator[str]:
    """What a file is now, or what the files of a folder are; nothing if there is none."""
    if os.path.isdir(path):
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield f"{os.fspath(file.relative_to(path))!r} {_digest(file)}"
    elif os.path.isfile(path):
        yield _digest(path)
        yield str(derived_note(path).exists())


def _digest(path: Path) -> str:
    """The digest of a file, which pages ask for again and again, and a job once."""
    now = path.stat()
    return _read(path, (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))


@lru_cache(maxsize=256)
def _read(path: Path, stamp: tuple[int, ...]) -> str:
    """The digest of a file as it was at that stamp, which nobody can set back."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def approval_of(project: Project) -> Approval | None:
    """What was asked for and said of the recipe as it is now; None if nothing was."""
    note = project.note(_NOTE)
    if not isinstance(note, dict):
        return None
    try:
        found = Approval(**note)
    except TypeError:
        return None
    # Whoever changes the recipe needs a new approval.
    return found if found.digest == digest_of(project) else None


def ask(project: Project, member: Member, override: str = "") -> Approval:
    """Ask for the approval of a release by the recipe as it is now.

    override: the reason, if the release is to exceed the limit of the ledger
    """
    wanted = Approval(digest_of(project), member.name, time.time(), override=override.strip())
    project.keep(_NOTE, asdict(wanted))
    return wanted


def decide(project: Project, member: Member, seen: str | None, reason: str = "") -> Approval:
    """Approve what was asked for, or decline it; ParameterError for who asked for it.

    seen: what the member has seen and approves, `Approval.question`; None declines
    """
    # Others wait: who has read the question before it was answered must not answer it again.
    with project.noting(_NOTE) as noted:
        wanted = approval_of(project)
        if wanted is None or wanted.state != "waiting":
            raise ParameterError(
                "nobody has asked for approval", "the recipe may have changed since"
            )
        if wanted.asked_by == member.name:
            raise ParameterError("nobody approves their own release", "another member has to")
        if seen not in (None, wanted.question):
            raise ParameterError(
                "what is asked for has changed since this page was opened",
                "reload it, and look again",
            )
        said: Literal["approved", "declined"] = "declined" if seen is None else "approved"
        words = reason.strip()[:1000]
        decided = replace(wanted, state=said, decided_by=member.name, reason=words)
        noted |= asdict(decided)
    return decided


def require(project: Project) -> Approval:
    """What was approved; ParameterError unless a release by the recipe as it is now was."""
    found = approval_of(project)
    if found is None or found.state != "approved":
        raise ParameterError(
            "this release is not approved", "ask for the approval of another member first"
        )
    return found


def use(project: Project) -> None:
    """An approval is for one release: ParameterError if another one has just used it."""
    try:
        (project.hidden / f"{_NOTE}.json").unlink()
    except FileNotFoundError:
        raise ParameterError(
            "the approval was used by another release", "ask for another one"
        ) from None
