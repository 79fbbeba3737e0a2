"""Tables that were read, kept while their files and how they are read stay the same.

Rows are read once, whoever asks, and tables with other types, roles and hierarchies are made from
the same rows. Uses `recipe` and `data`; screens use it. Everything here is the owner's.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from shoal.data import disk, free_memory
from shoal.data.databases import is_database
from shoal.data.disk import Stamps
from shoal.data.file_options import FileOptions
from shoal.data.files import files_of, rows_of
from shoal.data.findings import FoundColumn, find
from shoal.data.formats import READING
from shoal.data.sources import LOOKED_AT, Memory, Source
from shoal.data.tables import Table, table
from shoal.errors import RecipeError, ShoalError
from shoal.recipe import Recipe
from shoal.recipe.editing import Draft
from shoal.recipe.schema import PLACEHOLDER
from shoal.workbench.projects import Project

__all__ = ["Tables", "is_streamed", "place_of", "reading_options"]

_SOURCES = 3
"""Files whose rows are kept at once."""

_TABLES = 16
"""Tables of the same rows that are kept at once."""

_ROOM = 8
"""Bytes of memory that a byte of a file may need while it is read, and what comes after."""

Key = tuple[Any, ...]
Made = TypeVar("Made")


class Tables:
    """The tables of projects, each file read once."""

    def __init__(self) -> None:
        self._rows = _MadeOnce[_Rows](_SOURCES)

    def bare(self, project: Project, draft: Draft | None = None) -> Table:
        """The source of a project with the types of its draft, without roles and hierarchies.

        Types that are not decided yet are those of the file; columns that it lacks are passed over.
        """
        draft = draft or project.draft()
        missing: Any = draft.get("missing") or "category"
        rows = self._read(project, draft.section("source"))
        types = {
            name: kind
            for name, kind in draft.section("source", "types").items()
            if kind != PLACEHOLDER and name in rows.source.names
        }

        def made() -> Table:
            return table(rows.source, types=types, missing=missing)

        return rows.bare.once((repr(types), missing), made)

    def columns(self, project: Project) -> tuple[FoundColumn, ...]:
        """What the columns of a project's source look like, by the types of its draft.

        Of rows that are not in memory, only the first are looked at.
        """
        draft = project.draft()
        bare = self.bare(project, draft)
        rows = self._read(project, draft.section("source"))

        def found() -> tuple[FoundColumn, ...]:
            return find(bare.first_rows(LOOKED_AT) if is_streamed(bare) else bare)

        return rows.columns.once((repr(bare.types),), found)

    def is_read(self, project: Project) -> bool:
        """Whether the rows of a project's source are here already."""
        try:
            return _key(project, project.draft().section("source"))[0] in self._rows.made
        except ShoalError:
            return False

    @staticmethod
    def stamp(project: Project, draft: Draft) -> str:
        """What changes whenever `bare` would give another table; it tells nothing of it."""
        source = draft.section("source")
        types = sorted(draft.section("source", "types").items())
        key = (_key(project, source)[0], types, draft.get("missing"))
        return sha256(repr(key).encode()).hexdigest()

    def version(self, project: Project) -> str:
        """What differs if the source does, or how it is read."""
        return repr(_key(project, project.draft().section("source"))[0])

    def whole(self, project: Project) -> tuple[Recipe, Table]:
        """The recipe of a project and its table; RecipeError if something is undecided."""
        recipe = Recipe.load(project.recipe)
        rows = self._read(project, recipe.content.source.model_dump(exclude_none=True))
        inputs = Stamps.of(recipe.inputs)
        key = (recipe.digest, str(recipe.path), tuple(inputs.noted.items()))
        return rows.whole.once(key, lambda: (recipe, recipe.table_of(rows.source)))

    def forget(self, project: Project) -> None:
        """Read the source of a project anew when it is next asked for.

        A file that changes is noticed anyway; a database is not.
        """
        place = str(place_of(project, project.draft().section("source")))
        self._rows.drop(lambda key: key[0] == place)

    def _read(self, project: Project, source: Mapping[str, Any]) -> "_Rows":
        """The rows of a source; those that its file had before are given up for them."""
        key, stamps = _key(project, source)

        def made() -> _Rows:
            place = place_of(project, source)
            options = reading_options(source)
            self._rows.drop(lambda other: other[0] == key[0] and other[1] != key[1])
            needed = _ROOM * sum(map(_size, stamps.noted))
            if needed > free_memory.available():
                self._rows.drop(lambda other: True)
            given = {name: options.pop(name) for name in READING if name in options}
            types = source.get("types", {}) if _by_types(given) else {}
            types = {name: kind for name, kind in types.items() if kind != PLACEHOLDER}
            rows = rows_of(place, FileOptions.of(**given), types=types, **options)
            return _Rows(table(rows).source)

        return self._rows.once(key, made)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that were read, and the tables that were made of them."""

    source: Source
    bare: "_MadeOnce[Table]" = field(default_factory=lambda: _MadeOnce(_TABLES))
    columns: "_MadeOnce[tuple[FoundColumn, ...]]" = field(
        default_factory=lambda: _MadeOnce(_TABLES)
    )
    whole: "_MadeOnce[tuple[Recipe, Table]]" = field(default_factory=lambda: _MadeOnce(_TABLES))


@dataclass
class _MadeOnce(Generic[Made]):
    """The newest few of what was made, each once."""

    most: int
    made: OrderedDict[Key, Made] = field(default_factory=OrderedDict)
    turns: dict[Key, threading.Lock] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self, key: Key, make: Callable[[], Made]) -> Made:
        """What was made before under the key, or is made now; those who ask meanwhile wait."""
        with self.lock:
            if key in self.made:
                self.made.move_to_end(key)
                return self.made[key]
            turn = self.turns.setdefault(key, threading.Lock())
        with turn:
            with self.lock:
                if key in self.made:
                    return self.made[key]
            try:
                new = make()
                with self.lock:
                    self.made[key] = new
                    while len(self.made) > self.most:
                        self.made.popitem(last=False)
            finally:
                with self.lock:
                    self.turns.pop(key, None)
            return new

    def drop(self, unwanted: Callable[[Key], bool]) -> None:
        """Give up what has an unwanted key."""
        with self.lock:
            for key in [key for key in self.made if unwanted(key)]:
                del self.made[key]


def place_of(project: Project, source: Mapping[str, Any]) -> str | Path:
    """Where the source of a recipe is: an address, or a path; RecipeError if none is chosen."""
    path = source.get("path")
    if not isinstance(path, str) or path in ("", PLACEHOLDER):
        raise RecipeError("no source was chosen yet", "choose a file")
    if disk.is_address(path):
        return path
    place = project.folder / path
    tidy = Path(os.path.normpath(place))
    # Behind a link, the folder above is another one.
    return tidy if os.path.realpath(tidy) == os.path.realpath(place) else place


def reading_options(source: Mapping[str, Any]) -> dict[str, Any]:
    """How the source of a recipe is read, as `shoal.read` wants it."""
    return {
        name: value
        for name, value in source.items()
        if name not in ("path", "types") and value != PLACEHOLDER
    }


def _by_types(source: Mapping[str, Any]) -> bool:
    """Whether declared types decide how values are read."""
    return any(source.get(name) is not None for name in ("decimal", "thousands", "dates"))


def is_streamed(table: Table) -> bool:
    """Whether the rows of a table stay where they are, and are counted there."""
    return not isinstance(table.source, Memory)


def _key(project: Project, source: Mapping[str, Any]) -> tuple[Key, Stamps]:
    """What rows are kept under: the place, the state of its files, and how they are read."""
    place = place_of(project, source)
    stamps = _stamps(place)
    options: list[Any] = sorted(reading_options(source).items())
    if _by_types(source):
        options.append(source.get("types"))
    return (str(place), tuple(sorted(stamps.noted.items())), repr(options)), stamps


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _stamps(place: str | Path) -> Stamps:
    """What changes when a file does; addresses are taken to stay the same for a session."""
    if isinstance(place, str):
        return Stamps({})
    try:
        files = [place] if is_database(str(place)) else files_of(place)
    except (ShoalError, OSError):
        files = [place]
    return Stamps.of(files)
