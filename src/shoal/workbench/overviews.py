"""What the list of projects says of each: its data, its draft, its releases, its ledger.

All of it comes from files that are small, never from the rows. Uses `projects`, `recipe`,
`releases`, `studies` and `ledger`; the screen of projects shows it.
"""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data import toml
from shoal.data.disk import is_address
from shoal.errors import RecipeError, ShoalError
from shoal.recipe.editing import PLACEHOLDER, unfilled_places
from shoal.workbench.projects import Project
from shoal.workbench.texts import Translate

if TYPE_CHECKING:
    from shoal.ledger.account import Account

__all__ = ["LedgerState", "Overview", "Released", "undecided_in_words"]

_SHOWN = 3
"""Releases of a project that its card lists."""


@dataclass(frozen=True)
class Released:
    """A release of a project in one line."""

    name: str
    method: str
    promise: str
    when: float


@dataclass(frozen=True)
class LedgerState:
    """What a ledger has left.

    left: for people; None if nothing limits it
    """

    spent: str
    left: str | None
    budget: str | None
    problem: ShoalError | None = None


@dataclass(frozen=True)
class Overview:
    """A project as its card shows it."""

    project: Project

    @cached_property
    def content(self) -> dict[str, Any]:
        """What the recipe says."""
        return dict(toml.read(self.project.recipe, "a recipe", RecipeError).content)

    # Data

    @property
    def place(self) -> str:
        """The source as the recipe names it; empty if it names none."""
        source = self.content.get("source")
        path = source.get("path") if isinstance(source, dict) else None
        return path if isinstance(path, str) and path != PLACEHOLDER else ""

    @property
    def is_address(self) -> bool:
        """Whether the source is not a file."""
        return is_address(self.place)

    @cached_property
    def path(self) -> str:
        """The source as people find it."""
        if self.is_address or not self.place:
            return self.place
        return os.path.normpath(self.project.folder / self.place)

    @cached_property
    def measured(self) -> tuple[int, float] | None:
        """How large the source is, and when it was written; None if it is not there."""
        if self.is_address or not self.place:
            return None
        from shoal.data.files import files_of

        try:
            found = [file.stat() for file in files_of(Path(self.path))]
        except (OSError, ShoalError):
            return None
        return sum(one.st_size for one in found), max(one.st_mtime for one in found)

    # Draft

    @cached_property
    def undecided(self) -> list[toml.Place]:
        """The places that still have a "?"."""
        return unfilled_places(self.content)

    @cached_property
    def mistakes(self) -> list[RecipeError]:
        """What is wrong with the recipe, besides what is undecided."""
        from shoal.recipe.loading import read

        wrong = read(self.project.recipe).wrong
        return [one for one in wrong if not one.what.startswith("still has")]

    # Releases and ledger

    @cached_property
    def releases(self) -> list[Path]:
        """The folders of its releases, the newest first."""
        return self.project.releases

    @property
    def newest(self) -> list[Released]:
        """The newest few of its releases."""
        from shoal.releases.release import certificate_in
        from shoal.studies.promised import in_short

        found = []
        for folder in self.releases[:_SHOWN]:
            certificate = certificate_in(folder)
            if certificate is not None:
                when = (folder / "certificate.json").stat().st_mtime
                promise = in_short(certificate)
                found.append(Released(folder.name, certificate.method, promise, when))
        return found

    @cached_property
    def ledger(self) -> LedgerState | None:
        """What its ledger has left; None if it has none."""
        section = self.content.get("ledger")
        path = section.get("path") if isinstance(section, dict) else None
        if not isinstance(path, str) or path == PLACEHOLDER:
            return None
        from shoal.ledger import Ledger

        try:
            return _state(Ledger(self.project.folder / path).account())
        except ShoalError as error:
            return LedgerState("", None, None, error)


def _state(account: "Account") -> LedgerState:
    from shoal.ledger.account import amount

    limit, left = account.limit, account.left
    if limit is None or left is None:
        return LedgerState(account.spent_text, None, None)
    return LedgerState(account.spent_text, left.rounded(up=False), amount(*limit))


def undecided_in_words(places: list[toml.Place], _: Translate) -> list[str]:
    """What is undecided, a few words for each kind of decision."""
    kinds: dict[str, int] = {}
    for place in places:
        kind = _kind(place)
        kinds[kind] = kinds.get(kind, 0) + 1
    words = {
        "path": (_("which file"), _("which file")),
        "types": (_("the type of 1 column"), _("the types of {number} columns")),
        "source": (_("how the file is read"), _("how the file is read")),
        "roles": (_("the role of 1 column"), _("the roles of {number} columns")),
        "hierarchies": (_("a hierarchy"), _("hierarchies")),
        "name": (_("the method"), _("the method")),
        "method": (_("an option of the method"), _("{number} options of the method")),
        "other": (_("something else"), _("something else")),
    }
    told = []
    for kind, (one, several) in words.items():
        number = kinds.get(kind, 0)
        if number:
            told.append(one if number == 1 else several.replace("{number}", str(number)))
    return told


def _kind(place: toml.Place) -> str:
    """The kind of decision at a place."""
    match place:
        case ("source", "path"):
            return "path"
        case ("source", "types", *_):
            return "types"
        case ("method", "name") | ("method",):
            return "name"
        case (("source" | "roles" | "hierarchies" | "method") as section, *_):
            return str(section)
    return "other"
