"""Who is a person, as a recipe says it: every row, or those whom a column tells apart.

The column is an option of the method, so where it is kept depends on that. Uses `editing` and
`schema`; the workbench uses it.
"""

from dataclasses import dataclass

from shoal.recipe.editing import Draft
from shoal.recipe.schema import METHODS, options_of

__all__ = ["PeopleSaid", "people_said", "say_people", "unit_option"]

_OPTIONS = ("person", "unit")
"""What methods call the column; the first that is given counts."""


@dataclass(frozen=True)
class PeopleSaid:
    """Who is a person: the value of `column`, or every row; nothing is said with neither."""

    column: str | None = None
    rows: bool = False


def people_said(draft: Draft) -> PeopleSaid:
    """Who is a person by a recipe; a column counts before rows, though both are a mistake."""
    columns = [draft.get("method", option) for option in _OPTIONS]
    column = next((name for name in columns if isinstance(name, str) and name), None)
    return PeopleSaid(column, column is None and draft.get("rows_are_people") is True)


def unit_option(draft: Draft) -> str | None:
    """The option of the method that names the column; None if it has none.

    As long as no method was chosen, the one that most have.
    """
    name = draft.get("method", "name")
    if name not in METHODS.names:
        return "unit"
    options = options_of(METHODS, name).model_fields
    given = [option for option in _OPTIONS if draft.get("method", option) is not None]
    return next((option for option in (*given, "unit") if option in options), None)


def say_people(draft: Draft, said: PeopleSaid) -> None:
    """Write down who is a person, and take back what contradicts it."""
    if said.column is None:
        for option in _OPTIONS:
            draft.set("method", option, to=None)
        # It bounds the rows of people whom a column tells apart.
        draft.set("method", "rows", to=None)
        draft.set("rows_are_people", to=True if said.rows else None)
        return
    draft.set("rows_are_people", to=None)
    taken = unit_option(draft)
    if taken is not None:
        draft.set("method", taken, to=said.column)
