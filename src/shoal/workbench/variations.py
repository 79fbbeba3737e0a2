"""Variations of a recipe's method: the fields of a small form, and the section that comes of it.

Every method is offered whose options the form can give; of the recipe's own method all other
options stay as they are. Uses `recipe`, and the neighbours of a method that `report` has; the
screen Run uses it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import RecipeError, ShoalError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import printed
from shoal.measure.loss import LOSSES
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.method import short_names
from shoal.recipe import METHODS, Recipe, options_of
from shoal.recipe.editing import Draft
from shoal.recipe.schema import PLACEHOLDER
from shoal.report.neighbours import changes
from shoal.workbench.candidates import method_of
from shoal.workbench.words import is_whole

__all__ = [
    "Field",
    "bounded",
    "fields_of",
    "methods_for",
    "neighbours",
    "one_of_each",
    "section_of",
    "start_of",
]


@dataclass(frozen=True)
class Field:
    """A field of the form.

    option: the key of a method's section
    choices: what it can be, if it is chosen
    """

    option: str
    label: str
    note: str = ""
    kind: Literal["number", "text", "choice", "flag"] = "number"
    choices: tuple[str, ...] = ()
    value: str = ""
    problem: str = ""


_FIELDS = (
    Field("epsilon", "ε", "How much one person may matter; less is more private."),
    Field("delta", "δ", "The chance that this fails; below one over ten times the people."),
    Field("k", "k", "How many records must be alike, at least."),
    Field("models", "Models", "Such as 5-anonymity; several with commas.", "text"),
    Field("suppression", "Suppression", "The share of records that may be suppressed."),
    Field("utility", "Utility", "The share of it that each record keeps."),
    Field("probability", "Probability", "That a record is released."),
    Field("truthful", "Only true records", "", "flag"),
    Field("loss", "Loss", "What is kept small.", "choice", tuple(LOSSES)),
    Field("levels", "Levels", "How levels are found.", "choice", ("tree", "search")),
    Field("search", "Search", "How levels are found.", "choice", ("tree", "select", "walk")),
)
_CARRIED = ("epsilon", "delta", "k", "models", "suppression", "unit", "rows")
"""Options that another method takes over from the recipe's own."""

_STARTS: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "k": 5,
    "suppression": 0.05,
    "utility": 0.6,
    "probability": 0.1,
}
"""What a field begins with, where the recipe says nothing."""

_BOUNDS = ("floor", "ceiling")


def methods_for(draft: Draft) -> list[str]:
    """The methods that the form can give all that they ask for; the recipe's own comes first."""
    own = str(method_of(draft).get("name", ""))
    found = [own] if own in METHODS.names else []
    return found + [name for name in METHODS.names if name != own and _is_enough(draft, name)]


def _is_enough(draft: Draft, name: str) -> bool:
    """Whether a method can be made from what the form begins with."""
    options = {key: value for key, value in start_of(draft, name).items() if key != "name"}
    try:
        METHODS.thing(name)(**options)
    except (ShoalError, TypeError):
        return False
    return True


def start_of(draft: Draft, name: str) -> dict[str, Any]:
    """The section that a variation with some method begins with."""
    own = {key: value for key, value in method_of(draft).items() if value != PLACEHOLDER}
    options = options_of(METHODS, name).model_fields
    if own.get("name") == name:
        section = own
    else:
        section = {key: own[key] for key in _CARRIED if key in own and key in options}
    for key, value in _STARTS.items():
        if key in options and key not in section and options[key].is_required():
            section[key] = value
    if "suppression" in options and own.get("name") != name:
        section.setdefault("suppression", _STARTS["suppression"])
    if "models" in options and not _whole(section.get("models")):
        section["models"] = _models(draft, name, own)
    return {"name": name, **{key: value for key, value in section.items() if key != "name"}}


def _whole(models: object) -> bool:
    return isinstance(models, list) and bool(models) and PLACEHOLDER not in models


def _models(draft: Draft, name: str, own: Mapping[str, Any]) -> list[str]:
    """Models to begin with: groups of k, or values that are not the same for all of them."""
    sensitive = [column for column, role in draft.section("roles").items() if role == "sensitive"]
    entry = entry_of(name) if name in CATALOGUE else None
    if entry is not None and entry.public_algorithm and sensitive:
        return [f"2-diversity of {sensitive[0]}"]
    k = own.get("k")
    return [f"{k if isinstance(k, int) else _STARTS['k']}-anonymity"]


def fields_of(
    draft: Draft, name: str, given: Mapping[str, str] | None = None, wrong: ShoalError | None = None
) -> list[Field]:
    """The fields of the form for a method, with what was given or what the recipe has."""
    options = options_of(METHODS, name).model_fields
    start = start_of(draft, name)
    found = []
    for field in _FIELDS:
        if field.option not in options:
            continue
        value = start.get(field.option)
        if isinstance(value, Mapping) or (field.option == "models" and not _plain(value)):
            continue  # it stays as it is
        text = given.get(field.option, "") if given is not None else _written(value)
        problem = ""
        if wrong is not None and field.option in f"{wrong.option}.{wrong.where}".split("."):
            problem = wrong.what
        found.append(replace(field, value=text, problem=problem))
    return found


def _plain(models: object) -> bool:
    return isinstance(models, list) and all(isinstance(model, str) for model in models)


def _written(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else ""
        case list():
            return ", ".join(map(str, value))
        case float():
            return f"{value:.12g}" if value >= 1e-4 else f"{value:g}"
    return str(value)


def bounded(draft: Draft, name: str) -> list[str]:
    """The columns whose levels the form can bound; empty if the method takes no bounds."""
    options = options_of(METHODS, name).model_fields
    if not set(_BOUNDS) <= options.keys():
        return []
    roles, trees = draft.section("roles"), draft.section("hierarchies")
    entry = entry_of(name) if name in CATALOGUE else None
    only_quasi = entry is not None and entry.generalises == "quasi"
    return [
        column
        for column, role in roles.items()
        if column in trees and (role == Role.QUASI or (not only_quasi and role != Role.IDENTIFYING))
    ]


def section_of(draft: Draft, given: Mapping[str, str]) -> dict[str, Any]:
    """The section that a filled form stands for; RecipeError if no such method is offered."""
    name = given.get("method", "")
    if name not in methods_for(draft):
        raise RecipeError("there is no such method", "choose one from the list")
    section = start_of(draft, name)
    for field in fields_of(draft, name):
        text = given.get(field.option, "").strip()
        if field.kind == "flag":
            section[field.option] = bool(text)
        elif not text:
            section.pop(field.option, None)
        elif field.option == "models":
            section["models"] = [part.strip() for part in text.split(",") if part.strip()]
        else:
            section[field.option] = text if field.kind == "choice" else _number(text)
    for bound in _BOUNDS:
        levels = {}
        for column in bounded(draft, name):
            text = given.get(f"{bound}.{column}", "").strip()
            if is_whole(text):
                levels[column] = int(text)
            elif text:
                option = f"method.{bound}.{column}"
                raise RecipeError("is not a level", "give a whole number", option=option)
        if levels:
            section[bound] = levels
        else:
            section.pop(bound, None)
    return section


def _number(text: str) -> int | float | str:
    """A number as a recipe has it; what is not one is left to the recipe to refuse."""
    for kind in (int, float):
        try:
            return kind(text.replace(",", "."))
        except ValueError:
            continue
    return text


# Several at once


def neighbours(
    section: Mapping[str, Any], recipe: Recipe, levels: Mapping[str, int], table: Table
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sections that are one step away from one, as reports have them, by their names."""
    for name, changed in changes(recipe.method(), levels, table):
        yield name, {**section, **{key: _as_written(value) for key, value in changed.items()}}


def _as_written(value: Any) -> Any:
    """A parameter as a recipe writes it."""
    match value:
        case Epsilon() | Fraction():
            text = printed(value) if isinstance(value, Fraction) else str(value)
            return _number(text)
        case tuple() | list() if value and all(map(is_dataclass, value)):
            # Models that have a short name; others keep their own form.
            return list(short_names(value))
        case Mapping():
            return dict(value)
    return value


def one_of_each(draft: Draft) -> list[dict[str, Any]]:
    """A section for every method that the form can give all that it asks for."""
    own = method_of(draft).get("name")
    return [start_of(draft, name) for name in methods_for(draft) if name in (own, *CATALOGUE)]
