"""Reading a recipe, and finding everything that is wrong with it.

Uses `schema`; `running` uses it.

A recipe holds nothing of the table, so messages name its keys and the values given for them.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from shoal.data import toml
from shoal.data.file_options import FileOptions
from shoal.data.formats import BY_COLUMN, is_csv
from shoal.data.schema import Role
from shoal.errors import ParameterError, RecipeError, listed
from shoal.recipe.editing import unfilled_places
from shoal.recipe.schema import PLACEHOLDER, Choice, Content, keys_at, keys_of_auto

__all__ = ["Written", "examined", "mistakes", "read", "with_section"]

_TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc")
_BY_COLUMN = ("floor", "ceiling", "levels", "importance", "within", "weights")
"""Options of methods that say something for each of several generalised columns."""


@dataclass(frozen=True)
class Written:
    """A recipe as it is written: its sound part, if that makes a recipe, and its mistakes."""

    path: Path
    digest: str
    content: Content | None
    wrong: tuple[RecipeError, ...]


def read(path: Path, method: Mapping[str, Any] | None = None) -> Written:
    """The recipe in a file; `method` is a section in place of its own."""
    if path.suffix.lower() in _TABLES and path.is_file():
        raise RecipeError(
            f"{path} is not a recipe. Is it a table? Then draft a recipe with: "
            f"shoal recipe new {path}"
        )
    file = toml.read(path, "a recipe", RecipeError)
    raw = with_section(file.content)
    if method is not None:
        raw = {**raw, "method": dict(method)}
    return examined(path, raw, file.digest)


def examined(path: Path, content: Mapping[str, Any], digest: str = "") -> Written:
    """A recipe that is not in a file, or not yet; `path` is where it would be."""
    raw = with_section(content)
    unfilled = unfilled_places(raw)
    wrong = []
    if unfilled:
        places = ", ".join(map(toml.at, unfilled))
        wrong.append(
            RecipeError(f"still has {PLACEHOLDER!r} at {places}", "replace each by what you decide")
        )
    faults = _faults(raw)
    wrong += [_in_words(raw, fault) for fault in faults if not _is_unfilled(fault, unfilled)]
    faulty = [*unfilled, *(fault["loc"] for fault in faults)]
    sound = _sound(raw, faulty)
    if sound is None or any(place[0] == "roles" for place in faulty):
        # Without all roles, what else is wrong cannot be said.
        return Written(path, digest, None, tuple(wrong))
    blamed = tuple(toml.at(place[:2]) for place in faulty)
    wrong += [mistake for mistake in _contradictions(sound) if not mistake.where.startswith(blamed)]
    return Written(path, digest, sound, tuple(wrong))


def _is_unfilled(fault: ErrorDetails, unfilled: Sequence[toml.Place]) -> bool:
    """Whether a fault is only that something is not decided, be it the key that chooses."""
    place = fault["loc"]
    chosen_by = fault.get("ctx", {}).get("key")
    return place in unfilled or (*place, chosen_by) in unfilled


def with_section(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A recipe with a section for its method, where it only has the name of one.

    `method = "auto"` may stand above all sections, with the options of that method beside it.
    """
    if not isinstance(raw.get("method"), str):
        return raw
    options = {name: raw[name] for name in keys_of_auto() if name in raw}
    rest = {name: value for name, value in raw.items() if name not in options}
    return {**rest, "method": {**options, "name": raw["method"]}}


def mistakes(path: Path, wrong: Sequence[RecipeError]) -> RecipeError:
    """One error for everything that is wrong with a recipe, one mistake per line."""
    if len(wrong) == 1 and not wrong[0].where and wrong[0].what.startswith("still has"):
        return RecipeError(f"{path} {wrong[0].what}", wrong[0].fix)
    if len(wrong) == 1:
        return wrong[0].at(str(path))
    error = RecipeError("\n  ".join([f"{path} has {len(wrong)} mistakes", *map(str, wrong)]))
    error.mistakes = tuple(wrong)
    return error


def _faults(raw: Mapping[str, Any]) -> list[ErrorDetails]:
    """What the sections of a recipe do not take."""
    try:
        Content.model_validate(raw)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _sound(raw: Mapping[str, Any], faulty: Sequence[toml.Place]) -> Content | None:
    """A recipe without its faulty parts, if it still is one: more may be wrong with the rest."""
    rest = copy.deepcopy(dict(raw))
    for place in faulty:
        # A hierarchy is left out as a whole if a part of it is faulty; elsewhere only that part is.
        whole = place[:2] if place[0] == "hierarchies" else place
        section: Any = rest
        for part in whole[:-1]:
            section = section.get(part) if isinstance(section, dict) else None
        if isinstance(section, dict):
            section.pop(whole[-1], None)
    # In place of a method that cannot be made, one that asks nothing of the rest.
    for method in (rest.get("method"), {"name": "sampling", "probability": 1}):
        try:
            return Content.model_validate({**rest, "method": method})
        except ValidationError:
            continue
    return None


def _in_words(raw: Mapping[str, Any], error: ErrorDetails) -> RecipeError:
    """One error of pydantic in our words: the key, what is wrong, the fix."""
    place, given, context = error["loc"], error["input"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            hint = toml.suggestion(place[-1], keys_at(raw, place[:-1]))
            return RecipeError("unknown key", hint, where=toml.at(place))
        case "said":
            return RecipeError(context["said"], where=toml.at(place))
        case "missing":
            return RecipeError("missing", "add it", where=toml.at(place))
        case "choice" if context["given"] is None:
            return _no_choice(place, given, context)
        case "choice":
            chosen = context["given"]
            return RecipeError(
                f"is {chosen!r}",
                toml.suggestion(chosen, context["choices"]),
                option=toml.at((*place, context["key"])),
            )
        case "literal_error":
            accepted = re.findall("'([^']*)'", context["expected"])
            return RecipeError(
                f"is {given!r}", toml.suggestion(given, accepted), option=toml.at(place)
            )
    problem = error["msg"].removeprefix("Input ")
    return RecipeError(f"{problem}, not {given!r}", option=toml.at(place))


def _no_choice(place: toml.Place, given: Any, context: Mapping[str, Any]) -> RecipeError:
    """What is wrong with a section that lacks the key by which it chooses."""
    key = context["key"]
    if meant := get_close_matches(key, given, n=1):
        where = toml.at((*place, meant[0]))
        return RecipeError("unknown key", f"did you mean {key!r}?", where=where)
    hint = f"it takes {listed(context['choices'])}"
    return RecipeError("missing", hint, where=toml.at((*place, key)))


# What no single section can see: names that lead nowhere, and columns that lack something


def _contradictions(content: Content) -> Iterator[RecipeError]:
    """What sections say against each other."""
    yield from _check_columns(content)
    yield from _check_models(content)
    yield from _check_levels(content)
    yield from _check_people(content)
    yield from _check_hierarchies(content)
    yield from _check_looking(content)
    yield from _check_reading(content)
    if content.output.neutralise and not is_csv(content.output.format):
        yield RecipeError(
            f"{content.output.format!r} has no cells to neutralise",
            "leave it out",
            where="output.neutralise",
        )
    rows_per_file = content.output.rows_per_file
    if rows_per_file is not None and rows_per_file < 1:
        yield RecipeError(
            f"{rows_per_file} is out of range",
            "it takes a whole number above 0",
            where="output.rows_per_file",
        )


def _check_looking(content: Content) -> Iterator[RecipeError]:
    """Choices that are listed twice: perhaps with two reasons."""
    places = [choice.place for choice in content.chosen_after_looking]
    for number, place in enumerate(places):
        if place in places[:number]:
            yield RecipeError(
                f"{place!r} is listed twice",
                "list it once",
                where=f"chosen_after_looking[{number}]",
            )


def _check_columns(content: Content) -> Iterator[RecipeError]:
    """Hierarchies and types of columns that have no role."""
    types = content.source.types
    for section, names in (("hierarchies", content.hierarchies), ("source.types", types)):
        for name in names:
            if name not in content.roles:
                yield RecipeError(
                    "no such column in [roles]",
                    toml.suggestion(name, content.roles),
                    where=f"{section}.{toml.key(name)}",
                )


def _check_reading(content: Content) -> Iterator[RecipeError]:
    """How the source is written: forms and marks that mean nothing, and columns without a role."""
    given = content.source.reading
    try:
        FileOptions.of(**given)
    except ParameterError as error:
        where = f"source.{error.option}" if error.option else "source"
        shown = f"{error.given} {error.what}" if error.given else error.what
        yield RecipeError(shown, error.fix, where=where)
    for option in BY_COLUMN:
        said = given.get(option)
        for name in said if isinstance(said, dict) else ():
            if name not in content.roles:
                hint = toml.suggestion(name, content.roles)
                where = f"source.{option}.{toml.key(name)}"
                yield RecipeError("no such column in [roles]", hint, where=where)


def _check_models(content: Content) -> Iterator[RecipeError]:
    """Models and methods that protect a column which is not sensitive."""
    sensitive = content.having(Role.SENSITIVE)
    method: Any = content.method
    protected = [("method.column", getattr(method, "column", None))]
    for number, model in enumerate(getattr(method, "models", None) or []):
        key = ".column" if isinstance(model, Choice) else ""
        protected.append((f"method.models[{number}]{key}", getattr(model, "column", None)))
    for place, column in protected:
        if column is not None and column not in sensitive:
            yield RecipeError(
                f"{column!r} is not a sensitive column",
                toml.suggestion(column, sensitive),
                where=place,
            )


def _check_levels(content: Content) -> Iterator[RecipeError]:
    """Options for columns that are not generalised."""
    method: Any = content.method
    released = content.released
    generalised, kind = content.having(Role.QUASI), "quasi-identifying column"
    by_hierarchy = content.entry.generalises == "released"
    if by_hierarchy:
        generalised = [name for name in released if name in content.hierarchies]
        kind = "released column with a hierarchy"
    for option in _BY_COLUMN:
        given = getattr(method, option, None)
        for name in given if isinstance(given, Mapping) else ():
            if name in generalised:
                continue
            fix = toml.suggestion(name, generalised)
            if by_hierarchy and name in released:
                fix = f"add hierarchies.{toml.key(name)} with file = … or build = …"
            yield RecipeError(f"not a {kind}", fix, where=f"method.{option}.{toml.key(name)}")
    for number, name in enumerate(getattr(method, "classes", None) or []):
        if name not in released:
            yield RecipeError(
                f"{name!r} is not a released column",
                toml.suggestion(name, released),
                where=f"method.classes[{number}]",
            )


def _check_people(content: Content) -> Iterator[RecipeError]:
    """A unit that does not tell people apart."""
    unit = getattr(content.method, "unit", None)
    if unit is None:
        return
    identifying = content.having(Role.IDENTIFYING)
    if unit not in identifying:
        if unit in content.released:
            fix = "give it that role"
        elif identifying:
            fix = toml.suggestion(unit, identifying)
        else:
            fix = "no column has that role: give it to the one that tells people apart"
        yield RecipeError(f"{unit!r} is not an identifying column", fix, where="method.unit")
    if content.rows_are_people:
        yield RecipeError(
            "true, and method.unit says that people have several rows",
            "leave one of them out",
            where="rows_are_people",
        )


def _check_hierarchies(content: Content) -> Iterator[RecipeError]:
    """Columns and hierarchies that the method needs and the recipe lacks."""
    entry = content.entry
    quasi = content.having(Role.QUASI)
    if entry.needs_quasi and not quasi:
        yield RecipeError(
            "no column is quasi-identifying",
            "give that role to those others may know about a person",
            where="roles",
        )
    if not entry.needs_hierarchies:
        return
    add = "add it with file = … or build = …"
    generalised = any(name in content.hierarchies for name in content.released)
    if not entry.needs_quasi and not quasi and not generalised:
        yield RecipeError(
            "no released column has one to be generalised along", add, where="hierarchies"
        )
    for name in quasi:
        if name not in content.hierarchies:
            yield RecipeError(
                "missing, and the column is quasi-identifying",
                add,
                where=f"hierarchies.{toml.key(name)}",
            )
