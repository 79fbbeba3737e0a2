"""What stands between a recipe and its release: undecided places, mistakes, notes, and the cost.

Each item leads to the screen that mends it. Uses `recipe` and `ledger`; the screen of releases
shows it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.data import toml
from shoal.errors import BudgetError, ShoalError, toml_spelling

if TYPE_CHECKING:
    from shoal.ledger.account import Account
    from shoal.ledger.entries import Cost
    from shoal.privacy.promises import Promise
    from shoal.recipe import Recipe
    from shoal.recipe.editing import Draft
    from shoal.recipe.loading import Written

__all__ = [
    "Entering",
    "Item",
    "StatedRelease",
    "column_named",
    "columns",
    "entering",
    "first_look",
    "second_look",
    "stated",
]

_SCREENS = {
    "source": "data",
    "missing": "data",
    "roles": "roles",
    "rows_are_people": "roles",
    "hierarchies": "hierarchies",
    "method": "promise",
    "output": "release",
    "ledger": "release",
    "views": "together",
}
"""The screen that mends a section of a recipe."""

_COLUMN = re.compile(r"""column ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""How errors name a column."""

_PEOPLE = ("method.unit", "method.rows")
"""What is about people, and decided with the roles."""


def column_named(text: str) -> str:
    """The column that a text of an error names; empty if it names none.

    >>> column_named("the hierarchy of column 'ward' was derived from the rows")
    'ward'
    """
    found = _COLUMN.search(text)
    return str(ast.literal_eval(found[1])) if found else ""


@dataclass(frozen=True)
class Item:
    """Something to mend before a release.

    screen: the key of the step that mends it
    places: where in the recipe, if it is only undecided there
    where: the place of a mistake
    option: the key of the recipe, with its value, that the mistake follows
    """

    what: str
    fix: str
    screen: str
    places: tuple[str, ...] = ()
    where: str = ""
    option: str = ""

    @property
    def column(self) -> str:
        """The column that it is about; empty if it names none."""
        return column_named(self.where) or column_named(self.what)

    @property
    def is_column(self) -> bool:
        """Whether its place is just that column."""
        return _COLUMN.fullmatch(self.where) is not None


@dataclass(frozen=True)
class StatedRelease:
    """What a release will promise, by the recipe alone."""

    recipe: "Recipe"
    promise: "Promise"

    @property
    def cost(self) -> "Cost":
        """What it will spend."""
        from shoal.ledger.entries import Cost

        return Cost.of(self.promise)

    @property
    def cost_text(self) -> str:
        """The same for people; empty if it has no ε."""
        from shoal.ledger.account import amount

        cost = self.cost
        if cost.epsilon is None or cost.delta is None:
            return ""
        return amount(cost.epsilon, cost.delta)

    @property
    def late(self) -> tuple[str, ...]:
        """What the certificate will list as chosen after looking at the data."""
        choices = self.recipe.chosen_after_looking if self.promise.public_choices else ()
        return tuple(map(str, choices))

    @property
    def is_view(self) -> bool:
        """Whether it shows values that can be counted together with other releases."""
        from shoal.views.released import is_view

        return is_view(self.recipe.method().name, self.promise.to_dict())


@dataclass(frozen=True)
class Entering:
    """How the ledger stands to a release.

    left_after: what will be left afterwards; empty if there is no budget, or too little of it
    refusal: why it would be refused already; None if it is not
    again: what to know about a second release by the same method
    """

    path: Path
    account: "Account"
    left_after: str
    refusal: ShoalError | None
    again: str
    concerns: tuple[str, ...] = ()

    @property
    def left(self) -> str:
        """What is left now."""
        left = self.account.left
        return "" if left is None else left.rounded(up=False)


def first_look(draft: "Draft", written: "Written") -> list[Item]:
    """What is undecided or wrong by the recipe alone."""
    items = []
    sections: dict[str, list[str]] = {}
    for place in draft.undecided:
        sections.setdefault(_screen(toml.at(place)), []).append(toml.at(place))
    for screen, places in sections.items():
        items.append(Item("", "", screen, tuple(places)))
    wrong = [error for error in written.wrong if not error.what.startswith("still has")]
    return items + of_errors(wrong)


def of_errors(errors: Iterable[ShoalError]) -> list[Item]:
    """Mistakes, each with the screen that mends it."""
    return [_item(error) for error in errors]


def _item(error: ShoalError) -> Item:
    option = toml_spelling(error.option, error.given) if error.option else ""
    screen = _screen(error.option or error.where, str(error))
    return Item(error.what, error.fix, screen, where=error.where, option=option)


def _screen(place: str, text: str = "") -> str:
    """The step that mends something at a place of a recipe, or says what it is about."""
    if place.startswith(_PEOPLE) or "rows are not people" in text:
        return "roles"
    if place in ("", "method") and "hierarch" in text:
        return "hierarchies"
    first = re.split(r"[.\[:]", place, maxsplit=1)[0]
    if first in _SCREENS:
        return _SCREENS[first]
    return "hierarchies" if "hierarch" in text else "data"


def second_look(path: Path) -> list[Item]:
    """What is wrong with all that a recipe names: this reads the table anew."""
    from shoal.recipe import Recipe

    return of_errors(Recipe.examine(path).wrong)


def stated(path: Path) -> StatedRelease | None:
    """What will be promised; None where the recipe does not say that yet."""
    from shoal.recipe import Recipe
    from shoal.recipe.loading import read

    written = read(path)
    if written.content is None or written.wrong:
        return None
    recipe = Recipe(written.path, written.content, written.digest)
    try:
        return StatedRelease(recipe, recipe.stated())
    except ShoalError:
        return None


def entering(known: StatedRelease) -> Entering | None:
    """How the ledger of the recipe stands to the release; None if it names none."""
    from shoal.ledger import Ledger
    from shoal.methods.catalogue import entry_of

    path = known.recipe.ledger
    if path is None:
        return None
    book = Ledger(path)
    account = book.account()
    method = known.recipe.method().name
    left, refusal, again = None, None, ""
    try:
        left = account.after(known.promise, method, path)
    except ShoalError as error:
        refusal = error
    if account.gamma is not None and known.cost.epsilon is None and not known.is_view:
        refusal = BudgetError(
            f"the ledger has a γ, and a release by {method} is not a view that could be counted"
        )
    if account.repeats(method):
        again = entry_of(method).again_note
    afterwards = "" if left is None else left.rounded(up=False)
    return Entering(path, account, afterwards, refusal, again, tuple(book.concerns()))


def columns(recipe: "Recipe") -> Iterator[tuple[str, str, str]]:
    """The columns of the source with their roles, and what becomes of each."""
    content = recipe.content
    for name, role in content.roles.items():
        becomes = "generalised" if name in content.hierarchies else "released unchanged"
        if role == "identifying":
            becomes = "left out"
        elif content.entry.generalises != "released" and role != "quasi":
            becomes = "released unchanged"
        yield name, role, becomes
