"""Finding a file on this machine: what a folder has that can be read as a table.

Only names, sizes and times are looked at, and only what this process may read. Uses `data`; the
screens of projects and data show it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from shoal.data.disk import is_address
from shoal.data.formats import FORMATS, ending
from shoal.errors import FileError, ParameterError
from shoal.workbench.projects import is_shown

__all__ = ["FolderEntry", "Listing", "listing", "require_there", "typed_place"]

_DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb", ".ddb")
_PROJECTS = (".deid",)  # of ARX, which are taken over
_MOST = 500
"""Entries of a folder that are listed."""


@dataclass(frozen=True)
class FolderEntry:
    """A file or a folder in a folder."""

    path: Path
    size: int
    changed: float

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.name


@dataclass(frozen=True)
class Listing:
    """What a folder has.

    parts: how many files could be read together as one table
    left_out: how many entries are neither folders nor tables, or cannot be read, or are too many
    """

    path: Path
    folders: tuple[FolderEntry, ...]
    tables: tuple[FolderEntry, ...]
    parts: int
    left_out: int

    @property
    def above(self) -> Path | None:
        """The folder that it is in; None for the topmost."""
        return None if self.path.parent == self.path else self.path.parent

    @property
    def way(self) -> list[Path]:
        """The folders from the topmost down to this one."""
        return [*reversed(self.path.parents), self.path]


def listing(folder: Path) -> Listing:
    """The folders and the tables in a folder; FileError if it cannot be read."""
    folders: list[FolderEntry] = []
    tables: list[FolderEntry] = []
    left_out = 0
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name.casefold())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise FileError(f"cannot look into {folder}: {reason}", "take another folder") from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if not is_shown(entry.name):
            left_out += 1
            continue
        path = Path(entry.path)
        try:
            is_folder = entry.is_dir()
            status = entry.stat()
        except OSError:
            left_out += 1
            continue
        found = FolderEntry(path, status.st_size, status.st_mtime)
        if is_folder and os.access(path, os.R_OK | os.X_OK) and len(folders) < _MOST:
            folders.append(found)
        elif entry.is_file() and _is_table(path) and len(tables) < _MOST:
            tables.append(found)
        else:
            left_out += 1
    return Listing(folder, tuple(folders), tuple(tables), _parts(tables), left_out)


def _is_table(path: Path) -> bool:
    others = (*_DATABASES, *_PROJECTS)
    known = ending(path) in FORMATS or path.suffix.lower() in others
    return known and os.access(path, os.R_OK)


def _parts(tables: list[FolderEntry]) -> int:
    """How many files of a folder look like one table: several, all of one kind."""
    endings = {table.path.suffix.lower() for table in tables}
    together = len(endings) == 1 and endings <= {".parquet", ".arrow"}
    return len(tables) if together and len(tables) > 1 else 0


def typed_place(text: str, folder: Path) -> str | Path:
    """What somebody typed as the place of a table: an address, or a path seen from a folder."""
    text = text.strip().strip("\"'")
    if not text:
        raise ParameterError("no path was given", "type one, or find the file in a folder")
    if is_address(text):
        return text
    try:
        return Path(os.path.normpath(folder / Path(text).expanduser()))
    except (RuntimeError, ValueError):
        raise ParameterError("this cannot be a path", "type another one") from None


def require_there(place: str | Path) -> None:
    """FileError if a path leads to nothing; an address, or a pattern of names, may."""
    if isinstance(place, Path) and "*" not in place.name and not os.path.exists(place):
        raise FileError("there is no such file or folder", "check the path")
