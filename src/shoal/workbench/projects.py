"""Projects: folders with a recipe, and beside it a ledger and releases.

All that is decided is in the recipe. What the workbench remembers besides (jobs, what was looked
at) is in a hidden folder of the project. Uses `recipe`; screens use it.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data import toml
from shoal.data.disk import replacing
from shoal.data.formats import BY_COLUMN, READING
from shoal.errors import FileError, ParameterError, RecipeError, ShoalError
from shoal.recipe.editing import Draft

__all__ = ["Home", "Project"]

RECIPE = "recipe.toml"
"""What the recipe of a new project is called."""

HIDDEN = ".workbench"
"""Where a project keeps what only the workbench needs."""

RELEASES = "releases"
"""Where the workbench writes releases."""

REMOVED = ".removed"
"""What the name of a recipe ends with that was taken off the list."""

_SHAPES: dict[tuple[str, ...], tuple[type, ...]] = {
    **{
        (name,): (dict,) for name in ("source", "roles", "hierarchies", "ledger", "views", "output")
    },
    **{("source", name): (str,) for name in ("path", "query", *READING) if name not in BY_COLUMN},
    ("source", "dates"): (str, dict),
    ("source", "dates", "*"): (str,),
    ("source", "missing_texts"): (list, dict),
    ("source", "missing_texts", "*"): (list,),
    ("source", "types"): (dict,),
    ("source", "types", "*"): (str,),
    ("roles", "*"): (str,),
    ("hierarchies", "*"): (dict, str),
    ("missing",): (str,),
    ("method",): (dict, str),
    ("method", "name"): (str,),
    ("method", "floor"): (dict,),
    ("method", "ceiling"): (dict,),
    ("ledger", "path"): (str,),
    ("views", "others"): (str,),
}
"""What must be a text or a section, for anything else to be shown; "*" is any key."""

_MOST = 1000
"""Folders that are looked at, at most."""


@dataclass(frozen=True)
class Project:
    """A recipe, and what belongs to it.

    key: what it is called in addresses
    """

    key: str
    recipe: Path

    @property
    def folder(self) -> Path:
        """The folder of the recipe; its paths are relative to it."""
        return self.recipe.parent

    @property
    def name(self) -> str:
        """What people call it."""
        return self.folder.name if self.recipe.name == RECIPE else self.recipe.stem

    def draft(self) -> Draft:
        """The recipe as it is now."""
        return Draft.read(self.recipe)

    @property
    def hidden(self) -> Path:
        """The folder of the workbench's own notes on this recipe, which nobody else may read."""
        folder = self.folder / HIDDEN / self.recipe.stem
        try:
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"the folder {HIDDEN} cannot be made: {error.strerror}",
                "do you have permission to write to the project's folder?",
            ) from None
        return folder

    @property
    def releases(self) -> list[Path]:
        """The folders with a release, the newest first."""
        places = [self.folder, self.folder / RELEASES]
        folders = [path for place in places for path in _folders(place)]
        # What reads certificates takes a moment to load, and most folders have none.
        found = [path for path in folders if (path / "certificate.json").is_file()]
        if found:
            from shoal.releases.release import certificate_in

            found = [path for path in found if certificate_in(path)]
        return sorted(found, key=lambda path: -path.stat().st_mtime)

    def release(self, name: str) -> Path:
        """A release by the name of its folder; ParameterError if there is none."""
        for path in self.releases:
            if path.name == name:
                return path
        raise ParameterError("there is no such release in this project", "choose one from the list")

    def place_for_release(self, name: str) -> Path:
        """Where a new release of some name is to be written."""
        return self.folder / RELEASES / named(name)

    def remove(self) -> Path:
        """Take the project off the list, by giving its recipe another name; nothing is deleted."""
        aside = self.recipe.with_name(self.recipe.name + REMOVED)
        if aside.exists():
            raise FileError(f"{aside.name} is there already", "delete or rename it first")
        os.rename(self.recipe, aside)
        return aside

    # Notes

    def note(self, name: str, of: type = object) -> Any:
        """What was noted under a name; None if nothing was, or nothing that can be read.

        of: what it must be, such as a list
        """
        try:
            found = json.loads((self.hidden / f"{name}.json").read_text("utf-8"))
        except (OSError, ValueError, FileError):
            return None
        return found if isinstance(found, of) else None

    def keep(self, name: str, value: object) -> None:
        """Note something under a name."""
        with replacing(self.hidden / f"{name}.json") as file:
            file.write(json.dumps(value).encode())

    @contextmanager
    def noting(self, name: str) -> Iterator[dict[str, Any]]:
        """What was noted under a name, to be changed; others wait, in other processes too."""
        with open(self.hidden / "lock", "ab") as lock:
            with suppress(OSError):  # some network drives have no locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            noted = self.note(name, dict) or {}
            before = json.dumps(noted)
            yield noted
            if json.dumps(noted) != before:
                self.keep(name, noted)

    def noted_beside(self, name: str) -> list[Any]:
        """What was noted under a name for the other recipes of the folder."""
        others = (self.folder / HIDDEN).glob(f"*/{name}.json")
        stems = [path.parent.name for path in others if path.parent.name != self.recipe.stem]
        return [Project("", self.folder / f"{stem}.toml").note(name) for stem in stems]


@dataclass(frozen=True)
class Home:
    """The folder in which projects are."""

    folder: Path

    def projects(self) -> list[Project]:
        """Every recipe in the folder and in the folders directly below it."""
        found = [
            project
            for place in [self.folder, *_folders(self.folder)]
            for project in self._in(place)
        ]
        return sorted(found, key=lambda project: project.key)

    def project(self, key: str) -> Project:
        """The project of some key; ParameterError if there is none."""
        *way, name = key.split("~")
        # Only what the list shows can be opened: no key leads out of the folder.
        places = [self.folder] if not way else _folders(self.folder)
        for place in places:
            if not way or [place.name] == way:
                for project in self._in(place, f"{name}.toml"):
                    return project
                _require_recipe(place, f"{name}.toml")
        raise ParameterError("there is no such project", "go back to the list of projects")

    @property
    def only(self) -> Project | None:
        """The project of the folder itself, if it has one and not several."""
        own = list(self._in(self.folder))
        return own[0] if len(own) == 1 else None

    def removed(self) -> list[str]:
        """The recipes that were taken off the list, by their places in the folder."""
        places = [self.folder, *_folders(self.folder)]
        found = [path for place in places for path in sorted(place.glob(f"*.toml{REMOVED}"))]
        return [path.relative_to(self.folder).as_posix() for path in found]

    def restore(self, place: str) -> None:
        """Put a project back on the list; ParameterError if it was not taken off."""
        if place not in self.removed():
            raise ParameterError("there is no such project", "go back to the list of projects")
        aside = self.folder / place
        recipe = aside.with_name(aside.name.removesuffix(REMOVED))
        if recipe.exists():
            raise FileError(f"{recipe.name} is there already", "rename it first")
        os.rename(aside, recipe)

    def folder_for(self, name: str) -> Path:
        """Where a new project of some name is to be; FileError if something is there."""
        folder = self.folder / named(name)
        if folder.exists() and any(folder.iterdir()):
            raise FileError("a folder of this name has something in it", "take another name")
        return folder

    def _in(self, place: Path, only: str | None = None) -> Iterator[Project]:
        for path in sorted(place.glob("*.toml"))[:_MOST]:
            wanted = only in (None, path.name) and is_shown(path.name)
            if wanted and _is_recipe(path):
                inside = path.relative_to(self.folder).with_suffix("").as_posix()
                yield Project(inside.replace("/", "~"), path)


def _require_recipe(place: Path, name: str) -> None:
    """An error that says what is wrong with a recipe that was broken while it was open."""
    if name in {path.name for path in place.glob("*.toml") if not path.name.startswith(".")}:
        toml.read(place / name, "a recipe", RecipeError)
        if not _is_recipe(place / name):
            raise RecipeError(
                "the recipe has lost its section [source] or [roles]", "put it back", where=name
            )


def require_shape(draft: Draft) -> None:
    """RecipeError if a draft has something else where a text or a section must be.

    Screens show drafts that are incomplete or wrong, and need no more than this.
    """
    for place, kinds in _SHAPES.items():
        *way, last = place
        section = draft.section(*way) if way else draft.content
        for key in section if last == "*" else [last]:
            value = section.get(key)
            if value is not None and not isinstance(value, kinds):
                what = "a list" if list in kinds else "a section" if dict in kinds else "a text"
                raise RecipeError(
                    f"{toml.at([*way, key])} is not {what}",
                    "mend it in the recipe, and reload the page",
                    where=draft.path.name,
                )


def named(name: str) -> str:
    """A name that can be that of a folder; ParameterError if it cannot."""
    name = name.strip()
    if not re.fullmatch(r"[\w][\w .-]{0,79}", name) or name.endswith("."):
        raise ParameterError(
            "a name has letters, digits, spaces, dots, hyphens and underscores",
            "begin with a letter or a digit, and use at most 80 characters",
        )
    return name


def is_shown(name: str) -> bool:
    """Whether a file is shown by its name: not a hidden one, and none that no page could write.

    >>> is_shown("clinic.csv"), is_shown(".bashrc"), is_shown("caf\\udce9.csv")
    (True, False, False)
    """
    return not name.startswith(".") and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _folders(place: Path) -> list[Path]:
    try:
        inside = [entry for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    names = sorted(entry.path for entry in inside if is_shown(entry.name))
    return [Path(name) for name in names[:_MOST]]


def _is_recipe(path: Path) -> bool:
    """Whether a TOML file says what to read and which roles columns have."""
    try:
        content = toml.read(path, "a recipe", RecipeError).content
    except ShoalError:
        return False
    return isinstance(content.get("source"), dict) and isinstance(content.get("roles"), dict)
