"""The options of methods and models as a form asks for them: what kind each is, and what it means.

Kinds follow from the types of parameters, explanations from the docstrings of what has them: so a
form cannot drift from the library. Uses `schema`; the workbench makes forms of it.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from shoal.counts import Counts
from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import InternalError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, printed
from shoal.measure.loss import LOSSES, Loss
from shoal.methods.noisy_counts import Levels
from shoal.methods.personal import Wish
from shoal.methods.personal.models import Weights
from shoal.methods.searching import SCORES
from shoal.privacy.limits import Limits
from shoal.privacy.models import Model
from shoal.recipe.schema import Choices, options_of

__all__ = ["FormOption", "OptionKind", "explained", "options"]

OptionKind = Literal[
    "number",
    "whole",
    "yes",
    "choice",
    "column",
    "columns",
    "texts",
    "wholes",
    "levels",
    "choice or levels",
    "numbers by column",
    "weights",
    "wishes",
    "limits",
    "models",
    "steps",
    "groups",
    "file",
]
"""What somebody fills in: one number, a choice, something for each of several columns, and so on.

steps: a list whose parts are columns, or several of them together
groups: several lists of columns, or of items
"""

_KINDS: Mapping[object, OptionKind] = {
    Exact: "number",
    Exact | None: "number",
    Exact | Literal["auto"] | None: "number",
    Epsilon | Exact: "number",
    int: "whole",
    int | None: "whole",
    bool: "yes",
    str: "column",
    str | None: "column",
    Sequence[str]: "columns",
    int | Sequence[int]: "wholes",
    Mapping[str, int] | None: "levels",
    Levels | None: "choice or levels",
    Mapping[str, Exact] | None: "numbers by column",
    Weights | None: "weights",
    Mapping[str, Wish] | None: "wishes",
    Limits: "limits",
    Sequence[Model | str]: "models",
    Sequence[str | Sequence[str]] | None: "steps",
    Sequence[Sequence[str]] | None: "groups",
    Table | None: "file",
    Counts: "file",
}
"""What kind an option is, by its type."""

_ROLES: Mapping[str, tuple[Role, ...]] = {
    "unit": (Role.IDENTIFYING,),
    "person": (Role.IDENTIFYING,),
    "column": (Role.SENSITIVE,),
    "choice": (Role.IDENTIFYING, Role.INSENSITIVE),
}
"""The roles that the column of an option has; others have any with which it is released."""

_RELEASED = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True)
class FormOption:
    """An option of a method or a model.

    choices: what it can be, where that is a list; None is not among them
    roles: which columns it can be, where it names columns
    default: what it is unless given, as a text; empty if that depends on something else
    meaning: what it is for
    """

    name: str
    kind: OptionKind
    required: bool
    choices: tuple[str, ...]
    roles: tuple[Role, ...]
    default: str
    meaning: str


@cache
def options(choices: Choices, name: str) -> tuple[FormOption, ...]:
    """The options of one of several things, in their order.

    >>> from shoal.recipe import METHODS
    >>> [(one.name, one.kind) for one in options(METHODS, "sampling")]
    [('probability', 'number'), ('unit', 'column')]
    """
    return tuple(_options(choices, name))


def _options(choices: Choices, name: str) -> Iterator[FormOption]:
    meanings = explained(choices, name)
    known = options_of(choices, name).model_fields
    for parameter in inspect.signature(choices.thing(name)).parameters.values():
        if parameter.name not in known:  # what the recipe has elsewhere, such as a hierarchy
            continue
        listed = _choices(parameter)
        kind = _kind(parameter, listed)
        required = parameter.default is parameter.empty
        yield FormOption(
            name=parameter.name,
            kind=kind,
            required=required,
            choices=listed,
            roles=_ROLES.get(parameter.name, _RELEASED) if kind in ("column", "columns") else (),
            default="" if required else _default(parameter.default),
            meaning=meanings[parameter.name],
        )


def _kind(parameter: inspect.Parameter, listed: tuple[str, ...]) -> OptionKind:
    if parameter.name == "items":  # of a long form: values, not columns
        return "texts"
    kind = _KINDS.get(parameter.annotation)
    if kind is not None and (kind != "column" or not listed):
        return kind
    if listed:
        return "choice"
    raise InternalError(f"no form has a field for the option {parameter.name!r}")


def _choices(parameter: inspect.Parameter) -> tuple[str, ...]:
    """What an option can be; for one that is a number or levels too, what it can be besides."""
    if parameter.name == "score":
        return tuple(SCORES)
    if parameter.annotation == Loss | str:
        return tuple(LOSSES)
    return tuple(dict.fromkeys(_texts(parameter.annotation)))


def _texts(annotation: Any) -> Iterator[str]:
    """The texts that a type names, such as those of a Literal."""
    for part in get_args(annotation):
        if isinstance(part, str):
            yield part
        else:
            yield from _texts(part)


def _default(value: object) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int):
        return str(value)
    return printed(value)  # type: ignore[arg-type]


_ENTRY = re.compile(r"(?P<names>[a-z_]+(?:, [a-z_]+)*): (?P<text>.*)")


@cache
def explained(choices: Choices, name: str) -> Mapping[str, str]:
    """What each option of a thing means, from its docstring: lines such as "k: how many …".

    >>> from shoal.recipe import METHODS
    >>> explained(METHODS, "sampling")["probability"]
    'the chance that a record is released'
    """
    found: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(choices.thing(name)) or "").splitlines():
        match = _ENTRY.fullmatch(line)
        if match:
            names = match["names"].split(", ")
            found |= dict.fromkeys(names, match["text"])
        elif names and line.startswith("    "):
            for one in names:
                found[one] += f" {line.strip()}"
        else:
            names = []
    return found
