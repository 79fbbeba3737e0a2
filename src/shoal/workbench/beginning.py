"""New projects: from a file that stays where it is, from one that is sent, or from made-up data.

The draft is written at once, with a "?" for whatever is undecided, so that the command line can go
on with it. Uses `projects`, `uploads`, `data`, `recipe` and `demo`, which load when a project is
begun: the page for it is the first one that many people see. Screens use it.
"""

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from shoal.data.disk import replacing
from shoal.workbench.folders import require_there
from shoal.workbench.projects import RECIPE, Home, Project
from shoal.workbench.uploads import receive

if TYPE_CHECKING:
    from shoal.data.layouts import SourceLayout

__all__ = [
    "begin",
    "begin_demo",
    "begin_upload",
    "free_name",
    "is_arx_project",
    "place_in_recipe",
    "placeholders",
]

DEMO_ROWS = 20_000
"""Enough for a release that keeps detail, and few enough to try everything at once."""


def begin(home: Home, name: str, place: str | Path, query: str = "") -> Project:
    """A project on a file, a folder, a database or an address, which stays where it is.

    FileError, and nothing is made, if there is no such file; other problems are for its screen.
    """
    from shoal.data.databases import require_without_secrets

    require_without_secrets(os.fspath(place))
    require_there(place)
    folder = home.folder_for(name)
    if is_arx_project(place):
        _take_over(Path(place), folder)
        return _project(home, folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, place_in_recipe(place, folder, home), place, query)
    return _project(home, folder)


def begin_demo(home: Home, name: str) -> Project:
    """A project on the made-up hospital, with everything decided."""
    from shoal import demo

    folder = home.folder_for(name)
    recipe = demo.write(folder, DEMO_ROWS)
    os.rename(recipe, folder / RECIPE)
    return _project(home, folder)


async def begin_upload(home: Home, content_type: str, stream: AsyncIterator[bytes]) -> Project:
    """A project on a file that is sent in a form, after a field `name`; it goes to its folder."""

    def place(fields: Mapping[str, str], sent: str) -> Path:
        name = fields.get("name", "").strip() or free_name(home, Path(sent).stem)
        return home.folder_for(name) / sent

    file = await receive(content_type, stream, place)
    folder = file.parent
    if is_arx_project(file):
        await run_in_threadpool(_take_over_sent, file)
    else:
        await run_in_threadpool(_write, folder, file.name, file)
    return _project(home, folder)


def is_arx_project(place: str | Path) -> bool:
    """Whether a place is an ARX project, by its name."""
    return os.fspath(place).lower().endswith(".deid")


def _take_over(path: Path, folder: Path) -> None:
    """The recipe of an ARX project, with its data; what was not taken over is in its comments."""
    from shoal import arx
    from shoal.recipe import from_arx

    from_arx(arx.read(path), folder)


def _take_over_sent(file: Path) -> None:
    """The same of a project that was sent; nothing stays of it, or of one that cannot be read."""
    from shoal import arx
    from shoal.recipe import from_arx

    folder = file.parent
    try:
        project = arx.read(file)
        file.unlink()
        from_arx(project, folder)
    except BaseException:
        file.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
        raise


def free_name(home: Home, wanted: str) -> str:
    """A name for a project that no folder has, as close as can be to a wanted one."""
    base = re.sub(r"[^\w .-]+", " ", wanted).strip(" .-_")[:60] or "project"
    name, number = base, 1
    while (home.folder / name).exists():
        number += 1
        name = f"{base} {number}"
    return name


def place_in_recipe(place: str | Path, folder: Path, home: Home) -> str:
    """A place as a recipe in a folder names it.

    What lies in the folder of projects is named from the recipe on, so that all of it can be
    moved; anything else by its whole path.
    """
    if isinstance(place, str):
        return place
    if place.is_relative_to(home.folder):
        return Path(os.path.relpath(place, folder)).as_posix()
    return place.as_posix()


def placeholders(layout: "SourceLayout") -> tuple[str, ...]:
    """The columns that a draft may name: none, if their names may be cells of a record."""
    if layout.is_headless or layout.problem is not None:
        return ()
    return layout.names


def _write(folder: Path, named: str, place: str | Path, query: str = "") -> None:
    """The draft on a source, by the name that the recipe has for it."""
    from shoal.data.layouts import look
    from shoal.recipe import outline

    layout = look(place)
    reading: dict[str, str | None] = {**layout.reading, "query": query.strip() or None}
    if layout.problem is not None:
        reading = {"query": reading["query"]}
    text = outline(named, placeholders(layout), **reading)
    with replacing(folder / RECIPE) as file:
        file.write(text.encode())


def _project(home: Home, folder: Path) -> Project:
    return home.project(f"{folder.name}~{Path(RECIPE).stem}")
