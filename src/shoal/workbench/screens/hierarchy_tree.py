"""The tree of a hierarchy: to look at branch by branch, to search, and to edit.

Addresses name a branch by its level and number, never by its label, which may be a value of the
table. An edit writes the tree into a file of the project. Uses `trees` and the edits of
`data.hierarchy`; `app` uses it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from shoal.data.hierarchy import (
    Hierarchy,
    add_level,
    add_values,
    level_figures,
    merge,
    move,
    remove_level,
    remove_values,
    rename,
)
from shoal.errors import ParameterError
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.trees import TREES, HierarchyColumn, column_of, put, undoable
from shoal.workbench.words import is_whole

__all__ = ["router"]

router = APIRouter(prefix="/p/{project}/hierarchies/tree")

AT_ONCE = 100
"""Branches that are shown at once below one."""

FOUND = 50
"""Branches that a search shows."""

OFFERED = 300
"""Groups that a field offers while somebody types."""


@dataclass(frozen=True)
class Twig:
    """One value or group in the tree.

    code: its number among those of its level
    leaves: how many values it covers
    """

    level: int
    code: int
    label: str
    leaves: int


@dataclass(frozen=True)
class Twigs:
    """What lies directly below a group, as much as is shown at once."""

    shown: tuple[Twig, ...]
    start: int
    total: int

    @property
    def end(self) -> int:
        """Where the next ones begin."""
        return self.start + len(self.shown)


@dataclass(frozen=True)
class Browsed:
    """A tree that somebody looks at."""

    tree: Hierarchy

    @property
    def root(self) -> Twig:
        return self.twig(self.tree.height, 0)

    def twig(self, level: int, code: int) -> Twig:
        """A branch; ParameterError if there is none."""
        tree = self.tree
        if not (0 <= level <= tree.height and 0 <= code < tree.cardinality(level)):
            raise ParameterError("there is no such branch", "the tree has changed: open it again")
        first, end = self._run(level, code)
        return Twig(level, code, tree.labels[level][code], end - first)

    def _run(self, level: int, code: int) -> tuple[int, int]:
        """The neighbouring leaves that a branch covers."""
        codes = self.tree.maps[level]
        first, end = np.searchsorted(codes, [code, code + 1])
        return int(first), int(end)

    def below(self, twig: Twig, start: int = 0) -> Twigs:
        """What lies directly below a branch."""
        if twig.level == 0:
            return Twigs((), 0, 0)
        first, end = self._run(twig.level, twig.code)
        codes = self.tree.maps[twig.level - 1]
        # Leaves are in tree order, so the numbers below a branch follow each other.
        lowest, highest = int(codes[first]), int(codes[end - 1])
        total = highest - lowest + 1
        start = max(0, min(start, total - 1))
        numbers = range(lowest + start, min(lowest + start + AT_ONCE, highest + 1))
        shown = tuple(self.twig(twig.level - 1, number) for number in numbers)
        return Twigs(shown, start, total)

    def above(self, twig: Twig) -> list[Twig]:
        """The branches above one, the root first."""
        first, _ = self._run(twig.level, twig.code)
        levels = range(self.tree.height, twig.level, -1)
        return [self.twig(level, int(self.tree.maps[level][first])) for level in levels]

    def place(self, twig: Twig) -> int:
        """Where a branch stands below the one above it."""
        parent = self.above(twig)[-1]
        first, _ = self._run(parent.level, parent.code)
        return twig.code - int(self.tree.maps[twig.level][first])

    def groups(self, level: int) -> tuple[str, ...]:
        """Names of groups of a level, to be offered."""
        return self.tree.labels[level][:OFFERED] if level < self.tree.height else ()

    def find(self, text: str) -> tuple[list[tuple[Twig, list[Twig]]], int]:
        """Branches whose label has a text in it, each with those above, and how many there are."""
        wanted = text.casefold()
        hits = [
            (level, code)
            for level in range(self.tree.height, -1, -1)
            for code, label in enumerate(self.tree.labels[level])
            if wanted in label.casefold()
        ]
        exact = [hit for hit in hits if self.tree.labels[hit[0]][hit[1]].casefold() == wanted]
        found = [self.twig(*hit) for hit in dict.fromkeys([*exact, *hits][: FOUND + len(exact)])]
        return [(twig, self.above(twig)) for twig in found[:FOUND]], len(hits)

    def code(self, level: int, label: str) -> int | None:
        """The number of a label; None if the level does not have it."""
        labels = self.tree.labels[level] if level < len(self.tree.labels) else ()
        return labels.index(label) if label in labels else None


def _browsed(here: Opened, name: str) -> tuple[HierarchyColumn, Browsed]:
    column = column_of(here.draft, name)
    if not column.has:
        raise ParameterError("the column has no hierarchy yet", "build one first")
    return column, Browsed(TREES.of(here.draft, name))


def _page(
    here: Opened, column: HierarchyColumn, tree: Browsed, chosen: Twig, start: int, **more: Any
) -> HTMLResponse:
    """The tree, open down to the chosen branch, and what can be done with that."""
    path = [*tree.above(chosen), chosen]
    opened = []
    for upper, lower in pairwise(path):
        opened.append((upper, tree.below(upper, tree.place(lower) // AT_ONCE * AT_ONCE)))
    if chosen.level:
        opened.append((chosen, tree.below(chosen, start)))
    context = {
        "column": column,
        "tree": tree,
        "levels": level_figures(tree.tree),
        "opened": {(twig.level, twig.code): below for twig, below in opened},
        "twig": chosen,
        "path": path,
        "below": tree.below(chosen, start),
        "undoable": undoable(here.project, column.name),
        "found": None,
        "asked": "",
        **more,
    }
    return here.page("hierarchy_tree.html", at="hierarchies", **context)


@router.get("")
def whole_tree(
    here: Annotated[Opened, Depends()],
    column: str,
    level: int = -1,
    code: int = 0,
    start: int = 0,
) -> HTMLResponse:
    """The tree of a column."""
    chosen, tree = _browsed(here, column)
    twig = tree.root if level < 0 else tree.twig(level, code)
    return _page(here, chosen, tree, twig, start)


@router.get("/below")
def below(
    here: Annotated[Opened, Depends()], column: str, level: int, code: int, start: int = 0
) -> HTMLResponse:
    """What lies directly below a branch."""
    chosen, tree = _browsed(here, column)
    twig = tree.twig(level, code)
    return here.page(
        "hierarchy_branches.html",
        column=chosen,
        twig=twig,
        below=tree.below(twig, start),
        opened={},
        chosen=None,
    )


@router.post("/find")
def find(here: Annotated[Opened, Depends()], given: Submitted) -> HTMLResponse:
    """Branches by a part of their label."""
    chosen, tree = _browsed(here, str(given.get("column", "")))
    asked = str(given.get("text", "")).strip()
    found = tree.find(asked) if asked else None
    context: dict[str, Any] = {"column": chosen, "tree": tree, "found": found, "asked": asked}
    if here.is_part:
        return here.page("hierarchy_found.html", **context)
    return _page(here, chosen, tree, tree.root, 0, found=found, asked=asked)


# Edits


@router.post("/edit")
def edit(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Change the tree, and write it down."""
    column, browsed = _browsed(here, str(given.get("column", "")))
    act = _ACTS.get(str(given.get("act", "")))
    if act is None:
        raise ParameterError("there is no such change", "choose one from the page")
    if given.get("digest") != browsed.tree.digest:
        raise ParameterError(
            "the tree was changed in the meantime", "open it again and repeat the change"
        )
    tree = act(browsed.tree, given)
    put(here, column.name, tree)
    after = Browsed(tree)
    level, label = _number(given, "level"), str(given.get("label", ""))
    if given.get("act") == "rename":
        label = str(given.get("to", "")).strip()
    code = after.code(level, label)
    where = {} if code is None else {"level": str(level), "code": str(code)}
    return here.go(here.address("hierarchies/tree", column=column.name, **where))


def _number(given: FormData, name: str) -> int:
    text = str(given.get(name, ""))
    if not is_whole(text):
        raise ParameterError("a number is missing in what was sent", "reload the page")
    return int(text)


def _chosen(given: FormData) -> list[str]:
    labels = [str(label) for label in given.getlist("chosen")]
    if not labels:
        raise ParameterError("nothing was chosen", "tick one box or more")
    return labels


def _to(given: FormData) -> str:
    return str(given.get("to", "")).strip()


def _rename(tree: Hierarchy, given: FormData) -> Hierarchy:
    return rename(tree, _number(given, "level"), str(given.get("label", "")), _to(given))


def _move(tree: Hierarchy, given: FormData) -> Hierarchy:
    """The chosen ones below a group go to another."""
    return move(tree, _number(given, "level") - 1, _chosen(given), _to(given))


def _merge(tree: Hierarchy, given: FormData) -> Hierarchy:
    return merge(tree, _number(given, "level") - 1, _chosen(given), _to(given))


def _gather(tree: Hierarchy, given: FormData) -> Hierarchy:
    """The chosen ones become a group on a new level."""
    return add_level(tree, _number(given, "level") - 1, {_to(given): _chosen(given)})


def _add(tree: Hierarchy, given: FormData) -> Hierarchy:
    values = [line.strip() for line in str(given.get("values", "")).splitlines() if line.strip()]
    return add_values(tree, values, str(given.get("label", "")))


_ACTS: dict[str, Callable[[Hierarchy, FormData], Hierarchy]] = {
    "rename": _rename,
    "move": _move,
    "merge": _merge,
    "gather": _gather,
    "add": _add,
    "drop": lambda tree, given: remove_values(tree, _chosen(given)),
    "add-level": lambda tree, given: add_level(tree, _number(given, "level")),
    "remove-level": lambda tree, given: remove_level(tree, _number(given, "level")),
}
"""What can be done to a tree, by the button of it."""
