"""What a recipe promises as it is written, what is wrong with it, and what it would cost.

Nothing here looks at a row: promises follow from the recipe, and costs from the ledger. Uses
`recipe`, `ledger` and `choosing`; the promise screen shows it.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.choosing.deciding import KNOWN
from shoal.choosing.recommending import Recommendation
from shoal.data.hierarchy import Hierarchy
from shoal.errors import RecipeError, ShoalError
from shoal.ledger import Ledger
from shoal.ledger.account import Account, Budget
from shoal.methods.method import Method, crowd_of
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.recipe import Recipe
from shoal.recipe.editing import Draft
from shoal.recipe.loading import read
from shoal.workbench.option_forms import FormColumns
from shoal.workbench.projects import Project
from shoal.workbench.readiness import column_named

__all__ = [
    "Costs",
    "StatedPromise",
    "columns_of",
    "costs",
    "filled",
    "groups_of",
    "ledgers",
    "stated",
]

LEDGER = ".ledger"
"""How the names of ledgers end that the workbench makes."""

_MOST_LABELS = 40
"""Characters of an example of a level."""


@dataclass(frozen=True)
class RecipeProblem:
    """What is wrong with a recipe, and how to mend it."""

    what: str
    fix: str = ""

    @property
    def column(self) -> str:
        """The column that it is about; empty if it names none."""
        return column_named(self.what)


@dataclass
class StatedPromise:
    """What a recipe promises, or what keeps it from that.

    problems: those of the method, by option; under "" those of none in particular
    elsewhere: those of other sections, by the name of the section
    """

    promise: Promise | None = None
    method: Method | None = None
    crowd: int | None = None
    problems: dict[str, list[RecipeProblem]] = field(default_factory=dict)
    elsewhere: dict[str, list[RecipeProblem]] = field(default_factory=dict)

    @property
    def private(self) -> DifferentialPrivacy | None:
        """The promise if it is differential privacy."""
        return self.promise if isinstance(self.promise, DifferentialPrivacy) else None

    def add(self, place: str, problem: RecipeProblem) -> None:
        """Note what is wrong at a place of the recipe, such as "method.epsilon"."""
        first, _, rest = place.partition(".")
        first = re.split(r"\W", first)[0]
        option = re.split(r"\W", rest)[0]
        into, key = (self.problems, option) if first == "method" else (self.elsewhere, first)
        into.setdefault(key, []).append(problem)


def stated(project: Project) -> StatedPromise:
    """What the recipe of a project promises as it is now."""
    found = StatedPromise()
    draft = project.draft()
    for place in draft.undecided:
        found.add(".".join(place), RecipeProblem("not decided yet"))
    try:
        written = read(project.recipe)
    except ShoalError as error:
        found.add("", RecipeProblem(error.what, error.fix))
        return found
    for mistake in written.wrong:
        if not mistake.what.startswith("still has"):
            _note(found, mistake, project)
    if written.content is None or written.wrong:
        return found
    recipe = Recipe(written.path, written.content, written.digest)
    try:
        recipe.hierarchies = {name: _built(recipe, name) for name in written.content.hierarchies}
        found.promise = recipe.stated()
        found.method = recipe.method()
        found.crowd = crowd_of(found.method, recipe.schema)
    except ShoalError as error:
        _note(found, error, project)
    return found


def _note(found: StatedPromise, error: ShoalError, project: Project) -> None:
    path = f"{project.recipe}: "
    where = error.where.removeprefix(path) if error.where else ""
    place = error.option if error.option.startswith(("method.", "hierarchies.")) else where
    place = place.removeprefix(path)
    if place in ("", "method") and "hierarch" in error.what:
        place = "hierarchies"
    found.add(place, RecipeProblem(error.what, error.fix))


def columns_of(project: Project, draft: Draft) -> FormColumns:
    """The columns that options may name, with examples of their levels."""
    roles = {name: str(role) for name, role in draft.section("roles").items()}
    return FormColumns(roles, dict(_levels(project)))


def _levels(project: Project) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For columns with a hierarchy, how one of their values looks at each level."""
    try:
        content = read(project.recipe).content
    except ShoalError:
        return
    if content is None:
        return
    recipe = Recipe(project.recipe, content, "")
    for name in content.hierarchies:
        try:
            yield name, _examples(_built(recipe, name))
        except ShoalError:
            continue


def _built(recipe: Recipe, name: str) -> Hierarchy:
    """The hierarchy of a column, made once while what it is made from stays the same."""
    choice = recipe.content.hierarchies[name]
    file = getattr(choice, "file", None)
    place = recipe.path.parent / file if file else None
    status = place.stat() if place is not None and place.is_file() else None
    stamp = None if status is None else (status.st_mtime_ns, status.st_size, status.st_ino)
    key = (str(recipe.path.parent), name, repr(choice), repr(recipe.content.source.types), stamp)
    if key not in _TREES:
        while len(_TREES) >= _MOST_TREES:
            _TREES.pop(next(iter(_TREES)), None)
        _TREES[key] = recipe.build(name)
    return _TREES[key]


_TREES: dict[tuple[Any, ...], Hierarchy] = {}
_MOST_TREES = 40
"""Hierarchies that are kept: those of the project that is open, and of another one."""


def _examples(tree: Hierarchy) -> tuple[str, ...]:
    """The middle one of the declared values, at each level: hierarchies are public."""
    leaf = tree.leaves // 2
    texts = [
        str(tree.labels[level][int(tree.maps[level][leaf])]) for level in range(tree.height + 1)
    ]
    return tuple(text if len(text) <= _MOST_LABELS else f"{text[:_MOST_LABELS]}…" for text in texts)


# What it costs


@dataclass(frozen=True)
class Costs:
    """What a ledger says about a release.

    missing: whether the recipe names a ledger that is not there
    after: what would be left after a release; None if nothing limits it, or it may not be made
    refused: why it may not be made
    """

    path: str
    missing: bool = False
    account: Account | None = None
    after: Budget | None = None
    refused: RecipeProblem | None = None

    @property
    def has_budget(self) -> bool:
        """Whether releases are charged to a budget."""
        return self.account is not None and self.account.limit is not None


def costs(project: Project, draft: Draft, promise: Promise | None, method: str) -> Costs | None:
    """What the ledger of a recipe has, and what a release would leave; None without a ledger."""
    path = draft.get("ledger", "path")
    if not isinstance(path, str):
        return None
    place = project.folder / path
    if not place.is_file():
        return Costs(path, missing=True)
    try:
        account = Ledger(place).account()
    except ShoalError as error:
        return Costs(path, refused=RecipeProblem(error.what, error.fix))
    if promise is None:
        return Costs(path, account=account)
    try:
        after = account.after(promise, method, Path(path))
    except ShoalError as error:
        return Costs(path, account=account, refused=RecipeProblem(error.what, error.fix))
    return Costs(path, account=account, after=after)


def ledgers(project: Project) -> list[str]:
    """The ledgers in the folder of a project and in the one above, as its recipe names them."""
    folders = (project.folder, project.folder.parent)
    files = [path for folder in folders for path in sorted(folder.glob(f"*{LEDGER}"))]
    return [os.path.relpath(path, project.folder) for path in files if path.is_file()]


# A recommendation with its blanks filled in


def filled(found: Recommendation, blanks: Mapping[str, list[str]], groups: list[list[str]]) -> Any:
    """The parameters of a recommendation with columns in the place of blanks.

    groups: groups of columns, where it asks for them
    """
    parameters = dict(found.parameters)
    if "schema" in parameters:
        parameters["schema"] = groups
    return _put(parameters, blanks)


def _put(value: Any, blanks: Mapping[str, list[str]]) -> Any:
    if isinstance(value, dict):
        made = {}
        for key, inner in value.items():
            for name in blanks.get(key, [key]):
                made[name] = _put(inner, blanks)
        return made
    if isinstance(value, list):
        return [_put(inner, blanks) for inner in value]
    if isinstance(value, str):
        for name, given in blanks.items():
            if given:
                column = given[0].replace("\\", "\\\\")
                value = re.sub(rf"\b{name}\b", column, value)
    return value


def groups_of(found: Recommendation) -> bool:
    """Whether a recommendation asks for groups of columns."""
    return "schema" in found.parameters


_TOGETHER = 4
"""Columns of a group that a method finds, on average."""

_FOR_GROUPS = "1/4"
"""The share of ε that pays for finding groups."""


def groups_to_find(columns: Sequence[str]) -> int:
    """How many groups a method finds among columns."""
    return max(1, len(columns) // _TOGETHER)


def with_groups_found(parameters: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The same, where the method finds groups of columns for a share of ε."""
    others = {name: value for name, value in parameters.items() if name != "schema"}
    return {**others, "groups": groups_to_find(columns), "buying": _FOR_GROUPS}


def single(found: Recommendation) -> dict[str, str]:
    """The blanks of a recommendation that stand for one column, with what they are."""
    listed = ("FIRST", "SECOND", "THIRD", KNOWN)
    return {name: words for name, words in found.blanks.items() if name not in listed}


def require_blank(name: str, given: list[str], known: list[str]) -> None:
    """RecipeError unless a column was chosen for a blank."""
    if not given or not all(one in known for one in given):
        raise RecipeError(f"no column was chosen for {name}", "choose one from the list")
